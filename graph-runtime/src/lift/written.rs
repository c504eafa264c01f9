//! Finds what nodes read of memory that nodes allocate, before anything has written it, and transfers whose bytes
//! nothing reads.

use std::ops::Range;

use super::accesses::NodeAccess;
use super::analysis::Analysed;
use super::findings::Finding;
use super::memory::MemoryId;

/// Addresses, as ranges without overlap in ascending order.
#[derive(Clone, Debug, Default)]
struct Addresses(Vec<Range<u64>>);

impl Addresses {
    fn add(&mut self, new: &Range<u64>) {
        let mut all = new.clone();
        self.0.retain(|range| {
            let touches = range.start <= all.end && all.start <= range.end;
            if touches {
                all = range.start.min(all.start)..range.end.max(all.end);
            }
            !touches
        });
        let at = self.0.partition_point(|range| range.start < all.start);
        self.0.insert(at, all);
    }

    fn contain(&self, range: &Range<u64>) -> bool {
        range.is_empty() || self.0.iter().any(|known| known.start <= range.start && range.end <= known.end)
    }

    fn meet(&self, range: &Range<u64>) -> bool {
        self.0.iter().any(|known| known.start < range.end && range.start < known.end)
    }
}

impl Analysed {
    /// Returns true for each allocation of a node whose contents are proved to be written before they are read: by
    /// accesses of exactly the bytes that launches declare. Adds the reads that nothing before may have written.
    pub fn find_unwritten(&mut self) -> Vec<bool> {
        let mut proved = vec![true; self.memory.list.len()];
        let mut found = Vec::new();
        for (memory, all) in self.memory.list.iter().enumerate() {
            if all.nodes.is_none() {
                continue;
            }
            let (mut written, mut maybe) = (Addresses::default(), Addresses::default());
            for (node, used) in self.uses.iter().enumerate() {
                if used.kept.is_some() && self.nodes.list[node].is_unknown() {
                    // It may write what it likes of memory that lives then.
                    maybe.add(&all.addresses);
                    continue;
                }
                if used.touched.contains(&memory) || used.kept.is_some() && used.uses(memory) {
                    // A kept node takes all of it as written, or all as not.
                    proved[memory] &= written.0.is_empty() || written.contain(&all.addresses);
                    written.add(&all.addresses);
                    maybe.add(&all.addresses);
                    continue;
                }
                for access in used.accesses.iter().filter(|access| access.memory == memory) {
                    if access.reads && access.reads_first && !maybe.meet(&access.bytes) {
                        found.push(Finding::Unwritten { access: self.found(node, access) });
                    }
                    if !written.contain(&access.declared) {
                        proved[memory] &=
                            access.is_write && access.writes_all && access.written == access.declared;
                    }
                }
                for access in used.accesses.iter().filter(|access| access.memory == memory && access.writes) {
                    maybe.add(&access.bytes);
                    if access.writes_all {
                        written.add(&access.written);
                    }
                }
            }
        }
        self.findings.extend(found);
        proved
    }

    /// Adds the copies and fills whose bytes a later transfer overwrites before anything may read them.
    pub fn find_overwritten(&mut self) {
        let mut found = Vec::new();
        for (node, used) in self.uses.iter().enumerate() {
            let transferred = |access: &&NodeAccess| access.writes && access.parameter.is_none();
            let Some(write) = used.accesses.iter().find(transferred) else { continue };
            let after = self.uses.iter().enumerate().skip(node + 1);
            for (later, other) in after {
                let same = other.accesses.iter().filter(|access| access.memory == write.memory);
                let meets = |access: &&NodeAccess| {
                    access.bytes.start < write.bytes.end && write.bytes.start < access.bytes.end
                };
                let mut meeting = same.filter(meets).peekable();
                let unknown =
                    other.kept.is_some() && other.accesses.iter().all(|access| access.parameter.is_some());
                if meeting.peek().is_none() && !unknown {
                    continue;
                }
                let covers = |access: &NodeAccess| {
                    access.writes_all
                        && !access.reads
                        && access.written.start <= write.bytes.start
                        && write.bytes.end <= access.written.end
                };
                if !unknown && self.nodes.is_before(node, later) && meeting.all(covers) {
                    let list = &self.nodes.list;
                    let name = list[node].name().to_owned();
                    found.push(Finding::Overwritten {
                        node: list[node].number,
                        name,
                        by: list[later].number,
                    });
                }
                break;
            }
        }
        self.findings.extend(found);
    }
}

impl super::accesses::NodeUse {
    /// Returns true if the node uses an allocation.
    pub fn uses(&self, memory: MemoryId) -> bool {
        self.touched.contains(&memory) || self.accesses.iter().any(|access| access.memory == memory)
    }
}
