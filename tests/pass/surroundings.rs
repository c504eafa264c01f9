//! Graph functions in various places: in functions and modules, made by macros, and under lints and attributes.

#![deny(missing_docs, clippy::pedantic, unused_qualifications)]

use cuweave::prelude::*;

use crate::support::{device, ramp, run};

mod kernels {
    #[cuweave::kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn set(out: &mut [core::mem::MaybeUninit<f32>; n], value: f32, n: u32);
        pub fn scale(x: &mut [f32; n], a: f32, n: u32);
    }
}

/// Documented like a library: clippy requires a section about errors.
pub mod library {
    use super::kernels::scale;

    /// x = x * by * 1.5
    #[cuweave::graph]
    pub fn documented(n: u32, by: f32, _factor: f32, x: &mut [f32; n]) {
        /// Lint levels apply to the expressions of the statement.
        #[allow(clippy::cast_precision_loss)]
        scale[cuweave::prelude::per_item(n)](&mut x, by + (n - n) as f32, n);
        #[expect(clippy::suboptimal_flops, clippy::allow_attributes, reason = "any level may stand here")]
        #[allow(clippy::suboptimal_flops)]
        {
            scale[cuweave::prelude::per_item(n)](&mut x, _factor, n);
        }
    }
}

/// Host statements and events in a library without `unsafe`.
#[forbid(unsafe_code)]
pub mod watched {
    use cuweave::cudarc::driver::CudaEvent;
    use cuweave::prelude::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// The number of launches that the host has seen.
    #[derive(Debug, Default)]
    pub struct Seen(AtomicU32);

    impl Seen {
        /// Returns the number of launches.
        #[must_use]
        pub fn launches(&self) -> u32 {
            self.0.load(Ordering::Relaxed)
        }
    }

    /// Copies what is on the device, and doubles it on the host.
    #[cuweave::graph]
    pub fn watch(n: u32, log: &Seen, half: &CudaEvent, x: &[f32; n], seen: &mut Pinned<[f32; n]>) {
        wait(&half);
        copy(&x, &mut seen);
        let doubled = host(&log, &mut seen, move |log, seen| {
            assert_eq!(u32::try_from(seen.len()), Ok(n));
            for value in seen {
                *value *= 2.0;
            }
            log.0.fetch_add(1, Ordering::Relaxed);
        });
        #[after(doubled)]
        record(&half);
    }
}

#[test]
fn host_statements_and_events() {
    let device = device();
    let x = device.upload(&ramp(5));
    #[allow(unsafe_code)]
    // SAFETY: the graph writes it before it is read.
    let mut seen = unsafe { device.ctx.alloc_pinned::<f32>(5) }.expect("pinned memory");
    let log = std::sync::Arc::new(watched::Seen::default());
    let half = std::sync::Arc::new(device.ctx.new_event(None).expect("an event"));
    let graph = watched::watch(&device.ctx, 5, &log, half, &x, &mut seen).expect("the graph builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    exec.synchronize().expect("nothing panicked");
    assert_eq!(exec.args().log.launches(), 1);
    drop(exec);
    assert_eq!(
        seen.as_slice().expect("its memory"),
        ramp(5).iter().map(|value| value * 2.0).collect::<Vec<_>>()
    );
}

#[test]
fn attributes_and_setters() {
    let device = device();
    let mut x = device.upload(&ramp(5));
    let graph = library::documented(&device.ctx, 5, 2.0, 1.0, &mut x).expect("the graph builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    // `_factor` has the same setter as `factor`.
    exec.set_factor(1.5).expect("a value");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&x), ramp(5).iter().map(|value| value * 3.0).collect::<Vec<_>>());
}

#[test]
fn in_a_function() {
    #[cuweave::graph]
    fn within(n: u32, x: &mut [f32; n]) {
        kernels::set[per_item(n)](&mut x, 4.0, n);
    }
    let device = device();
    let mut x = device.upload(&ramp(3));
    run!(device, within(&device.ctx, 3, &mut x));
    assert_eq!(device.download(&x), [4.0; 3]);
}

macro_rules! graphs {
    ($($(#[$attribute:meta])* $name:ident: $kernel:path, $ty:ty, $config:expr, $by:expr, $times:literal;)*) => {$(
        $(#[$attribute])*
        #[cuweave::graph]
        fn $name(n: u32, x: &mut [$ty; n]) {
            for _ in 0..$times {
                $kernel[$config](&mut x, $by, n);
            }
        }
    )*};
}
graphs! {
    /// Made by a macro, which passes its arguments as groups of tokens.
    eightfold: kernels::scale, f32, (1, 32), 1.0 + 1.0, 3;
    #[cfg(any())]
    left_out: no_such_kernel, f32, (1, 32), 1.0, 1;
    #[cfg(not(any()))]
    once: kernels::scale, f32, (1, 32), 3.0, 1;
}

#[test]
fn made_by_macros() {
    let device = device();
    let mut x = device.upload(&ramp(4));
    run!(device, eightfold(&device.ctx, 4, &mut x));
    run!(device, once(&device.ctx, 4, &mut x));
    assert_eq!(device.download(&x), [0.0, 24.0, 48.0, 72.0]);
}

#[cuweave::graph]
fn r#match(r#type: u32, r#in: &mut [f32; r#type], r#fn: f32) {
    let r#loop = alloc::<f32>(r#type);
    kernels::set[per_item(r#type)](&mut r#loop, r#fn, r#type);
    let r#if = copy(&r#loop, &mut r#in);
    #[after(r#if)]
    free(r#loop);
}

#[cuweave::graph]
fn maße(größe: u32, ü: &mut [f32; größe], _s: f32, s: f32) {
    kernels::set[per_item(größe)](&mut ü, _s - s, größe);
}

#[test]
fn names_of_every_kind() {
    let device = device();
    let mut x = device.upload(&ramp(4));
    {
        let mut exec =
            r#match(&device.ctx, 4, &mut x, 1.0).expect("the graph builds").instantiate().expect("an exec");
        exec.set_fn(7.0).expect("a value");
        exec.launch(&device.stream).expect("it launches");
        assert_eq!(device.download(&exec.args().r#in), [7.0; 4]);
    }
    let mut exec =
        maße(&device.ctx, 4, &mut x, 3.0, 1.0).expect("the graph builds").instantiate().expect("an exec");
    // `s` already exists.
    exec.set__s(5.0).expect("a value");
    exec.set_s(2.0).expect("a value");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&x), [3.0; 4]);
}
