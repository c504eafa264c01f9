//! The values loaded from kernel parameters and from unmodelled memory.

use super::targets::AddressTargets;
use super::words::Word;
use super::{AbstractLocation, Flow};
use crate::analysis::value::{MEMORY, Value};
use crate::syntax::StateSpace;

impl Flow<'_, '_, '_> {
    /// Returns the value of a word in a parameter of the kernel.
    pub(super) fn load_parameter_word(
        &mut self,
        parameter: u32,
        offset: Option<i64>,
        size: u32,
        float: bool,
    ) -> Value {
        if self.kinds.pointers.get(parameter as usize).copied().unwrap_or(false) {
            let origin = self.origins.origin(AbstractLocation::Pointer(parameter));
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
        self.words.load(word, size, float)
    }

    /// Returns the value that an instruction other than a load returns from memory.
    pub(super) fn load_old_value(&mut self, address: &Value, space: Option<StateSpace>) -> Value {
        let AddressTargets { locations, elsewhere, none } = AddressTargets::new(address, 0);
        let mut value = if elsewhere || none { Value::loose(MEMORY) } else { Value::Bottom };
        for (origin, _) in locations {
            value.join(&match self.origins.location(origin) {
                AbstractLocation::Pointer(parameter) if space != Some(StateSpace::Shared) => {
                    Value::loose(self.words.bit(Word::Elements(parameter)))
                }
                _ => Value::loose(MEMORY),
            });
        }
        value
    }
}
