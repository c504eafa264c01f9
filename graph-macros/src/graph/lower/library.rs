//! Lowers the declaration of a library call: its parameters, an allocation per scratch parameter, and the
//! statement that is captured.

use cuweave_core::ir::{Mode, Options, Origin, StatementKind};
use proc_macro2::{Ident, Span};
use syn::{Expr, Type};

use super::arguments::add_argument;
use super::lowered::Lowered;
use super::lowering::Lowering;
use super::syntax::StatementSyntax;
use crate::graph::scope::View;
use crate::graph::signature::{ArgumentKind, Signature};
use crate::report::Report;

/// A scratch parameter: memory for the duration of the call.
pub struct ScratchParameter {
    pub name: Ident,
    pub element: Type,
    pub len: Expr,
}

/// Lowers a declaration. The statement's accesses are the buffers, then the scratch, each in the order of
/// the declaration.
pub fn lower_call(
    name: &Ident,
    signature: &Signature,
    scratch: &[ScratchParameter],
    collective: bool,
    report: &mut Report,
) -> Lowered {
    let mut lowering = Lowering::new(name, signature, report);
    let mut views: Vec<(View, Mode, Span)> = Vec::new();
    for argument in &signature.arguments {
        let ArgumentKind::Buffer(ty) = &argument.kind else {
            lowering.arguments.buffers.push(None);
            continue;
        };
        let mode = match (ty.mutable, ty.fresh) {
            (true, true) => Mode::Write,
            (true, false) => Mode::ReadWrite,
            (false, _) => Mode::Read,
        };
        let view = add_argument(&mut lowering, &argument.name, argument.name.to_string(), ty);
        lowering.arguments.buffers.push(Some(view.buffer));
        views.push((view, mode, argument.name.span()));
    }
    for ScratchParameter { name, element, len } in scratch {
        let len = lowering.bound(len);
        let id = lowering.program.next_statement();
        let view = lowering.program.add_buffer(
            name.to_string(),
            name.span(),
            Origin::Alloc(id),
            len,
            element.clone(),
            None,
        );
        lowering.push(
            name.to_string(),
            name.span(),
            StatementKind::Alloc(view.buffer),
            StatementSyntax::default(),
            Vec::new(),
        );
        views.push((view, Mode::Write, name.span()));
    }
    let accesses =
        views.iter().map(|(view, mode, span)| lowering.program.access(view, *mode, *span)).collect();
    lowering.push(
        name.to_string(),
        name.span(),
        StatementKind::Capture(()),
        StatementSyntax::default(),
        accesses,
    );
    lowering.finish(name.span().file(), Options { collective, ..Options::default() })
}
