//! Scalars that are set between launches, temporaries that are freed early, copies between kernels, more launches
//! than a table holds, and a decoder's layers: as written, batched, overlapped and both, compared with graphs made
//! by hand. None may be slower.

#[macro_use]
mod common;
#[path = "graphs/launches/steps.rs"]
mod graphs;

use common::contest::{Contest, Start, table};
use common::hand::{Kernel, Module};
use common::table::Table;
use common::work::{Step, Work};
use common::{Result, Setup};

const GOAL: &str = "<= 1.02";
const LAUNCHES: &str = include_str!("kernels/launches.ptx");
/// The values that the scalar alternates between.
const RATES: [f32; 2] = [0.01, 0.02];

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let mut table = table(&setup, "launches_steps")?;
    let bench = Module::load(&setup.ctx)?;
    let launches = Module::of(&setup.ctx, LAUNCHES)?;
    rated(&setup, &mut table, &launches)?;
    sized(&setup, &mut table, &bench)?;
    temporaries(&setup, &mut table, &bench)?;
    copies(&setup, &mut table, &bench)?;
    many(&setup, &mut table, &launches)?;
    for n in setup.scaled(vec![512, 1_024, 2_048], vec![40]) {
        decoder(&setup, &mut table, &launches, n)?;
    }
    table.finish()
}

/// Branches with `steps` launches of a kernel each, and the arguments of each branch.
fn alike(kernel: Kernel, steps: usize, branches: impl IntoIterator<Item = Vec<u64>>) -> Work {
    let mut work = Work::new();
    for arguments in branches {
        work.branch(&[], vec![Step::Launch(kernel, arguments); steps]);
    }
    work
}

/// Returns the arguments of `momentum` for each tensor.
fn of_tensors(at: &[u64], rate: f32, n: u32) -> impl Iterator<Item = Vec<u64>> {
    let (ps, rest) = at.split_at(at.len() / 3);
    let (ms, gs) = rest.split_at(ps.len());
    let tensors = ps.iter().zip(ms).zip(gs);
    tensors.map(move |((&p, &m), &g)| vec![p, m, g, rate.to_bits().into(), n.into()])
}

fn rated(setup: &Setup, table: &mut Table, module: &Module) -> Result<()> {
    let n = 256 * setup.scaled(4, 1);
    let start = Start::new(setup, &[n as usize; 48])?;
    let momentum = module.per_item(c"momentum", n)?;
    let results: Vec<usize> = (0..32).collect();
    let work = ("16 chains x 10, their rate set at each launch".to_owned(), GOAL);
    let by_hand = |at: &[u64]| Ok(alike(momentum, 10, of_tensors(at, RATES[0], n)));
    let mut contest =
        Contest::setting(setup, work, &start, &results, by_hand, move |exec, nodes, at, turn| {
            for (branch, arguments) in nodes.iter().zip(of_tensors(at, RATES[turn % 2], n)) {
                branch.iter().try_for_each(|&node| exec.set(node, momentum, &arguments))?;
            }
            Ok(())
        })?;
    enter_sides!(
        contest,
        rated,
        |own| rated(&setup.ctx, n, RATES[0], own.some()?, own.some()?, own.some()?),
        |args| args.ps.into_iter().chain(args.ms).collect::<Vec<_>>(),
        |exec, turn, stream| {
            exec.set_rate(RATES[turn % 2])?;
            exec.launch(stream)?
        }
    );
    contest.run(table)
}

fn sized(setup: &Setup, table: &mut Table, module: &Module) -> Result<()> {
    let most = 256 * setup.scaled(8, 2);
    let items = [most, most / 2];
    let start = Start::new(setup, &[most as usize; 16])?;
    let kernels = [module.per_item(c"tiny", items[0])?, module.per_item(c"tiny", items[1])?];
    let results: Vec<usize> = (0..16).collect();
    let work = ("16 chains x 20, their grid set at each launch".to_owned(), GOAL);
    let by_hand = |at: &[u64]| Ok(alike(kernels[0], 20, at.iter().map(|&x| vec![x, u64::from(items[0])])));
    let mut contest =
        Contest::setting(setup, work, &start, &results, by_hand, move |exec, nodes, at, turn| {
            for (branch, &x) in nodes.iter().zip(at) {
                let arguments = [x, items[turn % 2].into()];
                branch.iter().try_for_each(|&node| exec.set(node, kernels[turn % 2], &arguments))?;
            }
            Ok(())
        })?;
    enter_sides!(
        contest,
        sized,
        |own| sized(&setup.ctx, most, items[0], own.some()?),
        |args| args.xs,
        |exec, turn, stream| {
            exec.set_items(items[turn % 2])?;
            exec.launch(stream)?
        }
    );
    contest.run(table)
}

