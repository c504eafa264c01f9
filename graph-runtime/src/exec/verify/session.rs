//! The state of a verification: the exec, its statements as written as a second graph, and what is compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use cudarc::driver::CudaStream;
use cuweave_core::ir::{BufferId, Device, Origin};

use crate::bind::HandedOutput;
use crate::build::{Body, DuplicateForm, DuplicateGraph, memory_device};
use crate::cuda::{Failure, RawExec, Stream};
use crate::error::Result;
use crate::exec::core::Core;

use super::comparison::{Compared, Comparison, Runs, Verified};
use super::memory::{DeviceStreams, MemoryRange, SavedMemory, Step, union};

/// A verification.
pub(crate) struct Session<'v, 't> {
    pub core: &'v mut Core,
    body: &'v dyn Body,
    stream: &'v Arc<CudaStream>,
    taken: &'v mut [&'t mut dyn HandedOutput],
    /// The statements as written.
    pub written: DuplicateGraph,
}

impl<'v, 't> Session<'v, 't> {
    pub fn new(
        core: &'v mut Core,
        body: &'v dyn Body,
        stream: &'v Arc<CudaStream>,
        taken: &'v mut [&'t mut dyn HandedOutput],
    ) -> Result<Session<'v, 't>> {
        let written = duplicate(core, body, DuplicateForm::AsWritten)?;
        Ok(Session { core, body, stream, taken, written })
    }

    /// Builds a duplicate of the exec's graph.
    pub fn duplicate(&mut self, form: DuplicateForm<'_>) -> Result<DuplicateGraph> {
        duplicate(self.core, self.body, form)
    }

    /// Compares the exec, or `other` instead of it, with the statements as written.
    pub fn compare(&mut self, other: Option<&mut DuplicateGraph>) -> Step<Comparison> {
        let Session { core, stream, written, .. } = self;
        let raw = Stream::from_cudarc(stream);
        if other.is_none() {
            // Maps the memory of the exec before memory is taken for copies.
            core.upload(stream)?;
        }
        let list = compared(core, written, other.as_deref());
        let outputs = outputs(core);
        let verified = match other {
            Some(other) => Verified::Duplicate(other),
            None => Verified::Exec { exec: None, outputs: &outputs, allocated: false },
        };
        self.run(raw, &list, verified)
    }

    /// Compares an exec that works on the memory of the statements as written with these.
    pub fn compare_lifted(&mut self, exec: RawExec) -> Step<Comparison> {
        let list = compared(self.core, &self.written, Some(&self.written));
        let raw = Stream::from_cudarc(self.stream);
        self.run(raw, &list, Verified::Exec { exec: Some(exec), outputs: &[], allocated: false })
    }

    fn run(&mut self, raw: Stream, list: &[Compared], verified: Verified<'_>) -> Step<Comparison> {
        let Session { core, stream, taken, written, .. } = self;
        let ranges = saved_ranges(core, list);
        let streams = DeviceStreams::new(&core.definition, raw)?;
        let saved = SavedMemory::allocate(&core.definition, &streams, &ranges)?;
        // A discard would destroy bytes that must be restored.
        let prologues = std::mem::take(&mut core.operands.prologues);
        let mut compared = None;
        let launched = core.launch_by(stream, taken, |driver, exec, stream| {
            let streams = &streams;
            let runs = Runs { driver, exec, stream, streams, saved, list, written, verified };
            compared = Some(runs.compare());
            // Nothing is in flight any more, so there is no launch to record.
            Err(Failure::not_permitted("cuGraphLaunch"))
        });
        core.operands.prologues = prologues;
        compared.unwrap_or_else(|| launched.map(|()| Comparison::default()).map_err(Into::into))
    }
}

fn duplicate(core: &mut Core, body: &dyn Body, form: DuplicateForm<'_>) -> Result<DuplicateGraph> {
    let operands: Vec<u64> = core.operands.list.iter().map(|operand| operand.address).collect();
    let made = DuplicateGraph::new(&core.built, &mut core.definition, body, &operands, form);
    // The user's expressions and a drop of the duplicate may have changed the current context.
    core.definition.driver.enter(core.definition.context)?;
    made
}

/// Returns the addresses of the outputs that each launch of the exec allocates.
fn outputs(core: &Core) -> Vec<u64> {
    let program = core.definition.program();
    let allocated =
        program.outputs.iter().filter(|&&output| matches!(program.buffers[output].origin, Origin::Alloc(_)));
    allocated.map(|&output| core.built.state.bases[output]).collect()
}

/// Returns what is compared: the outputs, and the ranges of operands that the graph may write.
fn compared(core: &Core, written: &DuplicateGraph, other: Option<&DuplicateGraph>) -> Vec<Compared> {
    let definition = &core.definition;
    let program = definition.program();
    let mut accessed: BTreeMap<BufferId, Vec<MemoryRange>> = BTreeMap::new();
    for access in program.statements.iter().flat_map(|statement| statement.accesses.iter()) {
        let declared = &program.buffers[access.buffer];
        if !access.mode.writes() || matches!(declared.origin, Origin::Alloc(_)) {
            continue;
        }
        let element = u64::from(declared.element);
        let (lo, hi) = (definition.dims[access.lo], definition.dims[access.hi]);
        let address = core.built.state.bases[access.buffer] + lo * element;
        let device = memory_device(program, access.buffer, &core.operands.list);
        let range = MemoryRange { address, bytes: hi.saturating_sub(lo) * element, device };
        accessed.entry(access.buffer).or_default().push(range);
    }
    for &output in program.outputs.iter() {
        let declared = &program.buffers[output];
        if matches!(declared.origin, Origin::Alloc(_)) {
            let bytes = definition.dims[declared.len] * u64::from(declared.element);
            let device = Some(program.device_of(output).unwrap_or(Device::FIRST));
            let address = core.built.state.bases[output];
            accessed.insert(output, vec![MemoryRange { address, bytes, device }]);
        }
    }
    let mut list = Vec::new();
    for (buffer, ranges) in accessed {
        let base = core.built.state.bases[buffer];
        for range in union(ranges) {
            let offset = range.address - base;
            let in_graph = |graph: &DuplicateGraph| graph.address(buffer) + offset;
            let verified = MemoryRange { address: other.map_or(range.address, in_graph), ..range };
            let element = u64::from(program.buffers[buffer].element);
            list.push(Compared { buffer, offset, element, verified, written: in_graph(written) });
        }
    }
    list
}

/// Returns the memory to restore after each run: the operands that the graph may write, and the records of loops.
fn saved_ranges(core: &Core, list: &[Compared]) -> Vec<MemoryRange> {
    let program = core.definition.program();
    let operands = list
        .iter()
        .filter(|compared| !matches!(program.buffers[compared.buffer].origin, Origin::Alloc(_)))
        .map(|compared| compared.verified);
    let counted = &core.built.state.counted;
    let records = counted.last_of_devices().into_iter().filter_map(|(device, (_, bytes))| {
        let &address = counted.addresses.get(&device)?;
        Some(MemoryRange { address, bytes, device: Some(device) })
    });
    union(operands.chain(records).collect())
}
