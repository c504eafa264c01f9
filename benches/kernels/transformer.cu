// The kernels of a training step of a transformer in f32: products in tiles, attention by products, norms, gelu, Adam.
//
// nvcc -O3 -arch=compute_80 -ptx transformer.cu

#include "warp.cuh"

constexpr unsigned TILE = 32, THREADS = 256, PART = TILE * TILE / THREADS;
// The numbers of a query, key or value of a head.
constexpr unsigned HEAD = 64;

// A matrix of rows, or of columns where TURNED.
template <bool TURNED> struct Matrix {
    const float* at;
    unsigned rows, columns, pitch;
    // Element of a tile for a place in it, so that neighbours in memory are at neighbouring places.
    __device__ static unsigned row(unsigned place) { return TURNED ? place % TILE : place / TILE; }
    __device__ static unsigned column(unsigned place) { return TURNED ? place / TILE : place % TILE; }
    __device__ float get(unsigned i, unsigned j) const {
        if (i >= rows || j >= columns) return 0.0f;
        return TURNED ? at[j * pitch + i] : at[i * pitch + j];
    }
};

// The tile blockIdx.y, blockIdx.x of a b: a thread has two rows and two columns, 16 apart.
template <bool A, bool B>
__device__ inline void product(const Matrix<A>& a, const Matrix<B>& b, float (&sums)[2][2]) {
    __shared__ float as[TILE][TILE + 1], bs[TILE][TILE + 1];
    const unsigned row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    const unsigned y = threadIdx.x / 16, x = threadIdx.x % 16;
    float next_a[PART], next_b[PART];
    auto load = [&](unsigned depth) {
#pragma unroll
        for (unsigned i = 0; i < PART; i++) {
            unsigned place = i * THREADS + threadIdx.x;
            next_a[i] = a.get(row + Matrix<A>::row(place), depth + Matrix<A>::column(place));
            next_b[i] = b.get(depth + Matrix<B>::row(place), column + Matrix<B>::column(place));
        }
    };
    load(0);
    for (unsigned depth = 0; depth < a.columns; depth += TILE) {
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < PART; i++) {
            unsigned place = i * THREADS + threadIdx.x;
            as[Matrix<A>::row(place)][Matrix<A>::column(place)] = next_a[i];
            bs[Matrix<B>::row(place)][Matrix<B>::column(place)] = next_b[i];
        }
        __syncthreads();
        if (depth + TILE < a.columns) load(depth + TILE);
#pragma unroll
        for (unsigned k = 0; k < TILE; k++) {
            float a0 = as[y][k], a1 = as[y + 16][k], b0 = bs[k][x], b1 = bs[k][x + 16];
            sums[0][0] = fmaf(a0, b0, sums[0][0]);
            sums[0][1] = fmaf(a0, b1, sums[0][1]);
            sums[1][0] = fmaf(a1, b0, sums[1][0]);
            sums[1][1] = fmaf(a1, b1, sums[1][1]);
        }
    }
}
template <bool A, bool B, typename F>
__device__ inline void product(const Matrix<A>& a, const Matrix<B>& b, float* c, unsigned pitch, F finish) {
    float sums[2][2] = {};
    product(a, b, sums);
#pragma unroll
    for (unsigned i = 0; i < 2; i++) {
#pragma unroll
        for (unsigned j = 0; j < 2; j++) {
            unsigned row = blockIdx.y * TILE + threadIdx.x / 16 + 16 * i, column = blockIdx.x * TILE + threadIdx.x % 16 + 16 * j;
            if (row < a.rows && column < b.columns) c[row * pitch + column] = finish(sums[i][j], column);
        }
    }
}
struct As { __device__ float operator()(float v, unsigned) const { return v; } };

