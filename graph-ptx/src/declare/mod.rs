//! Checks declarations of kernels against their PTX: CW301 to CW308. All faults are found at once. The sizes of types
//! other than primitive ones are unknown here: [`Checked`] has the sizes in the PTX, which rustc compares.

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
