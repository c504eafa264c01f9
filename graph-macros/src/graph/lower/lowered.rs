//! The result of lowering, which the checks and the code generation read.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::ir::StatementId;
use cuweave_core::order::LoweredProgram;
use cuweave_core::structure::Structure;
use cuweave_core::table::BoundOp;
use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Expr, Type};

use super::argument_facts::ArgumentFacts;
use super::nesting::Loops;
use super::spans::Spans;
use super::syntax::StatementSyntax;
use crate::graph::paths::Callee;

/// A lowered function: the IR, and the syntax that code generation needs.
pub struct Lowered {
    pub source: LoweredProgram,
    /// The postfix code of each dimension of the program.
    pub dims: Vec<Vec<BoundOp>>,
    /// The leaves of that code: the user's expressions, converted to `Dim`.
    pub leaves: Vec<TokenStream>,
    /// The names of the integer arguments. Arithmetic on them is checked and done in 64 bits.
    pub integers: BTreeSet<String>,
    /// The element type of each buffer.
    pub elements: Vec<Type>,
    /// The expressions of each statement.
    pub syntax: Vec<StatementSyntax>,
    /// The lint levels of the statements that set any.
    pub lints: BTreeMap<StatementId, Vec<Attribute>>,
    pub arguments: ArgumentFacts,
    /// The spans for diagnostics.
    pub spans: Spans,
    /// The nesting of the statements.
    pub structure: Structure,
    pub loops: Loops,
    /// The values of scalars with a written type, as expressions of that type.
    pub typed: Vec<Expr>,
    /// The statement names that `let` introduces.
    pub named: Vec<String>,
    /// The called graph functions, without duplicates.
    pub callees: Vec<Callee>,
    /// Names used as buffers but not bound in the function. rustc reports them.
    pub unknown: Vec<Ident>,
    /// True if the function has faults. Only its signature is generated then.
    pub faulty: bool,
}
