//! A training step of a transformer in f32: forward, backward, Adam.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/transformer.ptx")]
unsafe extern "ptx-kernel" {
    /// y = x · w + bias. For all products with this name, n and k must be multiples of 4.
    fn linear(
        x: &[f32; m * k],
        w: &[f32; k * n],
        bias: &[f32; n],
        y: &mut [MaybeUninit<f32>; m * n],
        m: u32,
        n: u32,
        k: u32,
    );
    /// y = x · w + bias + more
    fn linear_add(
        x: &[f32; m * k],
        w: &[f32; k * n],
        bias: &[f32; n],
        more: &[f32; m * n],
        y: &mut [MaybeUninit<f32>; m * n],
        m: u32,
        n: u32,
        k: u32,
    );
    /// y = x · w + bias, active = gelu(y), approximated with tanh
    fn linear_gelu(
        x: &[f32; m * k],
        w: &[f32; k * n],
        bias: &[f32; n],
        y: &mut [MaybeUninit<f32>; m * n],
        active: &mut [MaybeUninit<f32>; m * n],
        m: u32,
        n: u32,
        k: u32,
    );
    /// dx = dy · wᵀ
    fn linear_back_input(
        dy: &[f32; m * n],
        w: &[f32; k * n],
        dx: &mut [MaybeUninit<f32>; m * k],
        m: u32,
        n: u32,
        k: u32,
    );
    /// dx = gelu'(x) · (dy · wᵀ)
    fn linear_back_gelu(
        dy: &[f32; m * n],
        w: &[f32; k * n],
        x: &[f32; m * k],
        dx: &mut [MaybeUninit<f32>; m * k],
        m: u32,
        n: u32,
        k: u32,
    );
    /// dx = the sum of three products dy · wᵀ
    fn linear_back_three(
        dy0: &[f32; m * n],
        w0: &[f32; k * n],
        dy1: &[f32; m * n],
        w1: &[f32; k * n],
        dy2: &[f32; m * n],
        w2: &[f32; k * n],
        dx: &mut [MaybeUninit<f32>; m * k],
        m: u32,
        n: u32,
        k: u32,
    );
    /// dw = xᵀ · dy
    fn linear_back_weights(
        x: &[f32; m * k],
        dy: &[f32; m * n],
        dw: &mut [MaybeUninit<f32>; k * n],
        m: u32,
        n: u32,
        k: u32,
    );
    /// dbias = the sum of the rows of dy
    fn linear_back_bias(
        dy: &[f32; rows * columns],
        dbias: &mut [MaybeUninit<f32>; columns],
        rows: u32,
        columns: u32,
    );
    /// weights = scale · query · keyᵀ for each head
    fn scores(
        query: &[f32; batch * tokens * (heads * 64)],
        key: &[f32; batch * tokens * (heads * 64)],
        weights: &mut [MaybeUninit<f32>; batch * heads * (tokens * tokens)],
        batch: u32,
        heads: u32,
        tokens: u32,
        scale: f32,
    );
    /// mixed = weights · value
    fn mix(
        weights: &[f32; batch * heads * (tokens * tokens)],
        value: &[f32; batch * tokens * (heads * 64)],
        mixed: &mut [MaybeUninit<f32>; batch * tokens * (heads * 64)],
        batch: u32,
        heads: u32,
        tokens: u32,
    );
    /// dweights = dmixed · valueᵀ
    fn mix_back_weights(
        dmixed: &[f32; batch * tokens * (heads * 64)],
        value: &[f32; batch * tokens * (heads * 64)],
        dweights: &mut [MaybeUninit<f32>; batch * heads * (tokens * tokens)],
        batch: u32,
        heads: u32,
        tokens: u32,
    );
    /// dvalue = weightsᵀ · dmixed
    fn turned_mix(
        weights: &[f32; batch * heads * (tokens * tokens)],
        dmixed: &[f32; batch * tokens * (heads * 64)],
        dvalue: &mut [MaybeUninit<f32>; batch * tokens * (heads * 64)],
        batch: u32,
        heads: u32,
        tokens: u32,
    );
    /// Applies softmax to each row in place.
    fn softmax(x: &mut [f32; rows * columns], rows: u32, columns: u32);
    /// dx = scale · y · (dx - y · dx)
    fn softmax_back(
        y: &[f32; rows * columns],
        dx: &mut [f32; rows * columns],
        rows: u32,
        columns: u32,
        scale: f32,
    );
    /// y = LayerNorm(x) · gain + shift, with the mean and 1 / deviation of each row.
    fn layer_norm(
        x: &[f32; rows * columns],
        gain: &[f32; columns],
        shift: &[f32; columns],
        y: &mut [MaybeUninit<f32>; rows * columns],
        stats: &mut [MaybeUninit<f32>; 2 * rows],
        rows: u32,
        columns: u32,
        epsilon: f32,
    );
    /// dx += the gradient through LayerNorm
    fn layer_norm_back(
        x: &[f32; rows * columns],
        stats: &[f32; 2 * rows],
        gain: &[f32; columns],
        dy: &[f32; rows * columns],
        dx: &mut [f32; rows * columns],
        rows: u32,
        columns: u32,
    );
    fn layer_norm_back_weights(
        x: &[f32; rows * columns],
        stats: &[f32; 2 * rows],
        dy: &[f32; rows * columns],
        dgain: &mut [MaybeUninit<f32>; columns],
        dshift: &mut [MaybeUninit<f32>; columns],
        rows: u32,
        columns: u32,
    );
    /// dy = 2 · (y - target) / n, and the sum of (y - target)² / n of each block.
    fn loss(
        y: &[f32; n],
        target: &[f32; n],
        dy: &mut [MaybeUninit<f32>; n],
        parts: &mut [MaybeUninit<f32>; blocks],
        n: u32,
        blocks: u32,
    );
    /// Updates the powers of Adam's two factors.
    fn count_step(powers: &mut [f32; 2], first: f32, second: f32);
    fn adam(
        value: &mut [f32; n],
        mean: &mut [f32; n],
        square: &mut [f32; n],
        gradient: &[f32; n],
        powers: &[f32; 2],
        n: u32,
        rate: f32,
        first: f32,
        second: f32,
        epsilon: f32,
    );
}

