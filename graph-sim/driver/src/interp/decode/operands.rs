//! Decoding of operands: registers, constants, special registers, addresses and labels.

use super::decoder::{Decoder, INVALID_FILE, Result};
use super::names::{function_address, parameter_address};
use crate::base::device::MULTIPROCESSORS;
use crate::interp::code::*;
use crate::interp::number;
use cuweave_ptx::isa::{self, SpecialRegister as PtxRegister};
use cuweave_ptx::{self as ptx, Address, Instruction, Operand, StateSpace as PtxSpace, Statement, Type};

impl<'m> Decoder<'_, 'm> {
    /// Returns the row of a register.
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
            Some(ParameterPlace::Register(slot)) => Ok(slot),
            _ => Err(undeclared(name)),
        }
    }

    /// Returns the place of the parameter of this `.func` with that name.
    fn formal(&self, name: &str) -> Option<ParameterPlace> {
        let find = |formals: &[ptx::Parameter], places: &[ParameterPlace]| {
            formals.iter().position(|p| p.name == name).and_then(|at| places.get(at).copied())
        };
        find(&self.source.parameters, &self.function.parameters)
            .or_else(|| find(&self.source.returns, &self.function.returns))
    }

    /// Returns the declared type of a register.
    pub fn declared(&self, operand: &Operand) -> Option<Type> {
        let Operand::Name(name) = operand else { return None };
        if let Some(binding) = self.body.resolve(self.scope, name) {
            return Some(binding.variable.ty);
        }
        let all = self.source.parameters.iter().chain(&self.source.returns);
        all.filter(|p| p.name == *name).map(|p| p.ty).next()
    }

    /// Returns the row of a destination operand.
    pub fn result(&mut self, operand: &Operand) -> Result<Slot> {
        match operand {
            Operand::Name(name) => self.register(name),
            Operand::Sink => Ok(self.temporary()),
            _ => Err("expected a register as the result".to_owned()),
        }
    }

    /// Returns the row of a source operand, read as a value of a type.
    pub fn value(&mut self, operand: &Operand, ty: Type) -> Result<Slot> {
        match *operand {
            Operand::Name(name) => self.named(name, 0),
            Operand::Offset { name, offset, elements: false } => self.named(name, offset),
            Operand::Not(name) => {
                let (p, not) = (self.register(name)?, self.temporary());
                self.code.emit(Op::Map1(|p| p ^ 1, not, p));
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

    /// Checks that the registers of an instruction have the size of its type. For instructions whose operands all
    /// have one type.
    pub fn check_sizes(&self, i: &Instruction<'m>, ty: Type) -> Result<()> {
        for operand in &i.operands {
            let declared = self.declared(operand);
            if let (Operand::Name(name), Some(declared)) = (operand, declared)
                && (declared.size() != ty.size() || (declared == Type::Pred) != (ty == Type::Pred))
            {
                return Err(format!("`{name}` is {declared} where {ty} is wanted{INVALID_FILE}"));
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
                    Ok(self.init(InitialValue::Shared(number, offset)))
                }
                _ => {
                    let (start, _) = self.locals[&at];
                    Ok(self.init(InitialValue::Local(i64::from(start).wrapping_add(offset))))
                }
            };
        }
        match self.formal(name) {
            Some(ParameterPlace::Register(slot)) => return Ok(slot),
            Some(ParameterPlace::Frame(start, _)) => {
                return Ok(self.init(InitialValue::Local(i64::from(start).wrapping_add(offset))));
            }
            None => {}
        }
        if let Some(register) = isa::register(name)
            && let SpecialValue::Row(init) = special(register, isa::component(name), isa::number(name))
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
            return Ok(self.init(InitialValue::Shared(number, offset)));
        }
        if let Some(&number) = self.names.globals.get(name) {
            return Ok(self.init(InitialValue::Global(number, offset)));
        }
        if let Some(&number) = self.names.functions.get(name) {
            // Once its address is taken, the function may be called indirectly.
            self.calls(number);
            return Ok(self.constant(function_address(number)));
        }
        Err(undeclared(name))
    }

    /// Returns the place of a parameter: of a `.param` variable of the body, or of a parameter of this `.func`.
    pub fn place(&mut self, operand: &Operand) -> Result<ParameterPlace> {
        match operand {
            Operand::Name(name) => {
                if let Some(binding) = self.body.resolve(self.scope, name)
                    && let Some(&(offset, size)) = self.locals.get(&binding.statement)
                {
                    return Ok(ParameterPlace::Frame(offset, size));
                }
                match self.formal(name) {
                    Some(place) => Ok(place),
                    None => self.named(name, 0).map(ParameterPlace::Register),
                }
            }
            Operand::Sink => Ok(ParameterPlace::Register(self.temporary())),
            other => self.value(other, Type::B64).map(ParameterPlace::Register),
        }
    }

    /// Returns an address operand in a state space.
    pub fn address(&mut self, operand: &Operand, space: Space) -> Result<AddressOperand> {
        let Operand::Address(address) = operand else { return Err("expected an address".to_owned()) };
        self.at(address, space)
    }

    pub fn at(&mut self, address: &Address, space: Space) -> Result<AddressOperand> {
        match address.base {
            None => Ok(AddressOperand {
                space,
                base: self.constant(address.offset as u64),
                offset: 0,
                strong: false,
            }),
            Some(name) => {
                let is_register = self.register(name).is_ok();
                let base = self.named(name, 0)?;
                // A parameter of a `.func` is in its frame.
                let space = match (space, is_register, self.formal(name)) {
                    (Space::Generic, false, Some(ParameterPlace::Frame(..))) => Space::Local,
                    _ => space,
                };
                Ok(AddressOperand { space, base, offset: address.offset, strong: false })
            }
        }
    }

    /// Returns true if a name is a `.param` or `.local` variable of the body.
    pub fn in_frame(&self, name: &str) -> bool {
        self.body
            .resolve(self.scope, name)
            .is_some_and(|b| b.variable.space != PtxSpace::Reg && b.variable.space != PtxSpace::Shared)
            || matches!(self.formal(name), Some(ParameterPlace::Frame(..)))
    }

    /// Returns the statement of a branch's label. It is replaced by an instruction index at the end.
    pub fn label(&self, operand: &Operand) -> Result<u32> {
        let Operand::Name(name) = operand else { return Err("expected a label".to_owned()) };
        self.body
            .label(self.scope, name)
            .map(|at| at as u32)
            .ok_or_else(|| format!("label `{name}` is not defined{INVALID_FILE}"))
    }

    /// Returns the labels of a `.branchtargets`.
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

    /// Returns the offset and size of a parameter of the entry; `None` in a `.func`, and for other names.
    pub fn entry_parameter(&self, name: &str) -> Option<(u64, u64)> {
        if !self.source.entry || self.body.resolve(self.scope, name).is_some() {
            return None;
        }
        let at = self.source.parameter(name)?;
        Some((self.source.layout().0[at], self.source.parameters[at].size()))
    }

    pub fn pair_part(&mut self, name: &str) -> Result<Slot> {
        if name == "_" { Ok(self.temporary()) } else { self.register(name) }
    }
}

