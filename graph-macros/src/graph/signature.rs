//! Parses the signature of a graph function.

use cuweave_core::codes::Code;
use cuweave_core::ids::{ArgumentId, ScalarId};
use cuweave_core::index::Index;
use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Expr, FnArg, GenericParam, ItemFn, Pat, ReturnType, Safety, Type};

use super::attributes::{self, ArgumentAttributes};
use super::hints::{HINT_WITHOUT_BUFFER, MemoryHints};
use super::limits::{MAX_ELEMENTS, TypeRejected, too_long};
use super::parts::{AggregateType, BufferMemory, BufferType, buffer_type, literal};
use super::unmarked_records::FieldUses;
use super::unsupported_types;
pub use super::unsupported_types::ungrouped;
use crate::report::Report;

/// An argument of a graph function.
#[derive(Clone)]
pub struct Argument {
    pub name: Ident,
    /// The lint levels set on it.
    pub levels: Vec<Attribute>,
    pub kind: ArgumentKind,
    /// The number in `#[at_least(n)]`.
    pub at_least: Option<u64>,
    /// The maximum in `#[at_most(n)]`, which makes a scalar a size.
    pub at_most: Option<Expr>,
    /// The hints on managed memory.
    pub hints: MemoryHints,
}

/// The kind of an argument.
#[derive(Clone)]
pub enum ArgumentKind {
    /// Passed by value: a number, a launch configuration, a struct for a kernel.
    Scalar(Box<Type>),
    /// One buffer.
    Buffer(BufferType),
    /// `[&[T; len]; N]`.
    Array(BufferType, usize),
    /// A record, or a list whose length is known when the graph is built.
    Part(AggregateType),
    /// `&T` or `&mut T`: a host value, which is only passed on to library calls and host statements.
    Host(HostType),
}

/// The type of a host value.
#[derive(Clone)]
pub struct HostType {
    pub ty: Type,
    /// True for `&mut T`, a resource: the calls that take it stay in program order.
    pub resource: bool,
    /// True if the exec keeps it alive, for a host statement or an event, or as it is declared as `&Arc<T>`. It is
    /// bound as an `Arc`.
    pub kept: bool,
}

impl Signature {
    /// Marks the host values that host statements and events keep alive.
    pub fn keep(&mut self, names: &std::collections::BTreeSet<String>) {
        for argument in &mut self.arguments {
            if let ArgumentKind::Host(host) = &mut argument.kind {
                host.kept |= names.contains(&argument.name.to_string());
            }
        }
    }
}

impl Argument {
    /// Returns true for a scalar.
    pub fn is_scalar(&self) -> bool {
        matches!(self.kind, ArgumentKind::Scalar(_))
    }

    /// Returns true for a host value that the exec shares.
    pub fn is_kept(&self) -> bool {
        matches!(self.kind, ArgumentKind::Host(HostType { kept: true, .. }))
    }

    /// Returns true for a host value that is taken by `&`.
    fn is_shared_host_value(&self) -> bool {
        matches!(self.kind, ArgumentKind::Host(HostType { resource: false, .. }))
    }

    /// Returns true for an argument that binds buffers: neither a scalar nor a host value.
    pub fn has_buffers(&self) -> bool {
        !matches!(self.kind, ArgumentKind::Scalar(_) | ArgumentKind::Host(_))
    }
}

/// An argument with a number as a scalar.
pub struct NumberedArgument<'s> {
    pub number: ScalarId,
    pub at: ArgumentId,
    pub argument: &'s Argument,
}

impl NumberedArgument<'_> {
    pub fn name(&self) -> String {
        self.argument.name.to_string()
    }
}

/// A returned allocation.
#[derive(Clone)]
pub struct ReturnedBuffer {
    pub element: Type,
    pub len: Expr,
}

/// The signature of a graph function.
#[derive(Clone)]
pub struct Signature {
    pub arguments: Vec<Argument>,
    pub returned: Vec<ReturnedBuffer>,
    /// True if the return type was rejected.
    pub misreturned: bool,
    /// Names that faults have left without a meaning. Their uses are not reported. Arguments among them
    /// accept any type.
    pub unknown: Vec<Ident>,
}

