//! NCCL called by hand: its C functions, and a communicator of all devices of the process.

#![allow(unsafe_code)]
// SAFETY, for the whole file: the functions have the signatures of nccl.h, and get live communicators, streams and
// addresses.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use cudarc::driver::sys::CUstream;
use cudarc::driver::{CudaContext, CudaStream};
use libloading::Library;

use crate::common::Result;

type Comm = *mut c_void;

/// `ncclFloat32` and `ncclBfloat16`.
pub const F32: c_int = 7;
pub const BF16: c_int = 9;
/// `ncclSum` and `ncclAvg`.
pub const SUM: c_int = 0;
pub const AVG: c_int = 4;

/// The ranks of one process, and the library, which stays loaded.
pub struct Nccl {
    start: unsafe extern "C" fn() -> c_int,
    end: unsafe extern "C" fn() -> c_int,
    reduce: unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, c_int, Comm, CUstream) -> c_int,
    abort: unsafe extern "C" fn(Comm) -> c_int,
    comms: Vec<Comm>,
    /// The contexts outlive the communicators.
    contexts: Vec<Arc<CudaContext>>,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Id([c_char; 128]);

/// `ncclConfig_t` of NCCL 2.14, which later versions accept, too.
#[repr(C)]
struct Config {
    size: usize,
    magic: u32,
    version: u32,
    blocking: c_int,
}

fn check(call: &str, status: c_int) -> Result<()> {
    if status == 0 { Ok(()) } else { Err(format!("`{call}` gives {status}").into()) }
}

impl Nccl {
    /// Creates a communicator of these devices.
    pub fn new(contexts: &[Arc<CudaContext>], simulated: bool) -> Result<Nccl> {
        let name = if simulated { "libnccl_simulated.so" } else { "libnccl.so.2" };
        // It is never closed.
        let file = std::mem::ManuallyDrop::new(unsafe { Library::new(name) }?);
        let mut made = unsafe {
            Nccl {
                start: *file.get(b"ncclGroupStart")?,
                end: *file.get(b"ncclGroupEnd")?,
                reduce: *file.get(b"ncclAllReduce")?,
                abort: *file.get(b"ncclCommAbort")?,
                comms: vec![std::ptr::null_mut(); contexts.len()],
                contexts: contexts.to_vec(),
            }
        };
        if simulated {
            made.join(&file)?
        } else {
            made.init_all(&file)?
        }
        contexts[0].bind_to_thread()?;
        Ok(made)
    }

    fn init_all(&mut self, file: &Library) -> Result<()> {
        let devices: Vec<c_int> = self.contexts.iter().map(|ctx| ctx.ordinal() as c_int).collect();
        unsafe {
            let init = *file
                .get::<unsafe extern "C" fn(*mut Comm, c_int, *const c_int) -> c_int>(b"ncclCommInitAll")?;
            check("ncclCommInitAll", init(self.comms.as_mut_ptr(), devices.len() as c_int, devices.as_ptr()))
        }
    }

    /// Joins the ranks one by one, because the stand-in for NCCL supports no other way.
    fn join(&mut self, file: &Library) -> Result<()> {
        type Init = unsafe extern "C" fn(*mut Comm, c_int, Id, c_int, *mut Config) -> c_int;
        unsafe {
            let get_id = *file.get::<unsafe extern "C" fn(*mut Id) -> c_int>(b"ncclGetUniqueId")?;
            let init = *file.get::<Init>(b"ncclCommInitRankConfig")?;
            let mut id = Id([0; 128]);
            check("ncclGetUniqueId", get_id(&mut id))?;
            let ranks = self.contexts.len() as c_int;
            check("ncclGroupStart", (self.start)())?;
            for (rank, (ctx, comm)) in self.contexts.iter().zip(&mut self.comms).enumerate() {
                ctx.bind_to_thread()?;
                let mut config = Config {
                    size: size_of::<Config>(),
                    magic: 0xcafe_beef,
                    version: 21_403,
                    blocking: c_int::MIN,
                };
                check("ncclCommInitRankConfig", init(comm, ranks, id, rank as c_int, &mut config))?;
            }
            check("ncclGroupEnd", (self.end)())
        }
    }

    /// Enqueues an in-place all-reduce. Each rank has an address and a stream.
    pub fn all_reduce(
        &self,
        of: &[(u64, &CudaStream)],
        count: usize,
        element: c_int,
        by: c_int,
    ) -> Result<()> {
        check("ncclGroupStart", unsafe { (self.start)() })?;
        for (&(address, stream), &comm) in of.iter().zip(&self.comms) {
            let at = std::ptr::with_exposed_provenance_mut::<c_void>(address as usize);
            let status = unsafe { (self.reduce)(at, at, count, element, by, comm, stream.cu_stream()) };
            check("ncclAllReduce", status)?;
        }
        check("ncclGroupEnd", unsafe { (self.end)() })
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        for (&comm, ctx) in self.comms.iter().zip(&self.contexts) {
            if ctx.bind_to_thread().is_ok() && !comm.is_null() {
                let _ = unsafe { (self.abort)(comm) };
            }
        }
    }
}
