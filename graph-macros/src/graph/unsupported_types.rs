//! Recognises argument types that are not part of the language, and suggests replacements.

use syn::visit::{self, Visit};
use syn::{Expr, GenericArgument, PathArguments, ReturnType, Type, TypeArray, TypePath, TypeReference};

/// The message and the help for a rejected type.
pub type UnsupportedType = (&'static str, &'static str);

const SEVERAL: &str = "buffers that belong together are a record, a struct with `#[cuweave::arguments]`; many of one \
                       kind are a slice, `&[&[T; len]]` or `&[Layer<'_>]`";
const BUFFER: &str =
    "a buffer is declared with its length over the scalar arguments: `x: &[f32; n]`, `out: &mut [f32; n]`";
const LIST: &str = "a buffer is declared with its length over the scalar arguments: `x: &[f32; n]`; a list of records \
     with a lifetime: `layers: &[Layer<'_>]`, for which the function that builds the graph takes a `Vec`";

const RECORDS: &str =
    "records are written with a lifetime, `layers: &[Layer<'_>]`; a buffer with its length, `x: &[T; n]`";

/// Returns the message for a rejected argument type. None if the type is to be parsed further.
pub fn of(ty: &Type) -> Option<UnsupportedType> {
    match ungrouped(ty) {
        Type::ImplTrait(_) | Type::TraitObject(_) => Some((
            "a trait cannot be the type of an argument of a graph function",
            "write the type: `n: u32`",
        )),
        Type::Infer(_) => Some(("the type of an argument is written out", BUFFER)),
        Type::Ptr(_) => Some(("a pointer cannot be an argument of a graph function", BUFFER)),
        Type::Slice(_) => Some(("a buffer needs a borrow and a length", BUFFER)),
        Type::Tuple(tuple) if tuple.elems.iter().any(has_buffer) => {
            Some(("a tuple of buffers is no argument of a graph function", SEVERAL))
        }
        Type::Array(array) => of_array(array),
        Type::Reference(reference) => of_reference(reference),
        Type::Path(path) => of_path(path, "by value"),
        _ => None,
    }
}

/// Returns the help for a return type that is not an allocation.
pub fn of_returned(output: &ReturnType) -> &'static str {
    match output {
        ReturnType::Type(_, ty) if named(ty).as_deref() == Some("Result") => {
            "delete it: the function that builds the graph returns `cuweave::Result` by itself"
        }
        _ => "the return type is `[T; len]` or a tuple of them",
    }
}

fn of_array(array: &TypeArray) -> Option<UnsupportedType> {
    match ungrouped(&array.elem) {
        Type::Reference(reference) => match ungrouped(&reference.elem) {
            Type::Array(inner) => nested(inner),
            Type::Path(path) if is_pinned(path) => None,
            _ => Some(("the elements of an array of buffers are `&[T; len]` or `&mut [T; len]`", BUFFER)),
        },
        _ if has_buffer(&array.elem) => {
            Some(("a nested array of buffers is no argument of a graph function", SEVERAL))
        }
        _ => nested(array),
    }
}

/// Rejects a buffer whose elements are arrays with a length that depends on an argument.
fn nested(array: &TypeArray) -> Option<UnsupportedType> {
    let mut lengths = Lengths(false);
    lengths.visit_type(&array.elem);
    lengths.0.then_some((
        "the elements of a buffer are of one size, which is no argument",
        "multiply the lengths, as in `&[f32; rows * n]`, and take rows by `&x[i * n..(i + 1) * n]`",
    ))
}

fn of_reference(reference: &TypeReference) -> Option<UnsupportedType> {
    match ungrouped(&reference.elem) {
        Type::Array(array) if has_buffer(&array.elem) => {
            Some(("a reference to an array of buffers is no argument of a graph function", SEVERAL))
        }
        Type::Array(array) => nested(array),
        Type::Slice(slice) => match ungrouped(&slice.elem) {
            Type::Reference(_) => None,
            Type::Path(path) if has_arguments(path) => None,
            // Primitive types start with a lower-case letter.
            Type::Path(path) if path.path.segments.last().is_some_and(|last| is_capitalized(&last.ident)) => {
                Some(("a slice is declared of buffers or of records", RECORDS))
            }
            _ => Some(("a buffer is declared with its length", BUFFER)),
        },
        Type::Path(path) if is_pinned(path) || shared_value(path).is_some() => None,
        Type::Path(path) => of_path(path, "by reference"),
        _ => None,
    }
}

