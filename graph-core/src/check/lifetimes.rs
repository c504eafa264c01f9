//! The lifetimes of buffers, and texts of messages about them.

use crate::index::{Index, Vector, narrow, size};
use crate::ir::{Access, AccessId, BufferId, Lifetime, StatementId, StatementKind};
use crate::order::{JoinedBuffer, Ordered};

/// The statements that allocate, free, return and access a buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct BufferLifetime {
    pub alloc: Option<StatementId>,
    /// The first `free`.
    pub free: Option<StatementId>,
    /// All `free`s. Several in different arms of a choice, or by mistake.
    pub frees: Vec<StatementId>,
    /// The index in the function's tail, if the buffer is returned.
    pub output: Option<u32>,
    /// Its accesses in program order.
    pub accesses: Vec<AccessId>,
}

/// Computes the lifetime of each buffer.
pub(super) fn lifetimes(ordered: &Ordered) -> Vector<BufferId, BufferLifetime> {
    let program = &ordered.source.program;
    let mut lifetimes: Vector<BufferId, BufferLifetime> =
        Vector::filled(BufferLifetime::default(), program.buffers.len());
    for (id, statement) in program.statements.enumerate() {
        match statement.kind.lifetime() {
            Some(Lifetime::Begins(&buffer)) => lifetimes[buffer].alloc = Some(id),
            Some(Lifetime::Ends(&buffer)) => {
                lifetimes[buffer].free.get_or_insert(id);
                lifetimes[buffer].frees.push(id);
            }
            None => {}
        }
        let accesses = statement.kind.own_accesses(&statement.accesses);
        for (index, access) in accesses.iter().enumerate() {
            lifetimes[access.buffer].accesses.push(AccessId { statement: id, index: narrow(index) });
        }
    }
    let regions = &ordered.source.regions;
    for JoinedBuffer { joined, buffer, region } in regions.joined() {
        let frees = lifetimes[buffer].frees.iter().copied();
        let frees: Vec<StatementId> =
            frees.filter(|&free| regions.may_precede_end_of(free, region)).collect();
        let life = &mut lifetimes[joined];
        life.frees.extend(frees);
        life.frees.sort_unstable();
        life.frees.dedup();
        life.free = life.frees.first().copied();
    }
    for (index, &buffer) in program.outputs.iter().enumerate() {
        lifetimes[buffer].output.get_or_insert(narrow(index));
    }
    lifetimes
}

impl Ordered {
    /// Returns true if any function has explicit order.
    pub(super) fn any_explicit(&self) -> bool {
        self.source.regions.functions.any_explicit(&self.source.program)
    }

    /// Returns true if the order between two statements is explicit.
    pub(super) fn is_explicit(&self, one: StatementId, other: StatementId) -> bool {
        self.source.regions.functions.is_explicit(&self.source.program, one, other)
    }

    pub(super) fn poisoned(&self, buffer: BufferId) -> bool {
        self.source.poisoned.get(buffer).copied().unwrap_or(false)
    }

    pub(super) fn access(&self, id: AccessId) -> &Access {
        &self.source.program.statements[id.statement].accesses[size(id.index)]
    }

    pub(super) fn overlap(&self, a: &Access, b: &Access) -> bool {
        !self.bounds.disjoint(a, b)
    }

    /// Returns the call that takes a buffer over, if its lifetime ends by that call and not by a `free`.
    pub(super) fn taken_over_by(&self, free: StatementId) -> Option<StatementId> {
        let statements = &self.source.program.statements;
        let same = |id: &StatementId| {
            (&statements[*id].name, statements[*id].line) == (&statements[free].name, statements[free].line)
        };
        // The sample adds a `free` directly after a call that takes a buffer over.
        let before = (0..free.index()).rev().map(StatementId::new).take_while(same);
        before.into_iter().find(|&id| matches!(statements[id].kind, StatementKind::Call(_)))
    }

    /// Returns true if the earlier of two statements is on the same line as the later one or below it. Both are
    /// then in a loop of this function. Statements of callees are excluded.
    pub(super) fn is_in_earlier_iteration(&self, before: StatementId, id: StatementId) -> bool {
        let [one, other] = [before, id].map(|id| &self.source.program.statements[id]);
        let of_function = |name: &str| !name.contains('.');
        before < id && one.line >= other.line && of_function(&one.name) && of_function(&other.name)
    }

    /// Returns `` `name` (line 3) ``.
    pub(super) fn at(&self, id: StatementId) -> String {
        let statement = &self.source.program.statements[id];
        format!("`{}` (line {})", statement.name, statement.line)
    }

    pub(super) fn line(&self, id: StatementId) -> u32 {
        self.source.program.statements[id].line
    }

    /// Returns `b`, or `b[lo..hi]` for a range of it, or `b[lo..].rows(h, w, pitch)` for rows.
    pub(super) fn slice(&self, access: &Access) -> String {
        let program = &self.source.program;
        let buffer = &program.buffers[access.buffer];
        let (lo, hi) = self.source.range(access);
        if let Some(rows) = &access.rows {
            return program.rows_text(access, rows);
        }
        if lo.as_constant() == Some(0) && *hi == self.source.polys[buffer.len] {
            return buffer.name.to_string();
        }
        format!("{}[{}..{}]", buffer.name, program.dims[access.lo], program.dims[access.hi])
    }

    pub(super) fn buffer_name(&self, buffer: BufferId) -> &str {
        &self.source.program.buffers[buffer].name
    }
}
