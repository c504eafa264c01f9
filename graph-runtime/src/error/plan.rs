//! The faults of plans: a graph function, its plan and its arguments do not fit together.

use super::execs::{SetterFault, SwitchFault};
use super::parts::VariableFault;
use cuweave_core::compile::BackError;
use cuweave_core::location::SourceLocation;
use cuweave_core::operation::OperationId;
use cuweave_core::reach::Cycle;

/// The reason why a plan cannot be made or added. Most are bugs of cuweave, or come from code that another
/// version generated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanFault {
    /// The table of the graph function cannot be read.
    #[error("the graph function is of another version of cuweave")]
    OtherVersion,
    /// The graph function was never entered.
    #[error("the graph function has no body")]
    NoBody,
    /// A module variable that is missing from its module, or has another size there.
    #[error("the variable `{variable}` of {path} {reason}")]
    #[non_exhaustive]
    Variable {
        /// The variable.
        variable: String,
        /// The module's file.
        path: String,
        /// The reason.
        reason: VariableFault,
    },
    /// A size that something fixed depends on.
    #[error("{at} cannot be a size: it {reason}")]
    #[non_exhaustive]
    FixedSize {
        /// The argument.
        at: SourceLocation,
        /// The reason.
        reason: SetterFault,
    },
    /// A statement without blocks or bytes at a size of 0, whose node cannot be disabled.
    #[error(
        "{at} has no blocks or bytes if the size `{size}` is 0, and its node cannot be disabled then: it {reason}; \
            give it at least one, or write no `#[at_least(0)]`"
    )]
    #[non_exhaustive]
    EmptyStatement {
        /// The statement.
        at: SourceLocation,
        /// The size.
        size: String,
        /// The reason.
        reason: SwitchFault,
    },
    /// A condition that kernels set decides about several bodies, and the driver has no node for them.
    #[error(
        "{at}: this `{word}` runs several bodies by one condition that kernels set, which needs {needed}; let a kernel \
            write the decision into a buffer `[u32; 1]`"
    )]
    #[non_exhaustive]
    OneCondition {
        /// The statement.
        at: SourceLocation,
        /// Its keyword.
        word: &'static str,
        /// The needed version.
        needed: &'static str,
    },
    /// A stage of the compiler failed.
    #[error("`{function}` ({file}): {reason}")]
    #[non_exhaustive]
    Stage {
        /// The graph function.
        function: String,
        /// Its file.
        file: String,
        /// The error of the stage.
        reason: BackError,
    },
    /// The table has an error that the expansion finds.
    #[error("{at}: {what}")]
    #[non_exhaustive]
    Malformed {
        /// The call, or the function.
        at: Box<SourceLocation>,
        /// The error.
        what: &'static str,
    },
    /// The order has a cycle.
    #[error("{0}")]
    Cyclic(Cycle),
    /// A record has no scalar of this name.
    #[error("`{record}` has no scalar `{field}`")]
    #[non_exhaustive]
    NoScalar {
        /// The record.
        record: String,
        /// The field.
        field: &'static str,
    },
    /// A graph function has no output with this index.
    #[error("`{function}` has no output {index}")]
    #[non_exhaustive]
    NoOutput {
        /// The graph function.
        function: String,
        /// The index of the output.
        index: usize,
    },
    /// More outputs are handed over than the graph function takes.
    #[error("`{0}` is handed more outputs than it takes")]
    TooManyOutputs(String),
    /// More buffers are bound than the graph function has.
    #[error("`{0}` binds too many buffers")]
    TooManyBuffers(String),
    /// An output is requested with another element type.
    #[error("{0} has elements of another type")]
    OtherElements(Box<SourceLocation>),
    /// The memory of an output has another type.
    #[error("{0} is of another type")]
    OtherType(Box<SourceLocation>),
    /// An argument is bound to pinned memory instead of device memory, or the other way round.
    #[error("{0} is bound to another kind of memory than declared")]
    OtherMemory(Box<SourceLocation>),
    /// Managed memory that cuweave does not track.
    #[error("managed memory has no state")]
    Untracked,
    /// An expression has no code in the table.
    #[error("`{function}` has no way to compute `{text}`")]
    #[non_exhaustive]
    NoCode {
        /// The graph function.
        function: String,
        /// The expression.
        text: String,
    },
    /// Generated code returned the wrong kind of answer to a question of the build.
    #[error("{0}: an answer to another question")]
    OtherAnswer(Box<SourceLocation>),
    /// A graph function is run as a library call.
    #[error("{0} is not a library call")]
    NoLibraryCall(String),
    /// A library call requests a parameter that it does not have.
    #[error("{at} has no parameter {index}")]
    #[non_exhaustive]
    NoParameter {
        /// The call.
        at: Box<SourceLocation>,
        /// The index of the parameter.
        index: u32,
    },
    /// A statement requests an access that it does not have.
    #[error("{at} has no access {index}")]
    #[non_exhaustive]
    NoAccess {
        /// The statement.
        at: Box<SourceLocation>,
        /// The index of the access.
        index: u32,
    },
    /// The words or buffers of a launch do not match the parameters of its kernel.
    #[error("{at} does not give what `{kernel}` takes")]
    #[non_exhaustive]
    OtherArguments {
        /// The launch.
        at: Box<SourceLocation>,
        /// The kernel.
        kernel: &'static str,
    },
    /// A statement has no record.
    #[error("{0} was not evaluated")]
    NotEvaluated(Box<SourceLocation>),
    /// The record of a statement is not a launch.
    #[error("{0} is no launch")]
    NoLaunch(Box<SourceLocation>),
    /// A host statement has no function.
    #[error("{0} has no function")]
    NoFunction(Box<SourceLocation>),
    /// An operation is not a batch of the plan.
    #[error("`{0}` is no batch of the plan")]
    NoBatch(String),
    /// A launch is not in any chain of the plan.
    #[error("{0} is no member of its chain")]
    NoMember(Box<SourceLocation>),
    /// A collective waits for a rank that is never added.
    #[error("{0} waits for what is never added")]
    NeverAdded(Box<SourceLocation>),
    /// A condition begins no body.
    #[error("`{0}` has no body")]
    BeginsNothing(String),
    /// A join ends no body.
    #[error("`{0}` ends no body")]
    EndsNothing(String),
    /// The arms of a choice have different dependencies outside of it.
    #[error("an arm of `{0}` depends on what another does not")]
    UnequalArms(String),
    /// No kernel can decide a condition.
    #[error("`{0}` has no condition, or lists too many values")]
    NoCondition(String),
    /// An edge leads into a body or out of it.
    #[error("an edge from `{from}` to `{to}` crosses the border of a body")]
    #[non_exhaustive]
    CrossesBody {
        /// The node outside or inside.
        from: String,
        /// The other one.
        to: String,
    },
    /// A test changes a plan, but the driver is not the simulator.
    #[error("only the simulated driver is given a changed plan")]
    NotSimulated,
    /// A plan that a test changed refers to something that does not exist.
    #[error("operation {0} of the changed plan cannot be added")]
    Changed(OperationId),
}
