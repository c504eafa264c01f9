//! All orders of some leaves that decisions about neighbours leave open (a PQ-tree: Booth and Lueker, "Testing for the
//! consecutive ones property, interval graphs, and graph planarity using PQ-tree algorithms", 1976).
//!
//! The children of a P-node stand in any order, those of a Q-node in one order or its reverse. The one operation asks
//! that some leaves stand side by side, and puts others in their place, in any order among themselves.
//!
//! Trees here are small and copied often, so a tree is one list of words, each node before its children; an operation
//! writes a new list in time linear in the old one.

/// Which orders of its leaves are left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree(Vec<u32>);

/// A leaf is its number; any other node one of these marks, and the words of its subtree.
const P: u32 = 1 << 30;
const Q: u32 = 2 << 30;
const KIND: u32 = 3 << 30;

/// How much of a subtree is among the leaves asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    None,
    Some,
    All,
}

/// What one operation on a tree works with.
#[derive(Default)]
pub(super) struct Scratch {
    /// For each word of the tree how many leaves, and how many of those asked for, are before it.
    leaves: Vec<u32>,
    asked: Vec<u32>,
    pieces: Pieces,
    chain: Pieces,
}

/// Subtrees one after the other.
#[derive(Default)]
struct Pieces {
    words: Vec<u32>,
    ends: Vec<usize>,
}

impl Pieces {
    fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
    }

    fn push(&mut self, subtree: &[u32]) {
        self.words.extend_from_slice(subtree);
        self.ends.push(self.words.len());
    }

    /// One subtree: a P-node of all that are given, or the only one itself; nothing if there are none.
    fn push_any_order<'a>(&mut self, subtrees: impl Iterator<Item = &'a [u32]> + Clone) {
        let count = subtrees.clone().count();
        if count > 1 {
            self.words.push(P | (1 + subtrees.clone().map(<[u32]>::len).sum::<usize>() as u32));
        }
        subtrees.for_each(|subtree| self.words.extend_from_slice(subtree));
        if count > 0 {
            self.ends.push(self.words.len());
        }
    }

    fn push_leaves(&mut self, leaves: &[u32]) {
        if leaves.len() > 1 {
            self.words.push(P | (1 + leaves.len() as u32));
        }
        self.words.extend_from_slice(leaves);
        self.ends.push(self.words.len());
    }

    fn get(&self, at: usize) -> &[u32] {
        let from = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[from..self.ends[at]]
    }

    /// One subtree with the pieces as children in their order, appended to `out`.
    fn write_in_order(&self, out: &mut Vec<u32>) {
        if self.ends.len() > 1 {
            // Two in any order are two in an order or its reverse.
            let kind = if self.ends.len() == 2 { P } else { Q };
            out.push(kind | (1 + self.words.len() as u32));
        }
        out.extend_from_slice(&self.words);
    }
}

impl Tree {
    /// Leaves in any order. There is at least one.
    pub fn any_order(leaves: &[u32]) -> Tree {
        let mut pieces = Pieces::default();
        pieces.push_leaves(leaves);
        Tree(pieces.words)
    }

