//! Lengths, bounds and extents of the source: from a Rust expression to a polynomial, to the code that
//! evaluates it, and to its text. The polynomial is for the checks: two bounds are compared symbolically,
//! and subexpressions that are not `+`, `-`, `*` become opaque variables, equal if their tokens are
//! ([`key`]). The code ([`IntExpr`]) is evaluated when the graph is built.

use std::collections::BTreeSet;
use std::rc::Rc;

use cuweave_core::ids::{ArgumentPartId, BufferId, LeafId, VariableId};
use cuweave_core::table::BoundOp;
use cuweave_ptx::declare::{QuotientVariable, RoundedVariable};
use cuweave_ptx::poly::{Poly, Symbols};
use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprMethodCall, Lit, Type};

/// A length or bound: its polynomial, its code and its text.
#[derive(Clone)]
pub struct DimExpr {
    /// The polynomial that the checks compare.
    pub poly: Poly,
    /// The code that is evaluated when the graph is built.
    pub term: IntExpr,
    /// The source text.
    pub text: String,
}

impl DimExpr {
    /// Returns a constant bound.
    pub fn constant(value: u64) -> DimExpr {
        DimExpr {
            poly: Poly::constant(i128::from(value)),
            term: IntExpr::Constant(value),
            text: value.to_string(),
        }
    }

    /// Returns the length of a buffer that a call returns. Its value is known only when the graph is built.
    pub fn extent(buffer: BufferId, name: &str, symbols: &mut Symbols) -> DimExpr {
        let text = format!("the length of `{name}`");
        DimExpr {
            poly: symbols.opaque(&format!("extent {buffer}"), &text),
            term: IntExpr::Extent(buffer),
            text,
        }
    }

    /// Returns the length of a buffer inside a record or list argument. Its value is known only when the
    /// graph is built.
    pub fn length(part: ArgumentPartId, name: &str, symbols: &mut Symbols) -> DimExpr {
        let text = format!("the length of `{name}`");
        DimExpr { poly: symbols.opaque(&format!("length {part}"), &text), term: IntExpr::Length(part), text }
    }

