//! The properties of each launch of a graph, which launch decisions depend on, and the variants that a decision needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::ids::{KernelId, ScalarId};
use cuweave_core::index::{Vector, size};
use cuweave_core::ir::{Device, Program, StatementId};
use cuweave_core::launches::{Allowed, Batch, Batching, Blocks, Fusing, Launch, Resources, Tuning, Turns};
use cuweave_core::launches::{Change, LaunchShape, LeftAlone, NamedKernel, Unfit};
use cuweave_core::operation::BatchId;
use cuweave_core::table::Scalar;

use crate::cuda::{self, Context, Driver, Simulator, Word};
use crate::error::{Error, Result};

use super::declaration::Kernel;
use super::fitting::Needs;
use super::located::Located;
use super::modules::{ENTRY, Modules};
use super::record::LaunchRecord;
use super::text::{Deciding, Entry};
use super::variants::{Variant, Wanted};

/// The statements whose configuration a setter may change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changing {
    /// The grid.
    pub grids: Vector<StatementId, bool>,
    /// The block, or the shared memory.
    pub blocks: Vector<StatementId, bool>,
}

impl Changing {
    /// Collects the statements whose configuration a setter may change; a fixed scalar has no setter.
    pub fn of(scalars: &Vector<ScalarId, Scalar>, statements: usize) -> Changing {
        let none = Vector::filled(false, statements);
        let mut changing = Changing { grids: none.clone(), blocks: none };
        for scalar in scalars.iter().filter(|scalar| !scalar.fixed) {
            scalar.grids.iter().for_each(|&id| changing.grids[id] = true);
            scalar.blocks.iter().for_each(|&id| changing.blocks[id] = true);
        }
        changing
    }
}

