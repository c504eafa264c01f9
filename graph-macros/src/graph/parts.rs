//! The types of buffer, record and list arguments, as declared.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Expr, GenericArgument, Lifetime, PathArguments, Type};

use super::limits::{MAX_ELEMENTS, TypeRejected, refuse, too_long};
use super::unsupported_types::ungrouped;
use crate::report::Report;

/// The declaration of a buffer argument.
#[derive(Clone)]
pub struct BufferType {
    pub element: Type,
    pub len: Expr,
    pub memory: BufferMemory,
    pub mutable: bool,
    /// `&mut [MaybeUninit<T>; len]`: the caller may pass uninitialised elements.
    pub fresh: bool,
    /// True if the contents are discarded before each launch.
    pub discarded: bool,
    /// True for an `Option`, which is represented as a list of at most one buffer.
    pub optional: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BufferMemory {
    Device,
    Pinned,
    Taken,
}

/// The type of a record or list argument.
#[derive(Clone)]
pub enum AggregateType {
    /// `Layer<'_>`.
    Record(Box<Type>),
    /// `&[Layer<'_>]`, or `[Layer<'_>; N]` with its length.
    Records(Box<Type>, Option<usize>),
    /// `&[&[T; len]]` or `&[&mut [T; len]]`; `Option<&[T; len]>` or `Option<&mut [T; len]>`.
    Buffers(Box<BufferType>),
}

impl AggregateType {
    /// Parses the type of an argument or a field. None if it is neither a record nor a list.
    pub fn parse(ty: &Type, report: &mut Report) -> Result<Option<AggregateType>, TypeRejected> {
        let ty = ungrouped(ty);
        match ty {
            _ if is_record(ty) => Ok(Some(AggregateType::Record(Box::new(ty.clone())))),
            Type::Path(path)
                if crate::parameters::option_path_inner(path)
                    .is_some_and(|inner| is_reference(inner) || is_record(inner)) =>
            {
                match crate::parameters::option_path_inner(path).and_then(buffer_type) {
                    Some(buffer) if buffer.memory == BufferMemory::Device => {
                        Ok(Some(AggregateType::Buffers(Box::new(BufferType { optional: true, ..buffer }))))
                    }
                    _ => Err(refuse(
                        ty,
                        "this `Option` is not part of the language",
                        "a buffer that may be absent is `Option<&[T; len]>` or `Option<&mut [T; len]>`",
                        report,
                    )),
                }
            }
            Type::Array(array) if is_record(&array.elem) => match literal(&array.len) {
                Some(count) if count > MAX_ELEMENTS => Err(too_long(&array.len, "&[Layer<'_>]", report)),
                Some(count) => Ok(Some(AggregateType::Records(array.elem.clone(), Some(count)))),
                None => Err(refuse(
                    &array.len,
                    "the length of an array of records is not a literal",
                    "write the number, or take a slice: `&[Layer<'_>]`",
                    report,
                )),
            },
            Type::Reference(reference) => match ungrouped(&reference.elem) {
                record if is_record(record) => Err(refuse(
                    ty,
                    "a reference to a record is not part of the language",
                    "take the record itself, as in `layer: Layer<'_>`: graph functions only borrow it",
                    report,
                )),
                Type::Array(array) if is_record(&array.elem) => Err(refuse(
                    ty,
                    "a reference to an array of records is not part of the language",
                    "take the array itself, as in `[Layer<'_>; 4]`, or a slice, `&[Layer<'_>]`",
                    report,
                )),
                Type::Slice(slice) if is_record(&slice.elem) || is_reference(&slice.elem) => {
                    if reference.mutability.is_some() {
                        return Err(refuse(
                            ty,
                            "a slice of records or of buffers is not taken by `&mut`",
                            "write `&[Layer<'_>]` or `&[&mut [T; len]]`: the buffers that are written are declared by \
                                `&mut`",
                            report,
                        ));
                    }
                    match is_record(&slice.elem) {
                        true => Ok(Some(AggregateType::Records(slice.elem.clone(), None))),
                        false => AggregateType::buffers(ty, &slice.elem, report).map(Some),
                    }
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn buffers(ty: &Type, element: &Type, report: &mut Report) -> Result<AggregateType, TypeRejected> {
        match buffer_type(element) {
            Some(buffer) if buffer.memory == BufferMemory::Device => {
                Ok(AggregateType::Buffers(Box::new(buffer)))
            }
            Some(BufferType { memory: BufferMemory::Pinned, .. }) => Err(refuse(
                ty,
                "a slice of pinned buffers is not part of the language",
                "take them as arguments of their own",
                report,
            )),
            _ => Err(refuse(
                ty,
                "this slice is not part of the language",
                "a buffer is `&[T; len]` with its length, a slice of buffers `&[&[T; len]]`, a slice of records \
                    `&[Layer<'_>]`",
                report,
            )),
        }
    }

    /// Returns the type of the bound value.
    pub fn bound(&self, lifetime: &str) -> TokenStream {
        match self {
            AggregateType::Record(ty) => {
                let ty = with_lifetime(ty, lifetime);
                quote!(#ty)
            }
            AggregateType::Records(ty, count) => {
                let ty = with_lifetime(ty, lifetime);
                match count {
                    Some(count) => quote!([#ty; #count]),
                    None => quote!(::std::vec::Vec<#ty>),
                }
            }
            AggregateType::Buffers(buffer) => {
                let one = buffer.bound(lifetime);
                match buffer.optional {
                    true => quote!(::cuweave::__private::Optional<#one>),
                    false => quote!(::std::vec::Vec<#one>),
                }
            }
        }
    }

    /// Returns the type of the reference under which expressions and calls use it.
    pub fn reference_type(&self) -> TokenStream {
        match self {
            AggregateType::Record(ty) => {
                let ty = with_lifetime(ty, "'v");
                quote!(&'v #ty)
            }
            AggregateType::Records(ty, count) => {
                let ty = with_lifetime(ty, "'v");
                match count {
                    Some(count) => quote!(&'v [#ty; #count]),
                    None => quote!(&'v [#ty]),
                }
            }
            AggregateType::Buffers(buffer) => {
                let one = buffer.bound("'v");
                match buffer.optional {
                    true => quote!(::cuweave::__private::SomeOrNone<#one>),
                    false => quote!(&'v [#one]),
                }
            }
        }
    }
}

fn is_reference(ty: &Type) -> bool {
    matches!(ungrouped(ty), Type::Reference(_))
}

/// Returns true for a path with lifetime arguments, which marks a record.
pub fn is_record(ty: &Type) -> bool {
    let Type::Path(path) = ungrouped(ty) else { return false };
    path.path.segments.last().is_some_and(|last| match &last.arguments {
        PathArguments::AngleBracketed(list) => {
            list.args.iter().any(|one| matches!(one, GenericArgument::Lifetime(_)))
        }
        _ => false,
    })
}

/// Returns a type with all its lifetimes replaced, except `'static`.
pub fn with_lifetime(ty: &Type, name: &str) -> Type {
    struct Replace<'n>(&'n str);
    impl VisitMut for Replace<'_> {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            if lifetime.ident != "static" {
                *lifetime = Lifetime::new(self.0, lifetime.span());
            }
        }
    }
    let mut ty = ty.clone();
    Replace(name).visit_type_mut(&mut ty);
    ty
}

/// Returns the value of a literal array length. A value too large for `usize` is clamped.
pub fn literal(expr: &Expr) -> Option<usize> {
    let count = crate::substitution::constant(expr, &[]).filter(|&count| count >= 0)?;
    Some(usize::try_from(count).unwrap_or(usize::MAX))
}

impl BufferType {
    /// Returns the type of a slice of such buffers, for messages.
    pub fn slice(&self) -> &'static str {
        match (self.optional, self.mutable) {
            (false, false) => "&[&[T; len]]",
            (false, true) => "&[&mut [T; len]]",
            (true, false) => "Option<&[T; len]>",
            (true, true) => "Option<&mut [T; len]>",
        }
    }
}

/// Parses the type of a buffer: `[T; len]` by reference or by value, or `&Pinned<[T; len]>`. None for other
/// types.
pub fn buffer_type(ty: &Type) -> Option<BufferType> {
    match ungrouped(ty) {
        Type::Array(array) => Some(BufferType {
            element: (*array.elem).clone(),
            len: array.len.clone(),
            memory: BufferMemory::Taken,
            mutable: true,
            fresh: false,
            discarded: false,
            optional: false,
        }),
        Type::Reference(reference) => {
            let mutable = reference.mutability.is_some();
            match ungrouped(&reference.elem) {
                Type::Array(array) => {
                    let uninitialised = maybe_uninit(&array.elem).filter(|_| mutable);
                    Some(BufferType {
                        element: uninitialised.unwrap_or(&array.elem).clone(),
                        len: array.len.clone(),
                        memory: BufferMemory::Device,
                        mutable,
                        fresh: uninitialised.is_some(),
                        discarded: false,
                        optional: false,
                    })
                }
                Type::Path(path) => {
                    let last = path.path.segments.last().filter(|last| last.ident == "Pinned")?;
                    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
                    let Some(syn::GenericArgument::Type(Type::Array(array))) = arguments.args.first() else {
                        return None;
                    };
                    Some(BufferType {
                        element: (*array.elem).clone(),
                        len: array.len.clone(),
                        memory: BufferMemory::Pinned,
                        mutable,
                        fresh: false,
                        discarded: false,
                        optional: false,
                    })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the `T` in `MaybeUninit<T>`.
fn maybe_uninit(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ungrouped(ty) else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "MaybeUninit")?;
    match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            syn::GenericArgument::Type(ty) => Some(ty),
            _ => None,
        },
        _ => None,
    }
}
