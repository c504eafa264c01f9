//! Reports, pictures and pages of graphs, which `cuweave-inspect` makes from their plans. This module only
//! collects the plan, the launch values and the unproved writes. It is compiled with the feature `inspect`.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::compile::memory_svg;
use cuweave_core::ids::KernelId;
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{BufferId, StatementId, StatementKind};
use cuweave_core::launches::{DeclaredParameter, LaunchValues, LaunchedKernel};
use cuweave_inspect::{
    MemoryHint, MemoryHintKind, PageInput, PictureInput, Profile, Report, ReportInput, SizeEffect, SizeState,
    UnprovedWrite, build_report, dot, graph_svg, page,
};

use crate::bind::{Hint, Prologue};
use crate::error::program::plan_error;
use crate::error::{Result, at_buffer, at_statement};
use crate::statements::{StatementRecord, StatementRecordExt};

use super::core::Core;
use super::graph::{ExecCore, Graph, GraphFn};
use super::size_ranges::SizeRange;

/// Implements the inspection methods that a `Graph` and an exec share. Each forwards to its `core`.
macro_rules! impl_inspection_methods {
    ({$($generics:tt)*} $ty:ty, $this:ident => $inspection:expr) => {
        impl<$($generics)*> $ty {
            /// Returns the report of the graph: its nodes, its memory and the decisions of the build.
            #[must_use]
            pub fn report(&self) -> cuweave_inspect::Report {
                let $this = self;
                $inspection.report()
            }

            /// Returns the graph in the DOT language: the nodes by depth, edges labelled with the buffers
            /// that cause them, boxes for the bodies of conditionals and for devices, and a legend.
            #[must_use]
            pub fn dot(&self) -> String {
                let $this = self;
                $inspection.dot()
            }

            /// Returns an SVG of the temporaries as boxes: levels of the graph on one axis, bytes of memory on the
            /// other. Shared bytes are shaded. The buffers that determine the lower bound are outlined.
            ///
            /// # Errors
            ///
            /// Sizes that overflow.
            pub fn memory_svg(&self) -> $crate::error::Result<String> {
                let $this = self;
                $inspection.memory_svg()
            }

            /// Returns the graph as an SVG: nodes in layers by depth, bodies of conditionals as boxes, and devices
            /// side by side. In graphs of more than 120 nodes all iterations of a loop are drawn as one.
            #[must_use]
            pub fn svg(&self) -> String {
                let $this = self;
                $inspection.svg()
            }

            /// Returns a self-contained HTML page with the graph, its temporaries, its statements and its
            /// report. Pointing at a box shows its buffers, the source lines of its statements and the
            /// reasons of its edges.
            ///
            /// # Errors
            ///
            /// Sizes that overflow.
            pub fn page(&self) -> $crate::error::Result<String> {
                let $this = self;
                $inspection.page()
            }

            /// Returns the page with a profile of this graph: its times are shown at the nodes, too. If the
            /// profile is of another graph, its times are shown only in the profile's own picture.
            ///
            /// # Errors
            ///
            /// Sizes that overflow.
            pub fn page_with(
                &self,
                profile: &cuweave_inspect::Profile,
            ) -> $crate::error::Result<String> {
                let $this = self;
                $inspection.page_with(profile)
            }
        }
    };
}
pub(crate) use impl_inspection_methods;

impl_inspection_methods!({A: GraphFn} Graph<A>, graph => Inspection(&graph.core));
impl_inspection_methods!({A: GraphFn} ExecCore<A>, exec => Inspection(&exec.core));

/// The kernels of a graph and the launch values of its statements, without driver handles.
pub(super) struct LaunchTable {
    pub kernels: Vector<KernelId, LaunchedKernel>,
    pub by_statement: Vector<StatementId, Option<LaunchValues>>,
}

impl LaunchTable {
    pub fn from_records(records: &Vector<StatementId, StatementRecord>) -> LaunchTable {
        let (mut kernels, mut known) = (Vector::new(), BTreeMap::new());
        let values = |record: &StatementRecord| {
            let launch = record.launch()?;
            let kernel = launch.kernel;
            let parameter = |param: &crate::kernels::Param| DeclaredParameter {
                name: param.name,
                unproved: param.unproved,
            };
            let number = *known.entry(std::ptr::from_ref(kernel).addr()).or_insert_with(|| {
                kernels.push(LaunchedKernel {
                    name: kernel.name,
                    path: kernel.module.path(),
                    parameters: kernel.params.iter().map(parameter).collect(),
                })
            });
            Some(LaunchValues { kernel: number, shape: launch.shape })
        };
        let of = records.iter().map(values).collect();
        LaunchTable { kernels, by_statement: of }
    }
}

/// Computes the reports and pictures of a graph.
pub(crate) struct Inspection<'c>(pub(crate) &'c Core);

