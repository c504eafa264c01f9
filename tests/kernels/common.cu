// The kernels of the test programs. Each is small; together they use every kind of parameter.

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

// Nothing: order and launch costs.
extern "C" __global__ void nothing() {}

// out[i] = value: writes all, reads nothing.
extern "C" __global__ void set(float *out, float value, unsigned n) {
    unsigned i = INDEX;
    if (i < n) out[i] = value;
}

// out[i] = first + i
extern "C" __global__ void iota(float *out, float first, unsigned n) {
    unsigned i = INDEX;
    if (i < n) out[i] = first + (float)i;
}

// dst = src
extern "C" __global__ void copy_to(const float *src, float *dst, unsigned n) {
    unsigned i = INDEX;
    if (i < n) dst[i] = src[i];
}

// x = x * a, in place
extern "C" __global__ void scale(float *x, float a, unsigned n) {
    unsigned i = INDEX;
    if (i < n) x[i] *= a;
}

// y = a * x + y
extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned n) {
    unsigned i = INDEX;
    if (i < n) y[i] += a * x[i];
}

// out = a + b
extern "C" __global__ void add(const float *a, const float *b, float *out, unsigned n) {
    unsigned i = INDEX;
    if (i < n) out[i] = a[i] + b[i];
}

// Two outputs: positive and negative part.
extern "C" __global__ void parts(const float *x, float *pos, float *neg, unsigned n) {
    unsigned i = INDEX;
    if (i >= n) return;
    pos[i] = fmaxf(x[i], 0.0f);
    neg[i] = fminf(x[i], 0.0f);
}

// out[i] = x[i + offset]: an extent that is a sum.
extern "C" __global__ void window(const float *x, float *out, unsigned offset, unsigned n) {
    unsigned i = INDEX;
    if (i < n) out[i] = x[i + offset];
}

// out = x transposed, rows x cols: extents that are products.
extern "C" __global__ void transpose(const float *x, float *out, unsigned rows, unsigned cols) {
    unsigned c = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols) out[(size_t)c * rows + r] = x[(size_t)r * cols + c];
}

// out[0] = the sum of x, by one block of any power of two up to 256 threads: shared memory and barriers.
extern "C" __global__ void __launch_bounds__(256) reduce_sum(const float *x, float *out, unsigned n) {
    __shared__ float part[256];
    float sum = 0.0f;
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[0] = part[0];
}

// bins[x[i] % k] += 1
extern "C" __global__ void histogram(const unsigned *x, unsigned *bins, unsigned n, unsigned k) {
    unsigned i = INDEX;
    if (i < n) atomicAdd(&bins[x[i] % k], 1u);
}

// *total += count, once a thread
extern "C" __global__ void bump(unsigned *total, unsigned count) {
    atomicAdd(total, count);
}

// x = x * 3 + 1, whole numbers: two such steps in the wrong order show exactly.
extern "C" __global__ void collatz(unsigned *x, unsigned n) {
    unsigned i = INDEX;
    if (i < n) x[i] = x[i] * 3u + 1u;
}

// out[i] = i
extern "C" __global__ void count_up(unsigned *out, unsigned n) {
    unsigned i = INDEX;
    if (i < n) out[i] = i;
}

// Double precision.
extern "C" __global__ void scale64(double *x, double a, unsigned n) {
    unsigned i = INDEX;
    if (i < n) x[i] *= a;
}

// Bytes, and a 64-bit length.
extern "C" __global__ void invert(const unsigned char *x, unsigned char *out, unsigned long long n) {
    unsigned long long i = INDEX;
    if (i < n) out[i] = (unsigned char)~x[i];
}

// A structure by value.
struct Affine {
    float a;
    float b;
};
extern "C" __global__ void affine(float *x, Affine by, unsigned n) {
    unsigned i = INDEX;
    if (i < n) x[i] = x[i] * by.a + by.b;
}

// A long chain of dependent work: out[0] = the rounds-th value of a linear congruential generator.
extern "C" __global__ void spin(unsigned *out, unsigned rounds) {
    unsigned x = 1;
    for (unsigned i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
    if (INDEX == 0) out[0] = x;
}

// Dynamic shared memory: out = x reversed within one block.
extern "C" __global__ void reverse_block(const float *x, float *out, unsigned n) {
    extern __shared__ float tile[];
    unsigned i = threadIdx.x;
    if (i < n) tile[i] = x[i];
    __syncthreads();
    if (i < n) out[i] = tile[n - 1 - i];
}

// At most 64 threads a block.
extern "C" __global__ void __launch_bounds__(64) narrow(float *x, float a, unsigned n) {
    unsigned i = INDEX;
    if (i < n) x[i] += a;
}
