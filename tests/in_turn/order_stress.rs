//! Programmatic edges order like full edges if every kernel begins with the wait.
//!
//! The test uses chains of functions that this compiler rewrote, single and batched, whose results depend on the
//! order: slow producers and slow readers, elements that other blocks wrote, reads one to three launches after the
//! write, and writes one to three launches after the read; also with blocks that all trigger the next kernel at
//! once. As a control without the waits, a GPU computes wrong elements, and the simulated driver reports it.
//!
//! It uses direct driver calls, because the runtime never adds a programmatic edge into a kernel without the wait.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use cuweave_ptx::parse;
use cuweave_ptx::rewrite::{self, Axis, Batch, BatchTable, GridShape};
use cuweave_testkit::device::{driver, test_lock};
use cuweave_testkit::ok;
use cuweave_testkit::raw::{Context, Graph, Node, OK, kernel_params, sys};
use sys::CUresult;

const PTX: &str = include_str!("../kernels/order.ptx");
const WAIT: &str = "griddepcontrol.wait;";
const TRIGGER: &str = "griddepcontrol.launch_dependents;";

/// The size of a test. The slow blocks take about ten microseconds on a GPU.
#[derive(Clone, Copy, Debug)]
struct Size {
    blocks: u32,
    threads: u32,
    rounds: u32,
    kernels: usize,
    launches: usize,
}

/// A few blocks, some blocks, and more than fit on the device.
const REAL: [Size; 3] = [
    Size { blocks: 4, threads: 64, rounds: 10_000, kernels: 48, launches: 100 },
    Size { blocks: 16, threads: 64, rounds: 10_000, kernels: 48, launches: 300 },
    Size { blocks: 3_000, threads: 64, rounds: 1_000, kernels: 24, launches: 6 },
];
const SIMULATED: [Size; 2] = [
    Size { blocks: 4, threads: 8, rounds: 3, kernels: 9, launches: 1 },
    Size { blocks: 7, threads: 8, rounds: 3, kernels: 9, launches: 2 },
];

impl Size {
    fn elements(self) -> u32 {
        self.blocks * self.threads
    }
}

/// A chain: launch k reads what launch k - `distance` wrote, and writes to the next of `ring` buffers.
#[derive(Clone, Copy, Debug)]
struct Chain {
    distance: usize,
    ring: usize,
    /// The blocks that are slow: 1 before they read, 2 before they write.
    slow: u32,
}

/// Reads one to three launches after the write, and writes one to three launches after the read.
fn chains() -> impl Iterator<Item = Chain> {
    let shapes = [(1, 2), (2, 3), (3, 4), (1, 3), (1, 4)];
    let chain = |(distance, ring)| [1, 2].map(|slow| Chain { distance, ring, slow });
    shapes.into_iter().flat_map(chain)
}

impl Chain {
    fn buffers(&self, launch: usize) -> (usize, usize) {
        (launch % self.ring, (launch + self.ring - self.distance) % self.ring)
    }

    /// Returns the buffers of a member after sequential launches.
    fn meaning(&self, size: Size, member: u32) -> Vec<Vec<u32>> {
        let busy = |rounds: u32| {
            (0..rounds).fold(1u32, |value, _| value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223))
        };
        let all = [busy(size.rounds), busy(size.rounds + 1)];
        let mut buffers = self.start(size, member);
        let n = size.elements();
        for launch in 0..size.kernels {
            let (to, from) = self.buffers(launch);
            let element = |i: u32| {
                let value = buffers[from][((i + n / 2 + size.threads) % n) as usize];
                let late = i / size.threads % 2 == 1;
                let add = match (late, self.slow) {
                    (true, 1) => all[0],
                    (true, _) => all[(value % 2) as usize],
                    (false, _) => 0,
                };
                value.wrapping_add(add)
            };
            buffers[to] = (0..n).map(element).collect();
        }
        buffers
    }

    fn start(&self, size: Size, member: u32) -> Vec<Vec<u32>> {
        let hash = |at: u32| (at ^ member << 28).wrapping_mul(2_654_435_761).rotate_left(13);
        let n = size.elements();
        (0..self.ring as u32).map(|buffer| (0..n).map(|i| hash(buffer * n + i)).collect()).collect()
    }
}

/// The time at which a kernel may start, relative to its predecessor.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Start {
    /// As the compiler emits it, with both kinds of edges.
    AtTheEnd,
    LaunchOrder,
    /// Every kernel triggers the next launch (`griddepcontrol.launch_dependents`) before its wait.
    Triggered,
    /// The control without waits.
    WithoutWaiting,
}

