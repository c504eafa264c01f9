//! Checks that the variables of a module keep their meaning in a second module.
//!
//! A variable qualifies if the file alone determines its contents, no kernel writes it, and its address does not
//! escape.

use super::refusal::Refusal;
use super::scan::ModuleScan;
use crate::analysis::mentions::addresses;
use crate::analysis::{Analysis, KernelFacts, hidden};
use crate::syntax::{Linkage, StateSpace, Variable};
use std::collections::BTreeSet;

/// Returns true if the file alone determines its contents: it is initialised, and no other file or host code can find
/// it by name.
fn is_fixed(variable: &Variable<'_>) -> bool {
    variable.initial.is_some() && variable.linkage == Linkage::Local
}

/// Returns the variables of the module that a second module needs copies of, for these functions.
///
/// # Errors
/// The first variable that could differ between the two modules.
pub(super) fn copies<'m, 'a>(
    scan: &ModuleScan<'m, 'a>,
    closure: &[usize],
) -> Result<Vec<&'m Variable<'a>>, Refusal> {
    let mut found: Vec<&Variable<'a>> =
        closure.iter().flat_map(|&place| scan.uses(place).variables.iter().copied()).collect();
    let mut seen: BTreeSet<&str> = found.iter().map(|variable| variable.name).collect();
    let mut next = 0;
    let mut lasting = false;
    while next < found.len() {
        let variable = found[next];
        next += 1;
        if !matches!(variable.space, StateSpace::Global | StateSpace::Const) {
            continue;
        }
        lasting = true;
        if !is_fixed(variable) && variable.space == StateSpace::Const {
            return Err(Refusal::Constant(variable.name.to_owned()));
        }
        let refuse = |why| Err(Refusal::Variable { name: variable.name.to_owned(), why });
        if !is_fixed(variable) {
            return refuse("which may be set from outside of the file");
        }
        if scan.module.source(variable.span).contains(".attribute") {
            return refuse("which has attributes");
        }
        for name in addresses(variable) {
            match scan.variable(name) {
                Some(other) => {
                    if seen.insert(name) {
                        found.push(other);
                    }
                }
                None => return refuse("which holds the address of a function"),
            }
        }
    }
    if lasting {
        unwritten(scan, closure, &found)?;
    }
    Ok(found)
}

/// Checks that no kernel of the file writes one of the variables, and that their addresses do not escape.
fn unwritten(
    scan: &ModuleScan<'_, '_>,
    closure: &[usize],
    variables: &[&Variable<'_>],
) -> Result<(), Refusal> {
    let entry = scan.uses(closure[0]).function;
    let mut analysis = Analysis::new(scan.module);
    let pointers: Vec<bool> = entry.parameters.iter().map(|parameter| parameter.may_be_pointer()).collect();
    let kernel: KernelFacts = analysis.kernel(entry.name, &pointers);
    let orders = hidden(&mut analysis, &[(entry.name, &kernel)], &[]);
    let refuse = |name: &str, why| Err(Refusal::Variable { name: name.to_owned(), why });
    for variable in variables {
        let is = |name: &String| name == variable.name;
        if orders.iter().any(|order| order.reads.iter().chain(&order.writes).any(is))
            || kernel.variables_written.iter().any(is)
        {
            return refuse(variable.name, "which is written");
        }
        if kernel.variables_escaped.iter().any(is) {
            return refuse(variable.name, "whose address escapes");
        }
    }
    Ok(())
}
