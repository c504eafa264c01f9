//! Moves, conversions, comparisons and bits that need more than one type.

use super::alu::rounding;
use super::code::*;
use super::function::{Decoder, Result, is_float};
use crate::interp::number::{ConvertSpec, Mode, format, widen};
use cuweave_ptx::{Instruction, Operand, Type};

/// A plain conversion to nearest.
pub fn conversion(to: Type, from: Type) -> ConvertSpec {
    ConvertSpec { to, from, mode: Mode::Nearest, integer: None, flush: false, saturate: false, relu: false }
}

/// Comparisons of one type; the ordered ones are false for a not-a-number, those with a trailing `u` true.
// What is not less may be unordered: that is what `geu` and its kin mean.
#[allow(clippy::neg_cmp_op_on_partial_ord)]
fn compare(op: &str, ty: Type) -> Option<Map2> {
    macro_rules! integers {
        ($to:ty) => {
            Some(match op {
                "eq" => |a, b| u64::from(a as $to == b as $to),
                "ne" => |a, b| u64::from(a as $to != b as $to),
                "lt" | "lo" => |a, b| u64::from((a as $to) < b as $to),
                "le" | "ls" => |a, b| u64::from(a as $to <= b as $to),
                "gt" | "hi" => |a, b| u64::from(a as $to > b as $to),
                "ge" | "hs" => |a, b| u64::from(a as $to >= b as $to),
                _ => return None,
            })
        };
    }
    macro_rules! floats {
        ($read:expr) => {
            Some(match op {
                "eq" => |a, b| u64::from($read(a) == $read(b)),
                "ne" => |a, b| u64::from($read(a) < $read(b) || $read(a) > $read(b)),
                "lt" => |a, b| u64::from($read(a) < $read(b)),
                "le" => |a, b| u64::from($read(a) <= $read(b)),
                "gt" => |a, b| u64::from($read(a) > $read(b)),
                "ge" => |a, b| u64::from($read(a) >= $read(b)),
                "equ" => |a, b| u64::from(!($read(a) < $read(b) || $read(a) > $read(b))),
                "neu" => |a, b| u64::from($read(a) != $read(b)),
                "ltu" => |a, b| u64::from(!($read(a) >= $read(b))),
                "leu" => |a, b| u64::from(!($read(a) > $read(b))),
                "gtu" => |a, b| u64::from(!($read(a) <= $read(b))),
                "geu" => |a, b| u64::from(!($read(a) < $read(b))),
                "num" => |a, b| u64::from(!$read(a).is_nan() && !$read(b).is_nan()),
                "nan" => |a, b| u64::from($read(a).is_nan() || $read(b).is_nan()),
                _ => return None,
            })
        };
    }
    match ty {
        Type::U16 | Type::B16 => integers!(u16),
        Type::S16 => integers!(i16),
        Type::U32 | Type::B32 => integers!(u32),
        Type::S32 => integers!(i32),
        Type::U64 | Type::B64 => integers!(u64),
        Type::S64 => integers!(i64),
        Type::F32 => floats!(|x: u64| f32::from_bits(x as u32)),
        Type::F64 => floats!(f64::from_bits),
        Type::F16 => floats!(half),
        Type::Bf16 => floats!(|x: u64| f32::from_bits((x as u32) << 16)),
        _ => None,
    }
}

fn half(bits: u64) -> f64 {
    format(Type::F16).map_or(0.0, |half| widen(bits, half))
}

/// Singles with subnormals as zeros.
fn flush_single(bits: u64) -> u64 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

const COMPARISONS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu",
    "num", "nan",
];

fn combine(op: &str) -> Option<Map2> {
    Some(match op {
        "and" => |a, b| a & b,
        "or" => |a, b| a | b,
        "xor" => |a, b| a ^ b,
        _ => return None,
    })
}

fn permute(a: u64, b: u64, selector: u64) -> u64 {
    let bytes = (a & 0xffff_ffff) | b << 32;
    let mut result = 0;
    for at in 0..4 {
        let pick = selector >> (4 * at) & 0xf;
        let mut byte = bytes >> (8 * (pick & 7)) & 0xff;
        if pick & 8 != 0 {
            byte = if byte & 0x80 != 0 { 0xff } else { 0 };
        }
        result |= byte << (8 * at);
    }
    result
}

