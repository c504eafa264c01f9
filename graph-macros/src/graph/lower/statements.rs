//! Dispatches statements: `let`, blocks, loops, choices and expressions. Everything else is reported.

use cuweave_core::codes::Code;
use cuweave_core::structure::EnclosingLoop;
use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Attribute, Block, Expr, Pat, Stmt};

use super::array_loops::{elements_of, for_each};
use super::assignments::assign_name;
use super::calls::call_statement;
use super::conditionals::{device_decides, device_if, device_match, device_while, is_argument_place};
use super::devices::{device_of, with_device};
use super::lets::lower_let;
use super::list_loops::loop_over_elements;
use super::lowering::{LowerResult, Lowering, Reported};
use super::optional::match_as_if_let;
use super::shapes::{is_tail, reversed};
use super::structure::{if_else, loop_over_range, match_arms};
use super::tail::lower_tail;
use super::unroll::{literal_range, unroll};
use super::unsupported;
use super::views::view_of;
use crate::graph::attributes::{AllowedAttributes, StatementAttributes};
use crate::graph::scope::{Binding, Borrow, View};
use crate::graph::signature::Signature;
use crate::substitution::Substitution;

impl Lowering<'_> {
    pub fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            // Errors were reported where they were found. Continue with the next statement.
            let _ = lower_statement(self, statement);
        }
    }

    pub fn block(&mut self, statements: &[Stmt]) {
        self.block_with(None, statements);
    }

    /// Lowers a block in which a loop's index is bound.
    pub fn block_with(&mut self, variable: Option<&Ident>, statements: &[Stmt]) {
        self.scope.enter();
        if let Some(variable) = variable {
            self.scope.bind(variable, Binding::Number);
        }
        self.statements(statements);
        self.leave_block();
    }

    /// Lowers an expression statement. `name` is the name that its `let` gives.
    pub fn expression(&mut self, expr: &Expr, name: Option<&Ident>, outer: &[Attribute]) -> LowerResult<()> {
        match expr {
            Expr::Paren(inner) => self.expression(&inner.expr, name, outer),
            Expr::Group(inner) => self.expression(&inner.expr, name, outer),
            Expr::Call(call) => {
                let attributes = [outer, &call.attrs].concat();
                call_statement(self, call, name, &attributes)
            }
            Expr::Block(block) if name.is_none() && block.label.is_none() => {
                let attributes = [outer, &block.attrs].concat();
                with_attributes(self, &attributes, |lowering| lowering.block(&block.block.stmts));
                Ok(())
            }
            Expr::ForLoop(each) if name.is_none() => {
                let mut done = Ok(());
                let attributes = [outer, &each.attrs].concat();
                with_attributes(self, &attributes, |lowering| done = for_loop(lowering, each));
                done
            }
            Expr::Reference(_) | Expr::Index(_) if name.is_some() => {
                self.check_lint_attributes(outer);
                named_view(self, expr, name)
            }
            Expr::MethodCall(call) if call.method == "split_at_mut" => Err(self.refuse(
                expr,
                "`split_at_mut` gives two parts",
                "bind both: `let (lo, hi) = x.split_at_mut(k);`",
            )),
            Expr::Assign(assign) if name.is_none() => {
                assign_name(self, &assign.left, &assign.right, &[outer, &assign.attrs].concat())
            }
            Expr::If(choice) if name.is_none() => {
                with_device(self, &[outer, &choice.attrs].concat(), |lowering, _| {
                    match device_decides(&lowering.scope, &choice.cond) {
                        true => device_if(lowering, choice),
                        false => if_else(lowering, choice),
                    }
                })
            }
            Expr::While(each) if name.is_none() => device_while(self, each, outer),
            Expr::Match(choice) if name.is_none() => {
                with_device(self, &[outer, &choice.attrs].concat(), |lowering, _| {
                    match match_as_if_let(choice).filter(|_| is_argument_place(&lowering.scope, &choice.expr))
                    {
                        Some(choice) => if_else(lowering, &choice),
                        None if device_decides(&lowering.scope, &choice.expr) => {
                            device_match(lowering, choice)
                        }
                        None => match_arms(lowering, choice),
                    }
                })
            }
            _ => Err(report_not_a_statement(self, expr, name.is_some())),
        }
    }
}

