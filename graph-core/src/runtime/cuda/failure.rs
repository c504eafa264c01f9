//! Failures of driver calls, and the error codes that the runtime tells apart.

use cudarc::driver::{CudaContext, DriverError, sys};

/// `CUDA_ERROR_NOT_FOUND`: no such symbol.
pub const NOT_FOUND: u32 = 500;
/// `CUDA_ERROR_NOT_READY`: work is still in flight.
pub const NOT_READY: u32 = 600;
/// `CUDA_ERROR_INVALID_VALUE`.
pub const INVALID_VALUE: u32 = 1;
/// `CUDA_ERROR_OUT_OF_MEMORY`.
pub const OUT_OF_MEMORY: u32 = 2;
/// `CUDA_ERROR_NO_DEVICE`.
pub const NO_DEVICE: u32 = 100;
/// `CUDA_ERROR_INVALID_IMAGE`.
pub const INVALID_IMAGE: u32 = 200;
/// `CUDA_ERROR_NO_BINARY_FOR_GPU`.
pub const NO_BINARY_FOR_GPU: u32 = 209;
/// `CUDA_ERROR_INVALID_PTX`.
pub const INVALID_PTX: u32 = 218;
/// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`.
pub const UNSUPPORTED_PTX_VERSION: u32 = 222;
/// `CUDA_ERROR_CAPTURED_EVENT`: the event was last recorded in a capture.
pub const CAPTURED_EVENT: u32 = 907;
/// `CUDA_ERROR_UNKNOWN`.
pub const UNKNOWN: u32 = 999;
/// `CUDA_ERROR_NOT_SUPPORTED`.
pub const NOT_SUPPORTED: u32 = 801;

/// A driver call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The call.
    pub call: &'static str,
    /// Its result.
    pub code: u32,
}

impl Failure {
    /// The failure of a call that cudarc made.
    pub fn of(call: &'static str, error: DriverError) -> Failure {
        Failure { call, code: code_of(error.0) }
    }

    /// True if the device is out of memory.
    pub fn is_out_of_memory(self) -> bool {
        self.code == OUT_OF_MEMORY
    }

    /// True if the failure ends all work of the context: a fault of a kernel, or the end of the context itself. From then on
    /// every call fails with it, and nothing is in flight any more.
    pub fn ends_the_context(self) -> bool {
        // Uncorrectable ECC and NVLink errors, an illegal address, a timeout, a destroyed context, an assertion, faults of
        // instructions and addresses, a failed launch, CUDA_ERROR_DEINITIALIZED.
        matches!(self.code, 4 | 214 | 220 | 700 | 702 | 709 | 710 | 714..=719)
    }

    /// True if the queried event was last recorded in a stream capture.
    pub fn is_captured_event(self) -> bool {
        self.code == CAPTURED_EVENT
    }
}

/// The result of a driver call.
pub type Outcome<T> = std::result::Result<T, Failure>;

/// Returns the number of an error code.
#[allow(clippy::as_conversions, reason = "an enum of the bindings converts to its number in no other way")]
pub fn code_of(code: sys::CUresult) -> u32 {
    code as u32
}

/// Returns an error code as cudarc's enum: `CUDA_ERROR_UNKNOWN` for all but the codes that drops meet.
fn known_code(code: u32) -> sys::CUresult {
    use sys::CUresult as Code;
    let known = [
        Code::CUDA_ERROR_INVALID_VALUE,
        Code::CUDA_ERROR_OUT_OF_MEMORY,
        Code::CUDA_ERROR_NOT_INITIALIZED,
        Code::CUDA_ERROR_DEINITIALIZED,
        Code::CUDA_ERROR_INVALID_CONTEXT,
        Code::CUDA_ERROR_INVALID_HANDLE,
        Code::CUDA_ERROR_ILLEGAL_ADDRESS,
        Code::CUDA_ERROR_LAUNCH_FAILED,
        Code::CUDA_ERROR_NOT_PERMITTED,
        Code::CUDA_ERROR_NOT_SUPPORTED,
        Code::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
        Code::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
    ];
    known.into_iter().find(|&known| code_of(known) == code).unwrap_or(Code::CUDA_ERROR_UNKNOWN)
}

/// Keeps a failure that a drop cannot return in the context, as cudarc does.
pub fn record(ctx: &CudaContext, failure: Failure) {
    // cudarc keeps an error as its enum, which has no room for codes that it does not know: those become unknown errors.
    ctx.record_err::<()>(Err(DriverError(known_code(failure.code))));
}
