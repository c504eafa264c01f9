//! Binds the names of statements, and resolves the names in `#[after(..)]`.

use cuweave_core::codes::Code;
use cuweave_core::ir::StatementId;
use cuweave_ptx::nearest::nearest;
use proc_macro2::Ident;
use syn::Attribute;
use syn::spanned::Spanned;

use super::devices::{grant_access, place_on_device};
use super::lowering::Lowering;
use crate::graph::attributes::{AllowedAttributes, StatementAttributes};
use crate::graph::scope::{AfterName, Binding};

pub(super) fn name_statement(lowering: &mut Lowering<'_>, name: Option<&Ident>, id: StatementId) {
    if let Some(name) = name {
        lowering.scope.bind(name, Binding::Statement);
        lowering.scope.bind_statement(name, Some(vec![id]));
    }
}

pub(super) fn apply_attributes(
    lowering: &mut Lowering<'_>,
    statement: StatementId,
    attributes: &[Attribute],
) {
    let StatementAttributes { levels, after, on, access, switchable, misspelt } =
        StatementAttributes::parse(attributes, AllowedAttributes::Order, lowering.report);
    if misspelt {
        lowering.program.mark_order_unknown();
    }
    place_on_device(lowering, statement, &on);
    grant_access(lowering, statement, &access);
    if let Some(attribute) = &switchable {
        make_switchable(lowering, statement, attribute);
    }
    let levels = [lowering.lint_levels.as_slice(), &levels].concat();
    if !levels.is_empty() {
        lowering.program.set_lints(statement, levels);
    }
    for attribute in after {
        let names =
            attribute.parse_args_with(syn::punctuated::Punctuated::<Ident, syn::Token![,]>::parse_terminated);
        match names {
            Ok(names) => {
                for name in names {
                    if let Some(resolved) = lowering.scope.after(AfterName { statement, name }) {
                        lowering.program.add_after_edges(vec![resolved]);
                    }
                }
            }
            Err(_) => {
                lowering.program.mark_order_unknown();
                lowering.report.error(
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

/// Applies `#[switchable]`.
fn make_switchable(lowering: &mut Lowering<'_>, statement: StatementId, attribute: &Attribute) {
    let (program, switched) = (&lowering.program, lowering.program.statement(statement));
    let (kind, mut accesses) = (switched.kind, switched.accesses.iter());
    let decides = accesses.any(|access| program.is_condition(access.buffer));
    let refused = match attribute.meta.require_path_only() {
        Ok(_) => kind.refuse_switchable(lowering.nesting.body().is_some(), decides),
        Err(_) => Some(("`#[switchable]` takes nothing".to_owned(), "write `#[switchable]`")),
    };
    match refused {
        None => lowering.program.make_switchable(statement),
        Some((message, help)) => {
            lowering.report.error(attribute.span(), Code::CW001, &message, &[], Some(help))
        }
    }
}

pub(super) fn report_unknown_statement(lowering: &mut Lowering<'_>, name: &Ident) {
    let text = name.to_string();
    let help = match nearest(&text, lowering.scope.statement_names().iter().map(String::as_str)) {
        Some(near) if near == text => {
            format!(
                "the statement `{text}` is in another block: move it before that block, or order by what both use"
            )
        }
        Some(near) => format!("did you mean `{near}`?"),
        None => "name a statement by `let`, as in `let a = kernel[config](args);`".to_owned(),
    };
    lowering.report.error(
        name.span(),
        Code::CW206,
        &format!("`{text}` in `#[after]` names no statement"),
        &[],
        Some(&help),
    );
}
