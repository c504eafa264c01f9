//! Execs for all values of a size, compared with execs that are built for one value: 16 branches, 16 perceptrons with
//! the batch as a size, a decode step with the cache's length as a size, a U-Net with its side as a size. Then batches
//! of 1 to 4,096 rows by a bank of four execs, and a decode step that is set and launched, compared with updates of
//! nodes made by hand.
//!
//! On the simulated driver, small ones show that it works.

#[macro_use]
mod common;
#[path = "graphs/sizes.rs"]
mod graphs;

use std::sync::Arc;

use common::hand::{self, Node, address};
use common::model::{Numbers, bits, upload};
use common::table::Table;
use common::{Race, Result, Setup, Times, Until, ratio, us};
use cudarc::driver::CudaSlice;
use cuweave::{Bank, Buffer};
use graphs::{
    Conv, EPSILON, HEAD, Layer, Mlp, Norm, Residual, SCALE, for_all, for_one, groups, groups_of_many,
    groups_of_pairs,
};
use half::bf16;

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let columns = [
        "work",
        "size",
        "nodes / edges",
        "for all, us",
        "for one, us",
        "ratio",
        "by events",
        "goal",
        "spread",
    ];
    let mut table = Table::new(&setup, "sizes", &columns)?;
    branches(&setup, &mut table)?;
    mlps(&setup, &mut table)?;
    bank(&setup, &mut table)?;
    image(&setup, &mut table)?;
    decode(&setup, &mut table)?;
    table.finish()
}

/// Adds the row of a size.
fn row(table: &mut Table, work: &str, size: [u32; 2], nodes: String, times: &[Times]) -> Result<()> {
    let [all, one] = times else { return Err("two sides".into()) };
    let [size, most] = size;
    let goal = match size {
        _ if size == most => "<= 1.01",
        _ if 4 * size >= most => "<= 1.03",
        _ => "",
    };
    let spread = format!("{:.2}, {:.2}", all.spread, one.spread);
    let ratios =
        [ratio(all.host, one.host), ratio(all.device, one.device)].map(|ratio| format!("{ratio:.3}"));
    let [host, device] = ratios;
    let of = format!("{size} of {most}");
    table.row(&[
        work.to_owned(),
        of,
        nodes,
        us(all.host),
        us(one.host),
        host,
        device,
        goal.to_owned(),
        spread,
    ])
}

/// Returns an error if two results have different bytes.
fn same<T: PartialEq>(what: &str, size: u32, one: &[T], other: &[T]) -> Result<()> {
    if one == other { Ok(()) } else { Err(format!("{what}: other results for {size}").into()) }
}

/// Compares the sides for some values of a size. Each side is an expression that builds its graph from the size, and
/// one that reads its results.
macro_rules! compare {
    ($setup:ident, $table:ident, $work:expr, $most:expr, $sizes:expr, |$n:ident| $all:expr, $one:expr,
        |$exec:ident| $read:expr
    ) => {{
        let (most, stream): (u32, _) = ($most, &$setup.stream);
        for size in $sizes {
            let $n = size;
            let (graph, fixed) = ($all?, $one?);
            let nodes = |report: &cuweave::report::Report| format!("{} / {}", report.nodes(), report.edges);
            let nodes = format!("{}, {}", nodes(&graph.report()), nodes(&fixed.report()));
            let (mut all, mut one) = (graph.instantiate()?, fixed.instantiate()?);
            all.launch(stream)?;
            one.launch(stream)?;
            let first = {
                let $exec = &all;
                $read
            };
            let second = {
                let $exec = &one;
                $read
            };
            same($work, size, &first, &second)?;
            let mut race = Race::new(Until::Synchronized, 50);
            race.ours("for all", move |stream| Ok(all.launch(stream)?));
            race.by_hand("for one", move |stream| Ok(one.launch(stream)?));
            row(&mut *$table, $work, [size, most], nodes, &race.run($setup)?)?;
        }
    }};
}

