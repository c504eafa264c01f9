//! Launches of several devices that pass work to each other: merging delays no other device.

use super::*;

/// Launches on several devices.
struct Pipeline {
    case: Case,
    program: Program,
}

const ALL: Allowed = Allowed { batches: true, overlap: true, lanes: true, fuse: true, forward: true };

/// Blocks that fill a device four times.
const LARGE: u32 = 4 * WAVE;

impl Pipeline {
    fn new() -> Pipeline {
        Pipeline { case: Case::new(0), program: program(0) }
    }

    /// Makes `pieces` independent pieces of work that pass through `stages` devices. The statement of a stage is
    /// `piece * stages + stage`.
    fn through(pieces: u32, stages: u32, blocks: u32) -> Pipeline {
        let mut pipeline = Pipeline::new();
        for at in 0..pieces * stages {
            let before = (at % stages > 0).then(|| at - 1);
            pipeline.add(at % stages, at % stages, blocks, before.as_slice());
        }
        pipeline
    }

    /// Adds a launch after those of `before`. Kernels of different devices are different.
    fn add(&mut self, device: u32, kernel: u32, blocks: u32, before: &[u32]) -> u32 {
        let id = narrow(self.case.launches.len());
        let kernel = KernelId::from_u32(100 * device + kernel);
        let launch = Case::new(1).launches.pop().flatten();
        let fuse = Fusing::With(Vec::new().into());
        self.case.launches.push(launch.map(|launch| Launch {
            kernel,
            grid: [blocks, 1, 1],
            fuse,
            trip_count: TripCount::AtMost(5),
            ..launch
        }));
        self.case.others.push(0);
        self.case.edges.extend(before.iter().map(|&before| (before, id)));
        let statement = program(1).statements[StatementId::from_u32(0)].clone();
        self.program.statements.push(crate::ir::Statement { device: Device::from_u32(device), ..statement });
        id
    }

    fn decide(&self) -> Decision {
        self.case.decide_on(&self.program, ALL)
    }

    /// Returns the members of the batches and chains, and the time of the graph in waves, if each device runs its
    /// nodes one by one, as they become ready.
    fn run(&self) -> (Vec<Vec<u32>>, u64) {
        let decision = self.decide();
        let merged: Vec<Vec<StatementId>> = decision.nodes().into_iter().map(|batch| batch.members).collect();
        let mut node: Vector<StatementId, StatementId> = ids(self.case.launches.len()).collect();
        for members in &merged {
            members.iter().for_each(|&member| node[member] = members[0]);
        }
        let edges = [ids_of(&self.case.edges), decision.edges.clone()].concat();
        let mut waiting: BTreeMap<StatementId, Vec<StatementId>> = BTreeMap::new();
        for id in node.ids() {
            waiting.entry(node[id]).or_default().push(id);
        }
        let (mut ends, mut free) = (BTreeMap::<StatementId, u64>::new(), BTreeMap::<Device, u64>::new());
        while !waiting.is_empty() {
            let start = |members: &[StatementId]| {
                let before = edges.iter().filter(|(_, to)| members.contains(to)).map(|&(from, _)| node[from]);
                let before = before.filter(|&before| before != node[members[0]]);
                let ready = before.map(|before| ends.get(&before).copied()).collect::<Option<Vec<u64>>>()?;
                let free = free.get(&self.program.statements[members[0]].device).copied().unwrap_or(0);
                Some(ready.into_iter().max().unwrap_or(0).max(free))
            };
            let next = waiting.iter().filter_map(|(&id, members)| Some((start(members)?, id))).min();
            let (start, id) = next.expect("the nodes have no cycle");
            let members = waiting.remove(&id).expect("a node that waits");
            let blocks: u64 = members
                .iter()
                .filter_map(|&id| self.case.launches[id.index()].as_ref())
                .map(|launch| u64::from(launch.grid[0]))
                .sum();
            let end = start + blocks.div_ceil(u64::from(WAVE));
            ends.insert(id, end);
            free.insert(self.program.statements[id].device, end);
        }
        let merged = merged.into_iter().map(|members| members.into_iter().map(StatementId::as_u32).collect());
        (merged.collect(), ends.into_values().max().unwrap_or(0))
    }
}

/// Eight pieces pass four devices in the time of eleven kernels, of four waves each.
#[test]
fn another_device_does_not_wait_for_a_batch() {
    let (merged, waves) = Pipeline::through(8, 4, LARGE).run();
    assert_eq!((merged, waves), (Vec::new(), 4 * 11));
}

#[test]
fn small_launches_of_several_devices_are_batched() {
    let stage = |stage: u32| (0..8).map(|piece| piece * 4 + stage).collect::<Vec<_>>();
    assert_eq!(Pipeline::through(8, 4, 1).run(), ((0..4).map(stage).collect(), 4));
    assert_eq!(Pipeline::through(2, 2, 1).run(), (vec![vec![0, 2], vec![1, 3]], 2));
}

