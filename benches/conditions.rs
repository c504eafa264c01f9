//! Device-side decisions. Compares conjugate gradients with `while` with loops on the host and a WHILE node made by
//! hand, compares `if` and `match` with conditional nodes made by hand, and measures the bytes of mutually
//! exclusive arms.

#![allow(unsafe_code)]

mod common;
#[path = "graphs/conditions.rs"]
mod graphs;

use std::cell::RefCell;
use std::sync::Arc;

use common::hand::conditional::{IF, SETTERS, SWITCH, WHILE};
use common::hand::{self, Kernel, Module, Node, address};
use common::table::Table;
use common::{Race, Result, Setup, Until, ratio, us};
use cudarc::driver::{CudaSlice, CudaStream, PinnedHostSlice};
use cuweave::Buffer;

const PTX: &str = include_str!("kernels/conditions.ptx");

fn main() -> Result<()> {
    let setup = Setup::new()?;
    gradients(&setup)?;
    branches(&setup)?;
    own(&setup)?;
    bytes(&setup)
}

/// Compares loops by a buffer, which a kernel of cuweave reads in each iteration, with loops whose kernel sets the
/// condition.
fn own(setup: &Setup) -> Result<()> {
    let columns = [
        "iterations",
        "by a buffer, us",
        "by a condition, us",
        "an iteration less, us",
        "of by a buffer",
        "spread",
    ];
    let mut table = Table::new(setup, "conditions_own", &columns)?;
    for iterations in [0u32, 1, 10, 100, 1000] {
        let iterations = setup.scaled(iterations, iterations.min(10));
        let (ctx, stream) = (&setup.ctx, &setup.stream);
        let given = stream.clone_htod(&[iterations])?;
        let [mut x, mut y] = [stream.alloc_zeros::<u32>(1)?, stream.alloc_zeros::<u32>(1)?];
        let mut by_buffer = graphs::counted_by_buffer(ctx, &given, &mut x)?.instantiate()?;
        let mut by_condition = graphs::counted_by_condition(ctx, &given, &mut y)?.instantiate()?;
        let mut race = Race::new(Until::Synchronized, 15);
        race.ours("by a buffer", |stream| Ok(by_buffer.launch(stream).map(drop)?));
        race.ours("by a condition", |stream| Ok(by_condition.launch(stream).map(drop)?));
        let times = race.run(setup)?;
        drop((by_buffer, by_condition));
        if (stream.clone_dtoh(&x)?, stream.clone_dtoh(&y)?) != (vec![0], vec![0]) {
            return Err("a loop has not counted to 0".into());
        }
        let saved = times[0].device.saturating_sub(times[1].device) / iterations.max(1);
        let spread = times.iter().map(|times| times.spread).fold(0.0, f64::max);
        table.row(&[
            iterations.to_string(),
            us(times[0].device),
            us(times[1].device),
            us(saved),
            format!("{:.3}", ratio(times[1].device, times[0].device)),
            format!("{spread:.2}"),
        ])?;
    }
    table.finish()
}

/// The diagonal of the matrix, and the fraction of the first residual's square at which the loops end.
const DIAGONAL: f32 = 4.05;
const PART: f32 = 1e-8;

/// The buffers of a loop.
struct Vectors {
    b: CudaSlice<f32>,
    x: CudaSlice<f32>,
    r: CudaSlice<f32>,
    p: CudaSlice<f32>,
    q: CudaSlice<f32>,
    parts: [CudaSlice<f32>; 3],
    rr: CudaSlice<f32>,
    go: CudaSlice<u32>,
    turns: CudaSlice<u32>,
}

/// A grid, and the launches of an iteration made by hand.
#[derive(Clone, Copy)]
struct Grid {
    side: u32,
    blocks: u32,
    limit: f32,
}

impl Grid {
    fn n(self) -> u32 {
        self.side * self.side
    }

