//! Library calls: their bodies run while a stream of cuweave's captures into the graph, behind the nodes that the call comes after.
//!
//! The frontier of the capture is read before the capture ends; the nodes that come after the call come after all of it. What was
//! captured is looked at, from the frontier back to the nodes before. A programmatic edge between captured kernels orders less
//! than a full one, so its source joins the frontier. So a frontier of one kernel comes after all of the call by full edges, and
//! an edge out of it may be programmatic like one out of a kernel of the user's (`overlap.rs`).
//!
//! After a capture that was invalidated, or that could not be ended, the driver's graph is of no use, and drivers crash when it is
//! destroyed: it is leaked, and the stream is not used again.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cuweave_core::index::size;
use cuweave_core::ir::{Mode, StatementId};
use cuweave_core::table::TableHandle;

use crate::bind::Lent;
use crate::cuda::{
    CAPTURE_UNJOINED, CallBuffer, CallStream, CaptureInfo, CaptureStatus, CaptureStream, Collective, Context,
    Driver, ElementRange, Failure, Node, NodeKind, Outcome, RawGraph, during_capture,
};
use crate::error::{At, CallFault, Error, PlanFault, Quantity, Result};
use crate::statements::Dim;

/// The nodes of a library call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured {
    /// The nodes that whatever comes after the call depends on: the nodes before it, if it captured nothing.
    pub frontier: Vec<Node>,
    /// All nodes that were captured, the last ones first. Behind a child-graph node, those of its graph.
    pub nodes: Vec<Node>,
    /// The number of these that are in child graphs.
    pub inner: usize,
    /// True if the frontier is one kernel node of the call, so that its edges may be programmatic.
    pub ends_in_kernel: bool,
}

/// A library call while its body runs: generated code takes the memory of its parameters from here.
pub struct Capture<'c> {
    pub(crate) driver: &'static Driver,
    pub(crate) context: Context,
    pub(crate) graph: RawGraph,
    pub(crate) after: &'c [Node],
    pub(crate) stream: &'c mut CaptureStream,
    pub(crate) callee: TableHandle,
    pub(crate) at: Box<At>,
    /// The elements of each buffer and each scratch, in the order of the parameters.
    pub(crate) memory: Vec<ElementRange>,
    pub(crate) captured: Option<Captured>,
    /// The name of the body, if the graph is one of a conditional node.
    pub(crate) in_body: Option<String>,
    /// True if the graph is of no use any more.
    pub(crate) spoiled: bool,
    /// True if the body describes a collective, and nothing is captured while it runs.
    pub(crate) describes: bool,
    /// The collective that it has described.
    pub(crate) described: Option<Collective>,
}

impl std::fmt::Debug for Capture<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capture").field("call", &self.at.name).finish_non_exhaustive()
    }
}

/// The end of a body: what it returned, or the message that it panicked with.
type Ending = std::result::Result<std::result::Result<(), String>, String>;

