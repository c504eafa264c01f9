//! Builds the programs with a builder.

use cuweave::builder::{
    Argument, Builder, Configuration, Handle, Scalar, Size, ToArgument, ToConfiguration, View,
};
use cuweave::prelude::*;
use cuweave::{Buffer, Result};

use super::generate::{Branch, Grid, LONGEST, Len, OwnKind, Program, Step, THREADS, Who, Work};

mod kernels {
    use cuweave::prelude::*;

    #[cuweave::kernels("tests/kernels/fused.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn linear(x: &mut [u32; n], a: u32, b: u32, n: u32);
        pub fn mixed(a: &[u32; n], b: &[u32; n], out: &mut [MaybeUninit<u32>; n], n: u32);
        pub fn strided(x: &mut [u32; n], a: u32, n: u32);
        pub fn odd(x: &[u32; n], y: &mut [u32; n], n: u32);
        pub fn sums(x: &mut [u32; n], n: u32);
        pub fn turned(x: &[u32; n], y: &mut [u32; n], n: u32);
        pub fn rows(x: &mut [u32; width * rows], width: u32, rows: u32);
        pub fn mirrored(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], n: u32);
        pub fn shifted(x: &[u32; n], y: &mut [u32; n], k: u32, n: u32);
    }

    #[cuweave::kernels("tests/kernels/stacked.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn exchanged(x: &mut [u32; n], n: u32);
        pub fn evened(x: &mut [u32; n], a: u32, n: u32);
        pub fn spread(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], a: u32, n: u32);
    }

    #[cuweave::kernels("tests/kernels/forms.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn fresh(out: &mut [MaybeUninit<u32>; n], n: u32, c: u32);
        pub fn mix(x: &mut [u32; n], from: &[u32; m], n: u32, m: u32, c: u32);
        pub fn march(x: &mut [u32; n], n: u32, rounds: u32);
    }
}
use kernels::*;

/// A temporary, and launches over it in a loop.
#[cuweave::graph]
fn layer(n: u32, turns: u32, a: u32, x: &[u32; n], y: &mut [u32; n]) {
    let h = alloc::<u32>(n + 3);
    fill(&mut h, 7);
    for i in 0..turns {
        mixed[(n.div_ceil(64), 64)](&x, &y, &mut h[..n], n);
        linear[(n.div_ceil(64), 64)](&mut h[..n], a, i, n);
        odd[(n.div_ceil(64), 64)](&h[..n], &mut y, n);
    }
}

/// The arguments of a program.
pub struct Buffers {
    /// Read by all branches.
    pub all: Buffer<u32>,
    /// The buffer of all parts, then two of each branch.
    pub own: Vec<Buffer<u32>>,
}

/// The scalars of a builder, and their values.
pub struct Scalars {
    pub sizes: Vec<Scalar<u32>>,
    pub by: Scalar<u32>,
}

/// Declares the scalars. `fixed` is true for a graph that is built for these values alone.
pub fn scalars(b: &mut Builder<'_>, program: &Program, values: &[u32], by: u32, fixed: bool) -> Scalars {
    let size = |(at, (range, &value)): (usize, (&std::ops::RangeInclusive<u32>, &u32))| {
        let (name, least) = (format!("n{at}"), u64::from(*range.start()));
        match (fixed, least) {
            (true, _) => b.scalar(&name, value),
            (false, 1) => b.scalar_at_most(&name, value, *range.end()),
            (false, _) => b.scalar_between(&name, value, least, *range.end()),
        }
    };
    let sizes = program.sizes.iter().zip(values).enumerate().map(size).collect();
    Scalars { sizes, by: b.scalar("by", by) }
}

/// Adds the statements. A graph for given `values` has none that would be empty.
pub fn statements<'a>(
    b: &mut Builder<'a>,
    program: &Program,
    scalars: &Scalars,
    buffers: &'a Buffers,
    values: Option<&[u32]>,
) -> Result<()> {
    let all = b.shared("all", LONGEST + THREADS, &buffers.all);
    let mut writing = Writing { b, program, scalars, values, all, own: Vec::new() };
    writing.declare(buffers)?;
    for &step in &program.steps {
        for at in 0..program.branches.len() {
            let has = match step.who {
                Who::All => true,
                Who::Even => at % 2 == 0,
                Who::Only(only) => at == only,
            };
            if has {
                writing.step(step, at)?;
            }
        }
    }
    writing.finish(buffers)
}

