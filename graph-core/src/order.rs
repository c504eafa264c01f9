//! The order of the statements. Stage 1 of the compiler.
//!
//! Inferred order: an edge in program order between two statements that touch overlapping elements of a buffer, if
//! one of them writes, plus `#[after]`. Explicit order: `#[after]` alone. Memory statements take part while the
//! order is computed: a launch that is `#[after]` an alloc also follows the predecessors of the alloc. They are
//! then contracted away, so that every lowering of allocations has the same order.
//!
//! Invariants of [`Ordered`]:
//! - `reach` is the order of all statements, including memory statements;
//! - `preds[s]` is the transitive reduction of `reach` on the other statements, and empty for memory statements;
//! - under [`Order::Inferred`](crate::ir::Order::Inferred), statements with conflicting accesses are in program
//!   order.

mod frontier;
mod functions;
pub mod shared;

use crate::bounds::RangeBounds;
use crate::codes::Code;
use crate::condition::ConditionKeyword;
use crate::diagnostic::{Diagnostic, DiagnosticSite};
use crate::index::{Index, Vector, narrow};
use crate::ir::{Access, BufferId, DimId, Program, Rows, StatementId, StatementKind};
use crate::kind::Fence;
use crate::paths::shortest_path;
use crate::reach::{Cycle, Reach};
use crate::scopes::{ConditionalBody, Scopes};
use cuweave_ptx::poly::{Facts, Poly};
pub use functions::{Function, FunctionId, Functions};
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};

/// A lowered program that is not checked yet.
#[derive(Clone, Debug)]
pub struct LoweredProgram {
    /// The program. Its `&mut` arguments of launches are still [`ReadWrite`](crate::ir::Mode::ReadWrite).
    pub program: Program,
    /// The polynomial of each of the program's `dims`.
    pub polys: Vector<DimId, Poly>,
    /// Buffers with a reported error. They get no further errors.
    pub poisoned: Vector<BufferId, bool>,
    /// True if an `#[after]` names something unknown, which is already reported. A missing order is then no error.
    pub order_unknown: bool,
    /// The regions of the program that may not run, in a sample of a structured function. Flat programs have none.
    pub regions: Regions,
    /// True if a length may be 0: a size has `#[at_least(0)]`.
    pub may_be_zero: bool,
}

/// Regions of a program that may not run, and the arguments that it must write.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    /// The ranges of arguments declared `&mut [MaybeUninit<T>; len]`: uninitialised at first, and written
    /// completely at the end. Empty for a flat program, since the memory bound to it may be read.
    pub fresh: Vec<(BufferId, DimId, DimId)>,
    /// The arguments in `fresh` whose contents are discarded before each launch.
    pub discarded: Vec<BufferId>,
    /// The functions of the statements of a flat program.
    pub functions: Functions,
    /// The regions, outer ones first.
    pub list: Vec<Region>,
    /// The number of choices.
    pub choices: u32,
}

/// Consecutive statements that may not run: the iterations of a loop, or an arm of a choice.
#[derive(Clone, Debug)]
pub struct Region {
    /// The first statement.
    pub first: StatementId,
    /// The statement after the last one.
    pub end: StatementId,
    /// The index in the list after its last nested region.
    pub inner: usize,
    /// The ranges of buffers that are written after it, even if it does not run.
    pub written: Vec<(BufferId, DimId, DimId)>,
    /// Pairs of a buffer that a name denotes after the choice, and the buffer that it denotes if this arm runs.
    pub joined: Vec<(BufferId, BufferId)>,
    /// Its arm, if the region is an arm of a choice.
    pub arm: Option<ChoiceArm>,
    /// The condition before it, if it is a conditional body. The device then decides.
    pub condition: Option<StatementId>,
}

/// A buffer that a name denotes after a choice, and the buffer that it denotes if one arm runs.
#[derive(Clone, Copy, Debug)]
pub struct JoinedBuffer<'r> {
    /// The buffer after the choice.
    pub joined: BufferId,
    /// The buffer in the arm.
    pub buffer: BufferId,
    /// The arm.
    pub region: &'r Region,
}

/// An arm of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceArm {
    /// The number of the choice.
    pub choice: u32,
    /// The number of the arm.
    pub number: u32,
    /// True for the last arm of a choice in which one arm always runs.
    pub completes: bool,
}

