//! [`Flag`]: a value in page-locked memory that graphs, the host and other devices write and wait for while
//! launches run.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cudarc::driver::CudaContext;
use cuweave_core::index::{low, wide};

use crate::context;
use crate::cuda::{self, FlagMemory, Width};
use crate::error::Result;

/// A value that graphs wait for and write, by `wait_value` and `write_value`, and that the host loads and
/// stores while launches run. Declared as `flag: &Flag<u32>` in a graph function and bound as an `Arc`.
///
/// It is in page-locked memory, which every device can access. Comparisons wrap around: `a` has reached `b`
/// unless `a` precedes `b` by up to half of the range.
pub struct Flag<T> {
    memory: FlagMemory,
    of: PhantomData<fn() -> T>,
}

impl<T: FlagValue> fmt::Debug for Flag<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Flag").field(&self.load()).finish()
    }
}

impl<T: FlagValue> Flag<T> {
    /// Creates a flag with value 0.
    ///
    /// # Errors
    ///
    /// No driver is installed; a failure of the driver.
    pub fn new(ctx: &Arc<CudaContext>) -> Result<Arc<Flag<T>>> {
        let driver = cuda::driver()?;
        context::enter(driver, ctx)?;
        Ok(Arc::new(Flag { memory: FlagMemory::new(driver, ctx)?, of: PhantomData }))
    }

    /// Loads the value. This thread then sees everything that the host or a graph wrote before that value.
    #[must_use]
    pub fn load(&self) -> T {
        T::load(&self.memory)
    }

    /// Stores the value. Whoever waits for it then sees everything that this thread wrote before.
    pub fn store(&self, value: T) {
        value.store(&self.memory);
    }

    /// Returns true if the flag has reached `value`.
    #[must_use]
    pub fn has_reached(&self, value: T) -> bool {
        !T::precedes(self.load(), value)
    }

    /// Waits on the host until the flag has reached `value`. Returns false if it has not within `most`.
    ///
    /// Polls the flag: first immediately, then at intervals of up to a millisecond.
    #[must_use]
    pub fn wait_for(&self, value: T, most: Duration) -> bool {
        let began = Instant::now();
        let mut step = Duration::ZERO;
        while !self.has_reached(value) {
            if began.elapsed() >= most {
                return false;
            }
            std::thread::sleep(step);
            step = (step + Duration::from_micros(5)).min(Duration::from_millis(1));
        }
        true
    }

    pub(crate) fn address(&self) -> u64 {
        wide(self.memory.address())
    }
}

/// The type of a flag's value: `u32` or `u64`. Sealed, since a device can only compare these two.
#[diagnostic::on_unimplemented(
    message = "a flag has a value of type `u32` or `u64`, and not `{Self}`",
    label = "the value is of type `{Self}`"
)]
pub trait FlagValue: sealed::Sealed + Copy + fmt::Debug + 'static {}

pub(crate) mod sealed {
    use crate::cuda::{FlagMemory, Width};

    /// Restricts [`FlagValue`](super::FlagValue) to the types here.
    pub trait Sealed: Sized {
        const WIDTH: Width;
        /// Returns the value's bits, in the low bytes.
        fn bits(self) -> u64;
        fn load(memory: &FlagMemory) -> Self;
        fn store(self, memory: &FlagMemory);
        /// Returns true if `one` precedes `other` in wrapping order.
        fn precedes(one: Self, other: Self) -> bool;
    }
}

impl sealed::Sealed for u32 {
    const WIDTH: Width = Width::Narrow;

    fn bits(self) -> u64 {
        self.into()
    }

    fn load(memory: &FlagMemory) -> u32 {
        memory.narrow().load(Ordering::SeqCst)
    }

    fn store(self, memory: &FlagMemory) {
        memory.narrow().store(self, Ordering::SeqCst);
    }

    fn precedes(one: u32, other: u32) -> bool {
        one.wrapping_sub(other).cast_signed() < 0
    }
}

impl sealed::Sealed for u64 {
    const WIDTH: Width = Width::Wide;

    fn bits(self) -> u64 {
        self
    }

    fn load(memory: &FlagMemory) -> u64 {
        memory.wide().load(Ordering::SeqCst)
    }

    fn store(self, memory: &FlagMemory) {
        memory.wide().store(self, Ordering::SeqCst);
    }

    fn precedes(one: u64, other: u64) -> bool {
        one.wrapping_sub(other).cast_signed() < 0
    }
}

impl FlagValue for u32 {}
impl FlagValue for u64 {}

/// Returns true if `one` precedes `other` in the wrapping order of that width.
pub(crate) fn precedes(width: Width, one: u64, other: u64) -> bool {
    match width {
        Width::Narrow => <u32 as sealed::Sealed>::precedes(low(one), low(other)),
        Width::Wide => <u64 as sealed::Sealed>::precedes(one, other),
    }
}

/// Returns true if a step is positive in wrapping order: less than half of the range.
pub(crate) fn is_positive_step(width: Width, step: u64) -> bool {
    match width {
        Width::Narrow => low(step).cast_signed() > 0,
        Width::Wide => step.cast_signed() > 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_in_a_circle() {
        let behind = |one, other| precedes(Width::Narrow, one, other);
        assert!(behind(0, 1) && !behind(1, 1) && !behind(2, 1));
        assert!(behind(u32::MAX.into(), 0) && !behind(0, u32::MAX.into()));
        // A u64 does not wrap around where a u32 does.
        assert!(!precedes(Width::Wide, u32::MAX.into(), 0));
        assert!(precedes(Width::Wide, u64::MAX, 0));
        let ahead = |step| is_positive_step(Width::Narrow, step);
        assert!(ahead(1) && ahead((1 << 31) - 1) && !ahead(0) && !ahead(1 << 31) && !ahead(u32::MAX.into()));
        assert!(is_positive_step(Width::Wide, 1 << 31) && !is_positive_step(Width::Wide, 1 << 63));
    }
}
