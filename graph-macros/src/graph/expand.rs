//! Generates the code of a graph function: the function that builds the graph, and the evaluation of its
//! expressions.
//!
//! Code that depends only on types is in a module beside the function ([`super::types`]), with private
//! fields. Methods of the exec are in [`super::methods`]. Code that names kernels or evaluates the user's
//! expressions is in the function's own scope, where the user's paths resolve as written. It calls internal
//! methods of public types only through traits of `__private` whose methods take a token: the user's code
//! may use the same names, but can never obtain a token.

use std::collections::BTreeSet;

use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{BufferId, StatementKind};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{ItemFn, Lifetime};

use super::body::BodyMethods;
use super::expansion::Expansion;
use super::generics::TypeParameters;
use super::idents::{ident, located_type};
use super::lower::Lowered;
use super::module_types::GRAPH_MODULE_TYPES;
use super::parts::{AggregateType, BufferMemory, BufferType};
use super::setters::setters;
use super::signature::{Argument, ArgumentKind, HostType, Signature};
use super::steps::Steps;
use super::{callee, editor, paths, setter_traits, table, types};
use crate::dims::dim_tokens;

/// Generates the code of a graph function.
pub fn expand(function: &ItemFn, signature: &Signature, lowered: &Lowered) -> TokenStream {
    let setters = setters(lowered, signature);
    let inside = signature.inside_module(&GRAPH_MODULE_TYPES);
    let mut expansion =
        Expansion { function, signature: &inside, lowered, steps: Steps::new(lowered), setters };
    let module = types::module(&expansion);
    expansion.signature = signature;
    let build = expansion.build();
    let implementation = expansion.implementation();
    let methods = expansion.methods();
    let (callee, item_table) = (callee::callee(&expansion), callee::item_table(&expansion));
    let returned = expansion.returned_elements();
    let settable = setter_traits::settable(&expansion);
    let unknown = &lowered.unknown;
    let (callees, assertions) = (paths::callees(&lowered.callees), expansion.steps.assertions());
    let bodies = expansion.steps.bodies(&function.sig.ident);
    let evaluation = editor::detached(quote!(#callees #implementation #item_table));
    let checks = editor::detached(quote!(#assertions #bodies #returned));
    quote! {
        #build
        #module
        #[allow(
            clippy::all,
            clippy::no_effect_underscore_binding,
            clippy::used_underscore_binding,
            unused,
            non_camel_case_types,
            private_bounds
        )]
        const _: () = {
            #evaluation
            #methods
            #settable
            #checks
        };
        #callee
        #(const _: () = {
            // A use of the unknown name: rustc reports its kind, or that it does not exist.
            let _: ::core::convert::Infallible = #unknown;
        };)*
    }
}

/// How a buffer argument is bound: the trait, its method and the bound type. `borrows` is true if the type
/// has a lifetime.
struct BufferBinding {
    bind: &'static str,
    method: &'static str,
    bound: &'static str,
    borrows: bool,
}

fn binding(buffer: &BufferType) -> BufferBinding {
    let (bind, method, bound, borrows) = match (buffer.memory, buffer.mutable) {
        (BufferMemory::Device, false) => ("BindShared", "bind_shared", "BoundShared", true),
        (BufferMemory::Device, true) => ("BindMut", "bind_mut", "BoundExclusive", true),
        (BufferMemory::Pinned, false) => ("BindPinned", "bind_pinned", "BoundSharedPinned", true),
        (BufferMemory::Pinned, true) => ("BindPinnedMut", "bind_pinned_mut", "BoundExclusivePinned", true),
        (BufferMemory::Taken, _) => ("BindTaken", "bind_taken", "BoundTaken", false),
    };
    BufferBinding { bind, method, bound, borrows }
}

