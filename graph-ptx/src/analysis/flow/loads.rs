//! The values loaded from kernel parameters and from unmodelled memory.

use super::targets::Targets;
use super::words::Word;
use super::{Flow, Thing};
use crate::analysis::value::{MEMORY, Value};
use crate::syntax::Space;

impl Flow<'_, '_, '_> {
    /// Returns the value of a word in a parameter of the kernel.
    pub(super) fn word(&mut self, parameter: u32, offset: Option<i64>, size: u32, float: bool) -> Value {
        if self.taken.pointers.get(parameter as usize).copied().unwrap_or(false) {
            let origin = self.origins.of(Thing::Pointer(parameter));
            return match (offset, size) {
                (Some(0), 8) => Value::address(origin, 0),
                _ => Value::mixed(vec![origin]),
            };
        }
        let word = match size {
            // Both halves of a word count as that word.
            4 => Word::Parameter(parameter, offset.map(|offset| offset & !7)),
            _ => Word::Parameter(parameter, offset),
        };
        self.words.loaded(word, size, float)
    }

    /// Returns the value that an instruction other than a load returns from memory.
    pub(super) fn old(&mut self, address: &Value, space: Option<Space>) -> Value {
        let Targets { places, elsewhere, none } = Targets::of(address, 0);
        let mut value = if elsewhere || none { Value::loose(MEMORY) } else { Value::Bottom };
        for (origin, _) in places {
            value.join(&match self.origins.thing(origin) {
                Thing::Pointer(parameter) if space != Some(Space::Shared) => {
                    Value::loose(self.words.bit(Word::Elements(parameter)))
                }
                _ => Value::loose(MEMORY),
            });
        }
        value
    }
}