pub(super) fn lower_body(lowering: &mut Lowering<'_>, body: &Block, signature: &Signature) {
    let tail = match body.stmts.split_last() {
        // With an unsupported return type, the last expression may be the value that was meant to be
        // returned.
        Some((Stmt::Expr(_, None), rest)) if signature.misreturned => {
            lowering.statements(rest);
            None
        }
        Some((Stmt::Expr(tail, None), rest)) if !signature.returned.is_empty() || is_tail(tail) => {
            lowering.statements(rest);
            Some(tail)
        }
        _ => {
            lowering.statements(&body.stmts);
            None
        }
    };
    match tail {
        Some(tail) => lower_tail(lowering, tail, signature),
        None if signature.returned.is_empty() => {}
        // The rejected statement may have been meant as the tail.
        None if lowering.has_rejected_syntax || signature.misreturned => {}
        None => lowering.report.error(
            body.brace_token.span.close(),
            Code::CW001,
            "the function returns allocations, but its body does not end with their names",
            &[],
            Some("end it with the name of an allocation, or with a tuple of names"),
        ),
    }
}

pub(super) fn lower_statement(lowering: &mut Lowering<'_>, statement: &Stmt) -> LowerResult<()> {
    match statement {
        Stmt::Local(local) => lower_let(lowering, local),
        Stmt::Expr(expr, _) => lowering.expression(expr, None, &[]),
        Stmt::Item(_) | Stmt::Macro(_) => {
            Err(lowering.refuse_as(statement, unsupported::statement(statement)))
        }
    }
}

/// Lowers `let name = &buffer[..]`.
fn named_view(lowering: &mut Lowering<'_>, expr: &Expr, name: Option<&Ident>) -> LowerResult<()> {
    let (Some(view), Some(name)) = (view_of(lowering, expr)?, name) else {
        return Err(lowering.not_in_language(expr, "this expression is", &[]));
    };
    let borrow = Some(match expr {
        Expr::Reference(reference) if reference.mutability.is_some() => Borrow::Mutable,
        Expr::Reference(_) => Borrow::Shared,
        _ => view.borrow.unwrap_or(Borrow::Shared),
    });
    lowering.scope.bind(name, Binding::View(View { borrow, ..view }));
    Ok(())
}

/// Reports an expression that is not a statement. `named` is true if a `let` names it.
fn report_not_a_statement(lowering: &mut Lowering<'_>, expr: &Expr, named: bool) -> Reported {
    if let (Expr::Path(path), false) = (expr, named)
        && let Some(Binding::View(_)) = path.path.get_ident().and_then(|name| lowering.scope.get(name))
    {
        return lowering.refuse(
            expr,
            "the name of a buffer is no statement",
            "at the end of the body, without a semicolon, it returns the allocation; `free(b);` frees it",
        );
    }
    lowering.refuse_as(expr, unsupported::expression(expr, named))
}

/// Lowers a block or loop under its attributes. Its lint levels apply to all statements inside, except
/// `#[expect]`, which each statement would have to fulfil.
fn with_attributes(
    lowering: &mut Lowering<'_>,
    attributes: &[Attribute],
    inner: impl FnOnce(&mut Lowering<'_>),
) {
    let before = lowering.lint_levels.len();
    let StatementAttributes { levels, on, .. } =
        StatementAttributes::parse(attributes, AllowedAttributes::Device, lowering.report);
    lowering.lint_levels.extend(levels.into_iter().filter(|level| !level.path().is_ident("expect")));
    let outside = lowering.device;
    lowering.device = device_of(lowering, &on).or(outside);
    inner(lowering);
    lowering.device = outside;
    lowering.lint_levels.truncate(before);
}

pub(super) fn for_loop(lowering: &mut Lowering<'_>, each: &syn::ExprForLoop) -> LowerResult<()> {
    if !lowering.is_unreported_in(&each.expr) {
        return Err(Reported);
    }
    if let Some(elements) = elements_of(&lowering.scope, &each.expr) {
        return for_each(lowering, each, elements);
    }
    if let Some(done) = loop_over_elements(lowering, each)? {
        return Ok(done);
    }
    let variable = match &*each.pat {
        Pat::Ident(name) => Some(&name.ident),
        Pat::Wild(_) => None,
        _ => return Err(lowering.not_in_language(&each.pat, unsupported::LOOP_PATTERN.what, &[])),
    };
    let (range, backwards) = reversed(&each.expr);
    let Some((from, to)) = literal_range(&lowering.scope, range) else {
        return loop_over_range(lowering, each, variable);
    };
    unroll(lowering, each.span(), from..to, |lowering, value| {
        let value = if backwards { from + (to - 1 - value) } else { value };
        if let Some(variable) = variable {
            lowering.scope.add_substitution(&variable.to_string(), Substitution::Number(value));
        }
        lowering.nesting.enter(EnclosingLoop::Value(i64::try_from(value).unwrap_or_default()));
        lowering.block_with(variable, &each.body.stmts);
        lowering.nesting.leave();
        if variable.is_some() {
            lowering.scope.remove_last_substitution();
        }
    });
    Ok(())
}
