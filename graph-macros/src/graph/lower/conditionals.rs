//! Lowers what the device decides: `if`, `while` and `match` on a buffer of one `u32`.

use cuweave_core::condition::{Condition, MOST_VALUES, Test, Word};
use cuweave_core::index::Index;
use cuweave_core::ir::{Access, BufferId, Kind, Mode, Origin, StatementId};
use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprIf, ExprMatch, ExprWhile, Lit, Pat, Stmt, UnOp};

use super::calls::ungrouped;
use super::{LaunchArgument, Lower, Lowering, Syntax, refused};
use crate::dims::{Bound, compact};
use crate::graph::scope::Binding;

/// An arm: the values for which it runs, and its statements.
struct Arm {
    test: Test,
    statements: Vec<Stmt>,
}

/// The operand of a conditional.
struct Operand<'e> {
    expr: &'e Expr,
    /// True for `!flag`.
    negated: bool,
}

/// Returns the operand of a condition, without parentheses and `!`.
fn operand(condition: &Expr) -> Operand<'_> {
    match condition {
        Expr::Paren(inner) => operand(&inner.expr),
        Expr::Group(inner) => operand(&inner.expr),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
            let inner = operand(&unary.expr);
            Operand { negated: !inner.negated, ..inner }
        }
        Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => operand(&unary.expr),
        expr => Operand { expr, negated: false },
    }
}

