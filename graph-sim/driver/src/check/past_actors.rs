//! The actors of earlier loop iterations.

use std::collections::{BTreeMap, BTreeSet};

/// The actors of earlier loop iterations, numbered after the actors of the instance.
#[derive(Default)]
pub(super) struct PastActors {
    /// The original actor of each past actor, and the entry of its loop.
    pub list: Vec<(usize, usize)>,
    pub numbers: BTreeMap<(usize, usize), usize>,
    /// For each running loop, the ranges touched in this iteration, and the number of rows of `points` when the
    /// loop began.
    pub touched: Vec<(BTreeSet<(u64, u64)>, usize)>,
}
