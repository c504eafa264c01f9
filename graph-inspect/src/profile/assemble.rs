//! Builds a profile from the measured times of operations.

use cuweave_core::ids::KernelId;
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{Program, StatementId, StatementKind};
use cuweave_core::launches::{LaunchValues, LaunchedKernel};
use cuweave_core::location::{at_attribute, at_function, at_statement};
use cuweave_core::operation::{Operation, OperationId, OperationKind, Operations};
use cuweave_core::picture::{count, real};
use cuweave_core::scopes::{ScopeId, Scopes};

use super::critical;
use super::types::{Entry, IterationStats, Member, Profile, TimeStats};

/// The times of an operation, or of a complete launch, collected over several launches.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeAccumulator {
    launches: u32,
    sum: f64,
    min: f64,
    max: f64,
    runs: u64,
    iterations: Option<(u64, u64, u64)>,
}

impl TimeAccumulator {
    /// Adds the time of a launch, in microseconds, and its number of runs. `iterations` is the number of iterations of
    /// the body that the operation begins.
    pub fn add(&mut self, time: f64, runs: u64, iterations: Option<u64>) {
        let first = self.launches == 0;
        self.launches += 1;
        self.sum += time;
        self.min = if first { time } else { self.min.min(time) };
        self.max = if first { time } else { self.max.max(time) };
        self.runs += runs;
        self.iterations = iterations.map(|iterations| match self.iterations {
            Some((sum, min, max)) => (sum + iterations, min.min(iterations), max.max(iterations)),
            None => (iterations, iterations, iterations),
        });
    }

    fn mean(&self, sum: f64) -> f64 {
        if self.launches == 0 { 0.0 } else { sum / f64::from(self.launches) }
    }

    /// Returns the mean, minimum and maximum.
    pub fn times(&self) -> TimeStats {
        TimeStats { mean: self.mean(self.sum), min: self.min, max: self.max }
    }

    fn iterations(&self) -> Option<IterationStats> {
        self.iterations.map(|(sum, min, max)| IterationStats { mean: self.mean(real(sum)), min, max })
    }
}

/// The input of a profile.
#[derive(Debug)]
pub struct ProfileInput<'m> {
    /// The flat program.
    pub program: &'m Program,
    /// The nodes.
    pub operations: &'m Operations,
    /// The kernels that are launched.
    pub kernels: &'m Vector<KernelId, LaunchedKernel>,
    /// The launch of each statement; `None` for other statements.
    pub of_statements: &'m Vector<StatementId, Option<LaunchValues>>,
    /// The bytes that one run of each statement moves.
    pub bytes: &'m Vector<StatementId, u64>,
    /// The number of measured launches.
    pub launches: u32,
    /// True if the driver is the simulator, whose times mean nothing.
    pub simulated: bool,
    /// The time of a launch of the executable graph.
    pub total: TimeAccumulator,
    /// The time of a kernel that does nothing.
    pub empty_kernel: TimeAccumulator,
    /// The time between two events with nothing between them.
    pub empty_pair: TimeAccumulator,
    /// The times of each operation.
    pub of: &'m [TimeAccumulator],
}

impl Profile {
    /// Returns the profile of a graph.
    pub fn new(measured: &ProfileInput<'_>) -> Profile {
        let ProfileInput { program, operations, launches, simulated, .. } = *measured;
        let scopes = Scopes::new(program);
        let mut entry_indices: Vector<OperationId, Option<usize>> =
            Vector::filled(None, operations.list.len());
        let mut entries: Vec<Entry> = Vec::with_capacity(operations.list.len());
        for (at, operation) in operations.list.enumerate() {
            if operation.kind == OperationKind::Statement(StatementKind::Join(())) {
                // A join has no node: its successors depend on the conditional node.
                let scope = operation.sources.first().and_then(|&join| body_that_ends_with(&scopes, join));
                let begin = scope.and_then(|scope| operations.operation_of[scopes.list[scope].condition]);
                entry_indices[at] = begin.and_then(|begin| entry_indices[begin]);
                continue;
            }
            let gathered = measured.of.get(at.index()).copied().unwrap_or_default();
            let mut entry = measured.entry(operation, &gathered);
            if let Some(name) = body_name(program, &scopes, operation) {
                entry.name = name;
            }
            let around = operations.body_of(&scopes, operation);
            let begin = around.and_then(|scope| operations.operation_of[scopes.list[scope].condition]);
            entry.body = begin.and_then(|begin| entry_indices[begin]);
            if let Some(body) = entry.body {
                entry.iterations = entries[body].iterations;
            }
            if let Some(iterations) = gathered.iterations() {
                entry.iterations = Some(iterations);
            }
            let before = operation.after.iter().filter_map(|&before| entry_indices[before]);
            entry.after = before.filter(|&before| entries[before].body == entry.body).collect();
            entry.after.sort_unstable();
            entry.after.dedup();
            entry_indices[at] = Some(entries.len());
            entries.push(entry);
        }
        critical::mark_critical_path(&mut entries);
        // A graph made with the builder has no attribute.
        let at = *if program.options.line == 0 { at_function(program) } else { at_attribute(program) };
        Profile {
            at,
            launches,
            simulated,
            total: measured.total.times(),
            empty_kernel: measured.empty_kernel.times().mean,
            empty_pair: measured.empty_pair.times().mean,
            entries,
        }
    }
}

