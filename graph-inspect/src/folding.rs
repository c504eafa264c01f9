//! Merges entries that differ only in loop indices.

use std::collections::BTreeMap;
use std::ops::Range;

/// The longest period that is searched for.
const MAX_PERIOD: usize = 16;

/// Splits a sequence into ranges with repeat counts: `a b a b c` is `a b` twice and `c` once. O(n).
pub(super) fn repetitions<T: PartialEq>(list: &[T]) -> Vec<(Range<usize>, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < list.len() {
        let longest = MAX_PERIOD.min((list.len() - at) / 2);
        let times = |period: usize| {
            let repetitions = list[at..].chunks_exact(period);
            repetitions.take_while(|repetition| *repetition == &list[at..at + period]).count()
        };
        let mut best = (1, 1);
        for period in 1..=longest {
            let times = times(period);
            // Prefer the longest coverage, then the shortest period.
            if times > 1 && period * times > best.0 * best.1 {
                best = (period, times);
            }
        }
        found.push((at..at + best.0, best.1));
        at += best.0 * best.1;
    }
    found
}

/// An entry that stands for all entries with its key.
#[derive(Clone, Debug)]
pub(super) struct MergedEntry<T> {
    /// The first entry.
    pub first: T,
    /// The number of entries.
    pub entries: usize,
    /// The sum of their counts.
    pub times: usize,
}

/// Merges entries with equal keys, in the order of their first occurrences. `times` is the count of an entry.
pub(super) fn merge_by_key<T, K: Ord>(
    list: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
    times: impl Fn(&T) -> usize,
) -> Vec<MergedEntry<T>> {
    let mut known: BTreeMap<K, usize> = BTreeMap::new();
    let mut entries: Vec<MergedEntry<T>> = Vec::new();
    for entry in list {
        let at = *known.entry(key(&entry)).or_insert(entries.len());
        match entries.get_mut(at) {
            Some(folded) => {
                folded.entries += 1;
                folded.times += times(&entry);
            }
            None => entries.push(MergedEntry { times: times(&entry), first: entry, entries: 1 }),
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_have_the_shortest_period() {
        let of = |text: &str| repetitions(text.as_bytes());
        assert_eq!(of("ababc"), [(0..2, 2), (4..5, 1)]);
        assert_eq!(of("aaaa"), [(0..1, 4)]);
        assert_eq!(of("xabcabcabc"), [(0..1, 1), (1..4, 3)]);
        assert!(of("").is_empty());
    }

    #[test]
    fn entries_of_one_key_are_one() {
        let list = merge_by_key([1, 12, 21, 2], |one| one % 10, |_| 1);
        let list: Vec<_> = list.iter().map(|one| (one.first, one.entries)).collect();
        assert_eq!(list, [(1, 2), (12, 2)]);
    }
}
