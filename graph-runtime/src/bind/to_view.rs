//! The views that `args()` and `args_mut()` of an exec return: [`Lend`] converts each bound argument into a
//! view that records its uses.

use cudarc::driver::PinnedHostSlice;
use cuweave_core::index::size;

use crate::cuda::PinnedViewMut;

use super::bound::{Bound, BoundExclusive, BoundExclusivePinned, BoundShared, BoundSharedPinned};
use super::view::{DeviceView, DeviceViewMut, ViewMemory};
use super::view_order::{ViewContext, ViewedOperand};

/// Returns the source and the address of a buffer of the program.
fn source<'v>(view_context: &ViewContext<'v>, buffer: u32) -> (ViewMemory<'v>, u64) {
    match view_context.operands.get(size(buffer)) {
        None => (ViewMemory::Nothing, 0),
        Some(operand) => match &operand.output {
            Some(slot) => (ViewMemory::Output(slot), operand.address),
            None => {
                (ViewMemory::Operand(ViewedOperand { operand, view_context: *view_context }), operand.address)
            }
        },
    }
}

/// A bound argument, or an array of bound arguments, that an exec can return views of.
pub trait ToView<'v> {
    /// The type of the views.
    type View;

    /// Returns a view. `first` is the index of the argument's first buffer in the program.
    fn to_view(self, view_context: &ViewContext<'v>, first: u32) -> Self::View;
}

macro_rules! device {
    ($($source:ty: $view:ty, $method:ident;)*) => {$(
        impl<'v, T> ToView<'v> for $source {
            type View = $view;

            fn to_view(self, view_context: &ViewContext<'v>, first: u32) -> $view {
                let (source, address) = source(view_context, first);
                self.$method(source, address)
            }
        }
    )*};
}
device! {
    &'v BoundShared<'_, T>: DeviceView<'v, T>, view_of;
    &'v BoundExclusive<'_, T>: DeviceView<'v, T>, view_of;
    &'v mut BoundShared<'_, T>: Option<DeviceViewMut<'v, T>>, view_mut_of;
    &'v mut BoundExclusive<'_, T>: DeviceViewMut<'v, T>, view_mut_of;
}

macro_rules! pinned {
    ($($source:ty: $view:ty, $method:ident;)*) => {$(
        impl<'v, T> ToView<'v> for $source {
            type View = $view;

            fn to_view(self, _: &ViewContext<'v>, _: u32) -> $view {
                self.$method()
            }
        }
    )*};
}
pinned! {
    &'v BoundSharedPinned<'_, T>: &'v PinnedHostSlice<T>, view;
    &'v BoundExclusivePinned<'_, T>: &'v PinnedHostSlice<T>, view;
    &'v mut BoundSharedPinned<'_, T>: Option<PinnedViewMut<'v, T>>, view_mut;
    &'v mut BoundExclusivePinned<'_, T>: PinnedViewMut<'v, T>, view_mut;
}

/// Returns the index of a bound argument's first buffer, and advances `at` to the next argument.
fn next<B: Bound>(at: &mut u32, bound: &B) -> u32 {
    let first = *at;
    *at += bound.count();
    first
}

impl<'v, B: Bound, const N: usize> ToView<'v> for &'v [B; N]
where
    &'v B: ToView<'v>,
{
    type View = [<&'v B as ToView<'v>>::View; N];

    fn to_view(self, view_context: &ViewContext<'v>, mut first: u32) -> Self::View {
        self.each_ref().map(|one| one.to_view(view_context, next(&mut first, one)))
    }
}

impl<'v, B: Bound, const N: usize> ToView<'v> for &'v mut [B; N]
where
    &'v mut B: ToView<'v>,
{
    type View = [<&'v mut B as ToView<'v>>::View; N];

    fn to_view(self, view_context: &ViewContext<'v>, mut first: u32) -> Self::View {
        self.each_mut().map(|one| {
            let at = next(&mut first, one);
            one.to_view(view_context, at)
        })
    }
}

impl<'v, B: Bound> ToView<'v> for &'v Vec<B>
where
    &'v B: ToView<'v>,
{
    type View = Vec<<&'v B as ToView<'v>>::View>;

    fn to_view(self, view_context: &ViewContext<'v>, mut first: u32) -> Self::View {
        self.iter().map(|one| one.to_view(view_context, next(&mut first, one))).collect()
    }
}

impl<'v, B: Bound> ToView<'v> for &'v mut Vec<B>
where
    &'v mut B: ToView<'v>,
{
    type View = Vec<<&'v mut B as ToView<'v>>::View>;

    fn to_view(self, view_context: &ViewContext<'v>, mut first: u32) -> Self::View {
        let one = |one: &'v mut B| {
            let at = next(&mut first, one);
            one.to_view(view_context, at)
        };
        self.iter_mut().map(one).collect()
    }
}
