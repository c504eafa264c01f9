//! Draws the memory of a graph as planned and emitted.

use crate::check::Checked;
use crate::index::{Index, Vector, size};
use crate::ir::{Buffer, BufferId, DimId, Origin, Program, StatementId};
use crate::layout::{self, PlannerBuffers};
use crate::operation::{BufferPlacement, MemoryBlock, MemoryBounds, OperationId, OperationKind, Operations};
use crate::picture::counted;
use crate::place::{self, Liveness};
use crate::plan::svg::{AxisSpan, BufferLabel, NodeLevels, PictureLabels};
use crate::plan::{self, Bound, BufferIndex, Floor, MemoryPlan};
use crate::scopes::Scopes;

use super::back::BackError;

/// Draws the temporaries of a graph as boxes, over the levels of its nodes and the bytes of their memory. Returns
/// SVG.
///
/// Statements that are one node are on one level. Elided temporaries are not drawn. If each temporary has an alloc
/// node, the driver places it, and the picture shows a plan instead. The name of a temporary in a conditional body
/// is followed by the name of the body.
///
/// # Errors
///
/// [`BackError`].
pub fn memory_svg(
    checked: &Checked,
    dims: &Vector<DimId, u64>,
    operations: &Operations,
) -> Result<String, BackError> {
    let program = checked.program();
    let added = operations.budget.iter().flat_map(|budget| budget.edges.iter().copied());
    let edges: Vec<_> = checked.edges().iter().copied().chain(added).collect();
    let placed = place::place(program, &edges)?;
    let all = layout::temporaries(program, dims, &placed)?;
    let (pictured, levels) = match &operations.bounds {
        Some(bounds) => (emitted(operations, bounds, &all), levels(program, operations)),
        None => (by_itself(program, &placed, all)?, NodeLevels::new(&placed.reach)),
    };
    let Pictured { buffers, plan, mut labels } = pictured;
    if labels.devices.len() == 1 && program.devices() == 1 {
        labels.devices.clear();
    }
    let scopes = Scopes::new(program);
    let label = |&id: &BufferId| {
        let Buffer { name, origin, .. } = &program.buffers[id];
        let body = match *origin {
            Origin::Alloc(at) => scopes.around(at).map(|body| scopes.name(program, body)),
            _ => None,
        };
        BufferLabel { name: name.to_string(), body, number: id.index() }
    };
    labels.buffers = buffers.ids.iter().map(label).collect();
    labels.steps = steps(program, &levels);
    labels.bodies = bodies(program, &scopes, &levels);
    Ok(plan::svg::memory_svg(&levels, &buffers.list, &plan, &labels))
}

/// The content of a picture; the labels have no names yet.
struct Pictured {
    buffers: PlannerBuffers,
    /// The offsets of the buffers.
    plan: MemoryPlan,
    labels: PictureLabels,
}

/// Returns the temporaries at their emitted offsets. The memory blocks are stacked by device.
fn emitted(operations: &Operations, bounds: &MemoryBounds, all: &PlannerBuffers) -> Pictured {
    let (mut buffers, mut offsets) = (PlannerBuffers::default(), Vector::new());
    let mut labels = PictureLabels::default();
    let mut total = 0u64;
    let is_elided = |(at, id): &(BufferIndex, &BufferId)| {
        operations.places[**id] == BufferPlacement::Nowhere && !all.list[*at].users.is_empty()
    };
    let elided = all.ids.enumerate().filter(is_elided).count();
    for (memory, MemoryBlock { bytes, device, .. }) in operations.memories.enumerate() {
        let first = buffers.list.len();
        for (at, &id) in all.ids.enumerate() {
            match operations.places[id] {
                BufferPlacement::Inside { memory: of, offset } if of == memory => {
                    buffers.list.push(all.list[at].clone());
                    buffers.ids.push(id);
                    offsets.push(total.saturating_add(offset));
                }
                _ => {}
            }
        }
        if buffers.list.len() > first {
            let to = total.saturating_add(*bytes);
            labels.devices.push(AxisSpan {
                name: format!("device {}", device.index()),
                from: total,
                to,
                depth: 0,
            });
            total = to;
        }
    }
    if elided > 0 {
        labels.note = format!("; {} more only in registers", counted(elided, "buffer"));
    }
    let of_bound = buffers.ids.enumerate().filter(|(_, id)| bounds.antichain_buffers.contains(id));
    let plan = MemoryPlan {
        bound: Bound { bytes: bounds.antichain, buffers: of_bound.map(|(at, _)| at).collect() },
        floor: Floor { bytes: bounds.floor, ..Floor::default() },
        optimal: bounds.optimal,
        offsets,
        total,
    };
    Pictured { buffers, plan, labels }
}

