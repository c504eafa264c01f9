//! Stage 4: which memory each buffer lies in.
//!
//! Invariants of a [`Layout`]:
//! - a buffer with a life that begins here has a place inside a memory, outputs in a memory of their own;
//! - two buffers share bytes only if one is over before the other begins ([`Placed::before`]).

use crate::emit::Layout;
use crate::ir::{BufferId, Memory, Program};
use crate::operation::{MemoryBlock, Place};
use crate::place::Placed;

/// Why sizes cannot be laid out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Length times element size leaves 64 bits.
    #[error("the size of `{buffer}` overflows: {len} elements of {element} bytes")]
    Overflow {
        /// The buffer.
        buffer: String,
        /// Its length.
        len: u64,
        /// Bytes of an element.
        element: u32,
    },
}

/// Lays the buffers out.
///
/// # Errors
///
/// [`LayoutError`].
pub fn lay_out(
    program: &Program,
    dims: &[u64],
    placed: &Placed,
    memory: Memory,
) -> Result<Layout, LayoutError> {
    let _ = memory;
    let mut layout = Layout::default();
    for (buffer, declared) in program.buffers.iter().enumerate() {
        let place = match &placed.lives[buffer] {
            Some(life) if life.allocated => {
                let bytes = bytes(program, dims, buffer as BufferId)?;
                layout.memories.push(MemoryBlock { bytes, name: declared.name.clone(), node: true });
                Place::Inside { memory: layout.memories.len() as u32 - 1, offset: 0 }
            }
            Some(_) => Place::Bound,
            None if matches!(declared.origin, crate::ir::Origin::Alloc(_)) => Place::Nowhere,
            None => Place::Bound,
        };
        layout.places.push(place);
    }
    Ok(layout)
}

/// The size of a buffer.
///
/// # Errors
///
/// [`LayoutError::Overflow`].
pub fn bytes(program: &Program, dims: &[u64], buffer: BufferId) -> Result<u64, LayoutError> {
    let declared = &program.buffers[buffer as usize];
    let len = dims[declared.len as usize];
    len.checked_mul(u64::from(declared.element)).ok_or_else(|| LayoutError::Overflow {
        buffer: declared.name.to_string(),
        len,
        element: declared.element,
    })
}
