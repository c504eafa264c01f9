//! Types that rust-analyzer shows in graph functions. No program makes a value of them.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A buffer in device memory, or a part of one.
#[derive(Debug)]
pub struct DeviceBuffer<T>(PhantomData<T>, Infallible);

impl<T> DeviceBuffer<T> {
    /// Splits a buffer into two disjoint views.
    pub fn split_at_mut<N>(&mut self, _elements: N) -> (&mut DeviceBuffer<T>, &mut DeviceBuffer<T>) {
        match self.1 {}
    }
}

impl<T, R> Index<R> for DeviceBuffer<T> {
    type Output = DeviceBuffer<T>;

    fn index(&self, _range: R) -> &DeviceBuffer<T> {
        self
    }
}

impl<T, R> IndexMut<R> for DeviceBuffer<T> {
    fn index_mut(&mut self, _range: R) -> &mut DeviceBuffer<T> {
        self
    }
}

/// A list of buffers or of records.
#[derive(Debug)]
pub struct List<T>(Vec<T>);

#[allow(clippy::len_without_is_empty)]
impl<T> List<T> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the elements, for `for`.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }
}

impl<T, N: Into<u64>> Index<N> for List<T> {
    type Output = T;

    fn index(&self, element: N) -> &T {
        &self.0[element.into() as usize]
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type IntoIter = std::slice::Iter<'a, T>;
    type Item = &'a T;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a &List<T> {
    type IntoIter = std::slice::Iter<'a, T>;
    type Item = &'a T;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Returns the result of a call.
pub fn returned<T>() -> DeviceBuffer<T> {
    unreachable!("rust-analyzer runs nothing")
}
