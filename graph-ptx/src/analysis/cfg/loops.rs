//! The loop nest of a body.
//!
//! A loop is a strongly connected component of the control flow graph (Tarjan's algorithm, iterative). The nested
//! loops are the components that remain without the header. `duration` and the detection of spinning loops use it.

use crate::analysis::cfg::Cfg;
use std::collections::HashSet;

/// Returns the loops nested in at most `most` others, each with its nesting depth, outer loops first. The blocks of a
/// loop are sorted. The first is the header; removing it leaves the loops nested inside.
///
/// # Complexity
///
/// Linear in the body for each nesting level.
pub(crate) fn loops(cfg: &Cfg, most: usize) -> Vec<(Vec<u32>, usize)> {
    let mut found = Vec::new();
    let mut work = vec![((0..cfg.blocks.len() as u32).collect::<Vec<u32>>(), 0)];
    while let Some((blocks, depth)) = work.pop() {
        for blocks in components(cfg, &blocks) {
            if depth < most {
                work.push((blocks[1..].to_vec(), depth + 1));
            }
            found.push((blocks, depth));
        }
    }
    found
}

/// Returns the cycles among some blocks: their strongly connected components (Tarjan, "Depth-first search and linear
/// graph algorithms", 1972). Each is sorted, so that the header comes first: it is first in reverse post-order.
fn components(cfg: &Cfg, blocks: &[u32]) -> Vec<Vec<u32>> {
    const NEW: u32 = u32::MAX;
    let inside: HashSet<u32> = blocks.iter().copied().collect();
    let mut number = vec![NEW; cfg.blocks.len()];
    let mut low = vec![NEW; cfg.blocks.len()];
    let mut on_stack = vec![false; cfg.blocks.len()];
    let (mut stack, mut found, mut count) = (Vec::new(), Vec::new(), 0);
    for &root in blocks {
        if number[root as usize] != NEW {
            continue;
        }
        let mut path = vec![(root, 0usize)];
        while let Some((block, next)) = path.last_mut() {
            let (at, block) = (*block as usize, *block);
            if *next == 0 {
                (number[at], low[at], on_stack[at]) = (count, count, true);
                count += 1;
                stack.push(block);
            }
            let successor = cfg.blocks[at].successors.get(*next).copied();
            *next += 1;
            match successor {
                Some(to) if !inside.contains(&to) => {}
                Some(to) if number[to as usize] == NEW => path.push((to, 0)),
                Some(to) => {
                    if on_stack[to as usize] {
                        low[at] = low[at].min(number[to as usize]);
                    }
                }
                None => {
                    path.pop();
                    if let Some(&(above, _)) = path.last() {
                        low[above as usize] = low[above as usize].min(low[at]);
                    }
                    if low[at] == number[at] {
                        let mut component = Vec::new();
                        while let Some(member) = stack.pop() {
                            on_stack[member as usize] = false;
                            component.push(member);
                            if member == block {
                                break;
                            }
                        }
                        component.sort_unstable();
                        if component.len() > 1 || cfg.blocks[at].successors.contains(&block) {
                            found.push(component);
                        }
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Names, parse};

    #[test]
    fn loops_stand_behind_those_around_them() {
        let text = ".version 8.0\n.target sm_80\n.entry k() { .reg .pred %p; A: B: nop0; C: @%p bra C; @%p bra B;\n\
            @%p bra A; D: bra D; }";
        let module = parse(text).unwrap();
        let body = module.entry("k").unwrap().body.as_ref().unwrap();
        let cfg = Cfg::new(body, &Names::new(body), &Default::default());
        let found = loops(&cfg, 9);
        let shapes: Vec<_> = found.iter().map(|(blocks, depth)| (blocks.len(), *depth)).collect();
        assert_eq!(shapes, [(1, 0), (4, 0), (1, 1)]);
        assert_eq!(loops(&cfg, 0).len(), 2);
    }
}
