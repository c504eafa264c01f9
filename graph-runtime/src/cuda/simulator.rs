//! The calls that only the simulated driver has. They pass names, source lines and planned buffers for its
//! checks and reports. Documented in `graph-sim/ANNOTATE.md`.

use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

use super::entry::exported;
use super::handles::{Node, RawExec, RawGraph};

#[repr(C)]
#[derive(Clone, Copy)]
struct RawText {
    start: *const c_char,
    bytes: usize,
}

impl RawText {
    fn new(text: &str) -> RawText {
        RawText { start: text.as_ptr().cast(), bytes: text.len() }
    }
}

#[repr(C)]
struct RawBuffer {
    name: RawText,
    file: RawText,
    line: u32,
    flags: u32,
    address: u64,
    bytes: u64,
    users: *const Node,
    members: *const u32,
    count: usize,
}

#[repr(C)]
struct RawMember {
    name: RawText,
    file: RawText,
    line: u32,
    first: u32,
}

/// The member number for a whole node.
const WHOLE_NODE: u32 = u32::MAX;

/// The entry points of the simulated driver's own calls.
pub struct Simulator {
    name_node: unsafe extern "C" fn(Node, RawText, RawText, u32) -> u32,
    name_members: unsafe extern "C" fn(Node, u32, *const RawMember, usize) -> u32,
    move_members: unsafe extern "C" fn(RawExec, Node, *const u32, usize) -> u32,
    add_buffer: unsafe extern "C" fn(RawGraph, *const RawBuffer) -> u32,
    move_buffers: unsafe extern "C" fn(RawExec, *const u64, usize) -> u32,
    host_accesses: unsafe extern "C" fn(RawExec, Node, *const HostAccess, usize) -> u32,
    touch: unsafe extern "C" fn(u64, u64, u32) -> u32,
}

/// A range of memory that a host statement accesses.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HostAccess {
    address: u64,
    bytes: u64,
    /// 1 if the range is written.
    flags: u32,
    reserved: u32,
}

impl HostAccess {
    /// Returns a range that is read and, if `writes` is true, written.
    pub fn new(address: u64, bytes: u64, writes: bool) -> HostAccess {
        HostAccess { address, bytes, flags: u32::from(writes), reserved: 0 }
    }
}

/// A buffer of a graph.
pub struct PlannedBuffer<'b> {
    /// Its name.
    pub name: &'b str,
    /// The file of its declaration.
    pub file: &'b str,
    /// The line of its declaration.
    pub line: u32,
    /// True if its lifetime is within a launch of the graph.
    pub planned: bool,
    /// Its address.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The nodes that may access it. For a batch also the member.
    pub users: &'b [(Node, Option<u32>)],
}

/// A member of a batch.
pub struct BatchMember<'b> {
    /// Its name.
    pub name: &'b str,
    /// The line of its launch.
    pub line: u32,
    /// Its first block in x. 0 if members are stacked along another axis.
    pub first: u32,
}

