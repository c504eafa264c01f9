//! Operations: the work of streams and of graph nodes.

use std::collections::BTreeMap;
use std::ffi::c_void;

use crate::base::status::{Result, Status};
use crate::base::types::{
    ACCESS_READ_WRITE, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUmemAccessDesc, CUmemLocation,
    LOCATION_DEVICE, MEMORY_ARRAY, MEMORY_DEVICE, MEMORY_HOST, MEMORY_UNIFIED, NODE_CONDITIONAL, NODE_EMPTY,
    NODE_EVENT_RECORD, NODE_GRAPH, NODE_HOST, NODE_KERNEL, NODE_MEM_ALLOC, NODE_MEM_FREE, NODE_MEMCPY,
    NODE_MEMORY_OPERATIONS, NODE_MEMSET, NODE_SIGNAL, NODE_WAIT_EVENT, NODE_WAIT_SEMAPHORE,
};
use crate::memory::{Memory, MemoryPlace, PitchedBox, Touched};

/// A kernel launch.
#[derive(Clone, PartialEq)]
pub struct KernelLaunch {
    /// The handle of the kernel.
    pub function: u64,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
    /// The bytes of the parameter space.
    pub parameters: Vec<u8>,
    /// The launch attributes by number.
    pub attributes: BTreeMap<u32, [u64; 8]>,
}

/// A copy of a box of bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MemoryCopy {
    pub to: CopyEnd,
    pub from: CopyEnd,
    /// The bytes per row.
    pub width: u64,
    /// The rows per slice.
    pub height: u64,
    /// The number of slices.
    pub depth: u64,
}

/// One end of a copy.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CopyEnd {
    /// `CU_MEMORYTYPE_*`.
    pub kind: u32,
    pub at: PitchedBox,
}

/// An address and its memory type.
#[derive(Clone, Copy)]
pub struct TypedAddress {
    /// `CU_MEMORYTYPE_*`.
    kind: u32,
    address: u64,
}

impl TypedAddress {
    /// Returns an address in host memory.
    pub fn host(address: u64) -> Self {
        TypedAddress { kind: MEMORY_HOST, address }
    }

    /// Returns an address in device memory.
    pub fn device(address: u64) -> Self {
        TypedAddress { kind: MEMORY_DEVICE, address }
    }

    /// Returns an address in host or device memory.
    pub fn unified(address: u64) -> Self {
        TypedAddress { kind: MEMORY_UNIFIED, address }
    }
}

impl MemoryCopy {
    /// Returns a copy of contiguous bytes.
    pub fn line(to: TypedAddress, from: TypedAddress, bytes: u64) -> Self {
        let end = |TypedAddress { kind, address }| {
            let at = PitchedBox { start: address, pitch: bytes, slice: bytes };
            CopyEnd { kind, at }
        };
        MemoryCopy { to: end(to), from: end(from), width: bytes, height: 1, depth: 1 }
    }

    /// Returns the copy that the parameters of a copy node describe.
    pub fn from_parameters(p: &CUDA_MEMCPY3D) -> Result<Self> {
        if p.srcLOD != 0 || p.dstLOD != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let size @ [width, height, depth] = [p.WidthInBytes as u64, p.Height as u64, p.Depth as u64];
        let from = end(
            p.srcMemoryType,
            p.srcHost as u64,
            p.srcDevice,
            p.srcPitch as u64,
            p.srcHeight as u64,
            [p.srcXInBytes as u64, p.srcY as u64, p.srcZ as u64],
            size,
        )?;
        let to = end(
            p.dstMemoryType,
            p.dstHost as u64,
            p.dstDevice,
            p.dstPitch as u64,
            p.dstHeight as u64,
            [p.dstXInBytes as u64, p.dstY as u64, p.dstZ as u64],
            size,
        )?;
        Ok(MemoryCopy { to, from, width, height, depth })
    }

    fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }

    /// Returns the memory at both ends; `None` for an empty copy. Returns an error if an end is not in live
    /// memory.
    pub fn places(&self, memory: &Memory) -> Result<Option<(MemoryPlace, MemoryPlace)>> {
        if self.is_empty() {
            return Ok(None);
        }
        let place = |end: &CopyEnd| {
            let bytes = end.at.span(self.width, self.height, self.depth).ok_or(Status::INVALID_VALUE)?;
            match end.kind {
                MEMORY_DEVICE => memory.resolve_device(end.at.start, bytes),
                _ if end.at.start == 0 => Err(Status::INVALID_VALUE),
                _ => memory.resolve(end.at.start, bytes),
            }
        };
        Ok(Some((place(&self.to)?, place(&self.from)?)))
    }
}

