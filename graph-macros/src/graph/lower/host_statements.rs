//! Lowers host statements, `host(&a, &mut b, |a, b| ..)`, and the statements of events, `record(&event)` and `wait(&event)`.

use cuweave_core::ir::{Access, Kind, Mode};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprCall};

use super::calls::ungrouped;
use super::hosts::HostValue;
use super::kinds::Evaluated;
use super::{LaunchArgument, Lower, Lowering, Reported, Syntax};
use crate::dims::compact;
use crate::graph::scope::{Borrow, View};

/// Lowers `host(&a, &mut b, |a, b| ..);`.
pub(super) fn host(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> Lower<()> {
    lowering.outside_bodies(call, "a host statement")?;
    let given = call.args.len() - 1;
    let (mut accesses, mut arguments) = (Vec::new(), Vec::new());
    let mut faulty = false;
    for argument in call.args.iter().take(given) {
        match lowering.host_argument(argument) {
            Ok(Given::Buffer(access)) => {
                arguments.push(LaunchArgument::Buffer(accesses.len() as u32));
                accesses.push(access);
            }
            Ok(Given::Value(value)) => arguments.push(LaunchArgument::Scalar(Box::new(value))),
            Err(Reported) => faulty = true,
        }
    }
    let work = &call.args[given];
    if matches!(ungrouped(work), Expr::Reference(_)) {
        return Err(lowering.refuse(
            work,
            "the last argument of `host` is the function that the host runs",
            "write `host(&a, &mut b, |a, b| ..);`",
        ));
    }
    arguments.push(LaunchArgument::Scalar(Box::new(lowering.substituted(work))));
    if faulty {
        lowering.poison(call.args.to_token_stream());
        return Err(Reported);
    }
    lowering.push_word(call, name, attributes, (Kind::Host(()), arguments), accesses);
    Ok(())
}

/// Lowers `record(&event);`.
pub(super) fn record(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> Lower<()> {
    event(lowering, call, name, attributes, Kind::Record(()))
}

/// Lowers `wait(&event);`.
pub(super) fn wait(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> Lower<()> {
    event(lowering, call, name, attributes, Kind::Wait(()))
}

fn event(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
    kind: Kind,
) -> Lower<()> {
    let word = kind.name();
    let what = if word == "record" { "the record of an event" } else { "the wait for an event" };
    lowering.outside_bodies(call, what)?;
    let Some(host) = lowering.host(&call.args[0]) else {
        return Err(lowering.refuse(
            &call.args[0],
            &format!("`{word}` takes an event of the caller"),
            &format!("declare it as an argument, `event: &CudaEvent`, and write `{word}(&event);`"),
        ));
    };
    let event = lowering.kept(&host, "an event")?;
    let arguments = vec![LaunchArgument::Scalar(Box::new(event))];
    lowering.push_word(call, name, attributes, (kind, arguments), Vec::new());
    Ok(())
}

/// An argument of a host statement.
enum Given {
    Buffer((Access, Span)),
    /// A host value, which the exec keeps.
    Value(Expr),
}

impl Lowering<'_> {
    /// Refuses a statement in a body that the device decides about.
    fn outside_bodies(&mut self, at: &ExprCall, what: &str) -> Lower<()> {
        if self.body.is_none() {
            return Ok(());
        }
        Err(self.refuse(
            at,
            &format!("{what} cannot stand in the body of an `if`, `while` or `match` on a buffer"),
            "the device runs such a body by itself: write the statement before it or behind it",
        ))
    }

    /// Adds a statement that is a call of a word.
    fn push_word(
        &mut self,
        call: &ExprCall,
        name: Option<&Ident>,
        attributes: &[Attribute],
        (kind, arguments): (Kind, Vec<LaunchArgument>),
        accesses: Vec<(Access, Span)>,
    ) {
        let syntax = Syntax { arguments, ..Syntax::default() };
        let text = name.map_or_else(|| kind.name().to_owned(), ToString::to_string);
        let span = name.map_or_else(|| call.func.span(), Ident::span);
        let id = self.push(text, span, (kind, syntax), accesses);
        self.after(id, attributes);
        self.name(name, id);
    }

    /// Returns the expression of a host value that the exec keeps.
    fn kept(&mut self, host: &HostValue, what: &str) -> Lower<Expr> {
        let value = self.passed(host, &[])?;
        if host.is_resource() {
            let name = &host.name;
            let message = format!("`{name}` is taken by `&mut`, and {what} is shared with the exec");
            return Err(self.refuse(name, &message, "take it by `&`, with a lock inside if it changes"));
        }
        self.kept.insert(host.name.to_string());
        Ok(value)
    }

    /// Returns an argument of a host statement: pinned memory or a host value.
    fn host_argument(&mut self, argument: &Expr) -> Lower<Given> {
        if let Some(host) = self.host(argument) {
            return Ok(Given::Value(self.kept(&host, "what a host statement is given")?));
        }
        let (inner, borrow) = match ungrouped(argument) {
            Expr::Reference(reference) => {
                let mutable = reference.mutability.is_some();
                (&*reference.expr, Some(if mutable { Borrow::Mutable } else { Borrow::Shared }))
            }
            inner => (inner, None),
        };
        let Some(view) = self.view(inner)? else {
            return Err(self.refuse(
                argument,
                "a host statement is given pinned memory and host values",
                "scalars need not be given: name them in the function, `move |a| .. n ..`",
            ));
        };
        let buffer = &self.buffers[view.buffer];
        if !buffer.origin.is_pinned() {
            let message =
                format!("`{}` is memory of the device, which the host statement cannot reach", buffer.name);
            return Err(self.refuse(
                argument,
                &message,
                "`copy` it to an argument `&mut Pinned<[T; len]>` first, and give that to `host`",
            ));
        }
        let mode = match borrow.or(view.borrow) {
            Some(Borrow::Mutable) => Mode::ReadWrite,
            Some(Borrow::Shared) => Mode::Read,
            None => {
                let text = compact(inner);
                return Err(self.refuse(
                    argument,
                    "a buffer is passed by reference",
                    &format!("write `&{text}` or `&mut {text}`"),
                ));
            }
        };
        let view: View = view;
        Ok(Given::Buffer(self.access(&view, mode, inner.span())))
    }
}

/// Returns the expression that evaluates a host statement. The function is evaluated once, and called with its buffers at each
/// launch.
pub(super) fn step(of: &Evaluated<'_>, evaluation: &Ident) -> TokenStream {
    let Some((LaunchArgument::Scalar(work), given)) = of.syntax.arguments.split_last() else {
        return quote!(::core::result::Result::Ok(()));
    };
    let [function, memory] = ["function", "memory"].map(|name| Ident::new(name, Span::mixed_site()));
    let (mut types, mut values, mut generics) = (Vec::new(), Vec::new(), Vec::new());
    let (mut kept, mut hosts) = (Vec::new(), Vec::new());
    for argument in given {
        match argument {
            LaunchArgument::Buffer(index) => {
                let element = of.element(*index as usize);
                if of.statement.accesses[*index as usize].mode == Mode::Read {
                    types.push(quote!(&[#element]));
                    values.push(quote!(#memory.slice::<#element>(#index)));
                } else {
                    types.push(quote!(&mut [#element]));
                    values.push(quote!(#memory.slice_mut::<#element>(#index)));
                }
            }
            LaunchArgument::Scalar(value) => {
                let generic = format_ident!("__T{}", hosts.len(), span = Span::mixed_site());
                let name = format_ident!("kept_{}", hosts.len(), span = Span::mixed_site());
                types.push(quote!(&#generic));
                values.push(quote!(&#name));
                kept.push(name);
                hosts.push(value);
                generics.push(generic);
            }
            LaunchArgument::Moved(_) | LaunchArgument::Part(_) | LaunchArgument::Field(..) => {}
        }
    }
    // The bound tells rustc the types of the closure's parameters, and errors point to the closure.
    let made = quote_spanned!(work.span()=> __function(#(#hosts,)* #work));
    quote! {{
        fn __function<
            #(#generics: ?::core::marker::Sized + ::core::marker::Send + ::core::marker::Sync + 'static,)*
            __F: ::core::ops::FnMut(#(#types),*) + ::core::marker::Send + 'static,
        >(#(_: &::std::sync::Arc<#generics>,)* function: __F) -> __F {
            function
        }
        let mut #function = #made;
        #(let #kept = ::std::sync::Arc::clone(#hosts);)*
        #evaluation.host(move |#memory: &::cuweave::__private::HostMemory<'_>| #function(#(#values),*))
    }}
}
