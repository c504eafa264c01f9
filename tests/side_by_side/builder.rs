//! Graphs of builders: results, setters, all that can be bound, outputs, and combinations with graph functions.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use cuweave::Buffer;
use cuweave::builder::{Argument, Builder, Exec, Handle, Memory, Statement};
use cuweave::prelude::*;
use cuweave_testkit::device::device;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn tripled(n: u32, a: f32, x: &[f32; n]) -> ([f32; n], [f32; 2 * n]) {
    let one = alloc::<f32>(n);
    let two = alloc::<f32>(2 * n);
    copy(&x, &mut one);
    scale[per_item(n)](&mut one, a, n);
    copy(&x, &mut two[..n]);
    copy(&one, &mut two[n..2 * n]);
    (one, two)
}

/// y = a · t; then `t` is freed.
#[cuweave::graph]
fn consumed(n: u32, a: f32, t: [f32; n], y: &mut [MaybeUninit<f32>; n]) {
    copy_to[per_item(n)](&t, &mut y, n);
    free(t);
    scale[per_item(n)](&mut y, a, n);
}

/// Setters re-evaluate configurations, arguments, fill values and scalars of calls. If a setter fails, nothing
/// changes.
#[test]
fn setters_reach_all_that_a_scalar_is_in() {
    let device = device();
    let mut out = device.zeros::<f32>(8);
    let mut b = Builder::with_name(&device.ctx, "set");
    let (count, a, value) = (b.scalar("count", 4), b.scalar("a", 2.0), b.scalar("value", 1.0_f32));
    let y = b.exclusive("y", 8, &mut out);
    b.fill(y.write(), value).expect("a fill");
    b.launch(scale {}, ((count + 3) / 4, (4, 1)), (y.write(), a, count)).expect("a launch");
    let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
    let run = |exec: &mut Exec<'_>| exec.launch(&device.stream).map(drop).expect("a launch");
    run(&mut exec);
    exec.set_scalar(&count, 8).expect("all of it");
    exec.set_scalar(&a, 3.0).expect("a factor");
    exec.set_scalar(&value, 5.0).expect("a value");
    let error = exec.set_scalar(&count, 9).expect_err("more than there are");
    assert!(error.to_string().contains("but `y` has 8"), "{error}");
    run(&mut exec);
    drop(exec);
    assert_eq!(device.download(&out), [15.0; 8]);
}

/// Everything that can be bound to an argument of a graph function can also be bound by a builder and by its
/// setters.
#[test]
fn everything_binds() {
    let device = device();
    let stream = &device.stream;
    let (slice, arc) = (device.upload(&[1.0_f32; 4]), Arc::new(device.upload(&[2.0_f32; 4])));
    let view = device.upload(&[3.0_f32; 8]);
    let buffer = Buffer::from_host(stream, &[4.0_f32; 4]).expect("a buffer");
    let other = device.upload(&[10.0_f32; 4]);
    let (mut whole, mut part) = (device.zeros::<f32>(4), device.zeros::<f32>(8));
    let target = Buffer::<f32>::zeros(stream, 4).expect("a buffer");
    #[allow(unsafe_code)]
    // SAFETY: the second one is written before it is read, and the first one here.
    let mut pinned = unsafe { [(), ()].map(|()| device.ctx.alloc_pinned::<f32>(4).expect("pinned memory")) };
    pinned[0].as_mut_slice().expect("nothing uses it").copy_from_slice(&[6.0; 4]);
    let [from, to] = &mut pinned;

    let mut b = Builder::new(&device.ctx);
    let sources: Vec<Handle> = vec![
        b.shared("slice", 4, &slice),
        b.shared("arc", 4, arc.clone()),
        b.shared("view", 4, view.slice(4..)),
        b.shared("buffer", 4, &buffer),
        b.shared("owned", 4, device.upload(&[5.0_f32; 4])),
    ];
    let from = b.pinned("from", 4, &*from);
    let to = b.pinned_mut("to", 4, &mut *to);
    let targets = vec![
        b.exclusive("whole", 4, &mut whole),
        b.exclusive("part", 4, part.slice_mut(4..)),
        b.exclusive("target", 4, &target),
        b.exclusive("kept", 4, device.zeros::<f32>(4)),
    ];
    let sum = b.named("sum").alloc::<f32>(4);
    b.copy(&from, sum.write()).expect("a copy");
    for source in &sources {
        b.launch(axpy {}, per_item(4), (1.0, source, sum.write(), 4)).expect("a launch");
    }
    for target in &targets {
        b.copy(&sum, target.write()).expect("a copy");
    }
    b.copy(&sum, to.write()).expect("a copy");
    let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
    exec.launch(stream).expect("a launch");
    assert_eq!(target.to_host(stream).expect("a copy"), [21.0; 4]);

    exec.set_buffer(&sources[0], &other).expect("a slice");
    exec.set_buffer(&sources[1], Arc::new(device.upload(&[20.0_f32; 4]))).expect("an `Arc`");
    exec.set_buffer(&sources[4], buffer.clone()).expect("a buffer");
    exec.set_buffer(&targets[2], device.zeros::<f32>(4)).expect("an owned slice");
    exec.launch(stream).expect("a launch");
    let mut args = exec.into_args();
    let kept: CudaSlice<f32> = args.take(targets[2]).expect("an owned slice");
    assert_eq!(stream.clone_dtoh(&kept).expect("a copy"), [47.0; 4]);
    assert!(args.take::<CudaSlice<f32>>(targets[2]).is_none(), "it is given back once");
    assert!(args.take::<CudaSlice<u32>>(targets[3]).is_none(), "it has other elements");
    assert!(args.take::<CudaSlice<f32>>(targets[3]).is_some());
    assert!(args.take::<CudaSlice<f32>>(targets[0]).is_none(), "it is borrowed");
    assert!(args.take::<Buffer<f32>>(sources[3]).is_some());
    drop(args);
    assert_eq!(device.download(&whole), [47.0; 4]);
    assert_eq!(device.download(&part), [0.0, 0.0, 0.0, 0.0, 47.0, 47.0, 47.0, 47.0]);
    assert_eq!(pinned[1].as_slice().expect("the exec is gone"), [47.0; 4]);
}

