//! Builds the static single assignment form of a body, with resolved names.
//!
//! Registers with one definition keep their number. `rename` splits registers with several, with a phi where
//! definitions meet. A guarded definition may keep the previous value, which is therefore a further source.

use crate::analysis::cfg::Cfg;
use crate::analysis::code::{Call, Globals, NONE, Referent, Source, SsaFunction, Step};
use crate::analysis::effect::{self, Effect};
use crate::analysis::rename;
use crate::isa;
use crate::syntax::{Body, Function, Instruction, Names, Operand, StateSpace, Statement, Variable};
use std::collections::{BTreeMap, HashMap};

/// The maximum number of blocks of an analysed function; the effects of larger ones are unknown.
const MAX_BLOCKS: usize = 10_000;
/// The number of registers of ranges that are looked up without hashing.
const MAX_DENSE_REGISTERS: u64 = 1 << 20;

/// Guards of known value, by statement: true if the instruction is executed whenever it is reached.
pub(crate) type Guards = BTreeMap<u32, bool>;

/// Builds the static single assignment form of a function. `None` if it has no body, or if its body is too large.
pub(crate) fn build<'m, 'a>(
    function: &'m Function<'a>,
    globals: &Globals<'_, 'a>,
) -> Option<SsaFunction<'m, 'a>> {
    build_guarded(function, globals, &Guards::new())
}

/// Like [`build`], with some known guards. Instructions that are never executed and unreachable blocks are omitted.
pub(crate) fn build_guarded<'m, 'a>(
    function: &'m Function<'a>,
    globals: &Globals<'_, 'a>,
    guards: &Guards,
) -> Option<SsaFunction<'m, 'a>> {
    let body = function.body.as_ref()?;
    let names = Names::new(body);
    let cfg = Cfg::new(body, &names, guards);
    if cfg.blocks.len() > MAX_BLOCKS {
        return None;
    }
    let mut lower = SsaBuilder::new(function, body, names, globals);
    let mut code = lower.code(cfg, guards);
    rename::split_registers(&mut code);
    code.index();
    Some(code)
}

struct SsaBuilder<'m, 'a, 'g> {
    function: &'m Function<'a>,
    body: &'m Body<'a>,
    names: Names<'m, 'a>,
    globals: &'g Globals<'g, 'a>,
    /// Ranges of the outermost scope, such as `%rd<9>`: prefix, count, and first index in `dense`.
    ranges: Vec<(&'a str, u64, usize)>,
    dense: Vec<u32>,
    /// True if an inner scope declares a register whose name begins with `%`.
    inner: bool,
    registers: HashMap<(u32, u64), u32>,
    count: u32,
    /// Local variables by declaring statement.
    local_of: HashMap<u32, u32>,
    locals: Vec<&'m Variable<'a>>,
    arguments: Vec<u32>,
}

impl<'m, 'a, 'g> SsaBuilder<'m, 'a, 'g> {
    fn new(
        function: &'m Function<'a>,
        body: &'m Body<'a>,
        names: Names<'m, 'a>,
        globals: &'g Globals<'g, 'a>,
    ) -> Self {
        let mut lower = SsaBuilder {
            function,
            body,
            names,
            globals,
            ranges: Vec::new(),
            dense: Vec::new(),
            inner: false,
            registers: HashMap::new(),
            count: 0,
            local_of: HashMap::new(),
            locals: Vec::new(),
            arguments: Vec::new(),
        };
        for (at, statement) in body.statements.iter().enumerate() {
            let Statement::Variable(scope, variable) = statement else { continue };
            match (variable.space, variable.range) {
                (StateSpace::Reg, range) if *scope != 0 => {
                    lower.inner |= range.is_some() || variable.name.starts_with('%');
                }
                (StateSpace::Reg, Some(count)) => {
                    let start = lower.dense.len();
                    if (start as u64).saturating_add(count) <= MAX_DENSE_REGISTERS {
                        lower.dense.resize(start + count as usize, NONE);
                        lower.ranges.push((variable.name, count, start));
                    }
                }
                (StateSpace::Local | StateSpace::Shared | StateSpace::Param, None) => {
                    lower.local_of.insert(at as u32, lower.locals.len() as u32);
                    lower.locals.push(variable);
                }
                _ => {}
            }
        }
        for parameter in function.parameters.iter().chain(&function.returns) {
            let value = if parameter.space == StateSpace::Reg { lower.fresh() } else { NONE };
            lower.arguments.push(value);
        }
        lower
    }

