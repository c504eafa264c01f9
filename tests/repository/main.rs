//! Checks of the repository's sources and documentation.

mod docs;
mod layers;
