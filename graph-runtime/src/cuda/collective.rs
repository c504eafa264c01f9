//! Collectives: the descriptions that bodies of `#[call(collective)]` give, and the communicators behind them.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use cudarc::driver::CudaStream;

/// The ranks of a communicator that are in this process.
///
/// A graph keeps the communicators of its collectives until its exec and its nodes are destroyed.
pub trait Clique: Send + Sync + fmt::Debug {
    /// Returns the number of ranks in this process, each on a device of its own.
    fn ranks(&self) -> usize;

    /// Returns a number of the communicator that is the same for all of its ranks.
    fn key(&self) -> u64;

    /// Compares the collectives of a graph with those of the ranks in other processes, before anything is captured.
    ///
    /// # Errors
    ///
    /// The first difference, or the reason that they cannot be compared.
    fn agree(&self, own: &Sequence<'_>) -> Result<(), Difference>;

    /// Keeps other threads from enqueuing collectives of the communicator, and an abort from destroying it, until the guard is dropped.
    fn alone(&self) -> MutexGuard<'_, ()>;

    /// Begins a group: the collectives of all ranks in this process are enqueued before the group ends.
    ///
    /// # Errors
    ///
    /// The text of the library's error.
    fn begin(&self) -> Result<(), String>;

    /// Ends a group.
    ///
    /// # Errors
    ///
    /// The text of the library's error.
    fn end(&self) -> Result<(), String>;

    /// Returns the reason that the communicator is of no use any more, if there is one.
    ///
    /// # Errors
    ///
    /// That reason.
    fn check(&self) -> Result<(), CommunicatorFault>;

    /// Called while the host waits for a launch, with the time since the wait began. Aborts the communicator if an error of it, or its
    /// limit of time, says that the launch does not end.
    fn waited(&self, time: Duration);
}

/// The reason that the ranks of a communicator do not agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// A collective differs.
    Collective {
        /// The position of the first one that does.
        at: usize,
        /// A text that names it on both sides.
        text: String,
    },
    /// The communicator cannot compare them.
    Communicator(CommunicatorFault),
}

/// The reason that a communicator is of no use any more, or cannot compare its ranks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommunicatorFault {
    /// The program has aborted it.
    #[error("was aborted")]
    Aborted,
    /// It was dropped.
    #[error("was dropped")]
    Dropped,
    /// A rank has not answered while the ranks compared their collectives.
    #[error("was aborted: a rank has not answered within {limit:?}")]
    NoAnswer {
        /// The limit of an answer.
        limit: Duration,
    },
    /// A launch has not ended in time.
    #[error(
        "was aborted: a launch has taken longer than {limit:?}, the limit that `Communicator::set_timeout` sets: a rank has not come, or needs longer"
    )]
    LongLaunch {
        /// The limit of a launch.
        limit: Duration,
    },
    /// The library has met an error in the background.
    #[error("has failed on rank {rank}: {source}")]
    Failed {
        /// The rank.
        rank: u32,
        /// The error.
        source: LibraryError,
    },
    /// The ranks cannot exchange what they compare.
    #[error("cannot compare its ranks: {0}")]
    NotCompared(#[source] LibraryError),
    /// The ranks have different collectives, and the first one is not found.
    #[error("their collectives have different digests")]
    Digests,
}

/// An error of the library behind a communicator, such as `cuweave::nccl::Error`. Errors of one text are equal.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct LibraryError(Arc<dyn Error + Send + Sync>);

impl LibraryError {
    /// Keeps an error.
    #[doc(hidden)]
    pub fn new(error: impl Error + Send + Sync + 'static) -> LibraryError {
        LibraryError(Arc::new(error))
    }

    /// Returns the library's own error.
    #[must_use]
    pub fn get(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }
}

impl PartialEq for LibraryError {
    fn eq(&self, other: &LibraryError) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for LibraryError {}

/// The collectives of one communicator in a graph, in the order of a rank.
#[derive(Clone, Debug)]
pub struct Sequence<'s> {
    /// The operations with their counts and types.
    pub texts: &'s [String],
    /// Their places among the collectives of the graph's other communicators.
    pub beside: Vec<Beside>,
}

/// The places of collectives among those of another communicator.
#[derive(Clone, Debug)]
pub struct Beside {
    /// The key of the other communicator.
    pub key: u64,
    /// For each collective, the number of the other communicator's that come before it on the device.
    pub before: Vec<u64>,
}

/// The function that enqueues a collective.
type Enqueue = Box<dyn FnOnce(&CudaStream) -> Result<(), String> + Send + Sync>;

/// A collective of one rank, as the body of a library call describes it.
pub struct Collective {
    /// The communicator.
    pub clique: Arc<dyn Clique>,
    /// The operation with its count and types: the same text on all ranks.
    pub text: String,
    /// Enqueues the collective in a stream of the rank's device.
    pub enqueue: Enqueue,
}

impl fmt::Debug for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collective").field("text", &self.text).finish_non_exhaustive()
    }
}
