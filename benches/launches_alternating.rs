//! Chains of long and short kernels that are out of phase: as written, batched, overlapped and both, compared with
//! graphs made by hand. Where nothing is gained, nothing may be lost.

#[macro_use]
mod common;
#[path = "graphs/launches/alternating.rs"]
mod graphs;

use common::contest::{Contest, Start, table};
use common::hand::Module;
use common::table::Table;
use common::work::{Step, Work};
use common::{Result, Setup};

const GOAL: &str = "<= 1.02";
const RESULTS: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
const LAUNCHES: &str = include_str!("kernels/launches.ptx");

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let mut table = table(&setup, "launches_alternating")?;
    // The long kernels take much longer than a launch, about 10 us.
    let counts = setup.scaled([4_000, 20], [6, 2]);
    for blocks in setup.scaled(vec![4, 64], vec![1]) {
        by_scalar(&setup, &mut table, blocks, counts)?;
        by_memory(&setup, &mut table, blocks, counts)?;
        by_kernel(&setup, &mut table, blocks, counts[0])?;
    }
    by_grid(&setup, &mut table, setup.scaled([1 << 20, 1 << 10], [1 << 9, 1 << 8]))?;
    table.finish()
}

/// Returns 8 chains. `step` returns step k of chain i.
fn eight(mut step: impl FnMut(usize, usize) -> Result<Step>) -> Result<Work> {
    let mut work = Work::new();
    for chain in 0..8 {
        work.branch(&[], (0..32).map(|at| step(chain, at)).collect::<Result<_>>()?);
    }
    Ok(work)
}

/// Returns the iterations of a chain's kernel at a step, given the chain, the step, and the long and the short
/// count.
type Pattern = fn(u32, u32, [u32; 2]) -> u32;

fn by_scalar(setup: &Setup, table: &mut Table, blocks: u32, counts: [u32; 2]) -> Result<()> {
    let module = Module::of(&setup.ctx, LAUNCHES)?;
    let n = 256 * blocks;
    let start = Start::new(setup, &[n as usize; 8])?;
    let turns = module.per_item(c"turns", n)?;
    let by_hand = |pattern: Pattern, at: &[u64]| {
        eight(|chain, step| {
            let count = pattern(chain as u32, step as u32, counts);
            Ok(Step::Launch(turns, vec![at[chain], count.into(), n.into()]))
        })
    };
    let work = (format!("8 chains, long and short by a scalar, {blocks} blocks"), GOAL);
    let mut contest = Contest::new(setup, work, &start, &RESULTS, |at| by_hand(graphs::every_other, at))?;
    enter_sides!(
        contest,
        by_scalar,
        |own| by_scalar(&setup.ctx, n, counts[0], counts[1], own.some()?),
        |args| args.xs
    );
    contest.run(table)?;

    let work = (format!("8 chains, long and short without a pattern, {blocks} blocks"), GOAL);
    let mut contest = Contest::new(setup, work, &start, &RESULTS, |at| by_hand(graphs::irregular, at))?;
    enter_sides!(
        contest,
        irregularly,
        |own| irregularly(&setup.ctx, n, counts[0], counts[1], own.some()?),
        |args| args.xs
    );
    contest.run(table)
}

fn by_memory(setup: &Setup, table: &mut Table, blocks: u32, counts: [u32; 2]) -> Result<()> {
    let module = Module::of(&setup.ctx, LAUNCHES)?;
    let n = 256 * blocks;
    let start = Start::new(setup, &[n as usize; 8])?;
    let turns = module.per_item(c"turns_from", n)?;
    let stored = counts.map(|count| setup.stream.clone_htod(&[count as f32]));
    let [long, short] = stored;
    let (long, short) = (&long?, &short?);
    let stored = [long, short].map(crate::common::hand::address);
    let work = (format!("8 chains, long and short by what is in memory, {blocks} blocks"), GOAL);
    let mut contest = Contest::new(setup, work, &start, &RESULTS, |at| {
        eight(|chain, step| Ok(Step::Launch(turns, vec![at[chain], stored[(chain + step) % 2], n.into()])))
    })?;
    enter_sides!(contest, by_memory, |own| by_memory(&setup.ctx, n, [long, short], own.some()?), |args| args
        .xs);
    contest.run(table)
}

fn by_kernel(setup: &Setup, table: &mut Table, blocks: u32, count: u32) -> Result<()> {
    let (module, bench) = (Module::of(&setup.ctx, LAUNCHES)?, Module::load(&setup.ctx)?);
    let n = 256 * blocks;
    let start = Start::new(setup, &[n as usize; 8])?;
    let (long, short) = (module.per_item(c"turns", n)?, bench.per_item(c"tiny", n)?);
    let work = (format!("8 chains, a long kernel and a short one, {blocks} blocks"), GOAL);
    let mut contest = Contest::new(setup, work, &start, &RESULTS, |at| {
        eight(|chain, step| {
            let x = at[chain];
            Ok(match (chain + step) % 2 {
                0 => Step::Launch(long, vec![x, count.into(), n.into()]),
                _ => Step::Launch(short, vec![x, n.into()]),
            })
        })
    })?;
    enter_sides!(contest, by_kernel, |own| by_kernel(&setup.ctx, n, count, own.some()?), |args| args.xs);
    contest.run(table)
}

fn by_grid(setup: &Setup, table: &mut Table, ns: [u32; 2]) -> Result<()> {
    let module = Module::load(&setup.ctx)?;
    let most = ns[0].max(ns[1]);
    let start = Start::new(setup, &[most as usize; 8])?;
    let work = (format!("8 chains, {} and {} blocks in turn", ns[0] / 256, ns[1] / 256), GOAL);
    let mut contest = Contest::new(setup, work, &start, &RESULTS, |at| {
        eight(|chain, step| {
            let n = graphs::every_other(chain as u32, step as u32, ns);
            Ok(Step::Launch(module.per_item(c"tiny", n)?, vec![at[chain], n.into()]))
        })
    })?;
    enter_sides!(contest, by_grid, |own| by_grid(&setup.ctx, most, ns[0], ns[1], own.some()?), |args| args
        .xs);
    contest.run(table)
}
