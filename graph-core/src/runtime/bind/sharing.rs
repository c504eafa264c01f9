//! The [`Buffer`](super::Buffer)s of one exec, and their order with the launches of others.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::runtime::cuda::{Driver, Failure};
use crate::runtime::waits::{HeldStream, OwnedEvent};

use super::ledger::{Generation, Ledger, Tracked, User, Waits};
use super::operand::Operand;

/// The buffers of an exec that others may use between its launches.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    /// The buffers, each with the number of its argument and a flag that is true if the graph may write it.
    list: Vec<(Arc<Tracked>, usize, bool)>,
    /// The exec, as a user of the buffers.
    user: Option<Arc<User>>,
    /// The generation of all its entries; 0 if they must be made again.
    noted: u64,
}

/// The reason why a launch cannot be ordered.
pub(crate) enum Hindrance {
    /// The argument with this number is on loan.
    Lent(usize),
    /// A failure of the driver.
    Failure(Failure),
}

impl Drop for Sharing {
    fn drop(&mut self) {
        self.user.iter().for_each(|user| user.end());
    }
}

impl Sharing {
    /// Collects the buffers of the operands.
    pub fn bind(&mut self, operands: &[Operand]) {
        let shared = operands.iter().enumerate();
        let shared =
            shared.filter_map(|(at, operand)| Some((operand.shared.clone()?, at, operand.exclusive)));
        self.list = shared.collect();
        self.noted = 0;
    }

    /// Returns the ledger that is locked for a launch; `None` if there are no buffers.
    pub fn ledger(&self) -> Option<Arc<Ledger>> {
        self.list.first().map(|(tracked, ..)| tracked.ledger.clone())
    }

    /// Returns the buffers.
    pub fn buffers(&self) -> impl Iterator<Item = &Tracked> + Clone {
        self.list.iter().map(|(tracked, ..)| &**tracked)
    }

    /// Makes `stream` wait for the uses that conflict with a launch that `done` records.
    pub fn order(
        &mut self,
        driver: &Driver,
        generation: &mut Generation,
        stream: &Arc<CudaStream>,
        done: &Arc<OwnedEvent>,
    ) -> std::result::Result<(), Hindrance> {
        if generation.is_known(self.noted, stream) {
            return Ok(());
        }
        let user = self.user.get_or_insert_with(|| Arc::new(User::new(done.clone())));
        let (stream, mut waits) = (HeldStream::of(stream), Waits::default());
        let clock = generation.clock(&stream);
        for (tracked, at, write) in &self.list {
            if !tracked.before(user, (&stream, clock), *write, &mut waits).map_err(Hindrance::Failure)? {
                return Err(Hindrance::Lent(*at));
            }
        }
        waits.order(driver, stream.raw()).map_err(Hindrance::Failure)?;
        generation.waited(&stream, &waits);
        Ok(())
    }

    /// Adds the entries of a launch that has waited; `held` is true if its event records it.
    pub fn note(&mut self, generation: &mut Generation, stream: &Arc<CudaStream>, held: bool) {
        let Some(user) = &self.user else { return };
        let known = generation.is_known(self.noted, stream);
        let stream = HeldStream::of(stream);
        generation.enter(&stream);
        user.used(generation, &stream, held);
        if !known {
            for (tracked, _, write) in &self.list {
                tracked.after(user, generation.number(), *write);
            }
            self.noted = generation.number();
        }
    }
}
