//! Traces in the MiniMalloc format, to compare allocators on the same input.
//!
//! The header names the columns: `id,lower,upper,size`. Each row is a buffer that is live in `[lower, upper)`.
//! Optional columns are `alignment`; `hint` (ignored); `gaps`, a list of intervals separated by spaces in which the
//! buffer holds nothing (`lower-upper`) or only a part of itself (`lower-upper@from:to`); and `offset`, a placement
//! to compare with. The older names of the columns are accepted, too: `buffer` or `buffer_id`, `begin` or `start`,
//! and `end`, which is inclusive.
//!
//! A part that is held during a gap is not available to other buffers. For sharing, it counts as the whole buffer;
//! for the bound, it counts as the part.

use std::collections::BTreeSet;

use cuweave_core::index::{Index, Vector};
use cuweave_core::plan::{Bound, Conflicts, MAX_TOTAL_BYTES, Problem, Rank};
use serde::Deserialize;

/// The maximum number of rows of a trace. Conflicts are stored as a square matrix.
pub const MAX_ROWS: usize = 65_536;

/// A row: a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRow {
    /// The buffer's name in the file.
    pub id: String,
    /// The first time of its live range.
    pub lower: i64,
    /// The end of its live range (exclusive).
    pub upper: i64,
    /// Its size in bytes.
    pub size: u64,
    /// The alignment of its offset.
    pub alignment: u64,
    /// The intervals of its live range in which it holds fewer bytes.
    pub gaps: Vec<LiveGap>,
    /// The offset given in the file.
    pub offset: Option<u64>,
}

/// An interval of a live range in which the buffer holds only `held` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveGap {
    /// Its first time.
    pub lower: i64,
    /// Its end (exclusive).
    pub upper: i64,
    /// The number of bytes that are still held.
    pub held: u64,
}

/// A line of a file, with the columns under both names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnValues {
    #[serde(alias = "buffer", alias = "buffer_id")]
    id: String,
    #[serde(alias = "begin", alias = "start")]
    lower: i64,
    upper: Option<i64>,
    end: Option<i64>,
    size: u64,
    alignment: Option<u64>,
    #[serde(rename = "hint")]
    _hint: Option<i64>,
    #[serde(default)]
    gaps: String,
    offset: Option<u64>,
}

/// Reads a trace.
///
/// # Errors
///
/// Returns the first problem, with its line or its buffer.
pub fn read(text: &str) -> Result<Vector<Rank, TraceRow>, String> {
    let mut rows: Vector<Rank, TraceRow> = Vector::new();
    let mut seen = BTreeSet::new();
    let mut sum = 0u64;
    for record in csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes()).deserialize() {
        let row = row(record.map_err(|fault| fault.to_string())?)?;
        if rows.len() == MAX_ROWS {
            return Err(format!("more than {MAX_ROWS} buffers"));
        }
        if !seen.insert(row.id.clone()) {
            return Err(format!("the id `{}` is used twice", row.id));
        }
        sum = row
            .size
            .checked_next_multiple_of(row.alignment)
            .and_then(|room| sum.checked_add(room))
            .filter(|&sum| sum <= MAX_TOTAL_BYTES)
            .ok_or_else(|| format!("the sizes overflow with `{}`: their sum is above 2^62", row.id))?;
        rows.push(row);
    }
    Ok(rows)
}

fn row(record: ColumnValues) -> Result<TraceRow, String> {
    let ColumnValues { id, lower, upper, end, size, alignment, gaps, offset, .. } = record;
    let inclusive = upper.is_none();
    let upper = last(upper.or(end).ok_or_else(|| format!("`{id}` has no end"))?, inclusive)?;
    let mut row =
        TraceRow { id, lower, upper, size, alignment: alignment.unwrap_or(1), gaps: Vec::new(), offset };
    if row.upper < row.lower {
        return Err(format!("`{}` ends at {} before it begins at {}", row.id, row.upper, row.lower));
    }
    if row.alignment == 0 {
        return Err(format!("the alignment of `{}` is 0", row.id));
    }
    for gap in gaps.split_whitespace() {
        row.gaps.push(read_gap(gap, inclusive, &row)?);
    }
    row.gaps.sort_by_key(|gap| gap.lower);
    if let Some(pair) = row.gaps.windows(2).find(|pair| pair[1].lower < pair[0].upper) {
        return Err(format!("two gaps of `{}` overlap at {}", row.id, pair[1].lower));
    }
    Ok(row)
}

/// Returns the exclusive end, if the file's ends may be inclusive.
fn last(at: i64, inclusive: bool) -> Result<i64, String> {
    at.checked_add(i64::from(inclusive)).ok_or_else(|| format!("`{at}` overflows"))
}

