//! Gathers the facts about a graph's launches on which launch decisions depend, and makes the variants of
//! kernels that a decision needs: the runtime's implementation of the core's [`Target`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::compile::{LaunchFacts, Target};
use cuweave_core::ids::{KernelId, ScalarId};
use cuweave_core::index::{Vector, size};
use cuweave_core::ir::{Device, Program, StatementId};
use cuweave_core::launches::{
    Allowed, Batch, Batching, Blocks, Chain, Change, Fusing, Launch, LaunchShape, LeftAlone, NamedKernel,
    Resources, TripCount, Tuning, Unfit, UnfitChain,
};
use cuweave_core::operation::{BatchId, ChainId};
use cuweave_core::table::Scalar;
use cuweave_ptx::coverage::ForwardingPlan;

use crate::cuda::{self, Context, Driver, Simulator, Word};
use crate::error;

use super::declaration::Kernel;
use super::fitting::{BatchRequirements, FittedVariant};
use super::located::LocatedLaunch;
use super::modules::{ENTRY, Modules};
use super::record::LaunchRecord;
use super::text::{KernelEntry, TripInfluence};
use super::variants::{BatchedVariant, FusedKernel, VariantRequest};

/// The statements whose configuration a setter may change.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChangingLaunches {
    /// The grid.
    pub grids: Vector<StatementId, bool>,
    /// The block size or the shared memory.
    pub blocks: Vector<StatementId, bool>,
}

impl ChangingLaunches {
    /// Collects the statements. Fixed scalars have no setter.
    pub fn collect(scalars: &Vector<ScalarId, Scalar>, statements: usize) -> ChangingLaunches {
        let none = Vector::filled(false, statements);
        let mut changing = ChangingLaunches { grids: none.clone(), blocks: none };
        for scalar in scalars.iter().filter(|scalar| !scalar.setting.is_fixed()) {
            scalar.grids.iter().for_each(|&id| changing.grids[id] = true);
            scalar.blocks.iter().for_each(|&id| changing.blocks[id] = true);
        }
        changing
    }
}

/// A kernel on a device.
#[derive(Clone, Copy)]
pub(crate) struct DeviceKernel {
    pub device: Device,
    pub kernel: &'static Kernel,
}

/// The devices of a graph, with the kernels launched on them.
pub(crate) struct DeviceTarget<'t> {
    pub driver: &'static Driver,
    pub modules: &'t mut Modules,
    /// The kernels, once for each device.
    pub(super) kernels: Vector<KernelId, DeviceKernel>,
    /// The number of multiprocessors of each device.
    multiprocessors: Vector<Device, u32>,
    /// The number of registers per multiprocessor of each device.
    registers: Vector<Device, u32>,
    /// The launches that may be fused.
    pub(super) located: BTreeMap<StatementId, LocatedLaunch>,
}

