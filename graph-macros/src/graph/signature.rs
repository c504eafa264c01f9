//! The signature of a graph function, and what `#[graph(...)]` asks for.

use cuweave_core::codes::Code;
use cuweave_core::ir::{Launches, Memory, Options, Order};
use cuweave_ptx::nearest::nearest;
use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Expr, FnArg, ItemFn, Pat, ReturnType, Safety, Type};

use super::attributes;
use super::parts::{BufferMemory, BufferType, PartType, Refused, buffer_type, ungrouped};
use crate::report::Report;

/// An argument.
pub struct Argument {
    pub name: Ident,
    /// The levels of lints that stand on it.
    pub levels: Vec<Attribute>,
    pub kind: ArgumentKind,
    /// The number in `#[at_least(n)]`.
    pub at_least: Option<u64>,
}

/// The kind of an argument.
pub enum ArgumentKind {
    /// By value: a number, a configuration, a struct for a kernel.
    Scalar(Box<Type>),
    /// One buffer.
    Buffer(BufferType),
    /// `[&[T; len]; N]`.
    Array(BufferType, usize),
    /// A record, or a list whose length the build knows.
    Part(PartType),
}

impl Argument {
    /// Returns true for a scalar.
    pub fn is_scalar(&self) -> bool {
        matches!(self.kind, ArgumentKind::Scalar(_))
    }
}

/// A returned allocation.
pub struct Returned {
    pub element: Type,
    pub len: Expr,
}

/// A graph function's head.
pub struct Signature {
    pub arguments: Vec<Argument>,
    pub returned: Vec<Returned>,
    /// The names of faulty arguments: nothing is said of their uses.
    pub faulty: Vec<Ident>,
}

/// Reads the head, and reports what is not part of the language.
pub fn signature(function: &ItemFn, report: &mut Report) -> Signature {
    let head = &function.sig;
    let mut refuse = |span: Span, what: &str| {
        report.error(span, Code::CW001, &format!("{what} in a graph function"), &[], None);
    };
    if let Some(token) = &head.asyncness {
        refuse(token.span(), "`async` is not part of the language");
    }
    if let Safety::Unsafe(token) = &head.safety {
        refuse(token.span(), "`unsafe` is not part of the language");
    }
    if let Some(token) = &head.constness {
        refuse(token.span(), "`const` is not part of the language");
    }
    if let Some(abi) = &head.abi {
        refuse(abi.span(), "an ABI is not part of the language");
    }
    if !head.generics.params.is_empty() {
        refuse(head.generics.span(), "generic parameters are not part of the language");
    }
    if let Some(clause) = &head.generics.where_clause {
        refuse(clause.span(), "a `where` clause is not part of the language");
    }
    if let Some(variadic) = &head.variadic {
        refuse(variadic.span(), "`...` is not part of the language");
    }
    // No code is generated for a generic function, so any type can stand for a parameter.
    let mut head = head.clone();
    let types: Vec<Ident> = head.generics.type_params().map(|parameter| parameter.ident.clone()).collect();
    Concrete { types }.visit_signature_mut(&mut head);
    let mut faulty = Vec::new();
    let arguments = head.inputs.iter().filter_map(|input| argument(input, &mut faulty, report)).collect();
    Signature { arguments, returned: returned(&head.output, report), faulty }
}

/// Puts a type in place of generic ones.
struct Concrete {
    types: Vec<Ident>,
}

impl VisitMut for Concrete {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::Path(path) if self.types.iter().any(|name| path.path.is_ident(name)) => {
                *ty = syn::parse_quote!(f32);
            }
            _ => syn::visit_mut::visit_type_mut(self, ty),
        }
    }
}

fn argument(input: &FnArg, faulty: &mut Vec<Ident>, report: &mut Report) -> Option<Argument> {
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
    let (levels, at_least) = attributes::of_argument(&typed.attrs, report);
    let Pat::Ident(name) = &*typed.pat else {
        report.error(
            typed.pat.span(),
            Code::CW001,
            "a pattern is not part of the language in the arguments of a graph function",
            &[],
            Some("give the argument a name"),
        );
        return None;
    };
    let Some(kind) = argument_kind(&typed.ty, report) else {
        faulty.push(name.ident.clone());
        return None;
    };
    Some(Argument { name: name.ident.clone(), levels, kind, at_least })
}

