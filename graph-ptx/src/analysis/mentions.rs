//! Bounds the effects of code that is not analysed, by the transitive closure of the names in its text.
//!
//! Code reaches a variable or function only by its name, by an address in an initialiser, or by an address that other
//! code has computed. The closure of the names in a text therefore contains everything that the text reaches by
//! itself; everything that it reaches through an address from memory has escaped. Names are found as words of the
//! text, independent of instructions, operands and directives.
//!
//! The kernel analysis stops at bodies that are too large, at fixpoints that take too long, and at calls that it
//! cannot follow. An indirect call reaches every function whose address is taken; code outside of the file reaches
//! everything.

use crate::analysis::effect::{Effect, effect};
use crate::syntax::{Function, Initialiser, Instruction, Module, Operand, Statement, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// Functions of the driver that access no memory except through their arguments.
pub(crate) const BUILT_IN: [&str; 5] =
    ["vprintf", "__assertfail", "malloc", "free", "cudaGraphSetConditional"];

/// The variables that a text reaches, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached<'a> {
    pub variables: BTreeSet<&'a str>,
}

/// The names of a module and their mentions. Built once per module, in time linear in its text.
pub(crate) struct Mentions<'m, 'a> {
    module: &'m Module<'a>,
    /// The variables of the module and those in bodies that have module lifetime, merged by name.
    variables: BTreeMap<&'a str, Vec<&'m Variable<'a>>>,
    functions: BTreeMap<&'a str, &'m Function<'a>>,
    /// Functions whose address is taken by an instruction or an initialiser.
    addressed: BTreeSet<&'a str>,
}

impl<'m, 'a> Mentions<'m, 'a> {
    /// Collects the names of a module and its [`variables`](crate::analysis::code::Globals::variables).
    pub fn new(module: &'m Module<'a>, all: &[&'m Variable<'a>]) -> Self {
        let mut variables: BTreeMap<&str, Vec<&Variable<'_>>> = BTreeMap::new();
        for &variable in all {
            variables.entry(variable.name).or_default().push(variable);
        }
        let mut functions: BTreeMap<&str, &Function<'_>> = BTreeMap::new();
        for function in module.functions() {
            let known = functions.entry(function.name).or_insert(function);
            if known.body.is_none() {
                *known = function;
            }
        }
        let mut mentions = Mentions { module, variables, functions, addressed: BTreeSet::new() };
        mentions.addressed = mentions.find_addressed();
        mentions
    }

    /// Returns the variables that these functions reach.
    pub fn reached_from(&self, functions: impl IntoIterator<Item = &'a str>) -> Reached<'a> {
        let mut walk = Walk { mentions: self, seen: BTreeSet::new(), names: Vec::new(), indirect: false };
        functions.into_iter().for_each(|name| walk.name(name));
        walk.finish()
    }

    /// Returns the variables that an indirect call reaches, through any function whose address is taken.
    pub fn reached_by_indirect_calls(&self) -> Reached<'a> {
        self.reached_from(self.addressed.iter().copied())
    }

    /// Returns all variables.
    pub fn everything(&self) -> Reached<'a> {
        Reached { variables: self.variables.keys().copied().collect() }
    }

    /// Returns true if the file contains a body of the function.
    pub fn defines(&self, name: &str) -> bool {
        self.functions.get(name).is_some_and(|function| function.body.is_some())
    }

    fn find_addressed(&self) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        let mut note = |name: &'a str| {
            if self.functions.contains_key(name) {
                found.insert(name);
            }
        };
        for variable in self.variables.values().flatten() {
            addresses(variable).into_iter().for_each(&mut note);
        }
        for body in self.functions.values().filter_map(|function| function.body.as_ref()) {
            for statement in &body.statements {
                match statement {
                    Statement::Instruction(instruction) => {
                        let called = callee(instruction);
                        for (at, operand) in instruction.operands.iter().enumerate() {
                            if called != Some(at) {
                                names(operand, &mut note);
                            }
                        }
                    }
                    Statement::Targets(targets) => targets.targets.iter().copied().for_each(&mut note),
                    Statement::Directive(directive) => {
                        words(self.module.source(directive.span)).for_each(&mut note);
                    }
                    _ => {}
                }
            }
        }
        found
    }
}

