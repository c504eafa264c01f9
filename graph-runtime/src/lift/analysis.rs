//! Finds what each node of a captured graph accesses, and which nodes become statements.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::cuda::{CopyEnd, Driver, Memcpy, Memset, PointerPlace, RawModule, pattern};
use crate::error::{Error, LiftFault, Result};

use super::accesses::{LiftedKernel, NodeAccess, NodeUse, exact};
use super::findings::{Finding, FoundAccess};
use super::footprints::{Footprint, Footprints, Reach};
use super::memory::{MemoryId, MemoryMap, Place};
use super::nodes::{CapturedKernel, CapturedNode, CapturedWork, Nodes};
use super::texts::{KernelText, ParameterKind, Text};

/// The nodes of a graph with what they access.
pub(super) struct Analysed {
    pub nodes: Nodes,
    pub memory: MemoryMap,
    pub uses: Vec<NodeUse>,
    pub findings: Vec<Finding>,
    /// The nodes of each proved race.
    pub races: Vec<(usize, usize)>,
}

impl Analysed {
    /// Analyses the nodes of a graph.
    ///
    /// # Complexity
    ///
    /// The square of the accesses of each allocation.
    ///
    /// # Errors
    ///
    /// A kernel with other parameters than its PTX; a failure of the driver.
    pub fn new(driver: &'static Driver, nodes: Nodes, texts: &[&'static Text]) -> Result<Analysed> {
        let memory = MemoryMap::new(driver, &nodes);
        let modules = modules(&nodes);
        let mut analysis = NodeAnalysis {
            driver,
            texts,
            modules,
            nodes: &nodes,
            memory,
            footprints: Footprints::default(),
            findings: Vec::new(),
        };
        let uses = (0..nodes.list.len()).map(|at| analysis.node(at)).collect::<Result<Vec<_>>>()?;
        let NodeAnalysis { memory, findings, .. } = analysis;
        let mut analysed = Analysed { nodes, memory, uses, findings, races: Vec::new() };
        analysed.find_races();
        analysed.find_uses_after_free();
        analysed.note_kept();
        Ok(analysed)
    }

    /// Finds conflicting accesses that no captured path orders. A launch that may be part of a race, but need not be,
    /// is kept as it was captured.
    fn find_races(&mut self) {
        let mut of_memory: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.memory.list.len()];
        for (node, used) in self.uses.iter().enumerate() {
            let accesses = used.accesses.iter().enumerate();
            accesses.for_each(|(at, access)| of_memory[access.memory].push((node, at)));
        }
        let mut possible = Vec::new();
        let mut found: BTreeMap<(usize, usize), Finding> = BTreeMap::new();
        for accesses in &of_memory {
            for (nth, &(other, other_at)) in accesses.iter().enumerate() {
                for &(one, at) in &accesses[..nth] {
                    if one == other || self.nodes.are_ordered(one, other) {
                        continue;
                    }
                    let (first, second) =
                        (&self.uses[one].accesses[at], &self.uses[other].accesses[other_at]);
                    let Some(race) = first.race_with(second) else { continue };
                    let proved = race.proved;
                    if !proved {
                        possible.push((one, other));
                    }
                    let finding = Finding::Race {
                        proved,
                        first: self.found(one, first),
                        second: self.found(other, second),
                        addresses: race.addresses,
                    };
                    let known = found.entry((one, other)).or_insert_with(|| finding.clone());
                    if proved && !known.is_proved() {
                        *known = finding;
                    }
                }
            }
        }
        for (one, other) in possible {
            if found.get(&(one, other)).is_some_and(Finding::is_proved) {
                continue;
            }
            if let Some(node) = [other, one].into_iter().find(|&node| self.uses[node].launch.is_some()) {
                self.uses[node].launch = None;
                self.uses[node].kept =
                    Some("it may access what an unordered node does, as far as is known".to_owned());
            }
        }
        self.races = found.iter().filter(|(_, race)| race.is_proved()).map(|(&pair, _)| pair).collect();
        self.findings.extend(found.into_values());
    }

    /// Finds accesses of memory of alloc nodes that are not between the allocation and its free.
    fn find_uses_after_free(&mut self) {
        let mut found = Vec::new();
        for (node, used) in self.uses.iter().enumerate() {
            for access in &used.accesses {
                let Some(memory) = self.memory.list[access.memory].nodes else { continue };
                let accessed = || self.found(node, access);
                let number = |node: usize| self.nodes.list[node].number;
                if !self.nodes.is_before(memory.alloc, node) {
                    found.push(Finding::BeforeAlloc {
                        access: accessed(),
                        allocated_by: number(memory.alloc),
                    });
                }
                let Some(free) = memory.free else { continue };
                if !self.nodes.is_before(node, free) {
                    let proved = self.nodes.is_before(free, node) && access.is_certain();
                    found.push(Finding::AfterFree { proved, access: accessed(), freed_by: number(free) });
                }
            }
        }
        for (at, node) in self.nodes.list.iter().enumerate() {
            if let CapturedWork::Free { address } = node.work
                && !self.memory.is_freed_by(at)
            {
                found.push(Finding::OutsideFree { node: node.number, address });
            }
        }
        self.findings.extend(found);
    }

    /// Notes the nodes that are kept.
    fn note_kept(&mut self) {
        for (node, used) in self.nodes.list.iter().zip(&self.uses) {
            if let Some(reason) = &used.kept {
                let (node, name, reason) = (node.number, node.name().to_owned(), reason.clone());
                self.findings.push(Finding::Kept { node, name, reason });
            }
        }
    }

    /// Returns a node that is kept and may use an allocation.
    pub fn kept_user(&self, memory: MemoryId) -> Option<&CapturedNode> {
        let addresses = &self.memory.list[memory].addresses;
        let mut kept = self.nodes.list.iter().zip(&self.uses).filter(|(_, used)| used.kept.is_some());
        let found = kept.find(|(node, used)| match &node.work {
            CapturedWork::Kernel(kernel) => {
                kernel.parameters.is_none() || kernel.words().any(|word| addresses.contains(&word))
            }
            _ => node.is_unknown() || used.uses(memory),
        });
        found.map(|(node, _)| node)
    }

    pub fn found(&self, node: usize, access: &NodeAccess) -> FoundAccess {
        FoundAccess::new(&self.nodes.list[node], access)
    }
}

