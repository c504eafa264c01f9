//! The nesting of statements: loops and choices that are resolved when the graph is built, and the blocks
//! around the current statement.

use cuweave_core::ids::{ArgumentPartId, VariableId};
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{BufferId, StatementId};
use cuweave_core::sample::ChoiceCondition;
use cuweave_core::structure::{Choice, EnclosingLoop, Item};
use cuweave_ptx::poly::Poly;
use proc_macro2::{Ident, Span};
use syn::Expr;

use super::numbers::BuildLoop;

/// The maximum number of statements that a loop may unroll to. The driver needs seconds to launch that many
/// nodes.
pub(super) const MAX_STATEMENTS: usize = 10_000;
/// The maximum number of iterations of an unrolled loop. It bounds nests of empty loops, which add no
/// statements.
const MAX_ITERATIONS: usize = 4 * MAX_STATEMENTS;

/// The blocks lowered so far, and those around the current statement. Invariant: blocks are left in the
/// reverse order of entering.
#[derive(Default)]
pub(super) struct Nesting {
    /// The items of the current block.
    items: Vec<Item>,
    /// True if there is a loop, a choice, a call or a component of an argument: then the items must be
    /// expanded at build.
    structured: bool,
    /// The loops around the current statement, outermost first.
    around: Vec<EnclosingLoop>,
    loops: Loops,
    /// The number of scopes around the innermost loop or arm that is resolved at build.
    outer_scopes: usize,
    /// The `Kind::Condition` statement of the innermost body that the device decides about.
    body: Option<StatementId>,
    /// The conditions that kernels set, each with the number of loops around it that the build unrolls.
    conditions: Vec<(BufferId, usize)>,
    /// The outermost loop that is being unrolled.
    unrolling: Option<Unrolling>,
    /// True once a loop has exceeded the limits and been reported.
    too_long: bool,
}

/// The expressions of loops and choices that generated code evaluates.
#[derive(Default)]
pub struct Loops {
    /// The loops that are unrolled when the graph is built.
    pub build_loops: Vec<BuildLoop>,
    /// The polynomial variable of each of these loops.
    pub variables: Vector<VariableId, Poly>,
    /// For each `if` and `match`, an expression that returns the index of the arm taken.
    pub choices: Vec<Expr>,
    /// The conditions of the choices, which the checker samples.
    pub conditions: Vec<ChoiceCondition>,
    /// The labels of the loops with a limit.
    pub loop_labels: Vec<Ident>,
}

/// A loop being unrolled: the first statement in it, its span, and the iterations so far, including those
/// of inner loops.
struct Unrolling {
    first: StatementId,
    span: Span,
    iterations: usize,
}

/// The enclosing block, saved while an inner block's items are collected.
pub(super) struct OuterBlock {
    items: Vec<Item>,
    outer_scopes: usize,
}

impl Nesting {
    pub fn push(&mut self, item: Item) {
        self.items.push(item);
    }

    /// Requires that the items are expanded when the graph is built.
    pub fn require_expansion(&mut self) {
        self.structured = true;
    }

    /// Begins a block that may run several times or not at all. `scopes` is the number of scopes around it.
    pub fn begin_items(&mut self, scopes: usize) -> OuterBlock {
        OuterBlock {
            items: std::mem::take(&mut self.items),
            outer_scopes: std::mem::replace(&mut self.outer_scopes, scopes),
        }
    }

    /// Ends the block, and returns its items.
    pub fn end_items(&mut self, outer: OuterBlock) -> Vec<Item> {
        self.outer_scopes = outer.outer_scopes;
        std::mem::replace(&mut self.items, outer.items)
    }

    /// Returns true if a scope is outside the loop or arm being lowered.
    pub fn is_outer(&self, scope: usize) -> bool {
        scope < self.outer_scopes
    }

    pub fn enter(&mut self, around: EnclosingLoop) {
        self.around.push(around);
    }

    pub fn leave(&mut self) {
        self.around.pop();
    }

    pub fn around(&self) -> &[EnclosingLoop] {
        &self.around
    }

    /// Adds a loop that is unrolled when the graph is built.
    pub fn add_loop(&mut self, new: BuildLoop) -> VariableId {
        self.structured = true;
        self.loops.build_loops.push(new);
        VariableId::new(self.loops.build_loops.len() - 1)
    }

    /// Adds a choice. `number` evaluates to the index of the arm taken.
    pub fn add_choice(&mut self, line: u32, number: Expr, arms: Vec<Vec<Item>>, condition: ChoiceCondition) {
        self.structured = true;
        self.loops.choices.push(number);
        self.loops.conditions.push(condition);
        let number = self.loops.choices.len() as u32 - 1;
        self.items.push(Item::Choice(Choice { line, number, arms }));
    }

    /// Requires that the build checks the indices of a component, unless the preceding items already do.
    pub fn require_index_check(&mut self, part: ArgumentPartId) {
        let known = self.items.iter().rev().map_while(|item| match item {
            Item::Needs(part) => Some(*part),
            _ => None,
        });
        if !known.into_iter().any(|known| known == part) {
            self.structured = true;
            self.items.push(Item::Needs(part));
        }
    }

    /// Records the label of a loop with a limit. Returns false if another loop has the same label.
    pub fn register_label(&mut self, label: &Ident) -> bool {
        let loop_labels = &mut self.loops.loop_labels;
        let again = |other: &Ident| other == label && other.span().start() != label.span().start();
        if loop_labels.iter().any(again) {
            return false;
        }
        if !loop_labels.contains(label) {
            loop_labels.push(label.clone());
        }
        true
    }

    /// Adds a condition that kernels set.
    pub fn add_condition(&mut self, condition: BufferId, loops: usize) {
        self.conditions.push((condition, loops));
    }

    /// Returns the number of loops around a condition that the build unrolls.
    pub fn condition_depth(&self, condition: BufferId) -> Option<usize> {
        self.conditions.iter().find(|(known, _)| *known == condition).map(|&(_, loops)| loops)
    }

    pub fn body(&self) -> Option<StatementId> {
        self.body
    }

    /// Enters the body of a conditional, or leaves it. Returns the previous body, to be restored.
    pub fn replace_body(&mut self, body: Option<StatementId>) -> Option<StatementId> {
        std::mem::replace(&mut self.body, body)
    }

    /// Begins a loop that is unrolled at compile time. Returns true if it is the outermost one.
    pub fn begin_unrolling(&mut self, first: StatementId, span: Span) -> bool {
        let outermost = self.unrolling.is_none();
        self.unrolling.get_or_insert(Unrolling { first, span, iterations: 0 });
        outermost
    }

    pub fn end_unrolling(&mut self) {
        self.unrolling = None;
    }

    /// Counts an iteration that ended before the statement `next`. Returns the span of the outermost loop
    /// if that just exceeded a limit.
    pub fn count_iteration(&mut self, next: StatementId) -> Option<Span> {
        let unrolling = self.unrolling.as_mut()?;
        unrolling.iterations += 1;
        let statements = next.index() - unrolling.first.index();
        let is_over = statements > MAX_STATEMENTS || unrolling.iterations > MAX_ITERATIONS;
        (is_over && !std::mem::replace(&mut self.too_long, true)).then_some(unrolling.span)
    }

    /// Returns true if a loop was too long. No further iterations are lowered then.
    pub fn is_too_long(&self) -> bool {
        self.too_long
    }

    /// Returns the items (empty if the function is a flat list of statements) and the loops. The caller
    /// fills in `Loops::variables`.
    pub fn finish(self) -> (Vec<Item>, Loops) {
        (if self.structured { self.items } else { Vec::new() }, self.loops)
    }
}
