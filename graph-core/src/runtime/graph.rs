//! Graph functions as types: what generated code implements, and the graph and the exec that users hold.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::plan::budget::CurvePoint;
use crate::table::Table;

use super::arena::ArenaPool;
use super::core::Core;
use super::dims::Dims;
use super::dot;
use super::driver::Keep;
use super::error::Result;
use super::evaluate::Evaluation;
use super::operand::Visitor;
use super::report::{BuildTimes, Report};

/// What the macro generates for a graph function: its bound arguments.
pub trait GraphFn: Sized {
    /// The type beside it that has `launch`, the setters and the outputs.
    type Methods;
    /// Views of the bound buffers.
    type Views<'v>
    where
        Self: 'v;
    /// Mutable views of those bound mutably or owned.
    type ViewsMut<'v>
    where
        Self: 'v;

    /// The checked program, the scalar arguments and what computes lengths and bounds.
    fn table() -> &'static Table;
    /// The values of the expressions that lengths and bounds are computed of, in the order of the table's leaves.
    fn dims(&self, dims: &mut Dims);
    /// Shows the bound buffers, in the order of the program's buffers.
    fn operands(&mut self, visitor: &mut Visitor<'_>);
    /// Gives the statement of an evaluation its configuration and values; the table says by which step.
    fn evaluate(&self, step: u32, evaluation: &mut Evaluation<'_>) -> Result<()>;
    /// Views of the bound buffers.
    fn views(&self) -> Self::Views<'_>;
    /// Mutable views.
    fn views_mut(&mut self) -> Self::ViewsMut<'_>;
    /// Wraps an exec.
    fn methods(core: ExecCore<Self>) -> Self::Methods;
    /// The exec.
    fn core(methods: &Self::Methods) -> &ExecCore<Self>;
    /// The exec.
    fn core_mut(methods: &mut Self::Methods) -> &mut ExecCore<Self>;
    /// The exec.
    fn into_core(methods: Self::Methods) -> ExecCore<Self>;
}

/// A graph that is built and not instantiated.
///
/// It is consumed by [`Graph::instantiate`]: a graph with memory nodes can be instantiated once.
pub struct Graph<A: GraphFn> {
    core: Core,
    args: A,
    not_sync: PhantomData<Cell<()>>,
}

impl<A: GraphFn> Graph<A> {
    pub(super) fn new(core: Core, args: A) -> Graph<A> {
        Graph { core, args, not_sync: PhantomData }
    }

    /// Makes it ready to be launched.
    ///
    /// # Errors
    ///
    /// A failure of the driver, for example for lack of memory.
    pub fn instantiate(mut self) -> Result<Exec<A>> {
        self.core.instantiate()?;
        Ok(self.into_exec())
    }

    /// Makes it ready to be launched on the pool's stream, with its temporaries in the pool's arena, whatever `memory`
    /// says. No other stream takes it from then on.
    ///
    /// The graph is laid out and added anew, without memory nodes for its temporaries, so this takes as long as
    /// building it again with sizes that were planned before.
    ///
    /// # Errors
    ///
    /// A pool of another context, or on a stream that is capturing; sizes that cannot be planned; a failure of the
    /// driver, for example for lack of memory.
    pub fn instantiate_in(mut self, pool: &ArenaPool) -> Result<Exec<A>> {
        self.core.instantiate_in(pool)?;
        Ok(self.into_exec())
    }

    fn into_exec(self) -> Exec<A> {
        Exec {
            methods: A::methods(ExecCore {
                args: Keep::new(self.args, self.core.leaks.clone()),
                core: self.core,
                not_sync: PhantomData,
                _outlived: Outlived(PhantomData),
            }),
        }
    }

    /// What the graph consists of and what it needs.
    pub fn report(&self) -> Report {
        Report::of(&self.core)
    }

    /// How long the host took to build it.
    pub fn times(&self) -> BuildTimes {
        self.core.times
    }

    /// The graph as a picture, in the DOT language.
    pub fn dot(&self) -> String {
        dot::dot(&self.core)
    }

    /// The temporaries as boxes over the levels of the graph and the bytes of their memory, as an SVG: shared bytes are
    /// shaded, and what makes the bound is outlined.
    ///
    /// # Errors
    ///
    /// Sizes that overflow.
    pub fn memory_svg(&self) -> Result<String> {
        self.core.memory_svg()
    }

    /// The longest chain of statements against the bytes of the temporaries, at up to so many budgets between the plan as
    /// it is and the floor, the widest first.
    ///
    /// # Errors
    ///
    /// Sizes that overflow.
    pub fn budget_curve(&self, points: u64) -> Result<Vec<CurvePoint>> {
        self.core.budget_curve(points)
    }

    /// The operations as they were added.
    #[doc(hidden)]
    pub fn operations(&self) -> &crate::operation::Operations {
        &self.core.operations
    }
}

/// A graph that can be launched, again and again.
///
/// It owns or borrows every operand. What depends on the graph function, `launch`, the setters and `output`, are
/// methods of the type that it dereferences to.
///
/// # An exec that is forgotten
///
/// After `std::mem::forget` its launches may still be in flight. Borrowed buffers are freed behind them, and whatever cudarc
/// does with those that the graph writes comes after them, on any stream. A buffer that is borrowed to be read is known to
/// be in use on its owning stream alone: a write on a third stream, one that neither owns the buffer nor had the launch,
/// waits for the launches only where the exec is dropped. (It would take a driver call for each such buffer at each launch.)
/// Buffers that are owned or in an `Arc` have no such gap.
pub struct Exec<A: GraphFn> {
    methods: A::Methods,
}

impl<A: GraphFn> Exec<A> {
    /// Brings the graph to the device and maps its memory, so that the first launch need not.
    ///
    /// # Errors
    ///
    /// A stream of another context or one that is capturing; a failure of the driver.
    pub fn upload(&mut self, stream: &Arc<CudaStream>) -> Result<()> {
        A::core_mut(&mut self.methods).core.upload(stream)
    }

    /// Views of the bound buffers. What is done with them comes after the last launch, and the next launch after it.
    pub fn args(&self) -> A::Views<'_> {
        let exec = A::core(&self.methods);
        exec.core.settle();
        exec.args.views()
    }

    /// Mutable views of the buffers that are bound mutably or owned: contents can change, addresses cannot.
    pub fn args_mut(&mut self) -> A::ViewsMut<'_> {
        let exec = A::core_mut(&mut self.methods);
        exec.core.settle();
        exec.args.views_mut()
    }

