//! The host's time to launch a graph with 300 bound buffers, compared with `cuGraphLaunch`. The buffers are in one
//! array, or in the 26 arguments of a model with all kinds of bindings. Launches use one stream, or alternate
//! between two.

mod common;
#[path = "graphs/bound.rs"]
mod graphs;

use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::{CudaSlice, CudaStream, sys};
use cuweave::Buffer;

use common::hand::{self, Node};
use common::table::Table;
use common::{Race, Result, Setup, Times, Until};

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let (ctx, stream) = (&setup.ctx, &setup.stream);
    let module = hand::Module::load(ctx)?;
    let kernel = module.single(c"after_all")?;
    let mut table = Table::of_races(&setup, "launch_host")?;
    let other = ctx.new_stream()?;
    let mine: Vec<CudaSlice<u32>> =
        (0..300).map(|_| stream.alloc_zeros(1)).collect::<std::result::Result<_, _>>()?;
    let others: Vec<CudaSlice<u32>> =
        (0..300).map(|_| other.alloc_zeros(1)).collect::<std::result::Result<_, _>>()?;
    let own = stream.alloc_zeros::<u32>(1)?;
    ctx.synchronize()?;

    let by_hand = hand_bound(kernel, &mine, hand::address(&own))?;
    let mut sizes = vec![by_hand.size()];
    let by_hand = by_hand.instantiate()?;
    let mut race = Race::new(Until::Returned, 200);
    race.by_hand("cuGraphLaunch", move |stream| by_hand.launch(stream));
    for (name, buffers) in [("of the stream", &mine), ("of another stream", &others)] {
        let buffers: [&CudaSlice<u32>; 300] = std::array::from_fn(|i| &buffers[i]);
        let graph = graphs::bound_300(ctx, buffers, stream.alloc_zeros::<u32>(1)?)?;
        let report = graph.report();
        sizes.push(format!("{} / {}", report.nodes(), report.edges));
        let mut ours = graph.instantiate()?;
        race.ours(&format!("cuweave, buffers {name}"), move |stream| Ok(ours.launch(stream)?));
    }
    let shared = mine.iter().map(|slice| Ok(Buffer::new(slice.try_clone()?)?)).collect::<Result<Vec<_>>>()?;
    let shared: [&Buffer<u32>; 300] = std::array::from_fn(|i| &shared[i]);
    let graph = graphs::bound_300(ctx, shared, stream.alloc_zeros::<u32>(1)?)?;
    let report = graph.report();
    sizes.push(format!("{} / {}", report.nodes(), report.edges));
    let mut ours = graph.instantiate()?;
    race.ours("cuweave, shared `Buffer`s", move |stream| Ok(ours.launch(stream)?));
    let times = race.run(&setup)?;
    let mut notes = table_of(&mut table, "launch() returns, 300 bound buffers", &times, &sizes)?;
    notes.extend(models(&setup, &mut table, kernel, (&mine, &other))?);
    for note in notes {
        table.note(&note)?;
    }
    table.note(&calls(&setup)?)?;
    table.finish()
}

/// Adds the rows of a race. Returns the difference between each launch time and the launch made by hand.
fn table_of(table: &mut Table, work: &str, times: &[Times], sizes: &[String]) -> Result<Vec<String>> {
    table.race(work, "<= cuGraphLaunch + 0.5 us", times, sizes)?;
    let more = |ours: &Times| (ours.host.as_secs_f64() - times[0].host.as_secs_f64()) * 1e6;
    let ours = times[1..].iter().filter(|ours| !ours.by_hand);
    Ok(ours.map(|ours| format!("{work}, {}: cuGraphLaunch {:+.2} us", ours.name, more(ours))).collect())
}

/// The launches of a graph, on the stream of the race or alternately on two streams.
type Launch<'a> = Box<dyn FnMut(&Arc<CudaStream>) -> Result<()> + 'a>;

