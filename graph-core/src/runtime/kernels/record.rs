//! The recorded values of statements.

use crate::runtime::cuda::{Function, Launching};

use super::declaration::Kernel;
use super::modules::FILL64;
use super::shape::Shape;

/// The recorded values of a statement. Values of parameters lie in a list of words that all statements share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Recorded {
    /// No values: a statement of memory, or one that is not evaluated yet.
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
        /// For 8 bytes, which may need a kernel: the first word of its parameters.
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

impl LaunchRecord {
    /// As the driver takes it.
    #[inline]
    pub fn launching(&self) -> Launching {
        let Shape { grid, block, shared } = self.shape;
        Launching { function: self.function, grid, block, shared }
    }
}

impl Recorded {
    /// Returns whether it is a launch of a kernel of the user's.
    pub fn is_launch(&self) -> bool {
        matches!(self, Recorded::Launch(launch) if !std::ptr::eq(launch.kernel, &FILL64))
    }

    /// Returns the first of its words, and their number.
    pub fn words(&self) -> (usize, usize) {
        match self {
            Recorded::Launch(launch) => (launch.first as usize, launch.kernel.words),
            &Recorded::Fill { size: 8, first, .. } => (first as usize, FILL64.words),
            _ => (0, 0),
        }
    }

    /// Returns the same record with its words at `place`.
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
