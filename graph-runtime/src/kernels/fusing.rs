//! Fused kernels: finds the bytes that each block of a launch accesses, and generates and loads the fused
//! kernels of chains. Each is in a module of its own, made on first request. Only kernels that use no written
//! module variable are fused, so no state is duplicated.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use cuweave_core::compile::LaunchFacts;
use cuweave_core::ids::{Device, KernelId};
use cuweave_core::index::{Vector, narrow, size, wide};
use cuweave_core::ir::{Program, StatementId};
use cuweave_core::launches::{
    BlockFootprint, Blocks, Chain, Change, Fusing, Launch, LeftAlone, NamedKernel, RangedLaunch, UnfitChain,
};
use cuweave_core::operation::ChainId;
use cuweave_ptx as ptx;
use cuweave_ptx::coverage::{
    self, AccessSites, BackwardSlice, ForwardingPlan, RangedInputs, RangedValue, Region,
};
use cuweave_ptx::rewrite::{self, Fusion};

use crate::cuda::{self, Driver, Word};
use crate::error::{Error, load_failure_line};

use super::batched::STATE;
use super::code;
use super::coverage::SharedCache;
use super::declaration::Kernel;
use super::facts::{DeviceKernel, DeviceTarget, NOT_LOADED};
use super::forwarding::users;
use super::function::{FunctionInfo, MAX_DYNAMIC_SHARED_SIZE_BYTES};
use super::located::{LocatedLaunch, OutlinedKernel};
use super::module::LoadedModule;
use super::record::LaunchRecord;
use super::variants::{FusedKernel, FusionRequest, grid_shape};

/// The accesses of launches, keyed by the kernel, the configuration, the scalars and the ranged values.
static FOOTPRINTS: SharedCache<Vec<u64>, Footprint> = SharedCache::new();

/// The parameters of a launch that setters may change.
pub(crate) struct SetParameters<'p> {
    /// Returns true for such a parameter.
    pub is_set: &'p dyn Fn(u32) -> bool,
    /// Those of them that have ranges.
    pub ranged: &'p [(u32, RangedValue)],
}

#[derive(Clone)]
struct Footprint {
    /// The bytes that each block reads and writes. Two entries for each buffer.
    regions: Arc<[Arc<Region>]>,
    /// The loads and stores of each thread.
    sites: Arc<AccessSites>,
}

impl LoadedModule {
    /// Outlines the accesses of kernels. One analysis of the file serves all that are not outlined yet.
    fn outline(&self, kernels: &[&'static Kernel]) {
        let Some(module) = self.parsed() else { return };
        let mut analysis = None;
        for kernel in kernels {
            let Some(entry) =
                self.entry(kernel.entry).filter(|_| kernel.absent == 0 && !kernel.takes_tables())
            else {
                continue;
            };
            entry.fusing.get_or_init(|| {
                if kernel.shares_state() {
                    return Err(STATE.to_owned());
                }
                let facts = rewrite::fusible(module, kernel.entry).map_err(|why| why.to_string())?;
                let pointers: Vec<bool> = kernel.params.iter().map(|param| !param.is_scalar()).collect();
                let number = |parameter: &ptx::Parameter<'_>| {
                    matches!(parameter.class(), ptx::TypeClass::Integer | ptx::TypeClass::Bits)
                        && parameter.size() <= 8
                };
                let parameters = module.entry(kernel.entry).map_or(&[][..], |entry| &entry.parameters);
                let scalars: Vec<bool> =
                    parameters.iter().zip(&pointers).map(|(one, pointer)| !pointer && number(one)).collect();
                let analysis = analysis.get_or_insert_with(|| ptx::Analysis::new(module));
                let taken = ptx::ParameterKinds {
                    pointers: &pointers,
                    never_null: &pointers,
                    scalars: &scalars,
                    ..ptx::ParameterKinds::default()
                };
                let outline = analysis.slice_accesses(kernel.entry, taken);
                Ok(Arc::new(OutlinedKernel { outline, facts }))
            });
        }
    }

    /// Returns the outline of a kernel's accesses, or the reason that the kernel cannot be fused. `None` for
    /// machine code.
    fn fusing(&self, kernel: &'static Kernel) -> Option<Result<Arc<OutlinedKernel>, String>> {
        let entry = self.entry(kernel.entry)?;
        if kernel.absent != 0 {
            return Some(Err("a launch of it omits an optional buffer".to_owned()));
        }
        if kernel.takes_tables() {
            return Some(Err("it takes a table of pointers".to_owned()));
        }
        if entry.fusing.get().is_none() {
            self.outline(&[kernel]);
        }
        entry.fusing.get().cloned()
    }

