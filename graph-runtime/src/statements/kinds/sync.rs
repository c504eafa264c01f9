//! Statements that wait for, write or signal flags and semaphores.
//!
//! Launch `n` of an exec uses the value `first + n * step`, so no launch mistakes an earlier launch's signal
//! for its own. The nodes hold the values of the last launch and are patched before the next one (see
//! `exec/counting`).

use cuweave_core::ir::{Device, StatementId};
use cuweave_core::kind::SyncWord;

use crate::bind::{Flag, FlagValue, Semaphore, goes_ahead, is_behind};
use crate::cuda::{Node, Outcome, RawSemaphore, SemaphoreOperation, ValueOperation, Width};
use crate::error::{ConfigFault, DeviceFeature, Error, Result};
use crate::statements::emission::{Adding, Emission, Parameters, Setting};
use crate::statements::evaluator::Evaluator;

/// The values of a statement that waits for or sets a flag or a semaphore.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyncRecord {
    target: Target,
    /// The value for launch 0.
    first: u64,
    /// The difference between the values of consecutive launches.
    step: u64,
}

/// The location of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
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
    pub(super) fn of_flag<T: FlagValue>(
        evaluator: &Evaluator<'_>,
        word: SyncWord,
        flag: &Flag<T>,
        first: T,
        step: T,
    ) -> Result<SyncRecord> {
        let target = Target::Flag(T::WIDTH, flag.address());
        SyncRecord { target, first: first.bits(), step: step.bits() }.checked(evaluator, word)
    }

    /// Evaluates a statement on a buffer of one element.
    ///
    /// # Errors
    ///
    /// The errors of [`SyncRecord::of_flag`]; a part that is not exactly one element.
    pub(super) fn of_buffer<T: FlagValue>(
        evaluator: &Evaluator<'_>,
        word: SyncWord,
        first: T,
        step: T,
    ) -> Result<SyncRecord> {
        let access = evaluator.access(0)?;
        let len = evaluator.len(access);
        if len != 1 {
            let (word, buffer) = (word.name(), evaluator.name(access));
            return Err(evaluator.config(ConfigFault::OneElement { word, buffer, len }));
        }
        let target = Target::Buffer(T::WIDTH);
        SyncRecord { target, first: first.bits(), step: step.bits() }.checked(evaluator, word)
    }

    /// Evaluates a statement on a semaphore.
    ///
    /// # Errors
    ///
    /// A semaphore of another context; a counting semaphore whose value does not advance.
    pub(super) fn of_semaphore(
        evaluator: &Evaluator<'_>,
        word: SyncWord,
        semaphore: &Semaphore,
        first: u64,
        step: u64,
    ) -> Result<SyncRecord> {
        if !evaluator.modules.is_of(semaphore.context()) {
            return Err(Error::SemaphoreOfOtherContext { at: evaluator.at() });
        }
        let target = Target::Semaphore { raw: semaphore.raw(), counts: semaphore.counts() };
        SyncRecord { target, first, step }.checked(evaluator, word)
    }

    fn checked(self, evaluator: &Evaluator<'_>, word: SyncWord) -> Result<SyncRecord> {
        let SyncRecord { target, step, .. } = self;
        if let Target::Flag(Width::Wide, _) | Target::Buffer(Width::Wide) = target
            && !evaluator.limits[Device::FIRST].wide_memory_operations()
        {
            return Err(Error::NotOnThisDevice { what: DeviceFeature::WideMemoryOperations });
        }
        let advances = match target {
            Target::Flag(width, _) | Target::Buffer(width) => goes_ahead(width, step),
            Target::Semaphore { counts: true, .. } => step > 0,
            Target::Semaphore { counts: false, .. } => true,
        };
        // All launches may write the same value to a flag, as a reset.
        if advances || word == SyncWord::WriteValue {
            return Ok(self);
        }
        let word = word.name();
        let reason = match step {
            0 => ConfigFault::NoStep { word },
            _ => ConfigFault::LongStep { word, step },
        };
        Err(evaluator.config(reason))
    }

    /// Returns the value for a launch.
    fn value(&self, launch: u64) -> u64 {
        let value = self.first.wrapping_add(self.step.wrapping_mul(launch));
        match self.target {
            Target::Flag(Width::Narrow, _) | Target::Buffer(Width::Narrow) => value & u64::from(u32::MAX),
            Target::Flag(Width::Wide, _) | Target::Buffer(Width::Wide) | Target::Semaphore { .. } => value,
        }
    }

    /// Returns true if the value differs from launch to launch.
    pub(crate) fn advances(&self) -> bool {
        self.step != 0 && !matches!(self.target, Target::Semaphore { counts: false, .. })
    }

    /// Returns the launch's value if it must be ahead of the previous launch's. `None` for writes to memory,
    /// which may have any value, and for semaphores without a value.
    pub(crate) fn due(
        &self,
        emission: &Emission<'_>,
        statement: StatementId,
        word: SyncWord,
        launch: u64,
    ) -> Option<Due> {
        let (waits, value) = (word.waits(), self.value(launch));
        let place = match self.target {
            Target::Flag(width, address) => Place::Memory(width, address),
            Target::Buffer(width) => Place::Memory(width, emission.elements_of(statement, 0).address),
            Target::Semaphore { raw, counts: true } => Place::Semaphore(raw),
            Target::Semaphore { counts: false, .. } => return None,
        };
        let is_free = matches!(place, Place::Memory(..)) && !waits;
        (!is_free).then_some(Due { waits, place, value })
    }

    /// Returns the parameters of its node.
    pub(super) fn node(self, emission: &Emission<'_>, statement: StatementId, word: SyncWord) -> SyncNode {
        let (value, waits) = (self.value(emission.launch), word.waits());
        let in_memory = |width, address| SyncNode::Value(ValueOperation { waits, width, address, value });
        match self.target {
            Target::Flag(width, address) => in_memory(width, address),
            Target::Buffer(width) => in_memory(width, emission.elements_of(statement, 0).address),
            Target::Semaphore { raw, .. } => {
                SyncNode::Semaphore(SemaphoreOperation { waits, semaphore: raw, value })
            }
        }
    }
}

