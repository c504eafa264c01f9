//! Setters for parts of records and lists among an exec's arguments: `exec.layers(3)?.set_q(..)`.
//!
//! Generated code builds a path of types from the exec (`ExecArgument`) through fields (`RecordField`) and elements
//! (`ListElement`) to the part. The part is then set as a whole argument is in `set`.

use std::fmt;

use cuweave_core::ids::ArgumentId;
use cuweave_core::index::{size, wide};
use cuweave_core::ir::{StatementId, Text};

use crate::bind::{
    ArgumentList, ArgumentListMut, ArgumentRecord, BindMut, BindShared, Bound, BoundExclusive, BoundShared,
};
use crate::error::{Error, Result};
use crate::statements::{self, UnprovedLaunches};
use crate::token::Token;

use super::core::Core;
use super::graph::{ExecCore, GraphFn};
use super::pipeline::hints_of;
use super::set::MovedHints;

/// A record with setters. Only `#[cuweave::arguments]` can implement it.
pub trait Settable: ArgumentRecord + Sized {
    /// The type that has the setters.
    type Setters<P: ArgumentPath<Target = Self>>;

    /// Returns the setters of a record of an exec.
    fn setters<P: ArgumentPath<Target = Self>>(part: ArgumentMut<P>, token: Token) -> Self::Setters<P>;
}

/// The path from an exec to a part of its arguments. The types are concrete and have no `Drop`, so setters
/// stored in a variable borrow the exec only until their last use.
pub trait ArgumentPath {
    /// The part.
    type Target: ?Sized;

    /// Returns the part.
    #[doc(hidden)]
    fn part(&mut self, token: Token) -> &mut Self::Target;

    /// Returns the graph.
    #[doc(hidden)]
    fn core(&mut self, token: Token) -> &mut Core;

    /// Reevaluates statements and the ranges of hints.
    #[doc(hidden)]
    fn evaluate(&mut self, statements: &[StatementId], token: Token) -> Result<Reevaluated>;
}

/// The results of statements that were reevaluated, and of hints.
#[derive(Debug)]
pub struct Reevaluated {
    records: Vec<statements::StatementRecord>,
    unproved: UnprovedLaunches,
    hints: MovedHints,
}

/// An argument of an exec.
pub struct ExecArgument<'e, A, R: ?Sized> {
    exec: &'e mut ExecCore<A>,
    part: fn(&mut A) -> &mut R,
}

impl<A: GraphFn, R: ?Sized> ArgumentPath for ExecArgument<'_, A, R> {
    type Target = R;

    fn part(&mut self, _: Token) -> &mut R {
        (self.part)(&mut self.exec.args)
    }

    fn core(&mut self, _: Token) -> &mut Core {
        &mut self.exec.core
    }

    fn evaluate(&mut self, statements: &[StatementId], _: Token) -> Result<Reevaluated> {
        let ExecCore { core, args, .. } = &mut *self.exec;
        let (records, unproved) = core.evaluate(&args.values(Token), statements)?;
        Ok(Reevaluated { records, unproved, hints: core.moved_hints(&|| hints_of(&**args), &[])? })
    }
}

/// A field of a record.
pub struct RecordField<'e, P: ArgumentPath, F: ?Sized> {
    record: &'e mut P,
    part: fn(&mut P::Target) -> &mut F,
}

impl<P: ArgumentPath, F: ?Sized> ArgumentPath for RecordField<'_, P, F> {
    type Target = F;

    fn part(&mut self, token: Token) -> &mut F {
        (self.part)(self.record.part(token))
    }

    fn core(&mut self, token: Token) -> &mut Core {
        self.record.core(token)
    }

    fn evaluate(&mut self, statements: &[StatementId], token: Token) -> Result<Reevaluated> {
        self.record.evaluate(statements, token)
    }
}

/// An element of a list. Invariant: the list has an element of that index.
pub struct ListElement<P> {
    list: P,
    index: usize,
}

impl<P: ArgumentPath<Target: ArgumentListMut>> ArgumentPath for ListElement<P> {
    type Target = <P::Target as ArgumentList>::Element;

