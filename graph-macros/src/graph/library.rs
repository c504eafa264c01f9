//! Expands `#[call] unsafe fn name(stream: &CallStream, ..)`: a library call, which graph functions call
//! like a graph function.
//!
//! The generated module has the same item as a graph function's module. Its table has a single statement,
//! which the build captures by running the body. The body is placed in a separate function outside the
//! module, where the user's names resolve as written.

use std::collections::BTreeSet;

use cuweave_core::codes::Code;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, Pat, PatIdent, ReturnType, Safety, Type};

use super::body::BodyMethods;
use super::generics::TypeParameters;
use super::idents::{debug_body, item};
use super::lower::library::{ScratchParameter, lower_call};
use super::lower::{Lowered, collect_names};
use super::module_types::CALL_MODULE_TYPES;
use super::parts::{BufferMemory, BufferType, buffer_type};
use super::setters::Setter;
use super::signature::{Argument, ArgumentKind, HostType, NumberedArgument, Signature, host_type, ungrouped};
use super::steps::Steps;
use super::table;
use crate::dims::dim_tokens;
use crate::prelude_words::use_prelude_words;
use crate::report::Report;

/// A parsed library call.
struct CallDeclaration<'f> {
    function: &'f ItemFn,
    /// The host values, buffers and scalars.
    signature: Signature,
    scratch: Vec<ScratchParameter>,
    /// The parameters after the stream, in the order of the declaration.
    parameters: Vec<CallParameter<'f>>,
    stream: Option<&'f FnArg>,
    types: TypeParameters,
    /// True if its ranks run it together.
    collective: bool,
    /// True if the body may get less scratch than is declared.
    less_scratch: bool,
}

/// A parameter: its pattern, and its index among the arguments or the scratch buffers.
struct CallParameter<'f> {
    pattern: &'f PatIdent,
    source: ParameterSource,
}

enum ParameterSource {
    /// An index into the arguments of the signature.
    Argument(usize),
    Scratch(usize),
}

/// Expands a library call.
pub fn call(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            for error in error {
                report.error(error.span(), Code::CW001, &error.to_string(), &[], None);
            }
            return report.into_tokens();
        }
    };
    let (collective, less_scratch) = match attribute.to_string().as_str() {
        "collective" => (true, false),
        "less_scratch" => (false, true),
        _ => (false, false),
    };
    if !(attribute.is_empty() || collective || less_scratch) {
        report.error(attribute.span(), Code::CW001, "`#[call]` takes no options", &[], None);
    }
    check_head(&function, &mut report);
    let declaration = CallDeclaration { less_scratch, ..declaration(&function, collective, &mut report) };
    let lowered = lower_call(
        &function.sig.ident,
        &declaration.signature,
        &declaration.scratch,
        collective,
        &mut report,
    );
    let words = use_prelude_words(&item);
    if report.failed() {
        let errors = report.into_tokens();
        return quote!(#errors #words);
    }
    let expansion = declaration.expand(&lowered);
    quote!(#expansion #words)
}

/// Reports syntax that a library call cannot have.
fn check_head(function: &ItemFn, report: &mut Report) {
    let head = &function.sig;
    let mut refuse = |span: Span, what: &str| {
        report.error(span, Code::CW001, &format!("a library call {what}"), &[], None);
    };
    if let Some(token) = &head.asyncness {
        refuse(token.span(), "is not `async`");
    }
    if let Some(token) = &head.constness {
        refuse(token.span(), "is not `const`");
    }
    if let Some(abi) = &head.abi {
        refuse(abi.span(), "has no ABI");
    }
    if let Some(variadic) = &head.variadic {
        refuse(variadic.span(), "has no `...`");
    }
    if !matches!(head.safety, Safety::Unsafe(_)) {
        report.error(
            head.ident.span(),
            Code::CW001,
            "a library call is `unsafe`",
            &["with it you vouch that the body only enqueues work in its stream, which touches no device memory but \
                the parameters"
                .into()],
            Some("write `unsafe fn`"),
        );
    }
}

fn declaration<'f>(function: &'f ItemFn, collective: bool, report: &mut Report) -> CallDeclaration<'f> {
    let mut inputs = function.sig.inputs.iter();
    let stream = inputs.next().filter(|input| is_stream(input));
    if stream.is_none() {
        report.error(
            function.sig.inputs.first().map_or_else(|| function.sig.ident.span(), Spanned::span),
            Code::CW001,
            "the first parameter of a library call is its stream",
            &[],
            Some("write `stream: &CallStream`"),
        );
    }
    let (mut arguments, mut scratch, mut parameters) = (Vec::new(), Vec::new(), Vec::new());
    for input in inputs {
        let FnArg::Typed(typed) = input else {
            report.error(input.span(), Code::CW001, "a library call has no `self`", &[], None);
            continue;
        };
        let Pat::Ident(pattern) = &*typed.pat else {
            report.error(
                typed.pat.span(),
                Code::CW001,
                "a parameter of a library call has a name",
                &[],
                None,
            );
            continue;
        };
        let name = &pattern.ident;
        let Some(kind) = kind(&typed.ty, report) else { continue };
        let source = match kind {
            ArgumentKind::Buffer(BufferType { element, len, memory: BufferMemory::Taken, .. }) => {
                scratch.push(ScratchParameter { name: name.clone(), element, len });
                ParameterSource::Scratch(scratch.len() - 1)
            }
            kind => {
                arguments.push(Argument {
                    name: name.clone(),
                    levels: Vec::new(),
                    kind,
                    at_least: None,
                    at_most: None,
                    hints: Default::default(),
                });
                ParameterSource::Argument(arguments.len() - 1)
            }
        };
        parameters.push(CallParameter { pattern, source });
    }
    let signature = Signature { arguments, returned: Vec::new(), misreturned: false, unknown: Vec::new() };
    let types = TypeParameters::from_generics(&function.sig.generics, report);
    CallDeclaration {
        function,
        signature,
        scratch,
        parameters,
        stream,
        types,
        collective,
        less_scratch: false,
    }
}

