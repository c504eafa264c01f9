//! The reasons that a kernel cannot be rewritten.
//!
//! Each has a line of the PTX if it concerns an instruction. The texts are shown in reports.

use std::error::Error;
use std::fmt::{Display, Formatter, Result};

/// The reason that an entry cannot be rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The module has no entry of this name with a body.
    NoEntry(String),
    /// It already orders itself after other kernels (`griddepcontrol`).
    Dependency {
        /// The line in the file.
        line: u32,
    },
    /// Its blocks synchronise with each other: it must be launched cooperatively.
    Cooperative {
        /// A register that only exists in cooperative launches.
        register: String,
        /// The line in the file.
        line: u32,
    },
    /// Its blocks are in clusters.
    Cluster {
        /// The directive, instruction or register.
        what: String,
        /// The line in the file.
        line: u32,
    },
    /// The callee is not in the file. It may be the device runtime, which launches kernels.
    Call {
        /// The callee.
        name: String,
        /// The line in the file.
        line: u32,
    },
    /// It makes an indirect call or takes the address of a function.
    Indirect {
        /// The line in the file.
        line: u32,
    },
    /// It reads textures or surfaces, which use other caches with another order.
    Texture {
        /// The instruction.
        what: String,
        /// The line in the file.
        line: u32,
    },
    /// A parameter is a texture, sampler or surface.
    Opaque(String),
    /// It uses constant data that host code or another file may set.
    Constant(String),
    /// It accesses constant data by address, which may not be the file's.
    ConstantAddress {
        /// The instruction that makes the address, or the parameter.
        what: String,
        /// The line in the file.
        line: u32,
    },
    /// A variable of the module that a second module cannot have a copy of.
    Variable {
        /// The variable.
        name: String,
        /// The reason, which follows a comma.
        why: &'static str,
    },
    /// A special register whose value would change, or whose use is not supported.
    Special {
        /// The register.
        register: String,
        /// The line in the file.
        line: u32,
    },
    /// A use of a parameter other than a load or a plain use of its address.
    Parameter {
        /// The parameter.
        name: String,
        /// The line in the file.
        line: u32,
    },
    /// It waits in a loop for a write of another thread.
    Spins {
        /// The line in the file.
        line: u32,
    },
    /// A directive with an unknown effect on the rewritten entry.
    Directive {
        /// The name with its dot.
        name: String,
        /// The line in the file.
        line: u32,
    },
    /// It adds two products without a rounding modifier.
    Contraction {
        /// The line in the file.
        line: u32,
    },
    /// An unknown instruction.
    Instruction {
        /// The instruction with its modifiers.
        opcode: String,
        /// The line in the file.
        line: u32,
    },
    /// It calls a function. Fusion of kernels from several files does not copy functions.
    Calls {
        /// The line in the file.
        line: u32,
    },
    /// An instruction by which blocks of a launch may order their accesses, or whose work may continue after the
    /// body.
    Beyond {
        /// The instruction with its modifiers.
        opcode: String,
        /// The line in the file.
        line: u32,
    },
    /// A barrier whose number or thread count is not a constant, or at which threads arrive without waiting.
    Barrier {
        /// The line in the file.
        line: u32,
    },
    /// No barrier identifier is free for the end of a body.
    Barriers,
    /// Threads end while others of the block go on to a barrier or a warp instruction.
    Ends {
        /// The line in the file.
        line: u32,
    },
    /// The module's head cannot be raised to what the new text requires.
    Head(String),
    /// The module was compiled for a debugger, whose data describes the kernels as written.
    Debug,
    /// The parameters of this many members do not fit.
    Table {
        /// The number of members.
        capacity: u32,
    },
    /// The name of a variant is not free.
    Name(String),
    /// Two edits overlap: the text has an unexpected form.
    Overlap {
        /// The line in the file.
        line: u32,
    },
}

impl Error for Refusal {}

impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Refusal::NoEntry(name) => write!(f, "the file has no kernel `{name}`"),
            Refusal::Dependency { line } => {
                write!(f, "it has a `griddepcontrol` of its own, in line {line} of the PTX")
            }
            Refusal::Cooperative { register, line } => {
                write!(f, "it is for cooperative launches: it reads `{register}`, in line {line} of the PTX")
            }
            Refusal::Cluster { what, line } => {
                write!(f, "its blocks are in clusters: `{what}`, in line {line} of the PTX")
            }
            Refusal::Call { name, line } => {
                write!(f, "it calls `{name}`, which the file does not define, in line {line} of the PTX")
            }
            Refusal::Indirect { line } => write!(
                f,
                "it has a call, or an address of a function, that cannot be followed, in line {line} of the PTX"
            ),
            Refusal::Texture { what, line } => {
                write!(f, "it reads textures or surfaces: `{what}`, in line {line} of the PTX")
            }
            Refusal::Opaque(name) => write!(f, "its parameter `{name}` is a texture, a sampler or a surface"),
            Refusal::Constant(name) => {
                write!(f, "it uses the constant data `{name}`, which may be set from outside of the file")
            }
            Refusal::ConstantAddress { what, line } => write!(
                f,
                "it reads constant data by an address, which may be set from outside of the file: `{what}`, \
                    in line {line} of the PTX"
            ),
            Refusal::Variable { name, why } => write!(f, "it uses the variable `{name}`, {why}"),
            Refusal::Special { register, line } => write!(
                f,
                "it reads `{register}`, in line {line} of the PTX, in a way that a batched launch cannot reproduce"
            ),
            Refusal::Parameter { name, line } => {
                write!(f, "the use of its parameter `{name}` in line {line} of the PTX is not understood")
            }
            Refusal::Spins { line } => {
                write!(
                    f,
                    "it spins on memory: the loop at line {line} of the PTX waits for writes of other threads"
                )
            }
            Refusal::Directive { name, line } => {
                write!(f, "the directive `{name}`, in line {line} of the PTX, is not known")
            }
            Refusal::Contraction { line } => write!(
                f,
                "it adds two products, in line {line} of the PTX, of which the assembler may round either together \
                    with the sum\n    \
                 help: say which: `fmaf(a, b, c * d)` or `__fmul_rn(a, b) + c * d` for `a * b + c * d`, \
                 or compile it with `-fmad=false`"
            ),
            Refusal::Instruction { opcode, line } => {
                write!(f, "the instruction `{opcode}`, in line {line} of the PTX, is not known")
            }
            Refusal::Calls { line } => write!(f, "it calls a function, in line {line} of the PTX"),
            Refusal::Beyond { opcode, line } => write!(
                f,
                "`{opcode}`, in line {line} of the PTX, may act on more than its block, or beyond the end of the kernel"
            ),
            Refusal::Barrier { line } => {
                write!(f, "the barrier in line {line} of the PTX cannot be told apart from others")
            }
            Refusal::Barriers => write!(f, "all barriers of a block are in use"),
            Refusal::Ends { line } => {
                write!(f, "threads end before others of the block synchronise, in line {line} of the PTX")
            }
            Refusal::Head(name) => write!(f, "{name}"),
            Refusal::Debug => write!(
                f,
                "the file is compiled for a debugger, whose data describes the kernels as they are written"
            ),
            Refusal::Table { capacity } => write!(f, "the parameters of {}", unfit(*capacity)),
            Refusal::Name(name) => write!(f, "the name `{name}` is taken"),
            Refusal::Overlap { line } => write!(f, "the text of line {line} of the PTX is not understood"),
        }
    }
}

fn unfit(capacity: u32) -> String {
    match capacity {
        1 => "one launch leave no room for those of others".to_owned(),
        _ => format!("{capacity} launches do not fit into those of one"),
    }
}
