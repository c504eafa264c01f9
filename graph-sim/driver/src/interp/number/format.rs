//! Float formats: widening to `f64`, and rounding to a format.

use cuweave_ptx::Type;

/// A rounding mode, to a float or to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundingMode {
    /// To nearest, ties to even: `.rn`, `.rni`.
    Nearest,
    /// To nearest, ties away from zero: `.rna`.
    Away,
    /// Towards zero: `.rz`, `.rzi`.
    Zero,
    /// Down: `.rm`, `.rmi`.
    Down,
    /// Up: `.rp`, `.rpi`.
    Up,
}

/// A binary float format: the number of exponent bits and of mantissa bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatFormat {
    exponent: u32,
    mantissa: u32,
    /// True if the format has no infinity and a single NaN (e4m3).
    finite: bool,
}

pub const F64: FloatFormat = FloatFormat { exponent: 11, mantissa: 52, finite: false };
pub const F32: FloatFormat = FloatFormat { exponent: 8, mantissa: 23, finite: false };

/// Returns the format of a scalar float type.
pub fn format(ty: Type) -> Option<FloatFormat> {
    let (exponent, mantissa, finite) = match ty {
        Type::F64 => return Some(F64),
        Type::F32 => return Some(F32),
        Type::F16 => (5, 10, false),
        Type::Bf16 => (8, 7, false),
        Type::Tf32 => (8, 10, false),
        Type::E5m2 => (5, 2, false),
        Type::E4m3 => (4, 3, true),
        _ => return None,
    };
    Some(FloatFormat { exponent, mantissa, finite })
}

/// Returns the value of the low bits in a format. The result is exact.
pub fn widen(bits: u64, format: FloatFormat) -> f64 {
    let FloatFormat { exponent, mantissa, finite } = format;
    if format == F64 {
        return f64::from_bits(bits);
    }
    if format == F32 {
        return f64::from(f32::from_bits(bits as u32));
    }
    let fraction = bits & ((1 << mantissa) - 1);
    let raised = (bits >> mantissa) & ((1 << exponent) - 1);
    let bias = (1i32 << (exponent - 1)) - 1;
    let top = (1u64 << exponent) - 1;
    let size = if raised == top && !finite {
        if fraction == 0 { f64::INFINITY } else { f64::NAN }
    } else if finite && raised == top && fraction == (1 << mantissa) - 1 {
        f64::NAN
    } else if raised == 0 {
        fraction as f64 * power(1 - bias - mantissa as i32)
    } else {
        (fraction | 1 << mantissa) as f64 * power(raised as i32 - bias - mantissa as i32)
    };
    if bits >> (exponent + mantissa) & 1 == 1 { -size } else { size }
}

/// Returns a power of two within the normal range of `f64`.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Rounds a value to a format. A NaN becomes the canonical one: all ones except for the sign.
pub fn narrow(value: f64, format: FloatFormat, mode: RoundingMode) -> u64 {
    let width = format.exponent + format.mantissa;
    if value.is_nan() {
        return if format == F64 { 0x7fff_ffff_ffff_ffff } else { (1 << width) - 1 };
    }
    if format == F32 && mode == RoundingMode::Nearest {
        return u64::from((value as f32).to_bits());
    }
    if format == F64 {
        return value.to_bits();
    }
    let negative = value.is_sign_negative();
    let bits = value.abs().to_bits();
    if value.is_infinite() {
        return sign(negative, width) | if format.finite { 0x7e } else { infinity(format) };
    }
    let raised = (bits >> 52) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (significand, scale) =
        if raised == 0 { (fraction, -1074) } else { (fraction | 1 << 52, raised - 1075) };
    round(negative, significand, scale, format, mode)
}

fn sign(negative: bool, width: u32) -> u64 {
    u64::from(negative) << width
}

fn infinity(format: FloatFormat) -> u64 {
    ((1 << format.exponent) - 1) << format.mantissa
}

