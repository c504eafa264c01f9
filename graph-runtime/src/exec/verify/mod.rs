//! Verifies an exec on its own device: compares what its launches leave with what its statements leave as written.
//!
//! The statements as written are a second graph (`build/duplicate`): a node for each launch, of the kernel as written,
//! full edges, and a place of its own for each temporary. It runs twice and the exec several times, always on the same
//! bytes (`comparison`). Both graphs run where the exec's launch would be enqueued: after all that a launch waits for,
//! and with the ledger and the module variables locked, so that no other exec uses the operands meanwhile. The host
//! waits for each run. Afterwards the operands have their bytes again, and no launch is recorded, since none is in
//! flight.
//!
//! - `memory`: saves, reads and restores memory; `comparison`: the runs, and the comparison of bytes; `blame`: searches
//!   the rewritten node that causes a difference; `value`, `verification`: the results.
//!
//! An exec that takes over outputs frees them in each launch, so a duplicate of its graph runs instead of it.

mod blame;
mod comparison;
mod memory;
mod session;
mod value;
mod verification;

use std::sync::{Arc, OnceLock};

use cudarc::driver::CudaStream;
use cuweave_core::ir::{StatementId, StatementKind};
use cuweave_core::kind::SyncOperation;

use crate::bind::{HandedOutput, HandedOutputs};
use crate::build::{Body, DuplicateForm, DuplicateGraph, KEPT_FILE};
use crate::cuda::OUT_OF_MEMORY;
use crate::error::{Difference, DifferenceCause, Error, Result, VerificationFault, VerificationObstacle};
use crate::error::{at_buffer, at_statement};
use crate::token::Token;

use super::core::Core;
use super::graph::{ExecCore, GraphFn};
use super::pooled::check_pool;

pub use comparison::limit_verified_pieces;
pub(crate) use memory::Step as VerificationStep;
pub(crate) use session::Session as VerificationSession;
pub use verification::Verification;

use comparison::LAUNCHES;
use memory::{Step, Stopped};
use session::Session;

/// The environment variable with which the first launch of each exec verifies it. `0` is the same as none. With `lift`,
/// what lifting makes of the statements as written is compared with them, once [`set_lifted_comparison`] was called.
const VERIFY_VARIABLE: &str = "CUWEAVE_VERIFY";

impl<A: GraphFn> ExecCore<A> {
    /// See the generated `verify`.
    pub fn verify(
        &mut self,
        stream: &Arc<CudaStream>,
        mut taken: impl HandedOutputs,
    ) -> Result<Verification> {
        let ExecCore { core, args, .. } = self;
        let function = core.definition.program().name.to_string();
        let mut verification = Verification::not_verified_because(&function, "nothing ran".to_owned());
        taken.with(&mut |taken| {
            verification = verify(core, &args.values(Token), stream, taken)?;
            Ok(())
        })?;
        Ok(verification)
    }

    /// Verifies the exec before its first launch, if the environment asks for it. A graph that cannot be verified is
    /// named on the standard error stream, and launched.
    #[cold]
    pub(super) fn verify_first(
        &mut self,
        stream: &Arc<CudaStream>,
        taken: &mut [&mut dyn HandedOutput],
    ) -> Result<()> {
        let value = std::env::var_os(VERIFY_VARIABLE);
        let Some(value) = value.filter(|value| value != "0") else { return Ok(()) };
        let ExecCore { core, args, .. } = self;
        if value == "lift" {
            return verify_lifted(core, &args.values(Token), stream, taken);
        }
        let unverified = match verify(core, &args.values(Token), stream, taken) {
            Ok(verification) => match verification.difference() {
                Some(difference) => {
                    let function = core.definition.program().name.to_string();
                    let fault = VerificationFault::Differs { function, difference: difference.clone() };
                    return Err(Error::Verification(Box::new(fault)));
                }
                None if verification.not_verified().is_some() => verification.to_string(),
                None => return Ok(()),
            },
            Err(Error::Verification(refused)) => refused.to_string(),
            Err(error) => return Err(error),
        };
        eprintln!("cuweave: {unverified}");
        Ok(())
    }
}

fn verify(
    core: &mut Core,
    body: &dyn Body,
    stream: &Arc<CudaStream>,
    taken: &mut [&mut dyn HandedOutput],
) -> Result<Verification> {
    check(core)?;
    let raw = core.check_stream(stream)?;
    check_pool(core, raw)?;
    core.synchronize()?;
    let compared = compare(core, body, stream, taken);
    // The memory of the duplicates is unmapped in the contexts of their devices.
    core.definition.driver.enter(core.definition.context)?;
    let function = core.definition.program().name.to_string();
    let reason = match compared {
        Ok(verification) => return Ok(verification),
        Err(Stopped::HostMemory(bytes)) => format!("the host has no memory for {bytes} bytes"),
        Err(Stopped::Error(Error::Driver(failure))) if failure.code == OUT_OF_MEMORY => failure.to_string(),
        Err(Stopped::Error(error)) => return Err(error),
    };
    Ok(Verification::not_verified_because(&function, reason))
}

/// The result of comparing the statements as written with what lifting makes of their graph.
pub enum LiftedComparison {
    Same,
    /// The graph cannot be lifted, with the reason.
    NotLifted(String),
    /// A fault, or the first difference.
    Different(String),
}

type CompareLifted = fn(&mut Session<'_, '_>) -> Step<LiftedComparison>;

static COMPARE_LIFTED: OnceLock<CompareLifted> = OnceLock::new();

