//! The scope of names in a body. Statement names may be used in `#[after]` before their definition.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cuweave_core::ids::ArgumentId;
use cuweave_core::ir::{BufferId, StatementId};
use proc_macro2::Ident;
use syn::Expr;

pub use super::place::Borrow;
use super::place::Place;
use crate::dims::DimExpr;
use crate::substitution::{NamedSubstitution, Substitution};

/// The binding of a name.
#[derive(Clone)]
pub enum Binding {
    /// A buffer or a range of one. The name may also denote the statement that allocates it.
    View(View),
    /// The elements of an array of buffers, and the array as an argument.
    Array(Rc<[View]>, Rc<Place>),
    /// A record, a list, or a component of them.
    Part(Rc<Place>),
    Statement,
    Host {
        /// The argument that binds it.
        argument: ArgumentId,
        /// True for a resource, taken by `&mut`.
        resource: bool,
    },
    /// The index of an unrolled loop, or a scalar.
    Number,
    /// Moved from: the name that now denotes its buffer, and the buffer that an assignment may rebind it
    /// to.
    Moved(Ident, View),
    /// The name of a faulty `let`. Its uses are not reported.
    Unknown,
}

/// A range of a buffer.
#[derive(Clone)]
pub struct View {
    pub buffer: BufferId,
    pub lo: DimExpr,
    pub hi: DimExpr,
    /// The borrow implied by the bare name. None for buffers that the graph owns.
    pub borrow: Option<Borrow>,
}

/// A name in an `#[after]`, and the statement that has the attribute.
#[derive(Clone)]
pub struct AfterName {
    pub statement: StatementId,
    pub name: Ident,
}

/// A block's names.
#[derive(Default)]
struct Frame {
    names: BTreeMap<String, Binding>,
    /// The named statements in source order.
    statements: Vec<(String, NamedStatements)>,
    /// The names in `#[after]` that are not declared yet, each with the number of statements named before
    /// it.
    pending: Vec<(usize, AfterName)>,
    /// The length of `Scope::meanings` outside of the block.
    outer_substitutions: usize,
}

/// The names visible at a statement. Each enclosing block is a frame. Leaving a block drops its names and
/// meanings.
pub struct Scope {
    /// The enclosing blocks, innermost last.
    frames: Vec<Frame>,
    /// The substitutions for names in expressions, innermost last.
    substitutions: Vec<NamedSubstitution>,
    /// The names of the scalar arguments.
    scalars: BTreeSet<String>,
    /// All statement names, for suggestions.
    known: Vec<String>,
}

/// The statements that a name denotes: several if the build chooses one of them. None if a fault made them
/// unknown.
pub type NamedStatements = Option<Vec<StatementId>>;

/// A resolved name in an `#[after]`.
pub type Resolved = (AfterName, NamedStatements);

impl Scope {
    /// Returns the scope of a function's body. `scalars` are the names of the scalar arguments.
    pub fn new(scalars: BTreeSet<String>) -> Scope {
        Scope { frames: vec![Frame::default()], substitutions: Vec::new(), scalars, known: Vec::new() }
    }

    pub fn enter(&mut self) {
        self.frames.push(Frame { outer_substitutions: self.substitutions.len(), ..Frame::default() });
    }

    /// Leaves a block. Returns the pending `#[after]` names that a later statement of the block resolves.
    /// The others move to the enclosing block; at the outermost block they are unknown and returned second.
    pub fn leave(&mut self) -> (Vec<Resolved>, Vec<AfterName>) {
        let Some(frame) = self.frames.pop() else { return (Vec::new(), Vec::new()) };
        self.substitutions.truncate(frame.outer_substitutions);
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

    /// Rebinds a name in the block that declares it.
    pub fn rebind(&mut self, name: &Ident, binding: Binding) {
        let text = name.to_string();
        if let Some(frame) = self.frames.iter_mut().rev().find(|frame| frame.names.contains_key(&text)) {
            frame.names.insert(text, binding);
        }
    }

    /// Substitutes a name in expressions, until the block is left.
    pub fn add_substitution(&mut self, name: &str, meaning: Substitution) {
        self.substitutions.push(NamedSubstitution { name: name.to_owned(), meaning });
    }

    /// Removes the most recent substitution.
    pub fn remove_last_substitution(&mut self) {
        self.substitutions.pop();
    }

    /// Binds a name to a scalar expression.
    pub fn bind_scalar(&mut self, name: &Ident, value: Expr) {
        self.add_substitution(&name.to_string(), Substitution::Expression(Box::new(value)));
        self.bind(name, Binding::Number);
    }

    /// Returns the substitutions for names in expressions, innermost last.
    pub fn substitutions(&self) -> &[NamedSubstitution] {
        &self.substitutions
    }

    /// Returns true for the name of a scalar argument.
    pub fn is_argument(&self, name: &str) -> bool {
        self.scalars.contains(name)
    }

    /// Returns true for the name of a scalar argument, and for a name with a substitution.
    pub fn is_scalar(&self, name: &Ident) -> bool {
        self.is_argument(&name.to_string()) || self.substitutions.iter().any(|known| *name == known.name)
    }

    /// Returns all statement names.
    pub fn statement_names(&self) -> &[String] {
        &self.known
    }

    pub fn finish(self) -> Vec<String> {
        self.known
    }

    /// Returns the number of blocks around the current statement.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Returns the number of blocks outside the block that declares a name.
    pub fn depth_of(&self, name: &Ident) -> Option<usize> {
        let text = name.to_string();
        self.frames.iter().rposition(|frame| frame.names.contains_key(&text))
    }

    /// Binds a name to statements.
    pub fn bind_statement(&mut self, name: &Ident, statements: NamedStatements) {
        self.known.push(name.to_string());
        if let Some(frame) = self.frames.last_mut() {
            frame.statements.push((name.to_string(), statements));
        }
    }

    pub fn get(&self, name: &Ident) -> Option<&Binding> {
        let name = name.to_string();
        self.frames.iter().rev().find_map(|frame| frame.names.get(&name))
    }

    /// Resolves a name in an `#[after]`. None if it is not declared yet; [`Scope::leave`] resolves it then.
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