/// Returns the modules that kernels of each name are in.
fn modules(nodes: &Nodes) -> BTreeMap<String, Vec<RawModule>> {
    let mut modules: BTreeMap<String, Vec<RawModule>> = BTreeMap::new();
    for node in &nodes.list {
        let CapturedWork::Kernel(kernel) = &node.work else { continue };
        let known = modules.entry(kernel.name.clone()).or_default();
        if !known.contains(&kernel.module) {
            known.push(kernel.module);
        }
    }
    modules
}

struct NodeAnalysis<'t> {
    driver: &'static Driver,
    texts: &'t [&'static Text],
    modules: BTreeMap<String, Vec<RawModule>>,
    nodes: &'t Nodes,
    memory: MemoryMap,
    footprints: Footprints,
    findings: Vec<Finding>,
}

impl NodeAnalysis<'_> {
    fn node(&mut self, at: usize) -> Result<NodeUse> {
        match &self.nodes.list[at].work {
            CapturedWork::Kernel(kernel) => self.kernel(at, kernel),
            CapturedWork::Copy(copy) => self.copy(at, copy),
            CapturedWork::Fill(fill) => self.fill(at, fill),
            CapturedWork::Kept(what) => {
                Ok(NodeUse { kept: Some(format!("it is a {what}")), ..NodeUse::default() })
            }
            CapturedWork::Alloc { .. } | CapturedWork::Free { .. } | CapturedWork::Empty => {
                Ok(NodeUse::default())
            }
        }
    }

    /// Returns a kernel that is kept, with the memory of other nodes whose addresses it is given.
    fn kept(&self, at: usize, kernel: &CapturedKernel, reason: impl Into<String>) -> NodeUse {
        let mut touched: Vec<MemoryId> =
            kernel.words().filter_map(|word| self.memory.living(self.nodes, at, word)).collect();
        touched.sort_unstable();
        touched.dedup();
        NodeUse { kept: Some(reason.into()), touched, ..NodeUse::default() }
    }

    fn kernel(&mut self, at: usize, kernel: &CapturedKernel) -> Result<NodeUse> {
        let Some((sizes, values)) = &kernel.parameters else {
            return Ok(self.kept(at, kernel, "its parameters cannot be read"));
        };
        let named = self.texts.iter().filter(|text| text.has(&kernel.name, kernel.launch.block));
        let (mut other, mut found): (_, Vec<&'static Text>) = (None, Vec::new());
        for text in named {
            match text.difference(&kernel.name, sizes) {
                Some(difference) => other = Some(difference),
                None if found.iter().any(|known| std::ptr::eq(*known, *text)) => {}
                None => found.push(text),
            }
        }
        let text = match (&found[..], other) {
            (&[text], _) => text,
            ([], None) => return Ok(self.kept(at, kernel, "its PTX is not given")),
            ([], Some(difference)) => {
                let fault = LiftFault::OtherKernel { kernel: kernel.name.clone(), difference };
                return Err(Error::Lift(Box::new(fault)));
            }
            _ => return Ok(self.kept(at, kernel, "two texts have a kernel of its name")),
        };
        if self.modules.get(&kernel.name).is_some_and(|modules| modules.len() > 1) {
            return Ok(self.kept(at, kernel, "two modules have a kernel of its name"));
        }
        let is_null = |value: &Vec<u8>| value.len() == 8 && value.iter().all(|byte| *byte == 0);
        let pointers = text.pointers(&kernel.name);
        let nulls: Vec<bool> =
            values.iter().zip(&*pointers).map(|(value, pointer)| *pointer && is_null(value)).collect();
        let Some(text) = text.kernel(&kernel.name, &nulls) else {
            return Ok(self.kept(at, kernel, "its PTX is not given"));
        };
        if let Some(reason) = text.opaque.as_deref().or(kernel.special) {
            return Ok(self.kept(at, kernel, reason));
        }
        let launch_footprint = self.footprints.of(&text, kernel, values);
        let mut kinds = Vec::with_capacity(values.len());
        let (mut accesses, mut reason): (Vec<NodeAccess>, _) = (Vec::new(), None);
        let mut footprints = launch_footprint.pointers.iter();
        for (parameter, value) in values.iter().enumerate() {
            let footprint = if text.parameters[parameter].is_pointer { footprints.next() } else { None };
            let Some(footprint) = footprint else {
                kinds.push(ParameterKind::Value);
                continue;
            };
            let (reads, writes) = (!footprint.reads.is_nothing(), !footprint.writes.is_nothing());
            kinds.push(if nulls[parameter] {
                ParameterKind::Null
            } else {
                text.kind(parameter, reads, writes)
            });
            // What may be an access of null is none, since it would fail.
            if !(reads || writes) || nulls[parameter] {
                continue;
            }
            let pointer = <[u8; 8]>::try_from(value.as_slice()).map_or(0, u64::from_ne_bytes);
            match self.access(at, &text, parameter, pointer, footprint)? {
                Ok(access) => {
                    let is_write = kinds.last() == Some(&ParameterKind::Write);
                    accesses.push(NodeAccess { is_write, reduction: text.reduction(parameter), ..access });
                }
                Err(why) => reason = reason.or(Some(why)),
            }
        }
        let overlap = accesses.iter().enumerate().any(|(at, one)| {
            accesses[..at].iter().any(|other| (one.writes || other.writes) && one.shares_declared_with(other))
        });
        if overlap {
            reason.get_or_insert_with(|| "two of its parameters overlap".to_owned());
        }
        let kernel_of = text.declaration(&kinds);
        match reason {
            Some(reason) => Ok(NodeUse { accesses, ..self.kept(at, kernel, reason) }),
            None => {
                let launch = Some(LiftedKernel { text, kernel: kernel_of, footprint: launch_footprint });
                Ok(NodeUse { accesses, launch, ..NodeUse::default() })
            }
        }
    }

    /// Returns the access through a pointer, or the reason that the launch is kept.
    fn access(
        &mut self,
        at: usize,
        text: &KernelText,
        parameter: usize,
        pointer: u64,
        footprint: &Footprint,
    ) -> Result<std::result::Result<NodeAccess, String>> {
        let offset = |offset: i128| {
            u64::try_from(i128::from(pointer).saturating_add(offset).max(0)).unwrap_or(u64::MAX)
        };
        let hulls = [&footprint.reads, &footprint.writes].into_iter().filter_map(|reach| match *reach {
            Reach::Bytes(first, end) => Some((first, end)),
            _ => None,
        });
        let hull = hulls.reduce(|(first, end), (other, other_end)| (first.min(other), end.max(other_end)));
        let assumed = [&footprint.reads, &footprint.writes].into_iter().find_map(|reach| match reach {
            Reach::Unknown(why) => Some(why.clone()),
            _ => None,
        });
        let (first, end) =
            hull.map_or((pointer, pointer.saturating_add(1)), |(first, end)| (offset(first), offset(end)));
        let certain =
            footprint.certain.clone().map(|list| list.into_iter().map(offset).collect::<Vec<u64>>());
        let (node, index) = (&self.nodes.list[at], parameter);
        let parameter = &text.parameters[index];
        let memory = match self.memory.place(self.nodes, at, pointer)? {
            Place::In(memory) => memory,
            place => {
                let (number, kernel, name) = (node.number, node.name().to_owned(), parameter.name.to_owned());
                if place == Place::Host {
                    return Ok(Err(format!("`{name}` is in memory of the host")));
                }
                let certain = certain.iter().any(|list| !list.is_empty());
                let finding = Finding::Dangling {
                    node: number,
                    kernel,
                    parameter: name.clone(),
                    address: pointer,
                    certain,
                };
                self.findings.push(finding);
                return Ok(Err(format!("`{name}` is in no live allocation")));
            }
        };
        let all = self.memory.list[memory].addresses.clone();
        let bytes = if assumed.is_some() { all.clone() } else { first..end };
        if bytes.start < all.start || bytes.end > all.end {
            let outside = |byte: &&u64| !all.contains(byte);
            let certain = certain.iter().flatten().any(|byte| outside(&byte));
            self.findings.push(Finding::Outside {
                node: node.number,
                kernel: node.name().to_owned(),
                parameter: parameter.name.to_owned(),
                addresses: bytes,
                allocation: all,
                certain,
            });
            return Ok(Err(format!("`{}` reaches beyond its allocation", parameter.name)));
        }
        let declared = pointer..bytes.end.max(pointer.saturating_add(1));
        Ok(Ok(NodeAccess {
            memory,
            reads: !footprint.reads.is_nothing(),
            writes: !footprint.writes.is_nothing(),
            reduction: None,
            assumed: assumed.is_some(),
            written: match footprint.writes {
                Reach::Nothing => 0..0,
                Reach::Bytes(first, end) => offset(first)..offset(end),
                Reach::Unknown(_) => bytes.clone(),
            },
            is_write: false,
            writes_all: footprint.writes_all && assumed.is_none(),
            touches_all: footprint.touches_all && assumed.is_none() && first == pointer,
            reads_first: parameter.reads_first && footprint.certainly_reads,
            certain,
            regions: assumed.is_none().then(|| (pointer, footprint.regions.clone())),
            parameter: Some(index),
            sites: parameter.sites.clone(),
            bytes,
            declared,
        }))
    }

    fn copy(&mut self, at: usize, copy: &Memcpy) -> Result<NodeUse> {
        let (node, is_line) = (&self.nodes.list[at], copy.rows == 1 && copy.planes == 1);
        let mut used =
            NodeUse { kept: (!is_line).then(|| "it copies rows".to_owned()), ..NodeUse::default() };
        for ((end, pitch), writes) in [copy.from, copy.to].into_iter().zip(copy.pitches).zip([false, true]) {
            let lines =
                copy.rows.saturating_sub(1) + copy.planes.saturating_sub(1).saturating_mul(pitch.height);
            let length = lines.saturating_mul(pitch.bytes).saturating_add(copy.bytes);
            match end {
                CopyEnd::Device(address) => {
                    let addresses = address..address.saturating_add(length);
                    self.transferred(at, &mut used, addresses, writes, is_line)?;
                }
                CopyEnd::Host(address) => {
                    if self.driver.device_of(address)? == PointerPlace::Unknown {
                        let (node, writes) = (node.number, writes);
                        self.findings.push(Finding::HostMemory { node, writes, address });
                    }
                    used.kept.get_or_insert_with(|| "it copies to or from memory of the host".to_owned());
                }
            }
        }
        let overlaps = match &used.accesses[..] {
            [from, to] => from.bytes.start < to.bytes.end && to.bytes.start < from.bytes.end,
            _ => false,
        };
        if overlaps {
            used.kept.get_or_insert_with(|| "its source and its destination overlap".to_owned());
        }
        Ok(used)
    }

    fn fill(&mut self, at: usize, fill: &Memset) -> Result<NodeUse> {
        let row = fill.width.saturating_mul(fill.element.into());
        let length = fill.pitch.saturating_mul(fill.rows.saturating_sub(1)).saturating_add(row);
        let bytes = pattern(fill.value.into(), fill.element).to_ne_bytes();
        let kept = if fill.rows > 1 {
            Some("it fills rows".to_owned())
        } else {
            bytes.iter().any(|byte| *byte != bytes[0]).then(|| "its bytes differ".to_owned())
        };
        let mut used = NodeUse { kept, ..NodeUse::default() };
        let addresses = fill.target..fill.target.saturating_add(length);
        self.transferred(at, &mut used, addresses, true, fill.rows == 1)?;
        Ok(used)
    }

    /// Adds the access of one end of a copy, or of a fill.
    fn transferred(
        &mut self,
        at: usize,
        used: &mut NodeUse,
        addresses: Range<u64>,
        writes: bool,
        dense: bool,
    ) -> Result<()> {
        let node = &self.nodes.list[at];
        match self.memory.place(self.nodes, at, addresses.start)? {
            Place::In(memory) if addresses.end <= self.memory.list[memory].addresses.end => {
                used.accesses.push(exact(memory, addresses, writes, dense));
            }
            Place::In(memory) => {
                let allocation = self.memory.list[memory].addresses.clone();
                self.findings.push(Finding::Outside {
                    node: node.number,
                    kernel: node.name().to_owned(),
                    parameter: String::new(),
                    addresses,
                    allocation,
                    certain: true,
                });
                used.kept.get_or_insert_with(|| "it reaches beyond an allocation".to_owned());
            }
            Place::Host => {
                used.kept.get_or_insert_with(|| "it uses memory of the host".to_owned());
            }
            Place::Nowhere => {
                self.findings.push(Finding::Dangling {
                    node: node.number,
                    kernel: node.name().to_owned(),
                    parameter: String::new(),
                    address: addresses.start,
                    certain: true,
                });
                used.kept.get_or_insert_with(|| "it uses no live allocation".to_owned());
            }
        }
        Ok(())
    }
}
