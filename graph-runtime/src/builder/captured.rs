//! The statements of captured graphs, which [`lift`](fn@crate::lift) adds, and their setters by position.

use std::sync::Arc;

use cudarc::driver::{CudaContext, LaunchConfig};
use cuweave_core::ids::CallId;
use cuweave_core::index::{Index, narrow};
use cuweave_core::ir::{Access, Mode, StatementId};
use cuweave_core::kind::StatementKind;
use cuweave_core::launches::LaunchShape;
use cuweave_core::structure::{Argument as CallArgument, Call as Bindings, CallPosition};
use cuweave_core::table::{DecodedFunction, TableHandle};

use crate::bind::Foreign;
use crate::build::SharedValue;
use crate::error::{Error, LiftFault, Result, SetterFault, SourceLocation};
use crate::kernels::Kernel;

use super::code::{
    ArgumentSource, ArgumentSources, Call, CapturedArguments, CapturedIndex, EnterFunction, Launch,
    LaunchArguments, ReplacedValue, ValueCheck,
};
use super::config::Configuration;
use super::declarations::Builder;
use super::exec::Exec;
use super::handle::{CallSite, Handle, Statement, View};
use super::program::StatementSite;

/// A captured launch.
pub(crate) struct CapturedLaunch {
    pub kernel: &'static Kernel,
    pub shape: LaunchShape,
    pub arguments: CapturedArguments,
    /// The bytes of each pointer.
    pub accesses: Vec<(View, Mode)>,
    pub check: Arc<dyn ValueCheck>,
}

/// A call that adds a copy of a captured node, which is its host value.
pub(crate) struct KeptCall {
    pub table: &'static DecodedFunction,
    pub enter: EnterFunction,
    pub node: SharedValue,
}

/// The place of a node in messages.
pub(crate) fn node_place(number: usize) -> CallSite {
    CallSite { file: "a captured graph, node", line: narrow(number), column: 0 }
}

impl Builder<'_> {
    /// Returns a builder for a captured graph.
    pub(crate) fn for_captured(ctx: &Arc<CudaContext>) -> Self {
        let place = CallSite { file: "a captured graph", line: 0, column: 0 };
        Builder::made(vec![ctx.clone()], "captured", place)
    }

    /// Adds a captured launch.
    pub(crate) fn captured_launch(&mut self, number: usize, launch: CapturedLaunch) -> Result<Statement> {
        let CapturedLaunch { kernel, shape, arguments, accesses, check } = launch;
        let place = node_place(number);
        let (name, after) = self.program.begin_statement(place, kernel.name)?;
        let site = StatementSite { place, name: &name };
        let accesses = accesses.iter().map(|(view, mode)| self.program.access(&site, view, *mode));
        let accesses = accesses.collect::<Result<Vec<Access>>>()?;
        let [grid_dim, block_dim] = [shape.grid, shape.block].map(|[x, y, z]| (x, y, z));
        let config = LaunchConfig { grid_dim, block_dim, shared_mem_bytes: shape.shared };
        let kind = StatementKind::Launch(Launch {
            kernel,
            arguments: LaunchArguments::Captured(Arc::new(arguments)),
            config: Configuration::Fixed(config),
            sources: ArgumentSources::default(),
        });
        let id = self.program.push(name, place, kind, accesses, after, Default::default());
        self.program.captured.texts.insert(id, check);
        Ok(self.program.statement(id))
    }

    /// Adds a call that adds a copy of a captured node, with the buffers of memory that the node finds elsewhere.
    pub(crate) fn kept_node(
        &mut self,
        number: usize,
        kept: KeptCall,
        buffers: &[Handle],
    ) -> Result<Statement> {
        let KeptCall { table, enter, node } = kept;
        let place = node_place(number);
        let (name, after) = self.program.begin_statement(place, &table.program.name)?;
        let site = StatementSite { place, name: &name };
        let callee = TableHandle::Static(table);
        let mut sources = ArgumentSources::default();
        let mut arguments = vec![CallArgument::Scalar { of: Vec::new(), value: None }];
        sources.list.push(ArgumentSource::Host(node));
        sources.texts.push("node".to_owned());
        let mut accesses = Vec::new();
        for &buffer in buffers {
            let access = self.program.access(&site, &View::from(buffer), Mode::ReadWrite)?;
            arguments.push(CallArgument::Access(narrow(accesses.len())));
            let (element, name) = self.program.element(access.buffer);
            sources.list.push(ArgumentSource::Buffer(element, name));
            sources.texts.push(name.to_owned());
            accesses.push(access);
        }
        let id = CallId::new(self.program.calls.len());
        let call = Call { id, callee, enter, sources };
        self.program.calls.push(Bindings {
            arguments,
            results: Vec::new(),
            around: Vec::new(),
            place: CallPosition::Only,
        });
        let kind = StatementKind::Call(call);
        let id = self.program.push(name, place, kind, accesses, after, Default::default());
        Ok(self.program.statement(id))
    }

    /// Sets the nodes that setters find by position.
    pub(crate) fn set_captured(
        &mut self,
        kernels: Vec<(String, Statement)>,
        memory: Vec<(Handle, Option<(usize, String)>)>,
    ) {
        let texts = std::mem::take(&mut self.program.captured.texts);
        self.program.captured = CapturedIndex { kernels, memory, texts };
    }
}

