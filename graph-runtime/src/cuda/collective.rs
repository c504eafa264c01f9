//! Collectives: the trait of communicators, and the descriptions that bodies of `#[call(collective)]` give.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use cudarc::driver::CudaStream;

/// The ranks of a communicator that are in this process.
///
/// A graph keeps the communicators of its collectives alive until its exec and its nodes are destroyed.
pub trait LocalRanks: Send + Sync + fmt::Debug {
    /// Returns the number of ranks in this process. Each is on its own device.
    fn ranks(&self) -> usize;

    /// Returns an id of the communicator that is the same for all of its ranks.
    fn key(&self) -> u64;

    /// Compares the collectives of a graph with the ranks in other processes, before anything is captured.
    ///
    /// # Errors
    ///
    /// The first difference, or the reason that they cannot be compared.
    fn agree(&self, own: &CollectiveSequence<'_>) -> Result<(), CollectiveDifference>;

    /// Locks the communicator: until the guard is dropped, no other thread can enqueue its collectives, and no
    /// abort can destroy it.
    fn alone(&self) -> MutexGuard<'_, ()>;

    /// Begins a group. The collectives of all ranks in this process are enqueued before the group ends.
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

    /// Checks that the communicator is usable.
    ///
    /// # Errors
    ///
    /// The reason that it is not.
    fn check(&self) -> Result<(), CommunicatorFault>;

    /// Called while the host waits for a launch. `time` is the time since the wait began. Aborts the
    /// communicator if it has an error or its timeout has passed, so the launch would never end.
    fn waited(&self, time: Duration);
}

/// The reason that the ranks of a communicator do not agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CollectiveDifference {
    /// A collective differs.
    Collective {
        /// The position of the first difference.
        at: usize,
        /// Text that describes the collective on both sides.
        text: String,
    },
    /// The communicator cannot compare them.
    Communicator(CommunicatorFault),
}

/// The reason that a communicator is unusable or cannot compare its ranks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommunicatorFault {
    /// The program aborted it.
    #[error("was aborted")]
    Aborted,
    /// It was dropped.
    #[error("was dropped")]
    Dropped,
    /// A rank did not answer while the ranks compared their collectives.
    #[error("was aborted: a rank has not answered within {limit:?}")]
    NoAnswer {
        /// The time limit for an answer.
        limit: Duration,
    },
    /// A launch did not end in time.
    #[error(
        "was aborted: a launch has taken longer than {limit:?}, the limit that `Communicator::set_timeout` \
        sets: a rank has not come, or needs longer"
    )]
    LongLaunch {
        /// The time limit for a launch.
        limit: Duration,
    },
    /// The library reported an asynchronous error.
    #[error("has failed on rank {rank}: {source}")]
    Failed {
        /// The rank.
        rank: u32,
        /// The error.
        source: LibraryError,
    },
    /// The ranks could not exchange their collectives.
    #[error("cannot compare its ranks: {0}")]
    NotCompared(#[source] LibraryError),
    /// The ranks have different collectives, but the first difference is unknown.
    #[error("their collectives have different digests")]
    Digests,
}

/// An error of a communicator's library, such as `cuweave::nccl::Error`. Errors with the same text compare
/// equal.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct LibraryError(Arc<dyn Error + Send + Sync>);

impl LibraryError {
    /// Wraps an error.
    #[doc(hidden)]
    pub fn new(error: impl Error + Send + Sync + 'static) -> LibraryError {
        LibraryError(Arc::new(error))
    }

    /// Returns the library's error.
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

/// The collectives of one communicator in a graph, in a rank's order.
#[derive(Clone, Debug)]
pub struct CollectiveSequence<'s> {
    /// The operations with their counts and types.
    pub texts: &'s [String],
    /// How they interleave with the collectives of the graph's other communicators.
    pub interleavings: Vec<Interleaving>,
}

/// How a communicator's collectives interleave with another communicator's.
#[derive(Clone, Debug)]
pub struct Interleaving {
    /// The key of the other communicator.
    pub key: u64,
    /// For each collective, the number of the other communicator's collectives that precede it on the device.
    pub before: Vec<u64>,
}

/// The function that enqueues a collective.
type Enqueue = Box<dyn FnOnce(&CudaStream) -> Result<(), String> + Send + Sync>;

/// A rank's collective, as the body of a library call describes it.
pub struct Collective {
    /// The communicator.
    pub communicator: Arc<dyn LocalRanks>,
    /// The operation with its count and types. The same text on all ranks.
    pub text: String,
    /// Enqueues the collective in a stream of the rank's device.
    pub enqueue: Enqueue,
}

impl fmt::Debug for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collective").field("text", &self.text).finish_non_exhaustive()
    }
}
