//! Handle tables. Handles are keys of a table and are never dereferenced.

use std::collections::BTreeMap;

/// Objects of one type by handle. Handles of different tables are disjoint, and no handle is used twice.
pub struct Table<T> {
    next: u64,
    items: BTreeMap<u64, T>,
}

impl<T> Table<T> {
    /// Returns an empty table. `kind` distinguishes its handles from those of other tables.
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

    /// Returns the object of a handle; `None` if it does not exist.
    pub fn get(&self, handle: u64) -> Option<&T> {
        self.items.get(&handle)
    }

    /// Returns the object of a handle mutably; `None` if it does not exist.
    pub fn get_mut(&mut self, handle: u64) -> Option<&mut T> {
        self.items.get_mut(&handle)
    }

    /// Removes an object and returns it.
    pub fn remove(&mut self, handle: u64) -> Option<T> {
        self.items.remove(&handle)
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns handles and objects, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.items.iter().map(|(&handle, item)| (handle, item))
    }

    /// Returns handles and mutable objects, oldest first.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        self.items.iter_mut().map(|(&handle, item)| (handle, item))
    }
}
