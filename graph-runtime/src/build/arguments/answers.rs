//! Evaluates the user's expressions of a graph function while it is expanded: [`BodyEvaluator`] runs generated code
//! ([`Body`]) and hands the values to the expansion in `cuweave_core`.
//!
//! Expressions that mention no loop variable are evaluated once and cached. The answers of one build are
//! recorded in [`Questions`], so that a later expansion can be compared with them.

use std::collections::BTreeMap;

use cuweave_core::expand::symbols::Symbols;
use cuweave_core::expand::{Answers, DimValue, ExpansionFault, ExpansionPoint, Expressions, FrameId};
use cuweave_core::ids::LeafId;
use cuweave_core::index::Index;
use cuweave_core::ir::{DimId, StatementId};
use cuweave_core::structure::Choice;
use cuweave_core::table::{BoundOp, DecodedFunction, TableHandle};

use crate::error::{
    ConfigFault, DeviceFault, Error, Fault, PlanFault, Result, SetterFault, SourceLocation, at_function,
    at_statement,
};
use crate::statements::{Dim, compute, dim};
use crate::token::Token;

use super::body::{Body, enter};
use super::checks::first_user;
use super::questions::{Answer, Question, Questions};

/// Evaluates the expressions of a body for the expansion, which asks through [`Answers`].
pub(crate) struct BodyEvaluator<'b> {
    body: &'b dyn Body,
    /// The values of expressions that mention no loop variable. Each is evaluated once.
    leaves: BTreeMap<(FrameId, LeafId), Dim>,
    stack: Vec<Dim>,
    pub(crate) questions: Questions,
    pub(crate) symbols: Symbols,
}

impl<'b> BodyEvaluator<'b> {
    /// Returns an evaluator for a body. The body's expressions may make another context current.
    pub fn new(body: &'b dyn Body) -> BodyEvaluator<'b> {
        BodyEvaluator {
            body,
            leaves: BTreeMap::new(),
            stack: Vec::new(),
            questions: Questions::default(),
            symbols: Symbols::default(),
        }
    }

    /// Returns the value of a leaf. Evaluates it unless it is cached.
    pub(crate) fn leaf_dim(&mut self, at: ExpansionPoint<'_>, leaf: LeafId) -> Result<Dim> {
        let constant = at.table().structure.leaf_variables.get(leaf).is_none_or(Vec::is_empty);
        if let Some(&known) = self.leaves.get(&(at.frame, leaf)).filter(|_| constant) {
            return Ok(known);
        }
        let Answer::Leaf(value) = self.ask(at, Question::Leaf(leaf))? else { return Err(wrong_answer(at)) };
        if constant {
            self.leaves.insert((at.frame, leaf), value);
        }
        Ok(value)
    }

    /// Returns the answer to the expansion's next question: a recorded one, or a new one that it records.
    fn ask(&mut self, at: ExpansionPoint<'_>, question: Question) -> Result<Answer> {
        if let Some(answer) = self.questions.known(at, question) {
            return Ok(answer);
        }
        let answer = self.answer(at, question)?;
        self.questions.note(at, question, answer);
        Ok(answer)
    }

    /// Evaluates the expression of a question.
    pub(crate) fn answer(&mut self, at: ExpansionPoint<'_>, question: Question) -> Result<Answer> {
        match question {
            Question::Leaf(leaf) => {
                self.entered(at, &mut |body| Answer::Leaf(body.leaf(leaf.as_u32(), at.loop_values, Token)))
            }
            Question::Arm(number) => {
                self.entered(at, &mut |body| Answer::Arm(body.arm(number, at.loop_values, Token)))
            }
            Question::Callee(call) => {
                let step = at.table().steps[call];
                let mut table = None;
                self.entered(at, &mut |body| {
                    let mut known = |callee: &dyn Body| table = callee.table(Token).and_then(static_table);
                    body.enter(step, at.loop_values, &mut known, Token);
                })?;
                table.map(Answer::Callee).ok_or_else(|| Error::Config {
                    at: statement(at, Some(call)),
                    reason: ConfigFault::ReturnsBeforeStatement,
                })
            }
        }
    }

    /// Evaluates the code of a bound and converts the result with `of`.
    fn computed<T>(
        &mut self,
        at: ExpansionPoint<'_>,
        id: DimId,
        length: &mut dyn FnMut(BoundOp) -> Option<DimValue>,
        of: fn(Dim) -> std::result::Result<T, Fault>,
    ) -> Result<T> {
        let table = at.table();
        let code = &table.dims[id];
        let mut leaves = Vec::new();
        for op in code {
            if let BoundOp::Leaf(leaf) = *op {
                leaves.push((leaf, self.leaf_dim(at, leaf)?));
            }
        }
        let operand = |op: BoundOp| match op {
            BoundOp::Leaf(leaf) => leaves.iter().find(|(known, _)| *known == leaf).map(|(_, value)| *value),
            BoundOp::Variable(variable) => at.loop_values.get(variable.index()).map(|&value| dim(value)),
            BoundOp::Length(_) | BoundOp::Extent(_) => length(op).map(|number| dim(number.value)),
            _ => None,
        };
        let text = &table.program.dims[id];
        let value = compute(code, operand, &mut self.stack).ok_or_else(|| PlanFault::NoCode {
            function: table.program.name.to_string(),
            text: text.to_string(),
        })?;
        match of(value) {
            Ok(value) => Ok(value),
            Err(fault) => {
                let (what, at) = first_user(&table.program, id);
                Err(Error::Size { what, at, text: text.to_string(), fault })
            }
        }
    }

    /// Calls `with` with the body of the frame at `at`.
    fn entered<T>(&mut self, at: ExpansionPoint<'_>, with: &mut dyn FnMut(&dyn Body) -> T) -> Result<T> {
        enter(self.body, at.frames, at.frame, with)
            .ok_or_else(|| Error::Config { at: function(at), reason: ConfigFault::ArgumentOfCallReturns })
    }
}

/// Returns the table if generated code has it. Tables of builders give `None`.
fn static_table(table: TableHandle) -> Option<&'static DecodedFunction> {
    match table {
        TableHandle::Static(table) => Some(table),
        TableHandle::Built(_) => None,
    }
}

