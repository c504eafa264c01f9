//! Suggestions for misspelled names.

/// Returns the known name with the smallest edit distance to `name`, if at most a third of the letters differ
/// (rounded up).
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    known
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= candidate.len().max(name.len()).div_ceil(3))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns the Levenshtein distance of two short names. O(a · b).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_name_is_near() {
        assert_eq!(nearest("matvce", ["relu", "matvec", "add"]), Some("matvec"));
        assert_eq!(nearest("softmax", ["relu", "add"]), None);
    }
}
