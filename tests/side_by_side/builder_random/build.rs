//! Builds the programs with a builder.

use cuweave::builder::{
    Argument, Builder, Handle, Launches, Memory, Order, Scalar, Size, Statement as Node, ToArgument, ToSize,
    View,
};
use cuweave::prelude::*;

use super::generate::{Factor, Grid, Len, Of, Part, Program, Work, name};
use super::{A, Bench, K, N, Seen, add_all, axpy, copy_to, made, scale, seen, set, step};

/// Builds and runs a program.
pub fn run(program: &Program, bench: &mut Bench) -> cuweave::Result<Seen> {
    let Bench { device, x, z, y, v, p, out, .. } = bench;
    let mut b = Builder::with_name(&device.ctx, &format!("p{}", program.number));
    let (n, k, a) = (b.scalar("n", N), b.scalar("k", K), b.scalar("a", A));
    let handles =
        vec![b.shared("x", 4 * n, &*x), b.shared("z", n + k, &*z), b.exclusive("y", 4 * n, &mut *y)];
    let (v, p) = (b.exclusive("v", n, &mut *v), b.pinned("p", n, &*p));
    if program.explicit {
        b.order(Order::Explicit);
    }
    match program.memory {
        Some("nodes") => drop(b.memory(Memory::Nodes)),
        Some("arena") => drop(b.memory(Memory::Arena)),
        Some(_) => drop(b.memory(Memory::Owned)),
        None => {}
    }
    match program.launches {
        Some("as-written") => drop(b.launches(Launches::AsWritten)),
        Some("batched") => drop(b.launches(Launches::Batched)),
        Some(_) => drop(b.launches(Launches::Overlapped)),
        None => {}
    }
    if program.budget {
        b.budget(4096 * n);
    }
    let mut writing = Writing { b, program, n, k, a, handles, v, p, nodes: Vec::new() };
    for (at, statement) in program.statements.iter().enumerate() {
        for &before in &statement.after {
            match (&program.statements[before].work, writing.nodes[before]) {
                (&Work::Alloc { buffer }, _) => drop(writing.b.after(writing.handles[buffer])),
                (_, Some(node)) => drop(writing.b.after(node)),
                (_, None) => unreachable!("statements that are named are nodes"),
            }
        }
        if statement.named && !matches!(statement.work, Work::Alloc { .. }) {
            writing.b.named(&format!("s{at}"));
        }
        let node = writing.work(&statement.work, 0)?;
        writing.nodes.push(node);
    }
    for &output in &program.outputs {
        writing.b.output(writing.handles[output])?;
    }
    seen(writing.b.build(), &device.stream, out)
}

struct Writing<'p, 'a> {
    b: Builder<'a>,
    program: &'p Program,
    n: Scalar<u32>,
    k: Scalar<u32>,
    a: Scalar<f32>,
    handles: Vec<Handle>,
    v: Handle,
    p: Handle,
    nodes: Vec<Option<Node>>,
}

impl Writing<'_, '_> {
    fn len(&self, len: Len) -> Size {
        match len {
            Len::One => self.n.to_size(),
            Len::Two => 2 * self.n,
            Len::Four => 4 * self.n,
            Len::More => self.n + self.k,
        }
    }

    fn part(&self, part: Part, turn: usize) -> View {
        let (handle, n) = (self.handles[part.buffer], self.n);
        match part.of {
            Of::Whole => handle.into(),
            Of::Chunk(at) => handle.range(at * n, (at + 1) * n),
            Of::Turn => handle.range(turn * n, (turn + 1) * n),
            Of::Nested => handle.range(2 * n, 4 * n).range(n, 2 * n),
        }
    }

    fn count(&self, part: Part) -> Size {
        match part.of {
            Of::Whole => self.len(self.program.lens[part.buffer]),
            _ => self.n.to_size(),
        }
    }

