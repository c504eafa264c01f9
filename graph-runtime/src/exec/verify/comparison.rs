//! Runs a graph and its statements as written on the same bytes, and compares what they leave.
//!
//! The statements as written run twice, with other bytes in the memory of their temporaries. What differs between the
//! two, such as sums of floats by atomics or elements that nothing writes, cannot be compared. If the host cannot hold
//! all results at once, they are compared in pieces, and everything runs once more for each piece.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use cuweave_core::index::wide;
use cuweave_core::ir::BufferId;

use crate::build::{DuplicateGraph, FREED};
use crate::cuda::{Driver, Outcome, RawExec, Stream};

use super::memory::{DeviceStreams, MemoryRange, SavedMemory, Step, host_buffer, len};

/// The number of launches of the verified graph.
pub(super) const LAUNCHES: u32 = 3;

/// The maximum number of bytes that are compared at once. Tests lower it.
static MAX_PIECE: AtomicU64 = AtomicU64::new(1 << 30);

/// The minimum number of bytes that are compared at once. A host without memory for so many verifies nothing.
const MIN_PIECE: u64 = 1 << 20;

/// Sets the maximum number of bytes that verifications compare at once. A test of pieces needs few bytes.
pub fn limit_verified_pieces(bytes: u64) {
    MAX_PIECE.store(bytes, Ordering::Relaxed);
}

/// The number of bytes that are read at once.
const CHUNK: u64 = 16 << 20;

/// The values of the bytes of temporaries before the two runs of the statements as written.
const PATTERNS: [u8; 2] = [FREED, !FREED];

/// A range of a buffer that the graph may write, in the memory of both graphs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared {
    pub buffer: BufferId,
    /// The offset in the buffer, in bytes.
    pub offset: u64,
    /// The size of an element in bytes.
    pub element: u64,
    /// The memory of the verified graph.
    pub verified: MemoryRange,
    /// The address in the graph of the statements as written.
    pub written: u64,
}

/// The graph that is verified.
pub(super) enum Verified<'g> {
    /// The exec, or another one on the same memory.
    Exec {
        /// The other one.
        exec: Option<RawExec>,
        /// The addresses that each launch allocates.
        outputs: &'g [u64],
        /// True if the outputs of the last launch are not freed yet.
        allocated: bool,
    },
    /// A duplicate, whose outputs are in its own memory.
    Duplicate(&'g mut DuplicateGraph),
}

impl Verified<'_> {
    /// Launches the graph once and waits.
    fn run(&mut self, driver: &Driver, exec: RawExec, stream: Stream) -> Outcome<()> {
        match self {
            Verified::Exec { exec: other, allocated, .. } => {
                driver.launch(other.unwrap_or(exec), stream)?;
                *allocated = true;
                driver.synchronize(stream).or_else(|_| driver.synchronize_context())
            }
            Verified::Duplicate(graph) => {
                graph.overwrite(FREED)?;
                graph.run(stream)
            }
        }
    }

    /// Frees what the last launch has allocated. Tries twice, since the exec cannot be launched before.
    fn free(&mut self, driver: &Driver, stream: Stream) -> Outcome<()> {
        let Verified::Exec { outputs, allocated, .. } = self else { return Ok(()) };
        if !std::mem::take(allocated) {
            return Ok(());
        }
        let free = |&address: &u64| driver.free(address, stream);
        outputs.iter().try_for_each(|address| free(address).or_else(|_| free(address)))?;
        driver.synchronize(stream).or_else(|_| driver.synchronize_context())
    }
}

/// A difference.
#[derive(Clone, Debug)]
pub(crate) struct FoundDifference {
    pub buffer: BufferId,
    /// The index of the element in the buffer.
    pub element: u64,
    pub expected: Vec<u8>,
    pub found: Vec<u8>,
    /// The launch, counted from 1.
    pub launch: u32,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comparison {
    /// The bytes that were compared.
    pub comparable: u64,
    /// The bytes that differ between two runs of the statements as written.
    pub not_comparable: u64,
    pub difference: Option<FoundDifference>,
}

/// Holds the state of a comparison during the launches.
pub(super) struct Runs<'r, 's> {
    pub driver: &'r Driver,
    pub exec: RawExec,
    pub stream: Stream,
    pub streams: &'r DeviceStreams,
    pub saved: SavedMemory<'s>,
    pub list: &'r [Compared],
    pub written: &'r mut DuplicateGraph,
    pub verified: Verified<'r>,
}

impl Runs<'_, '_> {
    /// Compares, and restores the memory that the graphs have written.
    pub fn compare(mut self) -> Step<Comparison> {
        self.driver.synchronize(self.stream)?;
        self.saved.save()?;
        let compared = self.pieces();
        // A drop would restore it too, but hide a failure.
        let restored = self.saved.end();
        let compared = compared?;
        restored?;
        Ok(compared)
    }

