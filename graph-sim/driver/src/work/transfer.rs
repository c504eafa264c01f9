//! Copies and fills.

use crate::base::config::config;
use crate::base::report::Report;
use crate::base::status::{Result, Status};
use crate::memory::{self, PitchedBox, READ, Touched, Unwritten, WRITTEN};
use crate::state::State;
use crate::state::operation::{MemoryCopy, MemoryFill, Operation};

use super::access;

/// Executes a copy. Returns the unwritten bytes that it copied to the host.
pub fn run_copy(
    state: &State,
    copy: &MemoryCopy,
    touched: Option<&mut Touched>,
) -> Result<Option<Unwritten>> {
    let Some((to, from)) = copy.places(&state.memory)? else { return Ok(None) };
    let lines = |at: &PitchedBox| (at.start, at.pitch, at.slice);
    let ((_, to_pitch, to_slice), (_, from_pitch, from_slice)) = (lines(&copy.to.at), lines(&copy.from.at));
    let whole = (copy.height == 1 && copy.depth == 1)
        || (to_pitch == copy.width
            && from_pitch == copy.width
            && (copy.depth == 1 || (to_slice == from_slice && to_slice == copy.width * copy.height)));
    let (width, height, depth) = if whole {
        (copy.width * copy.height * copy.depth, 1, 1)
    } else {
        (copy.width, copy.height, copy.depth)
    };
    let mut touches = Touched::new();
    let mut unwritten: Option<Unwritten> = None;
    for slice in 0..depth {
        for row in 0..height {
            let (a, b) = (slice * to_slice + row * to_pitch, slice * from_slice + row * from_pitch);
            let found = memory::copy(&to.at(a), &from.at(b), width);
            let (a, b) = (copy.to.at.start + a, copy.from.at.start + b);
            if let Some(Unwritten { first, bytes }) = found {
                unwritten.get_or_insert(Unwritten { first: b + first, bytes: 0 }).bytes += bytes;
            }
            touch_written(state, a, a + width, &mut touches);
            touches.push((b, b + width, READ));
            state.memory.count_access(None, a..a + width, true);
            state.memory.count_access(None, b..b + width, false);
        }
    }
    if let Some(touched) = touched {
        touched.append(&mut touches);
    }
    Ok(unwritten.filter(|_| config().initialised))
}

/// Adds the bytes that a write to a range of addresses changes.
fn touch_written(state: &State, start: u64, end: u64, touched: &mut Touched) {
    let ranges = state.memory.written_ranges(start..end);
    touched.extend(ranges.into_iter().map(|range| (range.start, range.end, WRITTEN)));
}

/// Checks that a fill or copy in a context and a stream may access its memory. `node` is the name of its node. A fill
/// node may have a context of its own.
///
/// # Errors
/// Returns the report if it may not.
pub fn check_access(
    state: &State,
    op: &Operation,
    context: u64,
    stream: u64,
    node: Option<&str>,
) -> std::result::Result<(), Report> {
    let (closed, who, verb) = match op {
        Operation::Copy(copy) => (access::describe_detached(state, copy, stream), "a copy", "copies"),
        Operation::Fill(fill) => {
            let context = fill.context.unwrap_or(context);
            let found = state.memory.find(fill.to.start);
            let reason =
                found.map(|found| access::explain(state, context, stream, found)).unwrap_or_default();
            let place = found.filter(|_| !reason.is_empty()).map(|found| found.describe_at(fill.to.start));
            (place.map(|place| format!("{place}{reason}")), "a fill", "fills")
        }
        _ => return Ok(()),
    };
    let Some(what) = closed else { return Ok(()) };
    Err(Report {
        kind: "illegal-address",
        status: Status::ILLEGAL_ADDRESS,
        nodes: node.map(str::to_owned).into_iter().collect(),
        text: node.map_or_else(|| format!("{who} of {what}"), |name| format!("node {name} {verb} {what}")),
    })
}

/// Executes a fill.
pub fn run_fill(state: &State, fill: &MemoryFill, touched: Option<&mut Touched>) -> Result {
    let place = fill.place(&state.memory)?;
    let mut touches = Touched::new();
    for row in 0..fill.height {
        let offset = row * fill.to.pitch;
        memory::fill(&place.at(offset), fill.value, fill.element, fill.width);
        let start = fill.to.start + offset;
        touch_written(state, start, start + fill.width * fill.element, &mut touches);
        state.memory.count_access(None, start..start + fill.width * fill.element, true);
    }
    if let Some(touched) = touched {
        touched.append(&mut touches);
    }
    Ok(())
}

/// Reports unwritten bytes that were copied to the host. `node` is the name of the copying node and `buffer` that
/// of the buffer.
///
/// # Errors
/// Returns the report if such a copy is an error rather than a warning.
pub fn report_unwritten(
    state: &State,
    Unwritten { first, bytes }: Unwritten,
    node: Option<&str>,
    buffer: Option<String>,
) -> std::result::Result<(), Report> {
    let who = node.map_or("a copy".to_owned(), |name| format!("node {name}"));
    let place = buffer.or_else(|| state.memory.find(first).map(|found| found.describe_at(first)));
    let place = place.unwrap_or_else(|| "memory".to_owned());
    let count = if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") };
    let text =
        format!("{who} copies {count} to the host that were never written; address {first:#x} is in {place}");
    let status = if config().strict { Status::LAUNCH_FAILED } else { Status::SUCCESS };
    let nodes = node.map(str::to_owned).into_iter().collect();
    let report = Report { kind: "uninitialised-read", status, nodes, text };
    if config().strict {
        return Err(report);
    }
    report.submit();
    Ok(())
}
