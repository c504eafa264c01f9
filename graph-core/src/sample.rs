//! Samples a structured function for the check while the crate compiles: some iterations of each loop, and both
//! arms of each choice.
//!
//! The build checks the flat program with its actual numbers, so the sample may miss an error that occurs only in
//! other iterations. It must not reject a correct program: writes of unsampled iterations count if they are proved
//! for all iterations.
//!
//! - A loop runs no iteration, one, two, or as many as its body needs to rotate its names through all their
//!   buffers. Each number of iterations is an arm of a choice. If a condition distinguishes the last iteration, it
//!   is sampled too: as the first one, and after others.
//! - After a choice, a range is written if all arms write it. If arms assign different buffers to a name, the name
//!   denotes a joined buffer. It is written where the buffers of all arms are, and freed if the buffer of one arm
//!   is.
//! - If the range of an iteration begins where the range of another ends, the union of all ranges is written after
//!   the loop. The union is empty without iterations. An iteration writes what all arms of a choice write, even if
//!   an arm for one iteration, such as `i == 0`, names its range by numbers.
//! - A choice whose condition is known in an iteration takes its arm.

mod condition;
mod iterations;

use cuweave_ptx::poly::{Facts, Poly};

use crate::condition::{Condition as Body, ConditionKeyword};
use crate::ids::VariableId;
use crate::index::{Index, Vector, narrow, size};
use crate::ir::{
    Access, BufferId, CallId, DimId, Origin, Program, Rows, Statement, StatementId, StatementKind, View,
};
use crate::kind::Lifetime;
use crate::order::{ChoiceArm, LoweredProgram, Region, Regions};
use crate::structure::{Argument, Item, Structure};

pub use condition::{ChoiceCondition, ChoiceTest, IntegerExpression, Relation};

/// A sampled program, and the template of each of its statements.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The program.
    pub source: LoweredProgram,
    /// The template of each statement.
    pub templates: Vector<StatementId, StatementId>,
}

/// Facts of the macro about a structured function, beyond its templates.
#[derive(Clone, Copy, Debug)]
pub struct FunctionShape<'s> {
    /// Its loops, choices and calls.
    pub structure: &'s Structure,
    /// The variable of each loop, as used in the polynomials.
    pub variables: &'s Vector<VariableId, Poly>,
    /// The condition of each choice.
    pub conditions: &'s [ChoiceCondition],
}

/// Samples a function. The statements of `source` are its templates.
pub fn sample(source: &LoweredProgram, shape: &FunctionShape<'_>) -> Sampled {
    let (fresh, discarded) = (source.regions.fresh.clone(), source.regions.discarded.clone());
    let mut sampler = Sampler {
        source,
        shape,
        iterations: Vec::new(),
        assumed: Vec::new(),
        copies: 1,
        buffers: source.program.buffers.ids().collect(),
        born: source.program.buffers.iter().map(|buffer| buffer.origin == Origin::Taken).collect(),
        out: LoweredProgram {
            program: Program {
                statements: Vector::new(),
                views: Vec::new().into(),
                ..source.program.clone()
            },
            polys: source.polys.clone(),
            poisoned: source.poisoned.clone(),
            order_unknown: source.order_unknown,
            regions: Regions { fresh, discarded, ..Regions::default() },
            may_be_zero: source.may_be_zero,
        },
        templates: Vector::new(),
        latest: Vector::filled(None, source.program.statements.len()),
        bodies: Vec::new(),
        choice: 0,
    };
    sampler.views();
    sampler.items(&shape.structure.body);
    let outputs = source.program.outputs.iter().map(|&output| sampler.buffers[output]).collect();
    sampler.out.program.outputs = outputs;
    Sampled { source: sampler.out, templates: sampler.templates }
}

