//! The program of a builder so far: its buffers, bounds and statements, with their source locations. Bounds are
//! stored once per polynomial. `Cursor` has the requests for the next statement and the open bodies. Handles of
//! other builders or of ended bodies are refused here.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::codes::Code;
use cuweave_core::ids::{CallId, ScalarId};
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{self, Access, BufferId, Device, DimId, Mode, Origin, StatementId};
use cuweave_core::kind::StatementKind;
use cuweave_core::structure::Call;
use cuweave_core::table::BoundOp;
use cuweave_ptx::poly::{Poly, Symbols};

use crate::build::ScalarValue;
use crate::error::{Error, Refusal, Result, SourceLocation};

use super::bound::ElementType;
use super::code::{BuilderStage, CapturedIndex};
use super::handle::{Argument, ArgumentValue, CallSite, Handle, MAX_PARTS, StatementRef, Subrange, View};
use super::hint::BuilderHint;
use super::messages;
use super::size::{MentionedScalars, Names, Size, SizeFault, ToSize};

/// A scalar argument.
pub(super) struct BuilderScalar {
    pub name: String,
    pub place: CallSite,
    /// The range of a size. `None` for other scalars.
    pub limits: Option<SizeLimits>,
}

/// The range of a size.
pub(super) struct SizeLimits {
    /// The size itself as a bound.
    pub value: DimId,
    pub least: u64,
    pub most: DimId,
}

/// A buffer: an argument or an allocation.
pub(super) struct BuilderBuffer {
    pub name: String,
    pub place: CallSite,
    pub origin: Origin,
    pub len: Size,
    pub dim: DimId,
    pub element: ElementType,
    /// True if its declaration is faulty. No further faults of it are reported.
    pub poisoned: bool,
    /// The condition of the body in which it is allocated. `None` outside of bodies.
    pub body: Option<StatementId>,
}

/// A statement.
pub(super) struct BuilderStatement {
    pub name: String,
    pub place: CallSite,
    pub kind: StatementKind<BuilderStage>,
    pub accesses: Vec<Access>,
    pub after: Vec<StatementId>,
    pub scalars: MentionedScalars,
    /// The device on which it runs.
    pub device: Device,
    /// The condition of its innermost body. `None` outside of bodies.
    pub body: Option<StatementId>,
    /// True if an exec may disable it.
    pub switchable: bool,
}

/// The name, predecessors, device and form requested for the next statement.
#[derive(Default)]
pub(super) struct NextStatement {
    pub name: Option<String>,
    pub after: Vec<StatementRef>,
    pub on: Option<Device>,
    pub access: Vec<Device>,
    pub switchable: bool,
}

/// The program so far. Buffers are numbered in declaration order.
pub(super) struct Program {
    /// The id of the builder, which its handles carry.
    pub builder: u64,
    pub name: String,
    pub place: CallSite,
    pub options: ir::Options,
    pub bounds: BoundTable,
    pub scalars: Vector<ScalarId, BuilderScalar>,
    pub values: Vec<ScalarValue>,
    pub buffers: Vector<BufferId, BuilderBuffer>,
    pub statements: Vector<StatementId, BuilderStatement>,
    pub views: BTreeSet<ir::View>,
    pub calls: Vector<CallId, Call>,
    pub outputs: Vec<(BufferId, CallSite)>,
    pub grants: Vec<ir::Grant>,
    pub cursor: Cursor,
    /// The hints about the managed memory of arguments.
    pub hints: Vec<(BufferId, BuilderHint)>,
    /// The faults of declarations, which `build` reports.
    pub faults: Vec<Refusal>,
    /// The nodes of a captured graph.
    pub captured: CapturedIndex,
}

/// The bounds of a program. Invariant: no two have the same polynomial.
#[derive(Default)]
pub(super) struct BoundTable {
    symbols: Symbols,
    /// Each bound in its shortest spelling, with its polynomial.
    pub dims: Vector<DimId, (Size, Poly)>,
    numbers: BTreeMap<Poly, DimId>,
}

/// The state of the position at which the next statement is added.
#[derive(Default)]
pub(super) struct Cursor {
    /// The requests for the next statement.
    pub pending: NextStatement,
    /// The device requested for the current statement.
    pub taken: Option<Device>,
    /// True if the current statement is to be switchable.
    pub switchable: bool,
    /// The conditions of the open bodies, innermost last.
    pub open: Vec<StatementId>,
    /// The number of arms whose panic was kept as a fault.
    pub panics: usize,
}

struct ProgramNames<'n>(&'n Vector<ScalarId, BuilderScalar>, &'n Vector<BufferId, BuilderBuffer>);

