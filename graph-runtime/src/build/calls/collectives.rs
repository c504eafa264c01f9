//! Collectives: library calls whose bodies describe one operation of several ranks, each on its own device.
//!
//! Before the first node is added, all bodies describe their collectives. The ranks of this process are matched
//! by their order on each device, and those of other processes are compared. So a rank that differs is a build
//! error instead of a launch that hangs.
//!
//! When nodes are added, the collectives of a group are enqueued together. Each rank's stream captures into a
//! graph of its own, which becomes a child-graph node after the predecessors of the rank's statement. So no
//! edge leads from one rank to another. Separate graphs are needed because NCCL identifies a capture by its
//! number, which all captures into one graph share, and refuses the second.
//!
//! The predecessors of a rank's statement may come later in the list of operations than another rank's
//! statement. Operations that depend on an incomplete group are therefore deferred until the group is captured.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cuweave_core::index::Index;
use cuweave_core::ir::{Device, Program, StatementId};
use cuweave_core::operation::{Operation, OperationId};
use cuweave_core::picture::counted;
use cuweave_core::scopes::Scopes;

use crate::build::graph::builder::GraphBuilder;
use crate::cuda::{
    Collective, CollectiveDifference, CollectiveSequence, Context, Failure, Interleaving, LocalRanks, Node,
    Stream, during_capture,
};
use crate::error::{CallFault, Error, PlanFault, Result, SourceLocation, at_statement};

use super::agreed::{AgreedCollectives, ReachedCollective};
use super::capture::CapturedNodes;
use super::captured::{capture_stream, describe};
use super::children::{OwnedGraph, add_captured};
use super::collective_order::CollectiveOrder;
use super::order::CollectiveEntry;

/// A rank's collective, as its body has described it.
struct DescribedCollective {
    statement: StatementId,
    device: Device,
    communicator: usize,
    text: String,
}

/// Returns how the collectives of two communicators interleave on a device. `None` if the communicator `other`
/// has none there.
fn interleaving(
    all: &[DescribedCollective],
    device: Device,
    own: usize,
    other: usize,
    key: u64,
) -> Option<Interleaving> {
    let (mut count, mut before) = (0, Vec::new());
    for one in all.iter().filter(|one| one.device == device) {
        if one.communicator == other {
            count += 1;
        } else if one.communicator == own {
            before.push(count);
        }
    }
    (count > 0).then_some(Interleaving { key, before })
}

/// Lets all bodies describe their collectives, and compares the ranks.
pub(crate) fn agree_collectives(builder: &mut GraphBuilder<'_>) -> Result<()> {
    if builder.built.agreed.compared {
        return Ok(());
    }
    builder.built.agreed = AgreedCollectives::default();
    let flat = builder.definition.flat.clone();
    let program = flat.checked.program();
    let mut described = Vec::new();
    let scopes = Scopes::new(program);
    for statement in program.statements.ids().filter(|&id| flat.is_collective(id)) {
        let at = at_statement(program, statement);
        if let Some(around) = scopes.around(statement) {
            let body = scopes.name(program, around);
            return Err(Error::Call { at, fault: CallFault::CollectiveInBody { body } });
        }
        let device = program.statements[statement].device;
        let collective = describe(builder, statement, device, &at)?;
        let agreed = &mut builder.built.agreed;
        let own = |known: &Arc<dyn LocalRanks>| same(known, &collective.communicator);
        let communicator = agreed.communicators.iter().position(own).unwrap_or_else(|| {
            agreed.communicators.push(collective.communicator.clone());
            agreed.communicators.len() - 1
        });
        described.push(DescribedCollective { statement, device, communicator, text: collective.text });
    }
    if described.is_empty() {
        return Ok(());
    }
    let (definition, agreed) = (&builder.definition, &mut builder.built.agreed);
    // Sorted by key, so that all ranks compare communicators in the same order.
    let mut communicators: Vec<_> = agreed.communicators.iter().cloned().enumerate().collect();
    communicators.sort_by_key(|(_, communicator)| communicator.key());
    for (number, communicator) in &communicators {
        let own: Vec<&DescribedCollective> =
            described.iter().filter(|one| one.communicator == *number).collect();
        let order = matched(agreed, program, &**communicator, &own)?;
        let texts: Vec<String> = order.iter().map(|one| one.text.clone()).collect();
        let others = communicators.iter().filter(|other| other.0 != *number);
        let others = others.filter_map(|(other, communicator)| {
            interleaving(&described, order[0].device, *number, *other, communicator.key())
        });
        let sequence = CollectiveSequence { texts: &texts, interleavings: others.collect() };
        let devices: BTreeSet<Device> = own.iter().map(|one| one.device).collect();
        let contexts = devices.iter().map(|&device| definition.context_of(device));
        let compared =
            CollectiveOrder::for_contexts(contexts).alone(definition.driver, &**communicator, || {
                communicator
                    .check()
                    .map_err(CollectiveDifference::Communicator)
                    .and_then(|()| communicator.agree(&sequence))
            });
        definition.driver.enter(definition.context)?;
        compared?.map_err(|difference| match difference {
            CollectiveDifference::Collective { at, text } => {
                let blamed = order.get(at).or(order.last());
                let at = at_statement(program, blamed.map_or(own[0].statement, |one| one.statement));
                Error::Call { at, fault: CallFault::Disagreement { text } }
            }
            CollectiveDifference::Communicator(reason) => {
                Error::Communicator { function: program.name.to_string(), reason }
            }
        })?;
    }
    // A group is listed at the position of its first statement.
    let mut seen = BTreeSet::new();
    for one in &described {
        if seen.insert(agreed.groups[&one.statement].0) {
            let SourceLocation { name, file, line, .. } = *at_statement(program, one.statement);
            let operation = one.text.clone();
            agreed.list.list.push(CollectiveEntry {
                communicator: one.communicator,
                operation,
                name,
                file,
                line,
            });
        }
    }
    agreed.compared = true;
    Ok(())
}

