//! Chains: as written, batched, overlapped and both, compared with graphs made by hand.

#[macro_use]
mod common;
#[path = "graphs/launches/chains.rs"]
mod graphs;

use common::contest::{Contest, Start, table};
use common::hand::{Kernel, Module};
use common::table::Table;
use common::work::{Step, Work};
use common::{Result, Setup};

const LAUNCHES: &str = include_str!("kernels/launches.ptx");

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let mut table = table(&setup, "launches_chains")?;
    let (bench, launches) = (Module::load(&setup.ctx)?, Module::of(&setup.ctx, LAUNCHES)?);
    empty(&setup, &mut table, &bench)?;
    for blocks in setup.scaled(vec![1, 2, 4, 16, 64, 264, 512, 1_056, 4_096], vec![1]) {
        small(&setup, &mut table, &bench, blocks)?;
    }
    for rows in setup.scaled(vec![1_024, 2_048, 4_096], vec![40]) {
        products(&setup, &mut table, &launches, rows)?;
    }
    temporaries(&setup, &mut table, &launches)?;
    table.finish()
}

/// A single branch with launches of one kernel.
fn chain(kernel: Kernel, count: usize, arguments: impl Fn(usize) -> Vec<u64>) -> Work {
    let mut work = Work::new();
    work.branch(&[], (0..count).map(|at| Step::Launch(kernel, arguments(at))).collect());
    work
}

fn empty(setup: &Setup, table: &mut Table, module: &Module) -> Result<()> {
    let start = Start::new(setup, &[1])?;
    let touch = module.single(c"touch")?;
    let work = ("chain of 1,000 empty kernels".to_owned(), "<= 0.82");
    let mut contest = Contest::new(setup, work, &start, &[0], |at| Ok(chain(touch, 1_000, |_| vec![at[0]])))?;
    enter_sides!(contest, empty, |own| empty(&setup.ctx, own.one()?), |args| [args.x]);
    contest.run(table)
}

fn small(setup: &Setup, table: &mut Table, module: &Module, blocks: u32) -> Result<()> {
    let n = 256 * blocks;
    let start = Start::new(setup, &[n as usize])?;
    let tiny = module.per_item(c"tiny", n)?;
    let goal = if blocks <= 64 { "<= 0.80" } else { "<= 1.00" };
    let work = (format!("chain of 500 kernels, {blocks} blocks"), goal);
    let mut contest =
        Contest::new(setup, work, &start, &[0], |at| Ok(chain(tiny, 500, |_| vec![at[0], n.into()])))?;
    enter_sides!(contest, small, |own| small(&setup.ctx, n, own.one()?), |args| [args.x]);
    contest.run(table)
}

fn products(setup: &Setup, table: &mut Table, module: &Module, n: u32) -> Result<()> {
    let rows = n as usize;
    let start = Start::new(setup, &[rows * rows, rows, rows])?;
    let matvec = module.kernel(c"matvec", [n.div_ceil(8), 1, 1], [256, 1, 1])?;
    let work = (format!("chain of 100 matrix-vector products, {n} rows"), "<= 1.00");
    let mut contest = Contest::new(setup, work, &start, &[1, 2], |at| {
        Ok(chain(matvec, 100, |turn| vec![at[0], at[1 + turn % 2], at[2 - turn % 2], n.into()]))
    })?;
    enter_sides!(
        contest,
        products,
        |own| products(&setup.ctx, n, own.one()?, own.one()?, own.one()?),
        |args| [args.x, args.y]
    );
    contest.run(table)
}

fn temporaries(setup: &Setup, table: &mut Table, module: &Module) -> Result<()> {
    let n = setup.scaled(1_024, 256);
    let len = setup.scaled(1 << 20, 1 << 12);
    let start = Start::new(setup, &[n as usize, len as usize])?;
    let kernel = module.per_item(c"workspace", n)?;
    macro_rules! lowerings {
        ($($name:ident)*) => {$({
            let work = (concat!("chain of 200, a temporary each, ", stringify!($name)).to_owned(), "<= 0.87");
            let mut contest = Contest::new(setup, work, &start, &[0], |at| {
                Ok(chain(kernel, 200, |_| vec![at[0], at[1], n.into()]))
            })?;
            enter_sides!(contest, $name, |own| $name(&setup.ctx, n, len, own.one()?), |args| [args.x]);
            contest.run(table)?;
        })*};
    }
    lowerings!(nodes arena owned);
    Ok(())
}
