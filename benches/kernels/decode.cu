// The kernels of a decode step of a Llama: one thing a kernel, and some of them fused. Elements are bf16, sums are in f32.
// Widths are multiples of 8.
//
// nvcc -O3 -arch=compute_80 -ptx decode.cu

#include "bf16.cuh"

// The numbers of a query, key or value of a head.
constexpr unsigned HEAD = 64;
// The warps of a block of a product with a vector, and the columns of a step of a warp.
constexpr unsigned WARPS = 8, STEP = 256;
// The rows of a block; those of a product with many columns, of one with two matrices, and of one that is batched: of six rows a batch has as
// many blocks on a multiprocessor as the kernel alone. The kernels say how many blocks a multiprocessor has to hold: for more of them
// the assembler would have fewer loads under way.
constexpr unsigned ROWS = 4, MANY = 8, PAIRS = 2, BATCHED = 6;
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
extern "C" __global__ void __launch_bounds__(256, 1)
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

// Weights: each is read once, so that they need no place in the first-level cache.
__device__ inline uint4 weights(const BF16* p) {
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}

// The products of ROWS rows of MATRICES matrices with x, which `finish` is given with the row. Each warp has every so many-th step of the
// columns, of all rows; a lane has 16 bytes of each row, all of a step under way at once. With NORM, x / rms(x) * gain is in the place of
// x: its factor is the same for all columns, and is applied to the sums.
template <unsigned MATRICES, unsigned ROWS, bool NORM, typename Finish>
__device__ inline void rows_times(
    const BF16* const (&w)[MATRICES], const BF16* __restrict__ x, const BF16* __restrict__ gain, unsigned rows, unsigned cols,
    float epsilon, Finish finish) {
    __shared__ float parts[MATRICES][ROWS][WARPS + 1];
    __shared__ float squares[WARPS];
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, first_row = blockIdx.x * ROWS;
    float sums[MATRICES][ROWS] = {}, square = 0.0f;
    const BF16* of_row[MATRICES][ROWS];
#pragma unroll
    for (unsigned m = 0; m < MATRICES; m++) {
#pragma unroll
        for (unsigned i = 0; i < ROWS; i++) of_row[m][i] = w[m] + (size_t)min(first_row + i, rows - 1) * cols;
    }
#pragma unroll 1
    for (unsigned column = STEP * warp + 8 * lane; column + 7 < cols; column += STEP * WARPS) {
        uint4 a[MATRICES][ROWS];
#pragma unroll
        for (unsigned m = 0; m < MATRICES; m++) {
#pragma unroll
            for (unsigned i = 0; i < ROWS; i++) a[m][i] = weights(of_row[m][i] + column);
        }
        Eight v = eight(x + column);
        if (NORM) {
            const Eight gains = eight(gain + column);
#pragma unroll
            for (unsigned i = 0; i < 8; i++) {
                square = fmaf(v.v[i], v.v[i], square);
                v.v[i] *= gains.v[i];
            }
        }
#pragma unroll
        for (unsigned m = 0; m < MATRICES; m++) {
#pragma unroll
            for (unsigned i = 0; i < ROWS; i++) {
                const Eight of = eight(a[m][i]);
#pragma unroll
                for (unsigned j = 0; j < 8; j++) sums[m][i] = fmaf(of.v[j], v.v[j], sums[m][i]);
            }
        }
    }
    if (NORM) {
        square = sum(square);
        if (lane == 0) squares[warp] = square;
    }
#pragma unroll
    for (unsigned m = 0; m < MATRICES; m++) {
#pragma unroll
        for (unsigned i = 0; i < ROWS; i++) {
            const float total = sum(sums[m][i]);
            if (lane == 0) parts[m][i][warp] = total;
        }
    }
    __syncthreads();
    if (threadIdx.x >= ROWS || first_row + threadIdx.x >= rows) return;
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

// y = w x, 6 rows a block.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 4)
gemv(const BF16* w, const BF16* x, BF16* y, unsigned rows, unsigned cols) {
    rows_times<1, BATCHED, false>({w}, x, nullptr, rows, cols, 0.0f,
                               [&](unsigned row, const float* sums) { y[row] = rounded(sums[0]); });
}
// The same for many columns, 8 rows a block.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 4)
gemv_many(const BF16* w, const BF16* x, BF16* y, unsigned rows, unsigned cols) {
    rows_times<1, MANY, false>({w}, x, nullptr, rows, cols, 0.0f,
                               [&](unsigned row, const float* sums) { y[row] = rounded(sums[0]); });
}
// The same in f32, 4 rows a block.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 5)
gemv_f32(const BF16* w, const BF16* x, float* y, unsigned rows, unsigned cols) {
    rows_times<1, ROWS, false>({w}, x, nullptr, rows, cols, 0.0f,
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
extern "C" __global__ void __launch_bounds__(256, 1) add_to(BF16* x, const BF16* y, unsigned n) {
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
extern "C" __global__ void __launch_bounds__(1024, 1) argmax(const float* logits, unsigned* token, unsigned n) {
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
    const unsigned fours = n / 4 * 4;
    for (unsigned first = 4 * threadIdx.x; first < fours; first += 8 * 4096) {
        float4 v[8];
#pragma unroll
        for (unsigned i = 0; i < 8; i++) v[i] = first + 4096 * i < fours ? *(const float4*)(logits + first + 4096 * i) : make_float4(0, 0, 0, 0);
#pragma unroll
        for (unsigned i = 0; i < 8; i++) {
            const unsigned at = first + 4096 * i;
            if (at >= fours) break;
            take(v[i].x, at);
            take(v[i].y, at + 1);
            take(v[i].z, at + 2);
            take(v[i].w, at + 3);
        }
    }
    if (fours + threadIdx.x < n) take(logits[fours + threadIdx.x], fours + threadIdx.x);
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

// y = w (x / rms(x) * gain), 4 rows a block.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 5)
norm_gemv(const BF16* w, const BF16* x, const BF16* gain, BF16* y, unsigned rows, unsigned cols, float epsilon) {
    rows_times<1, ROWS, true>({w}, x, gain, rows, cols, epsilon,
                              [&](unsigned row, const float* sums) { y[row] = rounded(sums[0]); });
}
// The same in f32.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 5)
norm_gemv_f32(const BF16* w, const BF16* x, const BF16* gain, float* y, unsigned rows, unsigned cols, float epsilon) {
    rows_times<1, ROWS, true>({w}, x, gain, rows, cols, epsilon,
                              [&](unsigned row, const float* sums) { y[row] = sums[0]; });
}

// y = silu(gate z) * (up z) of z = x / rms(x) * gain, 2 rows a block.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 5)
norm_gate_up(const BF16* gate, const BF16* up, const BF16* x, const BF16* gain, BF16* y, unsigned rows, unsigned cols,
             float epsilon) {
    rows_times<2, PAIRS, true>({gate, up}, x, gain, rows, cols, epsilon,
                              [&](unsigned row, const float* sums) { y[row] = rounded(silu(sums[0]) * sums[1]); });
}

// y += w x, 4 rows a block.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 5)
gemv_add(const BF16* w, const BF16* x, BF16* y, unsigned rows, unsigned cols) {
    rows_times<1, ROWS, false>({w}, x, nullptr, rows, cols, 0.0f,
                               [&](unsigned row, const float* sums) { y[row] = rounded(one(y[row]) + sums[0]); });
}
// The same for many columns, 8 rows a block.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 4)
gemv_add_many(const BF16* w, const BF16* x, BF16* y, unsigned rows, unsigned cols) {
    rows_times<1, MANY, false>({w}, x, nullptr, rows, cols, 0.0f,
                               [&](unsigned row, const float* sums) { y[row] = rounded(one(y[row]) + sums[0]); });
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
rope_attention(const BF16* q, const BF16* k, const BF16* v, const float* cosines, const float* sines, BF16* keys,
               BF16* values, BF16* out, unsigned heads, unsigned kv_heads, unsigned pos, unsigned positions, float scale) {
    attend<true>(q, k, v, cosines, sines, keys, values, out, heads, kv_heads, pos, positions, scale);
}
