//! A declaration of kernels held against their PTX: CW301 to CW308.
//!
//! All faults are found at once. The sizes of types that are not Rust's own are not known here; [`Checked`] says which
//! size the PTX has, and rustc compares.

mod check;
mod declaration;
mod elements;
mod limits;
mod open;

pub use check::{check, check_file};
pub use declaration::{
    Access, Checked, Declaration, Declared, Finding, Kind, Open, Primitive, Proof, Unproved, Values,
};
pub use limits::{BlockRule, MOST_STATIC_SHARED, static_shared};

#[cfg(test)]
mod tests;
