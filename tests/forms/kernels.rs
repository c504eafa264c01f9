//! The kernels of tests/kernels/forms.cu and state.cu with their parameters.

use cudarc::driver::DeviceRepr;
use cuweave::__private::{AtomicUpdates, Kernel, Module, Param, ParamKind};
use cuweave_core::ir::Mode;

pub static MODULE: Module = Module::new("tests/kernels/forms.ptx", include_bytes!("../kernels/forms.ptx"));

/// The structure that `affine` takes. Its padding is not significant.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Affine {
    pub a: u8,
    pub b: u64,
    pub c: u32,
}

#[allow(unsafe_code, reason = "`DeviceRepr` is an unsafe marker of cudarc")]
// SAFETY: plain numbers.
unsafe impl DeviceRepr for Affine {}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Takes {
    /// A buffer with this access mode.
    Buffer(Mode),
    /// The length of the buffer with this index.
    Len(usize),
    /// A number. A scalar argument of the graph function may provide it.
    Number,
    /// An [`Affine`] made from a number.
    Affine,
}

/// A kernel that programs may launch.
pub struct Launched {
    pub kernel: Kernel,
    pub takes: &'static [Takes],
    /// True if its grid and block may be three-dimensional.
    pub in_three: bool,
    /// True if it needs a word of dynamic shared memory per thread.
    pub stages: bool,
}

impl Launched {
    /// Returns the access modes of its buffers in order.
    pub fn buffers(&self) -> impl Iterator<Item = Mode> {
        self.takes.iter().filter_map(|takes| match takes {
            Takes::Buffer(mode) => Some(*mode),
            _ => None,
        })
    }
}

const READ: Takes = Takes::Buffer(Mode::Read);
const WRITTEN: Takes = Takes::Buffer(Mode::ReadWrite);
const BUFFER: Param = Param::fixed::<u32>("x", ParamKind::ReadWrite);
const BINS: Param =
    Param::fixed::<u32>("bins", ParamKind::Atomic).updates(AtomicUpdates::Reduction("add.u32"));
const FROM: Param = Param::fixed::<u32>("from", ParamKind::Read);
const NUMBER: Param = Param::scalar::<u32>("number");

const fn launched(kernel: Kernel, takes: &'static [Takes]) -> Launched {
    Launched { kernel, takes, in_three: false, stages: false }
}

/// `fresh`, the only kernel that takes an uninitialized buffer.
pub const FRESH: usize = 0;

/// The number of kernels without state. The others share a variable of their file.
pub const STATELESS: usize = 11;
pub const STATE_SET: usize = STATELESS;
pub const STATE_STEP: usize = STATELESS + 1;
pub const STATE_GET: usize = STATELESS + 2;

static STATE: Module = Module::new("tests/kernels/state.ptx", include_bytes!("../kernels/state.ptx"));

pub static KERNELS: [Launched; 14] = [
    launched(
        Kernel::new("fresh", &MODULE, &[Param::fixed::<u32>("out", ParamKind::Write), NUMBER, NUMBER]),
        &[WRITTEN, Takes::Len(0), Takes::Number],
    ),
    launched(
        Kernel::new("mix", &MODULE, &[BUFFER, FROM, NUMBER, NUMBER, NUMBER]),
        &[WRITTEN, READ, Takes::Len(0), Takes::Len(1), Takes::Number],
    ),
    Launched {
        in_three: true,
        ..launched(
            Kernel::new("volume", &MODULE, &[BUFFER, NUMBER, NUMBER]),
            &[WRITTEN, Takes::Len(0), Takes::Number],
        )
    },
    launched(
        Kernel::new("turn", &MODULE, &[BUFFER, FROM, NUMBER, NUMBER, NUMBER]),
        &[WRITTEN, READ, Takes::Len(0), Takes::Len(1), Takes::Number],
    ),
    Launched {
        stages: true,
        ..launched(
            Kernel::new("staged", &MODULE, &[BUFFER, FROM, NUMBER, NUMBER, NUMBER]),
            &[WRITTEN, READ, Takes::Len(0), Takes::Len(1), Takes::Number],
        )
    },
    launched(
        Kernel::new("count", &MODULE, &[BINS, NUMBER, NUMBER]),
        &[Takes::Buffer(Mode::Atomic), Takes::Len(0), Takes::Number],
    ),
    launched(
        Kernel::new("march", &MODULE, &[BUFFER, NUMBER, NUMBER]),
        &[WRITTEN, Takes::Len(0), Takes::Number],
    ),
    launched(
        Kernel::new("affine", &MODULE, &[BUFFER, Param::structure::<Affine>("by"), NUMBER]),
        &[WRITTEN, Takes::Affine, Takes::Len(0)],
    ),
    Launched {
        in_three: true,
        ..launched(
            Kernel::new("called", &MODULE, &[BUFFER, NUMBER, NUMBER]),
            &[WRITTEN, Takes::Len(0), Takes::Number],
        )
    },
    launched(
        Kernel::new("trade", &MODULE, &[BUFFER, BUFFER, NUMBER, NUMBER]),
        &[WRITTEN, WRITTEN, Takes::Len(0), Takes::Len(1)],
    ),
    launched(
        Kernel::new("join", &MODULE, &[BUFFER, FROM, FROM, NUMBER, NUMBER, NUMBER, NUMBER]),
        &[WRITTEN, READ, READ, Takes::Len(0), Takes::Len(1), Takes::Len(2), Takes::Number],
    ),
    launched(Kernel::new("state_set", &STATE, &[NUMBER]).hidden(&[], &["counter"]), &[Takes::Number]),
    launched(Kernel::new("state_step", &STATE, &[]).hidden(&["counter"], &["counter"]), &[]),
    launched(Kernel::new("state_get", &STATE, &[BUFFER]).hidden(&["counter"], &[]), &[WRITTEN]),
];
