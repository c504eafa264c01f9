//! The nodes of statements: the parameters of each kind, and the calls that add and change it.

use std::convert::Infallible;

use crate::index::{Index, Vector};
use crate::ir::{BufferId, Kind, Program, StatementId};
use crate::kind::Stage;
use crate::operation::{Operations, Pointed, PointedId};

use crate::runtime::cuda::{
    self, Failure, Filling, Launching, Node, RawExec, RawGraph, Scratch, Values, Word,
};
use crate::runtime::kernels::{LaunchRecord, Param};

use super::definition::Definition;

/// The stage of emission: the parameters of nodes, with the addresses of their buffers.
pub(crate) struct Resolved;

impl Stage for Resolved {
    type Launch = LaunchNode;
    type Fill = Filling;
    type Copy = Copying;
    type Call = Infallible;
    type Memory = Infallible;
}

/// The parameters of a kernel node.
pub(crate) struct LaunchNode {
    pub launching: Launching,
    /// The word at which the values of its parameters begin.
    pub first: usize,
    pub params: &'static [Param],
}

/// The parameters of a memcpy node.
pub(crate) struct Copying {
    pub from: cuda::Place,
    pub to: cuda::Place,
    pub bytes: u64,
}

impl Kind<Resolved> {
    /// Adds the node to a graph, behind the nodes `after`.
    pub fn add(
        self,
        definition: &Definition,
        (graph, after): (RawGraph, &[Node]),
        words: &[Word],
        scratch: &mut Scratch,
    ) -> std::result::Result<Node, Failure> {
        let driver = definition.driver;
        match self {
            Kind::Launch(LaunchNode { launching, first, params }) => {
                let values = Values { words: &words[first..], params };
                driver.add_kernel(graph, after, &launching, values, scratch)
            }
            Kind::Fill(fill) => driver.add_fill(graph, after, &fill, definition.context),
            Kind::Copy(Copying { from, to, bytes }) => {
                driver.add_copy(graph, after, from, to, bytes, definition.context)
            }
        }
    }

    /// Changes the node of an exec.
    pub fn set(
        self,
        definition: &Definition,
        (exec, node): (RawExec, Node),
        words: &[Word],
        scratch: &mut Scratch,
    ) -> std::result::Result<(), Failure> {
        let driver = definition.driver;
        match self {
            Kind::Launch(LaunchNode { launching, first, params }) => {
                let values = Values { words: &words[first..], params };
                driver.set_kernel(exec, node, &launching, values, scratch)
            }
            Kind::Fill(fill) => driver.set_fill(exec, node, &fill, definition.context),
            Kind::Copy(Copying { from, to, bytes }) => {
                driver.set_copy(exec, node, from, to, bytes, definition.context)
            }
        }
    }
}

/// Returns the size of a buffer's element in bytes.
pub(crate) fn element(program: &Program, buffer: BufferId) -> u64 {
    u64::from(program.buffers[buffer].element)
}

/// Writes the addresses of a launch's buffers into its words. `moved` has the targets of all accesses where setters change some.
#[inline]
pub(crate) fn address(
    (operations, moved): (&Operations, Option<&Vector<PointedId, Pointed>>),
    bases: &Vector<BufferId, u64>,
    (statement, launch): (StatementId, &LaunchRecord),
    words: &mut [Word],
) {
    let pointed = moved.unwrap_or(&operations.pointed);
    let pointed = &pointed.as_slice()[operations.pointed_of[statement].index()..];
    for (word, at) in launch.kernel.address_words().zip(pointed) {
        words[word] = cuda::address_word(bases[at.buffer].wrapping_add(at.offset));
    }
}
