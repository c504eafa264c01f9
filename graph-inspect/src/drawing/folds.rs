//! The boxes of a picture: a node each, or one for the nodes that differ in the indices and turns of loops alone.

use std::collections::BTreeMap;

use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{BufferId, Device};
use cuweave_core::operation::{Operation, OperationId};
use cuweave_core::picture::folded;
use cuweave_core::scopes::ScopeId;

use super::scene::Scene;

/// The most boxes of a picture: the first ones.
const MOST_BOXES: usize = 1500;

/// A box: a node, or several.
pub(super) struct Item {
    /// The nodes, in their order.
    pub nodes: Vec<OperationId>,
    /// The body that it stands in; for the head of a body, that body.
    pub body: Option<usize>,
    /// True for a conditional node: the head of its body.
    pub is_head: bool,
    pub device: Device,
}

/// A body of a conditional statement, or those of one statement in several turns.
pub(super) struct Body {
    pub name: String,
    /// The body around it.
    pub parent: Option<usize>,
    /// The first arm of its statement: itself, if it is that.
    pub first: usize,
}

/// The edges from one box to another.
pub(super) struct Link {
    pub from: End,
    pub to: End,
    /// Indices of the edges of the scene.
    pub edges: Vec<usize>,
    /// True if they lead to a later turn.
    pub back: bool,
}

/// An end of an edge: a box, or a conditional statement by its first arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    Item(usize),
    Body(usize),
}

/// The boxes of a picture.
pub(super) struct View {
    pub items: Vec<Item>,
    pub bodies: Vec<Body>,
    pub links: Vec<Link>,
    /// The number of nodes that are not drawn.
    pub left_out: usize,
}

/// The identity of a box among those of loops.
type Key<'s> = (Option<usize>, bool, Device, &'static str, &'s str, u32, String);

impl View {
    /// Returns the boxes, with the nodes of loops as one if `folds`. O(nodes + edges).
    pub fn of(scene: &Scene<'_>, folds: bool) -> View {
        let (bodies, body_of) = bodies(scene, folds);
        let mut view = View { items: Vec::new(), bodies, links: Vec::new(), left_out: 0 };
        let mut known: BTreeMap<Key<'_>, usize> = BTreeMap::new();
        let mut end_of: Vector<OperationId, Option<End>> = Vector::filled(None, scene.operations.list.len());
        for (at, operation) in scene.operations.list.enumerate() {
            let bordered = operation.sources.first().and_then(|&source| scene.scopes.bordered(source));
            let own = bordered.map(|scope| body_of[scope]);
            // Edges lead to conditional statements as a whole.
            end_of[at] = own.map(|own| End::Body(view.bodies[own].first));
            if scene.is_join(operation) {
                continue;
            }
            let body = own.or_else(|| scene.bodies[at].map(|scope| body_of[scope]));
            let item = Item { nodes: vec![at], body, is_head: own.is_some(), device: operation.device };
            let key = key(scene, operation, &item);
            let found = if folds { known.get(&key).copied() } else { None };
            let index = match found {
                Some(index) => {
                    view.items[index].nodes.push(at);
                    index
                }
                None if view.items.len() == MOST_BOXES => {
                    view.left_out += 1;
                    continue;
                }
                None => {
                    known.insert(key, view.items.len());
                    view.items.push(item);
                    view.items.len() - 1
                }
            };
            if own.is_none() {
                end_of[at] = Some(End::Item(index));
            }
        }
        view.link(scene, &end_of);
        view
    }

    /// Adds the edges between boxes, those of one pair as one.
    fn link(&mut self, scene: &Scene<'_>, end_of: &Vector<OperationId, Option<End>>) {
        let mut first: BTreeMap<End, OperationId> = BTreeMap::new();
        for (at, end) in end_of.enumerate() {
            if let Some(end) = end {
                first.entry(*end).or_insert(at);
            }
        }
        let mut known: BTreeMap<(End, End), usize> = BTreeMap::new();
        for (at, edge) in scene.edges.iter().enumerate() {
            let (Some(from), Some(to)) = (end_of[edge.from], end_of[edge.to]) else { continue };
            if self.container(from) != self.container(to) {
                // The head of a body stands above what is in it.
                continue;
            }
            // Of a statement that follows itself from turn to turn, the box says how often it stands there.
            let inner = from == to && matches!(from, End::Body(_));
            if inner {
                continue;
            }
            let index = *known.entry((from, to)).or_insert_with(|| {
                self.links.push(Link { from, to, edges: Vec::new(), back: first[&from] >= first[&to] });
                self.links.len() - 1
            });
            self.links[index].edges.push(at);
        }
    }

    /// Returns the body that an end of an edge stands in.
    pub fn container(&self, end: End) -> Option<usize> {
        match end {
            End::Item(item) => self.items[item].body,
            End::Body(body) => self.bodies[body].parent,
        }
    }

    /// Returns true if a box stands for several nodes.
    pub fn is_folded(&self) -> bool {
        self.items.iter().any(|item| item.nodes.len() > 1)
    }
}

fn key<'s>(scene: &Scene<'s>, operation: &Operation, item: &Item) -> Key<'s> {
    let (file, line) = operation.sources.first().map_or(("", 0), |&source| scene.place(source));
    (item.body, item.is_head, item.device, scene.kind(operation), file, line, folded(&operation.name))
}

/// The identity of a body among those of loops: the body around it, its name, its line and arm; and its scope, if none are one.
type BodyKey = (Option<usize>, String, u32, u32, Option<ScopeId>);

/// Returns the bodies, and the one of each scope.
fn bodies(scene: &Scene<'_>, folds: bool) -> (Vec<Body>, Vector<ScopeId, usize>) {
    let mut list: Vec<Body> = Vec::new();
    let mut of: Vector<ScopeId, usize> = Vector::filled(0, scene.scopes.list.len());
    let mut known: BTreeMap<BodyKey, usize> = BTreeMap::new();
    for (id, scope) in scene.scopes.list.enumerate() {
        let name = scene.scopes.name(scene.program, id);
        let parent = scope.parent.map(|parent| of[parent]);
        let name = if folds { folded(&name) } else { name };
        let line = scene.program.statements[scope.condition].line;
        let apart = if folds { None } else { Some(id) };
        let key = (parent, name.clone(), line, scope.body.arm, apart);
        let next = list.len();
        let index = *known.entry(key).or_insert(next);
        if index == next {
            let first = if scope.first == id { next } else { of[scope.first] };
            list.push(Body { name, parent, first });
        }
        of[id] = index;
    }
    (list, of)
}

/// Returns the buffers that the nodes of a box access, sorted, each with true if one of them writes it.
pub(super) fn buffers(scene: &Scene<'_>, item: &Item) -> Vec<(BufferId, bool)> {
    let mut found: BTreeMap<BufferId, bool> = BTreeMap::new();
    for &node in &item.nodes {
        for one in scene.reasons.uses(node) {
            *found.entry(one.buffer).or_insert(false) |= one.writes;
        }
    }
    found.into_iter().collect()
}

/// Returns the number of a box's first node.
pub(super) fn first(item: &Item) -> usize {
    item.nodes.first().map_or(0, |node| node.index())
}
