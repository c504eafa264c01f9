//! Conversions of errors: from the errors of cudarc and of driver calls, and to text.

use std::ops::RangeInclusive;

use std::fmt;
use std::panic::Location;

use cudarc::driver::DriverError;

use crate::cuda::{self, Failure, Unavailable};
use crate::watch::AbortedCommunicator;

use super::{DriverFailure, Error, FailedCall, PlanFault, SourceLocation, describe};

impl From<DriverError> for Error {
    /// Converts an error that a cudarc call returned, with the source location of the `?`.
    #[track_caller]
    fn from(error: DriverError) -> Error {
        let at = Location::caller();
        let call = FailedCall::Cudarc { file: at.file(), line: at.line() };
        // cudarc made a call, so the driver library is loaded already.
        let code = cuda::code_of(error.0);
        let text = if cuda::driver().is_ok() { cuda::error_name(code).1 } else { String::new() };
        let name = format!("{:?}", error.0);
        Error::Driver(Box::new(DriverFailure { call, at: None, code, name, bytes: None, text }))
    }
}

impl Error {
    /// Returns the error of a failed driver call.
    pub(crate) fn driver(failure: Failure, at: Option<Box<SourceLocation>>) -> Error {
        Error::Driver(Box::new(describe(failure, at)))
    }

    /// Returns the error of a failed call that allocates `bytes` bytes.
    pub(crate) fn allocation(failure: Failure, at: Option<Box<SourceLocation>>, bytes: u64) -> Error {
        let asked = (failure.is_out_of_memory() && bytes > 0).then_some(bytes);
        Error::Driver(Box::new(DriverFailure { bytes: asked, ..describe(failure, at) }))
    }

    /// Returns the error of a size out of its range. `text` is that of `#[at_most(..)]`.
    pub(crate) fn size_out_of_range(
        at: Box<SourceLocation>,
        text: &str,
        range: RangeInclusive<u64>,
        value: u64,
    ) -> Error {
        let (lo, hi) = range.into_inner();
        Error::Range { at, buffer: String::new(), range: text.to_owned(), lo, hi, len: value }
    }
}

#[doc(hidden)]
impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        Error::driver(failure, None)
    }
}

#[doc(hidden)]
impl From<AbortedCommunicator> for Error {
    fn from(AbortedCommunicator { function, reason }: AbortedCommunicator) -> Error {
        Error::Communicator { function, reason }
    }
}

#[doc(hidden)]
impl From<Unavailable> for Error {
    fn from(reason: Unavailable) -> Error {
        match reason {
            Unavailable::NoDriver(library) => Error::NoDriver(library),
            Unavailable::TooOld(found) => Error::DriverTooOld { found },
            Unavailable::Failed(failure) => Error::from(failure),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<PlanFault> for Error {
    fn from(fault: PlanFault) -> Error {
        Error::Plan(Box::new(fault))
    }
}
