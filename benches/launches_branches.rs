//! Parallel branches: as written, batched, overlapped and both, compared with graphs made by hand.

#[macro_use]
mod common;
#[path = "graphs/launches/branches.rs"]
mod graphs;

use common::contest::{Contest, Start, table};
use common::hand::{Kernel, Module};
use common::table::Table;
use common::work::{Step, Work};
use common::{Result, Setup};

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let mut table = table(&setup, "launches_branches")?;
    let module = Module::load(&setup.ctx)?;
    for (blocks, goal) in setup.scaled(vec![(4, "<= 0.33"), (64, "<= 0.40")], vec![(1, "<= 0.33")]) {
        fork_join(&setup, &mut table, &module, (blocks, goal))?;
    }
    for (blocks, goal) in setup.scaled(vec![(4, "<= 0.33"), (1_000, "<= 0.80")], vec![(1, "<= 0.33")]) {
        fives(&setup, &mut table, &module, (blocks, goal))?;
    }
    let n = 256 * setup.scaled(4, 1);
    let start = Start::new(&setup, &[n as usize; 16])?;
    let tiny = module.per_item(c"tiny", n)?;
    let alone = |at: &[u64], steps| -> Result<Work> {
        let mut work = Work::new();
        for &x in at {
            work.branch(&[], vec![Step::Launch(tiny, vec![x, n.into()]); steps]);
        }
        Ok(work)
    };

    let work = ("8 chains x 64".to_owned(), "<= 0.56");
    let results: Vec<usize> = (0..8).collect();
    let mut contest = Contest::new(&setup, work, &start, &results, |at| alone(&at[..8], 64))?;
    enter_sides!(contest, chains, |own| chains(&setup.ctx, n, own.some()?), |args| args.xs);
    contest.run(&mut table)?;

    let work = ("16 independent branches x 20".to_owned(), "<= 0.35, and <= 26.7 us");
    let results: Vec<usize> = (0..16).collect();
    let mut contest = Contest::new(&setup, work, &start, &results, |at| alone(at, 20))?;
    enter_sides!(contest, branches, |own| branches(&setup.ctx, n, own.some()?), |args| args.xs);
    contest.run(&mut table)?;
    table.finish()
}

/// Rounds of 16 branches, each with a fork and some steps, and their join.
struct Rounds {
    fork: Kernel,
    step: Kernel,
    join: Kernel,
    n: u32,
}

impl Rounds {
    fn new(module: &Module, n: u32) -> Result<Rounds> {
        let kernel = |name| module.per_item(name, n);
        Ok(Rounds { fork: kernel(c"fork")?, step: kernel(c"tiny")?, join: kernel(c"join")?, n })
    }

    /// `at` holds the address of the forked buffer, then those of the branches' buffers.
    fn work(&self, at: &[u64], rounds: usize, steps: usize) -> Work {
        let n = u64::from(self.n);
        let (x, ts) = (at[0], &at[1..]);
        let mut work = Work::new();
        let mut before = Vec::new();
        for _ in 0..rounds {
            for (i, &t) in (0..).zip(ts) {
                let a = u64::from(graphs::factor(i).to_bits());
                let mut branch = vec![Step::Launch(self.fork, vec![x, t, a, n])];
                branch.resize(1 + steps, Step::Launch(self.step, vec![t, n]));
                work.branch(&before, branch);
            }
            let branches = work.next_layer();
            work.branch(&branches, vec![Step::Launch(self.join, [ts, &[x, n]].concat())]);
            before = work.next_layer();
        }
        work
    }
}

fn fork_join(
    setup: &Setup,
    table: &mut Table,
    module: &Module,
    (blocks, goal): (u32, &'static str),
) -> Result<()> {
    let n = 256 * blocks;
    let rounds = Rounds::new(module, n)?;
    let start = Start::new(setup, &[n as usize; 17])?;
    let work = (format!("fork-join 16 x 20, {blocks} blocks"), goal);
    let mut contest = Contest::new(setup, work, &start, &[0], |at| Ok(rounds.work(at, 20, 0)))?;
    enter_sides!(
        contest,
        fork_join,
        |own| fork_join(&setup.ctx, n, own.one()?, own.some()?),
        |args| [args.x]
    );
    contest.run(table)
}

fn fives(
    setup: &Setup,
    table: &mut Table,
    module: &Module,
    (blocks, goal): (u32, &'static str),
) -> Result<()> {
    let n = 256 * blocks;
    let rounds = Rounds::new(module, n)?;
    let start = Start::new(setup, &[n as usize; 17])?;
    let work = (format!("16 branches of 5 between joins, 8 times, {blocks} blocks"), goal);
    let mut contest = Contest::new(setup, work, &start, &[0], |at| Ok(rounds.work(at, 8, 4)))?;
    enter_sides!(contest, fives, |own| fives(&setup.ctx, n, own.one()?, own.some()?), |args| [args.x]);
    contest.run(table)
}