impl Start {
    fn text(self, rewritten: &str) -> String {
        assert_eq!(rewritten.matches(WAIT).count(), 1, "{rewritten}");
        let instead = match self {
            Start::AtTheEnd | Start::LaunchOrder => WAIT.to_owned(),
            Start::Triggered => format!("{TRIGGER} {WAIT}"),
            Start::WithoutWaiting => TRIGGER.to_owned(),
        };
        rewritten.replace(WAIT, &instead)
    }
}

/// A function that the compiler made from `pass`: its number of launches and its parameters.
struct Rewritten {
    text: String,
    name: String,
    /// The table, for a batch.
    table: Option<(BatchTable, GridShape)>,
    members: u32,
}

fn rewritten() -> Vec<Rewritten> {
    let module = parse(PTX).expect("the reader takes what NVRTC makes");
    let waiting = rewrite::waiting(&module);
    assert_eq!((waiting.waits.as_slice(), waiting.unchanged.len()), (["pass".to_owned()].as_slice(), 0));
    let mut all = vec![Rewritten { text: waiting.text, name: "pass".to_owned(), table: None, members: 1 }];
    for shape in [GridShape::Axis(Axis::Z), GridShape::Flat] {
        let name = rewrite::free_name(&module, "batch");
        let batch = Batch {
            entry: "pass".to_owned(),
            name: name.clone(),
            capacity: 4,
            shape,
            waits: true,
            registers: None,
        };
        let text = rewrite::batched(&module, &[batch]).expect("it can be batched");
        let parameters = &module.entry("pass").expect("it is there").parameters;
        let table = BatchTable::new(parameters, 4, shape).expect("a small one");
        all.push(Rewritten { text, name, table: Some((table, shape)), members: 3 });
    }
    all
}

/// A context with a function.
struct Loaded<'r> {
    rewritten: &'r Rewritten,
    context: Context,
    function: sys::CUfunction,
    size: Size,
}

