//! Binds the arguments of a graph function, and adds their buffers to the program.

use std::rc::Rc;

use cuweave_core::codes::Code;
use cuweave_core::ids::ArgumentId;
use cuweave_core::index::Index;
use cuweave_core::ir::Origin;
use proc_macro2::Ident;
use quote::ToTokens;
use syn::Expr;
use syn::spanned::Spanned;

use super::lowering::Lowering;
use super::names::ExprNames;
use super::places::count_of;
use crate::graph::parts::{AggregateType, BufferMemory, BufferType};
use crate::graph::place::{Borrow, Place};
use crate::graph::scope::{Binding, View};
use crate::graph::signature::{Argument, ArgumentKind, Signature};

pub(super) fn lower_arguments(lowering: &mut Lowering<'_>, signature: &Signature) {
    for (at, argument) in signature.arguments.iter().enumerate() {
        let at = ArgumentId::new(at);
        let first = match &argument.kind {
            ArgumentKind::Part(part) => {
                let place = Place::argument(at, &argument.name, part);
                lowering.scope.bind(&argument.name, Binding::Part(Rc::new(place)));
                lowering.nesting.require_expansion();
                match part {
                    AggregateType::Buffers(ty) => {
                        Some(add_argument(lowering, &argument.name, argument.name.to_string(), ty).buffer)
                    }
                    AggregateType::Record(_) | AggregateType::Records(..) => None,
                }
            }
            ArgumentKind::Scalar(_) => None,
            ArgumentKind::Host(host) => {
                let binding = Binding::Host { argument: at, resource: host.resource };
                lowering.scope.bind(&argument.name, binding);
                None
            }
            ArgumentKind::Buffer(ty) => {
                let view = add_argument(lowering, &argument.name, argument.name.to_string(), ty);
                let id = view.buffer;
                lowering.scope.bind(&argument.name, Binding::View(view));
                Some(id)
            }
            ArgumentKind::Array(ty, count) => {
                let first = lowering.program.next_buffer();
                let views = (0..*count)
                    .map(|i| add_argument(lowering, &argument.name, format!("{}[{i}]", argument.name), ty))
                    .collect();
                let place =
                    Place::argument(at, &argument.name, &AggregateType::Buffers(Box::new(ty.clone())));
                lowering.scope.bind(&argument.name, Binding::Array(views, Rc::new(place)));
                Some(first)
            }
        };
        lowering.arguments.buffers.push(first);
    }
    for argument in &signature.arguments {
        if let Some(least) = argument.at_least {
            at_least(lowering, argument, least);
        }
        if let Some(most) = &argument.at_most {
            check_maximum(lowering, most, signature);
            let name = &argument.name;
            let [value, most] = [lowering.bound(&syn::parse_quote!(#name)), lowering.bound(most)];
            let [value, most] = [value, most].map(|bound| lowering.program.dims.intern(bound));
            lowering.arguments.at_most.push((name.to_string().into(), value, most));
        }
    }
}

/// Adds the fact that `#[at_least(n)]` states about a scalar or a slice.
fn at_least(lowering: &mut Lowering<'_>, argument: &Argument, least: u64) {
    let name = &argument.name;
    let bound = match &argument.kind {
        ArgumentKind::Scalar(_) => lowering.bound(&syn::parse_quote!(#name)),
        ArgumentKind::Part(AggregateType::Records(_, None) | AggregateType::Buffers(_)) => {
            count_of(lowering, &syn::parse_quote!(#name))
        }
        ArgumentKind::Part(_) | ArgumentKind::Host(_) | ArgumentKind::Buffer(_) | ArgumentKind::Array(..) => {
            let what = "`#[at_least(n)]` stands on scalars and slices";
            let _ = lowering.refuse(name, what, "remove it: the lengths of buffers are declared");
            return;
        }
    };
    let dim = lowering.program.dims.intern(bound);
    lowering.arguments.at_least.push((name.to_string().into(), dim, least));
}

pub(super) fn add_argument(lowering: &mut Lowering<'_>, name: &Ident, text: String, ty: &BufferType) -> View {
    let origin = match ty.memory {
        BufferMemory::Device => Origin::Device { mutable: ty.mutable },
        BufferMemory::Pinned => Origin::Pinned { mutable: ty.mutable },
        BufferMemory::Taken => Origin::Taken,
    };
    let borrow = match (ty.memory, ty.mutable) {
        (BufferMemory::Taken, _) => None,
        (_, true) => Some(Borrow::Mutable),
        (_, false) => Some(Borrow::Shared),
    };
    let len = lowering.bound(&ty.len);
    let view = lowering.program.add_buffer(text, name.span(), origin, len, ty.element.clone(), borrow);
    if ty.fresh {
        lowering.program.add_fresh(view.buffer);
    }
    if ty.discarded {
        lowering.program.add_discarded(view.buffer);
    }
    view
}

/// Reports a maximum that depends on a size.
fn check_maximum(lowering: &mut Lowering<'_>, most: &Expr, signature: &Signature) {
    let names = ExprNames::from_expr(most).mentioned;
    let size =
        signature.arguments.iter().find(|one| one.at_most.is_some() && names.contains(&one.name.to_string()));
    if let Some(size) = size {
        let message = format!("`#[at_most({})]` depends on the size `{}`", most.to_token_stream(), size.name);
        let help = "write a number, or an expression over scalars that are no sizes";
        lowering.report.error(most.span(), Code::CW001, &message, &[], Some(help));
    }
}
