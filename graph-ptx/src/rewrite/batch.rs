//! Variants of entries that do the work of many launches, in a separate module.
//!
//! Each block of a variant finds its member in a parameter table (`table`, `prologue`). The body then reads the
//! parameters from the member's record and the grid registers from the prologue (`body`), and functions receive the
//! grid registers as arguments (`grid_arguments`).

use super::body::{PrologueNeeds, Rewriting};
use super::edit::Edits;
use super::grid_arguments::{self, PassedRegisters};
use super::head::{self, LARGE_PARAMETERS, NOTHING, WAIT};
use super::name::free_name;
use super::prologue::{AddedNames, Prologue};
use super::refusal::Refusal;
use super::scan::{GridRegisters, ModuleScan};
use super::table::{BatchTable, GridShape, MAX_TABLE_BYTES, SMALL_TABLE_BYTES};
use super::wait::{first_statement_position, line_of, replace_constant_loads};
use super::{contraction, spin, variables};
use crate::syntax::{Function, Item, Module, Span, TypeClass};
use std::collections::BTreeSet;

/// A batched variant to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The entry as written.
    pub entry: String,
    /// The variant's name, which must not be a prefix of any name of the module: see [`free_name`].
    pub name: String,
    /// The maximum number of members. A launch may have fewer: with a smaller grid for [`GridShape::Axis`], with
    /// first blocks of `u32::MAX` for [`GridShape::Flat`].
    pub capacity: u32,
    /// The arrangement of the members' blocks.
    pub shape: GridShape,
    /// True if it begins with `griddepcontrol.wait`.
    pub waits: bool,
    /// The maximum number of registers per thread: replaces the entry's `.maxnreg` and `.minnctapersm`. `None` keeps
    /// both as written.
    pub registers: Option<u32>,
}

/// An entry whose launches can be batched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batchable {
    /// True for x, y and z if the entry, or a function that it calls, reads the block index or the grid size along
    /// that axis.
    pub reads: [bool; 3],
}

/// Checks that launches of an entry can be batched, in every shape.
///
/// # Complexity
///
/// Linear in the entry and its callees; if these name variables of the module, an analysis of the whole module.
///
/// # Errors
/// The reason that they cannot. [`batched`] rejects what depends on the shape, the capacity or the wait.
pub fn batchable(module: &Module<'_>, entry: &str) -> Result<Batchable, Refusal> {
    let mut builder = BatchBuilder::new(module);
    let found = builder.check(entry)?;
    let function = builder.scan.uses(found.closure[0]).function;
    let table =
        BatchTable::new(&function.parameters, 1, GridShape::Flat).ok_or(Refusal::Table { capacity: 1 })?;
    builder.passed = grid_arguments::passed(&builder.scan, &found.closure[1..]);
    for &place in &found.closure {
        let mut edits = Edits::default();
        builder.rewriting(place, (place == found.closure[0]).then_some(&table), &mut edits)?;
        builder.apply(&mut edits, builder.scan.uses(place).function.span)?;
    }
    let grid = found.closure.iter().fold(0, |grid, &place| grid | builder.scan.uses(place).grid.0);
    Ok(Batchable { reads: [0, 1, 2].map(|axis| grid & (0b1001 << axis) != 0) })
}

/// Returns the maximum size of a table for this module's kernels, in bytes. More than [`SMALL_TABLE_BYTES`] requires a
/// `.version` and `.target` that the module has or that can be raised. Devices before Volta do not load such modules.
pub fn max_table_bytes(module: &Module<'_>) -> u32 {
    match head::raise(module, LARGE_PARAMETERS, &mut Edits::default()) {
        Ok(()) => MAX_TABLE_BYTES,
        Err(_) => SMALL_TABLE_BYTES,
    }
}

