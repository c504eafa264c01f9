//! The exec of a builder's graph: launches, and outputs and setters by handle. It wraps the common `ExecCore`.
//! Handles are first checked against their builder and resolved to the program's buffers.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::{CudaEvent, CudaStream};
use cuweave_core::codes::Code;
use cuweave_core::index::{Index, size};
use cuweave_core::ir::{BufferId, Origin, StatementId};
use cuweave_core::kind::StatementKind;

use crate::bind::{
    BindKept, Bound, HandedOutputs, LoopIterations, Output, OutputDescription, ViewContext, Visitor,
};
use crate::build::ScalarValue;
use crate::error::{Error, LiftFault, Result, SourceLocation};
use crate::exec::{
    ExecCore, Generated, GraphExec, Verification, impl_common_methods, iterations_of_statement,
};
use crate::token::Token;
#[cfg(feature = "inspect")]
use cuweave_inspect::Profile;

use super::bound::{Bindable, Storable};
use super::code::{Args, BuilderStage, ReplacedValue};
use super::edit::Edit;
use super::events::HostFunction;
use super::handle::{CallSite, Handle, Statement};
use super::messages;
use super::size::Scalar;

/// The exec of a builder's graph: a graph that can be launched repeatedly.
///
/// It owns or borrows every operand. It is `Send` but not `Sync`.
#[must_use = "a graph does nothing until it is launched"]
pub struct Exec<'a> {
    pub(super) core: ExecCore<Args<'a>>,
}

impl fmt::Debug for Exec<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.core, f)
    }
}

/// A launch of an [`Exec`], with its outputs.
pub struct LaunchOutputs<'e, 'a> {
    core: &'e ExecCore<Args<'a>>,
}

impl fmt::Debug for LaunchOutputs<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaunchOutputs").finish_non_exhaustive()
    }
}

impl<'e> LaunchOutputs<'e, '_> {
    /// Returns an output of the launch by its position: of a [lifted](fn@crate::lift) graph, whose outputs are the
    /// allocations that leave it, as bytes.
    ///
    /// # Errors
    ///
    /// No such output with elements of this type.
    pub fn nth<T: 'static>(&self, nth: usize) -> Result<Output<'e, T>> {
        let table = &self.core.args.code.table;
        let outputs = &table.program.outputs;
        match outputs.get(nth).filter(|&&buffer| table.elements[buffer] == std::any::TypeId::of::<T>()) {
            Some(_) => self.core.output(nth),
            None => Err(Error::Lift(Box::new(LiftFault::NoOutput { nth, count: outputs.len() }))),
        }
    }

    /// Returns an output of the launch by the handle of its allocation. Each output can be taken once.
    ///
    /// # Errors
    ///
    /// A handle of another builder (CW402); a buffer that is not an output (CW001); a wrong element type
    /// (CW401); an output that was already taken.
    #[track_caller]
    pub fn output<T: 'static>(&self, output: Handle) -> Result<Output<'e, T>> {
        let index = self.core.args.output::<T>(output, CallSite::caller())?;
        self.core.output(index)
    }
}

impl<'a> GraphExec for Exec<'a> {
    type Function = Args<'a>;
}

impl<'a> Args<'a> {
    fn site(&self, place: CallSite, name: &str) -> SourceLocation {
        SourceLocation::new(name, place.file, place.line).with_column(place.column)
    }

    pub(super) fn foreign(&self, place: CallSite, what: &str, method: &str) -> Error {
        let message = format!("{what} of another builder is given to `{method}`");
        let help = "handles are of the builder that made them";
        messages::refused(&self.site(place, method), Code::CW402, &message, &[], Some(help))
    }

    /// Returns the buffer of a handle.
    fn buffer(&self, handle: Handle, place: CallSite, method: &str) -> Result<BufferId> {
        match self.ids.get(handle.index) {
            Some(&id) if handle.builder == self.builder => Ok(BufferId::from_u32(id)),
            _ => Err(self.foreign(place, "a buffer", method)),
        }
    }

