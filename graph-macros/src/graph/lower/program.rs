//! Builds the IR program: its buffers and statements, and which of them reported faults have made unknown.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{
    self, Access, Buffer, BufferId, Device, DimId, Grant, Lifetime, Mode, Options, Origin, Program,
    Statement, StatementId, StatementKind,
};
use cuweave_core::order::{LoweredProgram, Regions};
use cuweave_ptx::nearest::nearest;
use proc_macro2::{Ident, Span};
use syn::{Attribute, Type};

use super::call_table::CallTable;
use super::dim_table::{DimTable, FinishedDims};
use super::numbers::BuildLoop;
use super::spans::Spans;
use super::syntax::StatementSyntax;
use crate::dims::DimExpr;
use crate::graph::scope::{Borrow, Resolved, View};
use crate::parameters::is_condition;

/// An access and the span of its expression.
#[derive(Clone, Copy)]
pub(super) struct SpannedAccess {
    pub access: Access,
    pub span: Span,
}

/// A program under construction. Invariant: `elements`, `poisoned` and `spans.buffers` have one entry per
/// buffer; `syntax` and the statement spans have one per statement.
pub(super) struct ProgramBuilder {
    pub dims: DimTable,
    buffers: Vector<BufferId, Buffer>,
    elements: Vec<Type>,
    /// True for buffers whose contents are unknown because of a reported fault.
    poisoned: Vector<BufferId, bool>,
    /// The ranges of arguments that are uninitialised on entry.
    fresh: Vec<(BufferId, DimId, DimId)>,
    /// The arguments whose contents are discarded before each launch.
    discarded: Vec<BufferId>,
    /// The views of views. The build checks their bounds.
    views: BTreeSet<ir::View>,
    statements: Vector<StatementId, Statement>,
    syntax: Vec<StatementSyntax>,
    lints: BTreeMap<StatementId, Vec<Attribute>>,
    outputs: Vec<BufferId>,
    grants: Vec<Grant>,
    /// The outputs whose declared length is a different expression: buffer, declared length, length of the
    /// allocation.
    returned_lengths: Vec<(BufferId, DimId, DimId)>,
    /// The buffers involved in assignments and swaps of names.
    renames: Vec<BufferId>,
    spans: Spans,
    /// True if an `#[after]` has an unknown name.
    order_unknown: bool,
}

/// The program of a lowered function.
pub(super) struct FinishedProgram {
    pub source: LoweredProgram,
    pub dims: FinishedDims,
    pub elements: Vec<Type>,
    pub syntax: Vec<StatementSyntax>,
    pub lints: BTreeMap<StatementId, Vec<Attribute>>,
    pub returned_lengths: Vec<(BufferId, DimId, DimId)>,
    pub spans: Spans,
}

impl ProgramBuilder {
    pub fn new(dims: DimTable) -> ProgramBuilder {
        ProgramBuilder {
            dims,
            buffers: Vector::new(),
            elements: Vec::new(),
            poisoned: Vector::new(),
            fresh: Vec::new(),
            discarded: Vec::new(),
            views: BTreeSet::new(),
            statements: Vector::new(),
            syntax: Vec::new(),
            lints: BTreeMap::new(),
            outputs: Vec::new(),
            grants: Vec::new(),
            returned_lengths: Vec::new(),
            renames: Vec::new(),
            spans: Spans::default(),
            order_unknown: false,
        }
    }

    /// Adds a buffer. Returns the view of all of it.
    pub fn add_buffer(
        &mut self,
        name: String,
        span: Span,
        origin: Origin,
        len: DimExpr,
        element: Type,
        borrow: Option<Borrow>,
    ) -> View {
        let dim = self.dims.intern(len.clone());
        let buffer = self.buffers.push(Buffer {
            name: name.into(),
            line: span.start().line as u32,
            column: 0,
            file: None,
            origin,
            len: dim,
            element: 0,
            align: 0,
        });
        self.elements.push(element);
        self.spans.buffers.push(span);
        self.poisoned.push(false);
        View { buffer, lo: DimExpr::constant(0), hi: len, borrow }
    }

    /// Returns the id of the next buffer to be added.
    pub fn next_buffer(&self) -> BufferId {
        BufferId::new(self.buffers.len())
    }

    pub fn buffer(&self, buffer: BufferId) -> &Buffer {
        &self.buffers[buffer]
    }