fn of_path(path: &TypePath, passed: &str) -> Option<UnsupportedType> {
    let last = path.path.segments.last()?;
    let name = last.ident.to_string();
    match name.as_str() {
        "Vec" | "VecDeque" if has_buffers(path) => {
            Some(("a `Vec` of buffers is no argument of a graph function", SEVERAL))
        }
        "Vec" | "VecDeque" => Some(("a `Vec` is no argument of a graph function", LIST)),
        "Option" if is_optional_buffer(path) => None,
        "Option" if has_buffers(path) => Some((
            "this `Option` is no argument of a graph function",
            "a buffer that may be absent is `Option<&[T; len]>` or `Option<&mut [T; len]>`, with its length",
        )),
        "CudaSlice" | "CudaView" | "CudaViewMut" | "Buffer" | "DevicePtr" | "Arc" | "Box" | "Rc"
            if passed == "by reference" || has_arguments(path) =>
        {
            Some(("the signature of a graph function says what a buffer holds, not what binds it", BUFFER))
        }
        "Condition" => Some((
            "a condition is no argument of a graph function",
            "write `let go = condition();` in the function whose launches set it",
        )),
        "String" | "str" => Some((
            "a text is no argument of a graph function",
            "take a scalar: an integer, a `bool` or an `enum` that is `Copy`",
        )),
        _ if has_buffers(path) => {
            Some(("buffers inside of another type are no arguments of a graph function", SEVERAL))
        }
        _ => None,
    }
}

/// Returns true for `Option<&[T; len]>` and `Option<&mut [T; len]>`.
fn is_optional_buffer(path: &TypePath) -> bool {
    match crate::parameters::option_path_inner(path).map(ungrouped) {
        Some(Type::Reference(reference)) => matches!(ungrouped(&reference.elem), Type::Array(_)),
        _ => false,
    }
}

/// Returns the `T` in `Arc<T>`, a host value that the exec keeps alive. None for an `Arc` of a buffer.
pub fn shared_value(path: &TypePath) -> Option<&Type> {
    let last = path.path.segments.last().filter(|last| last.ident == "Arc")?;
    let PathArguments::AngleBracketed(list) = &last.arguments else { return None };
    match list.args.first()? {
        GenericArgument::Type(ty) if list.args.len() == 1 && !has_buffer(ty) => match ungrouped(ty) {
            Type::Path(inner) => of_path(inner, "by reference").is_none().then_some(ty),
            _ => None,
        },
        _ => None,
    }
}

/// Strips parentheses and the invisible groups that `macro_rules!` puts around its arguments.
pub fn ungrouped(mut ty: &Type) -> &Type {
    loop {
        match ty {
            Type::Group(group) => ty = &group.elem,
            Type::Paren(paren) => ty = &paren.elem,
            _ => return ty,
        }
    }
}

/// Returns the last segment of a path type.
fn named(ty: &Type) -> Option<String> {
    match ungrouped(ty) {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}

fn is_capitalized(name: &syn::Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}

fn is_pinned(path: &TypePath) -> bool {
    path.path.segments.last().is_some_and(|last| last.ident == "Pinned")
}

fn has_arguments(path: &TypePath) -> bool {
    path.path.segments.last().is_some_and(|last| !last.arguments.is_none())
}

/// Returns true if a type argument contains a buffer. A lifetime alone only marks a record.
fn has_buffers(path: &TypePath) -> bool {
    path.path.segments.iter().any(|segment| match &segment.arguments {
        PathArguments::AngleBracketed(list) => {
            list.args.iter().any(|one| matches!(one, GenericArgument::Type(ty) if has_buffer(ty)))
        }
        _ => false,
    })
}

/// Returns true if the type contains a reference.
fn has_buffer(ty: &Type) -> bool {
    struct References(bool);
    impl Visit<'_> for References {
        fn visit_type_reference(&mut self, _: &TypeReference) {
            self.0 = true;
        }
    }
    let mut found = References(false);
    found.visit_type(ty);
    found.0
}

/// True if an array length mentions a name with a lower-case letter, which is not a constant.
struct Lengths(bool);

impl Visit<'_> for Lengths {
    fn visit_type_array(&mut self, array: &TypeArray) {
        struct Names<'f>(&'f mut bool);
        impl Visit<'_> for Names<'_> {
            fn visit_expr(&mut self, expr: &Expr) {
                if let Expr::Path(path) = expr {
                    let name = path.path.get_ident().map(ToString::to_string).unwrap_or_default();
                    *self.0 |= name.contains(char::is_lowercase);
                }
                visit::visit_expr(self, expr);
            }
        }
        Names(&mut self.0).visit_expr(&array.len);
        visit::visit_type_array(self, array);
    }
}
