//! Hints about managed memory, as a builder keeps them until the scalars have values.

use crate::bind::{Hint, RangedHint};
use crate::build::ScalarValue;

use super::handle::View;
use super::size::Size;

/// A hint about an argument. Its range may depend on scalars.
#[derive(Clone, Debug)]
pub(super) struct BuilderHint {
    pub hint: Hint,
    /// `None` for all elements.
    range: Option<HintedRange>,
}

#[derive(Clone, Debug)]
struct HintedRange {
    from: Size,
    /// `None` for the end of the argument.
    to: Option<Size>,
}

impl HintedRange {
    /// Returns the range of a part. `None` for a whole buffer.
    fn of_part(view: &View) -> Option<HintedRange> {
        view.parts.iter().fold(None, |outer: Option<HintedRange>, part| {
            let Some(HintedRange { from, to }) = outer else {
                return Some(HintedRange { from: part.lo.clone(), to: part.hi.clone() });
            };
            let to = part.hi.as_ref().map(|hi| &from + hi).or(to);
            Some(HintedRange { from: from + &part.lo, to })
        })
    }
}

impl BuilderHint {
    /// Returns a hint about an argument, or about a part of one.
    pub fn new(hint: Hint, argument: &View) -> BuilderHint {
        BuilderHint { hint, range: HintedRange::of_part(argument) }
    }

    /// Returns true if both hints are about all elements, and are equal or exclude each other.
    pub fn is_repeated_by(&self, other: &BuilderHint) -> bool {
        let whole = self.range.is_none() && other.range.is_none();
        whole && (self.hint == other.hint || self.hint.excludes(&other.hint))
    }

    /// Returns the hint for these values of the scalars.
    pub fn value(&self, scalars: &[ScalarValue]) -> RangedHint {
        let bound = |size: &Size| size.value(scalars).value();
        match &self.range {
            None => RangedHint::whole(self.hint),
            Some(HintedRange { from, to }) => {
                RangedHint::within(self.hint, bound(from), to.as_ref().map(bound))
            }
        }
    }
}
