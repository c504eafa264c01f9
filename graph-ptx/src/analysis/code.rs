//! The representation of a function body in static single assignment form; `ssa` builds it.
//!
//! Invariants of every [`SsaFunction`]: at most one step defines a value, and steps are grouped by block in the order
//! of [`Cfg`].

use crate::analysis::cfg::Cfg;
use crate::syntax::{Function, Instruction, Module, StateSpace, Statement, Variable};
use std::collections::HashMap;
use std::ops::Range;

/// An absent value: a sink, or a register without a definition.
pub(crate) const NONE: u32 = u32::MAX;
/// The meaning of a name other than a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Referent {
    /// A value: a definition of a register.
    Value(u32),
    /// A component of a vector register; the number is that of the whole register's value.
    Part(u32),
    /// A variable of the body: an index into [`SsaFunction::locals`].
    Local(u32),
    /// A parameter of the function. Return parameters are numbered after the parameters.
    Parameter(u32),
    /// A variable of the module: an index into [`Globals::variables`].
    Module(u32),
    /// A function.
    Function,
    /// An absolute address.
    Absolute,
}

/// A source of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source<'a> {
    Constant(i64),
    /// A value, or the address of a variable, plus an offset.
    Place(Referent, i64),
    /// An address operand.
    Memory(Referent, i64),
    /// A special register such as `%tid.x`.
    Special(&'a str),
    /// A float, a label, or a name without a meaning here.
    Other(&'a str),
}

impl Source<'_> {
    /// Returns the value that the source names, or that it is a component of, also inside brackets.
    pub fn value(&self) -> Option<u32> {
        match self {
            Source::Place(Referent::Value(value) | Referent::Part(value), _)
            | Source::Memory(Referent::Value(value) | Referent::Part(value), _) => {
                Some(*value).filter(|&value| value != NONE)
            }
            Source::Place(..)
            | Source::Memory(..)
            | Source::Constant(_)
            | Source::Special(_)
            | Source::Other(_) => None,
        }
    }
}

/// An instruction or a phi.
#[derive(Debug)]
pub(crate) struct Step<'m, 'a> {
    /// `None` for a phi, which has one source per predecessor of its block, in the same order.
    pub instruction: Option<&'m Instruction<'a>>,
    pub block: u32,
    pub guard: Option<(u32, bool)>,
    /// The values that it defines; [`NONE`] for sinks.
    pub defines: Vec<u32>,
    /// The previous values of registers that a guarded definition may leave unchanged, parallel to `defines`.
    pub keeps: Vec<u32>,
    pub sources: Vec<Source<'a>>,
    pub call: Option<Box<Call<'a>>>,
}

/// The callee and results of a call. Its arguments are the sources of the step.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    /// The name of the callee; `None` for an indirect call, whose last source is the callee.
    pub target: Option<&'a str>,
    /// The destination of each result, parallel to `defines`: a variable, or `None` for a register.
    pub returns: Vec<Option<Referent>>,
}

/// The variables of the module and the variables in bodies that have module lifetime.
pub(crate) struct Globals<'m, 'a> {
    pub variables: Vec<&'m Variable<'a>>,
    /// The variables of the module.
    pub(super) by_name: HashMap<&'a str, u32>,
    /// Variables of bodies by the address of their declaration: another body may declare the same name.
    pub(super) of_bodies: HashMap<*const Variable<'a>, u32>,
    pub(super) functions: HashMap<&'a str, ()>,
}

impl<'m, 'a> Globals<'m, 'a> {
    /// Returns an empty set, for analyses that only follow one function's registers and memory.
    pub fn none() -> Self {
        Self {
            variables: Vec::new(),
            by_name: HashMap::new(),
            of_bodies: HashMap::new(),
            functions: HashMap::new(),
        }
    }

    pub fn new(module: &'m Module<'a>) -> Self {
        let mut globals = Self::none();
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
                    && matches!(variable.space, StateSpace::Global | StateSpace::Const)
                {
                    globals.of_bodies.insert(variable, globals.variables.len() as u32);
                    globals.variables.push(variable);
                }
            }
        }
        globals
    }
}

/// A function body with resolved names.
pub(crate) struct SsaFunction<'m, 'a> {
    pub function: &'m Function<'a>,
    pub cfg: Cfg,
    pub steps: Vec<Step<'m, 'a>>,
    /// The number of values.
    pub values: u32,
    /// The steps that use each value.
    pub users: Vec<Vec<u32>>,
    /// The step that defines each value; [`NONE`] for register parameters and registers that are never defined.
    pub definitions: Vec<u32>,
    /// True for each value that may be used before its definition, where it is arbitrary.
    pub undefined: Vec<bool>,
    /// The `.local`, `.shared` and `.param` variables of the body.
    pub locals: Vec<&'m Variable<'a>>,
    /// The values of `.reg` parameters, then of returns; [`NONE`] for parameters in memory.
    pub arguments: Vec<u32>,
    /// The value of each register return at each `ret`.
    pub returned: Vec<Vec<u32>>,
}

/// A step in an instance of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StepId {
    pub instance: u32,
    pub step: u32,
}

impl<'m, 'a> SsaFunction<'m, 'a> {
    /// Returns the step that defines a value, if any.
    pub fn defining(&self, value: u32) -> Option<u32> {
        self.definitions.get(value as usize).copied().filter(|&at| at != NONE)
    }

    /// Returns the range of steps of each block.
    pub fn ranges(&self) -> Vec<Range<u32>> {
        let mut ranges = vec![0..0; self.cfg.blocks.len()];
        for (at, step) in self.steps.iter().enumerate() {
            let range = &mut ranges[step.block as usize];
            if range.end == 0 {
                range.start = at as u32;
            }
            range.end = at as u32 + 1;
        }
        ranges
    }

    /// Computes [`SsaFunction::users`], [`SsaFunction::definitions`] and [`SsaFunction::undefined`] from the steps.
    pub(super) fn index(&mut self) {
        self.users = vec![Vec::new(); self.values as usize];
        self.definitions = vec![NONE; self.values as usize];
        for (at, step) in self.steps.iter().enumerate() {
            for &value in &step.defines {
                if value != NONE {
                    self.definitions[value as usize] = at as u32;
                }
            }
            let sources = step.sources.iter().filter_map(Source::value);
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
                // A phi without a definition on one of its edges has no source for that edge.
                let after = match step.block == definition.block {
                    true => self.definitions[value] < user,
                    false => self.cfg.dominates(definition.block, step.block),
                };
                step.instruction.is_some() && !after
            });
        }
    }
}
