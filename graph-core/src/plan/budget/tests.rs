//! Budgets, compared with all linear extensions of small graphs.

use super::*;
use crate::plan::check;
use crate::plan::testing::{graphs, listed};
use proptest::prelude::*;

fn check_budgeted(reach: &Reach, memories: &[MemoryBuffers], budget: u64, found: &BudgetedOrder) {
    assert_eq!(found.plans.len(), memories.len());
    for (buffers, plan) in memories.iter().zip(&found.plans) {
        let rounded = planning::rounded(buffers).unwrap();
        assert!(plan.total <= budget);
        assert_eq!(check::check(&found.reach, &rounded, &plan.offsets, plan.total), Ok(()));
    }
    let mut preds = reach.reduced().clone();
    found.edges.iter().for_each(|&(u, f)| preds[f].push(u));
    let again = Reach::new(&preds).unwrap();
    assert_eq!(again.reduced(), found.reach.reduced());
    assert!(found.path_after >= found.path_before);
}

/// Returns the minimum over all linear extensions of the bytes of the largest memory: a lower bound for every
/// order.
fn least(reach: &Reach, memories: &[MemoryBuffers]) -> u64 {
    let sequences = all(reach, &Scopes::default(), usize::MAX);
    let linearized = |sequence: &Sequence| {
        let mut preds = reach.reduced().clone();
        sequence.nodes.as_slice().windows(2).for_each(|pair| preds[pair[1]].push(pair[0]));
        let reach = Reach::new(&preds).unwrap();
        let total = |buffers| crate::plan::plan(&reach, buffers, Effort::Default).unwrap().total;
        memories.iter().map(total).max().unwrap_or(0)
    };
    sequences.iter().map(linearized).min().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_budget_is_met_whenever_it_can_be((preds, buffers) in graphs(7, 7)) {
        met_whenever_it_can_be(&preds, &[buffers])?;
    }

    #[test]
    fn the_budget_of_each_memory_is_met_whenever_it_can_be((preds, buffers) in graphs(7, 9), devices in 2usize..=3) {
        met_whenever_it_can_be(&preds, &dealt(buffers, devices))?;
    }

    #[test]
    fn any_budget_is_met_or_refused((preds, buffers) in graphs(20, 24), part in 0u64..=8, devices in 1usize..=4) {
        let reach = Reach::new(&preds).unwrap();
        let memories = dealt(buffers, devices);
        let costs: Vector<Node, u64> = (0..).take(preds.len()).map(|v| 1 + v % 5).collect();
        let plan = |buffers| crate::plan::plan(&reach, buffers, Effort::Quick).unwrap();
        let free: Vec<MemoryPlan> = memories.iter().map(plan).collect();
        let total = free.iter().map(|plan| plan.total).max().unwrap();
        let floor = free.iter().map(|plan| plan.floor.bytes).max().unwrap();
        let budget = floor + (total - floor) * part / 8;
        if let Ok(found) = fit(&reach, &Scopes::default(), &memories, &costs, budget, Effort::Quick) {
            check_budgeted(&reach, &memories, budget, &found);
            if part == 8 {
                prop_assert!(found.edges.is_empty() && found.path_after == found.path_before);
            }
        } else {
            prop_assert!(part < 8);
        }
    }
}

/// Deals the buffers out to several memories.
fn dealt(buffers: MemoryBuffers, devices: usize) -> Vec<MemoryBuffers> {
    let mut memories = vec![MemoryBuffers::new(); devices];
    for (at, buffer) in buffers.into_iter().enumerate() {
        memories[at % devices].push(buffer);
    }
    memories
}

fn met_whenever_it_can_be(
    preds: &Vector<Node, Vec<Node>>,
    memories: &[MemoryBuffers],
) -> Result<(), TestCaseError> {
    let reach = Reach::new(preds).unwrap();
    let costs = Vector::filled(1, preds.len());
    let least = least(&reach, memories);
    let found = fit(&reach, &Scopes::default(), memories, &costs, least, Effort::Default);
    let found = found.map_err(|error| TestCaseError::fail(error.to_string()))?;
    check_budgeted(&reach, memories, least, &found);
    if least > 0 {
        prop_assert!(fit(&reach, &Scopes::default(), memories, &costs, least - 1, Effort::Default).is_err());
    }
    Ok(())
}

/// A chain on each of two devices, with a buffer of 4 bytes between consecutive nodes. Each device needs 8 bytes at
/// once, both together 16.
#[test]
fn a_budget_is_that_of_each_memory() {
    let reach = Reach::new(&listed(&[vec![], vec![0], vec![1], vec![], vec![3], vec![4]])).unwrap();
    let buffer = |users: [usize; 2]| PlannerBuffer {
        size: 4,
        align: 1,
        users: users.map(Node::new).to_vec(),
        ..PlannerBuffer::default()
    };
    let memories: Vec<MemoryBuffers> =
        [0, 3].iter().map(|&v| [[v, v + 1], [v + 1, v + 2]].map(buffer).into_iter().collect()).collect();
    let costs = Vector::filled(1, 6);
    let found = fit(&reach, &Scopes::default(), &memories, &costs, 8, Effort::Default).unwrap();
    assert_eq!((found.most(), found.edges.len(), found.path_after), (8, 0, 3));
    let error = fit(&reach, &Scopes::default(), &memories, &costs, 7, Effort::Default).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the budget of 7 bytes is below the floor: node 1 needs 8 bytes of memory 0 at once, for buffers [0, 1]"
    );
    let curve = budget_curve(&reach, &Scopes::default(), &memories, &costs, 3).unwrap();
    assert_eq!(
        curve.iter().map(|p| (p.planned, p.devices.as_slice())).collect::<Vec<_>>(),
        [(8, &[8, 8][..])]
    );
}

/// ```text
/// 0 ─ 1        each of two chains with a buffer of 4 between its nodes:
/// 2 ─ 3        side by side 8 bytes, one after the other 4
/// ```
#[test]
fn two_chains_in_half_the_bytes() {
    let reach = Reach::new(&listed(&[vec![], vec![0], vec![], vec![2]])).unwrap();
    let buffers: MemoryBuffers = [[0, 1], [2, 3]]
        .map(|users| PlannerBuffer {
            size: 4,
            align: 1,
            users: users.map(Node::new).to_vec(),
            ..PlannerBuffer::default()
        })
        .into_iter()
        .collect();
    let memories = [buffers];
    let costs = Vector::filled(1, 4);
    let found = fit(&reach, &Scopes::default(), &memories, &costs, 4, Effort::Default).unwrap();
    assert_eq!((found.most(), found.path_before, found.path_after), (4, 2, 4));
    assert_eq!(found.edges.len(), 1);
    assert_eq!((found.steps[0].saves, found.steps[0].costs), (4, 2));
    let error = fit(&reach, &Scopes::default(), &memories, &costs, 3, Effort::Default).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the budget of 3 bytes is below the floor: node 0 needs 4 bytes of memory 0 at once, for buffers [0]"
    );
    let curve = budget_curve(&reach, &Scopes::default(), &memories, &costs, 3).unwrap();
    assert_eq!(curve.iter().map(|p| (p.planned, p.path)).collect::<Vec<_>>(), [(8, 2), (4, 4)]);
}