/// Outputs are taken by handles and taken over by other graphs, and a builder's graph takes over those of others.
#[test]
fn outputs_are_handed_on() {
    let device = device();
    let stream = &device.stream;
    let mut out = device.zeros::<f32>(4);
    let mut b = Builder::new(&device.ctx);
    let n = b.scalar("n", 4);
    let x = b.shared("x", n, device.upload(&[1.0_f32, 2.0, 3.0, 4.0]));
    let results = b.call(tripled::tripled {}, (n, 3.0, &x)).expect("a call");
    let [one, two] = results.as_slice() else { panic!("two allocations") };
    let sum = b.named("sum").alloc::<f32>(n);
    b.launch(add {}, per_item(n), (one, &two.range(n, 2 * n), sum.write(), n)).expect("a launch");
    b.output(sum).expect("an allocation");
    b.output(*two).expect("an allocation");
    let mut maker = b.build().expect("a graph").instantiate().expect("an exec");

    let mut b = Builder::new(&device.ctx);
    let t = b.taken("t", 4, maker.description::<f32>(sum).expect("an output"));
    let y = b.exclusive("y", 4, &mut out);
    b.copy(&t, y.write()).expect("a copy");
    let mut taker = b.build().expect("a graph").instantiate().expect("an exec");
    for _ in 0..2 {
        let launched = maker.launch(stream).expect("a launch");
        let two = launched.output::<f32>(*two).expect("an output");
        assert_eq!(stream.clone_dtoh(&two).expect("a copy"), [1.0, 2.0, 3.0, 4.0, 3.0, 6.0, 9.0, 12.0]);
        let error = taker.launch(stream).map(drop).expect_err("nothing is handed over");
        assert!(error.to_string().contains("no output is handed over"), "{error}");
        let sum = launched.output::<f32>(sum).expect("an output");
        taker.launch_with(stream, (sum,)).expect("a launch");
    }
    drop(taker);
    assert_eq!(device.download(&out), [6.0, 12.0, 18.0, 24.0]);
    let launched = maker.launch(stream).expect("a launch");
    assert!(launched.output::<u32>(sum).is_err(), "it has other elements");
    assert!(launched.output::<f32>(x).is_err(), "it is an argument");
    drop(launched.output::<f32>(sum).expect("an output"));
    assert!(launched.output::<f32>(sum).is_err(), "it is taken already");
}

