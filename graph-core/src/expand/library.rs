//! Expands library calls: each becomes one statement, after an allocation for each of its workspaces.

use super::answers::{Answers, DimValue, FrameId, StatementOrigin};
use super::flat::{ArgumentValue, FunctionScope};
use super::scope::Expansion;
use crate::ir::{Access, Lifetime, Statement, StatementId, StatementKind};
use crate::table::{Parameter, Setting};

/// Expands a library call, which statement `id` of `scope` makes. `inner` is the scope of the callee with bound
/// parameters, and `capture` is the captured statement. The workspace is freed after the call, like every
/// allocation without a `free`.
pub(super) fn capture<A: Answers>(
    expansion: &mut Expansion<'_, A>,
    scope: &FunctionScope,
    id: StatementId,
    inner: &mut FunctionScope,
    capture: StatementId,
) -> Result<(), A::Error> {
    let table = inner.table.clone();
    let program = &table.program;
    let mut scalars = expansion.frames[FrameId::OUTERMOST].table.scalars.iter();
    let has_sizes = scalars.any(|scalar| scalar.setting == Setting::Size);
    for (at, statement) in program.statements.enumerate() {
        let Some(Lifetime::Begins(&scratch)) = statement.kind.lifetime() else { continue };
        let len = program.buffers[scratch].len;
        let number = expansion.number(inner, len)?;
        if number.moves && has_sizes {
            // No bound depends on it: the call asks for its length, and the build plans the largest one.
            let planned = DimValue::constant(number.value.max(1));
            let planned = expansion.flat.dim(program.dims[len].clone(), planned);
            let known = inner.dims[len].replace(planned);
            expansion.statement(inner, at)?;
            inner.dims[len] = known;
        } else if number.value == 0 {
            expansion.frames[inner.frame].empty.push(scratch);
        } else {
            expansion.statement(inner, at)?;
        }
    }
    let mut accesses = Vec::new();
    for access in program.statements[capture].accesses.iter() {
        if expansion.frames[inner.frame].empty.contains(&access.buffer) {
            continue;
        }
        let window = expansion.view(inner, access.buffer, Some(capture))?;
        let [lo, hi] = match program.buffers[access.buffer].origin.is_owned() {
            true => [window.lo, window.hi],
            false => expansion.within(inner, window, [access.lo, access.hi])?,
        };
        accesses.push(Access { buffer: window.buffer, lo, hi, ..*access });
    }
    expansion.check_statement_limit(scope)?;
    let call = &scope.table.program.statements[id];
    let at = expansion.flat.statements.push(Statement {
        name: expansion.name(scope, &call.name),
        line: call.line,
        column: call.column,
        file: expansion.file(scope),
        kind: StatementKind::Capture(()),
        accesses: accesses.into(),
        after: Vec::new().into(),
        on: None,
        device: inner.device,
        switchable: false,
    });
    expansion.flat.instances.push(StatementOrigin {
        frame: inner.frame,
        template: capture,
        loop_values: inner.loop_values.clone(),
    });
    // All ranks must run their collectives in the same order, even with different communicators: program order.
    if program.options.collective
        && let Some(before) = expansion.collectives.insert(inner.device, at)
    {
        expansion.flat.statements[at].after.to_mut().push(before);
    }
    // Calls that use the same resource stay in program order.
    for (parameter, value) in table.parameters.iter().zip(&inner.arguments) {
        if let (Parameter::Host { resource: true }, ArgumentValue::Host(resource)) = (parameter, value)
            && let Some(before) = expansion.resources.insert(*resource, at)
            && before != at
        {
            expansion.flat.statements[at].after.to_mut().push(before);
        }
    }
    Ok(())
}
