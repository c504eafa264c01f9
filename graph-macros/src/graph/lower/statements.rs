//! Lowers statements: `let`, blocks and loops. Others are reported.

use cuweave_core::codes::Code;
use cuweave_core::structure::Around;
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Block, Expr, Pat, RangeLimits, Stmt};

use super::optional::given_or_none;
use super::refused::{self, Refused};
use super::structure::reversed;
use super::tail::is_tail;
use super::{Lower, Lowering, Reported, Unrolling};
use crate::graph::attributes::{Attributes, Takes};
use crate::graph::scope::{Binding, Borrow, View};
use crate::graph::signature::Signature;
use crate::meaning::{Meaning, constant};

/// Loops of more statements are refused: a launch of so many nodes takes the driver seconds.
const MOST_STATEMENTS: usize = 10_000;
/// Loops of more turns are refused: a loop around empty loops adds turns without statements.
const MOST_TURNS: usize = 4 * MOST_STATEMENTS;

impl Lowering<'_> {
    pub(super) fn body(&mut self, body: &Block, signature: &Signature) {
        let tail = match body.stmts.split_last() {
            // The last expression may be the value of the refused return type.
            Some((Stmt::Expr(_, None), rest)) if signature.misreturned => {
                self.statements(rest);
                None
            }
            Some((Stmt::Expr(tail, None), rest)) if !signature.returned.is_empty() || is_tail(tail) => {
                self.statements(rest);
                Some(tail)
            }
            _ => {
                self.statements(&body.stmts);
                None
            }
        };
        match tail {
            Some(tail) => self.tail(tail, signature),
            None if signature.returned.is_empty() => {}
            // The refused statement may have been meant as the tail.
            None if self.refused || signature.misreturned => {}
            None => self.report.error(
                body.brace_token.span.close(),
                Code::CW001,
                "the function returns allocations, but its body does not end with their names",
                &[],
                Some("end it with the name of an allocation, or with a tuple of names"),
            ),
        }
    }

    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            // A fault was reported where it was found. Lowering goes on with the next statement.
            let _ = self.statement(statement);
        }
    }

    pub(super) fn block(&mut self, statements: &[Stmt]) {
        self.block_with(None, statements);
    }

    /// Lowers a block in which a loop's variable is bound.
    pub(super) fn block_with(&mut self, variable: Option<&Ident>, statements: &[Stmt]) {
        self.scopes.enter();
        let variables = self.variables.len();
        if let Some(variable) = variable {
            self.scopes.bind(variable, Binding::Number);
        }
        self.statements(statements);
        self.leave_block(variables);
    }

    /// Leaves a block and drops the loop variables that were added in it.
    pub(super) fn leave_block(&mut self, variables: usize) {
        let (resolved, _) = self.scopes.leave();
        self.resolve(resolved);
        self.variables.truncate(variables);
    }

    pub(super) fn statement(&mut self, statement: &Stmt) -> Lower<()> {
        match statement {
            Stmt::Local(local) => self.local(local),
            Stmt::Expr(expr, _) => self.expression(expr, None, &[]),
            Stmt::Item(_) | Stmt::Macro(_) => Err(self.refuse_as(statement, refused::statement(statement))),
        }
    }

    /// Reports CW001 at a statement or expression. The buffers that it names are poisoned from here on.
    pub(super) fn not_in_language(
        &mut self,
        at: &(impl ToTokens + Spanned),
        what: &str,
        notes: &[String],
    ) -> Reported {
        if !self.is_unreported(at) {
            return Reported;
        }
        self.report.error(
            at.span(),
            Code::CW001,
            &format!("{what} not part of the language of graph functions"),
            notes,
            Some(refused::help(what)),
        );
        Reported
    }

    /// Reports CW001 at a statement or an expression, with a given help.
    pub(super) fn refuse_as(
        &mut self,
        at: &(impl ToTokens + Spanned),
        Refused { what, help }: Refused,
    ) -> Reported {
        self.refuse(at, &format!("{what} not part of the language of graph functions"), help)
    }

    pub(super) fn refuse(&mut self, at: &(impl ToTokens + Spanned), message: &str, help: &str) -> Reported {
        self.refuse_with(at, message, &[], help)
    }

    /// As [`Lowering::refuse`], with notes.
    pub(super) fn refuse_with(
        &mut self,
        at: &(impl ToTokens + Spanned),
        message: &str,
        notes: &[String],
        help: &str,
    ) -> Reported {
        if self.is_unreported(at) {
            self.report.error(at.span(), Code::CW001, message, notes, Some(help));
        }
        Reported
    }

    /// Prepares the report of a faulty statement or expression, and poisons the buffers that it names. Returns false if it
    /// names something that a reported fault has poisoned.
    fn is_unreported(&mut self, at: &impl ToTokens) -> bool {
        let tokens = at.to_token_stream();
        let known = !self.names_unknown(tokens.clone());
        self.poison(tokens);
        self.refused = true;
        known
    }

    /// Returns false if an expression names something that a reported fault has poisoned. All that depends on it is unknown
    /// then.
    fn is_unreported_in(&mut self, expr: &Expr) -> bool {
        !self.names_unknown(expr.to_token_stream()) || self.is_unreported(expr)
    }

    /// Returns true if tokens hold a name that a reported fault has made unknown.
    pub(super) fn names_unknown(&self, tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            proc_macro2::TokenTree::Group(group) => self.names_unknown(group.stream()),
            proc_macro2::TokenTree::Ident(name) => matches!(self.scopes.get(&name), Some(Binding::Unknown)),
            _ => false,
        })
    }

    pub(super) fn poison(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Group(group) => self.poison(group.stream()),
                proc_macro2::TokenTree::Ident(name) => match self.scopes.get(&name) {
                    Some(Binding::View(view)) => self.poisoned[view.buffer] = true,
                    Some(Binding::Array(views, _)) => {
                        for view in views.iter() {
                            self.poisoned[view.buffer] = true;
                        }
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }

    pub(super) fn split(&mut self, names: [Option<&Ident>; 2], receiver: &Expr, at: &Expr) -> Lower<()> {
        let Some(view) = self.view(receiver)? else {
            return Err(self.refuse(
                receiver,
                "`split_at_mut` needs a buffer",
                "split an allocation, an argument or a part of one",
            ));
        };
        let middle = self.bound(at);
        let middle = view.lo.plus(&middle, &mut self.symbols);
        self.part(&view, &view.lo, &middle, at.span());
        let borrow = Some(match view.borrow {
            Some(Borrow::Shared) => Borrow::Shared,
            _ => Borrow::Mutable,
        });
        let low = View { buffer: view.buffer, lo: view.lo, hi: middle.clone(), borrow };
        let high = View { buffer: view.buffer, lo: middle, hi: view.hi, borrow };
        for (name, half) in names.into_iter().zip([low, high]) {
            if let Some(name) = name {
                self.scopes.bind(name, Binding::View(half));
            }
        }
        Ok(())
    }

    /// Lowers an expression statement. `name` is that of its `let`.
    pub(super) fn expression(&mut self, expr: &Expr, name: Option<&Ident>, outer: &[Attribute]) -> Lower<()> {
        match expr {
            Expr::Paren(inner) => self.expression(&inner.expr, name, outer),
            Expr::Group(inner) => self.expression(&inner.expr, name, outer),
            Expr::Call(call) => {
                let attributes = [outer, &call.attrs].concat();
                self.call(call, name, &attributes)
            }
            Expr::Block(block) if name.is_none() && block.label.is_none() => {
                let attributes = [outer, &block.attrs].concat();
                self.within(&attributes, |lowering| lowering.block(&block.block.stmts));
                Ok(())
            }
            Expr::ForLoop(each) if name.is_none() => {
                let mut done = Ok(());
                let attributes = [outer, &each.attrs].concat();
                self.within(&attributes, |lowering| done = lowering.for_loop(each));
                done
            }
            Expr::Reference(_) | Expr::Index(_) if name.is_some() => {
                self.no_after(outer);
                self.named_view(expr, name)
            }
            Expr::MethodCall(call) if call.method == "split_at_mut" => Err(self.refuse(
                expr,
                "`split_at_mut` gives two parts",
                "bind both: `let (lo, hi) = x.split_at_mut(k);`",
            )),
            Expr::Assign(assign) if name.is_none() => {
                self.assign(&assign.left, &assign.right, &[outer, &assign.attrs].concat())
            }
            Expr::If(choice) if name.is_none() => {
                self.around(&[outer, &choice.attrs].concat(), |lowering, _| {
                    match lowering.device_decides(&choice.cond) {
                        true => lowering.device_if(choice),
                        false => lowering.if_else(choice),
                    }
                })
            }
            Expr::While(each) if name.is_none() => self.device_while(each, outer),
            Expr::Match(choice) if name.is_none() => {
                self.around(&[outer, &choice.attrs].concat(), |lowering, _| {
                    match given_or_none(choice).filter(|_| lowering.names_a_part(&choice.expr)) {
                        Some(choice) => lowering.if_else(&choice),
                        None if lowering.device_decides(&choice.expr) => lowering.device_match(choice),
                        None => lowering.match_arms(choice),
                    }
                })
            }
            _ => Err(self.no_statement(expr, name.is_some())),
        }
    }

    /// Lowers `let name = &buffer[..]`.
    fn named_view(&mut self, expr: &Expr, name: Option<&Ident>) -> Lower<()> {
        let (Some(view), Some(name)) = (self.view(expr)?, name) else {
            return Err(self.not_in_language(expr, "this expression is", &[]));
        };
        let borrow = Some(match expr {
            Expr::Reference(reference) if reference.mutability.is_some() => Borrow::Mutable,
            Expr::Reference(_) => Borrow::Shared,
            _ => view.borrow.unwrap_or(Borrow::Shared),
        });
        self.scopes.bind(name, Binding::View(View { borrow, ..view }));
        Ok(())
    }

    /// Reports an expression that is no statement; `named` is true if a `let` names it.
    fn no_statement(&mut self, expr: &Expr, named: bool) -> Reported {
        if let (Expr::Path(path), false) = (expr, named)
            && let Some(Binding::View(_)) = path.path.get_ident().and_then(|name| self.scopes.get(name))
        {
            return self.refuse(
                expr,
                "the name of a buffer is no statement",
                "at the end of the body, without a semicolon, it returns the allocation; `free(b);` frees it",
            );
        }
        self.refuse_as(expr, refused::expression(expr, named))
    }

    /// Reads the attributes of a statement that takes no part in the order. Returns its lint levels.
    pub(super) fn no_after(&mut self, attributes: &[Attribute]) -> Vec<Attribute> {
        Attributes::of(attributes, Takes::Nothing, self.report).levels
    }

    /// Lowers a block or loop. Its lint levels apply to all statements in it, except `#[expect]`, which not every statement
    /// has to meet.
    fn within(&mut self, attributes: &[Attribute], inner: impl FnOnce(&mut Self)) {
        let before = self.levels.len();
        let Attributes { levels, on, .. } = Attributes::of(attributes, Takes::Device, self.report);
        self.levels.extend(levels.into_iter().filter(|level| !level.path().is_ident("expect")));
        let outside = self.on;
        self.on = self.device(&on).or(outside);
        inner(self);
        self.on = outside;
        self.levels.truncate(before);
    }

    pub(super) fn for_loop(&mut self, each: &syn::ExprForLoop) -> Lower<()> {
        if !self.is_unreported_in(&each.expr) {
            return Err(Reported);
        }
        if let Some(elements) = self.elements_of(&each.expr) {
            return self.for_each(each, elements);
        }
        if let Some(done) = self.elements(each)? {
            return Ok(done);
        }
        let variable = match &*each.pat {
            Pat::Ident(name) => Some(&name.ident),
            Pat::Wild(_) => None,
            _ => return Err(self.not_in_language(&each.pat, refused::EACH.what, &[])),
        };
        let (range, backwards) = reversed(&each.expr);
        let Some((from, to)) = self.literal_range(range) else {
            return self.turns(each, variable);
        };
        self.unroll(each.span(), from..to, |lowering, value| {
            let value = if backwards { from + (to - 1 - value) } else { value };
            if let Some(variable) = variable {
                lowering.variables.push((variable.to_string(), Meaning::Number(value)));
            }
            lowering.around.push(Around::Value(i64::try_from(value).unwrap_or_default()));
            lowering.block_with(variable, &each.body.stmts);
            lowering.around.pop();
            if variable.is_some() {
                lowering.variables.pop();
            }
        });
        Ok(())
    }

    /// Lowers a turn for each number, up to the limits.
    pub(super) fn unroll(
        &mut self,
        span: Span,
        turns: std::ops::Range<i128>,
        mut turn: impl FnMut(&mut Self, i128),
    ) {
        // The limits count the turns of the outermost loop, which the message names.
        let outermost = self.unrolling.is_none();
        let unrolling = *self.unrolling.get_or_insert(Unrolling { first: self.statements.len(), span });
        for value in turns {
            turn(self, value);
            self.unrolled += 1;
            let statements = self.statements.len() - unrolling.first;
            if statements > MOST_STATEMENTS || self.unrolled > MOST_TURNS {
                self.over_limit(unrolling.span);
            }
            if self.too_many {
                break;
            }
        }
        if outermost {
            self.unrolling = None;
            self.unrolled = 0;
        }
    }

    fn over_limit(&mut self, span: Span) {
        if !std::mem::replace(&mut self.too_many, true) {
            // The rest of the loop is not lowered, so that its effects are unknown.
            self.poisoned.iter_mut().for_each(|poisoned| *poisoned = true);
            self.report.error(
                span,
                Code::CW001,
                &format!("this loop unrolls to more than {MOST_STATEMENTS} statements"),
                &[],
                Some("launch a graph of fewer steps several times"),
            );
        }
    }

    /// Returns the ends of `0..4` or `0..=3`, half-open.
    pub(super) fn literal_range(&self, expr: &Expr) -> Option<(i128, i128)> {
        let range = match expr {
            Expr::Paren(inner) => return self.literal_range(&inner.expr),
            Expr::Group(inner) => return self.literal_range(&inner.expr),
            Expr::Range(range) => range,
            _ => return None,
        };
        let from = constant(range.start.as_deref()?, &self.variables)?;
        let to = constant(range.end.as_deref()?, &self.variables)?;
        Some(match range.limits {
            RangeLimits::HalfOpen(_) => (from, to),
            RangeLimits::Closed(_) => (from, to.checked_add(1)?),
        })
    }
}
