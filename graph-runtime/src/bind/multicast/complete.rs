//! [`Complete`]: an object that has all of its devices.

use std::sync::Arc;

use crate::error::Result;

use super::binding::{BindMethod, Binding};
use super::mapping::Mapping;
use super::memory::Memory;
use super::object::{Granularity, Object};
use super::team::Member;

/// A multicast object that has all of its devices, so that binding and mapping do not block. Created by
/// [`Forming::complete`](super::Forming::complete).
///
/// Bindings and mappings keep the object alive. It is released when the last of them and this value are
/// dropped, in any order.
#[derive(Debug)]
pub struct Complete {
    object: Arc<Object>,
    member: Option<Member>,
}

impl Complete {
    pub(super) fn new(object: Arc<Object>, member: Option<Member>) -> Complete {
        Complete { object, member }
    }

    /// Returns the size in bytes.
    pub fn num_bytes(&self) -> u64 {
        self.object.bytes
    }

    /// Returns the granularity of sizes and offsets of bindings.
    pub fn granularity(&self) -> Granularity {
        self.object.granularity
    }

    /// Binds `bytes` bytes of memory, starting at the offset `at` in the memory, to `offset` in the object, by
    /// the memory's handle (`cuMulticastBindMem`; since CUDA 13.1 `cuMulticastBindMem_v2`). All three are in
    /// bytes and must be multiples of [`Granularity::minimum`].
    ///
    /// # Errors
    ///
    /// `NotInTeam`, `Empty`, `Misaligned`, `Outside` and `Overlap` of
    /// [`MulticastFault`](crate::MulticastFault), before the driver is called; `NoResources`, `SystemNotReady`,
    /// `IllegalState`, or another failed driver call.
    pub fn bind(&self, offset: u64, memory: &Arc<Memory>, at: u64, bytes: u64) -> Result<Binding> {
        Binding::new(&self.object, offset, memory, at, bytes, BindMethod::Handle)
    }

    /// Like [`Complete::bind`], but by the memory's address (`cuMulticastBindAddr`; since CUDA 13.1
    /// `cuMulticastBindAddr_v2`). The address at offset `at` must be a multiple of [`Granularity::minimum`].
    ///
    /// # Errors
    ///
    /// Same as [`Complete::bind`].
    pub fn bind_address(&self, offset: u64, memory: &Arc<Memory>, at: u64, bytes: u64) -> Result<Binding> {
        Binding::new(&self.object, offset, memory, at, bytes, BindMethod::Address)
    }

    /// Maps the whole object to an address range that all of its devices can access.
    ///
    /// # Errors
    ///
    /// A failed driver call.
    pub fn map(&self) -> Result<Mapping> {
        Mapping::new(&self.object)
    }

    /// Waits until all members of the team have reached a step with this name. For example, wait before a write
    /// until all have bound their memory. Returns at once without a team.
    ///
    /// # Errors
    ///
    /// Same as [`Member::agree`].
    pub fn agree(&self, step: &'static str) -> Result<()> {
        self.member.as_ref().map_or(Ok(()), |member| member.agree(step))
    }
}
