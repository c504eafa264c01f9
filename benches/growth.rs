//! The growth of device and host memory over 1,000 launches of one graph, and over 1,000 graphs built, launched and
//! dropped.

mod common;
#[path = "graphs/chains.rs"]
mod graphs;

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice};

use common::table::Table;
use common::{Result, Setup};

const N: u32 = 1_024;

/// Memory in use, in bytes.
#[derive(Clone, Copy)]
struct Memory {
    device: i128,
    pool: i128,
    host: i128,
}

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let columns = ["work", "lowering", "times", "device, bytes", "graph pool, bytes", "host, KiB", "goal"];
    let mut table = Table::new(&setup, "growth", &columns)?;
    let len = setup.scaled(1 << 20, 1 << 12);
    let (warm, times) = setup.scaled((100, 1_000), (2, 5));
    let buffers = || -> Result<[CudaSlice<f32>; 8]> {
        let buffers: std::result::Result<Vec<_>, _> =
            (0..8).map(|_| stream.alloc_zeros::<f32>(N as usize)).collect();
        buffers?.try_into().map_err(|_| "8 buffers".into())
    };

    macro_rules! lowerings {
        ($($name:ident)*) => {$(
            let mut exec = graphs::$name(ctx, N, len, buffers()?)?.instantiate()?;
            let grown = growth(ctx, warm, times, || {
                exec.launch(stream)?;
                Ok(stream.synchronize()?)
            })?;
            row(&mut table, "launches", stringify!($name), times, grown)?;
            drop(exec);

            let mut xs = buffers()?;
            let grown = growth(ctx, warm, times, || {
                let mut exec = graphs::$name(ctx, N, len, xs.each_mut())?.instantiate()?;
                exec.launch(stream)?;
                drop(exec);
                Ok(stream.synchronize()?)
            })?;
            row(&mut table, "build, launch, drop", stringify!($name), times, grown)?;
        )*};
    }
    lowerings!(nodes arena owned);
    table.note("The differences between what was in use before and after, after a warm-up.")?;
    table.finish()
}

fn growth(
    ctx: &Arc<CudaContext>,
    warm: usize,
    times: usize,
    mut work: impl FnMut() -> Result<()>,
) -> Result<Memory> {
    for _ in 0..warm {
        work()?;
    }
    let before = memory(ctx)?;
    for _ in 0..times {
        work()?;
    }
    let after = memory(ctx)?;
    Ok(Memory {
        device: after.device - before.device,
        pool: after.pool - before.pool,
        host: after.host - before.host,
    })
}

fn memory(ctx: &Arc<CudaContext>) -> Result<Memory> {
    let (free, total) = ctx.mem_get_info()?;
    let pool = cuweave::memory::graph_pool(ctx)?.reserved;
    Ok(Memory { device: total as i128 - free as i128, pool: pool.into(), host: resident() })
}

/// Returns the resident memory of the process in bytes: the second number of `statm`, in pages of 4 KiB.
fn resident() -> i128 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<i128>().ok()).unwrap_or(0) * 4096
}

fn row(table: &mut Table, work: &str, lowering: &str, times: usize, grown: Memory) -> Result<()> {
    table.row(&[
        work.to_owned(),
        lowering.to_owned(),
        times.to_string(),
        grown.device.to_string(),
        grown.pool.to_string(),
        (grown.host / 1024).to_string(),
        "0".to_owned(),
    ])
}
