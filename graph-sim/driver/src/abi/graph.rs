//! Graphs: creation, cloning, destruction, and node lists.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_char, c_uint, c_void};

use crate::base::pointer::{read_argument, read_text, write_result};
use crate::base::status::{Result, Status};
use crate::base::types::{CUgraph, CUgraphExec, CUgraphNode, CUuserObject};
use crate::call::driver_calls;
use crate::graph::edit;
use crate::state::operation::Operation;
use crate::state::{UserObject, state};

/// Writes a list as the driver does: with a null pointer, only its length; otherwise unused elements are zeroed.
pub(super) fn put_list<T: Copy>(place: *mut T, count: *mut usize, list: &[T], zero: T) -> Result {
    if count.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    if !place.is_null() {
        let room = crate::base::pointer::read_argument(count)?;
        for at in 0..room {
            // SAFETY: the program passes room for that many entries.
            unsafe { place.add(at).write_unaligned(list.get(at).copied().unwrap_or(zero)) };
        }
        if room < list.len() {
            return write_result(count, room);
        }
    }
    write_result(count, list.len())
}

driver_calls! {
    Call fn cuGraphCreate(graph: *mut CUgraph, flags: c_uint) {
        if graph.is_null() || flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        write_result(graph, edit::create_graph(&mut state()))
    }

    Release fn cuGraphDestroy(graph: CUgraph) { edit::destroy_graph(&mut state(), graph) }

    Call fn cuGraphClone(clone: *mut CUgraph, original: CUgraph) {
        if clone.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let made = edit::clone_graph(&mut state(), original)?;
        write_result(clone, made)
    }

    Call fn cuGraphNodeFindInClone(found: *mut CUgraphNode, original: CUgraphNode, clone: CUgraph) {
        let state = state();
        let nodes = &state.definitions.graph(clone)?.nodes;
        let is_image = |node: &&u64| state.definitions.nodes.get(**node).is_some_and(|node| node.original == original);
        let image = nodes.iter().find(is_image);
        write_result(found, *image.ok_or(Status::INVALID_VALUE)?)
    }

    Call fn cuGraphGetNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize) {
        let state = state();
        // As driver 580.159 does on an H100: "requesting zero nodes is not supported".
        if !nodes.is_null() && read_argument(count)? == 0 {
            return Err(Status::INVALID_VALUE);
        }
        put_list(nodes, count, &state.definitions.graph(graph)?.nodes, 0)
    }

    Call fn cuGraphGetRootNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize) {
        let state = state();
        let roots = |node: &&u64| state.definitions.nodes.get(**node).is_some_and(|node| node.dependencies.is_empty());
        let found: Vec<u64> = state.definitions.graph(graph)?.nodes.iter().filter(roots).copied().collect();
        put_list(nodes, count, &found, 0)
    }

    Call fn cuGraphNodeGetType(node: CUgraphNode, kind: *mut c_uint) {
        write_result(kind, state().definitions.node(node)?.op.kind())
    }

    Release fn cuGraphDestroyNode(node: CUgraphNode) { edit::destroy_node(&mut state(), node) }

    Call fn cuGraphChildGraphNodeGetGraph(node: CUgraphNode, graph: *mut CUgraph) {
        match state().definitions.node(node)?.op {
            Operation::Child(child) => write_result(graph, child),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    Call fn cuGraphGetId(graph: CUgraph, id: *mut c_uint) {
        write_result(id, state().definitions.graph(graph)?.id as c_uint)
    }

    Call fn cuGraphExecGetId(exec: CUgraphExec, id: *mut c_uint) {
        write_result(id, state().exec(exec)?.id as c_uint)
    }

    Call fn cuGraphNodeGetContainingGraph(node: CUgraphNode, graph: *mut CUgraph) {
        write_result(graph, state().definitions.node(node)?.graph)
    }

    Call fn cuGraphNodeGetLocalId(node: CUgraphNode, id: *mut c_uint) {
        write_result(id, state().definitions.node(node)?.local as c_uint)
    }

    Call fn cuGraphNodeGetToolsId(node: CUgraphNode, id: *mut u64) {
        let state = state();
        let entry = state.definitions.node(node)?;
        write_result(id, state.definitions.graph(entry.graph)?.id << 32 | entry.local)
    }

    Call fn cuGraphDebugDotPrint(graph: CUgraph, path: *const c_char, _flags: c_uint) {
        let path = read_text(path)?;
        let state = state();
        let mut text = String::from("digraph dot {\n");
        for &node in &state.definitions.graph(graph)?.nodes {
            let entry = state.definitions.node(node)?;
            let name = match &entry.note {
                Some(note) => note.name.replace(['"', '\\'], "'"),
                None => entry.op.word().to_owned(),
            };
            text.push_str(&format!("  n{} [label=\"{name}\"];\n", entry.local));
            for (before, _) in &entry.dependencies {
                text.push_str(&format!("  n{} -> n{};\n", state.definitions.node(*before)?.local, entry.local));
            }
        }
        text.push_str("}\n");
        std::fs::write(path, text).map_err(|_| Status::OPERATING_SYSTEM)
    }

    Call fn cuUserObjectCreate(
        object: *mut CUuserObject, data: *mut c_void, destroy: Option<unsafe extern "C" fn(*mut c_void)>,
        references: c_uint, flags: c_uint
    ) {
        if object.is_null() || destroy.is_none() || flags != 1 || references == 0 || references > i32::MAX as u32 {
            return Err(Status::INVALID_VALUE);
        }
        let entry = UserObject { data: data as usize, destroy, references: u64::from(references) };
        write_result(object, state().objects.insert(entry))
    }

    Call fn cuUserObjectRetain(object: CUuserObject, count: c_uint) {
        if count == 0 {
            return Err(Status::INVALID_VALUE);
        }
        state().objects.get_mut(object).ok_or(Status::INVALID_VALUE)?.references += u64::from(count);
        Ok(())
    }

    Release fn cuUserObjectRelease(object: CUuserObject, count: c_uint) {
        let mut state = state();
        let left = state.objects.get(object).ok_or(Status::INVALID_VALUE)?.references;
        if count == 0 || u64::from(count) > left {
            return Err(Status::INVALID_VALUE);
        }
        edit::drop_references(&mut state, object, u64::from(count));
        Ok(())
    }

    Call fn cuGraphRetainUserObject(graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint) {
        let mut state = state();
        state.definitions.graph(graph)?;
        let entry = state.objects.get_mut(object).ok_or(Status::INVALID_VALUE)?;
        if count == 0 || flags > 1 {
            return Err(Status::INVALID_VALUE);
        }
        if flags == 0 {
            entry.references += u64::from(count);
        }
        let held = &mut state.definitions.graph_mut(graph)?.objects;
        match held.iter_mut().find(|held| held.0 == object) {
            Some(held) => held.1 += u64::from(count),
            None => held.push((object, u64::from(count))),
        }
        Ok(())
    }

    Release fn cuGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: c_uint) {
        let mut state = state();
        let held = &mut state.definitions.graph_mut(graph)?.objects;
        let at = held.iter().position(|held| held.0 == object).ok_or(Status::INVALID_VALUE)?;
        if count == 0 || u64::from(count) > held[at].1 {
            return Err(Status::INVALID_VALUE);
        }
        held[at].1 -= u64::from(count);
        if held[at].1 == 0 {
            held.remove(at);
        }
        edit::drop_references(&mut state, object, u64::from(count));
        Ok(())
    }
}
