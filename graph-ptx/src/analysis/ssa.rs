//! A body with its names resolved, each register defined once.
//!
//! Registers that are defined at one place keep it; those that are defined at several are split, with a phi where
//! definitions meet. A guarded definition may leave the old value, so it keeps it as a further source. What holds of
//! every [`Code`]: a value has at most one step that defines it, and steps stand block by block in the order of
//! [`Cfg`].

use crate::analysis::cfg::Cfg;
use crate::syntax::{Body, Function, Instruction, Names, Operand, Space, Statement, Variable};
use std::collections::HashMap;

/// No value: a sink, or a register without a definition.
pub(crate) const NONE: u32 = u32::MAX;
/// Functions with more blocks are not analysed: everything in them is unknown.
const MOST_BLOCKS: usize = 10_000;
/// Registers of ranges up to this number are found without hashing.
const DENSE: u64 = 1 << 20;

/// What a name stands for, apart from labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A value: a definition of a register.
    Value(u32),
    /// A variable of the body: index in [`Code::locals`].
    Local(u32),
    /// A parameter of the function; its returns come after.
    Parameter(u32),
    /// A variable of the module: index in [`Globals::variables`].
    Module(u32),
    /// A function.
    Function,
    /// Nothing: an absolute address.
    Absolute,
}

/// What an instruction takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source<'a> {
    Constant(i64),
    /// A value, or the address of a variable, plus an offset.
    Place(Place, i64),
    /// What stands in brackets: an address.
    Memory(Place, i64),
    /// `%tid.x` and the like.
    Special(&'a str),
    /// A float, a label, a name that means nothing here.
    Other(&'a str),
}

/// An instruction or a phi.
#[derive(Debug)]
pub(crate) struct Step<'m, 'a> {
    /// `None` for a phi, whose sources are in the order of its block's predecessors.
    pub instruction: Option<&'m Instruction<'a>>,
    pub block: u32,
    pub guard: Option<(u32, bool)>,
    /// The values that it defines, [`NONE`] for sinks.
    pub defines: Vec<u32>,
    /// Where it may leave a register as it was: that value, parallel to `defines`.
    pub keeps: Vec<u32>,
    pub sources: Vec<Source<'a>>,
    pub call: Option<Box<Call<'a>>>,
}

/// What a call has besides its arguments, which are the step's sources.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    /// The function's name; `None` for a call through a register, which is the last source.
    pub target: Option<&'a str>,
    /// Where what it returns goes, parallel to `defines`: a variable, or nothing for a register.
    pub returns: Vec<Option<Place>>,
}

/// Variables of the module and of its functions' bodies that live as long as the module, by name.
pub(crate) struct Globals<'m, 'a> {
    pub variables: Vec<&'m Variable<'a>>,
    /// Those of the module.
    by_name: HashMap<&'a str, u32>,
    /// Those of bodies, whose names mean other things elsewhere: by the address of the declaration.
    of_bodies: HashMap<*const Variable<'a>, u32>,
    functions: HashMap<&'a str, ()>,
}

impl<'m, 'a> Globals<'m, 'a> {
    pub fn new(module: &'m crate::syntax::Module<'a>) -> Self {
        let mut globals = Self {
            variables: Vec::new(),
            by_name: HashMap::new(),
            of_bodies: HashMap::new(),
            functions: HashMap::new(),
        };
        for variable in module.variables() {
            let next = globals.variables.len() as u32;
            if *globals.by_name.entry(variable.name).or_insert(next) == next {
                globals.variables.push(variable);
            }
        }
        for function in module.functions() {
            globals.functions.insert(function.name, ());
            for statement in function.body.iter().flat_map(|body| &body.statements) {
                if let Statement::Variable(_, variable) = statement
                    && matches!(variable.space, Space::Global | Space::Const)
                {
                    globals.of_bodies.insert(variable, globals.variables.len() as u32);
                    globals.variables.push(variable);
                }
            }
        }
        globals
    }
}

