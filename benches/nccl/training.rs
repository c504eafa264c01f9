//! A training step of a perceptron on two devices with weak scaling: each device has its own samples. The side made
//! by hand has a stream for the computation and one for the collectives on each device, with events between them.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, result};
use cuweave::Buffer;
use cuweave::blas::Blas;

use crate::Pair;
use crate::common::hand::{self, Event, Kernel, address};
use crate::common::model::{Numbers, bits, in_parallel};
use crate::common::table::Table;
use crate::common::{Result, ratio};
use crate::graphs::{self, Layer, Replica, quarters};
use crate::library::{AVG, F32};
use crate::matmul::{Product, WORKSPACE};
use crate::products::{Form, product};
use crate::race::{self, Race, Side};

/// So small that the numbers hardly change over thousands of steps.
const RATE: f32 = 1e-9;

/// The sizes of a step: layers with `width` inputs and outputs, and samples on each device.
#[derive(Clone, Copy)]
struct Sizes {
    width: u32,
    samples: u32,
    layers: u32,
    /// If true, the numbers are few small integers, whose products and sums are exact even in TF32.
    exact: bool,
}

impl Sizes {
    fn square(self) -> u32 {
        self.width * self.width
    }

    fn values(self) -> u32 {
        self.samples * self.width
    }

    /// Returns the weights of a layer on the host.
    fn weights(self, layer: u32) -> Vec<f32> {
        // The rows have a length of about √2, which max(·, 0) halves.
        let scale = (6.0 / self.width as f32).sqrt();
        let numbers = Numbers { seed: layer + 1, len: self.square() as usize, middle: 0.0, scale };
        if !self.exact {
            return numbers.all(|x| x);
        }
        // One in 16 is 1 or -1.
        numbers.all(|x| if x.abs() > scale * 15.0 / 16.0 { x.signum() } else { 0.0 })
    }

    /// Returns the samples or the targets of a device.
    fn samples_of(self, device: usize, target: bool) -> Vec<f32> {
        let seed = 100 + 2 * device as u32 + u32::from(target);
        let exact = self.exact;
        let numbers = Numbers { seed, len: self.values() as usize, middle: 0.0, scale: 1.0 };
        numbers.all(|x| if exact { (1.5 * x).round() } else { x })
    }
}

/// The operands of one side on one device.
struct Operands {
    w: Vec<Buffer<f32>>,
    m: Vec<Buffer<f32>>,
    y: Vec<Buffer<f32>>,
    x: Buffer<f32>,
    target: Buffer<f32>,
}

impl Operands {
    fn new(pair: &Pair, sizes: Sizes, device: usize, weights: &[Vec<f32>]) -> Result<Operands> {
        let stream = &pair.streams[device];
        let layers = weights.iter().map(|w| Buffer::from_host(stream, w));
        let zeros = weights.iter().map(|w| Buffer::zeros(stream, w.len()));
        let values = weights.iter().map(|_| Buffer::zeros(stream, sizes.values() as usize));
        Ok(Operands {
            w: layers.collect::<cuweave::Result<_>>()?,
            m: zeros.collect::<cuweave::Result<_>>()?,
            y: values.collect::<cuweave::Result<_>>()?,
            x: Buffer::from_host(stream, &sizes.samples_of(device, false))?,
            target: Buffer::from_host(stream, &sizes.samples_of(device, true))?,
        })
    }

    fn replica(&self, sizes: Sizes) -> Replica<'static> {
        let one = |((w, m), y): ((&Buffer<f32>, &Buffer<f32>), &Buffer<f32>)| {
            Layer::new(sizes.square(), sizes.values(), w.clone(), m.clone(), y.clone())
        };
        let layers: Vec<_> = self.w.iter().zip(&self.m).zip(&self.y).map(one).collect();
        Replica::new(sizes.values(), layers, self.x.clone(), self.target.clone())
    }
}

