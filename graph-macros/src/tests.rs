//! Tests of the names that the attributes add to a user's module and to its documentation.

use std::str::FromStr;

use proc_macro2::TokenStream;
use syn::visit::{self, Visit};
use syn::{Attribute, Field, ImplItem, Item, ItemImpl};

/// Collects the names that `cargo doc --document-private-items` lists and that the user did not write.
#[derive(Default)]
struct Listed {
    names: Vec<String>,
    /// True inside an unnamed constant: only implementations in it are visible outside.
    unnamed: bool,
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| quote::quote!(#attribute).to_string().contains("hidden"))
}

impl<'ast> Visit<'ast> for Listed {
    fn visit_item(&mut self, item: &'ast Item) {
        let (name, attributes) = match item {
            Item::Const(constant) if constant.ident == "_" => {
                let outer = std::mem::replace(&mut self.unnamed, true);
                visit::visit_item_const(self, constant);
                self.unnamed = outer;
                return;
            }
            Item::Const(item) => (item.ident.to_string(), &item.attrs),
            Item::Enum(item) => (item.ident.to_string(), &item.attrs),
            Item::Fn(item) => (item.sig.ident.to_string(), &item.attrs),
            Item::Macro(item) => {
                (item.ident.as_ref().map_or(String::new(), ToString::to_string), &item.attrs)
            }
            Item::Mod(item) => (item.ident.to_string(), &item.attrs),
            Item::Static(item) => (item.ident.to_string(), &item.attrs),
            Item::Struct(item) => (item.ident.to_string(), &item.attrs),
            Item::Trait(item) => (item.ident.to_string(), &item.attrs),
            Item::Type(item) => (item.ident.to_string(), &item.attrs),
            Item::Use(item) => {
                if !matches!(item.vis, syn::Visibility::Inherited) && !is_hidden(&item.attrs) {
                    self.names.push("an import that others see".to_owned());
                }
                return;
            }
            Item::Impl(item) => return self.visit_item_impl(item),
            // The user's `unsafe` token, for lints.
            Item::ForeignMod(block) if block.items.is_empty() => return,
            other => panic!("an item of another kind: {}", quote::quote!(#other)),
        };
        if self.unnamed || is_hidden(attributes) {
            return;
        }
        self.names.push(name);
        visit::visit_item(self, item);
    }

    fn visit_item_fn(&mut self, _: &'ast syn::ItemFn) {}

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if is_hidden(&item.attrs) {
            return;
        }
        if let Some((path, _)) = &item.trait_ {
            self.names.push(quote::quote!(impl #path).to_string());
            return;
        }
        for item in &item.items {
            // Methods that depend on a feature are inside a macro call.
            if let ImplItem::Macro(call) = item {
                let methods = &call.mac.tokens;
                let within: ItemImpl = syn::parse_quote!(impl Within { #methods });
                self.visit_item_impl(&within);
                continue;
            }
            let (name, attributes) = match item {
                ImplItem::Fn(item) => (item.sig.ident.to_string(), &item.attrs),
                ImplItem::Const(item) => (item.ident.to_string(), &item.attrs),
                other => panic!("an item of another kind: {}", quote::quote!(#other)),
            };
            if !is_hidden(attributes) {
                self.names.push(name);
            }
        }
    }

    fn visit_field(&mut self, field: &'ast Field) {
        let name = field.ident.as_ref().map_or(String::new(), ToString::to_string);
        if !is_hidden(&field.attrs) {
            self.names.push(name);
        }
    }
}

fn listed(expanded: TokenStream) -> Vec<String> {
    let text = expanded.to_string();
    assert!(!text.contains("compile_error"), "{text}");
    let file = syn::parse2::<syn::File>(expanded).expect("generated items");
    let mut listed = Listed::default();
    listed.visit_file(&file);
    listed.names
}

#[test]
fn a_block_of_kernels_brings_its_kernels_and_nothing_else() {
    let block = TokenStream::from_str(
        "unsafe extern \"ptx-kernel\" { pub fn scale(x: &mut [f32; n], a: f32, n: u32); fn nothing(); }",
    );
    let path = TokenStream::from_str("\"../tests/kernels/common.ptx\"").expect("tokens");
    let names = listed(crate::kernels::kernels(path, block.expect("tokens")));
    assert_eq!(names, ["scale", "nothing", "load", "load"]);
}

#[test]
fn a_graph_function_brings_itself_and_the_module_of_its_types() {
    let function = TokenStream::from_str(
        "pub fn f(n: u32, x: &[f32; n], out: &mut [f32; n]) -> [f32; n] {
            let h = alloc::<f32>(n);
            copy(&x, &mut h);
            copy(&h, &mut out);
            h
        }",
    );
    let names = listed(crate::graph::graph(TokenStream::new(), function.expect("tokens")));
    let own =
        ["f", "f", "Args", "n", "x", "out", "Views", "n", "x", "out", "ViewsMut", "x", "out", "Exec", "Edit"];
    let methods = [
        "output",
        "launch",
        "verify",
        "set_x",
        "set_out",
        "edit",
        "upload",
        "synchronize",
        "launches",
        "iterations",
        "enable",
        "is_enabled",
        "args",
        "args_mut",
        "into_args",
    ];
    let expected: Vec<&str> = own.into_iter().chain(methods).collect();
    let seen: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !name.starts_with("impl ::")).collect();
    assert_eq!(&seen[..expected.len()], expected, "{names:?}");
    assert_eq!(
        &seen[expected.len()..],
        [
            "report",
            "profile",
            "dot",
            "memory_svg",
            "svg",
            "page",
            "page_with",
            "certificate",
            "collectives",
            "budget_curve"
        ],
        "{names:?}"
    );
}

#[test]
fn a_body_that_cannot_be_read_is_an_error_and_leaves_the_signature() {
    let function =
        TokenStream::from_str("pub fn f(n: u32, x: &[f32; n]) -> [f32; n] { let h = }").expect("tokens");
    let expanded = crate::graph::graph(TokenStream::new(), function).to_string();
    assert!(expanded.contains("pub fn f <"), "{expanded}");
    assert!(expanded.contains("deny (unused_must_use)") && expanded.contains("cannot be read"), "{expanded}");
    assert!(!expanded.contains("compile_error"), "rustc has told it: {expanded}");
}

#[test]
fn a_configuration_as_cuda_writes_it_is_told_of() {
    let function = TokenStream::from_str("fn f(n: u32, x: &mut [f32; n]) { scale<<<1, 256>>>(&mut x, n); }")
        .expect("tokens");
    let expanded = crate::graph::graph(TokenStream::new(), function).to_string();
    assert!(expanded.contains("a launch configuration stands in brackets"), "{expanded}");
}
