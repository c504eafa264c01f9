//! Runs the bodies of library calls and captures their work into the graph with `cuStreamBeginCaptureToGraph`.
//! The capture starts after the nodes that the call depends on.
//!
//! The frontier of the capture is read before the capture ends, and the call's successors depend on all of it.
//! [`CallCapture::collect_captured`] walks back from the frontier to collect the captured nodes.
//!
//! A programmatic edge between captured kernels orders less than a full edge, so its source joins the frontier.
//! Hence a frontier of one kernel comes after the whole call by full edges, and its outgoing edge may be
//! programmatic, just as for a user's kernel (`overlap.rs`).
//!
//! If a capture was invalidated or cannot be ended, the graph is unusable, and drivers crash when it is
//! destroyed. It is leaked, and the stream is not used again.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cuweave_core::index::size;
use cuweave_core::ir::{Buffer, Mode, StatementId};
use cuweave_core::table::TableHandle;

use crate::bind::ResourceHandle;
use crate::cuda::{
    CAPTURE_UNJOINED, CallBuffer, CallStream, CaptureInfo, CaptureStatus, CaptureStream, Collective, Context,
    Driver, ElementRange, Failure, Memset, Node, NodeKind, Outcome, RawGraph, during_capture, pattern,
};
use crate::error::{CallFault, Error, PlanFault, Quantity, Result, SourceLocation};
use crate::statements::Dim;

/// The file of calls that add nodes of captured graphs.
pub(crate) const KEPT_FILE: &str = "a captured graph";

/// The nodes that a library call captured.
#[derive(Clone, Debug, Default)]
pub(crate) struct CapturedNodes {
    /// The nodes that successors of the call depend on. The call's predecessors, if it captured nothing.
    pub frontier: Vec<Node>,
    /// All captured nodes, last first. The nodes of a child graph follow its child-graph node.
    pub nodes: Vec<Node>,
    /// The number of `nodes` that are inside child graphs.
    pub inner: usize,
    /// True if a captured kernel begins before one that it depends on has ended.
    pub has_programmatic_edges: bool,
    /// True if the frontier is a single kernel node of the call, so that its outgoing edges may be
    /// programmatic.
    pub ends_in_kernel: bool,
}

/// A fill of memory with one byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteFill {
    pub address: u64,
    pub bytes: u64,
    value: u8,
}

impl ByteFill {
    /// Returns the fill of a row by a memset node. `None` if its bytes differ.
    pub fn from_row(row: Memset) -> Option<ByteFill> {
        let all = pattern(row.value.into(), row.element).to_ne_bytes();
        let value = all[0];
        let bytes = row.width.saturating_mul(row.element.into());
        all.iter().all(|&byte| byte == value).then_some(ByteFill { address: row.target, bytes, value })
    }
}

/// A library call while its body runs. Generated code gets the memory of the call's parameters here.
pub struct CallCapture<'c> {
    pub(crate) driver: &'static Driver,
    pub(crate) context: Context,
    pub(crate) graph: RawGraph,
    pub(crate) after: &'c [Node],
    /// A fill that is captured before the body runs.
    pub(crate) leading_fill: Option<ByteFill>,
    pub(crate) stream: &'c mut CaptureStream,
    pub(crate) callee: TableHandle,
    pub(crate) at: Box<SourceLocation>,
    /// The memory of each buffer and then each scratch, in the order of the parameters.
    pub(crate) memory: Vec<ElementRange>,
    pub(crate) captured: Option<CapturedNodes>,
    /// The name of the conditional body whose graph this is. `None` outside of bodies.
    pub(crate) in_body: Option<String>,
    /// True if the graph has become unusable.
    pub(crate) graph_unusable: bool,
    /// True if the body only describes a collective. Nothing is captured then.
    pub(crate) describes: bool,
    /// The collective that the body has described.
    pub(crate) described: Option<Collective>,
}

impl std::fmt::Debug for CallCapture<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallCapture").field("call", &self.at.name).finish_non_exhaustive()
    }
}