// y = x w + bias
extern "C" __global__ void __launch_bounds__(THREADS)
linear(const float* x, const float* w, const float* bias, float* y, unsigned m, unsigned n, unsigned k) {
    product(Matrix<false>{x, m, k, k}, Matrix<false>{w, k, n, n}, y, n, [&](float v, unsigned j) { return v + bias[j]; });
}
// dx = dy wᵀ
extern "C" __global__ void __launch_bounds__(THREADS)
linear_back_input(const float* dy, const float* w, float* dx, unsigned m, unsigned n, unsigned k) {
    product(Matrix<false>{dy, m, n, n}, Matrix<true>{w, n, k, n}, dx, k, As{});
}
// dw = xᵀ dy
extern "C" __global__ void __launch_bounds__(THREADS)
linear_back_weights(const float* x, const float* dy, float* dw, unsigned m, unsigned n, unsigned k) {
    product(Matrix<true>{x, k, m, k}, Matrix<false>{dy, m, n, n}, dw, n, As{});
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
extern "C" __global__ void __launch_bounds__(THREADS)
scores(const float* query, const float* key, float* weights, unsigned batch, unsigned heads, unsigned tokens, float scale) {
    if (blockIdx.z >= batch * heads) return;
    Place at(heads, tokens);
    product(Matrix<false>{query + at.rows, tokens, HEAD, at.pitch}, Matrix<true>{key + at.rows, HEAD, tokens, at.pitch},
            weights + at.square, tokens, [&](float v, unsigned) { return v * scale; });
}
// mixed = weights value
extern "C" __global__ void __launch_bounds__(THREADS)
mix(const float* weights, const float* value, float* mixed, unsigned batch, unsigned heads, unsigned tokens) {
    if (blockIdx.z >= batch * heads) return;
    Place at(heads, tokens);
    product(Matrix<false>{weights + at.square, tokens, tokens, tokens}, Matrix<false>{value + at.rows, tokens, HEAD, at.pitch},
            mixed + at.rows, at.pitch, As{});
}
// dweights = dmixed valueᵀ
extern "C" __global__ void __launch_bounds__(THREADS)
mix_back_weights(const float* dmixed, const float* value, float* dweights, unsigned batch, unsigned heads, unsigned tokens) {
    if (blockIdx.z >= batch * heads) return;
    Place at(heads, tokens);
    product(Matrix<false>{dmixed + at.rows, tokens, HEAD, at.pitch}, Matrix<true>{value + at.rows, HEAD, tokens, at.pitch},
            dweights + at.square, tokens, As{});
}
// dvalue = weightsᵀ dmixed; with scores in place of weights and queries of dmixed: dkey.
extern "C" __global__ void __launch_bounds__(THREADS)
turned_mix(const float* weights, const float* dmixed, float* dvalue, unsigned batch, unsigned heads, unsigned tokens) {
    if (blockIdx.z >= batch * heads) return;
    Place at(heads, tokens);
    product(Matrix<true>{weights + at.square, tokens, tokens, tokens}, Matrix<false>{dmixed + at.rows, tokens, HEAD, at.pitch},
            dvalue + at.rows, at.pitch, As{});
}

// Rows, a warp each: softmax in place.
extern "C" __global__ void __launch_bounds__(THREADS) softmax(float* x, unsigned rows, unsigned columns) {
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
extern "C" __global__ void __launch_bounds__(THREADS)
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
extern "C" __global__ void __launch_bounds__(THREADS)
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
extern "C" __global__ void __launch_bounds__(THREADS)
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
#pragma unroll 4
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
extern "C" __global__ void __launch_bounds__(THREADS)
linear_back_bias(const float* dy, float* dbias, unsigned rows, unsigned columns) {
    column_sums<1>({dbias}, rows, columns,
                   [&](unsigned row, unsigned column, float* totals) { totals[0] += dy[row * columns + column]; });
}
extern "C" __global__ void __launch_bounds__(THREADS)
layer_norm_back_weights(const float* x, const float* stats, const float* dy, float* dgain, float* dshift, unsigned rows,
                        unsigned columns) {
    column_sums<2>({dgain, dshift}, rows, columns, [&](unsigned row, unsigned column, float* totals) {
        float g = dy[row * columns + column];
        totals[0] = fmaf(g, (x[row * columns + column] - stats[2 * row]) * stats[2 * row + 1], totals[0]);
        totals[1] += g;
    });
}

__device__ inline float gate(float x) { return 1.0f / (1.0f + __expf(-1.5957691216f * (x + 0.044715f * x * x * x))); }
// y = gelu(x), by tanh
extern "C" __global__ void __launch_bounds__(THREADS) gelu(const float* x, float* y, unsigned n) {
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = x[i] * gate(x[i]);
}
// dy *= gelu'(x)
extern "C" __global__ void __launch_bounds__(THREADS) gelu_back(const float* x, float* dy, unsigned n) {
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float v = x[i], g = gate(v);
    dy[i] *= g + v * g * (1.0f - g) * 1.5957691216f * (1.0f + 3.0f * 0.044715f * v * v);
}
extern "C" __global__ void __launch_bounds__(THREADS) add(const float* a, const float* b, float* out, unsigned n) {
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
extern "C" __global__ void __launch_bounds__(THREADS)
add_three(const float* a, const float* b, const float* c, float* out, unsigned n) {
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i] + c[i];
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
