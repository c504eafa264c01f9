//! Kernels: their declarations, the modules that they are loaded from, and the facts about their launches.
//!
//! - `param`, `declaration`, `item`, `mark`: declarations in generated code; `record`: a launch's configuration
//!   and values;
//! - `image`, `text`, `function`, `module`, `modules`: files, their properties, and their loading into
//!   contexts;
//! - `code`, `store`: machine code from PTX, cached in memory and on disk; `stores`: the stores of a kernel;
//! - `variants`, `batched`: batched variants of kernels; `fitting`: the choice of a variant by its resources;
//! - `fusing`, `located`, `forwarding`: fused kernels; `notes`: the last launches that used a module's
//!   variables; `variable`, `values`: those that the host sets;
//! - `limits`, `coverage`, `spans`: checks that the device supports a launch, that it writes all elements, and
//!   that it accesses nothing outside of its buffers;
//! - `facts`: the properties of launches that launch decisions use.

mod batched;
mod code;
mod coverage;
mod declaration;
mod facts;
mod fitting;
mod forwarding;
mod function;
mod fusing;
mod image;
pub mod item;
mod limits;
mod located;
pub mod mark;
mod module;
mod modules;
mod notes;
mod param;
mod record;
mod spans;
mod store;
mod stores;
mod text;
mod values;
mod variable;
mod variants;

pub use code::change_code;
pub(crate) use coverage::Finding;
pub use declaration::{Kernel, KernelItem};
pub(crate) use facts::{ChangingLaunches, DeviceKernel, DeviceTarget};
pub(crate) use fusing::SetParameters;
pub use limits::DeviceLimits;
pub(crate) use module::LoadedModule;
pub use module::{Loaded, Module, load};
pub use modules::Modules;
pub(crate) use modules::{
    COPY_ROWS, ENTRY, FILL_ROWS, FILL64, HUB, SET_CONDITION, SET_CONDITIONS, SET_LOOP, STAMP,
};
pub(crate) use notes::{LaunchNote, VariableUses, drop_completed};
pub use param::{AtomicUpdates, Param, ParamKind};
pub(crate) use record::LaunchRecord;
pub(crate) use spans::OutsideAccess;
pub use store::{CodeCache, set_code_cache};
pub(crate) use stores::stores;
pub(crate) use text::programmatic;
pub use variable::{ReadVariable, Variable, variable};
pub(crate) use variants::{BatchedVariant, FusedKernel};
