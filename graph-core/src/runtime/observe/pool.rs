//! The device's graph pool: the memory behind alloc nodes.

use std::sync::Arc;

use cudarc::driver::CudaContext;

use crate::runtime::context;
use crate::runtime::cuda;
use crate::runtime::error::Result;

/// The memory that the device's graph pool holds, in bytes, over all graphs of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphPool {
    /// The bytes that graphs use now.
    pub used: u64,
    /// The most they have used.
    pub used_high: u64,
    /// The bytes that the pool has taken from the system.
    pub reserved: u64,
    /// The most it has taken.
    pub reserved_high: u64,
}

/// Returns the memory that the device's graph pool holds.
///
/// # Errors
///
/// A failure of the driver.
pub fn graph_pool(ctx: &Arc<CudaContext>) -> Result<GraphPool> {
    let driver = cuda::driver()?;
    context::enter(driver, ctx)?;
    // CUgraphMem_attribute
    let ask = |attribute| driver.graph_memory(ctx.cu_device(), attribute);
    Ok(GraphPool { used: ask(0)?, used_high: ask(1)?, reserved: ask(2)?, reserved_high: ask(3)? })
}

/// Sets the high-water marks of the device's graph pool back to what it holds now.
///
/// # Errors
///
/// A failure of the driver.
pub fn reset_graph_pool_high(ctx: &Arc<CudaContext>) -> Result<()> {
    let driver = cuda::driver()?;
    context::enter(driver, ctx)?;
    [1, 3].into_iter().try_for_each(|attribute| Ok(driver.reset_graph_memory(ctx.cu_device(), attribute)?))
}

/// Gives memory of the device's graph pool that no graph uses back to the system.
///
/// # Errors
///
/// A failure of the driver.
pub fn trim_graph_pool(ctx: &Arc<CudaContext>) -> Result<()> {
    let driver = cuda::driver()?;
    context::enter(driver, ctx)?;
    Ok(driver.trim_graph_memory(ctx.cu_device())?)
}
