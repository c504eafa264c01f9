//! The graph of a certificate as read back from the driver: nodes, edges, and the values in the nodes.
//!
//! Each node handle of the driver's graph is mapped to its planned node, and the planned values are replaced by
//! the driver's. A node or an edge that was not planned is an error. The values of batched and fused launches are
//! decoded from the table in their node's parameter.

use std::collections::BTreeMap;

use cuweave_check::{Refusal, Rule, certificate as c};
use cuweave_core::index::{low, narrow, size};
use cuweave_core::ir::{StatementId, StatementKind};
use cuweave_core::operation::{ChainId, OperationId, OperationKind};

use crate::cuda::{CopyPitch, KernelNode, Memcpy, Node, RawGraph, pattern};
use crate::error::{Error, Result};
use crate::kernels::{COPY_ROWS, FILL_ROWS, LaunchRecord};
use crate::statements::{StatementRecordExt, batch_of, row_offsets};

use super::CertificateBuilder;
use super::plan::PlanBuilder;
use super::source::Numbering;

/// The driver's node handles, and the index of the node that each becomes in the plan.
type FoundNodes = BTreeMap<Node, usize>;

impl CertificateBuilder<'_> {
    /// Returns the graph with the nodes, edges and values that the driver holds. `planned` is the graph that
    /// was planned.
    ///
    /// # Errors
    ///
    /// A failure of the driver; a node that was not planned.
    pub(super) fn driver_plan(&self, planned: PlanBuilder<'_>) -> Result<c::Plan> {
        let expected = self.expected_nodes(&planned);
        let mut plan = c::Plan { nodes: Vec::new(), edges: Vec::new(), ..planned.plan.clone() };
        let mut found = FoundNodes::new();
        let scopes = &planned.numbering.scopes;
        let graph = |condition: &StatementId| self.built.handle.bodies.get(condition).copied();
        let bodies = scopes.list.enumerate();
        let bodies =
            bodies.filter_map(|(scope, of)| Some((graph(&of.condition)?, Numbering::body(Some(scope)))));
        let graphs: Vec<(RawGraph, usize)> =
            std::iter::once((self.built.handle.graph, 0)).chain(bodies).collect();
        for &(graph, body) in &graphs {
            let count = self.driver(self.definition.driver.node_count(graph))?;
            for handle in self.driver(self.definition.driver.graph_nodes(graph, count))? {
                let node = match expected.get(&handle) {
                    Some(Some(at)) => {
                        let node = planned.plan.nodes[*at].clone();
                        self.with_values(handle, node, planned.operations[*at], &planned, &mut plan.blocks)?
                    }
                    Some(None) => no_members("empty body"),
                    None => self.loop_records_node(handle, planned.numbering)?,
                };
                found.insert(handle, plan.nodes.len());
                plan.nodes.push(c::Node { body, ..node });
            }
        }
        for (&handle, &to) in &found {
            for (before, early) in self.driver(self.definition.driver.dependencies(handle))? {
                let from = found.get(&before).copied();
                let from =
                    from.ok_or_else(|| self.unplanned_error("an edge from a node of another graph"))?;
                plan.edges.push(c::Edge {
                    from,
                    to,
                    port: if early { c::Port::Early } else { c::Port::End },
                });
            }
        }
        let registers = plan.places.iter_mut().filter_map(|place| match &mut place.at {
            c::Storage::Registers(node) => Some(node),
            _ => None,
        });
        for node in registers {
            let handle = self.built.handle.nodes[planned.operations[*node]];
            *node = found
                .get(&handle)
                .copied()
                .ok_or_else(|| self.unplanned_error("no node for a fused launch"))?;
        }
        Ok(plan)
    }

    fn driver<T>(&self, outcome: crate::cuda::Outcome<T>) -> Result<T> {
        outcome.map_err(|failure| Error::driver(failure, None))
    }

    fn unplanned_error(&self, what: &str) -> Error {
        self.refused(Refusal { rule: Rule::Statements, message: format!("the driver's graph has {what}") })
    }

    /// Maps the handles of the added nodes to planned nodes, or to `None` for a node that fills an empty body.
    fn expected_nodes(&self, planned: &PlanBuilder<'_>) -> BTreeMap<Node, Option<usize>> {
        let mut expected = BTreeMap::new();
        for (at, (node, &operation)) in planned.plan.nodes.iter().zip(&planned.operations).enumerate() {
            let handles: &[Node] = match (&node.work, self.built.handle.captured.get(&operation)) {
                (_, None) => std::slice::from_ref(&self.built.handle.nodes[operation]),
                (c::NodeWork::Branch(_), Some(captured)) => &captured.frontier,
                (_, Some(captured)) => match self.built.plan.operations.list[operation].kind {
                    OperationKind::Statement(StatementKind::Capture(())) => &captured.nodes,
                    _ => captured.nodes.get(..1).unwrap_or_default(),
                },
            };
            expected.extend(handles.iter().map(|&handle| (handle, Some(at))));
        }
        for (at, captured) in &self.built.handle.captured {
            if self.built.plan.operations.list[*at].kind == OperationKind::Statement(StatementKind::Join(()))
            {
                for &handle in &captured.nodes {
                    expected.entry(handle).or_insert(None);
                }
            }
        }
        expected
    }

    /// Returns the node of an unplanned handle, which must be a memset of loops' iteration records. It counts
    /// as a part of the outermost statements that contain these loops.
    fn loop_records_node(&self, handle: Node, numbering: &Numbering) -> Result<c::Node> {
        let fill = self
            .definition
            .driver
            .fill_of(handle)
            .map_err(|_| self.unplanned_error("a node that was not planned"))?;
        let end = fill.target.saturating_add(fill.width.saturating_mul(fill.element.into()));
        let counted = &self.built.state.counted;
        let zeroed = (0..counted.list.len()).filter(|&at| {
            let (first, bytes) = counted.records(at..at + 1);
            fill.target <= first && first.saturating_add(bytes) <= end
        });
        let zeroed: Vec<usize> = zeroed.collect();
        let bytes: u64 = zeroed.iter().map(|&at| counted.records(at..at + 1).1).sum();
        let Some(&first) =
            zeroed.first().filter(|_| fill.value == 0 && fill.rows == 1 && bytes == end - fill.target)
        else {
            return Err(self.unplanned_error("a memset that was not planned"));
        };
        let outermost = |&at: &usize| {
            let outermost = numbering.scopes.outermost(counted.list[at].condition);
            outermost.and_then(|(condition, _)| numbering.number_of[condition])
        };
        let mut statements: Vec<usize> = zeroed.iter().filter_map(outermost).collect();
        statements.dedup();
        let members =
            statements.into_iter().map(|statement| c::Member { statement, ..c::Member::default() }).collect();
        let work = c::NodeWork::Run { members, forwards: Vec::new() };
        let device = counted.list[first].device.as_u32();
        Ok(c::Node { name: "records of loops".to_owned(), body: 0, device, waits: false, work })
    }

    /// Returns a planned node with the values that the driver holds for it.
    fn with_values(
        &self,
        handle: Node,
        mut node: c::Node,
        operation: OperationId,
        planned: &PlanBuilder<'_>,
        blocks: &mut [c::Block],
    ) -> Result<c::Node> {
        let driver = self.definition.driver;
        let what = &self.built.plan.operations.list[operation].kind;
        let statements = &planned.numbering.statements;
        match &mut node.work {
            c::NodeWork::Alloc(block) => {
                let (address, bytes) = self.driver(driver.allocated_by(handle))?;
                blocks[*block] = c::Block { address, bytes, node: true };
            }
            c::NodeWork::Free(block) => {
                let address = self.driver(driver.freed_by(handle))?;
                if blocks[*block].address != address {
                    let freed = blocks.iter().position(|block| block.node && block.address == address);
                    *block = freed.ok_or_else(|| self.unplanned_error("a free of other memory"))?;
                }
            }
            c::NodeWork::FreeTaken(_, address) => *address = self.driver(driver.freed_by(handle))?,
            c::NodeWork::Branch(_) => {}
            c::NodeWork::Run { members, .. } => {
                let launches = *what == OperationKind::KERNEL;
                let fills = *what == OperationKind::Statement(StatementKind::Fill(()));
                let copies = *what == OperationKind::Statement(StatementKind::Copy(()));
                let ids: Vec<StatementId> =
                    members.iter().map(|member| statements[member.statement]).collect();
                if ids.iter().any(|id| self.built.state.empty.contains(id)) {
                    // A disabled node keeps the parameters from before.
                    return Ok(node);
                }
                let launch = |id: StatementId| self.built.state.records[id].launch();
                let kernel = ids.first().and_then(|&id| launch(id));
                let (addresses, numbers) = if let Some(record) = kernel.filter(|_| fills || copies) {
                    let sizes: Vec<u32> = record.kernel.params.iter().map(|param| param.size).collect();
                    let values = self.driver(driver.kernel_of(handle, &sizes))?.parameters;
                    let value = |at: usize| values.get(at).map_or(0, |bytes| number_of(bytes));
                    if std::ptr::eq(record.kernel, &COPY_ROWS) {
                        let (rows, bytes) = (value(4), value(3).saturating_mul(value(9)));
                        let of_plane = value(3).saturating_mul(rows);
                        let planes = value(2).checked_div(of_plane).unwrap_or(0);
                        let pitches = [5, 7].map(|at| CopyPitch {
                            bytes: value(at).saturating_mul(value(9)),
                            height: value(at + 1),
                        });
                        let ends = [0, 1]
                            .map(|end| self.end_of(ids[0], end, value(end), [rows, planes], pitches[end]));
                        (ends.concat(), self.pitched_numbers(bytes, rows, planes, &pitches))
                    } else if std::ptr::eq(record.kernel, &FILL_ROWS) {
                        let (width, rows) = (value(3), value(2).checked_div(value(3)).unwrap_or(0));
                        let pitch = CopyPitch { bytes: value(4).saturating_mul(value(5)), height: rows };
                        let bytes = width.saturating_mul(value(5));
                        let mut numbers = self.pitched_numbers(bytes, rows, 1, &[pitch]);
                        numbers.push(value(1));
                        (rows_from(value(0), rows, 1, pitch).collect(), numbers)
                    } else {
                        (vec![value(0)], vec![value(2).saturating_mul(8), value(1)])
                    }
                } else if fills {
                    let fill = self.driver(driver.fill_of(handle))?;
                    let bytes = fill.width.saturating_mul(fill.element.into());
                    let pattern = pattern(fill.value.into(), fill.element);
                    match ids.first().is_some_and(|&id| self.is_pitched(id, 0)) {
                        false if fill.rows == 1 => (vec![fill.target], vec![bytes, pattern]),
                        _ => {
                            let pitch = CopyPitch { bytes: fill.pitch, height: fill.rows };
                            let mut numbers = self.pitched_numbers(bytes, fill.rows, 1, &[pitch]);
                            numbers.push(pattern);
                            (rows_from(fill.target, fill.rows, 1, pitch).collect(), numbers)
                        }
                    }
                } else if copies {
                    let copy = self.driver(driver.copy_of(handle))?;
                    let Memcpy { bytes, rows, planes, pitches, .. } = copy;
                    let ends = [copy.from.address(), copy.to.address()];
                    let pitched = |end: usize| ids.first().is_some_and(|&id| self.is_pitched(id, end));
                    if !pitched(0) && !pitched(1) && rows == 1 && planes == 1 {
                        (ends.to_vec(), vec![bytes])
                    } else {
                        let of_end =
                            |end: usize| self.end_of(ids[0], end, ends[end], [rows, planes], pitches[end]);
                        let numbers = self.pitched_numbers(bytes, rows, planes, &pitches);
                        ([of_end(0), of_end(1)].concat(), numbers)
                    }
                } else {
                    (Vec::new(), Vec::new())
                };
                if fills || copies {
                    for member in members {
                        (member.addresses, member.numbers) = (addresses.clone(), numbers.clone());
                    }
                } else if launches {
                    self.with_parameters(handle, operation, &ids, members)?;
                }
            }
        }
        Ok(node)
    }

    /// Returns the addresses of the rows of one end of a pitched copy, or the first address if that end is no rows.
    fn end_of(
        &self,
        id: StatementId,
        end: usize,
        first: u64,
        [rows, planes]: [u64; 2],
        pitch: CopyPitch,
    ) -> Vec<u64> {
        match self.is_pitched(id, end) {
            true => rows_from(first, rows, planes, pitch).collect(),
            false => vec![first],
        }
    }

    /// Returns true if an access of a statement is pitched.
    fn is_pitched(&self, id: StatementId, access: usize) -> bool {
        let accesses = &self.definition.program().statements[id].accesses;
        accesses.get(access).is_some_and(|access| access.rows.is_some())
    }

    /// Sets the values of launches: from the parameters of a single launch's node, or from the table of a
    /// batched or fused one.
    fn with_parameters(
        &self,
        handle: Node,
        operation: OperationId,
        ids: &[StatementId],
        members: &mut [c::Member],
    ) -> Result<()> {
        let operations = &self.built.plan.operations;
        let of = &operations.list[operation];
        let driver = self.definition.driver;
        let chain: Option<ChainId> = operations.chain_of(of);
        let launch = |id: StatementId| {
            self.built.state.records[id]
                .launch()
                .ok_or_else(|| self.unplanned_error("a kernel for another statement"))
        };
        if chain.is_none() && ids.len() == 1 {
            let record = launch(ids[0])?;
            let sizes: Vec<u32> = record.kernel.params.iter().map(|param| param.size).collect();
            let read = self.driver(driver.kernel_of(handle, &sizes))?;
            if read.kernel_launch.function != record.function {
                return Err(self.unplanned_error("another kernel for a launch"));
            }
            let grid = read.kernel_launch.grid;
            self.set_values(&mut members[0], ids[0], record, &read, grid, &|param| {
                read.parameters.get(param).cloned().unwrap_or_default()
            });
            return Ok(());
        }
        let (bytes, function) = match chain {
            Some(chain) => (self.built.plan.fused[chain].bytes(), self.built.plan.fused[chain].info.function),
            None => {
                let variant = &self.built.plan.batched[batch_of(operations, of)?];
                (variant.table.bytes, variant.info.function)
            }
        };
        let read = self.driver(driver.kernel_of(handle, &[bytes]))?;
        if read.kernel_launch.function != function {
            return Err(self.unplanned_error("another kernel for several launches"));
        }
        let table = read.parameters.first().cloned().unwrap_or_default();
        let slice = |offset: u32, bytes: u32| {
            table.get(size(offset)..size(offset + bytes)).map(<[u8]>::to_vec).unwrap_or_default()
        };
        let mut steps: BTreeMap<usize, usize> = BTreeMap::new();
        for (nth, (member, &id)) in members.iter_mut().zip(ids).enumerate() {
            let step = steps.entry(member.lane).or_default();
            let (lane, part) = (member.lane, std::mem::replace(step, *step + 1));
            let record = launch(id)?;
            let mut grid = record.shape.grid;
            match chain {
                Some(chain) => {
                    let fused = &self.built.plan.fused[chain];
                    if operations.chains[chain].stack.is_none() {
                        grid = read.kernel_launch.grid;
                    }
                    let places = fused.table.parts.get(part).map_or(&[][..], Vec::as_slice);
                    let first = fused.record(lane);
                    self.set_values(member, id, record, &read, grid, &|param| {
                        places
                            .get(param)
                            .map_or_else(Vec::new, |place| slice(first + place.offset, place.size))
                    });
                }
                None => {
                    let table = &self.built.plan.batched[batch_of(operations, of)?].table;
                    let first = table.records + narrow(nth) * table.stride;
                    let number = |axis: u32| table.grid.map(|offset| slice(first + offset + 4 * axis, 4));
                    for (axis, extent) in (0..).zip(&mut grid) {
                        *extent = number(axis).map_or(*extent, |bytes| low(number_of(&bytes)));
                    }
                    self.set_values(member, id, record, &read, grid, &|param| {
                        let place = table.parameters.get(param);
                        place.map_or_else(Vec::new, |place| slice(first + place.offset, place.size))
                    });
                }
            }
        }
        Ok(())
    }

    /// Sets the addresses and numbers of a member. `value` returns the bytes of a parameter of its kernel.
    fn set_values(
        &self,
        member: &mut c::Member,
        id: StatementId,
        record: &LaunchRecord,
        read: &KernelNode,
        grid: [u32; 3],
        value: &dyn Fn(usize) -> Vec<u8>,
    ) {
        let shared = if read.kernel_launch.shared >= record.shape.shared { record.shape.shared } else { 0 };
        let mut numbers: Vec<u64> =
            grid.iter().chain(&read.kernel_launch.block).map(|&extent| extent.into()).collect();
        numbers.push(shared.into());
        let mut given = Vec::new();
        for (at, param) in record.kernel.params.iter().enumerate() {
            let bytes = value(at);
            if !param.is_scalar() {
                given.push(number_of(&bytes));
            } else if param.dense {
                let words = bytes.chunks(8).map(number_of);
                numbers.extend(words.chain(bytes.is_empty().then_some(0)));
            }
        }
        given.extend(self.pointed(id, record));
        (member.numbers, member.addresses) = (numbers, self.by_access(id, member.addresses.len(), &given));
    }
}

/// Returns the addresses of rows.
fn rows_from(first: u64, rows: u64, planes: u64, pitch: CopyPitch) -> impl Iterator<Item = u64> {
    row_offsets(rows, planes, pitch).map(move |offset| first.saturating_add(offset))
}

/// Returns the little-endian number in up to 8 bytes.
fn number_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn no_members(name: &str) -> c::Node {
    let work = c::NodeWork::Run { members: Vec::new(), forwards: Vec::new() };
    c::Node { name: name.to_owned(), body: 0, device: 0, waits: false, work }
}