/// The selectors of `prmt`'s modes for each value of the two low bits of `c`.
fn permute_mode(mode: &str) -> Option<Map3> {
    const F4E: [u64; 4] = [0x3210, 0x4321, 0x5432, 0x6543];
    const B4E: [u64; 4] = [0x5670, 0x6701, 0x7012, 0x0123];
    const RC8: [u64; 4] = [0x0000, 0x1111, 0x2222, 0x3333];
    const ECL: [u64; 4] = [0x3210, 0x3211, 0x3222, 0x3333];
    const ECR: [u64; 4] = [0x0000, 0x1110, 0x2210, 0x3210];
    const RC16: [u64; 4] = [0x1010, 0x3232, 0x1010, 0x3232];
    Some(match mode {
        "f4e" => |a, b, c| permute(a, b, F4E[c as usize & 3]),
        "b4e" => |a, b, c| permute(a, b, B4E[c as usize & 3]),
        "rc8" => |a, b, c| permute(a, b, RC8[c as usize & 3]),
        "ecl" => |a, b, c| permute(a, b, ECL[c as usize & 3]),
        "ecr" => |a, b, c| permute(a, b, ECR[c as usize & 3]),
        "rc16" => |a, b, c| permute(a, b, RC16[c as usize & 3]),
        _ => return None,
    })
}

fn funnel(left: bool, clamp: bool) -> Map3 {
    fn both(a: u64, b: u64) -> u64 {
        b << 32 | a & 0xffff_ffff
    }
    match (left, clamp) {
        (true, true) => |a, b, c| both(a, b) << (c as u32).min(32) >> 32 & 0xffff_ffff,
        (true, false) => |a, b, c| both(a, b) << (c & 31) >> 32 & 0xffff_ffff,
        (false, true) => |a, b, c| both(a, b) >> (c as u32).min(32) & 0xffff_ffff,
        (false, false) => |a, b, c| both(a, b) >> (c & 31) & 0xffff_ffff,
    }
}

/// Dot product of bytes: signedness of `a` and `b`.
fn dot4(a_signed: bool, b_signed: bool) -> Map3 {
    fn byte(value: u64, at: u32, signed: bool) -> i32 {
        let byte = (value >> (8 * at)) as u8;
        if signed { i32::from(byte as i8) } else { i32::from(byte) }
    }
    fn dot(a: u64, b: u64, c: u64, signs: (bool, bool)) -> u64 {
        let sum = (0..4).map(|at| byte(a, at, signs.0).wrapping_mul(byte(b, at, signs.1)));
        sum.fold(c as i32, i32::wrapping_add) as u32 as u64
    }
    match (a_signed, b_signed) {
        (false, false) => |a, b, c| dot(a, b, c, (false, false)),
        (false, true) => |a, b, c| dot(a, b, c, (false, true)),
        (true, false) => |a, b, c| dot(a, b, c, (true, false)),
        (true, true) => |a, b, c| dot(a, b, c, (true, true)),
    }
}

/// Dot product of two 16-bit halves with two bytes.
fn dot2(a: u64, b: u64, c: u64, a_signed: bool, b_signed: bool, high: bool) -> u64 {
    let b = if high { b >> 16 } else { b };
    let one = |at: u32| {
        let x = (a >> (16 * at)) as u16;
        let y = (b >> (8 * at)) as u8;
        let x = if a_signed { i32::from(x as i16) } else { i32::from(x) };
        let y = if b_signed { i32::from(y as i8) } else { i32::from(y) };
        x.wrapping_mul(y)
    };
    (c as i32).wrapping_add(one(0)).wrapping_add(one(1)) as u32 as u64
}

