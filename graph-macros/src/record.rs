//! Expands `#[arguments] struct Layer { .. }`: a record of arguments becomes a struct of bound buffers.
//!
//! The lengths of its buffers are expressions over its own scalars. They are evaluated in a separate
//! function, where no generated name is in scope. Setters and views are in the submodules.

use std::collections::BTreeSet;

use cuweave_core::codes::Code;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Fields, ItemStruct, Type, Visibility};

use crate::dims::{compact, dim_tokens};
use crate::graph::attributes;
use crate::graph::hints::{HINT_WITHOUT_BUFFER, MemoryHints};
use crate::graph::idents::debug_body;
use crate::graph::lower::collect_names;
use crate::graph::parts::{AggregateType, BufferMemory, BufferType};
use crate::graph::signature::{ArgumentKind, argument_kind};
use crate::prelude_words::use_prelude_words;
use crate::report::Report;

mod setters;
mod sizes;
mod views;

/// The kind of a record's field.
enum FieldKind {
    Scalar(Box<Type>),
    Buffer(BufferType),
    /// `[&[T; len]; N]`.
    Array(BufferType, usize),
    Part(AggregateType),
}

/// A field of a record.
struct DeclaredField {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    kind: FieldKind,
    /// The hints on managed memory.
    hints: MemoryHints,
    /// The range of a size: a scalar with `#[at_most(n)]`.
    size: Option<SizeLimits>,
}

/// The smallest and the largest value of a size.
struct SizeLimits {
    least: u64,
    most: Expr,
}

/// A parsed record.
struct RecordDeclaration {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    fields: Vec<DeclaredField>,
    /// The names that lengths mention.
    lengths: BTreeSet<String>,
}

