//! A graph function whose code is generated.

use cuweave_core::ids::ScalarId;
use cuweave_core::index::Vector;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ItemFn;

use super::lower::Lowered;
use super::setters::Setter;
use super::signature::{Argument, ArgumentKind, Signature};
use super::steps::Steps;

/// A graph function whose code is generated.
pub(super) struct Expansion<'e> {
    pub(super) function: &'e ItemFn,
    pub(super) signature: &'e Signature,
    pub(super) lowered: &'e Lowered,
    pub(super) steps: Steps<'e>,
    /// The setter of each scalar argument.
    pub(super) setters: Vector<ScalarId, Setter<'e>>,
}

impl Expansion<'_> {
    pub(super) fn name(&self) -> &Ident {
        &self.function.sig.ident
    }

    pub(super) fn scalars(&self) -> impl Iterator<Item = &Argument> {
        self.signature.arguments.iter().filter(|argument| argument.is_scalar())
    }

    /// Returns the arguments that expressions and calls know.
    pub(super) fn known(&self) -> impl Iterator<Item = &Argument> {
        self.signature.arguments.iter().filter(|argument| argument.value_type().is_some())
    }

    /// Returns true if an argument is a record or a list: then the numbers of buffers are known at run time alone.
    pub(super) fn has_parts(&self) -> bool {
        self.signature.arguments.iter().any(|argument| matches!(argument.kind, ArgumentKind::Part(_)))
    }

    pub(super) fn has_devices(&self) -> bool {
        self.lowered.source.program.options.devices.is_some()
    }

    /// Returns the type by which the function takes its context, or those of its devices.
    pub(super) fn contexts(&self) -> TokenStream {
        let context = quote!(::std::sync::Arc<::cuweave::cudarc::driver::CudaContext>);
        if self.has_devices() { quote!(&[#context]) } else { quote!(&#context) }
    }
}
