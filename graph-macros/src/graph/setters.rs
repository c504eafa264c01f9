//! Scalar arguments that can be set, and the reasons that others cannot.
//!
//! The order and the sizes of a graph are settled when it is built. A scalar that they are made of has no setter: its method has
//! a bound that nothing meets, whose message names the reason. A scalar that a call passes on can be set if the callee's
//! parameter can, which only rustc can find out: the method's bounds ask the callee's item.

use std::collections::BTreeSet;

use cuweave_core::ids::ScalarId;
use cuweave_core::index::{Index, Vector, size};
use cuweave_core::ir::{DimId, Kind};
use cuweave_core::structure::{Argument, Item, Step, Turns};
use cuweave_core::table::Op;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::Path;

use super::expand::Expansion;
use super::lower::{CallSyntax, Lowered, collect};
use super::signature::{Argument as Declared, ArgumentKind};

/// What is known of the setter of a scalar.
#[derive(Default)]
pub(super) struct Setter<'l> {
    /// The reason that there is none.
    pub fixed: Option<String>,
    /// The callees that it is passed to, each with the index of the parameter.
    pub passed: Vec<(&'l Path, usize)>,
}

/// Returns what is known of the setters of the scalar arguments with these names.
pub(super) fn setters<'l>(lowered: &'l Lowered, names: &[String]) -> Vector<ScalarId, Setter<'l>> {
    let mut setters: Vector<ScalarId, Setter<'l>> = names.iter().map(|_| Setter::default()).collect();
    if lowered.faulty {
        return setters;
    }
    for (scalars, reason) in reasons(lowered, names) {
        for scalar in scalars {
            setters[scalar].fixed.get_or_insert_with(|| reason.clone());
        }
    }
    for kind in &lowered.kinds {
        let Kind::Call(CallSyntax { id, callee, faulty: false, .. }) = kind else { continue };
        for (index, argument) in lowered.structure.calls[*id].arguments.iter().enumerate() {
            let Argument::Scalar { of, .. } = argument else { continue };
            for &scalar in of {
                let passed = &mut setters[scalar].passed;
                if !passed.contains(&(callee, index)) {
                    passed.push((callee, index));
                }
            }
        }
    }
    setters
}

/// Returns what is settled when a graph is built, in the words of a message, with the scalars that it depends on.
fn reasons(lowered: &Lowered, names: &[String]) -> Vec<(BTreeSet<ScalarId>, String)> {
    let (program, structure) = (&lowered.source.program, &lowered.structure);
    let of_dim = |dim: DimId| -> BTreeSet<ScalarId> {
        let leaves = lowered.dims[dim.index()].iter().filter_map(|op| match op {
            Op::Leaf(leaf) => structure.leaf_scalars.get(*leaf),
            _ => None,
        });
        leaves.flatten().copied().collect()
    };
    let mut reasons: Vec<(BTreeSet<ScalarId>, String)> = program
        .buffers
        .iter()
        .map(|buffer| (of_dim(buffer.len), format!("the length of `{}` depends on it", buffer.base_name())))
        .collect();
    let budget = program.options.budget.into_iter();
    reasons.extend(budget.map(|dim| (of_dim(dim), "the budget depends on it".to_owned())));
    let returned = structure.returned.iter();
    reasons.extend(returned.map(|&(buffer, declared, _)| {
        let name = &program.buffers[buffer].name;
        (of_dim(declared), format!("the length of `{name}` depends on it"))
    }));
    for step in structure.parts.iter().flat_map(|part| &part.path) {
        if let Step::Index(dim) = step {
            reasons.push((of_dim(*dim), "an index of a list of arguments depends on it".to_owned()));
        }
    }
    let mut items: Vec<&Item> = structure.body.iter().collect();
    while let Some(item) = items.pop() {
        match item {
            Item::Loop(each) => {
                items.extend(&each.body);
                if let Turns::Range(lo, hi) = each.turns {
                    let scalars = &of_dim(lo) | &of_dim(hi);
                    reasons.push((scalars, format!("the loop on line {} depends on it", each.line)));
                }
            }
            Item::Choice(choice) => {
                items.extend(choice.arms.iter().flatten());
                let mut mentioned = BTreeSet::new();
                collect(lowered.choices[size(choice.number)].to_token_stream(), &mut mentioned);
                let scalars = scalars_among(&mentioned, names);
                reasons.push((scalars, format!("the choice on line {} depends on it", choice.line)));
            }
            Item::Statement(_) | Item::Rename { .. } | Item::Swap(..) => {}
        }
    }
    reasons
}

/// Returns the scalars whose names stand among others.
pub(super) fn scalars_among(mentioned: &BTreeSet<String>, names: &[String]) -> BTreeSet<ScalarId> {
    let numbered = names.iter().enumerate();
    numbered.filter(|(_, name)| mentioned.contains(*name)).map(|(at, _)| ScalarId::new(at)).collect()
}

/// Returns the expression of the user's that a leaf is computed of: `n` of `dim(n)`.
pub(super) fn expression(leaf: &TokenStream) -> TokenStream {
    match leaf.clone().into_iter().last() {
        Some(TokenTree::Group(group)) => group.stream(),
        _ => leaf.clone(),
    }
}

impl Expansion<'_> {
    /// Returns the bounds of a scalar's setter.
    pub(super) fn setter_bounds(&self, scalar: ScalarId) -> TokenStream {
        let Setter { fixed, passed } = &self.setters[scalar];
        // Of another type than the item: else rustc tells the message of `Sets` where a caller asks.
        let own = fixed.iter().map(|_| {
            let reason = reason_name(scalar);
            quote!(for<'__setter> (): #reason)
        });
        // A scalar that is settled here needs no other reason.
        let passed = passed.iter().filter(|_| fixed.is_none()).filter_map(|(callee, index)| {
            let last = callee.segments.last().map(|last| &last.ident)?;
            Some(quote!(for<'__setter> #callee::#last: ::cuweave::__private::Sets<#index>))
        });
        let bounds: Vec<TokenStream> = own.chain(passed).collect();
        if bounds.is_empty() { TokenStream::new() } else { quote!(where #(#bounds),*) }
    }

    /// Returns the implementations by which the setters of other functions ask for those of this one, and the traits whose
    /// messages say why a scalar has none.
    pub(super) fn settable(&self) -> TokenStream {
        let name = self.name();
        let mut tokens = TokenStream::new();
        let arguments = self.signature.arguments.iter().enumerate();
        let scalars = arguments.filter(|(_, argument)| matches!(argument.kind, ArgumentKind::Scalar(_)));
        for (number, (index, Declared { name: argument, .. })) in scalars.enumerate() {
            let scalar = ScalarId::new(number);
            if let Some(reason) = &self.setters[scalar].fixed {
                let trait_name = reason_name(scalar);
                let message = format!("`{argument}` of `{name}` has no setter: {reason}");
                let label = format!("the graph is built for one value of `{argument}`");
                tokens.extend(quote! {
                    #[diagnostic::on_unimplemented(
                        message = #message,
                        label = #label,
                        note = "build the graph again for another value"
                    )]
                    trait #trait_name {}
                });
            }
            let bounds = self.setter_bounds(scalar);
            tokens.extend(quote! {
                #[doc(hidden)]
                impl ::cuweave::__private::Sets<#index> for #name::#name #bounds {}
            });
        }
        tokens
    }
}

/// Returns the name of the trait that says why a scalar has no setter.
fn reason_name(scalar: ScalarId) -> Ident {
    format_ident!("__Fixed{}", scalar.as_u32(), span = Span::mixed_site())
}
