//! The builder: its declarations, options, and the order of its statements. Statements are added in `statements`
//! and `conditions`. `build` lowers the program (`lower`) and builds its graph like that of a graph function.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cudarc::driver::CudaContext;
use cuweave_core::index::{Index, wide};
use cuweave_core::ir::{self, BufferId, Device, Launches, Memory, Origin, StatementId};
use cuweave_core::kind::StatementKind;

use crate::bind::{BindMut, BindPinned, BindPinnedMut, BindShared, BindTaken};
use crate::build::ScalarValue;
use crate::error::{Refusal, Result};
use crate::exec::{Graph, build_on};

use super::bound::{ArgumentBinding, EXCLUSIVE, ElementType, PINNED, PINNED_MUT, SHARED, Storable, TAKEN};
use super::code::Args;
use super::handle::{CallSite, Handle, StatementRef};
use super::lower;
use super::messages;
use super::program::{BuilderScalar, Program, SizeLimits, StatementSite};
use super::size::{Integer, Scalar, Size, ToSize};

static NEXT: AtomicU64 = AtomicU64::new(1);

/// Builds a graph that is known only at run time.
///
/// The statements are those of a graph function and mean the same: program order is the meaning, the order of
/// nodes is inferred from the accesses, and memory is planned. Everything that the macro or rustc would
/// reject at compile time is an [`Error::Refused`](crate::Error::Refused) here, with the code and the source
/// location of the call. Faults of a single call are returned at once, faults of the whole program by
/// [`build`](Builder::build).
///
/// - A [`Handle`] is a buffer, a [`Scalar`] a scalar argument, a [`Statement`](super::Statement) a node. They
///   can be copied and kept in collections. Other builders reject them.
/// - [`named`](Builder::named), [`on`](Builder::on) and [`after`](Builder::after) apply to the next
///   statement: `b.after(s).launch(..)?`.
/// - Expressions over integer scalars, `n * 4`, are lengths, bounds of ranges (`h.range(i * n, (i + 1) * n)`)
///   and extents of configurations. Ranges are compared as expressions, as in a graph function, so that a
///   setter changes no order.
pub struct Builder<'a> {
    /// The contexts of its devices.
    pub(super) contexts: Vec<Arc<CudaContext>>,
    pub(super) program: Program,
    /// The buffers bound to the arguments.
    pub(super) bound: Vec<(BufferId, ArgumentBinding<'a>)>,
}

impl fmt::Debug for Builder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("name", &self.program.name)
            .field("statements", &self.program.statements.len())
            .finish_non_exhaustive()
    }
}

