//! The context in which statements are evaluated: the program, the device limits, and the loaded modules. It also
//! collects the results: words, unproved launches, extents and host functions.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::index::{Vector, size};
use cuweave_core::ir::{Access, Device, DimId, Program, StatementId};

use crate::cuda::{HostWork, Word};
use crate::error::{BadRows, ConfigFault, Error, PlanFault, Result, RowsFault, SourceLocation, at_statement};
use crate::kernels::{DeviceLimits, Finding, Modules};

use super::emission::element;
use super::host_functions::HostFunctionId;
use super::rows::RowNumbers;

/// Launches that are not proved to write all of their write-only parameters, with the findings.
pub(crate) type UnprovedLaunches = Vec<(StatementId, Vec<Finding>)>;

/// By launch, the number of elements that it accesses of each buffer.
pub(crate) type LaunchExtents = BTreeMap<StatementId, Vec<u64>>;

/// The evaluator of the current statement.
pub(super) struct Evaluator<'b> {
    pub program: &'b Program,
    pub dims: &'b Vector<DimId, u64>,
    /// The limits of each device.
    pub limits: &'b Vector<Device, DeviceLimits>,
    pub modules: &'b mut Modules,
    /// The statements that may have no blocks or bytes.
    pub may_be_empty: &'b BTreeSet<StatementId>,
    /// The current statement.
    pub statement: StatementId,
    /// The values of parameters.
    pub words: Vec<Word>,
    /// See [`UnprovedLaunches`].
    pub unproved: UnprovedLaunches,
    /// False if launches need not write all elements that they must, nor stay within them.
    pub checks_accesses: bool,
    /// The launches' extents in elements. `None` unless requested.
    pub extents: Option<LaunchExtents>,
    /// The functions of host statements.
    pub works: Vec<(HostFunctionId, HostWork)>,
}

impl<'b> Evaluator<'b> {
    /// Returns access `index` of the current statement.
    pub fn access(&self, index: u32) -> Result<&'b Access> {
        // The table and the index are generated together, so the index is out of range only if they do not match.
        self.program.statements[self.statement]
            .accesses
            .get(size(index))
            .ok_or_else(|| PlanFault::NoAccess { at: self.at(), index }.into())
    }
}

impl Evaluator<'_> {
    #[cold]
    #[inline(never)]
    pub fn at(&self) -> Box<SourceLocation> {
        at_statement(self.program, self.statement)
    }

    #[cold]
    #[inline(never)]
    pub fn config_error(&self, reason: ConfigFault) -> Error {
        Error::Config { at: self.at(), reason }
    }

    /// Adds the statement's source location to a driver error that has none.
    pub fn with_location(&self, mut error: Error) -> Error {
        if let Error::Driver(failure) = &mut error
            && failure.at.is_none()
        {
            failure.at = Some(self.at());
        }
        error
    }

    /// Returns the device of the current statement.
    pub fn device(&self) -> Device {
        self.program.statements[self.statement].device
    }

    /// Returns the length of an access in elements.
    pub fn len(&self, access: &Access) -> u64 {
        self.dims[access.hi] - self.dims[access.lo]
    }

    /// Returns an error about the rows of an access.
    #[cold]
    #[inline(never)]
    pub fn rows_error(&self, access: &Access, reason: RowsFault) -> Error {
        let text = access.rows.map_or_else(String::new, |rows| self.program.rows_text(access, &rows));
        Error::Rows(Box::new(BadRows { at: self.at(), text, reason }))
    }

    /// Checks that the pitch of an access does not exceed the limit of the device.
    pub fn check_pitch(&self, access: &Access) -> Result<()> {
        let Some(rows) = RowNumbers::of(access, self.dims) else { return Ok(()) };
        let (bytes, max) = (
            rows.pitch.saturating_mul(element(self.program, access.buffer)),
            self.limits[self.device()].max_pitch,
        );
        if bytes <= max { Ok(()) } else { Err(self.rows_error(access, RowsFault::Limit { bytes, max })) }
    }

    pub fn name(&self, access: &Access) -> String {
        self.program.buffers[access.buffer].name.to_string()
    }

    /// Returns true if the current statement may have no blocks or bytes.
    pub fn may_be_empty(&self) -> bool {
        self.may_be_empty.contains(&self.statement)
    }

    /// Checks that no access of a memset or memcpy node is empty, unless it may be.
    pub fn check_not_empty(&self) -> Result<()> {
        if self.may_be_empty() {
            return Ok(());
        }
        let accesses = &self.program.statements[self.statement].accesses;
        match accesses.iter().find(|access| self.len(access) == 0) {
            None => Ok(()),
            Some(access) => {
                let text = |id: DimId| &self.program.dims[id];
                let text = format!("{}[{}..{}]", self.name(access), text(access.lo), text(access.hi));
                Err(Error::ZeroLength { at: self.at(), text })
            }
        }
    }
}