impl Signature {
    /// Returns the arguments that have numbers as scalars, in the order of their numbers: the scalars, and then the
    /// host values that are taken by `&`. The numbers of record scalars follow.
    pub fn numbered(&self) -> impl Iterator<Item = NumberedArgument<'_>> {
        let arguments = || self.arguments.iter().enumerate();
        let scalars = arguments().filter(|(_, argument)| argument.is_scalar());
        let values = arguments().filter(|(_, argument)| argument.is_shared_host_value());
        scalars.chain(values).enumerate().map(|(number, (at, argument))| NumberedArgument {
            number: ScalarId::new(number),
            at: ArgumentId::new(at),
            argument,
        })
    }

    /// Returns true for an argument whose type was rejected.
    pub fn is_refused(&self, argument: &Argument) -> bool {
        self.unknown.contains(&argument.name)
    }
}

/// Parses the signature, and reports everything that is not part of the language.
pub fn signature(function: &ItemFn, report: &mut Report) -> Signature {
    refuse_qualifiers(&function.sig, report);
    // No code is generated for a generic function, so the parameters can be replaced by any type.
    let mut head = function.sig.clone();
    let types: Vec<Ident> = head.generics.type_params().map(|parameter| parameter.ident.clone()).collect();
    let constants = head.generics.const_params().map(|parameter| parameter.ident.clone()).collect();
    ReplaceGenerics { types, constants }.visit_signature_mut(&mut head);
    let parameters = head.generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(parameter) => Some(parameter.ident.clone()),
        GenericParam::Const(parameter) => Some(parameter.ident.clone()),
    });
    let mut unknown: Vec<Ident> = parameters.collect();
    let borrowed = FieldUses::new(&function.block);
    let mut arguments: Vec<Argument> =
        head.inputs.iter().filter_map(|input| argument(input, &borrowed, &mut unknown, report)).collect();
    report_duplicates(&mut arguments, &mut unknown, report);
    let returned = returned(&head.output, report);
    let misreturned = returned.is_none();
    Signature { arguments, returned: returned.unwrap_or_default(), misreturned, unknown }
}

/// Rejects qualifiers, generic parameters and variadic arguments.
fn refuse_qualifiers(head: &syn::Signature, report: &mut Report) {
    let mut refuse = |span: Span, what: &str, help: &str| {
        report.error(span, Code::CW001, &format!("{what} in a graph function"), &[], Some(help));
    };
    if let Some(token) = &head.asyncness {
        refuse(
            token.span(),
            "`async` is not part of the language",
            "delete it: a launch does not wait for the device",
        );
    }
    if let Safety::Unsafe(token) = &head.safety {
        refuse(
            token.span(),
            "`unsafe` is not part of the language",
            "delete it: the blocks that declare kernels are `unsafe`",
        );
    }
    if let Some(token) = &head.constness {
        refuse(
            token.span(),
            "`const` is not part of the language",
            "delete it: a graph is built at run time",
        );
    }
    if let Some(abi) = &head.abi {
        refuse(
            abi.span(),
            "an ABI is not part of the language",
            "delete it, or declare kernels with `#[cuweave::kernels(\"file.ptx\")]`",
        );
    }
    if !head.generics.params.is_empty() {
        let help = match head.generics.params.first() {
            Some(GenericParam::Lifetime(_)) => "delete the lifetimes: the attribute adds them",
            Some(GenericParam::Const(_)) => "take the number as a scalar argument, as in `n: u32`",
            _ => "write the type, as in `&[f32; n]`; `macro_rules!` writes the function for several types",
        };
        refuse(head.generics.span(), "generic parameters are not part of the language", help);
    }
    if let Some(clause) = &head.generics.where_clause {
        refuse(
            clause.span(),
            "a `where` clause is not part of the language",
            "delete it, and write types in place of parameters",
        );
    }
    if let Some(variadic) = &head.variadic {
        refuse(variadic.span(), "`...` is not part of the language", "name each argument");
    }
}

/// Returns the placeholder kind of a rejected argument.
pub(super) fn rejected_kind() -> ArgumentKind {
    ArgumentKind::Scalar(Box::new(syn::parse_quote!(::cuweave::__private::Refused)))
}

/// Reports duplicate names. The second argument is renamed.
fn report_duplicates(arguments: &mut [Argument], unknown: &mut Vec<Ident>, report: &mut Report) {
    let mut known: Vec<Ident> = Vec::new();
    for argument in arguments {
        if known.contains(&argument.name) {
            let message = format!("two arguments have the name `{}`", argument.name);
            report.error(
                argument.name.span(),
                Code::CW001,
                &message,
                &[],
                Some("give one of the two another name"),
            );
            argument.name = quote::format_ident!("__{}_{}", argument.name, known.len());
            argument.kind = rejected_kind();
            unknown.push(argument.name.clone());
        }
        known.push(argument.name.clone());
    }
}

