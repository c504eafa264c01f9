//! Reads the nodes of a captured graph, and their order.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::index::narrow;

use crate::context;
use crate::cuda::{
    CapturedKind, Context, Driver, Function, KernelLaunch, KernelNode, Memcpy, Memset, Node, RawModule,
};
use crate::error::{Error, LiftFault, Result};

use super::captured::CapturedGraph;

/// The nodes of a graph in an order that its edges allow: by their numbers in the graph wherever possible.
pub(super) struct Nodes {
    pub list: Vec<CapturedNode>,
    /// For each node a bit for each node before it.
    before: Vec<Vec<u64>>,
}

/// A node.
pub(super) struct CapturedNode {
    pub node: Node,
    /// Its number in the graph.
    pub number: usize,
    pub work: CapturedWork,
    /// The nodes from which edges lead to it, by their places in the list.
    pub after: Vec<usize>,
}

/// The work of a node.
pub(super) enum CapturedWork {
    Kernel(Box<CapturedKernel>),
    Copy(Memcpy),
    Fill(Memset),
    Alloc {
        address: u64,
        bytes: u64,
    },
    Free {
        address: u64,
    },
    Empty,
    /// Work that is kept as it is, by its name.
    Kept(&'static str),
}

/// A kernel node.
pub(super) struct CapturedKernel {
    pub name: String,
    pub module: RawModule,
    pub launch: KernelLaunch,
    /// The sizes and the bytes of the parameters. `None` if the driver cannot tell them.
    pub parameters: Option<(Vec<u64>, Vec<Vec<u8>>)>,
    /// The reason that a launch of ours would differ from the node.
    pub special: Option<&'static str>,
}

impl CapturedKernel {
    /// Returns each 8 bytes of the parameters, which may be an address. Nothing if the driver cannot tell them.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let values = self.parameters.iter().flat_map(|(_, values)| values);
        let words = values.flat_map(|value| value.chunks_exact(8));
        words.filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?)))
    }
}

/// The names of kept work whose memory is not known.
const CHILD_GRAPH: &str = "child graph";
const ARRAY_COPY: &str = "copy of an array, or with offsets";
/// `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`.
const CARVEOUT: u32 = 9;

impl Nodes {
    /// Reads a graph.
    ///
    /// # Complexity
    ///
    /// The square of the number of nodes, in bits.
    ///
    /// # Errors
    ///
    /// A node of a kind that cannot be lifted; a failure of the driver.
    pub fn read(ctx: &Arc<CudaContext>, captured: &CapturedGraph) -> Result<Nodes> {
        let (driver, graph) = (captured.driver, captured.graph);
        context::enter(driver, ctx)?;
        let handles = driver.graph_nodes(graph, driver.node_count(graph)?)?;
        let numbers: BTreeMap<Node, usize> =
            handles.iter().enumerate().map(|(at, &node)| (node, at)).collect();
        let mut after: Vec<Vec<usize>> = Vec::with_capacity(handles.len());
        for &node in &handles {
            let before = driver.dependencies(node)?;
            let known = before.into_iter().filter_map(|(before, _)| numbers.get(&before).copied());
            after.push(known.collect());
        }
        let order = in_order(&after);
        let mut places = vec![0; handles.len()];
        order.iter().enumerate().for_each(|(place, &number)| places[number] = place);
        let mut reader = NodeReader {
            driver,
            context: Context::from_cudarc(ctx),
            functions: BTreeMap::new(),
            priority: None,
        };
        let mut list = Vec::with_capacity(handles.len());
        for number in order {
            let node = handles[number];
            let work = reader.work(number, node)?;
            let after = after[number].iter().map(|&before| places[before]).collect();
            list.push(CapturedNode { node, number, work, after });
        }
        let before = reachable(&list);
        Ok(Nodes { list, before })
    }

    /// Returns true if edges lead from one node to another.
    pub fn is_before(&self, one: usize, other: usize) -> bool {
        self.before[other].get(one / 64).is_some_and(|bits| bits >> (one % 64) & 1 == 1)
    }

    /// Returns true if one of two nodes comes before the other.
    pub fn are_ordered(&self, one: usize, other: usize) -> bool {
        self.is_before(one, other) || self.is_before(other, one)
    }
}

/// Returns the numbers of nodes in a topological order, the smallest first wherever possible.
fn in_order(after: &[Vec<usize>]) -> Vec<usize> {
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); after.len()];
    let mut missing: Vec<usize> = after.iter().map(Vec::len).collect();
    for (node, before) in after.iter().enumerate() {
        before.iter().for_each(|&before| successors[before].push(node));
    }
    let ready = missing.iter().enumerate().filter(|(_, missing)| **missing == 0);
    let mut ready: std::collections::BTreeSet<usize> = ready.map(|(node, _)| node).collect();
    let mut order = Vec::with_capacity(after.len());
    while let Some(node) = ready.pop_first() {
        order.push(node);
        for &next in &successors[node] {
            missing[next] -= 1;
            if missing[next] == 0 {
                ready.insert(next);
            }
        }
    }
    order
}

/// Returns for each node a bit for each node before it.
fn reachable(list: &[CapturedNode]) -> Vec<Vec<u64>> {
    let words = list.len().div_ceil(64);
    let mut before: Vec<Vec<u64>> = Vec::with_capacity(list.len());
    for node in list {
        let mut row = vec![0_u64; words];
        for &from in &node.after {
            row.iter_mut().zip(&before[from]).for_each(|(all, of)| *all |= of);
            row[from / 64] |= 1 << (from % 64);
        }
        before.push(row);
    }
    before
}

