//! Generates random programs of branches side by side, whose lengths depend on sizes.

use std::ops::RangeInclusive;

use cuweave::builder::{Scalar, Size, ToSize};
use cuweave_testkit::random::Random;

/// The largest length.
pub const LONGEST: u32 = 640;
/// The threads of a block, except in launches with one thread per item.
pub const THREADS: u32 = 64;

/// A length. Sizes are given by their indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Len {
    Of(usize),
    Times(usize, u32),
    Plus(usize, u32),
    Less(usize, u32),
    Rounded(usize, u32),
    Sum(usize, usize),
    Product(usize, usize),
    Fixed(u32),
}

impl Len {
    fn random(random: &mut Random, sizes: &[RangeInclusive<u32>]) -> Len {
        loop {
            let (one, other) = (random.below(sizes.len()), random.below(sizes.len()));
            let least = *sizes[one].start();
            let len = match random.below(20_u32) {
                0..=5 => Len::Of(one),
                6 | 7 => Len::Times(one, 2 + random.below(3_u32)),
                8 | 9 => Len::Plus(one, 1 + random.below(70_u32)),
                10 if least > 1 => Len::Less(one, 1 + random.below(least - 1)),
                11 => Len::Rounded(one, 2 + random.below(4_u32)),
                12 | 13 => Len::Sum(one, other),
                14..=18 => Len::Product(one, other),
                _ => Len::Fixed(1 + random.below(300_u32)),
            };
            let largest: Vec<u32> = sizes.iter().map(|range| *range.end()).collect();
            if len.value(&largest) <= LONGEST {
                return len;
            }
        }
    }

    /// Returns the length for these values of the sizes.
    pub fn value(self, sizes: &[u32]) -> u32 {
        match self {
            Len::Of(one) => sizes[one],
            Len::Times(one, by) => sizes[one] * by,
            Len::Plus(one, more) => sizes[one] + more,
            Len::Less(one, less) => sizes[one] - less,
            Len::Rounded(one, by) => sizes[one].div_ceil(by),
            Len::Sum(one, other) => sizes[one] + sizes[other],
            Len::Product(one, other) => sizes[one] * sizes[other],
            Len::Fixed(len) => len,
        }
    }

    /// Returns the length as an expression.
    pub fn size(self, sizes: &[Scalar<u32>]) -> Size {
        match self {
            Len::Of(one) => sizes[one].to_size(),
            Len::Times(one, by) => sizes[one] * by,
            Len::Plus(one, more) => sizes[one] + more,
            Len::Less(one, less) => sizes[one] - less,
            Len::Rounded(one, by) => sizes[one].div_ceil(by),
            Len::Sum(one, other) => sizes[one] + sizes[other],
            Len::Product(one, other) => sizes[one] * sizes[other],
            Len::Fixed(len) => len.to_size(),
        }
    }

    /// Returns the number of rows and the elements of a row.
    pub fn rows(self, sizes: &[Scalar<u32>]) -> (Size, Size) {
        match self {
            Len::Times(one, by) => (sizes[one].to_size(), by.to_size()),
            Len::Product(one, other) => (sizes[one].to_size(), sizes[other].to_size()),
            other => (1_u32.to_size(), other.size(sizes)),
        }
    }
}

/// A buffer of a branch. It has as many elements as the branch, and `extra` ones.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    pub kind: OwnKind,
    pub extra: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnKind {
    Argument,
    /// A part of an argument that all branches share. They have one length.
    Part,
    /// An allocation, written by the statement with this number.
    Temporary(u32),
}

/// The grids and blocks of the kernels that run with any.
#[derive(Clone, Copy, Debug)]
pub enum Grid {
    Blocks(u32),
    PerItem,
}

#[derive(Clone, Debug)]
pub struct Branch {
    pub len: Len,
    pub own: [Own; 2],
    pub grid: Grid,
}

/// A statement of a branch over one of its own buffers, the other, and elements that all branches read.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    Linear,
    /// By a scalar that setters change.
    Scaled,
    Mixed,
    Spread,
    /// In a grid of so many blocks, or one for every 64 elements.
    Strided(Option<u32>),
    Odd,
    Sums,
    Turned,
    Rows,
    Exchanged,
    Evened,
    /// Blocks read what others write.
    Mirrored,
    Shifted(u32),
    /// The written values depend on the grid.
    Fresh,
    Mix,
    March(u32),
    /// Through a temporary.
    Through,
    Fill,
    Copy,
    /// A call of a function with a loop of so many turns.
    Layer(u32),
    /// From the next branch, if it has the same length.
    Neighbour,
}

/// The branches that have a step.
#[derive(Clone, Copy, Debug)]
pub enum Who {
    All,
    Even,
    Only(usize),
}

