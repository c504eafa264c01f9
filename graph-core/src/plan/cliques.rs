//! Cliques of the interference graph. For intervals, the maximal cliques are the sets of buffers that are live at
//! one time. For other graphs, some cliques are grown greedily from each buffer.

use super::conflict::Conflicts;
use super::indices::Rank;
use crate::bits::{and_into, clear, has, highest, lowest, ones, set, words};
use crate::index::{Index, Vector, wide};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Returns maximal cliques of buffers with nonzero size; each such buffer is in at least one.
///
/// From each buffer, one clique is grown by nearest rank and another by largest size, until `steps` are used up.
/// Each remaining buffer is a clique of its own. For intervals, the nearest ranks are exactly the buffers that are
/// live when the buffer begins.
pub(super) fn maximal(
    conflicts: &Conflicts,
    sizes: &Vector<Rank, u64>,
    heaviest: &[Rank],
    mut steps: u64,
) -> Vec<Vec<Rank>> {
    let mut used = vec![0u64; words(conflicts.len())];
    sizes.ids().filter(|&b| sizes[b] > 0).for_each(|b| set(&mut used, b));
    let mut found: HashSet<Vec<Rank>> = HashSet::new();
    let mut cliques = Vec::new();
    let mut keep = |mut clique: Vec<Rank>| {
        clique.sort_unstable();
        if !clique.is_empty() && found.insert(clique.clone()) {
            cliques.push(clique);
        }
    };
    let mut by_size: Vec<Rank> = ones(&used).collect();
    by_size.sort_by_key(|&b| Reverse(sizes[b]));
    let start = |b: Rank| {
        let mut left = conflicts.row(b).to_vec();
        and_into(&mut left, &used);
        left
    };
    keep(heaviest.to_vec());
    for &b in &by_size {
        if steps == 0 {
            break;
        }
        let clique = nearest(conflicts, b, start(b));
        steps = steps.saturating_sub(wide(clique.len() * used.len() + 64));
        keep(clique);
    }
    for &b in &by_size {
        if steps == 0 {
            break;
        }
        let mut clique = vec![b];
        let mut left = start(b);
        for &other in &by_size {
            if has(&left, other) {
                clique.push(other);
                and_into(&mut left, conflicts.row(other));
            }
        }
        steps = steps.saturating_sub(wide(clique.len() * left.len() + by_size.len()));
        keep(clique);
    }

    cover(&mut cliques, sizes);
    cliques
}

/// Returns a maximal clique with `b` and buffers of `left`, grown by nearest rank: first descending from `b`, then
/// ascending.
fn nearest(conflicts: &Conflicts, b: Rank, mut left: Vec<u64>) -> Vec<Rank> {
    let mut clique = vec![b];
    if left.iter().fold(0, |all, word| all | word) == 0 {
        return clique;
    }
    // Invariant: all of `left` conflict with the whole clique.
    let mut add = |near: Rank, left: &mut [u64]| {
        clique.push(near);
        clear(left, near);
        and_into(left, conflicts.row(near));
    };
    let own = words(b.index() + 1);
    let mut word = own;
    while word > 0 {
        let mut bits = left[word - 1];
        if word == own {
            bits &= (1u64 << (b.index() % 64)) - 1;
        }
        if bits == 0 {
            word -= 1;
            continue;
        }
        add(highest(word - 1, bits), &mut left);
    }
    let mut word = 0;
    while word < left.len() {
        if left[word] == 0 {
            word += 1;
            continue;
        }
        add(lowest(word, left[word]), &mut left);
    }
    clique
}

/// Returns the heaviest cliques, with about `members` buffers in total.
pub(super) fn trimmed(cliques: &[Vec<Rank>], sizes: &Vector<Rank, u64>, members: usize) -> Vec<Vec<Rank>> {
    let bytes = |clique: &[Rank]| clique.iter().map(|&b| sizes[b]).sum::<u64>();
    if cliques.iter().map(Vec::len).sum::<usize>() <= members {
        return cliques.to_vec();
    }
    let mut kept = cliques.to_vec();
    kept.sort_by_cached_key(|clique| Reverse(bytes(clique)));
    let mut count = 0;
    kept.retain(|clique| {
        count += clique.len();
        count <= members || count == clique.len()
    });
    cover(&mut kept, sizes);
    kept
}

/// Adds a clique of one for each buffer that is in no clique.
fn cover(cliques: &mut Vec<Vec<Rank>>, sizes: &Vector<Rank, u64>) {
    let mut covered = Vector::filled(false, sizes.len());
    cliques.iter().flatten().for_each(|&b| covered[b] = true);
    let alone = sizes.ids().filter(|&b| !covered[b] && sizes[b] > 0).map(|b| vec![b]);
    cliques.extend(alone.collect::<Vec<_>>());
}
