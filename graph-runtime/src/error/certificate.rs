//! Certificates that the checker refuses.

use cuweave_check::Refusal;

/// A certificate that the checker refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the certificate of `{function}` does not hold ({:?}): {refusal}
  = note: this is a mistake of cuweave, not of the program: please report it with the text of `certificate()`
  = help: `#[graph(launches = \"as-written\")]` may avoid it",
    refusal.rule
)]
#[non_exhaustive]
pub struct BrokenCertificate {
    /// The graph function.
    pub function: String,
    /// The rule that is violated, and how.
    #[source]
    pub refusal: Refusal,
}
