//! Computes the bytes that each statement reads and writes according to its declarations, for reports of
//! bandwidth.

use cuweave_core::flattened::Flattened;
use cuweave_core::index::Vector;
use cuweave_core::ir::{DimId, Mode, StatementId};
use cuweave_core::kind::Traffic;

use crate::kernels::ParamKind;
use crate::statements::{LaunchExtents, RowNumbers, StatementRecord, StatementRecordExt, element};

/// Returns the bytes that one run of each statement moves. A launch counts the extents of its parameters, twice
/// for those that it reads and writes. A copy counts both ranges, a fill its range, a library call its buffers
/// without scratch. `extents` has the extents of the launches.
pub(crate) fn traffic(
    flat: &Flattened,
    dims: &Vector<DimId, u64>,
    records: &Vector<StatementId, StatementRecord>,
    extents: &LaunchExtents,
) -> Vector<StatementId, u64> {
    let statements = flat.checked.program().statements.ids();
    statements.map(|statement| bytes_of(flat, statement, dims, records, extents)).collect()
}

fn bytes_of(
    flat: &Flattened,
    statement: StatementId,
    dims: &Vector<DimId, u64>,
    records: &Vector<StatementId, StatementRecord>,
    extents: &LaunchExtents,
) -> u64 {
    let program = flat.checked.program();
    let declared = &program.statements[statement];
    let range = |at: usize| {
        let access = &declared.accesses[at];
        let whole = dims[access.hi].saturating_sub(dims[access.lo]);
        RowNumbers::of(access, dims).map_or(whole, RowNumbers::elements)
    };
    let all = 0..declared.accesses.len();
    let bytes = |at: usize, elements: u64, times: u64| {
        elements.saturating_mul(element(program, declared.accesses[at].buffer)).saturating_mul(times)
    };
    let by_mode = |at: usize| match declared.accesses[at].mode {
        Mode::Read | Mode::Write => 1,
        Mode::ReadWrite | Mode::Atomic => 2,
    };
    match declared.kind.traffic() {
        Traffic::Parameters => {
            let kernel = records[statement].launch().map(|launch| launch.kernel);
            let params = kernel.iter().flat_map(|kernel| kernel.params);
            let params = params.filter(|param| param.kind != ParamKind::Scalar);
            let given = params.clone().count();
            let extents = extents.get(&statement).map_or(&[][..], Vec::as_slice);
            // The buffers that tables of pointers refer to.
            let pointed = all.clone().skip(given).map(|at| bytes(at, range(at), by_mode(at)));
            all.zip(params)
                .map(|(at, param)| {
                    let times = match param.kind {
                        ParamKind::Read | ParamKind::Write => 1,
                        ParamKind::ReadWrite | ParamKind::Atomic => 2,
                        ParamKind::Scalar => 0,
                    };
                    bytes(at, extents.get(at).copied().unwrap_or_else(|| range(at)), times)
                })
                .chain(pointed)
                .fold(0, u64::saturating_add)
        }
        Traffic::Ranges => all.map(|at| bytes(at, range(at), 1)).fold(0, u64::saturating_add),
        Traffic::Buffers => {
            let scratch = flat.scratch(statement);
            let buffers = all.filter(|at| !scratch.get(*at).copied().unwrap_or(false));
            buffers.map(|at| bytes(at, range(at), by_mode(at))).fold(0, u64::saturating_add)
        }
        Traffic::Nothing => 0,
    }
}
