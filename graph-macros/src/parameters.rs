//! Parses the parameters of a declared kernel.

use cuweave_core::codes::Code;
use cuweave_ptx::nearest::nearest;
use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, FnArg, ForeignItemFn, Pat, PatIdent, ReturnType, Type, TypeArray};

use crate::report::Report;

/// A parameter of a kernel.
pub struct Parameter {
    pub name: Ident,
    /// The span of the whole parameter.
    pub span: Span,
    pub kind: ParameterKind,
}

/// The kind of a parameter.
pub enum ParameterKind {
    /// A scalar, by value.
    Scalar(Box<Type>),
    /// A buffer.
    Buffer {
        /// The declared access.
        access: DeclaredAccess,
        /// The element type.
        element: Box<Type>,
        /// The number of elements.
        len: Box<Expr>,
        /// True for an `Option`: a launch may pass none.
        optional: bool,
        /// For a table of pointers, the buffers that it points to. Its elements are `cuweave::Ptr<T>` or
        /// `cuweave::PtrMut<T>`.
        pointee: Option<Box<Pointee>>,
    },
    /// A `#[contract]` number, used only in lengths: the launch passes it, but the kernel does not take it.
    Contract(Box<Type>),
}

/// The buffers that a table of pointers points to.
pub struct Pointee {
    /// True for `PtrMut`: the kernel may write them.
    pub mutable: bool,
    /// The element type.
    pub element: Type,
    /// The number of elements of each buffer.
    pub len: Expr,
}

