//! `Buffer`s, which any number of execs can share: results of programs that use them, and refused uses.

use std::sync::Arc;

use cudarc::driver::sys::{CUgraphInstantiate_flags_enum, CUstreamCaptureMode};
use cudarc::driver::{CudaStream, DevicePtr};
use cuweave::prelude::*;
use cuweave::{Buffer, Error};

use cuweave_testkit::device::{Device, alone as device};

#[cuweave::kernels("examples/kernels/memory.ptx")]
unsafe extern "ptx-kernel" {
    fn shift(x: &mut [i32; n], by: i32, n: u32);
}

/// Writes the first `m` elements of the cache.
#[cuweave::graph]
fn prefill(m: u32, n: u32, x: &[i32; m], cache: &mut [i32; n]) {
    copy(&x, &mut cache[0..m]);
}

#[cuweave::graph]
fn decode(n: u32, by: i32, cache: &mut [i32; n], out: &mut [i32; n]) {
    shift[per_item(n)](&mut cache, by, n);
    copy(&cache, &mut out);
}

/// out = x + 1
#[cuweave::graph]
fn step(n: u32, x: &[i32; n], out: &mut [i32; n]) {
    copy(&x, &mut out);
    shift[per_item(n)](&mut out, 1, n);
}

/// x += by; w is read.
#[cuweave::graph]
fn layer(n: u32, by: i32, w: &[i32; n], x: &mut [i32; n]) {
    let h = alloc::<i32>(n);
    copy(&w, &mut h);
    shift[per_item(n)](&mut x, by, n);
    shift[per_item(n)](&mut h, by, n);
}

#[cuweave::graph]
fn gather(n: u32, parts: [&[i32; n]; 3], out: &mut [i32; 3 * n]) {
    copy(&parts[0], &mut out[0..n]);
    copy(&parts[1], &mut out[n..2 * n]);
    copy(&parts[2], &mut out[2 * n..3 * n]);
}

const N: u32 = 8;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn stream(device: &Device) -> Arc<CudaStream> {
    device.ctx.new_stream().expect("a stream")
}

fn buffer(stream: &Arc<CudaStream>, value: i32) -> Buffer<i32> {
    Buffer::from_host(stream, &[value; N as usize]).expect("a buffer")
}

fn read(buffer: &Buffer<i32>, stream: &Arc<CudaStream>) -> Vec<i32> {
    buffer.to_host(stream).expect("a download")
}

#[test]
fn prefill_and_decode_share_a_cache() -> Outcome {
    let device = device();
    let [a, b] = [stream(&device), stream(&device)];
    let cache = Buffer::<i32>::zeros(&a, N as usize)?;
    let out = buffer(&b, 0);
    let prompt = a.clone_htod(&[5; 3])?;
    let mut first = prefill(&device.ctx, 3, N, &prompt, &cache)?.instantiate()?;
    let mut next = decode(&device.ctx, N, 1, &cache, &out)?.instantiate()?;
    first.launch(&a)?;
    for stream in [&a, &b, &a, &device.stream] {
        next.launch(stream)?;
    }
    assert_eq!(read(&out, &b), [9, 9, 9, 4, 4, 4, 4, 4]);
    first.launch(&b)?;
    next.launch(&b)?;
    assert_eq!(read(&cache, &a), [6, 6, 6, 5, 5, 5, 5, 5]);
    // The cache outlives both.
    drop((first, next));
    assert_eq!(read(&cache, &b), [6, 6, 6, 5, 5, 5, 5, 5]);
    Ok(())
}

/// Two graphs in one pool, whose temporaries share an arena, use the same cache.
#[test]
fn members_of_a_pool_share_a_cache() -> Outcome {
    let device = device();
    let a = stream(&device);
    let pool = cuweave::ArenaPool::new(&a)?;
    let (cache, w, out) = (Buffer::<i32>::zeros(&a, N as usize)?, buffer(&a, 1), buffer(&a, 0));
    let mut prefill = layer(&device.ctx, N, 4, &w, &cache)?.instantiate_in(&pool)?;
    let mut decode = decode(&device.ctx, N, 1, &cache, &out)?.instantiate_in(&pool)?;
    prefill.launch(pool.stream())?;
    for _ in 0..3 {
        decode.launch(pool.stream())?;
    }
    assert_eq!(read(&out, &a), [7; N as usize]);
    Ok(())
}

