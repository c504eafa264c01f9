//! Less common forms: every kind of length, loop, option and name.

use cuweave::prelude::*;

use crate::support::{device, ramp, run};

mod k {
    #[cuweave::kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn set(out: &mut [std::mem::MaybeUninit<f32>; n], value: f32, n: u32);
        pub fn copy_to(src: &[f32; n], dst: &mut [core::mem::MaybeUninit<f32>; (n as usize)], n: u32);
        pub fn scale(x: &mut [f32; n], a: f32, n: u32);
        pub fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
        pub fn bump(total: &[cuweave::prelude::Atomic<u32>; 1], count: u32);
    }
}

mod sizes {
    pub const N: usize = 8;
    pub const ONE_BLOCK: (u32, u32) = (1, 64);
}

#[cuweave::graph]
fn unsigned(n: usize, x: &mut [f32; n]) {
    k::scale[per_item(n)](&mut x, 2.0, n as u32)
}

#[cuweave::graph]
fn signed(n: i32, x: &mut [f32; n]) {
    k::scale[per_item(n)](&mut x, 3.0, n as u32);
}

#[cuweave::graph]
fn constant(x: &mut [f32; 4 * sizes::N], y: &mut [f32; sizes::N]) {
    k::scale[sizes::ONE_BLOCK](&mut x[0..sizes::N], 5.0, 8);
    copy(&x[sizes::N..2 * sizes::N], &mut y);
}

#[test]
fn lengths_of_every_integer_type() {
    let device = device();
    let mut x = device.upload(&ramp(32));
    let mut y = device.zeros::<f32>(8);
    run!(device, unsigned(&device.ctx, 32, &mut x));
    run!(device, signed(&device.ctx, 32, &mut x));
    run!(device, constant(&device.ctx, &mut x, &mut y));
    let want: Vec<f32> = ramp(32).iter().map(|x| if *x < 8.0 { x * 30.0 } else { x * 6.0 }).collect();
    assert_eq!(device.download(&x), want);
    assert_eq!(device.download(&y), want[8..16]);
    let error = signed(&device.ctx, -1, &mut x).expect_err("no length is negative");
    assert!(error.to_string().contains("`x`") && error.to_string().contains("negative"), "{error}");
    let error = signed(&device.ctx, 0, &mut x).expect_err("no buffer is empty");
    assert!(error.to_string().contains("`x`") && error.to_string().contains("zero"), "{error}");
}

#[cuweave::graph()]
fn loops(n: u32, x: &mut [f32; 4 * n]) {
    for i in 0..0x4 {
        fill(&mut x[i * n..i * n + n], i as f32);
    }
    for i in 0u32..4u32 {
        k::scale[(i + 1, 32)](&mut x[i * n..(i + 1) * n], 2.0, n);
    }
    for i in 1..=3usize {
        k::scale[(1, 32)](&mut x[(i - 1) * n..i * n], 3.0, n);
    }
    for i in -1..1 {
        k::scale[(1, 32)](&mut x[0..4 * n], i as f32 + 2.0, 4 * n);
    }
    for i in 4..0 {
        fill(&mut x, i as f32);
    }
}

#[test]
fn loops_of_every_form() {
    let device = device();
    let mut x = device.zeros::<f32>(16);
    run!(device, loops(&device.ctx, 4, &mut x));
    let want: Vec<f32> = [0.0, 12.0, 24.0, 12.0].into_iter().flat_map(|x| [x; 4]).collect();
    assert_eq!(device.download(&x), want);
}

#[cuweave::graph(order = "inferred")]
fn elements(n: u32, xs: [&mut [f32; 2 * n]; 3]) {
    let (a, b) = xs[0].split_at_mut(n);
    fill(&mut a, 1.0);
    fill(&mut b, 2.0);
    k::axpy[per_item(n)](1.0, &a, &mut b, n);
    for i in 1..3 {
        copy(&xs[i - 1][n..2 * n], &mut xs[i][n..2 * n]);
    }
}

#[test]
fn a_split_of_an_element() {
    let device = device();
    let mut xs: [_; 3] = std::array::from_fn(|_| device.zeros::<f32>(4));
    run!(device, elements(&device.ctx, 2, xs.each_mut()));
    assert_eq!(device.download(&xs[0]), [1.0, 1.0, 3.0, 3.0]);
    assert_eq!(device.download(&xs[2]), [0.0, 0.0, 3.0, 3.0]);
}

#[cuweave::graph]
fn three(n: u32) -> ([f32; n], [f32; 2 * n], [u32; 1]) {
    let p = alloc::<f32>(n);
    let q = alloc::<f32>(2 * n);
    let t = alloc::<u32>(1);
    k::set[per_item(n)](&mut p, 1.0, n);
    k::set[per_item(2 * n)](&mut q, 2.0, 2 * n);
    fill(&mut t, 0);
    k::bump[(1, 32)](atomic(&mut t), 1);
    (p, q, t)
}

