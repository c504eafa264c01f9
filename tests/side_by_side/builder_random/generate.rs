//! Generates random valid programs: everything that is read was written before.

use cuweave_testkit::random::Random;

/// The number of programs.
pub const PROGRAMS: u64 = 200;

/// The length of a buffer: `n`, `2 * n`, `4 * n` or `n + k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Len {
    One,
    Two,
    Four,
    More,
}

/// A part of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The index of the buffer.
    pub buffer: usize,
    pub of: Of,
}

/// The kind of part. Chunks have `n` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Whole,
    Chunk(usize),
    /// The chunk that a loop variable selects.
    Turn,
    /// The second half of the upper half of a buffer of four chunks.
    Nested,
}

/// A number that is passed to a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Factor {
    Literal(u8),
    Scalar,
}

/// A launch configuration.
#[derive(Clone, Copy, Debug)]
pub enum Grid {
    PerItem,
    Blocks,
}

/// The work of a statement.
#[derive(Clone, Debug)]
pub enum Work {
    Alloc {
        buffer: usize,
    },
    Fill {
        to: Part,
        value: u8,
    },
    Copy {
        from: Part,
        to: Part,
    },
    CopyPinned {
        to: Part,
    },
    Set {
        to: Part,
        value: Factor,
        grid: Grid,
    },
    CopyTo {
        from: Part,
        to: Part,
        grid: Grid,
    },
    Scale {
        x: Part,
        a: Factor,
        grid: Grid,
    },
    Axpy {
        a: Factor,
        x: Part,
        y: Part,
        grid: Grid,
    },
    Count {
        by: u8,
    },
    Free {
        buffer: usize,
    },
    /// A call of `step`, and of `made`, which returns a buffer.
    Step {
        a: Factor,
        x: Part,
        y: Part,
    },
    Made {
        buffer: usize,
        x: Part,
    },
    Loop {
        turns: usize,
        body: Vec<Work>,
    },
}

/// A statement, and the earlier statements that its `#[after]` names.
#[derive(Clone, Debug)]
pub struct Statement {
    pub work: Work,
    pub after: Vec<usize>,
    /// True if a later statement refers to it.
    pub named: bool,
}

/// A program. Buffers 0 to 2 are the arguments `x`, `z` and `y`.
#[derive(Clone, Debug)]
pub struct Program {
    pub number: u64,
    pub explicit: bool,
    pub memory: Option<&'static str>,
    pub launches: Option<&'static str>,
    pub budget: bool,
    pub lens: Vec<Len>,
    pub statements: Vec<Statement>,
    pub outputs: Vec<usize>,
}

pub const X: usize = 0;
pub const Z: usize = 1;
pub const Y: usize = 2;

/// Returns a name of a buffer.
pub fn name(buffer: usize) -> String {
    match buffer {
        X => "x".to_owned(),
        Z => "z".to_owned(),
        Y => "y".to_owned(),
        other => format!("_t{other}"),
    }
}

struct Writer {
    random: Random,
    explicit: bool,
    lens: Vec<Len>,
    /// For each buffer, the chunks that have been written; one entry for `n + k` elements.
    written: Vec<Vec<bool>>,
    freed: Vec<bool>,
    statements: Vec<Statement>,
}

fn chunks(len: Len) -> usize {
    match len {
        Len::One | Len::More => 1,
        Len::Two => 2,
        Len::Four => 4,
    }
}

/// Returns the program with this number.
pub fn program(number: u64) -> Program {
    let mut random = Random::new(number + 1);
    let explicit = random.one_in(5);
    let memory = [None, None, Some("nodes"), Some("arena"), Some("owned")][random.below(5_usize)];
    let launches =
        [None, None, Some("as-written"), Some("batched"), Some("overlapped")][random.below(5_usize)];
    let budget = random.one_in(6);
    let lens = vec![Len::Four, Len::More, Len::Four];
    let written = lens.iter().map(|&len| vec![true; chunks(len)]).collect();
    let count = 3 + random.below(14_usize);
    let mut writer =
        Writer { random, explicit, lens, written, freed: vec![false; 3], statements: Vec::new() };
    while writer.statements.len() < count {
        writer.statement();
    }
    let whole = |buffer: &usize| {
        *buffer > Y && !writer.freed[*buffer] && writer.written[*buffer].iter().all(|&written| written)
    };
    let outputs = (0..writer.lens.len()).filter(whole).take(writer.random.clone().below(3_usize)).collect();
    let Writer { lens, statements, .. } = writer;
    Program { number, explicit, memory, launches, budget, lens, statements, outputs }
}