/// Replaces type parameters by a type, and const parameters by a literal.
struct ReplaceGenerics {
    types: Vec<Ident>,
    constants: Vec<Ident>,
}

impl VisitMut for ReplaceGenerics {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Path(path) if self.constants.iter().any(|name| path.path.is_ident(name)) => {
                *expr = syn::parse_quote!(1);
            }
            _ => syn::visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::Path(path) if self.types.iter().any(|name| path.path.is_ident(name)) => {
                *ty = syn::parse_quote!(f32);
            }
            _ => syn::visit_mut::visit_type_mut(self, ty),
        }
    }
}

fn argument(
    input: &FnArg,
    borrowed: &FieldUses,
    unknown: &mut Vec<Ident>,
    report: &mut Report,
) -> Option<Argument> {
    let typed = match input {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(receiver) => {
            report.error(
                receiver.span(),
                Code::CW001,
                "`self` is not part of the language in a graph function",
                &[],
                None,
            );
            return None;
        }
    };
    let ArgumentAttributes { levels, at_least, at_most, hints } =
        attributes::parse_argument_attributes(&typed.attrs, report);
    let Pat::Ident(name) = &*typed.pat else {
        report.error(
            typed.pat.span(),
            Code::CW001,
            "a pattern is not part of the language in the arguments of a graph function",
            &[],
            Some("give the argument a name, as in `_n: u32`"),
        );
        return None;
    };
    let kind = match unsupported_types::of(&typed.ty) {
        Some((message, help)) => {
            report.error(typed.ty.span(), Code::CW001, message, &[], Some(help));
            None
        }
        None if borrowed.is_unmarked_record(&name.ident.to_string(), &typed.ty) => {
            let ty = match ungrouped(&typed.ty) {
                Type::Reference(reference) => ungrouped(&reference.elem).to_token_stream().to_string(),
                ty => ty.to_token_stream().to_string(),
            };
            let message = format!("`{}` is used as a record, and its type has no lifetime", name.ident);
            let help = format!(
                "write `{}: {ty}<'_>`: graph functions only borrow it; a buffer of its own is `&[T; len]`",
                name.ident
            );
            report.error(typed.ty.span(), Code::CW001, &message, &[], Some(&help));
            None
        }
        None => argument_kind(&typed.ty, report),
    };
    let mut kind = kind.unwrap_or_else(|| {
        unknown.push(name.ident.clone());
        rejected_kind()
    });
    let hints = hinted(&mut kind, hints, report);
    let at_most = at_most.filter(|_| {
        let is_scalar = matches!(kind, ArgumentKind::Scalar(_));
        if !is_scalar {
            let help = "write it on the scalar that the length depends on, as in `#[at_most(4096)] n: u32`";
            let message = "`#[at_most(n)]` stands on an argument that is no scalar";
            report.error(name.ident.span(), Code::CW001, message, &[], Some(help));
        }
        is_scalar
    });
    Some(Argument { name: name.ident.clone(), levels, kind, at_least, at_most, hints })
}

/// Returns the hints if the argument may have them, and reports them otherwise. A discarded argument is
/// uninitialised at first.
fn hinted(kind: &mut ArgumentKind, hints: MemoryHints, report: &mut Report) -> MemoryHints {
    let Some(span) = hints.span else { return hints };
    let (message, help) = match kind {
        ArgumentKind::Buffer(ty) | ArgumentKind::Array(ty, _) if ty.memory == BufferMemory::Device => {
            if !hints.discard || ty.mutable {
                ty.discarded = hints.discard;
                ty.fresh |= hints.discard;
                return hints;
            }
            (
                "`#[discard]` stands on an argument that is only read",
                "declare it as `&mut [T; len]`, and write all of it",
            )
        }
        ArgumentKind::Part(AggregateType::Buffers(_)) if !hints.discard => return hints,
        ArgumentKind::Part(AggregateType::Buffers(_)) => (
            "`#[discard]` stands on a list of buffers",
            "take an array of them, `[&mut [T; len]; 4]`, or a buffer as an argument `&mut [T; len]`",
        ),
        ArgumentKind::Part(_) => {
            (HINT_WITHOUT_BUFFER, "write `#[advise(..)]` and `#[prefetch(..)]` on the fields of the record")
        }
        _ => (HINT_WITHOUT_BUFFER, "take the buffer as an argument `&[T; len]` or `&mut [T; len]`"),
    };
    report.error(span, Code::CW001, message, &[], Some(help));
    MemoryHints::default()
}

