//! Setters of what lies in records and lists of arguments: `exec.layers(3)?.set_q(..)`.

use std::fmt;

use crate::ids::ArgumentId;
use crate::index::size;
use crate::ir::{StatementId, Text};

use crate::runtime::bind::{BindMut, BindShared, Bound, Exclusive, ListMut, Record, Shared};
use crate::runtime::build::Open;
use crate::runtime::error::{At, Error, Result};
use crate::runtime::kernels;
use crate::runtime::token::Token;

use super::core::Core;
use super::graph::{ExecCore, GraphFn};

/// A record with setters. `#[cuweave::arguments]` implements it, and nothing else can.
pub trait Settable: Record + Sized {
    /// The type that has the setters.
    type Setters<'e>
    where
        Self: 'e;

    /// Returns the setters of a record of an exec.
    fn setters<'e>(part: PartMut<'e, Self>, token: Token) -> Self::Setters<'e>;
}

/// The way from an exec to a part of its arguments.
trait Place<R: ?Sized> {
    fn part(&mut self) -> &mut R;
    fn core(&mut self) -> &mut Core;
    fn evaluate(&mut self, statements: &[StatementId]) -> Result<(Vec<kernels::Record>, Open)>;
}

/// A part of the arguments of an exec.
struct OfExec<'e, A, F> {
    exec: &'e mut ExecCore<A>,
    part: F,
}

impl<A: GraphFn, R: ?Sized, F: FnMut(&mut A) -> &mut R> Place<R> for OfExec<'_, A, F> {
    fn part(&mut self) -> &mut R {
        (self.part)(&mut self.exec.args)
    }

    fn core(&mut self) -> &mut Core {
        &mut self.exec.core
    }

    fn evaluate(&mut self, statements: &[StatementId]) -> Result<(Vec<kernels::Record>, Open)> {
        self.exec.evaluate(statements)
    }
}

/// A part of a part.
struct OfPart<'e, R: ?Sized, F> {
    whole: &'e mut dyn Place<R>,
    part: F,
}

impl<R: ?Sized, P: ?Sized, F: FnMut(&mut R) -> &mut P> Place<P> for OfPart<'_, R, F> {
    fn part(&mut self) -> &mut P {
        (self.part)(self.whole.part())
    }

    fn core(&mut self) -> &mut Core {
        self.whole.core()
    }

    fn evaluate(&mut self, statements: &[StatementId]) -> Result<(Vec<kernels::Record>, Open)> {
        self.whole.evaluate(statements)
    }
}

/// A record, a list or a buffer among the arguments of an exec, which setters change.
pub struct PartMut<'e, R: ?Sized> {
    place: Box<dyn Place<R> + 'e>,
    argument: ArgumentId,
    /// The fields on the way from the argument.
    path: Vec<Text>,
    /// The first of its buffers, and its name.
    first: u32,
    name: String,
}

impl<R: ?Sized> fmt::Debug for PartMut<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartMut").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<A: GraphFn> ExecCore<A> {
    /// Returns a part of an argument; `argument` is its number, `first` that of its first buffer.
    pub fn part<'e, R: ?Sized + 'e>(
        &'e mut self,
        (argument, name): (u32, &str),
        first: u32,
        part: impl FnMut(&mut A) -> &mut R + 'e,
    ) -> PartMut<'e, R>
    where
        A: 'e,
    {
        PartMut {
            place: Box::new(OfExec { exec: self, part }),
            argument: ArgumentId::from_u32(argument),
            path: Vec::new(),
            first,
            name: name.to_owned(),
        }
    }
}

impl<'e, L: ListMut + ?Sized> PartMut<'e, L> {
    /// Returns an element.
    ///
    /// # Errors
    ///
    /// An index that is not below the length.
    pub fn element(mut self, index: usize) -> Result<PartMut<'e, L::Element>>
    where
        L: 'e,
    {
        let elements = self.place.part().elements();
        let len = elements.len();
        let Some(before) = elements.get(..index).filter(|_| index < len) else {
            let at = self.at();
            return Err(Error::Index { at, list: self.name, index: index as u64, len });
        };
        let first = self.first + before.iter().map(Bound::count).sum::<u32>();
        let PartMut { place, argument, path, name, .. } = self;
        let part = OfList { list: place, index };
        Ok(PartMut { place: Box::new(part), argument, path, first, name: format!("{name}[{index}]") })
    }
}

/// An element of a list, which has one of that index.
struct OfList<'e, L: ?Sized> {
    list: Box<dyn Place<L> + 'e>,
    index: usize,
}

impl<L: ListMut + ?Sized> Place<L::Element> for OfList<'_, L> {
    fn part(&mut self) -> &mut L::Element {
        &mut self.list.part().elements_mut()[self.index]
    }

    fn core(&mut self) -> &mut Core {
        self.list.core()
    }

    fn evaluate(&mut self, statements: &[StatementId]) -> Result<(Vec<kernels::Record>, Open)> {
        self.list.evaluate(statements)
    }
}

