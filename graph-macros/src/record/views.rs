//! Generates the view types of a record that is bound to an exec.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::{DeclaredField, FieldKind, RecordDeclaration};
use crate::graph::idents::debug_body;

impl RecordDeclaration {
    /// Generates the view types and their constructors.
    pub(super) fn views(&self) -> TokenStream {
        let (shared, exclusive) = (self.view(false), self.view(true));
        quote!(#shared #exclusive)
    }

    fn view(&self, mutable: bool) -> TokenStream {
        let (visibility, name) = (&self.visibility, &self.name);
        let (view, borrow, what) = match mutable {
            false => (format_ident!("{name}Views"), quote!(&'v), "Views"),
            true => (format_ident!("{name}ViewsMut"), quote!(&'v mut), "Mutable views"),
        };
        let documented = format!("{what} of the buffers of a [`{name}`] that an exec is bound to.");
        let shown = debug_body(&view.to_string(), []);
        let fields: Vec<&DeclaredField> =
            self.fields.iter().filter(|field| !mutable || !field.is_scalar()).collect();
        let declared = fields.iter().map(|field| {
            let (name, bound) = (&field.name, field.bound("'v"));
            let documented = format!("The field `{name}`.");
            let ty = match &field.kind {
                FieldKind::Scalar(ty) => quote!(#ty),
                _ => quote!(<#borrow #bound as ::cuweave::__private::ToView<'v>>::View),
            };
            quote!(#[doc = #documented] pub #name: #ty)
        });
        let names = fields.iter().map(|field| &field.name);
        let [lender, first, at] = ["lender", "first", "at"].map(|name| Ident::new(name, Span::mixed_site()));
        let values = fields.iter().map(|field| lent(field, mutable, [&lender, &first, &at]));
        quote! {
            #[doc = #documented]
            #[allow(dead_code, private_interfaces)]
            #visibility struct #view<'v> {
                #(#declared,)*
                #[doc(hidden)]
                __lifetime: ::core::marker::PhantomData<&'v ()>,
            }

            #[allow(clippy::all, unused, private_interfaces)]
            const _: () = {
                impl ::core::fmt::Debug for #view<'_> {
                    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        #shown
                    }
                }

                #[doc(hidden)]
                impl<'v> ::cuweave::__private::ToView<'v> for #borrow #name<'_> {
                    type View = #view<'v>;

                    fn to_view(
                        self,
                        #lender: &::cuweave::__private::ViewContext<'v>,
                        mut #first: u32,
                    ) -> #view<'v> {
                        #(#values)*
                        #view { #(#names,)* __lifetime: ::core::marker::PhantomData }
                    }
                }
            };
        }
    }
}

/// Generates the statement that moves a field into a view.
fn lent(field: &DeclaredField, mutable: bool, [lender, first, at]: [&Ident; 3]) -> TokenStream {
    let name = &field.name;
    if field.is_scalar() {
        return quote!(let #name = self.#name;);
    }
    let lent = if mutable { quote!(&mut) } else { quote!(&) };
    quote! {
        let #at = #first;
        #first += ::cuweave::__private::Bound::count(&self.#name);
        let #name = ::cuweave::__private::ToView::to_view(#lent self.#name, #lender, #at);
    }
}
