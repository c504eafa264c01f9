//! Tests the compiler with random graph programs: each is compiled by cuweave, run on the simulated driver under
//! many schedules, and compared with a sequential evaluation. There must be no report and no difference. Then the
//! same programs run with deliberately broken plans: each must be reported.
//!
//! The operations are added with direct driver calls, in the same way as the runtime adds them, so that programs
//! can be made at run time.
#![allow(unsafe_code)]

use cuweave_core::compile::{self, BackendOptions};
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{Access, BufferId, Memory, Mode, Order, Origin, Program, StatementId, StatementKind};
use cuweave_core::operation::{
    BufferPlacement, MemoryBlock, MemoryId, Operation, OperationId, OperationKind, Operations,
};
use cuweave_core::order::LoweredProgram;
use cuweave_testkit::device::{driver, test_lock};
use cuweave_testkit::programs::{ProgramWriter, conflict};
use cuweave_testkit::random::Random;
use cuweave_testkit::raw::{Context, Graph, Node, OK, sys};
use sys::CUresult;

/// The number of elements of every buffer, and the bounds of the parts that launches use.
const LEN: usize = 12;
const DIMS: [u64; 4] = [0, 4, 8, 12];
/// The buffer of the caller.
const X: BufferId = BufferId::from_u32(0);
const PARTS: [(u64, u64); 6] = [(0, 12), (0, 4), (4, 8), (8, 12), (0, 8), (4, 12)];
/// The number of programs for each of the three lowerings, and of schedules for each program.
const PROGRAMS: u64 = 700;
const SCHEDULES: u64 = 3;

/// `dst[i] = dst[i] * 5 + src[i % m] + c` for `n` elements of `dst` and `m` of `src`.
const KERNEL: &str = ".version 6.0
.target sm_50
.address_size 64
.visible .entry mix(.param .u64 dst, .param .u64 src, .param .u32 n, .param .u32 m, .param .u32 c)
{
  .reg .pred %p; .reg .b32 %i, %n, %m, %c, %j, %x, %y; .reg .b64 %d, %s, %o;
  ld.param.u64 %d, [dst]; ld.param.u64 %s, [src];
  ld.param.u32 %n, [n]; ld.param.u32 %m, [m]; ld.param.u32 %c, [c];
  mov.u32 %i, %tid.x;
  setp.ge.u32 %p, %i, %n;
  @%p ret;
  rem.u32 %j, %i, %m;
  mul.wide.u32 %o, %j, 4; add.s64 %s, %s, %o; ld.global.u32 %y, [%s];
  mul.wide.u32 %o, %i, 4; add.s64 %d, %d, %o; ld.global.u32 %x, [%d];
  mad.lo.u32 %x, %x, 5, %y; add.u32 %x, %x, %c;
  st.global.u32 [%d], %x;
  ret;
}
";

/// Returns a program. Buffer 0 is the caller's. The others are allocated before their first use, filled, used, and
/// then freed early, returned, or left to the compiler.
fn program(seed: u64) -> LoweredProgram {
    let mut random = Random::new(seed);
    let mut writer = ProgramWriter::new(&DIMS);
    let mut alive = vec![writer.buffer("x", Origin::Device { mutable: true }, LEN as u64)];
    for step in 0..4 + random.below(14) {
        let roll = random.below(10);
        if writer.buffers() == 1 || roll < 3 {
            let id = writer.alloc(&format!("b{}", writer.buffers()), LEN as u64);
            let whole = writer.access(id, Mode::Write, (0, LEN as u64));
            writer.statement(&format!("fill{step}"), StatementKind::Fill(()), &[whole], &[]);
            alive.push(id);
        } else if roll < 4 && alive.len() > 2 {
            let id = alive.remove(1 + random.below(alive.len() - 1));
            writer.statement(&format!("free{id}"), StatementKind::Free(id), &[], &[]);
        } else {
            let mut pick = || (random.choose(&alive), random.choose(&PARTS));
            let (to, from) = (pick(), pick());
            let aliased = to.0 == from.0 && to.1.0 < from.1.1 && from.1.0 < to.1.1;
            // The kernel reads as many elements as it writes, so the source must not be longer.
            if aliased || from.1.1 - from.1.0 > to.1.1 - to.1.0 {
                continue;
            }
            let accesses =
                [writer.access(to.0, Mode::ReadWrite, to.1), writer.access(from.0, Mode::Read, from.1)];
            let earlier = writer
                .statements()
                .as_slice()
                .iter()
                .rposition(|statement| statement.kind == StatementKind::Launch(()));
            let after: Vec<StatementId> =
                earlier.filter(|_| random.one_in(6)).map(StatementId::new).into_iter().collect();
            writer.statement(&format!("mix{step}"), StatementKind::Launch(()), &accesses, &after);
        }
    }
    for &buffer in &alive[1..] {
        if random.one_in(4) {
            writer.output(buffer);
        }
    }
    writer.source(&format!("random {seed}"), Order::Inferred, None)
}

