//! Lowers conditionals that the device decides: `if`, `while` and `match` on a buffer of one element.
//!
//! Each arm becomes a [`StatementKind::Condition`] statement, the arm's statements, and a [`StatementKind::Join`]
//! statement.

use cuweave_core::condition::{ArmValues, Condition, ConditionKeyword, MAX_VALUES};
use cuweave_core::ir::{Access, BufferId, Mode, Origin, StatementKind};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprIf, ExprMatch, ExprMethodCall, ExprPath, ExprWhile, Lit, Pat, Stmt, UnOp};

use super::accesses::{reject_pinned, report_not_a_buffer};
use super::devices::with_device;
use super::lowering::{LowerResult, Lowering};
use super::own_conditions::{check_conditional, check_is_set};
use super::program::SpannedAccess;
use super::shapes::ungrouped;
use super::syntax::{LaunchArgument, StatementSyntax};
use super::unsupported;
use super::views::view_of;
use crate::dims::{DimExpr, compact};
use crate::graph::attributes::{AllowedAttributes, StatementAttributes};
use crate::graph::place::PlaceKind;
use crate::graph::scope::{Binding, Scope};

/// An arm: the values for which it runs, and its statements.
struct DeviceArm {
    test: ArmValues,
    statements: Vec<Stmt>,
}

/// The operand of a conditional.
struct Operand<'e> {
    expr: &'e Expr,
    /// True for `!flag`.
    negated: bool,
    /// True for `&flag`.
    borrowed: bool,
}

/// Strips parentheses, borrows and `!` from a condition.
fn operand(condition: &Expr) -> Operand<'_> {
    match condition {
        Expr::Paren(inner) => operand(&inner.expr),
        Expr::Group(inner) => operand(&inner.expr),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
            let inner = operand(&unary.expr);
            Operand { negated: !inner.negated, ..inner }
        }
        Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => operand(&unary.expr),
        Expr::Reference(reference) => Operand { borrowed: true, ..operand(&reference.expr) },
        expr => Operand { expr, negated: false, borrowed: false },
    }
}

/// The kind of a component of an argument, as far as the macro can know it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandKind {
    Buffer,
    Buffers,
    Record,
    Records,
    /// A field of a record, or an element of a field. Without a borrow it is a scalar.
    Field,
    /// A field that a `let` or a loop variable borrows.
    Borrowed,
}

/// Returns true if the condition is a buffer, so that the device decides. A bare field of a record is a
/// scalar.
pub(super) fn device_decides(scope: &Scope, condition: &Expr) -> bool {
    is_operand(scope, condition, false)
}

/// Returns true if the condition is a buffer. With `fields`, a bare field of a record counts as a buffer,
/// too.
fn is_operand(scope: &Scope, condition: &Expr, fields: bool) -> bool {
    let Operand { mut expr, borrowed, .. } = operand(condition);
    let mut part_of_it = false;
    while let Expr::Index(index) = ungrouped(expr)
        && matches!(ungrouped(&index.index), Expr::Range(_))
    {
        part_of_it = true;
        expr = &index.expr;
    }
    match part_kind(scope, expr) {
        Some(OperandKind::Buffer | OperandKind::Borrowed) => true,
        Some(OperandKind::Field) => fields || borrowed || part_of_it,
        // Not valid as an operand; the error is reported when it is lowered as one.
        Some(OperandKind::Buffers | OperandKind::Record | OperandKind::Records) => true,
        None => is_own_buffer(scope, expr),
    }
}

/// Returns true for a buffer's name outside records and lists, and for an element of an array of buffers.
fn is_own_buffer(scope: &Scope, expr: &Expr) -> bool {
    let (name, indexed) = match ungrouped(expr) {
        Expr::Index(index) => (ungrouped(&index.expr), true),
        expr => (expr, false),
    };
    let Expr::Path(path) = name else { return false };
    match path.path.get_ident().and_then(|name| scope.get(name)) {
        Some(Binding::View(_) | Binding::Moved(..)) => !indexed,
        // Without an index it is rejected later, as an operand.
        Some(Binding::Array(..)) => true,
        _ => false,
    }
}

