//! The faults of verifications, and the differences that they find.

use std::fmt;

use cuweave_core::location::SourceLocation;

/// A graph that cannot be verified, or one that does not compute what its statements do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerificationFault {
    /// The graph cannot be launched repeatedly with the same bytes.
    #[error("`{function}` cannot be verified: {obstacle}")]
    #[non_exhaustive]
    Refused {
        /// The graph function.
        function: String,
        /// The reason.
        obstacle: VerificationObstacle,
    },
    /// The graph and its statements as written give different bytes. Returned by the first launch of an exec with
    /// the environment variable `CUWEAVE_VERIFY=1`.
    #[error(
        "`{function}` does not compute what its statements do: {difference}
  = note: this is a mistake of cuweave or of the driver, not of the program: please report it with the text of \
            `certificate()`
  = help: `#[graph(launches = \"as-written\")]` may avoid it"
    )]
    #[non_exhaustive]
    Differs {
        /// The graph function.
        function: String,
        /// The first difference.
        difference: Difference,
    },
    /// The PTX of the kernels does not agree with their declarations. Returned by the first launch of an exec with the environment variable `CUWEAVE_VERIFY=lift`.
    #[error(
        "the graph of `{function}`, lifted without its declarations: {why}
  = note: a declaration, or what cuweave infers, is wrong"
    )]
    #[non_exhaustive]
    Lifted {
        /// The graph function.
        function: String,
        /// The finding, or the first difference.
        why: String,
    },
}

/// The reason why a graph cannot be verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerificationObstacle {
    /// A host statement, whose effects cannot be undone.
    #[error("{0} is a host statement, whose effects on the host cannot be undone")]
    Host(Box<SourceLocation>),
    /// An event record or wait, which other streams would notice.
    #[error("{0} records or waits for an event, which other streams would notice")]
    Event(Box<SourceLocation>),
    /// A wait for a flag, or a write of one.
    #[error("{0} waits for or writes a flag, whose value would advance")]
    Flag(Box<SourceLocation>),
    /// A wait for a semaphore, or a signal.
    #[error("{0} waits for or signals a semaphore, whose value would advance")]
    Semaphore(Box<SourceLocation>),
    /// A node of a captured graph that is kept, whose effects are not known.
    #[error("{0} is kept as it was captured, and what it writes is not known")]
    Kept(Box<SourceLocation>),
    /// A collective, which all ranks would have to verify together.
    #[error("{0} is a collective, which other ranks would have to join")]
    Collective(Box<SourceLocation>),
    /// An argument that is a mapped multicast object, whose devices may have memory that is no argument.
    #[error("{0} is a mapped multicast object, and reaches memory that is not an argument")]
    Multicast(Box<SourceLocation>),
    /// A kernel that writes a module variable.
    #[error("{at} writes the module variable `{variable}`, which cannot be restored")]
    #[non_exhaustive]
    ModuleVariable {
        /// The launch.
        at: Box<SourceLocation>,
        /// The variable.
        variable: String,
    },
}

/// The first element whose bytes differ between a graph and its statements as written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The buffer: an argument, or an output.
    pub buffer: Box<SourceLocation>,
    /// The index of the element in the buffer.
    pub element: u64,
    /// The value that the statements as written compute.
    pub expected: ElementValue,
    /// The value that the graph computes.
    pub found: ElementValue,
    /// The launch of the graph that gave it, counted from 1.
    pub launch: u32,
    /// The cause of the difference.
    pub cause: DifferenceCause,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { buffer, element, expected, found, launch, cause } = self;
        write!(
            f,
            "element {element} of {buffer} is {found} instead of {expected} in launch {launch}; {cause}"
        )
    }
}

/// The value of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElementValue {
    /// Its decimal notation. `None` if the element is not a number of Rust or of the crate `half`.
    pub decimal: Option<String>,
    /// Its bytes, in the order of memory.
    pub bytes: Vec<u8>,
}

impl fmt::Display for ElementValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.bytes.iter().rev().try_fold(String::new(), |mut text, byte| {
            fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"))?;
            Ok(text)
        })?;
        match &self.decimal {
            Some(decimal) => write!(f, "{decimal} (0x{bits})"),
            None => write!(f, "0x{bits}"),
        }
    }
}

/// The cause of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DifferenceCause {
    /// A rewritten node. With its launches as written, and all nodes before it, the graph computes the expected
    /// bytes.
    Node(RewrittenNode),
    /// The memory of the temporaries, or the order of the nodes: it stays with all launches as written.
    MemoryOrOrder,
    /// Unknown: it does not appear when the graph is planned again.
    NotRepeated,
    /// Unknown: the search for it ran out of memory or failed.
    NotSearched,
}

impl fmt::Display for DifferenceCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DifferenceCause::Node(node) => node.fmt(f),
            DifferenceCause::MemoryOrOrder => f.write_str(
                "it stays with all launches as written, so the memory of temporaries or the order of nodes causes it",
            ),
            DifferenceCause::NotRepeated => f.write_str("it does not appear when the graph is planned again"),
            DifferenceCause::NotSearched => f.write_str("its cause was not found"),
        }
    }
}

/// A node with a rewritten kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewrittenNode {
    /// The launches of the node.
    pub statements: Vec<SourceLocation>,
    /// Their kernels, without duplicates.
    pub kernels: Vec<String>,
    /// How the kernel was rewritten.
    pub rewriting: Rewriting,
    /// The instructions of the kernels as written that write the element that differs, or those that write any buffer
    /// if none of the launches writes that element. Empty if they are not known.
    pub stores: Vec<StoreInstruction>,
}

impl fmt::Display for RewrittenNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels: Vec<String> = self.kernels.iter().map(|kernel| format!("`{kernel}`")).collect();
        write!(f, "the kernel {} ", kernels.join(", "))?;
        f.write_str(match self.rewriting {
            Rewriting::Batched => "as batched for ",
            Rewriting::Fused => "as fused for ",
            Rewriting::Waiting => "with the wait for its predecessors in front, in ",
        })?;
        let statements: Vec<String> = self.statements.iter().map(SourceLocation::to_string).collect();
        write!(f, "{} causes it", statements.join(", "))?;
        self.stores.iter().try_for_each(|store| write!(f, "\n  = note: {store}"))
    }
}

/// A store of a kernel as written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreInstruction {
    /// The launch.
    pub statement: SourceLocation,
    /// The buffer that it writes: an argument, or a temporary.
    pub buffer: String,
    /// The PTX file, as the kernels block names it.
    pub file: String,
    /// The line in that file.
    pub line: u32,
    /// The instruction.
    pub text: String,
}

impl fmt::Display for StoreInstruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StoreInstruction { statement, buffer, file, line, text } = self;
        write!(f, "{file}:{line}: `{text}` writes `{buffer}` in {statement}")
    }
}

/// How the kernel of a node was rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rewriting {
    /// Several launches of one kernel are one launch.
    Batched,
    /// Successive launches are one launch, maybe with other such chains beside.
    Fused,
    /// The kernel waits for its predecessors by itself.
    Waiting,
}
