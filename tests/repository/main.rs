//! The sources and the pages of the repository.

mod docs;
mod layers;
