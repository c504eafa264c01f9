//! The hints on managed memory: `#[advise(..)]`, `#[prefetch(..)]` and `#[discard]` on arguments and on
//! fields of records.

use cuweave_core::codes::Code;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Token};

use crate::report::Report;

const HINT_ATTRIBUTES: [&str; 3] = ["advise", "prefetch", "discard"];
const ADVISE: &str = "write `#[advise(read_mostly)]`, `#[advise(preferred_location(device))]` or \
    `#[advise(accessed_by(device))]`, with `device`, `host`, or `device(1)` for a device of the graph";
const PREFETCH: &str =
    "write `#[prefetch(device)]`, `#[prefetch(host)]`, or `#[prefetch(device(1))]` for a device of the graph";
/// The message about a hint on something other than a buffer.
pub const HINT_WITHOUT_BUFFER: &str =
    "`#[advise(..)]`, `#[prefetch(..)]` and `#[discard]` stand on buffers of their own";

/// The hints on one argument or field.
#[derive(Clone, Default)]
pub struct MemoryHints {
    /// An expression of type `Hint` for each hint.
    pub list: Vec<TokenStream>,
    /// The span of the first attribute.
    pub span: Option<Span>,
    /// True if the contents are discarded before each launch.
    pub discard: bool,
}

impl MemoryHints {
    /// Returns true if the attribute is a hint.
    pub fn is_hint(attribute: &Attribute) -> bool {
        HINT_ATTRIBUTES.iter().any(|name| attribute.path().is_ident(name))
    }

    /// Parses the hints of an argument or field.
    pub fn parse(attributes: &[Attribute], report: &mut Report) -> MemoryHints {
        let mut hints = MemoryHints::default();
        for attribute in attributes {
            hints.span.get_or_insert(attribute.span());
            hints.add(attribute, report);
        }
        hints
    }

    fn add(&mut self, attribute: &Attribute, report: &mut Report) {
        let mut refuse = |message: &str, help: &str| {
            report.error(attribute.span(), Code::CW001, message, &[], Some(help));
        };
        let hint = |name: TokenStream| quote!(::cuweave::__private::Hint::#name);
        if attribute.path().is_ident("discard") {
            match (&attribute.meta, self.discard) {
                (syn::Meta::Path(_), false) => {
                    self.discard = true;
                    self.list.push(hint(quote!(Discard)));
                }
                (syn::Meta::Path(_), true) => refuse("`#[discard]` is given twice", "delete one of the two"),
                _ => refuse("`#[discard]` takes nothing", "write `#[discard]`"),
            }
            return;
        }
        let given = attribute.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        let given = given.unwrap_or_default();
        if attribute.path().is_ident("prefetch") {
            let site = if given.len() == 1 { site(&given[0]) } else { None };
            let Some(site) = site else {
                return refuse("`#[prefetch(..)]` takes a location", PREFETCH);
            };
            if self.list.iter().any(|hint| hint.to_string().contains("Prefetch")) {
                return refuse("`#[prefetch(..)]` is given twice", "delete one of the two");
            }
            self.list.push(hint(quote!(Prefetch(#site))));
            return;
        }
        if given.is_empty() {
            return refuse("`#[advise(..)]` takes advice", ADVISE);
        }
        for advice in &given {
            match advised(advice) {
                Some(advice) => {
                    let advice = hint(advice);
                    let text = advice.to_string();
                    let is_preferred = |text: &str| text.contains("PreferredLocation");
                    let meets = |other: String| other == text || is_preferred(&other) && is_preferred(&text);
                    if self.list.iter().map(ToString::to_string).any(meets) {
                        let message = match is_preferred(&text) {
                            true => "`preferred_location(..)` is given twice",
                            false => "the same advice stands twice",
                        };
                        return refuse(message, "delete one of the two");
                    }
                    self.list.push(advice);
                }
                None => return refuse("`#[advise(..)]` takes advice", ADVISE),
            }
        }
    }
}

/// Returns the location that `device`, `host` or `device(n)` names. `n` is a literal.
fn site(expr: &Expr) -> Option<TokenStream> {
    if let Expr::Call(call) = expr {
        let Expr::Path(name) = &*call.func else { return None };
        let Expr::Lit(literal) = call.args.first().filter(|_| call.args.len() == 1)? else { return None };
        let syn::Lit::Int(number) = &literal.lit else { return None };
        let number: u32 = number.base10_parse().ok()?;
        return name
            .path
            .is_ident("device")
            .then(|| quote!(::cuweave::__private::HintLocation::Nth(#number)));
    }
    let Expr::Path(path) = expr else { return None };
    match path.path.get_ident()?.to_string().as_str() {
        "device" => Some(quote!(::cuweave::__private::HintLocation::Device)),
        "host" => Some(quote!(::cuweave::__private::HintLocation::Host)),
        _ => None,
    }
}

/// Returns the `Hint` variant of one piece of advice.
fn advised(advice: &Expr) -> Option<TokenStream> {
    match advice {
        Expr::Path(path) => path.path.is_ident("read_mostly").then(|| quote!(ReadMostly)),
        Expr::Call(call) => {
            let Expr::Path(name) = &*call.func else { return None };
            let site = site(call.args.first()?).filter(|_| call.args.len() == 1)?;
            match name.path.get_ident()?.to_string().as_str() {
                "preferred_location" => Some(quote!(PreferredLocation(#site))),
                "accessed_by" => Some(quote!(AccessedBy(#site))),
                _ => None,
            }
        }
        _ => None,
    }
}
