//! A part of a fused kernel: the checks of its entry, and its body with renamed parameters and variables.
//!
//! A part must pass the checks of batching and waiting, must not call functions, and must not spin or add two
//! products.

use super::check::{self, BodyBarriers};
use super::moves::ForwardingMoves;
use super::shared::SharedOverlay;
use super::sizes::LaunchSizes;
use super::uninitialised;
use crate::analysis::mentions::addresses;
use crate::isa::{self, ControlFlow};
use crate::rewrite::edit::Edits;
use crate::rewrite::refusal::Refusal;
use crate::rewrite::scan::{ModuleScan, names};
use crate::rewrite::table::ParameterSlot;
use crate::rewrite::wait::{first_statement_position, line_of, replace_constant_loads};
use crate::rewrite::{contraction, spin, variables};
use crate::syntax::{
    Function, Instruction, Item, Module, Names, Operand, Span, StateSpace, Statement, TypeClass, Variable,
};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A part of a fused kernel.
#[derive(Clone)]
pub(super) struct FusedPart<'m, 'a> {
    pub module: &'m Module<'a>,
    pub function: &'m Function<'a>,
    /// The same for equal parts; used in the names of its variables.
    pub number: usize,
    /// Its variables in shared memory.
    pub shared: Vec<&'m Variable<'a>>,
    /// The variables of the module that it reads.
    copied: Vec<&'m Variable<'a>>,
    /// The identifiers of its barriers.
    pub barriers: BTreeSet<u32>,
    /// The identifiers of barriers with a thread count.
    pub counted: BTreeSet<u32>,
    /// True if it copies to shared memory asynchronously.
    pub copies: bool,
    /// True if its threads wait for each other, or if it depends on which threads of a warp run together.
    pub converges: bool,
    zeroes: String,
}

impl<'m, 'a> FusedPart<'m, 'a> {
    /// Checks an entry, for blocks of this size.
    pub fn new(module: &'m Module<'a>, entry: &str, number: usize, block: [u32; 3]) -> Result<Self, Refusal> {
        if module.target.contains(&"debug") {
            return Err(Refusal::Debug);
        }
        if module.address_size != 64 {
            return Err(Refusal::Head("its addresses have 32 bits".to_owned()));
        }
        let mut scan = ModuleScan::new(module);
        let closure = scan.closure(entry)?;
        let uses = scan.uses(closure[0]);
        let function = uses.function;
        if let Some(opaque) =
            function.parameters.iter().find(|parameter| parameter.class() == TypeClass::Opaque)
        {
            return Err(Refusal::Opaque(opaque.name.to_owned()));
        }
        if let Some(why) = uses.batching.clone().or_else(|| uses.waiting.clone()) {
            return Err(why);
        }
        let Some(body) = &function.body else { return Err(Refusal::NoEntry(entry.to_owned())) };
        let BodyBarriers { barriers, counted, copies, converges } = check::check(function, body, block)?;
        if let Some(line) = contraction::sum_of_products(function) {
            return Err(Refusal::Contraction { line });
        }
        if let Some(line) = spin::spins(&scan, &closure) {
            return Err(Refusal::Spins { line });
        }
        for item in &module.items {
            if let Item::Directive(directive) = item
                && !matches!(directive.name, ".section" | ".alias" | ".pragma" | "@@DWARF")
            {
                return Err(Refusal::Directive { name: directive.name.to_owned(), line: directive.line });
            }
        }
        let all = variables::copies(&scan, &closure)?;
        let of_body = body.statements.iter().filter_map(|statement| match statement {
            Statement::Variable(_, variable) => Some(variable),
            _ => None,
        });
        let mut shared: Vec<&Variable<'a>> =
            of_body.clone().filter(|variable| variable.space == StateSpace::Shared).collect();
        let mut copied = Vec::new();
        for &variable in &all {
            let refuse = |why| Err(Refusal::Variable { name: variable.name.to_owned(), why });
            let of_module = scan.variable(variable.name).is_some_and(|other| std::ptr::eq(other, variable));
            match variable.space {
                StateSpace::Shared => shared.push(variable),
                StateSpace::Global | StateSpace::Const if !of_module => {
                    return refuse("which is declared in the kernel");
                }
                StateSpace::Global | StateSpace::Const if !addresses(variable).is_empty() => {
                    return refuse("which holds addresses");
                }
                StateSpace::Global | StateSpace::Const => copied.push(variable),
                _ => return refuse("which is not in global, constant or shared memory"),
            }
        }
        let zeroes = uninitialised::zeroes(body);
        Ok(FusedPart {
            module,
            function,
            number,
            shared,
            copied,
            barriers,
            counted,
            copies,
            converges,
            zeroes,
        })
    }

