//! The state of lowering one function, and the reporting of its faults.

use cuweave_core::codes::Code;
use cuweave_core::index::Index;
use cuweave_core::ir::{DimId, Options, StatementId, StatementKind};
use cuweave_core::structure::{Item, Structure};
use cuweave_core::table::distinguish_calls;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Expr};

use super::argument_facts::ArgumentFacts;
use super::call_table::CallTable;
use super::dim_table::DimTable;
use super::lowered::Lowered;
use super::nesting::{Loops, Nesting};
use super::numbers::{indices_in, scalars, scalars_in, variables};
use super::program::{ProgramBuilder, SpannedAccess};
use super::syntax::StatementSyntax;
use super::unsupported::{self, UnsupportedSyntax};
use crate::graph::attributes::{AllowedAttributes, StatementAttributes};
use crate::graph::scope::{Binding, Scope};
use crate::graph::signature::Signature;
use crate::report::Report;

/// A function being lowered.
pub(super) struct Lowering<'r> {
    pub report: &'r mut Report,
    /// The name of the function.
    pub function: &'r Ident,
    /// True with `order = "explicit"`.
    pub explicit: bool,
    /// The value of `devices = expr`.
    pub devices: Option<Expr>,
    pub scope: Scope,
    pub arguments: ArgumentFacts,
    pub program: ProgramBuilder,
    pub nesting: Nesting,
    pub calls: CallTable,
    /// The device of statements without their own `#[on(..)]`.
    pub device: Option<DimId>,
    /// The lint levels that enclosing blocks set.
    pub lint_levels: Vec<Attribute>,
    /// The values of scalars with a written type, as expressions of that type.
    pub typed: Vec<Expr>,
    /// True if syntax outside the language was rejected.
    pub has_rejected_syntax: bool,
    /// Names used as buffers but not bound in the function. rustc reports them.
    pub unknown: Vec<Ident>,
}

/// Proof that a fault of the statement has been reported.
pub(super) struct Reported;
pub(super) type LowerResult<T> = Result<T, Reported>;

impl<'r> Lowering<'r> {
    /// Returns the initial state for a function.
    pub fn new(function: &'r Ident, signature: &Signature, report: &'r mut Report) -> Lowering<'r> {
        let (scalars, integers) = scalars(signature);
        Lowering {
            report,
            function,
            explicit: false,
            devices: None,
            scope: Scope::new(scalars),
            arguments: ArgumentFacts::new(signature),
            program: ProgramBuilder::new(DimTable::new(integers)),
            nesting: Nesting::default(),
            calls: CallTable::default(),
            device: None,
            lint_levels: Vec::new(),
            typed: Vec::new(),
            has_rejected_syntax: false,
            unknown: Vec::new(),
        }
    }

    pub fn finish(self, file: String, options: Options) -> Lowered {
        let (body, loops) = self.nesting.finish();
        let program = self.program.finish(self.function, file, options, &self.calls, &loops.build_loops);
        let (callees, calls) = self.calls.finish();
        let (dims, mut arguments) = (program.dims, self.arguments);
        let mut structure = Structure {
            body,
            returned: program.returned_lengths,
            calls,
            variables: variables(&loops.build_loops, &dims.codes, &dims.leaves),
            leaf_variables: dims.leaves.iter().map(|leaf| indices_in(leaf.clone())).collect(),
            leaf_scalars: dims
                .leaves
                .iter()
                .map(|leaf| scalars_in(leaf, &arguments.scalar_numbers))
                .collect(),
            parts: std::mem::take(&mut arguments.parts.list),
            at_least: std::mem::take(&mut arguments.at_least),
            at_most: std::mem::take(&mut arguments.at_most),
        };
        let places = &program.spans.positions;
        let column = |at: StatementId| places[at.index()].1 as u32 + 1;
        distinguish_calls(&program.source.program, column, &mut structure.calls);
        Lowered {
            source: program.source,
            dims: dims.codes,
            leaves: dims.leaves,
            integers: dims.integers,
            elements: program.elements,
            syntax: program.syntax,
            lints: program.lints,
            arguments,
            spans: program.spans,
            structure,
            loops: Loops { variables: dims.variables, ..loops },
            typed: self.typed,
            named: self.scope.finish(),
            callees,
            unknown: self.unknown,
            faulty: false,
        }
    }
}

