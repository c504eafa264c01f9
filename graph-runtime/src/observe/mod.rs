//! Information about a graph: reports, pictures, figures, profiles, and annotations for the simulated driver. Everything is read
//! from the plan, the records and the nodes, and for profiles from measured times.

pub(crate) mod annotate;
mod apart;
mod brief;
mod collectives;
mod drawing;
mod explaining;
mod folding;
mod grouped;
mod lists;
mod memory;
mod pool;
mod profile;
mod report;
mod text;
mod unfused;

pub use apart::{Apart, FullEdge, InLane, Repeated, WhyApart, WhyFull};
pub use collectives::{CollectiveEntry, Collectives};
pub(crate) use drawing::{PageSubject, Pictured, dot, graph_svg, page};
pub(crate) use lists::report_of;
pub(crate) use memory::{budget_curve, svg};
pub use pool::{GraphPool, graph_pool, reset_graph_pool_high, trim_graph_pool};
pub use profile::{Entry, Member, Profile, Times, Turns};
pub(crate) use profile::{Gathered, Measured};
pub(crate) use report::Subject;
pub use report::{
    AssumedRegisters, Budget, BudgetStep, BuildTimes, Forwarded, LeftUnwritten, Plan, Report, VouchedFor,
};
pub use text::FullReport;
pub use unfused::{Unfused, WhyUnfused};
