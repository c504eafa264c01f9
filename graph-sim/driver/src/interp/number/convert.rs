//! `cvt`.

use super::format::{F64, RoundingMode, format, narrow, round, widen};
use cuweave_ptx::{Type, TypeClass};

/// A conversion between types.
#[derive(Clone, Copy, Debug)]
pub struct ConvertSpec {
    /// The type of the result.
    pub to: Type,
    /// The type of the operand.
    pub from: Type,
    /// The rounding to the format of the result.
    pub mode: RoundingMode,
    /// The rounding to an integer that comes first (`.rni` and the like).
    pub integer: Option<RoundingMode>,
    /// `.ftz`
    pub flush: bool,
    /// `.sat`
    pub saturate: bool,
    /// `.relu`
    pub relu: bool,
}

/// Returns true if integers of the type are signed.
fn signed(ty: Type) -> bool {
    matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64)
}

/// Extends the low bits of a register, read as the type, to the whole register.
pub fn extend(value: u64, ty: Type) -> u64 {
    match ty {
        Type::S8 => value as i8 as u64,
        Type::S16 => value as i16 as u64,
        Type::S32 => value as i32 as u64,
        _ => match ty.size() {
            1 => value & 0xff,
            2 => value & 0xffff,
            4 => value & 0xffff_ffff,
            _ => value,
        },
    }
}

/// Returns the lowest and the highest integer of the type.
fn range(ty: Type) -> (i128, i128) {
    let bits = ty.size() * 8;
    if signed(ty) { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn integer_value(value: u64, ty: Type) -> i128 {
    let value = extend(value, ty);
    if signed(ty) { i128::from(value as i64) } else { i128::from(value) }
}

/// Rounds a value to an integer.
pub(super) fn to_integer(value: f64, mode: RoundingMode) -> f64 {
    match mode {
        RoundingMode::Nearest => value.round_ties_even(),
        RoundingMode::Away => value.round(),
        RoundingMode::Zero => value.trunc(),
        RoundingMode::Down => value.floor(),
        RoundingMode::Up => value.ceil(),
    }
}

/// Converts one value.
pub fn convert(spec: &ConvertSpec, value: u64) -> u64 {
    let (from, to) = (spec.from.class() == TypeClass::Float, spec.to.class() == TypeClass::Float);
    match (from, to) {
        (false, false) => {
            let value = integer_value(value, spec.from);
            let (low, high) = range(spec.to);
            let value = if spec.saturate { value.clamp(low, high) } else { value };
            extend(value as u64, spec.to)
        }
        (false, true) => {
            let value = integer_value(value, spec.from);
            let size = value.unsigned_abs() as u64;
            let format = format(spec.to).unwrap_or(F64);
            let bits = round(value < 0, size, 0, format, spec.mode);
            if spec.saturate { float_to_float(spec, widen(bits, format)) } else { bits }
        }
        (true, false) => float_to_integer(spec, source(spec, value)),
        (true, true) => float_to_float(spec, source(spec, value)),
    }
}

fn source(spec: &ConvertSpec, value: u64) -> f64 {
    let value = widen(value, format(spec.from).unwrap_or(F64));
    if spec.flush && spec.from == Type::F32 && value.abs() < f64::from(f32::MIN_POSITIVE) {
        return 0f64.copysign(value);
    }
    value
}

fn float_to_integer(spec: &ConvertSpec, value: f64) -> u64 {
    if value.is_nan() {
        let wide = spec.from == Type::F64 || spec.to.size() == 8;
        return if wide { extend(1 << (spec.to.size() * 8 - 1), spec.to) } else { 0 };
    }
    let value = to_integer(value, spec.integer.unwrap_or(RoundingMode::Zero));
    let (low, high) = range(spec.to);
    // `as` saturates, and 128 bits hold every bound.
    extend((value as i128).clamp(low, high) as u64, spec.to)
}

fn float_to_float(spec: &ConvertSpec, value: f64) -> u64 {
    let mut value = value;
    if let Some(mode) = spec.integer {
        value = to_integer(value, mode);
    }
    if spec.saturate && spec.to.size() > 1 {
        value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) + 0.0 };
    }
    if spec.relu && value < 0.0 {
        value = 0.0;
    }
    let format = format(spec.to).unwrap_or(F64);
    let mut bits = narrow(value, format, spec.mode);
    if spec.flush && spec.to == Type::F32 && bits & 0x7f80_0000 == 0 {
        bits &= 0x8000_0000;
    }
    // A tf32 is in the high bits of a 32-bit register.
    if spec.to == Type::Tf32 { bits << 13 } else { bits }
}

