//! The faults of launch configurations and of other values of statements.

use std::fmt;

use super::parts::Fault;

/// The reason why a device or a kernel does not support a launch configuration, or why a statement cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigFault {
    /// A part of the configuration cannot be computed.
    #[error("the {part} {fault}")]
    #[non_exhaustive]
    NoValue {
        /// The part.
        part: ConfigPart,
        /// The reason why it cannot be computed.
        fault: Fault,
    },
    /// An extent that does not fit into 32 bits.
    #[error("the {part} has an extent of {extent}, which does not fit in 32 bits")]
    #[non_exhaustive]
    LargeExtent {
        /// The grid or the block.
        part: ConfigPart,
        /// The extent.
        extent: u64,
    },
    /// An extent of 0.
    #[error("the {part}'s {axis} is 0")]
    #[non_exhaustive]
    ZeroExtent {
        /// The grid or the block.
        part: ConfigPart,
        /// `x`, `y` or `z`.
        axis: char,
    },
    /// An extent that exceeds the device's limit.
    #[error("the {part}'s {axis} is {extent}, but the device supports at most {max}")]
    #[non_exhaustive]
    Extent {
        /// The grid or the block.
        part: ConfigPart,
        /// `x`, `y` or `z`.
        axis: char,
        /// The extent.
        extent: u32,
        /// The device's limit.
        max: u32,
    },
    /// A size of dynamic shared memory that does not fit into 32 bits.
    #[error("a block with {bytes} bytes of shared memory exceeds the limit of every device")]
    #[non_exhaustive]
    LargeSharedMemory {
        /// The bytes.
        bytes: u64,
    },
    /// `per_item(0)`.
    #[error("`per_item` of no items: a grid has at least one block")]
    NoItems,
    /// `per_item` of more items than a grid can have threads.
    #[error("{items} items need {blocks} blocks, which exceeds the limit of every device")]
    #[non_exhaustive]
    ManyItems {
        /// The number of items.
        items: u64,
        /// The number of blocks.
        blocks: u64,
    },
    /// `per_item` for a kernel that requires blocks of several dimensions.
    #[error("the kernel requires blocks of {} threads, and `per_item` has one dimension", dims_text(.required))]
    #[non_exhaustive]
    PerItem {
        /// The block that the kernel requires.
        required: [u32; 3],
    },
    /// A block with more threads than the device supports.
    #[error("a block of {threads} threads, but the device supports at most {max}")]
    #[non_exhaustive]
    Threads {
        /// The threads of the block.
        threads: u64,
        /// The maximum number of threads per block on the device.
        max: u32,
    },
    /// A block with more threads than the loaded kernel supports.
    #[error("a block of {threads} threads, but `{kernel}` supports at most {max}")]
    #[non_exhaustive]
    ThreadsOfKernel {
        /// The threads of the block.
        threads: u64,
        /// The kernel.
        kernel: &'static str,
        /// The maximum number of threads per block of the kernel.
        max: u32,
    },
    /// A block that differs from the block that the kernel requires.
    #[error("a block of {} threads, but `{kernel}` requires {}", dims_text(.block), dims_text(.required))]
    #[non_exhaustive]
    RequiredBlock {
        /// The block.
        block: [u32; 3],
        /// The kernel.
        kernel: &'static str,
        /// The block that it requires.
        required: [u32; 3],
    },
    /// A block that needs more registers than the device has.
    #[error(
        "a block of {threads} threads with {each} registers each, as `{kernel}` is compiled, but the device has {max} \
            registers per block"
    )]
    #[non_exhaustive]
    Registers {
        /// The threads of the block.
        threads: u64,
        /// The registers per thread.
        each: u32,
        /// The kernel.
        kernel: &'static str,
        /// The maximum number of registers per block on the device.
        max: u32,
    },
    /// More shared memory than the device has.
    #[error(
        "{shared} bytes of dynamic and {own} of `{kernel}`'s static shared memory, but the device has {max} bytes per \
            block"
    )]
    #[non_exhaustive]
    SharedMemory {
        /// The dynamic shared memory in bytes.
        shared: u32,
        /// The kernel's static shared memory in bytes.
        own: u32,
        /// The kernel.
        kernel: &'static str,
        /// The maximum shared memory per block on the device, in bytes.
        max: u32,
    },
    /// A kernel that needs a cluster size at launch.
    #[error(
        "`{kernel}` must be launched with a cluster size, which launch configurations do not support yet: set the \
            size in the kernel, `.reqnctapercluster` or `__cluster_dims__`"
    )]
    #[non_exhaustive]
    UnsizedClusters {
        /// The kernel.
        kernel: &'static str,
    },
    /// A kernel in clusters on a device that does not support clusters.
    #[error("`{kernel}` is launched in clusters, which the device does not support")]
    #[non_exhaustive]
    NoClusters {
        /// The kernel.
        kernel: &'static str,
    },
    /// Clusters that are larger than the portable maximum.
    #[error(
        "`{kernel}` requires clusters of {} blocks, but only up to {max} are portable to every \
            device", dims_text(.cluster)
    )]
    #[non_exhaustive]
    LargeClusters {
        /// The kernel.
        kernel: &'static str,
        /// The blocks of a cluster.
        cluster: [u32; 3],
        /// The maximum number of blocks per cluster that every device supports.
        max: u64,
    },
    /// A grid that is not a multiple of the cluster size.
    #[error(
        "a grid of {} blocks is not a multiple of the cluster size {} that `{kernel}` \
            requires", dims_text(.grid), dims_text(.cluster)
    )]
    #[non_exhaustive]
    GridOfClusters {
        /// The grid.
        grid: [u32; 3],
        /// The blocks of a cluster.
        cluster: [u32; 3],
        /// The kernel.
        kernel: &'static str,
    },
    /// A kernel with a grid-wide barrier on a device without cooperative launches.
    #[error("`{kernel}` synchronizes its whole grid, but the device does not support cooperative launches")]
    #[non_exhaustive]
    NotCooperative {
        /// The kernel.
        kernel: &'static str,
    },
    /// A cooperative grid with more blocks than can be resident at once.
    #[error(
        "`{kernel}` synchronizes its whole grid of {} blocks, but only {max} blocks of this size can be resident at \
            once", dims_text(.grid)
    )]
    #[non_exhaustive]
    NotResident {
        /// The kernel.
        kernel: &'static str,
        /// The grid.
        grid: [u32; 3],
        /// The maximum number of blocks that can be resident at once.
        max: u64,
    },
    /// A batch or a fused launch with too many blocks.
    #[error("{blocks} blocks and more in one launch")]
    #[non_exhaustive]
    ManyBlocks {
        /// The number of blocks up to and including the member that exceeds the limit.
        blocks: u64,
    },
    /// `wait_value` or `write_value` on a part that is not exactly one element.
    #[error("`{word}` takes one element, but this part of `{buffer}` has {len}")]
    #[non_exhaustive]
    OneElement {
        /// The keyword of the statement.
        word: &'static str,
        /// The buffer.
        buffer: String,
        /// The number of elements of the part.
        len: u64,
    },
    /// A value that does not advance from launch to launch.
    #[error("the step of `{word}` is 0, so a launch would mistake the previous launch's signal for its own")]
    #[non_exhaustive]
    NoStep {
        /// The keyword of the statement.
        word: &'static str,
    },
    /// A value with a step so large that, modulo its range, it seems to go backwards.
    #[error(
        "the step of `{word}` is {step}, which is at least half of the range of its values: the next value would \
            count as an earlier one"
    )]
    #[non_exhaustive]
    LongStep {
        /// The keyword of the statement.
        word: &'static str,
        /// The step.
        step: u64,
    },
    /// A swap of two names whose buffers differ in length or element type.
    #[error("`{one}` and `{other}` differ in length or element type")]
    #[non_exhaustive]
    Unlike {
        /// One of them.
        one: String,
        /// The other one.
        other: String,
    },
    /// An expression of a statement returns from the graph function.
    #[error("an expression in it returns before the statement is recorded")]
    ReturnsBeforeStatement,
    /// An expression of a library call returns from the graph function.
    #[error("an expression in it returns before the call")]
    ReturnsBeforeCall,
    /// An argument in the call of the statement's function returns from the graph function.
    #[error("an expression in an argument of its call returns before the call")]
    ArgumentReturns,
    /// An argument of a call in the function returns from it.
    #[error("an expression in an argument of a call returns before the call")]
    ArgumentOfCallReturns,
}

/// A part of a launch configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigPart {
    /// The blocks.
    Grid,
    /// The threads of a block.
    Block,
    /// The dynamic shared memory of a block.
    SharedMemory,
    /// The items of `per_item`.
    Items,
}

impl fmt::Display for ConfigPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ConfigPart::Grid => "grid",
            ConfigPart::Block => "block",
            ConfigPart::SharedMemory => "shared memory of a block",
            ConfigPart::Items => "number of items",
        })
    }
}

fn dims_text([x, y, z]: &[u32; 3]) -> String {
    format!("{x} x {y} x {z}")
}
