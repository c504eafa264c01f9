// The kernels of an encoder between its products: attention of a head, and a residual sum with its LayerNorm. Elements are f32 or bf16,
// sums are in f32.
//
// nvcc -O3 -arch=compute_80 -ptx encoder.cu

#include "norm.cuh"

// The numbers of a query, key or value of a head.
constexpr unsigned HEAD = 32;
// The most tokens.
constexpr unsigned TOKENS = 128;
// The warps of a block of attention, and the queries of each.
constexpr unsigned WARPS = 4, QUERIES = 4;
// The floats from one key to the next in shared memory: loads of 16 bytes by lanes with consecutive keys meet no bank conflict.
constexpr unsigned PITCH = HEAD + 4;
// The most elements of a row of LayerNorm, in groups of 4 for each of 32 lanes.
constexpr unsigned GROUPS = 4;

// The elements of 16 bytes, as floats in shared memory.
template <typename T> struct Line;
template <> struct Line<float> {
    static constexpr unsigned ELEMENTS = 4;
    __device__ static void put(float* to, uint4 bits) { *(uint4*)to = bits; }
};
template <> struct Line<BF16> {
    static constexpr unsigned ELEMENTS = 8;
    __device__ static void put(float* to, uint4 bits) {
        *(float4*)to = make_float4(low(bits.x), high(bits.x), low(bits.y), high(bits.y));
        *(float4*)(to + 4) = make_float4(low(bits.z), high(bits.z), low(bits.w), high(bits.w));
    }
};

__device__ inline void add(float4& to, float factor, float4 v) {
    to.x = fmaf(factor, v.x, to.x);
    to.y = fmaf(factor, v.y, to.y);
    to.z = fmaf(factor, v.z, to.z);
    to.w = fmaf(factor, v.w, to.w);
}
__device__ inline float4 over_groups(float4 v) {
    for (unsigned step = 8; step <= 16; step *= 2) {
        v.x += __shfl_xor_sync(~0u, v.x, step);
        v.y += __shfl_xor_sync(~0u, v.y, step);
        v.z += __shfl_xor_sync(~0u, v.z, step);
        v.w += __shfl_xor_sync(~0u, v.w, step);
    }
    return v;
}

