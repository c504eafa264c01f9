//! Evaluates kernel launches, and makes their records and nodes.
//!
//! Evaluation checks the configuration, the arguments, reads of unwritten buffers, pointer tables, and extents.
//! It then checks that write-only parameters are fully written and that accesses stay inside of the extents;
//! `kernels` has the analyses for these two.

use cuweave_core::codes::Code;
use cuweave_core::diagnostic::render;
use cuweave_core::index::{Index, Vector, narrow, size};
use cuweave_core::ir::{Access, BufferId, Mode, Origin, StatementId};
use cuweave_core::launches::LaunchShape;
use cuweave_core::operation::{AccessTarget, AccessTargetId, Operations};
use cuweave_ptx::coverage::Verdict;

use crate::cuda::{self, KernelLaunch, Node, Outcome, ParameterValues, Word};
use crate::error::{
    Error, Fault, OutsideExtent, PlanFault, Quantity, Refusal, Result, ShortLaunch, UnprovedLaunch,
};
use crate::kernels::{Finding, Kernel, LaunchRecord, OutsideAccess, Param, ParamKind};
use crate::statements::arguments::Arguments;
use crate::statements::config::{BlockLimits, Config};
use crate::statements::emission::{AddContext, EmissionContext, Parameters, SetContext};
use crate::statements::evaluator::Evaluator;

/// Returns the first argument that is not fully written before the launch although its kernel may read it. rustc
/// reports this where the macro can decide it. In loops and calls it depends on values that are known only at build.
fn read_before_written<'a>(kernel: &Kernel, accesses: &'a [Access]) -> Option<&'a Access> {
    let parameters = kernel.params.iter().filter(|param| param.kind != ParamKind::Scalar);
    let mut pairs = accesses.iter().zip(parameters);
    pairs
        .find(|(access, param)| access.mode == Mode::Write && param.kind == ParamKind::ReadWrite)
        .map(|(access, _)| access)
}

/// Evaluates a launch with its arguments, in the order of the kernel's parameters.
///
/// # Errors
///
/// A configuration that the device or the kernel does not support; an extent that exceeds its buffer.
pub(super) fn evaluate(
    evaluator: &mut Evaluator<'_>,
    kernel: &'static Kernel,
    config: impl Config,
    arguments: &Arguments,
) -> Result<LaunchRecord> {
    let known = evaluator.modules.loaded_kernel(evaluator.device(), kernel)?;
    let (max_threads, required) = (known.info.max_threads, known.info.required_block);
    let block_limits = BlockLimits { max_threads, required, may_be_empty: evaluator.may_be_empty() };
    let shape = config.shape(block_limits).map_err(|reason| evaluator.config_error(reason))?;
    evaluator.launch(kernel, &shape, arguments)
}

