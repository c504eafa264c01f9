//! Assigns each buffer a memory block and an offset. Stage 4 of the compiler.
//!
//! Arena and owned memory pack the temporaries of each device into one block by [`plan`]. With memory nodes, each
//! buffer has its own block, and the edges between alloc and free nodes let the driver reuse memory.
//!
//! Invariants of a [`Layout`]:
//! - every allocated buffer is in a memory block, and every output has its own block;
//! - two buffers share bytes only if [`Liveness::before`] holds for one of them and the other.

use std::collections::BTreeMap;
use std::fmt;

use crate::index::{Index, Vector};
use crate::ir::{BufferId, Device, DimId, Memory, Origin, Program, StatementId};
use crate::operation::{BufferPlacement, MemoryBlock, MemoryBounds, MemoryId};
use crate::place::{LiveRange, Liveness};
use crate::plan;
use crate::plan::BufferIndex;

/// The memory block and offset of each buffer, and the order of the memory nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The memory blocks.
    pub memories: Vector<MemoryId, MemoryBlock>,
    /// Where each buffer is in memory.
    pub places: Vector<BufferId, BufferPlacement>,
    /// For each memory block, the blocks whose frees its alloc depends on.
    pub alloc_after: Vector<MemoryId, Vec<MemoryId>>,
    /// For each memory block, the blocks whose frees its free depends on.
    pub free_after: Vector<MemoryId, Vec<MemoryId>>,
    /// The size of the plan, and its lower bounds.
    pub bounds: Option<MemoryBounds>,
    /// A lower bound in bytes for the driver's placement of memory nodes. `None` if the compiler places the
    /// buffers, and for memory nodes on several devices.
    pub at_least: Option<u64>,
}

/// Why buffers cannot be laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// The size of a buffer overflows 64 bits.
    Overflow {
        /// The buffer.
        buffer: String,
        /// Its length in elements.
        len: u64,
        /// The size of an element in bytes.
        element: u32,
    },
    /// The sum of the sizes exceeds the limit.
    TooMuch {
        /// The first buffer at which the sum exceeds the limit.
        buffer: String,
        /// The limit in bytes.
        most: u64,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::Overflow { buffer, len, element } => {
                write!(f, "the size of `{buffer}` overflows: {len} elements of {element} bytes")
            }
            LayoutError::TooMuch { buffer, most } => {
                write!(f, "with `{buffer}`, the buffers need more than {most} bytes")
            }
        }
    }
}

impl std::error::Error for LayoutError {}

/// The minimum alignment of offsets: the alignment of the driver's allocations.
pub const ALIGNMENT: u64 = 256;

/// Assigns each buffer a memory block and an offset.
///
/// # Errors
///
/// [`LayoutError`].
pub fn lay_out(
    program: &Program,
    dims: &Vector<DimId, u64>,
    placed: &Liveness,
    overlapping: &Vector<StatementId, Vec<StatementId>>,
    memory: Memory,
) -> Result<Layout, LayoutError> {
    in_range(program, dims, placed)?;
    match memory {
        Memory::Nodes => nodes(program, dims, placed, overlapping),
        Memory::Arena => packed(program, dims, placed, true),
        Memory::Owned => packed(program, dims, placed, false),
    }
}

/// Checks that the sum of all sizes is at most [`plan::MAX_TOTAL_BYTES`], so that no sum of sizes and offsets
/// overflows.
fn in_range(program: &Program, dims: &Vector<DimId, u64>, placed: &Liveness) -> Result<(), LayoutError> {
    let mut sum = 0u64;
    for (buffer, range) in placed.live_ranges.enumerate() {
        if range.as_ref().is_some_and(|range| range.allocated) {
            let declared = &program.buffers[buffer];
            let room = plan::room(bytes(program, dims, buffer)?, ALIGNMENT.max(declared.align.into()));
            sum = room
                .and_then(|room| sum.checked_add(room))
                .filter(|&sum| sum <= plan::MAX_TOTAL_BYTES)
                .ok_or_else(|| LayoutError::TooMuch {
                    buffer: declared.name.to_string(),
                    most: plan::MAX_TOTAL_BYTES,
                })?;
        }
    }
    Ok(())
}

