//! Stacks in random and hand-made orders: they close no cycle, lengthen no path, and have chains of the same
//! kernels.

use super::*;
use crate::index::narrow;
use crate::launches::fusion::contracted;
use crate::launches::launch::{Fusing, TripCount};
use crate::launches::testing::program;
use crate::launches::{Allowed, Decision, LaunchProblem, Tuning, decide};
use crate::reach::Reach;

fn id(at: u32) -> StatementId {
    StatementId::from_u32(at)
}

/// Launches with one block, by their kernels.
struct Case {
    kernels: Vec<u32>,
    edges: Vec<(u32, u32)>,
    work: Vec<u64>,
    grids: Vec<u32>,
    most: u32,
    calls: Vec<u32>,
}

impl Case {
    fn new(kernels: Vec<u32>) -> Case {
        let count = kernels.len();
        Case {
            kernels,
            edges: Vec::new(),
            work: vec![0; count],
            grids: vec![1; count],
            most: 100,
            calls: Vec::new(),
        }
    }

    /// Makes chains of equal length. The statement of a step is `step * chains + chain`, and its kernel is the
    /// number of the step.
    fn chains(chains: u32, length: u32) -> Case {
        let mut case = Case::new((0..chains * length).map(|at| at / chains).collect());
        case.edges = (chains..chains * length).map(|at| (at - chains, at)).collect();
        case
    }

    /// Adds a statement.
    fn and(mut self, kernel: u32, before: &[u32], after: &[u32]) -> Case {
        let at = narrow(self.kernels.len());
        self.kernels.push(kernel);
        self.work.push(0);
        self.grids.push(1);
        self.edges.extend(before.iter().map(|&before| (before, at)));
        self.edges.extend(after.iter().map(|&after| (at, after)));
        self
    }

    fn launch(&self, at: usize) -> Option<Launch> {
        (!self.calls.contains(&narrow(at))).then(|| Launch {
            kernel: KernelId::from_u32(self.kernels[at]),
            grid: [self.grids[at], 1, 1],
            block: [64, 1, 1],
            shared: 0,
            work: vec![self.work[at]],
            wave: 1_056,
            grid_changes: false,
            ranged: Default::default(),
            batch: Batching::UpTo { equal: self.most, flat: self.most },
            waits: true,
            lanes: true,
            fuse: Fusing::With(Vec::new().into()),
            short: true,
            trip_count: TripCount::Unknown,
            stack: true,
        })
    }

    fn decide(&self) -> Decision {
        let count = self.kernels.len();
        let edges: Vec<_> = self.edges.iter().map(|&(from, to)| (id(from), id(to))).collect();
        let mut program = program(count);
        for &call in &self.calls {
            program.statements[id(call)].kind = StatementKind::Capture(());
        }
        let launches: Vector<StatementId, _> =
            (0..count).map(|at| self.launch(at)).collect::<Vec<_>>().into();
        let decision = decide(LaunchProblem {
            program: &program,
            edges: &edges,
            launches: &launches,
            duration_classes: &Vector::filled(0, count),
            allowed: Allowed { batches: true, fuse: true, lanes: true, ..Allowed::default() },
            max_members: usize::MAX,
            tuning: &Tuning::for_capability((9, 0)),
        });
        let decision = decision.expect("the order has no cycle");
        let depth = |edges: &[(StatementId, StatementId)]| {
            let mut preds = Vector::filled(Vec::new(), count);
            edges.iter().for_each(|&(from, to)| preds[to].push(from));
            Reach::new(&preds).expect("stacks close no cycle").depth()
        };
        let all = [edges.as_slice(), &decision.edges].concat();
        let with_lanes = depth(&all);
        let one_node = contracted(&program, &decision.chains, all);
        assert!(depth(&one_node) <= with_lanes.max(depth(&edges)));
        for chain in &decision.chains {
            let kernels = |members: &[StatementId]| -> Vec<_> {
                members.iter().map(|&id| launches[id].as_ref().map(|launch| launch.kernel)).collect()
            };
            let first: Vec<_> = chain.chains().take(1).flat_map(kernels).collect();
            assert!(chain.chains().all(|members| kernels(members) == first));
        }
        decision
    }

