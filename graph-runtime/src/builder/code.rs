//! Evaluates the statements of a builder's graph. Plays the part that generated code has for a graph function.
//!
//! `Values` implements `Body`: it returns scalars, evaluates a statement by its index, and enters called
//! functions. `ArgumentSources` keeps the arguments of a statement until the scalars have values.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::CudaEvent;
use cuweave_core::condition::Condition;
use cuweave_core::ids::{BufferId, CallId, ScalarId};
use cuweave_core::index::{Index, Vector, size};
use cuweave_core::ir::StatementId;
use cuweave_core::kind::{Stage, StatementKind, SyncOperation};
use cuweave_core::table::{DecodedFunction, Table, TableHandle};

use crate::bind::{Bound, Flag, FlagValue, HintVisitor, RangedHint, Semaphore};
use crate::build::{ArgumentReader, Body, GivenArgument, Misfit, MisfitArgument, ScalarValue, SharedValue};
use crate::cuda::HostWork;
use crate::error::{Error, Result, SourceLocation};
use crate::exec::{GraphFn, SizeSlot};
use crate::kernels::Kernel;
use crate::statements::{Arguments, Dim, Evaluation, dim};
use crate::token::Token;

use super::bound::{ArgumentBinding, ElementType};
use super::config::Configuration;
use super::messages;
use super::size::Size;

/// An argument of a statement, as the builder stores it.
#[derive(Clone, Debug)]
pub(super) enum ArgumentSource {
    Buffer(TypeId, &'static str),
    /// An absent buffer.
    Nothing,
    Value(ScalarValue),
    Scalar(ScalarId),
    Size(Size),
    Host(SharedValue),
}

impl ArgumentSource {
    pub fn given(&self, scalars: &[ScalarValue]) -> GivenArgument {
        match self {
            ArgumentSource::Buffer(element, name) => GivenArgument::Buffer(*element, name),
            ArgumentSource::Nothing => GivenArgument::Nothing,
            ArgumentSource::Value(value) => GivenArgument::Value(value.clone()),
            ArgumentSource::Scalar(id) => GivenArgument::Value(match scalars.get(id.index()) {
                Some(value) => value.clone(),
                None => ScalarValue::computed(dim(1u8) / 0u8),
            }),
            ArgumentSource::Size(size) => GivenArgument::Value(ScalarValue::computed(size.value(scalars))),
            ArgumentSource::Host(value) => GivenArgument::Host(value.clone()),
        }
    }
}

impl ArgumentSource {
    /// Adds the scalars that the argument mentions.
    pub fn mentions(&self, scalars: &mut BTreeSet<ScalarId>) {
        match self {
            ArgumentSource::Scalar(id) => drop(scalars.insert(*id)),
            ArgumentSource::Size(size) => size.mentions(scalars),
            ArgumentSource::Buffer(..)
            | ArgumentSource::Nothing
            | ArgumentSource::Value(_)
            | ArgumentSource::Host(_) => {}
        }
    }
}

/// The arguments of a statement, and their texts for messages.
#[derive(Clone, Debug, Default)]
pub(super) struct ArgumentSources {
    pub list: Vec<ArgumentSource>,
    pub texts: Vec<String>,
}

impl ArgumentSources {
    pub fn given(&self, scalars: &[ScalarValue]) -> Vec<GivenArgument> {
        self.list.iter().map(|source| source.given(scalars)).collect()
    }

