//! Host statements: functions that the host runs on pinned memory during a launch.

use std::sync::Arc;

use cuweave_core::ir::StatementId;

use crate::cuda::{HostCall, Node, Outcome};
use crate::error::{PlanFault, Result, at_statement};
use crate::statements::emission::{AddContext, EmissionContext, Parameters, SetContext};
use crate::statements::host_functions::{HostFunctionId, HostFunctions};

/// The parameters of a host node.
pub(crate) struct HostNode<'n> {
    hosts: &'n HostFunctions,
    statement: StatementId,
    call: Arc<HostCall>,
}

impl HostNode<'_> {
    pub(super) fn new<'n>(
        emission: &EmissionContext<'n>,
        statement: StatementId,
        work: HostFunctionId,
    ) -> Result<HostNode<'n>> {
        let hosts = emission.hosts;
        let accesses = emission.program.statements[statement].accesses.len();
        let buffers = (0..accesses).map(|access| emission.elements_of(statement, access)).collect();
        match hosts.call(work, statement, buffers) {
            Some(call) => Ok(HostNode { hosts, statement, call }),
            None => Err(PlanFault::NoFunction(at_statement(emission.program, statement)).into()),
        }
    }
}

impl Parameters for HostNode<'_> {
    fn add(&self, AddContext { driver, graph, after, .. }: AddContext<'_>) -> Outcome<Node> {
        let node = driver.add_host(graph, after, &self.call)?;
        self.hosts.keep(self.statement, self.call.clone());
        Ok(node)
    }

    fn set(&self, SetContext { driver, exec, node, .. }: SetContext<'_>) -> Outcome<()> {
        // If this fails, one of the nodes may point to the call.
        self.hosts.keep(self.statement, self.call.clone());
        driver.set_host(exec, node, &self.call)
    }
}