fn temporaries(setup: &Setup, table: &mut Table, module: &Module) -> Result<()> {
    let n = 256 * setup.scaled(4, 1);
    let len = setup.scaled(1 << 20, 1 << 12);
    let lens = [vec![n as usize; 16], vec![len as usize; 16]].concat();
    let start = Start::new(setup, &lens)?;
    let (produce, consume) = (module.per_item(c"produce", n)?, module.per_item(c"consume", n)?);
    let results: Vec<usize> = (0..16).collect();
    let by_hand = |at: &[u64]| {
        let mut work = Work::new();
        for (&x, &t) in at[..16].iter().zip(&at[16..]) {
            let pair =
                [Step::Launch(produce, vec![x, t, n.into()]), Step::Launch(consume, vec![t, x, n.into()])];
            work.branch(&[], pair.iter().cloned().cycle().take(20).collect());
        }
        Ok(work)
    };
    macro_rules! lowerings {
        ($($name:ident)*) => {$({
            let work = (concat!("16 chains x 20, temporaries freed early, ", stringify!($name)).to_owned(), GOAL);
            let mut contest = Contest::new(setup, work, &start, &results, by_hand)?;
            enter_sides!(contest, $name, |own| $name(&setup.ctx, n, len, own.some()?), |args| args.xs);
            contest.run(table)?;
        })*};
    }
    lowerings!(nodes arena owned);
    Ok(())
}

fn copies(setup: &Setup, table: &mut Table, module: &Module) -> Result<()> {
    let n = 256 * setup.scaled(4, 1);
    let bytes = 4 * n as usize;
    let start = Start::new(setup, &[n as usize; 16])?;
    let tiny = module.per_item(c"tiny", n)?;
    let results: Vec<usize> = (0..16).collect();
    let work = ("8 chains x 20 with copies between".to_owned(), GOAL);
    let mut contest = Contest::new(setup, work, &start, &results, |at| {
        let mut work = Work::new();
        for (&x, &y) in at[..8].iter().zip(&at[8..]) {
            let turn = [
                Step::Launch(tiny, vec![x, n.into()]),
                Step::Copy(x, y, bytes),
                Step::Launch(tiny, vec![y, n.into()]),
                Step::Copy(y, x, bytes),
            ];
            work.branch(&[], turn.iter().cloned().cycle().take(40).collect());
        }
        Ok(work)
    })?;
    enter_sides!(contest, copies, |own| copies(&setup.ctx, n, own.some()?, own.some()?), |args| args
        .xs
        .into_iter()
        .chain(args.ys)
        .collect::<Vec<_>>());
    contest.run(table)
}

fn many(setup: &Setup, table: &mut Table, module: &Module) -> Result<()> {
    let n = 256 * setup.scaled(4, 1);
    let start = Start::new(setup, &[n as usize; 600])?;
    let momentum = module.per_item(c"momentum", n)?;
    let results: Vec<usize> = (0..400).collect();
    let work = ("200 chains x 3".to_owned(), GOAL);
    let by_hand = |at: &[u64]| Ok(alike(momentum, 3, of_tensors(at, RATES[0], n)));
    let mut contest = Contest::new(setup, work, &start, &results, by_hand)?;
    enter_sides!(
        contest,
        many,
        |own| many(&setup.ctx, n, RATES[0], own.some()?, own.some()?, own.some()?),
        |args| args.ps.into_iter().chain(args.ms).collect::<Vec<_>>()
    );
    contest.run(table)
}

fn decoder(setup: &Setup, table: &mut Table, module: &Module, n: u32) -> Result<()> {
    let elements = n as usize;
    let lens = [vec![elements * elements; 8], vec![elements; 6]].concat();
    let start = Start::new(setup, &lens)?;
    let matvec = module.kernel(c"matvec", [n.div_ceil(8), 1, 1], [256, 1, 1])?;
    let (mean, gelu) = (module.per_item(c"mean", n)?, module.per_item(c"gelu", n)?);
    let work = (format!("8 layers of a decoder, {n} wide"), GOAL);
    let mut contest = Contest::new(setup, work, &start, &[8, 12, 13], |at| {
        let (weights, rest) = at.split_at(8);
        let &[x, q, k, v, s, o] = rest else { return Err("14 buffers".into()) };
        let product =
            |weight: usize, from, to| Step::Launch(matvec, vec![weights[weight % 8], from, to, n.into()]);
        let mut work = Work::new();
        let mut before = Vec::new();
        for i in 0..8 {
            for (weight, to) in [(i, q), (i + 1, k), (i + 2, v)] {
                work.branch(&before, vec![product(weight, x, to)]);
            }
            let products = work.next_layer();
            work.branch(
                &products,
                vec![
                    Step::Launch(mean, vec![q, k, s, n.into()]),
                    Step::Launch(mean, vec![s, v, o, n.into()]),
                    product(i + 3, o, s),
                    Step::Launch(gelu, vec![s, n.into()]),
                    product(i + 4, s, x),
                ],
            );
            before = work.next_layer();
        }
        Ok(work)
    })?;
    enter_sides!(
        contest,
        decoder,
        |own| decoder(
            &setup.ctx,
            n,
            own.some()?,
            own.one()?,
            own.one()?,
            own.one()?,
            own.one()?,
            own.one()?,
            own.one()?
        ),
        |args| [args.x, args.s, args.o]
    );
    contest.run(table)
}
