//! The program of a builder so far: its buffers, bounds and statements, with places.

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
    /// True if its declaration is faulty: nothing more is said of it.
    pub poisoned: bool,
    /// The statement in front of the body that it is allocated in.
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
    /// The device that was asked for.
    pub device: Device,
    /// The statement in front of the body that it stands in.
    pub body: Option<StatementId>,
}

/// The name and the order that were asked for the next statement.
#[derive(Default)]
pub(super) struct Pending {
    pub name: Option<String>,
    pub after: Vec<Ordered>,
    pub on: Option<Device>,
}

/// The program so far. Buffers are numbered as they were declared.
pub(super) struct Program {
    /// The number of the builder, by which handles are known as its own.
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
    /// The hints about managed memory that arguments are bound to.
    pub hints: Vec<(BufferId, Hint)>,
    /// Faults of declarations.
    pub faults: Vec<Refusal>,
}

/// The bounds of a program, each once.
#[derive(Default)]
pub(super) struct BoundTable {
    symbols: Symbols,
    /// Each bound as it is written, with its polynomial.
    pub dims: Vector<DimId, (Size, Poly)>,
    numbers: BTreeMap<Poly, DimId>,
}

/// The place that the next statement is written to.
#[derive(Default)]
pub(super) struct Cursor {
    /// What was asked for the next statement.
    pub pending: Pending,
    /// The device that was asked for the statement that is made.
    pub taken: Option<Device>,
    /// The statements in front of the bodies that are being written, innermost last.
    pub open: Vec<StatementId>,
    /// The number of panics of arms that were noted as faults.
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

/// A part of a buffer whose bounds are known to the program.
pub(super) struct Part {
    pub buffer: BufferId,
    pub lo: DimId,
    pub hi: DimId,
    pub whole: bool,
}

/// A statement that is being written.
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

    /// Returns a place with a name.
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

    /// Returns the number of a bound. Bounds of one polynomial have one number.
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

    /// Returns the number of a handle's buffer.
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

    /// Returns the statement that another one can be ordered after.
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

    /// Takes the order and the device that were asked for the next statement.
    pub fn take_after(&mut self, at: &Site<'_>) -> Result<Vec<StatementId>> {
        let after = std::mem::take(&mut self.cursor.pending.after);
        self.cursor.taken = std::mem::take(&mut self.cursor.pending.on);
        after.into_iter().map(|before| self.ordered(at, before)).collect()
    }

    /// Declares a buffer. `owner` says whose expression its length is.
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

    /// Returns the part of a buffer that a view is.
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
                // A split is checked by its first part.
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

    /// Returns how an argument borrows its buffer, with its text; `None` for scalars. A bare name of an argument stands for its
    /// declared borrow; `None` stands for the borrow of the bare name of an allocation.
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

    /// Returns an argument as messages name it.
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

    /// Returns the device of the innermost body that is being written, or the first one.
    pub fn device_of_body(&self) -> Device {
        self.cursor.open.last().map_or(Device::FIRST, |&body| self.statements[body].device)
    }

    /// Adds a statement in the innermost body that is being written, on the device that was asked for it or else on that of the body.
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

    /// Returns how each bound is computed; `buffer` gives the final number of a buffer.
    pub fn codes(&self, buffer: &impl Fn(usize) -> BufferId) -> Vector<DimId, Vec<Op>> {
        let code = |(size, _): &(Size, Poly)| {
            let mut code = Vec::new();
            size.code(&mut code, buffer);
            code
        };
        self.bounds.dims.iter().map(code).collect()
    }

    /// Returns the type of a buffer's elements.
    pub fn element(&self, buffer: BufferId) -> (TypeId, &'static str) {
        let element = &self.buffers[buffer].element;
        (element.id, element.name)
    }
}
