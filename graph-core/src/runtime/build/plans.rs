//! The caches of the build: the same function with the same sizes is not ordered, checked and planned again.

use std::sync::{Arc, Mutex, PoisonError};

use crate::check::Checked;
use crate::compile::{self, BackError, Wishes};
use crate::ir::{Memory, StatementId};
use crate::launches::{Launch, Tuning};
use crate::operation::Operations;
use crate::order::Source;
use crate::table::Decoded;

use crate::runtime::error::{Error, refused_program};

use super::checks::check_lengths;

/// A function and its sizes. Tables are statics, so their address is their identity.
#[derive(Clone, PartialEq, Eq)]
struct Sizes {
    table: usize,
    dims: Vec<u64>,
}

impl Sizes {
    fn of(table: &'static Decoded, dims: &[u64]) -> Sizes {
        Sizes { table: std::ptr::from_ref(table) as usize, dims: dims.to_vec() }
    }
}

/// The inputs of a plan.
#[derive(PartialEq, Eq)]
struct Key {
    sizes: Sizes,
    memory: Option<Memory>,
    edges: Vec<(StatementId, StatementId)>,
    launches: Vec<Option<Launch>>,
    tuning: Tuning,
}

/// At most [`MOST`] values by their keys, the latest last.
struct Kept<K, V>(Mutex<Vec<(K, Arc<V>)>>);

/// The most values that a cache keeps; the oldest is dropped first.
const MOST: usize = 32;

impl<K: PartialEq, V> Kept<K, V> {
    const fn new() -> Kept<K, V> {
        Kept(Mutex::new(Vec::new()))
    }

    /// Returns the value of a key; one that is not kept is made. It is made without the lock: planning is slow, and two threads
    /// that make the same get equal values.
    fn get_or_make<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E> {
        {
            let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, value)) = kept.iter().find(|(other, _)| *other == key) {
                return Ok(value.clone());
            }
        }
        let value = Arc::new(make()?);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST {
            kept.remove(0);
        }
        kept.push((key, value.clone()));
        Ok(value)
    }
}

static CHECKED: Kept<Sizes, Checked> = Kept::new();
static PLANS: Kept<Key, Operations> = Kept::new();

/// Orders and checks a function for the values of its lengths and bounds, by the code that the macro checks with: the macro
/// compares expressions, this compares their values.
///
/// # Errors
///
/// A length or a range that cannot be; faults that only the values show.
pub(crate) fn checked(table: &'static Decoded, dims: &[u64]) -> Result<Arc<Checked>, Error> {
    CHECKED.get_or_make(Sizes::of(table, dims), || {
        check_lengths(&table.program, dims)?;
        let program = &table.program;
        let (checked, found) = compile::front(Source::with_values(program.clone(), dims));
        checked.ok_or_else(|| refused_program(program, &found))
    })
}

/// As [`compile::back`], from the cache where possible.
pub(crate) fn operations(
    table: &'static Decoded,
    checked: &Checked,
    dims: &[u64],
    wishes: &Wishes,
) -> Result<Arc<Operations>, BackError> {
    let key = Key {
        sizes: Sizes::of(table, dims),
        memory: wishes.memory,
        edges: wishes.edges.clone(),
        launches: wishes.launches.clone(),
        tuning: wishes.tuning.clone(),
    };
    PLANS.get_or_make(key, || compile::back(checked, dims, wishes))
}
