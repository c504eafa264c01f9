//! `#[on(..)]` where it has no meaning, and numbers of devices that are none.
#![deny(unsafe_code)]

use cuweave::cudarc::driver::CudaEvent;
use cuweave::prelude::*;
#[allow(unsafe_code)]
#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn of_one_device(n: u32, x: &mut [f32; n]) {
    #[on(1)] //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
}

#[cuweave::graph(devices = 2)]
fn numbers(n: u32, x: &mut [f32; n]) {
    #[on] //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
    #[on()] //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
    #[on(0, 1)] //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
    #[on(2)] //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
    #[on(-1)] //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
    #[on(0)]
    #[on(1)] //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
    for i in 1..3 {
        #[on(i)] //~ CW001
        scale[per_item(n)](&mut x, 2.0, n);
    }
}

#[cuweave::graph(devices = 2)]
fn no_work(n: u32, half: &CudaEvent, x: &mut [f32; n], seen: &mut Pinned<[f32; n]>) {
    #[on(1)] //~ CW001
    let k = n / 2;
    #[on(1)] //~ CW001
    let part = &x[..k];
    let h = alloc::<f32>(n);
    #[on(1)] //~ CW001
    record(&half);
    #[on(1)] //~ CW001
    wait(&half);
    copy(&x, &mut seen);
    #[on(1)] //~ CW001
    host(&mut seen, |seen| seen[0] = 0.0);
    copy(&part, &mut h[..k]);
    #[on(1)] //~ CW001
    free(h);
}

#[cuweave::graph(devices = 2)]
fn of_an_argument(n: u32, #[on(1)] x: &mut [f32; n]) { //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph(devices = 2)]
fn misspelt(n: u32, x: &mut [f32; n]) {
    #[one(1)] //~ CW001
    fill(&mut x, 0.0);
    #[device(1)] //~ CW001
    fill(&mut x, 0.0);
}

fn main() {}