#[cuweave::graph]
fn tuple_of_one(n: u32) -> ([f32; n],) {
    let p = alloc::<f32>(n);
    k::set[per_item(n)](&mut p, 1.0, n);
    (p,)
}

#[test]
fn tuples_of_three_and_of_one() {
    let device = device();
    let mut exec = three(&device.ctx, 4).expect("it builds").instantiate().expect("it instantiates");
    {
        let (p, q, t) = exec.launch(&device.stream).expect("it launches");
        assert_eq!((device.download(&p), device.download(&q)), (vec![1.0; 4], vec![2.0; 8]));
        assert_eq!(device.download(&t), [32]);
    }
    let mut exec = tuple_of_one(&device.ctx, 4).expect("it builds").instantiate().expect("it instantiates");
    let p = exec.launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&p), [1.0; 4]);
}

/// Raw names, a `mut` argument, and unused arguments.
#[cuweave::graph(memory = "nodes", launches = "as-written")]
fn r#match(mut n: u32, _unused: &[f32; n], #[allow(unused_variables)] spare: f32, r#in: &mut [f32; n]) {
    let mut h = alloc::<f32>(n);
    k::copy_to[per_item(n)](&r#in, &mut h, n);
    k::scale[per_item(n)](&mut h, 2.0, n);
    k::copy_to[per_item(n)](&h, &mut r#in, n);
}

#[test]
fn raw_names_and_spare_arguments() {
    let device = device();
    let spare = device.zeros::<f32>(8);
    let mut x = device.upload(&ramp(8));
    run!(device, r#match(&device.ctx, 8, &spare, 0.5, &mut x));
    assert_eq!(device.download(&x), ramp(8).iter().map(|x| x * 2.0).collect::<Vec<_>>());
}

/// A launch configuration as an argument, used as a whole and in parts.
#[cuweave::graph]
fn configured(n: u32, config: LaunchConfig, x: &mut [f32; n]) {
    k::scale[config](&mut x, 2.0, n);
    k::scale[LaunchConfig { block_dim: (64, 1, 1), ..config }](&mut x, 2.0, n);
}

#[test]
fn a_configuration_is_an_argument() {
    let device = device();
    let mut x = device.upload(&ramp(8));
    run!(device, configured(&device.ctx, 8, LaunchConfig::for_num_elems(8), &mut x));
    assert_eq!(device.download(&x), ramp(8).iter().map(|x| x * 4.0).collect::<Vec<_>>());
    let wide = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (2000, 1, 1), shared_mem_bytes: 0 };
    let error = configured(&device.ctx, 8, wide, &mut x).expect_err("2000 threads are too many");
    assert!(error.to_string().contains("`scale`") && error.to_string().contains("2000"), "{error}");
}

/// All memory lowerings give the same result.
mod memory {
    use super::k;
    use cuweave::prelude::*;

    #[cuweave::graph(memory = "nodes")]
    pub fn nodes(n: u32, out: &mut [f32; n]) {
        let a = alloc::<f32>(n);
        k::set[per_item(n)](&mut a, 1.0, n);
        let b = alloc::<f32>(n);
        k::copy_to[per_item(n)](&a, &mut b, n);
        copy(&b, &mut out);
    }

    #[cuweave::graph(memory = "arena")]
    pub fn arena(n: u32, out: &mut [f32; n]) {
        let a = alloc::<f32>(n);
        k::set[per_item(n)](&mut a, 1.0, n);
        let b = alloc::<f32>(n);
        k::copy_to[per_item(n)](&a, &mut b, n);
        copy(&b, &mut out);
    }

    #[cuweave::graph(memory = "owned")]
    pub fn owned(n: u32, out: &mut [f32; n]) {
        let a = alloc::<f32>(n);
        k::set[per_item(n)](&mut a, 1.0, n);
        let b = alloc::<f32>(n);
        k::copy_to[per_item(n)](&a, &mut b, n);
        copy(&b, &mut out);
    }
}

#[test]
fn every_lowering_of_memory() {
    let device = device();
    for lowering in 0..3 {
        let mut out = device.zeros::<f32>(100);
        match lowering {
            0 => run!(device, memory::nodes(&device.ctx, 100, &mut out)),
            1 => run!(device, memory::arena(&device.ctx, 100, &mut out)),
            _ => run!(device, memory::owned(&device.ctx, 100, &mut out)),
        }
        assert_eq!(device.download(&out), [1.0; 100], "lowering {lowering}");
    }
}
