//! [`Forming`]: an object to which devices are being added.

use std::sync::Arc;

use cudarc::driver::CudaContext;

use crate::error::Result;

use super::complete::Complete;
use super::object::{Granularity, Object};
use super::team::Member;

/// A multicast object to which devices are being added. Its type has no methods to bind or map yet: the driver
/// would block until all devices are added, possibly forever.
#[derive(Debug)]
#[must_use = "the object is released when this is dropped"]
pub struct Forming {
    object: Arc<Object>,
    member: Option<Member>,
}

impl Forming {
    /// Creates an object of `bytes` bytes for the devices of these contexts (`cuMulticastCreate`). One thread
    /// then adds all devices.
    ///
    /// # Errors
    ///
    /// `Unsupported` of [`MulticastFault`](crate::MulticastFault) if a device does not support multicast
    /// objects; the driver is not called further then. `NoDevices`, `Repeated`, `Empty` and `Misaligned`; a
    /// failed driver call.
    pub fn new(contexts: &[Arc<CudaContext>], bytes: u64) -> Result<Forming> {
        Ok(Forming { object: Arc::new(Object::new(contexts, bytes)?), member: None })
    }

    /// Creates one object for a team. Each member calls it from its own thread and gets the same object.
    ///
    /// # Errors
    ///
    /// Same as [`Forming::new`], for all members alike; `Disagree` if members pass different sizes;
    /// `MemberGone` and `TimedOut` if a member does not call it.
    pub fn join(member: Member, bytes: u64) -> Result<Forming> {
        let object = member.create(bytes)?;
        Ok(Forming { object, member: Some(member) })
    }

    /// Returns the granularity of sizes and offsets.
    pub fn granularity(&self) -> Granularity {
        self.object.granularity
    }

    /// Adds a device (`cuMulticastAddDevice`). It cannot be removed.
    ///
    /// # Errors
    ///
    /// `NotInTeam`, `AddedTwice`; a failed driver call.
    pub fn add(&mut self, ctx: &Arc<CudaContext>) -> Result<()> {
        self.object.add(ctx)
    }

    /// Adds the device of the member that [joined](Forming::join). Without a team, adds all devices of the
    /// object.
    ///
    /// # Errors
    ///
    /// Same as [`Forming::add`].
    pub fn add_own(&mut self) -> Result<()> {
        match &self.member {
            Some(member) => member.context().map_or(Ok(()), |ctx| self.object.add(ctx)),
            None => self.object.contexts.iter().try_for_each(|ctx| self.object.add(ctx)),
        }
    }

    /// Returns the object with all of its devices, ready for bindings. The members of a team wait for each
    /// other first.
    ///
    /// # Errors
    ///
    /// `Missing` if a device was not added; with a team also `MemberGone`, `TimedOut` and `Disagree`. The
    /// object is released then.
    pub fn complete(self) -> Result<Complete> {
        let Forming { object, member } = self;
        member.as_ref().map_or(Ok(()), |member| member.agree("complete"))?;
        object.check_complete()?;
        Ok(Complete::new(object, member))
    }
}