/// Returns the address of a buffer that is never moved.
fn at(pair: &Pair, device: usize, buffer: &Buffer<f32>) -> Result<u64> {
    let stream = &pair.streams[device];
    Ok(buffer.with(stream, |view| view.device_ptr(stream).0)?)
}

/// The stream of the updates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Updates {
    /// After the backward pass, in the stream of the computation.
    Last,
    /// Each after its all-reduce, in the stream of the collectives.
    WithCollectives,
    /// Each after its all-reduce, in a separate stream.
    Apart,
}

/// One device's part of the side made by hand.
struct Device {
    compute: Arc<CudaStream>,
    collect: Arc<CudaStream>,
    update: Arc<CudaStream>,
    products: [Product; 3],
    kernels: [Kernel; 3],
    w: Vec<u64>,
    m: Vec<u64>,
    y: Vec<u64>,
    x: u64,
    target: u64,
    dy: [CudaSlice<f32>; 2],
    dw: Vec<CudaSlice<f32>>,
    workspace: CudaSlice<u8>,
    /// The events after the gradient of each layer, after its all-reduce, and after the last reader of its weights.
    events: [Vec<Event>; 3],
    ends: [Event; 2],
    _module: hand::Module,
}

impl Device {
    fn new(pair: &Pair, sizes: Sizes, device: usize, of: &Operands, priority: bool) -> Result<Device> {
        let ctx = &pair.contexts[device];
        ctx.bind_to_thread()?;
        let (least, greatest) = result::stream::get_priority_range()?;
        let stream = |priority: i32| ctx.new_stream_with_priority(priority);
        let memory = &pair.streams[device];
        let zeros = |len: u32| memory.alloc_zeros::<f32>(len as usize);
        let addresses = |buffers: &[Buffer<f32>]| -> Result<Vec<u64>> {
            buffers.iter().map(|buffer| at(pair, device, buffer)).collect()
        };
        let module = hand::Module::of(ctx, include_str!("../kernels/training.ptx"))?;
        let (values, square) = (quarters(sizes.values()).0, quarters(sizes.square()).0);
        let kernels = [
            module.kernel(c"difference", [values, 1, 1], [256, 1, 1])?,
            module.kernel(c"relu_back", [values, 1, 1], [256, 1, 1])?,
            module.kernel(c"momentum", [square, 1, 1], [256, 1, 1])?,
        ];
        let (samples, width) = (sizes.samples, sizes.width);
        let events = || (0..sizes.layers).map(|_| Event::new()).collect::<Result<Vec<_>>>();
        Ok(Device {
            compute: stream(least)?,
            collect: stream(if priority { greatest } else { least })?,
            update: stream(least)?,
            products: [
                product([samples, width, width], Form::Relu)?,
                product([width, width, samples], Form::FirstTransposed)?,
                product([samples, width, width], Form::SecondTransposed)?,
            ],
            kernels,
            w: addresses(&of.w)?,
            m: addresses(&of.m)?,
            y: addresses(&of.y)?,
            x: at(pair, device, &of.x)?,
            target: at(pair, device, &of.target)?,
            dy: [zeros(sizes.values())?, zeros(sizes.values())?],
            dw: (0..sizes.layers).map(|_| zeros(sizes.square())).collect::<std::result::Result<_, _>>()?,
            workspace: memory.alloc_zeros(WORKSPACE)?,
            events: [events()?, events()?, events()?],
            ends: [Event::new()?, Event::new()?],
            _module: module,
        })
    }

    /// Returns the address of a layer's input.
    fn input(&self, layer: usize) -> u64 {
        if layer == 0 { self.x } else { self.y[layer - 1] }
    }

