use super::*;
use crate::ids::{KernelId, OperationId};
use crate::index::{Index, Vector, ids, narrow, size};
use crate::ir::{Device, Program};
use crate::operation::{Operation, OperationKind};
use crate::overlap;
use crate::reach::Reach;

use super::testing::program;

/// Launches and their order. All launches are equal unless changed.
struct Case {
    launches: Vec<Option<Launch>>,
    /// The duration classes of the statements.
    others: Vec<u32>,
    edges: Vec<(u32, u32)>,
    tuning: Tuning,
}

fn ids_of(edges: &[(u32, u32)]) -> Vec<(StatementId, StatementId)> {
    edges.iter().map(|&(from, to)| (StatementId::from_u32(from), StatementId::from_u32(to))).collect()
}

const WAVE: u32 = 1_056;

impl Case {
    fn new(count: usize) -> Case {
        let launch = Launch {
            kernel: KernelId::from_u32(0),
            grid: [4, 1, 1],
            block: [256, 1, 1],
            shared: 0,
            work: Vec::new(),
            wave: WAVE,
            grid_changes: false,
            ranged: Default::default(),
            batch: Batching::UpTo { equal: 100, flat: 60 },
            waits: true,
            lanes: true,
            fuse: Fusing::Never,
            short: false,
            trip_count: TripCount::Unknown,
            stack: true,
        };
        Case {
            launches: vec![Some(launch); count],
            others: vec![0; count],
            edges: Vec::new(),
            tuning: Tuning::for_capability((9, 0)),
        }
    }

    /// Makes `chains` chains of `length` launches. The statement of a step is `step * chains + chain`.
    fn chains(chains: u32, length: u32) -> Case {
        let mut case = Case::new(size(chains * length));
        for id in chains..chains * length {
            case.edges.push((id - chains, id));
        }
        case
    }

    fn change(mut self, which: impl Fn(u32) -> bool, change: impl Fn(&mut Launch, u32)) -> Case {
        for (id, launch) in (0..).zip(self.launches.iter_mut()) {
            if let Some(launch) = launch.as_mut().filter(|_| which(id)) {
                change(launch, id);
            }
        }
        self
    }

    fn decide(&self, allowed: Allowed) -> Decision {
        self.decide_on(&program(self.launches.len()), allowed)
    }

    fn decide_on(&self, program: &Program, allowed: Allowed) -> Decision {
        let problem = LaunchProblem {
            program,
            edges: &ids_of(&self.edges),
            launches: &self.launches.clone().into(),
            duration_classes: &self.others.iter().copied().collect(),
            allowed,
            max_members: usize::MAX,
            tuning: &self.tuning,
        };
        decide(problem).expect("the order has no cycle")
    }

    /// Returns the members of each batch, and checks the invariants of the decision.
    fn batches(&self) -> Vec<Vec<u32>> {
        let decision = self.decide(Allowed { batches: true, ..Allowed::default() });
        let reach = |edges: &[(StatementId, StatementId)]| {
            let mut preds = crate::index::Vector::filled(Vec::new(), self.launches.len());
            edges.iter().for_each(|&(before, after)| preds[after].push(before));
            Reach::new(&preds).expect("no cycle")
        };
        let edges = ids_of(&self.edges);
        let (before, after) = (reach(&edges), reach(&[&edges[..], &decision.edges].concat()));
        assert_eq!(before.depth(), after.depth(), "the depth does not grow");
        for batch in &decision.batches {
            let first = batch.members[0];
            for &member in &batch.members[1..] {
                assert!(!after.ordered(first, member), "members stay unordered");
                let same = |other: &StatementId| {
                    batch.members.contains(other)
                        || after.precedes(*other, first) == after.precedes(*other, member)
                            && after.precedes(first, *other) == after.precedes(member, *other)
                };
                assert!(ids(self.launches.len()).all(|other| same(&other)), "a batch is one node");
            }
        }
        let members = |batch: Batch| batch.members.into_iter().map(StatementId::as_u32).collect();
        decision.batches.into_iter().map(members).collect()
    }

