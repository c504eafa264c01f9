//! The actors of earlier turns of loops.

use std::collections::{BTreeMap, BTreeSet};

/// The actors of earlier turns, numbered after those of the instance.
#[derive(Default)]
pub(super) struct Past {
    /// For each past actor, the actor that it was, and the entry of its loop.
    pub list: Vec<(usize, usize)>,
    pub numbers: BTreeMap<(usize, usize), usize>,
    /// For each running loop, the ranges that its nodes have touched in this turn, and the number of rows of points when it
    /// began.
    pub touched: Vec<(BTreeSet<(u64, u64)>, usize)>,
}
