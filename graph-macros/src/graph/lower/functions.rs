//! Lowers calls of graph functions: `block(d, &w, &mut x);`, `let h = block(..);`.
//!
//! A call is one statement whose accesses are the borrows at the call. The callee's body is expanded when
//! the graph is built.

use cuweave_core::codes::Code;
use cuweave_core::ir::{DimId, Mode, Origin, StatementId, StatementKind};
use cuweave_core::structure::Argument;
use proc_macro2::Ident;
use quote::{format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprCall, Path};

use super::accesses::{bare_view, launch_argument};
use super::after::apply_attributes;
use super::conditionals::reject_outer_buffer;
use super::dim_table::DimTable;
use super::hosts::{host_value, passed_value};
use super::lowering::{LowerResult, Lowering, Reported};
use super::optional::{in_some, is_none, optional_borrow};
use super::places::place_view;
use super::program::SpannedAccess;
use super::shapes::is_named;
use super::syntax::{LaunchArgument, StatementSyntax};
use crate::dims::compact;
use crate::graph::paths;
use crate::graph::place::{Place, PlaceKind};
use crate::graph::scope::{Binding, Borrow, View};

/// Lowers a call. `results` are the names that a `let` gives to the returned allocations.
pub(super) fn call_function(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    callee: &Path,
    results: &[Option<Ident>],
    attributes: &[Attribute],
) -> LowerResult<()> {
    let text = callee.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    if callee.is_ident(lowering.function) {
        return Err(lowering.refuse(
            call,
            &format!("the graph function `{text}` calls itself"),
            "write a loop: over a list of records that has one for each level, `for level in &levels`, or over a \
             range of scalars, `for i in 0..levels`",
        ));
    }
    let mut accesses: Vec<SpannedAccess> = Vec::new();
    let CallArguments { arguments, bindings, faulty } = call_arguments(lowering, call, &text, &mut accesses);
    let id = lowering.program.next_statement();
    let mut returned = Vec::new();
    let number = lowering.calls.callee(callee, results.len());
    for (at, name) in results.iter().enumerate() {
        let ignored = Ident::new("_ignored", callee.span());
        let view = result_view(lowering, number, at, name.as_ref().unwrap_or(&ignored), id);
        returned.push(view.buffer);
        accesses.push(lowering.program.access(&view, Mode::Write, name.as_ref().unwrap_or(&ignored).span()));
        if let Some(name) = name {
            lowering.scope.bind(name, Binding::View(view));
        }
    }
    lowering.nesting.require_expansion();
    let returns = (results.len() > 1).then_some(results.len());
    let (path, in_body) = (Some(callee.clone()), lowering.nesting.body().is_some());
    let syntax = StatementSyntax { path, arguments, returns, faulty, in_body, ..StatementSyntax::default() };
    let number = lowering.calls.add(bindings, returned, lowering.nesting.around().to_vec());
    let id = lowering.push(text, callee.span(), StatementKind::Call(number), syntax, accesses);
    apply_attributes(lowering, id, attributes);
    if let [Some(name)] = results {
        lowering.scope.bind_statement(name, Some(vec![id]));
    }
    Ok(())
}

