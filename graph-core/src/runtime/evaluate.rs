//! Statements with their values: generated code says what each launch is given, and this records it.
//!
//! A record is complete and checked: the extents hold, the device takes the configuration. It is made when the
//! graph is built, and made again, in the same room, when an argument is set.

use cudarc::driver::DeviceRepr;

use crate::ir::{Access, Program, StatementId};

use super::build::Limits;
use super::config::{BlockLimits, Config, Shape};
use super::dims::Dim;
use super::driver::{self, Word};
use super::error::{At, Error, Result};
use super::kernel::{FunctionInfo, Kernel};
use super::mark::Mark;
use super::modules::Modules;

/// What a statement is given.
#[derive(Clone, Debug, Default)]
pub(crate) enum Recorded {
    /// Nothing: a statement of memory, or one that is still to be evaluated.
    #[default]
    Nothing,
    /// A launch.
    Launch(LaunchRecord),
    /// A fill: the value's bits and its size.
    Fill {
        /// The value.
        bits: u64,
        /// 1, 2, 4 or 8.
        size: u32,
    },
    /// A copy.
    Copy,
}

/// A launch of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct LaunchRecord {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Its loaded function.
    pub info: FunctionInfo,
    /// Its configuration.
    pub shape: Shape,
    /// Room for the parameters' values. That of a buffer is its address once that is known.
    pub words: Vec<Word>,
    /// The word at which each parameter begins.
    pub starts: Vec<u32>,
    /// The parameters that are buffers: which, and which access of the statement.
    pub buffers: Vec<(u32, u32)>,
}

/// Takes down what generated code says of one statement.
pub struct Evaluation<'b> {
    pub(super) program: &'static Program,
    pub(super) dims: &'b [u64],
    pub(super) limits: &'b Limits,
    pub(super) modules: &'b mut Modules,
    pub(super) statement: StatementId,
    pub(super) record: &'b mut Recorded,
}

impl Evaluation<'_> {
    fn at(&self) -> At {
        let statement = &self.program.statements[self.statement as usize];
        At { name: statement.name.to_string(), file: self.program.file.to_string(), line: statement.line }
    }

    fn config(&self, reason: String) -> Error {
        Error::Config { at: self.at(), reason }
    }

    /// The range's length in elements.
    fn len(&self, access: &Access) -> u64 {
        self.dims[access.hi as usize] - self.dims[access.lo as usize]
    }

    fn name(&self, access: &Access) -> String {
        self.program.buffers[access.buffer as usize].name.to_string()
    }

    fn access(&self, index: u32) -> Result<&'static Access> {
        // The table is generated with the code that asks: this cannot miss unless the two do not belong together.
        self.program.statements[self.statement as usize]
            .accesses
            .get(index as usize)
            .ok_or_else(|| Error::Plan(format!("{} has no access {index}", self.at())))
    }

    /// A launch with its arguments, which the kernel's item gives in the order of its parameters.
    ///
    /// # Errors
    ///
    /// A configuration that the device or the kernel does not take, an extent that its buffer does not have.
    pub fn run(
        &mut self,
        kernel: &'static Kernel,
        config: impl Config,
        arguments: impl FnOnce(&mut Launch<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut launch = self.launch(kernel, config)?;
        arguments(&mut launch)?;
        launch.finish()
    }

    /// Begins a launch: its parameters follow in order.
    pub fn launch(&mut self, kernel: &'static Kernel, config: impl Config) -> Result<Launch<'_>> {
        let info = self.modules.function(kernel)?;
        let block_limits = BlockLimits { most: info.most_threads, required: kernel.required_block };
        let shape = config.shape(block_limits).map_err(|reason| self.config(reason))?;
        self.limits.check(&shape, kernel, &info).map_err(|reason| self.config(reason))?;
        if shape.shared > info.dynamic_shared {
            self.modules.raise_dynamic_shared(kernel, shape.shared)?;
        }
        // The room of the record before is used again.
        let (mut words, mut starts, mut buffers) = match std::mem::take(self.record) {
            Recorded::Launch(record) => (record.words, record.starts, record.buffers),
            _ => (Vec::new(), Vec::with_capacity(kernel.params.len()), Vec::new()),
        };
        words.clear();
        starts.clear();
        buffers.clear();
        let evaluation = Evaluation {
            program: self.program,
            dims: self.dims,
            limits: self.limits,
            modules: self.modules,
            statement: self.statement,
            record: self.record,
        };
        Ok(Launch { evaluation, record: LaunchRecord { kernel, info, shape, words, starts, buffers } })
    }

    /// A fill with a value.
    pub fn fill<T: Copy + DeviceRepr>(&mut self, value: T) -> Result<()> {
        self.not_empty()?;
        *self.record = Recorded::Fill { bits: driver::bits_of(value), size: size_of::<T>() as u32 };
        Ok(())
    }

    /// A copy.
    pub fn copy(&mut self) -> Result<()> {
        self.not_empty()?;
        let (source, target) = (self.access(0)?, self.access(1)?);
        let (from, to) = (self.len(source), self.len(target));
        if from != to {
            let (source_name, target_name) = (self.name(source), self.name(target));
            return Err(Error::CopyLength { at: self.at(), source_name, from, target_name, to });
        }
        *self.record = Recorded::Copy;
        Ok(())
    }

    /// A memset or memcpy node moves at least one element.
    fn not_empty(&self) -> Result<()> {
        let accesses = &self.program.statements[self.statement as usize].accesses;
        match accesses.iter().find(|access| self.len(access) == 0) {
            None => Ok(()),
            Some(access) => {
                let text = |id: u32| &self.program.dims[id as usize];
                let text = format!("{}[{}..{}]", self.name(access), text(access.lo), text(access.hi));
                Err(Error::ZeroLength { at: self.at(), text })
            }
        }
    }
}

/// A launch that is being given its parameters.
pub struct Launch<'e> {
    evaluation: Evaluation<'e>,
    record: LaunchRecord,
}

