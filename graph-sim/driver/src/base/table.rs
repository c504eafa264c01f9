//! Handle tables: handles are looked up and never followed.

use std::collections::BTreeMap;

/// Objects of one kind by handle. Handles of different kinds are disjoint, and none is used twice.
pub struct Table<T> {
    next: u64,
    items: BTreeMap<u64, T>,
}

impl<T> Table<T> {
    /// An empty table; `kind` tells its handles from those of the other tables.
    pub const fn new(kind: u64) -> Self {
        Table { next: 0x5000_0000_0000 + (kind << 40) + 0x10, items: BTreeMap::new() }
    }

    /// Inserts an object and returns its handle.
    pub fn insert(&mut self, item: T) -> u64 {
        let handle = self.next;
        self.next += 0x10;
        self.items.insert(handle, item);
        handle
    }

    /// The object of a handle, if it lives.
    pub fn get(&self, handle: u64) -> Option<&T> {
        self.items.get(&handle)
    }

    /// The object of a handle, if it lives.
    pub fn get_mut(&mut self, handle: u64) -> Option<&mut T> {
        self.items.get_mut(&handle)
    }

    /// Removes an object.
    pub fn remove(&mut self, handle: u64) -> Option<T> {
        self.items.remove(&handle)
    }

    /// The number of live objects.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Handles and objects, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.items.iter().map(|(&handle, item)| (handle, item))
    }

    /// Handles and objects, oldest first.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        self.items.iter_mut().map(|(&handle, item)| (handle, item))
    }
}
