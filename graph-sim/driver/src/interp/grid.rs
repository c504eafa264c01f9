//! Boxes of blocks: their sizes and coordinates, and the order in which blocks run.

/// A box of blocks in a grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockBox {
    /// The first block.
    pub from: [u32; 3],
    /// The number of blocks in each dimension.
    pub extent: [u32; 3],
}

impl BlockBox {
    /// Returns the number of blocks.
    pub(super) fn count(self) -> u64 {
        volume(self.extent)
    }

    /// Returns the nth block.
    pub(super) fn at(self, number: u64) -> [u32; 3] {
        let [x, y, z] = coordinates(number, self.extent);
        let [first_x, first_y, first_z] = self.from;
        [first_x + x, first_y + y, first_z + z]
    }
}

/// Returns the number of elements in a box.
pub(crate) fn volume(sizes: [u32; 3]) -> u64 {
    sizes.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul)
}

/// Returns the coordinates of the nth element of a box.
pub(crate) fn coordinates(number: u64, sizes: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(sizes[0].max(1)), u64::from(sizes[1].max(1)));
    [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32]
}

/// The order in which blocks run: a permutation that depends on the seed.
pub(super) struct BlockOrder {
    pub(super) count: u64,
    start: u64,
    step: u64,
}

impl BlockOrder {
    pub(super) fn new(count: u64, seed: u64) -> Self {
        if seed == 0 || count < 2 {
            return Self { count, start: 0, step: 1 };
        }
        let mixed = mix(seed);
        let mut step = mixed % count;
        while gcd(step, count) != 1 {
            step = (step + 1) % count;
        }
        Self { count, start: mix(mixed) % count, step }
    }

    pub(super) fn at(&self, number: u64) -> u64 {
        let place = u128::from(self.start) + u128::from(number) * u128::from(self.step);
        (place % u128::from(self.count)) as u64
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Mixes the bits of a seed.
pub(crate) fn mix(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}