struct Writing<'b, 'a, 'p> {
    b: &'b mut Builder<'a>,
    program: &'p Program,
    scalars: &'p Scalars,
    values: Option<&'p [u32]>,
    all: Handle,
    own: Vec<[View; 2]>,
}

impl<'a> Writing<'_, 'a, '_> {
    fn size(&self, len: Len) -> Size {
        len.size(&self.scalars.sizes)
    }

    /// Returns true if a length is 0 in a graph for given values.
    fn is_empty(&self, len: Len, extra: u32) -> bool {
        self.values.is_some_and(|values| len.value(values) + extra == 0)
    }

    fn declare(&mut self, buffers: &'a Buffers) -> Result<()> {
        let program = self.program;
        let first = &program.branches[0];
        let parts = match first.own[0].kind {
            OwnKind::Part if !self.is_empty(first.len, 0) => {
                let count = 2 * program.branches.len() as u32;
                Some(self.b.exclusive("parts", self.size(first.len) * count, &buffers.own[0]))
            }
            _ => None,
        };
        for (at, branch) in program.branches.iter().enumerate() {
            let mut both = Vec::new();
            for (of, own) in branch.own.iter().enumerate() {
                let (nth, len) = (2 * at + of, self.size(branch.len) + own.extra);
                if self.is_empty(branch.len, own.extra) {
                    both.push(self.all.range(0, 0));
                    continue;
                }
                let name = format!("x{at}_{of}");
                let view = match (own.kind, parts) {
                    (OwnKind::Temporary(by), _) => {
                        let view = self.b.named(&name).alloc::<u32>(&len).range(0, &len);
                        self.begin(by, branch, &view, len)?;
                        view
                    }
                    (OwnKind::Part, Some(parts)) => {
                        let (n, nth) = (self.size(branch.len), nth as u32);
                        parts.range(&n * nth, n * (nth + 1))
                    }
                    _ => self.b.exclusive(&name, &len, &buffers.own[nth + 1]).range(0, len),
                };
                both.push(view);
            }
            let both = <[View; 2]>::try_from(both).expect("two buffers");
            self.own.push(both);
        }
        Ok(())
    }

    /// Writes a temporary.
    fn begin(&mut self, by: u32, branch: &Branch, view: &View, len: Size) -> Result<()> {
        let all = self.all.range(0, &len);
        let (to, n) = (view.write(), (&len).to_argument());
        let grid = grid(branch, &len);
        match by {
            0 => self.b.fill(view.write(), 3_u32),
            1 => self.b.copy(&all, to),
            2 => self.b.launch(fresh {}, grid, vec![to, n, 5_u32.to_argument()]),
            3 => self.b.launch(spread {}, grid, vec![all.read(), to, 2_u32.to_argument(), n]),
            _ => self.b.launch(mixed {}, grid, vec![all.read(), all.read(), to, n]),
        }
        .map(drop)
    }

