//! Searches the rewritten node that causes a difference.
//!
//! Nodes are undone in the order of the graph: their launches run as written, in a graph that is planned again. The
//! cause is the first node after whose undoing the difference is gone. It is found by bisection, with a graph for each
//! step.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::ir::{StatementId, StatementKind};
use cuweave_core::operation::{Operation, OperationKind};

use crate::build::{Definition, DuplicateForm};
use crate::error::{DifferenceCause, Rewriting, RewrittenNode, StoreInstruction, at_buffer, at_statement};
use crate::exec::core::Core;
use crate::kernels::stores as stores_of;

use super::comparison::FoundDifference;
use super::memory::Step;
use super::session::Session;

/// The maximum number of stores that are listed.
const MAX_STORES: usize = 8;

/// Returns the cause of a difference.
pub(super) fn search(session: &mut Session<'_, '_>, found: &FoundDifference) -> Step<DifferenceCause> {
    let nodes = rewritten_nodes(session);
    if !differs_without(session, &[])? {
        return Ok(DifferenceCause::NotRepeated);
    }
    if nodes.is_empty() || differs_without(session, &nodes)? {
        return Ok(DifferenceCause::MemoryOrOrder);
    }
    let (mut differs, mut equal) = (0, nodes.len());
    while equal - differs > 1 {
        let middle = differs.midpoint(equal);
        match differs_without(session, &nodes[..middle])? {
            true => differs = middle,
            false => equal = middle,
        }
    }
    Ok(DifferenceCause::Node(describe(session.core, &nodes[differs], found)))
}

/// The launches of a rewritten node.
struct Candidate {
    statements: Vec<StatementId>,
    rewriting: Rewriting,
}

/// Returns the nodes whose kernels are not those of their launches as written.
fn rewritten_nodes(session: &Session<'_, '_>) -> Vec<Candidate> {
    let Core { built, .. } = &*session.core;
    let operations = &built.plan.operations;
    let rewriting = |operation: &Operation| match operation.sources.as_slice() {
        &[statement] => {
            let StatementKind::Launch(launch) = &built.state.records[statement] else { return None };
            (session.written.function(statement) != Some(launch.function)).then_some(Rewriting::Waiting)
        }
        _ if operations.chain_of(operation).is_some() => Some(Rewriting::Fused),
        _ => Some(Rewriting::Batched),
    };
    let launches = operations.list.iter().filter(|operation| operation.kind == OperationKind::KERNEL);
    launches
        .filter_map(|operation| {
            let rewriting = rewriting(operation)?;
            Some(Candidate { statements: operation.sources.clone(), rewriting })
        })
        .collect()
}

/// Returns true if the graph without these rewritings differs from the statements as written.
fn differs_without(session: &mut Session<'_, '_>, undone: &[Candidate]) -> Step<bool> {
    let statements: BTreeSet<StatementId> =
        undone.iter().flat_map(|node| node.statements.iter().copied()).collect();
    let memory = session.core.temporaries.lowering;
    let mut graph = session.duplicate(DuplicateForm::Without(&statements, memory))?;
    Ok(session.compare(Some(&mut graph))?.difference.is_some())
}

fn describe(core: &Core, node: &Candidate, found: &FoundDifference) -> RewrittenNode {
    let program = core.definition.program();
    let mut kernels: Vec<String> = Vec::new();
    for &statement in &node.statements {
        if let StatementKind::Launch(launch) = &core.built.state.records[statement] {
            let name = launch.kernel.name.to_owned();
            if !kernels.contains(&name) {
                kernels.push(name);
            }
        }
    }
    let statements = node.statements.iter().map(|&statement| *at_statement(program, statement)).collect();
    RewrittenNode { statements, kernels, rewriting: node.rewriting, stores: stores(core, node, found) }
}

/// Returns the stores of a node to the element that differs, or all if none writes it.
fn stores(core: &Core, node: &Candidate, found: &FoundDifference) -> Vec<StoreInstruction> {
    let Definition { dims, .. } = &core.definition;
    let program = core.definition.program();
    let (mut direct, mut others) = (Vec::new(), Vec::new());
    // A batch has many launches of one kernel, whose file is read once.
    let mut known = BTreeMap::new();
    for &id in &node.statements {
        let StatementKind::Launch(launch) = &core.built.state.records[id] else { continue };
        let key = std::ptr::from_ref(launch.kernel).addr();
        let sites: &Vec<_> = known.entry(key).or_insert_with(|| stores_of(launch.kernel));
        for (access, sites) in program.statements[id].accesses.iter().zip(sites) {
            if !access.mode.writes() {
                continue;
            }
            let is_direct =
                access.buffer == found.buffer && (dims[access.lo]..dims[access.hi]).contains(&found.element);
            let listed = if is_direct { &mut direct } else { &mut others };
            listed.extend(sites.iter().map(|site| StoreInstruction {
                statement: *at_statement(program, id),
                buffer: at_buffer(program, access.buffer).name,
                file: launch.kernel.module.path().to_owned(),
                line: site.line,
                text: site.text.clone(),
            }));
        }
    }
    let mut listed = if direct.is_empty() { others } else { direct };
    listed.truncate(MAX_STORES);
    listed
}
