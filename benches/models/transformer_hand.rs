//! The same kernels, launched by hand for a capture.

use std::ffi::CStr;
use std::sync::Arc;

use cudarc::driver::CudaSlice;

use crate::Buffers;
use crate::common::hand::address;
use crate::common::model::{Launches, bits};
use crate::common::{Result, Setup};
use crate::graphs::{ADAM, DEEP, EPSILON, HEAD, SCALE, Sizes};

/// The addresses of weights and bias, each with its moments and its length.
type Pair = [([u64; 3], u64); 2];

/// The launches so far, and what they share.
struct Step<'a> {
    l: Launches,
    sizes: Sizes,
    powers: u64,
    /// Memory for gradients: of the activations g, d_active, d_last, d_mixed, d_query, d_key, d_value, d_z,
    /// d_weights; of weights; and of two vectors.
    temporaries: &'a [u64],
}

/// Returns the launches of a step, and the number of elements of its temporaries.
pub fn launches(
    setup: &Setup,
    sizes: Sizes,
    own: &Buffers,
    x: &Arc<CudaSlice<f32>>,
    target: &Arc<CudaSlice<f32>>,
) -> Result<(Launches, usize)> {
    let (rows, width, ff) = (sizes.rows(), sizes.width(), sizes.ff);
    let n = rows * width;
    let squares = sizes.batch * sizes.heads * sizes.tokens * sizes.tokens;
    let lens = [n, rows * ff, n, n, n, n, n, n, squares, width * ff.max(width), ff.max(width), ff.max(width)];
    let buffers = lens.iter().map(|&len| setup.stream.alloc_zeros::<f32>(len as usize));
    let buffers: Vec<CudaSlice<f32>> = buffers.collect::<std::result::Result<_, _>>()?;
    let temporaries: Vec<u64> = buffers.iter().map(address).collect();
    let mut l = Launches::new(setup, &[include_str!("../kernels/transformer.ptx")])?;
    // The memory must live as long as the launches.
    l.keep(buffers);
    let mut step = Step { l, sizes, powers: address(&own.powers), temporaries: &temporaries };
    step.l.add(c"count_step", [1; 3], 1, &[step.powers, bits(ADAM.1), bits(ADAM.2)])?;
    let pairs: Vec<Vec<Pair>> = own
        .pairs
        .iter()
        .map(|pairs| {
            let tensor =
                |tensor: &[CudaSlice<f32>; 3]| (tensor.each_ref().map(address), tensor[0].len() as u64);
            pairs.iter().map(|pair| pair.each_ref().map(tensor)).collect()
        })
        .collect();
    let saved: Vec<Vec<u64>> = own.activations.iter().map(|of| of.iter().map(address).collect()).collect();
    let input = |at: usize| if at == 0 { address(x) } else { saved[at - 1][12] };
    for at in 0..pairs.len() {
        step.forward(&pairs[at], &saved[at], input(at))?;
    }
    let blocks = n.div_ceil(256);
    let y = saved.last().ok_or("a layer")?[12];
    let arguments = [y, address(target), temporaries[0], address(&own.parts), n.into(), blocks.into()];
    step.l.add(c"loss", [blocks, 1, 1], 256, &arguments)?;
    for at in (0..pairs.len()).rev() {
        step.backward(&pairs[at], &saved[at], input(at))?;
    }
    Ok((step.l, lens.iter().sum::<u32>() as usize))
}

