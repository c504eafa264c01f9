//! The accesses of a chain.

use super::places::Place;
use crate::coverage::sites::Touched;

/// A changed load or store of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The first byte of the instruction.
    pub at: u32,
    /// The parameter of the kernel that it accesses memory through.
    pub parameter: u32,
    /// True if it stores.
    pub stores: bool,
    /// True if memory is still accessed.
    pub stays: bool,
    /// The register of each element, if it has one. A load that is removed becomes moves from these registers; every
    /// other access sets them.
    pub cells: Vec<Option<u32>>,
}

/// An access of a chain.
#[derive(Debug)]
pub(super) struct Entry<'m> {
    pub member: usize,
    /// Its index among the sites of the member; `None` for an access that is not one of the known instructions.
    pub site: Option<usize>,
    pub buffer: u32,
    pub parameter: u32,
    pub stores: bool,
    /// The addresses of all threads; `None` if they are not known.
    pub place: Option<Place>,
    pub element: Option<u32>,
    pub at: u32,
    pub touched: &'m [Touched],
    /// True if the instruction stays as it is.
    pub fixed: bool,
}

impl Entry<'_> {
    /// Returns true if no thread makes the access.
    pub fn is_idle(&self) -> bool {
        self.site.is_some() && self.place.is_some() && self.touched.is_empty()
    }
}
