//! Checks that launches write all elements of their write-only parameters, for their actual configuration and
//! scalars. `cuweave_ptx::coverage` derives a kernel's outline from its PTX; this module evaluates it. The
//! verdicts are:
//!
//! - Covered: the stores in the outline write the whole extent.
//! - Short: they do not, and the kernel has no other store through the parameter. This is an error if the
//!   elements count as written afterwards: for [`Mode::Write`], and for accesses that a later read relies on.
//! - Unknown: everything else, for example stores that depend on loaded data. This is an error for the same
//!   accesses if the element type has invalid bit patterns; otherwise the report lists it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use cuweave_core::index::{size, wide};
use cuweave_core::ir::{Access, Mode};
use cuweave_core::launches::LaunchShape;
use cuweave_core::launches::MAX_GRID_BLOCKS;
use cuweave_ptx::coverage::{BackwardSlice, Extent, LaunchInputs, RangedInputs, SliceOpcode, Verdict};

use crate::cuda::{self, Word};

use super::declaration::Kernel;
use super::param::Param;

/// The capacity of a cache. A full cache is cleared: a setter may keep producing new numbers.
const MAX_VERDICTS: usize = 4096;

/// A cache that all builds share.
pub(super) struct SharedCache<K, V>(LazyLock<Mutex<HashMap<K, V>>>);

/// Outlines, keyed by the addresses of the kernel's static declaration and of the encoded bytes. `None` for
/// bytes of another version of this crate.
static OUTLINES: SharedCache<(usize, usize), Option<Arc<FollowedOutline>>> = SharedCache::new();
/// Verdicts, keyed by everything that they depend on: the kernel, the launch's configuration, the relevant
/// scalars, and the extents.
static VERDICTS: SharedCache<Vec<u64>, Arc<[Verdict]>> = SharedCache::new();

impl<K: Eq + Hash + Clone, V: Clone> SharedCache<K, V> {
    pub const fn new() -> SharedCache<K, V> {
        SharedCache(LazyLock::new(Mutex::default))
    }

    /// Returns the value of a key. Makes it without holding the lock if it is not cached.
    pub fn get_or_make(&self, key: &K, make: impl FnOnce() -> V) -> V {
        if let Some(value) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key) {
            return value.clone();
        }
        let value = make();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_VERDICTS {
            kept.clear();
        }
        kept.insert(key.clone(), value.clone());
        value
    }
}

/// Checks the launches of one graph. Launches of a kernel are often equal, so each kernel's last verdicts are
/// kept here.
#[derive(Debug, Default)]
pub(crate) struct CoverageCheck {
    seen: Vec<SeenKernel>,
    /// The index of the last launch's kernel in `seen`.
    last: usize,
    key: Vec<u64>,
}

/// A kernel of an earlier launch.
#[derive(Debug)]
struct SeenKernel {
    address: usize,
    outlined: Option<Arc<FollowedOutline>>,
    /// The key of the last launch, with its verdicts.
    key: Vec<u64>,
    verdicts: Arc<[Verdict]>,
}

#[derive(Debug)]
pub(super) struct FollowedOutline {
    pub outline: BackwardSlice,
    /// The scalars that the verdict depends on: the parameter, and its first word.
    scalars: Vec<(u32, usize)>,
    /// Each parameter in the outline: its index, and the index of its buffer.
    pub followed: Vec<(usize, usize)>,
}

impl FollowedOutline {
    /// Returns the outline that a kernel's declaration has encoded in `bytes`. `None` for bytes of another
    /// version of this crate.
    pub fn get(kernel: &'static Kernel, bytes: &'static [u8]) -> Option<Arc<FollowedOutline>> {
        let key = (std::ptr::from_ref(kernel).addr(), bytes.as_ptr().addr());
        OUTLINES.get_or_make(&key, || FollowedOutline::decode(kernel, bytes).map(Arc::new))
    }

    /// Decodes an outline. Replaces pointers that the declaration's launches omit by null.
    fn decode(kernel: &Kernel, bytes: &[u8]) -> Option<FollowedOutline> {
        let mut outline = BackwardSlice::decode(bytes)?;
        outline.set_null(&|parameter| {
            let param = kernel.params.get(size(parameter));
            param.is_some_and(|param| param.optional && param.is_scalar())
        });
        let word = |parameter: u32| {
            let before = kernel.params.get(..size(parameter))?;
            Some((parameter, before.iter().map(Param::words).sum()))
        };
        let buffer = |parameter: u32| {
            let before = kernel.params.get(..size(parameter))?;
            Some((size(parameter), before.iter().filter(|param| !param.is_scalar()).count()))
        };
        let scalars = outline.scalars().into_iter().map(word).collect::<Option<_>>()?;
        let followed = outline.parameters.iter().map(|followed| buffer(followed.parameter));
        let followed = followed.collect::<Option<_>>()?;
        Some(FollowedOutline { outline, scalars, followed })
    }

    /// Returns the bits of a scalar parameter.
    pub fn scalar(&self, words: &[Word], parameter: u32) -> Option<u64> {
        let at = self.scalars.iter().find(|scalar| scalar.0 == parameter)?.1;
        words.get(at).map(|&word| cuda::number(word))
    }

    /// Appends everything but the extents that a verdict depends on: the kernel, the configuration and the
    /// scalars.
    pub fn key(&self, kernel: &'static Kernel, shape: &LaunchShape, words: &[Word], key: &mut Vec<u64>) {
        key.push(wide(std::ptr::from_ref(kernel).addr()));
        key.extend(shape.grid.iter().chain(&shape.block).map(|&count| u64::from(count)));
        let scalars = self.scalars.iter().filter_map(|scalar| words.get(scalar.1));
        key.extend(scalars.map(|&word| cuda::number(word)));
    }