    /// Returns the number of a performance directive, if the entry has it.
    pub fn number_of(&self, name: &str) -> Option<u32> {
        self.function.performance(name)?.first().copied()
    }

    fn variable_name(&self, prefix: &str, variable: &Variable<'_>) -> String {
        format!("{prefix}v{}_{}", self.number, variable.name.trim_start_matches('%'))
    }

    /// Declares copies of the variables that it reads.
    pub fn declare(&self, prefix: &str, text: &mut String) -> Result<(), Refusal> {
        let mut done = BTreeSet::new();
        for variable in &self.copied {
            if !done.insert(variable.span.start) {
                continue;
            }
            let mut edits = Edits::default();
            for other in self.module.variables().filter(|other| other.span == variable.span) {
                edits.replace(self.module.span_of(other.name), self.variable_name(prefix, other));
            }
            let _ = writeln!(text, "{}", self.apply(&mut edits, variable.span)?);
        }
        Ok(())
    }

    fn apply(&self, edits: &mut Edits, within: Span) -> Result<String, Refusal> {
        let overlap = |at| Refusal::Overlap { line: line_of(self.module, at) };
        edits.apply(self.module.text, within).map_err(overlap)
    }

    /// Returns the body as part `at` of the kernel, in braces. `places` has the positions of its parameters and
    /// `moves` the changed loads and stores.
    pub fn body(
        &self,
        at: usize,
        prefix: &str,
        places: &[ParameterSlot],
        overlay: &SharedOverlay<'a>,
        sizes: &LaunchSizes<'a>,
        moves: &ForwardingMoves<'_>,
    ) -> Result<String, Refusal> {
        let Some(body) = &self.function.body else {
            return Err(Refusal::NoEntry(self.function.name.to_owned()));
        };
        let mut edits = Edits::default();
        edits.insert(first_statement_position(body), self.zeroes.as_str());
        let renaming = PartRenaming { part: self, names: Names::new(body), prefix, places, overlay, sizes };
        let mut removed = BTreeSet::new();
        for statement in &body.statements {
            match statement {
                Statement::Instruction(instruction) => {
                    if let Some(change) = moves.change(at, instruction) {
                        moves.apply(instruction, change, &mut edits);
                        if !change.stays {
                            continue;
                        }
                    }
                    if matches!(isa::row(instruction.op()).flow, ControlFlow::Return | ControlFlow::Exit) {
                        let uni = if instruction.has("uni") { ".uni" } else { "" };
                        let start = self.module.span_of(instruction.opcode).start;
                        let span = Span { start, end: instruction.span.end };
                        edits.replace(span, format!("bra{uni} {prefix}end{at};"));
                    }
                    renaming.instruction(instruction, &mut edits)?;
                }
                Statement::Variable(_, variable)
                    if variable.space == StateSpace::Shared && removed.insert(variable.span.start) =>
                {
                    edits.replace(variable.span, "");
                }
                Statement::Location(location) => edits.replace(location.span, ""),
                _ => {}
            }
        }
        replace_constant_loads(self.module, self.function, &mut edits, |instruction| {
            moves.change(at, instruction).is_none_or(|change| change.stays)
        });
        self.apply(&mut edits, body.span)
    }
}

