//! The [`Buffer`](super::Buffer)s of one exec: orders its launches with the launches of other execs, by the
//! ledger's entries.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::cuda::{Driver, Failure};
use crate::error::ManagedFault;
use crate::waits::{HeldStream, OwnedEvent};

use super::ledger::{Generation, Ledger, TrackedBuffer};
use super::operand::Operand;
use super::users::{Rivals, User, Waits};

/// A buffer that an exec has bound.
#[derive(Debug)]
struct SharedBuffer {
    tracked: Arc<TrackedBuffer>,
    /// The index of its argument.
    argument: usize,
    /// True if the graph may write it.
    write: bool,
}

/// The bound buffers of an exec, which others may use between its launches.
#[derive(Debug, Default)]
pub(crate) struct SharedBuffers {
    /// Sorted by argument.
    list: Vec<SharedBuffer>,
    /// The exec, as a user of the buffers.
    user: Option<Arc<User>>,
    /// The generation of the last launch. 0 if the entries must be added again.
    noted: u64,
    /// True if each buffer has an entry of this exec.
    entered: bool,
    /// True if one of the buffers is managed memory.
    managed: bool,
    /// The users that its launches conflict with. Complete if all entries were added and the exec is not
    /// outdated.
    rivals: Rivals,
}

/// The reason why a launch cannot be ordered.
pub(crate) enum OrderFault {
    /// The argument with this index is on loan.
    Lent(usize),
    /// The argument with this index is managed memory that the launch may not use.
    Managed(usize, ManagedFault),
    /// A failure of the driver.
    Failure(Failure),
}

impl Drop for SharedBuffers {
    fn drop(&mut self) {
        self.user.iter().for_each(|user| user.end());
    }
}

impl SharedBuffers {
    /// Returns the buffers of operands. The first operand has index `first`.
    fn buffers_of(first: usize, operands: &[Operand]) -> impl Iterator<Item = SharedBuffer> {
        (first..).zip(operands).flat_map(|(argument, operand)| {
            let write = operand.exclusive;
            operand.tracked().map(move |tracked| SharedBuffer { tracked, argument, write })
        })
    }

    /// Replaces the buffers of operands, starting at index `first`.
    pub fn bind(&mut self, first: usize, operands: &[Operand]) {
        let at = |argument: usize| self.list.partition_point(|buffer| buffer.argument < argument);
        let replaced = at(first)..at(first + operands.len());
        let old: Vec<_> = self.list.splice(replaced, SharedBuffers::buffers_of(first, operands)).collect();
        for SharedBuffer { tracked, .. } in &old {
            if let Some(user) = &self.user
                && !self.list.iter().any(|bound| Arc::ptr_eq(&bound.tracked, tracked))
            {
                tracked.leave(user);
            }
        }
        (self.noted, self.entered) = (0, false);
        self.managed = self.list.iter().any(|buffer| buffer.tracked.managed_state.is_some());
    }

    /// Returns the ledger to lock for a launch. `None` without buffers.
    pub fn ledger(&self) -> Option<Arc<Ledger>> {
        self.list.first().map(|buffer| buffer.tracked.ledger.clone())
    }

    pub fn buffers(&self) -> impl Iterator<Item = &TrackedBuffer> + Clone {
        self.list.iter().map(|buffer| &*buffer.tracked)
    }

    /// Checks that a stream may use the managed buffers.
    fn check_managed(&self, stream: &CudaStream) -> std::result::Result<(), OrderFault> {
        let faults = self.list.iter().filter_map(|buffer| {
            let managed_state = buffer.tracked.managed_state.as_ref()?;
            Some(OrderFault::Managed(buffer.argument, managed_state.fault(stream)?))
        });
        faults.take(1).try_for_each(Err)
    }

    /// Makes `stream` wait for the uses that conflict with a launch. `done` will record the launch.
    pub fn order(
        &mut self,
        driver: &Driver,
        generation: &mut Generation,
        stream: &Arc<CudaStream>,
        done: &Arc<OwnedEvent>,
    ) -> std::result::Result<(), OrderFault> {
        if self.managed {
            self.check_managed(stream)?;
        }
        if generation.is_known(self.noted, stream) {
            return Ok(());
        }
        let user = self.user.get_or_insert_with(|| Arc::new(User::new(done.clone())));
        let (stream, mut waits) = (HeldStream::new(stream), Waits::default());
        let history = generation.history(&stream);
        if self.entered && !user.is_outdated() && !generation.lends() {
            self.rivals.before(history, &mut waits);
        } else {
            self.entered = false;
            user.update();
            self.rivals.clear();
            for SharedBuffer { tracked, argument, write } in &self.list {
                let found = tracked.before(user, history, *write, &mut waits, &mut self.rivals);
                if !found.map_err(OrderFault::Failure)? {
                    return Err(OrderFault::Lent(*argument));
                }
            }
        }
        waits.order(driver, stream.raw()).map_err(OrderFault::Failure)?;
        generation.waited(&stream, &waits);
        Ok(())
    }

    /// Records a launch after [`SharedBuffers::order`]. `held` is true if the launch's event records it.
    pub fn note(&mut self, generation: &mut Generation, stream: &Arc<CudaStream>, held: bool) {
        let Some(user) = &self.user else { return };
        let known = generation.is_known(self.noted, stream);
        generation.enter(stream);
        user.used(generation.next_place(), stream, held);
        if known {
            return;
        }
        if !self.entered {
            self.list.iter().for_each(|buffer| buffer.tracked.after(user, buffer.write));
            self.entered = true;
        }
        self.rivals.after();
        self.noted = generation.number();
    }
}
