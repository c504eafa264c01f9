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
const MOST_WORDS: usize = 126;

/// The words that values are of, by bit.
#[derive(Default)]
pub(crate) struct WordTable {
    words: Vec<Word>,
    /// Those that are stored to shared memory.
    shared: Loose,
}

impl WordTable {
    /// Returns the value of a load of a word, or of a half of one.
    pub(super) fn loaded(&mut self, word: Word, size: u32, float: bool) -> Value {
        match size {
            4.. if !float => of_size(self.bit(word), size),
            _ => Value::Plain,
        }
    }

    /// Returns the bit of a word; that of memory if there are too many.
    pub(super) fn bit(&mut self, word: Word) -> Loose {
        match self.known(word) {
            0 if self.words.len() == MOST_WORDS => MEMORY,
            0 => {
                self.words.push(word);
                1 << (self.words.len() - 1)
            }
            bit => bit,
        }
    }

    /// Returns the bit of a word, or 0 if no value is of it.
    pub fn known(&self, word: Word) -> Loose {
        self.words.iter().position(|&known| known == word).map_or(0, |bit| 1 << bit)
    }

    pub(super) fn add_shared(&mut self, words: Loose) {
        self.shared |= words;
    }

    /// Returns the words of a set.
    pub fn of(&self, set: Loose) -> impl Iterator<Item = Word> {
        self.words.iter().enumerate().filter(move |(bit, _)| set & (1 << bit) != 0).map(|(_, &word)| word)
    }

    /// Returns the words that are stored to shared memory.
    pub fn shared(&self) -> Loose {
        self.shared
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
