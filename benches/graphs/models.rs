//! The data flow of real programs as the planner sees it: nodes, and a buffer for the result of each node.

use cuweave_core::index::{Index, Vector};
use cuweave_core::plan::{BufferIndex, PlannerBuffer};
use cuweave_core::reach::Node;

/// A graph whose node `i` writes buffer `i`.
#[derive(Default)]
pub struct Model {
    pub preds: Vector<Node, Vec<Node>>,
    pub buffers: Vector<BufferIndex, PlannerBuffer>,
}

/// A node, which stands for the buffer that it writes.
type Value = Node;

impl Model {
    /// Adds a node that reads `inputs` and writes a new buffer of `bytes`.
    fn op(&mut self, inputs: &[Value], bytes: u64) -> Value {
        let mut preds = inputs.to_vec();
        preds.sort_unstable();
        preds.dedup();
        let node = self.preds.push(preds.clone());
        for input in preds {
            self.buffers[BufferIndex::new(input.index())].users.push(node);
        }
        let size = bytes.next_multiple_of(256);
        self.buffers.push(PlannerBuffer { size, align: 256, users: vec![node], ..PlannerBuffer::default() });
        node
    }
}

/// A linear congruential generator for varying sizes.
struct Sizes(u64);

impl Sizes {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Returns every model with its name.
pub fn all() -> Vec<(&'static str, Model)> {
    vec![
        ("U-Net, 5 levels", u_net(5, 64 << 20)),
        ("U-Net, 3 levels", u_net(3, 64 * 512_000)),
        ("FFT, 64 lanes, 10 stages", fft(10, 64)),
        ("FFT, 16 lanes, 4 stages", fft(4, 16)),
        ("transformer forward, 6 layers, 12 heads", transformer(6, (768, 512), 12, false)),
        ("transformer forward and backward, 4 layers, 12 heads", transformer(4, (768, 512), 12, true)),
        ("transformer forward and backward, 12 layers, 4 heads", transformer(12, (1024, 128), 4, true)),
        ("decode step, 22 layers", decode(22, 2048, 5632)),
        ("fork-join 16 x 20, equal", fork_join(16, 20, |_, _| 4 << 20)),
        ("fork-join 16 x 20, mixed", fork_join(16, 20, |l, i| 4096 * (1 + (l * 31 + i * 17) % 97))),
        ("fork-join 5 x 40, mixed", fork_join(5, 40, |l, i| 512 * (1 + (l * 131 + i * 57) % 997))),
        ("8 chains x 32", chains(8, 32)),
        ("mixture of 16 experts, 4 layers", experts(4, 16, 1)),
        ("mixture of 64 experts, 2 layers", experts(2, 64, 2)),
        ("DenseNet, 4 blocks of 12", dense(4, 12)),
        ("Inception, 12 modules", inception(12, 3)),
        ("Inception, 12 modules, other sizes", inception(12, 4)),
        ("LSTM, 4 layers, 60 steps", lstm(4, 60)),
        ("8 towers", towers(8, 5)),
        ("24 towers", towers(24, 6)),
        ("60 towers", towers(60, 7)),
        ("multigrid V-cycle, 5 fields, 5 levels", v_cycle(5, 5)),
    ]
}

fn u_net(levels: u32, bytes: u64) -> Model {
    let mut model = Model::default();
    let mut x = model.op(&[], bytes);
    let mut skips = Vec::new();
    for level in 0..levels {
        let size = bytes >> level;
        let first = model.op(&[x], size);
        let second = model.op(&[first], size);
        skips.push((second, size));
        x = model.op(&[second], size / 2);
    }
    let middle = model.op(&[x], bytes >> levels);
    x = model.op(&[middle], bytes >> levels);
    for (skip, size) in skips.into_iter().rev() {
        let up = model.op(&[x], size);
        let both = model.op(&[up, skip], 2 * size);
        let first = model.op(&[both], size);
        x = model.op(&[first], size);
    }
    model
}

fn fft(stages: u32, lanes: u32) -> Model {
    let mut model = Model::default();
    let size = |lane: u32| 4096 * (1 + u64::from(lane % 3));
    let mut lane_values: Vec<Value> = (0..lanes).map(|lane| model.op(&[], size(lane))).collect();
    for stage in 0..stages {
        let step = 1 << (stage % lanes.trailing_zeros());
        lane_values = (0..lanes)
            .map(|lane| {
                model.op(&[lane_values[lane as usize], lane_values[(lane ^ step) as usize]], size(lane))
            })
            .collect();
    }
    model
}

/// The values of a layer that its backward pass reads.
struct Saved {
    input: Value,
    normed: Value,
    query: Value,
    key: Value,
    value: Value,
    weights: Vec<Value>,
    attended: Value,
    residual: Value,
    normed_again: Value,
    up: Value,
    gate: Value,
    product: Value,
}

fn transformer(layers: usize, (width, tokens): (u64, u64), heads: u64, backward: bool) -> Model {
    let mut model = Model::default();
    let row = tokens * width * 2;
    let scores = tokens * tokens * 2;
    let mut x = model.op(&[], row);
    let mut saved = Vec::new();
    for _ in 0..layers {
        let normed = model.op(&[x], row);
        let [query, key, value] = [(); 3].map(|()| model.op(&[normed], row));
        let mut weights = Vec::new();
        let mut parts = Vec::new();
        for _ in 0..heads {
            let score = model.op(&[query, key], scores);
            let weight = model.op(&[score], scores);
            weights.push(weight);
            parts.push(model.op(&[weight, value], row / heads));
        }
        let attended = model.op(&parts, row);
        let residual = model.op(&[attended, x], row);
        let normed_again = model.op(&[residual], row);
        let [up, gate] = [(); 2].map(|()| model.op(&[normed_again], 4 * row));
        let product = model.op(&[up, gate], 4 * row);
        let down = model.op(&[product], row);
        let input = x;
        x = model.op(&[down, residual], row);
        saved.push(Saved {
            input,
            normed,
            query,
            key,
            value,
            weights,
            attended,
            residual,
            normed_again,
            up,
            gate,
            product,
        });
    }
    if backward {
        let mut gradient = model.op(&[x], row);
        for layer in saved.iter().rev() {
            gradient = layer_backward(&mut model, layer, gradient, (width, tokens));
        }
    }
    model
}

fn layer_backward(model: &mut Model, layer: &Saved, gradient: Value, (width, tokens): (u64, u64)) -> Value {
    let row = tokens * width * 2;
    let square = width * width * 2;
    let of_product = model.op(&[gradient], 4 * row);
    model.op(&[gradient, layer.product], 4 * square);
    let of_gate = model.op(&[of_product, layer.up], 4 * row);
    let of_up = model.op(&[of_product, layer.gate], 4 * row);
    model.op(&[of_gate, layer.normed_again], 4 * square);
    model.op(&[of_up, layer.normed_again], 4 * square);
    let of_normed = model.op(&[of_gate, of_up], row);
    let of_residual = model.op(&[of_normed, layer.residual, gradient], row);
    let of_attended = model.op(&[of_residual], row);
    model.op(&[of_residual, layer.attended], square);
    let mut parts = Vec::new();
    for &weight in &layer.weights {
        let of_weight = model.op(&[of_attended, layer.value], tokens * tokens * 2);
        let of_score = model.op(&[of_weight, weight], tokens * tokens * 2);
        parts.push(model.op(&[of_score, layer.query, layer.key], row / 2));
    }
    let of_query = model.op(&parts, row);
    let of_input = model.op(&[of_query], row);
    model.op(&[of_query, layer.normed], 3 * square);
    model.op(&[of_input, layer.input, of_residual], row)
}

fn decode(layers: usize, width: u64, inner: u64) -> Model {
    let mut model = Model::default();
    let row = width * 2;
    let mut x = model.op(&[], row);
    for _ in 0..layers {
        let normed = model.op(&[x], row);
        let query = model.op(&[normed], row);
        let [key, value] = [(); 2].map(|()| model.op(&[normed], row / 4));
        let turned = model.op(&[query], row);
        let turned_key = model.op(&[key], row / 4);
        let parts = model.op(&[turned, turned_key, value], 16 * row);
        let attended = model.op(&[parts], row);
        let projected = model.op(&[attended], row);
        let residual = model.op(&[projected, x], row);
        let normed_again = model.op(&[residual], row);
        let [up, gate] = [(); 2].map(|()| model.op(&[normed_again], inner * 2));
        let activated = model.op(&[gate], inner * 2);
        let product = model.op(&[up, activated], inner * 2);
        let down = model.op(&[product], row);
        x = model.op(&[down, residual], row);
    }
    model
}

fn fork_join(width: u64, stages: u64, bytes: impl Fn(u64, u64) -> u64) -> Model {
    let mut model = Model::default();
    let mut x = model.op(&[], bytes(0, 0));
    for stage in 0..stages {
        let branches: Vec<Value> = (0..width).map(|branch| model.op(&[x], bytes(stage, branch))).collect();
        x = model.op(&branches, bytes(stage, 0));
    }
    model
}

fn chains(width: u64, steps: u64) -> Model {
    let mut model = Model::default();
    let mut ends: Vec<Value> = (0..width).map(|chain| model.op(&[], (4 << 20) | (chain * 512))).collect();
    for step in 0..steps {
        for (chain, end) in (0..).zip(&mut ends) {
            *end = model.op(&[*end], (1 << 20) * (1 + (chain * 7 + step * 3) % 5));
        }
    }
    model
}

/// Each expert processes the tokens, out of 64, that the router assigns to it.
fn experts(layers: usize, experts: usize, seed: u64) -> Model {
    let mut model = Model::default();
    let mut sizes = Sizes(seed);
    let width = 2048;
    let mut x = model.op(&[], 64 * width);
    for _ in 0..layers {
        let router = model.op(&[x], 64 * 64);
        let mut outputs = vec![router];
        for _ in 0..experts {
            let tokens = 1 + sizes.below(40);
            let gathered = model.op(&[x, router], tokens * width);
            let [up, gate] = [(); 2].map(|()| model.op(&[gathered], 4 * tokens * width));
            let product = model.op(&[up, gate], 4 * tokens * width);
            outputs.push(model.op(&[product], tokens * width));
        }
        let combined = model.op(&outputs, 64 * width);
        x = model.op(&[combined, x], 64 * width);
    }
    model
}

fn dense(blocks: u32, layers: usize) -> Model {
    let mut model = Model::default();
    let mut x = model.op(&[], 64 << 16);
    for block in 0..blocks {
        let mut features = vec![x];
        for _ in 0..layers {
            let narrow = model.op(&features, (48 << 16) >> block);
            features.push(model.op(&[narrow], (12 << 16) >> block));
        }
        x = model.op(&features, (32 << 16) >> block);
    }
    model
}

fn inception(modules: usize, seed: u64) -> Model {
    let mut model = Model::default();
    let mut sizes = Sizes(seed);
    let mut x = model.op(&[], 1 << 20);
    for _ in 0..modules {
        let mut next = |model: &mut Model, input: Value, least: u64, spread: u64| {
            model.op(&[input], (least + sizes.below(spread)) << 10)
        };
        let direct = next(&mut model, x, 64, 128);
        let narrow = next(&mut model, x, 96, 64);
        let third = next(&mut model, narrow, 128, 192);
        let narrow = next(&mut model, x, 16, 32);
        let fifth = next(&mut model, narrow, 32, 96);
        let fifth = next(&mut model, fifth, 32, 96);
        let pooled = next(&mut model, x, 192, 600);
        let pooled = next(&mut model, pooled, 32, 96);
        x = model.op(&[direct, third, fifth, pooled], (256 + sizes.below(700)) << 10);
    }
    model
}

fn lstm(layers: u64, steps: u64) -> Model {
    let mut model = Model::default();
    let bytes = |layer: u64| (512 + layer * 128) * 4;
    let mut states: Vec<(Value, Value)> =
        (0..layers).map(|layer| (model.op(&[], bytes(layer)), model.op(&[], bytes(layer)))).collect();
    for step in 0..steps {
        let mut x = model.op(&[], (300 + step % 7 * 64) * 4);
        for (layer, (hidden, cell)) in (0..).zip(&mut states) {
            let gates = model.op(&[x, *hidden], 4 * bytes(layer));
            *cell = model.op(&[gates, *cell], bytes(layer));
            *hidden = model.op(&[gates, *cell], bytes(layer));
            x = *hidden;
        }
    }
    model
}

/// Independent chains of different lengths and sizes, with skip connections, and a join.
fn towers(count: u64, seed: u64) -> Model {
    let mut model = Model::default();
    let mut sizes = Sizes(seed);
    let mut ends = Vec::new();
    for _ in 0..count {
        let mut x = model.op(&[], 4096 * (1 + sizes.below(64)));
        let mut skip = x;
        for at in 0..4 + sizes.below(20) {
            x = model.op(&[x], 4096 * (1 + sizes.below(64)));
            if at % 5 == 4 {
                x = model.op(&[x, skip], 4096 * (1 + sizes.below(64)));
                skip = x;
            }
        }
        ends.push(x);
    }
    model.op(&ends, 4096 * count);
    model
}

fn v_cycle(fields: u64, levels: u32) -> Model {
    let mut model = Model::default();
    let finest = |field: u64| (1 << 22) + field * 8192;
    let mut values: Vec<Value> = (0..fields).map(|field| model.op(&[], finest(field))).collect();
    for field in 0..fields {
        let mut x = values[field as usize];
        let mut stack = Vec::new();
        for level in 0..levels {
            let size = finest(field) >> (3 * level.min(4));
            let smoothed = model.op(&[x], size);
            let residual = model.op(&[smoothed, x], size);
            stack.push((smoothed, size));
            x = model.op(&[residual], (size / 8).max(512));
        }
        while let Some((smoothed, size)) = stack.pop() {
            let fine = model.op(&[x], size);
            let corrected = model.op(&[fine, smoothed], size);
            x = model.op(&[corrected], size);
        }
        if field > 0 {
            x = model.op(&[x, values[field as usize - 1]], finest(field));
        }
        values[field as usize] = x;
    }
    model
}
