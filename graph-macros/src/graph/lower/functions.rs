//! Lowers calls of graph functions: `block(d, &w, &mut x);`, `let h = block(..);`.

use std::collections::BTreeSet;

use cuweave_core::codes::Code;
use cuweave_core::ids::ScalarId;
use cuweave_core::index::Index;
use cuweave_core::ir::{Access, BufferId, DimId, Kind, Lifetime, Mode, Origin, StatementId};
use cuweave_core::structure::{Argument, Call, CallPlace};
use proc_macro2::{Ident, Span};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprCall, Path};

use super::calls::is_named;
use super::names::{Names, chains};
use super::optional::is_none;
use super::{LaunchArgument, Lower, Lowering, Reported, Syntax};
use crate::dims::{Bound, compact, is_integer};
use crate::graph::paths::{self, Callee};
use crate::graph::place::{Place, PlaceKind};
use crate::graph::scope::{Binding, Borrow, View};

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
        if callee.is_ident(self.function) {
            return Err(self.refuse(
                call,
                &format!("the graph function `{text}` calls itself"),
                "write a loop: over a list of records that has one for each level, `for level in &levels`, or over a range of \
                 scalars, `for i in 0..levels`",
            ));
        }
        let mut accesses: Vec<(Access, Span)> = Vec::new();
        let CallArguments { arguments, bindings, faulty } = self.call_arguments(call, &text, &mut accesses);
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
        let (path, in_body) = (Some(callee.clone()), self.body.is_some());
        let syntax = Syntax { path, arguments, returns, faulty, in_body, ..Syntax::default() };
        let (around, place) = (self.around.clone(), CallPlace::default());
        let number = self.calls.push(Call { arguments: bindings, results: returned, around, place });
        let id = self.push(text, callee.span(), Kind::Call(number), syntax, accesses);
        self.after(id, attributes);
        if let [Some(name)] = results {
            self.scopes.bind_statement(name, Some(vec![id]));
        }
        Ok(())
    }

    /// Lowers the arguments of a call. Adds their accesses to `accesses`.
    fn call_arguments(
        &mut self,
        call: &ExprCall,
        callee: &str,
        accesses: &mut Vec<(Access, Span)>,
    ) -> CallArguments {
        let (mut arguments, mut bindings) = (Vec::new(), Vec::new());
        let mut faulty = false;
        let mut whole: Vec<(Place, &Expr)> = Vec::new();
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
            if is_none(argument) {
                // The callee's parameter says what there is none of: buffers, or a scalar.
                let none = quote_spanned!(argument.span()=> ::cuweave::__private::absent());
                bindings.push(Argument::Scalar { of: Vec::new(), value: None });
                arguments.push(LaunchArgument::Scalar(Box::new(Expr::Verbatim(none))));
                continue;
            }
            let in_some = self.in_some(argument);
            match self.call_argument(in_some.unwrap_or(argument), callee) {
                Ok(Passed::Scalar) => {
                    let value = self.substituted(argument);
                    // A `let` of a scalar passes on the scalars of its value.
                    let found = Names::of(&value);
                    let numbers = found.mentioned.iter().filter_map(|name| self.scalar_numbers.get(name));
                    let mut of: Vec<ScalarId> = numbers.copied().collect();
                    let fields = self.fields_in(&value);
                    // A scalar of a record is no bound, since a setter may change it.
                    let bound = if fields.is_empty() { self.integer(&value) } else { None };
                    of.extend(fields);
                    bindings.push(Argument::Scalar { of, value: bound });
                    arguments.push(LaunchArgument::Scalar(Box::new(value)));
                }
                Ok(Passed::Borrowed(access)) => {
                    let at = accesses.len() as u32;
                    bindings.push(Argument::Access(at));
                    arguments.push(match in_some {
                        Some(_) => LaunchArgument::Given(at, None),
                        None => LaunchArgument::Buffer(at),
                    });
                    accesses.push(access);
                }
                Ok(Passed::Moved(access)) => {
                    bindings.push(Argument::Moved(access.0.buffer));
                    arguments.push(LaunchArgument::Moved(accesses.len() as u32));
                    accesses.push(access);
                }
                Ok(Passed::Field(place, access, borrow)) => {
                    bindings.push(Argument::Part(self.parts_of_arguments.number(&place)));
                    let at = accesses.len() as u32;
                    arguments.push(match in_some {
                        Some(_) => LaunchArgument::Given(at, Some(borrow)),
                        None => LaunchArgument::Field(at, borrow),
                    });
                    accesses.push(access);
                }
                Ok(Passed::Part(place)) => {
                    self.accesses_of_array(argument, &place, accesses);
                    bindings.push(Argument::Part(self.parts_of_arguments.number(&place)));
                    arguments.push(LaunchArgument::Part(Box::new(place.reference())));
                    whole.push((place, argument));
                }
                Err(Reported) => faulty = true,
            }
        }
        faulty |= self.lent_twice(callee, &whole, call).is_err();
        CallArguments { arguments, bindings, faulty }
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

    /// Decides which names of `let` name statements: those of calls without results, which no statement uses as a buffer.
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

    /// Returns a view of an allocation that a call returns.
    fn result(&mut self, callee: usize, at: usize, name: &Ident, call: StatementId) -> View {
        let path = &self.callees[callee].path;
        let span = path.span();
        let (callee, output) = (paths::callee(path, callee), format_ident!("__Output{at}", span = span));
        let buffer = BufferId::new(self.buffers.len());
        let len = Bound::extent(buffer, &name.to_string(), &mut self.symbols);
        // With one span for both, rustc reports an error here once.
        let element = syn::parse_quote_spanned!(span=> #callee::#output);
        self.buffer(name.to_string(), name.span(), Origin::Alloc(call), len, element, None)
    }

    /// Returns an argument of a call. An allocation by its bare name passes ownership.
    fn call_argument(&mut self, argument: &Expr, callee: &str) -> Lower<Passed> {
        if let Expr::Call(call) = argument
            && is_named(&call.func, "record")
            && let [part] = call.args.iter().collect::<Vec<_>>()[..]
        {
            return match self.whole(part)? {
                Some(place) => Ok(Passed::Part(place)),
                None => Err(self.refuse(
                    part,
                    "`record` takes a record or a list of an argument",
                    "write `record(layer.inner)`",
                )),
            };
        }
        if let Some(argument) = self.optional_lent(argument)? {
            return self.call_argument(&argument, callee);
        }
        if let Some(place) = self.whole(argument)?
            && (place.is_whole() || matches!(place.kind, PlaceKind::Array))
        {
            return Ok(Passed::Part(place));
        }
        if let Some(passed) = self.lent_field(argument)? {
            return Ok(passed);
        }
        if let Expr::Path(_) = argument
            && let Some(view @ View { borrow: None, .. }) = self.bare(argument)?
        {
            if !self.is_whole(&view) {
                return Err(self.refuse(
                    argument,
                    "a part of a buffer cannot be handed over",
                    "lend it: write `&b` or `&mut b`",
                ));
            }
            self.stays_in_body(argument, view.buffer)?;
            return Ok(Passed::Moved(self.access(&view, Mode::ReadWrite, argument.span())));
        }
        Ok(self.launch_argument(argument, callee)?.map_or(Passed::Scalar, Passed::Borrowed))
    }
}

