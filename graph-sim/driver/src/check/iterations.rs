//! Loop iterations in the checks. Each iteration runs the same nodes again, after all nodes of the previous one.
//!
//! At the end of an iteration its accesses are transferred to *past* actors, one for each actor of the loop. A
//! past actor has the position of the loop's entry in the precedence relation: before every node of the next
//! iteration, and unordered with the outer nodes that are unordered with the loop. So the rows of the relation
//! depend only on the edges, not on the number of iterations.

use std::collections::BTreeSet;

use super::checker::{AccessCell, Checker};
use super::order::LaunchOrder;
use super::past_actors::PastActors;
use crate::state::scopes::ConditionalNode;

impl Checker<'_> {
    /// Returns the original actor of a past actor and the entry of its loop; `None` for an actor of this
    /// iteration.
    fn past_of(&self, actor: usize) -> Option<(usize, usize)> {
        self.past.list.get(actor.checked_sub(self.shape.actors.count())?).copied()
    }

    /// Returns the node that gives an actor's position in the precedence relation.
    pub(super) fn node_of(&self, actor: usize) -> usize {
        self.past_of(actor).map_or_else(|| self.shape.actors.node(actor), |(_, entry)| entry)
    }

    /// Returns the original actor of a past actor. Returns other actors unchanged.
    pub(super) fn origin(&self, actor: usize) -> usize {
        self.past_of(actor).map_or(actor, |(origin, _)| origin)
    }

    pub(super) fn name(&self, actor: usize) -> String {
        match self.past_of(actor) {
            Some((origin, _)) => format!("{}, in an earlier iteration,", (self.names)(origin)),
            None => (self.names)(actor),
        }
    }

    pub fn begin_loop(&mut self) {
        let rows = if let LaunchOrder::Kernels(points) = &self.order { points.rows() } else { 0 };
        self.past.touched.push((BTreeSet::new(), rows));
    }

    /// Records a range that an actor touches.
    pub(super) fn note_touched(&mut self, start: u64, end: u64) {
        if let Some((ranges, _)) = self.past.touched.last_mut() {
            ranges.insert((start, end));
        }
    }

    /// Begins a run of a body. The live ranges of the body's buffers begin again.
    pub fn begin_body(&mut self, scope: usize) {
        for (begun, &of) in self.begun.iter_mut().zip(&self.shape.scopes.buffers) {
            *begun &= of != scope;
        }
    }

    /// Ends an iteration of the innermost loop, which is given by its entry.
    pub fn end_iteration(&mut self, entry: usize) {
        let shape = self.shape;
        let Some(&body) = shape.scopes.conditionals.get(&entry).and_then(|branch| branch.bodies.first())
        else {
            return;
        };
        let body = &shape.scopes.list[body];
        let inside = |node: usize| {
            (body.nodes.start..body.end).contains(&node) || node == ConditionalNode::exit(entry)
        };
        let Some((ranges, rows)) = self.past.touched.last().cloned() else { return };
        let mut cells = std::mem::take(&mut self.cells);
        for (start, end) in ranges {
            for (_, cell) in cells.range_mut(start..end) {
                self.make_past(cell, entry, &inside);
            }
        }
        self.cells = cells;
        if let LaunchOrder::Kernels(points) = &mut self.order {
            points.forget(body.nodes.start..body.end, rows);
            points.forget(ConditionalNode::exit(entry)..ConditionalNode::exit(entry) + 1, rows);
        }
    }

    /// Ends the innermost loop. The ranges that it touched count for the iteration of the loop around it.
    pub fn end_loop(&mut self) {
        let Some((ranges, _)) = self.past.touched.pop() else { return };
        if let Some((outer, _)) = self.past.touched.last_mut() {
            outer.extend(ranges);
        }
    }

    /// Transfers the accesses of an iteration to past actors.
    fn make_past(&mut self, cell: &mut AccessCell, entry: usize, inside: &dyn Fn(usize) -> bool) {
        let mut past =
            |actor: usize| if inside(self.node_of(actor)) { self.past(actor, entry) } else { actor };
        cell.writer = cell.writer.map(&mut past);
        for actors in [&mut cell.atomics, &mut cell.readers] {
            let mut seen = BTreeSet::new();
            actors.iter_mut().for_each(|actor| *actor = past(*actor));
            actors.retain(|&actor| seen.insert(actor));
        }
    }

    /// Returns the past actor of an actor, and adds it if it does not exist.
    fn past(&mut self, actor: usize, entry: usize) -> usize {
        let key = (self.origin(actor), entry);
        let PastActors { list, numbers, .. } = &mut self.past;
        *numbers.entry(key).or_insert_with(|| {
            list.push(key);
            self.shape.actors.count() + list.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::BufferUsers;
    use crate::memory::{ATOMIC, READ, WRITTEN};
    use crate::state::exec::ExecShape;
    use crate::state::operation::ConditionalKind;
    use crate::state::schedule::{self, Precedence, Random};
    use crate::state::scopes::{ConditionalBody, Scopes};
    use proptest::prelude::*;
    use proptest::sample::Index;
    use std::collections::BTreeMap;

    type Access = (u64, u64, u8);

    /// A node of a scope: its predecessors there, and its accesses or its bodies.
    #[derive(Clone, Debug)]
    struct Item {
        before: Vec<usize>,
        accesses: Vec<Access>,
        bodies: Vec<Vec<Item>>,
        /// For a loop, the number of iterations. For a choice, the body of its first run; each further run takes
        /// the next body.
        number: usize,
        loops: bool,
        /// The index in the shape.
        at: usize,
    }

    /// The random input of an item: predecessors, accesses, bodies, number, and true for a loop.
    type Picks = (Vec<Index>, Vec<Access>, Vec<Vec<Item>>, usize, bool);

    fn scope(items: Vec<Picks>) -> Vec<Item> {
        let make = |(at, (picks, accesses, mut bodies, number, loops)): (usize, Picks)| {
            let picks = if at == 0 { Vec::new() } else { picks };
            let before: BTreeSet<usize> = picks.into_iter().map(|pick| pick.index(at)).collect();
            let accesses = if bodies.is_empty() { accesses } else { Vec::new() };
            bodies.truncate(if loops { 1 } else { 2 });
            Item { before: before.into_iter().collect(), accesses, bodies, number, loops, at: 0 }
        };
        items.into_iter().enumerate().map(make).collect()
    }

    fn items() -> impl Strategy<Value = Vec<Item>> {
        let how = prop_oneof![Just(READ), Just(WRITTEN), Just(ATOMIC), Just(READ | WRITTEN)];
        let access = (0u64..12, 1u64..6, how).prop_map(|(start, bytes, how)| (start, start + bytes, how));
        let picks = || proptest::collection::vec(any::<Index>(), 0..3);
        let accesses = proptest::collection::vec(access, 0..3);
        let leaf = (picks(), accesses, Just(Vec::new()), 0usize..4, any::<bool>());
        let leaves = proptest::collection::vec(leaf.clone(), 1..4).prop_map(scope);
        leaves.prop_recursive(3, 40, 4, move |inner| {
            let bodies = proptest::collection::vec(inner, 1..3);
            let node = (picks(), Just(Vec::new()), bodies, 0usize..4, any::<bool>());
            let item = prop_oneof![leaf.clone(), node];
            proptest::collection::vec(item, 1..5).prop_map(scope)
        })
    }

    #[derive(Default)]
    struct Flat {
        full: Vec<Vec<usize>>,
        scopes: Scopes,
    }

    /// Lays out a scope in the way that an instance does.
    fn flatten(flat: &mut Flat, items: &mut [Item], parent: Option<ConditionalBody>) {
        let first = flat.full.len();
        for item in &mut *items {
            item.at = flat.full.len();
            flat.full.push(Vec::new());
            if !item.bodies.is_empty() {
                let kind = if item.loops { ConditionalKind::While } else { ConditionalKind::Switch };
                flat.scopes.conditionals.insert(item.at, ConditionalNode { kind, bodies: Vec::new() });
                flat.full.push(vec![item.at]);
            }
        }
        let end = |item: &Item| item.at + usize::from(!item.bodies.is_empty());
        for item in &*items {
            flat.full[item.at] = item.before.iter().map(|&before| end(&items[before])).collect();
        }
        let last = flat.full.len();
        flat.scopes.add(first..last, parent);
        if let Some(ConditionalBody { entry, .. }) = parent {
            (first..last).filter(|&at| flat.full[at].is_empty()).collect::<Vec<_>>().into_iter().for_each(
                |at| {
                    flat.full[at].push(entry);
                },
            );
            flat.full[ConditionalNode::exit(entry)].extend(first..last);
        }
        for item in items {
            let at = item.at;
            item.bodies
                .iter_mut()
                .enumerate()
                .for_each(|(body, items)| flatten(flat, items, Some(ConditionalBody { entry: at, body })));
        }
    }

    /// The path of a run: for each scope on the way, the run of the scope and the item in it.
    type Path = Vec<(usize, usize)>;

    /// An execution: the instances of nodes that ran, with their paths.
    struct Run<'a, 'b> {
        checker: &'a mut Checker<'b>,
        random: Random,
        done: Vec<(Path, Vec<Access>)>,
        runs: BTreeMap<usize, usize>,
    }

    impl Run<'_, '_> {
        fn scope(&mut self, items: &[Item], path: &Path, iteration: usize) {
            let before: Vec<Vec<usize>> = items.iter().map(|item| item.before.clone()).collect();
            let seed = self.random.draw();
            for number in schedule::order(&before, Some(Random::new(seed))).unwrap() {
                let (item, mut path) = (&items[number], path.clone());
                path.push((iteration, number));
                if item.bodies.is_empty() {
                    self.checker.record_accesses(item.at, &item.accesses, &|_| String::new());
                    self.done.push((path, item.accesses.clone()));
                } else if item.loops {
                    self.checker.begin_loop();
                    for iteration in 0..item.number {
                        self.scope(&item.bodies[0], &path, iteration);
                        self.checker.end_iteration(item.at);
                    }
                    self.checker.end_loop();
                } else {
                    let runs = self.runs.entry(item.at).or_default();
                    *runs += 1;
                    let body = (item.number + *runs) % 3;
                    if let Some(items) = item.bodies.get(body) {
                        self.scope(items, &path, body);
                    }
                }
            }
        }
    }

    /// Returns true if an execution orders neither instance before the other. They are compared at the scope
    /// where their paths diverge.
    fn unordered(items: &[Item], a: &[(usize, usize)], b: &[(usize, usize)]) -> bool {
        let (first, second) = (a[0], b[0]);
        if first.0 != second.0 {
            return false;
        }
        if first.1 != second.1 {
            let before: Vec<Vec<usize>> = items.iter().map(|item| item.before.clone()).collect();
            let precedence = Precedence::new(&before, &schedule::order(&before, None).unwrap());
            return !precedence.precedes(first.1, second.1) && !precedence.precedes(second.1, first.1);
        }
        let item = &items[first.1];
        let body = if item.loops { 0 } else { a[1].0 };
        unordered(&item.bodies[body], &a[1..], &b[1..])
    }

    fn conflict(a: &[Access], b: &[Access]) -> bool {
        let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
        pairs.into_iter().any(|(&(start, end, how), &(from, to, too))| {
            let overlap = start.max(from) < end.min(to);
            overlap && (how | too) & (WRITTEN | ATOMIC) != 0 && !(how == ATOMIC && too == ATOMIC)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn races_are_found_through_turns_and_bodies(mut program in items(), seed in any::<u64>()) {
            let mut flat = Flat::default();
            flatten(&mut flat, &mut program, None);
            let mut shape = ExecShape::with_full_edges(flat.full, Vec::new());
            shape.scopes = flat.scopes;
            let (users, names) = (BufferUsers::new(&shape), |node: usize| node.to_string());
            let mut checker = Checker::new(&users, &names, Vec::new());
            let random = Random::new(seed);
            let mut run = Run { checker: &mut checker, random, done: Vec::new(), runs: BTreeMap::new() };
            run.scope(&program, &Vec::new(), 0);
            let done = run.done;
            let mut races = 0;
            for (at, (path, accesses)) in done.iter().enumerate() {
                for (other, others) in &done[..at] {
                    let racy = conflict(accesses, others) && unordered(&program, path, other);
                    races += usize::from(racy && path != other);
                }
            }
            prop_assert_eq!(races == 0, checker.reported.is_empty(), "{} races, {:?}", races, checker.reported);
        }
    }
}
