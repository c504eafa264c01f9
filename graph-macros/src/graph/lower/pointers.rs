//! Lowers lists of buffers that a launch takes as tables of pointers: `&xs`, `&mut xs`, `&[&a, &b]`.
//!
//! The table is a temporary. A launch per element writes the element's address into it. The launch that
//! takes the table also accesses all elements, so that it is ordered by them and keeps them alive.

use std::rc::Rc;

use cuweave_core::codes::Code;
use cuweave_core::index::{Index, between};
use cuweave_core::ir::{Mode, Origin, StatementId, StatementKind};
use proc_macro2::{Ident, Literal, Span};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprArray, Type};

use super::accesses::{reject_pinned, report_not_a_buffer};
use super::devices::device_of;
use super::lowered::Lowered;
use super::lowering::{LowerResult, Lowering, Reported};
use super::places::place_buffer;
use super::program::SpannedAccess;
use super::shapes::ungrouped;
use super::syntax::{LaunchArgument, StatementSyntax};
use super::views::view_of;
use crate::dims::DimExpr;
use crate::graph::parts::BufferType;
use crate::graph::place::{Borrow, Place, PlaceKind};
use crate::graph::scope::{Binding, View};
use crate::parameters::pointer;
use crate::report::Report;

/// A list of buffers that an argument borrows.
pub(super) struct BorrowedList {
    /// The name of its table.
    table: String,
    borrow: Borrow,
    elements: ListElements,
    span: Span,
}

/// The elements of a list.
enum ListElements {
    /// The number is known at compile time. Each element with the expression that denotes it.
    Known(Vec<(View, Expr)>),
    /// The number is known when the graph is built. The list, the type of its buffers, and its name.
    Given(Rc<Place>, Box<BufferType>, Ident),
}

/// A table of pointers: its access, the accesses to the elements, and the launches that write its entries.
/// These must precede the launch that takes the table.
pub(super) struct PointerArgument {
    pub table: SpannedAccess,
    pub pointed: Vec<SpannedAccess>,
    pub entries: Vec<StatementId>,
}

