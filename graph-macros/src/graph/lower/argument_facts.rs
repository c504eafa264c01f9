//! What is known of a function's arguments.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::ids::{ArgumentId, PartId, ScalarId};
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{BufferId, DimId, Text};
use quote::ToTokens;
use syn::Expr;

use super::names::{Names, chains};
use crate::graph::place::{Parts, Place};
use crate::graph::signature::{ArgumentKind, Signature};

/// The names of the arguments, and which of them and of their parts the body mentions.
#[derive(Default)]
pub struct ArgumentFacts {
    pub names: Vector<ArgumentId, String>,
    /// The first buffer of each; `None` if the argument is no buffer.
    pub buffers: Vec<Option<BufferId>>,
    /// The names of the arguments that have parts.
    pub roots: BTreeSet<String>,
    /// The names of the arguments that an expression names.
    pub mentioned: BTreeSet<String>,
    /// The names of the host values that host statements and events keep.
    pub kept: BTreeSet<String>,
    /// The scalars of records that arguments of calls mention, in the order of their numbers, which follow those of
    /// the scalar arguments.
    pub field_scalars: Vec<String>,
    pub parts: Parts,
    /// The numbers of the scalar arguments.
    pub scalar_numbers: BTreeMap<String, ScalarId>,
    /// Arguments with `#[at_least(n)]`.
    pub at_least: Vec<(Text, DimId, u64)>,
}

impl ArgumentFacts {
    pub fn new(signature: &Signature) -> ArgumentFacts {
        let named = |argument: &crate::graph::signature::Argument| argument.name.to_string();
        let has_parts = |kind: &ArgumentKind| matches!(kind, ArgumentKind::Part(_) | ArgumentKind::Array(..));
        let arguments = &signature.arguments;
        ArgumentFacts {
            names: arguments.iter().map(named).collect(),
            roots: arguments.iter().filter(|argument| has_parts(&argument.kind)).map(named).collect(),
            ..ArgumentFacts::default()
        }
    }

    /// Notes that an expression names an argument.
    pub fn mention(&mut self, name: &str) {
        if !self.mentioned.contains(name) {
            self.mentioned.insert(name.to_owned());
        }
    }

    /// Notes that an expression names the argument of a part.
    pub fn mention_root(&mut self, of: &Place) {
        self.mentioned.insert(self.names[of.argument].clone());
    }

    pub fn part(&mut self, place: &Place) -> PartId {
        self.parts.number(place)
    }

    /// Returns the numbers of the scalar arguments that an expression mentions.
    pub fn scalars_in(&self, value: &Expr) -> Vec<ScalarId> {
        let found = Names::of(value);
        found.mentioned.iter().filter_map(|name| self.scalar_numbers.get(name)).copied().collect()
    }

    /// Returns the numbers of the scalars of records that an expression mentions.
    pub fn fields_in(&mut self, value: &Expr) -> Vec<ScalarId> {
        let mut found = BTreeSet::new();
        chains(value.to_token_stream(), &self.roots, &mut found);
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
