//! The bytes that a captured launch accesses through each pointer, for its own grid and values.

use std::collections::HashMap;
use std::sync::Arc;

use cuweave_ptx::coverage::{AccessSites, Extent, LaunchInputs, RangedInputs, Region, Verdict};

use super::nodes::CapturedKernel;
use super::texts::KernelText;

/// The maximum number of steps by which the accesses that certainly happen are found.
const MAX_STEPS: u32 = 20_000;

/// The bytes that a launch accesses through a pointer, as offsets from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Footprint {
    pub reads: Reach,
    pub writes: Reach,
    /// True if each byte of `writes` is written.
    pub writes_all: bool,
    /// True if each byte from the pointer to the end of both is read or written.
    pub touches_all: bool,
    /// True if some byte is certainly read.
    pub certainly_reads: bool,
    /// Offsets of bytes that are certainly accessed, and of bytes that are certainly written.
    pub certain: [Vec<i128>; 2],
    /// The bytes that are read, and those that are written.
    pub regions: [Region; 2],
}

/// The bytes that a launch accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LaunchFootprint {
    /// For each pointer.
    pub pointers: Vec<Footprint>,
    /// The loads and stores of each thread.
    sites: AccessSites,
}

/// The hull of some accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Nothing,
    /// The first byte, and the one after the last.
    Bytes(i128, i128),
    /// Any bytes, for this reason.
    Unknown(String),
}

/// The footprints of launches, by all that they depend on.
#[derive(Default)]
pub(super) struct Footprints {
    known: HashMap<Vec<u64>, Arc<LaunchFootprint>>,
}

impl Footprints {
    /// Returns the footprint of each pointer of a launch.
    pub fn of(
        &mut self,
        text: &KernelText,
        kernel: &CapturedKernel,
        values: &[Vec<u8>],
    ) -> Arc<LaunchFootprint> {
        let mut key = vec![cuweave_core::index::wide(std::ptr::from_ref(text).addr())];
        key.extend(kernel.launch.grid.iter().chain(&kernel.launch.block).map(|&count| u64::from(count)));
        for parameter in text.accesses.scalars() {
            let value = text.number(values, parameter);
            key.extend([u64::from(value.is_some()), value.unwrap_or(0)]);
        }
        let made = self.known.entry(key);
        made.or_insert_with(|| Arc::new(footprints(text, kernel.launch.grid, kernel.launch.block, values)))
            .clone()
    }
}

/// Returns what a launch accesses.
pub(super) fn footprints(
    text: &KernelText,
    grid: [u32; 3],
    block: [u32; 3],
    values: &[Vec<u8>],
) -> LaunchFootprint {
    let scalar = |parameter: u32| text.number(values, parameter);
    let launch = LaunchInputs { grid, block, scalar: &scalar, ranged: RangedInputs::default() };
    let (regions, sites) = text.accesses.footprint_and_sites(&launch);
    let reaches: Vec<Reach> = regions.iter().map(reach).collect();
    let (spans, _) = text.accesses.definite_span(&launch, MAX_STEPS);
    let (loaded, _) = text.loads.definite_span(&launch, MAX_STEPS);
    let (stored, _) = text.stores.definite_span(&launch, MAX_STEPS);
    let ends = |span: Option<&Option<(i128, i128)>>| match span.copied().flatten() {
        Some((first, end)) => vec![first, end - 1],
        None => Vec::new(),
    };
    let followed = text.accesses.parameters.iter().step_by(2).map(|followed| followed.parameter);
    let stores: Vec<Option<usize>> = followed
        .map(|parameter| text.stores.parameters.iter().position(|followed| followed.parameter == parameter))
        .collect();
    let extent = |end: i128| Extent { elements: u64::try_from(end).unwrap_or(0), size: 1, dense: true };
    let mut touched = vec![extent(0); regions.len()];
    for (pointer, both) in reaches.chunks(2).enumerate() {
        let ends = both.iter().map(|reach| if let Reach::Bytes(_, end) = *reach { end } else { 0 });
        touched[2 * pointer] = extent(ends.max().unwrap_or(0));
    }
    let touched = text.accesses.verdicts(&launch, &touched);
    let mut extents = vec![extent(0); text.stores.parameters.len()];
    for (pointer, nth) in stores.iter().enumerate() {
        if let (Some(nth), Some(&Reach::Bytes(0, end))) = (nth, reaches.get(2 * pointer + 1)) {
            extents[*nth] = extent(end);
        }
    }
    let verdicts = text.stores.verdicts(&launch, &extents);
    let footprint = |(pointer, nth): (usize, Option<usize>)| {
        let (at, whole) = (2 * pointer, matches!(reaches[2 * pointer + 1], Reach::Bytes(0, _)));
        let verdict = nth.and_then(|nth| verdicts.get(nth));
        Footprint {
            writes_all: whole && verdict == Some(&Verdict::Covered),
            certainly_reads: loaded.get(at).is_some_and(Option::is_some),
            touches_all: touched.get(at) == Some(&Verdict::Covered),
            // A run that follows what certainly happens does not tell loads from stores.
            certain: [ends(spans.get(at)), ends(nth.and_then(|nth| stored.get(nth)))],
            regions: [regions[at].clone(), regions[at + 1].clone()],
            reads: reaches[at].clone(),
            writes: reaches[at + 1].clone(),
        }
    };
    LaunchFootprint { pointers: stores.into_iter().enumerate().map(footprint).collect(), sites }
}

fn reach(region: &Region) -> Reach {
    match (region.unknown(), region.span()) {
        (Some(why), _) => Reach::Unknown(why.to_string()),
        (None, Some((first, end))) => Reach::Bytes(first, end),
        (None, None) if region.is_empty() => Reach::Nothing,
        (None, None) => Reach::Unknown("its bounds overflow".to_owned()),
    }
}

impl Reach {
    pub fn is_nothing(&self) -> bool {
        *self == Reach::Nothing
    }
}