impl Lowering<'_> {
    /// Returns true for a condition that is a buffer: the device decides.
    pub(super) fn device_decides(&self, condition: &Expr) -> bool {
        let mut expr = operand(condition).expr;
        let mut indexed = false;
        while let Expr::Index(index) = ungrouped(expr) {
            indexed |= !matches!(ungrouped(&index.index), Expr::Range(_));
            expr = &index.expr;
        }
        let Expr::Path(path) = ungrouped(expr) else { return false };
        match path.path.get_ident().and_then(|name| self.scopes.get(name)) {
            Some(Binding::View(_)) => !indexed,
            Some(Binding::Moved(..)) => !indexed,
            Some(Binding::Array(..)) => indexed,
            _ => false,
        }
    }

    /// Lowers `if flag { .. } else { .. }`.
    pub(super) fn device_if(&mut self, choice: &ExprIf) -> Lower<()> {
        let Operand { expr, negated } = operand(&choice.cond);
        let first = Test { others: !negated, ..Test::TRUE };
        let second = Test { others: negated, ..Test::TRUE };
        let mut arms = vec![Arm { test: first, statements: choice.then_branch.stmts.clone() }];
        let otherwise = choice.else_branch.as_ref().map(|(_, branch)| match &**branch {
            Expr::Block(block) if block.label.is_none() => block.block.stmts.clone(),
            other => vec![Stmt::Expr(other.clone(), None)],
        });
        let total = otherwise.is_some();
        arms.extend(otherwise.map(|statements| Arm { test: second, statements }));
        self.conditional(Word::If, expr, arms, (total, None))
    }

    /// Lowers `while flag { .. }`, with or without `#[at_most(n)]`.
    pub(super) fn device_while(&mut self, each: &ExprWhile, outer: &[Attribute]) -> Lower<()> {
        let attributes = [outer, &each.attrs].concat();
        let (limits, others): (Vec<Attribute>, Vec<Attribute>) =
            attributes.into_iter().partition(|attribute| attribute.path().is_ident("at_most"));
        self.around(&others, |lowering| lowering.device_loop(each, limits))
    }

    fn device_loop(&mut self, each: &ExprWhile, limits: Vec<Attribute>) -> Lower<()> {
        let mut at_most = None;
        for limit in limits {
            let number = limit.parse_args::<syn::LitInt>().and_then(|literal| literal.base10_parse::<u32>());
            match number {
                Ok(number) if number > 0 && at_most.is_none() => at_most = Some(number),
                _ => {
                    return Err(self.refuse(
                        &limit,
                        "`#[at_most(n)]` takes one number of turns, from 1 on",
                        "write it once, as in `#[at_most(1000)]`",
                    ));
                }
            }
        }
        if each.label.is_some() {
            return Err(self.refuse(&each.cond, "a label of a `while` names nothing", "delete the label"));
        }
        if !self.device_decides(&each.cond) {
            let whole = Expr::While(each.clone());
            return Err(self.refuse_as(&whole, refused::expression(&whole, false)));
        }
        let Operand { expr, negated } = operand(&each.cond);
        let test = Test { others: !negated, ..Test::TRUE };
        let arm = Arm { test, statements: each.body.stmts.clone() };
        if arm.statements.is_empty() {
            return Err(self.refuse(
                &each.cond,
                "the body of this `while` is empty",
                "write its operand in the body, by a launch, `fill` or `copy`",
            ));
        }
        self.conditional(Word::While, expr, vec![arm], (false, at_most))
    }

    /// Lowers `match index { 0 => .., 1 | 2 => .., _ => .. }`.
    pub(super) fn device_match(&mut self, choice: &ExprMatch) -> Lower<()> {
        let mut arms = Vec::new();
        let mut seen: Vec<u32> = Vec::new();
        let mut total = false;
        for arm in &choice.arms {
            let statements = match ungrouped(&arm.body) {
                Expr::Block(block) if block.label.is_none() => block.block.stmts.clone(),
                Expr::Tuple(tuple) if tuple.elems.is_empty() => Vec::new(),
                body => vec![Stmt::Expr(body.clone(), None)],
            };
            let mut values = Vec::new();
            let others = matches!(arm.pat, Pat::Wild(_));
            if total || !(others || literals(&arm.pat, &mut values)) {
                return Err(self.refuse(
                    &arm.pat,
                    "this pattern of a `match` on a buffer is not part of the language of graph functions",
                    "write literals, `0 | 1`, and `_` in the last arm",
                ));
            }
            values.retain(|value| !seen.contains(value));
            if !others && values.is_empty() {
                return Err(self.refuse(&arm.pat, "no value is left for this arm", "delete it"));
            }
            seen.extend(&values);
            let Some(test) = Test::of(if others { &seen } else { &values }, others) else {
                let message = format!("a `match` on a buffer tells up to {MOST_VALUES} values apart");
                return Err(self.refuse(&arm.pat, &message, "write several, one in the last arm of another"));
            };
            total |= others;
            arms.push(Arm { test, statements });
        }
        if !total {
            return Err(self.refuse(
                &choice.expr,
                "a `match` on a buffer takes all values",
                "end it with `_ => { .. }`, whose arm may be empty",
            ));
        }
        self.conditional(Word::Match, operand(&choice.expr).expr, arms, (true, None))
    }

    /// Lowers the arms of a conditional: each between the statement in front of it and the one behind.
    fn conditional(
        &mut self,
        word: Word,
        operand: &Expr,
        arms: Vec<Arm>,
        (total, at_most): (bool, Option<u32>),
    ) -> Lower<()> {
        let name = match word {
            Word::If => "if",
            Word::While => "while",
            Word::Match => "match",
        };
        let all = arms.len();
        let arms: Vec<Arm> = arms.into_iter().filter(|arm| !arm.statements.is_empty()).collect();
        let span = operand.span();
        let access = self.one_value(operand, name)?;
        if arms.is_empty() {
            return Ok(());
        }
        let total = total && arms.len() == all;
        let counter = at_most.map(|_| self.counter(span));
        let own = |written: Mode| -> Vec<(Access, Span)> {
            let count = |counter: &(Access, Span)| (Access { mode: written, ..counter.0 }, counter.1);
            [Some(access), counter.as_ref().map(count)].into_iter().flatten().collect()
        };
        let count = arms.len() as u32;
        for (arm, number) in arms.into_iter().zip(0..) {
            let body = Condition { word, arm: number, arms: count, total, test: arm.test, at_most };
            let accesses = if number == 0 { own(Mode::Write) } else { Vec::new() };
            let arguments = accesses.first().map(|_| LaunchArgument::Buffer(0));
            let syntax = Syntax { arguments: arguments.into_iter().collect(), ..Syntax::default() };
            let at = self.push(name.to_owned(), span, (Kind::Condition(body), syntax), accesses);
            let around = self.body.replace(at);
            self.block(&arm.statements);
            self.body = around;
            let accesses = if word == Word::While { own(Mode::ReadWrite) } else { Vec::new() };
            self.push(name.to_owned(), span, (Kind::Join(body), Syntax::default()), accesses);
        }
        Ok(())
    }

    /// Returns the access of a conditional's operand.
    fn one_value(&mut self, operand: &Expr, word: &str) -> Lower<(Access, Span)> {
        let Some(view) = self.view(operand)? else { return Err(self.no_buffer(operand, word)) };
        let text = compact(operand);
        let length = view.hi.poly.minus(&view.lo.poly).and_then(|length| length.as_constant());
        if length != Some(1) {
            return Err(self.refuse(
                operand,
                &format!("`{word}` decides by a buffer of one element, and `{text}` is not known to be that"),
                "declare it as `[u32; 1]`, or name a part: `let flag = &x[i..i + 1];`",
            ));
        }
        let element = self.elements[view.buffer.index()].to_token_stream().to_string();
        if ["f32", "f64", "u64", "i64", "i32", "u16", "i16", "u8", "i8", "bool"].contains(&element.as_str()) {
            return Err(self.refuse(
                operand,
                &format!("`{word}` decides by a `u32`, and `{text}` is a buffer of `{element}`"),
                "let a kernel write the decision into a buffer `[u32; 1]`",
            ));
        }
        let access = self.access(&view, Mode::Read, operand.span());
        self.device_only(&access, operand, word)?;
        Ok(access)
    }

    /// Allocates the counter of a loop's turns.
    fn counter(&mut self, span: Span) -> (Access, Span) {
        let id = StatementId::new(self.statements.len());
        let (name, element) = ("turns".to_owned(), syn::parse_quote!(u32));
        let view = self.buffer(name.clone(), span, Origin::Alloc(id), Bound::constant(1), element, None);
        self.push(name, span, (Kind::Alloc(view.buffer), Syntax::default()), Vec::new());
        self.access(&view, Mode::Write, span)
    }

    /// Refuses a change of the buffer that a name stands for, or of its lifetime, in a body that does not allocate it: the nodes of
    /// a body keep their addresses in all turns, and another arm may run.
    pub(super) fn stays_in_body(&mut self, at: &(impl ToTokens + Spanned), buffer: BufferId) -> Lower<()> {
        let Some(body) = self.body else { return Ok(()) };
        if matches!(self.buffers[buffer].origin, Origin::Alloc(at) if at > body) {
            return Ok(());
        }
        let name = self.buffers[buffer].name.to_string();
        Err(self.refuse(
            at,
            &format!("`{name}` comes from outside of this body, which the device may run or not, or again"),
            "its nodes keep their addresses: write both half-steps in one turn, or `copy`",
        ))
    }
}

/// Adds the literals of a pattern; returns false for other patterns.
fn literals(pattern: &Pat, values: &mut Vec<u32>) -> bool {
    match pattern {
        Pat::Paren(inner) => literals(&inner.pat, values),
        Pat::Or(or) => or.cases.iter().all(|case| literals(case, values)),
        Pat::Lit(literal) => match &literal.lit {
            Lit::Int(number) if matches!(number.suffix(), "" | "u32") => {
                number.base10_parse::<u32>().map(|value| values.push(value)).is_ok()
            }
            _ => false,
        },
        _ => false,
    }
}
