//! The proof of the compiler: random graph programs, compiled by cuweave's compiler, run on the simulated driver under
//! many schedules, and compared with running their statements one after the other. No report, no difference. Then the
//! same programs with a plan that is broken on purpose: each must be caught.
//!
//! The operations are added here by bare driver calls, as the runtime adds them, so that programs can be made at run time.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use cudarc::driver::sys;
use cuweave_core::compile::{self, Wishes};
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{
    Access, Buffer, BufferId, DimId, Kind, Memory, Mode, Options, Order, Origin, Program, Statement,
    StatementId,
};
use cuweave_core::operation::{MemoryId, OperationId, Operations, Place, What};
use cuweave_core::order::Source;
use cuweave_ptx::poly::Poly;

/// Elements of every buffer, and the bounds of the parts that launches use.
const LEN: usize = 12;
const DIMS: [u64; 4] = [0, 4, 8, 12];
/// The caller's buffer.
const X: BufferId = BufferId::from_u32(0);
const PARTS: [(u32, u32); 6] = [(0, 3), (0, 1), (1, 2), (2, 3), (0, 2), (1, 3)];
/// Programs of each of the three lowerings, and the schedules of each.
const PROGRAMS: u64 = 700;
const SCHEDULES: u64 = 3;

/// `dst[i] = dst[i] * 5 + src[i % m] + c` for `n` elements of `dst` and `m` of `src`.
const KERNEL: &CStr = c".version 6.0
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

/// A generator of numbers (xorshift64*): the same seed gives the same program.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % end
    }
}

/// A program: buffer 0 is the caller's, the others are allocated somewhere before their first use, filled, used, and
/// freed early, returned, or left to the compiler.
fn program(seed: u64) -> Source {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut buffers = Vector::new();
    let mut statements: Vector<StatementId, Statement> = Vector::new();
    let mut alive: Vec<BufferId> = vec![buffers.push(declared("x", Origin::Device { mutable: true }))];
    for step in 0..4 + random.below(14) {
        let roll = random.below(10);
        if buffers.len() == 1 || roll < 3 {
            let name = format!("b{}", buffers.len());
            let id = buffers.push(declared(&name, Origin::Alloc(StatementId::new(statements.len()))));
            statements.push(statement(format!("b{id}"), Kind::Alloc(id), vec![]));
            statements.push(statement(
                format!("fill{step}"),
                Kind::Fill(()),
                vec![access(id, Mode::Write, (0, 3))],
            ));
            alive.push(id);
        } else if roll < 4 && alive.len() > 2 {
            let at = 1 + random.below(alive.len() as u64 - 1) as usize;
            let id = alive.remove(at);
            statements.push(statement(format!("free{id}"), Kind::Free(id), vec![]));
        } else {
            let mut pick =
                || (alive[random.below(alive.len() as u64) as usize], PARTS[random.below(6) as usize]);
            let (to, from) = (pick(), pick());
            let aliased = to.0 == from.0 && to.1.0 < from.1.1 && from.1.0 < to.1.1;
            // The kernel reads as many elements as it writes: a longer source it would not touch as declared.
            if aliased || from.1.1 - from.1.0 > to.1.1 - to.1.0 {
                continue;
            }
            let accesses = vec![access(to.0, Mode::ReadWrite, to.1), access(from.0, Mode::Read, from.1)];
            let mut launch = statement(format!("mix{step}"), Kind::Launch(()), accesses);
            let earlier =
                statements.as_slice().iter().rposition(|statement| statement.kind == Kind::Launch(()));
            if let Some(earlier) = earlier.filter(|_| random.below(6) == 0) {
                launch.after = vec![StatementId::new(earlier)].into();
            }
            statements.push(launch);
        }
    }
    let outputs: Vec<BufferId> = alive[1..].iter().copied().filter(|_| random.below(4) == 0).collect();
    let poisoned = Vector::filled(false, buffers.len());
    let program = Program {
        name: format!("random {seed}").into(),
        file: "proof.rs".into(),
        options: Options { order: Order::Inferred, ..Options::default() },
        dims: DIMS.iter().map(|value| value.to_string().into()).collect(),
        buffers,
        statements,
        views: Vec::new().into(),
        outputs: outputs.into(),
    };
    let polys = DIMS.iter().map(|&value| Poly::constant(i128::from(value))).collect();
    Source { program, polys, poisoned, order_unknown: false }
}

fn declared(name: &str, origin: Origin) -> Buffer {
    Buffer {
        name: name.to_owned().into(),
        line: 1,
        file: None,
        origin,
        len: DimId::new(3),
        element: 4,
        align: 4,
    }
}

