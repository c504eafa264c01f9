//! A step of a small U-Net in bf16: 64 x 64 pixels, with 32, 64 and 128 channels. The same in PyTorch is in
//! benches/pytorch/models.py.
//!
//! On the simulated driver, a smaller image shows that it works.

#[macro_use]
mod common;
#[path = "graphs/unet.rs"]
mod graphs;

use std::ffi::CStr;
use std::sync::Arc;

use common::hand::address;
use common::model::{Launches, Models, Numbers, finish, in_parallel, table, upload};
use common::{Result, Setup};
use cudarc::driver::CudaSlice;
use graphs::{Conv, EPSILON, Norm, Residual, parts};
use half::bf16;

/// The channels of the first level.
const C: usize = 32;
/// The channels of the residual blocks, and the inputs and outputs of the other convolutions.
const BLOCKS: [usize; 5] = [C, 2 * C, 4 * C, 2 * C, C];
const CONVS: [[usize; 2]; 7] =
    [[C, 2 * C], [2 * C, 4 * C], [4 * C, 2 * C], [4 * C, 2 * C], [2 * C, C], [2 * C, C], [C, C]];

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let mut table = table(&setup, "unet")?;
    let (h, w) = setup.scaled((16, 16), (1, 2));
    let stream = &setup.stream;
    let points = (16 * h * w) as usize * C;
    let start = Numbers { seed: 1, len: points, middle: 0.0, scale: 1.0 };
    let tensors: Vec<[Numbers; 2]> = numbers();
    let weights = tensors.iter().map(|pair| {
        let [a, b] = pair.map(|numbers| upload(stream, &numbers.all(bf16::from_f32)));
        Ok([a?, b?])
    });
    let weights = weights.collect::<Result<Vec<_>>>()?;
    let x = upload(stream, &start.all(bf16::from_f32))?;
    let numbers: usize = tensors.iter().flatten().map(|part| part.len).sum();
    let work = format!("U-Net, {} x {} pixels, channels {C}, {} and {}, bf16", 4 * h, 4 * w, 2 * C, 4 * C);
    let wanted = plain(h as usize, w as usize, start.all(rounded), &tensors);
    let mut models = Models::new(&setup, &work, vec![wanted], 5e-2, 2 * (numbers + 2 * points) as u64);

    let out = stream.alloc_zeros::<bf16>(points)?;
    let (launches, elements) = by_hand(&setup, h, w, &weights, &x, &out)?;
    let read = |out: Vec<bf16>| vec![out.into_iter().map(f64::from).collect::<Vec<f64>>()];
    models.by_hand(4 * elements, launches, || Ok(read(stream.clone_dtoh(&out)?)))?;
    model_sides!(
        models,
        step,
        |out| stream.alloc_zeros::<bf16>(points)?,
        {
            let (blocks, convs, norm) = bound(&weights)?;
            step(
                &setup.ctx,
                h,
                w,
                C as u32,
                parts(4 * h, 4 * w),
                parts(2 * h, 2 * w),
                parts(h, w),
                blocks,
                convs,
                norm,
                x.clone(),
                out,
            )
        },
        |exec| read(stream.clone_dtoh(&exec.args().out)?)
    );
    models.run(&mut table)?;
    finish(table)
}

/// A convolution's weights and bias, or a norm's gain and shift.
type Pair = [Arc<CudaSlice<bf16>>; 2];

/// Returns the numbers of all pairs: norm, convolution, norm and convolution of each block; the other convolutions;
/// the last norm.
fn numbers() -> Vec<[Numbers; 2]> {
    let mut seed = 1;
    let mut next = |len: usize, middle: f32, scale: f32| {
        seed += 1;
        Numbers { seed, len, middle, scale }
    };
    let mut pairs = Vec::new();
    let norm =
        |next: &mut dyn FnMut(usize, f32, f32) -> Numbers, c: usize| [next(c, 1.0, 0.1), next(c, 0.0, 0.1)];
    let conv = |next: &mut dyn FnMut(usize, f32, f32) -> Numbers, [ins, outs]: [usize; 2]| {
        [next(outs * 9 * ins, 0.0, (3.0 / (9 * ins) as f32).sqrt()), next(outs, 0.0, 0.1)]
    };
    for c in BLOCKS {
        for _ in 0..2 {
            pairs.push(norm(&mut next, c));
            pairs.push(conv(&mut next, [c, c]));
        }
    }
    pairs.extend(CONVS.map(|sizes| conv(&mut next, sizes)));
    pairs.push(norm(&mut next, C));
    pairs
}

fn rounded(value: f32) -> f64 {
    bf16::from_f32(value).into()
}