impl Evaluator<'_> {
    /// Evaluates a launch whose configuration is evaluated. Not generic, so it is compiled once.
    fn launch(
        &mut self,
        kernel: &'static Kernel,
        shape: &LaunchShape,
        arguments: &Arguments,
    ) -> Result<LaunchRecord> {
        let device = self.device();
        let known = self.modules.loaded_kernel(device, kernel)?;
        let function = known.info.function;
        let is_empty = shape.grid.contains(&0) && self.may_be_empty.contains(&self.statement);
        // Consecutive launches of a kernel often have the same configuration.
        if known.checked != Some(*shape) && !is_empty {
            let info = known.info;
            self.limits[device].check(shape, kernel, &info).map_err(|reason| self.config_error(reason))?;
            if shape.shared > info.dynamic_shared {
                self.modules
                    .raise_dynamic_shared(device, kernel, shape.shared)
                    .map_err(|error| self.with_location(error))?;
            }
            if kernel.cooperative {
                let threads = shape.block.iter().product();
                let of_each = self.modules.blocks_per_sm(device, function, threads, shape.shared)?;
                let resident = self.limits[device].resident(shape.grid, kernel.name, of_each);
                resident.map_err(|reason| self.config_error(reason))?;
            }
            self.modules.loaded_kernel(device, kernel)?.checked = Some(*shape);
        }
        let program = self.program;
        let accesses: &[Access] = &program.statements[self.statement].accesses;
        let given = arguments.extents().len();
        // After the buffers that are arguments come the elements of the pointer tables.
        let (accesses, pointed) = accesses.split_at(given.min(accesses.len()));
        if arguments.words().len() != kernel.words || arguments.in_order != given || accesses.len() != given {
            return Err(PlanFault::OtherArguments { at: self.at(), kernel: kernel.name }.into());
        }
        if let Some(fault) = arguments.fault {
            return Err(self.extent_error(kernel, &accesses[fault.0], fault.0, Err(fault.1)));
        }
        if let Some(access) = read_before_written(kernel, accesses) {
            let instead = "`&mut [MaybeUninit<T>; _]`";
            return Err(self.unwritten_error(kernel, access, "as `&mut [T; _]`", Some(instead)));
        }
        self.check_pointer_tables(kernel, accesses, pointed, arguments)?;
        for (index, (access, &extent)) in accesses.iter().zip(arguments.extents()).enumerate() {
            let len = self.len(access);
            if extent != len && (extent > len || access.relied_on || self.leaves_invalid(kernel, index)) {
                return Err(self.extent_error(kernel, access, index, Ok(extent)));
            }
        }
        if self.checks_accesses && is_empty {
            self.check_writes_nothing(kernel, shape, accesses, arguments)?;
        } else if self.checks_accesses && !kernel.outline.is_empty() {
            self.check_coverage(kernel, shape, accesses, arguments)?;
        }
        if self.checks_accesses && !kernel.accesses.is_empty() && !is_empty {
            let found = self.modules.spans.outside(kernel, shape, arguments.words(), arguments.extents());
            if let Some(outside) = found {
                return Err(self.outside_extent_error(
                    kernel,
                    shape,
                    &accesses[outside.access],
                    &outside,
                    arguments,
                ));
            }
        }
        if let Some(kept) = &mut self.extents {
            kept.insert(self.statement, arguments.extents().to_vec());
        }
        let first = narrow(self.words.len());
        self.words.extend_from_slice(arguments.words());
        Ok(LaunchRecord { kernel, function, shape: *shape, first })
    }

    /// Checks the elements of the lists that the launch passes as pointer tables.
    fn check_pointer_tables(
        &self,
        kernel: &Kernel,
        accesses: &[Access],
        mut pointed: &[Access],
        arguments: &Arguments,
    ) -> Result<()> {
        for table in &arguments.tables {
            let count = usize::try_from(self.len(&accesses[table.at])).unwrap_or(usize::MAX);
            let Some((elements, others)) = pointed.split_at_checked(count) else {
                return Err(self.not_a_list_error(kernel));
            };
            pointed = others;
            for element in elements {
                if element.mode == Mode::Write {
                    return Err(self.unwritten_error(kernel, element, "by a `PtrMut` of a table", None));
                }
                if table.extent > self.len(element) {
                    return Err(self.extent_error(kernel, element, table.at, Ok(table.extent)));
                }
            }
        }
        if pointed.is_empty() { Ok(()) } else { Err(self.not_a_list_error(kernel)) }
    }

    /// Returns the error for a pointer table that is not built from a list of buffers, or a list without a table.
    #[cold]
    fn not_a_list_error(&self, kernel: &Kernel) -> Error {
        let message =
            format!("`{}` takes a table of pointers, which is no list of buffers here", kernel.name);
        let help = "give it a list: `&xs`, `&mut xs` or `&[&a, &b]`";
        let text = render(Code::CW001, &message, &[], Some(help));
        Error::Refused(vec![Refusal { code: Code::CW001, at: *self.at(), text }])
    }

    /// Returns the error for an argument that is not fully written although the kernel may read it.
    #[cold]
    fn unwritten_error(&self, kernel: &Kernel, access: &Access, taken: &str, instead: Option<&str>) -> Error {
        let name = self.name(access);
        let mut notes = vec![format!("`{}` takes it {taken}, and may read it", kernel.name)];
        if !matches!(self.program.buffers[access.buffer].origin, Origin::Alloc(_)) {
            notes.push(format!(
                "`{name}` is an argument that is discarded, or declared as `MaybeUninit`: it has no \
                contents at first"
            ));
        }
        let instead = instead.map_or(String::new(), |kind| format!(", or declare the parameter as {kind}"));
        let help = format!("write all of `{name}` before{instead}");
        let message = format!("`{name}` is given to the kernel `{}` before it is written", kernel.name);
        let text = render(Code::CW101, &message, &notes, Some(&help));
        Error::Refused(vec![Refusal { code: Code::CW101, at: *self.at(), text }])
    }

    /// Returns true if elements that the launch leaves unwritten become an output whose type has invalid bit patterns.
    #[cold]
    fn leaves_invalid(&self, kernel: &Kernel, index: usize) -> bool {
        let access = &self.program.statements[self.statement].accesses[index];
        let param = kernel.params.iter().filter(|param| param.kind != ParamKind::Scalar).nth(index);
        access.mode == Mode::Write
            && self.program.outputs.contains(&access.buffer)
            && matches!(self.program.buffers[access.buffer].origin, Origin::Alloc(_))
            && param.is_some_and(|param| param.checks_bits && !param.any_bits)
    }

    /// Checks that the threads of a launch write all elements that must be written. Records the unproved ones.
    fn check_coverage(
        &mut self,
        kernel: &'static Kernel,
        shape: &LaunchShape,
        accesses: &[Access],
        arguments: &Arguments,
    ) -> Result<()> {
        let findings = self.modules.coverage.findings(kernel, shape, arguments.words(), arguments.extents());
        if let Some(finding) = findings.iter().find(|finding| finding.is_error(kernel, accesses)) {
            return Err(self.coverage_error(kernel, shape, &accesses[finding.access], finding, arguments));
        }
        if !findings.is_empty() {
            self.unproved.push((self.statement, findings));
        }
        Ok(())
    }

    /// Checks that an empty launch has no elements that it must write.
    fn check_writes_nothing(
        &self,
        kernel: &'static Kernel,
        shape: &LaunchShape,
        accesses: &[Access],
        arguments: &Arguments,
    ) -> Result<()> {
        let parameters =
            kernel.params.iter().enumerate().filter(|(_, param)| param.kind != ParamKind::Scalar);
        let extents = arguments.extents().iter().enumerate();
        for ((parameter, _), (access, &extent)) in parameters.zip(extents) {
            let verdict = Verdict::Short { written: 0, missing: 0 };
            let finding = Finding { parameter, access, verdict };
            if extent > 0 && finding.is_error(kernel, accesses) {
                return Err(self.coverage_error(kernel, shape, &accesses[access], &finding, arguments));
            }
        }
        Ok(())
    }

    #[cold]
    fn coverage_error(
        &self,
        kernel: &'static Kernel,
        shape: &LaunchShape,
        access: &Access,
        finding: &Finding,
        arguments: &Arguments,
    ) -> Error {
        let parameter = kernel.params[finding.parameter].name.to_owned();
        let (words, extents) = (arguments.words(), arguments.extents());
        let needed = || self.modules.coverage.threads_needed(kernel, finding, shape, words, extents);
        let needed = if matches!(finding.verdict, Verdict::Short { .. }) { needed() } else { None };
        let (at, buffer, kernel) = (self.at(), self.name(access), kernel.name.to_owned());
        match &finding.verdict {
            Verdict::Unknown(reason) => {
                let (at, reason) = (*at, reason.clone());
                let unproved = UnprovedLaunch { at, kernel, parameter, buffer, reason };
                Error::NotProvedWritten(Box::new(unproved))
            }
            verdict => {
                let (written, missing) = match verdict {
                    Verdict::Short { written, missing } => (*written, *missing),
                    _ => (0, 0),
                };
                let threads = shape.threads();
                let extent = extents.get(finding.access).copied().unwrap_or(0);
                let at = *at;
                let short =
                    ShortLaunch { at, kernel, parameter, buffer, extent, written, missing, threads, needed };
                Error::Short(Box::new(short))
            }
        }
    }

    #[cold]
    fn outside_extent_error(
        &self,
        kernel: &Kernel,
        shape: &LaunchShape,
        access: &Access,
        outside: &OutsideAccess,
        arguments: &Arguments,
    ) -> Error {
        let parameter = kernel.params[outside.parameter].name.to_owned();
        let extent = arguments.extents().get(outside.access).copied().unwrap_or(0);
        let (at, kernel, buffer) = (*self.at(), kernel.name.to_owned(), self.name(access));
        let (reaches, threads) = (outside.reaches, shape.threads());
        let outside = OutsideExtent { at, kernel, parameter, buffer, extent, reaches, threads };
        Error::OutsideExtent(Box::new(outside))
    }

    /// Returns the error for buffer argument `index`, which does not fit the extent of its parameter.
    #[cold]
    fn extent_error(
        &self,
        kernel: &Kernel,
        access: &Access,
        index: usize,
        extent: std::result::Result<u64, Fault>,
    ) -> Error {
        let len = self.len(access);
        let mut parameters = kernel.params.iter().filter(|param| param.kind != ParamKind::Scalar);
        let parameter = parameters.nth(index).map_or("?", |param| param.name).to_owned();
        let (at, buffer, kernel) = (self.at(), self.name(access), kernel.name.to_owned());
        match extent {
            Err(fault) => Error::Size { what: Quantity::Extent, at, text: parameter, fault },
            Ok(extent) if extent > len => Error::Extent { at, kernel, parameter, buffer, extent, len },
            Ok(extent) => Error::PartlyWritten { at, kernel, buffer, extent, len },
        }
    }
}