    /// Converts the arguments by `take`, which returns `None` if one does not fit.
    pub fn take<T>(
        &self,
        scalars: &[ScalarValue],
        take: impl FnOnce(&mut ArgumentReader<'_>) -> Option<T>,
    ) -> std::result::Result<T, MisfitArgument> {
        let arguments = self.given(scalars);
        let mut given = ArgumentReader::new(&arguments);
        match take(&mut given) {
            Some(taken) => Ok(taken),
            None => Err(given
                .misfit()
                .unwrap_or(MisfitArgument { index: self.list.len(), misfit: Misfit::Missing })),
        }
    }
}

/// Converts the arguments of a launch to the kernel's parameters.
pub(super) type ArgumentsFunction = fn(&mut ArgumentReader<'_>, Token) -> Option<Arguments>;

/// Enters a graph function.
pub(crate) type EnterFunction = fn(&mut ArgumentReader<'_>, &mut dyn FnMut(&dyn Body), Token) -> Option<()>;

/// The arguments of a launch.
pub(super) enum LaunchArguments {
    /// The function of generated code, which takes the sources.
    Generated(ArgumentsFunction),
    /// Those of a captured launch.
    Captured(Arc<CapturedArguments>),
}

/// The values of a captured launch.
#[derive(Clone, Debug)]
pub(crate) struct CapturedArguments {
    /// The bytes of each parameter.
    pub values: Vec<Vec<u8>>,
    /// The number of bytes that the launch accesses from each of its pointers on.
    pub extents: Vec<u64>,
}

impl CapturedArguments {
    fn arguments(&self, kernel: &Kernel) -> Arguments {
        let mut arguments = Arguments::new(kernel.words, self.extents.len());
        let mut extents = self.extents.iter();
        for (param, value) in kernel.params.iter().zip(&self.values) {
            match param.is_scalar() {
                true => arguments.bytes(value),
                false => arguments.next_buffer(extents.next().copied().unwrap_or(0)),
            }
        }
        arguments
    }
}

/// A launch.
pub(super) struct Launch {
    pub kernel: &'static Kernel,
    pub arguments: LaunchArguments,
    pub config: Configuration,
    pub sources: ArgumentSources,
}

/// A call of a graph function.
pub(super) struct Call {
    pub id: CallId,
    pub callee: TableHandle,
    pub enter: EnterFunction,
    pub sources: ArgumentSources,
}

/// A fill: the element type and the value.
pub(super) struct Fill {
    pub element: ElementType,
    pub sources: ArgumentSources,
}

/// The location of a value that the graph waits for, writes or signals.
pub(super) enum SyncVariable {
    Narrow(Arc<Flag<u32>>),
    Wide(Arc<Flag<u64>>),
    Buffer(ElementType),
    Semaphore(Arc<Semaphore>),
}

/// A statement that waits for or sets a flag or a semaphore. Its sources are the value of the first launch
/// and the step.
pub(super) struct BuilderSync {
    pub target: SyncVariable,
    pub sources: ArgumentSources,
}

impl BuilderSync {
    /// Records the statement for these values of the scalars. Without an evaluation it only checks them.
    pub fn evaluate(
        &self,
        word: SyncOperation,
        scalars: &[ScalarValue],
        evaluation: Option<&mut Evaluation<'_>>,
    ) -> std::result::Result<Option<Result<()>>, MisfitArgument> {
        macro_rules! values {
            ($ty:ty) => {
                self.sources
                    .take(scalars, |given| Some((given.scalar::<$ty>(0)?, given.scalar::<$ty>(1)?)))?
            };
        }
        fn of_flag<T: FlagValue>(
            word: SyncOperation,
            flag: &Flag<T>,
            first: T,
            step: T,
            evaluation: &mut Evaluation<'_>,
        ) -> Result<()> {
            match word.waits() {
                true => evaluation.wait_value(flag, first, step),
                false => evaluation.write_value(flag, first, step),
            }
        }
        fn of_buffer<T: FlagValue>(
            word: SyncOperation,
            first: T,
            step: T,
            evaluation: &mut Evaluation<'_>,
        ) -> Result<()> {
            match word.waits() {
                true => evaluation.wait_value_in(PhantomData, first, step),
                false => evaluation.write_value_in(PhantomData, first, step),
            }
        }
        Ok(match &self.target {
            SyncVariable::Narrow(flag) => {
                let (first, step) = values!(u32);
                evaluation.map(|evaluation| of_flag(word, flag, first, step, evaluation))
            }
            SyncVariable::Wide(flag) => {
                let (first, step) = values!(u64);
                evaluation.map(|evaluation| of_flag(word, flag, first, step, evaluation))
            }
            SyncVariable::Buffer(element) if element.id == TypeId::of::<u32>() => {
                let (first, step) = values!(u32);
                evaluation.map(|evaluation| of_buffer(word, first, step, evaluation))
            }
            SyncVariable::Buffer(_) => {
                let (first, step) = values!(u64);
                evaluation.map(|evaluation| of_buffer(word, first, step, evaluation))
            }
            SyncVariable::Semaphore(semaphore) => {
                let (first, step) = values!(u64);
                evaluation.map(|evaluation| match word.waits() {
                    true => evaluation.wait_semaphore(semaphore, first, step),
                    false => evaluation.signal(semaphore, first, step),
                })
            }
        })
    }

    /// Returns the error for a value that does not fit.
    pub fn misfit_error(&self, at: &SourceLocation, word: SyncOperation, refused: MisfitArgument) -> Error {
        let MisfitArgument { index, misfit } = refused;
        let parameter = if index == 0 { "first" } else { "step" };
        messages::misfit(at, word.name(), parameter, self.sources.texts.get(index), &misfit)
    }
}

/// The build stage of a builder's statements. Their values are evaluated at build, and again when a scalar is set.
pub(super) struct BuilderStage;

impl Stage for BuilderStage {
    type Launch = Launch;
    type Fill = Fill;
    type Copy = ();
    type Call = Call;
    type Capture = Infallible;
    type Condition = Condition;
    type Host = HostWork;
    type Event = Arc<CudaEvent>;
    type Sync = BuilderSync;
    type Memory = BufferId;
}

/// Returns the kind of a statement in the written program. `number` maps a builder's buffer to the program's.
pub fn written_kind(
    kind: &StatementKind<BuilderStage>,
    number: &impl Fn(BufferId) -> BufferId,
) -> StatementKind {
    match kind {
        StatementKind::Launch(_) => StatementKind::Launch(()),
        StatementKind::Fill(_) => StatementKind::Fill(()),
        StatementKind::Copy(()) => StatementKind::Copy(()),
        StatementKind::Call(call) => StatementKind::Call(call.id),
        StatementKind::Condition(body) => StatementKind::Condition(*body),
        StatementKind::Join(body) => StatementKind::Join(*body),
        StatementKind::Capture(never) => match *never {},
        StatementKind::Host(_) => StatementKind::Host(()),
        StatementKind::Record(_) => StatementKind::Record(()),
        StatementKind::Wait(_) => StatementKind::Wait(()),
        StatementKind::Sync(word, _) => StatementKind::Sync(*word, ()),
        StatementKind::Alloc(buffer) => StatementKind::Alloc(number(*buffer)),
        StatementKind::Free(buffer) => StatementKind::Free(number(*buffer)),
    }
}

impl Launch {
    /// Returns the indices of the parameters whose arguments mention a scalar.
    pub fn mentioning(&self, scalar: ScalarId) -> impl Iterator<Item = u32> {
        let mentions = move |source: &ArgumentSource| {
            let mut scalars = BTreeSet::new();
            source.mentions(&mut scalars);
            scalars.contains(&scalar)
        };
        (0..).zip(&self.sources.list).filter(move |(_, source)| mentions(source)).map(|(at, _)| at)
    }

    /// Returns the arguments for these values of the scalars.
    pub fn arguments(&self, scalars: &[ScalarValue]) -> std::result::Result<Arguments, MisfitArgument> {
        match &self.arguments {
            LaunchArguments::Generated(arguments) => {
                self.sources.take(scalars, |given| arguments(given, Token))
            }
            LaunchArguments::Captured(captured) => Ok(captured.arguments(self.kernel)),
        }
    }

    /// Returns the error for an argument that does not fit.
    pub fn misfit_error(&self, at: &SourceLocation, refused: MisfitArgument) -> Error {
        let MisfitArgument { index, misfit } = refused;
        let parameter = self.kernel.declared().get(index).map_or("?", |(name, _)| name);
        messages::misfit(at, self.kernel.name, parameter, self.sources.texts.get(index), &misfit)
    }
}

impl Call {
    /// Checks the arguments for these values of the scalars.
    pub fn check(&self, at: &SourceLocation, scalars: &[ScalarValue]) -> Result<()> {
        let entered = self.sources.take(scalars, |given| (self.enter)(given, &mut |_| {}, Token));
        entered.map_err(|MisfitArgument { index, misfit }| {
            let parameter = self.callee.arguments.as_slice().get(index).map_or("?", |name| name);
            messages::misfit(at, &self.callee.program.name, parameter, self.sources.texts.get(index), &misfit)
        })
    }
}

/// Evaluates a fill. `None` if no fill supports the element type.
pub(super) fn fill(
    element: TypeId,
    sources: &ArgumentSources,
    scalars: &[ScalarValue],
    evaluation: Option<&mut Evaluation<'_>>,
) -> Option<std::result::Result<Result<()>, Misfit>> {
    macro_rules! filled {
        ($($(#[$attribute:meta])* $ty:ty)*) => {$(
            $(#[$attribute])*
            if element == TypeId::of::<$ty>() {
                let value = sources.take(scalars, |given| given.scalar::<$ty>(0));
                return Some(value.map_err(|refused| refused.misfit).map(|value| {
                    evaluation.map_or(Ok(()), |evaluation| evaluation.fill(value))
                }));
            }
        )*};
    }
    filled! {
        u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64 bool
        #[cfg(feature = "half")] half::f16
        #[cfg(feature = "half")] half::bf16
    }
    None
}

/// The table of a builder's graph and its statements.
pub(super) struct BuilderCode {
    pub table: Arc<DecodedFunction>,
    pub steps: Vector<StatementId, StatementKind<BuilderStage>>,
    /// The source location of each statement.
    pub places: Vector<StatementId, SourceLocation>,
    /// The source location of each scalar.
    pub symbols: Vector<ScalarId, SourceLocation>,
}

/// The event, the function or the values that a setter gave a statement.
#[derive(Clone)]
pub(super) enum ReplacedValue {
    Event(Arc<CudaEvent>),
    Function(HostWork),
    Arguments(Arc<CapturedArguments>),
}

/// The statements of a captured graph's nodes, for setters by position.
#[derive(Clone, Debug, Default)]
pub(crate) struct CapturedIndex {
    /// The kernel nodes in the order of their numbers: the name and the statement.
    pub kernels: Vec<(String, super::handle::Statement)>,
    /// The arguments that are bound to memory, in the order of their addresses, each with a kept node that may use it:
    /// its number and its name.
    pub memory: Vec<(super::handle::Handle, Option<(usize, String)>)>,
    /// The check that a setter of values makes.
    pub texts: BTreeMap<StatementId, Arc<dyn ValueCheck>>,
}

/// Checks the values that a setter gives a captured launch.
pub(crate) trait ValueCheck: Send + Sync + fmt::Debug {
    /// Returns the number of bytes of a parameter. `None` if there is none, and if it is a pointer.
    fn size(&self, parameter: usize) -> Option<usize>;

    /// Returns true if the launch accesses the same bytes in the same ways with other values.
    fn accesses_the_same(&self, values: &[Vec<u8>]) -> bool;
}

/// The arguments to which a builder's graph is bound.
pub struct Args<'a> {
    pub(super) code: Arc<BuilderCode>,
    pub(super) scalars: Vec<ScalarValue>,
    /// The values of statements that setters have changed.
    pub(super) set: BTreeMap<StatementId, ReplacedValue>,
    /// The nodes of a captured graph. Empty for other graphs.
    pub(super) captured: CapturedIndex,
    pub(super) buffers: Vec<ArgumentBinding<'a>>,
    /// The index, among the program's buffers, of each handle's buffer.
    pub(super) ids: Vec<u32>,
    pub(super) builder: u64,
}

impl fmt::Debug for Args<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Args")
            .field("scalars", &self.scalars)
            .field("buffers", &self.buffers)
            .finish_non_exhaustive()
    }
}

/// The values of a builder's scalars, with the statements that use them.
#[derive(Clone, Copy)]
pub struct Values<'v> {
    code: &'v BuilderCode,
    scalars: &'v [ScalarValue],
    set: &'v BTreeMap<StatementId, ReplacedValue>,
}

impl fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").field("scalars", &self.scalars).finish_non_exhaustive()
    }
}

