//! Chooses the loop iterations to sample, and computes the ranges that all iterations write together.

use std::collections::BTreeSet;

use cuweave_ptx::poly::Poly;

use super::{ChoiceSample, Sampler, mentions, substitute_loops};
use crate::index::{Index, size, wide};
use crate::ir::{Access, BufferId, DimId, Lifetime, Mode, Origin, StatementKind};
use crate::structure::{Item, Loop, LoopRange};

/// The maximum number of copies of a statement due to loops. Deeply nested loops get one iteration.
const MAX_COPIES: usize = 64;

/// A written range of a buffer, in terms of the templates.
#[derive(Clone, Debug)]
struct TemplateRange {
    buffer: BufferId,
    lo: Poly,
    hi: Poly,
    /// A bound whose source text the ends reuse.
    like: DimId,
}

impl TemplateRange {
    /// Returns true if both are the same range when the variables have these values.
    fn is(&self, other: &TemplateRange, values: &[(Poly, Poly)]) -> bool {
        let same = |one: &Poly, other: &Poly| {
            one == other
                || substitute_loops(one, values)
                    .is_some_and(|one| substitute_loops(other, values) == Some(one))
        };
        self.buffer == other.buffer && same(&self.lo, &other.lo) && same(&self.hi, &other.hi)
    }
}

/// A loop over an integer range, with its bounds.
struct RangeLoop<'l> {
    each: &'l Loop,
    variable: Poly,
    lo: Poly,
    hi: Poly,
    /// The number of iterations sampled from the first one on.
    iterations: usize,
    /// True if the last iteration is sampled separately.
    last: bool,
}

