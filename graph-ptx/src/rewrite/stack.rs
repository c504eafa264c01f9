//! Stacking: several identical chains of launches, side by side, as one kernel. It is the fused kernel of one chain,
//! batched over all chains.
//!
//! The chains must have the same kernels in the same order, and none may read what another one writes. A block does
//! the work of one chain's launches in sequence; no block waits for a block of another chain.

use super::batch::{Batch, batched};
use super::fuse::{FusedTable, Fusion, fused};
use super::refusal::Refusal;
use super::table::{BatchTable, GridShape};
use crate::syntax::{Error, parse};

/// The positions of the parameters of stacked chains: one record per chain, laid out as in the fused kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackedTable {
    /// The records of the chains.
    pub chains: BatchTable,
    /// The parameters of one chain.
    pub parts: FusedTable,
}

impl StackedTable {
    /// Returns the offset of the record of a chain.
    pub fn record(&self, chain: u32) -> u32 {
        let first = self.chains.parameters.first().map_or(0, |place| place.offset);
        self.chains.records + chain * self.chains.stride + first
    }
}

/// Returns the text of a module with one kernel for up to `capacity` chains, and the positions of its parameters.
///
/// # Complexity
///
/// That of [`fused`], plus that of [`batched`] on its text.
///
/// # Errors
/// The reason that the parts cannot be fused, or that the fused kernel cannot be batched.
pub fn stacked(
    fusion: &Fusion<'_, '_>,
    capacity: u32,
    shape: GridShape,
) -> Result<(String, StackedTable), Refusal> {
    let (text, parts) = fused(&Fusion { name: &one_chain(fusion), waits: false, ..*fusion })?;
    let unread = |error: Error| Refusal::Head(error.to_string());
    let module = parse(&text).map_err(unread)?;
    let batch = Batch {
        entry: one_chain(fusion),
        name: fusion.name.to_owned(),
        capacity,
        shape,
        waits: fusion.waits,
        registers: None,
    };
    let parameters = module.entry(&batch.entry).map_or(&[][..], |entry| &entry.parameters);
    let chains = BatchTable::new(parameters, capacity, shape).ok_or(Refusal::Table { capacity })?;
    let text = batched(&module, &[batch])?;
    Ok((text, StackedTable { chains, parts }))
}

/// Returns a name for the kernel of one chain that occurs neither in a part nor in the name of the stacked kernel.
fn one_chain(fusion: &Fusion<'_, '_>) -> String {
    let mut name = "chain_of_one".to_owned();
    while fusion.name.contains(&name) || fusion.parts.iter().any(|(module, _)| module.text.contains(&name)) {
        name.push('_');
    }
    name
}
