//! The [`Buffer`](super::Buffer)s of one exec, and their order with the launches of others.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::cuda::{Driver, Failure};
use crate::error::ManagedFault;
use crate::waits::{HeldStream, OwnedEvent};

use super::ledger::{Generation, Ledger, Rivals, Tracked, User, Waits};
use super::operand::Operand;

/// The buffers of an exec that others may use between its launches.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    /// The buffers, each with the number of its argument and a flag that is true if the graph may write it; rising.
    list: Vec<(Arc<Tracked>, usize, bool)>,
    /// The exec, as a user of the buffers.
    user: Option<Arc<User>>,
    /// The last generation in which it was launched; 0 if its entries must be made again.
    noted: u64,
    /// True if all buffers have its entries.
    entered: bool,
    /// True if one of the buffers is managed memory.
    managed: bool,
    /// The users that its launches conflict with. Complete while it has all entries and is not outdated.
    rivals: Rivals,
}

/// The reason why a launch cannot be ordered.
pub(crate) enum Hindrance {
    /// The argument with this number is on loan.
    Lent(usize),
    /// The argument with this number is managed memory that the launch may not use.
    Managed(usize, ManagedFault),
    /// A failure of the driver.
    Failure(Failure),
}

impl Drop for Sharing {
    fn drop(&mut self) {
        self.user.iter().for_each(|user| user.end());
    }
}

impl Sharing {
    /// Collects the buffers of operands.
    fn of(first: usize, operands: &[Operand]) -> impl Iterator<Item = (Arc<Tracked>, usize, bool)> {
        let shared = (first..).zip(operands);
        shared.filter_map(|(at, operand)| Some((operand.shared.clone()?, at, operand.exclusive)))
    }

    /// Takes the buffers of the operands from `first` on in place of those before.
    pub fn bind(&mut self, first: usize, operands: &[Operand]) {
        let at = |argument: usize| self.list.partition_point(|entry| entry.1 < argument);
        let replaced = at(first)..at(first + operands.len());
        let old: Vec<_> = self.list.splice(replaced, Sharing::of(first, operands)).collect();
        for (tracked, ..) in &old {
            if let Some(user) = &self.user
                && !self.list.iter().any(|(bound, ..)| Arc::ptr_eq(bound, tracked))
            {
                tracked.leave(user);
            }
        }
        (self.noted, self.entered) = (0, false);
        self.managed = self.list.iter().any(|(tracked, ..)| tracked.unified.is_some());
    }

    /// Returns the ledger that is locked for a launch; `None` if there are no buffers.
    pub fn ledger(&self) -> Option<Arc<Ledger>> {
        self.list.first().map(|(tracked, ..)| tracked.ledger.clone())
    }

    /// Returns the buffers.
    pub fn buffers(&self) -> impl Iterator<Item = &Tracked> + Clone {
        self.list.iter().map(|(tracked, ..)| &**tracked)
    }

    /// Checks that managed memory is accessible from a stream.
    fn check_managed(&self, stream: &CudaStream) -> std::result::Result<(), Hindrance> {
        let faults = self.list.iter().filter_map(|(tracked, at, _)| {
            let unified = tracked.unified.as_ref()?;
            Some(Hindrance::Managed(*at, unified.fault(stream)?))
        });
        faults.take(1).try_for_each(Err)
    }

    /// Makes `stream` wait for the uses that conflict with a launch that `done` records.
    pub fn order(
        &mut self,
        driver: &Driver,
        generation: &mut Generation,
        stream: &Arc<CudaStream>,
        done: &Arc<OwnedEvent>,
    ) -> std::result::Result<(), Hindrance> {
        if self.managed {
            self.check_managed(stream)?;
        }
        if generation.is_known(self.noted, stream) {
            return Ok(());
        }
        let user = self.user.get_or_insert_with(|| Arc::new(User::new(done.clone())));
        let (stream, mut waits) = (HeldStream::of(stream), Waits::default());
        let clock = generation.clock(&stream);
        if self.entered && !user.is_outdated() && !generation.lends() {
            self.rivals.before((&stream, clock), &mut waits);
        } else {
            self.entered = false;
            user.update();
            self.rivals.clear();
            for (tracked, at, write) in &self.list {
                let found = tracked.before(user, (&stream, clock), *write, (&mut waits, &mut self.rivals));
                if !found.map_err(Hindrance::Failure)? {
                    return Err(Hindrance::Lent(*at));
                }
            }
        }
        waits.order(driver, stream.raw()).map_err(Hindrance::Failure)?;
        generation.waited(&stream, &waits);
        Ok(())
    }

    /// Records a launch that has waited; `held` is true if its event records it.
    pub fn note(&mut self, generation: &mut Generation, stream: &Arc<CudaStream>, held: bool) {
        let Some(user) = &self.user else { return };
        let known = generation.is_known(self.noted, stream);
        generation.enter(stream);
        user.used(generation, stream, held);
        if known {
            return;
        }
        if !self.entered {
            self.list.iter().for_each(|(tracked, _, write)| tracked.after(user, *write));
            self.entered = true;
        }
        self.rivals.after();
        self.noted = generation.number();
    }
}
