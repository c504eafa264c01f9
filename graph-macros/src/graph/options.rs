//! Parses the options of `#[graph(...)]`.

use cuweave_core::codes::Code;
use cuweave_core::ir::{Launches, Memory, Options, Order};
use cuweave_ptx::nearest::nearest;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Expr;
use syn::parse::Parser;
use syn::spanned::Spanned;

use crate::report::Report;

/// The option values that are expressions.
#[derive(Default)]
pub struct OptionValues {
    pub budget: Option<Expr>,
    pub width: Option<Expr>,
    pub devices: Option<Expr>,
}

/// An option of `#[graph(...)]`.
enum GraphOption {
    /// `check`.
    Check,
    /// `name = value`.
    Valued(Box<syn::MetaNameValue>),
}

impl syn::parse::Parse for GraphOption {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<GraphOption> {
        let ahead = input.fork();
        let is_check = ahead.parse::<syn::Ident>().is_ok_and(|name| name == "check");
        if is_check && (ahead.is_empty() || ahead.peek(syn::Token![,])) {
            input.parse::<syn::Ident>()?;
            return Ok(GraphOption::Check);
        }
        input.parse().map(|valued| GraphOption::Valued(Box::new(valued)))
    }
}

/// Parses the options, and the expressions among them.
pub fn options(attribute: TokenStream, report: &mut Report) -> (Options, OptionValues) {
    let mut options = Options::default();
    let mut values = OptionValues::default();
    let parser = syn::punctuated::Punctuated::<GraphOption, syn::Token![,]>::parse_terminated;
    let tokens = attribute.clone();
    let list = match parser.parse2(attribute) {
        Ok(list) => list,
        Err(error) => {
            valueless(&error, &tokens, report);
            return (options, values);
        }
    };
    let mut told: Vec<String> = Vec::new();
    for option in &list {
        let option = match option {
            GraphOption::Check => {
                options.check = true;
                continue;
            }
            GraphOption::Valued(option) => option,
        };
        let name = option.path.get_ident().map(ToString::to_string).unwrap_or_default();
        if told.contains(&name) {
            report.error(
                option.path.span(),
                Code::CW001,
                &format!("the option `{name}` is given twice"),
                &[],
                Some("delete one of the two"),
            );
            continue;
        }
        told.push(name.clone());
        match name.as_str() {
            "order" => {
                let known = [("inferred", Order::Inferred), ("explicit", Order::Explicit)];
                options.order = value(&option.value, &known, report).unwrap_or_default();
            }
            "memory" => {
                let known = [("arena", Memory::Arena), ("nodes", Memory::Nodes), ("owned", Memory::Owned)];
                options.memory = value(&option.value, &known, report);
            }
            "launches" => {
                let known = [
                    ("as-written", Launches::AsWritten),
                    ("batched", Launches::Batched),
                    ("overlapped", Launches::Overlapped),
                    ("fused", Launches::Fused),
                ];
                options.launches = value(&option.value, &known, report);
            }
            "budget" if is_text(&option.value) => report.error(
                option.value.span(),
                Code::CW001,
                "a budget is a number of bytes",
                &[],
                Some("write an expression of integers: `budget = 1 << 20`, `budget = 64 * n as u64`"),
            ),
            "budget" => values.budget = Some(option.value.clone()),
            "width" if is_text(&option.value) || is_below_one(&option.value) => report.error(
                option.value.span(),
                Code::CW001,
                "a width is a number of nodes, at least 1",
                &[],
                Some("write an expression of integers: `width = 8`"),
            ),
            "width" => values.width = Some(option.value.clone()),
            "devices" if is_text(&option.value) => report.error(
                option.value.span(),
                Code::CW001,
                "the number of devices is an integer",
                &[],
                Some("write an expression of integers: `devices = 2`, `devices = count`"),
            ),
            "devices" if is_below_one(&option.value) => report.error(
                option.value.span(),
                Code::CW001,
                "a graph has at least one device",
                &[],
                Some("write `devices = 2`, or delete the option: a graph of one device takes one context"),
            ),
            "devices" => values.devices = Some(option.value.clone()),
            _ => unknown_option(option, &name, report),
        }
    }
    (options, values)
}

/// Reports an unknown option.
fn unknown_option(option: &syn::MetaNameValue, name: &str, report: &mut Report) {
    let known = ["order", "memory", "budget", "width", "launches", "devices", "check"];
    let help = match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            "options are `order`, `memory`, `budget`, `width`, `launches`, `devices` and `check`".to_owned()
        }
    };
    report.error(
        option.path.span(),
        Code::CW001,
        &format!("a graph has no option `{name}`"),
        &[],
        Some(&help),
    );
}

/// Reports options that are not of the form `name = value`.
fn valueless(error: &syn::Error, options: &TokenStream, report: &mut Report) {
    const VALUES: [(&str, &str); 10] = [
        ("order", "order = \"explicit\""),
        ("explicit", "order = \"explicit\""),
        ("memory", "memory = \"nodes\""),
        ("nodes", "memory = \"nodes\""),
        ("owned", "memory = \"owned\""),
        ("launches", "launches = \"as-written\""),
        ("batched", "launches = \"batched\""),
        ("budget", "budget = 1 << 20"),
        ("width", "width = 8"),
        ("devices", "devices = 2"),
    ];
    let parser = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
    let metas = parser.parse2(options.clone()).unwrap_or_default();
    let is_valid =
        |meta: &&syn::Meta| matches!(meta, syn::Meta::NameValue(_)) || meta.path().is_ident("check");
    let found = metas.iter().find(|meta| !is_valid(meta));
    let name = found.and_then(|meta| meta.path().get_ident()).map(ToString::to_string).unwrap_or_default();
    let help = match VALUES.iter().find(|(word, _)| *word == name) {
        Some((_, written)) => format!("write `{written}`"),
        None => "options are `order`, `memory`, `budget`, `width`, `launches` and `devices`, each with `= value`, and \
                 `check`"
            .to_owned(),
    };
    let span = found.map_or_else(|| error.span(), Spanned::span);
    report.error(span, Code::CW001, "this is not an option of a graph", &[error.to_string()], Some(&help));
}

/// Returns true for a constant below 1.
fn is_below_one(expr: &Expr) -> bool {
    crate::substitution::constant(expr, &[]).is_some_and(|value| value < 1)
}

/// Returns true for a literal that is not an integer.
fn is_text(expr: &Expr) -> bool {
    match expr {
        Expr::Group(inner) => is_text(&inner.expr),
        Expr::Lit(literal) => !matches!(literal.lit, syn::Lit::Int(_)),
        _ => false,
    }
}

/// Returns the known value that a string literal names.
fn value<T: Copy>(expr: &Expr, known: &[(&str, T)], report: &mut Report) -> Option<T> {
    // A literal that the user's `macro_rules!` passes on is in an invisible group.
    if let Expr::Group(inner) = expr {
        return value(&inner.expr, known, report);
    }
    if let Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = expr
        && let Some((_, value)) = known.iter().find(|(name, _)| *name == text.value())
    {
        return Some(*value);
    }
    let list: Vec<String> = known.iter().map(|(name, _)| format!("`\"{name}\"`")).collect();
    let written = expr.to_token_stream().to_string().replace(['"', ' '], "").to_lowercase();
    let help = match nearest(&written, known.iter().map(|(name, _)| *name)) {
        Some(near) => format!("did you mean `\"{near}\"`?"),
        None => format!("its values are {}", list.join(", ")),
    };
    report.error(expr.span(), Code::CW001, "this option has no such value", &[], Some(&help));
    None
}
