//! The calls that only the simulated driver has, and its reports.

use std::ptr::null;

use cudarc::driver::sys::{self, CUresult};

use super::context::Context;
use super::graph::{Exec, Graph, Node};

/// The calls that only the simulated driver has. `ANNOTATE.md` documents them.
pub struct SimulatorCalls {
    name_node: unsafe extern "C" fn(sys::CUgraphNode, Text, Text, u32) -> CUresult,
    name_members: unsafe extern "C" fn(sys::CUgraphNode, u32, *const Member, usize) -> CUresult,
    move_members: unsafe extern "C" fn(sys::CUgraphExec, sys::CUgraphNode, *const u32, usize) -> CUresult,
    add_buffer: unsafe extern "C" fn(sys::CUgraph, *const Buffer) -> CUresult,
    move_buffers: unsafe extern "C" fn(sys::CUgraphExec, *const u64, usize) -> CUresult,
    name_memory: unsafe extern "C" fn(u64, Text) -> CUresult,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text(*const u8, usize);

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(text.as_ptr(), text.len())
    }
}

#[repr(C)]
struct Buffer {
    name: Text,
    file: Text,
    line: u32,
    flags: u32,
    address: u64,
    bytes: u64,
    users: *const Node,
    members: *const u32,
    count: usize,
}

#[repr(C)]
struct Member {
    name: Text,
    file: Text,
    line: u32,
    first: u32,
}

impl Context {
    /// Returns a context of the simulated driver with its extra calls. `None` on a real driver, which makes none of
    /// these checks.
    pub fn simulated() -> Option<(Context, SimulatorCalls)> {
        let context = Context::new();
        context.simulated.then(|| (context, SimulatorCalls::new()))
    }
}

impl SimulatorCalls {
    pub fn new() -> Self {
        unsafe {
            let library = sys::culib();
            SimulatorCalls {
                name_node: *library.get(b"cuweaveSimNameNode").unwrap(),
                name_members: *library.get(b"cuweaveSimNameMembers").unwrap(),
                move_members: *library.get(b"cuweaveSimMoveMembers").unwrap(),
                add_buffer: *library.get(b"cuweaveSimAddBuffer").unwrap(),
                move_buffers: *library.get(b"cuweaveSimMoveBuffers").unwrap(),
                name_memory: *library.get(b"cuweaveSimNameMemory").unwrap(),
            }
        }
    }

    pub fn node(&self, node: Node, name: &str, line: u32) {
        ok!((self.name_node)(node, name.into(), "src/plan.rs".into(), line));
    }

    pub fn memory(&self, address: u64, name: &str) {
        ok!((self.name_memory)(address, name.into()));
    }

    pub fn buffer(&self, graph: &Graph, name: &str, address: u64, bytes: u64, users: &[Node]) {
        let (name, file, flags) = (name.into(), "src/plan.rs".into(), 1);
        let (users, members, count) = (users.as_ptr(), null(), users.len());
        let buffer = Buffer { name, file, line: 0, flags, address, bytes, users, members, count };
        ok!((self.add_buffer)(graph.0, &buffer));
    }

    /// Describes a planned buffer of one member of a node.
    pub fn buffer_of_member(
        &self,
        graph: &Graph,
        name: &str,
        at: (u64, u64),
        node: Node,
        member: u32,
    ) -> CUresult {
        let (name, file, (address, bytes)) = (name.into(), "src/plan.rs".into(), at);
        let (users, members) = (&raw const node, &raw const member);
        let buffer = Buffer { name, file, line: 0, flags: 1, address, bytes, users, members, count: 1 };
        unsafe { (self.add_buffer)(graph.0, &buffer) }
    }

    /// Describes the members of a node by name, line and first block.
    pub fn members(&self, node: Node, axis: u32, members: &[(&str, u32, u32)]) -> CUresult {
        let file = "src/plan.rs".into();
        let raw = |&(name, line, first): &(&str, u32, u32)| Member { name: name.into(), file, line, first };
        let raw: Vec<Member> = members.iter().map(raw).collect();
        unsafe { (self.name_members)(node, axis, raw.as_ptr(), raw.len()) }
    }

    pub fn move_buffers(&self, exec: &Exec, addresses: &[u64]) -> CUresult {
        unsafe { (self.move_buffers)(exec.0, addresses.as_ptr(), addresses.len()) }
    }

    pub fn move_members(&self, exec: &Exec, node: Node, firsts: &[u32]) -> CUresult {
        unsafe { (self.move_members)(exec.0, node, firsts.as_ptr(), firsts.len()) }
    }
}

/// Returns the reports that mention `name`. Other tests that run at the same time add reports without it.
pub fn reports_of(name: &str) -> Vec<cuweave_sim::Report> {
    let all = cuweave_sim::reports().unwrap();
    all.into_iter().filter(|report| report.text.contains(name)).collect()
}
