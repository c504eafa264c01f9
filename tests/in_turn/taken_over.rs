//! Setters of arguments that a graph takes over: either the buffer that was handed over is freed, or the setter is
//! refused.

use cuweave::Error;
use cuweave::builder::{Builder, Memory};
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, alone};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn iota(out: &mut [MaybeUninit<f32>; n], first: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn made(n: u32, first: f32) -> [f32; n] {
    let h = alloc::<f32>(n);
    iota[per_item(n)](&mut h, first, n);
    h
}

macro_rules! takers {
    ($($memory:literal $taken:ident $freed:ident $outer:ident)*) => {$(
        /// out = 2 (h + h); the compiler adds the free.
        #[cuweave::graph(memory = $memory)]
        fn $taken(n: u32, h: [f32; n], out: &mut [f32; n]) {
            let t = alloc::<f32>(n);
            add[per_item(n)](&h, &h, &mut t, n);
            scale[per_item(n)](&mut t, 2.0, n);
            copy(&t, &mut out);
        }

        #[cuweave::graph(memory = $memory)]
        fn $freed(n: u32, h: [f32; n], out: &mut [f32; n]) {
            add[per_item(n)](&h, &h, &mut out, n);
            free(h);
            scale[per_item(n)](&mut out, 2.0, n);
        }

        /// The callee frees the argument.
        #[cuweave::graph(memory = $memory)]
        fn $outer(n: u32, h: [f32; n], out: &mut [f32; n]) {
            $freed(n, h, &mut out);
        }
    )*};
}
takers! {
    "arena" taken_arena freed_arena outer_arena
    "nodes" taken_nodes freed_nodes outer_nodes
    "owned" taken_owned freed_owned outer_owned
}

const N: u32 = 8;

fn ramp(first: f32, by: f32) -> Vec<f32> {
    (0..N).map(|at| by * (first + at as f32)).collect()
}

fn maker(device: &Device, first: f32) -> made::Exec<'static> {
    made(&device.ctx, N, first).expect("it builds").instantiate().expect("it instantiates")
}

/// Checks that a setter is refused because a node frees the argument, with a readable message.
fn refused(result: cuweave::Result<()>) {
    match result {
        Err(error @ Error::BuildAgain { .. }) => {
            let text = error.to_string();
            let says = "is freed by a node of the graph, which keeps the address of the output that the graph was \
                built for";
            assert!(text.contains("`h`") || text.contains("`g`"), "{text}");
            assert!(text.contains(says) && text.ends_with(": build the graph again"), "{text}");
        }
        other => panic!("the node would free another allocation: {other:?}"),
    }
}

/// Runs `case` with exclusive use of the device. It must not leak.
fn leaves_nothing(case: impl Fn(&Device)) {
    let device = alone();
    case(&device); // Modules and pools stay.
    let before = device.live();
    case(&device);
    device.stream.synchronize().expect("all is well");
    device.nothing_reported();
    assert_eq!(device.live().map(|live| live.allocations), before.map(|live| live.allocations));
    assert_eq!(device.live().map(|live| live.bytes), before.map(|live| live.bytes));
}

macro_rules! each {
    ($device:ident, $case:ident: $($function:ident)*) => {$(
        $case!($device, $function);
    )*};
}

