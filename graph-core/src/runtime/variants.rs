//! What becomes of a file's kernels when launches overlap or are batched: the text that is loaded in the place of the
//! file's, and the modules of batched variants.
//!
//! - Where starts overlap, every kernel of the file that may begins with the wait. Text for text it is the same file,
//!   with the same variables, so it is loaded instead of it. Where the driver does not take it, the file is loaded.
//! - Batched variants lie in modules of their own, made when they are first asked for: only kernels that use no variable
//!   that is written have any, so nothing is in two places.
//! - A file with variables is loaded in one form at a time, whichever comes first: they are state that launches share.

use std::sync::{Arc, OnceLock, PoisonError};

use cudarc::driver::CudaContext;

use crate::launches::{Allowed, Batching};
use cuweave_ptx::rewrite::{self, Axis, Batch, GridShape, Table, Waiting};
use cuweave_ptx::{self as ptx, Space, duration};

use super::driver::{Driver, Failure, RawModule};
use super::error::Error;
use super::kernel::{FunctionInfo, LoadedModule, refused};

/// Which text of a file is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The file's.
    AsWritten,
    /// Kernels begin with the wait.
    Waiting,
}

impl Form {
    pub fn of(early: &Early) -> Form {
        if early.is_ok() { Form::Waiting } else { Form::AsWritten }
    }

    pub fn other(self) -> Form {
        match self {
            Form::AsWritten => Form::Waiting,
            Form::Waiting => Form::AsWritten,
        }
    }
}

/// What PTX says of a kernel.
#[derive(Debug)]
pub(super) struct Entry {
    pub name: String,
    /// The sizes of its parameters.
    pub sizes: Vec<u64>,
    /// `.reqntid`
    pub required_block: Option<[u32; 3]>,
    /// Of each parameter whether it may decide how long loops run; an aggregate's parts are not told apart.
    pub deciding: Vec<Deciding>,
    /// Whether data decides that.
    pub by_data: bool,
    /// Whether it goes straight to its end, and soon.
    pub brief: bool,
    /// Whether its launches can be batched, or why not: found when it is first asked for.
    batching: OnceLock<std::result::Result<Batching, String>>,
    /// Whether it may begin with the wait, or why not.
    pub waiting: std::result::Result<(), String>,
}

/// What a parameter says of how long its kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deciding {
    /// Nothing.
    No,
    /// By its value, which is a number.
    ByValue,
    /// By something in it.
    Unknown,
}

/// Whether kernels may start early, or why not.
pub(super) type Early = std::result::Result<(), String>;

/// What the graph function, the device and the driver say of that.
pub(super) fn early(driver: &Driver, ctx: &CudaContext, allowed: Allowed) -> Early {
    if !allowed.overlap {
        return Err("the graph function does not allow it".to_owned());
    }
    // CUdevice_attribute: compute capability, major and minor
    let ask = |attribute| driver.device_attribute(ctx, attribute);
    match (ask(75), ask(76)) {
        (Ok(9..), _) if driver.has_programmatic_edges() => Ok(()),
        (Ok(9..), _) => Err("the driver has no programmatic edges, which came with CUDA 12.3".to_owned()),
        (Ok(major), Ok(minor)) => {
            Err(format!("the device has compute capability {major}.{minor}, and 9.0 is needed"))
        }
        (Err(failure), _) | (_, Err(failure)) => Err(Error::from(failure).to_string()),
    }
}

/// A file's text, read.
#[derive(Debug)]
pub(super) struct Text {
    /// Its kernels.
    pub entries: Vec<Entry>,
    /// Whether it has variables that a kernel may write.
    pub has_state: bool,
    /// The text whose kernels wait.
    pub waiting: Option<String>,
}

impl Text {
    /// Of PTX; `None` for machine code, and for what cannot be read.
    pub fn read(image: &[u8], form: Form) -> Option<Text> {
        let module = ptx::parse_bytes(image).ok()?;
        let rewritten = match form {
            Form::AsWritten => Waiting::default(),
            Form::Waiting => rewrite::waiting(&module),
        };
        let entries = module.entries().map(|function| entry(function, &rewritten)).collect();
        let has_state =
            module.variables().any(|variable| matches!(variable.space, Space::Global | Space::Const));
        let waiting = (!rewritten.waits.is_empty()).then_some(rewritten.text);
        Some(Text { entries, has_state, waiting })
    }
}

fn entry(function: &ptx::Function<'_>, rewritten: &Waiting) -> Entry {
    let duration::Deciding { parameters, data: by_data, brief } = duration::deciding(function);
    let deciding = parameters
        .into_iter()
        .zip(&function.parameters)
        .map(|(decides, parameter)| match (decides, parameter.class()) {
            (false, _) => Deciding::No,
            (true, ptx::Class::Aggregate | ptx::Class::Opaque) => Deciding::Unknown,
            (true, _) => Deciding::ByValue,
        })
        .collect();
    let refused = rewritten.kept.iter().find(|(name, _)| name == function.name);
    Entry {
        name: function.name.to_owned(),
        sizes: function.parameters.iter().map(ptx::Parameter::size).collect(),
        required_block: function.performance(".reqntid").map(|values| {
            let extent = |at: usize| values.get(at).copied().unwrap_or(1);
            [extent(0), extent(1), extent(2)]
        }),
        deciding,
        by_data,
        brief,
        batching: OnceLock::new(),
        waiting: refused.map_or(Ok(()), |(_, why)| Err(why.to_string())),
    }
}

