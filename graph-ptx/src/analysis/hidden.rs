//! Hidden state: the module variables that impose an order on kernels although they are not arguments.
//!
//! Input: the facts about the kernels of a file. Output: the variables that each kernel reads and writes
//! ([`HiddenState`]). A variable that no kernel of the file writes imposes no order, such as the strings of `printf`
//! and constant tables. A kernel that stores to an unknown address may write every variable whose address escapes from
//! a kernel or an initialiser. A variable that the host sets orders the kernels that read it.

use crate::analysis::access::Analysis;
use crate::analysis::facts::KernelFacts;
use crate::analysis::mentions;
use crate::syntax::StateSpace;
use std::collections::BTreeSet;

/// The module variables that order a kernel with respect to others, by name. Sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HiddenState {
    /// The variables that it reads and that some kernel of the file, or the host, writes.
    pub reads: Vec<String>,
    /// The variables that it writes.
    pub writes: Vec<String>,
}

/// Returns the hidden state of kernels, given by name with their facts. A name without a kernel has no hidden state.
/// `by_host` names the variables that the host sets.
pub fn hidden(
    analysis: &mut Analysis<'_, '_>,
    kernels: &[(&str, &KernelFacts)],
    by_host: &[&str],
) -> Vec<HiddenState> {
    let module = analysis.module();
    let touches = |kernel: &KernelFacts| {
        !kernel.variables_read.is_empty()
            || !kernel.variables_written.is_empty()
            || kernel.writes_anywhere
            || kernel.reads_anywhere
    };
    let none = vec![HiddenState::default(); kernels.len()];
    let globals: BTreeSet<&str> = analysis
        .variables()
        .filter(|variable| variable.space == StateSpace::Global || by_host.contains(&variable.name))
        .map(|variable| variable.name)
        .collect();
    if globals.is_empty() || !kernels.iter().any(|(_, kernel)| touches(kernel)) {
        return none;
    }
    let mut all: Vec<KernelFacts> = Vec::new();
    for entry in module.entries() {
        if kernels.iter().all(|(name, _)| *name != entry.name) {
            let pointers: Vec<bool> =
                entry.parameters.iter().map(|parameter| parameter.may_be_pointer()).collect();
            all.push(analysis.kernel(entry.name, &pointers));
        }
    }
    let others = all.iter().chain(kernels.iter().map(|(_, kernel)| *kernel));
    let mut escaped: BTreeSet<String> = analysis
        .variables()
        .flat_map(mentions::addresses)
        .filter(|name| globals.contains(name))
        .map(str::to_owned)
        .collect();
    for kernel in others.clone() {
        escaped
            .extend(kernel.variables_escaped.iter().filter(|name| globals.contains(name.as_str())).cloned());
    }
    let writes_of = |kernel: &KernelFacts| {
        let mut writes = kernel.variables_written.clone();
        if kernel.writes_anywhere {
            writes.extend(escaped.iter().cloned());
        }
        writes.retain(|name| globals.contains(name.as_str()));
        writes
    };
    let mut written: BTreeSet<String> = by_host.iter().map(|&name| name.to_owned()).collect();
    for kernel in others {
        written.extend(writes_of(kernel));
    }
    let of = |(_, kernel): &(&str, &KernelFacts)| {
        let mut reads = kernel.variables_read.clone();
        if kernel.reads_anywhere {
            reads.extend(escaped.iter().cloned());
        }
        reads.retain(|name| written.contains(name));
        HiddenState { reads: reads.into_iter().collect(), writes: writes_of(kernel).into_iter().collect() }
    };
    kernels.iter().map(of).collect()
}

#[cfg(test)]
mod tests;
