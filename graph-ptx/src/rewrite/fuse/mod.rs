//! Fusion: launches with the same grid and block, one after another, become one kernel with the bodies in sequence
//! and block barriers between them.
//!
//! A fused kernel is equivalent to its parts in sequence under one condition: where two parts access the same bytes
//! and one of them writes, only blocks with the same index may do so (see
//! [`blocks_are_disjoint`](crate::coverage::blocks_are_disjoint)). `bar.sync` then orders the parts like the end of a
//! launch.
//!
//! - Each body is in its own scope, so that registers and labels keep their names. It ends at a label, to which its
//!   returns jump.
//! - The parameters of all parts are fields of one parameter: see [`FusedTable`].
//! - The static shared memory of the parts is overlaid. The barrier between parts uses an identifier that no part
//!   uses with a thread count.
//! - Registers that a body may read before it writes them are zeroed at its beginning: otherwise they would be live
//!   in all preceding bodies.
//! - Block and grid sizes that several parts read are read once: see [`sizes`].
//! - With a [`ForwardingPlan`], elements stay in registers from body to body (see [`moves`]), and it determines the
//!   barriers.

mod check;
mod early_exits;
mod moves;
mod part;
mod shared;
mod sizes;
mod uniform;
mod uninitialised;

use super::contraction;
use super::head::{self, ACTIVEMASK, HeadRequirements, LARGE_PARAMETERS, WAIT};
use super::name::free_name;
use super::refusal::Refusal;
use super::table::{FieldLayout, MAX_TABLE_BYTES, ParameterSlot, SMALL_TABLE_BYTES};
use crate::coverage::ForwardingPlan;
use crate::syntax::{Module, Parameter};
use moves::ForwardingMoves;
use part::FusedPart;
use shared::SharedOverlay;
use sizes::LaunchSizes;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The description of a fused kernel.
#[derive(Clone, Debug)]
pub struct Fusion<'f, 'a> {
    /// The kernels in order: a module and the name of an entry.
    pub parts: &'f [(&'f Module<'a>, &'f str)],
    /// The name of the new kernel.
    pub name: &'f str,
    /// The number of threads of a block in each dimension.
    pub block: [u32; 3],
    /// True if it begins with `griddepcontrol.wait`.
    pub waits: bool,
    /// The elements that stay in registers, if any.
    pub forward: Option<&'f ForwardingPlan>,
}

/// Facts about a kernel that can be a part of a fused kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FusibleFacts {
    /// True if it uses shared memory.
    pub shares: bool,
    /// True if its threads wait for each other, or if it depends on which threads of a warp run together.
    pub converges: bool,
    /// True if its loads and stores must not change: the assembler rounds a product depending on its other uses.
    pub fixed: bool,
}

/// The positions of the parts' parameters in the single parameter of a fused kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FusedTable {
    /// The size of the parameter.
    pub bytes: u32,
    /// Its alignment.
    pub align: u32,
    /// The positions of the parameters of each part.
    pub parts: Vec<Vec<ParameterSlot>>,
    /// The offset of a word that must be 0, if the kernel reads one.
    pub zero: Option<u32>,
}

impl FusedTable {
    /// Returns the table for parts with these parameters, with a zero word if `zero` is true. `None` if it would
    /// exceed `most` bytes.
    pub fn new<'p, 'a: 'p>(
        parts: impl IntoIterator<Item = &'p [Parameter<'a>]>,
        zero: bool,
        most: u32,
    ) -> Option<Self> {
        let mut fields = FieldLayout::new();
        let all: Option<Vec<_>> =
            parts.into_iter().map(|parameters| fields.add_parameters(parameters)).collect();
        let all = all?;
        let zero = if zero { Some(fields.add(4, 4)?) } else { None };
        let bytes =
            u32::try_from(fields.end.max(4)).ok().filter(|&bytes| bytes <= most.min(MAX_TABLE_BYTES))?;
        Some(FusedTable { bytes, align: fields.align as u32, parts: all, zero })
    }
}

/// A block whose warps are rows of 32 threads along x.
const ROW: [u32; 3] = [32, 1, 1];

