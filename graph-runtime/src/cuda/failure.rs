//! [`Failure`]: a failed driver call, and the error codes that the runtime distinguishes.

use cudarc::driver::{CudaContext, DriverError, sys};

/// `CUDA_ERROR_NOT_FOUND`: no such symbol.
pub const NOT_FOUND: u32 = 500;
/// `CUDA_ERROR_NOT_READY`: the work is still in flight.
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
/// `CUDA_ERROR_STREAM_CAPTURE_UNJOINED`: another captured stream has work that the capturing stream does not
/// wait for.
pub const CAPTURE_UNJOINED: u32 = 904;
/// `CUDA_ERROR_UNKNOWN`.
pub const UNKNOWN: u32 = 999;
/// `CUDA_ERROR_NOT_PERMITTED`.
const NOT_PERMITTED: u32 = 800;
/// `CUDA_ERROR_NOT_SUPPORTED`.
pub const NOT_SUPPORTED: u32 = 801;

/// A failed driver call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The name of the call.
    pub call: &'static str,
    /// Its error code.
    pub code: u32,
}

impl Failure {
    /// Returns the failure of a call that cudarc made.
    pub fn from_cudarc(call: &'static str, error: DriverError) -> Failure {
        Failure { call, code: code_of(error.0) }
    }

    /// Returns the failure of an allocation that exceeds the device memory.
    pub fn out_of_memory(call: &'static str) -> Failure {
        Failure { call, code: OUT_OF_MEMORY }
    }

    /// Returns the failure of a use that is rejected without a driver call.
    pub fn not_permitted(call: &'static str) -> Failure {
        Failure { call, code: NOT_PERMITTED }
    }

    /// Returns true if the device is out of memory.
    pub fn is_out_of_memory(self) -> bool {
        self.code == OUT_OF_MEMORY
    }

    /// Returns true if the failure destroys the context: a fault of a kernel, or the end of the context itself.
    /// All later calls fail with it too, and nothing is in flight any more.
    pub fn ends_the_context(self) -> bool {
        // Uncorrectable ECC and NVLink errors, illegal address, timeout, destroyed context, assertion, faulty
        // instructions and addresses, failed launch, CUDA_ERROR_DEINITIALIZED.
        matches!(self.code, 4 | 214 | 220 | 700 | 702 | 709 | 710 | 714..=719)
    }

    /// Returns true if the queried event was last recorded in a stream capture.
    pub fn is_captured_event(self) -> bool {
        self.code == CAPTURED_EVENT
    }
}

/// The result of a driver call.
pub type Outcome<T> = std::result::Result<T, Failure>;

macro_rules! known {
    ($($code:ident)*) => { [$(DriverError(sys::CUresult::$code)),*] };
}

