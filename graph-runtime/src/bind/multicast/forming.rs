//! Objects that devices are added to.

use std::sync::Arc;

use cudarc::driver::CudaContext;

use crate::error::Result;

use super::complete::Complete;
use super::object::{Granularity, Object};
use super::team::Member;

/// A multicast object that devices are added to. Nothing can be bound or mapped yet: the driver would block until all devices are
/// added, for ever if nobody adds them.
#[derive(Debug)]
#[must_use = "the object is released when this is dropped"]
pub struct Forming {
    object: Arc<Object>,
    member: Option<Member>,
}

impl Forming {
    /// Creates an object of `bytes` bytes for the devices of these contexts (`cuMulticastCreate`), which one thread then adds.
    ///
    /// # Errors
    ///
    /// `Unsupported` where a device supports no multicast objects: nothing else is asked of the driver then. `NoDevices`, `Repeated`,
    /// `Empty` and `Misaligned` of [`MulticastFault`](crate::MulticastFault); a failed call of the driver.
    pub fn new(contexts: &[Arc<CudaContext>], bytes: u64) -> Result<Forming> {
        Ok(Forming { object: Arc::new(Object::new(contexts, bytes)?), member: None })
    }

    /// Creates one object for a team. Each member calls it, from a thread of its own, and gets the same object.
    ///
    /// # Errors
    ///
    /// As [`Forming::new`], for all members alike; `Disagree` where members give different sizes; `MemberGone` and `TimedOut` where
    /// one does not call it.
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
    /// `NotInTeam`, `AddedTwice`; a failed call of the driver.
    pub fn add(&mut self, ctx: &Arc<CudaContext>) -> Result<()> {
        self.object.add(ctx)
    }

    /// Adds the device of the member that [joined](Forming::join), or all devices of the object without a team.
    ///
    /// # Errors
    ///
    /// As [`Forming::add`].
    pub fn add_own(&mut self) -> Result<()> {
        match &self.member {
            Some(member) => member.context().map_or(Ok(()), |ctx| self.object.add(ctx)),
            None => self.object.contexts.iter().try_for_each(|ctx| self.object.add(ctx)),
        }
    }

    /// Returns the object as one that memory can be bound to. The members of a team wait for each other first.
    ///
    /// # Errors
    ///
    /// `Missing` if not all devices were added; of a team, `MemberGone`, `TimedOut` and `Disagree`. The object is released then.
    pub fn complete(self) -> Result<Complete> {
        let Forming { object, member } = self;
        member.as_ref().map_or(Ok(()), |member| member.agree("complete"))?;
        object.check_complete()?;
        Ok(Complete::new(object, member))
    }
}