/// Lowers the arguments of a call, and appends their accesses to `accesses`.
fn call_arguments(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    callee: &str,
    accesses: &mut Vec<SpannedAccess>,
) -> CallArguments {
    let (mut arguments, mut bindings) = (Vec::new(), Vec::new());
    let mut faulty = false;
    let mut whole: Vec<AggregateArgument<'_>> = Vec::new();
    for argument in &call.args {
        if let Some(host) = host_value(&lowering.scope, argument) {
            match passed_value(lowering, &host, &bindings) {
                Ok(name) => {
                    bindings.push(Argument::Host(host.argument));
                    arguments.push(LaunchArgument::Scalar(Box::new(name)));
                }
                Err(Reported) => faulty = true,
            }
            continue;
        }
        if is_none(argument) {
            // Only the callee's parameter tells what kind of value is absent.
            let none = quote_spanned!(argument.span()=> ::cuweave::__private::absent());
            bindings.push(Argument::Scalar { of: Vec::new(), value: None });
            arguments.push(LaunchArgument::Scalar(Box::new(Expr::Verbatim(none))));
            continue;
        }
        let in_some = in_some(&lowering.scope, argument);
        match call_argument(lowering, in_some.unwrap_or(argument), callee) {
            Ok(PassedArgument::Scalar) => {
                let value = lowering.substituted(argument);
                // A scalar `let` depends on the scalars of its value.
                let mut of = lowering.arguments.scalars_in(&value);
                let fields = lowering.arguments.fields_in(&value);
                // A setter may change a record's scalar, so it cannot be a bound.
                let bound =
                    if fields.is_empty() { integer_dim(&mut lowering.program.dims, &value) } else { None };
                of.extend(fields);
                bindings.push(Argument::Scalar { of, value: bound });
                arguments.push(LaunchArgument::Scalar(Box::new(value)));
            }
            Ok(PassedArgument::Borrowed(access)) => {
                let at = accesses.len() as u32;
                bindings.push(Argument::Access(at));
                arguments.push(match in_some {
                    Some(_) => LaunchArgument::InSome(at, None),
                    None => LaunchArgument::Buffer(at),
                });
                accesses.push(access);
            }
            Ok(PassedArgument::Moved(access)) => {
                bindings.push(Argument::Moved(access.access.buffer));
                arguments.push(LaunchArgument::Moved(accesses.len() as u32));
                accesses.push(access);
            }
            Ok(PassedArgument::Field(place, access, borrow)) => {
                bindings.push(Argument::Part(lowering.arguments.part(&place)));
                let at = accesses.len() as u32;
                arguments.push(match in_some {
                    Some(_) => LaunchArgument::InSome(at, Some(borrow)),
                    None => LaunchArgument::Field(at, borrow),
                });
                accesses.push(access);
            }
            Ok(PassedArgument::Part(place)) => {
                accesses_of_array(lowering, argument, &place, accesses);
                bindings.push(Argument::Part(lowering.arguments.part(&place)));
                arguments.push(LaunchArgument::Part(Box::new(place.reference())));
                whole.push(AggregateArgument { place, written: argument });
            }
            Err(Reported) => faulty = true,
        }
    }
    faulty |= reject_overlapping_arguments(lowering, callee, &whole, call).is_err();
    CallArguments { arguments, bindings, faulty }
}

/// Returns an integer expression as a bound. None if it is not integer arithmetic.
fn integer_dim(dims: &mut DimTable, value: &Expr) -> Option<DimId> {
    if !dims.is_integer(value) {
        return None;
    }
    let bound = dims.bound_of(value, true);
    Some(dims.intern(bound))
}

/// Returns the view of an allocation that a call returns.
fn result_view(
    lowering: &mut Lowering<'_>,
    callee: usize,
    at: usize,
    name: &Ident,
    call: StatementId,
) -> View {
    let path = lowering.calls.path(callee);
    let span = path.span();
    let (callee, output) = (paths::callee(path, callee), format_ident!("__Output{at}", span = span));
    let buffer = lowering.program.next_buffer();
    let len = lowering.program.dims.extent(buffer, &name.to_string());
    // With the same span on both parts rustc reports an error here only once.
    let element = syn::parse_quote_spanned!(span=> #callee::#output);
    lowering.program.add_buffer(name.to_string(), name.span(), Origin::Alloc(call), len, element, None)
}

/// Lowers one argument of a call. An allocation without a borrow passes ownership.
fn call_argument(lowering: &mut Lowering<'_>, argument: &Expr, callee: &str) -> LowerResult<PassedArgument> {
    if let Expr::Call(call) = argument
        && is_named(&call.func, "record")
        && let [part] = call.args.iter().collect::<Vec<_>>()[..]
    {
        return match place_or_array(lowering, part)? {
            Some(place) => Ok(PassedArgument::Part(place)),
            None => Err(lowering.refuse(
                part,
                "`record` takes a record or a list of an argument",
                "write `record(layer.inner)`",
            )),
        };
    }
    if let Some(argument) = optional_borrow(lowering, argument)? {
        return call_argument(lowering, &argument, callee);
    }
    if let Some(place) = place_or_array(lowering, argument)?
        && (place.is_whole() || matches!(place.kind, PlaceKind::Array))
    {
        return Ok(PassedArgument::Part(place));
    }
    if let Some(passed) = borrowed_field(lowering, argument)? {
        return Ok(passed);
    }
    if let Expr::Path(_) = argument
        && let Some(view @ View { borrow: None, .. }) = bare_view(lowering, argument)?
    {
        if !lowering.program.is_whole(&view) {
            return Err(lowering.refuse(
                argument,
                "a part of a buffer cannot be handed over",
                "borrow it: write `&b` or `&mut b`",
            ));
        }
        reject_outer_buffer(lowering, argument, view.buffer)?;
        return Ok(PassedArgument::Moved(lowering.program.access(&view, Mode::ReadWrite, argument.span())));
    }
    let Some(access) = launch_argument(lowering, argument, callee)? else {
        return Ok(PassedArgument::Scalar);
    };
    Ok(PassedArgument::Borrowed(access))
}

/// Lowers a borrowed field of a record, or a borrowed element of a field. rustc decides if it is a buffer,
/// a record or a list.
fn borrowed_field(lowering: &mut Lowering<'_>, argument: &Expr) -> LowerResult<Option<PassedArgument>> {
    let Some(place) = lowering.place(argument)? else { return Ok(None) };
    let borrow = match argument {
        Expr::Reference(reference) if reference.mutability.is_some() => Some(Borrow::Mutable),
        Expr::Reference(_) => Some(Borrow::Shared),
        _ => place.borrow,
    };
    let (PlaceKind::Field, Some(borrow)) = (&place.kind, borrow) else { return Ok(None) };
    let view = place_view(lowering, &place, argument)?;
    let mode = if borrow == Borrow::Mutable { Mode::ReadWrite } else { Mode::Read };
    let access = lowering.program.access(&view, mode, without_borrow(argument).span());
    Ok(Some(PassedArgument::Field(place, access, borrow)))
}

/// Returns the component that an expression denotes, or a whole array of buffers.
fn place_or_array(lowering: &mut Lowering<'_>, expr: &Expr) -> LowerResult<Option<Place>> {
    let inner = match expr {
        Expr::Reference(reference) => &reference.expr,
        _ => expr,
    };
    if let Expr::Path(path) = inner
        && let Some(Binding::Array(_, array)) =
            path.path.get_ident().and_then(|name| lowering.scope.get(name))
    {
        let array = (**array).clone();
        lowering.arguments.mention_root(&array);
        return Ok(Some(Place { kind: PlaceKind::Array, ..array }));
    }
    lowering.place(expr)
}

/// Appends the accesses of an array of buffers that is passed as a whole.
fn accesses_of_array(
    lowering: &mut Lowering<'_>,
    at: &Expr,
    place: &Place,
    accesses: &mut Vec<SpannedAccess>,
) {
    if !matches!(place.kind, PlaceKind::Array) {
        return;
    }
    let inner = match at {
        Expr::Reference(reference) => &reference.expr,
        _ => at,
    };
    if let Expr::Path(path) = inner
        && let Some(Binding::Array(views, _)) =
            path.path.get_ident().and_then(|name| lowering.scope.get(name))
    {
        let views = views.clone();
        for view in views.iter() {
            let mode = match view.borrow {
                Some(Borrow::Mutable) => Mode::ReadWrite,
                _ => Mode::Read,
            };
            accesses.push(lowering.program.access(view, mode, at.span()));
        }
    }
}

/// A record, list or array passed to a call, and the argument as written.
struct AggregateArgument<'e> {
    place: Place,
    written: &'e Expr,
}