    fn serialized(&self) -> usize {
        self.decide(Allowed { lanes: true, ..Allowed::default() }).lanes.len()
    }
}

fn levels(chains: u32, length: u32) -> Vec<Vec<u32>> {
    (0..length).map(|step| (step * chains..(step + 1) * chains).collect()).collect()
}

#[test]
fn chains_that_are_alike_are_batched_level_by_level() {
    assert_eq!(Case::chains(16, 5).batches(), levels(16, 5));
}

#[test]
fn nothing_is_batched_that_may_not_be() {
    assert!(
        Case::chains(4, 2).change(|_| true, |launch, _| launch.batch = Batching::Never).batches().is_empty()
    );
    assert!(Case::chains(1, 9).batches().is_empty());
    assert!(
        Case::chains(4, 2)
            .change(|_| true, |launch, id| launch.kernel = KernelId::from_u32(id % 4))
            .batches()
            .is_empty()
    );
    assert!(
        Case::chains(4, 2)
            .change(|_| true, |launch, id| launch.block = [1 + id % 4, 1, 1])
            .batches()
            .is_empty()
    );
    assert!(Case::chains(4, 2).change(|_| true, |launch, id| launch.shared = id % 4).batches().is_empty());
}

#[test]
fn a_chain_does_not_wait_for_anothers_longer_kernel() {
    let chains = 8;
    let case = Case::chains(chains, 6).change(
        |_| true,
        |launch, id| {
            launch.work = vec![u64::from((id / chains + id % 2) % 2)];
        },
    );
    let expected: Vec<Vec<u32>> = levels(chains, 6)
        .into_iter()
        .flat_map(|level| {
            let of = |rest| level.iter().copied().filter(|id| id % 2 == rest).collect::<Vec<_>>();
            [of(0), of(1)]
        })
        .collect();
    assert_eq!(case.batches(), expected);
}

#[test]
fn unequal_launches_are_batched_where_all_are_waited_for_together() {
    let unequal = |launch: &mut Launch, id: u32| launch.grid = [1 + id, 1, 1];
    let leaves = Case::new(40).change(|_| true, unequal);
    assert_eq!(leaves.batches(), [(0..40).collect::<Vec<_>>()]);
    assert_eq!(leaves.decide(Allowed { batches: true, ..Allowed::default() }).batches[0].axis, None);

    let mut joined = Case::new(6).change(|id| id < 5, unequal);
    joined.edges = (0..5).map(|id| (id, 5)).collect();
    assert_eq!(joined.batches(), [vec![0, 1, 2, 3, 4]]);

    // Chains of unequal kernels are not batched.
    assert!(
        Case::chains(5, 2)
            .change(|_| true, |launch, id| launch.grid = [1 + id % 5, 1, 1])
            .batches()
            .is_empty()
    );
    // With this many blocks, flattening costs more than it gains.
    let large = Case::new(60).change(|_| true, |launch, id| launch.grid = [WAVE - id, 1, 1]);
    assert!(large.batches().is_empty());
    // Among large launches, only the small ones are flattened.
    let some =
        Case::new(60).change(|_| true, |launch, id| launch.grid = [1 + 5 * WAVE * (id % 2) + id, 1, 1]);
    assert_eq!(some.batches(), [(0..60).step_by(2).collect::<Vec<_>>()]);
    let few = Case::new(4).change(|_| true, |launch, id| launch.grid = [1 + 5 * WAVE * (id % 2) + id, 1, 1]);
    assert_eq!(few.batches(), [[0, 1, 2, 3]]);
}