    fn part(&mut self, token: Token) -> &mut Self::Target {
        &mut self.list.part(token).elements_mut()[self.index]
    }

    fn core(&mut self, token: Token) -> &mut Core {
        self.list.core(token)
    }

    fn evaluate(&mut self, statements: &[StatementId], token: Token) -> Result<Reevaluated> {
        self.list.evaluate(statements, token)
    }
}

macro_rules! debug {
    ($({$($generics:tt)*} $place:ty: $name:literal;)*) => {$(
        impl<$($generics)*> fmt::Debug for $place {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($name).finish_non_exhaustive()
            }
        }
    )*};
}
debug! {
    {A, R: ?Sized} ExecArgument<'_, A, R>: "ExecArgument";
    {P: ArgumentPath, F: ?Sized} RecordField<'_, P, F>: "RecordField";
    {P} ListElement<P>: "ListElement";
}

/// A record, a list or a buffer among the arguments of an exec, which setters change.
pub struct ArgumentMut<P> {
    place: P,
    argument: ArgumentId,
    /// The fields on the path from the argument.
    path: Vec<Text>,
    /// The index of its first buffer.
    first: u32,
    name: String,
}

impl<P> fmt::Debug for ArgumentMut<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArgumentMut").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<A: GraphFn> ExecCore<A> {
    /// Returns a part of an argument. `argument` is the argument's number, `first` the index of its first buffer.
    pub fn part<R: ?Sized>(
        &mut self,
        argument: u32,
        name: &str,
        first: u32,
        part: fn(&mut A) -> &mut R,
    ) -> ArgumentMut<ExecArgument<'_, A, R>> {
        ArgumentMut {
            place: ExecArgument { exec: self, part },
            argument: ArgumentId::from_u32(argument),
            path: Vec::new(),
            first,
            name: name.to_owned(),
        }
    }
}

impl<P: ArgumentPath<Target: ArgumentListMut>> ArgumentMut<P> {
    /// Returns an element.
    ///
    /// # Errors
    ///
    /// An index out of range.
    pub fn element(mut self, index: usize) -> Result<ArgumentMut<ListElement<P>>> {
        let elements = self.place.part(Token).elements();
        let len = elements.len();
        let Some(before) = elements.get(..index).filter(|_| index < len) else {
            let at = self.place.core(Token).at_function();
            return Err(Error::Index { at, list: self.name, index: wide(index), len });
        };
        let first = self.first + before.iter().map(Bound::count).sum::<u32>();
        let ArgumentMut { place, argument, path, name, .. } = self;
        let place = ListElement { list: place, index };
        Ok(ArgumentMut { place, argument, path, first, name: format!("{name}[{index}]") })
    }
}

impl<P: ArgumentPath<Target: ArgumentRecord>> ArgumentMut<P> {
    /// Returns a field that is a record or a list.
    pub fn field<F: ?Sized>(
        &mut self,
        number: u32,
        name: &'static str,
        part: fn(&mut P::Target) -> &mut F,
    ) -> ArgumentMut<RecordField<'_, P, F>> {
        ArgumentMut {
            argument: self.argument,
            path: self.path.iter().cloned().chain([name.into()]).collect(),
            first: self.first + self.place.part(Token).before(number, Token),
            name: format!("{}.{name}", self.name),
            place: RecordField { record: &mut self.place, part },
        }
    }

    /// Binds the record's buffer of number `field` to another buffer.
    ///
    /// # Errors
    ///
    /// The errors of [`ExecCore::set_buffer`].
    pub fn set_buffer<B: Bound>(
        &mut self,
        field: u32,
        value: B,
        part: fn(&mut P::Target) -> &mut B,
    ) -> Result<()> {
        let first = self.first + self.place.part(Token).before(field, Token);
        replace_buffers(&mut self.place, first, value, part)
    }

    /// Sets a size of the record.
    ///
    /// # Errors
    ///
    /// Those of `check`, which gets the record and its name; those of [`ArgumentMut::set_scalar`].
    pub fn set_size<T>(
        &mut self,
        field: &'static str,
        value: T,
        check: fn(&mut P::Target, &str, &T) -> Result<()>,
        part: fn(&mut P::Target) -> &mut T,
    ) -> Result<()> {
        check(self.place.part(Token), &self.name, &value)?;
        self.set_scalar(field, value, part)
    }

    /// Sets a scalar of the record.
    ///
    /// # Errors
    ///
    /// A scalar that determines a length, a bound or a choice; the errors of the statements that use it.
    pub fn set_scalar<T>(
        &mut self,
        field: &'static str,
        value: T,
        part: fn(&mut P::Target) -> &mut T,
    ) -> Result<()> {
        let core = self.place.core(Token);
        let statements = core.settable_field(self.argument, &self.path, &self.name, field)?;
        let old = std::mem::replace(part(self.place.part(Token)), value);
        // Evaluation runs the user's expressions, which may panic. `PendingField` restores the old value in that case,
        // too.
        let mut change = PendingField { place: &mut self.place, part, old: Some(old) };
        let reevaluated = change.place.evaluate(&statements, Token)?;
        let Reevaluated { records, unproved, hints } = reevaluated;
        let core = change.place.core(Token);
        core.replace_field_records(&statements, records, unproved)?;
        core.install_hints(hints);
        change.old = None;
        Ok(())
    }
}

