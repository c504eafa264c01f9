//! Writes the certificate of a graph for the crate `cuweave-check`: the program in one half, the graph made
//! from it in the other. The checker compares the two.
//!
//! - `source`: the program, from the expanded statements and their declarations;
//! - `plan`: the graph, from the planned operations and the values of their nodes;
//! - `read_back`: the graph as the driver holds it;
//! - `touches`: the bytes that blocks of fused launches access, and the reads that registers serve.

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
pub(crate) struct CertificateBuilder<'c> {
    pub definition: &'c Definition,
    pub built: &'c BuiltGraph,
    pub operands: &'c [Operand],
}

impl CertificateBuilder<'_> {
    /// Returns the certificate of the graph. O(accesses + edges), plus the accesses inside fused launches.
    pub fn certificate(&self) -> Certificate {
        let (source, numbering) = self.source();
        let plan = self.plan(&source, &numbering).plan;
        Certificate { source, plan }
    }

    /// Returns the certificate of the graph, built from the nodes, edges and values that the driver holds.
    ///
    /// # Errors
    ///
    /// A failure of the driver; a node that does not belong to the program.
    pub fn read_back(&self) -> Result<Certificate> {
        let (source, numbering) = self.source();
        let plan = self.driver_plan(self.plan(&source, &numbering))?;
        Ok(Certificate { source, plan })
    }

    /// Checks the certificate of the planned graph and, if `reads_back` is true, also of the driver's graph.
    ///
    /// # Errors
    ///
    /// [`Error::Certificate`]: a bug of this crate that would have made the graph wrong. A failure of the driver.
    pub fn check(&self, reads_back: bool) -> Result<()> {
        let check = |certificate: &Certificate| {
            if let Some(folder) = std::env::var_os(FOLDER_VARIABLE) {
                self.write(Path::new(&folder), certificate);
            }
            cuweave_check::check(certificate).map_err(|refusal| self.refused(refusal))
        };
        check(&self.certificate())?;
        if reads_back { check(&self.read_back()?) } else { Ok(()) }
    }

    /// Writes a certificate to a file in `folder`. Its name has the function and a hash of the text. Ignores
    /// failures to write.
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

/// The environment variable with a folder to which each checked certificate is also written, as text.
const FOLDER_VARIABLE: &str = "CUWEAVE_CERTIFICATES";

/// The environment variable that controls the checks. `0` disables them; any other value checks every graph,
/// also as read back from the driver.
const CHECK_VARIABLE: &str = "CUWEAVE_CHECK";

/// A debug build checks graphs with fewer statements than this by default.
const MAX_STATEMENTS: usize = 2_000;

/// The graph whose certificate is checked, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CertificateChecks {
    /// None: no check.
    No,
    /// The planned graph.
    Planned,
    /// The planned graph and the driver's graph.
    ReadBack,
}

/// Returns how the certificate of a graph is to be checked.
pub(crate) fn checks_for(program: &Program) -> CertificateChecks {
    match std::env::var_os(CHECK_VARIABLE) {
        Some(value) if value == OsStr::new("0") => CertificateChecks::No,
        Some(_) => CertificateChecks::ReadBack,
        None if program.options.check => CertificateChecks::Planned,
        None if cfg!(debug_assertions) && program.statements.len() < MAX_STATEMENTS => {
            CertificateChecks::Planned
        }
        None => CertificateChecks::No,
    }
}
