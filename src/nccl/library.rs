//! NCCL: loaded on first use, kept forever, never linked. Statuses and types are numbers, because a newer
//! library may have more of them.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::offset_of;
use std::sync::OnceLock;

use cudarc::driver::sys::CUstream;
use libloading::Library as Loaded;

use super::error::Error;

/// A communicator handle of one rank.
pub(super) type RawCommunicator = *mut c_void;

/// `ncclUniqueId`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawId(pub [c_char; 128]);

/// `ncclConfig_t` of NCCL 2.29. Earlier versions have fewer fields, later ones have more after these.
#[repr(C)]
pub(super) struct Config {
    size: usize,
    magic: c_uint,
    version: c_uint,
    blocking: c_int,
    cluster_size: c_int,
    min_blocks: c_int,
    max_blocks: c_int,
    net_name: *const c_char,
    split_share: c_int,
    traffic_class: c_int,
    name: *const c_char,
    collnet: c_int,
    policy: c_int,
    shrink_share: c_int,
    nvls_blocks: c_int,
    channels: c_int,
    centric: c_int,
    /// 2: graphs and other work are mixed, and NCCL orders them by events. 1: one graph at a time. Since 2.29.
    pub graph_usage: c_int,
    rma: c_int,
}

/// The latest version whose header has exactly the fields of [`Config`].
const NEWEST: c_uint = 22_900;

/// Returns the size of `ncclConfig_t` in the header of a version.
fn size_of_config(version: c_uint) -> usize {
    let end = match version {
        0..21_700 => offset_of!(Config, cluster_size),
        21_700..21_800 => offset_of!(Config, split_share),
        21_800..22_600 => offset_of!(Config, traffic_class),
        22_600..22_700 => offset_of!(Config, name),
        22_700..22_800 => offset_of!(Config, channels),
        22_800..22_900 => offset_of!(Config, graph_usage),
        _ => size_of::<Config>(),
    };
    end.next_multiple_of(align_of::<Config>())
}

impl Config {
    /// Returns a configuration with only defaults, as a program compiled with the header of `version` would
    /// pass it, or with the header of 2.29 if the library is newer.
    pub fn new(version: c_int) -> Config {
        const UNSET: c_int = c_int::MIN;
        let version = version.unsigned_abs().min(NEWEST);
        Config {
            size: size_of_config(version),
            magic: 0xcafe_beef,
            version,
            blocking: UNSET,
            cluster_size: UNSET,
            min_blocks: UNSET,
            max_blocks: UNSET,
            net_name: std::ptr::null(),
            split_share: UNSET,
            traffic_class: UNSET,
            name: std::ptr::null(),
            collnet: UNSET,
            policy: UNSET,
            shrink_share: UNSET,
            nvls_blocks: UNSET,
            channels: UNSET,
            centric: UNSET,
            graph_usage: UNSET,
            rma: UNSET,
        }
    }
}

