//! The attributes of a loaded function.

use crate::cuda::{Driver, Failure, Function};

/// The attributes of a loaded function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionInfo {
    /// The function.
    pub function: Function,
    /// The maximum number of threads of a block.
    pub most_threads: u32,
    /// Its static shared memory, in bytes.
    pub shared: u32,
    /// The local memory of a thread, in bytes.
    pub local: u32,
    /// The maximum dynamic shared memory that it is configured for.
    pub dynamic_shared: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// The block size that it requires, if known.
    pub required_block: Option<[u32; 3]>,
    /// The cluster size that it must be launched with; zeros if the launch must specify it.
    pub cluster: Option<[u32; 3]>,
}

// CUfunction_attribute
const MAX_THREADS_PER_BLOCK: u32 = 0;
const SHARED_SIZE_BYTES: u32 = 1;
const LOCAL_SIZE_BYTES: u32 = 3;
const NUM_REGS: u32 = 4;
pub(crate) const MAX_DYNAMIC_SHARED_SIZE_BYTES: u32 = 8;
const CLUSTER_SIZE_MUST_BE_SET: u32 = 10;
const REQUIRED_CLUSTER: [u32; 3] = [11, 12, 13];

impl FunctionInfo {
    /// Queries the attributes of a function.
    pub fn of(
        driver: &Driver,
        function: Function,
        required_block: Option<[u32; 3]>,
    ) -> std::result::Result<FunctionInfo, Failure> {
        let ask = |attribute| driver.function_attribute(function, attribute);
        let required = [ask(REQUIRED_CLUSTER[0])?, ask(REQUIRED_CLUSTER[1])?, ask(REQUIRED_CLUSTER[2])?];
        let in_clusters = required != [0; 3] || ask(CLUSTER_SIZE_MUST_BE_SET)? != 0;
        Ok(FunctionInfo {
            function,
            most_threads: ask(MAX_THREADS_PER_BLOCK)?,
            shared: ask(SHARED_SIZE_BYTES)?,
            local: ask(LOCAL_SIZE_BYTES)?,
            dynamic_shared: ask(MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
            registers: ask(NUM_REGS)?,
            required_block,
            cluster: in_clusters.then_some(required),
        })
    }
}