#[test]
fn ping_pong_by_setters() -> Outcome {
    let device = device();
    let [a, b] = [stream(&device), stream(&device)];
    let mut pair = [buffer(&a, 0), buffer(&b, 0)];
    let mut exec = step(&device.ctx, N, &pair[0], &pair[1])?.instantiate()?;
    for turn in 0..6 {
        exec.launch(if turn % 3 == 0 { &a } else { &b })?;
        pair.swap(0, 1);
        exec.set_x(&pair[0])?;
        exec.set_out(&pair[1])?;
    }
    assert_eq!(read(&pair[0], &a), [6; N as usize]);
    // The launch returns an error for a buffer that is bound twice in conflict, and launches nothing.
    exec.set_x(&pair[1])?;
    let error = exec.launch(&a).expect_err("one buffer is bound twice");
    assert!(matches!(error, Error::Overlap { .. }), "{error}");
    exec.set_x(&pair[0])?;
    exec.launch(&a)?;
    assert_eq!(read(&pair[1], &a), [7; N as usize]);
    let error = step(&device.ctx, N, &pair[0], &pair[0]).expect_err("one buffer is bound twice");
    assert!(matches!(error, Error::Overlap { .. }), "{error}");
    Ok(())
}

#[test]
fn layers_share_a_residual() -> Outcome {
    let device = device();
    let [a, b] = [stream(&device), stream(&device)];
    let (x, weights) = (buffer(&a, 0), [(); 5].map(|()| buffer(&b, 1)));
    let mut execs = Vec::new();
    for (by, w) in (1..).zip(&weights) {
        execs.push(layer(&device.ctx, N, by, w, &x)?.instantiate()?);
    }
    for turn in 0..4 {
        for exec in &mut execs {
            exec.launch(if turn % 2 == 0 { &a } else { &b })?;
        }
    }
    assert_eq!(read(&x, &a), [60; N as usize]);
    // One exec for all layers, rebound for each.
    let mut one = layer(&device.ctx, N, 1, &weights[0], &x)?.instantiate()?;
    for (by, w) in (1..).zip(&weights) {
        one.set_w(w)?;
        one.set_by(by)?;
        one.launch(&b)?;
    }
    assert_eq!(read(&x, &a), [75; N as usize]);
    Ok(())
}

#[test]
fn training_and_evaluation() -> Outcome {
    let device = device();
    let [a, b] = [stream(&device), stream(&device)];
    let (w, data, out) = (buffer(&a, 0), buffer(&a, 3), buffer(&b, 0));
    let mut train = layer(&device.ctx, N, 2, &data, &w)?.instantiate()?;
    let mut evaluate = step(&device.ctx, N, &w, &out)?.instantiate()?;
    for turn in 1..5 {
        for _ in 0..3 {
            train.launch(&a)?;
        }
        evaluate.launch(&b)?;
        train.launch(&a)?;
        assert_eq!(read(&out, &b), [8 * turn - 1; N as usize]);
    }
    Ok(())
}

#[test]
fn elements_are_lent() -> Outcome {
    let device = device();
    let [a, b] = [stream(&device), stream(&device)];
    let (x, out) = (buffer(&a, 1), buffer(&b, 0));
    let mut exec = step(&device.ctx, N, &x, &out)?.instantiate()?;
    exec.launch(&a)?;
    x.with_mut(&b, |mut view| {
        assert_eq!(view.len(), N as usize);
        b.memcpy_htod(&[7, 8], &mut view.slice_mut(2..4))
    })??;
    exec.launch(&a)?;
    let part = out.with(&b, |view| b.clone_dtoh(&view.slice(1..5)))??;
    assert_eq!(part, [2, 8, 9, 2]);
    x.copy_from_host(&b, &[4; 3])?;
    exec.launch(&b)?;
    assert_eq!(read(&out, &a), [5, 5, 5, 9, 2, 2, 2, 2]);
    let error = x.copy_from_host(&b, &[0; 9]).expect_err("too many");
    assert_eq!(error.to_string(), "9 elements are copied to a buffer of 8");
    // The views of an exec return the buffers.
    let given = exec.args().out.buffer().expect("the buffer").clone();
    assert!(given.is_same(&out) && exec.args_mut().out.buffer().is_some_and(|buffer| buffer.is_same(&out)));
    assert!(b.clone_dtoh(&exec.args().out).is_err(), "a view of a buffer that is not lent");
    let args = exec.into_args();
    assert!(args.x.view().buffer().is_some_and(|buffer| buffer.is_same(&x)));
    assert!(b.clone_dtoh(&args.out).is_err());
    // A buffer of one exec can be bound to another.
    let x = args.x.view().buffer().expect("the buffer").clone();
    let mut again = step(&device.ctx, N, args.out.view(), &x)?.instantiate()?;
    again.launch(&a)?;
    assert_eq!(read(&x, &a), [6, 6, 6, 10, 3, 3, 3, 3]);
    let _ = device.ctx.check_err();
    Ok(())
}