    fn verdicts(
        &self,
        kernel: &Kernel,
        shape: &LaunchShape,
        words: &[Word],
        extents: &[u64],
    ) -> Arc<[Verdict]> {
        let scalar = |parameter: u32| self.scalar(words, parameter);
        let launch = LaunchInputs {
            grid: shape.grid,
            block: shape.block,
            scalar: &scalar,
            ranged: RangedInputs::default(),
        };
        let extents: Vec<Extent> = self
            .followed
            .iter()
            .map(|&(parameter, buffer)| Extent {
                elements: extents.get(buffer).copied().unwrap_or(0),
                size: kernel.params[parameter].element,
                dense: kernel.params[parameter].dense,
            })
            .collect();
        self.outline.verdicts(&launch, &extents).into()
    }
}

/// A write-only parameter of a launch that is not proved to be fully written.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// Its index among the kernel's parameters.
    pub parameter: usize,
    /// The index of its access in the statement.
    pub access: usize,
    pub verdict: Verdict,
}

impl Finding {
    /// Returns true if the build must fail: elements that may be unwritten would count as written.
    pub fn is_error(&self, kernel: &Kernel, accesses: &[Access]) -> bool {
        let Some(access) = accesses.get(self.access) else { return false };
        let rested_on = access.mode == Mode::Write || access.relied_on;
        match self.verdict {
            Verdict::Covered => false,
            Verdict::Short { .. } => rested_on,
            Verdict::Unknown(_) => {
                rested_on && kernel.params.get(self.parameter).is_some_and(|param| !param.any_bits)
            }
        }
    }
}

impl CoverageCheck {
    /// Returns the parameters of a launch that are not proved to be fully written. `extents` has the extents of
    /// its buffers, in order.
    pub fn findings(
        &mut self,
        kernel: &'static Kernel,
        shape: &LaunchShape,
        words: &[Word],
        extents: &[u64],
    ) -> Vec<Finding> {
        let seen = self.seen(kernel);
        let (seen, key) = (&mut self.seen[seen], &mut self.key);
        let Some(outlined) = &seen.outlined else { return Vec::new() };
        key.clear();
        outlined.key(kernel, shape, words, key);
        key.extend(outlined.followed.iter().filter_map(|followed| extents.get(followed.1)));
        if seen.key != *key {
            seen.verdicts = VERDICTS.get_or_make(key, || outlined.verdicts(kernel, shape, words, extents));
            seen.key.clone_from(key);
        }
        let verdicts = seen.verdicts.iter();
        if verdicts.clone().all(|verdict| *verdict == Verdict::Covered) {
            return Vec::new();
        }
        let open = outlined.followed.iter().zip(verdicts);
        // A parameter without a buffer is not written.
        let is_given =
            |parameter: usize| kernel.params.get(parameter).is_some_and(|param| !param.is_scalar());
        open.filter(|(followed, verdict)| **verdict != Verdict::Covered && is_given(followed.0))
            .map(|(&(parameter, access), verdict)| Finding { parameter, access, verdict: verdict.clone() })
            .collect()
    }

    /// Returns the index of a kernel in `seen`, and adds it if needed.
    fn seen(&mut self, kernel: &'static Kernel) -> usize {
        let address = std::ptr::from_ref(kernel).addr();
        if self.seen.get(self.last).is_none_or(|seen| seen.address != address) {
            self.last = self.seen.iter().position(|seen| seen.address == address).unwrap_or_else(|| {
                let outlined = FollowedOutline::get(kernel, kernel.outline);
                let (key, verdicts) = (Vec::new(), Arc::default());
                self.seen.push(SeenKernel { address, outlined, key, verdicts });
                self.seen.len() - 1
            });
        }
        self.last
    }

    /// Returns the number of threads that would write all elements, with the same block and a larger grid along
    /// one axis. `None` if the search finds none.
    pub fn threads_needed(
        &self,
        kernel: &'static Kernel,
        finding: &Finding,
        shape: &LaunchShape,
        words: &[Word],
        extents: &[u64],
    ) -> Option<u64> {
        let address = std::ptr::from_ref(kernel).addr();
        let outlined = self.seen.iter().find(|seen| seen.address == address)?.outlined.as_ref()?;
        let nth = outlined.followed.iter().position(|followed| followed.0 == finding.parameter)?;
        outlined.threads_needed(nth, kernel, shape, words, extents)
    }
}

impl FollowedOutline {
    fn threads_needed(
        &self,
        nth: usize,
        kernel: &Kernel,
        shape: &LaunchShape,
        words: &[Word],
        extents: &[u64],
    ) -> Option<u64> {
        let ops = self.outline.blocks.iter().flat_map(|block| &block.ops);
        let most_steps = ops.filter(|op| op.code != SliceOpcode::Opaque).count();
        let most = [MAX_GRID_BLOCKS, 65_535, 65_535];
        if most_steps > 4096 {
            return None;
        }
        let covers = |shape: &LaunchShape| {
            self.verdicts(kernel, shape, words, extents).get(nth) == Some(&Verdict::Covered)
        };
        let axis = |axis: usize| {
            let with = |count: u32| {
                let mut wider = *shape;
                wider.grid[axis] = count;
                wider
            };
            let (mut short, mut enough) = (shape.grid[axis], shape.grid[axis]);
            for _ in 0..24 {
                enough = enough.saturating_mul(2).min(most[axis]);
                if covers(&with(enough)) {
                    while enough - short > 1 {
                        let middle = short + (enough - short) / 2;
                        if covers(&with(middle)) { enough = middle } else { short = middle }
                    }
                    return Some(with(enough).threads());
                }
                short = enough;
            }
            None
        };
        (0..3).filter_map(axis).min()
    }
}
