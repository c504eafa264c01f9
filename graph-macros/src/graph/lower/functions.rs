//! Lowers calls of graph functions: `block(d, &w, &mut x);`, `let h = block(..);`.

use std::collections::BTreeSet;

use cuweave_core::index::Index;
use cuweave_core::ir::{Access, BufferId, DimId, Kind, Lifetime, Mode, Origin, StatementId};
use cuweave_core::structure::{Argument, Call};
use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprCall, Path};

use super::names::Names;
use super::{LaunchArgument, Lower, Lowering, Reported, Syntax};
use crate::dims::{Bound, is_integer};
use crate::graph::paths::{self, Callee};
use crate::graph::scope::{Binding, View};

impl Lowering<'_> {
    /// Lowers a call; `results` are the names that a `let` gives to the allocations that it returns.
    pub(super) fn call_function(
        &mut self,
        call: &ExprCall,
        callee: &Path,
        results: &[Option<Ident>],
        attributes: &[Attribute],
    ) -> Lower<()> {
        let text = callee.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let mut accesses: Vec<(Access, Span)> = Vec::new();
        let (mut arguments, mut bindings) = (Vec::new(), Vec::new());
        let mut faulty = false;
        for argument in &call.args {
            if let Some(host) = self.host(argument) {
                match self.passed(&host, &bindings) {
                    Ok(name) => {
                        bindings.push(Argument::Host(host.argument));
                        arguments.push(LaunchArgument::Scalar(Box::new(name)));
                    }
                    Err(Reported) => faulty = true,
                }
                continue;
            }
            match self.call_argument(argument, &text) {
                Ok(Passed::Scalar) => {
                    let value = self.substituted(argument);
                    // A `let` of a scalar passes on the scalars that it is computed of.
                    let found = Names::of(&value);
                    let numbers = found.mentioned.iter().filter_map(|name| self.scalar_numbers.get(name));
                    let of = numbers.copied().collect();
                    bindings.push(Argument::Scalar { of, value: self.integer(&value) });
                    arguments.push(LaunchArgument::Scalar(Box::new(value)));
                }
                Ok(Passed::Borrowed(access)) => {
                    bindings.push(Argument::Access(accesses.len() as u32));
                    arguments.push(LaunchArgument::Buffer(accesses.len() as u32));
                    accesses.push(access);
                }
                Ok(Passed::Moved(access)) => {
                    bindings.push(Argument::Moved(access.0.buffer));
                    arguments.push(LaunchArgument::Moved(accesses.len() as u32));
                    accesses.push(access);
                }
                Err(Reported) => faulty = true,
            }
        }
        let id = StatementId::new(self.statements.len());
        let mut returned = Vec::new();
        let number = self.callee(callee, results.len());
        for (at, name) in results.iter().enumerate() {
            let ignored = Ident::new("_ignored", callee.span());
            let view = self.result(number, at, name.as_ref().unwrap_or(&ignored), id);
            returned.push(view.buffer);
            accesses.push(self.access(&view, Mode::Write, name.as_ref().unwrap_or(&ignored).span()));
            if let Some(name) = name {
                self.scopes.bind(name, Binding::View(view));
            }
        }
        self.structured = true;
        let returns = (results.len() > 1).then_some(results.len());
        let syntax = Syntax { path: Some(callee.clone()), arguments, returns, faulty, ..Syntax::default() };
        let number = self.calls.push(Call { arguments: bindings, results: returned });
        let id = self.push(text, callee.span(), (Kind::Call(number), syntax), accesses);
        self.after(id, attributes);
        if let [Some(name)] = results {
            self.scopes.bind_statement(name, Some(id));
        }
        Ok(())
    }

    /// Returns the number of the graph function that a path names.
    fn callee(&mut self, path: &Path, results: usize) -> usize {
        let known = self.callees.iter().position(|callee| callee.path == *path);
        let number = known.unwrap_or(self.callees.len());
        match known {
            Some(number) => self.callees[number].results = self.callees[number].results.max(results),
            None => self.callees.push(Callee { path: path.clone(), results }),
        }
        number
    }

    /// Returns an integer expression as a bound.
    fn integer(&mut self, value: &Expr) -> Option<DimId> {
        if !is_integer(value, &self.integers) {
            return None;
        }
        let bound = Bound::of(value, true, &self.integers, &mut self.symbols);
        Some(self.dim(bound))
    }

    /// Settles which names of `let` are those of calls that may return nothing: those that no statement uses as a buffer.
    pub(super) fn name_statements(&mut self) {
        let mut used: BTreeSet<BufferId> = self.outputs.iter().copied().collect();
        used.extend(self.renames.iter().copied());
        for (at, statement) in self.statements.enumerate() {
            used.extend(statement.kind.lifetime().map(|lifetime| match lifetime {
                Lifetime::Begins(&buffer) | Lifetime::Ends(&buffer) => buffer,
            }));
            let own = |buffer: BufferId| self.buffers[buffer].origin == Origin::Alloc(at);
            used.extend(statement.accesses.iter().map(|access| access.buffer).filter(|&buffer| !own(buffer)));
        }
        for (statement, syntax) in self.statements.iter().zip(&mut self.syntax) {
            let Kind::Call(call) = statement.kind else { continue };
            let results = &self.calls[call].results;
            if syntax.returns.is_none() && results.iter().any(|result| used.contains(result)) {
                syntax.returns = Some(results.len());
            }
            for result in results.iter().filter(|result| !used.contains(result)) {
                self.elements[result.index()] = syn::parse_quote!(());
            }
        }
    }

    /// The buffer of an allocation that a call returns.
    fn result(&mut self, callee: usize, at: usize, name: &Ident, call: StatementId) -> View {
        let path = &self.callees[callee].path;
        let span = path.span();
        let (callee, output) = (paths::callee(path, callee), format_ident!("__Output{at}", span = span));
        let buffer = BufferId::new(self.buffers.len());
        let len = Bound::extent(buffer, &name.to_string(), &mut self.symbols);
        // rustc tells an error of one place once.
        let element = syn::parse_quote_spanned!(span=> #callee::#output);
        self.buffer(name.to_string(), name.span(), Origin::Alloc(call), len, element, None)
    }

    /// An argument of a call: a whole allocation by its bare name is handed over.
    fn call_argument(&mut self, argument: &Expr, callee: &str) -> Lower<Passed> {
        if let Expr::Path(_) = argument
            && let Some(view @ View { borrow: None, .. }) = self.view(argument)?
        {
            if !self.is_whole(&view) {
                return Err(self.refuse(
                    argument,
                    "a part of a buffer cannot be handed over",
                    "lend it: write `&b` or `&mut b`",
                ));
            }
            return Ok(Passed::Moved(self.access(&view, Mode::ReadWrite, argument.span())));
        }
        Ok(self.launch_argument(argument, callee)?.map_or(Passed::Scalar, Passed::Borrowed))
    }
}

/// How an argument is passed to a graph function.
enum Passed {
    Scalar,
    Borrowed((Access, Span)),
    Moved((Access, Span)),
}
