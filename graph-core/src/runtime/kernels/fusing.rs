//! Fused kernels: the accesses of the blocks of their parts, and loading. They are in modules of their own, made on first
//! request. Only kernels that use no written variable are parts, so no state is duplicated.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use crate::ids::{Device, KernelId};
use crate::index::{Vector, size, wide};
use crate::ir::StatementId;
use crate::launches::{Blocks, Chain, Footing, Fusing};
use crate::operation::ChainId;
use crate::runtime::cuda::{self, Driver, Word};
use crate::runtime::error::{Error, one_line};
use cuweave_ptx as ptx;
use cuweave_ptx::coverage::{self, Outline, Region};
use cuweave_ptx::rewrite::{self, Fusion};

use super::code;
use super::coverage::Cache;
use super::declaration::Kernel;
use super::facts::Facts;
use super::function::{FunctionInfo, MAX_DYNAMIC_SHARED_SIZE_BYTES};
use super::left_alone::{Change, LeftAlone};
use super::module::LoadedModule;
use super::modules::Modules;
use super::param::Param;
use super::record::LaunchRecord;
use super::variants::{Chained, Fused};

/// What the blocks of launches access: reads and writes for each buffer, by the kernel, the configuration and the scalars.
static FOOTPRINTS: Cache<Vec<u64>, Arc<[Arc<Region>]>> = Cache::new();

