//! The checks of a memory plan, which consists of the buffers that the program described.
//!
//! - Planned buffers share bytes only if all users of one precede all users of the other. This depends on the
//!   edges alone, so it is checked before anything runs; see `users`.
//! - Inside an allocation that holds planned buffers, a node touches only buffers that it uses.
//! - The bytes that a user reads from a planned buffer were written by users of the buffer, within its live
//!   range.

use std::ops::Range;

use super::checker::Checker;
use crate::base::report::Report;
use crate::base::status::Status;
use crate::memory::{ATOMIC, READ, access_word};
use crate::state::exec::UsedBuffer;

impl Checker<'_> {
    /// Begins the live ranges of planned buffers at their first user. Returns the buffers whose live range begins
    /// with `node`.
    pub fn begin_live_ranges(&mut self, node: usize) -> Vec<Range<u64>> {
        let mut born = Vec::new();
        for at in self.users.uses.get(&node).cloned().unwrap_or_default() {
            let buffer = &self.shape.buffers[at].buffer;
            if !buffer.planned || self.begun[at] {
                continue;
            }
            self.begun[at] = true;
            let (start, end) = (buffer.address, buffer.address + buffer.bytes);
            born.push(start..end);
            self.split_cell(start);
            self.split_cell(end);
            self.cells.range_mut(start..end).for_each(|(_, cell)| cell.fresh = true);
        }
        born
    }

    /// Checks a range that a node touched against the buffers that it uses.
    pub(super) fn check_buffers(
        &mut self,
        node: usize,
        start: u64,
        end: u64,
        flags: u8,
        place: &dyn Fn(u64) -> String,
    ) {
        let holder = self.arenas.iter().find(|arena| arena.contains(&start));
        let Some(arena) = holder.map(|arena| arena.start) else { return };
        let uses = self.users.uses.get(&node).map_or(&[][..], |uses| uses);
        let mut covered: Vec<(u64, u64, usize)> = uses
            .iter()
            .map(|&at| (&self.shape.buffers[at].buffer, at))
            .map(|(buffer, at)| (buffer.address.max(start), (buffer.address + buffer.bytes).min(end), at))
            .filter(|range| range.0 < range.1)
            .collect();
        covered.sort_unstable();
        let mut at = start;
        for &(from, to, _) in &covered {
            if at < from {
                break;
            }
            at = at.max(to);
        }
        if at < end && self.reported.insert((node, usize::MAX - arena as usize)) {
            let name = (self.names)(node);
            let whose = match self.users.buffer_at(node, at) {
                Some(buffer) => format!("buffer {buffer}, of which it is not a user"),
                None => format!("{}, outside all buffers of which it is a user", place(at)),
            };
            let text = format!("node {name} {} address {at:#x}, in {whose}", access_word(flags));
            self.reports.push(Report {
                kind: "not-a-user",
                status: Status::LAUNCH_FAILED,
                nodes: vec![name],
                text,
            });
        }
        if flags & (READ | ATOMIC) != 0 {
            covered.into_iter().for_each(|(from, to, buffer)| self.check_writers(node, from, to, buffer));
        }
    }

    /// Checks that only users of a buffer wrote the bytes of it that a node read.
    fn check_writers(&mut self, node: usize, from: u64, to: u64, buffer: usize) {
        let UsedBuffer { buffer, users } = &self.shape.buffers[buffer];
        if !buffer.planned {
            return;
        }
        let before = self.cells.range(..=from).next_back().filter(|(_, cell)| cell.end > from);
        let inside = self.cells.range(from + 1..to);
        let stranger =
            before.into_iter().chain(inside).filter(|(_, cell)| !cell.fresh).find_map(|(at, cell)| {
                let mut writers = cell.atomics.iter().copied().chain(cell.writer);
                let stranger = writers.find(|&writer| {
                    let writer = self.origin(writer);
                    writer != node && !users.contains(&writer)
                })?;
                Some((stranger, (*at).max(from)))
            });
        let Some((stranger, at)) = stranger else { return };
        if self.reported.insert((stranger.min(node), stranger.max(node))) {
            let (name, other) = (self.name(node), self.name(stranger));
            let text = format!(
                "node {name} reads buffer {} at {at:#x}, where node {other} wrote while the buffer was in use",
                buffer.note.describe(),
            );
            self.reports.push(Report {
                kind: "overwritten",
                status: Status::LAUNCH_FAILED,
                nodes: vec![other, name],
                text,
            });
        }
    }
}
