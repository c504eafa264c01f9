//! Scopes of names. Names of statements may be used before their definition.

use std::collections::BTreeMap;
use std::rc::Rc;

use cuweave_core::ids::ArgumentId;
use cuweave_core::ir::{BufferId, StatementId};
use proc_macro2::Ident;

pub use super::place::Borrow;
use super::place::Place;
use crate::dims::Bound;

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
}

/// The blocks around a statement, innermost last.
pub struct Scopes {
    frames: Vec<Frame>,
    /// All names of statements, for suggestions.
    pub known: Vec<String>,
}

/// The statements of a name: several where the build chooses one of them; `None` where a fault made them unknown.
pub type Named = Option<Vec<StatementId>>;

/// A resolved name in an `#[after]`.
pub type Resolved = (AfterName, Named);

impl Scopes {
    pub fn new() -> Scopes {
        Scopes { frames: vec![Frame::default()], known: Vec::new() }
    }

    pub fn enter(&mut self) {
        self.frames.push(Frame::default());
    }

    /// Leaves a block. Returns the `#[after]` names that its later statements resolve. The others are handed on to the
    /// enclosing block; at the outermost block they name nothing and are returned second.
    pub fn leave(&mut self) -> (Vec<Resolved>, Vec<AfterName>) {
        let Some(frame) = self.frames.pop() else { return (Vec::new(), Vec::new()) };
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

    /// Resolves a name of an `#[after]`. Returns `None` if it is not declared yet; [`Scopes::leave`] resolves it then.
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
