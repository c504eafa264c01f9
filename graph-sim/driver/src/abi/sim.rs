//! Functions that only the simulator exports: annotations of nodes and buffers, fault injection, reports and
//! counts.
//!
//! `ANNOTATE.md` documents those for other programs; the crate `cuweave-sim` wraps the rest.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use crate::base::faults;
use crate::base::note::Note;
use crate::base::pointer::{read_argument, read_array, write_result};
use crate::base::registers;
use crate::base::report;
use crate::base::status::{Result, Status};
use crate::base::types::{CUcontext, CUdeviceptr, CUgraph, CUgraphExec, CUgraphNode, CUstream};
use crate::call::{CallKind, enter};
use crate::memory;
use crate::state::graph::Buffer;
use crate::state::members::{MemberLayout, Members, WHOLE_NODE};
use crate::state::operation::Operation;
use crate::state::state;
use crate::stream::enqueue;

/// The nonce of this build. The crate `cuweave-sim` of the same build searches for it in the bytes of the
/// library.
static NONCE: &str = concat!("cuweave-sim nonce ", env!("CUWEAVE_SIM_NONCE"));

/// Returns the nonce as a number. Real drivers do not export this symbol.
#[unsafe(no_mangle)]
pub extern "C" fn cuweaveSimNonce() -> u64 {
    let digits = std::hint::black_box(NONCE).rsplit(' ').next().unwrap_or_default();
    u64::from_str_radix(digits, 16).unwrap_or(0)
}

/// Returns the version of the interface that `ANNOTATE.md` documents.
#[unsafe(no_mangle)]
pub extern "C" fn cuweaveSimAnnotate() -> c_uint {
    6
}

/// Returns 1 if this library was built without optimisation.
#[unsafe(no_mangle)]
pub extern "C" fn cuweaveSimIsSlow() -> c_uint {
    c_uint::from(matches!(env!("CUWEAVE_SIM_OPT_LEVEL"), "0" | "1"))
}

/// A text, by its start and length.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    start: *const c_char,
    bytes: usize,
}

impl Text {
    fn read(self) -> Result<String> {
        let bytes = read_array(self.start.cast::<u8>(), self.bytes)?;
        String::from_utf8(bytes).map_err(|_| Status::INVALID_VALUE)
    }
}

/// `CuweaveSimBuffer` of `ANNOTATE.md`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SimBuffer {
    name: Text,
    file: Text,
    line: c_uint,
    flags: c_uint,
    address: CUdeviceptr,
    bytes: u64,
    users: *const CUgraphNode,
    members: *const c_uint,
    count: usize,
}

/// `CuweaveSimMember` of `ANNOTATE.md`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SimMember {
    name: Text,
    file: Text,
    line: c_uint,
    first: c_uint,
}

/// The maximum number of registers per thread, on every device.
const MAX_REGISTERS: c_uint = 255;

/// Flag of a buffer whose live range is within the graph.
const PLANNED_FLAG: c_uint = 1;

