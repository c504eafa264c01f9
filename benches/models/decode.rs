//! The model of a decode step: its numbers, the reference in plain Rust, and its operands on the device.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, DevicePtr};
use half::bf16;

use crate::common::model::{Numbers, upload};
use crate::common::{Result, Setup};
use crate::graphs::{EPSILON, Ends, HEAD, Layer, SCALE, Sizes};

#[path = "decode/hand.rs"]
pub mod hand;
mod reference;

use reference::{Decoder, PARTS};

/// The model on the host. Its numbers are computed on demand.
pub struct Host {
    pub sizes: Sizes,
    pub layers: usize,
    /// The position of the token, which is also the number of entries in the caches.
    pub pos: u32,
    pub token: u32,
}

/// The parts that exist once.
const TABLE: usize = 0;
const NORM: usize = 1;
const HEADS: usize = 2;

impl Host {
    /// Returns the numbers of a part of a layer.
    fn part(&self, layer: usize, part: usize) -> Numbers {
        let sizes = self.sizes;
        let (width, kv, ff) = (sizes.width() as usize, sizes.kv_width() as usize, sizes.ff as usize);
        let cache = sizes.positions as usize * kv;
        let lens = [
            width,
            width * width,
            kv * width,
            kv * width,
            width * width,
            width,
            ff * width,
            ff * width,
            width * ff,
            cache,
            cache,
        ];
        let seed = (layer * PARTS + part + 10) as u32;
        let len = lens[part];
        match part {
            0 | 5 => Numbers { seed, len, middle: 1.0, scale: 0.1 },
            8 => Numbers { seed, len, middle: 0.0, scale: (3.0 / ff as f32).sqrt() },
            9 | 10 => Numbers { seed, len, middle: 0.0, scale: 1.0 },
            _ => Numbers { seed, len, middle: 0.0, scale: (3.0 / width as f32).sqrt() },
        }
    }

    /// Returns the numbers of a part that exists once.
    fn end(&self, part: usize) -> Numbers {
        let width = self.sizes.width() as usize;
        let len = self.sizes.vocab as usize * width;
        match part {
            TABLE => Numbers { seed: 1, len, middle: 0.0, scale: 1.0 },
            NORM => Numbers { seed: 2, len: width, middle: 1.0, scale: 0.1 },
            _ => Numbers { seed: 3, len, middle: 0.0, scale: (3.0 / width as f32).sqrt() },
        }
    }

    /// Returns the bytes that a step must move: weights, the row of the token, the caches up to the position, and
    /// the logits.
    pub fn bytes(&self) -> u64 {
        let layer: usize = (0..PARTS - 2).map(|part| self.part(0, part).len).sum();
        let cache = 2 * (self.pos as usize + 1) * self.sizes.kv_width() as usize;
        let ends = self.end(HEADS).len + 2 * self.end(NORM).len;
        (2 * (self.layers * (layer + cache) + ends) + 4 * self.sizes.vocab as usize) as u64
    }

    /// Returns the logits in plain Rust, with weights in bf16.
    pub fn logits(&self) -> Vec<f64> {
        let of = |count: u32| count as usize;
        let decoder = Decoder {
            head: of(HEAD),
            heads: of(self.sizes.heads),
            kv_heads: of(self.sizes.kv_heads),
            scale: SCALE,
            epsilon: EPSILON,
            pos: of(self.pos),
            token: of(self.token),
        };
        let layer = |layer| std::array::from_fn(|part| self.part(layer, part));
        let layers: Vec<_> = (0..self.layers).map(layer).collect();
        decoder.logits(&layers, [TABLE, NORM, HEADS].map(|part| self.end(part)))
    }

    /// Checks that the token is the one with the largest logit.
    pub fn check_token(
        &self,
        setup: &Setup,
        logits: &impl DevicePtr<f32>,
        next: &impl DevicePtr<u32>,
    ) -> Result<()> {
        let logits = setup.stream.clone_dtoh(logits)?;
        let largest = (0..logits.len()).fold(0, |best, at| if logits[at] > logits[best] { at } else { best });
        match setup.stream.clone_dtoh(next)?[..] {
            [next] if next as usize == largest => Ok(()),
            ref next => {
                Err(format!("the next token is {next:?}, and {largest} has the largest logit").into())
            }
        }
    }
}

/// The weights on the device, which all sides share.
pub struct Loaded {
    layers: Vec<Vec<Arc<CudaSlice<bf16>>>>,
    /// Table, norm, and head.
    ends: Vec<Arc<CudaSlice<bf16>>>,
    /// Cosines, sines.
    angles: Vec<Arc<CudaSlice<f32>>>,
    pub token: Arc<CudaSlice<u32>>,
}

/// The operands of one side: the shared weights, and its own caches and results.
pub struct Operands {
    pub layers: Vec<Layer<'static>>,
    pub ends: Ends<'static>,
    pub logits: CudaSlice<f32>,
    pub next: CudaSlice<u32>,
}

impl Loaded {
    pub fn new(setup: &Setup, host: &Host) -> Result<Loaded> {
        let send = |numbers: Numbers| upload(&setup.stream, &numbers.all(bf16::from_f32));
        let layers = (0..host.layers)
            .map(|layer| (0..PARTS - 2).map(|part| send(host.part(layer, part))).collect::<Result<Vec<_>>>());
        Ok(Loaded {
            layers: layers.collect::<Result<_>>()?,
            ends: [TABLE, NORM, HEADS].into_iter().map(|part| send(host.end(part))).collect::<Result<_>>()?,
            angles: reference::angles(HEAD as usize, host.sizes.positions as usize)
                .iter()
                .map(|of| upload(&setup.stream, of))
                .collect::<Result<_>>()?,
            token: upload(&setup.stream, &[host.token])?,
        })
    }

    /// Returns new caches of a layer.
    fn caches(setup: &Setup, host: &Host, layer: usize) -> Result<[CudaSlice<bf16>; 2]> {
        let send = |part| setup.stream.clone_htod(&host.part(layer, part).all(bf16::from_f32));
        Ok([send(PARTS - 2)?, send(PARTS - 1)?])
    }

    pub fn operands(&self, setup: &Setup, host: &Host) -> Result<Operands> {
        let Sizes { ff, positions, vocab, .. } = host.sizes;
        let (width, kv_width) = (host.sizes.width(), host.sizes.kv_width());
        let layers = self.layers.iter().enumerate().map(|(at, weights)| {
            let [keys, values] = Loaded::caches(setup, host, at)?;
            let [norm, q, k, v, output, last_norm, gate, up, down] = &weights[..] else {
                return Err("a layer has 9 weights".into());
            };
            Ok(Layer::new(
                width,
                kv_width,
                ff,
                positions,
                norm.clone(),
                q.clone(),
                k.clone(),
                v.clone(),
                output.clone(),
                last_norm.clone(),
                gate.clone(),
                up.clone(),
                down.clone(),
                keys,
                values,
            ))
        });
        let (ends, angles) = (|at: usize| self.ends[at].clone(), |at: usize| self.angles[at].clone());
        Ok(Operands {
            layers: layers.collect::<Result<_>>()?,
            ends: Ends::new(
                width,
                vocab,
                positions,
                ends(TABLE),
                angles(0),
                angles(1),
                ends(NORM),
                ends(HEADS),
            ),
            logits: setup.stream.alloc_zeros(vocab as usize)?,
            next: setup.stream.alloc_zeros(1)?,
        })
    }
}
