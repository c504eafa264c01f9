//! Profiles: pairs of launches, one of the serialised graph, whose statements are timed one by one, and one
//! of the exec, timed as a whole between two events.
//!
//! The serialised graph runs long enough for the host to enqueue the exec meanwhile, so the exec's time
//! contains no host time. For everything that orders launches, the two count as one launch: the waits come
//! before both, and the event after both.

use std::sync::Arc;

use cudarc::driver::CudaStream;
use cuweave_core::index::Vector;
use cuweave_core::ir::StatementId;
use cuweave_inspect::{Profile, ProfileInput, TimeAccumulator};

use crate::build::{Body, SerialGraph, traffic};
use crate::context::{self, is_simulated};
use crate::cuda::{Failure, Outcome, Stream};
use crate::error::{Error, ProfileFault, Result};
use crate::statements::Evaluation;
use crate::token::Token;
use crate::waits::{self, OwnedEvent};

use super::core::Core;
use super::graph::{ExecCore, GraphFn};
use super::inspected::LaunchTable;
use super::pooled::check_pool;

impl<A: GraphFn> ExecCore<A> {
    /// See the generated `profile`.
    pub fn profile(&mut self, stream: &Arc<CudaStream>, launches: u32) -> Result<Profile> {
        profile(&mut self.core, &self.args.values(Token), stream, launches)
    }
}

/// The sums of the times while a profile is measured.
struct ProfileTimes {
    total: TimeAccumulator,
    empty_kernel: TimeAccumulator,
    empty_pair: TimeAccumulator,
    of: Vec<TimeAccumulator>,
}

fn profile(core: &mut Core, body: &dyn Body, stream: &Arc<CudaStream>, launches: u32) -> Result<Profile> {
    let raw = check_profile(core, stream, launches)?;
    let bytes = bytes(core, body)?;
    let addresses: Vec<u64> = core.operands.list.iter().map(|operand| operand.address).collect();
    let mut serial = SerialGraph::new(&core.built, &mut core.definition, body, addresses.into_iter())?;
    // The user's expressions may have changed the current context.
    context::enter(core.definition.driver, &core.definition.ctx)?;
    serial.upload(raw)?;
    core.upload(stream)?;
    let measured = measure(core, &mut serial, stream, launches);
    // A profile hands out no outputs, so they are freed here.
    let freed = core.operands.slots.iter().try_for_each(|slot| slot.discard(core.id));
    let times = measured?;
    freed?;
    drop(serial);
    let launched = LaunchTable::from_records(&core.built.state.records);
    Ok(Profile::new(&ProfileInput {
        program: core.definition.program(),
        operations: &core.built.plan.operations,
        kernels: &launched.kernels,
        of_statements: &launched.by_statement,
        bytes: &bytes,
        launches,
        simulated: is_simulated(),
        total: times.total,
        empty_kernel: times.empty_kernel,
        empty_pair: times.empty_pair,
        of: &times.of,
    }))
}

/// Checks that the graph can be profiled in a stream, and makes the context current.
fn check_profile(core: &mut Core, stream: &Arc<CudaStream>, launches: u32) -> Result<Stream> {
    let refused =
        |reason| Err(Error::Profile { function: core.definition.program().name.to_string(), reason });
    if launches == 0 {
        return refused(ProfileFault::NoLaunches);
    }
    if core.in_flight.communicators.iter().any(|communicator| communicator.ranks() > 1) {
        return refused(ProfileFault::Collectives);
    }
    if let Some((buffer, _)) = core.operands.taken_over().next() {
        let buffer = core.definition.program().buffers[buffer].name.to_string();
        return refused(ProfileFault::TakesOver { buffer });
    }
    let raw = core.check_stream(stream)?;
    check_pool(core, raw)?;
    Ok(raw)
}

/// Returns the bytes that one execution of each statement moves according to its declaration.
fn bytes(core: &mut Core, body: &dyn Body) -> Result<Vector<StatementId, u64>> {
    let definition = &mut core.definition;
    let flat = definition.flat.clone();
    let program = flat.checked.program();
    let statements: Vec<StatementId> = program.statements.ids().collect();
    let (dims, limits, modules) = (&definition.dims, &definition.limits, &mut definition.modules);
    let empty = &definition.empty_at_zero.statements;
    let mut evaluation = Evaluation::new(program, dims, limits, modules, empty, statements.len(), Vec::new());
    evaluation.keep_extents();
    evaluation.statements(&flat, body, &statements)?;
    let extents = evaluation.into_extents();
    definition.driver.enter(definition.context)?;
    Ok(traffic(&flat, &definition.dims, &core.built.state.records, &extents))
}

fn measure(
    core: &mut Core,
    serial: &mut SerialGraph,
    stream: &Arc<CudaStream>,
    launches: u32,
) -> Result<ProfileTimes> {
    let (driver, ctx) = (core.definition.driver, core.definition.ctx.clone());
    let around = [OwnedEvent::timing(driver, &ctx)?, OwnedEvent::timing(driver, &ctx)?];
    let none = TimeAccumulator::default();
    let mut times = ProfileTimes {
        total: none,
        empty_kernel: none,
        empty_pair: none,
        of: vec![none; core.built.plan.operations.list.len()],
    };
    for _ in 0..launches {
        launch_both(core, serial, stream, &around)?;
        let reading = serial.read(Stream::from_cudarc(stream))?;
        times.total.add(driver.elapsed(around[0].raw(), around[1].raw())?, 1, None);
        times.empty_kernel.add(reading.empty, 1, None);
        times.empty_pair.add(reading.pair, 1, None);
        for (gathered, timed) in times.of.iter_mut().zip(&reading.of) {
            gathered.add(timed.time, timed.runs, timed.iterations);
        }
    }
    Ok(times)
}

/// Launches the serialised graph, then the exec between two events, and waits for both. After a failure
/// nothing of the serialised graph is in flight, unless the host cannot wait at all.
fn launch_both(
    core: &mut Core,
    serial: &mut SerialGraph,
    stream: &Arc<CudaStream>,
    around: &[OwnedEvent; 2],
) -> Result<()> {
    // The serialised graph gets a launch number of its own.
    let before = core.counting.clone();
    let counted = core.counting.prepare_next(&core.built, &core.definition)?;
    serial.give_values(|nodes| core.counting.write_values(nodes, &core.definition))?;
    core.counting.commit(counted);
    let mut begun = false;
    let mut lost = false;
    let mut behind: Outcome<()> = Ok(());
    let launched = core.launch_by(stream, &mut [], |driver, exec, raw| {
        serial.launch(raw)?;
        begun = true;
        let launched = driver.record(around[0].raw(), raw).and_then(|()| driver.launch(exec, raw));
        if let Err(failure) = launched {
            let over = driver.synchronize(raw).or_else(|_| driver.synchronize_context());
            lost = waits::ignore_ended_context(over).is_err();
            serial.in_flight = lost;
            return Err(failure);
        }
        // The exec is in flight, even if the event cannot be recorded.
        behind = driver.record(around[1].raw(), raw);
        Ok(())
    });
    if !begun {
        core.counting = before;
    }
    if lost {
        // All later uses then wait for the context.
        core.in_flight.lost = true;
        core.in_flight.last = Some(stream.clone());
    }
    let driver = core.definition.driver;
    // The launch may have made another context current.
    let entered = driver.enter(core.definition.context);
    let waited = if serial.in_flight { core.in_flight.wait_on_host(driver) } else { Ok(()) };
    serial.in_flight = waited.is_err();
    launched?;
    waited.and(entered)?;
    behind.map_err(|failure: Failure| Error::from(failure))
}
