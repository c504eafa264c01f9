//! Adds launches, fills, copies, frees and outputs to a builder's program. A statement is added only after its
//! arguments were checked with the current values of the scalars.

use cuweave_core::codes::Code;
use cuweave_core::index::Index;
use cuweave_core::ir::{Access, BufferId, Mode, Origin, StatementId};
use cuweave_core::kind::StatementKind;

use crate::error::{Error, Result};
use crate::kernels::{Kernel, Param, ParamKind};

use super::code::{ArgumentSource, ArgumentSources, ArgumentsFunction, Fill, Launch, LaunchArguments, fill};
use super::config::Configuration;
use super::handle::{Argument, ArgumentValue, CallSite, Handle, Statement, View};
use super::messages;
use super::program::{Program, StatementSite};
use super::size::{MentionedScalars, Size};

const BORROWS: &str = "`&b` fits `&[T; _]`, `&mut b` fits `&mut [T; _]` and `&mut [MaybeUninit<T>; _]`, and \
    `atomic(&mut b)` fits `&[Atomic<T>; _]`";

impl Program {
    pub(super) fn statement(&self, id: StatementId) -> Statement {
        Statement { builder: self.builder, index: id.index() }
    }

    /// Returns the name and the predecessors that were requested for the next statement.
    pub(super) fn begin_statement(
        &mut self,
        place: CallSite,
        name: &str,
    ) -> Result<(String, Vec<StatementId>)> {
        let name = self.cursor.pending.name.take().unwrap_or_else(|| name.to_owned());
        let after = self.take_after(&StatementSite { place, name: &name })?;
        Ok((name, after))
    }

    /// Returns the scalars that arguments mention.
    pub(super) fn mentioned_scalars(&self, sources: &ArgumentSources) -> MentionedScalars {
        let mut scalars = MentionedScalars::default();
        sources.list.iter().for_each(|source| source.mentions(&mut scalars.all));
        scalars
    }

    /// Converts a scalar or a host value to the form that statements store.
    pub(super) fn scalar_source(
        &self,
        site: &StatementSite<'_>,
        argument: &Argument,
    ) -> Result<ArgumentSource> {
        match &argument.0 {
            ArgumentValue::Scalar(builder, id) if *builder == self.builder => Ok(ArgumentSource::Scalar(*id)),
            ArgumentValue::Scalar(builder, id) => {
                let foreign = Size::of_scalar(*builder, *id);
                self.check(site, &foreign)?;
                Ok(ArgumentSource::Size(foreign))
            }
            ArgumentValue::Size(size) => {
                self.check(site, size)?;
                Ok(ArgumentSource::Size(size.clone()))
            }
            ArgumentValue::Value(value) => Ok(ArgumentSource::Value(value.clone())),
            ArgumentValue::Host(value) => Ok(ArgumentSource::Host(value.clone())),
            ArgumentValue::Absent => {
                Err(self.refuse(site, Code::CW401, "`None` stands for a value, and is no scalar", None))
            }
            ArgumentValue::Borrowed(..) | ArgumentValue::Bare(_) => {
                let message =
                    format!("`{}` is a buffer, and a value is a scalar", self.argument_text(argument));
                Err(self.refuse(site, Code::CW401, &message, None))
            }
        }
    }

    pub(super) fn access(&mut self, site: &StatementSite<'_>, view: &View, mode: Mode) -> Result<Access> {
        if view.rows.is_some() {
            return Err(self.rows_error(site));
        }
        let part = self.part(site, view)?;
        Ok(Access { buffer: part.buffer, mode, lo: part.lo, hi: part.hi, relied_on: false, rows: None })
    }

    pub(super) fn by_value_error(&self, site: &StatementSite<'_>, argument: &Argument) -> Error {
        let message =
            format!("`{}`, a buffer that the graph owns, is passed by value", self.argument_text(argument));
        self.refuse(site, Code::CW001, &message, Some("write `&b`, `&mut b` or `atomic(&mut b)`"))
    }

    pub(super) fn check_device_memory(
        &self,
        site: &StatementSite<'_>,
        buffer: BufferId,
        user: &str,
    ) -> Result<()> {
        let declared = &self.buffers[buffer];
        if matches!(declared.origin, Origin::Pinned { .. }) {
            let message = format!("`{}` is pinned host memory, which `{user}` does not take", declared.name);
            return Err(self.refuse(
                site,
                Code::CW001,
                &message,
                Some("`copy` it to or from a device buffer"),
            ));
        }
        Ok(())
    }

    pub(super) fn check_argument_count(
        &self,
        site: &StatementSite<'_>,
        callee: &str,
        declared: &[&str],
        given: usize,
    ) -> Result<()> {
        if declared.len() == given {
            return Ok(());
        }
        let s = if declared.len() == 1 { "" } else { "s" };
        let message = format!("`{callee}` takes {} argument{s}, and {given} are given", declared.len());
        let note = format!("its parameters are `{}`", declared.join("`, `"));
        let at = self.at(site.place, site.name);
        Err(messages::refused(&at, Code::CW401, &message, &[note], None))
    }

