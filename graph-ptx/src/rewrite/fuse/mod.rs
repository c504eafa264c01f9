//! Launches of one grid and block, one after another, as one kernel: their bodies with a barrier of the block between.
//!
//! A fused kernel does what its parts do one after the other if, of what another part accesses and one of both writes,
//! each block of a part accesses only what the same block accesses: see [`Footprint`](crate::coverage::Footprint). Then
//! `bar.sync` orders the parts as the end of a launch would.
//!
//! - Each body stands in a scope of its own, so its registers and labels keep their names. It ends at a label behind it,
//!   which its returns jump to.
//! - The parameters of all parts are fields of one: see [`FusedTable`].
//! - The static shared memory of the parts overlays. The barrier between has an identifier for which no part counts
//!   threads.
//! - Registers that a body may read before it writes them are zeroed at its beginning: else they would be live in all
//!   bodies before it.
//! - The sizes of blocks and of the grid that several parts read are read once: see [`sizes`].
//! - With a [`Forward`], elements stay in registers of the kernel from body to body: see [`moves`]. A barrier stands only
//!   where it says so.

mod check;
mod ends;
mod moves;
mod part;
mod shared;
mod sizes;
mod uniform;
mod unset;

use super::contract;
use super::head::{self, ACTIVEMASK, LARGE_PARAMETERS, Needs, WAIT};
use super::name::free_name;
use super::refusal::Refusal;
use super::table::{Fields, LARGEST_TABLE, ParameterPlace, SMALL_TABLE};
use crate::coverage::Forward;
use crate::syntax::{Module, Parameter};
use moves::Moves;
use part::Part;
use shared::Overlay;
use sizes::Sizes;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A kernel to make of the bodies of others.
#[derive(Clone, Debug)]
pub struct Fusion<'f, 'a> {
    /// The kernels, in their order: a module and the name of an entry.
    pub parts: &'f [(&'f Module<'a>, &'f str)],
    /// The name of the new kernel.
    pub name: &'f str,
    /// The threads of a block.
    pub block: [u32; 3],
    /// True if it waits first (`griddepcontrol.wait`).
    pub waits: bool,
    /// The elements that stay in registers, if any do.
    pub forward: Option<&'f Forward>,
}

/// The facts about a part of fused kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fusible {
    /// True if it has shared memory.
    pub shares: bool,
    /// True if its threads wait for each other, or if it depends on which threads of a warp run together.
    pub converges: bool,
    /// True if its loads and stores have to stay: the assembler rounds a product by what else is made of it.
    pub fixed: bool,
}

/// The places of the parameters of a fused kernel's parts in its one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FusedTable {
    /// The size of the parameter.
    pub bytes: u32,
    /// Its alignment.
    pub align: u32,
    /// For each part, the places of its parameters.
    pub parts: Vec<Vec<ParameterPlace>>,
    /// The offset of a word that has to be 0, if the kernel reads one.
    pub zero: Option<u32>,
}

impl FusedTable {
    /// Returns the table of parts with these parameters, and with a zero if `zero` says so. `None` if it would be larger than
    /// `most` bytes.
    pub fn of<'p, 'a: 'p>(
        parts: impl IntoIterator<Item = &'p [Parameter<'a>]>,
        zero: bool,
        most: u32,
    ) -> Option<Self> {
        let mut fields = Fields::new();
        let all: Option<Vec<_>> = parts.into_iter().map(|parameters| fields.all(parameters)).collect();
        let all = all?;
        let zero = if zero { Some(fields.one(4, 4)?) } else { None };
        let bytes =
            u32::try_from(fields.end.max(4)).ok().filter(|&bytes| bytes <= most.min(LARGEST_TABLE))?;
        Some(FusedTable { bytes, align: fields.align as u32, parts: all, zero })
    }
}

/// A block in which a warp is 32 threads behind one another along x.
const ROW: [u32; 3] = [32, 1, 1];

/// Checks if an entry can be a part of a fused kernel of some block, and returns the facts about it.
///
/// Time: an analysis of the entry's registers; where it names variables of the module, one of the whole module.
///
/// # Errors
/// The reason that it cannot.
pub fn fusible(module: &Module<'_>, entry: &str) -> Result<Fusible, Refusal> {
    let name = free_name(module, "fused");
    let fusion = Fusion { parts: &[(module, entry)], name: &name, block: ROW, waits: false, forward: None };
    fused(&fusion)?;
    let part = Part::new(module, entry, 0, ROW)?;
    let shares = !part.shared.is_empty() || part.copies;
    let fixed = contract::depends_on_uses(part.function);
    Ok(Fusible { shares, converges: part.converges, fixed })
}

