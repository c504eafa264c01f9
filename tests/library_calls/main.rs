//! Library calls whose bodies launch kernels through cudarc, in graphs with kernels, loops, calls and branches.

#![allow(unsafe_code)]

mod batches;
mod failures;
mod generic;
mod hostile;
mod library;
mod memory;
mod misbehaving;
mod order;
mod profile;
mod programs;
mod races;
mod records;
mod resources;
mod sizes;
mod values;
mod verify;
