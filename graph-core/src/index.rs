//! Typed indices, and vectors that accept only their own index type.
//!
//! All conversions between integers of different widths in the core are here. The functions are always inlined: the
//! macro runs unoptimised, where each call counts.

use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops;

/// An index into lists of one kind.
pub trait Index: Copy + Ord + Hash + fmt::Debug {
    /// Makes an index from a position in a list.
    ///
    /// # Panics
    ///
    /// If the position does not fit into 32 bits. Lists that long do not fit into memory.
    fn new(index: usize) -> Self;

    /// Returns the position in a list.
    fn index(self) -> usize;
}

/// Defines index types, each a newtype of `u32`. They print as plain numbers.
macro_rules! indices {
    ($($(#[$attribute:meta])* $visibility:vis struct $name:ident;)+) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy)]
        $visibility struct $name(u32);

        #[allow(dead_code, reason = "not every kind of index is printed into tables or needs a mark of absence")]
        impl $name {
            /// Marks the absence of an index. No list is that long.
            pub const NONE: $name = $name(u32::MAX);

            /// Makes an index from a number, as generated tables contain it.
            #[inline(always)]
            #[must_use]
            pub const fn from_u32(index: u32) -> $name {
                $name(index)
            }

            /// Returns the index as a number.
            #[inline(always)]
            #[must_use]
            pub const fn as_u32(self) -> u32 {
                self.0
            }
        }

        impl $crate::index::Index for $name {
            #[inline(always)]
            fn new(index: usize) -> $name {
                $name($crate::index::narrow(index))
            }

            #[inline(always)]
            fn index(self) -> usize {
                $crate::index::size(self.0)
            }
        }

        // Without optimisation, derived comparisons would not be inlined.
        impl PartialEq for $name {
            #[inline(always)]
            fn eq(&self, other: &$name) -> bool {
                self.0 == other.0
            }
        }

        impl Eq for $name {}

        impl ::std::hash::Hash for $name {
            #[inline(always)]
            fn hash<H: ::std::hash::Hasher>(&self, state: &mut H) {
                state.write_u32(self.0);
            }
        }

        impl PartialOrd for $name {
            #[inline(always)]
            fn partial_cmp(&self, other: &$name) -> Option<::std::cmp::Ordering> {
                Some(self.cmp(other))
            }

            #[inline(always)]
            fn lt(&self, other: &$name) -> bool {
                self.0 < other.0
            }

            #[inline(always)]
            fn le(&self, other: &$name) -> bool {
                self.0 <= other.0
            }

            #[inline(always)]
            fn gt(&self, other: &$name) -> bool {
                self.0 > other.0
            }

            #[inline(always)]
            fn ge(&self, other: &$name) -> bool {
                self.0 >= other.0
            }
        }

        impl Ord for $name {
            #[inline(always)]
            fn cmp(&self, other: &$name) -> ::std::cmp::Ordering {
                self.0.cmp(&other.0)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Debug::fmt(&self.0, f)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, f)
            }
        }
    )+};
}
pub(crate) use indices;

/// Widens a length or count to 64 bits.
#[inline(always)]
#[must_use]
#[allow(clippy::as_conversions, reason = "no target has a `usize` of more than 64 bits")]
pub const fn wide(number: usize) -> u64 {
    number as u64
}

/// Widens a 32-bit number to a length or count.
#[inline(always)]
#[must_use]
#[allow(
    clippy::as_conversions,
    reason = "no target that has a CUDA driver has a `usize` of fewer than 32 bits"
)]
pub const fn size(number: u32) -> usize {
    number as usize
}

/// Narrows a length or count to 32 bits.
///
/// # Panics
///
/// If it does not fit.
#[inline(always)]
#[must_use]
#[allow(clippy::as_conversions, clippy::cast_possible_truncation, reason = "the range is checked")]
pub const fn narrow(number: usize) -> u32 {
    assert!(number <= size(u32::MAX), "an index of more than 32 bits");
    number as u32
}

