//! The device's graph pool: the driver allocates the memory of alloc nodes from it.

use std::sync::Arc;

use cudarc::driver::CudaContext;

use crate::context;
use crate::cuda;
use crate::error::Result;

/// The memory in the device's graph pool in bytes, over all graphs of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphPool {
    /// The bytes in use by graphs.
    pub used: u64,
    /// The maximum of `used`.
    pub used_high: u64,
    /// The bytes that the pool has reserved.
    pub reserved: u64,
    /// The maximum of `reserved`.
    pub reserved_high: u64,
}

/// Returns the memory in the device's graph pool.
///
/// # Errors
///
/// A failure of the driver.
pub fn graph_pool(ctx: &Arc<CudaContext>) -> Result<GraphPool> {
    let driver = cuda::driver()?;
    context::enter(driver, ctx)?;
    // The numbers are those of `CUgraphMem_attribute`.
    let ask = |attribute| driver.graph_memory(ctx.cu_device(), attribute);
    Ok(GraphPool { used: ask(0)?, used_high: ask(1)?, reserved: ask(2)?, reserved_high: ask(3)? })
}

/// Resets the high-water marks of the device's graph pool to the current values.
///
/// # Errors
///
/// A failure of the driver.
pub fn reset_graph_pool_high(ctx: &Arc<CudaContext>) -> Result<()> {
    let driver = cuda::driver()?;
    context::enter(driver, ctx)?;
    [1, 3].into_iter().try_for_each(|attribute| Ok(driver.reset_graph_memory(ctx.cu_device(), attribute)?))
}

/// Releases unused memory of the device's graph pool.
///
/// # Errors
///
/// A failure of the driver.
pub fn trim_graph_pool(ctx: &Arc<CudaContext>) -> Result<()> {
    let driver = cuda::driver()?;
    context::enter(driver, ctx)?;
    Ok(driver.trim_graph_memory(ctx.cu_device())?)
}
