//! `#[access(..)]` where it has no meaning, and numbers of devices that are none.
#![deny(unsafe_code)]

use cuweave::prelude::*;
#[allow(unsafe_code)]
#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn of_one_device(n: u32) -> [f32; n] {
    #[access(1)] //~ CW001
    let h = alloc::<f32>(n);
    fill(&mut h, 1.0);
    h
}

#[cuweave::graph(devices = 2)]
fn numbers(n: u32) -> ([f32; n], [f32; n], [f32; n], [f32; n]) {
    #[access] //~ CW001
    let a = alloc::<f32>(n);
    #[access()] //~ CW001
    let b = alloc::<f32>(n);
    #[access(0, 2)] //~ CW001
    let c = alloc::<f32>(n);
    #[access(device)] //~ CW001
    let d = alloc::<f32>(n);
    fill(&mut a, 1.0);
    fill(&mut b, 1.0);
    fill(&mut c, 1.0);
    fill(&mut d, 1.0);
    (a, b, c, d)
}

#[cuweave::graph(devices = 2)]
fn no_allocation(n: u32, x: &mut [f32; n]) {
    #[access(1)] //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
    #[access(1)] //~ CW001
    {
        fill(&mut x, 0.0);
    }
}

#[cuweave::graph(devices = 2)]
fn of_an_argument(n: u32, #[access(1)] x: &mut [f32; n]) { //~ CW001
    fill(&mut x, 0.0);
}

fn main() {}
