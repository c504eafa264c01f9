//! A launch to judge, the extents to cover, and the verdicts.

/// A launch to judge.
#[derive(Clone, Copy)]
pub struct Launch<'l> {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads a block.
    pub block: [u32; 3],
    /// The bits of a scalar parameter, by its index.
    pub scalar: &'l dyn Fn(u32) -> Option<u64>,
}

/// The elements of a parameter that have to be written.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Their number.
    pub elements: u64,
    /// The bytes of one.
    pub size: u32,
    /// Set where an element has no padding: a byte of it that nothing writes is missing then.
    pub dense: bool,
}

/// The part of a parameter that a launch writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every element.
    Covered,
    /// Not every element.
    Short {
        /// The number of those that are written.
        written: u64,
        /// The first one that is not.
        missing: u64,
    },
    /// Not known, and why.
    Unknown(String),
}
