//! The table of the graph functions that are called, and of the calls.

use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, CallId};
use cuweave_core::structure::{Argument, Call, CallPosition, EnclosingLoop};
use syn::Path;

use crate::graph::paths::Callee;

/// The called graph functions, without duplicates, and their calls in program order.
#[derive(Default)]
pub(super) struct CallTable {
    callees: Vec<Callee>,
    calls: Vector<CallId, Call>,
}

impl CallTable {
    /// Returns the number of the graph function that a path names. `results` is the number of results that
    /// the call binds.
    pub fn callee(&mut self, path: &Path, results: usize) -> usize {
        let known = self.callees.iter().position(|callee| callee.path == *path);
        let number = known.unwrap_or(self.callees.len());
        match known {
            Some(number) => self.callees[number].results = self.callees[number].results.max(results),
            None => self.callees.push(Callee { path: path.clone(), results }),
        }
        number
    }

    pub fn path(&self, callee: usize) -> &Path {
        &self.callees[callee].path
    }

    pub fn add(
        &mut self,
        arguments: Vec<Argument>,
        results: Vec<BufferId>,
        around: Vec<EnclosingLoop>,
    ) -> CallId {
        self.calls.push(Call { arguments, results, around, place: CallPosition::default() })
    }

    pub fn call(&self, number: CallId) -> &Call {
        &self.calls[number]
    }

    pub fn finish(self) -> (Vec<Callee>, Vector<CallId, Call>) {
        (self.callees, self.calls)
    }
}
