//! Generates random valid programs: everything that is read was written, and each statement can access its memory.

use cuweave::builder::{Launches, Memory};
use cuweave::managed::{Advice, Location};
use cuweave_testkit::random::Random;

/// The number of elements of a buffer, which has two chunks.
pub const LEN: usize = 96;
pub const CHUNK: usize = LEN / 2;

/// The memory of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// A cudarc slice on a device.
    Slice(usize),
    /// A shared `Buffer`, on a device.
    Shared(usize),
    /// Managed memory, allocated in the context of a device.
    Managed(usize),
    /// Pinned memory, allocated in the context of a device.
    Pinned(usize),
}

#[derive(Clone, Debug)]
pub struct Argument {
    pub home: Home,
    pub is_read_only: bool,
    pub advice: Vec<Advice>,
    pub prefetch: Option<Location>,
    pub discard: bool,
}

/// All of a buffer, or a chunk.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub buffer: usize,
    pub lo: usize,
    pub len: usize,
}

/// A number that is passed to a kernel: a literal, or the scalar argument.
#[derive(Clone, Copy, Debug)]
pub enum By {
    Literal(u32),
    Scalar,
}

#[derive(Clone, Debug)]
pub enum Work {
    /// Allocates the next buffer and fills it.
    Alloc {
        device: usize,
        value: u32,
    },
    Fill {
        device: usize,
        to: Part,
        value: u32,
    },
    Copy {
        device: usize,
        from: Part,
        to: Part,
    },
    /// x = 31 · x + by
    Mix {
        device: usize,
        x: Part,
        by: By,
    },
    /// y = 31 · x + by
    Mixed {
        device: usize,
        x: Part,
        y: Part,
        by: By,
    },
    /// x = x · a + b
    Linear {
        device: usize,
        x: Part,
        a: u32,
        b: u32,
    },
    /// y[i] += x[(i + k) % n]
    Shifted {
        device: usize,
        x: Part,
        y: Part,
        k: u32,
    },
    /// x = 3 · x + 1, on the host.
    Host {
        x: Part,
    },
    /// Calls the graph function `stirred`.
    Stirred {
        device: usize,
        turns: u32,
        x: Part,
        y: Part,
    },
    /// Calls the graph function `far`, whose second half is on the next device.
    Far {
        device: usize,
        x: Part,
        y: Part,
    },
    If {
        device: usize,
        of: Part,
        modulus: u32,
        not: bool,
        body: Vec<Work>,
        otherwise: Option<Vec<Work>>,
    },
    While {
        device: usize,
        turns: u32,
        body: Vec<Work>,
    },
    Match {
        device: usize,
        of: Part,
        modulus: u32,
        arms: Vec<Vec<Work>>,
    },
}

#[derive(Clone, Debug)]
pub struct Program {
    pub memory: Option<Memory>,
    pub launches: Option<Launches>,
    pub budget: bool,
    pub arguments: Vec<Argument>,
    pub works: Vec<Work>,
}

/// Returns true if a device can access another device's memory, according to the simulated driver's setting.
pub fn are_peers(one: usize, other: usize) -> bool {
    match std::env::var("CUWEAVE_SIM_PEERS").as_deref() {
        Ok("none") => one == other,
        Ok("0-1,2-3") => one / 2 == other / 2,
        _ => true,
    }
}

struct Writer<'r> {
    random: &'r mut Random,
    devices: usize,
    /// For each buffer its memory; `None` if it is out of scope.
    homes: Vec<Option<Home>>,
    read_only: Vec<bool>,
    /// The device of the enclosing body.
    body: Option<usize>,
    depth: u32,
}

fn location(random: &mut Random, devices: usize) -> Location {
    match random.below(4_u32) {
        0 => Location::Host,
        _ => Location::Device(random.below(devices) as u32),
    }
}

