//! The parameters of nodes in the driver's format: structures with the sizes of the bindings. Fields that the
//! runtime does not set are zero.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use cudarc::driver::sys;
use cuweave_core::index::size;

use super::handles::{Context, Function, Node, RawGraph, RawSemaphore};

/// `CUDA_HOST_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HostParams {
    pub function: unsafe extern "C" fn(*mut c_void),
    pub data: *mut c_void,
}

#[repr(C)]
pub(super) struct KernelParams {
    pub(super) function: Function,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared: u32,
    pub(super) values: *mut *mut c_void,
    pub(super) extra: *mut *mut c_void,
    pub(super) kernel: usize,
    pub(super) context: usize,
}

/// `CUgraphNodeParams` of a conditional node.
#[repr(C)]
pub(super) struct ConditionParams {
    pub(super) kind: u32,
    pub(super) reserved: [u32; 3],
    pub(super) handle: u64,
    pub(super) test: u32,
    pub(super) bodies: u32,
    pub(super) graphs: *const RawGraph,
    pub(super) ctx: Context,
    pub(super) rest: [u64; 26],
}

/// `CUstreamBatchMemOpParams`. Waits and writes of a value have the same fields.
#[repr(C)]
pub(super) struct MemoryOperation {
    pub(super) operation: u32,
    pub(super) address: u64,
    pub(super) value: u64,
    pub(super) flags: u32,
    pub(super) alias: u64,
    pub(super) rest: u64,
}

/// `CUDA_BATCH_MEM_OP_NODE_PARAMS`.
#[repr(C)]
pub(super) struct BatchParams {
    pub(super) ctx: Context,
    pub(super) count: u32,
    pub(super) operations: *const MemoryOperation,
    pub(super) flags: u32,
}

/// `CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS` and `.._WAIT_PARAMS`. Both start with the value.
#[repr(C)]
pub(super) struct SemaphoreValue {
    pub(super) value: u64,
    pub(super) rest: [u64; 17],
}

/// `CUDA_EXT_SEM_SIGNAL_NODE_PARAMS` and `.._WAIT_NODE_PARAMS`. The last words belong to newer versions.
#[repr(C)]
pub(super) struct SemaphoreParams {
    pub(super) semaphores: *const RawSemaphore,
    pub(super) values: *const SemaphoreValue,
    pub(super) count: u32,
    pub(super) rest: [u64; 4],
}

/// `CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC`. The handle is a file descriptor, or a pointer and the pointer of a
/// name.
#[repr(C)]
pub(super) struct SemaphoreDescription {
    pub(super) kind: u32,
    pub(super) handle: [u64; 2],
    pub(super) flags: u32,
    pub(super) rest: [u32; 16],
}

const _: () = {
    assert!(size_of::<MemoryOperation>() == 48 && size_of::<BatchParams>() == 32);
    assert!(size_of::<SemaphoreValue>() == 144 && size_of::<SemaphoreDescription>() == 96);
};

#[repr(C)]
pub(super) struct MemsetParams {
    pub(super) target: u64,
    pub(super) pitch: usize,
    pub(super) value: u32,
    pub(super) element: u32,
    pub(super) width: usize,
    pub(super) height: usize,
}

#[repr(C)]
pub(super) struct RawCopyEnd {
    pub(super) x_in_bytes: usize,
    pub(super) y: usize,
    pub(super) z: usize,
    pub(super) lod: usize,
    pub(super) memory_type: u32,
    pub(super) host: usize,
    pub(super) device: u64,
    pub(super) array: usize,
    pub(super) reserved: usize,
    pub(super) pitch: usize,
    pub(super) height: usize,
}

#[repr(C)]
pub(super) struct MemcpyParams {
    pub(super) source: RawCopyEnd,
    pub(super) target: RawCopyEnd,
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) depth: usize,
}

#[repr(C)]
pub(super) struct AllocParams {
    pub(super) allocation_type: u32,
    pub(super) handle_types: u32,
    pub(super) location_type: u32,
    pub(super) location: i32,
    pub(super) reserved: [u64; 9],
    pub(super) accesses: *const DeviceAccess,
    pub(super) access_count: usize,
    pub(super) bytes: usize,
    pub(super) address: u64,
}

/// `CUmemLocation` for a device.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct DeviceLocation {
    pub(super) kind: u32,
    pub(super) device: c_int,
}

/// `CUmemLocation` for managed memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemLocation {
    kind: u32,
    id: c_int,
}

