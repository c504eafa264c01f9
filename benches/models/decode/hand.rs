//! The same kernels, launched by hand for a capture.

use std::ffi::CStr;

use cudarc::driver::CudaSlice;
use half::bf16;

use super::{HEADS, Host, Loaded, NORM, TABLE};
use crate::common::hand::address;
use crate::common::model::{Launches, bits};
use crate::common::{Result, Setup};
use crate::graphs::{EPSILON, SCALE, groups, groups_of_batched, groups_of_many, groups_of_pairs};

/// The buffers of a step.
pub struct Capture<'a> {
    setup: &'a Setup,
    host: &'a Host,
    loaded: &'a Loaded,
    caches: Vec<[CudaSlice<bf16>; 2]>,
    pub logits: CudaSlice<f32>,
    next: CudaSlice<u32>,
    /// x, z, q, mixed, y; k, v; gate, up, both.
    temporaries: Vec<CudaSlice<bf16>>,
}

impl<'a> Capture<'a> {
    pub fn new(setup: &'a Setup, host: &'a Host, loaded: &'a Loaded) -> Result<Capture<'a>> {
        let (width, kv, ff) = (host.sizes.width(), host.sizes.kv_width(), host.sizes.ff);
        let lens = [[width; 5].as_slice(), &[kv; 2], &[ff; 3]].concat();
        let temporaries = lens.iter().map(|&len| setup.stream.alloc_zeros(len as usize));
        Ok(Capture {
            setup,
            host,
            loaded,
            caches: (0..host.layers).map(|at| Loaded::caches(setup, host, at)).collect::<Result<_>>()?,
            logits: setup.stream.alloc_zeros(host.sizes.vocab as usize)?,
            next: setup.stream.alloc_zeros(1)?,
            temporaries: temporaries.collect::<std::result::Result<_, _>>()?,
        })
    }

    /// Returns the bytes of the temporaries.
    pub fn temporaries(&self) -> usize {
        self.temporaries.iter().map(|buffer| 2 * buffer.len()).sum()
    }

    /// Returns the launches of a step with a kernel for each operation.
    pub fn plain(&self) -> Result<Launches> {
        let sizes = self.host.sizes;
        let [width, kv, ff, vocab] = [sizes.width(), sizes.kv_width(), sizes.ff, sizes.vocab].map(u64::from);
        let [heads, kv_heads, positions, pos] =
            [sizes.heads, sizes.kv_heads, sizes.positions, self.host.pos].map(u64::from);
        let t: Vec<u64> = self.temporaries.iter().map(address).collect();
        let &[x, z, q, mixed, y, k, v, gate, up, both] = &t[..] else { return Err("10 temporaries".into()) };
        let ends: Vec<u64> = self.loaded.ends.iter().map(|b| address(b)).collect();
        let [cosines, sines] = [0, 1].map(|at| address(&self.loaded.angles[at]));
        let mut l = Launches::new(self.setup, &[include_str!("../../kernels/decode.ptx")])?;
        let gemv = |l: &mut Launches, w: u64, x: u64, y: u64, rows: u64, cols: u64| {
            let n = rows as u32;
            let (name, blocks) =
                if cols == ff { (c"gemv_many", groups_of_many(n)) } else { (c"gemv", groups_of_batched(n)) };
            l.add(name, [blocks, 1, 1], 256, &[w, x, y, rows, cols])
        };
        let norm = |l: &mut Launches, gain: u64| {
            l.add(c"rms_norm", [1; 3], 256, &[x, gain, z, width, bits(EPSILON)])
        };
        let add = |l: &mut Launches| l.add(c"add_to", [1; 3], 256, &[x, y, width]);
        self.embed(&mut l, ends[TABLE], x)?;
        for (weights, caches) in self.loaded.layers.iter().zip(&self.caches) {
            let w: Vec<u64> = weights.iter().map(|b| address(b)).collect();
            let [keys, values] = caches.each_ref().map(address);
            norm(&mut l, w[0])?;
            gemv(&mut l, w[1], z, q, width, width)?;
            gemv(&mut l, w[2], z, k, kv, width)?;
            gemv(&mut l, w[3], z, v, kv, width)?;
            let arguments = [q, k, cosines, sines, heads, kv_heads, pos, positions];
            l.add(c"rope", [sizes.heads + sizes.kv_heads, 1, 1], 32, &arguments)?;
            l.per_item(c"append", kv as u32, &[k, v, keys, values, kv, pos, positions])?;
            let arguments = [q, keys, values, mixed, heads, kv_heads, pos, positions, bits(SCALE)];
            l.add(c"attention", [sizes.heads, 1, 1], 512, &arguments)?;
            gemv(&mut l, w[4], mixed, y, width, width)?;
            add(&mut l)?;
            norm(&mut l, w[5])?;
            gemv(&mut l, w[6], z, gate, ff, width)?;
            gemv(&mut l, w[7], z, up, ff, width)?;
            l.per_item(c"silu_times", ff as u32, &[gate, up, both, ff])?;
            gemv(&mut l, w[8], both, y, width, ff)?;
            add(&mut l)?;
        }
        norm(&mut l, ends[NORM])?;
        let arguments = [ends[HEADS], z, address(&self.logits), vocab, width];
        l.add(c"gemv_f32", [groups(sizes.vocab), 1, 1], 256, &arguments)?;
        self.argmax(&mut l)?;
        Ok(l)
    }

    /// Returns the launches of a step that is fused by hand.
    pub fn fused(&self) -> Result<Launches> {
        let sizes = self.host.sizes;
        let [width, kv, ff, vocab] = [sizes.width(), sizes.kv_width(), sizes.ff, sizes.vocab].map(u64::from);
        let [heads, kv_heads, positions, pos] =
            [sizes.heads, sizes.kv_heads, sizes.positions, self.host.pos].map(u64::from);
        let t: Vec<u64> = self.temporaries.iter().map(address).collect();
        let &[x, _, q, mixed, _, k, v, _, _, both] = &t[..] else { return Err("10 temporaries".into()) };
        let ends: Vec<u64> = self.loaded.ends.iter().map(|b| address(b)).collect();
        let [cosines, sines] = [0, 1].map(|at| address(&self.loaded.angles[at]));
        let mut l = Launches::new(self.setup, &[include_str!("../../kernels/decode.ptx")])?;
        let add = |l: &mut Launches, name: &CStr, blocks: u32, arguments: &[u64]| {
            l.add(name, [blocks, 1, 1], 256, arguments)
        };
        self.embed(&mut l, ends[TABLE], x)?;
        for (weights, caches) in self.loaded.layers.iter().zip(&self.caches) {
            let w: Vec<u64> = weights.iter().map(|b| address(b)).collect();
            let [keys, values] = caches.each_ref().map(address);
            for (w_in, y, n) in [(w[1], q, width), (w[2], k, kv), (w[3], v, kv)] {
                let arguments = [w_in, x, w[0], y, n, width, bits(EPSILON)];
                add(&mut l, c"norm_gemv", groups(n as u32), &arguments)?;
            }
            let arguments =
                [q, k, v, cosines, sines, keys, values, mixed, heads, kv_heads, pos, positions, bits(SCALE)];
            l.add(c"rope_attention", [sizes.heads, 1, 1], 512, &arguments)?;
            let square = groups(sizes.width());
            add(&mut l, c"gemv_add", square, &[w[4], mixed, x, width, width])?;
            let arguments = [w[6], w[7], x, w[5], both, ff, width, bits(EPSILON)];
            add(&mut l, c"norm_gate_up", groups_of_pairs(sizes.ff), &arguments)?;
            let down = groups_of_many(sizes.width());
            add(&mut l, c"gemv_add_many", down, &[w[8], both, x, width, ff])?;
        }
        let arguments = [ends[HEADS], x, ends[NORM], address(&self.logits), vocab, width, bits(EPSILON)];
        add(&mut l, c"norm_gemv_f32", groups(sizes.vocab), &arguments)?;
        self.argmax(&mut l)?;
        Ok(l)
    }

    fn embed(&self, l: &mut Launches, table: u64, x: u64) -> Result<()> {
        let (width, vocab) = (self.host.sizes.width(), self.host.sizes.vocab);
        let arguments = [table, address(&self.loaded.token), x, vocab.into(), width.into()];
        l.per_item(c"embed", width, &arguments)
    }

    fn argmax(&self, l: &mut Launches) -> Result<()> {
        let arguments = [address(&self.logits), address(&self.next), self.host.sizes.vocab.into()];
        l.add(c"argmax", [1; 3], 1024, &arguments)
    }
}
