//! Hints about managed memory: the attributes `#[advise(..)]`, `#[prefetch(..)]` and `#[discard]` of arguments,
//! as values.

use std::ops::Range;

use crate::error::{Fault, ManagedFault};

use super::location::Location;

/// An attribute of an argument that is bound to managed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// `#[advise(read_mostly)]`.
    ReadMostly,
    /// `#[advise(preferred_location(..))]`.
    PreferredLocation(HintLocation),
    /// `#[advise(accessed_by(..))]`.
    AccessedBy(HintLocation),
    /// `#[prefetch(..)]`.
    Prefetch(HintLocation),
    /// `#[discard]`.
    Discard,
}

impl Hint {
    /// Returns true if the same elements cannot have both hints.
    pub fn excludes(&self, other: &Hint) -> bool {
        matches!(
            (self, other),
            (Hint::Prefetch(_), Hint::Prefetch(_)) | (Hint::PreferredLocation(_), Hint::PreferredLocation(_))
        )
    }
}

/// A bound of a hint's range: an element, or the reason why its expression has no value.
pub type HintBound = Result<u64, Fault>;

/// A hint about all elements of an argument, or about a range of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangedHint {
    pub(super) hint: Hint,
    range: Option<HintRange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HintRange {
    from: HintBound,
    /// `None` for the end of the argument.
    to: Option<HintBound>,
}

impl RangedHint {
    /// Returns a hint about all elements.
    pub fn whole(hint: Hint) -> RangedHint {
        RangedHint { hint, range: None }
    }

    /// Returns a hint about the elements from `from` to `to`, exclusive. Without `to`, they extend to the end.
    pub fn within(hint: Hint, from: HintBound, to: Option<HintBound>) -> RangedHint {
        RangedHint { hint, range: Some(HintRange { from, to }) }
    }

    /// Returns true if it is about a range.
    pub(super) fn has_range(&self) -> bool {
        self.range.is_some()
    }

    /// Returns the elements among the `len` of the argument.
    pub(super) fn elements(&self, len: u64) -> Result<Range<u64>, ManagedFault> {
        let Some(HintRange { from, to }) = self.range else { return Ok(0..len) };
        let bound = |bound: HintBound| bound.map_err(|fault| ManagedFault::HintBound { fault });
        let (from, to) = (bound(from)?, to.map_or(Ok(len), bound)?);
        match from <= to && to <= len {
            true => Ok(from..to),
            false => Err(ManagedFault::HintRange { from, to, len }),
        }
    }
}

/// The location that a hint refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintLocation {
    /// The device of the context in which the memory was allocated.
    Device,
    /// A device of the graph, by its index.
    Nth(u32),
    /// The host.
    Host,
    /// A fixed location.
    At(Location),
}

/// Advice about managed memory, for [`Builder::advise`](crate::builder::Builder::advise).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Advice {
    /// The memory is mostly read: `#[advise(read_mostly)]`.
    ReadMostly,
    /// The pages should be kept at this location: `#[advise(preferred_location(..))]`.
    PreferredLocation(Location),
    /// This device, or the host, accesses the memory: `#[advise(accessed_by(..))]`.
    AccessedBy(Location),
}

impl From<Advice> for Hint {
    fn from(advice: Advice) -> Hint {
        match advice {
            Advice::ReadMostly => Hint::ReadMostly,
            Advice::PreferredLocation(location) => Hint::PreferredLocation(HintLocation::At(location)),
            Advice::AccessedBy(location) => Hint::AccessedBy(HintLocation::At(location)),
        }
    }
}
