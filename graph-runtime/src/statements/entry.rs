//! The kernel that writes an entry of a table of pointers, as generated code launches it: once for each entry.
//!
//! Its element is lent by an empty range, so that its address alone is taken: the launch that is given the table
//! accesses the elements, and is ordered by them.

use crate::kernels::item::KernelPath;
use crate::kernels::mark::Mark;
use crate::kernels::{ENTRY, Kernel, KernelItem};
use crate::token::Token;

use super::arguments::Arguments;
use super::dims::dim;

/// The item of the kernel.
#[derive(Clone, Copy, Debug)]
pub struct PointerEntry;

/// The constant by which launches find the item.
pub const __ITEM: KernelPath<PointerEntry> = KernelPath(PointerEntry);

/// The configuration of its launches.
pub const ONE: (u32, u32) = (1, 1);

impl KernelItem for PointerEntry {
    fn kernel(_: Token) -> &'static Kernel {
        &ENTRY
    }
}

impl PointerEntry {
    /// Returns the arguments of a launch: the entry, and the element whose address it becomes.
    pub fn __launch(self, entry: impl Mark, element: impl Mark) -> Arguments {
        let mut arguments = Arguments::new(ENTRY.words, 2);
        arguments.buffer(entry, dim(1u32));
        arguments.buffer(element, dim(0u32));
        arguments
    }
}
