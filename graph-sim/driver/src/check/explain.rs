//! Explanations in reports: why two actors of a launch are unordered.

use crate::interp::PreWait;
use crate::state::exec::ExecShape;

/// An actor's node, and the node that gives its position in the precedence relation: the loop's entry if the
/// actor is of an earlier iteration.
#[derive(Clone, Copy)]
pub(super) struct ActorPosition {
    pub node: usize,
    pub position: usize,
}

/// Describes the accesses that a node made to bytes before its wait; empty if it made none.
pub(super) fn describe_pre_wait(pre_wait: &[PreWait], from: u64, to: u64) -> String {
    let mut lines: Vec<u32> = pre_wait
        .iter()
        .filter(|pre_wait| pre_wait.from < to && from < pre_wait.to)
        .map(|pre_wait| pre_wait.line)
        .collect();
    lines.sort_unstable();
    let shown: Vec<String> = lines.iter().take(3).map(u32::to_string).collect();
    match (shown.len(), lines.len() > shown.len()) {
        (0, _) => String::new(),
        (1, _) => format!(" (PTX line {}, before any `griddepcontrol.wait`)", shown[0]),
        (_, more) => {
            let others = if more { " and others" } else { "" };
            format!(" (PTX lines {}{others}, before any `griddepcontrol.wait`)", shown.join(", "))
        }
    }
}

