//! Host statements, events, flags and semaphores of a builder: their arguments, and the checks of these. The
//! function of a host statement takes up to eight typed slices, whose types are erased here. A flag is a `Flag`,
//! or pinned memory of one element.

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::CudaEvent;
use cuweave_core::codes::Code;
use cuweave_core::ir::{Access, Mode, Origin};
use cuweave_core::kind::{StatementKind, SyncOperation};

use crate::bind::{BindKept, Flag, Semaphore};
use crate::cuda::{HostMemory, HostWork, host_work};
use crate::error::Result;
use crate::token::Token;

use super::bound::ElementType;
use super::code::{ArgumentSources, BuilderStage, BuilderSync, SyncVariable};
use super::declarations::Builder;
use super::handle::{Argument, CallSite, Handle, Statement, ToArgument, ToBuffer, View};
use super::program::{Program, StatementSite};

/// A buffer that a host statement reads, with its element type. [`Handle::reads`] returns it.
pub struct Reads<T> {
    view: View,
    of: PhantomData<fn() -> T>,
}

/// A buffer that a host statement reads and writes, with its element type. [`Handle::writes`] returns it.
pub struct Writes<T> {
    view: View,
    of: PhantomData<fn() -> T>,
}

macro_rules! typed {
    ($($name:ident)*) => {$(
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.view).finish()
            }
        }
    )*};
}
typed!(Reads Writes);

impl Handle {
    /// Returns the buffer as an argument of a host statement that reads elements `T`.
    pub fn reads<T: 'static>(self) -> Reads<T> {
        View::whole(self).reads()
    }

    /// Returns the buffer as an argument of a host statement that reads and writes elements `T`.
    pub fn writes<T: 'static>(self) -> Writes<T> {
        View::whole(self).writes()
    }
}

impl View {
    /// Returns the part as an argument of a host statement that reads elements `T`.
    pub fn reads<T: 'static>(&self) -> Reads<T> {
        Reads { view: self.clone(), of: PhantomData }
    }

    /// Returns the part as an argument of a host statement that reads and writes elements `T`.
    pub fn writes<T: 'static>(&self) -> Writes<T> {
        Writes { view: self.clone(), of: PhantomData }
    }
}

/// An argument of a host statement with its element type erased.
#[derive(Debug)]
pub struct ErasedHostArgument {
    view: View,
    mode: Mode,
    element: ElementType,
}

/// An argument of a host statement: [`Reads`] or [`Writes`].
pub trait HostArgument: sealed::Sealed {}

mod sealed {
    use crate::builder::events::ErasedHostArgument;
    use crate::cuda::HostMemory;

    /// Restricts [`HostArgument`](super::HostArgument) to the types here.
    pub trait Sealed: Sized {
        /// The slice that the function gets.
        type Slice<'m>;
        fn erase(&self) -> ErasedHostArgument;
        fn slice<'m>(memory: &HostMemory<'m>, index: u32) -> Self::Slice<'m>;
    }
}

impl<T: 'static> sealed::Sealed for Reads<T> {
    type Slice<'m> = &'m [T];

    fn erase(&self) -> ErasedHostArgument {
        ErasedHostArgument { view: self.view.clone(), mode: Mode::Read, element: ElementType::of::<T>() }
    }

    fn slice<'m>(memory: &HostMemory<'m>, index: u32) -> &'m [T] {
        memory.slice(index)
    }
}

impl<T: 'static> sealed::Sealed for Writes<T> {
    type Slice<'m> = &'m mut [T];

    fn erase(&self) -> ErasedHostArgument {
        ErasedHostArgument { view: self.view.clone(), mode: Mode::ReadWrite, element: ElementType::of::<T>() }
    }

    fn slice<'m>(memory: &HostMemory<'m>, index: u32) -> &'m mut [T] {
        memory.slice_mut(index)
    }
}

impl<T: 'static> HostArgument for Reads<T> {}
impl<T: 'static> HostArgument for Writes<T> {}

