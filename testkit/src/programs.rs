//! Programs in the compiler's representation, written statement by statement, and reference results for their
//! order.

use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{
    Access, Buffer, BufferId, Device, DimId, Memory, Mode, Options, Order, Origin, Program, Statement,
    StatementId, StatementKind,
};
use cuweave_core::order::{LoweredProgram, Regions};
use cuweave_ptx::poly::Poly;

/// A program under construction. All lengths and bounds are numbers, and elements have four bytes.
#[derive(Clone, Debug, Default)]
pub struct ProgramWriter {
    dims: Vector<DimId, u64>,
    buffers: Vector<BufferId, Buffer>,
    statements: Vector<StatementId, Statement>,
    outputs: Vec<BufferId>,
}

impl ProgramWriter {
    /// Returns an empty program whose first lengths and bounds are `dims`, in this order.
    pub fn new(dims: &[u64]) -> ProgramWriter {
        ProgramWriter { dims: dims.to_vec().into(), ..ProgramWriter::default() }
    }

    /// Returns the values of the lengths and bounds.
    pub fn dims(&self) -> &Vector<DimId, u64> {
        &self.dims
    }

    /// Returns the statements so far.
    pub fn statements(&self) -> &Vector<StatementId, Statement> {
        &self.statements
    }

    /// Returns the number of buffers so far.
    pub fn buffers(&self) -> usize {
        self.buffers.len()
    }

    /// Returns the id of a length or bound, which is added if it is new.
    pub fn dim(&mut self, value: u64) -> DimId {
        self.dims.position(|&dim| dim == value).unwrap_or_else(|| self.dims.push(value))
    }

    /// Declares a buffer of `len` elements.
    pub fn buffer(&mut self, name: &str, origin: Origin, len: u64) -> BufferId {
        let len = self.dim(len);
        self.buffers.push(Buffer {
            name: name.to_owned().into(),
            line: 1,
            column: 0,
            file: None,
            origin,
            len,
            element: 4,
            align: 4,
        })
    }

    /// Declares a buffer and allocates it in the next statement.
    pub fn alloc(&mut self, name: &str, len: u64) -> BufferId {
        let id = self.buffer(name, Origin::Alloc(StatementId::new(self.statements.len())), len);
        self.statement(name, StatementKind::Alloc(id), &[], &[]);
        id
    }

    /// Returns an access to the elements `lo..hi`.
    pub fn access(&mut self, buffer: BufferId, mode: Mode, (lo, hi): (u64, u64)) -> Access {
        Access { buffer, mode, lo: self.dim(lo), hi: self.dim(hi), relied_on: false, rows: None }
    }

    /// Adds a statement, which the user orders after those in `after`.
    pub fn statement(
        &mut self,
        name: &str,
        kind: StatementKind,
        accesses: &[Access],
        after: &[StatementId],
    ) -> StatementId {
        let (accesses, after) = (accesses.to_vec().into(), after.to_vec().into());
        self.statements.push(Statement {
            name: name.to_owned().into(),
            line: 1,
            column: 0,
            file: None,
            kind,
            accesses,
            after,
            on: None,
            device: Device::FIRST,
            switchable: false,
        })
    }

    /// Makes a buffer an output of the graph.
    pub fn output(&mut self, buffer: BufferId) {
        self.outputs.push(buffer);
    }

    /// Returns the program in the form in which the macro passes it to the compiler.
    pub fn source(self, name: &str, order: Order, memory: Option<Memory>) -> LoweredProgram {
        let ProgramWriter { dims, buffers, statements, outputs } = self;
        let poisoned = Vector::filled(false, buffers.len());
        let program = Program {
            name: name.to_owned().into(),
            file: "testkit.rs".into(),
            options: Options { order, memory, ..Options::default() },
            dims: dims.iter().map(|value| value.to_string().into()).collect(),
            buffers,
            statements,
            views: Vec::new().into(),
            outputs: outputs.into(),
            grants: Vec::new().into(),
        };
        let polys = dims.iter().map(|&value| Poly::constant(i128::from(value))).collect();
        LoweredProgram {
            program,
            polys,
            poisoned,
            order_unknown: false,
            regions: Regions::default(),
            may_be_zero: false,
        }
    }
}

/// Returns true if two statements touch a common element, unless both only read it or both only update it
/// atomically.
pub fn conflict(a: &Statement, b: &Statement, dims: &[u64]) -> bool {
    let range = |access: &Access| dims[access.lo.index()]..dims[access.hi.index()];
    a.accesses.iter().any(|one| {
        b.accesses.iter().any(|two| {
            let alike = one.mode == two.mode && matches!(one.mode, Mode::Read | Mode::Atomic);
            let (one_range, two_range) = (range(one), range(two));
            one.buffer == two.buffer
                && !alike
                && one_range.start < two_range.end
                && two_range.start < one_range.end
        })
    })
}

/// Returns the transitive closure of a graph with `n` nodes, by Warshall's algorithm: for each pair of nodes, true
/// if a path leads from the first to the second.
pub fn closure(n: usize, edges: &[(usize, usize)]) -> Vec<Vec<bool>> {
    let mut reach = vec![vec![false; n]; n];
    for &(a, b) in edges {
        reach[a][b] = true;
    }
    for k in 0..n {
        for i in 0..n {
            if reach[i][k] {
                let row = reach[k].clone();
                for (to, from) in reach[i].iter_mut().zip(row) {
                    *to |= from;
                }
            }
        }
    }
    reach
}