impl MemLocation {
    /// Returns the location with this `CUmemLocationType` and id.
    pub fn new(kind: u32, id: c_int) -> MemLocation {
        MemLocation { kind, id }
    }

    /// Returns the `CUmemLocationType`.
    pub fn kind(self) -> u32 {
        self.kind
    }

    /// Returns the id: the ordinal of a device, or the number of a NUMA node.
    pub fn id(self) -> c_int {
        self.id
    }
}

/// `CUmemAllocationProp`.
#[repr(C)]
pub(super) struct MemoryProperties {
    pub(super) kind: u32,
    pub(super) handle_types: u32,
    pub(super) location: DeviceLocation,
    pub(super) metadata: usize,
    pub(super) flags: [u8; 8],
}

impl MemoryProperties {
    /// Returns the properties of device memory: `CU_MEM_ALLOCATION_TYPE_PINNED` on `CU_MEM_LOCATION_TYPE_DEVICE`.
    pub(super) fn for_device(device: c_int) -> MemoryProperties {
        MemoryProperties {
            kind: 1,
            handle_types: 0,
            location: DeviceLocation { kind: 1, device },
            metadata: 0,
            flags: [0; 8],
        }
    }
}

/// `CUmulticastObjectProp`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObjectProperties {
    devices: u32,
    bytes: usize,
    handle_types: u64,
    flags: u64,
}

impl ObjectProperties {
    /// Returns the properties of an object for `devices` devices that is not shared with other processes.
    pub fn new(devices: u32, bytes: u64) -> ObjectProperties {
        ObjectProperties { devices, bytes: host_size(bytes), handle_types: 0, flags: 0 }
    }
}

/// `CUmemAccessDesc`.
#[repr(C)]
pub(super) struct DeviceAccess {
    pub(super) location: DeviceLocation,
    pub(super) flags: u32,
}

impl DeviceAccess {
    /// Returns read and write access for a device: `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
    pub(super) fn for_device(device: c_int) -> DeviceAccess {
        DeviceAccess { location: DeviceLocation { kind: 1, device }, flags: 3 }
    }
}

#[repr(C)]
pub(super) struct InstantiateParams {
    pub(super) flags: u64,
    pub(super) upload_stream: usize,
    pub(super) error_node: Node,
    pub(super) result: u32,
}

/// The data of an edge: `CUgraphEdgeData`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct EdgeData {
    pub(super) from_port: u8,
    pub(super) to_port: u8,
    pub(super) kind: u8,
    pub(super) reserved: [u8; 5],
}

const _: () = {
    assert!(size_of::<EdgeData>() == 8);
    assert!(size_of::<KernelParams>() == 72 && size_of::<sys::CUDA_KERNEL_NODE_PARAMS_v2>() == 72);
    assert!(size_of::<MemsetParams>() == size_of::<sys::CUDA_MEMSET_NODE_PARAMS>());
    assert!(size_of::<MemcpyParams>() == size_of::<sys::CUDA_MEMCPY3D>());
    assert!(size_of::<AllocParams>() == 120 && size_of::<sys::CUDA_MEM_ALLOC_NODE_PARAMS>() == 120);
    assert!(size_of::<MemoryProperties>() == size_of::<sys::CUmemAllocationProp>());
    assert!(size_of::<DeviceAccess>() == size_of::<sys::CUmemAccessDesc>());
    assert!(size_of::<InstantiateParams>() == size_of::<sys::CUDA_GRAPH_INSTANTIATE_PARAMS>());
    assert!(size_of::<usize>() == 8, "graphs need a 64-bit host");
};

/// Converts a size of the device to `usize`, which has 64 bits on every supported host.
pub(super) fn host_size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The function and the configuration of a kernel launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelLaunch {
    /// The function.
    pub function: Function,
    /// The number of blocks.
    pub grid: [u32; 3],
    /// The number of threads per block.
    pub block: [u32; 3],
    /// The dynamic shared memory per block, in bytes.
    pub shared: u32,
    /// True if all blocks of the grid must run at the same time, because they synchronise.
    pub cooperative: bool,
}

/// The parameters of a memset node: rows of `width` elements of 1, 2 or 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memset {
    /// The address of the first element.
    pub target: u64,
    /// The element's bits.
    pub value: u32,
    /// The element's size in bytes.
    pub element: u32,
    /// The number of elements of a row.
    pub width: u64,
    /// The number of rows.
    pub rows: u64,
    /// The bytes from the start of a row to the start of the next one. 0 for a single row.
    pub pitch: u64,
}

