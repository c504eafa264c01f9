//! Device-side conditionals. One test runs at a time, by the lock of `cuweave_testkit::device::alone`.

mod budgets;
mod builder;
mod decide;
mod launches;
mod own;
mod plans;
mod programs;
mod random;
mod records;
mod results;
mod setters;
mod sizes;
mod turns;
