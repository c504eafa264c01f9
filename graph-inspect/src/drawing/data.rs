//! The JSON data that the script of a page reads.

use std::fmt::Write;

use cuweave_core::index::Index;
use cuweave_core::ir::{BufferId, Origin};
use cuweave_core::operation::BufferPlacement;
use cuweave_core::picture::{bytes, folded, is_direction};
use serde_json::{Value, json};

use crate::profile::duration;

use super::boxes::{Link, LinkEnd, NodeBox, View, buffers, first};
use super::scene::Scene;
use super::statements::Lines;
use super::svg::{NodeTimes, edge_label, time};

/// The maximum number of members that are listed for a box.
const MAX_MEMBERS: usize = 24;

/// Returns the JSON text: the buffers, and the boxes and edges of each drawing.
pub(super) fn data(scene: &Scene<'_>, views: &[View], times: &NodeTimes, lines: &Lines<'_>) -> String {
    let buffers: Vec<Value> = scene.program.buffers.ids().map(|id| buffer(scene, id)).collect();
    let view = |view: &View| {
        let boxes: Vec<Value> =
            view.items.iter().map(|item| a_box(scene, view, item, times, lines)).collect();
        let heads = heads(view);
        let edge = |link: &Link| {
            let [from, to] = [link.from, link.to].map(|end| ends(&heads, end));
            json!([from, to, visible(&edge_label(scene, link)), u8::from(link.back)])
        };
        json!({"boxes": boxes, "edges": view.links.iter().map(edge).collect::<Vec<_>>()})
    };
    let views: Vec<Value> = views.iter().map(view).collect();
    in_a_script(&json!({"buffers": buffers, "views": views}).to_string())
}

/// Returns the conditional nodes of each conditional, as boxes, by its first body.
fn heads(view: &View) -> Vec<Vec<usize>> {
    let mut heads: Vec<Vec<usize>> = vec![Vec::new(); view.bodies.len()];
    for (at, item) in view.items.iter().enumerate() {
        if let Some(body) = item.body.filter(|_| item.is_head) {
            heads[view.bodies[body].first].push(at);
        }
    }
    heads
}

/// Returns the boxes at an end of an edge.
fn ends(heads: &[Vec<usize>], end: LinkEnd) -> Vec<usize> {
    match end {
        LinkEnd::NodeBox(item) => vec![item],
        LinkEnd::Body(first) => heads[first].clone(),
    }
}

fn buffer(scene: &Scene<'_>, id: BufferId) -> Value {
    let buffer = &scene.program.buffers[id];
    let place = match (scene.operations.places.get(id), buffer.origin) {
        (Some(BufferPlacement::Inside { memory, offset }), _) => {
            let memory = &scene.operations.memories[*memory];
            format!("at {} of {} in {}", offset, bytes(memory.bytes), memory.name)
        }
        (_, Origin::Alloc(_)) => "without memory".to_owned(),
        (_, Origin::Pinned { .. }) => "pinned memory of the caller".to_owned(),
        _ => "memory of the caller".to_owned(),
    };
    json!([visible(&buffer.name), visible(&place)])
}

fn a_box(scene: &Scene<'_>, view: &View, item: &NodeBox, times: &NodeTimes, lines: &Lines<'_>) -> Value {
    let operation = scene.operations.list.iter().nth(first(item));
    let (name, kind) = operation.map_or(("", ""), |operation| (&*operation.name, scene.kind(operation)));
    let changes = operation.and_then(|operation| scene.changes(operation));
    let kind = changes.map_or_else(|| kind.to_owned(), |changes| format!("{kind}, {changes}"));
    let name = match item.body.filter(|_| item.is_head) {
        Some(body) => view.bodies[body].name.clone(),
        None if item.nodes.len() > 1 => folded(name),
        None => name.to_owned(),
    };
    let sources = || item.nodes.iter().flat_map(|&node| &scene.operations.list[node].sources);
    let mut own: Vec<usize> = sources().filter_map(|&source| lines.line_index(scene, source)).collect();
    own.sort_unstable();
    own.dedup();
    let mut members: Vec<String> = Vec::new();
    if operation.is_some_and(|operation| operation.sources.len() > 1) || item.nodes.len() > 1 {
        let named = sources().map(|&source| {
            let (file, line) = scene.place(source);
            visible(&format!("{} {file}:{line}", scene.program.statements[source].name))
        });
        members = named.take(MAX_MEMBERS).collect();
    }
    let used = buffers(scene, item);
    let numbers = |writes: bool| -> Vec<usize> {
        let own = used.iter().filter(|(_, written)| *written == writes);
        own.map(|(buffer, _)| buffer.index()).collect()
    };
    let time = time(&item.nodes, times).map_or_else(String::new, |timed| duration(timed.time));
    let device = if scene.several_devices { item.device.to_string() } else { String::new() };
    json!({
        "n": visible(&name),
        "k": kind,
        "c": item.nodes.len(),
        "s": sources().count(),
        "l": own,
        "r": numbers(false),
        "w": numbers(true),
        "t": time,
        "d": device,
        "m": members,
    })
}

/// Removes invisible characters from a text: control characters and those that change the text's direction.
fn visible(text: &str) -> String {
    text.chars().filter(|&c| !c.is_control() && !is_direction(c)).collect()
}

/// Escapes a JSON text so that it neither ends the script element nor begins a comment in HTML.
fn in_a_script(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\'' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{in_a_script, visible};

    #[test]
    fn strings_stay_in_their_script() {
        let json = serde_json::Value::from(visible("a\"b\\</script><!--\u{1}\u{2028}é")).to_string();
        assert_eq!(in_a_script(&json), "\"a\\\"b\\\\\\u003c/script\\u003e\\u003c!--\\u2028é\"");
    }
}