/// Parses the type of an argument, or of a record's field. None if it was rejected.
pub fn argument_kind(ty: &Type, report: &mut Report) -> Option<ArgumentKind> {
    let ty = ungrouped(ty);
    match AggregateType::parse(ty, report) {
        Ok(Some(part)) => return Some(ArgumentKind::Part(part)),
        Ok(None) => {}
        Err(TypeRejected) => return None,
    }
    if let Type::Array(array) = ty
        && let Type::Reference(_) = ungrouped(&array.elem)
    {
        let buffer = buffer_type(&array.elem)?;
        if buffer.memory == BufferMemory::Pinned {
            report.error(
                array.elem.span(),
                Code::CW001,
                "an array of pinned buffers is not part of the language",
                &[],
                Some("take them as arguments of their own"),
            );
            return None;
        }
        let Some(count) = literal(&array.len) else {
            report.error(
                array.len.span(),
                Code::CW001,
                "the length of an array of buffers is not a literal",
                &["a macro sees the tokens of this function only, so it cannot know the value of a constant"
                    .into()],
                Some("write the number"),
            );
            return None;
        };
        if count > MAX_ELEMENTS {
            too_long(&array.len, buffer.slice(), report);
            return None;
        }
        return Some(ArgumentKind::Array(buffer, count));
    }
    if let Some(buffer) = buffer_type(ty) {
        return Some(ArgumentKind::Buffer(buffer));
    }
    if let Some(host) = host_type(ty) {
        return Some(ArgumentKind::Host(host));
    }
    if matches!(ty, Type::Reference(_) | Type::Slice(_)) {
        report.error(
            ty.span(),
            Code::CW001,
            "this type is not part of the language in the arguments of a graph function",
            &[],
            Some("a buffer is `&[T; len]` or `&mut [T; len]`, pinned host memory `&Pinned<[T; len]>`, a taken-over \
                allocation `[T; len]`; a scalar is passed by value"),
        );
        return None;
    }
    Some(ArgumentKind::Scalar(Box::new(ty.clone())))
}

/// Parses `&T` or `&mut T` where `T` is a path without lifetimes. None for other types.
pub fn host_type(ty: &Type) -> Option<HostType> {
    /// Types that must be passed by value.
    const SCALARS: [&str; 16] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
        "bool", "char",
    ];
    let Type::Reference(reference) = ungrouped(ty) else { return None };
    let Type::Path(path) = ungrouped(&reference.elem) else { return None };
    let mut lifetimes = Lifetimes { any: reference.lifetime.is_some() };
    syn::visit::visit_type_path(&mut lifetimes, path);
    if lifetimes.any || SCALARS.iter().any(|name| path.path.is_ident(name)) {
        return None;
    }
    let resource = reference.mutability.is_some();
    let shared = match ungrouped(&reference.elem) {
        Type::Path(path) if !resource => unsupported_types::shared_value(path),
        _ => None,
    };
    let ty = shared.unwrap_or(&reference.elem).clone();
    Some(HostType { ty, resource, kept: shared.is_some() })
}

/// Finds out if a type mentions lifetimes.
struct Lifetimes {
    any: bool,
}

impl<'t> syn::visit::Visit<'t> for Lifetimes {
    fn visit_lifetime(&mut self, _: &'t syn::Lifetime) {
        self.any = true;
    }
}

/// Returns the allocations in the return type. None if it was rejected.
fn returned(output: &ReturnType, report: &mut Report) -> Option<Vec<ReturnedBuffer>> {
    let ReturnType::Type(_, ty) = output else { return Some(Vec::new()) };
    let types: Vec<&Type> = match ungrouped(ty) {
        Type::Tuple(tuple) => tuple.elems.iter().collect(),
        ty => vec![ty],
    };
    let mut list = Vec::new();
    for ty in types {
        if let Type::Array(array) = ungrouped(ty) {
            list.push(ReturnedBuffer { element: (*array.elem).clone(), len: array.len.clone() });
        } else {
            report.error(
                ty.span(),
                Code::CW001,
                "a graph function returns allocations only",
                &[],
                Some(unsupported_types::of_returned(output)),
            );
            return None;
        }
    }
    Some(list)
}
