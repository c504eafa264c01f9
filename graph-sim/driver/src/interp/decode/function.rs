//! Decoding of one function: rows for its names, and its statements in order.

use super::names::{Names, SharedVariable, function_address, parameter_address, shared_variable};
use crate::interp::code::*;
use crate::interp::number;
use cuweave_ptx::{self as ptx, Address, Class, Instruction, Module, Operand, Statement, Type};
use cuweave_ptx::{Names as BodyNames, Space as PtxSpace};
use std::collections::HashMap;

/// The end of messages about files that every driver refuses; other messages may be limits of the simulator.
const WRONG: &str = ", which is an error in the file";

/// The error is the reason why a function cannot be decoded, without the line, which the caller adds.
pub type Result<T> = std::result::Result<T, String>;

pub struct Decoder<'d, 'm> {
    module: &'d Module<'m>,
    names: &'d Names<'d>,
    source: &'d ptx::Function<'m>,
    body: BodyNames<'d, 'm>,
    insts: &'d mut Vec<Inst>,
    shared: &'d mut Vec<SharedVariable>,
    function: Function,
    /// Rows of registers, by declaration and number. Looked up only.
    registers: HashMap<(u32, u64), Slot>,
    /// Rows of constants and the like. Looked up only.
    constants: HashMap<Init, Slot>,
    /// Offset and size in the frame of the body's local and parameter variables, by declaration.
    locals: HashMap<u32, (u32, u32)>,
    /// Numbers of the body's shared variables, by declaration.
    shareds: HashMap<u32, u32>,
    /// The first instruction after each label, by its statement.
    labels: HashMap<usize, u32>,
    /// Rows of the extended-precision carry.
    carry: Option<Slot>,
    location: (u32, u32),
    /// The current PTX instruction: its scope, line, and the start of its code.
    pub scope: u32,
    line: u32,
    first: usize,
    guard: (Slot, bool),
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

