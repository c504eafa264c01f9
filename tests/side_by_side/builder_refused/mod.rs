//! Every error code that can occur in a builder, with the code, the place of the call, and the message.

use std::panic::Location;

use cuweave::Error;
use cuweave::builder::{Builder, Handle};
use cuweave::error::Refusal;
use cuweave::prelude::*;
use cuweave_testkit::device::Device;

/// Evaluates calls. Returns the last one's value and line.
macro_rules! at {
    ($call:expr) => {
        ($call, line!())
    };
}

mod arguments;
mod handles;
mod memory;
mod order;

use crate::kernels::{add_all, axpy, copy_to, scale};

#[cuweave::graph]
fn step(n: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    axpy[per_item(n)](a, &x, &mut y, n);
}

#[cuweave::graph]
fn consumed(n: u32, t: [f32; n], y: &mut [f32; n]) {
    copy(&t, &mut y);
}

/// Returns the refusals of an error.
#[track_caller]
fn refusals<T: std::fmt::Debug>(result: cuweave::Result<T>) -> Vec<Refusal> {
    match result {
        Err(Error::Refused(refusals)) => refusals,
        other => panic!("not refused: {other:?}"),
    }
}

/// Checks the only refusal of an error: its place and its text.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: cuweave::Result<T>, (line, text): (u32, &str)) {
    let refusals = refusals(result);
    let [refusal] = refusals.as_slice() else { panic!("{} refusals: {refusals:?}", refusals.len()) };
    println!("error: {refusal}\n");
    let file = Location::caller().file();
    assert_eq!((refusal.at.file.as_str(), refusal.at.line), (file, line), "{refusal}");
    assert!(refusal.at.column > 1, "{refusal}");
    let place = format!("({file}:{line}:{})", refusal.at.column);
    let shown = refusal.to_string();
    assert!(shown.contains(&place), "{shown} has no {place}");
    assert_eq!(refusal.text, text);
    assert!(text.starts_with(refusal.code.name()));
}

/// A builder with the scalars and arguments that most programs here use.
struct Start<'a> {
    b: Builder<'a>,
    n: cuweave::builder::Scalar<u32>,
    x: Handle,
    y: Handle,
}

fn start(device: &Device) -> Start<'static> {
    let mut b = Builder::with_name(&device.ctx, "program");
    let n = b.scalar("n", 8_u32);
    let x = b.shared("x", 2 * n, device.upload(&[1.0_f32; 16]));
    let y = b.exclusive("y", 2 * n, device.upload(&[2.0_f32; 16]));
    Start { b, n, x, y }
}
