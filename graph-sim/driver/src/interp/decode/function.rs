//! Decoding of one function: rows for its names, and its statements in order.

use super::names::{Names, SharedVariable, shared_variable};
use super::operation::{Alu, Bits, Many, One, Two};
use crate::interp::code::*;
use crate::interp::number::FloatOp;
use cuweave_ptx::isa::Opcode;
use cuweave_ptx::{self as ptx, Class, Instruction, Module, Statement, Type};
use cuweave_ptx::{Names as BodyNames, Space as PtxSpace};
use std::collections::HashMap;

/// The end of messages about files that every driver refuses; other messages may be limits of the simulator.
pub(super) const WRONG: &str = ", which is an error in the file";

/// The error is the reason why a function cannot be decoded, without the line, which the caller adds.
pub type Result<T> = std::result::Result<T, String>;

pub struct Decoder<'d, 'm> {
    pub(super) module: &'d Module<'m>,
    pub(super) names: &'d Names<'d>,
    pub(super) source: &'d ptx::Function<'m>,
    pub(super) body: BodyNames<'d, 'm>,
    pub(super) insts: &'d mut Vec<Inst>,
    pub(super) shared: &'d mut Vec<SharedVariable>,
    pub(super) function: Function,
    /// Rows of registers, by declaration and number. Looked up only.
    pub(super) registers: HashMap<(u32, u64), Slot>,
    /// Rows of constants and the like. Looked up only.
    pub(super) constants: HashMap<Init, Slot>,
    /// Offset and size in the frame of the body's local and parameter variables, by declaration.
    pub(super) locals: HashMap<u32, (u32, u32)>,
    /// Numbers of the body's shared variables, by declaration.
    pub(super) shareds: HashMap<u32, u32>,
    /// The first instruction after each label, by its statement.
    pub(super) labels: HashMap<usize, u32>,
    /// Rows of the extended-precision carry.
    pub(super) carry: Option<Slot>,
    pub(super) location: (u32, u32),
    /// The current PTX instruction: its scope, line, and the start of its code.
    pub scope: u32,
    pub(super) line: u32,
    pub(super) first: usize,
    pub(super) guard: (Slot, bool),
}

impl<'d, 'm> Decoder<'d, 'm> {
    pub fn function(
        module: &'d Module<'m>,
        names: &'d Names<'d>,
        source: &'d ptx::Function<'m>,
        code: &'d mut Code,
        shared: &'d mut Vec<SharedVariable>,
    ) -> Function {
        let start = code.insts.len();
        let empty = Function { name: source.name.to_owned(), start: start as u32, ..Function::default() };
        let Some(body) = &source.body else {
            let error =
                Some(format!("line {}: function `{}` is declared but not defined", source.line, source.name));
            return Function { error, ..empty };
        };
        let mut decoder = Decoder {
            module,
            names,
            source,
            body: BodyNames::new(body),
            insts: &mut code.insts,
            shared,
            function: empty,
            registers: HashMap::new(),
            constants: HashMap::new(),
            locals: HashMap::new(),
            shareds: HashMap::new(),
            labels: HashMap::new(),
            carry: None,
            location: (0, 0),
            scope: 0,
            line: source.line,
            first: start,
            guard: (NONE, false),
        };
        let outcome = decoder.decode(&body.statements);
        let line = decoder.line;
        let mut function = decoder.function;
        if let Err(what) = outcome {
            code.insts.truncate(start);
            function.invalid = what.ends_with(WRONG);
            function.error = Some(format!("line {line}: {what}"));
        }
        function.end = code.insts.len() as u32;
        function
    }