/// The kind of a node that is a fused chain of launches.
pub(super) const FUSED_KERNEL: &str = "fused kernel";

impl ProfileInput<'_> {
    fn entry(&self, operation: &Operation, gathered: &TimeAccumulator) -> Entry {
        let first = operation.sources.first().copied();
        let time = gathered.times();
        let kernel = first.and_then(|statement| self.of_statements[statement].as_ref());
        let bytes = operation.sources.iter().map(|&statement| self.bytes[statement]).sum();
        Entry {
            name: operation.name.to_string(),
            at: first.map(|statement| *at_statement(self.program, statement)),
            statement: first.map_or(operation.kind.name(), |statement| self.word(statement)),
            node: match self.operations.chain_of(operation) {
                Some(_) => FUSED_KERNEL,
                None => operation.kind.name(),
            },
            kernel: kernel.map(|launch| self.kernels[launch.kernel].name.to_owned()),
            launches: self.launches,
            time,
            runs: gathered.mean(real(gathered.runs)),
            iterations: None,
            bytes,
            critical: false,
            members: self.members(operation, bytes, time.mean),
            body: None,
            after: Vec::new(),
            start: 0.0,
        }
    }

    /// Returns the keyword of a statement.
    fn word(&self, statement: StatementId) -> &'static str {
        match self.program.statements[statement].kind {
            StatementKind::Condition(body) => body.word.name(),
            kind => kind.name(),
        }
    }

    fn members(&self, operation: &Operation, bytes: u64, time: f64) -> Vec<Member> {
        if operation.sources.len() < 2 {
            return Vec::new();
        }
        let blocks = |statement: StatementId| match &self.of_statements[statement] {
            Some(launch) => launch.shape.grid.iter().map(|&extent| f64::from(extent)).product(),
            None => 1.0,
        };
        let all: f64 = operation.sources.iter().map(|&statement| blocks(statement)).sum();
        let share = |statement: StatementId| match (bytes, all > 0.0) {
            (1.., _) => real(self.bytes[statement]) / real(bytes),
            (0, true) => blocks(statement) / all,
            (0, false) => 1.0 / count(operation.sources.len()),
        };
        let member = |&statement: &StatementId| {
            let (at, share) = (*at_statement(self.program, statement), share(statement));
            let bytes = self.bytes[statement];
            Member { name: at.name.clone(), at, bytes, share, time: time * share }
        };
        operation.sources.iter().map(member).collect()
    }
}

/// Returns the name of a body: `while flag`, `match op, arm 2 of 3`. `None` for other operations.
fn body_name(program: &Program, scopes: &Scopes, operation: &Operation) -> Option<String> {
    let statement = *operation.sources.first()?;
    let StatementKind::Condition(body) = program.statements[statement].kind else { return None };
    let scope = scopes.list.iter().find(|scope| scope.condition == statement)?;
    // Only the first arm accesses the operand.
    let decides = scopes.list[scope.first].condition;
    let operand = program.statements[decides].accesses.first();
    let operand = operand.map_or("", |operand| &program.buffers[operand.buffer].name);
    let name = format!("{} {operand}", operation.name);
    Some(if body.arms > 1 { format!("{name}, arm {} of {}", body.arm + 1, body.arms) } else { name })
}

/// Returns the body that ends with a statement.
fn body_that_ends_with(scopes: &Scopes, join: StatementId) -> Option<ScopeId> {
    scopes.list.position(|scope| scope.join == join)
}
