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
    fn at(&self) -> Box<At> {
        let statement = &self.program.statements[self.statement as usize];
        Box::new(At {
            name: statement.name.to_string(),
            file: self.program.file.to_string(),
            line: statement.line,
        })
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
    pub fn run(&mut self, kernel: &'static Kernel, config: impl Config, arguments: Arguments) -> Result<()> {
        let info = self.modules.function(kernel)?;
        let block_limits = BlockLimits { most: info.most_threads, required: info.required_block };
        let shape = config.shape(block_limits).map_err(|reason| self.config(reason))?;
        self.limits.check(&shape, kernel, &info).map_err(|reason| self.config(reason))?;
        if shape.shared > info.dynamic_shared {
            self.modules.raise_dynamic_shared(kernel, shape.shared)?;
        }
        let Arguments { mut words, starts, buffers: given } = arguments;
        if starts.len() != kernel.params.len() {
            let (count, declared) = (starts.len(), kernel.params.len());
            return Err(Error::Plan(format!("{} gives {count} parameters of {declared}", self.at())));
        }
        let mut buffers = Vec::with_capacity(given.len());
        for (parameter, access, extent) in given {
            let offset = self.extent(kernel, parameter, access, extent)?;
            // The buffer's own address is added once it is known.
            words[starts[parameter as usize] as usize] = driver::address_word(offset);
            buffers.push((parameter, access));
        }
        *self.record = Recorded::Launch(LaunchRecord { kernel, info, shape, words, starts, buffers });
        Ok(())
    }

    /// Checks a buffer argument against the extent that its parameter declares: the bytes from the buffer's start.
    fn extent(&self, kernel: &Kernel, parameter: u32, access: u32, extent: Dim) -> Result<u64> {
        let access = self.access(access)?;
        let parameter = kernel.params[parameter as usize].name;
        let extent = extent.value().map_err(|fault| Error::Size {
            what: "the extent",
            at: self.at(),
            text: parameter.to_owned(),
            fault,
        })?;
        let (len, buffer, kernel) = (self.len(access), self.name(access), kernel.name.to_owned());
        if extent > len {
            return Err(Error::Extent {
                at: self.at(),
                kernel,
                parameter: parameter.to_owned(),
                buffer,
                extent,
                len,
            });
        }
        if access.relied_on && extent != len {
            return Err(Error::PartlyWritten { at: self.at(), kernel, buffer, extent, len });
        }
        let element = u64::from(self.program.buffers[access.buffer as usize].element);
        Ok(self.dims[access.lo as usize] * element)
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

/// The arguments of a launch as its kernel's item lists them.
#[derive(Debug, Default)]
pub struct Arguments {
    words: Vec<Word>,
    /// The word at which each parameter begins.
    starts: Vec<u32>,
    /// The parameters that are buffers: which, which access of the statement, how many elements the kernel touches.
    buffers: Vec<(u32, u32, Dim)>,
}

impl Arguments {
    /// None yet, of that many.
    pub fn new(count: usize) -> Arguments {
        Arguments { words: Vec::with_capacity(count), starts: Vec::with_capacity(count), buffers: Vec::new() }
    }

    /// The next parameter is a buffer, of which the kernel touches `extent` elements.
    pub fn buffer(&mut self, mark: impl Mark, extent: Dim) {
        self.buffers.push((self.starts.len() as u32, mark.access(), extent));
        self.starts.push(self.words.len() as u32);
        self.words.push(driver::address_word(0));
    }

    /// The next parameter is a scalar.
    pub fn scalar<T: Copy + DeviceRepr>(&mut self, value: T) {
        let start = driver::push_value(&mut self.words, value);
        self.starts.push(start as u32);
    }
}
