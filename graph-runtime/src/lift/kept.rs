//! Nodes that are kept as they were captured: each becomes a call whose body adds a copy of the node.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cuweave_core::index::Vector;
use cuweave_core::ir::{
    Access, Buffer, BufferId, Device, DimId, Mode, Options, Origin, Program, Statement, StatementKind, Text,
};
use cuweave_core::structure::Structure;
use cuweave_core::table::{BoundOp, DecodedFunction, Parameter, TableHandle};

use crate::build::{ArgumentReader, Body, CallCapture, KEPT_FILE};
use crate::cuda::{Context, KernelValues, Node, Stream};
use crate::error::Result;
use crate::statements::{Dim, dim};
use crate::token::Token;

use super::captured::CapturedGraph;

/// A node that is kept.
#[derive(Debug)]
pub(super) struct KeptNode {
    pub node: Node,
    /// Keeps the node alive.
    pub captured: Arc<CapturedGraph>,
    /// The parameters of a kernel, if they can be read.
    pub values: Option<KernelValues>,
    /// The addresses at which the captured node finds the buffers of the call.
    pub addresses: Vec<std::ops::Range<u64>>,
    pub table: &'static DecodedFunction,
}

/// The tables of calls that add a node, by its name and its buffers. Never dropped, as those of generated code.
static TABLES: Mutex<BTreeMap<(String, Vec<KeptBuffer>), &'static DecodedFunction>> =
    Mutex::new(BTreeMap::new());

/// A buffer of a call: its length in bytes, and true if it has contents before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeptBuffer {
    pub bytes: u64,
    pub is_written: bool,
}

impl KeptNode {
    /// Returns the table of a call that adds a node, with these buffers.
    pub fn table(name: &str, buffers: &[KeptBuffer]) -> &'static DecodedFunction {
        let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
        let made = tables.entry((name.to_owned(), buffers.to_vec()));
        made.or_insert_with(|| Box::leak(Box::new(KeptNode::new_table(name, buffers))))
    }

    fn new_table(name: &str, buffers: &[KeptBuffer]) -> DecodedFunction {
        let mut dims: Vector<DimId, Vec<BoundOp>> = Vector::new();
        let mut texts: Vector<DimId, Text> = Vector::new();
        let mut bound = |value: u64| {
            texts.push(value.to_string().into());
            dims.push(vec![BoundOp::Constant(value)])
        };
        let zero = bound(0);
        let mut program_buffers: Vector<BufferId, Buffer> = Vector::new();
        let mut accesses = Vec::new();
        for (at, buffer) in buffers.iter().enumerate() {
            let len = bound(buffer.bytes);
            let id = program_buffers.push(Buffer {
                name: format!("memory{at}").into(),
                line: 0,
                column: 0,
                file: None,
                origin: Origin::Device { mutable: true },
                len,
                element: 1,
                align: 1,
            });
            let mode = if buffer.is_written { Mode::ReadWrite } else { Mode::Write };
            accesses.push(Access { buffer: id, mode, lo: zero, hi: len, relied_on: false, rows: None });
        }
        let parameters = std::iter::once(Parameter::Host { resource: false })
            .chain(program_buffers.ids().map(Parameter::Buffer))
            .collect::<Vec<_>>();
        let names: Vec<Text> = std::iter::once("node".into())
            .chain(program_buffers.iter().map(|buffer| buffer.name.clone()))
            .collect();
        let statement = Statement {
            name: name.to_owned().into(),
            line: 0,
            column: 0,
            file: None,
            kind: StatementKind::Capture(()),
            accesses: accesses.into(),
            after: Vec::new().into(),
            on: None,
            device: Device::FIRST,
            switchable: false,
        };
        let elements = program_buffers.iter().map(|_| std::any::TypeId::of::<u8>()).collect();
        DecodedFunction {
            program: Program {
                name: name.to_owned().into(),
                file: KEPT_FILE.into(),
                options: Options::default(),
                dims: texts,
                buffers: program_buffers,
                statements: vec![statement].into(),
                views: Vec::new().into(),
                outputs: Vec::new().into(),
                grants: Vec::new().into(),
            },
            elements,
            dims,
            steps: vec![0].into(),
            scalars: Vector::new(),
            arguments: names.into(),
            parameters: parameters.into(),
            structure: Structure::default(),
        }
    }

    /// Enters a call with a node as its host value.
    pub fn enter(given: &mut ArgumentReader<'_>, enter: &mut dyn FnMut(&dyn Body), _: Token) -> Option<()> {
        let node: &Arc<KeptNode> = given.host(0)?;
        enter(&KeptBody(node.clone()));
        Some(())
    }
}

/// The body of a call that adds a node.
struct KeptBody(Arc<KeptNode>);

impl Body for KeptBody {
    fn table(&self, _: Token) -> Option<TableHandle> {
        Some(TableHandle::Static(self.0.table))
    }

    fn leaf(&self, _: u32, _: &[i64], _: Token) -> Dim {
        dim(0u8)
    }

    fn capture(&self, capture: &mut CallCapture<'_>, _: Token) -> Result<()> {
        let KeptNode { node, captured, values, addresses, .. } = &*self.0;
        let memory = capture.memory.iter().map(|memory| memory.address);
        let places: Vec<_> = addresses.iter().cloned().zip(memory).collect();
        let moved = move |address: u64| {
            let found = places.iter().find(|(range, _)| range.contains(&address));
            found.map_or(address, |(range, to)| to + (address - range.start))
        };
        let driver = captured.driver;
        capture.run(|stream| -> Result<()> {
            let raw = Stream::from_cudarc(stream);
            let graph = driver.capturing_graph(raw)?;
            let frontier = driver.capture_info(raw)?.frontier;
            let ctx = Context::from_cudarc(stream.context());
            let added = driver.add_copy_of(graph, &frontier, *node, values.as_ref(), &moved, ctx)?;
            Ok(driver.capture_after(raw, added)?)
        })
    }
}
