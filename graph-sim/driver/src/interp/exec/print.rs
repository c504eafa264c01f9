//! Functions of the device runtime: `vprintf`, `__assertfail`, `malloc`, `free` and `cudaGraphSetConditional`.

use super::access::{AccessKind, ThreadMemory, read, write};
use super::block::Block;
use super::lane_fault::LaneFault;
use super::lanes::Lanes;
use super::warp::Warp;
use super::worker::Worker;
use crate::interp::code::{CallSite, Callee, ParameterPlace};
use crate::interp::fault::FaultKind;
use crate::interp::space::ConditionSetter;

/// The maximum length of a text.
const MAX_TEXT_BYTES: usize = 1 << 16;

/// Executes a call of a function of the device runtime, one lane after the other.
pub fn system(
    warp: &mut Warp,
    worker: &mut Worker,
    block: &mut Block,
    call: &CallSite,
    base: usize,
    active: u32,
) -> Result<(), LaneFault> {
    for lane in Lanes(active) {
        let mut arguments = [0u64; 5];
        for (value, place) in arguments.iter_mut().zip(&call.arguments) {
            *value = argument(warp, *place, base, lane);
        }
        let own = warp.thread_memory(block, lane);
        let result = match call.callee {
            Callee::Print => {
                let (text, count) = printed(worker, &own, &arguments).map_err(|fault| fault.of_lane(lane))?;
                worker.memory.print(&text);
                count
            }
            Callee::Assert => return Err(failed(worker, &own, &arguments).of_lane(lane)),
            Callee::SetCondition => {
                let thread = warp.number * 32 + lane;
                let (block, epoch, pre_wait) = (block.number, block.epoch, block.pre_wait);
                let by = ConditionSetter { block, thread, epoch, pre_wait };
                let set = worker.memory.set_condition(arguments[0], arguments[1] as u32, by);
                set.map_err(|what| LaneFault::new(FaultKind::Bounds, what).of_lane(lane))?;
                0
            }
            Callee::Malloc | Callee::Free | Callee::Function(_) | Callee::Address(_) => 0,
        };
        if let Some(place) = call.returns.first() {
            answer(warp, *place, base, lane, result);
        }
    }
    Ok(())
}

fn argument(warp: &mut Warp, place: ParameterPlace, base: usize, lane: u32) -> u64 {
    match place {
        ParameterPlace::Register(slot) => warp.rows[base + slot as usize][lane as usize],
        ParameterPlace::Frame(offset, size) => {
            let bytes = warp.local.frame(lane, offset, size.min(8));
            bytes.map_or(0, |place| read(place, size.min(8)))
        }
    }
}

fn answer(warp: &mut Warp, place: ParameterPlace, base: usize, lane: u32, value: u64) {
    match place {
        ParameterPlace::Register(slot) => warp.set(base, slot, lane, value),
        ParameterPlace::Frame(offset, size) => {
            if let Some(place) = warp.local.frame(lane, offset, size.min(8)) {
                write(place, size.min(8), value);
            }
        }
    }
}

/// Returns the text of a `vprintf` and the number of its arguments.
fn printed(worker: &mut Worker, own: &ThreadMemory, arguments: &[u64]) -> Result<(String, u64), LaneFault> {
    let format = worker.regions.text(arguments[0], MAX_TEXT_BYTES, own)?;
    let mut count = 0u64;
    let (text, strings) = {
        let mut next = arguments[1];
        let value = |bytes| {
            count += 1;
            argument_at(worker, own, &mut next, bytes)
        };
        print(&format, value, |_| Ok(Vec::new()))?
    };
    if strings.is_empty() {
        return Ok((text, count));
    }
    let mut texts = Vec::new();
    for address in strings {
        texts.push(worker.regions.text(address, MAX_TEXT_BYTES, own)?);
    }
    let (mut texts, mut next) = (texts.into_iter(), arguments[1]);
    let value = |bytes| argument_at(worker, own, &mut next, bytes);
    let (text, _) = print(&format, value, |_| Ok(texts.next().unwrap_or_default()))?;
    Ok((text, count))
}

/// Reads the next argument of a `vprintf`, of 4 or 8 bytes, and advances `next`.
fn argument_at(
    worker: &mut Worker,
    own: &ThreadMemory,
    next: &mut u64,
    bytes: u64,
) -> Result<u64, LaneFault> {
    *next = next.wrapping_add(bytes - 1) & !(bytes - 1);
    let place = worker.regions.resolve(*next, bytes as u32, AccessKind::Read, own)?;
    *next = next.wrapping_add(bytes);
    Ok(read(place, bytes as u32))
}

