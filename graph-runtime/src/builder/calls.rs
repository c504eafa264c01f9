//! Adds calls of graph functions to a builder's program: checks the arguments against the callee's parameters
//! and declares the buffers that the call returns.

use cuweave_core::codes::Code;
use cuweave_core::ids::CallId;
use cuweave_core::index::{Index, narrow};
use cuweave_core::ir::{Access, BufferId, DimId, Mode, Origin, StatementId};
use cuweave_core::kind::StatementKind;
use cuweave_core::structure::{Argument as CallArgument, Call as Bindings, CallPosition};
use cuweave_core::table::{Parameter, TableHandle};

use crate::error::{Error, Result};

use super::bound::ElementType;
use super::code::{ArgumentSource, ArgumentSources, Call, EnterFunction};
use super::handle::{Argument, ArgumentValue, CallSite, Handle, View};
use super::program::{Program, StatementSite};
use super::size::Size;

/// The arguments of a call, converted.
#[derive(Default)]
struct CallArguments {
    /// The accesses of the buffers.
    accesses: Vec<Access>,
    /// The bindings of the callee's parameters.
    arguments: Vec<CallArgument>,
    /// The sources of their values.
    sources: ArgumentSources,
}

impl Program {
    pub(super) fn call(
        &mut self,
        place: CallSite,
        callee: TableHandle,
        enter: EnterFunction,
        given: &[Argument],
    ) -> Result<Vec<Handle>> {
        let function = callee.program.name.clone();
        let result_name = self.cursor.pending.name.take();
        let after = self.take_after(&StatementSite { place, name: &function })?;
        let site = StatementSite { place, name: &function };
        let declared: Vec<&str> = callee.arguments.iter().map(|name| &**name).collect();
        self.check_argument_count(&site, &function, &declared, given.len())?;
        let CallArguments { mut accesses, arguments, sources } =
            self.call_arguments(&site, &callee, given)?;
        let at = self.at(place, &function);
        let call = Call { id: CallId::new(self.calls.len()), callee: callee.clone(), enter, sources };
        call.check(&at, &self.values)?;
        let statement = StatementId::new(self.statements.len());
        let results = self.call_results(&callee, place, result_name.as_deref(), statement, &mut accesses);
        let handles = results.iter().map(|buffer| Handle { builder: self.builder, index: buffer.index() });
        let handles: Vec<Handle> = handles.collect();
        let scalars = self.mentioned_scalars(&call.sources);
        self.calls.push(Bindings { arguments, results, around: Vec::new(), place: CallPosition::Only });
        let (name, kind) = (function.to_string(), StatementKind::Call(call));
        self.push(name, place, kind, accesses, after, scalars);
        Ok(handles)
    }

    /// Checks and converts the arguments of a call.
    fn call_arguments(
        &mut self,
        site: &StatementSite<'_>,
        callee: &TableHandle,
        given: &[Argument],
    ) -> Result<CallArguments> {
        let function = site.name;
        let CallArguments { mut accesses, mut arguments, mut sources } = CallArguments::default();
        for ((argument, parameter), name) in given.iter().zip(&callee.parameters).zip(&callee.arguments) {
            let text = self.argument_text_of(site, argument)?;
            let source = match (self.borrowed(site, argument)?, *parameter) {
                // The check of the call compares host values with their parameters.
                (None, Parameter::Scalar(_) | Parameter::Host { .. }) => {
                    let source = self.scalar_source(site, argument)?;
                    let one = ArgumentSources { list: vec![source.clone()], texts: Vec::new() };
                    arguments.push(CallArgument::Scalar {
                        of: self.mentioned_scalars(&one).all.into_iter().collect(),
                        value: self.integer(argument).map(|value| self.dim(&value)),
                    });
                    source
                }
                (Some((view, mode)), Parameter::Buffer(parameter)) => {
                    let origin = callee.program.buffers[parameter].origin;
                    let (access, moved) = self.call_buffer(site, argument, &view, mode, name, origin)?;
                    arguments.push(match moved {
                        true => CallArgument::Moved(access.buffer),
                        false => CallArgument::Access(narrow(accesses.len())),
                    });
                    let (element, name) = self.element(access.buffer);
                    accesses.push(access);
                    ArgumentSource::Buffer(element, name)
                }
                (_, Parameter::Scalar(_) | Parameter::Host { .. } | Parameter::Buffer(_))
                | (_, Parameter::Array(..) | Parameter::Part | Parameter::Buffers(_)) => {
                    return Err(self.scalar_misfit_error(site, argument, function, name));
                }
            };
            sources.list.push(source);
            sources.texts.push(text);
        }
        Ok(CallArguments { accesses, arguments, sources })
    }

    /// Returns an argument that is an expression over integer scalars.
    fn integer(&self, argument: &Argument) -> Option<Size> {
        match &argument.0 {
            ArgumentValue::Scalar(builder, id) => {
                let is_integer = self.values.get(id.index()).is_some_and(|value| value.dim().is_some());
                is_integer.then(|| Size::of_scalar(*builder, *id))
            }
            ArgumentValue::Size(size) => Some(size.clone()),
            _ => None,
        }
    }

