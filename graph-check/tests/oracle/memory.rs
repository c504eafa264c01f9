//! Memory that records for each byte which run wrote it last.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A run of a statement: its index among the runs of the program.
pub type RunId = usize;

/// The contents of bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Undefined: fresh memory, or a register that was not set.
    Nothing,
    /// The caller's initial contents.
    Initial,
    /// The result of a run, written through this access.
    Written(RunId, usize),
    /// Updates of one class, in any order, applied to earlier contents.
    Updates { class: String, base: (ValueId, i128), by: BTreeSet<RunId> },
}

pub type ValueId = u32;

pub const NOTHING: ValueId = 0;
pub const INITIAL: ValueId = 1;

/// The distinct values.
pub struct Values {
    pub list: Vec<Value>,
    ids: HashMap<Value, ValueId>,
}

impl Values {
    pub fn new() -> Values {
        let mut values = Values { list: Vec::new(), ids: HashMap::new() };
        values.id(Value::Nothing);
        values.id(Value::Initial);
        values
    }

    pub fn id(&mut self, value: Value) -> ValueId {
        if let Some(&id) = self.ids.get(&value) {
            return id;
        }
        self.list.push(value.clone());
        self.ids.insert(value, self.list.len() as ValueId - 1);
        self.list.len() as ValueId - 1
    }

    /// Returns the value without the updates of a class, and its origin.
    pub fn without(&self, (value, origin): (ValueId, i128), class: &str) -> (ValueId, i128) {
        match &self.list[value as usize] {
            Value::Updates { class: of, base, .. } if of == class => (base.0, origin + base.1),
            _ => (value, origin),
        }
    }

    /// Returns the value after another update.
    pub fn updated(&mut self, run: RunId, class: &str, origin: i128, old: (ValueId, i128)) -> ValueId {
        let (base, by) = match &self.list[old.0 as usize] {
            Value::Updates { class: of, base, by } if of == class => {
                let mut by = by.clone();
                by.insert(run);
                ((base.0, base.1 + old.1 - origin), by)
            }
            _ => ((old.0, if old.0 == NOTHING { 0 } else { old.1 - origin }), BTreeSet::from([run])),
        };
        self.id(Value::Updates { class: class.to_owned(), base, by })
    }
}

/// An address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// The device's addresses.
    Absolute,
    /// A block with unknown address.
    Block(usize),
    /// State outside of memory.
    State(usize),
    /// A memory of its own, in an instance of a body.
    Own(usize, usize),
}

/// A byte range with one value. `origin` is the start of the memory through which it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub lo: i128,
    pub hi: i128,
    pub value: ValueId,
    pub origin: i128,
}

/// All bytes of a machine.
#[derive(Clone, Default)]
pub struct Bytes {
    spaces: HashMap<Space, BTreeMap<i128, Piece>>,
}

impl Bytes {
    /// Returns the pieces of a range, in ascending order and without gaps.
    pub fn read(&self, space: Space, lo: i128, hi: i128) -> Vec<Piece> {
        let fresh = if matches!(space, Space::Absolute | Space::State(_)) { INITIAL } else { NOTHING };
        let empty = BTreeMap::new();
        let map = self.spaces.get(&space).unwrap_or(&empty);
        let (mut at, mut pieces) = (lo, Vec::new());
        let before = map.range(..lo).next_back().map(|(_, piece)| *piece);
        let inside = map.range(lo..hi).map(|(_, piece)| *piece);
        for piece in before.into_iter().chain(inside).filter(|piece| piece.hi > lo) {
            let (from, to) = (piece.lo.max(lo), piece.hi.min(hi));
            if at < from {
                pieces.push(Piece { lo: at, hi: from, value: fresh, origin: 0 });
            }
            pieces.push(Piece { lo: from, hi: to, ..piece });
            at = to;
        }
        if at < hi {
            pieces.push(Piece { lo: at, hi, value: fresh, origin: 0 });
        }
        pieces
    }

    pub fn write(&mut self, space: Space, piece: Piece) {
        if piece.lo >= piece.hi {
            return;
        }
        let map = self.spaces.entry(space).or_default();
        let first = map.range(..piece.lo).next_back().map(|(_, one)| *one).filter(|one| one.hi > piece.lo);
        let cut: Vec<Piece> =
            first.into_iter().chain(map.range(piece.lo..piece.hi).map(|(_, one)| *one)).collect();
        for old in cut {
            map.remove(&old.lo);
            if old.lo < piece.lo {
                map.insert(old.lo, Piece { hi: piece.lo, ..old });
            }
            if old.hi > piece.hi {
                map.insert(piece.hi, Piece { lo: piece.hi, ..old });
            }
        }
        map.insert(piece.lo, piece);
    }
}
