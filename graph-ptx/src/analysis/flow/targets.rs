//! The objects that an address points into.

use crate::analysis::value::{Origin, Value};

/// The objects that an address may point into.
pub(super) struct Targets {
    /// Things that it is the base of, each with the distance from it where that is known.
    pub places: Vec<(Origin, Option<i64>)>,
    /// True if it may also point to memory that is not modelled.
    pub elsewhere: bool,
    /// True if it has no value at all yet.
    pub none: bool,
}

impl Targets {
    /// Those of an address, `more` bytes further on.
    pub fn of(address: &Value, more: i64) -> Targets {
        let mut targets = Targets { places: Vec::new(), elsewhere: false, none: false };
        let Some(sums) = address.addresses() else {
            targets.places.extend(address.origins().into_iter().map(|origin| (origin, None)));
            targets.elsewhere = true;
            return targets;
        };
        targets.none = true;
        for sum in sums {
            targets.none = false;
            match sum.direct() {
                Some(origin) => {
                    targets.places.push((origin, sum.offset.map(|offset| offset.wrapping_add(more))));
                }
                None => {
                    targets.places.extend(sum.terms().iter().map(|term| (term.0, None)));
                    targets.elsewhere = true;
                }
            }
        }
        targets
    }
}
