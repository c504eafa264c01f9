//! Memory accesses: address resolution, checks and shadow flags.
//!
//! [`RegionCache::resolve`] maps a generic address to a host pointer after checking alignment, bounds, write protection
//! and initialisation. [`read`], [`write`] and [`update`] then access the bytes.

use super::lane_fault::LaneFault;
use crate::interp::code::{AddressOperand, Space};
use crate::interp::fault::FaultKind;
use crate::interp::launch::{Launch, RunOptions};
use crate::interp::space::{
    ATOMIC, GRID, GlobalMemory, INITIALISED, LOCAL, PAGE, PARAM, READ, Region, Replica, SHARED, WRITTEN,
};
use std::rc::Rc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    Read,
    Write,
    Atomic,
}

impl AccessKind {
    fn word(self) -> &'static str {
        match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Atomic => "atomic update",
        }
    }
}

/// A range of bytes in this process.
#[derive(Clone, Copy)]
pub struct RawBytes {
    pub start: *mut u8,
    pub length: u64,
}

/// The shared and local memory of a thread. The pointers are valid for one instruction.
#[derive(Clone, Copy)]
pub struct ThreadMemory {
    pub shared: RawBytes,
    pub local: RawBytes,
    /// One byte for each byte of shared memory: [`INITIALISED`] if it was written. Null if reads are not checked.
    pub written: *mut u8,
    pub lane: u32,
}

/// A read of shared memory that nothing has written.
#[derive(Clone, Copy)]
pub struct UnwrittenRead {
    pub address: u64,
    pub size: u32,
    pub lane: u32,
}

/// The bytes that a multimem access reaches: the same offset in the memory of each device.
pub struct ReachedReplicas {
    replicas: Rc<[Replica]>,
    offset: u64,
}

impl ReachedReplicas {
    /// Returns pointers to the bytes, in the order of the devices.
    pub fn places(&self) -> impl Iterator<Item = *mut u8> {
        // SAFETY: the access was checked, and the memory keeps the regions valid for the launch.
        self.replicas.iter().map(|replica| unsafe { replica.region.data.add(self.offset as usize) })
    }

    /// Returns the addresses of the bytes in the devices' own memory, in the same order.
    pub fn own_addresses(&self) -> impl Iterator<Item = u64> {
        self.replicas.iter().map(|replica| replica.own_address + self.offset)
    }
}

/// The allocations that this host thread accessed recently, the last one first. A cache in front of
/// [`GlobalMemory::region`].
pub struct RegionCache<'a> {
    launch: &'a Launch<'a>,
    memory: &'a dyn GlobalMemory,
    parameters: &'a [u64],
    workspace: &'a [AtomicU64; 2],
    initialised: bool,
    /// The shift of the access flags: [`PRE_WAIT`](crate::interp::space::PRE_WAIT) while the running block has
    /// not passed its wait, and 0 otherwise.
    pub shift: u32,
    pub unwritten: Option<UnwrittenRead>,
    known: Vec<Region>,
    /// The parts of multicast objects that were accessed recently.
    replicas: Vec<Rc<[Replica]>>,
}

/// The maximum number of cached allocations.
const MAX_CACHED_REGIONS: usize = 16;

impl<'a> RegionCache<'a> {
    pub fn new(
        launch: &'a Launch<'a>,
        memory: &'a dyn GlobalMemory,
        parameters: &'a [u64],
        workspace: &'a [AtomicU64; 2],
        options: &RunOptions,
    ) -> Self {
        Self {
            launch,
            memory,
            parameters,
            workspace,
            initialised: options.initialised,
            shift: 0,
            unwritten: None,
            known: Vec::new(),
            replicas: Vec::new(),
        }
    }

    /// Returns the generic address of an access.
    pub fn generic(at: &AddressOperand, base: u64) -> u64 {
        match at.space {
            Space::Generic => base.wrapping_add(at.offset as u64),
            Space::Shared => SHARED + u64::from((base as u32).wrapping_add(at.offset as u32)),
            Space::Local => LOCAL + u64::from((base as u32).wrapping_add(at.offset as u32)),
        }
    }