/// A kernel of a lifted graph, by its name and position: see [`Exec::kernel`].
#[derive(Debug)]
pub struct CapturedKernelSetter<'e, 'a> {
    exec: &'e mut Exec<'a>,
    statement: Statement,
    at: SourceLocation,
}

impl<'a> Exec<'a> {
    /// Returns a kernel of a [lifted](fn@crate::lift) graph: the one with this name that comes after `nth` others of
    /// the name, in the order of the captured graph's nodes.
    ///
    /// # Errors
    ///
    /// No such kernel; one that is kept as captured.
    pub fn kernel(&mut self, name: &str, nth: usize) -> Result<CapturedKernelSetter<'_, 'a>> {
        let captured = &self.core.args.captured;
        let mut same = captured.kernels.iter().filter(|(other, _)| other == name);
        let (name_of, fault) = (name.to_owned(), |fault| Err(Error::Lift(Box::new(fault))));
        let Some(&(_, statement)) = same.nth(nth) else {
            let count = captured.kernels.iter().filter(|(other, _)| other == name).count();
            return fault(LiftFault::NoKernel { name: name_of, nth, count });
        };
        let id = StatementId::new(statement.index);
        if !captured.texts.contains_key(&id) {
            return fault(LiftFault::KeptKernel { name: name_of, nth });
        }
        let at = self.core.args.code.places[id].clone();
        Ok(CapturedKernelSetter { exec: self, statement, at })
    }

    /// Binds the memory at a position to other memory: `nth` counts the allocations that the lifted graph uses, in the
    /// order of their addresses. It must be as long.
    ///
    /// # Errors
    ///
    /// No such allocation; one that a node may use that is kept as captured; those of
    /// [`set_buffer`](Exec::set_buffer).
    #[track_caller]
    pub fn set_memory(&mut self, nth: usize, memory: Foreign<u8>) -> Result<()> {
        let known = &self.core.args.captured.memory;
        let handle = match known.get(nth) {
            Some((handle, None)) => *handle,
            Some((_, Some((node, name)))) => {
                let (node, name) = (*node, name.clone());
                return Err(Error::Lift(Box::new(LiftFault::MemoryKept { nth, node, name })));
            }
            None => return Err(Error::Lift(Box::new(LiftFault::NoMemory { nth, count: known.len() }))),
        };
        self.set_buffer(&handle, memory)
    }
}

impl CapturedKernelSetter<'_, '_> {
    /// Sets a parameter that is no pointer, by its position among all parameters. The launch must access the same bytes
    /// with the new value, as far as its PTX shows.
    ///
    /// # Errors
    ///
    /// No such parameter, a pointer, or one of another size; [`Error::BuildAgain`] if the launch may access other
    /// bytes; a failure of the driver. The exec is unchanged.
    pub fn set(&mut self, parameter: usize, value: impl ParameterValue) -> Result<()> {
        let (args, value) = (&self.exec.core.args, value.to_bytes());
        let id = StatementId::new(self.statement.index);
        let (kernel, mut arguments) = match (&args.code.steps[id], args.set.get(&id)) {
            (StatementKind::Launch(launch), Some(ReplacedValue::Arguments(set))) => {
                (launch.kernel, (**set).clone())
            }
            (
                StatementKind::Launch(Launch {
                    kernel, arguments: LaunchArguments::Captured(captured), ..
                }),
                _,
            ) => (*kernel, (**captured).clone()),
            _ => return Ok(()),
        };
        let fault = |fault| Err(Error::Lift(Box::new(fault)));
        let Some(check) = args.captured.texts.get(&id).cloned() else { return Ok(()) };
        let kernel = kernel.name.to_owned();
        match check.size(parameter) {
            None => return fault(LiftFault::NoParameter { kernel, parameter }),
            Some(bytes) if bytes != value.len() => {
                return fault(LiftFault::ParameterSize { kernel, parameter, bytes, given: value.len() });
            }
            Some(_) => {}
        }
        arguments.values[parameter] = value;
        if !check.accesses_the_same(&arguments.values) {
            return Err(Error::BuildAgain {
                at: Box::new(self.at.clone()),
                reason: SetterFault::OtherAccesses,
            });
        }
        self.exec.set_host_value(id, ReplacedValue::Arguments(Arc::new(arguments)))
    }
}

/// A value of a kernel's parameter: a number, or the bytes of a structure.
pub trait ParameterValue {
    /// Returns its bytes.
    #[doc(hidden)]
    fn to_bytes(self) -> Vec<u8>;
}

macro_rules! values {
    ($($(#[$attribute:meta])* $ty:ty)*) => {$(
        $(#[$attribute])*
        impl ParameterValue for $ty {
            fn to_bytes(self) -> Vec<u8> {
                self.to_ne_bytes().to_vec()
            }
        }
    )*};
}
values! {
    u8 i8 u16 i16 u32 i32 u64 i64 usize isize u128 i128 f32 f64
    #[cfg(feature = "half")] half::f16
    #[cfg(feature = "half")] half::bf16
}

impl<const N: usize> ParameterValue for [u8; N] {
    fn to_bytes(self) -> Vec<u8> {
        self.to_vec()
    }
}