/// Gives each buffer for which `own` returns true its own memory block. The first step of every lowering.
fn separate(
    program: &Program,
    dims: &Vector<DimId, u64>,
    placed: &Liveness,
    own: impl Fn(&LiveRange) -> bool,
) -> Result<(Layout, Vec<BufferId>), LayoutError> {
    let mut layout = Layout::default();
    let mut owners: Vec<BufferId> = Vec::new();
    for (buffer, declared) in program.buffers.enumerate() {
        let place = match &placed.live_ranges[buffer] {
            Some(range) if range.allocated && own(range) => {
                let bytes = bytes(program, dims, buffer)?;
                let device = program.device_of(buffer).unwrap_or_default();
                let block = MemoryBlock { bytes, name: declared.name.clone(), node: true, device };
                owners.push(buffer);
                BufferPlacement::Inside { memory: layout.memories.push(block), offset: 0 }
            }
            _ if matches!(declared.origin, Origin::Alloc(_)) => BufferPlacement::Nowhere,
            _ => BufferPlacement::Bound,
        };
        layout.places.push(place);
    }
    layout.alloc_after = Vector::filled(Vec::new(), layout.memories.len());
    Ok((layout, owners))
}

/// The buffers of a program, as input of the planner.
#[derive(Clone, Debug, Default)]
pub struct PlannerBuffers {
    /// The planner's buffers.
    pub list: Vector<BufferIndex, plan::PlannerBuffer>,
    /// The buffer of the program that corresponds to each entry of `list`.
    pub ids: Vector<BufferIndex, BufferId>,
}

/// Returns the buffers that the graph both allocates and frees.
///
/// # Errors
///
/// [`LayoutError::Overflow`].
pub fn temporaries(
    program: &Program,
    dims: &Vector<DimId, u64>,
    placed: &Liveness,
) -> Result<PlannerBuffers, LayoutError> {
    for_planner(program, dims, placed, |range| range.allocated && range.freed)
}

fn for_planner(
    program: &Program,
    dims: &Vector<DimId, u64>,
    placed: &Liveness,
    which: impl Fn(&LiveRange) -> bool,
) -> Result<PlannerBuffers, LayoutError> {
    let PlannerBuffers { mut list, mut ids } = PlannerBuffers::default();
    for (buffer, range) in placed.live_ranges.enumerate() {
        let Some(range) = range.as_ref().filter(|range| which(range)) else { continue };
        list.push(plan::PlannerBuffer {
            size: bytes(program, dims, buffer)?,
            align: ALIGNMENT.max(u64::from(program.buffers[buffer].align)),
            users: range.users.clone(),
            after_alloc: range.begins.clone(),
            before_free: range.ends.clone(),
            stays: !range.freed,
        });
        ids.push(buffer);
    }
    Ok(PlannerBuffers { list, ids })
}

/// Packs the temporaries of each device into one memory block, allocated by a node or owned by the exec. Each
/// output has its own block.
fn packed(
    program: &Program,
    dims: &Vector<DimId, u64>,
    placed: &Liveness,
    node: bool,
) -> Result<Layout, LayoutError> {
    let (mut layout, _) = separate(program, dims, placed, |range| !range.freed)?;
    let all = temporaries(program, dims, placed)?;
    for (device, PlannerBuffers { list, ids }) in by_device(program, all) {
        let planned = plan::plan(&placed.reach, &list, plan::Effort::Default)
            .map_err(|error| plan_error(program, &ids, error))?;
        debug_assert_eq!(
            plan::check::check(&placed.reach, &list, &planned.offsets, planned.total),
            Ok(()),
            "the plan violates the definition"
        );
        let name =
            if device == Device::FIRST { "arena".into() } else { format!("arena of device {device}").into() };
        let memory = layout.memories.push(MemoryBlock { bytes: planned.total, name, node, device });
        layout.alloc_after.push(Vec::new());
        for (&buffer, &offset) in ids.iter().zip(&planned.offsets) {
            layout.places[buffer] = BufferPlacement::Inside { memory, offset };
        }
        let bounds = MemoryBounds {
            floor: planned.floor.bytes,
            floor_statement: planned.floor.node,
            antichain: planned.bound.bytes,
            antichain_buffers: planned.bound.buffers.iter().map(|&at| ids[at]).collect(),
            planned: planned.total,
            devices: vec![(device, planned.total)],
            optimal: planned.optimal,
        };
        layout.bounds = Some(match layout.bounds.take() {
            Some(others) => others.and(bounds),
            None => bounds,
        });
    }
    Ok(layout)
}

