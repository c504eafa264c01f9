//! Statements with their values: generated code says what each launch is given, and this records it.
//!
//! A record is complete and checked: the extents hold, the device takes the configuration. It is made when the
//! graph is built, and made again, in the same room, when an argument is set.

use std::cell::Cell;

use cudarc::driver::DeviceRepr;

use crate::ir::{Access, Program, StatementId};

use super::config::{BlockLimits, Config, Shape};
use super::dims::Dim;
use super::driver::{self, Function, Word};
use super::error::{At, Error, Result};
use super::kernel::{Kernel, ParamKind};
use super::limits::Limits;
use super::mark::Mark;
use super::modules::{FILL64, Modules};

/// What a statement is given. Values of parameters lie in a list of words that all statements share.
#[derive(Clone, Copy, Debug, Default)]
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
        /// For 8 bytes, which may need a kernel: where its parameters have their room.
        first: u32,
    },
    /// A copy.
    Copy,
}

/// A launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchRecord {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Its loaded function.
    pub function: Function,
    /// Its configuration.
    pub shape: Shape,
    /// The word at which its parameters begin, in the order of the kernel's declaration. The k-th buffer among them
    /// is the k-th access of the statement; its word is its address once that is known.
    pub first: u32,
}

impl Recorded {
    /// Where its words begin, and how many it has.
    pub fn words(&self) -> (usize, usize) {
        match self {
            Recorded::Launch(launch) => (launch.first as usize, launch.kernel.words()),
            &Recorded::Fill { size: 8, first, .. } => (first as usize, FILL64.words()),
            _ => (0, 0),
        }
    }

    /// The same with its words elsewhere.
    pub fn at(mut self, place: usize) -> Recorded {
        match &mut self {
            Recorded::Launch(LaunchRecord { first, .. }) | Recorded::Fill { first, .. } => {
                *first = place as u32
            }
            Recorded::Copy | Recorded::Nothing => {}
        }
        self
    }
}

/// Takes down what generated code says of one statement.
pub struct Evaluation<'b> {
    pub(super) program: &'static Program,
    pub(super) dims: &'b [u64],
    pub(super) limits: &'b Limits,
    pub(super) modules: &'b mut Modules,
    pub(super) statement: StatementId,
    pub(super) record: &'b mut Recorded,
    /// Where the values of parameters are added.
    pub(super) words: &'b mut Vec<Word>,
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

    /// The error of a driver's call that was made for this statement.
    fn placed(&self, mut error: Error) -> Error {
        if let Error::Driver(failure) = &mut error
            && failure.at.is_none()
        {
            failure.at = Some(self.at());
        }
        error
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
        // Neighbours are often alike.
        let launch = Some((std::ptr::from_ref(kernel).addr(), shape));
        if self.modules.checked != launch {
            self.limits.check(&shape, kernel, &info).map_err(|reason| self.config(reason))?;
            self.modules.checked = launch;
        }
        if shape.shared > info.dynamic_shared {
            self.modules.raise_dynamic_shared(kernel, shape.shared).map_err(|error| self.placed(error))?;
        }
        let first = self.words.len() as u32;
        self.words.extend_from_slice(&arguments.words);
        for (index, &(access, extent)) in (0..).zip(&arguments.buffers) {
            self.extent(kernel, index, access, extent)?;
        }
        if arguments.words.len() != kernel.words() {
            return Err(Error::Plan(format!("{} does not give what `{}` takes", self.at(), kernel.name)));
        }
        arguments.end();
        *self.record = Recorded::Launch(LaunchRecord { kernel, function: info.function, shape, first });
        Ok(())
    }

    /// Checks the `index`-th buffer argument against the extent that its parameter declares.
    fn extent(&self, kernel: &Kernel, index: u32, access: u32, extent: Dim) -> Result<()> {
        if access != index {
            return Err(Error::Plan(format!("{} has its accesses in another order", self.at())));
        }
        let access = self.access(access)?;
        let len = self.len(access);
        if extent.value().is_ok_and(|extent| extent == len || extent < len && !access.relied_on) {
            return Ok(());
        }
        let mut parameters = kernel.params.iter().filter(|param| param.kind != ParamKind::Scalar);
        let parameter = parameters.nth(index as usize).map_or("?", |param| param.name).to_owned();
        let (at, buffer, kernel) = (self.at(), self.name(access), kernel.name.to_owned());
        match extent.value() {
            Err(fault) => Err(Error::Size { what: "the extent", at, text: parameter, fault }),
            Ok(extent) if extent > len => Err(Error::Extent { at, kernel, parameter, buffer, extent, len }),
            Ok(extent) => Err(Error::PartlyWritten { at, kernel, buffer, extent, len }),
        }
    }

    /// A fill with a value.
    pub fn fill<T: Copy + DeviceRepr>(&mut self, value: T) -> Result<()> {
        self.not_empty()?;
        let (size, first) = (size_of::<T>() as u32, self.words.len() as u32);
        if size == 8 {
            self.words.resize(first as usize + FILL64.words(), driver::address_word(0));
        }
        *self.record = Recorded::Fill { bits: driver::bits_of(value), size, first };
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
    /// Their values.
    words: Vec<Word>,
    /// The buffers: which access of the statement, how many elements the kernel touches.
    buffers: Vec<(u32, Dim)>,
}

thread_local! {
    /// The room of the launch before: a build evaluates thousands of launches.
    static ROOM: Cell<Arguments> = const { Cell::new(Arguments { words: Vec::new(), buffers: Vec::new() }) };
}

impl Arguments {
    /// None yet, of that many.
    pub fn new(count: usize) -> Arguments {
        let mut arguments = ROOM.take();
        arguments.words.reserve(count);
        arguments
    }

    fn end(mut self) {
        self.words.clear();
        self.buffers.clear();
        ROOM.set(self);
    }

    /// The next parameter is a buffer, of which the kernel touches `extent` elements.
    pub fn buffer(&mut self, mark: impl Mark, extent: Dim) {
        self.buffers.push((mark.access(), extent));
        self.words.push(driver::address_word(0));
    }

    /// The next parameter is a scalar.
    pub fn scalar<T: Copy + DeviceRepr>(&mut self, value: T) {
        driver::push_value(&mut self.words, value);
    }
}
