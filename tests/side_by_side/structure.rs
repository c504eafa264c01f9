//! Programs whose structure is decided at build time: setters, and errors in later iterations.

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
fn a_range_moves_within_what_the_structure_decides() {
    let device = device();
    let mut x = device.upload(&[1.0_f32; 16]);
    let graph = chosen(&device.ctx, 4, 2, 0, 1, true, &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.set_first(1).expect("it is set");
    assert!(matches!(exec.set_first(4), Err(Error::Range { .. })));
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&x)[..9], [15.0, 15.0, 15.0, 15.0, 20.0, 20.0, 20.0, 20.0, 5.0]);
}

#[cuweave::graph]
fn scaled(n: u32, a: f32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, a, n);
}

#[cuweave::graph]
fn picked(n: u32, mode: u32, x: &mut [f32; n]) {
    let doubles = mode % 2 == 0;
    if doubles {
        scaled(n, 2.0, &mut x);
    }
}

/// Scalars under other names are passed to calls.
#[cuweave::graph]
fn named(n: u32, a: f32, b: f32, mode: u32, x: &mut [f32; n]) {
    let sum = a + 1.0;
    let twice = sum * 2.0;
    scaled(n, sum, &mut x);
    scaled(n, twice, &mut x);
    let b = b.max(1.0);
    scaled(n, b, &mut x);
    let next = mode + 1;
    picked(n, next, &mut x);
}

#[test]
fn setters_reach_calls_through_the_names_of_scalars() {
    let device = device();
    let x = device.upload(&[1.0_f32; 8]);
    let graph = named(&device.ctx, 8, 1.0, 1.0, 1, x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&exec.args().x), [16.0; 8]);
    exec.set_a(0.0).expect("it is set");
    exec.set_b(3.0).expect("it is set");
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&exec.args().x), [16.0 * 2.0 * 3.0 * 2.0; 8]);
}

/// The third iteration reads unwritten elements.
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
    let place = format!("tests/side_by_side/structure.rs:{}", line!() - 17);
    assert!(error.to_string().contains("CW101") && error.to_string().contains(&place), "{error}");
}

#[test]
fn a_loop_without_end_is_an_error_of_the_build() {
    let device = device();
    let mut x = device.upload(&[1.0_f32; 16]);
    let error = chosen(&device.ctx, 4, u32::MAX, 1, 0, false, &mut x).expect_err("too many launches");
    assert!(error.to_string().contains("more than 131072 statements"), "{error}");
}

/// Functions, each of which calls the previous one twice.
macro_rules! twice {
    ($callee:ident $name:ident $($more:ident)*) => {
        #[cuweave::graph]
        fn $name(n: u32, x: &mut [f32; n]) {
            $callee(n, &mut x);
            $callee(n, &mut x);
        }
        twice!($name $($more)*);
    };
    ($last:ident) => {};
}

mod many_statements {
    use super::*;

    #[cuweave::graph]
    fn t0(n: u32, x: &mut [f32; n]) {
        scale[per_item(n)](&mut x, 2.0, n);
    }
    twice!(t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 t10 t11 t12 t13 t14 t15 t16 t17 t18 t19);
    twice!(t19 t20 t21 t22 t23 t24 t25 t26 t27 t28 t29);

    #[test]
    fn are_refused() {
        let device = device();
        let mut x = device.upload(&[1.0_f32; 8]);
        assert_eq!(t3(&device.ctx, 8, &mut x).expect("it builds").report().launches, 8);
        let error = t29(&device.ctx, 8, &mut x).expect_err("half a billion launches");
        assert!(error.to_string().contains("more than 131072 statements"), "{error}");
        let mut builder = cuweave::builder::Builder::new(&device.ctx);
        let n = builder.scalar("n", 8);
        let x = builder.exclusive("x", n, &mut x);
        builder.call(t29::t29 {}, (n, x.write())).expect("a call");
        let error = builder.build().expect_err("half a billion launches");
        assert!(error.to_string().contains("more than 131072 statements"), "{error}");
    }
}

mod many_calls {
    use super::*;

    #[cuweave::graph]
    fn t0(n: u32, _x: &mut [f32; n]) {}
    twice!(t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 t10 t11 t12 t13 t14 t15 t16 t17 t18 t19);
    twice!(t19 t20 t21 t22 t23 t24 t25 t26 t27 t28 t29);

    #[test]
    fn are_refused_though_they_do_nothing() {
        let device = device();
        let mut x = device.upload(&[1.0_f32; 8]);
        assert_eq!(t3(&device.ctx, 8, &mut x).expect("it builds").report().launches, 0);
        let error = t29(&device.ctx, 8, &mut x).expect_err("half a billion calls");
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    }
}
