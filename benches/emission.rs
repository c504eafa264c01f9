//! The bytes that the driver takes for graphs of memory nodes: with cuweave's order of adding nodes, with its chains of
//! frees, with both and with neither; and in one arena.
//!
//! The graphs are MiniMalloc's traces, a kernel a moment and all in one chain, and partial orders. Sizes of the traces
//! are 64 times those in the files, so that the granularity of the pool does not hide differences.
//!
//! usage: emission [FOLDER OF TRACES]

mod common;

use std::path::{Path, PathBuf};

use cuweave_core::index::{Index, Vector};
use cuweave_core::plan::nodes::{Emit, MemoryNodes, Packing, memory_nodes};
use cuweave_core::plan::{BufferIndex, BufferOrder, Effort, PlannerBuffer, Rank, antichain, plan};
use cuweave_core::reach::{Node, Reach};
use cuweave_testkit::random::Random;
use cuweave_testkit::traces;

use common::hand;
use common::table::Table;
use common::{Result, Setup};

/// The factor of the sizes of the traces.
const SCALE: u64 = 64;

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let columns = [
        "graph",
        "buffers",
        "the bound",
        "memory nodes",
        "nodes / edges",
        "addresses, expected",
        "addresses, bytes",
        "/ bound",
        "used, at most",
        "/ bound",
        "reserved, at most",
    ];
    let mut table = Table::new(&setup, "emission", &columns)?;
    let module = hand::Module::load(&setup.ctx)?;
    let kernel = module.single(c"hub")?;
    let traces = traces()?;
    if traces.is_empty() {
        table.note("MiniMalloc's traces are not here: give their folder as an argument.")?;
    }
    for (name, preds, buffers) in traces.into_iter().chain(shapes()) {
        case(&setup, &mut table, kernel, &name, &preds, &buffers)?;
    }
    table.note(
        "addresses: the bytes of the address space that allocations lie in. used, reserved: USED_MEM_HIGH and \
         RESERVED_MEM_HIGH of the device after one launch, over what they were before.",
    )?;
    table.finish()
}

type Buffers = Vector<BufferIndex, PlannerBuffer>;
type Preds = Vector<Node, Vec<Node>>;
type Case = (String, Preds, Buffers);

fn traces() -> Result<Vec<Case>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders =
        ["shared", "../shared", "../../shared"].map(|at| here.join(at).join("data/minimalloc/challenging"));
    // Cargo gives benchmarks arguments of its own.
    let given = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).map(PathBuf::from);
    let Some(folder) = given.chain(folders).find(|folder| folder.is_dir()) else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let rows = traces::read(&std::fs::read_to_string(&file)?)?;
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (preds, buffers) = on_a_chain(&rows);
        cases.push((format!("MiniMalloc {}", name.split('.').next().unwrap_or_default()), preds, buffers));
    }
    Ok(cases)
}

/// Puts a kernel between each two moments at which live ranges begin or end.
fn on_a_chain(rows: &Vector<Rank, traces::Row>) -> (Preds, Buffers) {
    let mut moments: Vec<i64> = rows.iter().flat_map(|row| [row.lower, row.upper]).collect();
    moments.sort_unstable();
    moments.dedup();
    let at = |moment: i64| moments.partition_point(|&other| other < moment);
    let buffers = rows
        .iter()
        .map(|row| {
            let mut users = vec![Node::new(at(row.lower)), Node::new(at(row.upper) - 1)];
            users.dedup();
            PlannerBuffer { size: row.size * SCALE, align: 256, users, ..PlannerBuffer::default() }
        })
        .collect();
    let kernels = moments.len().saturating_sub(1);
    ((0..kernels).map(|v| v.checked_sub(1).map(Node::new).into_iter().collect()).collect(), buffers)
}

/// Returns from half to two MiB.
fn size(random: &mut Random) -> u64 {
    (512 << 10) + 256 * random.below(6_145_u64)
}