impl Lowering<'_> {
    /// Lowers a field of a record, or an element of one, behind `&` or `&mut`. rustc decides whether it is a buffer, a
    /// record or a list.
    fn lent_field(&mut self, argument: &Expr) -> Lower<Option<Passed>> {
        let Some(place) = self.place(argument)? else { return Ok(None) };
        let borrow = match argument {
            Expr::Reference(reference) if reference.mutability.is_some() => Some(Borrow::Mutable),
            Expr::Reference(_) => Some(Borrow::Shared),
            _ => place.borrow,
        };
        let (PlaceKind::Field, Some(borrow)) = (&place.kind, borrow) else { return Ok(None) };
        let view = self.part_view(&place, argument)?;
        let mode = if borrow == Borrow::Mutable { Mode::ReadWrite } else { Mode::Read };
        let access = self.access(&view, mode, borrowed(argument).span());
        Ok(Some(Passed::Field(place, access, borrow)))
    }

    /// Returns the part that an expression names, or the array of buffers.
    fn whole(&mut self, expr: &Expr) -> Lower<Option<Place>> {
        let inner = match expr {
            Expr::Reference(reference) => &reference.expr,
            _ => expr,
        };
        if let Expr::Path(path) = inner
            && let Some(Binding::Array(_, array)) =
                path.path.get_ident().and_then(|name| self.scopes.get(name))
        {
            let array = (**array).clone();
            self.mentioned.insert(self.argument_names[array.argument].clone());
            return Ok(Some(Place { kind: PlaceKind::Array, ..array }));
        }
        self.place(expr)
    }

    /// Adds the accesses of an array of buffers that is passed whole.
    fn accesses_of_array(&mut self, at: &Expr, place: &Place, accesses: &mut Vec<(Access, Span)>) {
        if !matches!(place.kind, PlaceKind::Array) {
            return;
        }
        let inner = match at {
            Expr::Reference(reference) => &reference.expr,
            _ => at,
        };
        if let Expr::Path(path) = inner
            && let Some(Binding::Array(views, _)) =
                path.path.get_ident().and_then(|name| self.scopes.get(name))
        {
            let views = views.clone();
            for view in views.iter() {
                let mode = match view.borrow {
                    Some(Borrow::Mutable) => Mode::ReadWrite,
                    _ => Mode::Read,
                };
                accesses.push(self.access(view, mode, at.span()));
            }
        }
    }

    /// Reports CW201. A record or a list in a call counts as borrowed mutably in all of its buffers.
    fn lent_twice(&mut self, callee: &str, whole: &[(Place, &Expr)], call: &ExprCall) -> Lower<()> {
        for (at, (place, written)) in whole.iter().enumerate() {
            let again = whole[..at].iter().find(|(other, _)| other.overlaps(place));
            let other = match again {
                Some((_, other)) => Some((*other).clone()),
                None => {
                    let mut others = Vec::new();
                    for argument in &call.args {
                        if matches!(argument, Expr::Reference(_) | Expr::Call(_)) {
                            others.push(argument.clone());
                        }
                    }
                    let mut found = None;
                    for other in others {
                        let inner = borrowed(&other);
                        if let Some(part) = self.place(inner)?
                            && !whole.iter().any(|(_, whole)| std::ptr::eq(*whole, &other))
                            && !part.is_whole()
                            && part.path.len() > place.path.len()
                            && part.overlaps(place)
                        {
                            found = Some(other);
                        }
                    }
                    found
                }
            };
            if let Some(other) = other {
                let [one, two] = [*written, &other].map(|expr| compact(borrowed(expr)).replace(" [", "["));
                self.report.error(
                    other.span(),
                    Code::CW201,
                    &format!("`{callee}` borrows `{two}` and also `{one}`"),
                    &["a record or a list in a call counts as borrowed mutably in all of its buffers".into()],
                    Some("pass it once: the function reaches the fields through the record"),
                );
                return Err(Reported);
            }
        }
        Ok(())
    }

    /// Returns the numbers of the scalars of records that an expression mentions.
    fn fields_in(&mut self, value: &Expr) -> Vec<ScalarId> {
        let mut found = BTreeSet::new();
        chains(value.to_token_stream(), &self.roots, &mut found);
        let first = self.scalar_numbers.len();
        found
            .into_iter()
            .map(|chain| {
                let known = self.field_scalars.iter().position(|other| *other == chain);
                let at = known.unwrap_or_else(|| {
                    self.field_scalars.push(chain);
                    self.field_scalars.len() - 1
                });
                ScalarId::new(first + at)
            })
            .collect()
    }
}

/// Returns the expression inside a borrow, `atomic` or `record`.
fn borrowed(expr: &Expr) -> &Expr {
    match expr {
        Expr::Reference(reference) => borrowed(&reference.expr),
        Expr::Paren(inner) => borrowed(&inner.expr),
        Expr::Call(call) if call.args.len() == 1 => borrowed(&call.args[0]),
        Expr::Index(index) if matches!(&*index.index, Expr::Range(_)) => borrowed(&index.expr),
        _ => expr,
    }
}

/// The lowered arguments of a call.
struct CallArguments {
    /// The expressions in generated code.
    arguments: Vec<LaunchArgument>,
    /// The bindings of the callee's parameters.
    bindings: Vec<Argument>,
    /// True if one of them is faulty.
    faulty: bool,
}

/// The way in which an argument is passed to a graph function.
enum Passed {
    Scalar,
    Borrowed((Access, Span)),
    Moved((Access, Span)),
    Part(Place),
    Field(Place, (Access, Span), Borrow),
}
