//! Words that are addresses where nothing that is followed is beside them.

use super::targets::Targets;
use super::{Flow, Thing};
use crate::analysis::value::{Loose, MEMORY, Value};
use crate::syntax::Space;

/// A value that is an address only if no origin is beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Bytes of a parameter that is no pointer, at an offset if it is known.
    Parameter(u32, Option<i64>),
    /// What is loaded through the pointer that a parameter is.
    Elements(u32),
    /// What is loaded from shared memory: any of [`Flow::shared_words`].
    Shared,
}

/// The most words; further ones are memory.
const MOST_WORDS: usize = 126;

impl Flow<'_, '_, '_> {
    /// Returns the value of a word in a kernel's parameter.
    pub(super) fn word(&mut self, parameter: u32, offset: Option<i64>, size: u32, float: bool) -> Value {
        if self.pointers.get(parameter as usize).copied().unwrap_or(false) {
            let origin = self.origin(Thing::Pointer(parameter));
            return match (offset, size) {
                (Some(0), 8) => Value::address(origin, 0),
                _ => Value::mixed(vec![origin]),
            };
        }
        let word = match size {
            // Both halves of a word are of the word.
            4 => Word::Parameter(parameter, offset.map(|offset| offset & !7)),
            _ => Word::Parameter(parameter, offset),
        };
        self.loaded(word, size, float)
    }

    /// Returns the value of a load of a word, or of a half of one.
    pub(super) fn loaded(&mut self, word: Word, size: u32, float: bool) -> Value {
        match size {
            4.. if !float => of_size(self.bit(word), size),
            _ => Value::Plain,
        }
    }

    fn bit(&mut self, word: Word) -> Loose {
        let known = self.words.iter().position(|&known| known == word);
        let bit = known.unwrap_or_else(|| {
            self.words.push(word);
            self.words.len() - 1
        });
        if bit < MOST_WORDS { 1 << bit } else { MEMORY }
    }

    /// Returns true if the address of something that is followed may be loaded from memory that is not.
    pub fn lets_addresses_escape(&self) -> bool {
        self.escaped.contains(&true)
    }

    /// Returns the value of what an instruction other than a load returns from memory.
    pub(super) fn old(&mut self, address: &Value, space: Option<Space>) -> Value {
        let Targets { places, elsewhere, none } = Targets::of(address, 0);
        let mut value = if elsewhere || none { Value::loose(MEMORY) } else { Value::Bottom };
        for (origin, _) in places {
            value.join(&match self.things[origin as usize] {
                Thing::Pointer(parameter) if space != Some(Space::Shared) => {
                    Value::loose(self.bit(Word::Elements(parameter)))
                }
                _ => Value::loose(MEMORY),
            });
        }
        value
    }
}

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
