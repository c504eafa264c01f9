//! The words of the language, so that editors know them. The [reference](crate::reference) has every form
//! with an example.
//!
//! The attributes read the words of graph functions and kernel declarations as tokens. Only the launches of a
//! builder really call `atomic` and `per_item`.

pub use cudarc::driver::LaunchConfig;
use cuweave_runtime::builder::{Items, ToAtomic};
#[doc(inline)]
pub use cuweave_runtime::multicast::Multimem;
#[doc(inline)]
pub use cuweave_runtime::private::param::Atomic;
#[doc(inline)]
pub use cuweave_runtime::{CallStream, Condition, Pinned, Ptr, PtrMut};
use std::marker::PhantomData;
#[doc(no_inline)]
pub use std::mem::MaybeUninit;

use crate::editor::DeviceBuffer;
use language::InGraphFunctions;

/// `let b = alloc::<T>(len);` allocates a buffer of `len` elements when the graph runs.
///
/// It is freed by a free node that the compiler places after its last use, or by `free(b);`. If the function
/// returns it, the receiver frees it.
///
/// In a loop each iteration allocates its own buffer. `swap(&mut a, &mut b);` exchanges the buffers of two
/// names, and `a = b;` makes `a` name the buffer of `b`. Both need whole allocations of the same length and
/// element type. Neither makes a node. A buffer without a name is freed after its last use.
pub fn alloc<T>(len: impl InGraphFunctions) -> DeviceBuffer<T> {
    len.never()
}

/// `let go = condition();` makes a condition that kernels set, each by a parameter [`Condition`]. One `if go { .. }`,
/// `while go { .. }` or `match go { 0 => .., 1 => .., _ => {} }` of the same block reads it. Neither makes a kernel.
pub fn condition() -> PhantomData<Condition> {
    PhantomData
}

/// `fill(&mut b, value);` sets every element of a buffer of integers, floats or `bool`s of 1, 2, 4 or 8
/// bytes. With the feature `half` also of `half::f16` and `half::bf16`.
///
/// `fill(&mut b.rows(h, w, pitch), value);` sets `h` rows of `w` elements, each beginning `pitch` elements after the
/// one before.
pub fn fill<V>(buffer: impl InGraphFunctions, _value: V) {
    buffer.never()
}

/// `copy(&a, &mut b);` copies a device buffer or pinned host memory to another one of the same length.
///
/// `copy(&a.rows(h, w, pitch), &mut b.rows(h, w, other));` copies `h` rows of `w` elements, each beginning `pitch`
/// elements after the one before; with `.planes(d, height)` after `.rows(..)`, `d` planes, each beginning `height`
/// rows after the one before. The numbers count elements and rows.
pub fn copy<B>(from: impl InGraphFunctions, _to: B) {
    from.never()
}

/// `free(b);` frees an allocation here instead of after its last use.
pub fn free(buffer: impl InGraphFunctions) {
    buffer.never()
}

/// `host(&a, &mut b, |a, b| ..);` runs a function on the host during each launch.
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
/// Its arguments are pinned memory, `&Pinned<[T; len]>` and `&mut Pinned<[T; len]>`, or parts of it, and host
/// values `&T`. The function is `FnMut(&[A], &mut [B], &T) + Send + 'static`. Scalars are captured: `move |a|
/// .. n ..`. The expression is evaluated when the graph is built, so the function can keep state between
/// launches: `{ let mut turn = 0; move |a| .. }`. A setter of a scalar in the expression, or in the length of
/// one of its parts, evaluates it again. The statement is ordered by its accesses, like a kernel.
///
/// - The function runs on a thread of the driver. It must not call CUDA or wait for work of a device. Dropping the
///   exec waits for the last launch, so a thread that drops one must not hold a lock that the function takes.
/// - A panic ends the function but not the launch: later statements see the memory as the function left it. The
///   next call of the exec that can fail (`launch`, `synchronize`, a setter) returns the panic as an error.
/// - A host value for the function is bound as an `Arc`, so that a forgotten exec keeps it alive. A function that
///   only passes it on to a call declares it as `&Arc<T>`.
/// - The body of an `if`, `while` or `match` on a buffer cannot contain a host statement or a call of a
///   function with one.
pub fn host<A>(arguments: impl InGraphFunctions, _function: A) {
    arguments.never()
}

/// `wait(&event);` makes all later statements wait for an event of the caller, a host value `&CudaEvent`
/// bound as an `Arc`. `record(&event);` records an event after all earlier statements. In explicit order,
/// only `#[after(..)]` orders them.
///
/// Events let other streams synchronize with the middle of a launch: a stream that waits for a recorded
/// event, after `launch` returned, continues while the rest of the graph runs. A launch waits for the last
/// record of the event before it; an event that was never recorded does not block. An event may have any
/// flags and must be of the graph's context. Events only order: accesses of the other stream are not checked.
/// They cannot be in the body of an `if`, `while` or `match` on a buffer.
pub fn wait(event: impl InGraphFunctions) {
    event.never()
}

