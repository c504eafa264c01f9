//! Decides which elements stay in registers of fused kernels instead of going through memory, by
//! `coverage::forward`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cuweave_core::compile::LaunchFacts;
use cuweave_core::index::{Vector, narrow};
use cuweave_core::ir::{BufferId, Origin, Program, StatementId};
use cuweave_core::launches::Chain;
use cuweave_core::operation::ChainId;
use cuweave_ptx::coverage::{self, BufferPointer, ChainMember, ForwardingPlan};

use super::facts::DeviceTarget;

/// The statements that access each buffer of some chains.
pub(super) type Users = BTreeMap<BufferId, Vec<StatementId>>;

/// Collects the statements that access the buffers of chains.
pub(super) fn users(program: &Program, chains: &Vector<ChainId, Chain>) -> Users {
    let members = chains.iter().flat_map(|chain| &chain.members);
    let accesses = members.flat_map(|&member| program.statements[member].accesses.iter());
    program.users(accesses.map(|access| access.buffer))
}

impl DeviceTarget<'_> {
    /// Returns the elements of a chain that stay in registers, and the barriers between its members. `None` if
    /// no element does and every two members need a barrier. All chains of a stack must agree.
    pub(super) fn forward(
        &self,
        facts: &LaunchFacts,
        program: &Program,
        users: &Users,
        chain: &Chain,
    ) -> Option<Arc<ForwardingPlan>> {
        let mut all: Option<ForwardingPlan> = None;
        for members in chain.chains() {
            let forward = self.forward_one(facts, program, users, members)?;
            let Some(all) = &mut all else {
                all = Some(forward);
                continue;
            };
            all.elided.extend(&forward.elided);
            all.elided.sort_unstable();
            if (ForwardingPlan { elided: all.elided.clone(), ..forward }) != *all {
                return None;
            }
        }
        let all = all?;
        let changes = all.changes.iter().any(|changes| !changes.is_empty());
        (changes || all.barriers.contains(&false)).then(|| Arc::new(all))
    }

    /// Returns the elements of one chain's launches that stay in registers.
    fn forward_one(
        &self,
        facts: &LaunchFacts,
        program: &Program,
        users: &Users,
        chain: &[StatementId],
    ) -> Option<ForwardingPlan> {
        let block = facts.launches[chain[0]].as_ref()?.block;
        let members: Option<Vec<ChainMember<'_>>> =
            chain.iter().map(|&member| self.member(facts, program, member)).collect();
        let members_of: BTreeSet<StatementId> = chain.iter().copied().collect();
        let ends = |buffer: u32| {
            let buffer = BufferId::from_u32(buffer);
            matches!(program.buffers[buffer].origin, Origin::Alloc(_))
                && !program.outputs.contains(&buffer)
                && users.get(&buffer).is_some_and(|users| users.iter().all(|user| members_of.contains(user)))
        };
        Some(coverage::plan_forwarding(&members?, block, &ends))
    }

    fn member(
        &self,
        facts: &LaunchFacts,
        program: &Program,
        statement: StatementId,
    ) -> Option<ChainMember<'_>> {
        let launch = facts.launches[statement].as_ref()?;
        let located = self.located.get(&statement)?;
        let kernel = self.kernels[launch.kernel].kernel;
        let pointers = (0..).zip(kernel.params).filter(|(_, param)| !param.is_scalar());
        let accesses = program.statements[statement].accesses.iter().zip(&located.offsets);
        let pointer =
            |((parameter, _), (access, &at)): ((usize, _), (&cuweave_core::ir::Access, &Option<u64>))| {
                BufferPointer { parameter: narrow(parameter), buffer: access.buffer.as_u32(), at }
            };
        Some(ChainMember {
            sites: &located.sites,
            pointers: pointers.zip(accesses).map(pointer).collect(),
            shares: located.of.facts.shares || launch.shared > 0,
            converges: located.of.facts.converges,
            fixed: located.of.facts.fixed,
        })
    }
}
