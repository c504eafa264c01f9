//! Products whose rounding depends on their other uses: the assembler contracts a product and its sum to one `fma`
//! if the product has no other use. So fused kernels must keep all loads and stores of such kernels.

use cudarc::driver::CudaSlice;
use cuweave::builder::{Builder, Launches};
use cuweave::prelude::*;
use cuweave::report::Report;
use cuweave_testkit::device::{Device, device};

#[cuweave::kernels("tests/kernels/rounded.ptx")]
unsafe extern "ptx-kernel" {
    fn both(
        x: &[f32; n],
        y: &[f32; n],
        product: &mut [MaybeUninit<f32>; n],
        sum: &mut [MaybeUninit<f32>; n],
        n: u32,
    );
    fn clamped(x: &[f32; n], y: &[f32; n], most: &mut [MaybeUninit<f32>; n], sum: &mut [f32; n], n: u32);
    fn behind(x: &[f32; n], y: &[f32; n], marked: &mut [f32; n], sum: &mut [f32; n], n: u32);
    fn stepped(x: &mut [f32; n], y: &[f32; n], rate: f32, n: u32);
    fn doubled(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
}

const N: u32 = 1024;
const GRID: (u32, u32) = (N / 64, 64);

/// The kernel with the product.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Product {
    Both,
    Clamped,
    Behind,
    Stepped,
}

/// Runs a chain of three launches, with the product in the middle one. The other results of the product are not
/// used after the chain.
fn run(device: &Device, product: Product, launches: Option<Launches>) -> (Vec<Vec<u32>>, Report) {
    let number = |at: u32, by: u32| (at.wrapping_mul(by) % 10_007) as f32 / 9_973.0 - 0.5;
    let numbers = |by: u32| -> Vec<f32> { (0..N).map(|at| number(at, by)).collect() };
    let mut own: Vec<CudaSlice<f32>> = [48_271, 69_621, 16_807].map(|by| device.upload(&numbers(by))).into();
    let mut b = Builder::with_name(&device.ctx, "rounded");
    if let Some(launches) = launches {
        b.launches(launches);
    }
    let handles: Vec<_> =
        own.iter_mut().zip(["x", "y", "sum"]).map(|(own, name)| b.exclusive(name, N, own)).collect();
    let [x, y, sum] = [handles[0], handles[1], handles[2]];
    let t = b.named("t").alloc::<f32>(N);
    let mut launch = || -> cuweave::Result<()> {
        b.launch(doubled {}, GRID, (x.read(), t.write(), N))?;
        match product {
            Product::Both => b.launch(both {}, GRID, (x.read(), y.read(), t.write(), sum.write(), N))?,
            Product::Clamped => {
                b.launch(clamped {}, GRID, (x.read(), y.read(), t.write(), sum.write(), N))?
            }
            Product::Behind => b.launch(behind {}, GRID, (x.read(), y.read(), t.write(), sum.write(), N))?,
            Product::Stepped => b.launch(stepped {}, GRID, (t.write(), y.read(), 0.3_f32, N))?,
        };
        if product == Product::Stepped {
            b.launch(stepped {}, GRID, (sum.write(), t.read(), 0.7_f32, N))?;
        }
        let last = if product == Product::Stepped { sum } else { y };
        b.launch(stepped {}, GRID, (x.write(), last.read(), 0.1_f32, N))?;
        Ok(())
    };
    launch().expect("launches");
    let graph = b.build().expect("a graph");
    let report = graph.report();
    let mut exec = graph.instantiate().expect("an exec");
    exec.launch(&device.stream).expect("a launch");
    drop(exec);
    let bits = |own: &CudaSlice<f32>| device.download(own).into_iter().map(f32::to_bits).collect();
    (own.iter().map(bits).collect(), report)
}

#[test]
fn products_are_rounded_in_chains_as_they_are_alone() {
    let device = device();
    for product in [Product::Both, Product::Clamped, Product::Behind, Product::Stepped] {
        let (expected, _) = run(&device, product, Some(Launches::AsWritten));
        for launches in [Some(Launches::Fused), None] {
            let (left, report) = run(&device, product, launches);
            assert!(left == expected, "{product:?}, {launches:?}: other bits\n{report}");
            let members = if product == Product::Stepped { 4 } else { 3 };
            assert_eq!(report.fused.iter().map(Vec::len).collect::<Vec<_>>(), [members], "{report}");
            let (stores, elided) = report
                .forwarded
                .iter()
                .fold((0, 0), |sum, one| (sum.0 + one.stores, sum.1 + one.elided.len()));
            match product {
                // The uses of the product remain: for `behind`, also the branch before the sum.
                Product::Clamped | Product::Behind | Product::Both => {
                    assert_eq!(elided, 0, "{product:?}: {report}");
                }
                // A product that is only used in its sum is contracted in any code.
                Product::Stepped => assert_eq!((stores, elided), (2, 1), "{report}"),
            }
        }
    }
    device.nothing_reported();
}
