//! Copies and fills.

use crate::base::config::config;
use crate::base::log;
use crate::base::report::Report;
use crate::base::status::{Result, Status};
use crate::memory::{self, PitchedBox, READ, Touched, Unwritten, WRITTEN};
use crate::state::State;
use crate::state::operation::{MemoryCopy, MemoryFill};

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

/// Returns a description of the target of a fill, if the device has no access to it.
pub fn inaccessible_target(state: &State, fill: &MemoryFill, context: u64) -> Option<String> {
    let context = fill.context.unwrap_or(context);
    let found = state.memory.find(fill.to.start)?;
    let reason = access::explain(state, context, found);
    (!reason.is_empty()).then(|| format!("{}{reason}", found.describe_at(fill.to.start)))
}

/// Executes a fill in a context, or in that of its node if it has one.
pub fn run_fill(state: &State, fill: &MemoryFill, context: u64, touched: Option<&mut Touched>) -> Result {
    let place = fill.place(&state.memory)?;
    if let Some(text) = inaccessible_target(state, fill, context) {
        return Err(log::log_error(Status::ILLEGAL_ADDRESS, format!("a fill of {text}")));
    }
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