    /// The number of words, which every operation takes time linear in.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The tree that is left if the leaves that `asked` names, at least one, have to stand side by side, and `fresh`
    /// ones, at least one, come into their place, in any order. `None` if no order has them side by side.
    pub fn replace(&self, asked: impl Fn(u32) -> bool, fresh: &[u32], scratch: &mut Scratch) -> Option<Tree> {
        self.count(&asked, scratch);
        let Scratch { leaves, asked, pieces, chain } = scratch;
        let share = |at: usize| share(&self.0, leaves, asked, at);
        let all = asked[self.0.len()];
        // The lowest node that has them all; what is above only changes its length.
        let mut above = Vec::new();
        let mut root = 0;
        while share(root) != Share::All {
            let holds = |&child: &usize| asked[child + words(self.0[child])] - asked[child] == all;
            let Some(child) = self.children(root).find(holds) else { break };
            above.push(root);
            root = child;
        }
        let end = root + words(self.0[root]);
        let subtree = |at: usize| &self.0[at..at + words(self.0[at])];
        let mut tokens = Vec::with_capacity(self.0.len() + fresh.len() + 4);
        tokens.extend_from_slice(&self.0[..root]);
        pieces.clear();
        if share(root) == Share::All {
            pieces.push_leaves(fresh);
            pieces.write_in_order(&mut tokens);
        } else if self.0[root] & KIND == P {
            let mut partial = self.children(root).filter(|&child| share(child) == Share::Some);
            let (left, right) = (partial.next(), partial.next());
            if partial.next().is_some() {
                return None;
            }
            if let Some(left) = left {
                self.chain(left, &share, pieces)?;
            }
            pieces.push_leaves(fresh);
            if let Some(right) = right {
                self.chain_reversed(right, &share, pieces, chain)?;
            }
            let others = self.children(root).filter(|&child| share(child) == Share::None);
            let at = tokens.len();
            if others.clone().next().is_some() {
                tokens.push(P);
                others.for_each(|child| tokens.extend_from_slice(subtree(child)));
                pieces.write_in_order(&mut tokens);
                tokens[at] = P | (tokens.len() - at) as u32;
            } else {
                pieces.write_in_order(&mut tokens);
            }
        } else {
            let mut stage = 0;
            for child in self.children(root) {
                match (share(child), stage) {
                    (Share::None, 0 | 2) => pieces.push(subtree(child)),
                    (Share::None, _) => {
                        stage = 2;
                        pieces.push(subtree(child));
                    }
                    (Share::All, 0) => {
                        stage = 1;
                        pieces.push_leaves(fresh);
                    }
                    (Share::All, 1) => {}
                    (Share::Some, 0) => {
                        stage = 1;
                        self.chain(child, &share, pieces)?;
                        pieces.push_leaves(fresh);
                    }
                    (Share::Some, 1) => {
                        stage = 2;
                        self.chain_reversed(child, &share, pieces, chain)?;
                    }
                    _ => return None,
                }
            }
            pieces.write_in_order(&mut tokens);
        }
        let grown = tokens.len() as i64 - root as i64 - (end - root) as i64;
        for at in above {
            tokens[at] = (i64::from(tokens[at]) + grown) as u32;
        }
        tokens.extend_from_slice(&self.0[end..]);
        Some(Tree(tokens))
    }

    /// The sets of leaves among those asked for that stand side by side in every order, as large as the nodes tell.
    pub fn together(&self, asked: impl Fn(u32) -> bool, scratch: &mut Scratch) -> Vec<Vec<u32>> {
        self.count(&asked, scratch);
        let Scratch { leaves, asked, .. } = scratch;
        let share = |at: usize| share(&self.0, leaves, asked, at);
        let mut joined = vec![false; self.0.len()];
        let mut sets: Vec<Vec<u32>> = Vec::new();
        let mut at = 0;
        while at < self.0.len() {
            let word = self.0[at];
            match share(at) {
                Share::None => at += words(word),
                Share::All => {
                    let members =
                        self.0[at..at + words(word)].iter().copied().filter(|word| word & KIND == 0);
                    match sets.last_mut().filter(|_| joined[at]) {
                        Some(last) => last.extend(members),
                        None => sets.push(members.collect()),
                    }
                    at += words(word);
                }
                Share::Some => {
                    if word & KIND == Q {
                        let mut before = Share::None;
                        for child in self.children(at) {
                            joined[child] = before == Share::All && share(child) == Share::All;
                            before = share(child);
                        }
                    }
                    at += 1;
                }
            }
        }
        sets
    }

    /// How many orders are left, as a logarithm: `factorials[k]` is that of k!, and `factorials[2]` that of 2.
    pub fn freedom(&self, factorials: &[u64]) -> u64 {
        let node = |at: usize| match self.0[at] & KIND {
            0 => 0,
            P => factorials[self.children(at).count()],
            _ => factorials[2],
        };
        (0..self.0.len()).map(node).sum()
    }

    /// The same number for two trees that leave the same orders, where leaves count as the same if `leaf` says so.
    pub fn digest(&self, leaf: impl Fn(u32) -> u64) -> u64 {
        let mut stack: Vec<u64> = Vec::new();
        for (at, &word) in self.0.iter().enumerate().rev() {
            if word & KIND == 0 {
                stack.push(mix(leaf(word)));
                continue;
            }
            let count = self.children(at).count();
            let children = stack.drain(stack.len() - count..);
            let digest = if word & KIND == P {
                mix(children.fold(P.into(), u64::wrapping_add))
            } else {
                let children: Vec<u64> = children.collect();
                let fold = |digest: u64, child: &u64| mix(digest ^ child);
                let there = children.iter().fold(Q.into(), fold);
                mix(there.wrapping_add(children.iter().rev().fold(Q.into(), fold)))
            };
            stack.push(digest);
        }
        stack.pop().unwrap_or(0)
    }