/// Reports CW201. A record or a list in a call counts as borrowed mutably in all its buffers.
fn reject_overlapping_arguments(
    lowering: &mut Lowering<'_>,
    callee: &str,
    whole: &[AggregateArgument<'_>],
    call: &ExprCall,
) -> LowerResult<()> {
    for (at, AggregateArgument { place, written }) in whole.iter().enumerate() {
        let again = whole[..at].iter().find(|other| other.place.overlaps(place));
        let other = match again {
            Some(other) => Some(other.written.clone()),
            None => {
                let mut others = Vec::new();
                for argument in &call.args {
                    if matches!(argument, Expr::Reference(_) | Expr::Call(_)) {
                        others.push(argument.clone());
                    }
                }
                let mut found = None;
                for other in others {
                    let inner = without_borrow(&other);
                    if let Some(part) = lowering.place(inner)?
                        && !whole.iter().any(|whole| std::ptr::eq(whole.written, &other))
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
            let [one, two] = [*written, &other].map(|expr| compact(without_borrow(expr)).replace(" [", "["));
            lowering.report.error(
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

/// Returns the expression inside a borrow, `atomic` or `record`.
fn without_borrow(expr: &Expr) -> &Expr {
    match expr {
        Expr::Reference(reference) => without_borrow(&reference.expr),
        Expr::Paren(inner) => without_borrow(&inner.expr),
        Expr::Call(call) if call.args.len() == 1 => without_borrow(&call.args[0]),
        Expr::Index(index) if matches!(&*index.index, Expr::Range(_)) => without_borrow(&index.expr),
        _ => expr,
    }
}

/// The lowered arguments of a call.
struct CallArguments {
    /// The arguments as generated code passes them.
    arguments: Vec<LaunchArgument>,
    /// The arguments as the core binds them to the callee's parameters.
    bindings: Vec<Argument>,
    /// True if any argument is faulty.
    faulty: bool,
}

/// How an argument is passed to a graph function.
enum PassedArgument {
    Scalar,
    Borrowed(SpannedAccess),
    Moved(SpannedAccess),
    Part(Place),
    Field(Place, SpannedAccess, Borrow),
}