#[test]
fn what_is_lent_is_not_launched() -> Outcome {
    let device = device();
    let [a, b] = [stream(&device), stream(&device)];
    let (x, out) = (buffer(&a, 1), buffer(&b, 0));
    let mut exec = step(&device.ctx, N, &x, &out)?.instantiate()?;
    exec.launch(&a)?;
    x.with(&b, |view| {
        let error = exec.launch(&a).expect_err("it is lent");
        let (text, told) =
            (error.to_string(), "is borrowed by `Buffer::with` or `with_mut`: launches cannot use it");
        assert!(text.starts_with("`x` (tests/in_turn/buffers.rs:") && text.contains(told), "{text}");
        let error = x.with(&a, |_| ()).expect_err("it is lent");
        assert!(matches!(error, Error::BufferLentTwice), "{error}");
        let error = x.clone().with_mut(&a, |_| ()).expect_err("it is lent");
        assert!(matches!(error, Error::BufferLentTwice), "{error}");
        let error = step(&device.ctx, N, view, &out).expect_err("a view that is lent is bound");
        assert!(matches!(error, Error::LentViewBound), "{error}");
        // Another buffer can be used.
        out.with_mut(&a, |mut view| a.memset_zeros(&mut view)).expect("it is lent").expect("a fill");
    })?;
    let unwound =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| x.with(&b, |_| panic!("unwinds"))));
    assert!(unwound.is_err());
    exec.launch(&a)?;
    assert_eq!(read(&out, &b), [2; N as usize]);
    Ok(())
}

#[test]
fn arrays_and_clones() -> Outcome {
    let device = device();
    let a = stream(&device);
    let parts = [buffer(&a, 1), buffer(&a, 2)];
    let out = Buffer::<i32>::zeros(&a, 24)?;
    let mut exec = gather(&device.ctx, N, [&parts[0], &parts[1], &parts[0]], out.clone())?.instantiate()?;
    exec.launch(&a)?;
    let expected: Vec<i32> = [1, 2, 1].into_iter().flat_map(|value| [value; 8]).collect();
    assert_eq!(read(&out, &a), expected);
    exec.set_parts([&parts[1], &parts[1], &parts[0]])?;
    drop(parts);
    exec.launch(&a)?;
    let expected: Vec<i32> = [2, 2, 1].into_iter().flat_map(|value| [value; 8]).collect();
    assert_eq!(read(&out, &a), expected);
    fn shared<T: Send + Sync + Clone + 'static>(_: &T) {}
    shared(&out);
    assert_eq!(format!("{out:?}"), "Buffer { len: 24, .. }");
    Ok(())
}

#[test]
fn captures_are_left_alone() -> Outcome {
    let device = device();
    if !device.simulated {
        return Ok(());
    }
    for mode in [
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL,
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED,
    ] {
        for what in 0..7 {
            let [a, b] = [stream(&device), stream(&device)];
            let (x, out) = (buffer(&a, 1), buffer(&b, 0));
            let mut exec = step(&device.ctx, N, &x, &out)?.instantiate()?;
            exec.launch(&b)?;
            let nodes = || cuweave_sim::live_objects().expect("counts").nodes;
            let before = nodes();
            a.begin_capture(mode)?;
            let case = format!("{mode:?}, {what}");
            let mut captured: i64 = 0;
            match what {
                0 => {
                    x.with_mut(&a, |mut view| a.memset_zeros(&mut view))??;
                    captured = 1;
                }
                1 => x.with(&a, |view| drop(view.device_ptr(&a)))?,
                2 => exec.launch(&b)?,
                3 => assert!(matches!(exec.launch(&a), Err(Error::StreamCapturing { .. })), "{case}"),
                6 => {
                    // The host memory would be freed before the captured work runs, so these are refused.
                    let refused = [
                        x.to_host(&a).map(drop),
                        x.copy_from_host(&a, &[1]),
                        Buffer::from_host(&a, &[1]).map(drop),
                        Buffer::<i32>::zeros(&a, 4).map(drop),
                    ];
                    for refused in refused {
                        assert!(matches!(refused, Err(Error::BufferCapturing)), "{case}: {refused:?}");
                    }
                }
                4 => {
                    // The graph's two nodes are destroyed, and none is added.
                    drop((exec, x, out));
                    captured = -2;
                }
                _ => {
                    assert_eq!(read(&out, &b), [2; N as usize]);
                    x.copy_from_host(&b, &[3; 2])?;
                }
            }
            assert_eq!(nodes() as i64, before as i64 + captured, "{case}");
            let flags = CUgraphInstantiate_flags_enum::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
            let ended = a.end_capture(flags);
            assert!(ended.is_ok(), "{case}: {:?}", ended.err());
            drop(ended);
            device.ctx.synchronize()?;
            let kept = device.ctx.check_err();
            assert!(kept.is_ok(), "{case}: {kept:?}");
        }
    }
    Ok(())
}

