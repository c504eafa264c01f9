//! The reasons why a library call cannot be part of a graph.

use std::fmt;

/// The reason why a library call cannot be part of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallFault {
    /// The body returned an error with this text.
    Returned(String),
    /// The body panicked with this message.
    Panicked(String),
    /// The body enqueued nothing in its stream although it declares that it writes this parameter.
    Nothing {
        /// The parameter.
        parameter: String,
    },
    /// The body allocates or frees memory in its stream.
    Allocates,
    /// The call is in the body of a device-side conditional, and captured a node that such a body cannot contain.
    InBody {
        /// The body, such as `match which: 0 | 1`.
        body: String,
    },
    /// The body used another stream, and its own stream does not wait for it.
    Unjoined,
    /// The body made a call that cannot be captured.
    Invalidated {
        /// The error that the body returned, if any.
        said: Option<String>,
    },
    /// The body ended the capture of its stream, or began another one.
    Ended,
    /// The body enqueued work that does not come after the statements before the call.
    Detached,
    /// The body added work to the graph for which its stream does not wait. Later statements would not be
    /// ordered after it.
    Dangling,
    /// The body left another context current.
    OtherContext,
    /// A parameter's length changed after memory was planned, because an expression gives a new value each time.
    Resized {
        /// The parameter.
        parameter: String,
        /// The planned length.
        planned: u64,
        /// The length now.
        now: u64,
    },
    /// The ranks of a communicator would run different collectives, or run them in a different order.
    Disagreement {
        /// The first difference, with both sides.
        text: String,
    },
    /// A collective is in the body of a device-side conditional.
    CollectiveInBody {
        /// The body, such as `if flag`.
        body: String,
    },
    /// A rank's collective follows work that precedes the same collective on another rank.
    Crossed {
        /// The index of a device that would wait forever.
        device: usize,
        /// The collective in which it would wait.
        text: String,
    },
    /// The body of a `#[call(collective)]` describes no collective.
    NoCollective,
    /// A resource is passed to the call twice.
    LentTwice {
        /// The parameter.
        parameter: String,
    },
}

impl fmt::Display for CallFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallFault::Returned(text) => write!(f, "the library call failed: {text}"),
            CallFault::Panicked(text) => write!(f, "the library call panicked: {text}"),
            CallFault::Nothing { parameter } => write!(
                f,
                "the library call enqueued nothing in its stream, but declares that it writes `{parameter}`; work in \
                    another stream is not part of the graph"
            ),
            CallFault::Allocates => f.write_str(
                "the library call allocates or frees memory in its stream; memory for a call is a parameter of it, \
                    `scratch: [T; len]`",
            ),
            CallFault::InBody { body } => write!(
                f,
                "the library call captured a host function, an event or a memory operation, which the body `{body}` \
                    cannot contain"
            ),
            CallFault::Unjoined => f.write_str(
                "the library call enqueued work in another stream, and its own stream does not wait for it",
            ),
            CallFault::Invalidated { said } => {
                f.write_str("the library call made a call that cannot be captured, such as a wait on the host or an \
                    allocation")?;
                said.as_ref().map_or(Ok(()), |said| write!(f, ": {said}"))
            }
            CallFault::Ended => f.write_str("the library call ended the capture of its stream"),
            CallFault::Detached => {
                f.write_str("the library call enqueued work that does not come after what its stream waits for")
            }
            CallFault::Dangling => f.write_str(
                "the library call added work to the graph, and its stream does not wait for it",
            ),
            CallFault::OtherContext => f.write_str("the library call left another context current"),
            CallFault::Resized { parameter, planned, now } => write!(
                f,
                "`{parameter}` of the library call has {now} elements, and had {planned} when the memory was planned"
            ),
            CallFault::Disagreement { text } => {
                write!(f, "the ranks differ, and would wait for each other for ever: {text}")
            }
            CallFault::CollectiveInBody { body } => write!(
                f,
                "a collective cannot be in the body `{body}`: each rank's device decides alone, and ranks that decide \
                    differently would wait for each other forever"
            ),
            CallFault::Crossed { device, text } => write!(
                f,
                "device {device} would wait forever in `{text}`: on another device, the same collective runs after \
                    work that follows it here"
            ),
            CallFault::NoCollective => f.write_str("the library call describes no collective"),
            CallFault::LentTwice { parameter } => {
                write!(f, "the resource `{parameter}` is passed to the library call twice")
            }
        }
    }
}