impl<'m> Decoder<'_, 'm> {
    pub fn misc(&mut self, i: &Instruction<'m>) -> Result<()> {
        match i.mnemonic() {
            "mov" => self.mov(i),
            "cvt" => self.cvt(i),
            "setp" => self.setp(i),
            "set" => self.set(i),
            _ => self.bits(i),
        }
    }

    fn mov(&mut self, i: &Instruction<'m>) -> Result<()> {
        let [d, a] = i.operands.as_slice() else { return Err("expected two operands".to_owned()) };
        let ty = i.types().next_back().ok_or_else(String::new)?;
        if ty.size() > 8 {
            return Err(String::new());
        }
        match (d, a) {
            // Component by component; without `.v4` a vector is the parts of one value.
            (Operand::Vector(parts), Operand::Name(name)) if i.has("v4") => {
                let from = vector(name).filter(|_| parts.len() == 4 && ty.size() == 4);
                for (to, from) in parts.iter().zip(from.ok_or_else(String::new)?) {
                    let (to, from) = (self.result(to)?, self.value(&Operand::Name(from), ty)?);
                    self.emit(Op::Map1(|v| v, to, from));
                }
            }
            (Operand::Vector(parts), a) if !i.has("v2") && !i.has("v4") => {
                let from = self.value(a, ty)?;
                let width = ty.size() * 8 / parts.len().max(1) as u32;
                let mut moved = Vec::new();
                for (at, part) in parts.iter().enumerate() {
                    let by = self.constant(u64::from(width) * at as u64);
                    let cut: Map2 = match width {
                        8 => |v, by| v >> by & 0xff,
                        16 => |v, by| v >> by & 0xffff,
                        32 => |v, by| v >> by & 0xffff_ffff,
                        _ => return Err(String::new()),
                    };
                    // Through a temporary: a part may be the source.
                    let taken = self.temporary();
                    self.emit(Op::Map2(cut, taken, from, by));
                    moved.push((self.result(part)?, taken));
                }
                for (to, taken) in moved {
                    self.emit(Op::Map1(|v| v, to, taken));
                }
            }
            (d, Operand::Vector(parts)) if !parts.is_empty() => {
                let d = self.result(d)?;
                let width = ty.size() * 8 / parts.len().max(1) as u32;
                let part_type = match width {
                    8 => Type::B8,
                    16 => Type::B16,
                    32 => Type::B32,
                    _ => return Err(String::new()),
                };
                let mut sum = self.value(&parts[0], part_type)?;
                for (at, part) in parts.iter().enumerate() {
                    let part = self.value(part, part_type)?;
                    let f: Map3 = match (width, at) {
                        (8, 0) => |_, v, _| v & 0xff,
                        (8, _) => |s, v, by| s | (v & 0xff) << by,
                        (16, 0) => |_, v, _| v & 0xffff,
                        (16, _) => |s, v, by| s | (v & 0xffff) << by,
                        (_, 0) => |_, v, _| v & 0xffff_ffff,
                        _ => |s, v, by| s | v << by,
                    };
                    let by = self.constant(u64::from(width) * at as u64);
                    let next = if at + 1 == parts.len() { d } else { self.temporary() };
                    self.emit(Op::Map3(f, next, sum, part, by));
                    sum = next;
                }
            }
            (
                d,
                Operand::Name(
                    name @ ("%clock" | "%clock_hi" | "%clock64" | "%globaltimer" | "%globaltimer_lo"
                    | "%globaltimer_hi"),
                ),
            ) => {
                let d = self.result(d)?;
                let counter = if name.starts_with("%clock") { Counter::Clock } else { Counter::Time };
                self.emit(Op::Counter(counter, d));
                if name.ends_with("hi") {
                    self.emit(Op::Map1(|v| v >> 32, d, d));
                }
            }
            (d, a) => {
                let (d, a) = (self.result(d)?, self.value(a, ty)?);
                let f: Map1 = match ty.size() {
                    4 => |v| v & 0xffff_ffff,
                    2 => |v| v & 0xffff,
                    _ => |v| v,
                };
                self.emit(Op::Map1(f, d, a));
            }
        }
        Ok(())
    }

    fn cvt(&mut self, i: &Instruction<'m>) -> Result<()> {
        let types: Vec<Type> = i.types().collect();
        let [d, operands @ ..] = i.operands.as_slice() else { return Err("too few operands".to_owned()) };
        if i.has("pack") {
            let (to, from) = match types.as_slice() {
                [to, from, ..] => (*to, *from),
                _ => return Err("expected two types".to_owned()),
            };
            let d = self.result(d)?;
            if to.size() > 2
                || from.size() != 4
                || is_float(to)
                || is_float(from)
                || !matches!(operands.len(), 2 | 3)
            {
                return Err(String::new());
            }
            let mut rows = [NONE; 3];
            for (row, operand) in rows.iter_mut().zip(operands) {
                *row = self.value(operand, from)?;
            }
            if rows[2] == NONE {
                rows[2] = self.constant(0);
            }
            // Without a third operand the result has two values alone.
            self.emit(Op::Pack(to, from, d, rows));
            return Ok(());
        }
        let [to, from] = types.as_slice() else { return Err("expected two types".to_owned()) };
        let (to, from) = (*to, *from);
        let integer = i.modifiers().find_map(|m| {
            Some(match m {
                "rni" => Mode::Nearest,
                "rzi" => Mode::Zero,
                "rmi" => Mode::Down,
                "rpi" => Mode::Up,
                _ => return None,
            })
        });
        let spec = ConvertSpec {
            to,
            from,
            mode: rounding(i),
            integer,
            flush: i.has("ftz"),
            saturate: i.has("sat"),
            relu: i.has("relu"),
        };
        if i.has("rs") || i.has("scaled") {
            return Err(String::new());
        }
        let d_slot = self.result(d)?;
        let scalar = |ty: Type| match ty {
            Type::F16x2 => Some(Type::F16),
            Type::Bf16x2 => Some(Type::Bf16),
            Type::E4m3x2 => Some(Type::E4m3),
            Type::E5m2x2 => Some(Type::E5m2),
            _ => None,
        };
        match (scalar(to), scalar(from), operands) {
            (Some(to), None, [a, b]) => {
                let (a, b) = (self.value(a, from)?, self.value(b, from)?);
                self.emit(Op::ConvertPair(Box::new(ConvertSpec { to, ..spec }), d_slot, a, b));
            }
            (Some(to), Some(from), [a]) => {
                // Both halves of one operand, the high one first.
                let whole = self.value(a, types[1])?;
                let (high, low) = (self.temporary(), self.temporary());
                let width = self.constant(u64::from(from.size()) * 8);
                let mask = self.constant((1 << (from.size() * 8)) - 1);
                self.emit(Op::Map3(|v, by, mask| v >> by & mask, high, whole, width, mask));
                self.emit(Op::Map2(|v, mask| v & mask, low, whole, mask));
                self.emit(Op::ConvertPair(Box::new(ConvertSpec { to, from, ..spec }), d_slot, high, low));
            }
            (None, None, [a]) => {
                let a = self.value(a, from)?;
                let known =
                    is_float(to) == (format(to).is_some()) && is_float(from) == (format(from).is_some());
                if !known || to.size() > 8 || from.size() > 8 {
                    return Err(String::new());
                }
                match fast_conversion(&spec) {
                    Some(f) => self.emit(Op::Map1(f, d_slot, a)),
                    None => self.emit(Op::Convert(Box::new(spec), d_slot, a)),
                }
            }
            _ => return Err(String::new()),
        }
        Ok(())
    }

    /// The comparison, its type and its combination with a predicate.
    fn comparison(&mut self, i: &Instruction<'m>, ty: Type, a: &Operand, b: &Operand) -> Result<Slot> {
        let op = i.modifiers().find(|m| COMPARISONS.contains(m)).ok_or_else(String::new)?;
        let (mut a, mut b) = (self.value(a, ty)?, self.value(b, ty)?);
        if i.has("ftz") && ty == Type::F32 {
            for row in [&mut a, &mut b] {
                let flushed = self.temporary();
                self.emit(Op::Map1(flush_single, flushed, *row));
                *row = flushed;
            }
        }
        let result = self.temporary();
        self.emit(Op::Map2(compare(op, ty).ok_or_else(String::new)?, result, a, b));
        Ok(result)
    }

    fn setp(&mut self, i: &Instruction<'m>) -> Result<()> {
        let ty = i.types().next_back().ok_or_else(String::new)?;
        let [d, a, b, rest @ ..] = i.operands.as_slice() else { return Err("too few operands".to_owned()) };
        let (first, second) = match d {
            Operand::Pair(p, q) => (self.pair_part(p)?, Some(self.pair_part(q)?)),
            d => (self.result(d)?, None),
        };
        if let Some(scalar) = packed_scalar(ty) {
            return self.setp_packed(i, ty, scalar, (first, second), a, b);
        }
        let combined = i.modifiers().find_map(combine);
        let with = match rest {
            [] => None,
            [c] => Some(self.value(c, Type::Pred)?),
            _ => return Err("too many operands".to_owned()),
        };
        let result = self.comparison(i, ty, a, b)?;
        match (combined, with) {
            (Some(f), Some(with)) => {
                // The first result may be the combined operand.
                let held = self.temporary();
                self.emit(Op::Map2(f, held, result, with));
                if let Some(second) = second {
                    let not = self.temporary();
                    self.emit(Op::Map1(|p| p ^ 1, not, result));
                    self.emit(Op::Map2(f, second, not, with));
                }
                self.emit(Op::Map1(|p| p, first, held));
            }
            (None, None) => {
                if let Some(second) = second {
                    self.emit(Op::Map1(|p| p ^ 1, second, result));
                }
                // A comparison alone writes its result directly.
                match (self.last(), second) {
                    (Some(Op::Map2(_, d, ..)), None) => *d = first,
                    _ => self.emit(Op::Map1(|p| p, first, result)),
                }
            }
            _ => return Err("a combination without its operand".to_owned()),
        }
        Ok(())
    }

    pub fn pair_part(&mut self, name: &str) -> Result<Slot> {
        if name == "_" { Ok(self.temporary()) } else { self.register(name) }
    }

    /// `setp` of two halves gives two predicates, the low half's first.
    fn setp_packed(
        &mut self,
        i: &Instruction<'m>,
        ty: Type,
        scalar: Type,
        results: (Slot, Option<Slot>),
        a: &Operand,
        b: &Operand,
    ) -> Result<()> {
        let op = i.modifiers().find(|m| COMPARISONS.contains(m)).ok_or_else(String::new)?;
        let f = compare(op, scalar).ok_or_else(String::new)?;
        let (a, b) = (self.value(a, ty)?, self.value(b, ty)?);
        let cut: [Map1; 2] = [|v| v & 0xffff, |v| v >> 16 & 0xffff];
        let mut found = Vec::new();
        for cut in cut {
            let (x, y, p) = (self.temporary(), self.temporary(), self.temporary());
            self.emit(Op::Map1(cut, x, a));
            self.emit(Op::Map1(cut, y, b));
            self.emit(Op::Map2(f, p, x, y));
            found.push(p);
        }
        self.emit(Op::Map1(|p| p, results.0, found[0]));
        if let Some(second) = results.1 {
            self.emit(Op::Map1(|p| p, second, found[1]));
        }
        Ok(())
    }

    fn set(&mut self, i: &Instruction<'m>) -> Result<()> {
        let types: Vec<Type> = i.types().collect();
        let [to, from] = types.as_slice() else { return Err("expected two types".to_owned()) };
        let [d, a, b, rest @ ..] = i.operands.as_slice() else { return Err("too few operands".to_owned()) };
        let d = self.result(d)?;
        if let Some(scalar) = packed_scalar(*from) {
            let (low, high) = (self.temporary(), self.temporary());
            self.setp_packed(i, *from, scalar, (low, Some(high)), a, b)?;
            let f: Map2 = match to {
                Type::F16x2 => |l, h| (l * 0x3c00) | ((h * 0x3c00) << 16),
                Type::Bf16x2 => |l, h| (l * 0x3f80) | ((h * 0x3f80) << 16),
                _ => |l, h| (l * 0xffff) | ((h * 0xffff) << 16),
            };
            self.emit(Op::Map2(f, d, low, high));
            return Ok(());
        }
        let mut result = self.comparison(i, *from, a, b)?;
        if let [c] = rest {
            let f = i.modifiers().find_map(combine).ok_or_else(String::new)?;
            let with = self.value(c, Type::Pred)?;
            let held = self.temporary();
            self.emit(Op::Map2(f, held, result, with));
            result = held;
        }
        let f: Map1 = match to {
            Type::F32 => |p| (p & 1) * 0x3f80_0000,
            Type::F16 => |p| (p & 1) * 0x3c00,
            Type::Bf16 => |p| (p & 1) * 0x3f80,
            Type::U16 | Type::S16 => |p| (p & 1) * 0xffff,
            _ => |p| (p & 1) * 0xffff_ffff,
        };
        self.emit(Op::Map1(f, d, result));
        Ok(())
    }

    fn bits(&mut self, i: &Instruction<'m>) -> Result<()> {
        let name = i.mnemonic();
        let types: Vec<Type> = i.types().collect();
        let ty = *types.last().ok_or_else(String::new)?;
        let [d, a, b, rest @ ..] = i.operands.as_slice() else {
            let [d, a] = i.operands.as_slice() else { return Err("too few operands".to_owned()) };
            return self.testp(i, ty, d, a);
        };
        let first_type = if name == "slct" { types[0] } else { ty };
        let d_operand = d;
        let d = match d {
            Operand::Pair(value, _) => self.pair_part(value)?,
            d => self.result(d)?,
        };
        let narrow = matches!(name, "szext" | "bmsk");
        let a = self.value(a, first_type)?;
        let b = self.value(b, if narrow { Type::U32 } else { first_type })?;
        match (name, rest) {
            ("selp", [p]) => {
                let p = self.value(p, Type::Pred)?;
                self.emit(Op::Map3(|a, b, p| if p & 1 != 0 { a } else { b }, d, a, b, p));
            }
            ("slct", [c]) => {
                let c = self.value(c, ty)?;
                let f: Map3 = match ty {
                    Type::S32 => |a, b, c| if c as i32 >= 0 { a } else { b },
                    _ => |a, b, c| if f32::from_bits(c as u32) >= 0.0 { a } else { b },
                };
                self.emit(Op::Map3(f, d, a, b, c));
            }
            ("prmt", [c]) => {
                let c = self.value(c, Type::B32)?;
                let f = i.modifiers().find_map(permute_mode).unwrap_or(permute);
                self.emit(Op::Map3(f, d, a, b, c));
            }
            ("lop3", [c, Operand::Integer(table), more @ ..]) => {
                let c = self.value(c, ty)?;
                let combined = i.modifiers().find_map(combine);
                self.emit(Op::Lop3(*table as u8, d, [a, b, c]));
                if let (Operand::Pair(_, p), Some(f), [q]) = (d_operand, combined, more) {
                    let (p, q) = (self.pair_part(p)?, self.value(q, Type::Pred)?);
                    let set = self.temporary();
                    self.emit(Op::Map1(|v| u64::from(v as u32 != 0), set, d));
                    self.emit(Op::Map2(f, p, set, q));
                }
            }
            ("shf", [c]) => {
                let c = self.value(c, Type::U32)?;
                self.emit(Op::Map3(funnel(i.has("l"), i.has("clamp")), d, a, b, c));
            }
            ("dp4a", [c]) => {
                let c = self.value(c, Type::S32)?;
                let [a_type, b_type] = types.as_slice() else { return Err("expected two types".to_owned()) };
                self.emit(Op::Map3(dot4(*a_type == Type::S32, *b_type == Type::S32), d, a, b, c));
            }
            ("dp2a", [c]) => {
                let c = self.value(c, Type::S32)?;
                let [a_type, b_type] = types.as_slice() else { return Err("expected two types".to_owned()) };
                let f: Map3 = match (*a_type == Type::S32, *b_type == Type::S32, i.has("hi")) {
                    (false, false, false) => |a, b, c| dot2(a, b, c, false, false, false),
                    (false, false, true) => |a, b, c| dot2(a, b, c, false, false, true),
                    (false, true, false) => |a, b, c| dot2(a, b, c, false, true, false),
                    (false, true, true) => |a, b, c| dot2(a, b, c, false, true, true),
                    (true, false, false) => |a, b, c| dot2(a, b, c, true, false, false),
                    (true, false, true) => |a, b, c| dot2(a, b, c, true, false, true),
                    (true, true, false) => |a, b, c| dot2(a, b, c, true, true, false),
                    (true, true, true) => |a, b, c| dot2(a, b, c, true, true, true),
                };
                self.emit(Op::Map3(f, d, a, b, c));
            }
            ("copysign", []) => {
                let f: Map2 = match ty {
                    Type::F64 => |a, b| b & !(1 << 63) | a & 1 << 63,
                    _ => |a, b| b & 0x7fff_ffff | a & 0x8000_0000,
                };
                self.emit(Op::Map2(f, d, a, b));
            }
            ("szext", []) => {
                let f: Map2 = match (ty == Type::S32, i.has("wrap")) {
                    (true, true) => |a, n| sign_extend(a, n & 31),
                    (true, false) => |a, n| sign_extend(a, (n & 0xffff_ffff).min(32)),
                    (false, true) => |a, n| a & ((1 << (n & 31)) - 1),
                    (false, false) => |a, n| a & ((1u64 << (n & 0xffff_ffff).min(32)) - 1),
                };
                self.emit(Op::Map2(f, d, a, b));
            }
            ("bmsk", []) => {
                let f: Map2 = if i.has("wrap") {
                    |p, n| ((1u64 << (n & 31)) - 1) << (p & 31) & 0xffff_ffff
                } else {
                    |p, n| {
                        let (p, n) = ((p & 0xffff_ffff).min(32), (n & 0xffff_ffff).min(32));
                        ((1u64 << n) - 1) << p & 0xffff_ffff
                    }
                };
                self.emit(Op::Map2(f, d, a, b));
            }
            _ => return Err(String::new()),
        }
        Ok(())
    }

    fn testp(&mut self, i: &Instruction<'m>, ty: Type, d: &Operand, a: &Operand) -> Result<()> {
        if i.mnemonic() != "testp" {
            return Err(String::new());
        }
        macro_rules! test {
            ($read:expr) => {
                match i.modifiers().next() {
                    Some("finite") => |v| u64::from($read(v).is_finite()),
                    Some("infinite") => |v| u64::from($read(v).is_infinite()),
                    Some("number") => |v| u64::from(!$read(v).is_nan()),
                    Some("notanumber") => |v| u64::from($read(v).is_nan()),
                    Some("normal") => |v| u64::from($read(v).is_normal()),
                    Some("subnormal") => |v| u64::from($read(v).is_subnormal()),
                    _ => return Err(String::new()),
                }
            };
        }
        let f: Map1 = match ty {
            Type::F32 => test!(|v: u64| f32::from_bits(v as u32)),
            Type::F64 => test!(f64::from_bits),
            _ => return Err(String::new()),
        };
        let (d, a) = (self.result(d)?, self.value(a, ty)?);
        self.emit(Op::Map1(f, d, a));
        Ok(())
    }
}