/// The function of a host statement with the tuple `A` of arguments: a closure that takes a slice for each of
/// up to eight.
#[diagnostic::on_unimplemented(
    message = "this function does not take what the host statement `{A}` is given",
    label = "a closure takes a `&[T]` for each `x.reads::<T>()`, and a `&mut [T]` for each `x.writes::<T>()`",
    note = "it is `FnMut(..) + Send + 'static`"
)]
pub trait HostFunction<A>: Send + 'static {
    #[doc(hidden)]
    fn begin(self, arguments: &A, token: Token) -> HostStatement;
}

/// A host statement with its function.
#[doc(hidden)]
pub struct HostStatement {
    lent: Vec<ErasedHostArgument>,
    pub(super) work: HostWork,
}

impl HostStatement {
    /// Returns the buffers: their handles, the modes of their accesses, and their element types.
    pub(super) fn buffers(&self) -> impl Iterator<Item = (Handle, Mode, TypeId)> {
        self.lent.iter().map(|lent| (lent.view.handle, lent.mode, lent.element.id))
    }
}

impl fmt::Debug for HostStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostStatement").field("buffers", &self.lent.len()).finish_non_exhaustive()
    }
}

macro_rules! host_functions {
    ($($name:ident $index:literal)*) => {
        impl<F, $($name: HostArgument,)*> HostFunction<($($name,)*)> for F
        where
            F: for<'m> FnMut($($name::Slice<'m>),*) + Send + 'static,
        {
            #[allow(non_snake_case)]
            fn begin(mut self, ($($name,)*): &($($name,)*), _: Token) -> HostStatement {
                let lent = vec![$(sealed::Sealed::erase($name)),*];
                let work = host_work(move |_memory: &HostMemory<'_>| {
                    self($(<$name as sealed::Sealed>::slice(_memory, $index)),*);
                });
                HostStatement { lent, work }
            }
        }
    };
}
host_functions!();
host_functions!(A 0);
host_functions!(A 0 B 1);
host_functions!(A 0 B 1 C 2);
host_functions!(A 0 B 1 C 2 D 3);
host_functions!(A 0 B 1 C 2 D 3 E 4);
host_functions!(A 0 B 1 C 2 D 3 E 4 G 5);
host_functions!(A 0 B 1 C 2 D 3 E 4 G 5 H 6);
host_functions!(A 0 B 1 C 2 D 3 E 4 G 5 H 6 I 7);

/// A flag for `wait_value` and `write_value`: `&Arc<Flag<u32>>`, `&Arc<Flag<u64>>`, or pinned memory of one element.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no flag",
    label = "a flag is an `&Arc<Flag<u32>>`, an `&Arc<Flag<u64>>`, or pinned memory of one `u32` or `u64` by `&b` or \
        `&mut b`"
)]
pub trait ToFlag {
    #[doc(hidden)]
    fn to_flag(self) -> FlagArgument;
}

/// A flag as an argument of a statement.
#[doc(hidden)]
#[derive(Debug)]
pub enum FlagArgument {
    Narrow(Arc<Flag<u32>>),
    Wide(Arc<Flag<u64>>),
    Buffer(Argument),
}

macro_rules! flags {
    ($($ty:ty => $of:ident;)*) => {$(
        impl ToFlag for &Arc<Flag<$ty>> {
            fn to_flag(self) -> FlagArgument {
                FlagArgument::$of(self.clone())
            }
        }

        impl ToFlag for Arc<Flag<$ty>> {
            fn to_flag(self) -> FlagArgument {
                FlagArgument::$of(self)
            }
        }
    )*};
}
flags! {
    u32 => Narrow;
    u64 => Wide;
}

macro_rules! buffers {
    ($($ty:ty)*) => {$(
        impl ToFlag for $ty {
            fn to_flag(self) -> FlagArgument {
                FlagArgument::Buffer(self.to_buffer())
            }
        }
    )*};
}
buffers!(Argument &Handle &mut Handle &View &mut View);

