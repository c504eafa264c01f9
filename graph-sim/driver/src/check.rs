//! The checks of a graph launch that no real driver makes.
//!
//! After each node the bytes that it touched are compared with what earlier nodes touched. For each range of bytes
//! the last writer is kept and the readers since: a writer before that one was ordered before it, or was reported
//! already. So a conflict of two nodes that no path orders is found in whichever order they ran.
//!
//! Buffers that the program told us about are checked on top: a node may touch, inside an allocation that holds
//! planned buffers, only buffers of which it is a user; and what it reads of a buffer no other buffer's user may
//! have written in between.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::exec::Shape;
use crate::memory::{ATOMIC, READ, WRITTEN};
use crate::op::{LIFE, Touched, access_word};
use crate::report::Report;
use crate::status::Status;

/// What was done to a range of bytes.
#[derive(Clone)]
struct Cell {
    end: u64,
    /// The node that began the life of the allocation, or ended that of the one before.
    life: Option<usize>,
    /// The last node that wrote since, and how.
    writer: Option<(usize, u8)>,
    /// The nodes that read since.
    readers: Vec<usize>,
}

/// The checks of one launch.
pub struct Checker<'a> {
    shape: &'a Shape,
    names: &'a dyn Fn(usize) -> String,
    cells: BTreeMap<u64, Cell>,
    /// Pairs that were reported.
    reported: BTreeSet<(usize, usize)>,
    /// For each node the buffers that it uses, as places in the shape's list.
    uses: BTreeMap<usize, Vec<usize>>,
    /// Buffers whose life has begun.
    begun: Vec<bool>,
    /// Allocations with planned buffers inside, from and to.
    arenas: Vec<(u64, u64)>,
    /// What was found.
    pub reports: Vec<Report>,
}

