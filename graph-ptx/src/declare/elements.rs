//! Compares the declared element types with the accesses of the PTX.
//!
//! Bits that are only copied may have any type that fits into their registers; wider registers hold several elements.
//! Arithmetic on the bits is stronger evidence: floats of one format, or integers.

use super::declaration::{Declaration, DeclaredKind, DeclaredPart, PrimitiveType, Unproved, ValidBits};
use super::unproved::quoted;
use crate::analysis::bits::StoredBits;
use crate::analysis::elements::BitUse;
use crate::analysis::facts::{AccessClass, ParameterFacts as Facts, Site};
use crate::analysis::floats;
use crate::poly::Poly;

/// Returns the message about a store of bits that are not a valid value of the declared type, and the instruction.
pub(super) fn refuted<'f>(
    name: &str,
    element: PrimitiveType,
    facts: &'f Facts,
) -> Option<(String, &'f Site)> {
    let found = facts.elements.as_ref()?;
    let wrong = |stored: &StoredBits| match element.values {
        ValidBits::Any => false,
        ValidBits::Boolean => stored.is_not_boolean(),
        ValidBits::Character => {
            let known = stored.width == 4 && stored.may == stored.must;
            known && u32::try_from(stored.may).ok().and_then(char::from_u32).is_none()
        }
    };
    let (stored, site) = found.stores.iter().find(|(stored, _)| wrong(stored))?;
    let ty = if element.values == ValidBits::Boolean { "bool" } else { "char" };
    let message = match stored.may == stored.must {
        true => format!(
            "`{name}` is declared to have elements of type `{ty}`, the PTX writes {} there",
            stored.may
        ),
        false => {
            format!("`{name}` is declared to have elements of type `{ty}`, the PTX writes other bits there")
        }
    };
    Some((message, site))
}

/// Returns the reason that the elements are not proved to have the declared type, if they are not.
pub(super) fn unproved(
    declaration: &Declaration,
    element: Option<PrimitiveType>,
    facts: &Facts,
) -> Option<Unproved> {
    let open = |reason| Some(Unproved { what: DeclaredPart::Elements, reason });
    if facts.access() == AccessClass::Nothing {
        return None;
    }
    let Some(element) = element else {
        return open("the macro does not know the type of its elements".to_owned());
    };
    let Some(found) = &facts.elements else {
        return open("the analysis cannot follow the pointer everywhere".to_owned());
    };
    let used = found.uses.iter().filter_map(|(used, site)| Some((other(element, used)?, site)));
    let stored = found
        .stores
        .iter()
        .filter_map(|(stored, site)| Some((invalid(declaration, element, stored)?.to_owned(), site)));
    let (why, site) = used.chain(stored).min_by_key(|(_, site)| site.line)?;
    open(format!("{} {why}", quoted(site)))
}

/// Returns the help for an extent that would be right for the larger elements that the PTX accesses.
pub(super) fn larger_help(extent: &Poly, needed: &Poly, element: u32, facts: &Facts) -> Option<String> {
    let uses = facts.elements.iter().flat_map(|found| &found.uses);
    let mut widths = uses.map(|(used, _)| used.width).filter(|&width| width > element);
    let larger =
        widths.find(|&width| extent.times(&Poly::constant(width.into())).as_ref() == Some(needed))?;
    Some(format!("this extent is right for elements of {larger} bytes, which the PTX accesses"))
}

/// Returns the reason that an access may be to elements of another type.
fn other(element: PrimitiveType, used: &BitUse) -> Option<String> {
    let PrimitiveType { size, float, .. } = element;
    let many = |width: u32| if width == 1 { "1 byte".to_owned() } else { format!("{width} bytes") };
    // Arithmetic on 16-byte integers works on halves.
    let least = size.min(8);
    if used.is_cut {
        return Some("accesses bits that are used in too many places to follow".to_owned());
    }
    if !used.floats.is_empty() {
        if float.is_some() && floats::only(&used.floats) == float {
            return None;
        }
        let names: Vec<String> = used.floats.iter().map(|found| format!("`{}`", found.name())).collect();
        let names = names.join(" and ");
        return Some(match used.typed {
            true => format!("accesses floats of type {names}"),
            false => format!("accesses bits that are used as {names}"),
        });
    }
    if used.width != 0 && used.bytes < least {
        return Some(format!("accesses {} at a time, less than an element", many(used.bytes)));
    }
    match used {
        // Stored bits are proved or listed as unproved individually.
        BitUse { stores: true, .. } if element.values != ValidBits::Any => None,
        BitUse { integers: true, width, .. } if float.is_some() || (*width != least && *width != size) => {
            Some(format!("accesses integers of {}", many(*width)))
        }
        BitUse { parts: true, .. } if float.is_some() => {
            Some("accesses bits that are used as integers".to_owned())
        }
        _ => None,
    }
}

/// Returns the reason that stored bits may not be a valid value of an element.
fn invalid(declaration: &Declaration, element: PrimitiveType, stored: &StoredBits) -> Option<&'static str> {
    let boolean = |at: &u32| {
        declaration.parameters.get(*at as usize).is_some_and(|declared| match declared.kind {
            DeclaredKind::Buffer { element, .. } => {
                element.is_some_and(|element| element.values == ValidBits::Boolean)
            }
            DeclaredKind::Scalar(primitive) => {
                primitive.is_some_and(|primitive| primitive.values == ValidBits::Boolean)
            }
        })
    };
    match element.values {
        ValidBits::Any => None,
        ValidBits::Boolean if stored.is_boolean() && stored.of.iter().all(boolean) => None,
        ValidBits::Boolean => Some("writes bits that are not proved to be 0 or 1"),
        ValidBits::Character if stored.width == 4 && stored.may < 0xd800 => None,
        ValidBits::Character => Some("writes bits that are not proved to be a `char`"),
    }
}
