//! The parameter table of a batch: one parameter `.param .align A .b8 table[N]` with the arguments of all members.
//!
//! It holds the words of the search, for flat grids only, and then one record per member with its arguments.

use crate::syntax::{Parameter, StateSpace};
use std::ops::Range;

/// The limit on a launch's parameters on every device, in bytes: the limit of PTX before 8.1.
pub const SMALL_TABLE_BYTES: u32 = 4096;
/// The limit on a launch's parameters with PTX 8.1, sm_70 and CUDA 12.1 or newer, in bytes.
pub const MAX_TABLE_BYTES: u32 = 32_764;

/// A grid dimension that the members of a batch do not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// `%ctaid.y`
    Y,
    /// `%ctaid.z`
    Z,
}

impl Axis {
    /// Returns the index of the dimension: 1 or 2.
    pub fn index(self) -> usize {
        match self {
            Axis::Y => 1,
            Axis::Z => 2,
        }
    }
}

/// The arrangement of the members' blocks in the grid of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GridShape {
    /// The members have equal grids with extent 1 along this axis. The batch has the same grid with one block per
    /// member along the axis, and the index along it is the member.
    Axis(Axis),
    /// The members' blocks are consecutive in x, each member's in the order x, y, z. The grid of the batch is (total
    /// number of blocks, 1, 1); the total must be below 2^31.
    Flat,
}

/// The position of a kernel parameter in a table, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterSlot {
    /// Its offset.
    pub offset: u32,
    /// Its size.
    pub size: u32,
}

/// The layout of a batch's table. Offsets and sizes are in bytes; integers are little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchTable {
    /// The maximum number of members.
    pub capacity: u32,
    /// The size of the parameter.
    pub bytes: u32,
    /// The alignment of the parameter and of the records; divides the stride.
    pub align: u32,
    /// The distance between records.
    pub stride: u32,
    /// The offset of record 0. Record `i` belongs to member `i`; records of unused members are never read.
    pub records: u32,
    /// The position of each kernel parameter in a record.
    pub parameters: Vec<ParameterSlot>,
    /// The offset of the member's grid in a record: three `u32`, x, y, z. [`GridShape::Flat`] only.
    pub grid: Option<u32>,
    /// The offset of the members' first blocks in the table: `capacity` values of `u32`, non-decreasing from 0, then
    /// `u32::MAX` for unused members. [`GridShape::Flat`] only.
    pub starts: Option<u32>,
}

/// The maximum number of segments of a flat grid. Segments are equal ranges of blocks; each stores the members of its
/// first and last block.
const MAX_SEGMENTS: u32 = 256;

/// Lays out consecutive fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldLayout {
    /// The bytes of all fields so far.
    pub end: u64,
    /// The largest alignment, at least 4.
    pub align: u64,
}

impl FieldLayout {
    pub fn new() -> FieldLayout {
        FieldLayout { end: 0, align: 4 }
    }

    /// Adds a field. Returns its offset; `None` on overflow.
    pub fn add(&mut self, bytes: u64, align: u64) -> Option<u32> {
        self.align = self.align.max(align);
        let start = self.end.checked_next_multiple_of(align.max(1))?;
        self.end = start.checked_add(bytes)?;
        u32::try_from(start).ok()
    }

    /// Adds parameters. Returns their positions.
    pub fn add_parameters(&mut self, parameters: &[Parameter<'_>]) -> Option<Vec<ParameterSlot>> {
        let mut one = |parameter: &Parameter<'_>| {
            let size = u32::try_from(parameter.size()).ok()?;
            Some(ParameterSlot { offset: self.add(parameter.size(), parameter.align())?, size })
        };
        parameters.iter().map(&mut one).collect()
    }
}

