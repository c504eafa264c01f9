//! Checks arguments against parameters by trait bounds: which parameters `&b`, `&mut b`, `atomic(&mut b)` and
//! `b` fit, with messages of our own. `T` is the element type.
//!
//! Each form of argument has a trait that the parameters which it fits implement. Parameters of other forms
//! implement the trait too, but under a bound that no type satisfies and whose message contains the advice:
//! rustc reports the innermost bound.

use std::marker::PhantomData;

/// The forms of parameter declarations.
pub mod param {
    use std::marker::PhantomData;

    macro_rules! forms {
        ($($(#[$doc:meta])* $name:ident)*) => {$(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $name<T>(PhantomData<T>);
        )*};
    }
    forms! {
        /// `&[T; len]`.
        Read
        /// `&mut [T; len]`.
        ReadWrite
        /// `&mut [MaybeUninit<T>; len]`.
        Write
        /// `&[Atomic<T>; len]`.
        Atomics
        /// `[T; len]`.
        Taken
        /// In a graph function: `&Pinned<[T; len]>`.
        Pinned
        /// In a graph function: `&mut Pinned<[T; len]>`.
        PinnedMut
        /// In a kernel's declaration: `&[Atomic<T>; len]`, a buffer that the kernel updates by atomics.
        Atomic
    }
}

use crate::bind;
use param::{Atomics, Pinned, PinnedMut, Read, ReadWrite, Taken, Write};

macro_rules! marks {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<T> {
            access: u32,
            element: PhantomData<T>,
        }

        impl<T> $name<T> {
            /// Returns the mark of a statement's access, by its index.
            pub const fn at(access: u32) -> Self {
                Self { access, element: PhantomData }
            }
        }

        impl<T> Mark for $name<T> {
            fn access(&self) -> u32 {
                self.access
            }
        }

        impl<T> OfElement for $name<T> {
            type Element = T;
        }
    )*};
}
marks! {
    /// `&b`.
    Shared;
    /// `&mut b`, if all elements are written before.
    Unique;
    /// `&mut b`, if not all elements are written before.
    Fresh;
    /// `atomic(&mut b)`.
    Atomic;
    /// `b`, if all elements are written before.
    Moved;
    /// `b`, if not all elements are written before.
    FreshMoved;
    /// `&p` of pinned memory, in a call.
    PinnedShared;
    /// `&mut p` of pinned memory, in a call.
    PinnedUnique;
}

// Written without the macro because rustc shows these lines in its messages.
impl<P: TakesShared<T>, T> Fits<P> for Shared<T> {}
impl<P: TakesShared<T>, T> FitsOptional<P> for Shared<T> {}
impl<P: TakesUnique<T>, T> Fits<P> for Unique<T> {}
impl<P: TakesUnique<T>, T> FitsOptional<P> for Unique<T> {}
impl<P: TakesFresh<T>, T> Fits<P> for Fresh<T> {}
impl<P: TakesFresh<T>, T> FitsOptional<P> for Fresh<T> {}
impl<P: TakesAtomic<T>, T> Fits<P> for Atomic<T> {}
impl<P: TakesAtomic<T>, T> FitsOptional<P> for Atomic<T> {}
impl<P: TakesMoved<T>, T> Fits<P> for Moved<T> {}
impl<P: TakesFreshMoved<T>, T> Fits<P> for FreshMoved<T> {}
impl<P: TakesPinned<T>, T> Fits<P> for PinnedShared<T> {}
impl<P: TakesPinned<T>, T> FitsOptional<P> for PinnedShared<T> {}
impl<P: TakesPinnedUnique<T>, T> Fits<P> for PinnedUnique<T> {}
impl<P: TakesPinnedUnique<T>, T> FitsOptional<P> for PinnedUnique<T> {}

impl<T> Shared<T> {
    /// Returns the mark of a statement's access to a field or element of an argument.
    pub fn of<F: BufferPart<Element = T> + ?Sized>(access: u32, _: &F) -> Self {
        Self::at(access)
    }
}

impl<T> Unique<T> {
    /// Returns the mark of a statement's access to a field or element of an argument.
    pub fn of<F: MutableBufferPart<Element = T> + ?Sized>(access: u32, _: &F) -> Self {
        Self::at(access)
    }
}

impl<T> Atomic<T> {
    /// Returns the mark of a statement's access to a field or element of an argument.
    pub fn of<F: MutableBufferPart<Element = T> + ?Sized>(access: u32, _: &F) -> Self {
        Self::at(access)
    }
}

