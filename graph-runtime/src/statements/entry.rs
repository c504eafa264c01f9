//! The kernel that writes one entry of a pointer table. Generated code launches it once per entry.
//!
//! The launch passes the element as an empty range and takes only its address. The launch that uses the table
//! declares the accesses to the elements, and these order it.

use crate::kernels::item::KernelPath;
use crate::kernels::mark::Mark;
use crate::kernels::{ENTRY, Kernel, KernelItem};
use crate::token::Token;

use super::arguments::Arguments;
use super::dims::dim;

/// The item of the kernel, as users' kernels have one.
#[derive(Clone, Copy, Debug)]
pub struct PointerEntry;

/// The constant by which launches find the item.
pub const __ITEM: KernelPath<PointerEntry> = KernelPath(PointerEntry);

/// The launch configuration: one thread.
pub const ONE: (u32, u32) = (1, 1);

impl KernelItem for PointerEntry {
    fn kernel(_: Token) -> &'static Kernel {
        &ENTRY
    }
}

impl PointerEntry {
    /// Returns the arguments of a launch: the entry, and the element whose address is written to it.
    pub fn __launch(self, entry: impl Mark, element: impl Mark) -> Arguments {
        let mut arguments = Arguments::new(ENTRY.words, 2);
        arguments.buffer(entry, dim(1u32));
        arguments.buffer(element, dim(0u32));
        arguments
    }
}
