//! Large graphs of several shapes, made with a builder. One or two launches write each temporary, and others read
//! it.

use cuweave::builder::{Builder, Handle, View};
use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    pub fn produce(x: &[f32; n], t: &mut [MaybeUninit<f32>; n], n: u32);
    fn consume(t: &[f32; n], x: &mut [f32; n], n: u32);
}

/// A shape: its name, and the function that writes a graph with about as many launches as requested.
pub type Shape = (&'static str, fn(&mut Writer<'_, '_>, u32) -> cuweave::Result<()>);

/// All shapes.
pub const SHAPES: [Shape; 11] = [
    ("chain", chain),
    ("chain, sizes vary", varied_chain),
    ("fork-join", fork_join),
    ("fork-join, sizes vary", varied_fork_join),
    ("fork-joins of 100", fork_joins),
    ("diamonds", diamonds),
    ("U-Net", u_net),
    ("skips of up to 8", short_skips),
    ("skips of up to 200", long_skips),
    ("layers of 16", layers),
    ("layers of 200", wide_layers),
];

/// Writes the statements of a graph.
pub struct Writer<'b, 'a> {
    pub builder: &'b mut Builder<'a>,
    /// An argument that launches read and write.
    pub y: Handle,
    /// The length of the argument, which is the maximum of a temporary. A multiple of 128.
    pub most: u32,
    /// The state of a linear congruential generator.
    pub state: u64,
}

impl Writer<'_, '_> {
    fn below(&mut self, end: u32) -> u32 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.state >> 33) % u64::from(end)).unwrap_or(0)
    }

    /// Returns a random number of elements, one of 32 values.
    fn len(&mut self) -> u32 {
        self.most / 32 * (1 + self.below(32))
    }

    fn len_if(&mut self, varies: bool) -> u32 {
        if varies { self.len() } else { self.most }
    }

    fn alloc(&mut self, len: u32) -> (Handle, u32) {
        (self.builder.alloc::<f32>(len), len)
    }

    /// Writes `to` from the first elements of `from`.
    fn produce(&mut self, from: Handle, (to, len): (Handle, u32)) -> cuweave::Result<()> {
        let from = from.range(0, len);
        self.builder.launch(produce {}, per_item(len), (from.read(), to.write(), len)).map(drop)
    }

    /// Adds `len` elements of `from` to `to`.
    fn consume(&mut self, from: impl Into<View>, to: impl Into<View>, len: u32) -> cuweave::Result<()> {
        let (from, to) = (from.into().range(0, len), to.into().range(0, len));
        self.builder.launch(consume {}, per_item(len), (from.read(), to.write(), len)).map(drop)
    }
}

fn chain_of(w: &mut Writer<'_, '_>, count: u32, varies: bool) -> cuweave::Result<()> {
    for _ in 0..count / 2 {
        let len = w.len_if(varies);
        let t = w.alloc(len);
        w.produce(w.y, t)?;
        w.consume(t.0, w.y, len)?;
    }
    Ok(())
}

/// Each temporary connects two consecutive launches.
fn chain(w: &mut Writer<'_, '_>, count: u32) -> cuweave::Result<()> {
    chain_of(w, count, false)
}

fn varied_chain(w: &mut Writer<'_, '_>, count: u32) -> cuweave::Result<()> {
    chain_of(w, count, true)
}

/// Forks into branches of two launches with a temporary each. The branches end in parts of one temporary, which the
/// join reads.
fn fork_join_of(w: &mut Writer<'_, '_>, count: u32, varies: bool) -> cuweave::Result<()> {
    let branches = count / 2;
    let ends = w.builder.alloc::<f32>(branches * 32);
    w.builder.fill(ends.write(), 0.0_f32)?;
    for branch in 0..branches {
        let len = w.len_if(varies);
        let t = w.alloc(len);
        w.produce(w.y, t)?;
        w.consume(t.0, ends.range(branch * 32, (branch + 1) * 32), 32)?;
    }
    // The join.
    let all = w.builder.alloc::<f32>(branches * 32);
    w.produce(ends, (all, branches * 32))?;
    w.consume(all, w.y, 32)
}