    /// Returns the number of elements of a list. `tokens` compute it as a `Dim`.
    pub fn count(list: &Expr, tokens: TokenStream, symbols: &mut Symbols) -> DimExpr {
        let len: Expr = syn::parse_quote!(#list.len());
        let (key, text) = (key(&len), compact(&len));
        DimExpr { poly: symbols.opaque(&key, &text), term: IntExpr::Leaf(Rc::new((tokens, key))), text }
    }

    /// Returns the bound that an expression over the arguments describes.
    ///
    /// `as_written` is false if values were substituted for loop variables. The text is then made from the
    /// polynomial.
    pub fn from_expr(
        expr: &Expr,
        as_written: bool,
        integers: &BTreeSet<String>,
        symbols: &mut Symbols,
    ) -> DimExpr {
        // Fast path: most expressions are a single name.
        if let Expr::Path(path) = expr
            && let Some(name) = path.path.get_ident()
        {
            let (key, text) = (key(expr), name.to_string());
            let poly = symbols.opaque(&key, &text);
            return DimExpr { poly, term: IntExpr::from_expr(expr, integers), text };
        }
        let poly = poly(expr, integers, symbols);
        let text = if as_written { compact(expr) } else { symbols.text(&poly) };
        DimExpr { poly, term: IntExpr::from_expr(expr, integers), text }
    }

    /// Returns `self + other`, the bound of a slice of a slice.
    pub fn plus(&self, other: &DimExpr, symbols: &mut Symbols) -> DimExpr {
        match (self.poly.as_constant(), other.poly.as_constant()) {
            (Some(0), _) => return other.clone(),
            (_, Some(0)) => return self.clone(),
            _ => {}
        }
        let text = format!("{} + {}", self.text, other.text);
        let opaque = || format!("{:?} + {:?}", self.poly, other.poly);
        DimExpr {
            poly: self.poly.plus(&other.poly).unwrap_or_else(|| symbols.opaque(&opaque(), &text)),
            term: IntExpr::Operation(BoundOp::Add, Rc::new((self.term.clone(), other.term.clone()))),
            text,
        }
    }
}

/// The code of a bound: checked 64-bit operations over literals, loop indices, lengths and the user's
/// expressions.
#[derive(Clone)]
pub enum IntExpr {
    /// A literal.
    Constant(u64),
    /// The index of a loop that is unrolled when the graph is built.
    Variable(VariableId),
    /// The length of the buffer that a name denotes.
    Extent(BufferId),
    /// The length of a component of a record or list argument.
    Length(ArgumentPartId),
    /// An expression that rustc compiles: tokens that evaluate to a `Dim`, and the expression's [`key`].
    Leaf(Rc<(TokenStream, String)>),
    /// A binary operator and its operands.
    Operation(BoundOp, Rc<(IntExpr, IntExpr)>),
}

impl IntExpr {
    /// Translates an expression. Mirrors [`dim_tokens`].
    fn from_expr(expr: &Expr, integers: &BTreeSet<String>) -> IntExpr {
        match expr {
            Expr::Paren(inner) => IntExpr::from_expr(&inner.expr, integers),
            Expr::Group(inner) => IntExpr::from_expr(&inner.expr, integers),
            // In a narrower type the arithmetic is that type's, so the expression stays a leaf.
            Expr::Call(_)
                if without_type(expr)
                    .is_some_and(|(inner, ty)| is_wide(ty) && is_integer(inner, integers)) =>
            {
                without_type(expr)
                    .map_or_else(|| IntExpr::leaf(expr), |(inner, _)| IntExpr::from_expr(inner, integers))
            }
            Expr::Cast(cast) if is_wide(&cast.ty) && is_integer(&cast.expr, integers) => {
                IntExpr::from_expr(&cast.expr, integers)
            }
            Expr::Binary(binary) => match checked(&binary.op) {
                Some(op) => {
                    let sides = (
                        IntExpr::from_expr(&binary.left, integers),
                        IntExpr::from_expr(&binary.right, integers),
                    );
                    IntExpr::Operation(op, Rc::new(sides))
                }
                None => IntExpr::leaf(expr),
            },
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(int) if int.suffix().is_empty() => {
                    int.base10_parse::<u64>().map_or_else(|_| IntExpr::leaf(expr), IntExpr::Constant)
                }
                _ => IntExpr::leaf(expr),
            },
            Expr::Path(path) => {
                let variable = path.path.get_ident().and_then(|name| index_of_name(&name.to_string()));
                variable.map_or_else(|| IntExpr::leaf(expr), IntExpr::Variable)
            }
            // `Dim` has `next_multiple_of` for signed integers, too, where the standard method is unstable.
            Expr::MethodCall(call) if rounding(call, integers).is_some() => {
                IntExpr::Leaf(Rc::new((dim_tokens(expr, integers), key(expr))))
            }
            _ => IntExpr::leaf(expr),
        }
    }

    fn leaf(expr: &Expr) -> IntExpr {
        IntExpr::Leaf(Rc::new((wrapped(expr), key(expr))))
    }

    /// Appends the operations in postfix order. `leaf` numbers the leaves.
    pub fn code(&self, code: &mut Vec<BoundOp>, leaf: &mut impl FnMut(&TokenStream, &str) -> LeafId) {
        match self {
            IntExpr::Constant(value) => code.push(BoundOp::Constant(*value)),
            IntExpr::Variable(variable) => code.push(BoundOp::Variable(*variable)),
            IntExpr::Extent(buffer) => code.push(BoundOp::Extent(*buffer)),
            IntExpr::Length(part) => code.push(BoundOp::Length(*part)),
            IntExpr::Leaf(one) => code.push(BoundOp::Leaf(leaf(&one.0, &one.1))),
            IntExpr::Operation(op, sides) => {
                sides.0.code(code, leaf);
                sides.1.code(code, leaf);
                code.push(*op);
            }
        }
    }
}

