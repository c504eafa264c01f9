//! The program of a builder so far: its buffers, bounds and statements, with their source locations. Bounds are
//! stored once per polynomial. `Cursor` has the requests for the next statement and the open bodies. Handles of
//! other builders or of ended bodies are refused here.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::codes::Code;
use cuweave_core::ids::{CallId, ScalarId};
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{self, Access, BufferId, Device, DimId, Mode, Origin, StatementId};
use cuweave_core::kind::Kind;
use cuweave_core::structure::Call;
use cuweave_core::table::Op;
use cuweave_ptx::poly::{Poly, Symbols};

use crate::bind::Hint;
use crate::build::Value;
use crate::error::{At, Error, Refusal, Result};

use super::bound::Element;
use super::code::Called;
use super::handle::{Argument, Handle, MOST_PARTS, Ordered, Passed, Place, Subrange, View};
use super::size::{MentionedScalars, Names, Size, ToSize, Unsound};
use super::words;

/// A scalar argument.
pub(super) struct Symbol {
    pub name: String,
    pub place: Place,
}

/// A buffer: an argument or an allocation.
pub(super) struct Declared {
    pub name: String,
    pub place: Place,
    pub origin: Origin,
    pub len: Size,
    pub dim: DimId,
    pub element: Element,
    /// True if its declaration is faulty. No further faults of it are reported.
    pub poisoned: bool,
    /// The condition of the body in which it is allocated. `None` outside of bodies.
    pub body: Option<StatementId>,
}

/// A statement.
pub(super) struct Written {
    pub name: String,
    pub place: Place,
    pub kind: Kind<Called>,
    pub accesses: Vec<Access>,
    pub after: Vec<StatementId>,
    pub scalars: MentionedScalars,
    /// The device on which it runs.
    pub device: Device,
    /// The condition of its innermost body. `None` outside of bodies.
    pub body: Option<StatementId>,
}

/// The name, predecessors and device requested for the next statement.
#[derive(Default)]
pub(super) struct Pending {
    pub name: Option<String>,
    pub after: Vec<Ordered>,
    pub on: Option<Device>,
}

/// The program so far. Buffers are numbered in declaration order.
pub(super) struct Program {
    /// The id of the builder, which its handles carry.
    pub builder: u64,
    pub name: String,
    pub place: Place,
    pub options: ir::Options,
    pub bounds: BoundTable,
    pub scalars: Vector<ScalarId, Symbol>,
    pub values: Vec<Value>,
    pub buffers: Vector<BufferId, Declared>,
    pub statements: Vector<StatementId, Written>,
    pub views: BTreeSet<ir::View>,
    pub calls: Vector<CallId, Call>,
    pub outputs: Vec<(BufferId, Place)>,
    pub cursor: Cursor,
    /// The hints about the managed memory of arguments.
    pub hints: Vec<(BufferId, Hint)>,
    /// The faults of declarations, which `build` reports.
    pub faults: Vec<Refusal>,
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
    pub pending: Pending,
    /// The device requested for the current statement.
    pub taken: Option<Device>,
    /// The conditions of the open bodies, innermost last.
    pub open: Vec<StatementId>,
    /// The number of arms whose panic was kept as a fault.
    pub panics: usize,
}

struct Known<'n>(&'n Vector<ScalarId, Symbol>, &'n Vector<BufferId, Declared>);

impl Names for Known<'_> {
    fn scalar(&self, id: ScalarId) -> &str {
        self.0.get(id).map_or("?", |scalar| &scalar.name)
    }

    fn buffer(&self, index: usize) -> &str {
        self.1.get(BufferId::new(index)).map_or("?", |buffer| &buffer.name)
    }
}

/// A part of a buffer, with its bounds in the program's table.
pub(super) struct Part {
    pub buffer: BufferId,
    pub lo: DimId,
    pub hi: DimId,
    pub whole: bool,
}

/// The location and name of a statement, for messages.
pub(super) struct Site<'s> {
    pub place: Place,
    pub name: &'s str,
}