fn fork_join(w: &mut Writer<'_, '_>, count: u32) -> cuweave::Result<()> {
    fork_join_of(w, count, false)
}

fn varied_fork_join(w: &mut Writer<'_, '_>, count: u32) -> cuweave::Result<()> {
    fork_join_of(w, count, true)
}

/// Consecutive fork-joins of 100 branches.
fn fork_joins(w: &mut Writer<'_, '_>, count: u32) -> cuweave::Result<()> {
    for _ in 0..count / 200 {
        fork_join_of(w, 200, true)?;
    }
    Ok(())
}

/// Forks into two temporaries that are read concurrently.
fn diamonds(w: &mut Writer<'_, '_>, count: u32) -> cuweave::Result<()> {
    for _ in 0..count / 4 {
        for side in 0..2 {
            let len = w.len();
            let t = w.alloc(len);
            w.produce(w.y, t)?;
            let (half, middle) = (len / 2, w.most / 2);
            w.consume(t.0, w.y.range(middle * side, middle * side + half), half)?;
        }
    }
    Ok(())
}

/// Each level down leaves a temporary that the same level up reads, so all of them are live at the bottom.
fn u_net(w: &mut Writer<'_, '_>, count: u32) -> cuweave::Result<()> {
    let mut levels = Vec::new();
    for level in 0..count / 2 {
        let len = w.most >> (level * 7 / (count / 2));
        let t = w.alloc(len);
        match levels.last() {
            None => w.produce(w.y, t)?,
            Some(&(above, _)) => w.produce(above, t)?,
        }
        levels.push(t);
    }
    while let Some((t, len)) = levels.pop() {
        w.consume(t, w.y, len)?;
    }
    Ok(())
}

/// A chain in which each result is read by the next launch and by another one at most `most` launches later, which
/// gives live ranges of many lengths.
fn skips(w: &mut Writer<'_, '_>, count: u32, most: u32) -> cuweave::Result<()> {
    let mut due: Vec<Vec<(Handle, u32)>> = vec![Vec::new(); (count / 3 + most + 1) as usize];
    for at in 0..count / 3 {
        let len = w.len();
        let t = w.alloc(len);
        w.produce(w.y, t)?;
        w.consume(t.0, w.y, len)?;
        let later = at + 1 + w.below(most);
        due[later as usize].push(t);
        for (t, len) in std::mem::take(&mut due[at as usize]) {
            w.consume(t, w.y, len)?;
        }
    }
    Ok(())
}

fn short_skips(w: &mut Writer<'_, '_>, count: u32) -> cuweave::Result<()> {
    skips(w, count, 8)
}

fn long_skips(w: &mut Writer<'_, '_>, count: u32) -> cuweave::Result<()> {
    skips(w, count, 200)
}

/// Layers of `width` temporaries of equal length, each computed from two of the previous layer.
fn layers_of(w: &mut Writer<'_, '_>, count: u32, width: u32) -> cuweave::Result<()> {
    let mut before = vec![w.y; width as usize];
    for _ in 0..count / 2 / width {
        let mut layer = Vec::new();
        for _ in 0..width {
            let (one, other) = (w.below(width), w.below(width));
            let t = w.alloc(w.most);
            w.produce(before[one as usize], t)?;
            let len = w.len();
            w.consume(before[other as usize], t.0, len)?;
            layer.push(t.0);
        }
        before = layer;
    }
    before.into_iter().try_for_each(|last| w.consume(last, w.y, 32))
}

fn layers(w: &mut Writer<'_, '_>, count: u32) -> cuweave::Result<()> {
    layers_of(w, count, 16)
}

fn wide_layers(w: &mut Writer<'_, '_>, count: u32) -> cuweave::Result<()> {
    layers_of(w, count, 200)
}
