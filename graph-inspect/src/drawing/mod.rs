//! Pictures of a graph: as DOT, as an SVG, and in an HTML page that shows all that is known of the graph.
//!
//! - `scene`: the nodes, edges and bodies of a picture; `reasons`: the buffers that cause an edge.
//! - `dot`: the output in the DOT language.
//! - `folds`: merges the nodes of loops into boxes; `layers` and `coordinates`: a layered drawing of boxes and
//!   edges; `blocks`: a drawing with nested bodies and several devices; `svg` and `edge_paths`: its SVG elements.
//! - `statements`: the lines of the source; `data`: the JSON that the script of a page reads; `page`: the page.
//! - `beside`: a captured graph beside the one that was made of it.

mod beside;
mod blocks;
mod boxes;
mod coordinates;
mod data;
mod dot;
mod edge_paths;
mod layers;
mod page;
mod reasons;
mod scene;
mod statements;
mod svg;

pub use beside::{BesideInput, CapturedBox, CapturedMark, beside};
pub use dot::dot;
pub use page::{PageInput, page};
pub use scene::PictureInput;
pub use svg::graph_svg;
