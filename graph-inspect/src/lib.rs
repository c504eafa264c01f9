//! Reports, pictures, HTML pages and profiles of a graph.
//!
//! The input is a plan of `cuweave-core` and, for profiles, measured times. No driver is called here. [`report_of`]
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

mod apart;
mod brief;
mod drawing;
mod explaining;
mod folding;
mod grouped;
mod lists;
mod profile;
mod report;
mod subject;
mod text;
mod unfused;

pub use apart::{Apart, FullEdge, InLane, Repeated, WhyApart, WhyFull};
pub use drawing::{PageSubject, Pictured, dot, graph_svg, page};
pub use lists::report_of;
pub use profile::{Entry, Member, Profile, Times, Turns};
pub use profile::{Gathered, Measured};
pub use report::{AssumedRegisters, Budget, BudgetStep, Forwarded, LeftUnwritten, Plan, Report, VouchedFor};
pub use subject::{Subject, UnprovedWrite};
pub use text::FullReport;
pub use unfused::{Unfused, WhyUnfused};