/// A batched variant, by what it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The kernel.
    pub entry: &'static str,
    /// Members at most.
    pub capacity: u32,
    /// How their blocks lie.
    pub shape: GridShape,
}

impl Wanted {
    /// A variant for so many members: variants are shared between batches of about one size.
    pub fn of(entry: &'static str, members: usize, axis: Option<u8>, batching: Batching) -> Wanted {
        let shape = match axis {
            Some(1) => GridShape::Axis(Axis::Y),
            Some(_) => GridShape::Axis(Axis::Z),
            None => GridShape::Flat,
        };
        let most = match (batching, shape) {
            (Batching::Never, _) => members as u32,
            (Batching::Most { equal, .. }, GridShape::Axis(_)) => equal,
            (Batching::Most { flat, .. }, GridShape::Flat) => flat,
        };
        let members = members as u32;
        let capacity = if members <= 64 { members.next_power_of_two() } else { members.next_multiple_of(32) };
        Wanted { entry, capacity: capacity.min(most).max(members), shape }
    }
}

/// A batched variant that is loaded.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    /// Its function.
    pub info: FunctionInfo,
    /// Where the members' parameters lie.
    pub table: Arc<Table>,
}

/// What was asked for, with what was made of it, or why nothing was.
type Made = Vec<(Wanted, std::result::Result<Variant, String>)>;

/// Variants as they were asked for: what could not be made is not tried again.
#[derive(Debug, Default)]
pub(super) struct Variants {
    made: Made,
    /// The modules that they lie in.
    pub modules: Vec<RawModule>,
}

impl Variants {
    fn get(&self, wanted: &Wanted) -> Option<&std::result::Result<Variant, String>> {
        self.made.iter().find(|(made, _)| made == wanted).map(|(_, variant)| variant)
    }
}

impl LoadedModule {
    /// Whether launches of a kernel can be batched, or why not; nothing of machine code.
    pub fn batching(&self, name: &str) -> Option<std::result::Result<Batching, String>> {
        let found = self.entry(name)?.batching.get_or_init(|| {
            let module = ptx::parse_bytes(self.module.image()).map_err(|error| error.to_string())?;
            rewrite::batchable(&module, name).map_err(|why| why.to_string())?;
            let parameters = module.entry(name).map_or(&[][..], |entry| &entry.parameters);
            let most = |shape| Table::most(parameters, shape, rewrite::largest_table(&module));
            Ok(Batching::Most { equal: most(GridShape::Axis(Axis::Z)), flat: most(GridShape::Flat) })
        });
        Some(found.clone())
    }

    /// Loads the variants that are not loaded yet: in one module, or each by itself where one of them is at fault.
    pub fn make_variants(&self, wanted: &[Wanted]) {
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        let mut new: Vec<Wanted> = Vec::new();
        for wanted in wanted {
            if variants.get(wanted).is_none() && !new.contains(wanted) {
                new.push(wanted.clone());
            }
        }
        if new.is_empty() {
            return;
        }
        let Ok(module) = ptx::parse_bytes(self.module.image()) else { return };
        if let Ok((raw, made)) = self.variants_of(&module, &new) {
            variants.modules.push(raw);
            variants.made.extend(made);
            return;
        }
        for wanted in new {
            match self.variants_of(&module, std::slice::from_ref(&wanted)) {
                Ok((raw, made)) => {
                    variants.modules.push(raw);
                    variants.made.extend(made);
                }
                Err(why) => variants.made.push((wanted, Err(why))),
            }
        }
    }

    /// A variant that was asked for before, or why it could not be made.
    pub fn variant(&self, wanted: &Wanted) -> std::result::Result<Variant, String> {
        let variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        variants.get(wanted).cloned().unwrap_or_else(|| Err("the file cannot be read".to_owned()))
    }

    /// A module with these variants.
    fn variants_of(
        &self,
        module: &ptx::Module<'_>,
        wanted: &[Wanted],
    ) -> std::result::Result<(RawModule, Made), String> {
        let prefix = rewrite::free_name(module, "cuweave_batch");
        let batches: Vec<Batch> = (0..)
            .zip(wanted)
            .map(|(at, wanted): (usize, _)| Batch {
                entry: wanted.entry.to_owned(),
                name: format!("{prefix}_{at}"),
                capacity: wanted.capacity,
                shape: wanted.shape,
                waits: self.waits(wanted.entry),
            })
            .collect();
        let text = rewrite::batched(module, &batches).map_err(|why| why.to_string())?;
        let raw = self.driver.load_module(text.as_bytes()).map_err(|(failure, log)| {
            format!("the driver does not take many launches in one: {}", one_line(failure, &log))
        })?;
        let failed = |failure| Error::from(failure).to_string();
        let made = wanted.iter().zip(&batches).map(|(wanted, batch)| {
            let entry = module.entry(wanted.entry);
            let table = entry.and_then(|entry| Table::of(&entry.parameters, wanted.capacity, wanted.shape));
            let table = Arc::new(table.ok_or("the parameters of the launches do not fit into one table")?);
            let function = self.driver.function(raw, &batch.name).map_err(failed)?;
            let function = function.ok_or("the driver does not find many launches in one")?;
            let required = self.entry(wanted.entry).and_then(|entry| entry.required_block);
            let info = FunctionInfo::of(self.driver, function, required).map_err(failed)?;
            Ok(Variant { info, table })
        });
        let made = wanted.iter().cloned().zip(made).collect();
        Ok((raw, made))
    }
}

/// What the driver says of a text that it does not take; its compiler speaks in lines.
pub(super) fn one_line(failure: Failure, log: &str) -> String {
    refused(failure, log).to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}