    fn forward(&self, sizes: Sizes) -> Result<()> {
        let workspace = address(&self.workspace);
        for layer in 0..sizes.layers as usize {
            let operands = [self.input(layer), self.w[layer], self.input(layer + 1)];
            self.products[0].enqueue(&self.compute, operands, 0.0, workspace)?;
        }
        let arguments =
            [self.input(sizes.layers as usize), self.target, address(&self.dy[0]), sizes.values().into()];
        hand::launch(self.kernels[0], &arguments, &self.compute)
    }

    /// Enqueues the computation of a layer's weight gradient. The gradient of its output is in `dy[from]`.
    fn weights_back(&self, sizes: Sizes, layer: usize, from: usize) -> Result<()> {
        let dy = address(&self.dy[from]);
        let arguments = [self.input(layer + 1), dy, sizes.values().into()];
        hand::launch(self.kernels[1], &arguments, &self.compute)?;
        let operands = [self.input(layer), dy, address(&self.dw[layer])];
        self.products[1].enqueue(&self.compute, operands, 0.0, address(&self.workspace))
    }

    fn values_back(&self, layer: usize, from: usize) -> Result<()> {
        let operands = [address(&self.dy[from]), self.w[layer], address(&self.dy[1 - from])];
        self.products[2].enqueue(&self.compute, operands, 0.0, address(&self.workspace))
    }

    fn descend(&self, sizes: Sizes, layer: usize, stream: &CudaStream) -> Result<()> {
        let square = sizes.square().into();
        let arguments = [self.w[layer], self.m[layer], address(&self.dw[layer]), bits(RATE), square];
        hand::launch(self.kernels[2], &arguments, stream)
    }
}

/// The side made by hand.
struct ByHand<'a> {
    pair: &'a Pair,
    sizes: Sizes,
    updates: Updates,
    devices: Vec<Device>,
    operands: Vec<Operands>,
}

impl<'a> ByHand<'a> {
    fn new(
        pair: &'a Pair,
        sizes: Sizes,
        (updates, priority): (Updates, bool),
        weights: &[Vec<f32>],
        count: usize,
    ) -> Result<ByHand<'a>> {
        let operands = (0..count).map(|device| Operands::new(pair, sizes, device, weights));
        let operands: Vec<Operands> = operands.collect::<Result<_>>()?;
        let devices = operands.iter().enumerate();
        let devices =
            devices.map(|(at, of)| Device::new(pair, sizes, at, of, priority)).collect::<Result<_>>()?;
        pair.wait()?;
        Ok(ByHand { pair, sizes, updates, devices, operands })
    }

    /// Calls `work` for each device, with its context current.
    fn each(&self, mut work: impl FnMut(&Device) -> Result<()>) -> Result<()> {
        for (device, ctx) in self.devices.iter().zip(&self.pair.contexts) {
            ctx.bind_to_thread()?;
            work(device)?;
        }
        Ok(())
    }

    /// Enqueues a step, which begins and ends in the streams of the computation.
    fn step(&self) -> Result<()> {
        let (sizes, updates) = (self.sizes, self.updates);
        self.each(|device| device.forward(sizes))?;
        let mut from = 0;
        for layer in (0..sizes.layers as usize).rev() {
            self.each(|device| {
                device.weights_back(sizes, layer, from)?;
                device.events[0][layer].order(&device.compute, &device.collect)
            })?;
            if self.devices.len() > 1 {
                let of: Vec<(u64, &CudaStream)> = self
                    .devices
                    .iter()
                    .map(|device| (address(&device.dw[layer]), &*device.collect))
                    .collect();
                self.pair.nccl.all_reduce(&of, sizes.square() as usize, F32, AVG)?;
            }
            self.each(|device| {
                device.events[1][layer].record(&device.collect)?;
                if layer > 0 {
                    device.values_back(layer, from)?;
                }
                let stream = match updates {
                    Updates::Last => return Ok(()),
                    Updates::WithCollectives => &device.collect,
                    Updates::Apart => &device.update,
                };
                device.events[1][layer].wait(stream)?;
                device.events[2][layer].order(&device.compute, stream)?;
                device.descend(sizes, layer, stream)
            })?;
            from = 1 - from;
        }
        self.each(|device| match updates {
            Updates::Last => (0..sizes.layers as usize).rev().try_for_each(|layer| {
                device.events[1][layer].wait(&device.compute)?;
                device.descend(sizes, layer, &device.compute)
            }),
            Updates::WithCollectives => device.ends[0].order(&device.collect, &device.compute),
            Updates::Apart => {
                device.ends[0].order(&device.collect, &device.compute)?;
                device.ends[1].order(&device.update, &device.compute)
            }
        })?;
        Ok(self.pair.contexts[0].bind_to_thread()?)
    }

    /// Captures a step.
    fn capture(&self) -> Result<(String, hand::Exec)> {
        let [first, second] = [0, 1].map(|at| &self.devices[at]);
        self.pair.contexts[0].bind_to_thread()?;
        let graph = hand::capture(&first.compute, || {
            first.ends[0].order(&first.compute, &second.compute)?;
            self.step()?;
            self.pair.contexts[1].bind_to_thread()?;
            second.ends[0].order(&second.compute, &first.compute)?;
            Ok(self.pair.contexts[0].bind_to_thread()?)
        })?;
        Ok((graph.size(), graph.instantiate()?))
    }

    fn wait(&self) -> Result<()> {
        self.devices.iter().try_for_each(|device| Ok(device.compute.synchronize()?))
    }
}

