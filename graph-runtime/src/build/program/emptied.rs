//! Finds what is empty if sizes are 0: launches without blocks, fills and copies without bytes, and buffers. The nodes
//! of such statements are disabled meanwhile.

use std::collections::BTreeSet;

use cuweave_core::flattened::Flattened;
use cuweave_core::ids::ScalarId;
use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, Device, Program, StatementId, StatementKind};
use cuweave_core::scopes::Scopes;

use crate::build::arguments::answers::BodyEvaluator;
use crate::build::arguments::body::Body;
use crate::build::arguments::checks::check_moved_ranges;
use crate::error::{PlanFault, Result, SwitchFault, at_statement};
use crate::kernels::{DeviceLimits, Modules};
use crate::statements::{Evaluation, StatementRecordExt};

/// The statements and buffers that are empty if the sizes with `#[at_least(0)]` are 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct EmptyAtZero {
    /// Launches without blocks, and fills and copies without bytes.
    pub statements: BTreeSet<StatementId>,
    /// Buffers without elements.
    pub buffers: BTreeSet<BufferId>,
}

impl EmptyAtZero {
    /// Evaluates all that the sizes `zero` reach. `body` has 0 for them, and the largest values of the other sizes.
    ///
    /// # Errors
    ///
    /// Those of setting the sizes to 0; an empty statement whose node cannot be disabled.
    pub fn new(
        flat: &Flattened,
        body: &dyn Body,
        zero: &[ScalarId],
        limits: &Vector<Device, DeviceLimits>,
        modules: &mut Modules,
    ) -> Result<EmptyAtZero> {
        let program = flat.checked.program();
        let effects = flat.moves.union(&flat.scalars, zero);
        let dims = flat.moves.values(&mut BodyEvaluator::new(body), &flat.frames, &flat.sizes)?.dims;
        let is_empty = |buffer: &BufferId| dims[program.buffers[*buffer].len] == 0;
        let buffers = effects.buffers.iter().copied().filter(is_empty).collect();
        check_moved_ranges(&effects, flat, &dims, &buffers)?;
        let mut statements: BTreeSet<StatementId> = effects.evaluated.iter().copied().collect();
        let mut evaluation = Evaluation::new(
            program,
            &dims,
            limits,
            modules,
            &statements,
            effects.evaluated.len(),
            Vec::new(),
        );
        evaluation.statements(flat, body, &effects.evaluated)?;
        let records = evaluation.finish().records;
        let evaluated = effects.evaluated.iter().zip(&records);
        let empty = evaluated.filter(|(id, record)| record.is_empty(program, &dims, **id));
        statements = empty.map(|(&id, _)| id).collect();
        for &statement in &statements {
            if let Some(reason) = refuse_disabling(program, statement) {
                let reaches = |scalar: &&ScalarId| flat.scalars[**scalar].statements.contains(&statement);
                let size = zero.iter().find(reaches).map(|&scalar| flat.scalars[scalar].name.to_string());
                let (at, size) = (*at_statement(program, statement), size.unwrap_or_default());
                return Err(PlanFault::EmptyStatement { at, size, reason }.into());
            }
        }
        Ok(EmptyAtZero { statements, buffers })
    }
}

/// Returns the reason if no node of a statement can be disabled, whatever other statements do.
pub(crate) fn refuse_disabling(program: &Program, id: StatementId) -> Option<SwitchFault> {
    let statement = &program.statements[id];
    if !(matches!(statement.kind, StatementKind::Launch(())) || statement.kind.is_transfer()) {
        return Some(SwitchFault::Kind);
    }
    if Scopes::new(program).around(id).is_some() {
        return Some(SwitchFault::InBody);
    }
    let condition = statement.accesses.iter().find(|access| program.buffers[access.buffer].is_condition());
    condition
        .map(|access| SwitchFault::Decides { condition: program.buffers[access.buffer].name.to_string() })
}
