//! The text of a PTX file: the form in which it is loaded, and the properties of its kernels.
//!
//! - If launches may overlap, every kernel that can do so executes `griddepcontrol.wait` first. This rewritten
//!   text is loaded instead of the file; it has the same variables. If the driver rejects it, the file itself
//!   is loaded.
//! - Kernels that share a variable of their file, which one of them writes, are loaded in only one form at a time, the
//!   first that is requested.

use std::sync::{Arc, OnceLock};

use cudarc::driver::CudaContext;
use cuweave_core::launches::{Allowed, Batching};
use cuweave_ptx::rewrite::{self, EntryTexts, IndependentEntries, WaitingModule};
use cuweave_ptx::{self as ptx, StateSpace, duration};

use crate::cuda::Driver;
use crate::error::Error;

use super::located::OutlinedKernel;

/// The form in which a file is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextForm {
    /// Unchanged.
    AsWritten,
    /// Rewritten so that kernels execute `griddepcontrol.wait` first.
    Waiting,
}

impl TextForm {
    pub fn for_edges(programmatic: &Programmatic) -> TextForm {
        if programmatic.is_ok() { TextForm::Waiting } else { TextForm::AsWritten }
    }

    pub fn other(self) -> TextForm {
        match self {
            TextForm::AsWritten => TextForm::Waiting,
            TextForm::Waiting => TextForm::AsWritten,
        }
    }
}

/// The properties of a kernel, from its PTX.
#[derive(Debug)]
pub(crate) struct KernelEntry {
    pub name: String,
    /// The sizes of its parameters, in bytes.
    pub sizes: Vec<u64>,
    /// `.reqntid`
    pub required_block: Option<[u32; 3]>,
    /// For each parameter, its influence on the trip counts of loops. The parts of an aggregate are not
    /// distinguished.
    pub influences: Vec<TripInfluence>,
    /// For each parameter, true if it may bound the iterations of a loop.
    pub bounds_trips: Vec<bool>,
    /// True if loaded data influences trip counts.
    pub by_data: bool,
    /// True if it has no loop, no call and few instructions.
    pub short: bool,
    /// The maximum number of members of a batch, or the reason that it cannot be batched. Computed on first
    /// use.
    pub(crate) batching: OnceLock<std::result::Result<Batching, String>>,
    /// The accesses of its blocks, or the reason that it cannot be fused. Computed on first use.
    pub(crate) fusing: OnceLock<std::result::Result<Arc<OutlinedKernel>, String>>,
    /// `Ok`, or the reason that the kernel cannot execute the wait first.
    pub waiting: std::result::Result<(), String>,
}

/// The influence of a parameter on its kernel's trip counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TripInfluence {
    /// No influence.
    No,
    /// Trip counts depend on its value, which is a number.
    ByValue,
    /// Trip counts depend on a part of it that cannot be compared.
    Unknown,
}

/// `Ok` if launches can have programmatic edges, or the reason that they cannot.
pub(crate) type Programmatic = std::result::Result<(), String>;

/// Checks that the graph function, the device and the driver allow programmatic edges.
pub(crate) fn programmatic(driver: &Driver, ctx: &CudaContext, allowed: Allowed) -> Programmatic {
    if !allowed.overlap {
        return Err("the graph function does not allow it".to_owned());
    }
    // CUdevice_attribute: compute capability, major and minor.
    let ask = |attribute| driver.device_attribute(ctx, attribute);
    match (ask(75), ask(76)) {
        (Ok(9..), _) if driver.has_programmatic_edges() => Ok(()),
        (Ok(9..), _) => {
            Err("the driver does not support programmatic edges, which need CUDA 12.3".to_owned())
        }
        (Ok(major), Ok(minor)) => {
            Err(format!("the device has compute capability {major}.{minor}, and 9.0 is needed"))
        }
        (Err(failure), _) | (_, Err(failure)) => Err(Error::from(failure).to_string()),
    }
}

/// The contents of a PTX file.
#[derive(Debug)]
pub(crate) struct PtxText {
    pub entries: Vec<KernelEntry>,
    /// True if it has variables that a kernel may write.
    pub has_state: bool,
    /// The text in which kernels execute the wait first. `None` if no kernel does.
    pub waiting: Option<String>,
    /// The kernels that can be compiled separately.
    pub independent: IndependentEntries,
}

impl PtxText {
    /// Returns the properties of a file's kernels, and the text to load in a form.
    pub fn read(module: &ptx::Module<'_>, form: TextForm) -> PtxText {
        let rewritten = match form {
            TextForm::AsWritten => WaitingModule::default(),
            TextForm::Waiting => rewrite::waiting(module),
        };
        let entries = module.entries().map(|function| entry(function, &rewritten)).collect();
        let has_state = module
            .variables()
            .any(|variable| matches!(variable.space, StateSpace::Global | StateSpace::Const));
        let waiting = (!rewritten.waits.is_empty()).then_some(rewritten.text);
        PtxText { entries, has_state, waiting, independent: rewrite::independent(module) }
    }

    /// Returns the texts that the kernels of `wanted` need: with the wait if `waits` is true, otherwise as
    /// written.
    pub fn split(&self, written: &ptx::Module<'_>, waits: bool, wanted: &[&str]) -> Option<EntryTexts> {
        let Some(waiting) = self.waiting.as_deref().filter(|_| waits) else {
            return Some(rewrite::split(written, &self.independent, wanted));
        };
        Some(rewrite::split(&ptx::parse(waiting).ok()?, &self.independent, wanted))
    }
}

fn entry(function: &ptx::Function<'_>, rewritten: &WaitingModule) -> KernelEntry {
    let duration::DurationInputs { parameters, iterations: bounds_trips, data: by_data, short } =
        duration::duration_inputs(function);
    let influences = parameters
        .into_iter()
        .zip(&function.parameters)
        .map(|(decides, parameter)| match (decides, parameter.class()) {
            (false, _) => TripInfluence::No,
            (true, ptx::TypeClass::Aggregate | ptx::TypeClass::Opaque) => TripInfluence::Unknown,
            (true, _) => TripInfluence::ByValue,
        })
        .collect();
    let refused = rewritten.unchanged.iter().find(|(name, _)| name == function.name);
    KernelEntry {
        name: function.name.to_owned(),
        sizes: function.parameters.iter().map(ptx::Parameter::size).collect(),
        required_block: function.performance(".reqntid").map(|values| {
            let extent = |at: usize| values.get(at).copied().unwrap_or(1);
            [extent(0), extent(1), extent(2)]
        }),
        influences,
        bounds_trips,
        by_data,
        short,
        batching: OnceLock::new(),
        fusing: OnceLock::new(),
        waiting: refused.map_or(Ok(()), |(_, why)| Err(why.to_string())),
    }
}
