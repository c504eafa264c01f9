//! Lifts graphs of other code: from a captured graph and the PTX of its kernels to findings and a graph of ours.
//!
//! - `captured`: the graph; `nodes`: its nodes and their order; `memory`: the allocations that it uses;
//! - `texts`: the PTX, and what each kernel does with its parameters; `footprints`: the bytes that a launch accesses;
//! - `accesses`, `analysis`: what each node accesses, and races; `written`: reads of memory that nothing wrote;
//!   `findings`: both for users; `read`: all of it;
//! - `graph`: the statements, through the builder; `kept`: nodes that are kept as they were captured; `dot`: pictures.

// `lift` is unsafe: nothing can check the addresses that a graph has captured.
#![allow(unsafe_code)]

use std::fmt;
use std::sync::Arc;

use cudarc::driver::CudaContext;
#[cfg(feature = "inspect")]
use cuweave_inspect::BesideInput;

use crate::builder::Args;
use crate::context;
use crate::error::{Error, LiftFault, Result};
use crate::exec::{
    Generated, Graph, LiftedComparison, VerificationSession, VerificationStep, set_lifted_comparison,
};
use crate::token::Token;

mod accesses;
mod analysis;
mod captured;
mod dot;
mod findings;
mod footprints;
mod graph;
mod kept;
mod memory;
mod nodes;
mod read;
mod texts;
mod written;

use analysis::Analysed;
pub use captured::Captured;
pub use findings::{Finding, Findings, FoundAccess};
use nodes::Nodes;
use read::ReadGraph;

/// A captured graph that was lifted: what was found in it, and the graph that is made of it.
pub struct Lifted(ReadGraph);

/// Lifts a captured graph: reads its nodes from the driver, and what its kernels do from their PTX.
///
/// Each kernel node whose PTX is given becomes a launch whose declaration is inferred: which bytes it reads and writes
/// through each pointer, for its own grid and values. The captured order is the program, and the lifted graph keeps
/// only the order that these accesses need. Nodes that cannot be described so are kept as they were captured, in the
/// order in which they were captured: [`Finding::Kept`] says why.
///
/// # Complexity
///
/// The square of the number of nodes in bits, and of the accesses of each allocation.
///
/// # Safety
///
/// You guarantee that
///
/// - the addresses in the graph are those of live memory as long as the result and its execs are used, that nothing but
///   the execs uses this memory meanwhile, and that the context is that of the graph;
/// - modules, events and data of host functions that the graph uses live as long ([`Captured::keeping`]);
/// - `ptx` is the PTX of the modules that the kernels were launched from, and no code has changed their variables;
/// - each kernel accesses only the allocations that its pointer parameters are in, and kernels that are kept get the
///   addresses of memory that nodes allocate as aligned words of their parameters, not from memory.
///
/// # Errors
///
/// A text that is no PTX, or is that of another kernel of the same name; a node that cannot be read; a failure of the
/// driver.
pub unsafe fn lift<R>(ctx: &Arc<CudaContext>, captured: &Captured<R>, ptx: &[&str]) -> Result<Lifted> {
    lift_known(ctx, captured, ptx)
}

/// Lifts a graph whose memory is known to live as long as the execs that are made of it.
pub(crate) fn lift_known<R>(ctx: &Arc<CudaContext>, captured: &Captured<R>, ptx: &[&str]) -> Result<Lifted> {
    let captured = captured.shared.clone();
    context::enter(captured.driver, ctx)?;
    let texts = ptx.iter().enumerate().map(|(at, text)| texts::text(at, text)).collect::<Result<Vec<_>>>()?;
    let nodes = Nodes::read(ctx, &captured)?;
    if nodes.list.is_empty() {
        return Err(Error::Lift(Box::new(LiftFault::Empty)));
    }
    let mut analysed = Analysed::new(captured.driver, nodes, &texts)?;
    let placed = analysed.find_unwritten();
    analysed.find_overwritten();
    let mut list = std::mem::take(&mut analysed.findings);
    list.sort_by_key(Finding::is_kept);
    let findings = Findings { list };
    Ok(Lifted(ReadGraph { ctx: ctx.clone(), captured, analysed, placed, findings }))
}

