//! Settings from the environment, read once.

use std::sync::OnceLock;

use super::device::Device;

/// Returns the number of threads that run at the same time. Asked once: the standard library reads files of the system for it
/// each time, for longer than a small launch takes.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// The settings of a run; the crate `cuweave-sim` documents each variable.
pub struct Config {
    /// The CUDA version that the driver presents itself as.
    pub version: (u32, u32),
    /// The capability and limits of the devices.
    pub device: Device,
    /// The number of devices.
    pub devices: u32,
    /// The memory of each device, in bytes.
    pub memory: u64,
    /// The pairs of devices that are peers; `None` for all.
    pub peers: Option<Vec<(usize, usize)>>,
    /// The seed of the order in which a graph's nodes run.
    pub seed: u64,
    /// True if nodes that no path orders run at the same time.
    pub parallel: bool,
    /// True if conflicts between the threads of one kernel are errors, not warnings.
    pub strict: bool,
    /// True if a graph's allocations take the addresses of earlier ones.
    pub reuse: bool,
    /// True if reads of bytes that nothing wrote are errors.
    pub initialised: bool,
    /// The most instructions that one thread may run.
    pub instructions: u64,
    /// True if the devices allocate managed memory.
    pub managed: bool,
    /// True if host and devices access managed memory at the same time.
    pub concurrent: bool,
    /// True if the devices have multicast objects.
    pub multicast: bool,
    /// The most turns that the loops of one launch may make, all together.
    pub turns: u64,
    /// The longest time that a launch waits for a value or a semaphore, in milliseconds.
    pub patience: u64,
}

/// The memory of a device: an H200's.
const MEMORY: u64 = 150_000_000_000;
/// The most memory of a device: the addresses that there are for all of them.
const MAX_MEMORY: u64 = 1 << 46;

/// The default devices.
const H200: Device = match Device::of((9, 0)) {
    Some(device) => device,
    None => panic!("9.0 is known"),
};

fn variable<T>(name: &str, default: T, parse: impl Fn(&str) -> Option<T>) -> T {
    let Ok(text) = std::env::var(name) else { return default };
    parse(text.trim()).unwrap_or_else(|| {
        super::console::print(&format!("`{name}={text}` is not understood and ignored: the values are in the documentation of `cuweave-sim`"));
        default
    })
}

fn version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    let version = (major.parse().ok()?, minor.parse().ok()?);
    (((12, 0)..(100, 0)).contains(&version) && version.1 < 10).then_some(version)
}

fn device_of(text: &str) -> Option<Device> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    Device::of((major.parse().ok()?, minor.parse().ok()?))
}

/// Reads a number of bytes, with `K`, `M`, `G` or `T` for powers of 1,024: `64M`.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 0,
        "K" | "KIB" => 10,
        "M" | "MIB" => 20,
        "G" | "GIB" => 30,
        "T" | "TIB" => 40,
        _ => return None,
    };
    let number = digits.trim_end().parse::<u64>().ok()?.checked_mul(1 << unit)?;
    (1..=MAX_MEMORY).contains(&number).then_some(number)
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "1" | "true" => Some(true),
        "0" | "false" | "" => Some(false),
        _ => None,
    }
}

/// Reads `all` (or `1`), `none` (or `0`), or pairs of devices: `0-1,2-3`.
fn pairs(text: &str) -> Option<Option<Vec<(usize, usize)>>> {
    match text {
        "all" | "1" => return Some(None),
        "none" | "0" | "" => return Some(Some(Vec::new())),
        _ => {}
    }
    let pair = |pair: &str| {
        let (one, other) = pair.split_once('-')?;
        Some((one.trim().parse().ok()?, other.trim().parse().ok()?))
    };
    text.split(',').map(pair).collect::<Option<Vec<_>>>().map(Some)
}

/// Returns true if two devices can access each other's memory.
pub fn are_peers(one: usize, other: usize) -> bool {
    one != other
        && config()
            .peers
            .as_ref()
            .is_none_or(|pairs| pairs.contains(&(one, other)) || pairs.contains(&(other, one)))
}

/// Returns the settings.
pub fn config() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| Config {
        version: variable("CUWEAVE_SIM_VERSION", (13, 0), version),
        device: variable("CUWEAVE_SIM_CAPABILITY", H200, device_of),
        devices: variable("CUWEAVE_SIM_DEVICES", 1, |text| text.parse().ok().filter(|&count| count <= 64)),
        memory: variable("CUWEAVE_SIM_MEMORY", MEMORY, bytes),
        peers: variable("CUWEAVE_SIM_PEERS", None, pairs),
        seed: variable("CUWEAVE_SIM_SEED", 0, |text| text.parse().ok()),
        parallel: variable("CUWEAVE_SIM_PARALLEL", false, flag),
        strict: variable("CUWEAVE_SIM_STRICT", false, flag),
        reuse: variable("CUWEAVE_SIM_REUSE", true, flag),
        initialised: variable("CUWEAVE_SIM_INITIALISED", true, flag),
        instructions: variable("CUWEAVE_SIM_INSTRUCTIONS", 1 << 24, |text| text.parse().ok()),
        managed: variable("CUWEAVE_SIM_MANAGED", true, flag),
        concurrent: variable("CUWEAVE_SIM_CONCURRENT", true, flag),
        multicast: variable("CUWEAVE_SIM_MULTICAST", true, flag),
        turns: variable("CUWEAVE_SIM_TURNS", 1 << 20, |text| text.parse().ok()),
        patience: variable("CUWEAVE_SIM_PATIENCE", 10_000, |text| text.parse().ok()),
    })
}

/// Returns the description of the simulated devices.
pub fn device() -> Device {
    config().device
}

#[cfg(test)]
mod tests {
    use super::{bytes, device_of, pairs, version};

    #[test]
    fn versions_are_major_dot_minor() {
        assert_eq!(version("13.5"), Some((13, 5)));
        assert_eq!(version("12"), Some((12, 0)));
        assert_eq!(version("11.8"), None);
        assert_eq!(version("13.x"), None);
    }

    #[test]
    fn memory_is_a_number_with_a_unit() {
        assert_eq!(bytes("4096"), Some(4096));
        assert_eq!(bytes("64M"), Some(64 << 20));
        assert_eq!(bytes("2 GiB"), Some(2 << 30));
        for wrong in ["0", "-1", "64MB", "M", "1e9", "99999T"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn peers_are_pairs() {
        assert_eq!(pairs("all"), Some(None));
        assert_eq!(pairs("none"), Some(Some(Vec::new())));
        assert_eq!(pairs("0-1, 2-3"), Some(Some(vec![(0, 1), (2, 3)])));
        assert_eq!(pairs("0-1,2"), None);
    }

    #[test]
    fn devices_are_known_by_their_capability() {
        let capability = |text| device_of(text).map(|device| device.capability);
        assert_eq!(capability("8.6"), Some((8, 6)));
        assert_eq!(capability("10"), Some((10, 0)));
        assert_eq!(capability("8.5"), None);
        assert_eq!(capability("sm_80"), None);
    }
}
