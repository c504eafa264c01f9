//! Plans of whole graphs, for all families and sizes.

use super::testing::{FAMILIES, Family, buffers, graphs, preds};
use super::*;
use crate::index::{Index, Vector, wide};
use crate::reach::{Node, Reach};
use proptest::prelude::*;
use random::Random;
use std::time::Instant;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn every_plan_is_right_and_says_so_where_it_is_least((preds, buffers) in graphs(40, 60)) {
        let reach = Reach::new(&preds).unwrap();
        let found = plan(&reach, &buffers, Effort::Quick).unwrap();
        prop_assert_eq!(check::check(&reach, &buffers, &found.offsets, found.total), Ok(()));
        prop_assert!(found.floor.bytes <= found.bound.bytes && found.bound.bytes <= found.total);
        prop_assert_eq!(found.optimal, found.bound.bytes == found.total);
        prop_assert_eq!(&plan(&reach, &buffers, Effort::Quick).unwrap(), &found);
    }
}

/// Returns kernels and buffers. Each buffer is written by one kernel and read by some later ones.
fn graph(family: Family, n: usize, seed: u64) -> (Reach, Vector<BufferIndex, PlannerBuffer>) {
    let mut random = Random::new(seed);
    let preds = preds(family, n, |end| random.below(end));
    let reach = Reach::new(&preds).unwrap();
    let mut buffers = buffers(&reach, n, false, |end| random.below(end));
    for buffer in &mut buffers {
        buffer.align = 256;
        buffer.size = buffer.size * 300_000 + wide(random.below(100_000));
    }
    (reach, buffers)
}

#[allow(clippy::as_conversions, clippy::cast_precision_loss, reason = "a ratio needs no more than 52 bits")]
fn ratio(planned: u64, bound: u64) -> f64 {
    planned as f64 / bound as f64
}

/// Prints planned bytes over bound for each family. The default effort must be close to the bound.
#[test]
fn families_are_planned_close_to_the_bound() {
    for family in FAMILIES {
        let mut ratios: Vec<f64> = Vec::new();
        for seed in 0..8 {
            let (reach, buffers) = graph(family, 80, seed);
            let found = plan(&reach, &buffers, Effort::Default).unwrap();
            assert_eq!(check::check(&reach, &buffers, &found.offsets, found.total), Ok(()));
            ratios.push(ratio(found.total, found.bound.bytes));
        }
        ratios.sort_by(f64::total_cmp);
        let least = ratios.iter().filter(|&&ratio| ratio == 1.0).count();
        println!("{family:?}: median {:.3}, most {:.3}, {least} of 8 at the bound", ratios[4], ratios[7]);
        assert!(ratios[4] <= 1.05 && ratios[7] <= 1.25, "{family:?} {ratios:?}");
    }
}

/// Prints how long planning 1,000 buffers takes.
#[test]
fn a_thousand_buffers() {
    for family in FAMILIES {
        let (reach, buffers) = graph(family, 1000, 1);
        let started = Instant::now();
        let found = plan(&reach, &buffers, Effort::Default).unwrap();
        let took = started.elapsed();
        let ratio = ratio(found.total, found.bound.bytes);
        println!("{family:?}: {:.1} ms, {ratio:.4} of the bound", took.as_secs_f64() * 1000.0);
        assert_eq!(check::check(&reach, &buffers, &found.offsets, found.total), Ok(()));
        assert!(ratio < 1.3);
    }
}

/// Two buffers of a chain are live at a time, the largest two at its end.
#[test]
fn a_chain_of_temporaries() {
    let reach = Reach::new(&preds(Family::Chain, 33, |_| 0)).unwrap();
    let buffers = (0..32)
        .map(|v| PlannerBuffer {
            size: (4 << 20) + 512 * wide(v),
            align: 256,
            users: [v, v + 1].map(Node::new).to_vec(),
            ..PlannerBuffer::default()
        })
        .collect();
    let found = plan(&reach, &buffers, Effort::Default).unwrap();
    assert_eq!((found.total, found.bound.bytes, found.optimal), (8_419_840, 8_419_840, true));
    assert_eq!(found.bound.buffers, [30, 31].map(BufferIndex::new));
}

