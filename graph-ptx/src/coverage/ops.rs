//! Operations on affine forms, in the machine width of their operands.
//!
//! An operation returns a form, or a cut after which it has one, or gives up. Wrapping, sign tests, division and
//! masks may need cuts; sums and products with constants do not.

use super::condition::RangeCondition;
use super::cut::{BoxCut, by_sign, quotient};
use super::form::AffineForm;
use super::launch::RangedValue;
use super::slice::{IntType, SliceOpcode};

/// A value for all threads of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FormValue {
    /// An opaque value, with the note that gives the reason; [`FORM`] if an operation here gave up.
    Opaque(u32),
    Number(AffineForm),
    Predicate(bool),
}

/// The note of a value that has no affine form.
pub(super) const FORM: u32 = u32::MAX;

/// The reason that an operation has no value: the group must be cut first, or a condition must be assumed, or the value
/// is opaque.
pub(super) enum NoValue {
    Cut(BoxCut),
    Assume(Box<RangeCondition>),
    Opaque(u32),
}

type Result<T> = std::result::Result<T, NoValue>;

const GIVE_UP: NoValue = NoValue::Opaque(FORM);

/// Operations over a box with these counts.
#[derive(Clone, Copy)]
pub(super) struct FormOps<'c> {
    pub counts: &'c [u64],
    pub ranged: RangedForms<'c>,
}

/// The indices that are ranged values, and what is assumed about them.
#[derive(Clone, Copy)]
pub(super) struct RangedForms<'c> {
    /// The ranged values. The form of each is its least value plus the index [`FIRST_RANGED`] and its position.
    pub values: &'c [RangedValue],
    /// The forms of `%tid` and `%ctaid`.
    pub places: &'c [AffineForm; 6],
    pub assumed: &'c [RangeCondition],
}

/// The index of the first ranged value. The indices before it are those of threads and blocks.
pub(super) const FIRST_RANGED: u32 = 6;

/// The maximum number of conditions of a group. A loop could assume one in each iteration.
const MAX_CONDITIONS: usize = 4;

impl RangedForms<'_> {
    /// Returns the ranged value that an index belongs to.
    fn value(&self, index: u32) -> Option<&RangedValue> {
        self.values.get(index.checked_sub(FIRST_RANGED)? as usize)
    }

    /// Returns true if the form depends on a ranged value.
    pub fn mentions(&self, form: &AffineForm) -> bool {
        form.terms.iter().any(|term| self.value(term.0).is_some())
    }

    /// Returns true if the form, which depends on a ranged value, is negative.
    fn negative(&self, form: &AffineForm, counts: &[u64]) -> Result<bool> {
        let mut rest = AffineForm { terms: Vec::new(), ..form.clone() };
        let mut values = Vec::new();
        for &(index, by) in &form.terms {
            let Some(value) = self.value(index) else {
                rest.terms.push((index, by));
                continue;
            };
            let least = by.checked_mul(i128::from(value.least));
            rest.constant = least.and_then(|least| rest.constant.checked_sub(least)).ok_or(GIVE_UP)?;
            values.push((value.number, by));
        }
        let condition = RangeCondition::new(&rest, values, counts, self.places).ok_or(GIVE_UP)?;
        match self.assumed.iter().find_map(|known| known.decides(&condition)) {
            Some(is_negative) => Ok(is_negative),
            None if self.assumed.len() < MAX_CONDITIONS => Err(NoValue::Assume(Box::new(condition))),
            None => Err(GIVE_UP),
        }
    }
}

