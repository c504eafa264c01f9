//! Explains failed module loads by inspecting the image.
//!
//! The driver rejects an unusable image with one of a few codes, and does not say which driver or device it
//! needs. The image does: PTX in its `.version` and `.target`, a cubin in its ELF header (machine 190; layout
//! in LLVM's `BinaryFormat/ELF.h`), a fat binary in the header of each member.

use std::fmt;

use cuweave_core::index::size;

use crate::cuda::{INVALID_IMAGE, INVALID_PTX, NO_BINARY_FOR_GPU, UNSUPPORTED_PTX_VERSION};

/// Major and minor.
type Version = (u32, u32);

/// An architecture: 90 for `sm_90`, and the suffix.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Architecture {
    /// `10 * major + minor` of the compute capability.
    number: u32,
    /// `a`: compatible with no other capability; `f`: compatible only within its family.
    suffix: String,
}

impl Architecture {
    fn named(name: &str) -> Option<Architecture> {
        let name = name.trim().strip_prefix("sm_")?;
        let end = name.find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len());
        let suffix = name[end..].chars().take_while(char::is_ascii_alphabetic).collect();
        Some(Architecture { number: name[..end].parse().ok()?, suffix })
    }

    fn machine(number: u32) -> Architecture {
        Architecture { number, suffix: String::new() }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.number, self.suffix)
    }
}

/// The relevant contents of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Image {
    /// PTX text.
    Text { version: Option<Version>, target: Option<Architecture> },
    /// Machine code of one architecture.
    Cubin(Option<Architecture>),
    /// Machine code and PTX of several architectures.
    Fat { machine: Vec<u32>, ptx: Vec<u32> },
    /// None of the formats that a driver accepts.
    Unknown,
}

/// The device and the driver that load the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoadTarget {
    /// The device's compute capability.
    pub capability: Version,
    /// The driver's CUDA version.
    pub driver: Version,
}

/// Explains why the driver rejected an image with this code, as lines of `note:` and `help:`, each after a line
/// break. Empty if the code is not about images or nothing is known.
pub(crate) fn explain(bytes: &[u8], code: u32, target: LoadTarget) -> String {
    if ![NO_BINARY_FOR_GPU, INVALID_PTX, UNSUPPORTED_PTX_VERSION, INVALID_IMAGE].contains(&code) {
        return String::new();
    }
    let device = format!("{}.{}", target.capability.0, target.capability.1);
    let number = 10 * target.capability.0 + target.capability.1;
    match Image::parse(bytes) {
        Image::Text { version: Some((major, minor)), .. } if code == UNSUPPORTED_PTX_VERSION => {
            let (has_major, has_minor) = target.driver;
            let note = format!(
                "\nnote: it is PTX of `.version {major}.{minor}`, and the driver has CUDA {has_major}.{has_minor}"
            );
            let help = match needed_driver((major, minor)) {
                Some((major, minor)) => format!("it needs a driver of CUDA {major}.{minor} or newer"),
                None => "it needs a newer driver".to_owned(),
            };
            format!(
                "{note}\nhelp: {help}, or a compiler (NVRTC, nvcc) of CUDA {has_major}.{has_minor} or older"
            )
        }
        Image::Text { target: Some(target), .. } if !target.runs_on(number) => {
            let help = if target.number <= number && !target.suffix.is_empty() {
                format!("compile it for `sm_{}`, which newer devices run too", target.number)
            } else {
                format!("compile it for `sm_{number}` or older")
            };
            format!(
                "\nnote: its `.target` is `{target}`, and the device has compute capability {device}\nhelp: {help}"
            )
        }
        Image::Cubin(Some(found)) if !found.is_machine_code_of(number) => format!(
            "\nnote: it is machine code of `{found}`, and the device has compute capability {device}\nhelp: \
            compile it for `sm_{number}`, or give PTX, which the driver compiles"
        ),
        Image::Fat { machine, ptx } if !(machine.is_empty() && ptx.is_empty()) => {
            let list = |what: &str, numbers: &[u32]| {
                let names: Vec<String> = numbers.iter().map(|number| format!("`sm_{number}`")).collect();
                (!names.is_empty()).then(|| format!("{what} of {}", names.join(", ")))
            };
            let parts: Vec<String> =
                [list("machine code", &machine), list("PTX", &ptx)].into_iter().flatten().collect();
            format!(
                "\nnote: it is a fat binary with {}, and the device has compute capability {device}\nhelp: add \
                `sm_{number}`, or PTX of an architecture that is no newer",
                parts.join(" and ")
            )
        }
        Image::Unknown => "\nnote: it is neither PTX nor a cubin nor a fat binary".to_owned(),
        _ => String::new(),
    }
}

