//! The library calls of an edit: child graphs that take over the parameters of other graphs.

use crate::build::ChangedCall;
use crate::cuda::Node;
use crate::error::{Error, Result, SetterFault, at_statement};

use super::core::Core;

impl Core {
    /// Gives library calls the parameters of the graphs that they captured for new sizes, and stores the former graphs
    /// in `changed`. On failure everything is restored.
    pub(super) fn replace_children(&mut self, changed: &mut [ChangedCall]) -> Result<()> {
        for at in 0..changed.len() {
            let (done, rest) = changed.split_at_mut(at);
            if let Some(changed) = rest.first_mut()
                && let Err(error) = self.replace_child(changed)
            {
                self.restore_children(done);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Gives library calls their former parameters.
    pub(super) fn restore_children(&mut self, changed: &mut [ChangedCall]) {
        for changed in changed {
            self.broken |= self.replace_child(changed).is_err();
        }
    }

    fn replace_child(&mut self, (call, graph): &mut ChangedCall) -> Result<()> {
        let (driver, handle) = (self.definition.driver, &mut self.built.handle);
        let Some(sized) = handle.children.get_mut(call) else { return Ok(()) };
        let set = match sized.node {
            Node::NONE => Ok(true),
            node => driver.set_child(handle.exec, node, graph.graph.graph),
        };
        if set == Ok(true) {
            std::mem::swap(&mut sized.current, graph);
            return Ok(());
        }
        // Some of its nodes may have the new parameters.
        self.broken |= driver.set_child(handle.exec, sized.node, sized.current.graph.graph) != Ok(true);
        let at = at_statement(self.definition.program(), *call);
        Err(match set {
            Ok(_) => Error::BuildAgain { at, reason: SetterFault::FixedNodes },
            Err(failure) => Error::driver(failure, Some(at)),
        })
    }
}