impl<'a> Checker<'a> {
    /// Checks for a launch; `arenas` are the allocations that hold planned buffers.
    pub fn new(shape: &'a Shape, names: &'a dyn Fn(usize) -> String, arenas: Vec<(u64, u64)>) -> Self {
        let mut uses: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, (_, users)) in shape.buffers.iter().enumerate() {
            users.iter().for_each(|&user| uses.entry(user).or_default().push(at));
        }
        Checker {
            shape,
            names,
            cells: BTreeMap::new(),
            reported: BTreeSet::new(),
            uses,
            begun: vec![false; shape.buffers.len()],
            arenas,
            reports: Vec::new(),
        }
    }

    /// The planned buffers whose life begins with a node that is about to run.
    pub fn begins(&mut self, node: usize) -> Vec<(u64, u64)> {
        let mut born = Vec::new();
        for &at in self.uses.get(&node).map_or(&[][..], |uses| uses) {
            let buffer = &self.shape.buffers[at].0;
            if buffer.planned && !self.begun[at] {
                self.begun[at] = true;
                born.push((buffer.address, buffer.bytes));
            }
        }
        born
    }

    /// The name of the buffer that a node finds at an address.
    pub fn buffer_at(&self, node: usize, address: u64) -> Option<String> {
        let holds = |at: &&usize| {
            let buffer = &self.shape.buffers[**at].0;
            (buffer.address..buffer.address + buffer.bytes).contains(&address)
        };
        let own = self.uses.get(&node).and_then(|uses| uses.iter().find(holds)).copied();
        let any = || (0..self.shape.buffers.len()).find(|at| holds(&at));
        own.or_else(any).map(|at| self.shape.buffers[at].0.note.describe())
    }

    /// Takes in what a node touched. Names of allocations come from `place`.
    pub fn touched(&mut self, node: usize, touched: &Touched, place: &dyn Fn(u64) -> String) {
        for &(start, end, flags) in touched {
            if flags & LIFE == 0 {
                self.check_buffers(node, start, end, flags, place);
            }
            if flags & READ != 0 {
                self.access(node, start, end, READ, place);
            }
            if flags & ATOMIC != 0 {
                self.access(node, start, end, ATOMIC, place);
            }
            if flags & (WRITTEN | LIFE) != 0 {
                self.access(node, start, end, flags & (WRITTEN | LIFE), place);
            }
        }
    }

    /// Cuts the cells at an address.
    fn cut(&mut self, address: u64) {
        if let Some((&start, cell)) = self.cells.range_mut(..address).next_back()
            && cell.end > address
        {
            let rest = cell.clone();
            cell.end = address;
            debug_assert!(start < address);
            self.cells.insert(address, rest);
        }
    }

    fn access(&mut self, node: usize, start: u64, end: u64, flags: u8, place: &dyn Fn(u64) -> String) {
        self.cut(start);
        self.cut(end);
        let mut conflicts: Vec<(usize, u8, u64, u64)> = Vec::new();
        let precedence = self.shape.precedence();
        let mut gaps = Vec::new();
        let mut at = start;
        for (&from, cell) in self.cells.range_mut(start..end) {
            if at < from {
                gaps.push((at, from));
            }
            at = cell.end;
            let apart = |other: usize| other != node && !precedence.before(other, node);
            let mut conflict = |other, how| conflicts.push((other, how, from, cell.end));
            if let Some(life) = cell.life.filter(|&life| apart(life)) {
                conflict(life, LIFE);
            }
            if let Some((writer, how)) = cell.writer
                && apart(writer)
                && !(how == ATOMIC && flags == ATOMIC)
            {
                conflict(writer, how);
            }
            if flags != READ {
                cell.readers
                    .iter()
                    .filter(|&&reader| apart(reader))
                    .for_each(|&reader| conflict(reader, READ));
            }
            match flags {
                READ if cell.readers.contains(&node) => {}
                READ => cell.readers.push(node),
                LIFE => *cell = Cell { end: cell.end, life: Some(node), writer: None, readers: Vec::new() },
                _ => {
                    // Atomics among each other are left unordered: the readers before them stay of interest.
                    if flags != ATOMIC || cell.writer.is_none_or(|writer| writer.1 != ATOMIC) {
                        cell.readers.clear();
                    }
                    cell.writer = Some((node, flags));
                }
            }
        }
        if at < end {
            gaps.push((at, end));
        }
        for (from, end) in gaps {
            let mut cell = Cell { end, life: None, writer: None, readers: Vec::new() };
            match flags {
                READ => cell.readers.push(node),
                LIFE => cell.life = Some(node),
                _ => cell.writer = Some((node, flags)),
            }
            self.cells.insert(from, cell);
        }
        if flags == WRITTEN || flags == LIFE {
            self.join(start, end);
        }
        for (other, how, from, to) in conflicts {
            self.conflict((other, how), (node, flags), from, to, place);
        }
    }

    /// Joins the cells that a write made alike: those that differ in nothing but their range.
    fn join(&mut self, start: u64, end: u64) {
        let inside: Vec<(u64, u64, Option<usize>)> =
            self.cells.range(start..end).map(|(&at, cell)| (at, cell.end, cell.life)).collect();
        let mut first = start;
        for pair in inside.windows(2) {
            let (next, next_end, life) = pair[1];
            if life != pair[0].2 {
                first = next;
                continue;
            }
            self.cells.remove(&next);
            if let Some(cell) = self.cells.get_mut(&first) {
                cell.end = next_end;
            }
        }
    }

    fn conflict(
        &mut self,
        first: (usize, u8),
        second: (usize, u8),
        from: u64,
        to: u64,
        place: &dyn Fn(u64) -> String,
    ) {
        let pair = (first.0.min(second.0), first.0.max(second.0));
        if !self.reported.insert(pair) {
            return;
        }
        let (a, b) = ((self.names)(first.0), (self.names)(second.0));
        let buffer = self.buffer_at(second.0, from).unwrap_or_else(|| place(from));
        let (does, too) = (access_word(first.1), access_word(second.1));
        let use_of = |user: &str, does: &str, life: &str| {
            format!(
                "node {user} {does} bytes {from:#x}..{to:#x} of {buffer}, and no path orders it with node {life}, \
                 where that allocation begins or ends"
            )
        };
        let (kind, text) = match (first.1 == LIFE, second.1 == LIFE) {
            (true, false) => ("lifetime", use_of(&b, too, &a)),
            (false, true) => ("lifetime", use_of(&a, does, &b)),
            _ => {
                let both = format!("node {a} {does} and node {b} {too} bytes {from:#x}..{to:#x} of {buffer}");
                ("race", format!("{both}, and no path orders them: an edge from one to the other is missing"))
            }
        };
        self.reports.push(Report { kind, status: Status::LAUNCH_FAILED, nodes: vec![a, b], text });
    }

    fn check_buffers(&mut self, node: usize, start: u64, end: u64, flags: u8, place: &dyn Fn(u64) -> String) {
        let Some(&(arena, _)) = self.arenas.iter().find(|arena| arena.0 <= start && start < arena.1) else {
            return;
        };
        let uses = self.uses.get(&node).map_or(&[][..], |uses| uses);
        let mut covered: Vec<(u64, u64, usize)> = uses
            .iter()
            .map(|&at| (&self.shape.buffers[at].0, at))
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
        let name = (self.names)(node);
        if at < end && self.reported.insert((node, usize::MAX - arena as usize)) {
            let whose = match self.buffer_at(node, at) {
                Some(buffer) => format!("buffer {buffer}, of which it is no user"),
                None => format!("{}, where it has no buffer", place(at)),
            };
            let does = access_word(flags);
            let text = format!("node {name} {does} address {at:#x}, in {whose}");
            let nodes = vec![name.clone()];
            self.reports.push(Report { kind: "not-a-user", status: Status::LAUNCH_FAILED, nodes, text });
        }
        if flags & (READ | ATOMIC) == 0 {
            return;
        }
        for (from, to, buffer) in covered {
            let (buffer, users) = &self.shape.buffers[buffer];
            if !buffer.planned {
                continue;
            }
            let before = self.cells.range(..=from).next_back().filter(|(_, cell)| cell.end > from);
            let inside = self.cells.range(from + 1..to);
            let stranger = before.into_iter().chain(inside).find_map(|(_, cell)| {
                cell.writer.map(|writer| writer.0).filter(|writer| *writer != node && !users.contains(writer))
            });
            let Some(stranger) = stranger else { continue };
            if self.reported.insert((stranger.min(node), stranger.max(node))) {
                let (other, what) = ((self.names)(stranger), buffer.note.describe());
                let text = format!(
                    "node {name} reads buffer {what} at {from:#x}, where node {other} wrote while the buffer was \
                     in use: two live buffers share these bytes"
                );
                let nodes = vec![other, name.clone()];
                self.reports.push(Report { kind: "overwritten", status: Status::LAUNCH_FAILED, nodes, text });
            }
        }
    }
}
