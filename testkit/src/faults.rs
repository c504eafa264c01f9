//! Driver calls that fail on request, which the simulated driver does.

/// Calls that order work on streams, and wait for it.
pub const ORDER: &[&str] = &[
    "cuStreamIsCapturing",
    "cuStreamWaitEvent",
    "cuStreamSynchronize",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventQuery",
    "cuEventSynchronize",
    "cuGraphLaunch",
    "cuMemFreeAsync",
    "cuModuleUnload",
    "cuGraphExecMemcpyNodeSetParams",
];

/// Calls that make contexts current and let captures alone.
pub const CURRENT: &[&str] = &["cuCtxGetCurrent", "cuCtxSetCurrent", "cuThreadExchangeStreamCaptureMode"];

/// Calls that load kernels and ask for their properties.
pub const LOAD: &[&str] = &[
    "cuDeviceGetAttribute",
    "cuLinkCreate_v2",
    "cuLinkAddData_v2",
    "cuLinkComplete",
    "cuLinkDestroy",
    "cuModuleLoadDataEx",
    "cuModuleGetFunction",
    "cuFuncGetAttribute",
    "cuFuncGetParamInfo",
];

/// Calls that build graphs without memory nodes, update their execs and destroy both.
pub const GRAPH: &[&str] = &[
    "cuGraphCreate",
    "cuGraphDestroy",
    "cuGraphAddKernelNode_v2",
    "cuGraphAddMemsetNode",
    "cuGraphAddMemcpyNode",
    "cuGraphInstantiateWithParams",
    "cuGraphExecDestroy",
    "cuGraphExecKernelNodeSetParams_v2",
    "cuGraphExecMemsetNodeSetParams",
];

/// `CUDA_ERROR_NOT_SUPPORTED`: no call of the runtime's gives it by itself on the simulated driver.
pub const NOT_SUPPORTED: u32 = 801;
/// `CUDA_ERROR_OUT_OF_MEMORY`
pub const OUT_OF_MEMORY: u32 = 2;