impl Writer {
    fn grid(&mut self) -> Grid {
        if self.random.one_in(3) { Grid::Blocks } else { Grid::PerItem }
    }

    fn factor(&mut self) -> Factor {
        if self.random.one_in(2) {
            Factor::Scalar
        } else {
            Factor::Literal(1 + self.random.below(4_u32) as u8)
        }
    }

    fn chunks_of(&self, part: Part) -> Vec<usize> {
        match part.of {
            Of::Whole | Of::Turn => (0..chunks(self.lens[part.buffer])).collect(),
            Of::Chunk(at) => vec![at],
            Of::Nested => vec![3],
        }
    }

    /// Returns parts with the length of one chunk, or of `n + k`.
    fn parts(&self, more: bool) -> Vec<Part> {
        let live = (0..self.lens.len()).filter(|&buffer| !self.freed[buffer]);
        let of = |buffer: usize| {
            let part = move |of| Part { buffer, of };
            match self.lens[buffer] {
                Len::More => {
                    if more {
                        vec![part(Of::Whole)]
                    } else {
                        Vec::new()
                    }
                }
                _ if more => Vec::new(),
                Len::One => vec![part(Of::Whole)],
                Len::Two => vec![part(Of::Chunk(0)), part(Of::Chunk(1))],
                Len::Four => (0..4).map(|at| part(Of::Chunk(at))).chain([part(Of::Nested)]).collect(),
            }
        };
        live.flat_map(of).collect()
    }

    fn is_written(&self, part: Part) -> bool {
        self.chunks_of(part).iter().all(|&at| self.written[part.buffer][at])
    }

    fn write(&mut self, part: Part) {
        for at in self.chunks_of(part) {
            self.written[part.buffer][at] = true;
        }
    }

    fn pick(&mut self, parts: Vec<Part>) -> Option<Part> {
        (!parts.is_empty()).then(|| self.random.choose(&parts))
    }

    fn source(&mut self, more: bool) -> Option<Part> {
        let parts = self.parts(more).into_iter().filter(|&part| self.is_written(part)).collect();
        self.pick(parts)
    }

    fn target(&mut self, more: bool) -> Option<Part> {
        let parts =
            self.parts(more).into_iter().filter(|part| part.buffer != X && part.buffer != Z).collect();
        self.pick(parts)
    }

    /// Returns a source and a target that do not overlap.
    fn pair(&mut self, written: bool) -> Option<(Part, Part)> {
        let more = self.random.one_in(4);
        let (from, to) = (self.source(more)?, self.target(more)?);
        let apart = from.buffer != to.buffer || {
            let one = self.chunks_of(from);
            self.chunks_of(to).iter().all(|at| !one.contains(at))
        };
        (apart && (!written || self.is_written(to))).then_some((from, to))
    }

    fn statement(&mut self) {
        if let Some(work) = self.work() {
            let mut after = Vec::new();
            for at in 0..self.statements.len() {
                let needed = self.explicit && conflict(&self.statements[at].work, &work);
                let wanted = !self.explicit && self.random.one_in(12);
                if (needed || wanted) && can_be_named(&self.statements[at].work) && can_be_ordered(&work) {
                    self.statements[at].named = true;
                    after.push(at);
                }
            }
            self.statements.push(Statement { work, after, named: false });
        }
    }

