//! The lattice of the points-to analysis: the possible origins of a value.
//!
//! A value is a small set of sums of origins with coefficients, or it is mixed: computed from some origins in an
//! untracked way. An origin is an abstract location with an address, or a pointer parameter. All other bits are
//! loose: a sum of loose bits may be an address, but in a sum with an origin they are only an index.

/// The number of an origin.
pub(crate) type Origin = u32;

/// A set of loose bits.
pub(crate) type LooseBits = u128;

/// The loose bit of values from unmodelled memory. The lower bits represent words of parameters that are not
/// pointers, and elements loaded through pointers.
pub(crate) const MEMORY: LooseBits = 1 << 127;

/// The maximum number of sums of a value and of origins of a sum; beyond them a value is mixed.
const MAX_SUMS: usize = 6;
const MAX_TERMS: usize = 3;

/// A sum of origins with coefficients, loose bits and a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    terms: [(Origin, i64); MAX_TERMS],
    count: u8,
    /// The loose bits. Empty if there are origins.
    pub loose: LooseBits,
    /// The words that the lower 32 bits may be a half of. Empty if there are origins.
    halves: LooseBits,
    /// The constant, if it is the same on all paths.
    pub offset: Option<i64>,
}

impl Sum {
    const PLAIN: Sum = Sum { terms: [(0, 0); MAX_TERMS], count: 0, loose: 0, halves: 0, offset: None };

    /// Returns the terms, sorted by origin, without zero coefficients.
    pub fn terms(&self) -> &[(Origin, i64)] {
        &self.terms[..self.count as usize]
    }

    /// Returns the origin if the sum is one origin plus an offset.
    pub fn direct(&self) -> Option<Origin> {
        match self.terms() {
            [(origin, 1)] => Some(*origin),
            _ => None,
        }
    }

    /// Returns true if the sum may be an address.
    pub fn may_be_address(&self) -> bool {
        self.count > 0 || self.loose != 0
    }

    /// Returns `self + factor * other`; `None` if it has too many terms.
    fn plus(&self, other: &Sum, factor: i64) -> Option<Sum> {
        let mut sum = Sum::PLAIN;
        let (mut a, mut b) = (self.terms(), other.terms());
        loop {
            let (origin, coefficient) = match (a.first(), b.first()) {
                (Some(&(x, left)), Some(&(y, right))) if x == y => {
                    (a, b) = (&a[1..], &b[1..]);
                    (x, left.wrapping_add(right.wrapping_mul(factor)))
                }
                (Some(&(x, left)), other) if other.is_none_or(|&(y, _)| x < y) => {
                    a = &a[1..];
                    (x, left)
                }
                (_, Some(&(y, right))) => {
                    b = &b[1..];
                    (y, right.wrapping_mul(factor))
                }
                _ => break,
            };
            if coefficient == 0 {
                continue;
            }
            if sum.count as usize == MAX_TERMS {
                return None;
            }
            sum.terms[sum.count as usize] = (origin, coefficient);
            sum.count += 1;
        }
        if sum.count == 0 {
            sum.loose = self.loose | if factor == 1 { other.loose } else { 0 };
        }
        sum.offset = match (self.offset, other.offset) {
            (Some(x), Some(y)) => Some(x.wrapping_add(y.wrapping_mul(factor))),
            _ => None,
        };
        Some(sum)
    }
}

/// The abstract value of a register or memory cell.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) enum Value {
    /// No value yet.
    #[default]
    Bottom,
    /// A number without origins.
    Plain,
    /// One of several sums with different terms.
    Sums(Vec<Sum>),
    /// A value computed from these origins in an untracked way. Sorted.
    Mixed(Vec<Origin>),
}

impl Value {
    pub fn constant(value: i64) -> Value {
        Value::Sums(vec![Sum { offset: Some(value), ..Sum::PLAIN }])
    }

    /// Returns the address of an origin, plus a constant.
    pub fn address(origin: Origin, offset: i64) -> Value {
        let mut sum = Sum { count: 1, offset: Some(offset), ..Sum::PLAIN };
        sum.terms[0] = (origin, 1);
        Value::Sums(vec![sum])
    }

    pub fn loose(bits: LooseBits) -> Value {
        Value::Sums(vec![Sum { loose: bits, ..Sum::PLAIN }])
    }

