//! Graphs that are known only when the program runs: the statements of graph functions as calls.
//!
//! - `size`: scalars, and expressions over them; `handle`: names of buffers and statements, and arguments; `config`: launch
//!   configurations; `bound`: what arguments are bound to;
//! - `declarations`, `statements`, `conditions`, `hints`: the methods; `launches`, `calls`: the checks of their arguments; `arms`: the
//!   bodies of conditions; `meetings`: the methods and checks of host statements, events, flags and semaphores; `program`: the program so far; `words`: messages;
//! - `lower`: from there to the table that the macro prints for a graph function, checked as the macro checks; `code`: its
//!   statements as the build evaluates them. From there on the path is that of graph functions;
//! - `exec`: launches and setters by handles.

mod arms;
mod bound;
mod calls;
mod code;
mod conditions;
mod config;
mod declarations;
mod exec;
mod handle;
mod hints;
mod launches;
mod lower;
mod meetings;
mod program;
mod size;
mod statements;
mod words;

pub use arms::Decision;
pub use bound::{Bindable, Storable};
pub use code::Args;
pub use conditions::{Match, ToDecision, ToValues};
pub use config::{Configuration, Items, ToConfiguration, ToExtents};
pub use declarations::Builder;
pub use exec::{Exec, Launched};
pub use handle::{
    Argument, Handle, Ordered, Statement, ToArgument, ToArguments, ToBuffer, UpdatedByAtomics, View,
};
pub use meetings::{HostArgument, HostFunction, Reads, ToFlag, Writes};
pub use size::{Integer, Scalar, Size, ToSize};
