//! Sections of a partial order: sets of buffers of which every two conflict. On a line they are what is live at a
//! moment; here they are cliques that are grown from each buffer in turn.

use super::conflict::Conflicts;
use super::indices::Rank;
use crate::bits::{and_into, clear, has, highest, lowest, ones, set, words};
use crate::index::{Index, Vector, wide};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Maximal cliques of buffers with some size, each buffer in at least one: grown to what is nearest, then also to
/// what is largest, as long as there are `steps` to spend; and single buffers where they run out. Buffers stand in an
/// order in which what is over comes first, so that on a line the nearest ones are exactly what is live when the
/// buffer begins.
pub(super) fn sections(
    conflicts: &Conflicts,
    sizes: &Vector<Rank, u64>,
    heaviest: &[Rank],
    mut steps: u64,
) -> Vec<Vec<Rank>> {
    let mut used = vec![0u64; words(conflicts.len())];
    sizes.ids().filter(|&b| sizes[b] > 0).for_each(|b| set(&mut used, b));
    let mut found: BTreeSet<Vec<Rank>> = BTreeSet::new();
    let mut sections = Vec::new();
    let mut keep = |mut clique: Vec<Rank>| {
        clique.sort_unstable();
        if !clique.is_empty() && found.insert(clique.clone()) {
            sections.push(clique);
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
        let mut clique = vec![b];
        let mut left = start(b);
        // Backwards from b, then forwards: whoever is left conflicts with all so far.
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
            let near = highest(word - 1, bits);
            clique.push(near);
            clear(&mut left, near);
            and_into(&mut left, conflicts.row(near));
        }
        let mut word = 0;
        while word < left.len() {
            if left[word] == 0 {
                word += 1;
                continue;
            }
            let near = lowest(word, left[word]);
            clique.push(near);
            clear(&mut left, near);
            and_into(&mut left, conflicts.row(near));
        }
        steps = steps.saturating_sub(wide(clique.len() * left.len() + 64));
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

    cover(&mut sections, sizes);
    sections
}

/// The heaviest sections, with about `members` buffers in all of them together.
pub(super) fn trimmed(sections: &[Vec<Rank>], sizes: &Vector<Rank, u64>, members: usize) -> Vec<Vec<Rank>> {
    let bytes = |section: &[Rank]| section.iter().map(|&b| sizes[b]).sum::<u64>();
    if sections.iter().map(Vec::len).sum::<usize>() <= members {
        return sections.to_vec();
    }
    let mut kept = sections.to_vec();
    kept.sort_by_cached_key(|section| Reverse(bytes(section)));
    let mut count = 0;
    kept.retain(|section| {
        count += section.len();
        count <= members || count == section.len()
    });
    cover(&mut kept, sizes);
    kept
}

/// Gives each buffer that is in no section one of its own.
fn cover(sections: &mut Vec<Vec<Rank>>, sizes: &Vector<Rank, u64>) {
    let mut covered = Vector::filled(false, sizes.len());
    sections.iter().flatten().for_each(|&b| covered[b] = true);
    let alone = sizes.ids().filter(|&b| !covered[b] && sizes[b] > 0).map(|b| vec![b]);
    sections.extend(alone.collect::<Vec<_>>());
}
