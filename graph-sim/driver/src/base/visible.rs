//! `CUDA_VISIBLE_DEVICES`: which of the machine's devices the process sees, and in which order.
//!
//! The rules are those of the CUDA Programming Guide, "CUDA Environment Variables". What it leaves open was measured
//! on driver 580 (CUDA 13.0).

use super::console;
use super::status::{Result, Status};

/// The visible devices: the number in the machine of each ordinal.
pub struct VisibleDevices {
    numbers: Vec<usize>,
}

impl VisibleDevices {
    /// Reads the environment of a process on a machine with `count` devices.
    pub fn from_environment(count: usize) -> Self {
        let numbers = match std::env::var("CUDA_VISIBLE_DEVICES") {
            Ok(list) => visible(&list, count),
            Err(_) => (0..count).collect(),
        };
        if numbers.is_empty() && count > 0 {
            console::print(&format!(
                "`CUDA_VISIBLE_DEVICES` hides all simulated devices (`CUWEAVE_SIM_DEVICES`: {count}); help: unset it"
            ));
        }
        VisibleDevices { numbers }
    }

    /// Returns the number of visible devices.
    pub fn count(&self) -> usize {
        self.numbers.len()
    }

    /// Checks that a device is visible, and none twice, as `cuInit` does.
    pub fn check(&self) -> Result {
        let twice = |(at, number): (usize, &usize)| self.numbers[..at].contains(number);
        if self.numbers.is_empty() {
            Err(Status::NO_DEVICE)
        } else if self.numbers.iter().enumerate().any(twice) {
            Err(Status::INVALID_DEVICE)
        } else {
            Ok(())
        }
    }

    /// Returns the number in the machine of a device.
    pub fn number(&self, ordinal: usize) -> usize {
        self.numbers.get(ordinal).copied().unwrap_or(ordinal)
    }

    /// Returns the number of a device's PCI bus.
    pub fn bus(&self, ordinal: usize) -> usize {
        self.number(ordinal) + 1
    }

    /// Returns the PCI address of a device.
    pub fn bus_id(&self, ordinal: usize) -> String {
        format!("0000:{:02X}:00.0", self.bus(ordinal))
    }

    pub fn uuid(&self, ordinal: usize) -> [u8; 16] {
        uuid_of(self.number(ordinal))
    }
}

fn uuid_of(number: usize) -> [u8; 16] {
    let mut uuid = *b"cuweave-sim-0000";
    uuid[15] = number as u8;
    uuid
}

/// Returns the numbers of the devices in a list. The list ends before its first entry that names no device. Its first
/// entry decides whether it is a list of numbers or of UUIDs.
fn visible(list: &str, count: usize) -> Vec<usize> {
    let entries = list.split(',');
    if list.starts_with(UUID_PREFIX) {
        entries.map_while(|entry| with_uuid(entry, count)).collect()
    } else {
        entries.map_while(|entry| leading_number(entry).filter(|&number| number < count)).collect()
    }
}

/// Returns the number at the start of a text, after spaces and a sign, as C's `strtol` reads it into an `int`.
fn leading_number(entry: &str) -> Option<usize> {
    let entry = entry.trim_ascii_start();
    let digits = entry.strip_prefix('+').unwrap_or(entry);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    usize::try_from(digits[..end].parse::<i64>().ok()? as i32).ok()
}

const UUID_PREFIX: &str = "GPU-";

/// Returns the only device whose UUID begins with the digits of an entry, such as `GPU-6375`.
fn with_uuid(entry: &str, count: usize) -> Option<usize> {
    let digits: String = entry
        .strip_prefix(UUID_PREFIX)?
        .chars()
        .take_while(|c| c.is_ascii_hexdigit() || *c == '-')
        .filter(|&c| c != '-')
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let text = |number| uuid_of(number).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut found = (0..count).filter(|&number| text(number).starts_with(&digits));
    let only = found.next().filter(|_| !digits.is_empty())?;
    found.next().is_none().then_some(only)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For one device these are results of an H200.
    #[test]
    fn a_list_ends_before_what_is_no_device() {
        for (list, one) in [
            ("", 0),
            ("0", 1),
            ("1", 0),
            ("0,1", 1),
            ("1,0", 0),
            ("-1", 0),
            ("0,-1", 1),
            ("a", 0),
            ("0,a", 1),
            (" 0", 1),
            ("0 ", 1),
            ("0 ,1", 1),
            ("0x0", 1),
            ("00", 1),
            ("+0", 1),
            ("GPU-0", 0),
            (",0", 0),
            ("0,", 1),
            ("NoDevFiles", 0),
            ("0.5", 1),
            ("0abc", 1),
            ("99999999999999999999", 0),
            ("4294967296", 1),
        ] {
            assert_eq!(visible(list, 1).len(), one, "{list}");
        }
        assert_eq!(visible("2,0", 3), [2, 0]);
        assert_eq!(visible("2,3,0", 3), [2]);
    }

    #[test]
    fn no_device_is_visible_twice() {
        let check = |numbers: &[usize]| VisibleDevices { numbers: numbers.to_vec() }.check();
        for twice in ["0,0", "0,00", "0,0,a", "GPU-637,GPU-63757765"] {
            assert_eq!(check(&visible(twice, 1)), Err(Status::INVALID_DEVICE), "{twice}");
        }
        assert_eq!(check(&visible("1,0", 2)), Ok(()));
        assert_eq!(check(&visible("", 2)), Err(Status::NO_DEVICE));
    }

    #[test]
    fn devices_have_uuids() {
        let full = |last: &str| format!("GPU-63757765-6176-652d-7369-6d2d303030{last}");
        assert_eq!(visible(&full("01"), 2), [1]);
        assert_eq!(visible(&full("01").to_uppercase(), 2), [1]);
        assert_eq!(visible(&[full("01"), full("00")].join(","), 2), [1, 0]);
        // A beginning is enough if no other device has it. Numbers and UUIDs do not mix.
        assert_eq!(visible("GPU-6375", 1), [0]);
        assert_eq!(visible("GPU-6375", 2), []);
        assert_eq!(visible(&format!("{},0", full("01")), 2), [1]);
        assert_eq!(visible(&format!("0,{}", full("01")), 2), [0]);
        for wrong in ["GPU-", "GPU", "gpu-6375", " GPU-6375"] {
            assert_eq!(visible(wrong, 1), [], "{wrong}");
        }
    }
}