/// Partial orders in which each kernel writes a buffer that others read.
fn shapes() -> Vec<Case> {
    let mut random = Random::from_state(0x9e37_79b9_7f4a_7c15);
    let mut cases = Vec::new();
    let mut case = |name: &str, preds: Vec<Vec<usize>>, random: &mut Random| {
        let preds: Preds = preds.into_iter().map(|list| list.into_iter().map(Node::new).collect()).collect();
        let mut readers = Vector::filled(Vec::new(), preds.len());
        for (v, preds) in preds.enumerate() {
            preds.iter().for_each(|&p| readers[p].push(v));
        }
        let buffers = readers
            .enumerate()
            .map(|(v, users)| {
                let mut users = users.clone();
                users.push(v);
                PlannerBuffer { size: size(random), align: 256, users, ..PlannerBuffer::default() }
            })
            .collect();
        cases.push((name.to_owned(), preds, buffers));
    };
    let chains = (0..256usize).map(|v| v.checked_sub(8).into_iter().collect()).collect();
    case("8 chains x 32", chains, &mut random);
    let fork_join = (0..340usize)
        .map(|v| match (v / 17, v % 17) {
            (round, 16) => (17 * round..17 * round + 16).collect(),
            (0, _) => Vec::new(),
            (round, _) => vec![17 * round - 1],
        })
        .collect();
    case("fork-join 16 x 20", fork_join, &mut random);
    let mut layers: Vec<Vec<usize>> = Vec::new();
    for v in 0..320usize {
        let layer = (v / 16).checked_sub(1);
        layers.push(layer.map_or(Vec::new(), |layer| {
            let mut preds: Vec<usize> = (0..3).map(|_| 16 * layer + random.below(16_usize)).collect();
            preds.sort_unstable();
            preds.dedup();
            preds
        }));
    }
    case("20 layers of 16, random", layers, &mut random);
    let butterflies = (0..8 * 24usize)
        .map(|v| match v.checked_sub(8) {
            None => Vec::new(),
            Some(before) => vec![before, before ^ (1 << (v / 8 % 3))],
        })
        .collect();
    case("butterflies 8 x 24", butterflies, &mut random);
    cases
}

/// One graph, in every way.
fn case(
    setup: &Setup,
    table: &mut Table,
    kernel: hand::Kernel,
    name: &str,
    preds: &Preds,
    buffers: &Buffers,
) -> Result<()> {
    let reach = Reach::of(preds).map_err(|_| "the graph has a cycle")?;
    let order = BufferOrder::of(&reach, buffers);
    let sizes = buffers.iter().map(|buffer| buffer.size).collect();
    let bound = antichain(&order, &sizes).bytes;
    let ours = memory_nodes(&reach, buffers, &order);
    let program = reach.topological().as_slice().to_vec();
    let all = all_before(&order);
    let random = |seed: u64| MemoryNodes { emission: shuffled(&reach, &order, &ours, seed), ..ours.clone() };
    let ways = [
        (
            "no edges for reuse, program order",
            MemoryNodes { emission: emission(&program, &order), ..bare(buffers) },
        ),
        (
            "an edge from each last free, program order",
            MemoryNodes { alloc_after: all, emission: emission(&program, &order), ..bare(buffers) },
        ),
        (
            "cuweave's edges, allocs first",
            MemoryNodes { emission: ranked(&reach, &order, &ours, [1, 2, 0]), ..ours.clone() },
        ),
        (
            "cuweave's edges, allocs last",
            MemoryNodes { emission: ranked(&reach, &order, &ours, [2, 1, 0]), ..ours.clone() },
        ),
        ("cuweave's edges, a random order", random(1)),
        ("cuweave's edges, another random order", random(2)),
        ("cuweave's edges, a third random order", random(3)),
        ("cuweave", ours.clone()),
    ];
    for (way, nodes) in ways {
        let measured = measure(setup, kernel, &reach, buffers, &order, &nodes)?;
        let expected = match (way, ours.packing.arbitrary) {
            ("cuweave", false) => ours.packing.bytes.to_string(),
            ("cuweave", true) => format!("about {}", ours.packing.bytes),
            _ => String::new(),
        };
        row(table, (name, buffers.len(), bound), way, &measured, expected)?;
    }
    let planned = plan(&reach, buffers, Effort::Default)?;
    let arena = PlannerBuffer { size: planned.total, align: 256, users: program, ..PlannerBuffer::default() };
    let arena = vec![arena].into();
    let order = BufferOrder::of(&reach, &arena);
    let nodes = memory_nodes(&reach, &arena, &order);
    let measured = measure(setup, kernel, &reach, &arena, &order, &nodes)?;
    row(table, (name, buffers.len(), bound), "one arena", &measured, planned.total.to_string())
}

