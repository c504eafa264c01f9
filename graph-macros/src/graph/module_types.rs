//! Renames the user's types for use inside the generated module, where a generated type may have the same
//! name.

use proc_macro2::Ident;
use syn::visit_mut::{VisitMut, visit_type_path_mut};
use syn::{PathSegment, TypePath};

use super::parts::AggregateType;
use super::signature::{Argument, ArgumentKind, Signature};

/// The types that the module of a graph function defines.
pub const GRAPH_MODULE_TYPES: [&str; 6] = ["Args", "Values", "Views", "ViewsMut", "Exec", "Edit"];
/// The types that the module of a library call defines.
pub const CALL_MODULE_TYPES: [&str; 1] = ["Values"];

impl Signature {
    /// Returns the signature for use inside the module that defines the types `own`.
    pub fn inside_module(&self, own: &[&str]) -> Signature {
        let mut inside = self.clone();
        let mut outer = QualifyWithSuper { own };
        for Argument { kind, .. } in &mut inside.arguments {
            let ty = match kind {
                ArgumentKind::Scalar(ty) => ty,
                ArgumentKind::Buffer(buffer) | ArgumentKind::Array(buffer, _) => &mut buffer.element,
                ArgumentKind::Part(AggregateType::Record(ty) | AggregateType::Records(ty, _)) => ty,
                ArgumentKind::Part(AggregateType::Buffers(buffer)) => &mut buffer.element,
                ArgumentKind::Host(host) => &mut host.ty,
            };
            outer.visit_type_mut(ty);
        }
        inside.returned.iter_mut().for_each(|returned| outer.visit_type_mut(&mut returned.element));
        inside
    }
}

/// Rewrites `Args` to `super::Args`.
struct QualifyWithSuper<'o> {
    own: &'o [&'o str],
}

impl VisitMut for QualifyWithSuper<'_> {
    fn visit_type_path_mut(&mut self, ty: &mut TypePath) {
        visit_type_path_mut(self, ty);
        let path = &mut ty.path;
        if let (None, None, Some(first)) = (&ty.qself, &path.leading_colon, path.segments.first())
            && self.own.iter().any(|own| first.ident == own)
        {
            let outer = PathSegment::from(Ident::new("super", first.ident.span()));
            path.segments.insert(0, outer);
        }
    }
}
