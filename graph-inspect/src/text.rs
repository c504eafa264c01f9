//! Prints a report: one line per subject, without what is 0, and with repetitions over loop iterations as one
//! entry.

use std::fmt::{Display, Formatter, Result};

use cuweave_core::location::SourceLocation;
use cuweave_core::picture::{bytes, counted, folded};

use super::brief::{ReportLines, texts};
use super::folding::repetitions;
use super::grouped;
use super::report::{
    AssumedDeclaration, AssumedRegisters, Budget, BudgetStep, ForwardedElements, MemoryPlan, Report,
    UnwrittenOutput,
};
use super::subject::{MemoryHint, MemoryHintKind, SizeEffect, SizeState, SwitchState};
use super::unbatched::ReportLine;

/// The width of the column of subjects.
const SUBJECT: usize = 13;
/// The maximum number of members of a batch or chain that are named.
const MAX_MEMBERS: usize = 10;

/// Displays all lines of a report. See [`Report::all`].
#[derive(Clone, Copy, Debug)]
pub struct FullReport<'r>(&'r Report);

impl Display for FullReport<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.0.lines(Detail::All).all())
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.lines(Detail::Brief).brief())
    }
}

/// The level of detail of a report.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// One line for each reason.
    Brief,
    /// One line for each entry.
    All,
}

impl Report {
    /// Returns the report with all of its lines. The `Display` of the report has at most 12 lines, with one for
    /// each reason. In both, entries that repeat in loops are one line with a count.
    #[must_use]
    pub fn all(&self) -> FullReport<'_> {
        FullReport(self)
    }

    fn lines(&self, extent: Detail) -> ReportLines {
        let mut lines = ReportLines::default();
        lines.head(line("nodes", self.nodes_line()));
        lines.head(self.edges_line());
        if self.devices > 1 {
            let [whole, tenth] = [self.crossings * 11 / 2, self.crossings * 11 % 2 * 5];
            let text = format!(
                "{}, {} edges between devices: up to {whole}.{tenth} us, 5.5 each, where no other work hides them",
                self.devices, self.crossings
            );
            lines.head(line("devices", text));
        }
        lines.head(self.memory_line());
        lines.head(self.plan.as_ref().map(|plan| line("temporaries", plan)));
        lines.head(self.exec_line());
        lines.list("managed", "hints", self.hints.iter().map(hint_line));
        lines.list("switches", "switches", self.switches.iter().map(switch_line));
        lines.list("sizes", "sizes", self.sizes.iter().map(size_line));
        self.launches(&mut lines, extent);
        lines.list("not all written", "unwritten_outputs", self.unwritten_outputs.iter().map(unwritten_line));
        let assumed = match extent {
            Detail::Brief => grouped::assumed_declarations(&self.assumed_declarations),
            Detail::All => {
                self.assumed_declarations.iter().map(|one| ReportLine::plain(one.to_string(), 1)).collect()
            }
        };
        lines.list("assumed, not proved", "assumed_declarations", assumed.into_iter());
        if let Some(budget) = &self.budget {
            lines.head(line("budget", budget.head()));
            lines.list("  shared", "budget.steps", budget.step_lines());
        }
        lines
    }
}

fn line(subject: &str, text: impl Display) -> String {
    format!("{subject:<SUBJECT$}{text}")
}

