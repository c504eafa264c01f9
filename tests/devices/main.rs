//! Graphs and memory over several devices, on the simulated driver: each test runs in a process of its own that has so
//! many.

mod access;
mod budgets;
mod decisions;
mod everything;
mod managed;
mod multicast;
mod multicast_order;
mod pinned;
mod programs;
mod random;
mod support;
mod two_devices;
mod uses;
