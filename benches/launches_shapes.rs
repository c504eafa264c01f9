//! Shapes without a goal in any table: different grids, three dimensions, shared memory, trees, diagonals, a
//! straggler. As written, batched, overlapped and both, compared with graphs made by hand: none may be slower.

#[macro_use]
mod common;
#[path = "graphs/launches/shapes.rs"]
mod graphs;

use common::contest::{Contest, Start, table};
use common::hand::{Kernel, Module};
use common::table::Table;
use common::work::{Step, Work};
use common::{Result, Setup};

const GOAL: &str = "<= 1.02";
const LAUNCHES: &str = include_str!("kernels/launches.ptx");

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let mut table = table(&setup, "launches_shapes")?;
    let bench = Module::load(&setup.ctx)?;
    let launches = Module::of(&setup.ctx, LAUNCHES)?;
    for blocks in setup.scaled(vec![2, 32], vec![1]) {
        unequal(&setup, &mut table, &bench, blocks)?;
    }
    straggler(&setup, &mut table, &bench, &launches)?;
    for side in setup.scaled(vec![16, 32, 64], vec![8]) {
        boxes(&setup, &mut table, &launches, side)?;
    }
    for (blocks, count) in setup.scaled(vec![(16, 100), (66, 100), (264, 100), (33, 1_000)], vec![(1, 3)]) {
        lines(&setup, &mut table, &launches, 16, (blocks, count))?;
    }
    for (blocks, count) in setup.scaled(vec![(66, 100), (264, 100), (132, 1_000)], vec![(1, 3)]) {
        lines(&setup, &mut table, &launches, 4, (blocks, count))?;
    }
    heads(&setup, &mut table, &launches)?;
    for blocks in setup.scaled(vec![4, 64], vec![1]) {
        tree(&setup, &mut table, (&bench, &launches), blocks)?;
        diagonals(&setup, &mut table, &launches, blocks)?;
    }
    table.finish()
}

/// 16 branches and their join. `branch` returns branch i.
fn rounds(
    (at, count): (&[u64], usize),
    (join, n): (Kernel, u32),
    mut branch: impl FnMut(u32, u64) -> Result<Vec<Step>>,
) -> Result<Work> {
    let (x, ts) = (at[0], &at[1..]);
    let mut work = Work::new();
    let mut before = Vec::new();
    for _ in 0..count {
        for (i, &t) in (0..).zip(ts) {
            work.branch(&before, branch(i, t)?);
        }
        let branches = work.next_layer();
        work.branch(&branches, vec![Step::Launch(join, [ts, &[x, n.into()]].concat())]);
        before = work.next_layer();
    }
    Ok(work)
}

fn unequal(setup: &Setup, table: &mut Table, module: &Module, blocks: u32) -> Result<()> {
    let most = 16 * 256 * blocks;
    let n = graphs::share(0, most);
    let start = Start::new(setup, &[most as usize; 17])?;
    let join = module.per_item(c"join", n)?;
    let work = (format!("fork-join 16 x 20, {blocks} to {} blocks", 16 * blocks), GOAL);
    let mut contest = Contest::new(setup, work, &start, &[0], |at| {
        rounds((at, 20), (join, n), |i, t| {
            let n = graphs::share(i, most);
            let arguments = vec![at[0], t, graphs::factor(i).to_bits().into(), n.into()];
            Ok(vec![Step::Launch(module.per_item(c"fork", n)?, arguments)])
        })
    })?;
    enter_sides!(contest, unequal, |own| unequal(&setup.ctx, most, own.one()?, own.some()?), |args| [args.x]);
    contest.run(table)
}

