//! The values that are loaded from parameters and from memory that is not followed.

use super::targets::Targets;
use super::words::{MOST_WORDS, Word, of_size};
use super::{Flow, Thing};
use crate::analysis::value::{Loose, MEMORY, Value};
use crate::syntax::Space;

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
        match self.words.iter().position(|&known| known == word) {
            Some(bit) => 1 << bit,
            None if self.words.len() == MOST_WORDS => MEMORY,
            None => {
                self.words.push(word);
                1 << (self.words.len() - 1)
            }
        }
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