/// Returns the element type of a table of pointers.
pub fn pointer(element: &Type, mutable: bool, span: Span) -> Type {
    match mutable {
        true => syn::parse_quote_spanned!(span=> ::cuweave::PtrMut<#element>),
        false => syn::parse_quote_spanned!(span=> ::cuweave::Ptr<#element>),
    }
}

impl Parameter {
    /// Returns true if the kernel takes it.
    pub fn is_taken(&self) -> bool {
        !matches!(self.kind, ParameterKind::Contract(_))
    }

    /// Returns true if a launch may pass none for it.
    pub fn is_optional(&self) -> bool {
        matches!(self.kind, ParameterKind::Buffer { optional: true, .. })
    }

    /// Returns true if lengths may mention it.
    pub fn is_number(&self) -> bool {
        matches!(self.kind, ParameterKind::Scalar(_) | ParameterKind::Contract(_))
    }
}

/// The declared access to a buffer.
#[derive(Clone, Copy)]
pub enum DeclaredAccess {
    /// `&[T; len]`
    Read,
    /// `&mut [T; len]`
    ReadWrite,
    /// `&mut [MaybeUninit<T>; len]`
    Write,
    /// `&[Atomic<T>; len]`
    Atomic,
}

impl DeclaredAccess {
    /// Returns the name of the access in generated code.
    pub fn ident(self) -> Ident {
        Ident::new(
            match self {
                DeclaredAccess::Read => "Read",
                DeclaredAccess::ReadWrite => "ReadWrite",
                DeclaredAccess::Write => "Write",
                DeclaredAccess::Atomic => "Atomic",
            },
            Span::mixed_site(),
        )
    }
}

/// Parses the parameters of a kernel. Reports those that are not part of the language.
pub fn parameters(function: &ForeignItemFn, report: &mut Report) -> Vec<Parameter> {
    let head = &function.sig;
    if !head.generics.params.is_empty() {
        report.error(head.generics.span(), Code::CW001, "a kernel has no generic parameters", &[], None);
    }
    if let ReturnType::Type(_, ty) = &head.output {
        report.error(
            ty.span(),
            Code::CW001,
            "a kernel returns nothing",
            &[],
            Some("write results through `&mut`"),
        );
    }
    let parameters: Vec<Parameter> =
        head.inputs.iter().filter_map(|input| parameter(input, report)).collect();
    lengths(function, &parameters, report);
    parameters
}

/// Reports names in lengths that are not declared. A name without a lower-case letter is taken as a
/// constant.
fn lengths(function: &ForeignItemFn, parameters: &[Parameter], report: &mut Report) {
    let name = |input: &FnArg| match input {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(name) => Some(name.ident.to_string()),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    };
    let declared: Vec<String> = function.sig.inputs.iter().filter_map(name).collect();
    let numbers = parameters.iter().filter(|parameter| parameter.is_number());
    let scalars: Vec<String> = numbers.map(|parameter| parameter.name.to_string()).collect();
    let mut reported: Vec<String> = Vec::new();
    for parameter in parameters {
        let ParameterKind::Buffer { len, pointee, .. } = &parameter.kind else { continue };
        let inner = pointee.iter().flat_map(|pointee| free_names(&pointee.len));
        for unknown in free_names(len).into_iter().chain(inner) {
            let text = unknown.to_string();
            let is_constant = !text.contains(char::is_lowercase);
            if is_constant || declared.contains(&text) || reported.contains(&text) {
                continue;
            }
            let known: Vec<String> = scalars.iter().map(|name| format!("`{name}`")).collect();
            let note = match known.as_slice() {
                [] => "it has no scalar parameter".to_owned(),
                [one] => format!("its scalar parameter is {one}"),
                several => format!("its scalar parameters are {}", several.join(", ")),
            };
            let help = match nearest(&text, scalars.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "compute the length of its parameters; if the kernel does not take the number, declare it as a \
                     number of the contract, `#[contract] {text}: u32`, which the launch gives in its place; a \
                     constant has no lower-case letters"
                ),
            };
            report.error(
                unknown.span(),
                Code::CW001,
                &format!(
                    "the length of `{}` is computed of `{text}`, which is no parameter of the kernel `{}`",
                    parameter.name, function.sig.ident
                ),
                &[note],
                Some(&help),
            );
            reported.push(text);
        }
    }
}

fn parameter(input: &FnArg, report: &mut Report) -> Option<Parameter> {
    let FnArg::Typed(typed) = input else {
        report.error(input.span(), Code::CW001, "a kernel has no `self`", &[], None);
        return None;
    };
    let Pat::Ident(name) = &*typed.pat else {
        report.error(typed.pat.span(), Code::CW001, "a parameter of a kernel has a name", &[], None);
        return None;
    };
    let contract = typed.attrs.iter().any(|attribute| attribute.path().is_ident("contract"));
    let (ty, optional) = match option_inner(&typed.ty) {
        Some(inner) => (inner, true),
        None => (&*typed.ty, false),
    };
    let kind = match ty {
        ty if is_condition(ty) && !optional && !contract => ParameterKind::Buffer {
            access: DeclaredAccess::Write,
            element: Box::new(ty.clone()),
            len: Box::new(syn::parse_quote_spanned!(ty.span()=> 1)),
            optional: false,
            pointee: None,
        },
        Type::Path(_) if optional => {
            return not_a_parameter(
                &typed.ty,
                "a buffer that may be absent is `Option<&[T; len]>` or `Option<&mut [T; len]>`, a number always has a \
                    value",
                report,
            );
        }
        Type::Reference(_) | Type::Array(_) | Type::Slice(_) | Type::Ptr(_) if contract => {
            report.error(
                typed.span(),
                Code::CW001,
                "`#[contract]` stands on a number that the kernel does not take",
                &[],
                Some("write `#[contract] rows: u32`, and name it in lengths: `&[f32; rows * n]`"),
            );
            return None;
        }
        ty if contract => ParameterKind::Contract(Box::new(ty.clone())),
        Type::Reference(reference) => {
            let Type::Array(array) = &*reference.elem else {
                return not_a_parameter(
                    &typed.ty,
                    "a buffer is `&[T; len]`, `&mut [T; len]`, `&mut [MaybeUninit<T>; len]` or `&[Atomic<T>; len]`",
                    report,
                );
            };
            let mutable = reference.mutability.is_some();
            if is_condition(&array.elem) {
                return not_a_parameter(&typed.ty, "a condition is passed by value: `go: Condition`", report);
            }
            if let Some(pointee) = pointee(&array.elem) {
                let Some(pointee) = pointee.filter(|_| !mutable && !optional) else {
                    return not_a_parameter(
                        &typed.ty,
                        "a table of pointers is `&[Ptr<[T; len]>; n]`, or `&[PtrMut<[T; len]>; n]` if the kernel \
                            writes through them",
                        report,
                    );
                };
                return Some(Parameter {
                    name: name.ident.clone(),
                    span: typed.span(),
                    kind: table(array, pointee),
                });
            }
            let (access, element) = match (wrapped(&array.elem), mutable) {
                (Some(("MaybeUninit", element)), true) => (DeclaredAccess::Write, element),
                (Some(("Atomic", element)), false) => (DeclaredAccess::Atomic, element),
                (Some((wrapper, _)), _) => {
                    let help = match wrapper {
                        "Atomic" => "a buffer updated by atomics is `&[Atomic<T>; len]`",
                        _ => "a buffer that is only written is `&mut [MaybeUninit<T>; len]`",
                    };
                    return not_a_parameter(&typed.ty, help, report);
                }
                (None, true) => (DeclaredAccess::ReadWrite, (*array.elem).clone()),
                (None, false) => (DeclaredAccess::Read, (*array.elem).clone()),
            };
            ParameterKind::Buffer {
                access,
                element: Box::new(element),
                len: Box::new(array.len.clone()),
                optional,
                pointee: None,
            }
        }
        Type::Array(_) | Type::Slice(_) | Type::Ptr(_) => {
            return not_a_parameter(
                &typed.ty,
                "a buffer is `&[T; len]`, `&mut [T; len]`, `&mut [MaybeUninit<T>; len]` or `&[Atomic<T>; len]`, a \
                    scalar a type that is `Copy + DeviceRepr`",
                report,
            );
        }
        ty => ParameterKind::Scalar(Box::new(ty.clone())),
    };
    Some(Parameter { name: name.ident.clone(), span: typed.span(), kind })
}

/// Returns true for `Condition`, which a kernel sets.
pub fn is_condition(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Condition" && last.arguments.is_none()),
        Type::Paren(inner) => is_condition(&inner.elem),
        Type::Group(inner) => is_condition(&inner.elem),
        _ => false,
    }
}

