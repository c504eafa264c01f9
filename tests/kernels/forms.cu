// The kernels of random graph programs. Whole numbers, so that every difference shows; what a block writes depends on
// its index and on the grid, so that a block of another launch, or of another grid, shows. Arguments never overlap.

#define THREADS (blockDim.x * blockDim.y * blockDim.z)
#define THREAD (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))
#define BLOCK (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z))
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

// Writes all of out, reads nothing.
extern "C" __global__ void fresh(unsigned *out, unsigned n, unsigned c) {
    unsigned i = INDEX;
    if (i < n) out[i] = i * c + blockIdx.x * 64u + gridDim.x;
}

// By loads that promise constant memory.
extern "C" __global__ void mix(unsigned *x, const unsigned *__restrict__ from, unsigned n, unsigned m, unsigned c) {
    unsigned i = INDEX;
    if (i < n) x[i] = x[i] * 5u + __ldg(&from[i % m]) + c + blockIdx.x * 64u + gridDim.x * 4096u;
}

// A grid and blocks of three dimensions.
extern "C" __global__ void volume(unsigned *x, unsigned n, unsigned c) {
    unsigned i = BLOCK * THREADS + THREAD;
    if (i >= n) return;
    unsigned block = blockIdx.x + 16u * blockIdx.y + 256u * blockIdx.z;
    unsigned grid = gridDim.x + 16u * gridDim.y + 256u * gridDim.z;
    x[i] = x[i] * 3u + c + block * 4096u + grid;
}

// Static shared memory.
extern "C" __global__ void __launch_bounds__(64) turn(unsigned *x, const unsigned *from, unsigned n, unsigned m,
                                                      unsigned c) {
    __shared__ unsigned tile[64];
    unsigned i = INDEX;
    tile[threadIdx.x] = from[i % m];
    __syncthreads();
    if (i < n) x[i] = x[i] * 7u + tile[blockDim.x - 1 - threadIdx.x] + c + gridDim.x;
}

// Dynamic shared memory.
extern "C" __global__ void staged(unsigned *x, const unsigned *from, unsigned n, unsigned m, unsigned c) {
    extern __shared__ unsigned room[];
    unsigned i = INDEX;
    room[threadIdx.x] = from[i % m] * c;
    __syncthreads();
    if (i < n) x[i] = x[i] * 11u + room[(threadIdx.x + 1) % blockDim.x] + blockIdx.x;
}

// Atomics, which have an order of their own.
extern "C" __global__ void count(unsigned *bins, unsigned n, unsigned c) {
    atomicAdd(&bins[(INDEX * 7u + c) % n], INDEX + gridDim.x);
}

// A loop that a scalar bounds.
extern "C" __global__ void march(unsigned *x, unsigned n, unsigned rounds) {
    unsigned i = INDEX;
    if (i >= n) return;
    unsigned value = x[i];
    for (unsigned round = 0; round < rounds; ++round) value = value * 1664525u + 1013904223u;
    x[i] = value + blockIdx.x + gridDim.x * 64u;
}

struct Affine {
    unsigned char a;
    unsigned long long b;
    unsigned c;
};

// A structure with holes.
extern "C" __global__ void affine(unsigned *x, Affine by, unsigned n) {
    unsigned i = INDEX;
    if (i < n) x[i] = x[i] * by.a + (unsigned)(by.b >> 32) + (unsigned)by.b + by.c + blockIdx.x;
}

// Asks for its place in a function of its own.
__device__ __noinline__ unsigned place(unsigned c) {
    return c + BLOCK * 64u + gridDim.x * gridDim.y * gridDim.z;
}
extern "C" __global__ void called(unsigned *x, unsigned n, unsigned c) {
    unsigned i = BLOCK * THREADS + THREAD;
    if (i < n) x[i] = x[i] * 9u + place(c);
}

// Writes two buffers.
extern "C" __global__ void trade(unsigned *a, unsigned *b, unsigned n, unsigned m) {
    unsigned i = INDEX;
    if (i >= n || i >= m) return;
    unsigned old = a[i] * 3u;
    a[i] = b[i] + blockIdx.x;
    b[i] = old + gridDim.x;
}

// Reads two buffers.
extern "C" __global__ void join(unsigned *x, const unsigned *a, const unsigned *b, unsigned n, unsigned m, unsigned k,
                                unsigned c) {
    unsigned i = INDEX;
    if (i < n) x[i] = x[i] + a[i % m] * 3u + b[(i + c) % k] + gridDim.x;
}
