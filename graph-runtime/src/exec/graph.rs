//! Graph functions as types: the traits that generated code implements, the graph that users hold, and the
//! common part of every exec.
//!
//! Generated code lives in the user's crate, so the traits that it implements are public and a generic
//! function of the user could call their methods. Internal methods therefore take a [`Token`], whose type can
//! be named only under `__private`: safe code elsewhere can neither call nor implement them.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::CudaStream;
use cuweave_core::dump;
use cuweave_core::expand::ArgumentDescription;
use cuweave_core::operation::Operations;
use cuweave_core::table::Table;

use crate::bind::{HintVisitor, IterationCounts, LoopIterations, ViewContext, Visitor};
use crate::build::Body;
use crate::cuda::DropOrLeak;
use crate::error::Result;
use crate::token::Token;

use super::arena::ArenaPool;
use super::boxed_core::BoxedCore;
use super::core::Core;
use super::pooled::instantiate_in;
use super::release::view_context;
use super::size_ranges::SizeSlot;
use super::times::BuildTimes;

/// Gives the runtime access to the private fields of a graph function's types. Implemented by generated code.
pub trait Generated: Sized {
    /// The exec: `launch`, the setters and everything else.
    type Exec: fmt::Debug;
    /// Views of the bound buffers.
    type Views<'v>
    where
        Self: 'v;
    /// Mutable views of the buffers bound mutably or owned.
    type ViewsMut<'v>
    where
        Self: 'v;

    /// Visits the bound buffers in the order of the program's buffers.
    fn operands(&mut self, visitor: &mut Visitor<'_>, token: Token);
    /// Returns views of the bound buffers.
    fn views<'v>(&'v self, view_context: &ViewContext<'v>, token: Token) -> Self::Views<'v>;
    /// Returns mutable views of the buffers bound mutably or owned.
    fn views_mut<'v>(&'v mut self, view_context: &ViewContext<'v>, token: Token) -> Self::ViewsMut<'v>;
    /// Wraps an exec.
    fn exec(core: ExecCore<Self>, token: Token) -> Self::Exec;
    /// Unwraps an exec.
    fn core(exec: &Self::Exec, token: Token) -> &ExecCore<Self>;
    /// Unwraps an exec.
    fn core_mut(exec: &mut Self::Exec, token: Token) -> &mut ExecCore<Self>;
    /// Unwraps an exec.
    fn into_core(exec: Self::Exec, token: Token) -> ExecCore<Self>;
}

/// A graph function, identified by the type of its bound arguments. Only `#[cuweave::graph]` can implement it.
pub trait GraphFn: Generated {
    /// Returns the function's table. `None` for a graph from a builder, whose values hold the table.
    #[doc(hidden)]
    fn table(token: Token) -> Option<&'static Table>;
    /// Returns the records and lists among its arguments, in the order of its parameters.
    ///
    /// # Errors
    ///
    /// A length without a value.
    #[doc(hidden)]
    fn described(&self, token: Token) -> Result<Vec<ArgumentDescription>> {
        let _ = token;
        Ok(Vec::new())
    }
    /// Returns the size with this number among the scalars. `None` for other scalars.
    #[doc(hidden)]
    fn size(&mut self, number: usize, token: Token) -> Option<&mut dyn SizeSlot> {
        let _ = (number, token);
        None
    }
    /// Visits the hints about the managed memory of its arguments. By default there are none.
    #[doc(hidden)]
    fn hints(&self, visitor: &mut HintVisitor, token: Token) {
        let _ = (visitor, token);
    }
    /// The values of its scalars, with which its expressions are evaluated.
    #[doc(hidden)]
    type Values<'v>: Body
    where
        Self: 'v;
    /// Returns the values of its scalars.
    #[doc(hidden)]
    fn values(&self, token: Token) -> Self::Values<'_>;
}

/// The exec of a graph function: a graph that can be launched repeatedly.
///
/// For `#[cuweave::graph] fn residual(..)` it is the type `residual::Exec`, which has all methods.
///
/// # Forgetting an exec
///
/// After `std::mem::forget` the exec's launches may still be in flight. Borrowed buffers are freed after them, and
/// later uses through cudarc of the buffers that the graph writes are ordered after them on any stream.
///
/// A buffer borrowed for reads is recorded as in use on its owning stream only. A write on a third stream,
/// one that neither owns the buffer nor ran the launch, waits for the launches only if the exec is dropped.
/// The reason: a `CudaSlice` waits only for its own two events, and recording them again would cost a driver
/// call per buffer and launch (40 us for 300 buffers). Owned buffers, buffers in an `Arc`, and a
/// [`Buffer`](crate::Buffer) have no such gap.
///
/// cudarc frees borrowed pinned memory on the host after it waited for the event that each launch records. cudarc skips
/// that wait if its context holds an earlier error (`CudaContext::record_err`), as it does for its own copies.
pub type Exec<A> = <A as Generated>::Exec;

/// A graph that is built but not instantiated.
///
/// [`Graph::instantiate`] consumes it, because a graph with memory nodes can be instantiated only once.
#[must_use = "a graph does nothing until it is instantiated and launched"]
pub struct Graph<A: GraphFn> {
    pub(super) core: BoxedCore,
    args: A,
    not_sync: PhantomData<Cell<()>>,
}

/// Makes rustc explain why a graph that is not instantiated cannot be launched. Nothing implements it.
#[diagnostic::on_unimplemented(
    message = "a graph is instantiated before it is launched",
    label = "write `let mut exec = graph.instantiate()?;` and `exec.launch(&stream)?;`"
)]
pub trait NeedsNoInstance {}