impl Inspection<'_> {
    pub fn report(&self) -> Report {
        let launches = LaunchTable::from_records(&self.0.built.state.records);
        let findings = self.0.built.state.unproved.iter().flat_map(|(&statement, findings)| {
            findings.iter().map(move |finding| UnprovedWrite {
                statement,
                parameter: finding.parameter,
                verdict: &finding.verdict,
            })
        });
        build_report(&ReportInput {
            program: self.0.definition.program(),
            operations: &self.0.built.plan.operations,
            kernels: &launches.kernels,
            launches: &launches.by_statement,
            written: self.0.built.state.records.iter().filter(|record| record.is_user_launch()).count(),
            unproved: &Vec::from_iter(findings),
            hints: &self.memory_hints(),
            disabled: &self.0.built.state.disabled,
            sizes: &self.sizes(),
            left_alone: &self.0.built.plan.left_alone,
            decided: &self.0.built.plan.decided,
            nodes: self.0.built.nodes(),
            captured: self.0.built.nodes_of(StatementKind::Capture(())),
            // The nodes of a condition statement include its conditional node, which is not a setter.
            conditions: self.0.built.handle.conditions,
            setters: (self.0.built.nodes_of(StatementKind::Condition(()))
                + self.0.built.nodes_of(StatementKind::Join(())))
            .saturating_sub(self.0.built.handle.conditions),
        })
    }

    /// Returns the hints about managed memory: advice, discards and prefetches.
    fn memory_hints(&self) -> Vec<MemoryHint> {
        let of_operand = |prologue: &'_ Prologue| {
            let at = at_buffer(self.0.definition.program(), BufferId::new(prologue.argument));
            let mut hints: Vec<MemoryHint> = prologue
                .applied
                .iter()
                .map(|applied| {
                    let kind = match applied.hint {
                        Hint::ReadMostly => MemoryHintKind::ReadMostly,
                        Hint::PreferredLocation(_) => MemoryHintKind::PreferredLocation,
                        Hint::AccessedBy(_) => MemoryHintKind::AccessedBy,
                        Hint::Prefetch(_) => MemoryHintKind::Prefetch,
                        Hint::Discard => MemoryHintKind::Discard,
                    };
                    let location = applied.location.map(|location| location.to_string());
                    MemoryHint::new((*at).clone(), kind, location, applied.bytes)
                })
                .collect();
            hints.sort_by_key(|hint| hint.kind);
            hints
        };
        self.0.operands.prologues.list().iter().flat_map(of_operand).collect()
    }

    /// Returns the sizes with the statements that they move.
    fn sizes(&self) -> Vec<SizeState> {
        let at = |(id, effects)| (*at_statement(self.0.definition.program(), id), effects);
        let state = |size: &SizeRange| {
            let SizeRange { least, most, value, .. } = *size;
            SizeState::new(size.at.clone(), (least, most), value, self.moved_by(size).into_iter().map(at))
        };
        self.0.sizes.iter().map(state).collect()
    }

    /// Returns the statements that a size moves, and what of their nodes changes.
    fn moved_by(&self, size: &SizeRange) -> BTreeMap<StatementId, Vec<SizeEffect>> {
        let (flat, program) = (&self.0.definition.flat, self.0.definition.program());
        let (scalar, moves) = (&flat.scalars[size.scalar], &flat.moves.of[size.scalar]);
        let mut moved: BTreeMap<StatementId, Vec<SizeEffect>> = BTreeMap::new();
        let mut add = |statement: StatementId, effect: SizeEffect| {
            let kind = &program.statements[statement].kind;
            if kind.is_memory() || kind.is_body_border() {
                return;
            }
            let effects = moved.entry(statement).or_default();
            if !effects.contains(&effect) {
                effects.push(effect);
            }
        };
        scalar.grids.iter().chain(&scalar.blocks).for_each(|&launch| add(launch, SizeEffect::Grid));
        moves.accesses.iter().for_each(|&(statement, _)| add(statement, SizeEffect::Range));
        scalar.parameters.iter().for_each(|&(launch, _)| add(launch, SizeEffect::Value));
        // A fill or a copy whose range moves is evaluated again, whether it mentions the size or not.
        let is_other = |one: &StatementId| {
            program.statements[*one].kind != StatementKind::Launch(())
                && moves.accesses.iter().all(|(statement, _)| statement != one)
        };
        let others = scalar.statements.iter().filter(|one| is_other(one));
        others.for_each(|&statement| add(statement, SizeEffect::Value));
        moved
    }

    /// Makes a picture.
    fn drawn<R>(&self, draw: impl FnOnce(PictureInput<'_>) -> R) -> R {
        let moved = |size: &SizeRange| (size.at.name.clone(), self.moved_by(size).into_keys().collect());
        let sizes: Vec<(String, BTreeSet<StatementId>)> = self.0.sizes.iter().map(moved).collect();
        draw(PictureInput {
            program: self.0.definition.program(),
            operations: &self.0.built.plan.operations,
            dims: self.0.definition.dims(),
            disabled: &self.0.built.state.left_out(),
            sizes: &sizes,
        })
    }

    pub fn dot(&self) -> String {
        self.drawn(|pictured| dot(&pictured))
    }

    pub fn svg(&self) -> String {
        self.drawn(|pictured| graph_svg(&pictured))
    }

    pub fn memory_svg(&self) -> Result<String> {
        let checked = &self.0.definition.flat.checked;
        memory_svg(checked, self.0.definition.planned_lengths(), &self.0.built.plan.operations)
            .map_err(|error| plan_error(checked.program(), error))
    }

    pub fn page(&self) -> Result<String> {
        self.page_of(None)
    }

    pub fn page_with(&self, profile: &Profile) -> Result<String> {
        self.page_of(Some(profile))
    }

    fn page_of(&self, profile: Option<&Profile>) -> Result<String> {
        let (report, memory) = (self.report(), self.memory_svg()?);
        Ok(self.drawn(|pictured| page(&PageInput { pictured, report: &report, memory: &memory, profile })))
    }
}
