//! Decoding of `multimem` instructions, by the tables of the PTX manual (ISA 9.0).

use super::decoder::{Decoder, Result, is_float};
use super::memory::{results, update, values};
use crate::interp::code::*;
use cuweave_ptx::{Instruction, Type};

/// The 8-bit floats, which targets before `sm_100a` do not have.
const SMALL_FLOATS: [&str; 6] = ["e5m2", "e5m2x2", "e5m2x4", "e4m3", "e4m3x2", "e4m3x4"];

/// The modifiers of an instruction.
#[derive(Default)]
struct Modifiers<'a> {
    semantics: Option<&'a str>,
    scope: Option<&'a str>,
    space: Option<&'a str>,
    operation: Option<&'a str>,
    precision: Option<&'a str>,
    vector: Option<&'a str>,
    ty: Option<Type>,
}

impl<'a> Modifiers<'a> {
    /// Sorts the modifiers after `ld_reduce`, `st` or `red`.
    fn from_instruction(i: &Instruction<'a>) -> Result<Self> {
        let mut found = Modifiers::default();
        for modifier in i.modifiers().skip(1) {
            let place = match modifier {
                "weak" | "relaxed" | "acquire" | "release" => &mut found.semantics,
                "cta" | "cluster" | "gpu" | "sys" => &mut found.scope,
                "global" => &mut found.space,
                "min" | "max" | "add" | "and" | "or" | "xor" => &mut found.operation,
                "acc::f32" | "acc::f16" => &mut found.precision,
                "v2" | "v4" | "v8" => &mut found.vector,
                _ if SMALL_FLOATS.contains(&modifier) => {
                    return Err(format!("`.{modifier}`, which needs a target of sm_100a, is not simulated"));
                }
                _ => {
                    let ty = Type::from_name(modifier).filter(|ty| !operations(*ty).is_empty());
                    let ty = ty.ok_or_else(|| format!("`.{modifier}` is not a modifier of `multimem`"))?;
                    if found.ty.replace(ty).is_some() {
                        return Err("two types".to_owned());
                    }
                    continue;
                }
            };
            if place.replace(modifier).is_some() {
                return Err(format!("`.{modifier}` beside another modifier of its kind"));
            }
        }
        Ok(found)
    }

    /// Returns an error if the form does not have one of the modifiers.
    fn check(&self, form: &str, ty: Type) -> Result<()> {
        let no = |modifier: &str| Err(format!("`multimem.{form}` has no `.{modifier}`"));
        match self.semantics {
            Some(semantics @ "weak") if form == "red" => return no(semantics),
            Some("weak") if self.scope.is_some() => return Err("`.weak` with a scope".to_owned()),
            Some(semantics @ "acquire") if form != "ld_reduce" => return no(semantics),
            Some(semantics @ "release") if form == "ld_reduce" => return no(semantics),
            _ => {}
        }
        match self.operation {
            Some(operation) if form == "st" => return no(operation),
            None if form != "st" => return Err("no operation".to_owned()),
            Some(operation) if !operations(ty).contains(&operation) => {
                return Err(format!("`.{operation}` is not an operation on {ty}"));
            }
            Some(operation) if form == "red" && is_float(ty) && operation != "add" => {
                return Err(format!("`.{operation}` is not an operation of `multimem.red` on {ty}"));
            }
            _ => {}
        }
        match self.precision {
            Some(precision) if form != "ld_reduce" => no(precision),
            Some(precision) if precision != "acc::f32" || !is_half(ty) => {
                Err(format!("`.{precision}` is not a precision of {ty}"))
            }
            _ => Ok(()),
        }
    }
}

/// Returns true for 16-bit floats and pairs of them.
fn is_half(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2)
}

/// Returns the operations on a type; none if `multimem` does not have the type.
fn operations(ty: Type) -> &'static [&'static str] {
    match ty {
        Type::U32 | Type::U64 | Type::S32 => &["add", "min", "max"],
        Type::S64 => &["min", "max"],
        Type::B32 | Type::B64 => &["and", "or", "xor"],
        Type::F32 | Type::F64 => &["add"],
        _ if is_half(ty) => &["add", "min", "max"],
        _ => &[],
    }
}

/// Returns the lengths of vectors of a type; 1 stands for no vector.
fn lengths(ty: Type) -> &'static [usize] {
    match ty {
        Type::F16 | Type::Bf16 => &[2, 4, 8],
        Type::F16x2 | Type::Bf16x2 | Type::F32 => &[1, 2, 4],
        _ => &[1],
    }
}

/// Decodes `multimem.ld_reduce`, `multimem.st` and `multimem.red`.
pub fn multimem<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let form = i.modifiers().next().filter(|form| matches!(*form, "ld_reduce" | "st" | "red"));
    let form = form.ok_or_else(String::new)?;
    let modifiers = Modifiers::from_instruction(i)?;
    let ty = modifiers.ty.ok_or("no type")?;
    modifiers.check(form, ty)?;
    let length = match modifiers.vector {
        Some("v2") => 2,
        Some("v4") => 4,
        Some(_) => 8,
        None => 1,
    };
    if !lengths(ty).contains(&length) {
        let vector =
            modifiers.vector.map_or("without a vector".to_owned(), |vector| format!("with `.{vector}`"));
        return Err(format!("{ty} {vector}"));
    }
    let [first, second] = i.operands.as_slice() else { return Err("expected two operands".to_owned()) };
    let (address, slots) = match form {
        "ld_reduce" => (second, results(decoder, first)?),
        _ => (first, values(decoder, second, ty)?),
    };
    if slots.len() != length {
        return Err(format!("{} registers for a vector of {length}", slots.len()));
    }
    let strong = matches!(modifiers.semantics, Some("relaxed" | "acquire" | "release"));
    let at = AddressOperand { strong, ..decoder.address(address, Space::Generic)? };
    let single = modifiers.precision.is_some();
    let function = match (form, modifiers.operation) {
        ("ld_reduce", Some(operation)) => {
            MultimemFunction::LoadReduce(DeviceReduction { update: update(i, operation, ty)?, single })
        }
        ("red", Some(operation)) => MultimemFunction::Update(update(i, operation, ty)?),
        _ => MultimemFunction::Store,
    };
    decoder.code.emit(Op::Multimem(Box::new(Multimem { function, ty, at, slots })));
    Ok(())
}