/// Returns the fault of a failed assertion.
fn failed(worker: &mut Worker, own: &ThreadMemory, arguments: &[u64]) -> LaneFault {
    let mut words = Vec::new();
    for address in [arguments[0], arguments[1], arguments[3]] {
        match worker.regions.text(address, MAX_TEXT_BYTES, own) {
            Ok(text) => words.push(String::from_utf8_lossy(&text).into_owned()),
            Err(fault) => return fault,
        }
    }
    let line = arguments[2] as u32;
    let what = format!("assertion `{}` failed in `{}` ({}:{line})", words[0], words[2], words[1]);
    LaneFault::new(FaultKind::Trap, what)
}

/// Formats like `printf`. `value` returns the next argument of 4 or 8 bytes, and `string` the text at an address.
/// Collects the addresses of strings.
fn print(
    format: &[u8],
    mut value: impl FnMut(u64) -> Result<u64, LaneFault>,
    mut string: impl FnMut(u64) -> Result<Vec<u8>, LaneFault>,
) -> Result<(String, Vec<u64>), LaneFault> {
    let mut text = String::new();
    let mut strings = Vec::new();
    let format = String::from_utf8_lossy(format);
    let mut rest = format.as_ref();
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.find(|c: char| c.is_ascii_alphabetic() && !"hlLqjzt".contains(c) || c == '%');
        let Some(end) = end else {
            text.push('%');
            break;
        };
        let (spec, kind) = (&rest[..end], rest.as_bytes()[end]);
        rest = &rest[end + 1..];
        if kind == b'%' {
            text.push('%');
            continue;
        }
        let conversion = Conversion::read(spec, kind, &mut value)?;
        let (sign, body) = conversion.convert(&mut value, &mut string, &mut strings)?;
        text.push_str(&conversion.pad(sign, body));
    }
    text.push_str(rest);
    Ok((text, strings))
}

/// A conversion specification of a format, such as `%-8.3f`.
struct Conversion<'f> {
    /// The text between `%` and the letter.
    spec: &'f str,
    /// The letter.
    kind: u8,
    flags: &'f str,
    left: bool,
    width: usize,
    precision: Option<usize>,
    /// True if the integer has 8 bytes.
    long: bool,
}

