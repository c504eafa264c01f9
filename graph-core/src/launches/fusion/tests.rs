//! Chains in random and hand-made orders: members are ordered, chains close no cycle, and no other launch waits
//! longer.

use super::*;
use crate::ids::KernelId;
use crate::index::narrow;
use crate::launches::testing::program;
use crate::launches::{Allowed, Batching, LaunchProblem, TripCount, Tuning, decide};

fn id(at: u32) -> StatementId {
    StatementId::from_u32(at)
}

/// Launches with one block; those in `others` have another grid.
fn launches(count: usize, others: &[u32]) -> Vector<StatementId, Option<Launch>> {
    let launch = |at: u32| Launch {
        short: false,
        trip_count: TripCount::Unknown,
        stack: true,
        kernel: KernelId::from_u32(at),
        grid: [if others.contains(&at) { 2 } else { 1 }, 1, 1],
        block: [64, 1, 1],
        shared: 0,
        work: Vec::new(),
        wave: 1_056,
        grid_changes: false,
        ranged: Default::default(),
        batch: Batching::Never,
        waits: true,
        lanes: false,
        fuse: Fusing::With(Vec::new().into()),
    };
    (0..narrow(count)).map(|at| Some(launch(at))).collect::<Vec<_>>().into()
}

fn decided(count: usize, edges: &[(u32, u32)], others: &[u32]) -> Vec<Vec<u32>> {
    let edges: Vec<_> = edges.iter().map(|&(from, to)| (id(from), id(to))).collect();
    let program = program(count);
    let decision = decide(LaunchProblem {
        program: &program,
        edges: &edges,
        launches: &launches(count, others),
        duration_classes: &Vector::filled(0, count),
        allowed: Allowed { fuse: true, ..Allowed::default() },
        max_members: usize::MAX,
        tuning: &Tuning::default(),
    });
    let chains = decision.expect("the order has no cycle").chains;
    // The contracted order is acyclic and no deeper.
    let depth = |edges: &[(StatementId, StatementId)]| {
        let mut preds = Vector::filled(Vec::new(), count);
        edges.iter().for_each(|&(from, to)| preds[to].push(from));
        Reach::new(&preds).expect("chains close no cycle").depth()
    };
    let one_node = contracted(&program, &chains, edges.clone());
    assert!(depth(&one_node) <= depth(&edges));
    chains.iter().map(|chain| chain.members.iter().map(|id| id.as_u32()).collect()).collect()
}

#[test]
fn launches_one_after_another_are_chains() {
    assert_eq!(decided(4, &[(0, 1), (1, 2), (2, 3)], &[]), [[0, 1, 2, 3]]);
    assert_eq!(decided(5, &[(0, 1), (1, 2), (2, 3), (3, 4)], &[2]), [[0, 1], [3, 4]]);
    // Unordered launches are not a chain. Neither are two branches between a fork and its join.
    assert!(decided(3, &[], &[]).is_empty());
    assert!(decided(4, &[(0, 1), (0, 2), (1, 3), (2, 3)], &[]).is_empty());
}

#[test]
fn what_stands_beside_a_chain_stays_beside_it() {
    // 3 may take as long as 1, and a chain with 4 would have to wait for it.
    assert_eq!(decided(5, &[(0, 1), (1, 2), (2, 4), (0, 3), (3, 4)], &[3]), [[1, 2]]);
    // 0 has ended before the chain of 2, 3 and 4 begins, and 5 begins after the chain.
    let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 3), (4, 6), (2, 6), (6, 5)];
    let chains = decided(7, &edges, &[0, 1, 5, 6]);
    assert_eq!(chains, [vec![0, 1], vec![2, 3, 4], vec![6, 5]]);
    // The path from the chain to the next launch passes 1.
    assert!(decided(3, &[(0, 1), (1, 2), (0, 2)], &[1]).is_empty());
}

#[test]
fn random_orders_stay_orders() {
    let mut state = 1_u64;
    let mut below = |most: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((state >> 33) % u64::from(most)).expect("it is smaller")
    };
    let mut fused = 0;
    for _ in 0..2_000 {
        let count = 2 + below(14);
        let mut edges = Vec::new();
        for to in 1..count {
            for _ in 0..below(3) {
                edges.push((below(to), to));
            }
        }
        let others: Vec<u32> = (0..count).filter(|_| below(5) == 0).collect();
        fused += decided(crate::index::size(count), &edges, &others).len();
    }
    assert!(fused > 500, "{fused}");
}
