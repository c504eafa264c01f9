//! Generates random and fixed programs as statements in program order.

use cuweave_core::compile;
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{
    Access, Buffer, BufferId, Device, DimId, Mode, Options, Origin, Program, Statement, StatementId,
    StatementKind,
};
use cuweave_core::order::{LoweredProgram, Regions};
use cuweave_ptx::poly::Poly;
use cuweave_testkit::random::Random;

use super::kernels::{FRESH, KERNELS, STATE_GET, STATE_SET, STATE_STEP, STATELESS};
use super::program::{Does, Function, LONGEST, Launch, Number, SCALARS, UNIT, X, Y, Z};

/// A part of a buffer: its first element and its end (exclusive).
type Part = (BufferId, u32, u32);

/// Returns a random program, and the same program with sequential statements, which defines its result.
pub fn random(seed: u64) -> [Function; 2] {
    let mut writer = Writer::new(seed);
    // The initial value of the variable is not part of the program.
    let state = seed % 5 == 3;
    if state {
        writer.set_state();
    }
    for _ in 0..2 + writer.random.below(5) {
        match writer.random.below(12) {
            0..=5 => writer.fork(),
            6 | 7 => writer.launch_anywhere(),
            8 => drop(writer.allocate(1, None)),
            9 => writer.free(),
            _ => writer.move_something(),
        }
        if state {
            writer.touch_state();
        }
    }
    if seed.is_multiple_of(40) {
        writer.many_branches();
    }
    let outputs: Vec<BufferId> = writer.alive[3..].to_vec();
    let outputs = outputs.into_iter().filter(|_| writer.random.one_in(4)).collect();
    writer.finish(seed, outputs)
}

/// Three parallel launches of a kernel on one buffer, and then two sequential ones.
pub fn fork_and_chain(kernel: usize) -> Function {
    let mut writer = Writer::new(0);
    let shape = ([5, 1, 1], [16, 1, 1]);
    for (at, part) in writer.slices(X, 3).into_iter().enumerate() {
        writer.push_launch(kernel, shape, vec![part], Number::Argument(at));
    }
    for at in [3, 0] {
        writer.push_launch(kernel, shape, vec![(X, 0, LONGEST)], Number::Argument(at));
    }
    let [function, _] = writer.finish(0, Vec::new());
    function
}

/// `count` parallel launches of a kernel with one buffer, each on its own output.
pub fn side_by_side(kernel: usize, count: usize) -> Function {
    let mut writer = Writer::new(0);
    let outputs = writer.allocate(count, Some(Way::Fill));
    for (at, &output) in outputs.iter().enumerate() {
        let part = writer.whole(output);
        writer.push_launch(kernel, ([5, 1, 1], [16, 1, 1]), vec![part], Number::Fixed(at as u32));
    }
    let [function, _] = writer.finish(0, outputs);
    function
}

/// The initialization of an allocation.
#[derive(Clone, Copy)]
enum Way {
    Fill,
    Copy,
    Fills,
    Launch,
}

/// Three parallel launches of a kernel on parts of `x` with different lengths, each with its own numbers and
/// sources, and a launch that reads all of them.
pub fn fork(kernel: usize, grids: [[u32; 3]; 3]) -> Function {
    const NUMBERS: [u32; 3] = [3, 4, 6];
    let parts = |buffer: BufferId, ends: [u32; 4]| [0, 1, 2].map(|at| (buffer, ends[at], ends[at + 1]));
    let written = [parts(X, [0, 24, 32, 72]), parts(Z, [0, 16, 24, 48])];
    let read = [parts(Y, [0, 16, 24, 72]), parts(Y, [8, 40, 64, 72])];
    let mut writer = Writer::new(0);
    for member in 0..3 {
        let (mut written, mut read) = (written.iter(), read.iter());
        let part = |mode: Mode| {
            if mode.writes() {
                written.next().map(|parts| parts[member])
            } else {
                read.next().map(|parts| parts[member])
            }
        };
        let parts = KERNELS[kernel].buffers().filter_map(part).collect();
        writer.push_launch(kernel, (grids[member], [16, 1, 1]), parts, Number::Fixed(NUMBERS[member]));
    }
    writer.push_launch(1, ([5, 1, 1], [16, 1, 1]), vec![(Z, 0, 48), (X, 0, 72)], Number::Fixed(1));
    let [function, _] = writer.finish(0, Vec::new());
    function
}