/// `cvt.pack.sat`: saturates two 32-bit integers to 16, 8, 4 or 2 bits, and packs `a` above `b` above the low
/// bits of `c`.
pub fn pack_saturated(a: u64, b: u64, c: u64, to: Type, from: Type) -> u64 {
    let (low, high) = range(to);
    let bits = to.size() * 8;
    let mask = (1u64 << bits) - 1;
    let one = |value: u64| integer_value(value, from).clamp(low, high) as u64 & mask;
    let pair = one(a) << bits | one(b);
    (c << (2 * bits) | pair) & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(to: Type, from: Type) -> ConvertSpec {
        let (mode, integer) = (RoundingMode::Nearest, None);
        ConvertSpec { to, from, mode, integer, flush: false, saturate: false, relu: false }
    }

    #[test]
    fn integers_truncate_extend_and_saturate() {
        let c = |to, from, value: i64| convert(&spec(to, from), value as u64) as i64;
        assert_eq!(c(Type::S64, Type::S32, 0xffff_fffe), -2);
        assert_eq!(c(Type::U64, Type::U32, -2), 0xffff_fffe);
        assert_eq!(c(Type::U8, Type::S32, 300), 44);
        assert_eq!(c(Type::S8, Type::S32, 200), -56);
        let saturating = |to, from| ConvertSpec { saturate: true, ..spec(to, from) };
        assert_eq!(convert(&saturating(Type::U8, Type::S32), -5i64 as u64), 0);
        assert_eq!(convert(&saturating(Type::S8, Type::S32), 200), 127);
        assert_eq!(convert(&saturating(Type::S32, Type::U32), 0xffff_ffff), 0x7fff_ffff);
    }

    #[test]
    fn floats_round_and_saturate_to_integers() {
        let c = |value: f32, to, mode| {
            convert(&ConvertSpec { integer: Some(mode), ..spec(to, Type::F32) }, value.to_bits().into())
                as i64
        };
        assert_eq!(c(2.5, Type::S32, RoundingMode::Nearest), 2);
        assert_eq!(c(-2.5, Type::S32, RoundingMode::Zero), -2);
        assert_eq!(c(-2.5, Type::S32, RoundingMode::Down), -3);
        assert_eq!(c(2.1, Type::S32, RoundingMode::Up), 3);
        assert_eq!(c(3e9, Type::S32, RoundingMode::Zero), i64::from(i32::MAX));
        assert_eq!(c(-1.0, Type::U32, RoundingMode::Zero), 0);
        assert_eq!(c(f32::NAN, Type::S32, RoundingMode::Zero), 0);
        assert_eq!(c(f32::NAN, Type::S64, RoundingMode::Zero), i64::MIN);
        assert_eq!(c(f32::INFINITY, Type::U64, RoundingMode::Zero), -1);
    }

    #[test]
    fn integers_round_to_floats() {
        let c = |value: u64, to, from, mode| convert(&ConvertSpec { mode, ..spec(to, from) }, value);
        for value in [0u64, 1, 16_777_217, u64::MAX, u64::MAX - 1, 1 << 63, 0x8000_0080_0000_0000] {
            assert_eq!(
                c(value, Type::F32, Type::U64, RoundingMode::Nearest),
                u64::from((value as f32).to_bits())
            );
            assert_eq!(c(value, Type::F64, Type::U64, RoundingMode::Nearest), (value as f64).to_bits());
            assert_eq!(
                c(value, Type::F32, Type::S64, RoundingMode::Nearest),
                u64::from((value as i64 as f32).to_bits())
            );
        }
        assert_eq!(c(16_777_217, Type::F32, Type::U32, RoundingMode::Up), u64::from(16_777_218f32.to_bits()));
        assert_eq!(
            c(16_777_217, Type::F32, Type::U32, RoundingMode::Zero),
            u64::from(16_777_216f32.to_bits())
        );
        assert_eq!(c(5, Type::F16, Type::S32, RoundingMode::Nearest), 0x4500);
    }

    #[test]
    fn floats_convert_to_floats() {
        let half = convert(&spec(Type::F16, Type::F32), 1.0009766f32.to_bits().into());
        assert_eq!(half, 0x3c01);
        assert_eq!(convert(&spec(Type::F32, Type::F16), 0x3c01), u64::from(1.0009766f32.to_bits()));
        let saturating = ConvertSpec { saturate: true, ..spec(Type::F32, Type::F32) };
        assert_eq!(convert(&saturating, 7f32.to_bits().into()), u64::from(1f32.to_bits()));
        assert_eq!(convert(&saturating, f32::NAN.to_bits().into()), 0);
        let flushing = ConvertSpec { flush: true, ..spec(Type::F32, Type::F64) };
        assert_eq!(convert(&flushing, 1e-40f64.to_bits()), 0);
        assert_eq!(pack_saturated(70000, -3i64 as u64 & 0xffff_ffff, 0, Type::S16, Type::S32), 0x7fff_fffd);
    }
}
