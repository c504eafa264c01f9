//! Sizes: scalars with `#[at_most(n)]`, which a graph is built for all values of.
//!
//! The build evaluates the program at the largest values, so that all memory is planned for them. The exec gets the
//! caller's values when it is instantiated, by an edit.

use cuweave_core::expand::{ExpansionPoint, Expressions, Frame, FrameId};
use cuweave_core::flattened::Flattened;
use cuweave_core::ids::ScalarId;
use cuweave_core::index::Vector;
use cuweave_core::ir::{DimId, Text};
use cuweave_core::location::SourceLocation;
use cuweave_core::table::{BoundOp, DecodedFunction};

use crate::build::{Body, BodyEvaluator, ScalarValue};
use crate::error::{Error, PlanFault, Result, SetterFault};
use crate::token::Token;

/// The value of a size: any integer type.
#[diagnostic::on_unimplemented(
    message = "a size is an integer, and this is `{Self}`",
    label = "`#[at_most(..)]` stands on an integer"
)]
pub trait SizeValue: Copy {
    /// Returns the value. `None` if it is negative.
    fn get(&self) -> Option<u64>;

    /// Returns a value of this type. `None` if it does not fit.
    fn from_u64(value: u64) -> Option<Self>;
}

macro_rules! impl_size_value {
    ($($ty:ty),*) => {$(
        impl SizeValue for $ty {
            fn get(&self) -> Option<u64> {
                u64::try_from(*self).ok()
            }

            fn from_u64(value: u64) -> Option<$ty> {
                <$ty>::try_from(value).ok()
            }
        }
    )*};
}

impl_size_value!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

/// A size among bound arguments.
pub trait SizeSlot {
    /// Returns the value. `None` if it is negative.
    fn value(&self) -> Option<u64>;

    /// Replaces the value. Returns false if it does not fit.
    fn replace(&mut self, value: u64) -> bool;
}

impl<T: SizeValue> SizeSlot for T {
    fn value(&self) -> Option<u64> {
        self.get()
    }

    fn replace(&mut self, value: u64) -> bool {
        T::from_u64(value).map(|value| *self = value).is_some()
    }
}

impl SizeSlot for ScalarValue {
    fn value(&self) -> Option<u64> {
        self.unsigned()
    }

    fn replace(&mut self, value: u64) -> bool {
        self.with_unsigned(value).map(|value| *self = value).is_some()
    }
}

/// The range of a size.
#[derive(Clone, Debug)]
pub(crate) struct SizeRange {
    pub scalar: ScalarId,
    /// The argument.
    pub at: SourceLocation,
    /// The text of `#[at_most(..)]`.
    text: String,
    pub least: u64,
    pub most: u64,
    /// The current value. Until the exec begins, the nodes have the largest one instead.
    pub value: u64,
}

impl SizeRange {
    /// Checks that a value lies in the range. `None` is a negative one.
    pub fn check(&self, value: Option<u64>) -> Result<()> {
        match value {
            Some(value) if (self.least..=self.most).contains(&value) => Ok(()),
            other => Err(self.out_of_range(other.unwrap_or(0))),
        }
    }

    fn span(&self) -> u64 {
        self.most - self.least
    }

    /// Returns ranges whose largest values are the powers of two in the range, and its ends.
    pub fn samples(&self) -> Vec<SizeRange> {
        let least = self.least.max(1);
        let powers =
            (0..u64::BITS).map(|bit| 1 << bit).filter(|power| (least + 1..self.most).contains(power));
        let ends = std::iter::once(least).chain(powers).chain([self.most]);
        ends.map(|most| SizeRange { most, ..self.clone() }).collect()
    }

    #[cold]
    pub fn out_of_range(&self, value: u64) -> Error {
        Error::size_out_of_range(Box::new(self.at.clone()), &self.text, self.least..=self.most, value)
    }
}

