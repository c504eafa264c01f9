//! The result of the launch decisions ([`Decision`]), the allowed transformations, and the reasons against merging.

use std::collections::BTreeMap;

use crate::ir::{BufferId, Launches, Program, StatementId};
use crate::order::Functions;

/// Launches merged into one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The launches, ascending.
    pub members: Vec<StatementId>,
    /// The grid dimension along which the members are stacked. `None` for a flattened batch.
    pub axis: Option<u8>,
}

/// Consecutive launches of one grid and one block that are fused into one kernel: see [`super::fusion`]. Unordered
/// chains of the same kernels may be stacked, so that all their launches become one: see the module
/// `launches::stacks`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The launches in order. For stacked chains: the launches of the first chain, then those of the second one,
    /// and so on.
    pub members: Vec<StatementId>,
    /// The smallest member.
    pub least: StatementId,
    /// The arrangement of the stacked chains. `None` for a single chain.
    pub stack: Option<Stack>,
}

/// The arrangement of stacked chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The number of chains, at least 2. All have the same length.
    pub chains: usize,
    /// The grid dimension along which the chains are stacked. `None` if their blocks are consecutive.
    pub axis: Option<u8>,
}

impl Chain {
    /// Makes a chain from launches in order. `None` if there are none.
    #[must_use]
    pub fn new(members: Vec<StatementId>) -> Option<Chain> {
        let least = members.iter().copied().min()?;
        Some(Chain { members, least, stack: None })
    }

    /// Stacks chains. `None` for fewer than two chains, and for chains of different lengths.
    #[must_use]
    pub fn stacked(chains: Vec<Vec<StatementId>>, axis: Option<u8>) -> Option<Chain> {
        let length = chains.first()?.len();
        if chains.len() < 2 || chains.iter().any(|chain| chain.len() != length) {
            return None;
        }
        let stack = Stack { chains: chains.len(), axis };
        Some(Chain { stack: Some(stack), ..Chain::new(chains.concat())? })
    }

    /// Returns the number of consecutive launches.
    #[must_use]
    pub fn length(&self) -> usize {
        self.members.len() / self.stack.map_or(1, |stack| stack.chains.max(1))
    }

    /// Returns the stacked chains, or the single chain.
    pub fn chains(&self) -> impl ExactSizeIterator<Item = &[StatementId]> {
        self.members.chunks(self.length().max(1))
    }

    /// Returns the number of a member's chain, and the position in that chain.
    #[must_use]
    pub fn position(&self, member: StatementId) -> Option<(usize, usize)> {
        let at = self.members.iter().position(|&other| other == member)?;
        Some((at / self.length(), at % self.length()))
    }

    /// Returns the index of the chain with this smallest member, among chains sorted by their smallest members.
    #[must_use]
    pub fn at(chains: &[Chain], least: Option<&StatementId>) -> Option<usize> {
        chains.binary_search_by(|chain| Some(&chain.least).cmp(&least)).ok()
    }
}

/// Returns the batch of each batched launch.
pub(crate) fn by_member(batches: &[Batch]) -> BTreeMap<StatementId, &Batch> {
    batches.iter().flat_map(|batch| batch.members.iter().map(move |&id| (id, batch))).collect()
}

/// Why two launches of one kernel are not in one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BatchObstacle {
    /// This launch cannot be in any batch.
    Never(StatementId),
    /// They are in different conditional bodies, or only one of them is in a body.
    Bodies,
    /// Their block sizes or their dynamic shared memory differ.
    Blocks,
    /// Their predecessors are not assumed to end at the same time.
    Begins,
    /// Their device cannot hold all of them at once, and other devices wait for them separately; or such launches
    /// precede them.
    Devices,
    /// They are not assumed to take equally long, and they have different successors.
    Ends,
    /// Their grids differ, or a setter may change them, and they have too many blocks for flattening.
    Flat,
    /// One node would join chains and fork them again without saving an edge.
    Joins,
    /// One node would have too many edges.
    Edges,
    /// They are in unjoined chains, too few of them, whose levels fill the device: each level would wait for its
    /// last block.
    ChainLimits,
    /// They are in unjoined chains that run as two halves: one has work while the other waits for its last blocks.
    Halves,
    /// They are in unjoined chains, each of which is fused into one kernel instead.
    Fused,
    /// They are in unjoined chains that are all fused into one kernel instead.
    Stacked,
    /// Their parameters do not fit into one table, or their buffers together exceed a budget.
    Room,
}

