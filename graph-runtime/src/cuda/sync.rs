//! Values in memory and semaphores that graphs wait for, write and signal: their nodes, the memory of flags,
//! and semaphore handles of other APIs.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use cudarc::driver::CudaContext;

use super::entry::{Driver, call_newer};
use super::failure::{Failure, NOT_FOUND, Outcome, record};
use super::handles::{Context, Node, RawExec, RawGraph, RawSemaphore};
use super::params::{BatchParams, MemoryOperation, SemaphoreDescription, SemaphoreParams, SemaphoreValue};

/// The width of a value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Four bytes.
    Narrow,
    /// Eight bytes.
    Wide,
}

/// The parameters of a batch memory operation node: waits for a value in memory, or writes it.
#[derive(Clone, Copy, Debug)]
pub struct ValueOperation {
    /// True to wait until the value in memory has reached `value` in wrapping order; false to write it.
    pub waits: bool,
    pub width: Width,
    pub address: u64,
    pub value: u64,
}

/// The parameters of a semaphore node: waits for a semaphore, or signals it.
#[derive(Clone, Copy, Debug)]
pub struct SemaphoreOperation {
    pub waits: bool,
    pub semaphore: RawSemaphore,
    pub value: u64,
}

impl ValueOperation {
    /// Calls `with` with the parameters of the node.
    fn with<T>(&self, ctx: Context, with: impl FnOnce(&BatchParams) -> T) -> T {
        // CU_STREAM_MEM_OP_WAIT_VALUE_32 and .._64, CU_STREAM_MEM_OP_WRITE_VALUE_32 and .._64. With no flags, a
        // wait compares in wrapping order (GEQ), and a write is preceded by a fence for all earlier writes of
        // the graph.
        let operation = match (self.waits, self.width) {
            (true, Width::Narrow) => 1,
            (true, Width::Wide) => 4,
            (false, Width::Narrow) => 2,
            (false, Width::Wide) => 5,
        };
        let ValueOperation { address, value, .. } = *self;
        let one = MemoryOperation { operation, address, value, flags: 0, alias: 0, rest: 0 };
        with(&BatchParams { ctx, count: 1, operations: &one, flags: 0 })
    }
}

impl SemaphoreOperation {
    /// Calls `with` with the parameters of the node.
    fn with<T>(&self, with: impl FnOnce(&SemaphoreParams) -> T) -> T {
        let value = SemaphoreValue { value: self.value, rest: [0; 17] };
        with(&SemaphoreParams { semaphores: &self.semaphore, values: &value, count: 1, rest: [0; 4] })
    }
}

impl Driver {
    /// Adds a node that waits for a value in memory or writes it.
    pub fn add_value(
        &self,
        graph: RawGraph,
        after: &[Node],
        operation: &ValueOperation,
        ctx: Context,
    ) -> Outcome<Node> {
        let mut node = Node::NONE;
        operation.with(ctx, |params| {
            let (list, count) = (after.as_ptr(), after.len());
            call_newer!(self, cuGraphAddBatchMemOpNode(&mut node, graph, list, count, params))
        })?;
        Ok(node)
    }

    /// Updates such a node of an instantiated graph. Launches in flight keep their values.
    pub fn set_value(
        &self,
        exec: RawExec,
        node: Node,
        operation: &ValueOperation,
        ctx: Context,
    ) -> Outcome<()> {
        operation
            .with(ctx, |params| call_newer!(self, cuGraphExecBatchMemOpNodeSetParams(exec, node, params)))
    }

    /// Adds a node that waits for a semaphore or signals it.
    pub fn add_semaphore(
        &self,
        graph: RawGraph,
        after: &[Node],
        operation: &SemaphoreOperation,
    ) -> Outcome<Node> {
        let mut node = Node::NONE;
        operation.with(|params| {
            let (list, count) = (after.as_ptr(), after.len());
            match operation.waits {
                true => call_newer!(
                    self,
                    cuGraphAddExternalSemaphoresWaitNode(&mut node, graph, list, count, params)
                ),
                false => call_newer!(
                    self,
                    cuGraphAddExternalSemaphoresSignalNode(&mut node, graph, list, count, params)
                ),
            }
        })?;
        Ok(node)
    }

    /// Updates such a node of an instantiated graph. Launches in flight keep their values.
    pub fn set_semaphore(&self, exec: RawExec, node: Node, operation: &SemaphoreOperation) -> Outcome<()> {
        operation.with(|params| match operation.waits {
            true => call_newer!(self, cuGraphExecExternalSemaphoresWaitNodeSetParams(exec, node, params)),
            false => call_newer!(self, cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, params)),
        })
    }
}

/// The memory of a flag: eight bytes of host memory that all devices can access, and that host and devices may
/// change concurrently.
pub struct FlagMemory {
    address: usize,
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
}

impl std::fmt::Debug for FlagMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FlagMemory").finish_non_exhaustive()
    }
}

