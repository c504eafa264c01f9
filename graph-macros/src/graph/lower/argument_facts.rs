//! Facts about the arguments of the function being lowered.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::ids::{ArgumentId, ArgumentPartId, ScalarId};
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{BufferId, DimId, Text};
use quote::ToTokens;
use syn::Expr;

use super::names::{ExprNames, collect_record_scalars};
use crate::graph::place::{Place, PlaceTable};
use crate::graph::signature::{ArgumentKind, Signature};

/// The names and numbers of the arguments, and which arguments and components the body mentions.
#[derive(Default)]
pub struct ArgumentFacts {
    pub names: Vector<ArgumentId, String>,
    /// The first buffer of each argument. None if it has no buffer with a number.
    pub buffers: Vec<Option<BufferId>>,
    /// The names of the record, list and array arguments.
    pub roots: BTreeSet<String>,
    /// The names of the arguments that expressions mention.
    pub mentioned: BTreeSet<String>,
    /// The names of the host values that host statements and events keep alive.
    pub kept: BTreeSet<String>,
    /// The record scalars that call arguments mention, as source text. Their numbers follow those in
    /// `scalar_numbers`.
    pub field_scalars: Vec<String>,
    pub parts: PlaceTable,
    /// The numbers of the scalar arguments and of the host values that are taken by `&`.
    pub scalar_numbers: BTreeMap<String, ScalarId>,
    /// The arguments with `#[at_least(n)]`: name, dimension, `n`.
    pub at_least: Vec<(Text, DimId, u64)>,
    /// The arguments with `#[at_most(n)]`: name, dimension, that of `n`.
    pub at_most: Vec<(Text, DimId, DimId)>,
}

impl ArgumentFacts {
    pub fn new(signature: &Signature) -> ArgumentFacts {
        let named = |argument: &crate::graph::signature::Argument| argument.name.to_string();
        let has_aggregates =
            |kind: &ArgumentKind| matches!(kind, ArgumentKind::Part(_) | ArgumentKind::Array(..));
        let arguments = &signature.arguments;
        ArgumentFacts {
            names: arguments.iter().map(named).collect(),
            roots: arguments.iter().filter(|argument| has_aggregates(&argument.kind)).map(named).collect(),
            scalar_numbers: signature.numbered().map(|argument| (argument.name(), argument.number)).collect(),
            ..ArgumentFacts::default()
        }
    }

    /// Records that an expression mentions an argument.
    pub fn mention(&mut self, name: &str) {
        if !self.mentioned.contains(name) {
            self.mentioned.insert(name.to_owned());
        }
    }

    /// Records that an expression mentions the argument that a component belongs to.
    pub fn mention_root(&mut self, of: &Place) {
        self.mentioned.insert(self.names[of.argument].clone());
    }

    pub fn part(&mut self, place: &Place) -> ArgumentPartId {
        self.parts.intern(place)
    }

    /// Returns the numbers of the scalar arguments and host values that an expression mentions.
    pub fn scalars_in(&self, value: &Expr) -> Vec<ScalarId> {
        let found = ExprNames::from_expr(value);
        found.mentioned.iter().filter_map(|name| self.scalar_numbers.get(name)).copied().collect()
    }

    /// Returns the numbers of the record scalars that an expression mentions.
    pub fn fields_in(&mut self, value: &Expr) -> Vec<ScalarId> {
        let mut found = BTreeSet::new();
        collect_record_scalars(value.to_token_stream(), &self.roots, &mut found);
        let first = self.scalar_numbers.len();
        let number = |chain: String| {
            let known = self.field_scalars.iter().position(|other| *other == chain);
            let at = known.unwrap_or_else(|| {
                self.field_scalars.push(chain);
                self.field_scalars.len() - 1
            });
            ScalarId::new(first + at)
        };
        found.into_iter().map(number).collect()
    }
}