impl<'t> DeviceTarget<'t> {
    /// Returns a target without kernels.
    pub fn new(driver: &'static Driver, modules: &'t mut Modules) -> DeviceTarget<'t> {
        DeviceTarget {
            driver,
            modules,
            kernels: Vector::new(),
            multiprocessors: Vector::new(),
            registers: Vector::new(),
            located: BTreeMap::new(),
        }
    }

    /// Returns the facts about the launches, with an entry for each statement.
    ///
    /// # Errors
    ///
    /// A failure of the driver. The caller then keeps all launches as written.
    pub fn gather<'r>(
        &mut self,
        contexts: &Vector<Device, Arc<CudaContext>>,
        program: &Program,
        records: impl ExactSizeIterator<Item = (StatementId, Option<&'r LaunchRecord>)>,
        words: &[Word],
        changing: &ChangingLaunches,
        allowed: Allowed,
    ) -> error::Result<LaunchFacts> {
        let mut facts = LaunchFacts::default();
        if allowed == Allowed::default() {
            return Ok(facts);
        }
        facts.tuning = self.devices(contexts)?;
        let mut waves: BTreeMap<(KernelId, u32, u32), u32> = BTreeMap::new();
        facts.launches = Vector::with_capacity(records.len());
        for (statement, record) in records {
            let Some(record) = record else {
                facts.launches.push(None);
                continue;
            };
            let device = program.statements[statement].device;
            let kernel = self.number(device, record.kernel);
            let LaunchShape { grid, block, shared } = record.shape;
            let threads = block.iter().product();
            let wave = match waves.get(&(kernel, threads, shared)) {
                Some(&wave) => wave,
                None => {
                    self.driver.enter(Context::from_cudarc(&contexts[device]))?;
                    let blocks = self.driver.blocks_per_sm(record.function, threads, shared)?;
                    *waves
                        .entry((kernel, threads, shared))
                        .or_insert(blocks.saturating_mul(self.multiprocessors[device]))
                }
            };
            let module = self.modules.module(device, record.kernel);
            let entry = module.and_then(|module| module.entry(record.kernel.entry));
            let fixed = allowed.batches
                && !record.kernel.takes_tables()
                && !changing.blocks.get(statement).is_some_and(|&changes| changes);
            let batch = module.filter(|_| fixed).and_then(|module| module.batching(record.kernel)?.ok());
            let launch = Launch {
                kernel,
                grid,
                block,
                shared,
                work: entry.map_or(vec![number_of(statement)], |entry| work(record, words, entry, statement)),
                wave,
                grid_changes: changing.grids.get(statement).is_some_and(|&changes| changes),
                ranged: Arc::default(),
                batch: batch.unwrap_or(Batching::Never),
                waits: module.is_some_and(|module| module.waits(record.kernel.entry)),
                lanes: true,
                fuse: Fusing::Never,
                short: entry.is_some_and(|entry| entry.short),
                trip_count: entry.map_or(TripCount::Unknown, |entry| trip_count(record, words, entry)),
                stack: true,
            };
            facts.launches.push(Some(launch));
        }
        self.record_refusals(&mut facts, allowed);
        Ok(facts)
    }

    /// Queries the properties of the devices. Returns the tuning constants of the first one.
    fn devices(&mut self, contexts: &Vector<Device, Arc<CudaContext>>) -> error::Result<Tuning> {
        // CUdevice_attribute: compute capability (75, 76), multiprocessors (16), registers per multiprocessor
        // (82).
        let mut tuning = Tuning::default();
        for (device, ctx) in contexts.enumerate() {
            let attribute = |attribute| self.driver.device_attribute(ctx, attribute);
            if device == Device::FIRST {
                tuning = Tuning::for_capability((attribute(75)?, attribute(76)?));
            }
            let (multiprocessors, registers) = (attribute(16)?, attribute(82)?);
            self.multiprocessors.push(multiprocessors);
            self.registers.push(registers);
        }
        Ok(tuning)
    }

    /// Returns the register counts of the kernels if they are assumed, which only the simulated driver does.
    pub fn assumed(&self) -> Vec<(&'static str, u32)> {
        if Simulator::get().is_none() {
            return Vec::new();
        }
        let registers = |&DeviceKernel { device, kernel }: &DeviceKernel| {
            Some((kernel.name, self.modules.loaded_info(device, kernel)?.registers))
        };
        self.kernels.iter().filter_map(registers).collect()
    }

    /// Returns the id of a kernel on a device. A batch is of one id, so of one kernel and one device.
    fn number(&mut self, device: Device, kernel: &'static Kernel) -> KernelId {
        let is = |other: &DeviceKernel| other.device == device && std::ptr::eq(other.kernel, kernel);
        let known = self.kernels.position(is);
        known.unwrap_or_else(|| self.kernels.push(DeviceKernel { device, kernel }))
    }

    pub(super) fn multiprocessors_of(&self, kernel: KernelId) -> u32 {
        self.multiprocessors.get(self.kernels[kernel].device).copied().unwrap_or(0)
    }

    /// Records the kernels whose launches cannot be changed, with the reasons.
    fn record_refusals(&self, facts: &mut LaunchFacts, allowed: Allowed) {
        let modules = &*self.modules;
        if let (Err(why), true, false) = (modules.programmatic(), allowed.overlap, self.kernels.is_empty()) {
            facts.left_alone.insert(LeftAlone::all(Change::EarlyStart, why));
        }
        for &DeviceKernel { device, kernel } in &self.kernels {
            // This kernel is the runtime's own, and too short to gain from a change.
            if std::ptr::eq(kernel, &ENTRY) {
                continue;
            }
            let Some(module) = modules.module(device, kernel) else { continue };
            let name = kernel.name;
            let left = |change, why: &dyn fmt::Display| {
                LeftAlone::one(NamedKernel::new(name, kernel.module.path()), change, why)
            };
            let Some(entry) = module.entry(kernel.entry) else {
                facts.left_alone.insert(left(Change::Any, &"the file is machine code"));
                continue;
            };
            if allowed.batches && kernel.takes_tables() {
                facts.left_alone.insert(left(Change::Batching, &"it takes a table of pointers"));
            } else if allowed.batches
                && let Some(Err(why)) = module.batching(kernel)
            {
                facts.left_alone.insert(left(Change::Batching, &why));
            }
            if allowed.overlap
                && modules.programmatic().is_ok()
                && let Err(why) = module.waiting(entry)
            {
                facts.left_alone.insert(left(Change::EarlyStart, &why));
            }
        }
    }

    /// Generates and loads variants, all of a module at once.
    fn make<'w>(&self, wanted: impl Iterator<Item = (KernelId, &'w VariantRequest)>) {
        let mut of_module: BTreeMap<(Device, usize), (KernelId, Vec<VariantRequest>)> = BTreeMap::new();
        for (kernel, wanted) in wanted {
            let launched = self.kernels[kernel];
            let module = std::ptr::from_ref(launched.kernel.module).addr();
            of_module.entry((launched.device, module)).or_insert((kernel, Vec::new())).1.push(wanted.clone());
        }
        for (kernel, list) in of_module.values() {
            let DeviceKernel { device, kernel } = self.kernels[*kernel];
            if let Some(module) = self.modules.module(device, kernel) {
                module.make_variants(list);
            }
        }
    }

    /// Returns the requirements of a batch.
    fn needs(&self, facts: &LaunchFacts, batch: &Batch) -> Option<(KernelId, BatchRequirements)> {
        let first = facts.launches[batch.members[0]].as_ref()?;
        let DeviceKernel { device, kernel } = self.kernels[first.kernel];
        let own = self.modules.loaded_info(device, kernel)?;
        let (threads, shared) = (first.block.iter().product(), first.shared);
        let wanted = VariantRequest::for_batch(kernel.entry, batch.members.len(), batch.axis, first.batch);
        // A setter may enlarge the grid arbitrarily.
        let launches = || batch.members.iter().filter_map(|&member| facts.launches[member].as_ref());
        let blocks: Blocks = launches().map(Launch::blocks).sum();
        let share = blocks.share(self.multiprocessors_of(first.kernel));
        let share = share.filter(|_| !launches().any(|launch| launch.grid_changes));
        let held = first.wave / self.multiprocessors_of(first.kernel).max(1);
        let alone = Resources { blocks: held, registers: own.registers, local: own.local };
        let members = batch.members.len();
        Some((first.kernel, BatchRequirements { wanted, own, members, threads, shared, alone, share }))
    }

    /// Loads a variant and checks it against the requirements. `free` is the number of registers that it uses
    /// without a limit.
    fn fit(
        &self,
        facts: &LaunchFacts,
        kernel: KernelId,
        needs: &BatchRequirements,
        wanted: &VariantRequest,
        free: Option<u32>,
    ) -> Result<FittedVariant, Unfit> {
        let DeviceKernel { device, kernel } = self.kernels[kernel];
        let module = self.modules.module(device, kernel);
        let variant = module.map_or_else(|| Err(NOT_LOADED.to_owned()), |module| module.variant(wanted));
        variant
            .map_err(Unfit::Refused)
            .and_then(|variant| needs.fit(self.driver, &facts.tuning, variant, free))
    }
}