/// The largest value, three quarters, the half, a quarter, and a few.
fn sizes(most: u32) -> Vec<u32> {
    let mut all = vec![most, most - 1, most * 3 / 4, most / 2, most / 4, most / 16, 1];
    all.retain(|&size| size > 0);
    all.dedup();
    all
}

fn noise(setup: &Setup, seed: u32, len: usize, scale: f32) -> Result<Arc<CudaSlice<f32>>> {
    upload(&setup.stream, &Numbers { seed, len, middle: 0.0, scale }.all(|v| v))
}

/// Returns 16 buffers of zeros.
fn sixteen(setup: &Setup, len: u32) -> Result<[CudaSlice<f32>; 16]> {
    let buffers = (0..16).map(|_| setup.stream.alloc_zeros::<f32>(len as usize));
    let buffers = buffers.collect::<std::result::Result<Vec<_>, _>>()?;
    buffers.try_into().map_err(|_| "16 buffers".into())
}

fn branches(setup: &Setup, table: &mut Table) -> Result<()> {
    for most in setup.scaled(vec![4_096, 262_144], vec![600]) {
        let work = format!("16 branches x 20, up to {most} elements");
        compare!(
            setup,
            table,
            &work,
            most,
            sizes(most),
            |n| for_all::branches(&setup.ctx, most, n, sixteen(setup, most)?),
            for_one::branches(&setup.ctx, n, sixteen(setup, most)?),
            |exec| setup.stream.clone_dtoh(&exec.args().xs[15])?
        );
    }
    Ok(())
}

/// The perceptrons' weights, and the input of the largest batch.
struct Perceptrons {
    width: u32,
    x: Arc<CudaSlice<f32>>,
    weights: Vec<Vec<Arc<CudaSlice<f32>>>>,
}

impl Perceptrons {
    fn new(setup: &Setup, width: u32, rows: u32) -> Result<Perceptrons> {
        let square = (width * width) as usize;
        let scale = (6.0 / width as f32).sqrt();
        let member = |member: u32| -> Result<Vec<Arc<CudaSlice<f32>>>> {
            let mut all = (0..4)
                .map(|layer| noise(setup, 5 * member + layer + 2, square, scale))
                .collect::<Result<Vec<_>>>()?;
            all.push(noise(setup, 5 * member + 6, width as usize, 0.1)?);
            Ok(all)
        };
        let weights = (0..16).map(member).collect::<Result<_>>()?;
        Ok(Perceptrons { width, x: noise(setup, 1, (rows * width) as usize, 1.0)?, weights })
    }

    fn members(&self) -> Result<[Mlp<'static>; 16]> {
        let member = |parts: &Vec<Arc<CudaSlice<f32>>>| {
            let part = |at: usize| parts[at].clone();
            Mlp::new(self.width, part(0), part(1), part(2), part(3), part(4))
        };
        let members: Vec<Mlp<'static>> = self.weights.iter().map(member).collect();
        members.try_into().map_err(|_| "16 members".into())
    }

    fn outs(&self, setup: &Setup, rows: u32) -> Result<[CudaSlice<f32>; 16]> {
        sixteen(setup, rows * self.width)
    }
}

fn mlps(setup: &Setup, table: &mut Table) -> Result<()> {
    let (width, most) = setup.scaled((256, 256), (64, 70));
    let mlps = Perceptrons::new(setup, width, most)?;
    let (x, work) = (&mlps.x, format!("16 MLPs of 4 layers, {width} wide, up to {most} rows"));
    compare!(
        setup,
        table,
        &work,
        most,
        sizes(most),
        |n| for_all::mlps(&setup.ctx, most, n, width, x.clone(), mlps.members()?, mlps.outs(setup, most)?),
        for_one::mlps(&setup.ctx, n, width, x.clone(), mlps.members()?, mlps.outs(setup, most)?),
        |exec| setup.stream.clone_dtoh(&exec.args().out[15])?
    );
    Ok(())
}

