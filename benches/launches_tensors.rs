//! 96 parallel launches, of one kernel on tensors of different sizes and of 96 different kernels: as written,
//! batched, overlapped and both, compared with graphs made by hand.

#[macro_use]
mod common;
mod graphs {
    #[path = "../graphs/launches/different.rs"]
    pub mod different;
    #[path = "../graphs/launches/tensors.rs"]
    pub mod tensors;
}

use std::ffi::CStr;

use common::contest::{Contest, Start, table};
use common::hand::{self, Kernel, Module};
use common::table::Table;
use common::work::{Step, Work};
use common::{Result, Setup};

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let mut table = table(&setup, "launches_tensors")?;
    let updates = vec![
        (300_000, "<= 0.36"),
        (1_200_000, "<= 0.48"),
        (4_800_000, "<= 0.68"),
        (19_000_000, "<= 1.02"),
        (42_600_000, "<= 1.02"),
    ];
    for (all, goal) in setup.scaled(updates, vec![(30_000, "<= 0.36")]) {
        descend(&setup, &mut table, all, goal)?;
        update(&setup, &mut table, all, goal)?;
    }
    for blocks in setup.scaled(vec![12, 49, 195, 776], vec![1]) {
        different(&setup, &mut table, blocks)?;
    }
    table.finish()
}

/// Three words per element are read from or written to memory.
fn descend(setup: &Setup, table: &mut Table, all: u32, goal: &'static str) -> Result<()> {
    use graphs::tensors as graphs;
    let module = Module::of(&setup.ctx, include_str!("kernels/tensors.ptx"))?;
    let (sizes @ [a, b, c, d], rate) = (graphs::sizes(all), 0.01_f32);
    let start = Start::new(setup, &lengths(sizes).repeat(2))?;
    let name = format!("descent of 96 tensors, {:.2} million elements", f64::from(all) / 1e6);
    let mut contest = by_hand(setup, (name, goal), (&module, c"descent", rate), sizes, &start, 2)?;
    enter_sides!(
        contest,
        descend,
        |own| descend(
            &setup.ctx,
            a,
            b,
            c,
            d,
            rate,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
        ),
        |args| args.pa.into_iter().chain(args.pb).chain(args.pc).chain(args.pd).collect::<Vec<_>>()
    );
    contest.run(table)
}

/// Five words per element are read from or written to memory.
fn update(setup: &Setup, table: &mut Table, all: u32, goal: &'static str) -> Result<()> {
    use graphs::tensors as graphs;
    let module = Module::of(&setup.ctx, include_str!("kernels/launches.ptx"))?;
    let (sizes @ [a, b, c, d], rate) = (graphs::sizes(all), 0.01_f32);
    let start = Start::new(setup, &lengths(sizes).repeat(3))?;
    let name = format!("update of 96 tensors, {:.2} million elements", f64::from(all) / 1e6);
    let mut contest = by_hand(setup, (name, goal), (&module, c"momentum", rate), sizes, &start, 3)?;
    enter_sides!(
        contest,
        update,
        |own| update(
            &setup.ctx,
            a,
            b,
            c,
            d,
            rate,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
        ),
        |args| {
            let ps = args.pa.into_iter().chain(args.pb).chain(args.pc).chain(args.pd);
            ps.chain(args.ma).chain(args.mb).chain(args.mc).chain(args.md).collect::<Vec<_>>()
        }
    );
    contest.run(table)
}

/// Returns a contest with the hand-written launches. The kernel takes `buffers` buffers per tensor, and only reads
/// the last.
fn by_hand<'a>(
    setup: &'a Setup,
    work: (String, &'static str),
    (module, name, rate): (&Module, &CStr, f32),
    sizes: [u32; 4],
    start: &'a Start,
    buffers: usize,
) -> Result<Contest<'a>> {
    let lens = lengths(sizes);
    let results: Vec<usize> = (0..96 * (buffers - 1)).collect();
    let mut contest = Contest::new(setup, work, start, &results, |at| {
        let mut work = Work::new();
        for i in as_they_follow() {
            let kernel = module.per_item(name, lens[i] as u32)?;
            let mut arguments: Vec<u64> = (0..buffers).map(|buffer| at[96 * buffer + i]).collect();
            arguments.extend([u64::from(rate.to_bits()), lens[i] as u64]);
            work.branch(&[], vec![Step::Launch(kernel, arguments)]);
        }
        Ok(work)
    })?;
    let elements = lens.iter().sum::<usize>() as u32;
    one_launch(setup, &mut contest, module.per_item(name, elements)?, buffers, rate)?;
    Ok(contest)
}

/// Returns the lengths of the tensors, grouped by size.
fn lengths([a, b, c, d]: [u32; 4]) -> Vec<usize> {
    [vec![a; 24], vec![b; 24], vec![c; 12], vec![d; 36]].concat().into_iter().map(|n| n as usize).collect()
}

/// Returns the index of each tensor in that list, in the order of the program.
fn as_they_follow() -> impl Iterator<Item = usize> {
    let mut next = [0, 24, 48, 60];
    (0..12).flat_map(|_| graphs::tensors::LAYER).map(move |size| {
        next[size] += 1;
        next[size] - 1
    })
}

/// Adds the work with all elements in one tensor, which is a lower bound for any batching.
fn one_launch<'a>(
    setup: &'a Setup,
    contest: &mut Contest<'a>,
    kernel: Kernel,
    buffers: usize,
    rate: f32,
) -> Result<()> {
    let n = kernel.grid[0] * kernel.block[0];
    let memory = (0..buffers).map(|_| Ok(setup.stream.alloc_zeros::<f32>(n as usize)?));
    let memory = memory.collect::<Result<Vec<_>>>()?;
    let mut arguments: Vec<u64> = memory.iter().map(hand::address).collect();
    arguments.extend([u64::from(rate.to_bits()), u64::from(n)]);
    let mut graph = hand::Graph::new()?;
    graph.add(kernel, &arguments, &[])?;
    let (size, exec) = (graph.size(), graph.instantiate()?);
    contest.beside("one tensor of all elements, by hand", size, move |stream| {
        let _ = &memory;
        exec.launch(stream)
    });
    Ok(())
}

fn different(setup: &Setup, table: &mut Table, blocks: u32) -> Result<()> {
    use graphs::different as graphs;
    let module = Module::of(&setup.ctx, include_str!("kernels/different.ptx"))?;
    let n = 256 * blocks;
    let start = Start::new(setup, &[n as usize; 96])?;
    let results: Vec<usize> = (0..96).collect();
    let goal = if blocks == 12 { "<= 1.02, and <= 0.42 of all" } else { "<= 1.02" };
    let work = (format!("96 different kernels, {blocks} blocks each"), goal);
    let mut contest = Contest::new(setup, work, &start, &results, |at| {
        let mut work = Work::new();
        for (name, &x) in graphs::DIFFERENT.iter().zip(at) {
            work.branch(&[], vec![Step::Launch(module.per_item(name, n)?, vec![x, n.into()])]);
        }
        Ok(work)
    })?;
    enter_sides!(contest, all_different, |own| all_different(&setup.ctx, n, own.some()?), |args| args.xs);
    contest.run(table)
}
