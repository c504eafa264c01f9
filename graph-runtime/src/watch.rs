//! Watches waits of the host while launches with collectives are in flight.
//!
//! A launch may wait for a rank that is gone, and then it never ends. While the host waits, the communicators
//! of such launches are polled for errors. A communicator that fails is aborted, which ends the launch.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use cudarc::driver::CudaContext;

use crate::cuda::{CommunicatorFault, Context, Driver, LocalRanks, Outcome, Stream};
use crate::waits::OwnedEvent;

/// The last launch of an exec with collectives.
struct CollectiveLaunch {
    done: Arc<OwnedEvent>,
    contexts: Vec<Context>,
    function: Arc<str>,
    communicators: Vec<Weak<dyn LocalRanks>>,
}

/// In launch order.
static ALL: Mutex<Vec<CollectiveLaunch>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<CollectiveLaunch>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An aborted communicator. The results of its launch are invalid.
#[derive(Debug)]
pub(crate) struct AbortedCommunicator {
    /// The graph function of the launch.
    pub function: String,
    pub reason: CommunicatorFault,
}

/// Records a launch with collectives. `done` is its event.
pub(crate) fn record_launch(
    done: &Arc<OwnedEvent>,
    contexts: impl Iterator<Item = Context>,
    function: &str,
    communicators: &[Arc<dyn LocalRanks>],
) {
    let communicators = communicators.iter().map(Arc::downgrade).collect();
    let one = CollectiveLaunch {
        done: done.clone(),
        contexts: contexts.collect(),
        function: function.into(),
        communicators,
    };
    let mut all = all();
    all.retain(|known| !Arc::ptr_eq(&known.done, done));
    all.push(one);
}

/// Forgets the launches of an exec after they are complete.
pub(crate) fn forget_launch(done: &Arc<OwnedEvent>) {
    all().retain(|known| !Arc::ptr_eq(&known.done, done));
}

/// Returns true if launches with collectives may be in flight.
pub(crate) fn has_collectives_in_flight() -> bool {
    !all().is_empty()
}

/// A launch with collectives that waits for no earlier one.
struct RunningLaunch {
    done: Arc<OwnedEvent>,
    function: Arc<str>,
    communicators: Vec<Arc<dyn LocalRanks>>,
}

/// Returns the launches in flight that do not wait for another one. Launches on the same device run one after
/// the other.
fn running(driver: &Driver) -> Vec<RunningLaunch> {
    let (mut busy, mut running) = (BTreeSet::new(), Vec::new());
    for known in all().iter() {
        if driver.relaxed(|| driver.is_over(known.done.raw())) != Ok(false) {
            continue;
        }
        if !known.contexts.iter().any(|context| busy.contains(context)) {
            let communicators = known.communicators.iter().filter_map(Weak::upgrade).collect();
            running.push(RunningLaunch {
                done: known.done.clone(),
                function: known.function.clone(),
                communicators,
            });
        }
        busy.extend(known.contexts.iter().copied());
    }
    running
}

/// Waits until `over` returns true or no launch with collectives is in flight; a driver's wait can then end.
/// Returns the communicator that failed meanwhile, if any.
pub(crate) fn poll_until(driver: &Driver, over: impl Fn() -> bool) -> Option<AbortedCommunicator> {
    /// The interval between two polls.
    const BETWEEN: Duration = Duration::from_millis(1);
    let (mut aborted, mut asked) = (None, None::<Instant>);
    let mut since: Vec<(Arc<OwnedEvent>, Instant)> = Vec::new();
    while has_collectives_in_flight() && !driver.relaxed(&over) {
        if asked.is_none_or(|asked| asked.elapsed() >= BETWEEN) {
            let running = running(driver);
            if running.is_empty() {
                break;
            }
            since.retain(|(done, _)| running.iter().any(|one| Arc::ptr_eq(&one.done, done)));
            for RunningLaunch { done, function, communicators } in running {
                let known = since.iter().find(|known| Arc::ptr_eq(&known.0, &done)).map(|known| known.1);
                let began = known.unwrap_or_else(|| {
                    since.push((done, Instant::now()));
                    Instant::now()
                });
                for communicator in communicators {
                    communicator.waited(began.elapsed());
                    if let Err(reason) = communicator.check() {
                        aborted = Some(AbortedCommunicator { function: function.to_string(), reason });
                    }
                }
            }
            asked = Some(Instant::now());
        }
        std::thread::yield_now();
    }
    aborted
}

/// Waits on the host for a stream. `ctx` must be current.
pub(crate) fn synchronize(
    driver: &'static Driver,
    ctx: &Arc<CudaContext>,
    stream: Stream,
) -> Outcome<Option<AbortedCommunicator>> {
    let mut aborted = None;
    if has_collectives_in_flight() {
        let event = OwnedEvent::new(driver, ctx)?;
        driver.record(event.raw(), stream)?;
        aborted = poll_until(driver, || driver.is_over(event.raw()) != Ok(false));
    }
    driver.synchronize(stream).map(|()| aborted)
}