    /// Returns the index of an output.
    fn output<T: 'static>(&self, handle: Handle, place: CallSite) -> Result<usize> {
        let buffer = self.buffer(handle, place, "output")?;
        let (table, at) = (&self.code.table, self.site(place, "output"));
        let name = &table.program.buffers[buffer].name;
        let Some(index) = table.program.outputs.iter().position(|&output| output == buffer) else {
            let message = format!("`{name}` does not leave the graph");
            return Err(messages::refused(&at, Code::CW001, &message, &[], Some("declare it by `output`")));
        };
        if table.elements[buffer] == std::any::TypeId::of::<T>() {
            return Ok(index);
        }
        let ty = std::any::type_name::<T>();
        let message = format!("`{name}` has elements of another type than `{ty}`");
        Err(messages::refused(&at, Code::CW401, &message, &[], None))
    }

    /// Gives back the memory that is bound to an argument: an owned `CudaSlice<T>` or `PinnedHostSlice<T>`,
    /// or a [`Buffer`](crate::Buffer). `M` is its type. `None` if the argument is bound otherwise or was
    /// already given back.
    pub fn take<M: 'static>(&mut self, argument: Handle) -> Option<M> {
        let id = *self.ids.get(argument.index).filter(|_| argument.builder == self.builder)?;
        let binding = self.buffers.get_mut(size(id))?;
        binding.take::<M>()
    }
}

impl<'a> Exec<'a> {
    /// Uploads the graph to the device and maps its memory, so that the first launch does not have to.
    ///
    /// # Errors
    ///
    /// A stream of another context or one that is capturing; a failure of the driver.
    pub fn upload(&mut self, stream: &Arc<CudaStream>) -> Result<()> {
        self.core.upload(stream)
    }

    /// Launches the graph into a stream. Returns a borrow of the exec that gives access to the outputs.
    ///
    /// # Errors
    ///
    /// A stream of another context or one that is capturing; a missing output for a taken-over argument; a
    /// [`Buffer`](crate::Buffer) that is lent, or that setters have bound twice in conflict; a failure of the
    /// driver. The exec is unchanged.
    pub fn launch(&mut self, stream: &Arc<CudaStream>) -> Result<LaunchOutputs<'_, 'a>> {
        self.launch_with(stream, ())
    }

    /// Like [`launch`](Exec::launch), with a tuple of outputs of other graphs: one for each argument that
    /// [`taken`](super::Builder::taken) declared, in this order.
    ///
    /// # Errors
    ///
    /// The errors of [`launch`](Exec::launch); an output for which the graph was not built, or which is no
    /// longer alive.
    pub fn launch_with(
        &mut self,
        stream: &Arc<CudaStream>,
        taken: impl HandedOutputs,
    ) -> Result<LaunchOutputs<'_, 'a>> {
        self.core.launch(stream, taken)?;
        Ok(LaunchOutputs { core: &self.core })
    }

    /// Compares the graph with its statements as written, on this device and with the bytes that its arguments have
    /// now. Runs both on the same bytes, compares what they leave bit by bit, and restores the arguments. No launch is
    /// counted. See the generated `verify` of a graph function's exec for its cost.
    ///
    /// # Errors
    ///
    /// A host statement, an event, a flag, a semaphore, a collective, a launch that writes a module variable, or a
    /// mapped multicast object; the errors of [`launch`](Exec::launch). The exec can be launched as before.
    pub fn verify(&mut self, stream: &Arc<CudaStream>) -> Result<Verification> {
        self.core.verify(stream, ())
    }

    /// Like [`verify`](Exec::verify), with the outputs that [`launch_with`](Exec::launch_with) takes. They are freed
    /// afterwards.
    ///
    /// # Errors
    ///
    /// Those of [`verify`](Exec::verify) and [`launch_with`](Exec::launch_with).
    pub fn verify_with(
        &mut self,
        stream: &Arc<CudaStream>,
        taken: impl HandedOutputs,
    ) -> Result<Verification> {
        self.core.verify(stream, taken)
    }