impl Names for ProgramNames<'_> {
    fn scalar(&self, id: ScalarId) -> &str {
        self.0.get(id).map_or("?", |scalar| &scalar.name)
    }

    fn buffer(&self, index: usize) -> &str {
        self.1.get(BufferId::new(index)).map_or("?", |buffer| &buffer.name)
    }
}

/// A part of a buffer, with its bounds in the program's table.
pub(super) struct ResolvedPart {
    pub buffer: BufferId,
    pub lo: DimId,
    pub hi: DimId,
    pub whole: bool,
}

/// The location and name of a statement, for messages.
pub(super) struct StatementSite<'s> {
    pub place: CallSite,
    pub name: &'s str,
}

impl Program {
    pub fn new(builder: u64, name: &str, place: CallSite) -> Program {
        let mut program = Program {
            builder,
            name: name.to_owned(),
            place,
            options: ir::Options::default(),
            bounds: BoundTable::default(),
            scalars: Vector::new(),
            values: Vec::new(),
            buffers: Vector::new(),
            statements: Vector::new(),
            views: BTreeSet::new(),
            calls: Vector::new(),
            outputs: Vec::new(),
            grants: Vec::new(),
            cursor: Cursor::default(),
            hints: Vec::new(),
            faults: Vec::new(),
            captured: CapturedIndex::default(),
        };
        program.dim(&0u64.to_size());
        program
    }

    /// Returns a location with a name.
    pub fn at(&self, place: CallSite, name: &str) -> SourceLocation {
        SourceLocation::new(name, place.file, place.line).with_column(place.column)
    }

    /// Returns an error at a statement.
    pub fn refuse(&self, at: &StatementSite<'_>, code: Code, message: &str, help: Option<&str>) -> Error {
        messages::refused(&self.at(at.place, at.name), code, message, &[], help)
    }

    pub fn text(&self, size: &Size) -> String {
        size.text(&ProgramNames(&self.scalars, &self.buffers))
    }

    /// Returns the id of a bound. Bounds with the same polynomial share an id.
    pub fn dim(&mut self, size: &Size) -> DimId {
        let poly = size.poly(&mut self.bounds.symbols, &ProgramNames(&self.scalars, &self.buffers));
        let next = DimId::new(self.bounds.dims.len());
        let id = *self.bounds.numbers.entry(poly.clone()).or_insert(next);
        if id == next {
            self.bounds.dims.push((size.clone(), poly));
        } else if self.text(size).len() < self.text(&self.bounds.dims[id].0).len() {
            self.bounds.dims[id].0 = size.clone();
        }
        id
    }

    /// Checks an expression.
    pub fn check(&self, at: &StatementSite<'_>, size: &Size) -> Result<()> {
        self.check_sound(at, size.check(self.builder))
    }

    pub fn check_sound(
        &self,
        at: &StatementSite<'_>,
        sound: std::result::Result<(), SizeFault>,
    ) -> Result<()> {
        sound.map_err(|unsound| match unsound {
            SizeFault::Foreign => self.foreign(at, "a scalar"),
            SizeFault::TooLarge => {
                self.refuse(at, Code::CW001, "an expression has more than 1000 operations and operands", None)
            }
        })
    }

    fn foreign(&self, at: &StatementSite<'_>, what: &str) -> Error {
        let message = format!("{what} of another builder is given to `{}`", at.name);
        self.refuse(at, Code::CW402, &message, Some("handles are of the builder that made them"))
    }

    /// Returns the buffer of a handle, or an error if it belongs to another builder or to a body that has ended.
    pub fn resolve_buffer(&self, at: &StatementSite<'_>, handle: Handle) -> Result<BufferId> {
        let id = BufferId::new(handle.index);
        match self.buffers.get(id) {
            Some(declared) if handle.builder == self.builder => {
                self.check_in_scope(at, &declared.name, "an allocation of", declared.body)?;
                Ok(id)
            }
            _ => Err(self.foreign(at, "a buffer")),
        }
    }

    /// Returns the statement that `before` stands for.
    pub fn resolve_statement(&self, at: &StatementSite<'_>, before: StatementRef) -> Result<StatementId> {
        match before {
            StatementRef::Statement(statement) => {
                let id = StatementId::new(statement.index);
                match self.statements.get(id) {
                    Some(written) if statement.builder == self.builder => {
                        self.check_in_scope(at, &written.name, "a statement of", written.body)?;
                        Ok(id)
                    }
                    _ => Err(self.foreign(at, "a statement")),
                }
            }
            StatementRef::Allocation(handle) => {
                let buffer = &self.buffers[self.resolve_buffer(at, handle)?];
                match buffer.origin {
                    Origin::Alloc(statement) => Ok(statement),
                    _ => {
                        let message = format!("`{}` is an argument, and names no statement", buffer.name);
                        let help = "order after the statements that use it";
                        Err(self.refuse(at, Code::CW206, &message, Some(help)))
                    }
                }
            }
        }
    }