impl<A: GraphFn> Graph<A> {
    /// Exists so that rustc's error message says that a graph must be instantiated before it is launched.
    ///
    /// # Errors
    ///
    /// Cannot be called.
    #[doc(hidden)]
    pub fn launch<S>(&self, _: S) -> Result<()>
    where
        A: NeedsNoInstance,
    {
        Ok(())
    }

    pub(crate) fn new(core: BoxedCore, args: A) -> Graph<A> {
        Graph { core, args, not_sync: PhantomData }
    }

    /// Instantiates the graph, so that it can be launched.
    ///
    /// # Errors
    ///
    /// A failure of the driver, for example for lack of memory.
    pub fn instantiate(mut self) -> Result<A::Exec> {
        self.core.instantiate(&self.args.values(Token))?;
        self.into_exec()
    }

    /// Instantiates the graph for launches on the pool's stream, with its temporaries in the pool's arena.
    /// This overrides the function's `memory` option. The exec cannot be launched on any other stream.
    ///
    /// The graph is laid out and added again without memory nodes for its temporaries. This takes as long as
    /// building it again with sizes that were planned before.
    ///
    /// # Errors
    ///
    /// A pool of another context; sizes that cannot be planned; a failure of the driver, such as lack of memory.
    pub fn instantiate_in(mut self, pool: &ArenaPool) -> Result<A::Exec> {
        instantiate_in(&mut self.core, &self.args.values(Token), pool)?;
        self.into_exec()
    }

    fn into_exec(self) -> Result<A::Exec> {
        let Graph { core, args, .. } = self;
        let args = DropOrLeak::new(args, core.leaks.clone());
        let mut exec = ExecCore { core, args, not_sync: PhantomData, _borrows: BorrowUntilDrop(PhantomData) };
        exec.begin()?;
        Ok(A::exec(exec, Token))
    }

    /// Returns the host time that the build took.
    #[must_use]
    pub fn times(&self) -> BuildTimes {
        self.core.times
    }
}

impl<A: GraphFn> fmt::Debug for Graph<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.describe("Graph", f)
    }
}

/// Returns the operations of a graph as they were added.
pub fn operations<A: GraphFn>(graph: &Graph<A>) -> &Operations {
    &graph.core.built.plan.operations
}

/// Returns the certificate of a graph, built from the nodes, edges and values that the driver holds.
///
/// # Errors
///
/// A failure of the driver; a node that does not belong to the program.
pub fn read_back<A: GraphFn>(graph: &Graph<A>) -> Result<cuweave_check::Certificate> {
    graph.core.certificate_builder().read_back()
}

