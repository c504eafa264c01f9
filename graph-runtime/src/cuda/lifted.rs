//! Driver calls that read a graph of other code, and add copies of its nodes to another graph.

use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};

use super::entry::{Driver, call};
use super::failure::{Failure, NOT_FOUND, NOT_SUPPORTED, Outcome};
use super::handles::{Context, Event, Function, Node, RawGraph, RawModule, Stream};
use super::params::{CopyEnd, HostParams, Memcpy, RawCopyEnd, Word};

/// The kinds of the nodes of a graph, by their `CUgraphNodeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturedKind {
    /// A kernel.
    Kernel,
    /// A copy.
    Copy,
    /// A fill.
    Fill,
    /// A function of the host.
    Host,
    /// A child graph.
    Graph,
    /// A node without work.
    Empty,
    /// A wait for an event.
    EventWait,
    /// A record of an event.
    EventRecord,
    /// An allocation.
    Alloc,
    /// A free.
    Free,
    /// A conditional node.
    Conditional,
    /// Any other, by its number.
    Other(u32),
}

/// The parameters of a kernel node that a copy of it gets.
pub type KernelValues = Vec<Vec<u8>>;

impl Driver {
    /// Returns the kind of a node of other code.
    pub fn captured_kind(&self, node: Node) -> Outcome<CapturedKind> {
        let mut kind = 0;
        call!(self, cuGraphNodeGetType(node, &mut kind))?;
        Ok(match kind {
            0 => CapturedKind::Kernel,
            1 => CapturedKind::Copy,
            2 => CapturedKind::Fill,
            3 => CapturedKind::Host,
            4 => CapturedKind::Graph,
            5 => CapturedKind::Empty,
            6 => CapturedKind::EventWait,
            7 => CapturedKind::EventRecord,
            10 => CapturedKind::Alloc,
            11 => CapturedKind::Free,
            13 => CapturedKind::Conditional,
            other => CapturedKind::Other(other),
        })
    }