#[test]
fn the_table_of_parameters_bounds_a_batch() {
    let sizes = |case: Case| case.batches().iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(sizes(Case::new(250)), [84, 84, 82]);
    assert_eq!(sizes(Case::new(100)), [100]);
    // A grid that a setter may change is flattened.
    assert_eq!(sizes(Case::new(100).change(|id| id == 7, |launch, _| launch.grid_changes = true)), [50, 50]);
    let case = Case::new(10).change(|_| true, |launch, _| launch.grid = [2, 3, 4]);
    assert_eq!(case.decide(Allowed { batches: true, ..Allowed::default() }).batches[0].axis, None);
    let case = Case::new(10).change(|_| true, |launch, _| launch.grid = [2, 1, 4]);
    assert_eq!(case.decide(Allowed { batches: true, ..Allowed::default() }).batches[0].axis, Some(1));
}

#[test]
fn many_small_branches_are_serialized_into_lanes() {
    let sized = |blocks| {
        let case = Case::new(96).change(
            |_| true,
            move |launch, id| {
                (launch.kernel, launch.short, launch.grid) = (KernelId::from_u32(id), true, [blocks, 1, 1]);
            },
        );
        case.serialized()
    };
    // 96 launches in 8 lanes, so 88 follow another one.
    assert_eq!([sized(12), sized(49), sized(195), sized(776)], [88, 88, 88, 0]);
    // Whole branches are serialised, not their steps: 40 chains of 3 in 8 lanes.
    let short = |case: Case| case.change(|_| true, |launch, _| launch.short = true);
    let chains = short(Case::chains(40, 3));
    assert_eq!(chains.serialized(), 32);
    let added = chains.decide(Allowed { lanes: true, ..Allowed::default() }).edges;
    assert_eq!(added[0], ids_of(&[(80, 8)])[0], "the first branch ends before the ninth begins");
    assert_eq!(short(Case::chains(11, 3)).serialized(), 0);
    // A kernel that may run long makes others wait.
    assert_eq!(Case::chains(40, 3).serialized(), 0);
    assert_eq!(chains.change(|id| id == 50, |launch, _| launch.short = false).serialized(), 0);
}

#[test]
fn batched_launches_are_not_serialized() {
    let decision = Case::chains(48, 4).decide(Allowed { batches: true, lanes: true, ..Allowed::default() });
    assert_eq!((decision.batches.len(), decision.lanes.len()), (4, 0));
}

#[test]
fn kernels_between_copies_of_each_chain_are_left_alone() {
    let chains = 8;
    let mut case = Case::chains(chains, 5);
    for id in 0..5 * chains {
        if id / chains % 2 == 1 {
            case.launches[size(id)] = None;
        }
    }
    let level = |step: u32| (step * chains..(step + 1) * chains).collect::<Vec<_>>();
    assert_eq!(case.batches(), [level(0), level(4)]);
    // Two consecutive kernels pay for one fork.
    let mut case = Case::chains(chains, 4);
    for chain in 0..chains {
        case.launches[size(chain)] = None;
        case.launches[size(3 * chains + chain)] = None;
    }
    assert_eq!(case.batches(), [level(1), level(2)]);
}

#[test]
fn launches_behind_unequal_statements_are_not_batched() {
    // In each of 8 chains: a copy or a call, and two consecutive launches.
    let chains = 8;
    let mut case = Case::chains(chains, 3);
    for chain in 0..chains {
        case.launches[size(chain)] = None;
    }
    let level = |step: u32| (step * chains..(step + 1) * chains).collect::<Vec<_>>();
    assert_eq!(case.batches(), [level(1), level(2)]);
    for chain in 0..chains / 2 {
        case.others[size(chain)] = 7;
    }
    let half = |step: u32, from: u32| (step * chains + from..step * chains + from + 4).collect::<Vec<_>>();
    assert_eq!(case.batches(), [half(1, 0), half(1, 4), half(2, 0), half(2, 4)]);
}