/// Returns the temporaries at the offsets of a separate plan.
fn by_itself(program: &Program, placed: &Liveness, all: PlannerBuffers) -> Result<Pictured, BackError> {
    let mut buffers = PlannerBuffers::default();
    let mut planned: Option<MemoryPlan> = None;
    let mut labels = PictureLabels::default();
    for (device, PlannerBuffers { list, ids }) in layout::by_device(program, all) {
        let plan = plan::plan(&placed.reach, &list, plan::Effort::Default)
            .map_err(|error| layout::plan_error(program, &ids, error))?;
        let first = buffers.list.len();
        buffers.list.extend(list);
        buffers.ids.extend(ids);
        let from = planned.as_ref().map_or(0, |others| others.total);
        let to = from.saturating_add(plan.total);
        labels.devices.push(AxisSpan { name: format!("device {device}"), from, to, depth: 0 });
        planned = Some(match planned {
            Some(others) => others.and(plan, first),
            None => plan,
        });
    }
    if !buffers.list.is_empty() {
        labels.note = "; each has an alloc node, and the driver chooses its address".to_owned();
    }
    let plan = match planned {
        Some(planned) => planned,
        None => plan::plan(&placed.reach, &buffers.list, plan::Effort::Default)
            .map_err(|error| layout::plan_error(program, &buffers.ids, error))?,
    };
    Ok(Pictured { buffers, plan, labels })
}

/// Returns the level of each statement's node: the number of nodes before it on a longest path, without memory
/// nodes and hubs.
fn levels(program: &Program, operations: &Operations) -> NodeLevels {
    let counts = |what: &OperationKind| u32::from(!what.is_memory() && !matches!(what, OperationKind::Hub));
    let mut of_node: Vector<OperationId, u32> = Vector::filled(0, operations.list.len());
    let mut depth = 0;
    for (id, operation) in operations.list.enumerate() {
        let before = |&at: &OperationId| of_node[at] + counts(&operations.list[at].kind);
        of_node[id] = operation.after.iter().map(before).max().unwrap_or(0);
        depth = depth.max(of_node[id] + counts(&operation.kind));
    }
    let level = |node: &Option<OperationId>| node.map_or(0, |node| of_node[node]);
    let mut of: Vector<StatementId, u32> = operations.operation_of.iter().map(level).collect();
    of.extend(std::iter::repeat_n(0, program.statements.len().saturating_sub(of.len())));
    NodeLevels { of, depth }
}

/// Returns the label of each level: the name of its first statement, and the number of the others.
fn steps(program: &Program, levels: &NodeLevels) -> Vec<String> {
    let mut first: Vec<Option<(&str, usize)>> = vec![None; size(levels.depth)];
    for (id, statement) in program.statements.enumerate().filter(|(_, statement)| !statement.kind.is_memory())
    {
        match first.get_mut(size(levels.of[id])) {
            Some(Some((_, others))) => *others += 1,
            Some(none) => *none = Some((&statement.name, 0)),
            None => {}
        }
    }
    let step = |step: Option<(&str, usize)>| match step {
        Some((name, 0)) => name.to_owned(),
        Some((name, others)) => format!("{name} +{others}"),
        None => String::new(),
    };
    first.into_iter().map(step).collect()
}

/// Returns the levels that each conditional body covers.
fn bodies(program: &Program, scopes: &Scopes, levels: &NodeLevels) -> Vec<AxisSpan<u32>> {
    let mut spans: Vec<AxisSpan<u32>> = Vec::new();
    for (id, scope) in scopes.list.enumerate() {
        let depth = scope.parent.map_or(0, |parent| spans[parent.index()].depth + 1);
        let (from, to) = (levels.of[scope.condition], levels.of[scope.join] + 1);
        spans.push(AxisSpan { name: scopes.name(program, id), from, to, depth });
    }
    spans
}