impl Regions {
    /// Adds the conditional bodies of a flat program, unless they were added before. The arms of one statement are
    /// the arms of a choice.
    pub fn enclose(&mut self, scopes: &Scopes) {
        if !self.list.is_empty() || scopes.is_empty() {
            return;
        }
        let mut ends: Vec<(usize, StatementId)> = Vec::new();
        let close = |list: &mut Vec<Region>, ends: &mut Vec<(usize, StatementId)>, until: StatementId| {
            while let Some((region, _)) = ends.pop_if(|(_, end)| *end <= until) {
                list[region].inner = list.len();
            }
        };
        for scope in &scopes.list {
            close(&mut self.list, &mut ends, scope.condition);
            let ConditionalBody { condition, join, first, body, .. } = scope;
            let arm = (body.word != ConditionKeyword::While).then(|| ChoiceArm {
                choice: first.as_u32(),
                number: body.arm,
                completes: body.completes(),
            });
            ends.push((self.list.len(), *join));
            self.list.push(Region {
                first: StatementId::new(condition.index() + 1),
                end: *join,
                inner: 0,
                written: Vec::new(),
                joined: Vec::new(),
                arm,
                condition: Some(*condition),
            });
        }
        close(&mut self.list, &mut ends, StatementId::NONE);
        self.choices = narrow(scopes.list.len());
    }

    /// Returns the condition of the innermost conditional body around a statement.
    pub fn condition_of(&self, statement: StatementId) -> Option<StatementId> {
        let around = self.list.iter().filter(|region| (region.first..region.end).contains(&statement));
        around.filter_map(|region| region.condition).next_back()
    }

    /// Returns the buffers that names denote after choices, one entry for each arm. An entry comes after the
    /// entries of its own `buffer`.
    pub fn joined(&self) -> Vec<JoinedBuffer<'_>> {
        let mut all: Vec<JoinedBuffer<'_>> = self
            .list
            .iter()
            .flat_map(|region| {
                region.joined.iter().map(move |&(joined, buffer)| JoinedBuffer { joined, buffer, region })
            })
            .collect();
        all.sort_by_key(|one| (one.joined, one.buffer));
        all
    }

    /// Returns false if a statement is after the end of a region, or in another arm of the same choice.
    pub fn may_precede_end_of(&self, statement: StatementId, region: &Region) -> bool {
        let other = |one: &Region| match (one.arm, region.arm) {
            (Some(arm), Some(own)) => arm.choice == own.choice && arm.number != own.number,
            _ => false,
        };
        statement < region.end
            && !self.list.iter().any(|one| (one.first..one.end).contains(&statement) && other(one))
    }

    /// Returns true if two statements are in different arms of one choice.
    pub fn exclusive(&self, one: StatementId, other: StatementId) -> bool {
        let arms = |statement: StatementId| {
            let around =
                self.list.iter().filter(move |region| (region.first..region.end).contains(&statement));
            around.filter_map(|region| region.arm)
        };
        !self.list.is_empty()
            && arms(one)
                .any(|arm| arms(other).any(|its| arm.choice == its.choice && arm.number != its.number))
    }
}

/// A program with its order.
#[derive(Clone, Debug)]
pub struct Ordered {
    /// The program.
    pub source: LoweredProgram,
    /// Its bounds, with the facts about them.
    pub bounds: RangeBounds,
    /// The direct dependencies of the statements, with their causes. Acyclic.
    pub graph: OrderGraph,
    /// The order of all statements.
    pub reach: Reach,
    /// The reduced order of the statements that are not memory statements.
    pub preds: Vector<StatementId, Vec<StatementId>>,
    /// The predecessors of each memory statement, without memory statements.
    pub memory_after: Vec<(StatementId, Vec<StatementId>)>,
    /// The number of edges between non-memory statements before reduction.
    pub edges_before_reduction: usize,
}

/// The cause of a direct dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Both statements use the buffer, and one of them writes, allocates or frees it.
    Uses(BufferId),
    /// The later statement names the earlier one in its `#[after]`, at this index.
    After(u32),
    /// The later statement is an event record, or the earlier one an event wait; likewise for values and
    /// semaphores.
    Fence,
}

/// The order graph: a node for each statement, an edge for each direct dependency.
#[derive(Clone, Debug)]
pub struct OrderGraph(DiGraph<(), Cause>);

impl OrderGraph {
    fn new(statements: usize) -> OrderGraph {
        let mut graph = DiGraph::with_capacity(statements, 2 * statements);
        (0..statements).for_each(|_| {
            graph.add_node(());
        });
        OrderGraph(graph)
    }

