//! The attributes inside a graph function: `#[after(..)]`, `#[on(..)]`, `#[access(..)]`, hints, lint levels and doc
//! comments. All others are errors.

use cuweave_core::codes::Code;
use cuweave_ptx::nearest::nearest;
use syn::spanned::Spanned;
use syn::{Attribute, Expr};

use super::hints::MemoryHints;
use crate::report::Report;

const LINT_LEVELS: [&str; 5] = ["allow", "expect", "warn", "deny", "forbid"];

const ON_AN_ARGUMENT: &str = "it stands on an argument of the function";

/// The attributes of the language, with the help on where each may be used.
const ATTRIBUTE_HELP: [(&str, &str); 9] = [
    (
        "after",
        "it belongs on a statement that becomes a node: a launch, `alloc`, `fill`, `copy`, `free`, `host` and the \
            like, or a call",
    ),
    (
        "on",
        "it belongs on a statement that runs or allocates on a device: a launch, `alloc`, `fill`, `copy`, a call, or \
            a block, loop or choice of these",
    ),
    ("access", "it belongs on an `alloc`"),
    ("switchable", "it belongs on a launch, `fill` or `copy`"),
    ("at_most", "it belongs on a `while` that the device decides, or on a scalar argument of the function"),
    ("at_least", "it stands on an argument of the function, a scalar or a list"),
    ("advise", ON_AN_ARGUMENT),
    ("prefetch", ON_AN_ARGUMENT),
    ("discard", ON_AN_ARGUMENT),
];

/// Returns true if the attribute sets a lint level.
pub fn is_level(attribute: &Attribute) -> bool {
    LINT_LEVELS.iter().any(|level| attribute.path().is_ident(level))
}

/// Returns true if the attribute has no effect: a doc comment or a tool's attribute.
fn is_silent(attribute: &Attribute) -> bool {
    let path = attribute.path();
    path.is_ident("doc")
        || path.segments.first().is_some_and(|first| first.ident == "rustfmt" || first.ident == "clippy")
}

/// The attributes that a piece of syntax accepts besides lint levels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AllowedAttributes {
    /// None.
    Nothing,
    /// `#[on(..)]`: blocks, loops and choices.
    Device,
    /// `#[on(..)]`, `#[after(..)]`, `#[access(..)]` and `#[switchable]`: statements.
    Order,
}

/// The attributes of a statement, sorted by kind. Those not accepted there are reported.
pub struct StatementAttributes {
    pub levels: Vec<Attribute>,
    /// The `#[after(..)]` attributes.
    pub after: Vec<Attribute>,
    /// The `#[on(..)]` attributes.
    pub on: Vec<Attribute>,
    /// The `#[access(..)]` attributes.
    pub access: Vec<Attribute>,
    /// The `#[switchable]` attribute.
    pub switchable: Option<Attribute>,
    /// True if a rejected attribute may have been meant as `#[after]`.
    pub misspelt: bool,
}

impl StatementAttributes {
    /// Sorts the attributes of a statement, and reports those not accepted.
    pub fn parse(
        attributes: &[Attribute],
        takes: AllowedAttributes,
        report: &mut Report,
    ) -> StatementAttributes {
        let takes_after = takes == AllowedAttributes::Order;
        let mut sorted = StatementAttributes {
            levels: Vec::new(),
            after: Vec::new(),
            on: Vec::new(),
            access: Vec::new(),
            switchable: None,
            misspelt: false,
        };
        for attribute in attributes {
            if is_level(attribute) {
                sorted.levels.push(attribute.clone());
            } else if takes_after && attribute.path().is_ident("after") {
                sorted.after.push(attribute.clone());
            } else if takes != AllowedAttributes::Nothing && attribute.path().is_ident("on") {
                sorted.on.push(attribute.clone());
            } else if takes_after && attribute.path().is_ident("access") {
                sorted.access.push(attribute.clone());
            } else if takes_after && attribute.path().is_ident("switchable") {
                sorted.switchable = Some(attribute.clone());
            } else if !is_silent(attribute) {
                sorted.misspelt |= takes_after;
                refuse(attribute, report);
            }
        }
        sorted
    }
}

/// The attributes of an argument.
pub struct ArgumentAttributes {
    pub levels: Vec<Attribute>,
    /// The number in `#[at_least(n)]`.
    pub at_least: Option<u64>,
    /// The expression in `#[at_most(n)]`, which makes a scalar a size.
    pub at_most: Option<Expr>,
    pub hints: MemoryHints,
}

/// The limits that `#[at_least(n)]` and `#[at_most(n)]` give an argument or a field.
#[derive(Default)]
pub struct Limits {
    pub at_least: Option<u64>,
    pub at_most: Option<Expr>,
}

