//! Collects the hints of arguments and executes them: advice once when an operand is bound, prefetches and
//! discards as a prologue of each launch.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::ids::Device;
use cuweave_core::index::{Vector, size, wide};

use crate::cuda::{AddressRange, Driver, MemAdvice, MemLocation, Stream};
use crate::error::{Error, ManagedFault, Result};

use super::advice::can_discard;
use super::hint::{Hint, HintLocation, RangedHint};
use super::location::{Location, without_concurrent_access};
use super::managed_state::ManagedState;
use super::operand::Operand;

/// Collects the hints of bound arguments, in the order of their buffers.
#[derive(Debug, Default)]
pub struct HintVisitor {
    /// The index of the next buffer.
    next: usize,
    /// The index of each buffer with hints.
    found: Vec<(usize, Vec<RangedHint>)>,
}

impl HintVisitor {
    /// Passes `count` buffers without hints.
    pub fn pass(&mut self, count: u32) {
        self.next += size(count);
    }

    /// Gives the next `count` buffers these hints.
    pub fn hinted(&mut self, count: u32, hints: &[RangedHint]) {
        let next = self.next;
        self.pass(count);
        if !hints.is_empty() {
            self.found.extend((next..self.next).map(|buffer| (buffer, hints.to_vec())));
        }
    }

    /// Returns the index and the hints of each buffer that has any.
    pub(crate) fn finish(self) -> Vec<(usize, Vec<RangedHint>)> {
        self.found
    }
}

/// A hint that was given to the driver, or will be before each launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AppliedHint {
    pub hint: Hint,
    /// The location that the hint refers to, if there is one.
    pub location: Option<Location>,
    /// The size of its pages in bytes.
    pub bytes: u64,
}

/// The hints of an operand. Before each launch of the graph its pages are discarded and prefetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prologue {
    /// The index of the argument.
    pub argument: usize,
    /// The pages that contain elements, and the location to move them to.
    prefetches: Vec<(AddressRange, MemLocation)>,
    /// The pages that contain only its elements. Their contents are discarded.
    discard: Option<AddressRange>,
    /// All of its hints.
    pub applied: Vec<AppliedHint>,
}

/// The devices that the locations of hints refer to.
struct HintDevices<'h> {
    contexts: &'h Vector<Device, Arc<CudaContext>>,
    memory: &'h ManagedState,
}

impl HintDevices<'_> {
    /// Returns the location that a hint names.
    fn location(&self, site: HintLocation) -> Result<Location> {
        let device = |ordinal: usize| Location::Device(u32::try_from(ordinal).unwrap_or(u32::MAX));
        Ok(match site {
            HintLocation::Device => device(self.memory.device),
            HintLocation::Nth(nth) => match self.contexts.get(Device::from_u32(nth)) {
                Some(ctx) => device(ctx.ordinal()),
                None => {
                    let devices = self.contexts.len();
                    return Err(Error::Managed(ManagedFault::NotOfGraph { device: nth, devices }));
                }
            },
            HintLocation::Host => Location::Host,
            HintLocation::At(location) => location,
        })
    }

    /// Checks that pages can be prefetched in streams of the graph's first device.
    fn check_prefetch(&self) -> Result<()> {
        let first = self.contexts.get(Device::FIRST).map_or(self.memory.device, |ctx| ctx.ordinal());
        self.memory.check_concurrent(first)
    }
}