/// Returns the momenta of the first and the last layer on all devices, after some steps.
fn moments(pair: &Pair, operands: &[Operands]) -> Result<Vec<Vec<f32>>> {
    let mut all = Vec::new();
    for (of, stream) in operands.iter().zip(&pair.streams) {
        for at in [0, of.m.len() - 1] {
            all.push(of.m[at].to_host(stream)?);
        }
    }
    Ok(all)
}

/// Computes the same step in plain Rust, over the samples of all devices. Returns the momenta.
fn plain(sizes: Sizes, devices: usize, steps: usize) -> Vec<Vec<f64>> {
    let width = sizes.width as usize;
    let wide = |values: Vec<f32>| values.into_iter().map(f64::from).collect::<Vec<f64>>();
    let gather =
        |target: bool| (0..devices).flat_map(|at| wide(sizes.samples_of(at, target))).collect::<Vec<f64>>();
    let (x, target) = (gather(false), gather(true));
    let mut weights: Vec<Vec<f64>> = (0..sizes.layers).map(|layer| wide(sizes.weights(layer))).collect();
    let mut moments: Vec<Vec<f64>> = weights.iter().map(|w| vec![0.0; w.len()]).collect();
    for _ in 0..steps {
        let mut values = vec![x.clone()];
        for w in &weights {
            let x = &values[values.len() - 1];
            let mut y = vec![0.0; x.len()];
            in_parallel(&mut y, |at, y| {
                let (row, column) = (at / width * width, at % width);
                *y = (0..width).map(|k| x[row + k] * w[k * width + column]).sum::<f64>().max(0.0);
            });
            values.push(y);
        }
        let mut dy: Vec<f64> =
            values[weights.len()].iter().zip(&target).map(|(y, target)| y - target).collect();
        for (layer, (w, m)) in weights.iter_mut().zip(&mut moments).enumerate().rev() {
            let (x, y) = (&values[layer], &values[layer + 1]);
            dy.iter_mut().zip(y).for_each(|(dy, y)| *dy = if *y > 0.0 { *dy } else { 0.0 });
            let mut dx = vec![0.0; x.len()];
            in_parallel(&mut dx, |at, dx| {
                let (row, column) = (at / width * width, at % width * width);
                *dx = (0..width).map(|k| dy[row + k] * w[column + k]).sum();
            });
            let samples = x.len() / width;
            in_parallel(m, |at, m| {
                let (row, column) = (at / width, at % width);
                let sum: f64 = (0..samples).map(|k| x[k * width + row] * dy[k * width + column]).sum();
                *m = 0.9 * *m + sum / devices as f64;
            });
            w.iter_mut().zip(m).for_each(|(w, m)| *w -= f64::from(RATE) * *m);
            dy = dx;
        }
    }
    moments
}