/// Rejects a condition that computes with buffers: the device decides by a single buffer.
pub(super) fn reject_buffer_expression(lowering: &mut Lowering<'_>, condition: &Expr) -> LowerResult<()> {
    struct NamesVisitor<'e>(Vec<&'e Ident>);
    impl<'e> Visit<'e> for NamesVisitor<'e> {
        fn visit_expr_method_call(&mut self, call: &'e ExprMethodCall) {
            if call.method != "len" {
                visit::visit_expr_method_call(self, call);
            }
        }

        fn visit_expr_path(&mut self, path: &'e ExprPath) {
            self.0.extend(path.path.get_ident());
        }
    }
    let mut names = NamesVisitor(Vec::new());
    names.visit_expr(condition);
    let is_buffer = |name: &&&Ident| match lowering.scope.get(name) {
        // A call that was meant as an ordinary function of scalars is reported elsewhere.
        Some(Binding::View(view)) => lowering.program.returning_call(view.buffer).is_none(),
        Some(Binding::Array(..)) => true,
        _ => false,
    };
    let Some(name) = names.0.iter().find(is_buffer) else { return Ok(()) };
    Err(lowering.refuse(
        condition,
        &format!("the device decides by one buffer alone, and this is an expression of `{name}`"),
        "write `if flag { .. }`, which runs where it is not 0, `if !flag { .. }`, or `match flag { 1 => .., _ => .. \
         }`; let a kernel write any other decision into a buffer `[u32; 1]`",
    ))
}

/// Returns true if an expression denotes a component of a record or list argument.
pub(super) fn is_argument_place(scope: &Scope, expr: &Expr) -> bool {
    part_kind(scope, expr).is_some()
}

/// Returns the kind of the component that an expression denotes. None for other expressions.
fn part_kind(scope: &Scope, expr: &Expr) -> Option<OperandKind> {
    match ungrouped(expr) {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => part_kind(scope, &unary.expr),
        Expr::Path(path) => match path.path.get_ident().and_then(|name| scope.get(name)) {
            Some(Binding::Part(place)) => Some(match place.kind {
                PlaceKind::Record => OperandKind::Record,
                PlaceKind::Records => OperandKind::Records,
                PlaceKind::Buffers(_) => OperandKind::Buffers,
                PlaceKind::Buffer(_) => OperandKind::Buffer,
                PlaceKind::Field | PlaceKind::Array if place.borrow.is_some() => OperandKind::Borrowed,
                PlaceKind::Field | PlaceKind::Array => OperandKind::Field,
            }),
            _ => None,
        },
        Expr::Field(field) => part_kind(scope, &field.base).map(|_| OperandKind::Field),
        Expr::Index(index) if !matches!(ungrouped(&index.index), Expr::Range(_)) => {
            Some(match part_kind(scope, &index.expr)? {
                OperandKind::Buffers => OperandKind::Buffer,
                OperandKind::Records => OperandKind::Record,
                OperandKind::Borrowed => OperandKind::Borrowed,
                OperandKind::Buffer | OperandKind::Record | OperandKind::Field => OperandKind::Field,
            })
        }
        _ => None,
    }
}

