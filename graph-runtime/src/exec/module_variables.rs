//! Orders the launches of several execs that share module variables.
//!
//! For each written variable a loaded module stores the last launch that wrote it and, per stream, the last
//! launch that has read it since. A launch waits for the conflicting launches in other streams. The modules
//! are locked from these waits until the launch is recorded, so that of two threads one sees the other's
//! launch. They are locked in address order, which rules out deadlocks. If all launches use one stream, no
//! driver call is made.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use cudarc::driver::CudaStream;
use cuweave_core::index::Vector;
use cuweave_core::ir::{Program, StatementId, StatementKind};

use crate::cuda::{Driver, Outcome};
use crate::kernels::{LaunchNote, LoadedModule, Modules, VariableUses, drop_completed};
use crate::statements::StatementRecord;
use crate::waits::{HeldStream, OwnedEvent};

/// The module variables that the launches of an exec use.
#[derive(Debug, Default)]
pub(crate) struct ModuleVariables {
    /// The modules, sorted by address. Each variable maps to true if the exec writes it.
    modules: Vec<(Arc<LoadedModule>, BTreeMap<&'static str, bool>)>,
}

/// The locked modules: from the waits of a launch until it is recorded.
pub(crate) struct LockedModules<'h> {
    uses: &'h ModuleVariables,
    notes: Vec<MutexGuard<'h, BTreeMap<&'static str, VariableUses>>>,
    next: LaunchNote,
}

impl ModuleVariables {
    /// Returns the variables that the launches among `records` use.
    pub fn new(
        program: &Program,
        records: &Vector<StatementId, StatementRecord>,
        modules: &Modules,
    ) -> ModuleVariables {
        let mut used: BTreeMap<usize, (Arc<LoadedModule>, BTreeMap<&'static str, bool>)> = BTreeMap::new();
        for (statement, record) in records.enumerate() {
            let StatementKind::Launch(launch) = record else { continue };
            let kernel = launch.kernel;
            if !kernel.shares_state() {
                continue;
            }
            let device = program.statements[statement].device;
            let Some(module) = modules.module(device, kernel).map(LoadedModule::with_variables) else {
                continue;
            };
            let key = Arc::as_ptr(module).addr();
            let (_, variables) = used.entry(key).or_insert_with(|| (module.clone(), BTreeMap::new()));
            for name in kernel.hidden_reads {
                variables.entry(name).or_insert(false);
            }
            for name in kernel.hidden_writes {
                variables.insert(name, true);
            }
        }
        ModuleVariables { modules: used.into_values().collect() }
    }

    /// Locks the modules and makes `stream` wait for the launches that conflict with the next one. `done` is
    /// the event of the next launch.
    pub fn order(
        &self,
        driver: &Driver,
        stream: &Arc<CudaStream>,
        done: &Arc<OwnedEvent>,
    ) -> Outcome<Option<LockedModules<'_>>> {
        if self.modules.is_empty() {
            return Ok(None);
        }
        let next = LaunchNote { done: done.clone(), stream: HeldStream::new(stream), held: true };
        let notes: Vec<_> = self
            .modules
            .iter()
            .map(|(module, _)| module.notes.0.lock().unwrap_or_else(PoisonError::into_inner))
            .collect();
        for ((_, variables), notes) in self.modules.iter().zip(&notes) {
            for (name, &writes) in variables {
                let Some(known) = notes.get(name) else { continue };
                let read = known.read.iter().filter(|_| writes);
                known.written.iter().chain(read).try_for_each(|note| note.order(driver, &next))?;
            }
        }
        Ok(Some(LockedModules { uses: self, notes, next }))
    }
}

impl LockedModules<'_> {
    /// Records that the launch was enqueued. `held` is true if its event records it.
    pub fn note(mut self, driver: &Driver, held: bool) {
        self.next.held = held;
        for ((_, variables), notes) in self.uses.modules.iter().zip(&mut self.notes) {
            for (&name, &writes) in variables {
                let known = notes.entry(name).or_default();
                if writes {
                    *known = VariableUses { written: Some(self.next.clone()), read: Vec::new() };
                    continue;
                }
                match known.read.iter_mut().find(|note| note.in_one_stream(&self.next)) {
                    Some(note) => *note = self.next.clone(),
                    None => {
                        drop_completed(driver, &mut known.read);
                        known.read.push(self.next.clone());
                    }
                }
            }
        }
    }
}
