//! The data that the script of a page reads, as JSON.

use std::fmt::Write;

use cuweave_core::ir::{BufferId, Origin};
use cuweave_core::operation::Place;
use cuweave_core::picture::{bytes, folded};

use crate::profile::duration;

use super::folds::{End, Item, View, buffers, first};
use super::scene::Scene;
use super::statements::Lines;
use super::svg::{Times, because, time};

/// The most members of a box that are listed.
const MOST_MEMBERS: usize = 24;

/// Returns the text of the data: the buffers, and for each drawing its boxes and edges.
pub(super) fn data(scene: &Scene<'_>, views: &[View], times: &Times, lines: &Lines<'_>) -> String {
    let mut text = String::from("{\"buffers\":[");
    for (at, id) in scene.program.buffers.ids().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{}", buffer(scene, id));
    }
    text.push_str("],\"views\":[");
    for (at, view) in views.iter().enumerate() {
        text.push_str(if at == 0 { "{\"boxes\":[" } else { ",{\"boxes\":[" });
        let boxes: Vec<String> =
            view.items.iter().map(|item| a_box(scene, view, item, times, lines)).collect();
        text.push_str(&boxes.join(","));
        text.push_str("],\"edges\":[");
        let heads = heads(view);
        let edges: Vec<String> = view
            .links
            .iter()
            .map(|link| {
                let [from, to] = [link.from, link.to].map(|end| ends(&heads, end));
                let turn = if link.back { 1 } else { 0 };
                format!("[{from},{to},{},{turn}]", quoted(&because(scene, link)))
            })
            .collect();
        text.push_str(&edges.join(","));
        text.push_str("]}");
    }
    text.push_str("]}");
    text
}

/// Returns the heads of the bodies of each statement.
fn heads(view: &View) -> Vec<Vec<usize>> {
    let mut heads: Vec<Vec<usize>> = vec![Vec::new(); view.bodies.len()];
    for (at, item) in view.items.iter().enumerate() {
        if let Some(body) = item.body.filter(|_| item.is_head) {
            heads[view.bodies[body].first].push(at);
        }
    }
    heads
}

/// Returns the boxes of an end of an edge.
fn ends(heads: &[Vec<usize>], end: End) -> String {
    let list = match end {
        End::Item(item) => vec![item],
        End::Body(first) => heads[first].clone(),
    };
    format!("[{}]", list.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
}

fn buffer(scene: &Scene<'_>, id: BufferId) -> String {
    let buffer = &scene.program.buffers[id];
    let place = match (scene.operations.places.get(id), buffer.origin) {
        (Some(Place::Inside { memory, offset }), _) => {
            let memory = &scene.operations.memories[*memory];
            format!("at {} of {} in {}", offset, bytes(memory.bytes), memory.name)
        }
        (_, Origin::Alloc(_)) => "without memory".to_owned(),
        (_, Origin::Pinned { .. }) => "pinned memory of the caller".to_owned(),
        _ => "memory of the caller".to_owned(),
    };
    format!("[{},{}]", quoted(&buffer.name), quoted(&place))
}

fn a_box(scene: &Scene<'_>, view: &View, item: &Item, times: &Times, lines: &Lines<'_>) -> String {
    let operation = scene.operations.list.iter().nth(first(item));
    let (name, kind) = operation.map_or(("", ""), |operation| (&*operation.name, scene.kind(operation)));
    let name = match item.body.filter(|_| item.is_head) {
        Some(body) => view.bodies[body].name.clone(),
        None if item.nodes.len() > 1 => folded(name),
        None => name.to_owned(),
    };
    let sources = || item.nodes.iter().flat_map(|&node| &scene.operations.list[node].sources);
    let mut own: Vec<usize> = sources().filter_map(|&source| lines.of(scene, source)).collect();
    own.sort_unstable();
    own.dedup();
    let mut members: Vec<String> = Vec::new();
    if operation.is_some_and(|operation| operation.sources.len() > 1) || item.nodes.len() > 1 {
        let named = sources().map(|&source| {
            let (file, line) = scene.place(source);
            quoted(&format!("{} {file}:{line}", scene.program.statements[source].name))
        });
        members = named.take(MOST_MEMBERS).collect();
    }
    let list = |numbers: &mut dyn Iterator<Item = usize>| {
        let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
        numbers.join(",")
    };
    let used = buffers(scene, item);
    let numbers = |writes: bool| {
        let own = used.iter().filter(move |(_, written)| *written == writes);
        own.map(|(buffer, _)| cuweave_core::index::Index::index(*buffer))
    };
    let (reads, writes) = (list(&mut numbers(false)), list(&mut numbers(true)));
    let time = time(&item.nodes, times).map_or_else(String::new, |timed| duration(timed.time));
    let device = if scene.several_devices { item.device.to_string() } else { String::new() };
    format!(
        "{{\"n\":{},\"k\":{},\"c\":{},\"s\":{},\"l\":[{}],\"r\":[{reads}],\"w\":[{writes}],\"t\":{},\"d\":{},\"m\":[{}]}}",
        quoted(&name),
        quoted(kind),
        item.nodes.len(),
        sources().count(),
        list(&mut own.into_iter()),
        quoted(&time),
        quoted(&device),
        members.join(",")
    )
}

/// Returns a JSON string that neither ends a script nor begins a comment where it stands in HTML.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' | '<' | '>' | '&' | '\'' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            _ if c.is_control() || cuweave_core::picture::is_direction(c) => {}
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn strings_stay_in_their_script() {
        assert_eq!(
            quoted("a\"b\\</script><!--\u{1}\u{2028}é"),
            "\"a\\u0022b\\u005c\\u003c/script\\u003e\\u003c!--\\u2028é\""
        );
    }
}