    /// Returns a buffer's element type. It is `()` if only rustc knows the type.
    pub fn element(&self, buffer: BufferId) -> &Type {
        &self.elements[buffer.index()]
    }

    /// Returns true for a condition that kernels set.
    pub fn is_condition(&self, buffer: BufferId) -> bool {
        is_condition(self.element(buffer))
    }

    /// Marks an argument as uninitialised on entry.
    pub fn add_fresh(&mut self, buffer: BufferId) {
        let zero = self.dims.intern(DimExpr::constant(0));
        self.fresh.push((buffer, zero, self.buffers[buffer].len));
    }

    /// Marks an argument whose contents are discarded before each launch.
    pub fn add_discarded(&mut self, buffer: BufferId) {
        self.discarded.push(buffer);
    }

    pub fn is_whole(&self, view: &View) -> bool {
        let len = self.buffers[view.buffer].len;
        view.lo.poly.as_constant() == Some(0) && view.hi.poly == self.dims.bound(len).poly
    }

    pub fn access(&mut self, view: &View, mode: Mode, span: Span) -> SpannedAccess {
        let (lo, hi) = (self.dims.intern(view.lo.clone()), self.dims.intern(view.hi.clone()));
        SpannedAccess {
            access: Access { buffer: view.buffer, mode, lo, hi, relied_on: false, rows: None },
            span,
        }
    }

    /// Requires that the build checks `lo..hi` against the view's bounds. For a whole buffer every use is
    /// checked anyway.
    pub fn check_part(&mut self, view: &View, lo: &DimExpr, hi: &DimExpr, at: Span) {
        if self.is_whole(view) {
            return;
        }
        let mut dim = |bound: &DimExpr| self.dims.intern(bound.clone());
        let (lo, hi, of) = (dim(lo), dim(hi), (dim(&view.lo), dim(&view.hi)));
        let line = at.start().line as u32;
        self.views.insert(ir::View { buffer: view.buffer, line, column: 0, file: None, lo, hi, of });
    }

    pub fn poison(&mut self, buffer: BufferId) {
        self.poisoned[buffer] = true;
    }

    pub fn poison_all(&mut self) {
        self.poisoned.iter_mut().for_each(|poisoned| *poisoned = true);
    }

    /// Poisons the buffers whose name is the most similar to an unknown name, which may be a misspelling.
    pub fn poison_nearest(&mut self, name: &str) {
        let names: Vec<String> = self.buffers.iter().map(|buffer| buffer.name.to_string()).collect();
        if let Some(near) = nearest(name, names.iter().map(String::as_str)) {
            for (buffer, poisoned) in names.iter().zip(&mut self.poisoned) {
                *poisoned |= buffer == near;
            }
        }
    }

    pub fn add_statement(
        &mut self,
        name: String,
        span: Span,
        kind: StatementKind,
        on: Option<DimId>,
        syntax: StatementSyntax,
        accesses: Vec<SpannedAccess>,
    ) -> StatementId {
        let start = span.start();
        self.spans.statements.push(span);
        self.spans.positions.push((start.line, start.column));
        self.spans.accesses.push(accesses.iter().map(|access| access.span).collect());
        self.spans.after.push(Vec::new());
        self.syntax.push(syntax);
        self.statements.push(Statement {
            name: name.into(),
            line: start.line as u32,
            column: 0,
            file: None,
            kind,
            accesses: accesses.into_iter().map(|access| access.access).collect(),
            after: Vec::new().into(),
            on,
            device: Device::FIRST,
            switchable: false,
        })
    }

    /// Makes a statement one that an exec may disable.
    pub fn make_switchable(&mut self, statement: StatementId) {
        let statement = &mut self.statements[statement];
        statement.switchable = true;
        statement.accesses.to_mut().iter_mut().for_each(Access::may_be_left_out);
    }

    /// Returns the id of the next statement to be added.
    pub fn next_statement(&self) -> StatementId {
        StatementId::new(self.statements.len())
    }

    pub fn statement(&self, statement: StatementId) -> &Statement {
        &self.statements[statement]
    }

    /// Returns the position of an access.
    pub fn access_span(&self, statement: StatementId, index: usize) -> Span {
        self.spans.accesses[statement.index()][index]
    }