impl Memset {
    /// Returns the parameters for `width` elements in sequence.
    pub fn line(target: u64, value: u32, element: u32, width: u64) -> Memset {
        Memset { target, value, element, width, rows: 1, pitch: 0 }
    }
}

/// The parameters of a memcpy node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memcpy {
    /// The source.
    pub from: CopyEnd,
    /// The destination.
    pub to: CopyEnd,
    /// The number of bytes of a row.
    pub bytes: u64,
    /// The number of rows of a plane.
    pub rows: u64,
    /// The number of planes.
    pub planes: u64,
    /// The distances between the rows of the source and of the destination. 0 for a single row.
    pub pitches: [CopyPitch; 2],
}

/// The distances between the rows and the planes of one end of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyPitch {
    /// The bytes from the start of a row to the start of the next one.
    pub bytes: u64,
    /// The rows from the start of a plane to the start of the next one.
    pub height: u64,
}

impl Memcpy {
    /// Returns the parameters for `bytes` bytes in sequence.
    pub fn line(from: CopyEnd, to: CopyEnd, bytes: u64) -> Memcpy {
        Memcpy { from, to, bytes, rows: 1, planes: 1, pitches: [CopyPitch::default(); 2] }
    }
}

/// One end of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyEnd {
    /// Device memory.
    Device(u64),
    /// Pinned host memory.
    Host(u64),
}

impl CopyEnd {
    /// Returns its address.
    pub fn address(self) -> u64 {
        match self {
            CopyEnd::Device(address) | CopyEnd::Host(address) => address,
        }
    }
}

/// A word of parameter values. Each value starts at a word boundary.
pub type Word = MaybeUninit<u64>;

pub fn address_word(address: u64) -> Word {
    MaybeUninit::new(address)
}

/// Writes a value, including its padding bytes, into its words: `size_of::<T>()` bytes rounded up to words, at
/// least one. If there are too few words, leaves them unchanged.
#[inline]
pub fn write_value<T: Copy>(room: &mut [Word], value: T) {
    if size_of::<T>() < 8 {
        // Zero the bytes of the word after the value, so that [`number`] can read the whole word.
        room[..1].fill(MaybeUninit::new(0));
    }
    if size_of_val(room) >= size_of::<T>() {
        // SAFETY: the destination is large enough. Padding stays uninitialised, which words allow.
        unsafe { room.as_mut_ptr().cast::<T>().write_unaligned(value) };
    }
}

/// Appends a value, including its padding bytes.
pub fn push_value<T: Copy>(words: &mut Vec<Word>, value: T) {
    let start = words.len();
    words.resize(start + size_of::<T>().div_ceil(8).max(1), MaybeUninit::new(0));
    write_value(&mut words[start..], value);
}

/// A block of bytes with parameters and integers at given offsets.
#[derive(Debug)]
pub struct Packed {
    words: Vec<Word>,
}

impl Packed {
    /// Returns a zeroed block of `bytes` bytes.
    pub fn zeroed(bytes: u32) -> Packed {
        Packed { words: vec![MaybeUninit::new(0); size(bytes).div_ceil(8).max(1)] }
    }

    /// Returns the words.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Copies the first `bytes` bytes of `words`, padding included, to an offset. Does nothing if they do not
    /// fit.
    pub fn put(&mut self, offset: u32, words: &[Word], bytes: u32) {
        let (offset, bytes) = (size(offset), size(bytes));
        if bytes <= size_of_val(words) && offset + bytes <= size_of_val(self.words.as_slice()) {
            // SAFETY: both ranges are in bounds and in different slices. Uninitialised bytes may be copied as
            // `MaybeUninit`.
            unsafe {
                let to = self.words.as_mut_ptr().cast::<MaybeUninit<u8>>().add(offset);
                to.copy_from_nonoverlapping(words.as_ptr().cast(), bytes);
            }
        }
    }

    /// Swaps `bytes` bytes at two offsets. Does nothing if they overlap or do not fit.
    pub fn swap(&mut self, one: u32, other: u32, bytes: u32) {
        let (first, second, bytes) = (size(one.min(other)), size(one.max(other)), size(bytes));
        if first + bytes <= second && second + bytes <= size_of_val(self.words.as_slice()) {
            // SAFETY: both ranges are in bounds and disjoint. Uninitialised bytes may be swapped as
            // `MaybeUninit`.
            unsafe {
                let start = self.words.as_mut_ptr().cast::<MaybeUninit<u8>>();
                std::ptr::swap_nonoverlapping(start.add(first), start.add(second), bytes);
            }
        }
    }

