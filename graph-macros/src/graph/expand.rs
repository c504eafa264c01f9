//! The code of a graph function: its arguments as a type, the table, what evaluates it, its methods.
//!
//! The module beside the function has what depends on types alone. What names kernels, or evaluates the user's
//! expressions, stands in the function's own scope, where the user's paths mean what they mean there.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{ItemFn, Type};

use super::lower::Lowered;
use super::signature::{Argument, ArgumentKind, BufferMemory, BufferType, Signature};
use super::steps::Steps;
use super::table;

/// Prints a function.
pub fn expand(function: &ItemFn, signature: &Signature, lowered: &Lowered) -> TokenStream {
    let expansion = Expansion { function, signature, lowered, steps: Steps::of(lowered) };
    let build = expansion.build();
    let module = expansion.module();
    let implementation = expansion.implementation();
    let methods = expansion.methods();
    let returned = expansion.returned_elements();
    let unknown = &lowered.unknown;
    let (buffers, assertions) = (expansion.steps.buffer_names(), expansion.steps.assertions());
    let table = table::table(lowered, signature, &expansion.steps);
    quote! {
        #build
        #module
        #[allow(
            clippy::all,
            clippy::no_effect_underscore_binding,
            clippy::used_underscore_binding,
            unused,
            non_camel_case_types
        )]
        const _: () = {
            use ::cuweave::__private as __private;
            #buffers
            #table
            #implementation
            #methods
            #assertions
            #returned
        };
        #(const _: () = {
            // Where a buffer should stand: rustc says what the name is, or that it is none.
            let _: ::core::convert::Infallible = #unknown;
        };)*
    }
}

struct Expansion<'e> {
    function: &'e ItemFn,
    signature: &'e Signature,
    lowered: &'e Lowered,
    steps: Steps<'e>,
}

/// How a kind of buffer argument is bound: the trait, its method, the type, whether that has a lifetime.
struct Binding {
    bind: &'static str,
    method: &'static str,
    bound: &'static str,
    borrows: bool,
}

fn binding(buffer: &BufferType) -> Binding {
    let (bind, method, bound, borrows) = match (buffer.memory, buffer.mutable) {
        (BufferMemory::Device, false) => ("BindShared", "bind_shared", "Shared", true),
        (BufferMemory::Device, true) => ("BindMut", "bind_mut", "Exclusive", true),
        (BufferMemory::Pinned, false) => ("BindPinned", "bind_pinned", "SharedPinned", true),
        (BufferMemory::Pinned, true) => ("BindPinnedMut", "bind_pinned_mut", "ExclusivePinned", true),
        (BufferMemory::Taken, _) => ("BindTaken", "bind_taken", "Taken", false),
    };
    Binding { bind, method, bound, borrows }
}

pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

