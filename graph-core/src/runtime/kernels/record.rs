//! The values of statements, as the user's expressions gave them.

use std::convert::Infallible;

use crate::index::{narrow, size};
use crate::kind::{Kind, Stage};
use crate::runtime::cuda::{Function, Launching};

use super::declaration::Kernel;
use super::modules::FILL64;
use super::shape::Shape;

/// The stage of the build: statements are evaluated. Values of parameters lie in a list of words that all statements share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evaluated;

impl Stage for Evaluated {
    type Launch = LaunchRecord;
    type Fill = FillRecord;
    type Copy = ();
    type Call = Infallible;
    type Memory = ();
}

/// The values of a statement.
pub(crate) type Record = Kind<Evaluated>;

/// A fill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FillRecord {
    /// The value's bits.
    pub bits: u64,
    /// The size of the value in bytes: 1, 2, 4 or 8.
    pub size: u32,
    /// For 8 bytes, which may need a kernel: the first word of its parameters.
    pub first: u32,
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

/// Returns true for a launch of a kernel of the user's.
pub(crate) fn is_user_launch(record: &Record) -> bool {
    matches!(record, Kind::Launch(launch) if !std::ptr::eq(launch.kernel, &FILL64))
}

impl Record {
    /// Returns the first of its words, and their number.
    pub fn words(&self) -> (usize, usize) {
        let record = *self;
        match record {
            Kind::Launch(launch) => (size(launch.first), launch.kernel.words),
            Kind::Fill(FillRecord { size: 8, first, .. }) => (size(first), FILL64.words),
            Kind::Fill(_) | Kind::Copy(()) | Kind::Alloc(()) | Kind::Free(()) => (0, 0),
        }
    }

    /// Returns the same record with its words at `place`.
    pub fn at(self, place: usize) -> Record {
        let first = narrow(place);
        match self {
            Kind::Launch(launch) => Kind::Launch(LaunchRecord { first, ..launch }),
            Kind::Fill(fill) => Kind::Fill(FillRecord { first, ..fill }),
            Kind::Copy(()) | Kind::Alloc(()) | Kind::Free(()) => self,
        }
    }
}
