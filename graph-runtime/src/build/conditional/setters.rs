//! Chooses the kernel that sets the conditions of a statement, and computes its parameters.
//!
//! A kernel with few parameters starts sooner. So a statement with a single handle uses `SET_CONDITION`, whose
//! table holds four bits for each operand value below 16. Larger values, and arms with a node each, need
//! `SET_CONDITIONS`, which compares.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::condition::{Condition, ConditionKeyword as Keyword, MAX_VALUES};
use cuweave_core::index::{narrow, wide};
use cuweave_core::ir::StatementId;
use cuweave_core::launches::Allowed;
use cuweave_core::scopes::{ConditionalBody, Scopes};

use crate::cuda::{ConditionalKind, Driver, Word};
use crate::kernels::{Kernel, Modules, SET_CONDITION, SET_CONDITIONS, SET_LOOP};
use cuweave_core::flattened::Flattened;

use super::counted::CountedLoops;

/// The first CUDA version in which IF nodes with two bodies run as documented.
const TWO_BODIES_SINCE: (u32, u32) = (13, 0);
/// The first CUDA version with SWITCH nodes.
const SWITCHES_SINCE: (u32, u32) = (12, 8);

/// A kernel that sets conditions, with the values of its parameters.
pub(crate) type ConditionSetter = (&'static Kernel, Vec<Word>);

/// The operand of a statement in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperandPlace {
    pub address: u64,
    /// The size of its element: 1 or 4.
    pub bytes: u32,
}

/// Stands for no arm.
const NO_ARM: u32 = u32::MAX;

/// The map from operand values to arms.
struct ArmTable {
    /// The arms of values.
    listed: BTreeMap<u32, u32>,
    /// The arm for all other values.
    otherwise: u32,
}

impl ArmTable {
    fn new(arms: &[ConditionalBody]) -> ArmTable {
        let mut choice = ArmTable { listed: BTreeMap::new(), otherwise: NO_ARM };
        for arm in arms.iter().filter(|arm| arm.body.test.others) {
            choice.otherwise = arm.body.arm;
            choice.listed.extend(arm.body.test.values.map(|value| (value, NO_ARM)));
        }
        for arm in arms.iter().filter(|arm| !arm.body.test.others) {
            choice.listed.extend(arm.body.test.values.map(|value| (value, arm.body.arm)));
        }
        choice
    }

    /// Returns the table of the values below 16, four bits each, and the number for all larger values. `number`
    /// maps an arm to its number. `None` if a larger value is listed or a number exceeds four bits.
    fn table(&self, number: impl Fn(u32) -> u32) -> Option<(u64, u32)> {
        let last = self.listed.last_key_value().map_or(0, |(&value, _)| value);
        let of = |value: u32| number(self.listed.get(&value).copied().unwrap_or(self.otherwise));
        let place = |table: u64, value: u32| {
            let number = of(value);
            (number < 16).then(|| table | u64::from(number) << (4 * value))
        };
        (last < 16).then(|| (0..16).try_fold(0, place))?.map(|table| (table, number(self.otherwise)))
    }

    /// Returns the values with their arms, padded with the first one. `None` if there are none or more than
    /// fit.
    fn repeated(&self) -> Option<[(u32, u32); MAX_VALUES]> {
        let mut listed = self.listed.iter().map(|(&value, &arm)| (value, arm));
        let mut values = [listed.next()?; MAX_VALUES];
        for at in 1..self.listed.len() {
            *values.get_mut(at)? = listed.next()?;
        }
        Some(values)
    }
}

/// Returns the kind of the single node that can hold all of these arms. `None` if the driver has no such node.
pub(crate) fn single_node_kind(driver: &Driver, arms: &[ConditionalBody]) -> Option<ConditionalKind> {
    let (node_kind, since) = match arms.first()?.body.word {
        Keyword::If => (ConditionalKind::If, TWO_BODIES_SINCE),
        Keyword::Match => (ConditionalKind::Switch, SWITCHES_SINCE),
        Keyword::While => return None,
    };
    (arms.len() > 1 && driver.has_version(since)).then_some(node_kind)
}

