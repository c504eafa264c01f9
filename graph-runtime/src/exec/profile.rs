//! Profiles: launches of the exec between two events, each behind one of the serialised graph, whose times are read.
//!
//! The launch of the serialised graph takes long enough for the host to enqueue the one that is timed as a whole, so this time
//! has no part of the host's in it. Both are one launch for everything that orders launches: the waits before, and the event behind.

use std::sync::Arc;

use cudarc::driver::CudaStream;
use cuweave_core::index::Vector;
use cuweave_core::ir::StatementId;
use cuweave_inspect::{Gathered, Measured, Profile};

use crate::build::{Body, Serial, traffic};
use crate::context::{self, is_simulated};
use crate::cuda::{Failure, Outcome, Stream};
use crate::error::{Error, Result};
use crate::statements::Evaluation;
use crate::token::Token;
use crate::waits::{self, OwnedEvent};

use super::core::Core;
use super::graph::{ExecCore, GraphFn};
use super::inspected::Launches;

impl<A: GraphFn> ExecCore<A> {
    /// See the generated `profile`.
    pub fn profile(&mut self, stream: &Arc<CudaStream>, launches: u32) -> Result<Profile> {
        self.core.profile(&self.args.values(Token), stream, launches)
    }
}

/// The times of a profile while it is measured.
struct Times {
    total: Gathered,
    empty_kernel: Gathered,
    empty_pair: Gathered,
    of: Vec<Gathered>,
}

impl Core {
    fn profile(&mut self, body: &dyn Body, stream: &Arc<CudaStream>, launches: u32) -> Result<Profile> {
        let raw = self.check_profile(stream, launches)?;
        let bytes = self.bytes(body)?;
        let addresses: Vec<u64> = self.operands.list.iter().map(|operand| operand.address).collect();
        let mut serial = Serial::new(&self.built, &mut self.definition, body, addresses.into_iter())?;
        // The user's expressions may have changed the current context.
        context::enter(self.definition.driver, &self.definition.ctx)?;
        serial.upload(raw)?;
        self.upload(stream)?;
        let measured = self.measure(&mut serial, stream, launches);
        // The outputs of a launch are not handed out.
        let freed = self.operands.slots.iter().try_for_each(|slot| slot.discard(self.id));
        let times = measured?;
        freed?;
        drop(serial);
        let of = Launches::of(&self.built.state.records);
        Ok(Profile::of(&Measured {
            program: self.definition.program(),
            operations: &self.built.plan.operations,
            kernels: &of.kernels,
            of_statements: &of.of,
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
    fn check_profile(&self, stream: &Arc<CudaStream>, launches: u32) -> Result<Stream> {
        let refused = |reason: String| {
            Err(Error::Profile { function: self.definition.program().name.to_string(), reason })
        };
        if launches == 0 {
            return refused("0 launches are asked for, and it takes one at least".to_owned());
        }
        if self.in_flight.cliques.iter().any(|clique| clique.ranks() > 1) {
            return refused("it has collectives between its devices, which run at the same time, and a profile runs one statement after the other".to_owned());
        }
        if let Some((buffer, _)) = self.operands.taken_over().next() {
            let name = &self.definition.program().buffers[buffer].name;
            return refused(format!("it takes over `{name}`, and each launch would need another output"));
        }
        let raw = self.check_stream(stream)?;
        self.check_pool(raw)?;
        Ok(raw)
    }

    /// Returns the bytes that a run of each statement moves by its declaration.
    fn bytes(&mut self, body: &dyn Body) -> Result<Vector<StatementId, u64>> {
        let definition = &mut self.definition;
        let flat = definition.flat.clone();
        let program = flat.checked.program();
        let statements: Vec<StatementId> = program.statements.ids().collect();
        let room = (statements.len(), Vec::new());
        let (dims, limits) = (&definition.dims, &definition.limits);
        let mut evaluation = Evaluation::new(program, dims, limits, &mut definition.modules, room);
        evaluation.keep_extents();
        evaluation.statements(&flat, body, &statements)?;
        let extents = evaluation.into_extents();
        definition.driver.enter(definition.context)?;
        Ok(traffic(&flat, &definition.dims, &self.built.state.records, &extents))
    }

    fn measure(&mut self, serial: &mut Serial, stream: &Arc<CudaStream>, launches: u32) -> Result<Times> {
        let (driver, ctx) = (self.definition.driver, self.definition.ctx.clone());
        let around = [OwnedEvent::timing(driver, &ctx)?, OwnedEvent::timing(driver, &ctx)?];
        let none = Gathered::default();
        let mut times = Times {
            total: none,
            empty_kernel: none,
            empty_pair: none,
            of: vec![none; self.built.plan.operations.list.len()],
        };
        for _ in 0..launches {
            self.launch_both(serial, stream, &around)?;
            let reading = serial.read(Stream::of(stream))?;
            times.total.add(driver.elapsed(around[0].raw(), around[1].raw())?, 1, None);
            times.empty_kernel.add(reading.empty, 1, None);
            times.empty_pair.add(reading.pair, 1, None);
            for (gathered, timed) in times.of.iter_mut().zip(&reading.of) {
                gathered.add(timed.time, timed.runs, timed.turns);
            }
        }
        Ok(times)
    }

    /// Launches the serialised graph, and behind it the exec between two events, and waits for both. After a failure nothing of the
    /// serialised graph is in flight, if the host can wait at all.
    fn launch_both(
        &mut self,
        serial: &mut Serial,
        stream: &Arc<CudaStream>,
        around: &[OwnedEvent; 2],
    ) -> Result<()> {
        // Each of the two is a launch with a number of its own.
        let before = self.counting.clone();
        let counted = self.counting.next(&self.built, &self.definition)?;
        serial.give_values(|nodes| self.counting.give(nodes, &self.definition))?;
        self.counting.count(counted);
        let mut begun = false;
        let mut lost = false;
        let mut behind: Outcome<()> = Ok(());
        let launched = self.launch_by(stream, &mut [], |driver, exec, raw| {
            serial.launch(raw)?;
            begun = true;
            let launched = driver.record(around[0].raw(), raw).and_then(|()| driver.launch(exec, raw));
            if let Err(failure) = launched {
                let over = driver.synchronize(raw).or_else(|_| driver.synchronize_context());
                lost = waits::over(over).is_err();
                serial.in_flight = lost;
                return Err(failure);
            }
            // The exec is launched, whatever becomes of the event.
            behind = driver.record(around[1].raw(), raw);
            Ok(())
        });
        if !begun {
            self.counting = before;
        }
        if lost {
            // All later uses wait for the context.
            self.in_flight.lost = true;
            self.in_flight.last = Some(stream.clone());
        }
        let driver = self.definition.driver;
        // The launch may have made another context current.
        let entered = driver.enter(self.definition.context);
        let waited = if serial.in_flight { self.in_flight.wait_on_host(driver) } else { Ok(()) };
        serial.in_flight = waited.is_err();
        launched?;
        waited.and(entered)?;
        behind.map_err(|failure: Failure| Error::from(failure))
    }
}
