//! Products by cuweave's own kernels, where there is no cuBLAS and for products that it does not support. One
//! thread computes an element. If there are few elements, k is split into parts whose sums go to scratch, and a
//! second kernel adds these up and applies bias and activation.

#![allow(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, CudaModule, DeviceRepr, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

use crate::CallStream;

use super::element::ElementKind;
use super::error::Error;
use super::product::{Activation, Matrix, Order, Product};

/// The kernels, loaded.
#[derive(Debug)]
pub(super) struct Kernels {
    module: Arc<CudaModule>,
}

/// The element types of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ElementKinds {
    pub factors: ElementKind,
    pub result: ElementKind,
}

impl ElementKinds {
    /// Returns the alignment in bytes that all elements have.
    pub fn alignment(self) -> u64 {
        self.factors.size().min(self.result.size())
    }
}

/// The addresses of a product's operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands {
    pub a: u64,
    pub b: u64,
    pub bias: Option<u64>,
    pub c: u64,
    pub scratch: u64,
    pub scratch_bytes: u64,
}

/// The parameter `Product` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Parameters {
    a: [i64; 3],
    b: [i64; 3],
    c: [i64; 3],
    alpha: f64,
    beta: f64,
    m: u32,
    n: u32,
    k: u32,
    batch: u32,
    parts: u32,
    chunk: u32,
    bias: u32,
    activation: u32,
}

// SAFETY: a `repr(C)` struct of numbers without padding that the kernels read.
unsafe impl DeviceRepr for Parameters {}

/// The minimum length of a part of k.
const MIN_PART_LENGTH: u32 = 128;
/// The maximum number of parts.
const MAX_PARTS: u32 = 32;
/// Products with more elements are not split: they have enough threads.
const MAX_SPLIT_ELEMENTS: u64 = 4096;

/// Returns the number of parts into which k is split.
fn parts(product: &Product, kinds: ElementKinds) -> u32 {
    if product.elements() > MAX_SPLIT_ELEMENTS || product.elements() == 0 {
        return 1;
    }
    let parts = (product.k / MIN_PART_LENGTH).clamp(1, MAX_PARTS);
    let each = product.elements() * kinds.factors.summed().size();
    let fit = product.limit.map_or(u64::from(MAX_PARTS), |limit| limit / each);
    match parts.min(u32::try_from(fit).unwrap_or(MAX_PARTS)) {
        0 => 1,
        parts => parts,
    }
}

/// Returns the scratch bytes of a product.
pub(super) fn scratch(product: &Product, kinds: ElementKinds) -> u64 {
    match parts(product, kinds) {
        1 => 0,
        parts => u64::from(parts) * product.elements() * kinds.factors.summed().size(),
    }
}

impl Kernels {
    /// Loads the kernels.
    pub fn load(ctx: &Arc<CudaContext>) -> Result<Kernels, Error> {
        Ok(Kernels { module: ctx.load_module(Ptx::from_src(include_str!("kernels.ptx")))? })
    }

    fn function(&self, name: &str) -> Result<CudaFunction, Error> {
        Ok(self.module.load_function(name)?)
    }

    /// Enqueues a product with at least one element.
    pub fn run(
        &self,
        stream: &CallStream,
        product: &Product,
        kinds: ElementKinds,
        operands: &Operands,
    ) -> Result<(), Error> {
        let elements = product.elements();
        let parts = parts(product, kinds);
        let parameters = parameters(product, operands, parts);
        let (factors, result) = (kinds.factors.name(), kinds.result.name());
        let bias = operands.bias.unwrap_or(0);
        if parts == 1 {
            let function = self.function(&format!("product_{factors}_{result}"))?;
            let mut launch = stream.launch_builder(&function);
            launch.arg(&parameters).arg(&operands.a).arg(&operands.b).arg(&bias).arg(&operands.c);
            // SAFETY: the layouts are checked, and the memory is as long as they require.
            unsafe { launch.launch(threads(elements)) }?;
            return Ok(());
        }
        let function = self.function(&format!("part_{factors}"))?;
        let mut launch = stream.launch_builder(&function);
        launch.arg(&parameters).arg(&operands.a).arg(&operands.b).arg(&operands.scratch);
        // SAFETY: as above; the scratch has one element per part and element.
        unsafe { launch.launch(threads(elements * u64::from(parts))) }?;
        self.finish(stream, product, &parameters, kinds, operands)
    }

    /// Enqueues the bias and the activation of a product that is already stored in c.
    pub fn finish_stored(
        &self,
        stream: &CallStream,
        product: &Product,
        kinds: ElementKinds,
        operands: &Operands,
    ) -> Result<(), Error> {
        self.finish(stream, product, &parameters(product, operands, 0), kinds, operands)
    }

    fn finish(
        &self,
        stream: &CallStream,
        product: &Product,
        parameters: &Parameters,
        kinds: ElementKinds,
        operands: &Operands,
    ) -> Result<(), Error> {
        let function = self.function(&format!("finish_{}", kinds.result.name()))?;
        let bias = operands.bias.unwrap_or(0);
        let mut launch = stream.launch_builder(&function);
        launch.arg(parameters).arg(&operands.scratch).arg(&bias).arg(&operands.c);
        // SAFETY: as above.
        unsafe { launch.launch(threads(product.elements())) }?;
        Ok(())
    }
}

fn parameters(product: &Product, operands: &Operands, parts: u32) -> Parameters {
    let steps = |matrix: Matrix| {
        let (row, column) = matrix.strides();
        [row, column, matrix.stride].map(|step| i64::try_from(step).unwrap_or(i64::MAX))
    };
    Parameters {
        a: steps(product.a()),
        b: steps(product.b()),
        c: steps(product.c()),
        alpha: product.alpha,
        beta: product.beta,
        m: product.m,
        n: product.n,
        k: product.k,
        batch: product.batch,
        parts,
        chunk: product.k.div_ceil(parts.max(1)),
        bias: match (operands.bias, product.c().order) {
            (None, _) => 0,
            (Some(_), Order::Row) => 1,
            (Some(_), Order::Column) => 2,
        },
        activation: match product.activation {
            Activation::None => 0,
            Activation::Relu => 1,
            Activation::Gelu => 2,
        },
    }
}

/// Returns a launch with one thread per element, or fewer threads that loop.
fn threads(elements: u64) -> LaunchConfig {
    const BLOCK: u32 = 128;
    let blocks = u32::try_from(elements.div_ceil(u64::from(BLOCK))).unwrap_or(u32::MAX).min(1 << 20);
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (BLOCK, 1, 1), shared_mem_bytes: 0 }
}
