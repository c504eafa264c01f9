//! cuBLASLt products in graphs, compared with the same calls captured by hand, with the same algorithms: a chain of
//! 20 in one capture with one workspace, 8 branches of 4 that split k with a workspace each, and the time to
//! capture 200 of them with one capture per call.
//!
//! There is no cuBLAS for the simulated driver, and no side made by hand: there, it only shows that our side works.

mod common;
#[path = "graphs/products.rs"]
mod graphs;
#[path = "products/hand.rs"]
mod hand;
#[path = "products/matmul.rs"]
mod matmul;

use std::time::Instant;

use common::hand::{Event, address, capture};
use common::table::Table;
use common::{Race, Result, Setup, Until, median, ratio, us};
use cudarc::driver::{CudaSlice, DeviceRepr};
use cuweave::__private::{LaunchRules, change_next_rules};
use cuweave::blas::{Blas, Product as Shape};
use half::bf16;

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let blas = Blas::new(&setup.ctx)?;
    let mut table = Table::of_races(&setup, "library_calls")?;
    for (rows, d) in [(16, 384), (128, 1024), (1024, 1024)] {
        let (rows, d) = setup.scaled((rows, d), (4, 8));
        chain_f32(&setup, &blas, &mut table, rows, d)?;
        chain_bf16(&setup, &blas, &mut table, rows, d)?;
    }
    for kernels in [1, 2] {
        between(&setup, &blas, &mut table, kernels)?;
    }
    let planned = branches(&setup, &blas, &mut table)?;
    let built = build(&setup, &blas)?;
    sized(&setup, &blas)?;
    if let Some(version) = blas.cublas_version() {
        table.note(&format!("cuBLASLt {version}."))?;
    }
    table.note(&planned)?;
    table.note(&built)?;
    table.finish()
}

/// Returns numbers between -scale and scale.
fn noise(len: u32, seed: u32, scale: f32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 8) as f32 / (1 << 23) as f32 - 1.0) * scale
    };
    (0..len).map(|_| next()).collect()
}

/// Returns an error if results differ by more than a different rounding order explains.
fn close<T: DeviceRepr + Copy + Into<f64>>(
    setup: &Setup,
    what: &str,
    ours: &CudaSlice<T>,
    by_hand: &CudaSlice<T>,
    loose: f64,
) -> Result<()> {
    let (ours, by_hand) = (setup.stream.clone_dtoh(ours)?, setup.stream.clone_dtoh(by_hand)?);
    let largest = by_hand.iter().map(|&x| x.into().abs()).fold(0.0, f64::max);
    for (at, (&ours, &by_hand)) in ours.iter().zip(&by_hand).enumerate() {
        let (ours, by_hand): (f64, f64) = (ours.into(), by_hand.into());
        if (ours - by_hand).abs() > loose * largest || ours.is_nan() {
            return Err(format!("{what}: element {at} is {ours}, and {by_hand} by hand").into());
        }
    }
    Ok(())
}

const PRODUCTS: u32 = 20;

