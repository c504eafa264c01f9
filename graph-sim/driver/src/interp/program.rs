//! A decoded module.

use super::code::{Code, Function};

/// The code and variables of a module. The addresses of variables are passed at launch, so one program serves
/// every context.
#[derive(Debug)]
pub struct Program {
    /// The kernels, in the order of the file.
    pub entries: Vec<Entry>,
    /// The variables in global and constant memory, in the order of the file.
    pub variables: Vec<GlobalVariable>,
    /// The error, with its line, for which every driver refuses the file: an undefined label or name, or operands
    /// of a wrong size.
    pub invalid: Option<String>,
    pub(super) functions: Vec<Function>,
    pub(super) code: Code,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The offset and size of each parameter in the parameter space.
    pub parameters: Vec<(usize, usize)>,
    /// The size of the parameter space in bytes.
    pub parameter_bytes: usize,
    /// Static shared memory in bytes, including that of the functions that it calls.
    pub shared_bytes: u32,
    /// The local memory of its own variables in bytes.
    pub local_bytes: u32,
    /// The error names the instruction that cannot be run, with its line.
    pub supported: Result<(), String>,
    /// The index among the functions.
    pub(super) function: usize,
    /// The offset of each shared variable, by its number; `None` if the kernel does not use it.
    pub(super) shared: Vec<Option<u32>>,
}

/// A variable in global or constant memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalVariable {
    /// Its name.
    pub name: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The alignment in bytes.
    pub align: u64,
    /// True if it is in constant memory.
    pub constant: bool,
    /// True if it is in managed memory.
    pub managed: bool,
    /// True if it is only declared here, and defined in another module.
    pub external: bool,
    /// The initial bytes.
    pub initial: Vec<u8>,
    /// The relocations: the offset of 8 bytes (fewer at the end), the name of the variable, and the addend.
    /// Addresses of functions are already in `initial`.
    pub addresses: Vec<(usize, String, i64)>,
}

impl Program {
    /// Returns the index of the entry with that name.
    pub fn entry(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.name == name)
    }
}