/// Wraps an expression so that rustc knows its type. In bounds, its arithmetic remains that of `value`.
pub fn typed(ty: &Type, value: &Expr) -> Expr {
    let span = value.span();
    let call = quote_spanned!(span=> ::cuweave::__private::typed::<#ty>(#value));
    syn::parse2(call).unwrap_or_else(|_| value.clone())
}

/// Undoes [`typed`]: returns the expression and the type. None for any other expression.
pub fn without_type(expr: &Expr) -> Option<(&Expr, &Type)> {
    let Expr::Call(call) = expr else { return None };
    let Expr::Path(path) = &*call.func else { return None };
    let [first, .., last] = path.path.segments.iter().collect::<Vec<_>>()[..] else { return None };
    if first.ident != "cuweave" || last.ident != "typed" {
        return None;
    }
    match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            syn::GenericArgument::Type(ty) => Some((call.args.first()?, ty)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the symbol of a name, the same one that expressions get for it.
pub fn variable(name: &Ident, symbols: &mut Symbols) -> Poly {
    let mut key = String::new();
    name_key(name, &mut key);
    symbols.opaque(&key, &name.to_string())
}

fn poly(expr: &Expr, integers: &BTreeSet<String>, symbols: &mut Symbols) -> Poly {
    transparent(expr, integers, symbols).unwrap_or_else(|| symbols.opaque(&key(expr), &compact(expr)))
}

/// Returns the polynomial of an expression built from `+`, `-`, `*`, literals and names.
fn transparent(expr: &Expr, integers: &BTreeSet<String>, symbols: &mut Symbols) -> Option<Poly> {
    match expr {
        Expr::Paren(inner) => Some(poly(&inner.expr, integers, symbols)),
        Expr::Group(inner) => Some(poly(&inner.expr, integers, symbols)),
        Expr::Call(_) => without_type(expr)
            .filter(|(inner, _)| is_integer(inner, integers))
            .map(|(inner, _)| poly(inner, integers, symbols)),
        // Lengths are computed in 64 bits, so widening changes nothing.
        Expr::Cast(cast) if is_wide(&cast.ty) && is_integer(&cast.expr, integers) => {
            Some(poly(&cast.expr, integers, symbols))
        }
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => int.base10_parse::<u64>().ok().map(|value| Poly::constant(i128::from(value))),
            _ => None,
        },
        Expr::Binary(binary) => {
            let left = poly(&binary.left, integers, symbols);
            let right = poly(&binary.right, integers, symbols);
            checked(&binary.op)?.poly(&left, &right)
        }
        _ => None,
    }
}

/// Returns true if the tokens alone show that the expression is integer arithmetic.
pub fn is_integer(expr: &Expr, integers: &BTreeSet<String>) -> bool {
    match expr {
        Expr::Paren(inner) => is_integer(&inner.expr, integers),
        Expr::Group(inner) => is_integer(&inner.expr, integers),
        Expr::Call(_) => without_type(expr).is_some_and(|(inner, _)| is_integer(inner, integers)),
        Expr::Cast(cast) => is_wide(&cast.ty) && is_integer(&cast.expr, integers),
        Expr::Lit(literal) => matches!(literal.lit, Lit::Int(_)),
        Expr::Path(path) => path.path.get_ident().is_some_and(|name| {
            let name = name.to_string();
            integers.contains(&name) || index_of_name(&name).is_some()
        }),
        Expr::Binary(binary) => {
            checked(&binary.op).is_some()
                && is_integer(&binary.left, integers)
                && is_integer(&binary.right, integers)
        }
        Expr::MethodCall(call) => {
            INTEGER_METHODS.iter().any(|name| call.method == name)
                && is_integer(&call.receiver, integers)
                && call.args.iter().all(|argument| is_integer(argument, integers))
        }
        _ => false,
    }
}

/// Methods of integers that return an integer of the same type.
const INTEGER_METHODS: [&str; 9] = [
    "div_ceil",
    "next_multiple_of",
    "min",
    "max",
    "clamp",
    "saturating_add",
    "saturating_sub",
    "saturating_mul",
    "next_power_of_two",
];

/// Returns the checked operator of `Dim` for an operator, if there is one.
pub fn checked(op: &BinOp) -> Option<BoundOp> {
    match op {
        BinOp::Add(_) => Some(BoundOp::Add),
        BinOp::Sub(_) => Some(BoundOp::Sub),
        BinOp::Mul(_) => Some(BoundOp::Mul),
        BinOp::Div(_) => Some(BoundOp::Div),
        BinOp::Rem(_) => Some(BoundOp::Rem),
        _ => None,
    }
}

fn is_wide(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("usize") || path.path.is_ident("u64"))
}

/// Splits `integer.next_multiple_of(4)` into the integer and the literal.
fn rounding<'e>(call: &'e ExprMethodCall, integers: &BTreeSet<String>) -> Option<(&'e Expr, u32)> {
    let (true, [Expr::Lit(literal)]) =
        (call.method == "next_multiple_of", &*call.args.iter().collect::<Vec<_>>())
    else {
        return None;
    };
    let Lit::Int(to) = &literal.lit else { return None };
    let to = to.base10_parse::<u32>().ok().filter(|&to| to > 0)?;
    is_integer(&call.receiver, integers).then_some((&*call.receiver, to))
}

