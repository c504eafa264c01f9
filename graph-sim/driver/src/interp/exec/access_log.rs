//! Access records for conflict detection: the last accesses to each word of memory, and the times of the blocks'
//! ordering events.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The accesses to a word of shared memory since the last barrier. Each byte holds a warp number plus one.
#[derive(Clone, Copy, Default)]
pub struct SharedWord {
    pub epoch: u32,
    pub writers: u32,
    /// In the same encoding, with 255 for several warps.
    pub readers: u32,
}

impl SharedWord {
    /// Records an access to bytes of the word by a warp, given as its number plus one. Returns a warp with which
    /// the access conflicts.
    #[inline]
    pub fn touch(&mut self, me: u8, bytes: u64, writes: bool) -> Option<u8> {
        let mask = BYTE_MASKS[bytes as usize];
        let mine = (u32::from(me) * 0x0101_0101) & mask;
        let other = |warps: u32| {
            let warps = warps & mask;
            if warps == 0 || warps == mine {
                return None;
            }
            warps.to_le_bytes().into_iter().find(|&warp| warp != 0 && warp != me)
        };
        let written = other(self.writers);
        let read = other(self.readers);
        if writes {
            self.writers = self.writers & !mask | mine;
            return written.or(read);
        }
        if read.is_none() {
            self.readers = self.readers & !mask | mine;
            return written;
        }
        let mut readers = self.readers.to_le_bytes();
        for (reader, of) in readers.iter_mut().zip(mask.to_le_bytes()).filter(|(_, of)| *of != 0) {
            *reader = if *reader == 0 || *reader == me { me & of } else { u8::MAX };
        }
        self.readers = u32::from_le_bytes(readers);
        written
    }
}

/// The bytes of a word for each 4-bit mask.
const BYTE_MASKS: [u32; 16] = {
    let mut all = [0; 16];
    let mut mask = 0;
    while mask < 16 {
        let mut byte = 0;
        while byte < 4 {
            if mask >> byte & 1 == 1 {
                all[mask] |= 0xff << (8 * byte);
            }
            byte += 1;
        }
        mask += 1;
    }
    all
};

/// An access packed into 64 bits: its time, the mask of its bytes in the word, a bit for strong accesses, and its
/// warp. 0 for no access.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccessRecord(pub u64);

/// The maximum number of warps of a launch that is checked.
pub const MAX_WARPS: u64 = (1 << 27) - 2;

impl AccessRecord {
    #[inline]
    pub fn new(warp: u64, strong: bool, mask: u64, time: u32) -> Self {
        AccessRecord((warp + 1) << 37 | u64::from(strong) << 36 | mask << 32 | u64::from(time))
    }

    #[inline]
    pub fn time(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    pub fn mask(self) -> u64 {
        self.0 >> 32 & 15
    }

    #[inline]
    pub fn strong(self) -> bool {
        self.0 >> 36 & 1 == 1
    }

    #[inline]
    /// Returns the number of the warp in the grid. The record must not be empty.
    pub fn warp(self) -> u64 {
        (self.0 >> 37).wrapping_sub(1)
    }
}

/// The accesses to a word of global memory: the last write, and one read since the last event of the reader's
/// block.
#[derive(Default)]
pub struct GlobalWord {
    pub written: AtomicU64,
    pub read: AtomicU64,
}

/// The bytes of memory that a page of words covers.
pub const PAGE: u64 = 4096;
type WordPage = Arc<[GlobalWord]>;
/// The maximum number of pages of a launch that are checked. The records take four times as much memory as the
/// pages.
const MAX_PAGES: usize = 1 << 16;

/// The events of blocks are stored by the block's number modulo this. Blocks that share a slot count as having
/// had all of its events.
const BLOCK_SLOTS: u64 = 1 << 16;
/// The last valid time. Accesses after it are not checked.
pub const LAST_TIME: u64 = u32::MAX as u64 - 1;

/// The access records of a launch for global memory.
pub struct AccessLog {
    pub clock: AtomicU64,
    /// The time of each block's last event that may order it with other blocks.
    met: Box<[AtomicU32]>,
    count: AtomicUsize,
    pages: [Mutex<HashMap<u64, WordPage>>; 16],
}

impl AccessLog {
    /// Returns empty records for a launch; `None` if it has a single warp or too many.
    pub fn new(blocks: u64, warps: u64) -> Option<Self> {
        let all = blocks.saturating_mul(warps);
        if !(2..=MAX_WARPS).contains(&all) {
            return None;
        }
        let met = (0..blocks.min(BLOCK_SLOTS)).map(|_| AtomicU32::new(0)).collect();
        let (clock, count) = (AtomicU64::new(1), AtomicUsize::new(0));
        Some(AccessLog { clock, met, count, pages: Default::default() })
    }

    /// Advances the clock and returns the new time.
    #[inline]
    pub fn tick(&self) -> u32 {
        (self.clock.fetch_add(1, Ordering::SeqCst) + 1).min(LAST_TIME + 1) as u32
    }

    /// Returns the time of the last event of a block that may order it with other blocks.
    #[inline]
    pub fn met(&self, block: u64) -> &AtomicU32 {
        &self.met[(block % BLOCK_SLOTS) as usize]
    }

    /// Returns a page of words; `None` if the launch has too many pages.
    pub fn page(&self, number: u64) -> Option<WordPage> {
        let part = &self.pages[(number % 16) as usize];
        let mut pages = part.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = pages.get(&number) {
            return Some(Arc::clone(page));
        }
        if self.count.fetch_add(1, Ordering::Relaxed) >= MAX_PAGES {
            self.count.store(MAX_PAGES, Ordering::Relaxed);
            return None;
        }
        let fresh: WordPage = (0..PAGE / 4).map(|_| GlobalWord::default()).collect();
        pages.insert(number, Arc::clone(&fresh));
        Some(fresh)
    }
}

/// The pages that a host thread used last.
pub struct PageCache([Option<(u64, Option<WordPage>)>; 64]);

impl PageCache {
    pub fn new() -> Self {
        PageCache([const { None }; 64])
    }

    #[inline]
    pub fn get(&mut self, watch: &AccessLog, number: u64) -> Option<&WordPage> {
        let slot = &mut self.0[(number % 64) as usize];
        if slot.as_ref().is_none_or(|page| page.0 != number) {
            *slot = None;
        }
        slot.get_or_insert_with(|| (number, watch.page(number))).1.as_ref()
    }
}
