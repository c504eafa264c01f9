//! The list of a graph's collectives, by which users compare ranks.

use std::fmt;

/// The collectives of a graph, in the order in which each rank runs them.
///
/// Ranks with equal [digests](Collectives::digest) run the same collectives in the same order. `Display` prints
/// one line for each collective, then the digest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collectives {
    pub(crate) list: Vec<CollectiveEntry>,
}

/// A collective of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectiveEntry {
    /// The number of the communicator, in the order in which the graph first uses them.
    pub communicator: usize,
    /// The operation with its count and type, such as `all_reduce sum of 1024 f32`.
    pub operation: String,
    /// The name of its statement.
    pub name: String,
    /// The file of the statement.
    pub file: String,
    /// The line of the statement.
    pub line: u32,
}

impl Collectives {
    /// Returns the collectives in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &CollectiveEntry> {
        self.list.iter()
    }

    /// Returns the number of collectives.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns true if the graph has no collectives.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns a 64-bit FNV-1a hash of the operations, counts, types and communicators, in order. It is the
    /// same in every build and on every machine. It ignores names and source locations of statements.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let words = self.list.iter().flat_map(|entry| {
            let number = u64::try_from(entry.communicator).unwrap_or(u64::MAX).to_le_bytes();
            number.into_iter().chain(entry.operation.bytes()).chain([0xff])
        });
        words.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}

impl fmt::Display for Collectives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, CollectiveEntry { communicator, operation, name, file, line }) in
            self.list.iter().enumerate()
        {
            writeln!(f, "{at}: communicator {communicator}, {operation}, `{name}` ({file}:{line})")?;
        }
        write!(f, "digest {:016x}", self.digest())
    }
}
