//! The half of a certificate that describes the program: statements in program order with their accesses.
//! Accesses are the declared ones, with byte ranges and effects; module variables, loop records and bytes that two
//! arguments have in common are hidden state. The order that the user gave is added as pairs of statements.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_check::certificate as c;
use cuweave_core::condition::ConditionKeyword as Keyword;
use cuweave_core::index::{Index, Vector, size};
use cuweave_core::ir::{
    Access, BufferId, Device, Lifetime, Mode, Order, Origin, Program, StatementId, StatementKind,
};
use cuweave_core::kind::Fence;
use cuweave_core::scopes::{ScopeId, Scopes};

use crate::build::Alias;
use crate::cuda::{self, CopyPitch};
use crate::kernels::{AtomicUpdates, LaunchRecord, Module, Param, ParamKind};
use crate::statements::{RowNumbers, StatementRecordExt, element, row_offsets};

use super::CertificateBuilder;

/// The numbers of statements and bodies in a certificate.
pub(super) struct Numbering {
    /// The number of each statement. `None` if it does not run, as for allocations and frees.
    pub number_of: Vector<StatementId, Option<usize>>,
    /// The statements by number.
    pub statements: Vec<StatementId>,
    pub scopes: Scopes,
}

impl Numbering {
    fn new(program: &Program) -> Numbering {
        let scopes = Scopes::new(program);
        let runs = |id: StatementId| match &program.statements[id].kind {
            StatementKind::Condition(condition) => condition.arm == 0,
            // After a condition that kernels set no node decides on the next iteration.
            StatementKind::Join(condition) => {
                condition.word == Keyword::While && program.own_condition(id).is_none()
            }
            kind => !kind.is_memory(),
        };
        let statements: Vec<StatementId> = program.statements.ids().filter(|&id| runs(id)).collect();
        let mut of = Vector::filled(None, program.statements.len());
        statements.iter().enumerate().for_each(|(at, &id)| of[id] = Some(at));
        Numbering { number_of: of, statements, scopes }
    }

    /// Returns the number of a body. The graph itself is body 0.
    pub fn body(scope: Option<ScopeId>) -> usize {
        scope.map_or(0, |scope| scope.index() + 1)
    }

    /// Returns the number of the body in which a statement runs. The join of a loop runs in the loop's body.
    pub fn body_of(&self, id: StatementId) -> usize {
        Numbering::body(self.ended_by(id).or_else(|| self.scopes.around(id)))
    }

    /// Returns the body that a statement ends, if any.
    fn ended_by(&self, id: StatementId) -> Option<ScopeId> {
        self.scopes.bordered(id).filter(|&scope| self.scopes.list[scope].join == id)
    }
}

/// State that is not in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum HiddenState<'a> {
    /// A variable of a loaded module: the device, the address of the module, the variable's name.
    Variable(Device, usize, &'a str),
    /// The iteration record of a bounded loop, by the loop's index.
    Record(usize),
}

