//! Launch configurations: their code, and the checks of their literals against the limits of all devices
//! (CW306).
//!
//! Limits of a particular kernel are checked by rustc after expansion, through [`ConfigLiteral::assertion`].

use std::collections::BTreeSet;

use cuweave_core::codes::Code;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Member};

use super::paths;
use crate::dims::dim_tokens;
use crate::report::Report;
use crate::substitution::constant;

/// The maximum block size along x, y and z, valid for every compute capability from 5.0 to 12.1 (CUDA
/// Programming Guide, table of technical specifications). The next constant limits the product.
const MAX_BLOCK: [i128; 3] = [1024, 1024, 64];
const MAX_BLOCK_THREADS: i128 = 1024;
/// The maximum grid size along x, y and z.
const MAX_GRID: [i128; 3] = [2_147_483_647, 65_535, 65_535];
/// The maximum dynamic shared memory of a block with opt-in on any of these devices: 227 KiB (9.0, 10.0).
const MAX_SHARED: i128 = 227 * 1024;

/// The literal part of a launch configuration. The kernel's item has a const function that checks it and a
/// const message for the case that it does not fit.
#[derive(Clone)]
pub struct ConfigLiteral {
    /// The names of that function and that message.
    rule: &'static LiteralCheckNames,
    /// The arguments of the const function.
    pub values: Vec<u32>,
    pub span: Span,
}