/// Returns the value that a fill writes, or that a launch adds.
fn constant(statement: StatementId) -> u32 {
    statement.as_u32() * 77 + 3
}

/// Returns the buffers after a sequential evaluation.
fn in_order(program: &Program, x: &[u32; LEN]) -> Vector<BufferId, [u32; LEN]> {
    let mut memory = Vector::filled([0u32; LEN], program.buffers.len());
    memory[X] = *x;
    let range = |access: &Access| DIMS[access.lo.index()] as usize..DIMS[access.hi.index()] as usize;
    for (id, statement) in program.statements.enumerate() {
        match statement.kind {
            StatementKind::Fill(()) => memory[statement.accesses[0].buffer] = [constant(id); LEN],
            StatementKind::Launch(()) => {
                let (to, from) = (&statement.accesses[0], &statement.accesses[1]);
                let source: Vec<u32> = memory[from.buffer][range(from)].to_vec();
                for (i, value) in memory[to.buffer][range(to)].iter_mut().enumerate() {
                    *value = value
                        .wrapping_mul(5)
                        .wrapping_add(source[i % source.len()])
                        .wrapping_add(constant(id));
                }
            }
            kind => assert!(kind.is_memory(), "there is no other kind here"),
        }
    }
    memory
}

/// A context with the kernel.
struct Device {
    context: Context,
    function: sys::CUfunction,
}

impl Device {
    fn new() -> Device {
        let context = Context::new();
        let function = context.function(context.module(KERNEL), "mix");
        Device { context, function }
    }

    /// Builds and launches the operations. Returns the contents of `x` and the outputs, or the error.
    fn run(
        &self,
        program: &Program,
        operations: &Operations,
        x: &[u32; LEN],
    ) -> Result<Vec<(BufferId, [u32; LEN])>, CUresult> {
        let device_x = self.context.upload(x);
        let graph = Graph::new();
        let own =
            |memory: &MemoryBlock| if memory.node { 0 } else { self.context.alloc(memory.bytes as usize) };
        let mut memories: Vector<MemoryId, u64> = operations.memories.iter().map(own).collect();
        let owned = memories.clone();
        let mut nodes: Vector<OperationId, Node> = Vector::new();
        for operation in &operations.list {
            let after: Vec<Node> = operation.after.iter().map(|&before| nodes[before]).collect();
            nodes.push(self.add(&graph, &after, (program, operations), operation, &mut memories, device_x));
        }
        let launched = graph.exec().launch(&self.context);
        let ended = self.context.sync();
        let mut results = Vec::new();
        if (launched, ended) == (OK, OK) {
            for buffer in std::iter::once(X).chain(program.outputs.iter().copied()) {
                let values = self.context.download(address(operations, &memories, device_x, buffer), LEN);
                results.push((buffer, values.try_into().expect("all elements")));
            }
            for &buffer in program.outputs.iter() {
                self.context.free(address(operations, &memories, device_x, buffer));
            }
        }
        // After a fault, these calls fail, too.
        for address in owned.into_iter().filter(|&address| address != 0).chain([device_x]) {
            // SAFETY: these addresses come from the driver, and nothing uses them any more.
            unsafe { sys::cuMemFree_v2(address) };
        }
        match (launched, ended) {
            (OK, OK) => Ok(results),
            (OK, code) | (code, _) => Err(code),
        }
    }

    /// Adds an operation as a node.
    fn add(
        &self,
        graph: &Graph,
        after: &[Node],
        (program, operations): (&Program, &Operations),
        operation: &Operation,
        memories: &mut Vector<MemoryId, u64>,
        device_x: u64,
    ) -> Node {
        let part = |access: &Access| {
            let (lo, hi) = (DIMS[access.lo.index()], DIMS[access.hi.index()]);
            (address(operations, memories, device_x, access.buffer) + 4 * lo, hi - lo)
        };
        match operation.kind {
            OperationKind::Alloc { memory } => {
                let bytes = operations.memories[memory].bytes as usize;
                let (node, address) = graph.alloc(after, bytes);
                memories[memory] = address;
                node
            }
            OperationKind::Free { memory } => graph.free(after, memories[memory]),
            OperationKind::Statement(StatementKind::Fill(())) => {
                let id = operation.sources[0];
                let (to, len) = part(&program.statements[id].accesses[0]);
                graph.fill_words(&self.context, after, to, constant(id), len as usize)
            }
            OperationKind::Statement(StatementKind::Launch(())) => {
                let id = operation.sources[0];
                let accesses = &program.statements[id].accesses;
                let ((to, n), (from, m)) = (part(&accesses[0]), part(&accesses[1]));
                graph.kernel(after, self.function, 1, 32, &[to, from, n, m, u64::from(constant(id))])
            }
            OperationKind::FreeTaken { .. } | OperationKind::Statement(_) | OperationKind::Hub => {
                graph.empty(after)
            }
        }
    }
}