struct Sampler<'s> {
    source: &'s LoweredProgram,
    shape: &'s FunctionShape<'s>,
    /// The loop variables in scope, each with its current value.
    iterations: Vec<(Poly, Poly)>,
    /// Polynomials known to be non-negative in the current iterations and arms.
    assumed: Vec<Poly>,
    /// The number of copies of each statement: the product of the sampled iterations of the enclosing loops.
    copies: usize,
    /// The buffer that each buffer of the templates currently denotes.
    buffers: Vector<BufferId, BufferId>,
    /// The buffers of the templates that were allocated or taken over.
    born: Vector<BufferId, bool>,
    out: LoweredProgram,
    templates: Vector<StatementId, StatementId>,
    /// The latest instance of each statement.
    latest: Vector<StatementId, Option<StatementId>>,
    /// The regions of the open conditional bodies, each with its choice.
    bodies: Vec<(usize, u32)>,
    /// The choice of the last closed conditional body.
    choice: u32,
}

impl Sampler<'_> {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Statement(statement) => self.statement(*statement),
                Item::Loop(each) => self.each(each),
                Item::Choice(choice) => self.choice(choice.number, &choice.arms),
                Item::Rename { to, from } => self.buffers[*to] = self.buffers[*from],
                Item::Swap(a, b) => self.buffers.swap(*a, *b),
                Item::Needs(_) => {}
            }
        }
    }

    fn next(&self) -> StatementId {
        StatementId::new(self.out.program.statements.len())
    }

    /// Adds the views taken in this iteration of the innermost loop, or outside loops. The build checks that each
    /// is inside its parent, so the order may rely on it.
    fn views(&mut self) {
        let innermost = self.iterations.last().map(|(variable, _)| variable.clone());
        for view in self.source.program.views.iter() {
            let ends = [view.lo, view.hi, view.of.0, view.of.1];
            let mentioned =
                |variable: &Poly| ends.iter().any(|&end| mentions(&self.source.polys[end], variable));
            let of_turn = innermost.as_ref().is_none_or(mentioned);
            let sampled = |variable: &Poly| self.iterations.iter().any(|(known, _)| known == variable);
            if !of_turn
                || self.shape.variables.iter().any(|variable| mentioned(variable) && !sampled(variable))
            {
                continue;
            }
            let [lo, hi, from, to] = ends.map(|end| self.dim(end));
            self.out.program.views.to_mut().push(View { lo, hi, of: (from, to), ..*view });
        }
    }

    fn statement(&mut self, id: StatementId) {
        let template = &self.source.program.statements[id];
        if let StatementKind::Join(_) = template.kind
            && let Some((region, choice)) = self.bodies.pop()
        {
            self.close(region);
            self.choice = choice;
        }
        let at = self.next();
        let kind = match template.kind.lifetime() {
            Some(Lifetime::Begins(&buffer)) => StatementKind::Alloc(self.allocate(buffer, at)),
            Some(Lifetime::Ends(&buffer)) => StatementKind::Free(self.buffers[buffer]),
            None => template.kind,
        };
        // Read before the results are named, since a result may reuse the name of an argument.
        let mut accesses: Vec<Option<Access>> = template
            .accesses
            .iter()
            .map(|access| (!self.is_result(access.buffer, id)).then(|| self.access(access)))
            .collect();
        let handed_over = self.handed_over(template.kind);
        for (access, slot) in template.accesses.iter().zip(&mut accesses) {
            if slot.is_none() {
                self.allocate(access.buffer, at);
                *slot = Some(self.access(access));
            }
        }
        let after: Vec<StatementId> =
            template.after.iter().filter_map(|&before| self.latest[before]).collect();
        let statement = Statement {
            kind,
            accesses: accesses.into_iter().flatten().collect(),
            after: after.into(),
            ..template.clone()
        };
        self.out.program.statements.push(statement);
        self.templates.push(id);
        self.latest[id] = Some(at);
        if let StatementKind::Condition(body) = template.kind {
            self.begin_body(at, &body);
        }
        // A call ends the lifetime of the buffers that it takes over.
        for buffer in handed_over {
            let statement = Statement {
                kind: StatementKind::Free(buffer),
                accesses: Vec::new().into(),
                after: Vec::new().into(),
                ..template.clone()
            };
            self.out.program.statements.push(statement);
            self.templates.push(id);
        }
    }

    /// Opens the region of a conditional body.
    fn begin_body(&mut self, condition: StatementId, body: &Body) {
        let region = self.open();
        let choice = if body.arm > 0 { self.choice } else { self.out.regions.choices };
        self.out.regions.choices = self.out.regions.choices.max(choice + 1);
        let opened = &mut self.out.regions.list[region];
        opened.condition = Some(condition);
        opened.arm = (body.word != ConditionKeyword::While).then(|| ChoiceArm {
            choice,
            number: body.arm,
            completes: body.completes(),
        });
        self.bodies.push((region, choice));
    }

    /// Returns true if a call returns the buffer.
    fn is_result(&self, buffer: BufferId, call: StatementId) -> bool {
        self.source.program.buffers[buffer].origin == Origin::Alloc(call)
            && self.source.program.statements[call].kind.lifetime().is_none()
    }

    fn handed_over(&self, kind: StatementKind) -> Vec<BufferId> {
        let StatementKind::Call(call) = kind else { return Vec::new() };
        let call: CallId = call;
        let moved = |argument: &Argument| match argument {
            Argument::Moved(buffer) => Some(self.buffers[*buffer]),
            _ => None,
        };
        self.shape.structure.calls[call].arguments.iter().filter_map(moved).collect()
    }

    fn access(&mut self, access: &Access) -> Access {
        let buffer = self.buffers[access.buffer];
        let end = |dim: DimId| &self.source.polys[dim];
        let whole = end(access.hi) == end(self.source.program.buffers[access.buffer].len);
        // All buffers that a name denotes have the same length; the build checks it.
        let hi = if whole { self.out.program.buffers[buffer].len } else { self.dim(access.hi) };
        let rows = access.rows.map(|rows| Rows::from_dims(rows.dims().map(|dim| self.dim(dim))));
        Access { buffer, lo: self.dim(access.lo), hi, rows, ..*access }
    }

    /// Gives an allocation a new buffer in each iteration.
    fn allocate(&mut self, buffer: BufferId, at: StatementId) -> BufferId {
        let mut declared = self.source.program.buffers[buffer].clone();
        declared.origin = Origin::Alloc(at);
        declared.len = self.dim(declared.len);
        if !std::mem::replace(&mut self.born[buffer], true) {
            self.out.program.buffers[buffer] = declared;
            return buffer;
        }
        self.out.poisoned.push(self.source.poisoned[buffer]);
        let id = self.out.program.buffers.push(declared);
        self.buffers[buffer] = id;
        id
    }

    /// Returns a bound with the loop variables replaced by their values.
    fn dim(&mut self, dim: DimId) -> DimId {
        match self.substituted(&self.source.polys[dim]) {
            Some(poly) => self.push(poly, dim),
            None => dim,
        }
    }

    /// Adds a bound with the source text of another one.
    fn push(&mut self, poly: Poly, like: DimId) -> DimId {
        let text = self.out.program.dims[like].clone();
        self.out.program.dims.push(text);
        self.out.polys.push(poly)
    }

    /// Replaces the loop variables in a polynomial by their values. `None` if it mentions none.
    fn substituted(&self, poly: &Poly) -> Option<Poly> {
        if !self.iterations.iter().any(|(variable, _)| mentions(poly, variable)) {
            return None;
        }
        substitute_loops(poly, &self.iterations)
    }

    /// Returns a polynomial of the templates with its value in the current iterations.
    fn now(&self, poly: &Poly) -> Poly {
        self.substituted(poly).unwrap_or_else(|| poly.clone())
    }

    /// Returns the facts of the current iterations and arms: lengths are at least 1, arguments with
    /// `#[at_least(n)]` are at least `n`, and the assumptions of the arms.
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        for (_, dim, least) in &self.shape.structure.at_least {
            if let Some(above) = self.source.polys[*dim].minus(&Poly::constant(i128::from(*least))) {
                facts.add(&above);
            }
        }
        self.assumed.iter().for_each(|poly| facts.add(poly));
        facts
    }

    fn choice(&mut self, number: u32, arms: &[Vec<Item>]) {
        let condition = &self.shape.conditions[size(number)];
        let facts = self.facts();
        let mut candidates: Vec<(&[Item], usize)> = Vec::new();
        let mut complete = false;
        for (at, test) in condition.arms.iter().enumerate() {
            let decided = test.decide(&|poly| self.now(poly), &facts);
            if decided == Some(false) {
                continue;
            }
            candidates.push((arms.get(at).map_or(&[], Vec::as_slice), at));
            if decided == Some(true) {
                complete = true;
                break;
            }
        }
        if let ([(arm, _)], true) = (candidates.as_slice(), complete) {
            return self.items(arm);
        }
        let mut join = ChoiceSample::new(self);
        if !(complete || condition.total) {
            join.arm(self, |_| {});
        }
        for (arm, at) in candidates {
            join.arm(self, |sampler| {
                let assumed = sampler.assumed.len();
                let implied = condition.implied(at, &|poly| sampler.now(poly));
                sampler.assumed.extend(implied);
                sampler.items(arm);
                sampler.assumed.truncate(assumed);
            });
        }
        join.end(self);
    }

    fn open(&mut self) -> usize {
        let next = self.next();
        self.out.regions.open(next)
    }

    fn close(&mut self, region: usize) {
        let next = self.next();
        self.out.regions.close(region, next);
    }
}

