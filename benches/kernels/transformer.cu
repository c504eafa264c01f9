// The kernels of a training step of a transformer in f32: products, attention by products, norms, gelu, Adam.
//
// nvcc -O3 -arch=compute_80 -ptx transformer.cu

#include "product.cuh"
#include "warp.cuh"

// The numbers of a query, key or value of a head.
constexpr unsigned HEAD = 64;

// The factor of x in gelu(x), by tanh, and the derivative of gelu.
__device__ inline float gate(float x) { return 1.0f / (1.0f + __expf(-1.5957691216f * (x + 0.044715f * x * x * x))); }
__device__ inline float gelu_slope(float x) {
    const float g = gate(x);
    return g + x * g * (1.0f - g) * 1.5957691216f * (1.0f + 3.0f * 0.044715f * x * x);
}

// y = x w + bias. Here and below n and k are multiples of 4.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
linear(const float* x, const float* w, const float* bias, float* y, unsigned m, unsigned n, unsigned k) {
    if ((n | k) % 4 != 0) return;
    product<true>(Matrix<false>{x, m, k, k}, Matrix<false>{w, k, n, n},
            [&](unsigned i, unsigned j, float v) { y[i * n + j] = v + bias[j]; });
}
// y = x w + bias + more
extern "C" __global__ void __launch_bounds__(2 * THREADS, 1)
linear_add(const float* x, const float* w, const float* bias, const float* more, float* y, unsigned m, unsigned n, unsigned k) {
    if ((n | k) % 4 != 0) return;
    product<true>(Matrix<false>{x, m, k, k}, Matrix<false>{w, k, n, n},
            [&](unsigned i, unsigned j, float v) { y[i * n + j] = v + bias[j] + more[i * n + j]; });
}
// y = x w + bias, active = gelu(y)
extern "C" __global__ void __launch_bounds__(THREADS, 2)
linear_gelu(const float* x, const float* w, const float* bias, float* y, float* active, unsigned m, unsigned n, unsigned k) {
    if ((n | k) % 4 != 0) return;
    product<true>(Matrix<false>{x, m, k, k}, Matrix<false>{w, k, n, n}, [&](unsigned i, unsigned j, float v) {
        v += bias[j];
        y[i * n + j] = v;
        active[i * n + j] = v * gate(v);
    });
}
// dx = dy wᵀ
extern "C" __global__ void __launch_bounds__(2 * THREADS, 1)
linear_back_input(const float* dy, const float* w, float* dx, unsigned m, unsigned n, unsigned k) {
    if ((n | k) % 4 != 0) return;
    product<true>(Matrix<false>{dy, m, n, n}, Matrix<true>{w, n, k, n}, [&](unsigned i, unsigned j, float v) { dx[i * k + j] = v; });
}
// dx = gelu'(x) * dy wᵀ
extern "C" __global__ void __launch_bounds__(THREADS, 2)
linear_back_gelu(const float* dy, const float* w, const float* x, float* dx, unsigned m, unsigned n, unsigned k) {
    if ((n | k) % 4 != 0) return;
    product<true>(Matrix<false>{dy, m, n, n}, Matrix<true>{w, n, k, n},
            [&](unsigned i, unsigned j, float v) { dx[i * k + j] = v * gelu_slope(x[i * k + j]); });
}
// dx = the sum of three dy wᵀ
extern "C" __global__ void __launch_bounds__(THREADS, 2)
linear_back_three(const float* dy0, const float* w0, const float* dy1, const float* w1, const float* dy2, const float* w2, float* dx,
                  unsigned m, unsigned n, unsigned k) {
    __shared__ float shared[WARPS][TILE][PITCH];
    if ((n | k) % 4 != 0) return;
    Sums sums{shared};
#pragma unroll 1
    for (unsigned of = 0; of < 3; of++) {
        const float *dy = of == 0 ? dy0 : of == 1 ? dy1 : dy2, *w = of == 0 ? w0 : of == 1 ? w1 : w2;
        sums.add<true>(Matrix<false>{dy, m, n, n}, Matrix<true>{w, n, k, n});
    }
    sums.finish<false, true>(m, k, [&](unsigned i, unsigned j, float v) { dx[i * k + j] = v; });
}
// dw = xᵀ dy
extern "C" __global__ void __launch_bounds__(THREADS, 2)
linear_back_weights(const float* x, const float* dy, float* dw, unsigned m, unsigned n, unsigned k) {
    if ((n | k) % 4 != 0) return;
    product<true>(Matrix<true>{x, k, m, k}, Matrix<false>{dy, m, n, n}, [&](unsigned i, unsigned j, float v) { dw[i * n + j] = v; });
}