impl Lowering<'_> {
    /// Adds a statement to the current block.
    pub fn push(
        &mut self,
        name: String,
        span: Span,
        kind: StatementKind,
        syntax: StatementSyntax,
        accesses: Vec<SpannedAccess>,
    ) -> StatementId {
        let id = self.program.add_statement(name, span, kind, self.device, syntax, accesses);
        self.nesting.push(Item::Statement(id));
        id
    }

    /// Leaves a block, and drops the names bound in it.
    pub fn leave_block(&mut self) {
        let (resolved, _) = self.scope.leave();
        self.program.add_after_edges(resolved);
    }

    /// Processes the attributes of a statement that is not part of the order. `#[after(..)]` is rejected.
    pub fn check_lint_attributes(&mut self, attributes: &[Attribute]) {
        StatementAttributes::parse(attributes, AllowedAttributes::Nothing, self.report);
    }

    /// Reports CW001 at a statement or expression, with the default help. Poisons the buffers that it
    /// names.
    pub fn not_in_language(
        &mut self,
        at: &(impl ToTokens + Spanned),
        what: &str,
        notes: &[String],
    ) -> Reported {
        if !self.is_unreported(at) {
            return Reported;
        }
        self.report.error(
            at.span(),
            Code::CW001,
            &format!("{what} not part of the language of graph functions"),
            notes,
            Some(unsupported::help(what)),
        );
        Reported
    }

    /// Reports CW001 at a statement or an expression, with a given help.
    pub fn refuse_as(
        &mut self,
        at: &(impl ToTokens + Spanned),
        UnsupportedSyntax { what, help }: UnsupportedSyntax,
    ) -> Reported {
        self.refuse(at, &format!("{what} not part of the language of graph functions"), help)
    }

    pub fn refuse(&mut self, at: &(impl ToTokens + Spanned), message: &str, help: &str) -> Reported {
        self.refuse_with(at, message, &[], help)
    }

    /// Like [`Lowering::refuse`], with notes.
    pub fn refuse_with(
        &mut self,
        at: &(impl ToTokens + Spanned),
        message: &str,
        notes: &[String],
        help: &str,
    ) -> Reported {
        if self.is_unreported(at) {
            self.report.error(at.span(), Code::CW001, message, notes, Some(help));
        }
        Reported
    }

    /// Prepares the report of a faulty statement or expression, and poisons the buffers that it names.
    /// Returns false if it depends on a fault reported earlier, so that it should not be reported.
    fn is_unreported(&mut self, at: &impl ToTokens) -> bool {
        let tokens = at.to_token_stream();
        let known = !self.names_unknown(tokens.clone());
        self.poison(tokens);
        self.has_rejected_syntax = true;
        known
    }

    /// Returns false if an expression depends on a fault reported earlier. Everything about it is unknown
    /// then.
    pub fn is_unreported_in(&mut self, expr: &Expr) -> bool {
        !self.names_unknown(expr.to_token_stream()) || self.is_unreported(expr)
    }

    /// Returns true if the tokens contain a name that a reported fault has made unknown.
    pub fn names_unknown(&self, tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Group(group) => self.names_unknown(group.stream()),
            TokenTree::Ident(name) => matches!(self.scope.get(&name), Some(Binding::Unknown)),
            _ => false,
        })
    }

    pub fn poison(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.poison(group.stream()),
                TokenTree::Ident(name) => match self.scope.get(&name) {
                    Some(Binding::View(view)) => self.program.poison(view.buffer),
                    Some(Binding::Array(views, _)) => {
                        for view in views.iter() {
                            self.program.poison(view.buffer);
                        }
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }
}
