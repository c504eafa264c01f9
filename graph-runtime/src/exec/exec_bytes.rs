//! The device memory that an exec takes.

/// The device memory of one exec of a [`Bank`](crate::Bank), or of all of them, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecBytes {
    /// The temporaries. They lie in the arena, which all execs share. Rounded up to the granularity of the device's
    /// memory (2 MiB).
    pub planned: u64,
    /// The part of `planned` that library calls use as scratch: that of the call which needs most.
    pub library: u64,
    /// The estimate of what the driver takes to instantiate the graph: about 2.3 KiB for each node, 107 KiB for each
    /// path, and 5 KB for each edge that joins paths. Fitted to 59 shapes of graphs on one H200 (driver 580.159).
    pub driver: u64,
}

impl ExecBytes {
    /// Returns the sum of the temporaries, which include those of library calls, and the driver's bytes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.planned.saturating_add(self.driver)
    }
}
