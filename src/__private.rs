//! The names of generated code.

pub use cudarc::driver::{CudaContext, CudaStream, CudaView, CudaViewMut, PinnedHostSlice};
pub use cuweave_core::runtime::private::*;

pub use crate::prelude::language::found;