/// A field or element of an argument that is a buffer.
#[diagnostic::on_unimplemented(
    message = "this part of an argument is not a buffer",
    label = "a buffer is needed here, and this is a `{Self}`",
    note = "buffers of a record are fields `&[T; len]` and `&mut [T; len]`, and elements of arrays and slices of them",
    note = "a scalar of a record is passed by value: `layer.d`; a nested record or a list goes to a graph \
        function as `record(layer.inner)`",
    note = "a field that may be `None` is taken apart first: `if let Some(b) = layer.bias {{ .. }} else {{ .. }}`"
)]
pub trait BufferPart {
    /// The element type.
    type Element;
}

impl<T> BufferPart for bind::BoundShared<'_, T> {
    type Element = T;
}

impl<T> BufferPart for bind::BoundExclusive<'_, T> {
    type Element = T;
}

/// A field or element of an argument that is a mutable buffer.
#[diagnostic::on_unimplemented(
    message = "CW205: this part of an argument is written, but it is not declared as `&mut [_; _]`",
    label = "a `{Self}`",
    note = "a buffer that is written is declared as `&mut [T; len]` in the record or the signature",
    note = "a scalar of a record is passed by value: `layer.d`; a nested record or a list goes to a graph \
        function as `record(layer.inner)`",
    note = "see https://docs.rs/cuweave/latest/cuweave/codes/cw205/"
)]
pub trait MutableBufferPart {
    /// The element type.
    type Element;
}

impl<T> MutableBufferPart for bind::BoundExclusive<'_, T> {
    type Element = T;
}

/// Returns the element type of a buffer in an argument.
pub fn element<F: BufferPart<Element = T> + ?Sized, T>(_: &F) -> PhantomData<T> {
    PhantomData
}

/// Returns the element type of a mutable buffer in an argument.
pub fn element_mut<F: MutableBufferPart<Element = T> + ?Sized, T>(_: &F) -> PhantomData<T> {
    PhantomData
}

/// A field or element of an argument that can be passed by `&` to a graph function.
#[diagnostic::on_unimplemented(
    message = "this part of an argument is neither a buffer nor a record nor a list of them",
    label = "a `{Self}` cannot be lent to a graph function",
    note = "a scalar of a record is passed by value: `layer.d`"
)]
pub trait PassedShared<'v> {
    /// The type of the argument.
    type Argument;

    /// Returns the argument.
    fn lent(&'v self) -> Self::Argument;
}

/// A field or element of an argument that can be passed by `&mut` to a graph function.
#[diagnostic::on_unimplemented(
    message = "CW205: this part of an argument is lent by `&mut`, but it is not declared as `&mut [_; _]`",
    label = "a `{Self}`",
    note = "a buffer that is written is declared as `&mut [T; len]` in the record or the signature; a scalar of \
        a record is passed by value: `layer.d`",
    note = "see https://docs.rs/cuweave/latest/cuweave/codes/cw205/"
)]
pub trait PassedMut<'v> {
    /// The type of the argument.
    type Argument;

    /// Returns the argument.
    fn lent_mut(&'v self) -> Self::Argument;
}

impl<'v, T> PassedShared<'v> for bind::BoundShared<'_, T> {
    type Argument = Shared<T>;

    fn lent(&'v self) -> Shared<T> {
        Shared::at(0)
    }
}

impl<'v, T> PassedShared<'v> for bind::BoundExclusive<'_, T> {
    type Argument = Shared<T>;

    fn lent(&'v self) -> Shared<T> {
        Shared::at(0)
    }
}

impl<'v, T> PassedMut<'v> for bind::BoundExclusive<'_, T> {
    type Argument = Unique<T>;

    fn lent_mut(&'v self) -> Unique<T> {
        Unique::at(0)
    }
}

macro_rules! lists {
    ($({$($generics:tt)*} $list:ty => $lent:ty;)*) => {$(
        impl<'v, L: 'v, $($generics)*> PassedShared<'v> for $list {
            type Argument = &'v $lent;

            fn lent(&'v self) -> &'v $lent {
                self
            }
        }

        impl<'v, L: 'v, $($generics)*> PassedMut<'v> for $list {
            type Argument = &'v $lent;

            fn lent_mut(&'v self) -> &'v $lent {
                self
            }
        }
    )*};
}
lists! {
    {} Vec<L> => [L];
    {const N: usize} [L; N] => [L; N];
}

impl<'v, L> PassedShared<'v> for bind::Optional<L> {
    type Argument = bind::SomeOrNone<L>;

    fn lent(&'v self) -> bind::SomeOrNone<L> {
        bind::SomeOrNone::from_bound(self)
    }
}

