//! Products query the heuristic once, before any capture, and run with the workspace that is then planned.

use cuweave::blas::{Blas, Product, gemm, matmul, matmul_bias};
use cuweave::prelude::*;
use cuweave_testkit::device::{ExclusiveDevice, alone};
use half::bf16;

use super::library::Control;

/// The bytes of workspace that the heuristic requests.
const WORKSPACE: u64 = 4096;

/// Returns the device, products, and the library with its notes cleared.
pub fn setup() -> (ExclusiveDevice, Blas, Control) {
    let (device, control) = (alone(), Control::open());
    control.workspace(WORKSPACE);
    control.fail("", 0, 0);
    control.notes();
    let blas = Blas::new(&device.ctx).expect("the library");
    assert_eq!(blas.cublas_version(), Some(130_100));
    (device, blas, control)
}

/// out = the second factor of the first product, given what the stand-in computes.
#[cuweave::graph]
pub fn chain(n: u32, blas: &Blas, w: &[f32; n * n], x: &[f32; n * n], out: &mut [f32; n * n]) {
    let h = alloc::<f32>(n * n);
    gemm(&blas, &w, &x, &mut h, n, n, n);
    gemm(&blas, &w, &h, &mut out, n, n, n);
}

#[cuweave::graph]
fn beside(
    n: u32,
    count: u32,
    blas: &Blas,
    w: &[f32; n * n],
    x: &[f32; n * n],
    out: &mut [f32; count * n * n],
) {
    for i in 0..count {
        gemm(&blas, &w, &x, &mut out[i * n * n..(i + 1) * n * n], n, n, n);
    }
}

fn ramp(n: u32) -> Vec<f32> {
    (0..n * n).map(|at| at as f32).collect()
}

#[cuweave::graph]
fn sized(
    k: u32,
    #[at_most(16)] rows: u32,
    blas: &Blas,
    w: &[f32; k * k],
    x: &[f32; k * k],
    out: &mut [f32; k * k],
) {
    matmul(&blas, &w[..rows * k], &x, &mut out[..rows * k], Product::row_major(rows, k, k));
}

