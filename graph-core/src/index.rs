//! Indices of the lists of a program.

/// Index of a statement in [`Program::statements`](crate::ir::Program::statements).
pub type StatementId = u32;
/// Index of a buffer in [`Program::buffers`](crate::ir::Program::buffers).
pub type BufferId = u32;
/// Index of a length or bound in [`Program::dims`](crate::ir::Program::dims).
pub type DimId = u32;