/// Batches of any number of rows, by a bank with an exec for each band.
fn bank(setup: &Setup, table: &mut Table) -> Result<()> {
    let (width, bands) = setup.scaled((256, [64, 256, 1024, 4096]), (64, [2, 8, 30, 70]));
    let most = bands[3];
    let mlps = Perceptrons::new(setup, width, most)?;
    let shared = |seed: u32, len: usize| -> Result<Buffer<f32>> {
        let numbers = Numbers { seed, len, middle: 0.0, scale: 1.0 }.all(|v| v);
        Ok(Buffer::from_host(&setup.stream, &numbers)?)
    };
    let x = shared(1, (most * width) as usize)?;
    let outs = (0..16).map(|_| Buffer::<f32>::zeros(&setup.stream, (most * width) as usize));
    let outs: Vec<Buffer<f32>> = outs.collect::<cuweave::Result<_>>()?;
    let outs: [Buffer<f32>; 16] = outs.try_into().map_err(|_| "16 results")?;
    let mut bank = Bank::<u32, for_all::mlps::Exec<'static>>::new(&setup.stream);
    let values =
        [1, 17, bands[0], bands[0] + 1, bands[1] / 2, bands[1], bands[1] + 1, bands[2] / 2, bands[2]];
    let values = values.into_iter().chain([bands[2] + 1, most / 2, most * 3 / 4, most]);
    for rows in values.collect::<std::collections::BTreeSet<_>>() {
        let band = bands.into_iter().find(|&band| band >= rows).ok_or("a band")?;
        let one =
            for_one::mlps(&setup.ctx, rows, width, mlps.x.clone(), mlps.members()?, mlps.outs(setup, most)?);
        let mut one = one?.instantiate()?;
        let members = mlps.members()?;
        let all = bank.get(&band, |pool| {
            for_all::mlps(&setup.ctx, band, band, width, x.clone(), members, outs.clone())?
                .instantiate_in(pool)
        })?;
        all.set_rows(rows)?;
        all.launch(&setup.stream)?;
        one.launch(&setup.stream)?;
        let len = (rows * width) as usize;
        let second = setup.stream.clone_dtoh(&one.args().out[15])?;
        same("a bank", rows, &outs[15].to_host(&setup.stream)?[..len], &second[..len])?;
        let mut race = Race::new(Until::Synchronized, 50);
        race.ours("by a bank", |stream| Ok(all.launch(stream)?));
        race.by_hand("for one", move |stream| Ok(one.launch(stream)?));
        let times = race.run(setup)?;
        let work = format!("16 MLPs of 4 layers, {width} wide, by a bank of 4 execs (<= 1.03 everywhere)");
        row(table, &work, [rows, band], String::new(), &times)?;
    }
    table.note(&format!("The bank: {:?}", bank.bytes()))
}

/// The channels of the first level of the U-Net.
const C: u32 = 32;