/// The reason for not merging a kernel whose module is not loaded.
pub(super) const NOT_LOADED: &str = "it is not loaded";

impl Target for DeviceTarget<'_> {
    type Batched = BatchedVariant;
    type Fused = FusedKernel;

    fn batched(
        &mut self,
        facts: &LaunchFacts,
        batches: &Vector<BatchId, Batch>,
    ) -> Vec<Result<BatchedVariant, Unfit>> {
        let needs: Vec<Option<(KernelId, BatchRequirements)>> =
            batches.iter().map(|batch| self.needs(facts, batch)).collect();
        self.make(needs.iter().flatten().map(|(kernel, needs)| (*kernel, &needs.wanted)));
        let plain = |of: &Option<(KernelId, BatchRequirements)>| match of {
            Some((kernel, needs)) => self.fit(facts, *kernel, needs, &needs.wanted, None),
            None => Err(Unfit::Refused(NOT_LOADED.to_owned())),
        };
        let plain: Vec<Result<FittedVariant, Unfit>> = needs.iter().map(plain).collect();
        let limited = |(of, fit): (&Option<(KernelId, BatchRequirements)>, &Result<FittedVariant, Unfit>)| {
            let (kernel, needs) = of.as_ref()?;
            let registers = self.registers.get(self.kernels[*kernel].device).copied().unwrap_or(0);
            Some((*kernel, needs.limited(fit.as_ref().ok()?, registers)?))
        };
        let limited: Vec<Option<(KernelId, VariantRequest)>> =
            needs.iter().zip(&plain).map(limited).collect();
        self.make(limited.iter().flatten().map(|(kernel, wanted)| (*kernel, wanted)));
        let mut chosen = Vec::with_capacity(needs.len());
        for ((of, plain), limited) in needs.iter().zip(plain).zip(&limited) {
            let choose = |plain: FittedVariant| {
                let (kernel, needs) = of.as_ref().ok_or_else(|| Unfit::Refused(NOT_LOADED.to_owned()))?;
                let free = Some(plain.resources.registers);
                let limited =
                    limited.as_ref().map(|(_, wanted)| self.fit(facts, *kernel, needs, wanted, free));
                needs.choose(&facts.tuning, plain, limited)
            };
            chosen.push(plain.and_then(choose));
        }
        chosen
    }

    fn fused(
        &mut self,
        facts: &LaunchFacts,
        program: &Program,
        chains: &Vector<ChainId, Chain>,
        forward: bool,
    ) -> Vec<Result<FusedKernel, (KernelId, UnfitChain)>> {
        self.load_fused_kernels(facts, program, chains, forward)
    }

    fn in_registers(fused: &FusedKernel) -> Option<&Arc<ForwardingPlan>> {
        fused.forward.as_ref()
    }

    fn name(&self, kernel: KernelId) -> NamedKernel {
        let Kernel { name, module, .. } = self.kernels[kernel].kernel;
        NamedKernel::new(name, module.path())
    }
}

