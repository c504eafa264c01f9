//! The table of all symbols of the driver API. Symbols without an implementation return an error.

use crate::call::unsupported;

/// A symbol of the driver API.
pub struct Symbol {
    /// The name, including its version suffix.
    pub name: &'static str,
    /// The first CUDA version with the symbol.
    pub first: (u32, u32),
    /// The exported function.
    pub address: unsafe extern "C" fn(),
}

include!(concat!(env!("OUT_DIR"), "/symbols.rs"));
