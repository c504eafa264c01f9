//! Devices for the programs, and a short way to run a graph.

pub use cuweave_testkit::device::{device, pinned, ramp};
pub use cuweave_testkit::run;
