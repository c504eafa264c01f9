// The kernels of a decode step of a Llama: one thing a kernel, and some of them fused. Elements are bf16, sums are in f32.
// Widths are multiples of 8.
//
// nvcc -O3 -arch=compute_80 -ptx decode.cu

#include "tensor.cuh"

// The numbers of a query, key or value of a head.
constexpr unsigned HEAD = 64;
// The warps of a block of a product with a vector, and of one with many columns. The kernels say how many blocks a multiprocessor has to hold: for more of
// them the assembler would have fewer loads under way.
constexpr unsigned WARPS = 8, MANY = 16;
// The threads of a block of attention, and its teams of 8 lanes, each of which takes a position.
constexpr unsigned THREADS = 512, TEAMS = THREADS / 8;
// The positions of a team whose keys and values are loaded at once.
constexpr unsigned ROUND = 8;

// Sum over a block, for all of its threads.
__device__ inline float block_sum(float v, float* shared) {
    v = sum(v);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
    __syncthreads();
    float all = 0.0f;
    for (unsigned i = 0; i < blockDim.x / 32; i++) all += shared[i];
    return all;
}

// x = the token's row of the table.
extern "C" __global__ void __launch_bounds__(256)
embed(const BF16* table, const unsigned* token, BF16* x, unsigned vocab, unsigned width) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < width) x[i] = table[(size_t)min(*token, vocab - 1) * width + i];
}

// y = x / rms(x) * gain, in one block.
extern "C" __global__ void __launch_bounds__(256)
rms_norm(const BF16* x, const BF16* gain, BF16* y, unsigned width, float epsilon) {
    __shared__ float shared[8];
    float squares = 0.0f;
    for (unsigned at = 8 * threadIdx.x; at + 7 < width; at += 8 * 256) {
        Eight v = eight(x + at);
#pragma unroll
        for (unsigned i = 0; i < 8; i++) squares = fmaf(v.v[i], v.v[i], squares);
    }
    float over = rsqrtf(block_sum(squares, shared) / (float)width + epsilon);
    for (unsigned at = 8 * threadIdx.x; at + 7 < width; at += 8 * 256) {
        Eight v = eight(x + at), g = eight(gain + at);
#pragma unroll
        for (unsigned i = 0; i < 8; i++) v.v[i] *= over * g.v[i];
        store(y + at, v);
    }
}

