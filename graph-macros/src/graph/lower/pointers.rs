//! Lowers lists of buffers that a launch is given as tables of pointers: `&xs`, `&mut xs`, `&[&a, &b]`.
//!
//! The table is a temporary: a launch for each element writes its address, and the launch that is given the table
//! accesses all elements besides, so that they order it and live as long.

use std::rc::Rc;

use cuweave_core::codes::Code;
use cuweave_core::index::{Index, between};
use cuweave_core::ir::{Access, Kind, Mode, Origin, StatementId};
use proc_macro2::{Ident, Literal, Span};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprArray, Type};

use super::calls::ungrouped;
use super::{LaunchArgument, Lower, Lowered, Lowering, Reported, Syntax};
use crate::dims::Bound;
use crate::graph::parts::BufferType;
use crate::graph::place::{Borrow, Place, PlaceKind};
use crate::graph::scope::{Binding, View};
use crate::parameters::pointer;
use crate::report::Report;

/// A list of buffers that an argument lends.
pub(super) struct LentList {
    /// The name of its table.
    table: String,
    borrow: Borrow,
    elements: ListElements,
    span: Span,
}

/// The elements of a list.
enum ListElements {
    /// As many as the source says, with the expressions that name them.
    Known(Vec<(View, Expr)>),
    /// As many as the build is given: the list, and its name.
    Given(Rc<Place>, Box<BufferType>, Ident),
}

/// A table of pointers: its access, the accesses to what it points to, and the launches that write its entries, which
/// come before the one that is given it.
pub(super) struct Pointers {
    pub table: (Access, Span),
    pub pointed: Vec<(Access, Span)>,
    pub entries: Vec<StatementId>,
}

