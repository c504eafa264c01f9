//! The findings of [`lift`](fn@crate::lift) in a captured graph.

use std::fmt;
use std::ops::Range;

use cuweave_ptx::Site;

use super::accesses::NodeAccess;
use super::nodes::CapturedNode;

/// The maximum number of nodes that a line names.
const MAX_NODES: usize = 8;

/// The faults of a captured graph, proved and possible, and the nodes that are kept. Printed, one line each; nodes that
/// are kept for one reason share a line.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub(super) list: Vec<Finding>,
}

impl Findings {
    /// Returns the findings, in the order of their kinds.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the findings that are certain faults: proved races, and certain uses of memory that is not there or not
    /// written.
    pub fn faults(&self) -> impl Iterator<Item = &Finding> {
        self.list.iter().filter(|finding| finding.is_proved())
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.list.is_empty() {
            return f.write_str("nothing found");
        }
        let mut kept: Vec<(&str, &str, Vec<usize>)> = Vec::new();
        let mut end = "";
        for finding in &self.list {
            let Finding::Kept { node, name, reason } = finding else {
                write!(f, "{end}{finding}")?;
                end = "\n";
                continue;
            };
            match kept.iter_mut().find(|(one, why, _)| (*one, *why) == (name, reason)) {
                Some((.., nodes)) => nodes.push(*node),
                None => kept.push((name, reason, vec![*node])),
            }
        }
        for (name, reason, nodes) in kept {
            let s = if nodes.len() > 1 { "s" } else { "" };
            let list: Vec<String> = nodes.iter().take(MAX_NODES).map(ToString::to_string).collect();
            let more = nodes.len().saturating_sub(MAX_NODES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            write!(f, "{end}kept as captured: node{s} {}{more} (`{name}`): {reason}", list.join(", "))?;
            end = "\n";
        }
        Ok(())
    }
}

/// An access of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundAccess {
    /// The number of the node in its graph.
    pub node: usize,
    /// The kernel, or `copy` or `fill`.
    pub name: String,
    /// The kernel's parameter.
    pub parameter: Option<usize>,
    /// True if it writes.
    pub writes: bool,
    /// The accessed addresses, or those of the whole allocation if they are not known.
    pub addresses: Range<u64>,
    /// True if the addresses are known.
    pub exact: bool,
    /// True if some of the addresses are certainly accessed.
    pub certain: bool,
    /// The line of the PTX with the access, and its text.
    pub instruction: Option<(u32, String)>,
}

impl FoundAccess {
    pub(super) fn new(node: &CapturedNode, access: &NodeAccess) -> FoundAccess {
        let [reads, writes] = &access.sites;
        let site = if access.writes { writes.as_ref().or(reads.as_ref()) } else { reads.as_ref() };
        FoundAccess {
            node: node.number,
            name: node.name().to_owned(),
            parameter: access.parameter,
            writes: access.writes,
            addresses: access.bytes.clone(),
            exact: !access.assumed,
            certain: access.is_certain(),
            instruction: site.map(|Site { line, text }| (*line, text.clone())),
        }
    }
}

impl fmt::Display for FoundAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let does = if self.writes { "writes" } else { "reads" };
        write!(f, "node {} (`{}`) {does} ", self.node, self.name)?;
        if !self.exact {
            f.write_str("any of ")?;
        }
        write!(f, "{:#x}..{:#x}", self.addresses.start, self.addresses.end)?;
        if let Some(parameter) = self.parameter {
            write!(f, " by parameter {parameter}")?;
        }
        match &self.instruction {
            Some((line, text)) => write!(f, " (line {line} of its PTX: `{text}`)"),
            None => Ok(()),
        }
    }
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// Two accesses of the same bytes, of which at least one writes, that no path of the graph orders. If it is proved,
    /// the lifted graph orders them by the numbers of their nodes.
    #[non_exhaustive]
    Race {
        /// True if both certainly access a byte in common.
        proved: bool,
        /// The access of the node with the smaller number.
        first: FoundAccess,
        /// The other access.
        second: FoundAccess,
        /// The addresses in common.
        addresses: Range<u64>,
    },
    /// An address in no allocation that lives now.
    #[non_exhaustive]
    Dangling {
        /// The number of the node.
        node: usize,
        /// The kernel, or `copy` or `fill`.
        kernel: String,
        /// The kernel's parameter. Empty for copies and fills.
        parameter: String,
        /// The address.
        address: u64,
        /// True if the node certainly accesses it.
        certain: bool,
    },
    /// Addresses beyond the allocation that the pointer is in.
    #[non_exhaustive]
    Outside {
        /// The number of the node.
        node: usize,
        /// The kernel, or `copy` or `fill`.
        kernel: String,
        /// The kernel's parameter. Empty for copies and fills.
        parameter: String,
        /// The addresses.
        addresses: Range<u64>,
        /// The allocation.
        allocation: Range<u64>,
        /// True if the node certainly accesses bytes beyond.
        certain: bool,
    },
    /// An access of memory that is not ordered before the node that frees it.
    #[non_exhaustive]
    AfterFree {
        /// True if it is ordered after that node.
        proved: bool,
        /// The access.
        access: FoundAccess,
        /// The number of the node that frees the memory.
        freed_by: usize,
    },
    /// An access of memory that is not ordered after the node that allocates it.
    #[non_exhaustive]
    BeforeAlloc {
        /// The access.
        access: FoundAccess,
        /// The number of the node that allocates the memory.
        allocated_by: usize,
    },
    /// A free of memory that no node of the graph allocated: a second launch frees it again.
    #[non_exhaustive]
    OutsideFree {
        /// The number of the node.
        node: usize,
        /// The address.
        address: u64,
    },
    /// A read of memory of an alloc node that no node before it may have written.
    #[non_exhaustive]
    Unwritten {
        /// The access.
        access: FoundAccess,
    },
    /// A copy to or from host memory that is not page-locked: each launch uses what is at the address then.
    #[non_exhaustive]
    HostMemory {
        /// The number of the node.
        node: usize,
        /// True if it copies to the host.
        writes: bool,
        /// The address.
        address: u64,
    },
    /// A copy or a fill whose bytes are all overwritten before anything may read them.
    #[non_exhaustive]
    Overwritten {
        /// The number of the node.
        node: usize,
        /// `copy` or `fill`.
        name: String,
        /// The number of the node that overwrites it.
        by: usize,
    },
    /// A node that is kept as it was captured, in the order in which it was captured.
    #[non_exhaustive]
    Kept {
        /// The number of the node.
        node: usize,
        /// Its kernel or kind.
        name: String,
        /// The reason.
        reason: String,
    },
}

