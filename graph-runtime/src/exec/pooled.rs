//! Members of an arena pool: graphs with temporaries in the arena of the pool.

use cuweave_core::ir::Memory;
use cuweave_core::launches::Allowed;

use crate::build::Body;
use crate::context;
use crate::cuda::Stream;
use crate::error::{DeviceFault, Error, Result};

use super::arena::ArenaPool;
use super::core::{Core, Temporaries};

impl Core {
    /// Lays the graph out again with its temporaries in the arena of the pool, adds its nodes and instantiates it.
    pub(crate) fn instantiate_in(&mut self, body: &dyn Body, pool: &ArenaPool) -> Result<()> {
        let shared = pool.shared();
        let devices = self.definition.contexts.len();
        if devices > 1 {
            let function = self.definition.program().name.to_string();
            return Err(Error::Devices(Box::new(DeviceFault::Pool { function, devices })));
        }
        if **shared.stream.context() != *self.definition.ctx {
            return Err(Error::PoolOfOtherContext { function: self.definition.program().name.to_string() });
        }
        context::enter(self.definition.driver, &self.definition.ctx)?;
        let checked = &self.definition.flat.checked;
        let allowed = Allowed::of(checked.program(), checked.functions());
        self.replan(Some(Memory::Owned), allowed, None)?;
        self.temporaries.pool = Some(shared.clone());
        let add = |core: &mut Core| {
            core.add_nodes(body)?;
            core.check_certificate()?;
            core.built.instantiate(&core.definition)
        };
        add(self).or_else(|error| self.retry_as_written(error, add))
    }

    /// Checks that a member of a pool is launched into the pool's stream.
    pub(crate) fn check_pool(&self, stream: Stream) -> Result<()> {
        match &self.temporaries.pool {
            Some(shared) if shared.raw != stream => {
                Err(Error::StreamOfOtherPool { function: self.definition.program().name.to_string() })
            }
            _ => Ok(()),
        }
    }

    /// Releases the memory of the temporaries after the last launch. `over` is false if the completion of that launch is
    /// unknown.
    pub(crate) fn release_temporaries(&mut self, over: bool) {
        // A launch without an event has been waited for on the host.
        let launched = self.in_flight.last.is_some() && !self.in_flight.lost;
        let last = launched.then(|| self.in_flight.done.clone());
        if let Some(shared) = self.temporaries.pool.take() {
            shared.leave(last.as_ref(), !over);
        }
        let Temporaries { owned, records, .. } = &mut self.temporaries;
        for range in owned.drain(..).chain(records.drain(..)) {
            if over { range.retire(Vec::from_iter(last.clone())) } else { range.leak() }
        }
    }
}
