//! The users of described buffers, and the check that planned buffers share bytes only if their users are
//! ordered.

use std::collections::BTreeMap;

use crate::base::report::Report;
use crate::base::status::Status;
use crate::state::exec::{ExecShape, UsedBuffer};
use crate::state::scopes::ConditionalNode;

/// The described buffers, indexed by the nodes that use them.
pub struct BufferUsers<'a> {
    pub(super) shape: &'a ExecShape,
    /// The buffers that each node uses, as indices into the shape's list.
    pub(super) uses: BTreeMap<usize, Vec<usize>>,
}

impl<'a> BufferUsers<'a> {
    /// Indexes the buffers of an instance.
    pub fn new(shape: &'a ExecShape) -> Self {
        let mut uses: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, buffer) in shape.buffers.iter().enumerate() {
            buffer.users.iter().for_each(|&user| uses.entry(user).or_default().push(at));
        }
        BufferUsers { shape, uses }
    }

    /// Returns the name of a buffer at an address, preferably of one that the node uses.
    pub fn buffer_at(&self, node: usize, address: u64) -> Option<String> {
        let holds = |at: &&usize| {
            let buffer = &self.shape.buffers[**at].buffer;
            (buffer.address..buffer.address + buffer.bytes).contains(&address)
        };
        let own = self.uses.get(&node).and_then(|uses| uses.iter().find(holds)).copied();
        let any = || (0..self.shape.buffers.len()).find(|at| holds(&at));
        own.or_else(any).map(|at| self.shape.buffers[at].buffer.note.describe())
    }
}

/// The maximum number of pairs reported for a plan: a wrong plan is often wrong in many places.
const MAX_REPORTED_PAIRS: usize = 10;

/// Returns true if a user of one buffer ends before a user of another begins, or if at most one of them runs.
/// Each user comes with the scope of its buffer: the buffer is in use for the whole of a loop inside that scope.
fn ends_before(shape: &ExecShape, a: usize, a_scope: usize, b: usize, b_scope: usize) -> bool {
    let (a, b) = (shape.actors.node(a), shape.actors.node(b));
    let (around_a, around_b) =
        (shape.scopes.outermost_loop(a, a_scope), shape.scopes.outermost_loop(b, b_scope));
    let (end, begin) = (around_a.map_or(a, ConditionalNode::exit), around_b.unwrap_or(b));
    shape.precedence().precedes(end, begin) || shape.scopes.are_exclusive(around_a.unwrap_or(a), begin)
}

/// Returns reports about planned buffers that share bytes although their users are unordered.
pub(super) fn report_overlaps(shape: &ExecShape, names: &dyn Fn(usize) -> String) -> Vec<Report> {
    let buffers = shape.buffers.iter().zip(&shape.scopes.buffers);
    let mut planned: Vec<_> = buffers
        .map(|(UsedBuffer { buffer, users }, &scope)| (buffer, users, scope))
        .filter(|(buffer, users, _)| buffer.planned && buffer.bytes > 0 && !users.is_empty())
        .collect();
    if planned.len() < 2 {
        return Vec::new();
    }
    planned.sort_by_key(|(buffer, ..)| buffer.address);
    let mut reports = Vec::new();
    for (at, (first, users, scope)) in planned.iter().enumerate() {
        let end = first.address + first.bytes;
        for (second, others, other) in planned[at + 1..].iter().take_while(|next| next.0.address < end) {
            let unordered = |before: (&[usize], usize), after: (&[usize], usize)| {
                let pairs = before.0.iter().flat_map(|&a| after.0.iter().map(move |&b| (a, b)));
                pairs.into_iter().find(|&(a, b)| !ends_before(shape, a, before.1, b, after.1))
            };
            let (one, two) = ((&users[..], *scope), (&others[..], *other));
            let (Some(_), Some(pair)) = (unordered(two, one), unordered(one, two)) else { continue };
            let (from, to) = (second.address, end.min(second.address + second.bytes));
            let (a, b) = (names(pair.0), names(pair.1));
            let text = format!(
                "buffers {} and {} share bytes {from:#x}..{to:#x}, and no path leads from node {a}, which uses the \
                 one, to node {b}, which uses the other: both live at the same time",
                first.note.describe(),
                second.note.describe(),
            );
            reports.push(Report { kind: "overlap", status: Status::LAUNCH_FAILED, nodes: vec![a, b], text });
            if reports.len() == MAX_REPORTED_PAIRS {
                return reports;
            }
        }
    }
    reports
}