/// A call hands over an allocation, writes uninitialized elements, and reads initialized ones.
#[test]
fn calls_are_inlined() {
    let device = device();
    let mut out = device.zeros::<f32>(4);
    let mut b = Builder::with_name(&device.ctx, "outer");
    let (n, a) = (b.scalar("n", 4), b.scalar("a", 2.0_f32));
    let y = b.exclusive("y", n, &mut out);
    let (t, h) = (b.named("t").alloc::<f32>(n), b.named("h").alloc::<f32>(n));
    b.launch(set {}, per_item(n), (t.write(), 3.0, n)).expect("a launch");
    b.call(consumed::consumed {}, (n, a, t, h.write())).expect("a call");
    b.copy(&h, y.write()).expect("a copy");
    let graph = b.build().expect("a graph");
    assert!(graph.dot().contains("consumed.scale"), "{}", graph.dot());
    let mut exec = graph.instantiate().expect("an exec");
    exec.launch(&device.stream).expect("a launch");
    exec.set_scalar(&a, 7.0).expect("it reaches the call");
    exec.launch(&device.stream).expect("a launch");
    drop(exec);
    assert_eq!(device.download(&out), [21.0; 4]);
}

/// A graph from a description: layers of random widths in a list, as frameworks have them.
#[test]
fn handles_are_kept_in_lists() {
    let device = device();
    let widths = [4_usize, 2, 6, 3];
    let mut b = Builder::new(&device.ctx);
    b.memory(Memory::Arena);
    let sizes: Vec<_> =
        widths.iter().enumerate().map(|(at, &width)| b.scalar(&format!("n{at}"), width)).collect();
    let layers: Vec<Handle> = sizes.iter().map(|&n| b.alloc::<f32>(n)).collect();
    let mut nodes: Vec<Statement> = Vec::new();
    for (at, &layer) in layers.iter().enumerate() {
        let arguments = vec![layer.write(), Argument::value(at as f32), sizes[at].into()];
        nodes.extend(b.launch(set {}, per_item(sizes[at]), arguments));
        b.output(layer).expect("an allocation");
    }
    assert_eq!(nodes.len(), 4);
    b.edge(nodes[0], nodes[3]).expect("both are of this builder");
    let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
    let launched = exec.launch(&device.stream).expect("a launch");
    for (at, (&layer, width)) in layers.iter().zip(widths).enumerate() {
        let output = launched.output::<f32>(layer).expect("an output");
        assert_eq!(device.stream.clone_dtoh(&output).expect("a copy"), vec![at as f32; width]);
    }
}

/// An exec goes to other threads.
#[test]
fn execs_are_sent() {
    fn sent<T: Send>(value: T) -> T {
        value
    }
    let device = device();
    let mut b = Builder::new(&device.ctx);
    let y = b.exclusive("y", 4, device.zeros::<f32>(4));
    b.fill(y.write(), 2.0).expect("a fill");
    let mut exec = sent(b.build().expect("a graph").instantiate().expect("an exec"));
    let stream = device.stream.clone();
    let mut args = std::thread::spawn(move || {
        exec.upload(&stream).expect("an upload");
        exec.launch(&stream).expect("a launch");
        exec.into_args()
    })
    .join()
    .expect("no panic");
    let y: CudaSlice<f32> = args.take(y).expect("an owned slice");
    assert_eq!(device.download(&y), [2.0; 4]);
}

/// Programs that nobody would write lead to an error or a graph, but never to a panic.
#[test]
fn odd_programs_do_not_panic() {
    let device = device();
    let mut b = Builder::with_name(&device.ctx, "");
    let n = b.scalar("", u128::MAX);
    let nothing = b.alloc::<()>(4);
    b.named("x[3]").alloc::<f32>(n);
    b.copy(&nothing, nothing.write()).expect("a copy");
    assert!(b.build().is_err());

    let mut b = Builder::new(&device.ctx);
    let n = b.scalar("n", 3);
    let mut size = n * 1;
    for _ in 0..300 {
        size = &size * &size + n;
    }
    b.alloc::<u8>(&size);
    b.alloc::<u8>(n - 4);
    b.alloc::<u8>(n / (n - 3));
    b.alloc::<u8>(n % 0);
    b.alloc::<u8>(-1);
    b.alloc::<u8>(u64::MAX);
    b.budget(u64::MAX);
    assert!(b.build().is_err());

    let mut product = n + 1;
    for _ in 0..200 {
        product = product * (n + 1);
    }
    let mut b = Builder::new(&device.ctx);
    b.alloc::<u8>(product);
    assert!(b.build().is_err());

    let b = Builder::new(&device.ctx);
    let mut exec = b.build().expect("an empty graph").instantiate().expect("an exec");
    exec.launch(&device.stream).expect("a launch");
}
