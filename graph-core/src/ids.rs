//! Indices of the lists of a program.

/// Index of a statement in [`Program::statements`](crate::ir::Program::statements).
pub type StatementId = u32;
/// Index of a buffer in [`Program::buffers`](crate::ir::Program::buffers).
pub type BufferId = u32;
/// Index of a call in [`Structure::calls`](crate::structure::Structure::calls).
pub type CallId = u32;
/// Index of a length or bound in [`Program::dims`](crate::ir::Program::dims).
pub type DimId = u32;
/// Index of a part of an argument in [`Structure::parts`](crate::structure::Structure::parts).
pub type PartId = u32;
/// Index of a loop's variable in [`Structure::variables`](crate::structure::Structure::variables).
pub type VariableId = u32;
