//! Library calls: each is one statement, behind an allocation for each of its scratch parameters.

use super::answers::{Answers, Instance};
use super::flat::{Scope, Value};
use super::scope::Expansion;
use crate::ir::{Access, Kind, Lifetime, Statement, StatementId};
use crate::table::Parameter;

impl<A: Answers> Expansion<'_, A> {
    /// Expands the library call that statement `id` of a scope makes. `inner` is the scope of the callee, whose parameters are bound
    /// to buffers, and `capture` its statement. The scratch is freed behind the call like every allocation that nothing frees.
    pub(super) fn capture(
        &mut self,
        scope: &Scope,
        id: StatementId,
        inner: &mut Scope,
        capture: StatementId,
    ) -> Result<(), A::Error> {
        let table = inner.table.clone();
        let program = &table.program;
        for (at, statement) in program.statements.enumerate() {
            let Some(Lifetime::Begins(&scratch)) = statement.kind.lifetime() else { continue };
            match self.number(inner, program.buffers[scratch].len)?.value {
                0 => self.frames[inner.frame].empty.push(scratch),
                _ => self.statement(inner, at)?,
            }
        }
        let mut accesses = Vec::new();
        for access in program.statements[capture].accesses.iter() {
            if self.frames[inner.frame].empty.contains(&access.buffer) {
                continue;
            }
            let window = self.view(inner, access.buffer, Some(capture))?;
            let [lo, hi] = self.within(inner, window, [access.lo, access.hi])?;
            accesses.push(Access { buffer: window.buffer, lo, hi, ..*access });
        }
        self.has_room(scope)?;
        let call = &scope.table.program.statements[id];
        let at = self.flat.statements.push(Statement {
            name: self.name(scope, &call.name),
            line: call.line,
            column: call.column,
            file: self.file(scope),
            kind: Kind::Capture(()),
            accesses: accesses.into(),
            after: Vec::new().into(),
            on: None,
            device: inner.device,
        });
        self.flat.instances.push(Instance {
            frame: inner.frame,
            template: capture,
            turns: inner.turns.clone(),
        });
        // Ranks run their collectives in one order, whatever their communicators: that of the program.
        if program.options.collective
            && let Some(before) = self.collectives.insert(inner.device, at)
        {
            self.flat.statements[at].after.to_mut().push(before);
        }
        // The calls of a resource stay in the order of the program.
        for (parameter, value) in table.parameters.iter().zip(&inner.arguments) {
            if let (Parameter::Host { resource: true }, Value::Host(resource)) = (parameter, value)
                && let Some(before) = self.resources.insert(*resource, at)
                && before != at
            {
                self.flat.statements[at].after.to_mut().push(before);
            }
        }
        Ok(())
    }
}
