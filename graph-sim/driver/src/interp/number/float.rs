//! Float arithmetic with every modifier of PTX.

use super::format::{F64, FloatFormat, RoundingMode, format, narrow, odd, sum_error, widen};
use cuweave_ptx::Type;

/// A float operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Sqrt,
    Rcp,
    Rsqrt,
    Ex2,
    Lg2,
    Sin,
    Cos,
    Tanh,
    Min,
    Max,
    Abs,
    Neg,
}

/// An operation with its modifiers.
#[derive(Clone, Copy, Debug)]
pub struct FloatSpec {
    /// The operation.
    pub op: FloatOp,
    /// The type. A packed type applies the operation to each half.
    pub ty: Type,
    /// The rounding mode.
    pub mode: RoundingMode,
    /// `.ftz`
    pub flush: bool,
    /// `.sat`
    pub saturate: bool,
    /// `.relu`
    pub relu: bool,
    /// `.NaN` of `min` and `max`.
    pub nan: bool,
    /// `.xorsign.abs` of `min` and `max`.
    pub xorsign: bool,
}

/// Returns the type and width of each half of a packed type.
fn halves(ty: Type) -> Option<(Type, u32)> {
    match ty {
        Type::F16x2 => Some((Type::F16, 16)),
        Type::Bf16x2 => Some((Type::Bf16, 16)),
        Type::F32x2 => Some((Type::F32, 32)),
        _ => None,
    }
}

/// Computes an operation. Operands that it does not have are ignored.
pub fn float(spec: &FloatSpec, a: u64, b: u64, c: u64) -> u64 {
    if let Some((ty, bits)) = halves(spec.ty) {
        let spec = FloatSpec { ty, ..*spec };
        let mask = (1u64 << bits) - 1;
        let low = float(&spec, a & mask, b & mask, c & mask);
        let high = float(&spec, a >> bits & mask, b >> bits & mask, c >> bits & mask);
        return high << bits | low;
    }
    // Sign operations keep NaN payloads.
    let width = spec.ty.size() * 8;
    let sign = 1u64 << (width - 1);
    if matches!(spec.op, FloatOp::Abs | FloatOp::Neg) {
        let a = a & (sign | (sign - 1));
        let a = flush(spec, a);
        return if spec.op == FloatOp::Abs { a & !sign } else { a ^ sign };
    }
    let form = format(spec.ty).unwrap_or(F64);
    let read = |bits: u64| widen(flush(spec, bits), form);
    let (x, y, z) = (read(a), read(b), read(c));
    let bits = match spec.op {
        FloatOp::Min | FloatOp::Max => return extreme(spec, form, x, y),
        _ if form == F64 => double(spec, x, y, z).to_bits(),
        _ => narrow(wide(spec.op, x, y, z), form, spec.mode),
    };
    finish(spec, form, bits)
}

/// Flushes subnormal singles to zero (`.ftz`).
fn flush(spec: &FloatSpec, bits: u64) -> u64 {
    if spec.flush && spec.ty == Type::F32 && bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

fn finish(spec: &FloatSpec, form: FloatFormat, bits: u64) -> u64 {
    let mut bits = flush(spec, bits);
    if spec.saturate || spec.relu {
        let value = widen(bits, form);
        if spec.saturate {
            bits = narrow(if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) + 0.0 }, form, spec.mode);
        } else if value < 0.0 {
            bits = 0;
        }
    }
    bits
}

/// Computes the result in `f64`, rounded to odd if it is inexact. Approximations are rounded to nearest.
fn wide(op: FloatOp, x: f64, y: f64, z: f64) -> f64 {
    match op {
        FloatOp::Add => odd(x + y, sum_error(x, y, x + y)),
        FloatOp::Sub => odd(x - y, sum_error(x, -y, x - y)),
        FloatOp::Mul => x * y,
        FloatOp::Fma => {
            // The product of two singles is exact.
            let product = x * y;
            odd(product + z, sum_error(product, z, product + z))
        }
        FloatOp::Div => quotient(x, y),
        FloatOp::Rcp => quotient(1.0, x),
        FloatOp::Sqrt => {
            let root = x.sqrt();
            odd(root, (-root).mul_add(root, x))
        }
        FloatOp::Rsqrt => 1.0 / x.sqrt(),
        FloatOp::Ex2 => x.exp2(),
        FloatOp::Lg2 => x.log2(),
        FloatOp::Sin => x.sin(),
        FloatOp::Cos => x.cos(),
        FloatOp::Tanh => x.tanh(),
        FloatOp::Min | FloatOp::Max | FloatOp::Abs | FloatOp::Neg => x,
    }
}

fn quotient(x: f64, y: f64) -> f64 {
    let quotient = x / y;
    if !y.is_finite() || quotient == 0.0 {
        return quotient;
    }
    let rest = (-quotient).mul_add(y, x);
    odd(quotient, if y < 0.0 { -rest } else { rest })
}

