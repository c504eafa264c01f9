//! 8 independent chains of 32 steps, with a temporary of 4 MiB in each step. Compares each memory lowering with a
//! graph made by hand, whose memory is allocated outside.

mod common;
#[path = "graphs/chains.rs"]
mod graphs;

use cudarc::driver::CudaSlice;

use common::hand::{self, Node};
use common::table::Table;
use common::{Race, Result, Setup, Until, agree};

/// The number of elements that the kernels access in each buffer.
const N: u32 = 1_024;

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let module = hand::Module::load(ctx)?;
    let mut table = Table::of_races(&setup, "chains")?;
    let len = setup.scaled(1 << 20, 1 << 12);
    let buffers = |len: u32| -> Result<[CudaSlice<f32>; 8]> {
        let buffers: std::result::Result<Vec<_>, _> =
            (0..8).map(|_| stream.alloc_zeros::<f32>(len as usize)).collect();
        buffers?.try_into().map_err(|_| "8 buffers".into())
    };

    let (xs, temporaries) = (buffers(N)?, buffers(len)?);
    let by_hand = hand_chains(&module, &xs, &temporaries)?;
    let mut sizes = vec![by_hand.size()];
    let by_hand = by_hand.instantiate()?;
    by_hand.launch(stream)?;
    let wanted = stream.clone_dtoh(&xs[7])?;

    let mut race = Race::new(Until::Synchronized, 50);
    race.by_hand("by hand, memory outside", move |stream| by_hand.launch(stream));
    let mut planned = Vec::new();
    macro_rules! ours {
        ($($name:ident)*) => {$(
            let graph = graphs::$name(ctx, N, len, buffers(N)?)?;
            let report = graph.report();
            sizes.push(format!("{} / {}", report.nodes(), report.edges));
            planned.push(format!("{}: {}", stringify!($name), report.planned_bytes));
            let mut exec = graph.instantiate()?;
            exec.launch(stream)?;
            agree(stringify!($name), &stream.clone_dtoh(&exec.args().xs[7])?, &wanted)?;
            race.ours(concat!("cuweave, ", stringify!($name)), move |stream| Ok(exec.launch(stream)?));
        )*};
    }
    ours!(nodes arena owned);
    table.race("8 chains x 32", "<= 1.01", &race.run(&setup)?, &sizes)?;
    table.note(&format!("planned bytes: {}", planned.join(", ")))?;
    table.finish()
}

fn hand_chains(
    module: &hand::Module,
    xs: &[CudaSlice<f32>],
    temporaries: &[CudaSlice<f32>],
) -> Result<hand::Graph> {
    let (produce, consume) = (module.per_item(c"produce", N)?, module.per_item(c"consume", N)?);
    let mut graph = hand::Graph::new()?;
    for (x, t) in xs.iter().zip(temporaries) {
        let (x, t) = (hand::address(x), hand::address(t));
        let mut last: Option<Node> = None;
        for _ in 0..32 {
            let produced = graph.add(produce, &[x, t, u64::from(N)], last.as_slice())?;
            last = Some(graph.add(consume, &[t, x, u64::from(N)], &[produced])?);
        }
    }
    Ok(graph)
}
