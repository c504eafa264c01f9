//! Store-to-load forwarding between the bodies of a fused kernel, through registers.
//!
//! A *cell* is an element of a buffer as seen by one thread: an address that is affine in the thread's indices. If no
//! other thread writes the cells of a thread, a register can hold the value of a cell, from the first access on that
//! every thread of a box definitely makes. Each later store also sets the register, and each later load in these
//! threads becomes a move.
//!
//! A store is elided if nothing reads its result: each later load of the cell is a move, and a later store of the
//! thread overwrites the cell or the buffer's contents end with the chain. A barrier between two bodies is needed
//! only if a thread accesses bytes that another thread accesses and one of the two writes. `cells` decides the
//! accesses, `places` compares their addresses.

mod cells;
mod entry;
mod places;

use super::sites::AccessSites;
use cells::Cells;
pub use entry::AccessChange;
use entry::ChainAccess;
use places::AddressFamilies;
use std::collections::BTreeSet;

/// A pointer of a member of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferPointer {
    /// The kernel parameter.
    pub parameter: u32,
    /// The buffer that it points into.
    pub buffer: u32,
    /// The offset in the buffer in bytes; `None` if it may change.
    pub at: Option<u64>,
}

/// A launch of a chain.
#[derive(Clone, Debug)]
pub struct ChainMember<'m> {
    /// The loads and stores of its threads.
    pub sites: &'m AccessSites,
    /// Its pointers.
    pub pointers: Vec<BufferPointer>,
    /// True if it uses shared memory.
    pub shares: bool,
    /// True if it depends on which threads of a warp run together.
    pub converges: bool,
    /// True if its loads and stores must not change.
    pub fixed: bool,
}

/// The registers that hold elements across bodies of a fused kernel, and the changes that use them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForwardingPlan {
    /// The changed instructions of each member, in text order.
    pub changes: Vec<Vec<AccessChange>>,
    /// The registers that are first set in each member.
    pub first_set: Vec<Vec<u32>>,
    /// The size of each register in bytes.
    pub cells: Vec<u32>,
    /// True for each member, except the first, that needs a barrier before it.
    pub barriers: Vec<bool>,
    /// The buffers that nothing accesses any more. Sorted.
    pub elided: Vec<u32>,
    /// The number of loads replaced by moves.
    pub loads: usize,
    /// The number of elided stores.
    pub stores: usize,
}

