//! The parts of a declaration that are not proved, with the reasons: they are assumed.

use super::declaration::{
    Declaration, DeclaredAccess, DeclaredKind, DeclaredPart, ParameterProof, PrimitiveType, Unproved,
};
use crate::analysis::facts::{AccessClass as Found, ParameterFacts as Facts, Site};
use crate::coverage::BackwardSlice;

pub(super) fn quoted(site: &Site) -> String {
    format!("`{}` (line {} of the PTX)", site.text, site.line)
}

/// Returns the pointers declared write-only, and one flag per parameter: true for an integer by value.
pub(super) fn followed(declaration: &Declaration, pointers: &[bool]) -> (Vec<u32>, Vec<bool>) {
    let parameters = || declaration.parameters.iter().zip(pointers).zip(0u32..);
    let written = parameters()
        .filter(|((declared, pointer), _)| {
            **pointer && matches!(declared.kind, DeclaredKind::Buffer { access: DeclaredAccess::Write, .. })
        })
        .map(|(_, at)| at)
        .collect();
    let scalars = parameters()
        .map(|((declared, _), _)| match declared.kind {
            DeclaredKind::Scalar(Some(primitive)) => primitive.float.is_none() && primitive.size <= 8,
            _ => false,
        })
        .collect();
    (written, scalars)
}

/// Records the parameters that no launch can be proved to cover. Returns the slice, or an empty one if there are no
/// other parameters.
pub(super) fn coverage(slice: BackwardSlice, proofs: &mut [Option<ParameterProof>]) -> BackwardSlice {
    let mut hope = false;
    for (nth, followed) in slice.parameters.iter().enumerate() {
        let reason = slice.reason_never_covered(nth);
        hope |= reason.is_none();
        if let (Some(reason), Some(Some(proof))) = (reason, proofs.get_mut(followed.parameter as usize)) {
            proof.unproved.push(Unproved { what: DeclaredPart::Coverage, reason });
        }
    }
    if hope { slice } else { BackwardSlice::default() }
}

/// Returns the parameters whose extents are not proved.
pub(super) fn extents(proofs: &[Option<ParameterProof>]) -> Vec<u32> {
    let is_open = |proof: &Option<ParameterProof>| {
        proof
            .as_ref()
            .is_some_and(|proof| proof.unproved.iter().any(|open| open.what == DeclaredPart::Extent))
    };
    (0u32..).zip(proofs).filter(|(_, proof)| is_open(proof)).map(|(at, _)| at).collect()
}

/// Returns the slice of the accesses with unproved extents; empty if no launch is known to make any of them.
pub(super) fn slice_if_provable(accesses: BackwardSlice) -> BackwardSlice {
    let hope = (0..accesses.parameters.len()).any(|nth| accesses.reason_never_covered(nth).is_none());
    if hope { accesses } else { BackwardSlice::default() }
}

/// Returns an access that may go through a parameter, of the class that its declaration excludes: by `multimem`, or
/// any other for a parameter declared `Multimem`.
pub(super) fn other_class(multimem: bool, facts: &Facts) -> Option<&Site> {
    let excluded = if multimem { &facts.plain } else { &facts.multimem };
    excluded.possible.as_ref()
}

/// Returns the reason that the access is not proved, if it is not.
pub(super) fn access(
    access: DeclaredAccess,
    multimem: bool,
    proof: &ParameterProof,
    facts: &Facts,
) -> Option<Unproved> {
    if proof.access {
        return None;
    }
    if let Some(site) = other_class(multimem, facts) {
        let how = if multimem { "is not `multimem`" } else { "is `multimem`" };
        let reason = format!("{} may access it, and {how}", quoted(site));
        return Some(Unproved { what: DeclaredPart::Access, reason });
    }
    if let (Some(number), Found::Nothing) = (&facts.number, facts.access()) {
        let reason = format!("{} uses its bits, and no access goes through it", quoted(&number.site));
        return Some(Unproved { what: DeclaredPart::Access, reason });
    }
    let reason = match (&facts.may_write, &facts.reads, access) {
        (None, Some(read), DeclaredAccess::Write) => {
            format!("{} may read it before it is written", quoted(read))
        }
        (None, _, DeclaredAccess::Atomic) => match &facts.writes {
            Some(write) => format!("{} writes it without an atomic", quoted(write)),
            None => "it is not only updated by atomics".to_owned(),
        },
        (Some(site), ..) => format!("{} may write through it", quoted(site)),
        (None, ..) => "the PTX accesses it in a way that is not declared".to_owned(),
    };
    Some(Unproved { what: DeclaredPart::Access, reason })
}

/// Returns the reason that the extent is not proved, if it is not.
pub(super) fn extent(
    element: Option<PrimitiveType>,
    text: &str,
    proof: &ParameterProof,
    facts: &Facts,
) -> Option<Unproved> {
    let reason = match (element, &facts.unbounded, &facts.reach) {
        _ if proof.extent => return None,
        (None, ..) if facts.access() == Found::Nothing => return None,
        (None, ..) => "the size of its elements is not known to the macro".to_owned(),
        (_, Some((site, _)), _) => format!("{} has no bound over the parameters", quoted(site)),
        (_, None, Some(all)) => match all.first() {
            Some(first) => format!("{} is not proved to stay below `{text}`", quoted(&first.site)),
            None => return None,
        },
        (_, None, None) => "the analysis cannot follow the pointer everywhere".to_owned(),
    };
    Some(Unproved { what: DeclaredPart::Extent, reason })
}

/// Returns the unproved part of a table of pointers.
pub(super) fn pointers(facts: &Facts) -> Unproved {
    let reason = match &facts.table {
        Some(table) => {
            format!("the analysis follows the addresses that it holds only to {}", quoted(&table.site))
        }
        None => "the addresses that it holds are not followed".to_owned(),
    };
    Unproved { what: DeclaredPart::Pointers, reason }
}
