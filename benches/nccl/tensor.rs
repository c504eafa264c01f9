//! A decode step with the shapes of TinyLlama over two devices: 22 layers of width 2048, 32 heads, 4 key and value
//! heads, hidden size 5632, 32000 tokens, 512 positions. Each layer has an all-reduce of 2048 bf16 after the
//! attention and one after the perceptron.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream};
use half::bf16;

use crate::Pair;
use crate::common::hand::{self, address};
use crate::common::model::{Launch, Launches, Numbers, bits, error, in_parallel};
use crate::common::table::Table;
use crate::common::{Result, Setup};
use crate::library::{BF16, SUM};
use crate::race::{self, Race, Side};
use crate::reference::{self, DOWN, Decoder, KEYS, LAST_NORM, NORM, OUTPUT, PARTS};
use crate::spread::{
    self, EPSILON, HEAD, Layer, Part, SCALE, Sizes, groups, groups_of_batched, groups_of_many,
    groups_of_pairs,
};

/// The maximum error of a logit, relative to the largest logit.
const TOLERANCE: f64 = 3e-2;

/// The whole model.
#[derive(Clone, Copy)]
struct Model {
    heads: u32,
    kv_heads: u32,
    ff: u32,
    positions: u32,
    vocab: u32,
    layers: usize,
    token: u32,
}

/// The part of a matrix that a device has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Split {
    Nothing,
    Rows,
    Columns,
}

impl Model {
    fn width(self) -> usize {
        (self.heads * HEAD) as usize
    }

    /// Returns the sizes of a device's part.
    fn part(self) -> Sizes {
        Sizes {
            width: self.heads * HEAD,
            heads: self.heads / 2,
            kv_heads: self.kv_heads / 2,
            ff: self.ff / 2,
            positions: self.positions,
            vocab: self.vocab / 2,
        }
    }

    /// Returns the rows and columns of a part of a layer, its numbers, and how it is divided.
    fn of(self, layer: usize, part: usize) -> ([usize; 2], Numbers, Split) {
        let (width, kv, ff) = (self.width(), (self.kv_heads * HEAD) as usize, self.ff as usize);
        let positions = self.positions as usize;
        let ([rows, columns], split) = match part {
            NORM | LAST_NORM => ([1, width], Split::Nothing),
            1 => ([width, width], Split::Rows),
            2 | 3 => ([kv, width], Split::Rows),
            OUTPUT => ([width, width], Split::Columns),
            6 | 7 => ([ff, width], Split::Rows),
            DOWN => ([width, ff], Split::Columns),
            _ => ([positions, kv], Split::Columns),
        };
        let (middle, scale) = match part {
            NORM | LAST_NORM => (1.0, 0.1),
            part if part >= KEYS => (0.0, 1.0),
            _ => (0.0, (3.0 / columns as f32).sqrt()),
        };
        let seed = (layer * PARTS + part + 10) as u32;
        ([rows, columns], Numbers { seed, len: rows * columns, middle, scale }, split)
    }

    fn table(self) -> Numbers {
        Numbers { seed: 1, len: self.vocab as usize * self.width(), middle: 0.0, scale: 1.0 }
    }

    fn norm(self) -> Numbers {
        Numbers { seed: 2, len: self.width(), middle: 1.0, scale: 0.1 }
    }

    fn head(self) -> Numbers {
        Numbers { seed: 3, scale: (3.0 / self.width() as f32).sqrt(), ..self.table() }
    }

    /// Returns the logits in plain Rust, with weights in bf16.
    fn logits(self) -> Vec<f64> {
        let of = |count: u32| count as usize;
        let decoder = Decoder {
            head: of(HEAD),
            heads: of(self.heads),
            kv_heads: of(self.kv_heads),
            scale: SCALE,
            epsilon: EPSILON,
            pos: of(self.positions) - 1,
            token: of(self.token),
        };
        let layer = |layer| std::array::from_fn(|part| self.of(layer, part).1);
        let layers: Vec<_> = (0..self.layers).map(layer).collect();
        decoder.logits(&layers, [self.table(), self.norm(), self.head()])
    }
}

/// The weights of one device, which all sides share.
struct Loaded {
    layers: Vec<Vec<Arc<CudaSlice<bf16>>>>,
    table: Arc<CudaSlice<bf16>>,
    norm: Arc<CudaSlice<bf16>>,
    head: Arc<CudaSlice<bf16>>,
    angles: [Arc<CudaSlice<f32>>; 2],
    token: Arc<CudaSlice<u32>>,
}

