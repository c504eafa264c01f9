//! The statements of a builder.

use std::collections::BTreeSet;

use crate::codes::Code;
use crate::index::{Index, narrow};
use crate::ir::{Access, BufferId, CallId, DimId, Kind, Mode, Origin, StatementId};
use crate::runtime::build::{Body, CalledItem, Given, LaunchedItem};
use crate::runtime::error::Result;
use crate::runtime::kernels::{Kernel, ParamKind};
use crate::runtime::statements::Arguments;
use crate::runtime::token::Token;
use crate::structure::{Argument as CallArgument, Call as Called};
use crate::table::{Parameter, TableHandle};

use super::bound::Element;
use super::code::{Call, Launch, Source, Sources, Step, fill};
use super::config::{Configuration, ToConfiguration};
use super::declarations::Builder;
use super::handle::{Argument, Handle, Passed, Place, Statement, ToArgument, ToArguments, View};
use super::program::{Program, Site, Written};
use super::size::Size;
use super::words;

const BORROWS: &str = "`&b` fits `&[T; _]`, `&mut b` fits `&mut [T; _]` and `&mut [MaybeUninit<T>; _]`, and `atomic(&mut b)` fits `&[Atomic<T>; _]`";

impl Builder<'_> {
    /// Launches a kernel: `kernel[config](arguments);`. The kernel is the item that a `#[kernels]` block declares, `nn::gelu {}`.
    ///
    /// # Errors
    ///
    /// Arguments that do not fit the declaration (CW401), handles of another builder (CW402), pinned memory (CW001).
    #[track_caller]
    pub fn launch<K: LaunchedItem>(
        &mut self,
        kernel: K,
        config: impl ToConfiguration,
        arguments: impl ToArguments,
    ) -> Result<Statement> {
        let _ = kernel;
        let (config, arguments) = (config.to_configuration(), arguments.to_arguments());
        self.program.launch(Place::caller(), (K::kernel(Token), K::arguments), config, &arguments)
    }

    /// Sets every element of a buffer: `fill(&mut b, value);`.
    ///
    /// # Errors
    ///
    /// A value that is no value of the buffer's elements (CW401), a handle of another builder (CW402), what is no buffer of the
    /// device that `&mut` lends (CW001).
    #[track_caller]
    pub fn fill(&mut self, buffer: impl ToArgument, value: impl ToArgument) -> Result<Statement> {
        self.program.fill(Place::caller(), &buffer.to_argument(), &value.to_argument())
    }

    /// Copies a buffer of the device or of pinned memory to another one: `copy(&a, &mut b);`.
    ///
    /// # Errors
    ///
    /// Buffers with elements of two types (CW401), handles of another builder (CW402), what is no buffer, and a destination that
    /// `&` lends (CW001).
    #[track_caller]
    pub fn copy(&mut self, from: impl ToArgument, to: impl ToArgument) -> Result<Statement> {
        self.program.copy(Place::caller(), &from.to_argument(), &to.to_argument())
    }

    /// Frees an allocation here, and not after its last use: `free(b);`.
    ///
    /// # Errors
    ///
    /// A handle of another builder (CW402). That the buffer is freed twice (CW103), is not the graph's (CW104), or is used later
    /// (CW102) are errors of the build.
    #[track_caller]
    pub fn free(&mut self, buffer: Handle) -> Result<Statement> {
        self.program.free(Place::caller(), buffer)
    }

    /// Calls a graph function: `let h = layer(n, &w, &mut x);`. Its statements stand in the place of the call.
    ///
    /// The function is the item beside it, `layer::layer {}`. A buffer is lent as in a launch; the bare handle of an allocation
    /// hands it over to a parameter `[T; len]`. Returns the allocations that the function returns.
    ///
    /// # Errors
    ///
    /// Arguments that do not fit the parameters (CW401), handles of another builder (CW402).
    #[track_caller]
    pub fn call<F: CalledItem>(&mut self, function: F, arguments: impl ToArguments) -> Result<Vec<Handle>> {
        let _ = function;
        let place = Place::caller();
        let arguments = arguments.to_arguments();
        match F::table(Token) {
            Some(table) => self.program.call(place, (table, F::enter), &arguments),
            None => {
                let site = Site { place, name: "call" };
                let message = "the graph function is of another version of cuweave";
                Err(self.program.refuse(&site, Code::CW001, message, None))
            }
        }
    }

    /// Lets an allocation leave the graph: each launch returns it. Outputs are numbered as they are declared.
    ///
    /// # Errors
    ///
    /// A handle of another builder (CW402), an argument (CW001). That the buffer is freed or returned already (CW105), or not
    /// written (CW107), are errors of the build.
    #[track_caller]
    pub fn output(&mut self, buffer: Handle) -> Result<()> {
        self.program.output(Place::caller(), buffer)
    }
}

