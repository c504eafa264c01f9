//! Lowers loops over scalar ranges and choices on scalars, which are resolved when the graph is built.

use cuweave_core::sample::{ChoiceCondition, ChoiceTest};
use cuweave_core::structure::{EnclosingLoop, Item, Loop, LoopRange};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, ExprIf, ExprMatch, Lit, Pat, RangeLimits, Stmt};

use super::conditionals::{device_decides, reject_buffer_expression, tokens_of_choice};
use super::conditions::{PatternName, collect_pattern_names, pattern_test, test_of};
use super::lowering::{LowerResult, Lowering};
use super::numbers::BuildLoop;
use super::optional::{block_with_place, optional_pattern, presence_condition, present_buffer};
use super::shapes::{reversed, ungrouped};
use crate::dims::{DimExpr, index_ident};
use crate::graph::attributes::{AllowedAttributes, StatementAttributes};
use crate::substitution::Substitution;

/// Lowers a loop over a scalar range. Its body is lowered once, with the index as a symbol.
pub(super) fn loop_over_range(
    lowering: &mut Lowering<'_>,
    each: &ExprForLoop,
    variable: Option<&Ident>,
) -> LowerResult<()> {
    let (range, backwards) = reversed(&each.expr);
    let Some(ScalarRange { start, end, inclusive }) = scalar_range(range) else {
        return Err(lowering.refuse(
            &each.expr,
            "a loop runs over a range of integers or an array of buffers",
            loop_help(&each.expr),
        ));
    };
    let lo = lowering.bound(&start);
    let mut hi = lowering.bound(&end);
    if inclusive {
        hi = lowering.program.dims.sum(&hi, &DimExpr::constant(1));
    }
    let (lo, hi) = (lowering.program.dims.intern(lo), lowering.program.dims.intern(hi));
    let (from, to) = (lowering.substituted(&start), lowering.substituted(&end));
    let name = variable.map_or_else(|| "_".to_owned(), ToString::to_string);
    let range = syn::parse_quote!((#from)..(#to));
    let number = lowering.nesting.add_loop(BuildLoop { range, name: name.clone() });
    let stands_for = index_ident(number);
    let stands_for: Expr = match (backwards, inclusive) {
        (false, _) => syn::parse_quote!(#stands_for),
        (true, false) => syn::parse_quote!(((#from) + ((#to) - 1 - #stands_for))),
        (true, true) => syn::parse_quote!(((#from) + ((#to) - #stands_for))),
    };
    lowering.scope.add_substitution(&name, Substitution::Expression(Box::new(stands_for)));
    let around = if backwards { EnclosingLoop::Down(number, lo, hi) } else { EnclosingLoop::Up(number) };
    lowering.nesting.enter(around);
    let body = collect_items(lowering, |lowering| lowering.block_with(variable, &each.body.stmts));
    lowering.nesting.leave();
    lowering.scope.remove_last_substitution();
    let line = each.span().start().line as u32;
    lowering.nesting.push(Item::Loop(Loop { line, variable: number, range: LoopRange::Range(lo, hi), body }));
    Ok(())
}

/// Lowers a block that may run several times or not at all. Returns its items.
pub(super) fn collect_items(lowering: &mut Lowering<'_>, lower: impl FnOnce(&mut Lowering<'_>)) -> Vec<Item> {
    let outer = lowering.nesting.begin_items(lowering.scope.depth());
    lower(lowering);
    lowering.nesting.end_items(outer)
}

/// Lowers `if a { .. } else if b { .. } else { .. }` on scalars. The chain becomes one choice with one
/// condition per arm.
pub(super) fn if_else(lowering: &mut Lowering<'_>, choice: &ExprIf) -> LowerResult<()> {
    let mut arms = Vec::new();
    let mut number = quote!(0u32);
    let (mut conditions, mut choosing) = (Vec::new(), Vec::new());
    let mut next = Some(choice);
    let mut last: Option<&Expr> = None;
    while let Some(one) = next {
        if let Expr::Let(pattern) = &*one.cond {
            let (name, place) = optional_pattern(lowering, pattern)?;
            let condition = presence_condition(lowering, &place);
            choosing.push(quote!(#condition));
            conditions.push(condition);
            let element = present_buffer(lowering, &place);
            arms.push(collect_items(lowering, |lowering| {
                block_with_place(lowering, name, element, &one.then_branch.stmts)
            }));
        } else {
            reject_buffer_expression(lowering, &one.cond)?;
            let condition = lowering.substituted(&one.cond);
            choosing.push(tokens_of_choice(&lowering.scope, &one.cond, &condition));
            conditions.push(condition);
            arms.push(collect_items(lowering, |lowering| lowering.block(&one.then_branch.stmts)));
        }
        (next, last) = match one.else_branch.as_ref().map(|(_, branch)| &**branch) {
            Some(Expr::If(inner)) if !device_decides(&lowering.scope, &inner.cond) => (Some(inner), None),
            other => (None, other),
        };
    }
    match last {
        Some(Expr::Block(block)) => {
            arms.push(collect_items(lowering, |lowering| lowering.block(&block.block.stmts)));
        }
        Some(inner @ Expr::If(_)) => {
            arms.push(collect_items(lowering, |lowering| lowering.block(&[Stmt::Expr(inner.clone(), None)])));
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
    let mut tests: Vec<ChoiceTest> =
        conditions.iter().map(|condition| test_of(&mut lowering.program.dims, condition)).collect();
    tests.extend(total.then_some(ChoiceTest::Known(true)));
    let (line, number) = (choice.span().start().line as u32, syn::parse_quote!(#number));
    lowering.nesting.add_choice(line, number, arms, ChoiceCondition { arms: tests, total });
    Ok(())
}

/// Lowers `match scalar { .. }`.
pub(super) fn match_arms(lowering: &mut Lowering<'_>, choice: &ExprMatch) -> LowerResult<()> {
    reject_buffer_expression(lowering, &choice.expr)?;
    let of = lowering.substituted(&choice.expr);
    let (mut arms, mut patterns, mut tests) = (Vec::new(), Vec::new(), Vec::new());
    for (at, arm) in (0u32..).zip(&choice.arms) {
        lowering.scope.enter();
        let done = match_arm(lowering, &of, arm);
        lowering.leave_block();
        let (pattern, test, items) = done?;
        patterns.push(quote!(#pattern => #at,));
        tests.push(test);
        arms.push(items);
    }
    // rustc checks that the `match` is exhaustive, so the last arm always applies.
    if let Some(last) = tests.last_mut() {
        *last = ChoiceTest::Known(true);
    }
    let chosen = match choice.arms.first().is_some_and(|arm| is_number(&arm.pat)) {
        true => tokens_of_choice(&lowering.scope, &choice.expr, &of),
        false => quote!(#of),
    };
    let number = syn::parse_quote!(match #chosen { #(#patterns)* });
    let line = choice.span().start().line as u32;
    lowering.nesting.add_choice(line, number, arms, ChoiceCondition { arms: tests, total: true });
    Ok(())
}

/// Returns an arm's pattern for rustc, its test for the checker, and its items.
fn match_arm(
    lowering: &mut Lowering<'_>,
    of: &Expr,
    arm: &syn::Arm,
) -> LowerResult<(TokenStream, ChoiceTest, Vec<Item>)> {
    let (pattern, guard) = match &arm.pat {
        Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
        pattern => (pattern, None),
    };
    StatementAttributes::parse(&arm.attrs, AllowedAttributes::Nothing, lowering.report);
    let mut names = Vec::new();
    collect_pattern_names(lowering, pattern, of, &mut names)?;
    for PatternName { name, value } in names {
        // A name without a lower-case letter is a constant.
        if name.to_string().contains(char::is_lowercase) {
            lowering.scope.bind_scalar(&name, syn::parse_quote!((#value)));
        }
    }
    let mut test = pattern_test(&mut lowering.program.dims, pattern, of);
    let mut tokens = quote!(#pattern);
    if let Some(guard) = guard {
        let guard = lowering.substituted(guard);
        test = ChoiceTest::All(vec![test, test_of(&mut lowering.program.dims, &guard)]);
        tokens = quote!(#pattern if #guard);
    }
    let items = collect_items(lowering, |lowering| match ungrouped(&arm.body) {
        Expr::Block(block) if block.label.is_none() && block.attrs.is_empty() => {
            lowering.block(&block.block.stmts)
        }
        body => lowering.block(&[Stmt::Expr(body.clone(), None)]),
    });
    Ok((tokens, test, items))
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

/// Returns the help for a loop over an unsupported expression.
fn loop_help(over: &Expr) -> &'static str {
    let method = match over {
        Expr::MethodCall(call) => call.method.to_string(),
        _ => String::new(),
    };
    match method.as_str() {
        "rev" => "write `for i in (0..n).rev()` or `for layer in layers.iter().rev()`",
        "step_by" => "count the steps, as in `for i in 0..n / 4`, and use `i * 4` in the body",
        _ => {
            "write `for i in 0..4`, or `for i in 0..n` with a scalar, and `x[i]` or `&x[i * d..(i + 1) * d]` in the \
                body"
        }
    }
}

/// A range of scalars.
struct ScalarRange {
    start: Expr,
    end: Expr,
    /// True for `..=`.
    inclusive: bool,
}

/// Returns a range if both of its ends are written.
fn scalar_range(expr: &Expr) -> Option<ScalarRange> {
    match expr {
        Expr::Paren(inner) => scalar_range(&inner.expr),
        Expr::Group(inner) => scalar_range(&inner.expr),
        Expr::Range(range) => {
            let (start, end) = (range.start.as_deref()?.clone(), range.end.as_deref()?.clone());
            Some(ScalarRange { start, end, inclusive: matches!(range.limits, RangeLimits::Closed(_)) })
        }
        _ => None,
    }
}