// out = softmax(scale * q kᵀ) v of head blockIdx.x, for the 16 queries from 16 * blockIdx.y on. A row of qkv has the queries of all
// heads, then the keys, then the values.
template <typename T>
__device__ void attend(const T* __restrict__ qkv, T* __restrict__ out, unsigned n, unsigned heads, float scale) {
    __shared__ __align__(16) float keys[TOKENS * PITCH];
    __shared__ __align__(16) float values[TOKENS * HEAD];
    __shared__ __align__(16) float queries[WARPS * QUERIES * HEAD];
    __shared__ float4 weights[WARPS * TOKENS];
    constexpr unsigned LINES = HEAD / Line<T>::ELEMENTS;

    if (n > TOKENS) return;
    const unsigned width = heads * HEAD, column = blockIdx.x * HEAD;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned first = blockIdx.y * (WARPS * QUERIES);
    const unsigned padded = (n + 31) / 32 * 32;
    const uint4 zero = make_uint4(0, 0, 0, 0);

    if (threadIdx.x < WARPS * QUERIES * LINES) {
        unsigned row = threadIdx.x / LINES, at = threadIdx.x % LINES * Line<T>::ELEMENTS;
        const T* from = qkv + (first + row) * (3 * width) + column + at;
        Line<T>::put(queries + row * HEAD + at, first + row < n ? *(const uint4*)from : zero);
    }
#pragma unroll 4
    for (unsigned line = threadIdx.x; line < padded * LINES; line += WARPS * 32) {
        unsigned row = line / LINES, at = line % LINES * Line<T>::ELEMENTS;
        const T* from = qkv + row * (3 * width) + width + column + at;
        uint4 key = zero, value = zero;
        if (row < n) {
            key = *(const uint4*)from;
            value = *(const uint4*)(from + width);
        }
        Line<T>::put(keys + row * PITCH + at, key);
        Line<T>::put(values + row * HEAD + at, value);
    }
    __syncthreads();

    // A lane has the keys lane, lane + 32, .. of all four queries of its warp.
    float scores[QUERIES][TOKENS / 32] = {};
#pragma unroll
    for (unsigned at = 0; at < HEAD; at += 4) {
        float4 q[QUERIES];
#pragma unroll
        for (unsigned i = 0; i < QUERIES; i++) q[i] = load(queries + (warp * QUERIES + i) * HEAD + at);
#pragma unroll
        for (unsigned tile = 0; tile < TOKENS / 32; tile++) {
            if (tile * 32 >= n) break;
            float4 key = load(keys + (tile * 32 + lane) * PITCH + at);
#pragma unroll
            for (unsigned i = 0; i < QUERIES; i++) scores[i][tile] = dot(q[i], key, scores[i][tile]);
        }
    }
    float total[QUERIES];
#pragma unroll
    for (unsigned i = 0; i < QUERIES; i++) {
        float largest = -3.4e38f;
#pragma unroll
        for (unsigned tile = 0; tile < TOKENS / 32; tile++) {
            if (tile * 32 + lane < n) largest = fmaxf(largest, scores[i][tile]);
        }
        largest = most(largest);
        total[i] = 0.0f;
#pragma unroll
        for (unsigned tile = 0; tile < TOKENS / 32; tile++) {
            bool inside = tile * 32 + lane < n;
            scores[i][tile] = inside ? __expf((scores[i][tile] - largest) * scale) : 0.0f;
            total[i] += scores[i][tile];
        }
        total[i] = sum(total[i]);
    }
#pragma unroll
    for (unsigned tile = 0; tile < TOKENS / 32; tile++) {
        if (tile * 32 >= n) break;
        weights[warp * TOKENS + tile * 32 + lane] =
            make_float4(scores[0][tile], scores[1][tile], scores[2][tile], scores[3][tile]);
    }
    __syncwarp();

    // A group of eight lanes has every fourth key, and a lane four numbers of the values.
    const unsigned group = lane / 8, at = lane % 8 * 4;
    float4 mixed[QUERIES] = {};
#pragma unroll 4
    for (unsigned key = group; key < padded; key += 4) {
        float4 value = load(values + key * HEAD + at), weight = weights[warp * TOKENS + key];
        add(mixed[0], weight.x, value);
        add(mixed[1], weight.y, value);
        add(mixed[2], weight.z, value);
        add(mixed[3], weight.w, value);
    }
#pragma unroll
    for (unsigned i = 0; i < QUERIES; i++) mixed[i] = over_groups(mixed[i]);
    float4 own = group == 0 ? mixed[0] : group == 1 ? mixed[1] : group == 2 ? mixed[2] : mixed[3];
    float over = group == 0 ? total[0] : group == 1 ? total[1] : group == 2 ? total[2] : total[3];
    over = 1.0f / over;
    const unsigned row = first + warp * QUERIES + group;
    if (row < n) {
        store(out + row * width + column + at, make_float4(own.x * over, own.y * over, own.z * over, own.w * over));
    }
}

extern "C" __global__ void __launch_bounds__(WARPS * 32)
attention_f32(const float* qkv, float* out, unsigned n, unsigned heads, float scale) {
    attend(qkv, out, n, heads, scale);
}
extern "C" __global__ void __launch_bounds__(WARPS * 32)
attention_bf16(const BF16* qkv, BF16* out, unsigned n, unsigned heads, float scale) {
    attend(qkv, out, n, heads, scale);
}

// out = LayerNorm(x + residual) * gain + bias, a warp a row of 4 * fours elements, 512 at most.
template <typename T>
__device__ void add_norm(
    const T* __restrict__ x, const T* __restrict__ residual, const T* __restrict__ gain, const T* __restrict__ bias,
    T* __restrict__ out, unsigned rows, unsigned fours, float epsilon) {
    const unsigned row = blockIdx.x, from = row * (4 * fours);
    if (row >= rows || fours > GROUPS * 32) return;
    normalize<GROUPS>(x + from, residual + from, gain, bias, fours, epsilon,
                      [&](unsigned at, float4 v) { store(out + from + at, v); });
}

extern "C" __global__ void __launch_bounds__(32)
add_norm_f32(const float* x, const float* residual, const float* gain, const float* bias, float* out,
             unsigned rows, unsigned fours, float epsilon) {
    add_norm(x, residual, gain, bias, out, rows, fours, epsilon);
}
extern "C" __global__ void __launch_bounds__(32)
add_norm_bf16(const BF16* x, const BF16* residual, const BF16* gain, const BF16* bias, BF16* out,
              unsigned rows, unsigned fours, float epsilon) {
    add_norm(x, residual, gain, bias, out, rows, fours, epsilon);
}
