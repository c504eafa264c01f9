//! Statements that wait for, write or signal flags and semaphores.
//!
//! Launch `n` of an exec uses the value `first + n * step`, so no launch mistakes an earlier launch's signal
//! for its own. The nodes hold the values of the last launch and are patched before the next one (see
//! `exec/counting`).

use cuweave_core::ir::{Device, StatementId};
use cuweave_core::kind::SyncOperation;

use crate::bind::{Flag, FlagValue, Semaphore, is_positive_step, precedes};
use crate::cuda::{Node, Outcome, RawSemaphore, SemaphoreOperation, ValueOperation, Width};
use crate::error::{ConfigFault, DeviceFeature, Error, Result};
use crate::statements::emission::{AddContext, EmissionContext, Parameters, SetContext};
use crate::statements::evaluator::Evaluator;

/// The values of a statement that waits for or sets a flag or a semaphore.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyncRecord {
    target: SyncTarget,
    /// The value for launch 0.
    first: u64,
    /// The difference between the values of consecutive launches.
    step: u64,
}

/// The location of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SyncTarget {
    /// The address of a flag.
    Flag(Width, u64),
    /// The buffer of the statement's only access.
    Buffer(Width),
    Semaphore {
        raw: RawSemaphore,
        counts: bool,
    },
}

impl SyncRecord {
    /// Evaluates a statement on a flag.
    ///
    /// # Errors
    ///
    /// A device without 8-byte operations; a wait whose values do not advance.
    pub(super) fn from_flag<T: FlagValue>(
        evaluator: &Evaluator<'_>,
        word: SyncOperation,
        flag: &Flag<T>,
        first: T,
        step: T,
    ) -> Result<SyncRecord> {
        let target = SyncTarget::Flag(T::WIDTH, flag.address());
        SyncRecord { target, first: first.bits(), step: step.bits() }.checked(evaluator, word)
    }

    /// Evaluates a statement on a buffer of one element.
    ///
    /// # Errors
    ///
    /// The errors of [`SyncRecord::from_flag`]; a part that is not exactly one element.
    pub(super) fn from_buffer<T: FlagValue>(
        evaluator: &Evaluator<'_>,
        word: SyncOperation,
        first: T,
        step: T,
    ) -> Result<SyncRecord> {
        let access = evaluator.access(0)?;
        let len = evaluator.len(access);
        if len != 1 {
            let (word, buffer) = (word.name(), evaluator.name(access));
            return Err(evaluator.config_error(ConfigFault::OneElement { word, buffer, len }));
        }
        let target = SyncTarget::Buffer(T::WIDTH);
        SyncRecord { target, first: first.bits(), step: step.bits() }.checked(evaluator, word)
    }

    /// Evaluates a statement on a semaphore.
    ///
    /// # Errors
    ///
    /// A semaphore of another context; a counting semaphore whose value does not advance.
    pub(super) fn from_semaphore(
        evaluator: &Evaluator<'_>,
        word: SyncOperation,
        semaphore: &Semaphore,
        first: u64,
        step: u64,
    ) -> Result<SyncRecord> {
        if !evaluator.modules.is_of(semaphore.context()) {
            return Err(Error::SemaphoreOfOtherContext { at: evaluator.at() });
        }
        let target = SyncTarget::Semaphore { raw: semaphore.raw(), counts: semaphore.counts() };
        SyncRecord { target, first, step }.checked(evaluator, word)
    }

    fn checked(self, evaluator: &Evaluator<'_>, word: SyncOperation) -> Result<SyncRecord> {
        let SyncRecord { target, step, .. } = self;
        if let SyncTarget::Flag(Width::Wide, _) | SyncTarget::Buffer(Width::Wide) = target
            && !evaluator.limits[Device::FIRST].wide_memory_operations()
        {
            return Err(Error::NotOnThisDevice { what: DeviceFeature::WideMemoryOperations });
        }
        let advances = match target {
            SyncTarget::Flag(width, _) | SyncTarget::Buffer(width) => is_positive_step(width, step),
            SyncTarget::Semaphore { counts: true, .. } => step > 0,
            SyncTarget::Semaphore { counts: false, .. } => true,
        };
        // All launches may write the same value to a flag, as a reset.
        if advances || word == SyncOperation::WriteValue {
            return Ok(self);
        }
        let word = word.name();
        let reason = match step {
            0 => ConfigFault::NoStep { word },
            _ => ConfigFault::LongStep { word, step },
        };
        Err(evaluator.config_error(reason))
    }