/// The parameters of a kernel node.
pub(crate) struct LaunchNode {
    kernel_launch: KernelLaunch,
    /// The index of the word at which its parameter values begin.
    first: usize,
    params: &'static [Param],
}

impl LaunchNode {
    pub(super) fn new(launch: &LaunchRecord) -> LaunchNode {
        LaunchNode {
            kernel_launch: launch.kernel_launch(),
            first: size(launch.first),
            params: launch.kernel.params,
        }
    }
}

impl Parameters for LaunchNode {
    fn add(&self, AddContext { driver, graph, after, words, scratch, .. }: AddContext<'_>) -> Outcome<Node> {
        let values = ParameterValues { words: &words[self.first..], params: self.params };
        driver.add_kernel(graph, after, &self.kernel_launch, values, scratch)
    }

    fn set(&self, SetContext { driver, exec, node, words, scratch, .. }: SetContext<'_>) -> Outcome<()> {
        let values = ParameterValues { words: &words[self.first..], params: self.params };
        driver.set_kernel(exec, node, &self.kernel_launch, values, scratch)
    }
}

/// Writes the addresses of a launch's buffers into its words.
pub(super) fn resolve(
    emission: &EmissionContext<'_>,
    statement: StatementId,
    launch: &LaunchRecord,
    words: &mut [Word],
) {
    let &EmissionContext { operations, pointed, bases, .. } = emission;
    write_addresses(operations, pointed, bases, statement, launch, &mut words[size(launch.first)..]);
}

/// Writes the addresses of a launch's buffers into its words, which begin at `words[0]`. `pointed` holds the
/// targets of all accesses.
#[inline]
pub(crate) fn write_addresses(
    operations: &Operations,
    pointed: &Vector<AccessTargetId, AccessTarget>,
    bases: &Vector<BufferId, u64>,
    statement: StatementId,
    launch: &LaunchRecord,
    words: &mut [Word],
) {
    let pointed = &pointed.as_slice()[operations.targets.first_of[statement].index()..];
    for (word, at) in launch.kernel.address_words().zip(pointed) {
        words[word] = cuda::address_word(bases[at.buffer].wrapping_add(at.offset));
    }
}
