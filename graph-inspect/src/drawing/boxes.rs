//! The boxes of a picture: one for each node, or one for all nodes that differ only in loop indices.

use std::collections::BTreeMap;

use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{BufferId, Device};
use cuweave_core::operation::{Operation, OperationId};
use cuweave_core::picture::folded;
use cuweave_core::scopes::ScopeId;

use super::scene::Scene;

/// The maximum number of boxes. The first ones are drawn.
const MAX_BOXES: usize = 1500;

/// A box, which stands for one or more nodes.
pub(super) struct NodeBox {
    /// The nodes, in ascending order.
    pub nodes: Vec<OperationId>,
    /// The body that contains it. For the head of a body, that body.
    pub body: Option<usize>,
    /// True for a conditional node, which is the head of its body.
    pub is_head: bool,
    pub device: Device,
}

/// A body of a conditional, or the bodies of one conditional in several loop iterations.
pub(super) struct DrawnBody {
    pub name: String,
    /// The body around it.
    pub parent: Option<usize>,
    /// The first arm of the same conditional; its own index for the first arm.
    pub first: usize,
}

/// The edges from one box to another.
pub(super) struct Link {
    pub from: LinkEnd,
    pub to: LinkEnd,
    /// Indices into the edges of the scene.
    pub edges: Vec<usize>,
    /// True if they lead to a later loop iteration, that is, upwards in the picture.
    pub back: bool,
}

/// An end of a link: a box, or a conditional, identified by its first arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LinkEnd {
    NodeBox(usize),
    Body(usize),
}

/// The boxes and links of a picture.
pub(super) struct View {
    pub items: Vec<NodeBox>,
    pub bodies: Vec<DrawnBody>,
    pub links: Vec<Link>,
    /// The number of nodes that are not drawn.
    pub not_drawn: usize,
}

/// The identity of a box when loops are folded.
type Key<'s> = (Option<usize>, bool, Device, (&'static str, Option<String>), &'s str, u32, String);

impl View {
    /// Returns the boxes and links. If `folds`, nodes that differ only in loop indices share a box. O(nodes +
    /// edges).
    pub fn new(scene: &Scene<'_>, folds: bool) -> View {
        let (bodies, body_of) = bodies(scene, folds);
        let mut view = View { items: Vec::new(), bodies, links: Vec::new(), not_drawn: 0 };
        let mut known: BTreeMap<Key<'_>, usize> = BTreeMap::new();
        let mut end_of: Vector<OperationId, Option<LinkEnd>> =
            Vector::filled(None, scene.operations.list.len());
        for (at, operation) in scene.operations.list.enumerate() {
            let bordered = operation.sources.first().and_then(|&source| scene.scopes.bordered(source));
            let own = bordered.map(|scope| body_of[scope]);
            // Edges lead to a conditional as a whole.
            end_of[at] = own.map(|own| LinkEnd::Body(view.bodies[own].first));
            if scene.is_join(operation) {
                continue;
            }
            let body = own.or_else(|| scene.bodies[at].map(|scope| body_of[scope]));
            let item = NodeBox { nodes: vec![at], body, is_head: own.is_some(), device: operation.device };
            let key = key(scene, operation, &item);
            let found = if folds { known.get(&key).copied() } else { None };
            let index = match found {
                Some(index) => {
                    view.items[index].nodes.push(at);
                    index
                }
                None if view.items.len() == MAX_BOXES => {
                    view.not_drawn += 1;
                    continue;
                }
                None => {
                    known.insert(key, view.items.len());
                    view.items.push(item);
                    view.items.len() - 1
                }
            };
            if own.is_none() {
                end_of[at] = Some(LinkEnd::NodeBox(index));
            }
        }
        view.link(scene, &end_of);
        view
    }

    /// Adds a link for each pair of boxes that has edges.
    fn link(&mut self, scene: &Scene<'_>, end_of: &Vector<OperationId, Option<LinkEnd>>) {
        let mut first: BTreeMap<LinkEnd, OperationId> = BTreeMap::new();
        for (at, end) in end_of.enumerate() {
            if let Some(end) = end {
                first.entry(*end).or_insert(at);
            }
        }
        let mut known: BTreeMap<(LinkEnd, LinkEnd), usize> = BTreeMap::new();
        for (at, edge) in scene.edges.iter().enumerate() {
            let (Some(from), Some(to)) = (end_of[edge.from], end_of[edge.to]) else { continue };
            if self.container(from) != self.container(to) {
                // The head of a body is above its contents anyway.
                continue;
            }
            // A folded conditional that follows itself needs no edge: its box says how often it occurs.
            let inner = from == to && matches!(from, LinkEnd::Body(_));
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

    /// Returns the body that contains an end of a link.
    pub fn container(&self, end: LinkEnd) -> Option<usize> {
        match end {
            LinkEnd::NodeBox(item) => self.items[item].body,
            LinkEnd::Body(body) => self.bodies[body].parent,
        }
    }

    /// Returns true if a box stands for several nodes.
    pub fn is_folded(&self) -> bool {
        self.items.iter().any(|item| item.nodes.len() > 1)
    }
}

fn key<'s>(scene: &Scene<'s>, operation: &Operation, item: &NodeBox) -> Key<'s> {
    let (file, line) = operation.sources.first().map_or(("", 0), |&source| scene.place(source));
    let kind = (scene.kind(operation), scene.changes(operation));
    (item.body, item.is_head, item.device, kind, file, line, folded(&operation.name))
}

/// The identity of a body when loops are folded: its parent, name, line and arm. Without folding, also its scope.
type BodyKey = (Option<usize>, String, u32, u32, Option<ScopeId>);

/// Returns the bodies, and the index of the body of each scope.
fn bodies(scene: &Scene<'_>, folds: bool) -> (Vec<DrawnBody>, Vector<ScopeId, usize>) {
    let mut list: Vec<DrawnBody> = Vec::new();
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
            list.push(DrawnBody { name, parent, first });
        }
        of[id] = index;
    }
    (list, of)
}

/// Returns the buffers that the nodes of a box access, sorted. Each is paired with true if one of the nodes writes
/// it.
pub(super) fn buffers(scene: &Scene<'_>, item: &NodeBox) -> Vec<(BufferId, bool)> {
    let mut found: BTreeMap<BufferId, bool> = BTreeMap::new();
    for &node in &item.nodes {
        for one in scene.reasons.uses(node) {
            *found.entry(one.buffer).or_insert(false) |= one.writes;
        }
    }
    found.into_iter().collect()
}

/// Returns the index of a box's first node.
pub(super) fn first(item: &NodeBox) -> usize {
    item.nodes.first().map_or(0, |node| node.index())
}