impl LoadedModule {
    /// Returns the outline of a kernel's accesses, or the reason that it cannot be a part of a fused kernel; `None` for
    /// machine code.
    fn fusing(&self, kernel: &Kernel) -> Option<Result<Arc<Outline>, String>> {
        let found = self.entry(kernel.name)?.fusing.get_or_init(|| {
            if kernel.shares_state() {
                return Err("it uses a variable which is written".to_owned());
            }
            let module = ptx::parse_bytes(self.module.image()).map_err(|error| error.to_string())?;
            rewrite::fusible(&module, kernel.name).map_err(|why| why.to_string())?;
            let pointers: Vec<bool> = kernel.params.iter().map(|param| !param.is_scalar()).collect();
            let number = |parameter: &ptx::Parameter<'_>| {
                matches!(parameter.class(), ptx::Class::Integer | ptx::Class::Bits) && parameter.size() <= 8
            };
            let parameters = module.entry(kernel.name).map_or(&[][..], |entry| &entry.parameters);
            let scalars: Vec<bool> =
                parameters.iter().zip(&pointers).map(|(one, pointer)| !pointer && number(one)).collect();
            Ok(Arc::new(ptx::Analysis::new(&module).accesses(kernel.name, &pointers, &scalars)))
        });
        Some(found.clone())
    }

    /// Returns a fused kernel whose first part is of this module: a loaded one, or a new one.
    fn fused(&self, kernels: &[&'static Kernel], block: [u32; 3], waits: bool) -> Result<Fused, String> {
        let parts = kernels.iter().map(|&kernel| std::ptr::from_ref(kernel).addr()).collect();
        let wanted = Chained { parts, block, waits };
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, made)) = variants.fused.iter().find(|(made, _)| *made == wanted) {
            return made.clone();
        }
        let made = self.load_fused(kernels, block, waits).map(|(raw, made)| {
            variants.modules.push(raw);
            made
        });
        variants.fused.push((wanted, made.clone()));
        made
    }

    fn load_fused(
        &self,
        kernels: &[&'static Kernel],
        block: [u32; 3],
        waits: bool,
    ) -> Result<(cuda::RawModule, Fused), String> {
        let mut images: Vec<(*const u8, ptx::Module<'_>)> = Vec::new();
        for kernel in kernels {
            let image = kernel.module.image();
            if !images.iter().any(|(known, _)| *known == image.as_ptr()) {
                images.push((image.as_ptr(), ptx::parse_bytes(image).map_err(|error| error.to_string())?));
            }
        }
        let of = |kernel: &&'static Kernel| {
            let module = images.iter().find(|(known, _)| *known == kernel.module.image().as_ptr());
            module.map(|(_, module)| (module, kernel.name))
        };
        let parts: Vec<(&ptx::Module<'_>, &str)> = kernels.iter().filter_map(of).collect();
        let mut name = "cuweave_fused".to_owned();
        while images.iter().any(|(_, module)| module.text.contains(&name)) {
            name.push('_');
        }
        let fusion = Fusion { parts: &parts, name: &name, block, waits };
        let (text, table) = rewrite::fused(&fusion).map_err(|why| why.to_string())?;
        let raw = code::load(self.driver, self.context(), &text).map_err(|(failure, log)| {
            format!("the driver does not take the fused kernel: {}", one_line(failure, &log))
        })?;
        let failed = |failure| Error::from(failure).to_string();
        let loaded = self.driver.function(raw, &name).map_err(failed).and_then(|function| {
            let function = function.ok_or("the driver does not find the fused kernel")?;
            let info = FunctionInfo::of(self.driver, function, None).map_err(failed)?;
            Ok(Fused { info, table: Arc::new(table) })
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

impl Facts {
    /// Records what the blocks of a launch access, so that it can be a member of a chain. `offsets` are the distances of its
    /// pointers from the start of their buffers. Of a launch that setters reach all scalars may have any value.
    pub fn locate(
        &mut self,
        (statement, device): (StatementId, Device),
        (launch, words): (&LaunchRecord, &[Word]),
        offsets: &[Option<u64>],
        is_set: bool,
        modules: &Modules,
    ) {
        let kernel = launch.kernel;
        let Some(found) = modules.module(device, kernel).and_then(|module| module.fusing(kernel)) else {
            return;
        };
        let outline = match found {
            Ok(outline) => outline,
            Err(why) => {
                let left = LeftAlone::one((kernel.name, kernel.module.path()), Change::Fusing, why);
                self.left_alone.insert(left);
                return;
            }
        };
        let fuse = match launch.shape.grid {
            [1, 1, 1] => Some(Arc::default()),
            _ => footings(&outline, (launch, words), offsets, is_set),
        };
        if let (Some(fuse), Some(launch)) = (fuse, &mut self.launches[statement]) {
            launch.fuse = Fusing::With(fuse);
        }
    }

    /// Loads the fused kernels of chains. Returns `None` if one cannot be used: fusing of one of its kernels is disabled, and
    /// the decision must be made again.
    pub fn fused(
        &mut self,
        (driver, modules): (&Driver, &mut Modules),
        chains: &Vector<ChainId, Chain>,
    ) -> Option<Vector<ChainId, Fused>> {
        let mut all = Vector::with_capacity(chains.len());
        let mut useless: BTreeSet<(KernelId, String)> = BTreeSet::new();
        for chain in chains {
            match self.fused_of((driver, modules), chain) {
                Ok(fused) => drop(all.push(fused)),
                Err(refused) => drop(useless.insert(refused)),
            }
        }
        for (kernel, why) in &useless {
            let (_, Kernel { name, module, .. }) = self.kernels[*kernel];
            self.left_alone.insert(LeftAlone::one((name, module.path()), Change::Fusing, why));
            for launch in self.launches.iter_mut().flatten().filter(|launch| launch.kernel == *kernel) {
                launch.fuse = Fusing::Never;
            }
        }
        useless.is_empty().then_some(all)
    }

    /// Returns the fused kernel of a chain, or the kernel that is not to be fused, with the reason.
    fn fused_of(
        &self,
        (driver, modules): (&Driver, &Modules),
        chain: &Chain,
    ) -> Result<Fused, (KernelId, String)> {
        let launches: Vec<_> = chain.members.iter().filter_map(|&id| self.launches[id].as_ref()).collect();
        let Some(&first) = launches.first() else {
            return Err((KernelId::from_u32(0), "it is not launched".to_owned()));
        };
        // A chain is of one device.
        let (device, _) = self.kernels[first.kernel];
        let kernels: Vec<&'static Kernel> =
            launches.iter().map(|launch| self.kernels[launch.kernel].1).collect();
        let infos: Vec<FunctionInfo> =
            kernels.iter().filter_map(|kernel| modules.loaded_info(device, kernel)).collect();
        // The kernel that needs most is left alone.
        let by_need = launches.iter().zip(&infos).max_by_key(|(_, info)| (info.local, info.registers));
        let largest = by_need.map_or(first.kernel, |(launch, _)| launch.kernel);
        let refused = |why: String| (largest, why);
        let waits = launches.iter().all(|launch| launch.waits);
        let fused = modules
            .module(device, kernels[0])
            .ok_or_else(|| refused("it is not loaded".to_owned()))?
            .fused(&kernels, first.block, waits)
            .map_err(refused)?;
        let threads: u32 = first.block.iter().product();
        let shared = launches.iter().map(|launch| launch.shared).max().unwrap_or(0);
        let needed = first.blocks().per(self.multiprocessors_of(first.kernel));
        serves(driver, &infos, &fused.info, (threads, shared), needed).map_err(refused)?;
        Ok(fused)
    }
}

/// Checks that a fused kernel supports the launch, needs no more local memory than the largest of its parts, and has the
/// occupancy of each, or what its grid needs. The error is the reason that it cannot be used.
fn serves(
    driver: &Driver,
    parts: &[FunctionInfo],
    fused: &FunctionInfo,
    (threads, shared): (u32, u32),
    needed: u32,
) -> Result<(), String> {
    let failed = |failure| Error::from(failure).to_string();
    if fused.most_threads < threads {
        let most = fused.most_threads;
        return Err(format!("the fused kernel takes blocks of {most} threads at most, not of {threads}"));
    }
    let local = parts.iter().map(|part| part.local).max().unwrap_or(0);
    if fused.local > local {
        let bytes = fused.local;
        return Err(format!(
            "the fused kernel needs {bytes} bytes of local memory a thread, the largest of its parts {local}"
        ));
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
            return Err(format!(
                "of the fused kernel a multiprocessor holds {of_fused} blocks, and {of_part} are needed"
            ));
        }
    }
    Ok(())
}

/// Returns what the blocks of a launch access through each of its buffers. `None` if the kernel's outline has other
/// parameters.
fn footings(
    outline: &Outline,
    (launch, words): (&LaunchRecord, &[Word]),
    offsets: &[Option<u64>],
    is_set: bool,
) -> Option<Arc<[Footing]>> {
    let kernel = launch.kernel;
    let word = |parameter: usize| -> usize {
        size(launch.first) + kernel.params[..parameter].iter().map(Param::words).sum::<usize>()
    };
    let scalar = |parameter: u32| -> Option<u64> {
        let param = kernel.params.get(size(parameter)).filter(|param| !is_set && param.dense)?;
        (param.words() == 1).then(|| words.get(word(size(parameter))).map(|&word| cuda::number(word)))?
    };
    let shape = launch.shape;
    let mut key = vec![wide(std::ptr::from_ref(kernel).addr()), u64::from(is_set)];
    key.extend(shape.grid.iter().chain(&shape.block).map(|&count| u64::from(count)));
    key.extend(outline.scalars().into_iter().map(|parameter| scalar(parameter).unwrap_or(0)));
    let regions = FOOTPRINTS.get_or_make(&key, || {
        let launch = coverage::Launch { grid: shape.grid, block: shape.block, scalar: &scalar };
        outline.footprint(&launch).into_iter().map(Arc::new).collect()
    });
    (regions.len() == 2 * offsets.len()).then(|| {
        let pairs = regions.chunks_exact(2).zip(offsets);
        pairs.map(|(pair, &at)| Footing { at, reads: pair[0].clone(), writes: pair[1].clone() }).collect()
    })
}

impl Blocks {
    /// Returns the number of blocks that each of so many multiprocessors is given at most, if it holds all of them.
    fn per(self, multiprocessors: u32) -> u32 {
        let multiprocessors = Blocks::from(multiprocessors.max(1));
        (1..64).find(|&count| multiprocessors * u64::from(count) >= self).unwrap_or(u32::MAX)
    }
}
