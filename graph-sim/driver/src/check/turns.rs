//! Turns of loops: the same nodes again, after all of their last turn.
//!
//! At the end of a turn its accesses become those of *past* actors, one for each actor of the loop. In the precedence of
//! nodes a past actor stands at the loop's entry: before every node of the next turn, and unordered with the nodes outside
//! that the loop is unordered with. So the rows of the precedence stay what the edges make them.

use std::collections::{BTreeMap, BTreeSet};

use super::checker::{Cell, Checker};
use super::order::Order;
use crate::state::scopes::Branch;

/// The actors of earlier turns, numbered behind those of the instance.
#[derive(Default)]
pub(super) struct Past {
    /// For each the actor that it was, and the entry of its loop.
    list: Vec<(usize, usize)>,
    numbers: BTreeMap<(usize, usize), usize>,
    /// For each loop that runs the ranges that its nodes have touched in this turn, and the state of the order at its begin.
    touched: Vec<(BTreeSet<(u64, u64)>, usize)>,
}

impl Checker<'_> {
    /// Returns the past actor of a number, as the actor that it was and the entry of its loop.
    fn past_of(&self, actor: usize) -> Option<(usize, usize)> {
        self.past.list.get(actor.checked_sub(self.shape.actors.count())?).copied()
    }

    /// The node where an actor stands in the precedence of nodes.
    pub(super) fn node_of(&self, actor: usize) -> usize {
        self.past_of(actor).map_or_else(|| self.shape.actors.node(actor), |(_, entry)| entry)
    }

    /// The actor that an actor is, or was in an earlier turn.
    pub(super) fn origin(&self, actor: usize) -> usize {
        self.past_of(actor).map_or(actor, |(origin, _)| origin)
    }

    /// The name of an actor.
    pub(super) fn name(&self, actor: usize) -> String {
        match self.past_of(actor) {
            Some((origin, _)) => format!("{}, in an earlier turn,", (self.names)(origin)),
            None => (self.names)(actor),
        }
    }

    /// Begins a loop.
    pub fn begin_loop(&mut self) {
        let rows = if let Order::Kernels(points) = &self.order { points.rows() } else { 0 };
        self.past.touched.push((BTreeSet::new(), rows));
    }

    /// Records a range that an actor touches.
    pub(super) fn note_touched(&mut self, start: u64, end: u64) {
        if let Some((ranges, _)) = self.past.touched.last_mut() {
            ranges.insert((start, end));
        }
    }

    /// Begins a run of a body: buffers that live within it begin anew.
    pub fn begin_body(&mut self, scope: usize) {
        for (begun, &of) in self.begun.iter_mut().zip(&self.shape.scopes.buffers) {
            *begun &= of != scope;
        }
    }

    /// Ends a turn of the innermost loop, which has that entry.
    pub fn end_turn(&mut self, entry: usize) {
        let shape = self.shape;
        let Some(&body) = shape.scopes.branches.get(&entry).and_then(|branch| branch.bodies.first()) else { return };
        let body = &shape.scopes.list[body];
        let inside = |node: usize| (body.nodes.start..body.end).contains(&node) || node == Branch::exit(entry);
        let Some((ranges, rows)) = self.past.touched.last().cloned() else { return };
        let mut cells = std::mem::take(&mut self.cells);
        for (start, end) in ranges {
            for (_, cell) in cells.range_mut(start..end) {
                self.make_past(cell, entry, &inside);
            }
        }
        self.cells = cells;
        if let Order::Kernels(points) = &mut self.order {
            points.forget(body.nodes.start..body.end, rows);
        }
    }

    /// Ends the innermost loop. What its turns have touched the turn of the loop around it has touched.
    pub fn end_loop(&mut self) {
        let Some((ranges, _)) = self.past.touched.pop() else { return };
        if let Some((outer, _)) = self.past.touched.last_mut() {
            outer.extend(ranges);
        }
    }

    /// Gives the accesses of a turn to past actors.
    fn make_past(&mut self, cell: &mut Cell, entry: usize, inside: &dyn Fn(usize) -> bool) {
        let mut past = |actor: usize| if inside(self.node_of(actor)) { self.past(actor, entry) } else { actor };
        cell.writer = cell.writer.map(&mut past);
        for actors in [&mut cell.atomics, &mut cell.readers] {
            let mut seen = BTreeSet::new();
            actors.iter_mut().for_each(|actor| *actor = past(*actor));
            actors.retain(|&actor| seen.insert(actor));
        }
    }

    /// Returns the past actor of an actor.
    fn past(&mut self, actor: usize, entry: usize) -> usize {
        let key = (self.origin(actor), entry);
        let Past { list, numbers, .. } = &mut self.past;
        *numbers.entry(key).or_insert_with(|| {
            list.push(key);
            self.shape.actors.count() + list.len() - 1
        })
    }
}
