//! Versions of CUDA, and those of PTX that belong to them.

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

    /// Returns the version of a text such as `9.0`.
    pub fn parse(text: &str) -> Option<Version> {
        let (major, minor) = text.trim().split_once('.')?;
        Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// Returns the version of a CUDA release's number, such as 13000.
    pub fn of_number(number: u32) -> Version {
        Version { major: number / 1000, minor: number % 1000 / 10 }
    }

    /// Returns the version in the `.version` line of PTX.
    pub fn of_ptx(ptx: &str) -> Option<Version> {
        ptx.lines().find_map(|line| Version::parse(line.trim().strip_prefix(".version")?))
    }

    /// Returns the version of CUDA whose driver is the first to take this version of PTX. The same for CUDA 12.6 as for
    /// 12.5, which have one version of PTX.
    pub fn driver_of_ptx(self) -> Version {
        match (self.major, self.minor) {
            // PTX 7.m came with CUDA 11.m, 8.m with 12.m up to 12.5, from then on a step behind, 9.m with 13.m.
            (8, minor @ 6..) => Version::new(12, minor + 1),
            (major, minor) => Version::new(major + 4, minor),
        }
    }

    /// Returns the version of PTX that the compilers of this version of CUDA emit.
    pub fn ptx_of_cuda(self) -> Version {
        match (self.major, self.minor) {
            (12, minor @ 6..) => Version::new(8, minor - 1),
            (major, minor) => Version::new(major.saturating_sub(4), minor),
        }
    }

    /// Returns the newest NVRTC of the versions up to this one, as pip takes it: `nvidia-cuda-nvrtc<13.1`. A driver's version
    /// need not be one of NVRTC.
    pub fn newest_package(self) -> String {
        let suffix = if self.major <= 12 { format!("-cu{}", self.major) } else { String::new() };
        format!("nvidia-cuda-nvrtc{suffix}<{}.{}", self.major, self.minor + 1)
    }

    /// Returns a Python package of this version of CUDA, as pip takes it: `runtime` is `nvidia-cuda-runtime==13.0.*`.
    pub fn package(self, part: &str) -> String {
        let minor = if part == "cccl" { String::new() } else { format!("{}.", self.minor) };
        match self.major {
            ..=12 => format!("nvidia-cuda-{part}-cu{0}=={0}.{minor}*", self.major),
            major => format!("nvidia-cuda-{part}=={major}.{minor}*"),
        }
    }
}

/// Returns the CUDA version of this machine's driver, if it has one.
#[allow(unsafe_code)]
pub fn of_driver() -> Option<Version> {
    let name = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
    // SAFETY: loading the driver's library runs no code that depends on this process.
    let library = unsafe { libloading::Library::new(name) }.ok()?;
    let mut number = 0i32;
    // SAFETY: the signature is that of cuda.h, the pointer is valid for the call, which needs no initialisation.
    let status = unsafe {
        let version: libloading::Symbol<'_, unsafe extern "C" fn(*mut i32) -> i32> =
            library.get(b"cuDriverGetVersion\0").ok()?;
        version(&mut number)
    };
    // The driver may start threads: its code has to stay.
    std::mem::forget(library);
    (status == 0 && number > 0).then(|| Version::of_number(number.cast_unsigned()))
}
