//! Checks kernel declarations against their PTX (CW301 to CW308).
//!
//! Input: a module and the declarations. Output: all findings at once, and per kernel the proofs and the assumed
//! parts ([`Checked`]). The sizes of non-primitive types are unknown here; [`Checked::layout`] has the sizes in the
//! PTX, which rustc compares.

mod check;
mod declaration;
mod elements;
mod extents;
mod limits;
mod open;
mod textures;

pub use check::{check, check_file};
pub use declaration::{
    Access, Checked, Declaration, Declared, Difference, Finding, Kind, Open, PointerTable, Primitive, Proof,
    Quotient, Rounded, Unproved, Values,
};
pub use limits::{BlockRule, MOST_STATIC_SHARED, static_shared};

#[cfg(test)]
mod tests;
