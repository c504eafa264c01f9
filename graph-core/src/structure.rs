//! The structure of a graph function: how its statements are nested in loops and choices, and how it is called.
//!
//! A [`Program`](crate::ir::Program) is a list of statements. If a function has loops whose length only the build
//! knows, choices, or calls of other graph functions, its program lists templates, each once in source order. The
//! structure then determines which templates are instantiated, how often and in which order.
//! [`expand`](crate::expand) makes the flat program from both.

pub use crate::ids::{ArgumentPartId, VariableId};

use crate::ids::{ArgumentId, BufferId, CallId, DimId, LeafId, ScalarId, StatementId};
use crate::index::Vector;
use std::borrow::Cow;

/// A string that is owned in the macro and borrowed from the printed table.
pub type Text = Cow<'static, str>;

/// The nesting of a function's statements. Empty if the statements run once, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    /// The body.
    pub body: Vec<Item>,
    /// Lists that loops run over, and buffers that are elements or fields of arguments.
    pub parts: Vector<ArgumentPartId, ArgumentPart>,
    /// The loop variables.
    pub variables: Vector<VariableId, Variable>,
    /// The calls of graph functions.
    pub calls: Vector<CallId, Call>,
    /// Outputs whose declared length differs in its source text from the buffer's length: buffer, declared length,
    /// own length.
    pub returned: Vec<(BufferId, DimId, DimId)>,
    /// The loop variables that each leaf of the bounds mentions.
    pub leaf_variables: Vector<LeafId, Vec<VariableId>>,
    /// Arguments with `#[at_least(n)]`: name, value or length, and its minimum.
    pub at_least: Vec<(Text, DimId, u64)>,
    /// Arguments with `#[at_most(n)]`: name, value, and its maximum.
    pub at_most: Vec<(Text, DimId, DimId)>,
    /// The scalar arguments that each leaf of the bounds mentions.
    pub leaf_scalars: Vector<LeafId, Vec<ScalarId>>,
}

impl Structure {
    /// Returns true for a function whose statements run once, one after the other.
    pub fn is_flat(&self) -> bool {
        self.body.is_empty()
    }
}

/// An item of a function body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An instance of this template.
    Statement(StatementId),
    /// A loop.
    Loop(Loop),
    /// An `if` or a `match` on scalars.
    Choice(Choice),
    /// `to = from`: the name denotes another buffer from here on.
    Rename {
        /// The buffer that later statements name.
        to: BufferId,
        /// The buffer whose memory it denotes.
        from: BufferId,
    },
    /// `swap(&mut a, &mut b)`.
    Swap(BufferId, BufferId),
    /// A list element that expressions of the next statement use. It must exist.
    Needs(ArgumentPartId),
}

/// A loop that is unrolled when the graph is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its line.
    pub line: u32,
    /// Its variable: the value of `i`, or the index of the list element.
    pub variable: VariableId,
    /// The range of its iterations.
    pub range: LoopRange,
    /// The items of one iteration.
    pub body: Vec<Item>,
}

/// The iterations of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopRange {
    /// The integers `lo..hi`. Empty if `hi < lo`.
    Range(DimId, DimId),
    /// One iteration for each element of a list.
    Elements(ArgumentPartId),
}

/// A loop variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: Text,
    /// The bounds that mention it.
    pub dims: Vec<DimId>,
}

/// An `if` or a `match` on scalars. Generated code decides which arm is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its line.
    pub line: u32,
    /// Its number in generated code.
    pub number: u32,
    /// The items of each arm. Empty arms at the end may be omitted.
    pub arms: Vec<Vec<Item>>,
}

/// An element or field of an argument: `w[i]`, `layer.q`, `model.layers[i].q`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentPart {
    /// The argument.
    pub argument: ArgumentId,
    /// The path from the argument.
    pub path: Vec<PathStep>,
}

/// A step of a path into an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// An element of a list.
    Index(DimId),
    /// A field of a record.
    Field(Text),
}

impl PathStep {
    /// Returns the name of the field. `None` for an element.
    pub fn field(&self) -> Option<&Text> {
        match self {
            PathStep::Field(name) => Some(name),
            PathStep::Index(_) => None,
        }
    }
}

/// A call of a graph function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The arguments, in the order of the callee's parameters.
    pub arguments: Vec<Argument>,
    /// The buffers that denote its results.
    pub results: Vec<BufferId>,
    /// The enclosing loops, outermost first. They are part of the path of its statements.
    pub around: Vec<EnclosingLoop>,
    /// The source position that is part of the path of its statements.
    pub place: CallPosition,
}

/// A loop around a call, as named in the path of the callee's statements: by the value of its variable, also if the
/// loop counts down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnclosingLoop {
    /// A loop that the macro unrolled: the value of its variable.
    Value(i64),
    /// A loop that the build unrolls: its variable.
    Up(VariableId),
    /// A loop that the build unrolls and that counts down from the second bound (exclusive) to the first.
    Down(VariableId, DimId, DimId),
}

/// The part of a call's source position that distinguishes it from other calls of the same callee in the same
/// function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallPosition {
    /// Nothing: it is the only call.
    #[default]
    Only,
    /// Its line.
    Line,
    /// Its line and this column.
    Column(u32),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A scalar.
    Scalar {
        /// The scalar arguments of the caller that its value depends on.
        of: Vec<ScalarId>,
        /// Its value as a bound, if it is an integer expression.
        value: Option<DimId>,
    },
    /// A host value: an argument of the caller.
    Host(ArgumentId),
    /// The buffer of the call's access with this index.
    Access(u32),
    /// An allocation that the callee takes over.
    Moved(BufferId),
    /// A record, or a list of records or buffers.
    Part(ArgumentPartId),
}
