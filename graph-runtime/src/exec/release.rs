//! Releases operands after the last launch, and drops an exec.
//!
//! Later uses by others are ordered after the exec's event: each owning stream waits for it, and cudarc's events
//! of the operand are recorded again. If the device cannot wait, because a call failed or a stream is capturing,
//! the host waits. If neither can wait, all memory that the launch may use is leaked.

use std::sync::atomic::Ordering;

use crate::bind::{Operand, ViewContext};
use crate::build::{CollectiveOrder, Definition};
use crate::cuda::{Event, Outcome, Stream, record};
use crate::error::MemoryKind;
use crate::waits;

use super::core::Core;
use super::pooled::release_temporaries;

/// Returns a context for views of the operands. Uses through its views are ordered after the last launch.
pub(crate) fn view_context(core: &Core) -> ViewContext<'_> {
    let Definition { driver, ctx, .. } = &core.definition;
    core.operands.views_returned.store(true, Ordering::Relaxed);
    let over = || driver.enter(core.definition.context).and_then(|()| core.in_flight.wait_on_host(driver));
    let failure = if core.in_flight.lost { over().err() } else { None };
    let done =
        core.in_flight.last.as_ref().map(|last| (core.in_flight.done.raw(), Stream::from_cudarc(last)));
    ViewContext { driver, ctx, operands: &core.operands.list, owners: &core.operands.owners, done, failure }
}

/// Orders later uses of these operands after the last launch, through the events for which cudarc waits.
/// Returns true if they are ordered: on the device, or by a wait on the host.
pub(crate) fn release_operands<'o>(core: &Core, operands: impl Iterator<Item = &'o Operand> + Clone) -> bool {
    if core.in_flight.last.is_none() && !core.operands.has_returned_views() {
        return true;
    }
    // The host frees an exec's own pinned memory when the exec is dropped. A free in a per-thread default
    // stream after unfinished work may keep the thread from ending
    // (benches/results/h200-2026-11-22/probes.md).
    let freed_by_host = |operand: &Operand| operand.kind == MemoryKind::Pinned || operand.per_thread;
    let waits = operands.clone().any(|operand| !operand.borrowed && freed_by_host(operand));
    let uses = operands.filter_map(|operand| {
        let owner = operand.owner?;
        Some(OperandUse { owner, events: [operand.read, operand.write], lent: Some(operand) })
    });
    let waited = if waits { core.in_flight.wait_on_host(core.definition.driver) } else { Ok(()) };
    order_uses(core, waited, uses)
}

/// Orders later uses by others, on the device or by a wait on the host. Returns true if they are ordered.
fn order_uses<'o>(
    core: &Core,
    waited: Outcome<()>,
    uses: impl Iterator<Item = OperandUse<'o>> + Clone,
) -> bool {
    let (driver, ctx) = (core.definition.driver, &core.definition.ctx);
    let ordered = waited.and_then(|()| driver.relaxed(|| release_uses(core, uses.clone())));
    let ordered = ordered.or_else(|failure| {
        record(ctx, failure);
        wait_for_uses(core, uses)
    });
    ordered.map_err(|failure| record(ctx, failure)).is_ok()
}

