//! Lets each call of the library fail in turn, with each status. The error must name the statement, the call and
//! the status; nothing may leak; and the next build must work.

use cuweave::blas::{self, Blas, matmul_bias};
use cuweave::prelude::*;
use cuweave_testkit::device::Device;

use super::programs::setup;
use crate::triangular::solve;

const STATUSES: [(u32, &str); 10] = [
    (1, "CUBLAS_STATUS_NOT_INITIALIZED"),
    (3, "CUBLAS_STATUS_ALLOC_FAILED"),
    (7, "CUBLAS_STATUS_INVALID_VALUE"),
    (8, "CUBLAS_STATUS_ARCH_MISMATCH"),
    (11, "CUBLAS_STATUS_MAPPING_ERROR"),
    (13, "CUBLAS_STATUS_EXECUTION_FAILED"),
    (14, "CUBLAS_STATUS_INTERNAL_ERROR"),
    (15, "CUBLAS_STATUS_NOT_SUPPORTED"),
    (16, "CUBLAS_STATUS_LICENSE_ERROR"),
    (99, "the status 99"),
];

/// A batch with a bias, which sets every attribute, and a call of plain cuBLAS.
#[cuweave::graph]
fn both(
    n: u32,
    blas: &Blas,
    a: &[f32; 2 * n * n],
    bias: &[f32; n],
    x: &mut [f32; n * n],
    out: &mut [f32; 2 * n * n],
) {
    matmul_bias(&blas, &a, &a, &bias, &mut out, blas::Product::row_major(n, n, n).batch(2));
    solve(&blas, &a[0..n * n], &mut x, n, n);
}

/// Creates products, builds, launches, and drops everything.
fn run(device: &Device) -> std::result::Result<(), (bool, String)> {
    let n = 8;
    let blas = Blas::new(&device.ctx).map_err(|error| (false, error.to_string()))?;
    let (a, bias) = (device.upload(&[1.0f32; 128]), device.upload(&[0.0f32; 8]));
    let (mut x, mut out) = (device.upload(&[0.0f32; 64]), device.upload(&[0.0f32; 128]));
    let graph = both(&device.ctx, n, &blas, &a, &bias, &mut x, &mut out);
    let exec = graph.and_then(cuweave::Graph::instantiate);
    exec.and_then(|mut exec| exec.launch(&device.stream)).map_err(|error| (true, error.to_string()))?;
    assert_eq!(device.download(&x), [2.0; 64]);
    Ok(())
}

#[test]
#[ignore = "run with the library of the tests"]
fn each_call_fails_in_turn() {
    let (device, blas, control) = setup();
    drop(blas);
    control.notes();
    run(&device).expect("nothing fails");
    let counts = control.notes().counts();
    println!("{counts:?}");
    assert!(counts.len() > 15, "all functions are called: {counts:?}");
    for (name, count) in counts {
        for nth in 1..=count {
            let statuses = if nth == 1 { &STATUSES[..] } else { &STATUSES[5..6] };
            for &(status, text) in statuses {
                control.fail(&name, nth, status);
                let result = run(&device);
                let what = format!("call {nth} of {name}, {text}");
                assert_eq!(control.live(), 0, "{what}: {result:?}");
                control.fail("", 0, 0);
                control.notes();
                let unheard = name.contains("Destroy")
                    || name == "cublasLtMatmulAlgoGetHeuristic" && [7, 15].contains(&status)
                    // This failure occurs after the call, when the stream is taken away from the handle.
                    || name == "cublasSetStream_v2" && nth == 2;
                let Err((built, error)) = result else {
                    assert!(unheard, "{what}: no error");
                    continue;
                };
                assert!(!unheard, "{what}: {error}");
                if nth == 1 && status == 13 {
                    println!("{error}");
                }
                let of_cudarc = name == "cublasStrsm_v2";
                let call = if of_cudarc { "cuBLAS".to_owned() } else { format!("`{name}`") };
                assert!(error.contains(&format!("{call} returned {text}")), "{what}: {error}");
                assert_eq!(built, !["cublasCreate_v2", "cublasLtCreate"].contains(&&*name), "{what}");
                if built {
                    let statement = [
                        "`matmul_bias` (tests/blas/cublas/failures.rs:",
                        "`solve` (tests/blas/cublas/failures.rs:",
                    ];
                    assert!(statement.iter().any(|place| error.starts_with(place)), "{what}: {error}");
                }
            }
        }
        run(&device).expect("the next build works");
    }
    assert_eq!(control.live(), 0);
    device.nothing_reported();
}
