//! Shared parts of the benchmarks: the machine, races between contestants, and tables.
//!
//! A race alternates between all contestants several times, so that changes of the machine's state affect all of
//! them. Times are not judged here: the tables list the measurements and the goals.

// Each benchmark uses only a part of it.
#![allow(dead_code)]

#[macro_use]
pub mod sides;
#[macro_use]
pub mod different;
pub mod contest;
pub mod hand;
#[macro_use]
pub mod model;
pub mod table;
pub mod work;

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::{CudaContext, CudaStream, sys};

/// The result of a benchmark.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The machine that the benchmark runs on.
pub struct Setup {
    /// The driver in use.
    pub driver: cuweave_sim::Driver,
    /// The context of its first device.
    pub ctx: Arc<CudaContext>,
    /// The stream of all launches.
    pub stream: Arc<CudaStream>,
}

impl Setup {
    /// Loads the real driver or the simulated one. On the simulated driver, a benchmark only shows that it works.
    pub fn new() -> Result<Setup> {
        let driver = cuweave_sim::load()?;
        let ctx = cuweave::context(0)?;
        let stream = ctx.new_stream()?;
        Ok(Setup { driver, ctx, stream })
    }

    /// Returns `real` on a GPU, and `simulated` otherwise.
    pub fn scaled<T>(&self, real: T, simulated: T) -> T {
        if self.driver.is_simulated() { simulated } else { real }
    }
}

/// The end of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The end of the work on the stream.
    Synchronized,
    /// The return of the call. The stream is synchronised after the measurement.
    Returned,
}

type Turn<'a> = Box<dyn FnMut(&Arc<CudaStream>) -> Result<()> + 'a>;

struct Contestant<'a> {
    name: String,
    by_hand: bool,
    turn: Turn<'a>,
}

/// The times of a contestant: medians over the repetitions.
#[derive(Clone, Debug)]
pub struct Times {
    /// The contestant.
    pub name: String,
    /// True if it is hand-written.
    pub by_hand: bool,
    /// The time on the host's clock.
    pub host: Duration,
    /// The time between two events on the stream.
    pub device: Duration,
    /// The slowest repetition's host time divided by the fastest's.
    pub spread: f64,
    /// The host times of the repetitions. The `i`-th repetitions of all contestants were measured one after the
    /// other.
    pub repetitions: Vec<Duration>,
}

/// Contestants that do the same work.
pub struct Race<'a> {
    until: Until,
    turns: usize,
    repetitions: usize,
    contestants: Vec<Contestant<'a>>,
}

impl<'a> Race<'a> {
    /// Returns a race in which a repetition has this many launches.
    pub fn new(until: Until, turns: usize) -> Race<'a> {
        Race { until, turns, repetitions: 9, contestants: Vec::new() }
    }

    /// Returns the same race with this many repetitions.
    pub fn repeated(self, repetitions: usize) -> Race<'a> {
        Race { repetitions, ..self }
    }

    /// Adds a contestant built by cuweave.
    pub fn ours(&mut self, name: &str, turn: impl FnMut(&Arc<CudaStream>) -> Result<()> + 'a) {
        self.contestants.push(Contestant { name: name.to_owned(), by_hand: false, turn: Box::new(turn) });
    }

    /// Adds a hand-written contestant.
    pub fn by_hand(&mut self, name: &str, turn: impl FnMut(&Arc<CudaStream>) -> Result<()> + 'a) {
        self.contestants.push(Contestant { name: name.to_owned(), by_hand: true, turn: Box::new(turn) });
    }

    /// Runs it.
    pub fn run(mut self, setup: &Setup) -> Result<Vec<Times>> {
        let stream = &setup.stream;
        let turns = setup.scaled(self.turns, 1);
        let count = self.contestants.len();
        let mut host = vec![Vec::new(); count];
        let mut device = vec![Vec::new(); count];
        for contestant in &mut self.contestants {
            (contestant.turn)(stream)?;
            stream.synchronize()?;
        }
        for repetition in 0..setup.scaled(self.repetitions, 1) {
            for at in 0..count {
                let at = (at + repetition) % count;
                let turn = &mut self.contestants[at].turn;
                for _ in 0..setup.scaled(3, 0) {
                    turn(stream)?;
                    stream.synchronize()?;
                }
                let mut times = Vec::with_capacity(turns);
                for _ in 0..turns {
                    times.push(on_the_host(turn, stream, self.until)?);
                }
                host[at].push(median(&mut times));
                let mut times = Vec::with_capacity(turns);
                for _ in 0..turns {
                    times.push(between_events(turn, setup)?);
                }
                device[at].push(median(&mut times));
            }
        }
        let times = self.contestants.iter().zip(host.iter_mut().zip(&mut device));
        Ok(times
            .map(|(contestant, (host, device))| {
                let (least, most) = (host.iter().min(), host.iter().max());
                let spread = most.zip(least).map_or(1.0, |(most, least)| ratio(*most, *least));
                let repetitions = host.clone();
                Times {
                    name: contestant.name.clone(),
                    by_hand: contestant.by_hand,
                    host: median(host),
                    device: median(device),
                    spread,
                    repetitions,
                }
            })
            .collect())
    }
}

fn on_the_host(turn: &mut Turn<'_>, stream: &Arc<CudaStream>, until: Until) -> Result<Duration> {
    let start = Instant::now();
    turn(stream)?;
    if until == Until::Returned {
        let time = start.elapsed();
        stream.synchronize()?;
        return Ok(time);
    }
    stream.synchronize()?;
    Ok(start.elapsed())
}

fn between_events(turn: &mut Turn<'_>, setup: &Setup) -> Result<Duration> {
    let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
    let (start, end) = (setup.ctx.new_event(flags)?, setup.ctx.new_event(flags)?);
    start.record(&setup.stream)?;
    turn(&setup.stream)?;
    end.record(&setup.stream)?;
    setup.stream.synchronize()?;
    Ok(Duration::from_secs_f64(f64::from(start.elapsed_ms(&end)?).max(0.0) / 1e3))
}

/// Returns the median; zero for an empty list.
pub fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Returns the quotient of two times.
pub fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64().max(f64::MIN_POSITIVE)
}

/// Formats a time in microseconds, for tables.
pub fn us(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e6)
}

/// Returns an error if two results differ.
pub fn agree(what: &str, ours: &[f32], by_hand: &[f32]) -> Result<()> {
    match ours.iter().zip(by_hand).position(|(a, b)| a.to_bits() != b.to_bits()) {
        None if ours.len() == by_hand.len() => Ok(()),
        None => Err(format!("{what}: {} elements and {}", ours.len(), by_hand.len()).into()),
        Some(at) => {
            let (ours, by_hand) = (ours[at], by_hand[at]);
            Err(format!("{what}: element {at} is {ours}, and {by_hand} in the graph made by hand").into())
        }
    }
}