fn statement(name: String, kind: Kind, accesses: Vec<Access>) -> Statement {
    Statement {
        name: name.into(),
        line: 1,
        file: None,
        kind,
        accesses: accesses.into(),
        after: Vec::new().into(),
    }
}

fn access(buffer: BufferId, mode: Mode, (lo, hi): (u32, u32)) -> Access {
    let [lo, hi] = [lo, hi].map(DimId::from_u32);
    Access { buffer, mode, lo, hi, relied_on: false }
}

/// What a fill writes, and what a launch adds.
fn constant(statement: StatementId) -> u32 {
    statement.as_u32() * 77 + 3
}

/// The buffers after the statements have run one after the other.
fn in_order(program: &Program, x: &[u32; LEN]) -> Vector<BufferId, [u32; LEN]> {
    let mut memory = Vector::filled([0u32; LEN], program.buffers.len());
    memory[X] = *x;
    let range = |access: &Access| DIMS[access.lo.index()] as usize..DIMS[access.hi.index()] as usize;
    for (id, statement) in program.statements.enumerate() {
        match statement.kind {
            Kind::Fill(()) => memory[statement.accesses[0].buffer] = [constant(id); LEN],
            Kind::Launch(()) => {
                let (to, from) = (&statement.accesses[0], &statement.accesses[1]);
                let source: Vec<u32> = memory[from.buffer][range(from)].to_vec();
                for (i, value) in memory[to.buffer][range(to)].iter_mut().enumerate() {
                    *value = value
                        .wrapping_mul(5)
                        .wrapping_add(source[i % source.len()])
                        .wrapping_add(constant(id));
                }
            }
            Kind::Copy(()) | Kind::Call(_) | Kind::Alloc(_) | Kind::Free(_) => {}
        }
    }
    memory
}

/// A call that must succeed.
fn done(code: sys::CUresult, what: &str) {
    assert_eq!(code, sys::CUresult::CUDA_SUCCESS, "{what}");
}

/// A context with the kernel.
struct Device {
    context: sys::CUcontext,
    function: sys::CUfunction,
}

impl Device {
    fn new() -> Device {
        // SAFETY: calls with valid out pointers; the module lives as long as the context.
        unsafe {
            let (mut context, mut module, mut function) = (null_mut(), null_mut(), null_mut());
            done(sys::cuInit(0), "cuInit");
            done(sys::cuDevicePrimaryCtxRetain(&mut context, 0), "retain");
            done(sys::cuCtxSetCurrent(context), "current");
            done(sys::cuModuleLoadData(&mut module, KERNEL.as_ptr().cast()), "module");
            done(sys::cuModuleGetFunction(&mut function, module, c"mix".as_ptr()), "function");
            Device { context, function }
        }
    }

