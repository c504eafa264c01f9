//! Batched nodes: kernel nodes that contain several launches (members), and the actors of a launch.
//!
//! The blocks of a member are a box of the grid. The checks treat a member as a node of its own that is unordered
//! with the other members.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::base::note::Note;
use crate::interp::BlockBox;

/// The member number that stands for the whole node.
pub const WHOLE_NODE: u32 = u32::MAX;

/// The member launches of a batched kernel node.
#[derive(Clone, Debug)]
pub struct Members {
    /// The names that the program gave the members.
    pub notes: Vec<Note>,
    /// The layout of the members' blocks in the grid.
    pub layout: MemberLayout,
}

/// The layout of the members' blocks in a grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MemberLayout {
    /// Member `i` has the blocks with coordinate `i` in this dimension, which is 1 or 2.
    Axis(usize),
    /// Each member has a range of consecutive blocks in x. Holds the first block of each member, in ascending
    /// order.
    Flat(Vec<u32>),
}

impl Members {
    /// Returns the blocks of each member in a grid; `None` if the layout does not fit the grid.
    pub fn blocks(&self, grid: [u32; 3]) -> Option<Vec<BlockBox>> {
        let count = self.notes.len();
        match &self.layout {
            MemberLayout::Axis(axis) => {
                let own = |member: usize| {
                    let mut blocks = BlockBox { from: [0; 3], extent: grid };
                    (blocks.from[*axis], blocks.extent[*axis]) = (member as u32, 1);
                    blocks
                };
                (grid[*axis] as usize == count).then(|| (0..count).map(own).collect())
            }
            MemberLayout::Flat(firsts) => {
                let ends = firsts.iter().skip(1).copied().chain([grid[0]]);
                let rises =
                    firsts.first() == Some(&0) && firsts.iter().zip(ends.clone()).all(|(a, b)| *a < b);
                let fits = firsts.len() == count && rises && grid[1..] == [1, 1];
                let own = |(&first, end): (&u32, u32)| BlockBox {
                    from: [first, 0, 0],
                    extent: [end - first, 1, 1],
                };
                fits.then(|| firsts.iter().zip(ends).map(own).collect())
            }
        }
    }

    /// Returns the name of a member for reports.
    pub fn describe(&self, member: usize) -> String {
        let note = self.notes.get(member).cloned().unwrap_or_default();
        let of = format!("one of {} launches in one", self.notes.len());
        match note.describe().strip_suffix(')') {
            Some(place) => format!("{place}, {of})"),
            None => format!("{} ({of})", note.describe()),
        }
    }
}

/// The actors of a launch: first the nodes by their numbers, then the members of batched nodes.
#[derive(Clone, Default)]
pub struct Actors {
    nodes: usize,
    /// The node of each member.
    of: Vec<usize>,
    first: BTreeMap<usize, usize>,
}

impl Actors {
    /// Returns the actors of nodes. `members` gives each node's number of members.
    pub fn new(members: impl ExactSizeIterator<Item = usize>) -> Self {
        let mut actors = Actors { nodes: members.len(), ..Actors::default() };
        for (node, count) in members.enumerate().filter(|found| found.1 > 0) {
            actors.first.insert(node, actors.nodes + actors.of.len());
            actors.of.resize(actors.of.len() + count, node);
        }
        actors
    }

    /// Returns the number of actors.
    pub fn count(&self) -> usize {
        self.nodes + self.of.len()
    }

    /// Returns the node of an actor: the actor itself, or the node to which the member belongs.
    pub fn node(&self, actor: usize) -> usize {
        actor.checked_sub(self.nodes).map_or(actor, |member| self.of[member])
    }

    /// Returns the actors that are members of a node.
    pub fn members(&self, node: usize) -> Range<usize> {
        let Some(&first) = self.first.get(&node) else { return 0..0 };
        let count = self.of[first - self.nodes..].partition_point(|&of| of == node);
        first..first + count
    }

    /// Returns the actors for a user of a buffer: the member, or all members for [`WHOLE_NODE`], then the node itself.
    pub fn users(&self, node: usize, member: u32) -> impl Iterator<Item = usize> {
        let members = self.members(node);
        let own = members.start.saturating_add(member as usize);
        let chosen = if members.contains(&own) { own..own + 1 } else { members };
        chosen.chain([node])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(count: usize, layout: MemberLayout) -> Members {
        let note = |line| Note { name: "scale".into(), file: "src/x.rs".into(), line };
        Members { notes: (1..).take(count).map(note).collect(), layout }
    }

    #[test]
    fn members_are_boxes_that_make_up_the_grid() {
        let blocks = members(3, MemberLayout::Flat(vec![0, 2, 7])).blocks([8, 1, 1]).unwrap();
        let ranges: Vec<_> = blocks.iter().map(|blocks| (blocks.from[0], blocks.extent[0])).collect();
        assert_eq!(ranges, [(0, 2), (2, 5), (7, 1)]);
        let blocks = members(2, MemberLayout::Axis(1)).blocks([4, 2, 3]).unwrap();
        assert_eq!((blocks[1].from, blocks[1].extent), ([0, 1, 0], [4, 1, 3]));
        assert!(members(3, MemberLayout::Flat(vec![0, 2, 7])).blocks([7, 1, 1]).is_none());
        assert!(members(2, MemberLayout::Flat(vec![0, 2, 7])).blocks([8, 1, 1]).is_none());
        assert!(members(2, MemberLayout::Flat(vec![0, 2])).blocks([8, 2, 1]).is_none());
        assert!(members(2, MemberLayout::Axis(2)).blocks([4, 2, 3]).is_none());
    }

    #[test]
    fn members_have_names_of_their_own() {
        let mut found = members(2, MemberLayout::Axis(1));
        assert_eq!(found.describe(1), "`scale` (src/x.rs:2, one of 2 launches in one)");
        found.notes[0].file.clear();
        assert_eq!(found.describe(0), "`scale` (one of 2 launches in one)");
    }

    #[test]
    fn actors_are_nodes_and_then_members() {
        let actors = Actors::new([0, 2, 0, 3].into_iter());
        assert_eq!((actors.members(1), actors.members(3), actors.members(2)), (4..6, 6..9, 0..0));
        assert_eq!([0, 3, 4, 5, 6, 8].map(|actor| actors.node(actor)), [0, 3, 1, 1, 3, 3]);
        assert_eq!(actors.users(3, 1).collect::<Vec<_>>(), [7, 3]);
        assert_eq!(actors.users(1, WHOLE_NODE).collect::<Vec<_>>(), [4, 5, 1]);
        assert_eq!(actors.users(2, WHOLE_NODE).collect::<Vec<_>>(), [2]);
    }
}