#[test]
fn diagonals_are_batched() {
    let side = 6u32;
    let mut case = Case::new(size(side * side));
    for (r, c) in (0..side).flat_map(|r| (0..side).map(move |c| (r, c))) {
        let cell = side * r + c;
        case.edges.extend((r > 0).then(|| (cell - side, cell)));
        case.edges.extend((c > 0).then(|| (cell - 1, cell)));
    }
    let mut diagonals = vec![Vec::new(); size(2 * side - 1)];
    (0..side * side).for_each(|cell| diagonals[size(cell / side + cell % side)].push(cell));
    diagonals.retain(|diagonal| diagonal.len() > 1);
    assert_eq!(case.batches(), diagonals);
}

#[test]
fn a_predecessor_that_has_ended_long_before_keeps_nothing_out_of_a_batch() {
    // Chains of different kernels; the first also depends on an initial launch.
    let mut case = Case::chains(4, 3);
    case.launches.push(case.launches[0].clone());
    case.edges.push((12, 8));
    assert_eq!(case.batches(), [vec![0, 1, 2, 3, 12], vec![4, 5, 6, 7], vec![8, 9, 10, 11]]);
}

/// Chains with a long kernel on every level: if batches ignored when their members begin, every level would wait
/// for it.
#[test]
fn chains_without_a_pattern_are_not_batched() {
    let (chains, length) = (8, 32);
    let case = Case::chains(chains, length).change(
        |_| true,
        |launch, id| {
            let (chain, step) = (id % chains, id / chains);
            let mixed = (chain * 40_503 + step * 30_011 + chain * step * 7_919) >> 3;
            launch.work = vec![u64::from(mixed % 4 == 0)];
        },
    );
    let time = |id: &u32| 1 + 9 * case.launches[size(*id)].as_ref().map_or(0, |launch| launch.work[0]);
    let chain_of = |chain: u32| (0..length).map(move |step| step * chains + chain);
    let written = (0..chains).map(|chain| chain_of(chain).map(|id| time(&id)).sum::<u64>()).max();
    let batches = case.batches();
    let mut ends = vec![0; case.launches.len()];
    for id in 0..chains * length {
        let alone = vec![id];
        let members = batches.iter().find(|batch| batch.contains(&id)).unwrap_or(&alone);
        let begin = members.iter().filter_map(|id| id.checked_sub(chains)).map(|id| ends[size(id)]).max();
        ends[size(id)] = begin.unwrap_or(0) + time(&id);
    }
    assert_eq!(ends.into_iter().max(), written);
}

/// Makes chains with `blocks` blocks for each launch.
fn wide_chains(chains: u32, blocks: u32) -> Case {
    Case::chains(chains, 3).change(|_| true, |launch, _| launch.grid = [blocks, 1, 1])
}

fn halves(chains: u32) -> Vec<Vec<u32>> {
    let level = |step: u32| {
        let (from, middle, to) = (step * chains, step * chains + chains / 2, (step + 1) * chains);
        [(from..middle).collect(), (middle..to).collect()]
    };
    (0..3).flat_map(level).collect()
}

#[test]
fn chains_with_enough_blocks_are_batched_in_halves() {
    assert_eq!(wide_chains(16, 66).batches(), halves(16));
    assert_eq!(wide_chains(16, 8).batches(), levels(16, 3));
    assert_eq!(wide_chains(16, 2 * WAVE).batches(), halves(16));
    // Members follow their own chains, whatever the order of the statements.
    let mut crossed = wide_chains(16, 66);
    crossed.edges = (16..48).map(|id| (id / 16 * 16 - 16 + (id * 5 + 3) % 16, id)).collect();
    assert!(crossed.batches().iter().all(|batch| batch.len() == 8));
    // Chains that are joined at every step wait for each other anyway.
    let mut joined = wide_chains(16, 66);
    joined.edges = (16..48).flat_map(|id| (0..16).map(move |at| (id / 16 * 16 - 16 + at, id))).collect();
    assert_eq!(joined.batches(), levels(16, 3));
}

