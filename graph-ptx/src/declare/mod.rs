//! Checks kernel declarations against their PTX (CW301 to CW308).
//!
//! Input: a module and the declarations of kernels and variables. Output: all findings at once, and per kernel the
//! proofs and the assumed parts ([`CheckedKernel`]). The sizes of non-primitive types are unknown here;
//! [`CheckedKernel::layout`] has the sizes in the PTX, which rustc compares.

mod check;
mod conditions;
mod declaration;
mod elements;
mod extents;
mod limits;
mod textures;
mod unproved;
mod variables;

pub use check::{check, check_file};
pub use conditions::sets_conditions;
pub use declaration::{
    CheckedKernel, Declaration, DeclaredAccess, DeclaredKind, DeclaredParameter, DeclaredPart, Difference,
    Finding, ParameterProof, PointerTable, PrimitiveType, QuotientVariable, RoundedVariable, Unproved,
    ValidBits,
};
pub use limits::{BlockRule, MAX_STATIC_SHARED, static_shared};
pub use variables::variable;

#[cfg(test)]
mod tests;
