//! The certificate of a graph, for the crate `cuweave-check`: the program in one half, the graph that was made of it in the other.
//!
//! - `source`: the program, from the statements as they are expanded and the declarations of what they run;
//! - `plan`: the graph, from the operations and the values that nodes are given;
//! - `touches`: the bytes that blocks of fused launches touch, and the reads that registers serve.

mod plan;
mod source;
mod touches;

use cuweave_check::Certificate;

use std::ffi::OsStr;

use crate::ir::Program;
use crate::runtime::bind::Operand;
use crate::runtime::build::{Definition, Nodes};
use crate::runtime::error::{Error, Result};

/// A graph whose nodes are added.
pub(crate) struct Certified<'c> {
    pub definition: &'c Definition,
    pub nodes: &'c Nodes,
    pub operands: &'c [Operand],
}

impl Certified<'_> {
    /// Returns the certificate of the graph. O(accesses + edges), and for fused launches the number of their accesses.
    pub fn certificate(&self) -> Certificate {
        let (source, numbering) = self.source();
        let plan = self.plan(&source, &numbering);
        Certificate { source, plan }
    }

    /// Checks the certificate of the graph.
    ///
    /// # Errors
    ///
    /// [`Error::Certificate`]: an error of this crate, which would have made the graph wrong.
    pub fn check(&self) -> Result<()> {
        let refused = |refusal: cuweave_check::Refusal| {
            let function = self.definition.program().name.to_string();
            Error::Certificate { function, rule: format!("{:?}", refusal.rule), reason: refusal.message }
        };
        cuweave_check::check(&self.certificate()).map_err(refused)
    }
}

/// The variable of the environment that asks for checks: `0` for none, anything else for one of each graph.
const VARIABLE: &str = "CUWEAVE_CHECK";

/// The number of statements from which on a debug build does not check by itself.
const MAX_STATEMENTS: usize = 2_000;

/// Returns true if the certificate of a graph is to be checked.
pub(crate) fn is_wanted(program: &Program) -> bool {
    match std::env::var_os(VARIABLE) {
        Some(value) => value != OsStr::new("0"),
        None => cfg!(debug_assertions) && program.statements.len() < MAX_STATEMENTS,
    }
}
