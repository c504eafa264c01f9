//! A module as code that can be run.

use super::code::{Code, Function};

/// A module's code and variables. Addresses of variables are given at launch, so one program serves any context.
#[derive(Debug)]
pub struct Program {
    /// Entries, in the file's order.
    pub entries: Vec<Entry>,
    /// Variables in global and constant memory, in the file's order.
    pub variables: Vec<GlobalVariable>,
    /// The error, with its line, for which every driver refuses the file: an undefined label or name, operands of a wrong size.
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
    /// The error names the instruction, with its line, for which it cannot be run.
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
    /// True if it is in constant memory.
    pub constant: bool,
    /// True if it is declared here and defined in another module.
    pub external: bool,
    /// The initial bytes.
    pub initial: Vec<u8>,
    /// Relocations: the offset of 8 bytes (fewer at the end), the variable, and the addend. Addresses of functions are
    /// in `initial` already.
    pub addresses: Vec<(usize, String, i64)>,
}

impl Program {
    /// Place of the entry of that name.
    pub fn entry(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.name == name)
    }
}