macro_rules! chain {
    ($name:ident, $owned:ident, $ty:ty, $label:literal, $of:expr, $bf16:literal) => {
        fn $name(setup: &Setup, blas: &Blas, table: &mut Table, rows: u32, d: u32) -> Result<()> {
            let stream = &setup.stream;
            // Rows of w have a length of about 1, so that repeated products neither grow nor vanish.
            let convert = |values: Vec<f32>| values.into_iter().map($of).collect::<Vec<$ty>>();
            let w = stream.clone_htod(&convert(noise(d * d, 1, (3.0 / d as f32).sqrt())))?;
            let start = convert(noise(rows * d, 2, 1.0));
            let [mut x, mut z, y, h] = [
                stream.clone_htod(&start)?,
                stream.clone_htod(&start)?,
                stream.clone_htod(&start)?,
                stream.clone_htod(&start)?,
            ];
            let what = format!("chain of {PRODUCTS}, {rows} x {d} x {d}, {}", $label);
            let graph = graphs::$name(&setup.ctx, rows, d, PRODUCTS / 2, blas, &w, &mut x)?;
            let report = graph.report();
            let size = format!("{} / {}", report.nodes(), report.edges);
            let mut ours = graph.instantiate()?;
            if blas.cublas_version().is_none() {
                let mut race = Race::new(Until::Synchronized, 1);
                race.ours("cuweave", move |stream| Ok(ours.launch(stream)?));
                return table.race(&what, "<= 1.01", &race.run(setup)?, &[size]);
            }
            let product = hand::product([rows, d, d], $bf16)?;
            let workspace = hand::workspace(stream, product.workspace)?;
            let side = setup.ctx.new_stream()?;
            stream.synchronize()?;
            let by_hand = capture(&side, || {
                for _ in 0..PRODUCTS / 2 {
                    let [x, h, w] = [address(&y), address(&h), address(&w)];
                    product.enqueue(&side, [x, w, h], 0.0, address(&workspace))?;
                    product.enqueue(&side, [h, w, x], 0.0, address(&workspace))?;
                }
                Ok(())
            })?;
            let by_hand_size = by_hand.size();
            let by_hand = by_hand.instantiate()?;
            ours.launch(stream)?;
            by_hand.launch(stream)?;
            stream.synchronize()?;
            drop(ours);
            close(setup, &what, &x, &y, if $bf16 { 0.05 } else { 1e-3 })?;
            let graph = graphs::$name(&setup.ctx, rows, d, PRODUCTS / 2, blas, &w, &mut x)?;
            let mut ours = graph.instantiate()?;
            let graph = graphs::$owned(&setup.ctx, rows, d, PRODUCTS / 2, blas, &w, &mut z)?;
            let report = graph.report();
            let owned_size = format!("{} / {}", report.nodes(), report.edges);
            let mut owned = graph.instantiate()?;
            let mut race = Race::new(Until::Synchronized, 50);
            race.ours("cuweave", move |stream| Ok(ours.launch(stream)?));
            race.ours("cuweave, memory = \"owned\"", move |stream| Ok(owned.launch(stream)?));
            let sizes = [size, owned_size, by_hand_size];
            race.by_hand("by hand, one capture, one workspace", move |stream| by_hand.launch(stream));
            table.race(&what, "<= 1.01", &race.run(setup)?, &sizes)
        }
    };
}
chain!(chain_f32, chain_f32_owned, f32, "f32", |value| value, false);
chain!(chain_bf16, chain_bf16_owned, bf16, "bf16", bf16::from_f32, true);

/// The time to set the number of rows of 154 products, the first time that a number comes and later.
fn sized(setup: &Setup, blas: &Blas) -> Result<()> {
    let (most, d, pairs) = setup.scaled((64, 1024, 77), (9, 8, 2));
    let convert = |values: Vec<f32>| values.into_iter().map(bf16::from_f32).collect::<Vec<bf16>>();
    let w = setup.stream.clone_htod(&convert(noise(d * d, 1, (3.0 / d as f32).sqrt())))?;
    let mut x = setup.stream.clone_htod(&convert(noise(most * d, 2, 1.0)))?;
    let mut exec = graphs::sized(&setup.ctx, most, most, d, pairs, blas, &w, &mut x)?.instantiate()?;
    exec.launch(&setup.stream)?;
    setup.stream.synchronize()?;
    let columns = ["products", "time", "median ms", "largest ms", "goal ms"];
    let mut table = Table::new(setup, "library_calls_sizes", &columns)?;
    let numbers: Vec<u32> = (1..=most).step_by(3).collect();
    for (time, goal) in [("the first", "<= 4"), ("the second", "<= 0.5"), ("the third", "<= 0.5")] {
        let mut times = Vec::new();
        for &rows in &numbers {
            let start = Instant::now();
            exec.set_rows(rows)?;
            times.push(start.elapsed());
            exec.launch(&setup.stream)?;
            setup.stream.synchronize()?;
        }
        let largest = times.iter().max().copied().unwrap_or_default();
        let ms = |time: std::time::Duration| format!("{:.3}", time.as_secs_f64() * 1e3);
        let products =
            format!("{} of up to {most} x {d} x {d}, {} numbers of rows", 2 * pairs, numbers.len());
        table.row(&[products, time.to_owned(), ms(median(&mut times)), ms(largest), goal.to_owned()])?;
    }
    table.finish()
}

