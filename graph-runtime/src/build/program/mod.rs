//! The flat programs of functions, and their caches.

pub(super) mod emptied;
pub(super) mod instances;
pub(super) mod plans;
pub(super) mod recall;
pub(super) mod shared_state;
