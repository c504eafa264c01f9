//! Collectives: the descriptions that bodies of `#[call(collective)]` give, and the communicators behind them.

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
    /// The position of the first collective that differs, and a text that names it on both sides; or `None` and the reason that they
    /// cannot be compared.
    fn agree(&self, own: &Sequence<'_>) -> Result<(), (Option<usize>, String)>;

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
    fn check(&self) -> Result<(), String>;

    /// Called while the host waits for a launch, with the time since the wait began. Aborts the communicator if an error of it, or its
    /// limit of time, says that the launch does not end.
    fn waited(&self, time: Duration);
}

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
