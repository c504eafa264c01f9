//! The devices of a graph: checks which statements and memory may be on which device, and enables peer access.
//!
//! [`check_devices`] checks the flat program. [`Peers`] records which devices access each buffer beside the one
//! that has its memory, and opens that memory to them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::index::{Index, Vector, wide};
use cuweave_core::ir::{BufferId, Device, DimId, Grant, Program, StatementId, StatementKind};
use cuweave_core::scopes::Scopes;

use crate::bind::{Operand, OutputSlot};
use crate::cuda::Driver;
use crate::error::{
    DeviceFault, Error, Inaccessible, ManagedFault, MulticastFault, Result, Ungranted, at_attribute,
    at_buffer, at_statement,
};

/// The contexts of a graph's devices, indexed by device.
pub(crate) type Contexts = Vector<Device, Arc<CudaContext>>;

/// Checks that the program declares as many devices as there are contexts, that each conditional body is on the
/// device that decides it, that outputs are memory of the first device, and that the devices of `#[access(..)]` exist.
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
    if let Some(grant) = program.grants.iter().find(|grant| grant.device.index() >= contexts) {
        return Err(not_granted(program, grant, Ungranted::NoDevice { devices: contexts }));
    }
    if contexts == 1 {
        return Ok(());
    }
    let scopes = Scopes::new(program);
    for (id, statement) in program.statements.enumerate().filter(|_| !scopes.is_empty()) {
        let Some(scope) = scopes.around(id) else { continue };
        let decides = program.statements[scopes.list[scope].condition].device;
        // Alloc and free nodes are outside of bodies, and their memory may be a peer's.
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

/// For each buffer, the devices that access it beside the one that has its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peers {
    of: BTreeMap<BufferId, BTreeSet<Device>>,
    /// The copies that run in the context of another device than their statement's.
    context_overrides: BTreeMap<StatementId, Device>,
}

impl Peers {
    /// Finds the devices that access buffers of others, and gives them access to the operands.
    ///
    /// Kernels need access to all memory that they use, and so do copies in conditional bodies. Other copies
    /// need none: the driver stages the bytes through the host where peer access is impossible.
    ///
    /// # Errors
    ///
    /// [`Error::Devices`] if a statement uses memory that its device cannot access, or `#[access(..)]` names such a
    /// device.
    pub fn find(
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
        let scopes = Scopes::new(program);
        for (id, statement) in program.statements.enumerate() {
            if statement.kind.is_memory()
                || matches!(statement.kind, StatementKind::Host(()) | StatementKind::Join(_))
            {
                continue;
            }
            // The device of a conditional body makes the body's copies, so it must be able to access both
            // sides.
            let copies = matches!(statement.kind, StatementKind::Copy(())) && scopes.around(id).is_none();
            let own = &contexts[statement.device];
            let closed = statement.accesses.iter().filter_map(|access| operands.get(access.buffer.index()));
            let closed =
                closed.filter(|operand| copies && is_closed(operand, own)).find_map(|operand| operand.device);
            if let Some(device) = closed.filter(|&device| device != statement.device) {
                peers.context_overrides.insert(id, device);
            }
            let device = closed.unwrap_or(statement.device);
            for access in statement.kind.own_accesses(&statement.accesses) {
                let operand = operands.get(access.buffer.index());
                // All devices can access managed memory. Its users are recorded for setters that bind other
                // memory.
                if !copies && operand.is_some_and(|operand| operand.managed_state().is_some()) {
                    peers.of.entry(access.buffer).or_default().insert(device);
                    continue;
                }
                if let Some(operand) = operand.filter(|operand| operand.is_mapping()) {
                    check_mapped(program, contexts, id, operand, device)?;
                    peers.of.entry(access.buffer).or_default().insert(device);
                    continue;
                }
                let closed_here = operand.is_some_and(|operand| is_closed(operand, &contexts[device]));
                if copies && closed_here && operand.is_some_and(|operand| operand.device == closed) {
                    continue;
                }
                let Some(memory) = memory_device(program, access.buffer, operands) else { continue };
                if memory == device || *contexts[memory] == *contexts[device] {
                    continue;
                }
                let can = can_access(driver, contexts, device, memory, &mut known)?;
                if copies && closed_here {
                    return Err(no_access(program, id, access.buffer, memory, Inaccessible::NotShared));
                } else if can {
                    peers.of.entry(access.buffer).or_default().insert(device);
                } else if !copies {
                    return Err(no_access(program, id, access.buffer, memory, Inaccessible::NoPeers));
                }
            }
        }
        for grant in program.grants.iter() {
            let Some(memory) = program.device_of(grant.buffer) else { continue };
            if memory == grant.device || *contexts[memory] == *contexts[grant.device] {
                continue;
            }
            if !can_access(driver, contexts, grant.device, memory, &mut known)? {
                return Err(not_granted(program, grant, Ungranted::NoPeers { memory: memory.as_u32() }));
            }
            peers.of.entry(grant.buffer).or_default().insert(grant.device);
        }
        for &buffer in peers.of.keys() {
            if let Some(operand) = operands.get(buffer.index()) {
                peers.enable_access(program, driver, contexts, buffer, operand)?;
            }
        }
        Ok(peers)
    }

