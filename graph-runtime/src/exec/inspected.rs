//! Reports, pictures and pages of graphs, which `cuweave-inspect` makes from their plans. This module only
//! collects the plan, the launch values and the unproved writes. It is compiled with the feature `inspect`.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::compile::memory_svg;
use cuweave_core::ids::KernelId;
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{BufferId, StatementId, StatementKind};
use cuweave_core::launches::{DeclaredParameter, LaunchValues, LaunchedKernel};
use cuweave_inspect::{
    MemoryHint, MemoryHintKind, PageInput, PictureInput, Profile, Report, ReportInput, UnprovedWrite,
    build_report, dot, graph_svg, page,
};

use crate::bind::{Hint, Prologue};
use crate::error::program::plan_error;
use crate::error::{Result, at_buffer};
use crate::statements::{StatementRecord, StatementRecordExt};

use super::core::Core;
use super::graph::{ExecCore, Graph, GraphFn};

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

    /// Returns the graph for a picture. `disabled` holds the statements whose nodes are disabled.
    fn pictured<'p>(&'p self, disabled: &'p BTreeSet<StatementId>) -> PictureInput<'p> {
        PictureInput {
            program: self.0.definition.program(),
            operations: &self.0.built.plan.operations,
            dims: self.0.definition.dims(),
            disabled,
        }
    }

    pub fn dot(&self) -> String {
        dot(&self.pictured(&self.0.built.state.left_out()))
    }

    pub fn svg(&self) -> String {
        graph_svg(&self.pictured(&self.0.built.state.left_out()))
    }

    pub fn memory_svg(&self) -> Result<String> {
        let checked = &self.0.definition.flat.checked;
        memory_svg(checked, self.0.definition.dims(), &self.0.built.plan.operations)
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
        let disabled = self.0.built.state.left_out();
        Ok(page(&PageInput { pictured: self.pictured(&disabled), report: &report, memory: &memory, profile }))
    }
}
