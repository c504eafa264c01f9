//! Launch decisions: the allowed changes, and the result.

use std::collections::BTreeMap;

use crate::ir::{BufferId, Launches, Program, StatementId};
use crate::order::Functions;

/// Launches that become one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The launches, in ascending order.
    pub members: Vec<StatementId>,
    /// The dimension of the grid in which the members are stacked; `None` for a flattened batch.
    pub axis: Option<u8>,
}

/// Launches of one grid and one block, one after another, that become one: see [`super::fusion`]. Chains of the same kernels, side by side, may
/// be stacked: then all of their launches become one, see the module `launches::stacks`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The launches, in their order: of stacked chains those of the first chain, then those of the second one.
    pub members: Vec<StatementId>,
    /// The least of them.
    pub least: StatementId,
    /// The stack, if several chains are stacked.
    pub stack: Option<Stack>,
}

/// The arrangement of stacked chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The number of chains, at least 2. They are equally long.
    pub chains: usize,
    /// The dimension of the grid in which the chains are stacked; `None` if their blocks are consecutive.
    pub axis: Option<u8>,
}

impl Chain {
    /// Makes a chain of launches in their order; `None` without any.
    #[must_use]
    pub fn new(members: Vec<StatementId>) -> Option<Chain> {
        let least = members.iter().copied().min()?;
        Some(Chain { members, least, stack: None })
    }

    /// Stacks chains that are equally long; `None` for fewer than two, or others.
    #[must_use]
    pub fn stacked(chains: Vec<Vec<StatementId>>, axis: Option<u8>) -> Option<Chain> {
        let length = chains.first()?.len();
        if chains.len() < 2 || chains.iter().any(|chain| chain.len() != length) {
            return None;
        }
        let stack = Stack { chains: chains.len(), axis };
        Some(Chain { stack: Some(stack), ..Chain::new(chains.concat())? })
    }

    /// Returns the number of launches one after another.
    #[must_use]
    pub fn length(&self) -> usize {
        self.members.len() / self.stack.map_or(1, |stack| stack.chains.max(1))
    }

    /// Returns the chains: one, or the stacked ones.
    pub fn chains(&self) -> impl ExactSizeIterator<Item = &[StatementId]> {
        self.members.chunks(self.length().max(1))
    }

    /// Returns the number of a member's chain, and its position there.
    #[must_use]
    pub fn position(&self, member: StatementId) -> Option<(usize, usize)> {
        let at = self.members.iter().position(|&other| other == member)?;
        Some((at / self.length(), at % self.length()))
    }

    /// Returns the index of the chain of a statement among chains that are sorted by their least members.
    #[must_use]
    pub fn at(chains: &[Chain], least: Option<&StatementId>) -> Option<usize> {
        chains.binary_search_by(|chain| Some(&chain.least).cmp(&least)).ok()
    }
}

/// Returns the batch of each launch that is a member of one.
pub(crate) fn by_member(batches: &[Batch]) -> BTreeMap<StatementId, &Batch> {
    batches.iter().flat_map(|batch| batch.members.iter().map(move |&id| (id, batch))).collect()
}

/// A reason that two launches of one kernel are not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// One of them is in no batch, whatever the others are: this statement.
    Never(StatementId),
    /// They stand in different bodies of conditional nodes, or one of them in none.
    Bodies,
    /// Their blocks or their dynamic shared memory differ.
    Blocks,
    /// They come after launches that are not known to end at the same time.
    Begins,
    /// They are not known to last equally long, and different launches come after them.
    Ends,
    /// Their grids differ, or a setter may change them, and they have too many blocks to be flattened.
    Flat,
    /// One node would join chains and fork them again, and save no edge.
    Joins,
    /// One node would have too many edges.
    Edges,
    /// They are steps of chains, too few of them, whose levels fill the device: each level would wait for its last block.
    Chains,
    /// They are steps of chains and run in two halves: one has work while the other waits for its last block.
    Halves,
    /// They are steps of chains, each of which is one kernel instead.
    Fused,
    /// They are steps of chains, all of which are one kernel instead.
    Stacked,
    /// Their parameters do not fit into one table, or a budget does not hold their buffers at once.
    Room,
}

/// A reason that a launch does not follow another one, or the members of a chain, in one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// They are on different devices.
    Devices,
    /// Their grids differ.
    Grids,
    /// Their blocks differ.
    Blocks,
    /// This statement, which is no launch, stands between them.
    Between(StatementId),
    /// This statement comes before the launch, and may end after the chain begins.
    Before(StatementId),
    /// This statement comes after a member, and may begin before the launch ends.
    Behind(StatementId),
    /// A setter may change the grid or the block of this launch.
    Set(StatementId),
    /// This launch is in no chain, whatever stands beside it.
    Never(StatementId),
    /// One of them waits at its beginning for the launches before it, and the other one does not.
    Starts,
    /// Different blocks of the launch and of this member may access the same bytes of a buffer.
    Access {
        /// The member.
        of: StatementId,
        /// The buffer.
        buffer: BufferId,
        /// The part of the proof that fails.
        fault: Fault,
    },
    /// This launch is one of a batch.
    Batched(StatementId),
    /// The chain has as many members as a kernel has at most.
    Most,
    /// This launch runs beside others, and their kernels are long: fused, their blocks would stay on multiprocessors some of which have more.
    Crowd(StatementId),
    /// One kernel would hold the buffers of both at once.
    Room,
}

/// A reason that the blocks of two launches are not proved to access different bytes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A setter may change the range that this launch is given.
    Set(StatementId),
    /// The bytes that a block of this launch accesses are not known.
    Unknown(StatementId),
    /// A block of one accesses bytes that another block of the other one accesses.
    Shared {
        /// The launch that writes them.
        writes: StatementId,
    },
}

/// Batches that were considered and given up, with the reasons.
pub(super) type GivenUp = Vec<(Vec<StatementId>, Why)>;

/// The allowed changes of launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Launches of one kernel are batched into one.
    pub batches: bool,
    /// Edges between kernels become programmatic.
    pub overlap: bool,
    /// Branches are serialized into lanes.
    pub lanes: bool,
    /// Launches one after another are fused into one.
    pub fuse: bool,
    /// In fused launches, elements stay in registers where nothing else needs them in memory.
    pub forward: bool,
}

impl Allowed {
    /// Returns the union of the changes that the options of a program's functions allow.
    /// [`Launch::restrict`](super::Launch::restrict) removes those that the function of a launch does not allow.
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

    /// Returns the changes that an option of the graph function allows.
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

/// A decision about the launches of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Batches, sorted by their first members.
    pub batches: Vec<Batch>,
    /// Edges beyond the program's: those that make each batch one node, and those between the branches of a lane.
    pub edges: Vec<(StatementId, StatementId)>,
    /// The last launch of a branch and the first of the next one in its lane, for each branch with a predecessor in its lane.
    pub lanes: Vec<(StatementId, StatementId)>,
    /// Chains, sorted by their least members. No launch is a member of a chain and of a batch.
    pub chains: Vec<Chain>,
}

impl Decision {
    /// Returns the launches that are one node, each list in ascending order.
    pub(crate) fn nodes(&self) -> Vec<Batch> {
        let chains = self.chains.iter().map(|chain| {
            let mut members = chain.members.clone();
            members.sort_unstable();
            Batch { members, axis: None }
        });
        self.batches.iter().cloned().chain(chains).collect()
    }

    /// Returns the number of members of the largest batch; 1 if there is none.
    pub fn largest(&self) -> usize {
        self.batches.iter().map(|batch| batch.members.len()).max().unwrap_or(1)
    }
}