/// Returns true for `name: &CallStream`.
fn is_stream(input: &FnArg) -> bool {
    let FnArg::Typed(typed) = input else { return false };
    let Type::Reference(reference) = ungrouped(&typed.ty) else { return false };
    match ungrouped(&reference.elem) {
        Type::Path(path) => {
            reference.mutability.is_none()
                && path.path.segments.last().is_some_and(|last| last.ident == "CallStream")
        }
        _ => false,
    }
}

fn kind(ty: &Type, report: &mut Report) -> Option<ArgumentKind> {
    let ty = ungrouped(ty);
    let buffer = buffer_type(ty).filter(|buffer| {
        let element = ungrouped(&buffer.element);
        let wrapped = match element {
            Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "Atomic"),
            Type::Reference(_) => true,
            _ => false,
        };
        buffer.memory != BufferMemory::Pinned && !wrapped
    });
    if let Some(buffer) = buffer {
        return Some(ArgumentKind::Buffer(buffer));
    }
    if let Some(host) = host_type(ty).filter(|_| buffer_type(ty).is_none()) {
        return Some(ArgumentKind::Host(host));
    }
    if matches!(ty, Type::Reference(_) | Type::Slice(_) | Type::Array(_) | Type::Ptr(_)) {
        report.error(
            ty.span(),
            Code::CW001,
            "this type is not part of the language in the parameters of a library call",
            &[],
            Some("a buffer is `&[T; len]`, `&mut [T; len]` or `&mut [MaybeUninit<T>; len]`, memory for the call alone \
                `[T; len]`, a value of the host `&T` or `&mut T`; a scalar is passed by value"),
        );
        return None;
    }
    Some(ArgumentKind::Scalar(Box::new(ty.clone())))
}

