//! Lowers `let`: names of scalars, of parts of arguments and of buffers.

use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Expr, Index, Local, Pat, PatTuple, PatType, Type, TypeTuple};

use super::calls::{is_named, ungrouped};
use super::refused;
use super::{Lower, Lowering, Reported};
use crate::graph::parts::is_record;
use crate::graph::place::Place;
use crate::graph::scope::Binding;

impl Lowering<'_> {
    pub(super) fn local(&mut self, local: &Local) -> Lower<()> {
        let done = self.try_local(local);
        if done.is_err() {
            self.bind_unknown(&local.pat);
        }
        done
    }

    /// Binds the names of a faulty pattern as unknown.
    pub(super) fn bind_unknown(&mut self, pattern: &Pat) {
        match pattern {
            Pat::Ident(name) => {
                self.scopes.bind(&name.ident, Binding::Unknown);
                self.scopes.bind_statement(&name.ident, None);
            }
            Pat::Tuple(tuple) => tuple.elems.iter().for_each(|element| self.bind_unknown(element)),
            Pat::Type(typed) => self.bind_unknown(&typed.pat),
            _ => {}
        }
    }

    pub(super) fn try_local(&mut self, local: &Local) -> Lower<()> {
        let Some(init) = &local.init else {
            return Err(self.not_in_language(local, "a `let` without a value is", &[]));
        };
        if init.diverge.is_some() {
            return Err(self.not_in_language(local, "`let ... else` is", &[]));
        }
        match &local.pat {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                self.local_name(&name.ident, &init.expr, local)
            }
            Pat::Type(typed) => self.local_typed(typed, &init.expr, local),
            Pat::Wild(_) if self.gives_a_scalar(&init.expr) || self.names_a_scalar_field(&init.expr)? => {
                self.no_after(&local.attrs);
                let value = self.substituted(&init.expr);
                self.typed.push(value);
                Ok(())
            }
            Pat::Wild(_) => self.expression(&init.expr, None, &local.attrs),
            Pat::Tuple(tuple) => self.local_tuple(tuple, &init.expr, local),
            _ => Err(self.not_in_language(local, "this pattern is", &[])),
        }
    }

    /// Lowers `let name = ..`.
    fn local_name(&mut self, name: &Ident, value: &Expr, local: &Local) -> Lower<()> {
        if self.name_part(name, value)? {
            self.no_after(&local.attrs);
            return Ok(());
        }
        if self.gives_a_scalar(value) || self.names_a_constant(value) || self.configures(value) {
            self.no_after(&local.attrs);
            if self.names_a_constant(value) {
                // rustc reports a path that leads nowhere.
                self.typed.push(value.clone());
            }
            self.scalar(name, value);
            return Ok(());
        }
        self.expression(value, Some(name), &local.attrs)
    }

    /// Lowers `let name: T = ..`, which names a scalar or a part of an argument.
    fn local_typed(&mut self, typed: &PatType, value: &Expr, local: &Local) -> Lower<()> {
        if let (Pat::Tuple(names), Type::Tuple(types)) = (&*typed.pat, &*typed.ty)
            && names.elems.len() == types.elems.len()
        {
            return self.local_typed_tuple(names, types, value, local);
        }
        let is_scalar = self.gives_a_scalar(value);
        if let Pat::Wild(_) = &*typed.pat
            && (is_scalar || is_by_value(&typed.ty) && !allocates(value))
        {
            self.no_after(&local.attrs);
            let value = self.substituted(value);
            self.typed.push(crate::dims::typed(&typed.ty, &value));
            return Ok(());
        }
        match pattern_name(&typed.pat) {
            Some(name) if !is_scalar && is_part(value) => {
                self.no_after(&local.attrs);
                let Some(place) = self.named_part(value)? else {
                    return Err(self.not_in_language(local, "this pattern is", &[]));
                };
                if is_scalar_type(&typed.ty) && place.may_be_scalar() {
                    self.typed_scalar(name, &typed.ty, value);
                } else {
                    self.bind_place(name, place);
                }
                Ok(())
            }
            _ if !(is_scalar || is_by_value(&typed.ty) && !allocates(value)) => {
                Err(self.not_in_language(local, refused::TYPED.what, &[]))
            }
            Some(name) => {
                self.no_after(&local.attrs);
                self.typed_scalar(name, &typed.ty, value);
                Ok(())
            }
            None => Err(self.not_in_language(local, "this pattern is", &[])),
        }
    }

    /// Lowers `let (a, b): (T, U) = ..`, which names scalars. The values do not see each other's names.
    fn local_typed_tuple(
        &mut self,
        names: &PatTuple,
        types: &TypeTuple,
        value: &Expr,
        local: &Local,
    ) -> Lower<()> {
        let named: Option<Vec<Option<Ident>>> = names.elems.iter().map(name_or_none).collect();
        let Some(named) = named.filter(|_| types.elems.iter().all(is_scalar_type) && !allocates(value))
        else {
            return Err(self.no_pattern(local));
        };
        if is_part(value)
            && let Some(place) = self.place(value)?
            && !place.may_be_scalar()
        {
            return Err(self.no_pattern(local));
        }
        self.no_after(&local.attrs);
        let values: Vec<Expr> = match ungrouped(value) {
            Expr::Tuple(values) if values.elems.len() == named.len() => {
                values.elems.iter().map(|value| self.substituted(value)).collect()
            }
            _ => {
                let whole = crate::dims::typed(&Type::Tuple(types.clone()), &self.substituted(value));
                self.typed.push(whole.clone());
                (0..named.len()).map(|at| element(&whole, at)).collect()
            }
        };
        for ((name, ty), value) in named.iter().zip(&types.elems).zip(values) {
            match name {
                Some(name) => self.stands_for_typed_scalar(name, ty, &value),
                None => self.typed.push(crate::dims::typed(ty, &value)),
            }
        }
        Ok(())
    }

    /// Lowers `let (a, b) = ..`: halves, several values, or the results of a call.
    fn local_tuple(&mut self, tuple: &PatTuple, value: &Expr, local: &Local) -> Lower<()> {
        let names: Option<Vec<Option<Ident>>> = tuple.elems.iter().map(name_or_none).collect();
        match (names.as_deref(), ungrouped(value)) {
            (Some([lo, hi]), Expr::MethodCall(call))
                if call.method == "split_at_mut" && call.args.len() == 1 =>
            {
                self.no_after(&local.attrs);
                self.split([lo.as_ref(), hi.as_ref()], &call.receiver, &call.args[0])
            }
            (Some(names), Expr::Tuple(values)) if names.len() == values.elems.len() => {
                self.no_after(&local.attrs);
                self.named_together(names, values.elems.iter(), local)
            }
            (Some(names), Expr::Call(call)) if matches!(&*call.func, Expr::Path(_)) => {
                let Expr::Path(path) = &*call.func else { return Ok(()) };
                let attributes = [local.attrs.as_slice(), &call.attrs].concat();
                self.call_function(call, &path.path, names, &attributes)
            }
            (Some(names), value) if is_part(value) && self.gives_scalars(value)? => {
                self.no_after(&local.attrs);
                let values: Vec<Expr> = (0..names.len()).map(|at| element(value, at)).collect();
                self.named_together(names, values.iter(), local)
            }
            _ => Err(self.no_pattern(local)),
        }
    }

    /// Returns true for a field of a record that stands without a borrow.
    fn names_a_scalar_field(&mut self, value: &Expr) -> Lower<bool> {
        Ok(is_part(value) && self.place(value)?.is_some_and(|place| place.is_scalar()))
    }

    /// Returns true for the name or a part of a scalar, and for a field of a record that may be one.
    fn gives_scalars(&mut self, value: &Expr) -> Lower<bool> {
        if self.gives_a_scalar(value) {
            return Ok(true);
        }
        Ok(self.place(value)?.is_some_and(|place| place.may_be_scalar()))
    }

    fn no_pattern(&mut self, local: &Local) -> Reported {
        let note = "several names are bound by tuples of scalars and parts of arguments, by `split_at_mut` and by calls of graph \
                    functions";
        self.not_in_language(local, "this pattern is", &[note.into()])
    }

    /// Lowers `let (fine, coarse) = (levels[i], levels[i + 1]);`, which names parts of arguments, scalars and
    /// configurations. The values do not see each other's names.
    fn named_together<'e>(
        &mut self,
        names: &[Option<Ident>],
        values: impl Iterator<Item = &'e Expr>,
        local: &Local,
    ) -> Lower<()> {
        let mut meanings: Vec<Result<Place, Expr>> = Vec::new();
        for value in values {
            meanings.push(match self.named_part(value)? {
                Some(place) => Ok(place),
                None if self.gives_a_scalar(value)
                    || self.names_a_constant(value)
                    || self.configures(value) =>
                {
                    Err(self.substituted(value))
                }
                None => return Err(self.no_pattern(local)),
            });
        }
        for (name, meaning) in names.iter().zip(meanings) {
            match (name, meaning) {
                (Some(name), Ok(place)) => self.bind_place(name, place),
                (Some(name), Err(value)) => self.stands_for_scalar(name, &value),
                (None, Ok(_)) => {}
                (None, Err(value)) => self.typed.push(value),
            }
        }
        Ok(())
    }
}

