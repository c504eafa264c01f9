//! The bytes that each block of a node touches through the accesses of a member.

use cuweave_check::certificate::{Access, Certificate, Member, Node, NodeWork, Span, TouchedBytes};

/// Byte ranges of a memory.
pub type Ranges = Vec<(i128, i128)>;

/// The bytes that one block touches through one access.
#[derive(Clone, Debug)]
pub struct BlockAccess {
    pub access: usize,
    pub reads: Ranges,
    pub writes: Ranges,
}

/// The maximum number of blocks of a node, and of pieces of a span, that are simulated. The first and the last ones
/// are among them.
const MAX_BLOCKS: usize = 12;
const MAX_PIECES: u64 = 32;

/// Returns the accesses of each block, for each member of a node. A node with one member or one block counts as
/// one block.
pub fn block_accesses(certificate: &Certificate, node: &Node) -> Vec<Vec<Vec<BlockAccess>>> {
    let NodeWork::Run { members, .. } = &node.work else { return Vec::new() };
    let split = |lane: usize| {
        let lane: Vec<&Member> = members.iter().filter(|one| one.lane == lane).collect();
        lane.len() > 1 && lane.iter().any(|one| certificate.source.statements[one.statement].multi_block)
    };
    let of = |member: &Member| {
        let accesses = &certificate.source.statements[member.statement].accesses;
        if !split(member.lane) {
            return vec![accesses.iter().enumerate().map(|(at, access)| whole(at, access)).collect()];
        }
        let lane: Vec<&Member> = members.iter().filter(|one| one.lane == member.lane).collect();
        blocks(&lane).into_iter().map(|block| part_of(accesses, member, block)).collect()
    };
    members.iter().map(of).collect()
}

fn whole(at: usize, access: &Access) -> BlockAccess {
    let range = vec![(i128::from(access.lo), i128::from(access.hi))];
    let writes = if access.effect.writes() { range.clone() } else { Vec::new() };
    BlockAccess { access: at, reads: if access.effect.reads() { range } else { Vec::new() }, writes }
}

fn part_of(accesses: &[Access], member: &Member, block: [u64; 3]) -> Vec<BlockAccess> {
    let one = |(at, access): (usize, &Access)| {
        let mut part = whole(at, access);
        if let Some(TouchedBytes { reads, writes }) = member.touches.get(at) {
            if access.effect.reads() {
                cut(&mut part.reads, reads.as_deref(), access, block);
            }
            if access.effect.writes() {
                cut(&mut part.writes, writes.as_deref(), access, block);
            }
        }
        part
    };
    accesses.iter().enumerate().map(one).collect()
}

fn cut(ranges: &mut Ranges, spans: Option<&[Span]>, access: &Access, block: [u64; 3]) {
    let Some(spans) = spans else { return };
    let (lo, hi) = (i128::from(access.lo), i128::from(access.hi));
    let all = spans.iter().flat_map(|span| pieces(span, block));
    *ranges = all.map(|(a, b)| (a.max(lo), b.min(hi))).filter(|(a, b)| a < b).collect();
}

/// Returns the bytes of a span in a block.
fn pieces(span: &Span, block: [u64; 3]) -> Ranges {
    let inside = |at: usize| {
        let axis = &span.axes[at];
        axis.first <= block[at] && block[at] - axis.first < axis.count
    };
    if !(0..3).all(inside) {
        return Vec::new();
    }
    let start = (0..3).map(|at| span.axes[at].stride * i128::from(block[at])).sum::<i128>() + span.start;
    let mut all = vec![(start, start + i128::from(span.bytes))];
    let mut within = span.within.clone();
    within.sort_by_key(|(step, _)| step.unsigned_abs());
    for (step, count) in within {
        if let [(lo, hi)] = all[..]
            && step.abs() <= hi - lo
            && count > 0
        {
            let reach = step * (i128::from(count) - 1);
            all = vec![(lo + reach.min(0), hi + reach.max(0))];
            continue;
        }
        let few = |i: &u64| count <= MAX_PIECES || *i < MAX_PIECES / 2 || *i >= count - MAX_PIECES / 2;
        let indices: Vec<u64> = (0..count.min(1 << 16)).filter(few).collect();
        let at = |(lo, hi): (i128, i128)| {
            indices.iter().map(move |&i| (lo + step * i128::from(i), hi + step * i128::from(i)))
        };
        all = all.into_iter().flat_map(at).take(4096).collect();
    }
    all
}

/// Returns the blocks of a lane that are simulated.
fn blocks(lane: &[&Member]) -> Vec<[u64; 3]> {
    let mut marks: [Vec<u64>; 3] = [vec![0, 1], vec![0], vec![0]];
    let touches = lane.iter().flat_map(|member| &member.touches);
    for span in touches.flat_map(|one| one.reads.iter().chain(&one.writes)).flatten() {
        for (at, axis) in span.axes.iter().enumerate().filter(|(_, axis)| axis.count > 0) {
            marks[at].extend([axis.first, axis.first + axis.count / 2, axis.first + axis.count - 1]);
        }
    }
    for list in &mut marks {
        list.sort_unstable();
        list.dedup();
        while list.len() > 4 {
            list.remove(list.len() / 2);
        }
    }
    let mut all = Vec::new();
    for &z in &marks[2] {
        for &y in &marks[1] {
            all.extend(marks[0].iter().map(|&x| [x, y, z]));
        }
    }
    while all.len() > MAX_BLOCKS {
        all.remove(all.len() / 2);
    }
    all
}
