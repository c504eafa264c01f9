//! Decides which scalar arguments and host values can be set, and why others cannot.
//!
//! The order and the sizes of a graph are fixed when it is built. A scalar that they depend on has no
//! setter: its method has a bound that nothing satisfies, with a message that names the reason. A scalar
//! passed to a call can be set if the callee's parameter can. Only rustc can find out: the method's bounds
//! query the callee's item. A host value can be set if only host statements, events, flags and semaphores use it.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::ids::{ArgumentId, ScalarId};
use cuweave_core::index::{Index, Vector, size};
use cuweave_core::ir::{Buffer, DimId, StatementKind, Text};
use cuweave_core::structure::{Argument, Item, LoopRange, PathStep};
use cuweave_core::table::{BoundOp, Setting, Trend};
use quote::ToTokens;
use syn::Path;

use super::lower::{Lowered, collect_names};
use super::signature::Signature;
use super::trend::trend;

/// The setter of a scalar or a host value: why it cannot be called, or the callees that decide.
#[derive(Default)]
pub(super) struct Setter<'l> {
    /// The reason why it has none: the structure of the graph depends on it, or a length that may fall with it.
    pub fixed: Option<String>,
    /// The reason why it has none unless it is a size: a length depends on it, and rises with it.
    pub rising: Option<String>,
    /// True if it has `#[at_most(n)]`.
    pub is_size: bool,
    /// The callees that it is passed to, each with the index of the parameter.
    pub passed: Vec<Passed<'l>>,
}

/// A parameter of a callee that a scalar is passed to.
#[derive(PartialEq, Eq)]
pub(super) struct Passed<'l> {
    pub callee: &'l Path,
    pub index: usize,
    /// True if the argument rises with the scalar.
    pub rises: bool,
}

impl Setter<'_> {
    /// Returns the reason why it has no setter.
    pub fn reason(&self) -> Option<&String> {
        self.fixed.as_ref().or(self.rising.as_ref().filter(|_| !self.is_size))
    }

    pub fn setting(&self) -> Setting {
        match (&self.fixed, self.is_size, &self.rising) {
            (Some(_), ..) => Setting::Fixed,
            (None, true, _) => Setting::Size,
            (None, false, Some(_)) => Setting::Rising,
            (None, false, None) => Setting::Free,
        }
    }
}

/// Returns the setters of the arguments that have numbers.
pub(super) fn setters<'l>(lowered: &'l Lowered, signature: &Signature) -> Vector<ScalarId, Setter<'l>> {
    let mut setters: Vector<ScalarId, Setter<'l>> = signature.numbered().map(|_| Setter::default()).collect();
    if lowered.faulty {
        return setters;
    }
    let names: Vec<String> = signature.numbered().map(|argument| argument.name()).collect();
    for (argument, setter) in signature.numbered().zip(&mut setters) {
        setter.is_size = argument.argument.at_most.is_some();
    }
    let fixed = host_reasons(lowered, signature).into_iter().chain(structure_reasons(lowered, &names));
    for (scalars, reason) in fixed {
        for scalar in scalars {
            setters[scalar].fixed.get_or_insert_with(|| reason.clone());
        }
    }
    for LengthReason { scalars, dim, buffer } in length_reasons(lowered) {
        for scalar in scalars {
            let rises = trend(lowered, dim, &names[scalar.index()]) == Trend::Rises;
            let Setter { fixed, rising, .. } = &mut setters[scalar];
            let reason = if rises { rising } else { fixed };
            reason.get_or_insert_with(|| format!("the length of `{buffer}` depends on it"));
        }
    }
    let of_argument: BTreeMap<ArgumentId, ScalarId> =
        signature.numbered().map(|argument| (argument.at, argument.number)).collect();
    let statements = lowered.source.program.statements.iter();
    for (statement, syntax) in statements.zip(&lowered.syntax) {
        let (StatementKind::Call(id), Some(callee), false) = (statement.kind, &syntax.path, syntax.faulty)
        else {
            continue;
        };
        for (index, argument) in lowered.structure.calls[id].arguments.iter().enumerate() {
            let of = match argument {
                Argument::Scalar { of, .. } => of.as_slice(),
                Argument::Host(value) => of_argument.get(value).map_or(&[][..], std::slice::from_ref),
                _ => continue,
            };
            // The numbers of record scalars follow those of the arguments.
            for &scalar in of.iter().filter(|scalar| scalar.index() < names.len()) {
                let value = match argument {
                    Argument::Scalar { value, .. } => *value,
                    _ => None,
                };
                let rises =
                    value.is_some_and(|value| trend(lowered, value, &names[scalar.index()]) == Trend::Rises);
                let one = Passed { callee, index, rises };
                let passed = &mut setters[scalar].passed;
                if !passed.contains(&one) {
                    passed.push(one);
                }
            }
        }
    }
    setters
}