impl BatchTable {
    /// Returns the table for `capacity` members of a kernel with these parameters. `None` if it would exceed
    /// [`MAX_TABLE_BYTES`], if `capacity` is 0, or if a parameter is not in parameter space.
    pub fn new(parameters: &[Parameter<'_>], capacity: u32, shape: GridShape) -> Option<BatchTable> {
        if capacity == 0 || parameters.iter().any(|parameter| parameter.space != StateSpace::Param) {
            return None;
        }
        let flat = shape == GridShape::Flat;
        // The search and the grid use aligned 32-bit words, so that the stride must be a multiple of 4.
        let mut fields = FieldLayout::new();
        let places = fields.add_parameters(parameters)?;
        let FieldLayout { mut end, align } = fields;
        let mut grid = None;
        if flat {
            let start = end.checked_next_multiple_of(4)?;
            grid = Some(u32::try_from(start).ok()?);
            end = start.checked_add(12)?;
        }
        let stride = end.max(1).checked_next_multiple_of(align)?;
        let starts =
            if flat { 4 * (u64::from(capacity) + 1 + u64::from(segment_count(capacity))) } else { 0 };
        let records = starts.checked_next_multiple_of(align)?;
        let bytes = stride.checked_mul(u64::from(capacity))?.checked_add(records)?;
        if bytes > u64::from(MAX_TABLE_BYTES) {
            return None;
        }
        Some(BatchTable {
            capacity,
            bytes: bytes as u32,
            align: align as u32,
            stride: stride as u32,
            records: records as u32,
            parameters: places,
            grid,
            starts: flat.then_some(0),
        })
    }

    /// Returns the offset of a member's parameter, as the kernel declares it: setters patch the table there.
    ///
    /// # Panics
    /// If the member or the parameter does not exist.
    pub fn parameter(&self, member: u32, parameter: usize) -> Range<usize> {
        let ParameterSlot { offset, size } = self.parameters[parameter];
        self.within(member, offset, size)
    }

    /// Returns the byte range of a member's grid: three `u32`. `None` unless the shape is flat.
    ///
    /// # Panics
    /// If the member does not exist.
    pub fn grid(&self, member: u32) -> Option<Range<usize>> {
        self.grid.map(|offset| self.within(member, offset, 12))
    }

    /// Returns the offset of the shift that maps a block index to its segment.
    pub(super) fn shift(&self) -> u32 {
        self.starts.unwrap_or(0) + 4 * self.capacity
    }

    /// Returns the offset of the segments: one word each, with the member of its first block in the low half and that
    /// of its last block in the high half.
    pub(super) fn segments(&self) -> u32 {
        self.shift() + 4
    }

    /// Returns the words by which a block of a flat grid finds its member, each with its offset. `firsts` are the
    /// first blocks of the members, ascending from 0, and `blocks` is the total. A block looks up its segment and
    /// searches among the members of that segment; most segments have one.
    pub fn search_words(&self, firsts: &[u32], blocks: u32) -> Vec<(u32, u32)> {
        let Some(starts) = self.starts else { return Vec::new() };
        let mut words: Vec<(u32, u32)> = (0..self.capacity)
            .map(|member| (starts + 4 * member, firsts.get(member as usize).copied().unwrap_or(u32::MAX)))
            .collect();
        let (last, count) = (blocks.saturating_sub(1), segment_count(self.capacity));
        let shift = (0..32).find(|shift| last >> shift < count).unwrap_or(31);
        words.push((self.shift(), shift));
        let member = |block: u64| {
            let block = block.min(last.into()) as u32;
            firsts.partition_point(|&first| first <= block).saturating_sub(1) as u32
        };
        for part in 0..count {
            let (begin, end) = (u64::from(part) << shift, (u64::from(part) + 1) << shift);
            words.push((self.segments() + 4 * part, member(begin) | member(end - 1) << 16));
        }
        words
    }

    fn within(&self, member: u32, offset: u32, size: u32) -> Range<usize> {
        assert!(member < self.capacity, "member {member} of {}", self.capacity);
        let start = (self.records + member * self.stride + offset) as usize;
        start..start + size as usize
    }

    /// Returns the maximum number of members whose table has at most `bytes` bytes; 0 if not even one fits. `bytes`
    /// must be at most [`MAX_TABLE_BYTES`].
    pub fn max_members(parameters: &[Parameter<'_>], shape: GridShape, bytes: u32) -> u32 {
        let Some(one) = BatchTable::new(parameters, 1, shape) else { return 0 };
        let each = one.stride + if shape == GridShape::Flat { 4 } else { 0 };
        // A segment stores member indices in 16 bits.
        let mut most = (bytes / each).min(1 << 16);
        // The search words are padded to the alignment.
        while most > 0 && BatchTable::new(parameters, most, shape).is_none_or(|table| table.bytes > bytes) {
            most -= 1;
        }
        most
    }
}

/// Returns the number of segments: several per member, so that most segments lie within one member.
fn segment_count(capacity: u32) -> u32 {
    (4 * u64::from(capacity)).next_power_of_two().min(MAX_SEGMENTS.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse;

    fn with<R>(parameters: &str, f: impl FnOnce(&[Parameter<'_>]) -> R) -> R {
        let text = format!(".version 8.0\n.target sm_80\n.entry k({parameters}) {{ ret; }}");
        f(&parse(&text).unwrap().entry("k").unwrap().parameters)
    }

    const MIXED: &str = ".param .u64 a, .param .u32 n, .param .align 16 .b8 s[24], .param .u8 c";

    #[test]
    fn parameters_keep_their_alignment() {
        let axis = with(MIXED, |p| BatchTable::new(p, 3, GridShape::Axis(Axis::Z))).unwrap();
        let places = [(0, 8), (8, 4), (16, 24), (40, 1)];
        let places = Vec::from(places.map(|(offset, size)| ParameterSlot { offset, size }));
        let expected = BatchTable {
            capacity: 3,
            bytes: 144,
            align: 16,
            stride: 48,
            records: 0,
            parameters: places.clone(),
            grid: None,
            starts: None,
        };
        assert_eq!(axis, expected);
        let flat = with(MIXED, |p| BatchTable::new(p, 3, GridShape::Flat)).unwrap();
        assert_eq!((flat.stride, flat.records, flat.bytes, flat.align), (64, 80, 272, 16));
        assert_eq!((flat.grid, flat.starts, &flat.parameters), (Some(44), Some(0), &places));
        // Three first blocks, the shift and sixteen segments: 80 bytes before the records.
        assert_eq!((flat.parameter(2, 1), flat.grid(1)), (216..220, Some(188..200)));
    }

    #[test]
    fn every_block_finds_its_member() {
        for (capacity, sizes) in [
            (1, vec![1u32]),
            (3, vec![5, 1, 7]),
            (4, vec![1, 1, 100_000]),
            (96, (1..=96).map(|size| size * size % 50 + 1).collect()),
            (300, vec![1; 299]),
            (2, vec![1 << 30, (1 << 30) - 1]),
        ] {
            let table = with(".param .u64 a", |p| BatchTable::new(p, capacity, GridShape::Flat)).unwrap();
            let firsts: Vec<u32> = sizes
                .iter()
                .scan(0, |next, size| {
                    *next += size;
                    Some(*next - size)
                })
                .collect();
            let blocks: u32 = sizes.iter().sum();
            let words: std::collections::BTreeMap<u32, u32> =
                table.search_words(&firsts, blocks).into_iter().collect();
            assert!(words.keys().all(|offset| offset + 4 <= table.records));
            let shift = words[&table.shift()];
            for block in (0..blocks).step_by((blocks as usize / 5_000).max(1)).chain([blocks - 1]) {
                let part = words[&(table.segments() + 4 * (block >> shift))];
                let (begins, ends) = (part & 0xffff, part >> 16);
                let member = firsts.partition_point(|&first| first <= block) as u32 - 1;
                assert!((begins..=ends).contains(&member), "{capacity} members, block {block}");
            }
        }
    }

    #[test]
    fn the_most_members_are_those_that_fit() {
        for parameters in ["", ".param .u32 n", MIXED, ".param .align 128 .b8 map[128]"] {
            for shape in [GridShape::Axis(Axis::Y), GridShape::Flat] {
                for bytes in [40, 300, SMALL_TABLE_BYTES, MAX_TABLE_BYTES] {
                    with(parameters, |p| {
                        let most = BatchTable::max_members(p, shape, bytes);
                        let fits =
                            |n: u32| BatchTable::new(p, n, shape).is_some_and(|table| table.bytes <= bytes);
                        assert!(most == 0 || fits(most), "{parameters} {shape:?} {bytes}: {most}");
                        assert!(!fits(most + 1), "{parameters} {shape:?} {bytes}: {most}");
                    });
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_no_table() {
        assert_eq!(
            with(".param .b8 s[32764]", |p| BatchTable::new(p, 1, GridShape::Axis(Axis::Z))).unwrap().bytes,
            32_764
        );
        assert_eq!(with(".param .b8 s[32765]", |p| BatchTable::new(p, 1, GridShape::Axis(Axis::Z))), None);
        assert_eq!(with(MIXED, |p| BatchTable::new(p, 0, GridShape::Flat)), None);
        let huge = ".param .b64 s[18446744073709551615], .param .align 1048576 .b8 t[9223372036854775808]";
        assert_eq!(with(huge, |p| BatchTable::new(p, u32::MAX, GridShape::Flat)), None);
    }
}
