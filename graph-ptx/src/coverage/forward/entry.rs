//! The accesses of a chain of launches, and their changes.

use super::places::ThreadAddresses;
use crate::coverage::sites::ThreadAccess;

/// A changed load or store of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessChange {
    /// The byte offset of the instruction in the file.
    pub at: u32,
    /// The kernel parameter that it accesses memory through.
    pub parameter: u32,
    /// True if it stores.
    pub stores: bool,
    /// True if the access to memory remains.
    pub stays: bool,
    /// The register of each element, if any. An elided load becomes moves from these registers; every other access
    /// also sets them.
    pub cells: Vec<Option<u32>>,
}

/// An access of a chain.
#[derive(Debug)]
pub(super) struct ChainAccess<'m> {
    pub member: usize,
    /// The index among the member's sites; `None` if the access is not one of the known instructions.
    pub site: Option<usize>,
    pub buffer: u32,
    pub parameter: u32,
    pub stores: bool,
    /// The addresses of all threads; `None` if they are unknown.
    pub place: Option<ThreadAddresses>,
    pub element: Option<u32>,
    pub at: u32,
    pub touched: &'m [ThreadAccess],
    /// True if the instruction must not change.
    pub fixed: bool,
}

impl ChainAccess<'_> {
    /// Returns true if no thread makes the access.
    pub fn is_idle(&self) -> bool {
        self.site.is_some() && self.place.is_some() && self.touched.is_empty()
    }
}
