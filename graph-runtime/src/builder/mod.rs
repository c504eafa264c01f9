//! Builds graphs that are known only at run time: the statements of graph functions as method calls.
//!
//! The methods collect a `Program`. `lower` turns it into the table that the macro prints for a graph function, and
//! checks it with the macro's checks. From there on, a builder's graph takes the path of graph functions.
//!
//! - `size`: scalars and expressions over them; `handle`, `rows`: names of buffers and statements, and arguments;
//!   `size_checks`: the scalars with a largest value; `config`: launch configurations; `bound`: the buffers bound to
//!   arguments; `hint`: hints about them;
//! - `declarations`, `statements`, `conditions`, `hints`: the methods; `launches`, `calls`: the checks of
//!   their arguments; `arms`: the bodies of conditions; `events`: host statements, events, flags and
//!   semaphores; `program`: the program so far; `messages`: messages;
//! - `lower`: the table and the checks; `code`: the statements as the build evaluates them;
//! - `exec`, `edit`: launches and setters by handles; `captured`: the statements of captured graphs.

mod arms;
mod bound;
mod calls;
mod captured;
mod code;
mod conditions;
mod config;
mod declarations;
mod edit;
mod events;
mod exec;
mod handle;
mod hint;
mod hints;
mod launches;
mod lower;
mod messages;
mod own_conditions;
mod program;
mod rows;
mod size;
mod size_checks;
mod statements;

pub use arms::Decision;
pub use bound::{Bindable, Storable};
pub use captured::{CapturedKernelSetter, ParameterValue};
pub(crate) use captured::{CapturedLaunch, KeptCall};
pub use code::Args;
pub(crate) use code::{CapturedArguments, ValueCheck};
pub use conditions::{Match, ToDecision, ToValues};
pub use config::{Configuration, Items, ToConfiguration, ToExtents};
pub use declarations::Builder;
pub use edit::Edit;
pub use events::{HostArgument, HostFunction, Reads, ToFlag, Writes};
pub use exec::{Exec, LaunchOutputs};
pub use handle::{
    Argument, Handle, Rows, Statement, StatementRef, ToArgument, ToArguments, ToAtomic, ToBuffer, View,
};
pub use size::{Integer, Scalar, Size, ToSize};