    /// Returns a fused kernel whose first part is in this module. Loads it if needed.
    fn fused(
        &self,
        wanted: FusionRequest,
        parts: &[(&ptx::Module<'_>, &str)],
    ) -> Result<FusedKernel, String> {
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, made)) = variants.fused.iter().find(|(made, _)| *made == wanted) {
            return made.clone();
        }
        let made = self.load_fused(&wanted, parts).map(|(raw, made)| {
            variants.modules.push(raw);
            made
        });
        variants.fused.push((wanted, made.clone()));
        made
    }

    fn load_fused(
        &self,
        wanted: &FusionRequest,
        parts: &[(&ptx::Module<'_>, &str)],
    ) -> Result<(cuda::RawModule, FusedKernel), String> {
        let FusionRequest { block, waits, ref forward, stack, .. } = *wanted;
        let mut name =
            rewrite::combined_name("cuweave_fused", parts.iter().map(|(_, entry)| *entry), parts.len());
        while parts.iter().any(|(module, _)| module.text.contains(&name)) {
            name.push('_');
        }
        let fusion = Fusion { parts, name: &name, block, waits, forward: forward.as_deref() };
        let (text, table, stack) = match stack {
            None => rewrite::fused(&fusion).map(|(text, table)| (text, table, None)),
            Some((capacity, shape)) => rewrite::stacked(&fusion, capacity, shape)
                .map(|(text, table)| (text, table.parts.clone(), Some(Arc::new(table)))),
        }
        .map_err(|why| why.to_string())?;
        let raw = code::load(self.driver, self.context(), &text).map_err(|(failure, log)| {
            format!("the driver rejects the fused kernel: {}", load_failure_line(failure, &log))
        })?;
        let failed = |failure| Error::from(failure).to_string();
        let loaded = self.driver.function(raw, &name).map_err(failed).and_then(|function| {
            let function = function.ok_or("the driver does not find the fused kernel")?;
            let info = FunctionInfo::query(self.driver, function, None).map_err(failed)?;
            Ok(FusedKernel { info, table: Arc::new(table), stack, forward: forward.clone() })
        });
        match loaded {
            Ok(made) => Ok((raw, made)),
            Err(why) => {
                let _ = self.driver.unload_module(raw);
                Err(why)
            }
        }
    }
}

impl DeviceTarget<'_> {
    /// Outlines the accesses of kernels, so that their launches can be located.
    pub fn outline(&self, kernels: &[DeviceKernel]) {
        let mut of_module: BTreeMap<(Device, usize), Vec<&'static Kernel>> = BTreeMap::new();
        for &DeviceKernel { device, kernel } in kernels {
            let list = of_module.entry((device, std::ptr::from_ref(kernel.module).addr())).or_default();
            if !list.iter().any(|other| std::ptr::eq(*other, kernel)) {
                list.push(kernel);
            }
        }
        for ((device, _), list) in &of_module {
            if let Some(module) = self.modules.module(*device, list[0]) {
                module.outline(list);
            }
        }
    }

    /// Records what the blocks of a launch access, so that it can be a member of a chain. `offsets` has the
    /// byte offset of each pointer in its buffer.
    pub fn locate(
        &mut self,
        facts: &mut LaunchFacts,
        statement: StatementId,
        launch: &LaunchRecord,
        words: &[Word],
        offsets: Vec<Option<u64>>,
        set: &SetParameters<'_>,
    ) {
        let kernel = launch.kernel;
        let Some(device) = facts.launches[statement].as_ref().map(|known| self.kernels[known.kernel].device)
        else {
            return;
        };
        let Some(found) = self.modules.module(device, kernel).and_then(|module| module.fusing(kernel)) else {
            return;
        };
        let of = match found {
            Ok(outlined) => outlined,
            Err(why) => {
                let left =
                    LeftAlone::one(NamedKernel::new(kernel.name, kernel.module.path()), Change::Fusing, why);
                facts.left_alone.insert(left);
                return;
            }
        };
        let read = of.outline.scalars();
        let mut ranged = facts.launches[statement]
            .as_ref()
            .map_or_else(RangedLaunch::default, |launch| (*launch.ranged).clone());
        ranged.scalars =
            set.ranged.iter().filter(|(at, _)| read.binary_search(at).is_ok()).copied().collect();
        let Footprint { regions, sites } = footprint(&of.outline, launch, words, set.is_set, &ranged);
        let footings = (regions.len() == 2 * offsets.len()).then(|| {
            let pairs = regions.chunks_exact(2).zip(&offsets);
            let footing = |(pair, at): (&[Arc<Region>], &Option<u64>)| BlockFootprint {
                at: *at,
                reads: pair[0].clone(),
                writes: pair[1].clone(),
            };
            pairs.map(footing).collect()
        });
        let fuse = match launch.shape.grid {
            [1, 1, 1] => Some(footings.clone().unwrap_or_default()),
            _ => footings.clone(),
        };
        if let (Some(fuse), Some(launch)) = (fuse, &mut facts.launches[statement]) {
            launch.fuse = Fusing::With(fuse);
            launch.ranged = Arc::new(ranged);
            if footings.is_some() {
                self.located.insert(statement, LocatedLaunch { of, sites, offsets });
            }
        }
    }

    /// Loads the fused kernels of chains. Implements [`Target::fused`](cuweave_core::compile::Target::fused).
    pub(super) fn load_fused_kernels(
        &self,
        facts: &LaunchFacts,
        program: &Program,
        chains: &Vector<ChainId, Chain>,
        forwards: bool,
    ) -> Vec<Result<FusedKernel, (KernelId, UnfitChain)>> {
        let users = forwards.then(|| users(program, chains));
        let fused = |chain: &Chain| {
            let forward = users.as_ref().and_then(|users| self.forward(facts, program, users, chain));
            self.load_fused_kernel(facts, chain, forward)
        };
        chains.iter().map(fused).collect()
    }

    /// Returns the fused kernel of a chain, or the kernel that must not be fused, with the reason. If the
    /// kernel with elements in registers cannot be used, falls back to the one through memory.
    fn load_fused_kernel(
        &self,
        facts: &LaunchFacts,
        chain: &Chain,
        forward: Option<Arc<ForwardingPlan>>,
    ) -> Result<FusedKernel, (KernelId, UnfitChain)> {
        let of = |members: &[StatementId]| -> Vec<&Launch> {
            members.iter().filter_map(|&id| facts.launches[id].as_ref()).collect()
        };
        let launches = chain.chains().next().map_or_else(Vec::new, of);
        let Some(&first) = launches.first() else {
            return Err((KernelId::from_u32(0), UnfitChain::Refused("it is not launched".to_owned())));
        };
        let (driver, modules) = (self.driver, &*self.modules);
        let device = self.kernels[first.kernel].device;
        let kernels: Vec<&'static Kernel> =
            launches.iter().map(|launch| self.kernels[launch.kernel].kernel).collect();
        let infos: Vec<FunctionInfo> =
            kernels.iter().filter_map(|kernel| modules.loaded_info(device, kernel)).collect();
        // Blame the kernel that needs the most resources.
        let by_need = launches.iter().zip(&infos).max_by_key(|(_, info)| (info.local, info.registers));
        let largest = by_need.map_or(first.kernel, |(launch, _)| launch.kernel);
        let refused = |why: UnfitChain| (largest, why);
        let loaded: Vec<&Arc<LoadedModule>> =
            kernels.iter().filter_map(|kernel| modules.module(device, kernel)).collect();
        let parts: Vec<(&ptx::Module<'_>, &str)> = loaded
            .iter()
            .zip(&kernels)
            .filter_map(|(module, kernel)| Some((module.parsed()?, kernel.entry)))
            .collect();
        let Some(module) = loaded.first().filter(|_| parts.len() == kernels.len()) else {
            return Err(refused(UnfitChain::Refused(NOT_LOADED.to_owned())));
        };
        let waits = launches.iter().all(|launch| launch.waits);
        let threads: u32 = first.block.iter().product();
        let shared = launches.iter().map(|launch| launch.shared).max().unwrap_or(0);
        let blocks: Blocks = chain.chains().flat_map(of).step_by(chain.length()).map(Launch::blocks).sum();
        let needed = blocks.max_per_multiprocessor(self.multiprocessors_of(first.kernel));
        let parts_of = kernels.iter().map(|&kernel| std::ptr::from_ref(kernel).addr()).collect();
        let stack = chain.stack.map(|stack| (narrow(stack.chains), grid_shape(stack.axis)));
        let wanted = FusionRequest { parts: parts_of, block: first.block, waits, forward, stack };
        let made = |wanted: FusionRequest| {
            let fused = module.fused(wanted, &parts).map_err(UnfitChain::Refused)?;
            check_resources(driver, &infos, &fused.info, threads, shared, needed)?;
            Ok(fused)
        };
        if wanted.forward.is_some()
            && let Ok::<FusedKernel, UnfitChain>(fused) = made(wanted.clone())
        {
            return Ok(fused);
        }
        made(FusionRequest { forward: None, ..wanted }).map_err(refused)
    }
}

/// Checks that a fused kernel supports the launch, needs no more local memory than its largest part, and keeps
/// the occupancy of each part, or the one that its grid needs. Returns the reason if not.
fn check_resources(
    driver: &Driver,
    parts: &[FunctionInfo],
    fused: &FunctionInfo,
    threads: u32,
    shared: u32,
    needed: u32,
) -> Result<(), UnfitChain> {
    let failed = |failure| UnfitChain::Refused(Error::from(failure).to_string());
    if fused.max_threads < threads {
        let most = fused.max_threads;
        return Err(UnfitChain::Refused(format!(
            "the fused kernel supports blocks of up to {most} threads, not {threads}"
        )));
    }
    let local = parts.iter().map(|part| part.local).max().unwrap_or(0);
    if fused.local > local {
        let bytes = fused.local;
        return Err(UnfitChain::Slower(format!(
            "the fused kernel needs {bytes} bytes of local memory a thread, the largest of its parts {local}"
        )));
    }
    if shared > fused.dynamic_shared {
        let raised = driver.set_function_attribute(fused.function, MAX_DYNAMIC_SHARED_SIZE_BYTES, shared);
        raised.map_err(failed)?;
    }
    let blocks = |function| driver.blocks_per_sm(function, threads, shared).map_err(failed);
    let of_fused = blocks(fused.function)?;
    for part in parts {
        let of_part = blocks(part.function)?.min(needed);
        if of_fused < of_part {
            let FunctionInfo { registers, shared: own, .. } = fused;
            let bytes = own.saturating_add(shared);
            return Err(UnfitChain::Slower(format!(
                "a multiprocessor holds {of_fused} blocks of the fused kernel, but {of_part} are needed: it \
                takes {registers} registers a thread and {bytes} bytes of shared memory"
            )));
        }
    }
    Ok(())
}

/// Returns the accesses of a launch, for all values of `ranged`.
fn footprint(
    outline: &BackwardSlice,
    launch: &LaunchRecord,
    words: &[Word],
    is_set: &dyn Fn(u32) -> bool,
    ranged: &RangedLaunch,
) -> Footprint {
    let scalar = |parameter: u32| -> Option<u64> {
        let parameter = Some(parameter).filter(|&parameter| !is_set(parameter))?;
        launch.scalar(words, size(parameter))
    };
    let shape = launch.shape;
    let mut key = vec![wide(std::ptr::from_ref(launch.kernel).addr())];
    key.extend(shape.grid.iter().chain(&shape.block).map(|&count| u64::from(count)));
    for parameter in outline.scalars() {
        let value = scalar(parameter);
        key.extend([u64::from(value.is_some()), value.unwrap_or(0)]);
    }
    let axes = (0..).zip(&ranged.grid).filter_map(|(axis, ranged)| Some((axis, (*ranged)?)));
    let scalars = ranged.scalars.iter().map(|&(parameter, value)| (parameter.saturating_add(3), value));
    for (at, RangedValue { number, least, most }) in axes.chain(scalars) {
        key.extend([u64::from(at), u64::from(number), least, most]);
    }
    FOOTPRINTS.get_or_make(&key, || {
        let ranged = RangedInputs { scalars: &ranged.scalars, grid: ranged.grid };
        let launch = coverage::LaunchInputs { grid: shape.grid, block: shape.block, scalar: &scalar, ranged };
        let (regions, sites) = outline.footprint_and_sites(&launch);
        Footprint { regions: regions.into_iter().map(Arc::new).collect(), sites: Arc::new(sites) }
    })
}