    /// Builds and launches the operations; the buffers `x` and the outputs as they are then, or the error.
    fn run(
        &self,
        program: &Program,
        operations: &Operations,
        x: &[u32; LEN],
    ) -> Result<Vec<(BufferId, [u32; LEN])>, u32> {
        let bytes = LEN * 4;
        let mut device_x = 0;
        let mut graph = null_mut();
        let mut exec = null_mut();
        let mut owned = Vec::new();
        // SAFETY: every pointer is to live memory of this frame; addresses are the driver's own.
        unsafe {
            done(sys::cuMemAlloc_v2(&mut device_x, bytes), "alloc x");
            done(sys::cuMemcpyHtoD_v2(device_x, x.as_ptr().cast(), bytes), "upload");
            done(sys::cuGraphCreate(&mut graph, 0), "graph");
            let mut memories = Vector::filled(0u64, operations.memories.len());
            for (at, memory) in operations.memories.enumerate().filter(|(_, memory)| !memory.node) {
                done(sys::cuMemAlloc_v2(&mut memories[at], memory.bytes as usize), "owned");
                owned.push(memories[at]);
            }
            let mut nodes: Vector<OperationId, sys::CUgraphNode> = Vector::new();
            for operation in &operations.list {
                let after: Vec<sys::CUgraphNode> =
                    operation.after.iter().map(|&before| nodes[before]).collect();
                nodes.push(self.add(graph, &after, program, operations, operation, &mut memories, device_x));
            }
            done(sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0), "instantiate");
            let launched = sys::cuGraphLaunch(exec, null_mut());
            let ended = sys::cuCtxSynchronize();
            let mut results = Vec::new();
            if launched == sys::CUresult::CUDA_SUCCESS && ended == sys::CUresult::CUDA_SUCCESS {
                for buffer in std::iter::once(X).chain(program.outputs.iter().copied()) {
                    let address = address(operations, &memories, device_x, buffer);
                    let mut values = [0u32; LEN];
                    done(sys::cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), address, bytes), "download");
                    results.push((buffer, values));
                }
                for &buffer in program.outputs.iter() {
                    done(sys::cuMemFree_v2(address(operations, &memories, device_x, buffer)), "free output");
                }
            }
            sys::cuGraphExecDestroy(exec);
            sys::cuGraphDestroy(graph);
            for address in owned.into_iter().chain([device_x]) {
                sys::cuMemFree_v2(address);
            }
            match (launched, ended) {
                (sys::CUresult::CUDA_SUCCESS, sys::CUresult::CUDA_SUCCESS) => Ok(results),
                (sys::CUresult::CUDA_SUCCESS, code) | (code, _) => Err(code as u32),
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    unsafe fn add(
        &self,
        graph: sys::CUgraph,
        after: &[sys::CUgraphNode],
        program: &Program,
        operations: &Operations,
        operation: &cuweave_core::operation::Operation,
        memories: &mut Vector<MemoryId, u64>,
        device_x: u64,
    ) -> sys::CUgraphNode {
        let mut node = null_mut();
        let dependencies = if after.is_empty() { null() } else { after.as_ptr() };
        let part = |access: &Access| {
            let (lo, hi) = (DIMS[access.lo.index()], DIMS[access.hi.index()]);
            (address(operations, memories, device_x, access.buffer) + 4 * lo, (hi - lo) as u32)
        };
        // SAFETY: as in `run`; parameters are copied by the driver at the add.
        unsafe {
            match operation.what {
                What::Alloc { memory } => {
                    let mut params = alloc_params(operations.memories[memory].bytes as usize);
                    done(
                        sys::cuGraphAddMemAllocNode(&mut node, graph, dependencies, after.len(), &mut params),
                        "alloc node",
                    );
                    memories[memory] = params.dptr;
                }
                What::Free { memory } => done(
                    sys::cuGraphAddMemFreeNode(&mut node, graph, dependencies, after.len(), memories[memory]),
                    "free node",
                ),
                What::Statement(Kind::Fill(())) => {
                    let id = operation.sources[0];
                    let (dst, width) = part(&program.statements[id].accesses[0]);
                    let params = sys::CUDA_MEMSET_NODE_PARAMS {
                        dst,
                        pitch: 0,
                        value: constant(id),
                        elementSize: 4,
                        width: width as usize,
                        height: 1,
                    };
                    done(
                        sys::cuGraphAddMemsetNode(
                            &mut node,
                            graph,
                            dependencies,
                            after.len(),
                            &params,
                            self.context,
                        ),
                        "memset node",
                    );
                }
                What::Statement(Kind::Launch(())) => {
                    let id = operation.sources[0];
                    let accesses = &program.statements[id].accesses;
                    let ((mut dst, mut n), (mut src, mut m)) = (part(&accesses[0]), part(&accesses[1]));
                    let mut c = constant(id);
                    let mut pointers: [*mut c_void; 5] = [
                        (&raw mut dst).cast(),
                        (&raw mut src).cast(),
                        (&raw mut n).cast(),
                        (&raw mut m).cast(),
                        (&raw mut c).cast(),
                    ];
                    let params = kernel_params(self.function, &mut pointers);
                    done(
                        sys::cuGraphAddKernelNode_v2(&mut node, graph, dependencies, after.len(), &params),
                        "kernel node",
                    );
                }
                What::FreeTaken { .. } | What::Statement(_) | What::Hub => {
                    done(sys::cuGraphAddEmptyNode(&mut node, graph, dependencies, after.len()), "empty node");
                }
            }
        }
        node
    }
}

fn address(
    operations: &Operations,
    memories: &Vector<MemoryId, u64>,
    device_x: u64,
    buffer: BufferId,
) -> u64 {
    match operations.places[buffer] {
        Place::Inside { memory, offset } => memories[memory] + offset,
        Place::Bound | Place::Nowhere => device_x,
    }
}

fn kernel_params(
    function: sys::CUfunction,
    pointers: &mut [*mut c_void; 5],
) -> sys::CUDA_KERNEL_NODE_PARAMS_v2_st {
    sys::CUDA_KERNEL_NODE_PARAMS_v2_st {
        func: function,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 32,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: pointers.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    }
}

