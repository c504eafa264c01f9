//! Contests: all sides of a graph function against the same work made by hand, at all widths.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::{CudaSlice, CudaStream, CudaView, DevicePtr};
use cuweave_core::index::Vector;
use cuweave_core::operation::{Operation, OperationId, Operations};

use super::hand::Node;
use super::table::Table;
use super::work::Work;
use super::{Race, Result, Setup, Times, Until, agree, hand, median, ratio, us};

/// The widths of the graphs made by hand, in addition to the full width.
const WIDTHS: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// The number of measurements of each side.
const REPETITIONS: usize = 5;
/// The approximate duration of a measurement.
const REPETITION: Duration = Duration::from_millis(20);

/// The contents of buffers before a launch: distinct values from -1 to 1.
pub struct Start {
    stream: Arc<CudaStream>,
    /// The number of elements in use, for each buffer.
    lens: Vec<usize>,
    buffers: Vec<CudaSlice<f32>>,
}

impl Start {
    /// Makes buffers of these lengths.
    pub fn new(setup: &Setup, lens: &[usize]) -> Result<Start> {
        let stream = setup.stream.clone();
        let mut buffers = Vec::with_capacity(lens.len());
        for (seed, &len) in lens.iter().enumerate() {
            let mut buffer = stream.alloc_zeros::<f32>(len)?;
            stream.memcpy_htod(&noise(seed, len), &mut buffer.slice_mut(0..len))?;
            buffers.push(buffer);
        }
        stream.synchronize()?;
        Ok(Start { stream, lens: lens.to_vec(), buffers })
    }

    /// Returns copies for one side.
    pub fn buffers(&self) -> Result<Buffers> {
        Ok(Buffers(self.copy()?.into_iter()))
    }

    fn copy(&self) -> Result<Vec<CudaSlice<f32>>> {
        let copies = self.buffers.iter().map(|buffer| self.stream.clone_dtod(buffer));
        let copies = copies.collect::<std::result::Result<_, _>>()?;
        self.stream.synchronize()?;
        Ok(copies)
    }

    fn restore(&self, buffers: &mut [CudaSlice<f32>]) -> Result<()> {
        for (from, to) in self.buffers.iter().zip(buffers) {
            self.stream.memcpy_dtod(from, to)?;
        }
        Ok(self.stream.synchronize()?)
    }
}