/// The result of a body, or the message of its panic.
type BodyResult = std::result::Result<std::result::Result<(), String>, String>;

impl CallCapture<'_> {
    /// Returns the memory of a parameter. `index` counts buffers first, then scratch. `declared` is the
    /// declared length in elements.
    ///
    /// # Errors
    ///
    /// [`CallFault::Resized`] if the memory was planned with another length.
    pub fn buffer<T>(&self, index: u32, declared: Dim) -> Result<CallBuffer<T>> {
        let (planned, now) = self.lengths(index, declared)?;
        // Scratch was planned for the largest sizes.
        match now == planned || now < planned && self.is_scratch(index) {
            true => Ok(self.elements(index, now)),
            false => Err(self.error(CallFault::Resized { parameter: self.parameter(index), planned, now })),
        }
    }

    /// Returns the memory of a scratch of a call that takes less than it declares: for a value of a size between those
    /// for which the memory was planned.
    ///
    /// # Errors
    ///
    /// A length that cannot be computed.
    pub fn at_most<T>(&self, index: u32, declared: Dim) -> Result<CallBuffer<T>> {
        let (planned, now) = self.lengths(index, declared)?;
        Ok(self.elements(index, now.min(planned)))
    }

    /// Returns the planned and the declared length of a parameter.
    fn lengths(&self, index: u32, declared: Dim) -> Result<(u64, u64)> {
        let missing = || PlanFault::NoParameter { at: self.at.clone(), index };
        let planned = self.memory.get(size(index)).ok_or_else(missing)?.len;
        let now = declared.value().map_err(|fault| Error::Size {
            what: Quantity::ParameterLength,
            at: self.at.clone(),
            text: self.parameter(index),
            fault,
        })?;
        Ok((planned, now))
    }

    fn elements<T>(&self, index: u32, len: u64) -> CallBuffer<T> {
        let address = self.memory.get(size(index)).map_or(0, |memory| memory.address);
        CallBuffer::new(self.stream, if len == 0 { 0 } else { address }, len)
    }

    /// Borrows a resource for the call.
    ///
    /// # Errors
    ///
    /// [`CallFault::LentTwice`] if the call has already borrowed it.
    pub fn resource<'v, T: ?Sized>(
        &self,
        lent: ResourceHandle<'v, T>,
        parameter: &str,
    ) -> Result<std::cell::RefMut<'v, T>> {
        lent.value().ok_or_else(|| self.error(CallFault::LentTwice { parameter: parameter.to_owned() }))
    }

    /// Runs the body while its stream captures.
    ///
    /// # Errors
    ///
    /// The body's error, or [`Error::Call`] if it panicked, broke off the capture or did something that a
    /// capture cannot hold.
    pub fn run<E: Display>(
        &mut self,
        body: impl FnOnce(&CallStream) -> std::result::Result<(), E>,
    ) -> Result<()> {
        let mut body = Some(body);
        self.run_erased(&mut |stream| match body.take() {
            Some(body) => body(stream).map_err(|error| error.to_string()),
            None => Ok(()),
        })
    }

    fn run_erased(
        &mut self,
        body: &mut dyn FnMut(&CallStream) -> std::result::Result<(), String>,
    ) -> Result<()> {
        if self.describes {
            return self.describe(body);
        }
        let (driver, raw) = (self.driver, self.stream.raw());
        let _capturing = during_capture();
        let _ = self.stream.take_failure();
        // The arguments' expressions may have changed the current context.
        driver.enter(self.context).map_err(|failure| self.failed(failure))?;
        driver.begin_capture(raw, self.graph, self.after).map_err(|failure| self.failed(failure))?;
        let began = driver.capture_info(raw);
        let filled = self
            .leading_fill
            .map_or(Ok(()), |fill| driver.set_bytes(fill.address, fill.value, fill.bytes, raw));
        let ending = driver.capturing(|| {
            let stream = self.stream.stream();
            catch_unwind(AssertUnwindSafe(|| body(stream))).map_err(message)
        });
        let context = driver.current_context();
        let entered = driver.enter(self.context);
        let info = driver.capture_info(raw);
        let ended = self.end(&began, &info);
        let kept = self.stream.take_failure();
        let ending = self.check_ending(ending.map_err(|failure| self.failed(failure)), ended)?;
        match ending {
            Err(text) => return Err(self.error(CallFault::Panicked(text))),
            Ok(Err(text)) => return Err(self.error(CallFault::Returned(text))),
            Ok(Ok(())) => {}
        }
        if let Some(failure) = kept {
            return Err(self.failed(failure));
        }
        filled.map_err(|failure| self.failed(failure))?;
        entered.map_err(|failure| self.failed(failure))?;
        if context.map_err(|failure| self.failed(failure))? != self.context {
            return Err(self.error(CallFault::OtherContext));
        }
        let CaptureInfo { frontier, .. } = info.map_err(|failure| self.failed(failure))?;
        self.captured = Some(self.collect_captured(frontier)?);
        Ok(())
    }

    /// Runs the body of a collective, which must not enqueue anything.
    fn describe(
        &mut self,
        body: &mut dyn FnMut(&CallStream) -> std::result::Result<(), String>,
    ) -> Result<()> {
        let _ = self.stream.stream().take_collective();
        let ending = catch_unwind(AssertUnwindSafe(|| body(self.stream.stream()))).map_err(message);
        self.driver.enter(self.context).map_err(|failure| self.failed(failure))?;
        match ending {
            Err(text) => return Err(self.error(CallFault::Panicked(text))),
            Ok(Err(text)) => return Err(self.error(CallFault::Returned(text))),
            Ok(Ok(())) => {}
        }
        self.described = self.stream.stream().take_collective();
        if self.described.is_none() { Err(self.error(CallFault::NoCollective)) } else { Ok(()) }
    }

    /// Ends the capture. Returns its status. `None` if the active capture is not the one that `run` began.
    fn end(
        &mut self,
        began: &Outcome<CaptureInfo>,
        info: &Outcome<CaptureInfo>,
    ) -> Option<Outcome<CaptureStatus>> {
        let (driver, raw) = (self.driver, self.stream.raw());
        let status = info.as_ref().map_or(CaptureStatus::Invalidated, |info| info.status);
        let own = match (began, info) {
            // The driver returns the id only of an active capture.
            (Ok(began), Ok(info)) if status == CaptureStatus::Active => began.id == info.id,
            _ => status != CaptureStatus::None,
        };
        let end = if status == CaptureStatus::None { Ok(self.graph) } else { driver.end_capture(raw) };
        if !own {
            self.graph_unusable = true;
            // The body has begun a capture of its own.
            if let Ok(other) = end
                && other != self.graph
                && driver.destroy_graph(other).is_err()
            {
                self.stream.lose();
            }
            return None;
        }
        let end = end.and_then(|_| began.as_ref().map(drop).map_err(|&failure| failure));
        if end.is_err() || status != CaptureStatus::Active {
            self.graph_unusable = true;
            if driver.is_capturing(raw) != Ok(false) {
                self.stream.lose();
            }
        }
        Some(end.map(|()| status))
    }

    /// Returns the body's result, or the error of its capture.
    fn check_ending(
        &self,
        ending: Result<BodyResult>,
        ended: Option<Outcome<CaptureStatus>>,
    ) -> Result<BodyResult> {
        let ending = ending?;
        let Some(ended) = ended else { return Err(self.error(CallFault::Ended)) };
        match (ended, &ending) {
            (Ok(CaptureStatus::Active), _) | (_, Err(_)) => Ok(ending),
            (Err(Failure { code: CAPTURE_UNJOINED, .. }), Ok(Ok(()))) => Err(self.error(CallFault::Unjoined)),
            (Err(Failure { code: CAPTURE_UNJOINED, .. }), Ok(Err(_))) => Ok(ending),
            (Err(Failure { code: CAPTURE_INVALIDATED, .. }) | Ok(_), Ok(said)) => {
                Err(self.error(CallFault::Invalidated { said: said.as_ref().err().cloned() }))
            }
            (Err(failure), Ok(_)) => Err(self.failed(failure)),
        }
    }

    /// Collects the captured nodes: walks back from the frontier to the call's predecessors.
    fn collect_captured(&self, frontier: Vec<Node>) -> Result<CapturedNodes> {
        let before: BTreeSet<Node> = self.after.iter().copied().collect();
        let (mut reached, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut captured = CapturedNodes { frontier, ..CapturedNodes::default() };
        let mut work = captured.frontier.clone();
        let mut sources = Vec::new();
        let mut kernels = BTreeSet::new();
        while let Some(node) = work.pop() {
            if before.contains(&node) {
                reached.insert(node);
                continue;
            }
            if !seen.insert(node) {
                continue;
            }
            captured.nodes.push(node);
            let kind = self.driver.node_kind(node).map_err(|failure| self.failed(failure))?;
            match kind {
                NodeKind::Alloc | NodeKind::Free => return Err(self.error(CallFault::Allocates)),
                NodeKind::Kernel => drop(kernels.insert(node)),
                NodeKind::Outside => {
                    if let Some(body) = self.in_body.clone() {
                        return Err(self.error(CallFault::InBody { body }));
                    }
                }
                NodeKind::Other => {}
            }
            let dependencies = self.driver.dependencies(node).map_err(|failure| self.failed(failure))?;
            if dependencies.is_empty() && !before.is_empty() {
                return Err(self.error(CallFault::Detached));
            }
            for (node, programmatic) in dependencies {
                sources.extend(programmatic.then_some(node));
                work.push(node);
            }
        }
        if reached != before {
            return Err(self.error(CallFault::Detached));
        }
        captured.has_programmatic_edges = !sources.is_empty();
        captured.frontier.extend(sources);
        captured.frontier.sort_unstable();
        captured.frontier.dedup();
        captured.ends_in_kernel = matches!(captured.frontier.as_slice(), [last] if kernels.contains(last));
        if captured.nodes.is_empty()
            && let Some(statement) = self.callee.capture()
        {
            self.check_writes_nothing(statement)?;
        }
        Ok(captured)
    }

    /// Checks a call that captured nothing: it must not declare that it writes a parameter.
    fn check_writes_nothing(&self, statement: StatementId) -> Result<()> {
        let accesses = &self.callee.program.statements[statement].accesses;
        let written = accesses.iter().zip(&self.memory).zip(0u32..).find(|((access, memory), _)| {
            // Scratch is also declared as written, but nobody else reads it.
            let scratch = self.callee.program.buffers[access.buffer].origin.is_owned();
            access.mode == Mode::Write && memory.len > 0 && !scratch
        });
        match written {
            Some((_, index)) => Err(self.error(CallFault::Nothing { parameter: self.parameter(index) })),
            None => Ok(()),
        }
    }

    /// Returns the name of a buffer or a scratch of the callee.
    fn parameter(&self, index: u32) -> String {
        self.declared(index).map_or_else(String::new, |buffer| buffer.name.to_string())
    }

    fn is_scratch(&self, index: u32) -> bool {
        self.declared(index).is_some_and(|buffer| buffer.origin.is_owned())
    }

    fn declared(&self, index: u32) -> Option<&Buffer> {
        let access = self.callee.program.statements[self.callee.capture()?].accesses.get(size(index))?;
        Some(&self.callee.program.buffers[access.buffer])
    }

    fn error(&self, fault: CallFault) -> Error {
        Error::Call { at: self.at.clone(), fault }
    }

    fn failed(&self, failure: Failure) -> Error {
        Error::driver(failure, Some(self.at.clone()))
    }
}

const CAPTURE_INVALIDATED: u32 = 901;

/// Returns the message of a panic.
fn message(payload: Box<dyn Any + Send>) -> String {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a value that is not a string".to_owned(),
    };
    // Dropping a payload may panic again.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
    text
}
