//! The cache of plans: the same function with the same sizes is not planned again.

use std::sync::{Arc, Mutex, PoisonError};

use crate::compile::{self, BackError, Wishes};
use crate::ir::{Memory, Program, StatementId};
use crate::launches::{Launch, Tuning};
use crate::operation::Operations;

/// The inputs of a plan. Programs are statics, so their address is their identity.
#[derive(PartialEq, Eq)]
struct Key {
    program: usize,
    dims: Vec<u64>,
    memory: Option<Memory>,
    edges: Vec<(StatementId, StatementId)>,
    launches: Vec<Option<Launch>>,
    tuning: Tuning,
}

/// The cached plans, the latest last.
static KEPT: Mutex<Vec<(Key, Arc<Operations>)>> = Mutex::new(Vec::new());
/// The most plans that are kept; the oldest is dropped first.
const MOST: usize = 32;

/// True if the same function was planned with the same sizes, which are then known to be valid.
pub(crate) fn known(program: &'static Program, dims: &[u64]) -> bool {
    let program = std::ptr::from_ref(program) as usize;
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.iter().any(|(key, _)| key.program == program && key.dims == dims)
}

/// As [`compile::back`], from the cache where possible.
pub(crate) fn operations(
    program: &'static Program,
    dims: &[u64],
    wishes: &Wishes,
) -> Result<Arc<Operations>, BackError> {
    let key = Key {
        program: std::ptr::from_ref(program) as usize,
        dims: dims.to_vec(),
        memory: wishes.memory,
        edges: wishes.edges.clone(),
        launches: wishes.launches.clone(),
        tuning: wishes.tuning.clone(),
    };
    {
        let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, operations)) = kept.iter().find(|(other, _)| *other == key) {
            return Ok(operations.clone());
        }
    }
    // Not under the lock: planning is slow, and two threads that plan the same get equal plans.
    let operations = Arc::new(compile::back(program, dims, wishes)?);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= MOST {
        kept.remove(0);
    }
    kept.push((key, operations.clone()));
    Ok(operations)
}
