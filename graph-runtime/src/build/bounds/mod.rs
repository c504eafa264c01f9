//! Fast paths for setters that change bounds.

pub(super) mod linear;