impl Simulator {
    /// Returns the simulated driver. `None` if the process uses a real one.
    pub fn get() -> Option<&'static Simulator> {
        static SIMULATOR: OnceLock<Option<Simulator>> = OnceLock::new();
        SIMULATOR.get_or_init(Simulator::find).as_ref()
    }

    fn find() -> Option<Simulator> {
        let (version, name_node) = (exported(c"cuweaveSimAnnotate")?, exported(c"cuweaveSimNameNode")?);
        let (add_buffer, move_buffers) =
            (exported(c"cuweaveSimAddBuffer")?, exported(c"cuweaveSimMoveBuffers")?);
        let (name_members, move_members) =
            (exported(c"cuweaveSimNameMembers")?, exported(c"cuweaveSimMoveMembers")?);
        let (host_accesses, touch) = (exported(c"cuweaveSimHostAccesses")?, exported(c"cuweaveSimTouch")?);
        // SAFETY: the library's documentation gives these names these signatures, and the library is never
        // closed.
        unsafe {
            let version = std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> u32>(version);
            if version() != 6 {
                return None;
            }
            Some(Simulator {
                name_node: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(Node, RawText, RawText, u32) -> u32,
                >(name_node),
                name_members: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(Node, u32, *const RawMember, usize) -> u32,
                >(name_members),
                move_members: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(RawExec, Node, *const u32, usize) -> u32,
                >(move_members),
                add_buffer: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(RawGraph, *const RawBuffer) -> u32,
                >(add_buffer),
                host_accesses: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(RawExec, Node, *const HostAccess, usize) -> u32,
                >(host_accesses),
                touch: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(u64, u64, u32) -> u32>(touch),
                move_buffers: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(RawExec, *const u64, usize) -> u32,
                >(move_buffers),
            })
        }
    }

    /// Sets the name and source line of a node. A failure is ignored: the driver then checks less.
    pub fn name_node(&self, node: Node, name: &str, file: &str, line: u32) {
        // SAFETY: the node is in a graph that is being built; the texts live until the call returns.
        let _ = unsafe { (self.name_node)(node, RawText::new(name), RawText::new(file), line) };
    }

    /// Describes the members of a batched node: stacked along an axis of its grid, or by their first blocks in
    /// x.
    pub fn name_members(&self, node: Node, axis: Option<u8>, file: &str, members: &[BatchMember<'_>]) {
        let raw = |member: &BatchMember<'_>| RawMember {
            name: RawText::new(member.name),
            file: RawText::new(file),
            line: member.line,
            first: member.first,
        };
        let raw: Vec<RawMember> = members.iter().map(raw).collect();
        let axis = axis.map_or(0, u32::from);
        // SAFETY: the node is in a graph that is being built; the members and texts live until the call
        // returns.
        let _ = unsafe { (self.name_members)(node, axis, raw.as_ptr(), raw.len()) };
    }

    /// Updates the first blocks of a node's members.
    pub fn move_members(&self, exec: RawExec, node: Node, firsts: &[u32]) {
        // SAFETY: the exec and the graph of the node are live; the numbers live until the call returns.
        let _ = unsafe { (self.move_members)(exec, node, firsts.as_ptr(), firsts.len()) };
    }

    /// Describes the memory that a host node's function accesses, for an exec, or for the graph if `exec` is
    /// `NONE`.
    pub fn host_accesses(&self, exec: RawExec, node: Node, accesses: &[HostAccess]) {
        // SAFETY: the node is live, and so is the exec if there is one; the accesses live until the call
        // returns.
        let _ = unsafe { (self.host_accesses)(exec, node, accesses.as_ptr(), accesses.len()) };
    }

    /// Reports an access of the host to managed memory.
    pub fn touch(&self, address: u64, bytes: u64, writes: bool) {
        // SAFETY: the call only takes numbers.
        let _ = unsafe { (self.touch)(address, bytes, u32::from(writes)) };
    }

    /// Describes a buffer.
    pub fn add_buffer(&self, graph: RawGraph, buffer: &PlannedBuffer<'_>) {
        let (users, members): (Vec<Node>, Vec<u32>) =
            buffer.users.iter().map(|&(node, member)| (node, member.unwrap_or(WHOLE_NODE))).unzip();
        let raw = RawBuffer {
            name: RawText::new(buffer.name),
            file: RawText::new(buffer.file),
            line: buffer.line,
            flags: u32::from(buffer.planned),
            address: buffer.address,
            bytes: buffer.bytes,
            users: users.as_ptr(),
            members: members.as_ptr(),
            count: users.len(),
        };
        // SAFETY: the graph is being built; the memory that the structure points to lives until the call
        // returns.
        let _ = unsafe { (self.add_buffer)(graph, &raw) };
    }

    /// Updates the addresses of the buffers. They must be in the order in which the buffers were added.
    pub fn move_buffers(&self, exec: RawExec, addresses: &[u64]) {
        // SAFETY: the exec is live; the addresses live until the call returns.
        let _ = unsafe { (self.move_buffers)(exec, addresses.as_ptr(), addresses.len()) };
    }
}
