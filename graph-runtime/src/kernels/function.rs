//! [`FunctionInfo`]: the attributes of a loaded function.

use crate::cuda::{Driver, Failure, Function};

#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionInfo {
    pub function: Function,
    /// The maximum number of threads per block.
    pub max_threads: u32,
    /// The static shared memory per block, in bytes.
    pub shared: u32,
    /// The local memory per thread, in bytes.
    pub local: u32,
    /// The maximum dynamic shared memory per block that it is configured for, in bytes.
    pub dynamic_shared: u32,
    /// The number of registers per thread.
    pub registers: u32,
    /// The required block size, if known.
    pub required_block: Option<[u32; 3]>,
    /// The required cluster size. Zeros if the launch must specify it. `None` if it runs without clusters.
    pub cluster: Option<[u32; 3]>,
}

// Values of `CUfunction_attribute`.
const MAX_THREADS_PER_BLOCK: u32 = 0;
const SHARED_SIZE_BYTES: u32 = 1;
const LOCAL_SIZE_BYTES: u32 = 3;
const NUM_REGS: u32 = 4;
pub(crate) const MAX_DYNAMIC_SHARED_SIZE_BYTES: u32 = 8;
const CLUSTER_SIZE_MUST_BE_SET: u32 = 10;
const REQUIRED_CLUSTER: [u32; 3] = [11, 12, 13];

impl FunctionInfo {
    /// Queries the attributes of a function.
    pub fn query(
        driver: &Driver,
        function: Function,
        required_block: Option<[u32; 3]>,
    ) -> std::result::Result<FunctionInfo, Failure> {
        let ask = |attribute| driver.function_attribute(function, attribute);
        let required = [ask(REQUIRED_CLUSTER[0])?, ask(REQUIRED_CLUSTER[1])?, ask(REQUIRED_CLUSTER[2])?];
        let in_clusters = required != [0; 3] || ask(CLUSTER_SIZE_MUST_BE_SET)? != 0;
        Ok(FunctionInfo {
            function,
            max_threads: ask(MAX_THREADS_PER_BLOCK)?,
            shared: ask(SHARED_SIZE_BYTES)?,
            local: ask(LOCAL_SIZE_BYTES)?,
            dynamic_shared: ask(MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
            registers: ask(NUM_REGS)?,
            required_block,
            cluster: in_clusters.then_some(required),
        })
    }
}