/// Replaces the buffers of a part, starting at index `first`.
fn replace_buffers<P: ArgumentPath, B: Bound>(
    place: &mut P,
    first: u32,
    mut value: B,
    part: fn(&mut P::Target) -> &mut B,
) -> Result<()> {
    let old = place.core(Token).replace_buffers(size(first), &mut value)?;
    std::mem::swap(part(place.part(Token)), &mut value);
    place.core(Token).release(&old, value);
    Ok(())
}

/// A scalar that is being set. Restores the old value if it is dropped before completion.
struct PendingField<'e, P: ArgumentPath, T> {
    place: &'e mut P,
    part: fn(&mut P::Target) -> &mut T,
    old: Option<T>,
}

impl<P: ArgumentPath, T> Drop for PendingField<'_, P, T> {
    fn drop(&mut self) {
        if let Some(old) = self.old.take() {
            *(self.part)(self.place.part(Token)) = old;
        }
    }
}

/// An element of an array or slice of buffers that are read. `exec.weights(i)?` returns it, to bind another buffer.
#[derive(Debug)]
pub struct Element<P>(ArgumentMut<P>);

/// An element of an array or slice of buffers that are written. `exec.caches(i)?` returns it, to bind another buffer.
#[derive(Debug)]
pub struct ElementMut<P>(ArgumentMut<P>);

impl<P> Element<P> {
    #[doc(hidden)]
    pub fn new(part: ArgumentMut<P>, _: Token) -> Element<P> {
        Element(part)
    }
}

impl<P> ElementMut<P> {
    #[doc(hidden)]
    pub fn new(part: ArgumentMut<P>, _: Token) -> ElementMut<P> {
        ElementMut(part)
    }
}

impl<'a, T: 'a, P: ArgumentPath<Target = BoundShared<'a, T>>> Element<P> {
    /// Binds the element to another buffer. Only the nodes that use it are updated.
    ///
    /// # Errors
    ///
    /// A buffer that is too short or of another context; a buffer that overlaps another operand if either is
    /// written; a failure of the driver.
    pub fn set(&mut self, buffer: impl BindShared<'a, T>) -> Result<()> {
        replace_buffers(&mut self.0.place, self.0.first, buffer.bind_shared(), |bound| bound)
    }
}

impl<'a, T: 'a, P: ArgumentPath<Target = BoundExclusive<'a, T>>> ElementMut<P> {
    /// Binds the element to another buffer. Only the nodes that use it are updated.
    ///
    /// # Errors
    ///
    /// A buffer that is too short or of another context; a buffer that overlaps another operand if either is
    /// written; a failure of the driver.
    pub fn set(&mut self, buffer: impl BindMut<'a, T>) -> Result<()> {
        replace_buffers(&mut self.0.place, self.0.first, buffer.bind_mut(), |bound| bound)
    }
}
