//! The words of the language, so that editors know them.
//!
//! The attributes read the words of graph functions and of kernel declarations as tokens; only the
//! launches of a builder call `atomic` and `per_item`.

use std::marker::PhantomData;

pub use cudarc::driver::LaunchConfig;
use cuweave_core::runtime::builder::{Items, UpdatedByAtomics};
#[doc(inline)]
pub use cuweave_core::runtime::private::param::Atomic;
#[doc(inline)]
pub use cuweave_core::runtime::{CallStream, Pinned};
pub use std::mem::MaybeUninit;

use language::InGraphFunctions;

/// `let b = alloc::<T>(len);` allocates a buffer of `len` elements when the graph runs.
///
/// It is freed by a free node that the compiler places after its last use, by `free(b);`, or, where the function
/// returns it, by its receiver.
///
/// In a loop each turn allocates a buffer of its own. `swap(&mut a, &mut b);` exchanges the buffers that two names stand
/// for, and `a = b;` makes `a` stand for the buffer of `b`: whole allocations of one length and element type. Neither
/// makes a node; the buffer that no name stands for any more is freed after its last use.
pub fn alloc<T>(len: impl InGraphFunctions) -> PhantomData<T> {
    len.never()
}

/// `fill(&mut b, value);` sets every element of a buffer of integers, floats or `bool`s of 1, 2, 4 or 8 bytes; with
/// feature `half` also of `half::f16` and `half::bf16`.
pub fn fill<V>(buffer: impl InGraphFunctions, _value: V) {
    buffer.never()
}

/// `copy(&a, &mut b);` copies a buffer of the device, or of pinned host memory, to another of the same length.
pub fn copy<B>(from: impl InGraphFunctions, _to: B) {
    from.never()
}

/// `free(b);` frees an allocation here, and not only after its last use.
pub fn free(buffer: impl InGraphFunctions) {
    buffer.never()
}

/// `host(&a, &mut b, |a, b| ..);` runs a function on the host in the middle of each launch.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use cuweave::cudarc::driver::CudaEvent;
/// use cuweave::prelude::*;
/// # #[cuweave::kernels("tests/kernels/decide.ptx")]
/// # unsafe extern "ptx-kernel" {
/// #     fn mix(x: &mut [u32; n], by: u32, n: u32);
/// # }
///
/// #[cuweave::graph]
/// fn step(n: u32, by: u32, most: &AtomicU32, half: &CudaEvent, x: &mut [u32; n], seen: &mut Pinned<[u32; n]>) {
///     mix[per_item(n)](&mut x, 1, n);
///     record(&half);                              // behind all that is written before it
///     copy(&x, &mut seen);
///     host(&most, &mut seen, move |most, seen| {  // `&AtomicU32` and `&mut [u32]`; `by` is captured
///         most.fetch_max(seen[0], Ordering::Relaxed);
///         seen.iter_mut().for_each(|value| *value /= by);
///     });
///     copy(&seen, &mut x);
/// }
///
/// # fn main() -> cuweave::Result<()> {
/// # cuweave_sim::load().expect("a driver");
/// # let ctx = cuweave::context(0)?;
/// # let stream = ctx.new_stream()?;
/// let (most, half) = (Arc::new(AtomicU32::new(0)), Arc::new(ctx.new_event(None)?));
/// let mut x = stream.clone_htod(&[7_u32; 4])?;
/// let mut seen = unsafe { ctx.alloc_pinned::<u32>(4) }?;
/// let mut exec = step(&ctx, 4, 2, most.clone(), half.clone(), &mut x, &mut seen)?.instantiate()?;
/// exec.launch(&stream)?;
/// stream.wait(&half)?; // another stream, too, may go on from there
/// exec.synchronize()?; // a panic of the function is an error here, or of the next launch or setter
/// drop(exec);
/// assert_eq!((most.load(Ordering::Relaxed), stream.clone_dtoh(&x)?), (218, vec![109; 4]));
/// # Ok(())
/// # }
/// ```
///
/// Its arguments are pinned memory, `&Pinned<[T; len]>` and `&mut Pinned<[T; len]>` or parts of it, and host values `&T`; the function
/// is `FnMut(&[A], &mut [B], &T) + Send + 'static`. Scalars are captured: `move |a| .. n ..`. The expression is evaluated when the
/// graph is built, so it may have a state from launch to launch, `{ let mut turn = 0; move |a| .. }`; a setter of a scalar in it, or
/// in the length of a part that it is given, evaluates it again. The statement is ordered by what it reads and writes, as a kernel is.
///
/// - The function runs on a thread of the driver. It may not call CUDA, nor wait for work of a device. The drop of the exec waits for
///   the last launch, so a thread that drops one holds no lock that the function takes.
/// - A panic ends the function and not the launch: later statements see what it has left. The next call of the exec that can fail
///   (`launch`, `synchronize`, a setter) returns it as an error.
/// - A host value that is given to the function is bound as an `Arc`, so that a forgotten exec keeps it. A graph function that
///   takes such a value or pinned memory is not called by other graph functions.
/// - In the body of an `if`, `while` or `match` on a buffer there is no host statement, and no call of a function that has one.
pub fn host<A>(arguments: impl InGraphFunctions, _function: A) {
    arguments.never()
}

