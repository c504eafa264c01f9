//! Reads the iteration counts of bounded loops, which the device recorded.
//!
//! The device counts entries, limit hits and iterations in one record per loop (`build/conditional/counted`). A
//! read waits for the last launch, copies the records of each device, and sums those of the loop's instances.

use std::collections::BTreeSet;

use cuweave_core::expand::FrameId;
use cuweave_core::ir::StatementId;
use cuweave_core::picture::without_places;

use crate::bind::{IterationCounts, LoopIterations};
use crate::build::{CountedLoop, RECORD_WORDS};
use crate::context;
use crate::error::{Error, LoopFault, Result};

use super::core::Core;

impl IterationCounts for Core {
    fn iterations(&self, name: &str) -> Result<LoopIterations> {
        let loops = find_loops(self, name)?;
        iterations_of(self, &loops)
    }
}

/// Returns the indices of the bounded loops with this name. Several loops can come from one loop of the source.
fn find_loops(core: &Core, name: &str) -> Result<Vec<usize>> {
    let (program, flat) = (core.definition.program(), &core.definition.flat);
    let list = &core.built.state.counted.list;
    let name_of = |counted: &CountedLoop| &*program.statements[counted.condition].name;
    // A name without call paths stands for the loop in all calls of its function.
    let is_meant =
        |counted: &CountedLoop| name_of(counted) == name || without_places(name_of(counted)) == name;
    let found = list.iter().enumerate().filter(|(_, counted)| is_meant(counted));
    let found: Vec<usize> = found.map(|(at, _)| at).collect();
    let template = |&at: &usize| {
        let instance = &flat.instances[list[at].condition];
        (flat.frames[instance.frame].table.address(), instance.template)
    };
    let different: BTreeSet<(usize, StatementId)> = found.iter().map(template).collect();
    let reason = match different.len() {
        1 => return Ok(found),
        0 => {
            let known: BTreeSet<String> = list.iter().map(|counted| name_of(counted).to_owned()).collect();
            LoopFault::Unknown { name: name.to_owned(), known: Vec::from_iter(known) }
        }
        loops => LoopFault::Ambiguous { name: name.to_owned(), loops },
    };
    Err(Error::Loop { function: program.name.to_string(), reason })
}

/// Waits for the last launch and sums the iteration counts of `loops`, which are instances of one source loop.
fn iterations_of(core: &Core, loops: &[usize]) -> Result<LoopIterations> {
    let counted = &core.built.state.counted;
    let at_most = loops.first().map_or(0, |&at| counted.list[at].at_most);
    let mut sum = LoopIterations { entries: 0, limited: 0, iterations: 0, at_most };
    if core.in_flight.last.is_none() {
        return Ok(sum);
    }
    let driver = core.definition.driver;
    context::enter(driver, &core.definition.ctx)?;
    core.in_flight.wait_on_host(driver)?;
    core.check_hosts()?;
    for (device, (last, _)) in counted.last_of_devices() {
        let here = |at: &&usize| counted.list[**at].device == device;
        let Some(&address) = counted.addresses.get(&device).filter(|_| loops.iter().any(|at| here(&at)))
        else {
            continue;
        };
        context::enter(driver, &core.definition.contexts[device])?;
        let mut words = vec![0u64; (last.record + 1) * RECORD_WORDS];
        // The launch's own stream may be capturing by now.
        let stream = driver.create_stream()?;
        let read = driver.read(address, &mut words, stream);
        driver.destroy_stream(stream)?;
        read?;
        for &at in loops.iter().filter(here) {
            let record = counted.list[at].record;
            if let Some(&[entries, limited, iterations, _]) = words.chunks(RECORD_WORDS).nth(record) {
                sum.entries += entries;
                sum.limited += limited;
                sum.iterations += iterations;
            }
        }
    }
    Ok(sum)
}

/// Returns the iterations of the loop that is statement `statement` of the outermost function, or `None` if
/// that statement is not a bounded loop.
pub(crate) fn iterations_of_statement(core: &Core, statement: StatementId) -> Result<Option<LoopIterations>> {
    let (flat, list) = (&core.definition.flat, &core.built.state.counted.list);
    let is_it = |counted: &CountedLoop| {
        let instance = &flat.instances[counted.join];
        instance.frame == FrameId::OUTERMOST && instance.template == statement
    };
    let loops: Vec<usize> = list.iter().enumerate().filter(|(_, one)| is_it(one)).map(|(at, _)| at).collect();
    if loops.is_empty() { Ok(None) } else { iterations_of(core, &loops).map(Some) }
}
