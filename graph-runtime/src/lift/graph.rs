//! Builds the graph of a lifted one: its nodes become statements of a builder.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use cuweave_core::ir::Mode;
use cuweave_core::launches::LaunchShape;

use crate::bind::{Buffer, Foreign};
use crate::build::SharedValue;
use crate::builder::{
    Args, Builder, CapturedArguments, CapturedLaunch, Handle, KeptCall, Statement, ToArgument, ValueCheck,
    View,
};
use crate::error::{Error, LiftFault, Result};
use crate::exec::Graph;
use crate::kernels::ParamKind;

use super::accesses::{LiftedKernel, NodeAccess, NodeUse};
use super::analysis::Analysed;
use super::findings::Finding;
use super::footprints::{LaunchFootprint, footprints};
use super::kept::{KeptBuffer, KeptNode};
use super::memory::{MemoryId, MemoryNodes};
use super::nodes::{CapturedKernel, CapturedNode, CapturedWork};
use super::read::ReadGraph;
use super::texts::KernelText;

pub(super) fn graph(lifted: &ReadGraph) -> Result<Graph<Args<'static>>> {
    for finding in lifted.findings.list() {
        let broken = match finding {
            Finding::Dangling { certain, .. } | Finding::Outside { certain, .. } => *certain,
            Finding::AfterFree { access, .. } | Finding::BeforeAlloc { access, .. } => access.certain,
            Finding::OutsideFree { .. } => true,
            _ => false,
        };
        if broken {
            let finding = finding.to_string();
            return Err(Error::Lift(Box::new(LiftFault::Broken { finding })));
        }
    }
    let mut successors = vec![Vec::new(); lifted.analysed.nodes.list.len()];
    for (at, node) in lifted.analysed.nodes.list.iter().enumerate() {
        node.after.iter().for_each(|&before| successors[before].push(at));
    }
    let mut emitter = Emitter {
        successors,
        lifted,
        builder: Builder::for_captured(&lifted.ctx),
        handles: BTreeMap::new(),
        statements: vec![None; lifted.analysed.nodes.list.len()],
        kernels: Vec::new(),
        written: vec![false; lifted.analysed.memory.list.len()],
    };
    let memory = emitter.bind()?;
    for at in 0..lifted.analysed.nodes.list.len() {
        emitter.node(at)?;
    }
    emitter.order_kept()?;
    let Emitter { mut builder, mut kernels, .. } = emitter;
    kernels.sort_by_key(|(number, ..)| *number);
    let kernels = kernels.into_iter().map(|(_, name, statement)| (name, statement)).collect();
    builder.set_captured(kernels, memory);
    builder.build()
}

/// An argument that is bound to memory, with a kept node that may use it: its number and its name.
type BoundMemory = (Handle, Option<(usize, String)>);

struct Emitter<'l> {
    lifted: &'l ReadGraph,
    builder: Builder<'static>,
    handles: BTreeMap<MemoryId, Handle>,
    /// The statement of each node, by its place in the list.
    statements: Vec<Option<Statement>>,
    /// The nodes to which edges lead from each node.
    successors: Vec<Vec<usize>>,
    /// The kernel nodes: number, name and statement.
    kernels: Vec<(usize, String, Statement)>,
    /// True for each allocation of a node that a statement has written.
    written: Vec<bool>,
}

/// Checks that a captured launch accesses the same with other values.
struct SameAccesses {
    text: Arc<KernelText>,
    shape: LaunchShape,
    footprint: Arc<LaunchFootprint>,
}

impl fmt::Debug for SameAccesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SameAccesses").field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl ValueCheck for SameAccesses {
    fn size(&self, parameter: usize) -> Option<usize> {
        let parameter = self.text.parameters.get(parameter).filter(|parameter| !parameter.is_pointer)?;
        usize::try_from(parameter.size).ok()
    }

    fn accesses_the_same(&self, values: &[Vec<u8>]) -> bool {
        footprints(&self.text, self.shape.grid, self.shape.block, values) == *self.footprint
    }
}

