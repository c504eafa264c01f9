//! What a module's file says, in the terms of the driver.

use crate::log;
use crate::status::{Result, Status};

/// A kernel of a file.
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Offset and length of each parameter in the parameter space.
    pub parameters: Vec<(usize, usize)>,
    /// The length of the parameter space.
    pub parameter_bytes: usize,
    /// `.maxntid`, or `.reqntid`, multiplied out.
    pub max_threads: Option<u32>,
    /// `.reqntid`.
    pub required_block: Option<[u32; 3]>,
    /// `.reqnctapercluster`.
    pub required_cluster: Option<[u32; 3]>,
    /// Static shared memory.
    pub shared_bytes: u32,
    /// Local memory of a thread.
    pub local_bytes: u32,
    /// Whether it begins with `griddepcontrol.wait`.
    pub waits_first: bool,
    /// Why it cannot be run, if it cannot.
    pub supported: std::result::Result<(), String>,
}

/// A variable of a file, in global or constant memory.
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// What it begins with.
    pub initial: Vec<u8>,
    /// Addresses in it: where, of which variable, and plus what.
    pub addresses: Vec<(usize, String, i64)>,
}

/// A file.
pub struct Image {
    /// Its kernels.
    pub kernels: Vec<Kernel>,
    /// Its variables.
    pub variables: Vec<Variable>,
}

/// Reads a file that a program gives the driver.
pub fn read(bytes: &[u8]) -> Result<Image> {
    if bytes.starts_with(b"\x7fELF") || bytes.starts_with(&[0x50, 0xed, 0x55, 0xba]) {
        let what = "a cubin or fat binary: machine code cannot be simulated, give the driver PTX";
        return Err(log::say(Status::NO_BINARY_FOR_GPU, what));
    }
    let _ = std::str::from_utf8(bytes).map_err(|_| log::say(Status::INVALID_IMAGE, "neither PTX nor a binary"))?;
    Err(Status::INVALID_PTX)
}
