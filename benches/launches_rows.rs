//! The rows of the other tables, and the examples: as written, batched, overlapped and both, compared with graphs
//! made by hand, whose memory is allocated outside. None may be slower.

#[macro_use]
mod common;
#[path = "graphs/launches/rows.rs"]
mod graphs;

use common::contest::{Contest, Start, table};
use common::hand::Module;
use common::table::Table;
use common::work::{Step, Work};
use common::{Result, Setup};

const GOAL: &str = "<= 1.02";

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let mut table = table(&setup, "launches_rows")?;
    let bench = Module::load(&setup.ctx)?;
    joins(&setup, &mut table, &bench)?;
    window(&setup, &mut table, &bench)?;
    chains(&setup, &mut table, &bench)?;
    pipelines(&setup, &mut table, &bench)?;
    branches(&setup, &mut table)?;
    heat(&setup, &mut table)?;
    layers(&setup, &mut table)?;
    table.finish()
}

/// In the graph made by hand, an empty kernel joins the layers, which is the fastest way.
fn joins(setup: &Setup, table: &mut Table, module: &Module) -> Result<()> {
    let (kernel, hub) = (module.single(c"after_all")?, module.single(c"hub")?);
    macro_rules! layers {
        ($($name:ident $w:literal)*) => {$({
            let start = Start::new(setup, &[$w; 2])?;
            let work = (format!("8 layers of {}, each after all of the one before", $w), GOAL);
            let mut contest = Contest::new(setup, work, &start, &[0, 1], |at| {
                let mut work = Work::new();
                let mut before = Vec::new();
                for layer in 0..8 {
                    if layer > 0 {
                        work.branch(&before, vec![Step::Launch(hub, Vec::new())]);
                        before = work.next_layer();
                    }
                    let (from, to) = (at[layer % 2], at[(layer + 1) % 2]);
                    for i in 0..$w {
                        work.branch(&before, vec![Step::Launch(kernel, vec![from, to + 4 * i, $w])]);
                    }
                    before = work.next_layer();
                }
                Ok(work)
            })?;
            enter_sides!(contest, $name, |own| $name(&setup.ctx, own.one()?, own.one()?), |args| [args.a, args.b]);
            contest.run(table)?;
        })*};
    }
    layers!(layers_of_8 8 layers_of_16 16 layers_of_32 32 layers_of_64 64 layers_of_128 128);
    Ok(())
}

fn window(setup: &Setup, table: &mut Table, module: &Module) -> Result<()> {
    let start = Start::new(setup, &[1_008])?;
    let kernel = module.single(c"after_all")?;
    let work = ("chain of 1,000, each reading what the 8 before it wrote".to_owned(), GOAL);
    let mut contest = Contest::new(setup, work, &start, &[0], |at| {
        let step = |i: u64| Step::Launch(kernel, vec![at[0] + 4 * i, at[0] + 4 * (i + 8), 8]);
        let mut work = Work::new();
        work.branch(&[], (0..1_000).map(step).collect());
        Ok(work)
    })?;
    enter_sides!(contest, window, |own| window(&setup.ctx, own.one()?), |args| [args.x]);
    contest.run(table)
}

fn chains(setup: &Setup, table: &mut Table, module: &Module) -> Result<()> {
    let n = 256 * setup.scaled(4, 1);
    let len = setup.scaled(1 << 20, 1 << 12);
    let lens = [vec![n as usize; 8], vec![len as usize; 8]].concat();
    let start = Start::new(setup, &lens)?;
    let (produce, consume) = (module.per_item(c"produce", n)?, module.per_item(c"consume", n)?);
    let by_hand = |at: &[u64]| {
        let mut work = Work::new();
        for (&x, &t) in at[..8].iter().zip(&at[8..]) {
            let pair =
                [Step::Launch(produce, vec![x, t, n.into()]), Step::Launch(consume, vec![t, x, n.into()])];
            work.branch(&[], pair.iter().cloned().cycle().take(64).collect());
        }
        Ok(work)
    };
    let results: Vec<usize> = (0..8).collect();
    macro_rules! lowerings {
        ($($name:ident $lowering:literal)*) => {$({
            let work = (concat!("8 chains x 32, a temporary a step, ", $lowering).to_owned(), GOAL);
            let mut contest = Contest::new(setup, work, &start, &results, by_hand)?;
            enter_sides!(contest, $name, |own| $name(&setup.ctx, n, len, own.some()?), |args| args.xs);
            contest.run(table)?;
        })*};
    }
    lowerings!(chains_nodes "nodes" chains_arena "arena" chains_owned "owned");
    Ok(())
}

/// In the graph made by hand, the temporaries alternate between two buffers.
fn pipelines(setup: &Setup, table: &mut Table, module: &Module) -> Result<()> {
    // 1 MiB each.
    let n: u32 = setup.scaled(1 << 18, 1 << 8);
    let start = Start::new(setup, &[n as usize; 3])?;
    let (produce, consume) = (module.per_item(c"produce", n)?, module.per_item(c"consume", n)?);
    let by_hand = |at: &[u64]| {
        let &[x, even, odd] = at else { return Err("3 buffers".into()) };
        let step = |from, to| Step::Launch(produce, vec![from, to, n.into()]);
        let turn = [
            step(x, even),
            step(even, odd),
            step(odd, even),
            step(even, odd),
            step(odd, even),
            Step::Launch(consume, vec![even, x, n.into()]),
        ];
        let mut work = Work::new();
        work.branch(&[], turn.iter().cloned().cycle().take(600).collect());
        Ok(work)
    };
    macro_rules! lowerings {
        ($($name:ident $lowering:literal)*) => {$({
            let work = (concat!("500 temporaries of 1 MiB in a chain, ", $lowering).to_owned(), GOAL);
            let mut contest = Contest::new(setup, work, &start, &[0], by_hand)?;
            enter_sides!(contest, $name, |own| $name(&setup.ctx, n, own.one()?), |args| [args.x]);
            contest.run(table)?;
        })*};
    }
    lowerings!(pipeline_nodes "nodes" pipeline_arena "arena" pipeline_owned "owned");
    Ok(())
}

