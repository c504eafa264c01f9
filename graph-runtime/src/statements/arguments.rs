//! The arguments of a launch, in the order of the kernel's parameters.
//!
//! Generated code adds them one by one: the words of values, and for each buffer the number of elements that the
//! kernel accesses. `kinds/launch` writes the addresses of buffers later. Most launches fit into inline arrays.

use cudarc::driver::DeviceRepr;
use cuweave_core::index::size;

use crate::cuda::{self, Word};
use crate::error::Fault;
use crate::kernels::mark::{Mark, OptionalMark};

use super::dims::Dim;

/// The words and buffers that a launch holds without a heap allocation. A build evaluates thousands of launches.
const INLINE_WORDS: usize = 16;
const INLINE_BUFFERS: usize = 8;

/// The arguments of a launch, added in the order of the kernel's parameters.
#[derive(Debug)]
pub struct Arguments {
    /// The parameter values.
    words: [Word; INLINE_WORDS],
    word_count: usize,
    /// The number of elements that the kernel accesses of each buffer.
    extents: [u64; INLINE_BUFFERS],
    extent_count: usize,
    /// All words and extents, if they do not fit into the arrays.
    spilled: Option<Box<(Vec<Word>, Vec<u64>)>>,
    /// Bit mask of the absent buffers.
    pub(crate) absent: u64,
    /// The number of buffers whose index equals the index of their access in the statement.
    pub(crate) in_order: usize,
    /// The first buffer whose extent could not be computed.
    pub(crate) fault: Option<(usize, Fault)>,
    /// The pointer tables among the buffers.
    pub(crate) tables: Vec<TableArgument>,
}

/// A pointer table among the buffers of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableArgument {
    /// The index of its buffer.
    pub at: usize,
    /// The number of elements that the kernel accesses of each buffer in the table.
    pub extent: u64,
}

impl Arguments {
    /// Returns an empty list with capacity for `words` words and `buffers` buffers.
    #[inline]
    pub fn new(words: usize, buffers: usize) -> Arguments {
        let spilled = (words > INLINE_WORDS || buffers > INLINE_BUFFERS)
            .then(|| Box::new((Vec::with_capacity(words), Vec::with_capacity(buffers))));
        Arguments {
            words: [Word::uninit(); INLINE_WORDS],
            word_count: 0,
            extents: [0; INLINE_BUFFERS],
            extent_count: 0,
            spilled,
            absent: 0,
            in_order: 0,
            fault: None,
            tables: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn words(&self) -> &[Word] {
        match &self.spilled {
            None => &self.words[..self.word_count],
            Some(spilled) => &spilled.0,
        }
    }

    #[inline]
    pub(crate) fn extents(&self) -> &[u64] {
        match &self.spilled {
            None => &self.extents[..self.extent_count],
            Some(spilled) => &spilled.1,
        }
    }

    /// Adds a buffer. The kernel accesses its first `extent` elements.
    #[inline]
    pub fn buffer(&mut self, mark: impl Mark, extent: Dim) {
        let at = self.extent_count;
        self.extent_count += 1;
        self.in_order += usize::from(size(mark.access()) == at);
        let extent = extent.value().unwrap_or_else(|fault| {
            self.fault.get_or_insert((at, fault));
            0
        });
        match &mut self.spilled {
            None => self.extents[at] = extent,
            Some(spilled) => spilled.1.push(extent),
        }
        self.scalar(0u64);
    }

    /// Adds a buffer of which the kernel accesses `extent` elements, for the next access of the statement.
    pub(crate) fn next_buffer(&mut self, extent: u64) {
        self.extent_count += 1;
        self.in_order += 1;
        match &mut self.spilled {
            None => self.extents[self.extent_count - 1] = extent,
            Some(spilled) => spilled.1.push(extent),
        }
        self.scalar(0u64);
    }

    /// Adds the bytes of a scalar.
    pub(crate) fn bytes(&mut self, value: &[u8]) {
        let word = |bytes: &[u8]| {
            let mut all = [0; 8];
            all[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(all)
        };
        value.chunks(8).for_each(|bytes| self.scalar(word(bytes)));
        if value.is_empty() {
            self.scalar(0u64);
        }
    }

    /// Adds a table of `count` pointers to buffers. The kernel accesses `extent` elements of each of these buffers.
    pub fn table(&mut self, mark: impl Mark, count: Dim, extent: Dim) {
        let at = self.extent_count;
        let extent = extent.value().unwrap_or_else(|fault| {
            self.fault.get_or_insert((at, fault));
            0
        });
        self.tables.push(TableArgument { at, extent });
        self.buffer(mark, count);
    }

    /// Adds a buffer of which the kernel accesses `extent` elements, or a null pointer.
    pub fn optional_buffer(&mut self, mark: impl OptionalMark, extent: Dim) {
        match mark.given() {
            Some(mark) => self.buffer(mark, extent),
            None => {
                let at = self.extent_count + size(self.absent.count_ones());
                // A launch whose absent buffer follows 64 others is refused later: its words do not fit the kernel.
                if at < 64 {
                    self.absent |= 1 << at;
                    self.scalar(0u64);
                }
            }
        }
    }

    /// Adds a scalar.
    #[inline]
    pub fn scalar<T: Copy + DeviceRepr>(&mut self, value: T) {
        match &mut self.spilled {
            None => {
                let count = size_of::<T>().div_ceil(8).max(1);
                let room = &mut self.words[self.word_count..][..count];
                cuda::write_value(room, value);
                self.word_count += count;
            }
            Some(spilled) => cuda::push_value(&mut spilled.0, value),
        }
    }
}
