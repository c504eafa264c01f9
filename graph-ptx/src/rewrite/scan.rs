//! Scans functions for the properties and calls that rewriting depends on.
//!
//! A [`ModuleScan`] scans each function once. It records the callees, the variables and the grid registers that the
//! function uses, and the first reasons against waiting and batching.

use super::refusal::Refusal;
use crate::analysis::effect::{self, Effect};
pub(super) use crate::analysis::mentions::names;
use crate::isa::{self, BatchValue, HiddenEffect, ThreadRelation, component, register};
use crate::syntax::{
    Function, Instruction, Module, Names, Operand, PointerAttribute, StateSpace, Statement, Variable,
};
use std::collections::{BTreeSet, HashMap};

/// Functions of the driver that neither launch kernels nor read the grid.
const BUILT_IN: [&str; 5] = ["vprintf", "malloc", "free", "__assertfail", "cudaGraphSetConditional"];

/// A set of grid registers: bits 0 to 2 are `%ctaid.x` to `.z`, bits 3 to 5 `%nctaid.x` to `.z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GridRegisters(pub u8);

impl GridRegisters {
    /// The number of grid registers.
    pub const COUNT: usize = 6;

    /// Returns true if the set has this register.
    pub fn has(self, register: usize) -> bool {
        self.0 & (1 << register) != 0
    }

    /// Returns the registers in order.
    pub fn registers(self) -> impl Iterator<Item = usize> {
        (0..Self::COUNT).filter(move |&register| self.has(register))
    }
}

/// The class of a special register for rewriting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Special {
    /// A grid register: `%ctaid.y` is 1, `%nctaid.y` is 4; the fourth component, which is 0, is 6.
    Grid(usize),
    /// `%ctaid` or `%nctaid` as a vector: the bits of its components.
    Vector(u8),
    /// A register of cooperative launches.
    Environment,
    /// A register of clusters.
    Cluster,
    /// The value is the same in a batch as in a separate launch of the member.
    Same,
    /// The value would differ, or is unknown.
    Other,
}

/// Classifies a name that is not a register of the body.
pub(super) fn special(name: &str) -> Special {
    let Some(register) = register(name) else { return Special::Other };
    let first = match register.in_batch() {
        BatchValue::Same => return Special::Same,
        BatchValue::Cooperative => return Special::Environment,
        BatchValue::Cluster => return Special::Cluster,
        BatchValue::Differs => return Special::Other,
        BatchValue::Grid => match register.threads() {
            ThreadRelation::BlockIndex => 0,
            ThreadRelation::GridSize => 3,
            ThreadRelation::ThreadIndex
            | ThreadRelation::BlockSize
            | ThreadRelation::Lane
            | ThreadRelation::Other => {
                return Special::Other;
            }
        },
    };
    match (component(name), name.contains('.')) {
        (Some(3), _) => Special::Grid(GridRegisters::COUNT),
        (Some(axis), _) => Special::Grid(first + axis),
        (None, false) => Special::Vector(7 << first),
        (None, true) => Special::Other,
    }
}

/// Returns the vector of a component: `%v` for `%v.x`.
pub(super) fn vector(name: &str) -> &str {
    name.split_once('.').map_or(name, |(vector, _)| vector)
}

/// Returns the callee of a direct call.
pub(super) fn callee<'a>(call: &Instruction<'a>) -> Option<&'a str> {
    call.operands.iter().find_map(|operand| match operand {
        Operand::Name(name) => Some(*name),
        _ => None,
    })
}

/// The properties of a function's own body. For each kind of refusal, the first reason in the text is kept.
#[derive(Debug)]
pub(super) struct FunctionUses<'m, 'a> {
    pub function: &'m Function<'a>,
    /// The functions that it calls, without duplicates.
    pub calls: Vec<&'a str>,
    /// The variables that it names, without duplicates: those of the module, and `.global` and `.const` ones of its
    /// body.
    pub variables: Vec<&'m Variable<'a>>,
    pub grid: GridRegisters,
    /// The reason that it cannot be in a kernel that waits.
    pub waiting: Option<Refusal>,
    /// The reason that it cannot be in a batched kernel.
    pub batching: Option<Refusal>,
}

/// The functions of a module, scanned on demand.
#[derive(Debug)]
pub(super) struct ModuleScan<'m, 'a> {
    pub module: &'m Module<'a>,
    functions: HashMap<&'a str, &'m Function<'a>>,
    variables: HashMap<&'a str, &'m Variable<'a>>,
    all: Vec<FunctionUses<'m, 'a>>,
    places: HashMap<&'a str, usize>,
}

