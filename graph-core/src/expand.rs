//! Stage 0 of a build: from the templates of a function to a flat program.
//!
//! Loops are unrolled, choices made, calls replaced by the statements of their callees. The flat program is then ordered and
//! checked like any other, so a mistake here can refuse a program, and cannot make it race.
//!
//! What depends on values is asked: [`Answers`] computes bounds, counts turns, chooses arms and enters callees.

use std::any::TypeId;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use cuweave_ptx::poly::Poly;

use crate::ir::{Access, Buffer, BufferId, DimId, Kind, Origin, Program, Statement, StatementId, Text, View};
use crate::kind::Lifetime;
use crate::order::{Regions, Source};
use crate::structure::{Argument, Call, Choice, Item, Loop, Part, PartId, Step, Turns};
use crate::table::{Decoded, Op, Parameter};

/// Index of a frame in [`Expanded::frames`]. The outermost function's is 0.
pub type FrameId = u32;

/// The value of a bound, and its polynomial over the scalars that have setters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// The value.
    pub value: u64,
    /// The polynomial: a constant where no setter reaches the bound.
    pub poly: Poly,
}

impl Number {
    /// Returns a number that no setter reaches.
    pub fn constant(value: u64) -> Number {
        Number { value, poly: Poly::constant(i128::from(value)) }
    }
}

/// A function that is being expanded: its table, and the call that it is expanded for.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The function.
    pub table: &'static Decoded,
    /// The call: the caller's frame, its statement, and the values of the caller's loop variables. `None` for the outermost
    /// function.
    pub call: Option<(FrameId, StatementId, Arc<[u64]>)>,
    /// The prefix of names: `block[3].`.
    prefix: String,
}

impl Frame {
    /// Returns the frame of the outermost function.
    pub fn outermost(table: &'static Decoded) -> Frame {
        Frame { table, call: None, prefix: String::new() }
    }
}

/// The template that a statement of the flat program is an instance of.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The function.
    pub frame: FrameId,
    /// Its statement.
    pub template: StatementId,
    /// The values of its loop variables.
    pub turns: Arc<[u64]>,
}

/// The answers to what depends on values.
pub trait Answers {
    /// The error for a question without an answer.
    type Error;

    /// Returns the value of a bound, by its code. `length` returns the value of [`Op::Length`] and [`Op::Extent`].
    fn bound(
        &mut self,
        at: At<'_>,
        dim: DimId,
        length: &mut dyn FnMut(Op) -> Option<Number>,
    ) -> Result<Number, Self::Error>;