/// The value of `CU_DEVICE_ATTRIBUTE_MAX_PITCH`, in bytes.
const MAX_PITCH: u64 = 0x7fff_ffff;

fn end(
    kind: u32,
    host: u64,
    device: u64,
    pitch: u64,
    rows: u64,
    [x, y, z]: [u64; 3],
    [width, height, depth]: [u64; 3],
) -> Result<CopyEnd> {
    let start = match kind {
        MEMORY_HOST => host,
        MEMORY_DEVICE | MEMORY_UNIFIED => device,
        MEMORY_ARRAY => {
            crate::base::console::print_once("CUDA arrays are not simulated".to_owned());
            return Err(Status::NOT_SUPPORTED);
        }
        _ => return Err(Status::INVALID_VALUE),
    };
    // A pitch that is too small is an error only if it is used.
    let row_end = x.checked_add(width).ok_or(Status::INVALID_VALUE)?;
    let used = height > 1 || depth > 1;
    let pitch = if pitch == 0 && !used { row_end } else { pitch };
    if pitch < row_end && (used || pitch != 0) || used && pitch > MAX_PITCH {
        return Err(Status::INVALID_VALUE);
    }
    let row_count = y.checked_add(height).ok_or(Status::INVALID_VALUE)?;
    let rows = if depth > 1 || z > 0 { rows } else { rows.max(row_count) };
    if rows < row_count {
        return Err(Status::INVALID_VALUE);
    }
    let slice = pitch.checked_mul(rows).ok_or(Status::INVALID_VALUE)?;
    let offset = z.checked_mul(slice).and_then(|slices| slices.checked_add(y.checked_mul(pitch)?));
    let start = offset.and_then(|offset| offset.checked_add(x)?.checked_add(start));
    Ok(CopyEnd { kind, at: PitchedBox { start: start.ok_or(Status::INVALID_VALUE)?, pitch, slice } })
}

/// A fill.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MemoryFill {
    pub to: PitchedBox,
    pub value: u32,
    /// The size of an element in bytes: 1, 2 or 4.
    pub element: u64,
    /// The elements per row.
    pub width: u64,
    /// The number of rows.
    pub height: u64,
    /// The context of the node; `None` for the context of the launch.
    pub context: Option<u64>,
}

impl MemoryFill {
    /// Returns the fill that the parameters of a fill node describe.
    pub fn from_parameters(p: &CUDA_MEMSET_NODE_PARAMS) -> Result<Self> {
        let (element, width, height) = (u64::from(p.elementSize), p.width as u64, p.height as u64);
        if !matches!(element, 1 | 2 | 4) || width == 0 || height == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let row = width.checked_mul(element).ok_or(Status::INVALID_VALUE)?;
        let pitch = if height == 1 { row } else { p.pitch as u64 };
        if pitch < row || !p.dst.is_multiple_of(element) || (height > 1 && !pitch.is_multiple_of(element)) {
            return Err(Status::INVALID_VALUE);
        }
        let to = PitchedBox { start: p.dst, pitch, slice: 0 };
        Ok(MemoryFill { to, value: p.value, element, width, height, context: None })
    }

    /// Returns the parameters of a fill node.
    pub fn to_parameters(self) -> CUDA_MEMSET_NODE_PARAMS {
        CUDA_MEMSET_NODE_PARAMS {
            dst: self.to.start,
            pitch: self.to.pitch as usize,
            value: self.value,
            elementSize: self.element as u32,
            width: self.width as usize,
            height: self.height as usize,
        }
    }

    /// Returns the destination. Returns an error if it is not in live memory.
    pub fn place(&self, memory: &Memory) -> Result<MemoryPlace> {
        let row = self.width.checked_mul(self.element).ok_or(Status::INVALID_VALUE)?;
        let bytes = self.to.span(row, self.height, 1).ok_or(Status::INVALID_VALUE)?;
        memory.resolve_device(self.to.start, bytes)
    }
}