fn row(
    table: &mut Table,
    (name, buffers, bound): (&str, usize, u64),
    way: &str,
    measured: &Measured,
    expected: String,
) -> Result<()> {
    let over = |bytes: u64| format!("{:.3}", bytes as f64 / bound.max(1) as f64);
    table.row(&[
        name.to_owned(),
        buffers.to_string(),
        bound.to_string(),
        way.to_owned(),
        measured.size.clone(),
        expected,
        measured.addresses.to_string(),
        over(measured.addresses),
        measured.used.to_string(),
        over(measured.used),
        measured.reserved.to_string(),
    ])
}

/// No edges between memory nodes, and no order yet.
fn bare(buffers: &Buffers) -> MemoryNodes {
    let none = Vector::filled(Vec::new(), buffers.len());
    MemoryNodes {
        alloc_after: none.clone(),
        free_after: none,
        emission: Vec::new(),
        packing: Packing::default(),
    }
}

/// Returns for each buffer its direct predecessors in the order of buffers.
fn all_before(order: &BufferOrder) -> Vector<BufferIndex, Vec<BufferIndex>> {
    let last = |c: BufferIndex| {
        let before: Vec<BufferIndex> = order.all_before(c).collect();
        let is_last = |&&b: &&BufferIndex| !before.iter().any(|&other| order.before(b, other));
        before.iter().filter(is_last).copied().collect()
    };
    order.begins.ids().map(last).collect()
}

/// Allocs right before, and frees right behind, the first and the last of their kernels.
fn emission(nodes: &[Node], order: &BufferOrder) -> Vec<Emit> {
    let mut begun = Vector::filled(false, order.len());
    let mut waits: Vector<BufferIndex, usize> = order.ends.iter().map(Vec::len).collect();
    let mut list = Vec::new();
    let mut begins: Vector<Node, Vec<BufferIndex>> = Vector::filled(Vec::new(), nodes.len());
    let mut ends: Vector<Node, Vec<BufferIndex>> = Vector::filled(Vec::new(), nodes.len());
    for b in begun.ids() {
        order.begins[b].iter().for_each(|&v| begins[v].push(b));
        order.ends[b].iter().for_each(|&v| ends[v].push(b));
    }
    for &v in nodes {
        for &b in &begins[v] {
            if !std::mem::replace(&mut begun[b], true) {
                list.push(Emit::Alloc(b));
            }
        }
        list.push(Emit::Node(v));
        for &b in &ends[v] {
            waits[b] -= 1;
            if waits[b] == 0 {
                list.push(Emit::Free(b));
            }
        }
    }
    list
}

/// Returns the dependencies of a node of the list: kernels, then allocs, then frees.
fn after(emit: Emit, reach: &Reach, order: &BufferOrder, nodes: &MemoryNodes) -> Vec<Emit> {
    match emit {
        Emit::Alloc(c) => nodes.alloc_after[c].iter().map(|&b| Emit::Free(b)).collect(),
        Emit::Node(v) => {
            let begins = order.begins.ids().filter(|&b| order.begins[b].contains(&v));
            let preds = reach.reduced()[v].iter().map(|&p| Emit::Node(p));
            preds.chain(begins.map(Emit::Alloc)).collect()
        }
        Emit::Free(b) => {
            let ends = order.ends[b].iter().map(|&v| Emit::Node(v));
            ends.chain(nodes.free_after[b].iter().map(|&a| Emit::Free(a))).collect()
        }
    }
}

/// Returns a random order that the edges allow.
fn shuffled(reach: &Reach, order: &BufferOrder, nodes: &MemoryNodes, seed: u64) -> Vec<Emit> {
    let mut random = Random::from_state(0x2545_f491_4f6c_dd1d * seed);
    picked(reach, order, nodes, |ready| random.below(ready.len()))
}

