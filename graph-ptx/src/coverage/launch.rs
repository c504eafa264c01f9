//! A launch to judge, the extents to cover, and the verdicts.

/// A launch whose writes are judged.
#[derive(Clone, Copy)]
pub struct Launch<'l> {
    /// The number of blocks in each dimension.
    pub grid: [u32; 3],
    /// The threads of a block in each dimension.
    pub block: [u32; 3],
    /// Returns the bits of a scalar parameter, by its index.
    pub scalar: &'l dyn Fn(u32) -> Option<u64>,
}

/// The elements of a parameter that must be written.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The number of elements.
    pub elements: u64,
    /// The size of an element in bytes.
    pub size: u32,
    /// True if elements have no padding: then an element with an unwritten byte is not written.
    pub dense: bool,
}

/// The part of a parameter that a launch writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every element.
    Covered,
    /// Not every element.
    Short {
        /// The number of written elements.
        written: u64,
        /// The first element that is not written.
        missing: u64,
    },
    /// Unknown, for this reason.
    Unknown(String),
}