fn release_uses<'o>(core: &Core, uses: impl Iterator<Item = OperandUse<'o>>) -> Outcome<()> {
    if core.in_flight.lost {
        core.definition.synchronize()?;
    }
    let driver = core.definition.driver;
    let launch =
        core.in_flight.last.as_ref().map(|last| (core.in_flight.done.raw(), Stream::from_cudarc(last)));
    let mut capturing = vec![None; core.operands.owners.list.len()];
    for OperandUse { owner: at, events, lent } in uses {
        let owner = &core.operands.owners.list[at];
        let capturing = &mut capturing[at];
        owner.within(driver, core.definition.context, || {
            let raw = owner.raw;
            let captures = match *capturing {
                Some(known) => known,
                None => {
                    // Queries of the legacy default stream fail while a blocking stream is capturing.
                    let captures = driver.is_capturing(raw) != Ok(false);
                    match launch {
                        Some((done, _)) if captures => driver.synchronize_event(done)?,
                        Some((done, last)) if !owner.is(last) => driver.wait(raw, done)?,
                        _ => {}
                    }
                    *capturing.insert(captures)
                }
            };
            if let Some(operand) = lent.filter(|operand| operand.has_view_uses()) {
                operand.order_view_uses(driver, raw, None, true)?;
                driver.enter(owner.context())?;
            }
            for event in events.into_iter().filter(|&event| event != Event::NONE) {
                waits::order_used(driver, raw, event)?;
                if !captures {
                    driver.record(event, raw)?;
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Waits on the host for the last launch and the recorded uses. The fallback if the device cannot order them.
fn wait_for_uses<'o>(core: &Core, uses: impl Iterator<Item = OperandUse<'o>> + Clone) -> Outcome<()> {
    let driver = core.definition.driver;
    core.in_flight.wait_on_host(driver)?;
    if uses.clone().any(|used| used.lent.is_some_and(Operand::has_view_uses)) {
        return waits::ignore_ended_context(core.definition.synchronize());
    }
    let mut events = uses.flat_map(|used| used.events).filter(|&event| event != Event::NONE);
    let waited = events.try_for_each(|event| match driver.synchronize_event(event) {
        Err(failure) if !failure.is_captured_event() => Err(failure),
        _ => Ok(()),
    });
    waits::ignore_ended_context(waited.or_else(|_| core.definition.synchronize()))
}

/// An operand to release.
struct OperandUse<'o> {
    /// The index of its owning stream.
    owner: usize,
    /// The events in which cudarc records its uses.
    events: [Event; 2],
    /// The operand, if views of it may have been handed out.
    lent: Option<&'o Operand>,
}

/// Orders all later uses after the last launch. Returns false if neither the device nor the host can wait;
/// memory that the launch may use must then stay allocated.
fn order_after_last_launch(core: &Core) -> bool {
    if core.in_flight.last.is_none() && !core.operands.has_returned_views() && !core.operands.uncertain {
        return true;
    }
    let driver = core.definition.driver;
    let entered = waits::enter(driver, &core.definition.ctx);
    // cudarc frees pinned memory without a wait if the context holds an error. Host values (such as flags)
    // and the functions of host statements may be dropped with the exec.
    let pinned = core.operands.pinned_replaced
        || core.definition.flat.has_host_values()
        || core.built.state.hosts.has_statements()
        || core.counting.has_statements()
        || core.operands.list.iter().any(|operand| operand.kind == MemoryKind::Pinned);
    let pinned = !pinned || core.in_flight.wait_on_host(driver).is_ok();
    let uncertain = if core.operands.uncertain { core.definition.synchronize() } else { Ok(()) };
    let retired = core.operands.retired.iter();
    let retired =
        retired.map(|(&event, &owner)| OperandUse { owner, events: [event, Event::NONE], lent: None });
    let ordered =
        entered && release_operands(core, core.operands.list.iter()) && order_uses(core, uncertain, retired);
    // A launch that no event records has been waited for, if that was possible.
    pinned && (ordered || wait_until_over(core))
}

/// Waits on the host for the last launch and the uses through views. Returns false if that fails.
fn wait_until_over(core: &Core) -> bool {
    let lent = core.operands.uncertain || core.operands.list.iter().any(Operand::has_view_uses);
    if lent {
        waits::ignore_ended_context(core.definition.synchronize()).is_ok()
    } else {
        core.in_flight.wait_on_host(core.definition.driver).is_ok()
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        let over = order_after_last_launch(self);
        self.leaks.store(!over, Ordering::Relaxed);
        if over {
            self.operands.slots.iter().for_each(|slot| slot.retire(self.id));
        }
        match (&self.in_flight.last, over) {
            (None, _) => {}
            (Some(_), true) => self.definition.modules.keep_loaded_until(&self.in_flight.done),
            (Some(_), false) => {
                self.definition.modules.leak();
                self.built.state.hosts.leak();
                std::mem::forget(std::mem::take(&mut self.replaced));
            }
        }
        if over && !self.in_flight.communicators.is_empty() {
            CollectiveOrder::for_contexts(self.definition.all_contexts()).forget(&self.in_flight.done);
        }
        self.built.handle.destroy_exec(self.definition.driver, &self.definition.ctx);
        self.built.handle.destroy_graph(self.definition.driver, &self.definition.ctx);
        release_temporaries(self, over);
    }
}