fn note(name: Text, file: Text, line: c_uint) -> Result<Note> {
    Ok(Note { name: name.read()?, file: file.read()?, line })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimNameNode(node: CUgraphNode, name: Text, file: Text, line: c_uint) -> u32 {
    enter("cuweaveSimNameNode", false, CallKind::Basic, &mut || {
        let note = note(name, file, line)?;
        state().definitions.nodes.get_mut(node).ok_or(Status::INVALID_VALUE)?.note = Some(note);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimNameMembers(
    node: CUgraphNode,
    axis: c_uint,
    members: *const SimMember,
    count: usize,
) -> u32 {
    enter("cuweaveSimNameMembers", false, CallKind::Basic, &mut || {
        let told = read_array(members, count)?;
        let layout = match axis {
            0 => MemberLayout::Flat(told.iter().map(|member| member.first).collect()),
            1 | 2 => MemberLayout::Axis(axis as usize),
            _ => return Err(Status::INVALID_VALUE),
        };
        let notes = told.iter().map(|member| note(member.name, member.file, member.line));
        let members = Members { notes: notes.collect::<Result<Vec<_>>>()?, layout };
        let mut state = state();
        let node = state.definitions.nodes.get_mut(node).ok_or(Status::INVALID_VALUE)?;
        let Operation::Kernel(launch) = &node.op else { return Err(Status::INVALID_VALUE) };
        members.blocks(launch.grid).ok_or(Status::INVALID_VALUE)?;
        node.members = Some(Arc::new(members));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimMoveMembers(
    exec: CUgraphExec,
    node: CUgraphNode,
    firsts: *const c_uint,
    count: usize,
) -> u32 {
    enter("cuweaveSimMoveMembers", false, CallKind::Basic, &mut || {
        let firsts = read_array(firsts, count)?;
        let mut state = state();
        let node = state.exec_mut(exec)?.find(node)?;
        let (Operation::Kernel(launch), Some(members)) = (&node.op, &mut node.members) else {
            return Err(Status::INVALID_VALUE);
        };
        let moved = Members { layout: MemberLayout::Flat(firsts), ..Members::clone(members) };
        if matches!(members.layout, MemberLayout::Axis(_)) || moved.blocks(launch.grid).is_none() {
            return Err(Status::INVALID_VALUE);
        }
        *members = Arc::new(moved);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimAddBuffer(graph: CUgraph, buffer: *const SimBuffer) -> u32 {
    enter("cuweaveSimAddBuffer", false, CallKind::Basic, &mut || {
        let buffer = read_argument(buffer)?;
        let nodes = read_array(buffer.users, buffer.count)?;
        let members = match buffer.members.is_null() {
            true => vec![WHOLE_NODE; nodes.len()],
            false => read_array(buffer.members, buffer.count)?,
        };
        let note = note(buffer.name, buffer.file, buffer.line)?;
        let mut state = state();
        for (&user, &member) in nodes.iter().zip(&members) {
            let node = state.definitions.node(user)?;
            let count = node.members.as_ref().map_or(0, |members| members.notes.len());
            if !state.definitions.enclosing_graphs(node.graph).any(|outer| outer == graph)
                || member != WHOLE_NODE && member as usize >= count
            {
                return Err(Status::INVALID_VALUE);
            }
        }
        let users = nodes.into_iter().zip(members).collect();
        buffer.address.checked_add(buffer.bytes).ok_or(Status::INVALID_VALUE)?;
        let planned = buffer.flags & PLANNED_FLAG != 0;
        let (address, bytes) = (buffer.address, buffer.bytes);
        let number = state.id();
        state.definitions.graph_mut(graph)?.buffers.push(Buffer {
            note,
            address,
            bytes,
            planned,
            number,
            users,
        });
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimMoveBuffers(
    exec: CUgraphExec,
    addresses: *const CUdeviceptr,
    count: usize,
) -> u32 {
    enter("cuweaveSimMoveBuffers", false, CallKind::Basic, &mut || {
        let addresses = read_array(addresses, count)?;
        let mut state = state();
        let shape = &mut state.exec_mut(exec)?.shape;
        let fits = |(buffer, address): (&Buffer, &u64)| address.checked_add(buffer.bytes).is_some();
        let told = shape.buffers.iter().map(|of| &of.buffer);
        if shape.buffers.len() != count || !told.zip(&addresses).all(fits) {
            return Err(Status::INVALID_VALUE);
        }
        let shape = Arc::get_mut(shape).ok_or(Status::NOT_READY)?;
        for (of, address) in shape.buffers.iter_mut().zip(addresses) {
            of.buffer.address = address;
        }
        Ok(())
    })
}

/// `CuweaveSimAccess` of `ANNOTATE.md`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SimAccess {
    address: u64,
    bytes: u64,
    flags: c_uint,
    reserved: c_uint,
}

/// Flag of an access that writes.
const WRITES_FLAG: c_uint = 1;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimHostAccesses(
    exec: CUgraphExec,
    node: CUgraphNode,
    accesses: *const SimAccess,
    count: usize,
) -> u32 {
    enter("cuweaveSimHostAccesses", false, CallKind::Basic, &mut || {
        let told = read_array(accesses, count)?;
        let range = |access: &SimAccess| {
            let end = access.address.checked_add(access.bytes).ok_or(Status::INVALID_VALUE)?;
            let flags =
                if access.flags & WRITES_FLAG != 0 { memory::READ | memory::WRITTEN } else { memory::READ };
            Ok((access.address, end, flags))
        };
        let touched: Vec<_> = told.iter().map(range).collect::<Result<_>>()?;
        let mut state = state();
        let op = match exec {
            0 => &mut state.definitions.nodes.get_mut(node).ok_or(Status::INVALID_VALUE)?.op,
            exec => &mut state.exec_mut(exec)?.find(node)?.op,
        };
        let Operation::Host { touched: of_node, .. } = op else { return Err(Status::INVALID_VALUE) };
        *of_node = touched;
        Ok(())
    })
}

/// Enqueues a rendezvous in a stream, or captures it as a host node.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimLaunchRendezvous(
    stream: CUstream,
    poll: Option<unsafe extern "C" fn(*mut c_void) -> c_uint>,
    data: *mut c_void,
) -> u32 {
    enter("cuweaveSimLaunchRendezvous", false, CallKind::Basic, &mut || {
        let poll = poll.ok_or(Status::INVALID_VALUE)?;
        enqueue(stream, &Operation::Rendezvous { poll, data: data as usize })
    })
}

/// Records that the host accesses managed memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimTouch(address: CUdeviceptr, bytes: u64, writes: c_uint) -> u32 {
    enter("cuweaveSimTouch", false, CallKind::Basic, &mut || {
        let end = address.checked_add(bytes).ok_or(Status::INVALID_VALUE)?;
        state().memory.count_host_access(address, end, writes != 0);
        Ok(())
    })
}

/// Writes the counts of pages of managed memory: faults of devices, faults of the host, pages moved by faults,
/// copied by faults, prefetched, discarded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimPages(counts: *mut [u64; 6]) -> u32 {
    enter("cuweaveSimPages", false, CallKind::Basic, &mut || {
        let found = memory::pages::counts();
        let faults = [found.device_faults, found.host_faults];
        write_result(
            counts,
            [faults[0], faults[1], found.migrated, found.copied, found.prefetched, found.discarded],
        )
    })
}

/// Writes the number of pages of managed memory that were evicted because a device's memory was full.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimEvicted(pages: *mut u64) -> u32 {
    enter("cuweaveSimEvicted", false, CallKind::Basic, &mut || {
        write_result(pages, memory::pages::counts().evicted)
    })
}

/// Writes the number of pages of managed memory in the memory of a device, or of the host if `device` is -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimResident(device: c_int, pages: *mut u64) -> u32 {
    enter("cuweaveSimResident", false, CallKind::Basic, &mut || {
        write_result(pages, state().memory.resident(device))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimNameMemory(address: CUdeviceptr, name: Text) -> u32 {
    enter("cuweaveSimNameMemory", false, CallKind::Basic, &mut || state().memory.name(address, name.read()?))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimSeed(seed: u64) -> u32 {
    enter("cuweaveSimSeed", false, CallKind::Basic, &mut || {
        state().options.seed = seed;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimParallel(parallel: c_uint) -> u32 {
    enter("cuweaveSimParallel", false, CallKind::Basic, &mut || {
        state().options.parallel = parallel != 0;
        Ok(())
    })
}

/// Sets the registers per thread of the kernels whose names begin with a prefix; 0 removes the setting.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimRegisters(prefix: Text, count: c_uint) -> u32 {
    enter("cuweaveSimRegisters", false, CallKind::Basic, &mut || {
        if count > MAX_REGISTERS {
            return Err(Status::INVALID_VALUE);
        }
        registers::assume(prefix.read()?, count);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimFail(call: Text, nth: u64, error: c_uint) -> u32 {
    enter("cuweaveSimFail", false, CallKind::Basic, &mut || {
        let call = call.read()?;
        let known =
            super::symbols::SYMBOLS.binary_search_by_key(&call.as_str(), |symbol| symbol.name).is_ok();
        if !known || error == 0 {
            return Err(Status::INVALID_VALUE);
        }
        faults::add(&call, nth, Status(error));
        Ok(())
    })
}

/// Removes the pending faults and returns their number.
#[unsafe(no_mangle)]
pub extern "C" fn cuweaveSimClearFaults() -> u64 {
    faults::clear() as u64
}

/// Calls `hear` with the name and the number of calls of each function that was called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimCalls(
    hear: Option<unsafe extern "C" fn(*mut u8, Text, u64)>,
    data: *mut u8,
) -> u32 {
    enter("cuweaveSimCalls", false, CallKind::Basic, &mut || {
        let hear = hear.ok_or(Status::INVALID_VALUE)?;
        for (name, count) in faults::calls().into_iter().filter(|call| !call.0.starts_with("cuweave")) {
            let name = Text { start: name.as_ptr().cast(), bytes: name.len() };
            // SAFETY: the caller passed the function to be called with this data. The text lives until it
            // returns.
            unsafe { hear(data, name, count) };
        }
        Ok(())
    })
}

/// Writes the counts of live objects: graphs, nodes, instances, events, streams, modules, allocations, bytes of
/// device memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimLive(counts: *mut [u64; 8]) -> u32 {
    enter("cuweaveSimLive", false, CallKind::Basic, &mut || {
        let state = state();
        let kept = |kind| {
            !matches!(
                kind,
                memory::AllocationKind::Variable
                    | memory::AllocationKind::ManagedVariable
                    | memory::AllocationKind::Constant
                    | memory::AllocationKind::Mapped
            )
        };
        let (mut allocations, mut bytes) = state.memory.count_mappings();
        for found in state.memory.iter().filter(|found| kept(found.kind)) {
            allocations += 1;
            bytes += found.size;
        }
        let (graphs, nodes, execs) =
            (state.definitions.graphs.len(), state.definitions.nodes.len(), state.execs.len());
        let (events, streams, modules) = (state.events.len(), state.streams.len(), state.code.modules.len());
        let all = [graphs, nodes, execs, events, streams, modules, allocations].map(|count| count as u64);
        write_result(counts, [all[0], all[1], all[2], all[3], all[4], all[5], all[6], bytes])
    })
}

/// Calls `hear` with each report: kind, error, node names separated by line breaks, and text. Clears them if
/// `forget` is not 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimReports(
    forget: c_uint,
    hear: Option<unsafe extern "C" fn(*mut u8, Text, c_uint, Text, Text)>,
    data: *mut u8,
) -> u32 {
    enter("cuweaveSimReports", false, CallKind::Basic, &mut || {
        let hear = hear.ok_or(Status::INVALID_VALUE)?;
        for report in report::reports(forget != 0) {
            let nodes = report.nodes.join("\n");
            let text = |text: &str| Text { start: text.as_ptr().cast(), bytes: text.len() };
            // SAFETY: the caller passed the function to be called with this data. The texts live until it
            // returns.
            unsafe { hear(data, text(report.kind), report.status.0, text(&nodes), text(&report.text)) };
        }
        Ok(())
    })
}

/// Sets the timeout in milliseconds of a launch that waits for a value or a semaphore.
#[unsafe(no_mangle)]
pub extern "C" fn cuweaveSimPatience(milliseconds: u64) -> u32 {
    enter("cuweaveSimPatience", false, CallKind::Basic, &mut || {
        state().options.wait_timeout_ms = milliseconds;
        Ok(())
    })
}

/// Makes the finished work of a context look pending, until called with 0: queries report it as running, and the
/// host's waits for it do not return.
#[unsafe(no_mangle)]
pub extern "C" fn cuweaveSimHold(ctx: CUcontext, hold: c_uint) -> u32 {
    // Not a driver call, because the poll function of a rendezvous may call this one.
    let mut state = state();
    if hold != 0 {
        state.held.insert(ctx)
    } else {
        state.held.remove(&ctx)
    };
    0
}

/// Starts or stops the recording of calls.
#[unsafe(no_mangle)]
pub extern "C" fn cuweaveSimTrace(on: c_uint) -> c_uint {
    crate::base::trace::set(on != 0);
    0
}

/// Calls `hear` with each recorded call, oldest first, and clears the records: thread, name, arguments, result,
/// created handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweaveSimTakeTrace(
    hear: unsafe extern "C" fn(*mut u8, u64, Text, *const u64, usize, u32, u64),
    data: *mut u8,
) -> c_uint {
    for call in crate::base::trace::take() {
        let name = Text { start: call.name.as_ptr().cast(), bytes: call.name.len() };
        let (arguments, count) = (call.arguments.as_ptr(), call.arguments.len());
        // SAFETY: the crate `cuweave-sim` of the same build passed the function and its data.
        unsafe { hear(data, call.thread, name, arguments, count, call.result, call.created) };
    }
    0
}
