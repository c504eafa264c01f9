//! Graphs that are known only at run time: see [`Builder`].

#[doc(inline)]
pub use cuweave_core::ir::{Launches, Memory, Order};
#[doc(inline)]
pub use cuweave_runtime::builder::{
    Args, Argument, Bindable, CapturedKernelSetter, Configuration, Decision, Edit, Exec, Handle,
    HostArgument, HostFunction, Integer, Items, LaunchOutputs, Match, ParameterValue, Reads, Rows, Scalar,
    Size, Statement, StatementRef, Storable, ToArgument, ToArguments, ToAtomic, ToBuffer, ToConfiguration,
    ToDecision, ToExtents, ToFlag, ToSize, ToValues, View, Writes,
};

/// Builds a graph by method calls, for example from a file or for a framework.
///
/// ```
/// use cuweave::builder::Builder;
/// use cuweave::prelude::*;
///
/// #[cuweave::kernels("examples/kernels/nn.ptx")]
/// unsafe extern "ptx-kernel" {
///     fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
///     fn relu(x: &mut [f32; n], n: u32);
/// }
///
/// # fn main() -> cuweave::Result<()> {
/// # cuweave_sim::load().expect("a driver");
/// # let ctx = cuweave::context(0)?;
/// # let stream = ctx.new_stream()?;
/// let layers = [stream.clone_htod(&[2.0_f32, 0.0, 0.0, -2.0])?, stream.clone_htod(&[0.0_f32, 1.0, 1.0, 0.0])?];
/// let x = stream.clone_htod(&[1.0_f32, 3.0])?;
///
/// let mut b = Builder::new(&ctx);
/// let n = b.scalar("n", 2);
/// let x = b.shared("x", n, &x);
/// let mut h = x;
/// for w in &layers {
///     let w = b.shared("w", n * n, w);
///     let mut next = b.alloc::<f32>(n);
///     b.launch(matvec {}, per_item(n), (&w, &h, &mut next, n))?;
///     b.launch(relu {}, per_item(n), (&mut next, n))?;
///     h = next;
/// }
/// b.output(h)?;
/// let mut exec = b.build()?.instantiate()?;
///
/// let launched = exec.launch(&stream)?;
/// assert_eq!(stream.clone_dtoh(&launched.output::<f32>(h)?)?, [0.0, 2.0]);
/// exec.set_buffer(&x, stream.clone_htod(&[5.0_f32, -3.0])?)?;
/// let launched = exec.launch(&stream)?;
/// assert_eq!(stream.clone_dtoh(&launched.output::<f32>(h)?)?, [6.0, 10.0]);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use cuweave_runtime::builder::Builder;
