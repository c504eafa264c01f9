//! The kinds of statements at build: how each is evaluated, its record, and the parameters of its node. Each
//! kind has a file in `kinds/`; this module dispatches on the kind.

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;

use cudarc::driver::CudaEvent;
use cuweave_core::index::{Vector, narrow, size};
use cuweave_core::ir::{Device, DimId, Program, StatementId};
use cuweave_core::kind::{Kind, Stage, SyncWord};

use crate::bind::{Flag, FlagValue, Semaphore};
use crate::cuda::{Event, HostMemory, HostWork, Word, host_work};
use crate::error::{ConfigFault, PlanFault, Result, at_statement};
use crate::kernels::{FILL64, Kernel, LaunchRecord, Limits, Modules};

use super::arguments::Arguments;
use super::config::Config;
use super::emission::{Emission, Parameters};
use super::evaluator::{Evaluator, Extents, UnprovedLaunches};
use super::hosts::WorkId;

pub(super) mod copy;
mod event;
pub(super) mod fill;
mod host;
pub(super) mod launch;
pub(super) mod sync;

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
    type Copy = ();
    type Call = Infallible;
    type Capture = ();
    type Condition = ();
    type Host = WorkId;
    type Event = Event;
    type Sync = SyncRecord;
    type Memory = ();
}

/// The values of a statement.
pub(crate) type Record = Kind<Evaluated>;

/// The values of evaluated statements.
pub(crate) struct StatementValues {
    /// A record for each statement.
    pub records: Vec<Record>,
    /// The parameter values of all records.
    pub words: Vec<Word>,
    /// See [`UnprovedLaunches`].
    pub unproved: UnprovedLaunches,
    /// The functions of host statements.
    pub works: Vec<(WorkId, HostWork)>,
}