/// The maximum error of momenta between sides, as the relative root mean square. Products are rounded to 10 bits. A
/// number that is 0 after max(·, 0) on only one side changes gradients by itself.
const TOLERANCE: f64 = 0.1;
/// The number of steps before the results of sides are compared.
const STEPS: usize = 3;

/// Returns the largest error of all momenta.
fn compare(what: &str, found: &[Vec<f32>], wanted: &[Vec<f64>], tolerance: f64) -> Result<f64> {
    let mut worst = 0.0_f64;
    for (found, wanted) in found.iter().zip(wanted) {
        let squares = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>();
        let apart = squares(&mut found.iter().zip(wanted).map(|(&found, wanted)| f64::from(found) - wanted));
        let error = (apart / squares(&mut wanted.iter().copied())).sqrt();
        if found.len() != wanted.len() || error.is_nan() || error > tolerance {
            return Err(format!("{what}: an error of {error:.1e} of {}", wanted.len()).into());
        }
        worst = worst.max(error);
    }
    Ok(worst)
}

pub fn run(pair: &Pair, table: &mut Table) -> Result<()> {
    let blas = [Blas::new(&pair.contexts[0])?, Blas::new(&pair.contexts[1])?];
    let layers = pair.setup.scaled(8, 3);
    let (width, samples) = pair.setup.scaled((256, 64), (16, 8));
    let small = Sizes { width, samples, layers: 2, exact: true };
    let m = plain(small, 2, 1);
    let wanted = [&m[0], &m[1], &m[0], &m[1]].map(Clone::clone);
    case(pair, table, &blas, small, Some(&wanted))?;
    let largest = m.iter().flatten().fold(0.0_f64, |most, m| most.max(m.abs()));
    table.note(&format!(
        "2 layers, {width} wide, {samples} samples of small integers: after a step the gradients of all sides are \
         those of plain Rust, bit for bit, up to {largest}."
    ))?;
    if pair.setup.driver.is_simulated() {
        return Ok(());
    }
    for (width, samples) in
        [(4096, 1024), (4096, 1280), (4096, 2048), (2048, 2048), (1024, 1024), (4096, 4096)]
    {
        case(pair, table, &blas, Sizes { width, samples, layers, exact: false }, None)?;
    }
    Ok(())
}