fn noise(seed: usize, len: usize) -> Vec<f32> {
    let mut state = 0x9e37_79b9_u32.wrapping_mul(seed as u32 + 1);
    let mut next = || {
        // A step of a linear congruential generator (Numerical Recipes). The upper bits are used.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// The buffers of one side.
pub struct Buffers(std::vec::IntoIter<CudaSlice<f32>>);

impl Buffers {
    /// Returns the next buffer.
    pub fn one(&mut self) -> Result<CudaSlice<f32>> {
        Ok(self.0.next().ok_or("too few buffers")?)
    }

    /// Returns the next buffers.
    pub fn some<const N: usize>(&mut self) -> Result<[CudaSlice<f32>; N]> {
        let buffers: Vec<_> = self.0.by_ref().take(N).collect();
        buffers.try_into().map_err(|_| "too few buffers".into())
    }
}

/// The sides of a contest before the race.
pub struct Contest<'a> {
    setup: &'a Setup,
    work: String,
    goal: &'static str,
    start: &'a Start,
    /// The lengths of the buffers that are compared.
    lens: Vec<usize>,
    wanted: Vec<Vec<f32>>,
    widths: Vec<usize>,
    sizes: Vec<String>,
    race: Race<'a>,
    /// The emitted operations of the last two sides.
    seen: Vec<Vector<OperationId, Operation>>,
}

impl<'a> Contest<'a> {
    /// Returns a contest with the hand-written graphs at each width. `by_hand` makes the work from the addresses of
    /// the buffers, and `results` are the buffers to compare. Returns an error if the results differ between
    /// widths.
    pub fn new(
        setup: &'a Setup,
        (work, goal): (String, &'static str),
        start: &'a Start,
        results: &[usize],
        by_hand: impl FnOnce(&[u64]) -> Result<Work>,
    ) -> Result<Contest<'a>> {
        Contest::setting(setup, (work, goal), start, results, by_hand, |_, _, _, _| Ok(()))
    }

    /// Prepares a contest in which each launch has different values. Before each hand-written launch, `set` is
    /// called with the exec, the nodes of its branches, the addresses of the buffers, and the index of the launch,
    /// starting at 0.
    pub fn setting(
        setup: &'a Setup,
        (work, goal): (String, &'static str),
        start: &'a Start,
        results: &[usize],
        by_hand: impl FnOnce(&[u64]) -> Result<Work>,
        set: impl Fn(&hand::Exec, &[Vec<Node>], &[u64], usize) -> Result<()> + Clone + 'a,
    ) -> Result<Contest<'a>> {
        let mut buffers = start.copy()?;
        let addresses: Vec<u64> = buffers.iter().map(hand::address).collect();
        let by_hand = by_hand(&addresses)?;
        let lens = results.iter().map(|&at| start.lens[at]).collect();
        let mut contest = Contest {
            setup,
            work,
            goal,
            start,
            lens,
            wanted: Vec::new(),
            widths: widths(setup, by_hand.widest()),
            sizes: Vec::new(),
            race: Race::new(Until::Synchronized, 0),
            seen: Vec::new(),
        };
        let mut execs = Vec::new();
        let mut slowest = Duration::ZERO;
        for width in contest.widths.clone() {
            let (graph, nodes) = by_hand.graph(width)?;
            contest.sizes.push(graph.size());
            let exec = graph.instantiate()?;
            start.restore(&mut buffers)?;
            set(&exec, &nodes, &addresses, 0)?;
            exec.launch(&setup.stream)?;
            let views: Vec<CudaView<'_, f32>> = results.iter().map(|&at| buffers[at].as_view()).collect();
            let got = contest.read(&views)?;
            if contest.wanted.is_empty() {
                contest.wanted = got;
            } else {
                contest.compare(&format!("by hand, {width} wide"), &got)?;
            }
            let begin = Instant::now();
            exec.launch(&setup.stream)?;
            setup.stream.synchronize()?;
            slowest = slowest.max(begin.elapsed());
            execs.push((exec, nodes));
        }
        let turns = (REPETITION.as_secs_f64() / slowest.as_secs_f64().max(1e-9)) as usize;
        contest.race = Race::new(Until::Synchronized, turns.clamp(5, 50)).repeated(REPETITIONS);
        let buffers = Arc::new(buffers);
        for ((exec, nodes), width) in execs.into_iter().zip(&contest.widths) {
            let (alive, set, addresses) = (buffers.clone(), set.clone(), addresses.clone());
            let mut turns = 0;
            contest.race.by_hand(&width.to_string(), move |stream| {
                let _ = &alive;
                turns += 1;
                set(&exec, &nodes, &addresses, turns)?;
                exec.launch(stream)
            });
        }
        Ok(contest)
    }

    /// Returns true if the last side is also built with earlier rules, because of the argument `--earlier`.
    pub fn compares_rules(&self) -> bool {
        std::env::args().any(|argument| argument == "--earlier")
    }

    /// Records the operations of the side that is entered next.
    pub fn see(&mut self, operations: &Operations) {
        self.seen.push(operations.list.clone());
    }

    /// Returns the stream of all launches.
    pub fn stream(&self) -> &'a Arc<CudaStream> {
        &self.setup.stream
    }

    /// Returns buffers for another side, with their initial contents.
    pub fn buffers(&self) -> Result<Buffers> {
        self.start.buffers()
    }

    /// Returns the used elements of the result buffers.
    pub fn read(&self, results: &[impl DevicePtr<f32>]) -> Result<Vec<Vec<f32>>> {
        if results.len() != self.lens.len() {
            return Err(format!("{}: {} results, not {}", self.work, results.len(), self.lens.len()).into());
        }
        let stream = self.stream();
        let read = results.iter().zip(&self.lens).map(|(view, &len)| {
            let mut elements = stream.clone_dtoh(view)?;
            elements.truncate(len);
            Ok::<_, cudarc::driver::DriverError>(elements)
        });
        Ok(read.collect::<std::result::Result<_, _>>()?)
    }

    fn compare(&self, side: &str, got: &[Vec<f32>]) -> Result<()> {
        for (at, (got, wanted)) in got.iter().zip(&self.wanted).enumerate() {
            agree(&format!("{}, {side}: result {at}", self.work), got, wanted)?;
        }
        Ok(())
    }

    /// Enters a side with the results of its first launch. Returns an error if any byte differs from the
    /// hand-written results.
    pub fn enter(
        &mut self,
        side: &str,
        report: &cuweave::report::Report,
        results: &[Vec<f32>],
        turn: impl FnMut(&Arc<CudaStream>) -> Result<()> + 'a,
    ) -> Result<()> {
        self.compare(side, results)?;
        self.sizes.push(format!("{} / {}", report.nodes(), report.edges));
        self.race.ours(side, turn);
        Ok(())
    }

    /// Enters a contestant with different results, for comparison. Must be called before the sides that have a
    /// goal.
    pub fn beside(
        &mut self,
        name: &str,
        size: String,
        turn: impl FnMut(&Arc<CudaStream>) -> Result<()> + 'a,
    ) {
        self.sizes.push(size);
        self.race.ours(name, turn);
    }

    /// Runs the race and adds its rows to a table.
    ///
    /// A comparison of two sets of rules adds no row if they make the same graph.
    pub fn run(self, table: &mut Table) -> Result<()> {
        if let [.., last, earlier] = self.seen.as_slice()
            && self.compares_rules()
            && last == earlier
        {
            println!("{}: the same graph by the earlier rules", self.work);
            return Ok(());
        }
        let times = self.race.run(self.setup)?;
        let (by_hand, ours) = times.split_at(self.widths.len());
        let (best, fastest) = by_hand
            .iter()
            .enumerate()
            .min_by_key(|(_, times)| times.host)
            .ok_or("nothing by hand to compare with")?;
        let all = &by_hand[by_hand.len() - 1];
        let mut row = |side: String, at: usize, times: &Times, goal: &str| {
            table.row(&[
                self.work.clone(),
                side,
                self.sizes[at].clone(),
                us(times.host),
                us(times.device),
                of_repetitions(times, fastest),
                format!("{:.3}", ratio(times.device, fastest.device)),
                format!("{:.3}", ratio(times.host, all.host)),
                goal.to_owned(),
            ])
        };
        for (at, times) in (by_hand.len()..).zip(ours) {
            row(times.name.clone(), at, times, if at + 1 == self.sizes.len() { self.goal } else { "" })?;
        }
        let widths: Vec<String> =
            by_hand.iter().map(|times| format!("{}: {}", times.name, us(times.host))).collect();
        let name = format!("by hand, {} wide ({})", fastest.name, widths.join(", "));
        row(name, best, fastest, "")
    }
}

