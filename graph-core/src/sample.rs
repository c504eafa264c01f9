//! A sample of a structured function for the check while the crate compiles: two turns of each loop, both arms of each choice.
//!
//! The build checks the flat program with its numbers, so the sample may miss a fault that only later turns have. It must not
//! refuse what is right: what only other turns write counts as written where that is proved for all turns.
//!
//! - Turn one of a loop has `i = lo`, turn two `i = lo + 1`; a fault in the first or a later turn shows in one of them.
//! - Behind a loop, the writes of its turns do not count, since there may be none, with one exception: where the range of
//!   turn `i` ends at the begin of the range of turn `i + 1`, all of `lo(first)..lo(end)` is written, and that is nothing
//!   where there is no turn. What the turns write to a buffer counts, too, if a name stands for that buffer only because there
//!   was a turn.
//! - Behind a choice, what all arms write is written. Choices whose condition is known in a turn take their arm.

use cuweave_ptx::poly::Poly;

use crate::ids::VariableId;
use crate::index::{Index, Vector, size};
use crate::ir::{Access, BufferId, CallId, DimId, Kind, Mode, Origin, Program, Statement, StatementId};
use crate::kind::Lifetime;
use crate::order::{Arm, Region, Regions, Source};
use crate::structure::{Argument, Item, Loop, Structure, Turns};

/// A sampled program, and the template of each of its statements.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The program.
    pub source: Source,
    /// The template of each statement.
    pub templates: Vector<StatementId, StatementId>,
}

/// The condition of a choice.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The comparison that decides between the first arm and the second, where it is `==` or `!=` of integers: its sides, and true for
    /// `==`.
    pub compares: Option<(Poly, Poly, bool)>,
    /// True if one of the arms always runs.
    pub total: bool,
}

/// The facts that the macro has about a structured function beyond its templates.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'s> {
    /// The nesting.
    pub structure: &'s Structure,
    /// The variable of each loop, as it stands in the polynomials.
    pub variables: &'s Vector<VariableId, Poly>,
    /// The condition of each choice.
    pub conditions: &'s [Condition],
}

/// Samples a function whose templates are the statements of `source`.
pub fn sample(source: &Source, shape: &Shape<'_>) -> Sampled {
    let mut sampler = Sampler {
        source,
        shape,
        turns: Vec::new(),
        buffers: source.program.buffers.ids().collect(),
        out: Source {
            program: Program {
                statements: Vector::new(),
                views: Vec::new().into(),
                ..source.program.clone()
            },
            polys: source.polys.clone(),
            poisoned: source.poisoned.clone(),
            order_unknown: source.order_unknown,
            regions: Regions::default(),
        },
        templates: Vector::new(),
        latest: Vector::filled(None, source.program.statements.len()),
    };
    sampler.items(&shape.structure.body);
    let outputs = source.program.outputs.iter().map(|&output| sampler.buffers[output]).collect();
    sampler.out.program.outputs = outputs;
    Sampled { source: sampler.out, templates: sampler.templates }
}