/// Returns a number that is unique to the statement.
fn number_of(statement: StatementId) -> u64 {
    u64::from(statement.as_u32())
}

/// Returns a bound on the loop iterations of a launch: the product of the scalars that bound them. A scalar of
/// 0, such as the start of a loop, counts as 1.
fn trip_count(launch: &LaunchRecord, words: &[Word], entry: &KernelEntry) -> TripCount {
    if entry.by_data {
        return TripCount::ByData;
    }
    let mut turns: Option<u64> = None;
    let mut at = size(launch.first);
    for (param, bounds) in launch.kernel.params.iter().zip(&entry.bounds_trips) {
        if *bounds && !(param.is_scalar() && param.dense && param.words() == 1) {
            return TripCount::Unknown;
        }
        if *bounds {
            turns = Some(turns.unwrap_or(1).saturating_mul(cuda::number(words[at]).max(1)));
        }
        at += param.words();
    }
    turns.map_or(TripCount::Unknown, TripCount::AtMost)
}

/// Returns the scalars that determine the kernel's trip counts. If they depend on data, or on a value that
/// cannot be compared, adds a number that is unique to the statement.
fn work(launch: &LaunchRecord, words: &[Word], entry: &KernelEntry, statement: StatementId) -> Vec<u64> {
    let mut values = Vec::new();
    if entry.by_data {
        values.push(number_of(statement));
    }
    let mut at = size(launch.first);
    for (param, influences) in launch.kernel.params.iter().zip(&entry.influences) {
        match influences {
            TripInfluence::No => {}
            TripInfluence::ByValue if param.is_scalar() && param.dense => {
                values.push(cuda::number(words[at]))
            }
            // The trip count depends on the memory at this address, which counts as data.
            TripInfluence::ByValue if !param.is_scalar() => {}
            // The padding of a structure has no defined value.
            TripInfluence::ByValue | TripInfluence::Unknown => values.push(number_of(statement)),
        }
        at += param.words();
    }
    values
}