/// `wait(&event);` makes all that is written after it wait for an event of the caller, a host value `&CudaEvent` bound as an `Arc`;
/// `record(&event);` records one behind all that is written before it. In explicit order `#[after(..)]` alone says it.
///
/// So other streams meet the middle of a launch: a stream that waits for a recorded event, after `launch` has returned, goes on
/// while the rest of the graph runs. A launch waits for the last record of the event before it; an event that was never recorded
/// holds nothing up. An event may have any flags, and is of the graph's context. Events order: what the other stream touches
/// meanwhile is not checked. They cannot stand in the body of an `if`, `while` or `match` on a buffer.
pub fn wait(event: impl InGraphFunctions) {
    event.never()
}

/// `atomic(&mut b)` is the argument for a parameter `&[Atomic<T>; len]`, which a kernel updates by atomics.
///
/// Two such launches are not ordered if the PTX shows that they commute: both only apply one reduction (`add`, `min`,
/// `max`, `and`, `or` or `xor`) of one type to the buffer, at the scope of the device or wider, and do not use its
/// results. All others are ordered as they are written; in explicit order the build refuses them.
pub fn atomic<B: UpdatedByAtomics>(buffer: B) -> B::Argument {
    buffer.by_atomics()
}

/// `record(layer.inner)` is the argument of a graph function for a record in a record, or for a list in one.
///
/// A graph function does not see the fields of a record: `layer.inner` alone is a scalar, and `&layer.inner` whatever the
/// record says that it is.
///
/// As a statement, `record(&event);` records an event: see [`wait`].
pub fn record(only: impl InGraphFunctions) {
    only.never()
}

/// `kernel[per_item(n)](..)`: a thread for each of `n` items, in blocks of 256 threads, or of fewer where the kernel's
/// `.maxntid` says so. `n = 0` is an error.
pub fn per_item<N: Items>(n: N) -> N::Config {
    n.per_item()
}

/// An item that generated code uses, so that a glob import of the prelude never counts as unused.
#[doc(hidden)]
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub enum __Prelude {}

/// Items about the words that no prelude brings into scope.
pub(crate) mod language {
    /// An argument of the words that are allowed in graph functions only: no type is one, so nothing can call them.
    #[diagnostic::on_unimplemented(
        message = "`alloc`, `fill`, `copy`, `free`, `host`, `record`, `wait` and `atomic` are words of graph functions",
        label = "not in a graph function",
        note = "write `#[cuweave::graph]` before the function"
    )]
    pub trait InGraphFunctions {
        /// Returns no value.
        fn never<T>(&self) -> T;
    }

    /// The words as macros, for programs that do not import them: generated code refers to each word of a function. Macros
    /// have a namespace of their own, so they collide with no module, type or function of the program.
    pub mod found {
        macro_rules! words {
            ($($word:ident)*) => { $(pub use crate::__cuweave_word as $word;)* };
        }
        words!(alloc fill copy free host wait atomic per_item record Atomic MaybeUninit Pinned __Prelude);
    }
}

#[doc(hidden)]
#[macro_export]
macro_rules! __cuweave_word {
    () => {};
}
