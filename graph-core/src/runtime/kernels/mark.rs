//! Arguments against parameters, as types: what `&b`, `&mut b` and `atomic(&mut b)` fit, said by trait bounds in
//! our words. `B` is a type named as the buffer, `K` the kernel's item, `T` the element.

use std::marker::PhantomData;

/// The forms of parameter declarations. rustc prints the types behind the aliases, which are close to the user's text.
pub mod param {
    use std::mem::MaybeUninit;

    /// `&[T; len]`.
    pub type Read<T> = &'static [T];
    /// `&mut [T; len]`.
    pub type ReadWrite<T> = &'static mut [T];
    /// `&mut [MaybeUninit<T>; len]`.
    pub type Write<T> = &'static mut [MaybeUninit<T>];
    /// `&[Atomic<T>; len]`.
    pub type Atomics<T> = &'static [Atomic<T>];

    /// In a kernel's declaration, `&[Atomic<T>; len]` is a buffer that the kernel updates by atomics.
    #[derive(Debug)]
    pub struct Atomic<T>(std::marker::PhantomData<T>);
}

macro_rules! marks {
    ($($(#[$doc:meta])* $name:ident: $takes:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<B, T> {
            access: u32,
            buffer: PhantomData<(B, T)>,
        }

        impl<B, T> $name<B, T> {
            /// Returns the mark of the statement's access with that index.
            pub const fn at(access: u32) -> Self {
                Self { access, buffer: PhantomData }
            }
        }

        impl<B, T> Mark for $name<B, T> {
            fn access(&self) -> u32 {
                self.access
            }
        }

        impl<P: $takes<T, B, K>, K, B, T> Fits<P, K> for $name<B, T> {}
    )*};
}
marks! {
    /// `&b`.
    Shared: TakesShared;
    /// `&mut b`, of elements that are all written.
    Unique: TakesUnique;
    /// `&mut b`, of elements that are not all written.
    Fresh: TakesFresh;
    /// `atomic(&mut b)`.
    Atomic: TakesAtomic;
    /// `b`, which a graph function takes over.
    Moved: TakesMoved;
    /// `b`, which a graph function takes over, and whose elements are not all written.
    MovedFresh: TakesMoved;
}

/// A buffer argument of a launch.
pub trait Mark {
    /// Returns the index of its access in the statement.
    fn access(&self) -> u32;
}

/// An argument that fits the parameter `P` of the kernel `K`.
pub trait Fits<P, K>: Mark {}

/// A parameter that `&b` fits.
#[diagnostic::on_unimplemented(
    message = "`&{B}` does not fit this parameter of the kernel `{K}`",
    label = "elements of type `{T}`, borrowed shared, for a parameter declared as `{Self}`",
    note = "`&b` fits `&[T; _]`, `&mut b` fits `&mut [T; _]` and `&mut [MaybeUninit<T>; _]`, and `atomic(&mut b)` fits `&[Atomic<T>; _]`"
)]
pub trait TakesShared<T, B, K> {}
impl<T: 'static, B, K> TakesShared<T, B, K> for param::Read<T> {}

/// A parameter that `&mut b` fits.
#[diagnostic::on_unimplemented(
    message = "`&mut {B}` does not fit this parameter of the kernel `{K}`",
    label = "elements of type `{T}`, borrowed mutably, for a parameter declared as `{Self}`",
    note = "`&b` fits `&[T; _]`, `&mut b` fits `&mut [T; _]` and `&mut [MaybeUninit<T>; _]`, and `atomic(&mut b)` fits `&[Atomic<T>; _]`"
)]
pub trait TakesUnique<T, B, K> {}
impl<T: 'static, B, K> TakesUnique<T, B, K> for param::ReadWrite<T> {}
impl<T: 'static, B, K> TakesUnique<T, B, K> for param::Write<T> {}

/// A parameter that `&mut b` fits where b is not all written.
#[diagnostic::on_unimplemented(
    message = "CW101: `{B}` is given to the kernel `{K}` before it is written",
    label = "`{B}`, elements of type `{T}`, not all written here, for a parameter declared as `{Self}`",
    note = "only a parameter declared as `&mut [MaybeUninit<T>; _]` takes elements that nothing has written"
)]
pub trait TakesFresh<T, B, K> {}
impl<T: 'static, B, K> TakesFresh<T, B, K> for param::Write<T> {}

/// A parameter that `atomic(&mut b)` fits.
#[diagnostic::on_unimplemented(
    message = "`atomic(&mut {B})` does not fit this parameter of the kernel `{K}`",
    label = "elements of type `{T}`, updated by atomics, for a parameter declared as `{Self}`",
    note = "`&b` fits `&[T; _]`, `&mut b` fits `&mut [T; _]` and `&mut [MaybeUninit<T>; _]`, and `atomic(&mut b)` fits `&[Atomic<T>; _]`"
)]
pub trait TakesAtomic<T, B, K> {}
impl<T: 'static, B, K> TakesAtomic<T, B, K> for param::Atomics<T> {}

/// A parameter by reference, given the bare name of an allocation. None takes it.
#[diagnostic::on_unimplemented(
    message = "`{B}` is handed over to `{K}`, but this parameter borrows",
    label = "the bare name of an allocation of `{T}`, for a parameter declared as `{Self}`",
    note = "write `&{B}` or `&mut {B}` to lend it; a bare name goes to a parameter declared as `[T; _]`"
)]
pub trait TakesMoved<T, B, K> {}

/// An argument for the parameter `[T; len]` of the graph function `K`, which takes an allocation over.
#[diagnostic::on_unimplemented(
    message = "this parameter of `{K}` takes an allocation of `{T}` over",
    label = "not the bare name of an allocation of `{T}`",
    note = "write `b` to hand the allocation `b` over; `&b` and `&mut b` lend it"
)]
pub trait TakenOver<T, K>: Mark {}
impl<B, T, K> TakenOver<T, K> for Moved<B, T> {}
impl<B: WrittenFor<K>, T, K> TakenOver<T, K> for MovedFresh<B, T> {}

/// A buffer that is all written where the graph function `K` takes it over. Stands for the proof of the macro, which finds none.
#[diagnostic::on_unimplemented(
    message = "CW101: `{Self}` is handed over to `{K}` before it is written",
    label = "not all of `{Self}` is written here",
    note = "a parameter declared as `[T; _]` takes elements that are written; lend it to one declared as `&mut [MaybeUninit<T>; _]`"
)]
pub trait WrittenFor<K> {}

/// The element type of an output that a graph function does not have.
#[derive(Debug)]
pub struct Nothing;

macro_rules! nothing {
    ($($output:ident)*) => {
        /// The element types of the outputs of a function that has none. Each function's own stand in front of these.
        pub mod nothing {
            $(#[doc(hidden)] pub type $output = super::Nothing;)*
        }
    };
}
nothing!(__Output0 __Output1 __Output2 __Output3 __Output4 __Output5 __Output6 __Output7);

/// A graph function that returns `COUNT` allocations.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not return the allocations that this `let` names: their number is not {COUNT}",
    label = "another number of allocations"
)]
pub trait Returns<const COUNT: usize> {}

/// Holds the number of names that a `let` gives to the allocations of a call against the callee.
pub const fn returns<F: Returns<COUNT>, const COUNT: usize>() {}
