//! The names that generated code uses.

pub use cudarc::driver::{CudaContext, CudaStream, CudaView, CudaViewMut, PinnedHostSlice};
pub use cuweave_runtime::private::*;

pub use crate::editor;
pub use crate::prelude::language::found;
