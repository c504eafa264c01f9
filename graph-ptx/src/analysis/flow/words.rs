//! Words: values that may be addresses if no origin is added to them.
//!
//! A pointer may be hidden in a parameter that is not declared one, in a structure, or in memory. The analysis
//! numbers these words and follows them as loose bits of a [`Value`]. A word that is the base of an address is
//! reported; see `access`.

use crate::analysis::value::{LooseBits, MEMORY, Value};

/// A value that is an address only if it is not added to an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Bytes of a parameter that is not a pointer, at an offset if it is known.
    Parameter(u32, Option<i64>),
    /// A value loaded through a pointer parameter.
    Elements(u32),
    /// A value loaded from shared memory: any word that the kernel stores there.
    Shared,
}

/// The maximum number of words; further ones count as memory.
const MAX_WORDS: usize = 126;

/// The words of all values. The index of a word is its bit in a [`LooseBits`] set.
#[derive(Default)]
pub(crate) struct WordTable {
    words: Vec<Word>,
    /// The words stored to shared memory.
    shared: LooseBits,
}

impl WordTable {
    /// Returns the value of a load of a word, or of a half of it.
    pub(super) fn load(&mut self, word: Word, size: u32, float: bool) -> Value {
        match size {
            4.. if !float => sized_words(self.bit(word), size),
            _ => Value::Plain,
        }
    }

    /// Returns the bit of a word, or [`MEMORY`] if there are too many words.
    pub(super) fn bit(&mut self, word: Word) -> LooseBits {
        match self.existing_bit(word) {
            0 if self.words.len() == MAX_WORDS => MEMORY,
            0 => {
                self.words.push(word);
                1 << (self.words.len() - 1)
            }
            bit => bit,
        }
    }

    /// Returns the bit of a word, or 0 if no value has it.
    pub fn existing_bit(&self, word: Word) -> LooseBits {
        self.words.iter().position(|&known| known == word).map_or(0, |bit| 1 << bit)
    }

    pub(super) fn add_shared(&mut self, words: LooseBits) {
        self.shared |= words;
    }

    /// Returns the words in a set.
    pub fn of(&self, set: LooseBits) -> impl Iterator<Item = Word> {
        self.words.iter().enumerate().filter(move |(bit, _)| set & (1 << bit) != 0).map(|(_, &word)| word)
    }

    /// Returns the words stored to shared memory.
    pub fn shared(&self) -> LooseBits {
        self.shared
    }
}

/// Returns the value of these words, or of halves of them.
pub(super) fn sized_words(words: LooseBits, size: u32) -> Value {
    if size == 4 { Value::half(words) } else { Value::loose(words) }
}

/// Returns the words that an address is, or is based on. `None` if there are no words, or if the address may be
/// another untracked one.
pub(super) fn words_of_address(address: &Value) -> Option<LooseBits> {
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