/// Returns true if all of these arms are bodies of one node.
pub(crate) fn is_one_node(driver: &Driver, arms: &[ConditionalBody]) -> bool {
    single_node_kind(driver, arms).is_some()
}

/// Returns the kernel that sets the conditions of these arms. `handles` holds one handle for each arm, or a
/// single one for all. `None` without handles, or if the arms list too many values.
pub(crate) fn setter_of_arms(
    arms: &[ConditionalBody],
    handles: &[u64],
    operand: OperandPlace,
) -> Option<ConditionSetter> {
    let choice = ArmTable::new(arms);
    let switches = handles.len() < arms.len() && arms[0].body.word == Keyword::Match;
    // `arms.len()` selects no body.
    let number = |arm: u32| if switches { arm.min(narrow(arms.len())) } else { u32::from(arm == 0) };
    if let (&[handle], Some((numbers, otherwise))) = (handles, choice.table(number)) {
        let words = [handle, operand.address, numbers, otherwise.into(), operand.bytes.into()];
        return Some((&SET_CONDITION, words.map(Word::new).to_vec()));
    }
    let values = choice.repeated()?;
    let mut slots = [0; MAX_VALUES + 1];
    slots.get_mut(..handles.len()).filter(|slots| !slots.is_empty())?.copy_from_slice(handles);
    let count = if switches { 0 } else { wide(handles.len()) };
    let words = [operand.address, operand.bytes.into(), choice.otherwise.into(), count].into_iter();
    let words = words.chain(values.map(|(value, _)| value.into())).chain(values.map(|(_, arm)| arm.into()));
    Some((&SET_CONDITIONS, words.chain(slots).map(Word::new).collect()))
}

/// Returns the kernel that sets the condition of a counted loop, which has one handle. `zeroed` is `Some` for
/// the kernel that precedes the loop: the number of records that it zeroes, its own first.
pub(crate) fn setter_of_loop(
    body: &Condition,
    handles: &[u64],
    operand: OperandPlace,
    counter: u64,
    record: u64,
    zeroed: Option<u32>,
) -> Option<ConditionSetter> {
    let &[handle] = handles else { return None };
    let most = body.at_most.unwrap_or(0);
    let numbers = [most, u32::from(zeroed.is_some()), u32::from(body.test.others), zeroed.unwrap_or(0)];
    let words = [handle, operand.address, operand.bytes.into(), counter, record]
        .into_iter()
        .chain(numbers.map(u64::from));
    Some((&SET_LOOP, words.map(Word::new).collect()))
}

/// Returns the condition and join statements whose setter kernels execute the grid dependency wait before
/// anything else. These may start before their predecessor has ended.
pub(crate) fn early_setters(
    flat: &Flattened,
    driver: &Driver,
    modules: &mut Modules,
) -> BTreeSet<StatementId> {
    let program = flat.checked.program();
    let (scopes, counted) = (Scopes::new(program), CountedLoops::new(program));
    let mut early = BTreeSet::new();
    for (_, first) in scopes.list.enumerate().filter(|&(own, scope)| scope.first == own) {
        if program.own_condition(first.condition).is_some() {
            continue;
        }
        let arms: Vec<ConditionalBody> = scopes.arms(first.first).cloned().collect();
        let handles = vec![0; if single_node_kind(driver, &arms).is_some() { 1 } else { arms.len() }];
        let operand = OperandPlace { address: 0, bytes: 4 };
        let setting = match first.body.at_most {
            Some(_) => setter_of_loop(&first.body, &handles, operand, 0, 0, None),
            None => setter_of_arms(&arms, &handles, operand),
        };
        let device = program.statements[first.condition].device;
        let allowed = Allowed::by(flat.checked.functions().launches(program, first.condition));
        let Some((kernel, _)) = setting.filter(|_| allowed.overlap) else { continue };
        let loaded = modules.function(device, kernel).is_ok();
        if !loaded || !modules.module(device, kernel).is_some_and(|module| module.waits(kernel.entry)) {
            continue;
        }
        // If a memset zeroes records, it depends on the kernel's predecessors by full edges.
        early.extend(counted.zeroed_by_memset(&scopes, first).is_empty().then_some(first.condition));
        early.extend((first.body.word == Keyword::While).then_some(first.join));
    }
    early
}