/// Creates a separate module with variants of entries and what they need of the original: functions, variables that
/// nothing writes, names of source files. It has no debug sections.
///
/// # Complexity
///
/// Linear in the copied text, plus the cost of [`batchable`] for each variant.
///
/// # Errors
/// The first variant that cannot be created: see [`batchable`]; its table is too large; its name is not free; or
/// `.version` and `.target` cannot be raised to what it needs.
pub fn batched(module: &Module<'_>, wanted: &[Batch]) -> Result<String, Refusal> {
    let mut builder = BatchBuilder::new(module);
    builder.own.prefix = free_prefix(module, wanted);
    let mut needs = NOTHING;
    let mut names = BTreeSet::new();
    let mut found = Vec::new();
    for batch in wanted {
        if !is_name(&batch.name) || module.text.contains(&batch.name) || !names.insert(&batch.name) {
            return Err(Refusal::Name(batch.name.clone()));
        }
        let needed = builder.check(&batch.entry)?;
        let function = builder.scan.uses(needed.closure[0]).function;
        let table = BatchTable::new(&function.parameters, batch.capacity, batch.shape)
            .ok_or(Refusal::Table { capacity: batch.capacity })?;
        if batch.waits {
            needs = needs.and(WAIT);
        }
        if table.bytes > SMALL_TABLE_BYTES {
            needs = needs.and(LARGE_PARAMETERS);
        }
        found.push((batch, needed, table));
    }
    let functions: BTreeSet<usize> =
        found.iter().flat_map(|(_, needed, _)| needed.closure[1..].iter().copied()).collect();
    let plain: BTreeSet<usize> = found
        .iter()
        .filter(|(batch, ..)| batch.waits)
        .flat_map(|(_, needed, _)| needed.closure.iter().copied())
        .collect();
    builder.passed = grid_arguments::passed(&builder.scan, &functions.iter().copied().collect::<Vec<_>>());
    let mut text = head::head(module, needs)?;
    let needed: Vec<&EntryNeeds> = found.iter().map(|(_, needed, _)| needed).collect();
    builder.declarations(&needed, &functions, &plain, &mut text)?;
    for (batch, needed, table) in &found {
        builder.variant(batch, needed.closure[0], table, &mut text)?;
    }
    Ok(text)
}

/// Returns a prefix that no name of the module or of a variant contains.
fn free_prefix(module: &Module<'_>, wanted: &[Batch]) -> String {
    let mut stem = "cuweave".to_owned();
    loop {
        let prefix = free_name(module, &stem) + "_";
        if wanted.iter().all(|batch| !batch.name.contains(&prefix)) {
            return prefix;
        }
        stem.push('_');
    }
}

/// The parts of the module that a variant needs.
struct EntryNeeds {
    /// The functions that it runs, the entry first.
    closure: Vec<usize>,
    /// The positions of the declarations of the module's variables that it names.
    variables: BTreeSet<u32>,
}

struct BatchBuilder<'m, 'a> {
    module: &'m Module<'a>,
    scan: ModuleScan<'m, 'a>,
    own: AddedNames,
    passed: PassedRegisters<'a>,
}

impl<'m, 'a> BatchBuilder<'m, 'a> {
    fn new(module: &'m Module<'a>) -> Self {
        let own = AddedNames { prefix: "cuweave_".to_owned() };
        BatchBuilder { module, scan: ModuleScan::new(module), own, passed: PassedRegisters::default() }
    }

    /// Rejects an entry that cannot be batched in any shape.
    fn check(&mut self, entry: &str) -> Result<EntryNeeds, Refusal> {
        if self.module.target.contains(&"debug") {
            return Err(Refusal::Debug);
        }
        if self.module.address_size != 64 {
            return Err(Refusal::Head("its addresses have 32 bits".to_owned()));
        }
        head::raise(self.module, NOTHING, &mut Edits::default())?;
        let scan = &mut self.scan;
        let closure = scan.closure(entry)?;
        let function = scan.uses(closure[0]).function;
        if let Some(opaque) =
            function.parameters.iter().find(|parameter| parameter.class() == TypeClass::Opaque)
        {
            return Err(Refusal::Opaque(opaque.name.to_owned()));
        }
        let refusal = |&place: &usize| {
            let uses = scan.uses(place);
            let contraction = || {
                let line = contraction::sum_of_products(uses.function)?;
                Some(Refusal::Contraction { line })
            };
            uses.batching.clone().or_else(contraction)
        };
        if let Some(why) = closure.iter().find_map(refusal) {
            return Err(why);
        }
        if let Some(line) = spin::spins(scan, &closure) {
            return Err(Refusal::Spins { line });
        }
        for item in &self.module.items {
            if let Item::Directive(directive) = item
                && !matches!(directive.name, ".section" | ".alias" | ".pragma" | "@@DWARF")
            {
                return Err(Refusal::Directive { name: directive.name.to_owned(), line: directive.line });
            }
        }
        let copies = variables::copies(scan, &closure)?;
        let of_module = copies
            .iter()
            .filter(|copy| scan.variable(copy.name).is_some_and(|other| std::ptr::eq(other, **copy)));
        Ok(EntryNeeds { variables: of_module.map(|variable| variable.span.start).collect(), closure })
    }

