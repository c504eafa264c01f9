//! Launch configurations, and what no device can take (the literal part of CW306).

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Member};

use crate::dims::{constant, dim_tokens};
use crate::report::Report;

/// The most threads of a block along x, y and z, and in all, on every device since compute capability 5.0 up to 12.1
/// (CUDA Programming Guide, table of technical specifications).
const BLOCK: [i128; 3] = [1024, 1024, 64];
const BLOCK_THREADS: i128 = 1024;
/// The most blocks along x, y and z.
const GRID: [i128; 3] = [2_147_483_647, 65_535, 65_535];
/// The most dynamic shared memory of a block on any of them, with opt-in: 227 KiB (9.0, 10.0).
const SHARED: i128 = 227 * 1024;

/// Checks the literals of a configuration, and gives the tokens that compute it.
pub fn configuration(expr: &Expr, integers: &BTreeSet<String>, report: &mut Report) -> TokenStream {
    match expr {
        Expr::Paren(inner) => configuration(&inner.expr, integers, report),
        Expr::Group(inner) => configuration(&inner.expr, integers, report),
        Expr::Tuple(tuple) if tuple.elems.len() == 2 => {
            let (grid, block) = (&tuple.elems[0], &tuple.elems[1]);
            extent(grid, "grid", &GRID, None, report);
            extent(block, "block", &BLOCK, Some(BLOCK_THREADS), report);
            let (grid, block) = (extent_tokens(grid, integers), extent_tokens(block, integers));
            quote_spanned!(expr.span()=> (#grid, #block))
        }
        Expr::Call(call) if is_per_item(&call.func) && call.args.len() == 1 => {
            let count = &call.args[0];
            if constant(count, &[]) == Some(0) {
                refuse(count, "a launch of 0 items is no launch", report);
            }
            let count = dim_tokens(count, integers);
            quote_spanned!(expr.span()=> ::cuweave::__private::per_item(#count))
        }
        Expr::Struct(literal)
            if literal.path.segments.last().is_some_and(|last| last.ident == "LaunchConfig") =>
        {
            for field in &literal.fields {
                let Member::Named(name) = &field.member else { continue };
                if name == "grid_dim" {
                    extent(&field.expr, "grid", &GRID, None, report);
                } else if name == "block_dim" {
                    extent(&field.expr, "block", &BLOCK, Some(BLOCK_THREADS), report);
                } else if name == "shared_mem_bytes"
                    && constant(&field.expr, &[]).is_some_and(|bytes| bytes > SHARED)
                {
                    refuse(
                        &field.expr,
                        &format!("a block has at most {SHARED} bytes of dynamic shared memory on any device"),
                        report,
                    );
                }
            }
            quote!(#expr)
        }
        _ => quote!(#expr),
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

/// One to three counts, as `Dim`s.
fn extent_tokens(expr: &Expr, integers: &BTreeSet<String>) -> TokenStream {
    match parts(expr).as_slice() {
        // A name may stand for a tuple.
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
                    format!("no device takes a {what} of {value} along {axis}: the most is {limit}");
                return refuse(part, &message, report);
            }
            _ => {}
        }
    }
    if let (Some(product), Some(most)) = (product, most)
        && product > most
    {
        refuse(expr, &format!("no device takes a block of {product} threads: the most is {most}"), report);
    }
}

fn refuse(at: &Expr, message: &str, report: &mut Report) {
    report.error(at.span(), "CW306", message, &[], None);
}