    /// Returns true if `device` accesses a buffer that is another device's memory.
    pub fn reaches(&self, buffer: BufferId, device: Device) -> bool {
        self.of.get(&buffer).is_some_and(|devices| devices.contains(&device))
    }

    /// Returns the device whose context the node of a statement uses: the statement's own, or for a copy of
    /// memory that cannot be shared, the device that has the memory.
    pub fn context_device(&self, statement: StatementId, device: Device) -> Device {
        self.context_overrides.get(&statement).copied().unwrap_or(device)
    }

    /// Gives the devices that access a buffer access to its operand.
    pub fn enable_access(
        &self,
        program: &Program,
        driver: &Driver,
        contexts: &Contexts,
        buffer: BufferId,
        operand: &Operand,
    ) -> Result<()> {
        let (Some(devices), Some(memory)) = (self.of.get(&buffer), operand.device) else { return Ok(()) };
        if operand.managed_state().is_some() {
            return Ok(());
        }
        let user = |device: Device| {
            let uses = |statement: &cuweave_core::ir::Statement| {
                let access = statement.accesses.iter().any(|access| access.buffer == buffer);
                access && statement.device == device
            };
            program.statements.position(uses).unwrap_or(StatementId::from_u32(0))
        };
        if operand.is_mapping() {
            let check = |&device| check_mapped(program, contexts, user(device), operand, device);
            return devices.iter().try_for_each(check);
        }
        for &device in devices.iter().filter(|&&device| *contexts[device] != *contexts[memory]) {
            let reason = if !driver.can_access(&contexts[device], &contexts[memory])? {
                Some(Inaccessible::NoPeers)
            } else if let Some(reached) = &operand.reached {
                reached.give_access(&contexts[device])?;
                None
            } else {
                let opened = match output_of(operand) {
                    Some(output) => output.is_accessible_from(contexts[device].cu_device()),
                    None => {
                        driver.enable_peer_access(&contexts[device], &contexts[memory], operand.address)?
                    }
                };
                (!opened).then_some(Inaccessible::NotShared)
            };
            if let Some(reason) = reason {
                return Err(no_access(program, user(device), buffer, memory, reason));
            }
        }
        Ok(())
    }

    /// Returns the driver's handles of the other devices that access any of these buffers.
    pub fn peer_handles(&self, contexts: &Contexts, buffers: &[BufferId]) -> Vec<c_int> {
        let devices: BTreeSet<c_int> = buffers
            .iter()
            .filter_map(|buffer| self.of.get(buffer))
            .flat_map(|devices| devices.iter().map(|&device| contexts[device].cu_device()))
            .collect();
        devices.into_iter().collect()
    }
}

/// Returns the output of another graph that an operand is.
fn output_of(operand: &Operand) -> Option<&OutputSlot> {
    operand.output.as_deref().or(operand.slot.as_deref())
}