/// Matches the collectives of a communicator's ranks in this process by their order on each device. Returns the
/// list of one rank.
fn matched<'d>(
    agreed: &mut AgreedCollectives,
    program: &Program,
    communicator: &dyn LocalRanks,
    own: &[&'d DescribedCollective],
) -> Result<Vec<&'d DescribedCollective>> {
    let mut by_device: BTreeMap<Device, Vec<&'d DescribedCollective>> = BTreeMap::new();
    own.iter().for_each(|one| by_device.entry(one.device).or_default().push(one));
    let ranks: Vec<(Device, Vec<&'d DescribedCollective>)> = by_device.into_iter().collect();
    let (device, first) = &ranks[0];
    let differs = |at: usize,
                   ours: Option<&&DescribedCollective>,
                   other: Device,
                   theirs: Option<&&DescribedCollective>| {
        let say = |one: Option<&&DescribedCollective>| {
            one.map_or_else(|| "has none".to_owned(), |one| format!("has `{}`", one.text))
        };
        let blamed = theirs.or(ours).map_or(own[0].statement, |one| one.statement);
        let text = format!(
            "in collective {at} of the communicator device {} {}, and device {} {}",
            device.index(),
            say(ours),
            other.index(),
            say(theirs)
        );
        Err(Error::Call { at: at_statement(program, blamed), fault: CallFault::Disagreement { text } })
    };
    for (other, list) in &ranks[1..] {
        for at in 0..first.len().max(list.len()) {
            let (ours, theirs) = (first.get(at), list.get(at));
            if ours.map(|one| &one.text) != theirs.map(|one| &one.text) {
                return differs(at, ours, *other, theirs);
            }
        }
    }
    if ranks.len() != communicator.ranks() {
        let text = format!(
            "the communicator has {} in this process, and the graph has collectives on {}",
            counted(communicator.ranks(), "rank"),
            counted(ranks.len(), "device")
        );
        let at = at_statement(program, first[0].statement);
        return Err(Error::Call { at, fault: CallFault::Disagreement { text } });
    }
    let before = agreed.groups.values().map(|group| group.0 + 1).max().unwrap_or(0);
    for (_, list) in &ranks {
        for (at, one) in list.iter().enumerate() {
            agreed.groups.insert(one.statement, (before + at, ranks.len()));
        }
    }
    Ok(first.clone())
}

/// Records that a rank has reached its collective. Once all ranks of the group have, captures the group and
/// returns its operations with their nodes.
pub(crate) fn reach_collective(
    builder: &mut GraphBuilder<'_>,
    id: OperationId,
    operation: &Operation,
    after: &[Node],
) -> Result<Vec<(OperationId, CapturedNodes)>> {
    let statement = operation.sources[0];
    let (group, count) = builder.built.agreed.groups[&statement];
    let known = builder.deferred.arrived.get(&group);
    if known.is_none_or(|known| known.iter().all(|one| one.operation != id)) {
        let (at, device) = (builder.at(operation), operation.device);
        let collective = describe(builder, statement, device, &at)?;
        let arrived = ReachedCollective { operation: id, device, after: after.to_vec(), at, collective };
        builder.deferred.arrived.entry(group).or_default().push(arrived);
    }
    if builder.deferred.arrived[&group].len() < count {
        return Ok(Vec::new());
    }
    let mut members = builder.deferred.arrived.remove(&group).unwrap_or_default();
    members.sort_by_key(|member| member.device);
    for member in &members {
        builder.deferred.late.remove(&member.operation);
    }
    let captured = capture_group(builder, members);
    builder.definition.driver.enter(builder.definition.context)?;
    captured
}

/// Returns the error of a graph whose ranks wait for each other.
pub(crate) fn deadlock_error(builder: &GraphBuilder<'_>, late: &Operation) -> Error {
    match builder.deferred.arrived.values().flatten().next() {
        Some(waiting) => {
            let at = waiting.at.clone();
            let (device, text) = (waiting.device.index(), waiting.collective.text.clone());
            Error::Call { at, fault: CallFault::Crossed { device, text } }
        }
        None => PlanFault::NeverAdded(builder.at(late)).into(),
    }
}

