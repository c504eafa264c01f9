//! The state of a graph, independent of the graph function, and the steps from a plan to an exec.
//!
//! A `Core` owns the driver's graph and, once instantiated, its exec. Its drop (in `release`) orders all
//! later uses after the last launch and destroys both.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use cuweave_core::compile::budget_curve;
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{BufferId, Device, Memory, StatementId};
use cuweave_core::launches::Allowed;
use cuweave_core::launches::{Change, LeftAlone};
use cuweave_core::plan::budget::CurvePoint;

use crate::bind::{Operands, OutputShape, OutputSlot};
use crate::build::{
    Body, BuiltGraph, Collectives, Definition, LaunchState, PlanOptions, add_nodes, apply_hook, plan,
};
use crate::certificate::{self, CertificateBuilder, CertificateChecks};
use crate::context;
use crate::cuda::{Mirror, Outcome};
use crate::error::program::plan_error;
use crate::error::{Error, Result, at_buffer, at_statement};
use crate::ranges::ReservedRange;
use crate::statements::element;
use crate::waits::OwnedEvent;

use super::arena::SharedArena;
use super::counting::LaunchCounter;
use super::in_flight::InFlight;
use super::module_variables::ModuleVariables;
use super::prepared::PreparedEdit;
use super::size_ranges::SizeRange;
use super::times::BuildTimes;

/// The state of a graph, independent of the graph function's type.
pub struct Core {
    pub(crate) id: u64,
    /// The program, the values of its lengths, and the modules.
    pub(crate) definition: Definition,
    /// The plan, the driver's objects, and the values of the next launch.
    pub(crate) built: BuiltGraph,
    /// The bound buffers and the outputs.
    pub(crate) operands: Operands,
    /// The memory of the temporaries, if no node allocates it.
    pub(crate) temporaries: Temporaries,
    /// The last launch.
    pub(crate) in_flight: InFlight,
    /// The number of launches, and the values that advance with it.
    pub(crate) counting: LaunchCounter,
    /// The module variables that its launches share with those of other execs.
    pub(crate) hidden: Arc<ModuleVariables>,
    /// True if the exec was dropped with its last launch in flight and nothing can wait for that launch. All
    /// memory that the launch may use is leaked.
    pub(crate) leaks: Arc<AtomicBool>,
    /// The statements that use each argument buffer. Computed by the first setter.
    pub(crate) users: Vec<Vec<StatementId>>,
    /// The effects of edits, by sets of scalars. Computed by the first edit of a set.
    pub(crate) edits: Vec<PreparedEdit>,
    /// The scalars with `#[at_most(n)]`.
    pub(crate) sizes: Vec<SizeRange>,
    /// True once the sizes have the values of the caller.
    pub(crate) begun: bool,
    /// The host values that setters replaced and that a launch in flight may use.
    pub(crate) replaced: Vec<Box<dyn Send + Sync>>,
    /// True if a failed update left nodes that disagree with the arguments.
    pub(crate) broken: bool,
    /// The times of the build.
    pub(crate) times: BuildTimes,
}