/// The error codes of CUDA 12.4, the oldest version that the crate compiles against, as cudarc's errors.
static KNOWN: [DriverError; 96] = known! {
    CUDA_ERROR_INVALID_VALUE CUDA_ERROR_OUT_OF_MEMORY CUDA_ERROR_NOT_INITIALIZED CUDA_ERROR_DEINITIALIZED
    CUDA_ERROR_PROFILER_DISABLED CUDA_ERROR_PROFILER_NOT_INITIALIZED CUDA_ERROR_PROFILER_ALREADY_STARTED
    CUDA_ERROR_PROFILER_ALREADY_STOPPED CUDA_ERROR_STUB_LIBRARY CUDA_ERROR_DEVICE_UNAVAILABLE CUDA_ERROR_NO_DEVICE
    CUDA_ERROR_INVALID_DEVICE CUDA_ERROR_DEVICE_NOT_LICENSED CUDA_ERROR_INVALID_IMAGE CUDA_ERROR_INVALID_CONTEXT
    CUDA_ERROR_CONTEXT_ALREADY_CURRENT CUDA_ERROR_MAP_FAILED CUDA_ERROR_UNMAP_FAILED CUDA_ERROR_ARRAY_IS_MAPPED
    CUDA_ERROR_ALREADY_MAPPED CUDA_ERROR_NO_BINARY_FOR_GPU CUDA_ERROR_ALREADY_ACQUIRED CUDA_ERROR_NOT_MAPPED
    CUDA_ERROR_NOT_MAPPED_AS_ARRAY CUDA_ERROR_NOT_MAPPED_AS_POINTER CUDA_ERROR_ECC_UNCORRECTABLE
    CUDA_ERROR_UNSUPPORTED_LIMIT CUDA_ERROR_CONTEXT_ALREADY_IN_USE CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
    CUDA_ERROR_INVALID_PTX CUDA_ERROR_INVALID_GRAPHICS_CONTEXT CUDA_ERROR_NVLINK_UNCORRECTABLE
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND CUDA_ERROR_UNSUPPORTED_PTX_VERSION CUDA_ERROR_JIT_COMPILATION_DISABLED
    CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC CUDA_ERROR_INVALID_SOURCE
    CUDA_ERROR_FILE_NOT_FOUND CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND CUDA_ERROR_SHARED_OBJECT_INIT_FAILED
    CUDA_ERROR_OPERATING_SYSTEM CUDA_ERROR_INVALID_HANDLE CUDA_ERROR_ILLEGAL_STATE CUDA_ERROR_LOSSY_QUERY
    CUDA_ERROR_NOT_FOUND CUDA_ERROR_NOT_READY CUDA_ERROR_ILLEGAL_ADDRESS CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    CUDA_ERROR_LAUNCH_TIMEOUT CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE CUDA_ERROR_CONTEXT_IS_DESTROYED
    CUDA_ERROR_ASSERT CUDA_ERROR_TOO_MANY_PEERS CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED CUDA_ERROR_HARDWARE_STACK_ERROR CUDA_ERROR_ILLEGAL_INSTRUCTION
    CUDA_ERROR_MISALIGNED_ADDRESS CUDA_ERROR_INVALID_ADDRESS_SPACE CUDA_ERROR_INVALID_PC CUDA_ERROR_LAUNCH_FAILED
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE CUDA_ERROR_NOT_PERMITTED CUDA_ERROR_NOT_SUPPORTED
    CUDA_ERROR_SYSTEM_NOT_READY CUDA_ERROR_SYSTEM_DRIVER_MISMATCH CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
    CUDA_ERROR_MPS_CONNECTION_FAILED CUDA_ERROR_MPS_RPC_FAILURE CUDA_ERROR_MPS_SERVER_NOT_READY
    CUDA_ERROR_MPS_MAX_CLIENTS_REACHED CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED CUDA_ERROR_MPS_CLIENT_TERMINATED
    CUDA_ERROR_CDP_NOT_SUPPORTED CUDA_ERROR_CDP_VERSION_MISMATCH CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED CUDA_ERROR_STREAM_CAPTURE_MERGE CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
    CUDA_ERROR_STREAM_CAPTURE_UNJOINED CUDA_ERROR_STREAM_CAPTURE_ISOLATION CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    CUDA_ERROR_CAPTURED_EVENT CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD CUDA_ERROR_TIMEOUT
    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE CUDA_ERROR_EXTERNAL_DEVICE CUDA_ERROR_INVALID_CLUSTER_SIZE
    CUDA_ERROR_FUNCTION_NOT_LOADED CUDA_ERROR_INVALID_RESOURCE_TYPE CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
    CUDA_ERROR_UNKNOWN
};

/// Returns an error code as a number.
#[allow(clippy::as_conversions, reason = "an enum of the bindings converts to its number in no other way")]
pub fn code_of(code: sys::CUresult) -> u32 {
    code as u32
}

/// Returns a code as cudarc's error. `None` for codes newer than CUDA 12.4, which cudarc's enum may lack.
pub fn known(code: u32) -> Option<&'static DriverError> {
    KNOWN.iter().find(|error| code_of(error.0) == code)
}

/// Records a failure that a drop cannot return in the context, as cudarc does.
pub fn record(ctx: &CudaContext, failure: Failure) {
    let unknown = DriverError(sys::CUresult::CUDA_ERROR_UNKNOWN);
    ctx.record_err::<()>(Err(known(failure.code).copied().unwrap_or(unknown)));
}
