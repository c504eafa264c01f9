//! Numbers: formats, rounding, conversions and float arithmetic as PTX defines them.
//!
//! Registers hold 64 bits. A value of a narrower type is kept extended by its sign or by zeros; readers
//! take the low bits only. Arithmetic of formats below 64 bits is done once in `f64`, rounded to odd, and then
//! rounded to the format: 53 bits are enough for that to be one correct rounding in every mode.

mod convert;
mod float;
mod format;

pub use convert::{ConvertSpec, convert, extend, pack_saturated};
pub use float::{FloatOp, FloatSpec, float};
pub use format::{Mode, format, narrow, widen};