impl Emitter<'_> {
    /// Binds the memory of launches that lives outside of the graph. Returns the arguments in the order of their
    /// addresses.
    fn bind(&mut self) -> Result<Vec<BoundMemory>> {
        let analysed = &self.lifted.analysed;
        let mut used: BTreeMap<u64, (MemoryId, bool)> = BTreeMap::new();
        let lifted = analysed.uses.iter().filter(|used| used.kept.is_none());
        for access in lifted.flat_map(|used| &used.accesses) {
            let memory = &analysed.memory.list[access.memory];
            if memory.nodes.is_none() {
                let entry = used.entry(memory.addresses.start).or_insert((access.memory, false));
                entry.1 |= access.writes;
            }
        }
        // A kept node may write what launches read.
        let kept = analysed.uses.iter().filter(|used| used.kept.is_some());
        for access in kept.flat_map(|used| &used.accesses).filter(|access| access.writes) {
            let start = analysed.memory.list[access.memory].addresses.start;
            used.entry(start).and_modify(|entry| entry.1 |= entry.0 == access.memory);
        }
        let mut bound = Vec::new();
        for (address, (id, writes)) in used {
            let addresses = &analysed.memory.list[id].addresses;
            let bytes = addresses.end - addresses.start;
            let len = usize::try_from(bytes).unwrap_or(usize::MAX);
            // SAFETY: the caller of `lift` guarantees that the memory lives as long as the captured graph, which the
            // exec keeps alive, and that only execs use it.
            let foreign = unsafe { Foreign::<u8>::new(address, len, self.lifted.captured.clone()) }?;
            let name = format!("memory{}", bound.len());
            let handle = match writes {
                true => self.builder.exclusive::<u8>(&name, bytes, foreign),
                false => self.builder.shared::<u8>(&name, bytes, foreign),
            };
            self.handles.insert(id, handle);
            let user = analysed.kept_user(id).map(|node| (node.number, node.name().to_owned()));
            bound.push((handle, user));
        }
        Ok(bound)
    }

    /// Adds the statement of a node.
    fn node(&mut self, at: usize) -> Result<()> {
        let lifted = self.lifted;
        let (node, used) = (&lifted.analysed.nodes.list[at], &lifted.analysed.uses[at]);
        let statement = match (&node.work, &used.launch, &used.kept) {
            (CapturedWork::Alloc { bytes, .. }, ..) => return self.alloc(at, *bytes),
            (CapturedWork::Free { .. } | CapturedWork::Empty, ..) => return Ok(()),
            (CapturedWork::Kernel(kernel), Some(launch), None) => self.launch(node, used, kernel, launch)?,
            (CapturedWork::Copy(_), _, None) => {
                let (from, to) = (self.view(&used.accesses[0])?, self.view(&used.accesses[1])?);
                self.builder.copy(&from, to.write())?
            }
            (CapturedWork::Fill(fill), _, None) => {
                let view = self.view(&used.accesses[0])?;
                let byte = u8::try_from(fill.value & 0xff).unwrap_or(0);
                self.builder.fill(view.write(), byte.to_argument())?
            }
            _ => self.kept(at, node, used)?,
        };
        for access in &used.accesses {
            self.written[access.memory] |= access.writes;
        }
        self.statements[at] = Some(statement);
        if let CapturedWork::Kernel(kernel) = &node.work {
            self.kernels.push((node.number, kernel.name.clone(), statement));
        }
        Ok(())
    }

    /// Allocates the memory of an alloc node: as a temporary, as an output, or, if it may be read before it is written
    /// as far as is known, for the life of the exec.
    fn alloc(&mut self, at: usize, bytes: u64) -> Result<()> {
        let analysed = &self.lifted.analysed;
        let own = |memory: &Option<MemoryNodes>| memory.is_some_and(|nodes| nodes.alloc == at);
        let Some(id) = analysed.memory.list.iter().position(|memory| own(&memory.nodes)) else {
            return Ok(());
        };
        let is_used = analysed.uses.iter().any(|used| used.uses(id));
        let leaves = analysed.memory.list[id].nodes.is_some_and(|nodes| nodes.free.is_none());
        if bytes == 0 || !(is_used || leaves) {
            return Ok(());
        }
        let handle = if self.lifted.placed[id] || leaves {
            let handle = self.builder.named(&format!("allocated{id}")).alloc::<u8>(bytes);
            if leaves {
                self.builder.output(handle)?;
            }
            if !(self.lifted.placed[id] && is_used) {
                self.builder.fill(handle.write(), 0_u8.to_argument())?;
                self.written[id] = true;
            }
            handle
        } else {
            let len = usize::try_from(bytes).unwrap_or(usize::MAX);
            let stream = self.lifted.ctx.default_stream();
            let kept = Buffer::<u8>::zeros(&stream, len)?;
            self.written[id] = true;
            self.builder.exclusive::<u8>(&format!("allocated{id}"), bytes, kept)
        };
        self.handles.insert(id, handle);
        Ok(())
    }

    /// Returns the bytes that an access declares.
    fn view(&self, access: &NodeAccess) -> Result<View> {
        let start = self.lifted.analysed.memory.list[access.memory].addresses.start;
        let (lo, hi) = (access.declared.start - start, access.declared.end - start);
        match self.handles.get(&access.memory) {
            Some(handle) => Ok(handle.range(lo, hi)),
            None => {
                let finding = format!("{lo}..{hi} of memory that is not allocated before its use");
                Err(Error::Lift(Box::new(LiftFault::Broken { finding })))
            }
        }
    }

    fn launch(
        &mut self,
        node: &CapturedNode,
        used: &NodeUse,
        kernel: &CapturedKernel,
        LiftedKernel { text, kernel: declared, footprint }: &LiftedKernel,
    ) -> Result<Statement> {
        let values = kernel.parameters.as_ref().map_or_else(Vec::new, |(_, values)| values.clone());
        let mode = |kind: ParamKind| match kind {
            ParamKind::Atomic => Mode::Atomic,
            ParamKind::Write | ParamKind::ReadWrite => Mode::ReadWrite,
            ParamKind::Read | ParamKind::Scalar => Mode::Read,
        };
        let buffers = declared.params.iter().filter(|param| !param.is_scalar());
        let accesses = used.accesses.iter().zip(buffers);
        let accesses = accesses.map(|(access, param)| Ok((self.view(access)?, mode(param.kind))));
        let accesses = accesses.collect::<Result<Vec<_>>>()?;
        let extents =
            used.accesses.iter().map(|access| access.declared.end - access.declared.start).collect();
        let shape = LaunchShape {
            grid: kernel.launch.grid,
            block: kernel.launch.block,
            shared: kernel.launch.shared,
        };
        let check = SameAccesses { text: text.clone(), shape, footprint: footprint.clone() };
        let arguments = CapturedArguments { values, extents };
        let launch = CapturedLaunch { kernel: declared, shape, arguments, accesses, check: Arc::new(check) };
        self.builder.captured_launch(node.number, launch)
    }

    /// Adds a copy of a node that is kept.
    fn kept(&mut self, at: usize, node: &CapturedNode, used: &NodeUse) -> Result<Statement> {
        let analysed = &self.lifted.analysed;
        if node.is_unknown() {
            let live = |nodes: &MemoryNodes| {
                !analysed.nodes.is_before(at, nodes.alloc)
                    && nodes.free.is_none_or(|free| !analysed.nodes.is_before(free, at))
            };
            let memory = analysed.memory.list.iter().filter_map(|memory| memory.nodes.as_ref());
            if let Some(nodes) = memory.into_iter().find(|nodes| live(nodes)) {
                let allocated_by = analysed.nodes.list[nodes.alloc].number;
                let name = node.name().to_owned();
                let fault = LiftFault::MemoryOfKept { node: node.number, name, allocated_by };
                return Err(Error::Lift(Box::new(fault)));
            }
        }
        let mut touched = used.touched.clone();
        touched.extend(used.accesses.iter().map(|access| access.memory));
        touched.sort_unstable();
        touched.dedup();
        touched.retain(|&memory| analysed.memory.list[memory].nodes.is_some());
        let (mut buffers, mut handles, mut addresses) = (Vec::new(), Vec::new(), Vec::new());
        for memory in touched {
            let Some(&handle) = self.handles.get(&memory) else {
                let finding = format!("node {} uses memory before it is allocated", node.number);
                return Err(Error::Lift(Box::new(LiftFault::Broken { finding })));
            };
            let range = analysed.memory.list[memory].addresses.clone();
            buffers.push(KeptBuffer { bytes: range.end - range.start, is_written: self.written[memory] });
            self.written[memory] = true;
            handles.push(handle);
            addresses.push(range);
        }
        let values = match &node.work {
            CapturedWork::Kernel(kernel) => kernel.parameters.as_ref().map(|(_, values)| values.clone()),
            _ => None,
        };
        let kept = KeptNode {
            node: node.node,
            captured: self.lifted.captured.clone(),
            values,
            addresses,
            table: KeptNode::table(node.name(), &buffers),
        };
        let (table, enter) = (kept.table, KeptNode::enter);
        let call = KeptCall { table, enter, node: SharedValue::new(Arc::new(kept)) };
        self.builder.kept_node(node.number, call, &handles)
    }

    /// Returns the pairs of a node and those before and after it that no other kept node orders.
    fn neighbours(&self, at: usize) -> Vec<(usize, usize)> {
        let Analysed { nodes, uses, .. } = &self.lifted.analysed;
        let mut pairs = Vec::new();
        let mut seen = BTreeSet::new();
        let mut work = nodes.list[at].after.clone();
        while let Some(before) = work.pop() {
            if seen.insert(before) {
                pairs.push((before, at));
                if uses[before].kept.is_none() {
                    work.extend(&nodes.list[before].after);
                }
            }
        }
        let mut work: Vec<usize> = self.successors[at].clone();
        while let Some(after) = work.pop() {
            // A kept one finds this node by itself.
            if uses[after].kept.is_none() && seen.insert(after) {
                pairs.push((at, after));
                work.extend(&self.successors[after]);
            }
        }
        pairs
    }

    /// Orders each kept node after all nodes before it in the captured graph, and before all after it. Also orders
    /// launches whose conflicting bytes are not among those that they declare.
    fn order_kept(&mut self) -> Result<()> {
        let analysed = &self.lifted.analysed;
        let is_kept = |at: usize| analysed.uses[at].kept.is_some();
        let count = analysed.nodes.list.len();
        for at in (0..count).filter(|&at| is_kept(at)) {
            for (one, two) in self.neighbours(at) {
                if let (Some(one), Some(two)) = (self.statements[one], self.statements[two]) {
                    self.builder.edge(one, two)?;
                }
            }
        }
        for &(one, other) in &analysed.races {
            if let (true, Some(one), Some(other)) =
                (is_kept(one) || is_kept(other), self.statements[one], self.statements[other])
            {
                self.builder.edge(one, other)?;
            }
        }
        let before_pointer = |access: &&NodeAccess| access.bytes.start < access.declared.start;
        for at in 0..count {
            for access in analysed.uses[at].accesses.iter().filter(before_pointer).filter(|_| !is_kept(at)) {
                for other in (0..count).filter(|&other| other != at && !is_kept(other)) {
                    let conflicts = analysed.uses[other].accesses.iter().any(|two| {
                        two.memory == access.memory
                            && (two.writes || access.writes)
                            && two.bytes.start < access.bytes.end
                            && access.bytes.start < two.bytes.end
                    });
                    let (Some(one), Some(two)) =
                        (self.statements[at.min(other)], self.statements[at.max(other)])
                    else {
                        continue;
                    };
                    if conflicts {
                        self.builder.edge(one, two)?;
                    }
                }
            }
        }
        Ok(())
    }
}
