//! Report entries for launches that could have been merged or overlapped further, with the reasons why they were
//! not.
//!
//! `explaining` builds the entries from the decisions of the compiler; `grouped` and `text` print them.

use std::fmt;

use cuweave_core::launches::NamedKernel;
use cuweave_core::location::SourceLocation;
use cuweave_core::picture::folded;

/// A statement and how often it occurs in a row. The iterations of a loop share one line of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepeatedStatement {
    /// The statement.
    pub at: SourceLocation,
    /// The number of consecutive launches of the statement.
    pub times: usize,
}

/// Launches of one kernel that are not ordered by any dependency but run as several nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnbatchedLaunches {
    /// The kernel.
    pub kernel: NamedKernel,
    /// The launches.
    pub launches: Vec<RepeatedStatement>,
    /// The number of nodes that run them.
    pub nodes: usize,
    /// The reasons why they are not one launch.
    pub reasons: Vec<UnbatchedReason>,
    /// The number of groups with the same lines and the same reasons.
    pub times: usize,
}

/// A reason why launches of one kernel are not one launch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum UnbatchedReason {
    /// The option `launches` of the graph function forbids it.
    NotAllowed,
    /// They are in different bodies of device-side conditionals, or only one of them is in a body.
    Bodies,
    /// The kernel cannot be batched, for this reason.
    Kernel(String),
    /// A setter may change the block or the shared memory of one of them.
    Setter,
    /// One launch would be slower, because fewer of its blocks fit on a multiprocessor or it spills registers.
    Slower(String),
    /// Their blocks or their dynamic shared memory differ.
    Blocks,
    /// Their predecessors may end at different times.
    DifferentStarts,
    /// They pass work from device to device in pieces, each of which fills a device. One launch would wait for all
    /// pieces.
    Devices,
    /// They may take different times, and they have different successors.
    DifferentEnds,
    /// Their grids differ or may change, and they have too many blocks for a batch in which each block searches for
    /// its member.
    Grids,
    /// One launch would join chains and fork them again.
    Joins,
    /// One launch would add too many dependencies.
    Edges,
    /// They are steps of chains that already fill the device.
    Chains,
    /// They are steps of chains that run in two halves.
    Halves,
    /// They are steps of chains, and each chain is one kernel.
    Fused,
    /// They are steps of chains, and several chains are one kernel.
    Stacked,
    /// They are steps of chains, and each chain is one kernel. All chains could be one kernel but for this reason.
    Unstacked(String),
    /// Their parameters do not fit into one launch, or the budget cannot hold their buffers at the same time.
    ParameterSpace,
}

impl UnbatchedReason {
    /// Returns the change to the program that would make them one launch. `None` if no change is known, or if one
    /// launch would be slower.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            UnbatchedReason::NotAllowed => "leave the option `launches` out",
            UnbatchedReason::Bodies
            | UnbatchedReason::Slower(_)
            | UnbatchedReason::Devices
            | UnbatchedReason::Chains
            | UnbatchedReason::Halves
            | UnbatchedReason::Fused
            | UnbatchedReason::Stacked
            | UnbatchedReason::Joins => {
                return None;
            }
            UnbatchedReason::Edges | UnbatchedReason::Kernel(_) | UnbatchedReason::Unstacked(_) => {
                return None;
            }
            UnbatchedReason::Setter => {
                "make the block and the shared memory independent of scalars with setters"
            }
            UnbatchedReason::Blocks => "give them equal blocks and shared memory",
            UnbatchedReason::DifferentStarts => {
                "let the same launches, or launches of equal kernels and grids, come before each"
            }
            UnbatchedReason::DifferentEnds => {
                "give them equal grids and trip counts, or let the same launches come after each"
            }
            UnbatchedReason::Grids => "give them equal grids that no setter changes, with a free dimension",
            UnbatchedReason::ParameterSpace => "pass fewer parameters, or raise the budget",
        })
    }
}