impl<'v, L> PassedMut<'v> for bind::Optional<L> {
    type Argument = bind::SomeOrNone<L>;

    fn lent_mut(&'v self) -> bind::SomeOrNone<L> {
        bind::SomeOrNone::from_bound(self)
    }
}

#[diagnostic::do_not_recommend]
impl<B: BufferPart> BufferPart for bind::BufferType<B> {
    type Element = B::Element;
}

#[diagnostic::do_not_recommend]
impl<B: MutableBufferPart> MutableBufferPart for bind::BufferType<B> {
    type Element = B::Element;
}

impl<B: BufferPart> PassedShared<'_> for bind::BufferType<B> {
    type Argument = Shared<B::Element>;

    fn lent(&self) -> Shared<B::Element> {
        Shared::at(0)
    }
}

impl<B: MutableBufferPart> PassedMut<'_> for bind::BufferType<B> {
    type Argument = Unique<B::Element>;

    fn lent_mut(&self) -> Unique<B::Element> {
        Unique::at(0)
    }
}

/// The binding of an optional buffer. Gives the corresponding form of parameter.
pub trait DeclaredInOption {
    /// The form without the `Option`.
    type Parameter;
}

impl<T> DeclaredInOption for bind::BoundShared<'_, T> {
    type Parameter = Read<T>;
}

impl<T> DeclaredInOption for bind::BoundExclusive<'_, T> {
    type Parameter = ReadWrite<T>;
}

/// Returns the argument of a graph function for `Some(buffer)`.
pub fn some<M: Fits<B::Parameter>, B: DeclaredInOption>(_: M) -> bind::SomeOrNone<B> {
    bind::SomeOrNone::new(true)
}

/// Returns the argument of a graph function for `&part`.
pub fn lent<'v, F: PassedShared<'v>>(part: &'v F) -> F::Argument {
    part.lent()
}

/// Returns the argument of a graph function for `&mut part`.
pub fn lent_mut<'v, F: PassedMut<'v>>(part: &'v F) -> F::Argument {
    part.lent_mut()
}

/// Compiles only if elements of the source can be copied to the target.
pub fn same<From: CopiesTo<To>, To>(_: PhantomData<From>, _: PhantomData<To>) {}

/// A buffer argument of a launch or a call.
pub trait Mark {
    /// Returns the index of its access in the statement.
    fn access(&self) -> u32;
}

/// An argument that fits the parameter `P`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit a parameter that is a buffer",
    label = "a value of type `{Self}`",
    note = "write `&b` or `&mut b` with an allocation or an argument that is a buffer"
)]
pub trait Fits<P>: Mark {}

/// A buffer argument of a launch, or `None`.
pub trait OptionalMark {
    /// The buffer.
    type Given: Mark;

    /// Returns the buffer.
    fn given(self) -> Option<Self::Given>;
}

impl<M: Mark> OptionalMark for M {
    type Given = M;

    fn given(self) -> Option<M> {
        Some(self)
    }
}

/// The buffer type of `None`. Uninhabited.
#[derive(Clone, Copy, Debug)]
pub enum NoBuffer {}

impl Mark for NoBuffer {
    fn access(&self) -> u32 {
        match *self {}
    }
}

impl OptionalMark for Option<NoBuffer> {
    type Given = NoBuffer;

    fn given(self) -> Option<NoBuffer> {
        self
    }
}

/// An argument that fits the optional parameter `P`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit a parameter that is a buffer or `None`",
    label = "a value of type `{Self}`",
    note = "write `&b` or `&mut b` with an allocation or an argument that is a buffer, `layer.bias.as_ref()` with a \
            field that is an `Option`, or `None`"
)]
pub trait FitsOptional<P>: OptionalMark {}

impl<P> FitsOptional<P> for Option<NoBuffer> {}

/// A buffer argument with a known element type. A call that is generic over the element type infers it from
/// here, even if the argument does not fit.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit a parameter that is a buffer",
    label = "a value of type `{Self}`",
    note = "write `&b` or `&mut b` with an allocation or an argument that is a buffer"
)]
pub trait OfElement {
    /// The element type.
    type Element;
}

/// An element type that equals the declared one.
#[diagnostic::on_unimplemented(
    message = "a buffer of `{Self}` does not fit a parameter that is declared with elements of type `{T}`",
    label = "elements of type `{Self}`"
)]
pub trait ElementOf<T> {}
impl<T> ElementOf<T> for T {}

