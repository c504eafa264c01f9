//! Right programs: together they use the whole language, and each is built, launched and compared with plain Rust, on a GPU
//! or on the simulated driver.
//!
//! Warnings are denied here, so that these tests also show that generated code is free of lints.

#![deny(warnings)]

mod addresses;
mod atomics;
mod binding;
mod buffers;
mod configurations;
mod declarations;
mod exec;
mod explicit;
mod forms;
mod hygiene;
mod loops;
mod names;
mod order;
mod outputs;
mod padding;
mod shadowed;
mod slices;
mod support;
mod surroundings;