    fn pieces(&mut self) -> Step<Comparison> {
        let mut whole = Comparison::default();
        let mut limit = MAX_PIECE.load(Ordering::Relaxed);
        let mut begin = Position::default();
        while begin.range < self.list.len() {
            let (piece, next) = take_piece(self.list, begin, limit);
            let bytes = piece.iter().map(|(_, bytes)| bytes.end - bytes.start).sum();
            let (expected, unequal) = match (host_buffer(bytes), host_buffer(bytes.div_ceil(8))) {
                (Ok(expected), Ok(unequal)) => (expected, unequal),
                (Err(stopped), _) | (_, Err(stopped)) if limit <= MIN_PIECE => return Err(stopped),
                _ => {
                    limit /= 2;
                    continue;
                }
            };
            let part = self.piece(&piece, expected, unequal)?;
            whole.comparable += part.comparable;
            whole.not_comparable += part.not_comparable;
            if part.difference.is_some() {
                whole.difference = part.difference;
                break;
            }
            begin = next;
        }
        Ok(whole)
    }

    /// Compares a piece. `expected` gets the bytes that the statements as written leave, `unequal` a bit for each of
    /// them that differs in a second run.
    fn piece(
        &mut self,
        piece: &[(usize, Range<u64>)],
        mut expected: Vec<u8>,
        mut unequal: Vec<u8>,
    ) -> Step<Comparison> {
        self.run_written(PATTERNS[0])?;
        let mut at = 0;
        for (range, bytes) in piece {
            let end = at + host_len(bytes);
            self.streams.read(self.written_range(*range, bytes), &mut expected[at..end])?;
            at = end;
        }
        self.run_written(PATTERNS[1])?;
        let mut not_comparable = 0;
        self.each_chunk(piece, true, |first, chunk, _| {
            let known = &expected[first..first + chunk.len()];
            if known != chunk {
                for (at, _) in known.iter().zip(chunk).enumerate().filter(|(_, (one, other))| one != other) {
                    unequal[(first + at) / 8] |= 1 << ((first + at) % 8);
                    not_comparable += 1;
                }
            }
            None::<()>
        })?;
        let mut difference = None;
        for launch in 1..=LAUNCHES {
            self.saved.restore()?;
            let ran = self.verified.run(self.driver, self.exec, self.stream);
            if let Err(failure) = ran {
                // The failure of the launch is the one to return.
                let _ = self.verified.free(self.driver, self.stream);
                return Err(failure.into());
            }
            let compared = self.each_chunk(piece, false, |first, chunk, from| {
                let known = &expected[first..first + chunk.len()];
                if known == chunk {
                    return None;
                }
                let differs = |at: usize| {
                    let is_comparable = unequal[(first + at) / 8] & 1 << ((first + at) % 8) == 0;
                    is_comparable && known[at] != chunk[at]
                };
                let at = (0..chunk.len()).find(|&at| differs(at))?;
                let Compared { buffer, offset, element, .. } = *from.0;
                let index = wide(at) / element;
                let start = host(index * element);
                let end = (start + host(element)).min(chunk.len());
                Some(FoundDifference {
                    buffer,
                    element: (offset + from.1) / element + index,
                    expected: known[start..end].to_vec(),
                    found: chunk[start..end].to_vec(),
                    launch,
                })
            });
            self.verified.free(self.driver, self.stream)?;
            difference = compared?;
            if difference.is_some() {
                break;
            }
        }
        Ok(Comparison { comparable: len(&expected) - not_comparable, not_comparable, difference })
    }

    /// Runs the statements as written on the saved bytes.
    fn run_written(&mut self, pattern: u8) -> Step<()> {
        self.saved.restore()?;
        self.written.overwrite(pattern)?;
        self.written.run(self.stream)?;
        Ok(())
    }