    /// Returns the arm that a choice takes; one beyond the arms takes none.
    fn arm(&mut self, at: At<'_>, choice: &Choice) -> Result<u32, Self::Error>;

    /// Returns the function that a call enters.
    fn callee(&mut self, at: At<'_>, call: StatementId) -> Result<&'static Decoded, Self::Error>;

    /// Returns the error for a program that cannot be expanded.
    fn refused(&mut self, at: At<'_>, statement: Option<StatementId>, refusal: Refusal) -> Self::Error;
}

/// A place in an expansion: the frames so far, the current one, and the values of its loop variables.
#[derive(Clone, Copy, Debug)]
pub struct At<'e> {
    /// All frames.
    pub frames: &'e [Frame],
    /// The current one.
    pub frame: FrameId,
    /// The values of its loop variables.
    pub turns: &'e [u64],
}

impl<'e> At<'e> {
    /// The function of the current frame.
    pub fn table(&self) -> &'static Decoded {
        self.frames[self.frame as usize].table
    }
}

/// The reason that a program cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// An index into a list of arguments is not below its length.
    Index {
        /// The argument, with its fields.
        list: String,
        /// The index.
        index: u64,
        /// The number of elements.
        len: usize,
    },
    /// The buffer for a callee's parameter is shorter than the parameter declares.
    Short {
        /// The callee.
        callee: String,
        /// Its parameter.
        parameter: String,
        /// The buffer.
        buffer: String,
        /// The length that the parameter declares.
        needed: u64,
        /// The length of the buffer.
        len: u64,
    },
    /// A function calls itself, by way of others or not.
    Recursion {
        /// The functions of the cycle, from the one that is entered again.
        cycle: Vec<String>,
    },
    /// The flat program is too large, or its loops too long.
    TooLarge {
        /// The most statements or turns.
        most: usize,
    },
    /// An output is declared with another length than it is allocated with.
    Returned {
        /// The buffer.
        buffer: String,
        /// The declared length.
        declared: u64,
        /// Its own.
        actual: u64,
    },
    /// A name comes to stand for a buffer of another length or element type.
    Unlike {
        /// The name.
        one: String,
        /// The name of the other buffer.
        other: String,
    },
    /// A name is used that stands for no buffer: the table and the generated code are not of one version.
    Malformed(&'static str),
}

/// The most statements of a flat program: what an order of bit rows holds in 4 GiB.
pub const MOST_STATEMENTS: usize = 1 << 17;

/// The most turns of all loops of a build: some of them may have no statement.
pub const MOST_TURNS: usize = 1 << 20;

/// An argument of the outermost function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Described {
    /// A scalar or a host value.
    Scalar,
    /// A buffer.
    Buffer(Box<DescribedBuffer>),
    /// The elements of a list.
    List(Vec<Described>),
    /// The fields of a record, by their names.
    Record(Vec<(Text, Described)>),
}

/// A buffer of a record or a list, as its own code describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedBuffer {
    /// Its name: `layers[3].q`.
    pub name: String,
    /// The line of the argument.
    pub line: u32,
    /// Its origin.
    pub origin: Origin,
    /// Its declared length in elements.
    pub len: u64,
    /// The text of the length.
    pub text: Text,
    /// `size_of` and `align_of` its element.
    pub layout: (u32, u32),
    /// The type of its element.
    pub element: TypeId,
}

/// A flat program, and where its statements come from.
#[derive(Clone, Debug)]
pub struct Expanded {
    /// The program, with the polynomials of its bounds.
    pub source: Source,
    /// The values of the bounds.
    pub values: Vec<u64>,
    /// The element type of each buffer.
    pub elements: Vec<TypeId>,
    /// The template of each statement.
    pub instances: Vec<Instance>,
    /// The functions that were entered.
    pub frames: Vec<Frame>,
}

/// Expands a function for its arguments. O(statements of the flat program).
///
/// # Errors
///
/// Those of the answers.
pub fn expand<A: Answers>(
    table: &'static Decoded,
    arguments: &[Described],
    answers: &mut A,
) -> Result<Expanded, A::Error> {
    let mut expansion =
        Expansion { answers, flat: Flat::default(), frames: vec![Frame::outermost(table)], turns: 0 };
    let mut scope = Scope::new(table, 0);
    expansion.declare(&mut scope, arguments)?;
    expansion.body(&mut scope)?;
    expansion.returned(&scope)?;
    let outputs: Result<Vec<BufferId>, A::Error> = table
        .program
        .outputs
        .iter()
        .map(|&output| Ok(expansion.view(&scope, output, None)?.buffer))
        .collect();
    let outputs = outputs?;
    let options = table.program.options;
    let budget = options.budget.map(|budget| expansion.dim(&mut scope, budget)).transpose()?;
    let Expansion { flat, frames, .. } = expansion;
    let program = Program {
        name: table.program.name.clone(),
        file: table.program.file.clone(),
        options: crate::ir::Options { budget, ..options },
        dims: flat.texts.into(),
        buffers: flat.buffers.into(),
        statements: flat.statements.into(),
        views: flat.views.into(),
        outputs: outputs.into(),
    };
    let poisoned = vec![false; program.buffers.len()];
    Ok(Expanded {
        source: Source {
            program,
            polys: flat.polys,
            poisoned,
            order_unknown: false,
            regions: Regions::default(),
        },
        values: flat.values,
        elements: flat.elements,
        instances: flat.instances,
        frames,
    })
}

