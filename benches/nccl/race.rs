//! A race of sides that run on several devices. The host waits for each, and launches each many times in a row.

use std::time::{Duration, Instant};

use crate::common::table::Table;
use crate::common::{Result, Setup, median, ratio, us};

/// The approximate duration of a measurement of one side, its maximum number of launches, and the number of
/// repetitions. Short measurements alternate, because a device lowers its clock under load.
const MEASURED: Duration = Duration::from_millis(20);
const MOST: usize = 200;
const REPETITIONS: usize = 11;

/// The role of a side in a comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ours,
    ByHand,
    /// Also made by hand, but no goal refers to it.
    Beside,
    /// The same work on a single device: a step does half of what the others do.
    Alone,
    /// A part of the work, which is only listed.
    Part,
}

/// A contestant.
pub struct Side<'a> {
    name: String,
    size: String,
    kind: Kind,
    launch: Box<dyn FnMut() -> Result<()> + 'a>,
    finish: Box<dyn Fn() -> Result<()> + 'a>,
}

impl<'a> Side<'a> {
    fn new(
        kind: Kind,
        name: &str,
        size: String,
        launch: impl FnMut() -> Result<()> + 'a,
        finish: impl Fn() -> Result<()> + 'a,
    ) -> Side<'a> {
        Side { name: name.to_owned(), size, kind, launch: Box::new(launch), finish: Box::new(finish) }
    }

    /// Returns a side that cuweave builds. `launch` enqueues a step, and `finish` waits for all steps.
    pub fn ours(
        name: &str,
        size: String,
        launch: impl FnMut() -> Result<()> + 'a,
        finish: impl Fn() -> Result<()> + 'a,
    ) -> Side<'a> {
        Side::new(Kind::Ours, name, size, launch, finish)
    }

    /// Returns a side made by hand.
    pub fn by_hand(
        name: &str,
        size: String,
        launch: impl FnMut() -> Result<()> + 'a,
        finish: impl Fn() -> Result<()> + 'a,
    ) -> Side<'a> {
        Side::new(Kind::ByHand, name, size, launch, finish)
    }

    /// Returns a side made by hand that no other side is compared with.
    pub fn beside(
        name: &str,
        size: String,
        launch: impl FnMut() -> Result<()> + 'a,
        finish: impl Fn() -> Result<()> + 'a,
    ) -> Side<'a> {
        Side::new(Kind::Beside, name, size, launch, finish)
    }

    /// Returns the side that uses a single device.
    pub fn alone(
        name: &str,
        size: String,
        launch: impl FnMut() -> Result<()> + 'a,
        finish: impl Fn() -> Result<()> + 'a,
    ) -> Side<'a> {
        Side::new(Kind::Alone, name, size, launch, finish)
    }

    /// Returns a part of the work.
    pub fn part(
        name: &str,
        size: String,
        launch: impl FnMut() -> Result<()> + 'a,
        finish: impl Fn() -> Result<()> + 'a,
    ) -> Side<'a> {
        Side::new(Kind::Part, name, size, launch, finish)
    }
}

/// The times of one side for each repetition: of a launch that is waited for, and of one of many launches in a row.
type Times = [Vec<Duration>; 2];

const WAITED: usize = 0;
const ROW: usize = 1;

/// Sides that are measured alternately, several times over.
pub struct Race<'a> {
    setup: &'a Setup,
    sides: Vec<Side<'a>>,
}

/// Returns a table of races.
pub fn table(setup: &Setup) -> Result<Table> {
    let columns = [
        "work",
        "side",
        "nodes / edges",
        "us, waited for",
        "us, in a row",
        "to the best by hand, waited for",
        "in a row",
        "throughput of one device",
        "goal",
        "spread",
    ];
    Table::new(setup, "nccl", &columns)
}

/// Returns the nodes and edges of a graph.
pub fn size(report: &cuweave::report::Report) -> String {
    format!("{} / {}", report.nodes(), report.edges)
}

