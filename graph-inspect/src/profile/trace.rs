//! Writes a profile in Chrome's trace format: an object with a list of events, whose times are in microseconds.

use serde_json::{Value, json};

use super::types::{Entry, Profile};

/// The process that shows the nodes as they were measured.
const SEQUENTIAL: u32 = 1;
/// The process that shows each node at its earliest possible start.
const EARLIEST_START: u32 = 2;

/// A thread of a process.
#[derive(Clone, Copy)]
struct Track {
    process: u32,
    thread: u32,
}

impl Profile {
    /// Returns a trace in Chrome's JSON format, which <https://ui.perfetto.dev> opens. It shows the nodes twice:
    /// one after the other as they were measured, and each as early as the dependencies allow. The iterations of a
    /// body are one slice.
    #[must_use]
    pub fn chrome_trace(&self) -> String {
        trace(self)
    }
}

fn trace(profile: &Profile) -> String {
    let mut events = TraceEvents(Vec::new());
    let note = if profile.simulated { " (simulated: times mean nothing)" } else { "" };
    let name = &profile.at.name;
    events.name("process_name", SEQUENTIAL, 0, &format!("{name}: as measured, one after the other{note}"));
    events.name("process_name", EARLIEST_START, 0, &format!("{name}: as early as the order allows{note}"));
    events.name("thread_name", SEQUENTIAL, 1, "nodes");
    let starts = in_series(profile);
    for (entry, &start) in profile.entries.iter().zip(&starts) {
        events.slice(Track { process: SEQUENTIAL, thread: 1 }, entry, start);
    }
    let (lanes, count) = lanes(profile);
    for lane in 0..count {
        events.name("thread_name", EARLIEST_START, lane + 1, &format!("lane {}", lane + 1));
    }
    for (entry, lane) in profile.entries.iter().zip(lanes) {
        events.slice(Track { process: EARLIEST_START, thread: lane + 1 }, entry, entry.start);
    }
    let total = &profile.total;
    let text = json!({
        "displayTimeUnit": "ns",
        "otherData": {
            "function": name,
            "launches": profile.launches,
            "simulated": profile.simulated,
            "launch_us": number(total.mean),
            "launch_min_us": number(total.min),
            "launch_max_us": number(total.max),
            "sum_us": number(profile.sum()),
            "critical_path_us": number(profile.critical_path()),
        },
        "traceEvents": events.0,
    });
    format!("{text}\n")
}

/// Returns the start of each entry if they run one after the other. The first entry of a body starts with its
/// conditional node.
fn in_series(profile: &Profile) -> Vec<f64> {
    let entries = &profile.entries;
    // The next free time in each body, indexed by its conditional node.
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

/// Returns the lane of each entry and the number of lanes. The slices of a lane do not overlap. An entry of a body
/// is nested in the lane of its conditional node, or in another lane if it would overlap another entry there.
fn lanes(profile: &Profile) -> (Vec<u32>, u32) {
    let entries = &profile.entries;
    let mut of = vec![0; entries.len()];
    // The end of the last slice of each lane, on the outermost level and in each body.
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
struct TraceEvents(Vec<Value>);

impl TraceEvents {
    /// Names a process or a thread.
    fn name(&mut self, what: &str, process: u32, thread: u32, name: &str) {
        self.0.push(json!({"ph": "M", "pid": process, "tid": thread, "name": what, "args": {"name": name}}));
    }

    /// Adds an entry, and the members of its batch as slices inside its own.
    fn slice(&mut self, track: Track, entry: &Entry, start: f64) {
        let mut args = json!({
            "statement": entry.statement,
            "node": entry.node,
            "critical": entry.critical,
            "launches": entry.launches,
            "min_us": number(entry.time.min),
            "max_us": number(entry.time.max),
            "at": entry.at.as_ref().map(|at| format!("{}:{}", at.file, at.line)),
            "kernel": entry.kernel,
            "bytes": (entry.bytes > 0).then_some(entry.bytes),
            "bytes_per_second": entry.bandwidth().map(number),
            "iterations": entry.iterations.map(|iterations| number(iterations.mean)),
            "members": (!entry.members.is_empty()).then_some(entry.members.len()),
        });
        if let Value::Object(args) = &mut args {
            args.retain(|_, value| !value.is_null());
        }
        self.complete(track, &entry.name, entry.node, start, entry.time.mean, args);
        let mut begin = start;
        for member in &entry.members {
            let at = format!("{}:{}", member.at.file, member.at.line);
            let args = json!({"at": at, "bytes": member.bytes, "estimate": true});
            let name = format!("{} (estimated share)", member.name);
            self.complete(track, &name, "member", begin, member.time, args);
            begin += member.time;
        }
    }

    fn complete(&mut self, track: Track, name: &str, category: &str, start: f64, time: f64, args: Value) {
        let Track { process, thread } = track;
        let (start, time) = (number(start), number(time));
        self.0.push(json!({
            "ph": "X", "pid": process, "tid": thread, "name": name, "cat": category,
            "ts": start, "dur": time, "args": args,
        }));
    }
}

/// Returns a number rounded to thousandths. 0 for NaN and infinities, which JSON does not have.
fn number(number: f64) -> f64 {
    if number.is_finite() { (number * 1000.0).round() / 1000.0 } else { 0.0 }
}
