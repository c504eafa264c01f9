//! An ensemble of 16 perceptrons with 4 layers of width 256, for 32 rows, in f32. The same model in PyTorch is in
//! benches/pytorch/models.py.
//!
//! On the simulated driver, a smaller one shows that it works.

#[macro_use]
mod common;
#[path = "graphs/mlps.rs"]
mod graphs;

use common::hand::address;
use common::model::{Launches, Models, Numbers, finish, in_parallel, table, upload};
use common::{Result, Setup};
use cudarc::driver::{CudaSlice, DevicePtr};
use cuweave::__private::change_next_rules;
use cuweave_core::launches::tuning::Waves;
use graphs::{Layer, Mlp};

/// The number of layers of a member.
const LAYERS: usize = 4;

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let mut table = table(&setup, "mlps")?;
    let (count, rows, width) = setup.scaled((16, 32_u32, 256_u32), (3, 20, 64));
    let (elements, square) = ((rows * width) as usize, (width * width) as usize);
    let shape = Shape { count, rows: rows as usize, width: width as usize };
    let stream = &setup.stream;
    let x = upload(stream, &shape.x().all(|v| v))?;
    let weights = (0..count * LAYERS).map(|at| upload(stream, &shape.weights(at).all(|v| v)));
    let weights = weights.collect::<Result<Vec<_>>>()?;
    let biases = (0..count * LAYERS).map(|at| upload(stream, &shape.bias(at).all(|v| v)));
    let biases = biases.collect::<Result<Vec<_>>>()?;
    let bytes = 4 * (count * LAYERS * (square + width as usize) + (1 + count) * elements) as u64;

    let work = format!("{count} MLPs of {LAYERS} layers, {width} wide, batch {rows}, f32");
    let mut models = Models::new(&setup, &work, shape.plain(), 1e-5, bytes);
    // Two alternating temporaries are enough, because all launches are in one stream.
    let zeros = |_| stream.alloc_zeros::<f32>(elements);
    let temporaries = (0..2).map(zeros).collect::<std::result::Result<Vec<_>, _>>()?;
    let outs = || (0..count).map(zeros).collect::<std::result::Result<Vec<_>, _>>();
    let by_hand = outs()?;
    let mut launches = Launches::new(&setup, &[include_str!("kernels/mlps.ptx")])?;
    for at in 0..count * LAYERS {
        let (member, layer) = (at / LAYERS, at % LAYERS);
        let from = if layer == 0 { address(&x) } else { address(&temporaries[(layer + 1) % 2]) };
        let to = if layer + 1 == LAYERS { &by_hand[member] } else { &temporaries[layer % 2] };
        let (w, bias) = (address(&weights[at]), address(&biases[at]));
        let arguments = [from, w, bias, address(to), rows.into(), width.into(), width.into()];
        launches.add(c"linear_relu", [width.div_ceil(32), rows.div_ceil(32), 1], 256, &arguments)?;
    }
    models.by_hand(8 * elements, launches, || by_hand.iter().map(|out| read(&setup, out)).collect())?;
    let members = |outs: Vec<CudaSlice<f32>>| {
        let members = outs.into_iter().enumerate().map(|(member, out)| {
            let layer = |at: usize| {
                let at = member * LAYERS + at;
                Layer::new(width, weights[at].clone(), biases[at].clone())
            };
            Mlp::new(rows, width, layer(0), layer(1), layer(2), layer(3), out)
        });
        members.collect::<Vec<_>>()
    };
    model_sides!(
        models,
        ensemble,
        |own| outs()?,
        ensemble(&setup.ctx, rows, width, x.clone(), members(own)),
        |exec| exec
            .args()
            .members
            .iter()
            .map(|member| read(&setup, &member.out))
            .collect::<Result<Vec<_>>>()?
    );
    use graphs::everything::ensemble;
    // Each level in one launch and in two, whichever form the rules prefer.
    for (name, halved) in
        [("everything, levels whole", Waves(u64::MAX, 1)), ("everything, in halves", Waves(0, 1))]
    {
        model_side!(
            models,
            name,
            |own| {
                change_next_rules(move |_, _, rules| rules.tuning.chains.halved = halved);
                outs()?
            },
            ensemble(&setup.ctx, rows, width, x.clone(), members(own)),
            |exec| exec
                .args()
                .members
                .iter()
                .map(|member| read(&setup, &member.out))
                .collect::<Result<Vec<_>>>()?
        );
    }
    models.run(&mut table)?;
    finish(table)
}

fn read(setup: &Setup, out: &impl DevicePtr<f32>) -> Result<Vec<f64>> {
    Ok(setup.stream.clone_dtoh(out)?.into_iter().map(f64::from).collect())
}

#[derive(Clone, Copy)]
struct Shape {
    count: usize,
    rows: usize,
    width: usize,
}

impl Shape {
    fn x(self) -> Numbers {
        Numbers { seed: 1, len: self.rows * self.width, middle: 0.0, scale: 1.0 }
    }

    fn weights(self, at: usize) -> Numbers {
        let scale = (6.0 / self.width as f32).sqrt();
        Numbers { seed: 2 * at as u32 + 2, len: self.width * self.width, middle: 0.0, scale }
    }

    fn bias(self, at: usize) -> Numbers {
        Numbers { seed: 2 * at as u32 + 3, len: self.width, middle: 0.0, scale: 0.1 }
    }

    /// Returns the results of all members in plain Rust.
    fn plain(self) -> Vec<Vec<f64>> {
        let mut members = vec![Vec::new(); self.count];
        in_parallel(&mut members, |member, result| {
            let mut x: Vec<f64> = self.x().all(f64::from);
            for at in member * LAYERS..(member + 1) * LAYERS {
                let (w, bias) = (self.weights(at).all(f64::from), self.bias(at).all(f64::from));
                let rows = x.chunks(self.width).flat_map(|row| {
                    let mut sums = bias.clone();
                    for (x, w) in row.iter().zip(w.chunks(self.width)) {
                        sums.iter_mut().zip(w).for_each(|(sum, w)| *sum += x * w);
                    }
                    sums.into_iter().map(|sum| sum.max(0.0)).collect::<Vec<f64>>()
                });
                x = rows.collect();
            }
            *result = x;
        });
        members
    }
}