/// Returns the list schedule by the rank of the kind (allocs, kernels, frees), then by number.
fn ranked(reach: &Reach, order: &BufferOrder, nodes: &MemoryNodes, ranks: [u8; 3]) -> Vec<Emit> {
    picked(reach, order, nodes, |ready| {
        let rank = |emit: Emit| (ranks[usize::from(key(emit).0)], key(emit).1);
        (0..ready.len()).min_by_key(|&at| rank(ready[at])).unwrap_or(0)
    })
}

fn picked(
    reach: &Reach,
    order: &BufferOrder,
    nodes: &MemoryNodes,
    mut pick: impl FnMut(&[Emit]) -> usize,
) -> Vec<Emit> {
    let waits_for: Vec<Vec<Emit>> =
        nodes.emission.iter().map(|&emit| after(emit, reach, order, nodes)).collect();
    let mut left: Vec<usize> = (0..nodes.emission.len()).collect();
    let mut there: Vec<Emit> = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    while !left.is_empty() {
        let ready: Vec<usize> = (0..left.len())
            .filter(|&at| waits_for[left[at]].iter().all(|&emit| known.contains(&key(emit))))
            .collect();
        if ready.is_empty() {
            break;
        }
        let choice: Vec<Emit> = ready.iter().map(|&at| nodes.emission[left[at]]).collect();
        let emit = nodes.emission[left.swap_remove(ready[pick(&choice)])];
        known.insert(key(emit));
        there.push(emit);
    }
    there
}

fn key(emit: Emit) -> (u8, usize) {
    match emit {
        Emit::Alloc(b) => (0, b.index()),
        Emit::Node(v) => (1, v.index()),
        Emit::Free(b) => (2, b.index()),
    }
}

struct Measured {
    size: String,
    addresses: u64,
    used: u64,
    reserved: u64,
}

/// Builds the graph, launches it once, and asks the driver.
fn measure(
    setup: &Setup,
    kernel: hand::Kernel,
    reach: &Reach,
    buffers: &Buffers,
    order: &BufferOrder,
    nodes: &MemoryNodes,
) -> Result<Measured> {
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    stream.synchronize()?;
    cuweave::memory::trim_graph_pool(ctx)?;
    cuweave::memory::reset_graph_pool_high(ctx)?;
    let before = cuweave::memory::graph_pool(ctx)?;
    let mut graph = hand::Graph::new()?;
    let mut made: std::collections::BTreeMap<(u8, usize), hand::Node> = std::collections::BTreeMap::new();
    let mut ranges = Vector::filled((0, 0), buffers.len());
    for &emit in &nodes.emission {
        let after: Vec<hand::Node> = after(emit, reach, order, nodes)
            .into_iter()
            .filter_map(|emit| made.get(&key(emit)).copied())
            .collect();
        let node = match emit {
            Emit::Alloc(b) => {
                let size = buffers[b].size;
                let (node, address) = graph.add_alloc(size, &after)?;
                ranges[b] = (address, address + size);
                node
            }
            Emit::Node(_) => graph.add(kernel, &[], &after)?,
            Emit::Free(b) => graph.add_free(ranges[b].0, &after)?,
        };
        made.insert(key(emit), node);
    }
    let size = graph.size();
    let exec = graph.instantiate()?;
    exec.launch(stream)?;
    stream.synchronize()?;
    let memory = cuweave::memory::graph_pool(ctx)?;
    Ok(Measured {
        size,
        addresses: covered(ranges.into()),
        used: memory.used_high.saturating_sub(before.used),
        reserved: memory.reserved_high.saturating_sub(before.reserved),
    })
}

/// Returns the number of bytes in the union of ranges.
fn covered(mut ranges: Vec<(u64, u64)>) -> u64 {
    ranges.sort_unstable();
    let (mut end, mut bytes) = (0, 0);
    for (from, to) in ranges {
        bytes += to.max(end) - from.max(end).min(to.max(end));
        end = end.max(to);
    }
    bytes
}