/// Chains of products with launches between them: with the chosen batches, with all possible batches, and without
/// batches.
fn between(setup: &Setup, blas: &Blas, table: &mut Table, kernels: u32) -> Result<()> {
    const COUNT: u32 = 8;
    let (n, pairs) = setup.scaled((64, 10), (4, 2));
    let w = setup.stream.clone_htod(&noise(n * n, 1, 0.1))?;
    let start = noise(COUNT * n * n, 2, 1.0);
    let mut xs = Vec::new();
    for _ in 0..3 {
        xs.push(setup.stream.clone_htod(&start)?);
    }
    let what =
        format!("{COUNT} chains of {pairs} x (product, {kernels} launches, product), {n} x {n} x {n}, f32");
    let mut race = Race::new(Until::Synchronized, setup.scaled(50, 1));
    let mut sizes = Vec::new();
    let all: fn(&mut LaunchRules) = |rules| rules.tuning.crossing = usize::MAX;
    let none: fn(&mut LaunchRules) = |rules| rules.allowed.batches = false;
    let sides = [("cuweave", (|_| {}) as fn(&mut LaunchRules)), ("every batch", all), ("no batches", none)];
    for ((label, change), x) in sides.into_iter().zip(&mut xs) {
        change_next_rules(move |_, _, rules| change(rules));
        let graph = graphs::chains(&setup.ctx, n, pairs, kernels, COUNT, blas, &w, x)?;
        let report = graph.report();
        sizes.push(format!("{} / {}, {} kernels", report.nodes(), report.edges, report.kernels));
        let mut exec = graph.instantiate()?;
        race.ours(label, move |stream| Ok(exec.launch(stream)?));
    }
    table.race(&what, "", &race.run(setup)?, &sizes)
}

