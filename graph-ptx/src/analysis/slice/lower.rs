//! Lowers instructions to the operations of a slice.
//!
//! An instruction becomes a few integer operations of [`SliceOpcode`]. Everything else, such as loads from memory and
//! floating-point arithmetic, becomes an opaque value with a note that names the instruction.

use crate::analysis::code::{NONE, Referent, Source, SsaFunction as Body, Step, StepId};
use crate::analysis::effect::{self, Effect};
use crate::analysis::flow::Flow;
use crate::coverage::{IntType, SliceArg, SliceOp, SliceOpcode};
use crate::isa::{
    self, Arithmetic, Bitwise, Comparison, ControlFlow, Operation, Selection, ThreadRelation, component,
    register, unfollowed,
};
use crate::syntax::{Instruction, Module, Operand, Statement, Type, TypeClass};
use std::collections::{BTreeSet, HashMap};

const WORD: IntType = IntType { bits: 32, signed: false };
const LONG: IntType = IntType { bits: 64, signed: false };

pub(super) struct SliceLowering<'c, 'm, 'a> {
    body: &'c Body<'m, 'a>,
    pointers: &'c [bool],
    scalars: &'c [bool],
    text: &'c dyn Fn(StepId) -> String,
    values: HashMap<u32, u32>,
    count: u32,
    /// The note index of each step.
    notes: HashMap<u32, u32>,
    texts: Vec<String>,
}

