//! The decisions of the search, with the alternatives of each and the reasons why tried alternatives failed.

use crate::bits::or_into;
use crate::index::{Index, Vector};
use crate::plan::indices::{DecisionLevel, Rank};

/// A decision: which buffer is placed at the floor of a clique.
struct SearchFrame {
    /// The index of its first alternative in `candidates`. Its alternatives end where those of the next frame
    /// begin.
    candidates: usize,
    next: usize,
    applied: Applied,
}

/// The applied alternative of a decision.
#[derive(Clone, Copy)]
pub(super) struct Applied {
    /// The length of the trail before it was applied.
    pub trail: usize,
    /// The buffer that it placed. `NONE` if it deferred all candidates.
    pub placed: Rank,
}

/// The decisions, by level. The alternatives and the conflict set of the last decision are at the ends of the
/// lists.
pub(super) struct DecisionStack {
    /// The number of words in a set of levels.
    row_words: usize,
    frames: Vec<SearchFrame>,
    candidates: Vec<Rank>,
    /// Row `d` is the conflict set of decision `d`: the decisions that imply the failure of its tried alternatives,
    /// and the absence of others.
    conflict_sets: Vec<u64>,
}

impl DecisionStack {
    pub fn new(row_words: usize) -> DecisionStack {
        let (frames, candidates, conflict_sets) = (Vec::new(), Vec::new(), Vec::new());
        DecisionStack { row_words, frames, candidates, conflict_sets }
    }

    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Returns the level of the last decision.
    pub fn top(&self) -> DecisionLevel {
        DecisionLevel::new(self.frames.len() - 1)
    }

    /// Returns the conflict set of the last decision.
    pub fn conflict_set(&self) -> &[u64] {
        &self.conflict_sets[self.conflict_sets.len() - self.row_words..]
    }

    /// Adds to the conflict set of the last decision.
    pub fn blame(&mut self, reason: &[u64]) {
        let from = self.conflict_sets.len() - self.row_words;
        or_into(&mut self.conflict_sets[from..], reason);
    }

    /// Pushes a decision without alternatives.
    pub fn open(&mut self, trail: usize) {
        self.conflict_sets.resize(self.conflict_sets.len() + self.row_words, 0);
        let candidates = self.candidates.len();
        let applied = Applied { trail, placed: Rank::NONE };
        self.frames.push(SearchFrame { candidates, next: candidates, applied });
    }

    /// Adds an alternative to the last decision.
    pub fn push(&mut self, candidate: Rank) {
        self.candidates.push(candidate);
    }

    /// Returns the candidates of the last decision.
    pub fn candidates(&self) -> &[Rank] {
        &self.candidates[self.first()..]
    }

    /// Sorts the candidates of the last decision by priority.
    pub fn sort_candidates(&mut self, priority: &Vector<Rank, u32>) {
        let from = self.first();
        self.candidates[from..].sort_unstable_by_key(|&b| priority[b]);
    }

    fn first(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.candidates)
    }

    /// Returns true if the last decision has an alternative left: a candidate, or deferring all.
    pub fn has_next(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.next <= self.candidates.len())
    }

    /// Returns the next candidate of the last decision. `None` means deferring all.
    pub fn next_candidate(&mut self) -> Option<Rank> {
        let frame = self.frames.last_mut()?;
        frame.next += 1;
        self.candidates.get(frame.next - 1).copied()
    }

    /// Records that the last decision placed a buffer.
    pub fn note_placed(&mut self, b: Rank) {
        if let Some(frame) = self.frames.last_mut() {
            frame.applied.placed = b;
        }
    }

    /// Takes the applied alternative of the last decision, which must be undone.
    pub fn take_applied(&mut self) -> Option<Applied> {
        let frame = self.frames.last_mut()?;
        let applied = frame.applied;
        frame.applied.placed = Rank::NONE;
        Some(applied)
    }

    /// Pops the last decision.
    pub fn close(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.candidates.truncate(frame.candidates);
            self.conflict_sets.truncate(self.frames.len() * self.row_words);
        }
    }
}
