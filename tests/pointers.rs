//! Kernels with tables of pointers, which launches give as lists of buffers.

use cuweave::prelude::*;
use cuweave_testkit::device::{device, ramp};

#[cuweave::kernels("tests/kernels/pointers.ptx")]
unsafe extern "ptx-kernel" {
    fn summed(xs: &[Ptr<[f32; len]>; n], out: &mut [MaybeUninit<f32>; len], n: u32, len: u32);
    fn scaled(xs: &[PtrMut<[f32; len]>; n], by: f32, n: u32, len: u32);
    fn squares(xs: &[Ptr<[f32; len]>; n], ys: &[PtrMut<[f32; len]>; n], n: u32, len: u32);
}

#[cuweave::graph]
fn sum_of_a_list(n: u32, len: u32, xs: &[&[f32; len]], out: &mut [f32; len]) {
    summed[per_item(len)](&xs, &mut out, n, len);
}

#[cuweave::graph]
fn sum_of_an_array(len: u32, xs: [&[f32; len]; 3], out: &mut [f32; len]) {
    summed[per_item(len)](&xs, &mut out, 3, len);
}

#[test]
fn a_list_is_a_table_of_pointers() {
    let d = device();
    let len = 100;
    let xs = [1.0, 10.0, 100.0].map(|by| d.upload(&ramp(len).iter().map(|x| by * x).collect::<Vec<f32>>()));
    let expected: Vec<f32> = ramp(len).iter().map(|x| x + 10.0 * x + 100.0 * x).collect();
    let mut out = d.zeros::<f32>(len);
    let graph = sum_of_a_list(&d.ctx, 3, len as u32, xs.iter().collect(), &mut out).expect("it builds");
    println!("{}\n{}", graph.report().all(), graph.certificate());
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), expected);
    let mut out = d.zeros::<f32>(len);
    let graph = sum_of_an_array(&d.ctx, len as u32, xs.each_ref(), &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), expected);
}
