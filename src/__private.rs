//! The names of generated code.

pub use cudarc::driver::{CudaContext, CudaStream, CudaView, CudaViewMut, PinnedHostSlice};
pub use cuweave_runtime::private::*;

pub use crate::prelude::language::found;
