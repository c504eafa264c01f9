//! Lowers loops over scalars and choices between statements, which the build decides.

use cuweave_core::ids::VariableId;
use cuweave_core::index::Index;
use cuweave_core::ir::{Kind, Origin};
use cuweave_core::sample::{Condition, Test};
use cuweave_core::structure::{Around, Choice, Item, Loop, Turns};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprCall, ExprForLoop, ExprIf, ExprMatch, Lit, Pat, RangeLimits, Stmt, Type};

use super::calls::ungrouped;
use super::expressions::name_alone;
use super::{Lower, Lowering, Reported, Turn};
use crate::dims::{Bound, turn, typed};
use crate::graph::attributes::{Attributes, Takes};
use crate::graph::scope::{Binding, View};
use crate::meaning::Meaning;

impl Lowering<'_> {
    /// Lowers a loop over a range of scalars: its body once, with a variable.
    pub(super) fn turns(&mut self, each: &ExprForLoop, variable: Option<&Ident>) -> Lower<()> {
        let (range, backwards) = reversed(&each.expr);
        let Some((start, end)) = scalar_range(range) else {
            return Err(self.refuse(
                &each.expr,
                "a loop runs over a range of integers or an array of buffers",
                loop_help(&each.expr),
            ));
        };
        let lo = self.bound(&start);
        let mut hi = self.bound(&end.0);
        if end.1 {
            hi = hi.plus(&Bound::constant(1), &mut self.symbols);
        }
        let (lo, hi) = (self.dim(lo), self.dim(hi));
        let (from, to) = (self.substituted(&start), self.substituted(&end.0));
        let number = VariableId::new(self.turns.len());
        let name = variable.map_or_else(|| "_".to_owned(), ToString::to_string);
        self.turns.push(Turn { range: syn::parse_quote!((#from)..(#to)), name: name.clone() });
        self.structured = true;
        let stands_for = turn(number);
        let stands_for: Expr = match (backwards, end.1) {
            (false, _) => syn::parse_quote!(#stands_for),
            (true, false) => syn::parse_quote!(((#from) + ((#to) - 1 - #stands_for))),
            (true, true) => syn::parse_quote!(((#from) + ((#to) - #stands_for))),
        };
        self.variables.push((name, Meaning::Expression(Box::new(stands_for))));
        let around = if backwards { Around::Down(number, lo, hi) } else { Around::Up(number) };
        self.around.push(around);
        let body = self.items_of(|lowering| lowering.block_with(variable, &each.body.stmts));
        self.around.pop();
        self.variables.pop();
        let line = each.span().start().line as u32;
        self.items.push(Item::Loop(Loop { line, variable: number, turns: Turns::Range(lo, hi), body }));
        Ok(())
    }

    /// Lowers a block that may run several times or not at all, and returns its items.
    pub(super) fn items_of(&mut self, lower: impl FnOnce(&mut Self)) -> Vec<Item> {
        let outside = std::mem::take(&mut self.items);
        let depth = std::mem::replace(&mut self.outer_names, self.scopes.depth());
        lower(self);
        self.outer_names = depth;
        std::mem::replace(&mut self.items, outside)
    }

    /// Lowers `swap(&mut a, &mut b);`, which exchanges the buffers of two names.
    pub(super) fn swap(&mut self, a: &Expr, b: &Expr) -> Lower<()> {
        let ((a, one), (b, other)) = (self.rebindable(a)?, self.rebindable(b)?);
        self.same_length(&a, &one, &other)?;
        self.stays_in_body(&a, one.buffer)?;
        self.stays_in_body(&b, other.buffer)?;
        self.renames.extend([one.buffer, other.buffer]);
        if self.is_outer(&a) || self.is_outer(&b) {
            self.items.push(Item::Swap(one.buffer, other.buffer));
        } else {
            self.scopes.bind_again(&a, Binding::View(other));
            self.scopes.bind_again(&b, Binding::View(one));
        }
        Ok(())
    }

    /// Lowers `h = y;`, which rebinds the name `h` to the buffer of `y`, and `h = block(&h);` and `(a, b) = block(..);`,
    /// which rebind names to the results of a call.
    pub(super) fn assign(&mut self, to: &Expr, from: &Expr, attributes: &[Attribute]) -> Lower<()> {
        if let Expr::Call(call) = ungrouped(from)
            && matches!(ungrouped(&call.func), Expr::Path(_))
        {
            let attributes = [attributes, &call.attrs].concat();
            return self.assign_results(to, call, &attributes);
        }
        self.no_after(attributes);
        let ((to, old), (from, new)) = (self.target(to)?, self.rebindable(from)?);
        self.rebind(&to, &old, &new)?;
        // The name that loses its buffer keeps the one without any other name.
        let left = if self.is_outer(&to) { new } else { old };
        self.scopes.bind_again(&from, Binding::Moved(to, left));
        Ok(())
    }

    /// Rebinds a name to the buffer of another one.
    fn rebind(&mut self, to: &Ident, old: &View, new: &View) -> Lower<()> {
        self.same_length(to, old, new)?;
        self.stays_in_body(to, old.buffer)?;
        self.stays_in_body(to, new.buffer)?;
        self.renames.extend([old.buffer, new.buffer]);
        if self.is_outer(to) {
            self.items.push(Item::Rename { to: old.buffer, from: new.buffer });
            self.scopes.bind_again(to, Binding::View(old.clone()));
        } else {
            self.scopes.bind_again(to, Binding::View(new.clone()));
        }
        Ok(())
    }

    fn assign_results(&mut self, to: &Expr, call: &ExprCall, attributes: &[Attribute]) -> Lower<()> {
        let targets: Vec<&Expr> = match ungrouped(to) {
            Expr::Tuple(tuple) => tuple.elems.iter().collect(),
            one => vec![one],
        };
        let targets: Lower<Vec<Option<(Ident, View)>>> = targets
            .into_iter()
            .map(|target| match target {
                Expr::Infer(_) => Ok(None),
                target => self.target(target).map(Some),
            })
            .collect();
        let targets = targets?;
        let names: Vec<Option<Ident>> =
            targets.iter().map(|target| target.as_ref().map(|target| target.0.clone())).collect();
        self.scopes.enter();
        let done = match (names.as_slice(), ungrouped(&call.func)) {
            ([Some(name)], _) => self.call(call, Some(name), attributes),
            (names, Expr::Path(path)) => self.call_function(call, &path.path, names, attributes),
            _ => Err(Reported),
        };
        let given: Vec<Option<Binding>> =
            names.iter().map(|name| name.as_ref().and_then(|name| self.scopes.get(name).cloned())).collect();
        let (resolved, _) = self.scopes.leave();
        self.resolve(resolved);
        done?;
        for (target, given) in targets.into_iter().zip(given) {
            let Some((name, old)) = target else { continue };
            match given {
                Some(Binding::View(new)) if new.buffer != old.buffer => self.rebind(&name, &old, &new)?,
                _ => {
                    return Err(self.refuse(
                        &name,
                        "only an allocation is assigned to the name of one",
                        "assign what `alloc` or a graph function returns",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Returns the assigned name and its declared buffer. The name may have been rebound since.
    fn target(&mut self, expr: &Expr) -> Lower<(Ident, View)> {
        if let Expr::Path(path) = ungrouped(expr)
            && let Some(name) = path.path.get_ident()
            && let Some(Binding::Moved(_, view)) = self.scopes.get(name)
        {
            return Ok((name.clone(), view.clone()));
        }
        self.rebindable(expr)
    }

    /// Returns the name and the buffer of an allocation whose name is rebound.
    fn rebindable(&mut self, expr: &Expr) -> Lower<(Ident, View)> {
        let inner = match expr {
            Expr::Reference(reference) if reference.mutability.is_some() => &reference.expr,
            expr => expr,
        };
        if let Expr::Index(_) = inner {
            return Err(self.refuse(
                expr,
                "a part of a buffer is not assigned",
                "write `fill(&mut x[i..i + 1], value);`, `copy(&y, &mut x[lo..hi]);` or launch a kernel",
            ));
        }
        let name = match inner {
            Expr::Path(path) => path.path.get_ident().cloned(),
            _ => None,
        };
        let view = self.view(inner)?;
        let of_an_allocation = |view: &View, lowering: &Self| {
            matches!(lowering.buffers[view.buffer].origin, Origin::Alloc(_)) && lowering.is_whole(view)
        };
        match (name, view) {
            (Some(name), Some(view)) if of_an_allocation(&view, self) => Ok((name, view)),
            (Some(name), None) if self.names_a_scalar(inner) => Err(self.refuse(
                expr,
                &format!("`{name}` is a scalar, which keeps its value"),
                "give the new value a `let` of its own; in a loop, compute it from the variable of the loop",
            )),
            _ => Err(self.refuse(
                expr,
                "only the names of whole allocations stand for another buffer",
                "write `swap(&mut a, &mut b);` or `a = b;` with allocations, or `copy(&b, &mut a);`",
            )),
        }
    }

    fn same_length(&mut self, at: &Ident, one: &View, other: &View) -> Lower<()> {
        let element = |view: &View| &self.elements[view.buffer.index()];
        if one.hi.poly == other.hi.poly && element(one) == element(other) {
            return Ok(());
        }
        // The build compares length and element type of call results.
        let returned = |view: &View| match self.buffers[view.buffer].origin {
            Origin::Alloc(at) => {
                matches!(self.statements.get(at).map(|statement| statement.kind), Some(Kind::Call(_)))
            }
            _ => false,
        };
        if returned(one) || returned(other) {
            return Ok(());
        }
        Err(self.refuse(
            at,
            "the two allocations are not of one length and one element type",
            "allocate both with the same expression: the length of the longest, of which launches take ranges, `&h[..n]`; or keep \
             buffers of several lengths in records",
        ))
    }

    /// Returns true for a name declared outside of the loop or arm being lowered.
    fn is_outer(&self, name: &Ident) -> bool {
        self.scopes.depth_of(name).is_some_and(|depth| depth < self.outer_names)
    }

    /// Lowers `let dim = heads * head_dim;`: the name stands for the expression of scalars.
    pub(super) fn scalar(&mut self, name: &Ident, value: &Expr) {
        let value = self.substituted(value);
        self.stands_for_scalar(name, &value);
    }

    /// Binds a name to an expression of scalars in which names are substituted already.
    pub(super) fn stands_for_scalar(&mut self, name: &Ident, value: &Expr) {
        self.variables.push((name.to_string(), Meaning::Expression(Box::new(syn::parse_quote!((#value))))));
        self.scopes.bind(name, Binding::Number);
    }

    /// Lowers `let dim: u64 = n as u64 * 2;`. rustc checks the expression against the type.
    pub(super) fn typed_scalar(&mut self, name: &Ident, ty: &Type, value: &Expr) {
        let value = self.substituted(value);
        self.stands_for_typed_scalar(name, ty, &value);
    }

    /// Binds a name to a typed expression of scalars in which names are substituted already.
    pub(super) fn stands_for_typed_scalar(&mut self, name: &Ident, ty: &Type, value: &Expr) {
        let typed: Expr = typed(ty, value);
        self.typed.push(typed.clone());
        self.variables.push((name.to_string(), Meaning::Expression(Box::new(typed))));
        self.scopes.bind(name, Binding::Number);
    }

    /// Returns true for an expression of a scalar: by its syntax, or as the name or a part of one.
    pub(super) fn gives_a_scalar(&self, expr: &Expr) -> bool {
        let mut whole = expr;
        while let Expr::Field(syn::ExprField { base: inner, .. })
        | Expr::Index(syn::ExprIndex { expr: inner, .. }) = ungrouped(whole)
        {
            whole = inner;
        }
        // A bare host value is none, but its fields are.
        let of_host = self.names_a_host_value(whole) && name_alone(expr).is_none();
        is_scalar(expr) || of_host || self.names_a_scalar(ungrouped(whole))
    }

    /// Returns true for an expression that is a launch configuration, or a part of one: `(grid, block)`, `per_item(n)`.
    pub(super) fn configures(&self, expr: &Expr) -> bool {
        match ungrouped(expr) {
            Expr::Tuple(tuple) => {
                let part = |part: &Expr| {
                    self.gives_a_scalar(part) || self.names_a_constant(part) || self.configures(part)
                };
                !tuple.elems.is_empty() && tuple.elems.iter().all(part)
            }
            Expr::Call(call) => match ungrouped(&call.func) {
                Expr::Path(path) => {
                    let configures = |name: &Ident| name == "per_item" || name == "LaunchConfig";
                    path.path.segments.iter().any(|segment| configures(&segment.ident))
                }
                _ => false,
            },
            Expr::Struct(literal) => {
                literal.path.segments.last().is_some_and(|last| last.ident == "LaunchConfig")
            }
            _ => false,
        }
    }

    /// Returns true for the name of a scalar.
    pub(super) fn names_a_scalar(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Path(path) if path.path.get_ident().is_some_and(|name| {
            self.is_scalar(name) && matches!(self.scopes.get(name), Some(Binding::Number) | None)
        }))
    }

    /// Returns true for a path that nothing in the function binds: a constant, or a name that rustc does not find.
    pub(super) fn names_a_constant(&self, expr: &Expr) -> bool {
        matches!(ungrouped(expr), Expr::Path(path) if path.qself.is_none()
            && path.path.get_ident().is_none_or(|name| !self.is_scalar(name) && self.scopes.get(name).is_none()))
    }

    /// Lowers `if a { .. } else if b { .. } else { .. }`, whose conditions the build evaluates.
    pub(super) fn if_else(&mut self, choice: &ExprIf) -> Lower<()> {
        let mut arms = Vec::new();
        let mut number = quote!(0u32);
        let (mut conditions, mut choosing) = (Vec::new(), Vec::new());
        let mut next = Some(choice);
        let mut last: Option<&Expr> = None;
        while let Some(one) = next {
            if let Expr::Let(pattern) = &*one.cond {
                let (name, place) = self.optional(pattern)?;
                let condition = self.is_given(&place);
                choosing.push(quote!(#condition));
                conditions.push(condition);
                let element = self.given(&place);
                arms.push(self.items_of(|lowering| lowering.block_of(name, element, &one.then_branch.stmts)));
            } else {
                self.no_buffers(&one.cond)?;
                let condition = self.substituted(&one.cond);
                choosing.push(self.choosing(&one.cond, &condition));
                conditions.push(condition);
                arms.push(self.items_of(|lowering| lowering.block(&one.then_branch.stmts)));
            }
            (next, last) = match one.else_branch.as_ref().map(|(_, branch)| &**branch) {
                Some(Expr::If(inner)) if !self.device_decides(&inner.cond) => (Some(inner), None),
                other => (None, other),
            };
        }
        match last {
            Some(Expr::Block(block)) => {
                arms.push(self.items_of(|lowering| lowering.block(&block.block.stmts)));
            }
            Some(inner @ Expr::If(_)) => {
                arms.push(self.items_of(|lowering| lowering.block(&[Stmt::Expr(inner.clone(), None)])));
            }
            _ => {}
        }
        for (at, condition) in choosing.iter().enumerate().rev() {
            let at = at as u32;
            let otherwise = if at as usize + 1 == conditions.len() {
                let count = conditions.len() as u32;
                quote!(#count)
            } else {
                number
            };
            number = quote!(if #condition { #at } else { #otherwise });
        }
        let total = arms.len() > conditions.len();
        let mut tests: Vec<Test> = conditions.iter().map(|condition| self.test(condition)).collect();
        tests.extend(total.then_some(Test::Known(true)));
        self.choose(choice.span().start().line as u32, syn::parse_quote!(#number), arms);
        self.conditions.push(Condition { arms: tests, total });
        Ok(())
    }

    /// Lowers `match scalar { .. }`, whose scalar the build evaluates.
    pub(super) fn match_arms(&mut self, choice: &ExprMatch) -> Lower<()> {
        self.no_buffers(&choice.expr)?;
        let of = self.substituted(&choice.expr);
        let (mut arms, mut patterns, mut tests) = (Vec::new(), Vec::new(), Vec::new());
        for (at, arm) in (0u32..).zip(&choice.arms) {
            let variables = self.variables.len();
            self.scopes.enter();
            let done = self.match_arm(&of, arm);
            let (resolved, _) = self.scopes.leave();
            self.resolve(resolved);
            self.variables.truncate(variables);
            let (pattern, test, items) = done?;
            patterns.push(quote!(#pattern => #at,));
            tests.push(test);
            arms.push(items);
        }
        // rustc checks that a `match` is exhaustive.
        if let Some(last) = tests.last_mut() {
            *last = Test::Known(true);
        }
        let chosen = match choice.arms.first().is_some_and(|arm| is_number(&arm.pat)) {
            true => self.choosing(&choice.expr, &of),
            false => quote!(#of),
        };
        let number = syn::parse_quote!(match #chosen { #(#patterns)* });
        self.choose(choice.span().start().line as u32, number, arms);
        self.conditions.push(Condition { arms: tests, total: true });
        Ok(())
    }

    /// Returns the pattern of an arm for rustc, its test, and its items.
    fn match_arm(&mut self, of: &Expr, arm: &syn::Arm) -> Lower<(TokenStream, Test, Vec<Item>)> {
        let (pattern, guard) = match &arm.pat {
            Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
            pattern => (pattern, None),
        };
        Attributes::of(&arm.attrs, Takes::Nothing, self.report);
        let mut names = Vec::new();
        self.bound_by(pattern, of, &mut names)?;
        for (name, value) in names {
            // A name without a lower-case letter is that of a constant.
            if name.to_string().contains(char::is_lowercase) {
                self.scopes.bind(&name, Binding::Number);
                self.variables
                    .push((name.to_string(), Meaning::Expression(Box::new(syn::parse_quote!((#value))))));
            }
        }
        let mut test = self.pattern_test(pattern, of);
        let mut tokens = quote!(#pattern);
        if let Some(guard) = guard {
            let guard = self.substituted(guard);
            test = Test::All(vec![test, self.test(&guard)]);
            tokens = quote!(#pattern if #guard);
        }
        let items = self.items_of(|lowering| match ungrouped(&arm.body) {
            Expr::Block(block) if block.label.is_none() && block.attrs.is_empty() => {
                lowering.block(&block.block.stmts)
            }
            body => lowering.block(&[Stmt::Expr(body.clone(), None)]),
        });
        Ok((tokens, test, items))
    }

    fn choose(&mut self, line: u32, number: Expr, arms: Vec<Vec<Item>>) {
        self.structured = true;
        self.choices.push(number);
        let number = self.choices.len() as u32 - 1;
        self.items.push(Item::Choice(Choice { line, number, arms }));
    }
}

/// Returns true if the syntax of an expression is that of a scalar.
pub(super) fn is_scalar(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => is_scalar(&inner.expr),
        Expr::Group(inner) => is_scalar(&inner.expr),
        Expr::Unary(unary) => !matches!(unary.op, syn::UnOp::Deref(_)),
        Expr::MethodCall(call) => call.method != "split_at_mut",
        Expr::Binary(_) | Expr::Lit(_) | Expr::Cast(_) => true,
        _ => false,
    }
}

/// Returns true for a pattern of integers.
fn is_number(pattern: &Pat) -> bool {
    match pattern {
        Pat::Lit(literal) => matches!(literal.lit, Lit::Int(_)),
        Pat::Paren(inner) => is_number(&inner.pat),
        Pat::Or(or) => or.cases.first().is_some_and(is_number),
        _ => false,
    }
}

/// Returns the help for a loop over something else.
fn loop_help(over: &Expr) -> &'static str {
    let method = match over {
        Expr::MethodCall(call) => call.method.to_string(),
        _ => String::new(),
    };
    match method.as_str() {
        "rev" => "write `for i in (0..n).rev()` or `for layer in layers.iter().rev()`",
        "step_by" => "count the steps, as in `for i in 0..n / 4`, and use `i * 4` in the body",
        _ => {
            "write `for i in 0..4`, or `for i in 0..n` with a scalar, and `x[i]` or `&x[i * d..(i + 1) * d]` in the body"
        }
    }
}

/// Returns the iterated expression of a loop without its `.rev()`, and true if it has one.
pub(super) fn reversed(over: &Expr) -> (&Expr, bool) {
    match over {
        Expr::Paren(inner) => reversed(&inner.expr),
        Expr::Group(inner) => reversed(&inner.expr),
        Expr::MethodCall(call) if call.method == "rev" && call.args.is_empty() => {
            let (inner, backwards) = reversed(&call.receiver);
            (inner, !backwards)
        }
        inner => (inner, false),
    }
}

/// Returns both ends of a range, and true if it includes the second. `None` if one is missing.
fn scalar_range(expr: &Expr) -> Option<(Expr, (Expr, bool))> {
    match expr {
        Expr::Paren(inner) => scalar_range(&inner.expr),
        Expr::Group(inner) => scalar_range(&inner.expr),
        Expr::Range(range) => {
            let (start, end) = (range.start.as_deref()?.clone(), range.end.as_deref()?.clone());
            Some((start, (end, matches!(range.limits, RangeLimits::Closed(_)))))
        }
        _ => None,
    }
}