    /// Copies the temporaries to arguments.
    fn finish(&mut self, buffers: &'a Buffers) -> Result<()> {
        for (at, branch) in self.program.branches.iter().enumerate() {
            for (of, own) in branch.own.iter().enumerate() {
                if matches!(own.kind, OwnKind::Temporary(_)) && !self.is_empty(branch.len, own.extra) {
                    let len = self.size(branch.len) + own.extra;
                    let out = &buffers.own[2 * at + of + 1];
                    let out = self.b.exclusive(&format!("out{at}_{of}"), len, out);
                    self.b.copy(&self.own[at][of], out.write())?;
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, step: Step, at: usize) -> Result<()> {
        let branch = &self.program.branches[at];
        let Step { work, of, value, .. } = step;
        let extra = if step.whole && is_alone(work) { branch.own[of].extra } else { 0 };
        if self.is_empty(branch.len, extra) {
            return Ok(());
        }
        let len = self.size(branch.len) + extra;
        let x = self.own[at][of].range(0, &len);
        let y = self.own[at][1 - of].clone();
        let all = self.all.range(0, &len);
        // The other buffer may have fewer extra elements.
        let y = if extra == 0 { y.range(0, &len) } else { y };
        let number = value.to_argument();
        let place = (at as u32 + 3).to_argument();
        let n = (&len).to_argument();
        let any = grid(branch, &len);
        let blocks = (len.div_ceil(THREADS), THREADS).to_configuration();
        match work {
            Work::Linear => self.launch(linear {}, any, vec![x.write(), number, place, n]),
            Work::Scaled => {
                let by = self.scalars.by.to_argument();
                self.launch(linear {}, any, vec![x.write(), by, place, n])
            }
            Work::Mixed => self.launch(mixed {}, any, vec![all.read(), x.read(), y.write(), n]),
            Work::Spread => self.launch(spread {}, any, vec![x.read(), y.write(), number, n]),
            Work::Strided(Some(grid)) => {
                self.launch(strided {}, (grid, THREADS).to_configuration(), vec![x.write(), number, n])
            }
            Work::Strided(None) => self.launch(strided {}, any, vec![x.write(), number, n]),
            Work::Odd => self.launch(odd {}, any, vec![x.read(), y.write(), n]),
            Work::Sums => self.launch(sums {}, blocks, vec![x.write(), n]),
            Work::Turned => {
                let staged = (len.div_ceil(THREADS), THREADS, 4 * THREADS).to_configuration();
                self.launch(turned {}, staged, vec![x.read(), y.write(), n])
            }
            Work::Rows => {
                let (count, width) = branch.len.rows(&self.scalars.sizes);
                let grid = (&count, THREADS).to_configuration();
                self.launch(rows {}, grid, vec![x.write(), width.to_argument(), count.to_argument()])
            }
            Work::Exchanged => self.launch(exchanged {}, blocks, vec![x.write(), n]),
            Work::Evened => self.launch(evened {}, any, vec![x.write(), number, n]),
            Work::Mirrored => self.launch(mirrored {}, any, vec![x.read(), y.write(), n]),
            Work::Shifted(by) => self.launch(shifted {}, any, vec![x.read(), y.write(), by.to_argument(), n]),
            Work::Fresh => self.launch(fresh {}, any, vec![x.write(), n, number]),
            Work::Mix => self.launch(mix {}, any, vec![y.write(), x.read(), n.clone(), n, number]),
            Work::March(rounds) => self.launch(march {}, any, vec![x.write(), n, rounds.to_argument()]),
            Work::Through => {
                let t = self.b.named("t").alloc::<u32>(&len);
                let arguments = vec![x.read(), all.read(), t.write(), n.clone()];
                self.launch(mixed {}, any.clone(), arguments)?;
                self.launch(odd {}, any, vec![t.read(), y.write(), n])
            }
            Work::Fill => self.b.fill(x.write(), value).map(drop),
            Work::Copy => self.b.copy(&x, y.write()).map(drop),
            Work::Layer(turns) => {
                self.b.call(layer::layer {}, (n, turns, value, x.read(), y.write())).map(drop)
            }
            Work::Neighbour => {
                let next = (at + 1) % self.own.len();
                if next == at || self.program.branches[next].len != branch.len {
                    return Ok(());
                }
                let from = self.own[next][of].range(0, &len);
                self.launch(odd {}, any, vec![from.read(), y.write(), n])
            }
        }
    }

    fn launch<K: cuweave::__private::LaunchedItem>(
        &mut self,
        kernel: K,
        config: Configuration,
        arguments: Vec<Argument>,
    ) -> Result<()> {
        self.b.launch(kernel, config, arguments).map(drop)
    }
}

/// Returns true if a step changes one buffer, and accesses no other one.
fn is_alone(work: Work) -> bool {
    matches!(
        work,
        Work::Linear
            | Work::Scaled
            | Work::Strided(_)
            | Work::Sums
            | Work::Exchanged
            | Work::Evened
            | Work::Fresh
            | Work::March(_)
            | Work::Fill
    )
}

fn grid(branch: &Branch, len: &Size) -> Configuration {
    match branch.grid {
        Grid::Blocks(threads) => (len.div_ceil(threads), threads).to_configuration(),
        Grid::PerItem => per_item(len),
    }
}