    /// Writes source files, variables and functions, in module order.
    fn declarations(
        &self,
        found: &[&EntryNeeds],
        functions: &BTreeSet<usize>,
        plain: &BTreeSet<usize>,
        text: &mut String,
    ) -> Result<(), Refusal> {
        let mut variables: BTreeSet<u32> =
            found.iter().flat_map(|needed| needed.variables.iter().copied()).collect();
        let entries = found.iter().map(|needed| needed.closure[0]);
        let called: BTreeSet<&str> = entries
            .chain(functions.iter().copied())
            .flat_map(|place| self.scan.uses(place).calls.iter().copied())
            .collect();
        let plain: BTreeSet<&str> = plain.iter().map(|&place| self.scan.uses(place).function.name).collect();
        for item in &self.module.items {
            match item {
                Item::File(file) => text.push_str(self.module.source(file.span)),
                // Names declared together are copied together, once.
                Item::Variable(variable) if variables.remove(&variable.span.start) => {
                    text.push_str(self.module.source(variable.span));
                }
                Item::Directive(directive) if directive.name == ".pragma" => {
                    text.push_str(self.module.source(directive.span));
                }
                Item::Function(function) if !function.entry && called.contains(function.name) => {
                    text.push_str(&self.function(function, plain.contains(function.name))?);
                }
                _ => continue,
            }
            text.push('\n');
        }
        Ok(())
    }

    /// Returns a function or its prototype.
    fn function(&self, function: &'m Function<'a>, plain: bool) -> Result<String, Refusal> {
        let mut edits = Edits::default();
        let grid = self.passed.get(function.name).copied().unwrap_or_default();
        if grid != GridRegisters::default() {
            grid_arguments::declare(function, grid, &self.own, &mut edits);
        }
        if let Some(body) = &function.body {
            let wanted = self.body(function, None, &mut edits)?;
            let first = grid_arguments::receive(function, grid, wanted.zero, &self.own);
            edits.insert(first_statement_position(body), first);
            if plain {
                replace_constant_loads(self.module, function, &mut edits, |_| true);
            }
        }
        self.apply(&mut edits, function.span)
    }

    fn rewriting(
        &self,
        place: usize,
        table: Option<&BatchTable>,
        edits: &mut Edits,
    ) -> Result<PrologueNeeds, Refusal> {
        self.body(self.scan.uses(place).function, table, edits)
    }

    fn body(
        &self,
        function: &'m Function<'a>,
        table: Option<&BatchTable>,
        edits: &mut Edits,
    ) -> Result<PrologueNeeds, Refusal> {
        let (own, passed) = (&self.own, &self.passed);
        let wanted = PrologueNeeds::default();
        let mut rewriting = Rewriting { module: self.module, function, own, table, passed, edits, wanted };
        if let Some(body) = &function.body {
            rewriting.body(body)?;
        }
        Ok(rewriting.wanted)
    }

    /// Writes the entry of a batch.
    fn variant(
        &self,
        batch: &Batch,
        entry: usize,
        table: &BatchTable,
        text: &mut String,
    ) -> Result<(), Refusal> {
        let function = self.scan.uses(entry).function;
        let Some(body) = &function.body else { return Err(Refusal::NoEntry(batch.entry.clone())) };
        let mut edits = Edits::default();
        let wanted = self.rewriting(entry, Some(table), &mut edits)?;
        let selection = Prologue {
            own: &self.own,
            table,
            shape: batch.shape,
            waits: batch.waits,
            grid: wanted.grid,
            zero: wanted.zero,
            addresses: &wanted.addresses,
        };
        edits.insert(first_statement_position(body), selection.text());
        if batch.waits {
            replace_constant_loads(self.module, function, &mut edits, |_| true);
        }
        let body = self.apply(&mut edits, body.span)?;
        let parameter = format!(".param .align {} .b8 {}[{}]", table.align, self.own.table(), table.bytes);
        text.push_str(&format!(".visible .entry {}({parameter})\n", batch.name));
        for directive in &function.performance {
            if batch.registers.is_none() || !matches!(directive.name, ".maxnreg" | ".minnctapersm") {
                text.push_str(self.module.source(directive.span));
                text.push('\n');
            }
        }
        if let Some(most) = batch.registers {
            let own = function.performance(".maxnreg").and_then(|values| values.first().copied());
            text.push_str(&format!(".maxnreg {}\n", own.map_or(most, |own| own.min(most))));
        }
        text.push_str(&body);
        text.push('\n');
        Ok(())
    }

    fn apply(&self, edits: &mut Edits, within: Span) -> Result<String, Refusal> {
        edits
            .apply(self.module.text, within)
            .map_err(|at| Refusal::Overlap { line: line_of(self.module, at) })
    }
}

/// Returns true for a valid PTX name.
fn is_name(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$');
    let follows = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    let long = name.len() > 1 || name.starts_with(|c: char| c.is_ascii_alphabetic());
    long && name.starts_with(first) && name.chars().all(follows)
}
