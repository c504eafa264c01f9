//! `#[graph] fn name(args) { .. }`: lowered, ordered, checked, printed.

mod attributes;
mod expand;
mod idents;
mod launch;
mod lower;
mod methods;
mod scope;
mod signature;
mod steps;
mod table;
mod types;

use cuweave_core::compile;
use cuweave_core::ir::Program;
use cuweave_core::structure::Structure;
use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;

use crate::report::Report;
use crate::words::words;

/// Expands a graph function. With faults the function is there all the same, with its signature and an empty body,
/// so that nothing follows on.
pub fn graph(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            // rustc parses the item itself and says what is wrong with it, better; where it finds nothing, we do.
            report.syntax(&error);
            return report.into_tokens();
        }
    };
    let (options, budget) = signature::options(attribute, &mut report);
    let signature = signature::signature(&function, &mut report);
    let file = function.sig.ident.span().file();
    let mut lowered = lower::lower(
        &function.sig.ident,
        file,
        options,
        budget.as_ref(),
        &signature,
        &function.block,
        &mut report,
    );
    let (checked, found) = compile::front(lowered.source.clone());
    for diagnostic in &found {
        report.diagnostic(lowered.spans.of(diagnostic.site), diagnostic);
    }
    match checked {
        Some(checked) if !report.failed() => lowered.settle(checked.program()),
        _ => lowered.silence(),
    }
    let words = words(&item);
    let expansion = expand::expand(&function, &signature, &lowered);
    let told = report.into_tokens();
    quote!(#expansion #words #told)
}

impl lower::Lowered {
    /// Takes over the modes that the check has settled.
    fn settle(&mut self, checked: &Program) {
        let statements = self.source.program.statements.iter_mut();
        for (statement, checked) in statements.zip(checked.statements.iter()) {
            statement.accesses.clone_from(&checked.accesses);
        }
    }

    /// Leaves the arguments alone: the fallback of a faulty function.
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
            ..program.clone()
        };
        self.kinds.clear();
        // Lengths, too, are rustc's to speak of once nothing else is wrong.
        self.leaves.clear();
        self.structure = Structure::default();
        self.faulty = true;
    }
}