/// A function's body, resolved.
pub(crate) struct Code<'m, 'a> {
    pub function: &'m Function<'a>,
    pub cfg: Cfg,
    pub steps: Vec<Step<'m, 'a>>,
    /// Number of values.
    pub values: u32,
    /// The steps that use a value.
    pub users: Vec<Vec<u32>>,
    /// The step that defines a value, [`NONE`] for registers that are parameters or never defined.
    pub definitions: Vec<u32>,
    /// By value: whether it may be used before it is defined, and is any number then.
    pub undefined: Vec<bool>,
    /// `.local`, `.shared` and `.param` variables of the body.
    pub locals: Vec<&'m Variable<'a>>,
    /// The values of `.reg` parameters, parameters before returns; [`NONE`] for those in memory.
    pub arguments: Vec<u32>,
    /// For returns in registers: the value at each `ret`, parallel to the returns.
    pub returned: Vec<Vec<u32>>,
}

impl<'m, 'a> Code<'m, 'a> {
    /// `None` for a function without a body, or with a body that is too large.
    pub fn new(function: &'m Function<'a>, globals: &Globals<'_, 'a>) -> Option<Self> {
        let body = function.body.as_ref()?;
        let names = Names::new(body);
        let cfg = Cfg::new(body, &names);
        if cfg.blocks.len() > MOST_BLOCKS {
            return None;
        }
        let mut lower = Lower::new(function, body, names, globals);
        let mut code = lower.code(cfg);
        crate::analysis::rename::split_registers(&mut code);
        code.index();
        Some(code)
    }

    fn index(&mut self) {
        self.users = vec![Vec::new(); self.values as usize];
        self.definitions = vec![NONE; self.values as usize];
        for (at, step) in self.steps.iter().enumerate() {
            for &value in &step.defines {
                if value != NONE {
                    self.definitions[value as usize] = at as u32;
                }
            }
            let sources = step.sources.iter().filter_map(|source| match source {
                Source::Place(Place::Value(value), _) | Source::Memory(Place::Value(value), _) => {
                    Some(*value)
                }
                _ => None,
            });
            for value in sources.chain(step.keeps.iter().copied()) {
                if value != NONE && self.users[value as usize].last() != Some(&(at as u32)) {
                    self.users[value as usize].push(at as u32);
                }
            }
        }
        self.undefined = self.definitions.iter().map(|&at| at == NONE).collect();
        for (value, users) in self.users.iter().enumerate() {
            let Some(definition) = self.steps.get(self.definitions[value] as usize) else { continue };
            self.undefined[value] = users.iter().any(|&user| {
                let step = &self.steps[user as usize];
                // A phi has nothing where nothing is defined.
                let after = match step.block == definition.block {
                    true => self.definitions[value] < user,
                    false => self.cfg.dominates(definition.block, step.block),
                };
                step.instruction.is_some() && !after
            });
        }
    }
}

struct Lower<'m, 'a, 'g> {
    function: &'m Function<'a>,
    body: &'m Body<'a>,
    names: Names<'m, 'a>,
    globals: &'g Globals<'g, 'a>,
    /// Ranges of the outermost scope, `%rd<9>`: prefix, count, first of their places in `dense`.
    ranges: Vec<(&'a str, u64, usize)>,
    dense: Vec<u32>,
    /// Whether an inner scope declares a register that begins with `%`.
    inner: bool,
    registers: HashMap<(u32, u64), u32>,
    count: u32,
    /// By statement.
    local_of: HashMap<u32, u32>,
    locals: Vec<&'m Variable<'a>>,
    arguments: Vec<u32>,
}

