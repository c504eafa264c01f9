//! Library calls and collectives.

pub(super) mod agreed;
pub(super) mod capture;
pub(super) mod captured;
pub(super) mod children;
pub(super) mod collective_order;
pub(super) mod collectives;
pub(super) mod order;
pub(super) mod recapture;
