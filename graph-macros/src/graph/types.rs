//! Generates the module beside a graph function: the types of its arguments, their views and its exec.

use cuweave_core::ir::BufferId;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::edit::edit_type;
use super::expansion::Expansion;
use super::idents::{debug_body, ident, item};
use super::module_types::GRAPH_MODULE_TYPES;
use super::parts::BufferMemory;
use super::signature::{Argument, ArgumentKind};

/// A field of `Views` or `ViewsMut`: its type, and the expression that creates it from the argument's
/// field.
struct ViewField {
    ty: TokenStream,
    value: TokenStream,
}

/// Returns the name of the parameter that provides the views of buffers.
fn lender() -> Ident {
    Ident::new("lender", Span::mixed_site())
}

/// Returns the name of the variable that holds the number of an argument's first buffer.
fn first_buffer(argument: usize) -> Ident {
    format_ident!("first_{argument}", span = Span::mixed_site())
}

impl Argument {
    /// Returns the field of the argument's view. `lender` provides the views, and `first` is the number of
    /// its first buffer.
    fn view(&self, mutable: bool, lender: &Ident, first: &TokenStream) -> Option<ViewField> {
        let name = &self.name;
        if let ArgumentKind::Part(part) = &self.kind {
            let bound = part.bound("'v");
            let borrow = if mutable { quote!(&'v mut) } else { quote!(&'v) };
            let lent = if mutable { quote!(&mut) } else { quote!(&) };
            return Some(ViewField {
                ty: quote!(<#borrow #bound as ::cuweave::__private::ToView<'v>>::View),
                value: quote!(::cuweave::__private::ToView::to_view(#lent self.#name, #lender, #first)),
            });
        }
        let one = match &self.kind {
            ArgumentKind::Part(_) => return None,
            ArgumentKind::Scalar(ty) => {
                return (!mutable).then(|| ViewField { ty: quote!(#ty), value: quote!(self.#name) });
            }
            ArgumentKind::Host(host) => {
                let ty = &host.ty;
                let shown = !mutable && !host.resource;
                return shown.then(|| ViewField { ty: quote!(&'v #ty), value: quote!(&self.#name) });
            }
            ArgumentKind::Buffer(buffer) | ArgumentKind::Array(buffer, _) => {
                let element = &buffer.element;
                match (buffer.memory, mutable, buffer.mutable) {
                    (BufferMemory::Taken, ..) => return None,
                    (BufferMemory::Device, false, _) => quote!(::cuweave::bind::DeviceView<'v, #element>),
                    (BufferMemory::Device, true, true) => {
                        quote!(::cuweave::bind::DeviceViewMut<'v, #element>)
                    }
                    (BufferMemory::Device, true, false) => {
                        quote!(::core::option::Option<::cuweave::bind::DeviceViewMut<'v, #element>>)
                    }
                    (BufferMemory::Pinned, false, _) => {
                        quote!(&'v ::cuweave::cudarc::driver::PinnedHostSlice<#element>)
                    }
                    (BufferMemory::Pinned, true, true) => {
                        quote!(::cuweave::__private::PinnedViewMut<'v, #element>)
                    }
                    (BufferMemory::Pinned, true, false) => {
                        quote!(::core::option::Option<::cuweave::__private::PinnedViewMut<'v, #element>>)
                    }
                }
            }
        };
        let ty = match &self.kind {
            ArgumentKind::Array(_, count) => quote!([#one; #count]),
            _ => one,
        };
        let borrow = if mutable { quote!(&mut) } else { quote!(&) };
        let value = quote!(::cuweave::__private::ToView::to_view(#borrow self.#name, #lender, #first));
        Some(ViewField { ty, value })
    }
}

/// Generates the module. Only the constructor of `Args` and the implementation of `Generated` access the
/// private fields, and both require a token.
pub(super) fn module(expansion: &Expansion<'_>) -> TokenStream {
    let (name, visibility) = (expansion.name(), &expansion.function.vis);
    let documented = format!("The types of the graph function `{name}`.");
    let exec =
        format!("The exec of the graph function `{name}`: a graph that can be launched, again and again.");
    let (args, views, views_mut) = (args(expansion), views(expansion, false), views(expansion, true));
    let (generated, edit) = (generated(expansion), edit_type(expansion));
    quote! {
        #[doc = #documented]
        #[allow(
            clippy::all,
            clippy::used_underscore_binding,
            unused,
            non_snake_case,
            private_interfaces,
            private_bounds
        )]
        #visibility mod #name {
            use super::*;

            #args
            #views
            #views_mut

            #[doc = #exec]
            ///
            /// It owns or borrows every operand. It can be sent to another thread, and is used by one
            /// thread at a time.
            #[must_use = "a graph does nothing until it is launched"]
            pub struct Exec<'a> {
                #[doc(hidden)]
                core: ::cuweave::__private::ExecCore<Args<'a>>,
            }

            impl ::core::fmt::Debug for Exec<'_> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    ::core::fmt::Debug::fmt(&self.core, f)
                }
            }

            #edit
            #generated
        }
    }
}

/// Generates `Args` with its constructor, `Values`, and the item.
fn args(expansion: &Expansion<'_>) -> TokenStream {
    let arguments = &expansion.signature.arguments;
    let names: Vec<&Ident> = arguments.iter().map(|argument| &argument.name).collect();
    let types: Vec<TokenStream> = arguments.iter().map(Argument::field_type).collect();
    let documented = names.iter().map(|name| format!("The argument `{name}`."));
    let (values, item, first) = (values(expansion), function_item(expansion), first(expansion));
    let buffers = arguments.iter().filter(|argument| argument.has_buffers());
    let shown = debug_body("Args", buffers.map(|argument| &argument.name));
    quote! {
        /// The arguments that a graph is bound to, one field per argument.
        pub struct Args<'a> {
            #(#[doc = #documented] pub #names: #types,)*
            #[doc(hidden)]
            __lifetime: ::core::marker::PhantomData<&'a ()>,
        }

        #values
        #item

        impl<'a> Args<'a> {
            // An inherent function: in a trait, the user's types would have to be as visible as the trait.
            #[doc(hidden)]
            pub(super) fn __new(#(#names: #types,)* _: ::cuweave::__private::Token) -> Self {
                Args { #(#names,)* __lifetime: ::core::marker::PhantomData }
            }

            #first
        }

        impl ::core::fmt::Debug for Args<'_> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #shown
            }
        }
    }
}

/// Generates `Values`.
fn values(expansion: &Expansion<'_>) -> TokenStream {
    let known: Vec<&Ident> = expansion.known().map(|argument| &argument.name).collect();
    let known_types = expansion.known().filter_map(Argument::value_type);
    let shown = debug_body("Values", []);
    quote! {
        /// The values of the scalar arguments, and the host values.
        #[doc(hidden)]
        pub struct Values<'v> {
            #(pub(super) #known: #known_types,)*
            pub(super) __lifetime: ::core::marker::PhantomData<&'v ()>,
        }

        impl ::core::fmt::Debug for Values<'_> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #shown
            }
        }
    }
}

/// Generates the function's item, and the names that calls look up in its module.
fn function_item(expansion: &Expansion<'_>) -> TokenStream {
    let outputs = expansion.signature.returned.iter().enumerate().map(|(at, returned)| {
        let (alias, element) = (format_ident!("__Output{at}"), &returned.element);
        quote!(#[doc(hidden)] pub type #alias = #element;)
    });
    let item = item(expansion.name(), &GRAPH_MODULE_TYPES);
    quote! {
        #item

        #[doc(hidden)]
        pub use ::cuweave::__private::limits::*;

        #[doc(hidden)]
        pub use ::cuweave::__private::nothing::*;
        #(#outputs)*
    }
}

/// Generates `Views` or `ViewsMut`.
fn views(expansion: &Expansion<'_>, mutable: bool) -> TokenStream {
    let (name, of, what, borrow) = if mutable {
        (
            ident("ViewsMut"),
            "A mutable view",
            "Mutable views of the buffers that are bound mutably or owned.",
            quote!(mut),
        )
    } else {
        (ident("Views"), "A view", "Views of the bound buffers: a field an argument.", quote!())
    };
    let shown = debug_body(&name.to_string(), []);
    let fields = view_fields(expansion, mutable).map(|(name, field)| {
        let (ty, documented) = (field.ty, format!("{of} of the argument `{name}`."));
        quote!(#[doc = #documented] pub #name: #ty)
    });
    quote! {
        #[doc = #what]
        pub struct #name<'v> {
            #(#fields,)*
            #[doc(hidden)]
            __lifetime: ::core::marker::PhantomData<&'v #borrow ()>,
        }

        impl ::core::fmt::Debug for #name<'_> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #shown
            }
        }
    }
}

fn view_fields<'e>(
    expansion: &'e Expansion<'e>,
    mutable: bool,
) -> impl Iterator<Item = (&'e Ident, ViewField)> {
    let buffers = expansion.lowered.arguments.buffers.iter().enumerate();
    expansion.signature.arguments.iter().zip(buffers).filter_map(move |(argument, (at, first))| {
        let first = if expansion.has_aggregates() {
            let first = first_buffer(at);
            quote!(#first)
        } else {
            let first = first.map_or(0, BufferId::as_u32);
            quote!(#first)
        };
        Some((&argument.name, argument.view(mutable, &lender(), &first)?))
    })
}

/// Generates the function that returns the number of an argument's first buffer. Needed only if records or
/// lists precede it.
fn first(expansion: &Expansion<'_>) -> Option<TokenStream> {
    let counts = (0u32..).zip(&expansion.signature.arguments).filter(|(_, argument)| argument.has_buffers());
    let counts = counts.map(|(at, argument)| {
        let name = &argument.name;
        quote!(if argument > #at { first += ::cuweave::__private::Bound::count(&self.#name); })
    });
    expansion.has_aggregates().then(|| {
        quote! {
            #[doc(hidden)]
            pub(super) fn __first(&self, argument: u32, _: ::cuweave::__private::Token) -> u32 {
                let mut first = 0;
                #(#counts)*
                first
            }
        }
    })
}

/// Generates the variables that hold the numbers of first buffers.
fn firsts(expansion: &Expansion<'_>) -> Option<TokenStream> {
    let numbers = 0..expansion.signature.arguments.len();
    let firsts = numbers.map(|at| {
        let (first, number) = (first_buffer(at), at as u32);
        quote!(let #first = self.__first(#number, ::cuweave::__private::Token);)
    });
    expansion.has_aggregates().then(|| quote!(#(#firsts)*))
}

/// Generates the implementation of `Generated`.
fn generated(expansion: &Expansion<'_>) -> TokenStream {
    let buffers = expansion.signature.arguments.iter().filter(|argument| argument.has_buffers());
    let firsts = firsts(expansion);
    let operands = buffers.map(|argument| {
        let name = &argument.name;
        quote!(::cuweave::__private::Bound::visit(&mut self.#name, visitor);)
    });
    let views = view_fields(expansion, false).map(|(name, ViewField { value, .. })| quote!(#name: #value));
    let views_mut = view_fields(expansion, true).map(|(name, ViewField { value, .. })| quote!(#name: #value));
    let lender = lender();
    quote! {
        impl<'a> ::cuweave::__private::GraphExec for Exec<'a> {
            type Function = Args<'a>;
        }

        #[doc(hidden)]
        impl<'a> ::cuweave::__private::Generated for Args<'a> {
            type Exec = Exec<'a>;
            type Views<'v> = Views<'v> where Self: 'v;
            type ViewsMut<'v> = ViewsMut<'v> where Self: 'v;
            fn operands(
                &mut self,
                visitor: &mut ::cuweave::__private::Visitor<'_>,
                _: ::cuweave::__private::Token,
            ) {
                #(#operands)*
            }

            fn views<'v>(
                &'v self,
                #lender: &::cuweave::__private::ViewContext<'v>,
                _: ::cuweave::__private::Token,
            ) -> Views<'v> {
                #firsts
                Views { #(#views,)* __lifetime: ::core::marker::PhantomData }
            }

            fn views_mut<'v>(
                &'v mut self,
                #lender: &::cuweave::__private::ViewContext<'v>,
                _: ::cuweave::__private::Token,
            ) -> ViewsMut<'v> {
                #firsts
                ViewsMut { #(#views_mut,)* __lifetime: ::core::marker::PhantomData }
            }

            fn exec(
                core: ::cuweave::__private::ExecCore<Self>,
                _: ::cuweave::__private::Token,
            ) -> Exec<'a> {
                Exec { core }
            }

            fn core<'e>(
                exec: &'e Exec<'a>,
                _: ::cuweave::__private::Token,
            ) -> &'e ::cuweave::__private::ExecCore<Self> {
                &exec.core
            }

            fn core_mut<'e>(
                exec: &'e mut Exec<'a>,
                _: ::cuweave::__private::Token,
            ) -> &'e mut ::cuweave::__private::ExecCore<Self> {
                &mut exec.core
            }

            fn into_core(
                exec: Exec<'a>,
                _: ::cuweave::__private::Token,
            ) -> ::cuweave::__private::ExecCore<Self> {
                exec.core
            }
        }
    }
}
