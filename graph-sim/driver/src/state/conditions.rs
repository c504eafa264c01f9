//! Conditions: the values that conditional nodes test, and that kernels set with `cudaGraphSetConditional`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes that a condition counts as in the checks of accesses, which find it at the address that its handle is.
pub const BYTES: u64 = 4;

/// Marks a value that was set in the launch that runs.
const SET: u64 = 1 << 32;

/// A conditional handle of a graph.
pub struct Handle {
    /// The graph that it was made for.
    pub graph: u64,
    /// The context of the kernels that may set it.
    pub context: u64,
    /// Its value at the begin of each launch.
    pub default: u32,
    /// True if the default applies.
    pub assigns: bool,
    /// The conditional node that tests it.
    pub node: Option<u64>,
}

/// The condition of a conditional node of an instance.
pub struct Condition {
    /// Its value at the begin of each launch.
    default: u32,
    /// True if the default applies.
    assigns: bool,
    /// The context of the kernels that may set it.
    pub context: u64,
    /// The place of its node in the instance.
    pub node: usize,
    /// The value, and [`SET`].
    value: AtomicU64,
}

impl Condition {
    pub fn set(&self, value: u32) {
        self.value.store(u64::from(value) | SET, Ordering::SeqCst);
    }

    /// Returns the value, and true if this launch has set it. A value that it has not set is that of an earlier launch.
    pub fn get(&self) -> (u32, bool) {
        let value = self.value.load(Ordering::SeqCst);
        (value as u32, value & SET != 0)
    }
}

/// The conditions of an instance.
#[derive(Default)]
pub struct Conditions {
    /// In the order of their nodes.
    list: Vec<Condition>,
    /// The places of handles in the list. After an update from another graph a condition has the handles of both.
    handles: BTreeMap<u64, usize>,
}

impl Conditions {
    /// Adds the condition of a node.
    pub fn add(&mut self, number: u64, handle: &Handle, node: usize) {
        let &Handle { context, default, assigns, .. } = handle;
        self.handles.insert(number, self.list.len());
        self.list.push(Condition { default, assigns, context, node, value: AtomicU64::new(default.into()) });
    }

    /// Returns the condition of a handle.
    pub fn get(&self, handle: u64) -> Option<&Condition> {
        self.list.get(*self.handles.get(&handle)?)
    }

    /// Returns the condition at an address of the checks.
    pub fn at(&self, address: u64) -> Option<&Condition> {
        let (&handle, _) = self.handles.range(..=address).next_back()?;
        self.get(handle).filter(|_| address < handle + BYTES)
    }

    /// Begins a launch: conditions with a default get it, the others keep their value and count as not set.
    pub fn begin(&self) {
        for condition in &self.list {
            match condition.assigns {
                true => condition.set(condition.default),
                false => condition.value.store(condition.get().0.into(), Ordering::SeqCst),
            }
        }
    }

    /// Returns these conditions with the handles and the defaults of a graph of the same shape too.
    pub fn updated(&self, new: &Conditions) -> Conditions {
        let pairs = self.list.iter().zip(&new.list);
        let list = pairs.map(|(old, new)| Condition {
            default: new.default,
            assigns: new.assigns,
            context: new.context,
            node: old.node,
            value: AtomicU64::new(old.get().0.into()),
        });
        let handles = self.handles.iter().chain(&new.handles).map(|(&handle, &at)| (handle, at)).collect();
        Conditions { list: list.collect(), handles }
    }
}
