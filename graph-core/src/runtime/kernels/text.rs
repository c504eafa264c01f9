//! The text of a PTX file: which form of it is loaded, and the properties of its kernels.
//!
//! - Where launches overlap, every kernel of the file that may runs `griddepcontrol.wait` first. Otherwise the text is that of
//!   the file, with the same variables, so it is loaded instead of the file. Where the driver does not take it, the file is loaded.
//! - A file with variables is loaded in one form at a time, whichever comes first: they are state that launches share.

use std::sync::OnceLock;

use cudarc::driver::CudaContext;

use crate::launches::{Allowed, Batching};
use crate::runtime::cuda::Driver;
use crate::runtime::error::Error;
use cuweave_ptx::rewrite::{self, Waiting};
use cuweave_ptx::{self as ptx, Space, duration};

/// Which text of a file is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
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
pub(crate) struct Entry {
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
    pub(crate) batching: OnceLock<std::result::Result<Batching, String>>,
    /// Whether it may begin with the wait, or why not.
    pub waiting: std::result::Result<(), String>,
}

/// What a parameter says of how long its kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deciding {
    /// Nothing.
    No,
    /// By its value, which is a number.
    ByValue,
    /// By something in it.
    Unknown,
}

/// Whether kernels may start early, or why not.
pub(crate) type Early = std::result::Result<(), String>;

/// What the graph function, the device and the driver say of that.
pub(crate) fn early(driver: &Driver, ctx: &CudaContext, allowed: Allowed) -> Early {
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
pub(crate) struct Text {
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