fn argument(random: &mut Random, devices: usize) -> Argument {
    let device = random.below(devices);
    let home = match random.below(8_u32) {
        0 | 1 => Home::Slice(device),
        2 | 3 => Home::Shared(device),
        4..=6 => Home::Managed(device),
        _ => Home::Pinned(device),
    };
    let is_managed = matches!(home, Home::Managed(_));
    let is_read_only = random.one_in(5);
    let mut advice = Vec::new();
    if is_managed && random.one_in(3) {
        advice.push(Advice::ReadMostly);
    }
    if is_managed && random.one_in(3) {
        let at = [location(random, devices), Location::HostNuma(0), Location::HostNumaCurrent];
        let at = at[random.choose(&[0, 0, 0, 1, 2])];
        advice.push(Advice::PreferredLocation(at));
    }
    if is_managed && random.one_in(3) {
        advice.push(Advice::AccessedBy(location(random, devices)));
    }
    let prefetch = (is_managed && random.one_in(3)).then(|| location(random, devices));
    // Discards need CUDA 13.0.
    let has_discard = !std::env::var("CUWEAVE_SIM_VERSION").is_ok_and(|version| version.starts_with("12"));
    let discard = is_managed && !is_read_only && has_discard && random.one_in(4);
    Argument { home, is_read_only, advice, prefetch, discard }
}

pub fn program(random: &mut Random, devices: usize) -> Program {
    let count = 3 + random.below(3_usize);
    let arguments: Vec<Argument> = (0..count).map(|_| argument(random, devices)).collect();
    let memory = random.choose(&[None, None, Some(Memory::Arena), Some(Memory::Owned), Some(Memory::Nodes)]);
    let launches = random.choose(&[
        None,
        None,
        None,
        Some(Launches::AsWritten),
        Some(Launches::Batched),
        Some(Launches::Fused),
    ]);
    let budget = random.one_in(2);
    let length = 5 + random.below(14_usize);
    let homes = arguments.iter().map(|argument| Some(argument.home)).collect();
    let read_only = arguments.iter().map(|argument| argument.is_read_only).collect();
    let mut writer = Writer { random, devices, homes, read_only, body: None, depth: 2 };
    let mut works = Vec::new();
    for (buffer, _) in arguments.iter().enumerate().filter(|(_, argument)| argument.discard) {
        let device = writer.random.below(devices);
        let value = writer.random.below(1000_u32);
        works.push(Work::Fill { device, to: Part { buffer, lo: 0, len: LEN }, value });
    }
    for _ in 0..length {
        writer.work(&mut works);
    }
    Program { memory, launches, budget, arguments, works }
}

