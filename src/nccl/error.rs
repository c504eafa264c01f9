//! The errors of communicators and collectives.

use std::fmt;
use std::time::Duration;

use cudarc::driver::DriverError;

use crate::error::CommunicatorFault;

/// An error of a communicator or of a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// NCCL cannot be loaded, with the loader's reasons.
    Missing(String),
    /// The driver is the simulator, on which NCCL cannot run.
    Simulated,
    /// A function of NCCL failed.
    #[non_exhaustive]
    Status {
        /// The function.
        call: &'static str,
        /// Its `ncclResult_t`.
        status: u32,
        /// NCCL's text for that number.
        text: String,
    },
    /// A call of the driver failed.
    Driver(DriverError),
    /// A communicator has no ranks, or the rank is not less than their number.
    #[non_exhaustive]
    NoRank {
        /// The rank.
        rank: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// Two ranks are on one device.
    SameDevice(usize),
    /// The statement runs on a device on which the communicator has no rank in this process.
    OtherDevice(usize),
    /// The element type does not fit the operation.
    Reduction(String),
    /// A rank has not answered within the time limit.
    TimedOut(Duration),
    /// The communicator was aborted.
    Dead(CommunicatorFault),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Missing(tried) => {
                write!(f, "NCCL cannot be loaded: {tried}; install `nvidia-nccl-cu13` or `libnccl2`, and let the \
                    loader find `libnccl.so.2`")
            }
            Error::Simulated => f.write_str(
                "NCCL does not run on the simulated driver, and no `libnccl_simulated.so` that stands in for it is \
                    found",
            ),
            Error::Status { call, status, text } => write!(f, "`{call}` returned {status}, {text}"),
            Error::Driver(error) => write!(f, "{error}"),
            Error::NoRank { rank, ranks } => write!(f, "rank {rank} is out of range for {ranks} ranks"),
            Error::SameDevice(device) => write!(f, "two ranks of a communicator are on device {device}"),
            Error::OtherDevice(device) => {
                write!(f, "the communicator has no rank on device {device} in this process")
            }
            Error::Reduction(what) => f.write_str(what),
            Error::TimedOut(limit) => write!(f, "a rank has not answered within {limit:?}"),
            Error::Dead(reason) => write!(f, "the communicator {reason}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Error {
        Error::Driver(error)
    }
}