#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub work: Work,
    pub who: Who,
    /// The own buffer that is read, or changed if there is one.
    pub of: usize,
    /// True if the step includes the extra elements.
    pub whole: bool,
    pub value: u32,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub sizes: Vec<RangeInclusive<u32>>,
    pub branches: Vec<Branch>,
    pub steps: Vec<Step>,
}

impl Program {
    pub fn random(seed: u64) -> Program {
        let mut random = Random::new(seed);
        let sizes: Vec<_> = (0..1 + random.below(3)).map(|_| range(&mut random)).collect();
        let count = random.choose(&[1, 1, 2, 3, 3, 5]);
        let common = Len::random(&mut random, &sizes);
        let (alike, part) = (random.below(3_u32) > 0, random.one_in(4));
        let style = grid(&mut random);
        let branches = (0..count).map(|_| {
            let len = if alike { common } else { Len::random(&mut random, &sizes) };
            let part =
                part && alike && common.value(&largest(&sizes)) as usize * count * 2 <= LONGEST as usize;
            let own = [0, 1].map(|_| own(&mut random, part));
            let grid = if random.one_in(8) { grid(&mut random) } else { style };
            Branch { len, own, grid }
        });
        let branches = branches.collect();
        let steps = (0..random.choose(&[2, 4, 7])).map(|_| step(&mut random, count)).collect();
        Program { sizes, branches, steps }
    }

    /// Returns values of the sizes: the ends of the ranges, borders of blocks, and any.
    pub fn values(&self, seed: u64, count: usize) -> Vec<Vec<u32>> {
        let mut random = Random::new(seed ^ 0x5123);
        let mut list: Vec<Vec<u32>> = vec![
            self.sizes.iter().map(|range| *range.start()).collect(),
            largest(&self.sizes),
            self.sizes.iter().map(|range| 1.max(*range.start())).collect(),
        ];
        while list.len() < count {
            let value = |range: &RangeInclusive<u32>| match random.below(4_u32) {
                0 => random.choose(&[*range.start(), *range.end()]),
                1 => {
                    let near = random.choose(&[64_u32, 128, 192, 256, 512]) / random.choose(&[1, 1, 2, 3]);
                    (near + random.below(3_u32) - 1).clamp(*range.start(), *range.end())
                }
                _ => range.start() + random.below(range.end() - range.start() + 1),
            };
            list.push(self.sizes.iter().map(value).collect());
        }
        for at in (1..list.len()).rev() {
            list.swap(at, random.below(at + 1));
        }
        list
    }
}

/// Returns the largest values.
pub fn largest(sizes: &[RangeInclusive<u32>]) -> Vec<u32> {
    sizes.iter().map(|range| *range.end()).collect()
}

fn range(random: &mut Random) -> RangeInclusive<u32> {
    let most = random.choose(&[5, 17, 24, 64, 100, 150, 200, 257, 300]);
    let least = match random.below(8_u32) {
        0 | 1 => 0,
        2 => 2 + random.below(3_u32),
        _ => 1,
    };
    least..=most
}

fn grid(random: &mut Random) -> Grid {
    match random.below(5_u32) {
        0 => Grid::PerItem,
        1 => Grid::Blocks(128),
        _ => Grid::Blocks(THREADS),
    }
}

fn own(random: &mut Random, part: bool) -> Own {
    if part {
        return Own { kind: OwnKind::Part, extra: 0 };
    }
    let extra = random.choose(&[0, 0, 0, 1, 5, 64]);
    let kind = match random.below(2_u32) {
        0 => OwnKind::Argument,
        _ => OwnKind::Temporary(random.below(5_u32)),
    };
    Own { kind, extra }
}

fn step(random: &mut Random, branches: usize) -> Step {
    let work = match random.below(25_u32) {
        0..=2 => Work::Linear,
        3 => Work::Scaled,
        4 | 5 => Work::Mixed,
        6 => Work::Spread,
        7 => Work::Strided(random.choose(&[None, None, Some(3)])),
        8 | 9 => Work::Odd,
        10 => Work::Sums,
        11 => Work::Turned,
        12 => Work::Rows,
        13 => Work::Exchanged,
        14 => Work::Evened,
        15 => Work::Mirrored,
        16 => Work::Shifted(1 + random.below(90_u32)),
        17 => Work::Fresh,
        18 => Work::Mix,
        19 => Work::March(random.below(5_u32)),
        20 | 21 => Work::Through,
        22 => random.choose(&[Work::Fill, Work::Copy]),
        23 => Work::Layer(1 + random.below(3_u32)),
        _ => Work::Neighbour,
    };
    let who = match random.below(6_u32) {
        0 => Who::Even,
        1 => Who::Only(random.below(branches)),
        _ => Who::All,
    };
    Step { work, who, of: random.below(2_usize), whole: random.one_in(4), value: 1 + random.below(9_u32) }
}
