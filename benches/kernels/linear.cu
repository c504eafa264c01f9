// Products of rows in bf16 with weights by tensor cores, with bias and, where asked for, LayerNorm in front and gelu (by tanh) behind.
//
// nvcc -O3 -arch=compute_80 -ptx linear.cu

#include "norm.cuh"
#include "tensor.cuh"

// The most elements of a row that is normalised, and from one such row to the next in shared memory: loads meet no bank conflict.
constexpr unsigned MOST = 512, PITCH = MOST + 32;

__device__ inline float gelu(float x) {
    float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
    return x / (1.0f + __expf(-2.0f * inner));
}

template <bool GELU> struct Result {
    BF16* out;
    unsigned m, n;
    __device__ void operator()(unsigned r, unsigned column, float4 v) const {
        if (GELU) v = make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w));
        if (column + 1 >= n) return;
        if (r < m) *(unsigned*)(out + r * n + column) = pair(v.x, v.y);
        if (r + 8 < m) *(unsigned*)(out + (r + 8) * n + column) = pair(v.z, v.w);
    }
};

// out = x wᵀ + bias of m rows of 32 * chunks
template <unsigned MT, unsigned NT, unsigned WIDE, unsigned SPLIT, unsigned AHEAD>
__device__ inline void linear(
    const BF16* __restrict__ x, const BF16* w, const BF16* bias, BF16* out, unsigned m, unsigned n, unsigned chunks) {
    __shared__ Shared<MT, NT, WIDE, SPLIT> shared;
    auto row = [&](unsigned j, unsigned step) { return x + (j * chunks + step) * 32; };
    rows_times<AHEAD, MT, NT, WIDE, SPLIT>(shared, [] {}, row, w, bias, m, n, chunks, Result<false>{out, m, n});
}

// h = LayerNorm(x + residual) * gain + shift of m rows of 32 * chunks, out = h wᵀ + bias. Each block normalises its rows for itself; the first
// column of blocks stores them.
template <unsigned MT, unsigned NT, unsigned WIDE, unsigned SPLIT, unsigned AHEAD, bool GELU>
__device__ inline void norm_linear(
    const BF16* __restrict__ x, const BF16* __restrict__ residual, const BF16* __restrict__ gain, const BF16* __restrict__ shift,
    BF16* __restrict__ h, const BF16* w, const BF16* bias, BF16* out, unsigned m, unsigned n, unsigned chunks, float epsilon) {
    __shared__ union {
        Shared<MT, NT, WIDE, SPLIT> sums;
        BF16 rows[16 * MT][PITCH];
    } shared;
    if (32 * chunks > MOST) return;
    const unsigned first = blockIdx.y * (16 * MT);
    auto prepare = [&] {
#pragma unroll 2
        for (unsigned row = threadIdx.x / 32; row < 16 * MT; row += WIDE * SPLIT) {
            if (first + row >= m) break;
            const unsigned from = (first + row) * (32 * chunks);
            normalize<MOST / 128>(x + from, residual + from, gain, shift, 8 * chunks, epsilon, [&](unsigned at, float4 v) {
                store(shared.rows[row] + at, v);
                if (blockIdx.x == 0) store(h + from + at, v);
            });
        }
        __syncthreads();
    };
    auto row = [&](unsigned j, unsigned step) { return (const BF16*)shared.rows[j - first] + 32 * step; };
    rows_times<AHEAD, MT, NT, WIDE, SPLIT>(shared.sums, prepare, row, w, bias, m, n, chunks, Result<GELU>{out, m, n});
}

// For few rows: 16 rows and 8 columns a block, or 16 columns behind a norm; the depth in 12, 24 or 16 parts.
extern "C" __global__ void __launch_bounds__(384)
linear_narrow(const BF16* x, const BF16* w, const BF16* bias, BF16* out, unsigned m, unsigned n, unsigned chunks) {
    linear<1, 1, 1, 12, 1>(x, w, bias, out, m, n, chunks);
}
extern "C" __global__ void __launch_bounds__(768, 1)
linear_narrow_deep(const BF16* x, const BF16* w, const BF16* bias, BF16* out, unsigned m, unsigned n, unsigned chunks) {
    linear<1, 1, 1, 24, 2>(x, w, bias, out, m, n, chunks);
}
extern "C" __global__ void __launch_bounds__(512, 1)
norm_linear_narrow(const BF16* x, const BF16* residual, const BF16* gain, const BF16* shift, BF16* h, const BF16* w, const BF16* bias,
                   BF16* out, unsigned m, unsigned n, unsigned chunks, float epsilon) {
    norm_linear<1, 2, 1, 16, 1, false>(x, residual, gain, shift, h, w, bias, out, m, n, chunks, epsilon);
}
extern "C" __global__ void __launch_bounds__(512, 1)
norm_linear_gelu_narrow(const BF16* x, const BF16* residual, const BF16* gain, const BF16* shift, BF16* h, const BF16* w,
                        const BF16* bias, BF16* out, unsigned m, unsigned n, unsigned chunks, float epsilon) {
    norm_linear<1, 2, 1, 16, 1, true>(x, residual, gain, shift, h, w, bias, out, m, n, chunks, epsilon);
}
// For more: 32 rows and 32 columns a block, 16 for a large depth, 64 behind a norm; the depth in 4, 16 or 4 parts.
extern "C" __global__ void __launch_bounds__(256, 2)
linear_wide(const BF16* x, const BF16* w, const BF16* bias, BF16* out, unsigned m, unsigned n, unsigned chunks) {
    linear<2, 2, 2, 4, 3>(x, w, bias, out, m, n, chunks);
}
extern "C" __global__ void __launch_bounds__(512, 1)
linear_wide_deep(const BF16* x, const BF16* w, const BF16* bias, BF16* out, unsigned m, unsigned n, unsigned chunks) {
    linear<2, 2, 1, 16, 3>(x, w, bias, out, m, n, chunks);
}
extern "C" __global__ void __launch_bounds__(512, 1)
norm_linear_wide(const BF16* x, const BF16* residual, const BF16* gain, const BF16* shift, BF16* h, const BF16* w, const BF16* bias,
                 BF16* out, unsigned m, unsigned n, unsigned chunks, float epsilon) {
    norm_linear<2, 2, 4, 4, 3, false>(x, residual, gain, shift, h, w, bias, out, m, n, chunks, epsilon);
}
extern "C" __global__ void __launch_bounds__(512, 1)
norm_linear_gelu_wide(const BF16* x, const BF16* residual, const BF16* gain, const BF16* shift, BF16* h, const BF16* w,
                      const BF16* bias, BF16* out, unsigned m, unsigned n, unsigned chunks, float epsilon) {
    norm_linear<2, 2, 4, 4, 3, true>(x, residual, gain, shift, h, w, bias, out, m, n, chunks, epsilon);
}