macro_rules! functions {
    ($($name:ident($($ty:ty),* $(,)?);)*) => {
        /// The functions of the library.
        #[allow(non_snake_case)]
        pub(super) struct Library {
            $(pub $name: unsafe extern "C" fn($($ty),*) -> u32,)*
            ncclGetErrorString: unsafe extern "C" fn(u32) -> *const c_char,
            /// 22809 for 2.28.9.
            pub version: c_int,
        }

        impl Library {
            fn resolve(file: &Loaded) -> Result<Library, libloading::Error> {
                // SAFETY: each symbol is the function of that name. Its C signature is the field's type, with
                // a C enum for each `u32`. After success the file is never closed.
                unsafe {
                    let ask = *file.get::<unsafe extern "C" fn(*mut c_int) -> u32>(b"ncclGetVersion\0")?;
                    let mut version = 0;
                    let _ = ask(&mut version);
                    Ok(Library {
                        $($name: *file.get(concat!(stringify!($name), "\0").as_bytes())?,)*
                        ncclGetErrorString: *file.get(b"ncclGetErrorString\0")?,
                        version,
                    })
                }
            }
        }
    };
}
functions! {
    ncclGetUniqueId(*mut RawId);
    ncclCommInitRankConfig(*mut RawCommunicator, c_int, RawId, c_int, *mut Config);
    ncclCommAbort(RawCommunicator);
    ncclCommGetAsyncError(RawCommunicator, *mut u32);
    ncclGroupStart();
    ncclGroupEnd();
    ncclAllReduce(*const c_void, *mut c_void, usize, u32, u32, RawCommunicator, CUstream);
    ncclReduce(*const c_void, *mut c_void, usize, u32, u32, c_int, RawCommunicator, CUstream);
    ncclBroadcast(*const c_void, *mut c_void, usize, u32, c_int, RawCommunicator, CUstream);
    ncclAllGather(*const c_void, *mut c_void, usize, u32, RawCommunicator, CUstream);
    ncclReduceScatter(*const c_void, *mut c_void, usize, u32, u32, RawCommunicator, CUstream);
    ncclSend(*const c_void, usize, u32, c_int, RawCommunicator, CUstream);
    ncclRecv(*mut c_void, usize, u32, c_int, RawCommunicator, CUstream);
}

impl Library {
    /// Returns the library. With the simulator, searches for a stand-in under another name.
    ///
    /// # Errors
    ///
    /// It cannot be loaded. The first result is kept.
    pub fn get(simulated: bool) -> Result<&'static Library, Error> {
        static LIBRARY: OnceLock<Result<Library, Error>> = OnceLock::new();
        LIBRARY.get_or_init(|| Library::load(simulated)).as_ref().map_err(Clone::clone)
    }

    fn load(simulated: bool) -> Result<Library, Error> {
        let names: &[&str] =
            if simulated { &["libnccl_simulated.so"] } else { &["libnccl.so.2", "libnccl.so"] };
        let mut tried = Vec::new();
        for &name in names {
            // SAFETY: loading libraries of these names runs no code with preconditions.
            match unsafe { Loaded::new(name) }.and_then(|file| Ok((Library::resolve(&file)?, file))) {
                Ok((library, file)) => {
                    std::mem::forget(file);
                    return Ok(library);
                }
                Err(error) => {
                    use std::error::Error as _;
                    tried.push(error.source().map_or_else(|| error.to_string(), ToString::to_string));
                }
            }
        }
        Err(if simulated { Error::Simulated } else { Error::Missing(tried.join("; ")) })
    }

    /// Returns an error for a status other than success. An operation in progress is not an error.
    pub fn check_status(&self, call: &'static str, status: u32) -> Result<(), Error> {
        /// `ncclInProgress`.
        const IN_PROGRESS: u32 = 7;
        if matches!(status, 0 | IN_PROGRESS) { Ok(()) } else { Err(self.status(call, status)) }
    }

    /// Returns the error for a status.
    pub fn status(&self, call: &'static str, status: u32) -> Error {
        // SAFETY: the function accepts any number, and returns a static text or null.
        let text = unsafe { (self.ncclGetErrorString)(status) };
        let text = match text.is_null() {
            true => format!("status {status}"),
            // SAFETY: as above.
            false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
        };
        Error::Status { call, status, text }
    }
}

#[cfg(test)]
mod tests {
    use super::{Config, size_of_config};

    /// The sizes of `ncclConfig_t` in the headers of these versions.
    #[test]
    fn a_configuration_is_that_of_the_header_of_its_version() {
        let sizes = [
            (21_403, 24),
            (21_701, 40),
            (21_805, 48),
            (22_602, 48),
            (22_707, 72),
            (22_809, 80),
            (22_902, 88),
            (23_007, 88),
        ];
        for (version, size) in sizes {
            assert_eq!(size_of_config(version), size, "{version}");
            let config = Config::new(i32::try_from(version).expect("small"));
            assert_eq!((config.size, config.version), (size, version.min(22_900)));
        }
    }
}
