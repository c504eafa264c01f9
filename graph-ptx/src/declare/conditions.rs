//! Checks kernels that are declared to set conditions.

use crate::analysis::effect::{Effect, effect};
use crate::syntax::{Function, Module, Operand, Statement};
use std::collections::BTreeSet;

/// The function of the device's runtime that sets a condition.
const SETTER: &str = "cudaGraphSetConditional";

/// Returns true if a kernel, or a function that it names, calls `cudaGraphSetConditional`. True for a kernel that the
/// module has not got. Linear in the called functions.
pub fn sets_conditions(module: &Module<'_>, entry: &str) -> bool {
    let Some(entry) = module.entry(entry) else { return true };
    let (mut seen, mut open): (BTreeSet<&str>, Vec<&Function<'_>>) = (BTreeSet::new(), vec![entry]);
    while let Some(function) = open.pop() {
        let Some(body) = &function.body else { continue };
        for statement in &body.statements {
            let Statement::Instruction(instruction) = statement else { continue };
            if effect(instruction) != Effect::Call {
                continue;
            }
            for operand in &instruction.operands {
                let Operand::Name(name) = operand else { continue };
                if *name == SETTER {
                    return true;
                }
                if seen.insert(name) {
                    open.extend(module.function(name));
                }
            }
        }
    }
    false
}