fn packed_scalar(ty: Type) -> Option<Type> {
    match ty {
        Type::F16x2 => Some(Type::F16),
        Type::Bf16x2 => Some(Type::Bf16),
        _ => None,
    }
}

fn sign_extend(value: u64, bits: u64) -> u64 {
    match bits {
        0 => 0,
        32.. => value & 0xffff_ffff,
        bits => ((value as u32) << (32 - bits)).cast_signed().wrapping_shr(32 - bits as u32) as u32 as u64,
    }
}

/// The conversions that index arithmetic is made of.
fn fast_conversion(spec: &ConvertSpec) -> Option<Map1> {
    if spec.saturate || spec.flush || spec.integer.is_some() || spec.mode != Mode::Nearest {
        return None;
    }
    Some(match (spec.to, spec.from) {
        (Type::U64 | Type::S64, Type::U32) => |v| v & 0xffff_ffff,
        (Type::U64 | Type::S64, Type::S32) => |v| v as i32 as u64,
        (Type::U32 | Type::S32, Type::U64 | Type::S64) => |v| v & 0xffff_ffff,
        (Type::F32, Type::S32) => |v| u64::from((v as i32 as f32).to_bits()),
        (Type::F32, Type::U32) => |v| u64::from((v as u32 as f32).to_bits()),
        (Type::F64, Type::F32) => |v| f64::from(f32::from_bits(v as u32)).to_bits(),
        (Type::F32, Type::F64) => |v| u64::from((f64::from_bits(v) as f32).to_bits()),
        _ => return None,
    })
}

/// The components of a special register that is a vector.
fn vector(name: &str) -> Option<[&'static str; 4]> {
    Some(match name {
        "%tid" => ["%tid.x", "%tid.y", "%tid.z", "%tid.w"],
        "%ntid" => ["%ntid.x", "%ntid.y", "%ntid.z", "%ntid.w"],
        "%ctaid" => ["%ctaid.x", "%ctaid.y", "%ctaid.z", "%ctaid.w"],
        "%nctaid" => ["%nctaid.x", "%nctaid.y", "%nctaid.z", "%nctaid.w"],
        _ => return None,
    })
}
