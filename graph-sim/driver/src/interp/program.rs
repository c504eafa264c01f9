//! A module as code that can be run.

use super::code::{Code, Function};

/// A module's code and variables. Addresses of variables are given at launch, so one program serves any context.
#[derive(Debug)]
pub struct Program {
    /// Entries, in the file's order.
    pub entries: Vec<Entry>,
    /// Variables in global and constant memory, in the file's order.
    pub variables: Vec<GlobalVariable>,
    /// Why no driver would take the file, if so: a label or name that is not there, operands of a wrong size. Names the line.
    pub invalid: Option<String>,
    pub(super) functions: Vec<Function>,
    pub(super) code: Code,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Offset and length of each parameter in the parameter space.
    pub parameters: Vec<(usize, usize)>,
    /// The length of the parameter space.
    pub parameter_bytes: usize,
    /// Static shared memory, of the functions that it calls too.
    pub shared_bytes: u32,
    /// Local memory that its own variables take.
    pub local_bytes: u32,
    /// Why it cannot be run, if it cannot: names the instruction and its line.
    pub supported: Result<(), String>,
    /// Place among the functions.
    pub(super) function: usize,
    /// Offsets of the shared variables that it uses, by their number.
    pub(super) shared: Vec<Option<u32>>,
}

/// A variable in global or constant memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalVariable {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its alignment.
    pub align: u64,
    /// Whether it is in constant memory.
    pub constant: bool,
    /// Whether it is declared here and defined in another module.
    pub external: bool,
    /// What it begins with: `bytes` of it.
    pub initial: Vec<u8>,
    /// Addresses in it: where (8 bytes, less at its end), of which variable, and plus what. Addresses of functions are
    /// in `initial` already.
    pub addresses: Vec<(usize, String, i64)>,
}

impl Program {
    /// Place of the entry of that name.
    pub fn entry(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.name == name)
    }
}