/// Returns the kind of a table of pointers.
fn table(array: &TypeArray, pointee: Pointee) -> ParameterKind {
    ParameterKind::Buffer {
        access: DeclaredAccess::Read,
        element: Box::new(pointer(&pointee.element, pointee.mutable, pointee.element.span())),
        len: Box::new(array.len.clone()),
        optional: false,
        pointee: Some(Box::new(pointee)),
    }
}

/// Reports a type that no parameter can have.
fn not_a_parameter(ty: &Type, help: &str, report: &mut Report) -> Option<Parameter> {
    let message = "this type is not part of the language in the parameters of a kernel";
    report.error(ty.span(), Code::CW001, message, &[], Some(help));
    None
}

/// Returns the `T` in `Option<T>`.
pub fn option_inner(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Path(path) => option_path_inner(path),
        _ => None,
    }
}

/// Returns the `T` in the path `Option<T>`.
pub fn option_path_inner(path: &syn::TypePath) -> Option<&Type> {
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let syn::PathArguments::AngleBracketed(list) = &last.arguments else { return None };
    match list.args.first()? {
        syn::GenericArgument::Type(inner) if list.args.len() == 1 => Some(inner),
        _ => None,
    }
}

/// Returns the free names in a length that may denote parameters: neither called functions nor names bound
/// in the expression.
fn free_names(len: &Expr) -> Vec<Ident> {
    #[derive(Default)]
    struct Free {
        names: Vec<Ident>,
        bound: Vec<Ident>,
    }
    impl<'e> Visit<'e> for Free {
        fn visit_expr(&mut self, expr: &'e Expr) {
            match expr {
                Expr::Path(path) => self.names.extend(path.path.get_ident().cloned()),
                Expr::Call(call) if matches!(&*call.func, Expr::Path(_)) => {
                    call.args.iter().for_each(|argument| self.visit_expr(argument));
                }
                _ => visit::visit_expr(self, expr),
            }
        }

        fn visit_pat_ident(&mut self, pattern: &'e PatIdent) {
            self.bound.push(pattern.ident.clone());
            visit::visit_pat_ident(self, pattern);
        }
    }
    let mut free = Free::default();
    free.visit_expr(len);
    let Free { mut names, bound } = free;
    names.retain(|name| !bound.contains(name));
    names
}

/// Parses `Ptr<[T; len]>` and `PtrMut<[T; len]>`. `Some(None)` if the pointee is not a buffer, None for
/// other types.
fn pointee(ty: &Type) -> Option<Option<Pointee>> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let mutable = last.ident == "PtrMut";
    if !(mutable || last.ident == "Ptr") {
        return None;
    }
    let syn::PathArguments::AngleBracketed(list) = &last.arguments else { return Some(None) };
    Some(match list.args.first() {
        Some(syn::GenericArgument::Type(Type::Array(array))) if list.args.len() == 1 => {
            Some(Pointee { mutable, element: (*array.elem).clone(), len: array.len.clone() })
        }
        _ => None,
    })
}

/// Returns the `T` in `Multimem<T>`, the elements of a multicast object.
pub fn multimem_element(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Multimem")?;
    let syn::PathArguments::AngleBracketed(list) = &last.arguments else { return None };
    match list.args.first()? {
        syn::GenericArgument::Type(element) if list.args.len() == 1 => Some(element),
        _ => None,
    }
}

/// Returns the wrapper's name and the `T` in `MaybeUninit<T>` or `Atomic<T>`.
fn wrapped(ty: &Type) -> Option<(&'static str, Type)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let wrapper = ["MaybeUninit", "Atomic"].into_iter().find(|name| last.ident == name)?;
    let syn::PathArguments::AngleBracketed(list) = &last.arguments else { return None };
    match list.args.first()? {
        syn::GenericArgument::Type(element) => Some((wrapper, element.clone())),
        _ => None,
    }
}
