//! The result of a verification.

use std::fmt;

use crate::error::Difference;

/// The result of `exec.verify(&stream)`: whether the graph and its statements as written have left the same bytes.
///
/// It holds for the bytes that the arguments had, and for this device. Prints as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the result of a verification is in its value"]
pub struct Verification {
    function: String,
    device: String,
    launches: u32,
    comparable: u64,
    not_comparable: u64,
    outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Compared(Option<Difference>),
    NotVerified(String),
}

impl Verification {
    /// Returns the result of a comparison.
    pub(super) fn new(
        function: &str,
        device: String,
        launches: u32,
        [comparable, not_comparable]: [u64; 2],
        difference: Option<Difference>,
    ) -> Verification {
        let outcome = Outcome::Compared(difference);
        Verification { function: function.to_owned(), device, launches, comparable, not_comparable, outcome }
    }

    /// Returns the result if nothing could be compared.
    pub(super) fn not_verified_because(function: &str, reason: String) -> Verification {
        Verification {
            function: function.to_owned(),
            device: String::new(),
            launches: 0,
            comparable: 0,
            not_comparable: 0,
            outcome: Outcome::NotVerified(reason),
        }
    }

    /// Returns true if all bytes that the graph may write were compared, and were equal in all launches.
    ///
    /// It is false if some bytes cannot be compared: see [`not_comparable`](Verification::not_comparable). A program
    /// whose statements do not determine all bytes has no [`difference`](Verification::difference) at least.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        matches!(self.outcome, Outcome::Compared(None)) && self.not_comparable == 0
    }

    /// Returns the first difference.
    #[must_use]
    pub fn difference(&self) -> Option<&Difference> {
        match &self.outcome {
            Outcome::Compared(difference) => difference.as_ref(),
            Outcome::NotVerified(_) => None,
        }
    }

    /// Returns the reason why nothing was compared: there was no memory for it.
    #[must_use]
    pub fn not_verified(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Compared(_) => None,
            Outcome::NotVerified(reason) => Some(reason),
        }
    }

    /// Returns the number of launches of the graph that were compared.
    #[must_use]
    pub fn launches(&self) -> u32 {
        self.launches
    }

    /// Returns the number of bytes that were compared. After a difference the remaining ones are left out.
    #[must_use]
    pub fn compared(&self) -> u64 {
        self.comparable
    }

    /// Returns the number of bytes that differ between two runs of the statements as written, such as sums of floats
    /// by atomics, or elements that nothing writes.
    #[must_use]
    pub fn not_comparable(&self) -> u64 {
        self.not_comparable
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verification { function, device, launches, comparable, not_comparable, outcome } = self;
        match outcome {
            Outcome::NotVerified(reason) => return write!(f, "`{function}` is not verified: {reason}"),
            Outcome::Compared(Some(difference)) => {
                write!(f, "`{function}` does not compute what its statements do on {device}: {difference}")?;
            }
            Outcome::Compared(None) => write!(
                f,
                "`{function}` leaves the bytes that its statements do, on these bytes and {device}: \
                    {comparable} bytes, {launches} launches"
            )?,
        }
        match not_comparable {
            0 => Ok(()),
            count => {
                write!(f, "; {count} bytes are not comparable, since the statements do not determine them")
            }
        }
    }
}