    fn work(&mut self) -> Option<Work> {
        let (grid, a) = (self.grid(), self.factor());
        Some(match self.random.below(16_u32) {
            0..=2 => {
                let len = self.random.choose(&[Len::One, Len::Two, Len::Four, Len::More]);
                Work::Alloc { buffer: self.allocate(len, false) }
            }
            3 => {
                let more = self.random.one_in(4);
                let to = self.target(more)?;
                self.write(to);
                Work::Fill { to, value: self.random.below(9_u32) as u8 }
            }
            4 => {
                let (from, to) = self.pair(false)?;
                self.write(to);
                Work::Copy { from, to }
            }
            5 => {
                let to = self.target(false)?;
                self.write(to);
                Work::CopyPinned { to }
            }
            6 => {
                let more = self.random.one_in(4);
                let to = self.target(more)?;
                self.write(to);
                Work::Set { to, value: a, grid }
            }
            7 | 8 => {
                let (from, to) = self.pair(false)?;
                self.write(to);
                Work::CopyTo { from, to, grid }
            }
            9 | 10 => {
                let x = self.target(false).filter(|&x| self.is_written(x))?;
                Work::Scale { x, a, grid }
            }
            11 | 12 => {
                let (x, y) = self.pair(true)?;
                Work::Axpy { a, x, y, grid }
            }
            13 => Work::Count { by: self.random.below(5_u32) as u8 },
            14 => {
                let owned = (3..self.lens.len()).filter(|&buffer| !self.freed[buffer]).collect::<Vec<_>>();
                let buffer = *owned.first().filter(|_| self.random.one_in(3))?;
                self.freed[buffer] = true;
                Work::Free { buffer }
            }
            _ if self.explicit => return None,
            _ => match self.random.below(3_u32) {
                0 => {
                    let (x, y) = self.pair(true).filter(|pair| self.lens[pair.0.buffer] != Len::More)?;
                    Work::Step { a, x, y }
                }
                1 => {
                    let x = self.source(false)?;
                    Work::Made { buffer: self.allocate(Len::One, true), x }
                }
                _ => self.turns(a, grid),
            },
        })
    }

    fn allocate(&mut self, len: Len, written: bool) -> usize {
        self.lens.push(len);
        self.written.push(vec![written; chunks(len)]);
        self.freed.push(false);
        self.lens.len() - 1
    }

    /// A loop over the chunks of `x` and `y`, with a temporary in each iteration.
    fn turns(&mut self, a: Factor, grid: Grid) -> Work {
        let turn = |buffer| Part { buffer, of: Of::Turn };
        let turns = 1 + self.random.below(4_usize);
        let buffer = self.allocate(Len::One, false);
        // The name is not visible to later statements.
        self.freed[buffer] = true;
        let own = Part { buffer, of: Of::Whole };
        let mut body = vec![
            Work::Alloc { buffer },
            Work::CopyTo { from: turn(X), to: own, grid },
            Work::Axpy { a, x: own, y: turn(Y), grid },
        ];
        if self.random.one_in(2) {
            body.push(Work::Scale { x: turn(Y), a, grid: Grid::PerItem });
        }
        if self.random.one_in(3) {
            body.push(Work::Free { buffer });
        }
        Work::Loop { turns, body }
    }
}

fn can_be_named(work: &Work) -> bool {
    !matches!(work, Work::Loop { .. } | Work::Free { .. } | Work::Step { .. } | Work::Made { .. })
}

fn can_be_ordered(work: &Work) -> bool {
    !matches!(work, Work::Loop { .. })
}

/// Returns the buffers of a statement, each with true if the statement writes, allocates or frees it. Buffer
/// `usize::MAX` is `v`.
fn uses(work: &Work) -> Vec<(usize, bool)> {
    match work {
        Work::Alloc { buffer } | Work::Free { buffer } => vec![(*buffer, true)],
        Work::Fill { to, .. } | Work::CopyPinned { to } | Work::Set { to, .. } => vec![(to.buffer, true)],
        Work::Copy { from, to } | Work::CopyTo { from, to, .. } => {
            vec![(from.buffer, false), (to.buffer, true)]
        }
        Work::Scale { x, .. } => vec![(x.buffer, true)],
        Work::Axpy { x, y, .. } | Work::Step { x, y, .. } => vec![(x.buffer, false), (y.buffer, true)],
        Work::Count { .. } => vec![(usize::MAX, true)],
        Work::Made { buffer, x } => vec![(*buffer, true), (x.buffer, false)],
        Work::Loop { .. } => Vec::new(),
    }
}

fn conflict(one: &Work, other: &Work) -> bool {
    let (one, other) = (uses(one), uses(other));
    one.iter().any(|(a, wrote)| other.iter().any(|(b, writes)| a == b && (*wrote || *writes)))
}
