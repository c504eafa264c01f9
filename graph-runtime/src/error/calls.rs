//! The faults of library calls.

use std::fmt;

/// The reason that a library call cannot be part of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallFault {
    /// The body returned an error, whose text this is.
    Returned(String),
    /// The body panicked with this message.
    Panicked(String),
    /// The body enqueued nothing in its stream, and declares that it writes this parameter.
    Nothing {
        /// The parameter.
        parameter: String,
    },
    /// The body allocates or frees memory in its stream.
    Allocates,
    /// The call stands in a body that the device decides about, and captured a node that cannot.
    InBody {
        /// The body, such as `match which: 0 | 1`.
        body: String,
    },
    /// The body used another stream, which its own does not wait for in the end.
    Unjoined,
    /// The body made a call that cannot be captured.
    Invalidated {
        /// The error that the body returned, if it did.
        said: Option<String>,
    },
    /// The body ended the capture of its stream, or began another one.
    Ended,
    /// The body enqueued work that does not come after the statements before the call.
    Detached,
    /// The body added work to the graph that its stream does not wait for in the end: what comes after the call would not come after it.
    Dangling,
    /// The body left another context current.
    OtherContext,
    /// A parameter has another length than it had when memory was planned: an expression has another value each time.
    Resized {
        /// The parameter.
        parameter: String,
        /// The length that was planned.
        planned: u64,
        /// The length now.
        now: u64,
    },
    /// The ranks of a communicator would not run the same collectives in the same order.
    Disagreement {
        /// The first difference, on both sides.
        text: String,
    },
    /// A collective stands in a body that the device decides about.
    CollectiveInBody {
        /// The body, such as `if flag`.
        body: String,
    },
    /// A rank's collective comes after work that another rank's collective is in front of.
    Crossed {
        /// The number of a device that would wait for ever.
        device: usize,
        /// The collective that it would wait in.
        text: String,
    },
    /// The body of a `#[call(collective)]` describes none.
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
                "the library call enqueued nothing in its stream, and declares that it writes `{parameter}`; work in another stream is not part of the graph"
            ),
            CallFault::Allocates => f.write_str(
                "the library call allocates or frees memory in its stream; memory for a call is a parameter of it, `scratch: [T; len]`",
            ),
            CallFault::InBody { body } => write!(
                f,
                "the library call captured a host function, an event or a memory operation, which the body `{body}` does not hold"
            ),
            CallFault::Unjoined => f.write_str(
                "the library call enqueued work in another stream, and its own stream does not wait for it",
            ),
            CallFault::Invalidated { said } => {
                f.write_str("the library call did what cannot be captured, such as a wait on the host or an allocation")?;
                said.as_ref().map_or(Ok(()), |said| write!(f, ": {said}"))
            }
            CallFault::Ended => f.write_str("the library call ended the capture of its stream"),
            CallFault::Detached => {
                f.write_str("the library call enqueued work that does not come after what its stream waits for")
            }
            CallFault::Dangling => f.write_str(
                "the library call added work to the graph that its stream does not wait for in the end",
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
                "a collective cannot stand in the body `{body}`: the device of each rank decides alone, and the others would wait for ever for one that decides otherwise"
            ),
            CallFault::Crossed { device, text } => write!(
                f,
                "device {device} would wait for ever in `{text}`: on another device the same collective comes after what is behind it here"
            ),
            CallFault::NoCollective => f.write_str("the library call describes no collective"),
            CallFault::LentTwice { parameter } => {
                write!(f, "the resource `{parameter}` is passed to the library call twice")
            }
        }
    }
}
