//! Finds what a kernel does beyond accesses of its parameters: its launches cannot be ordered by these alone.

use crate::analysis::facts::{Site, site};
use crate::analysis::mentions::names;
use crate::isa::{self, BatchValue, EffectClass, HiddenEffect, SpecialRegister};
use crate::syntax::{Function, Instruction, Module, StateSpace, Statement, Variable};
use std::collections::BTreeSet;
use std::fmt;

/// A reason that the order of a kernel's launches does not follow from the accesses of its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BeyondParameters {
    /// The module has no such kernel.
    NoEntry,
    /// It uses a variable of the module without contents in the file, by this name.
    Variable(String),
    /// It calls a function that is not in the file, or that is not known.
    Call(Site),
    /// It may exchange data with kernels that run at the same time, or with other devices.
    Ordered(Site),
    /// Its blocks are in clusters, or wait for each other.
    Grid(Site),
    /// It reads a clock.
    Clock(Site),
    /// It reads textures, or addresses of constant memory.
    Texture(Site),
    /// An instruction that is not known.
    Instruction(Site),
}

impl fmt::Display for BeyondParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (does, site) = match self {
            BeyondParameters::NoEntry => return f.write_str("the PTX has no such kernel"),
            BeyondParameters::Variable(name) => {
                return write!(f, "it uses the variable `{name}` of its module, which others set");
            }
            BeyondParameters::Call(site) => ("it calls a function that is not in its file", site),
            BeyondParameters::Ordered(site) => ("it may exchange data with kernels that run beside it", site),
            BeyondParameters::Grid(site) => ("its blocks are in clusters or wait for each other", site),
            BeyondParameters::Clock(site) => ("it reads a clock", site),
            BeyondParameters::Texture(site) => ("it reads textures or constant memory by address", site),
            BeyondParameters::Instruction(site) => ("it has an instruction that is not known", site),
        };
        write!(f, "{does}: {}", super::facts::quoted(site))
    }
}

/// Returns the first reason that the accesses of an entry's parameters are not all that orders its launches. Also
/// looks at the functions that it calls. Variables that have contents in the file are none: see
/// [`hidden`](super::hidden()) for those that kernels write.
///
/// # Complexity
///
/// Linear in the bodies.
pub fn beyond_parameters(module: &Module<'_>, entry: &str) -> Option<BeyondParameters> {
    let Some(entry) = module.entry(entry) else { return Some(BeyondParameters::NoEntry) };
    let variables: BTreeSet<&str> = module
        .variables()
        .filter(|variable| is_set_by_others(variable))
        .map(|variable| variable.name)
        .collect();
    let (mut work, mut seen) = (vec![entry], BTreeSet::new());
    while let Some(function) = work.pop() {
        if !seen.insert(function.name) {
            continue;
        }
        match body(module, function, &variables) {
            Ok(callees) => work.extend(callees),
            Err(reason) => return Some(reason),
        }
    }
    None
}

/// Returns the functions that a body calls, or the reason in it.
fn body<'m, 'a>(
    module: &'m Module<'a>,
    function: &'m Function<'a>,
    variables: &BTreeSet<&str>,
) -> Result<Vec<&'m Function<'a>>, BeyondParameters> {
    let mut callees = Vec::new();
    let Some(body) = &function.body else { return Ok(callees) };
    for statement in &body.statements {
        let instruction = match statement {
            Statement::Instruction(instruction) => instruction,
            Statement::Variable(_, variable) if is_set_by_others(variable) => {
                return Err(BeyondParameters::Variable(variable.name.to_owned()));
            }
            _ => continue,
        };
        let here = || site(module, instruction);
        let mentioned = mentioned(instruction);
        for &name in &mentioned {
            if variables.contains(name) {
                return Err(BeyondParameters::Variable(name.to_owned()));
            }
            let register = isa::register(name);
            if register.is_some_and(|register| {
                matches!(register.in_batch(), BatchValue::Cooperative | BatchValue::Cluster)
            }) {
                return Err(BeyondParameters::Grid(here()));
            }
            if register.is_some_and(is_clock) {
                return Err(BeyondParameters::Clock(here()));
            }
        }
        instruction_alone(instruction, &here)?;
        if isa::row(instruction.op()).effect == EffectClass::Call {
            let callee = mentioned.iter().find_map(|name| module.function(name));
            match callee.filter(|callee| callee.body.is_some()) {
                Some(callee) => callees.push(callee),
                // The driver's function for failed assertions ends the launch, and touches no memory.
                None if mentioned.contains(&"__assertfail") => {}
                None => return Err(BeyondParameters::Call(here())),
            }
        }
    }
    Ok(callees)
}

/// Returns true for a variable whose contents the file does not state.
fn is_set_by_others(variable: &Variable<'_>) -> bool {
    matches!(variable.space, StateSpace::Global | StateSpace::Const) && variable.initial.is_none()
}

/// Returns the names in an instruction's operands.
fn mentioned<'a>(instruction: &Instruction<'a>) -> Vec<&'a str> {
    let mut found = Vec::new();
    instruction.operands.iter().for_each(|operand| names(operand, &mut |name| found.push(name)));
    found
}

fn is_clock(register: SpecialRegister) -> bool {
    use SpecialRegister as R;
    matches!(
        register,
        R::Clock | R::ClockHi | R::Clock64 | R::Globaltimer | R::GlobaltimerLo | R::GlobaltimerHi
    )
}

/// Returns the reason in an instruction without its names.
fn instruction_alone(instruction: &Instruction<'_>, here: &dyn Fn() -> Site) -> Result<(), BeyondParameters> {
    let row = isa::row(instruction.op());
    let own = instruction.modifiers().any(|m| m == "shared" || m == "shared::cta" || m == "local");
    let beyond = |m: &str| matches!(m, "acquire" | "release" | "acq_rel" | "sys" | "mmio" | "volatile");
    let touches = matches!(row.effect, EffectClass::Load | EffectClass::Store | EffectClass::Memory);
    if touches && !own && instruction.modifiers().any(beyond) {
        return Err(BeyondParameters::Ordered(here()));
    }
    match row.effect {
        EffectClass::TextureRead | EffectClass::TextureWrite => {
            return Err(BeyondParameters::Texture(here()));
        }
        EffectClass::Unknown => return Err(BeyondParameters::Instruction(here())),
        _ => {}
    }
    match row.hidden {
        HiddenEffect::None | HiddenEffect::SetsCarry | HiddenEffect::ReadsCarry => Ok(()),
        // A wait for the kernels before it changes nothing, but a trigger lets those after it begin early.
        HiddenEffect::Grids => Ok(()),
        HiddenEffect::Sleeps => Err(BeyondParameters::Ordered(here())),
        HiddenEffect::Cluster => Err(BeyondParameters::Grid(here())),
        HiddenEffect::ClusterIf(modifier) if instruction.has(modifier) => Err(BeyondParameters::Grid(here())),
        HiddenEffect::ConstantWindow if instruction.has("const") => Err(BeyondParameters::Texture(here())),
        HiddenEffect::ClusterIf(_) | HiddenEffect::ConstantWindow => Ok(()),
        HiddenEffect::Texture => Err(BeyondParameters::Texture(here())),
        HiddenEffect::Unknown => Err(BeyondParameters::Instruction(here())),
    }
}
