//! Statements with `#[switchable]`, which an exec enables and disables.

use cuweave::builder::Builder;
use cuweave::error::SwitchFault;
use cuweave::prelude::*;
use cuweave::{Buffer, Error};
use cuweave_core::operation::OperationKind;
use cuweave_testkit::device::{device, pinned, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn set(x: &mut [MaybeUninit<f32>; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn copy_to(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
}

const N: usize = 100;

/// A launch, a fill, copies of the device and to the host, each between statements that it depends on.
#[cuweave::graph]
fn steps(n: u32, by: f32, x: &mut [f32; n], y: &mut [f32; n], seen: &mut Pinned<[f32; n]>) {
    let h = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut h, n);
    #[switchable]
    let twice = scale[per_item(n)](&mut h, by, n);
    axpy[per_item(n)](1.0, &h, &mut y, n);
    #[switchable]
    let overwrite = set[per_item(n)](&mut h, 5.0, n);
    axpy[per_item(n)](1.0, &h, &mut y, n);
    #[switchable]
    let clear = fill(&mut h, 0.0);
    axpy[per_item(n)](1.0, &h, &mut y, n);
    #[switchable]
    let back = copy(&x, &mut h);
    axpy[per_item(n)](1.0, &h, &mut y, n);
    #[switchable]
    let told = copy(&y, &mut seen);
    scale[per_item(n)](&mut x, 1.0, n);
}

const NAMES: [&str; 5] = ["twice", "overwrite", "clear", "back", "told"];

/// Returns what a launch adds to y, per element of x.
fn added(on: [bool; 5], by: f32, x: f32) -> f32 {
    let mut h = x;
    let mut y = 0.0;
    h = if on[0] { h * by } else { h };
    y += h;
    h = if on[1] { 5.0 } else { h };
    y += h;
    h = if on[2] { 0.0 } else { h };
    y += h;
    h = if on[3] { x } else { h };
    y + h
}

#[test]
fn every_combination_does_what_is_enabled() {
    let device = device();
    let x = Buffer::from_host(&device.stream, &ramp(N)).expect("a buffer");
    let y = Buffer::<f32>::zeros(&device.stream, N).expect("a buffer");
    let seen = pinned(&device.ctx, &[-1.0f32; N]);
    let graph = steps(&device.ctx, N as u32, 2.0, &x, &y, seen).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let mut expected = vec![0.0f32; N];
    let mut told = vec![-1.0f32; N];
    let mut by = 2.0;
    for round in 0..40u32 {
        let on: [bool; 5] = std::array::from_fn(|at| round.wrapping_mul(0x9e37_79b1) >> (at + 7) & 1 == 0);
        for (name, on) in NAMES.iter().zip(on) {
            exec.enable(name, on).expect("it is switched");
            assert_eq!(exec.is_enabled(name).expect("it is known"), on);
        }
        // Setters change disabled nodes, too.
        if round % 3 == 0 {
            by += 1.0;
            exec.set_by(by).expect("it is set");
        }
        exec.launch(&device.stream).expect("it runs");
        for (y, x) in expected.iter_mut().zip(ramp(N)) {
            *y += added(on, by, x);
        }
        if on[4] {
            told.clone_from(&expected);
        }
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{on:?}");
        assert_eq!(exec.args().seen.as_slice().expect("it is read"), told, "{on:?}");
        if round % 8 == 0 {
            let difference = exec.verify(&device.stream).expect("it is verified");
            assert!(difference.is_equal(), "{difference}");
        }
        if round % 10 == 9 {
            // Launches the graph, and then its nodes one by one.
            exec.profile(&device.stream, 1).expect("it is profiled");
            for _ in 0..2 {
                expected.iter_mut().zip(ramp(N)).for_each(|(y, x)| *y += added(on, by, x));
            }
            if on[4] {
                told.clone_from(&expected);
            }
        }
    }
}

#[test]
fn pictures_show_switches_and_their_state() {
    let device = device();
    let (x, y) = (device.upload(&ramp(N)), device.zeros::<f32>(N));
    let seen = pinned(&device.ctx, &[0.0f32; N]);
    let graph = steps(&device.ctx, N as u32, 2.0, x, y, seen).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let count = |picture: &str, word: &str| picture.matches(word).count();
    let (dot, svg) = (exec.dot(), exec.svg());
    assert_eq!([count(&dot, "switchable"), count(&dot, "disabled")], [5, 0], "{dot}");
    assert!(count(&svg, "switchable") >= 5 && !svg.contains("disabled"), "{svg}");
    exec.enable("clear", false).expect("it is switched");
    let (dot, svg) = (exec.dot(), exec.svg());
    assert_eq!([count(&dot, "switchable"), count(&dot, "disabled")], [4, 1], "{dot}");
    assert!(svg.contains("disabled"), "{svg}");
    let page = exec.page().expect("it is drawn");
    assert!(page.contains("memset, disabled") || page.contains("fill, disabled"), "{page}");
}

#[test]
fn switchable_launches_have_nodes_and_full_edges_of_their_own() {
    let device = device();
    let (x, y) = (device.upload(&ramp(N)), device.zeros::<f32>(N));
    let seen = pinned(&device.ctx, &[0.0f32; N]);
    let graph = steps(&device.ctx, N as u32, 2.0, x, y, seen).expect("it builds");
    let operations = cuweave::__private::operations(&graph);
    for name in NAMES {
        let at = operations.list.position(|one| one.name == name).expect("it has a node");
        let operation = &operations.list[at];
        assert!(matches!(operation.kind, OperationKind::Statement(_)));
        assert_eq!((operation.sources.len(), operation.programmatic), (1, None), "{name}");
        assert!(operations.list.iter().all(|one| one.programmatic != Some(at)), "{name}");
    }
    let certificate = graph.certificate();
    cuweave::certificate::check(&certificate).expect("it holds");
}

#[cuweave::graph]
fn layer(n: u32, x: &mut [f32; n]) {
    #[switchable]
    let extra = scale[per_item(n)](&mut x, 2.0, n);
    scale[per_item(n)](&mut x, 3.0, n);
}

#[cuweave::graph]
fn layers(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    for i in 0..3 {
        layer(n, &mut x);
    }
    layer(n, &mut y);
    for i in 0..2 {
        #[switchable]
        let noise = axpy[per_item(n)](1.0, &x, &mut y, n);
    }
    let plain = scale[per_item(n)](&mut y, 1.0, n);
}

#[test]
fn names_are_those_of_calls_and_of_all_iterations() {
    let device = device();
    let x = Buffer::from_host(&device.stream, &[1.0f32; N]).expect("a buffer");
    let y = Buffer::from_host(&device.stream, &[1.0f32; N]).expect("a buffer");
    let mut exec =
        layers(&device.ctx, N as u32, &x, &y).expect("it builds").instantiate().expect("it instantiates");
    let run = |exec: &mut layers::Exec<'_>| {
        x.copy_from_host(&device.stream, &[1.0; N]).expect("it is written");
        y.copy_from_host(&device.stream, &[1.0; N]).expect("it is written");
        exec.launch(&device.stream).expect("it runs");
        [&x, &y].map(|buffer| buffer.to_host(&device.stream).expect("it is read")[N - 1])
    };
    assert_eq!(run(&mut exec), [216.0, 6.0 + 2.0 * 216.0]);
    exec.enable("noise", false).expect("it is switched");
    assert_eq!(run(&mut exec), [216.0, 6.0]);
    exec.enable("layer.extra", false).expect("all calls");
    assert_eq!(run(&mut exec), [27.0, 3.0]);
    exec.enable("layer.extra", true).expect("all calls");
    let text = exec.report().all().to_string();
    assert!(text.contains("`noise`") && text.contains(") is off"), "{text}");
    exec.enable("noise", true).expect("it is switched");
    assert_eq!(run(&mut exec), [216.0, 6.0 + 2.0 * 216.0]);
}

#[test]
fn what_cannot_be_switched_is_told() {
    let device = device();
    let (x, y) = (device.upload(&ramp(N)), device.zeros::<f32>(N));
    let mut exec =
        layers(&device.ctx, N as u32, x, y).expect("it builds").instantiate().expect("it instantiates");
    let told = exec.enable("noize", false).expect_err("a typo");
    assert!(
        told.to_string().ends_with(
            "has no statement `noize`: those with `#[switchable]` are \
        `layer:125[0].extra`"
        ) || told.to_string().contains("`noise`"),
        "{told}"
    );
    let told = exec.enable("layer.scale", false);
    assert!(matches!(told, Ok(()) | Err(Error::NotSwitchable(..))));
    exec.enable("layer.scale", true).ok();

    let (x, y) = (device.upload(&ramp(N)), device.zeros::<f32>(N));
    let seen = pinned(&device.ctx, &[0.0f32; N]);
    let graph = steps(&device.ctx, N as u32, 2.0, x, y, seen).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let reason = |told: Result<(), Error>| match told {
        Err(Error::NotSwitchable(_, reason)) => reason,
        other => panic!("{other:?}"),
    };
    // `axpy` stands four times in the source.
    assert!(matches!(reason(exec.enable("axpy", false)), SwitchFault::Ambiguous { statements: 4, .. }));
    let SwitchFault::Writes { buffer, .. } = reason(exec.enable("copy_to", false)) else {
        panic!("it writes h first")
    };
    assert_eq!(buffer, "h");
}

#[cuweave::graph]
fn merged(n: u32, x: &mut [f32; n], flag: &[u32; 1]) {
    let first = scale[per_item(n)](&mut x, 2.0, n);
    let second = scale[per_item(n)](&mut x, 3.0, n);
    if flag {
        let inside = scale[per_item(n)](&mut x, 4.0, n);
    }
}

#[test]
fn merged_launches_and_bodies_are_told() {
    let device = device();
    let (x, flag) = (device.upload(&ramp(N)), device.upload(&[1u32]));
    let mut exec =
        merged(&device.ctx, N as u32, x, flag).expect("it builds").instantiate().expect("it instantiates");
    let first = exec.enable("first", false).expect_err("it is fused").to_string();
    assert!(first.contains("was merged with other launches"), "{first}");
    let inside = exec.enable("inside", false).expect_err("the device decides").to_string();
    assert!(inside.contains("stands in a body that the device decides about"), "{inside}");
}

#[test]
fn builders_have_switchable_statements() -> cuweave::Result<()> {
    let device = device();
    let x = Buffer::from_host(&device.stream, &[1.0f32; N])?;
    let mut b = Builder::with_name(&device.ctx, "built");
    let n = b.scalar("n", N as u32);
    let handle = b.exclusive("x", n, &x);
    let h = b.alloc::<f32>(n);
    b.copy(&handle, h.write())?;
    b.switchable().named("twice").launch(scale {}, per_item(n), (h.write(), 2.0f32, n))?;
    b.switchable().named("clear").fill(h.write(), 0.0f32)?;
    b.launch(axpy {}, per_item(n), (1.0f32, &h, handle.write(), n))?;
    let mut exec = b.build()?.instantiate()?;
    let mut expected = 1.0;
    for (twice, clear) in [(true, true), (true, false), (false, false), (false, true), (true, false)] {
        exec.enable("twice", twice)?;
        exec.enable("clear", clear)?;
        exec.launch(&device.stream)?;
        expected += if clear { 0.0 } else { expected * if twice { 2.0 } else { 1.0 } };
        assert_eq!(x.to_host(&device.stream)?, [expected; N]);
    }

    let mut b = Builder::with_name(&device.ctx, "refused");
    let n = b.scalar("n", N as u32);
    let handle = b.exclusive("x", n, &x);
    let h = b.alloc::<f32>(n);
    b.switchable().named("first").fill(h.write(), 0.0f32)?;
    b.launch(axpy {}, per_item(n), (1.0f32, &h, handle.write(), n))?;
    let told = b.build().expect_err("nothing writes h").to_string();
    assert!(
        told.contains("`h` holds nothing if `first` is disabled")
            || told.contains("holds nothing if `first`"),
        "{told}"
    );
    let mut b = Builder::with_name(&device.ctx, "refused");
    let event = std::sync::Arc::new(device.ctx.new_event(None)?);
    b.switchable().record(&event)?;
    let told = b.build().expect_err("no launch").to_string();
    assert!(told.contains("`record` is not switchable"), "{told}");
    Ok(())
}

/// `h` still holds the values of the launch before, if `axpy` does not wait for `copy_to`.
#[cuweave::graph]
fn long(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut h, n);
    #[switchable]
    let extra = scale[per_item(n)](&mut h, 3.0, n);
    axpy[per_item(n)](1.0, &h, &mut y, n);
    scale[per_item(n)](&mut x, 2.0, n);
}

#[test]
fn a_disabled_statement_still_orders_its_neighbours() {
    let device = device();
    let n = device.scaled(1 << 24, 1000);
    let (x, y) = (device.upload(&vec![1.0f32; n]), device.zeros::<f32>(n));
    let graph = long(&device.ctx, n as u32, x, y).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.enable("extra", false).expect("it is switched");
    for _ in 0..10 {
        exec.launch(&device.stream).expect("it runs");
    }
    let y = exec.into_args().y;
    assert!(device.download(&y).iter().all(|&y| y == 1023.0));
}
