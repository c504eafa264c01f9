//! CUDA versions, the PTX versions that belong to them, and the Python packages that provide them.

use std::fmt;

/// A version of CUDA or of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Version {
    pub fn new(major: u32, minor: u32) -> Version {
        Version { major, minor }
    }

    /// Parses a text such as `9.0`.
    pub fn parse(text: &str) -> Option<Version> {
        let (major, minor) = text.trim().split_once('.')?;
        Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// Returns the version encoded in CUDA's integer form, such as 13000.
    pub fn from_cuda_number(number: u32) -> Version {
        Version { major: number / 1000, minor: number % 1000 / 10 }
    }

    /// Returns the version in the `.version` line of PTX.
    pub fn from_ptx(ptx: &str) -> Option<Version> {
        ptx.lines().find_map(|line| Version::parse(line.trim().strip_prefix(".version")?))
    }

    /// Returns the first CUDA version whose driver accepts this PTX version. CUDA 12.5 and 12.6 share a PTX
    /// version, so the result is 12.5 for both.
    pub fn driver_of_ptx(self) -> Version {
        match (self.major, self.minor) {
            // PTX 7.m came with CUDA 11.m, PTX 8.m with CUDA 12.m up to 12.5 and with 12.(m + 1) from then
            // on, PTX 9.m with CUDA 13.m.
            (8, minor @ 6..) => Version::new(12, minor + 1),
            (major, minor) => Version::new(major + 4, minor),
        }
    }

    /// Returns the PTX version that the compilers of this CUDA version emit.
    pub fn ptx_of_cuda(self) -> Version {
        match (self.major, self.minor) {
            (12, minor @ 6..) => Version::new(8, minor - 1),
            (major, minor) => Version::new(major.saturating_sub(4), minor),
        }
    }

    /// Returns pip's requirement for the newest NVRTC up to this version, such as `nvidia-cuda-nvrtc<13.1`.
    /// It is an upper bound because not every driver version has an NVRTC of the same number.
    pub fn newest_package(self) -> String {
        let suffix = if self.major <= 12 { format!("-cu{}", self.major) } else { String::new() };
        format!("nvidia-cuda-nvrtc{suffix}<{}.{}", self.major, self.minor + 1)
    }

    /// Returns pip's requirement for a CUDA package of this version: `runtime` becomes
    /// `nvidia-cuda-runtime==13.0.*`.
    pub fn package(self, part: &str) -> String {
        let minor = if part == "cccl" { String::new() } else { format!("{}.", self.minor) };
        match self.major {
            ..=12 => format!("nvidia-cuda-{part}-cu{0}=={0}.{minor}*", self.major),
            major => format!("nvidia-cuda-{part}=={major}.{minor}*"),
        }
    }
}

/// Returns the CUDA version of this machine's driver. None if there is no driver.
#[allow(unsafe_code)]
pub fn driver_version() -> Option<Version> {
    let name = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
    // SAFETY: the driver library has no load-time code that depends on the state of this process.
    let library = unsafe { libloading::Library::new(name) }.ok()?;
    let mut number = 0i32;
    // SAFETY: the signature is that of cuda.h. The pointer is valid for the call. The function needs no
    // `cuInit`.
    let status = unsafe {
        let version: libloading::Symbol<'_, unsafe extern "C" fn(*mut i32) -> i32> =
            library.get(b"cuDriverGetVersion\0").ok()?;
        version(&mut number)
    };
    // Never unload: the driver may have started threads that run its code.
    std::mem::forget(library);
    (status == 0 && number > 0).then(|| Version::from_cuda_number(number.cast_unsigned()))
}