/// Races all sides of one size. Their results are compared with `wanted`, or with those of the first side.
fn case(
    pair: &Pair,
    table: &mut Table,
    blas: &[Blas; 2],
    sizes: Sizes,
    wanted: Option<&[Vec<f64>]>,
) -> Result<()> {
    let weights: Vec<Vec<f32>> = (0..sizes.layers).map(|layer| sizes.weights(layer)).collect();
    let operands = || -> Result<Vec<Operands>> {
        (0..2).map(|device| Operands::new(pair, sizes, device, &weights)).collect()
    };
    let work =
        format!("step of {} layers, {} wide, {} samples a device", sizes.layers, sizes.width, sizes.samples);
    let mut wanted = wanted.map(<[_]>::to_vec);
    let mut worst = 0.0_f64;
    let mut hold = |what: &str, found: Vec<Vec<f32>>| -> Result<()> {
        match &wanted {
            Some(wanted) => {
                let tolerance = if sizes.exact { 0.0 } else { TOLERANCE };
                worst = worst.max(compare(&format!("{work}, {what}"), &found, wanted, tolerance)?);
            }
            None => {
                wanted = Some(found.into_iter().map(|of| of.into_iter().map(f64::from).collect()).collect());
            }
        }
        Ok(())
    };
    // They must outlive the race.
    let (mut sides, captured, one);
    let steps = if sizes.exact { 1 } else { STEPS };
    let mut race = Race::new(&pair.setup);
    let finish = || Ok(pair.streams[0].synchronize()?);
    macro_rules! ours {
        ($function:ident $name:literal) => {
            let of = operands()?;
            let replicas = [of[0].replica(sizes), of[1].replica(sizes)];
            let (samples, width) = (sizes.samples, sizes.width);
            let [first, second] = blas;
            let graph =
                graphs::$function(&pair.contexts, samples, width, RATE, &pair.comm, first, second, replicas)?;
            let report = graph.report();
            let size = race::size(&report);
            let mut exec = graph.instantiate()?;
            for _ in 0..steps {
                exec.launch(&pair.streams[0])?;
            }
            exec.synchronize()?;
            hold($name, moments(pair, &of)?)?;
            race.add(Side::ours($name, size, move || Ok(exec.launch(&pair.streams[0])?), finish));
        };
    }
    ours!(both "cuweave");
    ours!(both_as_written "cuweave, as written");
    let of = operands()?;
    let graph =
        graphs::alone(&pair.contexts[0], sizes.samples, sizes.width, RATE, &blas[0], of[0].replica(sizes))?;
    let size = race::size(&graph.report());
    let mut alone = graph.instantiate()?;
    race.add(Side::alone(
        "cuweave, one device alone",
        size,
        move || Ok(alone.launch(&pair.streams[0])?),
        finish,
    ));
    let n = sizes.square();
    let mut parts = Vec::new();
    for stream in &pair.streams {
        parts.push(stream.alloc_zeros::<f32>(n as usize)?);
    }
    pair.wait()?;
    let graph = graphs::reduces(&pair.contexts, 2, sizes.layers, n, &pair.comm, parts)?;
    let size = race::size(&graph.report());
    let mut reduces = graph.instantiate()?;
    race.add(Side::part(
        "its all-reduces alone",
        size,
        move || Ok(reduces.launch(&pair.streams[0])?),
        finish,
    ));
    if blas[0].cublas_version().is_none() {
        return race.run(table, &work, "").map(drop);
    }

    let ways = [
        (Updates::Last, false, "by hand, updates last"),
        (Updates::Last, true, "by hand, updates last, collectives first"),
        (Updates::WithCollectives, true, "by hand, updates behind collectives, which go first"),
        (Updates::Apart, false, "by hand, updates apart"),
        (Updates::Apart, true, "by hand, updates apart, collectives first"),
    ];
    sides = Vec::new();
    for (updates, priority, name) in ways {
        let side = ByHand::new(pair, sizes, (updates, priority), &weights, 2)?;
        for _ in 0..steps {
            side.step()?;
        }
        side.wait()?;
        pair.wait()?;
        hold(name, moments(pair, &side.operands)?)?;
        sides.push((name, side));
    }
    for (name, side) in &sides {
        race.add(Side::by_hand(name, String::new(), || side.step(), || side.wait()));
    }
    let (size, made) = sides[4].1.capture()?;
    captured = made;
    race.add(Side::beside("the last one in a graph", size, || captured.launch(&pair.streams[0]), finish));
    one = ByHand::new(pair, sizes, (Updates::Last, false), &weights, 1)?;
    race.add(Side::alone("by hand, one device alone", String::new(), || one.step(), || one.wait()));
    let times = race.run(table, &work, if sizes.exact { "" } else { "<= 1.02, throughput >= 1.6" })?;
    let alone = times[2].min(times[times.len() - 1]);
    let apart = if sizes.exact {
        String::new()
    } else {
        format!("; gradients of sides differ by {worst:.1e} at most")
    };
    table.note(&format!(
        "{work}: the all-reduces alone take {:.2} of the time of a step of one device{apart}.",
        ratio(times[3], alone)
    ))
}