impl Sampler<'_> {
    pub(super) fn each(&mut self, each: &Loop) {
        let LoopRange::Range(lo, hi) = each.range else {
            // The elements are unknown before the graph is built: one iteration stands for all.
            let mut join = ChoiceSample::new(self);
            join.arm(self, |_| {});
            join.arm(self, |sampler| sampler.items(&each.body));
            return join.end(self);
        };
        let (lo, hi) = (self.now(&self.source.polys[lo]), self.now(&self.source.polys[hi]));
        if hi
            .minus(&lo)
            .and_then(|iterations| iterations.as_constant())
            .is_some_and(|iterations| iterations <= 0)
        {
            return;
        }
        let variable = self.shape.variables[each.variable].clone();
        let room = MAX_COPIES / self.copies;
        let last = room >= 4 && self.distinguishes_last(&each.body, &variable, &lo, &hi);
        let iterations = if room < 2 { 1 } else { self.period(&each.body).clamp(2, room) };
        let range = RangeLoop { each, variable, lo, hi, iterations, last };
        let copies = self.copies;
        self.copies *= range.iterations + 2 * usize::from(range.last);
        if last {
            self.first_and_last(&range)
        } else {
            self.chain(&range, 0, false)
        }
        self.copies = copies;
        let region = self.open();
        let rows = self.loop_ranges(&range.each.body, &range.variable, &range.lo, &range.hi);
        self.write(region, rows);
        self.close(region);
    }

    /// Samples the iterations from `iteration` on; the loop may end before each. `last` is true if the last iteration
    /// is sampled separately.
    fn chain(&mut self, range: &RangeLoop<'_>, iteration: usize, last: bool) {
        let begun = range.lo.plus(&Poly::constant(i128::from(wide(iteration))));
        let Some(value) = begun.filter(|_| iteration < range.iterations) else { return };
        let more = range.hi.minus(&value).and_then(|left| left.minus(&Poly::constant(1 + i128::from(last))));
        let Some(more) = more else { return };
        let one = |sampler: &mut Self| {
            let assumed = sampler.assumed.len();
            sampler.assumed.push(more.clone());
            sampler.iteration(range, value.clone());
            sampler.chain(range, iteration + 1, last);
            sampler.assumed.truncate(assumed);
        };
        let (always, never) = match more.as_constant() {
            Some(left) => (left >= 0, left < 0),
            None => (iteration == 0 && !last && self.runs(&range.lo, &range.hi), false),
        };
        if never {
            return;
        }
        if always {
            return one(self);
        }
        let mut join = ChoiceSample::new(self);
        join.arm(self, |_| {});
        join.arm(self, one);
        join.end(self);
    }

    fn iteration(&mut self, range: &RangeLoop<'_>, value: Poly) {
        self.iterations.push((range.variable.clone(), value));
        self.views();
        self.items(&range.each.body);
        self.iterations.pop();
    }

    /// Samples a loop whose last iteration differs: no iteration, only the last one, or several.
    fn first_and_last(&mut self, range: &RangeLoop<'_>) {
        let (Some(before), Some(iterations)) =
            (range.hi.minus(&Poly::constant(1)), range.hi.minus(&range.lo))
        else {
            return;
        };
        let beyond = |least: i128| iterations.minus(&Poly::constant(least));
        let mut join = ChoiceSample::new(self);
        if !self.runs(&range.lo, &range.hi) {
            join.arm(self, |_| {});
        }
        let known = iterations.as_constant();
        if known.is_none_or(|iterations| iterations == 1) {
            join.arm(self, |sampler| {
                let assumed = sampler.assumed.len();
                sampler.assumed.extend(beyond(1));
                sampler.assumed.extend(beyond(1).and_then(|more| Poly::constant(0).minus(&more)));
                // The facts do not imply that the range of this iteration is the range of all.
                sampler.before_last(range, &range.lo);
                sampler.iteration(range, range.lo.clone());
                sampler.assumed.truncate(assumed);
            });
        }
        if known.is_none_or(|iterations| iterations > 1) {
            join.arm(self, |sampler| {
                let assumed = sampler.assumed.len();
                sampler.assumed.extend(beyond(2));
                sampler.iteration(range, range.lo.clone());
                sampler.chain(range, 1, true);
                sampler.before_last(range, &before);
                sampler.iteration(range, before.clone());
                sampler.assumed.truncate(assumed);
            });
        }
        join.end(self);
    }

    /// Adds the writes of all iterations before the last one. A buffer whose written range depends on the loop
    /// variable counts as written completely, since an unsampled iteration may have written the rest.
    fn before_last(&mut self, range: &RangeLoop<'_>, before: &Poly) {
        let region = self.open();
        let rows = self.loop_ranges(&range.each.body, &range.variable, &range.lo, before);
        self.write(region, rows);
        let mut moving = BTreeSet::new();
        self.written_in(&range.each.body, &mut |sampler, access| {
            let ends = [&sampler.source.polys[access.lo], &sampler.source.polys[access.hi]];
            if ends.iter().any(|end| mentions(end, &range.variable)) {
                moving.insert(access.buffer);
            }
        });
        for buffer in moving {
            let buffer = self.buffers[buffer];
            let len = self.out.program.buffers[buffer].len;
            let zero = self.push(Poly::constant(0), len);
            self.out.regions.list[region].written.push((buffer, zero, len));
        }
        self.close(region);
    }

    fn written_in(&self, items: &[Item], with: &mut dyn FnMut(&Self, &Access)) {
        for item in items {
            match item {
                Item::Statement(statement) => {
                    let accesses = self.source.program.statements[*statement].accesses.iter();
                    accesses.filter(|access| access.mode.writes()).for_each(|access| with(self, access));
                }
                Item::Loop(each) => self.written_in(&each.body, with),
                Item::Choice(choice) => choice.arms.iter().for_each(|arm| self.written_in(arm, with)),
                Item::Rename { .. } | Item::Swap(..) | Item::Needs(_) => {}
            }
        }
    }

    /// Returns true if a loop from `lo` to `hi` surely has an iteration: by literal bounds, by an enclosing arm, by
    /// `#[at_least(n)]`, or since an argument would be empty otherwise.
    fn runs(&self, lo: &Poly, hi: &Poly) -> bool {
        let Some(iterations) = hi.minus(lo) else { return false };
        if let Some(count) = iterations.as_constant() {
            return count > 0;
        }
        if lo.plus(&Poly::constant(1)).is_some_and(|next| self.facts().at_most(&next, hi)) {
            return true;
        }
        let mut terms = iterations.terms();
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

    /// Returns true if a condition in the body compares the loop variable with its last value.
    fn distinguishes_last(&self, body: &[Item], variable: &Poly, lo: &Poly, hi: &Poly) -> bool {
        if hi.minus(lo).is_none_or(|iterations| iterations.as_constant().is_some()) {
            return false;
        }
        let at_end = |poly: &Poly| {
            let mut iterations = self.iterations.clone();
            iterations.push((variable.clone(), hi.clone()));
            substitute_loops(poly, &iterations).unwrap_or_else(|| poly.clone())
        };
        body.iter().any(|item| match item {
            Item::Loop(each) => self.distinguishes_last(&each.body, variable, lo, hi),
            Item::Choice(choice) => {
                let mut found = false;
                for test in &self.shape.conditions[size(choice.number)].arms {
                    test.comparisons(&mut |left, right| {
                        let sides = left.poly(&at_end).zip(right.poly(&at_end));
                        let mentioned = [left, right].into_iter().any(|side| {
                            side.poly(&Poly::clone).is_some_and(|poly| mentions(&poly, variable))
                        });
                        let difference = sides.and_then(|(left, right)| left.minus(&right));
                        found |= mentioned && difference.is_some_and(|poly| poly.as_constant().is_some());
                    });
                }
                found || choice.arms.iter().any(|arm| self.distinguishes_last(arm, variable, lo, hi))
            }
            Item::Statement(_) | Item::Rename { .. } | Item::Swap(..) | Item::Needs(_) => false,
        })
    }

    /// Returns the number of iterations after which the renamed buffers of a body repeat.
    fn period(&self, body: &[Item]) -> usize {
        let moves = |item: &&Item| matches!(item, Item::Rename { .. } | Item::Swap(..));
        let moves: Vec<&Item> = body.iter().filter(moves).collect();
        if moves.is_empty() {
            return 2;
        }
        let mut names: Vec<BufferId> = moves
            .iter()
            .flat_map(|item| match item {
                Item::Rename { to, from } => [*to, *from],
                Item::Swap(a, b) => [*a, *b],
                _ => [BufferId::new(0); 2],
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        let mut now = names.clone();
        let mut seen = BTreeSet::new();
        while seen.len() < MAX_COPIES && seen.insert(now.clone()) {
            for item in &moves {
                let at = |name: &BufferId| names.binary_search(name).unwrap_or(0);
                match item {
                    Item::Rename { to, from } => now[at(to)] = now[at(from)],
                    Item::Swap(a, b) => now.swap(at(a), at(b)),
                    _ => {}
                }
            }
        }
        seen.len()
    }

    /// Marks ranges as written after a region, even if its statements do not run.
    fn write(&mut self, region: usize, rows: Vec<TemplateRange>) {
        for TemplateRange { buffer, lo, hi, like } in rows {
            let buffer = self.buffers[buffer];
            let (lo, hi) = (self.push(lo, like), self.push(hi, like));
            self.out.regions.list[region].written.push((buffer, lo, hi));
        }
    }

    /// Returns the ranges that the iterations of a loop from `lo` to `hi` write together: ranges that are adjacent
    /// from one iteration to the next.
    fn loop_ranges(&self, body: &[Item], variable: &Poly, lo: &Poly, hi: &Poly) -> Vec<TemplateRange> {
        let mut renamed = BTreeSet::new();
        self.renamed_in(body, &mut renamed);
        let mut rows = self.rows(body, &[(variable.clone(), lo.clone())]);
        rows.retain(|row| !renamed.contains(&row.buffer));
        let rows = rows
            .into_iter()
            .filter_map(|row| union_over_iterations(row, variable, lo, hi, self.runs(lo, hi)));
        let value = |poly: &Poly| substitute_loops(poly, &self.iterations).unwrap_or_else(|| poly.clone());
        rows.map(|row| TemplateRange { lo: value(&row.lo), hi: value(&row.hi), ..row }).collect()
    }

    /// Collects the names that a body rebinds: the names that it renames, and its allocations.
    fn renamed_in(&self, items: &[Item], found: &mut BTreeSet<BufferId>) {
        for item in items {
            match item {
                Item::Statement(id) => {
                    let statement = &self.source.program.statements[*id];
                    if let Some(Lifetime::Begins(&buffer)) = statement.kind.lifetime() {
                        found.insert(buffer);
                    }
                    let results =
                        statement.accesses.iter().filter(|access| self.is_result(access.buffer, *id));
                    found.extend(results.map(|access| access.buffer));
                }
                Item::Loop(each) => self.renamed_in(&each.body, found),
                Item::Choice(choice) => choice.arms.iter().for_each(|arm| self.renamed_in(arm, found)),
                Item::Rename { to, from } => found.extend([*to, *from]),
                Item::Swap(a, b) => found.extend([*a, *b]),
                Item::Needs(_) => {}
            }
        }
    }

    /// Returns the ranges that items write, as functions of the loop variables, and the unions of adjacent ones.
    /// `loops` holds the enclosing loop variables, each with its first value.
    fn rows(&self, items: &[Item], loops: &[(Poly, Poly)]) -> Vec<TemplateRange> {
        let mut rows: Vec<TemplateRange> = Vec::new();
        // Conditional bodies may not run.
        let mut bodies = 0;
        for item in items {
            if let Item::Statement(statement) = item {
                match self.source.program.statements[*statement].kind {
                    StatementKind::Condition(_) => bodies += 1,
                    StatementKind::Join(_) => bodies -= 1,
                    _ => {}
                }
            }
            if bodies > 0 {
                continue;
            }
            match item {
                Item::Statement(statement) => {
                    let accesses = self.source.program.statements[*statement].accesses.iter();
                    let whole = |access: &&Access| access.rows.is_none();
                    let written = accesses
                        .filter(|access| matches!(access.mode, Mode::Write | Mode::ReadWrite))
                        .filter(whole);
                    rows.extend(written.map(|access| TemplateRange {
                        buffer: access.buffer,
                        lo: self.source.polys[access.lo].clone(),
                        hi: self.source.polys[access.hi].clone(),
                        like: access.lo,
                    }));
                }
                Item::Loop(each) => {
                    let LoopRange::Range(lo, hi) = each.range else { continue };
                    let (lo, hi) = (&self.source.polys[lo], &self.source.polys[hi]);
                    let variable = &self.shape.variables[each.variable];
                    let runs = self.runs(lo, hi);
                    let loops = [loops, &[(variable.clone(), lo.clone())]].concat();
                    let inner = self.rows(&each.body, &loops).into_iter();
                    rows.extend(inner.filter_map(|row| union_over_iterations(row, variable, lo, hi, runs)));
                }
                Item::Choice(choice) if self.shape.conditions[size(choice.number)].total => {
                    let condition = &self.shape.conditions[size(choice.number)];
                    let arm = |(at, arm): (usize, &Vec<Item>)| {
                        (self.rows(arm, loops), fixed(condition.implied(at, &Poly::clone), loops))
                    };
                    let arms: Vec<_> = choice.arms.iter().enumerate().map(arm).collect();
                    let in_arm =
                        |row: &TemplateRange, (own, values): &(Vec<TemplateRange>, Vec<(Poly, Poly)>)| {
                            own.iter().any(|other| row.is(other, values))
                        };
                    for row in arms.iter().flat_map(|(own, _)| own) {
                        let known = rows.iter().any(|other| row.is(other, &[]));
                        if !known && arms.iter().all(|arm| in_arm(row, arm)) {
                            rows.push(row.clone());
                        }
                    }
                }
                Item::Choice(_) | Item::Rename { .. } | Item::Swap(..) | Item::Needs(_) => {}
            }
        }
        joined(rows)
    }
}

/// Returns the loop variables that can have only one value if the polynomials are non-negative, each with that
/// value.
fn fixed(not_negative: Vec<Poly>, loops: &[(Poly, Poly)]) -> Vec<(Poly, Poly)> {
    let value = |(variable, first): &(Poly, Poly)| {
        let least = |value: &Poly| {
            value == first || variable.minus(value).is_some_and(|above| not_negative.contains(&above))
        };
        let most = not_negative.iter().filter_map(|below| below.plus(variable));
        let value = most.filter(|value| !mentions(value, variable)).find(least)?;
        Some((variable.clone(), value))
    };
    loops.iter().filter_map(value).collect()
}

/// The maximum number of ranges for which unions are searched.
const MAX_RANGES: usize = 64;

/// Adds the unions of adjacent ranges.
fn joined(mut rows: Vec<TemplateRange>) -> Vec<TemplateRange> {
    let mut at = 0;
    while at < rows.len() && rows.len() < MAX_RANGES {
        for other in 0..at {
            for (first, second) in [(at, other), (other, at)] {
                let (first, second) = (&rows[first], &rows[second]);
                if first.buffer == second.buffer && first.hi == second.lo && first.lo != second.hi {
                    let (lo, hi) = (first.lo.clone(), second.hi.clone());
                    let row = TemplateRange { lo, hi, ..*first };
                    let known = |one: &TemplateRange| {
                        (one.buffer, &one.lo, &one.hi) == (row.buffer, &row.lo, &row.hi)
                    };
                    if !rows.iter().any(known) {
                        rows.push(row);
                    }
                }
            }
        }
        at += 1;
    }
    rows
}

/// Returns the union of the ranges that the iterations write, if it is one range.
fn union_over_iterations(
    row: TemplateRange,
    variable: &Poly,
    lo: &Poly,
    hi: &Poly,
    runs: bool,
) -> Option<TemplateRange> {
    if !mentions(&row.lo, variable) && !mentions(&row.hi, variable) {
        return runs.then_some(row);
    }
    let at = |poly: &Poly, value: &Poly| substitute_loops(poly, &[(variable.clone(), value.clone())]);
    let one = Poly::constant(1);
    let next = variable.plus(&one)?;
    if at(&row.lo, &next)? == row.hi {
        return Some(TemplateRange { lo: at(&row.lo, lo)?, hi: at(&row.lo, hi)?, ..row });
    }
    if at(&row.hi, &next)? == row.lo {
        let last = hi.minus(&one)?;
        return Some(TemplateRange { lo: at(&row.lo, &last)?, hi: at(&row.hi, lo)?, ..row });
    }
    None
}
