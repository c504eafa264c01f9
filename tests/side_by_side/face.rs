//! The public interface as used by a dependent crate: names, errors, reports.
//!
//! Warnings are denied, so that generated code needs no `allow` of the user.

#![deny(warnings, missing_docs, missing_debug_implementations, unused_must_use, unnameable_types)]

use std::error::Error as _;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DriverError, sys::CUresult};
use cuweave::Error;
use cuweave::error::FailedCall;

/// The kernels of one file in two blocks of one module, glob-imported into a module that has names of its own.
pub mod kernels {
    #[cuweave::kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        /// x = x * a
        pub fn scale(x: &mut [f32; n], a: f32, n: u32);
    }

    #[cuweave::kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        /// Does nothing.
        pub fn nothing();
    }

    pub use super::forms::*;
}

/// The kernels of a file, glob-imported together with others.
pub mod forms {
    #[cuweave::kernels("tests/kernels/state.ptx")]
    unsafe extern "ptx-kernel" {
        /// The state, one step on.
        pub fn state_step();
    }
}

/// A program with names that generated code once used.
pub mod program {
    use super::kernels::*;
    use cuweave::prelude::*;

    /// The program's own.
    pub fn load() -> &'static str {
        "mine"
    }

    /// The program's own module, named like the kernels' file.
    pub mod common {
        /// The program's own.
        pub fn load() -> &'static str {
            "mine too"
        }
    }

    /// Some buffers of one length.
    #[cuweave::arguments]
    pub struct Buffers {
        /// The length.
        pub n: u32,
        by: f32,
        /// It is read.
        pub x: &[f32; n],
        y: [&mut [f32; n]; 2],
        more: &[Buffers<'_>],
    }

    /// Every y is scaled.
    #[cuweave::graph]
    pub fn every(n: u32, all: &[Buffers<'_>], one: Buffers<'_>, list: &[&mut [f32; n]]) {
        for buffers in &all {
            scale[per_item(n)](&mut buffers.y[1], buffers.by, buffers.n);
        }
        copy(&one.x, &mut list[0]);
    }

    /// x = 2x
    #[cuweave::graph]
    pub fn double(n: u32, x: &mut [f32; n]) {
        scale[per_item(n)](&mut x, 2.0, n);
    }

    /// y = 2x
    #[cuweave::graph]
    pub fn doubled(n: u32, x: &[f32; n]) -> [f32; n] {
        let y = alloc::<f32>(n);
        copy(&x, &mut y);
        scale[(n, 1, 0)](&mut y, 2.0, n);
        nothing[(1, 1)]();
        y
    }
}

/// Private types of the program as scalars.
mod own {
    use cuweave::cudarc::driver::DeviceRepr;
    use cuweave::prelude::*;

    #[derive(Clone, Copy, Debug)]
    #[repr(transparent)]
    struct Value(f32);

    // SAFETY: a number.
    #[allow(unsafe_code, reason = "cudarc's trait for parameters of kernels")]
    unsafe impl DeviceRepr for Value {}

    #[cuweave::graph]
    fn filled(n: u32, value: Value, x: &mut [f32; n]) {
        fill(&mut x, value.0);
    }

    #[test]
    fn private_types_are_scalars() -> cuweave::Result<()> {
        let (ctx, stream) = super::device();
        let mut x = stream.alloc_zeros::<f32>(4)?;
        let mut exec = filled(&ctx, 4, Value(1.0), &mut x)?.instantiate()?;
        exec.set_value(Value(2.0))?;
        exec.launch(&stream)?;
        drop(exec);
        assert_eq!(stream.clone_dtoh(&x)?, [2.0; 4]);
        Ok(())
    }
}

/// The line of `let h` in `through`.
const H: u32 = line!() + 10;

/// A graph with a temporary.
pub mod temporary {
    use super::kernels::scale;
    use cuweave::prelude::*;

    /// out = 2x
    #[cuweave::graph]
    pub fn through(n: u32, x: &[f32; n], out: &mut [f32; n]) {
        let h = alloc::<f32>(n);
        let first = copy(&x, &mut h);
        #[after(first)]
        scale[per_item(n)](&mut h, 2.0, n);
        copy(&h, &mut out);
    }
}

/// All types that methods of execs and graphs return have public paths.
#[derive(Debug)]
struct Nameable {
    _report: cuweave::report::Report,
    _times: cuweave::report::BuildTimes,
    _plan: Option<cuweave::report::MemoryPlan>,
    _budget: Option<cuweave::report::Budget>,
    _left: Vec<cuweave::report::LeftAlone>,
    _batches: Vec<Vec<cuweave::error::SourceLocation>>,
    _curve: Vec<cuweave::report::CurvePoint>,
    _output: cuweave::output::OutputDescription<f32>,
    _loaded: cuweave::Loaded,
    _pool: cuweave::memory::GraphPool,
    _fault: Option<cuweave::error::Fault>,
}

fn device() -> (Arc<CudaContext>, Arc<CudaStream>) {
    println!("driver: {}", cuweave_sim::load().expect("a driver"));
    let ctx = cuweave::context(0).expect("a context");
    let stream = ctx.new_stream().expect("a stream");
    (ctx, stream)
}

#[test]
fn kernels_are_loaded_by_their_items() -> cuweave::Result<()> {
    let (ctx, stream) = device();
    let kept = (kernels::scale::load(&ctx)?, kernels::nothing::load(&ctx)?, forms::state_step::load(&ctx)?);
    assert_eq!((program::load(), program::common::load()), ("mine", "mine too"));
    let mut x = stream.clone_htod(&[1.0_f32, 2.0])?;
    let mut exec = program::double(&ctx, 2, &mut x)?.instantiate()?;
    exec.launch(&stream)?;
    drop((exec, kept));
    assert_eq!(stream.clone_dtoh(&x)?, [2.0, 4.0]);
    Ok(())
}

#[test]
fn all_that_methods_give_can_be_named() -> cuweave::Result<()> {
    let (ctx, stream) = device();
    let x = stream.clone_htod(&[1.0_f32, 2.0])?;
    let graph = program::doubled(&ctx, 2, &x)?;
    let (times, curve) = (graph.times(), graph.budget_curve(2)?);
    let mut exec: program::doubled::Exec<'_> = graph.instantiate()?;
    let y: cuweave::Output<'_, f32> = exec.launch(&stream)?;
    assert_eq!(stream.clone_dtoh(&y)?, [2.0, 4.0]);
    // The length of the text does not depend on buffers or on the kernel's file.
    let loaded = kernels::scale::load(&ctx)?;
    let pool = cuweave::ArenaPool::new(&stream)?;
    for text in [format!("{y:?}"), format!("{:?}", y.slice(1..)), format!("{loaded:?}"), format!("{pool:?}")]
    {
        assert!(text.len() < 100 && text.contains(": "), "{text}");
    }
    drop(y);
    let report = exec.report();
    let names = Nameable {
        _plan: report.plan.clone(),
        _budget: report.budget.clone(),
        _left: report.left_alone.clone(),
        _batches: report.batches.clone(),
        _report: report,
        _times: times,
        _curve: curve,
        _output: exec.output(),
        _loaded: kernels::scale::load(&ctx)?,
        _pool: cuweave::memory::graph_pool(&ctx)?,
        _fault: None,
    };
    assert!(format!("{names:?} {exec:?}").contains("doubled"), "{names:?}");
    Ok(())
}

/// Report entries are typed: names have places.
#[test]
fn reports_name_places() -> cuweave::Result<()> {
    let (ctx, stream) = device();
    let (x, mut out) = (stream.clone_htod(&[1.0_f32; 8])?, stream.alloc_zeros::<f32>(8)?);
    let report = temporary::through(&ctx, 8, &x, &mut out)?.report();
    let plan = report.plan.expect("there is a temporary");
    let [h] = &plan.antichain_buffers[..] else { panic!("{plan:?}") };
    assert_eq!((h.name.as_str(), h.file.as_str(), h.line), ("h", file!(), H));
    let needs = plan.floor_statement.expect("a statement needs it");
    assert!(needs.file == file!() && needs.line > H && needs.line < H + 5, "{needs}");
    assert_eq!(h.to_string(), format!("`h` ({}:{H})", file!()));
    Ok(())
}

/// `?` converts cudarc's errors, and the error has the place of the `?`.
const ASKED: u32 = line!() + 2;
fn too_much(stream: &Arc<CudaStream>) -> cuweave::Result<CudaSlice<u8>> {
    let much = stream.alloc_zeros(1 << 50)?;
    Ok(much)
}

#[test]
fn an_error_of_cudarc_is_one_of_cuweave() {
    let (_ctx, stream) = device();
    let error = too_much(&stream).expect_err("there is not as much");
    let Error::Driver(failure) = &error else { panic!("{error}") };
    let FailedCall::Cudarc { file, line } = failure.call else { panic!("{failure:?}") };
    assert_eq!((file, line), (file!(), ASKED));
    assert_eq!((failure.name.as_str(), failure.code), ("CUDA_ERROR_OUT_OF_MEMORY", 2));
    assert_eq!(
        error.to_string(),
        format!(
            "a call through cudarc ({}:{ASKED}) failed with CUDA_ERROR_OUT_OF_MEMORY (2): {}",
            file!(),
            failure.text
        )
    );
    assert!(!failure.text.is_empty(), "{error}");
}

/// If an error has a driver error as its source, it reports it once; `Debug` prints the text.
#[test]
fn errors_have_sources_and_print_as_text() {
    let (ctx, _) = device();
    let cause = |error: &Error| {
        let source = error.source().expect("a source");
        assert!(source.source().is_none(), "{error}");
        *source.downcast_ref::<DriverError>().expect("cudarc's error")
    };
    let code = CUresult::CUDA_ERROR_INVALID_HANDLE;
    assert_eq!(cause(&Error::from(DriverError(code))), DriverError(code));

    ctx.record_err::<()>(Err(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE)));
    let error = kernels::scale::load(&ctx).expect_err("an error is kept");
    assert!(matches!(error, Error::Earlier(_)), "{error}");
    assert_eq!(cause(&error), DriverError(CUresult::CUDA_ERROR_INVALID_VALUE));
    assert!(
        error.to_string().starts_with(
            "an earlier call on this context, made in a drop, failed with CUDA_ERROR_INVALID_VALUE (1)"
        ),
        "{error}"
    );
    assert_eq!(format!("{error:?}"), error.to_string());

    let error = cuweave::context(1000).expect_err("there is no such device");
    assert!(error.source().is_none());
    assert!(format!("{error:?}").starts_with("there is no CUDA device 1000: "), "{error:?}");
    assert_eq!(format!("{:?}", cuweave_sim::Error::NotLoaded), "the simulated driver is not loaded");
}
