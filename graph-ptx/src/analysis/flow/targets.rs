//! The abstract locations that an address points to.

use crate::analysis::value::{Origin, Value};

/// The abstract locations that an address may point to.
pub(super) struct AddressTargets {
    /// The origins that the address is based on, with the offset if it is known.
    pub locations: Vec<(Origin, Option<i64>)>,
    /// True if the address may also point to unmodelled memory.
    pub elsewhere: bool,
    /// True if the address has no value yet.
    pub none: bool,
}

impl AddressTargets {
    /// Returns the targets of an address plus `more` bytes.
    pub fn new(address: &Value, more: i64) -> AddressTargets {
        let mut targets = AddressTargets { locations: Vec::new(), elsewhere: false, none: false };
        let Some(sums) = address.addresses() else {
            targets.locations.extend(address.origins().into_iter().map(|origin| (origin, None)));
            targets.elsewhere = true;
            return targets;
        };
        targets.none = true;
        for sum in sums {
            targets.none = false;
            match sum.direct() {
                Some(origin) => {
                    targets.locations.push((origin, sum.offset.map(|offset| offset.wrapping_add(more))));
                }
                None => {
                    targets.locations.extend(sum.terms().iter().map(|term| (term.0, None)));
                    targets.elsewhere = true;
                }
            }
        }
        targets
    }
}