impl<R: Record> PartMut<'_, R> {
    /// Returns a field that is a record or a list.
    pub fn field<'s, P: ?Sized + 's>(
        &'s mut self,
        (number, name): (u32, &'static str),
        part: impl FnMut(&mut R) -> &mut P + 's,
    ) -> PartMut<'s, P> {
        let first = self.first + self.place.part().before(number, Token);
        let path = self.path.iter().cloned().chain([name.into()]).collect();
        PartMut {
            argument: self.argument,
            path,
            first,
            name: format!("{}.{name}", self.name),
            place: Box::new(OfPart { whole: &mut *self.place, part }),
        }
    }

    /// Binds a buffer of the record anew; `field` is its number.
    ///
    /// # Errors
    ///
    /// Those of [`ExecCore::set_buffer`].
    pub fn set_buffer<B: Bound>(
        &mut self,
        field: u32,
        value: B,
        part: impl FnOnce(&mut R) -> &mut B,
    ) -> Result<()> {
        let first = self.first + self.place.part().before(field, Token);
        bind_anew(&mut *self.place, first, value, part)
    }

    /// Sets a scalar of the record.
    ///
    /// # Errors
    ///
    /// A scalar that reaches a length, a bound or a choice; those of the statements that use it.
    pub fn set_scalar<T>(
        &mut self,
        field: &'static str,
        value: T,
        part: impl Fn(&mut R) -> &mut T,
    ) -> Result<()> {
        let path: Vec<Text> = self.path.iter().cloned().chain([field.into()]).collect();
        let flat = self.place.core().definition.flat.clone();
        self.place.core().changeable()?;
        let Some(scalar) = flat.field(self.argument, &path) else {
            return Err(Error::Plan(format!("`{}` has no scalar `{field}`", self.name)));
        };
        if scalar.dims {
            let mut at = self.at();
            at.name = format!("{}.{field}", self.name);
            let reason = "reaches a length, a bound or a choice, and cannot be set".to_owned();
            return Err(Error::BuildAgain { at, reason });
        }
        let old = std::mem::replace(part(self.place.part()), value);
        // Evaluating runs the user's expressions, which may panic: then the old value is put back, too.
        let mut change = Change { place: &mut *self.place, part, old: Some(old) };
        let (records, open) = change.place.evaluate(&scalar.statements)?;
        let core = change.place.core();
        core.exchange(&scalar.statements, records)?;
        core.nodes.note_open(&scalar.statements, open);
        change.old = None;
        Ok(())
    }
}

impl<R: ?Sized> PartMut<'_, R> {
    /// Returns the place of the graph function, under the name of the part.
    fn at(&mut self) -> Box<At> {
        let program = self.place.core().definition.program();
        let line = program.statements.iter().next().map_or(0, |statement| statement.line);
        Box::new(At { name: program.name.to_string(), file: program.file.to_string(), line })
    }
}

/// Binds buffers anew, from the buffer `first` on.
fn bind_anew<R: ?Sized, B: Bound>(
    place: &mut dyn Place<R>,
    first: u32,
    mut value: B,
    part: impl FnOnce(&mut R) -> &mut B,
) -> Result<()> {
    let old = place.core().bind_anew(size(first), &mut value)?;
    std::mem::swap(part(place.part()), &mut value);
    place.core().release(&old, value);
    Ok(())
}

/// A scalar that is being set. Dropped before it is complete, it puts the old value back.
struct Change<'e, R, T, P: Fn(&mut R) -> &mut T> {
    place: &'e mut dyn Place<R>,
    part: P,
    old: Option<T>,
}

impl<R, T, P: Fn(&mut R) -> &mut T> Drop for Change<'_, R, T, P> {
    fn drop(&mut self) {
        if let Some(old) = self.old.take() {
            *(self.part)(self.place.part()) = old;
        }
    }
}

/// An element of an array or a slice of buffers, to be bound anew: what `exec.caches(i)?` returns.
#[derive(Debug)]
pub struct Element<'e, B>(PartMut<'e, B>);

impl<'e, B> Element<'e, B> {
    /// Returns the setter of a buffer in a list.
    pub fn new(part: PartMut<'e, B>, _: Token) -> Element<'e, B> {
        Element(part)
    }
}

impl<'a, T> Element<'_, Shared<'a, T>> {
    /// Binds the element anew: only the nodes that use it are updated.
    ///
    /// # Errors
    ///
    /// A buffer that is too short, of another context, or that overlaps another of which one is written; a failure of the
    /// driver.
    pub fn set(&mut self, buffer: impl BindShared<'a, T>) -> Result<()> {
        bind_anew(&mut *self.0.place, self.0.first, buffer.bind_shared(), |bound| bound)
    }
}

impl<'a, T> Element<'_, Exclusive<'a, T>> {
    /// Binds the element anew: only the nodes that use it are updated.
    ///
    /// # Errors
    ///
    /// A buffer that is too short, of another context, or that overlaps another of which one is written; a failure of the
    /// driver.
    pub fn set(&mut self, buffer: impl BindMut<'a, T>) -> Result<()> {
        bind_anew(&mut *self.0.place, self.0.first, buffer.bind_mut(), |bound| bound)
    }
}
