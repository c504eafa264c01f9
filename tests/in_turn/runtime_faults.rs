//! Lets each driver call of the runtime fail once: the error is returned, all created objects are destroyed, and
//! the next run succeeds.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, PinnedHostSlice};
use cuweave::prelude::*;
use cuweave_testkit::device::simulated_alone;
use cuweave_testkit::faults::{GRAPH, LOAD, NOT_SUPPORTED, ORDER};

#[cuweave::kernels("examples/kernels/memory.ptx")]
unsafe extern "ptx-kernel" {
    fn shift(x: &mut [i32; n], by: i32, n: u32);
}

#[cuweave::graph]
fn produce(n: u32, x: &[i32; n]) -> ([i32; n], [f64; n]) {
    let h = alloc::<i32>(n);
    let g = alloc::<f64>(n);
    copy(&x, &mut h);
    fill(&mut g, 1.5);
    (h, g)
}

#[cuweave::graph]
fn consume(n: u32, by: i32, x: &[i32; n], h: [i32; n], out: &mut [i32; n], host: &mut Pinned<[i32; n]>) {
    let t = alloc::<i32>(n);
    copy(&h, &mut t);
    free(h);
    shift[per_item(n)](&mut t, by, n);
    copy(&t, &mut out);
    copy(&x, &mut host);
}

/// The operands of the scenario, which are made before any call fails.
struct Inputs {
    ctx: Arc<CudaContext>,
    streams: [Arc<CudaStream>; 3],
    x: [CudaSlice<i32>; 2],
    shared: Arc<CudaSlice<i32>>,
    out: CudaSlice<i32>,
    owned: CudaSlice<i32>,
    host: PinnedHostSlice<i32>,
}

const N: u32 = 6;

fn inputs(ctx: &Arc<CudaContext>) -> Inputs {
    let stream = || ctx.new_stream().expect("a stream");
    let streams = [stream(), stream(), ctx.per_thread_stream()];
    let data = |at: usize, value: i32| streams[at].clone_htod(&[value; N as usize]).expect("an upload");
    let x = [data(0, 1), data(1, 2)];
    let (shared, out, owned) = (Arc::new(data(2, 3)), data(0, 0), data(1, 0));
    #[allow(unsafe_code)]
    // SAFETY: filled below before it is read.
    let mut host = unsafe { ctx.alloc_pinned::<i32>(N as usize) }.expect("pinned memory");
    host.as_mut_slice().expect("its memory").fill(0);
    Inputs { ctx: ctx.clone(), streams, x, shared, out, owned, host }
}

/// Uses all features of the runtime once.
fn scenario(inputs: &mut Inputs) -> cuweave::Result<()> {
    let Inputs { ctx, streams, x, shared, out, owned, host } = inputs;
    let mut first = produce(ctx, N, shared.clone())?.instantiate()?;
    let graph = consume(ctx, N, 2, &x[0], first.output().0, out, &mut *host)?;
    let mut second = graph.instantiate()?;
    first.upload(&streams[0])?;
    for stream in streams.iter() {
        let (h, g) = first.launch(stream)?;
        second.launch(stream, (h,))?;
        drop(g);
    }
    second.set_by(3)?;
    second.set_x(&x[1])?;
    first.set_x(&x[0])?;
    std::mem::forget(first.launch(&streams[1])?);
    let (h, g) = first.launch(&streams[0])?;
    second.launch(&streams[1], (h,))?;
    let _ = second.args();
    drop(g);
    second.set_out(&mut *owned)?;
    let (h, _) = first.launch(&streams[2])?;
    second.launch(&streams[0], (h,))?;
    drop(first.into_args());
    let _ = second.args_mut();
    Ok(())
}

/// Checks the contents after a scenario without a fault: 1 + 3 from one producer, and the last buffer that `x` was
/// bound to.
fn check(inputs: &Inputs) {
    let stream = &inputs.streams[0];
    let read = |buffer: &CudaSlice<i32>| stream.clone_dtoh(buffer).expect("a download");
    assert_eq!(read(&inputs.out), [4; N as usize]);
    assert_eq!(read(&inputs.owned), [4; N as usize]);
    assert_eq!(inputs.host.as_slice().expect("its memory"), [2; N as usize]);
}

/// Returns the calls of the runtime in the scenario.
fn calls() -> impl Iterator<Item = &'static str> {
    let others = [
        "cuCtxGetCurrent",
        "cuEventDestroy_v2",
        "cuGraphAddMemAllocNode",
        "cuGraphAddMemFreeNode",
        "cuGraphUpload",
    ];
    LOAD.iter().chain(ORDER).chain(GRAPH).copied().chain(others)
}

#[test]
fn every_call_fails_once() {
    let Some(device) = simulated_alone() else { return };
    let ctx = &device.ctx;
    let mut told = 0;
    for call in calls() {
        let mut struck = 0;
        for nth in 1.. {
            let before = cuweave_sim::live_objects().expect("counts");
            let mut with = inputs(ctx);
            cuweave_sim::inject_fault(call, nth, NOT_SUPPORTED).expect("a fault");
            let result = scenario(&mut with);
            let over = cuweave_sim::clear_faults().expect("faults") > 0;
            if over {
                assert!(result.is_ok(), "without a fault: {result:?}");
                check(&with);
                break;
            }
            struck += 1;
            if let Err(error) = result {
                told += 1;
                let text = error.to_string();
                assert!(text.contains("(801)") || text.contains("(999)"), "`{call}` {nth}: {text}");
            }
            // Objects made before the fault still work, once the context has returned its error.
            let _ = ctx.check_err();
            let mut again = inputs(ctx);
            scenario(&mut again).unwrap_or_else(|error| panic!("after `{call}` {nth}: {error}"));
            check(&again);
            drop((with, again));
            let _ = ctx.check_err();
            ctx.synchronize().expect("all is well");
            assert_eq!(
                cuweave_sim::live_objects().expect("counts"),
                before,
                "`{call}` {nth} leaves something behind"
            );
        }
        println!("{call}: {struck} times");
    }
    assert!(told > 100, "only {told} failures were told");
    let reports = cuweave_sim::reports().expect("reports");
    assert!(reports.is_empty(), "{reports:#?}");
}