impl Report {
    fn nodes_line(&self) -> String {
        let Report { kernels, fills, copies, calls, captured, hubs, allocs, frees, .. } = *self;
        let mut parts: Vec<String> = [(kernels, "kernel"), (fills, "fill"), (copies, "copy")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| counted(count, word))
            .collect();
        if calls > 0 {
            parts.push(format!("{captured} of {}", counted(calls, "library call")));
        }
        let others = [
            (self.conditions, counted(self.conditions, "conditional node")),
            (self.setters, format!("{} that set conditions", counted(self.setters, "kernel"))),
            (self.hosts, counted(self.hosts, "host statement")),
            (self.events, format!("{} of events", self.events)),
            (self.syncs, format!("{} of flags and semaphores", self.syncs)),
            (hubs, counted(hubs, "hub")),
            (allocs, counted(allocs, "alloc")),
            (frees, counted(frees, "free")),
        ];
        parts.extend(others.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text));
        match parts.is_empty() {
            true => "0".to_owned(),
            false => format!("{}: {}", self.nodes(), parts.join(", ")),
        }
    }

    /// Returns the line about edges. `None` if there are none.
    fn edges_line(&self) -> Option<String> {
        let Report { edges, edges_before_reduction: before, depth, .. } = *self;
        let before = if before > 0 { format!(", {before} before reduction") } else { String::new() };
        (edges > 0).then(|| line("edges", format!("{edges}{before}; depth {depth}")))
    }

    fn memory_line(&self) -> Option<String> {
        let Report { planned_bytes, allocated_bytes, reserved_bytes, .. } = *self;
        let reserved = match reserved_bytes {
            0 => String::new(),
            _ => format!(", {} reserved", bytes(reserved_bytes)),
        };
        let shared = match allocated_bytes > planned_bytes {
            true => format!(" for {} in alloc nodes, which the driver places", bytes(allocated_bytes)),
            false => String::new(),
        };
        let planned = bytes(planned_bytes);
        (planned_bytes > 0).then(|| line("memory", format!("{planned} planned{shared}{reserved}")))
    }

    /// Returns the line about what instantiating takes. `None` for an empty graph.
    fn exec_line(&self) -> Option<String> {
        let Report { exec_bytes, width, .. } = *self;
        let beside = if width > 1 { format!(", {width} nodes side by side") } else { String::new() };
        (exec_bytes > 0).then(|| line("exec", format!("about {} of the driver{beside}", bytes(exec_bytes))))
    }

    /// Adds the lines about launch changes.
    fn launches(&self, lines: &mut ReportLines, extent: Detail) {
        let Report { launches, kernels, overlapped, serialized, .. } = *self;
        let mark = if self.assumed_registers.is_empty() { "" } else { "*" };
        let one = !self.batches.is_empty() || !self.fused.is_empty();
        if one || overlapped > 0 || serialized > 0 {
            let mut text = format!("{launches} in {kernels}{mark} nodes");
            if overlapped > 0 {
                text.push_str(&format!(", {overlapped}{mark} start early"));
            }
            if serialized > 0 {
                text.push_str(&format!(
                    ", {serialized}{mark} {} serialized",
                    if serialized == 1 { "branch" } else { "branches" }
                ));
            }
            lines.head(line("launches", text));
        }
        let batches = self.batches.iter().map(|members| merged_node_line(members, 1, None));
        lines.list("  one launch", "batches", batches);
        let forwarded = self.forwarded.iter().map(Some).chain(std::iter::repeat(None));
        let chains = self.stacked.iter().copied().chain(std::iter::repeat(1));
        let fused = self.fused.iter().zip(chains).zip(forwarded);
        let node = |((members, chains), forwarded): ((&Vec<SourceLocation>, usize), _)| {
            merged_node_line(members, chains, forwarded)
        };
        lines.list("  fused", "fused", fused.map(node));
        let left_alone = self.left_alone.iter().map(|entry| ReportLine::plain(entry.to_string(), 1));
        lines.list("  left alone", "left_alone", left_alone);
        lines.list("  not one launch", "unbatched", self.unbatched.iter().map(|entry| entry.line()));
        let (unfused, full_edges) = match extent {
            Detail::Brief => (grouped::unfused(&self.unfused), grouped::full_edges(&self.full_edges)),
            Detail::All => (
                self.unfused.iter().map(|entry| entry.line()).collect(),
                self.full_edges.iter().map(|entry| entry.line()).collect(),
            ),
        };
        lines.list("  not fused", "unfused", unfused.into_iter());
        lines.list("  full edge", "full_edges", full_edges.into_iter());
        lines.list(
            "  in a lane",
            "serialized_branches",
            self.serialized_branches.iter().map(|entry| entry.line()),
        );
        if !self.assumed_registers.is_empty() {
            let registers: Vec<String> = self.assumed_registers.iter().map(ToString::to_string).collect();
            lines.head(format!(
                "  * if a thread has the registers that the simulated driver assumes: {}",
                registers.join("; ")
            ));
        }
    }
}