    fn add(&mut self, from: StatementId, to: StatementId, cause: Cause) {
        self.0.add_edge(NodeIndex::new(from.index()), NodeIndex::new(to.index()), cause);
    }

    /// Returns the direct predecessors of each statement, repeated once for each cause.
    fn preds(&self) -> Preds {
        let incoming = |to| {
            self.0.neighbors_directed(to, Direction::Incoming).map(|from| StatementId::new(from.index()))
        };
        self.0.node_indices().map(|to| incoming(to).collect()).collect()
    }

    /// Returns the causes of the edges between two statements.
    fn causes(&self, from: StatementId, to: StatementId) -> impl Iterator<Item = Cause> + '_ {
        self.0
            .edges_connecting(NodeIndex::new(from.index()), NodeIndex::new(to.index()))
            .map(|edge| *edge.weight())
    }

    /// Removes the edges that come from an `#[after]`.
    fn remove_after(&mut self, from: StatementId, to: StatementId) {
        let (from, to) = (NodeIndex::new(from.index()), NodeIndex::new(to.index()));
        self.0.retain_edges(|graph, edge| {
            graph.edge_endpoints(edge) != Some((from, to)) || !matches!(graph[edge], Cause::After(_))
        });
    }

    /// Returns the statements of a shortest path, including both ends. Empty if there is none.
    pub fn path(&self, from: StatementId, to: StatementId) -> Vec<StatementId> {
        shortest_path(&self.0, from, to)
    }
}

impl LoweredProgram {
    /// Makes a flat program without reported errors, whose lengths and bounds have these values.
    pub fn with_values(
        program: Program,
        functions: Functions,
        values: &Vector<DimId, u64>,
    ) -> LoweredProgram {
        let polys = values.iter().map(|&value| Poly::constant(i128::from(value))).collect();
        let poisoned = Vector::filled(false, program.buffers.len());
        let regions = Regions { functions, ..Regions::default() };
        LoweredProgram { program, polys, poisoned, order_unknown: false, regions, may_be_zero: false }
    }

    /// Returns the bounds of an access as polynomials.
    pub fn range(&self, access: &Access) -> (&Poly, &Poly) {
        (&self.polys[access.lo], &self.polys[access.hi])
    }

    /// Returns the facts that the build checks first: lengths are at least 1, ranges are inside their buffers,
    /// bounds are not negative, fills and copies are not empty, and rows of one access do not overlap. If sizes may be
    /// 0, so may lengths, fills and copies.
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        let mut add = |low: &Poly, high: &Poly| {
            // Nothing follows from a true comparison of constants.
            if let (Some(low), Some(high)) = (low.as_constant(), high.as_constant())
                && low <= high
            {
                return;
            }
            if let Some(difference) = high.minus(low) {
                facts.add(&difference);
            }
        };
        let (zero, one) = (Poly::default(), Poly::constant(1));
        let least = if self.may_be_zero { &zero } else { &one };
        for buffer in self.program.buffers.iter() {
            add(least, &self.polys[buffer.len]);
        }
        for access in self.program.statements.iter().flat_map(|statement| statement.accesses.iter()) {
            let (lo, hi) = self.range(access);
            add(&zero, lo);
            add(lo, hi);
            add(hi, &self.polys[self.program.buffers[access.buffer].len]);
            if let Some(Rows { count, width, pitch, planes, height }) = access.rows {
                [count, width, planes].into_iter().for_each(|dim| add(&one, &self.polys[dim]));
                add(&self.polys[width], &self.polys[pitch]);
                add(&self.polys[count], &self.polys[height]);
            }
        }
        let filled_or_copied =
            self.program.statements.iter().filter(|statement| statement.kind.is_transfer());
        for access in filled_or_copied.flat_map(|statement| statement.accesses.iter()) {
            let (lo, hi) = self.range(access);
            if let Some(next) = lo.plus(least) {
                add(&next, hi);
            }
        }
        for view in self.program.views.iter() {
            let poly = |dim: DimId| &self.polys[dim];
            add(poly(view.lo), poly(view.hi));
            add(poly(view.hi), poly(view.of.1));
        }
        facts
    }
}

