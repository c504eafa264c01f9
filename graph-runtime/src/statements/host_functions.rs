//! The functions of host statements, and the calls to which host nodes point.
//!
//! A node holds a raw pointer to a call that [`HostFunctions`] owns. A setter gives the node a new call. The old call
//! is kept until a launch has begun the new one: launches of an exec run in order, so none uses the old call after
//! that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cuweave_core::ir::StatementId;

use crate::cuda::{ElementRange, HostCall, HostFaults, HostWork};

/// The id of an evaluated host function, unique in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HostFunctionId(u64);

impl HostFunctionId {
    pub fn next() -> HostFunctionId {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        HostFunctionId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The functions of a graph's host statements, and the calls to which its nodes point.
#[derive(Default)]
pub(crate) struct HostFunctions {
    /// The functions of the current records, and the ones that a setter is evaluating.
    works: BTreeMap<HostFunctionId, HostWork>,
    calls: Mutex<Vec<IssuedCall>>,
    faults: Arc<HostFaults>,
}

impl std::fmt::Debug for HostFunctions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostFunctions").field("works", &self.works.len()).finish_non_exhaustive()
    }
}

/// A call to which a node points or pointed.
struct IssuedCall {
    statement: StatementId,
    call: Arc<HostCall>,
}

impl HostFunctions {
    /// Returns true if the graph has a host statement.
    pub fn has_statements(&self) -> bool {
        !self.works.is_empty()
    }

    /// Returns the same functions for the nodes of another graph. A panic there is reported by this graph, too.
    pub fn shared(&self) -> HostFunctions {
        HostFunctions { works: self.works.clone(), calls: Mutex::default(), faults: self.faults.clone() }
    }

    /// Adds the functions of new records. Drops every function that is not in `current`, the functions of the
    /// graph's records. Calls keep the functions that they still need.
    pub fn adopt(
        &mut self,
        new: Vec<(HostFunctionId, HostWork)>,
        current: impl Iterator<Item = HostFunctionId>,
    ) {
        if new.is_empty() {
            return;
        }
        self.retain(current);
        self.works.extend(new);
    }

    /// Drops every function that is not in `current`, and the calls that no launch uses any more.
    pub fn retain(&mut self, current: impl Iterator<Item = HostFunctionId>) {
        let current: BTreeSet<HostFunctionId> = current.collect();
        self.works.retain(|id, _| current.contains(id));
        self.drop_unused();
    }

    /// Returns the first unreported panic: the statement and the message.
    pub fn take_fault(&self) -> Option<(StatementId, String)> {
        self.faults.take().map(|(statement, text)| (StatementId::from_u32(statement), text))
    }

    /// Leaks the functions and the calls, because a launch may be in flight and nothing can wait for it.
    pub fn leak(&mut self) {
        std::mem::forget(std::mem::take(self));
    }

    /// Returns a call of a function with its buffers, for the node of a statement. `None` if the function is unknown.
    pub fn call(
        &self,
        work: HostFunctionId,
        statement: StatementId,
        buffers: Vec<ElementRange>,
    ) -> Option<Arc<HostCall>> {
        let work = self.works.get(&work)?.clone();
        Some(HostCall::new(work, buffers, statement.as_u32(), self.faults.clone()))
    }

    /// Keeps a call that was written to a node, and drops the calls that no launch uses any more.
    pub fn keep(&self, statement: StatementId, call: Arc<HostCall>) {
        self.drop_unused();
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push(IssuedCall { statement, call });
    }

    /// Drops the calls before the last one that has begun of each statement.
    fn drop_unused(&self) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let mut begun = BTreeSet::new();
        let mut used: Vec<bool> = Vec::with_capacity(calls.len());
        for given in calls.iter().rev() {
            used.push(!begun.contains(&given.statement));
            if given.call.has_begun() {
                begun.insert(given.statement);
            }
        }
        calls.retain(|_| used.pop() == Some(true));
    }
}