/// Returns the host values without setters, with the reasons: all that are used outside of host statements, events,
/// flags, semaphores and calls.
fn host_reasons(lowered: &Lowered, signature: &Signature) -> Vec<(BTreeSet<ScalarId>, String)> {
    let values = || signature.numbered().filter(|argument| !argument.argument.is_scalar());
    let numbers: BTreeSet<ScalarId> = values().map(|argument| argument.number).collect();
    let mut reasons = Vec::new();
    if numbers.is_empty() {
        return reasons;
    }
    let borrowed = values().filter(|value| !value.argument.is_kept()).map(|value| value.number);
    reasons.push((borrowed.collect(), "the calls and expressions that use it were built with it".to_owned()));
    let bounds = lowered.structure.leaf_scalars.iter().flatten().filter(|number| numbers.contains(number));
    reasons.push((bounds.copied().collect(), "a length or a range depends on it".to_owned()));
    for (statement, syntax) in lowered.source.program.statements.iter().zip(&lowered.syntax) {
        let mut mentioned = BTreeSet::new();
        match statement.kind {
            StatementKind::Host(())
            | StatementKind::Record(())
            | StatementKind::Wait(())
            | StatementKind::Sync(..) => {}
            StatementKind::Call(id) => {
                let scalars =
                    lowered.structure.calls[id].arguments.iter().filter_map(|argument| match argument {
                        Argument::Scalar { of, .. } => Some(of),
                        _ => None,
                    });
                mentioned.extend(scalars.flatten().filter(|number| numbers.contains(number)));
            }
            _ => {
                let mut names = BTreeSet::new();
                for expression in syntax.scalars().chain(&syntax.config) {
                    collect_names(expression.to_token_stream(), &mut names);
                }
                let used = values().filter(|value| names.contains(&value.name()));
                mentioned.extend(used.map(|value| value.number));
            }
        }
        if !mentioned.is_empty() {
            let (name, line) = (&statement.name, statement.line);
            reasons.push((mentioned, format!("`{name}` on line {line} is given what it computes")));
        }
    }
    reasons
}

/// Returns the scalars that a bound depends on.
fn of_dim(lowered: &Lowered, dim: DimId) -> BTreeSet<ScalarId> {
    let leaves = lowered.dims[dim.index()].iter().filter_map(|op| match op {
        BoundOp::Leaf(leaf) => lowered.structure.leaf_scalars.get(*leaf),
        _ => None,
    });
    leaves.flatten().copied().collect()
}

/// A length of a buffer, and the scalars that it depends on.
pub(super) struct LengthReason {
    pub scalars: BTreeSet<ScalarId>,
    pub dim: DimId,
    /// The name of the buffer.
    pub buffer: String,
}

/// Returns the lengths of all buffers.
pub(super) fn length_reasons(lowered: &Lowered) -> Vec<LengthReason> {
    let buffers = lowered.source.program.buffers.iter();
    let one = |buffer: &Buffer| LengthReason {
        scalars: of_dim(lowered, buffer.len),
        dim: buffer.len,
        buffer: buffer.base_name().to_owned(),
    };
    buffers.map(one).collect()
}

/// Returns everything besides lengths that is fixed when a graph is built: the scalars that it depends on, and the
/// reason as a message.
pub(super) fn structure_reasons(lowered: &Lowered, names: &[String]) -> Vec<(BTreeSet<ScalarId>, String)> {
    let (program, structure) = (&lowered.source.program, &lowered.structure);
    let of_dim = |dim: DimId| of_dim(lowered, dim);
    let mut reasons = Vec::new();
    let budget = program.options.budget.into_iter();
    reasons.extend(budget.map(|dim| (of_dim(dim), "the budget depends on it".to_owned())));
    let width = program.options.width.into_iter();
    reasons.extend(width.map(|dim| (of_dim(dim), "the width depends on it".to_owned())));
    let devices = program.options.devices.into_iter();
    reasons.extend(devices.map(|dim| (of_dim(dim), "the number of devices depends on it".to_owned())));
    for statement in &program.statements {
        let on = statement
            .on
            .map(|dim| (of_dim(dim), format!("the device of `{}` depends on it", statement.name)));
        reasons.extend(on);
    }
    for grant in program.grants.iter() {
        let name = program.buffers[grant.buffer].base_name();
        let access = grant.on.map(|dim| (of_dim(dim), format!("the access to `{name}` depends on it")));
        reasons.extend(access);
    }
    let returned = structure.returned.iter();
    reasons.extend(returned.map(|&(buffer, declared, _)| {
        let name = &program.buffers[buffer].name;
        (of_dim(declared), format!("the length of `{name}` depends on it"))
    }));
    let is_size = |name: &Text| structure.at_most.iter().any(|(size, ..)| size == name);
    for (_, dim, least) in structure.at_least.iter().filter(|(name, ..)| !is_size(name)) {
        reasons.push((of_dim(*dim), format!("the build checks `#[at_least({least})]`")));
    }
    for (size, _, most) in &structure.at_most {
        reasons.push((of_dim(*most), format!("the build reads the maximum of `{size}` from it")));
    }
    for step in structure.parts.iter().flat_map(|part| &part.path) {
        if let PathStep::Index(dim) = step {
            reasons.push((of_dim(*dim), "an index of a list of arguments depends on it".to_owned()));
        }
    }
    let mut items: Vec<&Item> = structure.body.iter().collect();
    while let Some(item) = items.pop() {
        match item {
            Item::Loop(each) => {
                items.extend(&each.body);
                if let LoopRange::Range(lo, hi) = each.range {
                    let scalars = &of_dim(lo) | &of_dim(hi);
                    reasons.push((scalars, format!("the loop on line {} depends on it", each.line)));
                }
            }
            Item::Choice(choice) => {
                items.extend(choice.arms.iter().flatten());
                let mut mentioned = BTreeSet::new();
                collect_names(lowered.loops.choices[size(choice.number)].to_token_stream(), &mut mentioned);
                let scalars = scalars_among(&mentioned, names);
                reasons.push((scalars, format!("the choice on line {} depends on it", choice.line)));
            }
            Item::Statement(_) | Item::Rename { .. } | Item::Swap(..) | Item::Needs(_) => {}
        }
    }
    reasons
}

/// Returns the scalars whose names occur in `mentioned`.
pub(super) fn scalars_among(mentioned: &BTreeSet<String>, names: &[String]) -> BTreeSet<ScalarId> {
    let numbered = names.iter().enumerate();
    numbered.filter(|(_, name)| mentioned.contains(*name)).map(|(at, _)| ScalarId::new(at)).collect()
}
