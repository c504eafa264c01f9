//! Post-dominators and control dependence.
//!
//! [`joins`] runs the dominator algorithm of Cooper, Harvey and Kennedy on the reversed graph, with one virtual exit.
//! [`control_dependences`] derives the control dependences from it. Slices, durations and fusion use both.

use crate::coverage::EXIT_BLOCK;

/// Returns the immediate post-dominator of each block, given the successors of each. [`EXIT_BLOCK`] is the end of the
/// function. A block from which no path reaches an end counts as an end.
pub(crate) fn immediate_post_dominators(successors: &[Vec<u32>]) -> Vec<u32> {
    let end = successors.len();
    let node = |to: u32| if to == EXIT_BLOCK { end } else { to as usize };
    let mut predecessors = vec![Vec::new(); end + 1];
    let mut all: Vec<Vec<usize>> =
        successors.iter().map(|list| list.iter().map(|&to| node(to)).collect()).collect();
    for (at, list) in all.iter().enumerate() {
        list.iter().for_each(|&to| predecessors[to].push(at));
    }
    let mut order = post_order(&predecessors, end);
    if order.len() <= end {
        let mut reached = vec![false; end + 1];
        order.iter().for_each(|&at| reached[at] = true);
        for at in (0..end).filter(|&at| !reached[at]) {
            all[at].push(end);
            predecessors[end].push(at);
        }
        order = post_order(&predecessors, end);
    }
    let mut place = vec![usize::MAX; end + 1];
    order.iter().enumerate().for_each(|(at, &node)| place[node] = at);
    let mut join = vec![usize::MAX; end + 1];
    join[end] = end;
    let mut changed = true;
    while changed {
        changed = false;
        for &at in order.iter().rev().filter(|&&at| at != end) {
            let mut new = usize::MAX;
            for &to in all[at].iter().filter(|&&to| join[to] != usize::MAX) {
                let mut other = to;
                if new == usize::MAX {
                    new = other;
                    continue;
                }
                while new != other {
                    while place[new] < place[other] {
                        new = join[new];
                    }
                    while place[other] < place[new] {
                        other = join[other];
                    }
                }
            }
            if join[at] != new {
                join[at] = new;
                changed = true;
            }
        }
    }
    join[..end].iter().map(|&at| if at >= end { EXIT_BLOCK } else { at as u32 }).collect()
}

fn post_order(edges: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; edges.len()];
    seen[root] = true;
    let mut stack = vec![(root, 0)];
    while let Some((at, next)) = stack.last_mut() {
        match edges[*at].get(*next) {
            Some(&to) => {
                *next += 1;
                if !seen[to] {
                    seen[to] = true;
                    stack.push((to, 0));
                }
            }
            None => {
                order.push(*at);
                stack.pop();
            }
        }
    }
    order
}

/// Returns the control dependences of each block: the blocks whose branches directly decide if it runs (Ferrante,
/// Ottenstein and Warren, "The Program Dependence Graph and Its Use in Optimization", 1987).
pub(crate) fn control_dependences(successors: &[Vec<u32>], join: &[u32]) -> Vec<Vec<u32>> {
    let mut depends = vec![Vec::new(); successors.len()];
    for (at, successors) in successors.iter().enumerate().filter(|(_, all)| all.len() > 1) {
        for &successor in successors {
            let mut runner = successor;
            while runner != EXIT_BLOCK && runner != join[at] {
                let depends: &mut Vec<u32> = &mut depends[runner as usize];
                if depends.last() != Some(&(at as u32)) {
                    depends.push(at as u32);
                }
                runner = join[runner as usize];
            }
        }
    }
    depends
}
