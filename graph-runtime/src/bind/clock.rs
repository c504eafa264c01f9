//! Vector clocks of streams: which uses each stream has waited for already. They avoid repeated waits.

use crate::waits::HeldStream;

/// The vector clock of a stream: for each other stream, the position of the last use that it has waited for.
#[derive(Debug, Default)]
pub(crate) struct VectorClock(Vec<(HeldStream, u64)>);

/// The maximum number of entries of a clock, and of clocks. A stream without an entry waits again.
pub(super) const MAX_CLOCKS: usize = 16;

impl VectorClock {
    /// Returns true if a stream with this clock comes after the use.
    pub fn is_after(&self, last: &LastUse) -> bool {
        last.held && self.0.iter().any(|(stream, place)| *place >= last.place && stream.is(&last.stream))
    }

    pub fn learn(&mut self, last: &LastUse) {
        match self.0.iter_mut().find(|(stream, _)| stream.is(&last.stream)) {
            Some((_, place)) => *place = last.place.max(*place),
            None => {
                if self.0.len() >= MAX_CLOCKS {
                    self.0.remove(0);
                }
                self.0.push((last.stream.clone(), last.place));
            }
        }
    }
}

/// The last use by a `User` of the ledger.
#[derive(Clone, Debug)]
pub(crate) struct LastUse {
    pub stream: HeldStream,
    /// Its position among all uses.
    pub place: u64,
    /// True if the event is known to record the use.
    pub held: bool,
}

/// A stream with its vector clock.
#[derive(Clone, Copy)]
pub(crate) struct StreamHistory<'h> {
    pub stream: &'h HeldStream,
    /// `None` if it has not waited for any stream.
    pub clock: Option<&'h VectorClock>,
}

impl StreamHistory<'_> {
    /// Returns true if later work on the stream comes after the use.
    pub fn includes(&self, last: &LastUse) -> bool {
        last.held && last.stream.is(self.stream) || self.clock.is_some_and(|clock| clock.is_after(last))
    }
}
