//! Chains of block-local kernels: as written, batched and overlapped, and fused.
//!
//! `--most N,..` measures fused kernels with at most N launches each.

mod common;

use std::sync::Arc;
use std::time::Instant;

use common::table::Table;
use common::{Race, Result, Setup, Until, ratio, us};
use cudarc::driver::CudaSlice;
use cuweave::__private::change_next_rules;
use cuweave::builder::{Args, Builder, Launches};

mod bench {
    use cuweave::prelude::*;

    #[cuweave::kernels("benches/kernels/bench.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn tiny(x: &mut [f32; n], n: u32);
        pub fn produce(x: &[f32; n], t: &mut [MaybeUninit<f32>; n], n: u32);
    }
}

mod shapes {
    use cuweave::prelude::*;

    #[cuweave::kernels("benches/kernels/shapes.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn add_to(x: &[f32; n], y: &mut [f32; n], n: u32);
    }
}

mod launches {
    use cuweave::prelude::*;

    #[cuweave::kernels("benches/kernels/launches.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn momentum(p: &mut [f32; n], m: &mut [f32; n], g: &[f32; n], rate: f32, n: u32);
    }
}

/// A chain of launches.
#[derive(Clone, Copy)]
enum Work {
    /// This many launches of one kernel on one buffer.
    Unary(usize),
    /// This many sums of the buffer and another operand.
    Operands(usize),
    /// This many updates of two buffers by a third.
    Updates(usize),
    /// This many unary launches, each into a temporary that the next one reads.
    Temporaries(usize),
}

/// The form of the launches.
#[derive(Clone, Copy, Debug)]
enum Form {
    AsWritten,
    /// Batched and overlapped, but not fused.
    Overlapped,
    /// Fused, with all elements in memory between the launches.
    InMemory(usize),
    /// All changes, with at most this many launches per fused kernel.
    Fused(usize),
}

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let columns = [
        "chain",
        "form",
        "nodes",
        "bytes",
        "build ms",
        "host us",
        "events us",
        "of overlapped",
        "of as written",
    ];
    let mut table = Table::new(&setup, "fused", &columns)?;
    let most = std::env::args().skip_while(|argument| argument != "--most").nth(1);
    let most: Vec<usize> =
        most.as_deref().unwrap_or("32").split(',').filter_map(|number| number.parse().ok()).collect();
    let long = setup.scaled(500, 40);
    for blocks in setup.scaled(vec![1, 16, 132, 1_056], vec![1, 3]) {
        run(
            &setup,
            &mut table,
            &format!("{long} kernels of {blocks} blocks"),
            Work::Unary(long),
            256 * blocks,
            &most,
        )?;
    }
    let n = setup.scaled(16 << 20, 1 << 12);
    run(&setup, &mut table, &format!("10 unary kernels, {n} elements"), Work::Unary(10), n, &most)?;
    run(
        &setup,
        &mut table,
        &format!("10 sums with an operand each, {n} elements"),
        Work::Operands(10),
        n,
        &most,
    )?;
    run(
        &setup,
        &mut table,
        &format!("10 updates of two buffers, {n} elements"),
        Work::Updates(10),
        n,
        &most,
    )?;
    run(
        &setup,
        &mut table,
        &format!("10 unary kernels into temporaries, {n} elements"),
        Work::Temporaries(10),
        n,
        &most,
    )?;
    let n = setup.scaled(1 << 16, 1 << 10);
    run(
        &setup,
        &mut table,
        &format!("100 sums with an operand each, {n} elements"),
        Work::Operands(100),
        n,
        &most,
    )?;
    run(
        &setup,
        &mut table,
        &format!("100 unary kernels into temporaries, {n} elements"),
        Work::Temporaries(100),
        n,
        &most,
    )?;
    table.finish()
}

/// Returns the three buffers of a contestant, with the same contents for all.
fn buffers(setup: &Setup, n: u32) -> Result<[CudaSlice<f32>; 3]> {
    let data: Vec<f32> = (0..n).map(|at| (at % 1_000) as f32 * 0.001).collect();
    let one = || setup.stream.clone_htod(&data);
    Ok([one()?, one()?, one()?])
}