/// Returns the line of a node that replaces several launches. `chains` is the number of stacked chains.
fn merged_node_line(
    members: &[SourceLocation],
    chains: usize,
    forwarded: Option<&ForwardedElements>,
) -> ReportLine {
    let changes = forwarded.filter(|forwarded| forwarded.loads > 0 || forwarded.stores > 0);
    let text = |names: &dyn Fn(&SourceLocation) -> String| {
        let mut text = members_of(members, names);
        if chains > 1 {
            text.push_str(&format!(", of {chains} chains side by side"));
        }
        if let Some(forwarded) = changes {
            text.push_str(&format!("\n    {}", forwarded.text(names)));
        }
        text
    };
    ReportLine { text: text(&|at| at.name.clone()), folded: text(&|at| folded(&at.name)), times: 1 }
}

/// Lists the members of a node. Repetitions are merged, and members on the same line that differ in loop indices
/// are one entry.
fn members_of(members: &[SourceLocation], name: &dyn Fn(&SourceLocation) -> String) -> String {
    let keys: Vec<(String, &str, u32)> =
        members.iter().map(|at| (folded(&at.name), &at.file[..], at.line)).collect();
    let mut items = Vec::new();
    for (range, times) in repetitions(&keys) {
        let first = range.clone().map(|at| {
            let name_in = |repetition: usize| &members[at + repetition * range.len()].name;
            let equal = (1..times).all(|repetition| name_in(repetition) == name_in(0));
            let name = if equal { name(&members[at]) } else { keys[at].0.clone() };
            format!("`{name}` (line {})", members[at].line)
        });
        let first: Vec<String> = first.collect();
        match (times, first.as_slice()) {
            (1, _) => items.extend(first),
            (_, [one]) => items.push(format!("{one} {times} times")),
            _ => items.push(format!("({}) {times} times", first.join(", "))),
        }
    }
    let more = items.len().saturating_sub(MAX_MEMBERS);
    items.truncate(MAX_MEMBERS);
    if more > 0 {
        items.push(format!("and {more} more"));
    }
    items.join(", ")
}

fn hint_line(hint: &MemoryHint) -> ReportLine {
    ReportLine { text: hint.to_string(), folded: hint.text(&folded(&hint.at.name)), times: 1 }
}

fn switch_line(switch: &SwitchState) -> ReportLine {
    let state = if switch.enabled { "on" } else { "off" };
    let text = |name: &str| format!("`{name}` (line {}) is {state}", switch.at.line);
    ReportLine { text: text(&switch.at.name), folded: text(&folded(&switch.at.name)), times: 1 }
}

/// Returns the line of a size. A statement is listed once, by the first of its parts that change.
fn size_line(size: &SizeState) -> ReportLine {
    let SizeState { at, least, most, value, moved } = size;
    let text = |names: &dyn Fn(&SourceLocation) -> String| {
        let kinds =
            [(SizeEffect::Grid, "grids"), (SizeEffect::Range, "ranges"), (SizeEffect::Value, "values")];
        let parts: Vec<String> = kinds
            .into_iter()
            .filter_map(|(kind, word)| {
                let moved = moved.iter().filter(|one| one.effects.first() == Some(&kind));
                let statements: Vec<SourceLocation> = moved.map(|one| one.at.clone()).collect();
                (!statements.is_empty()).then(|| format!("the {word} of {}", members_of(&statements, names)))
            })
            .collect();
        let parts = if parts.is_empty() { "nothing".to_owned() } else { parts.join("; ") };
        format!("`{}` (line {}) is {value}, of {least} to {most}, and moves {parts}", at.name, at.line)
    };
    ReportLine { text: text(&|at| at.name.clone()), folded: text(&|at| folded(&at.name)), times: 1 }
}

