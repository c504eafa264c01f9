//! The structure of a graph function: how its statements are nested in loops and choices, and how it is called.
//!
//! A [`Program`](crate::ir::Program) is a list of statements. Where a function has loops whose length the build knows, choices, or
//! calls of other graph functions, its program is a list of templates, each once in the order of the text, and the structure
//! says which of them are instantiated, how often and in which order. [`expand`](crate::expand) makes the flat program of them.

pub use crate::ids::{PartId, VariableId};

use crate::ids::{ArgumentId, BufferId, CallId, DimId, LeafId, ScalarId, StatementId};
use crate::index::Vector;
use std::borrow::Cow;

/// A string that is owned in the macro and borrowed in the printed table.
pub type Text = Cow<'static, str>;

/// The nesting of a function's statements. Empty for a function of statements that stand one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    /// The body.
    pub body: Vec<Item>,
    /// The lists that loops run over, and the buffers that are elements or fields of arguments.
    pub parts: Vector<PartId, Part>,
    /// The variables of the loops.
    pub variables: Vector<VariableId, Variable>,
    /// The calls of graph functions.
    pub calls: Vector<CallId, Call>,
    /// Outputs whose declared length is written otherwise than their own: buffer, declared length, own length.
    pub returned: Vec<(BufferId, DimId, DimId)>,
    /// For each leaf of the bounds the variables that it mentions.
    pub leaf_variables: Vector<LeafId, Vec<VariableId>>,
    /// Arguments with `#[at_least(n)]`: name, value or length, and the least that it may be.
    pub at_least: Vec<(Text, DimId, u64)>,
    /// For each leaf of the bounds the scalar arguments that it mentions.
    pub leaf_scalars: Vector<LeafId, Vec<ScalarId>>,
}

impl Structure {
    /// Returns true for a function whose statements stand one after the other, each once.
    pub fn is_flat(&self) -> bool {
        self.body.is_empty()
    }
}

/// An item of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A statement: an instance of its template.
    Statement(StatementId),
    /// A loop.
    Loop(Loop),
    /// An `if` or a `match` on scalars.
    Choice(Choice),
    /// `to = from`: the name stands for another buffer from here on.
    Rename {
        /// The buffer that the name stands for in later statements.
        to: BufferId,
        /// The buffer whose memory it is.
        from: BufferId,
    },
    /// `swap(&mut a, &mut b)`.
    Swap(BufferId, BufferId),
    /// An element of a list that expressions of the statement behind it use: it must exist.
    Needs(PartId),
}

/// A loop that is unrolled when the graph is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its line.
    pub line: u32,
    /// Its variable: the value of `i`, or the index of the element.
    pub variable: VariableId,
    /// Its turns.
    pub turns: Turns,
    /// The items of a turn.
    pub body: Vec<Item>,
}

/// The turns of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turns {
    /// `lo..hi`. None if `hi < lo`.
    Range(DimId, DimId),
    /// A turn for each element of a list.
    Elements(PartId),
}

/// The variable of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: Text,
    /// The bounds that mention it.
    pub dims: Vec<DimId>,
}

/// An `if` or a `match`: generated code says which arm the scalars choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its line.
    pub line: u32,
    /// The number by which generated code knows it.
    pub number: u32,
    /// The arms. Arm `n` without items may be left out at the end.
    pub arms: Vec<Vec<Item>>,
}

/// A part of an argument: `w[i]`, `layer.q`, `model.layers[i].q`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The argument.
    pub argument: ArgumentId,
    /// The way from it.
    pub path: Vec<Step>,
}

/// A step into an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An element of a list.
    Index(DimId),
    /// A field of a record.
    Field(Text),
}

impl Step {
    /// Returns the name of the field.
    pub fn field(&self) -> Option<&Text> {
        match self {
            Step::Field(name) => Some(name),
            Step::Index(_) => None,
        }
    }
}

/// A call of a graph function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The arguments, in the order of the callee's parameters.
    pub arguments: Vec<Argument>,
    /// The buffers that stand for what it returns.
    pub results: Vec<BufferId>,
    /// The loops around it, outermost first, which its path names.
    pub around: Vec<Around>,
    /// The place that its path names.
    pub place: CallPlace,
}

/// A loop around a call, as the path of the callee's statements names it: by the value of its variable, also where the
/// loop counts down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// A loop that the macro has unrolled: the value.
    Value(i64),
    /// A loop that the build unrolls: its variable.
    Up(VariableId),
    /// One that counts down from the second bound, which is not a value of it, to the first.
    Down(VariableId, DimId, DimId),
}

/// The part of its place that tells a call apart from the others of the same callee in the same function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallPlace {
    /// It is the only one.
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
        /// The scalar arguments of the caller that it is computed of.
        of: Vec<ScalarId>,
        /// Its value as a bound, if it is an integer expression.
        value: Option<DimId>,
    },
    /// A host value: the argument of the caller that it is.
    Host(ArgumentId),
    /// The buffer of the call's access of this index.
    Access(u32),
    /// An allocation that is handed over.
    Moved(BufferId),
    /// A record, or a list of records or buffers.
    Part(PartId),
}
