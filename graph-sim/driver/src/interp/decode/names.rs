//! The names, shared variables and addresses of a module, which the decoding of all its functions shares.

use crate::interp::space::{CODE, PARAM};
use cuweave_ptx as ptx;
use std::collections::HashMap;

/// The numbers of a module's functions and variables, by name.
pub struct Names<'m> {
    pub functions: HashMap<&'m str, u32>,
    pub globals: HashMap<&'m str, u32>,
    pub shared: HashMap<&'m str, u32>,
}

/// A shared variable: its size, its alignment, and true if it is dynamic.
#[derive(Clone, Copy, Debug)]
pub struct SharedVariable {
    pub size: u64,
    pub align: u64,
    pub dynamic: bool,
}

pub fn shared_variable(variable: &ptx::Variable) -> SharedVariable {
    let dynamic = variable.dimensions.first() == Some(&0);
    SharedVariable {
        size: variable.size(),
        align: variable.align().max(if dynamic { 16 } else { 1 }),
        dynamic,
    }
}

/// Returns the address that stands for a function.
pub fn function_address(number: u32) -> u64 {
    CODE + u64::from(number) * 16
}

/// Returns the generic address of an offset in the kernel's parameters.
pub fn parameter_address(offset: u64) -> u64 {
    PARAM + offset
}