    /// Returns the name of the call that returns a buffer. None for other buffers.
    pub fn returning_call(&self, buffer: BufferId) -> Option<&str> {
        let Origin::Alloc(at) = self.buffers[buffer].origin else { return None };
        match self.statements.get(at) {
            Some(Statement { kind: StatementKind::Call(_), name, .. }) => Some(name),
            _ => None,
        }
    }

    pub fn set_device(&mut self, statement: StatementId, device: Option<DimId>) {
        self.statements[statement].on = device;
    }

    /// Lets another device use the memory of an allocation.
    pub fn add_grant(&mut self, buffer: BufferId, device: DimId) {
        self.grants.push(Grant { buffer, on: Some(device), device: Device::FIRST });
    }

    pub fn set_lints(&mut self, statement: StatementId, levels: Vec<Attribute>) {
        self.lints.insert(statement, levels);
    }

    /// Orders a statement after another one.
    pub fn add_edge(&mut self, statement: StatementId, after: StatementId, at: Span) {
        self.statements[statement].after.to_mut().push(after);
        self.spans.after[statement.index()].push(at);
    }

    /// Adds the edges of resolved `#[after(..)]` names.
    pub fn add_after_edges(&mut self, resolved: Vec<Resolved>) {
        for (after, targets) in resolved {
            self.order_unknown |= targets.is_none();
            for target in targets.into_iter().flatten() {
                self.add_edge(after.statement, target, after.name.span());
            }
        }
    }

    /// Records a fault in the user's order, so that the checker reports nothing that may follow from it.
    pub fn mark_order_unknown(&mut self) {
        self.order_unknown = true;
    }

    /// Records that names of two buffers were swapped or assigned.
    pub fn record_rename(&mut self, one: BufferId, other: BufferId) {
        self.renames.extend([one, other]);
    }

    /// Adds an output, with the length that the return type declares.
    pub fn add_output(&mut self, buffer: BufferId, declared: DimId, at: Span) {
        let len = self.buffers[buffer].len;
        if declared != len {
            self.returned_lengths.push((buffer, declared, len));
        }
        self.outputs.push(buffer);
        self.spans.outputs.push(at);
    }

    /// Decides which `let` names of calls denote statements. A call's result that no statement uses as a
    /// buffer is one.
    fn name_statements(&mut self, calls: &CallTable) {
        let mut used: BTreeSet<BufferId> = self.outputs.iter().copied().collect();
        used.extend(self.renames.iter().copied());
        for (at, statement) in self.statements.enumerate() {
            used.extend(statement.kind.lifetime().map(|lifetime| match lifetime {
                Lifetime::Begins(&buffer) | Lifetime::Ends(&buffer) => buffer,
            }));
            let own = |buffer: BufferId| self.buffers[buffer].origin == Origin::Alloc(at);
            used.extend(statement.accesses.iter().map(|access| access.buffer).filter(|&buffer| !own(buffer)));
        }
        for (statement, syntax) in self.statements.iter().zip(&mut self.syntax) {
            let StatementKind::Call(call) = statement.kind else { continue };
            let results = &calls.call(call).results;
            if syntax.returns.is_none() && results.iter().any(|result| used.contains(result)) {
                syntax.returns = Some(results.len());
            }
            for result in results.iter().filter(|result| !used.contains(result)) {
                self.elements[result.index()] = syn::parse_quote!(());
            }
        }
    }

    pub fn finish(
        mut self,
        name: &Ident,
        file: String,
        options: Options,
        calls: &CallTable,
        loops: &[BuildLoop],
    ) -> FinishedProgram {
        self.name_statements(calls);
        let mut dims = self.dims.finish(loops);
        let program = Program {
            name: name.to_string().into(),
            file: file.into(),
            options,
            dims: std::mem::take(&mut dims.texts),
            buffers: self.buffers,
            statements: self.statements,
            views: self.views.into_iter().collect(),
            outputs: self.outputs.into(),
            grants: self.grants.into(),
        };
        let regions = Regions { fresh: self.fresh, discarded: self.discarded, ..Regions::default() };
        FinishedProgram {
            source: LoweredProgram {
                program,
                polys: std::mem::take(&mut dims.polys),
                poisoned: self.poisoned,
                order_unknown: self.order_unknown,
                regions,
                may_be_zero: false,
            },
            dims,
            elements: self.elements,
            syntax: self.syntax,
            lints: self.lints,
            returned_lengths: self.returned_lengths,
            spans: self.spans,
        }
    }
}