/// The algorithms for other sizes are chosen while the call is captured.
#[test]
#[ignore = "run with the library of the tests"]
fn sizes_choose_algorithms_with_the_same_nodes() {
    let (device, blas, control) = setup();
    let k = 16;
    let (w, x) = (device.zeros::<f32>(256), device.upload(&ramp(k)));
    let mut out = device.zeros::<f32>(256);
    let graph = sized(&device.ctx, k, 7, &blas, &w, &x, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    for rows in [7, 16, 1] {
        exec.set_rows(rows).expect("it is set");
        exec.launch(&device.stream).expect("it launches");
    }
    control.notes();
    exec.set_rows(7).expect("it is set");
    let notes = control.notes();
    assert!(notes.0.is_empty(), "its graph is kept: {notes:?}");
    exec.set_rows(5).expect("it is set");
    let notes = control.notes();
    assert!(notes.0.iter().any(|note| note.starts_with("asked ")), "{notes:?}");
    drop(exec);
    device.nothing_reported();
}

#[test]
#[ignore = "run with the library of the tests"]
fn algorithms_are_chosen_before_the_capture_and_kept() {
    let (device, blas, control) = setup();
    let n = 16;
    let (w, x) = (device.zeros::<f32>(256), device.upload(&ramp(n)));
    let mut first = None;
    for turn in 0..2 {
        let mut out = device.zeros::<f32>(256);
        let graph = chain(&device.ctx, n, &blas, &w, &x, &mut out).expect("it builds");
        // The workspaces of ordered calls share their bytes.
        assert_eq!(graph.report().plan.map(|plan| plan.planned), Some(WORKSPACE + 1024));
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        assert_eq!(device.download(&out), ramp(n));
        let notes = control.notes();
        let kinds: Vec<&str> = notes.0.iter().filter_map(|note| note.split(' ').next()).collect();
        let asked = kinds.iter().filter(|kind| **kind == "asked").count();
        // One query for each alignment, and none in later builds.
        assert_eq!(asked, if turn == 0 { 3 } else { 0 }, "{notes:?}");
        assert!(kinds[..asked].iter().all(|kind| *kind == "asked"), "{notes:?}");
        assert_eq!(notes.of("product").len(), 2);
        assert_eq!(notes.values("product", "capturing"), ["true"; 2]);
        // The chosen algorithm is that of the largest alignment, which all addresses have.
        let number = |note: &&str| note.split(' ').next().and_then(|number| number.parse::<u64>().ok());
        first = first.or(notes.of("asked").first().and_then(number));
        assert!(notes.of("product").iter().all(|note| number(note) == first), "{notes:?}");
        assert!(notes.values("asked", "reduction").iter().all(|mask| *mask == "all"));
    }
    device.nothing_reported();
    drop(blas);
    assert_eq!(control.live(), 0);
}

#[test]
#[ignore = "run with the library of the tests"]
fn workspaces_are_planned_as_the_heuristic_answers() {
    let (device, blas, control) = setup();
    let (n, count) = (16, 5);
    let (w, x) = (device.zeros::<f32>(256), device.upload(&ramp(n)));
    let mut out = device.zeros::<f32>(256 * count as usize);
    let graph = beside(&device.ctx, n, count, &blas, &w, &x, &mut out).expect("it builds");
    assert_eq!(graph.report().plan.map(|plan| plan.planned), Some(WORKSPACE * u64::from(count)));
    let mut exec = graph.instantiate().expect("it instantiates");
    for turn in 0..8 {
        device.schedule(turn);
        exec.launch(&device.stream).expect("it launches");
    }
    drop(exec);
    assert_eq!(device.download(&out), ramp(n).repeat(count as usize));
    let notes = control.notes();
    let mut workspaces = notes.values("product", "workspace");
    workspaces.sort_unstable();
    workspaces.dedup();
    assert_eq!(workspaces.len(), count as usize, "{notes:?}");
    // A race between two workspaces would be reported.
    device.nothing_reported();
    // Without a workspace, no memory is planned.
    control.workspace(0);
    let blas = Blas::new(&device.ctx).expect("the library");
    let graph = beside(&device.ctx, n, count, &blas, &w, &x, &mut out).expect("it builds");
    assert!(graph.report().plan.is_none_or(|plan| plan.planned == 0));
    assert_eq!(control.notes().values("product", "workspace"), ["0"; 5]);
}

#[cuweave::graph]
fn limited(
    p: Product,
    blas: &Blas,
    a: &[f32; p.a_len()],
    b: &[f32; p.b_len()],
    bias: &[f32; p.bias_len()],
    c: &mut [f32; p.c_len()],
) {
    matmul_bias(&blas, &a, &b, &bias, &mut c, p);
}

#[test]
#[ignore = "run with the library of the tests"]
fn the_heuristic_is_told_of_the_limit() {
    let (device, blas, control) = setup();
    let p = Product::column_major(16, 16, 16).workspace_limit(1024).relu();
    let [a, b, bias] = [256, 256, 16].map(|len| device.upload(&vec![1.0f32; len]));
    let mut c = device.zeros::<f32>(256);
    let graph = limited(&device.ctx, p, &blas, &a, &b, &bias, &mut c).expect("it builds");
    assert_eq!(graph.report().plan.map(|plan| plan.planned), Some(1024));
    let notes = control.notes();
    assert_eq!(notes.values("asked", "limit"), ["1024"; 3]);
    assert_eq!(notes.values("asked", "alignments"), ["256,256,256,256", "16,16,16,16", "4,4,4,4"]);
}

macro_rules! typed {
    ($name:ident: $ty:ty, $result:ty) => {
        #[cuweave::graph]
        fn $name(
            p: Product,
            blas: &Blas,
            a: &[$ty; p.a_len()],
            b: &[$ty; p.b_len()],
            c: &mut [$result; p.c_len()],
        ) {
            matmul(&blas, &a, &b, &mut c, p);
        }
    };
}
typed!(narrow: bf16, bf16);
typed!(wide: bf16, f32);
typed!(double: f64, f64);

/// Partial sums over k are added in the type of the sums: `CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE` is 2.
#[test]
#[ignore = "run with the library of the tests"]
fn results_of_16_bits_are_not_summed_in_16_bits() {
    let (device, blas, control) = setup();
    let p = Product::row_major(8, 8, 64);
    let factors = [p.a_len(), p.b_len()].map(|len| device.upload(&vec![bf16::ONE; len as usize]));
    let masks = || {
        let notes = control.notes();
        notes.values("asked", "reduction").into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let mut c = device.zeros::<bf16>(64);
    let _ = narrow(&device.ctx, p, &blas, &factors[0], &factors[1], &mut c).expect("it builds");
    assert_eq!(masks(), ["2"; 3]);
    let mut c = device.zeros::<f32>(64);
    let _ = wide(&device.ctx, p, &blas, &factors[0], &factors[1], &mut c).expect("it builds");
    assert_eq!(masks(), ["all"; 3]);
    let factors = [p.a_len(), p.b_len()].map(|len| device.upload(&vec![1.0f64; len as usize]));
    let mut c = device.zeros::<f64>(64);
    let _ = double(&device.ctx, p, &blas, &factors[0], &factors[1], &mut c).expect("it builds");
    assert_eq!(masks(), ["all"; 3]);
}

/// Two threads build with one `Blas`, and each problem is queried once.
#[test]
#[ignore = "run with the library of the tests"]
fn threads_build_with_one_library() {
    let (device, blas, control) = setup();
    let (w, x) = (device.zeros::<f32>(256), device.upload(&ramp(16)));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..4 {
                    let mut out = device.zeros::<f32>(256);
                    let graph = chain(&device.ctx, 16, &blas, &w, &x, &mut out).expect("it builds");
                    let mut exec = graph.instantiate().expect("it instantiates");
                    // Launch on a thread other than the one that built the graph.
                    std::thread::scope(|scope| {
                        scope.spawn(|| {
                            let stream = device.ctx.new_stream().expect("a stream");
                            exec.launch(&stream).expect("it launches");
                            drop(exec);
                        });
                    });
                    assert_eq!(device.download(&out), ramp(16));
                }
            });
        }
    });
    let notes = control.notes();
    assert_eq!((notes.of("asked").len(), notes.of("product").len()), (3, 32));
    drop(blas);
    assert_eq!(control.live(), 0);
}