impl Launch<'_> {
    fn next(&self) -> Option<(&'static str, u32)> {
        self.record.kernel.params.get(self.record.starts.len()).map(|param| (param.name, param.size))
    }

    /// The next parameter is a buffer, of which the kernel touches `extent` elements.
    pub fn buffer(&mut self, mark: impl Mark, extent: Dim) -> Result<()> {
        let access = self.evaluation.access(mark.access())?;
        let parameter = self.next().map_or("?", |(name, _)| name);
        let at = || self.evaluation.at();
        let extent = extent.value().map_err(|fault| Error::Size {
            what: "the extent",
            at: at(),
            text: parameter.to_owned(),
            fault,
        })?;
        let len = self.evaluation.len(access);
        let kernel = || self.record.kernel.name.to_owned();
        if extent > len {
            let buffer = self.evaluation.name(access);
            return Err(Error::Extent {
                at: at(),
                kernel: kernel(),
                parameter: parameter.to_owned(),
                buffer,
                extent,
                len,
            });
        }
        if access.relied_on && extent != len {
            let buffer = self.evaluation.name(access);
            return Err(Error::PartlyWritten { at: at(), kernel: kernel(), buffer, extent, len });
        }
        let element = u64::from(self.evaluation.program.buffers[access.buffer as usize].element);
        let offset = self.evaluation.dims[access.lo as usize] * element;
        self.record.buffers.push((self.record.starts.len() as u32, mark.access()));
        self.record.starts.push(self.record.words.len() as u32);
        // The buffer's own address is added once it is known.
        self.record.words.push(driver::address_word(offset));
        Ok(())
    }

    /// The next parameter is a scalar.
    pub fn scalar<T: Copy + DeviceRepr>(&mut self, value: T) {
        let start = driver::push_value(&mut self.record.words, value);
        self.record.starts.push(start as u32);
    }

    /// That was the last parameter.
    pub fn finish(self) -> Result<()> {
        let (given, declared) = (self.record.starts.len(), self.record.kernel.params.len());
        if given != declared {
            let what = format!("{} gives {given} parameters of {declared}", self.evaluation.at());
            return Err(Error::Plan(what));
        }
        *self.evaluation.record = Recorded::Launch(self.record);
        Ok(())
    }
}