type Parts = ([Residual<'static>; 5], [Conv<'static>; 7], Norm<'static>);

/// Returns the weights of the U-Net.
fn parts(setup: &Setup) -> Result<Parts> {
    let mut seed = 1;
    let mut random = |len: u32, middle: f32, scale: f32| {
        seed += 1;
        upload(&setup.stream, &Numbers { seed, len: len as usize, middle, scale }.all(bf16::from_f32))
    };
    type Random<'r> = &'r mut dyn FnMut(u32, f32, f32) -> Result<Arc<CudaSlice<bf16>>>;
    let norm = |random: Random<'_>, c: u32| -> Result<Norm<'static>> {
        Ok(Norm::new(c, random(c, 1.0, 0.1)?, random(c, 0.0, 0.1)?))
    };
    let conv = |random: Random<'_>, ins: u32, outs: u32| -> Result<Conv<'static>> {
        let weights = random(outs * 9 * ins, 0.0, (3.0 / (9 * ins) as f32).sqrt())?;
        Ok(Conv::new(ins, outs, weights, random(outs, 0.0, 0.1)?))
    };
    let mut blocks = Vec::new();
    for c in [C, 2 * C, 4 * C, 2 * C, C] {
        let first = (norm(&mut random, c)?, conv(&mut random, c, c)?);
        blocks.push(Residual::new(first.0, first.1, norm(&mut random, c)?, conv(&mut random, c, c)?));
    }
    let mut convs = Vec::new();
    for (ins, outs) in [(1, 2), (2, 4), (4, 2), (4, 2), (2, 1), (2, 1), (1, 1)] {
        convs.push(conv(&mut random, ins * C, outs * C)?);
    }
    let wrong = "5 blocks and 7 convolutions";
    Ok((blocks.try_into().map_err(|_| wrong)?, convs.try_into().map_err(|_| wrong)?, norm(&mut random, C)?))
}

fn image(setup: &Setup, table: &mut Table) -> Result<()> {
    let most = setup.scaled(16, 2);
    let points = 16 * most * most * C;
    let numbers = Numbers { seed: 999, len: points as usize, middle: 0.0, scale: 1.0 };
    let x = upload(&setup.stream, &numbers.all(bf16::from_f32))?;
    let work = format!("U-Net, up to {0} x {0} pixels", 4 * most);
    let out = || setup.stream.alloc_zeros::<bf16>(points as usize);
    let all = |n: u32| -> Result<_> {
        let (blocks, convs, norm) = parts(setup)?;
        Ok(for_all::image(&setup.ctx, most, n, C, blocks, convs, norm, x.clone(), out()?)?)
    };
    let one = |n: u32| -> Result<_> {
        let (blocks, convs, norm) = parts(setup)?;
        Ok(for_one::image(&setup.ctx, n, C, blocks, convs, norm, x.clone(), out()?)?)
    };
    compare!(setup, table, &work, most, sizes(most), |n| all(n), one(n), |exec| setup
        .stream
        .clone_dtoh(&exec.args().out)?);
    Ok(())
}

/// A decode step on the device.
struct Decoder {
    heads: u32,
    kv_heads: u32,
    ff: u32,
    capacity: u32,
    layers: Vec<Vec<Arc<CudaSlice<bf16>>>>,
    angles: [Arc<CudaSlice<f32>>; 2],
}

impl Decoder {
    fn new(setup: &Setup, [heads, kv_heads, ff, capacity, layers]: [u32; 5]) -> Result<Decoder> {
        let (width, kv) = ((heads * HEAD) as usize, (kv_heads * HEAD) as usize);
        let (hidden, cache) = (ff as usize, capacity as usize * kv);
        let scale = (3.0 / width as f32).sqrt();
        let lens = [
            (width, 1.0),
            (width * width, scale),
            (kv * width, scale),
            (kv * width, scale),
            (width * width, scale),
            (width, 1.0),
            (hidden * width, scale),
            (hidden * width, scale),
            (width * hidden, (3.0 / ff as f32).sqrt()),
            (cache, 1.0),
            (cache, 1.0),
        ];
        let layer = |layer: u32| -> Result<Vec<Arc<CudaSlice<bf16>>>> {
            (0..)
                .zip(lens)
                .map(|(part, (len, scale))| {
                    let numbers = Numbers { seed: 16 * layer + part + 1, len, middle: 0.0, scale };
                    upload(&setup.stream, &numbers.all(bf16::from_f32))
                })
                .collect()
        };
        let angles = |seed| noise(setup, seed, capacity as usize * 32, 1.0);
        let layers = (0..layers).map(layer).collect::<Result<_>>()?;
        Ok(Decoder { heads, kv_heads, ff, capacity, layers, angles: [angles(7)?, angles(8)?] })
    }

    fn width(&self) -> u32 {
        self.heads * HEAD
    }

    /// Returns the layers with caches of their own.
    fn layers(&self, setup: &Setup) -> Result<Vec<Layer<'static>>> {
        let layer = |parts: &Vec<Arc<CudaSlice<bf16>>>| -> Result<Layer<'static>> {
            let part = |at: usize| parts[at].clone();
            let own = |at: usize| setup.stream.clone_dtod(&*parts[at]);
            let sizes = (self.width(), self.kv_heads * HEAD, self.ff, self.capacity);
            Ok(Layer::new(
                sizes.0,
                sizes.1,
                sizes.2,
                sizes.3,
                part(0),
                part(1),
                part(2),
                part(3),
                part(4),
                part(5),
                part(6),
                part(7),
                part(8),
                own(9)?,
                own(10)?,
            ))
        };
        self.layers.iter().map(layer).collect()
    }

    fn x(&self, setup: &Setup) -> Result<CudaSlice<bf16>> {
        let numbers = Numbers { seed: 9, len: self.width() as usize, middle: 0.0, scale: 1.0 };
        Ok(setup.stream.clone_htod(&numbers.all(bf16::from_f32))?)
    }

    /// Returns the kernels and arguments of a step by hand, in order. `caches` and `own` are the buffers that it
    /// writes: the caches of all layers, then x, q, k, v, mixed, both.
    fn by_hand(
        &self,
        module: &hand::Module,
        caches: &[[u64; 2]],
        own: [u64; 6],
        n: u32,
    ) -> Result<Vec<(hand::Kernel, Vec<u64>)>> {
        let [x, q, k, v, mixed, both] = own;
        let (width, kv, ff) = (self.width(), self.kv_heads * HEAD, self.ff);
        let [cosines, sines] = [0, 1].map(|at| address(&self.angles[at]));
        let mut all = Vec::new();
        for (weights, &[keys, values]) in self.layers.iter().zip(caches) {
            let w: Vec<u64> = weights.iter().map(|part| address(part)).collect();
            let mut add = |name, blocks: u32, block: u32, arguments: Vec<u64>| -> Result<()> {
                all.push((module.kernel(name, [blocks, 1, 1], [block, 1, 1])?, arguments));
                Ok(())
            };
            let [width64, ff64, epsilon] = [width.into(), ff.into(), bits(EPSILON)];
            for (matrix, y, rows) in [(w[1], q, width), (w[2], k, kv), (w[3], v, kv)] {
                let arguments = vec![matrix, x, w[0], y, rows.into(), width64, epsilon];
                add(c"norm_gemv", groups(rows), 256, arguments)?;
            }
            let heads: [u64; 2] = [self.heads.into(), self.kv_heads.into()];
            let mut arguments = vec![q, k, v, cosines, sines, keys, values, mixed];
            arguments.extend([heads[0], heads[1], u64::from(n - 1), n.into(), bits(SCALE)]);
            add(c"rope_attention", self.heads, 512, arguments)?;
            add(c"gemv_add", groups(width), 256, vec![w[4], mixed, x, width64, width64])?;
            let arguments = vec![w[6], w[7], x, w[5], both, ff64, width64, epsilon];
            add(c"norm_gate_up", groups_of_pairs(ff), 256, arguments)?;
            add(c"gemv_add_many", groups_of_many(width), 256, vec![w[8], both, x, width64, ff64])?;
        }
        Ok(all)
    }
}