    /// Checks an access and returns a pointer to its bytes.
    pub fn resolve(
        &mut self,
        address: u64,
        size: u32,
        access: AccessKind,
        own: &ThreadMemory,
    ) -> Result<*mut u8, LaneFault> {
        if address & u64::from(size - 1) != 0 && size.is_power_of_two() {
            return Err(misaligned(address, size, access));
        }
        if address >> 52 == SHARED >> 52 {
            return self.window(address, size, access, own);
        }
        let region = self.find(address, size).ok_or_else(|| self.outside(address, size, access))?;
        let offset = address - region.base;
        if access != AccessKind::Read && !region.writable {
            let what = format!("{} of {size} bytes at {address:#x}, which is read-only", access.word());
            return Err(LaneFault::access(FaultKind::Bounds, address, size, what));
        }
        if !region.shadow.is_null() && !mark(&region, offset, size, access, self.initialised, self.shift) {
            let what = format!("{} of {size} bytes at {address:#x} that were never written", access.word());
            return Err(LaneFault::access(FaultKind::Uninitialised, address, size, what));
        }
        // SAFETY: the access is inside the region, which the memory keeps valid for the launch.
        Ok(unsafe { region.data.add(offset as usize) })
    }

    /// Returns the allocation that contains an access.
    #[inline]
    fn find(&mut self, address: u64, size: u32) -> Option<Region> {
        let holds = |region: &Region| {
            let offset = address.wrapping_sub(region.base);
            offset < region.size && region.size - offset >= u64::from(size)
        };
        match self.known.first() {
            Some(first) if holds(first) => return Some(*first),
            _ => {}
        }
        if let Some(at) = self.known.iter().position(holds) {
            self.known.swap(0, at);
            return Some(self.known[0]);
        }
        let found = self.memory.region(address).filter(holds)?;
        self.known.truncate(MAX_CACHED_REGIONS - 1);
        self.known.insert(0, found);
        Some(found)
    }

    /// Checks a multimem access. Returns the memory of each device that it reaches, and the offset of its bytes in
    /// each of them.
    pub fn resolve_replicas(
        &mut self,
        address: u64,
        size: u32,
        access: AccessKind,
    ) -> Result<ReachedReplicas, LaneFault> {
        let how = access.word();
        let fault = |kind, what: String| {
            let what = format!("multimem {how} of {size} bytes at {address:#x}, {what}");
            LaneFault::access(kind, address, size, what)
        };
        if !address.is_multiple_of(u64::from(size)) {
            return Err(fault(FaultKind::Misaligned, format!("which is not a multiple of {size}")));
        }
        // Parts are multiples of the granularity of objects, so no aligned access crosses their borders.
        let holds = |replicas: &Rc<[Replica]>| {
            let first = replicas.first().map(|replica| replica.region);
            first.is_some_and(|region| address.wrapping_sub(region.base) < region.size)
        };
        let replicas = match self.replicas.iter().position(holds) {
            Some(at) => {
                self.replicas.swap(0, at);
                Rc::clone(&self.replicas[0])
            }
            None => {
                let found = self.memory.replicas(address).map_err(|what| fault(FaultKind::Bounds, what))?;
                let found: Rc<[Replica]> = found.into();
                self.replicas.truncate(MAX_CACHED_REGIONS - 1);
                self.replicas.insert(0, Rc::clone(&found));
                found
            }
        };
        let offset = replicas.first().map_or(0, |first| address - first.region.base);
        for Replica { device, region, .. } in replicas.iter() {
            if !mark(region, offset, size, access, self.initialised, self.shift) {
                let what = format!("which were never written on device {device}");
                return Err(fault(FaultKind::Uninitialised, what));
            }
        }
        Ok(ReachedReplicas { replicas, offset })
    }