/// Returns true if a device has no access to an operand and cannot be given any: it is the output of a graph, whose
/// alloc node has fixed the access.
fn is_closed(operand: &Operand, device: &CudaContext) -> bool {
    output_of(operand).is_some_and(|output| !output.is_accessible_from(device.cu_device()))
}

/// Returns true if a device can access the memory of another one. `known` holds earlier answers.
fn can_access(
    driver: &Driver,
    contexts: &Contexts,
    device: Device,
    memory: Device,
    known: &mut BTreeMap<(Device, Device), bool>,
) -> Result<bool> {
    if let Some(&can) = known.get(&(device, memory)) {
        return Ok(can);
    }
    let can = driver.can_access(&contexts[device], &contexts[memory])?;
    known.insert((device, memory), can);
    Ok(can)
}

fn not_granted(program: &Program, grant: &Grant, reason: Ungranted) -> Error {
    let (at, device) = (*at_buffer(program, grant.buffer), grant.device.as_u32());
    fault(DeviceFault::Access { at, device, reason })
}

/// Checks that a mapped multicast object has the device of a statement that uses it.
fn check_mapped(
    program: &Program,
    contexts: &Contexts,
    statement: StatementId,
    operand: &Operand,
    device: Device,
) -> Result<()> {
    match operand.reached.as_ref().and_then(|reached| reached.object()) {
        Some(object) if !object.has_device(&contexts[device]) => {
            let fault = MulticastFault::NotInTeam { device: contexts[device].ordinal() };
            Err(Error::MulticastArgument { at: at_statement(program, statement), fault })
        }
        _ => Ok(()),
    }
}

/// Returns the device that has the memory of a buffer. `None` for host memory.
pub(crate) fn memory_device(program: &Program, buffer: BufferId, operands: &[Operand]) -> Option<Device> {
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

/// Checks that new operands of the buffers from `first` on were allocated for the same device as the old ones,
/// if one of the two is managed memory and a copy or a fill uses it.
///
/// The driver does not let an update change the context of copy and fill nodes. Launches accept any managed
/// memory, since all devices can access it.
pub(crate) fn check_allocated(
    program: &Program,
    contexts: &Contexts,
    first: usize,
    new: &[Operand],
    old: &[Operand],
) -> Result<()> {
    let ordinal = |operand: &Operand| match operand.managed_state() {
        Some(managed_state) => Some(managed_state.device),
        None => Some(contexts[operand.device?].ordinal()),
    };
    for (at, (new, old)) in (first..).zip(new.iter().zip(&old[first..])) {
        if [new, old].iter().all(|operand| operand.managed_state().is_none()) {
            continue;
        }
        let (Some(device), Some(built)) = (ordinal(new), ordinal(old)) else { continue };
        let buffer = BufferId::new(at);
        let keeps = |statement: &cuweave_core::ir::Statement| {
            matches!(statement.kind, StatementKind::Copy(()) | StatementKind::Fill(_))
                && statement.accesses.iter().any(|access| access.buffer == buffer)
        };
        if device != built && program.statements.iter().any(keeps) {
            let fault = ManagedFault::OfOtherDevice { device, built };
            return Err(Error::ManagedArgument { at: at_buffer(program, buffer), fault });
        }
    }
    Ok(())
}

/// Checks that new operands of the buffers from `first` on are memory of the same devices as the old ones.
/// Managed memory is exempt: all devices can access it.
pub(crate) fn check_same_devices(
    program: &Program,
    first: usize,
    new: &[Operand],
    old: &[Operand],
) -> Result<()> {
    for (at, (new, old)) in (first..).zip(new.iter().zip(&old[first..])) {
        if let (Some(device), Some(built)) = (new.device, old.device)
            && device != built
            && [new, old].iter().any(|operand| operand.managed_state().is_none())
        {
            let at = *at_buffer(program, BufferId::new(at));
            let (built, device) = (built.as_u32(), device.as_u32());
            return Err(fault(DeviceFault::Moved { at, built, device }));
        }
    }
    Ok(())
}