/// The size of a head, and the factor of the scores: 1 / √HEAD.
pub const HEAD: u32 = 64;
pub const SCALE: f32 = 0.125;
/// The number that the norms add to the variance.
pub const EPSILON: f32 = 1e-5;
/// Adam's rate, its two factors, and the number that it adds to the deviation.
pub const ADAM: (f32, f32, f32, f32) = (1e-3, 0.9, 0.999, 1e-8);

/// A trained tensor and its Adam moments.
#[cuweave::arguments]
pub struct Parameter {
    len: u32,
    value: &mut [f32; len],
    mean: &mut [f32; len],
    square: &mut [f32; len],
}

/// A matrix with a row for each input, and a bias; or a gain and a shift.
#[cuweave::arguments]
pub struct Pair {
    weights: Parameter<'_>,
    bias: Parameter<'_>,
}

/// A layer, and the values of its forward pass that the backward pass reads.
#[cuweave::arguments]
pub struct Layer {
    rows: u32,
    width: u32,
    ff: u32,
    squares: u32,
    norm: Pair<'_>,
    q: Pair<'_>,
    k: Pair<'_>,
    v: Pair<'_>,
    output: Pair<'_>,
    last_norm: Pair<'_>,
    up: Pair<'_>,
    down: Pair<'_>,
    z: &mut [f32; rows * width],
    stats: &mut [f32; 2 * rows],
    query: &mut [f32; rows * width],
    key: &mut [f32; rows * width],
    value: &mut [f32; rows * width],
    weights: &mut [f32; squares],
    mixed: &mut [f32; rows * width],
    h: &mut [f32; rows * width],
    last_z: &mut [f32; rows * width],
    last_stats: &mut [f32; 2 * rows],
    up_out: &mut [f32; rows * ff],
    active: &mut [f32; rows * ff],
    y: &mut [f32; rows * width],
}

/// The threads per block of a product whose depth is the hidden size.
pub const DEEP: u32 = 512;

/// Returns the grid of a product with this many rows and columns.
fn tiles(rows: u32, columns: u32) -> (u32, u32) {
    (columns.div_ceil(32), rows.div_ceil(32))
}

/// Returns the grid of such products for all heads.
fn cubes(rows: u32, columns: u32, all: u32) -> (u32, u32, u32) {
    (columns.div_ceil(32), rows.div_ceil(32), all)
}

/// The sizes of a step.
#[derive(Clone, Copy)]
pub struct Sizes {
    /// The number of sequences.
    pub batch: u32,
    /// The number of tokens per sequence.
    pub tokens: u32,
    /// The number of heads. The width of the model is 64 times this number.
    pub heads: u32,
    /// The hidden size of the perceptron.
    pub ff: u32,
}