    /// Returns the access of a buffer argument, and true if its ownership moves to the callee.
    fn call_buffer(
        &mut self,
        site: &StatementSite<'_>,
        argument: &Argument,
        view: &View,
        mode: Option<Mode>,
        parameter: &str,
        origin: Origin,
    ) -> Result<(Access, bool)> {
        let moved = mode.is_none() && origin == Origin::Taken;
        let lent = matches!(
            (mode, origin),
            (Some(Mode::Read), Origin::Device { mutable: false } | Origin::Pinned { mutable: false })
                | (
                    Some(Mode::ReadWrite),
                    Origin::Device { mutable: true } | Origin::Pinned { mutable: true }
                )
        );
        if !(moved || lent) {
            self.misfit_error(site, argument, site.name, parameter, declared_as(origin))?;
        }
        if view.rows.is_some() {
            return Err(self.rows_error(site));
        }
        let part = self.part(site, view)?;
        match origin.is_pinned() {
            true => self.check_pinned_memory(site, part.buffer, parameter)?,
            false => self.check_device_memory(site, part.buffer, site.name)?,
        }
        if moved && !part.whole {
            let text = self.argument_text(argument);
            let message = format!("`{text}`, a part of a buffer, cannot be handed over");
            let help = "borrow it: write `&b` or `&mut b`";
            return Err(self.refuse(site, Code::CW001, &message, Some(help)));
        }
        if moved {
            self.check_owned_by_body(site, part.buffer)?;
        }
        let mode = mode.unwrap_or(Mode::ReadWrite);
        let access =
            Access { buffer: part.buffer, mode, lo: part.lo, hi: part.hi, relied_on: false, rows: None };
        Ok((access, moved))
    }

    /// Checks that a buffer is pinned memory, for a parameter that is.
    fn check_pinned_memory(&self, site: &StatementSite<'_>, buffer: BufferId, parameter: &str) -> Result<()> {
        let declared = &self.buffers[buffer];
        if declared.origin.is_pinned() {
            return Ok(());
        }
        let (name, callee) = (&declared.name, site.name);
        let message = format!(
            "`{name}` is a device buffer, and the parameter `{parameter}` of `{callee}` is pinned host memory"
        );
        let help = "`copy` it to or from an argument of `pinned` or `pinned_mut`";
        Err(self.refuse(site, Code::CW401, &message, Some(help)))
    }

    /// Declares the allocations that a call returns and adds the accesses that write them. `name` is the
    /// call's name, if any.
    fn call_results(
        &mut self,
        callee: &TableHandle,
        place: CallSite,
        name: Option<&str>,
        statement: StatementId,
        accesses: &mut Vec<Access>,
    ) -> Vec<BufferId> {
        callee
            .program
            .outputs
            .iter()
            .map(|&output| {
                let declared = &callee.program.buffers[output];
                let name = name.map_or_else(|| declared.name.to_string(), str::to_owned);
                let element =
                    ElementType::from_declared(callee.elements[output], declared.element, declared.align);
                let len = Size::extent(self.builder, self.buffers.len());
                let site = StatementSite { place, name: &name };
                let buffer = self.declare(&site, Origin::Alloc(statement), len, element);
                let hi = self.buffers[buffer].dim;
                accesses.push(Access {
                    buffer,
                    mode: Mode::Write,
                    lo: DimId::from_u32(0),
                    hi,
                    relied_on: false,
                    rows: None,
                });
                buffer
            })
            .collect()
    }

    fn scalar_misfit_error(
        &self,
        site: &StatementSite<'_>,
        argument: &Argument,
        callee: &str,
        parameter: &str,
    ) -> Error {
        let message = format!(
            "`{}` does not fit the parameter `{parameter}` of `{callee}`",
            self.argument_text(argument)
        );
        self.refuse(site, Code::CW401, &message, None)
    }

    /// Returns the text of an argument. Fails if its handles are not of this builder.
    fn argument_text_of(&self, site: &StatementSite<'_>, argument: &Argument) -> Result<String> {
        match &argument.0 {
            ArgumentValue::Borrowed(view, _) | ArgumentValue::Bare(view) => {
                self.resolve_buffer(site, view.handle).map(drop)?
            }
            ArgumentValue::Absent
            | ArgumentValue::Value(_)
            | ArgumentValue::Scalar(..)
            | ArgumentValue::Size(_)
            | ArgumentValue::Host(_) => drop(self.scalar_source(site, argument)?),
        }
        Ok(self.argument_text(argument))
    }
}

fn declared_as(origin: Origin) -> &'static str {
    match origin {
        Origin::Device { mutable: false } => "`&[T; _]`",
        Origin::Device { mutable: true } => "`&mut [T; _]` or `&mut [MaybeUninit<T>; _]`",
        Origin::Taken => "`[T; _]`, which takes the bare handle of an allocation",
        Origin::Pinned { mutable: false } => "`&Pinned<[T; _]>`",
        Origin::Pinned { mutable: true } => "`&mut Pinned<[T; _]>`",
        Origin::Alloc(_) | Origin::Part(_) => "a part of a record",
    }
}
