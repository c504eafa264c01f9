//! The nodes of library calls among the others of a graph.

use std::collections::btree_map::Entry;

use cuweave_core::ir::{Device, Kind, StatementId};
use cuweave_core::operation::{Operation, OperationId, What};
use cuweave_core::table::Parameter;

use crate::build::arguments::body::{Body, enter};
use crate::build::graph::definition::Definition;
use crate::build::graph::nodes::Nodes;
use crate::build::program::flattened::Flattened;
use crate::cuda::{CaptureStream, Collective, Node, Outcome, RawGraph};
use crate::error::{At, CallFault, Error, Result};
use crate::statements::Emission;
use crate::token::Token;

use super::capture::{Capture, Captured};

impl Nodes {
    /// Captures the nodes of a library call. After a failure that spoils the graph, the nodes have none.
    pub(crate) fn capture(
        &mut self,
        definition: &mut Definition,
        body: &dyn Body,
        operation: &Operation,
        after: &[Node],
    ) -> Result<Captured> {
        let statement = operation.sources[0];
        let at = self.at(definition.program(), operation);
        let failed = |failure| Error::driver(failure, Some(at.clone()));
        let device = operation.device;
        definition.driver.enter(definition.context_of(device)).map_err(failed)?;
        let flat = definition.flat.clone();
        let frame = flat.instances[statement].frame;
        let callee = flat.frames[frame].table.clone();
        let memory = memory(&flat, &self.emission(&flat, &definition.dims), statement);
        let in_body = self.body_name(definition, operation);
        let into = self.into;
        let stream = self.capture_stream(definition, device).map_err(failed)?;
        let mut capture = Capture {
            driver: definition.driver,
            context: definition.context_of(device),
            graph: into,
            in_body,
            after,
            stream,
            callee,
            memory,
            captured: None,
            spoiled: false,
            describes: false,
            described: None,
            at,
        };
        let done = enter(body, &flat.frames, frame, &mut |body| body.capture(&mut capture, Token));
        let Capture { captured, spoiled, at, .. } = capture;
        if spoiled {
            self.graph = RawGraph::NONE;
            self.streams.clear();
        }
        let returns = |what: &str| Error::Config {
            at: at.clone(),
            reason: format!("an expression in {what} returns before the call"),
        };
        done.unwrap_or_else(|| Err(returns("an argument of its call")))?;
        captured.ok_or_else(|| returns("it"))
    }

    /// Returns the stream of a device that captures.
    pub(crate) fn capture_stream(
        &mut self,
        definition: &Definition,
        device: Device,
    ) -> Outcome<&mut CaptureStream> {
        Ok(match self.streams.entry(device) {
            Entry::Occupied(stream) => stream.into_mut(),
            Entry::Vacant(none) => {
                let ctx = &definition.contexts[device];
                definition.driver.enter(definition.context_of(device))?;
                none.insert(CaptureStream::new(definition.driver, ctx)?)
            }
        })
    }

    /// Runs the body of a collective, which describes it.
    pub(crate) fn describe(
        &mut self,
        definition: &Definition,
        body: &dyn Body,
        (statement, device, at): (StatementId, Device, Box<At>),
    ) -> Result<Collective> {
        let failed = |failure| Error::driver(failure, Some(at.clone()));
        definition.driver.enter(definition.context_of(device)).map_err(failed)?;
        let flat = definition.flat.clone();
        let frame = flat.instances[statement].frame;
        let memory = memory(&flat, &self.emission(&flat, &definition.dims), statement);
        let graph = self.into;
        let stream = self.capture_stream(definition, device).map_err(failed)?;
        let mut capture = Capture {
            driver: definition.driver,
            context: definition.context_of(device),
            graph,
            in_body: None,
            after: &[],
            stream,
            callee: flat.frames[frame].table.clone(),
            memory,
            captured: None,
            spoiled: false,
            describes: true,
            described: None,
            at: at.clone(),
        };
        let done = enter(body, &flat.frames, frame, &mut |body| body.capture(&mut capture, Token));
        let described = capture.described;
        let returns = || Error::Config {
            at: at.clone(),
            reason: "an expression in an argument of its call returns before the call".to_owned(),
        };
        done.unwrap_or_else(|| Err(returns()))?;
        described.ok_or_else(returns)
    }
}

impl Nodes {
    /// Checks that a graph with library calls has no nodes beside those that were added and those that were found behind the
    /// frontiers of the captures. Bodies of conditional nodes are not looked at.
    pub(crate) fn check_all_captured(&self, definition: &Definition) -> Result<()> {
        let is_condition = |operation: &Operation| {
            matches!(operation.what, What::Statement(Kind::Condition(()) | Kind::Join(())))
        };
        // The calls of a profile's graph, which has clocks between its nodes, are those of a graph that was checked.
        if self.captured.is_empty() || self.stamps.is_some() || self.operations.list.iter().any(is_condition)
        {
            return Ok(());
        }
        let driver = definition.driver;
        let own = |captured: &Captured| captured.nodes.len() - captured.inner;
        let captured = self.captured.values().map(own).sum::<usize>();
        let known = captured + self.nodes.len() - self.captured.len();
        let count = driver.node_count(self.graph)?;
        if count == known {
            return Ok(());
        }
        // An unknown node is blamed on the call that has one of its predecessors, or nodes that depend on the same ones.
        let of_call = |node: &Node| self.captured.iter().find(|(_, captured)| captured.nodes.contains(node));
        let mut blamed = None;
        for node in driver.graph_nodes(self.graph, count)? {
            if of_call(&node).is_some() || self.nodes.iter().any(|&other| other == node) {
                continue;
            }
            for (before, _) in driver.dependencies(node)? {
                let behind = |&&at: &&OperationId| {
                    let mut after = Vec::new();
                    self.operations.list[at].after.iter().for_each(|&before| self.ends(before, &mut after));
                    after.contains(&before)
                };
                let call = of_call(&before).map(|(at, _)| at).or_else(|| self.captured.keys().find(behind));
                blamed = blamed.or(call.copied());
            }
        }
        let blamed = blamed.or_else(|| self.captured.keys().next().copied());
        match blamed {
            Some(call) => {
                let at = self.at(definition.program(), &self.operations.list[call]);
                Err(Error::Call { at, fault: CallFault::Dangling })
            }
            None => Ok(()),
        }
    }
}

/// Returns the address and the length of each buffer and scratch of a library call, in the order of its declaration.
fn memory(flat: &Flattened, emission: &Emission<'_>, statement: StatementId) -> Vec<(u64, u64)> {
    let frame = &flat.frames[flat.instances[statement].frame];
    let declared = &frame.table.program.statements[flat.instances[statement].template].accesses;
    let mut given = 0..;
    declared
        .iter()
        .map(|access| match frame.empty.contains(&access.buffer) {
            true => (0, 0),
            false => given.next().map_or((0, 0), |index| emission.range_of(statement, index)),
        })
        .collect()
}

impl Flattened {
    /// Returns true if a graph of the function has arguments that are host values.
    pub(crate) fn has_host_values(&self) -> bool {
        let outermost = self.frames.iter().next();
        outermost.is_some_and(|frame| {
            frame.table.parameters.iter().any(|parameter| matches!(parameter, Parameter::Host { .. }))
        })
    }

    /// Returns true for a statement whose parameters cannot be changed once they are captured.
    pub(crate) fn is_captured(&self, statement: StatementId) -> bool {
        self.checked.program().statements[statement].kind == Kind::Capture(())
    }
}