/// The lowering of an instruction.
enum Lowering {
    /// One operation on the sources.
    One(SliceOpcode, IntType),
    /// `a · b + c`, with the type of the factors.
    Mad(SliceOpcode, IntType),
    Scalar(u32, IntType),
    Pointer(u32),
    /// Packs two registers into one.
    Pack(IntType),
    /// Converts the first type to the second.
    Convert(IntType, IntType),
    Compare(&'static str, IntType),
    Field(IntType, u32, u32),
    Insert(IntType, u32, u32),
}

fn int(ty: Type) -> IntType {
    IntType { bits: (ty.size() * 8).min(64) as u8, signed: ty.name().starts_with('s') }
}

/// Returns `Some` if the value of the step is not modelled.
pub(super) fn is_opaque(body: &Body<'_, '_>, at: u32, pointers: &[bool], scalars: &[bool]) -> Option<()> {
    shape(body, &body.steps[at as usize], pointers, scalars).is_none().then_some(())
}

fn shape(body: &Body<'_, '_>, step: &Step<'_, '_>, pointers: &[bool], scalars: &[bool]) -> Option<Lowering> {
    let instruction = step.instruction?;
    let negates = instruction.operands.iter().any(|operand| matches!(operand, Operand::Not(_)));
    let row = isa::row(instruction.op());
    let one_target =
        step.defines.len() == 1 || row.operation == Operation::Comparison(Comparison::ToPredicate);
    if negates || !one_target || step.call.is_some() || instruction.has("sat") {
        return None;
    }
    if effect::effect(instruction) == Effect::Load {
        return parameter(body, step, instruction, pointers, scalars);
    }
    let mut types = instruction.types();
    let plain = instruction.types().all(|ty| {
        matches!(ty.class(), TypeClass::Integer | TypeClass::Bits)
            && !matches!(ty, Type::U16x2 | Type::S16x2 | Type::B128)
    });
    // A selection between floats only moves their bits.
    if !plain && row.operation != Operation::Selection(Selection::ByPredicate) {
        return None;
    }
    let ty = types.next_back();
    let of = ty.map(int)?;
    modelled(step, instruction, row.operation, of)
}

/// Returns the lowering of an integer operation; `None` if it is not modelled.
fn modelled(
    step: &Step<'_, '_>,
    instruction: &Instruction<'_>,
    operation: Operation,
    of: IntType,
) -> Option<Lowering> {
    let constant = |at: usize| match step.sources.get(at) {
        Some(Source::Constant(value)) => u32::try_from(*value).ok(),
        _ => None,
    };
    let low = instruction.has("lo");
    Some(match (operation, step.sources.len()) {
        (Operation::Move, 1) if !unpacks(instruction) => Lowering::One(SliceOpcode::Copy, of),
        (Operation::Move, 2) if of.bits == 64 => Lowering::Pack(WORD),
        (Operation::Address, 1) if instruction.has("global") => Lowering::One(SliceOpcode::Copy, of),
        (Operation::Convert, 1) => Lowering::Convert(of, instruction.types().next().map(int)?),
        (Operation::Arithmetic(Arithmetic::Add), 2) => Lowering::One(SliceOpcode::Add, of),
        (Operation::Arithmetic(Arithmetic::Sub), 2) => Lowering::One(SliceOpcode::Sub, of),
        (Operation::Arithmetic(Arithmetic::Mul), 2) if low => Lowering::One(SliceOpcode::Mul, of),
        (Operation::Arithmetic(Arithmetic::Mul), 2) if instruction.has("wide") && of.bits <= 32 => {
            Lowering::One(SliceOpcode::MulWide, of)
        }
        (Operation::Arithmetic(Arithmetic::Mul), 2) if instruction.has("hi") => {
            Lowering::One(SliceOpcode::MulHigh, of)
        }
        (Operation::Arithmetic(Arithmetic::Mad), 3) if low => Lowering::Mad(SliceOpcode::Mul, of),
        (Operation::Arithmetic(Arithmetic::Mad), 3) if instruction.has("wide") && of.bits <= 32 => {
            Lowering::Mad(SliceOpcode::MulWide, of)
        }
        (Operation::Arithmetic(Arithmetic::Mad), 3) if instruction.has("hi") => {
            Lowering::Mad(SliceOpcode::MulHigh, of)
        }
        (Operation::Bitwise(Bitwise::Shl), 2) => Lowering::One(SliceOpcode::Shl, of),
        (Operation::Bitwise(Bitwise::Shr), 2) => Lowering::One(SliceOpcode::Shr, of),
        (Operation::Arithmetic(Arithmetic::Div), 2) => Lowering::One(SliceOpcode::Div, of),
        (Operation::Arithmetic(Arithmetic::Rem), 2) => Lowering::One(SliceOpcode::Rem, of),
        (Operation::Bitwise(Bitwise::And), 2) => Lowering::One(SliceOpcode::And, of),
        (Operation::Bitwise(Bitwise::Or), 2) => Lowering::One(SliceOpcode::Or, of),
        (Operation::Bitwise(Bitwise::Xor), 2) => Lowering::One(SliceOpcode::Xor, of),
        (Operation::Bitwise(Bitwise::Not), 1) => Lowering::One(SliceOpcode::Not, of),
        (Operation::Arithmetic(Arithmetic::Neg), 1) => Lowering::One(SliceOpcode::Neg, of),
        (Operation::Arithmetic(Arithmetic::Abs), 1) => Lowering::One(SliceOpcode::Abs, of),
        (Operation::Arithmetic(Arithmetic::Min), 2) => Lowering::One(SliceOpcode::Min, of),
        (Operation::Arithmetic(Arithmetic::Max), 2) => Lowering::One(SliceOpcode::Max, of),
        (Operation::Selection(Selection::ByPredicate), 3) => Lowering::One(SliceOpcode::Select, of),
        (Operation::Bitwise(Bitwise::ExtractField), 3) if !of.signed => {
            Lowering::Field(of, constant(1)?, constant(2)?)
        }
        (Operation::Bitwise(Bitwise::InsertField), 4) => Lowering::Insert(of, constant(2)?, constant(3)?),
        (Operation::Comparison(Comparison::ToPredicate), 2) => {
            let how = instruction.modifiers().next()?;
            let known = ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"];
            let how = known.into_iter().find(|known| *known == how)?;
            let unsigned = matches!(how, "lo" | "ls" | "hi" | "hs");
            Lowering::Compare(how, IntType { signed: of.signed && !unsigned, ..of })
        }
        // Other forms and operations are not modelled.
        (Operation::Move | Operation::Convert | unfollowed!(), _) => return None,
    })
}

/// Lowers a load of a whole parameter.
fn parameter(
    body: &Body<'_, '_>,
    step: &Step<'_, '_>,
    instruction: &Instruction<'_>,
    pointers: &[bool],
    scalars: &[bool],
) -> Option<Lowering> {
    let [Source::Memory(Referent::Parameter(at), 0)] = &step.sources[..] else { return None };
    let declared = body.function.parameters.get(*at as usize)?;
    let (size, element, ty) = effect::sizes(instruction);
    let ty = ty.filter(|ty| matches!(ty.class(), TypeClass::Integer | TypeClass::Bits))?;
    if u64::from(size) != declared.size() || element != size || size > 8 {
        return None;
    }
    if pointers.get(*at as usize).copied().unwrap_or(false) {
        return (size == 8).then_some(Lowering::Pointer(*at));
    }
    scalars.get(*at as usize).copied().unwrap_or(false).then_some(Lowering::Scalar(*at, int(ty)))
}

fn unpacks(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.operands.first(), Some(Operand::Vector(_)))
}