impl<'f> Conversion<'f> {
    /// Parses a conversion specification. `value` returns the next argument, which `*` consumes.
    fn read(
        spec: &'f str,
        kind: u8,
        value: &mut impl FnMut(u64) -> Result<u64, LaneFault>,
    ) -> Result<Conversion<'f>, LaneFault> {
        let flags = spec.len() - spec.trim_start_matches(['-', '+', ' ', '#', '0']).len();
        let (flags, sizes) = spec.split_at(flags);
        let sizes = sizes.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let long = spec.contains(['l', 'j', 'z', 't', 'q']);
        let (width, precision) = match sizes.split_once('.') {
            Some((width, precision)) => (width, Some(precision)),
            None => (sizes, None),
        };
        let mut number = |part: &str| -> Result<Option<i64>, LaneFault> {
            Ok(match part {
                "*" => Some(i64::from(value(4)? as i32)),
                part => part.parse().ok(),
            })
        };
        let width = number(width)?.unwrap_or(0);
        let precision = match precision {
            Some(precision) => Some(number(precision)?.unwrap_or(0).clamp(0, 200) as usize),
            None => None,
        };
        let left = flags.contains('-') || width < 0;
        let width = width.unsigned_abs().min(200) as usize;
        Ok(Conversion { spec, kind, flags, left, width, precision, long })
    }

    /// Returns true for a negative number, and the text of its absolute value.
    fn convert(
        &self,
        value: &mut impl FnMut(u64) -> Result<u64, LaneFault>,
        string: &mut impl FnMut(u64) -> Result<Vec<u8>, LaneFault>,
        strings: &mut Vec<u64>,
    ) -> Result<(bool, String), LaneFault> {
        let integer = |bits: u64, signed: bool| -> (bool, u64) {
            match (signed, self.long) {
                (true, true) => ((bits as i64) < 0, (bits as i64).unsigned_abs()),
                (true, false) => ((bits as i32) < 0, (bits as i32).unsigned_abs().into()),
                (false, true) => (false, bits),
                (false, false) => (false, bits & 0xffff_ffff),
            }
        };
        let bytes = if self.long { 8 } else { 4 };
        Ok(match self.kind {
            b'd' | b'i' => {
                let (negative, size) = integer(value(bytes)?, true);
                (negative, size.to_string())
            }
            b'u' => (false, integer(value(bytes)?, false).1.to_string()),
            b'x' => (false, format!("{:x}", integer(value(bytes)?, false).1)),
            b'X' => (false, format!("{:X}", integer(value(bytes)?, false).1)),
            b'o' => (false, format!("{:o}", integer(value(bytes)?, false).1)),
            b'c' => (false, char::from(value(4)? as u8).to_string()),
            b'p' => (false, format!("{:#x}", value(8)?)),
            b's' => {
                let address = value(8)?;
                strings.push(address);
                (false, String::from_utf8_lossy(&string(address)?).into_owned())
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                let number = f64::from_bits(value(8)?);
                (
                    number.is_sign_negative() && !number.is_nan(),
                    float(number.abs(), self.kind, self.precision),
                )
            }
            _ => (false, format!("%{}{}", self.spec, char::from(self.kind))),
        })
    }

    /// Pads a value to its precision and width, with its sign.
    fn pad(&self, sign: bool, mut body: String) -> String {
        match (self.kind, self.precision) {
            (b'd' | b'i' | b'u' | b'x' | b'X' | b'o', Some(digits)) if body.len() < digits => {
                body = format!("{}{body}", "0".repeat(digits - body.len()));
            }
            (b's', Some(most)) => body = body.chars().take(most).collect(),
            _ => {}
        }
        if self.flags.contains('#') && matches!(self.kind, b'x' | b'X') {
            body.insert_str(0, if self.kind == b'x' { "0x" } else { "0X" });
        }
        let numeric = !matches!(self.kind, b's' | b'c' | b'p');
        let prefix = match () {
            () if sign => "-",
            () if self.flags.contains('+') && numeric => "+",
            () if self.flags.contains(' ') && numeric => " ",
            () => "",
        };
        let fill = self.width.saturating_sub(body.len() + prefix.len());
        match () {
            () if self.left => format!("{prefix}{body}{}", " ".repeat(fill)),
            () if self.flags.contains('0') && numeric => format!("{prefix}{}{body}", "0".repeat(fill)),
            () => format!("{}{prefix}{body}", " ".repeat(fill)),
        }
    }
}

/// Formats a non-negative number as `%f`, `%e` or `%g`.
fn float(value: f64, kind: u8, precision: Option<usize>) -> String {
    let digits = precision.unwrap_or(6);
    if !value.is_finite() {
        return if value.is_nan() { "nan".to_owned() } else { "inf".to_owned() };
    }
    let scientific = |digits: usize| {
        let text = format!("{value:.digits$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { '-' } else { '+' };
        (format!("{mantissa}e{sign}{:02}", exponent.abs()), exponent)
    };
    match kind | 0x20 {
        b'f' => format!("{value:.digits$}"),
        b'g' => {
            let digits = digits.max(1);
            let (text, exponent) = scientific(digits - 1);
            let trim = |text: &str| match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text.to_owned(),
            };
            if exponent < -4 || exponent >= digits as i32 {
                let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
                return format!("{}e{exponent}", trim(mantissa));
            }
            let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
            trim(&format!("{value:.decimals$}"))
        }
        _ => scientific(digits).0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_as_printf_does() {
        let go = |format: &str, values: &[u64]| {
            let mut values = values.iter();
            let next = |_| Ok(*values.next().unwrap());
            print(format.as_bytes(), next, |_| Ok(b"abc".to_vec())).map(|t| t.0).unwrap_or_default()
        };
        let f = f64::to_bits;
        assert_eq!(go("%d %5d|%-5d|%05d", &[-1i64 as u64, 42, 42, -42i64 as u64]), "-1    42|42   |-0042");
        assert_eq!(
            go("%u %x %#X %lld", &[u64::from(u32::MAX), 255, 255, -7i64 as u64]),
            "4294967295 ff 0XFF -7"
        );
        assert_eq!(
            go("%f %.2f %8.3f|%e", &[f(1.5), f(2.345), f(-1.0), f(12345.678)]),
            "1.500000 2.35   -1.000|1.234568e+04"
        );
        assert_eq!(go("%g %g %g %g", &[f(0.0001), f(1e10), f(100.0), f(0.5)]), "0.0001 1e+10 100 0.5");
        assert_eq!(go("100%% %s %.2s %c", &[0, 0, 65]), "100% abc ab A");
        assert_eq!(go("%", &[]), "%");
    }
}
