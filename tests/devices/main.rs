//! Graphs and memory over several devices of the simulated driver. Each test runs in a separate process with that
//! many devices.

mod access;
mod advice;
mod budgets;
mod decisions;
mod everything;
mod managed;
mod multicast;
mod multicast_graphs;
mod multicast_order;
mod multicast_rules;
mod multimem;
mod pinned;
mod pipelines;
mod programs;
mod random;
mod sizes;
mod support;
mod two_devices;
mod uses;