    pub(super) fn launch(
        &mut self,
        place: CallSite,
        kernel: &'static Kernel,
        arguments: ArgumentsFunction,
        config: Configuration,
        given: &[Argument],
    ) -> Result<Statement> {
        let (name, after) = self.begin_statement(place, kernel.name)?;
        let site = StatementSite { place, name: &name };
        self.check_sound(&site, config.check(self.builder))?;
        let declared = kernel.declared();
        let names: Vec<&str> = declared.iter().map(|(name, _)| *name).collect();
        self.check_argument_count(&site, kernel.name, &names, given.len())?;
        if let Some(table) = kernel.params.iter().find(|param| param.table) {
            let message = format!("`{}` of `{}` is a table of pointers", table.name, kernel.name);
            let help = "launch the kernel in a graph function, and call that";
            return Err(self.refuse(&site, Code::CW401, &message, Some(help)));
        }
        let mut accesses = Vec::new();
        let mut sources = ArgumentSources::default();
        for (argument, (name, param)) in given.iter().zip(declared) {
            if let (ArgumentValue::Absent, Some(Param { optional: true, .. })) = (&argument.0, param) {
                sources.list.push(ArgumentSource::Nothing);
                sources.texts.push(self.argument_text(argument));
                continue;
            }
            let kind = param.map_or(ParamKind::Scalar, |param| param.kind);
            let borrowed = self.borrowed(&site, argument)?;
            let source = match borrowed {
                None => self.scalar_source(&site, argument)?,
                Some((_, None)) => return Err(self.by_value_error(&site, argument)),
                Some((view, Some(mode))) => {
                    let access = self.access(&site, &view, mode)?;
                    accesses.push(access);
                    self.check_parameter(&site, argument, Some(mode), kernel, name, kind)?;
                    let (element, name) = self.element(access.buffer);
                    sources.list.push(ArgumentSource::Buffer(element, name));
                    sources.texts.push(self.argument_text(argument));
                    continue;
                }
            };
            self.check_parameter(&site, argument, None, kernel, name, kind)?;
            sources.list.push(source);
            sources.texts.push(self.argument_text(argument));
        }
        let mut scalars = config.mentions();
        scalars.all.append(&mut self.mentioned_scalars(&sources).all);
        let arguments = LaunchArguments::Generated(arguments);
        let launch = Launch { kernel, arguments, config, sources };
        let at = self.at(place, &name);
        launch.arguments(&self.values).map_err(|misfit| launch.misfit_error(&at, misfit))?;
        let kind = StatementKind::Launch(launch);
        let id = self.push(name, place, kind, accesses, after, scalars);
        Ok(self.statement(id))
    }

    /// Checks that an argument is passed as the parameter declares: by value, `&`, `&mut` or `atomic`.
    pub(super) fn check_parameter(
        &self,
        site: &StatementSite<'_>,
        argument: &Argument,
        mode: Option<Mode>,
        kernel: &Kernel,
        parameter: &str,
        kind: ParamKind,
    ) -> Result<()> {
        let fits = matches!(
            (mode, kind),
            (None, ParamKind::Scalar)
                | (Some(Mode::Read), ParamKind::Read)
                | (Some(Mode::ReadWrite), ParamKind::ReadWrite | ParamKind::Write)
                | (Some(Mode::Atomic), ParamKind::Atomic)
        );
        if fits {
            return Ok(());
        }
        let declared = match kind {
            ParamKind::Read => "`&[T; _]`",
            ParamKind::ReadWrite => "`&mut [T; _]`",
            ParamKind::Write => "`&mut [MaybeUninit<T>; _]`",
            ParamKind::Atomic => "`&[Atomic<T>; _]`",
            ParamKind::Scalar => "a scalar",
        };
        self.misfit_error(site, argument, kernel.name, parameter, declared)
    }

    pub(super) fn misfit_error(
        &self,
        site: &StatementSite<'_>,
        argument: &Argument,
        callee: &str,
        parameter: &str,
        declared: &str,
    ) -> Result<()> {
        let text = self.argument_text(argument);
        let message = format!(
            "`{text}` does not fit the parameter `{parameter}` of `{callee}`, which is declared as {declared}"
        );
        let at = self.at(site.place, site.name);
        Err(messages::refused(&at, Code::CW401, &message, &[BORROWS.to_owned()], None))
    }

