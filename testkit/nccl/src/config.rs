//! The configuration of a communicator, in the layouts of the NCCL versions.

/// The size of `ncclConfig_t` in bytes, each with the first version that has it.
const SIZES: [(u32, usize); 8] = [
    (21_400, 24),
    (21_700, 40),
    (21_800, 48),
    (22_600, 48),
    (22_700, 72),
    (22_800, 80),
    (22_900, 88),
    (23_000, 96),
];
/// The offset of `graphUsageMode`.
const GRAPH_USAGE: usize = 80;
/// The offsets of strings, which this library does not support.
const TEXTS: [usize; 2] = [32, 48];

/// The version of this library, 22809 for 2.28.9.
pub fn version() -> u32 {
    std::env::var("CUWEAVE_TEST_NCCL").ok().and_then(|text| text.parse().ok()).unwrap_or(22_809)
}

fn size_of(version: u32) -> usize {
    SIZES.iter().rev().find(|(from, _)| version >= *from).map_or(0, |&(_, size)| size)
}

pub struct Config {
    /// True if events order work in graphs with work outside of them.
    pub mixing: bool,
}

/// Reads the part of a configuration that this version knows.
///
/// # Safety
///
/// The configuration must have the size that its first field states.
pub unsafe fn read(config: *const u8) -> Result<Config, String> {
    // SAFETY: a configuration begins with its size.
    let size = unsafe { config.cast::<usize>().read_unaligned() };
    if !(24..=256).contains(&size) {
        return Err(format!("a configuration of {size} bytes"));
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(config, size) };
    let number = |at: usize| i32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let (magic, header) = (number(8) as u32, number(12) as u32);
    if magic != 0xcafe_beef || size_of(header) != size {
        return Err(format!("a configuration of {size} bytes says that it is of version {header}"));
    }
    let mut mixing = true;
    let end = size.min(size_of(version()));
    for at in (16..end).step_by(4) {
        let value = number(at);
        let of_text = TEXTS.iter().any(|text| (*text..text + 8).contains(&at));
        // An 8-byte string is aligned, so there is padding in front of it.
        let padding = (at == 20 && size == 24) || (at == 44 && header < 22_600);
        match (at, value) {
            (GRAPH_USAGE, i32::MIN | 2) => {}
            (GRAPH_USAGE, 0 | 1) => mixing = false,
            _ if padding || (of_text && value == 0) || (!of_text && value == i32::MIN) => {}
            _ => return Err(format!("the value {value} at {at} of a configuration")),
        }
    }
    Ok(Config { mixing })
}
