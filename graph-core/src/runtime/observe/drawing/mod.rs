//! Pictures of a graph: in the DOT language.
//!
//! - `reasons`: the buffers that an edge is there for; `scene`: the nodes, edges and bodies of a picture;
//! - `dot`: the DOT language.

mod dot;
mod reasons;
mod scene;

pub(crate) use dot::dot;
pub(crate) use scene::Pictured;