    /// Checks an argument of `fill` or `copy` and returns its access.
    pub(super) fn transfer_access(
        &mut self,
        site: &StatementSite<'_>,
        argument: &Argument,
        user: &str,
        mode: Mode,
    ) -> Result<Access> {
        match self.borrowed(site, argument)? {
            None | Some((_, Some(Mode::Atomic))) => {
                let message =
                    format!("`{}`, an argument of `{user}`, is not a buffer", self.argument_text(argument));
                let help = "pass an allocation or an argument by `&` or `&mut`";
                Err(self.refuse(site, Code::CW001, &message, Some(help)))
            }
            Some((_, None)) => Err(self.by_value_error(site, argument)),
            Some((view, Some(lent))) => {
                let access = self.transferred(site, &view, user, mode)?;
                if self.is_condition(access.buffer) && ["fill", "copy", "host"].contains(&user) {
                    let message = format!(
                        "`{}` is a condition, which only launches set",
                        self.buffers[access.buffer].name
                    );
                    let help = "pass it to a launch whose kernel takes a `Condition`";
                    return Err(self.refuse(site, Code::CW001, &message, Some(help)));
                }
                let bare = matches!(argument.0, ArgumentValue::Bare(_));
                if mode == Mode::Write && lent == Mode::Read && !bare {
                    let message = format!("`{user}` writes `{}`", self.argument_text(argument));
                    return Err(self.refuse(site, Code::CW001, &message, Some("borrow it by `&mut`")));
                }
                Ok(access)
            }
        }
    }

    pub(super) fn fill(&mut self, place: CallSite, buffer: &Argument, value: &Argument) -> Result<Statement> {
        let (name, after) = self.begin_statement(place, "fill")?;
        let site = StatementSite { place, name: &name };
        let access = self.transfer_access(&site, buffer, "fill", Mode::Write)?;
        self.check_device_memory(&site, access.buffer, "fill")?;
        let source = self.scalar_source(&site, value)?;
        let sources = ArgumentSources { list: vec![source], texts: vec![self.argument_text(value)] };
        let element = self.buffers[access.buffer].element;
        let at = self.at(place, &name);
        match fill(element.id, &sources, &self.values, None) {
            Some(Ok(_)) => {}
            Some(Err(misfit)) => {
                return Err(messages::misfit(&at, "fill", "value", sources.texts.first(), &misfit));
            }
            None => return Err(messages::not_fillable(&at, element.name)),
        }
        let scalars = self.mentioned_scalars(&sources);
        let (kind, accesses) = (StatementKind::Fill(Fill { element, sources }), vec![access]);
        let id = self.push(name, place, kind, accesses, after, scalars);
        Ok(self.statement(id))
    }

    pub(super) fn copy(&mut self, place: CallSite, from: &Argument, to: &Argument) -> Result<Statement> {
        let (name, after) = self.begin_statement(place, "copy")?;
        let site = StatementSite { place, name: &name };
        let source = self.transfer_access(&site, from, "copy", Mode::Read)?;
        let target = self.transfer_access(&site, to, "copy", Mode::Write)?;
        let (one, other) = (self.element(source.buffer), self.element(target.buffer));
        if one.0 != other.0 {
            let message = format!(
                "`{}` has elements of type `{}`, and `{}` has elements of type `{}`",
                self.argument_text(from),
                one.1,
                self.argument_text(to),
                other.1
            );
            return Err(self.refuse(&site, Code::CW401, &message, None));
        }
        let accesses = vec![source, target];
        let scalars = Default::default();
        let id = self.push(name, place, StatementKind::Copy(()), accesses, after, scalars);
        Ok(self.statement(id))
    }

    pub(super) fn free(&mut self, place: CallSite, buffer: Handle) -> Result<Statement> {
        let (name, after) = self.begin_statement(place, "free")?;
        let site = StatementSite { place, name: &name };
        let buffer = self.resolve_buffer(&site, buffer)?;
        self.check_owned_by_body(&site, buffer)?;
        let (kind, accesses, scalars) = (StatementKind::Free(buffer), Vec::new(), Default::default());
        let id = self.push(name, place, kind, accesses, after, scalars);
        Ok(self.statement(id))
    }

    pub(super) fn output(&mut self, place: CallSite, buffer: Handle) -> Result<()> {
        let site = StatementSite { place, name: "output" };
        let buffer = self.resolve_buffer(&site, buffer)?;
        let declared = &self.buffers[buffer];
        if !declared.origin.is_owned() {
            let message = format!(
                "`{}` is borrowed: only allocations leave a graph, its own and those that it has taken over",
                declared.name
            );
            let help = "`copy` it into an allocation and return that";
            return Err(self.refuse(&site, Code::CW001, &message, Some(help)));
        }
        if self.is_condition(buffer) {
            let message = "a condition does not leave its graph";
            return Err(self.refuse(&site, Code::CW001, message, Some("return buffers only")));
        }
        self.outputs.push((buffer, place));
        Ok(())
    }
}
