//! Names of driver calls that tests let the simulated driver fail.

/// Calls that order work on streams and wait for it.
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

/// Calls that change the current context or the capture mode.
pub const CURRENT: &[&str] = &["cuCtxGetCurrent", "cuCtxSetCurrent", "cuThreadExchangeStreamCaptureMode"];

/// Calls that load kernels and query their properties.
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

/// Calls that build graphs without memory nodes, update their execs, and destroy both.
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

/// `CUDA_ERROR_NOT_SUPPORTED`. The simulated driver never returns it for a call of the runtime unless a test
/// requests it.
pub const NOT_SUPPORTED: u32 = 801;
/// `CUDA_ERROR_OUT_OF_MEMORY`
pub const OUT_OF_MEMORY: u32 = 2;