    pub fn mixed(mut origins: Vec<Origin>) -> Value {
        origins.sort_unstable();
        origins.dedup();
        if origins.is_empty() { Value::Plain } else { Value::Mixed(origins) }
    }

    /// Returns the constant, if it is the only possible value.
    pub fn as_constant(&self) -> Option<i64> {
        match self {
            Value::Sums(sums) if sums.len() == 1 && !sums[0].may_be_address() => sums[0].offset,
            _ => None,
        }
    }

    /// Returns the sums that may be an address. `None` for a mixed value.
    pub fn addresses(&self) -> Option<impl Iterator<Item = &Sum>> {
        let sums: &[Sum] = match self {
            Value::Sums(sums) => sums,
            Value::Mixed(_) => return None,
            _ => &[],
        };
        Some(sums.iter().filter(|sum| sum.may_be_address()))
    }

    /// Returns true if the value may be a number without known origins, other than a constant such as null.
    pub fn may_be_anything(&self) -> bool {
        match self {
            Value::Bottom => false,
            Value::Plain | Value::Mixed(_) => true,
            Value::Sums(sums) => sums.iter().any(|sum| !sum.may_be_address() && sum.offset.is_none()),
        }
    }

    /// Returns all origins of the value.
    pub fn origins(&self) -> Vec<Origin> {
        match self {
            Value::Bottom | Value::Plain => Vec::new(),
            Value::Mixed(origins) => origins.clone(),
            Value::Sums(sums) => {
                let mut origins: Vec<Origin> =
                    sums.iter().flat_map(|sum| sum.terms()).map(|term| term.0).collect();
                origins.sort_unstable();
                origins.dedup();
                origins
            }
        }
    }

    /// Returns the number of origins or sums of the value.
    pub fn len(&self) -> usize {
        match self {
            Value::Bottom | Value::Plain => 0,
            Value::Sums(sums) => sums.len(),
            Value::Mixed(origins) => origins.len(),
        }
    }

    pub fn has_origins(&self) -> bool {
        match self {
            Value::Bottom | Value::Plain => false,
            Value::Mixed(_) => true,
            Value::Sums(sums) => sums.iter().any(|sum| sum.count > 0),
        }
    }

    /// Returns the value of 32 bits that are a half of these words.
    pub fn half(bits: LooseBits) -> Value {
        Value::Sums(vec![Sum { halves: bits, ..Sum::PLAIN }])
    }

    /// Returns the words that the value may be a half of.
    pub fn halves(&self) -> LooseBits {
        self.sums().iter().fold(0, |halves, sum| halves | sum.halves)
    }

    /// Returns the loose bits of all sums.
    pub fn loose_bits(&self) -> LooseBits {
        self.sums().iter().fold(0, |loose, sum| loose | sum.loose)
    }

    /// Returns the value of the lower 32 bits, possibly extended to 64.
    pub fn lower_half(&self) -> Value {
        match self.halves() {
            halves if halves != 0 && !self.has_origins() => Value::half(halves),
            _ => Value::derived([self]),
        }
    }

    /// Returns the 64-bit value whose upper half is this one: a word may be loaded in two halves.
    pub fn upper_half(&self) -> Value {
        match self.halves() {
            halves if halves != 0 && !self.has_origins() => Value::loose(halves),
            _ => Value::derived([self]),
        }
    }

    fn sums(&self) -> &[Sum] {
        match self {
            Value::Sums(sums) => sums,
            Value::Plain => &[Sum::PLAIN],
            _ => &[],
        }
    }

    /// Joins `other` into the value. Returns true if the value changed.
    pub fn join(&mut self, other: &Value) -> bool {
        match (&mut *self, other) {
            (_, Value::Bottom) | (Value::Plain, Value::Plain) => false,
            (Value::Bottom, _) => {
                *self = other.clone();
                true
            }
            (Value::Mixed(mine), _) => {
                let more: Vec<Origin> = other
                    .origins()
                    .into_iter()
                    .filter(|origin| mine.binary_search(origin).is_err())
                    .collect();
                mine.extend(&more);
                mine.sort_unstable();
                !more.is_empty()
            }
            (_, Value::Mixed(_)) => {
                let mut origins = self.origins();
                origins.extend(other.origins());
                *self = Value::mixed(origins);
                true
            }
            _ => {
                let mut sums = self.sums().to_vec();
                let mut changed = false;
                for sum in other.sums() {
                    changed |= add(&mut sums, sum);
                }
                if changed {
                    *self = from_sums(sums);
                }
                changed
            }
        }
    }