    /// Returns the number of chains and of launches of each stack, and the number of other merged nodes.
    fn stacks(&self) -> (Vec<(usize, usize)>, usize) {
        let decision = self.decide();
        let (stacks, others): (Vec<_>, Vec<_>) =
            decision.chains.iter().partition(|chain| chain.stack.is_some());
        let sizes = stacks.iter().map(|chain| (chain.chains().len(), chain.length()));
        (sizes.collect(), others.len() + decision.batches.len())
    }
}

#[test]
fn chains_of_the_same_kernels_are_one() {
    assert_eq!(Case::chains(3, 4).stacks(), (vec![(3, 4)], 0));
    assert_eq!(Case::chains(2, 32).stacks(), (vec![(2, 32)], 0));
    let mut other = Case::chains(3, 4);
    other.kernels[7] = 9;
    assert_eq!(other.stacks(), (vec![(2, 4)], 1));
    let longer = Case::chains(3, 4).and(4, &[9], &[]);
    assert_eq!(longer.stacks(), (vec![(2, 4)], 1));
    // Limited by the parameters: three times 64 bytes of 256.
    let mut large = Case::chains(12, 3);
    large.most = 12;
    assert_eq!(large.stacks(), (vec![(4, 3); 3], 0));
}

#[test]
fn chains_end_together_or_are_waited_for_together() {
    // They take different times, and one statement follows all of them.
    let mut joined = Case::chains(3, 4).and(9, &[9, 10, 11], &[]);
    joined.work[0] = 7;
    assert_eq!(joined.stacks(), (vec![(3, 4)], 0));
    // Different statements follow each: chains that take equally long are stacked.
    let mut apart = Case::chains(3, 4);
    for chain in 0..3 {
        apart = apart.and(9, &[9 + chain], &[]);
    }
    let grids = apart.grids.len();
    apart.grids[grids - 3..].fill(2);
    assert_eq!(apart.stacks().0, [(3, 4)]);
    apart.work[0] = 7;
    assert_eq!(apart.stacks().0, [(2, 4)]);
    // One begins after a statement that the others do not follow.
    let mut late = Case::chains(3, 4).and(9, &[], &[0]);
    late.grids[12] = 2;
    assert_eq!(late.stacks().0, [(2, 4)]);
}

#[test]
fn stacks_between_library_calls_are_none() {
    let mut case = Case::chains(4, 3);
    for chain in 0..4 {
        case = case.and(9, &[], &[chain]).and(9, &[8 + chain], &[]);
    }
    case.calls = (12..20).collect();
    assert_eq!(case.stacks().0, []);
    // After one call for all chains, stacking saves edges.
    let mut case = Case::chains(4, 3).and(9, &[], &[0, 1, 2, 3]).and(9, &[8, 9, 10, 11], &[]);
    case.calls = vec![12, 13];
    assert_eq!(case.stacks().0, [(4, 3)]);
}

#[test]
fn random_orders_stay_orders() {
    let mut state = 1_u64;
    let mut below = |most: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((state >> 33) % u64::from(most)).expect("it is smaller")
    };
    let (mut stacked, mut others) = (0, 0);
    for _ in 0..2_000 {
        let (chains, length) = (2 + below(4), 2 + below(4));
        let mut case = Case::chains(chains, length);
        let several = below(3) == 0;
        for at in 0..chains * length {
            if below(20) == 0 {
                case.kernels[size(at)] = below(3);
            }
            if several {
                case.work[size(at)] = u64::from(below(2));
            }
            // Another grid for whole chains.
            if (at % chains) == 1 && several {
                case.grids[size(at)] = 2;
            }
        }
        for _ in 0..below(5) {
            let all = narrow(case.kernels.len());
            let (from, to) = (below(all), below(all));
            match below(3) {
                0 => case = case.and(below(3), &[from.min(to)], &[]),
                1 => case = case.and(below(3), &[from, to], &[]),
                _ if from < to => case.edges.push((from, to)),
                _ => {}
            }
        }
        let (stacks, alone) = case.stacks();
        stacked += stacks.len();
        others += alone;
    }
    assert!(stacked > 500 && others > 500, "{stacked}, {others}");
}
