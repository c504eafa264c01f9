//! Reports, pictures, HTML pages and profiles of a graph.
//!
//! The input is a plan of `cuweave-core` and, for profiles, measured times. No driver is called here. [`build_report`]
//! builds a [`Report`]; [`dot`], [`graph_svg`] and [`page`] draw the graph; [`Profile`] evaluates times.

#![deny(unsafe_code)]
#![deny(missing_debug_implementations)]
#![deny(
    clippy::as_conversions,
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

mod brief;
mod drawing;
mod explainer;
mod folding;
mod grouped;
mod lists;
mod profile;
mod report;
mod subject;
mod text;
mod unbatched;
mod unfused;

pub use drawing::{
    BesideInput, CapturedBox, CapturedMark, PageInput, PictureInput, beside, dot, graph_svg, page,
};
pub use lists::build_report;
pub use profile::{Entry, IterationStats, Member, Profile, TimeStats};
pub use profile::{ProfileInput, TimeAccumulator};
pub use report::{
    AssumedDeclaration, AssumedRegisters, Budget, BudgetStep, ForwardedElements, MemoryPlan, Report,
    UnwrittenOutput,
};
pub use subject::{
    MemoryHint, MemoryHintKind, MovedStatement, ReportInput, SizeEffect, SizeState, SwitchState,
    UnprovedWrite,
};
pub use text::FullReport;
pub use unbatched::{
    FullEdge, FullEdgeReason, RepeatedStatement, SerializedBranch, UnbatchedLaunches, UnbatchedReason,
};
pub use unfused::{UnfusedPair, UnfusedReason};
