//! Sizes among the scalars of a record: the lengths of its buffers are those for the largest values.

use std::collections::BTreeSet;

use cuweave_core::codes::Code;
use cuweave_core::table::Trend;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;

use super::{DeclaredField, FieldKind, RecordDeclaration, SizeLimits};
use crate::dims::{compact, dim_tokens};
use crate::graph::attributes::Limits;
use crate::graph::lower::collect_names;
use crate::graph::trend::of_expr;
use crate::report::Report;

impl DeclaredField {
    /// Returns the limits of a size, and reports them on other fields.
    pub(super) fn size_limits(
        name: &Ident,
        kind: &FieldKind,
        limits: Limits,
        report: &mut Report,
    ) -> Option<SizeLimits> {
        let Limits { at_least, at_most } = limits;
        let (most, least) = (at_most?, at_least.unwrap_or(1));
        if !matches!(kind, FieldKind::Scalar(_)) {
            let help = "write it on the scalar that the length depends on, as in `#[at_most(4096)] n: u32`";
            let message = "`#[at_most(n)]` stands on a field that is no scalar";
            report.error(name.span(), Code::CW001, message, &[], Some(help));
            return None;
        }
        if least == 0 {
            let help = "take the size as an argument of the function, and ranges of the record's buffers: `&layer.x[..n]`";
            report.error(name.span(), Code::CW001, "a size of a record is at least 1", &[], Some(help));
        }
        Some(SizeLimits { least: least.max(1), most })
    }

    /// Reports maxima that depend on a size, and lengths that may fall where a size rises.
    pub(super) fn check_sizes(fields: &[DeclaredField], report: &mut Report) {
        let sizes = || fields.iter().filter_map(|field| Some((field, field.size.as_ref()?)));
        for (field, limits) in sizes() {
            let mut names = BTreeSet::new();
            collect_names(limits.most.to_token_stream(), &mut names);
            if let Some((size, _)) = sizes().find(|(size, _)| names.contains(&size.name.to_string())) {
                let message = format!(
                    "`#[at_most({})]` depends on the size `{}`",
                    limits.most.to_token_stream(),
                    size.name
                );
                let help = "write a number, or an expression over scalars that are no sizes";
                report.error(limits.most.span(), Code::CW001, &message, &[], Some(help));
            }
            let name = field.name.to_string();
            let falls = fields.iter().find_map(|other| {
                let len = &other.buffer()?.len;
                of_expr(len, &name).may_fall().then_some((other, len))
            });
            if let Some((buffer, len)) = falls {
                let verb = if of_expr(len, &name) == Trend::Falls { "falls" } else { "may fall" };
                let message = format!(
                    "the length of `{}` {verb} where the size `{name}` rises: `{}`",
                    buffer.name,
                    compact(len)
                );
                let notes = ["the buffers of a record are as long as for the largest value of a size".into()];
                let help = "give the length a scalar of its own, with its own `#[at_most(..)]`";
                report.error(field.name.span(), Code::CW001, &message, &notes, Some(help));
            }
        }
    }

    /// Returns the statement that gives a size its largest value.
    pub(super) fn largest(&self, limits: &SizeLimits) -> TokenStream {
        let (name, most) = (&self.name, &limits.most);
        match &self.kind {
            FieldKind::Scalar(ty) => quote!(let #name: #ty = #most;),
            _ => TokenStream::new(),
        }
    }
}

impl RecordDeclaration {
    /// Returns the sizes, each with the number of its field.
    pub(super) fn sizes(&self) -> impl Iterator<Item = (u32, &DeclaredField, &SizeLimits)> {
        (0u32..).zip(&self.fields).filter_map(|(at, field)| Some((at, field, field.size.as_ref()?)))
    }

    /// Generates the method that checks the value of a size. Nothing without sizes.
    pub(super) fn size_checks(&self) -> Option<TokenStream> {
        let name = &self.name;
        let (mut cases, mut mentioned, mut arms) = (Vec::new(), BTreeSet::new(), Vec::new());
        for (at, field, SizeLimits { least, most }) in self.sizes() {
            collect_names(most.to_token_stream(), &mut mentioned);
            let value = dim_tokens(most, &BTreeSet::new());
            cases.push(quote!(#at => #value,));
            let (line, text, of) =
                (field.name.span().start().line as u32, field.name.to_string(), compact(most));
            arms.push(quote! {
                #at => ::cuweave::__private::SizeDeclaration {
                    file: ::core::file!(), line: #line, text: #of, of: name, field: #text, least: #least,
                },
            });
        }
        if arms.is_empty() {
            return None;
        }
        let evaluated = self.evaluation("__most", &mentioned, &[], &cases);
        Some(quote! {
            #evaluated

            impl #name<'_> {
                #[doc(hidden)]
                fn __size(
                    &self,
                    field: u32,
                    name: &str,
                    value: ::core::option::Option<u64>,
                ) -> ::cuweave::Result<()> {
                    let declared = match field {
                        #(#arms)*
                        _ => return ::core::result::Result::Ok(()),
                    };
                    declared.check(value, ::cuweave::__private::Dim::value(__most(self, field)))
                }
            }
        })
    }
}
