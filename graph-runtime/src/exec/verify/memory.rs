//! The memory that a verification reads, saves and restores.
//!
//! Bytes are saved in memory of their device, or on the host if the device lacks it. A copy on the device also keeps
//! what a simulated driver knows about bytes that were never written.

use std::collections::BTreeMap;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::index::wide;
use cuweave_core::ir::Device;

use crate::build::Definition;
use crate::cuda::{Context, Driver, Outcome, Stream, host_elements, host_elements_mut, record};
use crate::error::{Error, Result};
use crate::ranges::ReservedRange;
use crate::waits::SideStream;

/// The reason why a verification ended early.
pub(crate) enum Stopped {
    /// An error.
    Error(Error),
    /// The host has no memory for this number of bytes.
    HostMemory(u64),
}

impl<E: Into<Error>> From<E> for Stopped {
    fn from(error: E) -> Stopped {
        Stopped::Error(error.into())
    }
}

/// The result of a step of a verification.
pub(crate) type Step<T> = std::result::Result<T, Stopped>;

/// A range of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MemoryRange {
    pub address: u64,
    pub bytes: u64,
    /// The device that has it. `None` for pinned host memory.
    pub device: Option<Device>,
}

/// Returns a host buffer of zeros.
pub(super) fn host_buffer(bytes: u64) -> Step<Vec<u8>> {
    let lack = |_| Stopped::HostMemory(bytes);
    let len = usize::try_from(bytes).map_err(|_| Stopped::HostMemory(bytes))?;
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(len).map_err(lack)?;
    buffer.resize(len, 0);
    Ok(buffer)
}

/// The streams by which memory is read and written: on the first device the stream of the launches, to which managed
/// memory may be attached, and on the others a stream of the runtime.
pub(super) struct DeviceStreams {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    first: Stream,
    others: BTreeMap<Device, (Context, Arc<SideStream>)>,
}

impl DeviceStreams {
    pub fn new(definition: &Definition, first: Stream) -> Result<DeviceStreams> {
        let driver = definition.driver;
        let mut others = BTreeMap::new();
        for (device, ctx) in definition.contexts.enumerate().skip(1) {
            let context = definition.context_of(device);
            driver.enter(context)?;
            others.insert(device, (context, SideStream::shared(driver, ctx)?));
        }
        driver.enter(definition.context)?;
        Ok(DeviceStreams { driver, ctx: definition.ctx.clone(), first, others })
    }

    /// Calls `work` with a stream of the device and its context current.
    fn on<T>(&self, device: Device, work: impl FnOnce(&Driver, Stream) -> Outcome<T>) -> Outcome<T> {
        let first = Context::from_cudarc(&self.ctx);
        let Some((context, side)) = self.others.get(&device) else {
            self.driver.enter(first)?;
            return work(self.driver, self.first);
        };
        self.driver.enter(*context)?;
        let done = work(self.driver, side.raw());
        self.driver.enter(first)?;
        done
    }

    /// Copies bytes to the host. Nothing may be in flight that writes them.
    pub fn read(&self, range: MemoryRange, to: &mut [u8]) -> Outcome<()> {
        match range.device {
            Some(device) => self.on(device, |driver, stream| driver.read_bytes(range.address, to, stream)),
            None => {
                to.copy_from_slice(host_elements(range.address, to.len()));
                Ok(())
            }
        }
    }

    fn write(&self, range: MemoryRange, from: &[u8]) -> Outcome<()> {
        match range.device {
            Some(device) => self.on(device, |driver, stream| driver.write_bytes(range.address, from, stream)),
            None => {
                host_elements_mut(range.address, from.len()).copy_from_slice(from);
                Ok(())
            }
        }
    }

    /// Copies bytes within the memory of a device, and waits for the copy.
    fn copy(&self, device: Device, to: u64, from: u64, bytes: u64) -> Outcome<()> {
        self.on(device, |driver, stream| {
            driver.copy_bytes(to, from, bytes, stream)?;
            driver.synchronize(stream)
        })
    }
}

/// The place of saved bytes.
enum SavedPlace {
    Device(Device, u64),
    Host(Vec<u8>),
}

/// A copy of memory. Restores it when dropped.
pub(super) struct SavedMemory<'s> {
    streams: &'s DeviceStreams,
    list: Vec<(MemoryRange, SavedPlace)>,
    /// The memory of the copies on devices.
    ranges: Vec<ReservedRange>,
    /// True once the memory has been copied and may have changed since.
    saved: bool,
}

