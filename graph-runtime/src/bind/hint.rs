//! Hints about managed memory: the attributes `#[advise(..)]`, `#[prefetch(..)]` and `#[discard]` of arguments,
//! as values.

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
    /// Returns true if one argument cannot have both hints.
    pub fn excludes(&self, other: &Hint) -> bool {
        matches!(
            (self, other),
            (Hint::Prefetch(_), Hint::Prefetch(_)) | (Hint::PreferredLocation(_), Hint::PreferredLocation(_))
        )
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