/// Parses the limits among attributes. Returns the others, too.
fn parse_limits(attributes: &[Attribute], report: &mut Report) -> (Limits, Vec<Attribute>) {
    let (limits, others): (Vec<Attribute>, Vec<Attribute>) = attributes
        .iter()
        .cloned()
        .partition(|attribute| ["at_least", "at_most"].iter().any(|name| attribute.path().is_ident(name)));
    let mut found = Limits::default();
    for attribute in limits {
        let (is_read, message, help) = if attribute.path().is_ident("at_most") {
            found.at_most = attribute.parse_args::<Expr>().ok();
            (
                found.at_most.is_some(),
                "`#[at_most(n)]` takes a number",
                "write `#[at_most(4096)]` or `#[at_most(max)]` on a scalar that lengths depend on",
            )
        } else {
            let literal = attribute.parse_args::<syn::LitInt>();
            found.at_least = literal.and_then(|literal| literal.base10_parse()).ok();
            (
                found.at_least.is_some(),
                "`#[at_least(n)]` takes a number",
                "write `#[at_least(1)]` on a scalar or on a slice, for loops that have at least one iteration",
            )
        };
        if !is_read {
            report.error(attribute.span(), Code::CW001, message, &[], Some(help));
        }
    }
    (found, others)
}

/// Parses an argument's attributes. Those of no meaning there are reported because generated code would drop them.
pub fn parse_argument_attributes(attributes: &[Attribute], report: &mut Report) -> ArgumentAttributes {
    let (Limits { at_least, at_most }, others) = parse_limits(attributes, report);
    let (hints, others): (Vec<Attribute>, Vec<Attribute>) =
        others.into_iter().partition(MemoryHints::is_hint);
    ArgumentAttributes {
        levels: StatementAttributes::parse(&others, AllowedAttributes::Nothing, report).levels,
        at_least,
        at_most,
        hints: MemoryHints::parse(&hints, report),
    }
}

/// Returns the attributes, the hints and the limits of a record's field. A limit stands on a size: a scalar with
/// `#[at_most(n)]`. Other attributes of the language have no meaning there and are reported.
pub fn parse_field_attributes(
    attributes: &[Attribute],
    report: &mut Report,
) -> (Vec<Attribute>, MemoryHints, Limits) {
    let (hints, attributes): (Vec<Attribute>, Vec<Attribute>) =
        attributes.iter().cloned().partition(MemoryHints::is_hint);
    let is_size = attributes.iter().any(|attribute| attribute.path().is_ident("at_most"));
    let (limits, attributes) = match is_size {
        true => parse_limits(&attributes, report),
        false => (Limits::default(), attributes),
    };
    let of_language =
        |attribute: &Attribute| ATTRIBUTE_HELP.iter().any(|(name, _)| attribute.path().is_ident(name));
    let (refused, kept): (Vec<Attribute>, Vec<Attribute>) = attributes.into_iter().partition(of_language);
    refused.iter().for_each(|attribute| refuse(attribute, report));
    (kept, MemoryHints::parse(&hints, report), limits)
}

/// Returns an attribute of the language as the user writes it.
fn written(name: &str) -> String {
    if matches!(name, "discard" | "switchable") { format!("#[{name}]") } else { format!("#[{name}(..)]") }
}

/// Reports an attribute that has no meaning where it is.
pub fn refuse(attribute: &Attribute, report: &mut Report) {
    let path = attribute.path();
    if path.is_ident("cfg") || path.is_ident("cfg_attr") {
        return report.error(
            attribute.span(),
            Code::CW001,
            "conditional compilation is not part of the language within a graph function",
            &["a macro sees the tokens of this function only, so it cannot know what is configured".into()],
            Some("put `#[cfg(..)]` on whole functions, one for each configuration"),
        );
    }
    let name = path.get_ident().map(ToString::to_string).unwrap_or_default();
    if let Some((_, help)) = ATTRIBUTE_HELP.iter().find(|(known, _)| *known == name) {
        let message = format!("`{}` has no meaning here", written(&name));
        return report.error(attribute.span(), Code::CW001, &message, &[], Some(help));
    }
    let near = nearest(&name, ATTRIBUTE_HELP.into_iter().map(|(known, _)| known).chain(LINT_LEVELS))
        .map(|near| format!("did you mean `{}`?", written(near)));
    report.error(
        attribute.span(),
        Code::CW001,
        "an attribute is not part of the language here",
        &[],
        near.as_deref().or(Some("`#[after(..)]` stands on a launch, `fill`, `copy`, `alloc` or `free`; `#[on(..)]` on \
            what runs or allocates, `#[at_most(n)]` on a `while`, `#[allow(..)]` and its like on any statement")),
    );
}
