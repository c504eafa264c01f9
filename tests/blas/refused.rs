//! Invalid products: the build returns an error that names the statement.

use cuweave::Error;
use cuweave::blas::{Blas, Product, gemm, matmul, matmul_bias, matmul_into};
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, alone, simulated_alone};

use crate::support::blas;

#[cuweave::graph]
fn plain(m: u32, n: u32, k: u32, blas: &Blas, a: &[f32; 12], b: &[f32; 12], c: &mut [f32; 12]) {
    gemm(&blas, &a, &b, &mut c, m, n, k);
}

#[cuweave::graph]
fn written(product: Product, blas: &Blas, a: &[f32; 12], b: &[f32; 12], c: &mut [f32; 12]) {
    matmul(&blas, &a, &b, &mut c, product);
}

#[cuweave::graph]
fn added(product: Product, blas: &Blas, a: &[f32; 12], b: &[f32; 12], c: &mut [f32; 12]) {
    matmul_into(&blas, &a, &b, &mut c, product);
}

#[cuweave::graph]
fn biased(product: Product, blas: &Blas, a: &[f32; 12], b: &[f32; 12], bias: &[f32; 2], c: &mut [f32; 12]) {
    matmul_bias(&blas, &a, &b, &bias, &mut c, product);
}

fn text(what: &str, device: &Device, product: Product, message: &str) {
    let blas = blas(device);
    let [a, b] = [device.upload(&[1.0f32; 12]), device.upload(&[1.0f32; 12])];
    let bias = device.upload(&[1.0f32; 2]);
    let mut c = device.upload(&[7.0f32; 12]);
    let error: Error = match what {
        "matmul" => written(&device.ctx, product, &blas, &a, &b, &mut c).map(drop),
        "matmul_bias" => biased(&device.ctx, product, &blas, &a, &b, &bias, &mut c).map(drop),
        _ => added(&device.ctx, product, &blas, &a, &b, &mut c).map(drop),
    }
    .expect_err(message);
    let text = error.to_string();
    println!("{text}");
    assert!(text.starts_with(&format!("`{what}` (tests/blas/refused.rs:")), "{text}");
    assert!(text.ends_with(message), "{text}");
    assert_eq!(device.download(&c), [7.0; 12], "nothing has run");
}

#[test]
fn layouts_are_checked() {
    let device = alone();
    let tight = Product::row_major(3, 3, 4);
    text(
        "matmul",
        &device,
        tight.lda(3),
        "the leading dimension of the row-major `a` is 3, and a row has 4 elements",
    );
    text(
        "matmul",
        &device,
        tight.b_transposed().ldb(2),
        "the leading dimension of the column-major `b` is 2, and a column has 4 elements",
    );
    text(
        "matmul_into",
        &device,
        tight.ldc(2),
        "the leading dimension of the row-major `c` is 2, and a row has 3 elements",
    );
    text(
        "matmul_into",
        &device,
        Product::row_major(2, 2, 2).batch_strided(2, 0, 0, 3),
        "members of `c` overlap: the batch has a stride of 3 elements",
    );
    text(
        "matmul_into",
        &device,
        Product::row_major(2, 2, 2).batch_strided(2, 0, 0, 0),
        "members of `c` overlap: the batch has a stride of 0 elements",
    );
    text(
        "matmul",
        &device,
        Product::row_major(2, 2, 2).ldc(3),
        "the layout of `c` has gaps, 4 of 5 elements are written; `matmul_into` keeps the others",
    );
    text(
        "matmul",
        &device,
        tight.beta(1.0),
        "`beta` reads the previous contents of `c`; only `matmul_into` reads them",
    );
}

