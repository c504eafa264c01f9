//! Stage 4: assigns each buffer to a memory.
//!
//! Invariants of a [`Layout`]:
//! - a buffer with a life that begins here has a place inside a memory, outputs in a memory of their own;
//! - two buffers share bytes only if one is over before the other begins ([`Placed::before`]).

use std::fmt;

use crate::index::{Index, Vector};
use crate::ir::{BufferId, DimId, Memory, Origin, Program, StatementId};
use crate::operation::{Bounds, MemoryBlock, MemoryId, Place};
use crate::place::{Life, Placed};
use crate::plan;
use crate::plan::BufferIndex;
use crate::plan::nodes::Emit;

/// The places of the buffers of a program, and the order of their memory nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The memories.
    pub memories: Vector<MemoryId, MemoryBlock>,
    /// One place a buffer.
    pub places: Vector<BufferId, Place>,
    /// The memories whose frees the alloc of each memory follows.
    pub alloc_after: Vector<MemoryId, Vec<MemoryId>>,
    /// The memories whose frees the free of each memory follows.
    pub free_after: Vector<MemoryId, Vec<MemoryId>>,
    /// The bounds of the plan.
    pub bounds: Option<Bounds>,
    /// The order in which operations are added, if the driver's packing depends on it.
    pub ranks: Option<Ranks>,
}

/// The rank of each operation in the order in which operations are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranks {
    /// By statement.
    pub statements: Vector<StatementId, u32>,
    /// By memory.
    pub allocs: Vector<MemoryId, u32>,
    /// By memory.
    pub frees: Vector<MemoryId, u32>,
}

/// Why sizes cannot be laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// Length times element size leaves 64 bits.
    Overflow {
        /// The buffer.
        buffer: String,
        /// Its length.
        len: u64,
        /// Bytes of an element.
        element: u32,
    },
    /// All buffers together.
    TooMuch {
        /// The buffer at which the sum leaves what can be addressed.
        buffer: String,
        /// The most.
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
                write!(f, "the buffers need more than {most} bytes together with `{buffer}`")
            }
        }
    }
}

impl std::error::Error for LayoutError {}

/// The alignment of every offset: that of the driver's allocations.
pub(crate) const ALIGNMENT: u64 = 256;

