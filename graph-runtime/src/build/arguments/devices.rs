//! The devices of a graph: the checks of what may stand on which, and the access of devices to each other's memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::index::{Index, Vector, wide};
use cuweave_core::ir::{BufferId, Device, DimId, Kind, Program, StatementId};
use cuweave_core::scopes::Scopes;

use crate::bind::Operand;
use crate::cuda::Driver;
use crate::error::{
    DeviceFault, Error, Inaccessible, ManagedFault, Result, at_attribute, at_buffer, at_statement,
};

/// The contexts of a graph's devices.
pub(crate) type Contexts = Vector<Device, Arc<CudaContext>>;

/// Checks that a flat program is one for so many devices, that each body is on one, and that what leaves the graph is memory of the
/// first.
pub(crate) fn check_devices(program: &Program, dims: &Vector<DimId, u64>, contexts: usize) -> Result<()> {
    let declared = program.options.devices.map_or(1, |devices| dims[devices]);
    if declared != wide(contexts) {
        let at = *at_attribute(program);
        return Err(fault(DeviceFault::Contexts { at, declared, given: contexts }));
    }
    let beyond = |statement: &&cuweave_core::ir::Statement| statement.device.index() >= contexts;
    if program.statements.iter().any(|statement| beyond(&statement))
        && let Some(at) = program.statements.position(|statement| beyond(&statement))
    {
        let device = u64::from(program.statements[at].device.as_u32());
        let at = *at_statement(program, at);
        return Err(fault(DeviceFault::NoDevice { at, device, devices: Some(contexts) }));
    }
    if contexts == 1 {
        return Ok(());
    }
    let scopes = Scopes::of(program);
    for (id, statement) in program.statements.enumerate().filter(|_| !scopes.is_empty()) {
        let Some(scope) = scopes.around(id) else { continue };
        let decides = program.statements[scopes.list[scope].condition].device;
        // Memory nodes stand outside of bodies, and the memory may be that of a peer.
        if statement.device != decides && !statement.kind.is_memory() {
            let (device, decides) = (statement.device.as_u32(), decides.as_u32());
            return Err(fault(DeviceFault::Body { at: *at_statement(program, id), device, decides }));
        }
    }
    for &output in program.outputs.iter() {
        if let Some(device) = program.device_of(output).filter(|&device| device != Device::FIRST) {
            let at = *at_buffer(program, output);
            return Err(fault(DeviceFault::Output { at, device: device.as_u32() }));
        }
    }
    Ok(())
}

fn fault(fault: DeviceFault) -> Error {
    Error::Devices(Box::new(fault))
}

/// The other devices that access each buffer of the graph, if there are any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peers {
    of: BTreeMap<BufferId, BTreeSet<Device>>,
    /// The devices that make copies in place of those that the statements are on.
    copiers: BTreeMap<StatementId, Device>,
}

impl Peers {
    /// Returns the other devices that access buffers, and gives them access to the operands. Kernels need access to all memory that
    /// they are given, and so do copies in bodies that the device decides about. Other copies do not: the driver moves the bytes through the
    /// host where the devices are no peers.
    ///
    /// # Errors
    ///
    /// A statement that uses memory to which its device can have no access.
    pub fn of(
        program: &Program,
        driver: &Driver,
        contexts: &Contexts,
        operands: &[Operand],
    ) -> Result<Peers> {
        let mut peers = Peers::default();
        if contexts.len() == 1 {
            return Ok(peers);
        }
        let mut known: BTreeMap<(Device, Device), bool> = BTreeMap::new();
        let scopes = Scopes::of(program);
        for (id, statement) in program.statements.enumerate() {
            if statement.kind.is_memory() || matches!(statement.kind, Kind::Host(()) | Kind::Join(_)) {
                continue;
            }
            // Copies in bodies are made by the device of the body: both sides are accessible to it.
            let copies = matches!(statement.kind, Kind::Copy(())) && scopes.around(id).is_none();
            // The driver copies memory that a device has no access to in the context of the device that has it.
            let closed = statement.accesses.iter().filter_map(|access| operands.get(access.buffer.index()));
            let closed =
                closed.filter(|operand| copies && !opens(operand)).find_map(|operand| operand.device);
            if let Some(device) = closed.filter(|&device| device != statement.device) {
                peers.copiers.insert(id, device);
            }
            let device = closed.unwrap_or(statement.device);
            for access in statement.kind.own_accesses(&statement.accesses) {
                let operand = operands.get(access.buffer.index());
                // All devices reach managed memory. Its users are kept for setters that bind other memory.
                if !copies && operand.is_some_and(|operand| operand.unified().is_some()) {
                    peers.of.entry(access.buffer).or_default().insert(device);
                    continue;
                }
                if copies && operand.is_some_and(|operand| !opens(operand) && operand.device == closed) {
                    continue;
                }
                let Some(memory) = memory_of(program, access.buffer, operands) else { continue };
                if memory == device || *contexts[memory] == *contexts[device] {
                    continue;
                }
                let can = match known.get(&(device, memory)) {
                    Some(&can) => can,
                    None => {
                        let can = driver.can_access(&contexts[device], &contexts[memory])?;
                        *known.entry((device, memory)).or_insert(can)
                    }
                };
                if copies && operand.is_some_and(|operand| !opens(operand)) {
                    return Err(no_access(program, id, access.buffer, memory, Inaccessible::NotShared));
                } else if can {
                    peers.of.entry(access.buffer).or_default().insert(device);
                } else if !copies {
                    return Err(no_access(program, id, access.buffer, memory, Inaccessible::NoPeers));
                }
            }
        }
        for &buffer in peers.of.keys() {
            if let Some(operand) = operands.get(buffer.index()) {
                peers.open(program, driver, contexts, buffer, operand)?;
            }
        }
        Ok(peers)
    }