    /// The order of the leaves in which `key` rises, where one that is left has leaves of the same key side by side.
    pub fn ordered_by(&self, key: impl Fn(u32) -> u32) -> Vec<u32> {
        // The least and the greatest key of a subtree, and its leaves.
        let mut stack: Vec<((u32, u32), Vec<u32>)> = Vec::new();
        for (at, &word) in self.0.iter().enumerate().rev() {
            if word & KIND == 0 {
                stack.push(((key(word), key(word)), vec![word]));
                continue;
            }
            let count = self.children(at).count();
            let mut children: Vec<_> = stack.drain(stack.len() - count..).rev().collect();
            if word & KIND == P {
                children.sort_by_key(|child| child.0);
            } else if children[0].0 > children[count - 1].0 {
                children.reverse();
            }
            let least = children.iter().map(|child| child.0.0).min().unwrap_or(0);
            let greatest = children.iter().map(|child| child.0.1).max().unwrap_or(0);
            stack.push(((least, greatest), children.into_iter().flat_map(|child| child.1).collect()));
        }
        stack.pop().map_or_else(Vec::new, |(_, leaves)| leaves)
    }

    fn count(&self, asked: impl Fn(u32) -> bool, scratch: &mut Scratch) {
        let (mut leaves, mut found) = (0, 0);
        scratch.leaves.clear();
        scratch.asked.clear();
        for &word in &self.0 {
            scratch.leaves.push(leaves);
            scratch.asked.push(found);
            if word & KIND == 0 {
                leaves += 1;
                found += u32::from(asked(word));
            }
        }
        scratch.leaves.push(leaves);
        scratch.asked.push(found);
    }

    /// Where the children of the node at `at` stand.
    fn children(&self, at: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        let end = at + words(self.0[at]);
        let first = Some(at + 1).filter(|&child| child < end);
        std::iter::successors(first, move |&child| {
            Some(child + words(self.0[child])).filter(|&next| next < end)
        })
    }

    /// Appends what of a subtree is not asked for, if all that is can stand at its end: from the far end.
    fn chain(&self, mut at: usize, share: &impl Fn(usize) -> Share, pieces: &mut Pieces) -> Option<()> {
        let subtree = |at: usize| &self.0[at..at + words(self.0[at])];
        loop {
            let mut partial = self.children(at).filter(|&child| share(child) == Share::Some);
            let next = partial.next();
            if partial.next().is_some() {
                return None;
            }
            if self.0[at] & KIND == P {
                let others = self.children(at).filter(|&child| share(child) == Share::None);
                pieces.push_any_order(others.map(subtree));
            } else {
                let mut children: Vec<usize> = self.children(at).collect();
                let rank = |&child: &usize| match share(child) {
                    Share::None => 0,
                    Share::Some => 1,
                    Share::All => 2,
                };
                if children.first().map(rank) > children.last().map(rank) {
                    children.reverse();
                }
                if !children.iter().is_sorted_by_key(rank) {
                    return None;
                }
                let others = children.iter().filter(|&child| share(*child) == Share::None);
                others.for_each(|&child| pieces.push(subtree(child)));
            }
            match next {
                Some(child) => at = child,
                None => return Some(()),
            }
        }
    }

    fn chain_reversed(
        &self,
        at: usize,
        share: &impl Fn(usize) -> Share,
        pieces: &mut Pieces,
        chain: &mut Pieces,
    ) -> Option<()> {
        chain.clear();
        self.chain(at, share, chain)?;
        (0..chain.ends.len()).rev().for_each(|at| pieces.push(chain.get(at)));
        Some(())
    }
}

/// The words of a subtree, from its first one.
fn words(word: u32) -> usize {
    if word & KIND == 0 { 1 } else { (word & !KIND) as usize }
}

fn share(tree: &[u32], leaves: &[u32], asked: &[u32], at: usize) -> Share {
    let end = at + words(tree[at]);
    match asked[end] - asked[at] {
        0 => Share::None,
        found if found == leaves[end] - leaves[at] => Share::All,
        _ => Share::Some,
    }
}