struct Sampler<'s> {
    source: &'s Source,
    shape: &'s Shape<'s>,
    /// The values of the variables of the loops around.
    turns: Vec<(Poly, Poly)>,
    /// The buffer that each buffer of the templates stands for now.
    buffers: Vector<BufferId, BufferId>,
    out: Source,
    templates: Vector<StatementId, StatementId>,
    /// The latest instance of each statement.
    latest: Vector<StatementId, Option<StatementId>>,
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

    fn statement(&mut self, id: StatementId) {
        let template = &self.source.program.statements[id];
        let at = self.next();
        let kind = match template.kind.lifetime() {
            Some(Lifetime::Begins(&buffer)) => Kind::Alloc(self.allocate(buffer, at)),
            Some(Lifetime::Ends(&buffer)) => Kind::Free(self.buffers[buffer]),
            None => template.kind,
        };
        // A call allocates what it returns.
        for access in template.accesses.iter() {
            if self.source.program.buffers[access.buffer].origin == Origin::Alloc(id)
                && template.kind.lifetime().is_none()
            {
                self.allocate(access.buffer, at);
            }
        }
        let accesses: Vec<Access> = template.accesses.iter().map(|access| self.access(access)).collect();
        let after: Vec<StatementId> =
            template.after.iter().filter_map(|&before| self.latest[before]).collect();
        let statement =
            Statement { kind, accesses: accesses.into(), after: after.into(), ..template.clone() };
        self.out.program.statements.push(statement);
        self.templates.push(id);
        self.latest[id] = Some(at);
        if let Kind::Call(call) = template.kind {
            self.handed_over(id, call);
        }
    }

    /// A buffer that a call takes over is over for its caller.
    fn handed_over(&mut self, id: StatementId, call: CallId) {
        for argument in &self.shape.structure.calls[call].arguments {
            let Argument::Moved(buffer) = argument else { continue };
            let template = &self.source.program.statements[id];
            let statement = Statement {
                kind: Kind::Free(self.buffers[*buffer]),
                accesses: Vec::new().into(),
                after: Vec::new().into(),
                ..template.clone()
            };
            self.out.program.statements.push(statement);
            self.templates.push(id);
        }
    }

    fn access(&mut self, access: &Access) -> Access {
        let buffer = self.buffers[access.buffer];
        let end = |dim: DimId| &self.source.polys[dim];
        let whole = end(access.hi) == end(self.source.program.buffers[access.buffer].len);
        // A name stands for buffers of one length, which the build checks.
        let hi = if whole { self.out.program.buffers[buffer].len } else { self.dim(access.hi) };
        Access { buffer, lo: self.dim(access.lo), hi, ..*access }
    }

    /// Gives an allocation a buffer of its own in each turn.
    fn allocate(&mut self, buffer: BufferId, at: StatementId) -> BufferId {
        let mut declared = self.source.program.buffers[buffer].clone();
        declared.origin = Origin::Alloc(at);
        declared.len = self.dim(declared.len);
        if self.turns.is_empty() && self.buffers[buffer] == buffer {
            self.out.program.buffers[buffer] = declared;
            return buffer;
        }
        self.out.poisoned.push(self.source.poisoned[buffer]);
        let id = self.out.program.buffers.push(declared);
        self.buffers[buffer] = id;
        id
    }

    /// Returns a bound with the values of the variables put in.
    fn dim(&mut self, dim: DimId) -> DimId {
        match self.put_in(&self.source.polys[dim]) {
            Some(poly) => self.push(poly, dim),
            None => dim,
        }
    }

    /// Returns the number of a bound that reads like another one.
    fn push(&mut self, poly: Poly, like: DimId) -> DimId {
        let text = self.out.program.dims[like].clone();
        self.out.program.dims.push(text);
        self.out.polys.push(poly)
    }

    /// Returns a polynomial with the values of the variables put in; `None` if it mentions none.
    fn put_in(&self, poly: &Poly) -> Option<Poly> {
        let mentions = |variable: &Poly| {
            variable.terms().next().is_some_and(|(symbol, _)| {
                poly.terms().any(|(product, _)| product.iter().any(|id| symbol.contains(id)))
            })
        };
        if !self.turns.iter().any(|(variable, _)| mentions(variable)) {
            return None;
        }
        in_turn(poly, &self.turns)
    }

    fn each(&mut self, each: &Loop) {
        let Turns::Range(lo, hi) = each.turns else {
            // Which elements there are is known when the graph is built: one turn stands for all.
            let (region, outer) = (self.open(), self.buffers.clone());
            self.items(&each.body);
            self.out.regions.close(region, self.next(), Vec::new(), self.renamed(&outer));
            return;
        };
        let variable = self.shape.variables[each.variable].clone();
        let bound = |sampler: &Self, dim: DimId| {
            let poly = &sampler.source.polys[dim];
            sampler.put_in(poly).unwrap_or_else(|| poly.clone())
        };
        let (lo, hi) = (bound(self, lo), bound(self, hi));
        let outer = self.buffers.clone();
        let mut region = if self.runs(&lo, &hi) { None } else { Some(self.open()) };
        let second = lo.plus(&Poly::constant(1));
        for value in [Some(lo.clone()), second].into_iter().flatten() {
            if value != lo && region.is_none() {
                region = Some(self.open());
            }
            self.turns.push((variable.clone(), value));
            self.items(&each.body);
            self.turns.pop();
        }
        let region = region.unwrap_or_else(|| self.open());
        let written = self.written_by_all(&each.body, &variable, (&lo, &hi), &outer);
        self.out.regions.close(region, self.next(), written, self.renamed(&outer));
    }

    /// Returns true if a loop from `lo` to `hi` has a turn, because of literal bounds or because an argument would have no
    /// elements otherwise: no length is 0.
    fn runs(&self, lo: &Poly, hi: &Poly) -> bool {
        let Some(turns) = hi.minus(lo) else { return false };
        if let Some(count) = turns.as_constant() {
            return count > 0;
        }
        let at_least = self.shape.structure.at_least.iter();
        let mut known = at_least.filter_map(|(_, dim, least)| {
            let above = turns.minus(&self.source.polys[*dim])?.as_constant()?;
            above.checked_add(i128::from(*least))
        });
        if known.any(|fewest| fewest > 0) {
            return true;
        }
        let mut terms = turns.terms();
        let (Some((factors, 1)), None) = (terms.next(), terms.next()) else { return false };
        let lengths =
            self.source.program.buffers.iter().filter(|buffer| !matches!(buffer.origin, Origin::Alloc(_)));
        lengths.map(|buffer| &self.source.polys[buffer.len]).any(|len| {
            let mut terms = len.terms();
            match (terms.next(), terms.next()) {
                (Some((product, _)), None) => factors.iter().all(|factor| product.contains(factor)),
                _ => false,
            }
        })
    }

    /// Returns the buffers that names stand for now and did not before.
    fn renamed(&self, before: &Vector<BufferId, BufferId>) -> Vec<BufferId> {
        self.buffers.iter().zip(before).filter(|(now, before)| now != before).map(|(&now, _)| now).collect()
    }

    fn open(&mut self) -> usize {
        self.out.regions.open(self.next())
    }

    /// Returns the ranges that the turns of a loop write together: those of accesses where turn `i` ends at the begin of turn
    /// `i + 1`.
    fn written_by_all(
        &mut self,
        body: &[Item],
        variable: &Poly,
        (lo, hi): (&Poly, &Poly),
        outer: &Vector<BufferId, BufferId>,
    ) -> Vec<(BufferId, DimId, DimId)> {
        let mut found = Vec::new();
        for item in body {
            let statement = match item {
                Item::Statement(statement) => &self.source.program.statements[*statement],
                Item::Loop(_) | Item::Choice(_) | Item::Rename { .. } | Item::Swap(..) | Item::Needs(_) => {
                    continue;
                }
            };
            for access in statement
                .accesses
                .iter()
                .filter(|access| matches!(access.mode, Mode::Write | Mode::ReadWrite))
            {
                let (from, to) = (&self.source.polys[access.lo], &self.source.polys[access.hi]);
                let at = |poly: &Poly, value: &Poly| {
                    let mut turns = self.turns.clone();
                    turns.push((variable.clone(), value.clone()));
                    in_turn(poly, &turns)
                };
                let next = variable.plus(&Poly::constant(1));
                let joined = next.and_then(|next| at(from, &next)).zip(at(to, variable));
                if joined.is_none_or(|(begin, end)| begin != end) {
                    continue;
                }
                if let (Some(first), Some(end)) = (at(from, lo), at(from, hi)) {
                    let (first, end) = (self.push(first, access.lo), self.push(end, access.hi));
                    found.push((outer[access.buffer], first, end));
                }
            }
        }
        found
    }

    fn choice(&mut self, number: u32, arms: &[Vec<Item>]) {
        let Condition { compares, total } = &self.shape.conditions[size(number)];
        let known = compares.as_ref().and_then(|(left, right, equal)| {
            let left = self.put_in(left).unwrap_or_else(|| left.clone());
            let right = self.put_in(right).unwrap_or_else(|| right.clone());
            Some((left.minus(&right)?.as_constant()? == 0) == *equal)
        });
        match known {
            Some(true) => {
                if let Some(arm) = arms.first() {
                    self.items(arm);
                }
            }
            // With one condition, the second arm is the other one.
            Some(false) if arms.len() <= 2 => {
                if let Some(arm) = arms.get(1) {
                    self.items(arm);
                }
            }
            Some(false) | None => {
                let choice = self.out.regions.choice();
                for (number, arm) in (0..).zip(arms) {
                    let completes = *total && size(number) + 1 == arms.len();
                    let region = self.open();
                    let before = self.buffers.clone();
                    self.items(arm);
                    self.buffers = before;
                    self.out.regions.close_arm(region, self.next(), Arm { choice, number, completes });
                }
            }
        }
    }
}

/// Returns a polynomial with the values of loop variables put in, innermost last; `None` where a coefficient leaves its type.
fn in_turn(poly: &Poly, turns: &[(Poly, Poly)]) -> Option<Poly> {
    poly.substitute(&|id| {
        let of = Poly::variable(id);
        let value = turns.iter().rev().find(|(variable, _)| *variable == of);
        Some(value.map_or(of, |(_, value)| value.clone()))
    })
}

impl Regions {
    fn open(&mut self, first: StatementId) -> usize {
        self.list.push(Region { first, end: first, written: Vec::new(), renamed: Vec::new(), arm: None });
        self.list.len() - 1
    }

    fn close(
        &mut self,
        region: usize,
        end: StatementId,
        written: Vec<(BufferId, DimId, DimId)>,
        renamed: Vec<BufferId>,
    ) {
        self.list[region].end = end;
        self.list[region].written = written;
        self.list[region].renamed = renamed;
    }

    fn choice(&mut self) -> u32 {
        self.choices += 1;
        self.choices - 1
    }

    fn close_arm(&mut self, region: usize, end: StatementId, arm: Arm) {
        self.list[region].end = end;
        self.list[region].arm = Some(arm);
    }
}