impl<'m, 'a, 'g> Lower<'m, 'a, 'g> {
    fn new(
        function: &'m Function<'a>,
        body: &'m Body<'a>,
        names: Names<'m, 'a>,
        globals: &'g Globals<'g, 'a>,
    ) -> Self {
        let mut lower = Lower {
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
                (Space::Reg, range) if *scope != 0 => {
                    lower.inner |= range.is_some() || variable.name.starts_with('%');
                }
                (Space::Reg, Some(count)) => {
                    let start = lower.dense.len();
                    if (start as u64).saturating_add(count) <= DENSE {
                        lower.dense.resize(start + count as usize, NONE);
                        lower.ranges.push((variable.name, count, start));
                    }
                }
                (Space::Local | Space::Shared | Space::Param, None) => {
                    lower.local_of.insert(at as u32, lower.locals.len() as u32);
                    lower.locals.push(variable);
                }
                _ => {}
            }
        }
        for parameter in function.parameters.iter().chain(&function.returns) {
            let value = if parameter.space == Space::Reg { lower.fresh() } else { NONE };
            lower.arguments.push(value);
        }
        lower
    }

    fn fresh(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    fn code(&mut self, cfg: Cfg) -> Code<'m, 'a> {
        let mut steps = Vec::with_capacity(self.body.statements.len());
        for at in 0..cfg.blocks.len() {
            for &statement in &cfg.blocks[at].instructions {
                if let Statement::Instruction(instruction) = &self.body.statements[statement as usize] {
                    steps.push(self.step(instruction, at as u32));
                }
            }
        }
        Code {
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

    fn step(&mut self, instruction: &'m Instruction<'a>, block: u32) -> Step<'m, 'a> {
        let scope = instruction.scope;
        let guard = instruction.guard.map(|guard| {
            let value = match self.place(scope, guard.register) {
                Some(Place::Value(value)) => value,
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
        if instruction.mnemonic() == "call" {
            self.call(instruction, &mut step);
            return step;
        }
        let defining = crate::analysis::effect::first_operand_is_defined(instruction);
        let mut rest = &operands[..];
        if defining && let Some((first, others)) = operands.split_first() {
            self.defined(scope, first, &mut step);
            rest = others;
        }
        for operand in rest {
            self.source(scope, operand, &mut step.sources);
        }
        // A shared value is as good as none here: the renaming turns it into what the register was before.
        if guard.is_some() || crate::analysis::effect::updates_first_operand(instruction) {
            step.keeps.clone_from(&step.defines);
        }
        step
    }

    /// `call (returns), function, (arguments), prototype;`
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
                let value = if let Some(Place::Value(value)) = place { value } else { NONE };
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
                Some(Place::Function) => call.target = Some(name),
                Some(_) => step.sources.push(self.named(scope, name, 0)),
                None => {}
            }
        }
        if step.guard.is_some() {
            step.keeps.clone_from(&step.defines);
        }
        step.call = Some(Box::new(call));
    }

    fn defined(&mut self, scope: u32, operand: &Operand<'a>, step: &mut Step<'m, 'a>) {
        let mut one = |lower: &mut Self, name: &'a str| {
            step.defines.push(match lower.place(scope, name) {
                Some(Place::Value(value)) => value,
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

    /// Lists nest at most as deeply as the reader allows.
    fn flat(&mut self, scope: u32, operand: &Operand<'a>, into: &mut Vec<Source<'a>>) {
        self.source(scope, operand, into);
    }

    fn element(&self, place: Place) -> u32 {
        let variable = match place {
            Place::Local(local) => self.locals[local as usize],
            Place::Module(variable) => self.globals.variables[variable as usize],
            _ => return 1,
        };
        variable.ty.size() * u32::from(variable.vector)
    }

    fn memory(&mut self, scope: u32, address: &crate::syntax::Address<'a>) -> Source<'a> {
        match address.base {
            None => Source::Memory(Place::Absolute, address.offset),
            Some(name) => match self.place(scope, name) {
                Some(place) => Source::Memory(place, address.offset),
                None => Source::Memory(Place::Absolute, address.offset),
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

    fn place(&mut self, scope: u32, name: &'a str) -> Option<Place> {
        if name == "_" {
            return None;
        }
        if !self.inner
            && name.as_bytes().first() == Some(&b'%')
            && let Some(value) = self.ranged(name)
        {
            return Some(Place::Value(value));
        }
        if let Some(binding) = self.names.resolve(scope, name) {
            return match binding.variable.space {
                Space::Reg => {
                    let next = self.count;
                    let value = *self.registers.entry((binding.statement, binding.index)).or_insert(next);
                    if value == next {
                        self.count += 1;
                    }
                    Some(Place::Value(value))
                }
                Space::Global | Space::Const => {
                    let declaration: *const Variable<'a> = binding.variable;
                    self.globals.of_bodies.get(&declaration).copied().map(Place::Module)
                }
                _ => self.local_of.get(&binding.statement).copied().map(Place::Local),
            };
        }
        let parameters = self.function.parameters.iter().chain(&self.function.returns);
        if let Some(at) = parameters.into_iter().position(|parameter| parameter.name == name) {
            return Some(match self.arguments[at] {
                NONE => Place::Parameter(at as u32),
                value => Place::Value(value),
            });
        }
        if let Some(&variable) = self.globals.by_name.get(name) {
            return Some(Place::Module(variable));
        }
        self.globals.functions.get(name).map(|()| Place::Function)
    }

    /// A register of a range of the outermost scope.
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
