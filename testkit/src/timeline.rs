//! The order of work, derived from the driver calls that a program made on the simulated driver.
//!
//! Each piece of work has a vector clock: for each stream, the number of preceding operations. Clocks pass between
//! streams by events, by the rules of the legacy default stream, and by the host when it waits for events, streams
//! or contexts. Launches of the same exec are ordered.

use std::collections::BTreeMap;

use cuweave_sim::DriverCall;

/// A stream: its handle, and the thread for a per-thread default stream.
type Stream = (u64, u64);
type Clock = BTreeMap<Stream, u64>;

/// Work in a stream, or an action of the host.
#[derive(Debug, Clone)]
pub struct OrderedWork {
    pub name: String,
    pub arguments: Vec<u64>,
    pub made: u64,
    /// `None` for the host.
    stream: Option<Stream>,
    at: u64,
    clock: Clock,
}

impl OrderedWork {
    /// Returns true if this comes after `first` in every execution.
    pub fn is_after(&self, first: &OrderedWork) -> bool {
        let stream = first.stream.expect("work in a stream");
        self.clock.get(&stream).is_some_and(|&at| at >= first.at)
    }

    /// Returns true if it reads, writes or frees memory at that address.
    pub fn touches(&self, address: u64) -> bool {
        match self.name.as_str() {
            "cuMemcpyHtoDAsync_v2" | "cuMemFreeAsync" | "cuMemsetD8Async" | "cuMemFreeHost" => {
                self.arguments[0] == address
            }
            "cuMemcpyDtoHAsync_v2" => self.arguments[1] == address,
            "cuMemcpyDtoDAsync_v2" => self.arguments[..2].contains(&address),
            _ => false,
        }
    }

    /// Returns true if it may change the memory that it touches.
    pub fn changes(&self, address: u64) -> bool {
        self.touches(address)
            && (self.name != "cuMemcpyDtoHAsync_v2")
            && !(self.name == "cuMemcpyDtoDAsync_v2" && self.arguments[0] != address)
    }
}

/// Returns the index of the argument that is the stream.
fn stream_of(name: &str) -> Option<usize> {
    Some(match name {
        "cuGraphLaunch" | "cuMemFreeAsync" => 1,
        "cuMemAllocAsync" => 2,
        "cuMemcpyHtoDAsync_v2" | "cuMemcpyDtoHAsync_v2" | "cuMemcpyDtoDAsync_v2" | "cuMemsetD8Async" => 3,
        "cuLaunchKernel" => 8,
        _ => return None,
    })
}

fn join(clock: &mut Clock, other: &Clock) {
    for (&stream, &at) in other {
        let known = clock.entry(stream).or_default();
        *known = at.max(*known);
    }
}

#[derive(Default)]
struct State {
    streams: BTreeMap<Stream, Clock>,
    blocking: Vec<u64>,
    events: BTreeMap<u64, Clock>,
    hosts: BTreeMap<u64, Clock>,
    execs: BTreeMap<u64, Clock>,
}

impl State {
    fn stream(raw: u64, thread: u64) -> Stream {
        match raw {
            0 | 1 => (0, 0),
            2 => (2, thread),
            other => (other, 0),
        }
    }

    fn is_blocking(&self, stream: Stream) -> bool {
        stream.0 == 2 || self.blocking.contains(&stream.0)
    }

    /// Returns the clock of the next work in a stream.
    fn next(&mut self, stream: Stream, thread: u64) -> Clock {
        let mut clock = self.streams.get(&stream).cloned().unwrap_or_default();
        if let Some(host) = self.hosts.get(&thread) {
            join(&mut clock, host);
        }
        if stream.0 == 0 {
            let others: Vec<_> = self.streams.iter().filter(|entry| self.is_blocking(*entry.0)).collect();
            others.into_iter().for_each(|(_, other)| join(&mut clock, other));
        } else if self.is_blocking(stream)
            && let Some(legacy) = self.streams.get(&(0, 0))
        {
            join(&mut clock, legacy);
        }
        clock
    }

