//! Simplifies a kernel under the assumption that some of its pointers are not null.
//!
//! `x = inp ? inp[i] : out[i]` reads `out` only if `inp` is null. The analysis finds values that are known: a pointer
//! that is not null, and a number that is 0 or 1 for all arguments. It resolves branches, guards and selections by
//! such numbers before any other analysis, and omits the dead code.

use crate::analysis::code::{Globals, NONE, Referent, Source, SsaFunction, Step};
use crate::analysis::effect::{self, Effect};
use crate::analysis::ssa::{self, Guards};
use crate::isa::{self, Bitwise, Comparison, Operation, Selection};
use crate::syntax::{Function, Instruction, StateSpace, Statement, Type, TypeClass};
use std::collections::{BTreeMap, HashMap};

/// The maximum number of simplification rounds. Each round resolves at least one guard.
const MAX_ROUNDS: usize = 16;
/// The maximum depth of an expression; deeper ones are unknown.
const MAX_DEPTH: u32 = 32;

/// A known value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KnownValue {
    /// A non-null address.
    Pointer,
    /// The number 0 or 1, or a predicate.
    Bit(bool),
}

/// Builds a kernel in static single assignment form. `never_null` marks the parameters that are non-null pointers.
pub(crate) fn build<'m, 'a>(
    function: &'m Function<'a>,
    globals: &Globals<'_, 'a>,
    never_null: &[bool],
) -> Option<SsaFunction<'m, 'a>> {
    let mut guards = Guards::new();
    let mut code = ssa::build(function, globals)?;
    if !never_null.contains(&true) {
        return Some(code);
    }
    for _ in 0..MAX_ROUNDS {
        let mut values = NullAnalysis { code: &code, never_null, known: BTreeMap::new() };
        if !values.any() {
            return Some(code);
        }
        let decided = values.guards();
        if decided.is_empty() {
            break;
        }
        guards.extend(decided);
        code = ssa::build_guarded(function, globals, &guards)?;
    }
    let mut values = NullAnalysis { code: &code, never_null, known: BTreeMap::new() };
    let selections = values.selections();
    for (at, selected) in selections {
        let sources = &mut code.steps[at].sources;
        let chosen = sources[usize::from(!selected)];
        (sources[0], sources[1]) = (chosen, chosen);
    }
    code.index();
    Some(code)
}

struct NullAnalysis<'c, 'm, 'a> {
    code: &'c SsaFunction<'m, 'a>,
    never_null: &'c [bool],
    /// By value. `None` if unknown, or while the value is being evaluated.
    known: BTreeMap<u32, Option<KnownValue>>,
}

impl<'a> NullAnalysis<'_, '_, 'a> {
    /// Returns true if the kernel compares a non-null pointer with null.
    fn any(&mut self) -> bool {
        let code = self.code;
        code.steps.iter().any(|step| {
            step.instruction.is_some_and(|instruction| self.null_test(step, instruction, 0).is_some())
        })
    }

    /// Returns the guards whose value is known.
    fn guards(&mut self) -> Guards {
        let code = self.code;
        let mut truths: HashMap<*const Instruction<'a>, bool> = HashMap::new();
        for step in &code.steps {
            if let (Some(instruction), Some((guard, negated))) = (step.instruction, step.guard)
                && guard != NONE
                && let Some(KnownValue::Bit(truth)) = self.value(guard, 0)
            {
                truths.insert(instruction, truth != negated);
            }
        }
        let statements = code.function.body.iter().flat_map(|body| &body.statements);
        let found = (0u32..).zip(statements).filter_map(|(at, statement)| match statement {
            Statement::Instruction(instruction) => Some((at, *truths.get(&std::ptr::from_ref(instruction))?)),
            _ => None,
        });
        found.collect()
    }

    /// Returns the selections by known predicates; true if they select the first operand.
    fn selections(&mut self) -> Vec<(usize, bool)> {
        let code = self.code;
        let steps = code.steps.iter().enumerate();
        steps
            .filter_map(|(at, step)| {
                let operation = step.instruction.map(|instruction| isa::row(instruction.op()).operation);
                let selects = operation == Some(Operation::Selection(Selection::ByPredicate));
                let [_, _, by] = &step.sources[..] else { return None };
                match self.source(by, 0) {
                    Some(KnownValue::Bit(first)) if selects => Some((at, first)),
                    _ => None,
                }
            })
            .collect()
    }

    fn source(&mut self, source: &Source<'a>, depth: u32) -> Option<KnownValue> {
        match source {
            Source::Constant(0) => Some(KnownValue::Bit(false)),
            Source::Constant(1) => Some(KnownValue::Bit(true)),
            Source::Place(Referent::Value(value), 0) if *value != NONE => self.value(*value, depth + 1),
            _ => None,
        }
    }

