//! Builds the report of a graph: the lists that follow directly from the kernels and decisions.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::compile::Decided;
use cuweave_core::ir::BufferId;
use cuweave_core::launches::{Chain, LaunchedKernel};
use cuweave_core::location::{at_buffer, at_statement};
use cuweave_ptx::coverage::Verdict;
use cuweave_ptx::declare::DeclaredPart;

use super::report::{
    AssumedDeclaration, AssumedRegisters, ForwardedElements, Report, ReportLists, UnwrittenOutput,
};
use super::subject::{ReportInput, UnprovedWrite};

/// Returns the report of a graph.
#[must_use]
pub fn build_report(graph: &ReportInput<'_>) -> Report {
    let lists = ReportLists {
        forwarded: forwarded(graph),
        assumed_registers: assumed(graph.decided),
        assumed_declarations: assumed_declarations(graph),
        unwritten_outputs: unwritten_outputs(graph),
    };
    Report::new(graph, lists)
}

/// Returns, for each chain, the elements that stay in registers.
fn forwarded(graph: &ReportInput<'_>) -> Vec<ForwardedElements> {
    let one = |(at, chain): (usize, &Chain)| {
        let most = chain.length() - 1;
        let Some(forward) = graph.decided.forward.get(at).and_then(Option::as_ref) else {
            return ForwardedElements { loads: 0, stores: 0, barriers: most, elided: Vec::new() };
        };
        let buffer = |&id: &u32| *at_buffer(graph.program, BufferId::from_u32(id));
        ForwardedElements {
            loads: forward.loads,
            stores: forward.stores,
            barriers: forward.barriers.iter().filter(|stands| **stands).count(),
            elided: forward.elided.iter().map(buffer).collect(),
        }
    };
    graph.operations.chains.iter().enumerate().map(one).collect()
}

/// Groups the kernels by the number of registers that is assumed for them.
fn assumed(decided: &Decided) -> Vec<AssumedRegisters> {
    let mut by_number: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for &(kernel, registers) in &decided.assumed {
        by_number.entry(registers).or_default().insert(kernel);
    }
    let entry = |(registers, kernels): (u32, BTreeSet<&str>)| AssumedRegisters {
        registers,
        kernels: kernels.into_iter().map(str::to_owned).collect(),
    };
    by_number.into_iter().map(entry).collect()
}

/// Lists the parts of the launched kernels' declarations that are not proved.
fn assumed_declarations(graph: &ReportInput<'_>) -> Vec<AssumedDeclaration> {
    let mut list = BTreeSet::new();
    let entry =
        |kernel: &LaunchedKernel, parameter: &str, what: DeclaredPart, reason: &str| AssumedDeclaration {
            kernel: kernel.name.to_owned(),
            parameter: parameter.to_owned(),
            what,
            reason: reason.to_owned(),
        };
    for kernel in graph.kernels.iter() {
        for parameter in &kernel.parameters {
            let unproved = parameter.unproved.iter();
            list.extend(unproved.map(|(what, reason)| entry(kernel, parameter.name, *what, reason)));
        }
    }
    for &UnprovedWrite { statement, parameter, verdict } in graph.unproved {
        let Some(kernel) = graph.kernel(statement) else { continue };
        let parameter = &kernel.parameters[parameter];
        let said = parameter.unproved.iter().any(|unproved| unproved.0 == DeclaredPart::Coverage);
        if let (Verdict::Unknown(reason), false) = (verdict, said) {
            list.insert(entry(kernel, parameter.name, DeclaredPart::Coverage, &reason.to_string()));
        }
    }
    list.into_iter().collect()
}

/// Lists the launches that leave elements of write-only parameters unwritten.
fn unwritten_outputs(graph: &ReportInput<'_>) -> Vec<UnwrittenOutput> {
    let short = |&UnprovedWrite { statement, parameter, verdict }: &UnprovedWrite<'_>| {
        let (kernel, Verdict::Short { written, missing }) = (graph.kernel(statement)?, verdict) else {
            return None;
        };
        Some(UnwrittenOutput {
            at: *at_statement(graph.program, statement),
            kernel: kernel.name.to_owned(),
            parameter: kernel.parameters[parameter].name.to_owned(),
            written: *written,
            missing: *missing,
        })
    };
    graph.unproved.iter().filter_map(short).collect()
}