/// Returns a table for contests.
pub fn table(setup: &Setup, name: &'static str) -> Result<Table> {
    let columns = [
        "work",
        "launches (by hand: us at each width)",
        "nodes / edges",
        "host us",
        "events us",
        "ratio (repetitions)",
        "by events",
        "to all by hand",
        "goal",
    ];
    Table::new(setup, name, &columns)
}

/// Returns the widths below the full width; without a GPU, only the first and the last.
fn widths(setup: &Setup, all: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = WIDTHS.into_iter().filter(|&width| width < all).collect();
    widths.truncate(setup.scaled(widths.len(), 1));
    widths.push(all);
    widths
}

/// Returns the median, minimum and maximum of the repetitions' ratios.
pub fn of_repetitions(times: &Times, to: &Times) -> String {
    let mut ratios: Vec<Duration> = times
        .repetitions
        .iter()
        .zip(&to.repetitions)
        .map(|(a, b)| Duration::from_secs_f64(ratio(*a, *b)))
        .collect();
    let middle = median(&mut ratios).as_secs_f64();
    let end = |ratio: Option<&Duration>| ratio.map_or(0.0, Duration::as_secs_f64);
    format!("{middle:.3} ({:.3} to {:.3})", end(ratios.first()), end(ratios.last()))
}
