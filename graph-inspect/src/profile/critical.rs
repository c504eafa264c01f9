//! The critical path of a profile: the longest path through its entries.

use std::collections::BTreeMap;

use super::types::Entry;

/// Sets the earliest start of each entry and marks the entries on the critical path: on the outermost level, and in
/// the body of each conditional node on that path. Entries must be in topological order. O(entries + edges).
pub(super) fn mark_critical_path(entries: &mut [Entry]) {
    let mut bodies: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        bodies.entry(entry.body).or_default().push(at);
    }
    // `None` sorts first, and a conditional node has a lower index than the nodes of its body. So each body is
    // visited after the level around it.
    for (body, list) in &bodies {
        let begin = body.map_or(0.0, |body| entries[body].start);
        for &at in list {
            let ends =
                entries[at].after.iter().map(|&before| entries[before].start + entries[before].time.mean);
            entries[at].start = ends.fold(begin, f64::max);
        }
        if body.is_none_or(|body| entries[body].critical) {
            mark_path(entries, list);
        }
    }
}

/// Marks the longest path to the entry that ends last.
fn mark_path(entries: &mut [Entry], list: &[usize]) {
    let end = |entries: &[Entry], at: usize| entries[at].start + entries[at].time.mean;
    let last = |entries: &[Entry], among: &[usize]| {
        among.iter().copied().max_by(|&one, &other| end(entries, one).total_cmp(&end(entries, other)))
    };
    let mut next = last(entries, list);
    while let Some(at) = next {
        entries[at].critical = true;
        next = last(entries, &entries[at].after);
    }
}