/// `wait_value(&flag, first);` makes all later statements wait until a flag has reached a value that advances
/// with each launch. `write_value(&flag, first);` writes such a value after all earlier statements.
///
/// Launch `n` of an exec, counted from 0 by `exec.launches()`, waits for or writes `first + n`. So no launch
/// mistakes an earlier launch's signal for its own, and the other side knows for which value this launch
/// waits. A third argument is a step other than 1: `wait_value(&flag, first, step)`, for graphs that wait
/// several times per launch.
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
/// A flag is a host value `&Flag<u32>` or `&Flag<u64>`, bound as an `Arc`, which other graphs and the host
/// can use at the same time. It can also be pinned memory of one element, `&Pinned<[u32; 1]>`, `&mut
/// Pinned<[u64; 1]>` or a part. Such memory belongs to this graph and is ordered like its other buffers:
/// `write_value(&mut number, 0); copy(&number, &mut x[0..1]);` passes the index of the launch to a kernel. A
/// flag cannot be device memory: drivers refuse pool memory, from which cudarc allocates, and graph memory.
///
/// - Values are compared modulo their range, so a `u32` may wrap around. The build refuses a wait whose step
///   is 0, or at least half of the range. A launch whose value is not ahead of the previous launch's is
///   refused before anything runs. This happens if a setter moved the value back, or if the step is less than
///   the number of waits per launch. A flag that is already ahead when the exec is made does not block: start
///   both sides with the same value.
/// - `write_value(&flag, value, 0)` writes the same value in all launches: a reset.
/// - A wait also comes after all earlier writes and signals. In explicit order, only `#[after(..)]` orders it.
/// - **A launch that nobody answers never ends.** Neither do `synchronize`, the drop of the exec and
///   everything else that waits for its stream. The driver does not know this dependency: work that is queued
///   after the launch, on the host or on the device, does not run before it. So the answer must be enqueued
///   first or come from the host, and must not need the stream or the buffers of the launch: launches that
///   share a `Buffer` wait for each other as a whole if either writes it. The simulator ends such a launch
///   with an error after `CUWEAVE_SIM_TIMEOUT`.
/// - Accesses of the other side are not checked. Safe code cannot pass it a buffer of the launch.
/// - Such statements cannot be in the body of an `if`, `while` or `match` on a buffer. 64-bit values need a
///   device that supports them; `u32` works everywhere.
pub fn wait_value<V>(flag: impl InGraphFunctions, _value: V) {
    flag.never()
}

/// `write_value(&flag, first);` writes a value that advances with each launch: see [`wait_value`].
pub fn write_value<V>(flag: impl InGraphFunctions, _value: V) {
    flag.never()
}

/// `wait_semaphore(&semaphore, first);` waits for a semaphore of another API, and `signal(&semaphore, first);`
/// signals one.
///
/// The semaphore is a host value `&Semaphore`, bound as an `Arc` and [imported](crate::Semaphore::import)
/// from a handle that the other API exported. Order, values by launch, the third argument and unanswered
/// launches are like those of [`wait_value`]: launch `n` waits for `first + n` on a timeline.
/// `wait_semaphore(&semaphore);` and `signal(&semaphore);` are for binary semaphores; on a timeline they
/// start with 1. A signal whose value is not ahead of the previous launch's is an error, too.
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
/// Two such launches are not ordered if the PTX shows that they commute: both apply only one reduction
/// (`add`, `min`, `max`, `and`, `or` or `xor`) of one type to the buffer, at device scope or wider, and do
/// not use its results. All others run in program order; in explicit order the build refuses them.
pub fn atomic<B: ToAtomic>(buffer: B) -> B::Argument {
    buffer.to_atomic()
}

/// `record(layer.inner)` passes a record inside of a record, or a list inside of one, to a graph function.
///
/// A graph function does not see the fields of a record: `layer.inner` alone is a scalar, and `&layer.inner`
/// has the type that the record declares.
///
/// As a statement, `record(&event);` records an event: see [`wait`].
pub fn record(only: impl InGraphFunctions) {
    only.never()
}

/// `kernel[per_item(n)](..)` launches one thread for each of `n` items, in blocks of 256 threads, or fewer if
/// the kernel's `.maxntid` requires it. `n = 0` is an error.
pub fn per_item<N: Items>(n: N) -> N::Config {
    n.per_item()
}

/// An item that generated code uses, so that a glob import of the prelude never counts as unused.
#[doc(hidden)]
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub enum __Prelude {}

/// Items for the words of the language that no prelude brings into scope.
pub(crate) mod language {
    /// An argument of words that are allowed only in graph functions. No type implements it, so nothing can call them.
    #[diagnostic::on_unimplemented(
        message = "`alloc`, `fill`, `copy`, `free`, `host`, `record`, `wait`, `wait_value`, `write_value`, \
            `wait_semaphore`, `signal` and `atomic` are words of graph functions",
        label = "not in a graph function",
        note = "write `#[cuweave::graph]` before the function"
    )]
    pub trait InGraphFunctions {
        /// Never returns: no type implements the trait.
        fn never<T>(&self) -> T;
    }

    /// The words as macros, for programs that do not import them: generated code refers to each word that a function
    /// uses. Macros have their own namespace, so they cannot collide with a module, type or function of the program.
    pub mod found {
        macro_rules! words {
            ($($word:ident)*) => { $(pub use crate::__cuweave_word as $word;)* };
        }
        words!(alloc fill copy free host wait wait_value write_value wait_semaphore signal atomic per_item record);
        words!(condition Atomic Condition MaybeUninit Pinned Ptr PtrMut __Prelude);
    }
}

#[doc(hidden)]
#[macro_export]
macro_rules! __cuweave_word {
    () => {};
}