impl<'v> Values<'v> {
    /// Returns the event of a statement that was built with `built`.
    fn event(self, statement: StatementId, built: &'v CudaEvent) -> &'v CudaEvent {
        match self.set.get(&statement) {
            Some(ReplacedValue::Event(set)) => set,
            _ => built,
        }
    }
}

impl Body for Values<'_> {
    fn table(&self, _: Token) -> Option<TableHandle> {
        Some(TableHandle::Built(self.code.table.clone()))
    }

    fn leaf(&self, number: u32, _: &[i64], _: Token) -> Dim {
        let scalar = self.scalars.get(size(number)).and_then(ScalarValue::dim);
        scalar.unwrap_or_else(|| dim(1u8) / 0u8)
    }

    fn evaluate(&self, step: u32, _: &[i64], evaluation: &mut Evaluation<'_>, _: Token) -> Result<()> {
        let id = StatementId::from_u32(step);
        let at = &self.code.places[id];
        match &self.code.steps[id] {
            StatementKind::Launch(launch) => {
                let arguments = match self.set.get(&id) {
                    Some(ReplacedValue::Arguments(set)) => set.arguments(launch.kernel),
                    _ => launch.arguments(self.scalars).map_err(|misfit| launch.misfit_error(at, misfit))?,
                };
                evaluation.run(launch.kernel, launch.config.with(self.scalars), arguments)
            }
            StatementKind::Fill(Fill { element, sources }) => {
                match fill(element.id, sources, self.scalars, Some(evaluation)) {
                    Some(Ok(done)) => done,
                    Some(Err(misfit)) => {
                        Err(messages::misfit(at, "fill", "value", sources.texts.first(), &misfit))
                    }
                    None => Err(messages::not_fillable(at, element.name)),
                }
            }
            StatementKind::Copy(()) => evaluation.copy(),
            StatementKind::Capture(never) => match *never {},
            StatementKind::Condition(_) | StatementKind::Join(_) => Ok(()),
            StatementKind::Host(work) => {
                let work = match self.set.get(&id) {
                    Some(ReplacedValue::Function(set)) => set,
                    _ => work,
                };
                evaluation.host_work(work.clone());
                Ok(())
            }
            StatementKind::Record(event) => evaluation.record(self.event(id, event)),
            StatementKind::Wait(event) => evaluation.wait(self.event(id, event)),
            StatementKind::Sync(word, synced) => synced
                .evaluate(*word, self.scalars, Some(evaluation))
                .map_err(|misfit| synced.misfit_error(at, *word, misfit))?
                .unwrap_or(Ok(())),
            StatementKind::Call(_) | StatementKind::Alloc(_) | StatementKind::Free(_) => Ok(()),
        }
    }

    fn enter(&self, step: u32, _: &[i64], enter: &mut dyn FnMut(&dyn Body), _: Token) {
        if let StatementKind::Call(call) = &self.code.steps[StatementId::from_u32(step)] {
            let _ = call.sources.take(self.scalars, |given| (call.enter)(given, enter, Token));
        }
    }
}

impl GraphFn for Args<'_> {
    fn table(_: Token) -> Option<&'static Table> {
        None
    }

    type Values<'v>
        = Values<'v>
    where
        Self: 'v;

    fn size(&mut self, number: usize, _: Token) -> Option<&mut dyn SizeSlot> {
        let scalar: &mut dyn SizeSlot = self.scalars.get_mut(number)?;
        Some(scalar)
    }

    fn hints(&self, visitor: &mut HintVisitor, _: Token) {
        for buffer in &self.buffers {
            let hints: Vec<RangedHint> = buffer.hints.iter().map(|hint| hint.value(&self.scalars)).collect();
            visitor.hinted(buffer.count(), &hints);
        }
    }

    fn values(&self, _: Token) -> Values<'_> {
        Values { code: &self.code, scalars: &self.scalars, set: &self.set }
    }
}