#[test]
fn a_few_chains_that_fill_the_device_are_left_alone() {
    assert!(wide_chains(4, 264).batches().is_empty());
    assert_eq!(wide_chains(4, 263).batches(), halves(4));
    assert_eq!(wide_chains(8, 264).batches().len(), 6);
}

/// Returns an operation for each launch, in order, with programmatic edges marked.
fn marked(tuning: &Tuning, runs: &[NodeLaunch], edges: &[(u32, u32)]) -> Vec<Operation> {
    let mut list: Vector<OperationId, Operation> = (0..narrow(runs.len()))
        .map(|id| Operation {
            kind: OperationKind::KERNEL,
            after: edges
                .iter()
                .filter(|(_, to)| *to == id)
                .map(|(from, _)| OperationId::from_u32(*from))
                .collect(),
            programmatic: None,
            launch_order: false,
            sources: vec![StatementId::from_u32(id)],
            name: "k".into(),
            device: Device::FIRST,
        })
        .collect();
    let count = overlap::mark_programmatic_edges(&mut list, tuning, |operation| {
        Some(runs[operation.sources[0].index()])
    });
    assert_eq!(count, list.iter().filter(|operation| operation.programmatic.is_some()).count());
    list.into()
}

const RUN: NodeLaunch = NodeLaunch { blocks: Blocks::new(64), threads: 64 * 256, wave: WAVE, waits: true };

fn chain_of(tuning: &Tuning, runs: &[NodeLaunch]) -> Vec<(Option<u32>, bool)> {
    let edges: Vec<(u32, u32)> = (1..narrow(runs.len())).map(|id| (id - 1, id)).collect();
    marked(tuning, runs, &edges)[1..]
        .iter()
        .map(|operation| (operation.programmatic.map(OperationId::as_u32), operation.launch_order))
        .collect()
}

#[test]
fn edges_from_a_kernel_that_fills_the_device_leave_by_the_launch_order_port() {
    let full = NodeLaunch { blocks: Blocks::from(WAVE), ..RUN };
    let tiny = NodeLaunch { blocks: Blocks::new(1), threads: 64, ..RUN };
    let rigid = NodeLaunch { waits: false, ..full };
    let tuning = &Tuning::for_capability((9, 0));
    assert_eq!(chain_of(tuning, &[full, RUN, full]), [(Some(0), true), (Some(1), false)]);
    assert_eq!(chain_of(tuning, &[tiny, tiny, RUN]), [(Some(0), true), (Some(1), false)]);
    assert_eq!(chain_of(tuning, &[rigid, full, rigid]), [(Some(0), true), (None, false)]);
}

#[test]
fn kernels_beside_others_have_programmatic_edges_but_no_launch_order() {
    // Concurrent chains: the operation of a step is `step * chains + chain`.
    let chains = |count: u32| {
        let edges: Vec<(u32, u32)> = (count..3 * count).map(|id| (id - count, id)).collect();
        let runs = vec![NodeLaunch { blocks: Blocks::new(10_000), ..RUN }; 3 * size(count)];
        let list = marked(&Tuning::for_capability((9, 0)), &runs, &edges);
        let programmatic = list.iter().filter(|operation| operation.programmatic.is_some()).count();
        (programmatic, list.iter().any(|operation| operation.launch_order))
    };
    assert_eq!(chains(1), (2, true));
    assert_eq!(chains(4), (8, false));
}