fn straggler(setup: &Setup, table: &mut Table, module: &Module, launches: &Module) -> Result<()> {
    let n = 256 * setup.scaled(4, 1);
    let (long, short) = setup.scaled((4_000, 20), (6, 2));
    let start = Start::new(setup, &[n as usize; 17])?;
    let (fork, join) = (module.per_item(c"fork", n)?, module.per_item(c"join", n)?);
    let turns = launches.per_item(c"turns", n)?;
    let work = ("16 branches of 5, one of long kernels, joined 8 times".to_owned(), GOAL);
    let mut contest = Contest::new(setup, work, &start, &[0], |at| {
        rounds((at, 8), (join, n), |i, t| {
            let count = graphs::first_is_long(i, long, short);
            let arguments = vec![at[0], t, graphs::factor(i).to_bits().into(), n.into()];
            let mut branch = vec![Step::Launch(fork, arguments)];
            branch.resize(5, Step::Launch(turns, vec![t, count.into(), n.into()]));
            Ok(branch)
        })
    })?;
    enter_sides!(
        contest,
        straggler,
        |own| straggler(&setup.ctx, n, long, short, own.one()?, own.some()?),
        |args| [args.x]
    );
    contest.run(table)
}

fn boxes(setup: &Setup, table: &mut Table, module: &Module, n: u32) -> Result<()> {
    let start = Start::new(setup, &[(n * n * n) as usize; 24])?;
    let grid = [n.div_ceil(8), n.div_ceil(8), n.div_ceil(4)];
    let diffuse = module.kernel(c"diffuse", grid, [8, 8, 4])?;
    let results: Vec<usize> = (0..12).collect();
    let blocks: u32 = grid.iter().product();
    let work = (format!("12 chains of 10 in three dimensions, {blocks} blocks"), GOAL);
    let mut contest = Contest::new(setup, work, &start, &results, |at| {
        let mut work = Work::new();
        for (&u, &v) in at[..12].iter().zip(&at[12..]) {
            let step = |from, to| Step::Launch(diffuse, vec![from, to, n.into()]);
            work.branch(&[], [step(u, v), step(v, u)].iter().cloned().cycle().take(10).collect());
        }
        Ok(work)
    })?;
    enter_sides!(contest, boxes, |own| boxes(&setup.ctx, n, own.some()?, own.some()?), |args| args.us);
    contest.run(table)
}

fn lines(
    setup: &Setup,
    table: &mut Table,
    module: &Module,
    chains: usize,
    (blocks, count): (u32, u32),
) -> Result<()> {
    let n = 256 * blocks;
    let start = Start::new(setup, &vec![n as usize; chains])?;
    let turns = module.per_item(c"turns", n)?;
    let work = (format!("{chains} chains of 20 kernels with {count} turns, {blocks} blocks"), GOAL);
    let results: Vec<usize> = (0..chains).collect();
    let mut contest = Contest::new(setup, work, &start, &results, |at| {
        let mut work = Work::new();
        for &x in at {
            work.branch(&[], vec![Step::Launch(turns, vec![x, count.into(), n.into()]); 20]);
        }
        Ok(work)
    })?;
    if chains == 4 {
        enter_sides!(contest, few_lines, |own| few_lines(&setup.ctx, n, count, own.some()?), |args| args.xs);
    } else {
        enter_sides!(contest, lines, |own| lines(&setup.ctx, n, count, own.some()?), |args| args.xs);
    }
    contest.run(table)
}

