//! Sections of a partial order: sets of buffers of which every two conflict. On a line they are what is live at a
//! moment; here they are cliques that are grown from each buffer in turn.

use super::conflict::Conflicts;
use crate::reach::{clear, has, ones};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Maximal cliques of buffers with some size, each buffer in at least one: grown to what is nearest, then also to
/// what is largest, as long as there are `steps` to spend; and single buffers where they run out. Buffers stand in an
/// order in which what is over comes first, so that on a line the nearest ones are exactly what is live when the
/// buffer begins.
pub(super) fn sections(
    conflicts: &Conflicts,
    sizes: &[u64],
    heaviest: &[u32],
    mut steps: u64,
) -> Vec<Vec<u32>> {
    let n = conflicts.len();
    let mut used = vec![0u64; n.div_ceil(64)];
    (0..n as u32).filter(|&b| sizes[b as usize] > 0).for_each(|b| crate::reach::set(&mut used, b));
    let mut found: BTreeSet<Vec<u32>> = BTreeSet::new();
    let mut sections = Vec::new();
    let mut keep = |mut clique: Vec<u32>| {
        clique.sort_unstable();
        if !clique.is_empty() && found.insert(clique.clone()) {
            sections.push(clique);
        }
    };
    let mut by_size: Vec<u32> = ones(&used).collect();
    by_size.sort_by_key(|&b| Reverse(sizes[b as usize]));
    let start = |b: u32| {
        let mut left = conflicts.row(b).to_vec();
        crate::reach::and_into(&mut left, &used);
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
        let mut word = b as usize / 64 + 1;
        while word > 0 {
            let mut bits = left[word - 1];
            if word - 1 == b as usize / 64 {
                bits &= (1u64 << (b % 64)) - 1;
            }
            if bits == 0 {
                word -= 1;
                continue;
            }
            let near = (word as u32 - 1) * 64 + 63 - bits.leading_zeros();
            clique.push(near);
            clear(&mut left, near);
            crate::reach::and_into(&mut left, conflicts.row(near));
        }
        let mut word = 0;
        while word < left.len() {
            if left[word] == 0 {
                word += 1;
                continue;
            }
            let near = word as u32 * 64 + left[word].trailing_zeros();
            clique.push(near);
            clear(&mut left, near);
            crate::reach::and_into(&mut left, conflicts.row(near));
        }
        steps = steps.saturating_sub((clique.len() * left.len() + 64) as u64);
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
                crate::reach::and_into(&mut left, conflicts.row(other));
            }
        }
        steps = steps.saturating_sub((clique.len() * left.len() + by_size.len()) as u64);
        keep(clique);
    }

    cover(&mut sections, sizes);
    sections
}

/// The heaviest sections, with about `members` buffers in all of them together.
pub(super) fn trimmed(sections: &[Vec<u32>], sizes: &[u64], members: usize) -> Vec<Vec<u32>> {
    let bytes = |section: &[u32]| section.iter().map(|&b| sizes[b as usize]).sum::<u64>();
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
fn cover(sections: &mut Vec<Vec<u32>>, sizes: &[u64]) {
    let mut covered = vec![false; sizes.len()];
    sections.iter().flatten().for_each(|&b| covered[b as usize] = true);
    let alone = (0..sizes.len()).filter(|&b| !covered[b] && sizes[b] > 0).map(|b| vec![b as u32]);
    sections.extend(alone.collect::<Vec<_>>());
}
