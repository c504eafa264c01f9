//! The scopes of an instance: the graph, and the bodies of its conditional nodes.
//!
//! The nodes of a scope, including those of child graphs, run together: those of a body once per run of the body.
//! A conditional node is two nodes of its scope: an entry, directly followed by an exit. In the precedence
//! relation, all nodes of its bodies lie between the two, and no other edge crosses the boundary of a body.

use std::collections::BTreeMap;
use std::ops::Range;

use super::operation::ConditionalKind;

/// A graph whose nodes run together.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The scope's own nodes.
    pub nodes: Range<usize>,
    /// The end of the scope's nodes and of those of the scopes inside it.
    pub end: usize,
    /// The body that the scope is; `None` for the graph itself.
    pub parent: Option<ConditionalBody>,
}

/// A body of a conditional node.
#[derive(Clone, Copy, Debug)]
pub struct ConditionalBody {
    /// The entry of the conditional node.
    pub entry: usize,
    /// The index of the body.
    pub body: usize,
}

/// A conditional node.
#[derive(Clone, Debug)]
pub struct ConditionalNode {
    pub kind: ConditionalKind,
    /// The bodies, as indices into [`Scopes::list`].
    pub bodies: Vec<usize>,
}

impl ConditionalNode {
    /// Returns the exit of the conditional node with that entry.
    pub fn exit(entry: usize) -> usize {
        entry + 1
    }
}

/// The scopes of an instance.
#[derive(Clone, Default, Debug)]
pub struct Scopes {
    /// The scopes, each directly before those inside it. The first one is the graph.
    pub list: Vec<Scope>,
    /// The conditional nodes by their entries.
    pub conditionals: BTreeMap<usize, ConditionalNode>,
    /// The scope of each buffer. The live range of the buffer lies within one run of the scope.
    pub buffers: Vec<usize>,
}

impl Scopes {
    /// Adds a scope. Its parent must have been added before.
    pub fn add(&mut self, nodes: Range<usize>, parent: Option<ConditionalBody>) {
        if let Some(branch) = parent.and_then(|parent| self.conditionals.get_mut(&parent.entry)) {
            branch.bodies.push(self.list.len());
        }
        let mut outer = parent;
        while let Some(ConditionalBody { entry, .. }) = outer {
            let at = self.scope_of(entry);
            self.list[at].end = nodes.end;
            outer = self.list[at].parent;
        }
        self.list.push(Scope { end: nodes.end, nodes, parent });
    }

    /// Returns the scope of a node.
    pub fn scope_of(&self, node: usize) -> usize {
        self.list.partition_point(|scope| scope.nodes.start <= node).saturating_sub(1)
    }

    /// Returns the bodies that contain a node, innermost first.
    pub fn enclosing(&self, node: usize) -> impl Iterator<Item = ConditionalBody> {
        let parent = |node: usize| self.list.get(self.scope_of(node)).and_then(|scope| scope.parent);
        std::iter::successors(parent(node), move |outer| parent(outer.entry))
    }

    /// Returns true if two nodes are in different bodies of one conditional node, so that one run of it runs at
    /// most one of them.
    pub fn are_exclusive(&self, a: usize, b: usize) -> bool {
        let others: BTreeMap<usize, usize> =
            self.enclosing(b).map(|outer| (outer.entry, outer.body)).collect();
        let common = self.enclosing(a).find_map(|outer| Some((outer.body, *others.get(&outer.entry)?)));
        common.is_some_and(|(body, other)| body != other)
    }

    /// Lifts two nodes to their innermost common scope: returns the nodes of that scope that are or contain them.
    pub fn lift_to_common_scope(&self, a: usize, b: usize) -> (usize, usize) {
        let chain = |node: usize| std::iter::once(node).chain(self.enclosing(node).map(|outer| outer.entry));
        let others: Vec<(usize, usize)> = chain(b).map(|node| (self.scope_of(node), node)).collect();
        let pair = chain(a).find_map(|first| {
            let scope = self.scope_of(first);
            others.iter().find(|other| other.0 == scope).map(|other| (first, other.1))
        });
        pair.unwrap_or((a, b))
    }

    /// Returns the entry of the outermost loop around a node within a scope.
    pub fn outermost_loop(&self, node: usize, scope: usize) -> Option<usize> {
        if self.list.is_empty() || self.scope_of(node) == scope {
            return None;
        }
        let mut found = None;
        for ConditionalBody { entry, .. } in self.enclosing(node) {
            if self.conditionals.get(&entry).is_some_and(|branch| branch.kind == ConditionalKind::While) {
                found = Some(entry);
            }
            if self.scope_of(entry) == scope {
                break;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Node 0 and a loop (1, 2). The loop's body has 3, a switch (4, 5) and 6. The bodies of the switch have 7,
    /// nothing, and 8 and 9.
    fn nested() -> Scopes {
        let mut scopes = Scopes::default();
        scopes.add(0..3, None);
        scopes.conditionals.insert(1, ConditionalNode { kind: ConditionalKind::While, bodies: Vec::new() });
        scopes.add(3..7, Some(ConditionalBody { entry: 1, body: 0 }));
        scopes.conditionals.insert(4, ConditionalNode { kind: ConditionalKind::Switch, bodies: Vec::new() });
        scopes.add(7..8, Some(ConditionalBody { entry: 4, body: 0 }));
        scopes.add(8..8, Some(ConditionalBody { entry: 4, body: 1 }));
        scopes.add(8..10, Some(ConditionalBody { entry: 4, body: 2 }));
        scopes
    }

    #[test]
    fn nodes_know_their_scopes() {
        let scopes = nested();
        assert_eq!([0, 2, 3, 6, 7, 8, 9].map(|node| scopes.scope_of(node)), [0, 0, 1, 1, 2, 4, 4]);
        assert_eq!(scopes.list.iter().map(|scope| scope.end).collect::<Vec<_>>(), [10, 10, 8, 8, 10]);
        assert_eq!(scopes.conditionals[&4].bodies, [2, 3, 4]);
        let around: Vec<_> = scopes.enclosing(9).map(|outer| (outer.entry, outer.body)).collect();
        assert_eq!(around, [(4, 2), (1, 0)]);
        assert_eq!(scopes.enclosing(0).count(), 0);
    }

    #[test]
    fn only_bodies_of_one_node_exclude_each_other() {
        let scopes = nested();
        assert!(scopes.are_exclusive(7, 8) && scopes.are_exclusive(9, 7));
        for (a, b) in [(8, 9), (7, 3), (7, 0), (4, 7), (0, 2)] {
            assert!(!scopes.are_exclusive(a, b) && !scopes.are_exclusive(b, a), "{a} {b}");
        }
    }

    #[test]
    fn nodes_are_lifted_to_their_common_scope() {
        let scopes = nested();
        assert_eq!(scopes.lift_to_common_scope(7, 3), (4, 3));
        assert_eq!(scopes.lift_to_common_scope(0, 9), (0, 1));
        assert_eq!(scopes.lift_to_common_scope(8, 9), (8, 9));
        assert_eq!(scopes.lift_to_common_scope(7, 8), (4, 4));
    }

    #[test]
    fn loops_count_from_a_scope_inwards() {
        let scopes = nested();
        assert_eq!(scopes.outermost_loop(9, 0), Some(1));
        assert_eq!(scopes.outermost_loop(9, 1), None);
        assert_eq!(scopes.outermost_loop(3, 1), None);
        assert_eq!(scopes.outermost_loop(0, 0), None);
    }
}