/// Generates the conversion of each element of a `Vec`. Calls are fully qualified because the user's traits
/// may have methods `into_iter` and `map`.
pub fn each(list: &Ident, one: &Ident, converted: &TokenStream) -> TokenStream {
    quote! {
        ::core::iter::Iterator::collect(::core::iter::Iterator::map(
            ::core::iter::IntoIterator::into_iter(#list),
            |#one| #converted,
        ))
    }
}

impl BufferType {
    /// Returns the type of a bound buffer, such as `Shared<'a, T>`.
    pub fn bound(&self, lifetime: &str) -> TokenStream {
        let (BufferBinding { bound, borrows, .. }, element) = (binding(self), &self.element);
        let (bound, lifetime) = (ident(bound), Lifetime::new(lifetime, Span::call_site()));
        if borrows {
            quote!(::cuweave::__private::#bound<#lifetime, #element>)
        } else {
            quote!(::cuweave::__private::#bound<#element>)
        }
    }

    /// Returns the type of the parameter, such as `impl BindShared<'a, T>`.
    pub fn bindable(&self) -> TokenStream {
        let (BufferBinding { bind, borrows, .. }, element) = (binding(self), &self.element);
        let bind = ident(if self.optional { self.optional_binding().0 } else { bind });
        if borrows {
            quote!(impl ::cuweave::__private::#bind<'a, #element>)
        } else {
            quote!(impl ::cuweave::__private::#bind<#element>)
        }
    }

    pub fn bind(&self, value: &TokenStream) -> TokenStream {
        let BufferBinding { bind, method, .. } = binding(self);
        let (bind, method) = if self.optional { self.optional_binding() } else { (bind, method) };
        let (bind, method) = (ident(bind), ident(method));
        quote!(::cuweave::__private::#bind::#method(#value))
    }

    /// Returns the trait and the method that bind an optional buffer.
    fn optional_binding(&self) -> (&'static str, &'static str) {
        match self.mutable {
            true => ("BindOptionalMut", "bind_optional_mut"),
            false => ("BindOptional", "bind_optional"),
        }
    }

    /// Returns the parameter type of a list of such buffers, and the expression that binds the parameter
    /// `name`.
    pub fn list(&self, name: &Ident) -> (TokenStream, TokenStream) {
        if self.optional {
            return (self.bindable(), self.bind(&quote!(#name)));
        }
        let one = Ident::new("one", Span::mixed_site());
        let (ty, bind) = (self.bindable(), self.bind(&quote!(#one)));
        (quote!(::std::vec::Vec<#ty>), each(name, &one, &bind))
    }
}

impl Argument {
    pub(super) fn parameter_type(&self) -> TokenStream {
        match &self.kind {
            ArgumentKind::Scalar(ty) => quote!(#ty),
            ArgumentKind::Host(HostType { ty, kept: true, .. }) => {
                quote!(impl ::cuweave::__private::BindKept<#ty>)
            }
            ArgumentKind::Host(HostType { ty, resource: false, .. }) => {
                quote!(impl ::cuweave::__private::BindHost<'a, #ty>)
            }
            ArgumentKind::Host(HostType { ty, resource: true, .. }) => {
                quote!(impl ::cuweave::__private::BindResource<'a, #ty>)
            }
            ArgumentKind::Buffer(buffer) => buffer.bindable(),
            ArgumentKind::Array(buffer, count) => {
                let one = buffer.bindable();
                quote!([#one; #count])
            }
            ArgumentKind::Part(AggregateType::Buffers(buffer)) => buffer.list(&self.name).0,
            ArgumentKind::Part(part) => part.bound("'a"),
        }
    }

    pub(super) fn field_type(&self) -> TokenStream {
        match &self.kind {
            ArgumentKind::Scalar(ty) => quote!(#ty),
            ArgumentKind::Host(HostType { ty, kept: true, .. }) => quote!(::std::sync::Arc<#ty>),
            ArgumentKind::Host(HostType { ty, resource: false, .. }) => {
                quote!(::cuweave::__private::Host<'a, #ty>)
            }
            ArgumentKind::Host(HostType { ty, resource: true, .. }) => {
                quote!(::cuweave::__private::Resource<'a, #ty>)
            }
            ArgumentKind::Buffer(buffer) => buffer.bound("'a"),
            ArgumentKind::Array(buffer, count) => {
                let one = buffer.bound("'a");
                quote!([#one; #count])
            }
            ArgumentKind::Part(part) => part.bound("'a"),
        }
    }

    /// Returns the argument's type in `Values`. None for a buffer: expressions and calls cannot use its
    /// value.
    pub(super) fn value_type(&self) -> Option<TokenStream> {
        match &self.kind {
            ArgumentKind::Scalar(ty) => Some(quote!(#ty)),
            ArgumentKind::Host(HostType { ty, kept: true, .. }) => Some(quote!(&'v ::std::sync::Arc<#ty>)),
            ArgumentKind::Host(HostType { ty, resource: false, .. }) => Some(quote!(&'v #ty)),
            ArgumentKind::Host(HostType { ty, resource: true, .. }) => {
                Some(quote!(::cuweave::__private::ResourceHandle<'v, #ty>))
            }
            ArgumentKind::Buffer(_) => None,
            ArgumentKind::Array(buffer, count) => {
                let one = buffer.bound("'v");
                Some(quote!(&'v [#one; #count]))
            }
            ArgumentKind::Part(part) => Some(part.reference_type()),
        }
    }

    /// Returns the expression that binds the parameter.
    pub(super) fn bound_value(&self) -> TokenStream {
        let name = &self.name;
        match &self.kind {
            ArgumentKind::Scalar(_) => quote!(#name),
            ArgumentKind::Host(HostType { kept: true, .. }) => {
                quote!(::cuweave::__private::BindKept::bind_kept(#name))
            }
            ArgumentKind::Host(HostType { resource: false, .. }) => {
                quote!(::cuweave::__private::BindHost::bind_host(#name))
            }
            ArgumentKind::Host(HostType { resource: true, .. }) => {
                quote!(::cuweave::__private::BindResource::bind_resource(#name))
            }
            ArgumentKind::Buffer(buffer) => buffer.bind(&quote!(#name)),
            ArgumentKind::Array(buffer, _) => {
                let one = Ident::new("one", Span::mixed_site());
                let bind = buffer.bind(&quote!(#one));
                quote!(#name.map(|#one| #bind))
            }
            ArgumentKind::Part(AggregateType::Buffers(buffer)) => buffer.list(name).1,
            ArgumentKind::Part(_) => quote!(#name),
        }
    }

    pub(super) fn buffer(&self) -> Option<&BufferType> {
        match &self.kind {
            ArgumentKind::Scalar(_) | ArgumentKind::Part(_) | ArgumentKind::Host(_) => None,
            ArgumentKind::Buffer(buffer) | ArgumentKind::Array(buffer, _) => Some(buffer),
        }
    }
}

impl Expansion<'_> {
    /// Generates the function that builds the graph.
    fn build(&self) -> TokenStream {
        let name = self.name();
        let (attributes, visibility) = (&self.function.attrs, &self.function.vis);
        let parameters = self.signature.arguments.iter().map(|argument| {
            let name = &argument.name;
            let ty = match self.signature.is_refused(argument) {
                true => quote!(impl ::core::marker::Sized),
                false => argument.parameter_type(),
            };
            quote!(#name: #ty)
        });
        let values =
            self.signature.arguments.iter().map(|argument| match self.signature.is_refused(argument) {
                true => {
                    let name = &argument.name;
                    quote!({ let _ = #name; ::cuweave::__private::Refused })
                }
                false => argument.bound_value(),
            });
        let parameters = editor::detached(quote!(#(#parameters),*));
        let (values, unused) = (editor::detached(quote!(#(#values,)*)), editor::detached(self.unused()));
        let ctx = Ident::new("ctx", Span::mixed_site());
        let errors = self.errors_section();
        let contexts = self.contexts();
        let build = ident(if self.has_devices() { "build_on" } else { "build" });
        quote_spanned! {name.span()=>
            #(#attributes)*
            #errors
            #[allow(
                clippy::too_many_arguments, clippy::needless_lifetimes, clippy::needless_arbitrary_self_type,
                clippy::redundant_field_names, clippy::used_underscore_binding
            )]
            #visibility fn #name<'a>(
                #ctx: #contexts,
                #parameters
            ) -> ::cuweave::Result<::cuweave::Graph<#name::Args<'a>>> {
                #unused
                ::cuweave::__private::#build(
                    #ctx,
                    #name::Args::__new(#values ::cuweave::__private::Token),
                )
            }
        }
    }

    /// Generates a closure whose parameters are named like the arguments, and which uses those that the
    /// body uses. rustc then reports the others as unused variables, at the user's lint levels.
    fn unused(&self) -> TokenStream {
        let names: Vec<&Ident> = self.signature.arguments.iter().map(|argument| &argument.name).collect();
        let levels = self.signature.arguments.iter().map(|argument| &argument.levels);
        // rustc reports no unused `_name`, and a lint forbids using one.
        let told = |name: &Ident| !name.to_string().starts_with('_');
        let used =
            names.iter().zip(self.used()).filter(|(name, used)| *used && told(name)).map(|(name, _)| name);
        quote!(let _ = |#(#(#levels)* #names: ()),*| { #(let _ = #used;)* };)
    }

    /// Returns, for each argument, true if the function uses it. A buffer is used if a statement accesses
    /// or frees it or the function returns it, a scalar if an expression mentions it.
    fn used(&self) -> Vec<bool> {
        let (lowered, program) = (self.lowered, &self.lowered.source.program);
        // A faulty statement is dropped together with its uses of arguments: assume that all are used.
        if lowered.faulty || !lowered.unknown.is_empty() {
            return vec![true; self.signature.arguments.len()];
        }
        let mut accessed = Vector::filled(false, program.buffers.len());
        program.outputs.iter().for_each(|&buffer| accessed[buffer] = true);
        for statement in program.statements.iter() {
            statement.accesses.iter().for_each(|access| accessed[access.buffer] = true);
            if let StatementKind::Free(buffer) = statement.kind {
                accessed[buffer] = true;
            }
        }
        let arguments = self.signature.arguments.iter().zip(&lowered.arguments.buffers);
        let used = |(argument, first): (&Argument, &Option<BufferId>)| match (&argument.kind, first) {
            (ArgumentKind::Part(_) | ArgumentKind::Array(..), _)
                if lowered.arguments.mentioned.contains(&argument.name.to_string()) =>
            {
                true
            }
            (ArgumentKind::Part(_), _) => false,
            (ArgumentKind::Array(_, count), Some(first)) => {
                accessed.as_slice()[first.index()..].iter().take(*count).any(|&accessed| accessed)
            }
            (_, Some(first)) => accessed[*first],
            (_, None) => lowered.arguments.mentioned.contains(&argument.name.to_string()),
        };
        arguments.map(used).collect()
    }

    /// Returns a documentation section on errors, unless the user has written one.
    fn errors_section(&self) -> TokenStream {
        let mut documented =
            self.function.attrs.iter().filter(|attribute| attribute.path().is_ident("doc")).peekable();
        // A function without documentation gets none, so that lints still report it.
        if documented.peek().is_none()
            || documented.any(|attribute| quote!(#attribute).to_string().contains("# Errors"))
        {
            return TokenStream::new();
        }
        let text = "A buffer that is shorter than declared or of another context, two that overlap of which one is \
                    written, a length without a value, a launch configuration that the device does not take, a module that \
                    cannot be loaded, a failure of the driver: the error names the argument or the statement.";
        // Clippy ignores documentation that an external macro adds.
        quote_spanned! {self.name().span()=>
            #[doc = ""]
            #[doc = "# Errors"]
            #[doc = ""]
            #[doc = #text]
        }
    }

    /// Generates the implementation of `GraphFn`. The user's expressions are placed in free functions,
    /// where they cannot name a `self` of generated code.
    fn implementation(&self) -> TokenStream {
        let name = self.name();
        let scalars: Vec<&Ident> = self.known().map(|argument| &argument.name).collect();
        let values = self.known().map(|argument| {
            let name = &argument.name;
            match &argument.kind {
                ArgumentKind::Scalar(_) => quote!(#name: self.#name),
                ArgumentKind::Host(HostType { resource: true, .. }) => {
                    quote!(#name: ::cuweave::__private::Resource::lend(&self.#name))
                }
                ArgumentKind::Part(AggregateType::Buffers(buffer)) if buffer.optional => {
                    quote!(#name: ::cuweave::__private::SomeOrNone::from_bound(&self.#name))
                }
                _ => quote!(#name: &self.#name),
            }
        });
        let (described, sizes) = (self.described(), self.size_slots());
        let (bounds, hints) = self.hints(&scalars);
        let (chunks, evaluate) = self.steps.evaluation(name, &scalars);
        let table = table::table(self.lowered, self.signature, &self.steps, &self.setters, false);
        let (leaf_chunks, leaf) = self.steps.leaves(name, &scalars, &TypeParameters::default());
        let (arm_function, arm) = self.steps.arms(name, &scalars);
        let (enter_function, enter) = self.steps.calls(name, &scalars);
        let typed = self.steps.typed(name, &scalars);
        let handle = quote!(__table().handle());
        let functions = BodyMethods { table: handle, leaf, arm, evaluate, enter, ..BodyMethods::default() };
        let body = functions.implementation(name, &TypeParameters::default());
        quote! {
            #chunks
            #leaf_chunks
            #arm_function
            #enter_function
            #typed
            #bounds
            fn __table() -> &'static ::cuweave::__private::Table {
                #table
            }
            #[doc(hidden)]
            impl<'a> ::cuweave::__private::GraphFn for #name::Args<'a> {
                type Values<'v> = #name::Values<'v> where Self: 'v;

                fn table(
                    _: ::cuweave::__private::Token,
                ) -> ::core::option::Option<&'static ::cuweave::__private::Table> {
                    ::core::option::Option::Some(__table())
                }

                fn values(&self, _: ::cuweave::__private::Token) -> #name::Values<'_> {
                    #name::Values { #(#values,)* __lifetime: ::core::marker::PhantomData }
                }

                #described
                #sizes
                #hints
            }
            #body
        }
    }

    /// Generates the function that describes record and list arguments to the build.
    fn described(&self) -> Option<TokenStream> {
        let parts = self.signature.arguments.iter().filter_map(|argument| match &argument.kind {
            ArgumentKind::Part(part) => Some((&argument.name, part)),
            _ => None,
        });
        let parts = parts.map(|(name, part)| {
            let text = name.to_string();
            match part {
                AggregateType::Record(_) => quote! {
                    ::cuweave::__private::ArgumentRecord::describe(&self.#name, #text, ::cuweave::__private::Token)?
                },
                AggregateType::Records(..) => {
                    quote!(::cuweave::__private::describe_records(&self.#name, #text)?)
                }
                AggregateType::Buffers(_) => {
                    quote!(::cuweave::__private::ArgumentDescription::Buffers(
                        ::cuweave::__private::__count(&self.#name)
                    ))
                }
            }
        });
        self.has_aggregates().then(|| {
            quote! {
                fn described(
                    &self,
                    _: ::cuweave::__private::Token,
                ) -> ::cuweave::Result<::std::vec::Vec<::cuweave::__private::ArgumentDescription>> {
                    ::core::result::Result::Ok(::std::vec![#(#parts),*])
                }
            }
        })
    }

    /// Generates a function that evaluates the bounds of hints, and the method that visits the hints. Both are
    /// empty if no argument has hints; records may have some.
    fn hints(&self, scalars: &[&Ident]) -> (Option<TokenStream>, Option<TokenStream>) {
        let arguments = &self.signature.arguments;
        let has_hints = |argument: &Argument| {
            let is_record = |part: &AggregateType| !matches!(part, AggregateType::Buffers(_));
            !argument.hints.is_empty()
                || matches!(&argument.kind, ArgumentKind::Part(part) if is_record(part))
        };
        // rustc reports errors in bounds only after the macro's own errors are fixed.
        if self.lowered.faulty || !arguments.iter().any(has_hints) {
            return (None, None);
        }
        let [values, number] = ["values", "number"].map(|name| Ident::new(name, Span::mixed_site()));
        let mut bounds = Vec::new();
        let visits: Vec<TokenStream> = arguments
            .iter()
            .filter(|argument| argument.has_buffers())
            .map(|Argument { name, hints, .. }| {
                if hints.is_empty() {
                    return quote!(::cuweave::__private::Bound::hints(&self.#name, visitor););
                }
                let hints = hints.tokens(|bound| {
                    let at = bounds.len() as u32;
                    let bound = dim_tokens(bound, &BTreeSet::new());
                    bounds.push(quote!(#at => #bound,));
                    quote!(__hint_bound(&#values, #at))
                });
                quote!(visitor.hinted(::cuweave::__private::Bound::count(&self.#name), #hints);)
            })
            .collect();
        let name = self.name();
        let evaluated = (!bounds.is_empty()).then(|| {
            quote! {
                fn __hint_bound(#values: &#name::Values<'_>, #number: u32) -> ::cuweave::__private::Dim {
                    let #name::Values { #(#scalars,)* .. } = #values;
                    #(let #scalars = *#scalars;)*
                    match #number {
                        #(#bounds)*
                        _ => ::cuweave::__private::dim(0u64),
                    }
                }
            }
        });
        let taken = (!bounds.is_empty()).then(|| {
            quote!(let #values = ::cuweave::__private::GraphFn::values(self, ::cuweave::__private::Token);)
        });
        let method = quote! {
            fn hints(
                &self,
                visitor: &mut ::cuweave::__private::HintVisitor,
                _: ::cuweave::__private::Token,
            ) {
                #taken
                #(#visits)*
            }
        };
        (evaluated, Some(method))
    }

    /// Generates assertions that each output has the element type of the signature. rustc reports a
    /// mismatch at its name.
    fn returned_elements(&self) -> TokenStream {
        let lowered = self.lowered;
        let pairs =
            lowered.source.program.outputs.iter().zip(&self.signature.returned).zip(&lowered.spans.outputs);
        pairs
            .map(|((&buffer, returned), &span)| {
                let types = (&returned.element, &lowered.elements[buffer.index()]);
                let (declared, actual) = (located_type(types.0, span), located_type(types.1, span));
                quote_spanned! {span=>
                    const _: () = ::cuweave::__private::mark::leaves::<#actual, #declared>();
                }
            })
            .collect()
    }
}
