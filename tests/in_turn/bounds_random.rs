//! Random programs whose ranges move with setters, on random schedules. Every accepted value gives the results of a
//! sequential evaluation, a value is refused exactly if the program is invalid for it, and there are no races.

use std::cell::Cell;

use cudarc::driver::LaunchConfig;
use cuweave::__private::{
    Arguments, BindMut, Body, Bound, BoundExclusive, Dim, ElementLayout, Evaluation, ExecCore, Generated,
    GraphFn, KernelItem, Table, ToView, Token, ViewContext, Visitor, build, dim, mark,
};
use cuweave::bind::DeviceView;
use cuweave::prelude::*;
use cuweave_core::ids::{ArgumentId, DimId, LeafId, ScalarId};
use cuweave_core::index::Index;
use cuweave_core::ir::{
    Access, Buffer, BufferId, Device, Mode, Options, Origin, Program, Statement, StatementId, StatementKind,
};
use cuweave_core::structure::Structure;
use cuweave_core::table::{BoundOp, Parameter, PrintedFunction, Scalar, Setting, TableHandle, encode};
use cuweave_testkit::device::{alone, ramp};
use cuweave_testkit::random::Random;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

const SCALARS: usize = 3;
const LEN: u64 = 64;
/// `x`, `y`, and a temporary.
const BUFFERS: usize = 3;

/// A bound.
#[derive(Clone, Debug)]
enum Term {
    Number(u64),
    Scalar(usize),
    /// The minimum of two scalars: an expression that rustc computes.
    Smaller(usize, usize),
    Of(BoundOp, Box<(Term, Term)>),
}

impl Term {
    fn random(random: &mut Random, depth: u32) -> Term {
        match random.below(if depth == 0 { 4_u32 } else { 9 }) {
            0 => Term::Number(random.below(20_u64)),
            1 | 2 => Term::Scalar(random.below(SCALARS)),
            3 => Term::Smaller(random.below(SCALARS), random.below(SCALARS)),
            _ => {
                let op = random.choose(&[
                    BoundOp::Add,
                    BoundOp::Add,
                    BoundOp::Sub,
                    BoundOp::Mul,
                    BoundOp::Div,
                    BoundOp::Rem,
                ]);
                let mut side = || Term::random(random, depth - 1);
                Term::Of(op, Box::new((side(), side())))
            }
        }
    }

    fn value(&self, scalars: &[u32; SCALARS]) -> Option<u64> {
        match self {
            Term::Number(value) => Some(*value),
            Term::Scalar(scalar) => Some(u64::from(scalars[*scalar])),
            Term::Smaller(one, other) => Some(u64::from(scalars[*one].min(scalars[*other]))),
            Term::Of(op, sides) => {
                let (a, b) = (sides.0.value(scalars)?, sides.1.value(scalars)?);
                match op {
                    BoundOp::Add => a.checked_add(b),
                    BoundOp::Sub => a.checked_sub(b),
                    BoundOp::Mul => a.checked_mul(b),
                    BoundOp::Div => a.checked_div(b),
                    _ => a.checked_rem(b),
                }
            }
        }
    }

    fn code(&self, code: &mut Vec<BoundOp>) {
        match self {
            Term::Number(value) => code.push(BoundOp::Constant(*value)),
            Term::Scalar(scalar) => code.push(BoundOp::Leaf(LeafId::new(*scalar))),
            Term::Smaller(one, other) => {
                code.push(BoundOp::Leaf(LeafId::new(SCALARS + one * SCALARS + other)));
            }
            Term::Of(op, sides) => {
                sides.0.code(code);
                sides.1.code(code);
                code.push(*op);
            }
        }
    }

    fn plus(&self, number: u64) -> Term {
        Term::Of(BoundOp::Add, Box::new((self.clone(), Term::Number(number))))
    }
}

/// A range of a buffer.
#[derive(Clone, Debug)]
struct Part {
    buffer: usize,
    lo: Term,
    hi: Term,
}