/// The flat program so far.
#[derive(Default)]
struct Flat {
    texts: Vec<Text>,
    values: Vec<u64>,
    polys: Vec<Poly>,
    buffers: Vec<Buffer>,
    elements: Vec<TypeId>,
    statements: Vec<Statement>,
    views: Vec<View>,
    instances: Vec<Instance>,
}

impl Flat {
    fn dim(&mut self, text: Text, number: Number) -> DimId {
        self.texts.push(text);
        self.values.push(number.value);
        self.polys.push(number.poly);
        self.values.len() as DimId - 1
    }

    fn number(&self, dim: DimId) -> Number {
        Number { value: self.values[dim as usize], poly: self.polys[dim as usize].clone() }
    }

    fn buffer(&mut self, buffer: Buffer, element: TypeId) -> BufferId {
        self.buffers.push(buffer);
        self.elements.push(element);
        self.buffers.len() as BufferId - 1
    }
}

/// A part of a buffer of the flat program.
#[derive(Clone, Copy, Debug)]
struct Window {
    buffer: BufferId,
    lo: DimId,
    hi: DimId,
}

/// An argument with its buffers.
#[derive(Clone, Debug)]
enum Value {
    Scalar,
    Buffer(Window),
    List(Arc<[Value]>),
    Record(Arc<[(Text, Value)]>),
}

/// A function while its body is expanded.
struct Scope {
    table: &'static Decoded,
    frame: FrameId,
    arguments: Vec<Value>,
    /// The buffers that the function's names stand for now.
    buffers: Vec<Option<Window>>,
    /// The bounds that are computed for the current turns.
    dims: Vec<Option<DimId>>,
    /// The values of the loop variables.
    turns: Arc<[u64]>,
    /// The latest instances of each statement: several for a call.
    latest: Vec<Range<StatementId>>,
    /// Statements of the flat program whose `#[after]` names a later one of this turn.
    forward: Vec<(StatementId, StatementId)>,
}

impl Scope {
    fn new(table: &'static Decoded, frame: FrameId) -> Scope {
        let program = &table.program;
        Scope {
            table,
            frame,
            arguments: Vec::new(),
            buffers: vec![None; program.buffers.len()],
            dims: vec![None; program.dims.len()],
            turns: vec![0; table.structure.variables.len()].into(),
            latest: vec![0..0; program.statements.len()],
            forward: Vec::new(),
        }
    }

    fn turn(&mut self, variable: u32, value: u64) {
        let turns: Vec<u64> =
            (0..).zip(self.turns.iter()).map(|(at, &old)| if at == variable { value } else { old }).collect();
        self.turns = turns.into();
        for &dim in &self.table.structure.variables[variable as usize].dims {
            self.dims[dim as usize] = None;
        }
    }
}

struct Expansion<'a, A: Answers> {
    answers: &'a mut A,
    flat: Flat,
    frames: Vec<Frame>,
    /// The number of turns so far.
    turns: usize,
}