impl CertificateBuilder<'_> {
    /// Returns the program and the numbers of its statements.
    pub(super) fn source(&self) -> (c::Source, Numbering) {
        let program = &*self.definition.flat.written;
        let numbering = Numbering::new(program);
        let mut memories: Vec<c::Memory> =
            program.buffers.ids().map(|buffer| self.memory(&numbering, buffer)).collect();
        let aliases = memories.len();
        memories.extend(self.aliases());
        let mut states: BTreeMap<HiddenState<'_>, usize> = BTreeMap::new();
        let mut statements = Vec::with_capacity(numbering.statements.len());
        let functions = self.definition.flat.checked.functions();
        for &id in &numbering.statements {
            let statement = &program.statements[id];
            let record = &self.built.state.records[id];
            let mut accesses = self.accesses(id);
            let aliased = self.aliased(&accesses, aliases);
            let mut state = |state: HiddenState<'static>, effect: c::Effect| {
                let memory = *states.entry(state).or_insert_with(|| {
                    let name = match state {
                        HiddenState::Variable(_, _, name) => name.to_owned(),
                        HiddenState::Record(_) => "the record of a loop".to_owned(),
                    };
                    memories.push(c::Memory { name, bytes: 1, origin: c::Origin::State, returned: false });
                    memories.len() - 1
                });
                accesses.push(c::Access { memory, lo: 0, hi: 1, effect });
            };
            if let Some(launch) = record.launch() {
                let module = std::ptr::from_ref::<Module>(launch.kernel.module).addr();
                let variable = |name| HiddenState::Variable(statement.device, module, name);
                let (reads, writes) = (launch.kernel.hidden_reads, launch.kernel.hidden_writes);
                writes.iter().for_each(|name| state(variable(name), c::Effect::Modify));
                let reads = reads.iter().filter(|name| !writes.contains(name));
                reads.for_each(|name| state(variable(name), c::Effect::Read));
            }
            let mut counted = self.built.state.counted.list.iter();
            if let Some(own) = counted.position(|counted| [counted.condition, counted.join].contains(&id)) {
                state(HiddenState::Record(own), c::Effect::Modify);
            }
            accesses.extend(aliased);
            statements.push(c::Statement {
                name: statement.name.to_string(),
                line: statement.line,
                body: numbering.body_of(id),
                region: functions.of.get(id).map_or(0, |function| function.index()),
                device: statement.device.as_u32(),
                multi_block: record.launch().is_some_and(|launch| launch.shape.grid != [1; 3]),
                kind: match program.own_condition(id) {
                    Some(_) if matches!(statement.kind, StatementKind::Condition(_)) => {
                        c::StatementKind::KernelDecision
                    }
                    _ => kind(&statement.kind),
                },
                accesses,
                numbers: self.numbers(id),
            });
        }
        let first = c::Body { parent: 0, decided_by: 0, repeats: false, exhaustive: false };
        let scopes = numbering.scopes.list.iter().map(|scope| c::Body {
            parent: Numbering::body(scope.parent),
            decided_by: numbering.number_of[numbering.scopes.list[scope.first].condition].unwrap_or(0),
            repeats: scope.body.word == Keyword::While,
            exhaustive: scope.body.total,
        });
        let bodies = std::iter::once(first).chain(scopes).collect();
        let outermost = c::CallRegion { caller: 0, explicit: program.options.order == Order::Explicit };
        let regions = match functions.is_uniform() {
            true => vec![outermost],
            false => functions
                .list
                .iter()
                .map(|function| c::CallRegion {
                    caller: function.caller.map_or(0, |caller| caller.index()),
                    explicit: function.order == Order::Explicit,
                })
                .collect(),
        };
        let after = explicit_order(program, &numbering);
        (c::Source { memories, bodies, regions, statements, after }, numbering)
    }

    fn memory(&self, numbering: &Numbering, buffer: BufferId) -> c::Memory {
        let program = self.definition.program();
        let declared = &program.buffers[buffer];
        let operand = self.operands.get(buffer.index());
        let address = operand.map_or(0, |operand| operand.address);
        let (origin, bytes) = match declared.origin {
            Origin::Alloc(_) if declared.is_condition() => (c::Origin::State, None),
            Origin::Alloc(statement) => (c::Origin::Temporary(numbering.body_of(statement)), None),
            Origin::Taken => (c::Origin::Taken(address), operand),
            Origin::Device { .. } | Origin::Pinned { .. } | Origin::Part(_) => {
                (c::Origin::Operand(address), operand)
            }
        };
        let bytes = bytes.map(|operand| operand.len.saturating_mul(operand.element));
        let declared_bytes =
            self.definition.dims[declared.len].saturating_mul(certified_element(program, buffer));
        c::Memory {
            name: declared.name.to_string(),
            bytes: bytes.unwrap_or(declared_bytes),
            origin,
            returned: program.outputs.contains(&buffer),
        }
    }

    /// Returns the bytes that two arguments have in common, each as state that both are views of.
    fn aliases(&self) -> impl Iterator<Item = c::Memory> {
        self.definition.aliases.list.iter().map(|alias| {
            let name = alias.names(self.definition.program()).join(" and ");
            c::Memory { name, bytes: alias.bytes(), origin: c::Origin::State, returned: false }
        })
    }

    /// Returns the accesses of a statement to the bytes that two arguments have in common, the first of which are
    /// memory `first`. `accesses` are those to buffers.
    fn aliased(&self, accesses: &[c::Access], first: usize) -> Vec<c::Access> {
        let aliases = (first..).zip(&self.definition.aliases.list);
        let of = |(memory, alias): (usize, &Alias)| {
            let parts = accesses.iter().filter_map(move |access| {
                let (lo, hi) = alias.part(BufferId::new(access.memory), access.lo, access.hi)?;
                let effect = match &access.effect {
                    effect @ (c::Effect::Read | c::Effect::Update(_)) => effect.clone(),
                    c::Effect::Write | c::Effect::MayWrite | c::Effect::Modify => c::Effect::Modify,
                };
                Some(c::Access { memory, lo, hi, effect })
            });
            parts.collect::<Vec<_>>()
        };
        aliases.flat_map(of).collect()
    }

    /// Returns the accesses of a statement, without the ones in its body.
    fn accesses(&self, id: StatementId) -> Vec<c::Access> {
        self.effects(id).into_iter().map(|(_, access)| access).collect()
    }

    /// Returns the accesses of a statement, without the ones in its body, each with its index among the
    /// declared accesses. A pitched access is one access for each row.
    pub(super) fn effects(&self, id: StatementId) -> Vec<(usize, c::Access)> {
        let program = &*self.definition.flat.written;
        let checked = &self.definition.program().statements[id].accesses;
        let statement = &program.statements[id];
        let own = statement.kind.own_accesses(&statement.accesses);
        let launch = self.built.state.records[id]
            .launch()
            .filter(|_| matches!(statement.kind, StatementKind::Launch(())));
        let params = launch.map(buffers);
        let mut effects = Vec::new();
        for (at, access) in own.iter().enumerate() {
            let effect = match params.as_ref().map(|params| params.get(at)) {
                Some(Some(param)) => effect_of(param, checked[at].relied_on),
                _ => Some(effect(access.mode)),
            };
            let Some(effect) = effect else { continue };
            let size = certified_element(program, access.buffer);
            let bytes = |dim| self.definition.dims[dim].saturating_mul(size);
            let (lo, hi, memory) = (bytes(access.lo), bytes(access.hi), access.buffer.index());
            match RowNumbers::of(access, &self.definition.dims) {
                None => effects.push((at, c::Access { memory, lo, hi, effect })),
                Some(rows) => {
                    let width = rows.width.saturating_mul(size);
                    let row = |offset: u64| {
                        let lo = lo.saturating_add(offset);
                        let (hi, effect) = (lo.saturating_add(width), effect.clone());
                        (at, c::Access { memory, lo, hi, effect })
                    };
                    effects.extend(row_offsets(rows.count, rows.planes, rows.bytes(size)).map(row));
                }
            }
        }
        effects
    }

    /// Returns the numbers that the node of a pitched copy or fill must have: the bytes of a row, the rows, the
    /// planes, and the distances between rows and planes of each access, 0 where there is one row or plane.
    pub(super) fn pitched_numbers(&self, bytes: u64, rows: u64, planes: u64, of: &[CopyPitch]) -> Vec<u64> {
        let pitches = of.iter().map(|pitch| if rows > 1 || planes > 1 { pitch.bytes } else { 0 });
        let heights = of.iter().map(|pitch| if planes > 1 { pitch.height } else { 0 });
        [bytes, rows, planes].into_iter().chain(pitches).chain(heights).collect()
    }

    /// Returns the numbers of a pitched copy or fill from the values of its bounds. `None` for other statements.
    fn declared_rows(&self, id: StatementId) -> Option<Vec<u64>> {
        let program = self.definition.program();
        let accesses = &program.statements[id].accesses;
        let rows: Vec<Option<RowNumbers>> =
            accesses.iter().map(|access| RowNumbers::of(access, &self.definition.dims)).collect();
        let shape = rows.iter().copied().flatten().next()?;
        let size = element(program, accesses[0].buffer);
        let pitches: Vec<CopyPitch> =
            rows.into_iter().map(|rows| rows.unwrap_or(shape.packed()).bytes(size)).collect();
        let [planes, rows, width] = shape.shape();
        Some(self.pitched_numbers(width.saturating_mul(size), rows, planes, &pitches))
    }

    /// Returns the numbers that a statement's node must have. For a launch: the configuration and the scalars. For
    /// a copy: the bytes. For a fill: the bytes and its 8-byte pattern. Empty for other statements.
    fn numbers(&self, id: StatementId) -> Vec<u64> {
        let record = &self.built.state.records[id];
        let statement = &self.definition.program().statements[id];
        let bytes = |access: &Access| {
            let len = self.definition.dims[access.hi].saturating_sub(self.definition.dims[access.lo]);
            len.saturating_mul(element(self.definition.program(), access.buffer))
        };
        let bytes = statement.accesses.first().map_or(0, bytes);
        let pitched = statement.kind.is_transfer().then(|| self.declared_rows(id)).flatten();
        if let Some(mut numbers) = pitched {
            match record {
                StatementKind::Fill(fill) => numbers.push(fill.pattern()),
                StatementKind::Launch(fill) if statement.kind != StatementKind::Copy(()) => {
                    numbers.push(cuda::number(self.built.state.words[size(fill.first) + 1]));
                }
                _ => {}
            }
            return numbers;
        }
        match (&statement.kind, record) {
            (StatementKind::Copy(()), _) => return vec![bytes],
            (StatementKind::Fill(()), StatementKind::Fill(fill)) => return vec![bytes, fill.pattern()],
            (StatementKind::Fill(()), StatementKind::Launch(fill)) => {
                return vec![bytes, cuda::number(self.built.state.words[size(fill.first) + 1])];
            }
            _ => {}
        }
        let Some(launch) = record.launch().filter(|_| record.is_user_launch()) else { return Vec::new() };
        let shape = launch.shape;
        let mut numbers: Vec<u64> =
            shape.grid.iter().chain(&shape.block).map(|&extent| extent.into()).collect();
        numbers.push(shape.shared.into());
        let mut at = size(launch.first);
        for param in launch.kernel.params {
            if param.is_scalar() && param.dense {
                numbers.extend(
                    self.built.state.words[at..at + param.words()].iter().map(|&word| cuda::number(word)),
                );
            }
            at += param.words();
        }
        numbers
    }
}