/// Of launches with a third of a wave, three are merged at a time.
#[test]
fn a_batch_takes_one_wave_if_another_device_waits() {
    let part = |pieces: std::ops::Range<u32>, stage: u32| pieces.map(|piece| piece * 2 + stage).collect();
    let expected: Vec<Vec<u32>> =
        vec![part(0..3, 0), part(0..3, 1), part(3..6, 0), part(3..6, 1), part(6..8, 0), part(6..8, 1)];
    assert_eq!(Pipeline::through(8, 2, WAVE / 3).run(), (expected, 4));
}

/// A launch of another device that waits for all members waits no longer for their batch.
#[test]
fn launches_that_another_device_joins_are_batched() {
    let mut joined = Pipeline::new();
    let all: Vec<u32> = (0..8).map(|_| joined.add(0, 0, LARGE, &[])).collect();
    joined.add(1, 0, LARGE, &all);
    assert_eq!(joined.run(), (vec![all], 4 * 9));
    // Two joins, each of four.
    let mut two = Pipeline::new();
    let all: Vec<u32> = (0..8).map(|_| two.add(0, 0, LARGE, &[])).collect();
    two.add(1, 0, LARGE, &all[..4]);
    two.add(1, 0, LARGE, &all[4..]);
    assert_eq!(two.run(), (vec![all[..4].to_vec(), all[4..].to_vec()], 4 * 9));
}

/// One device passes each piece to two others, and joins the results.
#[test]
fn pieces_pass_two_devices_at_once() {
    let diamond = |blocks: u32| {
        let mut diamond = Pipeline::new();
        for _ in 0..8 {
            let first = diamond.add(0, 0, blocks, &[]);
            let middle = [1, 2].map(|device| diamond.add(device, 0, blocks, &[first]));
            diamond.add(0, 1, blocks, &middle);
        }
        diamond.run()
    };
    assert_eq!(diamond(LARGE), (Vec::new(), 4 * 16));
    assert_eq!(diamond(1).0.len(), 4);
}

/// A device prepares small things for each piece. Only what waits for the pieces stays apart.
#[test]
fn local_launches_are_batched_beside_a_pipeline() {
    let mut pipeline = Pipeline::new();
    let mut local = [Vec::new(), Vec::new()];
    for _ in 0..8 {
        let piece = pipeline.add(0, 0, LARGE, &[]);
        let first = pipeline.add(1, 0, 1, &[]);
        let second = pipeline.add(1, 1, 2, &[first]);
        local[0].push(first);
        local[1].push(second);
        pipeline.add(1, 2, LARGE, &[piece, second]);
    }
    let (merged, waves) = pipeline.run();
    assert_eq!(merged, local);
    assert_eq!(waves, 4 * 9);
}

/// A device adds up the pieces. It does not wait for the last piece before it adds the first.
#[test]
fn a_chain_does_not_wait_for_later_pieces() {
    let sum = |blocks: u32| {
        let mut sum = Pipeline::new();
        let mut before = Vec::new();
        for _ in 0..8 {
            before.push(sum.add(0, 0, blocks, &[]));
            before = vec![sum.add(1, 0, blocks, &before)];
        }
        sum.run()
    };
    assert_eq!(sum(LARGE), (Vec::new(), 4 * 9));
    let of_device = |device: u32| (0..8).map(|piece| 2 * piece + device).collect::<Vec<_>>();
    assert_eq!(sum(1).0, [of_device(0), of_device(1)]);
}

/// Chains of one device that pass their results to another one are fused, but stacked only if they fit together.
#[test]
fn another_device_does_not_wait_for_a_stack() {
    let chains = |blocks: u32| {
        let mut chains = Pipeline::new();
        for _ in 0..8 {
            let first = chains.add(0, 0, blocks, &[]);
            let second = chains.add(0, 1, blocks, &[first]);
            chains.add(1, 0, blocks, &[second]);
        }
        let decision = chains.decide();
        let sizes = decision.chains.iter().map(|chain| (chain.chains().len(), chain.length()));
        (sizes.collect::<Vec<_>>(), decision.batches.len())
    };
    assert_eq!(chains(LARGE), (vec![(1, 2); 8], 0));
    assert_eq!(chains(1), (vec![(8, 2)], 1));
}

#[test]
fn another_device_does_not_wait_for_a_lane() {
    let mut branches = Pipeline::new();
    for kernel in 0..40 {
        let first = branches.add(0, kernel, 12, &[]);
        branches.add(1, kernel, 12, &[first]);
    }
    assert_eq!(branches.decide(), Decision::default());
}

#[test]
fn reports_name_the_other_device() {
    let pipeline = Pipeline::through(8, 2, LARGE);
    let launches = pipeline.case.launches.clone().into();
    let problem = LaunchProblem {
        program: &pipeline.program,
        edges: &ids_of(&pipeline.case.edges),
        launches: &launches,
        duration_classes: &pipeline.case.others.iter().copied().collect(),
        allowed: ALL,
        max_members: usize::MAX,
        tuning: &pipeline.case.tuning,
    };
    let explained = explain(problem, MergedNodes { batches: &[], chains: &[] }, 0).expect("no cycle");
    assert_eq!(explained.apart.len(), 2);
    assert!(explained.apart.iter().all(|group| group.why == BTreeSet::from([BatchObstacle::Devices])));
}
