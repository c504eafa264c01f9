//! The last launch of an exec, which may be in flight.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::cuda::{Driver, LocalRanks, Outcome, Stream};
use crate::waits::{self, OwnedEvent};
use crate::watch;

/// The last launch.
#[derive(Debug)]
pub(crate) struct InFlight {
    /// The event that records the last launch.
    pub done: Arc<OwnedEvent>,
    /// True if the last launch is in flight but the event does not record it.
    pub lost: bool,
    /// The stream of the last launch; `None` before the first one.
    pub last: Option<Arc<CudaStream>>,
    /// The communicators of its collectives.
    pub communicators: Vec<Arc<dyn LocalRanks>>,
}

impl InFlight {
    /// Records the launch in the event. If that fails, waits for the launch on the host.
    pub fn record(&self, driver: &Driver, stream: Stream) -> Outcome<()> {
        let recorded = driver.record(self.done.raw(), stream).or_else(|_| driver.synchronize(stream));
        recorded.or_else(|_| driver.synchronize_context())
    }

    /// Waits on the host for the last launch. If it waits for a rank that is gone, its communicator is
    /// aborted, which ends the launch.
    pub fn wait_on_host(&self, driver: &Driver) -> Outcome<()> {
        if self.last.is_some() && !self.lost {
            watch::poll_until(driver, || driver.is_over(self.done.raw()) != Ok(false));
        }
        match &self.last {
            None => Ok(()),
            Some(_) if self.lost => waits::ignore_ended_context(driver.synchronize_context()),
            Some(last) => waits::wait_on_host(driver, self.done.raw(), Some(Stream::from_cudarc(last))),
        }
    }
}
