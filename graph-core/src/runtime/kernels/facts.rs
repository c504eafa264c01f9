//! The properties of each launch of a graph, which launch decisions depend on, and the variants that a decision needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use cudarc::driver::CudaContext;

use crate::ids::{KernelId, ScalarId};
use crate::index::{Vector, size};
use crate::ir::StatementId;
use crate::launches::{Allowed, Batch, Batching, Fusing, Launch, Tuning};
use crate::operation::BatchId;
use crate::table::Scalar;

use crate::runtime::cuda::{self, Driver, Word};
use crate::runtime::error::{Error, Result};

use super::declaration::Kernel;
use super::function::FunctionInfo;
use super::left_alone::{Change, LeftAlone};
use super::modules::Modules;
use super::record::LaunchRecord;
use super::shape::Shape;
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
    /// The multiprocessors of the device.
    pub multiprocessors: u32,
    pub(super) kernels: Vector<KernelId, &'static Kernel>,
    /// The kernels that are launched as written, with the reasons.
    pub left_alone: BTreeSet<LeftAlone>,
}

/// Collects the properties of the launches, given an entry for each statement.
pub(crate) fn gather<'r>(
    (driver, ctx): (&Driver, &CudaContext),
    (records, words): (impl ExactSizeIterator<Item = (StatementId, Option<&'r LaunchRecord>)>, &[Word]),
    changing: &Changing,
    modules: &mut Modules,
    allowed: Allowed,
) -> Result<Facts> {
    let mut facts = Facts::none();
    if allowed == Allowed::default() {
        return Ok(facts);
    }
    // CUdevice_attribute: compute capability, major and minor, and multiprocessors
    facts.tuning = Tuning::of((driver.device_attribute(ctx, 75)?, driver.device_attribute(ctx, 76)?));
    let multiprocessors = driver.device_attribute(ctx, 16)?;
    facts.multiprocessors = multiprocessors;
    let mut waves: BTreeMap<(KernelId, u32, u32), u32> = BTreeMap::new();
    facts.launches = Vector::with_capacity(records.len());
    for (statement, record) in records {
        let Some(record) = record else {
            facts.launches.push(None);
            continue;
        };
        let kernel = facts.number(record.kernel);
        let Shape { grid, block, shared } = record.shape;
        let threads = block.iter().product();
        let wave = match waves.get(&(kernel, threads, shared)) {
            Some(&wave) => wave,
            None => {
                let blocks = driver.blocks_per_sm(record.function, threads, shared)?;
                *waves.entry((kernel, threads, shared)).or_insert(blocks.saturating_mul(multiprocessors))
            }
        };
        let module = modules.module(record.kernel);
        let entry = module.and_then(|module| module.entry(record.kernel.name));
        let fixed = allowed.batches && !changing.blocks.get(statement).is_some_and(|&changes| changes);
        let batch = module.filter(|_| fixed).and_then(|module| module.batching(record.kernel.name)?.ok());
        let launch = Launch {
            kernel,
            grid,
            block,
            shared,
            work: entry.map_or(vec![number_of(statement)], |entry| work(record, words, entry, statement)),
            wave,
            grid_changes: changing.grids.get(statement).is_some_and(|&changes| changes),
            batch: batch.unwrap_or(Batching::Never),
            waits: module.is_some_and(|module| module.waits(record.kernel.name)),
            lanes: true,
            fuse: Fusing::Never,
        };
        facts.launches.push(Some(launch));
    }
    facts.refusals(modules, allowed);
    Ok(facts)
}

impl Facts {
    /// Returns facts without launches, for a reason: all launches stay as written.
    pub fn unknown(why: &Error) -> Facts {
        let left_alone = BTreeSet::from([LeftAlone::all(Change::Any, why)]);
        Facts { left_alone, ..Facts::none() }
    }

    fn none() -> Facts {
        Facts {
            launches: Vector::new(),
            tuning: Tuning::default(),
            multiprocessors: 0,
            kernels: Vector::new(),
            left_alone: BTreeSet::new(),
        }
    }

    fn number(&mut self, kernel: &'static Kernel) -> KernelId {
        let known = self.kernels.position(|&other| std::ptr::eq(other, kernel));
        known.unwrap_or_else(|| self.kernels.push(kernel))
    }

    /// Records the kernels whose launches cannot be changed, with the reasons.
    fn refusals(&mut self, modules: &Modules, allowed: Allowed) {
        if let (Err(why), true, false) = (modules.programmatic(), allowed.overlap, self.kernels.is_empty()) {
            self.left_alone.insert(LeftAlone::all(Change::EarlyStart, why));
        }
        for kernel in &self.kernels {
            let Some(module) = modules.module(kernel) else { continue };
            let name = kernel.name;
            let left =
                |change, why: &dyn fmt::Display| LeftAlone::one((name, kernel.module.path()), change, why);
            let Some(entry) = module.entry(name) else {
                self.left_alone.insert(left(Change::Any, &"the file is machine code"));
                continue;
            };
            if allowed.batches
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

    /// Disables batching of a kernel's launches because one of its variants cannot be used.
    fn disable_batching(&mut self, kernel: KernelId, why: &str) {
        let Kernel { name, module, .. } = self.kernels[kernel];
        self.left_alone.insert(LeftAlone::one((name, module.path()), Change::Batching, why));
        for launch in self.launches.iter_mut().flatten().filter(|launch| launch.kernel == kernel) {
            launch.batch = Batching::Never;
        }
    }

    /// Loads the variants of the batches. Returns `None` if one cannot be used: batching of its kernel is disabled, and the
    /// decision must be made again.
    pub fn variants(
        &mut self,
        (driver, modules): (&Driver, &mut Modules),
        batches: &Vector<BatchId, Batch>,
    ) -> Option<Vector<BatchId, Variant>> {
        let wanted: Vec<(KernelId, Wanted)> = batches.iter().filter_map(|batch| self.wanted(batch)).collect();
        let mut of_module: BTreeMap<usize, Vec<(KernelId, Wanted)>> = BTreeMap::new();
        for (kernel, wanted) in &wanted {
            let module = std::ptr::from_ref(self.kernels[*kernel].module).addr();
            of_module.entry(module).or_default().push((*kernel, wanted.clone()));
        }
        for list in of_module.values() {
            let module = list.first().and_then(|(kernel, _)| modules.module(self.kernels[*kernel]));
            if let Some(module) = module {
                let list: Vec<Wanted> = list.iter().map(|(_, wanted)| wanted.clone()).collect();
                module.make_variants(&list);
            }
        }
        let mut variants: Vector<BatchId, Variant> = Vector::with_capacity(batches.len());
        let mut useless = Vec::new();
        for ((kernel, wanted), batch) in wanted.iter().zip(batches) {
            let module = modules.module(self.kernels[*kernel]);
            let own = modules.loaded_info(self.kernels[*kernel]);
            let first = self.launches[batch.members[0]].as_ref();
            let made = match (module, own, first) {
                (Some(module), Some(own), Some(launch)) => module.variant(wanted).and_then(|variant| {
                    serves(driver, &own, &variant.info, (launch.block.iter().product(), launch.shared))
                        .map(|()| variant)
                }),
                _ => Err("it is not loaded".to_owned()),
            };
            match made {
                Ok(variant) => {
                    variants.push(variant);
                }
                Err(why) => useless.push((*kernel, why)),
            }
        }
        useless.iter().for_each(|(kernel, why)| self.disable_batching(*kernel, why));
        (useless.is_empty() && variants.len() == batches.len()).then_some(variants)
    }

    fn wanted(&self, batch: &Batch) -> Option<(KernelId, Wanted)> {
        let launch = self.launches[batch.members[0]].as_ref()?;
        let name = self.kernels[launch.kernel].name;
        Some((launch.kernel, Wanted::of(name, batch.members.len(), batch.axis, launch.batch)))
    }
}

/// Checks that a variant supports the launch, needs no more local memory than the kernel, and has its occupancy. The error
/// is the reason that it cannot be used.
pub(crate) fn serves(
    driver: &Driver,
    own: &FunctionInfo,
    variant: &FunctionInfo,
    (threads, shared): (u32, u32),
) -> std::result::Result<(), String> {
    let failed = |failure| Error::from(failure).to_string();
    if variant.most_threads < threads {
        let most = variant.most_threads;
        return Err(format!("many launches in one take blocks of {most} threads at most, not of {threads}"));
    }
    if variant.local > own.local {
        let (more, bytes) = (variant.local, own.local);
        return Err(format!(
            "many launches in one need {more} bytes of local memory a thread, the kernel alone {bytes}"
        ));
    }
    driver.copy_attributes(own.function, variant.function).map_err(failed)?;
    let blocks = |function| driver.blocks_per_sm(function, threads, shared).map_err(failed);
    let (of_variant, of_kernel) = (blocks(variant.function)?, blocks(own.function)?);
    if of_variant < of_kernel {
        return Err(format!(
            "of many launches in one a multiprocessor holds {of_variant} blocks, of the kernel alone {of_kernel}"
        ));
    }
    Ok(())
}

/// Returns a number that no other statement has.
fn number_of(statement: StatementId) -> u64 {
    u64::from(statement.as_u32())
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