    /// Returns true if a device that has not allocated a buffer of the graph was found to reach it.
    pub fn reaches(&self, buffer: BufferId, device: Device) -> bool {
        self.of.get(&buffer).is_some_and(|devices| devices.contains(&device))
    }

    /// Returns the device whose context the node of a statement has: the device of the statement, or for a copy of memory that no other device
    /// can access the device of that memory.
    pub fn runs(&self, statement: StatementId, device: Device) -> Device {
        self.copiers.get(&statement).copied().unwrap_or(device)
    }

    /// Gives the devices that access a buffer access to the operand that it is bound to.
    pub fn open(
        &self,
        program: &Program,
        driver: &Driver,
        contexts: &Contexts,
        buffer: BufferId,
        operand: &Operand,
    ) -> Result<()> {
        let (Some(devices), Some(memory)) = (self.of.get(&buffer), operand.device) else { return Ok(()) };
        if operand.unified().is_some() {
            return Ok(());
        }
        for &device in devices.iter().filter(|&&device| *contexts[device] != *contexts[memory]) {
            let reason = if !driver.can_access(&contexts[device], &contexts[memory])? {
                Some(Inaccessible::NoPeers)
            } else if !opens(operand)
                || !driver.open_to(&contexts[device], &contexts[memory], operand.address)?
            {
                Some(Inaccessible::NotShared)
            } else {
                None
            };
            if let Some(reason) = reason {
                let uses = |statement: &cuweave_core::ir::Statement| {
                    let access = statement.accesses.iter().any(|access| access.buffer == buffer);
                    access && statement.device == device
                };
                let user = program.statements.position(uses).unwrap_or(StatementId::from_u32(0));
                return Err(no_access(program, user, buffer, memory, reason));
            }
        }
        Ok(())
    }

    /// Returns the other devices that access some of these buffers, as the driver numbers them.
    pub fn others(&self, contexts: &Contexts, buffers: &[BufferId]) -> Vec<c_int> {
        let devices: BTreeSet<c_int> = buffers
            .iter()
            .filter_map(|buffer| self.of.get(buffer))
            .flat_map(|devices| devices.iter().map(|&device| contexts[device].cu_device()))
            .collect();
        devices.into_iter().collect()
    }
}

/// Returns true if other devices can be given access to an operand. That to an output of a graph is the access of its alloc node.
fn opens(operand: &Operand) -> bool {
    operand.output.is_none() && operand.slot.is_none()
}

/// Returns the device that has the memory of a buffer; `None` for memory of the host.
pub(crate) fn memory_of(program: &Program, buffer: BufferId, operands: &[Operand]) -> Option<Device> {
    if program.buffers[buffer].origin.is_pinned() {
        return None;
    }
    program.device_of(buffer).or_else(|| operands.get(buffer.index())?.device)
}

fn no_access(
    program: &Program,
    statement: StatementId,
    buffer: BufferId,
    memory: Device,
    reason: Inaccessible,
) -> Error {
    let device = program.statements[statement].device.as_u32();
    let (at, buffer) = (*at_statement(program, statement), *at_buffer(program, buffer));
    fault(DeviceFault::NoAccess { at, device, buffer, memory: memory.as_u32(), reason })
}

/// Checks that operands that replace those from `first` on were allocated for the same devices where one is managed memory and a copy or a
/// fill uses it: the driver keeps the contexts of such nodes. All devices reach managed memory, so launches may be given any.
pub(crate) fn check_allocated(
    program: &Program,
    contexts: &Contexts,
    first: usize,
    new: &[Operand],
    old: &[Operand],
) -> Result<()> {
    let ordinal = |operand: &Operand| match operand.unified() {
        Some(unified) => Some(unified.device),
        None => Some(contexts[operand.device?].ordinal()),
    };
    for (at, (new, old)) in (first..).zip(new.iter().zip(&old[first..])) {
        if [new, old].iter().all(|operand| operand.unified().is_none()) {
            continue;
        }
        let (Some(device), Some(built)) = (ordinal(new), ordinal(old)) else { continue };
        let buffer = BufferId::new(at);
        let keeps = |statement: &cuweave_core::ir::Statement| {
            matches!(statement.kind, Kind::Copy(()) | Kind::Fill(_))
                && statement.accesses.iter().any(|access| access.buffer == buffer)
        };
        if device != built && program.statements.iter().any(keeps) {
            let fault = ManagedFault::OfOtherDevice { device, built };
            return Err(Error::ManagedArgument { at: at_buffer(program, buffer), fault });
        }
    }
    Ok(())
}

/// Checks that operands that replace those from `first` on are memory of the same devices, but for managed memory, which all devices reach.
pub(crate) fn check_same_devices(
    program: &Program,
    first: usize,
    new: &[Operand],
    old: &[Operand],
) -> Result<()> {
    for (at, (new, old)) in (first..).zip(new.iter().zip(&old[first..])) {
        if let (Some(device), Some(built)) = (new.device, old.device)
            && device != built
            && [new, old].iter().any(|operand| operand.unified().is_none())
        {
            let at = *at_buffer(program, BufferId::new(at));
            let (built, device) = (built.as_u32(), device.as_u32());
            return Err(fault(DeviceFault::Moved { at, built, device }));
        }
    }
    Ok(())
}