impl Operand {
    /// Gives the advice among `hints` to the driver. Returns all hints as applied to the operand. `argument` is its
    /// index, and `len` its declared length in elements.
    pub fn apply_hints(
        &self,
        hints: &[RangedHint],
        driver: &'static Driver,
        contexts: &Vector<Device, Arc<CudaContext>>,
        argument: usize,
        len: u64,
    ) -> Result<Prologue> {
        let Some(memory) = self.managed_state() else {
            return Err(Error::Managed(ManagedFault::NotManaged));
        };
        let devices = HintDevices { contexts, memory };
        let mut prologue = Prologue { argument, prefetches: Vec::new(), discard: None, applied: Vec::new() };
        // Validate all hints before the first driver call.
        let mut advice = Vec::new();
        for ranged in hints {
            let elements = ranged.elements(len).map_err(Error::Managed)?;
            let bytes = self.bytes_of(&elements);
            let pages = match ranged.hint {
                Hint::Discard => memory.inside(bytes),
                _ if bytes.is_empty() => 0..0,
                _ => memory.around(bytes),
            };
            let addresses = memory.addresses(&pages);
            let mut location = None;
            let mut at = |site| -> Result<Location> { Ok(*location.insert(devices.location(site)?)) };
            match ranged.hint {
                Hint::ReadMostly => advice.push((addresses, MemAdvice::ReadMostly(true))),
                Hint::PreferredLocation(site) => {
                    let at = at(site)?.checked(driver)?;
                    advice.push((addresses, MemAdvice::Preferred(Some(at))));
                }
                Hint::AccessedBy(site) => {
                    let by = at(site)?.processor(driver)?;
                    advice.push((addresses, MemAdvice::AccessedBy(by, true)));
                }
                Hint::Prefetch(site) => {
                    devices.check_prefetch()?;
                    prologue.prefetches.push((addresses, at(site)?.checked(driver)?));
                }
                Hint::Discard => {
                    can_discard(driver)?;
                    prologue.discard = (!pages.is_empty()).then_some(addresses);
                }
            }
            let bytes = wide(pages.len());
            prologue.applied.push(AppliedHint { hint: ranged.hint, location, bytes });
        }
        prologue.prefetches.retain(|(pages, _)| pages.bytes > 0);
        let mut advice = advice.into_iter().filter(|(pages, _)| pages.bytes > 0);
        advice.try_for_each(|(pages, advice)| driver.advise(pages, advice))?;
        Ok(prologue)
    }

    /// Returns the bytes of a range of elements.
    fn bytes_of(&self, elements: &Range<u64>) -> Range<usize> {
        let at = |element: u64| usize::try_from(element.saturating_mul(self.element)).unwrap_or(usize::MAX);
        at(elements.start)..at(elements.end)
    }
}

/// The hints of a graph's operands.
#[derive(Debug, Default)]
pub(crate) struct Prologues {
    /// One entry for each operand with hints, sorted by argument.
    list: Vec<Prologue>,
    /// True if one driver call accepts several ranges.
    batched: bool,
    /// True if pages are discarded or prefetched before launches.
    is_run: bool,
}

impl Prologues {
    /// Returns true if launches have no prologue.
    pub fn is_empty(&self) -> bool {
        !self.is_run
    }

    /// Returns the hints of the operands.
    pub fn list(&self) -> &[Prologue] {
        &self.list
    }

    /// Replaces the prologues of `count` operands, starting at `first`.
    pub fn replace(&mut self, driver: &Driver, first: usize, count: usize, new: Vec<Prologue>) -> Result<()> {
        if !new.is_empty() {
            self.batched = driver.has_batches() && without_concurrent_access(driver)?.is_empty();
        }
        self.list.retain(|old| !(first..first + count).contains(&old.argument));
        self.install(new);
        Ok(())
    }

    /// Adds prologues, or replaces those of the same operands.
    pub fn install(&mut self, new: Vec<Prologue>) {
        self.list.retain(|old| !new.iter().any(|new| new.argument == old.argument));
        self.list.extend(new);
        self.list.sort_by_key(|prologue| prologue.argument);
        let is_run = |one: &Prologue| !one.prefetches.is_empty() || one.discard.is_some();
        self.is_run = self.list.iter().any(is_run);
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
        for Prologue { prefetches, discard, .. } in &self.list {
            match (prefetches.as_slice(), discard) {
                (&[(pages, location)], Some(dropped)) if pages == *dropped => {
                    both.0.push(pages);
                    both.1.push(location);
                }
                (prefetches, discard) => {
                    discarded.extend(*discard);
                    moved.0.extend(prefetches.iter().map(|(pages, _)| *pages));
                    moved.1.extend(prefetches.iter().map(|(_, location)| *location));
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
