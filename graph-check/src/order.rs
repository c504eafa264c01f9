//! The order of the nodes: for each node, those that have ended before it has an effect.
//!
//! Bit rows hold the transitive closure of the edges within bodies. Nodes of different bodies are compared through
//! the nodes that run the bodies.

use crate::certificate::{NodeWork, Plan, Port, Source, StatementKind};
use crate::refusal::Refusal;

/// The order of the nodes of a plan.
pub(crate) struct Order<'c> {
    plan: &'c Plan,
    source: &'c Source,
    /// For each node, a bit for each node that has ended before it has an effect.
    ended: Vec<Vec<u64>>,
    /// The node that runs each body. The graph itself has none.
    pub branches: Vec<usize>,
}

impl<'c> Order<'c> {
    /// Computes the order. Refuses edges that leave a body or form a cycle, and bodies that are not run by exactly
    /// one node in the body around them.
    pub fn new(source: &'c Source, plan: &'c Plan) -> Result<Order<'c>, Refusal> {
        let (bodies, count) = (&source.bodies, plan.nodes.len());
        let mut branches = vec![usize::MAX; bodies.len()];
        for (at, node) in plan.nodes.iter().enumerate() {
            let NodeWork::Branch(runs) = &node.work else { continue };
            for &body in runs {
                if body == 0 || branches[body] != usize::MAX || bodies[body].parent != node.body {
                    refuse!(Bodies, "`{}` runs body {body} again, or from elsewhere", node.name);
                }
                branches[body] = at;
            }
        }
        if let Some(body) = (1..bodies.len()).find(|&body| branches[body] == usize::MAX) {
            refuse!(Bodies, "no node runs body {body}");
        }
        let mut before = vec![Vec::new(); count];
        let mut after = vec![Vec::new(); count];
        for edge in &plan.edges {
            let (from, to) = (&plan.nodes[edge.from], &plan.nodes[edge.to]);
            let kernels = are_kernels(source, &from.work, true) && are_kernels(source, &to.work, false);
            if from.body != to.body || edge.port == Port::Early && !kernels {
                refuse!(Edges, "no edge leads from `{}` to `{}` in this way", from.name, to.name);
            }
            // An early edge to a node that does not wait does not say that anything has ended.
            before[edge.to].push((edge.from, edge.port == Port::End || to.waits));
            after[edge.from].push(edge.to);
        }
        let words = count.div_ceil(64);
        let mut ended: Vec<Vec<u64>> = vec![Vec::new(); count];
        let mut missing: Vec<usize> = before.iter().map(Vec::len).collect();
        let mut ready: Vec<usize> = (0..count).filter(|&node| missing[node] == 0).collect();
        let mut done = 0;
        while let Some(node) = ready.pop() {
            done += 1;
            let mut bits = vec![0u64; words];
            for &(from, _) in before[node].iter().filter(|(_, orders)| *orders) {
                bits.iter_mut().zip(&ended[from]).for_each(|(bits, more)| *bits |= more);
                bits[from / 64] |= 1 << (from % 64);
            }
            ended[node] = bits;
            for &next in &after[node] {
                missing[next] -= 1;
                if missing[next] == 0 {
                    ready.push(next);
                }
            }
        }
        if done < count {
            refuse!(Edges, "the edges form a cycle");
        }
        Ok(Order { source, plan, ended, branches })
    }

    /// Replaces both nodes by nodes of the innermost body around both.
    fn in_common_body(&self, mut one: usize, mut other: usize) -> (usize, usize) {
        let body = |node: usize| self.plan.nodes[node].body;
        while body(one) != body(other) {
            // A body has a higher index than its parent.
            if body(one) > body(other) {
                one = self.branches[body(one)];
            } else {
                other = self.branches[body(other)];
            }
        }
        (one, other)
    }

    /// Returns true if the first node has ended before the second has an effect, in each run of the innermost body
    /// around both. A node that runs bodies has read its condition before each run of them.
    pub fn is_before(&self, one: usize, other: usize) -> bool {
        let (decides, inside) = (one, other);
        let (one, other) = self.in_common_body(one, other);
        if one == other {
            return decides == one && inside != one;
        }
        self.ended[other][one / 64] & (1 << (one % 64)) != 0
    }

    /// Returns the node of `body` that contains a node.
    pub fn node_in_body(&self, mut node: usize, body: usize) -> usize {
        while self.plan.nodes[node].body > body {
            node = self.branches[self.plan.nodes[node].body];
        }
        node
    }

    /// Returns the innermost body around two bodies, and its children that contain them. `None` for a body that is
    /// itself the innermost one.
    pub fn common_body(&self, mut one: usize, mut other: usize) -> (usize, Option<usize>, Option<usize>) {
        let (mut in_one, mut in_other) = (None, None);
        while one != other {
            if one > other {
                in_one = Some(one);
                one = self.source.bodies[one].parent;
            } else {
                in_other = Some(other);
                other = self.source.bodies[other].parent;
            }
        }
        (one, in_one, in_other)
    }

    /// Returns true if at most one of the two bodies runs, because they are different arms of a decision.
    pub fn are_exclusive(&self, one: usize, other: usize) -> bool {
        match self.common_body(one, other) {
            (_, Some(one), Some(other)) => {
                self.source.bodies[one].decided_by == self.source.bodies[other].decided_by
            }
            _ => false,
        }
    }

    /// Returns true if the bodies are equal or the first is nested in the second.
    pub fn is_inside(&self, body: usize, outer: usize) -> bool {
        self.common_body(body, outer).0 == outer
    }
}

/// Returns true if the node has statements and all of them are kernels. With `calls`, library calls are accepted,
/// too.
fn are_kernels(source: &Source, work: &NodeWork, calls: bool) -> bool {
    let NodeWork::Run { members, .. } = work else { return false };
    let is_kernel = |kind: StatementKind| match kind {
        StatementKind::Kernel | StatementKind::Decision | StatementKind::LoopDecision => true,
        StatementKind::Call => calls,
        _ => false,
    };
    !members.is_empty() && members.iter().all(|member| is_kernel(source.statements[member.statement].kind))
}
