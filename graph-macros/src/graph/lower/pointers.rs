//! Lowers lists of buffers that a launch is given as tables of pointers: `&xs` and `&mut xs`.
//!
//! The table is a temporary: a launch for each element writes its address, and the launch that is given the table accesses
//! all elements besides, so that they order it and live as long.

use std::rc::Rc;

use cuweave_core::codes::Code;
use cuweave_core::index::Index;
use cuweave_core::ir::{Access, Kind, Mode, Origin, StatementId};
use proc_macro2::{Ident, Span};
use syn::{Attribute, Expr, Type};

use super::calls::ungrouped;
use super::{Lower, Lowering, Syntax};
use crate::dims::Bound;
use crate::graph::parts::BufferType;
use crate::graph::place::{Borrow, Place, PlaceKind};
use crate::graph::scope::{Binding, View};

/// A list of buffers that an argument lends.
pub(super) struct LentList {
    name: Ident,
    borrow: Borrow,
    elements: ListElements,
    span: Span,
}

/// The elements of a list: as many as the source says, or as the build is given.
enum ListElements {
    Known(Rc<[View]>),
    Given(Rc<Place>, Box<BufferType>),
}

impl Lowering<'_> {
    /// Returns the list of buffers that an argument lends; `None` for other arguments.
    pub(super) fn lent_list(&self, argument: &Expr) -> Option<LentList> {
        let reference = match argument {
            Expr::Paren(inner) => return self.lent_list(&inner.expr),
            Expr::Group(inner) => return self.lent_list(&inner.expr),
            Expr::Reference(reference) => reference,
            _ => return None,
        };
        let Expr::Path(path) = ungrouped(&reference.expr) else { return None };
        let name = path.path.get_ident()?;
        let elements = match self.scopes.get(name)? {
            Binding::Array(views, _) => ListElements::Known(views.clone()),
            Binding::Part(place) => match &place.kind {
                PlaceKind::Buffers(ty) if !ty.optional => ListElements::Given(place.clone(), ty.clone()),
                _ => return None,
            },
            _ => return None,
        };
        let borrow = if reference.mutability.is_some() { Borrow::Mutable } else { Borrow::Shared };
        Some(LentList { name: name.clone(), borrow, elements, span: name.span() })
    }

    /// Lowers the statements that make the table of pointers of a list, and returns the access to it. Adds the accesses to the
    /// elements.
    pub(super) fn pointers(
        &mut self,
        list: &LentList,
        attributes: &[Attribute],
        pointed: &mut Vec<(Access, Span)>,
    ) -> Lower<(Access, Span)> {
        let mode = if list.borrow == Borrow::Mutable { Mode::ReadWrite } else { Mode::Read };
        let elements = self.pointed(list, mode)?;
        let on: Vec<Attribute> =
            attributes.iter().filter(|attribute| attribute.path().is_ident("on")).cloned().collect();
        let outside = self.on;
        self.on = self.device(&on).or(outside);
        let table = self.table(list);
        self.on = outside;
        pointed.extend(elements);
        Ok(self.access(&table, Mode::Read, list.span))
    }

    /// Returns the accesses to the elements: one access stands for all of a list whose length the build knows.
    fn pointed(&mut self, list: &LentList, mode: Mode) -> Lower<Vec<(Access, Span)>> {
        match &list.elements {
            ListElements::Known(views) => {
                let views = views.clone();
                let mut accesses = Vec::with_capacity(views.len());
                for view in views.iter() {
                    let access = self.access(view, mode, list.span);
                    self.device_only(&access, &path_of(&list.name), "a table of pointers")?;
                    accesses.push(access);
                }
                Ok(accesses)
            }
            ListElements::Given(place, ty) => {
                if mode != Mode::Read && !ty.mutable {
                    self.report.error(
                        list.span,
                        Code::CW205,
                        &format!(
                            "the buffers of `{}` are written, but they are not declared as `&mut [_; _]`",
                            list.name
                        ),
                        &[],
                        Some("declare the list as `&[&mut [T; len]]`, or lend it by `&`"),
                    );
                    return Err(super::Reported);
                }
                let view = self.every(list, place, ty);
                Ok(vec![self.access(&view, mode, list.span)])
            }
        }
    }

    /// Returns the buffer that stands for all elements of a list.
    fn every(&mut self, list: &LentList, place: &Place, ty: &BufferType) -> View {
        let part = self.parts_of_arguments.number(place);
        let len = self.bound(&ty.len);
        let buffer = match self.parts_of_arguments.buffers.get(&part) {
            Some(&known) => known,
            None => {
                self.structured = true;
                let name = list.name.to_string();
                let view =
                    self.buffer(name, list.span, Origin::Part(part), len.clone(), ty.element.clone(), None);
                self.parts_of_arguments.buffers.insert(part, view.buffer);
                view.buffer
            }
        };
        View { buffer, lo: Bound::constant(0), hi: len, borrow: None }
    }

    /// Lowers the allocation of a table, and the launches that write its entries.
    fn table(&mut self, list: &LentList) -> View {
        let (name, span) = (&list.name, list.span);
        let (element, count) = match &list.elements {
            ListElements::Known(views) => {
                let first = views.first().map(|view| self.elements[view.buffer.index()].clone());
                (first.unwrap_or_else(|| syn::parse_quote!(())), Bound::constant(views.len() as u64))
            }
            ListElements::Given(_, ty) => {
                (ty.element.clone(), self.bound(&syn::parse_quote_spanned!(span=> #name.len())))
            }
        };
        let pointer: Type = match list.borrow {
            Borrow::Mutable => syn::parse_quote_spanned!(span=> ::cuweave::PtrMut<#element>),
            Borrow::Shared => syn::parse_quote_spanned!(span=> ::cuweave::Ptr<#element>),
        };
        let id = StatementId::new(self.statements.len());
        let text = format!("{name}.pointers");
        let table = self.buffer(text.clone(), span, Origin::Alloc(id), count, pointer, None);
        self.push(text, span, (Kind::Alloc(table.buffer), Syntax::default()), Vec::new());
        // No name of a user's: an underscore, and the name of the list.
        let [entries, at] =
            ["entries", "at"].map(|what| Ident::new(&format!("__{what}_of_{}", plain(name)), span));
        self.scopes.enter();
        let variables = self.variables.len();
        self.scopes.bind(&entries, Binding::View(table.clone()));
        let entry = |at: Expr| -> Expr {
            syn::parse_quote_spanned!(span=>
                ::cuweave::__private::entry[::cuweave::__private::entry::ONE](
                    &mut #entries[#at..#at + 1],
                    &#name[#at][..0]
                )
            )
        };
        // What is faulty has been reported where it was found.
        match &list.elements {
            ListElements::Known(views) => {
                for at in 0..views.len() {
                    let at = proc_macro2::Literal::usize_unsuffixed(at);
                    let _ = self.expression(&entry(syn::parse_quote!(#at)), None, &[]);
                }
            }
            ListElements::Given(..) => {
                let entry = entry(syn::parse_quote!(#at));
                let each: Expr = syn::parse_quote_spanned!(span=> for #at in 0..#name.len() { #entry; });
                let _ = self.expression(&each, None, &[]);
            }
        }
        self.leave_block(variables);
        table
    }
}

fn path_of(name: &Ident) -> Expr {
    syn::parse_quote!(#name)
}

/// Returns a name without `r#`.
fn plain(name: &Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").unwrap_or(&name).to_owned()
}
