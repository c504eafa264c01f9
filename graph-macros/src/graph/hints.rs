//! The hints on managed memory: `#[advise(..)]`, `#[prefetch(..)]` and `#[discard]` on arguments and on
//! fields of records.

use cuweave_core::codes::Code;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprRange, RangeLimits, Token};

use crate::report::Report;

const HINT_ATTRIBUTES: [&str; 3] = ["advise", "prefetch", "discard"];
const ADVISE: &str = "write `#[advise(read_mostly)]`, `#[advise(preferred_location(device))]` or \
    `#[advise(accessed_by(device))]`, several with commas, and at the end a range of elements if it is about some: \
    `#[advise(read_mostly, 0..n / 2)]`";
const PREFETCH: &str =
    "write `#[prefetch(device)]`, or `#[prefetch(device, lo..hi)]` for the elements from `lo` to `hi`";
const SITES: &str = "a location is `device`, `device(1)` for a device of the graph, `host`, `host_numa(0)` for a \
    NUMA node of the host, or `host_numa_current`";
const PROCESSORS: &str =
    "`accessed_by` takes what accesses memory: `device`, `device(1)` for a device of the graph, or `host`";
/// The message about a hint on something other than a buffer.
pub const HINT_WITHOUT_BUFFER: &str =
    "`#[advise(..)]`, `#[prefetch(..)]` and `#[discard]` stand on buffers of their own";

/// The hints on one argument or field.
#[derive(Clone, Default)]
pub struct MemoryHints {
    list: Vec<MemoryHint>,
    /// The span of the first attribute.
    pub span: Option<Span>,
    /// True if the contents are discarded before each launch.
    pub discard: bool,
}

/// One hint.
#[derive(Clone)]
struct MemoryHint {
    kind: HintKind,
    /// An expression of type `Hint`.
    hint: TokenStream,
    /// The elements. None for all.
    range: Option<HintedRange>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HintKind {
    ReadMostly,
    PreferredLocation,
    AccessedBy,
    Prefetch,
    Discard,
}

/// A range of elements. Its bounds are expressions of integers.
#[derive(Clone)]
struct HintedRange {
    /// None for the first element.
    from: Option<Expr>,
    /// The first element after the range. None for the end of the buffer.
    to: Option<Expr>,
}

/// A fault of an attribute: its message and the help.
struct HintFault(&'static str, &'static str);

impl HintedRange {
    fn new(range: &ExprRange) -> HintedRange {
        let to = range.end.as_deref().map(|end| match range.limits {
            RangeLimits::HalfOpen(_) => end.clone(),
            RangeLimits::Closed(_) => syn::parse_quote!((#end) + 1),
        });
        HintedRange { from: range.start.as_deref().cloned(), to }
    }
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
            if let Err(HintFault(message, help)) = hints.add(attribute) {
                report.error(attribute.span(), Code::CW001, message, &[], Some(help));
            }
        }
        hints
    }

    /// Returns true if there are no hints.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the bounds of its ranges.
    pub fn bounds(&self) -> impl Iterator<Item = &Expr> {
        let ranges = self.list.iter().filter_map(|hint| hint.range.as_ref());
        ranges.flat_map(|range| range.from.iter().chain(&range.to))
    }