/// Returns the CUDA version whose driver first supported a PTX version. Source: the release table of the PTX
/// manual.
fn needed_driver((major, minor): Version) -> Option<Version> {
    match (major, minor) {
        // PTX 7.m came with CUDA 11.m; 8.m with 12.m up to 12.5, then with 12.(m + 1); 9.m with 13.m.
        (8, 6..) => Some((12, minor + 1)),
        (7.., _) => Some((major + 4, minor)),
        _ => None,
    }
}

impl Architecture {
    /// Returns true if PTX for this architecture can be compiled for a device. `device` is `10 * major + minor`
    /// of its capability.
    fn runs_on(&self, device: u32) -> bool {
        match self.suffix.as_str() {
            "" => self.number <= device,
            "f" => self.number <= device && self.number / 10 == device / 10,
            _ => self.number == device,
        }
    }

    /// Returns true if machine code of this architecture runs on a device: same major version, and not newer.
    fn is_machine_code_of(&self, device: u32) -> bool {
        self.number / 10 == device / 10 && self.number <= device
    }
}

impl Image {
    fn parse(bytes: &[u8]) -> Image {
        if bytes.starts_with(b"\x7fELF") {
            return Image::Cubin(cubin(bytes));
        }
        if bytes.starts_with(&[0x50, 0xed, 0x55, 0xba]) {
            return fat(bytes);
        }
        // The start of the file suffices. A character may be cut at its end.
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 16)]);
        let directive =
            |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim);
        let version = directive(".version").and_then(|text| {
            let (major, minor) = text.split_once('.')?;
            Some((major.parse().ok()?, minor.split_whitespace().next()?.parse().ok()?))
        });
        let target = directive(".target").and_then(|text| Architecture::named(text.split(',').next()?));
        match (version, target) {
            (None, None) => Image::Unknown,
            (version, target) => Image::Text { version, target },
        }
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Returns the architecture from the flags of a cubin's header: the lowest byte, or the second one since ABI
/// version 8, which CUDA 13 writes.
fn cubin(bytes: &[u8]) -> Option<Architecture> {
    const CUDA: u32 = 190;
    if half(bytes, 18)? != CUDA {
        return None;
    }
    let flags = word(bytes, 48)?;
    let number = if *bytes.get(8)? >= 8 { flags >> 8 & 0xff } else { flags & 0xff };
    Some(Architecture::machine(number))
}