    fn outside(&self, address: u64, size: u32, access: AccessKind) -> LaneFault {
        let end = u128::from(address) + u128::from(size);
        let before = [0, 16, 256, 4096].into_iter().find_map(|back| {
            let region = self.memory.region(address.checked_sub(back)?)?;
            end.checked_sub(u128::from(region.base) + u128::from(region.size))
        });
        let how = access.word();
        let what = match before {
            Some(past) => {
                format!("{how} of {size} bytes at {address:#x}, {past} bytes past the end of an allocation")
            }
            None if self.memory.replicas(address).is_ok() => format!(
                "{how} of {size} bytes at {address:#x}, an address of a multicast object, which takes only `multimem`"
            ),
            None => format!("{how} of {size} bytes at {address:#x}, in no live allocation"),
        };
        LaneFault::access(FaultKind::Bounds, address, size, what)
    }

    fn window(
        &mut self,
        address: u64,
        size: u32,
        access: AccessKind,
        own: &ThreadMemory,
    ) -> Result<*mut u8, LaneFault> {
        let offset = address & (u64::MAX >> 16);
        let (start, length, name) = match address & !(u64::MAX >> 16) {
            SHARED => (own.shared.start, own.shared.length, "shared"),
            LOCAL => (own.local.start, own.local.length, "local"),
            GRID => (self.workspace.as_ptr() as *mut u8, 16, "workspace"),
            PARAM if access == AccessKind::Read => {
                let length = self.launch.parameters.len() as u64;
                (self.parameters.as_ptr() as *mut u8, length, "parameter")
            }
            _ => return Err(self.outside(address, size, access)),
        };
        if offset.checked_add(u64::from(size)).is_none_or(|end| end > length) {
            let what = format!(
                "{} of {size} bytes at offset {offset:#x} of {length} bytes of {name} memory",
                access.word()
            );
            return Err(LaneFault::access(FaultKind::Bounds, address, size, what));
        }
        if name == "shared" && !own.written.is_null() {
            let needed = if access == AccessKind::Write { 0 } else { INITIALISED };
            let flags = if access == AccessKind::Read { 0 } else { INITIALISED };
            if flag(own.written, offset as usize, size, needed, flags).is_none() {
                self.unwritten.get_or_insert(UnwrittenRead { address, size, lane: own.lane });
                flag(own.written, offset as usize, size, 0, flags);
            }
        }
        // SAFETY: the access is inside the window.
        Ok(unsafe { start.add(offset as usize) })
    }

    /// Returns the bytes of a nul-terminated text, at most `most` of them.
    pub fn text(&mut self, address: u64, most: usize, own: &ThreadMemory) -> Result<Vec<u8>, LaneFault> {
        let mut text = Vec::new();
        while text.len() < most {
            let byte =
                read(self.resolve(address.wrapping_add(text.len() as u64), 1, AccessKind::Read, own)?, 1)
                    as u8;
            if byte == 0 {
                break;
            }
            text.push(byte);
        }
        Ok(text)
    }
}

fn misaligned(address: u64, size: u32, access: AccessKind) -> LaneFault {
    let what =
        format!("{} of {size} bytes at {address:#x}, which is not a multiple of {size}", access.word());
    LaneFault::access(FaultKind::Misaligned, address, size, what)
}

/// Sets the shadow flags of an access. Returns false if it reads unwritten bytes. Flags are never cleared while a
/// kernel runs, so shadow bytes that have them already are not written again.
#[inline]
fn mark(region: &Region, offset: u64, size: u32, access: AccessKind, check: bool, shift: u32) -> bool {
    let (mark, needs) = match access {
        AccessKind::Read => (READ << shift, check && !region.written),
        AccessKind::Write => (WRITTEN << shift, false),
        AccessKind::Atomic => (ATOMIC << shift, check && !region.written),
    };
    let needed = if needs { INITIALISED } else { 0 };
    let written = if access == AccessKind::Read { 0 } else { INITIALISED };
    let at = offset as usize;
    let new = if region.marks == region.shadow {
        flag(region.shadow, at, size, needed, mark | written)
    } else {
        flag(region.shadow, at, size, needed, written).and_then(|_| flag(region.marks, at, size, 0, mark))
    };
    if new == Some(true) && !region.pages.is_null() {
        for page in offset / PAGE..=(offset + u64::from(size) - 1) / PAGE {
            // SAFETY: there is one byte for each started page.
            unsafe { AtomicU8::from_ptr(region.pages.add(page as usize)) }.store(1, Ordering::Relaxed);
        }
    }
    new.is_some()
}

