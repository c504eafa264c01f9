//! Words that are addresses where nothing that is followed is beside them.

use crate::analysis::value::{Loose, MEMORY, Value};

/// A value that is an address only if no origin is beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Bytes of a parameter that is no pointer, at an offset if it is known.
    Parameter(u32, Option<i64>),
    /// What is loaded through the pointer that a parameter is.
    Elements(u32),
    /// What is loaded from shared memory: any of those that the kernel stores there.
    Shared,
}

/// The most words; further ones are memory.
pub(super) const MOST_WORDS: usize = 126;

/// Returns the value of these words, or of halves of them.
pub(super) fn of_size(words: Loose, size: u32) -> Value {
    if size == 4 { Value::half(words) } else { Value::loose(words) }
}

/// Returns the words of an address that is one of words, or based on them; `None` if it is none, or may be another one that is not
/// followed.
pub(super) fn behind(address: &Value) -> Option<Loose> {
    let mut words = 0;
    for sum in address.addresses()? {
        match (sum.direct(), sum.terms()) {
            (Some(_), _) => {}
            (None, []) => words |= sum.loose,
            (None, _) => return None,
        }
    }
    (words != 0 && words & MEMORY == 0).then_some(words)
}
