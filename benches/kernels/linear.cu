// Products of rows in bf16 with weights by tensor cores, with bias and, where asked for, gelu (by tanh).
//
// nvcc -O3 -arch=compute_80 -ptx linear.cu

#include "tensor.cuh"

__device__ inline float gelu(float x) {
    float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
    return x / (1.0f + __expf(-2.0f * inner));
}

// out = x wᵀ + bias of m rows of 32 * chunks
template <unsigned MT, unsigned NT, unsigned WIDE, unsigned SPLIT, unsigned AHEAD, bool GELU>
__device__ inline void linear(
    const BF16* __restrict__ x, const BF16* w, const BF16* bias, BF16* out, unsigned m, unsigned n, unsigned chunks) {
    auto row = [&](unsigned j, unsigned step) { return x + (j * chunks + step) * 32; };
    rows_times<MT, NT, WIDE, SPLIT, AHEAD>(row, w, bias, m, n, chunks, [&](unsigned r, unsigned column, float4 v) {
        if (GELU) v = make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w));
        if (column + 1 >= n) return;
        if (r < m) *(unsigned*)(out + r * n + column) = pair(v.x, v.y);
        if (r + 8 < m) *(unsigned*)(out + (r + 8) * n + column) = pair(v.z, v.w);
    });
}

// For few rows: 16 rows and 8 columns a block, the depth in 12 or 24 parts.
extern "C" __global__ void __launch_bounds__(384)
linear_narrow(const BF16* x, const BF16* w, const BF16* bias, BF16* out, unsigned m, unsigned n, unsigned chunks) {
    linear<1, 1, 1, 12, 1, false>(x, w, bias, out, m, n, chunks);
}
extern "C" __global__ void __launch_bounds__(384)
linear_narrow_gelu(const BF16* x, const BF16* w, const BF16* bias, BF16* out, unsigned m, unsigned n, unsigned chunks) {
    linear<1, 1, 1, 12, 1, true>(x, w, bias, out, m, n, chunks);
}
extern "C" __global__ void __launch_bounds__(768, 1)
linear_narrow_deep(const BF16* x, const BF16* w, const BF16* bias, BF16* out, unsigned m, unsigned n, unsigned chunks) {
    linear<1, 1, 1, 24, 2, false>(x, w, bias, out, m, n, chunks);
}
// For more: 32 rows and 32 columns a block, the depth in 4 parts.
extern "C" __global__ void __launch_bounds__(256)
linear_wide(const BF16* x, const BF16* w, const BF16* bias, BF16* out, unsigned m, unsigned n, unsigned chunks) {
    linear<2, 2, 2, 4, 1, false>(x, w, bias, out, m, n, chunks);
}
extern "C" __global__ void __launch_bounds__(256)
linear_wide_gelu(const BF16* x, const BF16* w, const BF16* bias, BF16* out, unsigned m, unsigned n, unsigned chunks) {
    linear<2, 2, 2, 4, 1, true>(x, w, bias, out, m, n, chunks);
}