impl<'s> SavedMemory<'s> {
    /// Allocates the memory of the copies.
    pub fn allocate(
        definition: &Definition,
        streams: &'s DeviceStreams,
        ranges: &[MemoryRange],
    ) -> Step<SavedMemory<'s>> {
        let mut saved = SavedMemory { streams, list: Vec::new(), ranges: Vec::new(), saved: false };
        for (device, ctx) in definition.contexts.enumerate() {
            let own: Vec<MemoryRange> =
                ranges.iter().copied().filter(|range| range.device == Some(device)).collect();
            let bytes = own.iter().map(|range| range.bytes.next_multiple_of(16)).sum();
            let mut next = match map(definition, ctx, bytes) {
                Ok(mapped) => {
                    let start = mapped.start();
                    saved.ranges.push(mapped);
                    Some(start)
                }
                Err(failure) if failure.is_out_of_memory() => None,
                Err(failure) => return Err(failure.into()),
            };
            for range in own {
                let place = match &mut next {
                    Some(next) => {
                        let place = SavedPlace::Device(device, *next);
                        *next += range.bytes.next_multiple_of(16);
                        place
                    }
                    None => SavedPlace::Host(host_buffer(range.bytes)?),
                };
                saved.list.push((range, place));
            }
        }
        for &range in ranges.iter().filter(|range| range.device.is_none()) {
            saved.list.push((range, SavedPlace::Host(host_buffer(range.bytes)?)));
        }
        definition.driver.enter(definition.context)?;
        Ok(saved)
    }

    /// Copies the memory. Nothing may be in flight that writes it.
    pub fn save(&mut self) -> Outcome<()> {
        for (range, place) in &mut self.list {
            match place {
                SavedPlace::Device(device, to) => {
                    self.streams.copy(*device, *to, range.address, range.bytes)?;
                }
                SavedPlace::Host(bytes) => self.streams.read(*range, bytes)?,
            }
        }
        self.saved = true;
        Ok(())
    }

    /// Restores the memory.
    pub fn restore(&self) -> Outcome<()> {
        if !self.saved {
            return Ok(());
        }
        self.list.iter().try_for_each(|(range, place)| match place {
            SavedPlace::Device(device, from) => self.streams.copy(*device, range.address, *from, range.bytes),
            SavedPlace::Host(bytes) => self.streams.write(*range, bytes),
        })
    }

    /// Restores the memory for good.
    pub fn end(mut self) -> Outcome<()> {
        let restored = self.restore();
        self.saved = restored.is_err();
        restored
    }
}

impl Drop for SavedMemory<'_> {
    fn drop(&mut self) {
        if let Err(failure) = self.restore() {
            record(&self.streams.ctx, failure);
        }
    }
}

fn map(definition: &Definition, ctx: &Arc<CudaContext>, bytes: u64) -> Outcome<ReservedRange> {
    definition.driver.enter(Context::from_cudarc(ctx))?;
    let mut range = ReservedRange::new(definition.driver, ctx, bytes.max(1))?;
    range.grow(bytes)?;
    Ok(range)
}

/// Returns the union of ranges: sorted, without overlaps. Ranges that only touch stay apart, because they may be
/// different allocations, and the driver refuses a copy of two.
pub(super) fn union(mut ranges: Vec<MemoryRange>) -> Vec<MemoryRange> {
    ranges.sort_unstable_by_key(|range| (range.device, range.address));
    let mut union: Vec<MemoryRange> = Vec::with_capacity(ranges.len());
    for range in ranges.into_iter().filter(|range| range.bytes > 0) {
        match union.last_mut() {
            Some(last) if last.device == range.device && range.address < last.address + last.bytes => {
                last.bytes = last.bytes.max(range.address + range.bytes - last.address);
            }
            _ => union.push(range),
        }
    }
    union
}

/// Returns the length of a slice in bytes.
pub(super) fn len(bytes: &[u8]) -> u64 {
    wide(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_joined() {
        let range = |address, bytes| MemoryRange { address, bytes, device: Some(Device::FIRST) };
        let pinned = MemoryRange { device: None, ..range(8, 8) };
        let all =
            vec![range(16, 4), range(0, 8), range(8, 4), range(2, 2), range(11, 3), range(40, 0), pinned];
        assert_eq!(union(all), [pinned, range(0, 8), range(8, 6), range(16, 4)]);
    }
}
