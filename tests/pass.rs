//! Right programs: together they use the whole language, and each is built, launched and compared with plain Rust, on a GPU
//! or on the simulated driver.
//!
//! Warnings are denied here, so that these tests also show that generated code is free of lints.

#![deny(warnings)]

#[path = "pass/support.rs"]
mod support;

#[path = "pass/addresses.rs"]
mod addresses;
#[path = "pass/atomics.rs"]
mod atomics;
#[path = "pass/binding.rs"]
mod binding;
#[path = "pass/buffers.rs"]
mod buffers;
#[path = "pass/configurations.rs"]
mod configurations;
#[path = "pass/declarations.rs"]
mod declarations;
#[path = "pass/exec.rs"]
mod exec;
#[path = "pass/explicit.rs"]
mod explicit;
#[path = "pass/forms.rs"]
mod forms;
#[path = "pass/hygiene.rs"]
mod hygiene;
#[path = "pass/loops.rs"]
mod loops;
#[path = "pass/names.rs"]
mod names;
#[path = "pass/order.rs"]
mod order;
#[path = "pass/outputs.rs"]
mod outputs;
#[path = "pass/shadowed.rs"]
mod shadowed;
#[path = "pass/slices.rs"]
mod slices;
#[path = "pass/surroundings.rs"]
mod surroundings;