impl<'m, 'a> ModuleScan<'m, 'a> {
    pub fn new(module: &'m Module<'a>) -> Self {
        let mut functions: HashMap<&str, &Function<'_>> = HashMap::new();
        for function in module.functions() {
            let known = functions.entry(function.name).or_insert(function);
            if known.body.is_none() {
                *known = function;
            }
        }
        let variables = module.variables().map(|variable| (variable.name, variable)).collect();
        ModuleScan { module, functions, variables, all: Vec::new(), places: HashMap::new() }
    }

    /// Returns the variable of the module with this name.
    pub fn variable(&self, name: &str) -> Option<&'m Variable<'a>> {
        self.variables.get(name).copied()
    }

    /// Returns true if a function of the module has this name.
    pub fn is_function(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }

    /// Returns an entry and all functions that it calls, transitively and the entry first, as indices for
    /// [`ModuleScan::uses`].
    ///
    /// # Errors
    /// The module has no such entry.
    pub fn closure(&mut self, entry: &str) -> Result<Vec<usize>, Refusal> {
        let known = self.functions.get(entry).filter(|function| function.entry && function.body.is_some());
        let Some(&function) = known else { return Err(Refusal::NoEntry(entry.to_owned())) };
        let mut found = vec![self.place(function)];
        let mut seen: BTreeSet<usize> = found.iter().copied().collect();
        let mut next = 0;
        while next < found.len() {
            for name in self.all[found[next]].calls.clone() {
                let Some(&callee) = self.functions.get(name) else { continue };
                if callee.body.is_some() {
                    let place = self.place(callee);
                    if seen.insert(place) {
                        found.push(place);
                    }
                }
            }
            next += 1;
        }
        Ok(found)
    }

    pub fn uses(&self, place: usize) -> &FunctionUses<'m, 'a> {
        &self.all[place]
    }

    fn place(&mut self, function: &'m Function<'a>) -> usize {
        if let Some(&place) = self.places.get(function.name) {
            return place;
        }
        let uses = self.scan_function(function);
        self.all.push(uses);
        self.places.insert(function.name, self.all.len() - 1);
        self.all.len() - 1
    }

    fn scan_function(&self, function: &'m Function<'a>) -> FunctionUses<'m, 'a> {
        let uses = FunctionUses {
            function,
            calls: Vec::new(),
            variables: Vec::new(),
            grid: GridRegisters::default(),
            waiting: None,
            batching: None,
        };
        let mut look = FunctionScan { scan: self, uses, calls: BTreeSet::new(), variables: BTreeSet::new() };
        look.performance(function);
        if let Some(body) = &function.body {
            let names = Names::new(body);
            for statement in &body.statements {
                match statement {
                    Statement::Instruction(instruction) => look.instruction(instruction, &names),
                    Statement::Directive(directive) if directive.name != ".pragma" => {
                        let name = directive.name.to_owned();
                        look.batching(Refusal::Directive { name, line: directive.line });
                    }
                    _ => {}
                }
            }
        }
        look.uses
    }
}

struct FunctionScan<'s, 'm, 'a> {
    scan: &'s ModuleScan<'m, 'a>,
    uses: FunctionUses<'m, 'a>,
    calls: BTreeSet<&'a str>,
    variables: BTreeSet<*const Variable<'a>>,
}