/// Explains why two actors are unordered. `pre_wait` is true if one of them touched the bytes before its wait.
pub(super) fn why_unordered(
    shape: &ExecShape,
    names: &dyn Fn(usize) -> String,
    a: ActorPosition,
    b: ActorPosition,
    pre_wait: bool,
) -> String {
    if a.position == b.position {
        return "they are launches in one node".to_owned();
    }
    let edges = shape.precedence();
    if !edges.precedes(a.position, b.position) && !edges.precedes(b.position, a.position) {
        let (outer, other) = shape.scopes.lift_to_common_scope(a.node, b.node);
        if (outer, other) != (a.node, b.node) {
            let (outer, other) = (names(outer), names(other));
            return format!("an edge from node {outer} to node {other}, or back, is missing");
        }
        return "an edge from one to the other is missing".to_owned();
    }
    if pre_wait {
        return "a programmatic edge orders only accesses after the wait".to_owned();
    }
    "a kernel between them, after a programmatic edge, ends without executing `griddepcontrol.wait`"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{BufferUsers, Checker};
    use crate::memory::Touched;
    use crate::memory::{ATOMIC, PRE_WAIT, READ, WRITTEN};
    use crate::state::schedule::{Random, Schedule, Step};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// A kernel: its predecessors (true for a programmatic edge), its accesses (true for one before the wait),
    /// and true if it executes its wait.
    #[derive(Clone, Debug)]
    struct Kernel {
        before: Vec<(usize, bool)>,
        accesses: Vec<(u64, u64, u8, bool)>,
        waits: bool,
    }

    impl Kernel {
        fn edges(&self, programmatic: bool) -> Vec<usize> {
            self.before.iter().filter(|edge| edge.1 == programmatic).map(|edge| edge.0).collect()
        }

        /// Returns true if an access is before the wait: every access of a kernel without a wait, and no access
        /// of a kernel without producers.
        fn is_pre_wait(&self, pre_wait: bool) -> bool {
            !self.edges(true).is_empty() && (pre_wait || !self.waits)
        }

        fn touched(&self, pre_wait: bool) -> Touched {
            let own = self.accesses.iter().filter(|access| self.is_pre_wait(access.3) == pre_wait);
            own.map(|&(from, to, how, _)| (from, to, if pre_wait { how << PRE_WAIT } else { how })).collect()
        }
    }

    fn program() -> impl Strategy<Value = Vec<Kernel>> {
        let how = prop_oneof![Just(READ), Just(WRITTEN), Just(ATOMIC), Just(READ | WRITTEN)];
        let access = (0u64..12, 1u64..6, how, any::<bool>());
        let kernel = (
            proptest::collection::vec((any::<proptest::sample::Index>(), any::<bool>()), 0..3),
            proptest::collection::vec(access, 0..3),
            prop::bool::weighted(0.7),
        );
        proptest::collection::vec(kernel, 1..8).prop_map(|kernels| {
            let make =
                |(at, (picks, accesses, waits)): (usize, (Vec<(proptest::sample::Index, bool)>, _, _))| {
                    let mut before: Vec<(usize, bool)> = match at {
                        0 => Vec::new(),
                        _ => picks.into_iter().map(|(pick, kind)| (pick.index(at), kind)).collect(),
                    };
                    before.sort_unstable();
                    before.dedup_by_key(|edge| edge.0);
                    let accesses: Vec<(u64, u64, u8, bool)> = accesses;
                    let accesses =
                        accesses.into_iter().map(|(at, len, how, pre_wait)| (at, at + len, how, pre_wait));
                    Kernel { before, accesses: accesses.collect(), waits }
                };
            kernels.into_iter().enumerate().map(make).collect()
        })
    }

    /// Returns the points reached from each point. The start, wait and end of node `n` are `3 n`, `3 n + 1` and
    /// `3 n + 2`.
    fn reach(kernels: &[Kernel]) -> Vec<Vec<bool>> {
        let mut next = vec![Vec::new(); 3 * kernels.len()];
        for (node, kernel) in kernels.iter().enumerate() {
            next[3 * node].extend([3 * node + 1, 3 * node + 2]);
            if kernel.waits {
                next[3 * node + 1].push(3 * node + 2);
            }
            for &(before, programmatic) in &kernel.before {
                if programmatic {
                    next[3 * before].push(3 * node);
                    next[3 * before + 2].push(3 * node + 1);
                } else {
                    next[3 * before + 2].push(3 * node);
                }
            }
        }
        let from = |start: usize| {
            let (mut seen, mut work) = (vec![false; next.len()], vec![start]);
            while let Some(vertex) = work.pop() {
                if !std::mem::replace(&mut seen[vertex], true) {
                    work.extend(&next[vertex]);
                }
            }
            seen
        };
        (0..next.len()).map(from).collect()
    }

    fn races(kernels: &[Kernel]) -> BTreeSet<(usize, usize)> {
        let reach = reach(kernels);
        let mut races = BTreeSet::new();
        for (b, second) in kernels.iter().enumerate() {
            for (a, first) in kernels[..b].iter().enumerate() {
                let ordered = |from: usize, to: usize, pre_wait: bool| {
                    let point = 3 * to + usize::from(!kernels[to].is_pre_wait(pre_wait));
                    reach[3 * from + 2][point]
                };
                let conflict = first.accesses.iter().any(|x| {
                    second.accesses.iter().any(|y| {
                        x.0.max(y.0) < x.1.min(y.1)
                            && (x.2 | y.2) & (WRITTEN | ATOMIC) != 0
                            && !(x.2 == ATOMIC && y.2 == ATOMIC)
                            && !ordered(a, b, y.3)
                            && !ordered(b, a, x.3)
                    })
                });
                if conflict {
                    races.insert((a, b));
                }
            }
        }
        races
    }

    proptest! {
        #[test]
        fn races_along_programmatic_edges_are_found_under_every_schedule(
            kernels in program(),
            seed in any::<u64>(),
        ) {
            let full: Vec<_> = kernels.iter().map(|kernel| kernel.edges(false)).collect();
            let programmatic: Vec<_> = kernels.iter().map(|kernel| kernel.edges(true)).collect();
            let plan = Schedule::new(&full, &programmatic, Some(Random::new(seed)));
            let shape = ExecShape::with_edges(full, programmatic, Vec::new());
            let (users, names) = (BufferUsers::new(&shape), |node: usize| node.to_string());
            let mut checker = Checker::new(&users, &names, Vec::new());
            let mut overlapped = BTreeSet::new();
            for step in plan.order().unwrap() {
                match plan.steps[step] {
                    Step::Start { node, overlapped: starts } => {
                        checker.start(node);
                        if starts {
                            overlapped.insert(node);
                            checker.record_accesses(node, &kernels[node].touched(true), &|_| String::new());
                        }
                    }
                    Step::Finish(node) => {
                        checker.record_wait(node);
                        let mut touched =
                            if overlapped.contains(&node) { Vec::new() } else { kernels[node].touched(true) };
                        touched.extend(kernels[node].touched(false));
                        checker.record_accesses(node, &touched, &|_| String::new());
                        checker.end(node, kernels[node].waits);
                    }
                }
            }
            let races = races(&kernels);
            prop_assert_eq!(races.is_empty(), checker.reported.is_empty(), "{:?} {:?}", races, checker.reported);
            prop_assert!(checker.reported.is_subset(&races), "{:?} {:?}", races, checker.reported);
        }
    }
}