/// Returns true if a thread may end in a step because the step calls a function.
pub(super) fn may_end(flow: &Flow<'_, '_, '_>, body: &Body<'_, '_>, at: u32) -> bool {
    let Some(call) = &body.steps[at as usize].call else { return false };
    let module = flow.codes.module;
    call.target.is_none_or(|name| !returns(module, name, &mut BTreeSet::new()))
}

/// Returns true if a function returns to its caller whenever it terminates.
fn returns<'a>(module: &Module<'a>, name: &'a str, seen: &mut BTreeSet<&'a str>) -> bool {
    // `control` excludes the paths of `__assertfail`.
    if matches!(name, "vprintf" | "malloc" | "free" | "__assertfail") || !seen.insert(name) {
        return true;
    }
    let Some(body) = module.function(name).and_then(|function| function.body.as_ref()) else { return false };
    body.statements.iter().all(|statement| {
        let Statement::Instruction(instruction) = statement else { return true };
        if effect::effect(instruction) == Effect::Call {
            let called = instruction.operands.iter().find_map(|operand| match operand {
                Operand::Name(name) => Some(*name),
                _ => None,
            });
            return called.is_some_and(|called| {
                seen.len() < 256 && module.function(called).is_some() && returns(module, called, seen)
            });
        }
        match isa::row(instruction.op()).flow {
            ControlFlow::Exit => false,
            ControlFlow::Trap => true,
            ControlFlow::Next | ControlFlow::Branch | ControlFlow::Table | ControlFlow::Return => true,
        }
    })
}

impl<'c, 'm, 'a> SliceLowering<'c, 'm, 'a> {
    pub fn new(
        body: &'c Body<'m, 'a>,
        pointers: &'c [bool],
        scalars: &'c [bool],
        text: &'c dyn Fn(StepId) -> String,
    ) -> Self {
        SliceLowering {
            body,
            pointers,
            scalars,
            text,
            values: HashMap::new(),
            count: 0,
            notes: HashMap::new(),
            texts: Vec::new(),
        }
    }

    /// Returns the number of values, and the notes.
    pub fn finish(self) -> (u32, Vec<String>) {
        (self.count, self.texts)
    }

    /// Returns the slice's value for a value of the body.
    pub fn value(&mut self, value: u32) -> u32 {
        if let Some(&known) = self.values.get(&value) {
            return known;
        }
        let new = self.fresh();
        self.values.insert(value, new);
        new
    }

