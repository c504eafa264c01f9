//! The length of expressions. Parsing, lowering and printing recurse into expressions, also along `a + b + c + ..`, and
//! the stack of rustc holds some thousand terms of that: longer ones are refused before they are parsed.

use cuweave_core::codes::Code;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::quote;

use crate::report::Report;
use crate::words::words;

/// The most tokens of an expression: a thousand terms, which the stack of rustc holds in unoptimised code.
const MOST_TOKENS: usize = 2_500;
/// The most tokens of an expression and those around it.
const MOST_NESTED: usize = 3_500;
/// The tokens for which a block counts: the level of a statement takes more stack than that of an operator.
const BLOCK: usize = 8;

/// Runs a macro, unless an expression is too long for the stack.
pub fn run(
    of: impl FnOnce(TokenStream, TokenStream) -> TokenStream,
    attribute: TokenStream,
    item: TokenStream,
) -> TokenStream {
    let (mut longest, mut nested) = (Expression::new(), Expression::new());
    // The recursion is as deep as groups nest, and rustc has parsed them.
    for tokens in [&attribute, &item] {
        measure(tokens, 0, &mut longest, &mut nested);
    }
    if longest.tokens > MOST_TOKENS || nested.tokens > MOST_NESTED {
        let at = if longest.tokens > MOST_TOKENS { longest.at } else { nested.at };
        let (words, error) = (words(&item), too_long(at));
        return quote!(#words #error);
    }
    of(attribute, item)
}

fn too_long(at: Span) -> TokenStream {
    let mut report = Report::default();
    report.error(
        at,
        Code::CW001,
        &format!("this expression has more than {MOST_TOKENS} tokens"),
        &[],
        Some("compute parts of it in a function of your own, or before the graph, and pass the result as a scalar"),
    );
    report.into_tokens()
}

/// An expression or a statement.
#[derive(Clone, Copy)]
struct Expression {
    tokens: usize,
    /// Its first token.
    at: Span,
}

impl Expression {
    fn new() -> Expression {
        Expression { tokens: 0, at: Span::call_site() }
    }

    fn longer(self, other: Expression) -> Expression {
        if other.tokens > self.tokens { other } else { self }
    }
}

/// Finds the longest expression, and the longest with the tokens around it, of which there are `around`: not fewer than
/// the levels of the syntax tree. An expression ends at `,`, at `;`, and at a brace that nothing continues.
fn measure(tokens: &TokenStream, around: usize, longest: &mut Expression, nested: &mut Expression) {
    let mut current = Expression::new();
    let mut behind_brace = false;
    for token in tokens.clone() {
        let continues = match &token {
            TokenTree::Ident(name) => name == "else" || name == "as",
            TokenTree::Punct(punct) => punct.as_char() != '#',
            TokenTree::Group(group) => group.delimiter() != Delimiter::Brace,
            TokenTree::Literal(_) => false,
        };
        let ends = matches!(&token, TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';'));
        if ends || behind_brace && !continues {
            current.tokens = 0;
        }
        behind_brace = false;
        if ends {
            continue;
        }
        if current.tokens == 0 {
            current.at = token.span();
        }
        current.tokens += 1;
        *longest = longest.longer(current);
        *nested = nested.longer(Expression { tokens: around + current.tokens, ..current });
        if let TokenTree::Group(group) = &token {
            behind_brace = group.delimiter() == Delimiter::Brace;
            let around = around + current.tokens + if behind_brace { BLOCK } else { 0 };
            measure(&group.stream(), around, longest, nested);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    /// Returns the tokens of the longest expression.
    fn measured(text: &str) -> usize {
        let (mut longest, mut nested) = (Expression::new(), Expression::new());
        measure(&TokenStream::from_str(text).expect("tokens"), 0, &mut longest, &mut nested);
        longest.tokens
    }

    #[test]
    fn an_expression_ends_where_a_statement_or_an_argument_does() {
        assert_eq!(measured("a + b + c"), 5);
        assert_eq!(measured("f(a + b, c); g();"), 3);
        // Blocks one after another are no deeper than one.
        let one = measured("for i in 0..4 { f(a); }");
        assert_eq!(measured(&"for i in 0..4 { f(a); } ".repeat(1000)), one);
        assert_eq!(measured(&"pub a: u32, ".repeat(1000)), 4);
        // Arms of one choice are.
        assert_eq!(measured(&format!("if a {{ f(a); }} {}", "else if b { f(a); } ".repeat(100))), 403);
    }
}
