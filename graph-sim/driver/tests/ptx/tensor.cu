// Halves, asynchronous copies and matrix instructions.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <mma.h>

extern "C" __global__ void half_axpy(__half a, const __half* x, __half* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma(a, x[i], y[i]);
}

extern "C" __global__ void half2_ops(const __half2* x, const __half2* y, __half2* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 v = __hmul2(x[i], y[i]);
    v = __hadd2(v, __float2half2_rn(0.5f));
    v = __hmax2(v, __hneg2(v));
    out[i] = __hgt2(x[i], y[i]).x == __float2half(1.0f) ? v : h2sqrt(v);
}

extern "C" __global__ void bf16_gelu(const __nv_bfloat16* x, __nv_bfloat16* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = __bfloat162float(x[i]);
    y[i] = __float2bfloat16(0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v))));
}

// One warp a 16 x 8 tile of c = a * b, k in steps of 16, staged through shared memory.
extern "C" __global__ void mma_f16(const __half* a, const __half* b, float* c, int n, int k) {
    __shared__ __align__(16) __half ta[16][16], tb[16][8];
    int lane = threadIdx.x, row = blockIdx.y * 16, col = blockIdx.x * 8;
    float d[4] = {0, 0, 0, 0};
    for (int s = 0; s < k; s += 16) {
        {
            unsigned to = (unsigned)__cvta_generic_to_shared(&ta[lane / 2][lane % 2 * 8]);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(&a[(row + lane / 2) * k + s + lane % 2 * 8]));
        }
        if (lane < 16) {
            unsigned to = (unsigned)__cvta_generic_to_shared(&tb[lane][0]);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(&b[(s + lane) * n + col]));
        }
        asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;");
        __syncthreads();
        unsigned ra[4], rb[2];
        unsigned pa = (unsigned)__cvta_generic_to_shared(&ta[lane % 16][lane / 16 * 8]);
        unsigned pb = (unsigned)__cvta_generic_to_shared(&tb[lane % 16][0]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
        __syncthreads();
    }
    int r = row + lane / 4, q = col + lane % 4 * 2;
    c[r * n + q] = d[0];
    c[r * n + q + 1] = d[1];
    c[(r + 8) * n + q] = d[2];
    c[(r + 8) * n + q + 1] = d[3];
}

extern "C" __global__ void mma_s8(const signed char* a, const signed char* b, int* c) {
    // a: 16 x 32 by rows, b: 32 x 8 by columns.
    int lane = threadIdx.x, g = lane / 4, t = lane % 4, d[4] = {1, 2, 3, 4};
    const int *wa = (const int*)a, *wb = (const int*)b;
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(wa[g * 8 + t]), "r"(wa[(g + 8) * 8 + t]), "r"(wa[g * 8 + t + 4]), "r"(wa[(g + 8) * 8 + t + 4]), "r"(wb[g * 8 + t]), "r"(wb[g * 8 + t + 4]));
    c[g * 8 + t * 2] = d[0];
    c[g * 8 + t * 2 + 1] = d[1];
    c[(g + 8) * 8 + t * 2] = d[2];
    c[(g + 8) * 8 + t * 2 + 1] = d[3];
}

extern "C" __global__ void wmma_f16(const __half* a, const __half* b, float* c, int n, int k) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0.0f);
    int row = blockIdx.y * 16, col = blockIdx.x * 16;
    for (int s = 0; s < k; s += 16) {
        load_matrix_sync(fa, a + row * k + s, k);
        load_matrix_sync(fb, b + col * k + s, k);
        mma_sync(fc, fa, fb, fc);
    }
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 2.0f;
    store_matrix_sync(c + row * n + col, fc, n, mem_row_major);
}