/// Orders a program. Reports a cycle as a diagnostic and drops the edge that closes it, so that the checks can go
/// on.
pub fn order(source: LoweredProgram) -> (Ordered, Vec<Diagnostic>) {
    let bounds = RangeBounds::new(source.polys.clone(), source.facts());
    let mut graph = OrderGraph::new(source.program.statements.len());
    let functions = &source.regions.functions;
    let mut uses = |from, to, buffer| graph.add(from, to, Cause::Uses(buffer));
    if !functions.any_explicit(&source.program) {
        frontier::infer(&source.program, &bounds, &mut uses);
    } else if !functions.is_uniform() {
        frontier::infer_between(&source.program, functions, &bounds, &mut uses);
    }
    add_fences(&source.program, functions, &mut |from, to| graph.add(from, to, Cause::Fence));
    for (to, statement) in source.program.statements.enumerate() {
        for (index, &from) in (0..).zip(statement.after.iter()) {
            graph.add(from, to, Cause::After(index));
        }
    }
    let mut diagnostics = Vec::new();
    let (reach, preds) = break_cycles(&source.program, &mut graph, &mut diagnostics);
    let (preds, memory_after) = contracted(&source.program, &reach, preds);
    let edges_before_reduction = preds.iter().map(Vec::len).sum();
    let preds = reach.reduce(&preds);
    (Ordered { source, bounds, graph, reach, preds, memory_after, edges_before_reduction }, diagnostics)
}

/// Adds the order of events, values and semaphores, unless the order is explicit.
///
/// A record, write or signal runs after all statements written before it. All statements written after a wait run
/// after it. A wait for a value or semaphore also runs after the signals written before it. Otherwise a device
/// could queue the wait first, and wait for the answer to a signal that it has not sent. Conditional bodies contain
/// no such statements; the statements around them order them.
///
/// O(statements × such statements) if a function has explicit order, else O(statements).
fn add_fences(program: &Program, functions: &Functions, edge: &mut dyn FnMut(StatementId, StatementId)) {
    if !program.statements.iter().any(|statement| statement.kind.fence().is_some()) {
        return;
    }
    let scopes = Scopes::new(program);
    let mut earlier: Vec<StatementId> = Vec::new();
    let (mut waits, mut signals): (Vec<StatementId>, Vec<StatementId>) = (Vec::new(), Vec::new());
    for (id, statement) in program.statements.enumerate() {
        if statement.kind.is_memory() || scopes.around(id).is_some() {
            continue;
        }
        let inferred = |from: &StatementId| !functions.is_explicit(program, *from, id);
        waits.iter().copied().filter(inferred).for_each(|wait| edge(wait, id));
        match statement.kind.fence() {
            Some(Fence::AfterAll) => {
                earlier.iter().copied().filter(inferred).for_each(|before| edge(before, id));
                // A successor of this statement is a successor of all its predecessors.
                if functions.is_uniform() {
                    earlier.clear();
                    signals.clear();
                }
                signals.push(id);
            }
            Some(Fence::BeforeAll) => {
                if matches!(statement.kind, StatementKind::Sync(..)) {
                    signals.iter().copied().filter(inferred).for_each(|signal| edge(signal, id));
                }
                if functions.is_uniform() {
                    waits.clear();
                }
                waits.push(id);
            }
            None => {}
        }
        earlier.push(id);
    }
}

/// Returns the order and the direct predecessors. While there is a cycle, reports CW204 and removes its forward
/// `#[after]` edge.
fn break_cycles(
    program: &Program,
    graph: &mut OrderGraph,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Reach, Preds) {
    loop {
        let preds = graph.preds();
        let path = match Reach::new(&preds) {
            Ok(reach) => return (reach, preds),
            Err(Cycle { path }) => path,
        };
        // Inferred edges follow program order, so a cycle has an `#[after]` that names a later statement.
        let step = (0..path.len())
            .map(|i| (path[i], path[(i + 1) % path.len()]))
            .filter(|&(from, to)| from >= to)
            .find_map(|(from, to)| {
                let index = graph.causes(from, to).find_map(|cause| match cause {
                    Cause::After(index) => Some(index),
                    Cause::Uses(_) | Cause::Fence => None,
                });
                Some((from, to, index?))
            });
        let Some((from, to, index)) = step else {
            unreachable!("a cycle without an edge that points forward")
        };
        let found = cycle(program, graph, &path, to, index);
        // Statements made by a loop of a builder may close several cycles with equal text.
        let is_told = |told: &Diagnostic| (&told.message, &told.notes) == (&found.message, &found.notes);
        if !diagnostics.iter().any(is_told) {
            diagnostics.push(found);
        }
        graph.remove_after(from, to);
    }
}