    /// Returns `self + factor * other` in 64 bits.
    pub fn plus(&self, other: &Value, factor: i64) -> Value {
        match (self, other) {
            (Value::Bottom, _) | (_, Value::Bottom) => return Value::Bottom,
            (Value::Plain, Value::Plain) => return Value::Plain,
            (Value::Mixed(_), _) | (_, Value::Mixed(_)) => return Value::derived([self, other]),
            _ => {}
        }
        let mut sums = Vec::with_capacity(1);
        for a in self.sums() {
            for b in other.sums() {
                match a.plus(b, factor) {
                    Some(sum) => add(&mut sums, &sum),
                    None => return Value::derived([self, other]),
                };
            }
        }
        from_sums(sums)
    }

    /// Returns `self * factor` in 64 bits.
    pub fn times(&self, factor: i64) -> Value {
        match self {
            Value::Sums(_) if factor == 1 => self.clone(),
            Value::Sums(_) => Value::constant(0).plus(self, factor),
            _ => self.clone(),
        }
    }

    /// Returns the value with an unknown offset.
    pub fn moved(&self) -> Value {
        self.plus(&Value::Plain, 1)
    }

    /// Returns a value computed from others in an untracked way.
    pub fn derived<'v>(values: impl IntoIterator<Item = &'v Value>) -> Value {
        let mut origins = Vec::new();
        for value in values {
            origins.extend(value.origins());
        }
        Value::mixed(origins)
    }
}

/// Joins a sum into a set of sums with different terms. Returns true if the set changed.
fn add(sums: &mut Vec<Sum>, sum: &Sum) -> bool {
    let Some(mine) = sums.iter_mut().find(|mine| mine.terms() == sum.terms()) else {
        sums.push(*sum);
        return true;
    };
    let before = *mine;
    mine.loose |= sum.loose;
    mine.halves |= sum.halves;
    if mine.offset != sum.offset {
        mine.offset = None;
    }
    *mine != before
}

fn from_sums(sums: Vec<Sum>) -> Value {
    match &sums[..] {
        [] => Value::Bottom,
        [sum] if *sum == Sum::PLAIN => Value::Plain,
        sums if sums.len() > MAX_SUMS => {
            Value::mixed(sums.iter().flat_map(Sum::terms).map(|term| term.0).collect())
        }
        _ => Value::Sums(sums),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_and_its_base_give_the_other_pointer() {
        let (p, q) = (Value::address(1, 0), Value::address(2, 0));
        let difference = q.plus(&p, -1);
        let sums: Vec<_> = difference.addresses().unwrap().copied().collect();
        assert_eq!(sums[0].terms(), [(1, -1), (2, 1)]);
        let back = p.moved().plus(&difference, 1);
        assert_eq!(back.addresses().unwrap().next().unwrap().direct(), Some(2));
        assert_eq!(back.origins(), [2]);
    }

    #[test]
    fn beside_an_origin_loose_bits_are_an_index() {
        let index = Value::loose(MEMORY | 1);
        let address = Value::address(3, 8).plus(&index, 1);
        let sum = *address.addresses().unwrap().next().unwrap();
        assert_eq!((sum.direct(), sum.loose, sum.offset), (Some(3), 0, None));
        assert_eq!(index.times(4).addresses().unwrap().count(), 0);
    }

    #[test]
    fn joins_end() {
        // With ever new coefficients the value becomes mixed and stays mixed.
        let mut value = Value::Bottom;
        let mut next = Value::address(1, 0);
        let mut changes = 0;
        for _ in 0..100 {
            changes += usize::from(value.join(&next));
            next = next.plus(&Value::address(2, 4), 1);
        }
        assert_eq!(value, Value::Mixed(vec![1, 2]));
        assert!(changes <= MAX_SUMS + 1);
        assert!(!value.join(&Value::Plain));
    }

    #[test]
    fn a_null_pointer_is_no_second_base() {
        let mut value = Value::constant(0);
        assert!(value.join(&Value::address(7, 16)));
        assert_eq!(value.addresses().unwrap().count(), 1);
        assert_eq!(value.as_constant(), None);
    }
}