impl<A: Answers> Expansion<'_, A> {
    fn refuse(&mut self, scope: &Scope, statement: Option<StatementId>, refusal: Refusal) -> A::Error {
        let at = At { frames: &self.frames, frame: scope.frame, turns: &scope.turns };
        self.answers.refused(at, statement, refusal)
    }

    /// Returns the name of a statement or a buffer of a scope in the flat program.
    fn name(&self, scope: &Scope, name: &Text) -> Text {
        let prefix = &self.frames[scope.frame as usize].prefix;
        if prefix.is_empty() { name.clone() } else { Cow::Owned(format!("{prefix}{name}")) }
    }

    /// Returns the file of a scope, if it is not the outermost function's.
    fn file(&self, scope: &Scope) -> Option<Text> {
        let file = &scope.table.program.file;
        (*file != self.frames[0].table.program.file).then(|| file.clone())
    }

    /// Declares the arguments of the outermost function.
    fn declare(&mut self, scope: &mut Scope, arguments: &[Described]) -> Result<(), A::Error> {
        let table = scope.table;
        let mut described = arguments.iter();
        for parameter in &table.parameters {
            let value = match *parameter {
                Parameter::Scalar(_) => Value::Scalar,
                Parameter::Buffer(buffer) => Value::Buffer(self.declare_buffer(scope, buffer)?),
                Parameter::Array(first, count) => {
                    let windows: Result<Vec<Value>, A::Error> = (first..first + count)
                        .map(|buffer| Ok(Value::Buffer(self.declare_buffer(scope, buffer)?)))
                        .collect();
                    Value::List(windows?.into())
                }
                Parameter::Part => match described.next() {
                    Some(described) => self.described(described),
                    None => {
                        return Err(self.refuse(scope, None, Refusal::Malformed("an argument is missing")));
                    }
                },
            };
            scope.arguments.push(value);
        }
        Ok(())
    }

    fn declare_buffer(&mut self, scope: &mut Scope, buffer: BufferId) -> Result<Window, A::Error> {
        let declared = &scope.table.program.buffers[buffer as usize];
        let len = self.dim(scope, declared.len)?;
        let name = self.name(scope, &declared.name);
        let file = self.file(scope);
        let element = scope.table.elements[buffer as usize];
        let id = self.flat.buffer(Buffer { name, len, file, ..declared.clone() }, element);
        let window = Window { buffer: id, lo: self.zero(scope)?, hi: len };
        scope.buffers[buffer as usize] = Some(window);
        Ok(window)
    }

    fn zero(&mut self, scope: &mut Scope) -> Result<DimId, A::Error> {
        // The first bound of every table is the constant 0.
        self.dim(scope, 0)
    }

    fn described(&mut self, described: &Described) -> Value {
        match described {
            Described::Scalar => Value::Scalar,
            Described::Buffer(buffer) => {
                let DescribedBuffer { name, line, origin, len, text, layout, element } = &**buffer;
                let lo = self.flat.dim("0".into(), Number::constant(0));
                let hi = self.flat.dim(text.clone(), Number::constant(*len));
                let declared = Buffer {
                    name: name.clone().into(),
                    line: *line,
                    file: None,
                    origin: *origin,
                    len: hi,
                    element: layout.0,
                    align: layout.1,
                };
                Value::Buffer(Window { buffer: self.flat.buffer(declared, *element), lo, hi })
            }
            Described::List(elements) => {
                Value::List(elements.iter().map(|one| self.described(one)).collect())
            }
            Described::Record(fields) => {
                let field = |(name, one): &(Text, Described)| (name.clone(), self.described(one));
                Value::Record(fields.iter().map(field).collect())
            }
        }
    }

    /// Returns the bound of the flat program for a bound of a scope.
    fn dim(&mut self, scope: &mut Scope, dim: DimId) -> Result<DimId, A::Error> {
        if let Some(known) = scope.dims[dim as usize] {
            return Ok(known);
        }
        let number = self.number(scope, dim)?;
        let id = self.flat.dim(scope.table.program.dims[dim as usize].clone(), number);
        // A name may come to stand for a buffer of another length.
        let moves = |op: &Op| matches!(op, Op::Length(_) | Op::Extent(_));
        if !scope.table.dims[dim as usize].iter().any(moves) {
            scope.dims[dim as usize] = Some(id);
        }
        Ok(id)
    }

    fn number(&mut self, scope: &Scope, dim: DimId) -> Result<Number, A::Error> {
        // The lengths of parts come first: their indices are bounds, too.
        let mut lengths: Vec<(Op, Number)> = Vec::new();
        for &op in &scope.table.dims[dim as usize] {
            match op {
                Op::Length(part) => {
                    let number = match self.part(scope, part)? {
                        Value::Buffer(window) => self.length(window),
                        Value::List(elements) => Number::constant(elements.len() as u64),
                        Value::Scalar | Value::Record(_) => {
                            let refusal = Refusal::Malformed("a length of what is no buffer");
                            return Err(self.refuse(scope, None, refusal));
                        }
                    };
                    lengths.push((op, number));
                }
                Op::Extent(buffer) => {
                    let window = self.view(scope, buffer, None)?;
                    lengths.push((op, self.length(window)));
                }
                _ => {}
            }
        }
        let at = At { frames: &self.frames, frame: scope.frame, turns: &scope.turns };
        let mut length =
            |op: Op| lengths.iter().find(|(known, _)| *known == op).map(|(_, number)| number.clone());
        self.answers.bound(at, dim, &mut length)
    }

    fn length(&self, window: Window) -> Number {
        let (lo, hi) = (self.flat.number(window.lo), self.flat.number(window.hi));
        let value = hi.value.saturating_sub(lo.value);
        Number { value, poly: hi.poly.minus(&lo.poly).unwrap_or_else(|| Poly::constant(i128::from(value))) }
    }

    /// Returns the part of an argument.
    fn part(&mut self, scope: &Scope, part: PartId) -> Result<Value, A::Error> {
        let Part { argument, path } = &scope.table.structure.parts[part as usize];
        let mut value = scope.arguments[*argument as usize].clone();
        for (at, step) in path.iter().enumerate() {
            value = match (step, value) {
                (Step::Index(dim), Value::List(elements)) => {
                    let index = self.number(scope, *dim)?.value;
                    match usize::try_from(index).ok().and_then(|index| elements.get(index)) {
                        Some(element) => element.clone(),
                        None => {
                            let list = self.path(scope, *argument, &path[..at]);
                            let refusal = Refusal::Index { list, index, len: elements.len() };
                            return Err(self.refuse(scope, None, refusal));
                        }
                    }
                }
                (Step::Field(name), Value::Record(fields)) => {
                    match fields.iter().find(|(field, _)| field == name) {
                        Some((_, field)) => field.clone(),
                        None => {
                            return Err(self.refuse(scope, None, Refusal::Malformed("a field is missing")));
                        }
                    }
                }
                _ => return Err(self.refuse(scope, None, Refusal::Malformed("a part of what has none"))),
            };
        }
        Ok(value)
    }

    fn path(&self, scope: &Scope, argument: u32, path: &[Step]) -> String {
        let mut text = scope.table.arguments[argument as usize].to_string();
        for step in path {
            match step {
                Step::Index(_) => text.push_str("[..]"),
                Step::Field(name) => text.push_str(&format!(".{name}")),
            }
        }
        text
    }

    /// Returns the part of the flat program's buffer that a name stands for.
    fn view(
        &mut self,
        scope: &Scope,
        buffer: BufferId,
        statement: Option<StatementId>,
    ) -> Result<Window, A::Error> {
        if let Origin::Part(part) = scope.table.program.buffers[buffer as usize].origin {
            return match self.part(scope, part)? {
                Value::Buffer(window) => Ok(window),
                _ => Err(self.refuse(scope, statement, Refusal::Malformed("an argument is no buffer"))),
            };
        }
        match scope.buffers[buffer as usize] {
            Some(window) => Ok(window),
            None => Err(self.refuse(scope, statement, Refusal::Malformed("a name stands for no buffer"))),
        }
    }

    /// Returns the range of a buffer at a distance from the start of a window.
    fn within(
        &mut self,
        scope: &mut Scope,
        window: Window,
        range: [DimId; 2],
    ) -> Result<[DimId; 2], A::Error> {
        let mut ends = [self.dim(scope, range[0])?, self.dim(scope, range[1])?];
        let base = self.flat.number(window.lo);
        if base.poly.as_constant() != Some(0) {
            for end in &mut ends {
                let number = self.flat.number(*end);
                let value = base.value.saturating_add(number.value);
                let poly = base.poly.plus(&number.poly).unwrap_or_else(|| Poly::constant(i128::from(value)));
                let text =
                    format!("{} + {}", self.flat.texts[window.lo as usize], self.flat.texts[*end as usize]);
                *end = self.flat.dim(text.into(), Number { value, poly });
            }
        }
        Ok(ends)
    }

    fn body(&mut self, scope: &mut Scope) -> Result<(), A::Error> {
        let table = scope.table;
        if table.structure.is_flat() {
            for statement in 0..table.program.statements.len() as StatementId {
                self.statement(scope, statement)?;
            }
        } else {
            self.items(scope, &table.structure.body)?;
        }
        self.resolve(scope);
        self.views(scope)
    }

    /// Resolves the names of statements that stand behind their use. One that is not instantiated in this turn orders nothing.
    fn resolve(&mut self, scope: &mut Scope) {
        for (statement, before) in std::mem::take(&mut scope.forward) {
            let instances = scope.latest[before as usize].clone();
            self.flat.statements[statement as usize].after.to_mut().extend(instances);
        }
    }

    /// Checks that the outputs have the lengths that they are declared with.
    fn returned(&mut self, scope: &Scope) -> Result<(), A::Error> {
        for &(buffer, declared, actual) in &scope.table.structure.returned {
            let (declared, actual) = (self.number(scope, declared)?.value, self.number(scope, actual)?.value);
            if declared != actual {
                let buffer = scope.table.program.buffers[buffer as usize].name.to_string();
                return Err(self.refuse(scope, None, Refusal::Returned { buffer, declared, actual }));
            }
        }
        Ok(())
    }

    /// The parts of parts: the build checks that they lie in them. Those in loops are checked for the last turn only here, and at
    /// each use as ranges of their buffers.
    fn views(&mut self, scope: &mut Scope) -> Result<(), A::Error> {
        let table = scope.table;
        for view in table.program.views.iter() {
            let Some(window) = scope.buffers[view.buffer as usize] else { continue };
            let [lo, hi] = self.within(scope, window, [view.lo, view.hi])?;
            let [from, to] = self.within(scope, window, [view.of.0, view.of.1])?;
            self.flat.views.push(View { buffer: window.buffer, line: view.line, lo, hi, of: (from, to) });
        }
        Ok(())
    }

    fn items(&mut self, scope: &mut Scope, items: &'static [Item]) -> Result<(), A::Error> {
        for item in items {
            match item {
                Item::Statement(statement) => self.statement(scope, *statement)?,
                Item::Loop(each) => self.turns(scope, each)?,
                Item::Choice(choice) => {
                    let at = At { frames: &self.frames, frame: scope.frame, turns: &scope.turns };
                    let arm = self.answers.arm(at, choice)?;
                    if let Some(arm) = choice.arms.get(arm as usize) {
                        self.items(scope, arm)?;
                    }
                }
                Item::Rename { to, from } => {
                    self.alike(scope, *to, *from)?;
                    scope.buffers[*to as usize] = scope.buffers[*from as usize];
                }
                Item::Swap(a, b) => {
                    self.alike(scope, *a, *b)?;
                    scope.buffers.swap(*a as usize, *b as usize);
                }
            }
        }
        Ok(())
    }

    /// Refuses two names of which one comes to stand for the other's buffer, if these are of different lengths or elements.
    fn alike(&mut self, scope: &Scope, one: BufferId, other: BufferId) -> Result<(), A::Error> {
        let windows = [one, other].map(|name| scope.buffers[name as usize]);
        let [Some(first), Some(second)] = windows else { return Ok(()) };
        let element = |window: Window| self.flat.elements[window.buffer as usize];
        if self.length(first).value == self.length(second).value && element(first) == element(second) {
            return Ok(());
        }
        let name = |name: BufferId| scope.table.program.buffers[name as usize].name.to_string();
        Err(self.refuse(scope, None, Refusal::Unlike { one: name(one), other: name(other) }))
    }

    fn turns(&mut self, scope: &mut Scope, each: &'static Loop) -> Result<(), A::Error> {
        let (lo, hi) = match each.turns {
            Turns::Range(lo, hi) => (self.number(scope, lo)?.value, self.number(scope, hi)?.value),
            Turns::Elements(part) => match self.part(scope, part)? {
                Value::List(elements) => (0, elements.len() as u64),
                _ => return Err(self.refuse(scope, None, Refusal::Malformed("a loop over what is no list"))),
            },
        };
        for value in lo..hi {
            self.turns += 1;
            if self.turns > MOST_TURNS {
                return Err(self.refuse(scope, None, Refusal::TooLarge { most: MOST_TURNS }));
            }
            scope.turn(each.variable, value);
            self.items(scope, &each.body)?;
            self.resolve(scope);
            if self.flat.statements.len() > MOST_STATEMENTS {
                return Err(self.refuse(scope, None, Refusal::TooLarge { most: MOST_STATEMENTS }));
            }
        }
        Ok(())
    }

    fn statement(&mut self, scope: &mut Scope, id: StatementId) -> Result<(), A::Error> {
        let template = &scope.table.program.statements[id as usize];
        if let Kind::Call(call) = template.kind {
            return self.call(scope, id, &scope.table.structure.calls[call as usize]);
        }
        let kind = match template.kind.lifetime() {
            Some(Lifetime::Begins(&buffer)) => Kind::Alloc(self.allocate(scope, buffer)?),
            Some(Lifetime::Ends(&buffer)) => Kind::Free(self.view(scope, buffer, Some(id))?.buffer),
            None => template.kind,
        };
        let mut accesses = Vec::with_capacity(template.accesses.len());
        for access in template.accesses.iter() {
            let window = self.view(scope, access.buffer, Some(id))?;
            let [lo, hi] = self.within(scope, window, [access.lo, access.hi])?;
            accesses.push(Access { buffer: window.buffer, lo, hi, ..*access });
        }
        let at = self.flat.statements.len() as StatementId;
        // A name that is used before its statement is that of the same turn.
        let (forward, backward): (Vec<StatementId>, Vec<StatementId>) =
            template.after.iter().partition(|&&before| before > id);
        scope.forward.extend(forward.into_iter().map(|before| (at, before)));
        let after: Vec<StatementId> =
            backward.into_iter().flat_map(|before| scope.latest[before as usize].clone()).collect();
        let statement = Statement {
            name: self.name(scope, &template.name),
            line: template.line,
            file: self.file(scope),
            kind,
            accesses: accesses.into(),
            after: after.into(),
        };
        self.flat.statements.push(statement);
        self.flat.instances.push(Instance { frame: scope.frame, template: id, turns: scope.turns.clone() });
        scope.latest[id as usize] = at..at + 1;
        Ok(())
    }

    /// Makes a new buffer for an allocation, which is the next statement.
    fn allocate(&mut self, scope: &mut Scope, buffer: BufferId) -> Result<BufferId, A::Error> {
        let window = self.declare_buffer(scope, buffer)?;
        let at = self.flat.statements.len() as StatementId;
        self.flat.buffers[window.buffer as usize].origin = Origin::Alloc(at);
        Ok(window.buffer)
    }

    /// Expands the callee of a call.
    fn call(&mut self, scope: &mut Scope, id: StatementId, call: &'static Call) -> Result<(), A::Error> {
        let template = &scope.table.program.statements[id as usize];
        let at = At { frames: &self.frames, frame: scope.frame, turns: &scope.turns };
        let callee = self.answers.callee(at, id)?;
        self.not_again(scope, id, callee)?;
        let first = self.flat.statements.len() as StatementId;
        let mut inner = Scope::new(callee, self.frames.len() as FrameId);
        let turns: Vec<String> = scope.turns.iter().map(|turn| format!("[{turn}]")).collect();
        let prefix =
            format!("{}{}{}.", self.frames[scope.frame as usize].prefix, template.name, turns.concat());
        self.frames.push(Frame { table: callee, call: Some((scope.frame, id, scope.turns.clone())), prefix });
        for argument in &call.arguments {
            let value = match argument {
                Argument::Scalar(_) => Value::Scalar,
                Argument::Access(index) => {
                    let access = &template.accesses[*index as usize];
                    let window = self.view(scope, access.buffer, Some(id))?;
                    let [lo, hi] = self.within(scope, window, [access.lo, access.hi])?;
                    Value::Buffer(Window { buffer: window.buffer, lo, hi })
                }
                Argument::Moved(buffer) => Value::Buffer(self.view(scope, *buffer, Some(id))?),
                Argument::Part(part) => self.part(scope, *part)?,
            };
            inner.arguments.push(value);
        }
        self.parameters(scope, id, &mut inner)?;
        self.body(&mut inner)?;
        self.returned(&inner)?;
        for (&output, &result) in callee.program.outputs.iter().zip(&call.results) {
            scope.buffers[result as usize] = Some(self.view(&inner, output, None)?);
        }
        scope.latest[id as usize] = first..self.flat.statements.len() as StatementId;
        Ok(())
    }

    /// Binds the parameters of a callee to the buffers of its arguments, which must be as long as it declares.
    fn parameters(&mut self, scope: &Scope, id: StatementId, inner: &mut Scope) -> Result<(), A::Error> {
        let callee = inner.table;
        let parameters: Vec<(BufferId, Value)> = callee
            .parameters
            .iter()
            .zip(&inner.arguments)
            .flat_map(|(parameter, value)| match (parameter, value) {
                (&Parameter::Buffer(buffer), value) => vec![(buffer, value.clone())],
                (&Parameter::Array(first, _), Value::List(list)) => {
                    (first..).zip(list.iter().cloned()).collect()
                }
                _ => Vec::new(),
            })
            .collect();
        for (buffer, value) in parameters {
            let Value::Buffer(window) = value else {
                return Err(self.refuse(
                    scope,
                    Some(id),
                    Refusal::Malformed("an argument of a call is no buffer"),
                ));
            };
            inner.buffers[buffer as usize] = Some(window);
            let declared = &callee.program.buffers[buffer as usize];
            let (needed, len) = (self.number(inner, declared.len)?.value, self.length(window).value);
            if needed > len {
                let refusal = Refusal::Short {
                    callee: callee.program.name.to_string(),
                    parameter: declared.name.to_string(),
                    buffer: self.flat.buffers[window.buffer as usize].name.to_string(),
                    needed,
                    len,
                };
                return Err(self.refuse(scope, Some(id), refusal));
            }
        }
        Ok(())
    }

    /// Refuses a callee that is being expanded already.
    fn not_again(
        &mut self,
        scope: &Scope,
        id: StatementId,
        callee: &'static Decoded,
    ) -> Result<(), A::Error> {
        let mut cycle = vec![callee.program.name.to_string()];
        let mut frame = Some(scope.frame);
        while let Some(at) = frame {
            let Frame { table, call, .. } = &self.frames[at as usize];
            cycle.push(table.program.name.to_string());
            if std::ptr::eq(*table, callee) {
                cycle.reverse();
                return Err(self.refuse(scope, Some(id), Refusal::Recursion { cycle }));
            }
            frame = call.as_ref().map(|call| call.0);
        }
        Ok(())
    }
}
