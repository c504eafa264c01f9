//! Settings from environment variables, read once.

use std::sync::OnceLock;

use super::device::DeviceLimits;
use super::visible::VisibleDevices;

/// Returns the number of hardware threads. Cached: the standard library reads system files on each call, which
/// takes longer than a small launch.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// The settings of the process. The crate `cuweave-sim` documents each variable.
pub struct Config {
    /// The simulated CUDA version.
    pub version: (u32, u32),
    /// The compute capability and limits of the devices.
    pub device: DeviceLimits,
    /// The devices that the process sees.
    pub devices: VisibleDevices,
    /// The number of NUMA nodes of the host.
    pub numa_nodes: i32,
    /// The memory of each device in bytes.
    pub memory: u64,
    /// The pairs of peer devices, by their numbers in the machine; `None` if all devices are peers.
    pub peers: Option<Vec<(usize, usize)>>,
    /// The seed of the node order in a launch.
    pub seed: u64,
    /// True if unordered nodes of a graph run concurrently.
    pub parallel: bool,
    /// True if conflicts between the threads of one kernel are errors, not warnings.
    pub strict: bool,
    /// True if a graph's allocations may reuse the addresses of earlier ones.
    pub reuse: bool,
    /// True if reading bytes that nothing has written is an error.
    pub initialised: bool,
    /// The maximum number of instructions per thread.
    pub max_instructions: u64,
    /// True if the devices support managed memory.
    pub managed: bool,
    /// True if host and devices may access managed memory concurrently.
    pub concurrent: bool,
    /// True if the devices support multicast objects.
    pub multicast: bool,
    /// The maximum number of loop iterations in one launch, summed over its loops.
    pub max_iterations: u64,
    /// The timeout in milliseconds of a launch that waits for a value or a semaphore.
    pub wait_timeout_ms: u64,
}

/// The default memory of a device: that of an H200.
const DEFAULT_MEMORY: u64 = 150_000_000_000;
/// The maximum memory of a device. The device address range is shared by all devices.
const MAX_MEMORY: u64 = 1 << 46;

/// The default device.
const DEFAULT_DEVICE: DeviceLimits = match DeviceLimits::from_capability((9, 0)) {
    Some(device) => device,
    None => panic!("9.0 is known"),
};

fn variable<T>(name: &str, default: T, parse: impl Fn(&str) -> Option<T>) -> T {
    let Ok(text) = std::env::var(name) else { return default };
    parse(text.trim()).unwrap_or_else(|| {
        super::console::print(&format!(
            "`{name}={text}` is not understood and is ignored; help: the documentation of `cuweave-sim` lists the \
                values"
        ));
        default
    })
}

fn version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    let version = (major.parse().ok()?, minor.parse().ok()?);
    (((12, 0)..(100, 0)).contains(&version) && version.1 < 10).then_some(version)
}

fn device_of(text: &str) -> Option<DeviceLimits> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    DeviceLimits::from_capability((major.parse().ok()?, minor.parse().ok()?))
}

/// Parses a byte count with an optional suffix `K`, `M`, `G` or `T` (powers of 1,024), such as `64M`.
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

/// Parses `all` (or `1`), `none` (or `0`), or pairs of devices such as `0-1,2-3`.
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
    let number = |device| config().devices.number(device);
    let contains = |pairs: &Vec<(usize, usize)>| {
        let (a, b) = (number(one), number(other));
        pairs.contains(&(a, b)) || pairs.contains(&(b, a))
    };
    one != other && config().peers.as_ref().is_none_or(contains)
}

pub fn config() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| Config {
        version: variable("CUWEAVE_SIM_VERSION", (13, 0), version),
        device: variable("CUWEAVE_SIM_CAPABILITY", DEFAULT_DEVICE, device_of),
        devices: VisibleDevices::from_environment(variable("CUWEAVE_SIM_DEVICES", 1, |text| {
            text.parse().ok().filter(|&count| count <= 64)
        })),
        numa_nodes: variable("CUWEAVE_SIM_NUMA_NODES", 1, |text| {
            text.parse().ok().filter(|count| (1..=1024).contains(count))
        }),
        memory: variable("CUWEAVE_SIM_MEMORY", DEFAULT_MEMORY, bytes),
        peers: variable("CUWEAVE_SIM_PEERS", None, pairs),
        seed: variable("CUWEAVE_SIM_SEED", 0, |text| text.parse().ok()),
        parallel: variable("CUWEAVE_SIM_PARALLEL", false, flag),
        strict: variable("CUWEAVE_SIM_STRICT", false, flag),
        reuse: variable("CUWEAVE_SIM_REUSE", true, flag),
        initialised: variable("CUWEAVE_SIM_INITIALISED", true, flag),
        max_instructions: variable("CUWEAVE_SIM_INSTRUCTIONS", 1 << 24, |text| text.parse().ok()),
        managed: variable("CUWEAVE_SIM_MANAGED", true, flag),
        concurrent: variable("CUWEAVE_SIM_CONCURRENT", true, flag),
        multicast: variable("CUWEAVE_SIM_MULTICAST", true, flag),
        max_iterations: variable("CUWEAVE_SIM_ITERATIONS", 1 << 20, |text| text.parse().ok()),
        wait_timeout_ms: variable("CUWEAVE_SIM_TIMEOUT", 10_000, |text| text.parse().ok()),
    })
}

pub fn device() -> DeviceLimits {
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
