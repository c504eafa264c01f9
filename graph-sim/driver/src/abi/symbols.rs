//! The table of all symbols of the driver interface; those without an implementation refuse.

use crate::call::unsupported;

/// A symbol of the driver interface.
pub struct Symbol {
    /// Its name, suffix included.
    pub name: &'static str,
    /// The first CUDA version that has it.
    pub first: (u32, u32),
    /// The exported function.
    pub address: unsafe extern "C" fn(),
}

include!(concat!(env!("OUT_DIR"), "/symbols.rs"));
