//! The kinds of statements at build: how each is evaluated, its record, and the parameters of its node. Each
//! kind has a file in `kinds/`; this module dispatches on the kind.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;

use cudarc::driver::CudaEvent;
use cuweave_core::index::{Vector, narrow, size};
use cuweave_core::ir::{Device, DimId, Program, StatementId};
use cuweave_core::kind::{Stage, StatementKind, SyncOperation};

use crate::bind::{Flag, FlagValue, Semaphore};
use crate::cuda::{Event, HostMemory, HostWork, Word, host_work};
use crate::error::{ConfigFault, PlanFault, Result, at_statement};
use crate::kernels::{COPY_ROWS, DeviceLimits, FILL_ROWS, FILL64, Kernel, LaunchRecord, Modules};

use super::arguments::Arguments;
use super::config::Config;
use super::emission::{EmissionContext, Parameters};
use super::evaluator::{Evaluator, LaunchExtents, UnprovedLaunches};
use super::host_functions::HostFunctionId;

pub(super) mod copy;
mod event;
pub(super) mod fill;
mod host;
pub(super) mod launch;
pub(super) mod sync;

use copy::CopyRecord;
use event::EventNode;
use fill::{FillRecord, Fillable};
use host::HostNode;
use launch::LaunchNode;
use sync::SyncRecord;

/// The build stage after evaluation. Parameter values are in a list of words that all statements share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evaluated;

impl Stage for Evaluated {
    type Launch = LaunchRecord;
    type Fill = FillRecord;
    type Copy = CopyRecord;
    type Call = Infallible;
    type Capture = ();
    type Condition = ();
    type Host = HostFunctionId;
    type Event = Event;
    type Sync = SyncRecord;
    type Memory = ();
}

/// The values of a statement.
pub(crate) type StatementRecord = StatementKind<Evaluated>;

/// The values of evaluated statements.
pub(crate) struct StatementValues {
    /// A record for each statement.
    pub records: Vec<StatementRecord>,
    /// The parameter values of all records.
    pub words: Vec<Word>,
    /// See [`UnprovedLaunches`].
    pub unproved: UnprovedLaunches,
    /// The functions of host statements.
    pub works: Vec<(HostFunctionId, HostWork)>,
}

/// Collects the values that generated code computes for one statement after the other.
///
/// Every build evaluates all statements. A setter evaluates some of them again, in the same space.
pub struct Evaluation<'b> {
    evaluator: Evaluator<'b>,
    records: Vec<StatementRecord>,
}

impl fmt::Debug for Evaluation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluation").field("statement", &self.evaluator.statement).finish_non_exhaustive()
    }
}