fn read_gap(text: &str, inclusive: bool, row: &TraceRow) -> Result<LiveGap, String> {
    let unknown =
        || format!("the gap `{text}` of `{}` is neither lower-upper nor lower-upper@from:to", row.id);
    let (span, window) = match text.split_once('@') {
        Some((span, window)) => (span, Some(window)),
        None => (text, None),
    };
    let (lower, upper) = span.split_once('-').ok_or_else(unknown)?;
    let lower: i64 = lower.parse().map_err(|_| unknown())?;
    let upper = last(upper.parse().map_err(|_| unknown())?, inclusive)?;
    if upper < lower {
        return Err(format!("the gap `{text}` of `{}` ends before it begins", row.id));
    }
    if lower < row.lower || upper > row.upper {
        return Err(format!("the gap `{text}` lies outside the life of `{}`", row.id));
    }
    let held = match window {
        None => 0,
        Some(window) => {
            let (from, to) = window.split_once(':').ok_or_else(unknown)?;
            let from: u64 = from.parse().map_err(|_| unknown())?;
            let to: u64 = to.parse().map_err(|_| unknown())?;
            if from > to || to > row.size {
                return Err(format!("the gap `{text}` holds bytes outside the size of `{}`", row.id));
            }
            to - from
        }
    };
    Ok(LiveGap { lower, upper, held })
}

/// Returns the placement problem of a trace. Its bound is the maximum number of bytes that are live at the same
/// time.
#[must_use]
pub fn problem(rows: &Vector<Rank, TraceRow>) -> Problem {
    let (mut cliques, mut bound) = sweep(rows);
    let conflicts = Conflicts::of_cliques(rows.len(), &cliques);
    for (b, row) in rows.enumerate() {
        if row.size > bound.bytes {
            bound = Bound { bytes: row.size, buffers: vec![b] };
        }
        if row.size > 0 && conflicts.degree(b) == 0 {
            cliques.push(vec![b]);
        }
    }
    let sizes = rows.iter().map(|row| row.size).collect();
    let aligns = rows.iter().map(|row| row.alignment).collect();
    let begins = rows.iter().map(|row| row.lower).collect();
    Problem { sizes, aligns, conflicts, begins, cliques, bound }
}

/// Returns the changes of held bytes: the time, the buffer, and the bytes that it holds from then on. Sorted by
/// time.
fn events(rows: &Vector<Rank, TraceRow>) -> Vec<(i64, Rank, u64)> {
    let mut events = Vec::new();
    for (b, row) in rows.enumerate() {
        if row.lower == row.upper {
            continue;
        }
        events.push((row.lower, b, row.size));
        for gap in row.gaps.iter().filter(|gap| gap.lower < gap.upper) {
            events.push((gap.lower, b, gap.held));
            events.push((gap.upper, b, row.size));
        }
        events.push((row.upper, b, 0));
    }
    // The sort is stable: of two events of a buffer at the same time, the later one counts.
    events.sort_by_key(|&(at, ..)| at);
    events
}

/// Sweeps over time. Returns the maximal sets of buffers that are live at the same time, and the set that holds the
/// most bytes.
fn sweep(rows: &Vector<Rank, TraceRow>) -> (Vec<Vec<Rank>>, Bound<Rank>) {
    let events = events(rows);
    let mut held = Vector::filled(0u64, rows.len());
    let mut live: Vec<Rank> = Vec::new();
    let mut load = 0;
    let mut bound = Bound::default();
    let mut cliques: Vec<Vec<Rank>> = Vec::new();
    let mut grew = false;
    for now in events.chunk_by(|a, b| a.0 == b.0) {
        let before = live.clone();
        for &(_, b, bytes) in now {
            load = load - held[b] + bytes;
            held[b] = bytes;
            match live.binary_search(&b) {
                Ok(at) if bytes == 0 => drop(live.remove(at)),
                Err(at) if bytes > 0 => live.insert(at, b),
                _ => {}
            }
        }
        let shrank = before.iter().any(|b| live.binary_search(b).is_err());
        if shrank && grew {
            cliques.push(before.clone());
            grew = false;
        }
        grew |= live.iter().any(|b| before.binary_search(b).is_err());
        if load > bound.bytes {
            bound = Bound { bytes: load, buffers: live.clone() };
        }
    }
    (cliques, bound)
}