/// The value of a special register.
pub(super) enum SpecialValue {
    /// A row that is filled when the function is entered.
    Row(InitialValue),
    /// A counter, which changes between reads; its upper half if true. Only `mov` reads it.
    Counter(Counter, bool),
}

/// Returns the value of a special register, or of one of its components.
pub(super) fn special(register: PtxRegister, component: Option<usize>, number: Option<u32>) -> SpecialValue {
    // The fourth component is 0.
    let at = component.map_or(3, |component| component as u8);
    let (zero, one) = (InitialValue::Const(0), InitialValue::Const(1));
    SpecialValue::Row(match register {
        PtxRegister::Tid => InitialValue::SpecialRegister(SpecialRegister::Thread(at)),
        PtxRegister::Ntid => InitialValue::SpecialRegister(SpecialRegister::ThreadCount(at)),
        PtxRegister::Ctaid | PtxRegister::Clusterid => {
            InitialValue::SpecialRegister(SpecialRegister::Block(at))
        }
        PtxRegister::Nctaid | PtxRegister::Nclusterid => {
            InitialValue::SpecialRegister(SpecialRegister::BlockCount(at))
        }
        // Every cluster is one block.
        PtxRegister::ClusterCtaid | PtxRegister::ClusterCtarank | PtxRegister::IsExplicitCluster => zero,
        PtxRegister::ClusterNctaid | PtxRegister::ClusterNctarank => one,
        PtxRegister::Laneid => InitialValue::SpecialRegister(SpecialRegister::Lane),
        PtxRegister::Warpid => InitialValue::SpecialRegister(SpecialRegister::Warp),
        PtxRegister::Nwarpid => InitialValue::SpecialRegister(SpecialRegister::WarpCount),
        PtxRegister::LanemaskEq => InitialValue::SpecialRegister(SpecialRegister::Mask(0)),
        PtxRegister::LanemaskLe => InitialValue::SpecialRegister(SpecialRegister::Mask(1)),
        PtxRegister::LanemaskLt => InitialValue::SpecialRegister(SpecialRegister::Mask(2)),
        PtxRegister::LanemaskGe => InitialValue::SpecialRegister(SpecialRegister::Mask(3)),
        PtxRegister::LanemaskGt => InitialValue::SpecialRegister(SpecialRegister::Mask(4)),
        PtxRegister::DynamicSmemSize => InitialValue::SpecialRegister(SpecialRegister::DynamicShared),
        PtxRegister::TotalSmemSize | PtxRegister::AggrSmemSize => {
            InitialValue::SpecialRegister(SpecialRegister::TotalShared)
        }
        PtxRegister::Smid => InitialValue::SpecialRegister(SpecialRegister::Multiprocessor),
        PtxRegister::Nsmid => InitialValue::Const(MULTIPROCESSORS.unsigned_abs().into()),
        PtxRegister::Gridid => InitialValue::SpecialRegister(SpecialRegister::Grid),
        PtxRegister::ReservedSmemEnd | PtxRegister::ReservedSmemCap => {
            InitialValue::SpecialRegister(SpecialRegister::Reserved(true))
        }
        PtxRegister::ReservedSmem => InitialValue::SpecialRegister(SpecialRegister::Reserved(false)),
        PtxRegister::Environment => match number {
            Some(1) => InitialValue::SpecialRegister(SpecialRegister::Workspace(1)),
            Some(2) => InitialValue::SpecialRegister(SpecialRegister::Workspace(0)),
            _ => zero,
        },
        // Launches of graphs from a device are not simulated, so the kernel is in no such graph.
        PtxRegister::PerformanceMonitor | PtxRegister::CurrentGraphExec => zero,
        PtxRegister::Clock | PtxRegister::Clock64 => return SpecialValue::Counter(Counter::Clock, false),
        PtxRegister::ClockHi => return SpecialValue::Counter(Counter::Clock, true),
        PtxRegister::Globaltimer | PtxRegister::GlobaltimerLo => {
            return SpecialValue::Counter(Counter::Time, false);
        }
        PtxRegister::GlobaltimerHi => return SpecialValue::Counter(Counter::Time, true),
    })
}

/// Returns the message about an undeclared name. A longer name that begins with `%` may be a special register
/// that the simulator does not know.
fn undeclared(name: &str) -> String {
    let stem = name.strip_prefix('%').map(|stem| stem.trim_end_matches(|c: char| c.is_ascii_digit()));
    let special = stem.is_some_and(|stem| stem.len() > 3);
    format!("`{name}` is not declared{}", if special { "" } else { INVALID_FILE })
}