    /// Applies a call. Returns the work that it submits.
    fn call(&mut self, call: &DriverCall) -> Option<OrderedWork> {
        let (name, thread) = (call.name.as_str(), call.thread);
        let argument = |at: usize| call.arguments[at];
        // These calls release the object even if they fail. Other failed calls have no effect.
        let ends = matches!(name, "cuMemFreeAsync" | "cuModuleUnload" | "cuMemFreeHost" | "cuMemUnmap");
        if call.result != 0 && !ends {
            return None;
        }
        match name {
            "cuStreamCreate" if argument(1) & 1 == 0 => self.blocking.push(call.created),
            "cuEventRecord" => {
                let stream = State::stream(argument(1), thread);
                let clock = self.next(stream, thread);
                self.streams.insert(stream, clock.clone());
                self.events.insert(argument(0), clock);
            }
            "cuStreamWaitEvent" => {
                let event = self.events.get(&argument(1)).cloned().unwrap_or_default();
                let clock = self.streams.entry(State::stream(argument(0), thread)).or_default();
                join(clock, &event);
            }
            "cuEventSynchronize" | "cuEventQuery" => {
                let event = self.events.get(&argument(0)).cloned().unwrap_or_default();
                join(self.hosts.entry(thread).or_default(), &event);
            }
            "cuStreamSynchronize" => {
                let clock = self.next(State::stream(argument(0), thread), thread);
                join(self.hosts.entry(thread).or_default(), &clock);
            }
            "cuCtxSynchronize" => {
                let clocks: Vec<_> = self.streams.values().cloned().collect();
                clocks.iter().for_each(|clock| join(self.hosts.entry(thread).or_default(), clock));
            }
            "cuModuleUnload" | "cuMemFreeHost" | "cuMemMap" | "cuMemUnmap" => {
                return Some(OrderedWork {
                    name: name.to_owned(),
                    arguments: call.arguments.clone(),
                    made: 0,
                    stream: None,
                    at: 0,
                    clock: self.hosts.get(&thread).cloned().unwrap_or_default(),
                });
            }
            _ => return self.stream_work(call),
        }
        None
    }

    /// Returns the work that a call submits to a stream.
    fn stream_work(&mut self, call: &DriverCall) -> Option<OrderedWork> {
        let (name, thread) = (call.name.as_str(), call.thread);
        let at = stream_of(name)?;
        let stream = State::stream(call.arguments[at], thread);
        let mut clock = self.next(stream, thread);
        if name == "cuGraphLaunch"
            && let Some(before) = self.execs.get(&call.arguments[0])
        {
            join(&mut clock, before);
        }
        let at = clock.get(&stream).copied().unwrap_or(0) + 1;
        clock.insert(stream, at);
        self.streams.insert(stream, clock.clone());
        if name == "cuGraphLaunch" {
            self.execs.insert(call.arguments[0], clock.clone());
        }
        let (name, arguments) = (name.to_owned(), call.arguments.clone());
        Some(OrderedWork { name, arguments, made: call.created, stream: Some(stream), at, clock })
    }
}

/// Returns the work that the calls submit, in the order of the calls.
pub fn from_calls(calls: &[DriverCall]) -> Vec<OrderedWork> {
    let mut state = State::default();
    calls.iter().filter_map(|call| state.call(call)).collect()
}

/// Returns the work of one driver function.
pub fn named<'w>(work: &'w [OrderedWork], name: &str) -> Vec<&'w OrderedWork> {
    work.iter().filter(|work| work.name == name).collect()
}

/// Traces the driver calls of `work` and returns their order.
pub fn trace<T>(work: impl FnOnce() -> T) -> (T, Vec<OrderedWork>) {
    cuweave_sim::take_trace().expect("a trace");
    cuweave_sim::set_trace(true).expect("a trace");
    let result = work();
    cuweave_sim::set_trace(false).expect("a trace");
    (result, from_calls(&cuweave_sim::take_trace().expect("a trace")))
}
