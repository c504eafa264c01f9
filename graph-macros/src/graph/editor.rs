//! Emits the body of a graph function as ordinary Rust for rust-analyzer.
//!
//! The expansion for rustc refers to the names of a body by number, so an editor would find no local variable in it.
//! In rust-analyzer the expansion therefore also has a function that nothing calls. Its parameters, `let`s and uses of
//! names have the user's spans, and types that editors show (`editor.rs` of the facade). Statements that cannot be
//! parsed are emitted as they are: rust-analyzer completes a name by expanding the function with a made-up name in its
//! place. rustc never sees this function.

use std::sync::OnceLock;

use cuweave_core::ir::StatementKind;
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{ParseStream, Parser};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, Expr, ExprCall, FnArg, Meta, Pat, PatIdent, ReturnType, Stmt, Type};

use super::attributes::is_level;
use super::item::FunctionHead;
use super::parts::is_record;
use crate::substitution::located_tokens;

/// Returns true if the macro runs in rust-analyzer, whose server of macros is a program of its own.
pub fn is_editor() -> bool {
    static EDITOR: OnceLock<bool> = OnceLock::new();
    *EDITOR.get_or_init(|| {
        let program = std::env::current_exe().ok();
        program
            .and_then(|path| Some(path.file_name()?.to_str()?.starts_with("rust-analyzer")))
            .unwrap_or(false)
    })
}

/// Takes the user's spans from generated code in rust-analyzer, so that it looks up names only in the function of
/// [`body`]. Hygiene is unchanged.
pub fn detached(tokens: TokenStream) -> TokenStream {
    if is_editor() { located_tokens(tokens, Span::call_site()) } else { tokens }
}

/// Generates the function with the body. Empty if the head of the function cannot be parsed.
pub fn body(item: &TokenStream) -> TokenStream {
    let Ok(FunctionHead { signature, body, .. }) = syn::parse2(item.clone()) else {
        return TokenStream::new();
    };
    let mut types = EditorTypes::default();
    let parameters: Vec<TokenStream> = signature
        .inputs
        .iter()
        .filter_map(|input| match input {
            FnArg::Typed(typed) => {
                let (pattern, mut ty) = (mutable(&typed.pat), (*typed.ty).clone());
                types.visit_type_mut(&mut ty);
                Some(quote!(#pattern: #ty))
            }
            _ => None,
        })
        .collect();
    if let ReturnType::Type(_, ty) = &signature.output {
        types.visit_type_mut(&mut ty.clone());
    }
    let (lengths, statements) = (types.lengths, without_brackets(statements(body.stream())));
    quote! {
        #[allow(warnings, clippy::all)]
        const _: () = {
            fn __body(#(#parameters),*) {
                let _ = (#(#lengths,)*);
                #statements
            }
        };
    }
}

/// Takes the spans of all brackets. Those of a parsed index cover the index, whose names would refer to `Index`, too.
fn without_brackets(tokens: TokenStream) -> TokenStream {
    let one = |token: TokenTree| match token {
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), without_brackets(group.stream()));
            if group.delimiter() != Delimiter::Bracket {
                inner.set_span(group.span());
            }
            TokenTree::Group(inner)
        }
        token => token,
    };
    tokens.into_iter().map(one).collect()
}

/// Replaces the types of buffers and lists, and collects their lengths.
#[derive(Default)]
struct EditorTypes {
    lengths: Vec<Expr>,
    /// True inside of a type such as `Pinned<[T; len]>`.
    in_path: bool,
}

