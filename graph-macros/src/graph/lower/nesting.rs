//! The nesting of the statements: the loops and choices that the build decides, and those around the statement at hand.

use cuweave_core::ids::{PartId, VariableId};
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::StatementId;
use cuweave_core::sample::Condition;
use cuweave_core::structure::{Around, Choice, Item};
use cuweave_ptx::poly::Poly;
use proc_macro2::{Ident, Span};
use syn::Expr;

use super::numbers::Turn;

/// Loops of more statements are refused: a launch of so many nodes takes the driver seconds.
pub(super) const MAX_STATEMENTS: usize = 10_000;
/// Loops of more turns are refused: a loop around empty loops adds turns without statements.
const MAX_TURNS: usize = 4 * MAX_STATEMENTS;

/// The blocks that are lowered so far, and the ones around the statement that is being lowered. What is entered is
/// left in reverse order.
#[derive(Default)]
pub(super) struct Nesting {
    /// The items of the block that is being lowered.
    items: Vec<Item>,
    /// True if there is a loop, a choice, a call or a part of an argument, so that the items are nested.
    structured: bool,
    /// The loops around the statement that is being lowered, outermost first.
    around: Vec<Around>,
    loops: Loops,
    /// The number of scopes around the innermost loop or arm that the build unrolls or chooses.
    outer_scopes: usize,
    /// The statement in front of the innermost body that the device decides about.
    body: Option<StatementId>,
    /// The outermost loop that is being unrolled.
    unrolling: Option<Unrolling>,
    /// True if a loop that is too long was reported.
    too_long: bool,
}

/// What generated code evaluates of loops and choices.
#[derive(Default)]
pub struct Loops {
    /// The loops that are unrolled when the graph is built, with their ranges as they are written.
    pub turns: Vec<Turn>,
    /// The polynomial variable of each of them.
    pub variables: Vector<VariableId, Poly>,
    /// The `if`s and `match`es, as expressions that return the number of the arm taken.
    pub choices: Vec<Expr>,
    /// The conditions of the choices, which the check samples.
    pub conditions: Vec<Condition>,
    /// The labels of the loops with a limit.
    pub counted: Vec<Ident>,
}

/// A loop being unrolled: the number of statements before it, its span, and the turns so far of it and of all loops
/// inside it.
struct Unrolling {
    first: StatementId,
    span: Span,
    turns: usize,
}

/// The block around one whose items are collected.
pub(super) struct OuterBlock {
    items: Vec<Item>,
    outer_scopes: usize,
}

impl Nesting {
    pub fn push(&mut self, item: Item) {
        self.items.push(item);
    }

    /// Makes the build expand the items.
    pub fn expand(&mut self) {
        self.structured = true;
    }

    /// Begins a block that may run several times or not at all, inside `scopes` scopes.
    pub fn begin_items(&mut self, scopes: usize) -> OuterBlock {
        OuterBlock {
            items: std::mem::take(&mut self.items),
            outer_scopes: std::mem::replace(&mut self.outer_scopes, scopes),
        }
    }

    /// Ends such a block, and returns its items.
    pub fn end_items(&mut self, outer: OuterBlock) -> Vec<Item> {
        self.outer_scopes = outer.outer_scopes;
        std::mem::replace(&mut self.items, outer.items)
    }

    /// Returns true for a scope outside of the loop or arm being lowered.
    pub fn is_outer(&self, scope: usize) -> bool {
        scope < self.outer_scopes
    }

    pub fn enter(&mut self, around: Around) {
        self.around.push(around);
    }

    pub fn leave(&mut self) {
        self.around.pop();
    }

    pub fn around(&self) -> &[Around] {
        &self.around
    }

    /// Adds a loop that is unrolled when the graph is built.
    pub fn add_loop(&mut self, turn: Turn) -> VariableId {
        self.structured = true;
        self.loops.turns.push(turn);
        VariableId::new(self.loops.turns.len() - 1)
    }

    /// Adds a choice; `number` returns that of the arm taken.
    pub fn add_choice(&mut self, line: u32, number: Expr, arms: Vec<Vec<Item>>, condition: Condition) {
        self.structured = true;
        self.loops.choices.push(number);
        self.loops.conditions.push(condition);
        let number = self.loops.choices.len() as u32 - 1;
        self.items.push(Item::Choice(Choice { line, number, arms }));
    }

    /// Makes the build check the indices of a part, if no item just before does.
    pub fn need(&mut self, part: PartId) {
        let known = self.items.iter().rev().map_while(|item| match item {
            Item::Needs(part) => Some(*part),
            _ => None,
        });
        if !known.into_iter().any(|known| known == part) {
            self.structured = true;
            self.items.push(Item::Needs(part));
        }
    }

    /// Notes the label of a loop with a limit. Returns false if it is that of another loop.
    pub fn count(&mut self, label: &Ident) -> bool {
        let counted = &mut self.loops.counted;
        let again = |other: &Ident| other == label && other.span().start() != label.span().start();
        if counted.iter().any(again) {
            return false;
        }
        if !counted.contains(label) {
            counted.push(label.clone());
        }
        true
    }

    pub fn body(&self) -> Option<StatementId> {
        self.body
    }

    /// Enters the body behind a statement, or leaves it. Returns the body around it.
    pub fn replace_body(&mut self, body: Option<StatementId>) -> Option<StatementId> {
        std::mem::replace(&mut self.body, body)
    }

    /// Begins a loop that is unrolled while the crate compiles. Returns true if there is no such loop around it.
    pub fn begin_unrolling(&mut self, first: StatementId, span: Span) -> bool {
        let outermost = self.unrolling.is_none();
        self.unrolling.get_or_insert(Unrolling { first, span, turns: 0 });
        outermost
    }

    pub fn end_unrolling(&mut self) {
        self.unrolling = None;
    }

    /// Counts a turn that ended in front of the statement `next`. Returns the span of the outermost loop when that
    /// becomes too long: the limits count its turns.
    pub fn count_turn(&mut self, next: StatementId) -> Option<Span> {
        let unrolling = self.unrolling.as_mut()?;
        unrolling.turns += 1;
        let statements = next.index() - unrolling.first.index();
        let is_over = statements > MAX_STATEMENTS || unrolling.turns > MAX_TURNS;
        (is_over && !std::mem::replace(&mut self.too_long, true)).then_some(unrolling.span)
    }

    /// Returns true if a loop was too long, so that no more turns are lowered.
    pub fn is_too_long(&self) -> bool {
        self.too_long
    }

    /// Returns the items of the function, if they are nested, and what generated code evaluates. The caller adds the
    /// variables.
    pub fn finish(self) -> (Vec<Item>, Loops) {
        (if self.structured { self.items } else { Vec::new() }, self.loops)
    }
}
