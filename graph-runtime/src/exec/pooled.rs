//! Members of an arena pool: graphs whose temporaries lie in the pool's arena.

use cuweave_core::ir::Memory;
use cuweave_core::launches::Allowed;

use crate::build::Body;
use crate::context;
use crate::cuda::Stream;
use crate::error::{DeviceFault, Error, Result};

use super::arena::ArenaPool;
use super::core::{Core, Temporaries};

/// Lays the graph out again with its temporaries in the pool's arena, adds its nodes and instantiates it.
pub(super) fn instantiate_in(core: &mut Core, body: &dyn Body, pool: &ArenaPool) -> Result<()> {
    let shared = pool.shared();
    let devices = core.definition.contexts.len();
    if devices > 1 {
        let function = core.definition.program().name.to_string();
        return Err(Error::Devices(Box::new(DeviceFault::Pool { function, devices })));
    }
    if **shared.stream.context() != *core.definition.ctx {
        return Err(Error::PoolOfOtherContext { function: core.definition.program().name.to_string() });
    }
    context::enter(core.definition.driver, &core.definition.ctx)?;
    let checked = &core.definition.flat.checked;
    let allowed = Allowed::of(checked.program(), checked.functions());
    core.replan(Some(Memory::Owned), allowed, None)?;
    core.temporaries.pool = Some(shared.clone());
    let add = |core: &mut Core| {
        core.add_nodes(body)?;
        core.check_certificate()?;
        core.built.instantiate(&core.definition)
    };
    add(core).or_else(|error| core.retry_as_written(error, add))
}

/// Checks that a member of a pool is launched into the pool's stream.
pub(super) fn check_pool(core: &Core, stream: Stream) -> Result<()> {
    match &core.temporaries.pool {
        Some(shared) if shared.raw != stream => {
            Err(Error::StreamOfOtherPool { function: core.definition.program().name.to_string() })
        }
        _ => Ok(()),
    }
}

/// Releases the memory of the temporaries after the last launch. `over` is false if it is unknown when that
/// launch completes.
pub(super) fn release_temporaries(core: &mut Core, over: bool) {
    // A launch without an event has been waited for on the host.
    let launched = core.in_flight.last.is_some() && !core.in_flight.lost;
    let last = launched.then(|| core.in_flight.done.clone());
    if let Some(shared) = core.temporaries.pool.take() {
        shared.leave(last.as_ref(), !over);
    }
    let Temporaries { owned, records, .. } = &mut core.temporaries;
    for range in owned.drain(..).chain(records.drain(..)) {
        if over { range.retire(Vec::from_iter(last.clone())) } else { range.leak() }
    }
}