/// A choice that is being sampled: its arms, and the buffers that names denote at the end of each.
struct ChoiceSample {
    choice: u32,
    before: Vector<BufferId, BufferId>,
    born: Vector<BufferId, bool>,
    /// The region of each arm, and the buffer of each name at its end.
    arms: Vec<(usize, Vector<BufferId, BufferId>)>,
}

impl ChoiceSample {
    fn new(sampler: &mut Sampler<'_>) -> ChoiceSample {
        let choice = sampler.out.regions.choices;
        sampler.out.regions.choices += 1;
        ChoiceSample { choice, before: sampler.buffers.clone(), born: sampler.born.clone(), arms: Vec::new() }
    }

    fn arm<'s>(&mut self, sampler: &mut Sampler<'s>, items: impl FnOnce(&mut Sampler<'s>)) {
        let region = sampler.open();
        let number = narrow(self.arms.len());
        sampler.out.regions.list[region].arm =
            Some(ChoiceArm { choice: self.choice, number, completes: false });
        items(sampler);
        sampler.close(region);
        let buffers = std::mem::replace(&mut sampler.buffers, self.before.clone());
        self.arms.push((region, buffers));
    }

    /// Ends the choice. A name with different buffers in its arms denotes a joined buffer from here on.
    fn end(self, sampler: &mut Sampler<'_>) {
        let Some((last, _)) = self.arms.last() else { return };
        if let Some(arm) = &mut sampler.out.regions.list[*last].arm {
            arm.completes = true;
        }
        for name in self.before.ids().filter(|&name| self.born[name]) {
            let first = self.arms[0].1[name];
            if self.arms.iter().all(|(_, buffers)| buffers[name] == first) {
                sampler.buffers[name] = first;
                continue;
            }
            let declared = sampler.out.program.buffers[first].clone();
            let poisoned = self.arms.iter().any(|(_, buffers)| sampler.out.poisoned[buffers[name]]);
            sampler.out.poisoned.push(poisoned);
            let joined = sampler.out.program.buffers.push(declared);
            for (region, buffers) in &self.arms {
                sampler.out.regions.list[*region].joined.push((joined, buffers[name]));
            }
            sampler.buffers[name] = joined;
        }
    }
}

/// Returns true if a polynomial mentions a variable.
fn mentions(poly: &Poly, variable: &Poly) -> bool {
    variable.terms().next().is_some_and(|(symbol, _)| {
        poly.terms().any(|(product, _)| product.iter().any(|id| symbol.contains(id)))
    })
}

/// Replaces loop variables in a polynomial by their values; the innermost entry wins. `None` if a coefficient
/// overflows.
fn substitute_loops(poly: &Poly, iterations: &[(Poly, Poly)]) -> Option<Poly> {
    poly.substitute(&|id| {
        let of = Poly::variable(id);
        let value = iterations.iter().rev().find(|(variable, _)| *variable == of);
        Some(value.map_or(of, |(_, value)| value.clone()))
    })
}

impl Regions {
    fn open(&mut self, first: StatementId) -> usize {
        self.list.push(Region {
            first,
            end: first,
            inner: 0,
            written: Vec::new(),
            joined: Vec::new(),
            arm: None,
            condition: None,
        });
        self.list.len() - 1
    }

    fn close(&mut self, region: usize, end: StatementId) {
        self.list[region].end = end;
        self.list[region].inner = self.list.len();
    }
}