    fn fresh(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    fn code(&mut self, cfg: Cfg, guards: &Guards) -> SsaFunction<'m, 'a> {
        let mut steps = Vec::with_capacity(self.body.statements.len());
        for at in 0..cfg.blocks.len() {
            for &statement in &cfg.blocks[at].instructions {
                let known = guards.get(&statement).copied();
                if let Statement::Instruction(instruction) = &self.body.statements[statement as usize]
                    && known != Some(false)
                {
                    steps.push(self.step(instruction, at as u32, known.is_some()));
                }
            }
        }
        SsaFunction {
            function: self.function,
            cfg,
            steps,
            values: self.count,
            users: Vec::new(),
            definitions: Vec::new(),
            undefined: Vec::new(),
            locals: std::mem::take(&mut self.locals),
            arguments: std::mem::take(&mut self.arguments),
            returned: Vec::new(),
        }
    }

    /// Lowers an instruction. If `always` is true, its guard is ignored.
    fn step(&mut self, instruction: &'m Instruction<'a>, block: u32, always: bool) -> Step<'m, 'a> {
        let scope = instruction.scope;
        let guard = instruction.guard.filter(|_| !always).map(|guard| {
            let value = match self.place(scope, guard.register) {
                Some(Referent::Value(value)) => value,
                _ => NONE,
            };
            (value, guard.negated)
        });
        let mut step = Step {
            instruction: Some(instruction),
            block,
            guard,
            defines: vec![],
            keeps: vec![],
            sources: vec![],
            call: None,
        };
        let operands = &instruction.operands;
        if effect::effect(instruction) == Effect::Call {
            self.call(instruction, &mut step);
            return step;
        }
        let defining = effect::first_operand_is_defined(instruction);
        let mut rest = &operands[..];
        let mut partly = false;
        if defining && let Some((first, others)) = operands.split_first() {
            partly = self.defined(scope, first, &mut step);
            rest = others;
        }
        for operand in rest {
            self.source(scope, operand, &mut step.sources);
        }
        // The defined value stands for the previous one here; renaming replaces it.
        if guard.is_some() || partly || effect::updates_first_operand(instruction) {
            step.keeps.clone_from(&step.defines);
        }
        step
    }

    /// Resolves `call (returns), function, (arguments), prototype;`.
    fn call(&mut self, instruction: &'m Instruction<'a>, step: &mut Step<'m, 'a>) {
        let scope = instruction.scope;
        let mut call = Call { target: None, returns: Vec::new() };
        let mut operands = &instruction.operands[..];
        if let [Operand::List(returns), rest @ ..] = operands {
            operands = rest;
            for operand in returns {
                let place = match operand {
                    Operand::Name(name) => self.place(scope, name),
                    _ => None,
                };
                let value = if let Some(Referent::Value(value)) = place { value } else { NONE };
                step.defines.push(value);
                call.returns.push(place.filter(|_| value == NONE));
            }
        }
        if let Some(Operand::List(arguments)) = operands.get(1) {
            for operand in arguments {
                self.source(scope, operand, &mut step.sources);
            }
        }
        if let Some(Operand::Name(name)) = operands.first() {
            match self.place(scope, name) {
                Some(Referent::Function) => call.target = Some(name),
                Some(_) => step.sources.push(self.named(scope, name, 0)),
                None => {}
            }
        }
        if step.guard.is_some() {
            step.keeps.clone_from(&step.defines);
        }
        step.call = Some(Box::new(call));
    }

    /// Adds the values that an operand defines. Returns true for a component of a vector register, whose other
    /// components keep their values.
    fn defined(&mut self, scope: u32, operand: &Operand<'a>, step: &mut Step<'m, 'a>) -> bool {
        let mut partly = false;
        let mut one = |lower: &mut Self, name: &'a str| {
            step.defines.push(match lower.place(scope, name) {
                Some(Referent::Value(value)) => value,
                Some(Referent::Part(value)) => {
                    partly = true;
                    value
                }
                _ => NONE,
            });
        };
        match operand {
            Operand::Name(name) => one(self, name),
            Operand::Pair(a, b) => {
                one(self, a);
                one(self, b);
            }
            Operand::Vector(list) | Operand::List(list) => {
                for operand in list {
                    match operand {
                        Operand::Name(name) => one(self, name),
                        _ => one(self, "_"),
                    }
                }
            }
            _ => one(self, "_"),
        }
        partly
    }

