//! The attributes of arguments about managed memory.

use super::location::Location;

/// An attribute of an argument that is bound to managed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// `#[advise(read_mostly)]`.
    ReadMostly,
    /// `#[advise(preferred_location(..))]`.
    PreferredLocation(Site),
    /// `#[advise(accessed_by(..))]`.
    AccessedBy(Site),
    /// `#[prefetch(..)]`.
    Prefetch(Site),
    /// `#[discard]`.
    Discard,
}

impl Hint {
    /// Returns true if one argument cannot have both.
    pub fn excludes(&self, other: &Hint) -> bool {
        matches!(
            (self, other),
            (Hint::Prefetch(_), Hint::Prefetch(_)) | (Hint::PreferredLocation(_), Hint::PreferredLocation(_))
        )
    }
}

/// The location of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// The device of the context that the memory was allocated in.
    Device,
    /// A device of the graph, by the index of its context.
    Nth(u32),
    /// The host.
    Host,
    /// A location that the program names.
    At(Location),
}

/// Advice about managed memory, for [`Builder::advise`](crate::builder::Builder::advise).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Advice {
    /// It is mostly read: `#[advise(read_mostly)]`.
    ReadMostly,
    /// It is best at this location: `#[advise(preferred_location(..))]`.
    PreferredLocation(Location),
    /// This device, or the host, accesses it: `#[advise(accessed_by(..))]`.
    AccessedBy(Location),
}

impl From<Advice> for Hint {
    fn from(advice: Advice) -> Hint {
        match advice {
            Advice::ReadMostly => Hint::ReadMostly,
            Advice::PreferredLocation(location) => Hint::PreferredLocation(Site::At(location)),
            Advice::AccessedBy(location) => Hint::AccessedBy(Site::At(location)),
        }
    }
}
