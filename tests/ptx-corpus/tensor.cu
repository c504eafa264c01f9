// Half and bfloat16, tensor cores, asynchronous copies: compute capability 8.0 on.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void half_axpy(__half a, const __half2 *x, __half2 *y, int n2) {
    int i = INDEX;
    if (i < n2) y[i] = __hfma2(__half2half2(a), x[i], y[i]);
}

extern "C" __global__ void bf16_to_float(const __nv_bfloat16 *x, float *out, int n) {
    int i = INDEX;
    if (i < n) out[i] = __bfloat162float(x[i]);
}

extern "C" __global__ void half_residual_norm(const __half *x, __half *residual, const __half *w, __half *out, int cols, float eps) {
    __shared__ float part[32];
    size_t row = (size_t)blockIdx.x * cols;
    float q = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        float v = __half2float(x[row + i]) + __half2float(residual[row + i]);
        residual[row + i] = __float2half(v);
        q += v * v;
    }
    for (int d = 16; d > 0; d >>= 1) q += __shfl_xor_sync(0xffffffffu, q, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = q;
    __syncthreads();
    q = 0;
    for (int i = 0; i < (blockDim.x + 31) / 32; ++i) q += part[i];
    float r = rsqrtf(q / cols + eps);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        out[row + i] = __float2half(__half2float(residual[row + i]) * r * __half2float(w[i]));
}

extern "C" __global__ void dequantise_int4(const unsigned *packed, const __half *scales, __half2 *out, int n) {
    int i = INDEX;
    if (i >= n) return;
    unsigned p = packed[i];
    __half2 s = __half2half2(scales[i / 16]);
    for (int k = 0; k < 4; ++k) {
        __half2 v = __floats2half2_rn((float)((p >> (8 * k)) & 15) - 8.0f, (float)((p >> (8 * k + 4)) & 15) - 8.0f);
        out[i * 4 + k] = __hmul2(v, s);
    }
}

extern "C" __global__ void half_atomic_add(const __half2 *x, __half2 *sum, int n) {
    int i = INDEX;
    if (i < n) atomicAdd(sum, x[i]);
}

extern "C" __global__ void wmma_matmul(const __half *a, const __half *b, float *c, int m, int n, int k) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    int row = blockIdx.y * 16, col = blockIdx.x * 16;
    for (int t = 0; t < k; t += 16) {
        wmma::load_matrix_sync(fa, a + (size_t)row * k + t, k);
        wmma::load_matrix_sync(fb, b + (size_t)t * n + col, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + (size_t)row * n + col, fc, n, wmma::mem_row_major);
}

// The accumulator is loaded from c first.
extern "C" __global__ void wmma_accumulate(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n, int k) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::load_matrix_sync(fc, c, n, wmma::mem_row_major);
    for (int t = 0; t < k; t += 16) {
        wmma::load_matrix_sync(fa, a + t, k);
        wmma::load_matrix_sync(fb, b + t, k);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c, fc, n, wmma::mem_row_major);
}

static __device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// cp.async into shared memory, ldmatrix, mma.sync.
extern "C" __global__ void __launch_bounds__(32) mma_async_matmul(const __half *a, const __half *b, float *c, int k) {
    __shared__ __align__(16) __half as[2][16][16], bs[2][16][8];
    float d[4] = {};
    int lane = threadIdx.x, stages = k / 16;
    auto fetch = [&](int stage) {
        int at = stage & 1;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&as[at][lane / 2][lane % 2 * 8])), "l"(a + (size_t)(lane / 2) * k + stage * 16 + lane % 2 * 8));
        if (lane < 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&bs[at][lane][0])), "l"(b + (size_t)(stage * 16 + lane) * 8));
        asm volatile("cp.async.commit_group;");
    };
    fetch(0);
    for (int s = 0; s < stages; ++s) {
        if (s + 1 < stages) fetch(s + 1);
        if (s + 1 < stages) asm volatile("cp.async.wait_group 1;");
        else asm volatile("cp.async.wait_group 0;");
        __syncwarp();
        unsigned fa[4], fb[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(shared_address(&as[s & 1][lane % 16][lane / 16 * 8])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(shared_address(&bs[s & 1][lane % 16][0])));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
        __syncwarp();
    }
    *(float2 *)&c[(lane / 4) * 8 + lane % 4 * 2] = make_float2(d[0], d[1]);
    *(float2 *)&c[(lane / 4 + 8) * 8 + lane % 4 * 2] = make_float2(d[2], d[3]);
}

extern "C" __global__ void int8_dot(const int *a, const int *b, int *c, int n, int k4) {
    int i = INDEX;
    if (i >= n) return;
    int s = 0;
    for (int j = 0; j < k4; ++j) s = __dp4a(a[j], b[(size_t)i * k4 + j], s);
    c[i] = s;
}