    fn written_range(&self, range: usize, bytes: &Range<u64>) -> MemoryRange {
        let Compared { verified, written, .. } = self.list[range];
        MemoryRange {
            address: written + bytes.start,
            bytes: bytes.end - bytes.start,
            device: verified.device,
        }
    }

    /// Reads the bytes of a piece in chunks of whole elements, from the graph of the statements as written or from the
    /// verified one, until `found` returns a value. `found` gets the position of a chunk in the piece, its bytes, its
    /// range, and its offset in that range.
    fn each_chunk<T>(
        &self,
        piece: &[(usize, Range<u64>)],
        of_written: bool,
        mut found: impl FnMut(usize, &[u8], (&Compared, u64)) -> Option<T>,
    ) -> Step<Option<T>> {
        let mut buffer = Vec::new();
        let mut first = 0;
        for (at, bytes) in piece {
            let range = &self.list[*at];
            let address = if of_written { range.written } else { range.verified.address };
            let mut from = bytes.start;
            while from < bytes.end {
                let size = whole_elements(CHUNK, range.element).min(bytes.end - from);
                if len(&buffer) < size {
                    buffer = host_buffer(size)?;
                }
                let chunk = &mut buffer[..host(size)];
                let device = range.verified.device;
                self.streams.read(MemoryRange { address: address + from, bytes: size, device }, chunk)?;
                if let Some(value) = found(first, chunk, (range, from)) {
                    return Ok(Some(value));
                }
                first += chunk.len();
                from += size;
            }
        }
        Ok(None)
    }
}

/// A position in the list of compared ranges.
#[derive(Clone, Copy, Default)]
struct Position {
    range: usize,
    offset: u64,
}

/// Returns up to `limit` bytes of the ranges from `begin` on, as parts of whole elements, and the position after them.
fn take_piece(list: &[Compared], begin: Position, limit: u64) -> (Vec<(usize, Range<u64>)>, Position) {
    let (mut piece, mut at, mut left) = (Vec::new(), begin, limit);
    while let Some(range) = list.get(at.range) {
        let fits = whole_elements(left, range.element);
        let fits = if left < range.element && !piece.is_empty() { 0 } else { fits };
        let end = range.verified.bytes.min(at.offset.saturating_add(fits));
        if end > at.offset {
            piece.push((at.range, at.offset..end));
        }
        left = left.saturating_sub(end - at.offset);
        if end < range.verified.bytes {
            return (piece, Position { offset: end, ..at });
        }
        at = Position { range: at.range + 1, offset: 0 };
    }
    (piece, at)
}

/// Returns the largest multiple of an element's size up to `bytes`, but at least one element.
fn whole_elements(bytes: u64, element: u64) -> u64 {
    let element = element.max(1);
    (bytes - bytes % element).max(element)
}

fn host(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn host_len(bytes: &Range<u64>) -> usize {
    host(bytes.end - bytes.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuweave_core::ir::Device;

    fn range(bytes: u64, element: u64) -> Compared {
        let verified = MemoryRange { address: 0, bytes, device: Some(Device::FIRST) };
        Compared { buffer: BufferId::from_u32(0), offset: 0, element, verified, written: 0 }
    }

    /// Pieces have whole elements, and cover all ranges once.
    #[test]
    fn pieces_cover_all_bytes_once() {
        let list = [range(40, 4), range(12, 12), range(7, 1), range(36, 12)];
        for limit in 1..100 {
            let (mut begin, mut covered) = (Position::default(), vec![0; list.len()]);
            while begin.range < list.len() {
                let (piece, next) = take_piece(&list, begin, limit);
                assert!(!piece.is_empty(), "limit {limit}");
                let bytes: u64 = piece.iter().map(|(_, bytes)| bytes.end - bytes.start).sum();
                assert!(bytes <= limit || piece.len() == 1 && bytes == list[piece[0].0].element, "{piece:?}");
                for (at, bytes) in piece {
                    assert_eq!(covered[at], bytes.start);
                    assert_eq!((bytes.end - bytes.start) % list[at].element, 0);
                    covered[at] = bytes.end;
                }
                begin = next;
            }
            assert_eq!(covered, [40, 12, 7, 36]);
        }
    }
}
