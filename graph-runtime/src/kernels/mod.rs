//! Kernels: their declarations, the modules that they are loaded from, and their recorded launches.
//!
//! - `param`, `declaration`, `item`, `mark`: the declarations in generated code; `shape`, `record`: a launch's configuration and values;
//! - `image`, `text`, `function`, `module`, `modules`: files, their loads in a context, and those of one graph;
//! - `code`, `store`: machine code of PTX, kept in memory and on disk;
//! - `variants`, `batched`: batched variants of kernels; `fitting`: the choice of one by its resources;
//! - `fusing`: fused kernels; `notes`: the last launches that used a module's variables;
//! - `limits`, `coverage`, `spans`: the checks that the device supports a launch, that its threads write all elements
//!   and that they access none outside; `facts`: the properties of launches that launch decisions use;
//!   `left_alone`: the allowed changes that are not made.

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
mod text;
mod variants;

pub(crate) use coverage::Finding;
pub use declaration::{Kernel, KernelItem};
pub(crate) use facts::{Changing, DeviceKernel, DeviceTarget};
pub use limits::Limits;
pub(crate) use module::LoadedModule;
pub use module::{Loaded, Module, load};
pub use modules::Modules;
pub(crate) use modules::{ENTRY, FILL64, HUB, SET_CONDITION, SET_CONDITIONS, SET_LOOP, STAMP};
pub(crate) use notes::{Note, Variable, forget_the_finished};
pub use param::{Param, ParamKind, Updates};
pub(crate) use record::LaunchRecord;
pub(crate) use spans::Outside;
pub use store::{CodeCache, set_code_cache};
pub(crate) use text::programmatic;
pub(crate) use variants::{Fused, Variant};