/// Rounds `significand * 2^scale` to a format.
pub fn round(negative: bool, significand: u64, scale: i32, format: FloatFormat, mode: RoundingMode) -> u64 {
    let width = format.exponent + format.mantissa;
    if significand == 0 {
        return sign(negative, width);
    }
    let bias = (1i32 << (format.exponent - 1)) - 1;
    let mantissa = format.mantissa as i32;
    // The exponent of the value, or that of the smallest normal number if it is greater.
    let exponent = (63 - significand.leading_zeros() as i32 + scale).max(1 - bias);
    let drop = exponent - mantissa - scale;
    let (kept, rest) = match drop {
        i32::MIN..=0 => (u128::from(significand) << (-drop).min(64), 0),
        1..=64 => {
            let low = u128::from(significand) << (64 - drop);
            (u128::from(significand) >> drop, low as u64)
        }
        _ => (0, 1),
    };
    let half = 1u64 << 63;
    let up = match mode {
        RoundingMode::Nearest => rest > half || (rest == half && kept & 1 == 1),
        RoundingMode::Away => rest >= half,
        RoundingMode::Zero => false,
        RoundingMode::Down => negative && rest != 0,
        RoundingMode::Up => !negative && rest != 0,
    };
    let rounded = kept as u64 + u64::from(up);
    let bits = (((exponent + bias - 1) as u64) << mantissa) + rounded;
    let largest = if format.finite { 0x7e } else { infinity(format) - 1 };
    if bits <= largest {
        return sign(negative, width) | bits;
    }
    let saturates = match mode {
        _ if format.finite => true,
        RoundingMode::Zero => true,
        RoundingMode::Down => !negative,
        RoundingMode::Up => negative,
        RoundingMode::Nearest | RoundingMode::Away => false,
    };
    sign(negative, width) | if saturates { largest } else { infinity(format) }
}

/// Rounds to odd: `sum` is an inexact sum rounded to nearest, and `error` its rounding error.
pub fn odd(sum: f64, error: f64) -> f64 {
    if error == 0.0 || !sum.is_finite() || error.is_nan() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    if error > 0.0 { sum.next_up() } else { sum.next_down() }
}

/// Returns the rounding error of `a + b == sum`.
pub fn sum_error(a: f64, b: f64, sum: f64) -> f64 {
    let virtual_b = sum - a;
    (a - (sum - virtual_b)) + (b - virtual_b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Widening and narrowing round-trips every half, and rounds values between two neighbours by the mode.
    #[test]
    fn halves_and_bfloats_round_trip_and_round() {
        for ty in [Type::F16, Type::Bf16, Type::E5m2, Type::E4m3] {
            let f = format(ty).unwrap();
            let width = f.exponent + f.mantissa;
            for bits in 0..(1u64 << width) - 1 {
                let value = widen(bits, f);
                if value.is_nan() {
                    continue;
                }
                assert_eq!(narrow(value, f, RoundingMode::Nearest), bits, "{ty} {bits:#x}");
                let next = widen(bits + 1, f);
                if !next.is_finite() {
                    continue;
                }
                let (low, middle) = (value + (next - value) * 0.25, value + (next - value) * 0.5);
                let even = bits + (bits & 1);
                for (between, mode, expected) in [
                    (low, RoundingMode::Nearest, bits),
                    (middle, RoundingMode::Nearest, even),
                    (middle, RoundingMode::Away, bits + 1),
                    (middle, RoundingMode::Zero, bits),
                    (low, RoundingMode::Up, bits + 1),
                    (middle, RoundingMode::Down, bits),
                ] {
                    assert_eq!(narrow(between, f, mode), expected, "{ty} {bits:#x} {mode:?}");
                }
                let down = narrow(-low, f, RoundingMode::Down);
                assert_eq!(down, (bits + 1) | 1 << width, "{ty} {bits:#x}");
            }
        }
    }

    #[test]
    fn overflow_goes_where_the_mode_says() {
        let half = format(Type::F16).unwrap();
        assert_eq!(narrow(65519.0, half, RoundingMode::Nearest), 0x7bff);
        assert_eq!(narrow(65520.0, half, RoundingMode::Nearest), 0x7c00);
        assert_eq!(narrow(1e9, half, RoundingMode::Zero), 0x7bff);
        assert_eq!(narrow(-1e9, half, RoundingMode::Up), 0xfbff);
        assert_eq!(narrow(1e9, format(Type::E4m3).unwrap(), RoundingMode::Nearest), 0x7e);
        assert_eq!(narrow(f64::NAN, half, RoundingMode::Nearest), 0x7fff);
        let single = format(Type::F32).unwrap();
        assert_eq!(narrow(1e300, single, RoundingMode::Zero), u64::from(f32::MAX.to_bits()));
        assert_eq!(narrow(1e-300, single, RoundingMode::Up), 1);
        assert_eq!(narrow(0.1, single, RoundingMode::Down), u64::from(0.1f32.next_down().to_bits()));
        assert_eq!(narrow(0.1, single, RoundingMode::Up), u64::from(0.1f32.to_bits()));
    }
}