impl MemoryHint {
    fn text(&self, name: &str) -> String {
        let MemoryHint { at: SourceLocation { line, .. }, kind, location, bytes: size } = self;
        let location = location.as_deref().unwrap_or_default();
        let what = match kind {
            MemoryHintKind::ReadMostly => "advised as mostly read".to_owned(),
            MemoryHintKind::PreferredLocation => format!("advised to stay on {location}"),
            MemoryHintKind::AccessedBy => format!("advised as accessed by {location}"),
            MemoryHintKind::Discard => "discarded before each launch".to_owned(),
            MemoryHintKind::Prefetch => format!("moved to {location} before each launch"),
        };
        format!("`{name}` (line {line}) {what}, {}", bytes(*size))
    }
}

impl Display for MemoryHint {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.text(&self.at.name))
    }
}

fn unwritten_line(entry: &UnwrittenOutput) -> ReportLine {
    ReportLine { text: entry.to_string(), folded: entry.text(&folded(&entry.at.name)), times: 1 }
}

impl UnwrittenOutput {
    fn text(&self, name: &str) -> String {
        let UnwrittenOutput { at: SourceLocation { line, .. }, kernel, parameter, written, missing } = self;
        format!(
            "`{name}` (line {line}) writes {written} elements of {kernel}.{parameter}, and not element {missing}"
        )
    }
}

impl Display for UnwrittenOutput {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.text(&self.at.name))
    }
}

impl Display for AssumedRegisters {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let names: Vec<String> = self.kernels.iter().map(|name| format!("`{name}`")).collect();
        write!(f, "{} of {}", self.registers, names.join(", "))
    }
}

impl ForwardedElements {
    fn text(&self, name: &dyn Fn(&SourceLocation) -> String) -> String {
        let ForwardedElements { loads, stores, barriers, elided } = self;
        let parts =
            [(loads, "load", " from registers"), (stores, "store", " left out"), (barriers, "barrier", "")];
        let some = parts.into_iter().filter(|(count, ..)| **count > 0);
        let mut parts: Vec<String> = some.map(|(count, word, more)| counted(*count, word) + more).collect();
        if !elided.is_empty() {
            parts.push(format!("without memory: {}", members_of(elided, name)));
        }
        if parts.is_empty() { "no barriers".to_owned() } else { parts.join(", ") }
    }
}

impl Display for ForwardedElements {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.text(&|at| at.name.clone()))
    }
}

impl Display for AssumedDeclaration {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}.{}: {}: {}", self.kernel, self.parameter, self.what, self.reason)
    }
}

impl Display for MemoryPlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let MemoryPlan { planned, antichain, floor, .. } = *self;
        let [planned, antichain, floor] = [planned, antichain, floor].map(bytes);
        let arms: Vec<String> = self.antichain_arms.iter().map(|arm| format!("`{arm}`")).collect();
        let within = if arms.is_empty() { String::new() } else { format!(" in {}", arms.join(", ")) };
        let each: Vec<String> = self.devices.iter().map(|&own| bytes(own)).collect();
        let each = if each.len() > 1 { format!(" ({} by device)", each.join(", ")) } else { String::new() };
        write!(f, "{planned} planned{each}, bound {antichain}{within}, floor {floor}")?;
        if self.optimal { write!(f, ": optimal") } else { Ok(()) }
    }
}

impl Budget {
    fn head(&self) -> String {
        let Budget { bytes: budget, edges, path_before: before, path_after: after, .. } = self;
        let edges = counted(edges.len(), "edge");
        format!("{}: {edges} added, depth {before} before and {after} now", bytes(*budget))
    }

