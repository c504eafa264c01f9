//! The effects of an edit of scalars. They are computed by the first edit of these scalars.

use std::sync::Arc;

use cuweave_core::expand::FrameId;
use cuweave_core::ids::ScalarId;
use cuweave_core::settable_bounds::SetterEffects;

use crate::build::LinearBounds;

/// The effects of an edit of certain scalars.
pub(crate) struct PreparedEdit {
    /// The scalars, ascending.
    pub scalars: Vec<ScalarId>,
    pub effects: Arc<SetterEffects>,
    /// The called functions with limits on their arguments.
    pub limited: Vec<FrameId>,
    /// The fast path. `None` if there is none.
    pub linear: Option<LinearBounds>,
}