    fn source(&mut self, scope: u32, operand: &Operand<'a>, into: &mut Vec<Source<'a>>) {
        match operand {
            Operand::Name(name) | Operand::Not(name) => into.push(self.named(scope, name, 0)),
            Operand::Pair(a, b) => {
                into.push(self.named(scope, a, 0));
                into.push(self.named(scope, b, 0));
            }
            Operand::Offset { name, offset, elements } => {
                let mut scale = 1;
                if *elements && let Some(place) = self.place(scope, name) {
                    scale = i64::from(self.element(place));
                }
                into.push(self.named(scope, name, offset.wrapping_mul(scale)));
            }
            Operand::Integer(value) => into.push(Source::Constant(*value as i64)),
            Operand::Address(address) => into.push(self.memory(scope, address)),
            Operand::Tensor(address, coordinates) => {
                into.push(self.memory(scope, address));
                for operand in coordinates {
                    self.flat(scope, operand, into);
                }
            }
            Operand::Vector(list) | Operand::List(list) => {
                for operand in list {
                    self.flat(scope, operand, into);
                }
            }
            Operand::Single(_) | Operand::Double(_) | Operand::Sink => into.push(Source::Other("")),
        }
    }

    /// Appends the sources of a nested operand. The parser limits the nesting.
    fn flat(&mut self, scope: u32, operand: &Operand<'a>, into: &mut Vec<Source<'a>>) {
        self.source(scope, operand, into);
    }

    fn element(&self, place: Referent) -> u32 {
        let variable = match place {
            Referent::Local(local) => self.locals[local as usize],
            Referent::Module(variable) => self.globals.variables[variable as usize],
            _ => return 1,
        };
        variable.ty.size() * u32::from(variable.vector)
    }

    fn memory(&mut self, scope: u32, address: &crate::syntax::Address<'a>) -> Source<'a> {
        match address.base {
            None => Source::Memory(Referent::Absolute, address.offset),
            Some(name) => match self.place(scope, name) {
                Some(place) => Source::Memory(place, address.offset),
                None => Source::Memory(Referent::Absolute, address.offset),
            },
        }
    }

    fn named(&mut self, scope: u32, name: &'a str, offset: i64) -> Source<'a> {
        match self.place(scope, name) {
            Some(place) => Source::Place(place, offset),
            None if name.starts_with('%') => Source::Special(name),
            None if name == "WARP_SZ" => Source::Constant(32),
            None => Source::Other(name),
        }
    }

    fn place(&mut self, scope: u32, name: &'a str) -> Option<Referent> {
        if name == "_" {
            return None;
        }
        if !self.inner
            && name.as_bytes().first() == Some(&b'%')
            && let Some(value) = self.ranged(name)
        {
            return Some(Referent::Value(value));
        }
        if let Some(binding) = self.names.resolve(scope, name) {
            return match binding.variable.space {
                StateSpace::Reg => {
                    let next = self.count;
                    let value = *self.registers.entry((binding.statement, binding.index)).or_insert(next);
                    if value == next {
                        self.count += 1;
                    }
                    Some(Referent::Value(value))
                }
                StateSpace::Global | StateSpace::Const => {
                    let declaration: *const Variable<'a> = binding.variable;
                    self.globals.of_bodies.get(&declaration).copied().map(Referent::Module)
                }
                _ => self.local_of.get(&binding.statement).copied().map(Referent::Local),
            };
        }
        let parameters = self.function.parameters.iter().chain(&self.function.returns);
        if let Some(at) = parameters.into_iter().position(|parameter| parameter.name == name) {
            return Some(match self.arguments[at] {
                NONE => Referent::Parameter(at as u32),
                value => Referent::Value(value),
            });
        }
        if let Some(&variable) = self.globals.by_name.get(name) {
            return Some(Referent::Module(variable));
        }
        if let Some((vector, _)) = name.split_once('.')
            && isa::component(name).is_some()
            && let Some(Referent::Value(value)) = self.place(scope, &name[..vector.len()])
        {
            return Some(Referent::Part(value));
        }
        self.globals.functions.get(name).map(|()| Referent::Function)
    }

    /// Returns a register of a range in the outermost scope.
    fn ranged(&mut self, name: &str) -> Option<u32> {
        let bytes = name.as_bytes();
        let mut start = bytes.len();
        while start > 0 && bytes[start - 1].is_ascii_digit() {
            start -= 1;
        }
        if start == bytes.len()
            || (bytes[start] == b'0' && start + 1 < bytes.len())
            || bytes.len() - start > 9
        {
            return None;
        }
        let mut number = 0u64;
        for &digit in &bytes[start..] {
            number = number * 10 + u64::from(digit - b'0');
        }
        let prefix = &name[..start];
        let &(_, _, first) =
            self.ranges.iter().find(|(range, count, _)| *range == prefix && number < *count)?;
        let at = first + number as usize;
        if self.dense[at] == NONE {
            self.dense[at] = self.count;
            self.count += 1;
        }
        Some(self.dense[at])
    }
}