// The sums of the products of rows of MATRICES matrices with x, which `finish` is given with the row. By tensor cores: a block has
// GROUPS groups of eight rows, and each of its WARPS warps each WARPS-th step of 32 columns of them. A lane loads 16 bytes of a row,
// or of x; which of them meet in a product is the same for both, so that they are multiplied as they lie. So many steps are loaded
// ahead. With NORM, x / rms(x) * gain is in the place of x: its factor is the same for all columns, and is applied to the sums.
template <unsigned MATRICES, unsigned GROUPS, unsigned WARPS, unsigned AHEAD, bool NORM, typename Finish>
__device__ inline void rows_times(
    const BF16* const (&w)[MATRICES], const BF16* __restrict__ x, const BF16* __restrict__ gain, unsigned rows, unsigned cols,
    float epsilon, Finish finish) {
    __shared__ float parts[MATRICES][8 * GROUPS][WARPS + 1];
    __shared__ float squares[WARPS];
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, first_row = blockIdx.x * (8 * GROUPS);
    const unsigned row = first_row + lane / 4, at = lane % 4 * 8;
    const uint4 zero = make_uint4(0, 0, 0, 0);
    float4 sums[MATRICES][GROUPS] = {};
    float square = 0.0f;
    for (unsigned first = 32 * warp + at; first < cols + at; first += 32 * WARPS * AHEAD) {
        uint4 a[MATRICES][GROUPS][AHEAD], b[AHEAD], g[AHEAD];
#pragma unroll
        for (unsigned l = 0; l < AHEAD; l++) {
            const unsigned column = first + 32 * WARPS * l;
            // Behind the last column, the last ones once more, times zeros.
            const unsigned from = min(column, cols - 8);
#pragma unroll
            for (unsigned m = 0; m < MATRICES; m++) {
#pragma unroll
                for (unsigned i = 0; i < GROUPS; i++) {
                    const unsigned of = min(row + 8 * i, rows - 1);
                    a[m][i][l] = __ldg((const uint4*)(w[m] + (size_t)of * cols + from));
                }
            }
            b[l] = __ldg((const uint4*)(x + from));
            if (NORM) g[l] = __ldg((const uint4*)(gain + from));
            if (column >= cols) b[l] = zero;
        }
#pragma unroll
        for (unsigned l = 0; l < AHEAD; l++) {
            if (NORM) {
                Eight v = eight(b[l]), gains = eight(g[l]);
#pragma unroll
                for (unsigned i = 0; i < 8; i++) {
                    square = fmaf(v.v[i], v.v[i], square);
                    v.v[i] *= gains.v[i];
                }
                b[l] = bits_of(v);
            }
#pragma unroll
            for (unsigned m = 0; m < MATRICES; m++) {
#pragma unroll
                for (unsigned i = 0; i < GROUPS; i++) {
                    multiply(sums[m][i], b[l].x, 0, b[l].y, 0, a[m][i][l].x, a[m][i][l].y);
                    multiply(sums[m][i], b[l].z, 0, b[l].w, 0, a[m][i][l].z, a[m][i][l].w);
                }
            }
        }
    }
    if (NORM) {
        // The four lanes of a row have all columns of the warp.
        square += __shfl_xor_sync(~0u, square, 1);
        square += __shfl_xor_sync(~0u, square, 2);
        if (lane == 0) squares[warp] = square;
    }
    // The products' rows are all x; the first four lanes have the first of them, two columns each.
    if (lane < 4) {
#pragma unroll
        for (unsigned m = 0; m < MATRICES; m++) {
#pragma unroll
            for (unsigned i = 0; i < GROUPS; i++) {
                parts[m][8 * i + 2 * lane][warp] = sums[m][i].x;
                parts[m][8 * i + 2 * lane + 1][warp] = sums[m][i].y;
            }
        }
    }
    __syncthreads();
    if (threadIdx.x >= 8 * GROUPS || first_row + threadIdx.x >= rows) return;
    float totals[MATRICES] = {}, all = 0.0f;
#pragma unroll
    for (unsigned i = 0; i < WARPS; i++) {
#pragma unroll
        for (unsigned m = 0; m < MATRICES; m++) totals[m] += parts[m][threadIdx.x][i];
        if (NORM) all += squares[i];
    }
    if (NORM) {
        const float over = rsqrtf(all / (float)cols + epsilon);
#pragma unroll
        for (unsigned m = 0; m < MATRICES; m++) totals[m] *= over;
    }
    finish(first_row + threadIdx.x, totals);
}

// y = w x, 8 rows a block.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 4)
gemv(const BF16* w, const BF16* x, BF16* y, unsigned rows, unsigned cols) {
    rows_times<1, 1, WARPS, 4, false>({w}, x, nullptr, rows, cols, 0.0f,
                                      [&](unsigned row, const float* sums) { y[row] = rounded(sums[0]); });
}
// The same for many columns.
extern "C" __global__ void __launch_bounds__(32 * MANY, 2)
gemv_many(const BF16* w, const BF16* x, BF16* y, unsigned rows, unsigned cols) {
    rows_times<1, 1, MANY, 4, false>({w}, x, nullptr, rows, cols, 0.0f,
                                     [&](unsigned row, const float* sums) { y[row] = rounded(sums[0]); });
}
// The same in f32.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 4)
gemv_f32(const BF16* w, const BF16* x, float* y, unsigned rows, unsigned cols) {
    rows_times<1, 1, WARPS, 4, false>({w}, x, nullptr, rows, cols, 0.0f,
                                      [&](unsigned row, const float* sums) { y[row] = sums[0]; });
}