    fn right_side(self) -> Vec<f32> {
        (0..self.n()).map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0).collect()
    }

    fn vectors(self, stream: &Arc<CudaStream>) -> Result<Vectors> {
        let zeros = |n: u32| stream.alloc_zeros::<f32>(n as usize);
        let n = self.n();
        let vectors = Vectors {
            b: stream.clone_htod(&self.right_side())?,
            x: zeros(n)?,
            r: zeros(n)?,
            p: zeros(n)?,
            q: zeros(n)?,
            parts: [zeros(self.blocks)?, zeros(self.blocks)?, zeros(self.blocks)?],
            rr: zeros(1)?,
            go: stream.alloc_zeros(1)?,
            turns: stream.alloc_zeros(1)?,
        };
        stream.synchronize()?;
        Ok(vectors)
    }

    fn kernels(self, module: &Module) -> Result<[Kernel; 6]> {
        let names = [c"cg_start", c"cg_first", c"cg_apply", c"cg_advance", c"cg_direction", c"cg_decide"];
        let mut kernels = Vec::new();
        for (at, name) in names.into_iter().enumerate() {
            let blocks = if matches!(at, 1 | 5) { 1 } else { self.blocks };
            kernels.push(module.kernel(name, [blocks, 1, 1], [256, 1, 1])?);
        }
        kernels.try_into().map_err(|_| "six kernels".into())
    }

    /// Adds the two kernels before the loop.
    fn add_first(self, graph: &mut hand::Graph, kernels: &[Kernel; 6], v: &Vectors) -> Result<Node> {
        let [n, blocks] = [self.n(), self.blocks].map(u64::from);
        let [b, x, r, p, parts] = [&v.b, &v.x, &v.r, &v.p, &v.parts[0]].map(address);
        let start = graph.add(kernels[0], &[b, x, r, p, parts, n, blocks], &[])?;
        let [go, turns] = [&v.go, &v.turns].map(address);
        let limit = self.limit.to_bits().into();
        graph.add(kernels[1], &[parts, address(&v.rr), go, turns, limit, blocks], &[start])
    }

    /// Adds the kernels of an iteration.
    fn add_turn(
        self,
        graph: &mut hand::Graph,
        kernels: &[Kernel; 6],
        v: &Vectors,
        after: &[Node],
    ) -> Result<Node> {
        let [n, side, blocks] = [self.n(), self.side, self.blocks].map(u64::from);
        let [x, r, p, q, pq, next, rr] =
            [&v.x, &v.r, &v.p, &v.q, &v.parts[1], &v.parts[2], &v.rr].map(address);
        let diagonal = DIAGONAL.to_bits().into();
        let node = graph.add(kernels[2], &[p, q, pq, diagonal, side, n, blocks], after)?;
        let node = graph.add(kernels[3], &[x, r, p, q, rr, pq, next, n, blocks], &[node])?;
        let node = graph.add(kernels[4], &[p, r, rr, next, n, blocks], &[node])?;
        let [go, turns] = [&v.go, &v.turns].map(address);
        let limit = self.limit.to_bits().into();
        graph.add(kernels[5], &[next, rr, go, turns, limit, blocks], &[node])
    }
}

/// Conjugate gradients to a tolerance.
fn gradients(setup: &Setup) -> Result<()> {
    let columns = [
        "grid",
        "turns",
        "kernels, us a turn",
        "by `while`, us",
        "us a turn",
        "WHILE by hand",
        "host loop by hand",
        "host loop of a graph function",
        "of the best host loop",
        "of WHILE by hand",
        "spread",
    ];
    let mut table = Table::new(setup, "conditions", &columns)?;
    for side in setup.scaled(vec![32, 64, 128, 256, 512, 1_024, 2_048], vec![16, 32]) {
        let n = side * side;
        let square: f32 = Grid { side, blocks: 1, limit: 0.0 }.right_side().iter().map(|b| b * b).sum();
        let grid = Grid { side, blocks: n.div_ceil(256).min(1_056), limit: square * PART };
        let cells = solved(setup, grid)?;
        table.row(&cells)?;
    }
    table.note(
        "The host loops launch a graph a turn, which copies the residual to pinned memory, and wait for it. \
        \"kernels\": 20 turns one after the other in one graph by hand, a twentieth.",
    )?;
    table.note(
        "Goals: at most 0.8 of the best host loop where the kernels take up to 10 us a turn, at most 1.02 \
        elsewhere; at most 1.05 of WHILE by hand.",
    )?;
    table.finish()
}

