//! Elements of fused kernels in registers or in memory, in decode steps of 12 layers. Each form is built several
//! times with buffers at different addresses: the spread of one form is the effect of their positions in the
//! caches.
//!
//! The forms have separate weights or share them. If they share them, all differences come from the kernels and the
//! temporaries. The temporaries are in the driver's pool, which all graphs share, in an arena of each graph, or are
//! arguments. If they are arguments, all forms have the same buffers, and they only differ in the loads of the
//! fused kernels. A second table has the time of each node from the profile.

mod common;

use std::sync::Arc;

use common::table::Table;
use common::{Race, Result, Setup, Until, ratio, us};
use cudarc::driver::CudaSlice;
use cuweave::__private::change_next_rules;
use cuweave::builder::{Args, Builder, Handle, Memory, View};

mod kernels {
    use cuweave::prelude::*;

    #[cuweave::kernels("benches/kernels/launches.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
        pub fn gelu(x: &mut [f32; n], n: u32);
        pub fn mean(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    }
}

/// The size in bytes of a buffer whose parts are the temporaries.
const BYTES: u64 = 64 << 20;

/// The number of builds of each form.
const BUILDS: usize = 3;

type Weights = Vec<Arc<CudaSlice<f32>>>;

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let columns =
        ["step", "weights", "temporaries", "form", "build", "nodes", "host us", "events us", "of the first"];
    let mut table = Table::new(&setup, "registers", &columns)?;
    for n in setup.scaled(vec![512, 768, 1_024, 1_280, 2_048], vec![32]) {
        for (shared, place) in
            [(true, Place::Pool), (true, Place::Own), (true, Place::Arguments), (false, Place::Pool)]
        {
            run(&setup, &mut table, n, (shared, place))?;
        }
    }
    table.finish()?;
    let columns = ["step", "KiB from the start", "host us", "events us", "of the best"];
    let mut table = Table::new(&setup, "registers_places", &columns)?;
    for n in setup.scaled(vec![512, 1_024], vec![32]) {
        places(&setup, &mut table, n)?;
    }
    table.finish()?;
    let columns = ["step", "temporaries", "node", "nodes", "registers us", "memory us"];
    let mut table = Table::new(&setup, "registers_nodes", &columns)?;
    for n in setup.scaled(vec![512, 1_024], vec![32]) {
        for place in [Place::Pool, Place::Arguments] {
            profiles(&setup, &mut table, n, place)?;
        }
    }
    table.finish()
}

/// The location of the temporaries.
#[derive(Clone, Copy, Debug)]
enum Place {
    Pool,
    Own,
    Arguments,
    /// In one buffer, at this offset in bytes.
    At(u64),
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::Pool => "pool",
            Place::Own => "own arena",
            Place::Arguments => "arguments",
            Place::At(_) => "parts of one buffer",
        }
    }
}

/// Races graphs whose temporaries are parts of one buffer, at different offsets.
fn places(setup: &Setup, table: &mut Table, n: u32) -> Result<()> {
    let w = weights(setup, n)?;
    let start: Vec<f32> = (0..n).map(|at| (at % 10) as f32 * 0.1).collect();
    let firsts: Vec<u64> =
        setup.scaled((0..16).chain([16, 32, 64, 128, 256, 512, 1024]).collect(), vec![0, 1]);
    let mut race = Race::new(Until::Synchronized, 20);
    for &first in &firsts {
        let place = Place::At(first << 14);
        let mut exec =
            decode(setup, n, &w, setup.stream.clone_htod(&start)?, (true, place))?.instantiate()?;
        race.ours(&first.to_string(), move |stream: &Arc<_>| {
            exec.launch(stream)?;
            Ok(())
        });
    }
    let times = race.run(setup)?;
    let best = times.iter().map(|times| times.host).min().unwrap_or_default();
    for (one, first) in times.iter().zip(&firsts) {
        let step = format!("12 layers, {n} wide");
        let ratio = format!("{:.3}", ratio(one.host, best));
        table.row(&[step, (16 * first).to_string(), us(one.host), us(one.device), ratio])?;
    }
    Ok(())
}

/// Adds the times of the nodes in both forms, by their position in a layer.
fn profiles(setup: &Setup, table: &mut Table, n: u32, place: Place) -> Result<()> {
    let w = weights(setup, n)?;
    let start: Vec<f32> = (0..n).map(|at| (at % 10) as f32 * 0.1).collect();
    let mut times: Vec<Vec<(String, f64)>> = Vec::new();
    for forward in [true, false] {
        let graph = decode(setup, n, &w, setup.stream.clone_htod(&start)?, (forward, place))?;
        let mut exec = graph.instantiate()?;
        let profile = exec.profile(&setup.stream, setup.scaled(200, 1))?;
        let kernels = profile.entries.into_iter().filter(|entry| entry.kernel.is_some());
        times.push(kernels.map(|entry| (entry.name, entry.time.mean)).collect());
    }
    let [registers, memory] = times.try_into().map_err(|_| "two profiles")?;
    let mut rows: Vec<(String, usize, f64, f64)> = Vec::new();
    // The nodes of all layers except the last are the same.
    let each = registers.len() / 12;
    for (at, ((name, with), (_, without))) in registers.iter().zip(&memory).enumerate() {
        let name = format!("{}: {name}", at % each.max(1));
        match rows.iter_mut().find(|row| row.0 == name) {
            Some(row) => *row = (name, row.1 + 1, row.2 + with, row.3 + without),
            None => rows.push((name, 1, *with, *without)),
        }
    }
    for (name, count, with, without) in rows {
        let mean = |sum: f64| format!("{:.3}", sum / count as f64);
        let step = format!("12 layers, {n} wide");
        table.row(&[step, place.name().to_owned(), name, count.to_string(), mean(with), mean(without)])?;
    }
    Ok(())
}