/// Returns the `next_multiple_of` terms of a length. Each is an opaque variable of the length's polynomial.
pub fn rounded(expr: &Expr, integers: &BTreeSet<String>, symbols: &mut Symbols) -> Vec<RoundedVariable> {
    match expr {
        Expr::Paren(inner) => rounded(&inner.expr, integers, symbols),
        Expr::Group(inner) => rounded(&inner.expr, integers, symbols),
        Expr::Cast(cast) => rounded(&cast.expr, integers, symbols),
        Expr::Binary(binary) => {
            let mut all = rounded(&binary.left, integers, symbols);
            all.extend(rounded(&binary.right, integers, symbols));
            all
        }
        Expr::MethodCall(call) => {
            let of = rounding(call, integers)
                .map(|(of, to)| (poly(of, integers, symbols), to, poly(expr, integers, symbols)));
            let one = of.and_then(|(of, to, variable)| match variable.variables()[..] {
                [variable] => Some(RoundedVariable { variable, of, to }),
                _ => None,
            });
            one.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the quotients by a literal in a length. Each is an opaque variable of the length's polynomial.
pub fn divided(expr: &Expr, integers: &BTreeSet<String>, symbols: &mut Symbols) -> Vec<QuotientVariable> {
    match expr {
        Expr::Paren(inner) => divided(&inner.expr, integers, symbols),
        Expr::Group(inner) => divided(&inner.expr, integers, symbols),
        Expr::Cast(cast) => divided(&cast.expr, integers, symbols),
        Expr::Binary(binary) => {
            let mut all = divided(&binary.left, integers, symbols);
            all.extend(divided(&binary.right, integers, symbols));
            if matches!(binary.op, BinOp::Div(_))
                && is_integer(&binary.left, integers)
                && let Some(by) = divisor(&binary.right)
                && let [variable] = poly(expr, integers, symbols).variables()[..]
            {
                all.push(QuotientVariable { variable, of: poly(&binary.left, integers, symbols), by });
            }
            all
        }
        // `n.div_ceil(by)` is the quotient of `n + by - 1`.
        Expr::MethodCall(call) if call.method == "div_ceil" && is_integer(&call.receiver, integers) => {
            let of = poly(&call.receiver, integers, symbols);
            let by = call.args.first().and_then(divisor);
            let found = by.and_then(|by| {
                let [variable] = poly(expr, integers, symbols).variables()[..] else { return None };
                let of = of.plus(&Poly::constant(i128::from(by) - 1))?;
                Some(QuotientVariable { variable, of, by })
            });
            found.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the value of a positive literal divisor.
fn divisor(expr: &Expr) -> Option<u32> {
    match expr {
        Expr::Paren(inner) => divisor(&inner.expr),
        Expr::Group(inner) => divisor(&inner.expr),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(by) => by.base10_parse().ok().filter(|&by| by > 0),
            _ => None,
        },
        _ => None,
    }
}

/// Returns tokens of type `Dim`. Operators stay and become checked; other expressions are wrapped in
/// `dim(..)`.
pub fn dim_tokens(expr: &Expr, integers: &BTreeSet<String>) -> TokenStream {
    match expr {
        Expr::Paren(inner) => {
            let inner = dim_tokens(&inner.expr, integers);
            quote!((#inner))
        }
        Expr::Group(inner) => dim_tokens(&inner.expr, integers),
        Expr::Cast(cast) if is_wide(&cast.ty) && is_integer(&cast.expr, integers) => {
            dim_tokens(&cast.expr, integers)
        }
        Expr::Binary(binary) if checked(&binary.op).is_some() => {
            let (left, right) = (dim_tokens(&binary.left, integers), dim_tokens(&binary.right, integers));
            let op = binary.op;
            // Keep sums flat: rustc limits the depth of nested parentheses, and a sum may have thousands of
            // terms.
            match binds_as_tight(&binary.left, &op) {
                true => quote!(#left #op (#right)),
                false => quote!((#left) #op (#right)),
            }
        }
        Expr::MethodCall(call) => match rounding(call, integers) {
            Some((of, to)) => {
                let (of, to) = (dim_tokens(of, integers), u64::from(to));
                quote_spanned!(call.span()=> (#of).next_multiple_of(#to))
            }
            None => wrapped(expr),
        },
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) if int.suffix().is_empty() => match int.base10_parse::<u64>() {
                Ok(value) => quote_spanned!(int.span()=> ::cuweave::__private::dim(#value)),
                Err(_) => wrapped(expr),
            },
            _ => wrapped(expr),
        },
        _ => wrapped(expr),
    }
}

/// Returns true if `left` needs no parentheses as the left operand of `op`.
fn binds_as_tight(left: &Expr, op: &BinOp) -> bool {
    let is_sum = |op: &BinOp| matches!(op, BinOp::Add(_) | BinOp::Sub(_));
    match left {
        Expr::Binary(binary) => checked(&binary.op).is_some() && (is_sum(op) || !is_sum(&binary.op)),
        _ => false,
    }
}

fn wrapped(expr: &Expr) -> TokenStream {
    quote_spanned!(expr.span()=> ::cuweave::__private::dim(#expr))
}

/// Identifies an expression by its tokens: expressions with equal keys are the same Rust code with the same
/// name resolution.
///
/// The key contains literals as written, and each name with its hygiene context, because a `macro_rules!`
/// can introduce a local that differs from the user's local of the same spelling. White space and comments
/// do not matter.
pub fn key(expr: &Expr) -> String {
    let mut text = String::new();
    // Fast path: most expressions are names, and a large function has tens of thousands of them.
    match expr {
        Expr::Path(path) if path.path.get_ident().is_some() => {
            path.path.get_ident().into_iter().for_each(|name| name_key(name, &mut text));
        }
        _ => tokens_key(expr.to_token_stream(), &mut text),
    }
    text
}

fn tokens_key(tokens: TokenStream, text: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ('(', ')'),
                    Delimiter::Brace => ('{', '}'),
                    Delimiter::Bracket => ('[', ']'),
                    Delimiter::None => ('<', '>'),
                };
                text.push(open);
                tokens_key(group.stream(), text);
                text.push(close);
            }
            TokenTree::Ident(name) => name_key(&name, text),
            TokenTree::Punct(punct) => {
                text.push(punct.as_char());
                if punct.spacing() == Spacing::Joint {
                    text.push('\u{1}');
                }
            }
            TokenTree::Literal(literal) => text.push_str(&literal.to_string()),
        }
        // NUL cannot occur in a token's text: in a literal it would be written as an escape.
        text.push('\u{0}');
    }
}

fn name_key(name: &Ident, text: &mut String) {
    let spelling = name.to_string();
    text.push_str(&spelling);
    // A constant is an item, and items resolve without regard to hygiene.
    if !spelling.contains(char::is_lowercase) {
        return;
    }
    // rustc prints a span as `#3 bytes(10..11)`. The first part is the hygiene context, for which there is
    // no stable API. If the format changes, all contexts count as equal.
    let span = format!("{:?}", name.span());
    if let Some((context, _)) = span.split_once(' ').filter(|(context, _)| context.starts_with('#')) {
        text.push_str(context);
    }
}

/// Returns the text of an expression without the spaces that printing tokens inserts.
pub fn compact(expr: &Expr) -> String {
    if let Expr::Path(path) = expr
        && let Some(name) = path.path.get_ident()
    {
        return name.to_string();
    }
    let text = expr.to_token_stream().to_string();
    text.replace(" . ", ".").replace(" (", "(").replace("( ", "(").replace(" )", ")").replace(" :: ", "::")
}

/// The prefix of a loop index in generated code, for loops that are unrolled when the graph is built.
const INDEX_PREFIX: &str = "__index_";

/// Returns the name of a loop index in generated code.
pub fn index_ident(variable: VariableId) -> Ident {
    Ident::new(&format!("{INDEX_PREFIX}{variable}"), Span::mixed_site())
}

/// Returns the loop index that a generated name denotes.
pub fn index_of_name(name: &str) -> Option<VariableId> {
    name.strip_prefix(INDEX_PREFIX)?.parse().ok().map(VariableId::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_of(text: &str) -> String {
        key(&syn::parse_str(text).expect("an expression"))
    }

    #[test]
    fn one_code_has_one_key() {
        let same = [
            ("f(n)", "f ( n /* that one */ )"),
            ("a.b::<c>()", "a . b :: < c > ( )"),
            ("x <= y", "x<=y"),
            (r#"f("a  b")"#, r#"f( "a  b" )"#),
        ];
        for (one, other) in same {
            assert_eq!(key_of(one), key_of(other), "{one}, {other}");
        }
    }

    #[test]
    fn two_codes_have_two_keys() {
        let all = [
            "n",
            "r#n",
            "(n)",
            "f(n)",
            "f((n))",
            "f(n,)",
            "f(n, m)",
            "f(nm)",
            "f[n]",
            "f(1)",
            "f(1u32)",
            "f(1u64)",
            "f(0x1)",
            "f(1.0)",
            r#"f("1")"#,
            r##"f(r"1")"##,
            r##"f(r#"1"#)"##,
            r#"f(b"1")"#,
            r#"f(c"1")"#,
            "f('1')",
            "f(b'1')",
            r#"f("x::y")"#,
            r#"f("x :: y")"#,
            r#"f("( x )")"#,
            r#"f("(x)")"#,
            r#"f("a b", "c")"#,
            r#"f("a b\", \"c")"#,
            "f(a.0.1)",
            "f(a.0 .2)",
            "m!(a && b)",
            "m!(a & &b)",
            "m!(a-=-b)",
            "m!(a -= -b)",
            "m![a && b]",
        ];
        for (at, one) in all.iter().enumerate() {
            for other in &all[..at] {
                assert_ne!(key_of(one), key_of(other), "{one}, {other}");
            }
        }
    }
}