/// Expands a record.
pub fn arguments(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let parsed = match syn::parse2::<ItemStruct>(item.clone()) {
        Ok(parsed) => parsed,
        Err(_) => {
            let message = "`#[cuweave::arguments]` stands on a `struct` with named fields";
            let help = "a graph function has the attribute `#[cuweave::graph]`";
            report.error(first_span(&item), Code::CW001, message, &[], Some(help));
            return quote!(#item).into_iter().chain(report.into_tokens()).collect();
        }
    };
    if !attribute.is_empty() {
        let message = "`#[cuweave::arguments]` takes no options";
        report.error(attribute.span(), Code::CW001, message, &[], Some("write the attribute alone"));
    }
    let record = record(&parsed, &mut report);
    let words = use_prelude_words(&item);
    let expanded = record.expand();
    let diagnostics = report.into_tokens();
    quote!(#expanded #words #diagnostics)
}

fn first_span(item: &TokenStream) -> Span {
    item.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span())
}

fn record(item: &ItemStruct, report: &mut Report) -> RecordDeclaration {
    let mut refuse = |span: Span, message: &str, help: &str| {
        report.error(span, Code::CW001, message, &[], Some(help));
    };
    if !item.generics.params.is_empty() {
        refuse(
            item.generics.span(),
            "a record of arguments has no parameters",
            "write it without: the attribute adds the lifetime of its buffers",
        );
    }
    if let Some(clause) = &item.generics.where_clause {
        refuse(clause.span(), "a record of arguments has no `where` clause", "remove it");
    }
    if !matches!(item.fields, Fields::Named(_)) {
        refuse(
            item.fields.span(),
            "the fields of a record of arguments have names",
            "write `struct Layer { d: u32, q: &[f32; d * d] }`",
        );
    }
    let mut fields = Vec::new();
    let mut faulty = false;
    for field in &item.fields {
        let Some(name) = &field.ident else {
            faulty = true;
            continue;
        };
        match kind(&field.ty, report) {
            Some(kind) => {
                let (attributes, hints, limits) = attributes::parse_field_attributes(&field.attrs, report);
                let hints = hinted(&kind, hints, report);
                let size = DeclaredField::size_limits(name, &kind, limits, report);
                let (visibility, name) = (field.vis.clone(), name.clone());
                fields.push(DeclaredField { attributes, visibility, name, kind, hints, size });
            }
            None => faulty = true,
        }
    }
    if !faulty && fields.iter().all(|field| matches!(field.kind, FieldKind::Scalar(_))) {
        report.error(
            item.ident.span(),
            Code::CW001,
            &format!("the record `{}` has no buffer", item.ident),
            &["buffers are fields `&[T; len]` and `&mut [T; len]`, and those of records in it".into()],
            Some("pass its scalars by value, as a struct of your own or one by one"),
        );
    }
    DeclaredField::check_sizes(&fields, report);
    let mut lengths = BTreeSet::new();
    for buffer in fields.iter().filter_map(DeclaredField::buffer) {
        collect_names(buffer.len.to_token_stream(), &mut lengths);
    }
    RecordDeclaration {
        attributes: item.attrs.clone(),
        visibility: item.vis.clone(),
        name: item.ident.clone(),
        fields,
        lengths,
    }
}

/// Parses the type of a field.
fn kind(ty: &Type, report: &mut Report) -> Option<FieldKind> {
    let (memory, kind) = match argument_kind(ty, report)? {
        ArgumentKind::Scalar(ty) => return Some(FieldKind::Scalar(ty)),
        ArgumentKind::Part(part) => return Some(FieldKind::Part(part)),
        ArgumentKind::Buffer(buffer) => (Some(buffer.memory), Some(FieldKind::Buffer(buffer))),
        ArgumentKind::Array(buffer, count) => (Some(buffer.memory), Some(FieldKind::Array(buffer, count))),
        ArgumentKind::Host(_) => (None, None),
    };
    let (message, help) = match memory {
        Some(BufferMemory::Device) => return kind,
        None => (
            "a value of the host in a record is not part of the language",
            "take it as an argument of its own: `&T` or `&mut T`; a buffer is `&[T; len]`, a record `Inner<'_>`",
        ),
        Some(BufferMemory::Pinned) => (
            "pinned memory in a record is not part of the language",
            "take it as an argument of its own: `&Pinned<[T; len]>`",
        ),
        Some(BufferMemory::Taken) => (
            "an allocation in a record is not part of the language",
            "a buffer of a record is `&[T; len]` or `&mut [T; len]`; an array of scalars is a struct of your own; \
                take over an allocation as an argument: `[T; len]`",
        ),
    };
    report.error(ty.span(), Code::CW001, message, &[], Some(help));
    None
}

/// Returns the hints if the field may have them, and reports them otherwise.
fn hinted(kind: &FieldKind, hints: MemoryHints, report: &mut Report) -> MemoryHints {
    let Some(span) = hints.span else { return hints };
    let (message, help) = match kind {
        FieldKind::Buffer(_) | FieldKind::Array(..) | FieldKind::Part(AggregateType::Buffers(_))
            if hints.discard =>
        {
            (
                "`#[discard]` stands on a field of a record",
                "take the buffer as an argument of its own: a record does not say that all of it is written first",
            )
        }
        FieldKind::Buffer(_) | FieldKind::Array(..) | FieldKind::Part(AggregateType::Buffers(_)) => {
            return hints;
        }
        FieldKind::Part(_) => (HINT_WITHOUT_BUFFER, "write it on the fields of that record"),
        FieldKind::Scalar(_) => (HINT_WITHOUT_BUFFER, "write it on a field `&[T; len]` or `&mut [T; len]`"),
    };
    report.error(span, Code::CW001, message, &[], Some(help));
    MemoryHints::default()
}

impl DeclaredField {
    /// Returns the declaration of the field's buffer, or of its list's buffers.
    fn buffer(&self) -> Option<&BufferType> {
        match &self.kind {
            FieldKind::Buffer(buffer) | FieldKind::Array(buffer, _) => Some(buffer),
            FieldKind::Part(AggregateType::Buffers(buffer)) => Some(buffer),
            FieldKind::Scalar(_) | FieldKind::Part(_) => None,
        }
    }

    fn is_scalar(&self) -> bool {
        matches!(self.kind, FieldKind::Scalar(_))
    }

    /// Returns the type of the bound field.
    fn bound(&self, lifetime: &str) -> TokenStream {
        match &self.kind {
            FieldKind::Scalar(ty) => quote!(#ty),
            FieldKind::Buffer(buffer) => buffer.bound(lifetime),
            FieldKind::Array(buffer, count) => {
                let one = buffer.bound(lifetime);
                quote!([#one; #count])
            }
            FieldKind::Part(part) => part.bound(lifetime),
        }
    }

    /// Returns the type of the field's parameter in `new`, and the expression that converts it.
    fn bindable(&self) -> (TokenStream, TokenStream) {
        let name = &self.name;
        let one = Ident::new("one", Span::mixed_site());
        match &self.kind {
            FieldKind::Scalar(_) => (self.bound("'a"), quote!(#name)),
            FieldKind::Buffer(buffer) => (buffer.bindable(), buffer.bind(&quote!(#name))),
            FieldKind::Array(buffer, count) => {
                let (ty, bind) = (buffer.bindable(), buffer.bind(&quote!(#one)));
                (quote!([#ty; #count]), quote!(#name.map(|#one| #bind)))
            }
            FieldKind::Part(AggregateType::Buffers(buffer)) => buffer.list(name),
            FieldKind::Part(part) => (part.bound("'a"), quote!(#name)),
        }
    }
}

impl RecordDeclaration {
    fn expand(&self) -> TokenStream {
        let (structure, views, setters) = (self.structure(), self.views(), self.setters());
        let (bound, described, debug) = (self.bound(), self.described(), self.debug());
        let lent = self.lent();
        quote! {
            #structure
            #views
            #setters
            #[allow(
                clippy::all,
                clippy::no_effect_underscore_binding,
                clippy::used_underscore_binding,
                unused,
                non_camel_case_types
            )]
            const _: () = {
                #bound
                #described
                #lent
                #debug
            };
        }
    }

    /// Generates the struct and its constructor.
    fn structure(&self) -> TokenStream {
        let RecordDeclaration { attributes, visibility, name, fields, .. } = self;
        let declared = fields.iter().map(|field| {
            let (attributes, visibility, name, ty) =
                (&field.attributes, &field.visibility, &field.name, field.bound("'a"));
            quote!(#(#attributes)* #visibility #name: #ty)
        });
        let names = fields.iter().map(|field| &field.name);
        let (types, values): (Vec<TokenStream>, Vec<TokenStream>) =
            fields.iter().map(DeclaredField::bindable).unzip();
        let parameters = names.clone().zip(types).map(|(name, ty)| quote!(#name: #ty));
        let documented = format!("Binds the buffers of a `{name}`.");
        quote! {
            #(#attributes)*
            #visibility struct #name<'a> {
                #(#declared,)*
                #[doc(hidden)]
                __lifetime: ::core::marker::PhantomData<&'a ()>,
            }

            impl<'a> #name<'a> {
                #[doc = #documented]
                #[allow(
                    clippy::too_many_arguments, clippy::redundant_field_names,
                    clippy::used_underscore_binding, dead_code
                )]
                #visibility fn new(#(#parameters),*) -> Self {
                    Self { #(#names: #values,)* __lifetime: ::core::marker::PhantomData }
                }
            }
        }
    }

    /// Generates the traversal of its buffers in field order.
    fn bound(&self) -> TokenStream {
        let name = &self.name;
        let buffers = self.fields.iter().filter(|field| !field.is_scalar());
        let counted = buffers.clone().map(|field| &field.name);
        let visited = counted.clone();
        let (bounds, hints) = self.hints();
        quote! {
            #bounds

            #[doc(hidden)]
            impl ::cuweave::__private::Bound for #name<'_> {
                fn visit(&mut self, visitor: &mut ::cuweave::__private::Visitor<'_>) {
                    #(::cuweave::__private::Bound::visit(&mut self.#visited, visitor);)*
                }

                fn count(&self) -> u32 {
                    0 #(+ ::cuweave::__private::Bound::count(&self.#counted))*
                }

                fn hints(&self, visitor: &mut ::cuweave::__private::HintVisitor) {
                    #(#hints)*
                }
            }
        }
    }

    /// Generates a function that evaluates the bounds of hints, and the visits of the fields' hints. The function
    /// is empty without bounds.
    fn hints(&self) -> (Option<TokenStream>, Vec<TokenStream>) {
        let (mut bounds, mut mentioned) = (Vec::new(), BTreeSet::new());
        let visits = self
            .fields
            .iter()
            .filter(|field| !field.is_scalar())
            .map(|DeclaredField { name, hints, .. }| {
                if hints.is_empty() {
                    return quote!(::cuweave::__private::Bound::hints(&self.#name, visitor););
                }
                let hints = hints.tokens(|bound| {
                    let at = bounds.len() as u32;
                    collect_names(bound.to_token_stream(), &mut mentioned);
                    let bound = dim_tokens(bound, &BTreeSet::new());
                    bounds.push(quote!(#at => #bound,));
                    quote!(__hint_bound(self, #at))
                });
                quote!(visitor.hinted(::cuweave::__private::Bound::count(&self.#name), #hints);)
            })
            .collect();
        let evaluated =
            (!bounds.is_empty()).then(|| self.evaluation("__hint_bound", &mentioned, &[], &bounds));
        (evaluated, visits)
    }

    /// Generates the traits through which graph functions borrow the record.
    fn lent(&self) -> TokenStream {
        let name = &self.name;
        quote! {
            #[doc(hidden)]
            impl<'v> ::cuweave::__private::mark::PassedShared<'v> for #name<'v> {
                type Argument = &'v Self;

                fn lent(&'v self) -> &'v Self {
                    self
                }
            }

            #[doc(hidden)]
            impl<'v> ::cuweave::__private::mark::PassedMut<'v> for #name<'v> {
                type Argument = &'v Self;

                fn lent_mut(&'v self) -> &'v Self {
                    self
                }
            }
        }
    }

    /// Generates a function that evaluates one of several expressions by its number. `mentioned` has the names in the
    /// expressions, and `changed` statements that change scalars before.
    fn evaluation(
        &self,
        function: &str,
        mentioned: &BTreeSet<String>,
        changed: &[TokenStream],
        cases: &[TokenStream],
    ) -> TokenStream {
        let (name, function) = (&self.name, Ident::new(function, Span::call_site()));
        let [record, number] = ["record", "number"].map(|name| Ident::new(name, Span::mixed_site()));
        let used = self.fields.iter().filter(|field| field.is_scalar());
        let used: Vec<&Ident> =
            used.map(|field| &field.name).filter(|name| mentioned.contains(&name.to_string())).collect();
        quote! {
            fn #function(#record: &#name<'_>, #number: u32) -> ::cuweave::__private::Dim {
                let #name { #(#used,)* .. } = #record;
                #(let #used = *#used;)*
                #(#changed)*
                match #number {
                    #(#cases)*
                    _ => ::cuweave::__private::dim(0u64),
                }
            }
        }
    }

    /// Generates the description for the build, including the lengths.
    fn described(&self) -> TokenStream {
        let name = &self.name;
        let integers: BTreeSet<String> = BTreeSet::new();
        let lens = (0u32..).zip(&self.fields).filter_map(|(at, field)| {
            let len = dim_tokens(&field.buffer()?.len, &integers);
            Some(quote!(#at => #len,))
        });
        let lens: Vec<TokenStream> = lens.collect();
        let mut mentioned = self.lengths.clone();
        let largest = self.sizes().filter(|(_, field, _)| mentioned.contains(&field.name.to_string()));
        let largest: Vec<TokenStream> = largest.map(|(_, field, limits)| field.largest(limits)).collect();
        self.sizes().for_each(|(.., limits)| collect_names(limits.most.to_token_stream(), &mut mentioned));
        let evaluated = self.evaluation("__length", &mentioned, &largest, &lens);
        let sizes = self.size_checks();
        let fields = (0u32..).zip(&self.fields).map(|(at, field)| {
            let described = self.described_field(at, field);
            let text = field.name.to_string();
            quote!((::core::convert::From::from(#text), #described))
        });
        let before = (0u32..).zip(&self.fields).filter(|(_, field)| !field.is_scalar());
        let before = before.map(|(at, field)| {
            let name = &field.name;
            quote!(if field > #at { count += ::cuweave::__private::Bound::count(&self.#name); })
        });
        quote! {
            #evaluated
            #sizes

            #[doc(hidden)]
            impl ::cuweave::__private::ArgumentRecord for #name<'_> {
                fn describe(
                    &self,
                    name: &str,
                    _: ::cuweave::__private::Token,
                ) -> ::cuweave::Result<::cuweave::__private::ArgumentDescription> {
                    ::core::result::Result::Ok(
                        ::cuweave::__private::ArgumentDescription::Record(::std::vec![#(#fields),*])
                    )
                }

                fn before(&self, field: u32, _: ::cuweave::__private::Token) -> u32 {
                    let mut count = 0;
                    #(#before)*
                    count
                }
            }
        }
    }

    fn described_field(&self, at: u32, field: &DeclaredField) -> TokenStream {
        let (name, text) = (&field.name, field.name.to_string());
        let path = quote!(&::std::format!("{name}.{}", #text));
        let declared = |len: &Expr, method: &str| {
            let (line, of, method) =
                (field.name.span().start().line as u32, compact(len), format_ident!("{method}"));
            quote! {
                ::cuweave::__private::BufferDeclaration::#method(
                    &::cuweave::__private::BufferDeclaration {
                        file: ::core::file!(),
                        line: #line,
                        text: #of,
                        of: name,
                        field: #text,
                    },
                    &self.#name,
                    ::cuweave::__private::Dim::value(__length(self, #at)),
                )?
            }
        };
        match &field.kind {
            FieldKind::Scalar(_) if field.size.is_some() => quote! {{
                self.__size(#at, name, ::cuweave::__private::SizeValue::get(&self.#name))?;
                ::cuweave::__private::ArgumentDescription::Scalar
            }},
            FieldKind::Scalar(_) if self.lengths.contains(&text) => {
                quote!(::cuweave::__private::ArgumentDescription::Fixed)
            }
            FieldKind::Scalar(_) => quote!(::cuweave::__private::ArgumentDescription::Scalar),
            FieldKind::Buffer(buffer) => declared(&buffer.len, "buffer"),
            FieldKind::Array(buffer, _) => declared(&buffer.len, "buffers"),
            FieldKind::Part(AggregateType::Buffers(buffer)) => declared(&buffer.len, "buffers"),
            FieldKind::Part(AggregateType::Record(_)) => quote! {
                ::cuweave::__private::ArgumentRecord::describe(&self.#name, #path, ::cuweave::__private::Token)?
            },
            FieldKind::Part(AggregateType::Records(..)) => {
                quote!(::cuweave::__private::describe_records(&self.#name, #path)?)
            }
        }
    }

    /// Generates `Debug`, unless the user derives it.
    fn debug(&self) -> Option<TokenStream> {
        let derived = self.attributes.iter().any(|attribute| {
            let mut names = BTreeSet::new();
            collect_names(attribute.to_token_stream(), &mut names);
            names.contains("derive") && names.contains("Debug")
        });
        let (name, text) = (&self.name, self.name.to_string());
        let buffers = self.fields.iter().filter(|field| !field.is_scalar()).map(|field| &field.name);
        let shown = debug_body(&text, buffers);
        (!derived).then(|| {
            quote! {
                impl ::core::fmt::Debug for #name<'_> {
                    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        #shown
                    }
                }
            }
        })
    }
}