    /// Returns the name of a function in its module.
    pub fn function_name(&self, function: Function) -> Outcome<String> {
        let mut name: *const c_char = null();
        call!(self, cuFuncGetName(&mut name, function))?;
        if name.is_null() {
            return Ok(String::new());
        }
        // SAFETY: the driver's text ends with a nul and lives as long as the module.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }

    /// Returns the module of a function.
    pub fn module_of(&self, function: Function) -> Outcome<RawModule> {
        let mut module = RawModule::NONE;
        call!(self, cuFuncGetModule(&mut module, function))?;
        Ok(module)
    }

    /// Returns the graph into which a stream captures.
    pub fn capturing_graph(&self, stream: Stream) -> Outcome<RawGraph> {
        let ask = self
            .cuStreamGetCaptureInfo_v2
            .ok_or(Failure { call: "cuStreamGetCaptureInfo_v2", code: NOT_FOUND })?;
        let (mut status, mut id, mut graph) = (0, 0, RawGraph::NONE);
        // SAFETY: the stream is live; the pointers are to locals, and the list of nodes is not asked for.
        match unsafe { ask(stream, &mut status, &mut id, &mut graph, null_mut(), null_mut()) } {
            0 => Ok(graph),
            code => Err(Failure { call: "cuStreamGetCaptureInfo_v2", code }),
        }
    }

    /// Makes the next work that a stream captures come after a node.
    pub fn capture_after(&self, stream: Stream, node: Node) -> Outcome<()> {
        const CALL: &str = "cuStreamUpdateCaptureDependencies_v2";
        let set = self.cuStreamUpdateCaptureDependencies_v2.ok_or(Failure { call: CALL, code: NOT_FOUND })?;
        let mut nodes = [node];
        // CU_STREAM_SET_CAPTURE_DEPENDENCIES
        const SET: u32 = 1;
        // SAFETY: the stream captures into the node's graph; the pointer is to a local.
        match unsafe { set(stream, nodes.as_mut_ptr(), null(), 1, SET) } {
            0 => Ok(()),
            code => Err(Failure { call: CALL, code }),
        }
    }

    /// Adds a copy of a node of another graph. `moved` returns the address at which the copy finds the memory at an
    /// address; `values` are the parameters of a kernel as they were read, which the copy gets with moved addresses.
    pub fn add_copy_of(
        &self,
        graph: RawGraph,
        after: &[Node],
        node: Node,
        values: Option<&KernelValues>,
        moved: &dyn Fn(u64) -> u64,
        ctx: Context,
    ) -> Outcome<Node> {
        let (mut added, count) = (Node::NONE, after.len());
        match self.captured_kind(node)? {
            CapturedKind::Kernel => return self.add_kernel_of(graph, after, node, values, moved),
            CapturedKind::Copy => {
                let copy = self.copy_of(node)?;
                let mut params = super::params::memcpy_params(&copy);
                call!(self, cuGraphMemcpyNodeGetParams(node, &mut params))?;
                params.source.device = moved(params.source.device);
                params.target.device = moved(params.target.device);
                call!(self, cuGraphAddMemcpyNode(&mut added, graph, after.as_ptr(), count, &params, ctx))?;
            }
            CapturedKind::Fill => {
                let mut params = super::params::memset_params(&self.fill_of(node)?);
                call!(self, cuGraphMemsetNodeGetParams(node, &mut params))?;
                params.target = moved(params.target);
                call!(self, cuGraphAddMemsetNode(&mut added, graph, after.as_ptr(), count, &params, ctx))?;
            }
            CapturedKind::Host => {
                unsafe extern "C" fn nothing(_: *mut std::ffi::c_void) {}
                let mut params = HostParams { function: nothing, data: null_mut() };
                call!(self, cuGraphHostNodeGetParams(node, &mut params))?;
                call!(self, cuGraphAddHostNode(&mut added, graph, after.as_ptr(), count, &params))?;
            }
            CapturedKind::EventRecord => {
                let mut event = Event(0);
                call!(self, cuGraphEventRecordNodeGetEvent(node, &mut event))?;
                return self.add_event_record(graph, after, event);
            }
            CapturedKind::EventWait => {
                let mut event = Event(0);
                call!(self, cuGraphEventWaitNodeGetEvent(node, &mut event))?;
                return self.add_event_wait(graph, after, event);
            }
            CapturedKind::Graph => {
                let mut child = RawGraph::NONE;
                call!(self, cuGraphChildGraphNodeGetGraph(node, &mut child))?;
                call!(self, cuGraphAddChildGraphNode(&mut added, graph, after.as_ptr(), count, child))?;
            }
            CapturedKind::Empty => return self.add_empty(graph, after),
            CapturedKind::Alloc | CapturedKind::Free | CapturedKind::Conditional | CapturedKind::Other(_) => {
                return Err(Failure { call: "cuGraphAddNode", code: NOT_SUPPORTED });
            }
        }
        Ok(added)
    }

    /// Adds a kernel node with the configuration and the parameters of another one, but without its attributes.
    pub fn add_plain_kernel(&self, graph: RawGraph, function: Function, node: Node) -> Outcome<Node> {
        let mut params = self.kernel_params_of(node)?;
        params.function = function;
        let mut added = Node::NONE;
        call!(self, cuGraphAddKernelNode(&mut added, graph, null(), 0, &params))?;
        Ok(added)
    }

    /// Returns the parameters of a kernel node that were given as one block of bytes, by their offsets and sizes in it.
    /// `None` if they were not, or if the block is shorter.
    pub fn packed_parameters(&self, node: Node, layout: &[(u64, u64)]) -> Outcome<Option<KernelValues>> {
        let params = self.kernel_params_of(node)?;
        if params.extra.is_null() {
            return Ok(None);
        }
        // CU_LAUNCH_PARAM_END, CU_LAUNCH_PARAM_BUFFER_POINTER and CU_LAUNCH_PARAM_BUFFER_SIZE.
        const END: usize = 0;
        const POINTER: usize = 1;
        const SIZE: usize = 2;
        let (mut block, mut bytes) = (null::<u8>(), 0_usize);
        // SAFETY: the driver keeps the list with the node: keys with values, up to the end.
        unsafe {
            for at in [0, 2] {
                let key = (*params.extra.add(at)).addr();
                if key == END {
                    break;
                }
                let value = *params.extra.add(at + 1);
                match key {
                    POINTER => block = value.cast_const().cast(),
                    SIZE if !value.is_null() => bytes = *value.cast::<usize>(),
                    _ => return Ok(None),
                }
            }
        }
        let parameter = |&(offset, size): &(u64, u64)| {
            let (offset, size) = (usize::try_from(offset).ok()?, usize::try_from(size).ok()?);
            let end = offset.checked_add(size).filter(|end| *end <= bytes)?;
            // SAFETY: the block has that many bytes, and lives with the node.
            Some(unsafe { std::slice::from_raw_parts(block.add(offset), end - offset) }.to_vec())
        };
        Ok(if block.is_null() { None } else { layout.iter().map(parameter).collect() })
    }

    /// Returns true for a copy between linear memory of the host or a device, without offsets.
    pub fn is_plain_copy(&self, node: Node) -> Outcome<bool> {
        let none = Memcpy::line(CopyEnd::Device(0), CopyEnd::Device(0), 0);
        let mut params = super::params::memcpy_params(&none);
        call!(self, cuGraphMemcpyNodeGetParams(node, &mut params))?;
        // CU_MEMORYTYPE_HOST and CU_MEMORYTYPE_DEVICE.
        let plain = |end: &RawCopyEnd| {
            matches!(end.memory_type, 1 | 2)
                && end.x_in_bytes == 0
                && end.y == 0
                && end.z == 0
                && end.lod == 0
        };
        Ok(plain(&params.source) && plain(&params.target))
    }

    fn add_kernel_of(
        &self,
        graph: RawGraph,
        after: &[Node],
        node: Node,
        values: Option<&KernelValues>,
        moved: &dyn Fn(u64) -> u64,
    ) -> Outcome<Node> {
        let mut params = self.kernel_params_of(node)?;
        let mut words: Vec<Vec<Word>> =
            values.into_iter().flatten().map(|value| words(value, moved)).collect();
        let mut pointers: Vec<*mut std::ffi::c_void> =
            words.iter_mut().map(|words| words.as_mut_ptr().cast()).collect();
        if values.is_some() {
            params.values = pointers.as_mut_ptr();
            params.extra = null_mut();
        }
        let mut added = Node::NONE;
        call!(self, cuGraphAddKernelNode(&mut added, graph, after.as_ptr(), after.len(), &params))?;
        call!(self, cuGraphKernelNodeCopyAttributes(added, node))?;
        Ok(added)
    }
}

/// Returns the words of a parameter's bytes, with moved addresses.
fn words(value: &[u8], moved: &dyn Fn(u64) -> u64) -> Vec<Word> {
    let word = |bytes: &[u8]| {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        let word = u64::from_ne_bytes(all);
        Word::new(if bytes.len() == 8 { moved(word) } else { word })
    };
    let mut words: Vec<Word> = value.chunks(8).map(word).collect();
    if words.is_empty() {
        words.push(Word::new(0));
    }
    words
}