impl Lowering<'_> {
    /// Returns the list of buffers that an argument lends; `None` for other arguments.
    pub(super) fn lent_list(&mut self, argument: &Expr) -> Lower<Option<LentList>> {
        let reference = match argument {
            Expr::Paren(inner) => return self.lent_list(&inner.expr),
            Expr::Group(inner) => return self.lent_list(&inner.expr),
            Expr::Reference(reference) => reference,
            _ => return Ok(None),
        };
        let name = match ungrouped(&reference.expr) {
            Expr::Path(path) => path.path.get_ident(),
            Expr::Array(array) => return self.written_list(array),
            _ => None,
        };
        let (Some(name), Some(binding)) = (name, name.and_then(|name| self.scopes.get(name))) else {
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
        Ok(Some(LentList { table: format!("{name}.pointers"), borrow, elements, span: name.span() }))
    }

    /// Returns a list that is written where it is lent: `[&a, &b]`, `[&mut a, &mut b[..n]]`.
    fn written_list(&mut self, array: &ExprArray) -> Lower<Option<LentList>> {
        let (mut elements, mut borrows) = (Vec::new(), Vec::new());
        for element in &array.elems {
            let Expr::Reference(reference) = ungrouped(element) else { return Ok(None) };
            let Some(view) = self.view(&reference.expr)? else {
                return Err(self.no_buffer(&reference.expr, "a table of pointers"));
            };
            borrows.push(reference.mutability.is_some());
            elements.push((view, (*reference.expr).clone()));
        }
        let Some(&mutable) = borrows.first() else { return Ok(None) };
        let ty = |(view, _): &(View, Expr)| &self.elements[view.buffer.index()];
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
                return Ok(Some(LentList { table, borrow, elements, span: array.span() }));
            }
        };
        Err(self.refuse(array, "these buffers are no table of pointers", help))
    }

    /// Lowers the statements that make the table of pointers of a list.
    pub(super) fn pointers(&mut self, list: &LentList, attributes: &[Attribute]) -> Lower<Pointers> {
        let mode = if list.borrow == Borrow::Mutable { Mode::ReadWrite } else { Mode::Read };
        let pointed = self.pointed(list, mode)?;
        let on: Vec<Attribute> =
            attributes.iter().filter(|attribute| attribute.path().is_ident("on")).cloned().collect();
        let outside = self.on;
        self.on = self.device(&on).or(outside);
        let (table, entries) = self.table(list);
        self.on = outside;
        Ok(Pointers { table: self.access(&table, Mode::Read, list.span), pointed, entries })
    }

    /// Returns the accesses to the elements: one access stands for all of a list whose length the build knows.
    fn pointed(&mut self, list: &LentList, mode: Mode) -> Lower<Vec<(Access, Span)>> {
        match &list.elements {
            ListElements::Known(elements) => {
                let mut accesses = Vec::with_capacity(elements.len());
                for (view, expr) in elements {
                    let access = self.access(view, mode, list.span);
                    self.device_only(&access, expr, "a table of pointers")?;
                    accesses.push(access);
                }
                Ok(accesses)
            }
            ListElements::Given(place, ty, name) => {
                if self.explicit {
                    return Err(self.refuse(
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
                    self.report.error(list.span, Code::CW205, &message, &[], Some(help));
                    return Err(Reported);
                }
                let view = self.every(name, place, ty);
                Ok(vec![self.access(&view, mode, list.span)])
            }
        }
    }

    /// Returns the buffer that stands for all elements of a list.
    fn every(&mut self, name: &Ident, place: &Place, ty: &BufferType) -> View {
        let part = self.parts_of_arguments.number(place);
        let len = self.bound(&ty.len);
        let buffer =
            self.part_buffer(part, || name.to_string(), name.span(), len.clone(), ty.element.clone());
        View { buffer, lo: Bound::constant(0), hi: len, borrow: None }
    }

    /// Lowers the allocation of a table, and the launches that write its entries.
    fn table(&mut self, list: &LentList) -> (View, Vec<StatementId>) {
        let span = list.span;
        let (element, count) = match &list.elements {
            ListElements::Known(elements) => {
                let first = elements.first().map(|(view, _)| self.elements[view.buffer.index()].clone());
                (first.unwrap_or_else(|| syn::parse_quote!(())), Bound::constant(elements.len() as u64))
            }
            ListElements::Given(_, ty, name) => {
                (ty.element.clone(), self.bound(&syn::parse_quote_spanned!(span=> #name.len())))
            }
        };
        let pointer = pointer(&element, list.borrow == Borrow::Mutable, span);
        let id = StatementId::new(self.statements.len());
        let name = &list.table;
        let table = self.buffer(name.clone(), span, Origin::Alloc(id), count, pointer, None);
        self.push(name.clone(), span, Kind::Alloc(table.buffer), Syntax::default(), Vec::new());
        // No names of a user's.
        let [entries, each] = ["__pointers", "__pointer"].map(|name| Ident::new(name, span));
        self.scopes.enter();
        let variables = self.variables.len();
        self.scopes.bind(&entries, Binding::View(table.clone()));
        let entry = |at: Expr, element: &Expr| -> Expr {
            syn::parse_quote_spanned!(span=>
                ::cuweave::__private::entry[::cuweave::__private::entry::ONE](
                    &mut #entries[#at..#at + 1],
                    &#element[..0]
                )
            )
        };
        // What is faulty is reported where it is found.
        match &list.elements {
            ListElements::Known(elements) => {
                for (at, (_, element)) in elements.iter().enumerate() {
                    let at = Literal::usize_unsuffixed(at);
                    let _ = self.expression(&entry(syn::parse_quote!(#at), element), None, &[]);
                }
            }
            ListElements::Given(.., name) => {
                let element: Expr = syn::parse_quote_spanned!(span=> #name[#each]);
                let entry = entry(syn::parse_quote!(#each), &element);
                let all: Expr = syn::parse_quote_spanned!(span=> for #each in 0..#name.len() { #entry; });
                let _ = self.expression(&all, None, &[]);
            }
        }
        self.leave_block(variables);
        let last = StatementId::new(self.statements.len());
        let entries: Vec<StatementId> = between(id, last).skip(1).collect();
        for &entry in &entries {
            self.comes_after(entry, &[id], span);
        }
        (table, entries)
    }

    /// Orders a statement after those that make its tables of pointers, where the order is the user's.
    pub(super) fn comes_after(&mut self, statement: StatementId, others: &[StatementId], at: Span) {
        if self.explicit {
            self.spans.after[statement.index()].extend(others.iter().map(|_| at));
            self.statements[statement].after.to_mut().extend(others);
        }
    }
}

impl Lowered {
    /// Reports buffers that are lent to be read and written through a table of pointers before they are written.
    pub fn unwritten_behind_pointers(&self, report: &mut Report) {
        let program = &self.source.program;
        let launches = program.statements.enumerate().filter(|(_, one)| matches!(one.kind, Kind::Launch(())));
        for (id, launch) in launches {
            let Syntax { path: Some(kernel), arguments, .. } = &self.syntax[id.index()] else { continue };
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
