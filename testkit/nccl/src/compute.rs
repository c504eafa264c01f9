//! Computes the results of collectives, on bytes.

/// A collective: its name, count, and numbers. For an exchange, `root` is the rank to send to, and `op` is the rank
/// to receive from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collective {
    pub name: &'static str,
    pub count: usize,
    pub element: u32,
    pub op: u32,
    pub root: u32,
}

/// Returns the bytes of an element of a type.
pub fn bytes_of(element: u32) -> Option<usize> {
    match element {
        0 | 1 => Some(1),
        2 | 3 | 7 => Some(4),
        4 | 5 | 8 => Some(8),
        6 | 9 => Some(2),
        _ => None,
    }
}

impl Collective {
    /// The names of all collectives.
    pub const NAMES: [&str; 6] =
        ["all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter", "exchange"];

    pub fn new(name: &'static str, count: usize, element: u32, op: u32, root: u32) -> Collective {
        Collective { name, count, element, op, root }
    }

    fn bytes(&self) -> usize {
        self.count * bytes_of(self.element).unwrap_or(0)
    }

    /// Returns the number of bytes that a rank contributes.
    pub fn given(&self, ranks: u32) -> usize {
        if self.name == "reduce_scatter" { self.bytes() * ranks as usize } else { self.bytes() }
    }

    /// Returns the number of bytes that a rank receives.
    pub fn taken(&self, ranks: u32, rank: u32) -> usize {
        match self.name {
            "all_gather" => self.bytes() * ranks as usize,
            "reduce" if rank != self.root => 0,
            _ => self.bytes(),
        }
    }

    /// Returns true if two ranks call matching collectives.
    pub fn fits(&self, other: &Collective) -> bool {
        let peers = self.name == "exchange";
        let own = |what: &Collective| (what.name, what.count, what.element);
        own(self) == own(other) && (peers || (self.op, self.root) == (other.op, other.root))
    }

    /// Returns the result of a rank.
    pub fn result(&self, given: &[Vec<u8>], rank: u32) -> Vec<u8> {
        let (rank, bytes) = (rank as usize, self.bytes());
        match self.name {
            "broadcast" => given[self.root as usize].clone(),
            "all_gather" => given.concat(),
            "exchange" => given[self.op as usize].clone(),
            "reduce_scatter" => {
                let parts: Vec<&[u8]> =
                    given.iter().map(|all| &all[rank * bytes..(rank + 1) * bytes]).collect();
                reduced(&parts, self.element, self.op)
            }
            _ => reduced(&given.iter().map(Vec::as_slice).collect::<Vec<_>>(), self.element, self.op),
        }
    }
}

macro_rules! by_type {
    ($parts:expr, $op:expr, $ty:ty, $size:literal, $min:expr, $max:expr, $div:expr) => {{
        let (parts, op): (&[&[u8]], u32) = ($parts, $op);
        let mut out = Vec::new();
        for at in 0..parts[0].len() / $size {
            let values = parts.iter().map(|part| {
                let bytes = &part[at * $size..(at + 1) * $size];
                <$ty>::from_ne_bytes(bytes.try_into().unwrap_or([0; $size]))
            });
            let values: Vec<$ty> = values.collect();
            let fold = |join: fn($ty, $ty) -> $ty| values.iter().copied().reduce(join).unwrap_or_default();
            let value = match op {
                0 => fold(|a, b| add(a, b)),
                1 => fold(|a, b| mul(a, b)),
                2 => fold($max),
                3 => fold($min),
                _ => $div(fold(|a, b| add(a, b)), values.len()),
            };
            out.extend_from_slice(&value.to_ne_bytes());
        }
        out
    }};
}

trait Number {
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
}
macro_rules! integers {
    ($($ty:ty)*) => {$(impl Number for $ty {
        fn add(self, other: Self) -> Self { self.wrapping_add(other) }
        fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
    })*};
}
integers!(i8 u8 i32 u32 i64 u64);
macro_rules! floats {
    ($($ty:ty)*) => {$(impl Number for $ty {
        fn add(self, other: Self) -> Self { self + other }
        fn mul(self, other: Self) -> Self { self * other }
    })*};
}
floats!(f32 f64);

fn add<T: Number>(a: T, b: T) -> T {
    a.add(b)
}

fn mul<T: Number>(a: T, b: T) -> T {
    a.mul(b)
}

fn reduced(parts: &[&[u8]], element: u32, op: u32) -> Vec<u8> {
    match element {
        0 => by_type!(parts, op, i8, 1, Ord::min, Ord::max, |sum: i8, n| sum / n as i8),
        1 => by_type!(parts, op, u8, 1, Ord::min, Ord::max, |sum: u8, n| sum / n as u8),
        2 => by_type!(parts, op, i32, 4, Ord::min, Ord::max, |sum: i32, n| sum / n as i32),
        3 => by_type!(parts, op, u32, 4, Ord::min, Ord::max, |sum: u32, n| sum / n as u32),
        4 => by_type!(parts, op, i64, 8, Ord::min, Ord::max, |sum: i64, n| sum / n as i64),
        5 => by_type!(parts, op, u64, 8, Ord::min, Ord::max, |sum: u64, n| sum / n as u64),
        7 => by_type!(parts, op, f32, 4, f32::min, f32::max, |sum: f32, n| sum / n as f32),
        8 => by_type!(parts, op, f64, 8, f64::min, f64::max, |sum: f64, n| sum / n as f64),
        narrow => of_16_bits(parts, op, narrow == 9),
    }
}

/// Reduces `f16` or `bf16` elements in `f32`.
fn of_16_bits(parts: &[&[u8]], op: u32, brain: bool) -> Vec<u8> {
    let wide: Vec<Vec<u8>> = parts
        .iter()
        .map(|part| {
            let words = part.chunks(2).map(|bytes| u16::from_ne_bytes([bytes[0], bytes[1]]));
            words.flat_map(|word| widened(word, brain).to_ne_bytes()).collect()
        })
        .collect();
    let sums = reduced(&wide.iter().map(Vec::as_slice).collect::<Vec<_>>(), 7, op);
    let sums = sums.chunks(4).map(|bytes| f32::from_ne_bytes(bytes.try_into().unwrap_or([0; 4])));
    sums.flat_map(|sum| narrowed(sum, brain).to_ne_bytes()).collect()
}

fn widened(word: u16, brain: bool) -> f32 {
    if brain {
        return f32::from_bits(u32::from(word) << 16);
    }
    let (sign, exponent, fraction) = (word >> 15, i32::from(word >> 10 & 31), f32::from(word & 1023));
    let size = if exponent == 0 {
        fraction * 2f32.powi(-24)
    } else {
        (1024.0 + fraction) * 2f32.powi(exponent - 25)
    };
    if sign == 1 { -size } else { size }
}

/// Truncates a value to 16 bits. The conversion is exact for the values that tests use.
fn narrowed(value: f32, brain: bool) -> u16 {
    if brain {
        return (value.to_bits() >> 16) as u16;
    }
    let candidates = 0..0x7c00_u16;
    let size = value.abs();
    let (mut low, mut high) = (candidates.start, candidates.end);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if widened(middle, false) <= size { low = middle } else { high = middle }
    }
    low | u16::from(value < 0.0) << 15
}