fn alloc_params(bytes: usize) -> sys::CUDA_MEM_ALLOC_NODE_PARAMS {
    // SAFETY: a struct of numbers and pointers, for which zero is a value; enumerators are set before it is read.
    let mut params: sys::CUDA_MEM_ALLOC_NODE_PARAMS = unsafe {
        let mut params = MaybeUninit::<sys::CUDA_MEM_ALLOC_NODE_PARAMS>::zeroed();
        let props = &raw mut (*params.as_mut_ptr()).poolProps;
        (&raw mut (*props).allocType).write(sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED);
        (&raw mut (*props).handleTypes).write(sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE);
        (&raw mut (*props).location.type_).write(sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE);
        params.assume_init()
    };
    params.bytesize = bytes;
    params
}

fn compiled(seed: u64, memory: Memory) -> (Program, Operations) {
    let (checked, found) = compile::front(program(seed));
    let checked = checked.unwrap_or_else(|| panic!("program {seed}: {found:?}"));
    let wishes = Wishes { memory: Some(memory), ..Wishes::default() };
    let operations =
        compile::back(&checked, &DIMS.into_iter().collect(), &wishes).expect("it can be emitted");
    (checked.program().clone(), operations)
}

const LOWERINGS: [Memory; 3] = [Memory::Nodes, Memory::Arena, Memory::Owned];

fn start_values(seed: u64) -> [u32; LEN] {
    std::array::from_fn(|i| (seed as u32).wrapping_mul(31).wrapping_add(i as u32))
}

/// One test, since the simulated driver's reports and seed are the process's.
#[test]
fn compiled_programs_mean_their_statements_and_broken_plans_are_caught() {
    let driver = cuweave_sim::load().expect("a driver");
    println!("driver: {driver}");
    let device = Device::new();
    for memory in LOWERINGS {
        for seed in 0..PROGRAMS {
            let (program, operations) = compiled(seed, memory);
            let x = start_values(seed);
            let expected = in_order(&program, &x);
            for schedule in 0..SCHEDULES {
                if driver.is_simulated() {
                    cuweave_sim::seed(seed * SCHEDULES + schedule).expect("the simulated driver");
                }
                let results = device.run(&program, &operations, &x);
                let results = results.unwrap_or_else(|code| {
                    panic!("program {seed}, {memory:?}: error {code}: {:?}", cuweave_sim::reports())
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
    broken_plans_are_caught(device);
}

/// Drops an edge between two launches, or lets a free go before its buffer's last user: the operations that are left
/// are legal for the driver.
fn broken_plans_are_caught(mut device: Device) {
    let (mut edges, mut frees) = (0, 0);
    for seed in 0..400 {
        let (program, operations) = compiled(seed, Memory::Nodes);
        let x = start_values(seed);
        let is_work = |at: OperationId| {
            matches!(operations.list[at].what, What::Statement(Kind::Launch(()) | Kind::Fill(())))
        };
        let edge = operations.list.ids().rev().find_map(|to| {
            let position = operations.list[to].after.iter().position(|&from| is_work(from) && is_work(to))?;
            let from = operations.list[to].after[position];
            // An edge that `#[after]` alone asked for orders no memory.
            let (a, b) = (operations.list[from].sources[0], operations.list[to].sources[0]);
            conflict(&program.statements[a], &program.statements[b]).then_some((to, position))
        });
        let free = operations.list.position(|operation| {
            matches!(operation.what, What::Free { .. }) && operation.after.iter().any(|&at| is_work(at))
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
            let What::Free { memory } = operations.list[free].what else { continue };
            let alloc = operations.list.position(|other| other.what == What::Alloc { memory });
            operations.list[free].after.extend(alloc);
            operations.list[free].after.sort_unstable();
            operations.list[free].after.dedup();
            broken.push(operations);
            frees += 1;
        }
        for operations in broken {
            let outcome = device.run(&program, &operations, &x);
            let reports = cuweave_sim::take_reports().expect("the simulated driver");
            let caught = reports.iter().any(|report| report.error != 0);
            assert!(
                outcome.is_err() && caught,
                "program {seed} is broken and nothing says so: {operations:?}"
            );
            // A fault breaks the context, as on a GPU.
            // SAFETY: nothing of the old context is used again.
            unsafe { sys::cuDevicePrimaryCtxReset_v2(0) };
            device = Device::new();
        }
    }
    println!("caught: {edges} dropped edges, {frees} early frees");
    assert!(edges > 200 && frees > 200, "{edges} edges and {frees} frees were broken");
}

fn conflict(a: &Statement, b: &Statement) -> bool {
    a.accesses.iter().any(|one| {
        b.accesses.iter().any(|two| {
            one.buffer == two.buffer && one.mode.conflicts(two.mode) && one.lo < two.hi && two.lo < one.hi
        })
    })
}