fn address(
    operations: &Operations,
    memories: &Vector<MemoryId, u64>,
    device_x: u64,
    buffer: BufferId,
) -> u64 {
    match operations.places[buffer] {
        BufferPlacement::Inside { memory, offset } => memories[memory] + offset,
        BufferPlacement::Bound | BufferPlacement::Nowhere => device_x,
    }
}

fn compiled(seed: u64, memory: Memory) -> (Program, Operations) {
    let (checked, found) = compile::front(program(seed));
    let checked = checked.unwrap_or_else(|| panic!("program {seed}: {found:?}"));
    let backend_options = BackendOptions { memory: Some(memory), ..BackendOptions::default() };
    let operations =
        compile::back(&checked, &DIMS.into_iter().collect(), &backend_options).expect("it can be emitted");
    (checked.program().clone(), operations)
}

const LOWERINGS: [Memory; 3] = [Memory::Nodes, Memory::Arena, Memory::Owned];

fn start_values(seed: u64) -> [u32; LEN] {
    std::array::from_fn(|i| (seed as u32).wrapping_mul(31).wrapping_add(i as u32))
}

#[test]
fn compiled_programs_mean_their_statements_and_broken_plans_are_caught() {
    let _turn = test_lock();
    let driver = driver();
    let device = Device::new();
    for memory in LOWERINGS {
        for seed in 0..PROGRAMS {
            let (program, operations) = compiled(seed, memory);
            let x = start_values(seed);
            let expected = in_order(&program, &x);
            for schedule in 0..SCHEDULES {
                if driver.is_simulated() {
                    cuweave_sim::set_seed(seed * SCHEDULES + schedule).expect("the simulated driver");
                }
                let results = device.run(&program, &operations, &x);
                let results = results.unwrap_or_else(|code| {
                    panic!("program {seed}, {memory:?}: {code:?}: {:?}", cuweave_sim::reports())
                });
                for (buffer, values) in results {
                    assert_eq!(values, expected[buffer], "program {seed}, {memory:?}, b{buffer}");
                }
            }
        }
    }
    if !driver.is_simulated() {
        println!("broken plans not run: a real driver says nothing of them");
        return;
    }
    let reports = cuweave_sim::take_reports().expect("the simulated driver");
    assert!(reports.iter().all(|report| report.error == 0), "{reports:?}");
    drop(device);
    broken_plans_are_caught();
}

/// Removes an edge between two launches, or the edges from a buffer's users to its free. The driver accepts the
/// remaining operations.
fn broken_plans_are_caught() {
    let (mut edges, mut frees) = (0, 0);
    for seed in 0..400 {
        let (program, operations) = compiled(seed, Memory::Nodes);
        let x = start_values(seed);
        let is_work = |at: OperationId| {
            matches!(
                operations.list[at].kind,
                OperationKind::Statement(StatementKind::Launch(()) | StatementKind::Fill(()))
            )
        };
        let edge = operations.list.ids().rev().find_map(|to| {
            let position = operations.list[to].after.iter().position(|&from| is_work(from) && is_work(to))?;
            let from = operations.list[to].after[position];
            // An edge that only an `#[after]` demands does not order memory.
            let (a, b) = (operations.list[from].sources[0], operations.list[to].sources[0]);
            conflict(&program.statements[a], &program.statements[b], &DIMS).then_some((to, position))
        });
        let free = operations.list.position(|operation| {
            matches!(operation.kind, OperationKind::Free { .. })
                && operation.after.iter().any(|&at| is_work(at))
        });
        let mut broken = Vec::new();
        if let Some((to, position)) = edge {
            let mut operations = operations.clone();
            operations.list[to].after.remove(position);
            broken.push(operations);
            edges += 1;
        }
        if let Some(free) = free {
            let mut operations = operations.clone();
            operations.list[free].after.retain(|&at| !is_work(at));
            let OperationKind::Free { memory } = operations.list[free].kind else { continue };
            let alloc = operations.list.position(|other| other.kind == OperationKind::Alloc { memory });
            operations.list[free].after.extend(alloc);
            operations.list[free].after.sort_unstable();
            operations.list[free].after.dedup();
            broken.push(operations);
            frees += 1;
        }
        for operations in broken {
            // A fault breaks the context, as on a GPU.
            let device = Device::new();
            let outcome = device.run(&program, &operations, &x);
            let reports = cuweave_sim::take_reports().expect("the simulated driver");
            let caught = reports.iter().any(|report| report.error != 0);
            assert!(
                outcome.is_err() && caught,
                "program {seed} is broken and nothing says so: {operations:?}"
            );
        }
    }
    println!("caught: {edges} dropped edges, {frees} early frees");
    assert!(edges > 200 && frees > 200, "{edges} edges and {frees} frees were broken");
}
