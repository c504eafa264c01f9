//! Elements in registers of fused kernels, or in memory, in decode steps of 12 layers. Each form is built several times, with buffers at other
//! addresses: the spread of one form is what their places in the caches alone do.
//!
//! The forms have weights of their own, or share them: then all differences are those of the kernels and of the temporaries.

mod common;

use std::sync::Arc;

use common::table::Table;
use common::{Race, Result, Setup, Until, ratio, us};
use cudarc::driver::CudaSlice;
use cuweave::__private::change_next_rules;
use cuweave::builder::{Args, Builder, Handle};

mod kernels {
    use cuweave::prelude::*;

    #[cuweave::kernels("benches/kernels/launches.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
        pub fn gelu(x: &mut [f32; n], n: u32);
        pub fn mean(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    }
}

/// The number of builds of each form.
const BUILDS: usize = 3;

type Weights = Vec<Arc<CudaSlice<f32>>>;

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let columns = ["step", "weights", "form", "build", "nodes", "host us", "events us", "of the first"];
    let mut table = Table::new(&setup, "registers", &columns)?;
    for n in setup.scaled(vec![512, 1_024, 2_048], vec![32]) {
        for shared in [true, false] {
            run(&setup, &mut table, n, shared)?;
        }
    }
    table.finish()
}

fn weights(setup: &Setup, n: u32) -> Result<Weights> {
    let data: Vec<f32> = (0..n * n).map(|at| (at % 1_000) as f32 * 0.001).collect();
    (0..7).map(|_| Ok(Arc::new(setup.stream.clone_htod(&data)?))).collect()
}

/// One step of a decoder of 12 layers, `n` wide, on one sequence: that of `launch_rules`.
fn decode<'a>(
    setup: &Setup,
    n: u32,
    w: &Weights,
    x: CudaSlice<f32>,
    forward: bool,
) -> Result<cuweave::Graph<Args<'a>>> {
    let mut b = Builder::with_name(&setup.ctx, "decode");
    let len = u64::from(n);
    let w: Vec<Handle> =
        (0..).zip(w).map(|(at, w): (u32, _)| b.shared(&format!("w{at}"), len * len, w.clone())).collect();
    let x = b.exclusive("x", len, x);
    let items = (n.div_ceil(256), 256);
    let rows = (n.div_ceil(8), 256);
    let mean = |b: &mut Builder<'a>, one: Handle, other: Handle, to: Handle| {
        b.launch(kernels::mean {}, items, (one.read(), other.read(), to.write(), n))
    };
    let product = |b: &mut Builder<'a>, w: Handle, from: Handle| -> Result<Handle> {
        let to = b.alloc::<f32>(len);
        b.launch(kernels::matvec {}, rows, (w.read(), from.read(), to.write(), n))?;
        Ok(to)
    };
    for _ in 0..12 {
        let normed = b.alloc::<f32>(len);
        mean(&mut b, x, x, normed)?;
        let (q, k, v) =
            (product(&mut b, w[0], normed)?, product(&mut b, w[1], normed)?, product(&mut b, w[2], normed)?);
        b.launch(kernels::gelu {}, items, (q.write(), n))?;
        b.launch(kernels::gelu {}, items, (k.write(), n))?;
        let (s, o) = (b.alloc::<f32>(len), b.alloc::<f32>(len));
        mean(&mut b, q, k, s)?;
        mean(&mut b, s, v, o)?;
        let projected = product(&mut b, w[3], o)?;
        let (residual, again) = (b.alloc::<f32>(len), b.alloc::<f32>(len));
        mean(&mut b, projected, x, residual)?;
        mean(&mut b, residual, residual, again)?;
        let (up, side) = (product(&mut b, w[4], again)?, product(&mut b, w[5], again)?);
        b.launch(kernels::gelu {}, items, (side.write(), n))?;
        let both = b.alloc::<f32>(len);
        mean(&mut b, up, side, both)?;
        let down = product(&mut b, w[6], both)?;
        mean(&mut b, down, residual, x)?;
    }
    change_next_rules(move |_, _, rules| rules.allowed.forward = forward);
    Ok(b.build()?)
}

fn run(setup: &Setup, table: &mut Table, n: u32, shared: bool) -> Result<()> {
    let of_all = weights(setup, n)?;
    let start: Vec<f32> = (0..n).map(|at| (at % 10) as f32 * 0.1).collect();
    let mut race = Race::new(Until::Synchronized, 20);
    let mut rows = Vec::new();
    for build in 0..BUILDS {
        for forward in [true, false] {
            let w = if shared { of_all.clone() } else { weights(setup, n)? };
            let graph = decode(setup, n, &w, setup.stream.clone_htod(&start)?, forward)?;
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
