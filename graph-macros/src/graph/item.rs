//! Parses the item that `#[graph]` is attached to: it may be half typed, not a function, or inside an
//! `impl`.

use cuweave_core::codes::Code;
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Block, ItemFn, Signature, Visibility};

use crate::report::Report;

/// A parsed function.
pub struct ParsedFunction {
    pub item: ItemFn,
    /// The syntax error in the body. The body is then treated as empty.
    pub unread: Option<syn::Error>,
}

/// A function with its body left unparsed.
pub struct FunctionHead {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    pub signature: Signature,
    pub body: Group,
}

impl Parse for FunctionHead {
    fn parse(input: ParseStream<'_>) -> syn::Result<FunctionHead> {
        let (attributes, visibility) = (input.call(Attribute::parse_outer)?, input.parse()?);
        let signature = input.parse()?;
        let body: Group = match input.parse()? {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => group,
            other => return Err(syn::Error::new(other.span(), "expected curly braces")),
        };
        Ok(FunctionHead { attributes, visibility, signature, body })
    }
}

/// Parses the item. If it cannot be a graph function, reports why and returns the tokens to emit in its
/// place.
pub fn function(tokens: &TokenStream, report: &mut Report) -> Result<ParsedFunction, TokenStream> {
    let error = match syn::parse2::<ItemFn>(tokens.clone()) {
        Ok(item) if associated(&item) => {
            report.error(
                item.sig.ident.span(),
                Code::CW001,
                "a graph function cannot be in an `impl` or a `trait`",
                &["the attribute adds a module of the same name with the types of the graph".into()],
                Some("move it out of the block, and take what it needs of `self` as arguments"),
            );
            return Err(TokenStream::new());
        }
        Ok(item) => return Ok(ParsedFunction { item, unread: None }),
        Err(error) => error,
    };
    match without_body(tokens, report) {
        Some(item) => Ok(ParsedFunction { item, unread: Some(error) }),
        None => Err(no_function(tokens, &error, report)),
    }
}

/// Parses a function whose body has a syntax error, and gives it an empty body.
fn without_body(tokens: &TokenStream, report: &mut Report) -> Option<ItemFn> {
    let FunctionHead { attributes, visibility, signature, body } =
        syn::parse2::<FunctionHead>(tokens.clone()).ok()?;
    let mut braces = Group::new(Delimiter::Brace, TokenStream::new());
    braces.set_span(body.span());
    if let Some(span) = chevrons(body.stream()) {
        report.error(
            span,
            Code::CW001,
            "a launch configuration stands in brackets",
            &[],
            Some("write `kernel[(grid, block)](args);` or `kernel[per_item(n)](args);`"),
        );
    }
    let block = syn::parse2::<Block>(quote!(#braces)).ok()?;
    Some(ItemFn {
        attrs: attributes,
        vis: visibility,
        modifiers: Default::default(),
        sig: signature,
        block: Box::new(block),
    })
}

/// Reports an item that is not a function with a body.
fn no_function(tokens: &TokenStream, error: &syn::Error, report: &mut Report) -> TokenStream {
    if syn::parse2::<syn::TraitItemFn>(tokens.clone()).is_ok() {
        report.error(
            error.span(),
            Code::CW001,
            "a graph function has a body",
            &[],
            Some("write it, with the statements of the graph"),
        );
    } else if let Ok(item) = syn::parse2::<syn::Item>(tokens.clone()) {
        let help = match item {
            syn::Item::Struct(_) => "a record of arguments is a struct with `#[cuweave::arguments]`",
            syn::Item::ForeignMod(_) => "kernels are declared with `#[cuweave::kernels(\"file.ptx\")]`",
            _ => "put it on each function that is a graph",
        };
        report.error(item.span(), Code::CW001, "`#[graph]` stands on a function", &[], Some(help));
    } else {
        return unread(error);
    }
    TokenStream::new()
}

/// Returns code with an error that rustc shows only if it shows no other one. A syntax error that rustc
/// reports itself is explained better there.
pub fn unread(error: &syn::Error) -> TokenStream {
    let text = format!("{}: this function cannot be read: {error}", Code::CW001);
    let function = quote_spanned!(error.span()=> __read());
    quote! {
        const _: () = {
            #[must_use = #text]
            fn __read() -> bool {
                true
            }
            #[deny(unused_must_use)]
            #[allow(dead_code)]
            fn __unread() {
                #function;
            }
        };
    }
}

/// Finds `<<<`, which begins a launch configuration in CUDA C++.
fn chevrons(tokens: TokenStream) -> Option<Span> {
    let mut row = 0;
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) => {
            row = 0;
            chevrons(group.stream())
        }
        TokenTree::Punct(punct) if punct.as_char() == '<' => {
            row += 1;
            (row == 3).then(|| punct.span())
        }
        _ => {
            row = 0;
            None
        }
    })
}

/// Returns true if the function is inside an `impl` or a `trait`. That is certain if it takes `self`.
/// Otherwise the source file is consulted: the last preceding line with less indentation must be the head
/// of such a block.
fn associated(item: &ItemFn) -> bool {
    if matches!(item.sig.inputs.first(), Some(syn::FnArg::Receiver(_))) {
        return true;
    }
    let at = Span::call_site().start();
    if at.column == 0 {
        return false;
    }
    let Some(source) = Span::call_site().local_file().and_then(|path| std::fs::read_to_string(path).ok())
    else {
        return false;
    };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = source.lines().take(at.line.saturating_sub(1)).collect();
    let head = lines.iter().rev().find(|line| !line.trim().is_empty() && indent(line) < at.column);
    head.is_some_and(|line| is_head(line.trim()))
}

/// Returns true for the first line of an `impl` or `trait` block that ends with its brace.
fn is_head(line: &str) -> bool {
    let Some(head) = line.strip_suffix('{') else { return false };
    let mut words = head
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .skip_while(|word| matches!(*word, "pub" | "unsafe"));
    matches!(words.next(), Some("impl" | "trait")) && !head.contains(['{', '}', ';', '"', '/'])
}
