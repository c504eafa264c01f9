//! Typed indices into the lists of a program, and into the lists derived from it.

use crate::index::indices;

indices! {
    /// Index of a statement in [`Program::statements`](crate::ir::Program::statements).
    pub struct StatementId;
    /// Index of a buffer in [`Program::buffers`](crate::ir::Program::buffers).
    pub struct BufferId;
    /// Index of a length or bound in [`Program::dims`](crate::ir::Program::dims).
    pub struct DimId;
    /// Index of a call in [`Structure::calls`](crate::structure::Structure::calls).
    pub struct CallId;
    /// Index of an array element or record field in [`Structure::parts`](crate::structure::Structure::parts).
    pub struct ArgumentPartId;
    /// Index of a loop variable in [`Structure::variables`](crate::structure::Structure::variables).
    pub struct VariableId;
    /// Index of an argument in [`DecodedFunction::parameters`](crate::table::DecodedFunction::parameters).
    pub struct ArgumentId;
    /// Index of a scalar argument in [`DecodedFunction::scalars`](crate::table::DecodedFunction::scalars).
    pub struct ScalarId;
    /// Number of a user expression that bounds are computed from: an index into
    /// [`Structure::leaf_variables`](crate::structure::Structure::leaf_variables).
    pub struct LeafId;
    /// Index of an operation in [`Operations::list`](crate::operation::Operations::list). Operations are in
    /// topological order: each may be added to a graph after those before it.
    pub struct OperationId;
    /// Index of a memory block in [`Operations::memories`](crate::operation::Operations::memories).
    pub struct MemoryId;
    /// Index of a batched launch in [`Operations::batches`](crate::operation::Operations::batches).
    pub struct BatchId;
    /// Index of a chain of fused launches in [`Operations::chains`](crate::operation::Operations::chains).
    pub struct ChainId;
    /// Number of a kernel among the kernels that a graph launches.
    pub struct KernelId;
    /// Index of a target in [`AccessTargets::list`](crate::operation::AccessTargets::list).
    pub struct AccessTargetId;
    /// Index of a device of a graph: the position of its context among the contexts passed to the graph function.
    pub struct Device;
}

impl Default for Device {
    fn default() -> Device {
        Device::FIRST
    }
}

impl Device {
    /// The only device of a single-device graph.
    pub const FIRST: Device = Device::from_u32(0);
}
