//! Records, slices of records and of buffers: results against plain Rust.

use cuweave::prelude::*;
use cuweave_testkit::device::device;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

/// A step: y += by * x, and the history is what x was.
#[cuweave::arguments]
struct Step {
    n: u32,
    by: f32,
    x: &[f32; n],
    history: &mut [f32; 2 * n],
}

#[cuweave::graph]
fn steps(n: u32, y: &mut [f32; n], steps: &[Step<'_>]) {
    for step in &steps {
        axpy[per_item(n)](step.by, &step.x, &mut y, n);
        copy(&y, &mut step.history[step.n..2 * step.n]);
    }
}

#[test]
fn a_slice_of_records_is_as_long_as_the_vec() {
    let device = device();
    for count in [0_usize, 1, 2, 5] {
        let mut y = device.upload(&[1.0_f32; 8]);
        let xs: Vec<_> = (0..count).map(|at| device.upload(&[at as f32 + 1.0; 8])).collect();
        let histories: Vec<_> = (0..count).map(|_| device.zeros::<f32>(16)).collect();
        let records: Vec<Step<'_>> =
            xs.iter().zip(histories).map(|(x, history)| Step::new(8, 2.0, x, history)).collect();
        let graph = steps(&device.ctx, 8, &mut y, records).expect("it builds");
        assert_eq!(graph.report().launches, count);
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        let args = exec.into_args();
        let mut expected = 1.0;
        for (at, step) in args.steps.into_iter().enumerate() {
            expected += 2.0 * (at as f32 + 1.0);
            let history = device.download(&step.history.into_owned().expect("it is owned"));
            assert_eq!(history[..8], [0.0; 8]);
            assert_eq!(history[8..], [expected; 8], "{at}");
        }
        assert_eq!(device.download(&y), [expected; 8], "{count} steps");
    }
}