fn cycle(
    program: &Program,
    graph: &OrderGraph,
    path: &[StatementId],
    to: StatementId,
    index: u32,
) -> Diagnostic {
    let start = path.iter().position(|&node| node == to).unwrap_or(0);
    let around: Vec<StatementId> = (0..=path.len()).map(|i| path[(start + i) % path.len()]).collect();
    let name = |id: StatementId| &program.statements[id].name;
    let text = merge_repeated(around.iter().map(|&id| format!("`{}`", name(id))), |text, times| {
        if times == 2 { format!("{text} -> {text}") } else { format!("{text} ({times} times)") }
    });
    let mut diagnostic = Diagnostic::new(
        Code::CW204,
        DiagnosticSite::After(to, index),
        format!("the order has a cycle: {}", text.join(" -> ")),
    );
    let mut notes = Vec::new();
    for pair in around.windows(2) {
        let (before, after) = (&program.statements[pair[0]], &program.statements[pair[1]]);
        let mut causes: Vec<Cause> = graph.causes(pair[0], pair[1]).collect();
        causes.sort_by_key(|cause| !matches!(cause, Cause::After(_)));
        let reason = match causes.first() {
            Some(Cause::Uses(buffer)) => {
                format!("uses `{}` after it", program.buffers[*buffer].name)
            }
            Some(Cause::Fence) => match before.kind {
                kind if kind.fence() == Some(Fence::BeforeAll) => {
                    format!("is written after that `{}`", kind.name())
                }
                _ => match after.kind {
                    StatementKind::Sync(word, _) if word.waits() => {
                        format!("is a `{}` after that `{}`", word.name(), before.kind.name())
                    }
                    StatementKind::Record(_) => {
                        "records an event after all that is written before it".to_owned()
                    }
                    kind => format!("is a `{}` after all that is written before it", kind.name()),
                },
            },
            Some(Cause::After(_)) | None => format!("says `#[after({})]`", before.name),
        };
        notes.push(format!(
            "`{}` (line {}) comes before `{}` (line {}), which {reason}",
            before.name, before.line, after.name, after.line
        ));
    }
    for note in merge_repeated(notes, |text, times| format!("{text}, {times} times")) {
        diagnostic = diagnostic.note(note);
    }
    diagnostic
        .help(format!("remove `{}` from this `#[after]`, or move the statement", name(path_before(path, to))))
}

/// Merges consecutive equal texts. Statements made by a loop of a builder have one name and one line.
fn merge_repeated(
    texts: impl IntoIterator<Item = String>,
    several: impl Fn(String, usize) -> String,
) -> Vec<String> {
    let mut rows: Vec<(String, usize)> = Vec::new();
    for text in texts {
        match rows.last_mut() {
            Some((last, times)) if *last == text => *times += 1,
            _ => rows.push((text, 1)),
        }
    }
    let row = |(text, times)| if times > 1 { several(text, times) } else { text };
    rows.into_iter().map(row).collect()
}

/// Returns the node before `to` on the cycle.
fn path_before(path: &[StatementId], to: StatementId) -> StatementId {
    let at = path.iter().position(|&node| node == to).unwrap_or(0);
    path[(at + path.len() - 1) % path.len()]
}

/// Direct predecessors of every statement, before reduction.
type Preds = Vector<StatementId, Vec<StatementId>>;

/// Contracts memory statements away. Returns the predecessors of the other statements, and the predecessors of each
/// memory statement.
fn contracted(
    program: &Program,
    reach: &Reach,
    mut preds: Preds,
) -> (Preds, Vec<(StatementId, Vec<StatementId>)>) {
    let is_memory = |id: StatementId| program.statements[id].kind.is_memory();
    // In topological order, the predecessors of a memory statement replace it.
    for &id in reach.topological() {
        if preds[id].iter().any(|&pred| is_memory(pred)) {
            let mut list = Vec::with_capacity(preds[id].len());
            for &pred in &preds[id] {
                if is_memory(pred) {
                    list.extend_from_slice(&preds[pred]);
                } else {
                    list.push(pred);
                }
            }
            preds[id] = list;
        }
        let list = &mut preds[id];
        list.sort_unstable();
        list.dedup();
    }
    let mut memory = Vec::new();
    for (id, list) in preds.enumerate_mut() {
        if is_memory(id) {
            memory.push((id, reach.maximal(&std::mem::take(list))));
        }
    }
    (preds, memory)
}
