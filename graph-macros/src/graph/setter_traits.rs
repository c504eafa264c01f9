//! Generates the bounds of setters, and the items through which functions query each other's setters.
//!
//! See [`super::setters`] for the rules.

use cuweave_core::ids::ScalarId;
use cuweave_core::index::Index;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

use super::expansion::Expansion;
use super::parts::AggregateType;
use super::paths;
use super::setters::{Passed, Setter};
use super::signature::{Argument, ArgumentKind, HostType, NumberedArgument};
use crate::expanded_names;
use crate::implicit_prelude::on_unimplemented;

/// Generates the bounds of the setter of a scalar or a host value. A size has none: its uses are checked where it is
/// declared.
pub(super) fn setter_bounds(expansion: &Expansion<'_>, scalar: ScalarId) -> TokenStream {
    match expansion.setters[scalar].is_size {
        true => TokenStream::new(),
        false => bounds(expansion, scalar),
    }
}

/// Generates the bounds under which no length and no structure depends on a scalar.
fn bounds(expansion: &Expansion<'_>, scalar: ScalarId) -> TokenStream {
    let Setter { fixed, rising, passed, .. } = &expansion.setters[scalar];
    // The bound is on `()`, not on the item: otherwise rustc would print the message of `Sets` at a
    // caller's query. If the value is fixed in this function, the callees' reasons are irrelevant.
    let bounds: Vec<TokenStream> = match fixed.as_ref().or(rising.as_ref()).map(|_| reason_name(scalar)) {
        Some(reason) => vec![quote!(for<'__setter> (): #reason)],
        None => {
            let one = |Passed { callee, index, .. }: &Passed<'_>| {
                let item = item(expansion, callee)?;
                Some(quote!(for<'__setter> #item: ::cuweave::__private::Sets<#index>))
            };
            passed.iter().filter_map(one).collect()
        }
    };
    if bounds.is_empty() { TokenStream::new() } else { quote!(where #(#bounds),*) }
}

/// Generates the path of a callee's item. `None` for a kernel, which rustc reports where it is called.
fn item(expansion: &Expansion<'_>, callee: &Path) -> Option<TokenStream> {
    if callee.get_ident().is_some_and(|name| expanded_names::is_kernel(&name.to_string())) {
        return None;
    }
    let number = expansion.lowered.callees.iter().position(|known| known.path == *callee)?;
    let found = paths::callee(callee, number);
    Some(quote_spanned!(callee.span()=> #found::__Item))
}

/// Generates the implementation that lets a caller pass a size as this argument, and for a size the check of the
/// callees that it is passed to. Functions may call one another, so rustc must not check the bounds of the
/// implementation by itself: they mention a type parameter.
fn rising(expansion: &Expansion<'_>, scalar: ScalarId, index: usize) -> TokenStream {
    let name = expansion.name();
    let Setter { fixed, is_size, passed, .. } = &expansion.setters[scalar];
    let of_callees = |parameter: &TokenStream, late: &TokenStream| -> Vec<TokenStream> {
        let one = |Passed { callee, index, rises }: &Passed<'_>| {
            let item = item(expansion, callee)?;
            Some(match rises {
                true => quote_spanned! {callee.span()=>
                    #item: ::cuweave::__private::Rises<#index, #parameter>
                },
                false => quote_spanned!(callee.span()=> #late #item: ::cuweave::__private::Takes<#index>),
            })
        };
        passed.iter().filter_map(one).collect()
    };
    let bounds = match fixed {
        Some(_) => {
            let reason = no_size_name(scalar);
            vec![quote!(for<'__setter> (): #reason)]
        }
        None => of_callees(&quote!(__Of), &quote!(for<'__setter>)),
    };
    let item = Ident::new("__Item", name.span());
    let checked = of_callees(&quote!(()), &TokenStream::new());
    let checked = (*is_size && !checked.is_empty())
        .then(|| quote!(const _: () = { fn __rises() where #(#checked),* {} };));
    quote! {
        #[doc(hidden)]
        impl<__Of> ::cuweave::__private::Rises<#index, __Of> for #name::#item where #(#bounds),* {}
        #checked
    }
}

/// Generates the implementations that answer callers' queries for setters, and the traits whose messages
/// explain why an argument has no setter.
pub(super) fn settable(expansion: &Expansion<'_>) -> TokenStream {
    let name = expansion.name();
    // With this span rustc points at the function if it cannot be set.
    let item = Ident::new("__Item", name.span());
    let mut tokens: TokenStream = (0..)
        .zip(&expansion.signature.arguments)
        .filter_map(|(at, argument)| whole(expansion, at, argument))
        .collect();
    for NumberedArgument { number: scalar, at, argument } in expansion.signature.numbered() {
        let (index, argument) = (at.index(), &argument.name);
        let setter = &expansion.setters[scalar];
        if let Some(reason) = setter.fixed.as_ref().or(setter.rising.as_ref()) {
            let trait_name = reason_name(scalar);
            let message = format!("`{argument}` of `{name}` has no setter: {reason}");
            let label = format!("the graph is built for one value of `{argument}`");
            let told = on_unimplemented(&message, &label, "build the graph again for another value");
            tokens.extend(quote!(#told trait #trait_name {}));
        }
        if let Some(reason) = &setter.fixed {
            let trait_name = no_size_name(scalar);
            let message = format!("`{argument}` of `{name}` takes no size: {reason}");
            let label = format!("the graph is built for one value of `{argument}`");
            let told =
                on_unimplemented(&message, &label, "keep a graph for each value, or pass another scalar");
            tokens.extend(quote!(#told trait #trait_name {}));
        }
        let (bounds, rising) = (bounds(expansion, scalar), rising(expansion, scalar, index));
        tokens.extend(quote! {
            #[doc(hidden)]
            impl ::cuweave::__private::Sets<#index> for #name::#item #bounds {}
            #rising
        });
    }
    tokens
}

/// Generates the trait whose message says which setters a record or list has instead, or why a resource has none.
fn whole(expansion: &Expansion<'_>, at: usize, argument: &Argument) -> Option<TokenStream> {
    let (name, kind, argument) = (expansion.name(), &argument.kind, &argument.name);
    let (reason, method) = (whole_name(at), method_name(argument));
    let again = "build the graph again for another one; a value that changes between launches has a lock or an atomic \
        inside";
    let fixed = "the number of elements, and the integers that lengths depend on, are those of the build";
    let (message, label, note) = match kind {
        ArgumentKind::Part(AggregateType::Record(_)) => (
            format!("`{argument}` of `{name}` is a record, whose fields are set one by one"),
            format!("write `{method}().set_x(..)` with the name of a field"),
            fixed,
        ),
        ArgumentKind::Part(AggregateType::Records(..)) => (
            format!("`{argument}` of `{name}` is a list of records, whose fields are set one by one"),
            format!("write `{method}(i)?.set_x(..)` with an index and the name of a field"),
            fixed,
        ),
        ArgumentKind::Part(AggregateType::Buffers(_)) => (
            format!("`{argument}` of `{name}` is a list of buffers, which are set one by one"),
            format!("write `{method}(i)?.set(..)` with an index"),
            fixed,
        ),
        ArgumentKind::Host(HostType { resource: true, .. }) => (
            format!("`{argument}` of `{name}` has no setter: the nodes that were captured with it keep it"),
            format!("the graph is built for one `{argument}`"),
            again,
        ),
        ArgumentKind::Host(_)
        | ArgumentKind::Scalar(_)
        | ArgumentKind::Buffer(_)
        | ArgumentKind::Array(..) => {
            return None;
        }
    };
    let told = on_unimplemented(&message, &label, note);
    Some(quote!(#told trait #reason {}))
}

/// Returns the name of the trait that explains why an argument cannot be set as a whole.
pub(super) fn whole_name(at: usize) -> Ident {
    format_ident!("__Whole{at}", span = Span::mixed_site())
}

/// Returns the name of the trait that explains why a scalar or a host value has no setter.
fn reason_name(scalar: ScalarId) -> Ident {
    format_ident!("__Fixed{}", scalar.as_u32(), span = Span::mixed_site())
}

/// Returns the name of the trait that explains why a caller cannot pass a size.
fn no_size_name(scalar: ScalarId) -> Ident {
    format_ident!("__NoSize{}", scalar.as_u32(), span = Span::mixed_site())
}

/// The names of the methods that every exec has.
const EXEC_METHODS: [&str; 23] = [
    "launch",
    "edit",
    "verify",
    "output",
    "upload",
    "synchronize",
    "launches",
    "args",
    "args_mut",
    "into_args",
    "report",
    "certificate",
    "collectives",
    "profile",
    "iterations",
    "enable",
    "is_enabled",
    "dot",
    "memory_svg",
    "svg",
    "page",
    "page_with",
    "budget_curve",
];

/// Returns the name of the method that returns the setters of an argument's components: the argument's
/// name, followed by `_` if the exec has a method of that name.
pub(super) fn method_name(argument: &Ident) -> Ident {
    let text = argument.to_string();
    if EXEC_METHODS.contains(&text.as_str()) { format_ident!("{}_", argument) } else { argument.clone() }
}
