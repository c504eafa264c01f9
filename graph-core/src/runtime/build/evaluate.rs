//! The evaluation of statements: generated code gives the values of each launch, which are recorded here.
//!
//! A record is complete and checked: the extents hold, the device takes the configuration. It is made when the
//! graph is built, and made again, in the same space, when an argument is set.

use std::fmt;
use std::marker::PhantomData;

use crate::codes::Code;
use crate::diagnostic::render;
use crate::index::{Vector, narrow, size};
use crate::ir::{Access, DimId, Kind, Lifetime, Mode, Program, StatementId};
use cuweave_ptx::coverage::Verdict;

use crate::runtime::cuda::{self, Word};
use crate::runtime::error::{At, Error, Fault, Refusal, Result, ShortLaunch, at_statement};
use crate::runtime::kernels::{
    FILL64, FillRecord, Finding, Kernel, LaunchRecord, Limits, Modules, ParamKind, Record, Shape,
};

use super::arguments::Arguments;
use super::config::{BlockLimits, Config};
use super::fill::Fillable;

/// The recorder of the values that generated code gives for statements, one after the other.
pub struct Evaluation<'b> {
    program: &'b Program,
    dims: &'b Vector<DimId, u64>,
    limits: &'b Limits,
    modules: &'b mut Modules,
    /// The current statement.
    statement: StatementId,
    records: Vec<Record>,
    /// The values of parameters.
    words: Vec<Word>,
    /// Launches that are not proved to write all of their write-only parameters.
    open: Open,
}

/// Returns the first argument whose elements are not all written, and whose parameter may be read. rustc says the same where the
/// macro knows; in loops and calls the numbers of the build decide.
fn read_before_written<'a>(kernel: &Kernel, accesses: &'a [Access]) -> Option<&'a Access> {
    let parameters = kernel.params.iter().filter(|param| param.kind != ParamKind::Scalar);
    let mut pairs = accesses.iter().zip(parameters);
    pairs
        .find(|(access, param)| access.mode == Mode::Write && param.kind == ParamKind::ReadWrite)
        .map(|(access, _)| access)
}

/// The launches that are not proved to write all of their write-only parameters.
pub(crate) type Open = Vec<(StatementId, &'static Kernel, Vec<Finding>)>;

impl fmt::Debug for Evaluation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluation").field("statement", &self.statement).finish_non_exhaustive()
    }
}

impl<'b> Evaluation<'b> {
    /// Returns an evaluation of that many statements, with space for their values.
    pub(crate) fn new(
        program: &'b Program,
        dims: &'b Vector<DimId, u64>,
        limits: &'b Limits,
        modules: &'b mut Modules,
        (statements, mut words): (usize, Vec<Word>),
    ) -> Evaluation<'b> {
        words.clear();
        words.reserve(4 * statements);
        let records = Vec::with_capacity(statements);
        Evaluation {
            program,
            dims,
            limits,
            modules,
            statement: StatementId::NONE,
            records,
            words,
            open: Vec::new(),
        }
    }

    /// Evaluates one statement by a step, which must record it.
    pub(super) fn one(
        &mut self,
        statement: StatementId,
        step: impl FnOnce(&mut Evaluation<'b>) -> Result<()>,
    ) -> Result<()> {
        let recorded = self.records.len();
        self.statement = statement;
        step(self)?;
        if self.records.len() == recorded + 1 {
            return Ok(());
        }
        Err(self.config("an expression in it returns before the statement is recorded".to_owned()))
    }

    /// Records the next statement, which allocates or frees: it has no values.
    pub(super) fn memory<B>(&mut self, lifetime: Lifetime<B>) {
        self.records.push(match lifetime {
            Lifetime::Begins(_) => Kind::Alloc(()),
            Lifetime::Ends(_) => Kind::Free(()),
        });
    }

    /// Returns a record for each statement, the values of parameters, and the launches that are not proved to write all.
    pub(crate) fn into_parts(self) -> (Vec<Record>, Vec<Word>, Open) {
        (self.records, self.words, self.open)
    }
}

impl<'b> Evaluation<'b> {
    fn access(&self, index: u32) -> Result<&'b Access> {
        // The table is generated with the code that asks: this cannot miss unless the two do not belong together.
        self.program.statements[self.statement]
            .accesses
            .get(size(index))
            .ok_or_else(|| Error::Plan(format!("{} has no access {index}", self.at())))
    }
}

