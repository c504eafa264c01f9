//! The reasons for which a kernel is left as it is written.

/// A reason why an entry is left as it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no entry of that name with a body.
    #[error("the file has no kernel `{0}`")]
    NoEntry(String),
    /// It orders itself after other kernels already.
    #[error("it has a `griddepcontrol` of its own, in line {line}")]
    Dependency {
        /// The line in the file.
        line: u32,
    },
    /// All of its blocks wait for each other.
    #[error("it is for cooperative launches: it reads `{register}`, in line {line}")]
    Cooperative {
        /// The register that only cooperative launches have.
        register: String,
        /// The line in the file.
        line: u32,
    },
    /// Its blocks are in clusters.
    #[error("its blocks are in clusters: `{what}`, in line {line}")]
    Cluster {
        /// A directive, instruction or register.
        what: String,
        /// The line in the file.
        line: u32,
    },
    /// The callee is not in the file: the device runtime, which launches kernels, or unknown.
    #[error("it calls `{name}`, which the file does not define, in line {line}")]
    Call {
        /// The callee.
        name: String,
        /// The line in the file.
        line: u32,
    },
    /// It calls through a register, or keeps the address of a function.
    #[error("it has a call, or an address of a function, that cannot be followed, in line {line}")]
    Indirect {
        /// The line in the file.
        line: u32,
    },
    /// Texture and surface reads have caches, and orders, of their own.
    #[error("it reads textures or surfaces: `{what}`, in line {line}")]
    Texture {
        /// The instruction.
        what: String,
        /// The line in the file.
        line: u32,
    },
    /// A texture, sampler or surface is a parameter.
    #[error("its parameter `{0}` is a texture, a sampler or a surface")]
    Opaque(String),
    /// Constant data that something other than the file may set.
    #[error("it uses the constant data `{0}`, which may be set from outside of the file")]
    Constant(String),
    /// Constant data that it finds by an address, which need not be its file's.
    #[error(
        "it reads constant data by an address, which may be set from outside of the file: `{what}`, in line {line}"
    )]
    ConstantAddress {
        /// The instruction that makes the address, or the parameter.
        what: String,
        /// The line in the file.
        line: u32,
    },
    /// A variable of the module that a second module cannot have a copy of.
    #[error("it uses the variable `{name}`, {why}")]
    Variable {
        /// The variable.
        name: String,
        /// Behind a comma.
        why: &'static str,
    },
    /// A special register that would mean something else, or is read in a way that is not understood.
    #[error("it reads `{register}`, in line {line}, in a way that cannot be kept in one launch of many")]
    Special {
        /// The register.
        register: String,
        /// The line in the file.
        line: u32,
    },
    /// A use of a parameter that is not a load of it, nor a plain use of its address.
    #[error("the use of its parameter `{name}` in line {line} is not understood")]
    Parameter {
        /// The parameter.
        name: String,
        /// The line in the file.
        line: u32,
    },
    /// It waits in a loop for another thread's write.
    #[error("it spins on memory: the loop at line {line} ends by what other threads write")]
    Spins {
        /// The line in the file.
        line: u32,
    },
    /// A directive whose meaning for the rewritten entry is not known.
    #[error("the directive `{name}`, in line {line}, is not known")]
    Directive {
        /// With its dot.
        name: String,
        /// The line in the file.
        line: u32,
    },
    /// It adds two products without a rounding modifier.
    #[error(
        "it adds two products, in line {line}, of which the assembler may round either together with the sum"
    )]
    Contraction {
        /// The line in the file.
        line: u32,
    },
    /// An instruction that the reader does not know.
    #[error("the instruction `{opcode}`, in line {line}, is not known")]
    Instruction {
        /// With its modifiers.
        opcode: String,
        /// The line in the file.
        line: u32,
    },
    /// The module's head cannot be made what the new text needs.
    #[error("{0}")]
    Head(String),
    /// The module is made for a debugger, whose data describes the kernels as they are written.
    #[error("the file is compiled for a debugger, whose data describes the kernels as they are written")]
    Debug,
    /// The parameters of so many members do not fit.
    #[error("the parameters of {}", unfit(*capacity))]
    Table {
        /// Members.
        capacity: u32,
    },
    /// The name of a variant is taken.
    #[error("the name `{0}` is taken")]
    Name(String),
    /// Two changes meet in one place: the text says something that was not foreseen.
    #[error("the text of line {line} is not understood")]
    Overlap {
        /// The line in the file.
        line: u32,
    },
}

fn unfit(capacity: u32) -> String {
    match capacity {
        1 => "one launch leave no room for those of others".to_owned(),
        _ => format!("{capacity} launches do not fit into those of one"),
    }
}