impl Builder<'_> {
    /// Runs a function on the host during each launch: `host(&a, &mut b, |a, b| ..);`.
    ///
    /// The arguments are a tuple of parts of pinned memory, or of arguments bound to a
    /// [`Managed`](crate::Managed): `(a.reads::<f32>(), b.writes::<u32>())`. The function gets a slice for
    /// each: `move |a: &[f32], b: &mut [u32]| ..`. It keeps its captures until the last launch is over.
    /// Otherwise it is like `host` in a graph function.
    ///
    /// # Errors
    ///
    /// A wrong element type (CW401); handles of another builder (CW402); allocations of the graph (CW001).
    /// The build reports an argument that is bound to other device memory.
    #[track_caller]
    pub fn host<A>(&mut self, arguments: A, function: impl HostFunction<A>) -> Result<Statement> {
        let place = CallSite::caller();
        self.program.host(place, function.begin(&arguments, Token))
    }

    /// Records an event after all earlier statements: `record(&event);`.
    ///
    /// # Errors
    ///
    /// A predecessor that is not a statement. The build reports an event of another context.
    #[track_caller]
    pub fn record(&mut self, event: impl BindKept<CudaEvent>) -> Result<Statement> {
        self.program.push_event(CallSite::caller(), StatementKind::Record(event.bind_kept()))
    }

    /// Makes all later statements wait for an event: `wait(&event);`.
    ///
    /// # Errors
    ///
    /// The errors of [`record`](Self::record).
    #[track_caller]
    pub fn wait(&mut self, event: impl BindKept<CudaEvent>) -> Result<Statement> {
        self.program.push_event(CallSite::caller(), StatementKind::Wait(event.bind_kept()))
    }

    /// Makes all later statements wait for a flag. Launch `n` waits until the flag has reached `first + n *
    /// step`, like `wait_value` in a graph function.
    ///
    /// # Errors
    ///
    /// A value of the wrong type for the flag (CW401); handles of another builder (CW402); a buffer that is not
    /// pinned memory (CW001). The build reports a step that does not advance, and a device without such waits.
    #[track_caller]
    pub fn wait_value(
        &mut self,
        flag: impl ToFlag,
        first: impl ToArgument,
        step: impl ToArgument,
    ) -> Result<Statement> {
        let values = [first.to_argument(), step.to_argument()];
        self.program.push_flag(CallSite::caller(), SyncOperation::WaitValue, flag.to_flag(), &values)
    }

    /// Writes the value `first + n * step` of launch `n` to a flag after all earlier statements, like
    /// `write_value` in a graph function.
    ///
    /// # Errors
    ///
    /// The errors of [`wait_value`](Self::wait_value).
    #[track_caller]
    pub fn write_value(
        &mut self,
        flag: impl ToFlag,
        first: impl ToArgument,
        step: impl ToArgument,
    ) -> Result<Statement> {
        let values = [first.to_argument(), step.to_argument()];
        self.program.push_flag(CallSite::caller(), SyncOperation::WriteValue, flag.to_flag(), &values)
    }

    /// Makes all later statements wait for a semaphore, like `wait_semaphore` in a graph function.
    ///
    /// # Errors
    ///
    /// A value that is not a `u64` (CW401); handles of another builder (CW402). The build reports a step that
    /// does not advance.
    #[track_caller]
    pub fn wait_semaphore(
        &mut self,
        semaphore: impl BindKept<Semaphore>,
        first: impl ToArgument,
        step: impl ToArgument,
    ) -> Result<Statement> {
        let values = [first.to_argument(), step.to_argument()];
        let target = SyncVariable::Semaphore(semaphore.bind_kept());
        self.program.push_sync(CallSite::caller(), SyncOperation::WaitSemaphore, target, Vec::new(), &values)
    }

    /// Signals a semaphore after all earlier statements, like `signal` in a graph function.
    ///
    /// # Errors
    ///
    /// The errors of [`wait_semaphore`](Self::wait_semaphore).
    #[track_caller]
    pub fn signal(
        &mut self,
        semaphore: impl BindKept<Semaphore>,
        first: impl ToArgument,
        step: impl ToArgument,
    ) -> Result<Statement> {
        let values = [first.to_argument(), step.to_argument()];
        let target = SyncVariable::Semaphore(semaphore.bind_kept());
        self.program.push_sync(CallSite::caller(), SyncOperation::Signal, target, Vec::new(), &values)
    }
}