impl CallDeclaration<'_> {
    fn expand(&self, lowered: &Lowered) -> TokenStream {
        let steps = Steps::new(lowered);
        let name = &self.function.sig.ident;
        let module = self.module();
        let known: Vec<&Ident> = self.known().map(|argument| &argument.name).collect();
        let (leaf_chunks, leaf) = steps.leaves(name, &known, &self.types);
        let setters = self.signature.numbered().map(|one| self.setter(&one)).collect();
        let generic = !self.types.is_empty();
        let table = table::table(lowered, &self.signature, &steps, &setters, generic);
        let own = match generic {
            true => {
                let layouts = table::layouts(lowered);
                quote!(__table().of_elements(#layouts).handle())
            }
            false => quote!(__table().handle()),
        };
        let functions = BodyMethods {
            table: own,
            leaf,
            capture: quote!(__capture(self, capture)),
            ..BodyMethods::default()
        };
        let implementation = functions.implementation(name, &self.types);
        let (body, capture, callee) = (self.body(), self.capture(), self.callee());
        let conditions = self.conditions();
        quote! {
            #module
            #(#conditions)*
            #[allow(
                clippy::all,
                clippy::no_effect_underscore_binding,
                clippy::used_underscore_binding,
                unused_variables,
                non_camel_case_types
            )]
            const _: () = {
                #leaf_chunks
                #callee
                #capture
                fn __table() -> &'static ::cuweave::__private::Table {
                    #table
                }
                #implementation
            };
            #body
        }
    }

    /// Returns the setter of a scalar: a size of a caller may reach those of calls that are captured again.
    fn setter(&self, of: &NumberedArgument<'_>) -> Setter<'_> {
        let reason = Some("a library call keeps its value".to_owned());
        match of.argument.is_scalar() && !self.collective {
            true => Setter { rising: reason, ..Setter::default() },
            false => Setter { fixed: reason, ..Setter::default() },
        }
    }

    fn known(&self) -> impl Iterator<Item = &Argument> {
        self.signature.arguments.iter().filter(|argument| argument.value_type().is_some())
    }

    /// Returns the `#[cfg]` attributes, which apply to all generated items.
    fn conditions(&self) -> impl Iterator<Item = &syn::Attribute> {
        self.function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"))
    }

    /// Generates the module that callers name. It has the documentation of the call.
    fn module(&self) -> TokenStream {
        let (name, visibility) = (&self.function.sig.ident, &self.function.vis);
        let documented = self.function.attrs.iter().filter(|attribute| attribute.path().is_ident("doc"));
        let head = format!("The library call `{name}`, for graph functions.");
        let conditions = self.conditions();
        let known = self.known().map(|argument| &argument.name);
        let inside = self.signature.inside_module(&CALL_MODULE_TYPES);
        let types = inside.arguments.iter().filter_map(Argument::value_type);
        let (declared, names, bounds) = (self.types.declared(), self.types.names(), self.types.conditions());
        let marker = self.types.marker();
        let (item, shown) = (item(name, &CALL_MODULE_TYPES), debug_body("Values", []));
        quote! {
            #[doc = #head]
            #[doc = ""]
            #(#documented)*
            #(#conditions)*
            #[allow(clippy::all, unused, non_snake_case, private_interfaces, private_bounds)]
            #visibility mod #name {
                use super::*;

                #item

                /// The scalars and host values that are passed to the body.
                #[doc(hidden)]
                pub struct Values<'v, #declared>
                #bounds
                {
                    #(pub(super) #known: #types,)*
                    pub(super) __marker: ::core::marker::PhantomData<#marker>,
                }

                impl<#declared> ::core::fmt::Debug for Values<'_, #names>
                #bounds
                {
                    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        #shown
                    }
                }
            }
        }
    }

    /// Generates `__call`, the method by which graph functions make the call. Its bounds let rustc check
    /// the arguments against the parameters.
    fn callee(&self) -> TokenStream {
        let name = &self.function.sig.ident;
        let (mut fitting, mut generics, mut parameters) = (Vec::new(), Vec::new(), Vec::new());
        let mut determined: Vec<&Type> = Vec::new();
        for (at, argument) in self.signature.arguments.iter().enumerate() {
            let value = &argument.name;
            let ArgumentKind::Buffer(BufferType { element, mutable, fresh, .. }) = &argument.kind else {
                let ty = argument.value_type();
                parameters.push(quote!(#value: #ty));
                continue;
            };
            let generic = format_ident!("__A{at}", span = Span::mixed_site());
            let declared = match (mutable, fresh) {
                (true, true) => quote!(Write),
                (true, false) => quote!(ReadWrite),
                (false, _) => quote!(Read),
            };
            // The first buffer of a type parameter determines the type, even if the buffer does not fit.
            // rustc then reports only the misfit.
            let is_first = self.types.are(element) && !determined.contains(&element);
            let says = is_first.then(|| quote!(+ ::cuweave::__private::OfElement<Element = #element>));
            determined.push(element);
            generics.push(quote! {
                #generic: ::cuweave::__private::Fits<::cuweave::__private::param::#declared<#element>> #says
            });
            parameters.push(quote!(_: #generic));
            fitting.push(generic);
        }
        let known = self.known().map(|argument| &argument.name);
        let (declared, names, bounds) = (self.types.declared(), self.types.names(), self.types.conditions());
        // With type parameters an opaque type: naming `Values` would make rustc repeat its errors about
        // their bounds.
        let values = match self.types.is_empty() {
            true => quote!(#name::Values<'v>),
            false => quote!(impl ::cuweave::__private::Body + use<'v, #names #(#fitting),*>),
        };
        let sizes = (!self.collective).then(|| {
            quote! {
                impl<const __I: usize, __Of> ::cuweave::__private::Rises<__I, __Of> for #name::__Item {}
                impl<const __I: usize> ::cuweave::__private::Takes<__I> for #name::__Item {}
            }
        });
        quote! {
            #[doc(hidden)]
            impl ::cuweave::__private::Returns<0> for #name::__Item {}
            #sizes
            // Host nodes are found when the call is captured.
            impl ::cuweave::__private::HoldsHost for #name::__Item {
                const HOST: bool = false;
            }
            #[doc(hidden)]
            impl #name::__Item {
                pub fn __table(self) -> &'static ::cuweave::__private::Table {
                    __table()
                }

                pub fn __returning<const COUNT: usize>(self) -> Self
                where
                    Self: ::cuweave::__private::Returns<COUNT>,
                {
                    self
                }

                pub fn __call<'v, #declared #(#generics),*>(self, #(#parameters),*) -> #values
                #bounds
                {
                    #name::Values::<'v, #names> { #(#known,)* __marker: ::core::marker::PhantomData }
                }
            }
        }
    }

    /// Returns the name of the function that holds the body.
    fn body_name(&self) -> Ident {
        format_ident!("__{}_body", self.function.sig.ident, span = Span::mixed_site())
    }

    /// Generates the function that holds the user's body. Its parameters are views of the memory.
    fn body(&self) -> TokenStream {
        let (name, output, block) = (self.body_name(), &self.function.sig.output, &self.function.block);
        let attributes = self.function.attrs.iter().filter(|attribute| !attribute.path().is_ident("doc"));
        let view = |element: &Type, mutable: bool| match mutable {
            true => quote!(&mut ::cuweave::cudarc::driver::CudaViewMut<'_, #element>),
            false => quote!(&::cuweave::cudarc::driver::CudaView<'_, #element>),
        };
        let parameters = self.parameters.iter().filter_map(|CallParameter { pattern, source }| {
            let ident = &pattern.ident;
            match source {
                ParameterSource::Scratch(at) => {
                    let ty = view(&self.scratch[*at].element, true);
                    Some(quote!(#ident: #ty))
                }
                ParameterSource::Argument(at) => {
                    let argument = &self.signature.arguments[*at];
                    Some(match &argument.kind {
                        ArgumentKind::Scalar(ty) => quote!(#pattern: #ty),
                        ArgumentKind::Host(HostType { ty, resource: true, .. }) => quote!(#ident: &mut #ty),
                        ArgumentKind::Host(HostType { ty, resource: false, .. }) => quote!(#ident: &#ty),
                        _ => {
                            let buffer = argument.buffer()?;
                            let ty = view(&buffer.element, buffer.mutable);
                            quote!(#ident: #ty)
                        }
                    })
                }
            }
        });
        let (declared, bounds) = (&self.function.sig.generics.params, self.types.conditions());
        // So that rustc reports only the parameters that neither the body nor a length uses.
        let in_lengths = self.in_lengths();
        let stream = self.stream;
        // Keep the user's own `unsafe` token: the lint `unsafe_code` must see it.
        let safety = &self.function.sig.safety;
        quote_spanned! {self.function.sig.ident.span()=>
            #(#attributes)*
            #[allow(clippy::too_many_arguments, clippy::missing_safety_doc, clippy::ptr_arg)]
            #safety fn #name<#declared>(#stream, #(#parameters),*) #output
            #bounds
            {
                #(let _ = &#in_lengths;)*
                #block
            }
        }
    }

    /// Returns the scalars and host values that lengths mention.
    fn in_lengths(&self) -> Vec<&Ident> {
        let mut mentioned = BTreeSet::new();
        let buffers = self.signature.arguments.iter().filter_map(Argument::buffer).map(|buffer| &buffer.len);
        for len in buffers.chain(self.scratch.iter().map(|scratch| &scratch.len)) {
            collect_names(len.to_token_stream(), &mut mentioned);
        }
        self.known()
            .map(|argument| &argument.name)
            .filter(|name| mentioned.contains(&name.to_string()))
            .collect()
    }

    /// Generates the function that obtains the memory of the parameters and runs the body while its stream
    /// is capturing.
    fn capture(&self) -> TokenStream {
        let (name, body) = (&self.function.sig.ident, self.body_name());
        let [values, capture, stream] =
            ["values", "capture", "stream"].map(|name| Ident::new(name, Span::mixed_site()));
        let known: Vec<&Ident> = self.known().map(|argument| &argument.name).collect();
        let (memory, resources) = (self.memory(&capture), self.resources(&capture));
        let given = self.given();
        let (declared, names, bounds) = (self.types.declared(), self.types.names(), self.types.conditions());
        let explicit = (!self.types.is_empty()).then(|| quote!(::<#names>));
        let call = quote!(unsafe { #body #explicit(#stream, #(#given),*) });
        let run = match &self.function.sig.output {
            ReturnType::Default => quote!(#capture.run(|#stream| {
                #call;
                ::core::result::Result::Ok::<(), ::core::convert::Infallible>(())
            })),
            // With this span rustc reports here if the body does not return a `Result` with a printable
            // error.
            ReturnType::Type(_, ty) => quote_spanned!(ty.span()=> #capture.run(|#stream| #call)),
        };
        quote! {
            #[allow(unsafe_code, unused_mut)]
            fn __capture<#declared>(
                #values: &#name::Values<'_, #names>,
                #capture: &mut ::cuweave::__private::CallCapture<'_>,
            ) -> ::cuweave::Result<()>
            #bounds
            {
                let #name::Values { #(#known,)* .. } = #values;
                #(let #known = *#known;)*
                #(#memory)*
                #(#resources)*
                #run
            }
        }
    }

    /// Generates the statements that obtain the memory of buffers and scratch from the capture.
    fn memory(&self, capture: &Ident) -> Vec<TokenStream> {
        let integers: BTreeSet<String> = self
            .signature
            .arguments
            .iter()
            .filter(|argument| matches!(argument.kind, ArgumentKind::Scalar(_)))
            .map(|argument| argument.name.to_string())
            .collect();
        let buffers = self.signature.arguments.iter().filter_map(|argument| match &argument.kind {
            ArgumentKind::Buffer(buffer) => Some((&argument.name, &buffer.element, &buffer.len, "buffer")),
            _ => None,
        });
        let method = if self.less_scratch { "at_most" } else { "buffer" };
        let scratch =
            self.scratch.iter().map(|scratch| (&scratch.name, &scratch.element, &scratch.len, method));
        let memory = buffers.chain(scratch).zip(0u32..).map(|((name, element, len, method), index)| {
            let (own, len) = (memory_name(name), dim_tokens(len, &integers));
            let method = Ident::new(method, Span::mixed_site());
            quote!(let mut #own = ::cuweave::__private::CallCapture::#method::<#element>(#capture, #index, #len)?;)
        });
        memory.collect()
    }

    /// Generates the statements that obtain resources from the capture.
    fn resources(&self, capture: &Ident) -> Vec<TokenStream> {
        let resources = self.signature.arguments.iter().filter_map(|argument| match &argument.kind {
            ArgumentKind::Host(host) if host.resource => {
                let (name, own, text) =
                    (&argument.name, memory_name(&argument.name), argument.name.to_string());
                Some(quote!(let mut #own = #capture.resource(#name, #text)?;))
            }
            _ => None,
        });
        resources.collect()
    }

    /// Returns the arguments for the body's call.
    fn given(&self) -> Vec<TokenStream> {
        let given = self.parameters.iter().filter_map(|CallParameter { pattern, source }| {
            let (name, own) = (&pattern.ident, memory_name(&pattern.ident));
            match source {
                ParameterSource::Scratch(_) => {
                    Some(quote!(&mut ::cuweave::__private::CallBuffer::view_mut(&mut #own)))
                }
                ParameterSource::Argument(at) => {
                    let argument = &self.signature.arguments[*at];
                    Some(match &argument.kind {
                        ArgumentKind::Host(HostType { resource: true, .. }) => quote!(&mut *#own),
                        ArgumentKind::Scalar(_) | ArgumentKind::Host(_) => quote!(#name),
                        _ if argument.buffer()?.mutable => {
                            quote!(&mut ::cuweave::__private::CallBuffer::view_mut(&mut #own))
                        }
                        _ => quote!(&::cuweave::__private::CallBuffer::view(&#own)),
                    })
                }
            }
        });
        given.collect()
    }
}

/// Returns the local name of a parameter's memory. The user's expressions cannot name it, because it has
/// mixed-site hygiene.
fn memory_name(parameter: &Ident) -> Ident {
    format_ident!("__memory_{parameter}", span = Span::mixed_site())
}
