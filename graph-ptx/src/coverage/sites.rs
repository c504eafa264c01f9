//! The addresses of each load and store of a kernel in each thread of a launch.
//!
//! The interpreter records every access that it reaches in a [`AccessTrace`]. The result lists, for each instruction,
//! boxes of threads with affine addresses; store-to-load forwarding (`forward`) needs them.

use super::condition::RangeCondition;
use super::form::AffineForm;
use super::slice::{BackwardSlice, MemoryInstruction};
use super::threads::{ThreadBox, ThreadForm};
use std::collections::HashMap;

/// The maximum number of boxes of threads of a site; with more it is irregular.
const MAX_BOXES: usize = 64;

/// An access by each thread of a box, at `constant + Σ stride · index`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadAccess {
    /// The threads.
    pub threads: ThreadBox,
    /// The offset from the pointer in bytes for index 0.
    pub constant: i128,
    /// The stride along each axis; `None` if the box has a single index there.
    pub strides: [Option<i128>; 6],
    /// True if each thread that satisfies the conditions definitely makes the access, false if it may.
    pub is_definite: bool,
    /// No thread that violates one of them makes the access.
    pub conditions: Vec<RangeCondition>,
}

/// A load or store in the threads of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessSite {
    /// The instruction.
    pub access: MemoryInstruction,
    /// The accesses of all threads; `None` if the address of some thread is unknown.
    pub touched: Option<Vec<ThreadAccess>>,
}

/// The loads and stores of a kernel in the threads of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessSites {
    /// The known sites, in text order.
    pub list: Vec<AccessSite>,
    /// The parameters through which the kernel may make other accesses; true for writes.
    pub others: Vec<(u32, bool)>,
    /// True if an instruction may execute more than once per thread.
    pub loops: bool,
}

/// The accesses that a run reaches, by the note that names them.
#[derive(Debug, Default)]
pub(super) struct AccessTrace {
    touched: HashMap<u32, Option<Vec<ThreadAccess>>>,
    gave_up: bool,
}

impl AccessTrace {
    /// Records that the addresses of an access are not known for each thread.
    pub fn irregular(&mut self, note: u32) {
        self.touched.insert(note, None);
    }

    /// Records that no access is known.
    pub fn gives_up(&mut self) {
        self.gave_up = true;
    }

    /// Records an access of all threads of a group.
    pub fn touched(
        &mut self,
        note: u32,
        form: &AffineForm,
        counts: &[u64],
        places: &[AffineForm; 6],
        is_definite: bool,
        conditions: &[RangeCondition],
    ) {
        let entry = self.touched.entry(note).or_insert_with(|| Some(Vec::new()));
        let Some(list) = entry else { return };
        let access = |of: ThreadForm| ThreadAccess {
            threads: of.threads,
            constant: of.constant,
            strides: of.strides,
            is_definite,
            conditions: conditions.to_vec(),
        };
        match ThreadForm::new(form, counts, places).map(access) {
            Some(new) if list.contains(&new) => {}
            Some(new) if list.len() < MAX_BOXES => list.push(new),
            _ => *entry = None,
        }
    }

    pub fn sites(mut self, slice: &BackwardSlice) -> AccessSites {
        let site = |access: &MemoryInstruction| AccessSite {
            access: access.clone(),
            touched: match self.gave_up {
                true => None,
                false => self.touched.remove(&access.note).unwrap_or_else(|| Some(Vec::new())),
            },
        };
        let list = slice.instructions.iter().map(site).collect();
        // The entry for reads precedes that for writes.
        let others = slice.parameters.chunks(2).flat_map(|pair| {
            let foreign = pair.iter().zip([false, true]).filter(|(followed, _)| followed.foreign.is_some());
            foreign.map(|(followed, writes)| (followed.parameter, writes))
        });
        AccessSites { list, others: others.collect(), loops: slice.loops }
    }
}

impl ThreadAccess {
    /// Returns true if each thread that makes this access also makes one of the others, which are definite.
    pub(super) fn is_within(&self, others: &[ThreadAccess]) -> bool {
        let holds =
            |needed: &RangeCondition| self.conditions.iter().any(|known| known.decides(needed) == Some(true));
        let boxes: Vec<ThreadBox> = others
            .iter()
            .filter(|other| {
                self.threads.common(&other.threads).is_some() && other.conditions.iter().all(holds)
            })
            .map(|other| other.threads)
            .collect();
        self.threads.within(&boxes)
    }
}