impl Step<'_> {
    fn product(
        &mut self,
        name: &CStr,
        [rows, columns]: [u32; 2],
        pointers: &[u64],
        sizes: [u32; 3],
    ) -> Result<()> {
        let arguments: Vec<u64> = pointers.iter().copied().chain(sizes.map(u64::from)).collect();
        let depth = if name == c"linear_back_input" { sizes[1] } else { sizes[2] };
        let deep = depth == self.sizes.ff && (name == c"linear_back_input" || name == c"linear_add");
        let threads = if deep { DEEP } else { 256 };
        self.l.add(name, [columns.div_ceil(32), rows.div_ceil(32), 1], threads, &arguments)
    }

    fn heads(&mut self, name: &CStr, columns: u32, pointers: &[u64], scale: Option<f32>) -> Result<()> {
        let Sizes { batch, heads, tokens, .. } = self.sizes;
        let mut arguments = pointers.to_vec();
        arguments.extend([batch, heads, tokens].map(u64::from));
        arguments.extend(scale.map(bits));
        self.l.add(name, [columns.div_ceil(32), tokens.div_ceil(32), batch * heads], 256, &arguments)
    }

    fn linear(&mut self, pair: &Pair, x: u64, y: u64, n: u32, k: u32) -> Result<()> {
        let rows = self.sizes.rows();
        self.product(c"linear", [rows, n], &[x, pair[0].0[0], pair[1].0[0], y], [rows, n, k])
    }

    /// A product with two more operands.
    fn with(&mut self, name: &CStr, pair: &Pair, x: u64, more: [u64; 2], [n, k]: [u32; 2]) -> Result<()> {
        let rows = self.sizes.rows();
        self.product(name, [rows, n], &[x, pair[0].0[0], pair[1].0[0], more[0], more[1]], [rows, n, k])
    }

    fn back(&mut self, pair: &Pair, dy: u64, dx: u64, n: u32, k: u32) -> Result<()> {
        let rows = self.sizes.rows();
        self.product(c"linear_back_input", [rows, k], &[dy, pair[0].0[0], dx], [rows, n, k])
    }

    fn norm(&mut self, pair: &Pair, x: u64, y: u64, stats: u64) -> Result<()> {
        let (rows, width) = (self.sizes.rows(), self.sizes.width());
        let arguments = [x, pair[0].0[0], pair[1].0[0], y, stats, rows.into(), width.into(), bits(EPSILON)];
        self.l.add(c"layer_norm", [rows.div_ceil(8), 1, 1], 256, &arguments)
    }

    fn adam(&mut self, (of, len): ([u64; 3], u64), gradient: u64) -> Result<()> {
        let [value, mean, square] = of;
        let (rate, first, second, epsilon) = ADAM;
        let factors = [rate, first, second, epsilon].map(bits);
        let arguments = [&[value, mean, square, gradient, self.powers, len][..], &factors].concat();
        self.l.per_item(c"adam", len as u32, &arguments)
    }

    fn learn(&mut self, pair: &Pair, x: u64, dy: u64, n: u32, k: u32) -> Result<()> {
        let (rows, weights, bias) = (self.sizes.rows(), self.temporaries[9], self.temporaries[10]);
        self.product(c"linear_back_weights", [k, n], &[x, dy, weights], [rows, n, k])?;
        let arguments = [dy, bias, rows.into(), n.into()];
        self.l.add(c"linear_back_bias", [n.div_ceil(32), 1, 1], 256, &arguments)?;
        self.adam(pair[0], weights)?;
        self.adam(pair[1], bias)
    }

    fn learn_norm(&mut self, pair: &Pair, x: u64, stats: u64, dy: u64) -> Result<()> {
        let (rows, width) = (self.sizes.rows(), self.sizes.width());
        let (g, gain, shift) = (self.temporaries[0], self.temporaries[10], self.temporaries[11]);
        let arguments = [x, stats, pair[0].0[0], dy, g, rows.into(), width.into()];
        self.l.add(c"layer_norm_back", [rows.div_ceil(8), 1, 1], 256, &arguments)?;
        let arguments = [x, stats, dy, gain, shift, rows.into(), width.into()];
        self.l.add(c"layer_norm_back_weights", [width.div_ceil(32), 1, 1], 256, &arguments)?;
        self.adam(pair[0], gain)?;
        self.adam(pair[1], shift)
    }

    fn forward(&mut self, p: &[Pair], saved: &[u64], x: u64) -> Result<()> {
        let (width, ff) = (self.sizes.width(), self.sizes.ff);
        let &[z, stats, query, key, value, weights, mixed, h, last_z, last_stats, up_out, active, y] = saved
        else {
            return Err("13 activations".into());
        };
        let tokens = self.sizes.tokens;
        let all = self.sizes.batch * self.sizes.heads * tokens;
        self.norm(&p[0], x, z, stats)?;
        self.linear(&p[1], z, query, width, width)?;
        self.linear(&p[2], z, key, width, width)?;
        self.linear(&p[3], z, value, width, width)?;
        self.heads(c"scores", tokens, &[query, key, weights], Some(SCALE))?;
        self.l.add(c"softmax", [all.div_ceil(8), 1, 1], 256, &[weights, all.into(), tokens.into()])?;
        self.heads(c"mix", HEAD, &[weights, value, mixed], None)?;
        self.with(c"linear_add", &p[4], mixed, [x, h], [width, width])?;
        self.norm(&p[5], h, last_z, last_stats)?;
        self.with(c"linear_gelu", &p[6], last_z, [up_out, active], [ff, width])?;
        self.with(c"linear_add", &p[7], active, [h, y], [width, ff])
    }

    fn backward(&mut self, p: &[Pair], saved: &[u64], x: u64) -> Result<()> {
        let (rows, width, ff) = (self.sizes.rows(), self.sizes.width(), self.sizes.ff);
        let &[z, stats, query, key, value, weights, mixed, h, last_z, last_stats, up_out, active, _] = saved
        else {
            return Err("13 activations".into());
        };
        let &[g, d_active, d_last, d_mixed, d_query, d_key, d_value, d_z, d_weights, ..] = self.temporaries
        else {
            return Err("12 temporaries".into());
        };
        let tokens = self.sizes.tokens;
        let all = self.sizes.batch * self.sizes.heads * tokens;
        let operands = [g, p[7][0].0[0], up_out, d_active];
        self.product(c"linear_back_gelu", [rows, ff], &operands, [rows, width, ff])?;
        self.learn(&p[7], active, g, width, ff)?;
        self.back(&p[6], d_active, d_last, ff, width)?;
        self.learn(&p[6], last_z, d_active, ff, width)?;
        self.learn_norm(&p[5], h, last_stats, d_last)?;
        self.back(&p[4], g, d_mixed, width, width)?;
        self.learn(&p[4], mixed, g, width, width)?;
        self.heads(c"mix_back_weights", tokens, &[d_mixed, value, d_weights], None)?;
        self.heads(c"turned_mix", HEAD, &[weights, d_mixed, d_value], None)?;
        let arguments = [weights, d_weights, all.into(), tokens.into(), bits(SCALE)];
        self.l.add(c"softmax_back", [all.div_ceil(8), 1, 1], 256, &arguments)?;
        self.heads(c"mix", HEAD, &[d_weights, key, d_query], None)?;
        self.heads(c"turned_mix", HEAD, &[d_weights, query, d_key], None)?;
        let w = |at: usize| p[at][0].0[0];
        let operands = [d_query, w(1), d_key, w(2), d_value, w(3), d_z];
        self.product(c"linear_back_three", [rows, width], &operands, [rows, width, width])?;
        for (at, dy) in [d_query, d_key, d_value].into_iter().enumerate() {
            self.learn(&p[at + 1], z, dy, width, width)?;
        }
        self.learn_norm(&p[0], x, stats, d_z)
    }
}
