//! Module variables that a kernels block declares, `static TABLE: [f32; 64];`, and names in the PTX.

use cuweave_core::codes::Code;
use cuweave_ptx::Module;
use cuweave_ptx::declare;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, ForeignItemStatic, Lit, Meta, MetaNameValue, StaticMutability};

use crate::report::Report;

/// A module variable as declared in a block.
pub struct DeclaredVariable<'b> {
    item: &'b ForeignItemStatic,
    /// The name in the PTX: that in `#[link_name = ".."]`, or else the static's.
    pub entry: String,
    /// Its size in the PTX. None if it is not found, or the file is machine code.
    bytes: Option<u64>,
}

impl<'b> DeclaredVariable<'b> {
    /// Checks the form of a declaration.
    pub fn new(item: &'b ForeignItemStatic, report: &mut Report) -> DeclaredVariable<'b> {
        if let StaticMutability::Mut(word) = &item.mutability {
            let help = Some("write `static NAME: ..;`, and call its `set`");
            report.error(word.span, Code::CW001, "a module variable is no `static mut`", &[], help);
        }
        DeclaredVariable { item, entry: linked_name(&item.attrs, &item.ident, report), bytes: None }
    }

    /// Returns the position of its name.
    pub fn span(&self) -> Span {
        self.item.ident.span()
    }

    /// Looks the variable up in the PTX.
    pub fn check(&mut self, module: &Module<'_>, report: &mut Report) {
        match declare::variable(module, &self.entry) {
            Ok(bytes) => self.bytes = Some(bytes),
            Err(finding) => report.finding(self.span(), &finding),
        }
    }

    /// Generates the static. `kernel` is a kernel of the same block.
    pub fn expand(&self, kernel: &syn::Ident) -> TokenStream {
        let DeclaredVariable { item: ForeignItemStatic { attrs, vis, ident, ty, .. }, entry, .. } = self;
        let attributes = item_attributes(attrs);
        let documented = format!("The module variable `{entry}`.");
        let assertion = self.bytes.map(|bytes| self.assertion(bytes));
        quote_spanned! {ident.span()=>
            #[doc = #documented]
            #[doc = ""]
            #(#attributes)*
            #[allow(non_upper_case_globals)]
            #vis static #ident: ::cuweave::Variable<#ty> =
                ::cuweave::__private::variable::<#kernel, #ty>(#entry);
            #assertion
        }
    }

    /// Generates a const assertion that the type has the size of the variable.
    fn assertion(&self, bytes: u64) -> TokenStream {
        let ForeignItemStatic { attrs, ident, ty, .. } = self.item;
        let cfgs = attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
        let unit = if bytes == 1 { "byte" } else { "bytes" };
        let text = format!(
            "{}: `{ident}` has {bytes} {unit} in the PTX, and its type has another size",
            Code::CW303
        );
        let bytes = bytes as usize;
        quote_spanned! {ty.span()=>
            #(#cfgs)*
            const _: () = ::core::assert!(::core::mem::size_of::<#ty>() == #bytes, #text);
        }
    }
}

/// Returns the name of an item in the PTX: that in `#[link_name = ".."]`, or else its own.
pub fn linked_name(attributes: &[Attribute], name: &Ident, report: &mut Report) -> String {
    let linked = attributes.iter().find(|attribute| attribute.path().is_ident("link_name"));
    let linked = linked.and_then(|attribute| match &attribute.meta {
        Meta::NameValue(MetaNameValue { value: Expr::Lit(ExprLit { lit: Lit::Str(name), .. }), .. }) => {
            Some(name.value())
        }
        _ => {
            let help = Some("write `#[link_name = \"_Z6kernelPfi\"]`");
            report.error(attribute.span(), Code::CW001, "`link_name` is given no name", &[], help);
            None
        }
    });
    linked.unwrap_or_else(|| without_raw_prefix(name))
}

/// Returns the attributes of a declaration that its item has, too.
pub fn item_attributes(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes
        .iter()
        .filter(|attribute| ["doc", "deprecated", "cfg"].iter().any(|name| attribute.path().is_ident(name)))
}

/// Returns a name without `r#`.
pub fn without_raw_prefix(name: &Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
}