impl Finding {
    /// Returns true for a fault that is certain.
    pub fn is_proved(&self) -> bool {
        match self {
            Finding::Race { proved, .. } | Finding::AfterFree { proved, .. } => *proved,
            Finding::Dangling { certain, .. } | Finding::Outside { certain, .. } => *certain,
            Finding::Unwritten { .. } | Finding::OutsideFree { .. } => true,
            Finding::BeforeAlloc { .. }
            | Finding::HostMemory { .. }
            | Finding::Overwritten { .. }
            | Finding::Kept { .. } => false,
        }
    }

    /// Returns the numbers of its nodes.
    pub fn nodes(&self) -> Vec<usize> {
        match self {
            Finding::Race { first, second, .. } => vec![first.node, second.node],
            Finding::AfterFree { access, freed_by: other, .. }
            | Finding::BeforeAlloc { access, allocated_by: other } => vec![access.node, *other],
            Finding::Unwritten { access } => vec![access.node],
            Finding::Overwritten { node, by, .. } => vec![*node, *by],
            Finding::Dangling { node, .. }
            | Finding::OutsideFree { node, .. }
            | Finding::Outside { node, .. }
            | Finding::HostMemory { node, .. }
            | Finding::Kept { node, .. } => vec![*node],
        }
    }

    /// Returns true if the finding says only that a node is kept.
    pub fn is_kept(&self) -> bool {
        matches!(self, Finding::Kept { .. })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = |parameter: &str| match parameter {
            "" => String::new(),
            name => format!(" by `{name}`"),
        };
        match self {
            Finding::Race { proved, first, second, .. } => {
                let what = if *proved { "race" } else { "possible race" };
                write!(f, "{what}: {first}, and {second}; no path orders them")
            }
            Finding::Dangling { node, kernel, parameter, address, certain } => {
                let does = if *certain { "uses" } else { "may use" };
                let by = by(parameter);
                write!(
                    f,
                    "dangling address: node {node} (`{kernel}`) {does} {address:#x}{by}, in no live allocation"
                )
            }
            Finding::Outside { node, kernel, parameter, addresses, allocation, certain } => {
                let does = if *certain { "accesses" } else { "may access" };
                write!(
                    f,
                    "past the end: node {node} (`{kernel}`) {does} {:#x}..{:#x}{}, and the allocation is {:#x}..{:#x}",
                    addresses.start,
                    addresses.end,
                    by(parameter),
                    allocation.start,
                    allocation.end
                )
            }
            Finding::AfterFree { proved: true, access, freed_by } => {
                write!(f, "use after free: {access}, after node {freed_by} freed it")
            }
            Finding::AfterFree { access, freed_by, .. } => {
                write!(
                    f,
                    "possible use after free: {access}, and no path leads from it to node {freed_by}, a free of it"
                )
            }
            Finding::BeforeAlloc { access, allocated_by } => {
                write!(
                    f,
                    "use before allocation: {access}, and no path leads to it from node {allocated_by}, which \
                    allocates it"
                )
            }
            Finding::OutsideFree { node, address } => {
                write!(
                    f,
                    "outside free: node {node} frees the memory at {address:#x}, which the graph did not allocate"
                )
            }
            Finding::Unwritten { access } => {
                write!(f, "unwritten memory: {access}, which no node before it writes")
            }
            Finding::HostMemory { node, writes, address } => {
                let does = if *writes { "writes" } else { "reads" };
                write!(
                    f,
                    "host memory: node {node} (`copy`) {does} pageable host memory at {address:#x} in each launch"
                )
            }
            Finding::Overwritten { node, name, by } => {
                write!(
                    f,
                    "overwritten: nothing reads what node {node} (`{name}`) writes before node {by} overwrites it"
                )
            }
            Finding::Kept { node, name, reason } => {
                write!(f, "kept as captured: node {node} (`{name}`): {reason}")
            }
        }
    }
}
