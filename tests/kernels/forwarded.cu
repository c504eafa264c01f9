// nvcc -O3 -arch=compute_80 -ptx
// Kernels whose elements may stay in registers between fused launches, and some whose elements may not.

#define AT unsigned i = blockIdx.x * blockDim.x + threadIdx.x

// A product that is rounded before the next kernel adds to it.
extern "C" __global__ void scaled(float *x, float a, unsigned n) {
    AT;
    if (i < n) x[i] = x[i] * a;
}

extern "C" __global__ void added(const float *x, const float *y, float *out, unsigned n) {
    AT;
    if (i < n) out[i] = x[i] + y[i];
}

extern "C" __global__ void subtracted(const float *x, float *y, unsigned n) {
    AT;
    if (i >= n) return;
    y[i] = y[i] - x[i];
}

extern "C" __global__ void waved(const float *x, float *y, unsigned n) {
    AT;
    if (i < n) y[i] = __sinf(x[i]) + 0.25f;
}

// Stores where the data says so.
extern "C" __global__ void clipped(const float *x, float *y, unsigned n) {
    AT;
    if (i < n && x[i] > 0.5f) y[i] = x[i];
}

// Loads and stores in a loop.
extern "C" __global__ void repeated(const float *x, float *y, unsigned k, unsigned n) {
    AT;
    if (i >= n) return;
    for (unsigned j = 0; j < k; j++) {
        y[i] = y[i] * 0.5f;
        if (y[i] < 3.0f) y[i] = y[i] + x[i];
    }
}

// The thread beside writes what is read.
extern "C" __global__ void swapped(const float *x, float *y, unsigned n) {
    AT;
    if (i < n && (i ^ 1) < n) y[i] = x[i ^ 1];
}

// The other end of the block writes what is read.
extern "C" __global__ void turned(const float *x, float *y, unsigned n) {
    AT;
    unsigned from = blockIdx.x * blockDim.x + blockDim.x - 1 - threadIdx.x;
    if (i < n && from < n) y[i] = x[from] + 1.0f;
}

// All elements of a thread at once.
extern "C" __global__ void wide(const float4 *x, float4 *y, unsigned n) {
    AT;
    if (4 * i + 3 >= n) return;
    float4 v = x[i];
    y[i] = make_float4(v.x + 1.0f, v.y * 2.0f, -v.z, v.w);
}

// The elements of two threads beside each other.
extern "C" __global__ void paired(float2 *x, unsigned n) {
    AT;
    if (2 * i + 1 >= n) return;
    float2 v = x[i];
    x[i] = make_float2(v.y, v.x);
}

// Four elements a thread, one after another.
extern "C" __global__ void quads(const float *x, float *y, unsigned n) {
    AT;
    if (4 * i + 3 >= n) return;
    for (unsigned j = 0; j < 4; j++) y[4 * i + j] = x[4 * i + j] - 1.0f;
}

// Four elements a thread, a block apart.
extern "C" __global__ void apart(const float *x, float *y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
#pragma unroll
    for (unsigned j = 0; j < 4; j++)
        if (i + j * blockDim.x < n) y[i + j * blockDim.x] = x[i + j * blockDim.x] * 1.5f;
}

// Over a grid of any size.
extern "C" __global__ void strided(const float *x, float *y, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + y[i];
}

// Each element plus the sum of its block's.
extern "C" __global__ void summed(float *x, unsigned n) {
    __shared__ float part[64];
    AT;
    unsigned t = threadIdx.x;
    part[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (i < n) x[i] = x[i] * 0.5f + part[0] * 0.125f;
}

// One thread of a block writes, all read: see `spread`.
extern "C" __global__ void firsts(const float *x, float *s, unsigned n) {
    if (threadIdx.x == 0 && blockIdx.x < n) s[blockIdx.x] = x[blockIdx.x * blockDim.x];
}

extern "C" __global__ void spread(const float *s, float *y, unsigned n) {
    AT;
    if (i < n) y[i] = y[i] + s[blockIdx.x];
}

// Only the first `k` elements.
extern "C" __global__ void begun(float *x, unsigned k, unsigned n) {
    AT;
    if (i < k && i < n) x[i] = 1.0f;
}

// A pointer that is compared.
extern "C" __global__ void given(const float *x, const float *more, float *y, unsigned n) {
    AT;
    if (i >= n) return;
    float v = x[i];
    if (more) v = v + more[i];
    y[i] = v;
}

// Elements of other sizes.
extern "C" __global__ void bytes(const signed char *x, signed char *y, unsigned n) {
    AT;
    if (i < n) y[i] = x[i] * 3 - 7;
}

extern "C" __global__ void unsigned_bytes(const unsigned char *x, unsigned *y, unsigned n) {
    AT;
    if (i < n) y[i] = x[i] + 300;
}

extern "C" __global__ void shorts(const unsigned *x, unsigned short *y, unsigned n) {
    AT;
    if (i < n) y[i] = (x[i] * 40503u) >> 8;
}

extern "C" __global__ void doubles(const unsigned short *x, double *y, unsigned n) {
    AT;
    if (i < n) y[i] = x[i] * 0.1;
}

extern "C" __global__ void double_sums(const double *x, double *y, unsigned n) {
    AT;
    if (i < n) y[i] = y[i] + x[i];
}

// A block of two dimensions, a column a thread.
extern "C" __global__ void tiled(const float *x, float *y, unsigned width, unsigned n) {
    unsigned i = (blockIdx.x * blockDim.y + threadIdx.y) * width + threadIdx.x;
    if (threadIdx.x < width && i < n) y[i] = x[i] + 2.0f;
}