/// Returns the tokens of a condition that is evaluated when the graph is built. A bare field of a record is
/// wrapped, so that rustc reports it if it is not a scalar.
pub(super) fn tokens_of_choice(scope: &Scope, condition: &Expr, substituted: &Expr) -> TokenStream {
    let Operand { expr, negated, borrowed } = operand(condition);
    if borrowed || part_kind(scope, expr) != Some(OperandKind::Field) {
        return quote!(#substituted);
    }
    let field = operand(substituted).expr;
    let chosen = quote_spanned!(expr.span()=> ::cuweave::__private::mark::chosen(&#field));
    if negated { quote!(!#chosen) } else { chosen }
}

/// Lowers `if flag { .. } else { .. }`.
pub(super) fn device_if(lowering: &mut Lowering<'_>, choice: &ExprIf) -> LowerResult<()> {
    let Operand { expr, negated, .. } = operand(&choice.cond);
    let first = ArmValues { others: !negated, ..ArmValues::TRUE };
    let second = ArmValues { others: negated, ..ArmValues::TRUE };
    let mut arms = vec![DeviceArm { test: first, statements: choice.then_branch.stmts.clone() }];
    let otherwise = choice.else_branch.as_ref().map(|(_, branch)| match &**branch {
        Expr::Block(block) if block.label.is_none() => block.block.stmts.clone(),
        other => vec![Stmt::Expr(other.clone(), None)],
    });
    let total = otherwise.is_some();
    arms.extend(otherwise.map(|statements| DeviceArm { test: second, statements }));
    conditional(lowering, ConditionKeyword::If, None, expr, arms, total, None)
}

/// Lowers `while flag { .. }`, with or without `#[at_most(n)]`.
pub(super) fn device_while(
    lowering: &mut Lowering<'_>,
    each: &ExprWhile,
    outer: &[Attribute],
) -> LowerResult<()> {
    let attributes = [outer, &each.attrs].concat();
    let (limits, others): (Vec<Attribute>, Vec<Attribute>) =
        attributes.into_iter().partition(|attribute| attribute.path().is_ident("at_most"));
    with_device(lowering, &others, |lowering, unknown| device_loop(lowering, each, limits, unknown))
}

fn device_loop(
    lowering: &mut Lowering<'_>,
    each: &ExprWhile,
    limits: Vec<Attribute>,
    unknown: bool,
) -> LowerResult<()> {
    let mut at_most = None;
    for limit in limits {
        let number = limit.parse_args::<syn::LitInt>().and_then(|literal| literal.base10_parse::<u32>());
        match number {
            Ok(number) if number > 0 && at_most.is_none() => at_most = Some(number),
            _ => {
                return Err(lowering.refuse(
                    &limit,
                    "`#[at_most(n)]` takes one number of iterations, at least 1",
                    "write it once, as in `#[at_most(1000)]`",
                ));
            }
        }
    }
    // Only the device can decide a `while`, so a bare field must be a buffer.
    if !is_operand(&lowering.scope, &each.cond, true) {
        reject_buffer_expression(lowering, &each.cond)?;
        let whole = Expr::While(each.clone());
        return Err(lowering.refuse_as(&whole, unsupported::expression(&whole, false)));
    }
    let Operand { expr, negated, .. } = operand(&each.cond);
    let test = ArmValues { others: !negated, ..ArmValues::TRUE };
    let arm = DeviceArm { test, statements: each.body.stmts.clone() };
    if arm.statements.is_empty() {
        return Err(lowering.refuse(
            &each.cond,
            "the body of this `while` is empty",
            "write its operand in the body, by a launch, `fill` or `copy`",
        ));
    }
    let label = each.label.as_ref().map(|label| &label.name.ident);
    if let Some(label) = label.filter(|_| at_most.is_some()) {
        register_loop_label(lowering, label, each)?;
    }
    let refused = std::mem::replace(&mut lowering.has_rejected_syntax, unknown);
    let done = conditional(lowering, ConditionKeyword::While, label, expr, vec![arm], false, at_most);
    if lowering.has_rejected_syntax {
        // A rejected statement in the body may have been meant to end the loop: suppress errors about the
        // flag.
        lowering.poison(expr.to_token_stream());
    }
    lowering.has_rejected_syntax |= refused;
    done
}

/// Registers the label of a loop with a limit. The exec reports the number of iterations under this label.
/// In an unrolled loop each iteration registers it again.
fn register_loop_label(lowering: &mut Lowering<'_>, label: &Ident, each: &ExprWhile) -> LowerResult<()> {
    if !lowering.nesting.register_label(label) {
        return Err(lowering.refuse(
            &each.cond,
            &format!("two loops with a limit are labelled `'{label}`"),
            "give each a label of its own: the exec returns the iterations of a loop by its label",
        ));
    }
    Ok(())
}

/// Lowers `match index { 0 => .., 1 | 2 => .., _ => .. }`.
pub(super) fn device_match(lowering: &mut Lowering<'_>, choice: &ExprMatch) -> LowerResult<()> {
    let mut arms = Vec::new();
    let mut seen: Vec<u32> = Vec::new();
    let (mut total, mut booleans) = (false, false);
    for arm in &choice.arms {
        StatementAttributes::parse(&arm.attrs, AllowedAttributes::Nothing, lowering.report);
        let statements = match ungrouped(&arm.body) {
            Expr::Block(block) if block.label.is_none() && block.attrs.is_empty() => {
                block.block.stmts.clone()
            }
            Expr::Tuple(tuple) if tuple.elems.is_empty() => Vec::new(),
            body => vec![Stmt::Expr(body.clone(), None)],
        };
        let mut values = Vec::new();
        let others = matches!(arm.pat, Pat::Wild(_));
        if total || !(others || literals(&arm.pat, &mut values, &mut booleans)) {
            return Err(lowering.refuse(
                &arm.pat,
                "this pattern of a `match` on a buffer is not part of the language of graph functions",
                "write literals, `0 | 1`, and `_` in the last arm",
            ));
        }
        if others && seen.is_empty() {
            return Err(lowering.refuse(
                &arm.pat,
                "a `match` of `_` alone decides nothing",
                "write the statements of the arm without it",
            ));
        }
        values.retain(|value| !seen.contains(value));
        if !others && values.is_empty() {
            return Err(lowering.refuse(&arm.pat, "no value is left for this arm", "delete it"));
        }
        seen.extend(&values);
        let Some(test) = ArmValues::of(if others { &seen } else { &values }, others) else {
            let message = format!("a `match` on a buffer tells up to {MAX_VALUES} values apart");
            return Err(lowering.refuse(&arm.pat, &message, "write several, one in the last arm of another"));
        };
        total |= others;
        arms.push(DeviceArm { test, statements });
    }
    if booleans {
        check_boolean(lowering, operand(&choice.expr).expr)?;
        if let Some(last) = arms.last_mut().filter(|_| !total && seen.len() == 2) {
            // Only one of the two values is left, so the last arm runs for all others.
            seen.retain(|value| !last.test.values.contains(value));
            total = ArmValues::of(&seen, true).map(|others| last.test = others).is_some();
        }
    }
    if !total {
        return Err(lowering.refuse(
            &choice.expr,
            "a `match` on a buffer takes all values",
            "end it with `_ => { .. }`, whose arm may be empty",
        ));
    }
    conditional(lowering, ConditionKeyword::Match, None, operand(&choice.expr).expr, arms, true, None)
}

/// Lowers the arms of a conditional. Each arm is enclosed in a condition and a join statement.
fn conditional(
    lowering: &mut Lowering<'_>,
    word: ConditionKeyword,
    label: Option<&Ident>,
    operand: &Expr,
    arms: Vec<DeviceArm>,
    total: bool,
    at_most: Option<u32>,
) -> LowerResult<()> {
    let name = label.map_or_else(|| word.name().to_owned(), ToString::to_string);
    let all = arms.len();
    let arms: Vec<DeviceArm> = arms.into_iter().filter(|arm| !arm.statements.is_empty()).collect();
    let span = operand.span();
    let access = one_value(lowering, operand, word.name())?;
    if arms.is_empty() {
        return Ok(());
    }
    let total = total && arms.len() == all;
    let own_condition = Some(access.access.buffer).filter(|&buffer| lowering.program.is_condition(buffer));
    if let Some(buffer) = own_condition {
        let tests: Vec<ArmValues> = arms.iter().map(|arm| arm.test).collect();
        check_conditional(lowering, word, operand, buffer, &tests, at_most)?;
    }
    let counter = at_most.map(|_| counter(lowering, span));
    let own = |written: Mode| -> Vec<SpannedAccess> {
        let count = |counter: &SpannedAccess| SpannedAccess {
            access: Access { mode: written, ..counter.access },
            ..*counter
        };
        [Some(access), counter.as_ref().map(count)].into_iter().flatten().collect()
    };
    let count = arms.len() as u32;
    for (arm, number) in arms.into_iter().zip(0..) {
        let body = Condition { word, arm: number, arms: count, total, test: arm.test, at_most };
        let accesses = if number == 0 { own(Mode::Write) } else { Vec::new() };
        let arguments = accesses.first().map(|_| LaunchArgument::Buffer(0));
        let syntax =
            StatementSyntax { arguments: arguments.into_iter().collect(), ..StatementSyntax::default() };
        let at = lowering.push(name.clone(), span, StatementKind::Condition(body), syntax, accesses);
        let around = lowering.nesting.replace_body(Some(at));
        let first = lowering.program.next_statement();
        lowering.block(&arm.statements);
        lowering.nesting.replace_body(around);
        if let (Some(buffer), ConditionKeyword::While) = (own_condition, word) {
            let _ = check_is_set(lowering, operand, buffer, first);
        }
        let accesses = if word == ConditionKeyword::While { own(Mode::ReadWrite) } else { Vec::new() };
        lowering.push(name.clone(), span, StatementKind::Join(body), StatementSyntax::default(), accesses);
    }
    Ok(())
}

/// Returns the access of a conditional's operand. Its length must be 1; rustc checks the element type.
fn one_value(lowering: &mut Lowering<'_>, operand: &Expr, word: &str) -> LowerResult<SpannedAccess> {
    let Some(view) = view_of(lowering, operand)? else {
        return Err(report_not_a_buffer(lowering, operand, word));
    };
    let text = compact(operand);
    let length = view.hi.poly.minus(&view.lo.poly).and_then(|length| length.as_constant());
    // For a field, the build checks the length and rustc checks the element type.
    let declared_elsewhere = matches!(lowering.program.buffer(view.buffer).origin, Origin::Part(_));
    if length != Some(1) && !(declared_elsewhere && lowering.program.is_whole(&view)) {
        return Err(lowering.refuse(
            operand,
            &format!("`{word}` needs a buffer of one element, and `{text}` is not known to be one"),
            "declare it as `[u32; 1]`, or name a part: `let flag = &x[i..i + 1];`",
        ));
    }
    let element = lowering.program.element(view.buffer).to_token_stream().to_string();
    if ["f32", "f64", "u64", "i64", "u16", "i16", "i8"].contains(&element.as_str()) {
        return Err(lowering.refuse(
            operand,
            &format!(
                "`{word}` decides by a `u32`, `i32`, `u8` or `bool`, and `{text}` is a buffer of `{element}`"
            ),
            "let a kernel write the decision into a buffer `[u32; 1]`",
        ));
    }
    let access = lowering.program.access(&view, Mode::Read, operand.span());
    reject_pinned(lowering, &access, operand, word)?;
    Ok(access)
}

/// Rejects `true` and `false` as patterns of a buffer that is not known to be of `bool`.
fn check_boolean(lowering: &mut Lowering<'_>, operand: &Expr) -> LowerResult<()> {
    let element = view_of(lowering, operand)?.map(|view| lowering.program.element(view.buffer));
    if element.is_none_or(|element| element.to_token_stream().to_string() == "bool") {
        return Ok(());
    }
    Err(lowering.refuse(
        operand,
        &format!(
            "`true` and `false` are patterns of a buffer of `bool`, and `{}` is not known to be one",
            compact(operand)
        ),
        "write `0` and `_`, or declare it as `[bool; 1]`",
    ))
}

/// Allocates the counter of a loop's iterations.
fn counter(lowering: &mut Lowering<'_>, span: Span) -> SpannedAccess {
    let id = lowering.program.next_statement();
    let (name, element) = ("turns".to_owned(), syn::parse_quote!(u32));
    let view = lowering.program.add_buffer(
        name.clone(),
        span,
        Origin::Alloc(id),
        DimExpr::constant(1),
        element,
        None,
    );
    lowering.push(name, span, StatementKind::Alloc(view.buffer), StatementSyntax::default(), Vec::new());
    lowering.program.access(&view, Mode::Write, span)
}

/// Rejects rebinding or freeing a buffer inside a conditional body that did not allocate it. The body's
/// nodes keep their addresses in every iteration, and a different arm may run.
pub(super) fn reject_outer_buffer(
    lowering: &mut Lowering<'_>,
    at: &(impl ToTokens + Spanned),
    buffer: BufferId,
) -> LowerResult<()> {
    let Some(body) = lowering.nesting.body() else { return Ok(()) };
    if matches!(lowering.program.buffer(buffer).origin, Origin::Alloc(at) if at > body) {
        return Ok(());
    }
    let name = lowering.program.buffer(buffer).name.to_string();
    Err(lowering.refuse(
        at,
        &format!("`{name}` is from outside of this body, which the device may skip or repeat"),
        "its nodes keep their addresses: write both half-steps in one iteration, or `copy`",
    ))
}

/// Collects the literals of a pattern. Returns false for other patterns.
fn literals(pattern: &Pat, values: &mut Vec<u32>, booleans: &mut bool) -> bool {
    match pattern {
        Pat::Paren(inner) => literals(&inner.pat, values, booleans),
        Pat::Or(or) => or.cases.iter().all(|case| literals(case, values, booleans)),
        Pat::Lit(literal) => match &literal.lit {
            Lit::Int(number) if matches!(number.suffix(), "" | "u32" | "i32" | "u8") => {
                number.base10_parse::<u32>().map(|value| values.push(value)).is_ok()
            }
            Lit::Bool(value) => {
                values.push(value.value.into());
                *booleans = true;
                true
            }
            _ => false,
        },
        _ => false,
    }
}
