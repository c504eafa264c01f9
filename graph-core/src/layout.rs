//! Stage 4: which memory each buffer lies in.
//!
//! Invariants of a [`Layout`]:
//! - a buffer with a life that begins here has a place inside a memory, outputs in a memory of their own;
//! - two buffers share bytes only if one is over before the other begins ([`Placed::before`]).

use crate::emit::Layout;
use crate::ir::{BufferId, Memory, Origin, Program};
use crate::operation::{Bounds, MemoryBlock, Place};
use crate::place::{Life, Placed};
use crate::plan;
use crate::reach::{and_into, has};

/// Why sizes cannot be laid out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Length times element size leaves 64 bits.
    #[error("the size of `{buffer}` overflows: {len} elements of {element} bytes")]
    Overflow {
        /// The buffer.
        buffer: String,
        /// Its length.
        len: u64,
        /// Bytes of an element.
        element: u32,
    },
    /// All buffers together.
    #[error("the buffers need more than {most} bytes together with `{buffer}`")]
    TooMuch {
        /// The buffer at which the sum leaves what can be addressed.
        buffer: String,
        /// The most.
        most: u64,
    },
}

/// What every offset is a multiple of: what the driver gives allocations.
const ALIGNMENT: u64 = 256;

/// Lays the buffers out.
///
/// # Errors
///
/// [`LayoutError`].
pub fn lay_out(
    program: &Program,
    dims: &[u64],
    placed: &Placed,
    memory: Memory,
) -> Result<Layout, LayoutError> {
    match memory {
        Memory::Nodes => nodes(program, dims, placed),
        Memory::Arena => packed(program, dims, placed, true),
        Memory::Owned => packed(program, dims, placed, false),
    }
}

/// What every lowering begins with: a memory of its own for each buffer that `own` picks.
fn separate(
    program: &Program,
    dims: &[u64],
    placed: &Placed,
    own: impl Fn(&Life) -> bool,
) -> Result<(Layout, Vec<BufferId>), LayoutError> {
    let mut layout = Layout::default();
    let mut owners: Vec<BufferId> = Vec::new();
    for (buffer, declared) in program.buffers.iter().enumerate() {
        let place = match &placed.lives[buffer] {
            Some(life) if life.allocated && own(life) => {
                let bytes = bytes(program, dims, buffer as BufferId)?;
                layout.memories.push(MemoryBlock { bytes, name: declared.name.clone(), node: true });
                owners.push(buffer as BufferId);
                Place::Inside { memory: layout.memories.len() as u32 - 1, offset: 0 }
            }
            _ if matches!(declared.origin, Origin::Alloc(_)) => Place::Nowhere,
            _ => Place::Bound,
        };
        layout.places.push(place);
    }
    layout.alloc_after = vec![Vec::new(); layout.memories.len()];
    Ok((layout, owners))
}

/// The temporaries as the planner takes them, and which buffer each is.
fn temporaries(
    program: &Program,
    dims: &[u64],
    placed: &Placed,
) -> Result<(Vec<plan::Buffer>, Vec<BufferId>), LayoutError> {
    let mut list = Vec::new();
    let mut ids = Vec::new();
    for (buffer, life) in placed.lives.iter().enumerate() {
        let Some(life) = life.as_ref().filter(|life| life.allocated && life.freed) else { continue };
        list.push(plan::Buffer {
            size: bytes(program, dims, buffer as BufferId)?,
            align: ALIGNMENT.max(u64::from(program.buffers[buffer].align)),
            users: life.users.clone(),
            after_alloc: life.begins.clone(),
            before_free: life.ends.clone(),
            stays: false,
        });
        ids.push(buffer as BufferId);
    }
    Ok((list, ids))
}