impl<'m, 'a> FunctionScan<'_, 'm, 'a> {
    fn batching(&mut self, why: Refusal) {
        self.uses.batching.get_or_insert(why);
    }

    fn both(&mut self, why: Refusal) {
        self.uses.waiting.get_or_insert(why.clone());
        self.batching(why);
    }

    fn performance(&mut self, function: &Function<'a>) {
        let constant = |pointer: PointerAttribute| pointer.space == Some(StateSpace::Const);
        for parameter in &function.parameters {
            if parameter.pointer.is_some_and(constant) {
                let (what, line) = (parameter.name.to_owned(), function.line);
                self.both(Refusal::ConstantAddress { what, line });
            }
        }
        for directive in function.performance.iter().filter(|_| function.entry) {
            match directive.name {
                ".maxntid" | ".reqntid" | ".minnctapersm" | ".maxnctapersm" | ".maxnreg" | ".pragma" => {}
                ".explicitcluster" | ".reqnctapercluster" | ".maxclusterrank" | ".blocksareclusters" => {
                    self.both(Refusal::Cluster { what: directive.name.to_owned(), line: function.line });
                }
                name => self.both(Refusal::Directive { name: name.to_owned(), line: function.line }),
            }
        }
    }

    fn instruction(&mut self, instruction: &Instruction<'a>, names_of: &Names<'m, 'a>) {
        let line = instruction.line;
        let what = || instruction.opcode.to_owned();
        match isa::row(instruction.op()).hidden {
            HiddenEffect::Grids => self.both(Refusal::Dependency { line }),
            HiddenEffect::Cluster => self.both(Refusal::Cluster { what: what(), line }),
            HiddenEffect::ClusterIf(modifier) if instruction.has(modifier) => {
                self.both(Refusal::Cluster { what: what(), line });
            }
            // The preceding kernel may write constant data of another file.
            HiddenEffect::ConstantWindow if instruction.has("to") && instruction.has("const") => {
                self.both(Refusal::ConstantAddress { what: what(), line });
            }
            HiddenEffect::Texture => self.both(Refusal::Texture { what: what(), line }),
            HiddenEffect::Unknown => self.batching(Refusal::Instruction { opcode: what(), line }),
            HiddenEffect::None
            | HiddenEffect::SetsCarry
            | HiddenEffect::ReadsCarry
            | HiddenEffect::Sleeps
            | HiddenEffect::ClusterIf(_)
            | HiddenEffect::ConstantWindow => {}
        }
        if effect::effect(instruction) == Effect::Call {
            return self.call(instruction, names_of);
        }
        for operand in &instruction.operands {
            names(operand, &mut |name| self.name(name, instruction, names_of));
        }
    }

    fn name(&mut self, name: &'a str, instruction: &Instruction<'a>, names_of: &Names<'m, 'a>) {
        let whole = names_of.resolve(instruction.scope, name);
        if let Some(binding) = whole.or_else(|| names_of.resolve(instruction.scope, vector(name))) {
            if matches!(binding.variable.space, StateSpace::Global | StateSpace::Const) {
                self.variable(binding.variable);
            }
            return;
        }
        if self.uses.function.parameter(name).is_some() {
            return;
        }
        if let Some(variable) = self.scan.variable(name) {
            return self.variable(variable);
        }
        let line = instruction.line;
        if self.scan.is_function(name) {
            return self.batching(Refusal::Indirect { line });
        }
        if !name.starts_with('%') {
            return;
        }
        let register = || name.to_owned();
        match special(name) {
            Special::Grid(register) => self.uses.grid.0 |= (1 << register) & 0x3f,
            Special::Vector(registers) => self.uses.grid.0 |= registers,
            Special::Environment => self.both(Refusal::Cooperative { register: register(), line }),
            Special::Cluster => self.both(Refusal::Cluster { what: register(), line }),
            Special::Same => {}
            Special::Other => self.batching(Refusal::Special { register: register(), line }),
        }
    }

    fn variable(&mut self, variable: &'m Variable<'a>) {
        if self.variables.insert(variable) {
            self.uses.variables.push(variable);
        }
    }

    fn call(&mut self, call: &Instruction<'a>, names_of: &Names<'m, 'a>) {
        let line = call.line;
        let Some(name) = callee(call) else { return self.both(Refusal::Indirect { line }) };
        if names_of.resolve(call.scope, name).is_some() || name.starts_with('%') {
            match targets(call, names_of) {
                Some(functions) => {
                    self.batching(Refusal::Indirect { line });
                    functions.into_iter().for_each(|name| self.callee(name, line));
                }
                None => self.both(Refusal::Indirect { line }),
            }
        } else {
            self.callee(name, line);
        }
        for operand in call.operands.iter().filter(|operand| matches!(operand, Operand::List(_))) {
            names(operand, &mut |name| self.name(name, call, names_of));
        }
    }

    fn callee(&mut self, name: &'a str, line: u32) {
        let defined = self.scan.functions.get(name).is_some_and(|function| function.body.is_some());
        if !defined && !BUILT_IN.contains(&name) {
            self.both(Refusal::Call { name: name.to_owned(), line });
        }
        if self.calls.insert(name) {
            self.uses.calls.push(name);
        }
    }
}

/// Returns the functions that an indirect call may reach, if it names a list of them.
fn targets<'a>(call: &Instruction<'a>, names_of: &Names<'_, 'a>) -> Option<Vec<&'a str>> {
    let Some(Operand::Name(list)) = call.operands.last() else { return None };
    match names_of.statement(names_of.label(call.scope, list)?) {
        Statement::Targets(targets) if targets.calls => Some(targets.targets.clone()),
        _ => None,
    }
}