/// The memory of temporaries that have no memory nodes.
#[derive(Debug, Default)]
pub(crate) struct Temporaries {
    /// The memory option that overrides the function's.
    pub lowering: Option<Memory>,
    /// The memory that the exec owns: one range per device.
    pub owned: Vec<ReservedRange>,
    /// The memory of the loops' iteration records: one range per device.
    pub records: Vec<ReservedRange>,
    /// The pool whose arena holds the temporaries.
    pub pool: Option<Arc<SharedArena>>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl Core {
    /// Returns a graph without nodes.
    pub(crate) fn new(definition: Definition, mut built: BuiltGraph, operands: Operands) -> Result<Core> {
        let reads_back = certificate::checks_for(definition.program()) == CertificateChecks::ReadBack;
        built.state.scratch.mirror = reads_back.then(Mirror::default);
        let done = Arc::new(OwnedEvent::new(definition.driver, &definition.ctx)?);
        operands.list.iter().for_each(|operand| operand.note_exec(&done));
        let hidden =
            Arc::new(ModuleVariables::new(definition.program(), &built.state.records, &definition.modules));
        let counting = LaunchCounter::new(&built.state.records);
        Ok(Core {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            definition,
            built,
            operands,
            temporaries: Temporaries::default(),
            in_flight: InFlight { done, lost: false, last: None, communicators: Vec::new() },
            counting,
            hidden,
            leaks: Arc::default(),
            users: Vec::new(),
            edits: Vec::new(),
            sizes: Vec::new(),
            begun: false,
            replaced: Vec::new(),
            broken: false,
            times: BuildTimes::default(),
        })
    }

    /// Adds all nodes. `body` runs the bodies of library calls.
    pub(crate) fn add_nodes(&mut self, body: &dyn Body) -> Result<()> {
        let addresses = self.operands.list.iter().map(|operand| operand.address);
        self.built.create(&self.definition, addresses)?;
        let inside = self.built.plan.inside();
        let mut memories = Vector::filled(0u64, self.built.plan.operations.memories.len());
        for device in self.definition.contexts.ids() {
            let (without, bytes) = self.built.plan.exec_memories(device);
            let Some(&(first, _)) = without.first() else { continue };
            let began = Instant::now();
            let buffers: Vec<BufferId> =
                without.iter().flat_map(|(at, _)| inside[*at].iter().copied()).collect();
            let start = self.reserve(device, bytes, &buffers).map_err(|failure| {
                let at = self.built.plan.at_memory(self.definition.program(), first);
                Error::allocation(failure, Some(at), bytes)
            })?;
            self.times.allocated += began.elapsed();
            for (at, offset) in without {
                memories[at] = start + offset;
                self.built.set_addresses(&inside[at], start + offset);
            }
        }
        self.reserve_records()?;
        add_nodes(&mut self.built, &mut self.definition, body, memories, &inside, None)?;
        self.in_flight.communicators.clone_from(&self.built.agreed.communicators);
        self.make_slots()
    }

    /// Returns the address of device memory for the temporaries without memory nodes: in the pool, or owned
    /// by the exec.
    fn reserve(&mut self, device: Device, bytes: u64, buffers: &[BufferId]) -> Outcome<u64> {
        if let Some(pool) = &self.temporaries.pool {
            return pool.reserve(bytes);
        }
        let range = self.map_memory(device, bytes, buffers)?;
        let start = range.start();
        self.temporaries.owned.push(range);
        Ok(start)
    }

    /// Maps memory of `device` and makes it accessible to every device that accesses one of `buffers`.
    fn map_memory(&self, device: Device, bytes: u64, buffers: &[BufferId]) -> Outcome<ReservedRange> {
        let Definition { driver, contexts, peers, .. } = &self.definition;
        let mut range = ReservedRange::new(driver, &contexts[device], bytes)?;
        range.share(peers.peer_handles(contexts, buffers));
        range.grow(bytes)?;
        Ok(range)
    }

    /// Maps memory for the iteration records on each device that runs bounded loops: 2 MiB, the smallest mapping.
    fn reserve_records(&mut self) -> Result<()> {
        let mut addresses = BTreeMap::new();
        for (device, (last, bytes)) in self.built.state.counted.last_of_devices() {
            let at = at_statement(self.definition.program(), last.condition);
            let mapped = self
                .map_memory(device, bytes, &[])
                .map_err(|failure| Error::allocation(failure, Some(at), bytes))?;
            addresses.insert(device, mapped.start());
            self.temporaries.records.push(mapped);
        }
        self.built.state.counted.addresses = addresses;
        Ok(())
    }

    /// Handles a failure of `add_nodes` or of instantiation. If the plan changed launches, they may be the
    /// cause: plans again with the launches as written and calls `retry`.
    pub(crate) fn retry_as_written(
        &mut self,
        error: Error,
        retry: impl FnOnce(&mut Core) -> Result<()>,
    ) -> Result<()> {
        if !self.built.plan.is_changed() || matches!(error, Error::Call { .. }) {
            return Err(error);
        }
        let refused = LeftAlone::all(Change::Any, error);
        self.replan(self.temporaries.lowering, Allowed::default(), Some(refused))?;
        retry(self)
    }

    /// Plans again and destroys the nodes that were added. `refused` is the reason, for reports.
    pub(crate) fn replan(
        &mut self,
        memory: Option<Memory>,
        allowed: Allowed,
        refused: Option<LeftAlone>,
    ) -> Result<()> {
        let LaunchState { records, words, .. } = &self.built.state;
        let Definition { flat, driver, contexts, modules, aliases, mappings, ranged, empty_at_zero, .. } =
            &mut self.definition;
        let (as_written, emptied) = (BTreeSet::new(), &empty_at_zero.statements);
        let options =
            PlanOptions { memory, unlimited: false, allowed, as_written, emptied, aliases, mappings, ranged };
        let mut planned = plan(flat, driver, contexts, records, words, modules, options)?;
        self.definition.driver.enter(self.definition.context)?;
        planned.left_alone.extend(refused);
        planned.decided.changed = apply_hook(self.definition.program(), &mut planned.operations)?;
        self.built.replace(&self.definition, planned);
        self.temporaries.owned.clear();
        self.temporaries.records.clear();
        self.temporaries.lowering = memory;
        self.operands.slots.clear();
        Ok(())
    }

    fn make_slots(&mut self) -> Result<()> {
        let Definition { flat, driver, ctx, contexts, peers, .. } = &self.definition;
        let program = self.definition.program();
        for &buffer in program.outputs.iter() {
            let slot = match self.operands.list.get(buffer.index()).and_then(|operand| operand.slot.clone()) {
                Some(slot) => slot,
                None => {
                    let elements = OutputShape {
                        len: flat.sizes[program.buffers[buffer].len],
                        size: element(program, buffer),
                        type_id: flat.elements[buffer],
                    };
                    let (at, address) = (at_buffer(program, buffer), self.built.state.bases[buffer]);
                    let access = peers.peer_handles(contexts, &[buffer]);
                    Arc::new(OutputSlot::new(driver, ctx, address, elements, access, at, self.id)?)
                }
            };
            self.operands.slots.push(slot);
        }
        Ok(())
    }

    /// Instantiates the graph. If that fails, retries with the launches as written.
    pub(crate) fn instantiate(&mut self, body: &dyn Body) -> Result<()> {
        context::enter(self.definition.driver, &self.definition.ctx)?;
        self.built.instantiate(&self.definition).or_else(|error| {
            self.retry_as_written(error, |core| {
                core.add_nodes(body)?;
                core.check_certificate()?;
                core.built.instantiate(&core.definition)
            })
        })
    }

    /// Checks the certificate of the graph if the function or the environment asks for it.
    pub(crate) fn check_certificate(&self) -> Result<()> {
        match certificate::checks_for(self.definition.program()) {
            CertificateChecks::No => Ok(()),
            _ if self.built.plan.decided.changed => Ok(()),
            wanted => self.certificate_builder().check(wanted == CertificateChecks::ReadBack),
        }
    }

    /// Checks the certificate with the values that setters wrote to the nodes, if certificates are read back
    /// from the driver. Checks before the first, second, fourth, eighth, .. launch after a setter.
    pub(super) fn check_changes(&mut self) -> Result<()> {
        let Some(mirror) = self.built.state.scratch.mirror.as_mut().filter(|mirror| mirror.changed) else {
            return Ok(());
        };
        mirror.changed = false;
        mirror.launches += 1;
        if mirror.launches.is_power_of_two() { self.check_certificate() } else { Ok(()) }
    }

    /// Returns the parts of the graph from which a certificate is built.
    pub(crate) fn certificate_builder(&self) -> CertificateBuilder<'_> {
        let Core { definition, built, operands, .. } = self;
        CertificateBuilder { definition, built, operands: &operands.list }
    }

    pub(super) fn certificate(&self) -> cuweave_check::Certificate {
        let planned = || self.certificate_builder().certificate();
        match self.built.state.scratch.mirror {
            Some(_) => self.certificate_builder().read_back().unwrap_or_else(|_| planned()),
            None => planned(),
        }
    }

    pub(super) fn collectives(&self) -> Collectives {
        self.built.agreed.list.clone()
    }

    pub(super) fn budget_curve(&self, points: u64) -> Result<Vec<CurvePoint>> {
        let checked = &self.definition.flat.checked;
        budget_curve(checked, self.definition.planned_lengths(), points)
            .map_err(|error| plan_error(checked.program(), error))
    }

    /// Prints the function and its size, for `Debug`.
    pub(super) fn describe(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name)
            .field("function", &self.definition.program().name)
            .field("operations", &self.built.plan.operations.list.len())
            .finish_non_exhaustive()
    }
}