/// Returns the low 32 bits of a number.
#[inline]
#[must_use]
pub const fn low(number: u64) -> u32 {
    let [a, b, c, d, ..] = number.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Returns the indices below `len`, ascending.
pub fn ids<I: Index>(len: usize) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + Clone {
    (0..len).map(I::new)
}

/// Returns the indices from `from` (inclusive) to `to` (exclusive).
pub fn between<I: Index>(from: I, to: I) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + Clone {
    (from.index()..to.index()).map(I::new)
}

/// A vector indexed only by `I`.
pub struct Vector<I, T> {
    items: Vec<T>,
    index: PhantomData<fn(I) -> I>,
}

impl<I: Index, T> Vector<I, T> {
    /// Makes an empty vector.
    #[must_use]
    pub const fn new() -> Vector<I, T> {
        Vector { items: Vec::new(), index: PhantomData }
    }

    /// Makes a vector of `len` copies of an item.
    #[must_use]
    pub fn filled(item: T, len: usize) -> Vector<I, T>
    where
        T: Clone,
    {
        vec![item; len].into()
    }

    /// Removes the last item and returns it.
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }

    /// Appends an item and returns its index.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::new(self.items.len() - 1)
    }

    /// Returns the number of items.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the indices of all items, ascending.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + Clone + use<I, T> {
        ids(self.len())
    }

    /// Returns the items in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Returns the items in order, mutably.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// Returns the items in order, each with its index.
    pub fn enumerate(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(index, item)| (I::new(index), item))
    }

    /// Returns the items in order, each with its index, mutably.
    pub fn enumerate_mut(&mut self) -> impl DoubleEndedIterator<Item = (I, &mut T)> + ExactSizeIterator {
        self.items.iter_mut().enumerate().map(|(index, item)| (I::new(index), item))
    }

    /// Returns an item. `None` if the index is out of range.
    #[must_use]
    pub fn get(&self, index: I) -> Option<&T> {
        self.items.get(index.index())
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// Makes an empty vector with capacity for `len` items.
    #[must_use]
    pub fn with_capacity(len: usize) -> Vector<I, T> {
        Vec::with_capacity(len).into()
    }

    /// Returns the index of the first item that satisfies a condition.
    pub fn position(&self, condition: impl FnMut(&T) -> bool) -> Option<I> {
        self.items.iter().position(condition).map(I::new)
    }

    /// Returns the items as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// Swaps two items.
    pub fn swap(&mut self, a: I, b: I) {
        self.items.swap(a.index(), b.index());
    }

    /// Truncates the vector to `len` items, or appends copies of `item` up to that length.
    pub fn resize(&mut self, len: usize, item: T)
    where
        T: Clone,
    {
        self.items.resize(len, item);
    }
}

impl<I: Index, T> ops::Index<I> for Vector<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: I) -> &T {
        &self.items[index.index()]
    }
}

impl<I: Index, T> ops::IndexMut<I> for Vector<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.items[index.index()]
    }
}

impl<I, T> From<Vec<T>> for Vector<I, T> {
    fn from(items: Vec<T>) -> Vector<I, T> {
        Vector { items, index: PhantomData }
    }
}

impl<I, T> From<Vector<I, T>> for Vec<T> {
    fn from(vector: Vector<I, T>) -> Vec<T> {
        vector.items
    }
}

impl<I, T> FromIterator<T> for Vector<I, T> {
    fn from_iter<A: IntoIterator<Item = T>>(items: A) -> Vector<I, T> {
        Vec::from_iter(items).into()
    }
}

impl<I, T> Extend<T> for Vector<I, T> {
    fn extend<A: IntoIterator<Item = T>>(&mut self, items: A) {
        self.items.extend(items);
    }
}

impl<I, T> IntoIterator for Vector<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> std::vec::IntoIter<T> {
        self.items.into_iter()
    }
}

impl<'v, I, T> IntoIterator for &'v Vector<I, T> {
    type Item = &'v T;
    type IntoIter = std::slice::Iter<'v, T>;

    fn into_iter(self) -> std::slice::Iter<'v, T> {
        self.items.iter()
    }
}

impl<'v, I, T> IntoIterator for &'v mut Vector<I, T> {
    type Item = &'v mut T;
    type IntoIter = std::slice::IterMut<'v, T>;

    fn into_iter(self) -> std::slice::IterMut<'v, T> {
        self.items.iter_mut()
    }
}

impl<I, T> Default for Vector<I, T> {
    fn default() -> Vector<I, T> {
        Vec::new().into()
    }
}

impl<I, T: Clone> Clone for Vector<I, T> {
    fn clone(&self) -> Vector<I, T> {
        self.items.clone().into()
    }

    fn clone_from(&mut self, source: &Vector<I, T>) {
        self.items.clone_from(&source.items);
    }
}

impl<I, T: PartialEq> PartialEq for Vector<I, T> {
    fn eq(&self, other: &Vector<I, T>) -> bool {
        self.items == other.items
    }
}

impl<I, T: Eq> Eq for Vector<I, T> {}

impl<I, T: fmt::Debug> fmt::Debug for Vector<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    indices! {
        /// An index of the test.
        struct Town;
    }

    #[test]
    fn a_vector_gives_the_indices_that_it_takes() {
        let mut people: Vector<Town, u64> = Vector::new();
        let [small, large] = [7, 9].map(|count| people.push(count));
        assert_eq!((people[small], people[large], people.len()), (7, 9, 2));
        people[small] += 1;
        assert_eq!(people.enumerate().collect::<Vec<_>>(), [(small, &8), (large, &9)]);
        assert_eq!(people.ids().rev().collect::<Vec<_>>(), [large, small]);
        assert_eq!((people.get(large), people.get(Town::NONE)), (Some(&9), None));
        assert_eq!(format!("{small} {large:?} {people:?}"), "0 1 [8, 9]");
        assert_eq!(Vec::from(people), [8, 9]);
    }

    #[test]
    fn the_largest_index_marks_absence() {
        assert_eq!(Town::new(size(u32::MAX)), Town::NONE);
        assert_eq!(Town::from_u32(5).as_u32(), 5);
    }

    #[test]
    #[should_panic(expected = "an index of more than 32 bits")]
    fn an_index_that_does_not_fit_is_never_cut() {
        let _ = Town::new(1 << 32);
    }
}