/// Checks that an entry can be a part of a fused kernel for some block shape. Returns the facts about it.
///
/// # Complexity
///
/// An analysis of the entry's registers; if it names variables of the module, an analysis of the whole module.
///
/// # Errors
/// The reason that it cannot.
pub fn fusible(module: &Module<'_>, entry: &str) -> Result<FusibleFacts, Refusal> {
    let name = free_name(module, "fused");
    let fusion = Fusion { parts: &[(module, entry)], name: &name, block: ROW, waits: false, forward: None };
    fused(&fusion)?;
    let part = FusedPart::new(module, entry, 0, ROW)?;
    let shares = !part.shared.is_empty() || part.copies;
    let fixed = contraction::depends_on_uses(part.function);
    Ok(FusibleFacts { shares, converges: part.converges, fixed })
}

/// Returns the text of a module with the fused kernel, and the positions of its parameters.
///
/// # Complexity
///
/// Linear in the bodies, plus the cost of [`fusible`] for each distinct part.
///
/// # Errors
/// The reason that the parts cannot be fused.
pub fn fused(fusion: &Fusion<'_, '_>) -> Result<(String, FusedTable), Refusal> {
    let prefix = free_prefix(fusion)?;
    let mut parts: Vec<FusedPart<'_, '_>> = Vec::with_capacity(fusion.parts.len());
    for &(module, entry) in fusion.parts {
        let known =
            parts.iter().find(|part| std::ptr::eq(part.module, module) && part.function.name == entry);
        let part = match known {
            Some(known) => known.clone(),
            None => FusedPart::new(module, entry, parts.len(), fusion.block)?,
        };
        parts.push(part);
    }
    let zero = fusion.forward.is_some_and(|forward| !forward.cells.is_empty());
    let all = || parts.iter().map(|part| part.function.parameters.as_slice());
    let table = FusedTable::new(all(), zero, MAX_TABLE_BYTES)
        .ok_or(Refusal::Table { capacity: parts.len() as u32 })?;
    let mut needs = common_head(&parts)?;
    if fusion.waits {
        needs = needs.and(WAIT);
    }
    if table.zero.is_some() {
        needs = needs.and(ACTIVEMASK);
    }
    if table.bytes > SMALL_TABLE_BYTES {
        needs = needs.and(LARGE_PARAMETERS);
    }
    let mut text = head_of(&parts, needs)?;
    let overlay = SharedOverlay::new(parts.iter().map(|part| part.shared.as_slice()), &prefix);
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
    parts: &[FusedPart<'_, '_>],
    prefix: &str,
    table: &FusedTable,
    overlay: &SharedOverlay<'_>,
    text: &mut String,
) -> Result<(), Refusal> {
    let barrier = free_barrier(parts)?;
    let none = ForwardingPlan::default();
    let moves = ForwardingMoves::new(fusion.forward.unwrap_or(&none), prefix, table.zero);
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
    let sizes = LaunchSizes::new(parts.iter().map(|part| part.function), prefix);
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

/// Returns a prefix that occurs in no part and not in the name of the kernel.
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

/// Returns an identifier for the barrier between the parts. Identifier 0 may also be used by barriers of a part that
/// all threads pass: a thread at the end of its body has passed all of them.
fn free_barrier(parts: &[FusedPart<'_, '_>]) -> Result<u32, Refusal> {
    let counted: BTreeSet<u32> = parts.iter().flat_map(|part| part.counted.iter().copied()).collect();
    let used = |id: &u32| parts.iter().any(|part| part.barriers.contains(id));
    match counted.contains(&0) {
        false => Ok(0),
        true => (1..16).find(|id| !used(id)).ok_or(Refusal::Barriers),
    }
}

/// Returns the highest version and target of the parts.
fn common_head(parts: &[FusedPart<'_, '_>]) -> Result<HeadRequirements, Refusal> {
    let mut needs = head::NOTHING;
    for part in parts {
        needs = needs
            .and(HeadRequirements { version: part.module.version, architecture: head::number(part.module)? });
    }
    Ok(needs)
}

fn head_of(parts: &[FusedPart<'_, '_>], needs: HeadRequirements) -> Result<String, Refusal> {
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