impl Sizes {
    /// Returns the total number of rows of all sequences.
    pub fn rows(self) -> u32 {
        self.batch * self.tokens
    }

    /// The width of the model.
    pub fn width(self) -> u32 {
        self.heads * HEAD
    }
}

each_side! {
    /// The forward pass of a layer: 11 launches.
    graph[] fn forward(sizes: Sizes, layer: Layer<'_>, x: &[f32; layer.rows * layer.width]) {
        let (rows, width, ff) = (sizes.rows(), sizes.width(), sizes.ff);
        let (batch, heads, tokens) = (sizes.batch, sizes.heads, sizes.tokens);
        layer_norm[(rows.div_ceil(8), 256)](
            &x, &layer.norm.weights.value, &layer.norm.bias.value, &mut layer.z, &mut layer.stats, rows, width, EPSILON,
        );
        linear[(tiles(rows, width), 256)](
            &layer.z, &layer.q.weights.value, &layer.q.bias.value, &mut layer.query, rows, width, width,
        );
        linear[(tiles(rows, width), 256)](
            &layer.z, &layer.k.weights.value, &layer.k.bias.value, &mut layer.key, rows, width, width,
        );
        linear[(tiles(rows, width), 256)](
            &layer.z, &layer.v.weights.value, &layer.v.bias.value, &mut layer.value, rows, width, width,
        );
        scores[(cubes(tokens, tokens, batch * heads), 256)](
            &layer.query, &layer.key, &mut layer.weights, batch, heads, tokens, SCALE,
        );
        softmax[((batch * heads * tokens).div_ceil(8), 256)](&mut layer.weights, batch * heads * tokens, tokens);
        mix[(cubes(tokens, HEAD, batch * heads), 256)](
            &layer.weights, &layer.value, &mut layer.mixed, batch, heads, tokens,
        );
        linear_add[(tiles(rows, width), 256)](
            &layer.mixed, &layer.output.weights.value, &layer.output.bias.value, &x, &mut layer.h, rows, width, width,
        );
        layer_norm[(rows.div_ceil(8), 256)](
            &layer.h, &layer.last_norm.weights.value, &layer.last_norm.bias.value, &mut layer.last_z,
            &mut layer.last_stats,
            rows, width, EPSILON,
        );
        linear_gelu[(tiles(rows, ff), 256)](
            &layer.last_z, &layer.up.weights.value, &layer.up.bias.value, &mut layer.up_out, &mut layer.active,
            rows, ff, width,
        );
        linear_add[(tiles(rows, width), DEEP)](
            &layer.active, &layer.down.weights.value, &layer.down.bias.value, &layer.h, &mut layer.y, rows, width, ff,
        );
    }

    /// A step of Adam.
    graph[] fn descend(p: Parameter<'_>, gradient: &[f32; p.len], powers: &[f32; 2]) {
        adam[per_item(p.len)](
            &mut p.value, &mut p.mean, &mut p.square, &gradient, &powers, p.len, ADAM.0, ADAM.1, ADAM.2, ADAM.3,
        );
    }

    /// The gradients of a product's weights and bias, and their Adam steps.
    graph[] fn learn(
        pair: Pair<'_>, x: &[f32; m * k], dy: &[f32; m * n], powers: &[f32; 2], m: u32, n: u32, k: u32
    ) {
        let weights = alloc::<f32>(k * n);
        let bias = alloc::<f32>(n);
        linear_back_weights[(tiles(k, n), 256)](&x, &dy, &mut weights, m, n, k);
        linear_back_bias[(n.div_ceil(32), 256)](&dy, &mut bias, m, n);
        descend(record(pair.weights), &weights, &powers);
        descend(record(pair.bias), &bias, &powers);
    }

    /// The same for a norm, whose gradient is added to dx.
    graph[] fn learn_norm(
        pair: Pair<'_>, x: &[f32; m * n], stats: &[f32; 2 * m], dy: &[f32; m * n], dx: &mut [f32; m * n],
        powers: &[f32; 2],
        m: u32, n: u32
    ) {
        let gain = alloc::<f32>(n);
        let shift = alloc::<f32>(n);
        layer_norm_back[(m.div_ceil(8), 256)](&x, &stats, &pair.weights.value, &dy, &mut dx, m, n);
        layer_norm_back_weights[(n.div_ceil(32), 256)](&x, &stats, &dy, &mut gain, &mut shift, m, n);
        descend(record(pair.weights), &gain, &powers);
        descend(record(pair.bias), &shift, &powers);
    }

    /// The backward pass of a layer. `g` is the gradient of its output, and then of its input.
    graph[] fn backward(
        sizes: Sizes, layer: Layer<'_>, x: &[f32; layer.rows * layer.width], g: &mut [f32; layer.rows * layer.width],
        powers: &[f32; 2]
    ) {
        let (rows, width, ff) = (sizes.rows(), sizes.width(), sizes.ff);
        let (batch, heads, tokens) = (sizes.batch, sizes.heads, sizes.tokens);
        let d_active = alloc::<f32>(layer.rows * layer.ff);
        linear_back_gelu[(tiles(rows, ff), 256)](
            &g, &layer.down.weights.value, &layer.up_out, &mut d_active, rows, width, ff,
        );
        learn(record(layer.down), &layer.active, &g, &powers, rows, width, ff);
        let d_last = alloc::<f32>(layer.rows * layer.width);
        linear_back_input[(tiles(rows, width), DEEP)](
            &d_active, &layer.up.weights.value, &mut d_last, rows, ff, width,
        );
        learn(record(layer.up), &layer.last_z, &d_active, &powers, rows, ff, width);
        learn_norm(record(layer.last_norm), &layer.h, &layer.last_stats, &d_last, &mut g, &powers, rows, width);

        let d_mixed = alloc::<f32>(layer.rows * layer.width);
        linear_back_input[(tiles(rows, width), 256)](
            &g, &layer.output.weights.value, &mut d_mixed, rows, width, width,
        );
        learn(record(layer.output), &layer.mixed, &g, &powers, rows, width, width);
        let d_weights = alloc::<f32>(layer.squares);
        let d_query = alloc::<f32>(layer.rows * layer.width);
        let d_key = alloc::<f32>(layer.rows * layer.width);
        let d_value = alloc::<f32>(layer.rows * layer.width);
        mix_back_weights[(cubes(tokens, tokens, batch * heads), 256)](
            &d_mixed, &layer.value, &mut d_weights, batch, heads, tokens,
        );
        turned_mix[(cubes(tokens, HEAD, batch * heads), 256)](
            &layer.weights, &d_mixed, &mut d_value, batch, heads, tokens,
        );
        softmax_back[((batch * heads * tokens).div_ceil(8), 256)](
            &layer.weights, &mut d_weights, batch * heads * tokens, tokens, SCALE,
        );
        mix[(cubes(tokens, HEAD, batch * heads), 256)](&d_weights, &layer.key, &mut d_query, batch, heads, tokens);
        turned_mix[(cubes(tokens, HEAD, batch * heads), 256)](
            &d_weights, &layer.query, &mut d_key, batch, heads, tokens,
        );
        let d_z = alloc::<f32>(layer.rows * layer.width);
        linear_back_three[(tiles(rows, width), 256)](
            &d_query, &layer.q.weights.value, &d_key, &layer.k.weights.value, &d_value, &layer.v.weights.value,
            &mut d_z, rows,
            width, width,
        );
        learn(record(layer.q), &layer.z, &d_query, &powers, rows, width, width);
        learn(record(layer.k), &layer.z, &d_key, &powers, rows, width, width);
        learn(record(layer.v), &layer.z, &d_value, &powers, rows, width, width);
        learn_norm(record(layer.norm), &x, &layer.stats, &d_z, &mut g, &powers, rows, width);
    }

    /// A training step on the mean squared error.
    graph[] fn train(
        sizes: Sizes, blocks: u32, #[at_least(1)] layers: &[Layer<'_>], x: &[f32; layers[0].rows * layers[0].width],
        target: &[f32; layers[0].rows * layers[0].width], powers: &mut [f32; 2], parts: &mut [f32; blocks]
    ) {
        let n = sizes.rows() * sizes.width();
        count_step[(1, 1)](&mut powers, ADAM.1, ADAM.2);
        for (i, layer) in layers.iter().enumerate() {
            if i == 0 {
                forward(sizes, layer, &x);
            } else {
                forward(sizes, layer, &layers[i - 1].y);
            }
        }
        let g = alloc::<f32>(layers[0].rows * layers[0].width);
        loss[(blocks, 256)](&layers[layers.len() - 1].y, &target, &mut g, &mut parts, n, blocks);
        for (i, layer) in layers.iter().enumerate().rev() {
            if i == 0 {
                backward(sizes, layer, &x, &mut g, &powers);
            } else {
                backward(sizes, layer, &layers[i - 1].y, &mut g, &powers);
            }
        }
    }
}
