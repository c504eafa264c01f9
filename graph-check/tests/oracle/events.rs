//! The events of a run of the graph and the statements of the program, for one choice of the device's decisions.

use std::collections::{BTreeSet, BinaryHeap, HashMap};

use cuweave_check::certificate::{Certificate, NodeWork, Port, Source, StatementKind};

use super::memory::RunId;
use super::touched::BlockAccess;

/// For each body, its number of runs per run of the body around it.
pub type Decisions = Vec<u64>;

/// Returns up to `most` choices; all of them if there are few.
pub fn decisions(source: &Source, most: usize) -> Vec<Decisions> {
    let mut groups: Vec<Vec<Vec<(usize, u64)>>> = Vec::new();
    let deciding: BTreeSet<usize> = source.bodies.iter().skip(1).map(|body| body.decided_by).collect();
    for decided_by in deciding {
        let arms = source.bodies.iter().enumerate().skip(1).filter(|(_, body)| body.decided_by == decided_by);
        let mut choices = Vec::new();
        for (at, body) in arms {
            match body.repeats {
                true => choices.extend((u64::from(body.exhaustive)..3).map(|turns| vec![(at, turns)])),
                false => choices.push(vec![(at, 1)]),
            }
        }
        let exhaustive =
            source.bodies.iter().skip(1).any(|one| one.decided_by == decided_by && one.exhaustive);
        if !exhaustive {
            choices.push(Vec::new());
        }
        groups.push(choices);
    }
    let count = groups.iter().fold(1usize, |count, choices| count.saturating_mul(choices.len()));
    let pick = |number: usize| {
        let (mut of, mut rest) = (vec![0; source.bodies.len()], number);
        for (at, choices) in groups.iter().enumerate() {
            let choice = if count <= most { rest % choices.len() } else { (number + at) % choices.len() };
            rest /= choices.len();
            choices[choice].iter().for_each(|&(body, turns)| of[body] = turns);
        }
        of
    };
    (0..count.min(most)).map(pick).collect()
}

/// The effect of an event.
#[derive(Clone, Debug)]
pub enum EventKind {
    /// None: a node begins or ends.
    Mark,
    /// One block of a member takes effect.
    Effect {
        run: RunId,
        node: usize,
        position: usize,
        block: usize,
    },
    Alloc(usize),
    Free(usize),
    FreeTaken(usize),
    /// Bodies are decided, in an instance of the body around them.
    Branch(Vec<usize>, usize),
}

#[derive(Clone, Debug)]
pub struct Event {
    pub kind: EventKind,
    pub priority: (usize, usize),
    pub after: Vec<usize>,
    pub then: Vec<usize>,
}

/// The instances of bodies, the runs of statements, and the events.
pub struct Events<'c> {
    certificate: &'c Certificate,
    decided: Decisions,
    /// For each instance, its body and the instance around it.
    pub instances: Vec<(usize, usize)>,
    instance_of: HashMap<(usize, usize, u64), usize>,
    /// The statement and the instance of each run.
    pub runs: Vec<(usize, usize)>,
    run_of: HashMap<(usize, usize), RunId>,
    pub list: Vec<Event>,
    /// The runs in program order, and the position of each.
    pub sequence: Vec<RunId>,
    places: HashMap<RunId, usize>,
}

impl<'c> Events<'c> {
    /// Returns the events. `None` if the graph runs forever.
    pub fn new(
        certificate: &'c Certificate,
        decided: Decisions,
        block_accesses: &[Vec<Vec<Vec<BlockAccess>>>],
    ) -> Option<Self> {
        let mut events = Events {
            certificate,
            decided,
            instances: vec![(0, 0)],
            instance_of: HashMap::new(),
            runs: Vec::new(),
            run_of: HashMap::new(),
            list: Vec::new(),
            sequence: Vec::new(),
            places: HashMap::new(),
        };
        let mut sequence = Vec::new();
        events.program(0, &mut sequence);
        events.places = sequence.iter().enumerate().map(|(place, &run)| (run, place)).collect();
        events.sequence = sequence;
        events.expand(0, block_accesses, 0)?;
        for at in 0..events.list.len() {
            for before in events.list[at].after.clone() {
                events.list[before].then.push(at);
            }
        }
        Some(events)
    }