type EnterFunction = fn(&mut Given<'_>, &mut dyn FnMut(&dyn Body), Token) -> Option<()>;

impl Program {
    fn statement(&self, id: StatementId) -> Statement {
        Statement { builder: self.builder, index: id.index() }
    }

    /// Returns the name and the order that were asked for the next statement.
    fn begun(&mut self, place: Place, name: &str) -> Result<(String, Vec<StatementId>)> {
        let name = self.pending.name.take().unwrap_or_else(|| name.to_owned());
        let after = self.take_after(&Site { place, name: &name })?;
        Ok((name, after))
    }

    /// Returns the scalars in arguments.
    fn mentioned(&self, sources: &Sources) -> BTreeSet<crate::ids::ScalarId> {
        let mut scalars = BTreeSet::new();
        for source in &sources.list {
            match source {
                Source::Scalar(id) => drop(scalars.insert(*id)),
                Source::Size(size) => size.mentions(&mut scalars),
                Source::Buffer(..) | Source::Value(_) => {}
            }
        }
        scalars
    }

    /// Returns a scalar argument as statements keep it.
    fn scalar_source(&self, site: &Site<'_>, argument: &Argument) -> Result<Source> {
        match &argument.0 {
            Passed::Scalar(builder, id) if *builder == self.builder => Ok(Source::Scalar(*id)),
            Passed::Scalar(builder, id) => {
                let foreign = Size::of_scalar(*builder, *id);
                self.check(site, &foreign)?;
                Ok(Source::Size(foreign))
            }
            Passed::Size(size) => {
                self.check(site, size)?;
                Ok(Source::Size(size.clone()))
            }
            Passed::Value(value) => Ok(Source::Value(value.clone())),
            Passed::Lent(..) | Passed::Bare(_) => {
                let message =
                    format!("`{}` is a buffer, and a value is a scalar", self.argument_text(argument));
                Err(self.refuse(site, Code::CW401, &message, None))
            }
        }
    }

    fn access(&mut self, site: &Site<'_>, view: &View, mode: Mode) -> Result<Access> {
        let part = self.part(site, view)?;
        Ok(Access { buffer: part.buffer, mode, lo: part.lo, hi: part.hi, relied_on: false })
    }

    fn not_lent(&self, site: &Site<'_>, argument: &Argument) -> crate::runtime::error::Error {
        let message =
            format!("`{}`, a buffer that the graph owns, is passed by value", self.argument_text(argument));
        self.refuse(site, Code::CW001, &message, Some("write `&b`, `&mut b` or `atomic(&mut b)`"))
    }

    fn device_only(&self, site: &Site<'_>, buffer: BufferId, user: &str) -> Result<()> {
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

    fn count(&self, site: &Site<'_>, callee: &str, declared: &[&str], given: usize) -> Result<()> {
        if declared.len() == given {
            return Ok(());
        }
        let s = if declared.len() == 1 { "" } else { "s" };
        let message = format!("`{callee}` takes {} argument{s}, and {given} are given", declared.len());
        let note = format!("its parameters are `{}`", declared.join("`, `"));
        let at = self.at(site.place, site.name);
        Err(words::refused(&at, Code::CW401, &message, &[note], None))
    }

    fn launch(
        &mut self,
        place: Place,
        (kernel, arguments): (&'static Kernel, fn(&mut Given<'_>, Token) -> Option<Arguments>),
        config: Configuration,
        given: &[Argument],
    ) -> Result<Statement> {
        let (name, after) = self.begun(place, kernel.name)?;
        let site = Site { place, name: &name };
        self.sound(&site, config.check(self.builder))?;
        let declared: Vec<&str> = kernel.params.iter().map(|param| param.name).collect();
        self.count(&site, kernel.name, &declared, given.len())?;
        let mut accesses = Vec::new();
        let mut sources = Sources { list: Vec::new(), texts: Vec::new() };
        for (argument, param) in given.iter().zip(kernel.params) {
            let borrowed = self.borrowed(&site, argument)?;
            let source = match borrowed {
                None => self.scalar_source(&site, argument)?,
                Some((_, None)) => return Err(self.not_lent(&site, argument)),
                Some((view, Some(mode))) => {
                    let access = self.access(&site, &view, mode)?;
                    self.device_only(&site, access.buffer, kernel.name)?;
                    accesses.push(access);
                    let (element, name) = self.element(access.buffer);
                    self.fits(&site, (argument, Some(mode)), kernel, (param.name, param.kind))?;
                    sources.list.push(Source::Buffer(element, name));
                    sources.texts.push(self.argument_text(argument));
                    continue;
                }
            };
            self.fits(&site, (argument, None), kernel, (param.name, param.kind))?;
            sources.list.push(source);
            sources.texts.push(self.argument_text(argument));
        }
        let [grid, block] = config.mentions();
        let scalars = [&(&self.mentioned(&sources) | &grid) | &block, grid, block];
        let launch = Launch { kernel, arguments, config, sources };
        let at = self.at(place, &name);
        launch.arguments(&self.values).map_err(|misfit| launch.refused(&at, misfit))?;
        let step = Step::Launch(launch);
        let id = self.push(Written { name, place, kind: Kind::Launch(()), accesses, after, step, scalars });
        Ok(self.statement(id))
    }

    /// Checks that an argument is lent as a parameter declares.
    fn fits(
        &self,
        site: &Site<'_>,
        (argument, mode): (&Argument, Option<Mode>),
        kernel: &Kernel,
        (parameter, kind): (&str, ParamKind),
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
        self.unfit(site, argument, &kernel.name, (parameter, declared))
    }

    fn unfit(
        &self,
        site: &Site<'_>,
        argument: &Argument,
        callee: &str,
        (parameter, declared): (&str, &str),
    ) -> Result<()> {
        let text = self.argument_text(argument);
        let message = format!(
            "`{text}` does not fit the parameter `{parameter}` of `{callee}`, which is declared as {declared}"
        );
        let at = self.at(site.place, site.name);
        Err(words::refused(&at, Code::CW401, &message, &[BORROWS.to_owned()], None))
    }

    /// Returns the access of an argument of `fill` or `copy`.
    fn transferred(
        &mut self,
        site: &Site<'_>,
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
            Some((_, None)) => Err(self.not_lent(site, argument)),
            Some((view, Some(lent))) => {
                let access = self.access(site, &view, mode)?;
                let bare = matches!(argument.0, Passed::Bare(_));
                if mode == Mode::Write && lent == Mode::Read && !bare {
                    let message = format!("`{user}` writes `{}`", self.argument_text(argument));
                    return Err(self.refuse(site, Code::CW001, &message, Some("borrow it by `&mut`")));
                }
                Ok(access)
            }
        }
    }

    fn fill(&mut self, place: Place, buffer: &Argument, value: &Argument) -> Result<Statement> {
        let (name, after) = self.begun(place, "fill")?;
        let site = Site { place, name: &name };
        let access = self.transferred(&site, buffer, "fill", Mode::Write)?;
        self.device_only(&site, access.buffer, "fill")?;
        let source = self.scalar_source(&site, value)?;
        let sources = Sources { list: vec![source], texts: vec![self.argument_text(value)] };
        let element = self.buffers[access.buffer].element;
        let at = self.at(place, &name);
        match fill(element.id, &sources, &self.values, None) {
            Some(Ok(_)) => {}
            Some(Err(misfit)) => {
                return Err(words::misfit(&at, "fill", "value", sources.texts.first(), &misfit));
            }
            None => return Err(words::not_fillable(&at, element.name)),
        }
        let scalars = [self.mentioned(&sources), BTreeSet::new(), BTreeSet::new()];
        let step = Step::Fill(element, sources);
        let id = self.push(Written {
            name,
            place,
            kind: Kind::Fill(()),
            accesses: vec![access],
            after,
            step,
            scalars,
        });
        Ok(self.statement(id))
    }

    fn copy(&mut self, place: Place, from: &Argument, to: &Argument) -> Result<Statement> {
        let (name, after) = self.begun(place, "copy")?;
        let site = Site { place, name: &name };
        let source = self.transferred(&site, from, "copy", Mode::Read)?;
        let target = self.transferred(&site, to, "copy", Mode::Write)?;
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
        let (kind, step) = (Kind::Copy(()), Step::Copy);
        let id = self.push(Written { name, place, kind, accesses, after, step, scalars: Default::default() });
        Ok(self.statement(id))
    }

    fn free(&mut self, place: Place, buffer: Handle) -> Result<Statement> {
        let (name, after) = self.begun(place, "free")?;
        let buffer = self.own(&Site { place, name: &name }, buffer)?;
        let (kind, accesses, step) = (Kind::Free(buffer), Vec::new(), Step::Memory);
        let id = self.push(Written { name, place, kind, accesses, after, step, scalars: Default::default() });
        Ok(self.statement(id))
    }

    fn output(&mut self, place: Place, buffer: Handle) -> Result<()> {
        let site = Site { place, name: "output" };
        let buffer = self.own(&site, buffer)?;
        let declared = &self.buffers[buffer];
        if !matches!(declared.origin, Origin::Alloc(_)) {
            let message =
                format!("`{}` is an argument: only allocations of this graph leave it", declared.name);
            let help = "`copy` it into an allocation and return that";
            return Err(self.refuse(&site, Code::CW001, &message, Some(help)));
        }
        self.outputs.push((buffer, place));
        Ok(())
    }

    fn call(
        &mut self,
        place: Place,
        (callee, enter): (TableHandle, EnterFunction),
        given: &[Argument],
    ) -> Result<Vec<Handle>> {
        let function = callee.program.name.clone();
        let asked = self.pending.name.take();
        let after = self.take_after(&Site { place, name: &function })?;
        let site = Site { place, name: &function };
        let declared: Vec<&str> = callee.arguments.iter().map(|name| &**name).collect();
        self.count(&site, &function, &declared, given.len())?;
        let (mut accesses, mut arguments) = (Vec::new(), Vec::new());
        let mut sources = Sources { list: Vec::new(), texts: Vec::new() };
        for ((argument, parameter), name) in given.iter().zip(&callee.parameters).zip(&callee.arguments) {
            let text = self.argument_text_of(&site, argument)?;
            let source = match (self.borrowed(&site, argument)?, *parameter) {
                (None, Parameter::Scalar(_)) => {
                    let source = self.scalar_source(&site, argument)?;
                    let one = Sources { list: vec![source.clone()], texts: Vec::new() };
                    arguments.push(CallArgument::Scalar(self.mentioned(&one).into_iter().collect()));
                    source
                }
                (Some((view, mode)), Parameter::Buffer(parameter)) => {
                    let origin = callee.program.buffers[parameter].origin;
                    let moved = mode.is_none() && origin == Origin::Taken;
                    let lent = matches!(
                        (mode, origin),
                        (Some(Mode::Read), Origin::Device { mutable: false })
                            | (Some(Mode::ReadWrite), Origin::Device { mutable: true })
                    );
                    if !(moved || lent) {
                        self.unfit(&site, argument, &function, (name, declared_as(origin)))?;
                    }
                    let part = self.part(&site, &view)?;
                    self.device_only(&site, part.buffer, &function)?;
                    if moved && !part.whole {
                        let message = format!("`{text}`, a part of a buffer, cannot be handed over");
                        let help = "lend it: write `&b` or `&mut b`";
                        return Err(self.refuse(&site, Code::CW001, &message, Some(help)));
                    }
                    arguments.push(match moved {
                        true => CallArgument::Moved(part.buffer),
                        false => CallArgument::Access(narrow(accesses.len())),
                    });
                    let mode = mode.unwrap_or(Mode::ReadWrite);
                    accesses.push(Access {
                        buffer: part.buffer,
                        mode,
                        lo: part.lo,
                        hi: part.hi,
                        relied_on: false,
                    });
                    let (element, name) = self.element(part.buffer);
                    Source::Buffer(element, name)
                }
                (_, Parameter::Scalar(_)) => return Err(self.unfit_scalar(&site, argument, &function, name)),
                (_, Parameter::Buffer(_) | Parameter::Array(..) | Parameter::Part) => {
                    return Err(self.unfit_scalar(&site, argument, &function, name));
                }
            };
            sources.list.push(source);
            sources.texts.push(text);
        }
        let at = self.at(place, &function);
        let call = Call { callee: callee.clone(), enter, sources };
        call.check(&at, &self.values)?;
        let statement = StatementId::new(self.statements.len());
        let results: Vec<BufferId> = callee
            .program
            .outputs
            .iter()
            .map(|&output| {
                let declared = &callee.program.buffers[output];
                let name = asked.clone().unwrap_or_else(|| declared.name.to_string());
                let element = Element::known(callee.elements[output], declared.element, declared.align);
                let len = Size::extent(self.builder, self.buffers.len());
                let site = Site { place, name: &name };
                let buffer = self.declare(&site, Origin::Alloc(statement), len, element);
                let hi = self.buffers[buffer].dim;
                accesses.push(Access {
                    buffer,
                    mode: Mode::Write,
                    lo: DimId::from_u32(0),
                    hi,
                    relied_on: false,
                });
                buffer
            })
            .collect();
        let handles = results.iter().map(|buffer| Handle { builder: self.builder, index: buffer.index() });
        let handles: Vec<Handle> = handles.collect();
        let scalars = [self.mentioned(&call.sources), BTreeSet::new(), BTreeSet::new()];
        let kind = Kind::Call(CallId::new(self.calls.len()));
        self.calls.push(Called { arguments, results });
        let (name, step) = (function.to_string(), Step::Call(call));
        self.push(Written { name, place, kind, accesses, after, step, scalars });
        Ok(handles)
    }

    fn unfit_scalar(
        &self,
        site: &Site<'_>,
        argument: &Argument,
        callee: &str,
        parameter: &str,
    ) -> crate::runtime::error::Error {
        let message = format!(
            "`{}` does not fit the parameter `{parameter}` of `{callee}`",
            self.argument_text(argument)
        );
        self.refuse(site, Code::CW401, &message, None)
    }

    /// Returns the text of an argument whose handles are of this builder.
    fn argument_text_of(&self, site: &Site<'_>, argument: &Argument) -> Result<String> {
        match &argument.0 {
            Passed::Lent(view, _) | Passed::Bare(view) => drop(self.own(site, view.of)?),
            Passed::Value(_) | Passed::Scalar(..) | Passed::Size(_) => {
                drop(self.scalar_source(site, argument)?)
            }
        }
        Ok(self.argument_text(argument))
    }
}

fn declared_as(origin: Origin) -> &'static str {
    match origin {
        Origin::Device { mutable: false } => "`&[T; _]`",
        Origin::Device { mutable: true } => "`&mut [T; _]` or `&mut [MaybeUninit<T>; _]`",
        Origin::Taken => "`[T; _]`, which takes the bare handle of an allocation",
        Origin::Pinned { .. } => "pinned memory",
        Origin::Alloc(_) | Origin::Part(_) => "a part of a record",
    }
}
