//! What the guide says of programs whose structure is decided when the graph is built: refused setters, faults of later turns.

use cuweave::Error;
use cuweave::prelude::*;
use cuweave_testkit::device::device;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn chosen(n: u32, steps: u32, first: u32, mode: u32, wide: bool, x: &mut [f32; 4 * n]) {
    for _ in 0..steps {
        scale[per_item(n)](&mut x[first * n..(first + 1) * n], 2.0, n);
    }
    match mode {
        0 => {}
        _ => scale[per_item(n)](&mut x[..n], 3.0, n),
    }
    if wide {
        scale[per_item(4 * n)](&mut x, 5.0, 4 * n);
    }
}

#[test]
fn setters_of_what_decides_the_structure_say_to_build_again() {
    let device = device();
    let mut x = device.upload(&[1.0_f32; 16]);
    let graph = chosen(&device.ctx, 4, 2, 1, 1, true, &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let refused = [
        ("n", exec.set_n(2)),
        ("steps", exec.set_steps(3)),
        ("first", exec.set_first(2)),
        ("mode", exec.set_mode(0)),
        ("wide", exec.set_wide(false)),
    ];
    for (name, refused) in refused {
        assert!(matches!(refused, Err(Error::BuildAgain { .. })), "{name}: {refused:?}");
    }
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&x)[..9], [15.0, 15.0, 15.0, 15.0, 20.0, 20.0, 20.0, 20.0, 5.0]);
}

/// The third turn reads what nothing has written.
#[cuweave::graph]
fn later(n: u32, steps: u32, out: &mut [f32; n]) {
    let _h = alloc::<f32>(n);
    for i in 0..steps {
        if i == 2 {
            copy(&_h, &mut out);
        } else {
            set[per_item(n)](&mut out, 1.0, n);
        }
    }
}

#[test]
fn a_fault_of_a_later_turn_is_an_error_of_the_build() {
    let device = device();
    let mut out = device.zeros::<f32>(8);
    let right = later(&device.ctx, 8, 2, &mut out).expect("two turns are right");
    assert_eq!(right.report().launches, 2);
    drop(right);
    let error = later(&device.ctx, 8, 3, &mut out).expect_err("the third turn reads fresh memory");
    let Error::Refused(refusals) = &error else { panic!("{error}") };
    assert_eq!(refusals.len(), 1, "{error}");
    let place = format!("tests/structure.rs:{}", line!() - 17);
    assert!(error.to_string().contains("CW101") && error.to_string().contains(&place), "{error}");
}

#[test]
fn a_loop_without_end_is_an_error_of_the_build() {
    let device = device();
    let mut x = device.upload(&[1.0_f32; 16]);
    let error = chosen(&device.ctx, 4, u32::MAX, 1, 0, false, &mut x).expect_err("too many launches");
    assert!(error.to_string().contains("more than 131072 statements"), "{error}");
}