/// Captures the collectives of all ranks in this process. Each rank captures into its own graph, which becomes
/// a child-graph node after the predecessors of that rank's statement.
fn capture_group(
    builder: &mut GraphBuilder<'_>,
    members: Vec<ReachedCollective>,
) -> Result<Vec<(OperationId, CapturedNodes)>> {
    let driver = builder.definition.driver;
    let Some(first) = members.first() else { return Ok(Vec::new()) };
    let communicator = first.collective.communicator.clone();
    let _alone = communicator.alone();
    for ReachedCollective { device, at, .. } in &members {
        capture_stream(builder, *device).map_err(|failure| failed(at, failure))?;
    }
    let _capturing = during_capture();
    let (mut ranks, mut collectives, mut outcome) = (Vec::new(), Vec::new(), Ok(()));
    for ReachedCollective { operation, device, after, at, collective } in members {
        let (context, stream) = (builder.definition.context_of(device), builder.streams[&device].raw());
        let begun = driver.enter(context).and_then(|()| driver.begin_capture_alone(stream));
        if let Err(failure) = begun {
            outcome = Err(failed(&at, failure));
            break;
        }
        ranks.push(CapturingRank { operation, device, context, stream, after, at });
        collectives.push(collective);
    }
    if outcome.is_ok() {
        let enqueued = driver.capturing(|| enqueue(builder, &*communicator, collectives, &ranks));
        outcome = enqueued.map_err(|failure| failed(&ranks[0].at, failure)).and_then(|enqueued| enqueued);
    }
    let graphs: Vec<Result<OwnedGraph>> = ranks.iter().map(|rank| end_rank(builder, rank)).collect();
    // The library's own error takes precedence over errors of captures that it has invalidated.
    outcome?;
    let graphs: Vec<OwnedGraph> = graphs.into_iter().collect::<Result<_>>()?;
    let mut captured = Vec::new();
    for (CapturingRank { operation, after, at, .. }, graph) in ranks.into_iter().zip(graphs) {
        let added = add_captured(builder.into, after, &graph).map_err(|failure| failed(&at, failure))?;
        captured.push((operation, added));
    }
    Ok(captured)
}

/// Ends the capture of a rank and returns its graph.
fn end_rank(builder: &mut GraphBuilder<'_>, rank: &CapturingRank) -> Result<OwnedGraph> {
    let definition = &builder.definition;
    let driver = definition.driver;
    let owned = |graph| OwnedGraph { driver, ctx: definition.contexts[rank.device].clone(), graph };
    let entered = driver.enter(rank.context);
    let ended = driver.end_capture(rank.stream).map(owned);
    if ended.is_err() && driver.is_capturing(rank.stream) != Ok(false) {
        // End it a second time: the library keeps the graph of a capture that has not ended.
        drop(driver.end_capture(rank.stream).map(owned));
        if driver.is_capturing(rank.stream) != Ok(false) {
            builder.streams.remove(&rank.device).into_iter().for_each(|mut stream| stream.lose());
        }
    }
    let graph = ended.map_err(|failure| failed(&rank.at, failure))?;
    entered.map_err(|failure| failed(&rank.at, failure))?;
    Ok(graph)
}

/// Enqueues the collectives of a group.
fn enqueue(
    builder: &GraphBuilder<'_>,
    communicator: &dyn LocalRanks,
    collectives: Vec<Collective>,
    ranks: &[CapturingRank],
) -> Result<()> {
    let called = |at: &SourceLocation, text: String| Error::Call {
        at: Box::new(at.clone()),
        fault: CallFault::Returned(text),
    };
    let Some(CapturingRank { at: first, .. }) = ranks.first() else { return Ok(()) };
    communicator.begin().map_err(|text| called(first, text))?;
    let mut outcome = Ok(());
    for (collective, CapturingRank { device, context, at, .. }) in collectives.into_iter().zip(ranks) {
        // Continue after a failure: a group that lacks a rank might wait for it. The library enters the
        // contexts itself.
        outcome =
            outcome.and(builder.definition.driver.enter(*context).map_err(|failure| failed(at, failure)));
        if let Err(text) = (collective.enqueue)(builder.streams[device].stream()) {
            outcome = Err(called(at, text));
            break;
        }
    }
    let ended = communicator.end().map_err(|text| called(first, text));
    outcome.and(ended)
}

/// A rank of a group while its stream captures.
struct CapturingRank {
    operation: OperationId,
    device: Device,
    context: Context,
    stream: Stream,
    /// The predecessors of its statement.
    after: Vec<Node>,
    at: Box<SourceLocation>,
}

fn failed(at: &SourceLocation, failure: Failure) -> Error {
    Error::driver(failure, Some(Box::new(at.clone())))
}

fn same(one: &Arc<dyn LocalRanks>, other: &Arc<dyn LocalRanks>) -> bool {
    Arc::as_ptr(one).cast::<()>() == Arc::as_ptr(other).cast::<()>()
}
