//! Plans of whole graphs, of all families and sizes.

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
        let reach = Reach::of(&preds).unwrap();
        let found = plan(&reach, &buffers, Effort::Quick).unwrap();
        prop_assert_eq!(check::check(&reach, &buffers, &found.offsets, found.total), Ok(()));
        prop_assert!(found.floor.bytes <= found.bound.bytes && found.bound.bytes <= found.total);
        prop_assert_eq!(found.optimal, found.bound.bytes == found.total);
        prop_assert_eq!(&plan(&reach, &buffers, Effort::Quick).unwrap(), &found);
    }
}

/// Kernels, and buffers of which each is written by one and read by some after it.
fn graph(family: Family, n: usize, seed: u64) -> (Reach, Vector<BufferIndex, Buffer>) {
    let mut random = Random::new(seed);
    let preds = preds(family, n, |end| random.below(end));
    let reach = Reach::of(&preds).unwrap();
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

/// Planned over bound in each family, printed; the effort that graphs are built with is close to the bound.
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

/// Prints what planning 1,000 buffers takes.
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

/// Two buffers of a chain live at a time, the largest two at its end.
#[test]
fn a_chain_of_temporaries() {
    let reach = Reach::of(&preds(Family::Chain, 33, |_| 0)).unwrap();
    let buffers = (0..32)
        .map(|v| Buffer {
            size: (4 << 20) + 512 * wide(v),
            align: 256,
            users: [v, v + 1].map(Node::new).to_vec(),
            ..Buffer::default()
        })
        .collect();
    let found = plan(&reach, &buffers, Effort::Default).unwrap();
    assert_eq!((found.total, found.bound.bytes, found.optimal), (8_419_840, 8_419_840, true));
    assert_eq!(found.bound.buffers, [30, 31].map(BufferIndex::new));
}

#[test]
fn sizes_that_cannot_be_planned() {
    let reach = Reach::of(&Vector::filled(Vec::new(), 2)).unwrap();
    let buffer =
        |size, align| Buffer { size, align, users: [0, 1].map(Node::new).to_vec(), ..Buffer::default() };
    let refused = |buffers: &[Buffer]| plan(&reach, &buffers.to_vec().into(), Effort::Default).unwrap_err();
    assert_eq!(refused(&[buffer(1, 1), buffer(1, 0)]), PlanError::NoAlignment(BufferIndex::new(1)));
    assert_eq!(
        refused(&[buffer(1 << 61, 1), buffer(u64::MAX, 256)]),
        PlanError::Overflow(BufferIndex::new(1))
    );
    assert_eq!(
        refused(&[buffer(1 << 61, 1), buffer(1 << 61, 1), buffer(1, 1)]),
        PlanError::Overflow(BufferIndex::new(2))
    );
    let none = plan(&Reach::of(&Vector::new()).unwrap(), &Vector::new(), Effort::Thorough).unwrap();
    assert!(none.total == 0 && none.optimal && none.floor.node.is_none());
}