impl FormOps<'_> {
    /// Evaluates an operation. The result is opaque if an argument is.
    pub fn value(&self, code: SliceOpcode, int: IntType, args: &[FormValue]) -> Result<FormValue> {
        if let Some(&note) = args.iter().find_map(|arg| match arg {
            FormValue::Opaque(note) => Some(note),
            _ => None,
        }) {
            return Err(NoValue::Opaque(note));
        }
        match (code, args) {
            (SliceOpcode::Not, [FormValue::Predicate(a)]) => Ok(FormValue::Predicate(!a)),
            (SliceOpcode::And, [FormValue::Predicate(a), FormValue::Predicate(b)]) => {
                Ok(FormValue::Predicate(*a && *b))
            }
            (SliceOpcode::Or, [FormValue::Predicate(a), FormValue::Predicate(b)]) => {
                Ok(FormValue::Predicate(*a || *b))
            }
            (SliceOpcode::Xor, [FormValue::Predicate(a), FormValue::Predicate(b)]) => {
                Ok(FormValue::Predicate(a != b))
            }
            (SliceOpcode::Equal, [FormValue::Number(a), FormValue::Number(b)]) => {
                self.equal(a, b, int).map(FormValue::Predicate)
            }
            (SliceOpcode::Less, [FormValue::Number(a), FormValue::Number(b)]) => {
                self.less(a, b, int).map(FormValue::Predicate)
            }
            (code, [FormValue::Number(a)]) => self.unary(code, int, a).map(FormValue::Number),
            (code, [FormValue::Number(a), FormValue::Number(b)]) => {
                self.binary(code, int, a, b).map(FormValue::Number)
            }
            _ => Err(GIVE_UP),
        }
    }

    fn unary(&self, code: SliceOpcode, int: IntType, a: &AffineForm) -> Result<AffineForm> {
        let form = match code {
            SliceOpcode::Copy => Some(a.clone()),
            SliceOpcode::Extend => return self.exact(a, int),
            SliceOpcode::Neg => a.scaled(-1).filter(|_| a.pointer.is_none()),
            SliceOpcode::Not => AffineForm::constant(-1).plus(a, -1).filter(|_| a.pointer.is_none()),
            SliceOpcode::Abs => {
                let a = self.exact(a, int)?;
                if self.negative(&a)? { a.scaled(-1) } else { Some(a) }
            }
            _ => None,
        };
        Ok(form.ok_or(GIVE_UP)?.reduced(int.bits))
    }

    fn binary(&self, code: SliceOpcode, int: IntType, a: &AffineForm, b: &AffineForm) -> Result<AffineForm> {
        let form = match code {
            SliceOpcode::Add => a.plus(b, 1),
            SliceOpcode::Sub => a.plus(b, -1),
            SliceOpcode::Mul => product(&a.clone().reduced(int.bits), &b.clone().reduced(int.bits)),
            SliceOpcode::MulWide => {
                let product = product(&self.exact(a, int)?, &self.exact(b, int)?).ok_or(GIVE_UP)?;
                return Ok(product.reduced(int.bits * 2));
            }
            SliceOpcode::MulHigh => {
                let product = product(&self.exact(a, int)?, &self.exact(b, int)?).ok_or(GIVE_UP)?;
                Some(self.quotient(&product, 1 << int.bits)?)
            }
            SliceOpcode::Shl => match self.shift(b, int)? {
                by if by >= u32::from(int.bits) => Some(AffineForm::constant(0)),
                by => a.clone().reduced(int.bits).scaled(1 << by).filter(|_| a.pointer.is_none()),
            },
            SliceOpcode::Shr => {
                let by = self.shift(b, int)?.min(u32::from(int.bits));
                Some(self.quotient(&self.exact(a, int)?, 1 << by)?)
            }
            SliceOpcode::Div => Some(self.divided(&self.exact(a, int)?, &self.exact(b, int)?)?),
            SliceOpcode::Rem => {
                let (a, b) = (self.exact(a, int)?, self.exact(b, int)?);
                let divisor = b.as_constant().ok_or(GIVE_UP)?;
                a.plus(&self.divided(&a, &b)?, -divisor)
            }
            SliceOpcode::And => Some(self.and(a, b, int)?),
            SliceOpcode::Or | SliceOpcode::Xor => Some(self.or(a, b, int, code == SliceOpcode::Xor)?),
            SliceOpcode::Min | SliceOpcode::Max => {
                let smaller = self.less(a, b, int)?;
                Some(if smaller == (code == SliceOpcode::Min) { a.clone() } else { b.clone() })
            }
            _ => None,
        };
        Ok(form.ok_or(GIVE_UP)?.reduced(int.bits))
    }

    /// Returns the low bits of a form as a number of an integer type.
    pub fn exact(&self, form: &AffineForm, int: IntType) -> Result<AffineForm> {
        let form = form.clone().reduced(int.bits);
        if form.pointer.is_some() {
            return Err(GIVE_UP);
        }
        let all = 1i128 << int.bits;
        let first = if int.signed { -(all / 2) } else { 0 };
        let (least, most) = form.range(self.counts);
        let period = (least - first).div_euclid(all);
        if most - first - period * all >= all {
            if self.ranged.mentions(&form) {
                return Err(GIVE_UP);
            }
            let edge = form.plus(&AffineForm::constant(first + (period + 1) * all), -1).ok_or(GIVE_UP)?;
            return Err(by_sign(&edge, self.counts).map_or(GIVE_UP, NoValue::Cut));
        }
        form.plus(&AffineForm::constant(period * all), -1).ok_or(GIVE_UP)
    }

    /// Returns true if the number is negative.
    fn negative(&self, form: &AffineForm) -> Result<bool> {
        let (least, most) = form.range(self.counts);
        if most < 0 {
            return Ok(true);
        }
        if least >= 0 {
            return Ok(false);
        }
        if self.ranged.mentions(form) {
            return self.ranged.negative(form, self.counts);
        }
        Err(by_sign(form, self.counts).map_or(GIVE_UP, NoValue::Cut))
    }

    fn less(&self, a: &AffineForm, b: &AffineForm, int: IntType) -> Result<bool> {
        self.negative(&self.difference(a, b, int)?)
    }

    fn equal(&self, a: &AffineForm, b: &AffineForm, int: IntType) -> Result<bool> {
        let (base, other) = if a.pointer.is_some() { (a, b) } else { (b, a) };
        if base.pointer.is_some() && other.as_constant() == Some(0) {
            // No buffer is at address 0.
            let itself = base.constant == 0 && base.terms.is_empty();
            return if itself { Ok(false) } else { Err(GIVE_UP) };
        }
        let difference = self.difference(a, b, int)?;
        if difference.terms.is_empty() {
            return Ok(difference.constant == 0);
        }
        if self.negative(&difference)? {
            return Ok(false);
        }
        let positive = difference.plus(&AffineForm::constant(1), -1).ok_or(GIVE_UP)?;
        self.negative(&positive)
    }

    /// Returns `a - b` as a number. For two addresses with the same pointer it is the difference of their offsets.
    fn difference(&self, a: &AffineForm, b: &AffineForm, int: IntType) -> Result<AffineForm> {
        let (a, b) = match (a.pointer, b.pointer) {
            (Some(x), Some(y)) if x == y => {
                let offset = |form: &AffineForm| {
                    let form = self.exact(
                        &AffineForm { pointer: None, ..form.clone() },
                        IntType { signed: true, ..int },
                    )?;
                    let (least, most) = form.range(self.counts);
                    if least < -(1 << 46) || most > 1 << 46 { Err(GIVE_UP) } else { Ok(form) }
                };
                (offset(a)?, offset(b)?)
            }
            _ => (self.exact(a, int)?, self.exact(b, int)?),
        };
        a.plus(&b, -1).ok_or(GIVE_UP)
    }

    fn shift(&self, by: &AffineForm, int: IntType) -> Result<u32> {
        let by = self.exact(by, IntType { bits: 32, signed: false })?.as_constant().ok_or(GIVE_UP)?;
        Ok(u32::try_from(by).unwrap_or(u32::from(int.bits)))
    }

    fn quotient(&self, form: &AffineForm, divisor: i128) -> Result<AffineForm> {
        match quotient(form, divisor, self.counts) {
            Some(Ok(form)) => Ok(form),
            Some(Err(cut)) if !self.ranged.mentions(form) => Err(NoValue::Cut(cut)),
            Some(Err(_)) | None => Err(GIVE_UP),
        }
    }

    /// Returns `a / b`, rounded towards 0.
    fn divided(&self, a: &AffineForm, b: &AffineForm) -> Result<AffineForm> {
        let divisor = b.as_constant().filter(|&divisor| divisor != 0).ok_or(GIVE_UP)?;
        let negative = self.negative(a)?;
        let size = if negative { a.scaled(-1).ok_or(GIVE_UP)? } else { a.clone() };
        let quotient = self.quotient(&size, divisor.abs())?;
        if negative == (divisor < 0) { Ok(quotient) } else { quotient.scaled(-1).ok_or(GIVE_UP) }
    }

    fn and(&self, a: &AffineForm, b: &AffineForm, int: IntType) -> Result<AffineForm> {
        let (form, mask) = match (a.as_constant(), b.as_constant()) {
            (_, Some(mask)) => (a, mask),
            (Some(mask), _) => (b, mask),
            _ => return Err(GIVE_UP),
        };
        if form.pointer.is_some() {
            return Err(GIVE_UP);
        }
        let form = form.clone().reduced(int.bits);
        let mut mask = mask.rem_euclid(1 << int.bits) as u128;
        let mut sum = AffineForm::constant(0);
        let mut low = 0;
        // A run of ones keeps the bits from `low` to `high`: the part that is a multiple of `1 << low`, minus that of
        // `1 << high`.
        while mask != 0 {
            low += mask.trailing_zeros();
            mask >>= mask.trailing_zeros();
            let high = low + mask.trailing_ones();
            mask >>= mask.trailing_ones();
            let from = self.quotient(&form, 1 << low)?.scaled(1 << low).ok_or(GIVE_UP)?;
            sum = sum.plus(&from, 1).ok_or(GIVE_UP)?;
            if high < u32::from(int.bits) {
                let above = self.quotient(&form, 1 << high)?.scaled(1 << high).ok_or(GIVE_UP)?;
                sum = sum.plus(&above, -1).ok_or(GIVE_UP)?;
            }
            low = high;
        }
        Ok(sum)
    }

    fn or(&self, a: &AffineForm, b: &AffineForm, int: IntType, exclusive: bool) -> Result<AffineForm> {
        let unsigned = IntType { signed: false, ..int };
        let (a, b) = (self.exact(a, unsigned)?, self.exact(b, unsigned)?);
        if let (Some(a), Some(b)) = (a.as_constant(), b.as_constant()) {
            return Ok(AffineForm::constant(if exclusive { a ^ b } else { a | b }));
        }
        if self.bits(&a) & self.bits(&b) == 0 {
            return a.plus(&b, 1).ok_or(GIVE_UP);
        }
        match (exclusive, a == b) {
            (false, true) => Ok(a),
            (true, true) => Ok(AffineForm::constant(0)),
            (true, _) if b.as_constant() == Some((1 << int.bits) - 1) => b.plus(&a, -1).ok_or(GIVE_UP),
            _ => Err(GIVE_UP),
        }
    }

    /// Returns the bits that may be set in a non-negative number.
    fn bits(&self, form: &AffineForm) -> u128 {
        let mut parts: Vec<(u32, u128)> = Vec::new();
        if form.terms.iter().any(|term| term.1 < 0) || form.constant < 0 {
            return u128::MAX;
        }
        if form.constant > 0 {
            parts.push((form.constant.trailing_zeros(), form.constant.unsigned_abs()));
        }
        for &(index, coefficient) in &form.terms {
            let most = coefficient.saturating_mul(i128::from(self.counts[index as usize]) - 1);
            parts.push((coefficient.trailing_zeros(), most.unsigned_abs()));
        }
        parts.sort_unstable();
        // A part whose largest value is below the lowest bit of the next one never carries into it.
        let (mut bits, mut segment) = (0u128, None::<(u32, u128)>);
        let run = |low: u32, most: u128| {
            let high = 128 - most.leading_zeros();
            let below = |bit: u32| 1u128.checked_shl(bit).map_or(u128::MAX, |one| one - 1);
            below(high) & !below(low)
        };
        for part in parts {
            segment = match segment {
                Some((low, most)) if most >> part.0.min(127) != 0 => Some((low, most.saturating_add(part.1))),
                Some((low, most)) => {
                    bits |= run(low, most);
                    Some(part)
                }
                None => Some(part),
            };
        }
        bits | segment.map_or(0, |(low, most)| run(low, most))
    }
}

fn product(a: &AffineForm, b: &AffineForm) -> Option<AffineForm> {
    match (a.as_constant(), b.as_constant()) {
        (_, Some(factor)) if a.pointer.is_none() => a.scaled(factor),
        (Some(factor), _) if b.pointer.is_none() => b.scaled(factor),
        _ => None,
    }
}
