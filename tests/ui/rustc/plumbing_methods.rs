//! The methods that generated code calls are out of reach, also of a generic function.

#![deny(unsafe_code)]

use cuweave::GraphFn;
use cuweave::prelude::*;
#[allow(unsafe_code)]
#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn scaled(n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
}

fn of_one(exec: &mut scaled::Exec<'_>) {
    <scaled::Args<'_> as GraphFn>::core_mut(exec, Default::default()); //~ E0576
}

fn of_any<A: GraphFn>(exec: &mut A::Exec, args: &A) {
    A::core_mut(exec, Default::default()); //~ E0277
    A::values(args, Default::default()); //~ E0277
    A::table(()); //~ E0308
}

fn of_the_module() {
    scaled::Args::__new(1); //~ E0061
}

fn of_a_kernel() {
    scale::__kernel(); //~ E0599
    scale::kernel(()); //~ E0599
}

fn main() {}
