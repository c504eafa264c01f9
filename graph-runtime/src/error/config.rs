//! The faults of launch configurations and of other values of statements.

use std::fmt;

use super::parts::Fault;

/// The reason that a device or a kernel does not support a launch configuration, or that a statement cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigFault {
    /// A part of the configuration has no value.
    #[error("the {part} {fault}")]
    #[non_exhaustive]
    NoValue {
        /// The part.
        part: ConfigPart,
        /// The reason that it has no value.
        fault: Fault,
    },
    /// An extent of more than 32 bits.
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
    /// An extent that is larger than the device takes.
    #[error("the {part}'s {axis} is {extent}, and the device takes {most}")]
    #[non_exhaustive]
    Extent {
        /// The grid or the block.
        part: ConfigPart,
        /// `x`, `y` or `z`.
        axis: char,
        /// The extent.
        extent: u32,
        /// The largest extent of the device.
        most: u32,
    },
    /// Dynamic shared memory of more than 32 bits.
    #[error("a block with {bytes} bytes of shared memory is more than any device takes")]
    #[non_exhaustive]
    LargeSharedMemory {
        /// The bytes.
        bytes: u64,
    },
    /// `per_item(0)`.
    #[error("`per_item` of no items: a grid has at least one block")]
    NoItems,
    /// `per_item` of more items than a grid has threads.
    #[error("{items} items make {blocks} blocks, more than any device takes")]
    #[non_exhaustive]
    ManyItems {
        /// The number of items.
        items: u64,
        /// The number of blocks.
        blocks: u64,
    },
    /// `per_item` for a kernel that requires blocks of several dimensions.
    #[error("the kernel requires blocks of {} threads, and `per_item` has one dimension", by(.required))]
    #[non_exhaustive]
    PerItem {
        /// The block that the kernel requires.
        required: [u32; 3],
    },
    /// A block of more threads than the device takes.
    #[error("a block of {threads} threads, and the device takes {most}")]
    #[non_exhaustive]
    Threads {
        /// The threads of the block.
        threads: u64,
        /// The most threads of a block on the device.
        most: u32,
    },
    /// A block of more threads than the loaded kernel takes.
    #[error("a block of {threads} threads, and `{kernel}` takes {most}")]
    #[non_exhaustive]
    ThreadsOfKernel {
        /// The threads of the block.
        threads: u64,
        /// The kernel.
        kernel: &'static str,
        /// The most threads of a block of the kernel.
        most: u32,
    },
    /// Another block than the kernel requires.
    #[error("a block of {} threads, and `{kernel}` requires {}", by(.block), by(.required))]
    #[non_exhaustive]
    RequiredBlock {
        /// The block.
        block: [u32; 3],
        /// The kernel.
        kernel: &'static str,
        /// The block that it requires.
        required: [u32; 3],
    },
    /// A block of more registers than the device has.
    #[error(
        "a block of {threads} threads with {each} registers each, as `{kernel}` is compiled, and the device has {most} registers a block"
    )]
    #[non_exhaustive]
    Registers {
        /// The threads of the block.
        threads: u64,
        /// The registers of a thread.
        each: u32,
        /// The kernel.
        kernel: &'static str,
        /// The most registers of a block on the device.
        most: u32,
    },
    /// More shared memory than the device has.
    #[error(
        "{shared} bytes of shared memory and {own} of `{kernel}`'s own, and the device has {most} a block"
    )]
    #[non_exhaustive]
    SharedMemory {
        /// The dynamic shared memory in bytes.
        shared: u32,
        /// The kernel's static shared memory in bytes.
        own: u32,
        /// The kernel.
        kernel: &'static str,
        /// The most shared memory of a block on the device.
        most: u32,
    },
    /// A kernel whose launch would have to say the size of its clusters.
    #[error(
        "`{kernel}` has to be launched in clusters of a size given at the launch, which a launch configuration cannot say yet: give the size in the kernel, `.reqnctapercluster` or `__cluster_dims__`"
    )]
    #[non_exhaustive]
    UnsizedClusters {
        /// The kernel.
        kernel: &'static str,
    },
    /// A kernel in clusters on a device without them.
    #[error("`{kernel}` is launched in clusters of blocks, which the device has not")]
    #[non_exhaustive]
    NoClusters {
        /// The kernel.
        kernel: &'static str,
    },
    /// Clusters of more blocks than every device takes.
    #[error(
        "`{kernel}` requires clusters of {} blocks, and more than {most} are not on every device", by(.cluster)
    )]
    #[non_exhaustive]
    LargeClusters {
        /// The kernel.
        kernel: &'static str,
        /// The blocks of a cluster.
        cluster: [u32; 3],
        /// The most blocks of a cluster that every device takes.
        most: u64,
    },
    /// A grid that clusters do not divide.
    #[error(
        "a grid of {} blocks is no multiple of the clusters of {} that `{kernel}` requires", by(.grid), by(.cluster)
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
    /// A kernel whose blocks wait for each other, on a device that does not launch them together.
    #[error("all blocks of `{kernel}` wait for each other, and the device has no cooperative launches")]
    #[non_exhaustive]
    NotCooperative {
        /// The kernel.
        kernel: &'static str,
    },
    /// A grid whose blocks wait for each other, and of more blocks than run at one time.
    #[error(
        "all blocks of `{kernel}` wait for each other: {} are launched, and the device holds {most} of this size at one time", by(.grid)
    )]
    #[non_exhaustive]
    NotResident {
        /// The kernel.
        kernel: &'static str,
        /// The grid.
        grid: [u32; 3],
        /// The most blocks that the device holds at one time.
        most: u64,
    },
    /// A batch or a fused launch of too many blocks.
    #[error("{blocks} blocks and more in one launch")]
    #[non_exhaustive]
    ManyBlocks {
        /// The blocks of the first members.
        blocks: u64,
    },
    /// `wait_value` or `write_value` of a buffer of more than one element.
    #[error("`{word}` takes one element, and this part of `{buffer}` has {len}")]
    #[non_exhaustive]
    OneElement {
        /// The word of the statement.
        word: &'static str,
        /// The buffer.
        buffer: String,
        /// The elements of the part.
        len: u64,
    },
    /// A value that does not advance from launch to launch.
    #[error(
        "the step of `{word}` is 0, so that a launch would take the signal of the one before for its own"
    )]
    #[non_exhaustive]
    NoStep {
        /// The word of the statement.
        word: &'static str,
    },
    /// A value that advances so far that it counts as going back.
    #[error(
        "the step of `{word}` is {step}, half of the circle of its values or more, so that a launch would wait for a value behind the one before"
    )]
    #[non_exhaustive]
    LongStep {
        /// The word of the statement.
        word: &'static str,
        /// The step.
        step: u64,
    },
    /// Names are exchanged whose buffers differ.
    #[error("`{one}` and `{other}` are not of one length and one element type")]
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
    /// An argument of the call of the statement's function returns from the graph function.
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

fn by([x, y, z]: &[u32; 3]) -> String {
    format!("{x} x {y} x {z}")
}
