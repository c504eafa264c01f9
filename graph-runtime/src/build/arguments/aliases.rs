//! Arguments that are the same memory: memory of one device, and mapped multicast objects that it is bound to.
//!
//! The program knows them as different buffers. The build finds the bytes that two of them have in common, orders
//! their uses (`program/shared_state.rs`), and lists them in the certificate. Overlaps of addresses are not found
//! here: these are errors (`checks.rs`).

use cuweave_core::flattened::Flattened;
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{Access, BufferId, DimId, Program, StatementId, StatementKind};

use crate::bind::Operand;
use crate::bind::multicast::{CommonBytes, is_multimem};
use crate::error::{Error, MulticastFault, Result, at_buffer, at_statement};

/// Bytes that are in two arguments, at least one of them a mapped multicast object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alias {
    pub arguments: [BufferId; 2],
    common: CommonBytes,
}

impl Alias {
    /// Returns the number of common bytes.
    pub fn bytes(&self) -> u64 {
        self.common.bytes
    }

    /// Returns the common bytes that a range of bytes of a buffer includes, counted from the first common byte.
    pub fn part(&self, buffer: BufferId, lo: u64, hi: u64) -> Option<(u64, u64)> {
        let argument = self.arguments.iter().position(|&argument| argument == buffer)?;
        let start = self.common.starts[argument];
        let lo = lo.saturating_sub(start);
        let hi = hi.saturating_sub(start).min(self.common.bytes);
        (lo < hi).then_some((lo, hi))
    }

    /// Returns the common bytes that an access may use, for all values of its bounds that setters bring.
    pub fn part_of(&self, flat: &Flattened, access: &Access) -> Option<(u64, u64)> {
        let element = u64::from(flat.checked.program().buffers[access.buffer].element);
        let (lo, hi) = flat.widest_range(access);
        self.part(access.buffer, lo.saturating_mul(element), hi.saturating_mul(element))
    }

    /// Returns the names of the two arguments.
    pub fn names(&self, program: &Program) -> [String; 2] {
        self.arguments.map(|argument| program.buffers[argument].name.to_string())
    }
}

/// The bytes that arguments have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aliases {
    pub list: Vec<Alias>,
}

impl Aliases {
    /// Finds the common bytes of the operands, as far as the arguments need them. O(operands²) with a mapping.
    pub fn new(program: &Program, dims: &Vector<DimId, u64>, operands: &[&Operand]) -> Aliases {
        let mut list = Vec::new();
        if !operands.iter().any(|operand| operand.is_mapping()) {
            return Aliases { list };
        }
        let needed = |argument: BufferId| {
            let buffer = &program.buffers[argument];
            dims[buffer.len].saturating_mul(u64::from(buffer.element))
        };
        for (at, one) in operands.iter().enumerate() {
            for (other_at, other) in operands.iter().enumerate().skip(at + 1) {
                let (Some(first), Some(second)) = (&one.reached, &other.reached) else { continue };
                if !one.is_mapping() && !other.is_mapping() {
                    continue;
                }
                let arguments = [at, other_at].map(BufferId::new);
                for CommonBytes { starts, bytes } in first.common(second) {
                    let left = |at: usize| needed(arguments[at]).saturating_sub(starts[at]);
                    let bytes = bytes.min(left(0)).min(left(1));
                    if bytes > 0 {
                        list.push(Alias { arguments, common: CommonBytes { starts, bytes } });
                    }
                }
            }
        }
        list.dedup();
        Aliases { list }
    }

    /// Checks that no statement uses the same bytes by two arguments, unless it only reads them.
    pub fn check_statements(&self, flat: &Flattened) -> Result<()> {
        let program = flat.checked.program();
        for (id, statement) in program.statements.enumerate().filter(|_| !self.list.is_empty()) {
            let own = statement.kind.own_accesses(&statement.accesses);
            for alias in &self.list {
                let uses = |argument: usize| {
                    let of = own.iter().filter(move |access| access.buffer == alias.arguments[argument]);
                    of.filter_map(|access| Some((access, alias.part_of(flat, access)?)))
                };
                let conflicts = uses(0).any(|(one, (lo, hi))| {
                    uses(1).any(|(other, part)| one.mode.conflicts(other.mode) && lo < part.1 && part.0 < hi)
                });
                if conflicts {
                    let [first, second] = alias.names(program);
                    let fault = MulticastFault::SameMemory { first, second };
                    return Err(Error::MulticastArgument { at: at_statement(program, id), fault });
                }
            }
        }
        Ok(())
    }
}

/// Checks that the buffers with elements `Multimem<T>` are mappings, and that only launches and library calls use
/// them.
pub(crate) fn check_mappings(flat: &Flattened, operands: &[Operand]) -> Result<()> {
    let program = flat.checked.program();
    let is_mapping = |buffer: BufferId| operands.get(buffer.index()).is_some_and(Operand::is_mapping);
    let name = |buffer: BufferId| program.buffers[buffer].name.to_string();
    let unmapped = |(buffer, element): (BufferId, &_)| is_multimem(*element) && !is_mapping(buffer);
    if let Some((buffer, _)) = flat.elements.enumerate().find(|&one| unmapped(one)) {
        let fault = MulticastFault::NotMapped { buffer: name(buffer) };
        return Err(Error::MulticastArgument { at: at_buffer(program, buffer), fault });
    }
    if !operands.iter().any(Operand::is_mapping) {
        return Ok(());
    }
    let misused = |id: StatementId| {
        let statement = &program.statements[id];
        let own = statement.kind.own_accesses(&statement.accesses);
        let by_kernel = matches!(statement.kind, StatementKind::Launch(()) | StatementKind::Capture(()));
        own.iter().map(|access| access.buffer).find(|&buffer| !by_kernel && is_mapping(buffer))
    };
    match program.statements.ids().find_map(|id| Some((id, misused(id)?))) {
        None => Ok(()),
        Some((id, buffer)) => {
            let fault = MulticastFault::NotByKernel { buffer: name(buffer) };
            Err(Error::MulticastArgument { at: at_statement(program, id), fault })
        }
    }
}
