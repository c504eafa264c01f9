//! Evaluates the statements of a flat program: each is an instance of a statement of some function's program.

use cuweave_core::expand::StatementOrigin;
use cuweave_core::ir::StatementId;

use crate::build::arguments::body::{Body, enter};
use crate::error::{ConfigFault, Error, Result, at_statement};
use crate::statements::Evaluation;
use crate::token::Token;

use cuweave_core::flattened::Flattened;

impl Evaluation<'_> {
    /// Evaluates statements of a flat program. Consecutive statements of one frame share the evaluation of the
    /// call's arguments.
    ///
    /// # Errors
    ///
    /// The errors of the statements; a statement that is not recorded because a user's expression returns from
    /// its function.
    pub(crate) fn statements(
        &mut self,
        flat: &Flattened,
        body: &dyn Body,
        statements: &[StatementId],
    ) -> Result<()> {
        let frame = |statement: StatementId| flat.instances[statement].frame;
        for run in statements.chunk_by(|&one, &other| frame(one) == frame(other)) {
            let done =
                enter(body, &flat.frames, frame(run[0]), &mut |body| self.run_of_frame(flat, body, run));
            done.unwrap_or_else(|| {
                let at = at_statement(flat.checked.program(), run[0]);
                Err(Error::Config { at, reason: ConfigFault::ArgumentReturns })
            })?;
        }
        Ok(())
    }

    fn run_of_frame(&mut self, flat: &Flattened, body: &dyn Body, statements: &[StatementId]) -> Result<()> {
        for &statement in statements {
            let StatementOrigin { frame, template, loop_values } = &flat.instances[statement];
            let step = flat.frames[*frame].table.steps[*template];
            let kind = flat.checked.program().statements[statement].kind;
            if !self.without_values(&kind) {
                self.one(statement, |evaluation| body.evaluate(step, loop_values, evaluation, Token))?;
            }
        }
        Ok(())
    }
}
