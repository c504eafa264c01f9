//! Library calls that sizes reach. Each is a child graph, whose parameters an edit replaces by those that the call
//! captures for the new sizes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::expand::{ExpansionPoint, Expressions, FrameId};
use cuweave_core::ids::ScalarId;
use cuweave_core::table::{Scalar, Setting};

use crate::build::arguments::answers::BodyEvaluator;
use crate::build::arguments::body::Body;
use crate::build::graph::definition::Definition;
use crate::cuda::{Driver, GraphShape, Node, Outcome, RawGraph, record};
use crate::error::{PlanFault, Result};

use super::capture::{ByteFill, CapturedNodes};

/// The number of values of the sizes for which a call's graph is kept.
const MAX_KNOWN: usize = 128;

/// A library call that sizes reach.
#[derive(Debug)]
pub(crate) struct SizedCall {
    /// The sizes, ascending.
    pub sizes: Vec<ScalarId>,
    /// The shape of its graph, which no edit changes.
    pub shape: GraphShape,
    /// The child-graph node. `NONE` if the call captured nothing.
    pub node: Node,
    /// The graph whose parameters the node has.
    pub current: Arc<CapturedChild>,
    /// The fill of scratch that its graph begins with. Graphs without one get the same.
    pub leading_fill: Option<ByteFill>,
    /// The graphs of the latest values of the sizes, latest first.
    known: VecDeque<Arc<CapturedChild>>,
}

/// The graph that a library call captured for some values of its sizes.
#[derive(Debug)]
pub(crate) struct CapturedChild {
    /// The values of the sizes.
    pub values: Vec<u64>,
    pub graph: OwnedGraph,
}

impl SizedCall {
    /// Returns a call whose node was added as a copy of a graph.
    pub fn new(
        sizes: Vec<ScalarId>,
        shape: GraphShape,
        node: Node,
        leading_fill: Option<ByteFill>,
        child: CapturedChild,
    ) -> SizedCall {
        let current = Arc::new(child);
        let known = VecDeque::from([current.clone()]);
        SizedCall { sizes, shape, node, leading_fill, known, current }
    }

    /// Returns the graph of these values of the sizes, if it is kept.
    pub fn find(&mut self, values: &[u64]) -> Option<Arc<CapturedChild>> {
        let found = self.known.iter().position(|child| child.values == values)?;
        let child = self.known.remove(found)?;
        self.known.push_front(child.clone());
        Some(child)
    }

    /// Keeps a new graph.
    pub fn keep(&mut self, child: CapturedChild) -> Arc<CapturedChild> {
        let child = Arc::new(child);
        self.known.truncate(MAX_KNOWN - 1);
        self.known.push_front(child.clone());
        child
    }
}

/// The values of all sizes.
pub(super) struct SizeValues(BTreeMap<ScalarId, u64>);

impl SizeValues {
    /// Evaluates the sizes. `body` has their values.
    pub fn new(definition: &Definition, body: &dyn Body) -> Result<SizeValues> {
        let flat = &definition.flat;
        let table = &flat.frames[FrameId::OUTERMOST].table;
        let at = ExpansionPoint { frames: &flat.frames, frame: FrameId::OUTERMOST, loop_values: &[] };
        let mut evaluator = BodyEvaluator::new(body);
        let sizes = flat.scalars.enumerate().filter(|(_, scalar)| scalar.setting == Setting::Size);
        let value = |(id, scalar): (ScalarId, &Scalar)| {
            let mut declared = table.structure.at_most.iter();
            let (_, value, _) =
                declared.find(|(name, ..)| *name == scalar.name).ok_or(PlanFault::OtherVersion)?;
            Ok((id, evaluator.value(at, *value, &mut |_| None)?))
        };
        sizes.map(value).collect::<Result<_>>().map(SizeValues)
    }

    /// Returns the values of some sizes.
    pub fn of(&self, sizes: &[ScalarId]) -> Vec<u64> {
        sizes.iter().filter_map(|size| self.0.get(size).copied()).collect()
    }
}

/// The graph of a capture. Destroyed when dropped.
pub(crate) struct OwnedGraph {
    pub driver: &'static Driver,
    pub ctx: Arc<CudaContext>,
    pub graph: RawGraph,
}

impl std::fmt::Debug for OwnedGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OwnedGraph").field(&self.graph).finish()
    }
}

impl Drop for OwnedGraph {
    fn drop(&mut self) {
        if self.graph != RawGraph::NONE
            && let Err(failure) = self.driver.destroy_graph(self.graph)
        {
            record(&self.ctx, failure);
        }
    }
}

/// Adds a graph that was captured by itself as a child-graph node. An empty one gets no node.
pub(super) fn add_captured(into: RawGraph, after: Vec<Node>, child: &OwnedGraph) -> Outcome<CapturedNodes> {
    let OwnedGraph { driver, graph, .. } = child;
    if driver.node_count(*graph)? == 0 {
        return Ok(CapturedNodes { frontier: after, ..CapturedNodes::default() });
    }
    let (node, inside) = driver.add_child(into, &after, *graph)?;
    let inner = inside.len();
    let nodes = std::iter::once(node).chain(inside).collect();
    Ok(CapturedNodes { frontier: vec![node], nodes, inner, ..CapturedNodes::default() })
}
