//! Adds the conditional nodes of a graph: creates their handles, adds the kernels that set them, and collects
//! the graphs of the bodies.
//!
//! If the driver has nodes with several bodies, all arms of a statement are bodies of one node. That is an IF
//! node with two bodies (faulty before CUDA 13.0) or a SWITCH node (since 12.8). Otherwise each arm is an IF
//! node of its own.
//!
//! One kernel before the first arm reads the operand once and sets the conditions of all arms. So no arm sees a
//! value that another arm wrote.

use cuweave_core::condition::ConditionKeyword as Keyword;
use cuweave_core::index::narrow;
use cuweave_core::ir::{BufferId, StatementId};
use cuweave_core::operation::{Operation, OperationId, Operations};
use cuweave_core::scopes::{ConditionalBody, ScopeId};

use crate::build::calls::capture::CapturedNodes;
use crate::build::graph::builder::GraphBuilder;
use crate::cuda::{ConditionalKind, Memset, Node, RawGraph};
use crate::error::{Error, PlanFault, Result, SourceLocation, at_statement};
use crate::kernels::HUB;

use super::bodies::BodyGraphs;
use super::setters::{OperandPlace, setter_of_arms, setter_of_loop, single_node_kind};

/// Creates the conditions that kernels set, of the conditionals directly in a body. Must be called before the nodes of
/// the body are added to its graph.
pub(crate) fn create_conditions(
    builder: &mut GraphBuilder<'_>,
    body: Option<ScopeId>,
    graph: RawGraph,
) -> Result<()> {
    let decided: Vec<(StatementId, BufferId)> = {
        let program = builder.definition.program();
        let inside = builder.bodies.scopes.list.enumerate();
        let inside = inside.filter(|&(own, scope)| scope.first == own && scope.parent == body);
        inside
            .filter_map(|(_, scope)| Some((scope.condition, program.own_condition(scope.condition)?)))
            .collect()
    };
    for (statement, buffer) in decided {
        let definition = &builder.definition;
        let context = definition.context_of(definition.program().statements[statement].device);
        let created = definition.driver.create_condition(graph, context);
        let at = || Some(at_statement(definition.program(), statement));
        let handle = created.map_err(|failure| Error::driver(failure, at()))?;
        builder.built.state.bases[buffer] = handle;
    }
    Ok(())
}

/// Adds the conditional node of an arm. For the first arm of a statement, also adds the kernel that sets the
/// conditions, and the node holds all arms if the driver supports that.
pub(crate) fn begin_body(
    builder: &mut GraphBuilder<'_>,
    operation: &Operation,
    after: &[Node],
) -> Result<CapturedNodes> {
    let statement = operation.sources[0];
    let missing = || PlanFault::BeginsNothing(operation.name.to_string());
    let scope = builder.bodies.begun_by(statement).ok_or_else(missing)?.clone();
    let arms: Vec<ConditionalBody> = builder.bodies.scopes.arms(scope.first).cloned().collect();
    let definition = &builder.definition;
    let (driver, context) = (definition.driver, definition.context_of(operation.device));
    let at = builder.at(operation);
    let failed = |failure| Error::driver(failure, Some(at.clone()));
    let own = definition.program().own_condition(arms[0].condition);
    // A profile times each arm separately, unless one condition has to decide about all.
    let whole = single_node_kind(driver, &arms).filter(|_| builder.stamps.is_none() || own.is_some());
    let mut nodes = Vec::new();
    if scope.condition == arms[0].condition {
        if let Some(own) = own {
            if arms.len() > 1 && whole.is_none() {
                return Err(one_condition(SourceLocation::clone(&at), scope.body.word).into());
            }
            builder.bodies.handles.insert(statement, builder.built.state.bases[own]);
        } else {
            for arm in &arms[..if whole.is_some() { 1 } else { arms.len() }] {
                let handle = driver.create_condition(builder.into, context).map_err(failed)?;
                builder.bodies.handles.insert(arm.condition, handle);
            }
            nodes.push(set_conditions(builder, statement, &arms, true, after)?);
        }
    } else if whole.is_some() {
        // This is the node of the first arm. Only that arm depends on nodes outside.
        return match *after {
            [node] => Ok(CapturedNodes {
                frontier: vec![node],
                nodes,
                ends_in_kernel: false,
                ..CapturedNodes::default()
            }),
            _ => Err(PlanFault::UnequalArms(operation.name.to_string()).into()),
        };
    }
    let handle = *builder.bodies.handles.get(&statement).ok_or_else(missing)?;
    let alone = if scope.body.word == Keyword::While { ConditionalKind::While } else { ConditionalKind::If };
    let (node_kind, run) = match whole {
        Some(node_kind) => (node_kind, arms.as_slice()),
        None => (alone, std::slice::from_ref(&scope)),
    };
    let mut before = if nodes.is_empty() { after.to_vec() } else { nodes.clone() };
    if scope.condition == arms[0].condition {
        before.extend(zero_records(builder, statement, &scope, after)?);
    }
    let added = driver.add_condition(builder.into, &before, handle, node_kind, narrow(run.len()), context);
    let (node, graphs) = added.map_err(failed)?;
    builder.bodies.graphs.extend(run.iter().map(|arm| arm.condition).zip(graphs.iter().copied()));
    builder.bodies.nodes += 1;
    for (arm, graph) in run.iter().zip(graphs) {
        let body = builder.bodies.scopes.bordered(arm.condition);
        create_conditions(builder, body, graph)?;
    }
    nodes.push(node);
    Ok(CapturedNodes { frontier: vec![node], nodes, ends_in_kernel: false, ..CapturedNodes::default() })
}

