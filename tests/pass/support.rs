//! Devices for the programs, and a short way to run a graph.

pub use cuweave_testkit::device::{Device, device, ramp};
pub use cuweave_testkit::run;