/// Plans the registers for a chain of launches with the same grid and block. Blocks of one member must not access
/// anything that other blocks of other members write. `ends` returns true for a buffer that only the members access
/// and whose contents end with the chain.
///
/// # Complexity
///
/// Quadratic in the number of accesses of each buffer.
pub fn plan_forwarding(
    members: &[ChainMember<'_>],
    block: [u32; 3],
    ends: &dyn Fn(u32) -> bool,
) -> ForwardingPlan {
    let entries = entries(members);
    let buffers: BTreeSet<u32> = entries.iter().map(|entry| entry.buffer).collect();
    let mut all = Cells::default();
    let mut found = ForwardingPlan { changes: vec![Vec::new(); members.len()], ..ForwardingPlan::default() };
    for buffer in buffers {
        let of: Vec<&ChainAccess<'_>> = entries.iter().filter(|entry| entry.buffer == buffer).collect();
        let loops = |member: usize| members[member].sites.loops;
        let done = all.buffer(&of, block, &loops, ends(buffer));
        if done.elided {
            found.elided.push(buffer);
        }
        for (entry, change) in of.iter().zip(done.changes) {
            let Some(change) = change else { continue };
            match (entry.stores, change.stays) {
                (true, false) => found.stores += 1,
                (false, false) => found.loads += 1,
                _ => {}
            }
            found.changes[entry.member].push(change);
        }
    }
    found.changes.iter_mut().for_each(|changes| changes.sort_by_key(|change| change.at));
    found.barriers = barriers(members, &entries, &found, block);
    found.first_set = vec![Vec::new(); members.len()];
    let mut seen = BTreeSet::new();
    for (member, changes) in found.changes.iter().enumerate() {
        for cell in changes.iter().flat_map(|change| change.cells.iter().flatten()) {
            if seen.insert(*cell) {
                found.first_set[member].push(*cell);
            }
        }
    }
    found.cells = all.bytes;
    found
}

/// Lists the accesses of all members.
fn entries<'m>(members: &'m [ChainMember<'m>]) -> Vec<ChainAccess<'m>> {
    let mut entries = Vec::new();
    let mut places: Vec<(u32, AddressFamilies)> = Vec::new();
    for (at, member) in members.iter().enumerate() {
        let pointer = |parameter: u32| member.pointers.iter().find(|pointer| pointer.parameter == parameter);
        for &(parameter, stores) in &member.sites.others {
            let Some(pointer) = pointer(parameter) else { continue };
            entries.push(ChainAccess {
                member: at,
                site: None,
                buffer: pointer.buffer,
                parameter,
                stores,
                place: None,
                element: None,
                at: 0,
                touched: &[],
                fixed: true,
            });
        }
        for (nth, site) in member.sites.list.iter().enumerate() {
            let Some(pointer) = pointer(site.access.parameter) else { continue };
            entries.push(ChainAccess {
                member: at,
                site: Some(nth),
                buffer: pointer.buffer,
                parameter: site.access.parameter,
                stores: site.access.stores,
                place: None,
                element: site.access.element,
                at: site.access.at,
                touched: site.touched.as_deref().unwrap_or_default(),
                fixed: member.fixed,
            });
            if !places.iter().any(|(buffer, _)| *buffer == pointer.buffer) {
                places.push((pointer.buffer, AddressFamilies::default()));
            }
        }
    }
    // Accesses with the most known strides determine the families of addresses, so they come first.
    let known = |entry: &ChainAccess<'_>| {
        let axes = |touched: &super::sites::ThreadAccess| touched.strides.iter().flatten().count();
        entry.touched.iter().map(axes).max().unwrap_or(0)
    };
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(known(&entries[at])));
    for at in order {
        let entry = &entries[at];
        let Some(site) = entry.site else { continue };
        let member = &members[entry.member];
        let site = &member.sites.list[site];
        let pointer = member.pointers.iter().find(|pointer| pointer.parameter == site.access.parameter);
        let (Some(base), Some(touched)) = (pointer.and_then(|pointer| pointer.at), &site.touched) else {
            continue;
        };
        let places = places.iter_mut().find(|(buffer, _)| *buffer == entry.buffer);
        let place = places.and_then(|(_, places)| places.find(touched, base, site.access.bytes));
        entries[at].place = place;
    }
    entries
}

/// Returns true for each member, except the first, that needs a barrier before it.
fn barriers(
    members: &[ChainMember<'_>],
    entries: &[ChainAccess<'_>],
    found: &ForwardingPlan,
    block: [u32; 3],
) -> Vec<bool> {
    let is_elided = |entry: &ChainAccess<'_>| {
        let changes = &found.changes[entry.member];
        entry.site.is_some() && changes.iter().any(|change| change.at == entry.at && !change.stays)
    };
    let mut left: Vec<Vec<&ChainAccess<'_>>> = vec![Vec::new(); members.len()];
    for entry in entries.iter().filter(|entry| !entry.is_idle() && !is_elided(entry)) {
        left[entry.member].push(entry);
    }
    let meet = |mine: &ChainAccess<'_>, theirs: &ChainAccess<'_>| {
        (mine.stores || theirs.stores)
            && !places::only_same_thread(mine.place.as_ref(), theirs.place.as_ref(), block)
    };
    let crosses = |one: usize, other: usize| {
        let both = |test: fn(&ChainMember<'_>) -> bool| test(&members[one]) && test(&members[other]);
        let theirs = |mine: &ChainAccess<'_>| {
            let of_buffer = left[other].iter().filter(|entry| entry.buffer == mine.buffer);
            of_buffer.copied().any(|theirs| meet(mine, theirs))
        };
        both(|member| member.shares)
            || members[one].converges
            || members[other].converges
            || left[one].iter().any(|mine| theirs(mine))
    };
    let mut first = 0;
    let mut barriers = Vec::with_capacity(members.len().saturating_sub(1));
    for member in 1..members.len() {
        let stands = (first..member).any(|before| crosses(before, member));
        if stands {
            first = member;
        }
        barriers.push(stands);
    }
    barriers
}

#[cfg(test)]
mod tests;
