//! Checks that launches do not access memory outside the declared extents of their parameters, if the macro
//! could not decide it. Evaluates the kernel's outline for the launch's configuration and scalars. Only
//! accesses that certainly happen are reported.

use cuweave_core::launches::LaunchShape;

use std::sync::Arc;

use cuweave_ptx::coverage::{LaunchInputs, RangedInputs};

use crate::cuda::Word;

use super::coverage::{FollowedOutline, SharedCache};
use super::declaration::Kernel;

/// The maximum number of steps for one launch, and for all launches of a graph. Accesses not evaluated by then
/// are assumed to be in bounds.
const MAX_STEPS: u32 = 20_000;
const MAX_TOTAL_STEPS: u32 = 4_000_000;

/// For each parameter in an outline, the first byte accessed and the end of the last.
type Spans = Arc<[Option<(i128, i128)>]>;

/// Spans, keyed by everything that they depend on.
static SPANS: SharedCache<Vec<u64>, Spans> = SharedCache::new();

/// Checks the launches of one graph.
#[derive(Debug, Default)]
pub(crate) struct SpanCheck {
    steps: u32,
    key: Vec<u64>,
}

/// A parameter of a launch that is accessed outside its declared extent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutsideAccess {
    /// Its index among the kernel's parameters.
    pub parameter: usize,
    /// The index of its access in the statement.
    pub access: usize,
    /// The end of the accessed elements, or the first accessed element if that is before the buffer.
    pub reaches: i128,
}

impl SpanCheck {
    /// Returns the first parameter of a launch that is certainly accessed outside its extent. `extents` has the
    /// extents of its buffers, in order.
    pub fn outside(
        &mut self,
        kernel: &'static Kernel,
        shape: &LaunchShape,
        words: &[Word],
        extents: &[u64],
    ) -> Option<OutsideAccess> {
        let outlined = FollowedOutline::get(kernel, kernel.accesses)?;
        if self.steps > MAX_TOTAL_STEPS {
            return None;
        }
        self.key.clear();
        outlined.key(kernel, shape, words, &mut self.key);
        let spans = SPANS.get_or_make(&self.key, || {
            let scalar = |parameter: u32| outlined.scalar(words, parameter);
            let launch = LaunchInputs {
                grid: shape.grid,
                block: shape.block,
                scalar: &scalar,
                ranged: RangedInputs::default(),
            };
            let (spans, steps) = outlined.outline.definite_span(&launch, MAX_STEPS);
            self.steps += steps;
            spans.into()
        });
        outlined.followed.iter().zip(&*spans).find_map(|(&(parameter, access), span)| {
            let (first, end) = (*span)?;
            let param =
                kernel.params.get(parameter).filter(|param| !param.is_scalar() && param.element > 0)?;
            let element = i128::from(param.element);
            let extent = i128::from(*extents.get(access)?) * element;
            let reaches = match first < 0 {
                true => first.div_euclid(element),
                false if end > extent => (end + element - 1).div_euclid(element),
                false => return None,
            };
            Some(OutsideAccess { parameter, access, reaches })
        })
    }
}