/// A flag by its address, or a semaphore by its handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Memory(Width, u64),
    Semaphore(RawSemaphore),
}

/// A value that a launch waits for or signals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    waits: bool,
    place: Place,
    pub value: u64,
}

impl Due {
    /// Returns true if both wait for the same flag or semaphore, or both signal the same one.
    pub fn is_of(&self, other: &Due) -> bool {
        (self.waits, self.place) == (other.waits, other.place)
    }

    /// Returns true if the value is ahead of `earlier`, a value of the same flag or semaphore.
    pub fn is_ahead_of(&self, earlier: &Due) -> bool {
        match self.place {
            Place::Memory(width, _) => is_behind(width, earlier.value, self.value),
            Place::Semaphore(_) => earlier.value < self.value,
        }
    }
}

/// The parameters of a flag's or semaphore's node.
pub(super) enum SyncNode {
    Value(ValueOperation),
    Semaphore(SemaphoreOperation),
}

impl Parameters for SyncNode {
    fn add(&self, Adding { driver, context, graph, after, .. }: Adding<'_>) -> Outcome<Node> {
        match self {
            SyncNode::Value(operation) => driver.add_value(graph, after, operation, context),
            SyncNode::Semaphore(operation) => driver.add_semaphore(graph, after, operation),
        }
    }

    fn set(&self, Setting { driver, context, exec, node, .. }: Setting<'_>) -> Outcome<()> {
        match self {
            SyncNode::Value(operation) => driver.set_value(exec, node, operation, context),
            SyncNode::Semaphore(operation) => driver.set_semaphore(exec, node, operation),
        }
    }
}