/// Returns the list of buffers that an argument borrows. None for other arguments.
pub(super) fn borrowed_list(
    lowering: &mut Lowering<'_>,
    argument: &Expr,
) -> LowerResult<Option<BorrowedList>> {
    let reference = match argument {
        Expr::Paren(inner) => return borrowed_list(lowering, &inner.expr),
        Expr::Group(inner) => return borrowed_list(lowering, &inner.expr),
        Expr::Reference(reference) => reference,
        _ => return Ok(None),
    };
    let name = match ungrouped(&reference.expr) {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Array(array) => return written_list(lowering, array),
        _ => None,
    };
    let (Some(name), Some(binding)) = (name, name.and_then(|name| lowering.scope.get(name))) else {
        return Ok(None);
    };
    let elements = match binding {
        Binding::Array(views, _) => {
            let element = |(at, view): (usize, &View)| {
                let at = Literal::usize_unsuffixed(at);
                (view.clone(), syn::parse_quote_spanned!(name.span()=> #name[#at]))
            };
            ListElements::Known(views.iter().enumerate().map(element).collect())
        }
        Binding::Part(place) => match &place.kind {
            PlaceKind::Buffers(ty) if !ty.optional => {
                ListElements::Given(place.clone(), ty.clone(), name.clone())
            }
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let borrow = if reference.mutability.is_some() { Borrow::Mutable } else { Borrow::Shared };
    Ok(Some(BorrowedList { table: format!("{name}.pointers"), borrow, elements, span: name.span() }))
}

/// Returns a list written in place: `[&a, &b]`, `[&mut a, &mut b[..n]]`.
fn written_list(lowering: &mut Lowering<'_>, array: &ExprArray) -> LowerResult<Option<BorrowedList>> {
    let (mut elements, mut borrows) = (Vec::new(), Vec::new());
    for element in &array.elems {
        let Expr::Reference(reference) = ungrouped(element) else { return Ok(None) };
        let Some(view) = view_of(lowering, &reference.expr)? else {
            return Err(report_not_a_buffer(lowering, &reference.expr, "a table of pointers"));
        };
        borrows.push(reference.mutability.is_some());
        elements.push((view, (*reference.expr).clone()));
    }
    let Some(&mutable) = borrows.first() else { return Ok(None) };
    let ty = |(view, _): &(View, Expr)| lowering.program.element(view.buffer);
    let unnamed: Type = syn::parse_quote!(());
    let help = match elements.first().map(ty) {
        _ if borrows.contains(&!mutable) => "borrow all of them by `&`, or all by `&mut`",
        Some(first) if *first == unnamed => {
            "take the list itself as an argument, `&[&[T; len]]`: the type of the elements of a field is not known here"
        }
        Some(first) if elements.iter().any(|element| ty(element) != first) => {
            "all of them have elements of one type"
        }
        _ => {
            let borrow = if mutable { Borrow::Mutable } else { Borrow::Shared };
            let (table, elements) = ("pointers".to_owned(), ListElements::Known(elements));
            return Ok(Some(BorrowedList { table, borrow, elements, span: array.span() }));
        }
    };
    Err(lowering.refuse(array, "these buffers cannot form a table of pointers", help))
}

/// Lowers the statements that create the table of pointers of a list.
pub(super) fn lower_pointer_list(
    lowering: &mut Lowering<'_>,
    list: &BorrowedList,
    attributes: &[Attribute],
) -> LowerResult<PointerArgument> {
    let mode = if list.borrow == Borrow::Mutable { Mode::ReadWrite } else { Mode::Read };
    let pointed = accesses_of(lowering, list, mode)?;
    let on: Vec<Attribute> =
        attributes.iter().filter(|attribute| attribute.path().is_ident("on")).cloned().collect();
    let outside = lowering.device;
    lowering.device = device_of(lowering, &on).or(outside);
    let (table, entries) = create_pointer_table(lowering, list);
    lowering.device = outside;
    Ok(PointerArgument { table: lowering.program.access(&table, Mode::Read, list.span), pointed, entries })
}

/// Returns the accesses to the elements. A list of unknown length has a single access that represents all
/// elements.
fn accesses_of(
    lowering: &mut Lowering<'_>,
    list: &BorrowedList,
    mode: Mode,
) -> LowerResult<Vec<SpannedAccess>> {
    match &list.elements {
        ListElements::Known(elements) => {
            let mut accesses = Vec::with_capacity(elements.len());
            for (view, expr) in elements {
                let access = lowering.program.access(view, mode, list.span);
                reject_pinned(lowering, &access, expr, "a table of pointers")?;
                accesses.push(access);
            }
            Ok(accesses)
        }
        ListElements::Given(place, ty, name) => {
            if lowering.explicit {
                return Err(lowering.refuse(
                    name,
                    "in explicit order a list is no table of pointers",
                    "take an array of buffers, `[&[T; len]; 4]`, or leave the order to the accesses: `#[graph]`",
                ));
            }
            if mode != Mode::Read && !ty.mutable {
                let message = format!(
                    "the buffers of `{name}` are written, but they are not declared as `&mut [_; _]`"
                );
                let help = "declare the list as `&[&mut [T; len]]`, or lend it by `&`";
                lowering.report.error(list.span, Code::CW205, &message, &[], Some(help));
                return Err(Reported);
            }
            let view = view_of_all(lowering, name, place, ty);
            Ok(vec![lowering.program.access(&view, mode, list.span)])
        }
    }
}

/// Returns the view that represents all elements of a list.
fn view_of_all(lowering: &mut Lowering<'_>, name: &Ident, place: &Place, ty: &BufferType) -> View {
    let part = lowering.arguments.part(place);
    let len = lowering.bound(&ty.len);
    let buffer =
        place_buffer(lowering, part, || name.to_string(), name.span(), len.clone(), ty.element.clone());
    View { buffer, lo: DimExpr::constant(0), hi: len, borrow: None }
}

/// Lowers the allocation of a table, and the launches that write its entries.
fn create_pointer_table(lowering: &mut Lowering<'_>, list: &BorrowedList) -> (View, Vec<StatementId>) {
    let span = list.span;
    let (element, count) = match &list.elements {
        ListElements::Known(elements) => {
            let first = elements.first().map(|(view, _)| lowering.program.element(view.buffer).clone());
            (first.unwrap_or_else(|| syn::parse_quote!(())), DimExpr::constant(elements.len() as u64))
        }
        ListElements::Given(_, ty, name) => {
            (ty.element.clone(), lowering.bound(&syn::parse_quote_spanned!(span=> #name.len())))
        }
    };
    let pointer = pointer(&element, list.borrow == Borrow::Mutable, span);
    let id = lowering.program.next_statement();
    let name = &list.table;
    let table = lowering.program.add_buffer(name.clone(), span, Origin::Alloc(id), count, pointer, None);
    lowering.push(
        name.clone(),
        span,
        StatementKind::Alloc(table.buffer),
        StatementSyntax::default(),
        Vec::new(),
    );
    // Internal names, which the user's names cannot equal.
    let [entries, each] = ["__pointers", "__pointer"].map(|name| Ident::new(name, span));
    lowering.scope.enter();
    lowering.scope.bind(&entries, Binding::View(table.clone()));
    let entry = |at: Expr, element: &Expr| -> Expr {
        syn::parse_quote_spanned!(span=>
            ::cuweave::__private::entry[::cuweave::__private::entry::ONE](
                &mut #entries[#at..#at + 1],
                &#element[..0]
            )
        )
    };
    // Errors were reported where they were found.
    match &list.elements {
        ListElements::Known(elements) => {
            for (at, (_, element)) in elements.iter().enumerate() {
                let at = Literal::usize_unsuffixed(at);
                let _ = lowering.expression(&entry(syn::parse_quote!(#at), element), None, &[]);
            }
        }
        ListElements::Given(.., name) => {
            let element: Expr = syn::parse_quote_spanned!(span=> #name[#each]);
            let entry = entry(syn::parse_quote!(#each), &element);
            let all: Expr = syn::parse_quote_spanned!(span=> for #each in 0..#name.len() { #entry; });
            let _ = lowering.expression(&all, None, &[]);
        }
    }
    lowering.leave_block();
    let last = lowering.program.next_statement();
    let entries: Vec<StatementId> = between(id, last).skip(1).collect();
    for &entry in &entries {
        order_after(lowering, entry, &[id], span);
    }
    (table, entries)
}

/// In explicit order, orders a statement after those that create its tables of pointers.
pub(super) fn order_after(
    lowering: &mut Lowering<'_>,
    statement: StatementId,
    others: &[StatementId],
    at: Span,
) {
    if lowering.explicit {
        others.iter().for_each(|&other| lowering.program.add_edge(statement, other, at));
    }
}

impl Lowered {
    /// Reports CW101 for buffers passed through a table of `PtrMut` before they are written: the kernel may
    /// read them.
    pub fn report_unwritten_pointees(&self, report: &mut Report) {
        let program = &self.source.program;
        let launches =
            program.statements.enumerate().filter(|(_, one)| matches!(one.kind, StatementKind::Launch(())));
        for (id, launch) in launches {
            let StatementSyntax { path: Some(kernel), arguments, .. } = &self.syntax[id.index()] else {
                continue;
            };
            let is_buffer = |argument: &&LaunchArgument| matches!(argument, LaunchArgument::Buffer(_));
            let given = arguments.iter().filter(is_buffer).count();
            let pointed = launch.accesses.iter().zip(&self.spans.accesses[id.index()]).skip(given);
            for (access, span) in pointed.filter(|(access, _)| access.mode == Mode::Write) {
                let kernel = kernel.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
                let name = &program.buffers[access.buffer].name;
                report.error(
                    *span,
                    Code::CW101,
                    &format!("`{name}` is given to the kernel `{kernel}` before it is written"),
                    &[format!("`{kernel}` takes it by a `PtrMut` of a table, and may read it")],
                    Some(&format!("write all of `{name}` before")),
                );
            }
        }
    }
}