/// Checks offsets against the rows, pair by pair and independently of the placement problem.
///
/// # Errors
///
/// Returns the first problem.
pub fn check(rows: &Vector<Rank, TraceRow>, offsets: &Vector<Rank, u64>, total: u64) -> Result<(), String> {
    // The intervals of a live range in which the buffer holds bytes.
    let spans = |row: &TraceRow| {
        let mut spans = Vec::new();
        let mut from = row.lower;
        for gap in row.gaps.iter().filter(|gap| gap.held == 0) {
            spans.push((from, gap.lower));
            from = gap.upper;
        }
        spans.push((from, row.upper));
        spans
    };
    let spans: Vector<Rank, Vec<(i64, i64)>> = rows.iter().map(spans).collect();
    let together =
        |a: Rank, b: Rank| spans[a].iter().any(|x| spans[b].iter().any(|y| x.0.max(y.0) < x.1.min(y.1)));
    if offsets.len() != rows.len() {
        return Err(format!("{} offsets for {} buffers", offsets.len(), rows.len()));
    }
    for (first, &offset) in offsets.enumerate() {
        let row = &rows[first];
        if !offset.is_multiple_of(row.alignment) {
            return Err(format!("buffer {first} lies at {offset}, which is no multiple of its alignment"));
        }
        let Some(end) = offset.checked_add(row.size).filter(|&end| end <= total) else {
            return Err(format!("buffer {first} ends above the total"));
        };
        for (second, &other) in offsets.enumerate().take(first.index()) {
            if other < end && offset < other + rows[second].size && together(first, second) {
                return Err(format!(
                    "buffers {second} and {first} share bytes, but neither lifetime ends before the other begins"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuweave_core::plan::{Effort, place_all};

    #[test]
    fn faults_say_what_and_where() {
        let fault = |text: &str, said: &str| {
            let fault = read(text).unwrap_err();
            assert!(fault.contains(said), "{fault}");
        };
        fault("id,lower,upper\na,0,1\n", "missing field `size`");
        fault("id,lower,upper,size,size\na,0,1,1,1\n", "duplicate field `size`");
        fault("id,lower,upper,size,colour\na,0,1,1,1\n", "unknown field `colour`");
        fault("id,lower,size\na,0,1\n", "`a` has no end");
        let with = |row: &str, said| fault(&format!("id,lower,upper,size\na,0,1,1\n{row}\n"), said);
        with("b,0,1", "line: 3");
        with("b,0,x,1", "line: 3");
        with("b,0,1,-4", "line: 3");
        with("b,5,4,1", "`b` ends at 4 before it begins at 5");
        with("a,0,1,1", "the id `a` is used twice");
        with("b,0,1,9223372036854775807", "the sizes overflow with `b`: their sum is above 2^62");
        let gap = |gap: &str, said| fault(&format!("id,lower,upper,size,gaps\na,2,9,8,{gap}\n"), said);
        gap("3", "the gap `3` of `a` is neither lower-upper nor lower-upper@from:to");
        gap("3-x", "the gap `3-x` of `a` is neither lower-upper nor lower-upper@from:to");
        gap("5-4", "the gap `5-4` of `a` ends before it begins");
        gap("1-4", "the gap `1-4` lies outside the life of `a`");
        gap("3-4@2:9", "the gap `3-4@2:9` holds bytes outside the size of `a`");
        gap("3-5 4-6", "two gaps of `a` overlap at 4");
        fault("id,lower,upper,size,alignment\na,0,1,1,0\n", "the alignment of `a` is 0");
    }

    #[test]
    fn spellings_old_and_new() {
        let new = read("\u{feff}id,lower,upper,size\r\na,0,3,4\r\n\r\nb,3,9,4\r\n").unwrap();
        let old = read("size,buffer,start,end\n4,a,0,2\n4,b,3,8\n").unwrap();
        assert_eq!(new, old);
        assert_eq!(read("id,lower,upper,size,hint\na,-5,3,4,-1\n").unwrap()[Rank::from_u32(0)].lower, -5);
    }

    /// The example from the format's authors, where 12 bytes suffice.
    #[test]
    fn the_small_example() {
        let rows = read("id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n").unwrap();
        let problem = problem(&rows);
        assert_eq!(problem.bound.bytes, 12);
        let placed = place_all(&problem, Effort::Quick);
        assert_eq!(placed.total, 12);
        assert_eq!(check(&rows, &placed.offsets, placed.total), Ok(()));
    }

    #[test]
    fn gaps_alignments_and_nothing() {
        // b fits into a's gap. c fits into the part that d does not hold, but only in the bound.
        let rows = read(
            "id,lower,upper,size,alignment,gaps\na,0,9,8,1,3-6\nb,3,6,8,1,\nc,12,14,8,8,\nd,10,20,8,8,12-14@0:2\n\
             e,5,5,99,1,\n",
        )
        .unwrap();
        let problem = problem(&rows);
        let [a, b, c, d] = [0, 1, 2, 3].map(Rank::from_u32);
        assert!(!problem.conflicts.conflict(a, b) && problem.conflicts.conflict(c, d));
        assert_eq!(problem.bound.bytes, 99);
        let placed = place_all(&problem, Effort::Default);
        assert_eq!(placed.total, 99);
        assert_eq!(check(&rows, &placed.offsets, placed.total), Ok(()));
        for text in ["id,lower,upper,size\n", "id,lower,upper,size\na,0,5,0\n"] {
            let rows = read(text).unwrap();
            assert_eq!(place_all(&super::problem(&rows), Effort::Thorough).total, 0);
        }
    }
}