#[test]
fn sizes_that_cannot_be_planned() {
    let reach = Reach::new(&Vector::filled(Vec::new(), 2)).unwrap();
    let buffer = |size, align| PlannerBuffer {
        size,
        align,
        users: [0, 1].map(Node::new).to_vec(),
        ..PlannerBuffer::default()
    };
    let refused =
        |buffers: &[PlannerBuffer]| plan(&reach, &buffers.to_vec().into(), Effort::Default).unwrap_err();
    assert_eq!(refused(&[buffer(1, 1), buffer(1, 0)]), PlanError::NoAlignment(BufferIndex::new(1)));
    assert_eq!(
        refused(&[buffer(1 << 61, 1), buffer(u64::MAX, 256)]),
        PlanError::Overflow(BufferIndex::new(1))
    );
    assert_eq!(
        refused(&[buffer(1 << 61, 1), buffer(1 << 61, 1), buffer(1, 1)]),
        PlanError::Overflow(BufferIndex::new(2))
    );
    let none = plan(&Reach::new(&Vector::new()).unwrap(), &Vector::new(), Effort::Thorough).unwrap();
    assert!(none.total == 0 && none.optimal && none.floor.node.is_none());
}

/// A rectangle of 64 times and 64 KiB, cut into `n` live ranges, which pack without a gap. Each step cuts the
/// largest of `few` random pieces.
fn cut_rectangle(n: usize, few: usize, seed: u64) -> Problem {
    const SIDE: usize = 64;
    let mut random = Random::new(seed);
    let mut pieces = vec![(0, SIDE, 0, SIDE)];
    while pieces.len() < n {
        let area = |&at: &usize| {
            let (from, to, low, high): (usize, usize, usize, usize) = pieces[at];
            (to - from) * (high - low)
        };
        let picks: Vec<usize> = (0..few).map(|_| random.below(pieces.len())).collect();
        let at = picks.into_iter().max_by_key(area).unwrap();
        let (from, to, low, high) = pieces[at];
        let along_time = random.below((to - from) + (high - low) + 1) < to - from;
        let (start, cells) = if along_time { (from, to - from) } else { (low, high - low) };
        if cells < 2 {
            continue;
        }
        let cut = start + 1 + random.below(cells - 1);
        pieces.swap_remove(at);
        match along_time {
            true => pieces.extend([(from, cut, low, high), (cut, to, low, high)]),
            false => pieces.extend([(from, to, low, cut), (from, to, cut, high)]),
        }
    }
    (1..pieces.len()).rev().for_each(|at| pieces.swap(at, random.below(at + 1)));
    let live = |time: usize| {
        let inside = pieces.iter().enumerate().filter(move |(_, piece)| (piece.0..piece.1).contains(&time));
        inside.map(|(at, _)| Rank::new(at)).collect::<Vec<Rank>>()
    };
    let cliques: Vec<Vec<Rank>> = (0..SIDE).map(live).collect();
    Problem {
        sizes: pieces.iter().map(|piece| 1024 * wide(piece.3 - piece.2)).collect(),
        aligns: Vector::filled(1, n),
        conflicts: Conflicts::of_cliques(n, &cliques),
        begins: pieces.iter().map(|piece| i64::try_from(piece.0).unwrap()).collect(),
        bound: Bound { bytes: 1024 * wide(SIDE), buffers: cliques[0].clone() },
        cliques,
    }
}

/// The fixed strategies fail here with most of the steps left. Random ones follow until the bound is reached.
#[test]
fn the_search_goes_on_while_steps_are_left() {
    let problem = cut_rectangle(180, 2, 206);
    let found = place_all(&problem, Effort::Thorough);
    assert_eq!(found.total, problem.bound.bytes);
    assert_eq!(place_all(&problem, Effort::Thorough), found, "equal inputs give equal plans");
}