struct Writer {
    random: Random,
    lens: Vector<BufferId, u32>,
    buffers: Vector<BufferId, Buffer>,
    statements: Vector<StatementId, Statement>,
    does: Vec<Does>,
    /// The usable buffers. The first three are the arguments.
    alive: Vec<BufferId>,
}

impl Writer {
    fn new(seed: u64) -> Writer {
        let mut writer = Writer {
            random: Random::new(seed),
            lens: Vector::new(),
            buffers: Vector::new(),
            statements: Vector::new(),
            does: Vec::new(),
            alive: Vec::new(),
        };
        for (name, len, mutable) in [("x", LONGEST, true), ("y", LONGEST, false), ("z", 48, true)] {
            writer.declare(name.to_owned(), Origin::Device { mutable }, len);
        }
        writer
    }

    fn declare(&mut self, name: String, origin: Origin, len: u32) -> BufferId {
        let len_id = DimId::from_u32(len / UNIT);
        let id = self.buffers.push(Buffer {
            name: name.into(),
            line: 1,
            column: 0,
            file: None,
            origin,
            len: len_id,
            element: 4,
            align: 4,
        });
        self.lens.push(len);
        self.alive.push(id);
        id
    }

    fn push(&mut self, name: String, kind: StatementKind, accesses: Vec<Access>, does: Does) {
        let line = self.statements.len() as u32 + 1;
        let after = Vec::new().into();
        self.statements.push(Statement {
            name: name.into(),
            line,
            column: 0,
            file: None,
            kind,
            accesses: accesses.into(),
            after,
            on: None,
            device: Device::FIRST,
            switchable: false,
        });
        self.does.push(does);
    }

    fn whole(&self, buffer: BufferId) -> Part {
        (buffer, 0, self.lens[buffer])
    }

    /// Returns a random non-empty part of a buffer.
    fn part(&mut self, buffer: BufferId) -> Part {
        let units = self.lens[buffer] / UNIT;
        let lo = self.random.below(units);
        let hi = lo + 1 + self.random.below(units - lo);
        (buffer, lo * UNIT, hi * UNIT)
    }

    /// Returns a random part of a buffer that is disjoint from `taken`.
    fn beside(&mut self, taken: &[Part], written: bool) -> Option<Part> {
        for _ in 0..8 {
            let buffer = self.alive[self.random.below(self.alive.len() as u32) as usize];
            let part = self.part(buffer);
            let free = taken.iter().all(|other| other.0 != part.0 || other.2 <= part.1 || part.2 <= other.1);
            if free && !(written && buffer == Y) {
                return Some(part);
            }
        }
        None
    }

    /// Allocates `count` initialized buffers of one length. All are initialized in the same way, so that their
    /// launches may be merged.
    fn allocate(&mut self, count: usize, way: Option<Way>) -> Vec<BufferId> {
        let len = UNIT * (1 + self.random.below(LONGEST / UNIT));
        let any = [Way::Fill, Way::Copy, Way::Fills, Way::Launch][self.random.below(4) as usize];
        let (way, block) = (way.unwrap_or(any), self.block(false));
        let mut made = Vec::new();
        for _ in 0..count {
            let statement = StatementId::new(self.statements.len());
            let name = format!("b{}", self.buffers.len());
            let id = self.declare(name.clone(), Origin::Alloc(statement), len);
            self.push(name, StatementKind::Alloc(id), Vec::new(), Does::Nothing);
            made.push(id);
        }
        for &id in &made {
            match way {
                Way::Fill => self.fill(self.whole(id)),
                Way::Copy => self.copy((Y, 0, len), self.whole(id)),
                Way::Fills if len > UNIT => {
                    self.fill((id, 0, UNIT));
                    self.fill((id, UNIT, len));
                }
                Way::Fills | Way::Launch => {
                    let grid = [len.div_ceil(block[0]), 1, 1];
                    let number = self.number();
                    self.launch(FRESH, (grid, block), vec![self.whole(id)], number);
                }
            }
        }
        made
    }

    fn fill(&mut self, part: Part) {
        let value = self.random.below(1 << 30);
        self.push(
            "fill".to_owned(),
            StatementKind::Fill(()),
            vec![access(part, Mode::Write)],
            Does::Fill(value),
        );
    }

    fn copy(&mut self, from: Part, to: Part) {
        let accesses = vec![access(from, Mode::Read), access(to, Mode::Write)];
        self.push("copy".to_owned(), StatementKind::Copy(()), accesses, Does::Copy);
    }

