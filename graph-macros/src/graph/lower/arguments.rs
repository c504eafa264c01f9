//! Lowers the arguments of a graph function.

use std::rc::Rc;

use cuweave_core::ids::ArgumentId;
use cuweave_core::index::Index;
use cuweave_core::ir::{BufferId, Origin};
use proc_macro2::Ident;

use super::Lowering;
use crate::dims::Bound;
use crate::graph::parts::{BufferMemory, BufferType, PartType};
use crate::graph::place::{Borrow, Place};
use crate::graph::scope::{Binding, View};
use crate::graph::signature::{Argument, ArgumentKind, Signature};

impl Lowering<'_> {
    pub(super) fn arguments(&mut self, signature: &Signature) -> Vec<Option<BufferId>> {
        let mut first = Vec::new();
        for (at, argument) in signature.arguments.iter().enumerate() {
            let at = ArgumentId::new(at);
            first.push(match &argument.kind {
                ArgumentKind::Part(part) => {
                    let place = Place::argument(at, &argument.name, part);
                    self.scopes.bind(&argument.name, Binding::Part(Rc::new(place)));
                    self.structured = true;
                    match part {
                        PartType::Buffers(ty) => {
                            Some(self.argument(&argument.name, argument.name.to_string(), ty).buffer)
                        }
                        PartType::Record(_) | PartType::Records(..) => None,
                    }
                }
                ArgumentKind::Scalar(_) => None,
                ArgumentKind::Host(host) => {
                    let binding = Binding::Host { argument: at, resource: host.resource };
                    self.scopes.bind(&argument.name, binding);
                    None
                }
                ArgumentKind::Buffer(ty) => {
                    let view = self.argument(&argument.name, argument.name.to_string(), ty);
                    let id = view.buffer;
                    self.scopes.bind(&argument.name, Binding::View(view));
                    Some(id)
                }
                ArgumentKind::Array(ty, count) => {
                    let first = BufferId::new(self.buffers.len());
                    let views = (0..*count)
                        .map(|i| self.argument(&argument.name, format!("{}[{i}]", argument.name), ty))
                        .collect();
                    let place = Place::argument(at, &argument.name, &PartType::Buffers(Box::new(ty.clone())));
                    self.scopes.bind(&argument.name, Binding::Array(views, Rc::new(place)));
                    Some(first)
                }
            });
        }
        for argument in &signature.arguments {
            if let Some(least) = argument.at_least {
                self.at_least(argument, least);
            }
        }
        first
    }

    /// Adds the fact of `#[at_least(n)]` on a scalar or a slice.
    fn at_least(&mut self, argument: &Argument, least: u64) {
        let name = &argument.name;
        let bound = match &argument.kind {
            ArgumentKind::Scalar(_) => self.bound(&syn::parse_quote!(#name)),
            ArgumentKind::Part(PartType::Records(_, None) | PartType::Buffers(_)) => {
                self.count(&syn::parse_quote!(#name))
            }
            ArgumentKind::Part(_)
            | ArgumentKind::Host(_)
            | ArgumentKind::Buffer(_)
            | ArgumentKind::Array(..) => {
                let what = "`#[at_least(n)]` stands on scalars and slices";
                let _ = self.refuse(name, what, "remove it: the lengths of buffers are declared");
                return;
            }
        };
        let dim = self.dim(bound);
        self.at_least.push((name.to_string().into(), dim, least));
    }

    pub(super) fn argument(&mut self, name: &Ident, text: String, ty: &BufferType) -> View {
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
        let len = self.bound(&ty.len);
        let view = self.buffer(text, name.span(), origin, len, ty.element.clone(), borrow);
        if ty.fresh {
            let zero = self.dim(Bound::constant(0));
            self.fresh.push((view.buffer, zero, self.buffers[view.buffer].len));
        }
        if ty.discarded {
            self.discarded.push(view.buffer);
        }
        view
    }
}