/// One memory for all temporaries, made by an alloc node or owned by the exec; outputs keep memory of their own.
fn packed(program: &Program, dims: &[u64], placed: &Placed, node: bool) -> Result<Layout, LayoutError> {
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
    let memory = layout.memories.len() as u32;
    layout.memories.push(MemoryBlock { bytes: planned.total, name: "arena".into(), node });
    layout.alloc_after.push(Vec::new());
    for (&buffer, &offset) in ids.iter().zip(&planned.offsets) {
        layout.places[buffer as usize] = Place::Inside { memory, offset };
    }
    layout.bounds = Some(Bounds {
        floor: planned.floor.bytes,
        floor_statement: planned.floor.node,
        antichain: planned.bound.bytes,
        antichain_buffers: planned.bound.buffers.iter().map(|&at| ids[at as usize]).collect(),
        planned: planned.total,
        optimal: planned.optimal,
    });
    Ok(layout)
}

fn plan_error(program: &Program, ids: &[BufferId], error: plan::PlanError) -> LayoutError {
    let at = match error {
        plan::PlanError::NoAlignment(at) | plan::PlanError::Overflow(at) => at,
    };
    let name = &program.buffers[ids[at as usize] as usize].name;
    LayoutError::TooMuch { buffer: name.to_string(), most: plan::MOST_BYTES }
}

/// A memory of its own for each buffer; each alloc follows the free of at most one buffer that is over before it
/// begins, so that the driver may give it those bytes.
fn nodes(program: &Program, dims: &[u64], placed: &Placed) -> Result<Layout, LayoutError> {
    let (mut layout, owners) = separate(program, dims, placed, |_| true)?;
    layout.alloc_after = hand_downs(placed, &owners, &layout.memories);
    Ok(layout)
}

/// For each memory the one whose bytes it may take: in the order in which lives begin, the smallest free block that
/// is large enough, else the largest. A block is handed down once, so that no two takers split it blindly.
///
/// O(buffers² · ends) bit tests.
fn hand_downs(placed: &Placed, owners: &[BufferId], memories: &[MemoryBlock]) -> Vec<Vec<u32>> {
    let positions = placed.reach.positions();
    let life = |memory: u32| placed.lives[owners[memory as usize] as usize].as_ref();
    let begin = |memory: u32| {
        life(memory).and_then(|life| life.begins.iter().map(|&id| positions[id as usize]).min()).unwrap_or(0)
    };
    let mut order: Vec<u32> = (0..owners.len() as u32).collect();
    order.sort_by_key(|&memory| (begin(memory), memory));
    let mut free: Vec<u32> =
        order.iter().copied().filter(|&memory| life(memory).is_some_and(|life| life.freed)).collect();
    let mut after = vec![Vec::new(); owners.len()];
    for &taker in &order {
        let Some(taking) = life(taker) else { continue };
        let mut over = placed.reach.ancestor_row(taking.begins[0]).to_vec();
        for &other in &taking.begins[1..] {
            and_into(&mut over, placed.reach.ancestor_row(other));
        }
        let bytes = memories[taker as usize].bytes;
        let best = free
            .iter()
            .enumerate()
            .filter(|(_, giver)| {
                life(**giver)
                    .is_some_and(|life| life.ends.iter().all(|&end| has(&over, positions[end as usize])))
            })
            .min_by_key(|(_, giver)| {
                let offered = memories[**giver as usize].bytes;
                // What fits goes first, tightest first; of what does not, the largest.
                if offered >= bytes { (0, offered) } else { (1, u64::MAX - offered) }
            })
            .map(|(at, _)| at);
        if let Some(at) = best {
            after[taker as usize].push(free.remove(at));
        }
    }
    after
}

/// The size of a buffer.
///
/// # Errors
///
/// [`LayoutError::Overflow`].
pub fn bytes(program: &Program, dims: &[u64], buffer: BufferId) -> Result<u64, LayoutError> {
    let declared = &program.buffers[buffer as usize];
    let len = dims[declared.len as usize];
    len.checked_mul(u64::from(declared.element)).ok_or_else(|| LayoutError::Overflow {
        buffer: declared.name.to_string(),
        len,
        element: declared.element,
    })
}
