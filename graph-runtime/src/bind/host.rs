//! Host values (`&T`) and resources (`&mut T`): arguments of library calls and host statements that are not
//! device memory.

use std::cell::{RefCell, RefMut};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A bound host value, declared as `&T` in a graph function: borrowed, or shared by an `Arc`.
pub enum Host<'a, T: ?Sized> {
    /// Borrowed for the lifetime of the graph and its exec.
    Borrowed(&'a T),
    /// Kept alive by the graph and its exec.
    Shared(Arc<T>),
}

impl<T: ?Sized> Deref for Host<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Host::Borrowed(value) => value,
            Host::Shared(value) => value,
        }
    }
}

impl<T: ?Sized> fmt::Debug for Host<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Host::Borrowed(_) => "Host::Borrowed",
            Host::Shared(_) => "Host::Shared",
        })
    }
}

/// A type that can be bound to a host value `&T`: `&T` or `Arc<T>`.
///
/// If nodes use device memory that the host value owns, pass an `Arc`. Then an exec that is forgotten keeps
/// that memory alive.
#[diagnostic::on_unimplemented(
    message = "this does not bind to a host value `&{T}`",
    label = "`{Self}` is neither `&{T}` nor `Arc<{T}>`"
)]
pub trait BindHost<'a, T: ?Sized> {
    /// Binds the value.
    #[doc(hidden)]
    fn bind_host(self) -> Host<'a, T>;
}

impl<'a, T: ?Sized> BindHost<'a, T> for &'a T {
    fn bind_host(self) -> Host<'a, T> {
        Host::Borrowed(self)
    }
}

impl<'a, T: ?Sized> BindHost<'a, T> for Arc<T> {
    fn bind_host(self) -> Host<'a, T> {
        Host::Shared(self)
    }
}

impl<'a, T: ?Sized> BindHost<'a, T> for Host<'a, T> {
    fn bind_host(self) -> Host<'a, T> {
        self
    }
}

/// A type that can be bound to a host value `&T` that a host statement or an event uses: `Arc<T>`.
///
/// The exec shares the value because a launch may still be in flight when the exec is forgotten.
#[diagnostic::on_unimplemented(
    message = "a host value that a host statement or an event keeps is passed as an `Arc<{T}>`",
    label = "this is a `{Self}`",
    note = "a launch may be in flight when its exec is forgotten, so the exec shares the value: write `Arc::new(value)`"
)]
pub trait BindKept<T: ?Sized> {
    /// Binds the value.
    #[doc(hidden)]
    fn bind_kept(self) -> Arc<T>;
}

impl<T: ?Sized> BindKept<T> for Arc<T> {
    fn bind_kept(self) -> Arc<T> {
        self
    }
}

impl<T: ?Sized> BindKept<T> for &Arc<T> {
    fn bind_kept(self) -> Arc<T> {
        self.clone()
    }
}

/// A host value that is passed to a graph function which keeps it.
#[diagnostic::on_unimplemented(
    message = "the called function keeps this host value, and the function that passes it on does not",
    label = "a `{Self}`",
    note = "declare it as `&Arc<{T}>` in the function that passes it on"
)]
pub trait PassedKept<'v, T: ?Sized> {
    /// Returns the shared value.
    fn kept(self) -> &'v Arc<T>;
}

impl<'v, T: ?Sized> PassedKept<'v, T> for &'v Arc<T> {
    fn kept(self) -> &'v Arc<T> {
        self
    }
}

/// A bound resource, declared as `&mut T` in a graph function. Library calls borrow it one after another.
pub struct Resource<'a, T: ?Sized>(RefCell<&'a mut T>);

impl<'a, T: ?Sized> Resource<'a, T> {
    /// Returns the reference.
    pub fn into_inner(self) -> &'a mut T {
        self.0.into_inner()
    }

    /// Returns a handle by which a call borrows the resource.
    #[doc(hidden)]
    pub fn lend(&self) -> ResourceHandle<'_, T> {
        ResourceHandle(&self.0)
    }
}

impl<T: ?Sized> fmt::Debug for Resource<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resource")
    }
}

/// A type that can be bound to a resource `&mut T`: only `&mut T`.
#[diagnostic::on_unimplemented(
    message = "this does not bind to a resource `&mut {T}`",
    label = "`{Self}` is not `&mut {T}`"
)]
pub trait BindResource<'a, T: ?Sized> {
    /// Binds the value.
    #[doc(hidden)]
    fn bind_resource(self) -> Resource<'a, T>;
}

impl<'a, T: ?Sized> BindResource<'a, T> for &'a mut T {
    fn bind_resource(self) -> Resource<'a, T> {
        Resource(RefCell::new(self))
    }
}

impl<'a, T: ?Sized> BindResource<'a, T> for Resource<'a, T> {
    fn bind_resource(self) -> Resource<'a, T> {
        self
    }
}

/// A handle to a resource, by which calls borrow it. Its type does not mention the lifetime of the underlying
/// reference.
pub struct ResourceHandle<'v, T: ?Sized>(&'v dyn TryBorrow<T>);

impl<'v, T: ?Sized> ResourceHandle<'v, T> {
    /// Borrows the value. `None` while it is borrowed already.
    pub fn value(self) -> Option<RefMut<'v, T>> {
        self.0.lend()
    }
}

impl<T: ?Sized> Copy for ResourceHandle<'_, T> {}

impl<T: ?Sized> Clone for ResourceHandle<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> fmt::Debug for ResourceHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResourceHandle")
    }
}

/// A value that can be borrowed through a trait object.
trait TryBorrow<T: ?Sized> {
    /// Borrows the value. `None` while it is borrowed already.
    fn lend(&self) -> Option<RefMut<'_, T>>;
}

impl<T: ?Sized> TryBorrow<T> for RefCell<&mut T> {
    fn lend(&self) -> Option<RefMut<'_, T>> {
        Some(RefMut::map(self.try_borrow_mut().ok()?, |value| &mut **value))
    }
}
