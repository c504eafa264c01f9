//! The names that generated code uses.

pub use cudarc::driver::{CudaContext, CudaStream, CudaView, CudaViewMut, PinnedHostSlice};
pub use cuweave_runtime::private::*;

pub use crate::prelude::language::found;

/// The types that rust-analyzer shows in graph functions.
pub mod editor {
    pub use crate::editor::{DeviceBuffer, List, returned};
}