fn solved(setup: &Setup, grid: Grid) -> Result<Vec<String>> {
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let Grid { side, blocks, limit } = grid;
    let (module, setters) = (Module::of(ctx, PTX)?, Module::of(ctx, SETTERS)?);
    let kernels = grid.kernels(&module)?;

    // Only the kernels.
    let alone = grid.vectors(stream)?;
    let mut graph = hand::Graph::new()?;
    let mut node = grid.add_first(&mut graph, &kernels, &alone)?;
    for _ in 0..20 {
        node = grid.add_turn(&mut graph, &kernels, &alone, &[node])?;
    }
    let twenty = graph.instantiate()?;
    let mut graph = hand::Graph::new()?;
    grid.add_first(&mut graph, &kernels, &alone)?;
    let none = graph.instantiate()?;

    // A WHILE node made by hand.
    let by_hand = grid.vectors(stream)?;
    let mut graph = hand::Graph::new()?;
    let first = grid.add_first(&mut graph, &kernels, &by_hand)?;
    let handle = graph.handle()?;
    let set = setters.single(c"set_flag")?;
    let arguments = [handle, address(&by_hand.go)];
    let front = graph.add(set, &arguments, &[first])?;
    let (_, mut bodies) = graph.add_conditional(WHILE, (handle, 1), &[front])?;
    let last = grid.add_turn(&mut bodies[0], &kernels, &by_hand, &[])?;
    bodies[0].add(set, &arguments, &[last])?;
    let whiled = graph.instantiate()?;

    // A loop on the host, made by hand.
    let hosted = grid.vectors(stream)?;
    let residual = Residual::new(setup)?;
    let mut graph = hand::Graph::new()?;
    let node = grid.add_first(&mut graph, &kernels, &hosted)?;
    graph.add_copy_to_host(address(&hosted.rr), residual.0, 4, &[node])?;
    let begin = graph.instantiate()?;
    let mut graph = hand::Graph::new()?;
    let node = grid.add_turn(&mut graph, &kernels, &hosted, &[])?;
    graph.add_copy_to_host(address(&hosted.rr), residual.0, 4, &[node])?;
    let turn = graph.instantiate()?;

    // The same loop with graph functions.
    let b = stream.clone_htod(&grid.right_side())?;
    let mut functions = HostLoop::new(setup, grid)?;

    // With `while`.
    let (mut x, mut turns) = (stream.alloc_zeros::<f32>(grid.n() as usize)?, stream.alloc_zeros::<u32>(1)?);
    let graph = graphs::solve(ctx, side, blocks, DIAGONAL, limit, &b, &mut x, &mut turns)?;
    let ours = RefCell::new(graph.instantiate()?);

    let mut race = Race::new(Until::Synchronized, 11).repeated(5);
    race.ours("while", |stream| Ok(ours.borrow_mut().launch(stream)?));
    race.by_hand("WHILE", |stream| whiled.launch(stream));
    race.by_hand("host loop", |stream| {
        begin.launch(stream)?;
        stream.synchronize()?;
        while residual.get() > limit {
            turn.launch(stream)?;
            stream.synchronize()?;
        }
        Ok(())
    });
    race.ours("host loop of graph functions", |stream| functions.solve(stream));
    race.by_hand("twenty turns", |stream| twenty.launch(stream));
    race.by_hand("no turn", |stream| none.launch(stream));
    let times = race.run(setup)?;

    drop(ours);
    let (wanted, count) = (stream.clone_dtoh(&hosted.x)?, stream.clone_dtoh(&hosted.turns)?[0]);
    let one_more = functions.results(stream)?;
    let results = [
        ("while", stream.clone_dtoh(&x)?, stream.clone_dtoh(&turns)?[0]),
        ("WHILE by hand", stream.clone_dtoh(&by_hand.x)?, stream.clone_dtoh(&by_hand.turns)?[0]),
        ("host loop of graph functions", one_more.0, one_more.1),
    ];
    for (name, x, turns) in results {
        common::agree(name, &x, &wanted)?;
        if turns != count || count == 0 {
            return Err(format!("{name}: {turns} turns, the host loop {count}").into());
        }
    }
    let best = times[2].host.min(times[3].host);
    let spread = times.iter().take(4).map(|times| times.spread).fold(0.0, f64::max);
    Ok(vec![
        format!("{side} x {side}"),
        count.to_string(),
        us(times[4].device.saturating_sub(times[5].device) / 20),
        us(times[0].host),
        us(times[0].host / count),
        us(times[1].host),
        us(times[2].host),
        us(times[3].host),
        format!("{:.3}", ratio(times[0].host, best)),
        format!("{:.3}", ratio(times[0].host, times[1].host)),
        format!("{spread:.2}"),
    ])
}