/// An element type that can be copied to elements of type `T`.
#[diagnostic::on_unimplemented(
    message = "`copy` does not convert elements of type `{Self}` to elements of type `{T}`",
    label = "elements of type `{T}`, to be copied from elements of type `{Self}`",
    note = "both buffers of a `copy` have one element type; a kernel converts"
)]
pub trait CopiesTo<T> {}
impl<T> CopiesTo<T> for T {}

/// An element type of an allocation that a graph function may return as elements of type `T`.
#[diagnostic::on_unimplemented(
    message = "an allocation of `{Self}` is returned where the function declares elements of type `{T}`",
    label = "elements of type `{Self}`"
)]
pub trait LeavesAs<T> {}
impl<T> LeavesAs<T> for T {}

/// Compiles only if elements of type `From` can be copied to elements of type `To`.
pub const fn copies<From: CopiesTo<To>, To>() {}

/// An element type that a device condition can read.
#[diagnostic::on_unimplemented(
    message = "the device decides by a `u32`, `i32`, `u8` or `bool`, and this is a buffer of `{Self}`",
    label = "elements of type `{Self}`",
    note = "let a kernel write the decision into a buffer `[u32; 1]`"
)]
pub trait Decides {}
impl Decides for u32 {}
impl Decides for i32 {}
impl Decides for u8 {}
impl Decides for bool {}
impl Decides for crate::cuda::Condition {}

/// Compiles only if a device condition can read elements of this type.
pub const fn decides<T: Decides>() {}

/// Compiles only if a device condition can read this buffer of an argument.
pub fn decides_by<F: BufferPart<Element = T> + ?Sized, T: Decides>(_: &F) {}

/// A scalar of a record that an `if` or `match` of the build can use.
#[diagnostic::on_unimplemented(
    message = "this field of a record is not a scalar",
    label = "a `{Self}`",
    note = "where the device decides by a buffer, it is borrowed: `if &state.flag {{ .. }}`, `match \
        &state.index {{ .. }}`"
)]
pub trait Chosen<Value> {
    /// Returns the value.
    fn value(&self) -> Value;
}

macro_rules! chosen {
    ($($ty:ty)*) => {$(
        impl Chosen<$ty> for $ty {
            fn value(&self) -> $ty {
                *self
            }
        }
    )*};
}
chosen!(bool char u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize);

/// Returns a scalar of a record for an `if` or `match` of the build. The expected type is inferred from the
/// value, not the argument.
pub fn chosen<T: Chosen<Value>, Value>(value: &T) -> Value {
    value.value()
}

/// Compiles only if an output has the declared element type.
pub const fn leaves<Actual: LeavesAs<Declared>, Declared>() {}

