//! The random number generator.

/// A random number generator (xorshift64*). The same seed yields the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

/// An integer type for bounds of random numbers.
pub trait Bound: Copy {
    /// Returns the value as 64 bits. The value must not be negative.
    fn widen(self) -> u64;
    /// Converts a value that is less than a bound of this type.
    fn narrow(value: u64) -> Self;
}

macro_rules! bounds {
    ($($ty:ty)*) => {$(
        impl Bound for $ty {
            fn widen(self) -> u64 {
                self.try_into().expect("a bound that is not negative")
            }

            fn narrow(value: u64) -> Self {
                value.try_into().expect("a value below a bound of this type")
            }
        }
    )*};
}
bounds! { i32 u32 u64 usize }

impl Random {
    /// Returns a generator. Similar seeds yield unrelated sequences.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.bits() << 33 | self.bits() << 2 | self.bits() & 3
    }

    /// Returns 31 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33
    }

    /// Returns a number below `end`, which must be at most 2^31. Returns 0 if `end` is 0.
    pub fn below<T: Bound>(&mut self, end: T) -> T {
        T::narrow(self.bits() % end.widen().max(1))
    }

    /// Returns true with probability 1 / `end`.
    pub fn one_in<T: Bound>(&mut self, end: T) -> bool {
        self.below(end).widen() == 0
    }

    /// Returns one of the values.
    pub fn choose<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Returns a number from -1 to 1, a multiple of 1/1000.
    pub fn float(&mut self) -> f32 {
        self.below(2001_u32) as f32 / 1000.0 - 1.0
    }

    /// Returns `count` such numbers.
    pub fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.float()).collect()
    }
}
