//! How bounds change where a size rises.

use crate::ids::LeafId;

use super::types::BoundOp;

/// How the value of an expression changes where a size rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// It does not depend on the size.
    Constant,
    /// It never falls.
    Rises,
    /// It never rises.
    Falls,
    /// It may do both.
    Unknown,
}

impl Trend {
    /// Returns the trend of a sum, a product, a minimum or a maximum.
    #[must_use]
    pub fn with(self, other: Trend) -> Trend {
        match (self, other) {
            (Trend::Constant, one) | (one, Trend::Constant) => one,
            (one, other) if one == other => one,
            _ => Trend::Unknown,
        }
    }

    /// Returns the trend of what is subtracted or divided by.
    #[must_use]
    pub fn reversed(self) -> Trend {
        match self {
            Trend::Rises => Trend::Falls,
            Trend::Falls => Trend::Rises,
            same => same,
        }
    }

    /// Returns true if the value may become smaller.
    #[must_use]
    pub fn may_fall(self) -> bool {
        matches!(self, Trend::Falls | Trend::Unknown)
    }

    /// Returns the trend of a bound. `leaf` returns that of a leaf.
    pub fn of_code(code: &[BoundOp], leaf: &mut dyn FnMut(LeafId) -> Trend) -> Trend {
        let mut stack = Vec::new();
        for op in code {
            let trend = match op {
                BoundOp::Leaf(number) => leaf(*number),
                // The build checks that no length exceeds its largest value.
                BoundOp::Constant(_) | BoundOp::Variable(_) | BoundOp::Length(_) | BoundOp::Extent(_) => {
                    Trend::Constant
                }
                BoundOp::Add | BoundOp::Sub | BoundOp::Mul | BoundOp::Div | BoundOp::Rem => {
                    let (Some(right), Some(left)) = (stack.pop(), stack.pop()) else { return Trend::Unknown };
                    match op {
                        BoundOp::Sub | BoundOp::Div => Trend::with(left, Trend::reversed(right)),
                        BoundOp::Rem if left == Trend::Constant && right == Trend::Constant => {
                            Trend::Constant
                        }
                        BoundOp::Rem => Trend::Unknown,
                        _ => left.with(right),
                    }
                }
            };
            stack.push(trend);
        }
        stack.pop().unwrap_or(Trend::Constant)
    }
}
