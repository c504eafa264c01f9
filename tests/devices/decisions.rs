//! Conditionals on several devices, in graph functions and builders, and memory that all devices can access.

use cuweave::Managed;
use cuweave::builder::{Builder, Handle, Scalar};
use cuweave::managed::Attach;
use cuweave::prelude::*;

use crate::programs::kernels::{axpy, scale};
use crate::support::{N, contexts, ramp, silent, streams, with_devices};

mod counters {
    use cuweave::prelude::*;

    #[cuweave::kernels("tests/kernels/decide.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn count_down(x: &mut [u32; 1]);
    }
}
use counters::count_down;

/// A loop with a limit on each device, and another one in a choice on device 1.
#[cuweave::graph(devices = 2)]
fn counted(n: u32, here: &[u32; 1], there: &[u32; 1], x: &mut [f32; n], y: &mut [f32; n]) {
    #[at_most(3)]
    'first: while here {
        scale[per_item(n)](&mut x, 2.0, n);
    }
    #[on(1)]
    {
        #[at_most(2)]
        'second: while there {
            scale[per_item(n)](&mut y, 3.0, n);
        }
        if there {
            #[at_most(1)]
            'third: while there {
                scale[per_item(n)](&mut y, 5.0, n);
            }
        }
    }
}

#[test]
fn loops_count_their_turns_on_their_devices() {
    with_devices("decisions::turns", 2, &[]);
    with_devices("decisions::turns", 2, &[("CUWEAVE_SIM_PEERS", "none"), ("CUWEAVE_SIM_SEED", "3")]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn turns() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let flags = [0, 1].map(|at| streams[at].clone_htod(&[1u32]).expect("an upload"));
    let (mut x, mut y) = (ramp(&streams[0], N, 1.0), ramp(&streams[1], N, 1.0));
    let graph = counted(&contexts, N, &flags[0], &flags[1], &mut x, &mut y).expect("it builds");
    let mut exec = graph.instantiate().expect("an exec");
    for _ in 0..2 {
        exec.launch(&streams[0]).expect("it launches");
    }
    let turns = [exec.iterations_first(), exec.iterations_second(), exec.iterations_third()];
    assert_eq!(turns.map(|loops| loops.expect("its iterations").iterations), [3, 2, 1]);
    exec.profile(&streams[0], 1).expect("a profile");
    drop(exec);
    assert_eq!(streams[0].clone_dtoh(&x).expect("a download")[0], 8.0f32.powi(4));
    assert_eq!(streams[1].clone_dtoh(&y).expect("a download")[0], 45.0f32.powi(4));
    silent();
}

/// Adds a choice whose arms contain a loop with a limit. The arms name no device.
fn decide(b: &mut Builder<'_>, flag: Handle, y: Handle, n: Scalar<u32>) -> cuweave::Result<()> {
    let turn = |b: &mut Builder<'_>| b.launch(scale {}, per_item(n), (y.write(), 2.0, n));
    b.while_at_most(&flag, 4, |b| {
        let h = b.alloc::<f32>(n);
        b.fill(h.write(), 1.0f32)?;
        turn(b)?;
        b.launch(axpy {}, per_item(n), (1.0, h.read(), y.write(), n))?;
        b.launch(count_down {}, (1, 1), (flag.write(),))
    })
    .map(drop)
}

#[test]
fn bodies_of_a_builder_are_on_the_device_of_their_condition() {
    with_devices("decisions::bodies", 2, &[("CUWEAVE_SIM_PEERS", "none")]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn bodies() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let mut y = ramp(&streams[1], N, 1.0);
    let mut b = Builder::over(&contexts, "bodies");
    let n = b.scalar("n", N);
    let to = b.exclusive("y", n, &mut y);
    let flag = b.on(1).named("flag").alloc::<u32>(1);
    b.on(1).fill(flag.write(), 2u32).expect("a fill");
    let unused = |b: &mut Builder<'_>| b.fill(to.write(), 0.0f32);
    b.on(1).if_else(&flag, |b| decide(b, flag, to, n), unused).expect("a choice");
    b.on(1).match_(&flag).arm(7, unused).otherwise(|b| decide(b, flag, to, n)).expect("a choice");
    let mut exec = b.build().expect("it builds").instantiate().expect("an exec");
    exec.launch(&streams[0]).expect("it launches");
    drop(exec);
    assert_eq!(streams[1].clone_dtoh(&y).expect("a download")[..2], [7.0, 11.0]);
    // A statement that is put on another device is an error.
    let mut b = Builder::over(&contexts, "astray");
    let flag = b.on(1).alloc::<u32>(1);
    b.on(1).fill(flag.write(), 2u32).expect("a fill");
    b.on(1).if_(&flag, |b| b.on(0).fill(flag.write(), 0u32)).expect("a choice");
    let error = b.build().map(drop).expect_err("a body is on one device").to_string();
    assert!(error.contains("is on device 0, but it is in a body that runs on device 1"), "{error}");
    silent();
}

#[cuweave::graph(devices = 2)]
fn fetched_in_a_body(n: u32, flag: &[u32; 1], x: &[f32; n], y: &mut [f32; n]) {
    #[on(1)]
    if flag {
        scale[per_item(n)](&mut y, 2.0, n);
        copy(&x, &mut y);
    }
}

#[test]
fn a_copy_in_a_body_needs_access() {
    with_devices("decisions::copied", 2, &[("CUWEAVE_SIM_PEERS", "none")]);
    with_devices("decisions::copied", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn copied() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let flag = streams[1].clone_htod(&[1u32]).expect("an upload");
    let (x, mut y) = (ramp(&streams[0], N, 5.0), ramp(&streams[1], N, 1.0));
    let graph = fetched_in_a_body(&contexts, N, &flag, &x, &mut y);
    if std::env::var("CUWEAVE_SIM_PEERS").is_ok() {
        let error = graph.map(drop).expect_err("device 1 cannot reach `x`").to_string();
        assert!(error.starts_with("`copy`") && error.contains("uses `x`"), "{error}");
    } else {
        let mut exec = graph.expect("it builds").instantiate().expect("an exec");
        exec.launch(&streams[0]).expect("it launches");
        drop(exec);
        assert_eq!(streams[1].clone_dtoh(&y).expect("a download")[..2], [5.0, 6.0]);
    }
    silent();
}

/// Both devices update x, and the host reads it.
#[cuweave::graph(devices = 2)]
fn everywhere(n: u32, x: &mut [f32; n], y: &mut [f32; n], seen: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
    #[on(1)]
    axpy[per_item(n)](1.0, &x, &mut y, n);
    host(&x, &mut seen, |x, seen| seen.copy_from_slice(x));
}

#[test]
fn managed_memory_is_reached_by_devices_that_are_no_peers() {
    with_devices("decisions::managed", 2, &[("CUWEAVE_SIM_PEERS", "none")]);
    with_devices("decisions::managed", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn managed() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let new = |device: usize| Managed::from_host(&streams[device], &[1.0f32; N as usize], Attach::Global);
    let (x, y, seen) = (new(0).expect("memory"), new(0).expect("memory"), new(1).expect("memory"));
    let other = new(1).expect("memory");
    let plain = ramp(&streams[0], N, 0.0);
    let mut exec =
        everywhere(&contexts, N, &x, &y, &seen).expect("it builds").instantiate().expect("an exec");
    exec.launch(&streams[0]).expect("it launches");
    assert_eq!((y.host().expect("lent")[1], seen.host().expect("lent")[1]), (3.0, 2.0));
    // Managed memory of another device may be bound.
    exec.set_y(&other).expect("it is set");
    exec.launch(&streams[0]).expect("it launches");
    assert_eq!((other.host().expect("lent")[1], seen.host().expect("lent")[1]), (5.0, 4.0));
    // Device memory needs peer access, since `y` is used on device 1.
    exec.set_y(&y).expect("it is set");
    match std::env::var("CUWEAVE_SIM_PEERS").as_deref() {
        Ok("none") => {
            let error = exec.set_y(plain).expect_err("device 1 cannot reach it").to_string();
            assert!(error.contains("device 1 has no access to memory of device 0"), "{error}");
        }
        _ => exec.set_y(plain).expect("it is set"),
    }
    exec.launch(&streams[0]).expect("it launches");
    drop(exec);
    silent();
}

#[cuweave::graph]
fn produced(n: u32) -> [f32; n] {
    let h = alloc::<f32>(n);
    fill(&mut h, 3.0);
    h
}

#[cuweave::graph(devices = 2)]
fn fetched(n: u32, h: [f32; n], out: &mut [f32; n]) {
    #[on(1)]
    {
        let here = alloc::<f32>(n);
        copy(&h, &mut here);
        axpy[per_item(n)](2.0, &here, &mut out, n);
    }
}

#[cuweave::graph(devices = 2)]
fn through(n: u32, h: [f32; n], out: &mut [f32; n]) {
    #[on(1)]
    axpy[per_item(n)](2.0, &h, &mut out, n);
}

#[test]
fn an_output_is_copied_to_another_device() {
    with_devices("decisions::taken", 2, &[]);
    with_devices("decisions::taken", 2, &[("CUWEAVE_SIM_PEERS", "none")]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn taken() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let mut out = ramp(&streams[1], N, 0.0);
    let mut producer = produced(&contexts[0], N).expect("it builds").instantiate().expect("an exec");
    let error = through(&contexts, N, producer.output(), &mut out).map(drop).expect_err("no access");
    assert!(error.to_string().contains("copy it to a buffer of device 1 first"), "{error}");
    let graph = fetched(&contexts, N, producer.output(), &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("an exec");
    let h = producer.launch(&streams[0]).expect("it launches");
    exec.launch(&streams[0], (h,)).expect("it launches");
    drop(exec);
    assert_eq!(streams[1].clone_dtoh(&out).expect("a download")[..2], [6.0, 7.0]);
    silent();
}
