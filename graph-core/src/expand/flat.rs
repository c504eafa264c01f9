//! The flat program under construction, and the state of a function that is being expanded.

use super::answers::{DimValue, Formula, FrameId, SettableBound, StatementOrigin};
use crate::ids::{ArgumentId, VariableId};
use crate::index::{Index, Vector, between};
use crate::ir::{Buffer, BufferId, Device, DimId, Grant, Statement, StatementId, Text, View};
use crate::table::DecodedFunction;
use cuweave_ptx::poly::Poly;
use std::any::TypeId;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// The flat program under construction.
#[derive(Default)]
pub(super) struct FlatBuilder {
    pub texts: Vector<DimId, Text>,
    pub values: Vector<DimId, u64>,
    pub polys: Vector<DimId, Poly>,
    pub moving: Vec<SettableBound>,
    pub buffers: Vector<BufferId, Buffer>,
    pub elements: Vector<BufferId, TypeId>,
    pub statements: Vector<StatementId, Statement>,
    pub views: Vec<View>,
    pub grants: Vec<Grant>,
    pub instances: Vector<StatementId, StatementOrigin>,
}

impl FlatBuilder {
    pub fn dim(&mut self, text: Text, number: DimValue) -> DimId {
        self.texts.push(text);
        self.values.push(number.value);
        self.polys.push(number.poly)
    }

    /// Records how a bound is computed that setters reach.
    pub fn moves(&mut self, dim: DimId, formula: Formula) {
        self.moving.push(SettableBound { dim, of: BTreeSet::new(), formula });
    }

    /// Returns the index of the next statement.
    pub fn next(&self) -> StatementId {
        StatementId::new(self.statements.len())
    }

    pub fn number(&self, dim: DimId) -> DimValue {
        let (value, poly) = (self.values[dim], self.polys[dim].clone());
        let moves = poly.as_constant().is_none();
        DimValue { value, poly, moves }
    }

    pub fn buffer(&mut self, buffer: Buffer, element: TypeId) -> BufferId {
        self.elements.push(element);
        self.buffers.push(buffer)
    }
}

/// Returns `count` consecutive buffers, beginning with `first`.
pub(super) fn array(first: BufferId, count: usize) -> impl Iterator<Item = BufferId> {
    between(first, BufferId::new(first.index() + count))
}

/// A range of a buffer of the flat program.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferRange {
    pub buffer: BufferId,
    pub lo: DimId,
    pub hi: DimId,
}

/// An argument with its buffers.
#[derive(Clone, Debug)]
pub(super) enum ArgumentValue {
    Scalar,
    /// A host value: an argument of the outermost function.
    Host(ArgumentId),
    Buffer(BufferRange),
    List(Arc<[ArgumentValue]>),
    Record(Arc<[(Text, ArgumentValue)]>),
}

/// A function whose body is being expanded.
pub(super) struct FunctionScope<'t> {
    pub table: &'t DecodedFunction,
    pub frame: FrameId,
    pub arguments: Vector<ArgumentId, ArgumentValue>,
    /// The buffers that the function's names currently denote.
    pub buffers: Vector<BufferId, Option<BufferRange>>,
    /// The bounds computed for the current iterations.
    pub dims: Vector<DimId, Option<DimId>>,
    /// The values of the loop variables.
    pub loop_values: Arc<[i64]>,
    /// The latest instances of each statement. A call has several.
    pub latest: Vector<StatementId, Range<StatementId>>,
    /// The device that the function's device numbers are relative to.
    pub device: Device,
    /// Statements of the flat program whose `#[after]` names a later template of this iteration.
    pub forward: Vec<(StatementId, StatementId)>,
}

impl<'t> FunctionScope<'t> {
    pub fn new(table: &'t DecodedFunction, frame: FrameId) -> FunctionScope<'t> {
        let (program, none) = (&table.program, StatementId::from_u32(0));
        FunctionScope {
            table,
            frame,
            arguments: Vector::new(),
            buffers: Vector::filled(None, program.buffers.len()),
            dims: Vector::filled(None, program.dims.len()),
            loop_values: vec![0; table.structure.variables.len()].into(),
            latest: Vector::filled(none..none, program.statements.len()),
            device: Device::FIRST,
            forward: Vec::new(),
        }
    }

    pub fn set_variable(&mut self, variable: VariableId, value: i64) {
        let loop_values: Vec<i64> = self
            .loop_values
            .iter()
            .enumerate()
            .map(|(at, &old)| if at == variable.index() { value } else { old })
            .collect();
        self.loop_values = loop_values.into();
        for &dim in &self.table.structure.variables[variable].dims {
            self.dims[dim] = None;
        }
    }
}
