//! The attributes of arguments about managed memory.

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

/// The location of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// The device that the graph is built for.
    Device,
    /// The host.
    Host,
}