/// A word of pinned memory that a graph copies to.
struct Residual(*mut u32, #[allow(dead_code)] PinnedHostSlice<f32>);

impl Residual {
    fn new(setup: &Setup) -> Result<Residual> {
        // SAFETY: a graph writes it before it is read.
        let mut memory = unsafe { setup.ctx.alloc_pinned::<f32>(1) }?;
        Ok(Residual(memory.as_mut_ptr()?.cast(), memory))
    }

    fn get(&self) -> f32 {
        // SAFETY: the memory is alive, and the stream was synchronised.
        f32::from_bits(unsafe { self.0.read_volatile() })
    }
}

/// A loop on the host that launches two graph functions.
struct HostLoop {
    limit: f32,
    first: graphs::first::Exec<'static>,
    turn: graphs::turn::Exec<'static>,
    /// The residuals, as each of the two copies writes them.
    residuals: [*mut u32; 2],
    x: Buffer<f32>,
    turns: Buffer<u32>,
}

impl HostLoop {
    fn new(setup: &Setup, grid: Grid) -> Result<HostLoop> {
        let Grid { side, blocks, limit } = grid;
        let (ctx, stream) = (&setup.ctx, &setup.stream);
        let b = stream.clone_htod(&grid.right_side())?;
        let zeros = |n: u32| Buffer::<f32>::zeros(stream, n as usize);
        let [x, r, p, rr] = [zeros(grid.n())?, zeros(grid.n())?, zeros(grid.n())?, zeros(1)?];
        let turns = Buffer::<u32>::zeros(stream, 1)?;
        let [one, other] = [Residual::new(setup)?, Residual::new(setup)?];
        let residuals = [one.0, other.0];
        let graph = graphs::first(ctx, side, blocks, limit, b, &x, &r, &p, &rr, &turns, one.1)?;
        let first = graph.instantiate()?;
        let graph = graphs::turn(ctx, side, blocks, DIAGONAL, limit, &x, &r, &p, &rr, &turns, other.1)?;
        Ok(HostLoop { limit, first, turn: graph.instantiate()?, residuals, x, turns })
    }

    fn solve(&mut self, stream: &Arc<CudaStream>) -> Result<()> {
        self.first.launch(stream)?;
        stream.synchronize()?;
        let mut residual = self.residuals[0];
        // SAFETY: the execs own the memory, and the stream was synchronised.
        while f32::from_bits(unsafe { residual.read_volatile() }) > self.limit {
            self.turn.launch(stream)?;
            stream.synchronize()?;
            residual = self.residuals[1];
        }
        Ok(())
    }

    fn results(&self, stream: &Arc<CudaStream>) -> Result<(Vec<f32>, u32)> {
        let x = self.x.with(stream, |view| stream.clone_dtoh(&view))??;
        let turns = self.turns.with(stream, |view| stream.clone_dtoh(&view))??;
        Ok((x, turns[0]))
    }
}

/// A program of decisions: the kinds of nodes and their arms, as offsets of what a kernel adds.
struct Shape {
    name: &'static str,
    /// The arms of each decision. Each kernel is given as the number that it adds, relative to the index of the
    /// decision.
    arms: &'static [&'static [u64]],
    values: &'static [u32],
}

const SHAPES: [Shape; 3] = [
    Shape { name: "16 `if`", arms: &[&[100, 200]], values: &[0, 1] },
    Shape { name: "16 `if` with `else`", arms: &[&[100, 200], &[300]], values: &[0, 1] },
    Shape {
        name: "16 `match` of four arms",
        arms: &[&[100], &[200, 300], &[400], &[500]],
        values: &[0, 1, 3],
    },
];