type Bound = ([Residual<'static>; 5], [Conv<'static>; 7], Norm<'static>);

/// Binds the pairs.
fn bound(pairs: &[Pair]) -> Result<Bound> {
    let conv = |at: usize, [ins, outs]: [usize; 2]| {
        Conv::new(ins as u32, outs as u32, pairs[at][0].clone(), pairs[at][1].clone())
    };
    let norm = |at: usize, c: usize| Norm::new(c as u32, pairs[at][0].clone(), pairs[at][1].clone());
    let blocks = BLOCKS.iter().enumerate().map(|(block, &c)| {
        let at = 4 * block;
        Residual::new(norm(at, c), conv(at + 1, [c, c]), norm(at + 2, c), conv(at + 3, [c, c]))
    });
    let convs = CONVS.iter().enumerate().map(|(at, &sizes)| conv(20 + at, sizes));
    let wrong = "5 blocks and 7 convolutions";
    Ok((
        <[_; 5]>::try_from(blocks.collect::<Vec<_>>()).map_err(|_| wrong)?,
        <[_; 7]>::try_from(convs.collect::<Vec<_>>()).map_err(|_| wrong)?,
        norm(27, C),
    ))
}

/// Returns the launches made by hand with their own memory, and the number of its 4-byte elements.
fn by_hand(
    setup: &Setup,
    h: u32,
    w: u32,
    pairs: &[Pair],
    x: &Arc<CudaSlice<bf16>>,
    out: &CudaSlice<bf16>,
) -> Result<(Launches, usize)> {
    let pairs: Vec<[u64; 2]> = pairs.iter().map(|pair| pair.each_ref().map(|part| address(part))).collect();
    let (c, largest) = (C as u32, (16 * h * w) as usize * C);
    // Images of the largest size: between the two convolutions of a block; top, middle, and three more. Then sums:
    // of the input image, of the image in the middle of a block, and of two alternating images.
    let images: Vec<CudaSlice<f32>> =
        (0..6).map(|_| setup.stream.alloc_zeros::<f32>(largest)).collect::<std::result::Result<_, _>>()?;
    let most = (parts(4 * h, 4 * w) * c / 4).max(parts(2 * h, 2 * w) * c / 2).max(parts(h, w) * c) as usize;
    let sums: Vec<CudaSlice<f32>> =
        (0..3).map(|_| setup.stream.alloc_zeros::<f32>(most)).collect::<std::result::Result<_, _>>()?;
    let elements = images.iter().chain(&sums).map(CudaSlice::len).sum::<usize>();
    let at: Vec<u64> = images.iter().chain(&sums).map(address).collect();
    let &[between, top, middle, one, two, last, inner, first, next] = &at[..] else {
        return Err("6 images, 3 sums".into());
    };
    let mut l = Launches::new(setup, &[include_str!("kernels/unet.ptx")])?;
    l.keep(images);
    l.keep(sums);
    // Each image is followed by its sums.
    let convolution =
        |l: &mut Launches, name: &CStr, pointers: &[&[u64]], [h, w, outs]: [u32; 3], rest: &[u32]| {
            let mut arguments = pointers.concat();
            arguments.extend([h, w, outs / 8].into_iter().chain(rest.iter().copied()).map(u64::from));
            l.add(name, [outs.div_ceil(32), parts(h, w), 1], 288, &arguments)
        };
    let conv = |l: &mut Launches,
                pair: usize,
                x: u64,
                out: &[u64],
                [h, w, outs]: [u32; 3],
                ins: u32,
                from: [u32; 4]| {
        let rest = [&[ins / 32], from.as_slice(), &[parts(h, w)]].concat();
        convolution(l, c"convolve", &[&[x], &pairs[pair], out], [h, w, outs], &rest)
    };
    let normed =
        |l: &mut Launches, pair: [usize; 2], x: &[u64], add: &[u64], out: &[u64], [h, w, c]: [u32; 3]| {
            let name = if add.is_empty() { c"norm_convolve" } else { c"norm_convolve_add" };
            let rest = [c / 32, parts(h, w), EPSILON.to_bits()];
            convolution(l, name, &[x, &pairs[pair[0]], &pairs[pair[1]], add, out], [h, w, c], &rest)
        };
    let residual = |l: &mut Launches, block: usize, x: [u64; 2], out: [u64; 2], [h, w]: [u32; 2]| {
        let (size, pair) = ([h, w, BLOCKS[block] as u32], 4 * block);
        normed(l, [pair, pair + 1], &x, &[], &[between, inner], size)?;
        normed(l, [pair + 2, pair + 3], &[between, inner], &x[..1], &out, size)
    };
    let merged = |l: &mut Launches, pair: usize, ins: [u64; 2], out: [u64; 2], [h, w, c]: [u32; 3]| {
        convolution(l, c"convolve_two", &[&ins, &pairs[pair], &out], [h, w, c], &[c / 32, parts(h, w)])
    };
    let (full, half, quarter) = ([4 * h, 4 * w], [2 * h, 2 * w], [h, w]);
    let start = [address(x), first, (16 * h * w).into(), (c / 8).into(), parts(4 * h, 4 * w).into()];
    let sums = (parts(4 * h, 4 * w) * (c / 8)).div_ceil(256);
    l.add(c"group_sums", [sums, 1, 1], 256, &start)?;
    residual(&mut l, 0, [address(x), first], [top, next], full)?;
    conv(&mut l, 20, top, &[one, first], [2 * h, 2 * w, 2 * c], c, [4 * h, 4 * w, 2, 0])?;
    residual(&mut l, 1, [one, first], [middle, next], half)?;
    conv(&mut l, 21, middle, &[one, first], [h, w, 4 * c], 2 * c, [2 * h, 2 * w, 2, 0])?;
    residual(&mut l, 2, [one, first], [two, next], quarter)?;
    conv(&mut l, 22, two, &[one, first], [2 * h, 2 * w, 2 * c], 4 * c, [h, w, 1, 1])?;
    merged(&mut l, 23, [one, middle], [two, first], [2 * h, 2 * w, 2 * c])?;
    residual(&mut l, 3, [two, first], [one, next], half)?;
    conv(&mut l, 24, one, &[two, first], [4 * h, 4 * w, c], 2 * c, [2 * h, 2 * w, 1, 1])?;
    merged(&mut l, 25, [two, top], [one, first], [4 * h, 4 * w, c])?;
    residual(&mut l, 4, [one, first], [last, next], full)?;
    normed(&mut l, [27, 26], &[last, next], &[], &[address(out), first], [4 * h, 4 * w, c])?;
    Ok((l, elements))
}

/// An image in plain Rust: height, width, channels.
#[derive(Clone)]
struct Image {
    h: usize,
    w: usize,
    c: usize,
    of: Vec<f64>,
}

impl Image {
    fn conv(&self, pair: &[Numbers; 2], outs: usize, stride: usize, up: usize) -> Image {
        let [weights, bias] = pair.map(|numbers| numbers.all(rounded));
        let (from_h, from_w, c) = (self.h << up, self.w << up, self.c);
        let (h, w) = (from_h / stride, from_w / stride);
        let mut of = vec![0.0; h * w * outs];
        in_parallel(&mut of, |at, to| {
            let (n, x, y) = (at % outs, at / outs % w, at / outs / w);
            let mut sum = bias[n];
            for tap in 0..9 {
                let (y, x) = (y * stride + tap / 3, x * stride + tap % 3);
                if y >= 1 && x >= 1 && y - 1 < from_h && x - 1 < from_w {
                    let pixel = &self.of[(((y - 1) >> up) * self.w + ((x - 1) >> up)) * c..][..c];
                    sum += pixel.iter().zip(&weights[(n * 9 + tap) * c..]).map(|(x, w)| x * w).sum::<f64>();
                }
            }
            *to = sum;
        });
        Image { h, w, c: outs, of }
    }

    fn activated(&self, pair: &[Numbers; 2]) -> Image {
        let [gain, shift] = pair.map(|numbers| numbers.all(rounded));
        let (mut of, c) = (self.of.clone(), self.c);
        for group in 0..c / 8 {
            let places: Vec<usize> = (0..self.h * self.w)
                .flat_map(|pixel| (0..8).map(move |i| pixel * c + group * 8 + i))
                .collect();
            let mean = places.iter().map(|&at| self.of[at]).sum::<f64>() / places.len() as f64;
            let variance =
                places.iter().map(|&at| (self.of[at] - mean).powi(2)).sum::<f64>() / places.len() as f64;
            let over = 1.0 / (variance + f64::from(EPSILON)).sqrt();
            for at in places {
                let v = (self.of[at] - mean) * over * gain[at % c] + shift[at % c];
                of[at] = v / (1.0 + (-v).exp());
            }
        }
        Image { h: self.h, w: self.w, c, of }
    }

    fn residual(&self, pairs: &[[Numbers; 2]]) -> Image {
        let between = self.activated(&pairs[0]).conv(&pairs[1], self.c, 1, 0);
        let mut result = between.activated(&pairs[2]).conv(&pairs[3], self.c, 1, 0);
        result.of.iter_mut().zip(&self.of).for_each(|(to, from)| *to += from);
        result
    }

    fn beside(&self, other: &Image) -> Image {
        let of = self.of.chunks(self.c).zip(other.of.chunks(self.c)).flat_map(|(a, b)| [a, b].concat());
        Image { h: self.h, w: self.w, c: 2 * self.c, of: of.collect() }
    }
}

/// The step in plain Rust.
fn plain(h: usize, w: usize, x: Vec<f64>, pairs: &[[Numbers; 2]]) -> Vec<f64> {
    let block = |at: usize| &pairs[4 * at..4 * at + 4];
    let conv = |x: &Image, at: usize, stride, up| x.conv(&pairs[20 + at], CONVS[at][1], stride, up);
    let top = Image { h: 4 * h, w: 4 * w, c: C, of: x }.residual(block(0));
    let middle = conv(&top, 0, 2, 0).residual(block(1));
    let bottom = conv(&middle, 1, 2, 0).residual(block(2));
    let refined = conv(&conv(&bottom, 2, 1, 1).beside(&middle), 3, 1, 0).residual(block(3));
    let last = conv(&conv(&refined, 4, 1, 1).beside(&top), 5, 1, 0).residual(block(4));
    conv(&last.activated(&pairs[27]), 6, 1, 0).of
}
