//! Splits a module into the texts of single entries, so that only launched entries are compiled, in parallel.
//!
//! An entry is independent if neither it nor its callees name a variable with module lifetime. The other entries stay
//! together in one text.

use super::edit::Edits;
use super::scan::ModuleScan;
use crate::syntax::{Item, Module, Span, StateSpace};
use std::collections::{BTreeMap, BTreeSet};

/// The entries of a module that can be compiled separately, each with the names of the functions that it and its
/// callees call.
pub type IndependentEntries = BTreeMap<String, BTreeSet<String>>;

/// The texts for some entries of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryTexts {
    /// The independent entries among them, each with its text.
    pub alone: Vec<(String, String)>,
    /// The text of all entries that are not independent; `None` if all requested entries are independent.
    pub rest: Option<String>,
}

/// Returns the independent entries of a module as written. Neither such an entry nor its callees name a variable with
/// module lifetime, so that a second module with the entry has no separate state.
///
/// # Complexity
///
/// Linear in the module.
pub fn independent(module: &Module<'_>) -> IndependentEntries {
    let splits = |item: &Item<'_>| match item {
        Item::Directive(directive) => matches!(directive.name, ".section" | ".pragma" | "@@DWARF"),
        _ => true,
    };
    if module.target.contains(&"debug")
        || module.entries().nth(1).is_none()
        || !module.items.iter().all(splits)
    {
        return IndependentEntries::new();
    }
    let mut scan = ModuleScan::new(module);
    let mut found = IndependentEntries::new();
    for entry in module.entries() {
        let Ok(closure) = scan.closure(entry.name) else { continue };
        let lasts = |space| matches!(space, StateSpace::Global | StateSpace::Const);
        // Functions that other rewritings refuse, such as those with indirect calls, may reach more than they name.
        let depends = |&place: &usize| {
            let uses = scan.uses(place);
            let refused = uses.waiting.is_some() || uses.batching.is_some();
            refused || uses.variables.iter().any(|variable| lasts(variable.space))
        };
        if !closure.iter().any(depends) {
            let named = closure.iter().flat_map(|&place| &scan.uses(place).calls);
            found.insert(entry.name.to_owned(), named.map(|&name| name.to_owned()).collect());
        }
    }
    found
}

/// Splits a variant of a module's text, which may have other instructions, for some of its entries. Unneeded parts
/// are blanked, so that lines keep their numbers.
///
/// # Complexity
///
/// Linear in the module for each text.
pub fn split(module: &Module<'_>, independent: &IndependentEntries, wanted: &[&str]) -> EntryTexts {
    let mut found = EntryTexts::default();
    for &entry in wanted {
        match independent.get(entry) {
            Some(_) if found.alone.iter().any(|(known, _)| known == entry) => {}
            Some(needed) => found.alone.push((entry.to_owned(), alone(module, entry, needed))),
            None if found.rest.is_none() => found.rest = Some(rest(module, independent)),
            None => {}
        }
    }
    found
}

/// Returns the text of one entry with these functions and without variables of module lifetime.
fn alone(module: &Module<'_>, entry: &str, needed: &BTreeSet<String>) -> String {
    blanked(module, |item| match item {
        Item::Function(function) if function.entry => function.name == entry,
        Item::Function(function) => needed.contains(function.name),
        Item::Variable(variable) => !matches!(variable.space, StateSpace::Global | StateSpace::Const),
        _ => true,
    })
}

/// Returns the text without the independent entries.
fn rest(module: &Module<'_>, independent: &IndependentEntries) -> String {
    blanked(module, |item| match item {
        Item::Function(function) => !(function.entry && independent.contains_key(function.name)),
        _ => true,
    })
}

/// Returns the text with blank lines in place of the items that `keep` rejects.
fn blanked(module: &Module<'_>, keep: impl Fn(&Item<'_>) -> bool) -> String {
    let span = |item: &Item<'_>| match item {
        Item::Function(function) => Some(function.span),
        Item::Variable(variable) => Some(variable.span),
        _ => None,
    };
    let mut edits = Edits::default();
    let mut blank = BTreeSet::new();
    for item in module.items.iter().filter(|item| !keep(item)) {
        // Variables declared together have the same span.
        if let Some(span) = span(item)
            && blank.insert((span.start, span.end))
        {
            let lines = module.source(span).matches('\n').count();
            edits.replace(span, "\n".repeat(lines));
        }
    }
    let all = Span { start: 0, end: module.text.len() as u32 };
    edits.apply(module.text, all).unwrap_or_else(|_| module.text.to_owned())
}