    /// Sets a scalar. Only the nodes that use it are updated.
    ///
    /// # Errors
    ///
    /// A scalar of another builder (CW402); a scalar that determines a length and is no size; for a size, a value out
    /// of its range; a range that is not within its buffer; a value that a parameter does not accept (CW401); a
    /// launch configuration that the device does not support; a failure of the driver. The exec is unchanged.
    #[track_caller]
    pub fn set_scalar<T: Copy + Send + Sync + 'static>(
        &mut self,
        scalar: &Scalar<T>,
        value: T,
    ) -> Result<()> {
        let mut edit = Edit::new(&mut self.core);
        edit.set(scalar, ScalarValue::new(value), CallSite::caller())?;
        edit.apply()
    }

    /// Sets several scalars at once: `exec.edit(|e| { e.set_scalar(&n, 17)?; e.set_scalar(&pos, 530) })?`.
    ///
    /// The new values are checked together, and each node that uses one of them is updated once. If `changes` or a
    /// check fails, or the driver does, the exec keeps its old values.
    ///
    /// # Errors
    ///
    /// The errors of `changes`; those of [`set_scalar`](Exec::set_scalar).
    pub fn edit(&mut self, changes: impl FnOnce(&mut Edit<'_, 'a>) -> Result<()>) -> Result<()> {
        let mut edit = Edit::new(&mut self.core);
        changes(&mut edit)?;
        edit.apply()
    }

    /// Sets the event of a statement of [`record`](super::Builder::record) or [`wait`](super::Builder::wait). The
    /// exec keeps the old event until the launches that use it are over.
    ///
    /// # Errors
    ///
    /// A statement of another builder (CW402) or one without an event (CW001); an event of another context; a
    /// failure of the driver. The exec is unchanged.
    #[track_caller]
    pub fn set_event(&mut self, statement: Statement, event: impl BindKept<CudaEvent>) -> Result<()> {
        let place = CallSite::caller();
        let (id, kind) = self.statement(statement, place, "set_event")?;
        if !matches!(kind, StatementKind::Record(_) | StatementKind::Wait(_)) {
            let at = self.core.args.site(place, "set_event");
            let help = "give the statement that `record` or `wait` returned";
            return Err(messages::refused(&at, Code::CW001, "the statement has no event", &[], Some(help)));
        }
        self.set_host_value(id, ReplacedValue::Event(event.bind_kept()))
    }

    /// Sets the function of a statement of [`host`](super::Builder::host), which gets the same buffers. The exec keeps
    /// the old function until the launches that use it are over.
    ///
    /// # Errors
    ///
    /// A statement of another builder (CW402); one that is no host statement, or was given other buffers (CW001); a
    /// failure of the driver. The exec is unchanged.
    #[track_caller]
    pub fn set_host<A>(
        &mut self,
        statement: Statement,
        arguments: A,
        function: impl HostFunction<A>,
    ) -> Result<()> {
        let place = CallSite::caller();
        let (id, kind) = self.statement(statement, place, "set_host")?;
        let is_host = matches!(kind, StatementKind::Host(_));
        let given = function.begin(&arguments, Token);
        let args = &self.core.args;
        let (program, elements) = (&args.code.table.program, &args.code.table.elements);
        let accesses = program.statements[id].accesses.iter();
        let built = accesses.map(|access| (access.buffer, access.mode, elements[access.buffer]));
        let same = is_host
            && built.eq(given.buffers().filter_map(|(handle, mode, element)| {
                Some((args.buffer(handle, place, "set_host").ok()?, mode, element))
            }));
        if !same {
            let at = args.site(place, "set_host");
            let (message, help) = match is_host {
                true => (
                    "the host statement was given other buffers",
                    "give it the buffers that `host` was given",
                ),
                false => ("the statement is no host statement", "give the statement that `host` returned"),
            };
            return Err(messages::refused(&at, Code::CW001, message, &[], Some(help)));
        }
        self.set_host_value(id, ReplacedValue::Function(given.work))
    }

    /// Returns a statement of the graph and its kind.
    fn statement(
        &self,
        statement: Statement,
        place: CallSite,
        method: &str,
    ) -> Result<(StatementId, &StatementKind<BuilderStage>)> {
        let args = &self.core.args;
        let id = StatementId::new(statement.index);
        match args.code.steps.get(id) {
            Some(kind) if statement.builder == args.builder => Ok((id, kind)),
            _ => Err(args.foreign(place, "a statement", method)),
        }
    }

    pub(super) fn set_host_value(&mut self, id: StatementId, value: ReplacedValue) -> Result<()> {
        let old = self.core.args.set.insert(id, value);
        let done = self.core.reevaluate(id);
        match (done, old) {
            (Ok(()), old) => {
                self.core.core.keep_replaced(Box::new(old));
                Ok(())
            }
            (Err(error), Some(old)) => {
                self.core.args.set.insert(id, old);
                Err(error)
            }
            (Err(error), None) => {
                self.core.args.set.remove(&id);
                Err(error)
            }
        }
    }

    /// Binds another buffer to an argument. Only the nodes that use it are updated.
    ///
    /// # Errors
    ///
    /// A handle of another builder (CW402); an allocation (CW001); a buffer that does not fit the argument's
    /// declaration or element type (CW401); a buffer that is too short or of another context; a buffer that
    /// overlaps another operand if either is written; for a taken-over argument, an output at another
    /// address, because a node of the graph frees it ([`Error::BuildAgain`]); a failure of the driver.
    #[track_caller]
    pub fn set_buffer(&mut self, argument: &Handle, buffer: impl Bindable<'a>) -> Result<()> {
        let (place, args) = (CallSite::caller(), &self.core.args);
        let id = args.buffer(*argument, place, "set_buffer")?;
        let (declared, at) = (&args.code.table.program.buffers[id], args.site(place, "set_buffer"));
        let Some(old) = args.buffers.get(id.index()) else {
            let message = format!("`{}` is an allocation of the graph", declared.name);
            return Err(messages::refused(
                &at,
                Code::CW001,
                &message,
                &[],
                Some("only arguments can be bound"),
            ));
        };
        let Some(binding) = buffer.bind(declared.origin) else {
            let message =
                format!("this cannot be bound to `{}`, {}", declared.name, declared_as(declared.origin));
            return Err(messages::refused(&at, Code::CW401, &message, &[], None));
        };
        if binding.element.id != old.element.id {
            let (new, old) = (binding.element.name, old.element.name);
            let message = format!(
                "a buffer of elements of type `{new}` is bound to `{}`, which has `{old}`",
                declared.name
            );
            return Err(messages::refused(&at, Code::CW401, &message, &[], None));
        }
        let binding = binding.hinted(old.hints.clone());
        self.core.set_buffer(id.as_u32(), binding, |args| &mut args.buffers[id.index()])
    }

    /// Returns the description of an output. A graph that takes the output over is built from it.
    ///
    /// # Errors
    ///
    /// The errors of [`LaunchOutputs::output`].
    #[track_caller]
    pub fn description<T: Storable>(&self, output: Handle) -> Result<OutputDescription<T>> {
        let index = self.core.args.output::<T>(output, CallSite::caller())?;
        Ok(self.core.description(index))
    }

    /// Gives the arguments back: [`Args::take`] returns the ones that the exec owns. Their uses are ordered
    /// after the last launch.
    #[must_use]
    pub fn into_args(self) -> Args<'a> {
        self.core.into_args()
    }

    /// Returns the number of launches so far, including those of profiles. It is the index of the next
    /// launch, with which the values of flags and semaphores advance.
    #[must_use]
    pub fn launches(&self) -> u64 {
        self.core.launches()
    }

    /// Waits on the host for the last launch and returns the iterations of a loop of
    /// [`while_at_most`](super::Builder::while_at_most) in it, and whether the limit was hit.
    ///
    /// # Errors
    ///
    /// A statement of another builder (CW402) or one that is not a bounded loop (CW001); a failure of the driver.
    #[track_caller]
    pub fn iterations_of(&self, statement: Statement) -> Result<LoopIterations> {
        let (place, args) = (CallSite::caller(), &self.core.args);
        if statement.builder != args.builder {
            return Err(args.foreign(place, "a statement", "iterations_of"));
        }
        match iterations_of_statement(&self.core.core, StatementId::new(statement.index))? {
            Some(turns) => Ok(turns),
            None => {
                let message = "the statement is no loop with a limit";
                let help = "give the loop that `while_at_most` returned";
                let at = args.site(place, "iterations_of");
                Err(messages::refused(&at, Code::CW001, message, &[], Some(help)))
            }
        }
    }

    /// Like [`iterations_of`](Exec::iterations_of), by the loop's name: the one from [`named`](super::Builder::named),
    /// or the label of a loop in a called graph function, after the name of the call: `"solve.inner"`.
    ///
    /// # Errors
    ///
    /// A name that does not identify one bounded loop; a failure of the driver.
    pub fn iterations(&self, name: &str) -> Result<LoopIterations> {
        self.core.iterations(name)
    }

    /// Enables or disables a statement of [`switchable`](super::Builder::switchable), by the name from
    /// [`named`](super::Builder::named), for later launches. While it is disabled, what it would have written keeps its
    /// values. In a called function the name is prefixed by that of the call: `"layer.extra"`. Other statements can be
    /// switched if the build has left them a node of their own.
    ///
    /// # Errors
    ///
    /// A name that does not denote exactly one statement; a statement that cannot be switched; a failure of the driver.
    /// The exec is unchanged.
    pub fn enable(&mut self, name: &str, on: bool) -> Result<()> {
        self.core.enable(name, on)
    }

    /// Returns true if [`enable`](Exec::enable) has not disabled a statement.
    ///
    /// # Errors
    ///
    /// A name that does not denote exactly one statement.
    pub fn is_enabled(&self, name: &str) -> Result<bool> {
        self.core.is_enabled(name)
    }

    /// Waits on the host for the last launch.
    ///
    /// # Errors
    ///
    /// A failure of the driver.
    pub fn synchronize(&mut self) -> Result<()> {
        self.core.synchronize()
    }

    /// Measures the time of each statement in microseconds. Launches the graph `launches` times as it is, and
    /// as often with its nodes serialised and an event after each.
    ///
    /// Profiling **runs** the graph: its effects are those of `2 * launches` launches, and its outputs are freed.
    /// The bodies of library calls run once more. The graph that [`launch`](Exec::launch) uses is unchanged.
    ///
    /// # Errors
    ///
    /// No launches; a graph that takes over outputs of others; the errors of [`launch`](Exec::launch); a
    /// failure of the driver. The exec can be launched as before.
    #[cfg(feature = "inspect")]
    pub fn profile(&mut self, stream: &Arc<CudaStream>, launches: u32) -> Result<Profile> {
        self.core.profile(stream, launches)
    }
}