/// Computes doubles: rounds to nearest, then steps to the other neighbour if the mode requires it.
fn double(spec: &FloatSpec, x: f64, y: f64, z: f64) -> f64 {
    let (value, error) = match spec.op {
        FloatOp::Add => (x + y, sum_error(x, y, x + y)),
        FloatOp::Sub => (x - y, sum_error(x, -y, x - y)),
        FloatOp::Mul => (x * y, x.mul_add(y, -(x * y))),
        FloatOp::Fma => {
            let value = x.mul_add(y, z);
            let product = x * y;
            let product_rest = x.mul_add(y, -product);
            let low = z + product_rest;
            let low_rest = sum_error(z, product_rest, low);
            let sum = product + low;
            let sum_rest = sum_error(product, low, sum);
            (value, ((sum - value) + sum_rest) + low_rest)
        }
        FloatOp::Div => (x / y, (-(x / y)).mul_add(y, x) * y.signum()),
        FloatOp::Rcp => (1.0 / x, (-(1.0 / x)).mul_add(x, 1.0) * x.signum()),
        FloatOp::Sqrt => (x.sqrt(), (-x.sqrt()).mul_add(x.sqrt(), x)),
        op => (wide(op, x, y, z), 0.0),
    };
    if value.is_nan() {
        return f64::from_bits(0x7fff_ffff_ffff_ffff);
    }
    let overflowed = value.is_infinite() && x.is_finite() && y.is_finite() && z.is_finite();
    let division = matches!(spec.op, FloatOp::Div | FloatOp::Rcp) && (y == 0.0 || x == 0.0);
    let error = if overflowed && !division { -value } else { error };
    match spec.mode {
        RoundingMode::Zero if value > 0.0 && error < 0.0 => value.next_down(),
        RoundingMode::Zero if value < 0.0 && error > 0.0 => value.next_up(),
        RoundingMode::Down if error < 0.0 => value.next_down(),
        RoundingMode::Up if error > 0.0 => value.next_up(),
        _ => value,
    }
}

fn extreme(spec: &FloatSpec, form: FloatFormat, x: f64, y: f64) -> u64 {
    let canonical = narrow(f64::NAN, form, RoundingMode::Nearest);
    if (x.is_nan() && y.is_nan()) || (spec.nan && (x.is_nan() || y.is_nan())) {
        return canonical;
    }
    let negative = x.is_sign_negative() != y.is_sign_negative();
    let (x, y) = if spec.xorsign { (x.abs(), y.abs()) } else { (x, y) };
    let first = if y.is_nan() {
        true
    } else if x.is_nan() {
        false
    } else if x == y {
        x.is_sign_negative() == (spec.op == FloatOp::Min)
    } else {
        (x < y) == (spec.op == FloatOp::Min)
    };
    let mut value = if first { x } else { y };
    if spec.xorsign {
        value = if negative { -value } else { value };
    }
    finish(spec, form, narrow(value, form, RoundingMode::Nearest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spec(op: FloatOp, ty: Type, mode: RoundingMode) -> FloatSpec {
        FloatSpec { op, ty, mode, flush: false, saturate: false, relu: false, nan: false, xorsign: false }
    }

    fn bits(value: f32) -> u64 {
        value.to_bits().into()
    }

    proptest! {
        /// Rounded to nearest, singles agree with the host's arithmetic.
        #[test]
        fn singles_agree_with_the_host(a: f32, b: f32, c: f32) {
            for (op, host) in [
                (FloatOp::Add, a + b), (FloatOp::Sub, a - b), (FloatOp::Mul, a * b), (FloatOp::Div, a / b),
                (FloatOp::Fma, a.mul_add(b, c)), (FloatOp::Sqrt, a.sqrt()), (FloatOp::Rcp, 1.0 / a),
            ] {
                let spec = spec(op, Type::F32, RoundingMode::Nearest);
                let ours = f32::from_bits(float(&spec, bits(a), bits(b), bits(c)) as u32);
                prop_assert!(
                    ours.to_bits() == host.to_bits() || (ours.is_nan() && host.is_nan()),
                    "{op:?} {a} {b} {c}"
                );
            }
        }

        /// Rounding down and up encloses the exact value as narrowly as possible.
        #[test]
        fn directed_modes_enclose(a in -1e10f64..1e10, b in -1e10f64..1e10, c in -1e10f64..1e10) {
            for op in [FloatOp::Add, FloatOp::Mul, FloatOp::Div, FloatOp::Fma] {
                let go = |mode|
                    f64::from_bits(float(&spec(op, Type::F64, mode), a.to_bits(), b.to_bits(), c.to_bits()));
                let (down, near, up) = (go(RoundingMode::Down), go(RoundingMode::Nearest), go(RoundingMode::Up));
                prop_assert!(down <= near && near <= up && up <= down.next_up(), "{op:?} {down} {near} {up}");
                let zero = go(RoundingMode::Zero);
                prop_assert_eq!(zero, if near >= 0.0 { down } else { up });
            }
        }
    }

    #[test]
    fn extremes_and_modifiers() {
        let go = |s: &FloatSpec, a, b| f32::from_bits(float(s, bits(a), bits(b), 0) as u32);
        let min = spec(FloatOp::Min, Type::F32, RoundingMode::Nearest);
        assert_eq!(go(&min, f32::NAN, 2.0), 2.0);
        assert!(go(&FloatSpec { nan: true, ..min }, f32::NAN, 2.0).is_nan());
        assert!(go(&min, 0.0, -0.0).is_sign_negative());
        let add = spec(FloatOp::Add, Type::F32, RoundingMode::Nearest);
        assert_eq!(go(&FloatSpec { saturate: true, ..add }, 2.0, 3.0), 1.0);
        assert_eq!(go(&FloatSpec { flush: true, ..add }, 1e-40, 0.0), 0.0);
        let pair = spec(FloatOp::Add, Type::F16x2, RoundingMode::Nearest);
        assert_eq!(float(&pair, 0x3c00_4000, 0x3c00_3c00, 0), 0x4000_4200);
        assert_eq!(
            float(&spec(FloatOp::Neg, Type::Bf16x2, RoundingMode::Nearest), 0x3f80_bf80, 0, 0),
            0xbf80_3f80
        );
    }
}