impl Writer<'_> {
    fn device(&mut self) -> usize {
        match self.body {
            Some(device) => device,
            None => self.random.below(self.devices),
        }
    }

    /// Returns a random part of a buffer that satisfies `fits`.
    fn part(&mut self, len: usize, fits: impl Fn(usize, Home) -> bool) -> Option<Part> {
        let homes = self.homes.iter().enumerate();
        let fitting: Vec<usize> =
            homes.filter(|&(at, home)| home.is_some_and(|home| fits(at, home))).map(|(at, _)| at).collect();
        let buffer = (!fitting.is_empty()).then(|| self.random.choose(&fitting))?;
        let lo = if len == LEN { 0 } else { self.random.choose(&[0, CHUNK]) };
        Some(Part { buffer, lo, len })
    }

    fn reads(&mut self, device: usize, len: usize) -> Option<Part> {
        self.part(len, |_, home| reaches(device, home))
    }

    fn writes(&mut self, device: usize, len: usize) -> Option<Part> {
        let read_only = self.read_only.clone();
        self.part(len, |at, home| reaches(device, home) && !read_only[at])
    }

    fn by(&mut self) -> By {
        if self.random.one_in(3) { By::Scalar } else { By::Literal(self.random.below(1000_u32)) }
    }

    fn body(&mut self, device: usize) -> Vec<Work> {
        let (outer, known) = (self.body.replace(device), self.homes.len());
        self.depth -= 1;
        let mut works = Vec::new();
        for _ in 0..1 + self.random.below(3_u32) {
            self.work(&mut works);
        }
        self.depth += 1;
        self.body = outer;
        // Temporaries of a body are dropped at its end.
        self.homes[known..].iter_mut().for_each(|home| *home = None);
        works
    }

    /// Adds a statement, unless no memory fits it.
    fn work(&mut self, works: &mut Vec<Work>) {
        let device = self.device();
        let len = self.random.choose(&[LEN, LEN, CHUNK]);
        let work = match self.random.below(18_u32) {
            0 | 1 => {
                self.homes.push(Some(Home::Slice(device)));
                self.read_only.push(false);
                Some(Work::Alloc { device, value: self.random.below(1000_u32) })
            }
            2 => self.writes(device, len).map(|to| Work::Fill { device, to, value: 7 }),
            3..=5 => self.copy(device, len),
            6..=8 => self.writes(device, len).map(|x| Work::Mix { device, x, by: self.by() }),
            9 => self.writes(device, len).map(|x| Work::Linear {
                device,
                x,
                a: 5,
                b: self.random.below(99_u32),
            }),
            10 | 11 => self.two(device, len).map(|(x, y)| Work::Mixed { device, x, y, by: self.by() }),
            12 => {
                let k = self.random.below(len as u32);
                self.two(device, len).map(|(x, y)| Work::Shifted { device, x, y, k })
            }
            13 if self.body.is_none() => {
                let read_only = self.read_only.clone();
                let fits =
                    |at: usize, home| matches!(home, Home::Managed(_) | Home::Pinned(_)) && !read_only[at];
                self.part(len, fits).map(|x| Work::Host { x })
            }
            14 => {
                let turns = 1 + self.random.below(3_u32);
                self.two(device, len).map(|(x, y)| Work::Stirred { device, turns, x, y })
            }
            15 if self.body.is_none() && device + 1 < self.devices && are_peers(device, device + 1) => {
                let read_only = self.read_only.clone();
                let both = |home| reaches(device, home) && reaches(device + 1, home);
                let x = self.part(len, |_, home| both(home));
                let y = self.part(len, |at, home| both(home) && !read_only[at]);
                x.zip(y).filter(|(x, y)| x.buffer != y.buffer).map(|(x, y)| Work::Far { device, x, y })
            }
            16 | 17 if self.depth > 0 => self.condition(device),
            _ => None,
        };
        works.extend(work);
    }

    fn two(&mut self, device: usize, len: usize) -> Option<(Part, Part)> {
        let (x, y) = (self.reads(device, len)?, self.writes(device, len)?);
        (x.buffer != y.buffer).then_some((x, y))
    }

    fn copy(&mut self, device: usize, len: usize) -> Option<Work> {
        let (from, to) = match self.body {
            Some(_) => self.two(device, len)?,
            None => {
                let read_only = self.read_only.clone();
                let from = self.part(len, |_, _| true)?;
                let is_pinned = matches!(self.homes[from.buffer], Some(Home::Pinned(_)));
                let fits = |at: usize, home| !(read_only[at] || is_pinned && matches!(home, Home::Pinned(_)));
                (from, self.part(len, fits)?)
            }
        };
        (from.buffer != to.buffer).then_some(Work::Copy { device, from, to })
    }

    fn condition(&mut self, device: usize) -> Option<Work> {
        let of = self.reads(device, CHUNK)?;
        let modulus = 2 + self.random.below(3_u32);
        Some(match self.random.below(3_u32) {
            0 => {
                let not = self.random.one_in(3);
                let body = self.body(device);
                let otherwise = self.random.one_in(2).then(|| self.body(device));
                Work::If { device, of, modulus, not, body, otherwise }
            }
            1 => {
                let turns = self.random.below(4_u32);
                Work::While { device, turns, body: self.body(device) }
            }
            _ => {
                let arms = (0..2 + self.random.below(2_u32)).map(|_| self.body(device)).collect();
                Work::Match { device, of, modulus, arms }
            }
        })
    }
}

/// Returns true if kernels of a device can be passed this memory.
fn reaches(device: usize, home: Home) -> bool {
    match home {
        Home::Slice(own) | Home::Shared(own) => are_peers(device, own),
        Home::Managed(_) => true,
        Home::Pinned(_) => false,
    }
}