/// Why a launch cannot follow another launch, or the members of a chain, in one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FusionObstacle {
    /// They are on different devices.
    Devices,
    /// Their grids differ.
    Grids,
    /// Their blocks differ.
    Blocks,
    /// This statement is between them and is not a launch.
    Between(StatementId),
    /// This statement precedes the launch, and may end after the chain begins.
    Before(StatementId),
    /// This statement follows a member, and may begin before the launch ends.
    After(StatementId),
    /// A setter may change the grid or the block of this launch.
    Set(StatementId),
    /// This launch cannot be in any chain.
    Never(StatementId),
    /// Only one of them begins with `griddepcontrol.wait`.
    Starts,
    /// Different blocks of the launch and of a member may access the same bytes of a buffer.
    Access {
        /// The member.
        of: StatementId,
        /// The buffer.
        buffer: BufferId,
        /// The condition that is not proved.
        fault: OverlapFault,
    },
    /// This launch is in a batch.
    Batched(StatementId),
    /// The chain has the maximum number of members.
    MaxMembers,
    /// This launch runs concurrently with others, and their kernels are long. Fused, their blocks would stay on
    /// their multiprocessors, some of which have more than others.
    Crowd(StatementId),
    /// One kernel would keep the buffers of both alive at once.
    Room,
}

/// Why the blocks of two launches are not proved to access different bytes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OverlapFault {
    /// A setter may change the range passed to this launch.
    Set(StatementId),
    /// The bytes that a block of this launch accesses are unknown.
    Unknown(StatementId),
    /// A block of one launch accesses bytes that a different block of the other accesses.
    Shared {
        /// The launch that writes them.
        writes: StatementId,
    },
}

/// Batches that were considered and dropped, with the reasons.
pub(super) type DroppedBatches = Vec<(Vec<StatementId>, BatchObstacle)>;

/// The allowed launch transformations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Launches of one kernel are batched into one.
    pub batches: bool,
    /// Edges between kernels become programmatic.
    pub overlap: bool,
    /// Branches are serialised into lanes.
    pub lanes: bool,
    /// Consecutive launches are fused into one.
    pub fuse: bool,
    /// In fused launches, elements stay in registers if nothing else needs them in memory.
    pub forward: bool,
}

impl Allowed {
    /// Returns the union of the transformations that the options of a program's functions allow.
    /// [`Launch::restrict`](super::Launch::restrict) then removes those that the function of a launch does not
    /// allow.
    pub fn of(program: &Program, functions: &Functions) -> Allowed {
        let own = Allowed::by(program.options.launches);
        functions.list.iter().map(|function| Allowed::by(function.launches)).fold(own, |all, one| Allowed {
            batches: all.batches || one.batches,
            overlap: all.overlap || one.overlap,
            lanes: all.lanes || one.lanes,
            fuse: all.fuse || one.fuse,
            forward: all.forward || one.forward,
        })
    }

    /// Returns the transformations that an option of a graph function allows.
    pub fn by(option: Option<Launches>) -> Allowed {
        match option {
            None => Allowed { batches: true, overlap: true, lanes: true, fuse: true, forward: true },
            Some(Launches::AsWritten) => Allowed::default(),
            Some(Launches::Batched) => Allowed { batches: true, ..Allowed::default() },
            Some(Launches::Overlapped) => Allowed { overlap: true, ..Allowed::default() },
            Some(Launches::Fused) => Allowed { fuse: true, forward: true, ..Allowed::default() },
        }
    }
}

/// The decision about the launches of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Batches, sorted by their first members.
    pub batches: Vec<Batch>,
    /// Added edges: those that make each batch one node, and those between the branches of a lane.
    pub edges: Vec<(StatementId, StatementId)>,
    /// Pairs of the last launch of a branch and the first launch of the next branch in its lane.
    pub lanes: Vec<(StatementId, StatementId)>,
    /// Chains, sorted by their smallest members. No launch is in both a chain and a batch.
    pub chains: Vec<Chain>,
}

impl Decision {
    /// Returns the batches and chains as nodes, each with its members ascending.
    pub(crate) fn nodes(&self) -> Vec<Batch> {
        let chains = self.chains.iter().map(|chain| {
            let mut members = chain.members.clone();
            members.sort_unstable();
            Batch { members, axis: None }
        });
        self.batches.iter().cloned().chain(chains).collect()
    }

    /// Returns the number of members of the largest batch. 1 if there is none.
    pub fn largest(&self) -> usize {
        self.batches.iter().map(|batch| batch.members.len()).max().unwrap_or(1)
    }
}