/// The properties of an alloc node beside its size and device.
#[derive(Clone)]
pub struct AllocProperties {
    /// Who may access the memory. The program reads this list through a pointer, so it must not move.
    pub access: Box<[CUmemAccessDesc]>,
    /// `maxSize` and `usage` of the pool's properties. Measured on driver 580 (CUDA 13.0): both are accepted with any
    /// value, returned, and have no effect.
    pub max_size: usize,
    pub usage: u16,
}

impl AllocProperties {
    /// Returns the properties of memory that these other devices may access too.
    pub fn with_devices(devices: impl IntoIterator<Item = usize>) -> Self {
        let access = devices.into_iter().map(|device| CUmemAccessDesc {
            location: CUmemLocation { kind: LOCATION_DEVICE, id: device as i32 },
            flags: ACCESS_READ_WRITE,
        });
        AllocProperties { access: access.collect(), max_size: 0, usage: 0 }
    }

    /// Returns the devices that may access the memory beside its own.
    pub fn devices(&self) -> impl Iterator<Item = usize> {
        let devices = self.access.iter().filter(|access| access.location.kind == LOCATION_DEVICE);
        devices.filter_map(|access| usize::try_from(access.location.id).ok())
    }
}

/// The kind of a conditional node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConditionalKind {
    /// Runs the first body if the condition is not 0, and otherwise the second one, if there is one.
    If,
    /// Repeats the body while the condition is not 0.
    While,
    /// Runs the body with the number of the condition, if there is one.
    Switch,
}

impl ConditionalKind {
    /// Returns the index of the body to run; `None` if no body runs.
    pub fn choose(self, value: u32, bodies: usize) -> Option<usize> {
        let body = match self {
            ConditionalKind::If => usize::from(value == 0),
            ConditionalKind::While if value == 0 => return None,
            ConditionalKind::While => 0,
            ConditionalKind::Switch => value as usize,
        };
        (body < bodies).then_some(body)
    }

    /// Returns the kind as a word, for reports.
    pub fn word(self) -> &'static str {
        match self {
            ConditionalKind::If => "if",
            ConditionalKind::While => "while",
            ConditionalKind::Switch => "switch",
        }
    }
}

/// A conditional node.
#[derive(Clone)]
pub struct Conditional {
    /// The handle of the condition.
    pub handle: u64,
    pub kind: ConditionalKind,
    /// The handles of the bodies. The program reads this list through a pointer, so it must not move.
    pub bodies: Box<[u64]>,
}

/// A memory operation of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryOperation {
    pub work: MemoryOperationKind,
    /// The size of the value in bytes: 4 or 8.
    pub bytes: u64,
    pub address: u64,
    pub value: u64,
}

/// The kind of a memory operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryOperationKind {
    /// Writes the value.
    Write,
    /// Waits until the value in memory minus this value is not negative.
    WaitReached,
    /// Waits until the value in memory equals this value.
    WaitEqual,
    /// Waits until the two values have a bit in common.
    WaitAnd,
    /// Waits until some bit is set in neither value.
    WaitNor,
}

impl MemoryOperation {
    /// Returns true if a wait ends with this value in memory.
    pub fn ends(&self, found: u64) -> bool {
        let bits = if self.bytes == 4 { u64::from(u32::MAX) } else { u64::MAX };
        let (found, value) = (found & bits, self.value & bits);
        match self.work {
            MemoryOperationKind::Write => true,
            MemoryOperationKind::WaitReached => found.wrapping_sub(value) & bits <= bits >> 1,
            MemoryOperationKind::WaitEqual => found == value,
            MemoryOperationKind::WaitAnd => found & value != 0,
            MemoryOperationKind::WaitNor => !(found | value) & bits != 0,
        }
    }
}