/// The new names of parameters and variables in a body.
struct PartRenaming<'r, 'm, 'a> {
    part: &'r FusedPart<'m, 'a>,
    names: Names<'m, 'a>,
    prefix: &'r str,
    places: &'r [ParameterSlot],
    overlay: &'r SharedOverlay<'a>,
    sizes: &'r LaunchSizes<'a>,
}

impl<'a> PartRenaming<'_, '_, 'a> {
    fn instruction(&self, instruction: &Instruction<'a>, edits: &mut Edits) -> Result<(), Refusal> {
        for operand in &instruction.operands {
            let mut inner = Vec::new();
            names(operand, &mut |name| inner.push(name));
            for name in inner {
                if let Some((to, offset)) = self.name(instruction, name)? {
                    self.replace(instruction, operand, name, &to, offset, edits)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the new name of a parameter or variable, and the offset to add to it.
    fn name(&self, instruction: &Instruction<'a>, name: &'a str) -> Result<Option<(String, i64)>, Refusal> {
        let line = instruction.line;
        if let Some(binding) = self.names.resolve(instruction.scope, name) {
            return Ok(match binding.variable.space {
                StateSpace::Shared => self.overlay.place(binding.variable),
                _ => None,
            });
        }
        if let Some(register) = self.sizes.register(instruction, name) {
            return Ok(Some((register.to_owned(), 0)));
        }
        if let Some(parameter) = self.part.function.parameter(name) {
            let place = self.places.get(parameter).ok_or(Refusal::Overlap { line })?;
            return Ok(Some((format!("{}table", self.prefix), i64::from(place.offset))));
        }
        let of =
            |list: &[&Variable<'a>]| list.iter().copied().find(|variable| variable.name == name).cloned();
        if let Some(variable) = of(&self.part.copied) {
            return Ok(Some((self.part.variable_name(self.prefix, &variable), 0)));
        }
        let shared = self.part.shared.iter().find(|variable| variable.name == name);
        Ok(shared.and_then(|variable| self.overlay.place(variable)))
    }

    /// Replaces a name and the offset that follows it.
    fn replace(
        &self,
        instruction: &Instruction<'a>,
        operand: &Operand<'a>,
        name: &str,
        to: &str,
        offset: i64,
        edits: &mut Edits,
    ) -> Result<(), Refusal> {
        let refuse = || Refusal::Overlap { line: instruction.line };
        let span = self.part.module.span_of(name);
        let rest = self.part.module.text.get(span.end as usize..).ok_or_else(refuse)?;
        let (own, length) = match operand {
            Operand::Name(_) => (0, 0),
            Operand::Address(address) if address.offset == 0 => (0, offset_length(rest).unwrap_or(0)),
            Operand::Address(address) => (address.offset, offset_length(rest).ok_or_else(refuse)?),
            Operand::Offset { offset, elements: false, .. } => {
                (*offset, offset_length(rest).ok_or_else(refuse)?)
            }
            _ => return Err(refuse()),
        };
        let text = match own.checked_add(offset).ok_or_else(refuse)? {
            0 => to.to_owned(),
            offset if offset < 0 => return Err(refuse()),
            offset => format!("{to}+{offset}"),
        };
        edits.replace(Span { start: span.start, end: span.end + length }, text);
        Ok(())
    }
}

/// Returns the length of a leading `+8` or `+-8`.
fn offset_length(text: &str) -> Option<u32> {
    let after = text.trim_start().strip_prefix(['+', '-'])?.trim_start();
    let after = after.strip_prefix('-').unwrap_or(after);
    let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).len();
    let next = after[digits..].trim_start();
    (digits > 0 && next.starts_with([']', ',', ';', '}']))
        .then_some((text.len() - (after.len() - digits)) as u32)
}
