//! Launches, and the arguments of statements.

use cuweave_core::ir::{Access, Kind, Mode, Origin};
use cuweave_ptx::nearest::nearest;
use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprCall};

use super::kinds::Word;
use super::{LaunchArgument, Lower, Lowering, Reported, Syntax, refused};
use crate::dims::compact;
use crate::graph::launch::literals;
use crate::graph::scope::{Borrow, View};

impl Lowering<'_> {
    pub(super) fn call(
        &mut self,
        call: &ExprCall,
        name: Option<&Ident>,
        attributes: &[Attribute],
    ) -> Lower<()> {
        match ungrouped(&call.func) {
            Expr::Index(launch) => self.launch(call, launch, name, attributes),
            Expr::Path(path) => {
                let last = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
                if let Some(word) = Word::named(&last) {
                    return self.word(word, call, name, attributes);
                }
                if let Some(word) = result_word(&call.func) {
                    return Err(self.refuse(
                        call,
                        &format!("`{word}` is not part of the language of graph functions"),
                        "delete it: a graph function returns nothing or allocations, and the function that builds the graph \
                         returns `cuweave::Result` by itself",
                    ));
                }
                match (last.as_str(), call.args.len()) {
                    ("swap", 2) if name.is_none() => {
                        self.no_after(attributes);
                        self.swap(&call.args[0], &call.args[1])
                    }
                    _ if path.path.segments.iter().all(|segment| segment.arguments.is_none()) => {
                        let results: Vec<Option<Ident>> =
                            name.into_iter().map(|name| Some(name.clone())).collect();
                        self.call_function(call, &path.path, &results, attributes)
                    }
                    _ => Err(self.refuse(
                        call,
                        "a call with type arguments is not part of the language of graph functions",
                        &match nearest(&last, ["alloc"]) {
                            Some(near) => format!("did you mean `{near}`?"),
                            None if last.contains("alloc") || last.contains("zeros") => {
                                "write `let h = alloc::<f32>(len);`, and `fill(&mut h, 0.0);` for zeros"
                                    .to_owned()
                            }
                            None => {
                                "call a graph function by its name, launch a kernel by `kernel[config](..)`"
                                    .to_owned()
                            }
                        },
                    )),
                }
            }
            _ => Err(self.refuse_as(call, refused::CALL)),
        }
    }

    pub(super) fn launch(
        &mut self,
        call: &ExprCall,
        launch: &syn::ExprIndex,
        name: Option<&Ident>,
        attributes: &[Attribute],
    ) -> Lower<()> {
        let Expr::Path(kernel) = ungrouped(&launch.expr) else {
            return Err(self.not_in_language(
                call,
                "this call is",
                &["a launch names its kernel by a path".into()],
            ));
        };
        if kernel.path.segments.iter().any(|segment| !segment.arguments.is_none()) || kernel.qself.is_some() {
            return Err(self.refuse(
                kernel,
                "a kernel has no type arguments",
                "declare a kernel for each type, and launch it by its name",
            ));
        }
        if let Some((at, argument)) = self.optional_argument(call)? {
            return self.launch_with_or_without(call, at, argument, name, attributes);
        }
        let kernel_name = kernel.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let config = self.substituted(&launch.index);
        let literals = literals(&config, self.report);
        let mut accesses = Vec::new();
        let mut arguments = Vec::new();
        // The elements of lists: they are accessed, and are no arguments of the kernel.
        let (mut pointed, mut entries) = (Vec::new(), Vec::new());
        let mut faulty = false;
        for argument in &call.args {
            // A buffer for an optional parameter may be written in `Some`.
            let argument = match ungrouped(argument) {
                Expr::Call(some) if some.args.len() == 1 && is_named(&some.func, "Some") => &some.args[0],
                _ => argument,
            };
            let lowered = match self.lent_list(argument) {
                Ok(Some(list)) => self.pointers(&list, attributes).map(|pointers| {
                    pointed.extend(pointers.pointed);
                    entries.extend(pointers.entries);
                    Some(pointers.table)
                }),
                Ok(None) => self.launch_argument(argument, &kernel_name),
                Err(Reported) => Err(Reported),
            };
            match lowered {
                Ok(Some(access)) => {
                    arguments.push(LaunchArgument::Buffer(accesses.len() as u32));
                    accesses.push(access);
                }
                Ok(None) => {
                    arguments.push(LaunchArgument::Scalar(Box::new(self.substituted(argument))));
                }
                // Continues after a faulty argument: the buffers that the launch borrows mutably count as written.
                Err(Reported) => faulty = true,
            }
        }
        accesses.extend(pointed);
        let syntax = Syntax {
            path: Some(kernel.path.clone()),
            config: Some(config),
            literals,
            arguments,
            faulty,
            ..Syntax::default()
        };
        let span = name.map_or_else(|| kernel.span(), Ident::span);
        let text = name.map_or(kernel_name, ToString::to_string);
        let id = self.push(text, span, Kind::Launch(()), syntax, accesses);
        self.after(id, attributes);
        self.comes_after(id, &entries, span);
        self.name(name, id);
        Ok(())
    }

    /// Returns the access of a buffer argument, or `None` for a scalar.
    pub(super) fn launch_argument(&mut self, argument: &Expr, kernel: &str) -> Lower<Option<(Access, Span)>> {
        let (inner, mode) = match argument {
            Expr::Paren(paren) => return self.launch_argument(&paren.expr, kernel),
            Expr::Group(group) => return self.launch_argument(&group.expr, kernel),
            Expr::Call(call) if is_named(&call.func, "atomic") && call.args.len() == 1 => match &call.args[0]
            {
                Expr::Reference(reference) if reference.mutability.is_some() => {
                    (&*reference.expr, Mode::Atomic)
                }
                inner => match self.view(inner)? {
                    Some(View { borrow: Some(Borrow::Mutable), .. }) => (inner, Mode::Atomic),
                    _ => {
                        return Err(self.refuse(
                            argument,
                            "`atomic` takes a buffer by `&mut`",
                            "write `atomic(&mut b)`",
                        ));
                    }
                },
            },
            Expr::Reference(reference) if reference.mutability.is_some() => {
                (&*reference.expr, Mode::ReadWrite)
            }
            Expr::Reference(reference) => (&*reference.expr, Mode::Read),
            bare => match self.bare(bare)? {
                Some(View { borrow: Some(Borrow::Shared), .. }) => (bare, Mode::Read),
                Some(View { borrow: Some(Borrow::Mutable), .. }) => (bare, Mode::ReadWrite),
                Some(View { borrow: None, buffer, .. }) => {
                    let what = match self.buffers[buffer].origin {
                        Origin::Part(_) => "a part of a buffer of a record is passed by reference",
                        _ => "a buffer that the graph owns is passed by reference",
                    };
                    let mut help = format!("write `&{0}`, `&mut {0}` or `atomic(&mut {0})`", compact(bare));
                    if let Some(function) = self.returned_by(&self.buffers[buffer].origin) {
                        help.push_str(&format!(
                            "; if `{function}` is an ordinary function of scalars, write the type: `let {}: T = {function}(..);`",
                            compact(bare)
                        ));
                    }
                    return Err(self.refuse(bare, what, &help));
                }
                None => return Ok(None),
            },
        };
        let Some(view) = self.view(inner)? else {
            return match inner {
                Expr::Path(_) | Expr::Index(_) if root(inner).is_some_and(|name| !self.is_scalar(name)) => {
                    Err(self.no_buffer(inner, kernel))
                }
                _ => Ok(None),
            };
        };
        let access = self.access(&view, mode, inner.span());
        self.device_only(&access, argument, kernel)?;
        Ok(Some(access))
    }

    /// Returns the buffer that an expression without a borrow names; `None` for a scalar, also for one of a record.
    pub(super) fn bare(&mut self, expr: &Expr) -> Lower<Option<View>> {
        match self.place(expr)? {
            Some(place) if !place.is_whole() && place.lent().is_none() => Ok(None),
            _ => self.view(expr),
        }
    }

    pub(super) fn is_whole(&self, view: &View) -> bool {
        let len = self.buffers[view.buffer].len;
        view.lo.poly.as_constant() == Some(0) && view.hi.poly == self.dims[len].poly
    }

    pub(super) fn access(&mut self, view: &View, mode: Mode, span: Span) -> (Access, Span) {
        let (lo, hi) = (self.dim(view.lo.clone()), self.dim(view.hi.clone()));
        (Access { buffer: view.buffer, mode, lo, hi, relied_on: false }, span)
    }

    /// Returns the buffer argument of `fill` or `copy`.
    pub(super) fn buffer_argument(
        &mut self,
        argument: &Expr,
        statement: &str,
        mode: Mode,
    ) -> Lower<(Access, Span)> {
        let reference = match argument {
            Expr::Reference(reference) => Some(reference),
            _ => None,
        };
        let inner = reference.map_or(argument, |reference| &reference.expr);
        let view = if reference.is_some() { self.view(inner)? } else { self.bare(inner)? };
        let Some(view) = view else { return Err(self.no_buffer(inner, statement)) };
        let mutable = match (reference, view.borrow) {
            (Some(reference), _) => reference.mutability.is_some(),
            (None, Some(borrow)) => borrow == Borrow::Mutable,
            (None, None) => {
                let borrow = if mode == Mode::Write { "&mut " } else { "&" };
                return Err(self.refuse(
                    argument,
                    "a buffer that the graph owns is passed by reference",
                    &format!("write `{borrow}{}`", compact(inner)),
                ));
            }
        };
        // CW205 reports a shared argument passed bare where it is written, as it does for one passed by `&mut`.
        if mode == Mode::Write && !mutable && reference.is_some() {
            return Err(self.refuse(
                argument,
                &format!("`{statement}` writes this argument"),
                &format!("write `&mut {}`", compact(inner)),
            ));
        }
        Ok(self.access(&view, mode, inner.span()))
    }

    /// Reports a copy whose arguments stand in the order of C's `memcpy`.
    pub(super) fn source_first(&mut self, call: &ExprCall) -> Lower<()> {
        let (Some(Expr::Reference(to)), Some(Expr::Reference(from))) = (call.args.first(), call.args.get(1))
        else {
            return Ok(());
        };
        if to.mutability.is_none() || from.mutability.is_some() {
            return Ok(());
        }
        let help = format!("write `copy(&{}, &mut {})`", compact(&from.expr), compact(&to.expr));
        let reported =
            self.refuse(call, "`copy` takes what it reads first, and what it writes second", &help);
        self.poison(quote::ToTokens::to_token_stream(&call.args));
        Err(reported)
    }

    /// Reports an argument that is not a buffer. A name that is not bound in the function is left to rustc.
    pub(super) fn no_buffer(&mut self, at: &Expr, user: &str) -> Reported {
        if let Some(name) = root(at).filter(|name| !self.is_scalar(name) && self.scopes.get(name).is_none()) {
            return self.no_such_buffer(&name.clone());
        }
        let (message, help) = match root(at).filter(|name| self.is_scalar(name)) {
            Some(name) => (
                format!("`{name}` is a scalar, and this argument of `{user}` is a buffer"),
                "pass an allocation, `let b = alloc::<T>(len);`, or an argument by `&` or `&mut`",
            ),
            None => (
                format!("this argument of `{user}` is not a buffer"),
                "pass an allocation or an argument by `&` or `&mut`",
            ),
        };
        self.refuse(at, &message, help)
    }

    /// Records a name that is not bound in the function, for rustc to report.
    pub(super) fn no_such_buffer(&mut self, name: &Ident) -> Reported {
        let text = name.to_string();
        let names: Vec<String> = self.buffers.iter().map(|buffer| buffer.name.to_string()).collect();
        if let Some(near) = nearest(&text, names.iter().map(String::as_str)) {
            for (buffer, poisoned) in names.iter().zip(&mut self.poisoned) {
                *poisoned |= buffer == near;
            }
        }
        self.unknown.push(name.clone());
        Reported
    }

    pub(super) fn is_scalar(&self, name: &Ident) -> bool {
        self.scalars.contains(&name.to_string())
            || self.variables.iter().any(|(variable, _)| name == variable)
    }

    pub(super) fn device_only(&mut self, access: &(Access, Span), at: &Expr, user: &str) -> Lower<()> {
        let buffer = &self.buffers[access.0.buffer];
        if buffer.origin.is_pinned() {
            let message = format!("`{}` is pinned host memory, which `{user}` does not take", buffer.name);
            return Err(self.refuse(at, &message, "`copy` it to or from a device buffer"));
        }
        Ok(())
    }
}

/// Returns the expression inside the groups that `macro_rules!` puts around its arguments.
pub(super) fn ungrouped(mut expr: &Expr) -> &Expr {
    while let Expr::Group(group) = expr {
        expr = &group.expr;
    }
    expr
}

/// Returns the constructor of a `Result` or an `Option` that an expression calls.
pub(super) fn result_word(function: &Expr) -> Option<String> {
    let Expr::Path(path) = ungrouped(function) else { return None };
    let name = path.path.get_ident()?.to_string();
    ["Ok", "Err", "Some"].contains(&name.as_str()).then_some(name)
}

pub(super) fn is_named(function: &Expr, name: &str) -> bool {
    matches!(function, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}

/// Returns the name at the root of `w`, `w[i]`, `w[lo..hi]`.
fn root(expr: &Expr) -> Option<&Ident> {
    let mut expr = expr;
    loop {
        match expr {
            Expr::Path(path) => return path.path.get_ident(),
            Expr::Index(index) => expr = &index.expr,
            Expr::Paren(inner) => expr = &inner.expr,
            _ => return None,
        }
    }
}
