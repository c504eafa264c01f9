//! The launch rules, each with the change of a build that switches it off.

use std::collections::{BTreeMap, BTreeSet};

use cuweave::__private::LaunchRules;
use cuweave_core::check::Checked;
use cuweave_core::index::Vector;
use cuweave_core::ir::StatementId;
use cuweave_core::launches::tuning::{ChainLimits, LaunchOrder, Waves};
use cuweave_core::launches::{Allowed, Batch, Batching, Launch, LaunchProblem, Tuning, decide};

/// Changes the rules of one build.
pub type Change = fn(&Checked, &Vector<StatementId, Option<Launch>>, &mut LaunchRules);

/// On the simulated driver, the device is assumed to be smaller by this factor, so that small launches reach all
/// thresholds.
const SMALLER: u64 = 132;
const NONE: Waves = Waves(0, 1);
const ALL: Waves = Waves(u64::MAX, 1);

/// Each rule, and the change that switches it off.
pub const RULES: &[(&str, Change)] = &[
    ("batches", |_, _, rules| rules.allowed.batches = false),
    ("batched only if they begin together (off: if on one level)", by_level),
    ("flattening", |_, _, rules| rules.tuning.flat = NONE),
    ("flattened up to 32 waves (off: any number)", |_, _, rules| rules.tuning.flat = ALL),
    ("no batches that only join to fork (off: all)", |_, _, rules| rules.tuning.crossing = usize::MAX),
    ("batches of unjoined chains", |_, _, rules| {
        (rules.tuning.chains.many, rules.tuning.chains.few) = (usize::MAX, NONE);
    }),
    ("few chains are given up where they fill the device", |_, _, rules| rules.tuning.chains.many = 0),
    ("chains in halves", |_, _, rules| rules.tuning.chains.halved = ALL),
    ("few chains of four waves and more in halves", |_, _, rules| {
        rules.tuning.chains.large = Waves(u64::MAX, 1);
    }),
    ("chains of two kernels whole", |_, _, rules| rules.tuning.chains.pairs = NONE),
    ("lanes", |_, _, rules| rules.allowed.lanes = false),
    ("fusing", |_, _, rules| rules.allowed.fuse = false),
    ("stacking", |_, _, rules| rules.tuning.chains.stacked = None),
    ("registers", |_, _, rules| rules.allowed.forward = false),
    ("8 lanes of short kernels", |_, _, rules| {
        rules.tuning.lanes.iter_mut().for_each(|lanes| lanes.least = usize::MAX);
    }),
    ("programmatic edges", |_, _, rules| rules.allowed.overlap = false),
    ("programmatic edges beside others", |_, _, rules| rules.tuning.overlap.beside_others = false),
    ("launch-order port", |_, _, rules| rules.tuning.overlap.launch_order = None),
    ("launch-order port after full kernels only (off: after all)", |_, _, rules| {
        launch_order(rules, |port| port.full = NONE);
    }),
    ("launch-order port between tiny kernels", |_, _, rules| launch_order(rules, |port| port.tiny = 0)),
    ("hubs", |_, _, rules| rules.tuning.hub = usize::MAX),
];

fn launch_order(rules: &mut LaunchRules, change: fn(&mut LaunchOrder)) {
    rules.tuning.overlap.launch_order.iter_mut().for_each(change);
}

/// Adapts the thresholds to a smaller device.
pub fn smaller(Tuning { flat, lanes, chains: ChainLimits { few, halved, .. }, overlap, .. }: &mut Tuning) {
    let waves = [flat, few, halved].into_iter();
    let lanes = lanes.iter_mut().map(|lanes| &mut lanes.kernel);
    let port = overlap.launch_order.iter_mut().map(|port| &mut port.full);
    waves.chain(lanes).chain(port).for_each(|Waves(_, of)| *of *= SMALLER);
}

/// Lets launches of one kernel on one level begin together: each depends on all of the others' predecessors.
fn by_level(checked: &Checked, launches: &Vector<StatementId, Option<Launch>>, rules: &mut LaunchRules) {
    let mut before: BTreeMap<StatementId, BTreeSet<StatementId>> = BTreeMap::new();
    for &(from, to) in checked.edges() {
        before.entry(to).or_default().insert(from);
    }
    let mut levels: Vector<StatementId, usize> = Vector::new();
    let mut groups: BTreeMap<_, Vec<StatementId>> = BTreeMap::new();
    // Inferred order follows the order of the program.
    for (id, launch) in launches.enumerate() {
        let level = before.get(&id).into_iter().flatten().map(|&from| levels[from] + 1).max();
        levels.push(level.unwrap_or(0));
        if let Some(launch) = launch.as_ref().filter(|launch| launch.batch != Batching::Never) {
            let key = (level, launch.kernel, launch.grid, launch.block, launch.shared, &launch.work);
            groups.entry(key).or_default().push(id);
        }
    }
    let batched = batches(checked, launches, rules);
    for group in groups.into_values() {
        let together = |batch: &Batch| group.iter().all(|id| batch.members.contains(id));
        if group.len() < 2 || batched.iter().any(together) {
            continue;
        }
        let all: BTreeSet<StatementId> =
            group.iter().filter_map(|id| before.get(id)).flatten().copied().collect();
        rules.added.extend(group.iter().flat_map(|&id| all.iter().map(move |&from| (from, id))));
    }
}

/// Returns the batches without the rules that reject or halve batches.
fn batches(
    checked: &Checked,
    launches: &Vector<StatementId, Option<Launch>>,
    rules: &LaunchRules,
) -> Vec<Batch> {
    let mut tuning = rules.tuning.clone();
    (tuning.crossing, tuning.chains.many, tuning.chains.halved) = (usize::MAX, 0, ALL);
    let decision = decide(LaunchProblem {
        program: checked.program(),
        edges: checked.edges(),
        launches,
        duration_classes: &Vector::new(),
        allowed: Allowed { batches: true, ..Allowed::default() },
        max_members: usize::MAX,
        tuning: &tuning,
    });
    decision.map_or(Vec::new(), |decision| decision.batches)
}