/// Returns a line about the planned memory.
fn branches(setup: &Setup, blas: &Blas, table: &mut Table) -> Result<String> {
    const COUNT: u32 = 8;
    let stream = &setup.stream;
    let (m, n, k) = setup.scaled((64, 64, 65_536), (8, 8, 512));
    let a = stream.clone_htod(&noise(COUNT * m * k, 1, 1.0))?;
    let b = stream.clone_htod(&noise(k * n, 2, 1.0))?;
    let mut c = stream.alloc_zeros::<f32>((COUNT * m * n) as usize)?;
    let d = stream.alloc_zeros::<f32>((COUNT * m * n) as usize)?;
    let what = format!("{COUNT} branches of 4, {m} x {n} x {k}, f32");
    let graph = graphs::branches(&setup.ctx, m, n, k, COUNT, blas, &a, &b, &mut c)?;
    let report = graph.report();
    let size = format!("{} / {}", report.nodes(), report.edges);
    let asked = blas.scratch::<f32, f32>(&Shape::row_major(m, n, k), false);
    let planned = report.plan.as_ref().map_or(0, |plan| plan.planned);
    let line = format!(
        "{COUNT} branches: scratch planned {planned} B; cuBLASLt's answers for the {COUNT} calls side by side add \
         up to {} B.",
        asked * u64::from(COUNT)
    );
    let mut ours = graph.instantiate()?;
    if blas.cublas_version().is_none() {
        let mut race = Race::new(Until::Synchronized, 1);
        race.ours("cuweave", move |stream| Ok(ours.launch(stream)?));
        table.race(&what, "<= 1.01", &race.run(setup)?, &[size])?;
        return Ok(line);
    }
    let product = hand::product([m, n, k], false)?;
    let mut workspaces = Vec::new();
    let mut streams = Vec::new();
    for _ in 0..COUNT {
        workspaces.push(hand::workspace(stream, product.workspace)?);
        streams.push(setup.ctx.new_stream()?);
    }
    let first = setup.ctx.new_stream()?;
    stream.synchronize()?;
    let by_hand = capture(&first, || {
        let begun = Event::new()?;
        for (i, (workspace, side)) in workspaces.iter().zip(&streams).enumerate() {
            begun.order(&first, side)?;
            let i = i as u64;
            let (a, c) = (address(&a) + i * u64::from(m * k) * 4, address(&d) + i * u64::from(m * n) * 4);
            for turn in 0..4 {
                let beta = if turn == 0 { 0.0 } else { 1.0 };
                product.enqueue(side, [a, address(&b), c], beta, address(workspace))?;
            }
        }
        for side in &streams {
            Event::new()?.order(side, &first)?;
        }
        Ok(())
    })?;
    let sizes = [size, by_hand.size()];
    let by_hand = by_hand.instantiate()?;
    by_hand.launch(stream)?;
    let mut wrong = 0;
    for _ in 0..1000 {
        ours.launch(stream)?;
    }
    stream.synchronize()?;
    drop(ours);
    if close(setup, &what, &c, &d, 1e-4).is_err() {
        wrong += 1;
    }
    let graph = graphs::branches(&setup.ctx, m, n, k, COUNT, blas, &a, &b, &mut c)?;
    let mut ours = graph.instantiate()?;
    let mut race = Race::new(Until::Synchronized, 50);
    race.ours("cuweave", move |stream| Ok(ours.launch(stream)?));
    race.by_hand("by hand, a stream and a workspace each", move |stream| by_hand.launch(stream));
    table.race(&what, "<= 1.01", &race.run(setup)?, &sizes)?;
    let right = if wrong == 0 { "right" } else { "WRONG" };
    Ok(format!("{line} After 1,000 launches the results are {right}."))
}

/// Returns a line about the time to build a graph of 200 calls.
fn build(setup: &Setup, blas: &Blas) -> Result<String> {
    let (rows, d, calls) = setup.scaled((16, 384, 200), (4, 8, 20));
    let stream = &setup.stream;
    let w = stream.clone_htod(&noise(d * d, 1, 0.1))?;
    let mut x = stream.clone_htod(&noise(rows * d, 2, 1.0))?;
    let h = stream.clone_htod(&noise(rows * d, 2, 1.0))?;
    let side = setup.ctx.new_stream()?;
    stream.synchronize()?;
    let by_hand = match blas.cublas_version() {
        Some(_) => Some(hand::product([rows, d, d], false)?),
        None => None,
    };
    let (mut ours, mut all, mut hands) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..setup.scaled(15, 1) {
        let from = Instant::now();
        let graph = graphs::chain_f32(&setup.ctx, rows, d, calls / 2, blas, &w, &mut x)?;
        all.push(from.elapsed());
        ours.push(graph.times().added);
        drop(graph);
        let Some(product) = &by_hand else { continue };
        let workspace = hand::workspace(stream, product.workspace)?;
        stream.synchronize()?;
        let from = Instant::now();
        let mut graph = hand::Captured::new()?;
        for call in 0..calls {
            let (from, to) = if call % 2 == 0 { (&x, &h) } else { (&h, &x) };
            let addresses = [address(from), address(&w), address(to)];
            graph.call(&side, || product.enqueue(&side, addresses, 0.0, address(&workspace)))?;
        }
        hands.push(from.elapsed());
    }
    let (added, all) = (median(&mut ours), median(&mut all));
    if hands.is_empty() {
        return Ok(format!("Build of {calls} calls: {} us, {} of them captures.", us(all), us(added)));
    }
    let hands = median(&mut hands);
    Ok(format!(
        "Build of {calls} calls: captures {} us, by hand {} us, {:.3}x (goal <= 1.1); the whole build {} us.",
        us(added),
        us(hands),
        ratio(added, hands),
        us(all)
    ))
}