/// Parses a fat binary: a header with its own size, then members with a header each.
fn fat(bytes: &[u8]) -> Image {
    const PTX: u32 = 1;
    const ELF: u32 = 2;
    let (mut machine, mut ptx) = (Vec::new(), Vec::new());
    let mut at = size(half(bytes, 6).unwrap_or(16));
    let member = |at: usize| {
        let size = u64::from(word(bytes, at + 4)?).checked_add(long(bytes, at + 8)?)?;
        Some((half(bytes, at)?, word(bytes, at + 28)?, usize::try_from(size).ok()?))
    };
    while let Some((kind, number, size)) = member(at) {
        match kind {
            PTX => ptx.push(number),
            ELF => machine.push(number),
            _ => break,
        }
        match at.checked_add(size) {
            Some(next) if size > 0 => at = next,
            _ => break,
        }
    }
    Image::Fat { machine, ptx }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOPPER: LoadTarget = LoadTarget { capability: (9, 0), driver: (13, 0) };

    fn text(version: &str, target: &str) -> Vec<u8> {
        format!("// made by hand\n.version {version}\n.target {target}\n.address_size 64\n").into_bytes()
    }

    /// Returns a cubin's header as NVRTC 12.9 (ABI 7) and 13.0 (ABI 8) write it.
    fn header(abi: u8, flags: u32) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..4].copy_from_slice(b"\x7fELF");
        bytes[8] = abi;
        bytes[18] = 190;
        bytes[48..52].copy_from_slice(&flags.to_le_bytes());
        bytes
    }

    fn fat_binary(members: &[(u16, u32)]) -> Vec<u8> {
        let mut bytes = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
        bytes.extend((cuweave_core::index::wide(members.len()) * 72).to_le_bytes());
        for &(kind, number) in members {
            let mut member = vec![0; 72];
            member[..2].copy_from_slice(&kind.to_le_bytes());
            member[4..8].copy_from_slice(&64u32.to_le_bytes());
            member[8..16].copy_from_slice(&8u64.to_le_bytes());
            member[28..32].copy_from_slice(&number.to_le_bytes());
            bytes.extend(member);
        }
        bytes
    }

    #[test]
    fn ptx_of_another_time_or_architecture() {
        let new = explain(&text("9.4", "sm_90"), UNSUPPORTED_PTX_VERSION, HOPPER);
        assert_eq!(
            new,
            "\nnote: it is PTX of `.version 9.4`, and the driver has CUDA 13.0\nhelp: it needs a driver of CUDA \
            13.4 or newer, or a compiler (NVRTC, nvcc) of CUDA 13.0 or older"
        );
        assert!(
            explain(&text("8.7", "sm_90"), UNSUPPORTED_PTX_VERSION, HOPPER).contains("CUDA 12.8 or newer")
        );
        assert_eq!(
            explain(&text("8.6", "sm_100a, debug"), NO_BINARY_FOR_GPU, HOPPER),
            "\nnote: its `.target` is `sm_100a`, and the device has compute capability 9.0\nhelp: compile it \
            for `sm_90` or older"
        );
        let older = LoadTarget { capability: (12, 0), ..HOPPER };
        assert!(
            explain(&text("8.6", "sm_90a"), INVALID_PTX, older).contains("compile it for `sm_90`, which")
        );
        assert!(explain(&text("8.8", "sm_100f"), INVALID_PTX, older).contains("`sm_100f`"));
        // The image is for this device, so the compiler's log has the reason.
        for target in ["sm_50", "sm_90", "sm_90a"] {
            assert_eq!(explain(&text("8.4", target), INVALID_PTX, HOPPER), "", "{target}");
        }
    }

    #[test]
    fn machine_code_of_another_architecture() {
        let says = |abi, flags| explain(&header(abi, flags), NO_BINARY_FOR_GPU, HOPPER);
        assert!(says(7, 0x0050_0550).contains("machine code of `sm_80`"), "{}", says(7, 0x0050_0550));
        assert!(says(8, 0x0000_6402).contains("machine code of `sm_100`"), "{}", says(8, 0x0000_6402));
        assert_eq!(says(7, 0x005a_055a), "");
        let fat = explain(&fat_binary(&[(2, 80), (2, 86), (1, 100)]), NO_BINARY_FOR_GPU, HOPPER);
        assert!(fat.contains("machine code of `sm_80`, `sm_86` and PTX of `sm_100`"), "{fat}");
    }

    #[test]
    fn no_bytes_are_too_few() {
        let images = [text("8.4", "sm_100"), header(7, 80), fat_binary(&[(2, 80), (1, 100)])];
        for image in images {
            for end in 0..image.len() {
                explain(&image[..end], NO_BINARY_FOR_GPU, HOPPER);
            }
        }
        assert!(explain(b"what", INVALID_IMAGE, HOPPER).contains("neither PTX"));
        assert_eq!(explain(b"what", 2, HOPPER), "", "out of memory is no fault of the image");
    }
}