/// The rules for unmeasured devices: equal launches are batched, and a kernel that runs alone has a programmatic
/// edge. Nothing is flattened or serialised, and nothing starts before its predecessor has ended.
#[test]
fn devices_that_nobody_measured_get_the_safe_rules() {
    let unmeasured = |mut case: Case| {
        case.tuning = Tuning::for_capability((12, 0));
        case
    };
    assert_eq!(unmeasured(Case::chains(16, 5)).batches(), levels(16, 5));
    let unequal = Case::new(40).change(|_| true, |launch, id| launch.grid = [1 + id, 1, 1]);
    assert!(unmeasured(unequal).batches().is_empty());
    assert!(unmeasured(wide_chains(16, 66)).batches().is_empty());
    let small = Case::new(96).change(|_| true, |launch, id| launch.kernel = KernelId::from_u32(id));
    assert_eq!(unmeasured(small).serialized(), 0);
    let tuning = &Tuning::default();
    let full = NodeLaunch { blocks: Blocks::from(WAVE), ..RUN };
    assert_eq!(chain_of(tuning, &[full, RUN, RUN]), [(Some(0), false), (Some(1), false)]);
    let beside = marked(tuning, &[RUN; 4], &[(0, 2), (1, 3)]);
    assert!(beside.iter().all(|operation| operation.programmatic.is_none()));
}

/// Makes launches with these kernels and block counts.
fn of_kernels(launches: &[(u32, u32)], edges: &[(u32, u32)]) -> Case {
    let mut case = Case::new(launches.len()).change(
        |_| true,
        |launch, id| {
            let (kernel, blocks) = launches[size(id)];
            (launch.kernel, launch.grid) = (KernelId::from_u32(kernel), [blocks, 1, 1]);
        },
    );
    case.edges = edges.to_vec();
    case
}

/// Queries, keys and values with unequal numbers of rows. Queries and keys are rotated; keys and values are
/// appended to a cache.
#[test]
fn what_comes_after_a_short_launch_may_wait_for_a_longer_one() {
    let launches = [(0, 1), (1, 512), (1, 64), (1, 64), (2, 36), (3, 1)];
    let edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 5), (4, 5)];
    assert_eq!(of_kernels(&launches, &edges).batches(), [[1, 2, 3]]);
    // The appending launches must not follow the rotating ones: they would wait for the queries.
    let apart = [&edges[..6], &[(2, 5)]].concat();
    assert_eq!(of_kernels(&launches, &apart).batches(), [[2, 3]]);
    // The values take longest, and the rotating launches do not wait for them.
    let mut longest = launches;
    longest[3].1 = 1_000;
    assert_eq!(of_kernels(&longest, &edges).batches(), [[1, 2]]);
    let mut unknown = of_kernels(&launches, &edges);
    unknown = unknown.change(|id| id == 3, |launch, _| launch.work = vec![7]);
    assert_eq!(unknown.batches(), [[1, 2]]);
}

#[test]
fn launches_in_front_of_a_join_are_one_whatever_comes_before_them() {
    let edges = [(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5)];
    let with = |first, second| of_kernels(&[(0, 1), (1, 9), (2, 9), (3, first), (3, second), (4, 1)], &edges);
    assert_eq!(with(64, 64).batches(), [[3, 4]]);
    assert!(with(64, 65).batches().is_empty());
    assert_eq!(with(WAVE / 2, WAVE / 2).batches(), [[3, 4]]);
    assert!(with(WAVE / 2 + 1, WAVE / 2 + 1).batches().is_empty());
    let longer = with(64, 64).change(|id| id == 3, |launch, _| launch.work = vec![7]);
    assert!(longer.batches().is_empty());
    let mut unmeasured = with(64, 64);
    unmeasured.tuning = Tuning::default();
    assert!(unmeasured.batches().is_empty());
}