impl BufferType {
    /// `Shared<'a, T>`.
    fn bound(&self) -> TokenStream {
        let (Binding { bound, borrows, .. }, element) = (binding(self), &self.element);
        let bound = ident(bound);
        if borrows {
            quote!(::cuweave::__private::#bound<'a, #element>)
        } else {
            quote!(::cuweave::__private::#bound<#element>)
        }
    }

    /// `impl BindShared<'a, T>`.
    fn bindable(&self) -> TokenStream {
        let (Binding { bind, borrows, .. }, element) = (binding(self), &self.element);
        let bind = ident(bind);
        if borrows {
            quote!(impl ::cuweave::__private::#bind<'a, #element>)
        } else {
            quote!(impl ::cuweave::__private::#bind<#element>)
        }
    }

    fn bind(&self, value: &TokenStream) -> TokenStream {
        let Binding { bind, method, .. } = binding(self);
        let (bind, method) = (ident(bind), ident(method));
        quote!(::cuweave::__private::#bind::#method(#value))
    }
}

impl Argument {
    fn parameter_type(&self) -> TokenStream {
        match &self.kind {
            ArgumentKind::Scalar(ty) => quote!(#ty),
            ArgumentKind::Buffer(buffer) => buffer.bindable(),
            ArgumentKind::Array(buffer, count) => {
                let one = buffer.bindable();
                quote!([#one; #count])
            }
        }
    }

    fn field_type(&self) -> TokenStream {
        match &self.kind {
            ArgumentKind::Scalar(ty) => quote!(#ty),
            ArgumentKind::Buffer(buffer) => buffer.bound(),
            ArgumentKind::Array(buffer, count) => {
                let one = buffer.bound();
                quote!([#one; #count])
            }
        }
    }

    /// What binds the parameter of this name.
    fn bound_value(&self) -> TokenStream {
        let name = &self.name;
        match &self.kind {
            ArgumentKind::Scalar(_) => quote!(#name),
            ArgumentKind::Buffer(buffer) => buffer.bind(&quote!(#name)),
            ArgumentKind::Array(buffer, _) => {
                let one = Ident::new("one", Span::mixed_site());
                let bind = buffer.bind(&quote!(#one));
                quote!(#name.map(|#one| #bind))
            }
        }
    }

    fn buffer(&self) -> Option<&BufferType> {
        match &self.kind {
            ArgumentKind::Scalar(_) => None,
            ArgumentKind::Buffer(buffer) | ArgumentKind::Array(buffer, _) => Some(buffer),
        }
    }

    fn is_array(&self) -> bool {
        matches!(self.kind, ArgumentKind::Array(..))
    }
}

/// A field of `Views` or `ViewsMut`: its type and what makes it from the argument's field.
struct ViewField {
    ty: TokenStream,
    value: TokenStream,
}

impl Argument {
    fn view(&self, mutable: bool) -> Option<ViewField> {
        let name = &self.name;
        let (one, method) = match &self.kind {
            ArgumentKind::Scalar(ty) => {
                return (!mutable).then(|| ViewField { ty: quote!(#ty), value: quote!(self.#name) });
            }
            ArgumentKind::Buffer(buffer) | ArgumentKind::Array(buffer, _) => {
                let element = &buffer.element;
                match (buffer.memory, mutable, buffer.mutable) {
                    (BufferMemory::Taken, ..) => return None,
                    (BufferMemory::Device, false, _) => {
                        (quote!(::cuweave::cudarc::driver::CudaView<'v, #element>), "view")
                    }
                    (BufferMemory::Device, true, true) => {
                        (quote!(::cuweave::cudarc::driver::CudaViewMut<'v, #element>), "view_mut")
                    }
                    (BufferMemory::Device, true, false) => (
                        quote!(::core::option::Option<::cuweave::cudarc::driver::CudaViewMut<'v, #element>>),
                        "view_mut",
                    ),
                    (BufferMemory::Pinned, false, _) => {
                        (quote!(&'v ::cuweave::cudarc::driver::PinnedHostSlice<#element>), "view")
                    }
                    (BufferMemory::Pinned, true, true) => {
                        (quote!(::cuweave::__private::PinnedViewMut<'v, #element>), "view_mut")
                    }
                    (BufferMemory::Pinned, true, false) => (
                        quote!(::core::option::Option<::cuweave::__private::PinnedViewMut<'v, #element>>),
                        "view_mut",
                    ),
                }
            }
        };
        let method = ident(method);
        Some(match (&self.kind, mutable) {
            (ArgumentKind::Array(_, count), false) => ViewField {
                ty: quote!([#one; #count]),
                value: quote!(self.#name.each_ref().map(|one| one.#method())),
            },
            (ArgumentKind::Array(_, count), true) => ViewField {
                ty: quote!([#one; #count]),
                value: quote!(self.#name.each_mut().map(|one| one.#method())),
            },
            _ => ViewField { ty: one, value: quote!(self.#name.#method()) },
        })
    }
}

impl Expansion<'_> {
    fn name(&self) -> &Ident {
        &self.function.sig.ident
    }

    fn scalars(&self) -> impl Iterator<Item = &Argument> {
        self.signature.arguments.iter().filter(|argument| argument.buffer().is_none())
    }

    /// The function that builds.
    fn build(&self) -> TokenStream {
        let name = self.name();
        let (attributes, visibility) = (&self.function.attrs, &self.function.vis);
        let parameters = self.signature.arguments.iter().map(|argument| {
            let (name, ty) = (&argument.name, argument.parameter_type());
            quote!(#name: #ty)
        });
        let fields = self.signature.arguments.iter().map(|argument| {
            let (name, value) = (&argument.name, argument.bound_value());
            match argument.buffer() {
                None => quote!(#name),
                Some(_) => quote!(#name: #value),
            }
        });
        let ctx = Ident::new("ctx", Span::mixed_site());
        let errors = self.errors_section();
        quote_spanned! {name.span()=>
            #(#attributes)*
            #errors
            #[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::needless_arbitrary_self_type, clippy::redundant_field_names, clippy::used_underscore_binding)]
            #visibility fn #name<'a>(
                #ctx: &::std::sync::Arc<::cuweave::cudarc::driver::CudaContext>,
                #(#parameters),*
            ) -> ::cuweave::Result<::cuweave::Graph<#name::Args<'a>>> {
                ::cuweave::__private::build(
                    #ctx,
                    #name::Args { #(#fields,)* __lifetime: ::core::marker::PhantomData },
                )
            }
        }
    }

    /// What the function's documentation says of errors, where the user has not said it.
    fn errors_section(&self) -> TokenStream {
        let mut documented =
            self.function.attrs.iter().filter(|attribute| attribute.path().is_ident("doc")).peekable();
        // A function without documentation shall be told of as such.
        if documented.peek().is_none()
            || documented.any(|attribute| quote!(#attribute).to_string().contains("# Errors"))
        {
            return TokenStream::new();
        }
        let text = "A buffer that is shorter than declared or of another context, two that overlap of which one is \
                    written, a length without a value, a launch configuration that the device does not take, a module that \
                    cannot be loaded, a failure of the driver: the error names the argument or the statement.";
        // Clippy does not see the documentation that other crates' macros add.
        quote_spanned! {self.name().span()=>
            #[doc = ""]
            #[doc = "# Errors"]
            #[doc = ""]
            #[doc = #text]
        }
    }

    /// The types beside it.
    fn module(&self) -> TokenStream {
        let (name, visibility) = (self.name(), &self.function.vis);
        let fields = self.signature.arguments.iter().map(|argument| {
            let (name, ty) = (&argument.name, argument.field_type());
            let documented = format!("The argument `{name}`.");
            quote!(#[doc = #documented] pub #name: #ty)
        });
        let views = self.view_fields(false).map(|(name, field)| {
            let (ty, documented) = (field.ty, format!("A view of the argument `{name}`."));
            quote!(#[doc = #documented] pub #name: #ty)
        });
        let views_mut = self.view_fields(true).map(|(name, field)| {
            let (ty, documented) = (field.ty, format!("A mutable view of the argument `{name}`."));
            quote!(#[doc = #documented] pub #name: #ty)
        });
        let documented = format!("The types of the graph function `{name}`.");
        quote! {
            #[doc = #documented]
            #[allow(clippy::all, unused, non_snake_case, private_interfaces, private_bounds)]
            #visibility mod #name {
                use super::*;

                /// What the graph is bound to: a field an argument.
                pub struct Args<'a> {
                    #(#fields,)*
                    #[doc(hidden)]
                    pub __lifetime: ::core::marker::PhantomData<&'a ()>,
                }

                /// Views of what is bound: a field an argument.
                pub struct Views<'v> {
                    #(#views,)*
                    #[doc(hidden)]
                    pub __lifetime: ::core::marker::PhantomData<&'v ()>,
                }

                /// Mutable views of what is bound mutably or owned.
                pub struct ViewsMut<'v> {
                    #(#views_mut,)*
                    #[doc(hidden)]
                    pub __lifetime: ::core::marker::PhantomData<&'v mut ()>,
                }

                /// What an exec of this graph function can do beside what every exec can.
                pub struct Methods<'a>(#[doc(hidden)] pub ::cuweave::__private::ExecCore<Args<'a>>);
            }
        }
    }

    fn view_fields(&self, mutable: bool) -> impl Iterator<Item = (&Ident, ViewField)> {
        self.signature
            .arguments
            .iter()
            .filter_map(move |argument| Some((&argument.name, argument.view(mutable)?)))
    }

    fn implementation(&self) -> TokenStream {
        let name = self.name();
        let scalars: Vec<&Ident> = self.scalars().map(|argument| &argument.name).collect();
        let leaves = &self.lowered.leaves;
        let operands =
            self.signature.arguments.iter().filter(|argument| argument.buffer().is_some()).map(|argument| {
                let name = &argument.name;
                if argument.is_array() {
                    quote!(for one in &mut self.#name { __private::Bound::visit(one, visitor); })
                } else {
                    quote!(__private::Bound::visit(&mut self.#name, visitor);)
                }
            });
        let (chunks, evaluate) = self.steps.evaluation(name, &scalars);
        let views = self.view_fields(false).map(|(name, ViewField { value, .. })| quote!(#name: #value));
        let views_mut = self.view_fields(true).map(|(name, ViewField { value, .. })| quote!(#name: #value));
        let list = Ident::new("dims", Span::mixed_site());
        let returned = self
            .lowered
            .returned_lengths
            .iter()
            .map(|(buffer, declared, actual)| quote!(#list.returned(#buffer, #declared, #actual);));
        quote! {
            #chunks
            impl<'a> __private::GraphFn for #name::Args<'a> {
                type Methods = #name::Methods<'a>;
                type Views<'v> = #name::Views<'v> where Self: 'v;
                type ViewsMut<'v> = #name::ViewsMut<'v> where Self: 'v;

                fn table() -> &'static __private::Table {
                    &__TABLE
                }

                fn dims(&self, #list: &mut __private::Dims) {
                    let Self { #(#scalars,)* .. } = self;
                    #(let #scalars = *#scalars;)*
                    #(#list.push(#leaves);)*
                    #(#returned)*
                }

                fn operands(&mut self, visitor: &mut __private::Visitor<'_>) {
                    #(#operands)*
                }

                fn evaluate(
                    &self,
                    step: u32,
                    evaluation: &mut __private::Evaluation<'_>,
                ) -> ::cuweave::Result<()> {
                    #evaluate
                }

                fn views(&self) -> Self::Views<'_> {
                    #name::Views { #(#views,)* __lifetime: ::core::marker::PhantomData }
                }

                fn views_mut(&mut self) -> Self::ViewsMut<'_> {
                    #name::ViewsMut { #(#views_mut,)* __lifetime: ::core::marker::PhantomData }
                }

                fn methods(core: __private::ExecCore<Self>) -> Self::Methods {
                    #name::Methods(core)
                }

                fn core(methods: &Self::Methods) -> &__private::ExecCore<Self> {
                    &methods.0
                }

                fn core_mut(methods: &mut Self::Methods) -> &mut __private::ExecCore<Self> {
                    &mut methods.0
                }

                fn into_core(methods: Self::Methods) -> __private::ExecCore<Self> {
                    methods.0
                }
            }
        }
    }

    /// An output has the elements that the signature says: rustc compares the types at its name.
    fn returned_elements(&self) -> TokenStream {
        let lowered = self.lowered;
        let pairs =
            lowered.source.program.outputs.iter().zip(&self.signature.returned).zip(&lowered.spans.outputs);
        pairs
            .map(|((&buffer, returned), &span)| {
                let (declared, actual) = (&returned.element, &lowered.elements[buffer as usize]);
                quote_spanned! {span=>
                    const _: fn(::core::marker::PhantomData<#actual>) -> ::core::marker::PhantomData<#declared> =
                        |element| element;
                }
            })
            .collect()
    }

    fn methods(&self) -> TokenStream {
        let name = self.name();
        let launch = self.launch();
        let setters = self.signature.arguments.iter().enumerate().filter_map(|(at, argument)| {
            let setter = self.setter(&argument.name);
            let value = &argument.name;
            let (ty, bound) = (argument.parameter_type(), argument.bound_value());
            match &argument.kind {
                ArgumentKind::Scalar(_) => {
                    let index = self.scalars().position(|scalar| scalar.name == argument.name)?;
                    let documented = format!("Sets the argument `{value}`: only what uses it is updated.");
                    Some(quote! {
                        #[doc = #documented]
                        ///
                        /// # Errors
                        ///
                        /// An argument that reaches a length, a launch configuration that the device does not take, a failure
                        /// of the driver.
                        pub fn #setter(&mut self, #value: #ty) -> ::cuweave::Result<()> {
                            self.0.set_scalar(#index, #value, |args| &mut args.#value)
                        }
                    })
                }
                ArgumentKind::Buffer(_) | ArgumentKind::Array(..) => {
                    let first = self.lowered.argument_buffers[at]?;
                    let documented =
                        format!("Binds the argument `{value}` anew: only what uses it is updated.");
                    Some(quote! {
                        #[doc = #documented]
                        ///
                        /// # Errors
                        ///
                        /// A buffer that is too short, of another context, or that overlaps another of which one is written; a
                        /// failure of the driver.
                        pub fn #setter(&mut self, #value: #ty) -> ::cuweave::Result<()> {
                            self.0.set_buffer(#first, #bound, |args| &mut args.#value)
                        }
                    })
                }
            }
        });
        quote! {
            // Named after the arguments, which rustc has spoken of where they are declared.
            #[allow(non_snake_case)]
            impl<'a> #name::Methods<'a> {
                #launch
                #(#setters)*
            }
        }
    }

    /// The name of an argument's setter: `set_s` also for `_s`, unless there is an `s`.
    fn setter(&self, argument: &Ident) -> Ident {
        let text = argument.to_string();
        let plain = text.trim_start_matches('_');
        let own = plain == text
            || plain.is_empty()
            || self.signature.arguments.iter().any(|other| other.name == plain);
        if own {
            format_ident!("set_{}", argument)
        } else {
            format_ident!("set_{plain}", span = argument.span())
        }
    }

    /// `launch`, with one parameter or two, and what it returns.
    fn launch(&self) -> TokenStream {
        let taken: Vec<&BufferType> = self
            .signature
            .arguments
            .iter()
            .filter_map(Argument::buffer)
            .filter(|buffer| buffer.memory == BufferMemory::Taken)
            .collect();
        let elements: Vec<&Type> = taken.iter().map(|buffer| &buffer.element).collect();
        let (parameter, handed) = if elements.is_empty() {
            (quote!(), quote!(()))
        } else {
            (quote!(, taken: (#(::cuweave::Output<'_, #elements>,)*)), quote!(taken))
        };
        let outputs: Vec<&Type> = self.signature.returned.iter().map(|returned| &returned.element).collect();
        let result = match outputs.as_slice() {
            [] => quote!(()),
            [one] => quote!(::cuweave::Output<'_, #one>),
            many => quote!((#(::cuweave::Output<'_, #many>),*)),
        };
        let indices = (0..outputs.len()).map(proc_macro2::Literal::usize_unsuffixed);
        let value = match outputs.as_slice() {
            [] => quote!(()),
            [one] => quote!(self.0.output::<#one>(0)?),
            many => quote!((#(self.0.output::<#many>(#indices)?),*)),
        };
        let indices = (0..outputs.len()).map(proc_macro2::Literal::usize_unsuffixed);
        let descriptions = match outputs.as_slice() {
            [] => quote!(),
            [one] => quote! {
                /// What a graph that takes the output over is built from.
                pub fn output(&self) -> ::cuweave::OutputDescription<#one> {
                    self.0.description::<#one>(0)
                }
            },
            many => quote! {
                /// What graphs that take the outputs over are built from.
                pub fn output(&self) -> (#(::cuweave::OutputDescription<#many>),*) {
                    (#(self.0.description::<#many>(#indices)),*)
                }
            },
        };
        quote! {
            #descriptions

            /// Launches the graph into a stream.
            ///
            /// # Errors
            ///
            /// A stream of another context or one that is capturing, an output handed over that is not the expected
            /// one or does not live, a failure of the driver: the exec is as it was.
            pub fn launch(
                &mut self,
                stream: &::std::sync::Arc<::cuweave::cudarc::driver::CudaStream>
                #parameter
            ) -> ::cuweave::Result<#result> {
                self.0.launch(stream, #handed)?;
                ::core::result::Result::Ok(#value)
            }
        }
    }
}

/// The identifier of a user's name, which may be raw.
pub(super) fn named(name: &str) -> Ident {
    match name.strip_prefix("r#") {
        Some(raw) => Ident::new_raw(raw, Span::call_site()),
        None => ident(name),
    }
}
