//! The bytes that groups of threads write, merged and compared with an extent.
//!
//! A tile is a set of equal byte runs with nested strides. Tiles are merged until nothing changes. If no tile covers
//! the extent alone, the runs are listed, sorted and counted.

use super::form::AffineForm;
use super::launch::{Extent, UnknownAccess, Verdict};
use std::collections::HashMap;
use std::ops::Range;

/// The maximum number of byte runs that are compared individually.
const MAX_RUNS: u64 = 1 << 20;
/// The maximum number of merging rounds.
const MAX_ROUNDS: usize = 24;

/// Runs of `bytes` bytes at `first + Σ stride · i`, for all `i` below their counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Tile {
    bytes: u64,
    /// The strides and counts, by ascending stride. Invariant after `fold`: each stride is larger than `bytes`.
    steps: Vec<(u64, u64)>,
    first: i128,
}

impl Tile {
    /// Returns the bytes written at an address over a box.
    pub fn of(form: &AffineForm, counts: &[u64], bytes: u64) -> Tile {
        let mut first = form.constant;
        let mut steps = Vec::new();
        for &(index, coefficient) in &form.terms {
            let count = counts[index as usize];
            if coefficient < 0 {
                first = first.saturating_add(coefficient.saturating_mul(i128::from(count) - 1));
            }
            if count > 1 {
                steps.push((u64::try_from(coefficient.unsigned_abs()).unwrap_or(u64::MAX), count));
            }
        }
        let mut tile = Tile { bytes, steps, first };
        tile.fold();
        tile
    }

    /// Merges adjacent runs.
    fn fold(&mut self) {
        self.steps.sort_unstable();
        let mut steps: Vec<(u64, u64)> = Vec::with_capacity(self.steps.len());
        for &(stride, count) in &self.steps {
            let last = steps.last_mut();
            match last {
                None if stride <= self.bytes => {
                    self.bytes = stride.saturating_mul(count - 1).saturating_add(self.bytes);
                }
                // The runs continue where those of the previous stride end.
                Some((inner, all))
                    if stride % *inner == 0 && stride / *inner <= *all && *inner > self.bytes =>
                {
                    *all = (stride / *inner).saturating_mul(count - 1).saturating_add(*all);
                }
                _ => steps.push((stride, count)),
            }
        }
        self.steps = steps;
    }

    /// Returns the first byte and the one after the last.
    pub fn span(&self) -> (i128, i128) {
        let last = self.steps.iter().fold(self.first, |last, &(stride, count)| {
            last.saturating_add(i128::from(stride).saturating_mul(i128::from(count) - 1))
        });
        (self.first, last.saturating_add(self.bytes.into()))
    }

    fn runs(&self) -> u64 {
        self.steps.iter().fold(1u64, |all, step| all.saturating_mul(step.1))
    }

    /// Merges a later tile with the same strides if the two touch or overlap. Returns true if it did.
    pub fn append(&mut self, other: &Tile) -> bool {
        let end = self.first + i128::from(self.bytes);
        let touches = self.steps == other.steps && other.first >= self.first && other.first <= end;
        if touches {
            let new = end.max(other.first + i128::from(other.bytes)) - self.first;
            self.bytes = u64::try_from(new).unwrap_or(u64::MAX);
        }
        touches
    }
}

/// Merges tiles that touch, until nothing changes.
fn join(mut tiles: Vec<Tile>) -> Vec<Tile> {
    for _ in 0..MAX_ROUNDS {
        let before = tiles.len();
        tiles.sort_unstable_by(|a, b| (&a.steps, a.first).cmp(&(&b.steps, b.first)));
        let mut joined: Vec<Tile> = Vec::with_capacity(tiles.len());
        for tile in tiles {
            if !joined.last_mut().is_some_and(|last| last.append(&tile)) {
                joined.push(tile);
            }
        }
        joined.iter_mut().for_each(Tile::fold);
        let deepest = joined.iter().map(|tile| tile.steps.len()).max().unwrap_or(0);
        for at in 0..=deepest {
            joined = lengthen(joined, at);
        }
        joined.iter_mut().for_each(Tile::fold);
        tiles = joined;
        if tiles.len() == before {
            break;
        }
    }
    tiles
}

