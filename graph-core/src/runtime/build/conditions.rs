//! The conditional nodes of a graph: their handles, the kernels that set these, and the graphs of the bodies.
//!
//! An arm is an IF node of its own, as every driver since 12.4 has it: nodes with two bodies are faulty before 13.0, and SWITCH nodes
//! came with 12.8. The kernels that set the conditions of all arms run before the first one, so no arm sees what another wrote.

use crate::condition::{Condition, Word as Keyword};
use crate::ir::StatementId;
use crate::operation::{Operation, OperationId};
use crate::scopes::{Scope, ScopeId};

use crate::runtime::cuda::{Launching, Node, Values, Word};
use crate::runtime::error::{Error, Result, at_statement};
use crate::runtime::kernels::{HUB, SET_CONDITION};

use super::bodies::Bodies;
use super::capture::Captured;
use super::definition::Definition;
use super::nodes::Nodes;

impl Nodes {
    /// Adds the kernels that set the conditions of a statement, if this is its first arm, and the conditional node of the arm.
    pub(super) fn begin_body(
        &mut self,
        definition: &mut Definition,
        bodies: &mut Bodies,
        operation: &Operation,
        after: &[Node],
    ) -> Result<Captured> {
        let statement = operation.sources[0];
        let missing = || Error::Plan(format!("`{}` has no body", operation.name));
        let (first, scope) = bodies.scope_of(statement).ok_or_else(missing)?;
        let scope = scope.clone();
        let (driver, context) = (definition.driver, definition.context);
        let at = self.at(definition.program(), operation);
        let failed = |failure| Error::driver(failure, Some(at.clone()));
        let mut setters = Vec::new();
        if scope.first == first {
            let arms: Vec<Scope> = bodies.scopes.arms(first).cloned().collect();
            for arm in arms {
                let handle = driver.create_condition(self.into, context).map_err(failed)?;
                bodies.handles.insert(arm.condition, handle);
                setters.push(self.set_condition(definition, statement, (handle, &arm.body, true), after)?);
            }
        }
        let handle = *bodies.handles.get(&statement).ok_or_else(missing)?;
        let before = if setters.is_empty() { after } else { setters.as_slice() };
        let repeats = scope.body.word == Keyword::While;
        let (node, graph) =
            driver.add_condition(self.into, before, handle, repeats, context).map_err(failed)?;
        bodies.graphs.insert(statement, graph);
        setters.push(node);
        Ok(Captured { frontier: vec![node], nodes: setters, ends_in_kernel: false })
    }

    /// Adds the last nodes of a body: a no-op kernel to an empty one, and to the body of a loop the kernel that sets its condition
    /// again. The successors of the body depend on its conditional node.
    pub(super) fn end_body(
        &mut self,
        definition: &mut Definition,
        bodies: &Bodies,
        operation: &Operation,
        after: &[Node],
    ) -> Result<Captured> {
        let statement = operation.sources[0];
        let missing = || Error::Plan(format!("`{}` ends no body", operation.name));
        let scope = bodies.ended_by(statement).ok_or_else(missing)?;
        let begin = self.operations.of_statement[scope.condition].ok_or_else(missing)?;
        let node = self.nodes[begin];
        let body = bodies.graphs.get(&scope.condition).copied().ok_or_else(missing)?;
        let outside = std::mem::replace(&mut self.into, body);
        let mut nodes = Vec::new();
        if scope.body.word == Keyword::While {
            let handle = *bodies.handles.get(&scope.condition).ok_or_else(missing)?;
            nodes.push(self.set_condition(definition, statement, (handle, &scope.body, false), after)?);
        } else if !bodies.filled.contains(&scope.condition) {
            let at = self.at(definition.program(), operation);
            let function = definition.modules.function(&HUB)?.function;
            let launch = Launching { function, grid: [1; 3], block: [1; 3], shared: 0 };
            let none = Values { words: &[], params: HUB.params };
            let added = definition.driver.add_kernel(self.into, after, &launch, none, &mut self.scratch);
            nodes.push(added.map_err(|failure| Error::driver(failure, Some(at)))?);
        }
        self.into = outside;
        Ok(Captured { frontier: vec![node], nodes, ends_in_kernel: false })
    }

    /// Adds a kernel that sets a condition to the graph that is added to. The statement accesses the operand and the counter.
    fn set_condition(
        &mut self,
        definition: &mut Definition,
        statement: StatementId,
        (handle, body, begins): (u64, &Condition, bool),
        after: &[Node],
    ) -> Result<Node> {
        let function = definition.modules.function(&SET_CONDITION)?.function;
        let program = definition.program();
        let emission = self.emission(&definition.flat, &definition.dims);
        let own =
            program.statements[statement].kind.own_accesses(&program.statements[statement].accesses).len();
        let address = |index: usize| if index < own { emission.range_of(statement, index).0 } else { 0 };
        let addresses = [handle, address(0), address(1)];
        let mut words: Vec<Word> = addresses.into_iter().map(Word::new).collect();
        let numbers = [body.at_most.unwrap_or(0), u32::from(begins), u32::from(body.test.others)];
        words.extend(numbers.iter().chain(&body.test.values).map(|&number| Word::new(number.into())));
        let launch = Launching { function, grid: [1; 3], block: [1; 3], shared: 0 };
        let values = Values { words: &words, params: SET_CONDITION.params };
        let added = definition.driver.add_kernel(self.into, after, &launch, values, &mut self.scratch);
        added.map_err(|failure| Error::driver(failure, Some(at_statement(definition.program(), statement))))
    }

    /// Returns the predecessors of an operation that stand in its body: no edge crosses the border of a body.
    pub(super) fn within(
        &self,
        bodies: &Bodies,
        before: &[OperationId],
        scope: Option<ScopeId>,
    ) -> Vec<OperationId> {
        let list = &self.operations.list;
        let same = |&&at: &&OperationId| bodies.around(&self.operations, &list[at]) == scope;
        before.iter().filter(same).copied().collect()
    }
}