impl<'a> Builder<'a> {
    /// Returns a builder for a graph in a context.
    #[track_caller]
    pub fn new(ctx: &Arc<CudaContext>) -> Builder<'a> {
        Builder::with_name(ctx, "graph")
    }

    /// Like [`Builder::new`], with a name for messages and pictures.
    #[track_caller]
    pub fn with_name(ctx: &Arc<CudaContext>, name: &str) -> Builder<'a> {
        Builder::made(vec![ctx.clone()], name, CallSite::caller())
    }

    /// Returns a builder for a graph over several devices, which [`on`](Builder::on) numbers in this order.
    /// The graph is launched into streams of the first context.
    #[track_caller]
    pub fn over(contexts: &[Arc<CudaContext>], name: &str) -> Builder<'a> {
        let mut builder = Builder::made(contexts.to_vec(), name, CallSite::caller());
        let devices = builder.program.dim(&wide(contexts.len()).to_size());
        builder.program.options.devices = Some(devices);
        builder
    }

    pub(super) fn made(contexts: Vec<Arc<CudaContext>>, name: &str, place: CallSite) -> Builder<'a> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Builder { contexts, program: Program::new(number, name, place), bound: Vec::new() }
    }

    /// Sets how statements are ordered: `#[graph(order = ..)]`. Explicit order comes only from
    /// [`after`](Builder::after) and [`edge`](Builder::edge); the build checks that it suffices.
    pub fn order(&mut self, order: ir::Order) -> &mut Self {
        self.program.options.order = order;
        self
    }

    /// Sets who allocates the temporaries: `#[graph(memory = ..)]`.
    pub fn memory(&mut self, memory: Memory) -> &mut Self {
        self.program.options.memory = Some(memory);
        self
    }

    /// Checks the certificate of the graph when it is built: `#[graph(check)]`.
    pub fn check_certificate(&mut self) -> &mut Self {
        self.program.options.check = true;
        self
    }

    /// Sets how launches may be changed: `#[graph(launches = ..)]`.
    pub fn launches(&mut self, launches: Launches) -> &mut Self {
        self.program.options.launches = Some(launches);
        self
    }

    /// Sets the maximum number of bytes for the temporaries: `#[graph(budget = ..)]`.
    #[track_caller]
    pub fn budget(&mut self, bytes: impl ToSize) -> &mut Self {
        let bytes = bytes.to_size();
        match self.program.check(&StatementSite { place: CallSite::caller(), name: "budget" }, &bytes) {
            Ok(()) => self.program.options.budget = Some(self.program.dim(&bytes)),
            Err(error) => self.program.keep_fault(error),
        }
        self
    }

    /// Sets the maximum number of nodes side by side: `#[graph(width = ..)]`.
    #[track_caller]
    pub fn width(&mut self, nodes: impl ToSize) -> &mut Self {
        let nodes = nodes.to_size();
        match self.program.check(&StatementSite { place: CallSite::caller(), name: "width" }, &nodes) {
            Ok(()) => self.program.options.width = Some(self.program.dim(&nodes)),
            Err(error) => self.program.keep_fault(error),
        }
        self
    }

    /// Names the next statement, or the buffer that it allocates.
    pub fn named(&mut self, name: &str) -> &mut Self {
        self.program.cursor.pending.name = Some(name.to_owned());
        self
    }

    /// Puts the next statement on a device: `#[on(1)]`. A condition takes all of its bodies with it. By
    /// default a statement is on the device of its enclosing body, or on the first one. The devices of a
    /// called graph function are counted from the device of the call.
    pub fn on(&mut self, device: u32) -> &mut Self {
        self.program.cursor.pending.on = Some(Device::from_u32(device));
        self
    }

    /// Lets other devices use the memory of the next allocation, whatever the statements say: `#[access(1)]`. This
    /// is for an output that graphs use on these devices.
    pub fn access(&mut self, devices: impl IntoIterator<Item = u32>) -> &mut Self {
        self.program.cursor.pending.access.extend(devices.into_iter().map(Device::from_u32));
        self
    }

    /// Makes the next statement, a launch, `fill` or `copy`, one that an exec can disable: `#[switchable]`.
    pub fn switchable(&mut self) -> &mut Self {
        self.program.cursor.pending.switchable = true;
        self
    }

    /// Orders the next statement after another one: `#[after(..)]`. An allocation stands for its allocating statement.
    pub fn after(&mut self, before: impl Into<StatementRef>) -> &mut Self {
        self.program.cursor.pending.after.push(before.into());
        self
    }

    /// Orders one statement after another. They can be made in either order.
    ///
    /// # Errors
    ///
    /// Statements of another builder (CW402); an argument instead of an allocation (CW206). The build reports
    /// a cycle (CW204).
    #[track_caller]
    pub fn edge(&mut self, before: impl Into<StatementRef>, after: impl Into<StatementRef>) -> Result<()> {
        let site = StatementSite { place: CallSite::caller(), name: "edge" };
        let before = self.program.resolve_statement(&site, before.into())?;
        let after = self.program.resolve_statement(&site, after.into())?;
        self.program.statements[after].after.push(before);
        Ok(())
    }

    /// Declares a scalar argument with its value: `n: u32`. [`Exec::set_scalar`](super::Exec::set_scalar) changes it.
    #[track_caller]
    pub fn scalar<T: Copy + Send + Sync + 'static>(&mut self, name: &str, value: T) -> Scalar<T> {
        self.add_scalar(CallSite::caller(), name, value)
    }

    /// Declares a size with its value: `#[at_most(most)] n: u32`. Lengths may depend on it, and the exec serves all
    /// values from 1 to `most`, an expression over scalars that are no sizes. Memory is planned, and buffers are
    /// checked, for `most`.
    ///
    /// The build reports a length that may fall where the size rises.
    #[track_caller]
    pub fn scalar_at_most<T: Integer + Send + Sync + 'static>(
        &mut self,
        name: &str,
        value: T,
        most: impl ToSize,
    ) -> Scalar<T> {
        self.size(CallSite::caller(), name, value, 1, &most.to_size())
    }

    /// Like [`scalar_at_most`](Builder::scalar_at_most), with the smallest value: `#[at_least(least)]`.
    #[track_caller]
    pub fn scalar_between<T: Integer + Send + Sync + 'static>(
        &mut self,
        name: &str,
        value: T,
        least: u64,
        most: impl ToSize,
    ) -> Scalar<T> {
        self.size(CallSite::caller(), name, value, least, &most.to_size())
    }

    fn size<T: Integer + Send + Sync + 'static>(
        &mut self,
        place: CallSite,
        name: &str,
        value: T,
        least: u64,
        most: &Size,
    ) -> Scalar<T> {
        let scalar = self.add_scalar(place, name, value);
        let limits = match self.program.check(&StatementSite { place, name }, most) {
            Ok(()) => Some(SizeLimits {
                value: self.program.dim(&scalar.to_size()),
                least,
                most: self.program.dim(most),
            }),
            Err(error) => {
                self.program.keep_fault(error);
                None
            }
        };
        self.program.scalars[scalar.id].limits = limits;
        scalar
    }

    fn add_scalar<T: Copy + Send + Sync + 'static>(
        &mut self,
        place: CallSite,
        name: &str,
        value: T,
    ) -> Scalar<T> {
        self.program.values.push(ScalarValue::new(value));
        let symbol = BuilderScalar { name: name.to_owned(), place, limits: None };
        Scalar::new(self.program.builder, self.program.scalars.push(symbol))
    }

    /// Declares an argument `&[T; len]`, bound to a buffer of at least `len` elements.
    #[track_caller]
    pub fn shared<T: Storable>(
        &mut self,
        name: &str,
        len: impl ToSize,
        buffer: impl BindShared<'a, T>,
    ) -> Handle {
        self.argument(
            CallSite::caller(),
            name,
            len.to_size(),
            ArgumentBinding::new::<T>(buffer.bind_shared(), SHARED),
        )
    }

    /// Declares an argument `&mut [T; len]`, bound to a buffer of at least `len` elements.
    #[track_caller]
    pub fn exclusive<T: Storable>(
        &mut self,
        name: &str,
        len: impl ToSize,
        buffer: impl BindMut<'a, T>,
    ) -> Handle {
        self.argument(
            CallSite::caller(),
            name,
            len.to_size(),
            ArgumentBinding::new::<T>(buffer.bind_mut(), EXCLUSIVE),
        )
    }

    /// Declares an argument `&Pinned<[T; len]>`: page-locked host memory, for `copy` and `host`.
    #[track_caller]
    pub fn pinned<T: Storable>(
        &mut self,
        name: &str,
        len: impl ToSize,
        memory: impl BindPinned<'a, T>,
    ) -> Handle {
        self.argument(
            CallSite::caller(),
            name,
            len.to_size(),
            ArgumentBinding::new::<T>(memory.bind_pinned(), PINNED),
        )
    }

    /// Declares an argument `&mut Pinned<[T; len]>`: page-locked host memory, for `copy` and `host`.
    #[track_caller]
    pub fn pinned_mut<T: Storable>(
        &mut self,
        name: &str,
        len: impl ToSize,
        memory: impl BindPinnedMut<'a, T>,
    ) -> Handle {
        self.argument(
            CallSite::caller(),
            name,
            len.to_size(),
            ArgumentBinding::new::<T>(memory.bind_pinned_mut(), PINNED_MUT),
        )
    }

    /// Declares an argument `[T; len]`: the output of another graph.
    /// [`Exec::launch_with`](super::Exec::launch_with) hands it over. This graph frees it, or returns it by
    /// [`output`](Builder::output).
    #[track_caller]
    pub fn taken<T: Storable>(&mut self, name: &str, len: impl ToSize, output: impl BindTaken<T>) -> Handle {
        self.argument(
            CallSite::caller(),
            name,
            len.to_size(),
            ArgumentBinding::new::<T>(output.bind_taken(), TAKEN),
        )
    }

    fn argument(&mut self, place: CallSite, name: &str, len: Size, bound: ArgumentBinding<'a>) -> Handle {
        let buffer = self.program.declare(&StatementSite { place, name }, bound.origin, len, bound.element);
        self.bound.push((buffer, bound));
        self.handle(buffer)
    }

    fn handle(&self, buffer: BufferId) -> Handle {
        Handle { builder: self.program.builder, index: buffer.index() }
    }

    /// Allocates a buffer of `len` elements: `let h = alloc::<T>(len);`. It is freed after its last use.
    ///
    /// An invalid length or order is reported by the build.
    #[track_caller]
    pub fn alloc<T: 'static>(&mut self, len: impl ToSize) -> Handle {
        let place = CallSite::caller();
        let statement = StatementId::new(self.program.statements.len());
        let name = self
            .program
            .cursor
            .pending
            .name
            .take()
            .unwrap_or_else(|| format!("b{}", self.program.buffers.len()));
        let site = StatementSite { place, name: &name };
        let access = std::mem::take(&mut self.program.cursor.pending.access);
        let after = self.program.take_after(&site).unwrap_or_else(|error| {
            self.program.keep_fault(error);
            Vec::new()
        });
        let buffer =
            self.program.declare(&site, Origin::Alloc(statement), len.to_size(), ElementType::of::<T>());
        let grants = access.into_iter().map(|device| ir::Grant { buffer, on: None, device });
        self.program.grants.extend(grants);
        self.program.push(name, place, StatementKind::Alloc(buffer), Vec::new(), after, Default::default());
        self.handle(buffer)
    }

    /// Checks the program so far, as [`build`](Builder::build) does before it evaluates. Returns the warnings
    /// (CW106): allocations that are unused, or written but never read.
    ///
    /// # Errors
    ///
    /// All faults of the program so far. Inside an arm of a condition: that the arm has not ended (CW001).
    pub fn check(&self) -> Result<Vec<Refusal>> {
        lower::check_program(&self.program).map(|checked| checked.warnings)
    }

    /// Checks the program and builds its graph.
    ///
    /// # Errors
    ///
    /// All faults of the program with their codes, including an arm that panicked (CW001). The errors of a
    /// graph function: a buffer that is shorter than declared or of another context; two buffers that overlap
    /// if either is written; a length that cannot be computed; a launch configuration that the device does
    /// not support; a module that cannot be loaded; a failure of the driver.
    pub fn build(self) -> Result<Graph<Args<'a>>> {
        let checked = lower::check_program(&self.program)?;
        let args = lower::args(self.program, self.bound, checked);
        let code = args.code.clone();
        build_on(&self.contexts, args)
            .map_err(|error| messages::at_scalars(messages::reword_error(error), &code.symbols))
    }
}
