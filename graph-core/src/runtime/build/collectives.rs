//! Collectives: library calls whose bodies describe an operation of several ranks, each on a device of its own.
//!
//! Before a node is added, all bodies describe their collectives. Those of the ranks in this process are matched, by their order on each
//! device, and those of other processes are compared. So a rank that differs is an error of the build and no launch that waits for
//! ever. When nodes are added, the collectives of one group are captured together: a stream for each device is forked into one
//! capture, and made to depend on the nodes before that rank's statement alone. So no edge leads from one rank to another.
//!
//! What a rank's statement depends on may come later in the list of operations than that of another rank. Operations that depend on a
//! collective that other ranks have not reached are added behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::index::Index;
use crate::ir::{Device, Kind, Program, StatementId};
use crate::operation::{Operation, OperationId, What};
use crate::scopes::Scopes;

use crate::runtime::cuda::{Clique, Collective, Context, Driver, Node, Outcome, Stream, during_capture};
use crate::runtime::error::{At, CallFault, Error, Result, at_statement};
use crate::runtime::kernels::Note;
use crate::runtime::observe::CollectiveEntry;
use crate::runtime::waits::OwnedEvent;

use super::agreed::{Agreed, Arrived};
use super::body::Body;
use super::capture::Captured;
use super::definition::Definition;
use super::flattened::Flattened;
use super::nodes::Nodes;

/// A collective of one rank, as its body has described it.
struct Described {
    statement: StatementId,
    device: Device,
    clique: usize,
    text: String,
}

impl Flattened {
    /// Returns true for a library call whose body describes a collective.
    pub(crate) fn is_collective(&self, statement: StatementId) -> bool {
        self.checked.program().statements[statement].kind == Kind::Capture(())
            && self.frames[self.instances[statement].frame].table.program.options.collective
    }
}

impl Nodes {
    /// Lets the bodies describe their collectives, and compares those of all ranks.
    pub(super) fn agree(&mut self, definition: &mut Definition, body: &dyn Body) -> Result<()> {
        self.agreed = Agreed::default();
        let flat = definition.flat.clone();
        let program = flat.checked.program();
        let mut described = Vec::new();
        let scopes = Scopes::of(program);
        for statement in program.statements.ids().filter(|&id| flat.is_collective(id)) {
            let at = at_statement(program, statement);
            if let Some(around) = scopes.around(statement) {
                let body = scopes.name(program, around);
                return Err(Error::Call { at, fault: CallFault::CollectiveInBody { body } });
            }
            let device = program.statements[statement].device;
            let collective = self.describe(definition, body, (statement, device, at))?;
            let own = |known: &Arc<dyn Clique>| same(known, &collective.clique);
            let clique = self.agreed.cliques.iter().position(own).unwrap_or_else(|| {
                self.agreed.cliques.push(collective.clique.clone());
                self.agreed.cliques.len() - 1
            });
            described.push(Described { statement, device, clique, text: collective.text });
        }
        if described.is_empty() {
            return Ok(());
        }
        for (number, clique) in self.agreed.cliques.clone().into_iter().enumerate() {
            let own: Vec<&Described> = described.iter().filter(|one| one.clique == number).collect();
            let order = self.matched(program, &*clique, &own)?;
            let texts: Vec<String> = order.iter().map(|one| one.text.clone()).collect();
            let devices: BTreeSet<Device> = own.iter().map(|one| one.device).collect();
            let contexts = devices.iter().map(|&device| definition.context_of(device));
            let agreed = Turns::of(contexts).alone(definition.driver, &*clique, || {
                clique.check().map_err(|reason| (None, reason)).and_then(|()| clique.agree(&texts))
            });
            definition.driver.enter(definition.context)?;
            agreed?.map_err(|(first, text)| {
                let blamed = first.and_then(|first| order.get(first)).or(order.last());
                let at = at_statement(program, blamed.map_or(own[0].statement, |one| one.statement));
                match first {
                    Some(_) => Error::Call { at, fault: CallFault::Disagreement { text } },
                    None => Error::Communicator { function: program.name.to_string(), reason: text },
                }
            })?;
        }
        // A group counts where its first statement stands.
        let mut seen = BTreeSet::new();
        for one in &described {
            if seen.insert(self.agreed.groups[&one.statement].0) {
                let At { name, file, line, .. } = *at_statement(program, one.statement);
                let operation = one.text.clone();
                self.agreed.list.list.push(CollectiveEntry {
                    communicator: one.clique,
                    operation,
                    name,
                    file,
                    line,
                });
            }
        }
        Ok(())
    }