#[test]
fn lengths_are_checked() {
    let device = alone();
    let touches = |what: &str, product, parameter: &str, extent: u64, len: u64| {
        let message =
            format!("accesses {extent} elements of its parameter `{parameter}`, but `{parameter}` has {len}");
        text(what, &device, product, &message);
    };
    touches("matmul", Product::row_major(3, 3, 5), "a", 15, 12);
    touches("matmul", Product::row_major(3, 4, 3).ldb(5), "b", 14, 12);
    touches("matmul_into", Product::row_major(3, 3, 3).ldc(6), "c", 15, 12);
    touches("matmul", Product::row_major(2, 2, 2).batch(4), "a", 16, 12);
    touches("matmul_bias", Product::row_major(2, 3, 2), "bias", 3, 2);
    touches("matmul_bias", Product::column_major(3, 2, 2), "bias", 3, 2);
    touches("matmul", Product::row_major(u32::MAX, u32::MAX, u32::MAX).batch(u32::MAX), "a", u64::MAX, 12);
    let blas = blas(&device);
    let [a, b] = [device.upload(&[1.0f32; 12]), device.upload(&[1.0f32; 12])];
    let mut c = device.upload(&[7.0f32; 12]);
    let error = plain(&device.ctx, 3, 5, 4, &blas, &a, &b, &mut c).expect_err("b is short");
    println!("{error}");
    assert!(error.to_string().contains("accesses 20 elements of its parameter `b`"), "{error}");
}

#[test]
fn interleaved_heads_are_no_overlap() {
    let device = alone();
    let blas = blas(&device);
    let [a, b] = [device.upload(&[1.0f32; 12]), device.upload(&[2.0f32; 12])];
    let mut c = device.upload(&[7.0f32; 12]);
    // Two heads of 3 columns each, next to each other in rows of 6.
    let product = Product::row_major(2, 3, 1).ldc(6).batch_strided(2, 2, 3, 3);
    let mut exec =
        written(&device.ctx, product, &blas, &a, &b, &mut c).expect("ok").instantiate().expect("ok");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&c), [2.0; 12]);
}

#[test]
fn cublas_that_is_not_there_is_told() {
    let device = alone();
    match Blas::cublas(&device.ctx) {
        Ok(blas) => assert!(blas.cublas_version().is_some_and(|version| version > 12_000)),
        Err(error) if device.simulated => {
            assert!(error.is_missing());
            assert_eq!(error.to_string(), "cuBLAS does not run on the simulated driver");
        }
        Err(error) => assert!(error.is_missing() && error.to_string().contains("nvidia-cublas"), "{error}"),
    }
    assert_eq!(Blas::kernels(&device.ctx).expect("kernels").cublas_version(), None);
}

#[test]
fn kernels_that_cannot_be_loaded_are_told() {
    let Some(device) = simulated_alone() else { return };
    let load = || -> cuweave::Result<Blas> { Ok(Blas::new(&device.ctx)?) };
    let mut failed = 0;
    for call in ["cuModuleLoadData", "cuDeviceGetAttribute"] {
        cuweave_sim::inject_fault(call, 1, 999).expect("the simulated driver");
        let result = load();
        failed += u32::from(cuweave_sim::clear_faults().expect("the simulated driver") == 0);
        let error = result.expect_err(call);
        assert!(matches!(error, Error::Driver(_)), "{call}: {error}");
        assert!(error.to_string().contains("CUDA_ERROR_UNKNOWN"), "{call}: {error}");
        load().expect("it works afterwards");
    }
    assert_eq!(failed, 2);
}

#[test]
fn an_error_of_the_module_is_one_of_cuweave() {
    let device = alone();
    if !device.simulated {
        println!("not run: it needs the simulated driver");
        return;
    }
    let load = || -> cuweave::Result<Blas> { Ok(Blas::cublas(&device.ctx)?) };
    let error = load().expect_err("there is no cuBLAS");
    assert_eq!(error, Error::Library { text: "cuBLAS does not run on the simulated driver".into() });
    assert_eq!(format!("{error:?}"), "cuBLAS does not run on the simulated driver");
}
