//! Lowers call expressions: built-in words such as `fill`, kernel launches, and calls of graph functions.

use cuweave_core::index::between;
use cuweave_core::ir::StatementKind;
use cuweave_ptx::nearest::nearest;
use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprCall, ExprIf};

use super::accesses::launch_argument;
use super::after::{apply_attributes, name_statement};
use super::assignments::swap_names;
use super::builtins::{BuiltinWord, lower_word};
use super::functions::call_function;
use super::lowering::{LowerResult, Lowering, Reported};
use super::optional::{optional_argument, optional_borrow};
use super::pointers::{borrowed_list, lower_pointer_list, order_after};
use super::shapes::{is_named, result_word, ungrouped};
use super::structure::if_else;
use super::syntax::{LaunchArgument, StatementSyntax};
use super::unsupported;
use crate::graph::launch::literals;
use crate::graph::scope::Binding;

pub(super) fn call_statement(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> LowerResult<()> {
    match ungrouped(&call.func) {
        Expr::Index(launch) => launch_statement(lowering, call, launch, name, attributes),
        Expr::Path(path) => {
            let last = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
            // A graph function of arguments may have this name.
            let is_word = last != "condition" || call.args.is_empty();
            if let Some(word) = BuiltinWord::named(&last).filter(|_| is_word) {
                return lower_word(lowering, word, call, name, attributes);
            }
            if let Some(word) = result_word(&call.func) {
                return Err(lowering.refuse(
                    call,
                    &format!("`{word}` is not part of the language of graph functions"),
                    "delete it: a graph function returns nothing or allocations, and the function that builds the \
                     graph returns `cuweave::Result` by itself",
                ));
            }
            match (last.as_str(), call.args.len()) {
                ("swap", 2) if name.is_none() => {
                    lowering.check_lint_attributes(attributes);
                    swap_names(lowering, &call.args[0], &call.args[1])
                }
                _ if path.path.segments.iter().all(|segment| segment.arguments.is_none()) => {
                    let results: Vec<Option<Ident>> =
                        name.into_iter().map(|name| Some(name.clone())).collect();
                    call_function(lowering, call, &path.path, &results, attributes)
                }
                _ => Err(lowering.refuse(
                    call,
                    "a call with type arguments is not part of the language of graph functions",
                    &match nearest(&last, ["alloc"]) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None if last.contains("alloc") || last.contains("zeros") => {
                            "write `let h = alloc::<f32>(len);`, and `fill(&mut h, 0.0);` for zeros"
                                .to_owned()
                        }
                        None => "call a graph function by its name, launch a kernel by `kernel[config](..)`"
                            .to_owned(),
                    },
                )),
            }
        }
        _ => Err(lowering.refuse_as(call, unsupported::UNSUPPORTED_CALLEE)),
    }
}

pub(super) fn launch_statement(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    launch: &syn::ExprIndex,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> LowerResult<()> {
    let Expr::Path(kernel) = ungrouped(&launch.expr) else {
        return Err(lowering.not_in_language(
            call,
            "this call is",
            &["a launch names its kernel by a path".into()],
        ));
    };
    if kernel.path.segments.iter().any(|segment| !segment.arguments.is_none()) || kernel.qself.is_some() {
        return Err(lowering.refuse(
            kernel,
            "a kernel has no type arguments",
            "declare a kernel for each type, and launch it by its name",
        ));
    }
    if let Some((at, argument)) = optional_argument(lowering, call)? {
        return launch_with_or_without(lowering, call, at, argument, name, attributes);
    }
    let kernel_name = kernel.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    let config = lowering.substituted(&launch.index);
    let literals = literals(&config, lowering.report);
    let mut accesses = Vec::new();
    let mut arguments = Vec::new();
    // The elements of lists. The launch accesses them, but they are not arguments of the kernel.
    let (mut pointed, mut entries) = (Vec::new(), Vec::new());
    let mut faulty = false;
    for argument in &call.args {
        // A buffer for an optional parameter may be wrapped in `Some`.
        let argument = match ungrouped(argument) {
            Expr::Call(some) if some.args.len() == 1 && is_named(&some.func, "Some") => &some.args[0],
            _ => argument,
        };
        let lowered = match borrowed_list(lowering, argument) {
            Ok(Some(list)) => lower_pointer_list(lowering, &list, attributes).map(|pointers| {
                pointed.extend(pointers.pointed);
                entries.extend(pointers.entries);
                Some(pointers.table)
            }),
            Ok(None) => launch_argument(lowering, argument, &kernel_name),
            Err(Reported) => Err(Reported),
        };
        match lowered {
            Ok(Some(access)) => {
                arguments.push(LaunchArgument::Buffer(accesses.len() as u32));
                accesses.push(access);
            }
            Ok(None) => {
                arguments.push(LaunchArgument::Scalar(Box::new(lowering.substituted(argument))));
            }
            // Go on after a faulty argument: buffers that the launch borrows mutably still count as
            // written.
            Err(Reported) => faulty = true,
        }
    }
    accesses.extend(pointed);
    let syntax = StatementSyntax {
        path: Some(kernel.path.clone()),
        config: Some(config),
        literals,
        arguments,
        faulty,
        ..StatementSyntax::default()
    };
    let span = name.map_or_else(|| kernel.span(), Ident::span);
    let text = name.map_or(kernel_name, ToString::to_string);
    let id = lowering.push(text, span, StatementKind::Launch(()), syntax, accesses);
    apply_attributes(lowering, id, attributes);
    order_after(lowering, id, &entries, span);
    name_statement(lowering, name, id);
    Ok(())
}

/// Lowers a launch with an optional buffer argument. It becomes two launches in the arms of an `if let`;
/// the build chooses one.
pub(super) fn launch_with_or_without(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    at: usize,
    argument: &Expr,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> LowerResult<()> {
    let given = Ident::new("given", argument.span());
    let lent = optional_borrow(lowering, argument)?;
    let (of, given_on): (&Expr, Expr) = match lent.as_ref().unwrap_or(ungrouped(argument)) {
        Expr::Reference(reference) => {
            let (and, mutable) = (&reference.and_token, &reference.mutability);
            (&reference.expr, syn::parse_quote!(#and #mutable #given))
        }
        bare => (bare, syn::parse_quote!(#given)),
    };
    let [mut with, mut without] = [call.clone(), call.clone()];
    with.args[at] = given_on;
    without.args[at] = syn::parse_quote_spanned!(argument.span()=> None);
    let choice: ExprIf = syn::parse_quote_spanned!(call.span()=>
        if let Some(#given) = #of { #(#attributes)* #with; } else { #(#attributes)* #without; }
    );
    let first = lowering.program.next_statement();
    if_else(lowering, &choice)?;
    if let Some(name) = name {
        let launches = between(first, lowering.program.next_statement());
        lowering.scope.bind(name, Binding::Statement);
        lowering.scope.bind_statement(name, Some(launches.collect()));
    }
    Ok(())
}