impl Loaded {
    fn new(stream: &Arc<CudaStream>, model: Model, device: usize) -> Result<Loaded> {
        let send =
            |values: &[bf16]| -> Result<Arc<CudaSlice<bf16>>> { Ok(Arc::new(stream.clone_htod(values)?)) };
        let part = |layer: usize, part: usize| send(&device_part(model.of(layer, part), device));
        let layer = |layer: usize| (0..KEYS).map(|at| part(layer, at)).collect::<Result<Vec<_>>>();
        let head = ([model.vocab as usize, model.width()], model.head(), Split::Rows);
        let [cosines, sines] = reference::angles(HEAD as usize, model.positions as usize);
        Ok(Loaded {
            layers: (0..model.layers).map(layer).collect::<Result<_>>()?,
            table: send(&model.table().all(bf16::from_f32))?,
            norm: send(&model.norm().all(bf16::from_f32))?,
            head: send(&device_part(head, device))?,
            angles: [Arc::new(stream.clone_htod(&cosines)?), Arc::new(stream.clone_htod(&sines)?)],
            token: Arc::new(stream.clone_htod(&[model.token])?),
        })
    }

    /// Returns new caches of a layer.
    fn caches(
        stream: &Arc<CudaStream>,
        model: Model,
        device: usize,
        layer: usize,
    ) -> Result<[CudaSlice<bf16>; 2]> {
        let send = |part: usize| stream.clone_htod(&device_part(model.of(layer, part), device));
        Ok([send(KEYS)?, send(KEYS + 1)?])
    }

    /// Returns the operands of a side.
    fn part(&self, stream: &Arc<CudaStream>, model: Model, device: usize) -> Result<Part<'static>> {
        let sizes = model.part();
        let layers = self.layers.iter().enumerate().map(|(at, weights)| {
            let [keys, values] = Loaded::caches(stream, model, device, at)?;
            let [norm, q, k, v, output, last_norm, gate, up, down] = &weights[..] else {
                return Err("a layer has 9 weights".into());
            };
            let [inner, kv_inner] = [sizes.heads * HEAD, sizes.kv_heads * HEAD];
            Ok(Layer::new(
                sizes.width,
                inner,
                kv_inner,
                sizes.ff,
                sizes.positions,
                norm.clone(),
                q.clone(),
                k.clone(),
                v.clone(),
                output.clone(),
                last_norm.clone(),
                gate.clone(),
                up.clone(),
                down.clone(),
                keys,
                values,
            ))
        });
        let [cosines, sines] = self.angles.clone();
        Ok(Part::new(
            sizes.width,
            sizes.positions,
            self.table.len() as u32,
            sizes.vocab,
            layers.collect::<Result<Vec<_>>>()?,
            self.table.clone(),
            self.token.clone(),
            cosines,
            sines,
            self.norm.clone(),
            self.head.clone(),
            stream.alloc_zeros::<f32>(sizes.vocab as usize)?,
        ))
    }
}

/// Returns a device's part of a matrix.
fn device_part(([rows, columns], numbers, split): ([usize; 2], Numbers, Split), device: usize) -> Vec<bf16> {
    let [own_rows, own_columns] = match split {
        Split::Nothing => [rows, columns],
        Split::Rows => [rows / 2, columns],
        Split::Columns => [rows, columns / 2],
    };
    let [first_row, first_column] = match split {
        Split::Nothing => [0, 0],
        Split::Rows => [device * own_rows, 0],
        Split::Columns => [0, device * own_columns],
    };
    let mut part = vec![bf16::ZERO; own_rows * own_columns];
    in_parallel(&mut part, |at, to| {
        let (row, column) = (first_row + at / own_columns, first_column + at % own_columns);
        *to = bf16::from_f32(numbers.at(row * columns + column));
    });
    part
}

/// One device's part of the side made by hand: the launches between collectives, and the address that each
/// collective reduces.
struct ByHand {
    pieces: Vec<Vec<Launch>>,
    y: CudaSlice<bf16>,
    logits: CudaSlice<f32>,
    _launches: Launches,
    _caches: Vec<[CudaSlice<bf16>; 2]>,
    _temporaries: Vec<CudaSlice<bf16>>,
}