/// Returns the bytes that an element has in a certificate. A condition counts as one byte of state.
fn certified_element(program: &Program, buffer: BufferId) -> u64 {
    if program.buffers[buffer].is_condition() { 1 } else { element(program, buffer) }
}

/// Returns the buffer parameters of a launch, in the order of the statement's accesses.
fn buffers(launch: &LaunchRecord) -> Vec<&'static Param> {
    launch.kernel.params.iter().filter(|param| !param.is_scalar()).collect()
}

/// Returns the declared effect of a launch on a buffer, or `None` if it does not access it. `is_complete` is
/// true if a read relies on a complete write, which has then been proved.
fn effect_of(param: &Param, is_complete: bool) -> Option<c::Effect> {
    Some(match (param.kind, param.updates) {
        (ParamKind::Read | ParamKind::Scalar, _) => c::Effect::Read,
        (ParamKind::ReadWrite, _) => c::Effect::Modify,
        (ParamKind::Write, _) if is_complete => c::Effect::Write,
        (ParamKind::Write, _) => c::Effect::MayWrite,
        (ParamKind::Atomic, AtomicUpdates::Reduction(operation)) => c::Effect::Update(operation.to_owned()),
        (ParamKind::Atomic, AtomicUpdates::Reads) => c::Effect::Read,
        (ParamKind::Atomic, AtomicUpdates::Nothing) => return None,
        (ParamKind::Atomic, AtomicUpdates::Ordered) => c::Effect::Modify,
    })
}

