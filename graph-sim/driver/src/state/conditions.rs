//! Conditions: the values that conditional nodes test and that kernels set with `cudaGraphSetConditional`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The size of a condition in the access checks. Its address there is its handle.
pub const CONDITION_BYTES: u64 = 4;

/// Flag of a value that the current launch has set.
const SET_FLAG: u64 = 1 << 32;

/// A conditional handle of a graph.
pub struct ConditionHandle {
    /// The graph for which it was created.
    pub graph: u64,
    /// The context of the kernels that may set the condition.
    pub context: u64,
    /// The value at the start of each launch, if `assigns` is true.
    pub default: u32,
    /// True if `default` applies.
    pub assigns: bool,
    /// The conditional node that tests the condition.
    pub node: Option<u64>,
}

/// The condition of a conditional node of an instance.
pub struct Condition {
    /// The value at the start of each launch, if `assigns` is true.
    default: u32,
    /// True if `default` applies.
    assigns: bool,
    /// The context of the kernels that may set the condition.
    pub context: u64,
    /// The index of the node in the instance.
    pub node: usize,
    /// The value, with the flag [`SET_FLAG`] if this launch has set it.
    value: AtomicU64,
}

impl Condition {
    /// Sets the value on behalf of the current launch.
    pub fn set(&self, value: u32) {
        self.value.store(u64::from(value) | SET_FLAG, Ordering::SeqCst);
    }

    /// Returns the value, and true if this launch has set it. An unset value is that of an earlier launch.
    pub fn get(&self) -> (u32, bool) {
        let value = self.value.load(Ordering::SeqCst);
        (value as u32, value & SET_FLAG != 0)
    }
}

/// The conditions of an instance.
#[derive(Default)]
pub struct Conditions {
    /// Sorted by node.
    list: Vec<Condition>,
    /// The index of each handle's condition in `list`. After an update from another graph, a condition has the
    /// handles of both graphs.
    handles: BTreeMap<u64, usize>,
}

impl Conditions {
    /// Adds the condition of a node.
    pub fn add(&mut self, number: u64, handle: &ConditionHandle, node: usize) {
        let &ConditionHandle { context, default, assigns, .. } = handle;
        self.handles.insert(number, self.list.len());
        self.list.push(Condition { default, assigns, context, node, value: AtomicU64::new(default.into()) });
    }

    /// Returns the condition of a handle.
    pub fn get(&self, handle: u64) -> Option<&Condition> {
        self.list.get(*self.handles.get(&handle)?)
    }

    /// Returns the condition whose address in the access checks is `address`.
    pub fn at(&self, address: u64) -> Option<&Condition> {
        let (&handle, _) = self.handles.range(..=address).next_back()?;
        self.get(handle).filter(|_| address < handle + CONDITION_BYTES)
    }

    /// Begins a launch: resets conditions with a default. The others keep their values, but count as not set.
    pub fn begin(&self) {
        for condition in &self.list {
            match condition.assigns {
                true => condition.set(condition.default),
                false => condition.value.store(condition.get().0.into(), Ordering::SeqCst),
            }
        }
    }

    /// Returns these conditions, with the handles and defaults of a graph of the same shape added.
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
