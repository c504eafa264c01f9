//! The views that `args()` and `args_mut()` of an exec return: [`Lend`] converts each bound argument into a
//! view that records its uses.

use cudarc::driver::PinnedHostSlice;
use cuweave_core::index::size;

use crate::cuda::PinnedViewMut;

use super::bound::{Bound, Exclusive, ExclusivePinned, Shared, SharedPinned};
use super::lending::{Lender, LentOperand};
use super::view::{DeviceView, DeviceViewMut, Source};

/// Returns the source and the address of a buffer of the program.
fn source<'v>(lender: &Lender<'v>, buffer: u32) -> (Source<'v>, u64) {
    match lender.operands.get(size(buffer)) {
        None => (Source::Nothing, 0),
        Some(operand) => match &operand.output {
            Some(slot) => (Source::Output(slot), operand.address),
            None => (Source::Operand(LentOperand { operand, lender: *lender }), operand.address),
        },
    }
}

/// A bound argument, or an array of bound arguments, that an exec can return views of.
pub trait Lend<'v> {
    /// The type of the views.
    type View;

    /// Returns a view. `first` is the index of the argument's first buffer in the program.
    fn lend(self, lender: &Lender<'v>, first: u32) -> Self::View;
}

macro_rules! device {
    ($($source:ty: $view:ty, $method:ident;)*) => {$(
        impl<'v, T> Lend<'v> for $source {
            type View = $view;

            fn lend(self, lender: &Lender<'v>, first: u32) -> $view {
                let (source, address) = source(lender, first);
                self.$method(source, address)
            }
        }
    )*};
}
device! {
    &'v Shared<'_, T>: DeviceView<'v, T>, view_of;
    &'v Exclusive<'_, T>: DeviceView<'v, T>, view_of;
    &'v mut Shared<'_, T>: Option<DeviceViewMut<'v, T>>, view_mut_of;
    &'v mut Exclusive<'_, T>: DeviceViewMut<'v, T>, view_mut_of;
}

macro_rules! pinned {
    ($($source:ty: $view:ty, $method:ident;)*) => {$(
        impl<'v, T> Lend<'v> for $source {
            type View = $view;

            fn lend(self, _: &Lender<'v>, _: u32) -> $view {
                self.$method()
            }
        }
    )*};
}
pinned! {
    &'v SharedPinned<'_, T>: &'v PinnedHostSlice<T>, view;
    &'v ExclusivePinned<'_, T>: &'v PinnedHostSlice<T>, view;
    &'v mut SharedPinned<'_, T>: Option<PinnedViewMut<'v, T>>, view_mut;
    &'v mut ExclusivePinned<'_, T>: PinnedViewMut<'v, T>, view_mut;
}

/// Returns the index of a bound argument's first buffer, and advances `at` to the next argument.
fn next<B: Bound>(at: &mut u32, bound: &B) -> u32 {
    let first = *at;
    *at += bound.count();
    first
}

impl<'v, B: Bound, const N: usize> Lend<'v> for &'v [B; N]
where
    &'v B: Lend<'v>,
{
    type View = [<&'v B as Lend<'v>>::View; N];

    fn lend(self, lender: &Lender<'v>, mut first: u32) -> Self::View {
        self.each_ref().map(|one| one.lend(lender, next(&mut first, one)))
    }
}

impl<'v, B: Bound, const N: usize> Lend<'v> for &'v mut [B; N]
where
    &'v mut B: Lend<'v>,
{
    type View = [<&'v mut B as Lend<'v>>::View; N];

    fn lend(self, lender: &Lender<'v>, mut first: u32) -> Self::View {
        self.each_mut().map(|one| {
            let at = next(&mut first, one);
            one.lend(lender, at)
        })
    }
}

impl<'v, B: Bound> Lend<'v> for &'v Vec<B>
where
    &'v B: Lend<'v>,
{
    type View = Vec<<&'v B as Lend<'v>>::View>;

    fn lend(self, lender: &Lender<'v>, mut first: u32) -> Self::View {
        self.iter().map(|one| one.lend(lender, next(&mut first, one))).collect()
    }
}

impl<'v, B: Bound> Lend<'v> for &'v mut Vec<B>
where
    &'v mut B: Lend<'v>,
{
    type View = Vec<<&'v mut B as Lend<'v>>::View>;

    fn lend(self, lender: &Lender<'v>, mut first: u32) -> Self::View {
        let one = |one: &'v mut B| {
            let at = next(&mut first, one);
            one.lend(lender, at)
        };
        self.iter_mut().map(one).collect()
    }
}
