//! Memory for the interpreter, for tests that compare kernels with facts that an analysis proved about them.

use cuweave_ptx::{Function, TypeClass};
use cuweave_sim_driver::interp::{Entry, GlobalMemory, PAGE, Program, Region};

const BASE: u64 = 0x7f00_0000_0000;
/// The distance between buffers. A wrong index hits no other buffer.
const STEP: u64 = 1 << 44;

/// Buffers of 64-bit words.
#[derive(Default)]
pub struct Buffers {
    pub data: Vec<Vec<u64>>,
    pub shadow: Vec<Vec<u8>>,
    pages: Vec<Vec<u8>>,
    pub regions: Vec<Region>,
}

// SAFETY: the value owns the memory of the regions. The interpreter synchronises its threads like those of a
// launch.
#[allow(unsafe_code)]
unsafe impl Sync for Buffers {}

impl Buffers {
    /// Adds a buffer and returns its address.
    pub fn add(&mut self, mut words: Vec<u64>) -> u64 {
        let size = 8 * words.len();
        let (mut shadow, mut pages) = (vec![0u8; size], vec![0u8; size.div_ceil(PAGE as usize)]);
        let base = BASE + self.regions.len() as u64 * STEP;
        self.regions.push(Region {
            base,
            size: size as u64,
            data: words.as_mut_ptr().cast(),
            shadow: shadow.as_mut_ptr(),
            marks: shadow.as_mut_ptr(),
            pages: pages.as_mut_ptr(),
            written: true,
            writable: true,
        });
        self.data.push(words);
        self.shadow.push(shadow);
        self.pages.push(pages);
        base
    }
}

/// Returns small numbers that are valid as integers of every size, tokens, labels and indices. They depend on
/// `seed`.
pub fn small_numbers(bytes: usize, seed: u64) -> Vec<u64> {
    (0..bytes.div_ceil(8) as u64).map(|i| ((i + seed) % 5) | (((i + 1) % 7) << 32)).collect()
}

/// Returns a buffer of small numbers for each pointer parameter, followed by one for each variable of the
/// program.
#[allow(dead_code)]
pub fn for_launch(program: &Program, pointers: usize, bytes: usize) -> Buffers {
    let mut buffers = Buffers::default();
    let variables = program.variables.iter().map(|variable| (variable.bytes as usize).max(8));
    for bytes in std::iter::repeat_n(bytes, pointers).chain(variables) {
        buffers.add(small_numbers(bytes, 0));
    }
    buffers
}

/// Returns the bytes of a launch's parameters and the value of each: the address of its buffer, 1.5, or `number`.
#[allow(dead_code)]
pub fn arguments(
    function: &Function<'_>,
    entry: &Entry,
    pointers: &[bool],
    buffers: &Buffers,
    number: u64,
) -> (Vec<u8>, Vec<u64>) {
    let (mut bytes, mut values) = (vec![0u8; entry.parameter_bytes], vec![0u64; pointers.len()]);
    for (at, &(offset, size)) in entry.parameters.iter().enumerate() {
        values[at] = match (pointers[at], function.parameters[at].class()) {
            (true, _) => buffers.regions[at].base,
            (_, TypeClass::Float) if size == 4 => u64::from(1.5f32.to_bits()),
            (_, TypeClass::Float) => 1.5f64.to_bits(),
            _ => number,
        };
        let count = size.min(8);
        bytes[offset..offset + count].copy_from_slice(&values[at].to_le_bytes()[..count]);
    }
    (bytes, values)
}

impl GlobalMemory for Buffers {
    fn region(&self, address: u64) -> Option<Region> {
        self.regions
            .iter()
            .find(|region| (region.base..region.base + region.size).contains(&address))
            .copied()
    }

    fn print(&self, _: &str) {}
}