fn weights(setup: &Setup, n: u32) -> Result<Weights> {
    let data: Vec<f32> = (0..n * n).map(|at| (at % 1_000) as f32 * 0.001).collect();
    (0..7).map(|_| Ok(Arc::new(setup.stream.clone_htod(&data)?))).collect()
}

/// A step of a decoder with 12 layers of width `n`, on one sequence: the same as in `launch_rules`.
fn decode<'a>(
    setup: &Setup,
    n: u32,
    w: &Weights,
    x: CudaSlice<f32>,
    (forward, place): (bool, Place),
) -> Result<cuweave::Graph<Args<'a>>> {
    let mut b = Builder::with_name(&setup.ctx, "decode");
    let len = u64::from(n);
    let w: Vec<Handle> =
        (0..).zip(w).map(|(at, w): (u32, _)| b.shared(&format!("w{at}"), len * len, w.clone())).collect();
    let x = b.exclusive("x", len, x).range(0, len);
    let items = (n.div_ceil(256), 256);
    let rows = (n.div_ceil(8), 256);
    let mean = |b: &mut Builder<'a>, one: &View, other: &View, to: &View| {
        b.launch(kernels::mean {}, items, (one.read(), other.read(), to.write(), n))
    };
    if let Place::Own = place {
        b.memory(Memory::Owned);
    }
    let parts = match place {
        Place::At(_) => {
            Some(b.exclusive("parts", BYTES / 4, setup.stream.alloc_zeros::<f32>(BYTES as usize / 4)?))
        }
        _ => None,
    };
    let mut made = 0;
    let mut temporary = |b: &mut Builder<'a>| -> Result<View> {
        made += 1;
        Ok(match (place, parts) {
            (Place::At(first), Some(parts)) => {
                // As many as a layer has.
                let first = first / 4 + made % 13 * len;
                parts.range(first, first + len)
            }
            (Place::Arguments, _) => {
                let buffer = setup.stream.alloc_zeros::<f32>(n as usize)?;
                b.exclusive(&format!("t{made}"), len, buffer).range(0, len)
            }
            _ => b.alloc::<f32>(len).range(0, len),
        })
    };
    let product = |b: &mut Builder<'a>, w: Handle, from: &View, to: &View| -> Result<()> {
        b.launch(kernels::matvec {}, rows, (w.read(), from.read(), to.write(), n))?;
        Ok(())
    };
    for _ in 0..12 {
        let normed = temporary(&mut b)?;
        mean(&mut b, &x, &x, &normed)?;
        let [q, k, v] = [temporary(&mut b)?, temporary(&mut b)?, temporary(&mut b)?];
        product(&mut b, w[0], &normed, &q)?;
        product(&mut b, w[1], &normed, &k)?;
        product(&mut b, w[2], &normed, &v)?;
        b.launch(kernels::gelu {}, items, (q.write(), n))?;
        b.launch(kernels::gelu {}, items, (k.write(), n))?;
        let (s, o) = (temporary(&mut b)?, temporary(&mut b)?);
        mean(&mut b, &q, &k, &s)?;
        mean(&mut b, &s, &v, &o)?;
        let projected = temporary(&mut b)?;
        product(&mut b, w[3], &o, &projected)?;
        let (residual, again) = (temporary(&mut b)?, temporary(&mut b)?);
        mean(&mut b, &projected, &x, &residual)?;
        mean(&mut b, &residual, &residual, &again)?;
        let [up, side] = [temporary(&mut b)?, temporary(&mut b)?];
        product(&mut b, w[4], &again, &up)?;
        product(&mut b, w[5], &again, &side)?;
        b.launch(kernels::gelu {}, items, (side.write(), n))?;
        let both = temporary(&mut b)?;
        mean(&mut b, &up, &side, &both)?;
        let down = temporary(&mut b)?;
        product(&mut b, w[6], &both, &down)?;
        mean(&mut b, &down, &residual, &x)?;
    }
    change_next_rules(move |_, _, rules| rules.allowed.forward = forward);
    Ok(b.build()?)
}

fn run(setup: &Setup, table: &mut Table, n: u32, (shared, place): (bool, Place)) -> Result<()> {
    let of_all = weights(setup, n)?;
    let start: Vec<f32> = (0..n).map(|at| (at % 10) as f32 * 0.1).collect();
    let mut race = Race::new(Until::Synchronized, 20);
    let mut rows = Vec::new();
    for build in 0..BUILDS {
        for forward in [true, false] {
            let w = if shared { of_all.clone() } else { weights(setup, n)? };
            let graph = decode(setup, n, &w, setup.stream.clone_htod(&start)?, (forward, place))?;
            rows.push((forward, build, graph.report().nodes()));
            let mut exec = graph.instantiate()?;
            race.ours(&format!("{forward}, {build}"), move |stream: &Arc<_>| {
                exec.launch(stream)?;
                Ok(())
            });
        }
    }
    let times = race.run(setup)?;
    for (one, (forward, build, nodes)) in times.iter().zip(rows) {
        table.row(&[
            format!("12 layers, {n} wide"),
            if shared { "of all" } else { "own" }.to_owned(),
            place.name().to_owned(),
            if forward { "registers" } else { "memory" }.to_owned(),
            (build + 1).to_string(),
            nodes.to_string(),
            us(one.host),
            us(one.device),
            format!("{:.3}", ratio(one.host, times[0].host)),
        ])?;
    }
    Ok(())
}
