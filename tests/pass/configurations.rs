//! Launch configurations.

use cuweave::prelude::*;

use crate::support::{device, ramp, run};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn nothing();
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn reverse_block(x: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn narrow(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn all_forms(n: u32, blocks: u32, x: &mut [f32; n]) {
    scale[(1, 256)](&mut x, 2.0, n);
    scale[(n.div_ceil(32), 32)](&mut x, 2.0, n);
    scale[(blocks, 32_u32)](&mut x, 2.0, n);
    scale[((1, 1), (256, 1))](&mut x, 2.0, n);
    scale[((1, 1, 1), (256, 1, 1))](&mut x, 2.0, n);
    scale[((blocks, 1, 1), 64)](&mut x, 2.0, n);
    scale[((blocks, 1), (32, 1, 1), 0)](&mut x, 1.0, n);
    scale[per_item(n)](&mut x, 2.0, n);
    scale[per_item(2 * n)](&mut x, 2.0, n);
    scale[LaunchConfig { grid_dim: (1, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 }](&mut x, 2.0, n);
    scale[LaunchConfig::for_num_elems(n)](&mut x, 2.0, n);
    nothing[(1, 1)]();
    nothing[((2, 3, 4), (4, 3, 2))]();
    nothing[(1, 1024)]();
}

#[test]
fn every_form_of_configuration() {
    let device = device();
    let mut x = device.upload(&ramp(200));
    run!(device, all_forms(&device.ctx, 200, 8, &mut x));
    assert_eq!(device.download(&x), ramp(200).iter().map(|x| x * 1024.0).collect::<Vec<_>>());
}

/// Constants that a `let` refers to.
mod tiles {
    pub const TILE: u32 = 16;
    pub const ONE: u32 = 1;
}
use tiles::TILE;

fn line(length: u32) -> (u32, u32) {
    (length, 1)
}

#[cuweave::graph]
fn named(n: u32, x: &mut [f32; n]) {
    let tile = TILE;
    let block = (tile, tiles::ONE);
    let (grid, width) = (n.div_ceil(TILE), TILE);
    let typed: (u32, u32) = line(64);
    scale[(grid, block)](&mut x, 2.0, n);
    scale[((grid, 1), (width, tiles::ONE))](&mut x, 2.0, n);
    scale[(n.div_ceil(64), typed)](&mut x, 2.0, n);
}

#[test]
fn a_let_names_constants_tuples_of_them_and_what_functions_return() {
    let device = device();
    let mut x = device.upload(&ramp(200));
    run!(device, named(&device.ctx, 200, &mut x));
    assert_eq!(device.download(&x), ramp(200).iter().map(|x| x * 8.0).collect::<Vec<_>>());
}

#[cuweave::graph]
fn shared_memory(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let config = alloc::<f32>(n);
    copy(&x, &mut config);
    reverse_block[LaunchConfig { grid_dim: (1, 1, 1), block_dim: (n, 1, 1), shared_mem_bytes: 4 * n }](
        &config, &mut out, n,
    );
}

#[test]
fn dynamic_shared_memory() {
    let device = device();
    let x = device.upload(&ramp(64));
    let mut out = device.zeros::<f32>(64);
    run!(device, shared_memory(&device.ctx, 64, &x, &mut out));
    assert_eq!(device.download(&out), ramp(64).into_iter().rev().collect::<Vec<_>>());
}

#[cuweave::graph]
fn shared_in_a_tuple(n: u32, bytes: u32, x: &[f32; n], between: &mut [f32; n], out: &mut [f32; n]) {
    reverse_block[(1, n, 4 * n)](&x, &mut between, n);
    reverse_block[((1, 1), (n, 1, 1), bytes)](&between, &mut out, n);
}

#[test]
fn dynamic_shared_memory_in_a_tuple() {
    let device = device();
    let x = device.upload(&ramp(64));
    let (mut between, mut out) = (device.zeros::<f32>(64), device.zeros::<f32>(64));
    let graph = shared_in_a_tuple(&device.ctx, 64, 256, &x, &mut between, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    // A scalar that only affects the shared memory.
    let error = exec.set_bytes(1 << 30).expect_err("no device has that much").to_string();
    assert!(error.contains("`reverse_block`"), "{error}");
    exec.set_bytes(512).expect("more than is needed");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&between), ramp(64).into_iter().rev().collect::<Vec<_>>());
    assert_eq!(device.download(&out), ramp(64));
}

/// `per_item` queries the kernel, which allows at most 64 threads per block here.
#[cuweave::graph]
fn capped(n: u32, x: &mut [f32; n]) {
    narrow[per_item(n)](&mut x, 1.0, n);
    narrow[(n.div_ceil(64), 64)](&mut x, 1.0, n);
}

#[test]
fn per_item_is_capped_by_the_kernel() {
    let device = device();
    let mut x = device.zeros::<f32>(1000);
    run!(device, capped(&device.ctx, 1000, &mut x));
    assert_eq!(device.download(&x), [2.0; 1000]);
}

#[cuweave::graph]
fn items(n: u32, x: &mut [f32; 4]) {
    scale[per_item(n)](&mut x, 1.0, 4);
}

#[test]
fn no_items_are_an_error() {
    let device = device();
    let mut x = device.zeros::<f32>(4);
    let error = items(&device.ctx, 0, &mut x).expect_err("no items");
    assert!(error.to_string().contains("scale"), "{error}");
}

#[test]
fn a_configuration_that_the_kernel_refuses_is_an_error_at_build() {
    let device = device();
    let mut x = device.zeros::<f32>(64);
    let error = threads(&device.ctx, 128, 64, &mut x).expect_err("128 threads are more than 64");
    assert!(error.to_string().contains("narrow"), "{error}");
}

#[cuweave::graph]
fn threads(block: u32, n: u32, x: &mut [f32; n]) {
    narrow[(1, block)](&mut x, 1.0, n);
}
