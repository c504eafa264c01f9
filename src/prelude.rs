//! The words of the language, so that editors know them. The [reference](crate::reference) has every form with an example.
//!
//! The attributes read the words of graph functions and of kernel declarations as tokens; only the
//! launches of a builder call `atomic` and `per_item`.

use std::marker::PhantomData;

pub use cudarc::driver::LaunchConfig;
use cuweave_runtime::builder::{Items, UpdatedByAtomics};
#[doc(inline)]
pub use cuweave_runtime::private::param::Atomic;
#[doc(inline)]
pub use cuweave_runtime::{CallStream, Pinned, Ptr, PtrMut};
#[doc(no_inline)]
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

/// `wait_value(&flag, first);` holds up all that is written after it until the value of a flag has reached one that advances with
/// each launch; `write_value(&flag, first);` writes such a value behind all that is written before it.
///
/// Launch `n` of an exec, counted from 0 as `exec.launches()` says, waits for `first + n`, or writes it. So a launch never takes the
/// signal of an earlier one for its own, and the other side knows which value this launch is waiting for. A third argument is
/// another step than 1: `wait_value(&flag, first, step)`, for graphs that wait several times in a launch.
///
/// ```
/// use std::time::Duration;
///
/// use cuweave::Flag;
/// use cuweave::prelude::*;
/// # #[cuweave::kernels("tests/kernels/decide.ptx")]
/// # unsafe extern "ptx-kernel" {
/// #     fn mix(x: &mut [u32; n], by: u32, n: u32);
/// # }
///
/// #[cuweave::graph]
/// fn step(n: u32, half: &Flag<u32>, go: &Flag<u64>, x: &mut [u32; n]) {
///     mix[per_item(n)](&mut x, 1, n);
///     write_value(&half, 1);        // 1, 2, 3, .. in the launches: behind all that is written before it
///     wait_value(&go, 1);           // until `go` has reached 1, 2, 3, ..
///     mix[per_item(n)](&mut x, 2, n);
/// }
///
/// # fn main() -> cuweave::Result<()> {
/// # cuweave_sim::load().expect("a driver");
/// # let ctx = cuweave::context(0)?;
/// # let stream = ctx.new_stream()?;
/// let (half, go) = (Flag::new(&ctx)?, Flag::new(&ctx)?);
/// let mut x = stream.clone_htod(&[7_u32; 4])?;
/// let mut exec = step(&ctx, 4, half.clone(), go.clone(), &mut x)?.instantiate()?;
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         for launch in 1..=3 {
///             assert!(half.wait_for(launch, Duration::from_secs(60)));
///             go.store(launch.into()); // the second half of this launch, and of no later one
///         }
///     });
///     (0..3).try_for_each(|_| exec.launch(&stream).map(drop))
/// })?;
/// exec.synchronize()?;
/// assert_eq!((exec.launches(), half.load()), (3, 3));
/// # Ok(())
/// # }
/// ```
///
/// A flag is a host value `&Flag<u32>` or `&Flag<u64>`, bound as an `Arc`, which other graphs and the host use at the same time; or
/// pinned memory of one element, `&Pinned<[u32; 1]>`, `&mut Pinned<[u64; 1]>` or a part, which is this graph's own like all its
/// buffers, and ordered like them: `write_value(&mut number, 0); copy(&number, &mut x[0..1]);` gives a kernel the number of the
/// launch. It is no memory of the device: drivers take neither that of pools, from which cudarc allocates, nor that of graphs.
///
/// - Values are compared in a circle, so that `u32` may wrap around. A wait whose step is 0, or half of the circle or more, is an error
///   of the build. A launch whose value is not ahead of that of the launch before, since a setter has set it back or the step is less
///   than the waits of a launch take, is an error before anything runs. A flag that is ahead when the exec is made holds nothing up:
///   begin both sides with the same value.
/// - `write_value(&flag, value, 0)` writes one value in all launches: a reset.
/// - A wait also comes after the writes and signals that are written before it. In explicit order `#[after(..)]` alone says it.
/// - **A launch that nobody answers never ends**, and with it `synchronize`, the drop of the exec and all that waits for its stream.
///   The driver knows nothing of this order: work that it has put behind the launch, on the host's or the device's side, is not run
///   before. So what answers is enqueued first, or is the host's, and needs neither the stream nor the buffers of the launch:
///   launches that share a `Buffer`, of which one writes, wait for each other as a whole. The simulated driver ends such a launch
///   with an error, after `CUWEAVE_SIM_PATIENCE`.
/// - What the other side touches meanwhile is not checked. Safe code has no way to lend it a buffer of the launch.
/// - In the body of an `if`, `while` or `match` on a buffer, such statements cannot stand. Values of 64 bits need a device that has
///   them; `u32` is everywhere.
pub fn wait_value<V>(flag: impl InGraphFunctions, _value: V) {
    flag.never()
}

/// `write_value(&flag, first);` writes a value that advances with each launch: see [`wait_value`].
pub fn write_value<V>(flag: impl InGraphFunctions, _value: V) {
    flag.never()
}

/// `wait_semaphore(&semaphore, first);` waits for a semaphore of another API, and `signal(&semaphore, first);` signals one.
///
/// The semaphore is a host value `&Semaphore`, bound as an `Arc`, and [imported](crate::Semaphore::import) from the handle that the
/// other API exports. Order, values by launch, the third argument, and what a launch without an answer does are as of [`wait_value`]:
/// launch `n` waits for `first + n` on a timeline. `wait_semaphore(&semaphore);` and `signal(&semaphore);` are for semaphores that are
/// signalled or not; on a timeline they begin with 1. A signal whose value is not ahead of that of the launch before is an error, too.
///
/// ```no_run
/// use cuweave::prelude::*;
/// use cuweave::{Semaphore, SemaphoreHandle};
///
/// #[cuweave::graph]
/// fn frame(n: u32, drawn: &Semaphore, done: &Semaphore, frame: u64, x: &[f32; n], y: &mut [f32; n]) {
///     wait_semaphore(&drawn);
///     copy(&x, &mut y);
///     signal(&done, frame); // `exec.set_frame(..)` gives the launches to come another beginning
/// }
///
/// # fn main() -> cuweave::Result<()> {
/// # let (ctx, drawn, done) = (cuweave::context(0)?, 3, 4);
/// // `drawn` and `done` are file descriptors from `vkGetSemaphoreFdKHR`.
/// let (drawn, done) = unsafe { (SemaphoreHandle::opaque_fd(drawn), SemaphoreHandle::timeline_fd(done)) };
/// let (drawn, done) = (Semaphore::import(&ctx, &drawn)?, Semaphore::import(&ctx, &done)?);
/// # let stream = ctx.new_stream()?;
/// # let (x, mut y) = (stream.alloc_zeros::<f32>(4)?, stream.alloc_zeros::<f32>(4)?);
/// let mut exec = frame(&ctx, 4, drawn, done, 1, &x, &mut y)?.instantiate()?;
/// # exec.launch(&stream)?;
/// # Ok(())
/// # }
/// ```
pub fn wait_semaphore(semaphore: impl InGraphFunctions) {
    semaphore.never()
}

/// `signal(&semaphore, first);` signals a semaphore of another API: see [`wait_semaphore`].
pub fn signal(semaphore: impl InGraphFunctions) {
    semaphore.never()
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
        message = "`alloc`, `fill`, `copy`, `free`, `host`, `record`, `wait`, `wait_value`, `write_value`, `wait_semaphore`, `signal` and `atomic` are words of graph functions",
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
        words!(alloc fill copy free host wait wait_value write_value wait_semaphore signal atomic per_item record);
        words!(Atomic MaybeUninit Pinned __Prelude);
    }
}

#[doc(hidden)]
#[macro_export]
macro_rules! __cuweave_word {
    () => {};
}