impl fmt::Display for UnbatchedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let UnbatchedReason::Unstacked(reason) = self {
            return write!(
                f,
                "they are steps of chains, each of which is one kernel, and not all of them: {reason}"
            );
        }
        f.write_str(match self {
            UnbatchedReason::NotAllowed => "the option `launches` does not allow it",
            UnbatchedReason::Bodies => "they are in different bodies of conditionals",
            UnbatchedReason::Kernel(reason)
            | UnbatchedReason::Slower(reason)
            | UnbatchedReason::Unstacked(reason) => reason,
            UnbatchedReason::Setter => "a setter may change the block or the shared memory",
            UnbatchedReason::Blocks => "their blocks or their shared memory differ",
            UnbatchedReason::DifferentStarts => "their predecessors may end at different times",
            UnbatchedReason::Devices => {
                "work passes from device to device in pieces, and one launch would wait for all pieces"
            }
            UnbatchedReason::DifferentEnds => "they may take different times, and have different successors",
            UnbatchedReason::Grids => "their grids differ or may change, and they have many blocks",
            UnbatchedReason::Joins => "one launch would join chains and fork them again",
            UnbatchedReason::Edges => "one launch would add too many edges",
            UnbatchedReason::Chains => {
                "they are steps of chains that fill the device: each would wait for the longest"
            }
            UnbatchedReason::Halves => {
                "they are steps of chains that run in two halves: one runs while the other ends"
            }
            UnbatchedReason::Fused => "they are steps of chains, each of which is one kernel instead",
            UnbatchedReason::Stacked => {
                "they are steps of chains; as many chains as parameters allow are one kernel"
            }
            UnbatchedReason::ParameterSpace => {
                "their parameters do not fit into one launch, or their buffers do not fit into the budget"
            }
        })
    }
}

/// A full edge between two kernels whose consumer could start before the producer has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FullEdge {
    /// The producer, or the first member of its batch.
    pub from: SourceLocation,
    /// The consumer, or the first member of its batch.
    pub to: SourceLocation,
    /// The reason why the edge is full and not programmatic.
    pub reason: FullEdgeReason,
    /// The number of such edges between the same two lines.
    pub times: usize,
}

/// A reason why an edge between two kernels is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FullEdgeReason {
    /// This many nodes depend on the producer.
    Dependents(usize),
    /// The consumer depends on this many nodes.
    Dependencies(usize),
    /// Other launches run concurrently with them, and no measurement on this device covers that case.
    Concurrent,
    /// The two are on different devices.
    Devices,
}

impl FullEdgeReason {
    /// Returns the text without numbers, which all reasons of this variant share.
    pub(super) fn without_details(self) -> String {
        match self {
            FullEdgeReason::Dependents(_) => "several nodes depend on the first".to_owned(),
            FullEdgeReason::Dependencies(_) => "the second depends on several nodes".to_owned(),
            FullEdgeReason::Concurrent | FullEdgeReason::Devices => self.to_string(),
        }
    }

    /// Returns the change to the program that would make the edge programmatic, if one is known.
    #[must_use]
    pub fn help(self) -> Option<&'static str> {
        match self {
            FullEdgeReason::Dependents(_) => {
                Some("merge the launches that depend on it, or put them in sequence")
            }
            FullEdgeReason::Dependencies(_) => {
                Some("merge the launches that it depends on, or put them in sequence")
            }
            FullEdgeReason::Concurrent | FullEdgeReason::Devices => None,
        }
    }
}

impl fmt::Display for FullEdgeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FullEdgeReason::Dependents(count) => write!(f, "{count} nodes depend on the first"),
            FullEdgeReason::Dependencies(count) => write!(f, "the second depends on {count} nodes"),
            FullEdgeReason::Concurrent => {
                f.write_str("other launches run concurrently, which was not measured on this device")
            }
            FullEdgeReason::Devices => f.write_str("they are on different devices"),
        }
    }
}

/// A branch that was serialized after another branch of its lane.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SerializedBranch {
    /// The first launch of the branch.
    pub at: SourceLocation,
    /// The last launch of the previous branch in the lane.
    pub after: SourceLocation,
    /// The number of such pairs of branches.
    pub times: usize,
}

/// A line of a report.
pub(super) struct ReportLine {
    pub text: String,
    /// The text with loop indices replaced by `..`.
    pub folded: String,
    /// The number of entries that the line counts for.
    pub times: usize,
}