impl VisitMut for EditorTypes {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::Array(array) if !matches!(*array.elem, Type::Reference(_)) && !is_record(&array.elem) => {
                self.lengths.push(array.len.clone());
                self.visit_type_mut(&mut array.elem);
                let element = &array.elem;
                *ty = match self.in_path {
                    true => syn::parse_quote!([#element]),
                    false => syn::parse_quote!(::cuweave::__private::editor::DeviceBuffer<#element>),
                };
            }
            Type::Slice(slice) => {
                self.visit_type_mut(&mut slice.elem);
                let element = &slice.elem;
                *ty = syn::parse_quote!(::cuweave::__private::editor::List<#element>);
            }
            Type::Path(path) => {
                let is_option = path.path.segments.last().is_some_and(|last| last.ident == "Option");
                let outside = std::mem::replace(&mut self.in_path, !is_option);
                visit_mut::visit_type_mut(self, ty);
                self.in_path = outside;
            }
            _ => visit_mut::visit_type_mut(self, ty),
        }
    }
}

/// Makes the names of a pattern mutable: the language writes through names without `mut`.
fn mutable(pattern: &Pat) -> Pat {
    struct Mutable;
    impl VisitMut for Mutable {
        fn visit_pat_ident_mut(&mut self, name: &mut PatIdent) {
            if name.by_ref.is_none() {
                name.mutability.get_or_insert_with(Default::default);
            }
        }
    }
    let mut pattern = pattern.clone();
    Mutable.visit_pat_mut(&mut pattern);
    pattern
}

/// Converts as many statements as can be parsed, and keeps the others.
fn statements(tokens: TokenStream) -> TokenStream {
    let all = |input: ParseStream<'_>| {
        let mut converted = TokenStream::new();
        while !input.is_empty() {
            converted.extend(next_statement(input)?);
        }
        Ok(converted)
    };
    all.parse2(tokens).unwrap_or_default()
}

/// Converts the next statement, or keeps its tokens: those up to a semicolon or a block.
fn next_statement(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let ahead = input.fork();
    let end = ahead.parse::<Stmt>().is_ok().then(|| ahead.cursor());
    let mut tokens = Vec::new();
    while !input.is_empty() && end != Some(input.cursor()) {
        let token: TokenTree = input.parse()?;
        let ends = match &token {
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            _ => false,
        };
        tokens.push(token);
        if end.is_none() && ends {
            break;
        }
    }
    // A statement with superfluous tokens in parentheses is rejected only here.
    if let Ok(parsed) = Block::parse_within.parse2(tokens.iter().cloned().collect()) {
        return Ok(parsed.iter().map(statement).collect());
    }
    let nests = matches!(&tokens[0], TokenTree::Ident(word)
        if ["for", "if", "while", "match"].iter().any(|nesting| word == nesting));
    let kept = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) if nests && group.delimiter() == Delimiter::Brace => {
            let inside = statements(group.stream());
            quote!({ #inside })
        }
        token => token.into(),
    });
    Ok(quote!(#(#kept)*;))
}

fn block(block: &Block) -> TokenStream {
    let statements = block.stmts.iter().map(statement);
    quote!({ #(#statements)* })
}

fn statement(statement: &Stmt) -> TokenStream {
    match statement {
        Stmt::Local(local) => {
            let (names, pattern) = (named_in(&local.attrs), mutable(&local.pat));
            match &local.init {
                Some(init) if init.diverge.is_none() => {
                    let value = named_value(&local.pat, &init.expr);
                    quote!(#names let #pattern = #value;)
                }
                _ => quote!(#statement),
            }
        }
        Stmt::Expr(expr, _) => {
            let converted = expression(expr);
            quote!(#converted;)
        }
        _ => quote!(#statement),
    }
}

/// Converts an expression that is a statement.
fn expression(expr: &Expr) -> TokenStream {
    match expr {
        Expr::Call(call) => {
            let (names, called) = (named_in(&call.attrs), called(call));
            quote!(#names #called)
        }
        Expr::Block(inner) => {
            let (names, block) = (named_in(&inner.attrs), block(&inner.block));
            quote!(#names #block)
        }
        Expr::ForLoop(each) => {
            let (names, pattern) = (named_in(&each.attrs), mutable(&each.pat));
            let (range, body) = (&each.expr, block(&each.body));
            quote!(#names for #pattern in #range #body)
        }
        Expr::If(choice) => {
            let (names, condition) = (named_in(&choice.attrs), &choice.cond);
            let then = block(&choice.then_branch);
            let otherwise = choice.else_branch.as_ref().map(|(_, otherwise)| {
                let otherwise = expression(otherwise);
                quote!(else #otherwise)
            });
            quote!(#names if #condition #then #otherwise)
        }
        Expr::While(repeated) => {
            let (names, condition) = (named_in(&repeated.attrs), &repeated.cond);
            let body = block(&repeated.body);
            quote!(#names while #condition #body)
        }
        Expr::Match(choice) => {
            let (names, value) = (named_in(&choice.attrs), &choice.expr);
            let arms = choice.arms.iter().map(|arm| {
                let (pattern, body) = (&arm.pat, expression(&arm.body));
                quote!(#pattern => { #body })
            });
            quote!(#names match #value { #(#arms)* })
        }
        Expr::Assign(assign) => {
            let (names, place) = (named_in(&assign.attrs), &assign.left);
            let value = match &*assign.right {
                Expr::Call(call) if !is_alloc(call) => {
                    let called = called(call);
                    return quote!(#names (#place, #called));
                }
                value => value,
            };
            quote!(#names #place = #value)
        }
        _ => expr.to_token_stream(),
    }
}

/// Returns the expressions in the attributes of a statement, such as the names in `#[after(a, b)]`.
fn named_in(attributes: &[Attribute]) -> TokenStream {
    let lists = attributes.iter().filter(|attribute| !is_level(attribute)).filter_map(|attribute| {
        match &attribute.meta {
            Meta::List(list) => Some(&list.tokens),
            _ => None,
        }
    });
    quote!(#(let _ = (#lists);)*)
}

/// Converts a call or a launch. The words and the functions of graphs take other arguments in Rust.
fn called(call: &ExprCall) -> TokenStream {
    let ExprCall { func, args, .. } = call;
    match &**func {
        Expr::Path(_) => quote!((#func, (#args))),
        _ => quote!(#func(#args)),
    }
}

/// Converts the value of a `let`. A call returns buffers, and a `let` of another statement names it.
fn named_value(pattern: &Pat, value: &Expr) -> TokenStream {
    let Expr::Call(call) = value else { return value.to_token_stream() };
    let Expr::Path(path) = &*call.func else {
        let launch = called(call);
        return quote!({ #launch; });
    };
    let name = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    if is_alloc(call)
        || matches!(pattern, Pat::Type(_))
        || name == "per_item"
        || name.starts_with(char::is_uppercase)
    {
        let ExprCall { func, args, .. } = call;
        return quote!(#func(#args));
    }
    let called = called(call);
    if StatementKind::words().any(|word| name == word) {
        return quote!({ #called; });
    }
    let module = located_tokens(path.path.to_token_stream(), Span::call_site());
    let result = |at: usize| {
        let element = format_ident!("__Output{at}");
        quote!(::cuweave::__private::editor::returned::<#module::#element>())
    };
    match pattern {
        Pat::Tuple(tuple) => {
            let results = (0..tuple.elems.len()).map(result);
            quote!({ #called; (#(#results),*) })
        }
        _ => {
            let result = result(0);
            quote!({ #called; #result })
        }
    }
}

fn is_alloc(call: &ExprCall) -> bool {
    matches!(&*call.func, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "alloc"))
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use proc_macro2::TokenStream;

    /// Returns the text of the function for a body.
    fn body_of(statements: &str) -> String {
        let function =
            format!("fn f(n: u32, x: &mut [f32; n], list: &[Layer<'_>]) -> [f32; 2 * n] {{ {statements} }}");
        let text = super::body(&TokenStream::from_str(&function).expect("tokens")).to_string();
        text.replace(' ', "")
    }

    #[test]
    fn the_parameters_have_types_that_editors_show_and_the_lengths_are_uses() {
        let text = body_of("");
        assert!(text.contains("mutx:&mut::cuweave::__private::editor::DeviceBuffer<f32>"), "{text}");
        assert!(text.contains("mutlist:&::cuweave::__private::editor::List<Layer<'_>>"), "{text}");
        assert!(text.contains("let_=(n,2*n,);"), "{text}");
    }

    #[test]
    fn calls_become_values_that_rust_accepts() {
        let text = body_of("let h = doubled(n, &x); #[after(h)] copy(&h, &mut x); scale[(1, n)](&mut x, n);");
        assert!(text.contains("letmuth={(doubled,(n,&x));"), "{text}");
        assert!(text.contains("returned::<doubled::__Output0>()}"), "{text}");
        assert!(text.contains("let_=(h);(copy,(&h,&mutx));scale[(1,n)](&mutx,n);"), "{text}");
    }

    #[test]
    fn a_statement_that_cannot_be_parsed_stays_as_it_is_and_the_others_are_converted() {
        let text = body_of(
            "let a = n; for i in 0..n { let b = ; let c = i; } scale[per_item(;), n](a b); let d = n;",
        );
        assert!(text.contains("letmuta=n;"), "{text}");
        assert!(text.contains("foriin0..n{letb=;;letmutc=i;};"), "{text}");
        assert!(text.contains("scale[per_item(;),n](ab);;letmutd=n;"), "{text}");
    }
}
