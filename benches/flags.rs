//! The cost of a flag's write and wait in a chain of 200 kernels: the time from launch to synchronization on the
//! device, and the host's time for `launch`, which writes the launch's values to these nodes.

mod common;
#[path = "graphs/flags.rs"]
mod graphs;

use common::table::Table;
use common::{Race, Result, Setup, Until};
use cuweave::Flag;

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let mut table = Table::of_races(&setup, "flags")?;
    for (name, until) in [("launch to sync", Until::Synchronized), ("return of `launch`", Until::Returned)] {
        let one = || stream.alloc_zeros::<u32>(1);
        let (mut x, mut y, mut z) = (one()?, one()?, one()?);
        // SAFETY: written by each launch before it is read.
        #[allow(unsafe_code)]
        let mut own = unsafe { ctx.alloc_pinned::<u32>(1) }?;
        own.as_mut_slice()?[0] = 0;
        let mut plain = graphs::plain(ctx, &mut x)?.instantiate()?;
        let mut pairs = graphs::pairs(ctx, Flag::new(ctx)?, &mut y)?.instantiate()?;
        let mut of_own = graphs::pairs_of_own(ctx, &mut own, &mut z)?.instantiate()?;
        let sizes = [plain.report(), pairs.report(), of_own.report()]
            .map(|report| format!("{} / {}", report.nodes(), report.edges));
        let mut race = Race::new(until, 30);
        race.ours("200 kernels", move |stream| Ok(plain.launch(stream)?));
        race.ours("and 200 writes and waits of a `Flag`", move |stream| Ok(pairs.launch(stream)?));
        race.ours("and 200 of pinned memory of its own", move |stream| Ok(of_own.launch(stream)?));
        table.race(name, "none", &race.run(&setup)?, &sizes)?;
    }
    table.finish()
}