impl Capture<'_> {
    /// Returns the memory of a parameter, counted among buffers and then scratch, which is declared with that length.
    ///
    /// # Errors
    ///
    /// Another length than the memory was planned with.
    pub fn buffer<T>(&self, index: u32, declared: Dim) -> Result<CallBuffer<T>> {
        let missing = || PlanFault::NoParameter { at: self.at.clone(), index };
        let &ElementRange { address, len: planned } = self.memory.get(size(index)).ok_or_else(missing)?;
        let now = declared.value().map_err(|fault| Error::Size {
            what: Quantity::ParameterLength,
            at: self.at.clone(),
            text: self.parameter(index),
            fault,
        })?;
        if now != planned {
            return Err(self.error(CallFault::Resized { parameter: self.parameter(index), planned, now }));
        }
        Ok(CallBuffer::new(self.stream, address, planned))
    }

    /// Lends a resource.
    ///
    /// # Errors
    ///
    /// One that is lent to this call already.
    pub fn resource<'v, T: ?Sized>(
        &self,
        lent: Lent<'v, T>,
        parameter: &str,
    ) -> Result<std::cell::RefMut<'v, T>> {
        lent.value().ok_or_else(|| self.error(CallFault::LentTwice { parameter: parameter.to_owned() }))
    }

    /// Runs the body while its stream captures.
    ///
    /// # Errors
    ///
    /// The errors of the body, and of calls that a body must not make.
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
        // The expressions of the arguments may have changed the current context.
        driver.enter(self.context).map_err(|failure| self.failed(failure))?;
        driver.begin_capture(raw, self.graph, self.after).map_err(|failure| self.failed(failure))?;
        let began = driver.capture_info(raw);
        let ending = driver.capturing(|| {
            let stream = self.stream.stream();
            catch_unwind(AssertUnwindSafe(|| body(stream))).map_err(message)
        });
        let context = driver.current_context();
        let entered = driver.enter(self.context);
        let info = driver.capture_info(raw);
        let ended = self.end(&began, &info);
        let kept = self.stream.take_failure();
        let ending = self.judge(ending.map_err(|failure| self.failed(failure)), ended)?;
        match ending {
            Err(text) => return Err(self.error(CallFault::Panicked(text))),
            Ok(Err(text)) => return Err(self.error(CallFault::Returned(text))),
            Ok(Ok(())) => {}
        }
        if let Some(failure) = kept {
            return Err(self.failed(failure));
        }
        entered.map_err(|failure| self.failed(failure))?;
        if context.map_err(|failure| self.failed(failure))? != self.context {
            return Err(self.error(CallFault::OtherContext));
        }
        let CaptureInfo { frontier, .. } = info.map_err(|failure| self.failed(failure))?;
        self.captured = Some(self.look_at(frontier)?);
        Ok(())
    }

    /// Runs the body of a collective, which enqueues nothing.
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

    /// Ends the capture. Returns the failure of the end, or `None` if the capture is not the one that was begun.
    fn end(
        &mut self,
        began: &Outcome<CaptureInfo>,
        info: &Outcome<CaptureInfo>,
    ) -> Option<Outcome<CaptureStatus>> {
        let (driver, raw) = (self.driver, self.stream.raw());
        let status = info.as_ref().map_or(CaptureStatus::Invalidated, |info| info.status);
        let own = match (began, info) {
            // The driver tells the id of an active capture alone.
            (Ok(began), Ok(info)) if status == CaptureStatus::Active => began.id == info.id,
            _ => status != CaptureStatus::None,
        };
        let end = if status == CaptureStatus::None { Ok(self.graph) } else { driver.end_capture(raw) };
        if !own {
            self.spoiled = true;
            // A capture that the body began by itself.
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
            self.spoiled = true;
            if driver.is_capturing(raw) != Ok(false) {
                self.stream.lose();
            }
        }
        Some(end.map(|()| status))
    }

    /// Returns the end of the body, unless the capture has come to a bad one.
    fn judge(&self, ending: Result<Ending>, ended: Option<Outcome<CaptureStatus>>) -> Result<Ending> {
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

    /// Walks back from the frontier to the nodes before the call, and returns what lies between.
    fn look_at(&self, frontier: Vec<Node>) -> Result<Captured> {
        let before: BTreeSet<Node> = self.after.iter().copied().collect();
        let (mut reached, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut captured = Captured { frontier, ..Captured::default() };
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
        captured.frontier.extend(sources);
        captured.frontier.sort_unstable();
        captured.frontier.dedup();
        captured.ends_in_kernel = matches!(captured.frontier.as_slice(), [last] if kernels.contains(last));
        if captured.nodes.is_empty()
            && let Some(statement) = self.callee.capture()
        {
            self.writes_nothing(statement)?;
        }
        Ok(captured)
    }

    /// Checks a call that captured nothing: it may not declare that it writes a parameter.
    fn writes_nothing(&self, statement: StatementId) -> Result<()> {
        let accesses = &self.callee.program.statements[statement].accesses;
        let written = accesses.iter().zip(&self.memory).zip(0u32..).find(|((access, memory), _)| {
            // The scratch of a call is written too, and read by nobody else.
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
        let statement = self.callee.capture().map(|at| &self.callee.program.statements[at]);
        let access = statement.and_then(|statement| statement.accesses.get(size(index)));
        access.map_or_else(String::new, |access| self.callee.program.buffers[access.buffer].name.to_string())
    }

    fn error(&self, fault: CallFault) -> Error {
        Error::Call { at: self.at.clone(), fault }
    }

    fn failed(&self, failure: Failure) -> Error {
        Error::driver(failure, Some(self.at.clone()))
    }
}

/// `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
const CAPTURE_INVALIDATED: u32 = 901;

/// Returns the message of a panic.
fn message(payload: Box<dyn Any + Send>) -> String {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a value that is no text".to_owned(),
    };
    // The drop of a value that is no text may panic again.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
    text
}
