//! Programs of cudarc alone, whose work is captured.

use std::sync::Arc;

use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::Ptx;

pub const PTX: &str = include_str!("../kernels/common.ptx");

/// The kernels of `common.ptx`.
pub struct Kernels(Arc<CudaModule>);

impl Kernels {
    pub fn new(ctx: &Arc<CudaContext>) -> Kernels {
        Kernels(ctx.load_module(Ptx::from_src(PTX)).expect("a module"))
    }

    pub fn function(&self, name: &str) -> CudaFunction {
        self.0.load_function(name).expect("a kernel")
    }

    /// x *= a
    pub fn scale(&self, stream: &CudaStream, x: &mut CudaSlice<f32>, a: f32, n: u32) {
        let f = self.function("scale");
        unsafe { stream.launch_builder(&f).arg(x).arg(&a).arg(&n).launch(threads(n)) }.expect("scale");
    }

    /// y += a · x
    pub fn axpy(&self, stream: &CudaStream, a: f32, x: &CudaSlice<f32>, y: &mut CudaSlice<f32>, n: u32) {
        let f = self.function("axpy");
        unsafe { stream.launch_builder(&f).arg(&a).arg(x).arg(y).arg(&n).launch(threads(n)) }.expect("axpy");
    }

    /// out = a + b
    pub fn add(
        &self,
        stream: &CudaStream,
        a: &CudaSlice<f32>,
        b: &CudaSlice<f32>,
        out: &mut CudaSlice<f32>,
        n: u32,
    ) {
        let f = self.function("add");
        unsafe { stream.launch_builder(&f).arg(a).arg(b).arg(out).arg(&n).launch(threads(n)) }.expect("add");
    }

    /// out = x
    pub fn copy_to(&self, stream: &CudaStream, x: &CudaSlice<f32>, out: &mut CudaSlice<f32>, n: u32) {
        let f = self.function("copy_to");
        unsafe { stream.launch_builder(&f).arg(x).arg(out).arg(&n).launch(threads(n)) }.expect("copy_to");
    }
}

pub fn threads(n: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (n.div_ceil(64), 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: 0 }
}
