//! rustc holds the arguments of a library call, and the result of its body, against the declaration.

use cuweave::prelude::*;

struct Library;
struct Other;
struct Silent;

#[cuweave::call]
unsafe fn call(
    _stream: &CallStream,
    _library: &Library,
    _x: &[f32; n],
    _out: &mut [MaybeUninit<f32>; n],
    n: u32,
) -> Result<(), std::io::Error> {
    Ok(())
}

#[cuweave::call]
unsafe fn silent(_stream: &CallStream) -> Result<(), Silent> { //~ E0277
    Err(Silent)
}

#[cuweave::graph]
fn f(n: u32, library: &Library, other: &Other, x: &[f64; n], y: &[f32; n], out: &mut [f32; n]) {
    call(&other, &y, &mut out, n); //~ E0308
    call(&library, &x, &mut out, n); //~ E0277
    call(&library, &mut out, &y, n); //~ E0277 E0277
    call(&library, &y, &mut out); //~ E0061
    silent();
}

fn main() {}
