//! A host value is passed to calls, as it is taken, and to nothing else.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

struct Library {
    factor: f32,
}

#[cuweave::call]
unsafe fn call(_stream: &CallStream, _library: &Library, _x: &mut [f32; n], n: u32) {}

#[cuweave::call]
unsafe fn two(_stream: &CallStream, _a: &mut Library, _b: &mut Library) {}

#[cuweave::graph]
fn f(n: u32, library: &Library, resource: &mut Library, x: &mut [f32; n]) {
    scale[per_item(n)](&library, 2.0, n); //~ CW001
    scale[per_item(n)](&mut x, library, n); //~ CW001
    scale[per_item(n)](&mut x, resource.factor, n); //~ CW001
    copy(&x, &mut library); //~ CW001
    call(&mut library, &mut x, n); //~ CW001
    two(&resource, &mut resource); //~ CW001
    two(&mut resource, &mut resource); //~ CW001
    call(&library, &mut x, n);
}

fn main() {}