impl<'r> Loaded<'r> {
    fn new(rewritten: &'r Rewritten, text: &str, size: Size) -> Loaded<'r> {
        let context = Context::new();
        let function = context.function(context.module(text), &rewritten.name);
        Loaded { rewritten, context, function, size }
    }

    /// Launches a chain. Returns the number of wrong elements, or an error.
    fn wrong_elements(&self, chain: Chain, start: Start) -> Result<usize, CUresult> {
        let members = self.rewritten.members;
        let port = match start {
            Start::LaunchOrder => sys::CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER,
            _ => sys::CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
        };
        let start: Vec<_> = (0..members).map(|member| chain.start(self.size, member)).collect();
        let meaning: Vec<_> = (0..members).map(|member| chain.meaning(self.size, member)).collect();
        let len = self.size.elements() as usize;
        let addresses: Vec<Vec<u64>> =
            (0..members).map(|_| (0..chain.ring).map(|_| self.context.alloc(4 * len)).collect()).collect();
        let graph = self.graph(chain, &addresses, port as u8);
        let exec = graph.exec();
        let mut wrong = 0;
        for _ in 0..self.size.launches {
            for (&address, values) in addresses.iter().flatten().zip(start.iter().flatten()) {
                self.context.write(address, values);
            }
            let codes = [exec.launch(&self.context), self.context.sync()];
            // Destroying the context frees the buffers.
            if let Some(&code) = codes.iter().find(|&&code| code != OK) {
                return Err(code);
            }
            for (&address, expected) in addresses.iter().flatten().zip(meaning.iter().flatten()) {
                let values: Vec<u32> = self.context.download(address, len);
                wrong += values.iter().zip(expected).filter(|(value, expected)| value != expected).count();
            }
        }
        addresses.iter().flatten().for_each(|&address| self.context.free(address));
        Ok(wrong)
    }

    /// Returns the chain as a graph with programmatic edges only.
    fn graph(&self, chain: Chain, addresses: &[Vec<u64>], from_port: u8) -> Graph {
        let graph = Graph::new();
        let mut before: Option<Node> = None;
        for launch in 0..self.size.kernels {
            let (to, from) = chain.buffers(launch);
            let of = |member: usize| self.values(addresses[member][to], addresses[member][from], chain);
            let mut grid = [self.size.blocks, 1, 1];
            let mut given = match &self.rewritten.table {
                None => of(0),
                Some((table, shape)) => {
                    grid = match shape {
                        GridShape::Axis(axis) => {
                            grid[axis.index()] = self.rewritten.members;
                            grid
                        }
                        GridShape::Flat => [self.size.blocks * self.rewritten.members, 1, 1],
                    };
                    vec![self.table(table, of)]
                }
            };
            let mut pointers: Vec<*mut c_void> =
                given.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
            let mut params = kernel_params(self.function, 1, self.size.threads, &mut pointers);
            [params.gridDimX, params.gridDimY, params.gridDimZ] = grid;
            let mut node = null_mut();
            ok!(sys::cuGraphAddKernelNode_v2(&mut node, graph.0, null(), 0, &params));
            if let Some(before) = before {
                let kind = sys::CUgraphDependencyType_enum::CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
                let edge =
                    sys::CUgraphEdgeData { from_port, to_port: 0, type_: kind as u8, reserved: [0; 5] };
                ok!(sys::cuGraphAddDependencies_v2(graph.0, &before, &node, &edge, 1));
            }
            before = Some(node);
        }
        graph
    }

    /// Returns the parameter values of a launch.
    fn values(&self, to: u64, from: u64, chain: Chain) -> Vec<Vec<u8>> {
        let addresses = [to, from].map(|address| address.to_le_bytes().to_vec());
        let numbers = [self.size.elements(), self.size.rounds, chain.slow].map(|n| n.to_le_bytes().to_vec());
        addresses.into_iter().chain(numbers).collect()
    }

    /// Returns the table of a launch of all members.
    fn table(&self, table: &BatchTable, of: impl Fn(usize) -> Vec<Vec<u8>>) -> Vec<u8> {
        let mut bytes = vec![0u8; table.bytes as usize];
        let mut put = |range: std::ops::Range<usize>, value: &[u8]| bytes[range].copy_from_slice(value);
        for member in 0..self.rewritten.members {
            for (parameter, value) in of(member as usize).iter().enumerate() {
                put(table.parameter(member, parameter), value);
            }
            if let Some(grid) = table.grid(member) {
                put(grid, [self.size.blocks, 1, 1].map(u32::to_le_bytes).as_flattened());
            }
        }
        let firsts: Vec<u32> = (0..self.rewritten.members).map(|member| member * self.size.blocks).collect();
        for (offset, word) in table.search_words(&firsts, self.rewritten.members * self.size.blocks) {
            put(offset as usize..offset as usize + 4, &word.to_le_bytes());
        }
        bytes
    }
}

/// Returns the driver if it and the device can start kernels early.
fn early_driver() -> Option<cuweave_sim::Driver> {
    let driver = driver();
    let mut major = 0;
    let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
    ok!(sys::cuInit(0));
    ok!(sys::cuDeviceGetAttribute(&mut major, attribute, 0));
    if major < 9 {
        println!("not run: kernels start early from compute capability 9.0 on, and this device has {major}");
        return None;
    }
    Some(driver)
}

#[test]
fn waits_order_chains_of_programmatic_edges_and_nothing_else_does() {
    let _turn = test_lock();
    let Some(driver) = early_driver() else { return };
    let simulated = driver.is_simulated();
    let sizes = if simulated { &SIMULATED[..] } else { &REAL };
    let mut elements = 0;
    let functions = rewritten();
    for (function, &size) in
        functions.iter().flat_map(|function| sizes.iter().map(move |size| (function, size)))
    {
        for start in [Start::AtTheEnd, Start::LaunchOrder, Start::Triggered] {
            let loaded = Loaded::new(function, &start.text(&function.text), size);
            for chain in chains() {
                for seed in 0..if simulated { 3 } else { 1 } {
                    if simulated {
                        cuweave_sim::set_seed(seed).expect("the simulated driver");
                    }
                    let what = format!("{:?}, {size:?}, {start:?}, {chain:?}, seed {seed}", function.name);
                    assert_eq!(loaded.wrong_elements(chain, start), Ok(0), "{what}");
                    elements += size.launches * chain.ring * (size.elements() * function.members) as usize;
                }
            }
        }
    }
    println!("{elements} elements compared, none wrong");
    if simulated {
        let reports = cuweave_sim::take_reports().expect("the simulated driver");
        assert!(reports.is_empty(), "{reports:#?}");
    }
    for function in &functions {
        for chain in chains() {
            let loaded = Loaded::new(function, &Start::WithoutWaiting.text(&function.text), sizes[1]);
            let outcome = loaded.wrong_elements(chain, Start::WithoutWaiting);
            println!("without the waits: {:?}, {chain:?}: {outcome:?}", function.name);
            if simulated {
                let reports = cuweave_sim::take_reports().expect("the simulated driver");
                let told = reports.iter().any(|report| report.kind == "race" && report.error != 0);
                assert!(outcome.is_err() && told, "{chain:?}: {reports:#?}");
            } else {
                assert!(outcome.is_ok_and(|wrong| wrong > 0), "{chain:?}: the control must fail");
            }
        }
    }
}
