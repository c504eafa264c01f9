//! Rust in a body that is not in the language: each time what to write.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn leaves(n: u32, out: &mut [f32; n]) {
    fill(&mut out, 0.0);
    for i in 0..n {
        if i == 3 {
            break; //~ CW001
        }
        if i == 4 {
            continue; //~ CW001
        }
    }
    if n == 0 {
        return; //~ CW001
    }
    println!("{n}"); //~ CW001
    assert!(n > 0); //~ CW001
    unsafe { scale[per_item(n)](&mut out, 2.0, n) }; //~ CW001
    scale[per_item(n)](&mut out, 2.0, n)?; //~ CW001
    scale[per_item(n)]; //~ CW001
    out += 1.0; //~ CW001
    out[0] = 1.0; //~ CW001
    fn helper() {} //~ CW001
    Ok(()) //~ CW001
}

#[cuweave::graph]
fn binds(n: u32, out: &mut [f32; n]) -> [f32; n] {
    let (a, b) = (n, [n]); //~ CW001
    let half = |k: u32| k / 2; //~ CW001
    let sizes = [n, n]; //~ CW001
    let zeros = [0.0; 4]; //~ CW001
    let m = if n > 3 { 3 } else { n }; //~ CW001
    let h: [f32; n] = alloc(n); //~ CW001
    let k = n / 2;
    k = 3; //~ CW001
    let x = alloc::<f32>(n);
    fill(&mut x, 0.0);
    Ok(x) //~ CW001
}

fn main() {}