    fn factor(&self, factor: Factor) -> Argument {
        match factor {
            Factor::Literal(value) => (f64::from(value) + 0.5).to_argument(),
            Factor::Scalar => self.a.to_argument(),
        }
    }

    fn alloc(&mut self, buffer: usize) {
        let len = self.len(self.program.lens[buffer]);
        let handle = self.b.named(&name(buffer)).alloc::<f32>(len);
        self.set_handle(buffer, handle);
    }

    fn set_handle(&mut self, buffer: usize, handle: Handle) {
        // In loops, each iteration allocates a new buffer.
        self.handles.resize(self.handles.len().max(buffer + 1), handle);
        self.handles[buffer] = handle;
    }

    fn launch<K: cuweave::__private::LaunchedItem>(
        &mut self,
        kernel: K,
        grid: Grid,
        count: Size,
        arguments: Vec<Argument>,
    ) -> cuweave::Result<Option<Node>> {
        let done = match grid {
            Grid::PerItem => self.b.launch(kernel, per_item(count), arguments),
            Grid::Blocks => self.b.launch(kernel, ((count + 127) / 128, 128), arguments),
        };
        done.map(Some)
    }

    fn work(&mut self, work: &Work, turn: usize) -> cuweave::Result<Option<Node>> {
        match work {
            Work::Alloc { buffer } => {
                self.alloc(*buffer);
                Ok(None)
            }
            Work::Fill { to, value } => {
                let mut to = self.part(*to, turn);
                self.b.fill(&mut to, f64::from(*value)).map(Some)
            }
            Work::Copy { from, to } => {
                let (from, mut to) = (self.part(*from, turn), self.part(*to, turn));
                self.b.copy(&from, &mut to).map(Some)
            }
            Work::CopyPinned { to } => {
                let (from, to) = (self.p.read(), self.part(*to, turn).write());
                self.b.copy(from, to).map(Some)
            }
            Work::Set { to, value, grid } => {
                let n = self.count(*to);
                let arguments =
                    vec![self.part(*to, turn).write(), self.factor(*value), n.clone().to_argument()];
                self.launch(set {}, *grid, n, arguments)
            }
            Work::CopyTo { from, to, grid } => {
                let n = self.count(*to);
                let (from, to) = (self.part(*from, turn).read(), self.part(*to, turn).write());
                self.launch(copy_to {}, *grid, n.clone(), vec![from, to, n.to_argument()])
            }
            Work::Scale { x, a, grid } => {
                let n = self.count(*x);
                let arguments = vec![self.part(*x, turn).write(), self.factor(*a), n.clone().to_argument()];
                self.launch(scale {}, *grid, n, arguments)
            }
            Work::Axpy { a, x, y, grid } => {
                let n = self.count(*y);
                let (x, y) = (self.part(*x, turn).read(), self.part(*y, turn).write());
                let arguments = vec![self.factor(*a), x, y, n.clone().to_argument()];
                self.launch(axpy {}, *grid, n, arguments)
            }
            Work::Count { by } => {
                let n = self.n;
                self.b.launch(add_all {}, per_item(n), (atomic(&mut self.v), u32::from(*by), n)).map(Some)
            }
            Work::Free { buffer } => self.b.free(self.handles[*buffer]).map(Some),
            Work::Step { a, x, y } => {
                let (x, mut y) = (self.part(*x, turn), self.part(*y, turn));
                self.b.call(step::step {}, (self.n, self.factor(*a), &x, &mut y)).map(|_| None)
            }
            Work::Made { buffer, x } => {
                let x = self.part(*x, turn);
                self.b.named(&name(*buffer));
                let made = self.b.call(made::made {}, (self.n, &x))?;
                self.set_handle(*buffer, made[0]);
                Ok(None)
            }
            Work::Loop { turns, body } => {
                for turn in 0..*turns {
                    for one in body {
                        self.work(one, turn)?;
                    }
                }
                Ok(None)
            }
        }
    }
}