/// An operation of a stream or a graph node.
#[derive(Clone)]
pub enum Operation {
    Empty,
    Kernel(KernelLaunch),
    /// A copy, with the program's parameters.
    Copy(MemoryCopy),
    Fill(MemoryFill),
    /// A call of a function of the program.
    Host {
        function: unsafe extern "C" fn(*mut c_void),
        data: usize,
        /// The memory that the program declares the function to touch.
        touched: Touched,
    },
    /// A rendezvous with other streams, devices or threads. The program's function is polled until the rendezvous
    /// is over; other work runs between the calls.
    Rendezvous {
        /// Returns 0 until the rendezvous is over.
        poll: unsafe extern "C" fn(*mut c_void) -> u32,
        data: usize,
    },
    /// The handle of a child graph.
    Child(u64),
    /// A conditional node.
    Conditional(Conditional),
    /// An allocation of the graph.
    Alloc {
        address: u64,
        /// The length in bytes.
        bytes: u64,
        device: usize,
        properties: AllocProperties,
    },
    /// Frees the allocation at an address.
    Free(u64),
    /// Records an event.
    RecordEvent(u64),
    /// Waits for an event.
    WaitEvent(u64),
    /// Memory operations, executed in order.
    MemoryOperations(Vec<MemoryOperation>),
    /// Signals semaphores, each with a value.
    SignalSemaphores(Vec<(u64, u64)>),
    /// Waits for semaphores, each with a value.
    WaitSemaphores(Vec<(u64, u64)>),
}

impl Operation {
    /// Returns the node type, `CU_GRAPH_NODE_TYPE_*`.
    pub fn kind(&self) -> u32 {
        match self {
            Operation::Empty => NODE_EMPTY,
            Operation::Kernel(_) => NODE_KERNEL,
            Operation::Copy(_) => NODE_MEMCPY,
            Operation::Fill(_) => NODE_MEMSET,
            Operation::Host { .. } | Operation::Rendezvous { .. } => NODE_HOST,
            Operation::Child(_) => NODE_GRAPH,
            Operation::Conditional(_) => NODE_CONDITIONAL,
            Operation::Alloc { .. } => NODE_MEM_ALLOC,
            Operation::Free(_) => NODE_MEM_FREE,
            Operation::RecordEvent(_) => NODE_EVENT_RECORD,
            Operation::WaitEvent(_) => NODE_WAIT_EVENT,
            Operation::MemoryOperations(_) => NODE_MEMORY_OPERATIONS,
            Operation::SignalSemaphores(_) => NODE_SIGNAL,
            Operation::WaitSemaphores(_) => NODE_WAIT_SEMAPHORE,
        }
    }

    /// Returns true if the operation allocates or frees.
    pub fn is_memory(&self) -> bool {
        matches!(self, Operation::Alloc { .. } | Operation::Free(_))
    }

    /// Returns the handles of the graphs inside the node.
    pub fn graphs(&self) -> &[u64] {
        match self {
            Operation::Child(child) => std::slice::from_ref(child),
            Operation::Conditional(conditional) => &conditional.bodies,
            _ => &[],
        }
    }

    /// Returns the kind as a word, which names nodes without a name.
    pub fn word(&self) -> &'static str {
        match self {
            Operation::Empty => "empty",
            Operation::Kernel(_) => "kernel",
            Operation::Copy(_) => "copy",
            Operation::Fill(_) => "fill",
            Operation::Host { .. } => "host",
            Operation::Rendezvous { .. } => "rendezvous",
            Operation::Child(_) => "child",
            Operation::Conditional(conditional) => conditional.kind.word(),
            Operation::Alloc { .. } => "alloc",
            Operation::Free(_) => "free",
            Operation::RecordEvent(_) => "record",
            Operation::WaitEvent(_) => "wait",
            Operation::MemoryOperations(_) => "memory operations",
            Operation::SignalSemaphores(_) => "signal",
            Operation::WaitSemaphores(_) => "wait for a semaphore",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_compare_in_a_circle() {
        let wait = |work, bytes, value| MemoryOperation { work, bytes, address: 0, value };
        let reached =
            |bytes, value: u64, found: u64| wait(MemoryOperationKind::WaitReached, bytes, value).ends(found);
        assert!(reached(4, 3, 3) && reached(4, 3, 4) && !reached(4, 3, 2));
        assert!(reached(4, u64::from(u32::MAX), 0) && !reached(4, 0, u64::from(u32::MAX)));
        assert!(!reached(8, 1 << 32, u64::from(u32::MAX)) && reached(8, u64::MAX, 0));
        assert!(wait(MemoryOperationKind::WaitEqual, 4, 1 << 32 | 7).ends(7));
        assert!(
            wait(MemoryOperationKind::WaitAnd, 4, 6).ends(2)
                && !wait(MemoryOperationKind::WaitAnd, 4, 6).ends(1)
        );
        assert!(
            wait(MemoryOperationKind::WaitNor, 4, 6).ends(1)
                && !wait(MemoryOperationKind::WaitNor, 4, 6).ends(0xffff_fff9)
        );
    }
}