/// A buffer does not accumulate notes of dropped execs.
#[test]
fn execs_come_and_go() -> Outcome {
    let device = device();
    if !device.simulated {
        return Ok(());
    }
    let a = stream(&device);
    let (x, out) = (buffer(&a, 1), buffer(&a, 0));
    let events = || cuweave_sim::live_objects().expect("counts").events;
    let before = events();
    for _ in 0..200 {
        let mut exec = step(&device.ctx, N, &x, &out)?.instantiate()?;
        exec.launch(&a)?;
    }
    assert!(events() < before + 40, "{} events, {before} before", events());
    assert_eq!(read(&out, &a), [2; N as usize]);
    Ok(())
}

/// On a single stream, launches of execs with and without buffers make the same calls.
#[test]
fn one_stream_asks_nothing_of_the_driver() -> Outcome {
    let device = device();
    if !device.simulated {
        return Ok(());
    }
    let a = stream(&device);
    let owned = || a.clone_htod(&[0; N as usize]).expect("an upload");
    let mut plain = step(&device.ctx, N, owned(), owned())?.instantiate()?;
    let (x, out) = (buffer(&a, 1), buffer(&a, 0));
    let mut shared = step(&device.ctx, N, &x, &out)?.instantiate()?;
    let mut other = step(&device.ctx, N, &out, &x)?.instantiate()?;
    let calls = |work: &mut dyn FnMut() -> cuweave::Result<()>| {
        let before = cuweave_sim::call_counts().expect("counts");
        work()?;
        let mut after = cuweave_sim::call_counts().expect("counts");
        after.iter_mut().for_each(|(name, count)| *count -= before.get(name).copied().unwrap_or(0));
        after.retain(|_, count| *count > 0);
        cuweave::Result::Ok(after)
    };
    plain.launch(&a)?;
    let expected = calls(&mut || plain.launch(&a))?;
    for exec in [&mut shared, &mut other] {
        assert_eq!(calls(&mut || exec.launch(&a))?.get("cuStreamWaitEvent"), None);
    }
    for _ in 0..2 {
        assert_eq!(calls(&mut || other.launch(&a))?, expected);
        assert_eq!(calls(&mut || shared.launch(&a))?, expected);
        x.with(&a, |view| drop(view.device_ptr(&a)))?;
    }
    // Another stream waits for a single event, once for all buffers that both read.
    let b = stream(&device);
    let waits = |calls: &std::collections::BTreeMap<String, u64>| calls.get("cuStreamWaitEvent").copied();
    assert_eq!(waits(&calls(&mut || shared.launch(&b))?), Some(1));
    assert_eq!(waits(&calls(&mut || shared.launch(&b))?), None);
    let (w, first, second) = (buffer(&a, 1), buffer(&a, 0), buffer(&b, 0));
    let mut one = step(&device.ctx, N, &w, &first)?.instantiate()?;
    let mut two = step(&device.ctx, N, &w, &second)?.instantiate()?;
    one.launch(&a)?;
    assert_eq!(waits(&calls(&mut || two.launch(&b))?), Some(1));
    for _ in 0..3 {
        assert_eq!(calls(&mut || one.launch(&a))?, expected);
        assert_eq!(calls(&mut || two.launch(&b))?, expected);
    }
    Ok(())
}