impl<'a> Race<'a> {
    pub fn new(setup: &'a Setup) -> Race<'a> {
        Race { setup, sides: Vec::new() }
    }

    pub fn add(&mut self, side: Side<'a>) {
        self.sides.push(side);
    }

    /// Measures all sides and adds their rows. Returns the times of launches in a row, in the order of the sides.
    ///
    /// Ratios are medians over the repetitions, relative to the side with the smallest median. Throughput is that
    /// of both devices relative to one.
    pub fn run(mut self, table: &mut Table, work: &str, goal: &str) -> Result<Vec<Duration>> {
        let times = self.measure()?;
        let medians: Vec<[Duration; 2]> =
            times.iter().map(|times| times.each_ref().map(|column| median(&mut column.clone()))).collect();
        let best = |kind: Kind, column: usize| {
            let of_kind = |&at: &usize| self.sides[at].kind == kind;
            (0..times.len()).filter(of_kind).min_by_key(|&at| medians[at][column])
        };
        let alone = best(Kind::Alone, ROW);
        for (at, side) in self.sides.iter().enumerate() {
            let compared = |other: Option<usize>, column: usize| {
                let other = other.filter(|_| side.kind != Kind::Part)?;
                Some(of_repetitions(&times[at][column], &times[other][column]))
            };
            let to_hand = |column| {
                compared(best(Kind::ByHand, column), column).map_or_else(String::new, |of| format!("{of:.3}"))
            };
            let devices = if side.kind == Kind::Alone { 1.0 } else { 2.0 };
            let throughput =
                compared(alone, ROW).map_or_else(String::new, |of| format!("{:.3}", devices / of));
            let (least, most) = (times[at][ROW].iter().min(), times[at][ROW].iter().max());
            let spread = most.zip(least).map_or(1.0, |(most, least)| ratio(*most, *least));
            table.row(&[
                work.to_owned(),
                side.name.clone(),
                side.size.clone(),
                us(medians[at][WAITED]),
                us(medians[at][ROW]),
                to_hand(WAITED),
                to_hand(ROW),
                throughput,
                if side.kind == Kind::Ours { goal.to_owned() } else { String::new() },
                format!("{spread:.2}"),
            ])?;
        }
        Ok(medians.iter().map(|medians| medians[ROW]).collect())
    }

    fn measure(&mut self) -> Result<Vec<Times>> {
        let mut counts = Vec::new();
        for side in &mut self.sides {
            for _ in 0..self.setup.scaled(2, 1) {
                (side.launch)()?;
                (side.finish)()?;
            }
            let start = Instant::now();
            (side.launch)()?;
            (side.finish)()?;
            let count = MEASURED.as_secs_f64() / start.elapsed().as_secs_f64().max(1e-9);
            counts.push(self.setup.scaled((count as usize).clamp(3, MOST), 1));
        }
        let mut times = vec![Times::default(); self.sides.len()];
        // The first repetition is only a warm-up.
        for repetition in 0..self.setup.scaled(REPETITIONS + 1, 1) {
            if repetition == 1 {
                times = vec![Times::default(); self.sides.len()];
            }
            for at in 0..self.sides.len() {
                let at = (at + repetition) % self.sides.len();
                let side = &mut self.sides[at];
                (side.launch)()?;
                (side.finish)()?;
                let mut waited = Vec::new();
                for _ in 0..counts[at] {
                    let start = Instant::now();
                    (side.launch)()?;
                    (side.finish)()?;
                    waited.push(start.elapsed());
                }
                times[at][WAITED].push(median(&mut waited));
                let start = Instant::now();
                for _ in 0..counts[at] {
                    (side.launch)()?;
                }
                (side.finish)()?;
                times[at][ROW].push(start.elapsed() / counts[at] as u32);
            }
        }
        Ok(times)
    }
}

/// Returns the median of the repetitions' ratios.
fn of_repetitions(times: &[Duration], others: &[Duration]) -> f64 {
    let mut ratios: Vec<f64> = times.iter().zip(others).map(|(one, other)| ratio(*one, *other)).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}
