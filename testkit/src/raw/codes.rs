//! Macros for driver calls that must return a given result code.

use cudarc::driver::sys::CUresult;

pub const OK: CUresult = CUresult::CUDA_SUCCESS;
pub const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
pub const UNSUPPORTED: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;
pub const NO_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

/// Makes a driver call that must succeed.
#[macro_export]
macro_rules! ok {
    ($call:expr) => {
        assert_eq!(unsafe { $call }, $crate::raw::codes::OK, stringify!($call))
    };
}

/// Makes a driver call that must return the given code.
#[macro_export]
macro_rules! gives {
    ($code:expr, $call:expr) => {
        assert_eq!(unsafe { $call }, $code, stringify!($call))
    };
}