// The rows of a sequence's head in a matrix of the heads side by side, and its square of scores.
struct Place {
    unsigned pitch, rows, square;
    __device__ Place(unsigned heads, unsigned tokens) {
        pitch = heads * HEAD;
        rows = blockIdx.z / heads * tokens * pitch + blockIdx.z % heads * HEAD;
        square = blockIdx.z * tokens * tokens;
    }
};
// weights = scale * query keyᵀ
extern "C" __global__ void __launch_bounds__(THREADS, 2)
scores(const float* query, const float* key, float* weights, unsigned batch, unsigned heads, unsigned tokens, float scale) {
    if (blockIdx.z >= batch * heads) return;
    Place at(heads, tokens);
    product<true>(Matrix<false>{query + at.rows, tokens, HEAD, at.pitch}, Matrix<true>{key + at.rows, HEAD, tokens, at.pitch},
            [&](unsigned i, unsigned j, float v) { weights[at.square + i * tokens + j] = v * scale; });
}
// mixed = weights value
extern "C" __global__ void __launch_bounds__(THREADS, 2)
mix(const float* weights, const float* value, float* mixed, unsigned batch, unsigned heads, unsigned tokens) {
    if (blockIdx.z >= batch * heads) return;
    Place at(heads, tokens);
    product<false>(Matrix<false>{weights + at.square, tokens, tokens, tokens}, Matrix<false>{value + at.rows, tokens, HEAD, at.pitch},
            [&](unsigned i, unsigned j, float v) { mixed[at.rows + i * at.pitch + j] = v; });
}
// dweights = dmixed valueᵀ
extern "C" __global__ void __launch_bounds__(THREADS, 2)
mix_back_weights(const float* dmixed, const float* value, float* dweights, unsigned batch, unsigned heads, unsigned tokens) {
    if (blockIdx.z >= batch * heads) return;
    Place at(heads, tokens);
    product<true>(Matrix<false>{dmixed + at.rows, tokens, HEAD, at.pitch}, Matrix<true>{value + at.rows, HEAD, tokens, at.pitch},
            [&](unsigned i, unsigned j, float v) { dweights[at.square + i * tokens + j] = v; });
}
// dvalue = weightsᵀ dmixed; with scores in place of weights and queries of dmixed: dkey.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
turned_mix(const float* weights, const float* dmixed, float* dvalue, unsigned batch, unsigned heads, unsigned tokens) {
    if (blockIdx.z >= batch * heads) return;
    Place at(heads, tokens);
    product<false>(Matrix<true>{weights + at.square, tokens, tokens, tokens}, Matrix<false>{dmixed + at.rows, tokens, HEAD, at.pitch},
            [&](unsigned i, unsigned j, float v) { dvalue[at.rows + i * at.pitch + j] = v; });
}

// Rows, a warp each: softmax in place.
extern "C" __global__ void __launch_bounds__(THREADS, 2) softmax(float* x, unsigned rows, unsigned columns) {
    const unsigned row = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float* of = x + row * columns;
    float largest = -3.4e38f, total = 0.0f;
    for (unsigned i = lane; i < columns; i += 32) largest = fmaxf(largest, of[i]);
    largest = most(largest);
    for (unsigned i = lane; i < columns; i += 32) total += __expf(of[i] - largest);
    total = 1.0f / sum(total);
    for (unsigned i = lane; i < columns; i += 32) of[i] = __expf(of[i] - largest) * total;
}
// dx = scale * y * (dx - y . dx)
extern "C" __global__ void __launch_bounds__(THREADS, 2)
softmax_back(const float* y, float* dx, unsigned rows, unsigned columns, float scale) {
    const unsigned row = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* from = y + row * columns;
    float* of = dx + row * columns;
    float total = 0.0f;
    for (unsigned i = lane; i < columns; i += 32) total = fmaf(from[i], of[i], total);
    total = sum(total);
    for (unsigned i = lane; i < columns; i += 32) of[i] = scale * from[i] * (of[i] - total);
}

