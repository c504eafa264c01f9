//! Kernels that require a block size with `.reqntid`, such as Triton's, and the configurations that they accept.

use cuweave::Error;
use cuweave::prelude::*;
use cuweave::report::DeclaredPart;
use cuweave_testkit::device::{Device, device};

#[cuweave::kernels("tests/kernels/required.ptx")]
unsafe extern "ptx-kernel" {
    fn raise(x: &mut [f32; n], n: u32, a: &[u8; 0], b: &[u8; 0]);
    fn tile(x: &mut [MaybeUninit<u32>; 32]);
}

mod triton {
    #[cuweave::kernels("tests/ptx-corpus/triton/triton_add.80.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn triton_add(
            x: &[f32; n],
            y: &[f32; n],
            out: &mut [MaybeUninit<f32>; n],
            n: u32,
            profile: &[u8; 0],
            scratch: &[u8; 0],
        );
    }

    #[cuweave::kernels("tests/kernels/aligned.ptx")]
    unsafe extern "ptx-kernel" {
        /// The length is the one in the help of CW308 (`tests/ui/ptx/cw308_multiple.rs`).
        pub fn aligned(
            x: &mut [f32; n.next_multiple_of(4)],
            a: f32,
            n: u32,
            profile: &[u8; 0],
            scratch: &[u8; 0],
        );
    }
}

/// With a literal, an expression, and the number of items.
#[cuweave::graph]
fn raised(n: u32, threads: u32, x: &mut [f32; n], none: &[u8; 1]) {
    raise[(n.div_ceil(128), 128)](&mut x, n, &none, &none);
    raise[(n.div_ceil(128), threads)](&mut x, n, &none, &none);
    raise[per_item(n)](&mut x, n, &none, &none);
}

#[cuweave::graph]
fn tiled(items: u32, y: &mut [u32; 32]) {
    tile[per_item(items)](&mut y);
}

#[cuweave::graph]
fn added(n: u32, x: &[f32; n], y: &[f32; n], out: &mut [f32; n], none: &[u8; 1]) {
    triton::triton_add[(n.div_ceil(256), 128)](&x, &y, &mut out, n, &none, &none);
}

#[cuweave::graph]
fn scaled(n: u32, x: &mut [f32; n.next_multiple_of(4)], none: &[u8; 1]) {
    triton::aligned[(n.div_ceil(512), 128)](&mut x, 2.0, n, &none, &none);
}

#[test]
fn a_kernel_for_multiples_takes_lengths_that_are_rounded_up() -> cuweave::Result<()> {
    let Device { ctx, stream, .. } = device();
    for n in [1, 16, 510, 512, 1000_u32] {
        let len = n.next_multiple_of(4) as usize;
        let mut x = stream.clone_htod(&vec![0.5_f32; len]).expect("an upload");
        let none = stream.alloc_zeros::<u8>(1).expect("an allocation");
        stream.synchronize().expect("the uploads are done");
        let graph = scaled(&ctx, n, &mut x, &none)?;
        // That length is proved.
        let assumed_declarations = graph.report().assumed_declarations;
        assert!(
            assumed_declarations.iter().all(|entry| entry.what != DeclaredPart::Extent),
            "{assumed_declarations:?}"
        );
        let mut exec = graph.instantiate()?;
        exec.launch(&stream)?;
        drop(exec);
        assert_eq!(stream.clone_dtoh(&x).expect("a download"), vec![1.0; len]);
    }
    Ok(())
}

#[test]
fn a_required_block_is_the_one_that_per_item_takes() -> cuweave::Result<()> {
    let Device { ctx, stream, .. } = device();
    for n in [1, 127, 128, 129, 1000_u32] {
        let mut x = stream.clone_htod(&vec![0.5_f32; n as usize]).expect("an upload");
        let none = stream.alloc_zeros::<u8>(1).expect("an allocation");
        stream.synchronize().expect("the uploads are done");
        let mut exec = raised(&ctx, n, 128, &mut x, &none)?.instantiate()?;
        exec.launch(&stream)?;
        drop(exec);
        assert_eq!(stream.clone_dtoh(&x).expect("a download"), vec![3.5; n as usize]);
    }
    Ok(())
}

#[test]
fn another_block_that_is_computed_is_an_error_of_the_build_and_of_the_setter() -> cuweave::Result<()> {
    let Device { ctx, stream, .. } = device();
    let mut x = stream.clone_htod(&vec![0.5_f32; 300]).expect("an upload");
    let none = stream.alloc_zeros::<u8>(1).expect("an allocation");
    stream.synchronize().expect("the uploads are done");
    for threads in [0, 1, 64, 127, 129, 256, u32::MAX] {
        let error = raised(&ctx, 300, threads, &mut x, &none).expect_err("another block");
        assert!(matches!(error, Error::Config { .. }), "{error}");
        println!("{error}");
        if (1..=128).contains(&threads) {
            let said = format!("a block of {threads} x 1 x 1 threads, but `raise` requires 128 x 1 x 1");
            assert!(error.to_string().contains(&said), "{error}");
        }
    }
    let mut exec = raised(&ctx, 300, 128, &mut x, &none)?.instantiate()?;
    exec.set_threads(64).expect_err("another block");
    exec.launch(&stream)?;
    drop(exec);
    assert_eq!(stream.clone_dtoh(&x).expect("a download"), vec![3.5; 300]);
    let mut y = stream.alloc_zeros::<u32>(32).expect("an allocation");
    let error = tiled(&ctx, 32, &mut y).expect_err("`per_item` has one dimension");
    println!("{error}");
    assert!(error.to_string().contains("requires blocks of 8 x 4 x 1 threads"), "{error}");
    Ok(())
}

#[test]
fn a_kernel_of_tritons_runs() -> cuweave::Result<()> {
    let Device { ctx, stream, .. } = device();
    let n = 777_u32;
    let (x, y): (Vec<f32>, Vec<f32>) = (0..n).map(|i| (i as f32, 2.0 * i as f32)).unzip();
    let (x, y) = (stream.clone_htod(&x).expect("an upload"), stream.clone_htod(&y).expect("an upload"));
    let mut out = stream.alloc_zeros::<f32>(n as usize).expect("an allocation");
    let none = stream.alloc_zeros::<u8>(1).expect("an allocation");
    stream.synchronize().expect("the uploads are done");
    let mut exec = added(&ctx, n, &x, &y, &mut out, &none)?.instantiate()?;
    exec.launch(&stream)?;
    drop(exec);
    let want: Vec<f32> = (0..n).map(|i| 3.0 * i as f32).collect();
    assert_eq!(stream.clone_dtoh(&out).expect("a download"), want);
    Ok(())
}
