//! Describes failed driver calls.

use crate::cuda::{self, Failure};

use super::parts::SourceLocation;
use super::parts::{DriverFailure, FailedCall};

/// Describes a failed call with the driver's error texts and log.
pub(crate) fn describe(failure: Failure, at: Option<Box<SourceLocation>>) -> DriverFailure {
    let (name, mut text) = cuda::error_name(failure.code);
    let log = cuda::log_since_mark();
    if !log.is_empty() {
        text = if text.is_empty() { log } else { format!("{text}: {log}") };
    }
    let call = FailedCall::Named(failure.call.to_owned());
    DriverFailure { call, at, code: failure.code, name, bytes: None, text }
}

/// Describes a failed load of an image, with the log of the driver's compiler.
pub(crate) fn describe_load_failure(failure: Failure, log: &str) -> DriverFailure {
    let mut described = describe(failure, None);
    if !log.is_empty() {
        described.text = format!("{}: {log}", described.text);
    }
    described
}

/// Describes a failed load of an image on one line.
pub(crate) fn load_failure_line(failure: Failure, log: &str) -> String {
    describe_load_failure(failure, log).to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}
