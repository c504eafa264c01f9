//! Scope of names. Names of statements may be used before their definition.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cuweave_core::ids::ArgumentId;
use cuweave_core::ir::{BufferId, StatementId};
use proc_macro2::Ident;
use syn::Expr;

pub use super::place::Borrow;
use super::place::Place;
use crate::dims::Bound;
use crate::meaning::{Meaning, NamedMeaning};

/// The meaning of a name.
#[derive(Clone)]
pub enum Binding {
    /// All or a part of a buffer, or the statement that allocates it.
    View(View),
    /// The elements of an array of buffers, and the array as an argument.
    Array(Rc<[View]>, Rc<Place>),
    /// A record, a list, or a part of them.
    Part(Rc<Place>),
    /// A statement.
    Statement,
    /// A host value.
    Host {
        /// The argument that it is.
        argument: ArgumentId,
        /// True for a resource, taken by `&mut`.
        resource: bool,
    },
    /// The variable of a loop that is being unrolled.
    Number,
    /// Its buffer has another name since; what an assignment gives another buffer.
    Moved(Ident, View),
    /// A faulty `let` gave it: nothing is said of its uses.
    Unknown,
}

/// A part of a buffer.
#[derive(Clone)]
pub struct View {
    pub buffer: BufferId,
    pub lo: Bound,
    pub hi: Bound,
    /// The borrow that the bare name passes: `None` for buffers that the graph owns.
    pub borrow: Option<Borrow>,
}

/// A name in an `#[after]`, with the statement that carries it.
#[derive(Clone)]
pub struct AfterName {
    pub statement: StatementId,
    pub name: Ident,
}

/// A block.
#[derive(Default)]
struct Frame {
    names: BTreeMap<String, Binding>,
    /// Named statements in the order of the text.
    statements: Vec<(String, Named)>,
    /// Names in `#[after]` that are not declared yet, each with the number of statements that were named before it.
    pending: Vec<(usize, AfterName)>,
    /// The number of meanings outside.
    outer_meanings: usize,
}

/// The names at a statement. Each block around it is a frame, and leaving it drops the names and the meanings that it bound.
pub struct Scope {
    /// The blocks around the statement, innermost last.
    frames: Vec<Frame>,
    /// What names stand for in expressions, innermost last.
    meanings: Vec<NamedMeaning>,
    /// The names of the scalar arguments.
    scalars: BTreeSet<String>,
    /// All names of statements, for suggestions.
    known: Vec<String>,
}

/// The statements of a name: several where the build chooses one of them; `None` where a fault made them unknown.
pub type Named = Option<Vec<StatementId>>;

/// A resolved name in an `#[after]`.
pub type Resolved = (AfterName, Named);

impl Scope {
    /// Makes the scope of a function's body, of which `scalars` are the scalar arguments.
    pub fn new(scalars: BTreeSet<String>) -> Scope {
        Scope { frames: vec![Frame::default()], meanings: Vec::new(), scalars, known: Vec::new() }
    }

    pub fn enter(&mut self) {
        self.frames.push(Frame { outer_meanings: self.meanings.len(), ..Frame::default() });
    }

    /// Leaves a block. Returns the `#[after]` names that its later statements resolve. The others are handed on to the
    /// enclosing block; at the outermost block they name nothing and are returned second.
    pub fn leave(&mut self) -> (Vec<Resolved>, Vec<AfterName>) {
        let Some(frame) = self.frames.pop() else { return (Vec::new(), Vec::new()) };
        self.meanings.truncate(frame.outer_meanings);
        let mut resolved = Vec::new();
        let mut unknown = Vec::new();
        for (since, after) in frame.pending {
            match frame.statements[since..].iter().find(|(name, _)| after.name == name) {
                Some((_, statement)) => resolved.push((after, statement.clone())),
                None => unknown.push(after),
            }
        }
        if let Some(parent) = self.frames.last_mut() {
            let since = parent.statements.len();
            parent.pending.extend(unknown.drain(..).map(|after| (since, after)));
        }
        (resolved, unknown)
    }

    pub fn bind(&mut self, name: &Ident, binding: Binding) {
        if let Some(frame) = self.frames.last_mut() {
            frame.names.insert(name.to_string(), binding);
        }
    }

    /// Gives a name another meaning in the block that declares it.
    pub fn bind_again(&mut self, name: &Ident, binding: Binding) {
        let text = name.to_string();
        if let Some(frame) = self.frames.iter_mut().rev().find(|frame| frame.names.contains_key(&text)) {
            frame.names.insert(text, binding);
        }
    }

    /// Lets a name stand for something in expressions, until its block is left.
    pub fn stands_for(&mut self, name: &str, meaning: Meaning) {
        self.meanings.push(NamedMeaning { name: name.to_owned(), meaning });
    }

    /// Ends the meaning that was given last.
    pub fn forget_last(&mut self) {
        self.meanings.pop();
    }

    /// Binds a name to a scalar.
    pub fn bind_scalar(&mut self, name: &Ident, value: Expr) {
        self.stands_for(&name.to_string(), Meaning::Expression(Box::new(value)));
        self.bind(name, Binding::Number);
    }

    /// What names stand for in expressions, innermost last.
    pub fn meanings(&self) -> &[NamedMeaning] {
        &self.meanings
    }

    /// Returns true for the name of a scalar argument.
    pub fn is_argument(&self, name: &str) -> bool {
        self.scalars.contains(name)
    }

    /// Returns true for the name of a scalar argument, and for a name that stands for something in expressions.
    pub fn is_scalar(&self, name: &Ident) -> bool {
        self.is_argument(&name.to_string()) || self.meanings.iter().any(|known| *name == known.name)
    }

    /// All names of statements.
    pub fn known(&self) -> &[String] {
        &self.known
    }

    pub fn finish(self) -> Vec<String> {
        self.known
    }

    /// The number of blocks around a statement.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Returns the number of blocks around the one that declares a name.
    pub fn depth_of(&self, name: &Ident) -> Option<usize> {
        let text = name.to_string();
        self.frames.iter().rposition(|frame| frame.names.contains_key(&text))
    }

    /// Names a statement.
    pub fn bind_statement(&mut self, name: &Ident, statements: Named) {
        self.known.push(name.to_string());
        if let Some(frame) = self.frames.last_mut() {
            frame.statements.push((name.to_string(), statements));
        }
    }

    pub fn get(&self, name: &Ident) -> Option<&Binding> {
        let name = name.to_string();
        self.frames.iter().rev().find_map(|frame| frame.names.get(&name))
    }

    /// Resolves a name of an `#[after]`. Returns `None` if it is not declared yet; [`Scope::leave`] resolves it then.
    pub fn after(&mut self, after: AfterName) -> Option<Resolved> {
        let above = self
            .frames
            .iter()
            .rev()
            .find_map(|frame| frame.statements.iter().rev().find(|(name, _)| after.name == name));
        if let Some((_, statements)) = above {
            return Some((after, statements.clone()));
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.pending.push((frame.statements.len(), after));
        }
        None
    }
}
