//! Graphs over several devices, on the simulated driver: each test runs in a process of its own that has so many.

mod access;
mod budgets;
mod decisions;
mod managed;
mod pinned;
mod programs;
mod random;
mod support;
mod uses;
