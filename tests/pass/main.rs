//! Valid programs, which together use the whole language. Each is built, launched and compared with plain Rust, on
//! a GPU or the simulated driver.
//!
//! Warnings are denied here, so these tests also show that generated code causes no lints.

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
