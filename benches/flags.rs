//! What a write and a wait of a flag cost in a chain of 200 kernels: launch to sync on the device, and the return of `launch` on the
//! host, which gives each of their nodes the value of the launch.

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
    for until in [Until::Synchronized, Until::Returned] {
        let one = || stream.alloc_zeros::<u32>(1);
        let (mut x, mut y, mut z, mut v, mut w, mut flag) = (one()?, one()?, one()?, one()?, one()?, one()?);
        let pinned = Flag::new(ctx)?;
        let mut plain = graphs::plain(ctx, &mut x)?.instantiate()?;
        let mut writes = graphs::writes(ctx, &mut y)?.instantiate()?;
        let mut pairs = graphs::pairs(ctx, pinned, &mut z)?.instantiate()?;
        let mut of_device = graphs::pairs_of_device(ctx, &mut flag, &mut v)?.instantiate()?;
        let mut reset = graphs::resets(ctx, &mut w)?.instantiate()?;
        let sizes = [plain.report(), writes.report(), pairs.report(), of_device.report(), reset.report()]
            .map(|report| format!("{} / {}", report.nodes(), report.edges));
        let mut race = Race::new(until, 30);
        race.ours("200 kernels", move |stream| Ok(plain.launch(stream)?));
        race.ours("and 200 writes of the launch's number, device", move |stream| Ok(writes.launch(stream)?));
        race.ours("and 200 writes and waits, pinned", move |stream| Ok(pairs.launch(stream)?));
        race.ours("and 200 writes and waits, device", move |stream| Ok(of_device.launch(stream)?));
        race.ours("and 200 writes of one value, device", move |stream| Ok(reset.launch(stream)?));
        let name = match until {
            Until::Synchronized => "launch to sync",
            _ => "return of `launch`",
        };
        table.race(name, "none", &race.run(&setup)?, &sizes)?;
    }
    table.finish()
}
