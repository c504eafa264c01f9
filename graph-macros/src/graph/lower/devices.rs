//! Devices: `#[on(..)]` of statements, and `#[access(..)]` of allocations.

use cuweave_core::codes::Code;
use cuweave_core::ir::{DimId, StatementId, StatementKind};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, Lit, Token};

use super::lowering::{LowerResult, Lowering};
use crate::graph::attributes::{AllowedAttributes, StatementAttributes, refuse};
use crate::substitution::constant;

/// Lowers a choice or a loop under its `#[on(..)]`. The closure is told if there were unknown attributes,
/// which have been reported already.
pub(super) fn with_device(
    lowering: &mut Lowering<'_>,
    attributes: &[Attribute],
    inner: impl FnOnce(&mut Lowering<'_>, bool) -> LowerResult<()>,
) -> LowerResult<()> {
    let StatementAttributes { levels, on, .. } =
        StatementAttributes::parse(attributes, AllowedAttributes::Device, lowering.report);
    let unknown = levels.len() + on.len() < attributes.len();
    let outside = lowering.device;
    lowering.device = device_of(lowering, &on).or(outside);
    let done = inner(lowering, unknown);
    lowering.device = outside;
    done
}

/// Places a statement on the device that its own `#[on(..)]` names.
pub(super) fn place_on_device(lowering: &mut Lowering<'_>, statement: StatementId, on: &[Attribute]) {
    let Some(first) = on.first() else { return };
    let what = match lowering.program.statement(statement).kind {
        StatementKind::Free(_) => "`free` frees memory of the device that allocated it",
        StatementKind::Host(_) => "a host statement runs on no device",
        StatementKind::Record(_) | StatementKind::Wait(_) => {
            "an event is recorded and waited for on no device of its own"
        }
        _ => {
            let device = device_of(lowering, on).or(lowering.device);
            lowering.program.set_device(statement, device);
            return;
        }
    };
    lowering.report.error(first.span(), Code::CW001, what, &[], Some("delete `#[on(..)]`"));
}

/// Lets the devices that `#[access(..)]` names use the memory of an allocation.
pub(super) fn grant_access(lowering: &mut Lowering<'_>, statement: StatementId, access: &[Attribute]) {
    let StatementKind::Alloc(buffer) = lowering.program.statement(statement).kind else {
        access.iter().for_each(|attribute| refuse(attribute, lowering.report));
        return;
    };
    for attribute in access {
        let numbers = attribute.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        let numbers = numbers.unwrap_or_default();
        if numbers.is_empty() {
            let help = "write `#[access(1)]`, or several: `#[access(1, i)]`";
            let message = "`#[access(..)]` takes the numbers of devices";
            lowering.report.error(attribute.span(), Code::CW001, message, &[], Some(help));
        }
        for number in &numbers {
            if let Some(device) = device_number(lowering, attribute, number, "access") {
                lowering.program.add_grant(buffer, device);
            }
        }
    }
}

/// Returns the dimension that evaluates to the device number of `#[on(..)]`.
pub(super) fn device_of(lowering: &mut Lowering<'_>, on: &[Attribute]) -> Option<DimId> {
    let [first, others @ ..] = on else { return None };
    if let Some(second) = others.first() {
        let help = "delete one of the two: all of it is on one device";
        lowering.report.error(second.span(), Code::CW001, "`#[on(..)]` is given twice", &[], Some(help));
        return None;
    }
    let Ok(number) = first.parse_args::<Expr>() else {
        let help = "write `#[on(1)]`, or an expression of integers: `#[on(i)]`";
        let message = "`#[on(..)]` takes the number of a device";
        lowering.report.error(first.span(), Code::CW001, message, &[], Some(help));
        return None;
    };
    device_number(lowering, first, &number, "on")
}

/// Returns the dimension that evaluates to a device number in an attribute with this name.
fn device_number(
    lowering: &mut Lowering<'_>,
    attribute: &Attribute,
    number: &Expr,
    name: &str,
) -> Option<DimId> {
    let mut refuse = |message: &str, help: &str| {
        lowering.report.error(attribute.span(), Code::CW001, message, &[], Some(help));
    };
    let declared =
        |name: &Ident| lowering.scope.is_argument(&name.to_string()) || lowering.scope.get(name).is_some();
    if let Some(help) = help_for_non_number(number, name, declared) {
        refuse(&format!("`#[{name}(..)]` takes the number of a device"), &help);
        return None;
    }
    if lowering.devices.is_none() {
        let help = "write `#[graph(devices = 2)]`: the function takes a context for each device then";
        refuse(&format!("`#[{name}(..)]` in a function of one device"), help);
        return None;
    }
    let literal = |expr: &Expr| constant(expr, lowering.scope.substitutions());
    if let (Some(number), Some(devices)) = (literal(number), lowering.devices.as_ref().and_then(literal))
        && !(0..devices).contains(&number)
    {
        let message = format!("there is no device {number}: the function has `devices = {devices}`");
        refuse(&message, &format!("devices are counted from 0: the last one is {}", devices - 1));
        return None;
    }
    let bound = lowering.bound(number);
    Some(lowering.program.dims.intern(bound))
}

/// Returns the help for an operand of an attribute that is not a number: a literal of another kind, or a
/// location as `#[prefetch(..)]` and `#[advise(..)]` spell it. A name that the function declares is fine.
fn help_for_non_number(
    operand: &Expr,
    attribute: &str,
    is_declared: impl Fn(&Ident) -> bool,
) -> Option<String> {
    match operand {
        Expr::Lit(literal) if !matches!(literal.lit, Lit::Int(_)) => {
            Some(format!("write an integer: `#[{attribute}(1)]`, `#[{attribute}(i)]`"))
        }
        Expr::Path(path) => {
            let name = path.path.get_ident().filter(|name| *name == "device" || *name == "host")?;
            (!is_declared(name)).then(|| {
                format!("`{name}` is a place of `#[prefetch(..)]` and `#[advise(..)]`: write `#[{attribute}(0)]` for \
                    the first device")
            })
        }
        Expr::Call(call) => {
            let Expr::Path(path) = &*call.func else { return None };
            let Expr::Lit(literal) = call.args.first().filter(|_| call.args.len() == 1)? else { return None };
            let Lit::Int(number) = &literal.lit else { return None };
            let is_variant = path.path.segments.last()?.ident == "Device";
            if !is_variant && !path.path.is_ident("device") {
                return None;
            }
            let aside = if is_variant {
                ""
            } else {
                "; a function of your own is called by a path, `self::device(..)`"
            };
            Some(format!("write `#[{attribute}({number})]`: the number alone{aside}"))
        }
        _ => None,
    }
}
