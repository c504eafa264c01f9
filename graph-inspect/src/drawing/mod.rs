//! Pictures of a graph: in the DOT language, as an SVG, and in a page with everything that is known of the graph.
//!
//! - `reasons`: the buffers that an edge is there for; `scene`: the nodes, edges and bodies of a picture;
//! - `dot`: the DOT language;
//! - `folds`: the nodes of loops as one; `layers`, `coordinates`: a layered drawing of boxes and edges; `blocks`: one with bodies and
//!   devices; `svg`, `ways`: its elements;
//! - `statements`: the lines of the source; `data`: what the script of a page reads; `page`: the page.

mod blocks;
mod coordinates;
mod data;
mod dot;
mod folds;
mod layers;
mod page;
mod reasons;
mod scene;
mod statements;
mod svg;
mod ways;

pub use dot::dot;
pub use page::{PageSubject, page};
pub use scene::Pictured;
pub use svg::graph_svg;