macro_rules! takes {
    ($($(#[$doc:meta])* $name:ident $fitting:tt $rest:tt)*) => {$(
        $(#[$doc])*
        pub trait $name<T> {}
        takes!(@fits $name $fitting);
        takes!(@refused $name $rest);
    )*};
    (@fits $name:ident { $($parameter:ident)* }) => {$(
        impl<U, T: ElementOf<U>> $name<T> for $parameter<U> {}
    )*};
    (@refused $name:ident { $($parameter:ident: $write:ident)* }) => {$(
        impl<T, U: $write> $name<T> for $parameter<U> {}
    )*};
}
takes! {
    /// A parameter that `&b` fits.
    TakesShared { Read } {
        ReadWrite: WriteMut Write: WriteMut Atomics: WriteAtomic Taken: WriteName
        Pinned: OnlyPinned PinnedMut: OnlyPinned
    }
    /// A parameter that `&mut b` fits.
    TakesUnique { ReadWrite Write } {
        Read: WriteShared Atomics: WriteAtomic Taken: WriteName Pinned: OnlyPinned PinnedMut: OnlyPinned
    }
    /// A parameter that `&mut b` fits if not all of `b` is written before.
    TakesFresh { Write } {
        Read: Unwritten ReadWrite: Unwritten Atomics: Unwritten Taken: Unwritten
        Pinned: OnlyPinned PinnedMut: OnlyPinned
    }
    /// A parameter that `atomic(&mut b)` fits.
    TakesAtomic { Atomics } { Read: NotAtomic ReadWrite: NotAtomic Write: NotAtomic Taken: NotAtomic }
    /// A parameter that `b` fits.
    TakesMoved { Taken } {
        Read: LendShared ReadWrite: LendMut Write: LendMut Atomics: WriteAtomic
        Pinned: OnlyPinned PinnedMut: OnlyPinned
    }
    /// A parameter that `b` fits if not all of `b` is written before. No parameter does.
    TakesFreshMoved {} { Read: LendShared ReadWrite: LendMut Write: LendMut Atomics: WriteAtomic Taken: UnwrittenTaken }
    /// A parameter that `&p` of pinned memory fits.
    TakesPinned { Pinned } {
        PinnedMut: WriteMut Read: NotPinned ReadWrite: NotPinned Write: NotPinned Atomics: NotPinned Taken: NotPinned
    }
    /// A parameter that `&mut p` of pinned memory fits.
    TakesPinnedUnique { PinnedMut } {
        Pinned: WriteShared Read: NotPinned ReadWrite: NotPinned Write: NotPinned Atomics: NotPinned Taken: NotPinned
    }
}

macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident: $message:literal, $label:literal $(, $note:literal)*;)*) => {$(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(message = $message, label = $label $(, note = $note)*)]
        pub trait $name {}
    )*};
}
refusals! {
    /// `&b` for a parameter that is written.
    WriteMut: "this argument is passed by `&`, but its parameter is written", "write `&mut` in place of `&`";
    /// `&mut b` for a parameter that is only read.
    WriteShared: "this argument is passed by `&mut`, but its parameter is only read", "write `&` in place of `&mut`";
    /// `&b`, `&mut b` or `b` for a parameter that is updated by atomics.
    WriteAtomic: "the parameter of this argument is declared as `&[Atomic<{Self}>; _]`",
        "write `atomic(&mut b)` with this buffer";
    /// `atomic(&mut b)` for another parameter.
    NotAtomic: "`atomic` does not fit a parameter that is not declared as `&[Atomic<{Self}>; _]`",
        "write `&b` or `&mut b` with this buffer";
    /// `&b` or `&mut b` for a parameter that consumes the allocation.
    WriteName: "this argument is borrowed, but its parameter `[{Self}; _]` takes ownership of an allocation",
        "write the bare name of an allocation",
        "an argument of the graph function itself is handed over only if it is declared as `[{Self}; len]`";
    /// Pinned memory for a parameter that is a device buffer.
    NotPinned: "this argument is pinned host memory, and its parameter is a device buffer",
        "declare the parameter as `&Pinned<[{Self}; len]>` or `&mut Pinned<[{Self}; len]>`, or `copy` this memory";
    /// A device buffer for a parameter that is pinned memory.
    OnlyPinned: "the parameter of this argument is pinned host memory, `Pinned<[{Self}; _]>`",
        "this is a device buffer: `copy` it to or from an argument that is pinned memory";
    /// `b` for a parameter that is only read.
    LendShared: "this argument moves its allocation, but its parameter borrows it", "write `&` before it";
    /// `b` for a parameter that is written.
    LendMut: "this argument moves its allocation, but its parameter borrows it", "write `&mut` before it";
    /// A buffer with unwritten elements for a parameter that is read.
    Unwritten: "CW101: a buffer is lent to a parameter that is read before all of it is written",
        "nothing has written all elements of type `{Self}` of this buffer",
        "write all of it first, with `fill`, `copy` or another launch; or, if the kernel writes all elements before \
         it reads any, declare the parameter as `&mut [MaybeUninit<{Self}>; _]`",
        "an argument with `#[discard]` has nothing written in it, either: its contents are dropped before each launch",
        "see https://docs.rs/cuweave/latest/cuweave/codes/cw101/";
    /// `b` with unwritten elements for a parameter that consumes the allocation.
    UnwrittenTaken: "CW101: an allocation is handed over before all of it is written",
        "nothing has written all elements of type `{Self}` of this allocation",
        "a parameter declared as `[{Self}; _]` takes elements that are written; lend it to one that is declared as \
         `&mut [MaybeUninit<{Self}>; _]`",
        "see https://docs.rs/cuweave/latest/cuweave/codes/cw101/";
}

/// The element type of outputs that a graph function does not have.
#[derive(Debug)]
pub struct Nothing;

macro_rules! nothing {
    ($($output:ident)*) => {
        /// The element types of a function without outputs. Each function's own types shadow these.
        pub mod nothing {
            $(#[doc(hidden)] pub type $output = super::Nothing;)*
        }
    };
}
nothing!(__Output0 __Output1 __Output2 __Output3 __Output4 __Output5 __Output6 __Output7);

/// A graph function that returns `COUNT` allocations.
#[diagnostic::on_unimplemented(
    message = "the number of allocations that this call returns is not {COUNT}",
    label = "{COUNT} named here",
    note = "write a name or `_` for each allocation that the function returns"
)]
pub trait Returns<const COUNT: usize> {}