    /// Takes the predecessors and the device that were requested for the next statement.
    pub fn take_after(&mut self, at: &StatementSite<'_>) -> Result<Vec<StatementId>> {
        let after = std::mem::take(&mut self.cursor.pending.after);
        self.cursor.taken = std::mem::take(&mut self.cursor.pending.on);
        self.cursor.switchable = std::mem::take(&mut self.cursor.pending.switchable);
        if !std::mem::take(&mut self.cursor.pending.access).is_empty() {
            let message = "the devices of `access` are given to a statement that allocates nothing";
            return Err(self.refuse(at, Code::CW001, message, Some("call `access` before `alloc`")));
        }
        after.into_iter().map(|before| self.resolve_statement(at, before)).collect()
    }

    /// Declares a buffer. A faulty length is kept as a fault for the build.
    pub fn declare(
        &mut self,
        at: &StatementSite<'_>,
        origin: Origin,
        len: Size,
        element: ElementType,
    ) -> BufferId {
        let sound = self.check(at, &len);
        let poisoned = sound.is_err();
        if let Err(error) = sound {
            self.keep_fault(error);
        }
        let len = if poisoned { 1u64.to_size() } else { len };
        let dim = self.dim(&len);
        let name = at.name.to_owned();
        let body = self.cursor.open.last().copied().filter(|_| matches!(origin, Origin::Alloc(_)));
        self.buffers.push(BuilderBuffer { name, place: at.place, origin, len, dim, element, poisoned, body })
    }

    /// Keeps a fault of a declaration for the build.
    pub fn keep_fault(&mut self, error: Error) {
        if let Error::Refused(refusals) = error {
            self.faults.extend(refusals);
        }
    }

    /// Checks the nesting of a view.
    pub fn check_depth(&self, at: &StatementSite<'_>, view: &View) -> Result<()> {
        if view.parts.len() <= MAX_PARTS {
            return Ok(());
        }
        let message = format!("a part of more than {MAX_PARTS} parts is given to `{}`", at.name);
        Err(self.refuse(at, Code::CW001, &message, None))
    }

    /// Resolves a view to a part of a buffer.
    pub fn part(&mut self, at: &StatementSite<'_>, view: &View) -> Result<ResolvedPart> {
        let buffer = self.resolve_buffer(at, view.handle)?;
        self.check_depth(at, view)?;
        let (mut lo, mut hi) = (0u64.to_size(), self.buffers[buffer].len.clone());
        let mut ends = (self.dim(&lo), self.buffers[buffer].dim);
        for Subrange { lo: from, hi: to, place } in &view.parts {
            self.check(at, from)?;
            to.as_ref().map_or(Ok(()), |to| self.check(at, to))?;
            let of = ends;
            let first = self.sum(&lo, from);
            if let Some(to) = to {
                hi = self.sum(&lo, to);
            }
            self.check(at, &first)?;
            self.check(at, &hi)?;
            lo = first;
            ends = (self.dim(&lo), self.dim(&hi));
            if !self.is_whole(buffer, of.0, of.1) {
                // The second half of a split is checked through the bounds of the first half.
                let (lo, hi) = if to.is_some() { ends } else { (of.0, ends.0) };
                let CallSite { file, line, column } = *place;
                let file = (file != self.buffers[buffer].place.file).then_some(file);
                self.views.insert(ir::View { buffer, line, column, file, lo, hi, of });
            }
        }
        Ok(ResolvedPart { buffer, lo: ends.0, hi: ends.1, whole: self.is_whole(buffer, ends.0, ends.1) })
    }

    pub fn is_whole(&self, buffer: BufferId, lo: DimId, hi: DimId) -> bool {
        (lo, hi) == (DimId::from_u32(0), self.buffers[buffer].dim)
    }

    pub fn sum(&mut self, one: &Size, other: &Size) -> Size {
        let mut zero = |size: &Size| {
            size.poly(&mut self.bounds.symbols, &ProgramNames(&self.scalars, &self.buffers)).as_constant()
                == Some(0)
        };
        if zero(one) {
            other.clone()
        } else if zero(other) {
            one.clone()
        } else {
            one + other
        }
    }