    /// Returns an expression of type `&[RangedHint]`. `bound` returns one of type `Dim` for a bound of a range.
    pub fn tokens(&self, mut bound: impl FnMut(&Expr) -> TokenStream) -> TokenStream {
        let hints = self.list.iter().map(|MemoryHint { hint, range, .. }| {
            let Some(HintedRange { from, to }) = range else {
                return quote!(::cuweave::__private::RangedHint::whole(#hint));
            };
            let mut value = |expr: &Expr| {
                let dim = bound(expr);
                quote!(::cuweave::__private::Dim::value(#dim))
            };
            let from = from.as_ref().map_or(quote!(::core::result::Result::Ok(0)), &mut value);
            let to = match to.as_ref().map(value) {
                Some(to) => quote!(::core::option::Option::Some(#to)),
                None => quote!(::core::option::Option::None),
            };
            quote!(::cuweave::__private::RangedHint::within(#hint, #from, #to))
        });
        quote!(&[#(#hints),*])
    }

    fn add(&mut self, attribute: &Attribute) -> Result<(), HintFault> {
        if attribute.path().is_ident("discard") {
            return self.add_discard(attribute);
        }
        let given = attribute.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        let mut given: Vec<Expr> = given.unwrap_or_default().into_iter().collect();
        let range = match given.last() {
            Some(Expr::Range(range)) => Some(HintedRange::new(range)),
            _ => None,
        };
        given.truncate(given.len() - usize::from(range.is_some()));
        if attribute.path().is_ident("prefetch") {
            let [site] = given.as_slice() else {
                return Err(HintFault("`#[prefetch(..)]` takes a location", PREFETCH));
            };
            let location =
                HintSite::parse(site).ok_or(HintFault("`#[prefetch(..)]` takes a location", SITES))?;
            let location = location.tokens();
            return self.push(HintKind::Prefetch, quote!(Prefetch(#location)), range);
        }
        if given.is_empty() {
            return Err(HintFault("`#[advise(..)]` takes advice", ADVISE));
        }
        for advice in &given {
            let (kind, hint) = advised(advice)?;
            self.push(kind, hint, range.clone())?;
        }
        Ok(())
    }

    fn add_discard(&mut self, attribute: &Attribute) -> Result<(), HintFault> {
        if !matches!(attribute.meta, syn::Meta::Path(_)) {
            return Err(HintFault("`#[discard]` takes nothing", "write `#[discard]`"));
        }
        self.discard = true;
        self.push(HintKind::Discard, quote!(Discard), None)
    }

    /// Adds a hint, unless another one says the same or the contrary of all elements.
    fn push(
        &mut self,
        kind: HintKind,
        variant: TokenStream,
        range: Option<HintedRange>,
    ) -> Result<(), HintFault> {
        let hint = quote!(::cuweave::__private::Hint::#variant);
        let repeats = |other: &&MemoryHint| {
            let equal = other.hint.to_string() == hint.to_string();
            let contrary = matches!(kind, HintKind::Prefetch | HintKind::PreferredLocation);
            other.kind == kind && other.range.is_none() && range.is_none() && (equal || contrary)
        };
        if self.list.iter().any(|other| repeats(&other)) {
            let message = match kind {
                HintKind::Prefetch => "`#[prefetch(..)]` is given twice",
                HintKind::Discard => "`#[discard]` is given twice",
                HintKind::PreferredLocation => "`preferred_location(..)` is given twice",
                HintKind::ReadMostly | HintKind::AccessedBy => "the same advice stands twice",
            };
            return Err(HintFault(message, "delete one of the two"));
        }
        self.list.push(MemoryHint { kind, hint, range });
        Ok(())
    }
}

/// A location that a hint names.
enum HintSite {
    Device,
    /// A device of the graph.
    Nth(u32),
    Host,
    /// A NUMA node of the host.
    Numa(u32),
    /// The NUMA node of the calling thread.
    CurrentNuma,
}

impl HintSite {
    /// Parses `device`, `host`, `host_numa_current`, `device(n)` or `host_numa(n)`. `n` is a literal.
    fn parse(expr: &Expr) -> Option<HintSite> {
        match expr {
            Expr::Path(path) => match path.path.get_ident()?.to_string().as_str() {
                "device" => Some(HintSite::Device),
                "host" => Some(HintSite::Host),
                "host_numa_current" => Some(HintSite::CurrentNuma),
                _ => None,
            },
            Expr::Call(call) => {
                let Expr::Path(name) = &*call.func else { return None };
                let Expr::Lit(literal) = call.args.first().filter(|_| call.args.len() == 1)? else {
                    return None;
                };
                let syn::Lit::Int(number) = &literal.lit else { return None };
                let number = number.base10_parse().ok()?;
                match name.path.get_ident()?.to_string().as_str() {
                    "device" => Some(HintSite::Nth(number)),
                    "host_numa" => Some(HintSite::Numa(number)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns true if it can access memory.
    fn is_processor(&self) -> bool {
        !matches!(self, HintSite::Numa(_) | HintSite::CurrentNuma)
    }

    /// Returns an expression of type `HintLocation`.
    fn tokens(&self) -> TokenStream {
        let location = match self {
            HintSite::Device => quote!(Device),
            HintSite::Nth(number) => quote!(Nth(#number)),
            HintSite::Host => quote!(Host),
            HintSite::Numa(node) => quote!(At(::cuweave::__private::Location::HostNuma(#node))),
            HintSite::CurrentNuma => quote!(At(::cuweave::__private::Location::HostNumaCurrent)),
        };
        quote!(::cuweave::__private::HintLocation::#location)
    }
}

/// Returns the kind and the `Hint` variant of one piece of advice.
fn advised(advice: &Expr) -> Result<(HintKind, TokenStream), HintFault> {
    let unknown = || HintFault("`#[advise(..)]` takes advice", ADVISE);
    match advice {
        Expr::Path(path) if path.path.is_ident("read_mostly") => {
            Ok((HintKind::ReadMostly, quote!(ReadMostly)))
        }
        Expr::Call(call) => {
            let Expr::Path(name) = &*call.func else { return Err(unknown()) };
            let site = call.args.first().filter(|_| call.args.len() == 1).and_then(HintSite::parse);
            if name.path.is_ident("preferred_location") {
                let location = site.ok_or(HintFault("`preferred_location(..)` takes a location", SITES))?;
                let location = location.tokens();
                return Ok((HintKind::PreferredLocation, quote!(PreferredLocation(#location))));
            }
            if name.path.is_ident("accessed_by") {
                let by = site.ok_or(HintFault("`accessed_by(..)` takes a processor", PROCESSORS))?;
                if !by.is_processor() {
                    return Err(HintFault("a NUMA node accesses no memory", PROCESSORS));
                }
                let by = by.tokens();
                return Ok((HintKind::AccessedBy, quote!(AccessedBy(#by))));
            }
            Err(unknown())
        }
        _ => Err(unknown()),
    }
}
