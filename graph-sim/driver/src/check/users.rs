//! Buffers that the program described, by the nodes that use them, and planned ones that share bytes without an order.

use std::collections::BTreeMap;

use crate::base::report::Report;
use crate::base::status::Status;
use crate::state::exec::Shape;

/// The buffers that the program described, by the nodes that use them.
pub struct Users<'a> {
    pub(super) shape: &'a Shape,
    /// For each node the buffers that it uses, as places in the shape's list.
    pub(super) uses: BTreeMap<usize, Vec<usize>>,
}

impl<'a> Users<'a> {
    /// Indexes the buffers of an instance.
    pub fn new(shape: &'a Shape) -> Self {
        let mut uses: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, (_, users)) in shape.buffers.iter().enumerate() {
            users.iter().for_each(|&user| uses.entry(user).or_default().push(at));
        }
        Users { shape, uses }
    }

    /// Returns the name of the buffer at an address, preferably one that the node uses.
    pub fn buffer_at(&self, node: usize, address: u64) -> Option<String> {
        let holds = |at: &&usize| {
            let buffer = &self.shape.buffers[**at].0;
            (buffer.address..buffer.address + buffer.bytes).contains(&address)
        };
        let own = self.uses.get(&node).and_then(|uses| uses.iter().find(holds)).copied();
        let any = || (0..self.shape.buffers.len()).find(|at| holds(&at));
        own.or_else(any).map(|at| self.shape.buffers[at].0.note.describe())
    }
}

/// The maximum number of reported pairs of a plan, since a wrong plan is often wrong in many places.
const MOST: usize = 10;

/// Returns reports about planned buffers that share bytes without an order between their users.
pub(super) fn overlaps(shape: &Shape, names: &dyn Fn(usize) -> String) -> Vec<Report> {
    let mut planned: Vec<_> = shape
        .buffers
        .iter()
        .filter(|(buffer, users)| buffer.planned && buffer.bytes > 0 && !users.is_empty())
        .collect();
    if planned.len() < 2 {
        return Vec::new();
    }
    planned.sort_by_key(|(buffer, _)| buffer.address);
    let precedence = shape.precedence();
    let mut reports = Vec::new();
    for (at, (first, users)) in planned.iter().enumerate() {
        let end = first.address + first.bytes;
        for (second, others) in planned[at + 1..].iter().take_while(|(second, _)| second.address < end) {
            let unordered = |before: &[usize], behind: &[usize]| {
                let pairs = before.iter().flat_map(|&a| behind.iter().map(move |&b| (a, b)));
                pairs
                    .into_iter()
                    .find(|&(a, b)| !precedence.before(shape.actors.node(a), shape.actors.node(b)))
            };
            let (Some(_), Some(pair)) = (unordered(others, users), unordered(users, others)) else {
                continue;
            };
            let (from, to) = (second.address, end.min(second.address + second.bytes));
            let (a, b) = (names(pair.0), names(pair.1));
            let text = format!(
                "buffers {} and {} share bytes {from:#x}..{to:#x}, and no path leads from node {a}, which uses the \
                 one, to node {b}, which uses the other: both live at the same time",
                first.note.describe(),
                second.note.describe(),
            );
            reports.push(Report { kind: "overlap", status: Status::LAUNCH_FAILED, nodes: vec![a, b], text });
            if reports.len() == MOST {
                return reports;
            }
        }
    }
    reports
}
