//! Records and lists of arguments: how they describe their buffers to the build, and the traits by which
//! generated code accesses these buffers.

use std::any::TypeId;

use cuweave_core::expand::{ArgumentDescription, BufferDescription};
use cuweave_core::index::narrow;
use cuweave_core::ir::{Origin, Text};

use crate::error::{Error, Fault, Quantity, Result, SourceLocation};
use crate::token::Token;

use super::bound::{Bound, BoundExclusive, BoundShared};
use super::optional::Optional;

/// A record of arguments: a `struct` with the attribute `#[cuweave::arguments]`. Nothing else can implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a record of arguments",
    note = "a type with a lifetime is a record here: its `struct` has the attribute `#[cuweave::arguments]`",
    note = "a type without a lifetime, passed by value, is a scalar"
)]
pub trait ArgumentRecord: Bound {
    /// Describes the record's fields and the lengths of its buffers. `name` is the name of the record.
    ///
    /// # Errors
    ///
    /// A length without a value.
    fn describe(&self, name: &str, token: Token) -> Result<ArgumentDescription>;

    /// Returns the number of the record's buffers before a field.
    fn before(&self, field: u32, token: Token) -> u32;
}

/// A list of records or buffers, over which a loop can iterate.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a slice or an array of buffers or records",
    label = "a loop runs over slices and arrays of buffers or records, or over a range of integers"
)]
pub trait ArgumentList {
    /// The type of an element.
    type Element: Bound;

    /// Returns the elements.
    fn elements(&self) -> &[Self::Element];
}

/// A list whose elements have setters.
pub trait ArgumentListMut: ArgumentList {
    /// Returns the elements mutably.
    fn elements_mut(&mut self) -> &mut [Self::Element];
}

macro_rules! lists {
    ($({$($generics:tt)*} $list:ty;)*) => {$(
        impl<B: Bound, $($generics)*> ArgumentList for $list {
            type Element = B;

            fn elements(&self) -> &[B] {
                self
            }
        }

        impl<B: Bound, $($generics)*> ArgumentListMut for $list {
            fn elements_mut(&mut self) -> &mut [B] {
                self
            }
        }
    )*};
}
lists! {
    {} Vec<B>;
    {} Optional<B>;
    {} [B];
    {const N: usize} [B; N];
}

impl<L: ArgumentList + ?Sized> ArgumentList for &L {
    type Element = L::Element;

    fn elements(&self) -> &[L::Element] {
        (**self).elements()
    }
}

/// Returns the number of elements of a list.
pub fn count<L: ArgumentList + ?Sized>(list: &L) -> usize {
    list.elements().len()
}

/// A field that is declared as a buffer: `&[T; len]` or `&mut [T; len]`.
pub trait DeclaredBuffer: Bound {
    /// The element type.
    type Element: 'static;
    /// True if the graph may write the buffer.
    const MUTABLE: bool;
}

impl<T: 'static> DeclaredBuffer for BoundShared<'_, T> {
    type Element = T;
    const MUTABLE: bool = false;
}

impl<T: 'static> DeclaredBuffer for BoundExclusive<'_, T> {
    type Element = T;
    const MUTABLE: bool = true;
}

/// The declaration of a record's buffer, or of a list of buffers.
#[derive(Clone, Copy, Debug)]
pub struct BufferDeclaration<'d> {
    /// The file of the record.
    pub file: &'static str,
    /// The line of the field.
    pub line: u32,
    /// The source text of the length.
    pub text: &'static str,
    /// The name of the record.
    pub of: &'d str,
    /// The name of the field.
    pub field: &'static str,
}

impl BufferDeclaration<'_> {
    /// Describes a buffer.
    ///
    /// # Errors
    ///
    /// A length without a value.
    pub fn buffer<B: DeclaredBuffer>(
        &self,
        bound: &B,
        len: std::result::Result<u64, Fault>,
    ) -> Result<ArgumentDescription> {
        self.named(bound, len, format!("{}.{}", self.of, self.field))
    }

    /// Describes a list of buffers.
    ///
    /// # Errors
    ///
    /// A length without a value.
    pub fn buffers<B: DeclaredBuffer>(
        &self,
        list: &[B],
        len: std::result::Result<u64, Fault>,
    ) -> Result<ArgumentDescription> {
        let name = |at: usize| format!("{}.{}[{at}]", self.of, self.field);
        let one = |(at, bound)| self.named(bound, len, name(at));
        list.iter().enumerate().map(one).collect::<Result<_>>().map(ArgumentDescription::List)
    }

    fn named<B: DeclaredBuffer>(
        &self,
        _: &B,
        len: std::result::Result<u64, Fault>,
        name: String,
    ) -> Result<ArgumentDescription> {
        let file = cuweave_core::ir::Text::Borrowed(self.file);
        let len = len.map_err(|fault| {
            let at = SourceLocation::new(name.clone(), self.file, self.line);
            Error::Size { what: Quantity::Length, at: Box::new(at), text: self.text.to_owned(), fault }
        })?;
        Ok(ArgumentDescription::Buffer(Box::new(BufferDescription {
            name,
            file,
            line: self.line,
            origin: Origin::Device { mutable: B::MUTABLE },
            len,
            text: Text::Borrowed(self.text),
            layout: (narrow(size_of::<B::Element>()), narrow(align_of::<B::Element>())),
            element: TypeId::of::<B::Element>(),
        })))
    }
}

/// The declaration of a size among a record's scalars.
#[derive(Clone, Copy, Debug)]
pub struct SizeDeclaration<'d> {
    /// The file of the record.
    pub file: &'static str,
    /// The line of the field.
    pub line: u32,
    /// The source text of the largest value.
    pub text: &'static str,
    /// The name of the record.
    pub of: &'d str,
    /// The name of the field.
    pub field: &'static str,
    /// The smallest value.
    pub least: u64,
}

impl SizeDeclaration<'_> {
    /// Checks a value, which is `None` if it is negative.
    ///
    /// # Errors
    ///
    /// A value out of the range; a largest value that cannot be computed.
    pub fn check(&self, value: Option<u64>, most: std::result::Result<u64, Fault>) -> Result<()> {
        let SizeDeclaration { file, line, text, of, field, least } = *self;
        let at = Box::new(SourceLocation::new(format!("{of}.{field}"), file, line));
        let most = match most {
            Ok(most) => most,
            Err(fault) => {
                return Err(Error::Size { what: Quantity::OuterBound, at, text: text.to_owned(), fault });
            }
        };
        match value {
            Some(value) if (least..=most).contains(&value) => Ok(()),
            other => Err(Error::size_out_of_range(at, text, least..=most, other.unwrap_or(0))),
        }
    }
}

/// Describes a list of records.
///
/// # Errors
///
/// A length without a value.
pub fn describe_records<R: ArgumentRecord>(list: &[R], name: &str) -> Result<ArgumentDescription> {
    let one = |(at, record): (usize, &R)| record.describe(&format!("{name}[{at}]"), Token);
    list.iter().enumerate().map(one).collect::<Result<_>>().map(ArgumentDescription::List)
}