    fn step_lines(&self) -> impl Iterator<Item = ReportLine> {
        let text = |step: &BudgetStep, name: &dyn Fn(&str) -> String| {
            let (receiver, donor) = (name(&step.receiver), name(&step.donor));
            format!("`{receiver}` after `{donor}`: saves {}, costs {}", bytes(step.saves), step.costs)
        };
        let line = move |step: &BudgetStep| ReportLine {
            text: text(step, &|name| name.to_owned()),
            folded: text(step, &folded),
            times: 1,
        };
        self.steps.iter().map(line)
    }
}

impl Display for Budget {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.head())?;
        texts("  shared", self.step_lines()).iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::unbatched::{FullEdge, FullEdgeReason};
    use super::super::unfused::{UnfusedPair, UnfusedReason};
    use super::*;

    fn at(name: &str, line: u32) -> SourceLocation {
        SourceLocation::new(name, "src/model.rs", line)
    }

    #[test]
    fn what_is_0_is_not_printed() {
        assert_eq!(Report::default().to_string(), "nodes        0");
        let report =
            Report { kernels: 3, allocs: 1, frees: 1, copies: 2, edges: 4, depth: 3, ..Report::default() };
        assert_eq!(
            report.to_string(),
            "nodes        7: 3 kernels, 2 copies, 1 alloc, 1 free\nedges        4; depth 3"
        );
    }

    #[test]
    fn repetitions_of_loops_are_one() {
        let layer = |i: usize| vec![at(&format!("layer[{i}].up"), 7), at(&format!("layer[{i}].relu"), 8)];
        let forwarded = |i: usize| ForwardedElements {
            loads: 2,
            stores: 1,
            barriers: 1,
            elided: vec![at(&format!("layer[{i}].h"), 6)],
        };
        let side_by_side = (0..3).flat_map(|_| [at("c", 10), at("d", 11)]).collect();
        let report = Report {
            launches: 66,
            kernels: 24,
            fused: (0..22).map(layer).chain([side_by_side]).collect(),
            stacked: [[1; 22].as_slice(), &[3]].concat(),
            forwarded: (0..22).map(forwarded).collect(),
            batches: vec![
                (0..4).flat_map(|_| [at("a", 1), at("b", 2)]).collect(),
                (0..3).map(|i| at(&format!("w[{i}].step"), 3)).chain([at("last", 4)]).collect(),
            ],
            unwritten_outputs: (0..2)
                .map(|i| UnwrittenOutput {
                    at: at(&format!("layer[{i}].pad"), 9),
                    kernel: "pad".to_owned(),
                    parameter: "y".to_owned(),
                    written: 4,
                    missing: 4,
                })
                .collect(),
            ..Report::default()
        };
        let text = report.to_string();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "launches     66 in 24 nodes",
                "  one launch: (`a` (line 1), `b` (line 2)) 4 times",
                "  one launch: `w[..].step` (line 3) 3 times, `last` (line 4)",
                "  fused, 22 times: `layer[..].up` (line 7), `layer[..].relu` (line 8)",
                "    2 loads from registers, 1 store left out, 1 barrier, without memory: `layer[..].h` (line 6)",
                "  fused: (`c` (line 10), `d` (line 11)) 3 times, of 3 chains side by side",
                "not all written, 2 times: `layer[..].pad` (line 9) writes 4 elements of pad.y, and not element 4",
            ]
        );
    }

    #[test]
    fn pairs_of_one_reason_are_one_line() {
        let pair = |first: &str, second: &str, line, times, reason| UnfusedPair {
            first: at(first, line),
            second: at(second, line + 1),
            reason,
            times,
        };
        let grids = |blocks| UnfusedReason::Grids([blocks, 1, 1], [1, 1, 1]);
        let mut report = Report {
            unfused: vec![
                pair("embed", "norm", 1, 1, grids(6)),
                pair("layer[0].up", "layer[0].add", 3, 1, grids(384)),
                pair("layer[1].up", "layer[1].add", 3, 1, grids(384)),
                pair("norm", "scale", 5, 2, UnfusedReason::SharedState),
                pair("scale", "add", 6, 1, UnfusedReason::Blocks([32, 1, 1], [64, 1, 1])),
            ],
            ..Report::default()
        };
        let text =
            |report: &Report| report.to_string().lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            text(&report),
            [
                "  not fused: `scale` (line 6) and `add` (line 7): their blocks differ: 32 and 64 threads",
                "    help: give them blocks of equal threads",
                "  not fused, 2 times: `norm` (line 5) and `scale` (line 6): only atomics or variables that kernels \
                 write order the two",
                "  not fused, 3 times: their grids differ: `embed` and `norm` (lines 1, 2), `layer[..].up` and \
                 `layer[..].add` (lines 3, 4) 2 times",
                "    help: give them equal grids, and each block the elements that the same block of the other has",
            ]
        );
        report.unfused = (0..14).map(|i| pair("a", "b", i, 1, grids(i + 2))).collect();
        let [line, _help] = &text(&report)[..] else { panic!("{report}") };
        assert!(
            line.starts_with("  not fused, 14 times: their grids differ: `a` and `b` (lines 0, 1), "),
            "{line}"
        );
        assert!(line.ends_with("`a` and `b` (lines 3, 4), and 10 more pairs"), "{line}");
        assert_eq!(report.all().to_string().lines().filter(|line| line.contains("not fused")).count(), 14);
        report.unfused.truncate(1);
        assert!(text(&report)[0].ends_with(": their grids differ: 2 and 1 blocks"), "{report}");
    }

    #[test]
    fn full_edges_of_one_reason_are_one_line() {
        let edge = |from: &str, to: &str, line, reason| FullEdge {
            from: at(from, line),
            to: at(to, line + 1),
            reason,
            times: 1,
        };
        let report = Report {
            full_edges: vec![
                edge("a", "b", 1, FullEdgeReason::Dependents(2)),
                edge("a", "c", 2, FullEdgeReason::Dependents(3)),
                edge("layer[0].a", "layer[0].b", 7, FullEdgeReason::Dependents(3)),
                edge("layer[1].a", "layer[1].b", 7, FullEdgeReason::Dependents(3)),
                edge("c", "d", 4, FullEdgeReason::Concurrent),
            ],
            ..Report::default()
        };
        let text = report.to_string();
        assert_eq!(
            text.lines().skip(1).collect::<Vec<_>>(),
            [
                "  full edge, 4 times: several nodes depend on the first: `a` to `b` (lines 1, 2), `a` to `c` (lines \
                 2, 3), `layer[..].a` to `layer[..].b` (lines 7, 8) 2 times",
                "    help: merge the launches that depend on it, or put them in sequence",
                "  full edge: from `c` (line 4) to `d` (line 5): other launches run concurrently, \
                 which was not measured on this device",
            ]
        );
    }

    #[test]
    fn long_lists_end() {
        let members: Vec<SourceLocation> = (0..40).map(|i| at(&format!("s{i}"), i)).collect();
        let report = Report {
            fused: vec![members; 1],
            assumed_declarations: (0..40)
                .map(|i| AssumedDeclaration {
                    kernel: format!("k{i}"),
                    parameter: "x".to_owned(),
                    what: cuweave_ptx::declare::DeclaredPart::Coverage,
                    reason: "an index is read from memory".to_owned(),
                })
                .collect(),
            ..Report::default()
        };
        let text = report.to_string();
        assert!(text.contains("`s9` (line 9), and 30 more"), "{text}");
        assert!(
            text.ends_with(
                "assumed, not proved, 40 times: that all of it is written: k0.x, k1.x, k2.x, k3.x, and 36 more \
                 parameters"
            ),
            "{text}"
        );
        assert_eq!(text.lines().count(), 4, "{text}");
        let all = report.all().to_string();
        assert_eq!(all.lines().count(), 43, "{all}");
    }
}
