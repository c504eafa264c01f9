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
/// Its arguments are pinned memory, `&Pinned<[T; len]>` and `&mut Pinned<[T; len]>` or parts of it, and host values `&T`; the function
/// is given slices and `&T`: `FnMut(&[A], &mut [B], &T) + Send + 'static`. Scalars are captured: `move |a| .. n ..`. The expression
/// is evaluated when the graph is built, and again where a setter changes a scalar in it or the length of a part that it is given. The statement is ordered by what it
/// reads and writes, as a kernel is.
///
/// The function runs on a thread of the driver. It may not call CUDA, nor wait for work of a device. A panic in it ends the
/// function, not the launch: the next call of the exec returns it as an error. The drop of the exec waits for the last launch.
///
/// A host value that is given to the function is bound as an `Arc`, so that a forgotten exec keeps it. A function with such values, or
/// with pinned memory, is not called by other graph functions. In the body of an `if`, `while` or `match` on a buffer there is
/// no host statement.
pub fn host<A>(arguments: impl InGraphFunctions, _function: A) {
    arguments.never()
}

/// `wait(&event);` makes all that is written after it wait for an event of the caller, a host value `&CudaEvent` bound as an `Arc`;
/// `record(&event);` records one behind all that is written before it. In explicit order `#[after(..)]` says it.
///
/// So other streams meet the middle of a launch: a stream that waits for a recorded event, after `launch` has returned, goes on
/// while the rest of the graph runs. A launch waits for the last record of the event before it. Events order: what the other stream
/// may touch is not checked. They cannot stand in the body of an `if`, `while` or `match` on a buffer.
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
