//! Collects the names in a user's expression, free and bound.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Expr, FieldValue, Item, Macro, PatIdent};

use crate::substitution::{NamedSubstitution, Substitution};

/// The names in an expression.
#[derive(Default)]
pub struct ExprNames {
    /// All names that may denote values, including names in the tokens of macro calls.
    pub mentioned: BTreeSet<String>,
    /// The free names of values, as far as the syntax shows them.
    pub values: Vec<Ident>,
    /// The names that patterns inside the expression bind.
    bound: BTreeSet<String>,
    /// True if the expression contains macros, items, or field shorthands: names cannot be replaced inside
    /// of it.
    opaque: bool,
}

impl ExprNames {
    /// Collects the names of an expression.
    pub fn from_expr(expr: &Expr) -> ExprNames {
        let mut names = ExprNames::default();
        // Fast path: most expressions are single names.
        if let Expr::Path(path) = expr
            && let Some(name) = path.path.get_ident()
        {
            names.mentioned.insert(name.to_string());
            names.values.push(name.clone());
            return names;
        }
        names.visit_expr(expr);
        let ExprNames { mentioned, values, bound, .. } = &mut names;
        mentioned.extend(values.iter().map(Ident::to_string));
        values.retain(|name| !bound.contains(&name.to_string()));
        names
    }

    /// Returns true if a pattern inside the expression binds the name.
    pub fn is_bound(&self, name: &Ident) -> bool {
        self.bound.contains(&name.to_string())
    }

    /// Returns true if one of the variables may be rebound inside the expression, so that its value cannot
    /// be substituted.
    pub fn binds(&self, variables: &[NamedSubstitution]) -> bool {
        variables.iter().any(|NamedSubstitution { name, .. }| {
            self.mentioned.contains(name) && (self.opaque || self.bound.contains(name))
        })
    }
}

impl<'e> Visit<'e> for ExprNames {
    fn visit_expr(&mut self, expr: &'e Expr) {
        match expr {
            Expr::Path(path) => self.values.extend(path.path.get_ident().cloned()),
            // A called function's name cannot be a buffer's name.
            Expr::Call(call) if matches!(&*call.func, Expr::Path(_)) => {
                call.args.iter().for_each(|argument| self.visit_expr(argument));
            }
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_pat_ident(&mut self, pattern: &'e PatIdent) {
        self.bound.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_field_value(&mut self, field: &'e FieldValue) {
        self.opaque |= field.colon_token.is_none();
        visit::visit_field_value(self, field);
    }

    fn visit_macro(&mut self, call: &'e Macro) {
        self.opaque = true;
        collect_names(call.tokens.clone(), &mut self.mentioned);
    }

    fn visit_item(&mut self, item: &'e Item) {
        self.opaque = true;
        collect_names(item.to_token_stream(), &mut self.mentioned);
    }
}

/// Wraps an expression in a block that binds the mentioned variables to their values.
pub fn with_bindings(variables: &[NamedSubstitution], mentioned: &BTreeSet<String>, expr: &Expr) -> Expr {
    // If several variables share a name, the innermost comes last and shadows the others.
    let bindings = variables.iter().filter(|known| mentioned.contains(&known.name)).map(|known| {
        let name = Ident::new(&known.name, Span::call_site());
        match &known.meaning {
            Substitution::Number(value) => {
                let value = proc_macro2::Literal::i128_unsuffixed(*value);
                quote::quote!(let #name = #value;)
            }
            Substitution::Expression(meaning) => quote::quote!(let #name = #meaning;),
            Substitution::Place(place) => quote::quote!(let #name = &#place;),
        }
    });
    syn::parse_quote!({ #(#bindings)* #expr })
}

/// Collects every name in the tokens. Words inside string literals count as names, because `format!("{n}")`
/// captures `n`.
pub fn collect_names(tokens: TokenStream, names: &mut BTreeSet<String>) {
    let (mut dots, mut member) = (false, false);
    for token in tokens {
        // Skip `d` in `layer.d`, but not in `0..d`.
        let dot = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
        let of_a_value = std::mem::replace(&mut member, dot && !dots);
        dots = dot;
        match token {
            TokenTree::Group(group) => collect_names(group.stream(), names),
            TokenTree::Ident(_) if of_a_value => {}
            TokenTree::Ident(name) => drop(names.insert(name.to_string())),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                if text.contains('"') {
                    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                    names.extend(words.filter(|word| !word.is_empty()).map(ToOwned::to_owned));
                }
            }
            TokenTree::Punct(_) => {}
        }
    }
}

/// Collects the record scalars that the tokens mention: `layers.scale` for `layers[i].scale`, or `layers`
/// if any part of the argument may be meant. `roots` are the names of arguments. The length of a list does
/// not count as a scalar of the record.
pub fn collect_record_scalars(tokens: TokenStream, roots: &BTreeSet<String>, found: &mut BTreeSet<String>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => collect_record_scalars(group.stream(), roots, found),
            TokenTree::Ident(name) if name == COUNT_FUNCTION => drop(tokens.next()),
            TokenTree::Ident(name) if roots.contains(&name.to_string()) => {
                let mut chain = name.to_string();
                let mut scalar = true;
                loop {
                    match tokens.peek() {
                        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
                            collect_record_scalars(group.stream(), roots, found);
                            tokens.next();
                        }
                        Some(TokenTree::Punct(dot)) if dot.as_char() == '.' => {
                            tokens.next();
                            let Some(TokenTree::Ident(field)) = tokens.next() else { break };
                            if matches!(tokens.peek(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
                            {
                                scalar = field != "len" && field != "is_empty";
                                break;
                            }
                            chain.push('.');
                            chain.push_str(&field.to_string());
                        }
                        _ => break,
                    }
                }
                if scalar {
                    found.insert(chain);
                }
            }
            _ => {}
        }
    }
}

/// The function in generated code that counts the elements of a list.
const COUNT_FUNCTION: &str = "__count";

/// Wraps the indices in element expressions of arguments, so that integers of any type can be used.
pub fn wrap_indices(tokens: TokenStream, roots: &BTreeSet<String>) -> TokenStream {
    let mut in_chain = false;
    let mut out = Vec::new();
    for token in tokens {
        out.push(match token {
            TokenTree::Group(group) => {
                let inner = wrap_indices(group.stream(), roots);
                let wraps = in_chain && group.delimiter() == Delimiter::Bracket;
                let inner = if wraps { quote::quote!(::cuweave::__private::index(#inner)) } else { inner };
                in_chain = wraps;
                let mut changed = Group::new(group.delimiter(), inner);
                changed.set_span(group.span());
                TokenTree::Group(changed)
            }
            TokenTree::Ident(name) => {
                in_chain = in_chain || roots.contains(&name.to_string());
                TokenTree::Ident(name)
            }
            TokenTree::Punct(punct) => {
                in_chain &= punct.as_char() == '.';
                TokenTree::Punct(punct)
            }
            literal @ TokenTree::Literal(_) => {
                in_chain = false;
                literal
            }
        });
    }
    out.into_iter().collect()
}
