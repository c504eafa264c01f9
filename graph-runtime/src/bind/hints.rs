//! Executes hints: advice once when an operand is bound, prefetches and discards as a prologue of each launch.

use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::ids::Device;
use cuweave_core::index::Vector;

use crate::cuda::{AddressRange, Driver, MemAdvice, MemLocation, Stream};
use crate::error::{Error, ManagedFault, Result};

use super::advice::{can_discard, without_concurrent_access};
use super::hint::{Hint, HintLocation};
use super::location::Location;
use super::operand::Operand;

/// Prefetch and discard of an operand's pages before each launch of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prologue {
    /// The index of the argument.
    argument: usize,
    /// The pages that contain its elements, and the location to move them to.
    prefetch: Option<(AddressRange, MemLocation)>,
    /// The pages that contain only its elements. Their contents are discarded.
    discard: Option<AddressRange>,
}

impl Operand {
    /// Applies the advice to the operand's declared bytes. Returns the prologue for launches, if there is one.
    /// `argument` is the operand's index.
    pub fn apply_hints(
        &self,
        driver: &Driver,
        contexts: &Vector<Device, Arc<CudaContext>>,
        argument: usize,
        bytes: usize,
    ) -> Result<Option<Prologue>> {
        if self.hints.is_empty() {
            return Ok(None);
        }
        let Some(managed_state) = self.managed_state() else {
            return Err(Error::Managed(ManagedFault::NotManaged));
        };
        let pages = managed_state.addresses(&managed_state.around(0..bytes));
        let device = |ordinal: usize| Location::Device(u32::try_from(ordinal).unwrap_or(u32::MAX));
        let at = |site: HintLocation| {
            Ok(match site {
                HintLocation::Device => device(managed_state.device),
                HintLocation::Nth(nth) => match contexts.get(Device::from_u32(nth)) {
                    Some(ctx) => device(ctx.ordinal()),
                    None => {
                        let devices = contexts.len();
                        return Err(Error::Managed(ManagedFault::NotOfGraph { device: nth, devices }));
                    }
                },
                HintLocation::Host => Location::Host,
                HintLocation::At(location) => location,
            })
        };
        let mut prologue = Prologue { argument, prefetch: None, discard: None };
        // Validate all hints before the first driver call.
        let mut advice = Vec::new();
        for &hint in self.hints.iter() {
            match hint {
                Hint::ReadMostly => advice.push(MemAdvice::ReadMostly(true)),
                Hint::PreferredLocation(site) => {
                    advice.push(MemAdvice::Preferred(Some(at(site)?.checked(driver)?)));
                }
                Hint::AccessedBy(site) => {
                    advice.push(MemAdvice::AccessedBy(at(site)?.processor(driver)?, true))
                }
                Hint::Prefetch(site) => {
                    managed_state.shares()?;
                    prologue.prefetch = Some((pages, at(site)?.checked(driver)?));
                }
                Hint::Discard => {
                    can_discard(driver)?;
                    let inside = managed_state.inside(0..bytes);
                    prologue.discard = (!inside.is_empty()).then(|| managed_state.addresses(&inside));
                }
            }
        }
        advice.into_iter().try_for_each(|advice| driver.advise(pages, advice))?;
        Ok((prologue.prefetch.is_some() || prologue.discard.is_some()).then_some(prologue))
    }
}

/// The prologues of a graph's operands.
#[derive(Debug, Default)]
pub(crate) struct Prologues {
    list: Vec<Prologue>,
    /// True if one driver call accepts several ranges.
    batched: bool,
}

impl Prologues {
    /// Returns true if launches have no prologue.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Replaces the prologues of `count` operands, starting at `first`.
    pub fn replace(&mut self, driver: &Driver, first: usize, count: usize, new: Vec<Prologue>) -> Result<()> {
        self.list.retain(|old| !(first..first + count).contains(&old.argument));
        self.list.extend(new);
        self.list.sort_by_key(|prologue| prologue.argument);
        if !self.list.is_empty() {
            self.batched = driver.has_batches() && without_concurrent_access(driver)?.is_none();
        }
        Ok(())
    }

    /// Returns the index of an argument whose contents cannot be discarded in the order of this stream.
    pub fn hindered_by(&self, stream: Stream) -> Option<usize> {
        let discarded = self.list.iter().find(|prologue| prologue.discard.is_some());
        discarded.filter(|_| stream.is_legacy()).map(|prologue| prologue.argument)
    }

    /// Discards and prefetches pages in stream order.
    pub fn run(&self, driver: &Driver, stream: Stream) -> Result<()> {
        let (mut both, mut discarded) = ((Vec::new(), Vec::new()), Vec::new());
        let mut moved = (Vec::new(), Vec::new());
        for Prologue { prefetch, discard, .. } in &self.list {
            match (prefetch, discard) {
                (Some((pages, location)), Some(dropped)) if pages == dropped => {
                    both.0.push(*pages);
                    both.1.push(*location);
                }
                (prefetch, discard) => {
                    discarded.extend(*discard);
                    if let Some((pages, location)) = prefetch {
                        moved.0.push(*pages);
                        moved.1.push(*location);
                    }
                }
            }
        }
        if !both.0.is_empty() {
            driver.prefetch_batch(&both.0, &both.1, true, stream)?;
        }
        if !discarded.is_empty() {
            driver.discard(&discarded, stream)?;
        }
        if moved.0.is_empty() {
            return Ok(());
        }
        if self.batched && !stream.is_legacy() {
            driver.prefetch_batch(&moved.0, &moved.1, false, stream)?;
        } else {
            let mut pairs = moved.0.iter().zip(&moved.1);
            pairs.try_for_each(|(&pages, &location)| driver.prefetch(pages, location, stream))?;
        }
        Ok(())
    }
}