    fn free(&mut self) {
        if self.alive.len() > 3 {
            let at = 3 + self.random.below(self.alive.len() as u32 - 3) as usize;
            let id = self.alive.remove(at);
            self.push(format!("free b{id}"), StatementKind::Free(id), Vec::new(), Does::Nothing);
        }
    }

    fn move_something(&mut self) {
        let Some(to) = self.beside(&[], true) else { return };
        match self.beside(&[to], false) {
            Some(from) if self.random.one_in(2) => {
                let len = (from.2 - from.1).min(to.2 - to.1);
                self.copy((from.0, from.1, from.1 + len), (to.0, to.1, to.1 + len));
            }
            _ => self.fill(to),
        }
    }

    fn number(&mut self) -> Number {
        match self.random.below(3) {
            0 => Number::Argument(self.random.below(SCALARS as u32) as usize),
            _ => Number::Fixed(self.random.below(6)),
        }
    }

    fn block(&mut self, in_three: bool) -> [u32; 3] {
        let shapes: &[[u32; 3]] =
            if in_three { &[[8, 2, 1], [4, 2, 2], [1, 4, 4], [16, 1, 1]] } else { &[[16, 1, 1], [8, 1, 1]] };
        shapes[self.random.below(shapes.len() as u32) as usize]
    }

    fn grid(&mut self, in_three: bool) -> [u32; 3] {
        let x = 1 + self.random.below(4);
        if in_three { [x, 1 + self.random.below(3), 1 + self.random.below(2)] } else { [x, 1, 1] }
    }

    fn launch(&mut self, kernel: usize, shape: ([u32; 3], [u32; 3]), parts: Vec<Part>, number: Number) {
        self.push_launch(kernel, shape, parts, number);
        if let Some(Does::Launch(launch)) = self.does.last_mut().filter(|_| kernel != FRESH) {
            launch.blocks_by = self.random.one_in(8).then(|| self.random.below(4) as usize);
            launch.threads_by = self.random.one_in(24).then(|| self.random.below(4) as usize);
        }
        let Some((_, before)) = self.statements.as_slice().split_last() else { return };
        let earlier = before.iter().rposition(|other| other.kind == StatementKind::Launch(()));
        if let Some(earlier) = earlier.filter(|_| self.random.one_in(16)) {
            let last = StatementId::new(before.len());
            self.statements[last].after = vec![StatementId::new(earlier)].into();
        }
    }

    fn push_launch(
        &mut self,
        kernel: usize,
        (grid, block): ([u32; 3], [u32; 3]),
        parts: Vec<Part>,
        number: Number,
    ) {
        let accesses: Vec<Access> =
            parts.into_iter().zip(KERNELS[kernel].buffers()).map(|(part, mode)| access(part, mode)).collect();
        let launch = Launch { kernel, grid, block, number, blocks_by: None, threads_by: None };
        let name = KERNELS[kernel].kernel.name.to_owned();
        self.push(name, StatementKind::Launch(()), accesses, Does::Launch(launch));
    }

    /// Adds a launch on `first` and on other buffers that are disjoint from `taken`. Returns false if there is no
    /// room.
    fn launch_on(&mut self, kernel: usize, shape: ([u32; 3], [u32; 3]), first: Part, taken: &[Part]) -> bool {
        let mut parts = vec![first];
        for mode in KERNELS[kernel].buffers().skip(1) {
            let all = [taken, &parts].concat();
            let Some(part) = self.beside(&all, mode.writes()) else { return false };
            parts.push(part);
        }
        let number = self.number();
        self.launch(kernel, shape, parts, number);
        true
    }

    fn any_kernel(&mut self) -> usize {
        1 + self.random.below(STATELESS as u32 - 1) as usize
    }

    fn shape(&mut self, kernel: usize) -> ([u32; 3], [u32; 3]) {
        let in_three = KERNELS[kernel].in_three;
        (self.grid(in_three), self.block(in_three))
    }

    fn set_state(&mut self) {
        let number = self.number();
        self.push_launch(STATE_SET, ([1, 1, 1], [16, 1, 1]), Vec::new(), number);
    }

    /// Adds launches that are only ordered by a variable of their file.
    fn touch_state(&mut self) {
        let shape = ([2, 1, 1], [16, 1, 1]);
        match self.random.below(4) {
            0 => self.set_state(),
            1 => self.push_launch(STATE_STEP, shape, Vec::new(), Number::Fixed(0)),
            2 => {
                let Some(part) = self.beside(&[], true) else { return };
                self.push_launch(STATE_GET, shape, vec![part], Number::Fixed(0));
            }
            _ => {}
        }
    }