    fn fresh(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    /// Returns the index of the note that names a step.
    pub fn note(&mut self, at: u32) -> u32 {
        if let Some(&note) = self.notes.get(&at) {
            return note;
        }
        let note = self.texts.len() as u32;
        self.texts.push((self.text)(StepId { instance: 0, step: at }));
        self.notes.insert(at, note);
        note
    }

    fn push(
        &mut self,
        ops: &mut Vec<SliceOp>,
        code: SliceOpcode,
        int: IntType,
        args: Vec<SliceArg>,
    ) -> SliceArg {
        let target = self.fresh();
        ops.push(SliceOp { code, int, target, args });
        SliceArg::Value(target)
    }

    fn opaque(&mut self, at: u32, ops: &mut Vec<SliceOp>) -> SliceArg {
        let note = i64::from(self.note(at));
        self.push(ops, SliceOpcode::Opaque, LONG, vec![SliceArg::Constant(note)])
    }

    /// Lowers a source to an argument. Appends the operations that compute it to `ops`.
    pub fn plain(&mut self, source: &Source<'a>, at: u32, ops: &mut Vec<SliceOp>) -> SliceArg {
        match source {
            Source::Constant(value) => SliceArg::Constant(*value),
            Source::Place(Referent::Value(value), offset) if *value != NONE => {
                let value = match self.body.defining(*value) {
                    Some(_) => SliceArg::Value(self.value(*value)),
                    None => self.opaque(at, ops),
                };
                match offset {
                    0 => value,
                    offset => {
                        self.push(ops, SliceOpcode::Add, LONG, vec![value, SliceArg::Constant(*offset)])
                    }
                }
            }
            Source::Special(name) => self.special(name, at, ops),
            _ => self.opaque(at, ops),
        }
    }

    fn special(&mut self, name: &str, at: u32, ops: &mut Vec<SliceOp>) -> SliceArg {
        let Some(register) = register(name) else { return self.opaque(at, ops) };
        let kind = match register.threads() {
            ThreadRelation::ThreadIndex => 0,
            ThreadRelation::BlockSize => 1,
            ThreadRelation::BlockIndex => 2,
            ThreadRelation::GridSize => 3,
            ThreadRelation::Lane => return self.push(ops, SliceOpcode::Lane, WORD, Vec::new()),
            ThreadRelation::Other => return self.opaque(at, ops),
        };
        match component(name).filter(|&axis| axis < 3) {
            Some(axis) => {
                self.push(ops, SliceOpcode::Special, WORD, vec![SliceArg::Constant((kind * 3 + axis) as i64)])
            }
            None => self.opaque(at, ops),
        }
    }

    /// Lowers the predicate of a branch.
    pub fn predicate(&mut self, value: u32, at: u32, ops: &mut Vec<SliceOp>) -> SliceArg {
        self.plain(&Source::Place(Referent::Value(value), 0), at, ops)
    }

    fn guard(&mut self, at: u32, ops: &mut Vec<SliceOp>) -> Option<SliceArg> {
        let (value, negated) = self.body.steps[at as usize].guard?;
        let on = self.predicate(value, at, ops);
        Some(if negated { self.push(ops, SliceOpcode::Not, WORD, vec![on]) } else { on })
    }

    /// Lowers a load or store through a parameter.
    pub fn store(&mut self, at: u32, parameter: u32, ops: &mut Vec<SliceOp>) {
        let step = &self.body.steps[at as usize];
        let mut address = (SliceArg::Constant(0), 0);
        for source in &step.sources {
            match source {
                Source::Memory(Referent::Value(value), offset) => {
                    let base = self.plain(&Source::Place(Referent::Value(*value), 0), at, ops);
                    address = (base, *offset);
                }
                Source::Memory(..) => address = (self.opaque(at, ops), 0),
                _ => {}
            }
        }
        let bytes = step.instruction.and_then(|instruction| effect::touch(instruction, 0).size);
        let mut args = vec![
            SliceArg::Constant(i64::from(parameter)),
            address.0,
            SliceArg::Constant(address.1),
            SliceArg::Constant(i64::from(bytes.unwrap_or(0))),
        ];
        args.extend(self.guard(at, ops));
        let target = self.note(at);
        let loads = step.instruction.is_some_and(|instruction| effect::effect(instruction) == Effect::Load);
        let code = if loads { SliceOpcode::Load } else { SliceOpcode::Store };
        ops.push(SliceOp { code, int: LONG, target, args });
    }

    /// Lowers an instruction that defines values.
    pub fn step(&mut self, at: u32, ops: &mut Vec<SliceOp>) {
        let step = &self.body.steps[at as usize];
        let shape = shape(self.body, step, self.pointers, self.scalars);
        let results: Vec<SliceArg> = match shape {
            None => step.defines.iter().map(|_| self.opaque(at, ops)).collect(),
            Some(shape) => {
                let result = self.shaped(&shape, step, at, ops);
                let opposite = step.defines.len() > 1;
                let second = opposite.then(|| self.push(ops, SliceOpcode::Not, WORD, vec![result]));
                [result].into_iter().chain(second).collect()
            }
        };
        let guard = self.guard(at, ops);
        for (nth, (&value, result)) in step.defines.iter().zip(results).enumerate() {
            if value == NONE {
                continue;
            }
            let target = self.value(value);
            let (code, args) = match guard {
                None => (SliceOpcode::Copy, vec![result]),
                Some(on) => {
                    let kept = step.keeps.get(nth).copied().unwrap_or(NONE);
                    let kept = self.plain(&Source::Place(Referent::Value(kept), 0), at, ops);
                    (SliceOpcode::Select, vec![on, result, kept])
                }
            };
            // The last operation defines the value directly, unless its result belongs to another value.
            match (guard, ops.last_mut()) {
                (None, Some(last))
                    if SliceArg::Value(last.target) == result
                        && !matches!(last.code, SliceOpcode::Store | SliceOpcode::Load) =>
                {
                    last.target = target;
                }
                _ => ops.push(SliceOp { code, int: LONG, target, args }),
            }
        }
    }

    fn shaped(
        &mut self,
        shape: &Lowering,
        step: &'c Step<'m, 'a>,
        at: u32,
        ops: &mut Vec<SliceOp>,
    ) -> SliceArg {
        match *shape {
            Lowering::Scalar(parameter, int) => {
                return self.push(
                    ops,
                    SliceOpcode::Scalar,
                    int,
                    vec![SliceArg::Constant(i64::from(parameter))],
                );
            }
            Lowering::Pointer(parameter) => {
                return self.push(
                    ops,
                    SliceOpcode::Pointer,
                    LONG,
                    vec![SliceArg::Constant(i64::from(parameter))],
                );
            }
            _ => {}
        }
        let args: Vec<SliceArg> = step.sources.iter().map(|source| self.plain(source, at, ops)).collect();
        let two = |args: &[SliceArg]| vec![args[0], args[1]];
        match *shape {
            // The predicate of `selp` is its last source.
            Lowering::One(SliceOpcode::Select, int) => {
                self.push(ops, SliceOpcode::Select, int, vec![args[2], args[0], args[1]])
            }
            Lowering::One(code, int) => self.push(ops, code, int, args),
            Lowering::Mad(code, int) => {
                let product = self.push(ops, code, int, two(&args));
                let bits = if code == SliceOpcode::MulWide { int.bits * 2 } else { int.bits };
                self.push(ops, SliceOpcode::Add, IntType { bits, ..int }, vec![product, args[2]])
            }
            Lowering::Pack(half) => {
                let low = self.push(ops, SliceOpcode::Extend, half, vec![args[0]]);
                let high = self.push(ops, SliceOpcode::Shl, LONG, vec![args[1], SliceArg::Constant(32)]);
                self.push(ops, SliceOpcode::Add, LONG, vec![low, high])
            }
            Lowering::Convert(from, to) => {
                let value = self.push(ops, SliceOpcode::Extend, from, vec![args[0]]);
                let narrow = to.bits < from.bits && to.bits < 32;
                if narrow || to.bits < 32 {
                    self.push(ops, SliceOpcode::Extend, to, vec![value])
                } else {
                    value
                }
            }
            Lowering::Compare(how, int) => self.compare(how, int, &args, ops),
            Lowering::Field(int, low, len) => {
                let moved =
                    self.push(ops, SliceOpcode::Shr, int, vec![args[0], SliceArg::Constant(i64::from(low))]);
                self.push(ops, SliceOpcode::And, int, vec![moved, SliceArg::Constant(ones(len))])
            }
            Lowering::Insert(int, low, len) => {
                let mask = ones(len).checked_shl(low).unwrap_or(0);
                let field =
                    self.push(ops, SliceOpcode::And, int, vec![args[0], SliceArg::Constant(ones(len))]);
                let field =
                    self.push(ops, SliceOpcode::Shl, int, vec![field, SliceArg::Constant(i64::from(low))]);
                let rest = self.push(ops, SliceOpcode::And, int, vec![args[1], SliceArg::Constant(!mask)]);
                self.push(ops, SliceOpcode::Or, int, vec![field, rest])
            }
            Lowering::Scalar(..) | Lowering::Pointer(_) => self.opaque(at, ops),
        }
    }

    fn compare(&mut self, how: &str, int: IntType, args: &[SliceArg], ops: &mut Vec<SliceOp>) -> SliceArg {
        let (code, swap, negate) = match how {
            "eq" => (SliceOpcode::Equal, false, false),
            "ne" => (SliceOpcode::Equal, false, true),
            "lt" | "lo" => (SliceOpcode::Less, false, false),
            "ge" | "hs" => (SliceOpcode::Less, false, true),
            "gt" | "hi" => (SliceOpcode::Less, true, false),
            _ => (SliceOpcode::Less, true, true),
        };
        let args = if swap { vec![args[1], args[0]] } else { vec![args[0], args[1]] };
        let result = self.push(ops, code, int, args);
        if negate { self.push(ops, SliceOpcode::Not, WORD, vec![result]) } else { result }
    }
}

/// Returns a mask of the `len` lowest bits.
fn ones(len: u32) -> i64 {
    1i64.checked_shl(len).map_or(-1, |one| one.wrapping_sub(1))
}