    fn value(&mut self, value: u32, depth: u32) -> Option<KnownValue> {
        if let Some(&known) = self.known.get(&value) {
            return known;
        }
        let at = self.code.defining(value).filter(|_| !self.code.undefined[value as usize])?;
        if depth > MAX_DEPTH {
            return None;
        }
        self.known.insert(value, None);
        let step = &self.code.steps[at as usize];
        let known = self.computed(step, value, depth);
        self.known.insert(value, known);
        known
    }

    fn computed(&mut self, step: &Step<'_, 'a>, value: u32, depth: u32) -> Option<KnownValue> {
        let Some(instruction) = step.instruction else {
            let mut sources = step.sources.iter();
            let first = self.source(sources.next()?, depth)?;
            return sources.all(|source| self.source(source, depth) == Some(first)).then_some(first);
        };
        if step.guard.is_some() || step.keeps.iter().any(|&kept| kept != NONE) {
            return None;
        }
        if effect::effect(instruction) == Effect::Load {
            return self.is_parameter(step, instruction).then_some(KnownValue::Pointer);
        }
        let predicates = instruction.types().all(|ty| ty == Type::Pred);
        let bit = |known: Option<KnownValue>| match known {
            Some(KnownValue::Bit(bit)) => Some(bit),
            Some(KnownValue::Pointer) | None => None,
        };
        match (isa::row(instruction.op()).operation, &step.sources[..]) {
            // A true predicate has all bits set.
            (Operation::Move, [Source::Constant(bits)]) if predicates => Some(KnownValue::Bit(*bits != 0)),
            (Operation::Move, [a]) if step.defines.len() == 1 => self.source(a, depth),
            (Operation::Address, [a]) if instruction.has("global") => self.source(a, depth),
            (Operation::Convert, [a]) if instruction.types().all(|ty| ty.class() != TypeClass::Float) => {
                let wide = instruction.types().all(|ty| ty.size() == 8);
                self.source(a, depth).filter(|&known| wide || known != KnownValue::Pointer)
            }
            (Operation::Selection(Selection::ByPredicate), [a, b, by]) => match self.source(by, depth) {
                Some(KnownValue::Bit(true)) => self.source(a, depth),
                Some(KnownValue::Bit(false)) => self.source(b, depth),
                _ => self.source(a, depth).filter(|&a| self.source(b, depth) == Some(a)),
            },
            (Operation::Comparison(Comparison::ToPredicate), [_, _]) => {
                let truth = self.null_test(step, instruction, depth)?;
                // The second destination is the complement.
                Some(KnownValue::Bit(truth ^ (step.defines.get(1) == Some(&value))))
            }
            (Operation::Bitwise(Bitwise::Not), [a]) if predicates => {
                bit(self.source(a, depth)).map(|bit| KnownValue::Bit(!bit))
            }
            (Operation::Bitwise(which @ (Bitwise::And | Bitwise::Or)), [a, b]) => {
                let absorbs = which == Bitwise::Or;
                let (a, b) = (bit(self.source(a, depth)), bit(self.source(b, depth)));
                let absorbed = |known| known == Some(absorbs) && (predicates || !absorbs);
                match (a, b) {
                    _ if absorbed(a) || absorbed(b) => Some(KnownValue::Bit(absorbs)),
                    (Some(a), Some(b)) => Some(KnownValue::Bit(if absorbs { a | b } else { a & b })),
                    _ => None,
                }
            }
            (Operation::Bitwise(Bitwise::Xor), [a, b]) => {
                let (a, b) = (bit(self.source(a, depth))?, bit(self.source(b, depth))?);
                Some(KnownValue::Bit(a ^ b))
            }
            _ => None,
        }
    }

    /// Returns the outcome of an equality comparison between a known value and 0.
    fn null_test(&mut self, step: &Step<'_, 'a>, instruction: &Instruction<'a>, depth: u32) -> Option<bool> {
        let operation = isa::row(instruction.op()).operation;
        let compares = operation == Operation::Comparison(Comparison::ToPredicate);
        let [a, b] = &step.sources[..] else { return None };
        if !compares || instruction.types().any(|ty| ty.class() == TypeClass::Float) {
            return None;
        }
        let equal = match instruction.modifiers().next() {
            Some("eq") => true,
            Some("ne") => false,
            _ => return None,
        };
        let tested = match (a, b) {
            (tested, Source::Constant(0)) | (Source::Constant(0), tested) => tested,
            _ => return None,
        };
        let not_zero = match self.source(tested, depth)? {
            KnownValue::Pointer => true,
            KnownValue::Bit(bit) => bit,
        };
        Some(not_zero != equal)
    }

    /// Returns true for a load of a whole non-null pointer parameter.
    fn is_parameter(&self, step: &Step<'_, 'a>, instruction: &Instruction<'a>) -> bool {
        let [Source::Memory(Referent::Parameter(parameter), 0)] = step.sources[..] else { return false };
        let whole = instruction.space() == Some(StateSpace::Param)
            && step.defines.len() == 1
            && instruction.types().next_back().is_some_and(|ty| ty.size() == 8);
        whole && self.never_null.get(parameter as usize).copied().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests;
