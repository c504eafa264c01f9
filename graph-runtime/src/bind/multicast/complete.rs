//! Objects that have all of their devices.

use std::sync::Arc;

use crate::error::Result;

use super::binding::{Binding, By};
use super::mapping::Mapping;
use super::memory::Memory;
use super::object::{Granularity, Object};
use super::team::Member;

/// A multicast object that has all of its devices: memory can be bound, and addresses mapped, without a wait. Made by
/// [`Forming::complete`](super::Forming::complete).
///
/// Bindings and mappings keep the object alive: it is released when the last of them and this are dropped, in any order.
#[derive(Debug)]
pub struct Complete {
    object: Arc<Object>,
    member: Option<Member>,
}

impl Complete {
    pub(super) fn new(object: Arc<Object>, member: Option<Member>) -> Complete {
        Complete { object, member }
    }

    /// Returns its size in bytes.
    pub fn num_bytes(&self) -> u64 {
        self.object.bytes
    }

    /// Returns the granularity of its bindings.
    pub fn granularity(&self) -> Granularity {
        self.object.granularity
    }

    /// Binds `bytes` bytes of memory, from the offset `at` in it on, to an offset of the object, by the memory's handle
    /// (`cuMulticastBindMem`; from CUDA 13.1 on `cuMulticastBindMem_v2`). All are in bytes, and multiples of
    /// [`Granularity::minimum`].
    ///
    /// # Errors
    ///
    /// `NotInTeam`, `Empty`, `Misaligned`, `Outside` and `Overlap` before the driver is called; `NoResources`, `SystemNotReady` and
    /// `IllegalState` of [`MulticastFault`](crate::MulticastFault), or another failed call of the driver.
    pub fn bind(&self, offset: u64, memory: &Arc<Memory>, at: u64, bytes: u64) -> Result<Binding> {
        Binding::new(&self.object, offset, memory, at, bytes, By::Handle)
    }

    /// Does the same as [`Complete::bind`] by the memory's address (`cuMulticastBindAddr`; from CUDA 13.1 on
    /// `cuMulticastBindAddr_v2`): the address at the offset `at` is a multiple of [`Granularity::minimum`].
    ///
    /// # Errors
    ///
    /// As [`Complete::bind`].
    pub fn bind_address(&self, offset: u64, memory: &Arc<Memory>, at: u64, bytes: u64) -> Result<Binding> {
        Binding::new(&self.object, offset, memory, at, bytes, By::Address)
    }

    /// Maps all of the object to addresses that all of its devices can access.
    ///
    /// # Errors
    ///
    /// A failed call of the driver.
    pub fn map(&self) -> Result<Mapping> {
        Mapping::new(&self.object)
    }

    /// Waits until all members of the team have come to a step of this name: before a write, for instance, until all have bound their
    /// memory. Returns at once without a team.
    ///
    /// # Errors
    ///
    /// As [`Member::agree`].
    pub fn agree(&self, step: &'static str) -> Result<()> {
        self.member.as_ref().map_or(Ok(()), |member| member.agree(step))
    }
}
