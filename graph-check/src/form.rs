//! The rules that do not depend on order: all ids are valid, and accesses are within their memories.

use crate::certificate::{ForwardedRead, Member, NodeWork, Origin, Plan, Source, StatementKind, Storage};
use crate::refusal::Refusal;

/// The alignment of temporaries, in bytes.
const ALIGNMENT: u64 = 256;

/// Checks that all ids are valid, that bodies and functions come after their parents, and that accesses are within
/// their memories.
pub(crate) fn well_formed(source: &Source, plan: &Plan) -> Result<(), Refusal> {
    let Source { memories, bodies, regions, statements, after } = source;
    let statement = |at: usize| at < statements.len();
    let body = |at: usize| at < bodies.len();
    let around = |at: usize, outer: usize, inner: usize| outer < inner || at == 0 && outer == 0;
    let mut right = !bodies.is_empty() && !regions.is_empty() && plan.places.len() == memories.len();
    right &= memories.iter().all(|memory| match memory.origin {
        Origin::Temporary(home) => body(home) && !(memory.returned && home != 0),
        Origin::Operand(address) => !memory.returned && address.checked_add(memory.bytes).is_some(),
        Origin::Taken(address) => address.checked_add(memory.bytes).is_some(),
        Origin::State => !memory.returned,
    });
    right &= plan.blocks.iter().all(|block| block.address.checked_add(block.bytes).is_some());
    right &= !bodies.first().is_some_and(|first| first.repeats || first.exhaustive);
    right &= !statements.iter().any(|one| one.kind == StatementKind::LoopDecision && one.body == 0);
    right &= bodies.iter().enumerate().all(|(at, one)| {
        around(at, one.parent, at)
            && (at == 0
                || statement(one.decided_by)
                    && matches!(
                        statements[one.decided_by].kind,
                        StatementKind::Decision | StatementKind::KernelDecision
                    ))
    });
    right &= regions.iter().enumerate().all(|(at, region)| around(at, region.caller, at));
    right &= statements.iter().all(|one| body(one.body) && one.region < regions.len());
    right &= after.iter().all(|&(one, other)| statement(one) && statement(other));
    right &= plan.nodes.iter().all(|node| {
        let known = match &node.work {
            NodeWork::Alloc(block) | NodeWork::Free(block) => *block < plan.blocks.len(),
            NodeWork::FreeTaken(memory, _) => *memory < memories.len(),
            NodeWork::Branch(runs) => runs.iter().all(|&one| body(one)),
            NodeWork::Run { members, forwards } => {
                let forwarded = |one: &ForwardedRead| statement(one.reader) && statement(one.writer);
                members.iter().all(|member| is_valid_member(source, member, members.len()))
                    && forwards.iter().all(forwarded)
            }
        };
        known && body(node.body)
    });
    right &= plan.edges.iter().all(|edge| edge.from < plan.nodes.len() && edge.to < plan.nodes.len());
    right &= plan.places.iter().zip(memories).all(|(place, memory)| match (place.at, memory.origin) {
        (Storage::In { block, .. }, Origin::Temporary(_)) => block < plan.blocks.len(),
        (Storage::Registers(node), Origin::Temporary(_)) => node < plan.nodes.len(),
        (Storage::Unused, Origin::Temporary(_)) => true,
        (at, origin) => at == Storage::Own && !matches!(origin, Origin::Temporary(_)),
    });
    let runs = plan.nodes.iter().filter_map(|node| match &node.work {
        NodeWork::Run { members, .. } => Some(members),
        _ => None,
    });
    let touches = runs.flatten().flat_map(|member| &member.touches);
    let mut spans = touches.flat_map(|one| one.reads.iter().chain(&one.writes)).flatten();
    right &= spans.all(|span| span.axes.iter().all(|axis| axis.count > 1 || axis.stride == 0));
    if !right {
        refuse!(Form, "an id names nothing, or something of another kind");
    }
    for one in statements {
        for access in &one.accesses {
            let memory = memories.get(access.memory);
            let Some(memory) = memory.filter(|memory| access.lo <= access.hi && access.hi <= memory.bytes)
            else {
                refuse!(Inside, "`{}` (line {}) leaves its memory", one.name, one.line);
            };
            let place = plan.places[access.memory].at;
            if matches!(place, Storage::In { offset, .. } if offset % ALIGNMENT != 0) {
                refuse!(Inside, "`{}` does not begin at a multiple of {ALIGNMENT} bytes", memory.name);
            }
            if place == Storage::Unused && access.lo < access.hi {
                refuse!(Inside, "`{}` is used, and has no bytes", memory.name);
            }
        }
    }
    Ok(())
}

/// Returns true if a member is a known statement, has touches for all of its accesses or for none, and elides only
/// its own accesses. A node with several members may only run launches.
fn is_valid_member(source: &Source, member: &Member, members: usize) -> bool {
    let Some(statement) = source.statements.get(member.statement) else { return false };
    let accesses = statement.accesses.len();
    (member.touches.is_empty() || member.touches.len() == accesses)
        && member.elided.iter().all(|&at| at < accesses)
        && (members == 1 || statement.kind == StatementKind::Kernel)
}
