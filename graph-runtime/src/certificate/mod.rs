//! The certificate of a graph, for the crate `cuweave-check`: the program in one half, the graph that was made of it
//! in the other.
//!
//! - `source`: the program, from the statements as they are expanded and the declarations of what they run;
//! - `plan`: the graph, from the operations and the values that nodes are given;
//! - `read_back`: the graph as the driver has it;
//! - `touches`: the bytes that blocks of fused launches touch, and the reads that registers serve.

mod plan;
mod read_back;
mod source;
mod touches;

use cuweave_check::{Certificate, Refusal};

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use crate::bind::Operand;
use crate::build::{BuiltGraph, Definition};
use crate::error::{BrokenCertificate, Error, Result};
use cuweave_core::ir::Program;

/// A graph whose nodes are added.
pub(crate) struct Certified<'c> {
    pub definition: &'c Definition,
    pub built: &'c BuiltGraph,
    pub operands: &'c [Operand],
}

impl Certified<'_> {
    /// Returns the certificate of the graph. O(accesses + edges), and for fused launches the number of their accesses.
    pub fn certificate(&self) -> Certificate {
        let (source, numbering) = self.source();
        let plan = self.plan(&source, &numbering).plan;
        Certificate { source, plan }
    }

    /// Returns the certificate of the graph with the nodes, the edges and the values that the driver has.
    ///
    /// # Errors
    ///
    /// A failure of the driver; a node that was not added for the program.
    pub fn read_back(&self) -> Result<Certificate> {
        let (source, numbering) = self.source();
        let plan = self.driver_plan(self.plan(&source, &numbering))?;
        Ok(Certificate { source, plan })
    }

    /// Checks the certificate of the graph: as it was planned, and if `reads_back` is true also as the driver has it.
    ///
    /// # Errors
    ///
    /// [`Error::Certificate`]: an error of this crate, which would have made the graph wrong. A failure of the driver.
    pub fn check(&self, reads_back: bool) -> Result<()> {
        let check = |certificate: &Certificate| {
            if let Some(folder) = std::env::var_os(FOLDER) {
                self.write(Path::new(&folder), certificate);
            }
            cuweave_check::check(certificate).map_err(|refusal| self.refused(refusal))
        };
        check(&self.certificate())?;
        if reads_back { check(&self.read_back()?) } else { Ok(()) }
    }

    /// Writes a certificate as a file of a folder, named by the function and a hash of the text. A file that cannot
    /// be written is left out.
    fn write(&self, folder: &Path, certificate: &Certificate) {
        let text = certificate.to_string();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let function = self.definition.program().name.to_string();
        let plain: String = function.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        drop(std::fs::write(folder.join(format!("{plain}-{:016x}.txt", hasher.finish())), text));
    }

    fn refused(&self, refusal: Refusal) -> Error {
        let function = self.definition.program().name.to_string();
        Error::Certificate(Box::new(BrokenCertificate { function, refusal }))
    }
}

/// The variable of the environment with a folder: each certificate that is checked is also written there, as text.
const FOLDER: &str = "CUWEAVE_CERTIFICATES";

/// The variable of the environment that asks for checks: `0` for none, anything else for one of each graph, which is
/// also read back.
const VARIABLE: &str = "CUWEAVE_CHECK";

/// The number of statements from which on a debug build does not check by itself.
const MAX_STATEMENTS: usize = 2_000;

/// When certificates are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Never.
    No,
    /// As the graph was planned.
    Planned,
    /// Also as the driver has it.
    ReadBack,
}

/// Returns when the certificate of a graph is checked.
pub(crate) fn wanted(program: &Program) -> Wanted {
    match std::env::var_os(VARIABLE) {
        Some(value) if value == OsStr::new("0") => Wanted::No,
        Some(_) => Wanted::ReadBack,
        None if program.options.check => Wanted::Planned,
        None if cfg!(debug_assertions) && program.statements.len() < MAX_STATEMENTS => Wanted::Planned,
        None => Wanted::No,
    }
}
