//! 96 launches side by side, of one kernel on tensors of mixed sizes and of 96 different kernels: as written, batched,
//! overlapped and both, against graphs made by hand.

#[macro_use]
mod common;
mod graphs {
    #[path = "../graphs/launches/different.rs"]
    pub mod different;
    #[path = "../graphs/launches/tensors.rs"]
    pub mod tensors;
}

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

/// Three words an element go to or from memory.
fn descend(setup: &Setup, table: &mut Table, all: u32, goal: &'static str) -> Result<()> {
    use graphs::tensors as graphs;
    let module = Module::of(&setup.ctx, include_str!("kernels/tensors.ptx"))?;
    let sizes: Vec<u32> = (0..96).map(|tensor| graphs::size(tensor, all)).collect();
    let most = sizes.iter().copied().max().unwrap_or(0);
    let lens: Vec<usize> = sizes.repeat(2).into_iter().map(|size| size as usize).collect();
    let start = Start::within(setup, &lens, most as usize)?;
    let rate = 0.01_f32;
    let results: Vec<usize> = (0..96).collect();
    let name = format!("descent of 96 tensors, {:.2} million elements", f64::from(all) / 1e6);
    let mut contest = Contest::new(setup, (name, goal), &start, &results, |at| {
        let mut work = Work::new();
        for (i, &size) in sizes.iter().enumerate() {
            let kernel = module.per_item(c"descent", size)?;
            let arguments = vec![at[i], at[96 + i], rate.to_bits().into(), size.into()];
            work.branch(&[], vec![Step::Launch(kernel, arguments)]);
        }
        Ok(work)
    })?;
    one_launch(setup, &mut contest, module.per_item(c"descent", sizes.iter().sum())?, 2, rate)?;
    enter_sides!(
        contest,
        descend,
        |own| descend(&setup.ctx, all, most, rate, own.some()?, own.some()?),
        |args| args.ps
    );
    contest.run(table)
}

/// Five words an element go to or from memory.
fn update(setup: &Setup, table: &mut Table, all: u32, goal: &'static str) -> Result<()> {
    use graphs::tensors as graphs;
    let module = Module::of(&setup.ctx, include_str!("kernels/launches.ptx"))?;
    let sizes: Vec<u32> = (0..96).map(|tensor| graphs::size(tensor, all)).collect();
    let most = sizes.iter().copied().max().unwrap_or(0);
    let lens: Vec<usize> = sizes.repeat(3).into_iter().map(|size| size as usize).collect();
    let start = Start::within(setup, &lens, most as usize)?;
    let rate = 0.01_f32;
    let results: Vec<usize> = (0..192).collect();
    let name = format!("update of 96 tensors, {:.2} million elements", f64::from(all) / 1e6);
    let mut contest = Contest::new(setup, (name, goal), &start, &results, |at| {
        let mut work = Work::new();
        for (i, &size) in sizes.iter().enumerate() {
            let kernel = module.per_item(c"momentum", size)?;
            let arguments = vec![at[i], at[96 + i], at[192 + i], rate.to_bits().into(), size.into()];
            work.branch(&[], vec![Step::Launch(kernel, arguments)]);
        }
        Ok(work)
    })?;
    one_launch(setup, &mut contest, module.per_item(c"momentum", sizes.iter().sum())?, 3, rate)?;
    enter_sides!(
        contest,
        update,
        |own| update(&setup.ctx, all, most, rate, own.some()?, own.some()?, own.some()?),
        |args| args.ps.into_iter().chain(args.ms).collect::<Vec<_>>()
    );
    contest.run(table)
}

/// What the work would take if all elements were in one tensor: no merging of launches can be faster.
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
