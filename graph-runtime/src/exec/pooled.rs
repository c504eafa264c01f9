//! Members of an arena pool: graphs whose temporaries lie in the pool's arena.

use cuweave_core::ir::Memory;
use cuweave_core::launches::Allowed;

use crate::build::Body;
use crate::context;
use crate::cuda::{RawExec, Stream};
use crate::error::{BankFault, DeviceFault, Error, Result};

use super::arena::ArenaPool;
use super::core::{Core, Temporaries};
use super::exec_bytes::ExecBytes;

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
    let bank = shared.max_bytes().is_some();
    let add = |core: &mut Core| {
        if bank {
            fits(core)?;
        }
        core.add_nodes(body)?;
        core.check_certificate()?;
        if bank { Ok(()) } else { core.built.instantiate(&core.definition) }
    };
    add(core).or_else(|error| match error {
        Error::Bank(..) => Err(error),
        error => core.retry_as_written(error, add),
    })
}

/// Checks that an exec alone does not exceed the limit of the bank whose pool it is in. The arena does not shrink, so
/// this is checked before it grows.
fn fits(core: &Core) -> Result<()> {
    let Some(most) = core.temporaries.pool.as_ref().and_then(|shared| shared.max_bytes()) else {
        return Ok(());
    };
    let needed = core.exec_bytes().total();
    if needed <= most {
        return Ok(());
    }
    let fault = BankFault::AboveLimit { needed, most };
    Err(Error::Bank(core.definition.program().name.to_string(), fault))
}

impl Core {
    /// Instantiates the exec of a bank that is used before the bank made room for it.
    pub(super) fn ready(&mut self) -> Result<()> {
        if self.is_instantiated() { Ok(()) } else { self.built.instantiate(&self.definition) }
    }

    /// Returns false for the exec of a bank that has not made room for it yet.
    pub(super) fn is_instantiated(&self) -> bool {
        self.built.handle.exec != RawExec::NONE
    }

    /// Returns the bytes that the exec takes.
    pub(super) fn exec_bytes(&self) -> ExecBytes {
        let contexts = &self.definition.contexts;
        let memories = contexts.ids().map(|device| self.built.plan.exec_memories(device).1);
        let planned = memories.sum::<u64>();
        let step = self.temporaries.pool.as_ref().map_or(1, |shared| shared.step());
        let flat = &self.definition.flat;
        let program = flat.checked.program();
        let calls = program.statements.ids().filter(|&id| flat.is_captured(id));
        let scratch = |id| {
            let accesses = program.statements[id].accesses.iter().zip(flat.scratch(id));
            let own =
                accesses.filter(|(_, scratch)| *scratch).map(|(access, _)| &program.buffers[access.buffer]);
            own.map(|buffer| flat.sizes[buffer.len].saturating_mul(u64::from(buffer.element))).sum::<u64>()
        };
        ExecBytes {
            planned: planned.next_multiple_of(step),
            library: calls.map(scratch).max().unwrap_or(0),
            driver: self.built.estimated_exec_bytes(self.definition.program()),
        }
    }
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
