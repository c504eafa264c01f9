//! The names of statements, and `#[after(..)]`.

use cuweave_core::codes::Code;
use cuweave_core::index::Index;
use cuweave_core::ir::StatementId;
use cuweave_ptx::nearest::nearest;
use proc_macro2::Ident;
use syn::Attribute;
use syn::spanned::Spanned;

use super::Lowering;
use crate::graph::attributes::{Attributes, Takes};
use crate::graph::scope::{AfterName, Binding, Resolved};

impl Lowering<'_> {
    pub(super) fn name(&mut self, name: Option<&Ident>, id: StatementId) {
        if let Some(name) = name {
            self.scopes.bind(name, Binding::Statement);
            self.scopes.bind_statement(name, Some(vec![id]));
        }
    }

    pub(super) fn after(&mut self, statement: StatementId, attributes: &[Attribute]) {
        let Attributes { levels, after, on, misspelt } =
            Attributes::of(attributes, Takes::Order, self.report);
        self.order_unknown |= misspelt;
        self.put_on(statement, &on);
        let levels = [self.levels.as_slice(), &levels].concat();
        if !levels.is_empty() {
            self.lints.insert(statement, levels);
        }
        for attribute in after {
            let names = attribute
                .parse_args_with(syn::punctuated::Punctuated::<Ident, syn::Token![,]>::parse_terminated);
            match names {
                Ok(names) => {
                    for name in names {
                        if let Some(resolved) = self.scopes.after(AfterName { statement, name }) {
                            self.resolve(vec![resolved]);
                        }
                    }
                }
                Err(_) => {
                    self.order_unknown = true;
                    self.report.error(
                        attribute.span(),
                        Code::CW001,
                        "`#[after(..)]` takes names of statements",
                        &[],
                        Some("name a statement by `let`, as in `let a = kernel[config](args);`, then write `#[after(a)]`"),
                    );
                }
            }
        }
    }

    pub(super) fn resolve(&mut self, resolved: Vec<Resolved>) {
        for (after, targets) in resolved {
            self.order_unknown |= targets.is_none();
            for target in targets.into_iter().flatten() {
                self.statements[after.statement].after.to_mut().push(target);
                self.spans.after[after.statement.index()].push(after.name.span());
            }
        }
    }

    pub(super) fn no_such_name(&mut self, name: &Ident) {
        let text = name.to_string();
        let help = match nearest(&text, self.scopes.known.iter().map(String::as_str)) {
            Some(near) if near == text => {
                format!(
                    "the statement `{text}` is in another block: move it before that block, or order by what both use"
                )
            }
            Some(near) => format!("did you mean `{near}`?"),
            None => "name a statement by `let`, as in `let a = kernel[config](args);`".to_owned(),
        };
        self.report.error(
            name.span(),
            Code::CW206,
            &format!("`{text}` in `#[after]` names no statement"),
            &[],
            Some(&help),
        );
    }
}