/// Returns the text of a module with the fused kernel, and the places of its parameters.
///
/// Time: linear in the bodies, and what [`fusible`] takes for each different part.
///
/// # Errors
/// The reason that the parts cannot be fused.
pub fn fused(fusion: &Fusion<'_, '_>) -> Result<(String, FusedTable), Refusal> {
    let prefix = free_prefix(fusion)?;
    let mut parts: Vec<Part<'_, '_>> = Vec::with_capacity(fusion.parts.len());
    for &(module, entry) in fusion.parts {
        let known =
            parts.iter().find(|part| std::ptr::eq(part.module, module) && part.function.name == entry);
        let part = match known {
            Some(known) => known.clone(),
            None => Part::new(module, entry, parts.len(), fusion.block)?,
        };
        parts.push(part);
    }
    let zero = fusion.forward.is_some_and(|forward| !forward.cells.is_empty());
    let all = || parts.iter().map(|part| part.function.parameters.as_slice());
    let table =
        FusedTable::of(all(), zero, LARGEST_TABLE).ok_or(Refusal::Table { capacity: parts.len() as u32 })?;
    let mut needs = common_head(&parts)?;
    if fusion.waits {
        needs = needs.and(WAIT);
    }
    if table.zero.is_some() {
        needs = needs.and(ACTIVEMASK);
    }
    if table.bytes > SMALL_TABLE {
        needs = needs.and(LARGE_PARAMETERS);
    }
    let mut text = head_of(&parts, needs)?;
    let overlay = Overlay::of(parts.iter().map(|part| part.shared.as_slice()), &prefix);
    let mut seen = BTreeSet::new();
    for part in &parts {
        if seen.insert(part.number) {
            part.declare(&prefix, &mut text)?;
        }
    }
    overlay.declare(&mut text);
    let written = write(fusion, &parts, &prefix, &table, &overlay, &mut text);
    written.map(|()| (text, table))
}

/// Writes the kernel.
fn write(
    fusion: &Fusion<'_, '_>,
    parts: &[Part<'_, '_>],
    prefix: &str,
    table: &FusedTable,
    overlay: &Overlay<'_>,
    text: &mut String,
) -> Result<(), Refusal> {
    let barrier = free_barrier(parts)?;
    let none = Forward::default();
    let moves = Moves::new(fusion.forward.unwrap_or(&none), prefix, table.zero);
    let [x, y, z] = fusion.block;
    let required = parts.iter().any(|part| part.function.performance(".reqntid").is_some());
    let size = if required { ".reqntid" } else { ".maxntid" };
    let _ = writeln!(
        text,
        ".visible .entry {}(.param .align {} .b8 {prefix}table[{}])\n{size} {x}, {y}, {z}",
        fusion.name, table.align, table.bytes
    );
    if let Some(blocks) = parts.iter().filter_map(|part| part.number_of(".minnctapersm")).max() {
        let _ = writeln!(text, ".minnctapersm {blocks}");
    }
    if let Some(registers) = parts.iter().filter_map(|part| part.number_of(".maxnreg")).min() {
        let _ = writeln!(text, ".maxnreg {registers}");
    }
    text.push_str("{\n");
    if fusion.waits {
        text.push_str("griddepcontrol.wait;\n");
    }
    moves.declare(text);
    let sizes = Sizes::of(parts.iter().map(|part| part.function), prefix);
    sizes.declare(text);
    for (at, (part, places)) in parts.iter().zip(&table.parts).enumerate() {
        if at > 0 && moves.barrier(at) {
            let _ = writeln!(text, "bar.sync {barrier};");
        }
        moves.begin(at, text);
        text.push_str(&part.body(at, prefix, places, overlay, &sizes, &moves)?);
        let _ = writeln!(text, "\n{prefix}end{at}:");
        if part.copies {
            text.push_str("cp.async.wait_all;\n");
        }
    }
    text.push_str("ret;\n}\n");
    Ok(())
}

/// Returns a prefix that no text of a part, and not the name of the kernel, contains.
fn free_prefix(fusion: &Fusion<'_, '_>) -> Result<String, Refusal> {
    let mut prefix = "cuweave_".to_owned();
    let contains = |prefix: &str| {
        fusion.name.contains(prefix) || fusion.parts.iter().any(|(module, _)| module.text.contains(prefix))
    };
    while contains(&prefix) {
        prefix.push('_');
    }
    match fusion.parts.iter().any(|(module, _)| module.text.contains(fusion.name)) {
        true => Err(Refusal::Name(fusion.name.to_owned())),
        false => Ok(prefix),
    }
}

/// Returns an identifier for the barrier between the parts. For 0 a part may wait with all threads, since a thread that
/// is at its end has passed all of these barriers.
fn free_barrier(parts: &[Part<'_, '_>]) -> Result<u32, Refusal> {
    let counted: BTreeSet<u32> = parts.iter().flat_map(|part| part.counted.iter().copied()).collect();
    let used = |id: &u32| parts.iter().any(|part| part.barriers.contains(id));
    match counted.contains(&0) {
        false => Ok(0),
        true => (1..16).find(|id| !used(id)).ok_or(Refusal::Barriers),
    }
}

/// Returns the highest version and target of the parts.
fn common_head(parts: &[Part<'_, '_>]) -> Result<Needs, Refusal> {
    let mut needs = head::NOTHING;
    for part in parts {
        needs = needs.and(Needs { version: part.module.version, architecture: head::number(part.module)? });
    }
    Ok(needs)
}

fn head_of(parts: &[Part<'_, '_>], needs: Needs) -> Result<String, Refusal> {
    let mut best: Option<&Module<'_>> = None;
    for part in parts {
        let module = part.module;
        head::head(module, needs)?;
        let specific = |module: &Module<'_>| module.target[0].ends_with(['a', 'f']);
        if let Some(other) = best {
            let differ = || Refusal::Head("the targets of the files differ".to_owned());
            let both = specific(other) && specific(module);
            if other.target[1..] != module.target[1..] || both && other.target[0] != module.target[0] {
                return Err(differ());
            }
            // Code for one architecture alone keeps its target.
            if specific(other) || specific(module) {
                let of = if specific(other) { other } else { module };
                if head::number(of)? < needs.architecture {
                    return Err(differ());
                }
                best = Some(of);
                continue;
            }
            if head::number(other)? >= head::number(module)? {
                continue;
            }
        }
        best = Some(module);
    }
    head::head(best.ok_or(Refusal::Barriers)?, needs)
}

#[cfg(test)]
mod tests;