/// Returns the sizes of a function with their ranges. `body` has the values of the caller, which are checked.
pub(super) fn size_ranges(body: &dyn Body) -> Result<Vec<SizeRange>> {
    let Some(handle) = body.table(Token) else { return Err(PlanFault::OtherVersion.into()) };
    let table: &DecodedFunction = &handle;
    if table.structure.at_most.is_empty() {
        return Ok(Vec::new());
    }
    let root = Vector::from(vec![Frame::outermost(handle.clone())]);
    let at = ExpansionPoint { frames: &root, frame: FrameId::OUTERMOST, loop_values: &[] };
    let mut evaluator = BodyEvaluator::new(body);
    let range = |(name, value, most): &(Text, DimId, DimId)| {
        let [BoundOp::Leaf(leaf)] = *table.dims[*value] else { return Err(PlanFault::OtherVersion.into()) };
        let [scalar] = *at.scalars(leaf) else { return Err(PlanFault::OtherVersion.into()) };
        let least =
            table.structure.at_least.iter().find(|(_, of, _)| of == value).map_or(1, |(.., least)| *least);
        let text = table.program.dims[*most].to_string();
        let line = table.scalars[scalar].line;
        let at_argument = SourceLocation::new(name.to_string(), table.program.file.to_string(), line);
        let value = evaluator.value(at, *value, &mut |_| None)?;
        let most = evaluator.value(at, *most, &mut |_| None)?;
        let range = SizeRange { scalar, at: at_argument, text, least, most, value };
        range.check(Some(value))?;
        Ok(range)
    };
    table.structure.at_most.iter().map(range).collect()
}

/// Values of all sizes.
pub(super) struct SizePoint {
    pub values: Vec<u64>,
    /// True if no value is below that of the point before.
    pub rises: bool,
}

/// The number of points between the ends of the ranges.
const INNER_POINTS: u64 = 8;

/// Returns values of sizes for which launches are compared: rising ones from the least on, then corners of the ranges.
/// All values of a small range, but never the largest of all sizes, which the build has.
pub(super) fn size_points(sizes: &[SizeRange]) -> Vec<SizePoint> {
    let steps = sizes.iter().map(SizeRange::span).max().unwrap_or(0).min(3 * INNER_POINTS);
    let rising = (0..steps).map(|at| {
        let value = |size: &SizeRange| match size.span() > 3 * INNER_POINTS {
            true => inner_point(size, at),
            false => size.least + size.span() * at / steps,
        };
        SizePoint { values: sizes.iter().map(value).collect(), rises: true }
    });
    let sides: usize = if sizes.len() <= 3 { 1 << sizes.len() } else { 0 };
    let corners = (1..sides.saturating_sub(1)).map(|corner| {
        let value =
            |(at, size): (usize, &SizeRange)| if corner >> at & 1 == 1 { size.most } else { size.least };
        SizePoint { values: sizes.iter().enumerate().map(value).collect(), rises: false }
    });
    // Of many sizes, each once apart from all others.
    let apart = (0..if sides == 0 { 2 * sizes.len() } else { 0 }).map(|corner| {
        let value = |(at, size): (usize, &SizeRange)| match (at == corner / 2) == (corner % 2 == 0) {
            true => size.most,
            false => size.least,
        };
        SizePoint { values: sizes.iter().enumerate().map(value).collect(), rises: false }
    });
    rising.chain(corners).chain(apart).collect()
}

/// Returns one of three values in a row at each of the inner points, so that some are odd, and some no multiple of 3.
/// The middle ones are multiples of a power of two, since the numbers of blocks change near these.
fn inner_point(size: &SizeRange, at: u64) -> u64 {
    let step = size.span() / (INNER_POINTS + 1);
    let multiple = 1 << step.ilog2();
    match at {
        0..3 => size.least + at,
        _ => ((size.least + step * (at / 3)) / multiple * multiple + at % 3 - 1).max(size.least + 2),
    }
}

/// Returns the number of steps of one from some values of sizes to others.
pub(super) fn steps_between(from: &[u64], to: &[u64]) -> u64 {
    from.iter().zip(to).fold(0, |steps: u64, (&from, &to)| steps.saturating_add(from.abs_diff(to)))
}

/// Returns the values after `taken` steps of one from some values of sizes to others: those of the first size, then
/// those of the second, and so on.
pub(super) fn after_steps(from: &[u64], to: &[u64], mut taken: u64) -> Vec<u64> {
    let value = |(&from, &to): (&u64, &u64)| {
        let steps = taken.min(from.abs_diff(to));
        taken -= steps;
        if from <= to { from + steps } else { from - steps }
    };
    from.iter().zip(to).map(value).collect()
}

/// Checks that the build has proved the graph for all values of its sizes.
pub(super) fn check_sizes(flat: &Flattened, sizes: &[SizeRange]) -> Result<()> {
    let fixed = |size: &SizeRange| Some((size.at.clone(), SetterFault::of(flat, size.scalar)?));
    match sizes.iter().find_map(fixed) {
        None => Ok(()),
        Some((at, reason)) => Err(PlanFault::FixedSize { at, reason }.into()),
    }
}