    fn decode(&mut self, statements: &'d [Statement<'m>]) -> Result<()> {
        if !self.source.entry {
            self.function.parameters = self.formals(&self.source.parameters)?;
            self.function.returns = self.formals(&self.source.returns)?;
        }
        self.declare(statements)?;
        for (at, statement) in statements.iter().enumerate() {
            match statement {
                Statement::Label(_) => {
                    self.labels.insert(at, self.insts.len() as u32);
                }
                Statement::Location(location) => self.location = (location.file, location.line),
                Statement::Instruction(instruction) => self.instruction(instruction)?,
                _ => {}
            }
        }
        self.begin(self.source.line, NONE, false);
        self.emit(Op::Return);
        let start = self.function.start as usize;
        let labels = &self.labels;
        let resolve = |target: &mut u32| match labels.get(&(*target as usize)) {
            Some(&at) => {
                *target = at;
                Ok(())
            }
            None => Err("a branch to something that is no label".to_owned()),
        };
        for inst in &mut self.insts[start..] {
            match &mut inst.op {
                Op::Branch(target) => resolve(target)?,
                Op::BranchTable(_, targets) => targets.iter_mut().try_for_each(resolve)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Places of the parameters of a `.func`, in its frame or registers.
    fn formals(&mut self, parameters: &[ptx::Parameter<'m>]) -> Result<Vec<Place>> {
        let mut places = Vec::new();
        for parameter in parameters {
            places.push(match parameter.space {
                PtxSpace::Reg => Place::Register(self.temporary()),
                _ => {
                    let offset = self.reserve(parameter.size(), parameter.align())?;
                    Place::Frame(offset, parameter.size() as u32)
                }
            });
        }
        Ok(places)
    }

    fn reserve(&mut self, size: u64, align: u64) -> Result<u32> {
        let start = u64::from(self.function.frame).next_multiple_of(align.max(1));
        match start.checked_add(size) {
            Some(end) if end <= 1 << 24 => {
                self.function.frame = end as u32;
                Ok(start as u32)
            }
            _ => Err("more than 16 MiB of local memory".to_owned()),
        }
    }

    fn declare(&mut self, statements: &[Statement<'m>]) -> Result<()> {
        for (at, statement) in statements.iter().enumerate() {
            let Statement::Variable(_, variable) = statement else { continue };
            self.line = variable.line;
            match variable.space {
                PtxSpace::Local | PtxSpace::Param => {
                    let offset = self.reserve(variable.size(), variable.align())?;
                    self.locals.insert(at as u32, (offset, variable.size() as u32));
                }
                PtxSpace::Shared => {
                    self.shareds.insert(at as u32, self.shared.len() as u32);
                    self.shared.push(shared_variable(variable));
                }
                PtxSpace::Reg if variable.ty.size() > 8 || variable.vector > 1 => {
                    return Err(format!("registers of more than 64 bits (`{}`)", variable.name));
                }
                PtxSpace::Reg => {}
                _ => return Err(format!("variable `{}` in a function", variable.name)),
            }
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: &Instruction<'m>) -> Result<()> {
        self.scope = instruction.scope;
        self.line = instruction.line;
        let guard = match instruction.guard {
            Some(guard) => (self.register(guard.register)?, guard.negated),
            None => (NONE, false),
        };
        self.begin(instruction.line, guard.0, guard.1);
        self.dispatch(instruction).map_err(|what| match what.is_empty() {
            true => format!("`{}` is not supported", instruction.opcode),
            false => format!("`{}`: {what}", instruction.opcode),
        })?;
        // If an instruction becomes several operations, the first of them may overwrite the guard.
        if self.guard.0 != NONE && self.insts.len() - self.first > 1 {
            let kept = self.temporary();
            let op = Op::Map1(|p| p, kept, self.guard.0);
            for inst in &mut self.insts[self.first..] {
                inst.guard = kept;
            }
            let copy = Inst {
                op,
                guard: NONE,
                negated: false,
                counts: false,
                line: self.line,
                source: self.location,
            };
            self.insts.insert(self.first, copy);
        }
        Ok(())
    }

    /// Decodes an instruction. Every opcode of the table stands here, with its execution or among those that are refused.
    fn dispatch(&mut self, i: &Instruction<'m>) -> Result<()> {
        match i.op() {
            Opcode::Ld | Opcode::Ldu => self.load(i),
            Opcode::St => self.store(i),
            Opcode::Atom => self.atom(i, true),
            Opcode::Red => self.atom(i, false),
            Opcode::Cvta => self.cvta(i),
            Opcode::Isspacep => self.isspacep(i),
            Opcode::Cp => self.copy(i),
            Opcode::Mbarrier => self.mbarrier(i),
            Opcode::Mapa => self.mapa(i),
            Opcode::Createpolicy => self.createpolicy(i),
            Opcode::Membar | Opcode::Fence => self.plain(Op::Fence),
            // Hints, and settings of what is not simulated.
            Opcode::Prefetch
            | Opcode::Prefetchu
            | Opcode::Applypriority
            | Opcode::Discard
            | Opcode::Pmevent
            | Opcode::Setmaxnreg => self.plain(Op::Nop),
            Opcode::Bra => self.branch(i),
            Opcode::Brx => self.branch_table(i),
            Opcode::Call => self.call(i),
            Opcode::Ret => self.plain(Op::Return),
            Opcode::Exit => self.plain(Op::Exit),
            Opcode::Trap | Opcode::Brkpt => self.plain(Op::Trap),
            Opcode::Bar | Opcode::Barrier => self.barrier(i),
            Opcode::Nanosleep => self.plain(Op::Rest),
            Opcode::Griddepcontrol => self.plain(match i.opcode {
                "griddepcontrol.wait" => Op::GridWait,
                _ => Op::Nop,
            }),
            Opcode::Shfl => self.shuffle(i),
            Opcode::Vote => self.vote(i),
            Opcode::Activemask => self.active_mask(i),
            Opcode::Elect => self.elect(i),
            Opcode::Match => self.match_lanes(i),
            Opcode::Redux => self.reduce_lanes(i),
            Opcode::Ldmatrix => self.rows(i, true),
            Opcode::Stmatrix => self.rows(i, false),
            Opcode::Mma => self.mma(i, false),
            Opcode::Wmma if i.has("mma") => self.mma(i, true),
            Opcode::Wmma => self.fragment(i),
            Opcode::Mov => self.mov(i),
            Opcode::Cvt => self.cvt(i),
            Opcode::Setp => self.setp(i),
            Opcode::Set => self.set(i),
            Opcode::Selp => self.bits(i, Bits::Select),
            Opcode::Slct => self.bits(i, Bits::SelectBySign),
            Opcode::Prmt => self.bits(i, Bits::Permute),
            Opcode::Copysign => self.bits(i, Bits::Copysign),
            Opcode::Szext => self.bits(i, Bits::Extend),
            Opcode::Bmsk => self.bits(i, Bits::Mask),
            Opcode::Dp4a => self.bits(i, Bits::Dot4),
            Opcode::Dp2a => self.bits(i, Bits::Dot2),
            Opcode::Lop3 => self.bits(i, Bits::Logic),
            Opcode::Shf => self.bits(i, Bits::Funnel),
            Opcode::Testp => self.testp(i),
            Opcode::Add => self.alu(i, Alu::Two(Two::Add)),
            Opcode::Sub => self.alu(i, Alu::Two(Two::Sub)),
            Opcode::Mul => self.alu(i, Alu::Two(Two::Mul)),
            Opcode::Mad => self.alu(i, Alu::Many(Many::Mad)),
            Opcode::Fma => self.alu(i, Alu::Float(FloatOp::Fma)),
            Opcode::Addc => self.alu(i, Alu::WithCarry(Two::Add)),
            Opcode::Subc => self.alu(i, Alu::WithCarry(Two::Sub)),
            Opcode::Madc => self.alu(i, Alu::WithCarry(Two::Add)),
            Opcode::Mul24 => self.alu(i, Alu::Two(Two::Mul24)),
            Opcode::Abs => self.alu(i, Alu::One(One::Abs)),
            Opcode::Neg => self.alu(i, Alu::One(One::Neg)),
            Opcode::Min => self.alu(i, Alu::Two(Two::Min)),
            Opcode::Max => self.alu(i, Alu::Two(Two::Max)),
            Opcode::Div => self.alu(i, Alu::Two(Two::Div)),
            Opcode::Rem => self.alu(i, Alu::Two(Two::Rem)),
            Opcode::Mad24 => self.alu(i, Alu::Many(Many::Mad24)),
            Opcode::Sad => self.alu(i, Alu::Many(Many::Sad)),
            Opcode::Rcp => self.alu(i, Alu::Float(FloatOp::Rcp)),
            Opcode::Sqrt => self.alu(i, Alu::Float(FloatOp::Sqrt)),
            Opcode::Rsqrt => self.alu(i, Alu::Float(FloatOp::Rsqrt)),
            Opcode::Sin => self.alu(i, Alu::Float(FloatOp::Sin)),
            Opcode::Cos => self.alu(i, Alu::Float(FloatOp::Cos)),
            Opcode::Lg2 => self.alu(i, Alu::Float(FloatOp::Lg2)),
            Opcode::Ex2 => self.alu(i, Alu::Float(FloatOp::Ex2)),
            Opcode::Tanh => self.alu(i, Alu::Float(FloatOp::Tanh)),
            Opcode::Shl => self.alu(i, Alu::Two(Two::Shl)),
            Opcode::Shr => self.alu(i, Alu::Two(Two::Shr)),
            Opcode::And => self.alu(i, Alu::Two(Two::And)),
            Opcode::Or => self.alu(i, Alu::Two(Two::Or)),
            Opcode::Xor => self.alu(i, Alu::Two(Two::Xor)),
            Opcode::Not => self.alu(i, Alu::One(One::Not)),
            Opcode::Cnot => self.alu(i, Alu::One(One::Cnot)),
            Opcode::Bfe => self.alu(i, Alu::Many(Many::Bfe)),
            Opcode::Bfi => self.alu(i, Alu::Many(Many::Bfi)),
            Opcode::Bfind => self.alu(i, Alu::One(One::Bfind)),
            Opcode::Brev => self.alu(i, Alu::One(One::Brev)),
            Opcode::Popc => self.alu(i, Alu::One(One::Popc)),
            Opcode::Clz => self.alu(i, Alu::One(One::Clz)),
            Opcode::Fns => self.alu(i, Alu::Many(Many::Fns)),
            // Not simulated.
            Opcode::Add3
            | Opcode::Vadd
            | Opcode::Vsub
            | Opcode::Vabsdiff
            | Opcode::Vmin
            | Opcode::Vmax
            | Opcode::Vshl
            | Opcode::Vshr
            | Opcode::Vmad
            | Opcode::Vset
            | Opcode::Vadd2
            | Opcode::Vsub2
            | Opcode::Vavrg2
            | Opcode::Vabsdiff2
            | Opcode::Vmin2
            | Opcode::Vmax2
            | Opcode::Vset2
            | Opcode::Vadd4
            | Opcode::Vsub4
            | Opcode::Vavrg4
            | Opcode::Vabsdiff4
            | Opcode::Vmin4
            | Opcode::Vmax4
            | Opcode::Vset4
            | Opcode::Getctarank
            | Opcode::Stacksave
            | Opcode::Stackrestore
            | Opcode::Alloca
            | Opcode::Movmatrix
            | Opcode::Istypep
            | Opcode::Txq
            | Opcode::Suq
            | Opcode::Tex
            | Opcode::Tld4
            | Opcode::Suld
            | Opcode::Sust
            | Opcode::Sured
            | Opcode::Multimem
            | Opcode::Tensormap
            | Opcode::Wgmma
            | Opcode::Tcgen05
            | Opcode::Clusterlaunchcontrol
            | Opcode::Unknown => Err(String::new()),
        }
    }

    /// An instruction that is one operation without operands.
    fn plain(&mut self, op: Op) -> Result<()> {
        self.emit(op);
        Ok(())
    }

    fn begin(&mut self, line: u32, guard: Slot, negated: bool) {
        self.line = line;
        self.first = self.insts.len();
        self.guard = (guard, negated);
    }

    pub fn emit(&mut self, op: Op) {
        let counts = self.insts.len() == self.first;
        let (guard, negated) = self.guard;
        self.insts.push(Inst { op, guard, negated, counts, line: self.line, source: self.location });
    }

    /// Returns the operation emitted last, if it belongs to the current instruction.
    pub fn last(&mut self) -> Option<&mut Op> {
        let first = self.first;
        self.insts[first..].last_mut().map(|inst| &mut inst.op)
    }

    pub fn temporary(&mut self) -> Slot {
        self.function.slots += 1;
        self.function.slots - 1
    }

    /// The row that holds a constant, an address, a special register.
    pub fn init(&mut self, init: Init) -> Slot {
        if let Some(&slot) = self.constants.get(&init) {
            return slot;
        }
        let slot = self.temporary();
        self.constants.insert(init, slot);
        self.function.inits.push((slot, init));
        slot
    }

    pub fn constant(&mut self, value: u64) -> Slot {
        self.init(Init::Const(value))
    }

    /// The row of the carry flag.
    pub fn carry(&mut self) -> Slot {
        if let Some(slot) = self.carry {
            return slot;
        }
        let slot = self.temporary();
        self.carry = Some(slot);
        slot
    }

    pub fn uses_shared(&mut self, number: u32) {
        if !self.function.shared.contains(&number) {
            self.function.shared.push(number);
        }
    }

    pub fn calls(&mut self, number: u32) {
        if !self.function.callees.contains(&number) {
            self.function.callees.push(number);
        }
    }

    /// Number of the function of that name.
    pub fn callee(&self, name: &str) -> Option<u32> {
        self.names.functions.get(name).copied()
    }

    /// Returns true if a function of that name has a body here.
    pub fn defined(&self, name: &str) -> bool {
        self.module.function(name).is_some_and(|function| function.body.is_some())
    }
}

/// Returns true if a type is a float.
pub fn is_float(ty: Type) -> bool {
    ty.class() == Class::Float
}