/// Lays the buffers out.
///
/// # Errors
///
/// [`LayoutError`].
pub fn lay_out(
    program: &Program,
    dims: &Vector<DimId, u64>,
    placed: &Placed,
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

/// Checks that a graph allocates at most [`plan::MOST_BYTES`] in all, in every lowering: no sum of sizes and offsets
/// overflows then.
fn in_range(program: &Program, dims: &Vector<DimId, u64>, placed: &Placed) -> Result<(), LayoutError> {
    let mut sum = 0u64;
    for (buffer, life) in placed.lives.enumerate() {
        if life.as_ref().is_some_and(|life| life.allocated) {
            let declared = &program.buffers[buffer];
            let room = plan::room(bytes(program, dims, buffer)?, ALIGNMENT.max(declared.align.into()));
            sum = room
                .and_then(|room| sum.checked_add(room))
                .filter(|&sum| sum <= plan::MOST_BYTES)
                .ok_or_else(|| LayoutError::TooMuch {
                    buffer: declared.name.to_string(),
                    most: plan::MOST_BYTES,
                })?;
        }
    }
    Ok(())
}

/// Gives each buffer that `own` picks a memory of its own: the first step of every lowering.
fn separate(
    program: &Program,
    dims: &Vector<DimId, u64>,
    placed: &Placed,
    own: impl Fn(&Life) -> bool,
) -> Result<(Layout, Vec<BufferId>), LayoutError> {
    let mut layout = Layout::default();
    let mut owners: Vec<BufferId> = Vec::new();
    for (buffer, declared) in program.buffers.enumerate() {
        let place = match &placed.lives[buffer] {
            Some(life) if life.allocated && own(life) => {
                let bytes = bytes(program, dims, buffer)?;
                let block = MemoryBlock { bytes, name: declared.name.clone(), node: true };
                owners.push(buffer);
                Place::Inside { memory: layout.memories.push(block), offset: 0 }
            }
            _ if matches!(declared.origin, Origin::Alloc(_)) => Place::Nowhere,
            _ => Place::Bound,
        };
        layout.places.push(place);
    }
    layout.alloc_after = Vector::filled(Vec::new(), layout.memories.len());
    Ok((layout, owners))
}

/// Buffers as the planner takes them, and which buffer of the program each is.
pub type Planned = (Vector<BufferIndex, plan::Buffer>, Vector<BufferIndex, BufferId>);

/// The buffers that live and end within the graph.
///
/// # Errors
///
/// [`LayoutError::Overflow`].
pub fn temporaries(
    program: &Program,
    dims: &Vector<DimId, u64>,
    placed: &Placed,
) -> Result<Planned, LayoutError> {
    for_planner(program, dims, placed, |life| life.allocated && life.freed)
}

fn for_planner(
    program: &Program,
    dims: &Vector<DimId, u64>,
    placed: &Placed,
    which: impl Fn(&Life) -> bool,
) -> Result<Planned, LayoutError> {
    let mut list = Vector::new();
    let mut ids = Vector::new();
    for (buffer, life) in placed.lives.enumerate() {
        let Some(life) = life.as_ref().filter(|life| which(life)) else { continue };
        list.push(plan::Buffer {
            size: bytes(program, dims, buffer)?,
            align: ALIGNMENT.max(u64::from(program.buffers[buffer].align)),
            users: life.users.clone(),
            after_alloc: life.begins.clone(),
            before_free: life.ends.clone(),
            stays: !life.freed,
        });
        ids.push(buffer);
    }
    Ok((list, ids))
}

/// One memory for all temporaries, made by an alloc node or owned by the exec; outputs keep memory of their own.
fn packed(
    program: &Program,
    dims: &Vector<DimId, u64>,
    placed: &Placed,
    node: bool,
) -> Result<Layout, LayoutError> {
    let (mut layout, _) = separate(program, dims, placed, |life| !life.freed)?;
    let (list, ids) = temporaries(program, dims, placed)?;
    if list.is_empty() {
        return Ok(layout);
    }
    let planned = plan::plan(&placed.reach, &list, plan::Effort::Default)
        .map_err(|error| plan_error(program, &ids, error))?;
    debug_assert_eq!(
        plan::check::check(&placed.reach, &list, &planned.offsets, planned.total),
        Ok(()),
        "the plan is checked by what shares no code with the planner"
    );
    let memory = layout.memories.push(MemoryBlock { bytes: planned.total, name: "arena".into(), node });
    layout.alloc_after.push(Vec::new());
    for (&buffer, &offset) in ids.iter().zip(&planned.offsets) {
        layout.places[buffer] = Place::Inside { memory, offset };
    }
    layout.bounds = Some(Bounds {
        floor: planned.floor.bytes,
        floor_statement: planned.floor.node,
        antichain: planned.bound.bytes,
        antichain_buffers: planned.bound.buffers.iter().map(|&at| ids[at]).collect(),
        planned: planned.total,
        optimal: planned.optimal,
    });
    Ok(layout)
}

/// A planner's error with the buffer's name.
pub(crate) fn plan_error(
    program: &Program,
    ids: &Vector<BufferIndex, BufferId>,
    error: plan::PlanError,
) -> LayoutError {
    let at = match error {
        plan::PlanError::NoAlignment(at) | plan::PlanError::Overflow(at) => at,
    };
    let name = &program.buffers[ids[at]].name;
    LayoutError::TooMuch { buffer: name.to_string(), most: plan::MOST_BYTES }
}

/// A memory of its own for each buffer. Which frees an alloc follows, which are chained and in which order the nodes are
/// added is chosen for the driver's packing. What starts overlapping is not kept waiting by a free and an alloc between the two:
/// a buffer is counted as over when what starts before the end of its last user has begun.
fn nodes(
    program: &Program,
    dims: &Vector<DimId, u64>,
    placed: &Placed,
    overlapping: &Vector<StatementId, Vec<StatementId>>,
) -> Result<Layout, LayoutError> {
    let (mut layout, owners) = separate(program, dims, placed, |_| true)?;
    // The planner's buffers are the memories, one by one, in the same order.
    let (mut list, ids) = for_planner(program, dims, placed, |life| life.allocated)?;
    debug_assert_eq!(owners, ids.as_slice());
    for buffer in list.iter_mut().filter(|_| !overlapping.is_empty()) {
        let began: Vec<StatementId> =
            buffer.before_free.iter().flat_map(|&end| overlapping[end].iter().copied()).collect();
        buffer.before_free = placed.reach.maximal(&[buffer.before_free.as_slice(), &began].concat());
    }
    let order = plan::BufferOrder::of(&placed.reach, &list);
    let chosen = plan::nodes::memory_nodes(&placed.reach, &list, &order);
    let mut ranks = Ranks {
        statements: Vector::filled(0, program.statements.len()),
        allocs: Vector::filled(0, list.len()),
        frees: Vector::filled(0, list.len()),
    };
    let memory_of = |buffer: BufferIndex| MemoryId::new(buffer.index());
    for (rank, emit) in (0..).zip(&chosen.emission) {
        match *emit {
            Emit::Alloc(buffer) => ranks.allocs[memory_of(buffer)] = rank,
            Emit::Node(statement) => ranks.statements[statement] = rank,
            Emit::Free(buffer) => ranks.frees[memory_of(buffer)] = rank,
        }
    }
    let memories = |after: Vector<BufferIndex, Vec<BufferIndex>>| {
        after.into_iter().map(|list| list.into_iter().map(memory_of).collect()).collect()
    };
    layout.alloc_after = memories(chosen.alloc_after);
    layout.free_after = memories(chosen.free_after);
    layout.ranks = Some(ranks);
    Ok(layout)
}

/// The size of a buffer.
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
