//! Certificates that do not hold.

/// A certificate that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the certificate of `{function}` does not hold ({rule}): {reason}
  = note: this is a mistake of cuweave, not of the program: please report it with the text of `certificate()`
  = help: `#[graph(launches = \"as-written\")]` may avoid it"
)]
#[non_exhaustive]
pub struct BrokenCertificate {
    /// The graph function.
    pub function: String,
    /// The rule: a variant of `Rule` of the crate `cuweave-check`.
    pub rule: String,
    /// What does not hold.
    pub reason: String,
}