/// Sets the flags of `size` bytes. Returns true if a flag was new; `None` if a needed flag is missing.
#[inline]
fn flag(shadow: *mut u8, at: usize, size: u32, needed: u8, flags: u8) -> Option<bool> {
    // SAFETY: the shadow is as long as the region, and the access is inside the region.
    let shadow = unsafe { shadow.add(at) };
    let mut new = false;
    if size == 4 && shadow.addr() & 3 == 0 {
        // SAFETY: these are four aligned bytes, and every thread accesses them atomically.
        let cell = unsafe { AtomicU32::from_ptr(shadow.cast()) };
        let old = cell.load(Ordering::Relaxed);
        let all = |flags: u8| u32::from(flags) * 0x0101_0101;
        if old & all(needed) != all(needed) {
            return None;
        }
        if old & all(flags) != all(flags) {
            cell.fetch_or(all(flags), Ordering::Relaxed);
            new = true;
        }
        return Some(new);
    }
    for at in 0..size as usize {
        // SAFETY: as above, for one byte.
        let cell = unsafe { AtomicU8::from_ptr(shadow.add(at)) };
        let old = cell.load(Ordering::Relaxed);
        if old & needed != needed {
            return None;
        }
        if old & flags != flags {
            cell.fetch_or(flags, Ordering::Relaxed);
            new = true;
        }
    }
    Some(new)
}

/// Reads a value of 1, 2, 4 or 8 bytes.
#[inline]
pub fn read(place: *mut u8, size: u32) -> u64 {
    // SAFETY: the caller checked `size` bytes at `place`. Unaligned memory of the program is read bytewise.
    unsafe {
        match size {
            1 => AtomicU8::from_ptr(place).load(Ordering::Relaxed).into(),
            _ if place.addr() & (size as usize - 1) != 0 => (0..size as usize)
                .fold(0, |sum, at| sum | u64::from(place.add(at).read_volatile()) << (8 * at)),
            2 => AtomicU16::from_ptr(place.cast()).load(Ordering::Relaxed).into(),
            4 => AtomicU32::from_ptr(place.cast()).load(Ordering::Relaxed).into(),
            _ => AtomicU64::from_ptr(place.cast()).load(Ordering::Relaxed),
        }
    }
}

/// Writes a value of 1, 2, 4 or 8 bytes.
#[inline]
pub fn write(place: *mut u8, size: u32, value: u64) {
    // SAFETY: as in `read`.
    unsafe {
        match size {
            1 => AtomicU8::from_ptr(place).store(value as u8, Ordering::Relaxed),
            _ if place.addr() & (size as usize - 1) != 0 => {
                (0..size as usize).for_each(|at| place.add(at).write_volatile((value >> (8 * at)) as u8));
            }
            2 => AtomicU16::from_ptr(place.cast()).store(value as u16, Ordering::Relaxed),
            4 => AtomicU32::from_ptr(place.cast()).store(value as u32, Ordering::Relaxed),
            _ => AtomicU64::from_ptr(place.cast()).store(value, Ordering::Relaxed),
        }
    }
}

/// Atomically replaces a value by a function of it. Returns the old value.
pub fn update(place: *mut u8, size: u32, f: impl Fn(u64) -> u64) -> u64 {
    if place.addr() & (size as usize - 1) != 0 {
        let old = read(place, size);
        write(place, size, f(old));
        return old;
    }
    macro_rules! of {
        ($cell:ty, $int:ty) => {{
            // SAFETY: the caller checked `size` bytes; they are aligned.
            let cell = unsafe { <$cell>::from_ptr(place.cast()) };
            let mut old = cell.load(Ordering::SeqCst);
            loop {
                let new = f(u64::from(old)) as $int;
                match cell.compare_exchange_weak(old, new, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(_) => return u64::from(old),
                    Err(now) => old = now,
                }
            }
        }};
    }
    match size {
        2 => of!(AtomicU16, u16),
        4 => of!(AtomicU32, u32),
        _ => of!(AtomicU64, u64),
    }
}