impl_common_methods!({'a} Exec<'a>);
#[cfg(feature = "inspect")]
crate::exec::impl_inspection_methods!({'a} Exec<'a>, exec => exec.core);

fn declared_as(origin: Origin) -> &'static str {
    match origin {
        Origin::Device { mutable: false } => "an argument `&[T; _]`",
        Origin::Device { mutable: true } => "an argument `&mut [T; _]`",
        Origin::Pinned { mutable: false } => "an argument `&Pinned<[T; _]>`",
        Origin::Pinned { mutable: true } => "an argument `&mut Pinned<[T; _]>`",
        Origin::Taken => "an argument `[T; _]`",
        Origin::Alloc(_) | Origin::Part(_) => "an allocation",
    }
}

impl<'a> Generated for Args<'a> {
    type Exec = Exec<'a>;
    type Views<'v>
        = ()
    where
        Self: 'v;
    type ViewsMut<'v>
        = ()
    where
        Self: 'v;

    fn operands(&mut self, visitor: &mut Visitor<'_>, _: Token) {
        self.buffers.iter_mut().for_each(|buffer| buffer.visit(visitor));
    }

    fn views<'v>(&'v self, _: &ViewContext<'v>, _: Token) {}

    fn views_mut<'v>(&'v mut self, _: &ViewContext<'v>, _: Token) {}

    fn exec(core: ExecCore<Self>, _: Token) -> Exec<'a> {
        Exec { core }
    }

    fn core<'e>(exec: &'e Exec<'a>, _: Token) -> &'e ExecCore<Self> {
        &exec.core
    }

    fn core_mut<'e>(exec: &'e mut Exec<'a>, _: Token) -> &'e mut ExecCore<Self> {
        &mut exec.core
    }

    fn into_core(exec: Exec<'a>, _: Token) -> ExecCore<Self> {
        exec.core
    }
}