/// The gradients of weights (kernel 1) and biases (kernel 2) of two products, and the updates (kernel 3), beside a
/// running pass.
#[test]
fn updates_beside_a_longer_pass_are_one_with_what_comes_before_them() {
    let pass: Vec<(u32, u32)> = (0..6).map(|step| (10 + step, 100)).collect();
    let gradients = [(7, 64), (8, 64), (1, 64), (1, 64), (2, 8), (2, 8), (3, 256), (3, 256), (3, 1), (3, 1)];
    let launches = [pass, gradients.to_vec()].concat();
    let steps = |length: u32| (1..length).map(|step| (step - 1, step));
    let edges = |length| -> Vec<(u32, u32)> {
        let of = [(0, 6), (0, 7), (6, 8), (7, 9), (6, 10), (7, 11), (8, 12), (9, 13), (10, 14), (11, 15)];
        steps(length).chain(of).collect()
    };
    assert_eq!(of_kernels(&launches, &edges(6)).batches(), [vec![8, 9], vec![10, 11], vec![12, 13, 14, 15]]);
    // Nothing begins after the updates: the end of the graph waits for them.
    assert!(of_kernels(&launches, &edges(4)).batches().is_empty());
}

/// Returns the number of batches and chains for chains of launches with one block. All launches may be fused,
/// except those in `apart`.
fn long_chains(chains: u32, length: u32, apart: &[u32], change: impl Fn(&mut Tuning)) -> [usize; 2] {
    let mut case = Case::chains(chains, length).change(
        |id| !apart.contains(&id),
        |launch, _| (launch.grid, launch.fuse) = ([1; 3], Fusing::With(Vec::new().into())),
    );
    case = case.change(|id| apart.contains(&id), |launch, _| launch.grid = [1; 3]);
    change(&mut case.tuning);
    let decision = case.decide(Allowed { batches: true, fuse: true, ..Allowed::default() });
    [decision.batches.len(), decision.chains.len()]
}

/// Fused branches are not serialised, whatever their number.
#[test]
fn long_chains_stay_side_by_side() {
    let case = Case::chains(40, 80).change(
        |_| true,
        |launch, _| {
            (launch.grid, launch.fuse, launch.short) = ([1; 3], Fusing::With(Vec::new().into()), true);
        },
    );
    let decision = case.decide(Allowed { overlap: false, ..Allowed::by(None) });
    // 40 chains of 32 launches and 40 of 16. The parameters limit the chains in one stack.
    let chains = decision.chains.iter().map(|chain| chain.chains().len()).collect::<Vec<_>>();
    assert_eq!((decision.batches.len(), decision.lanes.len(), chains.iter().sum::<usize>()), (0, 0, 120));
    assert_eq!((chains.len(), chains.contains(&1)), (35, false), "{chains:?}");
}

/// With as many levels as chains, levels are batched. With twice as many, each chain is fused.
#[test]
fn long_chains_are_fused_and_short_ones_are_batched() {
    let long_chains = |chains, length, others: &[u32], change: fn(&mut Tuning)| {
        long_chains(chains, length, others, |tuning| {
            tuning.chains.stacked = None;
            change(tuning);
        })
    };
    assert_eq!(long_chains(8, 15, &[], |_| ()), [15, 0]);
    assert_eq!(long_chains(8, 16, &[], |_| ()), [0, 8]);
    assert_eq!(long_chains(4, 64, &[], |_| ()), [0, 8], "32 launches a kernel at most");
    // If one chain cannot be fused as a whole, its row stays batched.
    assert_eq!(long_chains(8, 16, &[40], |_| ()), [16, 0]);
    assert_eq!(long_chains(8, 16, &[], |tuning| tuning.chains.fused = None), [16, 0]);
    let fused = |short: bool, wave: u32| {
        let all = Fusing::With(Vec::new().into());
        let case = Case::chains(8, 16).change(
            |_| true,
            |launch, _| {
                (launch.grid, launch.wave) = ([1; 3], wave);
                (launch.fuse, launch.short, launch.stack) = (all.clone(), short, false);
            },
        );
        case.decide(Allowed { batches: true, fuse: true, ..Allowed::default() }).chains.len()
    };
    assert_eq!([fused(true, 7), fused(true, 8)], [0, 8], "a wave of short kernels");
    assert_eq!([fused(false, 31), fused(false, 32)], [0, 8], "a quarter of others");
}

mod pipelines;
mod side_by_side;
