//! Calls with type parameters: one declaration for several element types.

use std::any::type_name;

use cudarc::driver::{DeviceRepr, DeviceSlice, DriverError, PushKernelArg};
use cuweave::prelude::*;
use cuweave_testkit::device::alone;

use crate::library::{Library, threads};

/// The element types that the library knows, with the kernel that adds them.
pub trait Element: DeviceRepr + Copy {
    const ADD: &'static str;
}

impl Element for f32 {
    const ADD: &'static str = "add";
}

impl Element for u32 {
    const ADD: &'static str = "add_u32";
}

/// An element type with a wider type for scratch.
pub trait Wider {
    type Wide: DeviceRepr + 'static;
}

impl Wider for f32 {
    type Wide = f64;
}

impl Wider for u32 {
    type Wide = u8;
}

impl Library {
    fn parts<T>(&self, n: u32) -> u32 {
        self.parts * n * u32::try_from(size_of::<T>()).expect("small")
    }
}

/// out = a + b, all of one type.
#[cuweave::call]
unsafe fn added<T: Element + Wider>(
    stream: &CallStream,
    library: &Library,
    a: &[T; n],
    b: &[T; n],
    out: &mut [MaybeUninit<T>; n],
    bytes: [u8; library.parts::<T>(n)],
    wide: [T::Wide; n],
    n: u32,
    factor: T,
) -> Result<(), DriverError>
where
    T::Wide: Copy,
{
    assert_eq!(bytes.len(), 4 * a.len() * size_of::<T>(), "{}", type_name::<T>());
    assert_eq!(wide.num_bytes(), a.len() * size_of::<T::Wide>());
    let _ = factor;
    if type_name::<T>() == "f32" {
        let add = library.function(T::ADD)?;
        unsafe { stream.launch_builder(&add).arg(a).arg(b).arg(out).arg(&n).launch(threads(n))? };
        return Ok(());
    }
    stream.memcpy_dtod(a, out)
}

#[cuweave::graph]
fn both(
    n: u32,
    library: &Library,
    x: &[f32; n],
    i: &[u32; n],
    y: &mut [MaybeUninit<f32>; n],
    j: &mut [MaybeUninit<u32>; n],
) {
    let h = alloc::<f32>(n);
    added(&library, &x, &x, &mut h, n, 1.5);
    added(&library, &h, &x, &mut y, n, 0.0);
    added(&library, &i, &i, &mut j, n, 7);
}

#[test]
fn one_declaration_serves_several_types() {
    let device = alone();
    let library = Library::new(&device.ctx);
    let n = 64;
    let (x, i) = (device.upload(&[2.0f32; 64]), device.upload(&[9u32; 64]));
    let (mut y, mut j) = (device.zeros::<f32>(64), device.zeros::<u32>(64));
    let graph = both(&device.ctx, n, &library, &x, &i, &mut y, &mut j).expect("it builds");
    let report = graph.report();
    assert_eq!(report.calls, 3);
    // Besides h: for f32, 256 elements of 4 bytes and 64 of 8; for u32, 256 of 4 bytes and 64 of 1.
    let planned = report.plan.expect("a plan").planned;
    assert_eq!(planned, 256 + (1024 + 512) + (1024 + 256));
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&y), [6.0; 64]);
    assert_eq!(device.download(&j), [9; 64]);
}