    fn launch_anywhere(&mut self) {
        let kernel = self.any_kernel();
        let shape = self.shape(kernel);
        if let Some(first) = self.beside(&[], true) {
            self.launch_on(kernel, shape, first, &[]);
        }
    }

    /// Adds parallel launches of one kernel, in one or several steps, on separate buffers or on slices of one.
    /// Sometimes adds a launch that joins them.
    fn fork(&mut self) {
        let count = 2 + self.random.below(5) as usize;
        let own = self.random.one_in(2);
        let parts: Vec<Part> = if own {
            self.allocate(count, None).into_iter().map(|id| self.whole(id)).collect()
        } else {
            let of = if self.random.one_in(2) { X } else { Z };
            self.slices(of, count)
        };
        for _ in 0..1 + self.random.below(3) {
            let kernel = self.any_kernel();
            let shape = self.shape(kernel);
            let unequal = self.random.one_in(3);
            for &part in &parts {
                let grid = if unequal { self.grid(KERNELS[kernel].in_three) } else { shape.0 };
                self.launch_on(kernel, (grid, shape.1), part, &parts);
            }
        }
        if own && self.random.one_in(2) {
            let target = self.part(X);
            for &part in &parts {
                let numbers = (self.number(), self.shape(1));
                self.launch(1, numbers.1, vec![target, part], numbers.0);
            }
        }
        if own && self.random.one_in(3) {
            for part in parts {
                self.alive.retain(|&id| id != part.0);
                self.push(
                    format!("free b{}", part.0),
                    StatementKind::Free(part.0),
                    Vec::new(),
                    Does::Nothing,
                );
            }
        }
    }

    /// Splits a buffer into slices.
    fn slices(&mut self, buffer: BufferId, count: usize) -> Vec<Part> {
        let units = self.lens[buffer] / UNIT;
        let each = (units / count as u32).max(1);
        let cut = |at: u32| (buffer, at * each * UNIT, (at + 1) * each * UNIT);
        (0..(count as u32).min(units)).map(cut).collect()
    }

    /// Adds more small branches than there are lanes. They cannot be batched.
    fn many_branches(&mut self) {
        for (at, id) in self.allocate(40, Some(Way::Launch)).into_iter().enumerate() {
            let kernel = [2, 6][at % 2];
            let part = self.whole(id);
            self.launch(kernel, ([1, 1, 1], [16, 1, 1]), vec![part], Number::Fixed(at as u32));
            if let Some(Does::Launch(launch)) = self.does.last_mut() {
                launch.threads_by = Some(at % SCALARS);
            }
        }
    }

    fn finish(self, seed: u64, outputs: Vec<BufferId>) -> [Function; 2] {
        let values: Vec<u32> = (0..=LONGEST / UNIT).map(|at| at * UNIT).collect();
        let poisoned = Vector::filled(false, self.buffers.len());
        let program = Program {
            name: format!("random {seed}").into(),
            file: "forms.rs".into(),
            options: Options::default(),
            dims: values.iter().map(|value| value.to_string().into()).collect(),
            buffers: self.buffers,
            statements: self.statements,
            views: Vec::new().into(),
            outputs: outputs.into(),
            grants: Vec::new().into(),
        };
        let polys: Vector<DimId, Poly> =
            values.iter().map(|&value| Poly::constant(i128::from(value))).collect();
        let source = LoweredProgram {
            program,
            polys,
            poisoned,
            order_unknown: false,
            regions: Regions::default(),
            may_be_zero: false,
        };
        let mut one_by_one = source.clone();
        let mut previous = None;
        for (id, statement) in one_by_one.program.statements.enumerate_mut() {
            if !statement.kind.is_memory() {
                statement.after = previous.into_iter().collect::<Vec<_>>().into();
                previous = Some(id);
            }
        }
        [source, one_by_one].map(|source| {
            let (checked, found) = compile::front(source);
            let checked = checked.unwrap_or_else(|| panic!("program {seed}: {found:?}"));
            Function { program: checked.program().clone(), does: self.does.clone() }
        })
    }
}

fn access((buffer, lo, hi): Part, mode: Mode) -> Access {
    let [lo, hi] = [lo, hi].map(|at| DimId::from_u32(at / UNIT));
    Access { buffer, mode, lo, hi, relied_on: false, rows: None }
}
