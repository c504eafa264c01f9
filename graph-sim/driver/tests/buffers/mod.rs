//! Buffers for the interpreter, and the corpus, for tests that compare proofs with runs of kernels.

use cuweave_sim_driver::interp::{Memory, PAGE, Region};
use std::path::{Path, PathBuf};

/// Bytes of each buffer.
pub const SIZE: usize = 1 << 16;
const BASE: u64 = 0x7f00_0000_0000;
/// Far from each other, so that a wrong index hits no other buffer.
const STEP: u64 = 1 << 46;

/// One buffer for each pointer parameter, and each variable of the module.
pub struct Buffers {
    data: Vec<Vec<u64>>,
    pub shadow: Vec<Vec<u8>>,
    pages: Vec<Vec<u8>>,
    pub regions: Vec<Region>,
}

// SAFETY: the pointers of the regions are to memory that the value owns; the interpreter synchronises its threads as
// the kernels of a launch are.
#[allow(unsafe_code)]
unsafe impl Sync for Buffers {}

impl Buffers {
    pub fn new(sizes: &[usize]) -> Buffers {
        let mut buffers = Buffers { data: vec![], shadow: vec![], pages: vec![], regions: vec![] };
        for (at, &size) in sizes.iter().enumerate() {
            // Small numbers, as integers of every size and as tokens, labels and indices.
            let mut words: Vec<u64> =
                (0..size.div_ceil(8) as u64).map(|i| (i % 5) | (((i + 1) % 7) << 32)).collect();
            let mut shadow = vec![0u8; size];
            let mut pages = vec![0u8; size.div_ceil(PAGE as usize)];
            buffers.regions.push(Region {
                base: BASE + at as u64 * STEP,
                size: size as u64,
                data: words.as_mut_ptr().cast(),
                shadow: shadow.as_mut_ptr(),
                marks: shadow.as_mut_ptr(),
                pages: pages.as_mut_ptr(),
                written: true,
                writable: true,
            });
            buffers.data.push(words);
            buffers.shadow.push(shadow);
            buffers.pages.push(pages);
        }
        buffers
    }

    #[allow(dead_code)]
    pub fn flags(&self, at: usize) -> u8 {
        self.shadow[at].iter().fold(0, |all, flags| all | flags)
    }
}

impl Memory for Buffers {
    fn region(&self, address: u64) -> Option<Region> {
        self.regions
            .iter()
            .find(|region| address >= region.base && address < region.base + region.size)
            .copied()
    }

    fn print(&self, _: &str) {}
}

pub fn files() -> Vec<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx-corpus");
    let mut files = Vec::new();
    for folder in
        std::fs::read_dir(&corpus).unwrap().map(|folder| folder.unwrap().path()).filter(|path| path.is_dir())
    {
        files.extend(std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()));
    }
    // One architecture is enough: the others behave alike.
    files.retain(|file| {
        file.extension().is_some_and(|end| end == "ptx") && !file.to_string_lossy().contains(".75.")
    });
    files.sort();
    files
}
