//! Kernels of one thread that the compiler adds to a graph.

use cuweave_core::ir::Device;

use crate::cuda::{Launching, Node, RawGraph, Values, Word};
use crate::error::{At, Error, Result};
use crate::kernels::Kernel;

use super::definition::Definition;
use super::nodes::Nodes;

impl Nodes {
    /// Adds a kernel of cuweave's with one thread, behind these nodes. A failure names the place.
    pub(crate) fn add_single(
        &mut self,
        definition: &mut Definition,
        (graph, after): (RawGraph, &[Node]),
        (kernel, words): (&'static Kernel, &[Word]),
        (device, at): (Device, Option<Box<At>>),
    ) -> Result<Node> {
        let function = definition.modules.function(device, kernel)?.function;
        let launch = Launching { function, grid: [1; 3], block: [1; 3], shared: 0, cooperative: false };
        let values = Values { words, params: kernel.params };
        let added = definition.driver.add_kernel(graph, after, &launch, values, &mut self.scratch);
        added.map_err(|failure| Error::driver(failure, at))
    }
}
