//! Expands `#[graph] fn name(args) { .. }`: the function is lowered, ordered, checked and generated.
//!
//! Generated code is part of the user's crate; [`expand`] describes its scopes and privacy. It obeys two
//! rules:
//! - The user's expressions are placed in separate functions, where no generated name is in scope.
//! - An expression may panic, return early, or yield a different value at each evaluation. Therefore a
//!   setter evaluates everything before it changes anything, the build checks that each step has recorded
//!   its statement, and a batch is checked against the configuration it was built with.

mod advice;
mod array_limit;
pub mod attributes;
mod body;
mod callee;
mod edit;
mod editor;
pub mod expand;
mod expansion;
mod generics;
pub mod hints;
pub mod idents;
mod item;
mod launch;
mod library;
mod limits;
pub mod lower;
pub mod methods;
mod module_types;
mod options;
pub mod parts;
mod paths;
mod place;
mod scope;
mod setter_traits;
mod setters;
pub mod signature;
mod sizes;
mod steps;
mod table;
pub mod trend;
mod types;
mod unmarked_records;
mod unsupported_types;

use cuweave_core::compile::{self, InferredAccesses};
use cuweave_core::ir::Program;
use cuweave_core::sample::FunctionShape;
use cuweave_core::structure::Structure;
use proc_macro2::TokenStream;
use quote::quote;

use crate::expanded_names::{self, ItemKind};
use crate::prelude_words::use_prelude_words;
use crate::report::Report;

pub use library::call;

/// Expands a graph function. A faulty function is still emitted, with its signature and an empty body, so
/// that its uses cause no further errors.
pub fn graph(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let item::ParsedFunction { item: function, unread } = match item::function(&item, &mut report) {
        Ok(function) => function,
        Err(error) => {
            let diagnostics = report.into_tokens();
            return quote!(#error #diagnostics);
        }
    };
    let (options, values) = options::options(attribute, &mut report);
    let mut signature = signature::signature(&function, &mut report);
    array_limit::limit(&mut signature, &mut report);
    let file = function.sig.ident.span().file();
    let mut lowered = lower::lower(
        &function.sig.ident,
        file,
        options,
        &values,
        &signature,
        unread.is_none().then_some(&*function.block),
        &mut report,
    );
    signature.keep(&lowered.arguments.kept);
    let checked = check(&lowered, &mut report).filter(|_| unread.is_none());
    if !report.failed() {
        sizes::check(&lowered, &signature, &mut report);
    }
    match checked {
        Some(settled) if !report.failed() => {
            compile::settle(&mut lowered.source.program, &settled);
            lowered.report_unwritten_pointees(&mut report);
        }
        _ => lowered.silence(),
    }
    let words = use_prelude_words(&item);
    let editor = editor::is_editor().then(|| editor::body(&item));
    let expansion = expand::expand(&function, &signature, &lowered);
    expanded_names::add(&function.sig.ident.to_string(), ItemKind::Graph);
    let diagnostics = report.into_tokens();
    let unread = unread.as_ref().map(item::unread);
    quote!(#editor #expansion #words #unread #diagnostics)
}

/// Checks a lowered function and reports its faults. Loops are checked by sample iterations. Returns the
/// accesses as the checker settled them, or None if there are faults.
fn check(lowered: &lower::Lowered, report: &mut Report) -> Option<InferredAccesses> {
    let shape = FunctionShape {
        structure: &lowered.structure,
        variables: &lowered.loops.variables,
        conditions: &lowered.loops.conditions,
    };
    let (settled, mut found) = compile::front_of_function(&lowered.source, &shape);
    for diagnostic in &mut found {
        advice::name_edge_source(diagnostic, &lowered.named);
        advice::suggest_mutable_borrow(diagnostic, &lowered.source.program);
        report.diagnostic(lowered.spans.at(diagnostic.site), diagnostic);
    }
    settled
}

impl lower::Lowered {
    /// Drops everything but the arguments. This is the fallback for a faulty function.
    fn silence(&mut self) {
        let program = &self.source.program;
        let arguments: Vec<_> = program
            .buffers
            .iter()
            .filter(|buffer| !matches!(buffer.origin, cuweave_core::ir::Origin::Alloc(_)))
            .cloned()
            .collect();
        self.source.program = Program {
            buffers: arguments.into(),
            statements: Vec::new().into(),
            views: Vec::new().into(),
            outputs: Vec::new().into(),
            grants: Vec::new().into(),
            ..program.clone()
        };
        self.syntax.clear();
        // rustc reports errors in lengths only after the macro's own errors are fixed.
        self.leaves.clear();
        self.typed.clear();
        self.loops.choices.clear();
        self.structure = Structure::default();
        self.faulty = true;
    }
}