    /// Returns the view and the access mode of a buffer argument, or `None` for a scalar. A bare name of an
    /// argument gets its declared mode; a bare name of an allocation has no mode.
    pub fn borrowed(
        &self,
        at: &StatementSite<'_>,
        argument: &Argument,
    ) -> Result<Option<(View, Option<Mode>)>> {
        match &argument.0 {
            ArgumentValue::Borrowed(view, mode) => {
                self.resolve_buffer(at, view.handle)?;
                Ok(Some((view.clone(), Some(*mode))))
            }
            ArgumentValue::Bare(view) => {
                let buffer = &self.buffers[self.resolve_buffer(at, view.handle)?];
                let mode = match buffer.origin {
                    Origin::Device { mutable: false } | Origin::Pinned { mutable: false } => Some(Mode::Read),
                    Origin::Device { mutable: true } | Origin::Pinned { mutable: true } => {
                        Some(Mode::ReadWrite)
                    }
                    Origin::Alloc(_) | Origin::Taken | Origin::Part(_) => None,
                };
                Ok(Some((view.clone(), mode)))
            }
            ArgumentValue::Absent
            | ArgumentValue::Value(_)
            | ArgumentValue::Scalar(..)
            | ArgumentValue::Size(_)
            | ArgumentValue::Host(_) => Ok(None),
        }
    }

    /// Returns the text of an argument for messages.
    pub fn argument_text(&self, argument: &Argument) -> String {
        match &argument.0 {
            ArgumentValue::Borrowed(view, mode) => {
                let view = self.view_text(view);
                match mode {
                    Mode::Read => format!("&{view}"),
                    Mode::ReadWrite | Mode::Write => format!("&mut {view}"),
                    Mode::Atomic => format!("atomic(&mut {view})"),
                }
            }
            ArgumentValue::Bare(view) => self.view_text(view),
            ArgumentValue::Absent => "None".to_owned(),
            ArgumentValue::Value(value) => value.text(),
            ArgumentValue::Scalar(_, id) => ProgramNames(&self.scalars, &self.buffers).scalar(*id).to_owned(),
            ArgumentValue::Size(size) => self.text(size),
            ArgumentValue::Host(value) => value.text(),
        }
    }

    fn view_text(&self, view: &View) -> String {
        let mut text = ProgramNames(&self.scalars, &self.buffers).buffer(view.handle.index).to_owned();
        for Subrange { lo, hi, .. } in &view.parts {
            let hi = hi.as_ref().map(|hi| self.text(hi)).unwrap_or_default();
            text.push_str(&format!("[{}..{hi}]", self.text(lo)));
        }
        if view.rows.is_some() {
            text.push_str(".rows(..)");
        }
        text
    }

    /// Returns the device of the innermost open body, or the first device.
    pub fn device_of_body(&self) -> Device {
        self.cursor.open.last().map_or(Device::FIRST, |&body| self.statements[body].device)
    }

    /// Adds a statement to the innermost open body. It runs on the requested device, or else on the device of the body.
    pub fn push(
        &mut self,
        name: String,
        place: CallSite,
        kind: StatementKind<BuilderStage>,
        mut accesses: Vec<Access>,
        after: Vec<StatementId>,
        scalars: MentionedScalars,
    ) -> StatementId {
        let device = self.cursor.taken.take().unwrap_or_else(|| self.device_of_body());
        let body = self.cursor.open.last().copied();
        let switchable = std::mem::take(&mut self.cursor.switchable);
        if switchable {
            let decides = accesses.iter().any(|access| self.is_condition(access.buffer));
            if let Some((message, help)) = kind.refuse_switchable(body.is_some(), decides) {
                let refused =
                    self.refuse(&StatementSite { place, name: &name }, Code::CW001, &message, Some(help));
                self.keep_fault(refused);
            }
            accesses.iter_mut().for_each(Access::may_be_left_out);
        }
        self.statements.push(BuilderStatement {
            name,
            place,
            kind,
            accesses,
            after,
            scalars,
            device,
            body,
            switchable,
        })
    }

    /// Returns the code of each bound. `buffer` maps a builder's buffer to the program's.
    pub fn codes(&self, buffer: &impl Fn(usize) -> BufferId) -> Vector<DimId, Vec<BoundOp>> {
        let code = |(size, _): &(Size, Poly)| {
            let mut code = Vec::new();
            size.code(&mut code, buffer);
            code
        };
        self.bounds.dims.iter().map(code).collect()
    }

    /// Returns the element type of a buffer and the type's name.
    pub fn element(&self, buffer: BufferId) -> (TypeId, &'static str) {
        let element = &self.buffers[buffer].element;
        (element.id, element.name)
    }
}