/// The setter is refused, and the exec is unchanged: it takes over the output that it was built for.
#[test]
fn what_a_node_frees_is_the_output_of_the_build() {
    macro_rules! case {
        ($device:ident, $function:ident) => {{
            let (device, stream) = ($device, &$device.stream);
            let (mut a, mut b) = (maker(device, 1.0), maker(device, 10.0));
            let mut out = device.zeros::<f32>(N as usize);
            let graph = $function(&device.ctx, N, a.output(), &mut out).expect("it builds");
            let mut taker = graph.instantiate().expect("it instantiates");
            refused(taker.set_h(b.output()));
            {
                let (oa, ob) = (a.launch(stream).expect("a launch"), b.launch(stream).expect("a launch"));
                let other = ob.description();
                let error = taker.launch(stream, (ob,)).expect_err("it was built for the other");
                assert!(matches!(error, Error::WrongOutput { .. }), "{error}");
                assert_eq!(device.download(&oa), ramp(1.0, 1.0), "it lives");
                refused(taker.set_h(other));
                taker.set_h(oa.description()).expect("the same output");
                taker.launch(stream, (oa,)).expect("it takes over");
            }
            drop(taker);
            assert_eq!(device.download(&out), ramp(1.0, 4.0));
            // Both producers can run again.
            assert_eq!(device.download(&a.launch(stream).expect("a launch")), ramp(1.0, 1.0));
            assert_eq!(device.download(&b.launch(stream).expect("a launch")), ramp(10.0, 1.0));
        }};
    }
    leaves_nothing(|device| {
        each!(device, case: taken_arena taken_nodes taken_owned freed_arena freed_nodes freed_owned
              outer_arena outer_nodes outer_owned);
    });
}

/// The same for a graph of a builder.
#[test]
fn what_a_node_of_a_builder_frees_is_the_output_of_the_build() {
    leaves_nothing(|device| {
        let stream = &device.stream;
        for (memory, frees) in [Memory::Arena, Memory::Nodes, Memory::Owned]
            .into_iter()
            .flat_map(|memory| [(memory, false), (memory, true)])
        {
            let (mut a, mut b) = (maker(device, 1.0), maker(device, 10.0));
            let mut out = device.zeros::<f32>(N as usize);
            let mut builder = Builder::new(&device.ctx);
            builder.memory(memory);
            let h = builder.taken("h", N, a.output());
            let y = builder.exclusive("y", N, &mut out);
            builder.launch(add {}, per_item(N), (&h, &h, y.write(), N)).expect("a launch");
            if frees {
                builder.free(h).expect("a free");
            }
            builder.launch(scale {}, per_item(N), (y.write(), 2.0, N)).expect("a launch");
            let mut taker = builder.build().expect("a graph").instantiate().expect("an exec");
            refused(taker.set_buffer(&h, b.output()));
            {
                let (oa, ob) = (a.launch(stream).expect("a launch"), b.launch(stream).expect("a launch"));
                let other = ob.description();
                let error =
                    taker.launch_with(stream, (ob,)).map(drop).expect_err("it was built for the other");
                assert!(matches!(error, Error::WrongOutput { .. }), "{error}");
                refused(taker.set_buffer(&h, other));
                taker.set_buffer(&h, oa.description()).expect("the same output");
                taker.launch_with(stream, (oa,)).expect("it takes over");
            }
            drop(taker);
            assert_eq!(device.download(&out), ramp(1.0, 4.0));
            assert_eq!(device.download(&a.launch(stream).expect("a launch")), ramp(1.0, 1.0));
            assert_eq!(device.download(&b.launch(stream).expect("a launch")), ramp(10.0, 1.0));
        }
    });
}

/// The output of a rebuilt producer can be set if it has the same address as the previous one.
#[test]
fn an_output_at_the_same_address_may_follow() {
    leaves_nothing(|device| {
        let stream = &device.stream;
        let mut out = device.zeros::<f32>(N as usize);
        let first = maker(device, 1.0);
        let mut taker = taken_arena(&device.ctx, N, first.output(), &mut out)
            .expect("it builds")
            .instantiate()
            .expect("an exec");
        drop(first);
        let mut next = maker(device, 10.0);
        // The driver may or may not reuse the address.
        match taker.set_h(next.output()) {
            Ok(()) => {
                let h = next.launch(stream).expect("a launch");
                taker.launch(stream, (h,)).expect("it takes over");
                drop(taker);
                assert_eq!(device.download(&out), ramp(10.0, 4.0));
            }
            refusal => refused(refusal),
        }
        assert_eq!(device.download(&next.launch(stream).expect("a launch")), ramp(10.0, 1.0));
    });
}