/// A traversal with a worklist of names.
struct Walk<'w, 'm, 'a> {
    mentions: &'w Mentions<'m, 'a>,
    seen: BTreeSet<&'a str>,
    names: Vec<&'a str>,
    indirect: bool,
}

impl<'a> Walk<'_, '_, 'a> {
    fn name(&mut self, name: &'a str) {
        let known = self.mentions.variables.contains_key(name) || self.mentions.functions.contains_key(name);
        if known && self.seen.insert(name) {
            self.names.push(name);
        }
    }

    fn finish(mut self) -> Reached<'a> {
        let mentions = self.mentions;
        let mut reached = Reached::default();
        while let Some(name) = self.names.pop() {
            if let Some(variables) = mentions.variables.get(name) {
                reached.variables.insert(name);
                for variable in variables {
                    addresses(variable).into_iter().for_each(|name| self.name(name));
                }
            }
            let Some(function) = mentions.functions.get(name) else { continue };
            let Some(body) = &function.body else {
                if BUILT_IN.contains(&name) {
                    continue;
                }
                // An alias, or a function of another file, may reach everything.
                return mentions.everything();
            };
            words(mentions.module.source(body.span)).for_each(|name| self.name(name));
            let instructions = body.statements.iter().filter_map(|statement| match statement {
                Statement::Instruction(instruction) => Some(instruction),
                _ => None,
            });
            if !self.indirect
                && instructions.into_iter().any(|instruction| self.calls_a_register(instruction))
            {
                self.indirect = true;
                mentions.addressed.iter().for_each(|name| self.name(name));
            }
        }
        reached
    }

    fn calls_a_register(&self, instruction: &Instruction<'a>) -> bool {
        effect(instruction) == Effect::Call
            && !callee(instruction).is_some_and(|at| match &instruction.operands[at] {
                Operand::Name(name) => self.mentions.functions.contains_key(name),
                _ => false,
            })
    }
}

/// Returns the position of the callee among the operands of a call: the first name outside of lists.
fn callee(instruction: &Instruction<'_>) -> Option<usize> {
    let is_call = effect(instruction) == Effect::Call;
    is_call.then(|| instruction.operands.iter().position(|operand| matches!(operand, Operand::Name(_))))?
}

/// Returns the words of a text that may be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')))
        .filter(|word| !word.is_empty())
}

/// Returns the names whose addresses the initialiser of a variable contains.
pub(crate) fn addresses<'a>(variable: &Variable<'a>) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut stack: Vec<&Initialiser<'a>> = variable.initial.iter().collect();
    while let Some(initial) = stack.pop() {
        match initial {
            Initialiser::List(list) => stack.extend(list),
            Initialiser::Address { name, .. } => found.push(*name),
            _ => {}
        }
    }
    found
}

/// Calls `found` with every name in an operand, in order.
pub(crate) fn names<'o, 'a>(operand: &'o Operand<'a>, found: &mut impl FnMut(&'a str)) {
    match operand {
        Operand::Name(name) | Operand::Not(name) | Operand::Offset { name, .. } => found(name),
        Operand::Pair(one, other) => {
            found(one);
            found(other);
        }
        Operand::Vector(list) | Operand::List(list) => list.iter().for_each(|operand| names(operand, found)),
        Operand::Address(address) => address.base.into_iter().for_each(found),
        Operand::Tensor(address, list) => {
            address.base.into_iter().for_each(&mut *found);
            list.iter().for_each(|operand| names(operand, found));
        }
        Operand::Integer(_) | Operand::Single(_) | Operand::Double(_) | Operand::Sink => {}
    }
}
