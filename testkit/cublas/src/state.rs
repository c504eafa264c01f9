//! The live objects, the calls so far, and the failure that a test has requested.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use cuweave_testkit::stand_in::CallCounts;

/// `CUBLAS_STATUS_INVALID_VALUE`.
pub const INVALID: u32 = 7;

/// The kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Handle,
    Lt,
    Operation,
    Layout,
    Preference,
}

/// A handle or a description.
#[derive(Clone, Debug)]
pub struct Object {
    kind: Kind,
    /// The numbers that it was created with.
    pub numbers: Vec<u64>,
    pub attributes: BTreeMap<u32, u64>,
}

impl Object {
    pub fn new(kind: Kind, numbers: &[u64]) -> Object {
        Object { kind, numbers: numbers.to_vec(), attributes: BTreeMap::new() }
    }

    /// Returns the bytes of one matrix of a layout, ignoring the batch.
    pub fn bytes(&self) -> u64 {
        let [ty, rows, columns, leading] = self.numbers[..] else { return 0 };
        // `CUDA_R_32F`, `CUDA_R_64F`, and otherwise a type of 16 bits.
        let size = match ty {
            0 => 4,
            1 => 8,
            _ => 2,
        };
        (leading * columns.saturating_sub(1) + rows) * size
    }
}

/// The state of the library.
pub struct State {
    objects: BTreeMap<usize, Object>,
    made: usize,
    pub algorithms: u64,
    pub workspace: u64,
    pub lines: Vec<String>,
    pub calls: CallCounts,
}

static STATE: Mutex<State> = Mutex::new(State {
    objects: BTreeMap::new(),
    made: 0,
    algorithms: 0,
    workspace: 0,
    lines: Vec::new(),
    calls: CallCounts::new(),
});

/// Calls `work` with the locked state.
pub fn alone<T>(work: impl FnOnce(&mut State) -> T) -> T {
    work(&mut STATE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Counts a call of a function. Fails if a test has requested it, and otherwise calls `work`.
pub fn enter(name: &str, work: impl FnOnce(&mut State) -> u32) -> u32 {
    alone(|state| match state.calls.enter(name) {
        Some(status) => status,
        None => work(state),
    })
}

impl State {
    pub fn add(&mut self, object: Object) -> usize {
        self.made += 0x10;
        self.objects.insert(self.made, object);
        self.made
    }

    /// Returns an object. Another kind of object is a violation.
    pub fn object(&mut self, name: &str, id: usize, kind: Kind) -> Option<&mut Object> {
        if self.objects.get(&id).is_none_or(|object| object.kind != kind) {
            self.violation(format!("{name}: {id:#x} is no {kind:?}"));
            return None;
        }
        self.objects.get_mut(&id)
    }

    pub fn remove(&mut self, name: &str, id: usize, kind: Kind) {
        if self.object(name, id, kind).is_some() {
            self.objects.remove(&id);
        }
    }

    pub fn violation(&mut self, text: String) {
        self.lines.push(format!("violation {text}"));
    }

    pub fn live(&self) -> usize {
        self.objects.len()
    }

    pub fn take(&mut self) -> Vec<String> {
        let mut lines = std::mem::take(&mut self.lines);
        lines.extend(self.calls.take());
        lines
    }
}

/// The notes: lines of words.
pub mod note {
    use super::Object;
    use crate::ProductDescription;

    /// Attributes of preferences.
    pub const MAX_WORKSPACE: u32 = 1;
    const REDUCTION: u32 = 3;
    const ALIGNMENTS: [u32; 4] = [5, 6, 7, 8];

    /// `asked ALGORITHM workspace BYTES limit BYTES reduction MASK|all alignments A,B,C,D compute TYPE types A,B,C`
    pub fn asked(found: &ProductDescription, preference: &Object, algorithm: u64, workspace: u64) -> String {
        let attribute = |at: u32| preference.attributes.get(&at).copied();
        let mask = attribute(REDUCTION).map_or("all".to_owned(), |mask| mask.to_string());
        let alignments = ALIGNMENTS.map(|at| attribute(at).unwrap_or(256).to_string()).join(",");
        let types = found.layouts.each_ref().map(|layout| layout.numbers[0].to_string()).join(",");
        let (limit, compute) = (attribute(MAX_WORKSPACE).unwrap_or_default(), found.operation.numbers[0]);
        format!(
            "asked {algorithm} workspace {workspace} limit {limit} reduction {mask} alignments {alignments} \
             compute {compute} types {types}"
        )
    }

    /// `product ALGORITHM workspace ADDRESS BYTES capturing BOOL`
    pub fn product(algorithm: u64, (workspace, bytes): (u64, u64), capturing: bool) -> String {
        format!("product {algorithm} workspace {workspace} {bytes} capturing {capturing}")
    }

    /// `own workspace ADDRESS BYTES capturing BOOL`
    pub fn own(workspace: u64, bytes: u64, capturing: bool) -> String {
        format!("own workspace {workspace} {bytes} capturing {capturing}")
    }
}