impl Evaluation<'_> {
    /// Records a launch. The arguments are in the order of the kernel's parameters.
    ///
    /// # Errors
    ///
    /// A configuration that the device or the kernel does not support; an extent that is longer than its buffer.
    pub fn run(&mut self, kernel: &'static Kernel, config: impl Config, arguments: Arguments) -> Result<()> {
        let kernel = kernel.without(arguments.absent);
        let launch = launch::evaluate(&mut self.evaluator, kernel, config, &arguments)?;
        self.records.push(StatementKind::Launch(launch));
        Ok(())
    }

    /// Records a fill with a value.
    ///
    /// # Errors
    ///
    /// An empty range.
    pub fn fill<T: Fillable>(&mut self, value: T) -> Result<()> {
        self.records.push(StatementKind::Fill(FillRecord::evaluate(&mut self.evaluator, value)?));
        Ok(())
    }

    /// Records a fill of a part of an argument with elements of type `T`.
    ///
    /// # Errors
    ///
    /// An empty range.
    pub fn fill_part<T: Fillable>(&mut self, _: PhantomData<T>, value: T) -> Result<()> {
        self.fill(value)
    }

    /// Records a copy.
    ///
    /// # Errors
    ///
    /// An empty range; ranges of different lengths.
    pub fn copy(&mut self) -> Result<()> {
        self.records.push(StatementKind::Copy(copy::evaluate(&mut self.evaluator)?));
        Ok(())
    }

    /// Records a host statement. Its function gets the statement's buffers at each launch.
    pub fn host(&mut self, work: impl FnMut(&HostMemory<'_>) + Send + 'static) -> Result<()> {
        self.host_work(host_work(work));
        Ok(())
    }

    /// Like [`Evaluation::host`], with a function that other evaluations share.
    pub(crate) fn host_work(&mut self, work: HostWork) {
        let id = HostFunctionId::next();
        self.evaluator.works.push((id, work));
        self.records.push(StatementKind::Host(id));
    }

    /// Records a statement that records an event.
    ///
    /// # Errors
    ///
    /// An event of another context.
    pub fn record(&mut self, event: &CudaEvent) -> Result<()> {
        self.records.push(StatementKind::Record(event::evaluate(&self.evaluator, event)?));
        Ok(())
    }

    /// Records a statement that waits for an event.
    ///
    /// # Errors
    ///
    /// An event of another context.
    pub fn wait(&mut self, event: &CudaEvent) -> Result<()> {
        self.records.push(StatementKind::Wait(event::evaluate(&self.evaluator, event)?));
        Ok(())
    }

    /// Records a wait for the value of a flag: `first` in the first launch, and `step` more in each later one.
    ///
    /// # Errors
    ///
    /// A step that does not advance; a device without such waits.
    pub fn wait_value<T: FlagValue>(&mut self, flag: &Flag<T>, first: T, step: T) -> Result<()> {
        self.push_flag(SyncOperation::WaitValue, flag, first, step)
    }

    /// Records a write of the value of a flag: `first` in the first launch, and `step` more in each later one.
    ///
    /// # Errors
    ///
    /// A device without such writes.
    pub fn write_value<T: FlagValue>(&mut self, flag: &Flag<T>, first: T, step: T) -> Result<()> {
        self.push_flag(SyncOperation::WriteValue, flag, first, step)
    }

    fn push_flag<T: FlagValue>(
        &mut self,
        word: SyncOperation,
        flag: &Flag<T>,
        first: T,
        step: T,
    ) -> Result<()> {
        let record = SyncRecord::from_flag(&self.evaluator, word, flag, first, step)?;
        self.records.push(StatementKind::Sync(word, record));
        Ok(())
    }

    /// Like [`Evaluation::wait_value`], for a flag in a buffer.
    ///
    /// # Errors
    ///
    /// The errors of [`Evaluation::wait_value`]; a part that is not exactly one element.
    pub fn wait_value_in<T: FlagValue>(&mut self, of: PhantomData<T>, first: T, step: T) -> Result<()> {
        self.push_buffer(SyncOperation::WaitValue, of, first, step)
    }

    /// Like [`Evaluation::write_value`], for a flag in a buffer.
    ///
    /// # Errors
    ///
    /// The errors of [`Evaluation::write_value`]; a part that is not exactly one element.
    pub fn write_value_in<T: FlagValue>(&mut self, of: PhantomData<T>, first: T, step: T) -> Result<()> {
        self.push_buffer(SyncOperation::WriteValue, of, first, step)
    }

    fn push_buffer<T: FlagValue>(
        &mut self,
        word: SyncOperation,
        _: PhantomData<T>,
        first: T,
        step: T,
    ) -> Result<()> {
        let record = SyncRecord::from_buffer(&self.evaluator, word, first, step)?;
        self.records.push(StatementKind::Sync(word, record));
        Ok(())
    }

    /// Records a statement that waits for a semaphore.
    ///
    /// # Errors
    ///
    /// A semaphore of another context; a step that does not advance.
    pub fn wait_semaphore(&mut self, semaphore: &Semaphore, first: u64, step: u64) -> Result<()> {
        self.push_semaphore(SyncOperation::WaitSemaphore, semaphore, first, step)
    }

    /// Records a statement that signals a semaphore.
    ///
    /// # Errors
    ///
    /// A semaphore of another context; a step that does not advance.
    pub fn signal(&mut self, semaphore: &Semaphore, first: u64, step: u64) -> Result<()> {
        self.push_semaphore(SyncOperation::Signal, semaphore, first, step)
    }

    fn push_semaphore(
        &mut self,
        word: SyncOperation,
        semaphore: &Semaphore,
        first: u64,
        step: u64,
    ) -> Result<()> {
        let record = SyncRecord::from_semaphore(&self.evaluator, word, semaphore, first, step)?;
        self.records.push(StatementKind::Sync(word, record));
        Ok(())
    }

    /// Records the next statement if its kind has no values to evaluate here; otherwise returns false. A library
    /// call is evaluated when its nodes are captured, and a condition's values are in its kind.
    pub(crate) fn without_values(&mut self, kind: &StatementKind) -> bool {
        self.records.push(match kind {
            StatementKind::Alloc(_) => StatementKind::Alloc(()),
            StatementKind::Free(_) => StatementKind::Free(()),
            StatementKind::Capture(()) => StatementKind::Capture(()),
            StatementKind::Condition(_) => StatementKind::Condition(()),
            StatementKind::Join(_) => StatementKind::Join(()),
            StatementKind::Launch(())
            | StatementKind::Fill(())
            | StatementKind::Copy(())
            | StatementKind::Call(_) => return false,
            StatementKind::Host(())
            | StatementKind::Record(())
            | StatementKind::Wait(())
            | StatementKind::Sync(..) => return false,
        });
        true
    }
}