// Turns the heads of q and of k: the angle of number i and i + 32 is that of the tables.
extern "C" __global__ void __launch_bounds__(32)
rope(BF16* q, BF16* k, const float* cosines, const float* sines, unsigned heads, unsigned kv_heads, unsigned pos,
     unsigned positions) {
    const unsigned head = blockIdx.x, lane = threadIdx.x;
    if (head >= heads + kv_heads || pos >= positions) return;
    BF16* x = head < heads ? q + head * HEAD : k + (head - heads) * HEAD;
    float first = one(x[lane]), second = one(x[lane + 32]);
    float c = cosines[pos * 32 + lane], s = sines[pos * 32 + lane];
    x[lane] = rounded(first * c - second * s);
    x[lane + 32] = rounded(second * c + first * s);
}

// Row `pos` of the caches = k and v.
extern "C" __global__ void __launch_bounds__(256)
append(const BF16* k, const BF16* v, BF16* keys, BF16* values, unsigned width, unsigned pos, unsigned positions) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width || pos >= positions) return;
    keys[pos * width + i] = k[i];
    values[pos * width + i] = v[i];
}

// The softmax of some positions so far: the largest score, the sum of exponents, and eight numbers of the values' sum.
struct Part {
    float largest, total;
    Eight mixed;
    __device__ void scale_to(float most) {
        float factor = __expf(largest - most);
        largest = most;
        total *= factor;
#pragma unroll
        for (unsigned i = 0; i < 8; i++) mixed.v[i] *= factor;
    }
};

