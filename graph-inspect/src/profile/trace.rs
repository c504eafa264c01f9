//! A profile as a trace in Chrome's format: an object with a list of events, whose times are in microseconds.

use std::fmt::Write;

use super::types::{Entry, Profile};

/// The process that shows the nodes as measured.
const SERIES: u32 = 1;
/// The process that shows the nodes as early as their order allows.
const ORDER: u32 = 2;

/// A thread of a process.
#[derive(Clone, Copy)]
struct Track {
    process: u32,
    thread: u32,
}

impl Profile {
    /// Returns a trace in the JSON format of Chrome, which <https://ui.perfetto.dev> opens. It has the nodes in two ways: as measured,
    /// one after the other; and as early as their order allows. The turns of a body are one slice.
    #[must_use]
    pub fn chrome_trace(&self) -> String {
        trace(self)
    }
}

fn trace(profile: &Profile) -> String {
    let mut events = Events(Vec::new());
    let note = if profile.simulated { " (simulated: times mean nothing)" } else { "" };
    let name = &profile.at.name;
    events.name("process_name", SERIES, 0, &format!("{name}: as measured, one after the other{note}"));
    events.name("process_name", ORDER, 0, &format!("{name}: as early as the order allows{note}"));
    events.name("thread_name", SERIES, 1, "nodes");
    let starts = in_series(profile);
    for (entry, &start) in profile.entries.iter().zip(&starts) {
        events.slice(Track { process: SERIES, thread: 1 }, entry, start);
    }
    let (lanes, count) = lanes(profile);
    for lane in 0..count {
        events.name("thread_name", ORDER, lane + 1, &format!("lane {}", lane + 1));
    }
    for (entry, lane) in profile.entries.iter().zip(lanes) {
        events.slice(Track { process: ORDER, thread: lane + 1 }, entry, entry.start);
    }
    let total = &profile.total;
    let mut text = String::from("{\"displayTimeUnit\":\"ns\",\"otherData\":{");
    let _ = write!(
        text,
        "\"function\":{},\"launches\":{},\"simulated\":{},\"launch_us\":{},\"launch_min_us\":{},\"launch_max_us\":{},\"sum_us\":{},\"critical_path_us\":{}",
        quoted(name),
        profile.launches,
        profile.simulated,
        number(total.mean),
        number(total.min),
        number(total.max),
        number(profile.sum()),
        number(profile.critical_path())
    );
    let _ = writeln!(text, "}},\"traceEvents\":[\n{}\n]}}", events.0.join(",\n"));
    text
}

/// Returns the start of each entry if they run one after the other. Those of a body begin with the conditional node.
fn in_series(profile: &Profile) -> Vec<f64> {
    let entries = &profile.entries;
    // The time at which the next entry of a body starts, by the conditional node.
    let mut next = vec![0.0; entries.len()];
    let mut outermost = 0.0;
    let mut starts = vec![0.0; entries.len()];
    for (at, entry) in entries.iter().enumerate() {
        let clock = match entry.body {
            Some(body) => &mut next[body],
            None => &mut outermost,
        };
        starts[at] = *clock;
        *clock += entry.time.mean;
        next[at] = starts[at];
    }
    starts
}

/// Returns the lane of each entry, and their number: the slices of a lane do not overlap. Entries of bodies are in the lane of their
/// conditional node, in which they nest; those that overlap there are in lanes of their own.
fn lanes(profile: &Profile) -> (Vec<u32>, u32) {
    let entries = &profile.entries;
    let mut of = vec![0; entries.len()];
    // The end of the last slice of each lane, on the outermost level and in the body of each conditional node.
    let mut ends: Vec<(u32, Option<usize>, f64)> = Vec::new();
    let mut count = 0;
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|&one, &other| {
        let depth = |at: usize| entries[at].body.is_some();
        depth(one)
            .cmp(&depth(other))
            .then(entries[one].start.total_cmp(&entries[other].start))
            .then(one.cmp(&other))
    });
    for at in order {
        let Entry { start, body, time, .. } = &entries[at];
        let end = start + time.mean;
        let free = ends.iter_mut().find(|lane| lane.1 == *body && lane.2 <= start + 1e-9);
        match free {
            Some(lane) => {
                lane.2 = end;
                of[at] = lane.0;
            }
            None => {
                let first = body.filter(|_| !ends.iter().any(|lane| lane.1 == *body)).map(|body| of[body]);
                of[at] = first.unwrap_or(count);
                count = count.max(of[at] + 1);
                ends.push((of[at], *body, end));
            }
        }
    }
    (of, count)
}

/// The events of a trace, each as an object.
struct Events(Vec<String>);

impl Events {
    /// Names a process or a thread.
    fn name(&mut self, what: &str, process: u32, thread: u32, name: &str) {
        self.0.push(format!(
            "{{\"ph\":\"M\",\"pid\":{process},\"tid\":{thread},\"name\":\"{what}\",\"args\":{{\"name\":{}}}}}",
            quoted(name)
        ));
    }

    /// Adds an entry, and the members of its batch as slices inside its own.
    fn slice(&mut self, track: Track, entry: &Entry, start: f64) {
        let mut args = vec![
            ("statement".to_owned(), quoted(entry.statement)),
            ("node".to_owned(), quoted(entry.node)),
            ("critical".to_owned(), entry.critical.to_string()),
            ("launches".to_owned(), entry.launches.to_string()),
            ("min_us".to_owned(), number(entry.time.min)),
            ("max_us".to_owned(), number(entry.time.max)),
        ];
        let mut more =
            |name: &str, value: Option<String>| args.extend(value.map(|value| (name.to_owned(), value)));
        more("at", entry.at.as_ref().map(|at| quoted(&format!("{}:{}", at.file, at.line))));
        more("kernel", entry.kernel.as_deref().map(quoted));
        more("bytes", (entry.bytes > 0).then(|| entry.bytes.to_string()));
        more("bytes_per_second", entry.bandwidth().map(number));
        more("turns", entry.turns.map(|turns| number(turns.mean)));
        more("members", (!entry.members.is_empty()).then(|| entry.members.len().to_string()));
        self.complete(track, &entry.name, entry.node, start, entry.time.mean, &args);
        let mut begin = start;
        for member in &entry.members {
            let args = [
                ("at".to_owned(), quoted(&format!("{}:{}", member.at.file, member.at.line))),
                ("bytes".to_owned(), member.bytes.to_string()),
                ("estimate".to_owned(), "true".to_owned()),
            ];
            let name = format!("{} (estimated share)", member.name);
            self.complete(track, &name, "member", begin, member.time, &args);
            begin += member.time;
        }
    }

    fn complete(
        &mut self,
        Track { process, thread }: Track,
        name: &str,
        category: &str,
        start: f64,
        time: f64,
        args: &[(String, String)],
    ) {
        let args: Vec<String> = args.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        self.0.push(format!(
            "{{\"ph\":\"X\",\"pid\":{process},\"tid\":{thread},\"name\":{},\"cat\":\"{category}\",\"ts\":{},\"dur\":{},\"args\":{{{}}}}}",
            quoted(name),
            number(start),
            number(time),
            args.join(",")
        ));
    }
}

/// Formats a number that is finite.
fn number(number: f64) -> String {
    if number.is_finite() { format!("{number:.3}") } else { "0".to_owned() }
}

/// Formats a string of JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted() {
        assert_eq!(quoted("a\"b\\c\n\u{1}é"), "\"a\\\"b\\\\c\\u000a\\u0001é\"");
        assert_eq!([1.5, f64::NAN, f64::INFINITY].map(number), ["1.500", "0", "0"]);
    }
}