/// Returns the error for several bodies that one condition decides about, on a driver without nodes of several bodies.
fn one_condition(at: SourceLocation, word: Keyword) -> PlanFault {
    let needed = match word {
        Keyword::Match => "CUDA 12.8",
        Keyword::If | Keyword::While => "CUDA 13.0",
    };
    PlanFault::OneCondition { at, word: word.name(), needed }
}

/// Adds the last nodes of a body: a no-op kernel to an empty body, and the kernel that sets the condition again
/// to the body of a loop. Successors of the body depend on its conditional node.
pub(crate) fn end_body(
    builder: &mut GraphBuilder<'_>,
    operation: &Operation,
    after: &[Node],
) -> Result<CapturedNodes> {
    let statement = operation.sources[0];
    let missing = || PlanFault::EndsNothing(operation.name.to_string());
    let scope = builder.bodies.ended_by(statement).ok_or_else(missing)?.clone();
    let begin = builder.built.plan.operations.operation_of[scope.condition].ok_or_else(missing)?;
    let node = builder.built.handle.nodes[begin];
    let body = builder.bodies.graphs.get(&scope.condition).copied().ok_or_else(missing)?;
    let outside = std::mem::replace(&mut builder.into, body);
    let mut nodes = Vec::new();
    let own = builder.definition.program().own_condition(scope.condition);
    if scope.body.word == Keyword::While && own.is_none() {
        let arms = std::slice::from_ref(&scope);
        nodes.push(set_conditions(builder, statement, arms, false, after)?);
    } else if !builder.bodies.filled.contains(&scope.condition) {
        let at = Some(builder.at(operation));
        nodes.push(builder.add_single(body, after, &HUB, &[], operation.device, at)?);
    }
    builder.into = outside;
    Ok(CapturedNodes { frontier: vec![node], nodes, ends_in_kernel: false, ..CapturedNodes::default() })
}

/// Adds the kernel that sets the conditions of these arms. The statement's accesses are the operand and, for a
/// counted loop, the counter.
fn set_conditions(
    builder: &mut GraphBuilder<'_>,
    statement: StatementId,
    arms: &[ConditionalBody],
    begins: bool,
    after: &[Node],
) -> Result<Node> {
    let handles: Vec<u64> =
        arms.iter().filter_map(|arm| builder.bodies.handles.get(&arm.condition)).copied().collect();
    let (definition, counted) = (&builder.definition, &builder.built.state.counted);
    let emission = builder.built.emission(&definition.flat, &definition.dims);
    let address = |access| emission.elements_of(statement, access).address;
    let program = definition.program();
    let of = program.statements[statement].accesses[0].buffer;
    let operand = OperandPlace { address: address(0), bytes: program.buffers[of].element };
    let (kernel, words) = match counted.record(statement) {
        Some(record) => {
            let zeroed = begins.then(|| counted.zeroed_by_setter(&arms[0]));
            setter_of_loop(&arms[0].body, &handles, operand, address(1), record, zeroed)
        }
        None => setter_of_arms(arms, &handles, operand),
    }
    .ok_or_else(|| PlanFault::NoCondition(program.statements[statement].name.to_string()))?;
    let (at, device) = (at_statement(program, statement), program.statements[statement].device);
    builder.add_single(builder.into, after, kernel, &words, device, Some(at))
}

/// Adds a memset that zeroes the records of the loops in an outermost conditional. `None` if the setter kernel
/// zeroes them.
fn zero_records(
    builder: &GraphBuilder<'_>,
    statement: StatementId,
    scope: &ConditionalBody,
    after: &[Node],
) -> Result<Option<Node>> {
    let (definition, counted) = (&builder.definition, &builder.built.state.counted);
    let loops = counted.zeroed_by_memset(&builder.bodies.scopes, scope);
    if loops.is_empty() {
        return Ok(None);
    }
    let device = definition.program().statements[statement].device;
    let (target, bytes) = counted.records(loops);
    let memset = Memset::line(target, 0, 4, bytes / 4);
    let added = definition.driver.add_fill(builder.into, after, &memset, definition.context_of(device));
    added
        .map(Some)
        .map_err(|failure| Error::driver(failure, Some(at_statement(definition.program(), statement))))
}

/// Returns the predecessors of an operation that are in the same body. The only edge that crosses the border is
/// that of the condition statement, which the driver does not need.
pub(crate) fn within(
    operations: &Operations,
    bodies: &BodyGraphs,
    operation: &Operation,
    scope: Option<ScopeId>,
) -> Result<Vec<OperationId>> {
    let list = &operations.list;
    let (same, others): (Vec<OperationId>, Vec<OperationId>) =
        operation.after.iter().partition(|&&at| bodies.around(operations, &list[at]) == scope);
    let begin = scope.and_then(|scope| operations.operation_of[bodies.scopes.list[scope].condition]);
    match others.into_iter().find(|&at| Some(at) != begin) {
        None => Ok(same),
        Some(at) => {
            Err(PlanFault::CrossesBody { from: list[at].name.to_string(), to: operation.name.to_string() }
                .into())
        }
    }
}