// out = softmax(scale * q . keys) values of head blockIdx.x over the positions 0 ..= pos: a team of eight lanes has each TEAMS-th
// position. With FUSED, q and the key of `pos` are turned here, and the first head of those that share keys appends key and value.
template <bool FUSED>
__device__ inline void attend(
    const BF16* __restrict__ q, const BF16* __restrict__ k, const BF16* __restrict__ v, const float* __restrict__ cosines,
    const float* __restrict__ sines, BF16* keys, BF16* values, BF16* __restrict__ out, unsigned heads, unsigned kv_heads,
    unsigned pos, unsigned positions, float scale) {
    __shared__ float partial[THREADS / 32][HEAD];
    __shared__ float largest[THREADS / 32], totals[THREADS / 32];
    if (pos >= positions) return;
    const unsigned head = blockIdx.x, sharing = heads / kv_heads, from = head / sharing;
    const unsigned width = kv_heads * HEAD, group = threadIdx.x / 8, at = threadIdx.x % 8 * 8;
    const uint4 zero = make_uint4(0, 0, 0, 0);
    const unsigned cached = FUSED ? pos : pos + 1;

    uint4 key_bits[ROUND], value_bits[ROUND];
    auto load = [&](unsigned base) {
#pragma unroll
        for (unsigned i = 0; i < ROUND; i++) {
            unsigned row = base + i * TEAMS + group, place = row * width + from * HEAD + at;
            key_bits[i] = row < cached ? *(const uint4*)(keys + place) : zero;
            value_bits[i] = row < cached ? *(const uint4*)(values + place) : zero;
        }
    };
    // The first positions are under way before the query is there.
    load(0);
    Eight query = eight(q + head * HEAD + at), key = {}, value = {};
    if (FUSED) {
        key = eight(k + from * HEAD + at);
        value = eight(v + from * HEAD + at);
        const unsigned other = (at + HEAD / 2) % HEAD, angle = pos * (HEAD / 2) + at % (HEAD / 2);
        const float sign = at < HEAD / 2 ? -1.0f : 1.0f;
        Eight query_other = eight(q + head * HEAD + other), key_other = eight(k + from * HEAD + other);
#pragma unroll
        for (unsigned i = 0; i < 8; i++) {
            float c = cosines[angle + i], s = sign * sines[angle + i];
            query.v[i] = query.v[i] * c + query_other.v[i] * s;
            key.v[i] = key.v[i] * c + key_other.v[i] * s;
        }
        if (head % sharing == 0 && group == 0) {
            store(keys + pos * width + from * HEAD + at, key);
            store(values + pos * width + from * HEAD + at, value);
        }
    }

    Part own = {-3.4e38f, 0.0f, {}};
    for (unsigned base = 0; base <= pos; base += ROUND * TEAMS) {
        if (base > 0) load(base);
        float scores[ROUND], most = own.largest;
#pragma unroll
        for (unsigned i = 0; i < ROUND; i++) {
            unsigned row = base + i * TEAMS + group;
            Eight now = FUSED && row == pos ? key : eight(key_bits[i]);
            float score = 0.0f;
#pragma unroll
            for (unsigned j = 0; j < 8; j++) score = fmaf(query.v[j], now.v[j], score);
            for (unsigned step = 4; step; step /= 2) score += __shfl_xor_sync(~0u, score, step);
            scores[i] = row <= pos ? score * scale : -3.4e38f;
            most = fmaxf(most, scores[i]);
        }
        own.scale_to(most);
#pragma unroll
        for (unsigned i = 0; i < ROUND; i++) {
            unsigned row = base + i * TEAMS + group;
            Eight now = FUSED && row == pos ? value : eight(value_bits[i]);
            float weight = row <= pos ? __expf(scores[i] - most) : 0.0f;
            own.total += weight;
#pragma unroll
            for (unsigned j = 0; j < 8; j++) own.mixed.v[j] = fmaf(weight, now.v[j], own.mixed.v[j]);
        }
    }
    // The four teams of a warp, then the warps.
    float most = fmaxf(own.largest, __shfl_xor_sync(~0u, own.largest, 8));
    most = fmaxf(most, __shfl_xor_sync(~0u, most, 16));
    own.scale_to(most);
    for (unsigned step = 8; step <= 16; step *= 2) {
        own.total += __shfl_xor_sync(~0u, own.total, step);
#pragma unroll
        for (unsigned j = 0; j < 8; j++) own.mixed.v[j] += __shfl_xor_sync(~0u, own.mixed.v[j], step);
    }
    const unsigned warp = threadIdx.x / 32;
    if (threadIdx.x % 32 < 8) {
#pragma unroll
        for (unsigned j = 0; j < 8; j++) partial[warp][at + j] = own.mixed.v[j];
        largest[warp] = own.largest;
        totals[warp] = own.total;
    }
    __syncthreads();
    if (threadIdx.x < HEAD) {
        float all = 0.0f, total = 0.0f, most = largest[0];
        for (unsigned i = 1; i < THREADS / 32; i++) most = fmaxf(most, largest[i]);
        for (unsigned i = 0; i < THREADS / 32; i++) {
            float factor = __expf(largest[i] - most);
            all += partial[i][threadIdx.x] * factor;
            total += totals[i] * factor;
        }
        out[head * HEAD + threadIdx.x] = rounded(all / total);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
attention(const BF16* q, const BF16* keys, const BF16* values, BF16* out, unsigned heads, unsigned kv_heads, unsigned pos,
          unsigned positions, float scale) {
    attend<false>(q, nullptr, nullptr, nullptr, nullptr, const_cast<BF16*>(keys), const_cast<BF16*>(values), out, heads,
                  kv_heads, pos, positions, scale);
}

// x += y, in one block.
extern "C" __global__ void __launch_bounds__(256) add_to(BF16* x, const BF16* y, unsigned n) {
    for (unsigned at = 8 * threadIdx.x; at + 7 < n; at += 8 * 256) {
        Eight v = eight(x + at), w = eight(y + at);
#pragma unroll
        for (unsigned i = 0; i < 8; i++) v.v[i] += w.v[i];
        store(x + at, v);
    }
}

// out = silu(gate) * up
extern "C" __global__ void __launch_bounds__(256)
silu_times(const BF16* gate, const BF16* up, BF16* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = rounded(silu(one(gate[i])) * one(up[i]));
}

// token = the first place of the largest number, in one block.
extern "C" __global__ void __launch_bounds__(1024) argmax(const float* logits, unsigned* token, unsigned n) {
    __shared__ float values[32];
    __shared__ unsigned places[32];
    float best = -3.4e38f;
    unsigned place = 0;
    auto take = [&](float v, unsigned at) {
        if (v > best || (v == best && at < place)) {
            best = v;
            place = at;
        }
    };
#pragma unroll 8
    for (unsigned i = threadIdx.x; i < n; i += 1024) take(logits[i], i);
    for (unsigned step = 16; step; step /= 2) {
        float v = __shfl_xor_sync(~0u, best, step);
        unsigned at = __shfl_xor_sync(~0u, place, step);
        take(v, at);
    }
    if (threadIdx.x % 32 == 0) {
        values[threadIdx.x / 32] = best;
        places[threadIdx.x / 32] = place;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned warp = 1; warp < 32; warp++) take(values[warp], places[warp]);
        *token = place;
    }
}

// y = w (x / rms(x) * gain), 8 rows a block.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 3)
norm_gemv(const BF16* w, const BF16* x, const BF16* gain, BF16* y, unsigned rows, unsigned cols, float epsilon) {
    rows_times<1, 1, WARPS, 4, true>({w}, x, gain, rows, cols, epsilon,
                                     [&](unsigned row, const float* sums) { y[row] = rounded(sums[0]); });
}
// The same in f32, 16 rows a block.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 2)
norm_gemv_f32(const BF16* w, const BF16* x, const BF16* gain, float* y, unsigned rows, unsigned cols, float epsilon) {
    rows_times<1, 2, WARPS, 4, true>({w}, x, gain, rows, cols, epsilon,
                                     [&](unsigned row, const float* sums) { y[row] = sums[0]; });
}

// y = silu(gate z) * (up z) of z = x / rms(x) * gain, 16 rows a block.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 4)
norm_gate_up(const BF16* gate, const BF16* up, const BF16* x, const BF16* gain, BF16* y, unsigned rows, unsigned cols,
             float epsilon) {
    rows_times<2, 2, WARPS, 2, true>(
        {gate, up}, x, gain, rows, cols, epsilon,
        [&](unsigned row, const float* sums) { y[row] = rounded(silu(sums[0]) * sums[1]); });
}

// y += w x, 8 rows a block.
template <unsigned WARPS>
__device__ inline void add_rows_times(const BF16* w, const BF16* x, BF16* y, unsigned rows, unsigned cols) {
    rows_times<1, 1, WARPS, 4, false>({w}, x, nullptr, rows, cols, 0.0f, [&](unsigned row, const float* sums) {
        y[row] = rounded(one(y[row]) + sums[0]);
    });
}
extern "C" __global__ void __launch_bounds__(32 * WARPS, 4)
gemv_add(const BF16* w, const BF16* x, BF16* y, unsigned rows, unsigned cols) { add_rows_times<WARPS>(w, x, y, rows, cols); }
// The same for many columns.
extern "C" __global__ void __launch_bounds__(32 * MANY, 2)
gemv_add_many(const BF16* w, const BF16* x, BF16* y, unsigned rows, unsigned cols) { add_rows_times<MANY>(w, x, y, rows, cols); }

extern "C" __global__ void __launch_bounds__(THREADS, 1)
rope_attention(const BF16* q, const BF16* k, const BF16* v, const float* cosines, const float* sines, BF16* keys,
               BF16* values, BF16* out, unsigned heads, unsigned kv_heads, unsigned pos, unsigned positions, float scale) {
    attend<true>(q, k, v, cosines, sines, keys, values, out, heads, kv_heads, pos, positions, scale);
}