fn in_turn<'a>(
    other: &'a Arc<CudaStream>,
    mut launch: impl FnMut(&Arc<CudaStream>) -> Result<()> + 'a,
) -> Launch<'a> {
    let mut turn = false;
    Box::new(move |stream| {
        turn = !turn;
        launch(if turn { stream } else { other })
    })
}

/// Binds 300 buffers to the 26 arguments: those of the layers, the other arguments, and the arrays.
macro_rules! bind {
    ($setup:expr, $buffers:expr, |$layer:ident| $weight:expr, $cache:expr, |$one:ident| [$($single:expr),*],
        |$array:ident| [$($list:expr),*]) => {{
        let mut buffers = $buffers.into_iter();
        let mut next = || buffers.next().ok_or("300 buffers");
        let mut layers = Vec::new();
        for _ in 0..16 {
            let mut weights = Vec::new();
            for _ in 0..8 {
                let $layer = next()?;
                weights.push($weight);
            }
            let weights: [_; 8] = weights.try_into().map_err(|_| "8 weights")?;
            let $layer = next()?;
            layers.push(graphs::Layer::new(weights, $cache));
        }
        graphs::bound_26(
            &$setup.ctx,
            1,
            layers,
            $({ let $one = next()?; $single },)*
            $({
                let mut list = Vec::new();
                for _ in 0..13 {
                    let $array = next()?;
                    list.push($list);
                }
                <[_; 13]>::try_from(list).map_err(|_| "13 buffers")?
            },)*
            $setup.stream.alloc_zeros::<u32>(1)?,
        )?
    }};
}

/// The launches of a model's graph.
fn models(
    setup: &Setup,
    table: &mut Table,
    kernel: hand::Kernel,
    (mine, other): (&[CudaSlice<u32>], &Arc<CudaStream>),
) -> Result<Vec<String>> {
    let stream = &setup.stream;
    let fresh = || -> Result<Vec<CudaSlice<u32>>> {
        Ok((0..299).map(|_| stream.alloc_zeros(1)).collect::<std::result::Result<_, _>>()?)
    };
    let buffer = |slice: CudaSlice<u32>| Buffer::new(slice);
    let own = stream.alloc_zeros::<u32>(1)?;
    let mut notes = Vec::new();
    for two in [false, true] {
        let streams = if two { "two streams in turn" } else { "one stream" };
        let (mut borrowed, mut lent) = (fresh()?, fresh()?);
        let mut race = Race::new(Until::Returned, 200);
        let by_hand = hand_bound(kernel, &mine[..299], hand::address(&own))?;
        let mut sizes = vec![by_hand.size()];
        let by_hand = by_hand.instantiate()?;
        let turn = move |stream: &Arc<CudaStream>| by_hand.launch(stream);
        if two {
            race.by_hand("cuGraphLaunch", in_turn(other, turn))
        } else {
            race.by_hand("cuGraphLaunch", turn)
        }
        macro_rules! side {
            ($name:literal, $graph:expr) => {{
                let graph = $graph;
                let report = graph.report();
                sizes.push(format!("{} / {}", report.nodes(), report.edges));
                let mut ours = graph.instantiate()?;
                let turn = move |stream: &Arc<CudaStream>| Ok(ours.launch(stream)?);
                if two { race.ours($name, in_turn(other, turn)) } else { race.ours($name, turn) }
            }};
        }
        side!("cuweave, owned", {
            bind!(setup, fresh()?, |w| w, w, |a| [a, a, a, a, a, a, a, a, a, a, a, a], |b| [
                b, b, b, b, b, b, b, b, b, b, b
            ])
        });
        side!("cuweave, borrowed slices, 16 of them mutably", {
            bind!(
                setup,
                borrowed.iter_mut(),
                |w| &*w,
                w,
                |a| [&*a, &*a, &*a, &*a, &*a, &*a, &*a, &*a, &*a, &*a, &*a, &*a],
                |b| [&*b, &*b, &*b, &*b, &*b, &*b, &*b, &*b, &*b, &*b, &*b]
            )
        });
        side!("cuweave, shared `Buffer`s", {
            bind!(
                setup,
                fresh()?,
                |w| buffer(w)?,
                buffer(w)?,
                |a| [
                    buffer(a)?,
                    buffer(a)?,
                    buffer(a)?,
                    buffer(a)?,
                    buffer(a)?,
                    buffer(a)?,
                    buffer(a)?,
                    buffer(a)?,
                    buffer(a)?,
                    buffer(a)?,
                    buffer(a)?,
                    buffer(a)?
                ],
                |b| [
                    buffer(b)?,
                    buffer(b)?,
                    buffer(b)?,
                    buffer(b)?,
                    buffer(b)?,
                    buffer(b)?,
                    buffer(b)?,
                    buffer(b)?,
                    buffer(b)?,
                    buffer(b)?,
                    buffer(b)?
                ]
            )
        });
        let memory = lent.iter_mut().zip(fresh()?);
        side!("cuweave, of all kinds", {
            bind!(
                setup,
                memory,
                |w| &*w.0,
                buffer(w.1)?,
                |a| [
                    &*a.0,
                    &*a.0,
                    &*a.0,
                    Arc::new(a.1),
                    Arc::new(a.1),
                    Arc::new(a.1),
                    a.1,
                    a.1,
                    a.1,
                    buffer(a.1)?,
                    buffer(a.1)?,
                    buffer(a.1)?
                ],
                |b| [
                    &*b.0,
                    &*b.0,
                    &*b.0,
                    Arc::new(b.1),
                    Arc::new(b.1),
                    Arc::new(b.1),
                    b.1,
                    b.1,
                    buffer(b.1)?,
                    buffer(b.1)?,
                    buffer(b.1)?
                ]
            )
        });
        let times = race.run(setup)?;
        notes.extend(table_of(table, &format!("launch() returns, 26 arguments, {streams}"), &times, &sizes)?);
    }
    Ok(notes)
}

