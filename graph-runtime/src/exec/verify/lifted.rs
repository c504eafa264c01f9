//! Compares an exec's statements as written with what is made of their graph without the declarations: it is lifted, as
//! a graph of other code is.
//!
//! What the kernels access is then inferred from their PTX alone. A race, an access outside of an allocation, or other
//! bytes show that a declaration, the order that follows from it, or the inference is wrong.

use crate::builder::Args;
use crate::error::Error;
use crate::exec::Generated;
use crate::lift::{Captured, lift_known};

use crate::token::Token;

use super::memory::Step;
use super::session::Session;

/// The result of lifting the statements as written.
pub(super) enum LiftedComparison {
    Same,
    /// The graph cannot be lifted, with the reason.
    NotLifted(String),
    /// What is wrong.
    Different(String),
}

/// Lifts the graph of the statements as written, and compares what both leave.
pub(super) fn compare(session: &mut Session<'_, '_>) -> Step<LiftedComparison> {
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
