//! The check that launches write all elements of their write-only parameters, with their configuration and scalars.
//!
//! - Covered: the stores that the outline follows write the whole extent.
//! - Short: they do not, and the kernel has no other store through the parameter. An error if the elements count as written
//!   afterwards: for [`Mode::Write`] and for accesses that a later read relies on.
//! - Unknown: everything else, for example stores that depend on loaded data. An error for the same accesses if the element
//!   type has invalid bit patterns; otherwise the report lists it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::index::{size, wide};
use crate::ir::{Access, Mode};
use crate::launches::MOST_BLOCKS;
use cuweave_ptx::coverage::{Code, Extent, Launch, Outline, Verdict};

use crate::runtime::cuda::{self, Word};

use super::declaration::Kernel;
use super::param::Param;
use super::shape::Shape;

/// The most verdicts that are kept; then all are dropped, since a setter may bring new numbers without end.
const MOST_KEPT: usize = 1024;

/// The outlines of kernels, and the verdicts found with them.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    /// By the kernel's address.
    outlines: HashMap<usize, Outlined>,
    kept: HashMap<Vec<u64>, Vec<Verdict>>,
    key: Vec<u64>,
    /// The last launch that was found to write everything: launches of one kernel are often alike.
    covered: Vec<u64>,
}

#[derive(Debug)]
struct Outlined {
    outline: Outline,
    /// The words of the scalars that decide, by parameter.
    scalars: Vec<(u32, usize)>,
    /// For each parameter that is followed: its index, and which of the buffers it is.
    followed: Vec<(usize, usize)>,
}

impl Outlined {
    fn of(kernel: &Kernel) -> Option<Outlined> {
        let outline = Outline::decode(kernel.outline)?;
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
        Some(Outlined { outline, scalars, followed })
    }

    fn judge(&self, kernel: &Kernel, shape: &Shape, words: &[Word], extents: &[u64]) -> Vec<Verdict> {
        let scalar = |parameter: u32| {
            let at = self.scalars.iter().find(|scalar| scalar.0 == parameter)?.1;
            words.get(at).map(|&word| cuda::number(word))
        };
        let launch = Launch { grid: shape.grid, block: shape.block, scalar: &scalar };
        let extents: Vec<Extent> = self
            .followed
            .iter()
            .map(|&(parameter, buffer)| Extent {
                elements: extents.get(buffer).copied().unwrap_or(0),
                size: kernel.params[parameter].element,
                dense: kernel.params[parameter].dense,
            })
            .collect();
        self.outline.judge(&launch, &extents)
    }
}

/// A write-only parameter of a launch that is not proved to be written in all.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// Its index among the kernel's parameters.
    pub parameter: usize,
    /// The index of its access in the statement.
    pub access: usize,
    pub verdict: Verdict,
}

impl Finding {
    /// Returns true if the build fails: what is not written counts as written afterwards, and may be no value.
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

impl Judge {
    /// Returns the parameters of a launch that are not proved to be written in all. `extents` are those of its buffers, in order.
    pub fn findings(
        &mut self,
        kernel: &'static Kernel,
        shape: &Shape,
        words: &[Word],
        extents: &[u64],
    ) -> Vec<Finding> {
        let address = std::ptr::from_ref(kernel).addr();
        let outlined = match self.outlines.entry(address) {
            Entry::Occupied(entry) => entry.into_mut(),
            // Bytes of another version of this crate say nothing.
            Entry::Vacant(entry) => match Outlined::of(kernel) {
                Some(outlined) => entry.insert(outlined),
                None => return Vec::new(),
            },
        };
        self.key.clear();
        self.key.push(wide(address));
        self.key.extend(shape.grid.iter().chain(&shape.block).map(|&count| u64::from(count)));
        let scalars = outlined.scalars.iter().filter_map(|scalar| words.get(scalar.1));
        self.key.extend(scalars.map(|&word| cuda::number(word)));
        self.key.extend(outlined.followed.iter().filter_map(|followed| extents.get(followed.1)));
        if self.key == self.covered {
            return Vec::new();
        }
        if self.kept.len() >= MOST_KEPT {
            self.kept.clear();
        }
        let judge = || outlined.judge(kernel, shape, words, extents);
        let verdicts = self.kept.entry(self.key.clone()).or_insert_with(judge);
        if verdicts.iter().all(|verdict| *verdict == Verdict::Covered) {
            self.covered.clone_from(&self.key);
            return Vec::new();
        }
        let open = outlined.followed.iter().zip(verdicts);
        open.filter(|(_, verdict)| **verdict != Verdict::Covered)
            .map(|(&(parameter, access), verdict)| Finding { parameter, access, verdict: verdict.clone() })
            .collect()
    }

    /// Returns the threads of a launch that would write all elements: with the same blocks, in a grid that is larger along one
    /// axis.
    pub fn needed(
        &self,
        kernel: &'static Kernel,
        finding: &Finding,
        shape: &Shape,
        words: &[Word],
        extents: &[u64],
    ) -> Option<u64> {
        let outlined = self.outlines.get(&std::ptr::from_ref(kernel).addr())?;
        let nth = outlined.followed.iter().position(|followed| followed.0 == finding.parameter)?;
        outlined.needed(nth, kernel, shape, words, extents)
    }
}

impl Outlined {
    fn needed(
        &self,
        nth: usize,
        kernel: &Kernel,
        shape: &Shape,
        words: &[Word],
        extents: &[u64],
    ) -> Option<u64> {
        let ops = self.outline.blocks.iter().flat_map(|block| &block.ops);
        let most_steps = ops.filter(|op| op.code != Code::Opaque).count();
        let most = [MOST_BLOCKS, 65_535, 65_535];
        let threads = |shape: &Shape| -> u64 {
            shape
                .grid
                .iter()
                .chain(&shape.block)
                .fold(1u64, |all, &count| all.saturating_mul(u64::from(count)))
        };
        if most_steps > 4096 {
            return None;
        }
        let covers =
            |shape: &Shape| self.judge(kernel, shape, words, extents).get(nth) == Some(&Verdict::Covered);
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
                    return Some(threads(&with(enough)));
                }
                short = enough;
            }
            None
        };
        (0..3).filter_map(axis).min()
    }
}