impl FlagMemory {
    /// Allocates zeroed memory. The context must be current.
    pub fn new(driver: &'static Driver, ctx: &Arc<CudaContext>) -> Outcome<FlagMemory> {
        // CU_MEMHOSTALLOC_PORTABLE and CU_MEMHOSTALLOC_DEVICEMAP.
        const FLAGS: u32 = 1 | 2;
        let mut start: *mut c_void = null_mut();
        driver.relaxed(|| call_newer!(driver, cuMemHostAlloc(&mut start, 8, FLAGS)))?;
        let memory = FlagMemory { address: start.expose_provenance(), driver, ctx: ctx.clone() };
        memory.wide().store(0, Ordering::Release);
        Ok(memory)
    }

    /// Returns the address, which is valid on the host and on devices.
    pub fn address(&self) -> usize {
        self.address
    }

    /// Returns the value as eight bytes.
    pub fn wide(&self) -> &AtomicU64 {
        // SAFETY: the memory has eight bytes, is aligned for them and lives as long as `self`. Devices change
        // it by single writes of a whole value, the host by the same atomic type.
        unsafe { AtomicU64::from_ptr(std::ptr::with_exposed_provenance_mut(self.address)) }
    }

    /// Returns the value as four bytes.
    pub fn narrow(&self) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { AtomicU32::from_ptr(std::ptr::with_exposed_provenance_mut(self.address)) }
    }
}

impl Drop for FlagMemory {
    fn drop(&mut self) {
        let start: *mut c_void = std::ptr::with_exposed_provenance_mut(self.address);
        let entered = self.driver.enter(Context::from_cudarc(&self.ctx));
        let freed =
            entered.and_then(|()| self.driver.relaxed(|| call_newer!(self.driver, cuMemFreeHost(start))));
        if let Err(failure) = freed {
            record(&self.ctx, failure);
        }
    }
}

/// A semaphore of another API, by the operating system's handle under which it was exported.
#[derive(Clone, Copy, Debug)]
pub struct SemaphoreHandle {
    kind: u32,
    handle: [u64; 2],
    counts: bool,
}

macro_rules! semaphore_handles {
    ($($(#[$doc:meta])* $name:ident($argument:ident: $ty:ty) = $kind:literal, $counts:literal, $bits:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// The handle must be open and belong to a semaphore of this kind. It must be imported only once. After
        /// that it belongs to the driver, and the program must not use it. Other users of the semaphore must
        /// follow the rules of its API.
        #[must_use]
        pub unsafe fn $name($argument: $ty) -> SemaphoreHandle {
            SemaphoreHandle { kind: $kind, handle: [$bits, 0], counts: $counts }
        }
    )*};
}

impl SemaphoreHandle {
    // Values of `CUexternalSemaphoreHandleType`.
    semaphore_handles! {
        /// A binary semaphore by its file descriptor, for example from `vkGetSemaphoreFdKHR`.
        opaque_fd(fd: c_int) = 1, false, u64::from(fd.cast_unsigned());
        /// A timeline semaphore by its file descriptor, for example from `vkGetSemaphoreFdKHR`.
        timeline_fd(fd: c_int) = 9, true, u64::from(fd.cast_unsigned());
        /// A binary semaphore by its Windows handle.
        opaque_win32(handle: *mut c_void) = 2, false, cuweave_core::index::wide(handle.expose_provenance());
        /// A timeline semaphore by its Windows handle.
        timeline_win32(handle: *mut c_void) = 10, true, cuweave_core::index::wide(handle.expose_provenance());
        /// A Direct3D 12 fence by its Windows handle.
        d3d12_fence(handle: *mut c_void) = 4, true, cuweave_core::index::wide(handle.expose_provenance());
    }

    /// Returns true if the semaphore has a value that counts up, false if it is binary.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.counts
    }

    /// Returns true for a timeline semaphore, which not every device supports.
    pub(crate) fn is_timeline(&self) -> bool {
        matches!(self.kind, 9 | 10)
    }
}

/// An imported semaphore. The import ends when this is dropped.
pub struct OwnedSemaphore {
    raw: RawSemaphore,
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
}

impl std::fmt::Debug for OwnedSemaphore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnedSemaphore").finish_non_exhaustive()
    }
}

impl OwnedSemaphore {
    /// Imports a semaphore. The context must be current.
    pub fn import(
        driver: &'static Driver,
        ctx: &Arc<CudaContext>,
        handle: &SemaphoreHandle,
    ) -> Outcome<OwnedSemaphore> {
        let description =
            SemaphoreDescription { kind: handle.kind, handle: handle.handle, flags: 0, rest: [0; 16] };
        let mut raw = RawSemaphore::NONE;
        call_newer!(driver, cuImportExternalSemaphore(&mut raw, &description))?;
        Ok(OwnedSemaphore { raw, driver, ctx: ctx.clone() })
    }

    pub fn raw(&self) -> RawSemaphore {
        self.raw
    }

    pub fn context(&self) -> &Arc<CudaContext> {
        &self.ctx
    }
}

impl Drop for OwnedSemaphore {
    fn drop(&mut self) {
        let entered = self.driver.enter(Context::from_cudarc(&self.ctx));
        let destroyed = entered.and_then(|()| call_newer!(self.driver, cuDestroyExternalSemaphore(self.raw)));
        if let Err(failure) = destroyed {
            record(&self.ctx, failure);
        }
    }
}