/// The attributes of a function.
struct CapturedFunction {
    name: String,
    module: RawModule,
    /// The offsets and the sizes of the parameters in bytes. `None` if the driver cannot tell them.
    layout: Option<Vec<(u64, u64)>>,
    /// The attributes of a node that launches it without any. `None` if there can be no such node.
    attributes: Option<Vec<Option<[u64; 8]>>>,
    has_carveout: bool,
}

struct NodeReader {
    driver: &'static Driver,
    /// The context of the lifted graph.
    context: Context,
    functions: BTreeMap<Function, Rc<CapturedFunction>>,
    /// The priority of the first kernel node.
    priority: Option<Option<[u64; 8]>>,
}

impl NodeReader {
    fn work(&mut self, number: usize, node: Node) -> Result<CapturedWork> {
        let driver = self.driver;
        Ok(match driver.captured_kind(node)? {
            CapturedKind::Kernel => CapturedWork::Kernel(Box::new(self.kernel(node)?)),
            CapturedKind::Copy if !driver.is_plain_copy(node)? => CapturedWork::Kept(ARRAY_COPY),
            CapturedKind::Copy => CapturedWork::Copy(driver.copy_of(node)?),
            CapturedKind::Fill => CapturedWork::Fill(driver.fill_of(node)?),
            CapturedKind::Alloc => {
                let (address, bytes) = driver.allocated_by(node)?;
                CapturedWork::Alloc { address, bytes }
            }
            CapturedKind::Free => CapturedWork::Free { address: driver.freed_by(node)? },
            CapturedKind::Empty => CapturedWork::Empty,
            CapturedKind::Host => CapturedWork::Kept("host function"),
            CapturedKind::Graph => CapturedWork::Kept(CHILD_GRAPH),
            CapturedKind::EventWait => CapturedWork::Kept("wait for an event"),
            CapturedKind::EventRecord => CapturedWork::Kept("record of an event"),
            CapturedKind::Conditional => {
                return Err(Error::Lift(Box::new(LiftFault::Conditional { node: number })));
            }
            CapturedKind::Other(kind) => {
                return Err(Error::Lift(Box::new(LiftFault::Unsupported { node: number, kind })));
            }
        })
    }

    fn kernel(&mut self, node: Node) -> Result<CapturedKernel> {
        let driver = self.driver;
        let (function, context) = driver.function_and_context_of(node)?;
        let known = match self.functions.get(&function) {
            Some(known) => known.clone(),
            None => {
                let made = Rc::new(CapturedFunction::new(driver, function, node)?);
                self.functions.insert(function, made.clone());
                made
            }
        };
        let sizes: Vec<u64> = known.layout.iter().flatten().map(|(_, bytes)| *bytes).collect();
        let bytes = |bytes: &u64| narrow(usize::try_from(*bytes).unwrap_or(usize::MAX));
        let in_bytes: Vec<u32> = sizes.iter().map(bytes).collect();
        let KernelNode { kernel_launch, mut parameters } = driver.kernel_of(node, &in_bytes)?;
        if let Some(layout) = known.layout.as_ref().filter(|layout| layout.len() != parameters.len()) {
            parameters = driver.packed_parameters(node, layout)?.unwrap_or_default();
        }
        let attributes = driver.kernel_attributes(node)?;
        let priority = driver.priority_of(node)?;
        let special = if known.attributes.as_ref() != Some(&attributes) {
            Some("its node has attributes")
        } else if context.is_some_and(|context| context != self.context) {
            Some("it runs in another context")
        } else if *self.priority.get_or_insert(priority) != priority {
            Some("its node has another priority than others")
        } else if known.has_carveout {
            Some("its function has a carveout of shared memory")
        } else {
            None
        };
        let is_known = known.layout.is_some() && sizes.len() == parameters.len();
        Ok(CapturedKernel {
            name: known.name.clone(),
            module: known.module,
            launch: KernelLaunch { function, ..kernel_launch },
            parameters: is_known.then_some((sizes, parameters)),
            special,
        })
    }
}

impl CapturedFunction {
    fn new(driver: &'static Driver, function: Function, node: Node) -> Result<CapturedFunction> {
        let graph = driver.create_graph()?;
        // A node that cannot be added without attributes, such as one of clusters, has attributes.
        let plain = driver.add_plain_kernel(graph, function, node);
        let plain = plain.and_then(|node| driver.kernel_attributes(node));
        driver.destroy_graph(graph)?;
        Ok(CapturedFunction {
            name: driver.function_name(function)?,
            module: driver.module_of(function)?,
            layout: driver.parameter_layout(function)?,
            attributes: plain.ok(),
            has_carveout: !matches!(driver.function_attribute(function, CARVEOUT), Ok(0) | Err(_)),
        })
    }
}

impl CapturedNode {
    /// Returns true if the memory that it uses is not known: for a child graph, a copy of an array or with offsets, and
    /// a kernel whose parameters cannot be read.
    pub fn is_unknown(&self) -> bool {
        match &self.work {
            CapturedWork::Kernel(kernel) => kernel.parameters.is_none(),
            CapturedWork::Kept(name) => [CHILD_GRAPH, ARRAY_COPY].contains(name),
            _ => false,
        }
    }

    /// Returns the name of its work.
    pub fn name(&self) -> &str {
        match &self.work {
            CapturedWork::Kernel(kernel) => &kernel.name,
            CapturedWork::Copy(_) => "copy",
            CapturedWork::Fill(_) => "fill",
            CapturedWork::Alloc { .. } => "alloc",
            CapturedWork::Free { .. } => "free",
            CapturedWork::Empty => "empty",
            CapturedWork::Kept(name) => name,
        }
    }
}
