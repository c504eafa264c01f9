//! The scopes of a launch: its graph, and each run of a body of a conditional node.
//!
//! A conditional node needs exclusive access: no unordered node runs concurrently with it. The results of the
//! access checks do not depend on that.

use super::execution::{Execution, ReportResult, StateGuard};
use super::parallel;
use crate::base::config::config;
use crate::base::report::Report;
use crate::base::status::Status;
use crate::memory::READ;
use crate::state::State;
use crate::state::conditions::CONDITION_BYTES;
use crate::state::operation::{Conditional, ConditionalKind};
use crate::state::scopes::ConditionalNode;

/// The first CUDA version whose drivers run empty bodies correctly.
const EMPTY_BODIES_SINCE: (u32, u32) = (12, 8);
/// The first CUDA version whose drivers run child graphs in an `IF` node with two bodies correctly.
const CHILD_IN_TWO_BODIES_SINCE: (u32, u32) = (13, 0);

impl Execution<'_> {
    /// Runs the nodes of a scope.
    pub(super) fn scope(&mut self, state: StateGuard, scope: usize) -> (StateGuard, ReportResult) {
        let plan = self.run.plan(scope, self.bodies);
        match self.run.parallel {
            true => parallel::execute(state, self, &plan),
            false => self.in_order(state, &plan),
        }
    }

    /// Runs a conditional node, given by its entry.
    pub(super) fn conditional(
        &mut self,
        state: StateGuard,
        at: usize,
        node: &Conditional,
    ) -> (StateGuard, ReportResult) {
        self.end(at, true);
        match node.kind {
            ConditionalKind::While => self.run_loop(state, at, node),
            ConditionalKind::If | ConditionalKind::Switch => match self.choose_body(&state, at, at, node) {
                Ok(Some(body)) => self.run_body(state, at, body),
                Ok(None) => (state, Ok(())),
                Err(report) => (state, Err(report)),
            },
        }
    }

    /// Runs the iterations of a loop.
    fn run_loop(
        &mut self,
        mut state: StateGuard,
        at: usize,
        node: &Conditional,
    ) -> (StateGuard, ReportResult) {
        let mut tested_by = at;
        if self.checked {
            self.checker.begin_loop();
        }
        let result = loop {
            let body = match self.choose_body(&state, at, tested_by, node) {
                Ok(Some(body)) => body,
                Ok(None) => break Ok(()),
                Err(report) => break Err(report),
            };
            if self.checked && tested_by != at {
                self.checker.end_iteration(at);
            }
            if self.iterations == config().max_iterations {
                break Err(self.iteration_limit_report(at));
            }
            self.iterations += 1;
            let ran;
            (state, ran) = self.run_body(state, at, body);
            if ran.is_err() {
                break ran;
            }
            tested_by = ConditionalNode::exit(at);
        };
        if self.checked {
            self.checker.end_iteration(at);
            self.checker.end_loop();
        }
        (state, result)
    }

    /// Tests the condition of a node and returns the scope of the body to run. The access to the condition is
    /// attributed to the node `by`.
    fn choose_body(
        &mut self,
        state: &State,
        at: usize,
        by: usize,
        node: &Conditional,
    ) -> Result<Option<usize>, Report> {
        if self.checked && by != at {
            self.checker.start(by);
            self.checker.record_wait(by);
        }
        self.check(state, by, &vec![(node.handle, node.handle + CONDITION_BYTES, READ)], None);
        let run = self.run;
        let (value, set) = run.conditions.get(node.handle).map_or((0, false), |condition| condition.get());
        if !set && config().initialised {
            let text = format!(
                "node {} tests its condition, which this launch has not set: its handle has no default value, and no \
                 kernel before has set it",
                run.names[at]
            );
            return Err(self.report("uninitialised-read", Status::LAUNCH_FAILED, at, text));
        }
        let bodies = &run.shape.scopes.conditionals[&at].bodies;
        let body = node.kind.choose(value, bodies.len()).map(|body| bodies[body]);
        body.map_or(Ok(()), |body| self.check_body_support(at, body, node))?;
        Ok(body)
    }

    fn run_body(&mut self, state: StateGuard, at: usize, scope: usize) -> (StateGuard, ReportResult) {
        debug_assert_eq!(self.run.shape.scopes.list[scope].parent.map(|parent| parent.entry), Some(at));
        self.bodies += 1;
        if self.checked {
            self.checker.begin_body(scope);
        }
        self.scope(state, scope)
    }

    /// Refuses bodies that drivers of the simulated version run incorrectly.
    fn check_body_support(&self, at: usize, scope: usize, node: &Conditional) -> Result<(), Report> {
        let (run, version) = (self.run, config().version);
        let name = &run.names[at];
        let shape = &run.shape;
        if version < EMPTY_BODIES_SINCE && shape.scopes.list[scope].nodes.is_empty() {
            let text = format!(
                "node {name} runs a body without nodes, in which drivers before CUDA 12.8 can hang; help: an empty \
                 node, or a kernel that does nothing"
            );
            return Err(self.report("driver-fault", Status::LAUNCH_TIMEOUT, at, text));
        }
        let holds_child = |&body: &usize| {
            let nodes = shape.scopes.list[body].nodes.clone();
            nodes.into_iter().any(|at| shape.children.contains_key(&run.nodes[at].node))
        };
        let two = node.kind == ConditionalKind::If && node.bodies.len() == 2;
        if version < CHILD_IN_TWO_BODIES_SINCE
            && two
            && shape.scopes.conditionals[&at].bodies.iter().any(holds_child)
        {
            let text = format!(
                "node {name} has two bodies and a child graph in one of them, which drivers of CUDA 12.8 and 12.9 move \
                 to the wrong body; help: two conditional nodes with one body each"
            );
            return Err(self.report("driver-fault", Status::LAUNCH_FAILED, at, text));
        }
        Ok(())
    }

    fn iteration_limit_report(&self, at: usize) -> Report {
        let (name, iterations) = (&self.run.names[at], self.iterations);
        let text = format!(
            "node {name} begins an iteration after {iterations} iterations of the launch's loops, and its condition \
             is still not 0; help: `CUWEAVE_SIM_ITERATIONS` sets the limit"
        );
        self.report("iteration-limit", Status::LAUNCH_TIMEOUT, at, text)
    }

    fn report(&self, kind: &'static str, status: Status, at: usize, text: String) -> Report {
        Report { kind, status, nodes: vec![self.run.names[at].clone()], text }
    }
}