impl Part {
    fn random(random: &mut Random, buffer: usize, len: Option<u64>) -> Part {
        let lo = Term::random(random, 2);
        let hi = match len {
            Some(len) => lo.plus(len),
            None if random.one_in(2_u32) => lo.plus(1 + random.below(8_u64)),
            None => Term::random(random, 2),
        };
        Part { buffer, lo, hi }
    }

    fn range(&self, scalars: &[u32; SCALARS]) -> Option<std::ops::Range<usize>> {
        let (lo, hi) = (self.lo.value(scalars)?, self.hi.value(scalars)?);
        (lo <= hi && hi <= LEN).then_some(lo as usize..hi as usize)
    }
}

#[derive(Clone, Debug)]
enum Does {
    Alloc,
    Fill(f32, Part),
    Copy(Part, Part),
    Scale(f32, Part),
    Axpy(Part, Part),
}

impl Does {
    fn random(random: &mut Random) -> Does {
        let buffer = random.below(BUFFERS);
        let other = (buffer + 1 + random.below(BUFFERS - 1)) % BUFFERS;
        let len = (!random.one_in(4_u32)).then(|| 1 + random.below(8_u64));
        let (one, two) = (Part::random(random, buffer, len), Part::random(random, other, len));
        match random.below(4_u32) {
            0 => Does::Fill(random.float(), one),
            1 => Does::Copy(one, two),
            2 => Does::Scale(random.choose(&[0.5, -1.0, 2.0]), one),
            _ => Does::Axpy(one, two),
        }
    }

    fn parts(&self) -> Vec<(&Part, Mode)> {
        match self {
            Does::Alloc => Vec::new(),
            Does::Fill(_, part) => vec![(part, Mode::Write)],
            Does::Copy(from, to) => vec![(from, Mode::Read), (to, Mode::Write)],
            Does::Scale(_, part) => vec![(part, Mode::ReadWrite)],
            Does::Axpy(x, y) => vec![(x, Mode::Read), (y, Mode::ReadWrite)],
        }
    }

    /// Evaluates it on the host. `None` if it is invalid.
    fn run(&self, buffers: &mut [Vec<f32>; BUFFERS], scalars: &[u32; SCALARS]) -> Option<()> {
        let ranges: Vec<_> =
            self.parts().into_iter().map(|(part, _)| part.range(scalars)).collect::<Option<_>>()?;
        match self {
            Does::Alloc => {}
            Does::Fill(value, part) => {
                (!ranges[0].is_empty()).then_some(())?;
                buffers[part.buffer][ranges[0].clone()].fill(*value);
            }
            Does::Copy(from, to) => {
                (!ranges[0].is_empty() && ranges[0].len() == ranges[1].len()).then_some(())?;
                let source = buffers[from.buffer][ranges[0].clone()].to_vec();
                buffers[to.buffer][ranges[1].clone()].copy_from_slice(&source);
            }
            Does::Scale(by, part) => {
                buffers[part.buffer][ranges[0].clone()].iter_mut().for_each(|x| *x *= by);
            }
            Does::Axpy(x, y) => {
                (ranges[0].len() == ranges[1].len()).then_some(())?;
                let source = buffers[x.buffer][ranges[0].clone()].to_vec();
                let target = buffers[y.buffer][ranges[1].clone()].iter_mut();
                target.zip(source).for_each(|(y, x)| *y += x);
            }
        }
        Some(())
    }
}

