//! The driver's state: data under one lock, on which the modules above operate. Start at `store`.

pub mod capture;
pub mod conditions;
mod current;
pub mod definitions;
pub mod exec;
pub mod graph;
pub mod image;
pub mod linker;
pub mod members;
pub mod module;
pub mod operation;
pub mod placement;
mod resource;
pub mod schedule;
pub mod scopes;
mod store;

pub use current::{current_context, pop_context, push_context, set_current_context};
pub use resource::{Context, Descriptor, Event, Pool, Semaphore, Stream, UserObject};
pub use store::{State, state};