/// Spreads a number over all bits (the finalizer of SplitMix64).
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::climb::Random;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// All orders of `leaves`.
    fn orders(leaves: &[u32]) -> Vec<Vec<u32>> {
        let mut orders = vec![Vec::new()];
        for _ in leaves {
            let longer = |order: Vec<u32>| {
                let rest: Vec<u32> = leaves.iter().copied().filter(|leaf| !order.contains(leaf)).collect();
                rest.into_iter().map(move |leaf| [&order[..], &[leaf]].concat())
            };
            orders = orders.into_iter().flat_map(longer).collect();
        }
        orders
    }

    /// The order with `fresh` in the place of `old`, if these stand side by side.
    fn replaced(order: &[u32], old: &[u32], fresh: &[u32]) -> Option<Vec<u32>> {
        let first = order.iter().position(|leaf| old.contains(leaf))?;
        let end = first + old.len();
        let together = order.get(first..end)?.iter().all(|leaf| old.contains(leaf));
        together.then(|| [&order[..first], fresh, &order[end..]].concat())
    }

    proptest! {
        /// The trees leave exactly the orders that the definition does.
        #[test]
        fn trees_are_the_orders_that_are_left(first in 1u32..6, seed in any::<u64>()) {
            let mut random = Random::new(seed);
            let mut live: Vec<u32> = (0..first).collect();
            let mut next = first;
            let mut tree = Tree::any_order(&live);
            let mut left: BTreeSet<Vec<u32>> = orders(&live).into_iter().collect();
            let mut scratch = Scratch::default();
            for _ in 0..12 {
                let mut old: Vec<u32> = live.iter().copied().filter(|_| random.below(3) == 0).collect();
                if old.is_empty() {
                    old.push(live[random.below(live.len())]);
                }
                let most = 6 - (live.len() - old.len());
                let fresh: Vec<u32> = (next..next + 1 + random.below(most.min(3)) as u32).collect();
                next += fresh.len() as u32;
                // What the tree says stands together does so in every order.
                for set in tree.together(|leaf| old.contains(&leaf), &mut scratch) {
                    prop_assert!(left.iter().all(|order| replaced(order, &set, &[]).is_some()));
                }
                let fresh_orders = orders(&fresh);
                let expected: BTreeSet<Vec<u32>> = left
                    .iter()
                    .flat_map(|order| fresh_orders.iter().filter_map(|fresh| replaced(order, &old, fresh)))
                    .collect();
                let found = tree.replace(|leaf| old.contains(&leaf), &fresh, &mut scratch);
                prop_assert_eq!(found.is_some(), !expected.is_empty());
                let Some(found) = found else { continue };
                // Every order that is left leads back to one of the tree before.
                for order in &expected {
                    let at = |leaf: u32| order.iter().position(|&other| other == leaf);
                    let block = fresh.iter().filter_map(|&leaf| at(leaf)).min().unwrap_or(0);
                    let back = tree.ordered_by(|leaf| at(leaf).unwrap_or(block) as u32);
                    prop_assert!(left.contains(&back));
                    let there = replaced(&back, &old, &order[block..block + fresh.len()]);
                    prop_assert_eq!(there.as_ref(), Some(order));
                    prop_assert_eq!(&found.ordered_by(|leaf| at(leaf).unwrap_or(0) as u32), order);
                }
                (tree, left) = (found, expected);
                live.retain(|leaf| !old.contains(leaf));
                live.extend(fresh);
                // Products instead of sums of logarithms: 2 and 3 are all the primes but 5 in what is counted here.
                let primes = |prime: u64| {
                    let power = |mut k: u64| {
                        let mut power = 0;
                        while k.is_multiple_of(prime) {
                            k /= prime;
                            power += 1;
                        }
                        power
                    };
                    let factorials: Vec<u64> = (0..8).map(|k: u64| (2..=k).map(power).sum()).collect();
                    prime.pow(tree.freedom(&factorials) as u32)
                };
                prop_assert_eq!(primes(2) * primes(3) * primes(5), left.len() as u64);
            }
        }
    }

    #[test]
    fn digests_tell_orders_apart_and_nothing_else() {
        let mut scratch = Scratch::default();
        let row = |tree: &Tree, scratch: &mut Scratch| {
            let tree = tree.replace(|leaf| leaf < 2, &[10, 11], scratch)?;
            tree.replace(|leaf| leaf == 11 || leaf == 2, &[12], scratch)
        };
        let (one, other) = (Tree::any_order(&[0, 1, 2, 3]), Tree::any_order(&[3, 1, 2, 0]));
        let (one, other) = (row(&one, &mut scratch).unwrap(), row(&other, &mut scratch).unwrap());
        assert_eq!(one.digest(u64::from), other.digest(u64::from));
        assert_ne!(one.digest(u64::from), Tree::any_order(&[10, 12, 3]).digest(u64::from));
        assert_eq!(Tree::any_order(&[4, 5]).digest(|_| 1), Tree::any_order(&[6, 7]).digest(|_| 1));
    }
}
