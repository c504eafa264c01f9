//! Access to the stand-in for cuBLAS (`testkit/cublas`) from tests.

use std::ops::Deref;

use cuweave_testkit::stand_in;

/// The notes of the library since the last call.
#[derive(Debug, Default)]
pub struct Notes(pub Vec<String>);

impl Notes {
    /// Returns the notes that begin with a word, without the word.
    pub fn of(&self, word: &str) -> Vec<&str> {
        self.0.iter().filter_map(|note| note.strip_prefix(word)?.strip_prefix(' ')).collect()
    }

    /// Returns the values that follow a word in each note of a kind.
    pub fn values(&self, kind: &str, word: &str) -> Vec<&str> {
        let value = |note: &&str| {
            let mut words = note.split(' ').skip_while(|at| *at != word);
            words.nth(1).map(|value| value.as_ptr() as usize - note.as_ptr() as usize)
        };
        let notes = self.of(kind);
        notes.iter().filter_map(|note| Some(note[value(note)?..].split(' ').next().unwrap_or(""))).collect()
    }

    /// Returns the number of calls of each function.
    pub fn counts(&self) -> Vec<(String, u32)> {
        stand_in::counts(&self.0)
    }
}

/// The stand-in's functions for tests.
pub struct Control(stand_in::StandInControl);

impl Deref for Control {
    type Target = stand_in::StandInControl;

    fn deref(&self) -> &stand_in::StandInControl {
        &self.0
    }
}

impl Control {
    pub fn open() -> Control {
        Control(stand_in::StandInControl::open("cublasLt_simulated", "cublasTest"))
    }

    /// Sets the workspace that the heuristic requests.
    pub fn workspace(&self, bytes: u64) {
        // SAFETY: the signature is that in the library's source.
        (unsafe { self.function::<extern "C" fn(u64)>("Workspace") })(bytes);
    }

    /// Returns the notes since the last call.
    pub fn notes(&self) -> Notes {
        let notes = Notes(self.take());
        assert_eq!(notes.of("violation"), [""; 0]);
        notes
    }
}