    fn instance(&mut self, around: usize, body: usize, turn: u64) -> usize {
        let next = self.instances.len();
        let instance = *self.instance_of.entry((around, body, turn)).or_insert(next);
        if instance == next {
            self.instances.push((body, around));
        }
        instance
    }

    fn run(&mut self, statement: usize, instance: usize) -> RunId {
        let next = self.runs.len();
        let run = *self.run_of.entry((statement, instance)).or_insert(next);
        if run == next {
            self.runs.push((statement, instance));
        }
        run
    }

    /// Returns the run of a statement in an instance, if there is one.
    pub fn find(&self, statement: usize, instance: usize) -> Option<RunId> {
        self.run_of.get(&(statement, instance)).copied()
    }

    /// Lists the runs of an instance in program order.
    fn program(&mut self, instance: usize, sequence: &mut Vec<RunId>) {
        let source = &self.certificate.source;
        let body = self.instances[instance].0;
        for (at, statement) in source.statements.iter().enumerate().filter(|(_, one)| one.body == body) {
            let run = self.run(at, instance);
            sequence.push(run);
            if statement.kind != StatementKind::Decision {
                continue;
            }
            for (inner, of) in source.bodies.iter().enumerate().skip(1) {
                if of.decided_by == at && of.parent == body {
                    for turn in 0..self.decided[inner] {
                        let inner = self.instance(instance, inner, turn);
                        self.program(inner, sequence);
                    }
                }
            }
        }
    }

    fn event(&mut self, kind: EventKind, priority: (usize, usize), after: Vec<usize>) -> usize {
        self.list.push(Event { kind, priority, after, then: Vec::new() });
        self.list.len() - 1
    }

    /// Adds the events of an instance of a body. Returns the first and the last.
    fn expand(
        &mut self,
        instance: usize,
        block_accesses: &[Vec<Vec<Vec<BlockAccess>>>],
        depth: usize,
    ) -> Option<(usize, usize)> {
        if depth > 16 {
            return None;
        }
        let plan = &self.certificate.plan;
        let body = self.instances[instance].0;
        let first = self.event(EventKind::Mark, (0, 0), Vec::new());
        // For each node of the body, the events at which it begins, stops waiting, and ends.
        let mut marks: HashMap<usize, [usize; 3]> = HashMap::new();
        for (at, node) in plan.nodes.iter().enumerate().filter(|(_, node)| node.body == body) {
            let order = match &node.work {
                NodeWork::Alloc(_) => 0,
                NodeWork::Free(_) | NodeWork::FreeTaken(..) => usize::MAX,
                NodeWork::Branch(bodies) => {
                    let decided_by =
                        bodies.first().map_or(0, |&one| self.certificate.source.bodies[one].decided_by);
                    self.position(decided_by, instance) + 1
                }
                NodeWork::Run { members, .. } => {
                    members.iter().map(|one| self.position(one.statement, instance)).min().unwrap_or(0)
                }
            };
            let begin = self.event(EventKind::Mark, (order, 0), vec![first]);
            let wait = self.event(EventKind::Mark, (order, 0), vec![begin]);
            let mut last = vec![wait];
            match &node.work {
                &NodeWork::Alloc(block) => {
                    last.push(self.event(EventKind::Alloc(block), (order, 0), vec![wait]))
                }
                &NodeWork::Free(block) => {
                    last.push(self.event(EventKind::Free(block), (order, 0), vec![wait]))
                }
                &NodeWork::FreeTaken(memory, _) => {
                    last.push(self.event(EventKind::FreeTaken(memory), (order, 0), vec![wait]));
                }
                NodeWork::Branch(bodies) => {
                    let decided =
                        self.event(EventKind::Branch(bodies.clone(), instance), (order, 0), vec![wait]);
                    last.push(decided);
                    for &inner in bodies {
                        let mut before = decided;
                        for turn in 0..self.decided[inner] {
                            let inner = self.instance(instance, inner, turn);
                            let (begin, end) = self.expand(inner, block_accesses, depth + 1)?;
                            self.list[begin].after.push(before);
                            before = end;
                        }
                        last.push(before);
                    }
                }
                NodeWork::Run { members, .. } => {
                    // The last event of each lane, in each block.
                    let mut lanes: HashMap<(usize, usize), usize> = HashMap::new();
                    for (position, member) in members.iter().enumerate() {
                        let run = self.run(member.statement, instance);
                        let order = self.position(member.statement, instance);
                        for block in 0..block_accesses[at][position].len() {
                            let before = lanes.get(&(member.lane, block)).copied().unwrap_or(wait);
                            let kind = EventKind::Effect { run, node: at, position, block };
                            let event = self.event(kind, (order, block), vec![before]);
                            lanes.insert((member.lane, block), event);
                        }
                    }
                    last.extend(lanes.values());
                }
            }
            let end = self.event(EventKind::Mark, (order, usize::MAX), last);
            marks.insert(at, [begin, wait, end]);
        }
        for edge in &plan.edges {
            let (Some(&from), Some(&to)) = (marks.get(&edge.from), marks.get(&edge.to)) else { continue };
            match edge.port {
                Port::End => self.list[to[0]].after.push(from[2]),
                Port::Early => {
                    self.list[to[0]].after.push(from[0]);
                    if plan.nodes[edge.to].waits {
                        self.list[to[1]].after.push(from[2]);
                    }
                }
            }
        }
        let mut all: Vec<usize> = marks.values().map(|marks| marks[2]).collect();
        all.push(first);
        let order = all.iter().map(|&at| self.list[at].priority.0).max().unwrap_or(0);
        let last = self.event(EventKind::Mark, (order, usize::MAX), all);
        Some((first, last))
    }