    /// Writes an integer.
    pub fn put_number(&mut self, offset: u32, value: u32) {
        self.put(offset, &[MaybeUninit::new(u64::from(value.to_le()))], 4);
    }
}

/// Returns the bits of a parameter in the low bytes; the others are 0. The parameter's type must have no
/// padding.
pub fn number(word: Word) -> u64 {
    // SAFETY: words come from `address_word`, or from `write_value` with a value without padding. `write_value`
    // initialises the whole word before it writes a shorter value.
    unsafe { word.assume_init() }
}

/// Scratch space for calls that take arrays of pointers.
#[derive(Debug, Default)]
pub struct Scratch {
    pointers: Vec<usize>,
    /// If present, updates of an exec's nodes are also made to the nodes of its graph, from which they can be
    /// read back.
    pub mirror: Option<Mirror>,
}

impl Scratch {
    /// Returns true if an update of an exec must also be made to its graph, and marks the mirror as changed.
    pub(super) fn mirrors(&mut self) -> bool {
        self.mirror.as_mut().is_some_and(|mirror| {
            mirror.changed = true;
            true
        })
    }
}

/// The updates of an exec that were also made to its graph.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mirror {
    /// True if there were any since the last launch.
    pub changed: bool,
    /// The number of launches after updates.
    pub launches: u64,
}

/// A parameter with a size in words.
pub trait WordCount {
    /// Returns the number of 8-byte words of its value.
    fn word_count(&self) -> usize;
}

/// The values of a launch's parameters, in consecutive words.
#[derive(Clone, Copy, Debug)]
pub struct ParameterValues<'w, P> {
    /// The words.
    pub words: &'w [Word],
    /// The parameters, in order.
    pub params: &'w [P],
}

pub(super) fn kernel_params(
    launch: &KernelLaunch,
    values: ParameterValues<'_, impl WordCount>,
    scratch: &mut Scratch,
) -> KernelParams {
    if scratch.pointers.len() < values.params.len() {
        scratch.pointers.resize(values.params.len(), 0);
    }
    let mut next = values.words.as_ptr();
    // The driver reads the values during the call, and does not write them.
    for (pointer, param) in scratch.pointers.iter_mut().zip(values.params) {
        *pointer = next.expose_provenance();
        next = next.wrapping_add(param.word_count());
    }
    KernelParams {
        function: launch.function,
        grid: launch.grid,
        block: launch.block,
        shared: launch.shared,
        values: scratch.pointers.as_mut_ptr().cast(),
        extra: null_mut(),
        kernel: 0,
        context: 0,
    }
}

/// Returns eight bytes filled with a value of `element` bytes: 1, 2, 4 or 8.
pub fn pattern(value: u64, element: u32) -> u64 {
    match element {
        1 => (value & 0xff) * 0x0101_0101_0101_0101,
        2 => (value & 0xffff) * 0x0001_0001_0001_0001,
        4 => (value & 0xffff_ffff) * 0x0000_0001_0000_0001,
        _ => value,
    }
}

pub(super) fn memset_params(fill: &Memset) -> MemsetParams {
    MemsetParams {
        target: fill.target,
        pitch: host_size(fill.pitch),
        value: fill.value,
        element: fill.element,
        width: host_size(fill.width),
        height: host_size(fill.rows),
    }
}

pub(super) fn memcpy_params(copy: &Memcpy) -> MemcpyParams {
    let Memcpy { from, to, bytes, rows, planes, pitches } = *copy;
    let end = |place, pitch: CopyPitch| {
        // CU_MEMORYTYPE_HOST is 1, CU_MEMORYTYPE_DEVICE 2.
        let (memory_type, host, device) = match place {
            CopyEnd::Host(address) => (1, host_size(address), 0),
            CopyEnd::Device(address) => (2, 0, address),
        };
        RawCopyEnd {
            x_in_bytes: 0,
            y: 0,
            z: 0,
            lod: 0,
            memory_type,
            host,
            device,
            array: 0,
            reserved: 0,
            pitch: host_size(pitch.bytes),
            height: host_size(pitch.height),
        }
    };
    MemcpyParams {
        source: end(from, pitches[0]),
        target: end(to, pitches[1]),
        width: host_size(bytes),
        height: host_size(rows),
        depth: host_size(planes),
    }
}