impl Program {
    fn host(&mut self, place: CallSite, HostStatement { lent, work }: HostStatement) -> Result<Statement> {
        let (name, after) = self.begin_statement(place, "host")?;
        let site = StatementSite { place, name: &name };
        let mut accesses = Vec::new();
        for ErasedHostArgument { view, mode, element } in lent {
            let access = self.access(&site, &view, mode)?;
            let declared = &self.buffers[access.buffer];
            // The build checks that an argument's memory is managed.
            if !matches!(declared.origin, Origin::Pinned { .. } | Origin::Device { .. }) {
                let message = format!(
                    "`{}` is memory of the device, which the host statement cannot reach",
                    declared.name
                );
                let help = "`copy` it to an argument of `pinned_mut` first, and give that to `host`, or give it an \
                    argument that is bound to a `Managed`";
                return Err(self.refuse(&site, Code::CW001, &message, Some(help)));
            }
            if declared.element.id != element.id {
                let message = format!(
                    "`{}` has elements of type `{}`, and the function is given elements of type `{}`",
                    declared.name, declared.element.name, element.name
                );
                return Err(self.refuse(&site, Code::CW401, &message, None));
            }
            accesses.push(access);
        }
        let (kind, scalars) = (StatementKind::Host(work), Default::default());
        let id = self.push(name, place, kind, accesses, after, scalars);
        Ok(self.statement(id))
    }

    fn push_event(&mut self, place: CallSite, kind: StatementKind<BuilderStage>) -> Result<Statement> {
        let (name, after) = self.begin_statement(place, kind.name())?;
        let (accesses, scalars) = (Vec::new(), Default::default());
        let id = self.push(name, place, kind, accesses, after, scalars);
        Ok(self.statement(id))
    }

    fn push_flag(
        &mut self,
        place: CallSite,
        word: SyncOperation,
        flag: FlagArgument,
        values: &[Argument; 2],
    ) -> Result<Statement> {
        let (target, accesses) = match flag {
            FlagArgument::Narrow(flag) => (SyncVariable::Narrow(flag), Vec::new()),
            FlagArgument::Wide(flag) => (SyncVariable::Wide(flag), Vec::new()),
            FlagArgument::Buffer(buffer) => {
                let mode = if word.waits() { Mode::Read } else { Mode::Write };
                let name = self.cursor.pending.name.clone().unwrap_or_else(|| word.name().to_owned());
                let site = StatementSite { place, name: &name };
                let access = self.transfer_access(&site, &buffer, word.name(), mode)?;
                let declared = &self.buffers[access.buffer];
                if !matches!(declared.origin, Origin::Pinned { .. }) {
                    let message = format!(
                        "`{}` is memory of the device, where a graph neither waits for values nor writes them by \
                            launch",
                        declared.name
                    );
                    let help = "take it as an argument of `pinned_mut`, or use a `Flag`";
                    return Err(self.refuse(&site, Code::CW001, &message, Some(help)));
                }
                let element = declared.element;
                if ![TypeId::of::<u32>(), TypeId::of::<u64>()].contains(&element.id) {
                    let message =
                        format!("a flag has a value of type `u32` or `u64`, and not `{}`", element.name);
                    return Err(self.refuse(&site, Code::CW401, &message, None));
                }
                (SyncVariable::Buffer(element), vec![access])
            }
        };
        self.push_sync(place, word, target, accesses, values)
    }

    fn push_sync(
        &mut self,
        place: CallSite,
        word: SyncOperation,
        target: SyncVariable,
        accesses: Vec<Access>,
        values: &[Argument; 2],
    ) -> Result<Statement> {
        let (name, after) = self.begin_statement(place, word.name())?;
        let site = StatementSite { place, name: &name };
        let list = values.iter().map(|value| self.scalar_source(&site, value)).collect::<Result<_>>()?;
        let texts = values.iter().map(|value| self.argument_text(value)).collect();
        let synced = BuilderSync { target, sources: ArgumentSources { list, texts } };
        synced
            .evaluate(word, &self.values, None)
            .map_err(|misfit| synced.misfit_error(&self.at(place, &name), word, misfit))?
            .unwrap_or(Ok(()))?;
        let scalars = self.mentioned_scalars(&synced.sources);
        let kind = StatementKind::Sync(word, synced);
        let id = self.push(name, place, kind, accesses, after, scalars);
        Ok(self.statement(id))
    }
}