fn heads(setup: &Setup, table: &mut Table, module: &Module) -> Result<()> {
    let n: u32 = setup.scaled(64, 16);
    let start = Start::new(setup, &[(n * n) as usize; 32])?;
    let matmul = module.kernel(c"matmul", [n.div_ceil(16), n.div_ceil(16), 1], [16, 16, 1])?;
    let mut softmax = module.kernel(c"softmax", [n, 1, 1], [64, 1, 1])?;
    softmax.shared = 4 * n;
    let results: Vec<usize> = (8..16).chain(24..32).collect();
    let work = ("8 heads of 24 kernels with shared memory".to_owned(), GOAL);
    let mut contest = Contest::new(setup, work, &start, &results, |at| {
        let mut work = Work::new();
        for i in 0..8 {
            let (k, q, s, o) = (at[i], at[8 + i], at[16 + i], at[24 + i]);
            let product = |a, b, c| Step::Launch(matmul, vec![a, b, c, n.into()]);
            let weights = Step::Launch(softmax, vec![s, n.into(), n.into()]);
            let turn = [
                product(q, k, s),
                weights.clone(),
                product(s, q, o),
                product(o, k, s),
                weights,
                product(s, o, q),
            ];
            work.branch(&[], turn.iter().cloned().cycle().take(24).collect());
        }
        Ok(work)
    })?;
    enter_sides!(
        contest,
        heads,
        |own| heads(&setup.ctx, n, own.some()?, own.some()?, own.some()?, own.some()?),
        |args| args.qs.into_iter().chain(args.os).collect::<Vec<_>>()
    );
    contest.run(table)
}

fn tree(setup: &Setup, table: &mut Table, modules: (&Module, &Module), blocks: u32) -> Result<()> {
    let n = 256 * blocks;
    let start = Start::new(setup, &[n as usize; 63])?;
    let (fork, mean) = (modules.0.per_item(c"fork", n)?, modules.1.per_item(c"mean", n)?);
    let work = (format!("trees of 32 leaves, 10 times, {blocks} blocks"), GOAL);
    let mut contest = Contest::new(setup, work, &start, &[0], |at| {
        let mut work = Work::new();
        let mut before = Vec::new();
        for _ in 0..10 {
            for (i, &leaf) in (0..).zip(&at[1..33]) {
                let arguments = vec![at[0], leaf, graphs::factor(i).to_bits().into(), n.into()];
                work.branch(&before, vec![Step::Launch(fork, arguments)]);
            }
            let (mut below, mut made) = (work.next_layer(), &at[1..]);
            while below.len() > 1 {
                let (from, rest) = made.split_at(below.len());
                for (i, two) in from.chunks(2).enumerate() {
                    let to = rest.get(i).copied().unwrap_or(at[0]);
                    work.branch(
                        &below[2 * i..2 * i + 2],
                        vec![Step::Launch(mean, vec![two[0], two[1], to, n.into()])],
                    );
                }
                (below, made) = (work.next_layer(), rest);
            }
            before = below;
        }
        Ok(work)
    })?;
    enter_sides!(
        contest,
        tree,
        |own| tree(
            &setup.ctx,
            n,
            own.one()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?,
            own.some()?
        ),
        |args| [args.root]
    );
    contest.run(table)
}

fn diagonals(setup: &Setup, table: &mut Table, module: &Module, blocks: u32) -> Result<()> {
    let n = 256 * blocks;
    let start = Start::new(setup, &[n as usize; 256])?;
    let mean = module.per_item(c"mean", n)?;
    let work = (format!("15 x 15 cells by diagonals, {blocks} blocks"), GOAL);
    let mut contest = Contest::new(setup, work, &start, &[255], |at| {
        let mut work = Work::new();
        // The branch of each cell of the previous diagonal, by its row.
        let mut before: Vec<Option<usize>> = vec![None; 17];
        for diagonal in 2..=30 {
            let mut own = vec![None; 17];
            for i in diagonal.max(16) - 15..=(diagonal - 1).min(15) {
                let j = diagonal - i;
                let after: Vec<usize> = [before[i - 1], before[i]].into_iter().flatten().collect();
                let arguments = vec![at[16 * (i - 1) + j], at[16 * i + j - 1], at[16 * i + j], n.into()];
                own[i] = Some(work.branch(&after, vec![Step::Launch(mean, arguments)]));
            }
            work.next_layer();
            before = own;
        }
        Ok(work)
    })?;
    enter_sides!(contest, diagonals, |own| diagonals(&setup.ctx, n, own.some()?), |args| [
        args.cells[255].slice(..)
    ]);
    contest.run(table)
}