impl Lifted {
    /// Returns what was found in the captured graph.
    pub fn findings(&self) -> &Findings {
        &self.0.findings
    }

    /// Returns the number of nodes of the captured graph.
    pub fn nodes(&self) -> usize {
        self.0.analysed.nodes.list.len()
    }

    /// Returns the captured graph in the DOT language: kept nodes are grey, those of possible faults orange, those of
    /// certain ones red, and races dashed lines. That of the lifted graph is [`Graph::dot`].
    pub fn dot(&self) -> String {
        dot::dot(&self.0)
    }

    /// Returns an HTML page with the captured graph, and `graph`, which was made of it, beside it: what was found about
    /// each node, what is kept as captured and why, and the report of the lifted graph.
    #[cfg(feature = "inspect")]
    pub fn page(&self, graph: &Graph<Args<'_>>) -> String {
        let nodes = dot::boxes(&self.0);
        let (findings, lifted, report) = (self.0.findings.to_string(), graph.svg(), graph.report());
        let page = BesideInput { nodes: &nodes, findings: &findings, lifted: &lifted, report: &report };
        cuweave_inspect::beside(&page)
    }

    /// Builds the graph: with the same results as the captured one, where that has no race. Memory that nodes allocate
    /// and free becomes temporaries; allocations that leave the graph are its outputs, in the order of their nodes.
    ///
    /// # Errors
    ///
    /// Memory that is used before it is allocated, after it is freed, or that is not there; the errors of
    /// [`Builder::build`](crate::builder::Builder::build).
    pub fn graph(&self) -> Result<Graph<Args<'static>>> {
        graph::graph(&self.0)
    }
}

impl fmt::Debug for Lifted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lifted")
            .field("nodes", &self.nodes())
            .field("findings", self.findings())
            .finish_non_exhaustive()
    }
}

/// Lets the first launches of execs compare their statements as written so, with the environment variable
/// `CUWEAVE_VERIFY=lift`.
pub fn verify_by_lifting() {
    set_lifted_comparison(compare);
}

/// Lifts the graph of the statements as written, and compares what both leave: a second pair of eyes for declarations.
/// Accesses are inferred from PTX alone, so a race, an access outside of an allocation, or other bytes show that a
/// declaration, the order that follows from it, or the inference is wrong.
fn compare(session: &mut VerificationSession<'_, '_>) -> VerificationStep<LiftedComparison> {
    if session.core.definition.contexts.len() > 1 {
        return Ok(LiftedComparison::NotLifted("it has several devices".to_owned()));
    }
    if !session.core.built.state.disabled.is_empty() {
        return Ok(LiftedComparison::NotLifted(
            "an exec switches nodes off, and a graph does not".to_owned(),
        ));
    }
    let (graph, texts) = session.written.read();
    let captured = Captured::unowned(session.core.definition.driver, graph);
    let lifted = match lift_known(&session.core.definition.ctx, &captured, &texts) {
        Ok(lifted) => lifted,
        Err(Error::Lift(fault)) => return Ok(LiftedComparison::NotLifted(fault.to_string())),
        Err(error) => return Err(error.into()),
    };
    if let Some(fault) = lifted.findings().faults().next() {
        return Ok(LiftedComparison::Different(fault.to_string()));
    }
    let graph = match lifted.graph() {
        Ok(graph) => graph,
        Err(Error::Lift(fault)) => return Ok(LiftedComparison::NotLifted(fault.to_string())),
        Err(error) => return Ok(LiftedComparison::Different(format!("it is refused: {error}"))),
    };
    if let Err(refusal) = cuweave_check::check(&graph.certificate()) {
        return Ok(LiftedComparison::Different(format!("its certificate is refused: {refusal}")));
    }
    let exec = graph.instantiate()?;
    let comparison = session.compare_lifted(Args::core(&exec, Token).core.built.handle.exec)?;
    Ok(match comparison.difference {
        None => LiftedComparison::Same,
        Some(found) => LiftedComparison::Different(format!(
            "element {} of buffer {} is {:?}, and {:?} as written",
            found.element,
            found.buffer.as_u32(),
            found.found,
            found.expected
        )),
    })
}