    /// Gives the arguments back. What is done with them comes after the last launch.
    pub fn into_args(self) -> A {
        let ExecCore { core, args, .. } = A::into_core(self.methods);
        drop(core);
        args.into_inner()
    }

    /// What the graph consists of and what it needs.
    pub fn report(&self) -> Report {
        Report::of(&A::core(&self.methods).core)
    }

    /// The graph as a picture, in the DOT language.
    pub fn dot(&self) -> String {
        dot::dot(&A::core(&self.methods).core)
    }

    /// The temporaries as boxes over the levels of the graph and the bytes of their memory, as an SVG: shared bytes are
    /// shaded, and what makes the bound is outlined.
    ///
    /// # Errors
    ///
    /// Sizes that overflow.
    pub fn memory_svg(&self) -> Result<String> {
        A::core(&self.methods).core.memory_svg()
    }

    /// The longest chain of statements against the bytes of the temporaries, at up to so many budgets between the plan as
    /// it is and the floor, the widest first.
    ///
    /// # Errors
    ///
    /// Sizes that overflow.
    pub fn budget_curve(&self, points: u64) -> Result<Vec<CurvePoint>> {
        A::core(&self.methods).core.budget_curve(points)
    }
}

impl<A: GraphFn> Deref for Exec<A> {
    type Target = A::Methods;

    fn deref(&self) -> &A::Methods {
        &self.methods
    }
}

impl<A: GraphFn> DerefMut for Exec<A> {
    fn deref_mut(&mut self) -> &mut A::Methods {
        &mut self.methods
    }
}

/// An exec, for the generated methods.
///
/// Fields in the order of their drop: the graph first, which orders what follows behind the last launch, then the
/// arguments, whose owned buffers are freed behind it.
pub struct ExecCore<A> {
    pub(super) core: Core,
    pub(super) args: Keep<A>,
    pub(super) not_sync: PhantomData<Cell<()>>,
    pub(super) _outlived: Outlived<A>,
}

/// Makes the drop of an exec a use of what it borrows: `Core`, which knows the buffers' events by number only,
/// gives borrowed buffers back in its drop, so none of them may be gone by then.
pub(super) struct Outlived<A>(PhantomData<A>);

impl<A> Drop for Outlived<A> {
    fn drop(&mut self) {}
}