fn built<'a>(
    setup: &Setup,
    (work, form): (Work, Form),
    n: u32,
    [x, y, z]: &'a mut [CudaSlice<f32>; 3],
) -> Result<cuweave::Graph<Args<'a>>> {
    let mut b = Builder::with_name(&setup.ctx, "chain");
    if let Form::AsWritten = form {
        b.launches(Launches::AsWritten);
    }
    let config = (n.div_ceil(256), 256);
    let x = b.exclusive("x", u64::from(n), x);
    let y = b.exclusive("y", u64::from(n), y);
    let z = b.shared("z", u64::from(n), &*z);
    match work {
        Work::Unary(count) => {
            for _ in 0..count {
                b.launch(bench::tiny {}, config, (x.write(), n))?;
            }
        }
        Work::Operands(count) => {
            for at in 0..count {
                let operand = if at % 2 == 0 { y.read() } else { z.read() };
                b.launch(shapes::add_to {}, config, (operand, x.write(), n))?;
            }
        }
        Work::Updates(count) => {
            for _ in 0..count {
                b.launch(launches::momentum {}, config, (x.write(), y.write(), z.read(), 0.5_f32, n))?;
            }
        }
        Work::Temporaries(count) => {
            let mut last = x;
            for _ in 0..count {
                let next = b.alloc::<f32>(u64::from(n));
                b.launch(bench::produce {}, config, (last.read(), next.write(), n))?;
                last = next;
            }
            b.launch(shapes::add_to {}, config, (last.read(), y.write(), n))?;
        }
    }
    match form {
        Form::AsWritten => {}
        Form::Overlapped => change_next_rules(|_, _, rules| rules.allowed.fuse = false),
        Form::InMemory(most) => change_next_rules(move |_, _, rules| {
            rules.tuning.fused = most;
            rules.allowed.forward = false;
        }),
        Form::Fused(most) => change_next_rules(move |_, _, rules| rules.tuning.fused = most),
    }
    Ok(b.build()?)
}

fn run(setup: &Setup, table: &mut Table, name: &str, work: Work, n: u32, most: &[usize]) -> Result<()> {
    let forms: Vec<Form> = [Form::AsWritten, Form::Overlapped]
        .into_iter()
        .chain(most.iter().map(|&most| Form::InMemory(most)))
        .chain(most.iter().map(|&most| Form::Fused(most)))
        .collect();
    let mut all = Vec::new();
    for _ in &forms {
        all.push(buffers(setup, n)?);
    }
    let mut wanted: Option<Vec<Vec<f32>>> = None;
    for &form in &forms {
        let mut own = buffers(setup, n)?;
        let mut exec = built(setup, (work, form), n, &mut own)?.instantiate()?;
        exec.launch(&setup.stream)?;
        drop(exec);
        setup.stream.synchronize()?;
        let read = |at: usize| setup.stream.clone_dtoh(&own[at]);
        let left = vec![read(0)?, read(1)?];
        let bits = |all: &[Vec<f32>]| all.iter().flatten().map(|value| value.to_bits()).collect::<Vec<u32>>();
        match &wanted {
            None => wanted = Some(left),
            Some(wanted) if bits(wanted) == bits(&left) => {}
            Some(_) => return Err(format!("{name}, {form:?}: other bits").into()),
        }
    }
    let mut race = Race::new(Until::Synchronized, 20);
    let mut nodes = Vec::new();
    for (form, own) in forms.iter().zip(&mut all) {
        let began = Instant::now();
        let graph = built(setup, (work, *form), n, own)?;
        let build = began.elapsed();
        let report = graph.report();
        nodes.push((report.nodes(), report.planned_bytes, build));
        let mut exec = graph.instantiate()?;
        race.ours(&format!("{form:?}"), move |stream: &Arc<_>| {
            exec.launch(stream)?;
            Ok(())
        });
    }
    let times = race.run(setup)?;
    for ((one, form), (nodes, bytes, build)) in times.iter().zip(&forms).zip(nodes) {
        table.row(&[
            name.to_owned(),
            format!("{form:?}"),
            nodes.to_string(),
            bytes.to_string(),
            format!("{:.1}", build.as_secs_f64() * 1e3),
            us(one.host),
            us(one.device),
            format!("{:.2}", ratio(one.host, times[1].host)),
            format!("{:.2}", ratio(one.host, times[0].host)),
        ])?;
    }
    Ok(())
}
