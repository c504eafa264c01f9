//! The input of code generation for one graph function, shared by all generators.

use cuweave_core::ids::ScalarId;
use cuweave_core::index::Vector;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ItemFn;

use super::lower::Lowered;
use super::setters::Setter;
use super::signature::{Argument, ArgumentKind, Signature};
use super::steps::Steps;

/// A graph function to be expanded: its source, its signature and the results of lowering.
pub(super) struct Expansion<'e> {
    pub(super) function: &'e ItemFn,
    pub(super) signature: &'e Signature,
    pub(super) lowered: &'e Lowered,
    pub(super) steps: Steps<'e>,
    /// The setter of each argument that has a number.
    pub(super) setters: Vector<ScalarId, Setter<'e>>,
}

impl Expansion<'_> {
    pub(super) fn name(&self) -> &Ident {
        &self.function.sig.ident
    }

    /// Returns the arguments that are fields of `Values`: those that expressions and calls can use.
    pub(super) fn known(&self) -> impl Iterator<Item = &Argument> {
        self.signature.arguments.iter().filter(|argument| argument.value_type().is_some())
    }

    /// Returns true if an argument is a record or a list. The number of buffers is then known only at run
    /// time.
    pub(super) fn has_aggregates(&self) -> bool {
        self.signature.arguments.iter().any(|argument| matches!(argument.kind, ArgumentKind::Part(_)))
    }

    pub(super) fn has_devices(&self) -> bool {
        self.lowered.source.program.options.devices.is_some()
    }

    /// Returns the type of the context parameter: one context, or a slice with one per device.
    pub(super) fn contexts(&self) -> TokenStream {
        let context = quote!(::std::sync::Arc<::cuweave::cudarc::driver::CudaContext>);
        if self.has_devices() { quote!(&[#context]) } else { quote!(&#context) }
    }
}