    /// Matches the collectives of a communicator's ranks in this process by their order on each device. Returns those of one rank.
    fn matched<'d>(
        &mut self,
        program: &Program,
        clique: &dyn Clique,
        own: &[&'d Described],
    ) -> Result<Vec<&'d Described>> {
        let mut by_device: BTreeMap<Device, Vec<&'d Described>> = BTreeMap::new();
        own.iter().for_each(|one| by_device.entry(one.device).or_default().push(one));
        let ranks: Vec<(Device, Vec<&'d Described>)> = by_device.into_iter().collect();
        let (device, first) = &ranks[0];
        let differs = |at: usize, ours: Option<&&Described>, other: Device, theirs: Option<&&Described>| {
            let say = |one: Option<&&Described>| {
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
        if ranks.len() != clique.ranks() {
            let text = format!(
                "the communicator has {} ranks in this process, and the graph has collectives on {} devices",
                clique.ranks(),
                ranks.len()
            );
            let at = at_statement(program, first[0].statement);
            return Err(Error::Call { at, fault: CallFault::Disagreement { text } });
        }
        let before = self.agreed.groups.values().map(|group| group.0 + 1).max().unwrap_or(0);
        for (_, list) in &ranks {
            for (at, one) in list.iter().enumerate() {
                self.agreed.groups.insert(one.statement, (before + at, ranks.len()));
            }
        }
        Ok(first.clone())
    }
}

impl Nodes {
    /// Returns true if an operation comes after one that is not added yet.
    pub(super) fn is_behind_late(&self, operation: &Operation) -> bool {
        let late = &self.agreed.late;
        !late.is_empty()
            && operation.after.iter().chain(&operation.programmatic).any(|before| late.contains(before))
    }

    /// Notes an operation that is added later.
    pub(super) fn put_off(&mut self, operation: OperationId) {
        self.agreed.late.insert(operation);
    }

    /// Returns true if an operation is not added yet.
    pub(super) fn is_late(&self, operation: OperationId) -> bool {
        self.agreed.late.contains(&operation)
    }

    /// Notes that an operation is added.
    pub(super) fn added(&mut self, operation: OperationId) {
        if !self.agreed.late.is_empty() {
            self.agreed.late.remove(&operation);
        }
    }

    /// Returns true if an operation is a collective.
    pub(super) fn is_collective(&self, operation: &Operation) -> bool {
        operation.what == What::Statement(Kind::Capture(()))
            && operation.sources.first().is_some_and(|source| self.agreed.groups.contains_key(source))
    }

    /// Notes a collective whose nodes before are added. Captures the group of the last one, and returns the operations with their nodes.
    pub(super) fn arrive(
        &mut self,
        definition: &mut Definition,
        body: &dyn Body,
        (id, operation): (OperationId, &Operation),
        after: &[Node],
    ) -> Result<Vec<(OperationId, Captured)>> {
        let statement = operation.sources[0];
        let (group, count) = self.agreed.groups[&statement];
        let known = self.agreed.arrived.get(&group);
        if known.is_none_or(|known| known.iter().all(|one| one.operation != id)) {
            let at = self.at(definition.program(), operation);
            let device = operation.device;
            let collective = self.describe(definition, body, (statement, device, at.clone()))?;
            let arrived = Arrived { operation: id, device, after: after.to_vec(), at, collective };
            self.agreed.arrived.entry(group).or_default().push(arrived);
        }
        if self.agreed.arrived[&group].len() < count {
            return Ok(Vec::new());
        }
        let mut members = self.agreed.arrived.remove(&group).unwrap_or_default();
        members.sort_by_key(|member| member.device);
        members.iter().for_each(|member| self.added(member.operation));
        let captured = self.capture_group(definition, members);
        definition.driver.enter(definition.context)?;
        captured
    }

    /// Returns the error of a graph whose ranks wait for each other.
    pub(super) fn crossed(&self, definition: &Definition, late: OperationId) -> Error {
        let waiting = self.agreed.arrived.values().flatten().next();
        let operation = &self.operations.list[late];
        match waiting {
            Some(waiting) => {
                let at = waiting.at.clone();
                let (device, text) = (waiting.device.index(), waiting.collective.text.clone());
                Error::Call { at, fault: CallFault::Crossed { device, text } }
            }
            None => {
                let at = self.at(definition.program(), operation);
                Error::Plan(format!("{at} waits for what is never added"))
            }
        }
    }

    /// Captures the collectives of all ranks in this process: one capture, with a stream for each device.
    fn capture_group(
        &mut self,
        definition: &Definition,
        members: Vec<Arrived>,
    ) -> Result<Vec<(OperationId, Captured)>> {
        let driver = definition.driver;
        let Some(first) = members.first() else { return Ok(Vec::new()) };
        let at = first.at.clone();
        let failed = |failure| Error::driver(failure, Some(at.clone()));
        for member in &members {
            self.capture_stream(definition, member.device).map_err(failed)?;
        }
        let streams: Vec<(Context, Stream)> = members
            .iter()
            .map(|member| (definition.context_of(member.device), self.streams[&member.device].raw()))
            .collect();
        let mut fork = Vec::new();
        for member in &members {
            driver.enter(definition.context_of(member.device)).map_err(failed)?;
            fork.push(OwnedEvent::new(driver, &definition.contexts[member.device]).map_err(failed)?);
        }
        let _capturing = during_capture();
        let (context, origin) = streams[0];
        driver.enter(context).map_err(failed)?;
        driver.begin_capture(origin, self.into, &first.after).map_err(failed)?;
        let (mut frontiers, mut parts) = (Vec::new(), Vec::new());
        let clique = first.collective.clique.clone();
        for member in members {
            let Arrived { operation, device, after, at, collective } = member;
            parts.push((operation, device, after, at));
            frontiers.push(collective);
        }
        let forked = || -> Outcome<()> {
            driver.record(fork[0].raw(), origin)?;
            for (&(context, stream), (_, _, after, _)) in streams.iter().zip(&parts).skip(1) {
                driver.enter(context)?;
                driver.wait(stream, fork[0].raw())?;
                driver.set_capture_dependencies(stream, after)?;
            }
            Ok(())
        };
        let mut outcome = forked().map_err(failed);
        if outcome.is_ok() {
            let enqueued = driver.capturing(|| self.enqueue(driver, &*clique, frontiers, (&streams, &parts)));
            outcome = enqueued.map_err(failed).and_then(|enqueued| enqueued);
        }
        let frontiers: Outcome<Vec<_>> =
            streams.iter().map(|&(_, stream)| driver.capture_info(stream)).collect();
        let joined = || -> Outcome<()> {
            for (&(context, stream), event) in streams.iter().zip(&fork).skip(1) {
                driver.enter(context)?;
                driver.record(event.raw(), stream)?;
                driver.enter(streams[0].0)?;
                driver.wait(origin, event.raw())?;
            }
            Ok(())
        };
        let joined = joined();
        let ended = driver.enter(context).and_then(|()| driver.end_capture(origin));
        if let Err(failure) = joined.and(ended.map(drop)) {
            // The driver's graph is of no use after a capture that was invalidated.
            self.graph = crate::runtime::cuda::RawGraph::NONE;
            for stream in self.streams.values_mut() {
                if driver.is_capturing(stream.raw()) != Ok(false) {
                    stream.lose();
                }
            }
            self.streams.clear();
            outcome?;
            return Err(failed(failure));
        }
        outcome?;
        let frontiers = frontiers.map_err(failed)?;
        let mut captured = Vec::new();
        for ((operation, device, after, at), info) in parts.into_iter().zip(frontiers) {
            driver.enter(definition.context_of(device)).map_err(failed)?;
            captured.push((operation, self.look_at_rank(definition, (device, &after, at), info.frontier)?));
        }
        Ok(captured)
    }

    /// Enqueues the collectives of a group.
    fn enqueue(
        &self,
        driver: &Driver,
        clique: &dyn Clique,
        collectives: Vec<Collective>,
        (streams, parts): (&[(Context, Stream)], &[Part]),
    ) -> Result<()> {
        let called = |at: &At, text: String| Error::Call {
            at: Box::new(at.clone()),
            fault: CallFault::Returned(text),
        };
        let Some((_, _, _, first)) = parts.first() else { return Ok(()) };
        clique.begin().map_err(|text| called(first, text))?;
        let mut outcome = Ok(());
        for ((collective, &(context, _)), (_, device, _, at)) in
            collectives.into_iter().zip(streams).zip(parts)
        {
            let stream = self.streams[device].stream();
            if let Err(failure) = driver.enter(context) {
                outcome = Err(Error::driver(failure, Some(at.clone())));
                break;
            }
            if let Err(text) = (collective.enqueue)(stream) {
                outcome = Err(called(at, text));
                break;
            }
        }
        // A group that was begun is ended, whatever became of its collectives.
        let ended = clique.end().map_err(|text| called(first, text));
        outcome.and(ended)
    }
}

/// A member of a group: its operation, device, the nodes before it, and its place.
type Part = (OperationId, Device, Vec<Node>, Box<At>);

fn same(one: &Arc<dyn Clique>, other: &Arc<dyn Clique>) -> bool {
    Arc::as_ptr(one).cast::<()>() == Arc::as_ptr(other).cast::<()>()
}

/// The last launch with collectives on a device: launches of all execs with collectives follow each other there, whatever their streams
/// and communicators, so that ranks which launch in one order run in one order.
type Turn = Arc<Mutex<Option<Note>>>;

static TURNS: Mutex<BTreeMap<Context, Turn>> = Mutex::new(BTreeMap::new());

/// The turns of some devices.
pub(crate) struct Turns(Vec<Turn>);

impl Turns {
    /// Returns the turns of the devices of these contexts.
    pub fn of(contexts: impl Iterator<Item = Context>) -> Turns {
        let mut all = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        // Locked in the order of the contexts.
        let contexts: BTreeSet<Context> = contexts.collect();
        Turns(contexts.into_iter().map(|context| all.entry(context).or_default().clone()).collect())
    }

    /// Calls `launch` behind the launches before on these devices, and notes its launch if it returns true.
    pub fn launch<T>(
        &self,
        driver: &Driver,
        next: Option<&Note>,
        launch: impl FnOnce() -> std::result::Result<T, Error>,
    ) -> std::result::Result<T, Error> {
        let mut turns: Vec<_> =
            self.0.iter().map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner)).collect();
        for (known, next) in turns.iter().filter_map(|turn| turn.as_ref()).zip(next.iter().cycle()) {
            known.order(driver, next)?;
        }
        let launched = launch()?;
        turns.iter_mut().for_each(|turn| **turn = next.cloned());
        Ok(launched)
    }

    /// Calls `work` when the launches before on these devices are over.
    fn alone<T>(&self, driver: &Driver, clique: &dyn Clique, work: impl FnOnce() -> T) -> Outcome<T> {
        let turns: Vec<_> =
            self.0.iter().map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner)).collect();
        let began = Instant::now();
        for known in turns.iter().filter_map(|turn| turn.as_ref()).filter(|known| known.held) {
            while driver.relaxed(|| driver.is_over(known.done.raw())) == Ok(false) {
                clique.waited(began.elapsed());
                std::thread::yield_now();
            }
        }
        Ok(work())
    }

    /// Forgets the launches of an exec, which are over.
    pub fn forget(&self, done: &Arc<OwnedEvent>) {
        for turn in &self.0 {
            let mut turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            if turn.as_ref().is_some_and(|known| Arc::ptr_eq(&known.done, done)) {
                *turn = None;
            }
        }
    }
}
