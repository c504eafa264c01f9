//! Limits that a kernel imposes on its launches: block shapes, clusters and static shared memory.

use crate::isa::{SpecialRegister, register};
use crate::syntax::{Function, Item, Module, Operand, StateSpace, Statement};

/// The block shapes that a kernel supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockRule {
    /// `.maxntid`: the maximum number of threads.
    pub max_threads: Option<u32>,
    /// `.reqntid`: the required number of threads in each dimension.
    pub required: Option<[u32; 3]>,
    /// `.reqnctapercluster`: the cluster shape; grids must be multiples of it.
    pub cluster: Option<[u32; 3]>,
}

impl BlockRule {
    /// Returns the block rule of an entry.
    pub fn from_entry(entry: &Function<'_>) -> BlockRule {
        let three = |values: &[u32]| [0, 1, 2].map(|at| values.get(at).copied().unwrap_or(1));
        let threads = |values: &[u32]| values.iter().fold(1u32, |all, &one| all.saturating_mul(one));
        BlockRule {
            max_threads: entry.performance(".maxntid").map(threads),
            required: entry.performance(".reqntid").map(three),
            cluster: entry.performance(".reqnctapercluster").map(three),
        }
    }
}

/// Returns true for a kernel that waits for all blocks of its grid and must be launched cooperatively. Detected by a
/// read of a register of cooperative launches, in the kernel or, if it calls functions, in any function of the file.
pub fn is_cooperative(module: &Module<'_>, entry: &Function<'_>) -> bool {
    fn any(function: &Function<'_>, is: impl Fn(&crate::syntax::Instruction<'_>) -> bool) -> bool {
        let statements = function.body.iter().flat_map(|body| &body.statements);
        let mut instructions = statements.filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        });
        instructions.any(is)
    }
    let reads = |function: &Function<'_>| {
        any(function, |instruction| {
            let environment = |operand: &Operand<'_>| matches!(operand, Operand::Name(name) if register(name) == Some(SpecialRegister::Environment));
            instruction.operands.iter().any(environment)
        })
    };
    let functions = module.items.iter().filter_map(|item| match item {
        Item::Function(function) if !function.entry => Some(function),
        _ => None,
    });
    reads(entry) || any(entry, |one| one.opcode.starts_with("call")) && functions.into_iter().any(reads)
}

/// The maximum static shared memory of a block in bytes, the same on every architecture.
pub const MAX_STATIC_SHARED: u64 = 48 * 1024;

/// Returns the static shared memory that an entry declares in its body, in bytes.
pub fn static_shared(entry: &Function<'_>) -> u64 {
    let statements = entry.body.iter().flat_map(|body| &body.statements);
    statements.fold(0u64, |sum, statement| match statement {
        Statement::Variable(_, variable) if variable.space == StateSpace::Shared => {
            sum.next_multiple_of(variable.align().clamp(1, 1 << 20)).saturating_add(variable.size())
        }
        _ => sum,
    })
}
