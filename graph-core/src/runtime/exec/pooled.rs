//! Members of an arena pool: graphs whose temporaries lie in the pool's arena.

use std::sync::{Arc, MutexGuard};

use crate::index::Vector;
use crate::ir::{Memory, Statement, StatementId};
use crate::launches::Allowed;

use crate::runtime::context;
use crate::runtime::cuda::Stream;
use crate::runtime::error::{Error, Result};
use crate::runtime::observe::annotate;

use super::arena::{Arena, ArenaPool, Member, Shared};
use super::core::Core;

impl Core {
    /// Lays the graph out and adds it anew, with its temporaries in the pool's arena, and instantiates it.
    pub(crate) fn instantiate_in(&mut self, pool: &ArenaPool) -> Result<()> {
        let shared = pool.shared();
        let function = || self.definition.program().name.to_string();
        if **shared.stream.context() != *self.definition.ctx {
            return Err(Error::PoolOfOtherContext { function: function() });
        }
        context::enter(self.definition.driver, &self.definition.ctx)?;
        if self.definition.driver.is_capturing(shared.raw)? {
            return Err(Error::StreamCapturing { function: function() });
        }
        let checked = &self.definition.flat.checked;
        let allowed = Allowed::of(checked.program(), checked.functions());
        self.replan(Some(Memory::Owned), allowed)?;
        // Held until the end: nodes are added and instantiated with addresses of memory that lives.
        let mut arena = shared.lock();
        self.instantiate_at(shared, &mut arena)
            .or_else(|error| self.as_written(error, |core| core.instantiate_at(shared, &mut arena)))
    }

    /// Adds and instantiates the nodes, with the temporaries in the arena.
    fn instantiate_at(&mut self, shared: &Arc<Shared>, arena: &mut Arena) -> Result<()> {
        let address = self.reserve(shared, arena)?;
        self.temporaries.pool = Some(Member { shared: shared.clone(), address });
        self.add_nodes()?;
        self.nodes.instantiate(&self.definition)
    }

    /// Grows the arena to the size that the graph needs, and returns its address.
    fn reserve(&self, shared: &Shared, arena: &mut Arena) -> Result<u64> {
        let (memories, bytes) = self.nodes.without_nodes();
        let at =
            || memories.first().map(|&(memory, _)| self.nodes.at_memory(self.definition.program(), memory));
        arena.reserve(shared, bytes).map_err(|failure| Error::driver(failure, at()))
    }

    /// Locks the arena before a launch, and gives the nodes its address.
    pub(crate) fn enter_arena<'s>(
        &mut self,
        shared: &'s Shared,
        stream: Stream,
    ) -> Result<MutexGuard<'s, Arena>> {
        if stream != shared.raw {
            return Err(Error::StreamOfOtherPool { function: self.definition.program().name.to_string() });
        }
        let mut arena = shared.lock();
        let address = self.reserve(shared, &mut arena)?;
        self.move_to(address)?;
        Ok(arena)
    }

    /// Gives the nodes that use the arena its address. After a failure the next launch tries again.
    fn move_to(&mut self, address: u64) -> Result<()> {
        match &mut self.temporaries.pool {
            Some(member) if member.address != address => member.address = 0,
            _ => return Ok(()),
        }
        let inside = self.nodes.inside();
        let mut moved = Vector::filled(false, self.definition.program().buffers.len());
        for (memory, offset) in self.nodes.without_nodes().0 {
            self.nodes.place(&inside[memory], address + offset);
            inside[memory].iter().for_each(|&buffer| moved[buffer] = true);
        }
        let uses = |statement: &Statement| statement.accesses.iter().any(|access| moved[access.buffer]);
        let users: Vec<StatementId> = self
            .definition
            .program()
            .statements
            .enumerate()
            .filter_map(|(id, statement)| uses(statement).then_some(id))
            .collect();
        users.iter().try_for_each(|&statement| self.nodes.readdress(&mut self.definition, statement))?;
        self.nodes.patch_all(&self.definition, &users)?;
        annotate::moved(&self.nodes.annotated(&self.definition));
        if let Some(member) = &mut self.temporaries.pool {
            member.address = address;
        }
        Ok(())
    }
}
