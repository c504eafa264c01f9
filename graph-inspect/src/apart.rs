//! Report entries for launches that could have been merged or overlapped further, with the reasons why they were
//! not.
//!
//! `explaining` builds the entries from the decisions of the compiler; `grouped` and `text` print them.

use std::fmt;

use cuweave_core::launches::NamedKernel;
use cuweave_core::location::At;
use cuweave_core::picture::folded;

/// A statement and how often it occurs in a row. The iterations of a loop share one line of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repeated {
    /// The statement.
    pub at: At,
    /// The number of consecutive launches of the statement.
    pub times: usize,
}

/// Launches of one kernel that are not ordered by any dependency but run as several nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Apart {
    /// The kernel.
    pub kernel: NamedKernel,
    /// The launches.
    pub launches: Vec<Repeated>,
    /// The number of nodes that run them.
    pub nodes: usize,
    /// The reasons why they are not one launch.
    pub reasons: Vec<WhyApart>,
    /// The number of groups with the same lines and the same reasons.
    pub times: usize,
}

/// A reason why launches of one kernel are not one launch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WhyApart {
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
    Begins,
    /// They may take different times, and they have different successors.
    Ends,
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
    Room,
}

impl WhyApart {
    /// Returns the change to the program that would make them one launch. `None` if no change is known, or if one
    /// launch would be slower.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            WhyApart::NotAllowed => "leave the option `launches` out",
            WhyApart::Bodies
            | WhyApart::Slower(_)
            | WhyApart::Chains
            | WhyApart::Halves
            | WhyApart::Fused
            | WhyApart::Stacked
            | WhyApart::Joins => {
                return None;
            }
            WhyApart::Edges | WhyApart::Kernel(_) | WhyApart::Unstacked(_) => return None,
            WhyApart::Setter => "let no scalar that has a setter reach the block or the shared memory",
            WhyApart::Blocks => "give them equal blocks and shared memory",
            WhyApart::Begins => {
                "let the same launches, or launches of equal kernels and grids, come before each"
            }
            WhyApart::Ends => {
                "give them equal grids and trip counts, or let the same launches come after each"
            }
            WhyApart::Grids => "give them equal grids that no setter changes, with a free dimension",
            WhyApart::Room => "pass fewer parameters, or raise the budget",
        })
    }
}

impl fmt::Display for WhyApart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let WhyApart::Unstacked(reason) = self {
            return write!(
                f,
                "they are steps of chains, each of which is one kernel, and not all of them: {reason}"
            );
        }
        f.write_str(match self {
            WhyApart::NotAllowed => "the option `launches` does not allow it",
            WhyApart::Bodies => "they stand in different bodies of conditions",
            WhyApart::Kernel(reason) | WhyApart::Slower(reason) | WhyApart::Unstacked(reason) => reason,
            WhyApart::Setter => "a setter may change the block or the shared memory",
            WhyApart::Blocks => "their blocks or their shared memory differ",
            WhyApart::Begins => "they come after launches that may end at different times",
            WhyApart::Ends => "they may last for different times, and different launches come after them",
            WhyApart::Grids => "their grids differ or may be set, and they have many blocks",
            WhyApart::Joins => "one launch would join chains and fork them again",
            WhyApart::Edges => "one launch would add too many edges",
            WhyApart::Chains => {
                "they are steps of chains that fill the device: each would wait for the longest"
            }
            WhyApart::Halves => {
                "they are steps of chains that run in two halves: one works while the other ends"
            }
            WhyApart::Fused => "they are steps of chains, each of which is one kernel instead",
            WhyApart::Stacked => {
                "they are steps of chains, of which as many are one kernel as parameters fit"
            }
            WhyApart::Room => {
                "their parameters do not fit into one launch, or their buffers not into the budget"
            }
        })
    }
}

/// A full edge between two kernels whose consumer could start before the producer has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FullEdge {
    /// The producer, or the first member of its batch.
    pub from: At,
    /// The consumer, or the first member of its batch.
    pub to: At,
    /// The reason why the edge is full and not programmatic.
    pub reason: WhyFull,
    /// The number of such edges between the same two lines.
    pub times: usize,
}

/// A reason why an edge between two kernels is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WhyFull {
    /// This many nodes depend on the producer.
    Dependents(usize),
    /// The consumer depends on this many nodes.
    Dependencies(usize),
    /// Other launches run concurrently with them, and no measurement on this device covers that case.
    Beside,
    /// The two are on different devices.
    Devices,
}

impl WhyFull {
    /// Returns the text without numbers, which all reasons of this variant share.
    pub(super) fn of_kind(self) -> String {
        match self {
            WhyFull::Dependents(_) => "several nodes depend on the first".to_owned(),
            WhyFull::Dependencies(_) => "the second depends on several nodes".to_owned(),
            WhyFull::Beside | WhyFull::Devices => self.to_string(),
        }
    }

    /// Returns the change to the program that would make the edge programmatic, if one is known.
    #[must_use]
    pub fn help(self) -> Option<&'static str> {
        match self {
            WhyFull::Dependents(_) => {
                Some("launches that become one, or that follow each other, depend on it once")
            }
            WhyFull::Dependencies(_) => {
                Some("launches that become one, or that follow each other, precede it once")
            }
            WhyFull::Beside | WhyFull::Devices => None,
        }
    }
}

impl fmt::Display for WhyFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WhyFull::Dependents(count) => write!(f, "{count} nodes depend on the first"),
            WhyFull::Dependencies(count) => write!(f, "the second depends on {count} nodes"),
            WhyFull::Beside => {
                f.write_str("other launches run beside them, which is not measured on this device")
            }
            WhyFull::Devices => f.write_str("they are on different devices"),
        }
    }
}

/// A branch that was serialized after another branch of its lane.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InLane {
    /// The first launch of the branch.
    pub at: At,
    /// The last launch of the previous branch in the lane.
    pub after: At,
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
pub(super) fn at_line(At { name, line, .. }: &At, shown: fn(&str) -> String) -> String {
    format!("`{}` (line {line})", shown(name))
}

impl Repeated {
    fn text(&self, shown: fn(&str) -> String) -> String {
        match self.times {
            1 => at_line(&self.at, shown),
            times => format!("{} {times} times", at_line(&self.at, shown)),
        }
    }
}

impl fmt::Display for Repeated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(str::to_owned))
    }
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(str::to_owned, self.times))
    }
}

impl Apart {
    /// Formats the entry as one that stands for `groups` groups.
    fn text(&self, shown: fn(&str) -> String, groups: usize) -> String {
        let mut launches: Vec<Repeated> = Vec::new();
        for next in &self.launches {
            let at = next.at.clone().with_name(shown(&next.at.name));
            match launches.last_mut() {
                Some(last) if last.at == at => last.times += next.times,
                _ => launches.push(Repeated { at, times: next.times }),
            }
        }
        let launches: Vec<String> = launches.iter().map(ToString::to_string).collect();
        let reasons: Vec<String> = self.reasons.iter().map(ToString::to_string).collect();
        let mut text = format!("{} in {} nodes{}", launches.join(", "), self.nodes, times(groups));
        if !reasons.is_empty() {
            text.push_str(&format!(": {}", reasons.join("; ")));
        }
        for help in self.reasons.iter().filter_map(WhyApart::help) {
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

impl fmt::Display for InLane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(str::to_owned, self.times))
    }
}

impl InLane {
    /// Formats the entry as one that stands for `pairs` pairs.
    fn text(&self, shown: fn(&str) -> String, pairs: usize) -> String {
        format!(
            "{} after {}{}: many small branches side by side take longer, and the host longer to launch them\n    \
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