/// Collects the values that generated code computes for one statement after the other.
///
/// Every build evaluates all statements. A setter evaluates some of them again, in the same space.
pub struct Evaluation<'b> {
    evaluator: Evaluator<'b>,
    records: Vec<Record>,
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
        self.records.push(Kind::Launch(launch));
        Ok(())
    }

    /// Records a fill with a value.
    ///
    /// # Errors
    ///
    /// An empty range.
    pub fn fill<T: Fillable>(&mut self, value: T) -> Result<()> {
        self.records.push(Kind::Fill(FillRecord::evaluate(&mut self.evaluator, value)?));
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
        self.records.push(Kind::Copy(copy::evaluate(&self.evaluator)?));
        Ok(())
    }

    /// Records a host statement. Its function gets the statement's buffers at each launch.
    pub fn host(&mut self, work: impl FnMut(&HostMemory<'_>) + Send + 'static) -> Result<()> {
        self.host_work(host_work(work));
        Ok(())
    }

    /// Like [`Evaluation::host`], with a function that other evaluations share.
    pub(crate) fn host_work(&mut self, work: HostWork) {
        let id = WorkId::next();
        self.evaluator.works.push((id, work));
        self.records.push(Kind::Host(id));
    }

    /// Records a statement that records an event.
    ///
    /// # Errors
    ///
    /// An event of another context.
    pub fn record(&mut self, event: &CudaEvent) -> Result<()> {
        self.records.push(Kind::Record(event::evaluate(&self.evaluator, event)?));
        Ok(())
    }

    /// Records a statement that waits for an event.
    ///
    /// # Errors
    ///
    /// An event of another context.
    pub fn wait(&mut self, event: &CudaEvent) -> Result<()> {
        self.records.push(Kind::Wait(event::evaluate(&self.evaluator, event)?));
        Ok(())
    }

    /// Records a wait for the value of a flag: `first` in the first launch, and `step` more in each later one.
    ///
    /// # Errors
    ///
    /// A step that does not advance; a device without such waits.
    pub fn wait_value<T: FlagValue>(&mut self, flag: &Flag<T>, first: T, step: T) -> Result<()> {
        self.of_flag(SyncWord::WaitValue, flag, first, step)
    }

    /// Records a write of the value of a flag: `first` in the first launch, and `step` more in each later one.
    ///
    /// # Errors
    ///
    /// A device without such writes.
    pub fn write_value<T: FlagValue>(&mut self, flag: &Flag<T>, first: T, step: T) -> Result<()> {
        self.of_flag(SyncWord::WriteValue, flag, first, step)
    }

    fn of_flag<T: FlagValue>(&mut self, word: SyncWord, flag: &Flag<T>, first: T, step: T) -> Result<()> {
        let record = SyncRecord::of_flag(&self.evaluator, word, flag, first, step)?;
        self.records.push(Kind::Sync(word, record));
        Ok(())
    }

    /// Like [`Evaluation::wait_value`], for a flag in a buffer.
    ///
    /// # Errors
    ///
    /// The errors of [`Evaluation::wait_value`]; a part that is not exactly one element.
    pub fn wait_value_in<T: FlagValue>(&mut self, of: PhantomData<T>, first: T, step: T) -> Result<()> {
        self.of_buffer(SyncWord::WaitValue, of, first, step)
    }

    /// Like [`Evaluation::write_value`], for a flag in a buffer.
    ///
    /// # Errors
    ///
    /// The errors of [`Evaluation::write_value`]; a part that is not exactly one element.
    pub fn write_value_in<T: FlagValue>(&mut self, of: PhantomData<T>, first: T, step: T) -> Result<()> {
        self.of_buffer(SyncWord::WriteValue, of, first, step)
    }

    fn of_buffer<T: FlagValue>(
        &mut self,
        word: SyncWord,
        _: PhantomData<T>,
        first: T,
        step: T,
    ) -> Result<()> {
        let record = SyncRecord::of_buffer(&self.evaluator, word, first, step)?;
        self.records.push(Kind::Sync(word, record));
        Ok(())
    }

    /// Records a statement that waits for a semaphore.
    ///
    /// # Errors
    ///
    /// A semaphore of another context; a step that does not advance.
    pub fn wait_semaphore(&mut self, semaphore: &Semaphore, first: u64, step: u64) -> Result<()> {
        self.of_semaphore(SyncWord::WaitSemaphore, semaphore, first, step)
    }

    /// Records a statement that signals a semaphore.
    ///
    /// # Errors
    ///
    /// A semaphore of another context; a step that does not advance.
    pub fn signal(&mut self, semaphore: &Semaphore, first: u64, step: u64) -> Result<()> {
        self.of_semaphore(SyncWord::Signal, semaphore, first, step)
    }

    fn of_semaphore(&mut self, word: SyncWord, semaphore: &Semaphore, first: u64, step: u64) -> Result<()> {
        let record = SyncRecord::of_semaphore(&self.evaluator, word, semaphore, first, step)?;
        self.records.push(Kind::Sync(word, record));
        Ok(())
    }

    /// Records the next statement if its kind has no values to evaluate here; otherwise returns false. A library
    /// call is evaluated when its nodes are captured, and a condition's values are in its kind.
    pub(crate) fn without_values(&mut self, kind: &Kind) -> bool {
        self.records.push(match kind {
            Kind::Alloc(_) => Kind::Alloc(()),
            Kind::Free(_) => Kind::Free(()),
            Kind::Capture(()) => Kind::Capture(()),
            Kind::Condition(_) => Kind::Condition(()),
            Kind::Join(_) => Kind::Join(()),
            Kind::Launch(()) | Kind::Fill(()) | Kind::Copy(()) | Kind::Call(_) => return false,
            Kind::Host(()) | Kind::Record(()) | Kind::Wait(()) | Kind::Sync(..) => return false,
        });
        true
    }
}

/// A record with words.
enum Worded {
    Launch(LaunchRecord),
    Fill(FillRecord),
}

/// Returns the record if its kind has words.
fn worded(record: Record) -> Option<Worded> {
    match record {
        Kind::Launch(launch) => Some(Worded::Launch(launch)),
        Kind::Fill(fill) => Some(Worded::Fill(fill)),
        Kind::Copy(()) | Kind::Capture(()) | Kind::Alloc(()) | Kind::Free(()) => None,
        Kind::Condition(()) | Kind::Join(()) => None,
        Kind::Host(_) | Kind::Record(_) | Kind::Wait(_) | Kind::Sync(..) => None,
    }
}

/// The operations on a statement's record that its node needs.
pub(crate) trait RecordExt: Sized {
    /// Returns the launch of a kernel: a user's or an internal one.
    fn launch(&self) -> Option<&LaunchRecord>;

    /// Returns true for a launch of a user's kernel.
    fn is_user_launch(&self) -> bool;

    /// Returns the function of a host statement.
    fn work(&self) -> Option<WorkId>;

    /// Returns the operation and the values of a statement that waits for or sets a flag or a semaphore.
    fn sync(&self) -> Option<(SyncWord, &SyncRecord)>;

    /// Returns the index of its first word and the number of its words.
    fn words(&self) -> (usize, usize);