/// Returns the times of the driver calls that a launch consists of, on an idle device.
#[allow(unsafe_code)]
fn calls(setup: &Setup) -> Result<String> {
    let (stream, turns) = (setup.stream.cu_stream(), setup.scaled(20_000u32, 10));
    let event = setup.ctx.new_event(None)?;
    event.record(&setup.stream)?;
    setup.ctx.synchronize()?;
    let raw = event.cu_event();
    let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    let (mut current, mut id) = (std::ptr::null_mut(), 0u64);
    // SAFETY: the stream and the event are alive; pointers are to locals.
    let mut calls: [(&str, &mut dyn FnMut() -> sys::CUresult); 7] = unsafe {
        [
            ("cuCtxGetCurrent", &mut || sys::cuCtxGetCurrent(&mut current)),
            ("cuStreamIsCapturing", &mut || sys::cuStreamIsCapturing(stream, &mut status)),
            ("cuStreamGetId", &mut || sys::cuStreamGetId(stream, &mut id)),
            ("cuEventRecord", &mut || sys::cuEventRecord(raw, stream)),
            ("cuEventQuery", &mut || sys::cuEventQuery(raw)),
            ("cuStreamWaitEvent of its own stream", &mut || sys::cuStreamWaitEvent(stream, raw, 0)),
            ("cuStreamQuery", &mut || sys::cuStreamQuery(stream)),
        ]
    };
    let mut text = String::from("A call, in ns:");
    for (name, call) in &mut calls {
        let start = Instant::now();
        for _ in 0..turns {
            let _ = call();
        }
        let each = start.elapsed().as_secs_f64() * 1e9 / f64::from(turns);
        setup.stream.synchronize()?;
        text.push_str(&format!(" {name} {each:.0},"));
    }
    text.pop();
    Ok(text)
}

fn hand_bound(kernel: hand::Kernel, buffers: &[CudaSlice<u32>], own: u64) -> Result<hand::Graph> {
    let mut graph = hand::Graph::new()?;
    let mut last: Option<Node> = None;
    for buffer in buffers {
        last = Some(graph.add(kernel, &[hand::address(buffer), own, 1], last.as_slice())?);
    }
    Ok(graph)
}