impl ReportLine {
    /// Returns a line whose text has no loop indices.
    pub fn plain(text: String, times: usize) -> ReportLine {
        ReportLine { folded: text.clone(), text, times }
    }
}

/// Returns `, n times` if an entry stands for several, and an empty text otherwise.
pub(super) fn times(count: usize) -> String {
    if count > 1 { format!(", {count} times") } else { String::new() }
}

/// Formats a statement with its line. `shown` maps its name: either unchanged or with the loop indices folded.
pub(super) fn at_line(
    SourceLocation { name, line, .. }: &SourceLocation,
    shown: fn(&str) -> String,
) -> String {
    format!("`{}` (line {line})", shown(name))
}

impl RepeatedStatement {
    fn text(&self, shown: fn(&str) -> String) -> String {
        match self.times {
            1 => at_line(&self.at, shown),
            times => format!("{} {times} times", at_line(&self.at, shown)),
        }
    }
}

impl fmt::Display for RepeatedStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(str::to_owned))
    }
}

impl fmt::Display for UnbatchedLaunches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(str::to_owned, self.times))
    }
}

impl UnbatchedLaunches {
    /// Formats the entry as one that stands for `groups` groups.
    fn text(&self, shown: fn(&str) -> String, groups: usize) -> String {
        let mut launches: Vec<RepeatedStatement> = Vec::new();
        for next in &self.launches {
            let at = next.at.clone().with_name(shown(&next.at.name));
            match launches.last_mut() {
                Some(last) if last.at == at => last.times += next.times,
                _ => launches.push(RepeatedStatement { at, times: next.times }),
            }
        }
        let launches: Vec<String> = launches.iter().map(ToString::to_string).collect();
        let reasons: Vec<String> = self.reasons.iter().map(ToString::to_string).collect();
        let mut text = format!("{} in {} nodes{}", launches.join(", "), self.nodes, times(groups));
        if !reasons.is_empty() {
            text.push_str(&format!(": {}", reasons.join("; ")));
        }
        for help in self.reasons.iter().filter_map(UnbatchedReason::help) {
            text.push_str(&format!("\n    help: {help}"));
        }
        text
    }

    pub(super) fn line(&self) -> ReportLine {
        ReportLine { text: self.text(str::to_owned, 1), folded: self.text(folded, 1), times: self.times }
    }
}

impl fmt::Display for FullEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(str::to_owned, self.times))
    }
}

impl FullEdge {
    /// Formats the two launches, with both lines after them.
    pub(super) fn pair(&self, shown: fn(&str) -> String) -> String {
        let (from, to) = (&self.from, &self.to);
        format!("`{}` to `{}` (lines {}, {})", shown(&from.name), shown(&to.name), from.line, to.line)
    }

    /// Formats the entry as one that stands for `edges` edges.
    fn text(&self, shown: fn(&str) -> String, edges: usize) -> String {
        let FullEdge { from, to, reason, .. } = self;
        let (from, to) = (at_line(from, shown), at_line(to, shown));
        let mut text = format!("from {from} to {to}{}: {reason}", times(edges));
        if let Some(help) = reason.help() {
            text.push_str(&format!("\n    help: {help}"));
        }
        text
    }

    pub(super) fn line(&self) -> ReportLine {
        ReportLine { text: self.text(str::to_owned, 1), folded: self.text(folded, 1), times: self.times }
    }
}

impl fmt::Display for SerializedBranch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(str::to_owned, self.times))
    }
}

impl SerializedBranch {
    /// Formats the entry as one that stands for `pairs` pairs.
    fn text(&self, shown: fn(&str) -> String, pairs: usize) -> String {
        format!(
            "{} after {}{}: many small concurrent branches take longer, and so does their launch on the host\n    \
             help: \
             launches of one kernel with equal blocks and grids become one launch instead",
            at_line(&self.at, shown),
            at_line(&self.after, shown),
            times(pairs)
        )
    }

    pub(super) fn line(&self) -> ReportLine {
        ReportLine { text: self.text(str::to_owned, 1), folded: self.text(folded, 1), times: self.times }
    }
}