fn branches(setup: &Setup, table: &mut Table) -> Result<()> {
    let module = Module::of(&setup.ctx, include_str!("../examples/kernels/branches.ptx"))?;
    let n: u32 = 1_000;
    let elements = n as usize;
    let lens = [vec![elements, 16 * elements], vec![elements; 16]].concat();
    let start = Start::new(setup, &lens)?;
    let kernel = |name| module.per_item(name, n);
    let (ramp, affine, sum) = (kernel(c"ramp")?, kernel(c"affine")?, kernel(c"sum_rows")?);
    let work = ("the example of branches".to_owned(), GOAL);
    let mut contest = Contest::new(setup, work, &start, &[0], |at| {
        let bits = |value: f32| u64::from(value.to_bits());
        let mut work = Work::new();
        for (i, &t) in (0_u16..).zip(&at[2..]) {
            let scaled = |a, b| Step::Launch(affine, vec![t, bits(a), bits(b), n.into()]);
            let first = f32::from(i);
            let steps = vec![
                Step::Launch(ramp, vec![t, bits(first), n.into()]),
                scaled(0.5, 1.0),
                scaled(-0.25, 3.0),
                scaled(2.0, first),
                Step::Copy(t, at[1] + 4 * u64::from(i) * u64::from(n), 4 * elements),
            ];
            work.branch(&[], steps);
        }
        let rows = work.next_layer();
        work.branch(&rows, vec![Step::Launch(sum, vec![at[1], at[0], 16, n.into()])]);
        Ok(work)
    })?;
    enter_sides!(contest, branches, |own| branches(&setup.ctx, n, own.one()?), |args| [args.out]);
    contest.run(table)
}

fn heat(setup: &Setup, table: &mut Table) -> Result<()> {
    let module = Module::of(&setup.ctx, include_str!("../examples/kernels/heat.ptx"))?;
    let r = 0.2_f32;
    for n in setup.scaled(vec![65_u32, 257, 1_025], vec![17]) {
        let start = Start::new(setup, &[(n * n) as usize; 2])?;
        let step = module.kernel(c"heat_step", [n.div_ceil(16), n.div_ceil(16), 1], [16, 16, 1])?;
        let work = (format!("the example of heat, side {n}"), GOAL);
        let mut contest = Contest::new(setup, work, &start, &[0], |at| {
            let step = |turn: usize| {
                let (from, to) = (at[turn % 2], at[1 - turn % 2]);
                Step::Launch(step, vec![from, to, r.to_bits().into(), n.into()])
            };
            let mut work = Work::new();
            work.branch(&[], (0..100).map(step).collect());
            Ok(work)
        })?;
        enter_sides!(contest, heat, |own| heat(&setup.ctx, n, r, own.one()?), |args| [args.u]);
        contest.run(table)?;
    }
    Ok(())
}

fn layers(setup: &Setup, table: &mut Table) -> Result<()> {
    let module = Module::of(&setup.ctx, include_str!("../examples/kernels/layers.ptx"))?;
    let (samples, width) = setup.scaled((64_u32, 48_u32), (16, 16));
    let (values, weights) = ((samples * width) as usize, (width * width) as usize);
    let lens = [vec![weights; 12], vec![width as usize; 12], vec![values; 4]].concat();
    let start = Start::new(setup, &lens)?;
    let grid = [width.div_ceil(16), samples.div_ceil(16), 1];
    let matmul = module.kernel(c"matmul", grid, [16, 16, 1])?;
    let relu = module.per_item(c"bias_relu", samples * width)?;
    let work = ("the example of layers".to_owned(), GOAL);
    let mut contest = Contest::new(setup, work, &start, &[25], |at| {
        let (weights, rest) = at.split_at(12);
        let (biases, rest) = rest.split_at(12);
        let &[x, y, mut from, mut to] = rest else { return Err("28 buffers".into()) };
        let sizes = [u64::from(samples), u64::from(width)];
        let mut steps = vec![Step::Copy(x, from, 4 * values)];
        for (&weight, &bias) in weights.iter().zip(biases) {
            steps.push(Step::Launch(matmul, [&[from, weight, to], &sizes[..]].concat()));
            steps.push(Step::Launch(relu, [&[to, bias], &sizes[..]].concat()));
            (from, to) = (to, from);
        }
        steps.push(Step::Copy(from, y, 4 * values));
        let mut work = Work::new();
        work.branch(&[], steps);
        Ok(work)
    })?;
    enter_sides!(
        contest,
        layers,
        |own| layers(&setup.ctx, samples, width, own.some()?, own.some()?, own.one()?, own.one()?),
        |args| [args.y]
    );
    contest.run(table)
}