    /// Returns the record with its words at index `place`.
    fn at(self, place: usize) -> Record;

    /// Writes the addresses of its buffers into its words and returns the record. A fill that no memset can
    /// do becomes a launch.
    fn resolve(
        self,
        emission: &Emission<'_>,
        statement: StatementId,
        modules: &mut Modules,
        words: &mut [Word],
    ) -> Result<Record>;

    /// Calls `with` with the parameters of its node. Must be called after [`Record::resolve`].
    fn node<T>(
        self,
        emission: &Emission<'_>,
        statement: StatementId,
        with: impl FnOnce(&dyn Parameters) -> T,
    ) -> Result<T>;
}

impl RecordExt for Record {
    fn launch(&self) -> Option<&LaunchRecord> {
        if let Kind::Launch(launch) = self { Some(launch) } else { None }
    }

    fn is_user_launch(&self) -> bool {
        self.launch().is_some_and(|launch| !std::ptr::eq(launch.kernel, &FILL64))
    }

    fn work(&self) -> Option<WorkId> {
        if let Kind::Host(work) = self { Some(*work) } else { None }
    }

    fn sync(&self) -> Option<(SyncWord, &SyncRecord)> {
        if let Kind::Sync(word, sync) = self { Some((*word, sync)) } else { None }
    }

    fn words(&self) -> (usize, usize) {
        match worded(*self) {
            Some(Worded::Launch(launch)) => (size(launch.first), launch.kernel.words),
            Some(Worded::Fill(fill)) => fill.words(),
            None => (0, 0),
        }
    }

    fn at(self, place: usize) -> Record {
        let first = narrow(place);
        match worded(self) {
            Some(Worded::Launch(launch)) => Kind::Launch(LaunchRecord { first, ..launch }),
            Some(Worded::Fill(fill)) => Kind::Fill(fill.at(first)),
            None => self,
        }
    }

    fn resolve(
        self,
        emission: &Emission<'_>,
        statement: StatementId,
        modules: &mut Modules,
        words: &mut [Word],
    ) -> Result<Record> {
        Ok(match worded(self) {
            Some(Worded::Launch(launch)) => {
                launch::resolve(emission, statement, &launch, words);
                self
            }
            Some(Worded::Fill(fill)) => {
                fill.resolve(emission, statement, modules, words)?.map_or(self, Kind::Launch)
            }
            None => self,
        })
    }

    fn node<T>(
        self,
        emission: &Emission<'_>,
        statement: StatementId,
        with: impl FnOnce(&dyn Parameters) -> T,
    ) -> Result<T> {
        Ok(match self {
            Kind::Launch(launch) => with(&LaunchNode::of(&launch)),
            Kind::Fill(fill) => with(&fill.node(emission, statement)),
            Kind::Copy(()) => with(&copy::node(emission, statement)),
            Kind::Host(work) => with(&HostNode::of(emission, statement, work)?),
            Kind::Record(event) => with(&EventNode { event, records: true }),
            Kind::Wait(event) => with(&EventNode { event, records: false }),
            Kind::Sync(word, sync) => with(&sync.node(emission, statement, word)),
            // Library calls are captured, and conditions need handles; both are added elsewhere.
            Kind::Capture(()) | Kind::Condition(()) | Kind::Join(()) | Kind::Alloc(()) | Kind::Free(()) => {
                return Err(PlanFault::NotEvaluated(at_statement(emission.program, statement)).into());
            }
        })
    }
}

impl<'b> Evaluation<'b> {
    /// Returns an evaluation with space for `statements` statements. Reuses `words` for their values.
    pub(crate) fn new(
        program: &'b Program,
        dims: &'b Vector<DimId, u64>,
        limits: &'b Vector<Device, Limits>,
        modules: &'b mut Modules,
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
                statement,
                words,
                unproved,
                extents: None,
                works: Vec::new(),
            },
            records: Vec::with_capacity(statements),
        }
    }

    /// Keeps the extents of all launches that are evaluated after this call.
    pub(crate) fn keep_extents(&mut self) {
        self.evaluator.extents = Some(Extents::new());
    }

    /// Returns the kept extents.
    pub(crate) fn into_extents(self) -> Extents {
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
        Err(self.evaluator.config(ConfigFault::ReturnsBeforeStatement))
    }

    /// Returns the values of the evaluated statements.
    pub(crate) fn finish(self) -> StatementValues {
        let Evaluator { words, unproved, works, .. } = self.evaluator;
        StatementValues { records: self.records, words, unproved, works }
    }
}