    /// Returns the value for a launch.
    fn value(&self, launch: u64) -> u64 {
        let value = self.first.wrapping_add(self.step.wrapping_mul(launch));
        match self.target {
            SyncTarget::Flag(Width::Narrow, _) | SyncTarget::Buffer(Width::Narrow) => {
                value & u64::from(u32::MAX)
            }
            SyncTarget::Flag(Width::Wide, _)
            | SyncTarget::Buffer(Width::Wide)
            | SyncTarget::Semaphore { .. } => value,
        }
    }

    /// Returns true if the value differs from launch to launch.
    pub(crate) fn advances(&self) -> bool {
        self.step != 0 && !matches!(self.target, SyncTarget::Semaphore { counts: false, .. })
    }

    /// Returns the launch's value if it must be ahead of the previous launch's. `None` for writes to memory,
    /// which may have any value, and for semaphores without a value.
    pub(crate) fn sync_value(
        &self,
        emission: &EmissionContext<'_>,
        statement: StatementId,
        word: SyncOperation,
        launch: u64,
    ) -> Option<SyncValue> {
        let (waits, value) = (word.waits(), self.value(launch));
        let place = match self.target {
            SyncTarget::Flag(width, address) => SyncLocation::Memory(width, address),
            SyncTarget::Buffer(width) => {
                SyncLocation::Memory(width, emission.elements_of(statement, 0).address)
            }
            SyncTarget::Semaphore { raw, counts: true } => SyncLocation::Semaphore(raw),
            SyncTarget::Semaphore { counts: false, .. } => return None,
        };
        let is_free = matches!(place, SyncLocation::Memory(..)) && !waits;
        (!is_free).then_some(SyncValue { waits, place, value })
    }

    /// Returns the parameters of its node.
    pub(super) fn node(
        self,
        emission: &EmissionContext<'_>,
        statement: StatementId,
        word: SyncOperation,
    ) -> SyncNode {
        let (value, waits) = (self.value(emission.launch), word.waits());
        let in_memory = |width, address| SyncNode::Value(ValueOperation { waits, width, address, value });
        match self.target {
            SyncTarget::Flag(width, address) => in_memory(width, address),
            SyncTarget::Buffer(width) => in_memory(width, emission.elements_of(statement, 0).address),
            SyncTarget::Semaphore { raw, .. } => {
                SyncNode::Semaphore(SemaphoreOperation { waits, semaphore: raw, value })
            }
        }
    }
}

/// A flag by its address, or a semaphore by its handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SyncLocation {
    Memory(Width, u64),
    Semaphore(RawSemaphore),
}

/// A value that a launch waits for or signals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyncValue {
    waits: bool,
    place: SyncLocation,
    pub value: u64,
}

impl SyncValue {
    /// Returns true if both wait for the same flag or semaphore, or both signal the same one.
    pub fn is_of(&self, other: &SyncValue) -> bool {
        (self.waits, self.place) == (other.waits, other.place)
    }

    /// Returns true if the value is ahead of `earlier`, a value of the same flag or semaphore.
    pub fn is_ahead_of(&self, earlier: &SyncValue) -> bool {
        match self.place {
            SyncLocation::Memory(width, _) => precedes(width, earlier.value, self.value),
            SyncLocation::Semaphore(_) => earlier.value < self.value,
        }
    }
}

/// The parameters of a flag's or semaphore's node.
pub(super) enum SyncNode {
    Value(ValueOperation),
    Semaphore(SemaphoreOperation),
}

impl Parameters for SyncNode {
    fn add(&self, AddContext { driver, context, graph, after, .. }: AddContext<'_>) -> Outcome<Node> {
        match self {
            SyncNode::Value(operation) => driver.add_value(graph, after, operation, context),
            SyncNode::Semaphore(operation) => driver.add_semaphore(graph, after, operation),
        }
    }

    fn set(&self, SetContext { driver, context, exec, node, .. }: SetContext<'_>) -> Outcome<()> {
        match self {
            SyncNode::Value(operation) => driver.set_value(exec, node, operation, context),
            SyncNode::Semaphore(operation) => driver.set_semaphore(exec, node, operation),
        }
    }
}