/// A record with words.
enum RecordWithWords {
    Launch(LaunchRecord),
    Fill(FillRecord),
    Copy(CopyRecord),
}

/// Returns the record if its kind has words.
fn with_words(record: StatementRecord) -> Option<RecordWithWords> {
    match record {
        StatementKind::Launch(launch) => Some(RecordWithWords::Launch(launch)),
        StatementKind::Fill(fill) => Some(RecordWithWords::Fill(fill)),
        StatementKind::Copy(copy) => Some(RecordWithWords::Copy(copy)),
        StatementKind::Capture(()) | StatementKind::Alloc(()) | StatementKind::Free(()) => None,
        StatementKind::Condition(()) | StatementKind::Join(()) => None,
        StatementKind::Host(_)
        | StatementKind::Record(_)
        | StatementKind::Wait(_)
        | StatementKind::Sync(..) => None,
    }
}

/// The operations on a statement's record that its node needs.
pub(crate) trait StatementRecordExt: Sized {
    /// Returns the launch of a kernel: a user's or an internal one.
    fn launch(&self) -> Option<&LaunchRecord>;

    /// Returns true for a launch of a user's kernel.
    fn is_user_launch(&self) -> bool;

    /// Returns true for a launch without blocks, and for a fill or copy without bytes.
    fn is_empty(&self, program: &Program, dims: &Vector<DimId, u64>, statement: StatementId) -> bool;

    /// Returns the function of a host statement.
    fn work(&self) -> Option<HostFunctionId>;

    /// Returns the operation and the values of a statement that waits for or sets a flag or a semaphore.
    fn sync(&self) -> Option<(SyncOperation, &SyncRecord)>;

    /// Returns the index of its first word and the number of its words.
    fn words(&self) -> (usize, usize);

    /// Returns the record with its words at index `place`.
    fn at(self, place: usize) -> StatementRecord;

    /// Writes the addresses of its buffers into its words and returns the record. A fill that no memset can
    /// do, and a copy that no memcpy can do, becomes a launch.
    fn resolve(
        self,
        emission: &EmissionContext<'_>,
        statement: StatementId,
        modules: &mut Modules,
        words: &mut [Word],
    ) -> Result<StatementRecord>;

    /// Calls `with` with the parameters of its node. Must be called after [`StatementRecord::resolve`].
    fn node<T>(
        self,
        emission: &EmissionContext<'_>,
        statement: StatementId,
        with: impl FnOnce(&dyn Parameters) -> T,
    ) -> Result<T>;
}

impl StatementRecordExt for StatementRecord {
    fn launch(&self) -> Option<&LaunchRecord> {
        if let StatementKind::Launch(launch) = self { Some(launch) } else { None }
    }

    fn is_user_launch(&self) -> bool {
        let transfers = [&FILL64, &FILL_ROWS, &COPY_ROWS];
        let is_own = |kernel: &Kernel| transfers.into_iter().any(|own| std::ptr::eq(kernel, own));
        self.launch().is_some_and(|launch| !is_own(launch.kernel))
    }

    fn is_empty(&self, program: &Program, dims: &Vector<DimId, u64>, statement: StatementId) -> bool {
        let statement = &program.statements[statement];
        if statement.kind.is_transfer() {
            return statement.accesses.first().is_some_and(|access| dims[access.lo] == dims[access.hi]);
        }
        self.launch().is_some_and(|launch| launch.shape.grid.contains(&0))
    }

    fn work(&self) -> Option<HostFunctionId> {
        if let StatementKind::Host(work) = self { Some(*work) } else { None }
    }

    fn sync(&self) -> Option<(SyncOperation, &SyncRecord)> {
        if let StatementKind::Sync(word, sync) = self { Some((*word, sync)) } else { None }
    }

    fn words(&self) -> (usize, usize) {
        match with_words(*self) {
            Some(RecordWithWords::Launch(launch)) => (size(launch.first), launch.kernel.words),
            Some(RecordWithWords::Fill(fill)) => fill.words(),
            Some(RecordWithWords::Copy(copy)) => copy.words(),
            None => (0, 0),
        }
    }