/// Sets how statements as written are lifted and compared. Lifting is above execs.
pub fn set_lifted_comparison(compare: CompareLifted) {
    COMPARE_LIFTED.get_or_init(|| compare);
}

/// Compares the statements as written with what lifting makes of their graph. Names a graph that cannot be compared so
/// on the standard error stream.
#[cold]
fn verify_lifted(
    core: &mut Core,
    body: &dyn Body,
    stream: &Arc<CudaStream>,
    taken: &mut [&mut dyn HandedOutput],
) -> Result<()> {
    let Some(compare) = COMPARE_LIFTED.get() else { return Ok(()) };
    let function = core.definition.program().name.to_string();
    if let Err(Error::Verification(refused)) = check(core) {
        eprintln!("cuweave: `{function}` is not lifted: {refused}");
        return Ok(());
    }
    core.check_stream(stream)?;
    core.synchronize()?;
    let compared = Session::new(core, body, stream, taken).map_err(Stopped::from);
    let compared = compared.and_then(|mut session| compare(&mut session));
    core.definition.driver.enter(core.definition.context)?;
    match compared {
        Ok(LiftedComparison::Same) => {
            eprintln!("cuweave: `{function}` is lifted");
            Ok(())
        }
        Ok(LiftedComparison::NotLifted(reason)) => {
            eprintln!("cuweave: `{function}` is not lifted: {reason}");
            Ok(())
        }
        Ok(LiftedComparison::Different(why)) => {
            Err(Error::Verification(Box::new(VerificationFault::Lifted { function, why })))
        }
        Err(Stopped::HostMemory(_)) => Ok(()),
        Err(Stopped::Error(error)) => Err(error),
    }
}

/// Checks that the graph can be launched repeatedly without effects on anything but its operands.
fn check(core: &Core) -> Result<()> {
    let program = core.definition.program();
    let operations = &core.built.plan.operations;
    let obstacle = |(id, kind): (StatementId, &StatementKind)| {
        let at = || at_statement(program, id);
        match kind {
            StatementKind::Host(()) => Some(VerificationObstacle::Host(at())),
            StatementKind::Record(()) | StatementKind::Wait(()) => Some(VerificationObstacle::Event(at())),
            StatementKind::Sync(SyncOperation::WaitValue | SyncOperation::WriteValue, ()) => {
                Some(VerificationObstacle::Flag(at()))
            }
            StatementKind::Sync(SyncOperation::WaitSemaphore | SyncOperation::Signal, ()) => {
                Some(VerificationObstacle::Semaphore(at()))
            }
            StatementKind::Capture(()) => {
                let operation = operations.operation_of[id].map(|at| &operations.list[at]);
                let collective = operation.is_some_and(|one| core.built.agreed.is_collective(one));
                let flat = &core.definition.flat;
                let callee = &flat.frames[flat.instances[id].frame].table.program;
                if callee.file == KEPT_FILE {
                    return Some(VerificationObstacle::Kept(at()));
                }
                collective.then(|| VerificationObstacle::Collective(at()))
            }
            StatementKind::Launch(()) => {
                let StatementKind::Launch(launch) = &core.built.state.records[id] else { return None };
                let variable = launch.kernel.hidden_writes.first()?;
                Some(VerificationObstacle::ModuleVariable { at: at(), variable: (*variable).to_owned() })
            }
            StatementKind::Fill(())
            | StatementKind::Copy(())
            | StatementKind::Call(_)
            | StatementKind::Condition(_)
            | StatementKind::Join(_)
            | StatementKind::Alloc(_)
            | StatementKind::Free(_) => None,
        }
    };
    let mapping = core.definition.mappings.first();
    let mapping = mapping.map(|&buffer| VerificationObstacle::Multicast(at_buffer(program, buffer)));
    let mut statements = program.statements.enumerate().map(|(id, statement)| (id, &statement.kind));
    match mapping.or_else(|| statements.find_map(obstacle)) {
        None => Ok(()),
        Some(obstacle) => {
            let function = program.name.to_string();
            Err(Error::Verification(Box::new(VerificationFault::Refused { function, obstacle })))
        }
    }
}

/// Compares the exec with its statements as written, and searches the cause of a difference.
fn compare(
    core: &mut Core,
    body: &dyn Body,
    stream: &Arc<CudaStream>,
    taken: &mut [&mut dyn HandedOutput],
) -> Step<Verification> {
    let mut session = Session::new(core, body, stream, taken)?;
    let takes_over = session.core.operands.taken_over().next().is_some();
    let mut same: Option<DuplicateGraph> = match takes_over {
        true => Some(session.duplicate(DuplicateForm::Same)?),
        false => None,
    };
    let comparison = session.compare(same.as_mut())?;
    drop(same);
    let difference = comparison.difference.map(|found| {
        let cause = blame::search(&mut session, &found).unwrap_or(DifferenceCause::NotSearched);
        let definition = &session.core.definition;
        let ty = definition.flat.elements[found.buffer];
        Difference {
            buffer: at_buffer(definition.program(), found.buffer),
            element: found.element,
            expected: value::value(ty, &found.expected),
            found: value::value(ty, &found.found),
            launch: found.launch,
            cause,
        }
    });
    let Core { definition, .. } = session.core;
    let device = definition.ctx.name().unwrap_or_else(|_| "this device".to_owned());
    let bytes = [comparison.comparable, comparison.not_comparable];
    let launches = difference.as_ref().map_or(LAUNCHES, |difference| difference.launch);
    Ok(Verification::new(&definition.program().name, device, launches, bytes, difference))
}