// y = LayerNorm(x) * gain + shift, a warp a row; stats has mean and 1 / deviation of each row.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
layer_norm(const float* x, const float* gain, const float* shift, float* y, float* stats, unsigned rows, unsigned columns,
           float epsilon) {
    const unsigned row = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* of = x + row * columns;
    float total = 0.0f, squares = 0.0f;
    for (unsigned i = lane; i < columns; i += 32) total += of[i];
    const float mean = sum(total) / (float)columns;
    for (unsigned i = lane; i < columns; i += 32) squares = fmaf(of[i] - mean, of[i] - mean, squares);
    const float over = rsqrtf(sum(squares) / (float)columns + epsilon);
    for (unsigned i = lane; i < columns; i += 32) y[row * columns + i] = fmaf((of[i] - mean) * over, gain[i], shift[i]);
    if (lane == 0) {
        stats[2 * row] = mean;
        stats[2 * row + 1] = over;
    }
}
// dx += the gradient through LayerNorm
extern "C" __global__ void __launch_bounds__(THREADS, 2)
layer_norm_back(const float* x, const float* stats, const float* gain, const float* dy, float* dx, unsigned rows,
                unsigned columns) {
    const unsigned row = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float mean = stats[2 * row], over = stats[2 * row + 1];
    float total = 0.0f, along = 0.0f;
    for (unsigned i = lane; i < columns; i += 32) {
        float g = dy[row * columns + i] * gain[i];
        total += g;
        along = fmaf(g, (x[row * columns + i] - mean) * over, along);
    }
    total = sum(total) / (float)columns;
    along = sum(along) / (float)columns;
    for (unsigned i = lane; i < columns; i += 32) {
        float g = dy[row * columns + i] * gain[i];
        dx[row * columns + i] += over * (g - total - (x[row * columns + i] - mean) * over * along);
    }
}

// Sums over rows of 32 columns by a block of 8 rows of threads.
template <unsigned N, typename F>
__device__ inline void column_sums(float* const (&out)[N], unsigned rows, unsigned columns, F of) {
    __shared__ float parts[N][8][33];
    const unsigned x = threadIdx.x % 32, y = threadIdx.x / 32, column = blockIdx.x * 32 + x;
    float totals[N] = {};
    if (column < columns) {
#pragma unroll 16
        for (unsigned row = y; row < rows; row += 8) of(row, column, totals);
    }
#pragma unroll
    for (unsigned i = 0; i < N; i++) parts[i][y][x] = totals[i];
    __syncthreads();
    if (y == 0 && column < columns) {
#pragma unroll
        for (unsigned i = 0; i < N; i++) {
            float total = 0.0f;
            for (unsigned j = 0; j < 8; j++) total += parts[i][j][x];
            out[i][column] = total;
        }
    }
}
// dbias = the sum of the rows of dy
extern "C" __global__ void __launch_bounds__(THREADS, 2)
linear_back_bias(const float* dy, float* dbias, unsigned rows, unsigned columns) {
    column_sums<1>({dbias}, rows, columns,
                   [&](unsigned row, unsigned column, float* totals) { totals[0] += dy[row * columns + column]; });
}
extern "C" __global__ void __launch_bounds__(THREADS, 2)
layer_norm_back_weights(const float* x, const float* stats, const float* dy, float* dgain, float* dshift, unsigned rows,
                        unsigned columns) {
    column_sums<2>({dgain, dshift}, rows, columns, [&](unsigned row, unsigned column, float* totals) {
        float g = dy[row * columns + column];
        totals[0] = fmaf(g, (x[row * columns + column] - stats[2 * row]) * stats[2 * row + 1], totals[0]);
        totals[1] += g;
    });
}

// dy = 2 (y - target) / n, and of each block the sum of (y - target)² / n.
extern "C" __global__ void __launch_bounds__(THREADS)
loss(const float* y, const float* target, float* dy, float* parts, unsigned n, unsigned blocks) {
    __shared__ float shared[THREADS / 32];
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    float apart = 0.0f;
    if (i < n) {
        apart = y[i] - target[i];
        dy[i] = 2.0f * apart / (float)n;
    }
    apart = sum(apart * apart / (float)n);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = apart;
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x < blocks) {
        float total = 0.0f;
        for (unsigned j = 0; j < THREADS / 32; j++) total += shared[j];
        parts[blockIdx.x] = total;
    }
}
// The powers of Adam's two factors.
extern "C" __global__ void count_step(float* powers, float first, float second) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        powers[0] *= first;
        powers[1] *= second;
    }
}
extern "C" __global__ void __launch_bounds__(THREADS)
adam(float* value, float* mean, float* square, const float* gradient, const float* powers, unsigned n, float rate, float first,
     float second, float epsilon) {
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float g = gradient[i], m = first * mean[i] + (1.0f - first) * g, v = second * square[i] + (1.0f - second) * g * g;
    mean[i] = m;
    square[i] = v;
    value[i] -= rate * (m / (1.0f - powers[0])) / (sqrtf(v / (1.0f - powers[1])) + epsilon);
}