/// Compares decisions with the same made by hand.
fn branches(setup: &Setup) -> Result<()> {
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let (module, setters) = (Module::of(ctx, PTX)?, Module::of(ctx, SETTERS)?);
    let columns =
        ["decisions", "blocks", "value", "nodes by hand", "ours, us", "by hand, us", "of by hand", "spread"];
    let mut table = Table::new(setup, "conditions_branches", &columns)?;
    for (shape, blocks) in SHAPES
        .iter()
        .flat_map(|shape| setup.scaled(vec![4, 512], vec![1]).into_iter().map(move |blocks| (shape, blocks)))
    {
        for &value in shape.values {
            let n = 256 * blocks;
            let kernel = module.per_item(c"tick", n)?;
            let buffers = || -> Result<(CudaSlice<u32>, CudaSlice<u32>)> {
                Ok((stream.alloc_zeros(n as usize)?, stream.clone_htod(&[value])?))
            };
            let (by_hand_x, index) = buffers()?;
            let mut graph = hand::Graph::new()?;
            let mut before: Option<Node> = None;
            for i in 0..16_u64 {
                let tick = |graph: &mut hand::Graph, by: u64, after: &[Node]| {
                    graph.add(kernel, &[address(&by_hand_x), by, n.into()], after)
                };
                let first = tick(&mut graph, i, before.as_slice())?;
                let handle = graph.handle()?;
                let arms = shape.arms.len();
                let (set, kind, arguments) = match arms {
                    4 => (c"set_index", SWITCH, vec![handle, address(&index), 3]),
                    _ => (c"set_flag", IF, vec![handle, address(&index)]),
                };
                let set = graph.add(setters.single(set)?, &arguments, &[first])?;
                let (node, mut bodies) = graph.add_conditional(kind, (handle, arms), &[set])?;
                for (body, arm) in bodies.iter_mut().zip(shape.arms) {
                    let mut inside: Option<Node> = None;
                    for by in *arm {
                        inside = Some(tick(body, by + i, inside.as_slice())?);
                    }
                }
                before = Some(node);
            }
            let size = graph.nodes;
            let exec = graph.instantiate()?;
            let (mut x, flag) = buffers()?;
            let mut race = Race::new(Until::Synchronized, 40).repeated(9);
            macro_rules! ours {
                ($function:ident) => {{
                    let mut ours = graphs::$function(ctx, n, &mut x, &flag)?.instantiate()?;
                    race.ours("ours", move |stream| Ok(ours.launch(stream)?));
                }};
            }
            match shape.arms.len() {
                1 => ours!(ifs),
                2 => ours!(if_elses),
                _ => ours!(matches),
            }
            race.by_hand("by hand", |stream| exec.launch(stream));
            let times = race.run(setup)?;
            stream.synchronize()?;
            if stream.clone_dtoh(&x)? != stream.clone_dtoh(&by_hand_x)? {
                return Err(format!("{}, value {value}: the results differ", shape.name).into());
            }
            table.row(&[
                shape.name.to_owned(),
                blocks.to_string(),
                value.to_string(),
                size.to_string(),
                us(times[0].host),
                us(times[1].host),
                format!("{:.3}", ratio(times[0].host, times[1].host)),
                format!("{:.2}", times[0].spread.max(times[1].spread)),
            ])?;
        }
    }
    table.note(
        "By hand: a setter and one node a decision: IF with one body, IF with two bodies, SWITCH of four. \
        Goal: at most 1.02.",
    )?;
    table.finish()
}

/// Measures the bytes of four arms.
fn bytes(setup: &Setup) -> Result<()> {
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let columns =
        ["experts of side", "one expert, bytes", "one of four", "separate allocations", "of separate"];
    let mut table = Table::new(setup, "conditions_bytes", &columns)?;
    for n in [64_u32, 512, 1_024] {
        let zeros = || stream.alloc_zeros::<f32>((n * n) as usize);
        let [x, up, gate, down] = [zeros()?, zeros()?, zeros()?, zeros()?];
        let one = graphs::expert(ctx, n, &x, &up, &gate, &down, zeros()?)?;
        let which = stream.clone_htod(&[2_u32])?;
        let [ups, gates, downs] = [&up, &gate, &down].map(|buffer| [buffer; 4]);
        let four = graphs::experts(ctx, n, &x, ups, gates, downs, &which, zeros()?)?;
        let [one, four] = [one.report(), four.report()];
        // Three temporaries for each expert.
        let separate = 4 * 3 * u64::from(n * n) * 4;
        table.row(&[
            n.to_string(),
            one.planned_bytes.to_string(),
            four.planned_bytes.to_string(),
            separate.to_string(),
            format!("{:.3}", four.planned_bytes as f64 / separate as f64),
        ])?;
    }
    table.note("Goals: the bytes of one expert; at most 0.3 of separate allocations.")?;
    table.finish()
}