/// Returns true for a type of values, whose `let` is an expression of scalars: a number, a structure, a tuple.
fn is_by_value(ty: &Type) -> bool {
    match ty {
        Type::Path(_) => true,
        Type::Tuple(tuple) => tuple.elems.iter().all(is_by_value),
        Type::Paren(inner) => is_by_value(&inner.elem),
        Type::Group(inner) => is_by_value(&inner.elem),
        _ => false,
    }
}

/// Returns true for a call of `alloc`.
fn allocates(value: &Expr) -> bool {
    matches!(ungrouped(value), Expr::Call(call) if is_named(ungrouped(&call.func), "alloc"))
}

/// Returns the name of an element of a pattern, `None` inside for `_`.
fn name_or_none(pattern: &Pat) -> Option<Option<Ident>> {
    match pattern {
        Pat::Wild(_) => Some(None),
        pattern => pattern_name(pattern).map(|name| Some(name.clone())),
    }
}

fn pattern_name(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(name) => Some(&name.ident),
        _ => None,
    }
}

/// Returns true for a name and for a part of one: `layer`, `layer.c`, `layers[i].c`.
fn is_part(value: &Expr) -> bool {
    matches!(ungrouped(value), Expr::Path(_) | Expr::Field(_) | Expr::Index(_))
}

/// Returns an element of a tuple.
fn element(tuple: &Expr, at: usize) -> Expr {
    let at = Index { index: at as u32, span: tuple.span() };
    syn::parse_quote_spanned!(tuple.span()=> #tuple.#at)
}

/// Returns true for a type of values that is no record: a record names a lifetime.
fn is_scalar_type(ty: &Type) -> bool {
    match ty {
        Type::Array(array) => is_scalar_type(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().all(is_scalar_type),
        Type::Paren(inner) => is_scalar_type(&inner.elem),
        Type::Group(inner) => is_scalar_type(&inner.elem),
        Type::Path(_) => !is_record(ty),
        _ => false,
    }
}
