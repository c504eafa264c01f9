//! The bytes that an operation touched.

use crate::interp::{ATOMIC, READ, WRITTEN};

/// Flag of bytes whose allocation begins or ends.
pub const LIFE: u8 = 16;

/// The ranges that an operation touched: start, end, and flags [`READ`], [`WRITTEN`], [`ATOMIC`] or [`LIFE`].
pub type Touched = Vec<(u64, u64, u8)>;

/// Returns the verb of an access with these flags.
pub fn access_word(flags: u8) -> &'static str {
    match flags {
        READ => "reads",
        ATOMIC => "updates",
        WRITTEN => "writes",
        LIFE => "begins or ends the life of",
        _ => "reads and writes",
    }
}