    fn at(self, place: usize) -> StatementRecord {
        let first = narrow(place);
        match with_words(self) {
            Some(RecordWithWords::Launch(launch)) => StatementKind::Launch(LaunchRecord { first, ..launch }),
            Some(RecordWithWords::Fill(fill)) => StatementKind::Fill(fill.at(first)),
            Some(RecordWithWords::Copy(copy)) => StatementKind::Copy(copy.at(first)),
            None => self,
        }
    }

    fn resolve(
        self,
        emission: &EmissionContext<'_>,
        statement: StatementId,
        modules: &mut Modules,
        words: &mut [Word],
    ) -> Result<StatementRecord> {
        Ok(match with_words(self) {
            Some(RecordWithWords::Launch(launch)) => {
                launch::resolve(emission, statement, &launch, words);
                self
            }
            Some(RecordWithWords::Fill(fill)) => {
                fill.resolve(emission, statement, modules, words)?.map_or(self, StatementKind::Launch)
            }
            Some(RecordWithWords::Copy(copy)) => {
                copy.resolve(emission, statement, modules, words)?.map_or(self, StatementKind::Launch)
            }
            None => self,
        })
    }

    fn node<T>(
        self,
        emission: &EmissionContext<'_>,
        statement: StatementId,
        with: impl FnOnce(&dyn Parameters) -> T,
    ) -> Result<T> {
        Ok(match self {
            StatementKind::Launch(launch) => with(&LaunchNode::new(&launch)),
            StatementKind::Fill(fill) => with(&fill.node(emission, statement)),
            StatementKind::Copy(_) => with(&copy::node(emission, statement)),
            StatementKind::Host(work) => with(&HostNode::new(emission, statement, work)?),
            StatementKind::Record(event) => with(&EventNode { event, records: true }),
            StatementKind::Wait(event) => with(&EventNode { event, records: false }),
            StatementKind::Sync(word, sync) => with(&sync.node(emission, statement, word)),
            // Library calls are captured, and conditions need handles; both are added elsewhere.
            StatementKind::Capture(())
            | StatementKind::Condition(())
            | StatementKind::Join(())
            | StatementKind::Alloc(())
            | StatementKind::Free(()) => {
                return Err(PlanFault::NotEvaluated(at_statement(emission.program, statement)).into());
            }
        })
    }
}

impl<'b> Evaluation<'b> {
    /// Returns an evaluation with space for `statements` statements. Those in `may_be_empty` may have no blocks or
    /// bytes. Reuses `words` for their values.
    pub(crate) fn new(
        program: &'b Program,
        dims: &'b Vector<DimId, u64>,
        limits: &'b Vector<Device, DeviceLimits>,
        modules: &'b mut Modules,
        may_be_empty: &'b BTreeSet<StatementId>,
        statements: usize,
        mut words: Vec<Word>,
    ) -> Evaluation<'b> {
        words.clear();
        words.reserve(4 * statements);
        let (statement, unproved) = (StatementId::NONE, Vec::new());
        Evaluation {
            evaluator: Evaluator {
                program,
                dims,
                limits,
                modules,
                may_be_empty,
                statement,
                words,
                unproved,
                checks_accesses: true,
                extents: None,
                works: Vec::new(),
            },
            records: Vec::with_capacity(statements),
        }
    }

    /// Keeps the extents of all launches that are evaluated after this call.
    pub(crate) fn keep_extents(&mut self) {
        self.evaluator.extents = Some(LaunchExtents::new());
    }

    /// Evaluates launches without a check of what they access.
    pub(crate) fn skip_access_checks(&mut self) {
        self.evaluator.checks_accesses = false;
    }

    /// Returns the kept extents.
    pub(crate) fn into_extents(self) -> LaunchExtents {
        self.evaluator.extents.unwrap_or_default()
    }

    /// Evaluates one statement. `step` must record exactly one.
    pub(crate) fn one(
        &mut self,
        statement: StatementId,
        step: impl FnOnce(&mut Evaluation<'b>) -> Result<()>,
    ) -> Result<()> {
        let recorded = self.records.len();
        self.evaluator.statement = statement;
        step(self)?;
        if self.records.len() == recorded + 1 {
            return Ok(());
        }
        Err(self.evaluator.config_error(ConfigFault::ReturnsBeforeStatement))
    }

    /// Returns the values of the evaluated statements.
    pub(crate) fn finish(self) -> StatementValues {
        let Evaluator { words, unproved, works, .. } = self.evaluator;
        StatementValues { records: self.records, words, unproved, works }
    }
}