/// Returns the effect of a statement other than a launch.
fn effect(mode: Mode) -> c::Effect {
    match mode {
        Mode::Read => c::Effect::Read,
        Mode::Write => c::Effect::Write,
        Mode::ReadWrite | Mode::Atomic => c::Effect::Modify,
    }
}

fn kind(kind: &StatementKind) -> c::StatementKind {
    match kind {
        StatementKind::Launch(()) => c::StatementKind::Kernel,
        StatementKind::Fill(()) | StatementKind::Alloc(_) | StatementKind::Free(_) => c::StatementKind::Fill,
        StatementKind::Copy(()) => c::StatementKind::Copy,
        StatementKind::Capture(()) | StatementKind::Call(_) => c::StatementKind::Call,
        StatementKind::Condition(_) => c::StatementKind::Decision,
        StatementKind::Join(_) => c::StatementKind::LoopDecision,
        StatementKind::Host(()) => c::StatementKind::Host,
        StatementKind::Record(()) | StatementKind::Wait(()) | StatementKind::Sync(..) => match kind.fence() {
            Some(Fence::AfterAll) => c::StatementKind::AfterAll,
            _ => c::StatementKind::BeforeAll,
        },
    }
}

/// Returns the pairs of statements that the user ordered, transitively through allocs and frees: an alloc
/// precedes all users of its buffer, and a free follows them.
fn explicit_order(program: &Program, numbering: &Numbering) -> Vec<(usize, usize)> {
    let users = program.users(program.buffers.ids());
    let users = |buffer: &BufferId| users.get(buffer).map_or(&[][..], Vec::as_slice);
    let mut before: BTreeMap<StatementId, Vec<StatementId>> = BTreeMap::new();
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut successors: BTreeMap<StatementId, &[StatementId]> = BTreeMap::new();
    for (id, statement) in program.statements.enumerate().filter(|(_, one)| one.kind.is_memory()) {
        let list = before.entry(id).or_default();
        list.extend(statement.after.iter());
        match statement.kind.lifetime() {
            Some(Lifetime::Ends(buffer)) => list.extend(users(buffer)),
            Some(Lifetime::Begins(buffer)) => drop(successors.insert(id, users(buffer))),
            None => {}
        }
    }
    let run_before = |id: StatementId| -> BTreeSet<StatementId> {
        let (mut found, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![id]);
        while let Some(at) = open.pop() {
            match before.get(&at) {
                Some(list) => list.iter().filter(|one| seen.insert(**one)).for_each(|&one| open.push(one)),
                None => drop(found.insert(at)),
            }
        }
        found
    };
    let mut add = |from: StatementId, to: StatementId| {
        for from in run_before(from) {
            for one in numbering.ended_statements(from) {
                // The end of an arm ends all arms, so `to` in a later arm can be among these statements.
                pairs.extend(numbering.number_of[to].map(|to| (one, to)).filter(|(one, to)| one != to));
            }
        }
    };
    for (id, statement) in program.statements.enumerate() {
        for &from in statement.after.iter() {
            match successors.get(&id) {
                Some(users) => users.iter().for_each(|&user| add(from, user)),
                None if !statement.kind.is_memory() => add(from, id),
                None => {}
            }
        }
    }
    pairs.into_iter().collect()
}

impl Numbering {
    /// Returns the statements that have ended when `id` has ended. For the end of a body these are all
    /// statements of all arms of its conditional.
    fn ended_statements(&self, id: StatementId) -> Vec<usize> {
        let Some(scope) = self.ended_by(id) else { return self.number_of[id].into_iter().collect() };
        let first = self.scopes.list[scope].first;
        let inside = |&one: &StatementId| {
            let mut around = self.ended_by(one).into_iter().chain(self.scopes.all_around(one));
            around.any(|scope| self.scopes.list[scope].first == first)
        };
        self.statements.iter().copied().filter(inside).filter_map(|one| self.number_of[one]).collect()
    }
}
