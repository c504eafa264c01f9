//! Conditions that kernels set: `let go = condition();`, a parameter `Condition`, and one `if`, `while` or `match`.
//!
//! A condition is a buffer of one element without memory. Its launches and its conditional are ordered like those of
//! any buffer.

use cuweave_core::codes::Code;
use cuweave_core::condition::{ArmValues, ConditionKeyword};
use cuweave_core::index::between;
use cuweave_core::ir::{BufferId, Origin, StatementId, StatementKind};
use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprCall, Type};

use super::after::apply_attributes;
use super::lowering::{LowerResult, Lowering, Reported};
use super::syntax::StatementSyntax;
use crate::dims::{DimExpr, compact};
use crate::graph::scope::Binding;

const BUFFER: &str = "let a kernel write the decision into a buffer `[u32; 1]`";

/// Lowers `let go = condition();`.
pub(super) fn condition(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> LowerResult<()> {
    let Some(name) = name else {
        return Err(lowering.refuse(call, "a condition needs a name", "write `let go = condition();`"));
    };
    let id = lowering.program.next_statement();
    let element: Type = syn::parse_quote_spanned!(call.span()=> ::cuweave::Condition);
    let (text, len) = (name.to_string(), DimExpr::constant(1));
    let view = lowering.program.add_buffer(text.clone(), name.span(), Origin::Alloc(id), len, element, None);
    let (kind, depth) = (StatementKind::Alloc(view.buffer), lowering.nesting.around().len());
    lowering.push(text, name.span(), kind, StatementSyntax::default(), Vec::new());
    lowering.nesting.add_condition(view.buffer, depth);
    apply_attributes(lowering, id, attributes);
    lowering.scope.bind(name, Binding::View(view));
    lowering.scope.bind_statement(name, Some(vec![id]));
    Ok(())
}

/// Checks a conditional whose operand is a condition that kernels set: the driver alone maps its value to a body.
pub(super) fn check_conditional(
    lowering: &mut Lowering<'_>,
    word: ConditionKeyword,
    operand: &Expr,
    buffer: BufferId,
    arms: &[ArmValues],
    at_most: Option<u32>,
) -> LowerResult<()> {
    let (name, keyword) = (compact(operand), word.name());
    if at_most.is_some() {
        let message = format!(
            "`{name}` is a condition that kernels set, and `#[at_most(n)]` counts by a kernel of its own"
        );
        return Err(lowering.refuse(operand, &message, BUFFER));
    }
    match word {
        ConditionKeyword::If | ConditionKeyword::While => {
            if arms.first().is_some_and(|arm| !arm.others) {
                let message = format!(
                    "`{keyword}` runs where `{name}` is set to another value than 0, and not where it is 0"
                );
                return Err(lowering.refuse(operand, &message, "let the kernel set the opposite value"));
            }
        }
        ConditionKeyword::Match => {
            let is_next =
                |(at, arm): (u32, &ArmValues)| !arm.others && arm.values.iter().all(|&value| value == at);
            if !(0..).zip(arms).all(is_next) {
                let message = format!(
                    "a `match` on `{name}`, a condition that kernels set, has the arms `0`, `1` and so on, each with \
                        statements, and an empty `_`"
                );
                return Err(lowering.refuse(operand, &message, BUFFER));
            }
        }
    }
    let mut before = between(StatementId::from_u32(0), lowering.program.next_statement());
    let decides = |at: StatementId| {
        let statement = lowering.program.statement(at);
        matches!(statement.kind, StatementKind::Condition(_))
            && statement.accesses.first().is_some_and(|access| access.buffer == buffer)
    };
    let again = before.clone().any(decides);
    if !lowering.has_rejected_syntax && !before.any(|at| sets(lowering, at, buffer)) {
        let message = format!("nothing sets `{name}` before this `{keyword}`");
        let help = "launch a kernel that takes the condition first";
        lowering.report.error(operand.span(), Code::CW101, &message, &[], Some(help));
        return Err(Reported);
    }
    let depth = lowering.nesting.around().len();
    let inside = match lowering.program.buffer(buffer).origin {
        Origin::Alloc(at) => lowering.nesting.body().is_none_or(|body| at > body),
        _ => false,
    };
    if again || !inside || lowering.nesting.condition_depth(buffer) != Some(depth) {
        let message =
            format!("`{name}` decides about one `if`, `while` or `match`, in the block in which it is made");
        let help = format!("write `let {name} = condition();` before this `{keyword}`, in the same block");
        return Err(lowering.refuse(operand, &message, &help));
    }
    Ok(())
}

/// Returns true if a statement sets a condition.
fn sets(lowering: &Lowering<'_>, at: StatementId, buffer: BufferId) -> bool {
    let accesses = &lowering.program.statement(at).accesses;
    accesses.iter().any(|access| access.buffer == buffer && access.mode.writes())
}

/// Checks that the body of a `while`, whose statements begin at `first`, sets its condition.
pub(super) fn check_is_set(
    lowering: &mut Lowering<'_>,
    operand: &Expr,
    buffer: BufferId,
    first: StatementId,
) -> LowerResult<()> {
    let mut body = between(first, lowering.program.next_statement());
    if lowering.has_rejected_syntax || body.any(|at| sets(lowering, at, buffer)) {
        return Ok(());
    }
    let name = compact(operand);
    let message = format!("nothing in this body sets `{name}`, so it would never end");
    Err(lowering.refuse(operand, &message, "launch a kernel that takes the condition in the body"))
}

/// Rejects uses of conditions by anything but launches and conditionals.
pub(super) fn check_uses(lowering: &mut Lowering<'_>) {
    let statements = between(StatementId::from_u32(0), lowering.program.next_statement());
    for at in statements {
        let statement = lowering.program.statement(at);
        if matches!(
            statement.kind,
            StatementKind::Launch(()) | StatementKind::Condition(_) | StatementKind::Join(_)
        ) {
            continue;
        }
        let buffers: Vec<BufferId> = statement.accesses.iter().map(|access| access.buffer).collect();
        for (index, buffer) in buffers.into_iter().enumerate() {
            if lowering.program.is_condition(buffer) {
                let span = lowering.program.access_span(at, index);
                let name = &lowering.program.buffer(buffer).name;
                let message = format!("`{name}` is a condition, which only launches set");
                let help = "pass it to a launch whose kernel takes a `Condition`";
                let Reported = lowering.refuse(&syn::Ident::new("condition", span), &message, help);
            }
        }
    }
}