impl Evaluation<'_> {
    #[cold]
    #[inline(never)]
    fn at(&self) -> Box<At> {
        at_statement(self.program, self.statement)
    }

    #[cold]
    #[inline(never)]
    fn config(&self, reason: String) -> Error {
        Error::Config { at: self.at(), reason }
    }

    /// Adds this statement to the error of a driver call.
    fn placed(&self, mut error: Error) -> Error {
        if let Error::Driver(failure) = &mut error
            && failure.at.is_none()
        {
            failure.at = Some(self.at());
        }
        error
    }

    /// Returns the range's length in elements.
    fn len(&self, access: &Access) -> u64 {
        self.dims[access.hi] - self.dims[access.lo]
    }

    fn name(&self, access: &Access) -> String {
        self.program.buffers[access.buffer].name.to_string()
    }

    /// Records a launch with its arguments, which the kernel's item gives in the order of its parameters.
    ///
    /// # Errors
    ///
    /// A configuration that the device or the kernel does not take, an extent that its buffer does not have.
    pub fn run(&mut self, kernel: &'static Kernel, config: impl Config, arguments: Arguments) -> Result<()> {
        let known = self.modules.known(kernel)?;
        let block_limits = BlockLimits { most: known.info.most_threads, required: known.info.required_block };
        let shape = config.shape(block_limits).map_err(|reason| self.config(reason))?;
        self.launch(kernel, &shape, &arguments)
    }

    /// Records a launch with its configuration evaluated: the part that does not depend on the configuration's type.
    fn launch(&mut self, kernel: &'static Kernel, shape: &Shape, arguments: &Arguments) -> Result<()> {
        let known = self.modules.known(kernel)?;
        let function = known.info.function;
        // Launches of one kernel are often alike.
        if known.checked != Some(*shape) {
            let info = known.info;
            self.limits.check(shape, kernel, &info).map_err(|reason| self.config(reason))?;
            if shape.shared > info.dynamic_shared {
                self.modules
                    .raise_dynamic_shared(kernel, shape.shared)
                    .map_err(|error| self.placed(error))?;
            }
            self.modules.known(kernel)?.checked = Some(*shape);
        }
        let program = self.program;
        let accesses: &[Access] = &program.statements[self.statement].accesses;
        if arguments.words().len() != kernel.words || arguments.in_order != accesses.len() {
            return Err(Error::Plan(format!("{} does not give what `{}` takes", self.at(), kernel.name)));
        }
        if let Some(fault) = arguments.fault {
            return Err(self.extent_fault(kernel, &accesses[fault.0], fault.0, Err(fault.1)));
        }
        if let Some(access) = read_before_written(kernel, accesses) {
            return Err(self.read_unwritten(kernel, access));
        }
        for (index, (access, &extent)) in accesses.iter().zip(arguments.extents()).enumerate() {
            let len = self.len(access);
            if extent != len && (extent > len || access.relied_on || self.leaves_invalid(kernel, index)) {
                return Err(self.extent_fault(kernel, access, index, Ok(extent)));
            }
        }
        if !kernel.outline.is_empty() {
            self.covered(kernel, shape, accesses, arguments)?;
        }
        let first = narrow(self.words.len());
        self.words.extend_from_slice(arguments.words());
        self.records.push(Kind::Launch(LaunchRecord { kernel, function, shape: *shape, first }));
        Ok(())
    }

    /// Returns the error for an argument whose elements are not all written before the kernel may read them.
    #[cold]
    fn read_unwritten(&self, kernel: &Kernel, access: &Access) -> Error {
        let name = self.name(access);
        let notes = [format!("`{}` takes it as `&mut [T; _]`, and may read it", kernel.name)];
        let help =
            format!("write all of `{name}` before, or declare the parameter as `&mut [MaybeUninit<T>; _]`");
        let message = format!("`{name}` is given to the kernel `{}` before it is written", kernel.name);
        let text = render(Code::CW101, &message, &notes, Some(&help));
        Error::Refused(vec![Refusal { code: Code::CW101, at: *self.at(), text }])
    }

    /// Returns true if elements that a launch does not write leave the graph, and not all bits are values of them.
    #[cold]
    fn leaves_invalid(&self, kernel: &Kernel, index: usize) -> bool {
        let access = &self.program.statements[self.statement].accesses[index];
        let param = kernel.params.iter().filter(|param| param.kind != ParamKind::Scalar).nth(index);
        access.mode == Mode::Write
            && self.program.outputs.contains(&access.buffer)
            && param.is_some_and(|param| param.checks_bits && !param.any_bits)
    }

    /// Checks that the threads of a launch write all that counts as written, and notes what is not proved.
    fn covered(
        &mut self,
        kernel: &'static Kernel,
        shape: &Shape,
        accesses: &[Access],
        arguments: &Arguments,
    ) -> Result<()> {
        let findings = self.modules.judge.findings(kernel, shape, arguments.words(), arguments.extents());
        if let Some(finding) = findings.iter().find(|finding| finding.is_error(kernel, accesses)) {
            return Err(self.uncovered(kernel, shape, &accesses[finding.access], finding, arguments));
        }
        if !findings.is_empty() {
            self.open.push((self.statement, kernel, findings));
        }
        Ok(())
    }

    #[cold]
    fn uncovered(
        &self,
        kernel: &'static Kernel,
        shape: &Shape,
        access: &Access,
        finding: &Finding,
        arguments: &Arguments,
    ) -> Error {
        let parameter = kernel.params[finding.parameter].name.to_owned();
        let (words, extents) = (arguments.words(), arguments.extents());
        let needed = || self.modules.judge.needed(kernel, finding, shape, words, extents);
        let needed = if matches!(finding.verdict, Verdict::Short { .. }) { needed() } else { None };
        let (at, buffer, kernel) = (self.at(), self.name(access), kernel.name.to_owned());
        match &finding.verdict {
            Verdict::Unknown(reason) => {
                Error::NotProvedWritten { at, kernel, parameter, buffer, reason: reason.clone() }
            }
            verdict => {
                let (written, missing) = match verdict {
                    Verdict::Short { written, missing } => (*written, *missing),
                    _ => (0, 0),
                };
                let counts = shape.grid.iter().chain(&shape.block);
                let threads = counts.fold(1u64, |all, &count| all.saturating_mul(u64::from(count)));
                let extent = extents.get(finding.access).copied().unwrap_or(0);
                let at = *at;
                let short =
                    ShortLaunch { at, kernel, parameter, buffer, extent, written, missing, threads, needed };
                Error::Short(Box::new(short))
            }
        }
    }

    /// Returns the error of the `index`-th buffer argument, which does not suit the extent that its parameter declares.
    #[cold]
    fn extent_fault(
        &self,
        kernel: &Kernel,
        access: &Access,
        index: usize,
        extent: std::result::Result<u64, Fault>,
    ) -> Error {
        let len = self.len(access);
        let mut parameters = kernel.params.iter().filter(|param| param.kind != ParamKind::Scalar);
        let parameter = parameters.nth(index).map_or("?", |param| param.name).to_owned();
        let (at, buffer, kernel) = (self.at(), self.name(access), kernel.name.to_owned());
        match extent {
            Err(fault) => Error::Size { what: "the extent", at, text: parameter, fault },
            Ok(extent) if extent > len => Error::Extent { at, kernel, parameter, buffer, extent, len },
            Ok(extent) => Error::PartlyWritten { at, kernel, buffer, extent, len },
        }
    }

    /// Records a fill with a value.
    ///
    /// # Errors
    ///
    /// A range of no elements.
    pub fn fill<T: Fillable>(&mut self, value: T) -> Result<()> {
        self.not_empty()?;
        let (size, first) = (narrow(size_of::<T>()), self.words.len());
        if size == 8 {
            self.words.resize(first + FILL64.words, cuda::address_word(0));
        }
        self.records.push(Kind::Fill(FillRecord { bits: value.bits(), size, first: narrow(first) }));
        Ok(())
    }

    /// Records a fill of a part of an argument, whose elements are of type `T`.
    ///
    /// # Errors
    ///
    /// A range of no elements.
    pub fn fill_part<T: Fillable>(&mut self, _: PhantomData<T>, value: T) -> Result<()> {
        self.fill(value)
    }

    /// Records a copy.
    ///
    /// # Errors
    ///
    /// A range of no elements; ranges of different lengths.
    pub fn copy(&mut self) -> Result<()> {
        self.not_empty()?;
        let (source, target) = (self.access(0)?, self.access(1)?);
        let (from, to) = (self.len(source), self.len(target));
        if from != to {
            let (source_name, target_name) = (self.name(source), self.name(target));
            return Err(Error::CopyLength { at: self.at(), source_name, from, target_name, to });
        }
        self.records.push(Kind::Copy(()));
        Ok(())
    }

    /// Checks that a memset or memcpy node moves at least one element.
    fn not_empty(&self) -> Result<()> {
        let accesses = &self.program.statements[self.statement].accesses;
        match accesses.iter().find(|access| self.len(access) == 0) {
            None => Ok(()),
            Some(access) => {
                let text = |id: DimId| &self.program.dims[id];
                let text = format!("{}[{}..{}]", self.name(access), text(access.lo), text(access.hi));
                Err(Error::ZeroLength { at: self.at(), text })
            }
        }
    }
}