impl ByHand {
    fn new(pair: &Pair, model: Model, device: usize, loaded: &Loaded) -> Result<ByHand> {
        let (stream, sizes) = (&pair.streams[device], model.part());
        let [inner, kv] = [sizes.heads, sizes.kv_heads].map(|heads| heads * HEAD);
        let (width, ff) = (sizes.width, sizes.ff);
        let zeros = |len: u32| stream.alloc_zeros::<bf16>(len as usize);
        let temporaries = [width, inner, kv, kv, inner, ff].map(zeros);
        let temporaries = temporaries.into_iter().collect::<std::result::Result<Vec<_>, _>>()?;
        let (y, logits) = (zeros(width)?, stream.alloc_zeros::<f32>(sizes.vocab as usize)?);
        let caches = (0..model.layers).map(|at| Loaded::caches(stream, model, device, at));
        let caches: Vec<[CudaSlice<bf16>; 2]> = caches.collect::<Result<_>>()?;
        let of: Vec<u64> = temporaries.iter().map(address).collect();
        let &[x, q, k, v, mixed, both] = &of[..] else { return Err("6 temporaries".into()) };
        let y_at = address(&y);
        let on =
            Setup { driver: pair.setup.driver, ctx: pair.contexts[device].clone(), stream: stream.clone() };
        let mut l = Launches::new(&on, &[include_str!("../kernels/decode.ptx")])?;
        let mut pieces = Vec::new();
        let grid = |blocks: u32| [blocks, 1, 1];
        let [cosines, sines] = loaded.angles.each_ref().map(|angles| address(angles));
        let arguments = [address(&loaded.table), address(&loaded.token), x, model.vocab.into(), width.into()];
        l.per_item(c"embed", width, &arguments)?;
        for (weights, caches) in loaded.layers.iter().zip(&caches) {
            let w: Vec<u64> = weights.iter().map(|weights| address(weights)).collect();
            let [keys, values] = caches.each_ref().map(address);
            for (matrix, to, n) in [(w[1], q, inner), (w[2], k, kv), (w[3], v, kv)] {
                let arguments = [matrix, x, w[NORM], to, n.into(), width.into(), bits(EPSILON)];
                l.add(c"norm_gemv", grid(groups(n)), 256, &arguments)?;
            }
            let [heads, kv_heads, positions] = [sizes.heads, sizes.kv_heads, sizes.positions].map(u64::from);
            let arguments = [
                q,
                k,
                v,
                cosines,
                sines,
                keys,
                values,
                mixed,
                heads,
                kv_heads,
                positions - 1,
                positions,
                bits(SCALE),
            ];
            l.add(c"rope_attention", [sizes.heads, 1, 1], 512, &arguments)?;
            let arguments = [w[OUTPUT], mixed, y_at, width.into(), inner.into()];
            l.add(c"gemv", grid(groups_of_batched(width)), 256, &arguments)?;
            pieces.push(std::mem::take(&mut l.list));
            l.add(c"add_to", [1; 3], 256, &[x, y_at, width.into()])?;
            let arguments = [w[6], w[7], x, w[LAST_NORM], both, ff.into(), width.into(), bits(EPSILON)];
            l.add(c"norm_gate_up", grid(groups_of_pairs(ff)), 256, &arguments)?;
            let arguments = [w[DOWN], both, y_at, width.into(), ff.into()];
            l.add(c"gemv_many", grid(groups_of_many(width)), 256, &arguments)?;
            pieces.push(std::mem::take(&mut l.list));
            l.add(c"add_to", [1; 3], 256, &[x, y_at, width.into()])?;
        }
        let arguments = [
            address(&loaded.head),
            x,
            address(&loaded.norm),
            address(&logits),
            sizes.vocab.into(),
            width.into(),
            bits(EPSILON),
        ];
        l.add(c"norm_gemv_f32", grid(groups(sizes.vocab)), 256, &arguments)?;
        pieces.push(std::mem::take(&mut l.list));
        Ok(ByHand { pieces, y, logits, _launches: l, _caches: caches, _temporaries: temporaries })
    }
}