/// Sets the position and the length, and launches.
fn set_and_launch(setup: &Setup, table: &mut Table, decoder: &Decoder, work: &str) -> Result<()> {
    let Decoder { heads, kv_heads, ff, capacity, .. } = *decoder;
    let (width, [cosines, sines], stream) = (decoder.width(), &decoder.angles, &setup.stream);
    let module = hand::Module::of(&setup.ctx, include_str!("kernels/decode.ptx"))?;
    let lens = [width, width, kv_heads * HEAD, kv_heads * HEAD, width, ff];
    let own = lens.map(|len| stream.alloc_zeros::<bf16>(len as usize));
    let own = own.into_iter().collect::<std::result::Result<Vec<_>, _>>()?;
    let kept = decoder.layers.iter().flat_map(|parts| &parts[9..]);
    let kept = kept.map(|part| stream.clone_dtod(&**part));
    let kept = kept.collect::<std::result::Result<Vec<_>, _>>()?;
    let caches: Vec<[u64; 2]> = kept.chunks(2).map(|pair| [address(&pair[0]), address(&pair[1])]).collect();
    let addresses: [u64; 6] = std::array::from_fn(|at| address(&own[at]));
    stream.synchronize()?;
    let middle = capacity / 2;
    for (what, until) in
        [("set and launch, on the host", Until::Returned), ("set, launch and sync", Until::Synchronized)]
    {
        let graph = for_all::decode(
            &setup.ctx,
            capacity,
            middle,
            middle - 1,
            heads,
            kv_heads,
            ff,
            capacity,
            width,
            decoder.layers(setup)?,
            cosines.clone(),
            sines.clone(),
            decoder.x(setup)?,
        )?;
        let report = graph.report();
        let mut ours = graph.instantiate()?;
        let mut by_hand = hand::Graph::new()?;
        let mut moved: Vec<(usize, Node)> = Vec::new();
        let mut last: Option<Node> = None;
        for (at, (kernel, arguments)) in
            decoder.by_hand(&module, &caches, addresses, middle)?.iter().enumerate()
        {
            let node = by_hand.add(*kernel, arguments, last.as_slice())?;
            last = Some(node);
            if at % 7 == 3 {
                moved.push((at, node));
            }
        }
        let nodes = format!("{} / {}, {}", report.nodes(), report.edges, by_hand.size());
        let by_hand = by_hand.instantiate()?;
        let mut race = Race::new(until, 50);
        let mut odd = 0;
        race.ours("for all", move |stream| {
            odd = 1 - odd;
            ours.edit(|edit| {
                edit.set_n(middle + odd)?;
                edit.set_pos(middle + odd - 1)
            })?;
            Ok(ours.launch(stream)?)
        });
        let mut odd = 0;
        let steps = [middle, middle + 1];
        let steps = steps.map(|n| decoder.by_hand(&module, &caches, addresses, n));
        let steps = steps.into_iter().collect::<Result<Vec<_>>>()?;
        race.by_hand("by hand", move |stream| {
            odd = 1 - odd;
            for &(at, node) in &moved {
                let (kernel, arguments) = &steps[odd as usize][at];
                by_hand.set(node, *kernel, arguments)?;
            }
            by_hand.launch(stream)
        });
        let times = race.run(setup)?;
        let [all, one] = &times[..] else { return Err("two sides".into()) };
        let spread = format!("{:.2}, {:.2}", all.spread, one.spread);
        let ratios = [ratio(all.host, one.host), ratio(all.device, one.device)];
        let [host, device] = ratios.map(|ratio| format!("{ratio:.3}"));
        let work = format!("{work}: {what}, compared with by hand");
        let goal = "<= 1.15".to_owned();
        table.row(&[work, String::new(), nodes, us(all.host), us(one.host), host, device, goal, spread])?;
    }
    drop((kept, own));
    Ok(())
}

fn decode(setup: &Setup, table: &mut Table) -> Result<()> {
    let shape = setup.scaled([32, 4, 5632, 2048, 22], [2, 1, 72, 20, 2]);
    let decoder = Decoder::new(setup, shape)?;
    let Decoder { heads, kv_heads, ff, capacity, .. } = decoder;
    let (width, [cosines, sines]) = (decoder.width(), &decoder.angles);
    let work =
        format!("decode step, {} layers, {width} wide, cache of up to {capacity}", decoder.layers.len());
    macro_rules! build {
        ($side:ident, $($size:expr),*; $pos:expr) => {
            $side::decode(
                &setup.ctx, $($size,)* $pos, heads, kv_heads, ff, capacity, width, decoder.layers(setup)?,
                cosines.clone(), sines.clone(), decoder.x(setup)?,
            )
        };
    }
    compare!(
        setup,
        table,
        &work,
        capacity,
        sizes(capacity),
        |n| build!(for_all, capacity, n; n - 1),
        build!(for_one, n; n - 1),
        |exec| setup.stream.clone_dtoh(&exec.args().x)?
    );
    set_and_launch(setup, table, &decoder, &work)
}