/// Identifies a literal: line, column and the function that checks it.
pub type LiteralKey = (usize, usize, &'static str);

/// The names in a kernel's item for one position of a launch configuration.
struct LiteralCheckNames {
    /// The name of the const function that checks the literals.
    admits: &'static str,
    /// The name of the const message.
    takes: &'static str,
}

const GRID_RULE: LiteralCheckNames = LiteralCheckNames { admits: "__admits_grid", takes: "__GRIDS" };
const BLOCK_RULE: LiteralCheckNames = LiteralCheckNames { admits: "__admits_block", takes: "__BLOCKS" };
const SHARED_RULE: LiteralCheckNames = LiteralCheckNames { admits: "__admits_shared", takes: "__SHARED" };

impl ConfigLiteral {
    fn from_expr(expr: &Expr, rule: &'static LiteralCheckNames) -> Option<ConfigLiteral> {
        let mut values = parts(expr)
            .into_iter()
            .map(|part| constant(part, &[]).and_then(|value| u32::try_from(value).ok()))
            .collect::<Option<Vec<u32>>>()?;
        values.resize(3, 1);
        (values.len() == 3).then(|| ConfigLiteral { rule, values, span: expr.span() })
    }

    /// Returns the key under which equal assertions are merged.
    pub fn place(&self) -> LiteralKey {
        let start = self.span.start();
        (start.line, start.column, self.rule.admits)
    }

    /// Returns the assertion that a kernel accepts the literal, for all values that the literal takes in
    /// the iterations of unrolled loops. rustc evaluates it after expansion.
    pub fn assertion(&self, values: &[&[u32]], kernel: &syn::Path) -> TokenStream {
        let ConfigLiteral { rule: LiteralCheckNames { admits, takes }, span, .. } = self;
        let [admits, takes] = [admits, takes].map(|name| Ident::new(name, Span::mixed_site()));
        let [all, at] = ["all", "at"].map(|name| Ident::new(name, Span::mixed_site()));
        let (imports, found) = (paths::imports(kernel), paths::found(kernel));
        let holds = |arguments: &[TokenStream]| quote_spanned!(*span=> ::core::assert!(#found::#admits(#(#arguments),*), "{}", #found::#takes));
        if let [values] = values {
            let arguments: Vec<TokenStream> = values.iter().map(|value| quote!(#value)).collect();
            let holds = holds(&arguments);
            return quote!(const _: () = { #imports #holds };);
        }
        let length = self.values.len();
        let arguments: Vec<TokenStream> = (0..length).map(|index| quote!(#all[#at][#index])).collect();
        let holds = holds(&arguments);
        quote! {
            const _: () = {
                #imports
                let #all: &[[u32; #length]] = &[#([#(#values),*]),*];
                let mut #at = 0usize;
                while #at < #all.len() {
                    #holds;
                    #at += 1;
                }
            };
        }
    }
}

/// Splits a configuration into the expressions for the grid, and those for the block and the shared memory.
pub fn configured_by(expr: &Expr) -> [Vec<&Expr>; 2] {
    match expr {
        Expr::Paren(inner) => configured_by(&inner.expr),
        Expr::Group(inner) => configured_by(&inner.expr),
        Expr::Tuple(tuple) if matches!(tuple.elems.len(), 2 | 3) => {
            [vec![&tuple.elems[0]], tuple.elems.iter().skip(1).collect()]
        }
        Expr::Call(call) if is_per_item(&call.func) => [vec![expr], Vec::new()],
        _ => [vec![expr], vec![expr]],
    }
}

/// Returns the tokens that evaluate a configuration.
pub fn tokens(expr: &Expr, integers: &BTreeSet<String>) -> TokenStream {
    match expr {
        Expr::Paren(inner) => tokens(&inner.expr, integers),
        Expr::Group(inner) => tokens(&inner.expr, integers),
        Expr::Tuple(tuple) if matches!(tuple.elems.len(), 2 | 3) => {
            let parts = tuple.elems.iter().map(|part| extent_tokens(part, integers));
            quote_spanned!(expr.span()=> (#(#parts),*))
        }
        Expr::Call(call) if is_per_item(&call.func) && call.args.len() == 1 => {
            let count = dim_tokens(&call.args[0], integers);
            quote_spanned!(expr.span()=> ::cuweave::__private::per_item(#count))
        }
        _ => quote!(#expr),
    }
}

/// Returns the literals of a configuration. Reports those that exceed the limits of all devices.
pub fn literals(expr: &Expr, report: &mut Report) -> Vec<ConfigLiteral> {
    let mut found = Vec::new();
    collect(expr, &mut found, report);
    found
}

fn collect(expr: &Expr, literals: &mut Vec<ConfigLiteral>, report: &mut Report) {
    match expr {
        Expr::Paren(inner) => collect(&inner.expr, literals, report),
        Expr::Group(inner) => collect(&inner.expr, literals, report),
        Expr::Tuple(tuple) if matches!(tuple.elems.len(), 2 | 3) => {
            let (grid, block) = (&tuple.elems[0], &tuple.elems[1]);
            extent(grid, "grid", &MAX_GRID, None, report);
            extent(block, "block", &MAX_BLOCK, Some(MAX_BLOCK_THREADS), report);
            literals.extend(ConfigLiteral::from_expr(grid, &GRID_RULE));
            literals.extend(ConfigLiteral::from_expr(block, &BLOCK_RULE));
            if let Some(bytes) = tuple.elems.get(2) {
                shared(bytes, literals, report);
            }
        }
        Expr::Call(call) if is_per_item(&call.func) && call.args.len() == 1 => {
            let count = &call.args[0];
            if constant(count, &[]) == Some(0) {
                refuse(count, "a launch of 0 items launches nothing", report);
            }
        }
        Expr::Struct(literal)
            if literal.path.segments.last().is_some_and(|last| last.ident == "LaunchConfig") =>
        {
            for field in &literal.fields {
                let Member::Named(name) = &field.member else { continue };
                if name == "grid_dim" {
                    extent(&field.expr, "grid", &MAX_GRID, None, report);
                    literals.extend(ConfigLiteral::from_expr(&field.expr, &GRID_RULE));
                } else if name == "block_dim" {
                    extent(&field.expr, "block", &MAX_BLOCK, Some(MAX_BLOCK_THREADS), report);
                    literals.extend(ConfigLiteral::from_expr(&field.expr, &BLOCK_RULE));
                } else if name == "shared_mem_bytes" {
                    shared(&field.expr, literals, report);
                }
            }
        }
        _ => {}
    }
}

/// Checks a literal number of bytes of dynamic shared memory.
fn shared(expr: &Expr, literals: &mut Vec<ConfigLiteral>, report: &mut Report) {
    let Some(bytes) = constant(expr, &[]) else { return };
    if bytes < 0 {
        refuse(expr, "the shared memory of a block is negative", report);
    } else if bytes > MAX_SHARED {
        let message =
            format!("a block has at most {MAX_SHARED} bytes of dynamic shared memory on any device");
        refuse(expr, &message, report);
    } else if let Ok(value) = u32::try_from(bytes) {
        literals.push(ConfigLiteral { rule: &SHARED_RULE, values: vec![value], span: expr.span() });
    }
}

fn is_per_item(function: &Expr) -> bool {
    matches!(function, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "per_item"))
}

fn parts(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Tuple(tuple) => tuple.elems.iter().collect(),
        Expr::Paren(inner) => parts(&inner.expr),
        _ => vec![expr],
    }
}

/// Returns the tokens for one to three counts, as `Dim`s.
fn extent_tokens(expr: &Expr, integers: &BTreeSet<String>) -> TokenStream {
    match parts(expr).as_slice() {
        // A name or call may denote a tuple.
        [one @ (Expr::Path(_) | Expr::Call(_) | Expr::MethodCall(_) | Expr::Field(_))] => quote!(#one),
        [one] => dim_tokens(one, integers),
        parts => {
            let parts = parts.iter().map(|part| dim_tokens(part, integers));
            quote!((#(#parts),*))
        }
    }
}

fn extent(expr: &Expr, what: &str, limits: &[i128; 3], most: Option<i128>, report: &mut Report) {
    let mut product = Some(1i128);
    for ((part, limit), axis) in parts(expr).into_iter().zip(limits).zip(["x", "y", "z"]) {
        let value = constant(part, &[]);
        product = product.zip(value).and_then(|(product, value)| product.checked_mul(value));
        match value {
            Some(0) => return refuse(part, &format!("the {what} is 0 along {axis}"), report),
            Some(value) if value < 0 => {
                return refuse(part, &format!("the {what} is negative along {axis}"), report);
            }
            Some(value) if value > *limit => {
                let message =
                    format!("no device supports a {what} of {value} along {axis}: the maximum is {limit}");
                return refuse(part, &message, report);
            }
            _ => {}
        }
    }
    if let (Some(product), Some(most)) = (product, most)
        && product > most
    {
        refuse(
            expr,
            &format!("no device supports a block of {product} threads: the maximum is {most}"),
            report,
        );
    }
}

fn refuse(at: &Expr, message: &str, report: &mut Report) {
    report.error(at.span(), Code::CW306, message, &[], None);
}