/// Returns the checked program of a graph and its operations as text.
pub fn dump<A: GraphFn>(graph: &Graph<A>) -> [String; 2] {
    let checked = &graph.core.definition.flat.checked;
    [dump::checked(checked), dump::operations(checked.program(), &graph.core.built.plan.operations)]
}

/// The common part of every exec, which the generated methods call.
///
/// Invariant: the fields are dropped in order. First the graph, which orders later uses after the last
/// launch; then the arguments, which frees owned buffers after that launch.
pub struct ExecCore<A> {
    pub(crate) core: BoxedCore,
    pub(crate) args: DropOrLeak<A>,
    pub(crate) not_sync: PhantomData<Cell<()>>,
    pub(crate) _borrows: BorrowUntilDrop<A>,
}

/// Makes the drop of an exec a use of its borrows for the borrow checker. The drop of `Core` hands borrowed buffers
/// back, but `Core` knows only the buffers' event handles; the buffers themselves must live until then.
pub(crate) struct BorrowUntilDrop<A>(PhantomData<A>);

impl<A> Drop for BorrowUntilDrop<A> {
    fn drop(&mut self) {}
}

impl<A> fmt::Debug for ExecCore<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.describe("Exec", f)
    }
}

impl<A: GraphFn> ExecCore<A> {
    /// See the generated `upload`.
    pub fn upload(&mut self, stream: &Arc<CudaStream>) -> Result<()> {
        self.core.upload(stream)
    }

    /// See the generated `synchronize`.
    pub fn synchronize(&mut self) -> Result<()> {
        self.core.synchronize()
    }

    /// See the generated `launches`.
    #[must_use]
    pub fn launches(&self) -> u64 {
        self.core.counting.launches
    }

    /// See the generated `enable`.
    pub fn enable(&mut self, name: &str, on: bool) -> Result<()> {
        self.core.enable(name, on)
    }

    /// See the generated `is_enabled`.
    pub fn is_enabled(&self, name: &str) -> Result<bool> {
        self.core.is_enabled(name)
    }

    /// See the generated `iterations`.
    pub fn iterations(&self, name: &str) -> Result<LoopIterations> {
        IterationCounts::iterations(&*self.core, name)
    }

    /// See the generated `args`.
    pub fn views(&self) -> A::Views<'_> {
        self.args.views(&view_context(&self.core), Token)
    }

    /// See the generated `args_mut`.
    pub fn views_mut(&mut self) -> A::ViewsMut<'_> {
        self.args.views_mut(&view_context(&self.core), Token)
    }

    /// Returns the bound arguments.
    #[must_use]
    pub fn arguments(&self) -> &A {
        &self.args
    }

    /// See the generated `into_args`.
    pub fn into_args(self) -> A {
        let ExecCore { core, args, .. } = self;
        drop(core);
        args.into_inner()
    }
}

/// Implements the methods that a `Graph` and an exec share. Each forwards to its `core`.
macro_rules! impl_common_methods {
    ({$($generics:tt)*} $ty:ty) => {
        impl<$($generics)*> $ty {
            /// Returns the certificate of the graph with its current values: the program, and the nodes made
            /// from it, for [`cuweave_check::check`]. With the environment variable `CUWEAVE_CHECK=1` the
            /// nodes are read back from the driver. O(accesses + edges).
            #[must_use]
            pub fn certificate(&self) -> cuweave_check::Certificate {
                self.core.certificate()
            }

            /// Returns the collectives of the graph in the order in which each rank runs them.
            #[must_use]
            pub fn collectives(&self) -> $crate::build::Collectives {
                self.core.collectives()
            }

            /// Returns the trade-off between the length of the longest chain of statements and the bytes of
            /// the temporaries, for launches as written. Has up to `points` budgets between the plan without
            /// a budget and the smallest possible one, largest first. A budget applies to each device.
            ///
            /// # Errors
            ///
            /// Sizes that overflow.
            pub fn budget_curve(
                &self,
                points: u64,
            ) -> $crate::error::Result<Vec<cuweave_core::plan::budget::CurvePoint>> {
                self.core.budget_curve(points)
            }
        }
    };
}
pub(crate) use impl_common_methods;

impl_common_methods!({A: GraphFn} Graph<A>);
impl_common_methods!({A: GraphFn} ExecCore<A>);

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe("Core", f)
    }
}