    fn dispatch(&mut self, i: &Instruction<'m>) -> Result<()> {
        match i.mnemonic() {
            "ld" | "ldu" | "st" | "atom" | "red" | "cvta" | "isspacep" | "prefetch" | "prefetchu"
            | "applypriority" | "discard" | "cp" | "mapa" | "createpolicy" | "membar" | "fence"
            | "mbarrier" => self.memory(i),
            "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" | "bar" | "barrier" | "shfl"
            | "vote" | "match" | "redux" | "activemask" | "elect" | "nanosleep" | "griddepcontrol"
            | "pmevent" | "setmaxnreg" => self.control(i),
            "ldmatrix" | "stmatrix" | "mma" | "wmma" | "movmatrix" => self.matrix(i),
            "mov" => self.mov(i),
            "cvt" => self.cvt(i),
            "setp" => self.setp(i),
            "set" => self.set(i),
            "selp" | "slct" | "prmt" | "testp" | "copysign" | "szext" | "bmsk" | "dp4a" | "dp2a" | "lop3"
            | "shf" => self.bits(i),
            _ => self.alu(i),
        }
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

    /// The row of a register.
    pub fn register(&mut self, name: &str) -> Result<Slot> {
        if let Some(binding) = self.body.resolve(self.scope, name) {
            if binding.variable.space == PtxSpace::Reg {
                let key = (binding.statement, binding.index);
                if let Some(&slot) = self.registers.get(&key) {
                    return Ok(slot);
                }
                let slot = self.temporary();
                self.registers.insert(key, slot);
                return Ok(slot);
            }
            return Err(format!("`{name}` is no register"));
        }
        match self.formal(name) {
            Some(Place::Register(slot)) => Ok(slot),
            _ => Err(undeclared(name)),
        }
    }

    /// The parameter of this `.func` of that name.
    fn formal(&self, name: &str) -> Option<Place> {
        let find = |formals: &[ptx::Parameter], places: &[Place]| {
            formals.iter().position(|p| p.name == name).and_then(|at| places.get(at).copied())
        };
        find(&self.source.parameters, &self.function.parameters)
            .or_else(|| find(&self.source.returns, &self.function.returns))
    }

    /// The declared type of a register.
    pub fn declared(&self, operand: &Operand) -> Option<Type> {
        let Operand::Name(name) = operand else { return None };
        if let Some(binding) = self.body.resolve(self.scope, name) {
            return Some(binding.variable.ty);
        }
        let all = self.source.parameters.iter().chain(&self.source.returns);
        all.filter(|p| p.name == *name).map(|p| p.ty).next()
    }

    /// Returns the row of a result.
    pub fn result(&mut self, operand: &Operand) -> Result<Slot> {
        match operand {
            Operand::Name(name) => self.register(name),
            Operand::Sink => Ok(self.temporary()),
            _ => Err("expected a register as the result".to_owned()),
        }
    }

    /// Returns the row of an operand, as a value of a type.
    pub fn value(&mut self, operand: &Operand, ty: Type) -> Result<Slot> {
        match *operand {
            Operand::Name(name) => self.named(name, 0),
            Operand::Offset { name, offset, elements: false } => self.named(name, offset),
            Operand::Not(name) => {
                let (p, not) = (self.register(name)?, self.temporary());
                self.emit(Op::Map1(|p| p ^ 1, not, p));
                Ok(not)
            }
            Operand::Integer(value) => Ok(self.constant(match ty {
                Type::F32 => u64::from((value as i64 as f32).to_bits()),
                Type::F64 => (value as i64 as f64).to_bits(),
                Type::Pred => u64::from(value != 0),
                _ => number::extend(value, ty),
            })),
            Operand::Single(bits) => Ok(self.constant(match ty {
                Type::F64 => f64::from(f32::from_bits(bits)).to_bits(),
                _ => u64::from(bits),
            })),
            Operand::Double(bits) => Ok(self.constant(match ty {
                Type::F32 | Type::B32 | Type::U32 | Type::S32 => {
                    u64::from((f64::from_bits(bits) as f32).to_bits())
                }
                _ => bits,
            })),
            _ => Err("unexpected operand".to_owned()),
        }
    }

    /// Checks that the registers of an instruction have the size of its type. For instructions with one type for all operands.
    pub fn check_sizes(&self, i: &Instruction<'m>, ty: Type) -> Result<()> {
        for operand in &i.operands {
            let declared = self.declared(operand);
            if let (Operand::Name(name), Some(declared)) = (operand, declared)
                && (declared.size() != ty.size() || (declared == Type::Pred) != (ty == Type::Pred))
            {
                return Err(format!("`{name}` is {declared} where {ty} is wanted{WRONG}"));
            }
        }
        Ok(())
    }

    /// Returns the row of a name: a register, a special register, or the address of a variable or function.
    fn named(&mut self, name: &str, offset: i64) -> Result<Slot> {
        if let Some(binding) = self.body.resolve(self.scope, name) {
            let at = binding.statement;
            return match binding.variable.space {
                PtxSpace::Reg => self.register(name),
                PtxSpace::Shared => {
                    let number = self.shareds[&at];
                    self.uses_shared(number);
                    Ok(self.init(Init::Shared(number, offset)))
                }
                _ => {
                    let (start, _) = self.locals[&at];
                    Ok(self.init(Init::Local(i64::from(start).wrapping_add(offset))))
                }
            };
        }
        match self.formal(name) {
            Some(Place::Register(slot)) => return Ok(slot),
            Some(Place::Frame(start, _)) => {
                return Ok(self.init(Init::Local(i64::from(start).wrapping_add(offset))));
            }
            None => {}
        }
        if name.starts_with('%')
            && let Some(init) = special(name)
        {
            return Ok(self.init(init));
        }
        if self.source.entry
            && let Some(at) = self.source.parameter(name)
        {
            let start = self.source.layout().0[at];
            return Ok(self.constant(parameter_address(start).wrapping_add(offset as u64)));
        }
        if let Some(&number) = self.names.shared.get(name) {
            self.uses_shared(number);
            return Ok(self.init(Init::Shared(number, offset)));
        }
        if let Some(&number) = self.names.globals.get(name) {
            return Ok(self.init(Init::Global(number, offset)));
        }
        if let Some(&number) = self.names.functions.get(name) {
            // A function whose address is taken may be called.
            self.calls(number);
            return Ok(self.constant(function_address(number)));
        }
        Err(undeclared(name))
    }

    fn uses_shared(&mut self, number: u32) {
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

    /// Parameter of the entry: its offset; `None` in a `.func`, and for other names.
    pub fn entry_parameter(&self, name: &str) -> Option<(u64, u64)> {
        if !self.source.entry || self.body.resolve(self.scope, name).is_some() {
            return None;
        }
        let at = self.source.parameter(name)?;
        Some((self.source.layout().0[at], self.source.parameters[at].size()))
    }

    /// Parameter variable of the body, or parameter of this `.func`, in the frame or a register.
    pub fn place(&mut self, operand: &Operand) -> Result<Place> {
        match operand {
            Operand::Name(name) => {
                if let Some(binding) = self.body.resolve(self.scope, name)
                    && let Some(&(offset, size)) = self.locals.get(&binding.statement)
                {
                    return Ok(Place::Frame(offset, size));
                }
                match self.formal(name) {
                    Some(place) => Ok(place),
                    None => self.named(name, 0).map(Place::Register),
                }
            }
            Operand::Sink => Ok(Place::Register(self.temporary())),
            other => self.value(other, Type::B64).map(Place::Register),
        }
    }

    /// An address in a space.
    pub fn address(&mut self, operand: &Operand, space: Space) -> Result<At> {
        let Operand::Address(address) = operand else { return Err("expected an address".to_owned()) };
        self.at(address, space)
    }

    pub fn at(&mut self, address: &Address, space: Space) -> Result<At> {
        match address.base {
            None => Ok(At { space, base: self.constant(address.offset as u64), offset: 0, strong: false }),
            Some(name) => {
                let is_register = self.register(name).is_ok();
                let base = self.named(name, 0)?;
                // A parameter of a `.func` is a place in its frame.
                let space = match (space, is_register, self.formal(name)) {
                    (Space::Generic, false, Some(Place::Frame(..))) => Space::Local,
                    _ => space,
                };
                Ok(At { space, base, offset: address.offset, strong: false })
            }
        }
    }

    /// Returns true if a name is a `.param` or `.local` variable of the body.
    pub fn in_frame(&self, name: &str) -> bool {
        self.body
            .resolve(self.scope, name)
            .is_some_and(|b| b.variable.space != PtxSpace::Reg && b.variable.space != PtxSpace::Shared)
            || matches!(self.formal(name), Some(Place::Frame(..)))
    }

    /// The label of a branch, as its statement, resolved at the end.
    pub fn label(&self, operand: &Operand) -> Result<u32> {
        let Operand::Name(name) = operand else { return Err("expected a label".to_owned()) };
        self.body
            .label(self.scope, name)
            .map(|at| at as u32)
            .ok_or_else(|| format!("label `{name}` is not defined{WRONG}"))
    }

    /// The labels of a `.branchtargets`.
    pub fn label_list(&self, operand: &Operand) -> Result<Box<[u32]>> {
        let at = self.label(operand)?;
        let statements = self.source.body.as_ref().map(|body| &body.statements);
        match statements.and_then(|statements| statements.get(at as usize)) {
            Some(Statement::Targets(targets)) if !targets.calls => {
                targets.targets.iter().map(|target| self.label(&Operand::Name(target))).collect()
            }
            _ => Err("expected a list of labels".to_owned()),
        }
    }
}

/// Special registers.
fn special(name: &str) -> Option<Init> {
    let axis = |name: &str| match name.rsplit('.').next() {
        Some("x") => 0,
        Some("y") => 1,
        Some("z") => 2,
        _ => 3,
    };
    let stem = name.split('.').next().unwrap_or(name);
    let at = axis(name);
    let component = |make: fn(u8) -> Special| Some(Init::Special(make(at)));
    let one = Some(Init::Const(1));
    let zero = Some(Init::Const(0));
    match stem {
        "%tid" => component(Special::Thread),
        "%ntid" => component(Special::ThreadCount),
        "%ctaid" | "%clusterid" => component(Special::Block),
        "%nctaid" | "%nclusterid" => component(Special::BlockCount),
        // Every cluster is one block.
        "%cluster_ctaid" | "%cluster_ctarank" | "%is_explicit_cluster" => zero,
        "%cluster_nctaid" | "%cluster_nctarank" => one,
        "%laneid" => Some(Init::Special(Special::Lane)),
        "%warpid" => Some(Init::Special(Special::Warp)),
        "%nwarpid" => Some(Init::Special(Special::WarpCount)),
        "%lanemask_eq" => Some(Init::Special(Special::Mask(0))),
        "%lanemask_le" => Some(Init::Special(Special::Mask(1))),
        "%lanemask_lt" => Some(Init::Special(Special::Mask(2))),
        "%lanemask_ge" => Some(Init::Special(Special::Mask(3))),
        "%lanemask_gt" => Some(Init::Special(Special::Mask(4))),
        "%dynamic_smem_size" => Some(Init::Special(Special::DynamicShared)),
        "%total_smem_size" | "%aggr_smem_size" => Some(Init::Special(Special::TotalShared)),
        "%smid" => Some(Init::Special(Special::Multiprocessor)),
        "%nsmid" => Some(Init::Const(132)),
        "%gridid" => Some(Init::Special(Special::Grid)),
        "%reserved_smem_offset_end" | "%reserved_smem_offset_cap" => {
            Some(Init::Special(Special::Reserved(true)))
        }
        _ if stem.starts_with("%reserved_smem_offset") => Some(Init::Special(Special::Reserved(false))),
        "%envreg1" => Some(Init::Special(Special::Workspace(1))),
        "%envreg2" => Some(Init::Special(Special::Workspace(0))),
        _ if stem.starts_with("%envreg") || stem.starts_with("%pm") => zero,
        _ => None,
    }
}

/// The message about an undeclared name. A longer name after `%` may be a special register that is not known here.
fn undeclared(name: &str) -> String {
    let stem = name.strip_prefix('%').map(|stem| stem.trim_end_matches(|c: char| c.is_ascii_digit()));
    let special = stem.is_some_and(|stem| stem.len() > 3);
    format!("`{name}` is not declared{}", if special { "" } else { WRONG })
}

/// Returns true if a type is a float.
pub fn is_float(ty: Type) -> bool {
    ty.class() == Class::Float
}
