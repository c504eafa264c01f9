//! The errors of matrix products.

use std::fmt;

use cudarc::cublas::result::CublasError;
use cudarc::driver::DriverError;

use super::product::ProductFault;

/// An error of this module. `Display` and `Debug` print the same text.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(ErrorKind);

#[derive(Clone, PartialEq, Eq)]
enum ErrorKind {
    Missing(String),
    Simulated,
    Kernels,
    OtherContext,
    OtherLibrary,
    Status { call: Option<&'static str>, status: u32 },
    Driver(DriverError),
    Product(ProductFault),
}

impl Error {
    pub(super) fn missing(tried: &str) -> Error {
        Error(ErrorKind::Missing(tried.to_owned()))
    }

    pub(super) fn simulated() -> Error {
        Error(ErrorKind::Simulated)
    }

    pub(super) fn kernels() -> Error {
        Error(ErrorKind::Kernels)
    }

    pub(super) fn other_context() -> Error {
        Error(ErrorKind::OtherContext)
    }

    pub(super) fn status(call: &'static str, status: u32) -> Error {
        Error(ErrorKind::Status { call: Some(call), status })
    }

    pub(super) fn other_library() -> Error {
        Error(ErrorKind::OtherLibrary)
    }

    /// Returns the status that cuBLAS or cuBLASLt returned, or `None` for other errors.
    #[must_use]
    pub fn cublas_status(&self) -> Option<u32> {
        match self.0 {
            ErrorKind::Status { status, .. } => Some(status),
            _ => None,
        }
    }

    /// Returns true if cuBLAS cannot be used: it cannot be loaded, or the driver is the simulator.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self.0, ErrorKind::Missing(_) | ErrorKind::Simulated)
    }
}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Error {
        Error(ErrorKind::Driver(error))
    }
}

/// Converts the error of your own calls through cudarc's bindings: `status.result()?`.
impl From<CublasError> for Error {
    fn from(error: CublasError) -> Error {
        Error(ErrorKind::Status { call: None, status: error.0 as u32 })
    }
}

impl From<ProductFault> for Error {
    fn from(fault: ProductFault) -> Error {
        Error(ErrorKind::Product(fault))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ErrorKind::Missing(tried) => write!(
                f,
                "cuBLAS cannot be loaded: {tried}; it comes with the CUDA toolkit, and as the Python wheel \
                    `nvidia-cublas`, whose `lib` folder then belongs into LD_LIBRARY_PATH"
            ),
            ErrorKind::Simulated => f.write_str("cuBLAS does not run on the simulated driver"),
            ErrorKind::Kernels => {
                f.write_str("this `Blas` has no cuBLAS: its products run on kernels of cuweave's")
            }
            ErrorKind::OtherContext => {
                f.write_str("the graph is built for another context than the `Blas` was made for")
            }
            ErrorKind::OtherLibrary => f.write_str(
                "cudarc has loaded another version of cuBLAS than the `Blas`: only one may be in the search path",
            ),
            ErrorKind::Status { call: Some(call), status } => write!(f, "`{call}` returned {}", name(*status)),
            ErrorKind::Status { call: None, status } => write!(f, "cuBLAS returned {}", name(*status)),
            ErrorKind::Driver(error) => write!(f, "{error}"),
            ErrorKind::Product(fault) => write!(f, "{fault}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            ErrorKind::Driver(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> crate::Error {
        match error.0 {
            ErrorKind::Driver(error) => error.into(),
            _ => crate::Error::Library { text: error.to_string() },
        }
    }
}

/// Returns the name of a status.
fn name(status: u32) -> String {
    let name = match status {
        1 => "CUBLAS_STATUS_NOT_INITIALIZED",
        3 => "CUBLAS_STATUS_ALLOC_FAILED",
        7 => "CUBLAS_STATUS_INVALID_VALUE",
        8 => "CUBLAS_STATUS_ARCH_MISMATCH",
        11 => "CUBLAS_STATUS_MAPPING_ERROR",
        13 => "CUBLAS_STATUS_EXECUTION_FAILED",
        14 => "CUBLAS_STATUS_INTERNAL_ERROR",
        15 => "CUBLAS_STATUS_NOT_SUPPORTED",
        16 => "CUBLAS_STATUS_LICENSE_ERROR",
        other => return format!("the status {other}"),
    };
    name.to_owned()
}