/// Enqueues a step on both devices.
fn enqueue(pair: &Pair, sides: &[ByHand; 2], streams: [&CudaStream; 2]) -> Result<()> {
    let width = sides[0].y.len();
    let count = sides[0].pieces.len();
    for piece in 0..count {
        for ((side, stream), ctx) in sides.iter().zip(streams).zip(&pair.contexts) {
            ctx.bind_to_thread()?;
            for launch in &side.pieces[piece] {
                let Launch::Kernel(kernel, arguments) = launch else { continue };
                hand::launch(*kernel, arguments, stream)?;
            }
        }
        if piece + 1 < count {
            let of = [0, 1].map(|at| (address(&sides[at].y), streams[at]));
            pair.nccl.all_reduce(&of, width, BF16, SUM)?;
        }
    }
    Ok(pair.contexts[0].bind_to_thread()?)
}

/// Compares the logits of both devices with plain Rust. Returns the largest error.
fn check(side: &str, found: [Vec<f32>; 2], wanted: &[f64]) -> Result<f64> {
    let error = error(&found.concat(), wanted)?;
    if error > TOLERANCE { Err(format!("{side}: an error of {error:.1e}").into()) } else { Ok(error) }
}

pub fn run(pair: &Pair, table: &mut Table) -> Result<()> {
    let large =
        Model { heads: 32, kv_heads: 4, ff: 5632, positions: 512, vocab: 32_000, layers: 22, token: 7 };
    let small = Model { heads: 4, kv_heads: 2, ff: 64, positions: 6, vocab: 48, layers: 2, token: 7 };
    let model = pair.setup.scaled(large, small);
    let wanted = model.logits();
    let loaded = [Loaded::new(&pair.streams[0], model, 0)?, Loaded::new(&pair.streams[1], model, 1)?];
    let sizes = model.part();
    let hand = [ByHand::new(pair, model, 0, &loaded[0])?, ByHand::new(pair, model, 1, &loaded[1])?];
    pair.wait()?;
    let (captured_size, captured) = pair.capture(|streams| enqueue(pair, &hand, streams))?;
    let streams = [&*pair.streams[0], &*pair.streams[1]];
    let mut errors = Vec::new();
    captured.launch(&pair.streams[0])?;
    pair.wait()?;
    let read = || -> Result<[Vec<f32>; 2]> {
        Ok([pair.streams[0].clone_dtoh(&hand[0].logits)?, pair.streams[1].clone_dtoh(&hand[1].logits)?])
    };
    errors.push(check("by hand", read()?, &wanted)?);
    let mut race = Race::new(&pair.setup);
    macro_rules! side {
        ($side:ident $name:literal) => {
            let parts = vec![
                loaded[0].part(&pair.streams[0], model, 0)?,
                loaded[1].part(&pair.streams[1], model, 1)?,
            ];
            let graph = spread::$side::step(
                &pair.contexts,
                2,
                sizes,
                model.vocab,
                model.positions - 1,
                &pair.comm,
                parts,
            )?;
            let size = race::size(&graph.report());
            let mut exec = graph.instantiate()?;
            exec.launch(&pair.streams[0])?;
            exec.synchronize()?;
            {
                let args = exec.args();
                let [first, second] = [0, 1].map(|at| pair.streams[at].clone_dtoh(&args.parts[at].logits));
                errors.push(check($name, [first?, second?], &wanted)?);
            }
            race.add(Side::ours(
                $name,
                size,
                move || Ok(exec.launch(&pair.streams[0])?),
                || Ok(pair.streams[0].synchronize()?),
            ));
        };
    }
    side!(everything "cuweave");
    side!(as_written "cuweave, as written");
    let finish = || Ok(pair.streams[0].synchronize()?);
    race.add(Side::by_hand(
        "by hand, one graph",
        captured_size,
        || captured.launch(&pair.streams[0]),
        finish,
    ));
    race.add(Side::by_hand(
        "by hand, without a graph",
        String::new(),
        || enqueue(pair, &hand, streams),
        || pair.wait(),
    ));
    let work = format!("decode step of {} layers over two devices, {} wide", model.layers, model.width());
    race.run(table, &work, "<= 1.02")?;
    let errors: Vec<String> = errors.iter().map(|error| format!("{error:.1e}")).collect();
    table.note(&format!(
        "{work}: the largest errors of the logits (by hand, cuweave, as written) are {} of the largest of plain \
         Rust's (at most {TOLERANCE:.0e}).",
        errors.join(", ")
    ))
}
