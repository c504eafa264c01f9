//! Limits the length of expressions, to avoid a stack overflow.
//!
//! Parsing, lowering and code generation recurse into expressions, also along `a + b + c + ..`. The stack
//! of rustc suffices for a few thousand terms. Longer expressions are rejected before they are parsed.

use cuweave_core::codes::Code;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::quote;

use crate::prelude_words::use_prelude_words;
use crate::report::Report;

/// The maximum number of tokens of an expression. It allows about a thousand terms, which fit on rustc's
/// stack in unoptimised code.
const MAX_TOKENS: usize = 2_500;
/// The maximum number of tokens of an expression including those around it.
const MAX_NESTED_TOKENS: usize = 3_500;
/// The number of tokens that a block counts as: a nested statement takes more stack than a nested operator.
const BLOCK_WEIGHT: usize = 8;

/// Runs a macro, unless an expression is too long for the stack.
pub fn run(
    of: impl FnOnce(TokenStream, TokenStream) -> TokenStream,
    attribute: TokenStream,
    item: TokenStream,
) -> TokenStream {
    let (mut longest, mut nested) = (MeasuredExpr::new(), MeasuredExpr::new());
    // Recursion depth is the nesting of groups, which rustc has parsed already.
    for tokens in [&attribute, &item] {
        measure(tokens, 0, &mut longest, &mut nested);
    }
    if longest.tokens > MAX_TOKENS || nested.tokens > MAX_NESTED_TOKENS {
        let at = if longest.tokens > MAX_TOKENS { longest.at } else { nested.at };
        let (words, error) = (use_prelude_words(&item), too_long(at));
        return quote!(#words #error);
    }
    of(attribute, item)
}

fn too_long(at: Span) -> TokenStream {
    let mut report = Report::default();
    report.error(
        at,
        Code::CW001,
        &format!("this expression has more than {MAX_TOKENS} tokens"),
        &[],
        Some("compute parts of it in a function of your own, or before the graph, and pass the result as a scalar"),
    );
    report.into_tokens()
}

/// An expression or a statement.
#[derive(Clone, Copy)]
struct MeasuredExpr {
    tokens: usize,
    /// The span of its first token.
    at: Span,
}

impl MeasuredExpr {
    fn new() -> MeasuredExpr {
        MeasuredExpr { tokens: 0, at: Span::call_site() }
    }

    fn longer(self, other: MeasuredExpr) -> MeasuredExpr {
        if other.tokens > self.tokens { other } else { self }
    }
}

/// Finds the longest expression, and the longest one together with its enclosing tokens. `around` counts
/// the latter; it is an upper bound of the depth in the syntax tree. An expression ends at `,`, at `;`, and
/// at a closing brace that nothing continues.
fn measure(tokens: &TokenStream, around: usize, longest: &mut MeasuredExpr, nested: &mut MeasuredExpr) {
    let mut current = MeasuredExpr::new();
    let mut after_brace = false;
    for token in tokens.clone() {
        let continues = match &token {
            TokenTree::Ident(name) => name == "else" || name == "as",
            TokenTree::Punct(punct) => punct.as_char() != '#',
            TokenTree::Group(group) => group.delimiter() != Delimiter::Brace,
            TokenTree::Literal(_) => false,
        };
        let ends = matches!(&token, TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';'));
        if ends || after_brace && !continues {
            current.tokens = 0;
        }
        after_brace = false;
        if ends {
            continue;
        }
        if current.tokens == 0 {
            current.at = token.span();
        }
        current.tokens += 1;
        *longest = longest.longer(current);
        *nested = nested.longer(MeasuredExpr { tokens: around + current.tokens, ..current });
        if let TokenTree::Group(group) = &token {
            after_brace = group.delimiter() == Delimiter::Brace;
            let around = around + current.tokens + if after_brace { BLOCK_WEIGHT } else { 0 };
            measure(&group.stream(), around, longest, nested);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    /// Returns the number of tokens of the longest expression.
    fn measured(text: &str) -> usize {
        let (mut longest, mut nested) = (MeasuredExpr::new(), MeasuredExpr::new());
        measure(&TokenStream::from_str(text).expect("tokens"), 0, &mut longest, &mut nested);
        longest.tokens
    }

    #[test]
    fn an_expression_ends_where_a_statement_or_an_argument_does() {
        assert_eq!(measured("a + b + c"), 5);
        assert_eq!(measured("f(a + b, c); g();"), 3);
        // A sequence of blocks is no deeper than one block.
        let one = measured("for i in 0..4 { f(a); }");
        assert_eq!(measured(&"for i in 0..4 { f(a); } ".repeat(1000)), one);
        assert_eq!(measured(&"pub a: u32, ".repeat(1000)), 4);
        // The arms of a single choice nest.
        assert_eq!(measured(&format!("if a {{ f(a); }} {}", "else if b { f(a); } ".repeat(100))), 403);
    }
}