/// The error for an answer of the wrong kind. It cannot occur: an answer is reused only if its question is the
/// same.
#[cold]
fn wrong_answer(at: ExpansionPoint<'_>) -> Error {
    PlanFault::OtherAnswer(function(at)).into()
}

/// Returns the source location of the function that is being expanded.
fn function(at: ExpansionPoint<'_>) -> Box<SourceLocation> {
    at_function(&at.table().program)
}

fn statement(at: ExpansionPoint<'_>, statement: Option<StatementId>) -> Box<SourceLocation> {
    let program = &at.table().program;
    match statement {
        Some(statement) => at_statement(program, statement),
        None => function(at),
    }
}

impl Expressions for BodyEvaluator<'_> {
    type Error = Error;

    fn leaf(&mut self, at: ExpansionPoint<'_>, leaf: LeafId) -> Result<Option<u64>> {
        Ok(self.leaf_dim(at, leaf)?.value().ok())
    }

    fn value(
        &mut self,
        at: ExpansionPoint<'_>,
        id: DimId,
        length: &mut dyn FnMut(BoundOp) -> Option<DimValue>,
    ) -> Result<u64> {
        self.computed(at, id, length, Dim::value)
    }

    #[cold]
    fn inconstant(at: Box<SourceLocation>, bound: &str) -> Error {
        let reason = SetterFault::Bound { text: bound.to_owned() };
        Error::BuildAgain { at, reason }
    }
}

impl Answers for BodyEvaluator<'_> {
    type Error = Error;

    fn bound(
        &mut self,
        at: ExpansionPoint<'_>,
        id: DimId,
        length: &mut dyn FnMut(BoundOp) -> Option<DimValue>,
    ) -> Result<DimValue> {
        let value = self.value(at, id, length)?;
        if !self.symbols.may_move(at, id) {
            return Ok(DimValue::constant(value));
        }
        let mut symbols = std::mem::take(&mut self.symbols);
        let poly = symbols.poly(self, at, id, value, length);
        self.symbols = symbols;
        Ok(DimValue { value, poly, moves: true })
    }

    fn end(
        &mut self,
        at: ExpansionPoint<'_>,
        id: DimId,
        length: &mut dyn FnMut(BoundOp) -> Option<DimValue>,
    ) -> Result<i128> {
        self.computed(at, id, length, Dim::integer)
    }

    fn arm(&mut self, at: ExpansionPoint<'_>, choice: &Choice) -> Result<u32> {
        let Answer::Arm(arm) = self.ask(at, Question::Arm(choice.number))? else {
            return Err(wrong_answer(at));
        };
        Ok(arm)
    }

    fn callee(&mut self, at: ExpansionPoint<'_>, call: StatementId) -> Result<TableHandle> {
        let Answer::Callee(table) = self.ask(at, Question::Callee(call))? else {
            return Err(wrong_answer(at));
        };
        Ok(TableHandle::Static(table))
    }

    fn refused(
        &mut self,
        at: ExpansionPoint<'_>,
        blamed: Option<StatementId>,
        refusal: ExpansionFault,
    ) -> Error {
        let at = statement(at, blamed);
        match refusal {
            ExpansionFault::Device { device } => {
                Error::Devices(Box::new(DeviceFault::NoDevice { at: *at, device, devices: None }))
            }
            ExpansionFault::Short { callee, parameter, buffer, needed, len } => {
                Error::Extent { at, kernel: callee, parameter, buffer, extent: needed, len }
            }
            ExpansionFault::Index { list, index, len } => Error::Index { at, list, index, len },
            ExpansionFault::Recursion { cycle } => Error::Recursion { at, cycle },
            ExpansionFault::TooLarge { most } => Error::TooLarge { at, most },
            ExpansionFault::Returned { buffer, declared, actual } => {
                let program = at.clone().with_name(buffer);
                Error::ReturnedLength { at: Box::new(program), declared, actual }
            }
            ExpansionFault::AtLeast { argument, least, value } => {
                Error::AtLeast { at: Box::new(at.with_name(argument)), least, value }
            }
            ExpansionFault::AtMost { argument, most, value } => {
                Error::size_out_of_range(Box::new(at.with_name(argument)), "", 0..=most, value)
            }
            ExpansionFault::Unlike { one, other } => {
                Error::Config { at, reason: ConfigFault::Unlike { one, other } }
            }
            ExpansionFault::Malformed(what) => PlanFault::Malformed { at, what }.into(),
        }
    }
}
