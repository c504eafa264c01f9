//! Turns a statement's record into the parameters of its node, once the addresses of its buffers are known.

use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, DimId, Program, StatementId};
use cuweave_core::operation::{AccessTarget, AccessTargetId, Operations};

use crate::cuda::{Context, CopyEnd, Driver, ElementRange, Node, Outcome, RawExec, RawGraph, Scratch, Word};

use super::host_functions::HostFunctions;

/// A program with the addresses of its buffers, from which node parameters are computed.
pub(crate) struct EmissionContext<'n> {
    pub program: &'n Program,
    pub dims: &'n Vector<DimId, u64>,
    pub operations: &'n Operations,
    /// The targets of all accesses.
    pub pointed: &'n Vector<AccessTargetId, AccessTarget>,
    /// The address of each buffer.
    pub bases: &'n Vector<BufferId, u64>,
    /// True for fills and copies that a setter may change so that no memset or memcpy node can do them. These are
    /// kernels whatever the current values are.
    pub as_kernels: &'n Vector<StatementId, bool>,
    /// The functions of host statements.
    pub hosts: &'n HostFunctions,
    /// The index of the launch whose flag and semaphore values the nodes get.
    pub launch: u64,
}

impl EmissionContext<'_> {
    /// Returns the address and the length of a statement's access.
    pub fn elements_of(&self, statement: StatementId, access: usize) -> ElementRange {
        let access = &self.program.statements[statement].accesses[access];
        let (lo, hi) = (self.dims[access.lo], self.dims[access.hi]);
        let address = self.bases[access.buffer].wrapping_add(lo * element(self.program, access.buffer));
        ElementRange { address, len: hi - lo }
    }

    /// Returns the memory of a statement's access: host or device, and the address.
    pub fn place_of(&self, statement: StatementId, access: usize) -> CopyEnd {
        let buffer = self.program.statements[statement].accesses[access].buffer;
        let ElementRange { address, .. } = self.elements_of(statement, access);
        match self.program.buffers[buffer].origin.is_pinned() {
            true => CopyEnd::Host(address),
            false => CopyEnd::Device(address),
        }
    }
}

/// Returns the size of a buffer's element in bytes.
pub(crate) fn element(program: &Program, buffer: BufferId) -> u64 {
    u64::from(program.buffers[buffer].element)
}

/// The parameters of a node.
pub(crate) trait Parameters {
    /// Adds the node to a graph.
    fn add(&self, to: AddContext<'_>) -> Outcome<Node>;

    /// Changes the node of an exec.
    fn set(&self, of: SetContext<'_>) -> Outcome<()>;
}

/// The graph to which a node is added.
pub(crate) struct AddContext<'d> {
    pub driver: &'d Driver,
    pub context: Context,
    pub graph: RawGraph,
    /// The dependencies of the node.
    pub after: &'d [Node],
    /// The parameter values of all statements.
    pub words: &'d [Word],
    pub scratch: &'d mut Scratch,
}

/// The node of an exec whose parameters are set.
pub(crate) struct SetContext<'d> {
    pub driver: &'d Driver,
    pub context: Context,
    pub exec: RawExec,
    pub node: Node,
    /// The parameter values of all statements.
    pub words: &'d [Word],
    pub scratch: &'d mut Scratch,
}