/// Returns a program of these statements, and its bounds.
fn program(does: &[Does]) -> (Program, Vec<Term>) {
    let mut terms = vec![Term::Number(0), Term::Number(LEN)];
    let mut bound = |term: &Term| {
        terms.push(term.clone());
        DimId::new(terms.len() - 1)
    };
    let buffer = |name: &'static str, origin| Buffer {
        name: name.into(),
        line: 1,
        column: 0,
        file: None,
        origin,
        len: DimId::new(1),
        element: 0,
        align: 0,
    };
    let statements = does.iter().zip(2..).map(|(does, line)| {
        let accesses: Vec<Access> = does
            .parts()
            .into_iter()
            .map(|(part, mode)| Access {
                buffer: BufferId::new(part.buffer),
                mode,
                lo: bound(&part.lo),
                hi: bound(&part.hi),
                relied_on: false,
                rows: None,
            })
            .collect();
        let (name, kind) = match does {
            Does::Alloc => ("t", StatementKind::Alloc(BufferId::new(2))),
            Does::Fill(..) => ("fill", StatementKind::Fill(())),
            Does::Copy(..) => ("copy", StatementKind::Copy(())),
            Does::Scale(..) => ("scale", StatementKind::Launch(())),
            Does::Axpy(..) => ("axpy", StatementKind::Launch(())),
        };
        let (accesses, after) = (accesses.into(), Vec::new().into());
        Statement {
            name: name.into(),
            line,
            column: 0,
            file: None,
            kind,
            accesses,
            after,
            on: None,
            device: Device::FIRST,
            switchable: false,
        }
    });
    let statements = statements.collect();
    let program = Program {
        name: "random".into(),
        file: "random.rs".into(),
        options: Options::default(),
        dims: terms.iter().map(|term| format!("{term:?}").into()).collect(),
        buffers: vec![
            buffer("x", Origin::Device { mutable: true }),
            buffer("y", Origin::Device { mutable: true }),
            buffer("t", Origin::Alloc(StatementId::new(0))),
        ]
        .into(),
        statements,
        views: Vec::new().into(),
        outputs: Vec::new().into(),
        grants: Vec::new().into(),
    };
    (program, terms)
}

/// Returns the scalars of a program. The lengths of launches are arguments.
fn scalars(program: &Program) -> Vec<Scalar> {
    let launches: Vec<StatementId> = program
        .statements
        .enumerate()
        .filter(|(_, statement)| matches!(statement.kind, StatementKind::Launch(())))
        .map(|(id, _)| id)
        .collect();
    (0..SCALARS)
        .map(|scalar| Scalar {
            name: format!("s{scalar}").into(),
            argument: ArgumentId::new(scalar),
            path: Vec::new(),
            line: 1,
            setting: Setting::Free,
            leaf: Some(LeafId::new(scalar)),
            statements: launches.clone(),
            grids: Vec::new(),
            blocks: Vec::new(),
            // No kernel has more parameters.
            parameters: launches.iter().flat_map(|&launch| (0..8).map(move |at| (launch, at))).collect(),
        })
        .collect()
}

/// A program in a table that is never freed.
#[derive(Clone, Copy, Debug)]
struct Function {
    does: &'static [Does],
    table: &'static Table,
}

impl Function {
    /// Returns a program that is valid for these values.
    fn random(random: &mut Random, scalars: &[u32; SCALARS]) -> Function {
        let whole = Part { buffer: 2, lo: Term::Number(0), hi: Term::Number(LEN) };
        let mut does = vec![Does::Alloc, Does::Fill(1.5, whole)];
        let mut buffers = std::array::from_fn(|_| vec![0.0; LEN as usize]);
        let count = does.len() + 3 + random.below(10_usize);
        while does.len() < count {
            let next = Does::random(random);
            if next.run(&mut buffers, scalars).is_some() {
                does.push(next);
            }
        }
        Function::new(does.leak())
    }

