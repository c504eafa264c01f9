//! Number formats, rounding, conversions and float arithmetic as PTX defines them.
//!
//! Registers have 64 bits. A value of a narrower type is kept sign- or zero-extended, and readers use only its
//! low bits. Arithmetic of formats below 64 bits is computed once in `f64`, rounded to odd, and then rounded to
//! the format. The 53 bits of an `f64` are enough to make this equal to one correct rounding in every mode.

mod convert;
mod float;
mod format;

pub use convert::{ConvertSpec, convert, extend, pack_saturated};
pub use float::{FloatOp, FloatSpec, float};
pub use format::{RoundingMode, format, narrow, widen};
