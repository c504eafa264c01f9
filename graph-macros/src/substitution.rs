//! Substitutes names in expressions, such as loop indices and scalars named by `let`.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{BinOp, Expr, Lit};

use crate::dims::without_type;

/// The substitution for a name in expressions.
#[derive(Clone)]
pub enum Substitution {
    /// The index of a loop that is unrolled at compile time.
    Number(i128),
    /// The index of a loop that is unrolled when the graph is built, or a scalar named by `let`.
    Expression(Box<Expr>),
    /// A component of an argument.
    Place(Box<Expr>),
}

/// A name and its substitution.
pub struct NamedSubstitution {
    pub name: String,
    pub meaning: Substitution,
}

/// Returns the substitution for a name. If a name occurs several times in `among`, the innermost one comes
/// last and wins.
fn substitution_for<'m>(name: &Ident, among: &'m [NamedSubstitution]) -> Option<&'m Substitution> {
    among.iter().rev().find(|known| *name == known.name).map(|known| &known.meaning)
}

/// Substitutes the names in an expression.
pub struct Substituter<'v> {
    /// The names in scope, innermost last.
    pub variables: &'v [NamedSubstitution],
}

impl VisitMut for Substituter<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        // The base of a field, an index or a method call is substituted without taking a reference.
        let base = match expr {
            Expr::Field(field) => Some(&mut field.base),
            Expr::Index(index) => Some(&mut index.expr),
            Expr::MethodCall(call) => Some(&mut call.receiver),
            _ => None,
        };
        if let Some(base) = base
            && let Expr::Path(path) = &**base
            && let Some(ident) = path.path.get_ident()
            && let Some(Substitution::Place(place)) = substitution_for(ident, self.variables)
        {
            **base = located(place, ident.span());
            match expr {
                Expr::Index(index) => self.visit_expr_mut(&mut index.index),
                Expr::MethodCall(call) => {
                    call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
                }
                _ => {}
            }
            return;
        }
        if let Expr::Path(path) = expr
            && let Some(ident) = path.path.get_ident()
            && let Some(meaning) = substitution_for(ident, self.variables)
        {
            let value = match meaning {
                Substitution::Number(value) => value,
                Substitution::Expression(meaning) => {
                    *expr = (**meaning).clone();
                    return;
                }
                // A scalar, or a component passed to one of the user's functions.
                Substitution::Place(place) => {
                    *expr = located(place, ident.span());
                    return;
                }
            };
            let literal = syn::LitInt::new(&value.unsigned_abs().to_string(), ident.span());
            *expr = if *value < 0 { syn::parse_quote!(-#literal) } else { syn::parse_quote!(#literal) };
            return;
        }
        syn::visit_mut::visit_expr_mut(self, expr);
    }
}

/// Returns an expression located at `at`, so that rustc reports errors about it there. Name resolution is
/// unchanged.
pub fn located(expr: &Expr, at: Span) -> Expr {
    syn::parse2(located_tokens(expr.to_token_stream(), at)).unwrap_or_else(|_| expr.clone())
}

/// Returns tokens located at `at`, so that rustc reports errors about them there. Name resolution is
/// unchanged.
pub fn located_tokens(tokens: TokenStream, at: Span) -> TokenStream {
    let one = |mut token: TokenTree| {
        let span = token.span().located_at(at);
        if let TokenTree::Group(group) = &token {
            token = TokenTree::Group(Group::new(group.delimiter(), located_tokens(group.stream(), at)));
        }
        token.set_span(span);
        token
    };
    tokens.into_iter().map(one).collect()
}

/// Evaluates an expression of literals and of indices of unrolled loops. None if it contains anything else,
/// or overflows.
pub fn constant(expr: &Expr, variables: &[NamedSubstitution]) -> Option<i128> {
    match expr {
        Expr::Paren(inner) => constant(&inner.expr, variables),
        Expr::Group(inner) => constant(&inner.expr, variables),
        Expr::Call(_) => constant(without_type(expr)?.0, variables),
        Expr::Cast(cast) => constant(&cast.expr, variables),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => int.base10_parse().ok(),
            _ => None,
        },
        Expr::Path(path) => match substitution_for(path.path.get_ident()?, variables)? {
            Substitution::Number(value) => Some(*value),
            Substitution::Expression(meaning) => constant(meaning, &[]),
            Substitution::Place(_) => None,
        },
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => {
            constant(&unary.expr, variables)?.checked_neg()
        }
        Expr::Binary(binary) => {
            let (a, b) = (constant(&binary.left, variables)?, constant(&binary.right, variables)?);
            match binary.op {
                BinOp::Add(_) => a.checked_add(b),
                BinOp::Sub(_) => a.checked_sub(b),
                BinOp::Mul(_) => a.checked_mul(b),
                BinOp::Div(_) => a.checked_div(b),
                BinOp::Rem(_) => a.checked_rem(b),
                _ => None,
            }
        }
        _ => None,
    }
}