impl Program {
    pub fn new(builder: u64, name: &str, place: Place) -> Program {
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
            cursor: Cursor::default(),
            hints: Vec::new(),
            faults: Vec::new(),
        };
        program.dim(&0u64.to_size());
        program
    }

    /// Returns a location with a name.
    pub fn at(&self, place: Place, name: &str) -> At {
        At::new(name, place.file, place.line).with_column(place.column)
    }

    /// Returns an error at a statement.
    pub fn refuse(&self, at: &Site<'_>, code: Code, message: &str, help: Option<&str>) -> Error {
        words::refused(&self.at(at.place, at.name), code, message, &[], help)
    }

    pub fn text(&self, size: &Size) -> String {
        size.text(&Known(&self.scalars, &self.buffers))
    }

    /// Returns the id of a bound. Bounds with the same polynomial share an id.
    pub fn dim(&mut self, size: &Size) -> DimId {
        let poly = size.poly(&mut self.bounds.symbols, &Known(&self.scalars, &self.buffers));
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
    pub fn check(&self, at: &Site<'_>, size: &Size) -> Result<()> {
        self.sound(at, size.check(self.builder))
    }

    pub fn sound(&self, at: &Site<'_>, sound: std::result::Result<(), Unsound>) -> Result<()> {
        sound.map_err(|unsound| match unsound {
            Unsound::Foreign => self.foreign(at, "a scalar"),
            Unsound::TooLarge => {
                self.refuse(at, Code::CW001, "an expression has more than 1000 operations and operands", None)
            }
        })
    }

    fn foreign(&self, at: &Site<'_>, what: &str) -> Error {
        let message = format!("{what} of another builder is given to `{}`", at.name);
        self.refuse(at, Code::CW402, &message, Some("handles are of the builder that made them"))
    }

    /// Returns the buffer of a handle, or an error if it belongs to another builder or to a body that has ended.
    pub fn own(&self, at: &Site<'_>, handle: Handle) -> Result<BufferId> {
        let id = BufferId::new(handle.index);
        match self.buffers.get(id) {
            Some(declared) if handle.builder == self.builder => {
                self.in_scope(at, &declared.name, "an allocation of", declared.body)?;
                Ok(id)
            }
            _ => Err(self.foreign(at, "a buffer")),
        }
    }

    /// Returns the statement that `before` stands for.
    pub fn ordered(&self, at: &Site<'_>, before: Ordered) -> Result<StatementId> {
        match before {
            Ordered::Statement(statement) => {
                let id = StatementId::new(statement.index);
                match self.statements.get(id) {
                    Some(written) if statement.builder == self.builder => {
                        self.in_scope(at, &written.name, "a statement of", written.body)?;
                        Ok(id)
                    }
                    _ => Err(self.foreign(at, "a statement")),
                }
            }
            Ordered::Allocation(handle) => {
                let buffer = &self.buffers[self.own(at, handle)?];
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
    pub fn take_after(&mut self, at: &Site<'_>) -> Result<Vec<StatementId>> {
        let after = std::mem::take(&mut self.cursor.pending.after);
        self.cursor.taken = std::mem::take(&mut self.cursor.pending.on);
        after.into_iter().map(|before| self.ordered(at, before)).collect()
    }

    /// Declares a buffer. A faulty length is kept as a fault for the build.
    pub fn declare(&mut self, at: &Site<'_>, origin: Origin, len: Size, element: Element) -> BufferId {
        let sound = self.check(at, &len);
        let poisoned = sound.is_err();
        if let Err(error) = sound {
            self.note(error);
        }
        let len = if poisoned { 1u64.to_size() } else { len };
        let dim = self.dim(&len);
        let name = at.name.to_owned();
        let body = self.cursor.open.last().copied().filter(|_| matches!(origin, Origin::Alloc(_)));
        self.buffers.push(Declared { name, place: at.place, origin, len, dim, element, poisoned, body })
    }

    /// Keeps a fault of a declaration for the build.
    pub fn note(&mut self, error: Error) {
        if let Error::Refused(refusals) = error {
            self.faults.extend(refusals);
        }
    }

    /// Resolves a view to a part of a buffer.
    pub fn part(&mut self, at: &Site<'_>, view: &View) -> Result<Part> {
        let buffer = self.own(at, view.of)?;
        if view.parts.len() > MOST_PARTS {
            let message = format!("a part of more than {MOST_PARTS} parts is given to `{}`", at.name);
            return Err(self.refuse(at, Code::CW001, &message, None));
        }
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
                let Place { file, line, column } = *place;
                let file = (file != self.buffers[buffer].place.file).then_some(file);
                self.views.insert(ir::View { buffer, line, column, file, lo, hi, of });
            }
        }
        Ok(Part { buffer, lo: ends.0, hi: ends.1, whole: self.is_whole(buffer, ends.0, ends.1) })
    }

    fn is_whole(&self, buffer: BufferId, lo: DimId, hi: DimId) -> bool {
        (lo, hi) == (DimId::from_u32(0), self.buffers[buffer].dim)
    }

    fn sum(&mut self, one: &Size, other: &Size) -> Size {
        let mut zero = |size: &Size| {
            size.poly(&mut self.bounds.symbols, &Known(&self.scalars, &self.buffers)).as_constant() == Some(0)
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
    pub fn borrowed(&self, at: &Site<'_>, argument: &Argument) -> Result<Option<(View, Option<Mode>)>> {
        match &argument.0 {
            Passed::Lent(view, mode) => {
                self.own(at, view.of)?;
                Ok(Some((view.clone(), Some(*mode))))
            }
            Passed::Bare(view) => {
                let buffer = &self.buffers[self.own(at, view.of)?];
                let mode = match buffer.origin {
                    Origin::Device { mutable: false } | Origin::Pinned { mutable: false } => Some(Mode::Read),
                    Origin::Device { mutable: true } | Origin::Pinned { mutable: true } => {
                        Some(Mode::ReadWrite)
                    }
                    Origin::Alloc(_) | Origin::Taken | Origin::Part(_) => None,
                };
                Ok(Some((view.clone(), mode)))
            }
            Passed::Nothing | Passed::Value(_) | Passed::Scalar(..) | Passed::Size(_) => Ok(None),
        }
    }

    /// Returns the text of an argument for messages.
    pub fn argument_text(&self, argument: &Argument) -> String {
        match &argument.0 {
            Passed::Lent(view, mode) => {
                let view = self.view_text(view);
                match mode {
                    Mode::Read => format!("&{view}"),
                    Mode::ReadWrite | Mode::Write => format!("&mut {view}"),
                    Mode::Atomic => format!("atomic(&mut {view})"),
                }
            }
            Passed::Bare(view) => self.view_text(view),
            Passed::Nothing => "None".to_owned(),
            Passed::Value(value) => value.text(),
            Passed::Scalar(_, id) => Known(&self.scalars, &self.buffers).scalar(*id).to_owned(),
            Passed::Size(size) => self.text(size),
        }
    }

    fn view_text(&self, view: &View) -> String {
        let mut text = Known(&self.scalars, &self.buffers).buffer(view.of.index).to_owned();
        for Subrange { lo, hi, .. } in &view.parts {
            let hi = hi.as_ref().map(|hi| self.text(hi)).unwrap_or_default();
            text.push_str(&format!("[{}..{hi}]", self.text(lo)));
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
        place: Place,
        kind: Kind<Called>,
        accesses: Vec<Access>,
        after: Vec<StatementId>,
        scalars: MentionedScalars,
    ) -> StatementId {
        let device = self.cursor.taken.take().unwrap_or_else(|| self.device_of_body());
        let body = self.cursor.open.last().copied();
        self.statements.push(Written { name, place, kind, accesses, after, scalars, device, body })
    }

    /// Returns the code of each bound. `buffer` maps a builder's buffer to the program's.
    pub fn codes(&self, buffer: &impl Fn(usize) -> BufferId) -> Vector<DimId, Vec<Op>> {
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