/// Reads the type of an argument, or of a field of a record.
pub fn argument_kind(ty: &Type, report: &mut Report) -> Option<ArgumentKind> {
    let ty = ungrouped(ty);
    match PartType::of(ty, report) {
        Ok(Some(part)) => return Some(ArgumentKind::Part(part)),
        Ok(None) => {}
        Err(Refused) => return None,
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
        let Some(count) =
            crate::dims::constant(&array.len, &[]).and_then(|count| usize::try_from(count).ok())
        else {
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
        return Some(ArgumentKind::Array(buffer, count));
    }
    if let Some(buffer) = buffer_type(ty) {
        return Some(ArgumentKind::Buffer(buffer));
    }
    if matches!(ty, Type::Reference(_) | Type::Slice(_)) {
        report.error(
            ty.span(),
            Code::CW001,
            "this type is not part of the language in the arguments of a graph function",
            &[],
            Some("a buffer is `&[T; len]` or `&mut [T; len]`, pinned host memory `&Pinned<[T; len]>`, a taken-over allocation `[T; len]`; a scalar is passed by value"),
        );
        return None;
    }
    Some(ArgumentKind::Scalar(Box::new(ty.clone())))
}

fn returned(output: &ReturnType, report: &mut Report) -> Vec<Returned> {
    let ReturnType::Type(_, ty) = output else { return Vec::new() };
    let types: Vec<&Type> = match ungrouped(ty) {
        Type::Tuple(tuple) => tuple.elems.iter().collect(),
        ty => vec![ty],
    };
    let mut list = Vec::new();
    for ty in types {
        if let Type::Array(array) = ungrouped(ty) {
            list.push(Returned { element: (*array.elem).clone(), len: array.len.clone() });
        } else {
            report.error(
                ty.span(),
                Code::CW001,
                "a graph function returns allocations only",
                &[],
                Some("the return type is `[T; len]` or a tuple of them"),
            );
        }
    }
    list
}

/// The options, and the expression of the budget.
pub fn options(attribute: TokenStream, report: &mut Report) -> (Options, Option<Expr>) {
    let mut options = Options::default();
    let mut budget = None;
    let parser = syn::punctuated::Punctuated::<syn::MetaNameValue, syn::Token![,]>::parse_terminated;
    let list = match parser.parse2(attribute) {
        Ok(list) => list,
        Err(error) => {
            report.error(
                error.span(),
                Code::CW001,
                "this is not an option of a graph",
                &[error.to_string()],
                Some("options are `order`, `memory`, `budget` and `launches`, each with `= value`"),
            );
            return (options, None);
        }
    };
    for option in &list {
        let name = option.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match name.as_str() {
            "order" => {
                let known = [("inferred", Order::Inferred), ("explicit", Order::Explicit)];
                options.order = value(&option.value, &known, report).unwrap_or_default();
            }
            "memory" => {
                let known = [("arena", Memory::Arena), ("nodes", Memory::Nodes), ("owned", Memory::Owned)];
                options.memory = value(&option.value, &known, report);
            }
            "launches" => {
                let known = [
                    ("as-written", Launches::AsWritten),
                    ("batched", Launches::Batched),
                    ("overlapped", Launches::Overlapped),
                ];
                options.launches = value(&option.value, &known, report);
            }
            "budget" => budget = Some(option.value.clone()),
            _ => {
                let known = ["order", "memory", "budget", "launches"];
                let help = match nearest(&name, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "options are `order`, `memory`, `budget` and `launches`".to_owned(),
                };
                report.error(
                    option.path.span(),
                    Code::CW001,
                    &format!("a graph has no option `{name}`"),
                    &[],
                    Some(&help),
                );
            }
        }
    }
    (options, budget)
}

/// The one of the known values that a string literal names.
fn value<T: Copy>(expr: &Expr, known: &[(&str, T)], report: &mut Report) -> Option<T> {
    // A literal that a macro of the user's has handed on comes in a group.
    if let Expr::Group(inner) = expr {
        return value(&inner.expr, known, report);
    }
    if let Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = expr
        && let Some((_, value)) = known.iter().find(|(name, _)| *name == text.value())
    {
        return Some(*value);
    }
    let list: Vec<String> = known.iter().map(|(name, _)| format!("`\"{name}\"`")).collect();
    report.error(
        expr.span(),
        Code::CW001,
        "this option has no such value",
        &[],
        Some(&format!("its values are {}", list.join(", "))),
    );
    None
}
