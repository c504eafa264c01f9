//! Captures library calls again, for new values of the sizes that reach them.

use std::collections::BTreeMap;
use std::sync::Arc;

use cuweave_core::ir::StatementId;

use crate::build::arguments::body::Body;
use crate::build::graph::built::BuiltGraph;
use crate::build::graph::definition::Definition;
use crate::error::{Error, Result, SetterFault, at_statement};

use super::captured::{capture_alone, shape_of};
use super::children::{CapturedChild, SizeValues};

/// A library call with the graph that it captured for the new sizes.
pub(crate) type ChangedCall = (StatementId, Arc<CapturedChild>);

impl BuiltGraph {
    /// Returns the graphs of the library calls among `statements` that the exec has for other sizes. `body` has the new
    /// values. Calls whose graphs are not kept are captured; the exec stays as it is.
    pub(crate) fn changed_calls(
        &mut self,
        definition: &Definition,
        body: &dyn Body,
        statements: impl Iterator<Item = StatementId>,
    ) -> Result<Vec<ChangedCall>> {
        if self.handle.children.is_empty() {
            return Ok(Vec::new());
        }
        let values = SizeValues::new(definition, body)?;
        let (mut changed, mut streams) = (Vec::new(), BTreeMap::new());
        for call in statements {
            let Some(sized) = self.handle.children.get_mut(&call) else { continue };
            let values = values.of(&sized.sizes);
            if sized.current.values == values {
                continue;
            }
            if let Some(known) = sized.find(&values) {
                changed.push((call, known));
                continue;
            }
            let at = at_statement(definition.program(), call);
            let failed = |failure| Error::driver(failure, Some(at.clone()));
            let (fill, nodes) = (sized.leading_fill, sized.shape.call_nodes());
            let mut graph = capture_alone(definition, self, body, &mut streams, call, None, nodes)?;
            let mut shape = shape_of(definition, call, &graph).map_err(failed)?;
            if fill.is_some() && !shape.begins_with_fill() {
                graph = capture_alone(definition, self, body, &mut streams, call, fill, nodes)?;
                shape = shape_of(definition, call, &graph).map_err(failed)?;
            }
            let Some(sized) = self.handle.children.get_mut(&call) else { continue };
            if let Some(difference) = sized.shape.difference(&shape) {
                return Err(Error::BuildAgain { at, reason: SetterFault::OtherNodes { difference } });
            }
            if !shape.is_replaceable || !sized.shape.is_replaceable {
                return Err(Error::BuildAgain { at, reason: SetterFault::FixedNodes });
            }
            changed.push((call, sized.keep(CapturedChild { values, graph })));
        }
        drop(streams);
        definition.driver.enter(definition.context)?;
        Ok(changed)
    }
}