/// Merges tiles that continue each other along their stride `at`. Tiles without that stride are not changed.
fn lengthen(tiles: Vec<Tile>, at: usize) -> Vec<Tile> {
    // The key: the length of a run, the other strides, and the offset modulo the stride.
    type Alike = (u64, Vec<(u64, u64)>, u64);
    let mut groups: HashMap<Alike, Vec<Tile>> = HashMap::new();
    let mut rest = Vec::new();
    for tile in tiles {
        if at < tile.steps.len() {
            let mut steps = tile.steps.clone();
            steps[at].1 = 0;
            let phase = tile.first.rem_euclid(i128::from(tile.steps[at].0.max(1))) as u64;
            groups.entry((tile.bytes, steps, phase)).or_default().push(tile);
        } else {
            rest.push(tile);
        }
    }
    for (_, mut group) in groups {
        group.sort_unstable_by_key(|tile| tile.first);
        let mut last: Option<Tile> = None;
        for tile in group {
            let Some(before) = &mut last else {
                last = Some(tile);
                continue;
            };
            let (stride, count) = before.steps[at];
            let apart = (tile.first - before.first) / i128::from(stride.max(1));
            match u64::try_from(apart) {
                Ok(apart) if apart <= count => {
                    before.steps[at].1 = count.max(apart.saturating_add(tile.steps[at].1));
                }
                _ => rest.extend(last.replace(tile)),
            }
        }
        rest.extend(last);
    }
    rest
}

/// Returns the verdict of tiles on an extent.
pub(super) fn verdict(tiles: Vec<Tile>, extent: &Extent) -> Verdict {
    let size = u64::from(extent.size).max(1);
    let Some(end) = extent.elements.checked_mul(size).filter(|end| *end < 1 << 62) else {
        return Verdict::Unknown(UnknownAccess::LargeExtent);
    };
    if extent.elements == 0 || extent.size == 0 {
        return Verdict::Covered;
    }
    let tiles = join(tiles);
    let whole = |tile: &Tile| tile.first <= 0 && tile.first + i128::from(tile.bytes) >= i128::from(end);
    if tiles.iter().any(whole) {
        return Verdict::Covered;
    }
    if tiles.iter().fold(0u64, |sum, tile| sum.saturating_add(tile.runs())) > MAX_RUNS {
        return Verdict::Unknown(UnknownAccess::ManyPieces);
    }
    let mut runs: Vec<Range<u64>> = Vec::new();
    for tile in &tiles {
        spread(tile, tile.steps.len(), tile.first, end, &mut runs);
    }
    runs.sort_unstable_by_key(|run| run.start);
    let (mut written, mut missing, mut at) = (0u64, None, 0u64);
    let mut touched = true;
    let mut gap = |from: u64, to: u64| {
        if from < to {
            missing.get_or_insert(from / size);
            touched &= from.div_ceil(size) >= to / size;
        }
    };
    // The current run of bytes, which may span several elements.
    let mut run: Option<Range<u64>> = None;
    let mut count = |run: Range<u64>| written += (run.end / size).saturating_sub(run.start.div_ceil(size));
    for Range { start: from, end: to } in runs {
        gap(at, from);
        run = match run {
            Some(run) if from <= run.end => Some(run.start..run.end.max(to)),
            done => {
                done.into_iter().for_each(&mut count);
                Some(from..to)
            }
        };
        at = at.max(to);
    }
    gap(at, end);
    run.into_iter().for_each(&mut count);
    match missing {
        None => Verdict::Covered,
        Some(_) if touched && !extent.dense => Verdict::Unknown(UnknownAccess::Padding),
        Some(missing) => Verdict::Short { written, missing },
    }
}

/// Appends the runs of the first `depth` strides of a tile that are in the extent.
fn spread(tile: &Tile, depth: usize, first: i128, end: u64, into: &mut Vec<Range<u64>>) {
    if depth == 0 {
        let (from, to) = (first.max(0), (first + i128::from(tile.bytes)).min(i128::from(end)));
        if from < to {
            into.push(from as u64..to as u64);
        }
        return;
    }
    let (stride, count) = tile.steps[depth - 1];
    for i in 0..count {
        let first = first.saturating_add(i128::from(stride).saturating_mul(i128::from(i)));
        if first >= i128::from(end) {
            return;
        }
        spread(tile, depth - 1, first, end, into);
    }
}
