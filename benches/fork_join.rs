//! 20 rounds of a fork into 16 branches, with a temporary of 4 MiB each, and their join. Compares each memory
//! lowering with graphs made by hand, whose memory is allocated outside.

mod common;
#[path = "graphs/fork_join.rs"]
mod graphs;

use cudarc::driver::CudaSlice;

use common::hand::{self, Node};
use common::table::Table;
use common::{Race, Result, Setup, Until, agree};

/// The number of elements that the kernels access in each buffer.
const N: u32 = 1_024;
/// The factors of the branches.
const FACTORS: [f32; 16] =
    [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8];

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let module = hand::Module::load(ctx)?;
    let mut table = Table::of_races(&setup, "fork_join")?;
    let len = setup.scaled(1 << 20, 1 << 12);
    let zeros = || stream.alloc_zeros::<f32>(N as usize);

    let temporaries: Vec<CudaSlice<f32>> =
        (0..16).map(|_| stream.alloc_zeros(len as usize)).collect::<std::result::Result<_, _>>()?;
    let x = zeros()?;
    let by_hand = hand_fork_join(&module, &x, &temporaries)?;
    let mut sizes = vec![by_hand.size()];
    let by_hand = by_hand.instantiate()?;
    by_hand.launch(stream)?;
    let wanted = stream.clone_dtoh(&x)?;

    let mut race = Race::new(Until::Synchronized, 50);
    race.by_hand("by hand, memory outside", move |stream| by_hand.launch(stream));
    let mut planned = Vec::new();
    macro_rules! ours {
        ($($name:ident)*) => {$(
            let graph = graphs::$name(ctx, N, len, zeros()?)?;
            let report = graph.report();
            sizes.push(format!("{} / {}", report.nodes(), report.edges));
            planned.push(format!("{}: {}", stringify!($name), report.planned_bytes));
            let mut exec = graph.instantiate()?;
            exec.launch(stream)?;
            agree(stringify!($name), &stream.clone_dtoh(&exec.args().x)?, &wanted)?;
            race.ours(concat!("cuweave, ", stringify!($name)), move |stream| Ok(exec.launch(stream)?));
        )*};
    }
    ours!(nodes arena owned);
    table.race("fork-join 16 x 20", "<= 1.01", &race.run(&setup)?, &sizes)?;
    table.note(&format!("planned bytes: {}", planned.join(", ")))?;
    table.finish()
}

fn hand_fork_join(
    module: &hand::Module,
    x: &CudaSlice<f32>,
    temporaries: &[CudaSlice<f32>],
) -> Result<hand::Graph> {
    let (fork, join) = (module.per_item(c"fork", N)?, module.per_item(c"join", N)?);
    let x = hand::address(x);
    let temporaries: Vec<u64> = temporaries.iter().map(hand::address).collect();
    let join_arguments = [&temporaries[..], &[x, u64::from(N)]].concat();
    let mut graph = hand::Graph::new()?;
    let mut last: Option<Node> = None;
    for _ in 0..20 {
        let mut forked = Vec::with_capacity(16);
        for (t, a) in temporaries.iter().zip(FACTORS) {
            forked.push(graph.add(fork, &[x, *t, u64::from(a.to_bits()), u64::from(N)], last.as_slice())?);
        }
        last = Some(graph.add(join, &join_arguments, &forked)?);
    }
    Ok(graph)
}