    /// Returns a program with its table.
    fn new(does: &'static [Does]) -> Function {
        let (program, terms) = program(does);
        let dims: Vec<Vec<BoundOp>> = terms
            .iter()
            .map(|term| {
                let mut code = Vec::new();
                term.code(&mut code);
                code
            })
            .collect();
        let scalars = scalars(&program);
        let pairs = (0..SCALARS).flat_map(|one| (0..SCALARS).map(move |other| vec![one, other]));
        let leaves = (0..SCALARS).map(|one| vec![one]).chain(pairs);
        let structure = Structure {
            leaf_scalars: leaves.map(|list| list.into_iter().map(ScalarId::new).collect()).collect(),
            ..Structure::default()
        };
        let bytes = encode(&PrintedFunction {
            program: &program,
            layouts: &[0; BUFFERS],
            dims: &dims,
            steps: &(0..does.len() as u32).collect::<Vec<_>>(),
            scalars: &scalars,
            parameters: &[
                ("x".to_owned(), Parameter::Buffer(BufferId::new(0))),
                ("y".to_owned(), Parameter::Buffer(BufferId::new(1))),
            ],
            structure: &structure,
        });
        const LAYOUTS: &[ElementLayout] = &[ElementLayout::of::<f32>()];
        Function { does, table: Box::leak(Box::new(Table::new(bytes.leak(), LAYOUTS))) }
    }

    /// Evaluates it on the host. `None` if it is invalid for these values.
    fn meaning(self, x: &[f32], y: &[f32], scalars: &[u32; SCALARS]) -> Option<[Vec<f32>; BUFFERS]> {
        let mut buffers = [x.to_vec(), y.to_vec(), vec![0.0; LEN as usize]];
        self.does.iter().try_for_each(|does| does.run(&mut buffers, scalars))?;
        Some(buffers)
    }
}

thread_local! {
    static BUILT: Cell<Option<&'static Table>> = const { Cell::new(None) };
}

struct Args<'a> {
    function: Function,
    x: BoundExclusive<'a, f32>,
    y: BoundExclusive<'a, f32>,
    scalars: [u32; SCALARS],
}

#[derive(Debug)]
struct Methods<'a>(ExecCore<Args<'a>>);

impl GraphFn for Args<'_> {
    fn table(_: Token) -> Option<&'static Table> {
        Some(BUILT.get().expect("a program is built"))
    }

    type Values<'v>
        = &'v Self
    where
        Self: 'v;

    fn values(&self, _: Token) -> &Self {
        self
    }
}

impl Body for &Args<'_> {
    fn table(&self, _: Token) -> Option<TableHandle> {
        self.function.table.handle()
    }

    fn leaf(&self, number: u32, _: &[i64], _: Token) -> Dim {
        let number = number as usize;
        dim(match number.checked_sub(SCALARS) {
            None => self.scalars[number],
            Some(pair) => self.scalars[pair / SCALARS].min(self.scalars[pair % SCALARS]),
        })
    }

    fn arm(&self, _: u32, _: &[i64], _: Token) -> u32 {
        unreachable!("the program is flat")
    }

    fn enter(&self, _: u32, _: &[i64], _: &mut dyn FnMut(&dyn Body), _: Token) {
        unreachable!("the program is flat")
    }

    fn evaluate(
        &self,
        step: u32,
        _: &[i64],
        evaluation: &mut Evaluation<'_>,
        _: Token,
    ) -> cuweave::Result<()> {
        let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: 0 };
        let len = |part: &Part| part.range(&self.scalars).map_or(u32::MAX, |range| range.len() as u32);
        match &self.function.does[step as usize] {
            Does::Alloc => Ok(()),
            Does::Fill(value, _) => evaluation.fill(*value),
            Does::Copy(..) => evaluation.copy(),
            Does::Scale(by, part) => {
                let kernel = <scale as KernelItem>::kernel(Token);
                let mut arguments = Arguments::new(3, 1);
                arguments.buffer(mark::Unique::<f32>::at(0), dim(len(part)));
                arguments.scalar(*by);
                arguments.scalar(len(part));
                evaluation.run(kernel, config, arguments)
            }
            Does::Axpy(x, y) => {
                let kernel = <axpy as KernelItem>::kernel(Token);
                // A length beyond both is refused.
                let len = len(x).max(len(y));
                let mut arguments = Arguments::new(4, 2);
                arguments.scalar(1.0f32);
                arguments.buffer(mark::Shared::<f32>::at(0), dim(len));
                arguments.buffer(mark::Unique::<f32>::at(1), dim(len));
                arguments.scalar(len);
                evaluation.run(kernel, config, arguments)
            }
        }
    }
}

