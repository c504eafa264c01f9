//! A library for the tests: kernels behind a handle, as real libraries have them, and calls to it.

use std::sync::Arc;

use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut,
    DriverError, PushKernelArg,
};
use cudarc::nvrtc::Ptx;
use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    pub fn scale(x: &mut [f32; n], a: f32, n: u32);
}

/// The handle.
#[derive(Debug)]
pub struct Library {
    pub module: Arc<CudaModule>,
    /// The number of partial sums: each needs one element of scratch.
    pub parts: u32,
}

impl Library {
    pub fn new(ctx: &Arc<CudaContext>) -> Library {
        let ptx = Ptx::from_src(include_str!("../kernels/common.ptx"));
        Library { module: ctx.load_module(ptx).expect("a module"), parts: 4 }
    }

    pub fn function(&self, name: &str) -> Result<CudaFunction, DriverError> {
        self.module.load_function(name)
    }

    /// Launches out = x into a stream.
    pub fn copies(
        &self,
        stream: &CudaStream,
        x: &CudaView<'_, f32>,
        out: &mut CudaViewMut<'_, f32>,
        n: u32,
    ) -> Result<(), DriverError> {
        let copy = self.function("copy_to")?;
        unsafe { stream.launch_builder(&copy).arg(x).arg(out).arg(&n).launch(threads(n)) }.map(drop)
    }

    /// Returns the number of scratch elements for a sum.
    pub fn scratch(&self, n: u32) -> u32 {
        if n > 1 { self.parts * n } else { 0 }
    }
}

/// Returns a launch configuration with a thread for each of `n` elements.
pub fn threads(n: u32) -> LaunchConfig {
    LaunchConfig::for_num_elems(n)
}

/// out = a * x
#[cuweave::call]
pub unsafe fn scaled(
    stream: &CallStream,
    library: &Library,
    x: &[f32; n],
    out: &mut [MaybeUninit<f32>; n],
    a: f32,
    n: u32,
) -> Result<(), DriverError> {
    let (copy, scale) = (library.function("copy_to")?, library.function("scale")?);
    unsafe {
        stream.launch_builder(&copy).arg(x).arg(&mut *out).arg(&n).launch(threads(n))?;
        stream.launch_builder(&scale).arg(out).arg(&a).arg(&n).launch(threads(n))?;
    }
    Ok(())
}

/// out = a + b, by way of scratch, with raw addresses as a C library takes them.
#[cuweave::call]
pub unsafe fn sum(
    stream: &CallStream,
    library: &Library,
    a: &[f32; n],
    b: &[f32; n],
    out: &mut [MaybeUninit<f32>; n],
    workspace: [f32; library.scratch(n)],
    n: u32,
) -> Result<(), DriverError> {
    assert_eq!((a.len(), b.len(), out.len()), (n as usize, n as usize, n as usize));
    assert_eq!(workspace.len(), library.scratch(n) as usize);
    let (copy, add) = (library.function("copy_to")?, library.function("add")?);
    let (out, _out) = out.device_ptr_mut(stream);
    let (b, _b) = b.device_ptr(stream);
    let (a, _a) = a.device_ptr(stream);
    let (part, _part) = workspace.device_ptr_mut(stream);
    if n == 1 {
        assert_eq!(part, 0, "a scratch of no elements has no memory");
        return unsafe { stream.launch_builder(&add).arg(&a).arg(&b).arg(&out).arg(&n).launch(threads(n)) }
            .map(drop);
    }
    assert_eq!(part % 256, 0);
    unsafe {
        stream.launch_builder(&copy).arg(&a).arg(&part).arg(&n).launch(threads(n))?;
        let last = part + u64::from(n) * 4 * 3;
        stream.launch_builder(&copy).arg(&part).arg(&last).arg(&n).launch(threads(n))?;
        stream.launch_builder(&add).arg(&last).arg(&b).arg(&out).arg(&n).launch(threads(n))?;
    }
    Ok(())
}

/// The positive and the negative part of x, computed in two streams. The second stream is joined.
#[cuweave::call]
pub unsafe fn forked(
    stream: &CallStream,
    library: &Library,
    x: &[f32; n],
    pos: &mut [MaybeUninit<f32>; n],
    neg: &mut [MaybeUninit<f32>; n],
    n: u32,
) -> Result<(), DriverError> {
    let copy = library.function("copy_to")?;
    let other = stream.fork()?;
    unsafe {
        stream.launch_builder(&copy).arg(x).arg(pos).arg(&n).launch(threads(n))?;
        other.launch_builder(&copy).arg(x).arg(neg).arg(&n).launch(threads(n))?;
    }
    stream.join(&other)
}

/// x = x * a, in place. Does nothing if a is 1.
#[cuweave::call]
pub unsafe fn rescale(
    stream: &CallStream,
    library: &Library,
    x: &mut [f32; n],
    a: f32,
    n: u32,
) -> Result<(), DriverError> {
    if a == 1.0 {
        return Ok(());
    }
    let scale = library.function("scale")?;
    unsafe { stream.launch_builder(&scale).arg(x).arg(&a).arg(&n).launch(threads(n)) }.map(drop)
}