    /// Returns the position of a run in the program, starting at 1.
    fn position(&self, statement: usize, instance: usize) -> usize {
        let run = self.run_of.get(&(statement, instance));
        run.and_then(|run| self.places.get(run)).map_or(0, |place| place + 1)
    }

    /// Returns an order of the events that the graph allows. The predecessors of `target` come first, then
    /// `target`, then the others, as close to program order as possible. `None` if the edges form a cycle.
    pub fn schedule(&self, target: Option<usize>) -> Option<Vec<usize>> {
        let count = self.list.len();
        let mut early = vec![false; count];
        let mut open: Vec<usize> = target.into_iter().collect();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut early[at], true) {
                open.extend(&self.list[at].after);
            }
        }
        let mut missing: Vec<usize> = self.list.iter().map(|event| event.after.len()).collect();
        let key = |at: usize| std::cmp::Reverse((!early[at], self.list[at].priority, at));
        let mut ready: BinaryHeap<_> = (0..count).filter(|&at| missing[at] == 0).map(key).collect();
        let mut order = Vec::with_capacity(count);
        while let Some(std::cmp::Reverse((_, _, at))) = ready.pop() {
            order.push(at);
            for &next in &self.list[at].then {
                missing[next] -= 1;
                if missing[next] == 0 {
                    ready.push(key(next));
                }
            }
        }
        (order.len() == count).then_some(order)
    }

    /// Returns all orders of the events that have effects. `None` if there are more than `most`.
    pub fn all_orders(&self, most: usize) -> Option<Vec<Vec<usize>>> {
        let order = self.schedule(None)?;
        let is_effect = |at: usize| !matches!(self.list[at].kind, EventKind::Mark);
        let effects: Vec<usize> = order.iter().copied().filter(|&at| is_effect(at)).collect();
        if effects.len() > 64 {
            return None;
        }
        let bit: HashMap<usize, u64> = effects.iter().enumerate().map(|(bit, &at)| (at, 1 << bit)).collect();
        let mut before = vec![0u64; self.list.len()];
        for &at in &order {
            let mask = |&one: &usize| before[one] | bit.get(&one).copied().unwrap_or(0);
            before[at] = self.list[at].after.iter().map(mask).fold(0, |all, one| all | one);
        }
        let needs: Vec<u64> = effects.iter().map(|&at| before[at]).collect();
        let (mut found, mut path) = (Vec::new(), Vec::new());
        extend(&effects, &needs, 0, &mut path, &mut found, most).then_some(found)
    }
}

fn extend(
    effects: &[usize],
    needs: &[u64],
    done: u64,
    path: &mut Vec<usize>,
    found: &mut Vec<Vec<usize>>,
    most: usize,
) -> bool {
    if path.len() == effects.len() {
        found.push(path.clone());
        return found.len() <= most;
    }
    for (at, &event) in effects.iter().enumerate() {
        if done & (1 << at) == 0 && needs[at] & !done == 0 {
            path.push(event);
            let more = extend(effects, needs, done | 1 << at, path, found, most);
            path.pop();
            if !more {
                return false;
            }
        }
    }
    true
}