impl<'a> Generated for Args<'a> {
    type Exec = Methods<'a>;
    type Views<'v>
        = [DeviceView<'v, f32>; 2]
    where
        Self: 'v;
    type ViewsMut<'v>
        = ()
    where
        Self: 'v;

    fn operands(&mut self, visitor: &mut Visitor<'_>, _: Token) {
        self.x.visit(visitor);
        self.y.visit(visitor);
    }

    fn views<'v>(&'v self, lender: &ViewContext<'v>, _: Token) -> [DeviceView<'v, f32>; 2] {
        [self.x.to_view(lender, 0), self.y.to_view(lender, 1)]
    }

    fn views_mut<'v>(&'v mut self, _: &ViewContext<'v>, _: Token) {}

    fn exec(core: ExecCore<Self>, _: Token) -> Methods<'a> {
        Methods(core)
    }

    fn core<'m>(methods: &'m Methods<'a>, _: Token) -> &'m ExecCore<Self> {
        &methods.0
    }

    fn core_mut<'m>(methods: &'m mut Methods<'a>, _: Token) -> &'m mut ExecCore<Self> {
        &mut methods.0
    }

    fn into_core(methods: Methods<'a>, _: Token) -> ExecCore<Self> {
        methods.0
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

const PROGRAMS: u64 = 400;
const SETS: usize = 12;

#[test]
fn random_ranges_move() {
    let device = alone();
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..PROGRAMS {
        let mut random = Random::new(seed);
        let mut scalars = std::array::from_fn(|_| random.below(24_u32));
        let function = Function::random(&mut random, &scalars);
        let (mut x, mut y) = (ramp(LEN as usize), vec![1.0_f32; LEN as usize]);
        let value = |random: &mut Random| match random.below(8_u32) {
            0 => random.choose(&[u32::MAX, 1 << 20, 65]),
            _ => random.below(24_u32),
        };
        device.schedule(seed + 1);
        let args =
            Args { function, x: device.upload(&x).bind_mut(), y: device.upload(&y).bind_mut(), scalars };
        BUILT.set(Some(function.table));
        let graph = build(&device.ctx, args).unwrap_or_else(|error| panic!("{seed}: {error}"));
        let mut exec = graph.instantiate().expect("it instantiates");
        for _ in 0..SETS {
            let (scalar, new) = (random.below(SCALARS), value(&mut random));
            let old = std::mem::replace(&mut scalars[scalar], new);
            let meaning = function.meaning(&x, &y, &scalars).is_some();
            let set = exec.0.set_scalar(scalar, new, move |args| &mut args.scalars[scalar]);
            assert_eq!(set.is_ok(), meaning, "{seed}: {set:?} of {scalars:?} in {:#?}", function.does);
            if set.is_ok() {
                accepted += 1;
            } else {
                refused += 1;
                scalars[scalar] = old;
            }
            exec.0.launch(&device.stream, ()).expect("it launches");
            [x, y, _] = function.meaning(&x, &y, &scalars).expect("it was accepted");
            let [now_x, now_y] = exec.0.views().map(|view| device.download(&view));
            let same = (bits(&now_x), bits(&now_y)) == (bits(&x), bits(&y));
            assert!(
                same,
                "{seed}: {scalars:?} in {:#?}: {now_x:?} {now_y:?}, not {x:?} {y:?}",
                function.does
            );
        }
    }
    device.nothing_reported();
    println!("{accepted} values set, {refused} refused");
    assert!(accepted > 2 * PROGRAMS && refused > PROGRAMS, "{accepted}, {refused}");
}
