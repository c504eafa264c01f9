// The kernels of conjugate gradients on a 2D grid, and a stencil on a 3D one, in f32.
//
// nvcc -O3 -arch=compute_80 -ptx grids.cu

constexpr unsigned THREADS = 256;

// Sum over a block of 256 threads, for all of them.
__device__ inline float block_sum(float v) {
    __shared__ float shared[THREADS / 32];
    for (unsigned step = 16; step; step /= 2) v += __shfl_xor_sync(~0u, v, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
    __syncthreads();
    float all = 0.0f;
#pragma unroll
    for (unsigned i = 0; i < THREADS / 32; i++) all += shared[i];
    return all;
}
__device__ inline float all_of(const float* parts, unsigned count) {
    float v = 0.0f;
    for (unsigned i = threadIdx.x; i < count; i += THREADS) v += parts[i];
    return block_sum(v);
}

// q = A p of the Laplacian with zeros around the grid, and parts[block] = p . q of the block.
extern "C" __global__ void __launch_bounds__(THREADS)
laplace(const float* p, float* q, float* parts, unsigned nx, unsigned ny, unsigned blocks) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    float product = 0.0f;
    if (i < nx * ny) {
        const unsigned x = i % nx, y = i / nx;
        const float own = p[i];
        float around = 0.0f;
        if (x > 0) around += p[i - 1];
        if (x + 1 < nx) around += p[i + 1];
        if (y > 0) around += p[i - nx];
        if (y + 1 < ny) around += p[i + nx];
        const float result = 4.0f * own - around;
        q[i] = result;
        product = own * result;
    }
    product = block_sum(product);
    if (threadIdx.x == 0 && blockIdx.x < blocks) parts[blockIdx.x] = product;
}

// parts[block] = r . r of the block.
extern "C" __global__ void __launch_bounds__(THREADS) square(const float* r, float* parts, unsigned n, unsigned blocks) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    float v = i < n ? r[i] : 0.0f;
    v = block_sum(v * v);
    if (threadIdx.x == 0 && blockIdx.x < blocks) parts[blockIdx.x] = v;
}

// With alpha = (r . r) / (p . q): x += alpha p, r -= alpha q, and the parts of the new r . r.
extern "C" __global__ void __launch_bounds__(THREADS)
advance(float* x, float* r, const float* p, const float* q, const float* rr, const float* pq, float* parts, unsigned n,
        unsigned blocks) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    const float alpha = all_of(rr, blocks) / all_of(pq, blocks);
    float v = 0.0f;
    if (i < n) {
        x[i] += alpha * p[i];
        v = r[i] - alpha * q[i];
        r[i] = v;
    }
    v = block_sum(v * v);
    if (threadIdx.x == 0 && blockIdx.x < blocks) parts[blockIdx.x] = v;
}

// p = r + p * (the new r . r) / (the old one)
extern "C" __global__ void __launch_bounds__(THREADS)
redirect(float* p, const float* r, const float* old, const float* now, unsigned n, unsigned blocks) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    const float beta = all_of(now, blocks) / all_of(old, blocks);
    if (i < n) p[i] = r[i] + beta * p[i];
}

// out = u + factor * (the six around it - 6 u) within the grid of (4 * fours) x ny x nz, and u on its surface.
extern "C" __global__ void __launch_bounds__(THREADS)
stencil(const float* u, float* out, unsigned fours, unsigned ny, unsigned nz, float factor) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x, nx = 4 * fours, plane = nx * ny;
    if (i >= fours * ny * nz) return;
    const unsigned x = i % fours * 4, y = i / fours % ny, z = i / (fours * ny), at = z * plane + y * nx + x;
    const float4 own = *(const float4*)(u + at);
    float4 result = own;
    if (y > 0 && y + 1 < ny && z > 0 && z + 1 < nz) {
        const float4 up = *(const float4*)(u + at - nx), down = *(const float4*)(u + at + nx);
        const float4 front = *(const float4*)(u + at - plane), back = *(const float4*)(u + at + plane);
        const float left = x > 0 ? u[at - 1] : 0.0f, right = x + 4 < nx ? u[at + 4] : 0.0f;
        auto next = [&](float l, float v, float r, float a, float b, float c, float d) {
            return v + factor * (((l + r) + (a + b)) + ((c + d) - 6.0f * v));
        };
        if (x > 0) result.x = next(left, own.x, own.y, up.x, down.x, front.x, back.x);
        result.y = next(own.x, own.y, own.z, up.y, down.y, front.y, back.y);
        result.z = next(own.y, own.z, own.w, up.z, down.z, front.z, back.z);
        if (x + 4 < nx) result.w = next(own.z, own.w, right, up.w, down.w, front.w, back.w);
    }
    *(float4*)(out + at) = result;
}