/// The launches of a graph, with kernels numbered as the stage knows them.
pub(crate) struct Facts {
    /// An entry for each statement; `None` if the launch must stay as written.
    pub launches: Vector<StatementId, Option<Launch>>,
    /// The constants of the device.
    pub tuning: Tuning,
    /// The kernels, each once a device.
    pub(super) kernels: Vector<KernelId, (Device, &'static Kernel)>,
    /// The multiprocessors of each device.
    pub multiprocessors: Vector<Device, u32>,
    /// The registers of a multiprocessor of each device.
    registers: Vector<Device, u32>,
    /// The launches that are in no batch because each form of it would be slower, with the reasons.
    pub slower: BTreeMap<StatementId, Arc<Unfit>>,
    /// The launches that are in no chain because the fused kernel would be slower, with the reasons.
    pub slower_fused: BTreeMap<StatementId, String>,
    /// The launches whose chain is not stacked with others though it could be, with the reasons.
    pub unstacked: BTreeMap<StatementId, String>,
    /// The kernels that are launched as written, with the reasons.
    pub left_alone: BTreeSet<LeftAlone>,
    /// The launches that may be fused.
    pub(super) located: BTreeMap<StatementId, Located>,
}

/// Collects the properties of the launches, given an entry for each statement.
pub(crate) fn gather<'r>(
    (driver, contexts): (&Driver, &Vector<Device, Arc<CudaContext>>),
    program: &Program,
    (records, words): (impl ExactSizeIterator<Item = (StatementId, Option<&'r LaunchRecord>)>, &[Word]),
    changing: &Changing,
    modules: &mut Modules,
    allowed: Allowed,
) -> Result<Facts> {
    let mut facts = Facts::none();
    if allowed == Allowed::default() {
        return Ok(facts);
    }
    facts.devices(driver, contexts)?;
    let mut waves: BTreeMap<(KernelId, u32, u32), u32> = BTreeMap::new();
    facts.launches = Vector::with_capacity(records.len());
    for (statement, record) in records {
        let Some(record) = record else {
            facts.launches.push(None);
            continue;
        };
        let device = program.statements[statement].device;
        let kernel = facts.number(device, record.kernel);
        let LaunchShape { grid, block, shared } = record.shape;
        let threads = block.iter().product();
        let wave = match waves.get(&(kernel, threads, shared)) {
            Some(&wave) => wave,
            None => {
                driver.enter(Context::of(&contexts[device]))?;
                let blocks = driver.blocks_per_sm(record.function, threads, shared)?;
                *waves
                    .entry((kernel, threads, shared))
                    .or_insert(blocks.saturating_mul(facts.multiprocessors[device]))
            }
        };
        let module = modules.module(device, record.kernel);
        let entry = module.and_then(|module| module.entry(record.kernel.entry));
        let fixed = allowed.batches
            && !record.kernel.takes_tables()
            && !changing.blocks.get(statement).is_some_and(|&changes| changes);
        let batch = module.filter(|_| fixed).and_then(|module| module.batching(record.kernel.entry)?.ok());
        let launch = Launch {
            kernel,
            grid,
            block,
            shared,
            work: entry.map_or(vec![number_of(statement)], |entry| work(record, words, entry, statement)),
            wave,
            grid_changes: changing.grids.get(statement).is_some_and(|&changes| changes),
            batch: batch.unwrap_or(Batching::Never),
            waits: module.is_some_and(|module| module.waits(record.kernel.entry)),
            lanes: true,
            fuse: Fusing::Never,
            short: entry.is_some_and(|entry| entry.short),
            turns: entry.map_or(Turns::Unknown, |entry| turns(record, words, entry)),
            stack: true,
        };
        facts.launches.push(Some(launch));
    }
    facts.refusals(modules, allowed);
    Ok(facts)
}

impl Facts {
    /// Queries the properties of the devices.
    fn devices(&mut self, driver: &Driver, contexts: &Vector<Device, Arc<CudaContext>>) -> Result<()> {
        // CUdevice_attribute: compute capability, major and minor, multiprocessors, and registers of each
        for (device, ctx) in contexts.enumerate() {
            if device == Device::FIRST {
                let capability = (driver.device_attribute(ctx, 75)?, driver.device_attribute(ctx, 76)?);
                self.tuning = Tuning::of(capability);
            }
            self.multiprocessors.push(driver.device_attribute(ctx, 16)?);
            self.registers.push(driver.device_attribute(ctx, 82)?);
        }
        Ok(())
    }

    /// Returns facts without launches, for a reason: all launches stay as written.
    pub fn unknown(why: &Error) -> Facts {
        let left_alone = BTreeSet::from([LeftAlone::all(Change::Any, why)]);
        Facts { left_alone, ..Facts::none() }
    }

    fn none() -> Facts {
        Facts {
            launches: Vector::new(),
            tuning: Tuning::default(),
            kernels: Vector::new(),
            multiprocessors: Vector::new(),
            registers: Vector::new(),
            slower: BTreeMap::new(),
            slower_fused: BTreeMap::new(),
            unstacked: BTreeMap::new(),
            left_alone: BTreeSet::new(),
            located: BTreeMap::new(),
        }
    }

    /// Returns the registers of the kernels, if the driver assumes them: a simulated one.
    pub fn assumed(&self, modules: &Modules) -> Vec<(&'static str, u32)> {
        if Simulator::get().is_none() {
            return Vec::new();
        }
        let registers = |&(device, kernel): &(Device, &'static Kernel)| {
            Some((kernel.name, modules.loaded_info(device, kernel)?.registers))
        };
        self.kernels.iter().filter_map(registers).collect()
    }

    /// Returns the number of a kernel on a device. No batch is of two kernels, so none is of two devices.
    fn number(&mut self, device: Device, kernel: &'static Kernel) -> KernelId {
        let is = |&(on, other): &(Device, &'static Kernel)| on == device && std::ptr::eq(other, kernel);
        let known = self.kernels.position(is);
        known.unwrap_or_else(|| self.kernels.push((device, kernel)))
    }

    /// Returns the device's number of multiprocessors.
    pub(super) fn multiprocessors_of(&self, kernel: KernelId) -> u32 {
        self.multiprocessors.get(self.kernels[kernel].0).copied().unwrap_or(0)
    }

    /// Records the kernels whose launches cannot be changed, with the reasons.
    fn refusals(&mut self, modules: &Modules, allowed: Allowed) {
        if let (Err(why), true, false) = (modules.programmatic(), allowed.overlap, self.kernels.is_empty()) {
            self.left_alone.insert(LeftAlone::all(Change::EarlyStart, why));
        }
        for &(device, kernel) in &self.kernels {
            // It is not the user's, and too short to gain by it.
            if std::ptr::eq(kernel, &ENTRY) {
                continue;
            }
            let Some(module) = modules.module(device, kernel) else { continue };
            let name = kernel.name;
            let left = |change, why: &dyn fmt::Display| {
                LeftAlone::one(NamedKernel::new(name, kernel.module.path()), change, why)
            };
            let Some(entry) = module.entry(kernel.entry) else {
                self.left_alone.insert(left(Change::Any, &"the file is machine code"));
                continue;
            };
            if allowed.batches && kernel.takes_tables() {
                self.left_alone.insert(left(Change::Batching, &"it is given a table of pointers"));
            } else if allowed.batches
                && let Some(Err(why)) = module.batching(name)
            {
                self.left_alone.insert(left(Change::Batching, &why));
            }
            if allowed.overlap
                && modules.programmatic().is_ok()
                && let Err(why) = module.waiting(entry)
            {
                self.left_alone.insert(left(Change::EarlyStart, &why));
            }
        }
    }

    /// Disables batching of a batch's members, because no variant can run it. A variant that cannot be made disables it for all launches of
    /// the kernel.
    fn disable_batching(&mut self, kernel: KernelId, batch: &Batch, why: Unfit) {
        let why = match why {
            Unfit::Refused(why) => {
                let (_, Kernel { name, module, .. }) = self.kernels[kernel];
                self.left_alone.insert(LeftAlone::one(
                    NamedKernel::new(name, module.path()),
                    Change::Batching,
                    why,
                ));
                for launch in self.launches.iter_mut().flatten().filter(|launch| launch.kernel == kernel) {
                    launch.batch = Batching::Never;
                }
                return;
            }
            Unfit::Slower { .. } => Arc::new(why),
        };
        for &member in &batch.members {
            if let Some(launch) = &mut self.launches[member] {
                launch.batch = Batching::Never;
                self.slower.insert(member, why.clone());
            }
        }
    }

    /// Loads the variants of the batches. Returns `None` if one cannot be used: batching of its members is disabled, and the
    /// decision must be made again.
    pub fn variants(
        &mut self,
        (driver, modules): (&Driver, &mut Modules),
        batches: &Vector<BatchId, Batch>,
    ) -> Option<Vector<BatchId, Variant>> {
        let needs: Vec<(KernelId, Needs)> =
            batches.iter().filter_map(|batch| self.needs(modules, batch)).collect();
        self.make(modules, needs.iter().map(|(kernel, needs)| (*kernel, &needs.wanted)));
        let fit = |facts: &Facts, kernel: KernelId, (needs, free): (&Needs, _), wanted: &Wanted| {
            let (device, kernel) = facts.kernels[kernel];
            let module = modules.module(device, kernel);
            let variant = module.map_or(Err("it is not loaded".to_owned()), |module| module.variant(wanted));
            variant
                .map_err(Unfit::Refused)
                .and_then(|variant| needs.fit(driver, &facts.tuning, (variant, free)))
        };
        let plain: Vec<_> =
            needs.iter().map(|(kernel, needs)| fit(self, *kernel, (needs, None), &needs.wanted)).collect();
        let limited: Vec<Option<Wanted>> = needs
            .iter()
            .zip(&plain)
            .map(|((kernel, needs), fit)| {
                let registers = self.registers.get(self.kernels[*kernel].0).copied().unwrap_or(0);
                needs.limited(fit.as_ref().ok()?, registers)
            })
            .collect();
        let more =
            needs.iter().zip(&limited).filter_map(|((kernel, _), wanted)| Some((*kernel, wanted.as_ref()?)));
        self.make(modules, more);
        let mut variants: Vector<BatchId, Variant> = Vector::with_capacity(batches.len());
        let mut useless = Vec::new();
        for ((((kernel, needs), plain), limited), batch) in needs.iter().zip(plain).zip(&limited).zip(batches)
        {
            let free = plain.as_ref().ok().map(|fit| fit.resources.registers);
            let limited = limited.as_ref().map(|wanted| fit(self, *kernel, (needs, free), wanted));
            match needs.choose(&self.tuning, plain, limited) {
                Ok(variant) => drop(variants.push(variant)),
                Err(why) => useless.push((*kernel, batch, why)),
            }
        }
        let usable = useless.is_empty() && variants.len() == batches.len();
        useless.into_iter().for_each(|(kernel, batch, why)| self.disable_batching(kernel, batch, why));
        usable.then_some(variants)
    }

    /// Loads variants, those of a module together.
    fn make<'w>(&self, modules: &Modules, wanted: impl Iterator<Item = (KernelId, &'w Wanted)>) {
        let mut of_module: BTreeMap<(Device, usize), (KernelId, Vec<Wanted>)> = BTreeMap::new();
        for (kernel, wanted) in wanted {
            let (device, launched) = self.kernels[kernel];
            let module = std::ptr::from_ref(launched.module).addr();
            of_module.entry((device, module)).or_insert((kernel, Vec::new())).1.push(wanted.clone());
        }
        for (kernel, list) in of_module.values() {
            let (device, kernel) = self.kernels[*kernel];
            if let Some(module) = modules.module(device, kernel) {
                module.make_variants(list);
            }
        }
    }

    /// Returns the needs of a batch.
    fn needs(&self, modules: &Modules, batch: &Batch) -> Option<(KernelId, Needs)> {
        let first = self.launches[batch.members[0]].as_ref()?;
        let (device, kernel) = self.kernels[first.kernel];
        let own = modules.loaded_info(device, kernel)?;
        let (threads, shared) = (first.block.iter().product(), first.shared);
        let wanted = Wanted::of(kernel.entry, batch.members.len(), batch.axis, first.batch);
        // A setter may make the grid as large as it likes.
        let launches = || batch.members.iter().filter_map(|&member| self.launches[member].as_ref());
        let blocks: Blocks = launches().map(Launch::blocks).sum();
        let share = blocks.share(self.multiprocessors_of(first.kernel));
        let share = share.filter(|_| !launches().any(|launch| launch.grid_changes));
        let held = first.wave / self.multiprocessors_of(first.kernel).max(1);
        let alone = Resources { blocks: held, registers: own.registers, local: own.local };
        let members = batch.members.len();
        Some((first.kernel, Needs { wanted, own, members, threads, shared, alone, share }))
    }
}

/// Returns a number that no other statement has.
fn number_of(statement: StatementId) -> u64 {
    u64::from(statement.as_u32())
}

/// Returns a bound on the turns of a launch's loops: the product of the scalars that bound them. One that is 0, such as the begin of a loop,
/// counts as 1.
fn turns(launch: &LaunchRecord, words: &[Word], entry: &Entry) -> Turns {
    if entry.by_data {
        return Turns::ByData;
    }
    let mut turns: Option<u64> = None;
    let mut at = size(launch.first);
    for (param, bounds) in launch.kernel.params.iter().zip(&entry.turns) {
        if *bounds && !(param.is_scalar() && param.dense && param.words() == 1) {
            return Turns::Unknown;
        }
        if *bounds {
            turns = Some(turns.unwrap_or(1).saturating_mul(cuda::number(words[at]).max(1)));
        }
        at += param.words();
    }
    turns.map_or(Turns::Unknown, Turns::AtMost)
}

/// Returns the values of the scalars that decide on the kernel's trip counts. For a launch whose trip counts depend on
/// data, or on a value that cannot be compared, the value is unique.
fn work(launch: &LaunchRecord, words: &[Word], entry: &Entry, statement: StatementId) -> Vec<u64> {
    let mut values = Vec::new();
    if entry.by_data {
        values.push(number_of(statement));
    }
    let mut at = size(launch.first);
    for (param, deciding) in launch.kernel.params.iter().zip(&entry.deciding) {
        match deciding {
            Deciding::No => {}
            Deciding::ByValue if param.is_scalar() && param.dense => values.push(cuda::number(words[at])),
            // An address: the trip count depends on the memory behind it, which is data.
            Deciding::ByValue if !param.is_scalar() => {}
            // The padding of a structure has no defined value.
            Deciding::ByValue | Deciding::Unknown => values.push(number_of(statement)),
        }
        at += param.words();
    }
    values
}