/// Groups the planner's buffers by device.
pub(crate) fn by_device(program: &Program, all: PlannerBuffers) -> BTreeMap<Device, PlannerBuffers> {
    let mut devices: BTreeMap<Device, PlannerBuffers> = BTreeMap::new();
    for (buffer, id) in all.list.into_iter().zip(all.ids) {
        let own = devices.entry(program.device_of(id).unwrap_or_default()).or_default();
        own.list.push(buffer);
        own.ids.push(id);
    }
    devices
}

/// Converts the planner's error, adding the name of the buffer.
pub(crate) fn plan_error(
    program: &Program,
    ids: &Vector<BufferIndex, BufferId>,
    error: plan::PlanError,
) -> LayoutError {
    let at = match error {
        plan::PlanError::NoAlignment(at) | plan::PlanError::Overflow(at) => at,
    };
    let name = &program.buffers[ids[at]].name;
    LayoutError::TooMuch { buffer: name.to_string(), most: plan::MAX_TOTAL_BYTES }
}

/// The granularity in bytes to which the driver rounds alloc nodes up. Measured with driver 580.159 (CUDA 13.0).
const NODE_STEP: u64 = 512;

/// Gives each buffer its own memory block, allocated by a node, and chooses edges between memory nodes that help
/// the driver to reuse memory. A kernel with a programmatic edge must not wait for a free and an alloc between it
/// and its producer. Dependents by programmatic edges of a buffer's last users therefore count as its users.
fn nodes(
    program: &Program,
    dims: &Vector<DimId, u64>,
    placed: &Liveness,
    overlapping: &Vector<StatementId, Vec<StatementId>>,
) -> Result<Layout, LayoutError> {
    let (mut layout, owners) = separate(program, dims, placed, |_| true)?;
    // The planner's buffers have the same indices as the memory blocks.
    let PlannerBuffers { mut list, ids } = for_planner(program, dims, placed, |range| range.allocated)?;
    debug_assert_eq!(owners, ids.as_slice());
    for buffer in list.iter_mut().filter(|_| !overlapping.is_empty()) {
        let began: Vec<StatementId> =
            buffer.before_free.iter().flat_map(|&end| overlapping[end].iter().copied()).collect();
        buffer.before_free = placed.reach.maximal(&[buffer.before_free.as_slice(), &began].concat());
    }
    let order = plan::BufferOrder::new(&placed.reach, &list);
    let chosen = plan::nodes::memory_nodes(&placed.reach, &list, &order);
    let memory_of = |buffer: BufferIndex| MemoryId::new(buffer.index());
    // The driver does not share memory between devices.
    let device = |at: BufferIndex| program.device_of(ids[at]);
    let memories = |after: Vector<BufferIndex, Vec<BufferIndex>>| {
        let after = after.enumerate().map(|(at, list)| {
            let here = list.iter().filter(|&&other| device(other) == device(at));
            here.map(|&other| memory_of(other)).collect()
        });
        after.collect()
    };
    layout.alloc_after = memories(chosen.alloc_after);
    layout.free_after = memories(chosen.free_after);
    let sizes = list.iter().map(|buffer| buffer.size.next_multiple_of(NODE_STEP)).collect();
    layout.at_least = (program.devices() == 1).then(|| plan::antichain(&order, &sizes).bytes);
    Ok(layout)
}

/// Returns the size of a buffer in bytes.
///
/// # Errors
///
/// [`LayoutError::Overflow`].
pub fn bytes(program: &Program, dims: &Vector<DimId, u64>, buffer: BufferId) -> Result<u64, LayoutError> {
    let declared = &program.buffers[buffer];
    let len = dims[declared.len];
    len.checked_mul(u64::from(declared.element)).ok_or_else(|| LayoutError::Overflow {
        buffer: declared.name.to_string(),
        len,
        element: declared.element,
    })
}
